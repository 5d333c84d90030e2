// SPDX-License-Identifier: Apache-2.0
#include "itkCudaHostRuns.h"

#include <algorithm>
#include <cstdint>
#include <cstring>

#ifdef __SSE2__
#  include <emmintrin.h>
#endif

namespace itk::cuda
{
namespace
{
/** As std::memcpy(), by stores that leave the caches alone where the processor has such. */
void
CopyPastCache(char * to, const char * from, size_t bytes)
{
#ifdef __SSE2__
  constexpr size_t vector = sizeof(__m128i);
  constexpr size_t line = 4 * vector; // stored at once, so that it is written as a whole
  const size_t     head = std::min(bytes, (line - reinterpret_cast<uintptr_t>(to) % line) % line);
  std::memcpy(to, from, head);
  size_t position = head;
  for (; position + line <= bytes; position += line)
  {
    const auto * const source = reinterpret_cast<const __m128i *>(from + position);
    auto * const       target = reinterpret_cast<__m128i *>(to + position);
    const __m128i      a = _mm_loadu_si128(source);
    const __m128i      b = _mm_loadu_si128(source + 1);
    const __m128i      c = _mm_loadu_si128(source + 2);
    const __m128i      d = _mm_loadu_si128(source + 3);
    _mm_stream_si128(target, a);
    _mm_stream_si128(target + 1, b);
    _mm_stream_si128(target + 2, c);
    _mm_stream_si128(target + 3, d);
  }
  std::memcpy(to + position, from + position, bytes - position);
  _mm_sfence(); // the device must see them after whatever starts its copy
#else
  std::memcpy(to, from, bytes);
#endif
}
} // namespace

HostRuns::HostRuns(const CudaImageView & view, size_t pitch)
  : m_Data(static_cast<char *>(view.Data))
{
  const size_t componentSize = CudaComponentSize(view.ComponentType);
  m_RunSize = view.NumberOfComponents * componentSize;

  unsigned int       axis = 0;
  const unsigned int lastRunAxis = pitch == 0 ? NumberOfAxes : 1;
  while (axis < lastRunAxis && (view.Size[axis] == 1 || view.Stride[axis] * componentSize == m_RunSize))
  {
    m_RunSize *= view.Size[axis];
    ++axis;
  }
  m_Step = pitch == 0 ? m_RunSize : pitch;

  unsigned int outer = 0; // axes of runs so far
  for (; axis < NumberOfAxes; ++axis)
  {
    const size_t stride = view.Stride[axis] * componentSize;
    if (view.Size[axis] == 1)
    {
      continue;
    }
    if (outer > 0 && stride == m_Stride[outer - 1] * m_Count[outer - 1])
    {
      m_Count[outer - 1] *= view.Size[axis];
      continue;
    }
    m_Stride[outer] = stride;
    m_Count[outer] = view.Size[axis];
    ++outer;
  }
  m_NumberOfRuns = m_RunSize == 0 ? 0 : m_Count[0] * m_Count[1] * m_Count[2] * m_Count[3];
}

HostRuns::Cursor
HostRuns::MakeCursor(size_t index) const
{
  Cursor cursor{ {}, m_Data };
  for (unsigned int axis = 0; axis < NumberOfAxes; ++axis)
  {
    cursor.Index[axis] = index % m_Count[axis];
    cursor.Address += cursor.Index[axis] * m_Stride[axis];
    index /= m_Count[axis];
  }
  return cursor;
}

void
HostRuns::Advance(Cursor & cursor) const
{
  for (unsigned int axis = 0; axis < NumberOfAxes; ++axis)
  {
    if (++cursor.Index[axis] < m_Count[axis])
    {
      cursor.Address += m_Stride[axis];
      return;
    }
    cursor.Address -= (m_Count[axis] - 1) * m_Stride[axis];
    cursor.Index[axis] = 0;
  }
}

template <typename TCopy>
void
HostRuns::VisitRuns(size_t begin, size_t end, TCopy && copy) const
{
  if (begin >= end)
  {
    return;
  }
  Cursor cursor = this->MakeCursor(begin / m_Step);
  size_t offset = begin % m_Step;
  for (size_t position = begin; position < end; offset = 0)
  {
    const size_t available = std::min(m_Step - offset, end - position);
    const size_t bytes = offset < m_RunSize ? std::min(m_RunSize - offset, available) : 0;
    copy(cursor.Address + std::min(offset, m_RunSize), bytes, available - bytes);
    position += available;
    this->Advance(cursor);
  }
}

void
HostRuns::Gather(char * to, size_t begin, size_t end, bool pastCache) const
{
  constexpr size_t shortRun = 1024; // bytes; lines of which a part is written past the caches take longer
  const auto       copy = pastCache && m_RunSize >= shortRun ? CopyPastCache : [](char * a, const char * b, size_t n) {
    std::memcpy(a, b, n);
  };
  this->VisitRuns(begin, end, [&to, copy](const char * host, size_t bytes, size_t padding) {
    copy(to, host, bytes);
    std::memset(to + bytes, 0, padding);
    to += bytes + padding;
  });
}

void
HostRuns::Scatter(const char * from, size_t begin, size_t end) const
{
  this->VisitRuns(begin, end, [&from](char * host, size_t bytes, size_t padding) {
    std::memcpy(host, from, bytes);
    from += bytes + padding;
  });
}
} // namespace itk::cuda
