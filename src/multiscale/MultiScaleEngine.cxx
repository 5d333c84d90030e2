// SPDX-License-Identifier: Apache-2.0
#include "itkCudaDetailMultiScaleEngine.h"

#include "runtime/device/Call.h"
#include "runtime/image/Components.h"
#include "runtime/image/Convert.h"
#include "runtime/run/ComputeImage.h"
#include "itkCudaDetailFilterBackend.h"
#include "runtime/device/Device.h"
#include "runtime/device/Stream.h"
#include "runtime/memory/DeviceAccess.h"
#include "runtime/run/DeviceToDevice.h"
#include "runtime/run/HostToHost.h"
#include "runtime/memory/DeviceMemory.h"
#include "runtime/memory/DeviceImage.h"
#include "runtime/memory/MemoryQuery.h"
#include "multiscale/MultiScaleDevice.h"
#include "runtime/run/Parts.h"
#include "runtime/run/Progress.h"
#include "multiscale/PlaneParts.h"
#include "runtime/image/Math.h"
#include "runtime/transfer/Transfer.h"
#include "gaussian/Engine.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <optional>
#include <vector>

// Runs the largest measure of several scales from host to host: uploads the image, whole or slab after slab, computes
// each scale's Hessians and measures, and downloads the largest ones.

namespace itk::cuda::multiscale
{
namespace
{
// The progress at the end of the upload and at the end of the kernels.
constexpr float UploadEnd = 0.25f;
constexpr float KernelsEnd = 0.5f;

/** Returns slices of the outputs along `axis`. Those that are not requested stay without memory. */
CudaMultiScaleOutputs
SliceOutputs(CudaMultiScaleOutputs outputs, unsigned int axis, size_t first, size_t count)
{
  for (CudaImageView * image : { &outputs.Response, &outputs.Scale, &outputs.Hessian })
  {
    *image = Slice(*image, axis, image->Data ? first : 0, count);
  }
  return outputs;
}

/** The arguments of a run from host memory to host memory. */
struct HostToHostRun
{
  const CudaMultiScalePlan &    Plan;
  const CudaImageView &         Input;
  const CudaMultiScaleOutputs & Outputs;
  const CudaScaleParameter *    Parameter{ nullptr }; // of each scale, which depends on the whole image

  unsigned int
  GetAxis() const
  {
    return Plan.Measure.Dimension - 1;
  }

  size_t
  GetLength() const
  {
    return Input.Size[this->GetAxis()];
  }

