// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaFirReference_h
#define itkCudaFirReference_h

#include "gaussian/fir/FirCore.h"

#include <cstddef>
#include <vector>

namespace itk::CudaDetail
{
template <typename T, bool VTruncate>
void
ConvolveLineAs(const CudaGaussianFirPass & pass, const std::vector<T> & line, size_t step, T * output)
{
  const auto radius = static_cast<ptrdiff_t>(pass.GetRadius());
  const auto end = static_cast<ptrdiff_t>(line.size());
  for (ptrdiff_t n = 0; n < end; ++n)
  {
    cuda::gaussian::FirSum<T, VTruncate> sum(line[n]);
    for (ptrdiff_t k = -radius; k <= radius; ++k)
    {
      const T x = cuda::gaussian::LoadPadded(
        n + k, end, pass.Continuation, static_cast<T>(pass.Constant), [&line](ptrdiff_t m) { return line[m]; });
      sum.Add(static_cast<T>(pass.Weights[static_cast<size_t>(k + radius)]), x);
    }
    output[n * step] = sum.Get();
  }
}

/** Convolves the lines of an image in place with the sums of the device's kernels. Neighbours on a line of `length`
 * pixels are `step` apart. */
template <typename T>
void
ConvolveLines(const CudaGaussianFirPass & pass, bool truncate, size_t step, size_t length, std::vector<T> & pixels)
{
  const auto     convolve = truncate ? ConvolveLineAs<T, true> : ConvolveLineAs<T, false>;
  std::vector<T> line(length);
  for (size_t start = 0; start < pixels.size(); ++start)
  {
    if (start / step % length == 0)
    {
      for (size_t n = 0; n < length; ++n)
      {
        line[n] = pixels[start + n * step];
      }
      convolve(pass, line, step, &pixels[start]);
    }
  }
}
} // namespace itk::CudaDetail

#endif
