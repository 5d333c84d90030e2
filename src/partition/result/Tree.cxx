// SPDX-License-Identifier: Apache-2.0
#include "partition/result/Result.h"

#include "partition/map/MapData.h"

#include <algorithm>
#include <functional>
#include <queue>
#include <tuple>
#include <utility>

// Makes the merge tree of a finished partition: the merges of neighbours in the order in which each changes the
// description least. MergeTreeCut.cxx applies the first of them to get fewer regions.

namespace itk::cuda::partition
{
namespace
{
/** Regions with more neighbours do not recompute all their changes after each merge. */
constexpr size_t ManyNeighbors = 256;

/** A pair of neighbouring groups, the cost of their boundary, and the change of the description by their merge. */
struct Link
{
  uint32_t Groups[2]; // None if the link was removed
  uint32_t Places[2]; // positions in the lists of the two groups
  double   Cost;
  double   Change; // up to date if both groups have few neighbours

  bool
  IsOf(uint32_t group) const
  {
    return Groups[0] == group || Groups[1] == group;
  }
  uint32_t
  GetSide(uint32_t group) const
  {
    return Groups[0] == group ? 0 : 1;
  }
  uint32_t
  GetOther(uint32_t group) const
  {
    return Groups[1 - this->GetSide(group)];
  }
};

/** A region, or several regions that merged. */
struct Group
{
  Moments               Sums;
  double                Description;
  uint32_t              Number;  // current number of the region
  bool                  HadMany; // whether it ever had many neighbours
  std::vector<uint32_t> Links;   // to its neighbours, in any order
};

/** A proposed merge, with its values at the time of the proposal. */
struct Candidate
{
  CudaPartitionMerge Merge;
  uint32_t           Link;
  uint32_t           Group; // the group that proposed the merge

  /** Returns the priority; merges of equal changes are ordered by their numbers. */
  auto
  GetKey() const
  {
    return std::make_tuple(Merge.Change, Merge.First, Merge.Second, Group);
  }
  bool
  operator>(const Candidate & other) const
  {
    return this->GetKey() > other.GetKey();
  }
};

/** Builds the merge tree with groups of merged regions. When two groups merge, the one with more neighbours is kept and
 * gets the smaller of the two numbers, because the links of the other one must be moved. Each link moves at most as
 * often as the logarithm of the number of regions.
 *
 * The best pair overall is also the best pair of both its groups, so that each group proposes only its best pair to
 * the priority queue. A group proposes again when it has merged. A proposal is out of date if one of its groups has
 * merged since. When such a proposal reaches the top of the queue, its group makes a new one; until then, its other
 * pairs need no proposal, because they are no better than the old one. A group with many neighbours proposes all its
 * pairs instead, and its neighbours propose none of them, because evaluating all pairs after each merge would take too
 * long.
 */
class MergeTree
{
public:
  MergeTree(const DescriptionModel &      model,
            const std::vector<Moments> &  regions,
            const std::vector<Boundary> & boundaries)
    : m_Model(model)
  {
    m_Groups.reserve(regions.size());
    for (uint32_t i = 0; i < regions.size(); ++i)
    {
      m_Groups.push_back({ regions[i], i > 0 ? model.Describe(regions[i]) : 0.0, i, false, {} });
    }
    m_Links.reserve(boundaries.size());
    for (const Boundary & boundary : boundaries)
    {
      this->AddBoundary(boundary);
    }
    for (uint32_t group = 1; group < m_Groups.size(); ++group)
    {
      m_Groups[group].HadMany = m_Groups[group].Links.size() > ManyNeighbors;
    }
    for (Link & link : m_Links)
    {
      if (this->KeepsChange(link))
      {
        link.Change = this->Weigh(link);
      }
    }
    for (uint32_t group = 1; group < m_Groups.size(); ++group)
    {
      m_Groups[group].HadMany ? this->ProposeAll(group, m_Groups[group].Links) : this->ProposeBest(group);
    }
  }

