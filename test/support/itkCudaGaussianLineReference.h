// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaGaussianLineReference_h
#define itkCudaGaussianLineReference_h

#include "itkCudaDetailGaussianPlan.h"
#include "support/itkCudaGaussianTestReference.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <cstddef>
#include <functional>
#include <numeric>
#include <vector>

// The float64 references for lines, in each boundary mode. A line is padded pixel by pixel, and the kernel is either
// summed over it or run as a recursion in modal form.

namespace itk::cuda::test
{
using Mode = CudaFiltersEnums::BoundaryMode;

constexpr Mode AllModes[] = { Mode::Nearest, Mode::Reflect, Mode::Mirror, Mode::Wrap, Mode::Constant };
/** The modes that ITK does not have. */
constexpr Mode                            OtherModes[] = { Mode::Reflect, Mode::Mirror, Mode::Wrap, Mode::Constant };
constexpr CudaFiltersEnums::Approximation AllApproximations[] = { CudaFiltersEnums::Approximation::Deriche,
                                                                  CudaFiltersEnums::Approximation::Accurate };

/** A kernel whose half is h(n) = Re sum_j c_j p_j^n. */
struct ReferenceKernel
{
  using ComplexType = std::complex<long double>;

  std::vector<ComplexType> Pole;
  std::vector<ComplexType> Weight;
  bool                     IsOdd{ false };
  double                   SigmaInPixels{ 1.0 };

  /** The module's kernel. A test of its own compares that of Accurate with the sampled Gaussian. */
  ReferenceKernel(const CudaDetail::CudaGaussianImpulseResponse & kernel)
    : Pole(kernel.Pole, kernel.Pole + kernel.NumberOfPolePairs)
    , Weight(kernel.Weight, kernel.Weight + kernel.NumberOfPolePairs)
    , IsOdd(kernel.IsAntisymmetric())
    , SigmaInPixels(kernel.SigmaInPixels)
  {}

