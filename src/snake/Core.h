// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_snake_Core_h
#define CudaFilters_snake_Core_h

#include "runtime/HostDevice.h"
#include "region/Lattice.h"
#include "region/Laws.h"
#include "region/Sums.h"
#include "snake/Tuning.h"

#include <cstdint>

// The snake uses the lattice, the laws and the sums of the room below without its namespace.
namespace itk::cuda
{
namespace region
{}
namespace snake
{
using namespace region;
}
} // namespace itk::cuda

// The steps of the snake. Each is a decision about one node or one pair of nodes that depends only on the state before
// the phase. Any number of threads can therefore take them at once, in any order.
//
// A phase of moves is safe because of two facts. Nodes that are not adjacent have no edge in common: the changes by
// their moves add up exactly. With the parameters of the law fixed, the likelihood is linear in the sums: moves that
// each lower it also lower it together. Estimating the parameters anew lowers it further.
namespace itk::cuda::snake
{
/** Node at a distance of step * 2^(w / 8) cells in direction w % 8, held inside the level. */
ITK_CUDA_HOST_DEVICE inline LatticePoint
CandidatePosition(const LatticePoint & node, int w, int32_t step, int32_t width, int32_t height)
{
  // east, south-east, south, south-west, west, north-west, north, north-east (Y points down)
  const int     direction = w % Directions;
  const int32_t distance = step << (w / Directions);
  const int32_t dx = direction == 2 || direction == 6 ? 0 : (direction > 2 && direction < 6 ? -distance : distance);
  const int32_t dy = direction == 0 || direction == 4 ? 0 : (direction > 4 ? -distance : distance);
  return { Maximum(0, Minimum(width, node.X + dx)), Maximum(0, Minimum(height, node.Y + dy)) };
}

/** The change of the sums by a move or a removal, and its gain: the change of the linear form, negative for an
 * improvement. */
struct Proposal
{
  int32_t      Node;
  LatticePoint Position;
  double       Gain;
  Moments      Change;
  int32_t      Run{ 1 }; // of a removal: nodes from Node on
};

/** Whether proposal x comes before y: by gain, ties by node. */
ITK_CUDA_HOST_DEVICE inline bool
ComesBefore(const Proposal & x, const Proposal & y)
{
  return x.Gain < y.Gain || (x.Gain == y.Gain && x.Node < y.Node);
}

/** Whether the target may have `count` of `total` pixels after a change from `present`. No region gets smaller than the
 * minimum, and a region that is smaller does not shrink further. */
ITK_CUDA_HOST_DEVICE inline bool
IsCountAllowed(int64_t count, int64_t present, int64_t total, int64_t minimum)
{
  const bool target = count >= minimum || count >= present;
  const bool background = total - count >= minimum || count <= present;
  return target && background && count > 0 && count < total;
}

/** Whether `number` changes that each add `cost` to J lower the total by the minimum. */
ITK_CUDA_HOST_DEVICE inline bool
IsImprovement(double criterion, double cost, int number, double present, double minimumGain)
{
  return criterion + cost * static_cast<double>(number) <= present - minimumGain;
}

/** Number of groups of nodes that move in turns. No two nodes of a group are adjacent. */
ITK_CUDA_HOST_DEVICE inline int
NumberOfColours(int n, bool inTurns)
{
  return inTurns ? 2 + n % 2 : 1;
}

ITK_CUDA_HOST_DEVICE inline int
ColourOf(int i, int n, int numberOfColours)
{
  return numberOfColours == 1 ? 0 : (n % 2 == 1 && i == n - 1 ? 2 : i % 2);
}

/** The chain that a proposed move makes. */
ITK_CUDA_HOST_DEVICE inline LatticeChain
ChainOf(const LatticePoint * polygon, int n, const Proposal & move)
{
  return { polygon[Previous(move.Node, n)], move.Position, polygon[Next(move.Node, n)] };
}

/** Whether two proposed moves conflict: each is possible alone, but not with the other. */
ITK_CUDA_HOST_DEVICE inline bool
MovesConflict(const LatticePoint * polygon, int n, const Proposal & x, const Proposal & y)
{
  const int distance = RingDistance(x.Node, y.Node, n);
  if (distance == 1 || distance == n - 1)
  {
    return true;
  }
  return ChainsMeet(ChainOf(polygon, n, x), ChainOf(polygon, n, y), distance == 2, distance == n - 2);
}

/** Whether only one of the proposals may be removed. This is so if few nodes are left: several removals of up to
 * `longestRun` nodes could leave fewer than three nodes. */
ITK_CUDA_HOST_DEVICE inline bool
RemoveOneAtATime(int n, int longestRun)
{
  return n < 4 * (longestRun + 1);
}

/** Whether two removals in a polygon of many nodes conflict: one of them takes a node of the other or an end of its
 * chord. Chords ab and cd cannot meet otherwise: cd does not meet the nodes' edges a-...-b, so it would lead from one
 * side of the closed line a-...-b-a to the other, and the nodes' edges c-...-d, which meet neither a-...-b nor ab,
 * would not. */
ITK_CUDA_HOST_DEVICE inline bool
RemovalsConflict(int n, const Proposal & x, const Proposal & y)
{
  const int distance = RingDistance(x.Node, y.Node, n);
  return distance <= x.Run || n - distance <= y.Run;
}

/** Midpoint of an edge, rounded down. */
ITK_CUDA_HOST_DEVICE inline LatticePoint
MidpointOf(const LatticePoint & p, const LatticePoint & q)
{
  return { p.X + ((q.X - p.X) >> 1), p.Y + ((q.Y - p.Y) >> 1) };
}

ITK_CUDA_HOST_DEVICE inline bool
MidpointIsExact(const LatticePoint & p, const LatticePoint & q)
{
  return ((q.X - p.X) & 1) == 0 && ((q.Y - p.Y) & 1) == 0;
}

ITK_CUDA_HOST_DEVICE inline int64_t
SquaredLength(const LatticePoint & p, const LatticePoint & q)
{
  const int64_t dx = q.X - p.X;
  const int64_t dy = q.Y - p.Y;
  return dx * dx + dy * dy;
}

/** Whether the midpoint of edge i (from node i to the next) can be inserted: the edge is long enough, and the polygon
 * stays simple. */
ITK_CUDA_HOST_DEVICE inline bool
CanInsert(const LatticePoint * polygon, int n, int i, int64_t minimumSquaredLength)
{
  const LatticePoint p = polygon[i];
  const LatticePoint q = polygon[Next(i, n)];
  if (SquaredLength(p, q) < minimumSquaredLength)
  {
    return false;
  }
  return MidpointIsExact(p, q) || ChainKeepsSimple(polygon, n, i, MidpointOf(p, q), Next(i, n));
}

/** Whether the midpoints of edges i and j conflict: each is possible alone, but not with the other. A midpoint that
 * lies on its edge moves no edge. */
ITK_CUDA_HOST_DEVICE inline bool
InsertionsConflict(const LatticePoint * polygon, int n, int i, int j)
{
  const LatticeChain x{ polygon[i], MidpointOf(polygon[i], polygon[Next(i, n)]), polygon[Next(i, n)] };
  const LatticeChain y{ polygon[j], MidpointOf(polygon[j], polygon[Next(j, n)]), polygon[Next(j, n)] };
  if (MidpointIsExact(x.Before, x.After) || MidpointIsExact(y.Before, y.After))
  {
    return false;
  }
  return ChainsMeet(x, y, Next(i, n) == j, Next(j, n) == i);
}
} // namespace itk::cuda::snake

#endif
