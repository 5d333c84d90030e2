// SPDX-License-Identifier: Apache-2.0
#include "runtime/transfer/StridedBytes.h"

#include <algorithm>
#include <cstdint>
#include <cstring>

#ifdef __SSE2__
#  include <emmintrin.h>
#endif

// Implements StridedBytes with copies that go through the caches or bypass them.

namespace itk::cuda
{
namespace
{
constexpr size_t ShortRun = 1024; // bytes; a cache line takes longer if only a part of it bypasses the caches

/** Writes a stream of bytes through the caches. */
class CachedWriter
{
public:
  explicit CachedWriter(char * to)
    : m_To(to)
  {}

  void
  Write(const char * from, size_t bytes, size_t zeros)
  {
    std::memcpy(m_To, from, bytes);
    std::memset(m_To + bytes, 0, zeros);
    m_To += bytes + zeros;
  }

  void
  Finish()
  {}

private:
  char * m_To;
};

#ifdef __SSE2__
/** Writes a stream of bytes with non-temporal stores, which bypass the caches. Eight pages are copied together, one
 * cache line of each in turn, because the processor then prefetches more lines (30 MB, 8 threads of a Xeon: 0.72 ms
 * instead of 0.9 ms).
 *
 * With `fetchesAhead` each line is prefetched eight pages before its turn. With it, 8 threads of a Xeon read 268 MB of
 * ordinary memory in 8 % less time while a download was running. A download does not fetch ahead, because its source is
 * in the caches, and 8 threads took 10 % longer with it. */
class NonTemporalWriter
{
public:
  NonTemporalWriter(char * to, bool fetchesAhead)
    : m_To(to)
    , m_FetchesAhead(fetchesAhead)
  {}

  void
  Write(const char * from, size_t bytes, size_t zeros)
  {
    const size_t head = std::min(bytes, (LineSize - reinterpret_cast<uintptr_t>(m_To) % LineSize) % LineSize);
    const size_t body = (bytes - head) / LineSize * LineSize;
    std::memcpy(m_To, from, head);
    for (size_t position = head; position < head + body; position += PageSize)
    {
      this->Add({ m_To + position, from + position, std::min(PageSize, head + body - position) / LineSize });
    }
    std::memcpy(m_To + head + body, from + head + body, bytes - head - body);
    std::memset(m_To + bytes, 0, zeros);
    m_To += bytes + zeros;
  }

  void
  Finish()
  {
    this->CopyPages();
    _mm_sfence(); // the lines must be visible to the device before anything that starts its copy
  }

private:
  static constexpr size_t LineSize = 64; // a line is stored as a whole
  static constexpr size_t PageSize = 4096;
  static constexpr size_t PagesAtOnce = 8;

  struct Page
  {
    char *       To;
    const char * From;
    size_t       NumberOfLines;
  };

  void
  Add(const Page & page)
  {
    m_Pages[m_NumberOfPages] = page;
    if (++m_NumberOfPages == PagesAtOnce)
    {
      this->CopyPages();
    }
  }

  void
  CopyPages()
  {
    for (size_t line = 0; line < PageSize / LineSize; ++line)
    {
      for (size_t i = 0; i < m_NumberOfPages; ++i)
      {
        if (line < m_Pages[i].NumberOfLines)
        {
          const char * const from = m_Pages[i].From + line * LineSize;
          if (m_FetchesAhead)
          {
            _mm_prefetch(from + PagesAtOnce * PageSize, _MM_HINT_T0); // prefetching beyond the image's end is allowed
          }
          CopyLine(m_Pages[i].To + line * LineSize, from);
        }
      }
    }
    m_NumberOfPages = 0;
  }

  static void
  CopyLine(char * to, const char * from)
  {
    const auto * const source = reinterpret_cast<const __m128i *>(from);
    auto * const       target = reinterpret_cast<__m128i *>(to);
    const __m128i      a = _mm_loadu_si128(source);
    const __m128i      b = _mm_loadu_si128(source + 1);
    const __m128i      c = _mm_loadu_si128(source + 2);
    const __m128i      d = _mm_loadu_si128(source + 3);
    _mm_stream_si128(target, a);
    _mm_stream_si128(target + 1, b);
    _mm_stream_si128(target + 2, c);
    _mm_stream_si128(target + 3, d);
  }

  char *                        m_To;
  const bool                    m_FetchesAhead;
  std::array<Page, PagesAtOnce> m_Pages;
  size_t                        m_NumberOfPages{ 0 };
};
#else
class NonTemporalWriter : public CachedWriter
{
public:
  NonTemporalWriter(char * to, bool)
    : CachedWriter(to)
  {}
};
#endif
} // namespace

StridedBytes::StridedBytes(const CudaImageView & view, size_t pitch)
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

  unsigned int outer = 0; // number of axes of runs so far
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

StridedBytes::Cursor
StridedBytes::MakeCursor(size_t index) const
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
StridedBytes::Advance(Cursor & cursor) const
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
StridedBytes::VisitRuns(size_t begin, size_t end, TCopy && copy) const
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

template <typename TWriter>
void
StridedBytes::GatherBy(TWriter && writer, size_t begin, size_t end) const
{
  this->VisitRuns(
    begin, end, [&writer](const char * host, size_t bytes, size_t padding) { writer.Write(host, bytes, padding); });
  writer.Finish();
}

void
StridedBytes::Gather(char * to, size_t begin, size_t end, bool bypassCache) const
{
  if (bypassCache && m_RunSize >= ShortRun)
  {
    this->GatherBy(NonTemporalWriter(to, true), begin, end);
  }
  else
  {
    this->GatherBy(CachedWriter(to), begin, end);
  }
}

void
StridedBytes::Scatter(const char * from, size_t begin, size_t end, bool bypassCache) const
{
  const bool bypass = bypassCache && m_RunSize >= ShortRun;
  this->VisitRuns(begin, end, [&from, bypass](char * host, size_t bytes, size_t padding) {
    if (bypass)
    {
      NonTemporalWriter writer(host, false);
      writer.Write(from, bytes, 0);
      writer.Finish();
    }
    else
    {
      std::memcpy(host, from, bytes);
    }
    from += bytes + padding;
  });
}
} // namespace itk::cuda