  std::vector<CudaPartitionMerge>
  Make()
  {
    std::vector<CudaPartitionMerge> merges;
    while (!m_Candidates.empty())
    {
      const Candidate candidate = m_Candidates.top();
      m_Candidates.pop();
      if (this->IsUpToDate(candidate))
      {
        merges.push_back(candidate.Merge);
        this->Apply(candidate);
      }
      else if (!m_Groups[candidate.Group].HadMany)
      {
        this->ProposeBest(candidate.Group);
      }
      else if (m_Links[candidate.Link].IsOf(candidate.Group))
      {
        this->Propose(candidate.Group, candidate.Link, this->Weigh(m_Links[candidate.Link]));
      }
    }
    return merges;
  }

private:
  const DescriptionModel &                                               m_Model;
  std::vector<Group>                                                     m_Groups;
  std::vector<Link>                                                      m_Links;
  std::priority_queue<Candidate, std::vector<Candidate>, std::greater<>> m_Candidates; // the smallest key first

  /** Returns the link of two groups, or None. Searches the shorter of their two lists. */
  uint32_t
  FindLink(uint32_t group, uint32_t other) const
  {
    if (m_Groups[group].Links.size() > m_Groups[other].Links.size())
    {
      std::swap(group, other);
    }
    for (const uint32_t i : m_Groups[group].Links)
    {
      if (m_Links[i].GetOther(group) == other)
      {
        return i;
      }
    }
    return None;
  }
  void
  AddBoundary(const Boundary & boundary)
  {
    const uint32_t known = this->FindLink(boundary.First, boundary.Second);
    if (known != None)
    {
      m_Links[known].Cost += boundary.Cost;
      return;
    }
    m_Links.push_back({ { boundary.First, boundary.Second }, {}, boundary.Cost, 0.0 });
    this->Append(static_cast<uint32_t>(m_Links.size() - 1), 0);
    this->Append(static_cast<uint32_t>(m_Links.size() - 1), 1);
  }
  /** Appends link i to the list of one of its groups. */
  void
  Append(uint32_t i, uint32_t side)
  {
    std::vector<uint32_t> & list = m_Groups[m_Links[i].Groups[side]].Links;
    m_Links[i].Places[side] = static_cast<uint32_t>(list.size());
    list.push_back(i);
  }
  /** Removes a link from a group's list. */
  void
  TakeOut(uint32_t i, uint32_t group)
  {
    std::vector<uint32_t> & list = m_Groups[group].Links;
    const uint32_t          place = m_Links[i].Places[m_Links[i].GetSide(group)];
    const uint32_t          last = list.back();
    list[place] = last;
    m_Links[last].Places[m_Links[last].GetSide(group)] = place;
    list.pop_back();
  }

  /** Marks a link as removed. It must not be in any list. */
  void
  Remove(uint32_t i)
  {
    m_Links[i].Groups[0] = None;
    m_Links[i].Groups[1] = None;
  }

  std::pair<uint32_t, uint32_t>
  GetNumbers(const Link & link) const
  {
    return std::minmax(m_Groups[link.Groups[0]].Number, m_Groups[link.Groups[1]].Number);
  }
  bool
  KeepsChange(const Link & link) const
  {
    return !m_Groups[link.Groups[0]].HadMany && !m_Groups[link.Groups[1]].HadMany;
  }
  /** Returns whether the proposal still agrees with its two groups. */
  bool
  IsUpToDate(const Candidate & candidate) const
  {
    const Link & link = m_Links[candidate.Link];
    if (!link.IsOf(candidate.Group))
    {
      return false;
    }
    const auto [first, second] = this->GetNumbers(link);
    return candidate.Merge.First == first && candidate.Merge.Second == second &&
           candidate.Merge.Change == (this->KeepsChange(link) ? link.Change : this->Weigh(link));
  }

