// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaPartitionReservation_h
#define itkCudaPartitionReservation_h

#include "itkCudaPartitionBid.h"
#include "itkCudaPartitionGeometry.h"
#include "itkCudaRegionThreads.h"

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

namespace itk::cuda::partition
{
/** Decides between changes that come too near to each other. A change wins if its key is the smallest in all cells of 4
 * pixels a side that it sweeps. Changes that win together have no point in common. */
class Reservation
{
public:
  Reservation(int32_t width, int32_t height)
    : m_Layout(width, height, 2)
    , m_Keys(std::make_unique<std::atomic<uint64_t>[]>(m_Layout.GetNumber()))
  {
    for (size_t i = 0; i < m_Layout.GetNumber(); ++i)
    {
      m_Keys[i].store(Free, std::memory_order_relaxed);
    }
  }

  const CellLayout &
  GetLayout() const
  {
    return m_Layout;
  }

  /** Whether each of the bids wins; forCells(i, function) calls function(cell) for the cells of bid i until it returns
   * false, and returns whether it never did. */
  template <typename TFunction>
  std::vector<uint8_t>
  Decide(const std::vector<Bid> & bids, const TFunction & forCells, const region::Threads & threads)
  {
    const auto forBids = [&bids, &threads](const auto & function) {
      threads.ForRanges(bids.size(), 64, [&](size_t begin, size_t end) {
        for (size_t i = begin; i < end; ++i)
        {
          function(i);
        }
      });
    };
    std::vector<uint8_t> wins(bids.size());
    forBids(
      [&](size_t i) { forCells(i, [this, key = bids[i].GetKey()](size_t cell) { return this->Claim(cell, key); }); });
    forBids([&](size_t i) {
      wins[i] = forCells(i,
                         [this, key = bids[i].GetKey()](size_t cell) {
                           return m_Keys[cell].load(std::memory_order_relaxed) == key;
                         })
                  ? 1
                  : 0;
    });
    forBids([&](size_t i) {
      forCells(i, [this](size_t cell) {
        m_Keys[cell].store(Free, std::memory_order_relaxed);
        return true;
      });
    });
    return wins;
  }

private:
  static constexpr uint64_t Free = ~uint64_t{ 0 };

  CellLayout                               m_Layout;
  std::unique_ptr<std::atomic<uint64_t>[]> m_Keys;

  /** Leaves the smaller key in the cell. */
  bool
  Claim(size_t cell, uint64_t key)
  {
    uint64_t present = m_Keys[cell].load(std::memory_order_relaxed);
    while (key < present && !m_Keys[cell].compare_exchange_weak(present, key, std::memory_order_relaxed))
    {}
    return true;
  }
};
} // namespace itk::cuda::partition

#endif
