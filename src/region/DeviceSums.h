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
/** \class DeviceSums
 * \brief The samples of an image and the sums along its rows, on a device. The sums of its levels and of its
 * rectangles' levels are made of them.
 *
 * Nothing changes after the constructor, which waits until everything is made. Any number of threads may therefore use
 * the object at once, each with a device context of its own, and no thread must wait for an event. The object belongs
 * to no thread and to no stream of the caller's, and may outlive them. It may be destroyed when all work that uses it
 * is done.
 */
class CudaFilters_EXPORT DeviceSums
{
public:
  /** Uploads the samples, which are not needed after it has returned. It makes the sums of rows that have arrived while
   * other rows are on their way. \param coarseExponent of the whole image's cells, which are kept; 0: none are
   * \exception CudaError */
  DeviceSums(const Samples & samples, uint32_t coarseExponent, int device);
  /** Takes samples on the device, with their memory. An image that they use in place must live longer.
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
  /** Of all pixels, with squares for every law. */
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

  // In device memory. Rows of samples are aligned as kernels::DevicePixels wants them.
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
  /** nullptr without a mask. */
  const MaskCheckpoint *
  GetMask() const
  {
    return m_Mask;
  }
  /** Prefixes of the whole image's cells; nullptr if there are none. */
  const Moments *
  GetCells() const
  {
    return m_Cells;
  }

  /** Device memory in bytes for an image.
   * \param cells of the level that is kept */
  static size_t
  GetNumberOfBytes(size_t width, size_t height, size_t bytesPerSample, bool masked, size_t cells);

private:
  const int                 m_Device;
  const uint32_t            m_CoarseExponent;
  SamplesDescription        m_Description;
  const void *              m_Samples{ nullptr };
  ptrdiff_t                 m_RowStride{ 0 };
  Checkpoint *              m_Checkpoints{ nullptr };
  MaskCheckpoint *          m_Mask{ nullptr };
  Moments *                 m_Cells{ nullptr };
  Moments                   m_Total;
  std::vector<DeviceBuffer> m_Memory; // of all of these

  /** After this constructor, the destructor frees what another constructor has allocated, also after an exception. */
  DeviceSums(const SamplesDescription & description, uint32_t coarseExponent, int device);

  template <typename T>
  T *
  Allocate(size_t number, const Context & context);
  Moments *
  AllocateSums(bool masked, const Context & context);
  template <typename TSample, bool VMask>
  void
  SumRows(size_t firstRow, size_t endRow, const uint16_t * validBits, Moments * total, const Context & context);
  template <typename TSample>
  void
  SumAll(const uint16_t * validBits, const StreamLease & stream);
  template <typename TSample>
  void
  UploadAndSum(const Samples & samples, const StreamLease & stream);
  void
  TakeTotal(const Moments * total, const PinnedBuffer & pinned, const StreamLease & stream);
};

/** Queues the sums of all pixels of a rectangle, with squares for every law.
 * \exception CudaError */
void
SumPixels(const DeviceSums & sums, const PixelRectangle & rectangle, Moments * total, const Context & context);

/** Queues the prefixes of a rectangle's cells of 2^exponent pixels a side: (columns of cells + 1) for each row of
 * cells. \exception CudaError */
void
MakeCells(const DeviceSums &     sums,
          const PixelRectangle & rectangle,
          uint32_t               exponent,
          Moments *              prefixes,
          const Context &        context);

/** Bytes of what MakeCells() writes. */
inline size_t
GetCellBytes(const PixelRectangle & rectangle, uint32_t exponent)
{
  return (static_cast<size_t>(rectangle.Width >> exponent) + 1) * static_cast<size_t>(rectangle.Height >> exponent) *
         sizeof(Moments);
}
} // namespace itk::cuda::region

#endif
