// SPDX-License-Identifier: Apache-2.0
#include "itkCudaDetailDeviceRun.h"

#include "gaussian/masked/MaskedDevice.h"
#include "runtime/device/Device.h"
#include "runtime/device/Stream.h"
#include "runtime/image/Components.h"
#include "runtime/memory/DeviceMemory.h"
#include "runtime/run/Progress.h"
#include "runtime/transfer/Transfer.h"

#include <algorithm>
#include <optional>

// Runs work on arrays in device memory between host images, so that their pixels cross the link once in each direction.

namespace itk::cuda::gaussian
{
namespace
{
// The progress at the end of the upload and at the end of the kernels.
constexpr float UploadEnd = 0.48f;
constexpr float KernelsEnd = 0.52f;

void
RunArrays(const CudaDetail::CudaHostArrays &  arrays,
          int                                 device,
          const CudaDetail::CudaQueueArrays & queue,
          const CudaProgressFunction &        progress)
{
  const DeviceView::SizeType size = GetPlanarSize(arrays.Input);
  const size_t               count = arrays.Input.GetNumberOfPixels();
  const size_t               bytes = count * CudaComponentSize(arrays.ComponentType);
  const DeviceGuard          guard(device);
  const StreamLease          stream(device);
  StagingMemory              staging(stream);
  const DeviceBuffer         input(bytes, stream);
  const DeviceBuffer         valid(arrays.Valid.Data ? count : 0, stream);
  const DeviceBuffer         output(bytes, stream);

  Upload(arrays.Input,
         ViewAdjacent(size, arrays.ComponentType, input.GetPointer()),
         staging,
         GetPartOfProgress(progress, 0.0f, UploadEnd));
  if (arrays.Valid.Data)
  {
    Upload(arrays.Valid, ViewAdjacent(size, CudaComponentType::UChar, valid.GetPointer()), staging, nullptr);
  }
  const CudaDetail::CudaArrayMemory memory{
    input.GetPointer(), arrays.ComponentType, device, reinterpret_cast<std::uintptr_t>(stream.GetStream())
  };
  if (queue(memory, valid.GetPointer(), output.GetPointer()))
  {
    Download(ViewAdjacent(size, arrays.ComponentType, output.GetPointer()),
             arrays.Output,
             staging,
             GetPartOfProgress(progress, KernelsEnd, 1.0f));
  }
}
} // namespace
} // namespace itk::cuda::gaussian

namespace itk::CudaDetail
{
bool
CudaFindNonFinite(const CudaArrayMemory & array, size_t count)
{
  const cuda::ExternalStream    stream(array);
  cuda::gaussian::NonFiniteScan scan;
  scan.Queue(cuda::ViewAdjacent({ { count, 1, 1, 1, 1 } }, array.ComponentType, array.Data), stream.GetContext());
  return scan.HasFound();
}

size_t
CudaWorkingSet(const CudaHostArrays & arrays, size_t images)
{
  const size_t count = arrays.Input.GetNumberOfPixels();
  const size_t bytes = count * CudaComponentSize(arrays.ComponentType);
  const size_t transfer = std::max(cuda::GetTransferWorkspace(arrays.Input, arrays.ComponentType),
                                   cuda::GetTransferWorkspace(arrays.Output, arrays.ComponentType));
  // The states of recursive passes take at most a sixteenth of an image. A mask of finite pixels may join the given
  // one.
  return (images + 2) * bytes + bytes / 16 + 2 * count + transfer;
}

bool
CudaRunOnDevice(const CudaHostArrays &       arrays,
                CudaFilterBackend &          backend,
                const CudaQueueArrays &      queue,
                const CudaProgressFunction & progress)
{
  const auto run = [&] { cuda::gaussian::RunArrays(arrays, backend.GetSelectedDeviceIndex(), queue, progress); };
  return backend.TryOnDevice(run, progress);
}
} // end namespace itk::CudaDetail
