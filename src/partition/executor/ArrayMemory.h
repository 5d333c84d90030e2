// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_partition_executor_ArrayMemory_h
#define CudaFilters_partition_executor_ArrayMemory_h

#include "partition/executor/EdgeTable.h"
#include "partition/labels/MergeRounds.h"
#include "partition/Model.h"
#include "runtime/device/Stream.h"
#include "runtime/memory/DeviceMemory.h"
#include "partition/executor/ArrayHeap.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <utility>

namespace itk::cuda::partition
{
/** Estimates the executor memory in bytes that LabelSearch needs, without the samples and their prefix sums. An image
 * with unusually many one-pixel components needs more, which shows only during the run. */
inline size_t
GetLabelSearchBytes(size_t width, size_t height, size_t blockSize)
{
  constexpr size_t perLabel = sizeof(uint32_t);
  // Memory of an EdgeGraph: the arrays of GraphView and the numbers of the regions. The compacted copy of the regions
  // is made when a quarter of them remain.
  constexpr size_t perRegion = sizeof(GraphRegion) + 2 * sizeof(uint64_t) + 3 * sizeof(uint32_t) + 1;
  constexpr size_t perListed = sizeof(uint64_t) + sizeof(uint32_t) + sizeof(double);
  constexpr size_t perSlot = sizeof(uint64_t) + sizeof(uint32_t);
  const auto       graph = [](size_t regions, size_t edges) {
    return regions * perRegion + regions / 4 * sizeof(GraphRegion) + 2 * edges * perListed +
           EdgeTableView::GetSize(edges) * perSlot + MaximumCachedCosts * sizeof(double);
  };
  const size_t cells = ((width - 1) / blockSize + 1) * ((height - 1) / blockSize + 1);
  const size_t pixels = width * height;
  // First the labels, parents, ranks and numbers of the pixels; later the labels and the graph of the components.
  const size_t components = pixels / 16 + 1;
  const size_t ofComponents = pixels * perLabel + components * sizeof(Moments) + graph(components, 3 * components);
  return std::max({ graph(cells, 2 * cells), 4 * pixels * perLabel, ofComponents });
}

constexpr size_t MaximumHeapBytes = size_t{ 32 } << 20;
constexpr size_t GapsOfHeap = size_t{ 4 } << 20; // gaps between the arrays, and the minimum size of each

/** Returns the size in bytes of the heap for a search that needs `searchBytes`. For a small image, all arrays are in
 * the heap. */
inline size_t
GetHeapBytes(size_t searchBytes)
{
  return std::min(searchBytes + GapsOfHeap, MaximumHeapBytes);
}

/** Returns the memory in bytes of a search including its heap. Arrays that do not fit into the largest heap are
 * allocated separately. */
inline size_t
GetSearchBytesWithHeap(size_t searchBytes)
{
  return searchBytes + GapsOfHeap <= MaximumHeapBytes ? searchBytes + GapsOfHeap : searchBytes + MaximumHeapBytes;
}

/** A block of device memory for arrays that are used in the order of one stream. Its arrays share its ownership, so
 * that it lives as long as the last one. */
struct DeviceHeap
{
  DeviceHeap(size_t bytes, const Context & context)
    : Memory(bytes, context)
    , Blocks(bytes)
  {}

  DeviceBuffer Memory;
  ArrayHeap    Blocks;

  bool
  Has(const void * pointer) const
  {
    const auto * const begin = static_cast<const unsigned char *>(Memory.GetPointer());
    return std::less_equal<const void *>()(begin, pointer) &&
           std::less<const void *>()(pointer, begin + Memory.GetSize());
  }
};

/** \class ArrayMemory
 * \brief Owns the device memory of an array, which is either a part of a heap or an allocation of its own.
 */
class ArrayMemory
{
public:
  ArrayMemory() = default;
  explicit ArrayMemory(DeviceBuffer own)
    : m_Pointer(own.GetPointer())
    , m_Own(std::move(own))
  {}
  /** \param begin the return value of the heap's Take(bytes) */
  ArrayMemory(std::shared_ptr<DeviceHeap> heap, size_t begin, size_t bytes)
    : m_Pointer(static_cast<unsigned char *>(heap->Memory.GetPointer()) + begin)
    , m_Heap(std::move(heap))
    , m_Begin(begin)
    , m_Bytes(bytes)
  {}
  ArrayMemory(ArrayMemory && other) noexcept { this->Swap(other); }
  ArrayMemory &
  operator=(ArrayMemory && other) noexcept
  {
    ArrayMemory(std::move(other)).Swap(*this);
    return *this;
  }
  ~ArrayMemory()
  {
    if (m_Heap)
    {
      m_Heap->Blocks.Give(m_Begin, m_Bytes);
    }
  }

  void *
  GetPointer() const
  {
    return m_Pointer;
  }

private:
  void *                      m_Pointer{ nullptr };
  DeviceBuffer                m_Own;
  std::shared_ptr<DeviceHeap> m_Heap;
  size_t                      m_Begin{ 0 };
  size_t                      m_Bytes{ 0 };

  void
  Swap(ArrayMemory & other) noexcept
  {
    std::swap(m_Pointer, other.m_Pointer);
    std::swap(m_Own, other.m_Own);
    std::swap(m_Heap, other.m_Heap);
    std::swap(m_Begin, other.m_Begin);
    std::swap(m_Bytes, other.m_Bytes);
  }
};
} // namespace itk::cuda::partition

#endif
