// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_partition_refine_Proposals_h
#define CudaFilters_partition_refine_Proposals_h

#include "runtime/HostDevice.h"
#include "partition/map/MapData.h"
#include "partition/map/Geometry.h"

#include <cstdint>
#include <cstring>

// Proposals of a round, and what decides between them.
namespace itk::cuda::partition
{
/** The changes of the valid-pixel counts of the regions that a proposal concerns. There are at most as many regions as
 * meet at a node. */
struct CountChanges
{
  struct Entry
  {
    uint32_t Region{ Outside }; // unused entry
    int64_t  Change{ 0 };
  };

  Entry Entries[4];

  ITK_CUDA_HOST_DEVICE void
  Add(uint32_t region, int64_t change)
  {
    bool isAdded = region == Outside;
    ITK_CUDA_UNROLL
    for (Entry & entry : Entries)
    {
      const bool isOwn = !isAdded && (entry.Region == region || entry.Region == Outside);
      entry.Region = isOwn ? region : entry.Region;
      entry.Change += isOwn ? change : 0;
      isAdded = isAdded || isOwn;
    }
  }
};

/** A proposed change with its gain (a negative number) and an identifier. */
struct RankedProposal
{
  double       DeltaCost{ 0.0 };
  uint32_t     Id{ 0 };
  CountChanges Counts;

  /** Returns the priority; smaller is better. Proposals are ordered by gain, in single precision, and then by Id. */
  ITK_CUDA_HOST_DEVICE uint64_t
  GetKey() const
  {
    const auto size = static_cast<float>(-DeltaCost);
    uint32_t   bits; // ordered as the values, which are positive
    memcpy(&bits, &size, sizeof(bits));
    return (static_cast<uint64_t>(~bits) << 32) | Id;
  }
};

/** Returns the number of pixels that every change must leave to a region. */
ITK_CUDA_HOST_DEVICE inline int64_t
GetMinimumNumberOfPixels(const Moments & region, uint64_t minimumNumberOfPixels)
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
  for (const CountChanges::Entry & entry : changes.Entries)
  {
    if (entry.Region != Outside && entry.Change < 0 &&
        regions[entry.Region].Count + entry.Change <
          GetMinimumNumberOfPixels(regions[entry.Region], minimumNumberOfPixels))
    {
      return false;
    }
  }
  return true;
}
} // namespace itk::cuda::partition

#endif