  CudaComponentType
  GetType() const
  {
    return GetComputeType(Input, Outputs.Response);
  }
};

/** Returns the shape that an image has in device memory. */
DeviceView
MakeDeviceShape(const CudaImageView & image, CudaComponentType type)
{
  return DeviceImage::MakeView(GetPlanarSize(image), type, nullptr);
}

/** Returns the number of planes of context on either side of a slab of `planes` planes. */
size_t
GetContextOfSlab(const HostToHostRun & run, size_t planes)
{
  return planes < run.GetLength() ? *GetContextPlanes(run.Plan, run.GetLength(), run.GetType()) : 0;
}

/** Returns the maximum number of bytes of device memory that a slab with results of `planes` planes needs. */
size_t
GetSlabBytes(const HostToHostRun & run, size_t planes)
{
  const CudaComponentType type = run.GetType();
  const size_t            context = GetContextOfSlab(run, planes);
  const CudaImageView     input = Slice(run.Input, run.GetAxis(), 0, std::min(run.GetLength(), planes + 2 * context));
  const CudaMultiScaleOutputs outputs = SliceOutputs(run.Outputs, run.GetAxis(), 0, planes);
  const DeviceView            source = MakeDeviceShape(input, type);
  const size_t                image = GetNumberOfBytes(source);
  const size_t                response = GetNumberOfBytes(MakeDeviceShape(outputs.Response, type));

  size_t kept = image + response * (outputs.Scale.Data ? 2 : 1);
  kept += outputs.Hessian.Data ? response * outputs.Hessian.NumberOfComponents : 0;
  kept += context > 0 ? source.Stride[run.GetAxis()] * CudaComponentSize(type) + Workspace::Alignment : 0;
  // The states of recursive passes take at most a sixteenth of an image (GetPlanWorkspace()). The workspaces of kernels
  // and downloads are added, because downloads begin while kernels run.
  const size_t kernels =
    GetScaleImageBytes(run.Plan, source, planes, run.Parameter != nullptr) + image / 16 + Workspace::Alignment;
  return kept + std::max(kernels + GetTransferWorkspace(outputs.Response, type), GetTransferWorkspace(input, type));
}

/** Returns how the image is divided into slabs. It is not divided if the results depend on all planes. */
PartRun
MakeSlabs(const HostToHostRun & run)
{
  const bool isCut = GetContextPlanes(run.Plan, run.GetLength(), run.GetType()).has_value();
  return { run.GetLength(),
           isCut ? gaussian::ChunkLength : run.GetLength(),
           [&run](size_t planes) { return GetSlabBytes(run, planes); },
           nullptr };
}

/** The outputs in device memory. */
class BestImages
{
public:
  BestImages(const CudaMultiScaleOutputs & outputs, CudaComponentType type, const Context & context)
    : m_Response(MakeImage(outputs.Response, type, context))
    , m_Scale(MakeImage(outputs.Scale, type, context))
    , m_Hessian(MakeImage(outputs.Hessian, type, context))
  {}

  pointwise::BestScale
  Get() const
  {
    return { m_Response.GetView(), m_Scale.GetView(), m_Hessian.GetView() };
  }

private:
  static DeviceImage
  MakeImage(const CudaImageView & host, CudaComponentType type, const Context & context)
  {
    return host.Data ? DeviceImage(GetPlanarSize(host), type, context) : DeviceImage();
  }

