// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_partition_refine_NodeChanges_h
#define CudaFilters_partition_refine_NodeChanges_h

#include "partition/map/Topology.h"
#include "partition/refine/RefinementRound.h"

#include <cstddef>
#include <cstdint>

// Changes of single nodes, moves and removals: how much they change the description, which cells they sweep, and how
// they alter the map.
namespace itk::cuda::partition
{
constexpr int NumberOfDirections = 8;
constexpr int NumberOfDistances = 3; // 1, 2 and 4 pixels
constexpr int NumberOfCandidates = NumberOfDirections * NumberOfDistances;

/** Returns the candidate position of a node. */
ITK_CUDA_HOST_DEVICE inline LatticePoint
CandidateOf(const LatticePoint & position, int candidate)
{
  // The components of the eight directions plus 1, two bits each; along X they are 1, 1, 0, -1, -1, -1, 0, 1.
  constexpr uint32_t x = 0x901a;
  constexpr uint32_t y = 0x01a9;
  const int          shift = 2 * (candidate % NumberOfDirections);
  const int32_t      distance = 1 << (candidate / NumberOfDirections);
  return { position.X + distance * (static_cast<int32_t>((x >> shift) & 3u) - 1),
           position.Y + distance * (static_cast<int32_t>((y >> shift) & 3u) - 1) };
}

/** An edge of a node that may move, in the direction in which it leaves the node. */
struct MovingEdge
{
  LatticePoint Far;
  uint32_t     Left;
  uint32_t     Right;
  Moments      Sums;
};

/** A node that may move, and its edges in the order of their numbers. */
struct MovingNode
{
  LatticePoint Position;
  uint32_t     NumberOfEdges;
  MovingEdge   Edges[MapNode::MaximumDegree];
};

/** Returns the first-order change of the description length by a move, which is negative if the move is better, or 0 if
 * the gain is below MinimumGain. changeOf(j) returns the sums that the region to the left of edge j gains. */
template <typename TFunction>
ITK_CUDA_HOST_DEVICE double
DeltaCostOfMove(const MovingNode & node, const LinearForm * tangents, const TFunction & changeOf)
{
  double deltaCost = 0.0;
  ITK_CUDA_UNROLL
  for (uint32_t j = 0; j < MapNode::MaximumDegree; ++j)
  {
    if (j < node.NumberOfEdges)
    {
      const Moments change = changeOf(j);
      deltaCost += tangents[node.Edges[j].Left](change) - tangents[node.Edges[j].Right](change);
    }
  }
  return deltaCost < -MinimumGain ? deltaCost : 0.0;
}

/** The change that is assumed for the removal of a node on the image's border. The removal changes no sums, and must be
 * preferred to no change. */
constexpr double DeltaCostOnBorder = -1.0;

/** The removal of a node where two edges meet. */
struct Removal : RankedProposal // Id: ScatterPosition() of the node
{
  uint32_t Nodes[3]; // the node between its neighbours
  Moments  Sums;     // of the chord
};

/** Hashes a position to a number such that neighbouring positions get distant numbers (Fibonacci hashing; Knuth, The
 * Art of Computer Programming 3, section 6.4). It breaks ties between removals of equal gain. With the node number as
 * a tie breaker, each removal along a regular boundary would lose to the previous one, and a round would have few
 * winners. */
ITK_CUDA_HOST_DEVICE inline uint32_t
ScatterPosition(const MapView & map, const LatticePoint & position)
{
  const auto columns = static_cast<uint32_t>(map.Width) + 1;
  return (static_cast<uint32_t>(position.Y) * columns + static_cast<uint32_t>(position.X)) * 0x9E3779B1u;
}

/** Computes the removal of a node. Returns whether it has a gain and is possible. */
template <typename TRound, typename TTeam>
ITK_CUDA_HOST_DEVICE bool
ProposeRemoval(const TRound & round, uint32_t i, Removal & removal, const TTeam & team)
{
  const MapView   map = round.GetMap();
  const MapNode & node = map.Nodes[i];
  if (node.Degree != 2 || map.KindOf(node.Position).IsCorner())
  {
    return false;
  }
  const uint32_t a = map.Edges[node.Edges[0]].GetOther(i);
  const uint32_t b = map.Edges[node.Edges[1]].GetOther(i);
  if (a == b)
  {
    return false;
  }
  const MapEdge first = map.Edges[node.Edges[0]].From(a);
  const MapEdge second = map.Edges[node.Edges[1]].From(i);
  removal.Sums = SumEdge(round.Integrator, map.At(a), map.At(b), team);
  const Moments change = removal.Sums - (first.Sums + second.Sums);
  removal.DeltaCost = (first.IsBorder() ? DeltaCostOnBorder : -round.Model.SegmentCost) +
                      round.DeltaCostOf(first.Left, first.Right, change);
  removal.Id = ScatterPosition(map, node.Position);
  removal.Counts = {};
  removal.Counts.Add(first.Left, change.Count);
  removal.Counts.Add(first.Right, -change.Count);
  removal.Nodes[0] = a;
  removal.Nodes[1] = i;
  removal.Nodes[2] = b;
  const LatticePoint positions[] = { map.At(a), map.At(i), map.At(b) };
  const auto         isOwn = [i](const GridEdge & edge) { return edge.Start == i || edge.End == i; };
  return removal.DeltaCost < -MinimumGain && round.Allows(removal.Counts) &&
         team.All(ChordKeepsTopology(map, round.Grid, { a, b, positions, 3 }, isOwn, team.GetShare()));
}

/** Removes a node, in one thread of the team, and adds the chord to the grid. */
template <typename TRound, typename TTeam>
ITK_CUDA_HOST_DEVICE void
Apply(const TRound & round, const Removal & removal, const TTeam & team)
{
  const uint32_t edges[] = { round.Nodes[removal.Nodes[1]].Edges[0], round.Nodes[removal.Nodes[1]].Edges[1] };
  team.Sync();
  team.Single([&] {
    MapNode &     begin = round.Nodes[removal.Nodes[0]];
    MapNode &     end = round.Nodes[removal.Nodes[2]];
    const MapEdge first = round.Edges[edges[0]].From(removal.Nodes[0]);
    const MapEdge second = round.Edges[edges[1]].From(removal.Nodes[1]);
    const Moments change = removal.Sums - (first.Sums + second.Sums);
    begin.Erase(edges[0]);
    end.Erase(edges[1]);
    ReplaceEdges(round, removal.Nodes, edges, 2, first.Left, first.Right, removal.Sums, change);
    begin.Insert(edges[0]);
    end.Insert(edges[0]);
  });
  team.Sync();
  round.AddToGrid(edges[0], team.GetShare()); // the smaller one of the two
}

/** Calls function(cell) for the cells that a removal sweeps, until it returns false. */
template <typename TFunction>
ITK_CUDA_HOST_DEVICE bool
ForCellsOf(const CellLayout &   layout,
           const MapView &      map,
           const Removal &      removal,
           const TFunction &    function,
           const StridedRange & share)
{
  return ForCellsOfTriangle(
    layout, map.At(removal.Nodes[0]), map.At(removal.Nodes[1]), map.At(removal.Nodes[2]), function, share);
}

/** Calls function(node) for the nodes that become active again, together with their neighbours, by a removal. */
template <typename TFunction>
ITK_CUDA_HOST_DEVICE void
ForNodesToActivate(const Removal & removal, const TFunction & function)
{
  function(removal.Nodes[0]);
  function(removal.Nodes[2]);
}

/** Loads a node and its edges. The edges are loaded together to overlap the latency of device memory. */
ITK_CUDA_HOST_DEVICE inline MovingNode
LoadNode(const MapView & map, uint32_t i)
{
  const MapNode & node = map.Nodes[i];
  MovingNode      moving{ node.Position, node.Degree, {} };
  ITK_CUDA_UNROLL
  for (uint32_t j = 0; j < MapNode::MaximumDegree; ++j)
  {
    if (j < node.Degree)
    {
      const MapEdge edge = map.Edges[node.Edges[j]].From(i);
      moving.Edges[j] = { map.At(edge.End), edge.Left, edge.Right, edge.Sums };
    }
  }
  return moving;
}

/** Returns the changes of the regions' pixel counts by a move; `changeOf` is as for DeltaCostOfMove(). */
template <typename TFunction>
ITK_CUDA_HOST_DEVICE CountChanges
CountMove(const MovingNode & node, const TFunction & changeOf)
{
  CountChanges counts;
  ITK_CUDA_UNROLL
  for (uint32_t j = 0; j < MapNode::MaximumDegree; ++j)
  {
    if (j < node.NumberOfEdges)
    {
      const int64_t count = changeOf(j).Count;
      counts.Add(node.Edges[j].Left, count);
      counts.Add(node.Edges[j].Right, -count);
    }
  }
  return counts;
}

/** The move of a node. */
struct Move : RankedProposal // Id: the node
{
  LatticePoint To;
  Moments      Sums[MapNode::MaximumDegree]; // of its edges from the new position
};

/** Moves a node, in one thread of the team, and adds its edges to the grid. */
template <typename TRound, typename TTeam>
ITK_CUDA_HOST_DEVICE void
Apply(const TRound & round, const Move & move, const TTeam & team)
{
  MapNode &  node = round.Nodes[move.Id];
  const auto degree = static_cast<int32_t>(node.Degree);
  team.Single([&] {
    node.Position = move.To;
    for (int32_t j = 0; j < degree; ++j)
    {
      MapEdge &     edge = round.Edges[node.Edges[j]];
      const Moments sums = edge.Start == move.Id ? move.Sums[j] : Moments{} - move.Sums[j];
      round.Transfer(edge.Left, edge.Right, sums - edge.Sums);
      edge.Sums = sums;
    }
  });
  team.Sync();
  const NestedStridedRange nested(team.GetShare(), degree);
  for (int32_t j = nested.Outer.First; j < degree; j += nested.Outer.Stride)
  {
    round.AddToGrid(node.Edges[j], nested.Inner);
  }
}

/** Calls function(cell) for the cells that a move sweeps, until it returns false. */
template <typename TFunction>
ITK_CUDA_HOST_DEVICE bool
ForCellsOf(const CellLayout &   layout,
           const MapView &      map,
           const Move &         move,
           const TFunction &    function,
           const StridedRange & share)
{
  const MapNode &          node = map.Nodes[move.Id];
  const auto               degree = static_cast<int32_t>(node.Degree);
  const NestedStridedRange nested(share, degree);
  for (int32_t j = nested.Outer.First; j < degree; j += nested.Outer.Stride)
  {
    const LatticePoint far = map.At(map.Edges[node.Edges[j]].GetOther(move.Id));
    if (!ForCellsOfTriangle(layout, far, node.Position, move.To, function, nested.Inner))
    {
      return false;
    }
  }
  return true;
}

/** Calls function(node) for the node that becomes active again, together with its neighbours, by a move. */
template <typename TFunction>
ITK_CUDA_HOST_DEVICE void
ForNodesToActivate(const Move & move, const TFunction & function)
{
  function(move.Id);
}
} // namespace itk::cuda::partition

#endif
