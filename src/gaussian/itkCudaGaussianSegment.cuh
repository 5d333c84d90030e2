// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaGaussianSegment_cuh
#define itkCudaGaussianSegment_cuh

#include "itkCudaGaussianTile.cuh"

// What a thread does with its segment of a line, wherever the pixels lie: TTile::TakeQuad() brings them the first time,
// TTile::LoadQuad() from then on, and TTile::Length says how many there are, TTile::ReadsTwice whether registers are
// too few to keep them.

namespace itk::cuda::gaussian
{
/** End states of the thread's segment, each sweep from zero state. Both sweeps weigh pixel k and its mirror image with
 * the same two numbers, so their sum and difference serve both. */
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

/** Response of the thread's segment, without the line's offset. The sweeps' contributions are added up before the pixel
 * itself is, so that the mirror image of a line within one segment gives the mirror image of the result, to the bit. */
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
