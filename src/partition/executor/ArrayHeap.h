// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_partition_executor_ArrayHeap_h
#define CudaFilters_partition_executor_ArrayHeap_h

#include "runtime/image/Math.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <vector>

namespace itk::cuda::partition
{
/** \class ArrayHeap
 * \brief Suballocates arrays from one block of memory. All arrays are used in the order of one stream.
 *
 * A phase needs a dozen arrays, and there are dozens of phases. For a small image, allocating them with the driver,
 * which serves one thread at a time, would take as long as the work itself.
 */
class ArrayHeap
{
public:
  static constexpr size_t Alignment = 256;

  explicit ArrayHeap(size_t bytes)
    : m_Free{ { 0, bytes } }
  {}

  /** Returns the offset of `bytes` bytes in the smallest gap that is large enough (best fit; the first one among equal
   * gaps), or no value if there is no such gap. */
  std::optional<size_t>
  Take(size_t bytes)
  {
    m_Free.reserve(++m_NumberOfArrays + 1); // so that Give() never allocates
    const size_t size = RoundUpSize(bytes);
    const auto   least = std::min_element(m_Free.begin(), m_Free.end(), [size](const Gap & a, const Gap & b) {
      const bool hasRoom = a.GetSize() >= size;
      return hasRoom != (b.GetSize() >= size) ? hasRoom : a.GetSize() < b.GetSize();
    });
    if (least == m_Free.end() || least->GetSize() < size)
    {
      --m_NumberOfArrays;
      return std::nullopt;
    }
    const size_t begin = least->Begin;
    least->Begin += size;
    if (least->GetSize() == 0)
    {
      m_Free.erase(least);
    }
    return begin;
  }

  /** Returns the range of a Take() to the free list and joins it with adjacent gaps. */
  void
  Give(size_t begin, size_t bytes) noexcept
  {
    const size_t end = begin + RoundUpSize(bytes);
    auto         next = std::find_if(m_Free.begin(), m_Free.end(), [end](const Gap & gap) { return gap.Begin >= end; });
    const bool   joinsNext = next != m_Free.end() && next->Begin == end;
    const bool   joinsPrevious = next != m_Free.begin() && (next - 1)->End == begin;
    if (joinsNext && joinsPrevious)
    {
      (next - 1)->End = next->End;
      m_Free.erase(next);
    }
    else if (joinsNext)
    {
      next->Begin = begin;
    }
    else if (joinsPrevious)
    {
      (next - 1)->End = end;
    }
    else
    {
      m_Free.insert(next, { begin, end });
    }
    --m_NumberOfArrays;
  }

  size_t
  GetNumberOfGaps() const
  {
    return m_Free.size();
  }

private:
  struct Gap
  {
    size_t Begin;
    size_t End;

    size_t
    GetSize() const
    {
      return End - Begin;
    }
  };

  std::vector<Gap> m_Free; // sorted by offset
  size_t           m_NumberOfArrays{ 0 };

  static size_t
  RoundUpSize(size_t bytes)
  {
    return RoundUp(std::max<size_t>(bytes, 1), Alignment);
  }
};
} // namespace itk::cuda::partition

#endif
