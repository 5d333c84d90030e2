// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_gaussian_Core_h
#define CudaFilters_gaussian_Core_h

#include "itkCudaDetailGaussianPlan.h"
#include "runtime/DetailNames.h"
#include "runtime/HostDevice.h"

#include <cmath>

// The mathematics of the recursive Gaussian, written once for the host and the device.
//
// A pole pair p, conj(p) with weight c contributes h(n) = Re(c p^n) to the half-kernel. It is computed by a
// second-order section with the real states (u, v)
//
//   u[n] = g u[n-1] - e v[n-1] + x[n],   v[n] = v[n-1] + e u[n],   g = |p|^2,   e = |1 - p|
//
// (the state-variable form: characteristic polynomial z^2 - 2 Re(p) z + |p|^2). The pixels before n contribute
//
//   a u[n-1] + b v[n-1],   a = g Re(c),   b = (Re(c) (Re(p) - g) - Im(c) Im(p)) / e
//
// to the result at n. The pixel itself contributes h(0) x[n], which is added once for both sweeps. The direct form
// loses the digits of 1 - p to cancellation in its coefficients; this form keeps float accuracy at every sigma and has
// no singular p. A constant input x has the fixed point u = 0, v = x / e. These are the border states of a line that is
// continued by its edge value.

namespace itk::cuda::gaussian
{
// VPairs is the number of pole pairs of a kernel, and T is the type of the coefficients. Pixels and states have the
// type T or, on the host, a type that holds several lines (LinePack).

template <typename T>
struct PolePairState
{
  T U{ 0 };
  T V{ 0 };
};

/** The state that a sweep over a line carries from pixel to pixel. */
template <typename T, unsigned int VPairs>
struct LineState
{
  PolePairState<T> Pair[VPairs];
};

/** The matrix that advances the state of a pole pair over a number of pixels of zero input. */
template <typename T>
struct StateMatrix
{
  T UU{ 1 };
  T UV{ 0 };
  T VU{ 0 };
  T VV{ 1 };
};

/** Coefficients of the recursion of one second-order section. */
template <typename T>
struct SectionDynamics
{
  T Damping;         // g
  T Coupling;        // e
  T InverseCoupling; // 1 / e
};

/** The recursions of all pole pairs of an impulse response. Orders 0, 1 and 2 of one sigma have the same poles, and can
 * therefore share the sweeps. */
template <typename T, unsigned int VPairs>
struct LineDynamics
{
  SectionDynamics<T> Section[VPairs];
};

/** The weights of the states of one sweep in the result of an impulse response. */
template <typename T, unsigned int VPairs>
struct SweepResponse
{
  T WeightU[VPairs]; // a
  T WeightV[VPairs]; // b
};

/** The weights of the states of the causal and the anticausal sweep in the result of an impulse response. For order 1
 * the anticausal weights are the negated causal ones. */
template <typename T, unsigned int VPairs>
struct LineResponse
{
  SweepResponse<T, VPairs> Causal;
  SweepResponse<T, VPairs> Anticausal;
  T                        CentralValue;     // h(0)
  T                        ConstantResponse; // response to a constant 1
};

template <typename TPixel, typename T>
ITK_CUDA_HOST_DEVICE inline void
Advance(PolePairState<TPixel> & state, const SectionDynamics<T> & section, TPixel x)
{
  state.U = section.Damping * state.U + (x - section.Coupling * state.V);
  state.V = section.Coupling * state.U + state.V;
}

template <typename TPixel, typename T, unsigned int VPairs>
ITK_CUDA_HOST_DEVICE inline void
Advance(LineState<TPixel, VPairs> & state, const LineDynamics<T, VPairs> & dynamics, TPixel x)
{
  for (unsigned int j = 0; j < VPairs; ++j)
  {
    Advance(state.Pair[j], dynamics.Section[j], x);
  }
}

/** Adds to `sum` what the pixels that the sweep has passed contribute to the result at the next pixel. */
template <typename TPixel, typename T, unsigned int VPairs>
ITK_CUDA_HOST_DEVICE inline TPixel
AddContribution(TPixel sum, const LineState<TPixel, VPairs> & state, const SweepResponse<T, VPairs> & response)
{
  for (unsigned int j = 0; j < VPairs; ++j)
  {
    sum = response.WeightU[j] * state.Pair[j].U + (response.WeightV[j] * state.Pair[j].V + sum);
  }
  return sum;
}

/** Returns the state after infinitely many pixels of value x. */
template <typename TPixel, typename T>
ITK_CUDA_HOST_DEVICE inline PolePairState<TPixel>
SteadyState(const SectionDynamics<T> & section, TPixel x)
{
  PolePairState<TPixel> state;
  state.V = section.InverseCoupling * x;
  return state;
}

/** Returns the state at the end of a run of pixels. `end` is its end state from zero start state, `begin` is the state
 * before it, and `power` advances a state over its length. This is exact because states are linear in the input; lines
 * are partitioned on this ground. */
template <typename TPixel, typename T>
ITK_CUDA_HOST_DEVICE inline PolePairState<TPixel>
Combine(const PolePairState<TPixel> & end, const StateMatrix<T> & power, const PolePairState<TPixel> & begin)
{
  PolePairState<TPixel> state;
  state.U = power.UU * begin.U + (power.UV * begin.V + end.U);
  state.V = power.VU * begin.U + (power.VV * begin.V + end.V);
  return state;
}

template <typename T>
ITK_CUDA_HOST_DEVICE inline PolePairState<T>
Apply(const StateMatrix<T> & power, const PolePairState<T> & begin)
{
  return Combine(PolePairState<T>{}, power, begin);
}

/** Returns the matrix that advances a state over the pixels of `b` and then over the pixels of `a`. */
template <typename T>
ITK_CUDA_HOST_DEVICE inline StateMatrix<T>
Multiply(const StateMatrix<T> & a, const StateMatrix<T> & b)
{
  StateMatrix<T> product;
  product.UU = a.UU * b.UU + a.UV * b.VU;
  product.UV = a.UU * b.UV + a.UV * b.VV;
  product.VU = a.VU * b.UU + a.VV * b.VU;
  product.VV = a.VU * b.UV + a.VV * b.VV;
  return product;
}

/** Returns the product of a row of a matrix and a vector; only the first `dimension` elements count. */
template <unsigned int VMaximumDimension, typename T>
ITK_CUDA_HOST_DEVICE inline T
MultiplyRow(const T * row, unsigned int dimension, const T (&vector)[VMaximumDimension])
{
  T sum = 0;
  for (unsigned int k = 0; k < VMaximumDimension; ++k)
  {
    sum += k < dimension ? row[k] * vector[k] : T(0);
  }
  return sum;
}

/** Returns sqrt(a^2 + b^2) for numbers whose squares overflow or underflow their type. */
template <typename T>
ITK_CUDA_HOST_DEVICE inline T
GetLengthByRatio(T a, T b)
{
  using std::sqrt;
  a = a < T(0) ? -a : a;
  b = b < T(0) ? -b : b;
  const T larger = a < b ? b : a;
  const T smaller = a < b ? a : b;
  if (!(larger > T(0)) || larger - larger != T(0))
  {
    return a + b; // zeros, infinity or NaN
  }
  const T ratio = smaller / larger;
  return larger * sqrt(T(1) + ratio * ratio);
}

/** Returns whether a sum of squares is precise to the last digit of TStored: it lies in a range in which a square that
 * underflows is below the rounding of the sum. */
template <typename TStored, typename T>
ITK_CUDA_HOST_DEVICE inline bool
IsSumOfSquaresPrecise(T squares)
{
  constexpr bool isFloat = sizeof(TStored) == sizeof(float);
  return squares >= static_cast<T>(isFloat ? 0x1p-100 : 0x1p-960) &&
         squares <= static_cast<T>(isFloat ? 0x1p+126 : 0x1p+1022);
}

/** Returns the square root of `old` + value^2, where `old` is a sum of squares in the representation of AddSquare().
 * The function is for sums that lose digits. It is not inlined: few pixels need it, and its division and root would
 * take registers from the loops that store pixels. */
template <typename T>
ITK_CUDA_HOST_DEVICE ITK_CUDA_NOINLINE T
GetLengthOfSum(T old, T value)
{
  using std::sqrt;
  return GetLengthByRatio(old < T(0) ? -old : sqrt(old), value);
}

/** Adds value^2 to the sum of squares `old`, and returns the sum in the representation that images of TStored hold: the
 * sum itself or, where it would lose digits (IsSumOfSquaresPrecise()), minus its square root. The length of a vector is
 * therefore precise in any unit of the pixels. */
template <typename TStored, typename T>
ITK_CUDA_HOST_DEVICE inline T
AddSquare(T old, T value)
{
  const T squares = old + value * value;
  if (old >= T(0) && (IsSumOfSquaresPrecise<TStored>(squares) || (old == T(0) && value == T(0))))
  {
    return squares;
  }
  const T root = GetLengthOfSum(old, value);
  return IsSumOfSquaresPrecise<TStored>(root * root) ? root * root : -root;
}

/** Returns the square root of `old` + value^2, where `old` is a sum of squares in the representation of AddSquare(). */
template <typename T>
ITK_CUDA_HOST_DEVICE inline T
AddSquareAndRoot(T old, T value)
{
  using std::sqrt;
  const T squares = old + value * value;
  return old >= T(0) && (IsSumOfSquaresPrecise<T>(squares) || (old == T(0) && value == T(0)))
           ? sqrt(squares)
           : GetLengthOfSum(old, value);
}

/** Returns the value that replaces `old` at a pixel where a pass computes `value`. Intermediate values are stored as
 * TStored. */
template <typename TStored, typename T>
ITK_CUDA_HOST_DEVICE inline T
CombineValuesAs(CudaGaussianCombine combine, T old, T value)
{
  switch (combine)
  {
    case CudaGaussianCombine::Add:
      return old + value;
    case CudaGaussianCombine::StoreSquare:
      return AddSquare<TStored>(T(0), value);
    case CudaGaussianCombine::AddSquare:
      return AddSquare<TStored>(old, value);
    case CudaGaussianCombine::AddSquareAndRoot:
      return AddSquareAndRoot(old, value);
    default:
      return value;
  }
}

template <typename T>
ITK_CUDA_HOST_DEVICE inline T
CombineValues(CudaGaussianCombine combine, T old, T value)
{
  return CombineValuesAs<T>(combine, old, value);
}

/** Returns whether CombineValues() reads `old`. */
ITK_CUDA_HOST_DEVICE inline bool
ReadsDestination(CudaGaussianCombine combine)
{
  return combine != CudaGaussianCombine::Store && combine != CudaGaussianCombine::StoreSquare;
}

/** The reference value that is subtracted from an image's valid pixels. It is in device memory. */
template <typename T>
struct ReferenceValue
{
  T                  Value;        // first member, so that kernels that only subtract read it alone
  unsigned int       AllValid;     // not 0: all pixels are valid, nothing is subtracted, and no weight divides
  unsigned long long IndexOfPixel; // index of the pixel with this value; all bits set: no pixel
};

/** Computes the result of smoothing with a mask from the smoothed values (the valid pixels less the reference value)
 * and the smoothed weights. */
template <typename T>
struct Quotient
{
  const ReferenceValue<T> * Reference;
  T                         FillValue;
  T                         MinimumWeight;

  ITK_CUDA_HOST_DEVICE T
  Get(T value, T weight, T subtracted, bool isWhole) const
  {
    if (isWhole)
    {
      return value;
    }
    return weight >= MinimumWeight ? value / weight + subtracted : FillValue;
  }
};
} // namespace itk::cuda::gaussian

#endif
