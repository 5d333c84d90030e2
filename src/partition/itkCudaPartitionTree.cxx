// SPDX-License-Identifier: Apache-2.0
#include "itkCudaPartitionTree.h"

#include <algorithm>
#include <map>
#include <queue>
#include <tuple>
#include <utility>

namespace itk::cuda::partition
{
namespace
{
/** A merge that could be made. It is out of date when one of its regions has merged since. */
struct Candidate
{
  CudaPartitionMerge Merge;
  uint32_t           AgeOfFirst;
  uint32_t           AgeOfSecond;
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

class MergeTree
{
public:
  MergeTree(const Model & model, std::vector<Moments> regions, const std::vector<Boundary> & boundaries)
    : m_Model(model)
    , m_Regions(std::move(regions))
    , m_Descriptions(m_Regions.size())
    , m_Ages(m_Regions.size(), 0)
    , m_Neighbors(m_Regions.size())
  {
    for (size_t i = 1; i < m_Regions.size(); ++i)
    {
      m_Descriptions[i] = m_Model.Describe(m_Regions[i]);
    }
    for (const Boundary & boundary : boundaries)
    {
      m_Neighbors[boundary.First][boundary.Second] += boundary.Cost;
      m_Neighbors[boundary.Second][boundary.First] += boundary.Cost;
    }
    for (uint32_t region = 1; region < m_Regions.size(); ++region)
    {
      for (const auto & [neighbor, cost] : m_Neighbors[region])
      {
        if (region < neighbor)
        {
          this->Propose(region, neighbor, cost);
        }
      }
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
      if (m_Ages[candidate.Merge.First] == candidate.AgeOfFirst &&
          m_Ages[candidate.Merge.Second] == candidate.AgeOfSecond)
      {
        merges.push_back(candidate.Merge);
        this->Apply(candidate.Merge.First, candidate.Merge.Second);
      }
    }
    return merges;
  }

private:
  const Model &                                                      m_Model;
  std::vector<Moments>                                               m_Regions;
  std::vector<double>                                                m_Descriptions;
  std::vector<uint32_t>                                              m_Ages; // merges of the region
  std::vector<std::map<uint32_t, double>>                            m_Neighbors;
  std::priority_queue<Candidate, std::vector<Candidate>, ComesLater> m_Candidates;

  void
  Propose(uint32_t x, uint32_t y, double cost)
  {
    const uint32_t u = std::min(x, y);
    const uint32_t v = std::max(x, y);
    const double change = m_Model.Describe(m_Regions[u] + m_Regions[v]) - m_Descriptions[u] - m_Descriptions[v] - cost;
    m_Candidates.push({ { u, v, change }, m_Ages[u], m_Ages[v] });
  }

  void
  Apply(uint32_t kept, uint32_t merged)
  {
    m_Regions[kept] += m_Regions[merged];
    m_Descriptions[kept] = m_Model.Describe(m_Regions[kept]);
    ++m_Ages[kept];
    ++m_Ages[merged]; // no candidate is made of it again
    // The smaller list goes into the larger one: an entry moves no more often than the logarithm of the regions'
    // number.
    std::map<uint32_t, double> & neighbors = m_Neighbors[kept];
    const bool                   swap = neighbors.size() < m_Neighbors[merged].size();
    if (swap)
    {
      neighbors.swap(m_Neighbors[merged]);
    }
    for (const auto & [neighbor, cost] : m_Neighbors[merged])
    {
      neighbors[neighbor] += cost;
    }
    std::map<uint32_t, double>().swap(m_Neighbors[merged]);
    neighbors.erase(kept);
    neighbors.erase(merged);
    for (const auto & [neighbor, cost] : neighbors)
    {
      m_Neighbors[neighbor].erase(merged);
      m_Neighbors[neighbor][kept] = cost;
      this->Propose(kept, neighbor, cost);
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
