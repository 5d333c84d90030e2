// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaGaussianSegment_cuh
#define itkCudaGaussianSegment_cuh

#include "itkCudaGaussianTile.cuh"

// A thread's work on its segment of a line, wherever the pixels lie. TTile::TakeQuad() loads pixels the first time, and
// TTile::LoadQuad() after that. TTile::Length is their number. TTile::ReadsTwice says whether registers are too few to
// keep them.

namespace itk::cuda::gaussian
{
/** End states of the thread's segment, each sweep from zero state. Both sweeps weigh pixel k and its mirror image with
 * the same two numbers, so the sum and the difference of the two pixels serve both sweeps. */
template <typename T, unsigned int VPairs, typename TTile>
__device__ inline SweepStates<T, VPairs>
GetSegmentEnds(const TTile & tile, const EndWeights<T, VPairs, TTile::Length> & weights)
{
  constexpr unsigned int quads = TTile::Length / 4;
  LineState<T, VPairs>   even, odd;
#pragma unroll
  for (unsigned int q = 0; q < quads / 2; ++q)
  {
    T fromBegin[4], fromEnd[4];
    tile.TakeQuad(q, fromBegin);
    tile.TakeQuad(quads - 1 - q, fromEnd);
#pragma unroll
    for (unsigned int k = 0; k < 4; ++k)
    {
      const T sum = fromBegin[k] + fromEnd[3 - k];
      const T difference = fromBegin[k] - fromEnd[3 - k];
#pragma unroll
      for (unsigned int j = 0; j < VPairs; ++j)
      {
        const PolePairState<T> & forSum = weights.Even[4 * q + k].Pair[j];
        const PolePairState<T> & forDifference = weights.Odd[4 * q + k].Pair[j];
        even.Pair[j].U += forSum.U * sum;
        even.Pair[j].V += forSum.V * sum;
        odd.Pair[j].U += forDifference.U * difference;
        odd.Pair[j].V += forDifference.V * difference;
      }
    }
  }
  SweepStates<T, VPairs> states;
#pragma unroll
  for (unsigned int j = 0; j < VPairs; ++j)
  {
    states.Sweep[0].Pair[j] = { even.Pair[j].U - odd.Pair[j].U, even.Pair[j].V - odd.Pair[j].V };
    states.Sweep[1].Pair[j] = { even.Pair[j].U + odd.Pair[j].U, even.Pair[j].V + odd.Pair[j].V };
  }
  return states;
}

/** Response of the thread's segment, without the line's offset. The contributions of the sweeps are added before the
 * pixel itself. The mirror image of a line within one segment therefore gives the mirror image of the result, bit for
 * bit. */
template <typename T, unsigned int VPairs, typename TTile>
__device__ inline void
FilterSegment(const TTile &                   tile,
              const LineDynamics<T, VPairs> & dynamics,
              const LineResponse<T, VPairs> & response,
              SweepStates<T, VPairs>          states,
              T (&y)[TTile::Length])
{
  constexpr unsigned int quads = TTile::Length / 4;
#pragma unroll
  for (unsigned int q = 0; q < quads; ++q)
  {
    T x[4];
    tile.LoadQuad(q, x);
#pragma unroll
    for (unsigned int k = 0; k < 4; ++k)
    {
      y[4 * q + k] = AddContribution(T(0), states.Sweep[0], response.Causal);
      Advance(states.Sweep[0], dynamics, x[k]);
    }
  }
  if constexpr (TTile::ReadsTwice)
  {
    // The pixels are read again: without a barrier the compiler would keep them, and halve the threads that fit.
    __syncwarp();
  }
#pragma unroll
  for (unsigned int q = quads; q-- > 0;)
  {
    T x[4];
    tile.LoadQuad(q, x);
#pragma unroll
    for (unsigned int k = 4; k-- > 0;)
    {
      const T sweeps = y[4 * q + k] + AddContribution(T(0), states.Sweep[1], response.Anticausal);
      y[4 * q + k] = response.CentralValue * x[k] + sweeps;
      Advance(states.Sweep[1], dynamics, x[k]);
    }
  }
}
} // namespace itk::cuda::gaussian

#endif
