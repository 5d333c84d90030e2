// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_young_van_vliet_Partitions_h
#define CudaFilters_young_van_vliet_Partitions_h

#include "young_van_vliet/Sweeps.h"

// The steps of each partition of a line. The host executes them one after the other, and the threads of the device
// concurrently.

namespace itk::cuda::young_van_vliet
{
// ------------------------------------------------------------------------------------------------------------- one-way

/** Returns the start state of the backward pass at the end of a line, from the forward pass there. */
template <typename T>
ITK_CUDA_HOST_DEVICE inline Sweep<T>
TurnSweep(const StridedSpan<T> & line, const SmootherCoefficients<T> & c, bool exactBorders, const Sweep<T> & forward)
{
  const T last = line.Source[static_cast<ptrdiff_t>(line.Length - 1) * line.Stride] - line.Offset;
  return Sweep<T>::FromState(BackwardStart(c, exactBorders, forward.GetState(), last));
}

/** Filters a whole line in one thread. */
template <typename T, typename TIntermediate>
ITK_CUDA_HOST_DEVICE inline void
FilterOneWay(const StridedSpan<T> &          line,
             const SmootherCoefficients<T> & c,
             bool                            exactBorders,
             TIntermediate &                 intermediate)
{
  Sweep<T> forward; // the line is extended by its first value, which is zero relative to the offset
  intermediate.SweepForward(line, c, forward);
  intermediate.SweepBackward(line, c, TurnSweep(line, c, exactBorders, forward));
}

/** Returns `length` pixels of the line from `begin` on. */
template <typename T>
ITK_CUDA_HOST_DEVICE inline StridedSpan<T>
GetSubspan(const StridedSpan<T> & line, size_t begin, size_t length)
{
  const ptrdiff_t offset = static_cast<ptrdiff_t>(begin) * line.Stride;

  StridedSpan<T> part = line;
  part.Source += offset;
  part.Destination += offset;
  part.Length = length;
  return part;
}

// The same filter on consecutive parts of a line: first all parts forward, then all parts backward. `sweep` is the
// state that the passes carry from part to part. It is default-constructed before the first part. The intermediate is
// stored in the memory of the result, which does not affect the result.

template <unsigned int VBatch, typename T>
ITK_CUDA_HOST_DEVICE inline void
SweepPartForward(const StridedSpan<T> &          line,
                 size_t                          begin,
                 size_t                          end,
                 const SmootherCoefficients<T> & c,
                 Sweep<T> &                      sweep)
{
  GlobalIntermediate<T, VBatch>().SweepForward(GetSubspan(line, begin, end - begin), c, sweep);
}

/** Sweeps backward over a part. The first call must be for the last part of the line. */
template <unsigned int VBatch, typename T>
ITK_CUDA_HOST_DEVICE inline void
SweepPartBackward(const StridedSpan<T> &          line,
                  size_t                          begin,
                  size_t                          end,
                  const SmootherCoefficients<T> & c,
                  bool                            exactBorders,
                  Sweep<T> &                      sweep)
{
  if (end == line.Length)
  {
    sweep = TurnSweep(line, c, exactBorders, sweep);
  }
  sweep = GlobalIntermediate<T, VBatch>().SweepBackward(GetSubspan(line, begin, end - begin), c, sweep);
}

// ------------------------------------------------------------------------------------------------------------- two-way

/** Returns the left half for side 0, and the right half, from right to left, for side 1. The central pixel is in
 * neither half. */
template <typename T>
ITK_CUDA_HOST_DEVICE inline StridedSpan<T>
GetHalf(const StridedSpan<T> & line, unsigned int side)
{
  const size_t    centre = line.Length / 2;
  const ptrdiff_t begin = side == 0 ? 0 : static_cast<ptrdiff_t>(line.Length - 1) * line.Stride;

  StridedSpan<T> half = line;
  half.Source += begin;
  half.Destination += begin;
  half.Stride = side == 0 ? line.Stride : -line.Stride;
  half.Length = side == 0 ? centre : line.Length - 1 - centre;
  return half;
}

/** Runs the first pass over a half, from the end of the line to its centre. The half is extended by its first value. */
template <typename T, typename TIntermediate>
ITK_CUDA_HOST_DEVICE inline void
SweepHalfInward(const StridedSpan<T> & half, const SmootherCoefficients<T> & c, TIntermediate & intermediate)
{
  Sweep<T> sweep = Sweep<T>::FromState(SteadyState(half.Source[0] - half.Offset));
  intermediate.SweepForward(half, c, sweep);
}

/** Runs the second pass over a half, from the centre to the end of the line. The central pixel's result stands for the
 * three results from which the pass starts. */
template <typename T, typename TIntermediate>
ITK_CUDA_HOST_DEVICE inline void
SweepHalfOutward(const StridedSpan<T> &          half,
                 const SmootherCoefficients<T> & c,
                 T                               centralPixel,
                 TIntermediate &                 intermediate)
{
  intermediate.SweepBackward(half, c, Sweep<T>::FromState(SteadyState(centralPixel)));
}

/** Returns the result at the central pixel, minus the line's offset, by convolution with the truncated Gaussian.
 * weights[k] is the weight at distance k. The line is extended by its end values. */
template <unsigned int VBatch, typename T>
ITK_CUDA_HOST_DEVICE inline T
FilterCentralPixel(const StridedSpan<T> & line, const T * weights, size_t radius)
{
  const auto pixel = [&](size_t n) { return line.Source[static_cast<ptrdiff_t>(n) * line.Stride] - line.Offset; };

  const size_t centre = line.Length / 2;
  const auto   neighbors = [&](size_t k) {
    return pixel(centre > k ? centre - k : 0) + pixel(centre + k < line.Length ? centre + k : line.Length - 1);
  };
  T sum = 0;
  ForEachDescending<VBatch, T>(1, radius + 1, neighbors, [&](size_t k, T value) { sum += weights[k] * value; });
  return sum + weights[0] * pixel(centre);
}

// --------------------------------------------------------------------------------------------------------------- exact

/** The division of a line into sections, whose lengths differ by at most one pixel. The longer sections come first. */
struct SectionLayout
{
  size_t NumberOfSections;
  size_t ShortLength;
  size_t NumberOfLongSections; // of ShortLength + 1 pixels

