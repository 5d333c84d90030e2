// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_region_DeviceSums_h
#define CudaFilters_region_DeviceSums_h

#include "CudaFiltersExport.h"
#include "runtime/device/Stream.h"
#include "runtime/memory/DeviceMemory.h"
#include "runtime/memory/PinnedMemory.h"
#include "region/DeviceSamples.h"
#include "region/Samples.h"
#include "region/Sums.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace itk::cuda::region
{
/** Where the samples and the sums along rows lie, and how they are made. Nothing here changes a sum. */
struct SumsPlacement
{
  /** In page-locked host memory, which kernels read over the link, for images that are larger than the device's memory.
   * The device then holds only some bands of rows at a time, and the cells. */
  bool             InHostMemory{ false };
  size_t           RowsOfBand{ 0 }; // rounded up to whole cells; 0: chosen automatically
  std::vector<int> Devices;         // sum the bands in turn; empty: the device of the sums
};

/** \class DeviceSums
 * \brief The samples of an image and the prefix sums along its rows, on a device. The sums of the image's levels and
 * of the levels of its rectangles are computed from them.
 *
 * The object is immutable after the constructor, which waits until everything is made. Any number of threads may
 * therefore use the object concurrently, each with its own device context, and none has to wait for an event. The
 * object is not bound to a thread or a stream of the caller, and may outlive them. It must not be destroyed while work
 * that uses it is still running.
 */
class CudaFilters_EXPORT DeviceSums
{
public:
  /** Uploads the samples, which are not needed after the constructor has returned. Rows that have arrived are summed
   * while other rows are uploaded. \param coarseExponent exponent of the whole image's cells, which are kept; 0: no
   * cells are kept
   * \exception CudaError */
  DeviceSums(const Samples & samples, uint32_t coarseExponent, int device, const SumsPlacement & placement = {});
  /** Takes ownership of samples on the device. An image that they use in place must outlive this object.
   * \exception CudaError */
  DeviceSums(DeviceSamples && samples, uint32_t coarseExponent, int device);
  ~DeviceSums();

  DeviceSums(const DeviceSums &) = delete;
  DeviceSums &
  operator=(const DeviceSums &) = delete;

  int
  GetDevice() const
  {
    return m_Device;
  }
  const SamplesDescription &
  GetDescription() const
  {
    return m_Description;
  }
  PixelRectangle
  GetWhole() const
  {
    return { 0, 0, m_Description.Width, m_Description.Height };
  }
  /** Returns the sums of all pixels. They include the sum of squares even if the law does not use it. */
  const Moments &
  GetTotal() const
  {
    return m_Total;
  }
  uint32_t
  GetCoarseExponent() const
  {
    return m_CoarseExponent;
  }

  // Pointers for kernels, to device memory or to host memory (SumsPlacement). Rows of samples are aligned as
  // kernels::DevicePixels requires.
  const void *
  GetSamples() const
  {
    return m_Samples;
  }
  ptrdiff_t
  GetRowStride() const
  {
    return m_RowStride;
  }
  const Checkpoint *
  GetCheckpoints() const
  {
    return m_Checkpoints;
  }
  /** Returns nullptr if there is no mask. */
  const MaskCheckpoint *
  GetMask() const
  {
    return m_Mask;
  }
  /** Returns the prefix sums of the whole image's cells, or nullptr if no cells are kept. */
  const Moments *
  GetCells() const
  {
    return m_Cells;
  }

  /** Returns the bytes of device memory for an image.
   * \param cells number of cells of the level that is kept */
  static size_t
  GetNumberOfBytes(size_t width, size_t height, size_t bytesPerSample, bool masked, size_t cells);

private:
  const int                    m_Device;
  const uint32_t               m_CoarseExponent;
  SamplesDescription           m_Description;
  const void *                 m_Samples{ nullptr };
  ptrdiff_t                    m_RowStride{ 0 };
  Checkpoint *                 m_Checkpoints{ nullptr };
  MaskCheckpoint *             m_Mask{ nullptr };
  Moments *                    m_Cells{ nullptr };
  Moments                      m_Total;
  std::vector<DeviceBuffer>    m_Memory; // owns these arrays, together with m_HostMemory
  std::vector<PageLockedArray> m_HostMemory;

  /** The arrays that SumRows() reads and writes, by the addresses of row 0, or where it would be if the arrays begin at
   * another row. */
  struct RowArrays
  {
    const void *     Samples;
    const uint16_t * ValidBits; // nullptr without a mask
    Checkpoint *     Checkpoints;
    MaskCheckpoint * Mask;
    Moments *        Cells;
    Moments *        Total; // the sums are added to it
  };

  /** Sets the members that need no memory. The other constructors delegate to this one, so that the destructor runs and
   * frees their memory even if they throw. */
  DeviceSums(const SamplesDescription & description, uint32_t coarseExponent, int device);

  template <typename T>
  T *
  Allocate(size_t number, const Context & context);
  Moments *
  AllocateSums(bool masked, const Context & context);
  template <typename TSample>
  void
  SumRows(const RowArrays & arrays, size_t firstRow, size_t endRow, const Context & context) const;
  template <typename TSample, bool VMask>
  void
  SumRowsOf(const RowArrays & arrays, size_t firstRow, size_t endRow, const Context & context) const;
  template <typename TSample>
  void
  SumAll(const uint16_t * validBits, const StreamLease & stream);
  template <typename TSample>
  void
  UploadAndSum(const Samples & samples, const StreamLease & stream);
  template <typename TSample>
  void
  SumInBands(const Samples & samples, const SumsPlacement & placement, const StreamLease & stream);
  void
  DownloadTotal(const Moments * total, const PinnedBuffer & pinned, const StreamLease & stream);
};

/** Queues the summation of all pixels of a rectangle, including their squares even if the law does not use them.
 * \exception CudaError */
void
SumPixels(const DeviceSums & sums, const PixelRectangle & rectangle, Moments * total, const Context & context);

/** Queues the computation of the prefix sums of a rectangle's cells of 2^exponent pixels a side: (columns of cells + 1)
 * sums for each row of cells. \exception CudaError */
void
MakeCells(const DeviceSums &     sums,
          const PixelRectangle & rectangle,
          uint32_t               exponent,
          Moments *              prefixes,
          const Context &        context);

/** Returns the number of bytes that MakeCells() writes. */
inline size_t
GetCellBytes(const PixelRectangle & rectangle, uint32_t exponent)
{
  return (static_cast<size_t>(rectangle.Width >> exponent) + 1) * static_cast<size_t>(rectangle.Height >> exponent) *
         sizeof(Moments);
}
} // namespace itk::cuda::region

#endif
