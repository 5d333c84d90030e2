// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_partition_executor_ExecutorArray_h
#define CudaFilters_partition_executor_ExecutorArray_h

#include <type_traits>
#include <utility>

namespace itk::cuda::partition
{
/** \class ExecutorArray
 * \brief An array in the memory of an executor, with undefined contents at first. It must not outlive its executor.
 * \tparam TMemory a std::unique_ptr<void, ...> that gives the memory back
 */
template <typename T, typename TMemory>
class ExecutorArray
{
public:
  ExecutorArray() = default;
  explicit ExecutorArray(TMemory memory)
    : m_Memory(std::move(memory))
  {
    static_assert(std::is_trivially_copyable_v<T> && std::is_trivially_destructible_v<T>,
                  "Arrays do not construct their elements");
  }
  T *
  Get() const
  {
    return static_cast<T *>(m_Memory.get());
  }

private:
  TMemory m_Memory;
};
} // namespace itk::cuda::partition

#endif
