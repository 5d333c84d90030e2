// SPDX-License-Identifier: Apache-2.0
#include "gaussian/masked/MaskedDevice.h"

#include "itkCudaDetailDeviceRun.h"
#include "itkCudaDetailDeviceTransfer.h"
#include "gaussian/Engine.h"
#include "gaussian/device/LinePasses.h"
#include "gaussian/device/PipelinedStrip.h"
#include "gaussian/masked/Masked.h"
#include "runtime/device/Device.h"
#include "runtime/device/Stream.h"
#include "runtime/memory/DeviceAccess.h"
#include "runtime/memory/DeviceImage.h"
#include "runtime/memory/DeviceMemory.h"
#include "runtime/memory/PinnedMemory.h"
#include "runtime/run/ComputeImage.h"
#include "runtime/run/DeviceToDevice.h"
#include "runtime/run/Operation.h"
#include "itkMacro.h"

#include <algorithm>
#include <utility>
#include <vector>

// Smooths the valid pixels of images on the device. DeviceMaskedRun is the algorithm. It runs on the images of a filter
// (MaskedGaussianAlgorithm) and on arrays in the caller's memory, on the caller's stream (CudaQueueMaskedOnStream()).

namespace itk::cuda::gaussian
{
namespace
{
/** A pass of smoothing with a mask. */
struct MaskedPass
{
  CudaGaussianPlan Plan;  // has this pass alone, from image 0 to image 1
  DeviceView       Shape; // in which the pass views its images; without data
};

/** The passes and the mask of a run, and the shapes in which it views its images. All shapes have the same number of
 * elements. */
struct MaskedSmoothing
{
  std::vector<MaskedPass> Passes;
  DeviceView              Shape; // in which pixelwise steps view an image of one component; without data
  DeviceView              Valid; // the mask in this shape
  DeviceView              ValidOfFirstPass;
  CudaGaussianMask        Rule; // its Valid is not used

  /** Whether a run has the bits of passes without a mask if all pixels are valid. Kernels that do more than a pass are
   * then used only if they divide the lines as the pass does. */
  bool KeepsBitsOfPasses{ false };
};

bool
HasConstantEdges(const MaskedPass & pass)
{
  return pass.Plan.Boundary.Mode == CudaFiltersEnums::BoundaryMode::Constant;
}

DeviceView
ViewAs(DeviceView shape, const DeviceView & image)
{
  shape.Data = image.Data;
  return shape;
}

/** Smooths images of one component after the other. All of them have the same mask. */
class DeviceMaskedRun
{
public:
  /** Returns the bytes of the workspace of a run. */
  static size_t
  GetWorkspace(const MaskedSmoothing & smoothing, int device)
  {
    size_t passes = 0;
    for (const MaskedPass & pass : smoothing.Passes)
    {
      if (IsLaidOut(pass.Shape, pass.Shape.ComponentType))
      {
        passes = std::max(passes, GetGaussianWorkspace(pass.Plan, pass.Shape, pass.Shape, device));
      }
    }
    return 3 * Workspace::GetPieceSize(GetNumberOfBytes(smoothing.Shape)) +
           Workspace::GetPieceSize(ReferenceValueBytes) + passes;
  }

  DeviceMaskedRun(const MaskedSmoothing & smoothing, Workspace workspace, const Context & context)
    : m_Smoothing(smoothing)
    , m_Context(context)
    , m_Weights{ this->TakeScratch(workspace), this->TakeScratch(workspace) }
    , m_Values(this->TakeScratch(workspace))
    , m_Reference(workspace.Take(ReferenceValueBytes))
    , m_Workspace(workspace)
  {}

  /** Queues the run. The images may have several components, and may be the same. */
  void
  Run(const DeviceView & input, const DeviceView & output) const
  {
    // Passes that filter weights and values separately. The last pass may filter and divide both.
    const bool   divides = this->DividesInLastPass(GetComponent(output, 0));
    const size_t passes = m_Smoothing.Passes.size() - (divides ? 1 : 0);
    this->SmoothWeights(passes);
    for (size_t component = 0; component < input.Size.back(); ++component)
    {
      const DeviceView image = GetComponent(input, component);
      this->QueueReferenceValue(image);
      this->SmoothAndDivide(image, GetComponent(output, component), passes, divides);
    }
  }

private:
  DeviceView
  TakeScratch(Workspace & workspace) const
  {
    const DeviceView image = TakeImage(m_Smoothing.Shape, workspace);
    ClearPadding(image, m_Context);
    return image;
  }

