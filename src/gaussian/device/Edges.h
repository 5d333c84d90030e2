// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_gaussian_device_Edges_h
#define CudaFilters_gaussian_device_Edges_h

#include "gaussian/plan/Boundary.h"

#include <algorithm>
#include <cstddef>

// Continues lines beyond their ends on the device, in other boundary modes than Nearest.
//
// All methods of dividing a line (LineMethod) fill its last tile or chunk with pixels behind the line, up to its filled
// length. In these modes the pixels are those that continue the line. A line's edge states are the states that all
// pixels before the first one, and all pixels behind the filled ones, produce. They are sums over the continued line,
// which extend at most over a window, beyond which pixels have no effect, or over one period:
//
//   state = (1 - A^period)^-1 times the end state of a sweep over the period next to the edge
//
// EdgeRule sums them pixel by pixel before the pass. If a line ends with its last tile or chunk, no pixels are filled
// in, and the states are computed from the end states of the tiles or chunks that the pass has anyway
// (EdgeStateSolver).

namespace itk::cuda::gaussian
{
/** Returns the pixel of a line that is at position `n` of the continued line, counted from the line's first pixel. Not
 * for the mode Constant. */
ITK_CUDA_HOST_DEVICE inline std::ptrdiff_t
GetPaddedPosition(CudaFiltersEnums::BoundaryMode mode, std::ptrdiff_t n, std::ptrdiff_t length)
{
  using ModeEnum = CudaFiltersEnums::BoundaryMode;
  if (mode == ModeEnum::Nearest || length == 1)
  {
    return n < 0 ? 0 : (n < length ? n : length - 1);
  }
  // Each iteration brings n nearer to the line. A few suffice, because n is at most a period or a tile away.
  const std::ptrdiff_t repeated = mode == ModeEnum::Mirror ? 0 : 1; // pixels that a reflection repeats
  while (n < 0 || n >= length)
  {
    if (mode == ModeEnum::Wrap)
    {
      n += n < 0 ? length : -length;
    }
    else
    {
      n = n < 0 ? -repeated - n : 2 * length - 2 + repeated - n;
    }
  }
  return n;
}

/** A line of pixels that are `Stride` apart, with its continuation. */
template <typename T>
struct PaddedLine
{
  const T *                      Pixels;
  size_t                         Stride;
  size_t                         Length;
  CudaFiltersEnums::BoundaryMode Mode;
  T                              Value; // in the mode Constant

  ITK_CUDA_HOST_DEVICE T
  Get(std::ptrdiff_t n) const
  {
    const auto length = static_cast<std::ptrdiff_t>(Length);
    if (Mode == CudaFiltersEnums::BoundaryMode::Constant && (n < 0 || n >= length))
    {
      return Value;
    }
    return Pixels[static_cast<size_t>(GetPaddedPosition(Mode, n, length)) * Stride];
  }
};

/** Walks along a continued line pixel by pixel. Not for the mode Constant. */
class PaddedWalk
{
public:
  /** \param n start position on the continued line
   * \param forward whether n grows */
  ITK_CUDA_HOST_DEVICE
  PaddedWalk(CudaFiltersEnums::BoundaryMode mode, std::ptrdiff_t n, bool forward, size_t length)
    : m_Mode(length > 1 ? mode : CudaFiltersEnums::BoundaryMode::Wrap)
    , m_Length(static_cast<std::ptrdiff_t>(length))
    , m_Position(GetPaddedPosition(mode, n, m_Length))
    , m_Step(forward ? 1 : -1)
  {
    // If the line has been reflected an odd number of times, the walk goes in the other direction. At the turning point
    // of a reflection without repetition both directions lead to the same pixel.
    const bool           isMirror = m_Mode == CudaFiltersEnums::BoundaryMode::Mirror;
    const std::ptrdiff_t across = isMirror ? m_Length - 1 : m_Length;
    const std::ptrdiff_t turns = n < 0 ? (n + 1) / across - 1 : n / across;
    m_Step = m_Mode != CudaFiltersEnums::BoundaryMode::Wrap && turns % 2 != 0 ? -m_Step : m_Step;
  }

  ITK_CUDA_HOST_DEVICE std::ptrdiff_t
                       GetPosition() const
  {
    return m_Position;
  }

