// SPDX-License-Identifier: Apache-2.0
#include "region/DeviceSums.h"

#include "runtime/device/Call.h"
#include "runtime/device/Device.h"
#include "runtime/device/Stream.h"
#include "runtime/memory/DeviceMemory.h"
#include "runtime/memory/MemoryQuery.h"
#include "runtime/memory/PinnedMemory.h"
#include "runtime/Process.h"
#include "region/Sums.cuh"
#include "runtime/image/Math.h"
#include "runtime/transfer/Transfer.h"
#include "runtime/memory/Workspace.h"

#include <algorithm>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>
#include <vector>

// Implements DeviceSums: uploads samples, or uses samples on the device, and computes their prefix sums, in device
// memory or band by band for arrays in host memory.

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

DeviceSums::DeviceSums(const Samples & samples, uint32_t coarseExponent, int device, const SumsPlacement & placement)
  : DeviceSums(static_cast<const SamplesDescription &>(samples), coarseExponent, device)
{
  const DeviceGuard guard(device);
  const StreamLease stream(device);
  const auto        make = [&](auto sample) {
    using SampleType = decltype(sample);
    placement.InHostMemory ? this->SumInBands<SampleType>(samples, placement, stream)
                                  : this->UploadAndSum<SampleType>(samples, stream);
  };
  switch (samples.Type)
  {
    case CudaComponentType::UChar:
      make(uint8_t{});
      break;
    case CudaComponentType::UShort:
      make(uint16_t{});
      break;
    default:
      make(uint32_t{});
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
  m_HostMemory.clear();
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
 * begins and ends at boundaries of cells. The arrays are on the context's device, which must be the current device. */
template <typename TSample>
void
DeviceSums::SumRows(const RowArrays & arrays, size_t firstRow, size_t endRow, const Context & context) const
{
  arrays.ValidBits ? this->SumRowsOf<TSample, true>(arrays, firstRow, endRow, context)
                   : this->SumRowsOf<TSample, false>(arrays, firstRow, endRow, context);
}

template <typename TSample, bool VMask>
void
DeviceSums::SumRowsOf(const RowArrays & arrays, size_t firstRow, size_t endRow, const Context & context) const
{
  auto pixels = GetPixels<TSample, VMask>(*this, this->GetWhole());
  pixels.Samples = static_cast<const TSample *>(arrays.Samples);
  pixels.Checkpoints = arrays.Checkpoints;
  pixels.Mask = arrays.Mask;
  const RowRange rows{ static_cast<int32_t>(firstRow), static_cast<int32_t>(endRow) };
  // SumRowsKernel() can only make cells of this size.
  const bool        makesCells = 1 << m_CoarseExponent == RowsOfBlock;
  const DeviceCells cells{ { arrays.Cells, pixels.Width >> m_CoarseExponent, pixels.Height >> m_CoarseExponent } };
  ITK_CUDA_CALL(LaunchKernel(SumRowsKernel<TSample, VMask>,
                             dim3(static_cast<unsigned int>((rows.End - rows.First - 1) / RowsOfBlock + 1)),
                             dim3(WarpsOfRows * WarpSize),
                             0,
                             context.GetStream(),
                             pixels,
                             rows,
                             arrays.Checkpoints,
                             arrays.Mask,
                             arrays.ValidBits,
                             cells,
                             makesCells ? arrays.Cells : nullptr,
                             arrays.Total));
  if (m_CoarseExponent > 0 && !makesCells)
  {
    SumCells(pixels,
             m_CoarseExponent,
             { rows.First >> m_CoarseExponent, rows.End >> m_CoarseExponent },
             arrays.Cells,
             context);
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
  this->SumRows<TSample>({ m_Samples, validBits, m_Checkpoints, m_Mask, m_Cells, total }, 0, height, stream);
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
    this->SumRows<TSample>({ onDevice, bits, m_Checkpoints, m_Mask, m_Cells, total }, firstRow, endRow, sums);
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

namespace
{
/** An array whose elements belong to rows: the memory of a band of rows on a device, and the array of the whole image
 * to which they are copied. */
template <typename T>
struct BandArray
{
  T *    OfImage{ nullptr };
  size_t OfOneRow{ 0 }; // elements; 0 if there is no such array
  T *    OnDevice{ nullptr };

  void
  Allocate(Workspace & workspace, size_t rows)
  {
    OnDevice = static_cast<T *>(workspace.Take(this->GetBytes(rows)));
  }

  size_t
  GetBytes(size_t rows) const
  {
    return rows * OfOneRow * sizeof(T);
  }

  /** Returns the address that row 0 would have on the device if the band, which begins at `firstRow`, held it. */
  T *
  GetRowZero(size_t firstRow) const
  {
    return OnDevice ? OnDevice - firstRow * OfOneRow : nullptr;
  }

  void
  CopyToImage(size_t firstRow, size_t endRow, const Context & context) const
  {
    if (OnDevice && endRow > firstRow)
    {
      ITK_CUDA_CALL(cudaMemcpyAsync(OfImage + firstRow * OfOneRow,
                                    OnDevice,
                                    this->GetBytes(endRow - firstRow),
                                    cudaMemcpyDefault,
                                    context.GetStream()));
    }
  }
};

/** The arrays of a band. */
template <typename TSample>
struct BandArrays
{
  BandArray<TSample>        Samples;
  BandArray<Checkpoint>     Checkpoints;
  BandArray<MaskCheckpoint> Mask;
  BandArray<uint16_t>       ValidBits; // of the image: what is uploaded
  BandArray<Moments>        Cells;
  BandArray<Moments>        Total{ nullptr, 1 }; // one for the band

  template <typename TFunction>
  void
  VisitRows(const TFunction & function)
  {
    function(Samples);
    function(Checkpoints);
    function(Mask);
    function(ValidBits);
  }
};

/** A stream, with device memory for the arrays of one band at a time. */
template <typename TSample>
struct BandQueue
{
  StreamLease         Stream;
  StagingMemory       Staging{ Stream };
  BandArrays<TSample> Arrays;
  DeviceBuffer        Memory;

  BandQueue(const BandArrays<TSample> & arrays, size_t rows, size_t rowsOfCells, int device)
    : Stream(device)
    , Arrays(arrays)
  {
    size_t bytes =
      Workspace::GetPieceSize(Arrays.Cells.GetBytes(rowsOfCells)) + Workspace::GetPieceSize(Arrays.Total.GetBytes(1));
    Arrays.VisitRows([&](const auto & array) { bytes += Workspace::GetPieceSize(array.GetBytes(rows)); });
    Memory = DeviceBuffer(bytes, Stream);
    Workspace workspace(Memory.GetPointer(), bytes);
    Arrays.VisitRows([&](auto & array) { array.Allocate(workspace, rows); });
    Arrays.Cells.Allocate(workspace, rowsOfCells);
    Arrays.Total.Allocate(workspace, 1);
    // The total begins at 0. Kernels load several samples at once, also behind the end of a row.
    ITK_CUDA_CALL(cudaMemsetAsync(Memory.GetPointer(), 0, bytes, Stream.GetStream()));
  }
};
} // namespace

/** Allocates arrays in page-locked memory, and computes the sums of the samples in bands of rows: each is uploaded to a
 * device and summed there, and its samples and sums are copied to the arrays while the next band is uploaded. */
template <typename TSample>
void
DeviceSums::SumInBands(const Samples & samples, const SumsPlacement & placement, const StreamLease & stream)
{
  constexpr size_t queuesPerDevice = 2;
  constexpr size_t largestBand = size_t{ 32 } << 20; // bytes
  const auto       width = static_cast<size_t>(samples.Width);
  const auto       height = static_cast<size_t>(samples.Height);
  const size_t     checkpoints = width / CheckpointSpacing + 1;
  const bool       masked = samples.ValidBits != nullptr;

  BandArrays<TSample> arrays;
  arrays.Samples.OfOneRow = DeviceSamples::GetPitch(width);
  arrays.Checkpoints.OfOneRow = checkpoints;
  arrays.Mask.OfOneRow = masked ? checkpoints : 0;
  arrays.ValidBits = { samples.ValidBits.get(), masked ? samples.GetMaskWordsPerRow() : 0 };
  arrays.Cells.OfOneRow = m_CoarseExponent > 0 ? (width >> m_CoarseExponent) + 1 : 0;
  const auto allocateOnHost = [&](auto & array) {
    using Element = std::remove_reference_t<decltype(*array.OfImage)>;
    const PageLockedArray & memory = m_HostMemory.emplace_back(std::max<size_t>(1, array.GetBytes(height)));
    array.OfImage = static_cast<Element *>(memory.GetPointer());
    return static_cast<Element *>(memory.GetDevicePointer());
  };
  m_Samples = allocateOnHost(arrays.Samples);
  m_RowStride = static_cast<ptrdiff_t>(arrays.Samples.OfOneRow);
  m_Checkpoints = allocateOnHost(arrays.Checkpoints);
  m_Mask = masked ? allocateOnHost(arrays.Mask) : nullptr;
  if (m_CoarseExponent > 0)
  {
    m_Cells = this->Allocate<Moments>(arrays.Cells.OfOneRow * (height >> m_CoarseExponent), stream);
    arrays.Cells.OfImage = m_Cells;
    stream.Synchronize(); // other streams write to the memory
  }

  size_t bytesOfRow = 0;
  arrays.VisitRows([&bytesOfRow](const auto & array) { bytesOfRow += array.GetBytes(1); });
  const std::vector<int> devices = placement.Devices.empty() ? std::vector<int>{ m_Device } : placement.Devices;
  // The bands take at most a quarter of the memory, because a run on the image needs memory too. Devices may be equal.
  const size_t numberOfQueues = queuesPerDevice * devices.size();
  const size_t bytesOfBand = std::min(largestBand, GetAvailableDeviceMemory(m_Device) / (4 * numberOfQueues));
  const size_t wanted = placement.RowsOfBand > 0 ? placement.RowsOfBand : std::max<size_t>(1, bytesOfBand / bytesOfRow);
  const size_t rowsOfBand =
    RoundUp(std::min(wanted, height), std::max<size_t>(RowsOfBlock, size_t{ 1 } << m_CoarseExponent));
  const size_t numberOfBands = (height + rowsOfBand - 1) / rowsOfBand;

  const PinnedBuffer                               pinned = PinnedBuffer::Take(); // for the totals
  std::vector<std::unique_ptr<BandQueue<TSample>>> queues;
  for (size_t i = 0; i < std::min(numberOfQueues, numberOfBands); ++i)
  {
    const int         device = devices[i % devices.size()];
    const DeviceGuard guard(device);
    queues.push_back(std::make_unique<BandQueue<TSample>>(arrays, rowsOfBand, rowsOfBand >> m_CoarseExponent, device));
  }
  for (size_t i = 0; i < numberOfBands; ++i)
  {
    BandQueue<TSample> &        queue = *queues[i % queues.size()];
    const BandArrays<TSample> & band = queue.Arrays;
    const Context &             context = queue.Stream;
    const DeviceGuard           guard(context.GetDevice());
    const size_t                first = i * rowsOfBand;
    const size_t                end = std::min(first + rowsOfBand, height);
    const size_t                firstOfCells = first >> m_CoarseExponent;
    const auto                  stride = static_cast<size_t>(samples.RowStride);
    UploadRowsOf(static_cast<const TSample *>(samples.Data) + first * stride,
                 stride,
                 band.Samples.OnDevice,
                 band.Samples.OfOneRow,
                 width,
                 end - first,
                 {},
                 queue.Staging);
    if (masked)
    {
      const size_t words = band.ValidBits.OfOneRow;
      UploadRowsOf(band.ValidBits.OfImage + first * words,
                   words,
                   band.ValidBits.OnDevice,
                   words,
                   words,
                   end - first,
                   {},
                   queue.Staging);
    }
    this->SumRows<TSample>({ band.Samples.GetRowZero(first),
                             band.ValidBits.GetRowZero(first),
                             band.Checkpoints.GetRowZero(first),
                             band.Mask.GetRowZero(first),
                             band.Cells.GetRowZero(firstOfCells),
                             band.Total.OnDevice },
                           first,
                           end,
                           context);
    band.Samples.CopyToImage(first, end, context);
    band.Checkpoints.CopyToImage(first, end, context);
    band.Mask.CopyToImage(first, end, context);
    band.Cells.CopyToImage(firstOfCells, end >> m_CoarseExponent, context);
  }
  auto * const totals = static_cast<Moments *>(pinned.GetPointer());
  for (size_t i = 0; i < queues.size(); ++i)
  {
    const StreamLease & queue = queues[i]->Stream;
    const DeviceGuard   guard(queue.GetDevice());
    queues[i]->Arrays.Total.OfImage = totals + i;
    queues[i]->Arrays.Total.CopyToImage(0, 1, queue);
  }
  for (size_t i = 0; i < queues.size(); ++i)
  {
    queues[i]->Stream.Synchronize();
    m_Total += totals[i];
  }
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
