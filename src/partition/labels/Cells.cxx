// SPDX-License-Identifier: Apache-2.0
#include "partition/labels/Cells.h"

#include <algorithm>

namespace itk::cuda::partition
{
namespace
{
constexpr size_t RowsPerPiece = 8;
constexpr size_t RegionsPerPiece = 1024;
} // namespace

std::vector<Moments>
SumCells(const Scene & scene, const CellGrid & grid, const Work & work)
{
  std::vector<Moments> sums(grid.GetNumberOfCells());
  const int32_t        width = grid.GetWidth();
  work.ParallelFor(static_cast<size_t>(grid.GetHeight()), 1, [&](size_t row) {
    const auto y = static_cast<int32_t>(row);
    Moments *  out = sums.data() + grid.IndexOf(0, y);
    for (int32_t line = grid.ToPixels(y); line < grid.EndRow(y); ++line)
    {
      Moments before;
      for (int32_t x = 0; x < width; ++x)
      {
        const Moments prefix = scene.Pixels.RowPrefix(line, grid.EndColumn(x));
        out[x] += prefix - before;
        before = prefix;
      }
    }
  });
  return sums;
}

std::vector<uint8_t>
FindCellsOfOneValue(const Scene & scene, const CellGrid & grid, const std::vector<Moments> & sums, const Work & work)
{
  std::vector<uint8_t> found(sums.size());
  work.ParallelFor(static_cast<size_t>(grid.GetHeight()), 1, [&](size_t row) {
    const auto y = static_cast<int32_t>(row);
    for (int32_t x = 0; x < grid.GetWidth(); ++x)
    {
      const size_t i = grid.IndexOf(x, y);
      found[i] = IsOfOneValue(scene, grid, x, y, sums[i]) ? 1 : 0;
    }
  });
  return found;
}

std::vector<RegionLinks>
LinkCells(const Scene & scene, const CellGrid & grid, const Work & work)
{
  std::vector<RegionLinks> links(grid.GetNumberOfCells());
  const int32_t            width = grid.GetWidth();
  const int32_t            height = grid.GetHeight();
  work.ParallelFor(static_cast<size_t>(height), 1, [&](size_t row) {
    const auto y = static_cast<int32_t>(row);
    const auto link = [&grid](int32_t x2, int32_t y2, uint32_t cracks) {
      return RegionLink{ static_cast<uint32_t>(grid.IndexOf(x2, y2)), cracks };
    };
    for (int32_t x = 0; x < width; ++x)
    {
      RegionLinks & out = links[grid.IndexOf(x, y)];
      out.reserve(4);
      if (y > 0)
      {
        out.push_back(link(x, y - 1, CountCracks(scene, grid, x, y - 1, false)));
      }
      if (x > 0)
      {
        out.push_back(link(x - 1, y, CountCracks(scene, grid, x - 1, y, true)));
      }
      if (x + 1 < width)
      {
        out.push_back(link(x + 1, y, CountCracks(scene, grid, x, y, true)));
      }
      if (y + 1 < height)
      {
        out.push_back(link(x, y + 1, CountCracks(scene, grid, x, y, false)));
      }
    }
  });
  return links;
}

std::vector<uint32_t>
SplitCells(const std::vector<uint32_t> & labels, const CellGrid & grid, const Work & work)
{
  const CellGrid        half{ grid.ImageWidth, grid.ImageHeight, grid.Side / 2 };
  std::vector<uint32_t> result(half.GetNumberOfCells());
  const int32_t         width = half.GetWidth();
  work.ParallelFor(static_cast<size_t>(half.GetHeight()), RowsPerPiece, [&](size_t row) {
    const uint32_t * in = labels.data() + grid.IndexOf(0, static_cast<int32_t>(row) / 2);
    uint32_t *       out = result.data() + half.IndexOf(0, static_cast<int32_t>(row));
    for (int32_t x = 0; x < width; ++x)
    {
      out[x] = in[x / 2];
    }
  });
  return result;
}

CellCompetition::CellCompetition(const Scene &           scene,
                                 const Model &           model,
                                 const Work &            work,
                                 const CellGrid &        grid,
                                 std::vector<uint32_t> & labels,
                                 std::vector<Moments> &  regions)
  : m_Scene(scene)
  , m_Model(model)
  , m_Work(work)
  , m_Grid(grid)
  , m_Width(grid.GetWidth())
  , m_Height(grid.GetHeight())
  , m_Costs(grid.Side)
  , m_Labels(labels)
  , m_Regions(regions)
  , m_Tangents(regions.size())
  , m_IsStale(regions.size(), 1)
  , m_IsActive(labels.size())
  , m_IsNext(labels.size())
  , m_RowIsActive(static_cast<size_t>(m_Height))
  , m_RowIsNext(static_cast<size_t>(m_Height))
{}

void
CellCompetition::FreezeTangents()
{
  m_Work.ParallelFor(m_Regions.size(), RegionsPerPiece, [this](size_t region) {
    if (m_IsStale[region])
    {
      m_Tangents[region] = m_Model.Linearize(m_Regions[region]);
      m_IsStale[region] = 0;
    }
  });
}

/** Changes the active cells of one colour in a row. They can be decided independently, because cells of one colour are
 * never neighbours, so that no cell reads a label that another one writes. */
void
CellCompetition::ChangeCellsOfRow(int32_t firstColumn, int32_t y, std::vector<Change> & changes)
{
  const CellLabels                   cells{ m_Grid, m_Labels.data() };
  const std::atomic<uint8_t> * const active = m_IsActive.data() + m_Grid.IndexOf(0, y);
  for (int32_t x = firstColumn; x < m_Width; x += 2)
  {
    if (!this->IsToLookAt(active[x]) || !cells.IsAtBoundary(x, y))
    {
      continue;
    }
    const Moments  sums = SumCell(m_Scene, m_Grid, x, y);
    const uint32_t from = cells.Get(x, y);
    const uint32_t to = ChooseRegion(cells, m_Tangents.data(), m_Costs, x, y, sums);
    if (to != from)
    {
      m_Labels[m_Grid.IndexOf(x, y)] = to;
      this->LookAgainAround(x, y);
      changes.push_back({ from, to, sums });
    }
  }
}

std::vector<CellCompetition::Change>
CellCompetition::ChangeCells(int32_t firstColumn, int32_t firstRow)
{
  const auto rows = static_cast<size_t>((m_Height - firstRow + 1) / 2);
  return m_Work.Collect<Change>(rows, RowsPerPiece, [&](size_t i, std::vector<Change> & changes) {
    const int32_t y = firstRow + 2 * static_cast<int32_t>(i);
    if (this->IsToLookAt(m_RowIsActive[static_cast<size_t>(y)]))
    {
      this->ChangeCellsOfRow(firstColumn, y, changes);
    }
  });
}

/** Marks a cell and its neighbours for the next sweep. */
void
CellCompetition::LookAgainAround(int32_t x, int32_t y)
{
  for (int32_t row = std::max(y - 1, 0); row <= std::min(y + 1, m_Height - 1); ++row)
  {
    m_RowIsNext[static_cast<size_t>(row)].store(1, std::memory_order_relaxed);
    for (int32_t column = std::max(x - 1, 0); column <= std::min(x + 1, m_Width - 1); ++column)
    {
      m_IsNext[m_Grid.IndexOf(column, row)].store(1, std::memory_order_relaxed);
    }
  }
}

void
CellCompetition::Transfer(const Change & change)
{
  m_Regions[change.From] -= change.Sums;
  m_Regions[change.To] += change.Sums;
  m_IsStale[change.From] = 1;
  m_IsStale[change.To] = 1;
}

/** Makes the marked cells the active ones. */
void
CellCompetition::BeginSweep()
{
  m_IsActive.swap(m_IsNext);
  m_RowIsActive.swap(m_RowIsNext);
  m_IsFirstSweep = false;
  m_Work.ParallelFor(m_RowIsNext.size(), RowsPerPiece, [this](size_t y) {
    if (m_RowIsNext[y].load(std::memory_order_relaxed) != 0)
    {
      const auto first = m_IsNext.begin() + static_cast<ptrdiff_t>(m_Grid.IndexOf(0, static_cast<int32_t>(y)));
      std::for_each(
        first, first + m_Width, [](std::atomic<uint8_t> & flag) { flag.store(0, std::memory_order_relaxed); });
      m_RowIsNext[y].store(0, std::memory_order_relaxed);
    }
  });
}

bool
CellCompetition::Run(const std::function<bool()> & goOn)
{
  bool any = true;
  for (int sweep = 0; any && sweep < MaximumNumberOfSweeps; ++sweep)
  {
    any = false;
    for (int32_t color = 0; color < 4; ++color)
    {
      if (!goOn())
      {
        return false;
      }
      this->FreezeTangents();
      // The order of the changes does not matter, because the sums are integers.
      for (const Change & change : this->ChangeCells(color % 2, color / 2))
      {
        this->Transfer(change);
        any = true;
      }
    }
    this->BeginSweep();
  }
  return true;
}
} // namespace itk::cuda::partition
