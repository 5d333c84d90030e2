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
#include "gaussian/masked/Masked.h"
#include "gaussian/masked/MaskedDevice.h"
#include "gaussian/slabs/Slabs.h"
#include "runtime/run/HostToHost.h"
#include "runtime/run/Operation.h"
#include "runtime/memory/DeviceMemory.h"
#include "runtime/memory/PinnedMemory.h"
#include "runtime/device/Stream.h"

#include <algorithm>
#include <vector>

// Connects the plans of the recursive Gaussian filters with the ways to run them on a device: from host to host, in
// slabs that overlap, on device images, and on an array's stream. GaussianAlgorithm and MaskedGaussianAlgorithm are the
// algorithms that these ways run.

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
    , m_PlanesOfRun(GetPlanesOfRun(plan, input))
  {
    for (size_t i = 0; i < CountIntermediates(plan); ++i)
    {
      m_Intermediates.push_back(TakeImage(GetComponents(input, 0, m_PlanesOfRun), workspace));
    }
  }

  /** Returns the number of components of the input that are filtered together. */
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
    std::vector<DeviceView> images{ GetComponents(m_Input, run * m_PlanesOfRun, m_PlanesOfRun) };
    auto                    intermediate = m_Intermediates.begin();
    for (unsigned int image = 1; image < m_Plan.NumberOfImages; ++image)
    {
      const size_t first = run * m_Plan.Results.size() * m_PlanesOfRun + GetResultIndex(m_Plan, image);
      images.push_back(IsResult(m_Plan, image) ? GetComponents(m_Output, first, m_PlanesOfRun) : *intermediate++);
    }
    return images;
  }

private:
  const CudaGaussianPlan & m_Plan;
  const DeviceView         m_Input, m_Output;
  const size_t             m_PlanesOfRun;
  std::vector<DeviceView>  m_Intermediates;
};

class GaussianAlgorithm : public DeviceAlgorithm
{
public:
  explicit GaussianAlgorithm(const CudaGaussianPlan & plan)
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
      if (const auto report = TryOverlappedSlabs(m_Plan, input, output, device, progress))
      {
        backend.SlabReport = *report;
        return;
      }
    }
    this->RunOnHostImages(input, output, device, progress);
  }

private:
  const CudaGaussianPlan & m_Plan;
};

/** Scratch images: two for the weights, one of which is reused for the values, and one for the values. */
constexpr size_t MaskedPlanes = 3;

DeviceView
TakePlane(const DeviceView & input, Workspace & workspace, const Context & context)
{
  const DeviceView image = TakeImage(GetComponent(input, 0), workspace);
  ClearPadding(image, context);
  return image;
}

/** Returns the passes [begin, end) of a smoothing plan. Each pass reads the image that the preceding one wrote: passes
 * of even index read image 0, passes of odd index image 1. */
CudaGaussianPlan
GetAlternatingPasses(const CudaGaussianPlan & plan, size_t begin, size_t end)
{
  CudaGaussianPlan part = plan;
  part.NumberOfImages = 2;
  part.Passes.assign(plan.Passes.begin() + begin, plan.Passes.begin() + end);
  part.Results = { static_cast<unsigned int>(end % 2) };
  for (size_t i = 0; i < part.Passes.size(); ++i)
  {
    const auto source = static_cast<unsigned int>((begin + i) % 2);
    part.Passes[i].Source = source;
    part.Passes[i].Results.front().Destination = 1 - source;
  }
  return part;
}

/** Normalised convolution (CudaGaussianMask). The plan's passes run over the weights, and over the valid pixels of each
 * component. */
class MaskedGaussianAlgorithm : public DeviceAlgorithm
{
public:
  explicit MaskedGaussianAlgorithm(const CudaGaussianPlan & plan)
    : m_Plan(plan)
    , m_Mask(*plan.Mask)
  {
    m_Plan.Mask = nullptr;
  }

  const char *
  GetName() const override
  {
    return "a recursive Gaussian filter with a mask";
  }

  bool
  LeavesResultInInput() const override
  {
    return false;
  }

  size_t
  GetMaximumWorkspace(const DeviceView::SizeType & size, CudaComponentType type) const override
  {
    DeviceView::SizeType plane = size;
    plane.back() = 1;
    const size_t image = DeviceImage::GetNumberOfBytes(plane, type);
    const size_t mask = DeviceImage::GetNumberOfBytes(plane, CudaComponentType::UChar);
    return mask + MaskedPlanes * image + image / 16 + GetMaximumEdgeBytes(m_Plan, plane, type) +
           Workspace::GetPieceSize(ReferenceValueBytes);
  }

  size_t
  GetWorkspace(const DeviceView & input, const DeviceView &, int device) const override
  {
    return GetMaskedGaussianWorkspace(m_Plan, input, device);
  }

  void
  Run(const DeviceView & input,
      const DeviceView & output,
      Workspace          workspace,
      const Context &    context,
      const ProgressFunction &) const override
  {
    const DeviceReading reading(m_Valid, context);
    RunMaskedGaussian(m_Plan, m_Mask, GetDeviceView(m_Valid), input, output, workspace, context);
  }

  bool
  OverwritesInput() const override
  {
    return m_RunsInPlace;
  }

  void
  RunOnHostImages(const CudaImageView &    input,
                  const CudaImageView &    output,
                  int                      device,
                  const ProgressFunction & progress) const override
  {
    RunHostToHost(this->UploadMask(input, device), input, output, device, progress);
  }

