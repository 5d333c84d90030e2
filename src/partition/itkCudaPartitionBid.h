// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaPartitionBid_h
#define itkCudaPartitionBid_h

#include "itkCudaHostDevice.h"
#include "itkCudaPartitionMapData.h"

#include <cstdint>
#include <cstring>

// What a round of changes decides about, for the host and for the device.
namespace itk::cuda::partition
{
/** Which changes of valid pixels a proposal brings to the regions that it concerns: no more than meet at a node. */
class CountChanges
{
public:
  struct Entry
  {
    uint32_t Region{ Outside }; // there is none
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

/** A change that a round proposes: what it gains, a negative number, and what it is called. */
struct Bid
{
  double       Gain{ 0.0 };
  uint32_t     Id{ 0 };
  CountChanges Counts;

  /** Smaller is better: by the gain, in single precision, then by the number. */
  ITK_CUDA_HOST_DEVICE uint64_t
  GetKey() const
  {
    const auto size = static_cast<float>(-Gain);
    uint32_t   bits; // in the order of the values, which are positive
    memcpy(&bits, &size, sizeof(bits));
    return (static_cast<uint64_t>(~bits) << 32) | Id;
  }
};

/** Pixels that no change may leave a region without. */
ITK_CUDA_HOST_DEVICE inline int64_t
GetLeastPixels(const Moments & region, uint64_t minimumNumberOfPixels)
{
  constexpr uint64_t largest = 1ull << 62;
  const uint64_t     minimum = minimumNumberOfPixels < 1 ? 1 : minimumNumberOfPixels;
  const auto         least = static_cast<int64_t>(minimum < largest ? minimum : largest);
  return region.Count < least ? region.Count : least;
}

/** Whether the changes alone leave each region the pixels that it must keep. */
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

/** Whether winners that together take `losses` pixels from a region take too many. */
ITK_CUDA_HOST_DEVICE inline bool
LosesTooMuch(const Moments & region, int64_t losses, uint64_t minimumNumberOfPixels)
{
  return region.Count - losses < GetLeastPixels(region, minimumNumberOfPixels);
}
} // namespace itk::cuda::partition

#endif