  /** Deriche's kernel, computed from its definition. */
  ReferenceKernel(const GaussianParameters & parameters)
    : IsOdd(parameters.Order == 1)
    , SigmaInPixels(parameters.SigmaInPixels())
  {
    const DericheHalfKernel kernel(parameters);
    Pole = { kernel.Pole(0), kernel.Pole(1) };
    Weight = { kernel.Weight(0), kernel.Weight(1) };
  }
};

inline ReferenceKernel
MakeReferenceKernel(CudaFiltersEnums::Approximation approximation, const GaussianParameters & parameters)
{
  return approximation == CudaFiltersEnums::Approximation::Deriche
           ? ReferenceKernel(parameters)
           : ReferenceKernel(CudaDetail::MakeGaussianImpulseResponse(
               approximation, parameters.Order, parameters.Sigma, parameters.Spacing, parameters.NormalizeAcrossScale));
}

/** Returns h(0), h(1), ... up to where the slowest pole has decayed to exp(-40). */
inline std::vector<double>
SampleHalf(const ReferenceKernel & kernel)
{
  std::vector<double> samples(static_cast<size_t>(30.0 * kernel.SigmaInPixels) + 30, 0.0);
  for (size_t j = 0; j < kernel.Pole.size(); ++j)
  {
    ReferenceKernel::ComplexType term = kernel.Weight[j];
    for (double & sample : samples)
    {
      sample += static_cast<double>(term.real());
      term *= kernel.Pole[j];
    }
  }
  samples[0] = kernel.IsOdd ? 0.0 : samples[0];
  return samples;
}

/** Returns the sum of the absolute values of the whole kernel. */
inline double
L1Norm(const ReferenceKernel & kernel)
{
  const std::vector<double> samples = SampleHalf(kernel);
  const auto                add = [](double sum, double sample) { return sum + 2.0 * std::abs(sample); };
  return std::accumulate(samples.begin(), samples.end(), -std::abs(samples[0]), add);
}

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

/** Returns the line with `reach` pixels before and behind it. */
inline std::vector<double>
PadLine(const std::vector<double> & line, size_t reach, const CudaDetail::CudaGaussianBoundary & boundary)
{
  std::vector<double> padded;
  const auto          begin = -static_cast<std::ptrdiff_t>(reach);
  for (std::ptrdiff_t n = begin; n < static_cast<std::ptrdiff_t>(line.size() + reach); ++n)
  {
    padded.push_back(ValueAt(line, n, boundary));
  }
  return padded;
}

/** Filters a line by the sum over the kernel, term by term. */
inline std::vector<double>
SumOverContinuedLine(const ReferenceKernel &                  kernel,
                     const std::vector<double> &              line,
                     const CudaDetail::CudaGaussianBoundary & boundary = {})
{
  const std::vector<double> half = SampleHalf(kernel);
  const size_t              reach = half.size() - 1;
  const std::vector<double> padded = PadLine(line, reach, boundary);
  const double              mirrorSign = kernel.IsOdd ? -1.0 : 1.0;
  std::vector<double>       output;
  for (size_t n = reach; n < line.size() + reach; ++n)
  {
    double sum = half[0] * padded[n];
    for (size_t k = 1; k <= reach; ++k)
    {
      sum += half[k] * (padded[n - k] + mirrorSign * padded[n + k]);
    }
    output.push_back(sum);
  }
  return output;
}

/** Filters a line in modal form, with one complex state for each pole pair and direction: s[n] = p s[n-1] + x[n] and
 * t[n] = p (t[n+1] + x[n+1]), y = Re sum_j c_j (s_j +- t_j). The padded line's end values are continued to infinity.
 * States and sums have type TReal. */
template <typename TReal = double>
std::vector<double>
FilterContinuedLine(const ReferenceKernel &                  kernel,
                    const std::vector<double> &              line,
                    const CudaDetail::CudaGaussianBoundary & boundary = {})
{
  const size_t reach =
    boundary.Mode == Mode::Nearest ? 0 : static_cast<size_t>(30.0 * kernel.SigmaInPixels) + 30; // as in SampleHalf()
  const std::vector<double> x = PadLine(line, reach, boundary);
  std::vector<TReal>        sums(x.size(), 0);
  for (size_t j = 0; j < kernel.Pole.size(); ++j)
  {
    const ReferenceKernel::ComplexType gain = 1.0L / (1.0L - kernel.Pole[j]);
    const auto                         pr = static_cast<TReal>(kernel.Pole[j].real());
    const auto                         pi = static_cast<TReal>(kernel.Pole[j].imag());
    const auto                         cr = static_cast<TReal>(kernel.Weight[j].real());
    const auto                         ci = static_cast<TReal>(kernel.Weight[j].imag());
    auto                               sr = static_cast<TReal>(gain.real()) * x.front();
    auto                               si = static_cast<TReal>(gain.imag()) * x.front();
    for (size_t n = 0; n < x.size(); ++n)
    {
      const TReal re = pr * sr - pi * si + x[n];
      si = pr * si + pi * sr;
      sr = re;
      sums[n] += cr * sr - ci * si;
    }
    sr = static_cast<TReal>((gain * kernel.Pole[j]).real()) * x.back();
    si = static_cast<TReal>((gain * kernel.Pole[j]).imag()) * x.back();
    for (size_t n = x.size(); n-- > 0;)
    {
      sums[n] += (kernel.IsOdd ? -1 : 1) * (cr * sr - ci * si);
      sr += x[n];
      const TReal re = pr * sr - pi * si;
      si = pr * si + pi * sr;
      sr = re;
    }
  }
  return { sums.begin() + static_cast<std::ptrdiff_t>(reach), sums.end() - static_cast<std::ptrdiff_t>(reach) };
}

inline double
LargestOf(const std::vector<double> & values)
{
  return std::accumulate(
    values.begin(), values.end(), 0.0, [](double largest, double v) { return std::max(largest, std::abs(v)); });
}

/** Returns the largest difference of two equally long lists, or infinity if one of them is not a number. */
inline double
LargestDifference(const std::vector<double> & a, const std::vector<double> & b)
{
  double largest = a.size() == b.size() ? 0.0 : INFINITY;
  for (size_t n = 0; n < std::min(a.size(), b.size()); ++n)
  {
    const double difference = std::abs(a[n] - b[n]);
    largest = std::isnan(difference) ? INFINITY : std::max(largest, difference);
  }
  return largest;
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
  size_t
  GetNumberOfPixels() const
  {
    return this->GetStride(4);
  }

  /** Replaces each line along an axis by function(line). */
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

/** Filters a volume along the axis of the parameters, in double. */
inline void
FilterVolume(Volume &                                 volume,
             const GaussianParameters &               parameters,
             CudaFiltersEnums::Approximation          approximation = CudaFiltersEnums::Approximation::Deriche,
             const CudaDetail::CudaGaussianBoundary & boundary = {})
{
  const ReferenceKernel kernel = MakeReferenceKernel(approximation, parameters);
  volume.ForEachLine(parameters.Axis,
                     [&](const std::vector<double> & line) { return FilterContinuedLine<>(kernel, line, boundary); });
}
} // namespace itk::cuda::test

#endif
