// SPDX-License-Identifier: Apache-2.0
#include "itkCudaDetailTensorEngine.h"

#include "runtime/run/HostToHost.h"
#include "runtime/run/Operation.h"
#include "pointwise/TensorDevice.h"

// The algorithms of eigenvalues and of measures of Hessians.

namespace itk::cuda::pointwise
{
namespace
{
/** Implements DeviceAlgorithm for a plan of eigenvalues or a measure of Hessians. */
template <typename TPlan>
class TensorAlgorithm : public DeviceAlgorithm
{
public:
  explicit TensorAlgorithm(const TPlan & plan)
    : m_Plan(plan)
  {}

  const char *
  GetName() const override
  {
    return "a filter of tensors";
  }

  size_t
  GetNumberOfOutputComponents(size_t) const override
  {
    return CudaResultComponents(m_Plan);
  }

  void
  VerifyComponents(size_t inputComponents, size_t outputComponents) const override
  {
    CudaVerifyTensorComponents(m_Plan.Dimension, CudaResultComponents(m_Plan), inputComponents, outputComponents);
  }

  bool
  LeavesResultInInput() const override
  {
    return false;
  }

  size_t
  GetMaximumWorkspace(const DeviceView::SizeType &, CudaComponentType) const override
  {
    return 0;
  }

  size_t
  GetWorkspace(const DeviceView &, const DeviceView &, int) const override
  {
    return 0;
  }

  void
  Run(const DeviceView & input, const DeviceView & output, Workspace, const Context & context, const ProgressFunction &)
    const override
  {
    RunPlan(m_Plan, input, output, context);
  }

private:
  const TPlan & m_Plan;
};
} // namespace
} // end namespace itk::cuda::pointwise

namespace itk::cuda
{
std::shared_ptr<const DeviceAlgorithm>
MakeAlgorithm(const CudaDetail::CudaEigenPlan & plan)
{
  return std::make_shared<pointwise::TensorAlgorithm<CudaDetail::CudaEigenPlan>>(plan);
}

std::shared_ptr<const DeviceAlgorithm>
MakeAlgorithm(const CudaDetail::CudaHessianMeasure & plan)
{
  return std::make_shared<pointwise::TensorAlgorithm<CudaDetail::CudaHessianMeasure>>(plan);
}
} // end namespace itk::cuda
