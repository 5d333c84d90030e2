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

template <typename T, unsigned int VDimension, bool VWithVectors>
void
SolvePixel(CudaEigenValueOrder order, const T * tensor, T * result)
{
  EigenSystem<T, VDimension> system;
  SolveEigenSystem<VWithVectors>(tensor, order, system);
  for (unsigned int i = 0; i < VDimension; ++i)
  {
    result[i] = system.GetValue(i);
    for (unsigned int j = 0; VWithVectors && j < VDimension; ++j)
    {
      result[VDimension * (i + 1) + j] = system.Vectors[i][j];
    }
  }
}

template <typename T>
void
RunPlan(const CudaEigenPlan &        plan,
        const CudaImageView &        input,
        const CudaImageView &        output,
        MultiThreaderBase *          threader,
        const CudaProgressFunction & progress)
{
  const auto solve = plan.Dimension == 2 ? (plan.WithVectors ? SolvePixel<T, 2, true> : SolvePixel<T, 2, false>)
                                         : (plan.WithVectors ? SolvePixel<T, 3, true> : SolvePixel<T, 3, false>);
  ForEachTensor<T>(input, output, threader, progress, [&plan, solve](const T * tensor, T * result) {
    solve(plan.Order, tensor, result);
  });
}

template <typename T>
void
RunPlan(const CudaHessianMeasure &   plan,
        const CudaImageView &        input,
        const CudaImageView &        output,
        MultiThreaderBase *          threader,
        const CudaProgressFunction & progress)
{
  const MeasureParameters<T> parameters(plan);
  const auto                 measure = plan.Dimension == 2 ? GetHessianMeasure<2, T> : GetHessianMeasure<3, T>;
  ForEachTensor<T>(input, output, threader, progress, [&parameters, measure](const T * hessian, T * result) {
    *result = measure(parameters, hessian);
  });
}

template <typename T>
void
RunPlan(const CudaLineDirectionPlan & plan,
        const CudaImageView &         input,
        const CudaImageView &         output,
        MultiThreaderBase *           threader,
        const CudaProgressFunction &  progress)
{
  const auto solve = plan.Dimension == 2 ? GetLineDirection<2, T> : GetLineDirection<3, T>;
  ForEachTensor<T>(input, output, threader, progress, [&plan, solve](const T * hessian, T * result) {
    solve(plan.LastAxisFirst, hessian, result);
  });
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
    RunPlan<double>(plan, input, output, threader, progress);
  }
  else
  {
    RunPlan<float>(plan, input, output, threader, progress);
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
