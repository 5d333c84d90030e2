// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_partition_map_EdgeGrid_h
#define CudaFilters_partition_map_EdgeGrid_h

#include "partition/map/Geometry.h"
#include "partition/map/MapData.h"

#include <cstdint>

namespace itk::cuda::partition
{
/** An edge that was added to a cell after the edges were sorted (a linked-list entry). */
struct AddedEdge
{
  uint32_t Edge;
  uint32_t Before; // index of the cell's previous added edge, or None
};

/** An edge in a cell, with its end points. */
struct GridEdge
{
  uint32_t     Number;
  uint32_t     Start;
  uint32_t     End;
  LatticePoint P;
  LatticePoint Q;
};

/** A grid with 16 x 16 pixel cells and the edges of each cell (a non-owning view). A cell contains the edges
 * First[cell] to First[cell + 1] - 1 of Edges, and a linked list of added edges that starts at Last[cell]. `Together`
 * edges are loaded at a time to overlap the latency of device memory. */
struct EdgeGrid
{
  static constexpr uint32_t Together = 4;

  CellLayout  Layout;
  uint32_t *  First;
  uint32_t *  Edges;
  uint32_t *  Last;
  AddedEdge * Added;
  uint32_t    Capacity; // of Added

  /** Calls function(GridEdge) for the edges of a cell until it returns false. Some edges may be visited twice, and some
   * may have left the cell. Returns whether all calls returned true. */
  template <typename TFunction>
  ITK_CUDA_HOST_DEVICE bool
  ForEdges(const MapView & map, size_t cell, const TFunction & function, const StridedRange & share = {}) const
  {
    const uint32_t end = First[cell + 1];
    const auto     stride = Together * static_cast<uint32_t>(share.Stride);
    for (uint32_t i = First[cell] + Together * static_cast<uint32_t>(share.First); i < end; i += stride)
    {
      uint32_t numbers[Together];
      ITK_CUDA_UNROLL
      for (uint32_t j = 0; j < Together; ++j)
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
  /** Visits the linked list. All threads of a team follow it together, and each one collects its own share of the
   * edges. */
  template <typename TFunction>
  ITK_CUDA_HOST_DEVICE bool
  ForAddedEdges(const MapView & map, size_t cell, const TFunction & function, const StridedRange & share) const
  {
    for (uint32_t i = Last[cell]; i != None;)
    {
      uint32_t numbers[Together];
      ITK_CUDA_UNROLL
      for (uint32_t j = 0; j < Together; ++j)
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

  /** Calls the function for the edges that are alive, until it returns false. The edges are loaded together. */
  template <typename TFunction>
  static ITK_CUDA_HOST_DEVICE bool
  VisitEdges(const MapView & map, const uint32_t (&numbers)[Together], const TFunction & function)
  {
    GridEdge edges[Together];
    ITK_CUDA_UNROLL
    for (uint32_t j = 0; j < Together; ++j)
    {
      edges[j].Number = numbers[j];
      edges[j].Start = numbers[j] != None ? map.Edges[numbers[j]].Start : None;
      edges[j].End = numbers[j] != None ? map.Edges[numbers[j]].End : None;
    }
    ITK_CUDA_UNROLL
    for (uint32_t j = 0; j < Together; ++j)
    {
      edges[j].P = edges[j].Start != None ? map.At(edges[j].Start) : LatticePoint{};
      edges[j].Q = edges[j].Start != None ? map.At(edges[j].End) : LatticePoint{};
    }
    ITK_CUDA_UNROLL
    for (uint32_t j = 0; j < Together; ++j)
    {
      if (edges[j].Start != None && !function(edges[j]))
      {
        return false;
      }
    }
    return true;
  }
};

/** Cells of the grid are squares of 2^EdgeGridExponent pixels a side. */
constexpr uint32_t EdgeGridExponent = 4;

/** Calls function(cell) for the cells that an edge touches. */
template <typename TFunction>
ITK_CUDA_HOST_DEVICE void
ForCellsOfEdge(const CellLayout &   layout,
               const MapView &      map,
               uint32_t             number,
               const TFunction &    function,
               const StridedRange & share = {})
{
  const LatticePoint start = map.At(map.Edges[number].Start);
  const LatticePoint end = map.At(map.Edges[number].End);
  const auto         forCell = [&function](size_t cell) {
    function(cell);
    return true;
  };
  ForCellsOfTriangle(layout, start, end, end, forCell, share);
}
} // namespace itk::cuda::partition

#endif