  const DeviceImage m_Response, m_Scale, m_Hessian;
};

/** Planes of a slab, and the event after which their results are complete. */
struct CompletePlanes
{
  size_t First;
  size_t Planes;
  Event  Ready;
};

/** Downloads these planes of an output, if it is requested. */
void
DownloadPlanes(const CompletePlanes &       part,
               unsigned int                 axis,
               const DeviceView &           image,
               const CudaImageView &        host,
               StagingMemory &              staging,
               const CudaProgressFunction & progress)
{
  if (host.Data)
  {
    Download(
      SlicePlanes(image, axis, part.First, part.Planes), Slice(host, axis, part.First, part.Planes), staging, progress);
  }
}

void
RunWithWorkspace(const CudaMultiScalePlan &     plan,
                 const DeviceView &             input,
                 const Slab &                   slab,
                 const CudaScaleParameter *     parameter,
                 const pointwise::BestScale &   best,
                 const Context &                context,
                 const CudaProgressFunction &   progress,
                 const CompletePlanesFunction & complete)
{
  const size_t       bytes = GetMultiScaleWorkspace(plan, input, slab, parameter, context.GetDevice());
  const DeviceBuffer workspace(bytes, context);
  RunMultiScale(plan, input, slab, parameter, best, { workspace.GetPointer(), bytes }, context, progress, complete);
  WaitIfSynchronous("a multi-scale measure", context);
}

/** Computes and downloads the results of the planes from `begin` to `end`. */
void
RunSlab(const HostToHostRun &        run,
        size_t                       begin,
        size_t                       end,
        size_t                       contextPlanes,
        const StreamLease &          stream,
        StagingMemory &              staging,
        StagingMemory &              downloads,
        const CudaProgressFunction & progress)
{
  const unsigned int          axis = run.GetAxis();
  const CudaComponentType     type = run.GetType();
  const size_t                first = begin > contextPlanes ? begin - contextPlanes : 0;
  const size_t                last = std::min(run.GetLength(), end + contextPlanes);
  const CudaImageView         input = Slice(run.Input, axis, first, last - first);
  const CudaImageView         firstPlane = Slice(run.Input, axis, 0, 1);
  const CudaMultiScaleOutputs outputs = SliceOutputs(run.Outputs, axis, begin, end - begin);
  const DeviceImage           uploaded(GetPlanarSize(input), type, stream);
  const DeviceImage uploadedFirst = first > 0 ? DeviceImage(GetPlanarSize(firstPlane), type, stream) : DeviceImage();
  const BestImages  best(outputs, type, stream);

  Upload(input, uploaded.GetView(), staging, GetPartOfProgress(progress, 0.0f, UploadEnd));
  Slab slab{ {}, begin - first, end - begin };
  slab.Cut.WholeLength = last - first < run.GetLength() ? run.GetLength() : 0;
  slab.Cut.EndIsCut = last < run.GetLength();
  if (first > 0)
  {
    Upload(firstPlane, uploadedFirst.GetView(), staging, nullptr);
    slab.Cut.First = uploadedFirst.GetView();
  }
  std::vector<CompletePlanes> parts;
  RunWithWorkspace(run.Plan,
                   uploaded.GetView(),
                   slab,
                   run.Parameter,
                   best.Get(),
                   stream,
                   GetPartOfProgress(progress, UploadEnd, KernelsEnd),
                   [&](size_t firstPlane, size_t planes) {
                     parts.push_back({ firstPlane, planes, Event() });
                     parts.back().Ready.Record(stream);
                   });
  // The downloads use their own stream, so that they overlap with the computation of later groups of planes.
  for (size_t i = 0; i < parts.size(); ++i)
  {
    parts[i].Ready.MakeWait(downloads.GetContext());
    DownloadPlanes(parts[i], axis, best.Get().Scale, outputs.Scale, downloads, nullptr);
    DownloadPlanes(parts[i],
                   axis,
                   best.Get().Response,
                   outputs.Response,
                   downloads,
                   GetPartOfProgress(progress, KernelsEnd, 1.0f, i, parts.size()));
  }
  if (outputs.Hessian.Data)
  {
    Download(best.Get().Hessian, outputs.Hessian, staging, nullptr);
  }
}

/** The streams and the page-locked memory with which a device runs slabs. */
struct SlabStreams
{
  explicit SlabStreams(int device)
    : Work(device)
    , Downloads(device)
    , WorkStaging(Work)
    , DownloadStaging(Downloads)
  {}

