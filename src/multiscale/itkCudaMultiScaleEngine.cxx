// SPDX-License-Identifier: Apache-2.0
#include "itkCudaDetailMultiScaleEngine.h"

#include "itkCudaComputeType.h"
#include "itkCudaDetailFilterBackend.h"
#include "itkCudaDevice.h"
#include "itkCudaError.h"
#include "itkCudaGaussianDevice.h"
#include "itkCudaHostToHost.h"
#include "itkCudaMultiScaleDevice.h"
#include "itkCudaMultiScaleProgress.h"
#include "itkCudaTransfer.h"

#include <algorithm>
#include <limits>

namespace itk::cuda::multiscale
{
namespace
{
// The shares of the upload and of the kernels in the progress.
constexpr float UploadEnd = 0.25f;
constexpr float KernelsEnd = 0.5f;

DeviceImage::SizeType
GetSize(const CudaImageView & input, size_t planes)
{
  DeviceImage::SizeType size = GetPlanarSize(input);
  size.back() = planes;
  return size;
}

/** The Hessian's planes, without memory: the input's rows. */
DeviceView
GetHessianShape(const CudaMultiScalePlan & plan, const DeviceView & input)
{
  DeviceView hessian = input;
  hessian.Data = nullptr;
  hessian.Size.back() = CudaTensorComponents(plan.Measure.Dimension);
  return hessian;
}

/** The outputs on the device. */
class BestImages
{
public:
  BestImages(const CudaImageView &         input,
             const CudaMultiScaleOutputs & outputs,
             CudaComponentType             type,
             const Context &               context)
    : m_Response(GetSize(input, 1), type, context)
    , m_Scale(outputs.Scale.Data ? DeviceImage(GetSize(input, 1), type, context) : DeviceImage())
    , m_Hessian(outputs.Hessian.Data ? DeviceImage(GetSize(input, outputs.Hessian.NumberOfComponents), type, context)
                                     : DeviceImage())
  {}

  pointwise::BestScale
  Get() const
  {
    return { m_Response.GetView(), m_Scale.GetView(), m_Hessian.GetView() };
  }

private:
  const DeviceImage m_Response, m_Scale, m_Hessian;
};

void
DownloadIfWanted(const DeviceView & image, const CudaImageView & host, StagingChunks & staging)
{
  if (host.Data)
  {
    Download(image, host, staging, nullptr);
  }
}

void
RunOnDevice(const CudaMultiScalePlan &    plan,
            const CudaImageView &         input,
            const CudaMultiScaleOutputs & outputs,
            int                           device,
            const CudaProgressFunction &  progress)
{
  const DeviceGuard       guard(device);
  const StreamLease       stream(device);
  StagingChunks           staging(stream);
  const CudaComponentType type = GetComputeType(input, outputs.Response);
  const DeviceImage       uploaded(GetPlanarSize(input), type, stream);
  const BestImages        best(input, outputs, type, stream);

  Upload(input, uploaded.GetView(), staging, GetScaleProgress(progress, 0, 1, 0.0f, UploadEnd));
  {
    const size_t       bytes = GetMultiScaleWorkspace(plan, uploaded.GetView(), device);
    const DeviceBuffer workspace(bytes, stream);
    RunMultiScale(plan,
                  uploaded.GetView(),
                  best.Get(),
                  Workspace(workspace.GetPointer(), bytes),
                  stream,
                  GetScaleProgress(progress, 0, 1, UploadEnd, KernelsEnd));
    WaitIfSynchronous("a multi-scale measure", stream);
  }
  DownloadIfWanted(best.Get().Scale, outputs.Scale, staging);
  DownloadIfWanted(best.Get().Hessian, outputs.Hessian, staging);
  Download(best.Get().Response, outputs.Response, staging, GetScaleProgress(progress, 0, 1, KernelsEnd, 1.0f));
}
} // namespace

size_t
GetMultiScaleWorkspace(const CudaMultiScalePlan & plan, const DeviceView & input, int device)
{
  const DeviceView hessian = GetHessianShape(plan, input);
  size_t           passes = 0;
  for (const double sigma : plan.Sigmas)
  {
    passes = std::max(passes, gaussian::GetGaussianWorkspace(plan.MakeHessianPlan(sigma), input, hessian, device));
  }
  return Workspace::GetPieceSize(GetNumberOfBytes(hessian)) + passes;
}

void
RunMultiScale(const CudaMultiScalePlan &   plan,
              const DeviceView &           input,
              pointwise::BestScale         best,
              Workspace                    workspace,
              const Context &              context,
              const CudaProgressFunction & progress)
{
  const double lowest = input.ComponentType == CudaComponentType::Double
                          ? std::numeric_limits<double>::lowest()
                          : static_cast<double>(std::numeric_limits<float>::lowest());
  best.Lowest = plan.NonNegative ? 0.0 : lowest;
  DeviceView hessian = GetHessianShape(plan, input);
  hessian.Data = workspace.Take(GetNumberOfBytes(hessian));
  ClearPadding(hessian, context);
  for (size_t scale = 0; scale < plan.Sigmas.size(); ++scale)
  {
    const double sigma = plan.Sigmas[scale];
    gaussian::RunGaussian(plan.MakeHessianPlan(sigma), input, hessian, workspace, context);
    pointwise::RunMeasureMaximum(plan.Measure, hessian, sigma, scale == 0, best, context);
    if (progress)
    {
      progress(static_cast<float>(scale + 1) / static_cast<float>(plan.Sigmas.size()));
    }
  }
}
} // namespace itk::cuda::multiscale

namespace itk::CudaDetail
{
size_t
CudaMultiScaleWorkingSet(const CudaMultiScalePlan &    plan,
                         const CudaImageView &         input,
                         const CudaMultiScaleOutputs & outputs)
{
  using namespace cuda;
  const CudaComponentType type = GetComputeType(input, outputs.Response);
  const size_t            image = DeviceImage::GetNumberOfBytes(GetPlanarSize(input), type);
  const size_t            components = CudaTensorComponents(plan.Measure.Dimension);
  size_t                  intermediates = 0;
  for (const double sigma : plan.Sigmas)
  {
    const CudaGaussianPlan hessian = plan.MakeHessianPlan(sigma);
    intermediates = std::max<size_t>(intermediates, hessian.NumberOfImages - 1 - hessian.Results.size());
  }
  // States take a sixteenth of an image, as in RunGaussian().
  const size_t kernels = (components + intermediates) * image + image / 16 + Workspace::Alignment * (intermediates + 2);
  const size_t transfer = std::max(GetTransferWorkspace(input, type), GetTransferWorkspace(outputs.Response, type));
  const size_t kept = 2 + (outputs.Scale.Data ? 1 : 0) + (outputs.Hessian.Data ? components : 0);
  return kept * image + std::max(kernels, transfer);
}

bool
CudaRunOnDevice(const CudaMultiScalePlan &    plan,
                const CudaImageView &         input,
                const CudaMultiScaleOutputs & outputs,
                CudaFilterBackend &           backend,
                const CudaProgressFunction &  progress)
{
  try
  {
    cuda::multiscale::RunOnDevice(plan, input, outputs, backend.GetSelectedDeviceIndex(), progress);
  }
  catch (const CudaError & error)
  {
    if (!backend.FallBackToHost(error))
    {
      throw;
    }
    return false;
  }
  return true;
}
} // end namespace itk::CudaDetail
