// SPDX-License-Identifier: Apache-2.0
#include "runtime/image/Components.h"
#include "runtime/DetailNames.h"
#include "itkCudaDetailMultiScaleEngine.h"
#include "runtime/image/HostLines.h"
#include "runtime/run/Operation.h"
#include "runtime/run/Progress.h"
#include "pointwise/StructureMeasures.h"
#include "itkMultiThreaderBase.h"

// Computes structure tensors on ITK's threads.

namespace itk::cuda::multiscale
{
namespace
{
using pointwise::StructureQuantity;

// The progress at the end of the derivatives. Smoothing takes the rest.
constexpr float GradientEnd = 0.3f;

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
  ScratchImage<T>             products, tensors;
  shape.NumberOfComponents = CudaTensorComponents(VDimension);
  products.Allocate(shape, type);
  {
    shape.NumberOfComponents = VDimension;
    ScratchImage<T> gradient;
    gradient.Allocate(shape, type);
    CudaRunOnHost(plan.Gradient, input, gradient.View, threader, GetPartOfProgress(progress, 0.0f, GradientEnd));
    const auto multiply = [&](size_t from, size_t to) {
      pointwise::GetGradientProducts<VDimension>(&gradient.Pixels[from], &products.Pixels[to]);
    };
    ForEachPixel(threader, multiply, gradient.View, products.View);
  }
  tensors.Allocate(products.View, type);
  CudaRunOnHost(plan.Smoothing, products.View, tensors.View, threader, GetPartOfProgress(progress, GradientEnd, 1.0f));
  const auto store = [&](size_t from, size_t to) {
    T         result[VDimension] = {};
    const T * components = &tensors.Pixels[from];
    if (plan.Quantity != StructureQuantity::Components)
    {
      pointwise::GetStructureQuantity<VDimension>(plan.Quantity, components, result);
      components = result;
    }
    for (size_t c = 0; c < output.NumberOfComponents; ++c)
    {
      StoreComponent(output, to + c, components[c]);
    }
  };
  ForEachPixel(threader, store, tensors.View, output);
}

void
RunOnHost(const CudaStructureTensorPlan & plan,
          const CudaImageView &           input,
          const CudaImageView &           output,
          MultiThreaderBase *             threader,
          const CudaProgressFunction &    progress)
{
  CudaVerifyComponents(input.NumberOfComponents, 1, 1);
  CudaVerifyComponents(1, CudaStructureTensorComponents(plan.Quantity, plan.Dimension), output.NumberOfComponents);
  const bool inDouble = GetComputeType(input, output) == CudaComponentType::Double;
  const auto run = plan.Dimension == 2 ? (inDouble ? RunPlan<double, 2> : RunPlan<float, 2>)
                                       : (inDouble ? RunPlan<double, 3> : RunPlan<float, 3>);
  run(plan, input, output, threader, progress);
}
} // namespace
} // end namespace itk::cuda::multiscale

namespace itk::CudaDetail
{
CudaOperation::CudaOperation(const CudaStructureTensorPlan & plan)
  : m_HostRun(cuda::BindHostRun(cuda::multiscale::RunOnHost, plan))
  , m_Algorithm(cuda::MakeAlgorithm(plan))
{}
} // end namespace itk::CudaDetail