  const StreamLease Work, Downloads;
  StagingMemory     WorkStaging, DownloadStaging;
};

/** Returns the planes of a slab for which each of the devices has memory. */
size_t
GetPlanesOfSlab(const PartRun & slabs, const std::vector<int> & devices)
{
  const size_t planes = GetPlanesOfPart(slabs, GetAvailableDeviceMemory(devices.front()));
  if (planes >= slabs.Length || devices.size() == 1)
  {
    return planes;
  }
  size_t bytes = std::numeric_limits<size_t>::max();
  for (const int device : devices)
  {
    bytes = std::min(bytes, GetAvailableDeviceMemory(device) / std::count(devices.begin(), devices.end(), device));
  }
  return GetPlanesOfDealtPart(slabs, bytes, devices.size());
}

/** Runs the image, whole on the first device or in slabs on all. Returns false if it has a parameter and is too large
 * to run as a whole. */
bool
RunOnDevices(const HostToHostRun & run, const std::vector<int> & devices, const CudaProgressFunction & progress)
{
  const PartRun slabs = MakeSlabs(run);
  const size_t  planes = GetPlanesOfSlab(slabs, devices);
  if (run.Parameter && planes < run.GetLength())
  {
    return false;
  }
  const size_t                              context = GetContextOfSlab(run, planes);
  std::vector<std::unique_ptr<SlabStreams>> streams;
  std::vector<PartRun>                      workers;
  for (const int device : devices)
  {
    if (planes < run.GetLength() || workers.empty())
    {
      const DeviceGuard guard(device);
      streams.push_back(std::make_unique<SlabStreams>(device));
      workers.push_back(slabs);
      workers.back().Run = [&run, context, device, &with = *streams.back()](
                             size_t first, size_t count, const CudaProgressFunction & slabProgress) {
        const DeviceGuard ofThread(device);
        RunSlab(run, first, first + count, context, with.Work, with.WorkStaging, with.DownloadStaging, slabProgress);
      };
    }
  }
  DealParts(workers, planes, progress);
  return true;
}

/** Throws unless the images have the plan's numbers of components and the same size. */
void
VerifyDeviceImages(const CudaMultiScalePlan &          plan,
                   const CudaDeviceImageView &         input,
                   const CudaMultiScaleDeviceOutputs & outputs)
{
  const unsigned int tensor = CudaTensorComponents(plan.Measure.Dimension);
  const auto         verify = [&input](const CudaDeviceImageView & image, size_t components, const char * name) {
    std::array<size_t, CudaDeviceImageView::NumberOfAxes> size = input.Size;
    size.back() = components;
    if (image.Memory && image.Size != size)
    {
      itkGenericExceptionMacro("The image of the " << name << " has " << image.Size.back()
                                                   << " component(s) to a pixel in " << image.GetNumberOfElements()
                                                   << " elements; it must have " << components
                                                   << " and the size of the input");
    }
  };
  verify(input, 1, "input");
  verify(outputs.Response, 1, "response");
  verify(outputs.Scale, 1, "scales");
  verify(outputs.Hessian, tensor, "Hessians");
}

/** An output, if it is requested, in the form that RunMultiScale() needs. It must exist while work on the output is
 * queued. */
class Result
{
public:
  /** \param image has no memory if the output is not requested */
  Result(const CudaDeviceImageView & image, CudaComponentType type, const Context & context)
  {
    if (image.Memory)
    {
      m_Writing.emplace(image, context);
      m_Image.emplace(GetDeviceView(image), type, context);
    }
  }

  /** \param array has no data if the output is not requested */
  Result(const DeviceView & array, CudaComponentType type, const Context & context)
  {
    if (array.Data)
    {
      m_Image.emplace(array, type, context);
    }
  }

  DeviceView
  Get() const
  {
    return m_Image ? m_Image->Get() : DeviceView();
  }

  void
  Store(const Context & context) const
  {
    if (m_Image)
    {
      m_Image->Store(context);
    }
  }

private:
  std::optional<DeviceWriting> m_Writing;
  std::optional<ComputeImage>  m_Image;
};

/** Queues the computation of all scales for an array of pixels in device memory. */
void
RunOnArray(const CudaMultiScalePlan &                plan,
           const std::optional<CudaScaleParameter> & parameter,
           const DeviceView &                        input,
           const CudaMultiScaleArrays &              outputs,
           const Context &                           context)
{
  const CudaComponentType type = input.ComponentType;
  const ComputeImage      source(input, type, context);
  source.Load(context);
  const Result         response(ViewAdjacent(input.Size, type, outputs.Response), type, context);
  const Result         scale(ViewAdjacent(input.Size, type, outputs.Scale), type, context);
  DeviceView::SizeType tensors = input.Size;
  tensors.back() = CudaTensorComponents(plan.Measure.Dimension);
  const DeviceImage          hessian = outputs.Directions ? DeviceImage(tensors, type, context) : DeviceImage();
  const pointwise::BestScale best{ response.Get(), scale.Get(), hessian.GetView() };
  const Slab                 slab = MakeWholeSlab(plan, source.Get());
  RunWithWorkspace(plan, source.Get(), slab, parameter ? &*parameter : nullptr, best, context, nullptr, nullptr);
  response.Store(context);
  scale.Store(context);
  if (outputs.Directions)
  {
    pointwise::RunLineDirections(outputs.DirectionPlan, hessian.GetView(), context);
    DeviceView directions = hessian.GetView();
    directions.Size.back() = plan.Measure.Dimension;
    ConvertFromPlanar(directions, 0, input.GetNumberOfElements(), outputs.Directions, type, context.GetStream());
  }
}
} // namespace
} // namespace itk::cuda::multiscale

