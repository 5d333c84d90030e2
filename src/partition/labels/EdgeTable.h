// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_partition_labels_EdgeTable_h
#define CudaFilters_partition_labels_EdgeTable_h

#include "executor/Executor.h"
#include "partition/Model.h"
#include "runtime/HostDevice.h"

#include <cstddef>
#include <cstdint>

// A hash table with linear probing that merges edges between the same two regions, for executors that run work items
// concurrently. The slot of an edge depends on the order of execution. The set of edges and their boundary lengths do
// not.
namespace itk::cuda::partition
{
/** Encodes a pair of regions as one integer. */
struct EdgeCode
{
  int Bits; // number of bits of a region's number

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
  /** Returns the smaller region of the pair. */
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

/** A hash table in executor memory. Lengths do not overflow, because an image of 2^30 pixels has fewer than 2^31
 * pixel sides. */
struct EdgeTableView
{
  static constexpr uint64_t Empty = ~uint64_t{ 0 }; // not the code of any two different regions

  uint64_t * Keys;
  uint32_t * Lengths;

  struct Entry
  {
    uint32_t Slot;
    bool     IsNew; // true for exactly one of the work items that add this key
  };

  /** Returns the number of slots for `numberOfEdges` edges. The load factor is at most 2/3. */
  static ITK_CUDA_HOST_DEVICE size_t
  GetSize(size_t numberOfEdges)
  {
    return numberOfEdges + numberOfEdges / 2 + 1;
  }

  /** Adds to the length of an edge's boundary. Concurrent work items must use the same number of slots. */
  template <typename TAtomics>
  ITK_CUDA_HOST_DEVICE Entry
  Add(uint64_t key, uint32_t length, size_t size) const
  {
    const Entry entry = this->Find(key, size, [this, key](size_t slot) {
      const uint64_t found = TAtomics::Load(Keys[slot]); // a plain load first, because most keys are already present
      return found == Empty ? TAtomics::CompareAndSwap(Keys[slot], Empty, key) : found;
    });
    TAtomics::Add(Lengths[entry.Slot], length);
    return entry;
  }

  /** Adds to the length of an edge's boundary unless this call inserts the edge. This saves an atomic addition for most
   * edges, which are added only once; the caller keeps the first count. */
  template <typename TAtomics>
  ITK_CUDA_HOST_DEVICE Entry
  AddToOthers(uint64_t key, uint32_t length, size_t size) const
  {
    const Entry entry =
      this->Find(key, size, [this, key](size_t slot) { return TAtomics::CompareAndSwap(Keys[slot], Empty, key); });
    if (!entry.IsNew)
    {
      TAtomics::Add(Lengths[entry.Slot], length);
    }
    return entry;
  }

  /** Removes an edge and returns its length. No work item may add edges concurrently. */
  ITK_CUDA_HOST_DEVICE uint32_t
  Take(uint32_t slot) const
  {
    const uint32_t length = Lengths[slot];
    Keys[slot] = Empty;
    if (length != 0)
    {
      Lengths[slot] = 0;
    }
    return length;
  }

private:
  /** Finds the slot of a key. \param lookAt inserts the key if the slot is empty, and returns the slot's earlier key */
  template <typename TFunction>
  static ITK_CUDA_HOST_DEVICE Entry
  Find(uint64_t key, size_t size, const TFunction & lookAt)
  {
    // The search terminates because there is always an empty slot. The multiplication spreads the keys (Fibonacci
    // hashing; Knuth, The Art of Computer Programming 3, section 6.4).
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

/** Owns the memory of a table, which is initially empty. */
template <typename TExecutor>
class EdgeTable
{
public:
  EdgeTable(const TExecutor & executor, size_t numberOfEdges)
  {
    const size_t slots = EdgeTableView::GetSize(numberOfEdges);
    m_Arrays.Allocate(executor, slots, m_View.Keys, m_View.Lengths);
    executor.Fill(m_View.Keys, slots, 0xff);
    executor.Fill(m_View.Lengths, slots, 0);
  }

  EdgeTableView
  View() const
  {
    return m_View;
  }

private:
  EdgeTableView         m_View{};
  ArrayGroup<TExecutor> m_Arrays;
};
} // namespace itk::cuda::partition

#endif
