// SPDX-License-Identifier: Apache-2.0
#include "runtime/run/Operation.h"
#include "gaussian/fir/FirCore.h"

// Convolves lines on the host with the sums of gaussian/fir/FirCore.h, which the device uses, too.

namespace itk::cuda::gaussian
{
namespace
{
template <typename T, bool VTruncate>
void
ConvolveLineAs(const CudaGaussianFirPass & pass, const T * input, T * output, size_t length)
{
  const auto radius = static_cast<ptrdiff_t>(pass.GetRadius());
  const auto end = static_cast<ptrdiff_t>(length);
  for (ptrdiff_t n = 0; n < end; ++n)
  {
    FirSum<T, VTruncate> sum(input[n]);
    for (ptrdiff_t k = -radius; k <= radius; ++k)
    {
      const T x = LoadPadded(
        n + k, end, pass.Continuation, static_cast<T>(pass.Constant), [input](ptrdiff_t m) { return input[m]; });
      sum.Add(static_cast<T>(pass.Weights[static_cast<size_t>(k + radius)]), x);
    }
    output[n] = sum.Get();
  }
}
} // namespace

template <typename T>
void
ConvolveLine(const CudaGaussianFirPass & pass, bool truncate, const T * input, T * output, size_t length)
{
  const auto convolve = truncate ? ConvolveLineAs<T, true> : ConvolveLineAs<T, false>;
  convolve(pass, input, output, length);
}

template CudaFilters_EXPORT void
ConvolveLine(const CudaGaussianFirPass &, bool, const float *, float *, size_t);
template CudaFilters_EXPORT void
ConvolveLine(const CudaGaussianFirPass &, bool, const double *, double *, size_t);
} // namespace itk::cuda::gaussian

namespace itk::CudaDetail
{
// The superclass of the filter runs on the host, so the operation has no host run.
CudaOperation::CudaOperation(const CudaGaussianFirPlan & plan)
  : m_Algorithm(cuda::MakeAlgorithm(plan))
{}
} // end namespace itk::CudaDetail
