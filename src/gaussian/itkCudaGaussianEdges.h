// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaGaussianEdges_h
#define itkCudaGaussianEdges_h

#include "itkCudaGaussianBoundary.h"

#include <algorithm>
#include <cstddef>

// How the device continues lines beyond their ends in other modes than Nearest.
//
// All methods of dividing a line (LineMethod) fill their last tile or chunk with pixels behind the line, up to its
// filled length. In these modes the pixels are those that continue the line. A line's edge states are what all pixels
// before the first one, and all pixels behind the filled ones, leave behind. They are sums over the continued line, at
// most over a window, beyond which pixels have no effect, or over one period:
//
//   state = (1 - A^period)^-1 times the end state of a sweep over the period next to the edge

namespace itk::cuda::gaussian
{
/** The pixel of a line that stands `n` pixels from the first one of the continued line, in all modes but Constant. */
ITK_CUDA_HOST_DEVICE inline std::ptrdiff_t
GetContinuedPosition(CudaFiltersEnums::BoundaryMode mode, std::ptrdiff_t n, std::ptrdiff_t length)
{
  using ModeEnum = CudaFiltersEnums::BoundaryMode;
  if (mode == ModeEnum::Nearest || length == 1)
  {
    return n < 0 ? 0 : (n < length ? n : length - 1);
  }
  // A turn brings n nearer to the line. Few are needed: n is at most a period or a tile away.
  const std::ptrdiff_t repeated = mode == ModeEnum::Mirror ? 0 : 1; // end pixels in a reflection
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

/** A line of pixels that are `Stride` apart, and what continues it. */
template <typename T>
struct ContinuedLine
{
  const T *                      Pixels;
  size_t                         Stride;
  size_t                         Length;
  CudaFiltersEnums::BoundaryMode Mode;
  T                              Value; // of the mode Constant

  ITK_CUDA_HOST_DEVICE T
  Get(std::ptrdiff_t n) const
  {
    const auto length = static_cast<std::ptrdiff_t>(Length);
    if (Mode == CudaFiltersEnums::BoundaryMode::Constant && (n < 0 || n >= length))
    {
      return Value;
    }
    return Pixels[static_cast<size_t>(GetContinuedPosition(Mode, n, length)) * Stride];
  }
};

/** How edge states follow from the lines of a pass. */
template <typename T, unsigned int VPairs>
struct EdgeRule
{
  CudaFiltersEnums::BoundaryMode Mode;
  T                              Value;
  size_t                         FilledLength; // of the line and the pixels behind it
  size_t                         Count;        // pixels of the continued line that are summed; 0 in the mode Constant
  LineDynamics<T, VPairs>        Dynamics;
  StateMatrix<T>                 PeriodicSum[VPairs]; // (1 - A^period)^-1, or the identity if Count is the window
};

/** `window`: pixels beyond which none has an effect. */
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
    // All that is beyond the ends of a line of one pixel is this pixel, less itself.
    return rule;
  }
  rule.Count = std::min(window, period);
  for (unsigned int j = 0; period <= window && j < VPairs; ++j)
  {
    rule.PeriodicSum[j] = Round<T>(MakePeriodicSum(kernel.Pole[j], period));
  }
  return rule;
}

/** Where the m-th pixel from an edge lies on the continued line. */
template <typename T, unsigned int VPairs>
ITK_CUDA_HOST_DEVICE inline std::ptrdiff_t
GetPlaceBeyondEdge(const EdgeRule<T, VPairs> & rule, bool anticausal, size_t m)
{
  const auto distance = static_cast<std::ptrdiff_t>(m);
  return anticausal ? static_cast<std::ptrdiff_t>(rule.FilledLength) + distance : -1 - distance;
}

/** The state of a sweep at its edge. getPixel(m) gives the m-th pixel from the edge, and is called from the farthest
 * one on. `first` is subtracted from the pixels. */
template <typename T, unsigned int VPairs, typename TGetPixel>
ITK_CUDA_HOST_DEVICE inline LineState<T, VPairs>
SumBeyondEdge(const EdgeRule<T, VPairs> & rule, T first, const TGetPixel & getPixel)
{
  LineState<T, VPairs> state;
  for (size_t m = rule.Count; m-- > 0;)
  {
    Advance(state, rule.Dynamics, getPixel(m) - first);
  }
  for (unsigned int j = 0; j < VPairs; ++j)
  {
    state.Pair[j] = rule.Mode == CudaFiltersEnums::BoundaryMode::Constant
                      ? SteadyState(rule.Dynamics.Section[j], rule.Value - first)
                      : Apply(rule.PeriodicSum[j], state.Pair[j]);
  }
  return state;
}
} // namespace itk::cuda::gaussian

#endif
