// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_young_van_vliet_Core_h
#define CudaFilters_young_van_vliet_Core_h

#include "runtime/HostDevice.h"
#include "CudaFiltersExport.h"
#include "runtime/DetailNames.h"
#include "itkCudaDetailPartitionedGaussianEngine.h"

#include <cstddef>

// The recursive Gaussian of Young and van Vliet (Signal Processing 44, 1995). The code is shared by the host and the
// device. A line is filtered by a cascade of two passes, x -> w forward and w -> y backward, each with the three poles
// p_j. A pass is computed in modal form, as a weighted sum of exponential smoothers with unit gain:
//
//   s_j[n] = s_j[n-1] + a_j (x[n] - s_j[n-1]),   a_j = 1 - p_j,   w[n] = sum_j c_j s_j[n],   sum_j c_j = 1
//
// with one real pole (j = 0) and one conjugate pair, for which one complex state is sufficient. Sweeps carry the lags
// d_j = x - s_j:
//
//   d_j[n] = (1 - a_j) (d_j[n-1] + x[n] - x[n-1]),   w[n] = x[n] - sum_j c_j d_j[n]
//
// No coefficient loses digits of 1 - p to cancellation, and rounding errors are relative to the differences of pixels
// from their surroundings instead of their distance from zero, so that float is accurate at every sigma. All values are
// relative to the line's first pixel, so that constant lines are filtered exactly.
//
// Let t_j be the states of the backward pass at a position, and s_j the states of the forward pass just before it. With
//
//   H_ij = a_i c_j p_j / (1 - p_i p_j),   A_i = sum_j a_j c_j / (1 - p_i p_j)
//
// the differences r_i = t_i - sum_j H_ij s_j depend only on the pixels from that position on, because r_i is A_i times
// the backward smoother of x itself. At the end of a line this is the boundary condition of Triggs and Sdika (IEEE
// Trans. Signal Processing 54, 2006): x repeats behind the end, so r_i = A_i x_last. The same relation allows a line to
// be cut anywhere, because the forward states and r are carried over a section of M pixels by p_j^M independently of
// each other.

namespace itk::cuda::young_van_vliet
{
/** The state of the three smoothers of one pass. The conjugate state is not stored. */
template <typename T>
struct SmootherState
{
  T Real{ 0 };   // of the real pole
  T PairRe{ 0 }; // of the pole pair
  T PairIm{ 0 };
};

template <typename T>
struct SmootherCoefficients
{
  T RealGain;   // a_0
  T PairGainRe; // a_1
  T PairGainIm;
  T RealWeight;     // c_0
  T PairWeightRe;   // 2 Re c_1
  T PairWeightIm;   // -2 Im c_1
  T Border[3][3];   // H on (Real, PairRe, PairIm)
  T RealResponse;   // A_0
  T PairResponseRe; // A_1
  T PairResponseIm;
};

/** p_j^M, which maps a state over M pixels of zero input. */
template <typename T>
struct SmootherPower
{
  T Real;
  T PairRe;
  T PairIm;
};

/** Returns the sum of the three states with the weights c_j. */
template <typename T>
ITK_CUDA_HOST_DEVICE inline T
WeightedSum(const SmootherState<T> & state, const SmootherCoefficients<T> & c)
{
  return c.RealWeight * state.Real + (c.PairWeightRe * state.PairRe + c.PairWeightIm * state.PairIm);
}

template <typename T>
ITK_CUDA_HOST_DEVICE inline SmootherState<T>
Add(const SmootherState<T> & a, const SmootherState<T> & b)
{
  SmootherState<T> state;
  state.Real = a.Real + b.Real;
  state.PairRe = a.PairRe + b.PairRe;
  state.PairIm = a.PairIm + b.PairIm;
  return state;
}

template <typename T>
ITK_CUDA_HOST_DEVICE inline SmootherState<T>
Subtract(const SmootherState<T> & a, const SmootherState<T> & b)
{
  SmootherState<T> state;
  state.Real = a.Real - b.Real;
  state.PairRe = a.PairRe - b.PairRe;
  state.PairIm = a.PairIm - b.PairIm;
  return state;
}

/** Returns the state after infinitely many pixels of value x. */
template <typename T>
ITK_CUDA_HOST_DEVICE inline SmootherState<T>
SteadyState(T x)
{
  SmootherState<T> state;
  state.Real = x;
  state.PairRe = x;
  return state;
}

/** The state that a pass carries from pixel to pixel: the lags of the smoothers, and the last input. */
template <typename T>
struct Sweep
{
  SmootherState<T> Lag;
  T                Last{ 0 };

