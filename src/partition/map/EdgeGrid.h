// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_partition_map_EdgeGrid_h
#define CudaFilters_partition_map_EdgeGrid_h

#include "partition/map/Geometry.h"
#include "partition/map/MapData.h"

#include <cstdint>
#include <vector>

namespace itk::cuda::region
{
class Threads;
}

namespace itk::cuda::partition
{
/** An edge that was added to a cell after the others were sorted. */
struct AddedEdge
{
  uint32_t Edge;
  uint32_t Before; // number of the one that was added to the cell before, or None
};

/** An edge of a cell, with its ends. */
struct GridEdge
{
  uint32_t     Number;
  uint32_t     Start;
  uint32_t     End;
  LatticePoint P;
  LatticePoint Q;
};

/** The edges of cells of 16 pixels a side, for those who only read them, on the host or on a device. Those of a cell
 * are First[cell] to First[cell + 1] - 1 of Edges, and those that were added: Last[cell], the one before it, and so on.
 * It owns nothing. `VTogether` edges are loaded at a time: a device waits long for memory. */
template <uint32_t VTogether>
struct EdgeGridViewOf
{
  CellLayout        Layout;
  const uint32_t *  First;
  const uint32_t *  Edges;
  const uint32_t *  Last;
  const AddedEdge * Added;

  /** Calls function(GridEdge) for the present edges of a cell, for some of them twice, and for some that have left it,
   * until it returns false. Returns whether all calls returned true. */
  ITK_CUDA_AS_ARGUMENTS
  template <typename TFunction>
  ITK_CUDA_HOST_DEVICE bool
  ForEdges(const MapView & map, size_t cell, const TFunction & function, const LaneShare & share = {}) const
  {
    const uint32_t end = First[cell + 1];
    const auto     stride = VTogether * static_cast<uint32_t>(share.Stride);
    for (uint32_t i = First[cell] + VTogether * static_cast<uint32_t>(share.First); i < end; i += stride)
    {
      uint32_t numbers[VTogether];
      ITK_CUDA_UNROLL
      for (uint32_t j = 0; j < VTogether; ++j)
      {
        numbers[j] = i + j < end ? Edges[i + j] : None;
      }
      if (!VisitEdges(map, numbers, function))
      {
        return false;
      }
    }
    return this->ForAddedEdges(map, cell, function, share);
  }

private:
  /** Lanes follow the list together, each as far as its next edges. */
  ITK_CUDA_AS_ARGUMENTS
  template <typename TFunction>
  ITK_CUDA_HOST_DEVICE bool
  ForAddedEdges(const MapView & map, size_t cell, const TFunction & function, const LaneShare & share) const
  {
    for (uint32_t i = Last[cell]; i != None;)
    {
      uint32_t numbers[VTogether];
      ITK_CUDA_UNROLL
      for (uint32_t j = 0; j < VTogether; ++j)
      {
        numbers[j] = None;
        for (int32_t lane = 0; lane < share.Stride && i != None; ++lane)
        {
          const AddedEdge added = Added[i];
          numbers[j] = lane == share.First ? added.Edge : numbers[j];
          i = added.Before;
        }
      }
      if (!VisitEdges(map, numbers, function))
      {
        return false;
      }
    }
    return true;
  }

  /** Calls the function for those edges that are alive, until it returns false. They are loaded together. */
  ITK_CUDA_AS_ARGUMENTS
  template <typename TFunction>
  static ITK_CUDA_HOST_DEVICE bool
  VisitEdges(const MapView & map, const uint32_t (&numbers)[VTogether], const TFunction & function)
  {
    GridEdge edges[VTogether];
    ITK_CUDA_UNROLL
    for (uint32_t j = 0; j < VTogether; ++j)
    {
      edges[j].Number = numbers[j];
      edges[j].Start = numbers[j] != None ? map.Edges[numbers[j]].Start : None;
      edges[j].End = numbers[j] != None ? map.Edges[numbers[j]].End : None;
    }
    ITK_CUDA_UNROLL
    for (uint32_t j = 0; j < VTogether; ++j)
    {
      edges[j].P = edges[j].Start != None ? map.At(edges[j].Start) : LatticePoint{};
      edges[j].Q = edges[j].Start != None ? map.At(edges[j].End) : LatticePoint{};
    }
    ITK_CUDA_UNROLL
    for (uint32_t j = 0; j < VTogether; ++j)
    {
      if (edges[j].Start != None && !function(edges[j]))
      {
        return false;
      }
    }
    return true;
  }
};

using EdgeGridView = EdgeGridViewOf<1>;

/** Cells of the grid have 2^EdgeGridExponent pixels a side. */
constexpr uint32_t EdgeGridExponent = 4;

/** Calls function(cell) for the cells that an edge touches. */
ITK_CUDA_AS_ARGUMENTS
template <typename TFunction>
ITK_CUDA_HOST_DEVICE void
ForCellsOfEdge(const CellLayout & layout,
               const MapView &    map,
               uint32_t           number,
               const TFunction &  function,
               const LaneShare &  share = {})
{
  const LatticePoint start = map.At(map.Edges[number].Start);
  const LatticePoint end = map.At(map.Edges[number].End);
  const auto         forCell = [&function](size_t cell) {
    function(cell);
    return true;
  };
  ForCellsOfTriangle(layout, start, end, end, forCell, share);
}

/** The edges near each place of a map, for tests of its topology: those of each cell of 16 pixels a side.
 *
 * Sorting all edges takes long beside a round that changes few of them. An edge that changes is therefore added where
 * it lies now. It stays listed where it was, which changes no test: an edge that is in the way has a point, and so a
 * cell, in common with what it is in the way of. */
class EdgeGrid
{
public:
  EdgeGrid(int32_t width, int32_t height)
    : m_Layout(width, height, EdgeGridExponent)
    , m_First(m_Layout.GetNumber() + 1, 0)
    , m_Last(m_Layout.GetNumber(), None)
  {}

  /** Sorts the map's present edges into the cells, if that has not been done or many were added since. */
  void
  Update(const MapData & map, const region::Threads & threads)
  {
    if (!m_IsSorted || m_Added.size() > m_Edges.size() / 4)
    {
      this->Rebuild(map, threads);
    }
  }
  /** The edge was changed or is new. */
  void
  Add(const MapData & map, uint32_t edge);
  /** All edges have other numbers. */
  void
  Discard()
  {
    m_IsSorted = false;
  }

  operator EdgeGridView() const { return { m_Layout, m_First.data(), m_Edges.data(), m_Last.data(), m_Added.data() }; }

private:
  CellLayout             m_Layout;
  std::vector<uint32_t>  m_First;
  std::vector<uint32_t>  m_Edges;
  std::vector<uint32_t>  m_Last; // that was added to each cell
  std::vector<AddedEdge> m_Added;
  bool                   m_IsSorted{ false };

  void
  Rebuild(const MapData & map, const region::Threads & threads);
};
} // namespace itk::cuda::partition

#endif
