// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_region_Lattice_h
#define CudaFilters_region_Lattice_h

#include "runtime/HostDevice.h"
#include "region/Math.h"
#include "itkCudaRegionSnakeTypes.h"

#include <cstdint>

// Polygons on the lattice of pixel corners, and exact tests of their simplicity. Coordinates are at most 2^30, so that
// cross products do not overflow 64 bits.
namespace itk::cuda::region
{
using LatticePoint = CudaSnakePoint;

ITK_CUDA_HOST_DEVICE inline bool
operator==(const LatticePoint & p, const LatticePoint & q)
{
  return p.X == q.X && p.Y == q.Y;
}

ITK_CUDA_HOST_DEVICE inline int32_t
Minimum(int32_t x, int32_t y)
{
  return x < y ? x : y;
}
ITK_CUDA_HOST_DEVICE inline int32_t
Maximum(int32_t x, int32_t y)
{
  return x > y ? x : y;
}

/** Returns the index of the node before node i in a ring of n nodes. Next() returns the index of the node after it. */
ITK_CUDA_HOST_DEVICE inline int
Previous(int i, int n)
{
  return i > 0 ? i - 1 : n - 1;
}
ITK_CUDA_HOST_DEVICE inline int
Next(int i, int n)
{
  return i + 1 < n ? i + 1 : 0;
}

/** Returns twice the signed area of the triangle a, b, c. */
ITK_CUDA_HOST_DEVICE inline int64_t
Orientation(const LatticePoint & a, const LatticePoint & b, const LatticePoint & c)
{
  return static_cast<int64_t>(b.X - a.X) * (c.Y - a.Y) - static_cast<int64_t>(b.Y - a.Y) * (c.X - a.X);
}

ITK_CUDA_HOST_DEVICE inline int
Sign(int64_t value)
{
  return (value > 0 ? 1 : 0) - (value < 0 ? 1 : 0);
}

/** The bounding box of some points, which includes its sides. */
struct LatticeBox
{
  int32_t MinimumX, MinimumY, MaximumX, MaximumY;
};

ITK_CUDA_HOST_DEVICE inline LatticeBox
BoxOf(const LatticePoint & a, const LatticePoint & b)
{
  return { Minimum(a.X, b.X), Minimum(a.Y, b.Y), Maximum(a.X, b.X), Maximum(a.Y, b.Y) };
}

ITK_CUDA_HOST_DEVICE inline LatticeBox
BoxOf(const LatticePoint & a, const LatticePoint & b, const LatticePoint & c)
{
  const LatticeBox box = BoxOf(a, b);
  return {
    Minimum(box.MinimumX, c.X), Minimum(box.MinimumY, c.Y), Maximum(box.MaximumX, c.X), Maximum(box.MaximumY, c.Y)
  };
}

ITK_CUDA_HOST_DEVICE inline bool
BoxesAreApart(const LatticeBox & x, const LatticeBox & y)
{
  return x.MaximumX < y.MinimumX || y.MaximumX < x.MinimumX || x.MaximumY < y.MinimumY || y.MaximumY < x.MinimumY;
}

/** Returns whether the closed segments ab and cd have a point in common. */
ITK_CUDA_HOST_DEVICE inline bool
SegmentsMeet(const LatticePoint & a, const LatticePoint & b, const LatticePoint & c, const LatticePoint & d)
{
  // Collinear segments meet if and only if their bounding boxes meet. Other segments meet if and only if neither lies
  // strictly on one side of the other's line.
  if (BoxesAreApart(BoxOf(a, b), BoxOf(c, d)))
  {
    return false;
  }
  return Sign(Orientation(a, b, c)) * Sign(Orientation(a, b, d)) <= 0 &&
         Sign(Orientation(c, d, a)) * Sign(Orientation(c, d, b)) <= 0;
}

/** Returns whether the edges from `corner` to p and to q share more than the corner. */
ITK_CUDA_HOST_DEVICE inline bool
FoldsBack(const LatticePoint & corner, const LatticePoint & p, const LatticePoint & q)
{
  if (Orientation(corner, p, q) != 0)
  {
    return false;
  }
  const int64_t product =
    static_cast<int64_t>(p.X - corner.X) * (q.X - corner.X) + static_cast<int64_t>(p.Y - corner.Y) * (q.Y - corner.Y);
  return product > 0 || p == corner || q == corner;
}

/** The chain before - at - after: a new position of a node, and the nodes to which its edges lead. */
struct LatticeChain
{
  LatticePoint Before, At, After;
};

/** Returns whether the chain is degenerate, because an edge has no length or lies on the other one. */
ITK_CUDA_HOST_DEVICE inline bool
IsDegenerate(const LatticeChain & chain)
{
  return FoldsBack(chain.At, chain.Before, chain.After);
}

/** Returns whether the chain meets the polygon's edge uv at another point than a common node. `startsAtAfter` says that
 * u is the chain's last node, and `endsAtBefore` that v is its first node. */
ITK_CUDA_HOST_DEVICE inline bool
ChainMeetsEdge(const LatticeChain & chain,
               const LatticePoint & u,
               const LatticePoint & v,
               bool                 startsAtAfter,
               bool                 endsAtBefore)
{
  const bool first = endsAtBefore ? FoldsBack(chain.Before, chain.At, u) : SegmentsMeet(chain.Before, chain.At, u, v);
  return first || (startsAtAfter ? FoldsBack(chain.After, chain.At, v) : SegmentsMeet(chain.At, chain.After, u, v));
}

/** Returns the j-th of the RingDistance(after, before) edges that remain when a chain replaces the edges between the
 * nodes `before` and `after`. An edge has the index of its first node. */
ITK_CUDA_HOST_DEVICE inline int
RemainingEdge(int j, int after, int n)
{
  return after + j < n ? after + j : after + j - n;
}

/** Returns the number of steps along the ring from i to j. */
ITK_CUDA_HOST_DEVICE inline int
RingDistance(int i, int j, int n)
{
  return j >= i ? j - i : j - i + n;
}

/** A chain that is to replace the polygon's edges between the nodes with ring indices Before and After. These two nodes
 * stay. */
struct Replacement
{
  LatticeChain Chain;
  LatticeBox   Box;
  int          Before;
  int          After;
};

ITK_CUDA_HOST_DEVICE inline Replacement
MakeReplacement(const LatticePoint * polygon, int before, const LatticePoint & at, int after)
{
  const LatticeChain chain{ polygon[before], at, polygon[after] };
  return { chain, BoxOf(chain.Before, chain.At, chain.After), before, after };
}

/** Returns whether the chain meets the polygon's edge from node u, which remains, at another point than a common node.
 */
ITK_CUDA_HOST_DEVICE inline bool
ReplacementMeetsEdge(const LatticePoint * polygon, int n, const Replacement & replacement, int u)
{
  const int v = Next(u, n);
  // The box of an edge that shares a node with the chain always meets the chain's box.
  return !BoxesAreApart(replacement.Box, BoxOf(polygon[u], polygon[v])) &&
         ChainMeetsEdge(replacement.Chain, polygon[u], polygon[v], u == replacement.After, v == replacement.Before);
}

/** Returns whether a simple polygon stays simple if the chain over `at` replaces its edges between the nodes `before`
 * and `after`. */
ITK_CUDA_HOST_DEVICE inline bool
ChainKeepsSimple(const LatticePoint * polygon, int n, int before, const LatticePoint & at, int after)
{
  const Replacement replacement = MakeReplacement(polygon, before, at, after);
  if (IsDegenerate(replacement.Chain))
  {
    return false;
  }
  const int remaining = RingDistance(after, before, n);
  for (int j = 0; j < remaining; ++j)
  {
    if (ReplacementMeetsEdge(polygon, n, replacement, RemainingEdge(j, after, n)))
    {
      return false;
    }
  }
  return true;
}

/** Returns whether the chord from `p` to `q` meets the edge uv at another point than a common node. `startsAtQ` says
 * that u is q, and `endsAtP` that v is p. */
ITK_CUDA_HOST_DEVICE inline bool
ChordMeetsEdge(const LatticePoint & p,
               const LatticePoint & q,
               const LatticePoint & u,
               const LatticePoint & v,
               bool                 startsAtQ,
               bool                 endsAtP)
{
  if (startsAtQ || endsAtP)
  {
    return (startsAtQ && FoldsBack(q, p, v)) || (endsAtP && FoldsBack(p, q, u));
  }
  return SegmentsMeet(p, q, u, v);
}

/** Returns the index of the node k < n steps after node i in the ring. */
ITK_CUDA_HOST_DEVICE inline int
RingAdvance(int i, int k, int n)
{
  return i + k < n ? i + k : i + k - n;
}

/** Returns whether the chord over `run` nodes from i on meets the polygon's edge from node u, which remains, at another
 * point than a common node. */
ITK_CUDA_HOST_DEVICE inline bool
ChordOverNodesMeetsEdge(const LatticePoint * polygon, int n, int i, int run, int u)
{
  const int          before = Previous(i, n);
  const int          after = RingAdvance(i, run, n);
  const int          v = Next(u, n);
  const LatticePoint p = polygon[before];
  const LatticePoint q = polygon[after];
  return !BoxesAreApart(BoxOf(p, q), BoxOf(polygon[u], polygon[v])) &&
         ChordMeetsEdge(p, q, polygon[u], polygon[v], u == after, v == before);
}

/** Returns the number of edges that remain when `run` consecutive nodes are removed. */
ITK_CUDA_HOST_DEVICE inline int
NumberOfRemainingEdges(int n, int run)
{
  return n - run - 1;
}

/** Returns whether a simple polygon stays simple when `run` nodes from i on are removed. It must have at least three
 * more nodes, so that the ends of the chord are different points. */
ITK_CUDA_HOST_DEVICE inline bool
ChordKeepsSimple(const LatticePoint * polygon, int n, int i, int run)
{
  for (int j = 0; j < NumberOfRemainingEdges(n, run); ++j)
  {
    if (ChordOverNodesMeetsEdge(polygon, n, i, run, RemainingEdge(j, RingAdvance(i, run, n), n)))
    {
      return false;
    }
  }
  return true;
}

/** Returns whether two chains that replace edges of one polygon meet at another point than a common node.
 * `firstThenSecond` says that the last node of the first chain is the first node of the second one, and
 * `secondThenFirst` the converse. */
ITK_CUDA_HOST_DEVICE inline bool
ChainsMeet(const LatticeChain & first, const LatticeChain & second, bool firstThenSecond, bool secondThenFirst)
{
  if (BoxesAreApart(BoxOf(first.Before, first.At, first.After), BoxOf(second.Before, second.At, second.After)))
  {
    return false;
  }
  if (SegmentsMeet(first.Before, first.At, second.Before, second.At) ||
      SegmentsMeet(first.At, first.After, second.At, second.After))
  {
    return true;
  }
  if (firstThenSecond ? FoldsBack(first.After, first.At, second.At)
                      : SegmentsMeet(first.At, first.After, second.Before, second.At))
  {
    return true;
  }
  return secondThenFirst ? FoldsBack(first.Before, first.At, second.At)
                         : SegmentsMeet(first.Before, first.At, second.At, second.After);
}

/** The rows that an edge crosses, and the sign of its contribution there.
 *
 * The edge from (X0, Y0) to (X1, Y1) contributes to the rows min(Y0, Y1) <= y < max(Y0, Y1), with sign +1 if it goes
 * to larger Y. In each of these rows the pixels x < k(y) lie to its left, which means that their centres lie strictly
 * left of the edge. With the ends in the order of Y, k(y) = X0 + ceil(((2 (y - Y0) + 1) dX - dY) / (2 dY)). Horizontal
 * edges contribute nothing. The sum of sign times (prefix sum of f up to k(y)) over a closed polygon is the sum of
 * (winding number) times f over the pixels. */
struct LatticeEdge
{
  LatticePoint Top;
  int32_t      DeltaX;
  int32_t      NumberOfRows;
  bool         Upward;
};

ITK_CUDA_HOST_DEVICE inline LatticeEdge
MakeEdge(const LatticePoint & p, const LatticePoint & q)
{
  const bool upward = q.Y < p.Y;
  return upward ? LatticeEdge{ q, p.X - q.X, p.Y - q.Y, true } : LatticeEdge{ p, q.X - p.X, q.Y - p.Y, false };
}

/** Walks along the crossings k(y) of an edge that is not horizontal, from its row number `row` on, in steps of `stride`
 * rows. */
class CrossingWalker
{
public:
  ITK_CUDA_HOST_DEVICE
  CrossingWalker(const LatticeEdge & edge, int32_t row, int32_t stride)
    : m_Modulus(2 * static_cast<int64_t>(edge.NumberOfRows))
  {
    const int64_t numerator = (2 * static_cast<int64_t>(row) + 1) * edge.DeltaX - edge.NumberOfRows + m_Modulus - 1;
    const int64_t quotient = FloorDivide(numerator, m_Modulus);
    m_Column = edge.Top.X + static_cast<int32_t>(quotient);
    m_Remainder = numerator - quotient * m_Modulus;
    const int64_t increment = 2 * static_cast<int64_t>(stride) * edge.DeltaX;
    const int64_t step = FloorDivide(increment, m_Modulus);
    m_ColumnStep = static_cast<int32_t>(step);
    m_RemainderStep = increment - step * m_Modulus;
  }

  ITK_CUDA_HOST_DEVICE int32_t
  GetColumn() const
  {
    return m_Column;
  }

  ITK_CUDA_HOST_DEVICE void
  Advance()
  {
    m_Remainder += m_RemainderStep;
    const bool carry = m_Remainder >= m_Modulus;
    m_Remainder -= carry ? m_Modulus : 0;
    m_Column += m_ColumnStep + (carry ? 1 : 0);
  }

private:
  int64_t m_Modulus;
  int64_t m_Remainder;
  int64_t m_RemainderStep;
  int32_t m_Column;
  int32_t m_ColumnStep;
};
} // namespace itk::cuda::region

#endif
