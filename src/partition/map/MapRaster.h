// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_partition_map_MapRaster_h
#define CudaFilters_partition_map_MapRaster_h

#include "partition/map/ExecutorMap.h"
#include "partition/WriteLabels.h"

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

// Rasterizes a planar map by parallel loops over edges and pixels.
namespace itk::cuda::partition
{
/** The crossing of an edge with the centre line of a row: its distance to the left of the centre of the first pixel to
 * its right, Numerator / Denominator < 1. */
struct RowCrossing
{
  int64_t Numerator;
  int64_t Denominator;

  /** Constructs the crossing with row `row` of the edge, where `column` is the walker's column. */
  ITK_CUDA_HOST_DEVICE
  RowCrossing(const region::LatticeEdge & edge, int32_t row, int32_t column)
    : Denominator(2 * static_cast<int64_t>(edge.NumberOfRows))
  {
    // column + 1/2 - X, X = Top.X + (2 row + 1) dX / (2 dY)
    Numerator = static_cast<int64_t>(column - edge.Top.X) * Denominator + edge.NumberOfRows -
                (2 * static_cast<int64_t>(row) + 1) * edge.DeltaX;
  }
  /** Compares two crossings at one pixel; all factors are at most 2^31. */
  ITK_CUDA_HOST_DEVICE bool
  LiesRightOf(const RowCrossing & other) const
  {
    return Numerator * other.Denominator < other.Numerator * Denominator;
  }
};

namespace functors
{
/** Stores at each pixel the rightmost edge that crosses its row there, or None. The threads of a team share the rows of
 * an edge, because edges of the border have as many rows as the image. */
template <typename TAtomics>
struct MarkCrossings
{
  static constexpr uint32_t TeamSize = 32;

  MapView    Map;
  uint32_t * Marks;
  size_t     NumberOfEdges;

  ITK_CUDA_HOST_DEVICE size_t
  GetNumber() const
  {
    return NumberOfEdges;
  }
  template <typename TTeam>
  ITK_CUDA_HOST_DEVICE void
  operator()(size_t i, const TTeam & team) const
  {
    const auto number = static_cast<uint32_t>(i);
    if (!Map.Edges[number].IsAlive())
    {
      return;
    }
    const region::LatticeEdge edge = this->GetEdge(number);
    const StridedRange        share = team.GetShare();
    if (share.First >= edge.NumberOfRows)
    {
      return;
    }
    region::CrossingWalker walker(edge, share.First, share.Stride);
    for (int32_t row = share.First; row < edge.NumberOfRows; row += share.Stride, walker.Advance())
    {
      if (walker.GetColumn() < Map.Width)
      {
        this->Mark(number, edge, row, walker.GetColumn());
      }
    }
  }

private:
  ITK_CUDA_HOST_DEVICE region::LatticeEdge
                       GetEdge(uint32_t number) const
  {
    return region::MakeEdge(Map.At(Map.Edges[number].Start), Map.At(Map.Edges[number].End));
  }

  ITK_CUDA_HOST_DEVICE void
  Mark(uint32_t number, const region::LatticeEdge & edge, int32_t row, int32_t column) const
  {
    const int32_t     y = edge.Top.Y + row;
    uint32_t &        mark = Marks[static_cast<size_t>(y) * static_cast<size_t>(Map.Width) + column];
    const RowCrossing crossing(edge, row, column);
    uint32_t          present = TAtomics::CompareAndSwap(mark, None, number);
    while (present != None)
    {
      const region::LatticeEdge other = this->GetEdge(present);
      if (!crossing.LiesRightOf(RowCrossing(other, y - other.Top.Y, column)))
      {
        return;
      }
      const uint32_t expected = present;
      present = TAtomics::CompareAndSwap(mark, expected, number);
      if (present == expected)
      {
        return;
      }
    }
  }
};

/** Returns the pixel's index if an edge crosses there, and else 0. An inclusive maximum scan then gives each pixel the
 * position of its edge, because every row begins with the image's border. */
struct MarkedPixel
{
  const uint32_t * Marks;

