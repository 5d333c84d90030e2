// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_snake_Core_h
#define CudaFilters_snake_Core_h

#include "runtime/HostDevice.h"
#include "region/Lattice.h"
#include "region/Laws.h"
#include "region/Sums.h"
#include "snake/Tuning.h"

#include <cstdint>

// Lets the snake use the lattice, the laws and the sums of namespace region without qualification.
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
// the phase. Any number of threads can therefore make these decisions concurrently and in any order.
//
// Two facts make a phase of moves safe. Nodes that are not adjacent share no edge, so the changes of their moves add up
// exactly. With the parameters of the law fixed, the negative log-likelihood is linear in the sums, so moves that each
// lower it also lower it together. Estimating the parameters again lowers it further.
namespace itk::cuda::snake
{
/** Returns the position of candidate w of a node: step * 2^(w / 8) cells away in direction w % 8, clamped to the level.
 */
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

/** A proposed move, insertion or removal, with its change of the sums. DeltaCost is the change of J according to the
 * tangent (SnakeState::Tangent), which is negative for an improvement. Insertions are not chosen by their cost. Their
 * DeltaCost is 1 if the midpoint lies exactly on its edge, and 0 otherwise. */
struct Proposal
{
  int32_t      Node;
  LatticePoint Position;
  double       DeltaCost;
  Moments      Change;
  int32_t      NumberOfRemovedNodes{ 1 }; // number of consecutive nodes to remove, from Node on
};

/** Returns whether proposal x has priority over y. The smaller DeltaCost comes first, and ties are broken by node
 * index. */
ITK_CUDA_HOST_DEVICE inline bool
ComesBefore(const Proposal & x, const Proposal & y)
{
  return x.DeltaCost < y.DeltaCost || (x.DeltaCost == y.DeltaCost && x.Node < y.Node);
}

/** Returns whether the number of the target's pixels may change from `present` to `count` of `total` pixels. No region
 * may shrink below the minimum, and a region that is already smaller may not shrink further. */
ITK_CUDA_HOST_DEVICE inline bool
IsCountAllowed(int64_t count, int64_t present, int64_t total, int64_t minimum)
{
  const bool target = count >= minimum || count >= present;
  const bool background = total - count >= minimum || count <= present;
  return target && background && count > 0 && count < total;
}

/** Returns whether `number` changes, each of which adds `cost` to J, lower the total by at least `minimumGain`. */
ITK_CUDA_HOST_DEVICE inline bool
IsImprovement(double criterion, double cost, int number, double present, double minimumGain)
{
  return criterion + cost * static_cast<double>(number) <= present - minimumGain;
}

/** Returns the number of groups of nodes that move in turns. No two nodes of a group are adjacent, which takes a third
 * group if the number of nodes is odd. Without turns there is one group of all nodes. */
ITK_CUDA_HOST_DEVICE inline int
NumberOfColors(int n, bool inTurns)
{
  return inTurns ? 2 + n % 2 : 1;
}

ITK_CUDA_HOST_DEVICE inline int
ColorOf(int i, int n, int numberOfColors)
{
  return numberOfColors == 1 ? 0 : (n % 2 == 1 && i == n - 1 ? 2 : i % 2);
}

/** Returns the chain of two edges that a proposed move creates. */
ITK_CUDA_HOST_DEVICE inline LatticeChain
ChainOf(const LatticePoint * polygon, int n, const Proposal & move)
{
  return { polygon[Previous(move.Node, n)], move.Position, polygon[Next(move.Node, n)] };
}

/** Returns whether two proposed moves conflict, which means that each is possible alone, but not together with the
 * other. */
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

/** Returns whether only one proposed removal may be accepted. This is the case if the polygon has so few nodes that
 * several removals of up to `maximumRun` nodes could leave fewer than three. */
ITK_CUDA_HOST_DEVICE inline bool
RemoveOneAtATime(int n, int maximumRun)
{
  return n < 4 * (maximumRun + 1);
}

/** Returns whether two removals conflict in a polygon for which RemoveOneAtATime() is false. They conflict if one of
 * them removes a node that the other removes or an end of the other's chord. Chords ab and cd cannot meet otherwise.
 * If they met, cd would lead from one side of the closed line a-...-b-a to the other, because it does not meet the
 * polygon's edges a-...-b. But the polygon's edges c-...-d meet neither a-...-b nor ab, so that c and d lie on the
 * same side. */
ITK_CUDA_HOST_DEVICE inline bool
RemovalsConflict(int n, const Proposal & x, const Proposal & y)
{
  const int distance = RingDistance(x.Node, y.Node, n);
  return distance <= x.NumberOfRemovedNodes || n - distance <= y.NumberOfRemovedNodes;
}

/** Returns the midpoint of an edge, with both coordinates rounded down. */
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

/** Returns whether the midpoint of edge i (from node i to the next) can be inserted, because the edge is long enough
 * and the polygon stays simple. */
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

/** Returns whether the midpoints of edges i and j conflict, which means that each can be inserted alone, but not
 * together with the other. A midpoint that lies exactly on its edge moves no edge and conflicts with no other. */
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
