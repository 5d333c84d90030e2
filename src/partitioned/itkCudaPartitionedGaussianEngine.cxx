// SPDX-License-Identifier: Apache-2.0
#include "itkCudaPartitionedGaussianEngine.h"

#include "itkCudaComputeType.h"
#include "itkCudaDevice.h"
#include "itkCudaPartitionedGaussianDevice.h"
#include "itkCudaTransfer.h"

#include <algorithm>
#include <utility>

namespace itk
{
namespace
{
// The share of the work that each step reports: at most sizes the link is slower than the kernels.
constexpr float UploadShare = 0.48f;
constexpr float KernelShare = 0.04f;
} // namespace

size_t
CudaPartitionedGaussianWorkingSet(const CudaPartitionedGaussianPlan & plan,
                                  const CudaImageView &               input,
                                  const CudaImageView &               output)
{
  const CudaComponentType           type = cuda::GetComputeType(input, output);
  const cuda::DeviceImage::SizeType size = cuda::GetPlanarSize(input);
  size_t workspace = std::max(cuda::GetTransferWorkspace(input, type), cuda::GetTransferWorkspace(output, type));
  for (const CudaPartitionedGaussianPass & pass : plan.Passes)
  {
    workspace = std::max(workspace, cuda::partitioned::GetPassWorkspace(plan, pass, size, type));
  }
  return 2 * cuda::DeviceImage::GetNumberOfBytes(size, type) + workspace;
}

void
CudaPartitionedGaussianFilter(const CudaPartitionedGaussianPlan & plan,
                              const CudaImageView &               input,
                              const CudaImageView &               output,
                              int                                 deviceIndex,
                              const std::function<void(float)> &  progress)
{
  CudaVerifyComponents(input.NumberOfComponents, 1, output.NumberOfComponents);
  const cuda::DeviceGuard           guard(deviceIndex);
  cuda::StreamLease                 stream(deviceIndex);
  const CudaComponentType           type = cuda::GetComputeType(input, output);
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
  const auto               count = static_cast<float>(plan.Passes.size());
  for (size_t i = 0; i < plan.Passes.size(); ++i)
  {
    cuda::partitioned::RunPass(plan, plan.Passes[i], *from, *to, stream, [&](float done) {
      report(UploadShare + KernelShare * (static_cast<float>(i) + done) / count);
    });
    std::swap(from, to);
  }

  constexpr float before = UploadShare + KernelShare;
  cuda::Download(*from, output, stream, [&](float done) { report(before + (1.0f - before) * done); });
}
} // end namespace itk
