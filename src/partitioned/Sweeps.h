// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_partitioned_Sweeps_h
#define CudaFilters_partitioned_Sweeps_h

#include "partitioned/Core.h"

#include <cstddef>

// The two passes over a stretch of a line in memory, and the storage of the first pass's result for the second. The
// code is shared by the host and the device.

namespace itk::cuda::partitioned
{
/** A strided part of a line in memory, in the order in which its first pass runs. `Stride` is negative if it runs from
 * right to left. */
template <typename T>
struct Stretch
{
  const T * Source;
  T *       Destination; // must not overlap Source
  ptrdiff_t Stride;
  size_t    Length;
  T         Offset; // first pixel of the line, which is subtracted from all pixels
};

/** Calls f(n, load(n)) for n in [begin, end), in ascending order. Values are loaded `VBatch` at a time and one batch
 * ahead, to hide the latency of memory. */
template <unsigned int VBatch, typename T, typename TLoad, typename TFunction>
ITK_CUDA_HOST_DEVICE inline void
ForEachAscending(size_t begin, size_t end, const TLoad & load, const TFunction & f)
{
  T      next[VBatch];
  size_t n = begin;
  if (n + VBatch <= end)
  {
    ITK_CUDA_UNROLL
    for (unsigned int k = 0; k < VBatch; ++k)
    {
      next[k] = load(n + k);
    }
  }
  for (; n + VBatch <= end; n += VBatch)
  {
    T current[VBatch];
    ITK_CUDA_UNROLL
    for (unsigned int k = 0; k < VBatch; ++k)
    {
      current[k] = next[k];
    }
    if (n + 2 * VBatch <= end)
    {
      ITK_CUDA_UNROLL
      for (unsigned int k = 0; k < VBatch; ++k)
      {
        next[k] = load(n + VBatch + k);
      }
    }
    ITK_CUDA_UNROLL
    for (unsigned int k = 0; k < VBatch; ++k)
    {
      f(n + k, current[k]);
    }
  }
  for (; n < end; ++n)
  {
    f(n, load(n));
  }
}

/** Calls f(n, load(n)) like ForEachAscending(), but in descending order from end - 1 to begin. */
template <unsigned int VBatch, typename T, typename TLoad, typename TFunction>
ITK_CUDA_HOST_DEVICE inline void
ForEachDescending(size_t begin, size_t end, const TLoad & load, const TFunction & f)
{
  const size_t last = begin + end - 1;
  ForEachAscending<VBatch, T>(
    begin, end, [&](size_t n) { return load(last - n); }, [&](size_t n, const T & value) { f(last - n, value); });
}

/** Stores the intermediate w in the memory of the result, until the backward pass overwrites it. */
template <typename T, unsigned int VBatch>
class GlobalIntermediate
{
public:
  ITK_CUDA_HOST_DEVICE void
  SweepForward(const Stretch<T> & stretch, const SmootherCoefficients<T> & c, Sweep<T> & sweep)
  {
    ForEachAscending<VBatch, T>(
      0,
      stretch.Length,
      [&](size_t n) { return stretch.Source[static_cast<ptrdiff_t>(n) * stretch.Stride]; },
      [&](size_t n, T x) {
        stretch.Destination[static_cast<ptrdiff_t>(n) * stretch.Stride] = sweep.Advance(c, x - stretch.Offset);
      });
  }

  /** Runs the backward pass and returns the state of the sweep after it. */
  ITK_CUDA_HOST_DEVICE Sweep<T>
                       SweepBackward(const Stretch<T> & stretch, const SmootherCoefficients<T> & c, Sweep<T> sweep)
  {
    ForEachDescending<VBatch, T>(
      0,
      stretch.Length,
      [&](size_t n) { return stretch.Destination[static_cast<ptrdiff_t>(n) * stretch.Stride]; },
      [&](size_t n, T w) {
        stretch.Destination[static_cast<ptrdiff_t>(n) * stretch.Stride] = sweep.Advance(c, w) + stretch.Offset;
      });
    return sweep;
  }
};

/** Keeps the intermediate w in an array of the thread (CUDA's local memory), for a chunk of VCapacity pixels at a time.
 * The forward pass keeps w only for the last chunk of the stretch. For each other chunk, it stores the state before
 * the chunk in the chunk's first four destination pixels, from which the backward pass recomputes w of the chunk. */
template <typename T, unsigned int VBatch, unsigned int VCapacity>
class LocalIntermediate
{
public:
  static_assert(VCapacity >= 4, "a chunk holds the four numbers of a sweep");

  ITK_CUDA_HOST_DEVICE void
  SweepForward(const Stretch<T> & stretch, const SmootherCoefficients<T> & c, Sweep<T> & sweep)
  {
    for (size_t begin = 0; begin < stretch.Length; begin += VCapacity)
    {
      if (begin + VCapacity < stretch.Length)
      {
        T * const place = stretch.Destination + static_cast<ptrdiff_t>(begin) * stretch.Stride;
        place[0] = sweep.Lag.Real;
        place[stretch.Stride] = sweep.Lag.PairRe;
        place[2 * stretch.Stride] = sweep.Lag.PairIm;
        place[3 * stretch.Stride] = sweep.Last;
      }
      this->FillChunk(stretch, c, begin, sweep);
    }
  }

  ITK_CUDA_HOST_DEVICE void
  SweepBackward(const Stretch<T> & stretch, const SmootherCoefficients<T> & c, Sweep<T> sweep)
  {
    if (stretch.Length == 0)
    {
      return;
    }
    size_t begin = (stretch.Length - 1) / VCapacity * VCapacity;
    this->EmptyChunk(stretch, c, begin, sweep);
    while (begin > 0)
    {
      begin -= VCapacity;
      const T * const place = stretch.Destination + static_cast<ptrdiff_t>(begin) * stretch.Stride;
      Sweep<T>        forward;
      forward.Lag.Real = place[0];
      forward.Lag.PairRe = place[stretch.Stride];
      forward.Lag.PairIm = place[2 * stretch.Stride];
      forward.Last = place[3 * stretch.Stride];
      this->FillChunk(stretch, c, begin, forward);
      this->EmptyChunk(stretch, c, begin, sweep);
    }
  }

private:
  ITK_CUDA_HOST_DEVICE static size_t
  GetChunkEnd(const Stretch<T> & stretch, size_t begin)
  {
    return begin + VCapacity < stretch.Length ? begin + VCapacity : stretch.Length;
  }

  ITK_CUDA_HOST_DEVICE void
  FillChunk(const Stretch<T> & stretch, const SmootherCoefficients<T> & c, size_t begin, Sweep<T> & sweep)
  {
    ForEachAscending<VBatch, T>(
      begin,
      GetChunkEnd(stretch, begin),
      [&](size_t n) { return stretch.Source[static_cast<ptrdiff_t>(n) * stretch.Stride]; },
      [&](size_t n, T x) { m_W[n - begin] = sweep.Advance(c, x - stretch.Offset); });
  }

  ITK_CUDA_HOST_DEVICE void
  EmptyChunk(const Stretch<T> & stretch, const SmootherCoefficients<T> & c, size_t begin, Sweep<T> & sweep)
  {
    ForEachDescending<VBatch, T>(
      begin,
      GetChunkEnd(stretch, begin),
      [&](size_t n) { return m_W[n - begin]; },
      [&](size_t n, T w) {
        stretch.Destination[static_cast<ptrdiff_t>(n) * stretch.Stride] = sweep.Advance(c, w) + stretch.Offset;
      });
  }

  T m_W[VCapacity];
};
} // namespace itk::cuda::partitioned

#endif
