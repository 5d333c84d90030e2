// SPDX-License-Identifier: Apache-2.0
#include "itkCudaDetailTensorEngine.h"

#include "runtime/run/DeviceToDevice.h"
#include "runtime/run/HostToHost.h"
#include "pointwise/TensorDevice.h"

// Runs eigenvalues and measures of Hessians for the filters, from host to host and on device images.

namespace itk::cuda::pointwise
{
namespace
{
size_t
GetResults(const CudaEigenPlan & plan)
{
  return CudaEigenComponents(plan);
}

size_t
GetResults(const CudaHessianMeasure &)
{
  return 1;
}

void
RunPlan(const CudaEigenPlan & plan, const DeviceView & input, const DeviceView & output, const Context & context)
{
  RunEigen(plan, input, output, context);
}

void
RunPlan(const CudaHessianMeasure & plan, const DeviceView & input, const DeviceView & output, const Context & context)
{
  RunHessianMeasure(plan, input, output, context);
}

/** The interface of either plan for the functions that run it on images in host or device memory. */
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
    return GetResults(m_Plan);
  }

  void
  VerifyComponents(size_t inputComponents, size_t outputComponents) const override
  {
    CudaVerifyTensorComponents(m_Plan.Dimension, GetResults(m_Plan), inputComponents, outputComponents);
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

namespace itk::CudaDetail
{
using cuda::pointwise::TensorAlgorithm;

size_t
CudaTensorWorkingSet(const CudaEigenPlan & plan, const CudaImageView & input, const CudaImageView & output)
{
  return GetHostToHostWorkingSet(TensorAlgorithm(plan), input, output);
}

size_t
CudaTensorWorkingSet(const CudaHessianMeasure & plan, const CudaImageView & input, const CudaImageView & output)
{
  return GetHostToHostWorkingSet(TensorAlgorithm(plan), input, output);
}

bool
CudaRunOnDevice(const CudaEigenPlan &        plan,
                const CudaImageView &        input,
                const CudaImageView &        output,
                CudaFilterBackend &          backend,
                const CudaProgressFunction & progress)
{
  return TryHostToHost(TensorAlgorithm(plan), input, output, backend, progress);
}

bool
CudaRunOnDevice(const CudaHessianMeasure &   plan,
                const CudaImageView &        input,
                const CudaImageView &        output,
                CudaFilterBackend &          backend,
                const CudaProgressFunction & progress)
{
  return TryHostToHost(TensorAlgorithm(plan), input, output, backend, progress);
}

void
CudaQueueOnDevice(const CudaEigenPlan & plan, const CudaDeviceImageView & input, const CudaDeviceImageView & output)
{
  RunDeviceToDevice(TensorAlgorithm(plan), input, output, false);
}

void
CudaQueueOnDevice(const CudaHessianMeasure &  plan,
                  const CudaDeviceImageView & input,
                  const CudaDeviceImageView & output)
{
  RunDeviceToDevice(TensorAlgorithm(plan), input, output, false);
}
} // end namespace itk::CudaDetail
