// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaPartitionArrayMemory_h
#define itkCudaPartitionArrayMemory_h

#include "itkCudaContext.h"
#include "itkCudaDeviceMemory.h"
#include "itkCudaPartitionArrayHeap.h"

#include <cstddef>
#include <functional>
#include <memory>
#include <utility>

namespace itk::cuda::partition
{
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
