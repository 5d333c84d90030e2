// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_executor_ArrayHeap_h
#define CudaFilters_executor_ArrayHeap_h

#include "runtime/image/Math.h"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <iterator>
#include <map>

namespace itk::cuda::executor
{
/** \class ArrayHeap
 * \brief Suballocates arrays from one block of memory, which it does not own. All arrays are used in the order of one
 * stream.
 *
 * A phase needs a dozen arrays, and there are dozens of phases. For a small image, allocating them with the driver,
 * which serves one thread at a time, would take as long as the work itself.
 */
class ArrayHeap
{
public:
  static constexpr size_t Alignment = 256;

  /** `memory` must be aligned to Alignment. */
  ArrayHeap(void * memory, size_t bytes)
    : m_Parts{ { static_cast<unsigned char *>(memory), { bytes, true } } }
  {}

  /** Returns the smallest free part that has room for `bytes` bytes (best fit; the first one among equal parts), or
   * nullptr if there is none. */
  void *
  Take(size_t bytes)
  {
    const size_t size = RoundUp(std::max<size_t>(bytes, 1), Alignment);
    auto         best = m_Parts.end();
    for (auto part = m_Parts.begin(); part != m_Parts.end(); ++part)
    {
      if (part->second.IsFree && part->second.Size >= size &&
          (best == m_Parts.end() || part->second.Size < best->second.Size))
      {
        best = part;
      }
    }
    if (best == m_Parts.end())
    {
      return nullptr;
    }
    if (best->second.Size > size)
    {
      m_Parts.emplace_hint(std::next(best), best->first + size, Part{ best->second.Size - size, true });
    }
    best->second = { size, false };
    return best->first;
  }

  /** Takes an array of Take() back, and joins its part with adjacent free parts. */
  void
  Give(void * array) noexcept
  {
    const auto part = m_Parts.find(static_cast<unsigned char *>(array));
    part->second.IsFree = true;
    this->JoinIfFree(part);
    if (part != m_Parts.begin())
    {
      this->JoinIfFree(std::prev(part));
    }
  }

  bool
  Has(const void * array) const
  {
    const auto & [last, part] = *m_Parts.rbegin();
    return std::less_equal<const void *>()(m_Parts.begin()->first, array) &&
           std::less<const void *>()(array, last + part.Size);
  }

private:
  struct Part
  {
    size_t Size;
    bool   IsFree;
  };
  using Parts = std::map<unsigned char *, Part>; // by address, without gaps

  Parts m_Parts;

  /** Joins a part with the next one if both are free. */
  void
  JoinIfFree(Parts::iterator part) noexcept
  {
    const auto next = std::next(part);
    if (next != m_Parts.end() && part->second.IsFree && next->second.IsFree)
    {
      part->second.Size += next->second.Size;
      m_Parts.erase(next);
    }
  }
};
} // namespace itk::cuda::executor

#endif