  ITK_CUDA_HOST_DEVICE uint32_t
  operator()(size_t pixel) const
  {
    return Marks[pixel] != None ? static_cast<uint32_t>(pixel) : 0;
  }
};

/** Returns the region to the right of a pixel's edge. */
struct RegionRightOf
{
  MapView          Map;
  const uint32_t * Marks;
  const uint32_t * MarkedPixels;

  ITK_CUDA_HOST_DEVICE uint32_t
  operator()(size_t pixel) const
  {
    const MapEdge & edge = Map.Edges[Marks[MarkedPixels[pixel]]];
    return Map.At(edge.End).Y < Map.At(edge.Start).Y ? edge.Left : edge.Right;
  }
};

/** Finds the first pixel of each region. Only pixels at the beginning of a run are candidates. */
template <typename TAtomics>
struct FindFirstPixels
{
  RegionRightOf RegionOf;
  uint32_t *    FirstPixels;

  ITK_CUDA_HOST_DEVICE void
  operator()(size_t pixel) const
  {
    if (RegionOf.MarkedPixels[pixel] == pixel)
    {
      TAtomics::Minimum(FirstPixels[RegionOf(pixel)], static_cast<uint32_t>(pixel));
    }
  }
};
} // namespace functors

/** \class MapRaster
 * \brief The label image of a map in executor memory.
 */
template <typename TExecutor>
class MapRaster
{
public:
  template <typename T>
  using Array = typename TExecutor::template Array<T>;
  using Atomics = typename TExecutor::Atomics;

  explicit MapRaster(const ExecutorMap<TExecutor> & map)
    : m_Map(map)
    , m_Executor(map.GetExecutor())
    , m_NumberOfPixels(static_cast<size_t>(map.View().Width) * static_cast<size_t>(map.View().Height))
    , m_Marks(m_Executor.template Allocate<uint32_t>(m_NumberOfPixels))
    , m_MarkedPixels(m_Executor.template Allocate<uint32_t>(m_NumberOfPixels))
  {
    m_Executor.Fill(m_Marks.Get(), m_NumberOfPixels, 0xff);
    const functors::MarkCrossings<Atomics> mark{ map.View(), m_Marks.Get(), map.GetNumberOfEdges() };
    m_Executor.ParallelForTeamsUpTo(map.GetNumberOfEdges(), mark);
    m_Executor.InclusiveMaxScan(functors::MarkedPixel{ m_Marks.Get() }, m_NumberOfPixels, m_MarkedPixels.Get());
  }

  /** Returns the first pixel of each region of the map; None for regions without pixels. */
  std::vector<uint32_t>
  FindFirstPixels() const
  {
    const Array<uint32_t> first = m_Executor.template Allocate<uint32_t>(m_Map.GetNumberOfRegions());
    std::vector<uint32_t> firstPixels(m_Map.GetNumberOfRegions());
    m_Executor.Fill(first.Get(), firstPixels.size(), 0xff);
    m_Executor.ParallelFor(m_NumberOfPixels, functors::FindFirstPixels<Atomics>{ this->GetRegions(), first.Get() });
    m_Executor.Download(first.Get(), firstPixels.size(), firstPixels.data());
    return firstPixels;
  }

  /** Writes the label image. \param numbers of the map's regions, in executor memory \param stride of the rows of
   * labels */
  template <typename TLabel>
  void
  Write(const uint32_t * numbers, TLabel * labels, size_t stride) const
  {
    m_Executor.VisitScene([&](const auto & scene) {
      m_Executor.ParallelFor(m_NumberOfPixels,
                             functors::WriteLabels<std::decay_t<decltype(scene)>, functors::RegionRightOf, TLabel>{
                               scene, this->GetRegions(), m_Map.View().Width, numbers, labels, stride });
    });
  }

private:
  const ExecutorMap<TExecutor> & m_Map;
  const TExecutor &              m_Executor;
  const size_t                   m_NumberOfPixels;
  Array<uint32_t>                m_Marks;
  Array<uint32_t>                m_MarkedPixels;

  functors::RegionRightOf
  GetRegions() const
  {
    return { m_Map.View(), m_Marks.Get(), m_MarkedPixels.Get() };
  }
};
} // namespace itk::cuda::partition

#endif
