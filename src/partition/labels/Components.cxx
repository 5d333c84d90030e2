// SPDX-License-Identifier: Apache-2.0
#include "partition/labels/Components.h"

#include "itkMacro.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

// Finds the connected components of a label map, links neighbouring regions, and renumbers regions, on the host.
// Threads work on strips of rows, whose height does not depend on the number of threads. Components are numbered by
// their first pixels.

namespace itk::cuda::partition
{
namespace
{
constexpr int32_t RowsPerStrip = 64;
constexpr size_t  RowsPerPiece = 16;
constexpr size_t  LargestNumberOfRegions = std::numeric_limits<uint32_t>::max() - 1;

/** A run: consecutive pixels of one label in a row, up to the next run. */
struct Run
{
  int32_t  First;
  uint32_t Label;
  size_t   Component;
};

/** Union-find over elements numbered from 0. The root of a set is its smallest element. */
class DisjointSets
{
public:
  explicit DisjointSets(size_t number)
    : m_Parents(number)
  {
    std::iota(m_Parents.begin(), m_Parents.end(), size_t{ 0 });
  }

  size_t
  Find(size_t i)
  {
    while (m_Parents[i] != i)
    {
      m_Parents[i] = m_Parents[m_Parents[i]];
      i = m_Parents[i];
    }
    return i;
  }
  void
  Unite(size_t i, size_t j)
  {
    const size_t u = this->Find(i);
    const size_t v = this->Find(j);
    m_Parents[std::max(u, v)] = std::min(u, v);
  }

  /** Returns for each element the number of its set, in the order of the sets' smallest elements, and the number of
   * sets. */
  std::pair<std::vector<size_t>, size_t>
  NumberSets()
  {
    std::vector<size_t> numbers(m_Parents.size());
    size_t              sets = 0;
    for (size_t i = 0; i < m_Parents.size(); ++i)
    {
      numbers[i] = m_Parents[i] == i ? sets++ : numbers[m_Parents[i]];
    }
    return { std::move(numbers), sets };
  }

private:
  std::vector<size_t> m_Parents;
};

std::vector<Run>
FindRuns(const uint32_t * labels, int32_t width)
{
  std::vector<Run> runs;
  for (int32_t x = 0; x < width; ++x)
  {
    if (x == 0 || labels[x] != labels[x - 1])
    {
      runs.push_back({ x, labels[x], 0 });
    }
  }
  return runs;
}

/** Calls function(run, other, first, end) for all pairs of runs in two rows that share the columns first to end - 1. */
template <typename TFunction>
void
ForTouchingRuns(const std::vector<Run> & row, const std::vector<Run> & other, int32_t width, const TFunction & function)
{
  const auto end = [width](const std::vector<Run> & runs, size_t i) {
    return i + 1 < runs.size() ? runs[i + 1].First : width;
  };
  size_t i = 0;
  size_t j = 0;
  while (i < row.size() && j < other.size())
  {
    const int32_t first = std::max(row[i].First, other[j].First);
    const int32_t endOfRow = end(row, i);
    const int32_t endOfOther = end(other, j);
    function(row[i], other[j], first, std::min(endOfRow, endOfOther));
    i += endOfRow <= endOfOther ? 1 : 0;
    j += endOfOther <= endOfRow ? 1 : 0;
  }
}

/** Finds the connected components of an image by runs. Each strip of rows first gets its own components, numbered from
 * 0, which are then joined across the strips. */
class StripComponents
{
public:
  StripComponents(const Scene & scene, const Work & work)
    : m_Scene(scene)
    , m_Work(work)
    , m_Width(scene.Pixels.Width)
    , m_Height(scene.Pixels.Height)
    , m_Rows(static_cast<size_t>(m_Height))
    , m_Strips(static_cast<size_t>((m_Height - 1) / RowsPerStrip + 1))
  {}

  LabelMap
  Find(const std::function<const uint32_t *(int32_t)> & getRow, std::vector<uint32_t> && room)
  {
    m_Work.ParallelFor(m_Strips.size(), 1, [&](size_t strip) { this->FindInStrip(strip, getRow); });
    size_t number = 0;
    for (Strip & strip : m_Strips)
    {
      strip.FirstComponent = number;
      number += strip.Sums.size();
    }
    DisjointSets sets(number);
    for (size_t strip = 1; strip < m_Strips.size(); ++strip)
    {
      this->JoinStrips(strip, sets);
    }
    return this->MakeMap(sets, std::move(room)); // `room` may be overwritten, because all rows have been read
  }

private:
  struct Strip
  {
    size_t               FirstComponent{ 0 };
    std::vector<Moments> Sums; // by component
  };

