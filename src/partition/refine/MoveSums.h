// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_partition_refine_MoveSums_h
#define CudaFilters_partition_refine_MoveSums_h

#include "partition/refine/RefinementKernels.h"

#include <array>
#include <cstddef>
#include <memory>
#include <vector>

namespace itk::cuda::partition
{
/** Sums of an edge from each candidate for the place of one of its nodes. They follow from where its two nodes are. */
struct CandidateSums
{
  LatticePoint                            At{ -1, -1 };
  LatticePoint                            Far{ -1, -1 };
  std::array<Moments, NumberOfCandidates> Sums;
};

/** Such sums of edges, kept from round to round: most nodes that propose again have not moved, nor have their
 * neighbours. The first thread that asks for the sums of an edge allocates them. One thread would take long to allocate
 * those of all edges, and nobody asks for many of these. */
class MoveSums
{
public:
  /** Prepares for a map's edges, unless they may take more memory than BytesPerPixel. */
  void
  Reserve(const MapData & map)
  {
    const size_t bytes = 2 * map.Edges.size() * (sizeof(CandidateSums) + sizeof(m_Sums.front()));
    const size_t limit = BytesPerPixel * static_cast<size_t>(map.Width) * static_cast<size_t>(map.Height);
    m_Sums.resize(bytes <= limit ? 2 * map.Edges.size() : 0);
  }

  /** Those of a node's edge; null if there is no room. Threads ask for those of different nodes. */
  CandidateSums *
  Find(const MapData & map, uint32_t edge, uint32_t node)
  {
    if (m_Sums.empty())
    {
      return nullptr;
    }
    std::unique_ptr<CandidateSums> & sums =
      m_Sums[2 * static_cast<size_t>(edge) + (map.Edges[edge].Start == node ? 0 : 1)];
    if (!sums)
    {
      sums = std::make_unique<CandidateSums>();
    }
    return sums.get();
  }

private:
  static constexpr size_t BytesPerPixel = 12;

  std::vector<std::unique_ptr<CandidateSums>> m_Sums;
};
} // namespace itk::cuda::partition

#endif
