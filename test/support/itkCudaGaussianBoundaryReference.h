// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaGaussianBoundaryReference_h
#define itkCudaGaussianBoundaryReference_h

#include "itkCudaDetailGaussianPlan.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <cstddef>
#include <functional>
#include <numeric>
#include <vector>

// The float64 reference for the tests of boundary modes and masks. It sums the approximation's own kernel over lines
// that are padded pixel by pixel.

namespace itk::cuda::test
{
using Mode = CudaFiltersEnums::BoundaryMode;

/** Returns the value of the padded line at any index. */
inline double
ValueAt(const std::vector<double> & line, std::ptrdiff_t n, const CudaDetail::CudaGaussianBoundary & boundary)
{
  const auto length = static_cast<std::ptrdiff_t>(line.size());
  if (n >= 0 && n < length)
  {
    return line[n];
  }
  const auto modulo = [n](std::ptrdiff_t period) { return ((n % period) + period) % period; };
  switch (boundary.Mode)
  {
    case Mode::Reflect:
      return line[std::min(modulo(2 * length), 2 * length - 1 - modulo(2 * length))];
    case Mode::Mirror:
      return length == 1 ? line[0] : line[std::min(modulo(2 * length - 2), 2 * length - 2 - modulo(2 * length - 2))];
    case Mode::Wrap:
      return line[modulo(length)];
    case Mode::Constant:
      return boundary.Value;
    default:
      return n < 0 ? line.front() : line.back();
  }
}

/** Returns the half-kernel h(0), h(1), ... up to where the slowest pole has decayed to exp(-40). */
inline std::vector<double>
SampleHalf(const CudaDetail::CudaGaussianImpulseResponse & kernel)
{
  std::vector<double> samples(static_cast<size_t>(30.0 * kernel.SigmaInPixels) + 30, 0.0);
  for (unsigned int j = 0; j < kernel.NumberOfPolePairs; ++j)
  {
    std::complex<double> term = kernel.Weight[j];
    for (double & sample : samples)
    {
      sample += term.real();
      term *= kernel.Pole[j];
    }
  }
  if (kernel.IsAntisymmetric())
  {
    samples[0] = 0.0;
  }
  return samples;
}

inline double
L1Norm(const CudaDetail::CudaGaussianImpulseResponse & kernel)
{
  const std::vector<double> samples = SampleHalf(kernel);
  double                    sum = -std::abs(samples[0]);
  for (const double sample : samples)
  {
    sum += 2.0 * std::abs(sample);
  }
  return sum;
}

inline std::vector<double>
SumOverContinuedLine(const CudaDetail::CudaGaussianImpulseResponse & kernel,
                     const std::vector<double> &                     line,
                     const CudaDetail::CudaGaussianBoundary &        boundary)
{
  const std::vector<double> half = SampleHalf(kernel);
  const auto                reach = static_cast<std::ptrdiff_t>(half.size()) - 1;
  const auto                length = static_cast<std::ptrdiff_t>(line.size());
  const double              mirrorSign = kernel.IsAntisymmetric() ? -1.0 : 1.0;
  std::vector<double>       continued;
  for (std::ptrdiff_t n = -reach; n < length + reach; ++n)
  {
    continued.push_back(ValueAt(line, n, boundary));
  }
  std::vector<double> output;
  for (std::ptrdiff_t n = reach; n < length + reach; ++n)
  {
    double sum = half[0] * continued[n];
    for (std::ptrdiff_t k = 1; k <= reach; ++k)
    {
      sum += half[k] * (continued[n - k] + mirrorSign * continued[n + k]);
    }
    output.push_back(sum);
  }
  return output;
}

inline double
LargestOf(const std::vector<double> & values)
{
  return std::accumulate(
    values.begin(), values.end(), 0.0, [](double largest, double v) { return std::max(largest, std::abs(v)); });
}

/** An image with at most four axes, x first, in double. */
struct Volume
{
  std::array<size_t, 4> Size{ { 1, 1, 1, 1 } };
  std::vector<double>   Pixels;

  size_t
  GetStride(unsigned int axis) const
  {
    return std::accumulate(Size.begin(), Size.begin() + axis, size_t{ 1 }, std::multiplies<>());
  }

  template <typename TFunction>
  void
  ForEachLine(unsigned int axis, const TFunction & function)
  {
    const size_t stride = this->GetStride(axis);
    for (size_t i = 0; i < Pixels.size(); ++i)
    {
      if (i / stride % Size[axis] == 0)
      {
        std::vector<double> line(Size[axis]);
        for (size_t n = 0; n < line.size(); ++n)
        {
          line[n] = Pixels[i + n * stride];
        }
        line = function(line);
        for (size_t n = 0; n < line.size(); ++n)
        {
          Pixels[i + n * stride] = line[n];
        }
      }
    }
  }
};
} // namespace itk::cuda::test

#endif
