// SPDX-License-Identifier: Apache-2.0
#include "runtime/transfer/PinnedTransfer.h"

#include "runtime/device/Call.h"

#include <algorithm>

// Implements PinnedTransfer. One copy moves all whole runs that are equally spaced, and parts of runs have copies of
// their own.

namespace itk::cuda
{
namespace
{
constexpr size_t minimumRun = 512;          // bytes; the processor gathers shorter rows faster than the copy engine
constexpr size_t maximumPitch = 0x7fffffff; // bytes, a limit of two-dimensional copies that every device supports
constexpr size_t maximumRowsPerCopy = size_t{ 1 } << 20;

/** Returns whether an address is in page-locked memory. If the query fails, the memory is treated as ordinary memory,
 * which is slower but always works. */
bool
IsPinned(const void * address)
{
  cudaPointerAttributes attributes{};
  return ITK_CUDA_TRY(cudaPointerGetAttributes(&attributes, address)) == cudaSuccess &&
         attributes.type == cudaMemoryTypeHost;
}
} // namespace

bool
CanCopyDirectly(const StridedBytes & image)
{
  return image.GetRunSize() >= minimumRun && IsPinned(image.GetFirstByte()) && IsPinned(image.GetLastByte());
}

bool
PinnedTransfer::Suits(const TransferJob & job)
{
  return CanCopyDirectly(job.GetHostBytes());
}

void
PinnedTransfer::Run()
{
  const TransferLayout & layout = m_Job.GetLayout();
  const size_t           batchSize = layout.Direct ? TransferLayout::MaximumBatchSize : layout.BatchSize;
  size_t                 batch = 0;
  for (size_t begin = 0; begin < layout.NumberOfBytes; begin += batchSize, ++batch)
  {
    const size_t end = std::min(begin + batchSize, layout.NumberOfBytes);
    if (!m_Job.IsUpload())
    {
      m_Job.Convert(batch);
    }
    this->CopyBytes(batch, begin, end);
    m_Job.CountSent(begin, end);
    if (m_Job.IsUpload())
    {
      m_Job.Convert(batch);
    }
    m_Job.GetStaging().AwaitTurn();
    m_Job.GetStaging().Synchronize();
    if (end < layout.NumberOfBytes)
    {
      m_Job.ReportBytes(end);
    }
  }
}

/** Queues the copy of bytes `begin` to `end` directly between the host image and the device. */
void
PinnedTransfer::CopyBytes(size_t batch, size_t begin, size_t end)
{
  const StridedBytes & runs = m_Job.GetHostBytes();
  const size_t         step = runs.GetStep();
  const size_t         run = runs.GetRunSize();
  for (size_t position = begin; position < end;)
  {
    const size_t index = position / step;
    const size_t offset = position - index * step;
    char * const device = m_Job.GetDeviceAddress(batch, position);
    if (offset == 0 && end - position >= run)
    {
      const size_t whole = (end - position - run) / step + 1;
      const size_t number = std::min({ whole, runs.GetNumberOfEquidistantRuns(index), maximumRowsPerCopy });
      this->CopyRuns(runs.GetRun(index), device, number);
      position += number * step;
    }
    else if (offset < run)
    {
      const size_t bytes = std::min(run - offset, end - position);
      m_Job.Copy(runs.GetRun(index) + offset, device, bytes);
      position += bytes;
    }
    else
    {
      position = (index + 1) * step; // skips the padding
    }
  }
}

/** Queues the copy of whole runs that are equally spaced on both sides. */
void
PinnedTransfer::CopyRuns(char * host, char * device, size_t numberOfRuns)
{
  const StridedBytes & runs = m_Job.GetHostBytes();
  const bool           upload = m_Job.IsUpload();
  const size_t         hostPitch = runs.GetFirstStride();
  const size_t         devicePitch = runs.GetStep();
  const size_t         run = runs.GetRunSize();
  if (numberOfRuns > 1 && hostPitch <= maximumPitch && devicePitch <= maximumPitch)
  {
    ITK_CUDA_CALL(cudaMemcpy2DAsync(upload ? device : host,
                                    upload ? devicePitch : hostPitch,
                                    upload ? host : device,
                                    upload ? hostPitch : devicePitch,
                                    run,
                                    numberOfRuns,
                                    upload ? cudaMemcpyHostToDevice : cudaMemcpyDeviceToHost,
                                    m_Job.GetContext().GetStream()));
    return;
  }
  for (size_t index = 0; index < numberOfRuns; ++index)
  {
    m_Job.Copy(host + index * hostPitch, device + index * devicePitch, run);
  }
}
} // namespace itk::cuda