  const Scene &                 m_Scene;
  const Work &                  m_Work;
  const int32_t                 m_Width;
  const int32_t                 m_Height;
  std::vector<std::vector<Run>> m_Rows;
  std::vector<Strip>            m_Strips;

  void
  FindInStrip(size_t strip, const std::function<const uint32_t *(int32_t)> & getRow)
  {
    const int32_t first = static_cast<int32_t>(strip) * RowsPerStrip;
    const int32_t end = std::min(first + RowsPerStrip, m_Height);
    size_t        runs = 0;
    for (int32_t y = first; y < end; ++y)
    {
      std::vector<Run> & row = m_Rows[static_cast<size_t>(y)];
      row = FindRuns(getRow(y), m_Width);
      for (Run & run : row)
      {
        run.Component = runs++;
      }
    }
    DisjointSets sets(runs);
    for (int32_t y = first + 1; y < end; ++y)
    {
      this->JoinRows(y, 0, 0, sets);
    }
    const auto [numbers, number] = sets.NumberSets();
    m_Strips[strip].Sums.resize(number);
    for (int32_t y = first; y < end; ++y)
    {
      this->SumRuns(y, numbers, m_Strips[strip].Sums);
    }
  }

  /** Unites the components of equal labels in rows y - 1 and y. The numbers of the two rows' components begin at the
   * offsets. */
  void
  JoinRows(int32_t y, size_t offsetOfUpper, size_t offsetOfLower, DisjointSets & sets) const
  {
    ForTouchingRuns(m_Rows[static_cast<size_t>(y) - 1],
                    m_Rows[static_cast<size_t>(y)],
                    m_Width,
                    [&](const Run & upper, const Run & lower, int32_t, int32_t) {
                      if (upper.Label == lower.Label)
                      {
                        sets.Unite(offsetOfUpper + upper.Component, offsetOfLower + lower.Component);
                      }
                    });
  }

  void
  SumRuns(int32_t y, const std::vector<size_t> & numbers, std::vector<Moments> & sums)
  {
    std::vector<Run> & row = m_Rows[static_cast<size_t>(y)];
    Moments            before;
    for (size_t i = 0; i < row.size(); ++i)
    {
      const Moments prefix = m_Scene.Pixels.RowPrefix(y, i + 1 < row.size() ? row[i + 1].First : m_Width);
      row[i].Component = numbers[row[i].Component];
      sums[row[i].Component] += prefix - before;
      before = prefix;
    }
  }

  void
  JoinStrips(size_t strip, DisjointSets & sets) const
  {
    this->JoinRows(static_cast<int32_t>(strip) * RowsPerStrip,
                   m_Strips[strip - 1].FirstComponent,
                   m_Strips[strip].FirstComponent,
                   sets);
  }

  LabelMap
  MakeMap(DisjointSets & sets, std::vector<uint32_t> && room)
  {
    const auto [numbers, number] = sets.NumberSets();
    CheckNumberOfRegions(number);
    LabelMap map;
    map.Width = m_Width;
    map.Height = m_Height;
    map.Regions.resize(number + 1);
    for (const Strip & strip : m_Strips)
    {
      for (size_t i = 0; i < strip.Sums.size(); ++i)
      {
        map.Regions[numbers[strip.FirstComponent + i] + 1] += strip.Sums[i];
      }
    }
    map.Labels = std::move(room);
    map.Labels.resize(static_cast<size_t>(m_Width) * static_cast<size_t>(m_Height));
    const std::vector<size_t> & numberOf = numbers;
    m_Work.ParallelFor(m_Rows.size(), RowsPerPiece, [&](size_t y) {
      const std::vector<Run> & row = m_Rows[y];
      const size_t             offset = m_Strips[y / RowsPerStrip].FirstComponent;
      uint32_t *               out = map.Labels.data() + y * static_cast<size_t>(m_Width);
      for (size_t i = 0; i < row.size(); ++i)
      {
        const int32_t end = i + 1 < row.size() ? row[i + 1].First : m_Width;
        std::fill(out + row[i].First, out + end, static_cast<uint32_t>(numberOf[offset + row[i].Component] + 1));
      }
    });
    return map;
  }
};

/** The crack count of one pair of regions. */
struct Crack
{
  uint32_t   Region;
  RegionLink Link;
};

/** Counts the cracks between regions in a strip of rows: within each row y, and between rows y - 1 and y. Each pair is
 * listed once, with u < v. */
class CrackCounter
{
public:
  CrackCounter(const Scene & scene, const LabelMap & map)
    : m_Scene(scene)
    , m_Map(map)
  {}

