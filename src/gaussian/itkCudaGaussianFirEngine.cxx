// SPDX-License-Identifier: Apache-2.0
#include "itkCudaGaussianFirEngine.h"

#include "itkCudaGaussianFirDevice.h"
#include "itkCudaHostToHost.h"
#include "itkCudaPassChain.h"

#include <algorithm>

namespace itk
{
namespace
{
using namespace cuda;
using namespace cuda::gaussian;

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

  /** As that of the other filters, and double where the sums are to be those of double. */
  CudaComponentType
  GetComputeType(const CudaImageView & input, const CudaImageView & output) const override
  {
    return m_Plan.TruncatePasses ? CudaComponentType::Double : cuda::GetComputeType(input, output);
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
           this->GetTableSize(type);
  }

  size_t
  GetWorkspace(const DeviceView & input, const DeviceView &, int) const override
  {
    const size_t image = PassChain::GetWorkspace(m_Plan.Passes.size(), GetNumberOfBytes(input));
    return Workspace::GetPieceSize(image) + this->GetTableSize(input.ComponentType);
  }

  void
  Run(const DeviceView & input,
      const DeviceView & output,
      Workspace          workspace,
      const Context &    context,
      const ProgressFunction &) const override
  {
    const PassChain images(m_Plan.Passes.size(), input, output, workspace, context);
    for (size_t i = 0; i < m_Plan.Passes.size(); ++i)
    {
      RunFirPass(
        m_Plan.Passes[i], m_Plan.TruncatePasses, images.GetSource(i), images.GetDestination(i), workspace, context);
    }
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
  size_t
  GetTableSize(CudaComponentType type) const
  {
    size_t table = 0;
    for (const CudaGaussianFirPass & pass : m_Plan.Passes)
    {
      table = std::max(table, GetFirWorkspace(pass, type));
    }
    return table;
  }

  const CudaGaussianFirPlan & m_Plan;
};
} // namespace

size_t
CudaGaussianFirWorkingSet(const CudaGaussianFirPlan & plan, const CudaImageView & input, const CudaImageView & output)
{
  return GetHostToHostWorkingSet(FirCore(plan), input, output);
}

void
CudaGaussianFirFilter(const CudaGaussianFirPlan &  plan,
                      const CudaImageView &        input,
                      const CudaImageView &        output,
                      int                          deviceIndex,
                      const CudaProgressFunction & progress)
{
  RunHostToHost(FirCore(plan), input, output, deviceIndex, progress);
}

bool
CudaRunOnDevice(const CudaGaussianFirPlan &  plan,
                const CudaImageView &        input,
                const CudaImageView &        output,
                CudaFilterBackend &          backend,
                const CudaProgressFunction & progress)
{
  return TryHostToHost(FirCore(plan), input, output, backend, progress);
}
} // end namespace itk
