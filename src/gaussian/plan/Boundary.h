// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_gaussian_plan_Boundary_h
#define CudaFilters_gaussian_plan_Boundary_h

#include "itkCudaDetailGaussianPlan.h"
#include "runtime/DetailNames.h"
#include "gaussian/plan/Coefficients.h"
#include "gaussian/Core.h"

#include <cmath>
#include <cstddef>

// The states with which sweeps enter a line that continues beyond its ends as its boundary mode says: what all pixels
// before the first one leave behind.
//
// A is the matrix that maps a state over a pixel of zero input, and N the line's number of pixels. The end states of
// sweeps over the line from zero state are `own`, of the same direction, and `other`, of the opposite one. Unrolled,
// the pixels before the line are
//
//   Wrap      the line again and again:                 start = own + A^N own + ... = (1 - A^N)^-1 own
//   Reflect   the line backward, forward, backward...:  start = (1 - A^(2N))^-1 (other + A^N own)
//   Mirror    the same without repeating end pixels:    start = (1 - A^(2N-2))^-1 (other' + A^(N-1) own')
//
// where the sweeps of other' and own' leave out the pixel in which they end: the line's first pixel for other', its
// last one for own'. A period of Mirror has 2N - 2 pixels; a line of one pixel has none, and continues with its edge
// value.

namespace itk::cuda::gaussian
{
/** (1 - A^length)^-1 for the matrix A of a pole pair, the sum of all powers of A^length.
 *
 * 1 - A^length = (1 - A) S with S = 1 + A + ... + A^(length-1). Both factors are inverted by themselves: where
 * |p|^length is near 1, the difference 1 - A^length would have lost its digits. The determinant of 1 - A is e^2. */
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

/** How the lines of a pass, all of one length, continue beyond their ends. */
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
      m_Across[j] = Round<T>(MakeStatePower(kernel.Pole[j], across));
      m_PeriodicSum[j] = Round<T>(MakePeriodicSum(kernel.Pole[j], period));
    }
  }

  /** Nearest for lines of one pixel that have no period. */
  ModeEnum
  GetMode() const
  {
    return m_Mode;
  }

  /** What continues the line in the mode Constant. */
  T
  GetValue() const
  {
    return m_Value;
  }

  /** Whether GetStart() gives the start states, from all pixels of the line. */
  bool
  FollowsFromLine() const
  {
    return m_Mode == ModeEnum::Reflect || m_Mode == ModeEnum::Mirror || m_Mode == ModeEnum::Wrap;
  }

  /** Whether the end states for GetStart() leave out the pixel in which a sweep ends. */
  bool
  LeavesOutLastPixel() const
  {
    return m_Mode == ModeEnum::Mirror;
  }

  /** The state with which a sweep enters the line, from the end states of this sweep and of the opposite one. */
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
