// SPDX-License-Identifier: Apache-2.0
#include "itkCudaPartitionTree.h"

#include <algorithm>
#include <optional>
#include <queue>
#include <tuple>
#include <utility>

namespace itk::cuda::partition
{
namespace
{
/** Regions with more neighbours do not compute all changes anew whenever they merge. */
constexpr size_t ManyNeighbors = 256;

/** A merge that could be made, by the numbers that the regions had when its change was computed. */
struct Candidate
{
  CudaPartitionMerge Merge;
  uint32_t           Group; // of regions, which proposed it
  uint32_t           Neighbor;
  uint32_t           AgeOfGroup;
  uint32_t           AgeOfNeighbor;
};

/** Whether a comes after b. */
struct ComesLater
{
  bool
  operator()(const Candidate & a, const Candidate & b) const
  {
    const auto key = [](const Candidate & c) { return std::make_tuple(c.Merge.Change, c.Merge.First, c.Merge.Second); };
    return key(a) > key(b);
  }
};

/** A neighbour of a group, and what the boundary costs. */
struct Link
{
  uint32_t Group;
  double   Cost;
};

/** Links in the order of their groups: most groups have few. */
class Links
{
public:
  auto
  begin() const
  {
    return m_Links.begin();
  }
  auto
  end() const
  {
    return m_Links.end();
  }
  size_t
  GetNumber() const
  {
    return m_Links.size();
  }
  /** nullptr if the group is no neighbour */
  const Link *
  Find(uint32_t group) const
  {
    const auto place = this->FindPlace(group);
    return place != m_Links.end() && place->Group == group ? &*place : nullptr;
  }
  void
  Add(uint32_t group, double cost)
  {
    const auto place = this->FindPlace(group);
    if (place != m_Links.end() && place->Group == group)
    {
      m_Links[static_cast<size_t>(place - m_Links.begin())].Cost += cost;
    }
    else
    {
      m_Links.insert(place, { group, cost });
    }
  }
  void
  Remove(uint32_t group)
  {
    const auto place = this->FindPlace(group);
    if (place != m_Links.end() && place->Group == group)
    {
      m_Links.erase(place);
    }
  }

private:
  std::vector<Link> m_Links;

  std::vector<Link>::const_iterator
  FindPlace(uint32_t group) const
  {
    return std::lower_bound(
      m_Links.begin(), m_Links.end(), group, [](const Link & link, uint32_t g) { return link.Group < g; });
  }
};

/** Groups of regions that merged. Of two groups the one with more neighbours stays, under the smaller of the numbers:
 * the links of the other one move, each no more often than the logarithm of the number of regions.
 *
 * The best pair of all is also the best pair of each of its two groups. Therefore a group proposes only its best pair.
 * It proposes again when it has merged. If one of the two groups has merged, the proposal is out of date. When the turn
 * of such a proposal comes, its group proposes anew. Until then the group's other pairs need no proposal, as they are
 * no better than the old one. A group with many neighbours proposes all its pairs, and its neighbours propose none of
 * them: looking at all pairs after each merge would take too long. */
class MergeTree
{
public:
  MergeTree(const Model & model, std::vector<Moments> regions, const std::vector<Boundary> & boundaries)
    : m_Model(model)
    , m_Sums(std::move(regions))
    , m_Descriptions(m_Sums.size())
    , m_Numbers(m_Sums.size())
    , m_Ages(m_Sums.size(), 0)
    , m_HadMany(m_Sums.size(), 0)
    , m_Neighbors(m_Sums.size())
  {
    for (uint32_t i = 1; i < m_Sums.size(); ++i)
    {
      m_Descriptions[i] = m_Model.Describe(m_Sums[i]);
      m_Numbers[i] = i;
    }
    for (const Boundary & boundary : boundaries)
    {
      m_Neighbors[boundary.First].Add(boundary.Second, boundary.Cost);
      m_Neighbors[boundary.Second].Add(boundary.First, boundary.Cost);
    }
    for (uint32_t group = 1; group < m_Sums.size(); ++group)
    {
      m_HadMany[group] = m_Neighbors[group].GetNumber() > ManyNeighbors;
    }
    for (uint32_t group = 1; group < m_Sums.size(); ++group)
    {
      m_HadMany[group] ? this->ProposeAll(group, m_Neighbors[group]) : this->ProposeBest(group);
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
      const Link * const link = m_Neighbors[candidate.Group].Find(candidate.Neighbor);
      if (link != nullptr && this->IsUpToDate(candidate))
      {
        merges.push_back(candidate.Merge);
        this->Apply(candidate.Group, candidate.Neighbor);
      }
      else if (!m_HadMany[candidate.Group])
      {
        this->ProposeBest(candidate.Group);
      }
      else if (link != nullptr)
      {
        m_Candidates.push(this->Weigh(candidate.Group, *link));
      }
    }
    return merges;
  }

private:
  const Model &                                                      m_Model;
  std::vector<Moments>                                               m_Sums;
  std::vector<double>                                                m_Descriptions;
  std::vector<uint32_t>                                              m_Numbers; // of the region that a group is now
  std::vector<uint32_t>                                              m_Ages;    // merges of the group
  std::vector<uint8_t>                                               m_HadMany; // neighbours, at some time
  std::vector<Links>                                                 m_Neighbors;
  std::priority_queue<Candidate, std::vector<Candidate>, ComesLater> m_Candidates;