  ITK_CUDA_HOST_DEVICE bool
  IsLong(size_t section) const
  {
    return section < NumberOfLongSections;
  }
  ITK_CUDA_HOST_DEVICE size_t
  GetBegin(size_t section) const
  {
    return section * ShortLength + (section < NumberOfLongSections ? section : NumberOfLongSections);
  }
  ITK_CUDA_HOST_DEVICE size_t
  GetLength(size_t section) const
  {
    return ShortLength + (this->IsLong(section) ? 1 : 0);
  }
};

template <typename T>
struct SectionPowers
{
  SmootherPower<T> Short;
  SmootherPower<T> Long;

  ITK_CUDA_HOST_DEVICE const SmootherPower<T> &
                             Get(const SectionLayout & layout, size_t section) const
  {
    return layout.IsLong(section) ? Long : Short;
  }
};

template <typename T>
ITK_CUDA_HOST_DEVICE inline StridedSpan<T>
GetSection(const StridedSpan<T> & line, const SectionLayout & layout, size_t section)
{
  return GetSubspan(line, layout.GetBegin(section), layout.GetLength(section));
}

/** The states of a section. First they are the end states from zero start states, which the other sections of the line
 * need. The scan replaces them by the actual start states of the section's passes. */
template <typename T>
struct SectionStates
{
  SmootherState<T> Forward;  // end state of the section alone; after the scan the actual start state
  SmootherState<T> Backward; // r of the section alone at its beginning; after the scan the actual r at its end
};

constexpr unsigned int NumbersPerSection = 6; // elements of a SectionStates

/** The states of the sections of a line in memory. Successive numbers are `stride` elements apart. */
template <typename T>
class StateArray
{
public:
  ITK_CUDA_HOST_DEVICE
  StateArray(T * numbers, size_t stride)
    : m_Numbers(numbers)
    , m_Stride(stride)
  {}

  ITK_CUDA_HOST_DEVICE SmootherState<T>
                       GetForward(size_t section) const
  {
    return this->GetState(NumbersPerSection * section);
  }
  ITK_CUDA_HOST_DEVICE SmootherState<T>
                       GetBackward(size_t section) const
  {
    return this->GetState(NumbersPerSection * section + 3);
  }
  ITK_CUDA_HOST_DEVICE SectionStates<T>
                       Get(size_t section) const
  {
    return { this->GetForward(section), this->GetBackward(section) };
  }