  ITK_CUDA_HOST_DEVICE static Sweep
  FromState(const SmootherState<T> & state)
  {
    Sweep sweep;
    sweep.Lag = Subtract(SmootherState<T>{}, state);
    return sweep;
  }

  ITK_CUDA_HOST_DEVICE SmootherState<T>
                       GetState() const
  {
    return Subtract(SteadyState(Last), Lag);
  }

  /** Processes a pixel and returns the response. */
  ITK_CUDA_HOST_DEVICE T
  Advance(const SmootherCoefficients<T> & c, T x)
  {
    const T change = x - Last;
    const T real = Lag.Real + change;
    const T re = Lag.PairRe + change;
    const T im = Lag.PairIm;
    Lag.Real = real - c.RealGain * real;
    Lag.PairRe = re - (c.PairGainRe * re - c.PairGainIm * im);
    Lag.PairIm = im - (c.PairGainRe * im + c.PairGainIm * re);
    Last = x;
    return x - WeightedSum(Lag, c);
  }
};

/** Returns `end` + p^M `begin`, the state after a section. `end` is its end state from a zero start state, and `begin`
 * is the actual state before it. */
template <typename T>
ITK_CUDA_HOST_DEVICE inline SmootherState<T>
Combine(const SmootherState<T> & end, const SmootherPower<T> & power, const SmootherState<T> & begin)
{
  SmootherState<T> state;
  state.Real = end.Real + power.Real * begin.Real;
  state.PairRe = end.PairRe + (power.PairRe * begin.PairRe - power.PairIm * begin.PairIm);
  state.PairIm = end.PairIm + (power.PairRe * begin.PairIm + power.PairIm * begin.PairRe);
  return state;
}

/** Returns H s. */
template <typename T>
ITK_CUDA_HOST_DEVICE inline SmootherState<T>
BackwardFromForward(const SmootherCoefficients<T> & c, const SmootherState<T> & s)
{
  const auto row = [&](const T(&h)[3]) { return h[0] * s.Real + (h[1] * s.PairRe + h[2] * s.PairIm); };

  SmootherState<T> state;
  state.Real = row(c.Border[0]);
  state.PairRe = row(c.Border[1]);
  state.PairIm = row(c.Border[2]);
  return state;
}

/** Returns A times the backward smoothers of x. */
template <typename T>
ITK_CUDA_HOST_DEVICE inline SmootherState<T>
BackwardFromPixels(const SmootherCoefficients<T> & c, const SmootherState<T> & smoothers)
{
  SmootherState<T> state;
  state.Real = c.RealResponse * smoothers.Real;
  state.PairRe = c.PairResponseRe * smoothers.PairRe - c.PairResponseIm * smoothers.PairIm;
  state.PairIm = c.PairResponseRe * smoothers.PairIm + c.PairResponseIm * smoothers.PairRe;
  return state;
}

/** Returns the start state of the backward pass at the end of a line, from the state of the forward pass there. */
template <typename T>
ITK_CUDA_HOST_DEVICE inline SmootherState<T>
BackwardStart(const SmootherCoefficients<T> & c, bool exactBorders, const SmootherState<T> & forward, T lastPixel)
{
  return exactBorders ? Add(BackwardFromPixels(c, SteadyState(lastPixel)), BackwardFromForward(c, forward))
                      : SteadyState(WeightedSum(forward, c)); // w is extended by its last value
}

/** Returns the difference r = t - H s at the end of a line. */
template <typename T>
ITK_CUDA_HOST_DEVICE inline SmootherState<T>
BackwardRestAtEnd(const SmootherCoefficients<T> & c, bool exactBorders, const SmootherState<T> & forward, T lastPixel)
{
  if (exactBorders)
  {
    return BackwardFromPixels(c, SteadyState(lastPixel));
  }
  return Subtract(SteadyState(WeightedSum(forward, c)), BackwardFromForward(c, forward));
}

/** Filters one line in float or double on the host, with the parameters of `pass` and the partition, borders and
 * storage of `plan`. `input` and `output` must not overlap. */
template <typename T>
CudaFilters_EXPORT void
FilterLine(const CudaPartitionedGaussianPlan & plan,
           const CudaPartitionedGaussianPass & pass,
           const T *                           input,
           T *                                 output,
           size_t                              length);
} // namespace itk::cuda::young_van_vliet

#endif