  bool
  IsUpToDate(const Candidate & candidate) const
  {
    return m_Ages[candidate.Group] == candidate.AgeOfGroup && m_Ages[candidate.Neighbor] == candidate.AgeOfNeighbor;
  }

  Candidate
  Weigh(uint32_t group, const Link & link) const
  {
    // The order of the terms is that of the numbers.
    const bool     isInOrder = m_Numbers[group] < m_Numbers[link.Group];
    const uint32_t u = isInOrder ? group : link.Group;
    const uint32_t v = isInOrder ? link.Group : group;
    const double   change = m_Model.Describe(m_Sums[u] + m_Sums[v]) - m_Descriptions[u] - m_Descriptions[v] - link.Cost;
    return { { m_Numbers[u], m_Numbers[v], change }, group, link.Group, m_Ages[group], m_Ages[link.Group] };
  }
  /** Proposes the group's best pair with a group of few neighbours, if there is one. A group that has become part of
   * another has no pairs. */
  void
  ProposeBest(uint32_t group)
  {
    std::optional<Candidate> best;
    for (const Link & link : m_Neighbors[group])
    {
      if (m_HadMany[link.Group])
      {
        continue;
      }
      const Candidate candidate = this->Weigh(group, link);
      if (!best || ComesLater()(*best, candidate))
      {
        best = candidate;
      }
    }
    if (best)
    {
      m_Candidates.push(*best);
    }
  }
  /** Proposes pairs of a group with many neighbours. \param which the neighbours; the costs are not looked at */
  void
  ProposeAll(uint32_t group, const Links & which)
  {
    for (const Link & link : which)
    {
      m_Candidates.push(this->Weigh(group, *m_Neighbors[group].Find(link.Group)));
    }
  }

  void
  Apply(uint32_t u, uint32_t v)
  {
    const bool     staysU = m_Neighbors[u].GetNumber() >= m_Neighbors[v].GetNumber();
    const uint32_t kept = staysU ? u : v;
    const uint32_t gone = staysU ? v : u;
    m_Sums[kept] = m_Sums[u] + m_Sums[v];
    m_Descriptions[kept] = m_Model.Describe(m_Sums[kept]);
    m_Numbers[kept] = std::min(m_Numbers[u], m_Numbers[v]);
    ++m_Ages[kept];

    Links moved;
    std::swap(moved, m_Neighbors[gone]);
    moved.Remove(kept);
    m_Neighbors[kept].Remove(gone);
    for (const auto & [neighbor, cost] : moved)
    {
      m_Neighbors[neighbor].Remove(gone);
      m_Neighbors[neighbor].Add(kept, cost);
      m_Neighbors[kept].Add(neighbor, cost);
    }
    const bool hadMany = m_HadMany[kept];
    m_HadMany[kept] = m_HadMany[u] || m_HadMany[v] || m_Neighbors[kept].GetNumber() > ManyNeighbors;
    if (m_HadMany[kept])
    {
      // Pairs that it proposed earlier are weighed again when their turn comes.
      this->ProposeAll(kept, hadMany ? moved : m_Neighbors[kept]);
      return;
    }
    this->ProposeBest(kept);
    for (const Link & link : m_Neighbors[kept])
    {
      if (m_HadMany[link.Group])
      {
        m_Candidates.push(this->Weigh(link.Group, { kept, link.Cost }));
      }
    }
  }
};
} // namespace

std::vector<CudaPartitionMerge>
MakeMergeTree(const Model & model, std::vector<Moments> regions, const std::vector<Boundary> & boundaries)
{
  return MergeTree(model, std::move(regions), boundaries).Make();
}
} // namespace itk::cuda::partition
