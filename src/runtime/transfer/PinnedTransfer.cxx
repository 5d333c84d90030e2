// SPDX-License-Identifier: Apache-2.0
#include "runtime/transfer/PinnedTransfer.h"

#include "runtime/device/Call.h"

#include <algorithm>

// Implements transfers of page-locked memory. One copy moves all whole runs that are equally spaced, and parts of runs
// have copies of their own.

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

/** Queues the copy of whole runs that are equally spaced on both sides. */
void
CopyRuns(const TransferJob & job, char * host, char * device, size_t numberOfRuns)
{
  const StridedBytes & runs = job.GetHostBytes();
  const bool           upload = job.IsUpload();
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
                                    job.GetContext().GetStream()));
    return;
  }
  for (size_t index = 0; index < numberOfRuns; ++index)
  {
    job.Copy(host + index * hostPitch, device + index * devicePitch, run);
  }
}
} // namespace

bool
CanCopyDirectly(const StridedBytes & image)
{
  return image.GetRunSize() >= minimumRun && IsPinned(image.GetFirstByte()) && IsPinned(image.GetLastByte());
}

void
CopyDirectly(const TransferJob & job, size_t begin, size_t end)
{
  const StridedBytes & runs = job.GetHostBytes();
  const size_t         step = runs.GetStep();
  const size_t         run = runs.GetRunSize();
  for (size_t position = begin; position < end;)
  {
    const size_t index = position / step;
    const size_t offset = position - index * step;
    char * const device = job.GetDeviceAddress(position);
    if (offset == 0 && end - position >= run)
    {
      const size_t whole = (end - position - run) / step + 1;
      const size_t number = std::min({ whole, runs.GetNumberOfEquidistantRuns(index), maximumRowsPerCopy });
      CopyRuns(job, runs.GetRun(index), device, number);
      position += number * step;
    }
    else if (offset < run)
    {
      const size_t bytes = std::min(run - offset, end - position);
      job.Copy(runs.GetRun(index) + offset, device, bytes);
      position += bytes;
    }
    else
    {
      position = (index + 1) * step; // skips the padding
    }
  }
}
} // namespace itk::cuda
