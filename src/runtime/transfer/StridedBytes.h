// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_runtime_transfer_StridedBytes_h
#define CudaFilters_runtime_transfer_StridedBytes_h

#include "CudaFiltersExport.h"
#include "itkCudaDetailImageView.h"
#include "runtime/DetailNames.h"

#include <array>
#include <cstddef>

namespace itk::cuda
{
/** \class StridedBytes
 * \brief Reads or writes the pixels of a host view as one stream of bytes.
 *
 * The stream consists of runs, which are adjacent bytes in host memory. A run is as long as the view allows, such as a
 * row or the whole image. Run r starts at byte r * GetStep() of the stream. With a pitch every run is a row, and the
 * bytes between rows are padding. No GPU is needed.
 */
class CudaFilters_EXPORT StridedBytes
{
public:
  /** \param view rows must be dense if `pitch` is not 0
   * \param pitch distance between rows in the stream in bytes, or 0 for a stream without padding */
  StridedBytes(const CudaImageView & view, size_t pitch);

  /** Returns the bytes of the stream, without padding after the last run. */
  size_t
  GetNumberOfBytes() const
  {
    return m_NumberOfRuns == 0 ? 0 : (m_NumberOfRuns - 1) * m_Step + m_RunSize;
  }

  size_t
  GetRunSize() const
  {
    return m_RunSize;
  }

  size_t
  GetStep() const
  {
    return m_Step;
  }

  /** Returns the host memory of a run. */
  char *
  GetRun(size_t index) const
  {
    return this->MakeCursor(index).Address;
  }

  /** Returns the number of runs from `index` on, including this one, that are GetFirstStride() bytes apart in host
   * memory. */
  size_t
  GetNumberOfEquidistantRuns(size_t index) const
  {
    return m_Count[0] - index % m_Count[0];
  }

  size_t
  GetFirstStride() const
  {
    return m_Stride[0];
  }

  const char *
  GetFirstByte() const
  {
    return m_Data;
  }

  const char *
  GetLastByte() const
  {
    return this->GetRun(m_NumberOfRuns - 1) + m_RunSize - 1;
  }

  /** Copies bytes `begin` to `end` of the stream to `to`. Padding is written as zeros. With `bypassCache` the bytes do
   * not stay in the processor's caches, so that they are sooner in memory, where a device reads them. */
  void
  Gather(char * to, size_t begin, size_t end, bool bypassCache = false) const;

  /** Copies `from`, which holds bytes `begin` to `end` of the stream, to the image. Padding is dropped. See Gather()
   * for `bypassCache`. */
  void
  Scatter(const char * from, size_t begin, size_t end, bool bypassCache = false) const;

private:
  static constexpr unsigned int NumberOfAxes = CudaImageView::MaximumDimension;

  /** A position in the sequence of runs. */
  struct Cursor
  {
    std::array<size_t, NumberOfAxes> Index;
    char *                           Address;
  };

  Cursor
  MakeCursor(size_t index) const;
  void
  Advance(Cursor & cursor) const;

  /** Calls copy(address, bytes, padding) for the part of each run between `begin` and `end`. */
  template <typename TCopy>
  void
  VisitRuns(size_t begin, size_t end, TCopy && copy) const;

  template <typename TWriter>
  void
  GatherBy(TWriter && writer, size_t begin, size_t end) const;

  char *                           m_Data{ nullptr };
  size_t                           m_RunSize{ 0 };
  size_t                           m_Step{ 0 };
  size_t                           m_NumberOfRuns{ 0 };
  std::array<size_t, NumberOfAxes> m_Count{ { 1, 1, 1, 1 } };  // runs along each axis that is not part of a run
  std::array<size_t, NumberOfAxes> m_Stride{ { 0, 0, 0, 0 } }; // bytes
};
} // namespace itk::cuda

#endif
