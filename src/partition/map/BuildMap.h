// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_partition_map_BuildMap_h
#define CudaFilters_partition_map_BuildMap_h

#include "partition/map/Geometry.h"
#include "partition/map/ExecutorMap.h"
#include "itkMacro.h"

#include <cstddef>
#include <cstdint>
#include <utility>

// Builds the map of a label map, as parallel loops over pixel corners.
namespace itk::cuda::partition
{
namespace functors
{
/** The corners of an image's pixels, row by row, and the labels around them. */
struct CornerGrid
{
  int32_t          Width; // of the image
  int32_t          Height;
  const uint32_t * Labels;

  ITK_CUDA_HOST_DEVICE size_t
  GetNumber() const
  {
    return (static_cast<size_t>(Width) + 1) * (static_cast<size_t>(Height) + 1);
  }
  ITK_CUDA_HOST_DEVICE LatticePoint
  GetPosition(size_t corner) const
  {
    const auto columns = static_cast<uint32_t>(Width) + 1;
    const auto number = static_cast<uint32_t>(corner); // below 2^32, because 32-bit divisions are faster
    return { static_cast<int32_t>(number % columns), static_cast<int32_t>(number / columns) };
  }
  ITK_CUDA_HOST_DEVICE Corner
  GetCorner(const LatticePoint & p) const
  {
    return { this->GetLabel(p.X - 1, p.Y - 1),
             this->GetLabel(p.X, p.Y - 1),
             this->GetLabel(p.X - 1, p.Y),
             this->GetLabel(p.X, p.Y) };
  }

private:
  ITK_CUDA_HOST_DEVICE uint32_t
  GetLabel(int32_t x, int32_t y) const
  {
    const bool isInside = x >= 0 && x < Width && y >= 0 && y < Height;
    return isInside ? Labels[static_cast<size_t>(y) * static_cast<size_t>(Width) + static_cast<size_t>(x)] : Outside;
  }
};

/** Returns 1 if boundaries end, meet or turn at a corner, and 0 otherwise. */
struct IsCornerNode
{
  CornerGrid Grid;

  ITK_CUDA_HOST_DEVICE uint32_t
  operator()(size_t corner) const
  {
    return Grid.GetCorner(Grid.GetPosition(corner)).IsNode() ? 1 : 0;
  }
};

/** Creates the nodes, in the order of their corners. */
struct PlaceNodes
{
  CornerGrid       Grid;
  const uint32_t * Numbers; // number of nodes before each corner
  MapNode *        Nodes;

  ITK_CUDA_HOST_DEVICE void
  operator()(size_t corner) const
  {
    if (Numbers[corner] != Numbers[corner + 1])
    {
      MapNode node;
      node.Position = Grid.GetPosition(corner);
      Nodes[Numbers[corner]] = node;
    }
  }
};

/** Counts the edges that begin at a node: down and to the right. */
struct CountEdgesOfNode
{
  CornerGrid      Grid;
  const MapNode * Nodes;

  ITK_CUDA_HOST_DEVICE uint32_t
  operator()(size_t node) const
  {
    const Corner corner = Grid.GetCorner(Nodes[node].Position);
    return (corner.HasEdgeDown() ? 1u : 0u) + (corner.HasEdgeRight() ? 1u : 0u);
  }
};

/** Creates the edges that begin at a node. The edges of a node are ordered up, left, down, right, which is the order of
 * their numbers. */
struct AddEdges
{
  CornerGrid       Grid;
  const uint32_t * Numbers; // number of nodes before each corner
  const uint32_t * First;   // first edge that begins at each node
  MapNode *        Nodes;
  MapEdge *        Edges;

