// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_executor_HostScan_h
#define CudaFilters_executor_HostScan_h

#include "region/Threads.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

// Prefix sums and sorting of HostExecutor.
namespace itk::cuda::executor
{
/** Divides the values 0 to number - 1 into pieces, one for each thread or more; few values are one piece. */
class Pieces
{
public:
  static constexpr size_t MaximumNumber = 64;

  Pieces(const region::Threads & threads, size_t number)
    : m_Threads(threads)
    , m_NumberOfValues(number)
    , m_Number(
        threads.GetNumber() == 1
          ? 1
          : std::clamp(std::min(number / MinimumValues, size_t{ 2 } * threads.GetNumber()), size_t{ 1 }, MaximumNumber))
  {}

  size_t
  GetNumber() const
  {
    return m_Number;
  }
  /** Calls function(piece, begin, end) for the pieces from number `first` on. */
  template <typename TFunction>
  void
  ForEach(const TFunction & function, size_t first = 0) const
  {
    m_Threads.ForRanges(m_Number - first, 1, [&](size_t begin, size_t end) {
      for (size_t piece = first + begin; piece < first + end; ++piece)
      {
        function(piece, m_NumberOfValues * piece / m_Number, m_NumberOfValues * (piece + 1) / m_Number);
      }
    });
  }

private:
  static constexpr size_t MinimumValues = size_t{ 1 } << 14; // fewer take less time on one thread

  const region::Threads & m_Threads;
  const size_t            m_NumberOfValues;
  const size_t            m_Number;
};

/** Scans values in pieces. scan(begin, end) scans a piece and returns its total, and add(begin, end, before) adds the
 * combined totals of the earlier pieces to it. Returns the total of all pieces. */
template <typename T, typename TScan, typename TCombine, typename TAdd>
T
ScanInPieces(const region::Threads & threads,
             size_t                  number,
             const TScan &           scan,
             const TCombine &        combine,
             const TAdd &            add)
{
  const Pieces                         pieces(threads, number);
  std::array<T, Pieces::MaximumNumber> before;
  pieces.ForEach([&](size_t piece, size_t begin, size_t end) { before[piece] = scan(begin, end); });
  T total{ 0 };
  for (size_t piece = 0; piece < pieces.GetNumber(); ++piece)
  {
    total = combine(std::exchange(before[piece], total), total);
  }
  pieces.ForEach([&](size_t piece, size_t begin, size_t end) { add(begin, end, before[piece]); }, 1);
  return total;
}

/** A key's lower bits, and its index. */
struct SortItem
{
  uint64_t Lower;
  uint32_t Index;
};

/** Sorts items whose keys have a number of bits: a radix sort, which is stable. Each piece counts its digits, and then
 * moves its items behind the equal digits of the earlier pieces. */
inline void
RadixSort(const region::Threads & threads, std::unique_ptr<SortItem[]> & items, size_t number, int bits)
{
  constexpr int    digit = 11;
  constexpr size_t values = size_t{ 1 } << digit;
  using Counts = std::array<uint32_t, values>;
  const Pieces                pieces(threads, number);
  std::vector<Counts>         next(pieces.GetNumber());
  std::unique_ptr<SortItem[]> other(new SortItem[number]); // not initialized
  for (int shift = 0; shift < bits; shift += digit)
  {
    const auto digitOf = [shift](const SortItem & item) { return (item.Lower >> shift) & (values - 1); };
    pieces.ForEach([&](size_t piece, size_t begin, size_t end) {
      next[piece].fill(0);
      std::for_each(
        items.get() + begin, items.get() + end, [&](const SortItem & item) { ++next[piece][digitOf(item)]; });
    });
    uint32_t sum = 0;
    for (size_t value = 0; value < values; ++value)
    {
      for (Counts & counts : next)
      {
        sum += std::exchange(counts[value], sum);
      }
    }
    pieces.ForEach([&](size_t piece, size_t begin, size_t end) {
      std::for_each(items.get() + begin, items.get() + end, [&](const SortItem & item) {
        other[next[piece][digitOf(item)]++] = item;
      });
    });
    items.swap(other);
  }
}

/** Sorts keys as DeviceExecutor::ArgSort() does: by their lower bits, and stably. Keys whose lower bits are all set are
 * many and stand for no value. They come last without being sorted. */
inline void
ArgSortByLowerBits(const region::Threads & threads,
                   const uint64_t *        keys,
                   size_t                  number,
                   int                     bits,
                   uint64_t *              sorted,
                   uint32_t *              indices)
{
  const uint64_t      mask = bits < 64 ? (uint64_t{ 1 } << bits) - 1 : ~uint64_t{ 0 };
  const auto          hasValue = [mask](uint64_t key) { return (key & mask) != mask; };
  const Pieces        pieces(threads, number);
  std::vector<size_t> first(pieces.GetNumber()); // index of a piece's first item
  pieces.ForEach([&](size_t piece, size_t begin, size_t end) {
    first[piece] = static_cast<size_t>(std::count_if(keys + begin, keys + end, hasValue));
  });
  size_t items = 0;
  for (size_t & ofPiece : first)
  {
    items += std::exchange(ofPiece, items);
  }
  std::unique_ptr<SortItem[]> list(new SortItem[items]); // not initialized
  pieces.ForEach([&](size_t piece, size_t begin, size_t end) {
    size_t item = first[piece];
    size_t last = items + begin - item;
    for (size_t i = begin; i < end; ++i)
    {
      if (hasValue(keys[i]))
      {
        list[item++] = { keys[i] & mask, static_cast<uint32_t>(i) };
      }
      else
      {
        sorted[last] = keys[i];
        indices[last++] = static_cast<uint32_t>(i);
      }
    }
  });
  constexpr size_t itemsOfComparisonSort = 4096; // up to this number, std::sort() takes less time than a radix sort
  if (items <= itemsOfComparisonSort)
  {
    std::sort(list.get(), list.get() + items, [](const SortItem & x, const SortItem & y) {
      return x.Lower != y.Lower ? x.Lower < y.Lower : x.Index < y.Index;
    });
  }
  else
  {
    RadixSort(threads, list, items, bits);
  }
  Pieces(threads, items).ForEach([&](size_t, size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i)
    {
      sorted[i] = keys[list[i].Index];
      indices[i] = list[i].Index;
    }
  });
}
} // namespace itk::cuda::executor

#endif
