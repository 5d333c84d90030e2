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
#include "region/HostSums.h"
#include "region/Threads.h"

#include <cmath>
#include <cstdint>
#include <vector>

// Declares the polygons that a snake starts from: rectangles, the user's polygon, and the outline of a mask.

namespace itk::cuda::snake
{
/** The rectangles whose sides lie on the lines of a grid of at most MaximumRectangleGridSize cells a side. A rectangle
 * has the number (index of its pair of horizontal lines) * GetNumberOfColumnPairs() + (index of its pair of vertical
 * lines). */
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

  /** Computes the pair (first, second), 0 <= first < second, with number second (second - 1) / 2 + first. */
  static ITK_CUDA_HOST_DEVICE void
  GetPair(int32_t number, int32_t & first, int32_t & second)
  {
    // The result is exact: the argument is exact in float, and the arguments 1, 9, 25, ..., at which `second`
    // increases, have exact roots.
    second = static_cast<int32_t>((1.0f + std::sqrt(static_cast<float>(8 * number + 1))) / 2.0f);
    first = number - second * (second - 1) / 2;
  }

  /** Returns the rectangle with this number. */
  CudaSnakePolygon
  MakePolygon(int64_t number) const;

  /** Returns the sums of the rectangle between four grid lines. `table` is a summed-area table: it has the sums of the
   * cells above and left of each crossing of lines. */
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
  int64_t Number; // -1: no rectangle
};

/** Returns the rectangle with the smaller J, or the smaller number if both have the same J. */
ITK_CUDA_HOST_DEVICE inline FoundRectangle
BetterOf(const FoundRectangle & x, const FoundRectangle & y)
{
  const bool first =
    x.Number >= 0 && (y.Number < 0 || x.Criterion < y.Criterion || (x.Criterion == y.Criterion && x.Number < y.Number));
  return first ? x : y;
}

/** Returns the number of grid cells along a side of the level. */
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

/** Returns a rectangle as a polygon with positive area in (X, Y). */
CudaSnakePolygon
MakeRectangle(int32_t x0, int32_t y0, int32_t x1, int32_t y1);

/** Returns the rectangle that leaves a margin of a tenth of the size on each side. */
CudaSnakePolygon
MakeMarginRectangle(int32_t width, int32_t height);

/** Checks a start given by the user and brings it into the engine's form: no repeated vertices, positive area.
 * \exception ExceptionObject if it is outside the image, self-crossing, or has too few or too many nodes */
CudaSnakePolygon
CheckStartPolygon(const CudaSnakePolygon & polygon, int32_t width, int32_t height, uint32_t maximumNumberOfNodes);

/** Returns the polygon with its vertices rounded to the corners of cells of 2^exponent pixels a side. It is empty if
 * the rounded polygon is not simple or has negative area. */
CudaSnakePolygon
SnapPolygon(const CudaSnakePolygon & polygon, uint32_t exponent, int32_t width, int32_t height);

/** Traces the outer boundary of the largest 4-connected component of a mask, in cells of 2^exponent pixels a side. A
 * cell is set if more than half of its pixels are. Holes are filled. The polygon is simplified to within about a cell,
 * and to at most `maximumNumberOfNodes` nodes if possible. It is empty if no cell is set. */
CudaSnakePolygon
TraceMask(const CudaImageView & mask, uint32_t exponent, uint32_t maximumNumberOfNodes);

/** Rotates the list of vertices so that the smallest vertex in (Y, X) comes first, after reversing it if its area is
 * negative. */
CudaSnakePolygon
CanonicalPolygon(CudaSnakePolygon polygon);

/** Returns the rectangle of a level's grid (RectangleGrid) with the smallest J. It is empty if no rectangle leaves two
 * regions of the minimum size. */
CudaSnakePolygon
FindBestRectangle(const LevelSums &      level,
                  const Moments &        total,
                  const LawDescription & law,
                  int64_t                minimumRegionSize,
                  const Threads &        threads);
} // namespace itk::cuda::snake

#endif
