// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_partition_result_Sort_h
#define CudaFilters_partition_result_Sort_h

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <vector>

namespace itk::cuda::partition
{
/** Sorts items by bucket index, and the items of each bucket with `less`. Takes linear time if the buckets are small.
 */
template <typename TItem, typename TBucket, typename TLess>
void
SortInBuckets(std::vector<TItem> & items, size_t numberOfBuckets, const TBucket & bucketOf, const TLess & less)
{
  std::vector<size_t> first(numberOfBuckets + 1, 0);
  for (const TItem & item : items)
  {
    ++first[bucketOf(item) + 1];
  }
  std::partial_sum(first.begin(), first.end(), first.begin());
  std::vector<TItem>  sorted(items.size());
  std::vector<size_t> next(first);
  for (const TItem & item : items)
  {
    sorted[next[bucketOf(item)]++] = item;
  }
  for (size_t bucket = 0; bucket < numberOfBuckets; ++bucket)
  {
    std::sort(sorted.begin() + static_cast<ptrdiff_t>(first[bucket]),
              sorted.begin() + static_cast<ptrdiff_t>(first[bucket + 1]),
              less);
  }
  items.swap(sorted);
}
} // namespace itk::cuda::partition

#endif
