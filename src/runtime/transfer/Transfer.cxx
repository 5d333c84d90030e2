// SPDX-License-Identifier: Apache-2.0
#include "runtime/transfer/Transfer.h"

#include "runtime/device/Device.h"
#include "runtime/transfer/HelperThreads.h"
#include "runtime/transfer/PinnedTransfer.h"
#include "runtime/transfer/StagedTransfer.h"
#include "runtime/transfer/TransferJob.h"
#include "runtime/transfer/TransferLayout.h"
#include "runtime/transfer/TransferPolicy.h"
#include "itkMacro.h"
#include "runtime/image/Components.h"

#include <algorithm>
#include <memory>

// Chooses the path of a transfer between host and device: directly for page-locked memory (PinnedTransfer), or through
// page-locked chunks that several threads fill or empty (StagedTransfer).

namespace itk::cuda
{
namespace
{
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

std::unique_ptr<StagedTransfer>
MakeStagedTransfer(TransferJob & job, size_t workers)
{
  if (StagedInSlices::Suits(job.GetLayout().NumberOfBytes, workers))
  {
    return std::make_unique<StagedInSlices>(job, workers);
  }
  return std::make_unique<StagedPerThread>(job, workers);
}

/** Runs a staged transfer. If the transfer has a turn, it waits for it first, because another transfer uses the threads
 * until then. */
void
RunStaged(TransferJob & job, std::unique_ptr<StagedTransfer> & staged)
{
  const StagingMemory & staging = job.GetStaging();
  staging.AwaitTurn();
  HelperThreads      own;
  HelperThreads &    helpers = staging.GetHelpers() ? *staging.GetHelpers() : own;
  const unsigned int number =
    helpers.Reserve(GetUsefulThreads(job.GetDirection(), job.GetLayout().NumberOfBytes, staging.IsBidirectional()) - 1);
  staged = MakeStagedTransfer(job, number + size_t{ 1 });
  staged->Begin();
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
  std::unique_ptr<StagedTransfer> staged; // must live until nothing is in flight
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
    // Copies in flight still access the host image and the page-locked memory.
    job.GetStaging().Drain();
    throw;
  }
}

/** Calls a transfer that may leave work on the stream and waits for that work. */
template <typename TTransfer>
void
RunToTheEnd(const Context & context, const TTransfer & transfer)
{
  const DeviceGuard guard(context.GetDevice());
  StagingMemory     staging(context);
  transfer(staging);
  staging.Synchronize();
}
} // namespace

void
Upload(const CudaImageView &    host,
       const DeviceView &       device,
       StagingMemory &          staging,
       const TransferProgress & progress)
{
  CheckViews(host, device);
  const UploadCallbacks none{};
  TransferJob           job(TransferDirection::Upload, host, device, staging, progress, none);
  Run(job);
}

void
UploadRows(const CudaImageView &   host,
           const DeviceView &      device,
           StagingMemory &         staging,
           const UploadCallbacks & callbacks)
{
  CheckViews(host, device);
  if (host.ComponentType != device.ComponentType || !MakeTransferLayout(host, device).Direct)
  {
    itkGenericExceptionMacro(<< "The device image has components of type " << static_cast<int>(device.ComponentType)
                             << " and rows " << device.Stride[1] << " elements apart; an upload of rows needs the "
                             << "host image's type, " << static_cast<int>(host.ComponentType)
                             << ", dense rows and little padding");
  }
  const TransferProgress silent;
  TransferJob            job(TransferDirection::Upload, host, device, staging, silent, callbacks);
  Run(job);
}

void
Download(const DeviceView &       device,
         const CudaImageView &    host,
         StagingMemory &          staging,
         const TransferProgress & progress)
{
  CheckViews(host, device);
  const UploadCallbacks none{};
  TransferJob           job(TransferDirection::Download, host, device, staging, progress, none);
  Run(job);
}

void
Upload(const CudaImageView &    host,
       const DeviceView &       device,
       const Context &          context,
       const TransferProgress & progress)
{
  RunToTheEnd(context, [&](StagingMemory & staging) { Upload(host, device, staging, progress); });
}

void
UploadRows(const CudaImageView &   host,
           const DeviceView &      device,
           const Context &         context,
           const UploadCallbacks & callbacks)
{
  RunToTheEnd(context, [&](StagingMemory & staging) { UploadRows(host, device, staging, callbacks); });
}

void
Download(const DeviceView &       device,
         const CudaImageView &    host,
         const Context &          context,
         const TransferProgress & progress)
{
  RunToTheEnd(context, [&](StagingMemory & staging) { Download(device, host, staging, progress); });
}

size_t
GetTransferWorkspace(const CudaImageView & host, CudaComponentType computeType)
{
  const size_t rows = GetNumberOfRows(host);
  const size_t pitch =
    rows == 1 ? host.Size[0] * CudaComponentSize(computeType) : DeviceImage::GetRowPitch(host.Size[0], computeType);
  const TransferLayout layout = MakeTransferLayout(host, computeType, pitch, true);
  return layout.Direct ? 0 : layout.BatchSize;
}
} // namespace itk::cuda
