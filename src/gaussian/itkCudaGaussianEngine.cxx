// SPDX-License-Identifier: Apache-2.0
#include "itkCudaDetailGaussianEngine.h"

#include "itkCudaDetailDeviceRun.h"
#include "itkCudaDeviceToDevice.h"
#include "itkCudaGaussianDevice.h"
#include "itkCudaHostToHost.h"

#include <algorithm>
#include <vector>

namespace itk::cuda::gaussian
{
namespace
{
bool
HasSeveralResults(const CudaGaussianPlan & plan)
{
  return plan.Results.size() > 1;
}

/** Whether the plan uses its input's memory for other images. */
bool
WritesInput(const CudaGaussianPlan & plan)
{
  for (const CudaGaussianLinePass & pass : plan.Passes)
  {
    for (const CudaGaussianPassResult & result : pass.Results)
    {
      if (result.Destination == 0)
      {
        return true;
      }
    }
  }
  return false;
}

/** The image's place among the plan's results, or their number if it is none. */
size_t
GetResultIndex(const CudaGaussianPlan & plan, unsigned int image)
{
  return std::find(plan.Results.begin(), plan.Results.end(), image) - plan.Results.begin();
}

bool
IsResult(const CudaGaussianPlan & plan, unsigned int image)
{
  return GetResultIndex(plan, image) < plan.Results.size();
}

/** The plan's images other than its input and results. */
size_t
CountIntermediates(const CudaGaussianPlan & plan)
{
  size_t count = 0;
  for (unsigned int image = 1; image < plan.NumberOfImages; ++image)
  {
    count += IsResult(plan, image) ? 0 : 1;
  }
  return count;
}

/** `planes` planes of a view, its volumes of one component each, from `first` on. */
DeviceView
GetPlanes(const DeviceView & view, size_t first, size_t planes)
{
  DeviceView part = view;
  part.Data =
    static_cast<unsigned char *>(view.Data) + first * view.Stride.back() * CudaComponentSize(view.ComponentType);
  part.Size.back() = planes;
  return part;
}

/** The images of a plan on the device. If each input component gives several output components, the input's components
 * are filtered one after the other with the same intermediate images, and the results are planes of the output. */
class PlanImages
{
public:
  PlanImages(const CudaGaussianPlan & plan, const DeviceView & input, const DeviceView & output, Workspace & workspace)
    : m_Plan(plan)
    , m_Input(input)
    , m_Output(output)
    , m_PlanesOfRun(GetPlanesOfRun(plan, input))
  {
    for (size_t i = 0; i < CountIntermediates(plan); ++i)
    {
      DeviceView image = GetPlanes(input, 0, m_PlanesOfRun);
      image.Data = workspace.Take(GetNumberOfBytes(image));
      m_Intermediates.push_back(image);
    }
  }

  /** Components of the input that are filtered together. */
  static size_t
  GetPlanesOfRun(const CudaGaussianPlan & plan, const DeviceView & input)
  {
    return HasSeveralResults(plan) ? 1 : input.Size.back();
  }

  size_t
  GetNumberOfRuns() const
  {
    return m_PlanesOfRun == 0 ? 0 : m_Input.Size.back() / m_PlanesOfRun;
  }

  void
  ClearPaddingOfIntermediates(const Context & context) const
  {
    for (const DeviceView & image : m_Intermediates)
    {
      ClearPadding(image, context);
    }
  }

  std::vector<DeviceView>
  Get(size_t run) const
  {
    std::vector<DeviceView> images{ GetPlanes(m_Input, run * m_PlanesOfRun, m_PlanesOfRun) };
    auto                    intermediate = m_Intermediates.begin();
    for (unsigned int image = 1; image < m_Plan.NumberOfImages; ++image)
    {
      const size_t first = run * m_Plan.Results.size() * m_PlanesOfRun + GetResultIndex(m_Plan, image);
      images.push_back(IsResult(m_Plan, image) ? GetPlanes(m_Output, first, m_PlanesOfRun) : *intermediate++);
    }
    return images;
  }

private:
  const CudaGaussianPlan & m_Plan;
  const DeviceView         m_Input, m_Output;
  const size_t             m_PlanesOfRun;
  std::vector<DeviceView>  m_Intermediates;
};

class GaussianCore : public ResidentCore
{
public:
  explicit GaussianCore(const CudaGaussianPlan & plan)
    : m_Plan(plan)
  {}

