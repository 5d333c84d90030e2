// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_partition_refine_Work_h
#define CudaFilters_partition_refine_Work_h

#include "region/Threads.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <numeric>
#include <random>
#include <utility>
#include <vector>

namespace itk::cuda::partition
{
/** Parallel loops over independent work items on ITK's threads. Results depend neither on the number of threads nor
 * on the order. Tests shuffle the order to verify this. */
class Work
{
public:
  /** \param shuffle if not 0, work items run in a random order with this seed */
  explicit Work(const region::Threads & threads, uint64_t shuffle = 0)
    : m_Threads(threads)
    , m_Shuffle(shuffle)
  {}

  const region::Threads &
  GetThreads() const
  {
    return m_Threads;
  }

  /** Calls function(i) for i = 0 to count - 1. Each thread takes at least `grain` work items at a time. */
  template <typename TFunction>
  void
  ParallelFor(size_t count, size_t grain, const TFunction & function) const
  {
    const std::vector<size_t> order = this->MakeOrder(count);
    m_Threads.ForRanges(count, grain, [&](size_t begin, size_t end) {
      for (size_t i = begin; i < end; ++i)
      {
        function(order.empty() ? i : order[i]);
      }
    });
  }

  /** Calls function(i, list), which appends to the list, for i = 0 to count - 1. Returns all items in the order of i.
   */
  template <typename TItem, typename TFunction>
  std::vector<TItem>
  Collect(size_t count, size_t grain, const TFunction & function) const
  {
    const std::vector<size_t>            order = this->MakeOrder(count);
    std::map<size_t, std::vector<TItem>> pieces; // by first work item
    std::mutex                           mutex;
    m_Threads.ForRanges(count, grain, [&](size_t begin, size_t end) {
      std::vector<TItem> piece;
      for (size_t i = begin; i < end; ++i)
      {
        function(order.empty() ? i : order[i], piece);
      }
      const std::lock_guard<std::mutex> lock(mutex);
      pieces.emplace(begin, std::move(piece));
    });
    if (pieces.size() == 1)
    {
      return std::move(pieces.begin()->second);
    }
    std::vector<TItem> all;
    all.reserve(std::accumulate(
      pieces.begin(), pieces.end(), size_t{ 0 }, [](size_t n, const auto & piece) { return n + piece.second.size(); }));
    for (const auto & [begin, piece] : pieces)
    {
      all.insert(all.end(), piece.begin(), piece.end());
    }
    return all;
  }

private:
  const region::Threads & m_Threads;
  const uint64_t          m_Shuffle;

  std::vector<size_t>
  MakeOrder(size_t count) const
  {
    std::vector<size_t> order;
    if (m_Shuffle != 0)
    {
      order.resize(count);
      std::iota(order.begin(), order.end(), size_t{ 0 });
      std::shuffle(order.begin(), order.end(), std::mt19937_64(m_Shuffle + count));
    }
    return order;
  }
};
} // namespace itk::cuda::partition

#endif
