// SPDX-License-Identifier: Apache-2.0
#include "region/DeviceSums.h"

#include "runtime/device/Call.h"
#include "runtime/device/Device.h"
#include "runtime/device/Stream.h"
#include "runtime/memory/DeviceMemory.h"
#include "runtime/memory/PinnedMemory.h"
#include "runtime/Process.h"
#include "region/Sums.cuh"
#include "runtime/image/Math.h"
#include "runtime/transfer/Transfer.h"
#include "runtime/memory/Workspace.h"

#include <algorithm>
#include <new>
#include <utility>

// Implements DeviceSums: uploads samples, or uses samples on the device, and computes their prefix sums.

namespace itk::cuda::region
{
namespace
{
using namespace kernels;

constexpr int MaximumRowBlocks = 65535; // limit of the y dimension of a grid

/** Uploads rows of elements. Strides are in elements. */
template <typename T>
void
UploadRowsOf(const T *               host,
             size_t                  hostStride,
             T *                     device,
             size_t                  deviceStride,
             size_t                  width,
             size_t                  height,
             const UploadCallbacks & callbacks,
             StagingMemory &         staging)
{
  CudaImageView from;
  from.Data = const_cast<T *>(host); // views have pointers to writable memory
  from.ComponentType = SampleComponentType<T>();
  from.Size = { { width, height, 1, 1 } };
  from.Stride = { { 1, hostStride, hostStride * height, hostStride * height } };
  DeviceView to;
  to.Data = device;
  to.ComponentType = from.ComponentType;
  to.Size = { { width, height, 1, 1, 1 } };
  to.Stride = { { 1, deviceStride, deviceStride * height, deviceStride * height, deviceStride * height } };
  UploadRows(from, to, staging, callbacks);
}

Event
RecordEvent(const Context & context)
{
  Event event;
  event.Record(context);
  return event;
}

/** Queues the computation of the prefix sums of a range of rows of a level's cells. */
template <typename TPixels>
void
SumCells(const TPixels & pixels, uint32_t exponent, const RowRange & rows, Moments * prefixes, const Context & context)
{
  if (rows.First == rows.End)
  {
    return;
  }
  constexpr int     threads = 256;
  const DeviceCells cells{ { prefixes, pixels.Width >> exponent, pixels.Height >> exponent } };
  ITK_CUDA_CALL(LaunchKernel(SumCellsKernel<typename TPixels::SampleType, TPixels::HasMask>,
                             dim3(static_cast<unsigned int>(cells.Width / threads + 1),
                                  static_cast<unsigned int>(std::min(rows.End - rows.First, MaximumRowBlocks))),
                             dim3(threads),
                             0,
                             context.GetStream(),
                             pixels,
                             exponent,
                             cells,
                             rows,
                             prefixes));
}
} // namespace

DeviceSums::DeviceSums(const SamplesDescription & description, uint32_t coarseExponent, int device)
  : m_Device(device)
  , m_CoarseExponent(coarseExponent)
  , m_Description(description)
{}

DeviceSums::DeviceSums(const Samples & samples, uint32_t coarseExponent, int device)
  : DeviceSums(static_cast<const SamplesDescription &>(samples), coarseExponent, device)
{
  const DeviceGuard guard(device);
  const StreamLease stream(device);
  switch (samples.Type)
  {
    case CudaComponentType::UChar:
      this->UploadAndSum<uint8_t>(samples, stream);
      break;
    case CudaComponentType::UShort:
      this->UploadAndSum<uint16_t>(samples, stream);
      break;
    default:
      this->UploadAndSum<uint32_t>(samples, stream);
      break;
  }
}

DeviceSums::DeviceSums(DeviceSamples && samples, uint32_t coarseExponent, int device)
  : DeviceSums(static_cast<const SamplesDescription &>(samples), coarseExponent, device)
{
  const DeviceGuard  guard(device);
  const DeviceBuffer bits = std::move(samples.BitsMemory);
  const StreamLease  stream(device);
  m_Memory.push_back(std::move(samples.DataMemory));
  m_Samples = samples.Data;
  m_RowStride = samples.RowStride;
  switch (samples.Type)
  {
    case CudaComponentType::UChar:
      this->SumAll<uint8_t>(samples.ValidBits, stream);
      break;
    case CudaComponentType::UShort:
      this->SumAll<uint16_t>(samples.ValidBits, stream);
      break;
    default:
      this->SumAll<uint32_t>(samples.ValidBits, stream);
      break;
  }
}

DeviceSums::~DeviceSums()
{
  if (IsForkedProcess())
  {
    return; // the memory belongs to the parent process
  }
  // Another thread with another current device may run the destructor.
  const DeviceGuard guard(m_Device, std::nothrow);
  m_Memory.clear();
}

/** Allocates memory that lives as long as this object. */
template <typename T>
T *
DeviceSums::Allocate(size_t number, const Context & context)
{
  m_Memory.emplace_back(std::max<size_t>(number, 1) * sizeof(T), context);
  return static_cast<T *>(m_Memory.back().GetPointer());
}

/** Allocates the memory of all sums in one piece, because each allocation takes microseconds.
 * \return the memory for the total, which is set to 0 */
Moments *
DeviceSums::AllocateSums(bool masked, const Context & context)
{
  const size_t checkpoints =
    static_cast<size_t>(m_Description.Width / CheckpointSpacing + 1) * static_cast<size_t>(m_Description.Height);
  const size_t checkpointBytes = checkpoints * sizeof(Checkpoint);
  const size_t maskBytes = masked ? checkpoints * sizeof(MaskCheckpoint) : 0;
  const size_t cellBytes = m_CoarseExponent > 0 ? GetCellBytes(this->GetWhole(), m_CoarseExponent) : 0;
  const size_t bytes = Workspace::GetPieceSize(checkpointBytes) + Workspace::GetPieceSize(maskBytes) +
                       Workspace::GetPieceSize(cellBytes) + Workspace::GetPieceSize(sizeof(Moments));
  Workspace workspace(this->Allocate<char>(bytes, context), bytes);
  m_Checkpoints = static_cast<Checkpoint *>(workspace.Take(checkpointBytes));
  m_Mask = static_cast<MaskCheckpoint *>(workspace.Take(maskBytes));
  m_Cells = static_cast<Moments *>(workspace.Take(cellBytes));
  auto * const total = static_cast<Moments *>(workspace.Take(sizeof(Moments)));
  ITK_CUDA_CALL(cudaMemsetAsync(total, 0, sizeof(Moments), context.GetStream()));
  return total;
}

/** Queues the computation of the checkpoints and cells of a range of rows, and adds their sums to the total. The range
 * begins and ends at boundaries of cells. */
template <typename TSample, bool VMask>
void
DeviceSums::SumRows(size_t           firstRow,
                    size_t           endRow,
                    const uint16_t * validBits,
                    Moments *        total,
                    const Context &  context)
{
  const auto     pixels = GetPixels<TSample, VMask>(*this, this->GetWhole());
  const RowRange rows{ static_cast<int32_t>(firstRow), static_cast<int32_t>(endRow) };
  // SumRowsKernel() can only make cells of this size.
  const bool        makesCells = 1 << m_CoarseExponent == RowsOfBlock;
  const DeviceCells cells{ { m_Cells, pixels.Width >> m_CoarseExponent, pixels.Height >> m_CoarseExponent } };
  ITK_CUDA_CALL(LaunchKernel(SumRowsKernel<TSample, VMask>,
                             dim3(static_cast<unsigned int>((rows.End - rows.First - 1) / RowsOfBlock + 1)),
                             dim3(WarpsOfRows * WarpSize),
                             0,
                             context.GetStream(),
                             pixels,
                             rows,
                             m_Checkpoints,
                             m_Mask,
                             validBits,
                             cells,
                             makesCells ? m_Cells : nullptr,
                             total));
  if (m_CoarseExponent > 0 && !makesCells)
  {
    SumCells(
      pixels, m_CoarseExponent, { rows.First >> m_CoarseExponent, rows.End >> m_CoarseExponent }, m_Cells, context);
  }
}

/** Computes the sums of samples that are in device memory, and waits for them. */
template <typename TSample>
void
DeviceSums::SumAll(const uint16_t * validBits, const StreamLease & stream)
{
  const PinnedBuffer pinned = PinnedBuffer::Take();
  const auto         height = static_cast<size_t>(m_Description.Height);
  Moments * const    total = this->AllocateSums(validBits != nullptr, stream);
  validBits ? this->SumRows<TSample, true>(0, height, validBits, total, stream)
               : this->SumRows<TSample, false>(0, height, validBits, total, stream);
  this->DownloadTotal(total, pinned, stream);
}

/** Uploads the samples and computes their sums. Rows that have arrived are summed on a second stream while other rows
 * are uploaded. */
template <typename TSample>
void
DeviceSums::UploadAndSum(const Samples & samples, const StreamLease & stream)
{
  const auto      width = static_cast<size_t>(samples.Width);
  const auto      height = static_cast<size_t>(samples.Height);
  const size_t    pitch = DeviceSamples::GetPitch(width);
  const size_t    words = samples.GetMaskWordsPerRow();
  TSample * const onDevice = this->Allocate<TSample>(pitch * height, stream);
  m_Samples = onDevice;
  m_RowStride = static_cast<ptrdiff_t>(pitch);
  Moments * const    total = this->AllocateSums(samples.ValidBits != nullptr, stream);
  const DeviceBuffer bitsBuffer(samples.ValidBits ? words * height * sizeof(uint16_t) : 0, stream);
  auto * const       bits = static_cast<uint16_t *>(bitsBuffer.GetPointer());
  const PinnedBuffer pinned = PinnedBuffer::Take();
  StagingMemory      staging(stream);
  const StreamLease  sums(m_Device); // its destructor waits for the work that uses the arrays
  if (pitch > width)
  {
    // Kernels load several samples at once, also at the end of the last row.
    TSample * const end = onDevice + pitch * (height - 1) + width;
    ITK_CUDA_CALL(cudaMemsetAsync(end, 0, (pitch - width) * sizeof(TSample), stream.GetStream()));
  }
  if (bits)
  {
    UploadRowsOf(samples.ValidBits.get(), words, bits, words, words, height, {}, staging);
  }
  const auto sumRows = [&](size_t firstRow, size_t endRow) {
    RecordEvent(stream).MakeWait(sums);
    bits ? this->SumRows<TSample, true>(firstRow, endRow, bits, total, sums)
         : this->SumRows<TSample, false>(firstRow, endRow, bits, total, sums);
  };
  constexpr size_t      groups = 8;
  const size_t          rowsOfCells = size_t{ 1 } << m_CoarseExponent;
  const UploadCallbacks callbacks{ RoundUp((height + groups - 1) / groups, rowsOfCells), sumRows };
  UploadRowsOf(static_cast<const TSample *>(samples.Data),
               static_cast<size_t>(samples.RowStride),
               onDevice,
               pitch,
               width,
               height,
               callbacks,
               staging);
  this->DownloadTotal(total, pinned, sums);
}

/** Copies the total to the host through page-locked memory, and waits for all earlier work on the stream. */
void
DeviceSums::DownloadTotal(const Moments * total, const PinnedBuffer & pinned, const StreamLease & stream)
{
  auto * const exchanged = static_cast<Moments *>(pinned.GetPointer());
  ITK_CUDA_CALL(cudaMemcpyAsync(exchanged, total, sizeof(Moments), cudaMemcpyDeviceToHost, stream.GetStream()));
  stream.Synchronize();
  m_Total = *exchanged;
}

size_t
DeviceSums::GetNumberOfBytes(size_t width, size_t height, size_t bytesPerSample, bool masked, size_t cells)
{
  const size_t checkpoints = (width / CheckpointSpacing + 1) * height;
  const size_t maskBytes = masked ? sizeof(MaskCheckpoint) + sizeof(uint16_t) : 0;
  return DeviceSamples::GetPitch(width) * height * bytesPerSample + checkpoints * (sizeof(Checkpoint) + maskBytes) +
         cells * sizeof(Moments);
}

void
SumPixels(const DeviceSums & sums, const PixelRectangle & rectangle, Moments * total, const Context & context)
{
  ITK_CUDA_CALL(cudaMemsetAsync(total, 0, sizeof(Moments), context.GetStream()));
  VisitSamples(sums, [&](auto sample, auto masked) {
    using SampleType = decltype(sample);
    constexpr bool hasMask = decltype(masked)::value;
    const auto     blocks = static_cast<unsigned int>(rectangle.Height / ThreadsPerBlock + 1);
    ITK_CUDA_CALL(LaunchKernel(SumPixelsKernel<SampleType, hasMask>,
                               dim3(blocks),
                               dim3(ThreadsPerBlock),
                               0,
                               context.GetStream(),
                               GetPixels<SampleType, hasMask>(sums, rectangle),
                               total));
  });
}

void
MakeCells(const DeviceSums &     sums,
          const PixelRectangle & rectangle,
          uint32_t               exponent,
          Moments *              prefixes,
          const Context &        context)
{
  VisitSamples(sums, [&](auto sample, auto masked) {
    SumCells(GetPixels<decltype(sample), decltype(masked)::value>(sums, rectangle),
             exponent,
             { 0, rectangle.Height >> exponent },
             prefixes,
             context);
  });
}
} // namespace itk::cuda::region
