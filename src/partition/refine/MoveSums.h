// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_partition_refine_MoveSums_h
#define CudaFilters_partition_refine_MoveSums_h

#include "partition/refine/RefinementGains.h"

#include <array>
#include <cstddef>
#include <memory>
#include <vector>

namespace itk::cuda::partition
{
/** Sums of an edge from each candidate position of one of its nodes. They are valid for the two node positions `At` and
 * `Far`. */
struct CandidateSums
{
  LatticePoint                            At{ -1, -1 };
  LatticePoint                            Far{ -1, -1 };
  std::array<Moments, NumberOfCandidates> Sums;
};

/** A cache of candidate sums that is kept from round to round, because most nodes that propose again have not moved,
 * nor have their neighbours. The first thread that requests the sums of an edge allocates them: allocating all of them
 * on one thread would take long, and many are never requested. */
class MoveSums
{
public:
  /** Prepares the cache for a map's edges. It stays empty if it could exceed BytesPerPixel. */
  void
  Reserve(const MapData & map)
  {
    const size_t bytes = 2 * map.Edges.size() * (sizeof(CandidateSums) + sizeof(m_Sums.front()));
    const size_t limit = BytesPerPixel * static_cast<size_t>(map.Width) * static_cast<size_t>(map.Height);
    m_Sums.resize(bytes <= limit ? 2 * map.Edges.size() : 0);
  }

  /** Returns the entry of a node's edge, or null if the cache is empty. Concurrent threads must request different
   * nodes. */
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
