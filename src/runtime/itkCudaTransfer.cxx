// SPDX-License-Identifier: Apache-2.0
#include "itkCudaTransfer.h"

#include "itkCudaDeviceGuard.h"
#include "itkCudaHelperThreads.h"
#include "itkCudaPinnedTransfer.h"
#include "itkCudaSettings.h"
#include "itkCudaStagedInSlices.h"
#include "itkCudaStagedPerThread.h"
#include "itkCudaTransferJob.h"
#include "itkCudaTransferLayout.h"
#include "itkMacro.h"

#include <algorithm>
#include <atomic>
#include <memory>

namespace itk::cuda
{
namespace
{
// Fewer bytes are not worth a thread.
constexpr size_t bytesPerUploadThread = size_t{ 1 } << 19;
constexpr size_t bytesPerDownloadThread = size_t{ 1 } << 20;
// On one H200 with 16 cores, with chunks for each thread, an upload of 200 MB takes 5.6 ms with 4 threads, 4.4 ms with
// 6 and 4.5 ms with 8. An upload of 30 MB takes 1.3 ms, 1.0 ms and 1.0 ms.
constexpr unsigned int maximumUploadThreads = 8;

std::atomic<unsigned long> uploads{ 0 };
std::atomic<unsigned long> downloads{ 0 };
std::atomic<unsigned long> uploadedBytes{ 0 };
std::atomic<unsigned long> downloadedBytes{ 0 };

void
CheckViews(const CudaImageView & host, const DeviceView & device)
{
  if (GetPlanarSize(host) != device.Size || device.Stride[0] != 1)
  {
    itkGenericExceptionMacro(<< "The device image differs in size or components from the host image of " << host.Size[0]
                             << " x " << host.Size[1] << " x " << host.Size[2] << " x " << host.Size[3] << " pixels of "
                             << host.NumberOfComponents << " components, or its rows are not dense");
  }
  if (!IsComputeType(device.ComponentType) &&
      !(device.ComponentType == host.ComponentType && MakeTransferLayout(host, device).Direct))
  {
    itkGenericExceptionMacro(<< "The device image has components of type " << static_cast<int>(device.ComponentType)
                             << "; it must have Float or Double, or dense rows of the host image's type, "
                             << static_cast<int>(host.ComponentType) << ", and one component to a pixel");
  }
}

/** Threads of all for a job beside a job in the other direction. Another two threads queue work and wait for copies.
 * They need a processor. On one H200 with 16 cores smoothing of 8192^2 takes 9.4 ms with 7 threads for each direction,
 * and 9.6 ms with 8.
 *
 * Threads of a large upload write through their caches, and read as much as they write. Those of a download write past
 * the caches what the link brought there. 512 MiB each way take 12.2 to 14.4 ms with 9 threads and 5, and 13.3 to 15.2
 * ms with 7 and 7. */
unsigned int
GetShareOfThreads(const TransferJob & job, unsigned int all)
{
  if (!job.GetLayout().IsLarge())
  {
    return (all + 1) / 2 - all / 16;
  }
  return ((job.IsUpload() ? 9 : 5) * all + 8) / 16;
}

/** Threads that the job is worth, the calling one included. */
unsigned int
GetUsefulThreads(const TransferJob & job)
{
  const unsigned int all = GetNumberOfTransferThreads();
  const unsigned int ofAll = job.IsUpload() ? std::min(all, maximumUploadThreads) : all;
  const unsigned int limit = std::max(1u, job.GetStaging().SharesHost() ? GetShareOfThreads(job, all) : ofAll);
  const size_t       share = job.IsUpload() ? bytesPerUploadThread : bytesPerDownloadThread;
  return static_cast<unsigned int>(std::clamp<size_t>(job.GetLayout().NumberOfBytes / share, 1, limit));
}

std::unique_ptr<StagedTransfer>
MakeStagedTransfer(TransferJob & job, size_t workers)
{
  if (StagedInSlices::Suits(job.GetLayout().NumberOfBytes, workers))
  {
    return std::make_unique<StagedInSlices>(job, workers);
  }
  return std::make_unique<StagedPerThread>(job, workers);
}

/** A transfer that has a turn asks for threads when it is its turn: until then another one has them. */
void
RunStaged(TransferJob & job, std::unique_ptr<StagedTransfer> & staged)
{
  const StagingChunks & staging = job.GetStaging();
  HelperThreads         own;
  HelperThreads &       helpers = staging.GetHelpers() ? *staging.GetHelpers() : own;
  const unsigned int    wanted = GetUsefulThreads(job) - 1;
  unsigned int          number = wanted;
  if (!staging.HasTurn())
  {
    number = helpers.Reserve(wanted);
  }
  staged = MakeStagedTransfer(job, number + size_t{ 1 });
  staged->Begin();
  if (staging.HasTurn())
  {
    staging.AwaitTurn();
    number = helpers.Reserve(wanted);
  }
  staged->Run(helpers, number);
}

void
Run(TransferJob & job)
{
  if (job.GetLayout().NumberOfBytes == 0)
  {
    return;
  }
  const DeviceGuard               guard(job.GetContext().GetDevice());
  std::unique_ptr<StagedTransfer> staged; // lives until nothing is in flight
  try
  {
    if (PinnedTransfer::Suits(job))
    {
      PinnedTransfer(job).Run();
    }
    else
    {
      RunStaged(job, staged);
    }
    job.Report(1.0f);
  }
  catch (...)
  {
    // Copies in flight still use the host image and the page-locked memory.
    job.GetStaging().Drain();
    throw;
  }
}

/** Calls a transfer that may leave work on the stream, and waits for that work. */
template <typename TTransfer>
void
RunToTheEnd(const Context & context, const TTransfer & transfer)
{
  const DeviceGuard guard(context.GetDevice());
  StagingChunks     staging(context);
  transfer(staging);
  staging.Synchronize();
}
} // namespace

void
Upload(const CudaImageView &    host,
       const DeviceView &       device,
       StagingChunks &          staging,
       const TransferProgress & progress)
{
  ++uploads;
  uploadedBytes += host.GetNumberOfBytes();
  CheckViews(host, device);
  const RowGroups nobody{};
  TransferJob     job(TransferDirection::Upload, host, device, staging, progress, nobody);
  Run(job);
}

void
UploadRows(const CudaImageView & host, const DeviceView & device, StagingChunks & staging, const RowGroups & groups)
{
  ++uploads;
  uploadedBytes += host.GetNumberOfBytes();
  CheckViews(host, device);
  if (host.ComponentType != device.ComponentType || !MakeTransferLayout(host, device).Direct)
  {
    itkGenericExceptionMacro(<< "The device image has components of type " << static_cast<int>(device.ComponentType)
                             << " and rows " << device.Stride[1] << " elements apart; an upload of rows needs the "
                             << "host image's type, " << static_cast<int>(host.ComponentType)
                             << ", dense rows and little padding");
  }
  const TransferProgress silent;
  TransferJob            job(TransferDirection::Upload, host, device, staging, silent, groups);
  Run(job);
}

void
Download(const DeviceView &       device,
         const CudaImageView &    host,
         StagingChunks &          staging,
         const TransferProgress & progress)
{
  ++downloads;
  downloadedBytes += host.GetNumberOfBytes();
  CheckViews(host, device);
  const RowGroups nobody{};
  TransferJob     job(TransferDirection::Download, host, device, staging, progress, nobody);
  Run(job);
}

void
Upload(const CudaImageView &    host,
       const DeviceView &       device,
       const Context &          context,
       const TransferProgress & progress)
{
  RunToTheEnd(context, [&](StagingChunks & staging) { Upload(host, device, staging, progress); });
}

void
UploadRows(const CudaImageView & host, const DeviceView & device, const Context & context, const RowGroups & groups)
{
  RunToTheEnd(context, [&](StagingChunks & staging) { UploadRows(host, device, staging, groups); });
}

void
Download(const DeviceView &       device,
         const CudaImageView &    host,
         const Context &          context,
         const TransferProgress & progress)
{
  RunToTheEnd(context, [&](StagingChunks & staging) { Download(device, host, staging, progress); });
}

TransferCounts
GetTransferCounts()
{
  return { uploads, downloads, uploadedBytes, downloadedBytes };
}

size_t
GetTransferWorkspace(const CudaImageView & host, CudaComponentType computeType)
{
  const size_t rows = host.Size[1] * host.Size[2] * host.Size[3];
  const size_t pitch =
    rows == 1 ? host.Size[0] * CudaComponentSize(computeType) : DeviceImage::GetRowPitch(host.Size[0], computeType);
  const TransferLayout layout = MakeTransferLayout(host, computeType, pitch, true);
  return layout.Direct ? 0 : layout.BatchSize;
}
} // namespace itk::cuda