  ITK_CUDA_HOST_DEVICE void
  Advance()
  {
    const std::ptrdiff_t next = m_Position + m_Step;
    if (next >= 0 && next < m_Length)
    {
      m_Position = next;
    }
    else if (m_Mode == CudaFiltersEnums::BoundaryMode::Wrap)
    {
      m_Position = next < 0 ? m_Length - 1 : 0;
    }
    else
    {
      m_Position = m_Mode == CudaFiltersEnums::BoundaryMode::Mirror ? m_Position - m_Step : m_Position;
      m_Step = -m_Step;
    }
  }

private:
  CudaFiltersEnums::BoundaryMode m_Mode;
  std::ptrdiff_t                 m_Length, m_Position, m_Step;
};

/** How the edge states of a pass's lines are computed. */
template <typename T, unsigned int VPairs>
struct EdgeRule
{
  CudaFiltersEnums::BoundaryMode Mode;
  T                              Value;
  size_t                         FilledLength; // of the line and the pixels filled in behind it
  size_t                         Count;        // pixels of the continued line that are summed; 0 in the mode Constant
  LineDynamics<T, VPairs>        Dynamics;
  StateMatrix<T>                 PeriodicSum[VPairs]; // (1 - A^period)^-1, or the identity if Count is the window
};

/** Makes the rule. `window` is the distance beyond which pixels have no effect. */
template <typename T, unsigned int VPairs>
EdgeRule<T, VPairs>
MakeEdgeRule(const CudaGaussianImpulseResponse & kernel,
             const CudaGaussianBoundary &        boundary,
             size_t                              length,
             size_t                              filledLength,
             size_t                              window)
{
  using ModeEnum = CudaFiltersEnums::BoundaryMode;
  EdgeRule<T, VPairs> rule{};
  rule.Mode = boundary.Mode;
  rule.Value = static_cast<T>(boundary.Value);
  rule.FilledLength = filledLength;
  rule.Dynamics = MakeLineDynamics<T, VPairs>(kernel);
  const size_t period =
    rule.Mode == ModeEnum::Wrap ? length : (rule.Mode == ModeEnum::Mirror ? 2 * length - 2 : 2 * length);
  if (rule.Mode == ModeEnum::Constant || period == 0)
  {
    // Beyond the ends of a line of one pixel there is only this pixel, which is 0 after its own subtraction.
    return rule;
  }
  rule.Count = std::min(window, period);
  for (unsigned int j = 0; period <= window && j < VPairs; ++j)
  {
    rule.PeriodicSum[j] = RoundTo<T>(MakePeriodicSum(kernel.Pole[j], period));
  }
  return rule;
}

/** Returns the position on the continued line of the m-th pixel beyond an edge. */
template <typename T, unsigned int VPairs>
ITK_CUDA_HOST_DEVICE inline std::ptrdiff_t
GetPlaceBeyondEdge(const EdgeRule<T, VPairs> & rule, bool anticausal, size_t m)
{
  const auto distance = static_cast<std::ptrdiff_t>(m);
  return anticausal ? static_cast<std::ptrdiff_t>(rule.FilledLength) + distance : -1 - distance;
}

/** Returns the state with which a sweep enters the line. getPixels(begin, end, pixels) gives the pixels at distances
 * `begin` to `end` from the edge, at most VBatch of them, and is called for the farthest ones first. It fills the rest
 * of the batch with `first`, which is subtracted from all pixels. These entries precede the pixels and do not change
 * the state, which is zero there. */
template <unsigned int VBatch, typename T, unsigned int VPairs, typename TGetPixels>
ITK_CUDA_HOST_DEVICE inline LineState<T, VPairs>
SumBeyondEdge(const EdgeRule<T, VPairs> & rule, T first, TGetPixels && getPixels)
{
  LineState<T, VPairs> state;
  for (size_t end = rule.Count; end > 0;)
  {
    const size_t begin = (end - 1) / VBatch * VBatch;
    T            pixels[VBatch];
    getPixels(begin, end, pixels);
#ifdef __CUDA_ARCH__
#  pragma unroll
#endif
    for (unsigned int k = VBatch; k-- > 0;)
    {
      Advance(state, rule.Dynamics, pixels[k] - first);
    }
    end = begin;
  }
  for (unsigned int j = 0; j < VPairs; ++j)
  {
    state.Pair[j] = rule.Mode == CudaFiltersEnums::BoundaryMode::Constant
                      ? SteadyState(rule.Dynamics.Section[j], rule.Value - first)
                      : Apply(rule.PeriodicSum[j], state.Pair[j]);
  }
  return state;
}

/** Computes edge states from the end states of both sweeps. The sweeps begin with state zero and run over a line behind
 * which no pixels are filled in, or over a window next to its ends. `near` is the end state of the sweep that ends at
 * the edge coming from within the line, and `far` is the end state of the opposite sweep. In the mode Wrap the sweep's
 * own end state, which it has at the other edge, is `near`.
 *
 *   state = Sum (near + Across far), without `far` for a window and in the mode Wrap
 *
 * with the matrices of gaussian/plan/Boundary.h. In the mode Mirror the end states must leave out the pixel in which
 * they end. An end state less this pixel is A times the end state without it, so Sum has the additional factor A^-1. */
template <typename T, unsigned int VPairs>
struct EdgeStateSolver
{
  CudaFiltersEnums::BoundaryMode Mode;
  T                              Value;       // in the mode Constant
  bool                           OfWholeLine; // whether the end states belong to the whole line, not to a window
  StateMatrix<T>                 Sum[VPairs];
  StateMatrix<T>                 Across[VPairs];
};

/** Returns A^-1 for the matrix A that advances the state of a pole pair over a pixel. The determinant of A is g. */
inline StateMatrix<double>
MakeInverseStep(std::complex<double> pole)
{
  const double g = std::norm(pole);
  const double e = std::abs(1.0 - pole);
  return { (1.0 - e * e) / g, e / g, -e, 1.0 };
}

/** Returns whether MakeEdgeStateSolver() is precise enough for float. In the mode Mirror it multiplies the rounding of
 * a state by g^-1. With Accurate this made errors of 8e-7 of the largest pixel at sigma 0.54, and of 2e-7 at sigma 0.8.
 */
inline bool
HasEdgeStateSolver(const CudaGaussianImpulseResponse & kernel, CudaFiltersEnums::BoundaryMode mode)
{
  constexpr double smallest = 0.01; // sigma 0.61 with Deriche, 0.95 with Accurate
  for (unsigned int j = 0; j < kernel.NumberOfPolePairs; ++j)
  {
    if (mode == CudaFiltersEnums::BoundaryMode::Mirror && std::norm(kernel.Pole[j]) < smallest)
    {
      return false;
    }
  }
  return mode != CudaFiltersEnums::BoundaryMode::Nearest;
}

/** Makes the matrices. `length` must be at least 2. */
template <typename T, unsigned int VPairs>
EdgeStateSolver<T, VPairs>
MakeEdgeStateSolver(const CudaGaussianImpulseResponse & kernel,
                    const CudaGaussianBoundary &        boundary,
                    size_t                              length,
                    bool                                ofWholeLine)
{
  using ModeEnum = CudaFiltersEnums::BoundaryMode;
  EdgeStateSolver<T, VPairs> solver{};
  solver.Mode = boundary.Mode;
  solver.Value = static_cast<T>(boundary.Value);
  solver.OfWholeLine = ofWholeLine;
  const bool   isMirror = boundary.Mode == ModeEnum::Mirror;
  const size_t across = isMirror ? length - 1 : length;
  const size_t period = boundary.Mode == ModeEnum::Wrap ? length : 2 * across;
  for (unsigned int j = 0; boundary.Mode != ModeEnum::Constant && j < VPairs; ++j)
  {
    const auto sum = ofWholeLine ? MakePeriodicSum(kernel.Pole[j], period) : StateMatrix<double>{};
    solver.Sum[j] = RoundTo<T>(isMirror ? Multiply(sum, MakeInverseStep(kernel.Pole[j])) : sum);
    solver.Across[j] = RoundTo<T>(MakeStatePower(kernel.Pole[j], across));
  }
  return solver;
}

/** Returns the edge state of one pole pair. `near` and `far` are the end states that EdgeStateSolver describes. */
template <typename T, unsigned int VPairs>
ITK_CUDA_HOST_DEVICE inline PolePairState<T>
SolveEdgeState(const EdgeStateSolver<T, VPairs> & solver,
               unsigned int                       pair,
               const PolePairState<T> &           near,
               const PolePairState<T> &           far)
{
  const bool takesFar = solver.OfWholeLine && solver.Mode != CudaFiltersEnums::BoundaryMode::Wrap;
  return Apply(solver.Sum[pair], takesFar ? Combine(near, solver.Across[pair], far) : near);
}

/** Returns the end state of the causal sweep as SolveEdgeState() takes it. In the mode Mirror, where the continuation
 * does not repeat the line's last pixel, this pixel of value `last` is subtracted. The anticausal end state needs no
 * such step, because its sweep ends with the first pixel, which is zero after the subtraction. */
template <typename T>
ITK_CUDA_HOST_DEVICE inline PolePairState<T>
PrepareCausalEndState(CudaFiltersEnums::BoundaryMode mode,
                      const SectionDynamics<T> &     section,
                      const PolePairState<T> &       endState,
                      T                              last)
{
  const T left = mode == CudaFiltersEnums::BoundaryMode::Mirror ? last : T(0);
  return { endState.U - left, endState.V - section.Coupling * left };
}

/** Returns the state of one pole pair with which a sweep enters the line. It is computed from the end states of both
 * sweeps over the line, or over the windows in which they leave it.
 * \param last the line's last pixel less its first */
template <typename T, unsigned int VPairs>
ITK_CUDA_HOST_DEVICE inline PolePairState<T>
GetEdgeFromEnds(const EdgeStateSolver<T, VPairs> & solver,
                const LineDynamics<T, VPairs> &    dynamics,
                unsigned int                       pair,
                bool                               anticausal,
                const PolePairState<T> &           causalEnd,
                const PolePairState<T> &           anticausalEnd,
                T                                  first,
                T                                  last)
{
  using ModeEnum = CudaFiltersEnums::BoundaryMode;
  if (solver.Mode == ModeEnum::Constant)
  {
    return SteadyState(dynamics.Section[pair], solver.Value - first);
  }
  const PolePairState<T> atEnd = PrepareCausalEndState(solver.Mode, dynamics.Section[pair], causalEnd, last);
  const bool             isFromEnd = anticausal != (solver.Mode == ModeEnum::Wrap);
  return isFromEnd ? SolveEdgeState(solver, pair, atEnd, anticausalEnd)
                   : SolveEdgeState(solver, pair, anticausalEnd, atEnd);
}
} // namespace itk::cuda::gaussian

#endif
