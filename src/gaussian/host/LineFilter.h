// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_gaussian_host_LineFilter_h
#define CudaFilters_gaussian_host_LineFilter_h

#include "gaussian/plan/Boundary.h"
#include "gaussian/plan/Coefficients.h"
#include "gaussian/Core.h"
#include "gaussian/plan/Schedule.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <type_traits>
#include <vector>

// Filters the lines of a pass on the host. The lines are given whole, or chunk by chunk.

namespace itk::cuda::gaussian
{
/** The same pixel of several lines. The compiler vectorises the operations on it. Each line is computed independently,
 * so its bits do not depend on its neighbours. The sweeps wait for the results of one pixel before the next, and 16
 * lines hide that: they take 3.4 ns a pixel for three pole pairs with SSE2, and packs of 4 and 8 lines take 7.0 and
 * 5.3 ns. A row of 16 pixels of float is also a cache line. */
struct LinePack
{
  static constexpr unsigned int Count = 16;

  double Value[Count];
};

template <typename TOperation>
inline LinePack
ForEachLine(const TOperation & operation)
{
  LinePack result;
  for (unsigned int i = 0; i < LinePack::Count; ++i)
  {
    result.Value[i] = operation(i);
  }
  return result;
}

inline LinePack
operator+(const LinePack & a, const LinePack & b)
{
  return ForEachLine([&](unsigned int i) { return a.Value[i] + b.Value[i]; });
}

inline LinePack
operator-(const LinePack & a, const LinePack & b)
{
  return ForEachLine([&](unsigned int i) { return a.Value[i] - b.Value[i]; });
}

inline LinePack
operator*(double a, const LinePack & b)
{
  return ForEachLine([&](unsigned int i) { return a * b.Value[i]; });
}

/** Subtracts each of the pixels from `value`. */
template <typename TPixel>
inline TPixel
SubtractFrom(TPixel value, const TPixel & pixel)
{
  return value - pixel;
}

inline LinePack
SubtractFrom(double value, const LinePack & pixel)
{
  return ForEachLine([&](unsigned int i) { return value - pixel.Value[i]; });
}

/** The states of a chunk. They are either its start states (at its begin for the causal sweep, and at its end for the
 * anticausal one) or its end states, in which sweeps leave it that entered it in zero state. */
template <typename TPixel, unsigned int VPairs>
struct ChunkStates
{
  LineState<TPixel, VPairs> Causal;
  LineState<TPixel, VPairs> Anticausal;
};

/** How lines are divided. With a LookAhead, the start states of a chunk are computed from this number of chunks on
 * either side, as on the device (LineSchedule). With 0 they are computed from all chunks. */
struct LineChunks
{
  size_t       Length{ 0 }; // pixels of a chunk; 0: lines are not divided
  unsigned int LookAhead{ 0 };
};

/** Filters lines. All results of the pass are computed from the same states. T is the type of the coefficients. */
template <typename T, unsigned int VPairs>
class LineFilter
{
public:
  /** Prepares for lines of `length` pixels. */
  LineFilter(const std::vector<CudaGaussianPassResult> & results,
             const CudaGaussianBoundary &                boundary,
             size_t                                      length,
             const LineChunks &                          chunks = {})
    : m_Kernel(results.front().Kernel)
    , m_Boundary(m_Kernel, boundary, length)
    , m_ChunkLength(chunks.Length == 0 ? length : chunks.Length)
    , m_LookAhead(chunks.LookAhead)
    , m_Reach(GetReach(m_Kernel))
    , m_NumberOfChunks((length + m_ChunkLength - 1) / m_ChunkLength)
    , m_Dynamics(MakeLineDynamics<T, VPairs>(m_Kernel))
    , m_ChunkPower(this->MakePower(m_ChunkLength))
    , m_LastPower(this->MakePower(length - (m_NumberOfChunks - 1) * m_ChunkLength))
  {
    for (const CudaGaussianPassResult & result : results)
    {
      m_Responses.push_back(MakeLineResponse<T, VPairs>(result.Kernel));
    }
  }

  /** Filters a line. Result r is written to output[r * stride] and the following pixels. Overwrites `line`: its first
   * value is subtracted from it. */
  template <typename TPixel>
  void
  operator()(TPixel * line, TPixel * output, size_t length, size_t stride) const
  {
    const TPixel first = line[0];
    Subtract(first, line, length);
    const auto starts = this->GetChunkStarts(line, length, first);
    for (size_t c = 0; c < m_NumberOfChunks; ++c)
    {
      const size_t begin = c * m_ChunkLength;
      const size_t chunkLength = std::min(m_ChunkLength, length - begin);
      this->FilterChunk(line + begin, output + begin, chunkLength, stride, first, starts[c]);
    }
  }

  size_t
  GetNumberOfChunks() const
  {
    return m_NumberOfChunks;
  }

  template <typename TPixel>
  static void
  Subtract(const TPixel & first, TPixel * pixels, size_t length)
  {
    for (size_t n = 0; n < length; ++n)
    {
      pixels[n] = pixels[n] - first;
    }
  }

