// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_partition_executor_EdgeTable_h
#define CudaFilters_partition_executor_EdgeTable_h

#include "runtime/HostDevice.h"

#include <cstddef>
#include <cstdint>

// One edge of all those between the same two regions, for processors whose passes run all at once: a hash table with
// linear probing. Where an edge lies depends on the order of the passes. Which edges there are, and their cracks, does
// not.
namespace itk::cuda::partition
{
/** Two regions as one number. */
struct EdgeCode
{
  int Bits; // of a region's number

  static EdgeCode
  Of(size_t numberOfRegions)
  {
    int bits = 1;
    while ((size_t{ 1 } << bits) < numberOfRegions)
    {
      ++bits;
    }
    return { bits };
  }
  ITK_CUDA_HOST_DEVICE uint64_t
  Encode(uint32_t x, uint32_t y) const
  {
    return x < y ? (static_cast<uint64_t>(x) << Bits) | y : (static_cast<uint64_t>(y) << Bits) | x;
  }
  /** The smaller region. */
  ITK_CUDA_HOST_DEVICE uint32_t
  GetFirst(uint64_t key) const
  {
    return static_cast<uint32_t>(key >> Bits);
  }
  ITK_CUDA_HOST_DEVICE uint32_t
  GetSecond(uint64_t key) const
  {
    return static_cast<uint32_t>(key & ((uint64_t{ 1 } << Bits) - 1));
  }
};

/** A table in memory of a processor. Sums of cracks are exact: an image of 2^30 pixels has fewer than 2^31 sides of
 * pixels. */
struct EdgeTableView
{
  static constexpr uint64_t Empty = ~uint64_t{ 0 }; // no code of two regions that differ

  uint64_t * Keys;
  uint32_t * Cracks;

  struct Place
  {
    uint32_t Slot;
    bool     IsNew; // for one of the passes with this key
  };

  /** Slots for so many edges; two of three are taken at most. */
  static ITK_CUDA_HOST_DEVICE size_t
  GetSize(size_t numberOfEdges)
  {
    return numberOfEdges + numberOfEdges / 2 + 1;
  }

  /** Adds the cracks to those of the edge. Passes that run at the same time use the same number of slots. */
  ITK_CUDA_AS_ARGUMENTS
  template <typename TAtomics>
  ITK_CUDA_HOST_DEVICE Place
  Add(uint64_t key, uint32_t cracks, size_t size) const
  {
    const Place place = this->Find(key, size, [this, key](size_t slot) {
      const uint64_t found = TAtomics::Load(Keys[slot]); // most passes find a key that is there
      return found == Empty ? TAtomics::CompareAndSwap(Keys[slot], Empty, key) : found;
    });
    TAtomics::Add(Cracks[place.Slot], cracks);
    return place;
  }

  /** The same, but the pass for which the edge is new adds no cracks: most edges are added once. */
  ITK_CUDA_AS_ARGUMENTS
  template <typename TAtomics>
  ITK_CUDA_HOST_DEVICE Place
  AddToOthers(uint64_t key, uint32_t cracks, size_t size) const
  {
    const Place place =
      this->Find(key, size, [this, key](size_t slot) { return TAtomics::CompareAndSwap(Keys[slot], Empty, key); });
    if (!place.IsNew)
    {
      TAtomics::Add(Cracks[place.Slot], cracks);
    }
    return place;
  }

  /** Takes an edge out, whose cracks it returns. No pass may add edges meanwhile. */
  ITK_CUDA_HOST_DEVICE uint32_t
  Take(uint32_t slot) const
  {
    const uint32_t cracks = Cracks[slot];
    Keys[slot] = Empty;
    if (cracks != 0)
    {
      Cracks[slot] = 0;
    }
    return cracks;
  }

private:
  /** The slot of a key. \param lookAt puts the key in the slot if that is free, and returns what was there */
  ITK_CUDA_AS_ARGUMENTS
  template <typename TFunction>
  static ITK_CUDA_HOST_DEVICE Place
  Find(uint64_t key, size_t size, const TFunction & lookAt)
  {
    // A slot is free at all times: the search ends. Multiplication spreads the keys (Knuth, The Art of Computer
    // Programming 3, section 6.4: Fibonacci hashing).
    const uint64_t hash = (key * 0x9E3779B97F4A7C15ull) >> 32;
    for (size_t slot = (hash * size) >> 32;; slot = slot + 1 < size ? slot + 1 : 0)
    {
      const uint64_t found = lookAt(slot);
      if (found == Empty || found == key)
      {
        return { static_cast<uint32_t>(slot), found == Empty };
      }
    }
  }
};

/** The memory of a table, which begins empty. */
template <typename TProcessor>
class EdgeTable
{
public:
  template <typename T>
  using Array = typename TProcessor::template Array<T>;

  EdgeTable(const TProcessor & processor, size_t numberOfEdges)
    : m_Keys(processor.template Allocate<uint64_t>(EdgeTableView::GetSize(numberOfEdges)))
    , m_Cracks(processor.template Allocate<uint32_t>(EdgeTableView::GetSize(numberOfEdges)))
  {
    processor.Fill(m_Keys.Get(), EdgeTableView::GetSize(numberOfEdges), 0xff);
    processor.Fill(m_Cracks.Get(), EdgeTableView::GetSize(numberOfEdges), 0);
  }

  EdgeTableView
  View() const
  {
    return { m_Keys.Get(), m_Cracks.Get() };
  }

private:
  Array<uint64_t> m_Keys;
  Array<uint32_t> m_Cracks;
};
} // namespace itk::cuda::partition

#endif
