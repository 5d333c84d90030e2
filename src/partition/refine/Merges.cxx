// SPDX-License-Identifier: Apache-2.0
#include "partition/labels/GraphFunctors.h"
#include "partition/refine/Refinement.h"
#include "partition/refine/GainTerms.h"
#include "partition/executor/Sort.h"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <mutex>
#include <tuple>
#include <vector>

// Merges regions of the planar map on the host, in rounds. MergeLoops (partition/refine/MergeFunctors.h) does the same
// on the device.

namespace itk::cuda::partition
{
namespace
{
/** A gain term of the merge of two regions: a segment of their boundary that is removed, or a node that can be removed
 * afterwards. */
struct GainTerm
{
  uint32_t First; // regions, the smaller number first
  uint32_t Second;
  uint32_t Node; // None for a segment
  uint32_t Edge;
  double   Change; // of the description

  friend bool
  operator<(const GainTerm & x, const GainTerm & y)
  {
    return std::tie(x.First, x.Second, x.Node, x.Edge) < std::tie(y.First, y.Second, y.Node, y.Edge);
  }
  bool
  IsOfSamePair(const GainTerm & other) const
  {
    return First == other.First && Second == other.Second;
  }
};

/** A pair of regions whose merge has a gain. */
struct Candidate
{
  uint32_t First;
  uint32_t Second;
  double   Change;
};

class MergeRound
{
public:
  explicit MergeRound(Refinement & refinement)
    : m_Refinement(refinement)
    , m_Map(refinement.Map)
  {}

  /** Merges pairs of regions that are each other's best neighbour, and the regions that join them. Returns whether
   * there are any. */
  bool
  Run()
  {
    this->ListGainTerms();
    this->ListCandidates();
    this->ChooseBest();
    bool hasMerged = false;
    for (uint32_t region = 0; region < m_Best.size(); ++region)
    {
      m_Into.push_back(this->GetWhole(region));
      hasMerged = hasMerged || m_Into.back() != None;
    }
    if (hasMerged)
    {
      this->TakeSums();
      this->RenumberEdges();
    }
    return hasMerged;
  }

private:
  Refinement &           m_Refinement;
  MapData &              m_Map;
  std::vector<GainTerm>  m_GainTerms;
  std::vector<Candidate> m_Candidates;
  std::vector<uint32_t>  m_Best; // best candidate of each region, or None
  std::vector<uint32_t>  m_Into; // region into which a region is merged, or None

  static GainTerm
  MakeGainTerm(const MapEdge & edge, uint32_t node, uint32_t number, double change)
  {
    return { std::min(edge.Left, edge.Right), std::max(edge.Left, edge.Right), node, number, change };
  }

  /** Lists the gain terms in a fixed order, independent of the order of work. */
  void
  ListGainTerms()
  {
    for (uint32_t i = 0; i < m_Map.Edges.size(); ++i)
    {
      const MapEdge & edge = m_Map.Edges[i];
      if (edge.IsAlive() && !edge.IsBorder())
      {
        m_GainTerms.push_back(MakeGainTerm(edge, None, i, -m_Refinement.Description.SegmentCost));
      }
    }
    std::mutex mutex;
    m_Refinement.Threads.ForRanges(m_Map.Nodes.size(), 256, [&](size_t begin, size_t end) {
      std::vector<GainTerm> gainTerms;
      for (size_t i = begin; i < end; ++i)
      {
        for (uint32_t j = 0; j < 3 && m_Map.Nodes[i].Degree == 3; ++j)
        {
          this->LookAhead(static_cast<uint32_t>(i), j, gainTerms);
        }
      }
      const std::lock_guard<std::mutex> lock(mutex);
      m_GainTerms.insert(m_GainTerms.end(), gainTerms.begin(), gainTerms.end());
    });
    SortInBuckets(
      m_GainTerms,
      m_Map.Regions.size(),
      [](const GainTerm & gainTerm) { return size_t{ gainTerm.First }; },
      std::less<>());
  }

  /** Adds the gain term of removing a node with three edges when its edge j is removed. */
  void
  LookAhead(uint32_t i, uint32_t j, std::vector<GainTerm> & gainTerms) const
  {
    const double gain = GainOfFreedNode(m_Refinement, i, j, SerialTile{});
    if (gain < 0.0)
    {
      const uint32_t edge = m_Map.Nodes[i].Edges[j];
      gainTerms.push_back(MakeGainTerm(m_Map.Edges[edge], i, edge, gain));
    }
  }

