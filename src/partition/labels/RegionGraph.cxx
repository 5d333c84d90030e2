// SPDX-License-Identifier: Apache-2.0
#include "partition/labels/RegionGraph.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <numeric>
#include <utility>

// Merges regions of a label map on the host, in rounds. EdgeGraph does the same on the device.

namespace itk::cuda::partition
{
namespace
{
// Work items per thread, enough to be worth waking a thread.
constexpr size_t RegionsPerPiece = 2048;
constexpr size_t GroupsToMerge = 32; // larger, because most regions find no partner
constexpr size_t GroupsToUpdate = 4;

/** Returns the root of a union-find tree, in which each parent is smaller than its child, with path halving. */
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

bool
ComesBefore(const RegionLink & x, const RegionLink & y)
{
  return x.Region < y.Region;
}

/** Merges adjacent links to the same region by adding their cracks, from link `first` on. */
void
UniteLinks(RegionLinks & links, size_t first)
{
  size_t number = first;
  for (size_t i = first; i < links.size(); ++i)
  {
    if (number > 0 && links[number - 1].Region == links[i].Region)
    {
      links[number - 1].Cracks = AddCracks(links[number - 1].Cracks, links[i].Cracks);
    }
    else
    {
      links[number++] = links[i];
    }
  }
  links.resize(number);
}

/** Merges sorted links into other sorted links. `added` is mostly short: the links before the first insertion stay in
 * place. */
void
AddLinks(RegionLinks & links, const RegionLinks & added)
{
  size_t left = links.size();
  size_t leftToAdd = added.size();
  links.resize(left + leftToAdd);
  while (leftToAdd > 0)
  {
    const bool isAdded = left == 0 || !ComesBefore(added[leftToAdd - 1], links[left - 1]);
    links[left + leftToAdd - 1] = isAdded ? added[leftToAdd - 1] : links[left - 1];
    (isAdded ? leftToAdd : left) -= 1;
  }
  UniteLinks(links, left);
}

std::vector<double>
ComputeParameterCosts(const Model & model)
{
  constexpr int64_t   mostPixels = 16383;
  std::vector<double> prices(static_cast<size_t>(std::min(mostPixels, model.Law.NumberOfValidPixels)) + 1, 0.0);
  for (size_t i = 1; i < prices.size(); ++i)
  {
    prices[i] = model.ParameterCost(static_cast<int64_t>(i));
  }
  return prices;
}
} // namespace

void
CombineLinks(RegionLinks & links)
{
  if (!std::is_sorted(links.begin(), links.end(), ComesBefore))
  {
    std::sort(links.begin(), links.end(), ComesBefore);
  }
  UniteLinks(links, 0);
}

CachedModel::CachedModel(const Model & model)
  : m_CachedCosts(ComputeParameterCosts(model))
  , m_Law{ model, m_CachedCosts.data(), static_cast<uint32_t>(m_CachedCosts.size()) }
{}

RegionGraph::RegionGraph(const Model &                model,
                         const Work &                 work,
                         std::vector<Moments>         sums,
                         std::vector<RegionLinks>     links,
                         const std::vector<uint8_t> & isOfOneValue)
  : m_Model(model)
  , m_Work(work)
  , m_Vertices(sums.size())
  , m_Links(std::move(links))
  , m_Parents(sums.size())
  , m_LastMerges(sums.size(), 0)
  , m_NextMembers(sums.size(), None)
  , m_Choices(sums.size())
  , m_Stale(sums.size())
  , m_NextStale(sums.size())
  , m_NumberOfRegions(sums.size())
{
  std::iota(m_Parents.begin(), m_Parents.end(), 0u);
  m_Numbers = m_Parents;
  m_Work.ParallelFor(sums.size(), RegionsPerPiece, [&](size_t i) { m_Vertices[i].Sums = sums[i]; });
  this->UniteRegionsOfOneValue(isOfOneValue);
  this->AbsorbRegionsWithoutPixels();
  this->Begin();
}

/** Unites each pair of linked regions that satisfies `belongTogether`. */
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
    if (isOfOneValue[region] != 0 && m_Vertices[region].Sums.Count > 0)
    {
      regions.push_back(region);
    }
  }
  if (regions.empty())
  {
    return;
  }
  const auto value = [this](uint32_t region) {
    return m_Vertices[region].Sums.Sum / static_cast<uint64_t>(m_Vertices[region].Sums.Count);
  };
  this->UniteNeighbors(regions, [&](uint32_t x, uint32_t y) {
    return isOfOneValue[y] != 0 && m_Vertices[y].Sums.Count > 0 && value(x) == value(y);
  });
  this->Contract();
}