  /** Queues the computation of the value that is subtracted from the pixels. In the mode Constant it is the value
   * beyond the ends of the lines, which is 0 after the subtraction, so that the host needs to know no pixel. */
  void
  QueueReferenceValue(const DeviceView & image) const
  {
    if (m_Smoothing.KeepsBitsOfPasses)
    {
      QueueFindAllValid(m_Smoothing.Valid, image.ComponentType, m_Reference, m_Context);
    }
    else
    {
      QueueClearAllValid(image.ComponentType, m_Reference, m_Context);
    }
    const auto & passes = m_Smoothing.Passes;
    const auto   constant = std::find_if(passes.begin(), passes.end(), HasConstantEdges);
    if (constant != passes.end())
    {
      gaussian::QueueReferenceValue(constant->Plan.Boundary.Value, image.ComponentType, m_Reference, m_Context);
    }
    else
    {
      QueueReferenceValueOfValid(image, m_Smoothing.Valid, m_Reference, m_Context);
    }
  }

  QuotientPass
  MakeLastPass(const DeviceView & weights, const DeviceView & values, const DeviceView & output) const
  {
    const MaskedPass & last = m_Smoothing.Passes.back();
    return MakeQuotientPass(last.Plan.Passes.front(),
                            last.Plan.Boundary,
                            ViewAs(last.Shape, weights),
                            ViewAs(last.Shape, values),
                            ViewAs(last.Shape, output),
                            m_Context.GetDevice());
  }

  bool
  DividesInLastPass(const DeviceView & output) const
  {
    return !m_Smoothing.Passes.empty() &&
           IsLaidOut(ViewAs(m_Smoothing.Passes.back().Shape, output), output.ComponentType) &&
           HasQuotientKernel(this->MakeLastPass(m_Weights[0], m_Values, output), m_Context.GetDevice());
  }

  /** Queues the first pass over the mask (`image` is nullptr) or over the valid pixels of an image as one kernel.
   * \return whether there is such a kernel */
  bool
  TryFirstPass(const DeviceView * image, const DeviceView & destination) const
  {
    const MaskedPass & first = m_Smoothing.Passes.front();
    const DeviceView & valid = m_Smoothing.ValidOfFirstPass;
    const DeviceView   result = ViewAs(first.Shape, destination);
    const DeviceView   source = image ? ViewAs(first.Shape, *image) : result;
    if (first.Plan.Boundary.Mode != CudaFiltersEnums::BoundaryMode::Nearest ||
        !IsLaidOut(source, source.ComponentType) || !IsLaidOut(result, result.ComponentType))
    {
      return false;
    }
    const CudaGaussianLinePass & pass = first.Plan.Passes.front();
    if (m_Smoothing.KeepsBitsOfPasses)
    {
      const LineMethod method = GetLineSchedule(pass, { source, result }, m_Context.GetDevice()).Method;
      if (method == LineMethod::Strip)
      {
        return !HasKernelTimeout(m_Context.GetDevice()) &&
               RunStripMaskPass(pass, { image ? source.Data : nullptr, m_Reference, valid }, result, m_Context);
      }
      if (method == LineMethod::StripScan)
      {
        return false;
      }
    }
    return image ? RunValidPass(pass, first.Plan.Boundary, source, valid, m_Reference, result, m_Context)
                 : RunMaskPass(pass, first.Plan.Boundary, valid, result, m_Context);
  }

  /** Queues the passes [begin, end) with this value beyond the ends of the lines. Each pass reads the image of its
   * parity and writes the other one. */
  void
  RunPasses(size_t begin, size_t end, double boundaryValue, const DeviceView (&images)[2]) const
  {
    for (size_t i = begin; i < end; ++i)
    {
      CudaGaussianPlan plan = m_Smoothing.Passes[i].Plan;
      plan.Boundary.Value = boundaryValue;
      const DeviceView source = ViewAs(m_Smoothing.Passes[i].Shape, images[i % 2]);
      const DeviceView result = ViewAs(m_Smoothing.Passes[i].Shape, images[(i + 1) % 2]);
      if (IsLaidOut(source, source.ComponentType))
      {
        RunGaussian(plan, source, result, m_Workspace, m_Context);
      }
      else
      {
        RunOnStream(*MakeAlgorithm(plan), source, result, m_Context);
      }
    }
  }

  void
  SmoothWeights(size_t passes) const
  {
    const bool readsMask = passes > 0 && this->TryFirstPass(nullptr, m_Weights[1]);
    if (!readsMask)
    {
      QueueWeights(m_Smoothing.Valid, m_Weights[0], m_Context);
    }
    this->RunPasses(readsMask ? 1 : 0, passes, 1.0, m_Weights);
  }

