// SPDX-License-Identifier: Apache-2.0
#include "itkCudaDetailGaussianEngine.h"

#include "gaussian/Engine.h"
#include "runtime/memory/DeviceImage.h"
#include "itkCudaDetailDeviceTransfer.h"
#include "itkCudaDetailDeviceRun.h"
#include "itkCudaDetailFilterBackend.h"
#include "runtime/memory/DeviceAccess.h"
#include "runtime/device/Device.h"
#include "runtime/run/DeviceToDevice.h"
#include "gaussian/device/LinePasses.h"
#include "gaussian/masked/MaskedDevice.h"
#include "gaussian/slabs/Slabs.h"
#include "runtime/image/Pointwise.h"
#include "runtime/run/HostToHost.h"
#include "runtime/run/Operation.h"
#include "runtime/memory/DeviceMemory.h"
#include "runtime/memory/PinnedMemory.h"
#include "runtime/memory/Workspace.h"
#include "runtime/device/Stream.h"

#include <algorithm>
#include <vector>

// Connects the plans of the recursive Gaussian filters with the ways to run them on a device: from host to host, in
// slabs that overlap, on device images, and on an array's stream.

namespace itk::cuda::gaussian
{
namespace
{
bool
HasSeveralResults(const CudaGaussianPlan & plan)
{
  return plan.Results.size() > 1;
}

/** Returns whether the plan uses its input's memory for other images. */
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

/** Returns the index of the image among the plan's results, or their number if it is not a result. */
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

/** Counts the plan's images other than its input and results. */
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

DeviceView
GetComponents(const DeviceView & view, size_t first, size_t count)
{
  return Slice(view, DeviceView::ComponentAxis, first, count);
}

/** The images of a plan on the device. If a plan has several results, the components of the input are filtered one
 * after the other with the same intermediate images, and the results are planes of the output. */
class PlanImages
{
public:
  PlanImages(const CudaGaussianPlan & plan, const DeviceView & input, const DeviceView & output, Workspace & workspace)
    : m_Plan(plan)
    , m_Input(input)
    , m_Output(output)
    , m_ComponentsPerRun(GetComponentsPerRun(plan, input))
  {
    for (size_t i = 0; i < CountIntermediates(plan); ++i)
    {
      m_Intermediates.push_back(TakeImage(GetComponents(input, 0, m_ComponentsPerRun), workspace));
    }
  }

  /** Returns the number of components of the input that are filtered together. */
  static size_t
  GetComponentsPerRun(const CudaGaussianPlan & plan, const DeviceView & input)
  {
    return HasSeveralResults(plan) ? 1 : input.Size.back();
  }

  size_t
  GetNumberOfRuns() const
  {
    return m_ComponentsPerRun == 0 ? 0 : m_Input.Size.back() / m_ComponentsPerRun;
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
    std::vector<DeviceView> images{ GetComponents(m_Input, run * m_ComponentsPerRun, m_ComponentsPerRun) };
    auto                    intermediate = m_Intermediates.begin();
    for (unsigned int image = 1; image < m_Plan.NumberOfImages; ++image)
    {
      const size_t first = run * m_Plan.Results.size() * m_ComponentsPerRun + GetResultIndex(m_Plan, image);
      images.push_back(IsResult(m_Plan, image) ? GetComponents(m_Output, first, m_ComponentsPerRun) : *intermediate++);
    }
    return images;
  }

private:
  const CudaGaussianPlan & m_Plan;
  const DeviceView         m_Input, m_Output;
  const size_t             m_ComponentsPerRun;
  std::vector<DeviceView>  m_Intermediates;
};

class GaussianAlgorithm : public DeviceAlgorithm
{
public:
  /** \param scan searches the inputs for NaN and infinite pixels, if it is given */
  explicit GaussianAlgorithm(const CudaGaussianPlan & plan, NonFiniteScan * scan = nullptr)
    : m_Plan(plan)
    , m_Scan(scan)
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
  GetMaximumWorkspace(const DeviceView::SizeType & size, CudaComponentType type) const override
  {
    DeviceView::SizeType planes = size;
    planes.back() = HasSeveralResults(m_Plan) ? 1 : size.back();
    // States take a sixteenth of the size of the images that are filtered together (GetPlanWorkspace()).
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
    if (m_Scan)
    {
      m_Scan->Queue(input, context);
    }
    RunGaussian(m_Plan, input, output, workspace, context);
  }

  bool
  OverwritesInput() const override
  {
    return WritesInput(m_Plan);
  }

