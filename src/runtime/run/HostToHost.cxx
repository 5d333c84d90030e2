// SPDX-License-Identifier: Apache-2.0
#include "runtime/run/HostToHost.h"

#include "runtime/memory/DeviceImage.h"
#include "runtime/device/Call.h"
#include "itkCudaDetailFilterBackend.h"
#include "runtime/DetailNames.h"
#include "runtime/device/Device.h"
#include "runtime/device/Stream.h"
#include "runtime/run/Progress.h"
#include "runtime/transfer/Transfer.h"

#include <algorithm>
#include <cstdlib>
#include <string>

// Uploads an image, runs an algorithm on it and downloads the result.

namespace itk::cuda
{
namespace
{
// Fractions of the progress that upload and kernels report. At most image sizes the link is slower than the kernels.
constexpr float UploadShare = 0.48f;
constexpr float KernelShare = 0.04f;

DeviceView::SizeType
GetOutputSize(const DeviceAlgorithm & algorithm, const CudaImageView & input)
{
  DeviceView::SizeType size = GetPlanarSize(input);
  size.back() = algorithm.GetNumberOfOutputComponents(size.back());
  return size;
}

bool
IsSynchronous()
{
  const char * const value = std::getenv("ITK_CUDAFILTERS_SYNCHRONOUS");
  return value && std::string(value) == "1";
}
} // namespace

void
WaitIfSynchronous(const char * name, const Context & context)
{
  const cudaError_t error = IsSynchronous() ? ITK_CUDA_TRY(cudaStreamSynchronize(context.GetStream())) : cudaSuccess;
  if (error != cudaSuccess)
  {
    ThrowCudaError(error, (std::string("The work of ") + name).c_str(), __FILE__, __LINE__);
  }
}

void
RunAlgorithm(const DeviceAlgorithm &  algorithm,
             const DeviceView &       input,
             const DeviceView &       output,
             const Context &          context,
             const ProgressFunction & progress)
{
  const size_t       bytes = algorithm.GetWorkspace(input, output, context.GetDevice());
  const DeviceBuffer workspace(bytes, context);
  algorithm.Run(input, output, { workspace.GetPointer(), bytes }, context, progress);
  WaitIfSynchronous(algorithm.GetName(), context);
}

size_t
GetHostToHostWorkingSet(const DeviceAlgorithm & algorithm, const CudaImageView & input, const CudaImageView & output)
{
  const CudaComponentType    type = algorithm.GetComputeType(input, output);
  const DeviceView::SizeType size = GetPlanarSize(input);
  const size_t               result =
    algorithm.LeavesResultInInput() ? 0 : DeviceImage::GetNumberOfBytes(GetOutputSize(algorithm, input), type);
  const size_t transfer = std::max(GetTransferWorkspace(input, type), GetTransferWorkspace(output, type));
  return DeviceImage::GetNumberOfBytes(size, type) + result +
         std::max(transfer, algorithm.GetMaximumWorkspace(size, type));
}

void
RunHostToHost(const DeviceAlgorithm &  algorithm,
              const CudaImageView &    input,
              const CudaImageView &    output,
              int                      device,
              const ProgressFunction & progress)
{
  algorithm.VerifyComponents(input.NumberOfComponents, output.NumberOfComponents);
  const DeviceGuard       guard(device);
  const StreamLease       stream(device);
  StagingMemory           staging(stream);
  const CudaComponentType type = algorithm.GetComputeType(input, output);
  const DeviceImage       uploaded(GetPlanarSize(input), type, stream);
  const DeviceImage       other =
    algorithm.LeavesResultInInput() ? DeviceImage() : DeviceImage(GetOutputSize(algorithm, input), type, stream);
  const DeviceView & result = algorithm.LeavesResultInInput() ? uploaded.GetView() : other.GetView();

  Upload(input, uploaded.GetView(), staging, GetPartOfProgress(progress, 0.0f, UploadShare));
  RunAlgorithm(
    algorithm, uploaded.GetView(), result, stream, GetPartOfProgress(progress, UploadShare, UploadShare + KernelShare));
  try
  {
    const auto part = GetPartOfProgress(progress, UploadShare + KernelShare, 1.0f);
    Download(algorithm.GetResult(result, output), output, staging, part);
  }
  catch (const CudaError & error)
  {
    RethrowDeviceError(error, input.Data == output.Data);
  }
}

void
DeviceAlgorithm::RunFromHostToHost(const CudaImageView &    input,
                                   const CudaImageView &    output,
                                   int                      device,
                                   const ProgressFunction & progress) const
{
  RunHostToHost(*this, input, output, device, progress);
}
} // namespace itk::cuda

namespace itk::CudaDetail
{
size_t
CudaWorkingSet(const CudaOperation & operation, const CudaImageView & input, const CudaImageView & output)
{
  return cuda::GetHostToHostWorkingSet(*operation.GetAlgorithm(), input, output);
}

void
CudaRunOnDevice(const CudaOperation &        operation,
                const CudaImageView &        input,
                const CudaImageView &        output,
                int                          device,
                const CudaProgressFunction & progress)
{
  operation.GetAlgorithm()->RunFromHostToHost(input, output, device, progress);
}

bool
CudaRunOnDevice(const CudaOperation &        operation,
                const CudaImageView &        input,
                const CudaImageView &        output,
                CudaFilterBackend &          backend,
                const CudaProgressFunction & progress)
{
  const auto run = [&] {
    operation.GetAlgorithm()->RunForFilter(input, output, backend, backend.GetSelectedDeviceIndex(), progress);
  };
  return backend.TryOnDevice(run, progress);
}
} // end namespace itk::CudaDetail
