// SPDX-License-Identifier: Apache-2.0
#include "itkCudaGaussianFirEngine.h"

#include "itkCudaComputeType.h"
#include "itkCudaDevice.h"
#include "itkCudaGaussianFirDevice.h"
#include "itkCudaTransfer.h"

#include <algorithm>
#include <utility>

namespace itk
{
namespace
{
/** As that of the other filters, and double where the sums are to be those of double. */
CudaComponentType
GetComputeType(const CudaGaussianFirPlan & plan, const CudaImageView & input, const CudaImageView & output)
{
  return plan.TruncatePasses ? CudaComponentType::Double : cuda::GetComputeType(input, output);
}

/** The part of the image that the output holds. */
cuda::DeviceView
GetOutputPart(const CudaGaussianFirPlan & plan, const cuda::DeviceView & image, const CudaImageView & output)
{
  cuda::DeviceView part = image;
  size_t           offset = 0;
  for (unsigned int d = 0; d < CudaImageView::MaximumDimension; ++d)
  {
    part.Size[d] = output.Size[d];
    offset += plan.OutputOffset[d] * image.Stride[d];
  }
  part.Data = static_cast<unsigned char *>(image.Data) + offset * CudaComponentSize(image.ComponentType);
  return part;
}

// The share of the work that each step reports: at most sizes the link is slower than the kernels.
constexpr float UploadShare = 0.48f;
constexpr float KernelShare = 0.04f;
} // namespace

size_t
CudaGaussianFirWorkingSet(const CudaGaussianFirPlan & plan, const CudaImageView & input, const CudaImageView & output)
{
  const CudaComponentType type = GetComputeType(plan, input, output);
  size_t workspace = std::max(cuda::GetTransferWorkspace(input, type), cuda::GetTransferWorkspace(output, type));
  for (const CudaGaussianFirPass & pass : plan.Passes)
  {
    workspace = std::max(workspace, cuda::gaussian::GetFirWorkspace(pass, type));
  }
  return 2 * cuda::DeviceImage::GetNumberOfBytes(cuda::GetPlanarSize(input), type) + workspace;
}

void
CudaGaussianFirFilter(const CudaGaussianFirPlan &  plan,
                      const CudaImageView &        input,
                      const CudaImageView &        output,
                      int                          deviceIndex,
                      const CudaProgressFunction & progress)
{
  CudaVerifyComponents(input.NumberOfComponents, 1, output.NumberOfComponents);
  const cuda::DeviceGuard           guard(deviceIndex);
  cuda::StreamLease                 stream(deviceIndex);
  const CudaComponentType           type = GetComputeType(plan, input, output);
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
  for (const CudaGaussianFirPass & pass : plan.Passes)
  {
    cuda::gaussian::RunFirPass(pass, plan.TruncatePasses, *from, *to, stream);
    std::swap(from, to);
  }

  constexpr float before = UploadShare + KernelShare;
  cuda::Download(
    GetOutputPart(plan, *from, output), output, stream, [&](float done) { report(before + (1.0f - before) * done); });
}
} // end namespace itk