  void
  Queue(const CudaDeviceImageView & input, const CudaDeviceImageView & output) const override
  {
    if (input.GetNumberOfElements() > 0)
    {
      MaskedGaussianAlgorithm algorithm = this->UploadMask(GetShape(input), GetMemory(input).GetDevice());
      algorithm.m_RunsInPlace = input.GetPointer() == output.GetPointer();
      RunDeviceToDevice(algorithm, input, output);
    }
  }

private:
  /** Returns an algorithm that has the mask on the device, which Run() needs. `image` is the shape of the input or
   * output. */
  MaskedGaussianAlgorithm
  UploadMask(const CudaImageView & image, int device) const
  {
    VerifyPlanAndMask(m_Plan, image, m_Mask);
    MaskedGaussianAlgorithm algorithm(*this);
    const auto &            size = m_Mask.Valid.Size;
    algorithm.m_Valid =
      CudaAllocateDeviceImage({ { size[0], size[1], size[2], size[3], 1 } }, CudaComponentType::UChar, device, false);
    CudaQueueUpload(m_Mask.Valid, algorithm.m_Valid, nullptr)();
    return algorithm;
  }

  CudaGaussianPlan       m_Plan;
  const CudaGaussianMask m_Mask;
  CudaDeviceImageView    m_Valid;
  bool                   m_RunsInPlace{ false };
};
} // namespace

size_t
GetGaussianWorkspace(const CudaGaussianPlan &     plan,
                     const DeviceView &           input,
                     const DeviceView &           output,
                     int                          device,
                     const std::vector<LineCut> & cuts)
{
  const DeviceView image = GetComponents(input, 0, PlanImages::GetPlanesOfRun(plan, input));
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

size_t
GetMaskedGaussianWorkspace(const CudaGaussianPlan & plan, const DeviceView & input, int device)
{
  DeviceView plane = GetComponent(input, 0);
  plane.Data = nullptr; // aligned like the pieces of a workspace
  const CudaGaussianPlan passes = GetAlternatingPasses(plan, 0, plan.Passes.size());
  return Workspace::GetPieceSize(ReferenceValueBytes) +
         MaskedPlanes * Workspace::GetPieceSize(GetNumberOfBytes(plane)) +
         GetPlanWorkspace(passes, { plane, plane }, device);
}

void
RunMaskedGaussian(const CudaGaussianPlan & plan,
                  const CudaGaussianMask & mask,
                  const DeviceView &       valid,
                  const DeviceView &       input,
                  const DeviceView &       output,
                  Workspace                workspace,
                  const Context &          context)
{
  const std::vector<DeviceView> weights{ TakePlane(input, workspace, context), TakePlane(input, workspace, context) };
  const DeviceView              values = TakePlane(input, workspace, context);
  void * const                  referenceValue = workspace.Take(ReferenceValueBytes);
  const size_t                  passes = plan.Passes.size();
  const auto                    makeQuotientPass = [&](const DeviceView & smooth, const DeviceView & result) {
    return MakeQuotientPass(
      plan.Passes.back(), plan.Boundary, weights[(passes - 1) % 2], smooth, result, context.GetDevice());
  };
  const bool dividesInPass =
    passes > 0 && HasQuotientKernel(makeQuotientPass(values, GetComponent(output, 0)), context.GetDevice());
  const size_t separate = dividesInPass ? passes - 1 : passes; // passes that filter weights and values separately

  CudaGaussianPlan smoothing = plan;
  smoothing.Boundary.Value = 1.0;
  const bool readsMask =
    separate > 0 && RunMaskPass(plan.Passes.front(), smoothing.Boundary, valid, weights[1], context);
  if (!readsMask)
  {
    QueueWeights(valid, weights[0], context);
  }
  RunPlan(GetAlternatingPasses(smoothing, readsMask ? 1 : 0, separate), weights, workspace, context);

  smoothing.Boundary.Value = 0.0;
  const DeviceView &            smoothWeights = weights[separate % 2];
  const std::vector<DeviceView> images{ values, weights[1 - separate % 2] };
  for (size_t component = 0; component < input.Size.back(); ++component)
  {
    const DeviceView image = GetComponent(input, component);
    const DeviceView result = GetComponent(output, component);
    QueueClearAllValid(image.ComponentType, referenceValue, context);
    if (plan.Boundary.Mode == CudaFiltersEnums::BoundaryMode::Constant)
    {
      // After the subtraction the value beyond the ends of the lines is 0, so the host needs to know no pixel.
      QueueReferenceValue(plan.Boundary.Value, image.ComponentType, referenceValue, context);
    }
    else
    {
      QueueReferenceValueOfValid(image, valid, referenceValue, context);
    }
    const bool readsValid =
      separate > 0 &&
      RunValidPass(plan.Passes.front(), smoothing.Boundary, image, valid, referenceValue, images[1], context);
    if (!readsValid)
    {
      QueueValues(image, valid, referenceValue, values, context);
    }
    RunPlan(GetAlternatingPasses(smoothing, readsValid ? 1 : 0, separate), images, workspace, context);
    const DeviceView & smooth = images[separate % 2];
    if (dividesInPass)
    {
      RunQuotientPass(makeQuotientPass(smooth, result), mask, referenceValue, context);
    }
    else
    {
      QueueQuotient(smooth, smoothWeights, referenceValue, result, mask.FillValue, mask.MinimumWeight, context);
    }
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
    return std::make_shared<gaussian::MaskedGaussianAlgorithm>(plan);
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
