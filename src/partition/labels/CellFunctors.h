// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_partition_labels_CellFunctors_h
#define CudaFilters_partition_labels_CellFunctors_h

#include "runtime/HostDevice.h"
#include "partition/Model.h"
#include "partition/Tuning.h"

#include <cstddef>
#include <cstdint>

// Sums, compares and labels single cells, for all executors. A scene gives access to the image: SumRow() sums pixels of
// a row, IsValid() tells whether a pixel has a value, and HasMask() whether any pixel may have none.
namespace itk::cuda::partition
{
/** A grid of square cells of Side x Side pixels that covers an image. Cells are clipped at its right and lower border.
 */
struct CellGrid
{
  int32_t ImageWidth{ 0 };
  int32_t ImageHeight{ 0 };
  int32_t Side{ 1 };

  ITK_CUDA_HOST_DEVICE int32_t
  GetWidth() const
  {
    return (ImageWidth - 1) / Side + 1;
  }
  ITK_CUDA_HOST_DEVICE int32_t
  GetHeight() const
  {
    return (ImageHeight - 1) / Side + 1;
  }
  ITK_CUDA_HOST_DEVICE size_t
  GetNumberOfCells() const
  {
    return static_cast<size_t>(GetWidth()) * static_cast<size_t>(GetHeight());
  }
  ITK_CUDA_HOST_DEVICE size_t
  IndexOf(int32_t x, int32_t y) const
  {
    return static_cast<size_t>(y) * static_cast<size_t>(GetWidth()) + static_cast<size_t>(x);
  }
  /** Returns the first pixel column (row) of a column (row) of cells. */
  ITK_CUDA_HOST_DEVICE int32_t
  ToPixels(int32_t cells) const
  {
    return cells * Side;
  }
  ITK_CUDA_HOST_DEVICE int32_t
  EndColumn(int32_t x) const
  {
    return x < (ImageWidth - 1) / Side ? (x + 1) * Side : ImageWidth;
  }
  ITK_CUDA_HOST_DEVICE int32_t
  EndRow(int32_t y) const
  {
    return y < (ImageHeight - 1) / Side ? (y + 1) * Side : ImageHeight;
  }
};

/** Returns the sums of one cell. */
template <typename TScene>
ITK_CUDA_HOST_DEVICE Moments
SumCell(const TScene & scene, const CellGrid & grid, int32_t x, int32_t y)
{
  Moments       sums;
  const int32_t first = grid.ToPixels(x);
  const int32_t end = grid.EndColumn(x);
  for (int32_t row = grid.ToPixels(y); row < grid.EndRow(y); ++row)
  {
    sums += scene.SumRow(row, first, end);
  }
  return sums;
}

/** Returns whether a cell has valid pixels and all of them have the same value. \param sums of the cell */
template <typename TScene>
ITK_CUDA_HOST_DEVICE bool
IsOfOneValue(const TScene & scene, const CellGrid & grid, int32_t x, int32_t y, const Moments & sums)
{
  const auto count = static_cast<uint64_t>(sums.Count);
  if (sums.Count == 0 || sums.Sum % count != 0)
  {
    return false;
  }
  for (int32_t row = grid.ToPixels(y); row < grid.EndRow(y); ++row)
  {
    for (int32_t column = grid.ToPixels(x); column < grid.EndColumn(x); ++column)
    {
      const Moments pixel = scene.SumRow(row, column, column + 1);
      if (pixel.Count > 0 && pixel.Sum != sums.Sum / count)
      {
        return false;
      }
    }
  }
  return true;
}

/** Counts the pixel sides between a cell and its right or lower neighbour where both pixels are valid. */
template <typename TScene>
ITK_CUDA_HOST_DEVICE uint32_t
MeasureBoundary(const TScene & scene, const CellGrid & grid, int32_t x, int32_t y, bool right)
{
  const int32_t first = right ? grid.ToPixels(y) : grid.ToPixels(x);
  const int32_t end = right ? grid.EndRow(y) : grid.EndColumn(x);
  if (!scene.HasMask())
  {
    return static_cast<uint32_t>(end - first);
  }
  const int32_t across = right ? grid.EndColumn(x) : grid.EndRow(y);
  uint32_t      number = 0;
  for (int32_t i = first; i < end; ++i)
  {
    const bool both = right ? scene.IsValid(across - 1, i) && scene.IsValid(across, i)
                            : scene.IsValid(i, across - 1) && scene.IsValid(i, across);
    number += both ? 1 : 0;
  }
  return number;
}

/** The labels of the cells (a non-owning view). */
struct CellLabels
{
  CellGrid         Grid;
  const uint32_t * Labels;

