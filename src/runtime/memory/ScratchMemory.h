// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_runtime_memory_ScratchMemory_h
#define CudaFilters_runtime_memory_ScratchMemory_h

#include "CudaFiltersExport.h"

#include <cstddef>
#include <type_traits>
#include <utility>

namespace itk::cuda
{
/** \class ScratchMemory
 * \brief Host memory for arrays that may be larger than the machine's memory.
 *
 * If the environment variable ITK_CUDAFILTERS_SCRATCH names a folder, arrays of 64 MiB or more are mapped from files
 * there. The system then writes pages to the disk when memory becomes scarce, and reads those back that are touched
 * again. The files have no names, so they vanish with the object or with the process. Smaller arrays, and all without
 * the variable, are ordinary memory. The memory is not initialised.
 */
class CudaFilters_EXPORT ScratchMemory
{
public:
  static constexpr size_t MinimumBytesOfFile = size_t{ 64 } << 20;

  ScratchMemory() = default;
  /** \exception ExceptionObject if neither the folder nor the memory can take an array of 64 MiB or more
   * \exception std::bad_alloc if the memory cannot take a smaller one */
  explicit ScratchMemory(size_t bytes);
  ~ScratchMemory();

  ScratchMemory(ScratchMemory && other) noexcept { *this = std::move(other); }
  ScratchMemory &
  operator=(ScratchMemory && other) noexcept
  {
    std::swap(m_Pointer, other.m_Pointer);
    std::swap(m_BytesOfFile, other.m_BytesOfFile);
    return *this;
  }

  /** Returns nullptr for an object without memory. */
  void *
  GetPointer() const
  {
    return m_Pointer;
  }

private:
  void * m_Pointer{ nullptr };
  size_t m_BytesOfFile{ 0 }; // 0: ordinary memory
};

/** An array in ScratchMemory. Its elements are not initialised. */
template <typename T>
class ScratchArray
{
public:
  static_assert(std::is_trivially_copyable<T>::value && std::is_trivially_destructible<T>::value);

  ScratchArray() = default;
  explicit ScratchArray(size_t number)
    : m_Memory(number * sizeof(T))
  {}

  T *
  Get() const
  {
    return static_cast<T *>(m_Memory.GetPointer());
  }

private:
  ScratchMemory m_Memory;
};
} // namespace itk::cuda

#endif
