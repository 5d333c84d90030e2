// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_gaussian_plan_Boundary_h
#define CudaFilters_gaussian_plan_Boundary_h

#include "itkCudaDetailGaussianPlan.h"
#include "runtime/DetailNames.h"
#include "gaussian/plan/Coefficients.h"
#include "gaussian/Core.h"

#include <cmath>
#include <cstddef>

// The start states of sweeps over a line that continues beyond its ends as its boundary mode says: the states that all
// pixels before the first one produce.
//
// A is the matrix that advances a state over a pixel of zero input, and N is the line's number of pixels. `own` and
// `other` are the end states of sweeps over the line from zero state, in the same and in the opposite direction.
// Unrolled, the pixels before the line are
//
//   Wrap      the line again and again:                 start = own + A^N own + ... = (1 - A^N)^-1 own
//   Reflect   the line backward, forward, backward...:  start = (1 - A^(2N))^-1 (other + A^N own)
//   Mirror    likewise, without repeated end pixels:    start = (1 - A^(2N-2))^-1 (other' + A^(N-1) own')
//
// where the sweeps of other' and own' leave out the pixel in which they end: the line's first pixel for other', its
// last one for own'. A period of Mirror has 2N - 2 pixels. A line of one pixel therefore has no period, and continues
// with its edge value.

namespace itk::cuda::gaussian
{
/** Returns (1 - A^length)^-1 for the matrix A of a pole pair, which is the sum of all powers of A^length.
 *
 * The difference is factored as 1 - A^length = (1 - A) S with S = 1 + A + ... + A^(length-1), and the factors are
 * inverted separately, because 1 - A^length itself loses its digits where |p|^length is near 1. The determinant of 1 -
 * A is e^2. */
inline StateMatrix<double>
MakePeriodicSum(std::complex<double> pole, size_t length)
{
  const double g = std::norm(pole);
  const double e = std::abs(1.0 - pole);
  const auto   addTo = [](const StateMatrix<double> & a, const StateMatrix<double> & b) {
    return StateMatrix<double>{ a.UU + b.UU, a.UV + b.UV, a.VU + b.VU, a.VV + b.VV };
  };
  StateMatrix<double> square{ g, -e, e * g, 1.0 - e * e }; // A^(2^k)
  StateMatrix<double> squareSum;                           // S of 2^k pixels
  StateMatrix<double> power;
  StateMatrix<double> sum{ 0.0, 0.0, 0.0, 0.0 };
  for (; length > 0; length >>= 1)
  {
    if (length & 1)
    {
      sum = addTo(sum, Multiply(power, squareSum));
      power = Multiply(square, power);
    }
    squareSum = addTo(squareSum, Multiply(square, squareSum));
    square = Multiply(square, square);
  }
  const double              determinant = sum.UU * sum.VV - sum.UV * sum.VU;
  const StateMatrix<double> inverseOfSum{
    sum.VV / determinant, -sum.UV / determinant, -sum.VU / determinant, sum.UU / determinant
  };
  return Multiply(inverseOfSum, { 1.0, -1.0 / e, g / e, (1.0 - g) / (e * e) });
}

/** The continuation of the lines of a pass beyond their ends. All lines have the same length. */
template <typename T, unsigned int VPairs>
class LineBoundary
{
public:
  using ModeEnum = CudaFiltersEnums::BoundaryMode;

  LineBoundary(const CudaGaussianImpulseResponse & kernel, const CudaGaussianBoundary & boundary, size_t length)
    : m_Mode(boundary.Mode == ModeEnum::Mirror && length == 1 ? ModeEnum::Nearest : boundary.Mode)
    , m_Value(static_cast<T>(boundary.Value))
  {
    const size_t across = m_Mode == ModeEnum::Mirror ? length - 1 : length;
    const size_t period = m_Mode == ModeEnum::Wrap ? length : 2 * across;
    for (unsigned int j = 0; this->FollowsFromLine() && j < VPairs; ++j)
    {
      m_Across[j] = RoundTo<T>(MakeStatePower(kernel.Pole[j], across));
      m_PeriodicSum[j] = RoundTo<T>(MakePeriodicSum(kernel.Pole[j], period));
    }
  }

  /** Returns the effective mode: Nearest also for Mirror on lines of one pixel, which have no period. */
  ModeEnum
  GetMode() const
  {
    return m_Mode;
  }

  /** Returns the value that continues the line in the mode Constant. */
  T
  GetValue() const
  {
    return m_Value;
  }

  /** Returns whether the start states depend on all pixels of the line, so that GetStart() computes them. */
  bool
  FollowsFromLine() const
  {
    return m_Mode == ModeEnum::Reflect || m_Mode == ModeEnum::Mirror || m_Mode == ModeEnum::Wrap;
  }

  /** Returns whether the end states that GetStart() takes leave out the pixel in which the sweep ends. */
  bool
  LeavesOutLastPixel() const
  {
    return m_Mode == ModeEnum::Mirror;
  }

  /** Returns the state with which a sweep enters the line, given the end states of this sweep and of the opposite one.
   */
  template <typename TPixel>
  LineState<TPixel, VPairs>
  GetStart(const LineState<TPixel, VPairs> & own, const LineState<TPixel, VPairs> & other) const
  {
    const PolePairState<TPixel> zero{};
    LineState<TPixel, VPairs>   start;
    for (unsigned int j = 0; j < VPairs; ++j)
    {
      const PolePairState<TPixel> period =
        m_Mode == ModeEnum::Wrap ? own.Pair[j] : Combine(other.Pair[j], m_Across[j], own.Pair[j]);
      start.Pair[j] = Combine(zero, m_PeriodicSum[j], period);
    }
    return start;
  }

private:
  ModeEnum       m_Mode;
  T              m_Value;
  StateMatrix<T> m_Across[VPairs];
  StateMatrix<T> m_PeriodicSum[VPairs];
};
} // namespace itk::cuda::gaussian

#endif