  /** Lists the pairs whose merge has a gain, in ascending order. */
  void
  ListCandidates()
  {
    const Model &       model = m_Refinement.Description;
    std::vector<double> descriptions(m_Map.Regions.size());
    m_Refinement.Threads.ForRanges(descriptions.size(), 1024, [&](size_t begin, size_t end) {
      std::transform(m_Map.Regions.begin() + static_cast<ptrdiff_t>(begin),
                     m_Map.Regions.begin() + static_cast<ptrdiff_t>(end),
                     descriptions.begin() + static_cast<ptrdiff_t>(begin),
                     [&model](const Moments & sums) { return model.Describe(sums); });
    });
    for (size_t begin = 0, end = 0; begin < m_GainTerms.size(); begin = end)
    {
      double ofSegments = 0.0;
      double ofNodes = 0.0;
      for (end = begin; end < m_GainTerms.size() && m_GainTerms[end].IsOfSamePair(m_GainTerms[begin]); ++end)
      {
        (m_GainTerms[end].Node == None ? ofSegments : ofNodes) += m_GainTerms[end].Change;
      }
      const uint32_t first = m_GainTerms[begin].First;
      const uint32_t second = m_GainTerms[begin].Second;
      const double   change = ChangeOfMerge(model.Describe(m_Map.Regions[first] + m_Map.Regions[second]) -
                                            descriptions[first] - descriptions[second],
                                          ofSegments,
                                          ofNodes);
      if (change < -MinimumGain)
      {
        m_Candidates.push_back({ first, second, change });
      }
    }
  }

  /** Chooses the best pair of each region; the first one among equal changes. */
  void
  ChooseBest()
  {
    m_Best.resize(m_Map.Regions.size(), None);
    for (uint32_t i = 0; i < m_Candidates.size(); ++i)
    {
      for (const uint32_t number : { m_Candidates[i].First, m_Candidates[i].Second })
      {
        if (m_Best[number] == None || m_Candidates[i].Change < m_Candidates[m_Best[number]].Change)
        {
          m_Best[number] = i;
        }
      }
    }
  }

  bool
  IsPair(uint32_t candidate) const
  {
    return m_Best[m_Candidates[candidate].First] == candidate && m_Best[m_Candidates[candidate].Second] == candidate;
  }

  /** Returns the region into which a region is merged: the smaller one of a pair, for the other region of the pair and
   * for the regions with larger numbers that join the two. Otherwise returns None. */
  uint32_t
  GetWhole(uint32_t region) const
  {
    if (m_Best[region] == None)
    {
      return None;
    }
    const Candidate & own = m_Candidates[m_Best[region]];
    const uint32_t    neighbor = own.First == region ? own.Second : own.First;
    const Candidate & pair = m_Candidates[m_Best[neighbor]];
    const bool        takesPart =
      m_Best[region] == m_Best[neighbor] ||
      JoinsPair(-own.Change, -pair.Change, m_Map.Regions[region].Count, m_Map.Regions[neighbor].Count);
    return region > pair.First && takesPart && this->IsPair(m_Best[neighbor]) ? pair.First : None;
  }

  void
  TakeSums()
  {
    for (uint32_t region = 0; region < m_Into.size(); ++region)
    {
      if (m_Into[region] != None)
      {
        m_Map.Regions[m_Into[region]] += m_Map.Regions[region];
        m_Map.Regions[region] = {};
        m_Map.IsRegion[region] = 0;
      }
    }
  }

  /** Gives edges their new regions, and removes the edges within one region. */
  void
  RenumberEdges()
  {
    for (uint32_t i = 0; i < m_Map.Edges.size(); ++i)
    {
      MapEdge & edge = m_Map.Edges[i];
      if (!edge.IsAlive())
      {
        continue;
      }
      edge.Left = m_Into[edge.Left] != None ? m_Into[edge.Left] : edge.Left;
      edge.Right = m_Into[edge.Right] != None ? m_Into[edge.Right] : edge.Right;
      if (edge.Left == edge.Right)
      {
        m_Map.Nodes[edge.Start].Erase(i);
        m_Map.Nodes[edge.End].Erase(i);
        edge = {};
      }
    }
  }
};
} // namespace

bool
MergeRegions(Refinement & refinement)
{
  refinement.CompactIfSparse();
  bool hasMerged = true;
  for (size_t round = 0; round < refinement.Map.Regions.size() && hasMerged; ++round) // each round merges at least two
                                                                                      // regions
  {
    if (!refinement.BeginRound())
    {
      return false;
    }
    hasMerged = MergeRound(refinement).Run();
  }
  return true;
}
} // namespace itk::cuda::partition
