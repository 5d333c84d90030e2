// SPDX-License-Identifier: Apache-2.0
#include "itkCudaDetailPartitionedGaussianEngine.h"

#include "young_van_vliet/Passes.h"
#include "runtime/memory/DeviceImage.h"
#include "runtime/device/Call.h"
#include "runtime/run/HostToHost.h"
#include "runtime/run/Operation.h"
#include "runtime/run/PassChain.h"
#include "runtime/run/Progress.h"

#include <algorithm>

// The algorithm of Young and van Vliet's filter.

namespace itk::cuda::young_van_vliet
{
namespace
{
size_t
GetLargestPassWorkspace(const CudaPartitionedGaussianPlan & plan,
                        const DeviceView::SizeType &        size,
                        CudaComponentType                   type)
{
  size_t largest = 0;
  for (const CudaPartitionedGaussianPass & pass : plan.Passes)
  {
    largest = std::max(largest, GetPassWorkspace(plan, pass, size, type));
  }
  return largest;
}

/** Returns the bytes of the image that the passes need in addition to input and output. If the input must not be
 * changed, this image is always needed. With an odd number of passes it holds the copy of the input. With an even
 * number the output holds the copy, and the passes alternate between the output and this image. */
size_t
GetOtherImage(const CudaPartitionedGaussianPlan & plan, size_t imageBytes)
{
  return plan.KeepInput ? imageBytes : PassChain::GetWorkspace(plan.Passes.size(), false, imageBytes);
}

class YoungVanVlietAlgorithm : public DeviceAlgorithm
{
public:
  explicit YoungVanVlietAlgorithm(const CudaPartitionedGaussianPlan & plan)
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
    return PassChain::EndsInInput(m_Plan.Passes.size(), m_Plan.KeepInput);
  }

  bool
  OverwritesInput() const override
  {
    return !m_Plan.KeepInput;
  }

  size_t
  GetMaximumWorkspace(const DeviceView::SizeType & size, CudaComponentType type) const override
  {
    return GetOtherImage(m_Plan, DeviceImage::GetNumberOfBytes(size, type)) +
           GetLargestPassWorkspace(m_Plan, size, type);
  }

  size_t
  GetWorkspace(const DeviceView & input, const DeviceView &, int) const override
  {
    return Workspace::GetPieceSize(GetOtherImage(m_Plan, GetNumberOfBytes(input))) +
           GetLargestPassWorkspace(m_Plan, input.Size, input.ComponentType);
  }

  void
  Run(const DeviceView &       input,
      const DeviceView &       output,
      Workspace                workspace,
      const Context &          context,
      const ProgressFunction & progress) const override
  {
    const size_t count = m_Plan.Passes.size();
    DeviceView   first = input;
    if (m_Plan.KeepInput)
    {
      // Passes along rows overwrite their source, so they need a copy of the input.
      first = PassChain::EndsInInput(count, false) ? output : input;
      if (first.Data == input.Data)
      {
        first = TakeImage(first, workspace);
      }
      ITK_CUDA_CALL(cudaMemcpyAsync(
        first.Data, input.Data, GetNumberOfBytes(input), cudaMemcpyDeviceToDevice, context.GetStream()));
    }
    const PassChain images(count, false, first, output, workspace, context);
    for (size_t i = 0; i < count; ++i)
    {
      const auto part = GetPartOfProgress(progress, 0.0f, 1.0f, i, count);
      RunPass(m_Plan, m_Plan.Passes[i], images.GetSource(i), images.GetDestination(i), workspace, context, part);
    }
  }

private:
  const CudaPartitionedGaussianPlan & m_Plan;
};
} // namespace
} // end namespace itk::cuda::young_van_vliet

namespace itk::cuda
{
std::shared_ptr<const DeviceAlgorithm>
MakeAlgorithm(const CudaPartitionedGaussianPlan & plan)
{
  return std::make_shared<young_van_vliet::YoungVanVlietAlgorithm>(plan);
}
} // end namespace itk::cuda
