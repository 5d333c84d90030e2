// SPDX-License-Identifier: Apache-2.0
#include "itkCudaDetailGaussianFirEngine.h"

#include "itkCudaDeviceToDevice.h"
#include "itkCudaGaussianFirDevice.h"
#include "itkCudaHostToHost.h"
#include "itkCudaPassChain.h"

#include <algorithm>

namespace itk::cuda::gaussian
{
namespace
{
size_t
GetLargestTable(const CudaGaussianFirPlan & plan, CudaComponentType type)
{
  size_t table = 0;
  for (const CudaGaussianFirPass & pass : plan.Passes)
  {
    table = std::max(table, GetFirWorkspace(pass, type));
  }
  return table;
}

size_t
GetImageOfChain(const CudaGaussianFirPlan & plan, size_t imageBytes)
{
  return PassChain::GetWorkspace(plan.Passes.size(), plan.KeepInput, imageBytes);
}

class FirCore : public ResidentCore
{
public:
  explicit FirCore(const CudaGaussianFirPlan & plan)
    : m_Plan(plan)
  {}

  const char *
  GetName() const override
  {
    return "a discrete Gaussian filter";
  }

  /** The type of the other filters, or double if the plan's sums are those of double. */
  CudaComponentType
  GetComputeType(const CudaImageView & input, const CudaImageView & output) const override
  {
    return m_Plan.TruncatePasses ? CudaComponentType::Double : cuda::GetComputeType(input, output);
  }

  bool
  LeavesResultInInput() const override
  {
    return PassChain::EndsInInput(m_Plan.Passes.size(), m_Plan.KeepInput);
  }

  size_t
  GetMaximumWorkspace(const DeviceImage::SizeType & size, CudaComponentType type) const override
  {
    return GetImageOfChain(m_Plan, DeviceImage::GetNumberOfBytes(size, type)) + GetLargestTable(m_Plan, type);
  }

  size_t
  GetWorkspace(const DeviceView & input, const DeviceView &, int) const override
  {
    return GetFirWorkspace(m_Plan, input);
  }

  void
  Run(const DeviceView & input,
      const DeviceView & output,
      Workspace          workspace,
      const Context &    context,
      const ProgressFunction &) const override
  {
    RunFir(m_Plan, input, output, workspace, context);
  }

  DeviceView
  GetResult(const DeviceView & output, const CudaImageView & host) const override
  {
    DeviceView part = output;
    size_t     offset = 0;
    for (unsigned int d = 0; d < CudaImageView::MaximumDimension; ++d)
    {
      part.Size[d] = host.Size[d];
      offset += m_Plan.OutputOffset[d] * output.Stride[d];
    }
    part.Data = static_cast<unsigned char *>(output.Data) + offset * CudaComponentSize(output.ComponentType);
    return part;
  }

private:
  const CudaGaussianFirPlan & m_Plan;
};
} // namespace

size_t
GetFirWorkspace(const CudaGaussianFirPlan & plan, const DeviceView & input)
{
  return Workspace::GetPieceSize(GetImageOfChain(plan, GetNumberOfBytes(input))) +
         GetLargestTable(plan, input.ComponentType);
}

void
RunFir(const CudaGaussianFirPlan & plan,
       const DeviceView &          input,
       const DeviceView &          output,
       Workspace                   workspace,
       const Context &             context)
{
  const PassChain images(plan.Passes.size(), plan.KeepInput, input, output, workspace, context);
  for (size_t i = 0; i < plan.Passes.size(); ++i)
  {
    RunFirPass(plan.Passes[i], plan.TruncatePasses, images.GetSource(i), images.GetDestination(i), workspace, context);
  }
}
} // end namespace itk::cuda::gaussian

namespace itk::CudaDetail
{
size_t
CudaGaussianFirWorkingSet(const CudaGaussianFirPlan & plan, const CudaImageView & input, const CudaImageView & output)
{
  return GetHostToHostWorkingSet(cuda::gaussian::FirCore(plan), input, output);
}

void
RunGaussianFirPlanOnDevice(const CudaGaussianFirPlan &  plan,
                           const CudaImageView &        input,
                           const CudaImageView &        output,
                           int                          deviceIndex,
                           const CudaProgressFunction & progress)
{
  RunHostToHost(cuda::gaussian::FirCore(plan), input, output, deviceIndex, progress);
}

bool
CudaRunOnDevice(const CudaGaussianFirPlan &  plan,
                const CudaImageView &        input,
                const CudaImageView &        output,
                CudaFilterBackend &          backend,
                const CudaProgressFunction & progress)
{
  return TryHostToHost(cuda::gaussian::FirCore(plan), input, output, backend, progress);
}

void
CudaQueueOnDevice(const CudaGaussianFirPlan & plan,
                  const CudaDeviceImageView & input,
                  const CudaDeviceImageView & output)
{
  if (plan.Passes.empty())
  {
    cuda::CopyDeviceToDevice(input, output);
    return;
  }
  RunDeviceToDevice(cuda::gaussian::FirCore(plan), input, output, !plan.KeepInput);
}
} // end namespace itk::CudaDetail
