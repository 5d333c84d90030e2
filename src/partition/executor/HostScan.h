// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_partition_executor_HostScan_h
#define CudaFilters_partition_executor_HostScan_h

#include "region/Threads.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

// Prefix sums and sorting of HostExecutor.
namespace itk::cuda::partition
{
/** Scans number values in pieces, one per thread or more. scan(begin, end) scans a piece and returns its total, and
 * add(begin, end, before) adds the combined totals of the earlier pieces to it. Returns the total of all pieces. */
template <typename T, typename TScan, typename TCombine, typename TAdd>
T
ScanInPieces(const region::Threads & threads,
             size_t                  number,
             const TScan &           scan,
             const TCombine &        combine,
             const TAdd &            add)
{
  constexpr size_t valuesOfPiece = size_t{ 1 } << 14; // fewer take less time on one thread
  constexpr size_t maximumPieces = 64;
  const size_t     pieces = std::min({ maximumPieces, number / valuesOfPiece, size_t{ 2 } * threads.GetNumber() });
  if (pieces <= 1 || threads.GetNumber() == 1)
  {
    return scan(size_t{ 0 }, number);
  }
  std::array<T, maximumPieces> before;
  threads.ForRanges(pieces, 1, [&](size_t begin, size_t end) {
    for (size_t piece = begin; piece < end; ++piece)
    {
      before[piece] = scan(number * piece / pieces, number * (piece + 1) / pieces);
    }
  });
  T total{ 0 };
  for (size_t piece = 0; piece < pieces; ++piece)
  {
    total = combine(std::exchange(before[piece], total), total);
  }
  threads.ForRanges(pieces - 1, 1, [&](size_t begin, size_t end) {
    for (size_t piece = begin + 1; piece < end + 1; ++piece)
    {
      add(number * piece / pieces, number * (piece + 1) / pieces, before[piece]);
    }
  });
  return total;
}

/** Sorts keys as DeviceExecutor::ArgSort() does, on one thread: by their lower bits, and stably. Keys whose lower bits
 * are all set are many and stand for no value. They come last without being sorted. */
inline void
ArgSortByLowerBits(const uint64_t * keys, size_t number, int bits, uint64_t * sorted, uint32_t * places)
{
  struct Item
  {
    uint64_t Lower;
    uint32_t Place;
  };
  const uint64_t    mask = bits < 64 ? (uint64_t{ 1 } << bits) - 1 : ~uint64_t{ 0 };
  std::vector<Item> items;
  items.reserve(number / 3);
  for (size_t i = 0; i < number; ++i)
  {
    if ((keys[i] & mask) != mask)
    {
      items.push_back({ keys[i] & mask, static_cast<uint32_t>(i) });
    }
  }
  size_t last = items.size();
  for (size_t i = 0; i < number && last < number; ++i)
  {
    if ((keys[i] & mask) == mask)
    {
      sorted[last] = keys[i];
      places[last++] = static_cast<uint32_t>(i);
    }
  }
  constexpr size_t itemsOfComparisonSort = 4096; // up to this number, std::sort() takes less time than a radix sort
  if (items.size() <= itemsOfComparisonSort)
  {
    std::sort(items.begin(), items.end(), [](const Item & x, const Item & y) {
      return x.Lower != y.Lower ? x.Lower < y.Lower : x.Place < y.Place;
    });
  }
  else
  {
    constexpr int                digit = 11;
    constexpr size_t             values = size_t{ 1 } << digit;
    std::vector<Item>            other(items.size());
    std::array<uint32_t, values> first;
    for (int shift = 0; shift < bits; shift += digit)
    {
      first.fill(0);
      for (const Item & item : items)
      {
        ++first[(item.Lower >> shift) & (values - 1)];
      }
      uint32_t sum = 0;
      for (uint32_t & count : first)
      {
        sum += std::exchange(count, sum);
      }
      for (const Item & item : items)
      {
        other[first[(item.Lower >> shift) & (values - 1)]++] = item;
      }
      items.swap(other);
    }
  }
  for (size_t i = 0; i < items.size(); ++i)
  {
    sorted[i] = keys[items[i].Place];
    places[i] = items[i].Place;
  }
}
} // namespace itk::cuda::partition

#endif
