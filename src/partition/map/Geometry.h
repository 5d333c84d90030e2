// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_partition_map_Geometry_h
#define CudaFilters_partition_map_Geometry_h

#include "region/Lattice.h"
#include "runtime/HostDevice.h"
#include "executor/SerialTeam.h"
#include "partition/map/MapData.h"

#include <cstddef>
#include <cstdint>

// Exact predicates for changes of a planar map on the lattice, and traversal of the square cells that a triangle
// touches.
namespace itk::cuda::partition
{
using region::LatticeBox;
using region::LatticePoint;

/** Returns whether q is in the closed triangle a, b, c, which may be degenerate (a segment or a point). */
ITK_CUDA_HOST_DEVICE inline bool
TriangleContains(const LatticePoint & a, const LatticePoint & b, const LatticePoint & c, const LatticePoint & q)
{
  const int64_t ab = region::Orientation(a, b, q);
  const int64_t bc = region::Orientation(b, c, q);
  const int64_t ca = region::Orientation(c, a, q);
  if ((ab < 0 || bc < 0 || ca < 0) && (ab > 0 || bc > 0 || ca > 0))
  {
    return false;
  }
  // If all points are collinear, the bounding box decides.
  return ab != 0 || bc != 0 || ca != 0 || !region::BoxesAreApart(region::BoxOf(a, b, c), region::BoxOf(q, q));
}

/** Returns whether the ray from q towards larger X crosses the edge ab. The ray crosses a closed polygon an odd number
 * of times if q is inside. */
ITK_CUDA_HOST_DEVICE inline bool
RayCrosses(const LatticePoint & q, const LatticePoint & a, const LatticePoint & b)
{
  if ((a.Y > q.Y) == (b.Y > q.Y))
  {
    return false;
  }
  const int64_t side = region::Orientation(a, b, q);
  return b.Y > a.Y ? side > 0 : side < 0;
}

/** A grid of square cells of 2^Exponent x 2^Exponent pixels that covers the corners of an image's pixels. */
struct CellLayout
{
  uint32_t Exponent;
  int32_t  Columns;
  int32_t  Rows;

  ITK_CUDA_HOST_DEVICE
  CellLayout(int32_t width, int32_t height, uint32_t exponent)
    : Exponent(exponent)
    , Columns((width >> exponent) + 1)
    , Rows((height >> exponent) + 1)
  {}

  ITK_CUDA_HOST_DEVICE size_t
  GetNumber() const
  {
    return static_cast<size_t>(Columns) * static_cast<size_t>(Rows);
  }
};

/** A range of integers; empty if First > Last. */
struct IntegerRange
{
  int32_t First{ 1 };
  int32_t Last{ 0 };

  ITK_CUDA_HOST_DEVICE void
  Include(int32_t x)
  {
    const bool isEmpty = First > Last;
    First = isEmpty || x < First ? x : First;
    Last = isEmpty || x > Last ? x : Last;
  }
};

/** Returns floor(X) of the line from p to q at y; p.Y < q.Y. */
ITK_CUDA_HOST_DEVICE inline int32_t
ColumnAt(const LatticePoint & p, const LatticePoint & q, int32_t y)
{
  return p.X + static_cast<int32_t>(region::FloorDivide(static_cast<int64_t>(y - p.Y) * (q.X - p.X), q.Y - p.Y));
}

/** Extends `columns` by floor(X) of the part of the segment pq with first <= Y <= last. */
ITK_CUDA_HOST_DEVICE inline void
IncludeColumns(IntegerRange & columns, LatticePoint p, LatticePoint q, int32_t first, int32_t last)
{
  if (p.Y > q.Y)
  {
    const LatticePoint swapped = p;
    p = q;
    q = swapped;
  }
  const int32_t from = region::Maximum(first, p.Y);
  const int32_t to = region::Minimum(last, q.Y);
  if (from > to)
  {
    return;
  }
  if (p.Y == q.Y)
  {
    columns.Include(p.X);
    columns.Include(q.X);
    return;
  }
  columns.Include(ColumnAt(p, q, from));
  columns.Include(ColumnAt(p, q, to));
}

/** The shares of one thread of a team in two nested loops, over groups and over the items of each group. Threads are
 * distributed over the groups, and if there are fewer groups than threads, also over the items of each group. */
struct NestedStridedRange
{
  StridedRange Outer;
  StridedRange Inner;