  void
  Count(int32_t firstRow, int32_t endRow, std::vector<Crack> & cracks) const
  {
    std::vector<Crack> all;
    for (int32_t y = firstRow; y < endRow; ++y)
    {
      const uint32_t * row = m_Map.Labels.data() + static_cast<size_t>(y) * static_cast<size_t>(m_Map.Width);
      for (int32_t x = 0; x < m_Map.Width; ++x)
      {
        if (x > 0 && row[x] != row[x - 1])
        {
          this->Add(row[x - 1], row[x], m_Scene.IsValid(x - 1, y) && m_Scene.IsValid(x, y), all);
        }
        if (y > 0 && row[x] != row[x - m_Map.Width])
        {
          this->Add(row[x - m_Map.Width], row[x], m_Scene.IsValid(x, y - 1) && m_Scene.IsValid(x, y), all);
        }
      }
    }
    std::sort(all.begin(), all.end(), [](const Crack & x, const Crack & y) {
      return x.Region != y.Region ? x.Region < y.Region : x.Link.Region < y.Link.Region;
    });
    for (const Crack & crack : all)
    {
      if (!cracks.empty() && cracks.back().Region == crack.Region && cracks.back().Link.Region == crack.Link.Region)
      {
        cracks.back().Link.Cracks = AddCracks(cracks.back().Link.Cracks, crack.Link.Cracks);
      }
      else
      {
        cracks.push_back(crack);
      }
    }
  }

private:
  const Scene &    m_Scene;
  const LabelMap & m_Map;

  static void
  Add(uint32_t x, uint32_t y, bool bothValid, std::vector<Crack> & cracks)
  {
    // Regions of a map are numbered from 1, vertices of the graph from 0.
    const uint32_t number = bothValid ? 1 : 0;
    if (!cracks.empty() && cracks.back().Region == std::min(x, y) - 1 &&
        cracks.back().Link.Region == std::max(x, y) - 1)
    {
      cracks.back().Link.Cracks = AddCracks(cracks.back().Link.Cracks, number);
      return;
    }
    cracks.push_back({ std::min(x, y) - 1, { std::max(x, y) - 1, number } });
  }
};
} // namespace

void
CheckNumberOfRegions(size_t number)
{
  if (number > LargestNumberOfRegions)
  {
    itkGenericExceptionMacro("The labels have " << number << " connected regions; there can be at most "
                                                << LargestNumberOfRegions << " of them");
  }
}

LabelMap
FindComponents(const Scene &                                    scene,
               const Work &                                     work,
               const std::function<const uint32_t *(int32_t)> & getRow,
               std::vector<uint32_t>                            room)
{
  return StripComponents(scene, work).Find(getRow, std::move(room));
}

std::vector<RegionLinks>
LinkRegions(const Scene & scene, const LabelMap & map, const Work & work)
{
  const auto               strips = static_cast<size_t>((map.Height - 1) / RowsPerStrip + 1);
  const CrackCounter       counter(scene, map);
  const std::vector<Crack> cracks = work.Collect<Crack>(strips, 1, [&](size_t strip, std::vector<Crack> & ofStrips) {
    const int32_t first = static_cast<int32_t>(strip) * RowsPerStrip;
    counter.Count(first, std::min(first + RowsPerStrip, map.Height), ofStrips);
  });
  std::vector<RegionLinks> links(map.Regions.size() - 1);
  for (const Crack & crack : cracks)
  {
    links[crack.Region].push_back(crack.Link);
    links[crack.Link.Region].push_back({ crack.Region, crack.Link.Cracks });
  }
  work.ParallelFor(links.size(), RowsPerPiece, [&](size_t region) { CombineLinks(links[region]); });
  return links;
}

void
RenumberRegions(LabelMap & map, const std::vector<uint32_t> & numbers, std::vector<Moments> sums, const Work & work)
{
  map.Regions = std::move(sums);
  const auto width = static_cast<size_t>(map.Width);
  work.ParallelFor(static_cast<size_t>(map.Height), RowsPerPiece, [&](size_t y) {
    uint32_t * row = map.Labels.data() + y * width;
    std::transform(row, row + width, row, [&](uint32_t label) { return numbers[label - 1]; });
  });
}
} // namespace itk::cuda::partition