  /** Runs a large image in slabs if that is expected to take less time and Streaming is not Off. */
  void
  RunForFilter(const CudaImageView &    input,
               const CudaImageView &    output,
               CudaFilterBackend &      backend,
               int                      device,
               const ProgressFunction & progress) const override
  {
    if (backend.GetStreaming() != CudaFiltersEnums::Streaming::Off)
    {
      if (const auto report = TryOverlappedSlabs(m_Plan, input, output, backend.GetSelectedDevices(), progress, m_Scan))
      {
        backend.SlabReport = *report;
        return;
      }
    }
    this->RunFromHostToHost(input, output, device, progress);
  }

private:
  const CudaGaussianPlan & m_Plan;
  NonFiniteScan * const    m_Scan;
};
} // namespace

size_t
GetGaussianWorkspace(const CudaGaussianPlan &     plan,
                     const DeviceView &           input,
                     const DeviceView &           output,
                     int                          device,
                     const std::vector<LineCut> & cuts)
{
  const DeviceView image = GetComponents(input, 0, PlanImages::GetComponentsPerRun(plan, input));
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

namespace itk::cuda
{
std::shared_ptr<const DeviceAlgorithm>
MakeAlgorithm(const CudaGaussianPlan & plan)
{
  if (plan.Mask)
  {
    return gaussian::MakeMaskedAlgorithm(plan);
  }
  return std::make_shared<gaussian::GaussianAlgorithm>(plan);
}
} // end namespace itk::cuda

namespace itk::CudaDetail
{
using namespace cuda::gaussian;

void
CudaQueueOnStream(const std::vector<CudaArrayPass> & passes, const CudaArrayMemory & input, void * output)
{
  const cuda::ExternalStream stream(input);
  QueuePasses(passes, input, output, stream.GetContext());
}

bool
CudaRunAndFindNonFinite(const CudaGaussianPlan &     plan,
                        const CudaImageView &        input,
                        const CudaImageView &        output,
                        CudaFilterBackend &          backend,
                        const CudaProgressFunction & progress,
                        bool &                       found)
{
  struct Found
  {};
  const int               device = backend.GetSelectedDeviceIndex();
  const cuda::DeviceGuard guard(device);
  NonFiniteScan           scan;
  const auto              look = [&](float done) {
    if (scan.HasAnswer())
    {
      throw Found();
    }
    if (progress)
    {
      progress(done);
    }
  };
  try
  {
    const auto run = [&] { GaussianAlgorithm(plan, &scan).RunForFilter(input, output, backend, device, look); };
    if (!backend.TryOnDevice(run, progress))
    {
      return false;
    }
  }
  catch (const Found &)
  {}
  found = scan.HasFound();
  return true;
}

void
CudaQueueTermsOnStream(const CudaArrayTerms & terms, const CudaArrayMemory & input, void * output)
{
  const cuda::ExternalStream stream(input);
  const cuda::Context &      context = stream.GetContext();
  const cuda::DeviceView     whole = cuda::ViewAdjacent(terms.Steps.front().Pass.Size, input.ComponentType, output);
  const size_t               bytes = cuda::Workspace::GetPieceSize(cuda::GetNumberOfBytes(whole));
  if (whole.GetNumberOfElements() == 0)
  {
    return;
  }
  const cuda::DeviceBuffer buffer((terms.NumberOfImages - 2) * bytes, context);
  cuda::Workspace          workspace(buffer.GetPointer(), buffer.GetSize());
  std::vector<void *>      images{ input.Data, output };
  while (images.size() < terms.NumberOfImages)
  {
    images.push_back(workspace.Take(bytes));
  }
  for (const CudaArrayTerms::Step & step : terms.Steps)
  {
    CudaArrayMemory source = input;
    source.Data = images[step.Source];
    QueuePasses({ step.Pass }, source, images[step.Destination], context);
  }
  images.erase(images.begin());
  cuda::CombineElements(images.data(), terms, whole, context);
}
} // namespace itk::CudaDetail

namespace itk::cuda::gaussian
{
size_t
GetBytesWithoutSlabs(const CudaGaussianPlan & plan, const CudaImageView & input, const CudaImageView & output)
{
  return CudaWorkingSet(plan, input, output);
}

void
RunWithoutSlabs(const CudaGaussianPlan & plan, const CudaImageView & input, const CudaImageView & output, int device)
{
  CudaRunOnDevice(plan, input, output, device, nullptr);
}

void
QueuePasses(const std::vector<CudaArrayPass> & passes,
            const CudaArrayMemory &            input,
            void *                             output,
            const Context &                    context)
{
  if (passes.empty())
  {
    return;
  }
  const auto view = [&input](const CudaArrayPass & pass, void * data) {
    return ViewAdjacent(pass.Size, input.ComponentType, data);
  };
  const size_t bytes = GetNumberOfBytes(view(passes.front(), input.Data));
  if (bytes == 0)
  {
    return;
  }
  // Passes write alternately to this buffer and to the output, so that the last one writes to the output.
  const DeviceBuffer other(passes.size() > 1 ? bytes : 0, context);
  void *             source = input.Data;
  for (size_t i = 0; i < passes.size(); ++i)
  {
    void * const result = (passes.size() - i) % 2 == 1 ? output : other.GetPointer();
    RunOnStream(GaussianAlgorithm(passes[i].Plan), view(passes[i], source), view(passes[i], result), context);
    source = result;
  }
}
} // namespace itk::cuda::gaussian