namespace itk::CudaDetail
{
size_t
CudaMultiScaleWorkingSet(const CudaMultiScalePlan &    plan,
                         const CudaImageView &         input,
                         const CudaMultiScaleOutputs & outputs)
{
  using namespace cuda::multiscale;
  if (input.GetNumberOfPixels() == 0)
  {
    return 0;
  }
  const HostToHostRun run{ plan, input, outputs };
  return std::min(GetSlabBytes(run, run.GetLength()), GetSlabBytes(run, GetPlanesOfPart(MakeSlabs(run), 0)));
}

bool
CudaRunOnDevice(const CudaMultiScalePlan &    plan,
                const CudaImageView &         input,
                const CudaMultiScaleOutputs & outputs,
                CudaFilterBackend &           backend,
                const CudaProgressFunction &  progress)
{
  const auto run = [&] {
    cuda::multiscale::RunOnDevices({ plan, input, outputs }, backend.GetSelectedDevices(), progress);
  };
  return backend.TryOnDevice(run, progress);
}

bool
CudaRunWholeOnDevice(const CudaMultiScalePlan &    plan,
                     const CudaScaleParameter &    parameter,
                     const CudaImageView &         input,
                     const CudaMultiScaleOutputs & outputs,
                     CudaFilterBackend &           backend,
                     const CudaProgressFunction &  progress)
{
  bool       isDone = false;
  const auto run = [&] {
    const cuda::multiscale::HostToHostRun whole{ plan, input, outputs, &parameter };
    isDone = cuda::multiscale::RunOnDevices(whole, backend.GetSelectedDevices(), progress);
  };
  return backend.TryOnDevice(run, progress) && isDone;
}

void
CudaQueueOnDevice(const CudaMultiScalePlan &          plan,
                  const CudaDeviceImageView &         input,
                  const CudaMultiScaleDeviceOutputs & outputs)
{
  using namespace cuda;
  multiscale::VerifyDeviceImages(plan, input, outputs);
  if (input.GetNumberOfElements() == 0)
  {
    return;
  }
  const Context           context = GetThreadContext(GetMemory(input).GetDevice());
  const DeviceGuard       guard(context.GetDevice());
  const DeviceReading     reading(input, context);
  const CudaComponentType type = GetComputeType(cuda::GetShape(input), cuda::GetShape(outputs.Response));
  const ComputeImage      source(GetDeviceView(input), type, context);
  source.Load(context);
  const multiscale::Result response(outputs.Response, type, context);
  const multiscale::Result scale(outputs.Scale, type, context);
  const multiscale::Result hessian(outputs.Hessian, type, context);
  multiscale::RunWithWorkspace(plan,
                               source.Get(),
                               multiscale::MakeWholeSlab(plan, source.Get()),
                               nullptr,
                               { response.Get(), scale.Get(), hessian.Get() },
                               context,
                               nullptr,
                               nullptr);
  response.Store(context);
  scale.Store(context);
  hessian.Store(context);
}

void
CudaQueueOnStream(const CudaMultiScalePlan &                plan,
                  const std::optional<CudaScaleParameter> & parameter,
                  const CudaArrayImage &                    input,
                  const CudaMultiScaleArrays &              outputs)
{
  const CudaArrayMemory &    memory = input.Memory;
  const cuda::ExternalStream stream(memory);
  const cuda::Context &      context = stream.GetContext();
  const cuda::DeviceView     pixels{ memory.Data, memory.ComponentType, input.Size, input.Stride };
  if (pixels.GetNumberOfElements() > 0)
  {
    cuda::multiscale::RunOnArray(plan, parameter, pixels, outputs, context);
  }
}
} // end namespace itk::CudaDetail
