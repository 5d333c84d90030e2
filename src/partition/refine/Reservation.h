// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_partition_refine_Reservation_h
#define CudaFilters_partition_refine_Reservation_h

#include "runtime/HostDevice.h"
#include "partition/map/MapData.h"
#include "partition/map/Geometry.h"
#include "region/Threads.h"

#include <atomic>
#include <cstdint>
#include <cstring>
#include <memory>
#include <vector>

// Proposals of a round and the decision between them, for the host and the device.
namespace itk::cuda::partition
{
/** The changes of the valid-pixel counts of the regions that a proposal concerns. There are at most as many regions as
 * meet at a node. */
class CountChanges
{
public:
  struct Entry
  {
    uint32_t Region{ Outside }; // unused entry
    int64_t  Change{ 0 };
  };

  ITK_CUDA_HOST_DEVICE void
  Add(uint32_t region, int64_t change)
  {
    bool isAdded = region == Outside;
    ITK_CUDA_UNROLL
    for (int i = 0; i < MostRegions; ++i)
    {
      Entry &    entry = m_Entries[i];
      const bool isOwn = !isAdded && (entry.Region == region || entry.Region == Outside);
      entry.Region = isOwn ? region : entry.Region;
      entry.Change += isOwn ? change : 0;
      isAdded = isAdded || isOwn;
    }
  }
  ITK_CUDA_HOST_DEVICE const Entry *
  begin() const
  {
    return m_Entries;
  }
  ITK_CUDA_HOST_DEVICE const Entry *
  end() const
  {
    return m_Entries + MostRegions;
  }

private:
  static constexpr int MostRegions = 4;

  Entry m_Entries[MostRegions];
};

/** A proposed change with its gain (a negative number) and an identifier. */
struct RankedProposal
{
  double       Gain{ 0.0 };
  uint32_t     Id{ 0 };
  CountChanges Counts;

  /** Returns the priority; smaller is better. Proposals are ordered by gain, in single precision, and then by Id. */
  ITK_CUDA_HOST_DEVICE uint64_t
  GetKey() const
  {
    const auto size = static_cast<float>(-Gain);
    uint32_t   bits; // ordered as the values, which are positive
    memcpy(&bits, &size, sizeof(bits));
    return (static_cast<uint64_t>(~bits) << 32) | Id;
  }
};

/** Returns the number of pixels that every change must leave to a region. */
ITK_CUDA_HOST_DEVICE inline int64_t
GetLeastPixels(const Moments & region, uint64_t minimumNumberOfPixels)
{
  constexpr uint64_t largest = 1ull << 62;
  const uint64_t     minimum = minimumNumberOfPixels < 1 ? 1 : minimumNumberOfPixels;
  const auto         least = static_cast<int64_t>(minimum < largest ? minimum : largest);
  return region.Count < least ? region.Count : least;
}

/** Returns whether the changes alone leave each region its minimum number of pixels. */
ITK_CUDA_HOST_DEVICE inline bool
LeavesEnoughPixels(const CountChanges & changes, const Moments * regions, uint64_t minimumNumberOfPixels)
{
  for (const CountChanges::Entry & entry : changes)
  {
    if (entry.Region != Outside && entry.Change < 0 &&
        regions[entry.Region].Count + entry.Change < GetLeastPixels(regions[entry.Region], minimumNumberOfPixels))
    {
      return false;
    }
  }
  return true;
}

/** Returns whether winners that together take `losses` pixels from a region take too many. */
ITK_CUDA_HOST_DEVICE inline bool
LosesTooMuch(const Moments & region, int64_t losses, uint64_t minimumNumberOfPixels)
{
  return region.Count - losses < GetLeastPixels(region, minimumNumberOfPixels);
}

/** Resolves conflicts between nearby changes. A change wins if its key is the smallest in all 4 x 4 pixel cells that it
 * sweeps. Winning changes have no common point. */
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

  /** Returns whether each of the proposals wins. forCells(i, function) calls function(cell) for the cells of bid i
   * until it returns false, and returns whether all calls returned true. */
  template <typename TFunction>
  std::vector<uint8_t>
  Decide(const std::vector<RankedProposal> & proposals, const TFunction & forCells, const region::Threads & threads)
  {
    const auto forProposals = [&proposals, &threads](const auto & function) {
      threads.ForRanges(proposals.size(), 64, [&](size_t begin, size_t end) {
        for (size_t i = begin; i < end; ++i)
        {
          function(i);
        }
      });
    };
    std::vector<uint8_t> wins(proposals.size());
    forProposals([&](size_t i) {
      forCells(i, [this, key = proposals[i].GetKey()](size_t cell) { return this->Reserve(cell, key); });
    });
    forProposals([&](size_t i) {
      wins[i] = forCells(i,
                         [this, key = proposals[i].GetKey()](size_t cell) {
                           return m_Keys[cell].load(std::memory_order_relaxed) == key;
                         })
                  ? 1
                  : 0;
    });
    forProposals([&](size_t i) {
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

  /** Reserves a cell: stores the key if it is smaller than the present one. */
  bool
  Reserve(size_t cell, uint64_t key)
  {
    uint64_t present = m_Keys[cell].load(std::memory_order_relaxed);
    while (key < present && !m_Keys[cell].compare_exchange_weak(present, key, std::memory_order_relaxed))
    {}
    return true;
  }
};
} // namespace itk::cuda::partition

#endif
