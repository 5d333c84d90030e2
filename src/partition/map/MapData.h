// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_partition_map_MapData_h
#define CudaFilters_partition_map_MapData_h

#include "runtime/HostDevice.h"
#include "partition/Model.h"
#include "region/Lattice.h"

#include <cstddef>
#include <cstdint>
#include <vector>

// A planar map on the lattice of pixel corners: nodes, straight edges between them, and regions between the edges.
namespace itk::cuda::partition
{
using region::LatticePoint;

/** The region outside the image. */
constexpr uint32_t Outside = 0;

/** A node where edges meet. At most four do, because the map starts from pixel sides and no change adds an edge to a
 * node. */
struct MapNode
{
  static constexpr uint32_t MaximumDegree = 4;

  LatticePoint Position;
  uint32_t     Degree{ 0 };                                    // 0 if the node was removed
  uint32_t     Edges[MaximumDegree]{ None, None, None, None }; // ascending

  ITK_CUDA_HOST_DEVICE bool
  IsAlive() const
  {
    return Degree > 0;
  }
  ITK_CUDA_HOST_DEVICE void
  Insert(uint32_t edge)
  {
    uint32_t i = Degree++;
    for (; i > 0 && Edges[i - 1] > edge; --i)
    {
      Edges[i] = Edges[i - 1];
    }
    Edges[i] = edge;
  }
  ITK_CUDA_HOST_DEVICE void
  Erase(uint32_t edge)
  {
    uint32_t i = 0;
    while (i + 1 < Degree && Edges[i] != edge)
    {
      ++i;
    }
    for (; i + 1 < Degree; ++i)
    {
      Edges[i] = Edges[i + 1];
    }
    Edges[--Degree] = None;
  }
  /** Returns the other edge of a node with two edges. */
  ITK_CUDA_HOST_DEVICE uint32_t
  OtherEdge(uint32_t edge) const
  {
    return Edges[0] == edge ? Edges[1] : Edges[0];
  }
};

/** A straight piece of boundary. The pixels at smaller X are to the left of an edge that goes towards larger Y. */
struct MapEdge
{
  uint32_t Start{ None }; // node; None if the edge was removed
  uint32_t End{ None };
  uint32_t Left{ Outside }; // region
  uint32_t Right{ Outside };
  Moments  Sums; // contribution of the edge from Start to End: added to Left, subtracted from Right

  ITK_CUDA_HOST_DEVICE bool
  IsAlive() const
  {
    return Start != None;
  }
  /** Returns whether the edge is part of the image's border, which costs nothing. */
  ITK_CUDA_HOST_DEVICE bool
  IsBorder() const
  {
    return Left == Outside || Right == Outside;
  }
  ITK_CUDA_HOST_DEVICE uint32_t
  GetOther(uint32_t node) const
  {
    return Start == node ? End : Start;
  }
  /** Returns the edge in the direction in which it leaves the node. */
  ITK_CUDA_HOST_DEVICE MapEdge
  From(uint32_t node) const
  {
    return Start == node ? *this : MapEdge{ End, Start, Right, Left, Moments{} - Sums };
  }
};

/** The directions in which a node on the image's border must not move: along X, along Y, or both. */
struct BorderKind
{
  bool FixesX;
  bool FixesY;

  ITK_CUDA_HOST_DEVICE bool
  IsCorner() const
  {
    return FixesX && FixesY;
  }
};

/** Read-only, non-owning view of the nodes and edges of a map, for the host and the device. */
struct MapView
{
  int32_t         Width;
  int32_t         Height;
  const MapNode * Nodes;
  const MapEdge * Edges;

  ITK_CUDA_HOST_DEVICE const LatticePoint &
  At(uint32_t node) const
  {
    return Nodes[node].Position;
  }
  ITK_CUDA_HOST_DEVICE BorderKind
  KindOf(const LatticePoint & position) const
  {
    return { position.X == 0 || position.X == Width, position.Y == 0 || position.Y == Height };
  }
  /** Returns whether a node may move from one position to another: inside the image, or along its side of the border.
   */
  ITK_CUDA_HOST_DEVICE bool
  Allows(const LatticePoint & from, const LatticePoint & to) const
  {
    const BorderKind kind = this->KindOf(from);
    const bool       xIsInside = to.X > 0 && to.X < Width;
    const bool       yIsInside = to.Y > 0 && to.Y < Height;
    return (kind.FixesX ? to.X == from.X : xIsInside) && (kind.FixesY ? to.Y == from.Y : yIsInside);
  }
};

/** The map as plain data. */
struct MapData
{
  int32_t              Width{ 0 };
  int32_t              Height{ 0 };
  std::vector<MapNode> Nodes;
  std::vector<MapEdge> Edges;
  std::vector<Moments> Regions;  // sums by region number; [0] is outside the image and has no samples
  std::vector<uint8_t> IsRegion; // whether the region still exists

  operator MapView() const { return { Width, Height, Nodes.data(), Edges.data() }; }

  const LatticePoint &
  At(uint32_t node) const
  {
    return Nodes[node].Position;
  }
};
} // namespace itk::cuda::partition

#endif
