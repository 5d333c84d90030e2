// SPDX-License-Identifier: Apache-2.0
#include "runtime/image/HostLines.h"
#include "runtime/DetailNames.h"
#include "runtime/run/Operation.h"
#include "itkCudaDetailTensorEngine.h"
#include "pointwise/HessianMeasures.h"
#include "pointwise/LineDirection.h"
#include "pointwise/SymmetricEigen.h"
#include "itkMultiThreaderBase.h"

#include <type_traits>
#include <vector>

// Runs the pointwise filters of tensors on ITK's threads, with the same results as the kernels.

namespace itk::cuda::pointwise
{
namespace
{
/** Loads the components of a row's pixels, pixel by pixel. */
template <typename T>
void
LoadRow(const CudaImageView & view, size_t row, std::vector<T> & values)
{
  VisitComponentType(view.ComponentType, [&](auto zero) {
    const auto * pixel = static_cast<const decltype(zero) *>(view.Data) + GetRow(view, row).First;
    for (size_t x = 0, i = 0; x < view.Size[0]; ++x, pixel += view.Stride[0])
    {
      for (size_t c = 0; c < view.NumberOfComponents; ++c)
      {
        values[i++] = static_cast<T>(pixel[c]);
      }
    }
  });
}

template <typename T>
void
StoreRow(const CudaImageView & view, size_t row, const std::vector<T> & values)
{
  VisitComponentType(view.ComponentType, [&](auto zero) {
    using PixelType = decltype(zero);
    auto * pixel = static_cast<PixelType *>(view.Data) + GetRow(view, row).First;
    for (size_t x = 0, i = 0; x < view.Size[0]; ++x, pixel += view.Stride[0])
    {
      for (size_t c = 0; c < view.NumberOfComponents; ++c)
      {
        pixel[c] = ConvertComponent<PixelType>(values[i++]);
      }
    }
  });
}

/** Calls function(components of the tensor, components of the result) for each pixel. */
template <typename T, typename TFunction>
void
ForEachTensor(const CudaImageView &        input,
              const CudaImageView &        output,
              MultiThreaderBase *          threader,
              const CudaProgressFunction & progress,
              const TFunction &            function)
{
  const auto runRow = [&](SizeValueType row) {
    std::vector<T> tensors(input.Size[0] * input.NumberOfComponents);
    std::vector<T> results(input.Size[0] * output.NumberOfComponents);
    LoadRow(input, row, tensors);
    for (size_t x = 0; x < input.Size[0]; ++x)
    {
      function(&tensors[x * input.NumberOfComponents], &results[x * output.NumberOfComponents]);
    }
    StoreRow(output, row, results);
  };
  ForEachInPieces(threader, GetNumberOfRows(input), 10, runRow, [&progress](float done) {
    if (progress)
    {
      progress(done);
    }
  });
}

template <typename T, unsigned int VDimension>
void
SolvePixel(CudaEigenValueOrder order, const T * tensor, T * result)
{
  EigenSystem<T, VDimension> system;
  SolveEigenSystem<false>(tensor, order, system);
  for (unsigned int i = 0; i < VDimension; ++i)
  {
    result[i] = system.GetValue(i);
  }
}

/** Return the function of a plan for ForEachTensor(). It refers to the plan. */
template <typename T>
auto
MakePixelFunction(const CudaEigenPlan & plan)
{
  const auto solve = plan.Dimension == 2 ? SolvePixel<T, 2> : SolvePixel<T, 3>;
  return [&plan, solve](const T * tensor, T * result) { solve(plan.Order, tensor, result); };
}

template <typename T>
auto
MakePixelFunction(const CudaHessianMeasure & plan)
{
  const auto measure = plan.Dimension == 2 ? GetHessianMeasure<2, T> : GetHessianMeasure<3, T>;
  return [parameters = MeasureParameters<T>(plan), measure](const T * hessian, T * result) {
    *result = measure(parameters, hessian);
  };
}

template <typename T>
auto
MakePixelFunction(const CudaLineDirectionPlan & plan)
{
  const auto solve = plan.Dimension == 2 ? GetLineDirection<2, T> : GetLineDirection<3, T>;
  return [&plan, solve](const T * hessian, T * result) { solve(plan.LastAxisFirst, hessian, result); };
}

template <typename TPlan>
void
RunOnHost(const TPlan &                plan,
          const CudaImageView &        input,
          const CudaImageView &        output,
          MultiThreaderBase *          threader,
          const CudaProgressFunction & progress)
{
  CudaVerifyTensorComponents(
    plan.Dimension, CudaResultComponents(plan), input.NumberOfComponents, output.NumberOfComponents);
  if (GetComputeType(input, output) == CudaComponentType::Double)
  {
    ForEachTensor<double>(input, output, threader, progress, MakePixelFunction<double>(plan));
  }
  else
  {
    ForEachTensor<float>(input, output, threader, progress, MakePixelFunction<float>(plan));
  }
}
} // namespace
} // end namespace itk::cuda::pointwise

namespace itk::CudaDetail
{
using namespace cuda;

CudaOperation::CudaOperation(const CudaEigenPlan & plan)
  : m_HostRun(BindHostRun(pointwise::RunOnHost<CudaEigenPlan>, plan))
  , m_Algorithm(MakeAlgorithm(plan))
{}

CudaOperation::CudaOperation(const CudaHessianMeasure & plan)
  : m_HostRun(BindHostRun(pointwise::RunOnHost<CudaHessianMeasure>, plan))
  , m_Algorithm(MakeAlgorithm(plan))
{}

void
CudaRunOnHost(const CudaLineDirectionPlan & plan,
              const CudaImageView &         input,
              const CudaImageView &         output,
              MultiThreaderBase *           threader,
              const CudaProgressFunction &  progress)
{
  pointwise::RunOnHost(plan, input, output, threader, progress);
}
} // end namespace itk::CudaDetail
