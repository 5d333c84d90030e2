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
/** Memory of a processor in bytes for LabelSearch, without the samples and their sums. What an image needs beyond this,
 * because more of its pixels are components of their own than of most images, is found out in the run. */
inline size_t
GetLabelSearchBytes(size_t width, size_t height, size_t blockSize)
{
  constexpr size_t perLabel = sizeof(uint32_t);
  // Of EdgeGraph: what GraphView points to, and the regions' numbers. Then those of a quarter of them that are left.
  constexpr size_t perRegion = sizeof(GraphRegion) + 2 * sizeof(uint64_t) + 3 * sizeof(uint32_t) + 1;
  constexpr size_t perListed = sizeof(uint64_t) + sizeof(uint32_t) + sizeof(double);
  constexpr size_t perSlot = sizeof(uint64_t) + sizeof(uint32_t);
  const auto       graph = [](size_t regions, size_t edges) {
    return regions * perRegion + regions / 4 * sizeof(GraphRegion) + 2 * edges * perListed +
           EdgeTableView::GetSize(edges) * perSlot + MostPrices * sizeof(double);
  };
  const size_t cells = ((width - 1) / blockSize + 1) * ((height - 1) / blockSize + 1);
  const size_t pixels = width * height;
  // Labels, parents, ranks and numbers of the pixels. Then their labels, and the graph of the components.
  const size_t components = pixels / 16 + 1;
  const size_t ofComponents = pixels * perLabel + components * sizeof(Moments) + graph(components, 3 * components);
  return std::max({ graph(cells, 2 * cells), 4 * pixels * perLabel, ofComponents });
}

constexpr size_t LargestHeap = size_t{ 32 } << 20;
constexpr size_t GapsOfHeap = size_t{ 4 } << 20; // between its arrays, and what each needs at least

/** Bytes of the heap of a search that takes so many. If the image is small, all arrays lie there. */
inline size_t
GetHeapBytes(size_t searchBytes)
{
  return std::min(searchBytes + GapsOfHeap, LargestHeap);
}

/** Bytes of a search with its heap. Arrays that the largest heap has no room for have blocks of their own. */
inline size_t
GetSearchBytesWithHeap(size_t searchBytes)
{
  return searchBytes + GapsOfHeap <= LargestHeap ? searchBytes + GapsOfHeap : searchBytes + LargestHeap;
}

/** A block of device memory for arrays of one order of work. It lasts as long as one of them. */
struct DeviceHeap
{
  DeviceHeap(size_t bytes, const Context & context)
    : Memory(bytes, context)
    , Places(bytes)
  {}

  DeviceBuffer Memory;
  ArrayHeap    Places;

  bool
  Has(const void * pointer) const
  {
    const auto * const begin = static_cast<const unsigned char *>(Memory.GetPointer());
    return std::less_equal<const void *>()(begin, pointer) &&
           std::less<const void *>()(pointer, begin + Memory.GetSize());
  }
};

/** \class ArrayMemory
 * \brief The device memory of an array: a part of a heap, or a block of its own. */
class ArrayMemory
{
public:
  ArrayMemory() = default;
  explicit ArrayMemory(DeviceBuffer own)
    : m_Pointer(own.GetPointer())
    , m_Own(std::move(own))
  {}
  /** \param begin what the heap's Take(bytes) returned */
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
      m_Heap->Places.Give(m_Begin, m_Bytes);
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