void
RegionGraph::AbsorbRegionsWithoutPixels()
{
  const auto            isEmpty = [this](uint32_t region) { return m_Vertices[region].Sums.Count == 0; };
  std::vector<uint32_t> empty;
  for (uint32_t region = 0; region < m_Vertices.size(); ++region)
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
  // for the root of each group of adjacent regions without pixels
  std::vector<uint32_t> smallest(m_Vertices.size(), None);
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

/** Moves the sums and links of united regions to their roots. */
void
RegionGraph::Contract()
{
  m_NumberOfRegions = 0;
  for (uint32_t region = 0; region < m_Vertices.size(); ++region)
  {
    const uint32_t root = FindRoot(m_Parents, region);
    m_Parents[region] = root;
    m_NumberOfRegions += root == region ? 1 : 0;
    if (root != region)
    {
      m_Vertices[root].Sums += m_Vertices[region].Sums;
      m_Vertices[region].Sums = {};
      m_Links[root].insert(m_Links[root].end(), m_Links[region].begin(), m_Links[region].end());
      RegionLinks().swap(m_Links[region]);
    }
  }
  m_Work.ParallelFor(m_Vertices.size(), RegionsPerPiece, [this](size_t region) {
    RegionLinks & links = m_Links[region];
    for (RegionLink & link : links)
    {
      link.Region = m_Parents[link.Region];
    }
    links.erase(
      std::remove_if(links.begin(), links.end(), [region](const RegionLink & link) { return link.Region == region; }),
      links.end());
    CombineLinks(links);
  });
}

void
RegionGraph::Begin()
{
  m_Work.ParallelFor(m_Vertices.size(), RegionsPerPiece, [this](size_t i) {
    const auto region = static_cast<uint32_t>(i);
    if (this->IsLeft(region))
    {
      m_Stale.Add(region);
      m_Vertices[region].Description = m_Model.Describe(m_Vertices[region].Sums);
    }
  });
  this->ForStale([this](uint32_t region) { this->Choose(region, true); });
}

/** Calls function(region) on all threads for the regions that have to choose. */
template <typename TFunction>
void
RegionGraph::ForStale(const TFunction & function) const
{
  m_Work.ParallelFor(
    m_Stale.GetNumberOfGroups(), GroupsToMerge, [&](size_t group) { m_Stale.ForEach(group, function); });
}

double
RegionGraph::Change(uint32_t region, const RegionLink & link) const
{
  const Vertex & u = m_Vertices[std::min(region, link.Region)];
  const Vertex & v = m_Vertices[std::max(region, link.Region)];
  return ChangeByMerge(m_Model, u.Sums, v.Sums, u.Description, v.Description, link.Cracks);
}

/** Computes the changes of a region's links (all of them, or only those to regions that merged) and chooses the best
 * one. */
void
RegionGraph::Choose(uint32_t region, bool allAreNew)
{
  // A separate loop, because the computation of a change takes long, and consecutive ones overlap only without a
  // dependent branch between them.
  for (RegionLink & link : m_Links[region])
  {
    if (allAreNew || this->HasMerged(link.Region))
    {
      link.Change = this->Change(region, link);
    }
  }
  // The links are sorted by region. Among equal changes, the first one belongs to the smallest pair.
  Choice best;
  for (const RegionLink & link : m_Links[region])
  {
    const float size = GetSizeOfChange(link.Change);
    if (size > best.Size)
    {
      best = { link.Region, size };
    }
  }
  m_Choices[region] = best;
}

/** Returns whether a stale region is one of a pair that chose each other. If both are stale, only the smaller one is.
 */
bool
RegionGraph::IsFirstOfPair(uint32_t region) const
{
  const uint32_t choice = m_Choices[region].Region;
  return choice != None && m_Choices[choice].Region == region && (region < choice || !m_Stale.Has(choice));
}

/** Adds the regions that join a member of a pair to the group. */
void
RegionGraph::AddJoining(uint32_t kept, uint32_t member)
{
  const Choice & ofMember = m_Choices[member];
  const int64_t  pixels = m_Vertices[member].Sums.Count;
  if (pixels < LeastRatioToJoin) // most pairs are too small to be joined
  {
    return;
  }
  for (const RegionLink & link : m_Links[member])
  {
    const uint32_t region = link.Region;
    if (region > kept && region != ofMember.Region && m_Choices[region].Region == member &&
        JoinsPair(m_Choices[region].Size, ofMember.Size, m_Vertices[region].Sums.Count, pixels))
    {
      m_NextMembers[region] = std::exchange(m_NextMembers[kept], region);
    }
  }
}

/** Merges two regions that chose each other, and the regions that join them. The links are updated later. Returns the
 * number of regions that were merged into the smaller one. */
size_t
RegionGraph::Merge(uint32_t x, uint32_t y)
{
  const uint32_t kept = std::min(x, y);
  const uint32_t gone = std::max(x, y);
  m_LastMerges[kept] = m_Round;
  m_NextMembers[kept] = gone;
  m_NextMembers[gone] = None;
  this->AddJoining(kept, x);
  this->AddJoining(kept, y);
  size_t number = 0;
  for (uint32_t region = m_NextMembers[kept]; region != None; region = m_NextMembers[region], ++number)
  {
    m_Parents[region] = kept;
    m_Vertices[kept].Sums += m_Vertices[region].Sums;
  }
  m_Vertices[kept].Description = m_Model.Describe(m_Vertices[kept].Sums);
  for (uint32_t region = kept; region != None; region = m_NextMembers[region]) // each one is a neighbour of another
                                                                               // member
  {
    for (const RegionLink & link : m_Links[region])
    {
      m_NextStale.Add(link.Region);
    }
  }
  return number;
}

/** Redirects the links to merged regions to their groups. A region that merged takes over the links of the other
 * members. Most links of a region with many neighbours stay unchanged and in order. \param moved workspace */
void
RegionGraph::MoveLinks(uint32_t region, RegionLinks & moved)
{
  RegionLinks & links = m_Links[region];
  RegionLinks   taken;
  if (this->HasMerged(region))
  {
    for (uint32_t member = m_NextMembers[region]; member != None; member = m_NextMembers[member])
    {
      RegionLinks others;
      others.swap(m_Links[member]);
      if (others.size() > links.size())
      {
        others.swap(links);
      }
      taken.insert(taken.end(), others.begin(), others.end());
    }
  }
  moved.clear();
  const auto move = [&](const RegionLink & link) {
    const uint32_t present = m_Parents[link.Region];
    if (present != region)
    {
      moved.push_back({ present, link.Cracks });
    }
  };
  std::for_each(taken.begin(), taken.end(), move);
  size_t number = 0;
  for (const RegionLink & link : links)
  {
    if (this->IsLeft(link.Region) && link.Region != region)
    {
      links[number++] = link;
    }
    else
    {
      move(link);
    }
  }
  links.resize(number);
  std::sort(moved.begin(), moved.end(), ComesBefore);
  AddLinks(links, moved);
}

/** Returns whether a region merged, or one of its neighbours was merged into another region. */
bool
RegionGraph::HasToMoveLinks(uint32_t region) const
{
  const RegionLinks & links = m_Links[region];
  return this->IsLeft(region) &&
         (this->HasMerged(region) || std::any_of(links.begin(), links.end(), [this](const RegionLink & link) {
            return !this->IsLeft(link.Region);
          }));
}

/** Updates the links and choices of the stale regions of a group. */
void
RegionGraph::UpdateGroup(size_t group)
{
  // A separate loop, so that the loads of the links of many regions overlap.
  std::array<bool, Marks::RegionsPerGroup> hasToMove;
  m_NextStale.ForEach(
    group, [&](uint32_t region) { hasToMove[region % Marks::RegionsPerGroup] = this->HasToMoveLinks(region); });
  RegionLinks moved;
  m_NextStale.ForEach(group, [&](uint32_t region) {
    if (hasToMove[region % Marks::RegionsPerGroup])
    {
      this->MoveLinks(region, moved);
    }
    if (this->IsLeft(region))
    {
      this->Choose(region, this->HasMerged(region));
    }
    else
    {
      m_Choices[region] = {};
    }
  });
}

size_t
RegionGraph::MergeRound()
{
  if (m_NumberOfRegions <= m_Vertices.size() / 2)
  {
    this->Compact();
  }
  ++m_Round;
  std::atomic<size_t> gone{ 0 };
  this->ForStale([&](uint32_t region) {
    if (this->IsFirstOfPair(region))
    {
      gone.fetch_add(this->Merge(region, m_Choices[region].Region), std::memory_order_relaxed);
    }
  });
  m_NumberOfRegions -= gone;
  m_Work.ParallelFor(m_Stale.GetNumberOfGroups(), GroupsToUpdate, [this](size_t group) {
    m_Stale.Clear(group);
    this->UpdateGroup(group);
  });
  std::swap(m_Stale, m_NextStale);
  return gone;
}

/** Numbers the remaining regions from 0, and returns for each region the number of the region that contains it. */
std::vector<uint32_t>
RegionGraph::NumberVertices() const
{
  std::vector<uint32_t> numbers(m_Parents.size());
  uint32_t              number = 0;
  for (uint32_t i = 0; i < numbers.size(); ++i)
  {
    numbers[i] = this->IsLeft(i) ? number++ : numbers[m_Parents[i]];
  }
  return numbers;
}

/** Removes the merged regions. The others keep their order. */
void
RegionGraph::Compact()
{
  const std::vector<uint32_t> numbers = this->NumberVertices();
  Marks                       stale(m_NumberOfRegions);
  for (uint32_t region = 0; region < numbers.size(); ++region)
  {
    const uint32_t number = numbers[region];
    if (this->IsLeft(region) && number < region) // move down to the place of a removed region
    {
      m_Vertices[number] = m_Vertices[region];
      m_Choices[number] = m_Choices[region];
      m_Links[number].swap(m_Links[region]);
    }
    if (this->IsLeft(region) && m_Stale.Has(region))
    {
      stale.Add(number);
    }
  }
  m_Vertices.resize(m_NumberOfRegions);
  m_Choices.resize(m_NumberOfRegions);
  m_Links.resize(m_NumberOfRegions);
  m_Parents.resize(m_NumberOfRegions);
  std::iota(m_Parents.begin(), m_Parents.end(), 0u);
  m_LastMerges.assign(m_NumberOfRegions, 0);
  m_NextMembers.assign(m_NumberOfRegions, None);
  std::swap(m_Stale, stale);
  m_NextStale = Marks(m_NumberOfRegions);
  m_Work.ParallelFor(m_NumberOfRegions, RegionsPerPiece, [&](size_t i) {
    m_Choices[i].Region = m_Choices[i].Region == None ? None : numbers[m_Choices[i].Region];
    for (RegionLink & link : m_Links[i])
    {
      link.Region = numbers[link.Region];
    }
  });
  m_Work.ParallelFor(m_Numbers.size(), RegionsPerPiece, [&](size_t i) { m_Numbers[i] = numbers[m_Numbers[i]]; });
}

std::vector<uint32_t>
RegionGraph::NumberRegions() const
{
  const std::vector<uint32_t> numbers = this->NumberVertices();
  std::vector<uint32_t>       all(m_Numbers.size());
  m_Work.ParallelFor(all.size(), RegionsPerPiece, [&](size_t i) { all[i] = numbers[m_Numbers[i]] + 1; });
  return all;
}

std::vector<Moments>
RegionGraph::GetSums() const
{
  std::vector<Moments> sums(1);
  for (uint32_t i = 0; i < m_Vertices.size(); ++i)
  {
    if (this->IsLeft(i))
    {
      sums.push_back(m_Vertices[i].Sums);
    }
  }
  return sums;
}
} // namespace itk::cuda::partition
