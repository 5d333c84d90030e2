// SPDX-License-Identifier: Apache-2.0
#include "itkCudaPartitionedGaussianEngine.h"

#include "itkCudaHostToHost.h"
#include "itkCudaPartitionedGaussianDevice.h"
#include "itkCudaPassChain.h"

#include <algorithm>

namespace itk
{
namespace
{
using namespace cuda;
using namespace cuda::partitioned;

class PartitionedCore : public ResidentCore
{
public:
  explicit PartitionedCore(const CudaPartitionedGaussianPlan & plan)
    : m_Plan(plan)
  {}

  const char *
  GetName() const override
  {
    return "a partitioned recursive Gaussian filter";
  }

  bool
  LeavesResultInInput() const override
  {
    return PassChain::EndsInInput(m_Plan.Passes.size());
  }

  size_t
  GetMaximumWorkspace(const DeviceImage::SizeType & size, CudaComponentType type) const override
  {
    return PassChain::GetWorkspace(m_Plan.Passes.size(), DeviceImage::GetNumberOfBytes(size, type)) +
           this->GetLargestPassWorkspace(size, type);
  }

  size_t
  GetWorkspace(const DeviceView & input, const DeviceView &, int) const override
  {
    const size_t image = PassChain::GetWorkspace(m_Plan.Passes.size(), GetNumberOfBytes(input));
    return Workspace::GetPieceSize(image) + this->GetLargestPassWorkspace(input.Size, input.ComponentType);
  }

  void
  Run(const DeviceView &       input,
      const DeviceView &       output,
      Workspace                workspace,
      const Context &          context,
      const ProgressFunction & progress) const override
  {
    const size_t    count = m_Plan.Passes.size();
    const PassChain images(count, input, output, workspace, context);
    for (size_t i = 0; i < count; ++i)
    {
      const auto report = [&](float done) { progress((static_cast<float>(i) + done) / static_cast<float>(count)); };
      RunPass(m_Plan, m_Plan.Passes[i], images.GetSource(i), images.GetDestination(i), workspace, context, report);
    }
  }

private:
  size_t
  GetLargestPassWorkspace(const DeviceImage::SizeType & size, CudaComponentType type) const
  {
    size_t largest = 0;
    for (const CudaPartitionedGaussianPass & pass : m_Plan.Passes)
    {
      largest = std::max(largest, GetPassWorkspace(m_Plan, pass, size, type));
    }
    return largest;
  }

  const CudaPartitionedGaussianPlan & m_Plan;
};
} // namespace

size_t
CudaPartitionedGaussianWorkingSet(const CudaPartitionedGaussianPlan & plan,
                                  const CudaImageView &               input,
                                  const CudaImageView &               output)
{
  return GetHostToHostWorkingSet(PartitionedCore(plan), input, output);
}

void
CudaPartitionedGaussianFilter(const CudaPartitionedGaussianPlan & plan,
                              const CudaImageView &               input,
                              const CudaImageView &               output,
                              int                                 deviceIndex,
                              const std::function<void(float)> &  progress)
{
  RunHostToHost(PartitionedCore(plan), input, output, deviceIndex, progress);
}

bool
CudaRunOnDevice(const CudaPartitionedGaussianPlan & plan,
                const CudaImageView &               input,
                const CudaImageView &               output,
                CudaFilterBackend &                 backend,
                const std::function<void(float)> &  progress)
{
  return TryHostToHost(PartitionedCore(plan), input, output, backend, progress);
}
} // end namespace itk
