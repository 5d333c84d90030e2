// SPDX-License-Identifier: Apache-2.0
#include "itkCudaGaussianEngine.h"

#include "itkCudaDevice.h"
#include "itkCudaError.h"
#include "itkCudaGaussianDevice.h"
#include "itkCudaTransfer.h"

#include <algorithm>

namespace itk
{
namespace
{
using namespace cuda::gaussian;

/** Float, unless a component type holds more digits than that. */
CudaComponentType
GetComputeType(const CudaImageView & input, const CudaImageView & output)
{
  const auto needsDouble = [](CudaComponentType type) {
    return type == CudaComponentType::Double || type == CudaComponentType::Int || type == CudaComponentType::UInt;
  };
  return needsDouble(input.ComponentType) || needsDouble(output.ComponentType) ? CudaComponentType::Double
                                                                               : CudaComponentType::Float;
}

/** Bytes for the tile states of a partitioned pass, at most: NumberOfStates states of two components for tiles of at
 * least 128 pixels, so a sixteenth of the image. */
size_t
GetPassWorkspace(size_t imageBytes)
{
  return imageBytes / 16;
}

bool
Overlap(const CudaImageView & a, const CudaImageView & b)
{
  return a.Data == b.Data;
}

// The share of the work that each step reports: at any size the link is slower than the kernels.
constexpr float UploadShare = 0.48f;
constexpr float KernelShare = 0.04f;
} // namespace

size_t
CudaGaussianWorkingSet(const CudaImageView & input, const CudaImageView & output)
{
  const CudaComponentType type = GetComputeType(input, output);
  const size_t            image = cuda::DeviceImage::GetNumberOfBytes(cuda::GetPlanarSize(input), type);
  const size_t transfer = std::max(cuda::GetTransferWorkspace(input, type), cuda::GetTransferWorkspace(output, type));
  return 2 * image + std::max(transfer, GetPassWorkspace(image));
}

void
CudaGaussianFilter(const CudaGaussianPlan &     plan,
                   const CudaImageView &        input,
                   const CudaImageView &        output,
                   int                          deviceIndex,
                   const CudaProgressFunction & progress)
{
  const cuda::DeviceGuard           guard(deviceIndex);
  cuda::StreamLease                 stream(deviceIndex);
  const CudaComponentType           type = GetComputeType(input, output);
  const cuda::DeviceImage::SizeType size = cuda::GetPlanarSize(input);
  const auto                        report = [&progress](float done) {
    if (progress)
    {
      progress(done);
    }
  };

  const cuda::DeviceImage uploaded(size, type, stream);
  const cuda::DeviceImage other(size, type, stream);
  cuda::Upload(input, uploaded.GetView(), stream, [&](float done) { report(UploadShare * done); });

  const cuda::DeviceView * from = &uploaded.GetView();
  const cuda::DeviceView * to = &other.GetView();
  for (const CudaGaussianLinePass & pass : plan.Passes)
  {
    RunLinePass(pass, GetLineSchedule(pass, *from, deviceIndex), *from, *to, stream);
    std::swap(from, to);
  }

  constexpr float before = UploadShare + KernelShare;
  try
  {
    cuda::Download(*from, output, stream, [&](float done) { report(before + (1.0f - before) * done); });
  }
  catch (const CudaError & error)
  {
    if (error.GetKind() == CudaError::Kind::OutOfMemory && Overlap(input, output))
    {
      // In place the input may be lost in part, so the host cannot take over.
      throw CudaError(error.GetFile(), error.GetLine(), CudaError::Kind::CallFailed, error.GetDescription());
    }
    throw;
  }
}
} // end namespace itk