  ITK_CUDA_HOST_DEVICE void
  operator()(size_t i) const
  {
    const auto         number = static_cast<uint32_t>(i);
    const LatticePoint position = Nodes[i].Position;
    const Corner       corner = Grid.GetCorner(position);
    const uint32_t     before = (corner.HasEdgeUp() ? 1u : 0u) + (corner.HasEdgeLeft() ? 1u : 0u);
    uint32_t           edge = First[i];
    uint32_t           slot = before;
    if (corner.HasEdgeDown())
    {
      const uint32_t below = this->FindNodeBelow(position);
      Edges[edge] = { number, below, corner.LowerLeft, corner.LowerRight, {} };
      Nodes[i].Edges[slot++] = edge;
      Nodes[below].Edges[0] = edge++;
    }
    if (corner.HasEdgeRight())
    {
      // The edge ends at the next node of the row.
      const bool hasEdgeUp = Grid.GetCorner(Nodes[i + 1].Position).HasEdgeUp();
      Edges[edge] = { number, number + 1, corner.LowerRight, corner.UpperRight, {} };
      Nodes[i].Edges[slot++] = edge;
      Nodes[i + 1].Edges[hasEdgeUp ? 1 : 0] = edge;
    }
    Nodes[i].Degree = slot;
  }

private:
  ITK_CUDA_HOST_DEVICE uint32_t
  FindNodeBelow(const LatticePoint & position) const
  {
    const size_t columns = static_cast<size_t>(Grid.Width) + 1;
    size_t       corner = static_cast<size_t>(position.Y) * columns + static_cast<size_t>(position.X);
    do
    {
      corner += columns;
    } while (Numbers[corner] == Numbers[corner + 1]);
    return Numbers[corner];
  }
};

/** Computes the contributions of the edges to the sums of their regions. */
template <typename TIntegrator>
struct SumEdges
{
  TIntegrator Integrator;
  MapView     Map;
  MapEdge *   Edges;

  ITK_CUDA_HOST_DEVICE void
  operator()(size_t edge) const
  {
    Edges[edge].Sums = Integrator.SumEdge(Map.At(Edges[edge].Start), Map.At(Edges[edge].End));
  }
};
} // namespace functors

/** Builds the map whose edges are the pixel sides between different labels, with collinear ones joined. Nodes are
 * sorted by row and column; edges are sorted by their first node, the one towards larger Y first.
 * \param labels in executor memory
 * \exception ExceptionObject if there are more nodes than MaximumNumberOfNodes
 */
template <typename TExecutor>
void
BuildMap(ExecutorMap<TExecutor> & map, const uint32_t * labels)
{
  const TExecutor &          executor = map.GetExecutor();
  const MapView              view = map.View();
  const functors::CornerGrid grid{ view.Width, view.Height, labels };
  const auto                 numbers = executor.template Allocate<uint32_t>(grid.GetNumber() + 1);
  const size_t               numberOfNodes =
    executor.ExclusiveScanAndRead(functors::IsCornerNode{ grid }, grid.GetNumber(), numbers.Get());
  if (numberOfNodes > MaximumNumberOfNodes)
  {
    itkGenericExceptionMacro("the labels' boundaries turn " << numberOfNodes
                                                            << " times; a partition holds at most 2^30 nodes");
  }
  auto nodes = executor.template Allocate<MapNode>(numberOfNodes);
  executor.ParallelFor(grid.GetNumber(), functors::PlaceNodes{ grid, numbers.Get(), nodes.Get() });
  const auto   first = executor.template Allocate<uint32_t>(numberOfNodes + 1);
  const size_t numberOfEdges =
    executor.ExclusiveScanAndRead(functors::CountEdgesOfNode{ grid, nodes.Get() }, numberOfNodes, first.Get());
  auto edges = executor.template Allocate<MapEdge>(numberOfEdges);
  executor.ParallelFor(numberOfNodes, functors::AddEdges{ grid, numbers.Get(), first.Get(), nodes.Get(), edges.Get() });
  map.SetMap(std::move(nodes), numberOfNodes, std::move(edges), numberOfEdges);
  executor.VisitEdgeIntegrator([&](const auto & integrator) {
    const MapRound round = map.GetRound(0);
    executor.ParallelFor(
      numberOfEdges, functors::SumEdges<std::decay_t<decltype(integrator)>>{ integrator, round.GetMap(), round.Edges });
  });
}
} // namespace itk::cuda::partition

#endif
