// SPDX-License-Identifier: Apache-2.0
#include "itkCudaPartitionGraph.h"

#include <algorithm>
#include <utility>

namespace itk::cuda::partition
{
namespace
{
// Passes that a thread takes at a time: enough to be worth waking a thread.
constexpr size_t RegionsPerPiece = 256;

/** The root of a tree of parents, each smaller than its child; shortens the way to it. */
uint32_t
FindRoot(std::vector<uint32_t> & parents, uint32_t region)
{
  while (parents[region] != region)
  {
    parents[region] = parents[parents[region]];
    region = parents[region];
  }
  return region;
}

void
Unite(std::vector<uint32_t> & parents, uint32_t x, uint32_t y)
{
  const uint32_t u = FindRoot(parents, x);
  const uint32_t v = FindRoot(parents, y);
  parents[std::max(u, v)] = std::min(u, v);
}
} // namespace

void
CombineLinks(RegionLinks & links)
{
  const auto before = [](const RegionLink & x, const RegionLink & y) { return x.Region < y.Region; };
  if (!std::is_sorted(links.begin(), links.end(), before))
  {
    std::sort(links.begin(), links.end(), before);
  }
  size_t number = 0;
  for (const RegionLink & link : links)
  {
    if (number > 0 && links[number - 1].Region == link.Region)
    {
      links[number - 1].Cracks = AddCracks(links[number - 1].Cracks, link.Cracks);
    }
    else
    {
      links[number++] = link;
    }
  }
  links.resize(number);
}

RegionGraph::RegionGraph(const Model &                model,
                         const Work &                 work,
                         std::vector<Moments>         sums,
                         std::vector<RegionLinks>     links,
                         const std::vector<uint8_t> & isOfOneValue)
  : m_Model(model)
  , m_Work(work)
  , m_Sums(std::move(sums))
  , m_Links(std::move(links))
  , m_Descriptions(m_Sums.size())
  , m_Parents(m_Sums.size())
  , m_Choices(m_Sums.size(), None)
  , m_States(m_Sums.size(), State::Same)
  , m_IsStale(m_Sums.size())
  , m_NumberOfRegions(m_Sums.size())
{
  for (size_t i = 0; i < m_Parents.size(); ++i)
  {
    m_Parents[i] = static_cast<uint32_t>(i);
  }
  this->UniteRegionsOfOneValue(isOfOneValue);
  this->AbsorbRegionsWithoutPixels();
  this->Begin();
}

/** Makes one of each two of the regions that are linked and belong together. */
template <typename TPredicate>
void
RegionGraph::UniteNeighbors(const std::vector<uint32_t> & regions, const TPredicate & belongTogether)
{
  for (const uint32_t region : regions)
  {
    for (const RegionLink & link : m_Links[region])
    {
      if (link.Region < region && belongTogether(region, link.Region))
      {
        Unite(m_Parents, region, link.Region);
      }
    }
  }
}

void
RegionGraph::UniteRegionsOfOneValue(const std::vector<uint8_t> & isOfOneValue)
{
  std::vector<uint32_t> regions;
  for (uint32_t region = 0; region < isOfOneValue.size(); ++region)
  {
    if (isOfOneValue[region] != 0 && m_Sums[region].Count > 0)
    {
      regions.push_back(region);
    }
  }
  if (regions.empty())
  {
    return;
  }
  const auto value = [this](uint32_t region) {
    return m_Sums[region].Sum / static_cast<uint64_t>(m_Sums[region].Count);
  };
  this->UniteNeighbors(regions, [&](uint32_t x, uint32_t y) {
    return isOfOneValue[y] != 0 && m_Sums[y].Count > 0 && value(x) == value(y);
  });
  this->Contract();
}

void
RegionGraph::AbsorbRegionsWithoutPixels()
{
  const auto            isEmpty = [this](uint32_t region) { return m_Sums[region].Count == 0; };
  std::vector<uint32_t> empty;
  for (uint32_t region = 0; region < m_Sums.size(); ++region)
  {
    if (m_Parents[region] == region && isEmpty(region))
    {
      empty.push_back(region);
    }
  }
  if (empty.empty())
  {
    return;
  }
  this->UniteNeighbors(empty, [&](uint32_t, uint32_t neighbor) { return isEmpty(neighbor); });
  // by the root of regions without pixels that touch each other
  std::vector<uint32_t> smallest(m_Sums.size(), None);
  for (const uint32_t region : empty)
  {
    uint32_t & neighbor = smallest[FindRoot(m_Parents, region)];
    for (const RegionLink & link : m_Links[region])
    {
      neighbor = isEmpty(link.Region) ? neighbor : std::min(neighbor, link.Region);
    }
  }
  for (const uint32_t region : empty)
  {
    if (smallest[region] != None)
    {
      Unite(m_Parents, region, smallest[region]);
    }
  }
  this->Contract();
}

/** Moves the sums and links of regions that became part of others to these. */
void
RegionGraph::Contract()
{
  m_NumberOfRegions = 0;
  for (uint32_t region = 0; region < m_Sums.size(); ++region)
  {
    const uint32_t root = FindRoot(m_Parents, region);
    m_NumberOfRegions += root == region ? 1 : 0;
    if (root != region)
    {
      m_Sums[root] += m_Sums[region];
      m_Sums[region] = {};
      m_Links[root].insert(m_Links[root].end(), m_Links[region].begin(), m_Links[region].end());
      RegionLinks().swap(m_Links[region]);
    }
  }
  for (uint32_t region = 0; region < m_Sums.size(); ++region)
  {
    RegionLinks & links = m_Links[region];
    for (RegionLink & link : links)
    {
      link.Region = FindRoot(m_Parents, link.Region);
    }
    links.erase(
      std::remove_if(links.begin(), links.end(), [region](const RegionLink & link) { return link.Region == region; }),
      links.end());
    CombineLinks(links);
  }
}

void
RegionGraph::Begin()
{
  for (uint32_t region = 0; region < m_Sums.size(); ++region)
  {
    if (m_Parents[region] == region)
    {
      m_Stale.push_back(region);
      m_IsStale[region].store(1, std::memory_order_relaxed);
    }
  }
  m_Work.For(m_Stale.size(), RegionsPerPiece, [this](size_t i) {
    m_Descriptions[m_Stale[i]] = m_Model.Describe(m_Sums[m_Stale[i]]);
  });
  m_Work.For(m_Stale.size(), RegionsPerPiece, [this](size_t i) {
    for (RegionLink & link : m_Links[m_Stale[i]])
    {
      link.Change = this->Change(m_Stale[i], link);
    }
    m_Choices[m_Stale[i]] = this->Choose(m_Stale[i]);
  });
}

double
RegionGraph::Change(uint32_t region, const RegionLink & link) const
{
  const uint32_t u = std::min(region, link.Region);
  const uint32_t v = std::max(region, link.Region);
  return ChangeByMerge(m_Model, m_Sums[u], m_Sums[v], m_Descriptions[u], m_Descriptions[v], link.Cracks);
}

uint32_t
RegionGraph::Choose(uint32_t region) const
{
  // Links are in the order of their regions. Of equal changes the first one is that of the smallest pair.
  uint32_t choice = None;
  double   best = 0.0;
  for (const RegionLink & link : m_Links[region])
  {
    if (link.Change < best)
    {
      best = link.Change;
      choice = link.Region;
    }
  }
  return choice;
}

std::vector<RegionGraph::Pair>
RegionGraph::FindPairs() const
{
  return m_Work.Collect<Pair>(m_Stale.size(), RegionsPerPiece, [this](size_t i, std::vector<Pair> & pairs) {
    const uint32_t region = m_Stale[i];
    const uint32_t choice = m_Choices[region];
    if (choice != None && m_Choices[choice] == region &&
        (region < choice || m_IsStale[choice].load(std::memory_order_relaxed) == 0))
    {
      pairs.push_back({ std::min(region, choice), std::max(region, choice) });
    }
  });
}

void
RegionGraph::MarkNeighbors(uint32_t region, std::vector<uint32_t> & marked)
{
  for (const RegionLink & link : m_Links[region])
  {
    const uint32_t neighbor = m_States[link.Region] == State::Gone ? m_Parents[link.Region] : link.Region;
    if (m_IsStale[neighbor].load(std::memory_order_relaxed) == 0 &&
        m_IsStale[neighbor].exchange(1, std::memory_order_relaxed) == 0)
    {
      marked.push_back(neighbor);
    }
  }
}

/** Links of a region that merged: its own, and those of the other one. */
void
RegionGraph::JoinLinks(uint32_t region)
{
  RegionLinks &       links = m_Links[region];
  const RegionLinks & merged = m_Links[m_Choices[region]];
  links.insert(links.end(), merged.begin(), merged.end());
  size_t number = 0;
  for (RegionLink link : links)
  {
    link.Region = m_Parents[link.Region];
    if (link.Region != region)
    {
      links[number++] = link;
    }
  }
  links.resize(number);
  CombineLinks(links);
}

/** Links to regions that are part of others now lead to these. Most links of a region with many neighbours stay as they
 * are, and in their order. */
void
RegionGraph::MoveLinks(RegionLinks & links) const
{
  RegionLinks moved;
  size_t      number = 0;
  for (const RegionLink & link : links)
  {
    if (m_States[link.Region] == State::Gone)
    {
      moved.push_back({ m_Parents[link.Region], link.Cracks });
    }
    else
    {
      links[number++] = link;
    }
  }
  links.resize(number);
  for (const RegionLink & link : moved)
  {
    const auto place = std::lower_bound(
      links.begin(), links.end(), link, [](const RegionLink & x, const RegionLink & y) { return x.Region < y.Region; });
    if (place != links.end() && place->Region == link.Region)
    {
      place->Cracks = AddCracks(place->Cracks, link.Cracks);
    }
    else
    {
      links.insert(place, link);
    }
  }
}

void
RegionGraph::UpdateLinks(uint32_t region)
{
  RegionLinks & links = m_Links[region];
  const bool    hasMerged = m_States[region] == State::Merged;
  if (hasMerged)
  {
    this->JoinLinks(region);
  }
  else if (std::any_of(links.begin(), links.end(), [this](const RegionLink & link) {
             return m_States[link.Region] == State::Gone;
           }))
  {
    this->MoveLinks(links);
  }
  for (RegionLink & link : links)
  {
    if (hasMerged || m_States[link.Region] == State::Merged)
    {
      link.Change = this->Change(region, link);
    }
  }
  m_Choices[region] = this->Choose(region); // while the links are at hand
}

size_t
RegionGraph::MergeRound()
{
  const std::vector<Pair> pairs = this->FindPairs();
  for (const uint32_t region : m_Stale)
  {
    m_IsStale[region].store(0, std::memory_order_relaxed);
  }
  m_Work.For(pairs.size(), RegionsPerPiece, [&](size_t i) {
    const Pair & pair = pairs[i];
    m_Sums[pair.Kept] += m_Sums[pair.Merged];
    m_Descriptions[pair.Kept] = m_Model.Describe(m_Sums[pair.Kept]);
    m_Parents[pair.Merged] = pair.Kept;
    m_States[pair.Kept] = State::Merged;
    m_States[pair.Merged] = State::Gone;
  });
  m_NumberOfRegions -= pairs.size();

  // A region that merged is among them: it was its partner's neighbour.
  m_Stale = m_Work.Collect<uint32_t>(pairs.size(), RegionsPerPiece, [&](size_t i, std::vector<uint32_t> & marked) {
    this->MarkNeighbors(pairs[i].Kept, marked);
    this->MarkNeighbors(pairs[i].Merged, marked);
  });
  m_Work.For(m_Stale.size(), RegionsPerPiece / 8, [this](size_t i) { this->UpdateLinks(m_Stale[i]); });
  m_Work.For(pairs.size(), RegionsPerPiece, [&](size_t i) {
    RegionLinks().swap(m_Links[pairs[i].Merged]);
    m_States[pairs[i].Kept] = State::Same;
  });
  return pairs.size();
}

std::vector<uint32_t>
RegionGraph::NumberRegions() const
{
  std::vector<uint32_t> numbers(m_Parents.size());
  uint32_t              number = 0;
  for (size_t i = 0; i < m_Parents.size(); ++i)
  {
    numbers[i] = m_Parents[i] == i ? ++number : numbers[m_Parents[i]];
  }
  return numbers;
}

std::vector<Moments>
RegionGraph::GetSums() const
{
  std::vector<Moments> sums(1);
  for (size_t i = 0; i < m_Parents.size(); ++i)
  {
    if (m_Parents[i] == i)
    {
      sums.push_back(m_Sums[i]);
    }
  }
  return sums;
}
} // namespace itk::cuda::partition