  /** \param groups at least 1 */
  ITK_CUDA_HOST_DEVICE
  NestedStridedRange(const StridedRange & share, int32_t groups)
  {
    const int32_t lanes = share.Stride > groups ? share.Stride / groups : 1; // threads per group
    Outer = { share.First / lanes, lanes > 1 ? groups : share.Stride };
    Inner = { share.First % lanes, lanes };
  }
};

/** Calls function(cell) for the cells that the closed triangle touches, and possibly for some that it only borders on,
 * until the function returns false. Two triangles with a common point have a common cell: the cell of that point with
 * its coordinates rounded down. Returns whether all calls returned true. */
template <typename TFunction>
ITK_CUDA_HOST_DEVICE inline bool
ForCellsOfTriangle(const CellLayout &   layout,
                   const LatticePoint & a,
                   const LatticePoint & b,
                   const LatticePoint & c,
                   const TFunction &    function,
                   const StridedRange & share = {})
{
  const LatticeBox box = region::BoxOf(a, b, c);
  const uint32_t   exponent = layout.Exponent;
  const int32_t    lastRow = box.MaximumY >> exponent;
  // fast path for the common small or flat triangles
  const bool fillsBox = lastRow == box.MinimumY >> exponent || (box.MinimumX >> exponent) == (box.MaximumX >> exponent);
  const int32_t            firstRow = box.MinimumY >> exponent;
  const NestedStridedRange nested(share, lastRow - firstRow + 1);
  for (int32_t row = firstRow + nested.Outer.First; row <= lastRow; row += nested.Outer.Stride)
  {
    IntegerRange columns;
    if (fillsBox)
    {
      columns = { box.MinimumX, box.MaximumX };
    }
    else
    {
      const int32_t first = row << exponent;
      const int32_t last = first + (1 << exponent);
      IncludeColumns(columns, a, b, first, last);
      IncludeColumns(columns, b, c, first, last);
      IncludeColumns(columns, c, a, first, last);
    }
    for (int32_t column = (columns.First >> exponent) + nested.Inner.First; column <= columns.Last >> exponent;
         column += nested.Inner.Stride)
    {
      if (!function(static_cast<size_t>(row) * static_cast<size_t>(layout.Columns) + static_cast<size_t>(column)))
      {
        return false;
      }
    }
  }
  return true;
}

/** Returns the number of cells that a box touches. */
ITK_CUDA_HOST_DEVICE inline int32_t
CountCellsOfBox(const CellLayout & layout, const LatticeBox & box)
{
  return ((box.MaximumY >> layout.Exponent) - (box.MinimumY >> layout.Exponent) + 1) *
         ((box.MaximumX >> layout.Exponent) - (box.MinimumX >> layout.Exponent) + 1);
}

/** Calls function(cell) for the cells that a box touches, until the function returns false. Returns whether all calls
 * returned true. */
template <typename TFunction>
ITK_CUDA_HOST_DEVICE inline bool
ForCellsOfBox(const CellLayout &   layout,
              const LatticeBox &   box,
              const TFunction &    function,
              const StridedRange & share = {})
{
  const int32_t firstRow = box.MinimumY >> layout.Exponent;
  const int32_t firstColumn = box.MinimumX >> layout.Exponent;
  const int32_t columns = (box.MaximumX >> layout.Exponent) - firstColumn + 1;
  const int32_t cells = CountCellsOfBox(layout, box);
  for (int32_t i = share.First; i < cells; i += share.Stride)
  {
    const auto row = static_cast<size_t>(firstRow + i / columns);
    const auto column = static_cast<size_t>(firstColumn + i % columns);
    if (!function(row * static_cast<size_t>(layout.Columns) + column))
    {
      return false;
    }
  }
  return true;
}

/** Labels of the four pixels around a corner; Outside beyond the image. */
struct Corner
{
  uint32_t UpperLeft, UpperRight, LowerLeft, LowerRight; // Y grows downwards

  /** Returns whether boundaries end, meet or turn at this corner, rather than being absent or passing straight through.
   */
  ITK_CUDA_HOST_DEVICE bool
  IsNode() const
  {
    return (UpperLeft != LowerLeft || UpperRight != LowerRight) && (UpperLeft != UpperRight || LowerLeft != LowerRight);
  }
  ITK_CUDA_HOST_DEVICE bool
  HasEdgeUp() const
  {
    return UpperLeft != UpperRight;
  }
  ITK_CUDA_HOST_DEVICE bool
  HasEdgeDown() const
  {
    return LowerLeft != LowerRight;
  }
  ITK_CUDA_HOST_DEVICE bool
  HasEdgeLeft() const
  {
    return UpperLeft != LowerLeft;
  }
  ITK_CUDA_HOST_DEVICE bool
  HasEdgeRight() const
  {
    return UpperRight != LowerRight;
  }
};

/** The maximum number of nodes of a map. */
constexpr size_t MaximumNumberOfNodes = size_t{ 1 } << 30;
} // namespace itk::cuda::partition

#endif
