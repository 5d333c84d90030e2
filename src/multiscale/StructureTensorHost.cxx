// SPDX-License-Identifier: Apache-2.0
#include "runtime/image/Components.h"
#include "runtime/DetailNames.h"
#include "itkCudaDetailMultiScaleEngine.h"
#include "runtime/image/HostLines.h"
#include "pointwise/ImageRows.h"
#include "multiscale/MultiScaleProgress.h"
#include "pointwise/StructureMeasures.h"
#include "itkMultiThreaderBase.h"

// Computes structure tensors on ITK's threads.

namespace itk::cuda::multiscale
{
namespace
{
using pointwise::GetRowOffset;
using pointwise::StructureQuantity;

// The progress at the end of the derivatives. Smoothing takes the rest.
constexpr float GradientEnd = 0.3f;

/** Calls function(pixel of `from`, pixel of `to`) for all pixels of two images without gaps within their rows. */
template <typename T, typename TFunction>
void
ForEachPixel(const CudaImageView & from,
             const CudaImageView & to,
             MultiThreaderBase *   threader,
             const TFunction &     function)
{
  threader->ParallelizeArray(
    0,
    from.Size[1] * from.Size[2] * from.Size[3],
    [&](SizeValueType row) {
      const T * source = static_cast<const T *>(from.Data) + GetRowOffset(from, row);
      T *       destination = static_cast<T *>(to.Data) + GetRowOffset(to, row);
      for (size_t x = 0; x < from.Size[0]; ++x)
      {
        function(source + x * from.NumberOfComponents, destination + x * to.NumberOfComponents);
      }
    },
    nullptr);
}

template <typename T, unsigned int VDimension>
void
StoreRow(StructureQuantity quantity, const CudaImageView & tensors, const CudaImageView & output, size_t row)
{
  const T * tensor = static_cast<const T *>(tensors.Data) + GetRowOffset(tensors, row);
  for (size_t x = 0; x < tensors.Size[0]; ++x, tensor += tensors.NumberOfComponents)
  {
    T         result[VDimension] = {};
    const T * components = tensor;
    if (quantity != StructureQuantity::Components)
    {
      pointwise::GetStructureQuantity<VDimension>(quantity, tensor, result);
      components = result;
    }
    for (size_t c = 0; c < output.NumberOfComponents; ++c)
    {
      pointwise::StoreComponent(output, row, x, c, components[c]);
    }
  }
}

template <typename T, unsigned int VDimension>
void
RunPlan(const CudaStructureTensorPlan & plan,
        const CudaImageView &           input,
        const CudaImageView &           output,
        MultiThreaderBase *             threader,
        const CudaProgressFunction &    progress)
{
  constexpr CudaComponentType type = sizeof(T) == 4 ? CudaComponentType::Float : CudaComponentType::Double;
  CudaImageView               shape = input;
  WorkImage<T>                products, tensors;
  shape.NumberOfComponents = CudaTensorComponents(VDimension);
  products.Allocate(shape, type);
  {
    shape.NumberOfComponents = VDimension;
    WorkImage<T> gradient;
    gradient.Allocate(shape, type);
    RunGaussianPlanOnHost(
      plan.Gradient, input, gradient.View, threader, GetScaleProgress(progress, 0, 1, 0.0f, GradientEnd));
    ForEachPixel<T>(gradient.View, products.View, threader, pointwise::GetGradientProducts<VDimension, T>);
  }
  tensors.Allocate(products.View, type);
  RunGaussianPlanOnHost(
    plan.Smoothing, products.View, tensors.View, threader, GetScaleProgress(progress, 0, 1, GradientEnd, 1.0f));
  threader->ParallelizeArray(
    0,
    input.Size[1] * input.Size[2] * input.Size[3],
    [&](SizeValueType row) { StoreRow<T, VDimension>(plan.Quantity, tensors.View, output, row); },
    nullptr);
}
} // namespace
} // end namespace itk::cuda::multiscale

namespace itk::CudaDetail
{
void
CudaRunOnHost(const CudaStructureTensorPlan & plan,
              const CudaImageView &           input,
              const CudaImageView &           output,
              MultiThreaderBase *             threader,
              const CudaProgressFunction &    progress)
{
  using namespace cuda;
  CudaVerifyComponents(input.NumberOfComponents, 1, 1);
  CudaVerifyComponents(1, CudaStructureTensorComponents(plan.Quantity, plan.Dimension), output.NumberOfComponents);
  const bool inDouble = GetComputeType(input, output) == CudaComponentType::Double;
  const auto run = plan.Dimension == 2 ? (inDouble ? multiscale::RunPlan<double, 2> : multiscale::RunPlan<float, 2>)
                                       : (inDouble ? multiscale::RunPlan<double, 3> : multiscale::RunPlan<float, 3>);
  run(plan, input, output, threader, progress);
}
} // end namespace itk::CudaDetail
