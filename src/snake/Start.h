// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_snake_Start_h
#define CudaFilters_snake_Start_h

#include "itkCudaDetailImageView.h"
#include "runtime/DetailNames.h"
#include "region/Laws.h"
#include "region/Sums.h"
#include "snake/Control.h"
#include "snake/Core.h"
#include "snake/Tuning.h"
#include "region/Tables.h"
#include "region/Threads.h"

#include <cmath>
#include <cstdint>
#include <vector>

namespace itk::cuda::snake
{
/** Rectangles whose sides lie on a grid of at most MaximumRectangleGridSize cells a side, numbered: for every pair of
 * rows of grid lines, every pair of columns of them. */
struct RectangleGrid
{
  int32_t Columns; // cells
  int32_t Rows;
  int32_t Width; // of the level
  int32_t Height;

  ITK_CUDA_HOST_DEVICE int32_t
  GetColumn(int32_t line) const
  {
    return static_cast<int32_t>(static_cast<int64_t>(Width) * line / Columns);
  }
  ITK_CUDA_HOST_DEVICE int32_t
  GetRow(int32_t line) const
  {
    return static_cast<int32_t>(static_cast<int64_t>(Height) * line / Rows);
  }
  ITK_CUDA_HOST_DEVICE int32_t
  GetNumberOfColumnPairs() const
  {
    return Columns * (Columns + 1) / 2;
  }
  ITK_CUDA_HOST_DEVICE int32_t
  GetNumberOfRowPairs() const
  {
    return Rows * (Rows + 1) / 2;
  }

  /** The pair (first, second), 0 <= first < second, of number second (second - 1) / 2 + first. */
  static ITK_CUDA_HOST_DEVICE void
  GetPair(int32_t number, int32_t & first, int32_t & second)
  {
    // The root's argument is exact, and 1, 9, 25, ... have exact roots.
    second = static_cast<int32_t>((1.0f + std::sqrt(static_cast<float>(8 * number + 1))) / 2.0f);
    first = number - second * (second - 1) / 2;
  }

  /** The rectangle of that number. */
  CudaSnakePolygon
  MakePolygon(int64_t number) const;

  /** Sums of the rectangle between grid lines, from sums `table` of the cells above and left of each crossing of lines.
   */
  ITK_CUDA_HOST_DEVICE Moments
  Sum(const Moments * table, int32_t x0, int32_t y0, int32_t x1, int32_t y1) const
  {
    const int32_t stride = Columns + 1;
    return table[y1 * stride + x1] - table[y0 * stride + x1] - table[y1 * stride + x0] + table[y0 * stride + x0];
  }
};

/** A rectangle of the grid, with its J. */
struct FoundRectangle
{
  double  Criterion;
  int64_t Number; // -1: none
};

/** The one with the smaller J, ties by number. */
ITK_CUDA_HOST_DEVICE inline FoundRectangle
BetterOf(const FoundRectangle & x, const FoundRectangle & y)
{
  const bool first =
    x.Number >= 0 && (y.Number < 0 || x.Criterion < y.Criterion || (x.Criterion == y.Criterion && x.Number < y.Number));
  return first ? x : y;
}

/** Number of grid cells along a side of the level. */
inline int32_t
RectangleGridSize(int32_t side)
{
  const int32_t size = Maximum(MinimumRectangleGridSize, Minimum(MaximumRectangleGridSize, side / RectangleGridCell));
  return Minimum(side, size);
}

inline RectangleGrid
MakeRectangleGrid(int32_t width, int32_t height)
{
  return { RectangleGridSize(width), RectangleGridSize(height), width, height };
}

/** Rectangle with positive area in (X, Y). */
CudaSnakePolygon
MakeRectangle(int32_t x0, int32_t y0, int32_t x1, int32_t y1);

/** The rectangle that leaves out a tenth on each side. */
CudaSnakePolygon
MakeMarginRectangle(int32_t width, int32_t height);

/** Checks a start given by the user and brings it into the engine's form: no repeated vertices, positive area.
 * \exception ExceptionObject if it is outside the image, self-crossing, or has too few or too many nodes */
CudaSnakePolygon
CheckStartPolygon(const CudaSnakePolygon & polygon, int32_t width, int32_t height, uint32_t maximumNumberOfNodes);

/** The polygon with its vertices rounded to corners of cells of 2^exponent pixels. It is empty if the rounded polygon
 * is not simple. */
CudaSnakePolygon
SnapPolygon(const CudaSnakePolygon & polygon, uint32_t exponent, int32_t width, int32_t height);

/** Outer boundary of the largest 4-connected component of a mask, seen in cells of 2^exponent pixels (set where more
 * than half of the pixels are), holes filled, with as few nodes as keep it within about a cell and at most
 * `maximumNumberOfNodes`. Empty if no cell is set. */
CudaSnakePolygon
TraceMask(const CudaImageView & mask, uint32_t exponent, uint32_t maximumNumberOfNodes);

/** Rotates the polygon so that the smallest vertex in (Y, X) comes first, and turns it round if its area is negative.
 */
CudaSnakePolygon
CanonicalPolygon(CudaSnakePolygon polygon);

/** On a level, the rectangle of its grid (RectangleGrid) with the smallest J; empty if none has two regions of the
 * minimum size. */
CudaSnakePolygon
FindBestRectangle(const Level &          level,
                  const Moments &        total,
                  const LawDescription & law,
                  int64_t                minimumRegionSize,
                  const Threads &        threads);
} // namespace itk::cuda::snake

#endif