  /** Returns the end states of a chunk. Here and below, the line's first value has been subtracted from the pixels. */
  template <typename TPixel>
  ChunkStates<TPixel, VPairs>
  GetEndStates(const TPixel * chunk, size_t length) const
  {
    ChunkStates<TPixel, VPairs> endStates;
    for (size_t n = 0; n < length; ++n)
    {
      Advance(endStates.Causal, m_Dynamics, chunk[n]);
    }
    for (size_t n = length; n-- > 0;)
    {
      Advance(endStates.Anticausal, m_Dynamics, chunk[n]);
    }
    return endStates;
  }

  /** Returns the start states of chunk `c`, computed from the end states getEndStates(i) of the chunks i within the
   * look-ahead. `edges` are the states with which sweeps enter the line. */
  template <typename TPixel, typename TGetEndStates>
  ChunkStates<TPixel, VPairs>
  GetWindowedStart(size_t c, const ChunkStates<TPixel, VPairs> & edges, const TGetEndStates & getEndStates) const
  {
    const size_t                first = c - std::min<size_t>(c, m_LookAhead);
    const size_t                last = std::min<size_t>(c + m_LookAhead, m_NumberOfChunks - 1);
    ChunkStates<TPixel, VPairs> start;
    start.Causal = first == 0 ? edges.Causal : LineState<TPixel, VPairs>();
    for (size_t i = first; i < c; ++i)
    {
      start.Causal = CombineStates(getEndStates(i).Causal, m_ChunkPower, start.Causal);
    }
    start.Anticausal = last + 1 == m_NumberOfChunks ? edges.Anticausal : LineState<TPixel, VPairs>();
    for (size_t i = last; i > c; --i)
    {
      start.Anticausal = CombineStates(getEndStates(i).Anticausal, this->GetPower(i), start.Anticausal);
    }
    return start;
  }

  /** Replaces the end states get(i) of all chunks by their start states, in place. */
  template <typename TPixel, typename TGet>
  void
  ConvertToStartStates(const ChunkStates<TPixel, VPairs> & edges, const TGet & get) const
  {
    ChunkStates<TPixel, VPairs> start = edges;
    for (size_t i = 0; i < m_NumberOfChunks; ++i)
    {
      LineState<TPixel, VPairs> & entry = get(i).Causal;
      const auto                  end = CombineStates(entry, this->GetPower(i), start.Causal);
      entry = start.Causal;
      start.Causal = end;
    }
    for (size_t i = m_NumberOfChunks; i-- > 0;)
    {
      LineState<TPixel, VPairs> & entry = get(i).Anticausal;
      const auto                  end = CombineStates(entry, this->GetPower(i), start.Anticausal);
      entry = start.Anticausal;
      start.Anticausal = end;
    }
  }

  template <typename TPixel>
  void
  FilterChunk(const TPixel *                      chunk,
              TPixel *                            output,
              size_t                              length,
              size_t                              stride,
              const TPixel &                      first,
              const ChunkStates<TPixel, VPairs> & starts) const
  {
    LineState<TPixel, VPairs> causal = starts.Causal;
    for (size_t n = 0; n < length; ++n)
    {
      for (size_t r = 0; r < m_Responses.size(); ++r)
      {
        const auto & response = m_Responses[r];
        output[r * stride + n] = AddContribution(response.CentralValue * chunk[n], causal, response.Causal);
      }
      Advance(causal, m_Dynamics, chunk[n]);
    }
    LineState<TPixel, VPairs> anticausal = starts.Anticausal;
    for (size_t n = length; n-- > 0;)
    {
      for (size_t r = 0; r < m_Responses.size(); ++r)
      {
        const auto & response = m_Responses[r];
        output[r * stride + n] =
          AddContribution(output[r * stride + n] + response.ConstantResponse * first, anticausal, response.Anticausal);
      }
      Advance(anticausal, m_Dynamics, chunk[n]);
    }
  }

  /** Returns the start states of lines that continue with their edge values. */
  template <typename TPixel>
  ChunkStates<TPixel, VPairs>
  GetSteadyStates(const TPixel & firstPixel, const TPixel & lastPixel) const
  {
    return { this->GetSteadyState(firstPixel), this->GetSteadyState(lastPixel) };
  }

private:
  using PowerType = std::array<StateMatrix<T>, VPairs>;

  /** Returns the number of pixels over which the state of the slowest pole decays to 2^-60, so that earlier pixels are
   * lost in the rounding of double. */
  static size_t
  GetReach(const CudaGaussianImpulseResponse & kernel)
  {
    double slowest = 0.0;
    for (unsigned int j = 0; j < VPairs; ++j)
    {
      slowest = std::max(slowest, std::abs(kernel.Pole[j]));
    }
    constexpr double longest = 1e15;              // longer than any line
    const double     decay = -std::log2(slowest); // of a pixel; 0 if it is lost in the rounding
    return static_cast<size_t>(decay > 60.0 / longest ? std::ceil(60.0 / decay) : longest);
  }