  /** Returns the change by a merge. The terms are added in the order of the numbers, so that the rounding is
   * reproducible. */
  double
  Weigh(const Link & link) const
  {
    const bool     isInOrder = m_Groups[link.Groups[0]].Number < m_Groups[link.Groups[1]].Number;
    const uint32_t u = link.Groups[isInOrder ? 0 : 1];
    const uint32_t v = link.Groups[isInOrder ? 1 : 0];
    return m_Model.Describe(m_Groups[u].Sums + m_Groups[v].Sums) - m_Groups[u].Description - m_Groups[v].Description -
           link.Cost;
  }
  void
  Propose(uint32_t group, uint32_t i, double change)
  {
    const auto [first, second] = this->GetNumbers(m_Links[i]);
    m_Candidates.push({ { first, second, change }, i, group });
  }
  /** Proposes the group's best pair with a group of few neighbours, if there is one. A group that was merged into
   * another has no links. */
  void
  ProposeBest(uint32_t group)
  {
    uint32_t best = None;
    for (const uint32_t i : m_Groups[group].Links)
    {
      if (!m_Groups[m_Links[i].GetOther(group)].HadMany && (best == None || this->ComesBefore(i, best, group)))
      {
        best = i;
      }
    }
    if (best != None)
    {
      this->Propose(group, best, m_Links[best].Change);
    }
  }
  /** Compares two links of a group. */
  bool
  ComesBefore(uint32_t i, uint32_t j, uint32_t group) const
  {
    const Link & a = m_Links[i];
    const Link & b = m_Links[j];
    return a.Change != b.Change ? a.Change < b.Change
                                : m_Groups[a.GetOther(group)].Number < m_Groups[b.GetOther(group)].Number;
  }
  /** Proposes pairs of a group with many neighbours. */
  void
  ProposeAll(uint32_t group, const std::vector<uint32_t> & which)
  {
    for (const uint32_t i : which)
    {
      this->Propose(group, i, this->Weigh(m_Links[i]));
    }
  }

  void
  Apply(const Candidate & candidate)
  {
    const uint32_t pair = candidate.Link;
    const uint32_t u = candidate.Group;
    const uint32_t v = m_Links[pair].GetOther(u);
    const bool     staysU = m_Groups[u].Links.size() >= m_Groups[v].Links.size();
    const uint32_t kept = staysU ? u : v;
    const uint32_t gone = staysU ? v : u;
    m_Groups[kept].Sums = m_Groups[u].Sums + m_Groups[v].Sums;
    m_Groups[kept].Description = m_Model.Describe(m_Groups[kept].Sums);
    m_Groups[kept].Number = std::min(m_Groups[u].Number, m_Groups[v].Number);
    this->TakeOut(pair, kept);
    this->TakeOut(pair, gone);
    this->Remove(pair);
    const std::vector<uint32_t> moved = this->MoveLinks(gone, kept);

    const bool hadMany = m_Groups[kept].HadMany;
    m_Groups[kept].HadMany = m_Groups[u].HadMany || m_Groups[v].HadMany || m_Groups[kept].Links.size() > ManyNeighbors;
    if (m_Groups[kept].HadMany)
    {
      // Earlier proposals are re-evaluated when they reach the top of the queue.
      this->ProposeAll(kept, hadMany ? moved : m_Groups[kept].Links);
      return;
    }
    for (const uint32_t i : m_Groups[kept].Links)
    {
      Link &         link = m_Links[i];
      const uint32_t neighbor = link.GetOther(kept);
      link.Change = this->Weigh(link);
      if (m_Groups[neighbor].HadMany)
      {
        this->Propose(neighbor, i, link.Change);
      }
    }
    this->ProposeBest(kept);
  }
  /** Moves the links of `gone` to `kept`. Returns the links to the former neighbours of `gone`. */
  std::vector<uint32_t>
  MoveLinks(uint32_t gone, uint32_t kept)
  {
    std::vector<uint32_t> moved;
    std::swap(moved, m_Groups[gone].Links);
    for (uint32_t & i : moved)
    {
      const uint32_t neighbor = m_Links[i].GetOther(gone);
      const uint32_t known = this->FindLink(neighbor, kept);
      if (known != None)
      {
        m_Links[known].Cost += m_Links[i].Cost;
        this->TakeOut(i, neighbor);
        this->Remove(i);
        i = known;
      }
      else
      {
        const uint32_t side = m_Links[i].GetSide(gone);
        m_Links[i].Groups[side] = kept;
        this->Append(i, side);
      }
    }
    return moved;
  }
};
} // namespace

std::vector<CudaPartitionMerge>
MakeMergeTree(const DescriptionModel &      model,
              const std::vector<Moments> &  regions,
              const std::vector<Boundary> & boundaries)
{
  return MergeTree(model, regions, boundaries).Make();
}
} // namespace itk::cuda::partition