  ITK_CUDA_HOST_DEVICE uint32_t
  Get(int32_t x, int32_t y) const
  {
    return Labels[Grid.IndexOf(x, y)];
  }
  /** Returns whether one of a cell's four neighbours has another label. */
  ITK_CUDA_HOST_DEVICE bool
  IsAtBoundary(int32_t x, int32_t y) const
  {
    const uint32_t label = this->Get(x, y);
    // Load all four before any comparison, to overlap the latency of device memory.
    const uint32_t left = x > 0 ? this->Get(x - 1, y) : label;
    const uint32_t right = x + 1 < Grid.GetWidth() ? this->Get(x + 1, y) : label;
    const uint32_t above = y > 0 ? this->Get(x, y - 1) : label;
    const uint32_t below = y + 1 < Grid.GetHeight() ? this->Get(x, y + 1) : label;
    return left != label || right != label || above != label || below != label;
  }
};

/** Holds up to four labels of neighbours. */
struct NeighborLabels
{
  uint32_t Labels[4];
  int32_t  Number{ 0 };

  ITK_CUDA_HOST_DEVICE void
  Add(uint32_t label)
  {
    Labels[Number++] = label;
  }
  ITK_CUDA_HOST_DEVICE double
  CountOthers(uint32_t label) const
  {
    int32_t others = 0;
    for (int32_t i = 0; i < Number; ++i)
    {
      others += Labels[i] != label ? 1 : 0;
    }
    return static_cast<double>(others);
  }
};

/** The cost in nats of each neighbour that belongs to another region. */
struct BoundaryCosts
{
  double Axis;
  double Diagonal;

  explicit BoundaryCosts(int32_t side)
    : Axis(AxisNeighborWeight * side * CellCostPerLength)
    , Diagonal(DiagonalNeighborWeight * side * CellCostPerLength)
  {}
};

/** Chooses the region that describes a cell best, among its own and the regions of its four neighbours. If costs are
 * equal, the cell keeps its own region, or else takes the smallest label.
 * \param tangents of the regions' descriptions \param sums of the cell
 */
ITK_CUDA_HOST_DEVICE inline uint32_t
ChooseRegion(const CellLabels &    cells,
             const LinearForm *    tangents,
             const BoundaryCosts & costs,
             int32_t               x,
             int32_t               y,
             const Moments &       sums)
{
  NeighborLabels axis;
  NeighborLabels diagonal;
  for (int32_t dy = -1; dy <= 1; ++dy)
  {
    for (int32_t dx = -1; dx <= 1; ++dx)
    {
      const bool isInside =
        x + dx >= 0 && x + dx < cells.Grid.GetWidth() && y + dy >= 0 && y + dy < cells.Grid.GetHeight();
      if ((dx != 0 || dy != 0) && isInside)
      {
        (dx == 0 || dy == 0 ? axis : diagonal).Add(cells.Get(x + dx, y + dy));
      }
    }
  }
  const auto cost = [&](uint32_t region) {
    return tangents[region](sums) +
           (costs.Axis * axis.CountOthers(region) + costs.Diagonal * diagonal.CountOthers(region));
  };
  const uint32_t own = cells.Get(x, y);
  const double   ownCost = cost(own);
  uint32_t       best = own;
  double         bestCost = ownCost;
  for (int32_t i = 0; i < axis.Number; ++i)
  {
    const uint32_t label = axis.Labels[i];
    if (label == own || label == best)
    {
      continue;
    }
    const double other = cost(label);
    if (other < bestCost || (other == bestCost && best != own && label < best))
    {
      bestCost = other;
      best = label;
    }
  }
  return bestCost < ownCost - MinimumCellGain ? best : own;
}
} // namespace itk::cuda::partition

#endif