  PowerType
  MakePower(size_t length) const
  {
    PowerType power;
    for (unsigned int j = 0; j < VPairs; ++j)
    {
      power[j] = RoundTo<T>(MakeStatePower(m_Kernel.Pole[j], length));
    }
    return power;
  }

  /** Returns the matrices that advance states over a chunk. */
  const PowerType &
  GetPower(size_t chunk) const
  {
    return chunk + 1 == m_NumberOfChunks ? m_LastPower : m_ChunkPower;
  }

  /** Computes the start states of all chunks, for both sweeps. */
  template <typename TPixel>
  std::vector<ChunkStates<TPixel, VPairs>>
  GetChunkStarts(const TPixel * line, size_t length, const TPixel & first) const
  {
    const ChunkStates<TPixel, VPairs> edges = this->GetEdgeStates(line, length, first);
    if (m_NumberOfChunks == 1)
    {
      return { edges };
    }
    std::vector<ChunkStates<TPixel, VPairs>> endStates(m_NumberOfChunks);
    for (size_t c = 0; c < m_NumberOfChunks; ++c)
    {
      const size_t begin = c * m_ChunkLength;
      endStates[c] = this->GetEndStates(line + begin, std::min(m_ChunkLength, length - begin));
    }
    if (m_LookAhead == 0)
    {
      this->ConvertToStartStates(edges, [&](size_t i) -> ChunkStates<TPixel, VPairs> & { return endStates[i]; });
      return endStates;
    }
    std::vector<ChunkStates<TPixel, VPairs>> starts(m_NumberOfChunks);
    for (size_t c = 0; c < m_NumberOfChunks; ++c)
    {
      starts[c] = this->GetWindowedStart(
        c, edges, [&](size_t i) -> const auto & { return endStates[i]; });
    }
    return starts;
  }

  template <typename TPixel>
  static LineState<TPixel, VPairs>
  CombineStates(const LineState<TPixel, VPairs> & end, const PowerType & power, const LineState<TPixel, VPairs> & begin)
  {
    LineState<TPixel, VPairs> state;
    for (unsigned int j = 0; j < VPairs; ++j)
    {
      state.Pair[j] = Combine(end.Pair[j], power[j], begin.Pair[j]);
    }
    return state;
  }

  /** Computes the start states of the line. `first` has been subtracted from its pixels. */
  template <typename TPixel>
  ChunkStates<TPixel, VPairs>
  GetEdgeStates(const TPixel * line, size_t length, const TPixel & first) const
  {
    if (m_Boundary.FollowsFromLine())
    {
      const size_t                leftOut = m_Boundary.LeavesOutLastPixel() ? 1 : 0;
      const size_t                count = std::min(length - leftOut, m_Reach);
      ChunkStates<TPixel, VPairs> ends;
      for (size_t n = length - leftOut - count; n + leftOut < length; ++n)
      {
        Advance(ends.Causal, m_Dynamics, line[n]);
      }
      for (size_t n = leftOut + count; n-- > leftOut;)
      {
        Advance(ends.Anticausal, m_Dynamics, line[n]);
      }
      return { m_Boundary.GetStart(ends.Causal, ends.Anticausal), m_Boundary.GetStart(ends.Anticausal, ends.Causal) };
    }
    if (m_Boundary.GetMode() == CudaFiltersEnums::BoundaryMode::Constant)
    {
      const TPixel value = SubtractFrom(m_Boundary.GetValue(), first);
      return this->GetSteadyStates(value, value);
    }
    return this->GetSteadyStates(line[0], line[length - 1]);
  }

  template <typename TPixel>
  LineState<TPixel, VPairs>
  GetSteadyState(const TPixel & edge) const
  {
    LineState<TPixel, VPairs> state;
    for (unsigned int j = 0; j < VPairs; ++j)
    {
      state.Pair[j] = SteadyState(m_Dynamics.Section[j], edge);
    }
    return state;
  }

  const CudaGaussianImpulseResponse    m_Kernel;
  const LineBoundary<T, VPairs>        m_Boundary;
  const size_t                         m_ChunkLength;
  const unsigned int                   m_LookAhead;
  const size_t                         m_Reach; // see GetReach()
  const size_t                         m_NumberOfChunks;
  LineDynamics<T, VPairs>              m_Dynamics;
  PowerType                            m_ChunkPower; // over a chunk
  PowerType                            m_LastPower;  // over the last chunk
  std::vector<LineResponse<T, VPairs>> m_Responses;
};

/** Calls `function` with the number of pole pairs as a compile-time constant. */
template <typename TFunction>
void
VisitNumberOfPolePairs(const CudaGaussianImpulseResponse & kernel, const TFunction & function)
{
  if (kernel.NumberOfPolePairs == 3)
  {
    function(std::integral_constant<unsigned int, 3>());
  }
  else
  {
    function(std::integral_constant<unsigned int, 2>());
  }
}

} // namespace itk::cuda::gaussian

#endif
