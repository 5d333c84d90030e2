// SPDX-License-Identifier: Apache-2.0
#include "snake/Start.h"


#include <mutex>
#include <vector>

// Searches on the host for the rectangle with the smallest J, from which the snake starts.

namespace itk::cuda::snake
{
namespace
{
/** Computes the summed-area table of the grid: the sums of the cells above and left of each crossing of its lines. */
std::vector<Moments>
SumGrid(const LevelSums & level, const RectangleGrid & grid, const Threads & threads)
{
  const size_t         stride = static_cast<size_t>(grid.Columns) + 1;
  std::vector<Moments> table(stride * (static_cast<size_t>(grid.Rows) + 1));
  threads.ForRanges(static_cast<size_t>(grid.Rows), 1, [&](size_t begin, size_t end) {
    for (size_t row = begin; row < end; ++row)
    {
      Moments * out = table.data() + (row + 1) * stride;
      for (int32_t y = grid.GetRow(static_cast<int32_t>(row)); y < grid.GetRow(static_cast<int32_t>(row) + 1); ++y)
      {
        for (int32_t column = 0; column <= grid.Columns; ++column)
        {
          out[column] += level.RowPrefix(y, grid.GetColumn(column));
        }
      }
    }
  });
  for (size_t i = stride; i < table.size(); ++i)
  {
    table[i] += table[i - stride];
  }
  return table;
}

/** Searches the rectangles of a range of pairs of horizontal grid lines, for a law whose type is known at compile time.
 */
struct RectangleSearch
{
  const RectangleGrid & Grid;
  const Moments *       Table;
  const Moments         Total;
  const int64_t         MinimumRegionSize;
  const int32_t         FirstRowPair;
  const int32_t         LastRowPair;

  template <typename TLaw>
  FoundRectangle
  operator()(const TLaw & law) const
  {
    FoundRectangle best{ 0.0, -1 };
    const int64_t  columnPairs = Grid.GetNumberOfColumnPairs();
    for (int32_t rowPair = FirstRowPair; rowPair < LastRowPair; ++rowPair)
    {
      int32_t y0;
      int32_t y1;
      RectangleGrid::GetPair(rowPair, y0, y1);
      int64_t number = rowPair * columnPairs;
      for (int32_t x1 = 1; x1 <= Grid.Columns; ++x1)
      {
        for (int32_t x0 = 0; x0 < x1; ++x0, ++number)
        {
          const Moments target = Grid.Sum(Table, x0, y0, x1, y1);
          if (target.Count >= MinimumRegionSize && Total.Count - target.Count >= MinimumRegionSize)
          {
            best = BetterOf({ law.Criterion(target, Total - target), number }, best);
          }
        }
      }
    }
    return best;
  }
};
} // namespace

CudaSnakePolygon
FindBestRectangle(const LevelSums &      level,
                  const Moments &        total,
                  const LawDescription & law,
                  int64_t                minimumRegionSize,
                  const Threads &        threads)
{
  const RectangleGrid        grid = MakeRectangleGrid(level.Width, level.Height);
  const std::vector<Moments> table = SumGrid(level, grid, threads);
  FoundRectangle             best{ 0.0, -1 };
  std::mutex                 mutex;
  threads.ForRanges(static_cast<size_t>(grid.GetNumberOfRowPairs()), 16, [&](size_t begin, size_t end) {
    const FoundRectangle              found = law.Visit(RectangleSearch{
      grid, table.data(), total, minimumRegionSize, static_cast<int32_t>(begin), static_cast<int32_t>(end) });
    const std::lock_guard<std::mutex> lock(mutex);
    best = BetterOf(found, best);
  });
  return best.Number < 0 ? CudaSnakePolygon{} : grid.MakePolygon(best.Number);
}
} // namespace itk::cuda::snake