  /** Smooths the values and divides them by the weights. After `passes` passes the weights are in the image of this
   * parity; the other image is reused for the values. */
  void
  SmoothAndDivide(const DeviceView & image, const DeviceView & result, size_t passes, bool divides) const
  {
    const DeviceView & weights = m_Weights[passes % 2];
    const DeviceView   images[2] = { m_Values, m_Weights[1 - passes % 2] };
    const bool         readsValid = passes > 0 && this->TryFirstPass(&image, images[1]);
    if (!readsValid)
    {
      QueueValues(image, m_Smoothing.Valid, m_Reference, images[0], m_Context);
    }
    this->RunPasses(readsValid ? 1 : 0, passes, 0.0, images);
    const DeviceView &       values = images[passes % 2];
    const CudaGaussianMask & rule = m_Smoothing.Rule;
    if (divides)
    {
      RunQuotientPass(this->MakeLastPass(weights, values, result), rule, m_Reference, m_Context);
    }
    else
    {
      QueueQuotient(values, weights, m_Reference, result, rule.FillValue, rule.MinimumWeight, m_Context);
    }
  }

  const MaskedSmoothing & m_Smoothing;
  const Context &         m_Context;
  const DeviceView        m_Weights[2];
  const DeviceView        m_Values;
  void * const            m_Reference;
  const Workspace         m_Workspace; // of the passes
};

/** Returns the run of a plan of MakeSmoothingPlan() on images that are laid out like `image`. */
MaskedSmoothing
MakeSmoothing(const CudaGaussianPlan & plan,
              const CudaGaussianMask & mask,
              const DeviceView &       valid,
              const DeviceView &       image)
{
  MaskedSmoothing smoothing;
  smoothing.Shape = GetComponent(image, 0);
  smoothing.Shape.Data = nullptr;
  smoothing.Valid = valid;
  smoothing.ValidOfFirstPass = valid;
  smoothing.Rule = mask;
  for (const CudaGaussianLinePass & pass : plan.Passes)
  {
    CudaGaussianPlan single = plan;
    single.NumberOfImages = 2;
    single.Passes = { pass };
    single.Passes.front().Source = 0;
    single.Passes.front().Results.front().Destination = 1;
    single.Results = { 1 };
    smoothing.Passes.push_back({ single, smoothing.Shape });
  }
  return smoothing;
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
    return mask + 3 * image + image / 16 + GetMaximumEdgeBytes(m_Plan, plane, type) +
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
  RunFromHostToHost(const CudaImageView &    input,
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

/** Returns the number of elements of the array that the passes filter. */
size_t
CountElements(const std::vector<CudaArrayPass> & passes)
{
  return passes.empty() ? 0
                        : ViewAdjacent(passes.front().Size, CudaComponentType::Float, nullptr).GetNumberOfElements();
}

/** Returns the length of the rows in which pixelwise steps process the array. It is long enough for a warp, and so
 * short that there are many rows, if the number of pixels has such a divisor. */
size_t
GetRowLength(size_t count)
{
  constexpr size_t longest = 2048, shortest = 32;
  size_t           length = longest;
  while (length >= shortest && count % length != 0)
  {
    --length;
  }
  return length < shortest ? count : length;
}

/** Queues smoothing of an array of `count` elements. */
void
RunMaskedArray(const std::vector<CudaArrayPass> & passes,
               const CudaArrayMask &              mask,
               const CudaArrayMemory &            input,
               size_t                             count,
               void *                             output,
               const Context &                    context)
{
  const DeviceView::SizeType rows{ { GetRowLength(count), count / GetRowLength(count), 1, 1, 1 } };
  const auto                 viewMask = [&rows](const void * data) {
    return ViewAdjacent(rows, CudaComponentType::UChar, const_cast<void *>(data));
  };
  MaskedSmoothing smoothing;
  smoothing.Shape = ViewAdjacent(rows, input.ComponentType, nullptr);
  smoothing.Rule = { {}, mask.FillValue, mask.MinimumWeight };
  smoothing.KeepsBitsOfPasses = true;
  for (const CudaArrayPass & pass : passes)
  {
    smoothing.Passes.push_back({ pass.Plan, ViewAdjacent(pass.Size, input.ComponentType, nullptr) });
  }
  const size_t       finite = mask.KeepsNaN ? Workspace::GetPieceSize(count) : 0; // bytes of the mask of finite pixels
  const DeviceBuffer buffer(finite + DeviceMaskedRun::GetWorkspace(smoothing, context.GetDevice()), context);
  Workspace          workspace(buffer.GetPointer(), buffer.GetSize());
  const DeviceView   image = ViewAs(smoothing.Shape, { input.Data });
  const DeviceView   result = ViewAs(smoothing.Shape, { output });
  smoothing.Valid = viewMask(mask.KeepsNaN ? workspace.Take(finite) : mask.Valid);
  smoothing.ValidOfFirstPass = ViewAdjacent(passes.front().Size, CudaComponentType::UChar, smoothing.Valid.Data);
  if (mask.KeepsNaN)
  {
    QueueFiniteMask(image, viewMask(mask.Valid), smoothing.Valid, context);
  }
  DeviceMaskedRun(smoothing, workspace, context).Run(image, result);
  if (mask.KeepsNaN)
  {
    QueueNaN(image, viewMask(mask.Valid), result, context);
  }
  WaitIfSynchronous("a recursive Gaussian filter with a mask", context);
}
} // namespace

std::shared_ptr<const DeviceAlgorithm>
MakeMaskedAlgorithm(const CudaGaussianPlan & plan)
{
  return std::make_shared<MaskedGaussianAlgorithm>(plan);
}

size_t
GetMaskedGaussianWorkspace(const CudaGaussianPlan & plan, const DeviceView & input, int device)
{
  return DeviceMaskedRun::GetWorkspace(MakeSmoothing(plan, {}, {}, input), device);
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
  const MaskedSmoothing smoothing = MakeSmoothing(plan, mask, valid, input);
  DeviceMaskedRun(smoothing, workspace, context).Run(input, output);
}

NonFiniteScan::NonFiniteScan()
  : m_Memory(PinnedBuffer::Take())
{
  *this->GetAnswer() = 0;
}

NonFiniteScan::~NonFiniteScan()
{
  for (const Search & search : m_Searches)
  {
    DrainStream(search.On);
  }
}

void
NonFiniteScan::Queue(const DeviceView & image, const Context & context)
{
  const auto isOn = [&context](const Search & search) { return search.On.GetStream() == context.GetStream(); };
  auto       search = std::find_if(m_Searches.begin(), m_Searches.end(), isOn);
  if (search == m_Searches.end())
  {
    search = m_Searches.insert(search, Search{ context, Event() });
  }
  QueueFindNonFinite(image, this->GetAnswer(), context);
  search->Over.Record(context);
}

bool
NonFiniteScan::HasAnswer() const
{
  return *static_cast<const volatile unsigned int *>(this->GetAnswer()) != 0;
}

bool
NonFiniteScan::HasFound()
{
  for (const Search & search : m_Searches)
  {
    search.Over.Synchronize();
  }
  m_Searches.clear();
  return this->HasAnswer();
}

unsigned int *
NonFiniteScan::GetAnswer() const
{
  return static_cast<unsigned int *>(m_Memory.GetPointer());
}
} // namespace itk::cuda::gaussian

namespace itk::CudaDetail
{
void
CudaQueueMaskedOnStream(const std::vector<CudaArrayPass> & passes,
                        const CudaArrayMask &              mask,
                        const CudaArrayMemory &            input,
                        void *                             output)
{
  const cuda::ExternalStream stream(input);
  const size_t               count = cuda::gaussian::CountElements(passes);
  if (count == 0)
  {
    return;
  }
  for (const CudaArrayPass & pass : passes)
  {
    const CudaGaussianBoundary & boundary = pass.Plan.Boundary;
    if (boundary.Mode == CudaFiltersEnums::BoundaryMode::Constant && boundary.Value != 0.0)
    {
      itkGenericExceptionMacro("The passes continue lines with the value " << boundary.Value
                                                                           << "; with a mask it must be 0");
    }
  }
  cuda::gaussian::RunMaskedArray(passes, mask, input, count, output, stream.GetContext());
}

bool
CudaQueueAndFindNonFinite(const std::vector<CudaArrayPass> & passes, const CudaArrayMemory & input, void * output)
{
  const cuda::ExternalStream stream(input);
  const cuda::Context &      context = stream.GetContext();
  const size_t               count = cuda::gaussian::CountElements(passes);
  if (count == 0)
  {
    return false;
  }
  cuda::gaussian::NonFiniteScan scan;
  scan.Queue(cuda::ViewAdjacent(passes.front().Size, input.ComponentType, input.Data), context);
  cuda::gaussian::QueuePasses(passes, input, output, context);
  return scan.HasFound();
}
} // end namespace itk::CudaDetail
