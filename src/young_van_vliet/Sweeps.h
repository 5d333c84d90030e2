// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_young_van_vliet_Sweeps_h
#define CudaFilters_young_van_vliet_Sweeps_h

#include "young_van_vliet/Core.h"

#include <cstddef>

// The two passes over a span of a line in memory, and the storage of the first pass's result for the second. The
// code is shared by the host and the device.

namespace itk::cuda::young_van_vliet
{
/** A strided part of a line in memory, in the order in which its first pass runs. `Stride` is negative if it runs from
 * right to left. */
template <typename T>
struct StridedSpan
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
  SweepForward(const StridedSpan<T> & span, const SmootherCoefficients<T> & c, Sweep<T> & sweep)
  {
    ForEachAscending<VBatch, T>(
      0,
      span.Length,
      [&](size_t n) { return span.Source[static_cast<ptrdiff_t>(n) * span.Stride]; },
      [&](size_t n, T x) {
        span.Destination[static_cast<ptrdiff_t>(n) * span.Stride] = sweep.Advance(c, x - span.Offset);
      });
  }

  /** Runs the backward pass and returns the state of the sweep after it. */
  ITK_CUDA_HOST_DEVICE Sweep<T>
                       SweepBackward(const StridedSpan<T> & span, const SmootherCoefficients<T> & c, Sweep<T> sweep)
  {
    ForEachDescending<VBatch, T>(
      0,
      span.Length,
      [&](size_t n) { return span.Destination[static_cast<ptrdiff_t>(n) * span.Stride]; },
      [&](size_t n, T w) {
        span.Destination[static_cast<ptrdiff_t>(n) * span.Stride] = sweep.Advance(c, w) + span.Offset;
      });
    return sweep;
  }
};

/** Keeps the intermediate w in an array of the thread (CUDA's local memory), for a chunk of VCapacity pixels at a time.
 * The forward pass keeps w only for the last chunk of the span. For each other chunk, it stores the state before
 * the chunk in the chunk's first four destination pixels, from which the backward pass recomputes w of the chunk. */
template <typename T, unsigned int VBatch, unsigned int VCapacity>
class LocalIntermediate
{
public:
  static_assert(VCapacity >= 4, "a chunk holds the four numbers of a sweep");

  ITK_CUDA_HOST_DEVICE void
  SweepForward(const StridedSpan<T> & span, const SmootherCoefficients<T> & c, Sweep<T> & sweep)
  {
    for (size_t begin = 0; begin < span.Length; begin += VCapacity)
    {
      if (begin + VCapacity < span.Length)
      {
        T * const place = span.Destination + static_cast<ptrdiff_t>(begin) * span.Stride;
        place[0] = sweep.Lag.Real;
        place[span.Stride] = sweep.Lag.PairRe;
        place[2 * span.Stride] = sweep.Lag.PairIm;
        place[3 * span.Stride] = sweep.Last;
      }
      this->FillChunk(span, c, begin, sweep);
    }
  }

  ITK_CUDA_HOST_DEVICE void
  SweepBackward(const StridedSpan<T> & span, const SmootherCoefficients<T> & c, Sweep<T> sweep)
  {
    if (span.Length == 0)
    {
      return;
    }
    size_t begin = (span.Length - 1) / VCapacity * VCapacity;
    this->EmptyChunk(span, c, begin, sweep);
    while (begin > 0)
    {
      begin -= VCapacity;
      const T * const place = span.Destination + static_cast<ptrdiff_t>(begin) * span.Stride;
      Sweep<T>        forward;
      forward.Lag.Real = place[0];
      forward.Lag.PairRe = place[span.Stride];
      forward.Lag.PairIm = place[2 * span.Stride];
      forward.Last = place[3 * span.Stride];
      this->FillChunk(span, c, begin, forward);
      this->EmptyChunk(span, c, begin, sweep);
    }
  }

private:
  ITK_CUDA_HOST_DEVICE static size_t
  GetChunkEnd(const StridedSpan<T> & span, size_t begin)
  {
    return begin + VCapacity < span.Length ? begin + VCapacity : span.Length;
  }

  ITK_CUDA_HOST_DEVICE void
  FillChunk(const StridedSpan<T> & span, const SmootherCoefficients<T> & c, size_t begin, Sweep<T> & sweep)
  {
    ForEachAscending<VBatch, T>(
      begin,
      GetChunkEnd(span, begin),
      [&](size_t n) { return span.Source[static_cast<ptrdiff_t>(n) * span.Stride]; },
      [&](size_t n, T x) { m_W[n - begin] = sweep.Advance(c, x - span.Offset); });
  }

  ITK_CUDA_HOST_DEVICE void
  EmptyChunk(const StridedSpan<T> & span, const SmootherCoefficients<T> & c, size_t begin, Sweep<T> & sweep)
  {
    ForEachDescending<VBatch, T>(
      begin,
      GetChunkEnd(span, begin),
      [&](size_t n) { return m_W[n - begin]; },
      [&](size_t n, T w) {
        span.Destination[static_cast<ptrdiff_t>(n) * span.Stride] = sweep.Advance(c, w) + span.Offset;
      });
  }

  T m_W[VCapacity];
};
} // namespace itk::cuda::young_van_vliet

#endif