  const char *
  GetName() const override
  {
    return "a recursive Gaussian filter";
  }

  size_t
  GetNumberOfResults() const override
  {
    return m_Plan.Results.size();
  }

  bool
  LeavesResultInInput() const override
  {
    return m_Plan.Results.front() == 0;
  }

  size_t
  GetMaximumWorkspace(const DeviceImage::SizeType & size, CudaComponentType type) const override
  {
    DeviceImage::SizeType planes = size;
    planes.back() = HasSeveralResults(m_Plan) ? 1 : size.back();
    // States take a sixteenth of the images that are filtered together (GetPlanWorkspace()).
    const size_t image = DeviceImage::GetNumberOfBytes(planes, type);
    return CountIntermediates(m_Plan) * image + image / 16 + GetMaximumEdgeBytes(m_Plan, planes, type);
  }

  size_t
  GetWorkspace(const DeviceView & input, const DeviceView & output, int device) const override
  {
    return GetGaussianWorkspace(m_Plan, input, output, device);
  }

  void
  Run(const DeviceView & input,
      const DeviceView & output,
      Workspace          workspace,
      const Context &    context,
      const ProgressFunction &) const override
  {
    RunGaussian(m_Plan, input, output, workspace, context);
  }

private:
  const CudaGaussianPlan & m_Plan;
};
} // namespace

size_t
GetGaussianWorkspace(const CudaGaussianPlan &     plan,
                     const DeviceView &           input,
                     const DeviceView &           output,
                     int                          device,
                     const std::vector<LineCut> & cuts)
{
  const DeviceView image = GetPlanes(input, 0, PlanImages::GetPlanesOfRun(plan, input));
  const size_t     bytes = CountIntermediates(plan) * Workspace::GetPieceSize(GetNumberOfBytes(image));
  Workspace        unused(nullptr, bytes);
  const PlanImages images(plan, input, output, unused);
  return bytes + (images.GetNumberOfRuns() == 0 ? 0 : GetPlanWorkspace(plan, images.Get(0), device, cuts));
}

void
RunGaussian(const CudaGaussianPlan &     plan,
            const DeviceView &           input,
            const DeviceView &           output,
            Workspace                    workspace,
            const Context &              context,
            const std::vector<LineCut> & cuts)
{
  const PlanImages images(plan, input, output, workspace);
  if (!cuts.empty() && images.GetNumberOfRuns() > 1)
  {
    itkGenericExceptionMacro("A part of an image of " << input.Size.back()
                                                      << " components; components must be given one by one");
  }
  images.ClearPaddingOfIntermediates(context);
  for (size_t run = 0; run < images.GetNumberOfRuns(); ++run)
  {
    RunPlan(plan, images.Get(run), workspace, context, cuts);
  }
}
} // end namespace itk::cuda::gaussian

namespace itk::CudaDetail
{
size_t
CudaGaussianWorkingSet(const CudaGaussianPlan & plan, const CudaImageView & input, const CudaImageView & output)
{
  return GetHostToHostWorkingSet(cuda::gaussian::GaussianCore(plan), input, output);
}

void
RunGaussianPlanOnDevice(const CudaGaussianPlan &     plan,
                        const CudaImageView &        input,
                        const CudaImageView &        output,
                        int                          deviceIndex,
                        const CudaProgressFunction & progress)
{
  RunHostToHost(cuda::gaussian::GaussianCore(plan), input, output, deviceIndex, progress);
}

bool
CudaRunOnDevice(const CudaGaussianPlan &     plan,
                const CudaImageView &        input,
                const CudaImageView &        output,
                CudaFilterBackend &          backend,
                const CudaProgressFunction & progress)
{
  return TryHostToHost(cuda::gaussian::GaussianCore(plan), input, output, backend, progress);
}

void
CudaQueueOnDevice(const CudaGaussianPlan & plan, const CudaDeviceImageView & input, const CudaDeviceImageView & output)
{
  RunDeviceToDevice(cuda::gaussian::GaussianCore(plan), input, output, cuda::gaussian::WritesInput(plan));
}
} // end namespace itk::CudaDetail