  ITK_CUDA_HOST_DEVICE void
  SetForward(size_t section, const SmootherState<T> & state) const
  {
    this->SetState(NumbersPerSection * section, state);
  }
  ITK_CUDA_HOST_DEVICE void
  SetBackward(size_t section, const SmootherState<T> & state) const
  {
    this->SetState(NumbersPerSection * section + 3, state);
  }
  ITK_CUDA_HOST_DEVICE void
  Set(size_t section, const SectionStates<T> & states) const
  {
    this->SetForward(section, states.Forward);
    this->SetBackward(section, states.Backward);
  }

private:
  ITK_CUDA_HOST_DEVICE SmootherState<T>
                       GetState(size_t number) const
  {
    const T * const  at = m_Numbers + number * m_Stride;
    SmootherState<T> state;
    state.Real = at[0];
    state.PairRe = at[m_Stride];
    state.PairIm = at[2 * m_Stride];
    return state;
  }
  ITK_CUDA_HOST_DEVICE void
  SetState(size_t number, const SmootherState<T> & state) const
  {
    T * const at = m_Numbers + number * m_Stride;
    at[0] = state.Real;
    at[m_Stride] = state.PairRe;
    at[2 * m_Stride] = state.PairIm;
  }

  T *    m_Numbers;
  size_t m_Stride;
};

template <unsigned int VBatch, typename T>
ITK_CUDA_HOST_DEVICE inline SectionStates<T>
GetSectionStates(const StridedSpan<T> & section, const SmootherCoefficients<T> & c)
{
  const auto load = [&](size_t n) { return section.Source[static_cast<ptrdiff_t>(n) * section.Stride]; };

  Sweep<T> forward;
  Sweep<T> backward;
  ForEachAscending<VBatch, T>(0, section.Length, load, [&](size_t, T x) { forward.Advance(c, x - section.Offset); });
  ForEachDescending<VBatch, T>(0, section.Length, load, [&](size_t, T x) { backward.Advance(c, x - section.Offset); });
  return { forward.GetState(), BackwardFromPixels(c, backward.GetState()) };
}

/** Replaces the end states of the sections alone by the actual start states, with a sequential scan in both directions.
 */
template <unsigned int VBatch, typename T>
ITK_CUDA_HOST_DEVICE inline void
ScanSections(const StridedSpan<T> &          line,
             const SectionLayout &           layout,
             const SectionPowers<T> &        powers,
             const SmootherCoefficients<T> & c,
             bool                            exactBorders,
             const StateArray<T> &           states)
{
  using State = SmootherState<T>;
  State forward;
  ForEachAscending<VBatch, State>(
    0,
    layout.NumberOfSections,
    [&](size_t section) { return states.GetForward(section); },
    [&](size_t section, const State & end) {
      states.SetForward(section, forward);
      forward = Combine(end, powers.Get(layout, section), forward);
    });
  const T last = line.Source[static_cast<ptrdiff_t>(line.Length - 1) * line.Stride] - line.Offset;
  State   backward = BackwardRestAtEnd(c, exactBorders, forward, last);
  ForEachDescending<VBatch, State>(
    0,
    layout.NumberOfSections,
    [&](size_t section) { return states.GetBackward(section); },
    [&](size_t section, const State & begin) {
      states.SetBackward(section, backward);
      backward = Combine(begin, powers.Get(layout, section), backward);
    });
}

/** Filters a section from its actual start states. */
template <typename T, typename TIntermediate>
ITK_CUDA_HOST_DEVICE inline void
FilterSection(const StridedSpan<T> &          section,
              const SmootherCoefficients<T> & c,
              const SectionStates<T> &        states,
              TIntermediate &                 intermediate)
{
  Sweep<T> forward = Sweep<T>::FromState(states.Forward);
  intermediate.SweepForward(section, c, forward);
  const SmootherState<T> backward = Add(states.Backward, BackwardFromForward(c, forward.GetState()));
  intermediate.SweepBackward(section, c, Sweep<T>::FromState(backward));
}
} // namespace itk::cuda::young_van_vliet

#endif
