// SPDX-License-Identifier: Apache-2.0
#include "gaussian/slabs/Slabs.h"

#include "itkCudaDeviceGaussianSlabs.h"
#include "runtime/image/Components.h"
#include "gaussian/host/HostPlan.h"
#include "runtime/transfer/StridedBytes.h"
#include "itkMacro.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <utility>

// Cuts images into slabs, and chooses how a plan runs in slabs: on devices or on the host, with or without padding.

namespace itk::cuda::gaussian
{
namespace
{
unsigned int
GetSlabAxis(const CudaGaussianPlan & plan, const CudaImageView & shape)
{
  unsigned int axis = GetLastAxis(shape);
  for (const CudaGaussianLinePass & pass : plan.Passes)
  {
    axis = std::max(axis, pass.Axis);
  }
  return axis;
}

void
VerifyChunkBoundary(const SlabGeometry & geometry, const char * name, size_t plane)
{
  if (plane > geometry.Shape.NumberOfPlanes ||
      (plane % geometry.Shape.ChunkLength != 0 && plane != geometry.Shape.NumberOfPlanes))
  {
    itkGenericExceptionMacro(<< name << " of the slabs' options is " << plane << "; it must be a multiple of "
                             << geometry.Shape.ChunkLength << " or the image's end, " << geometry.Shape.NumberOfPlanes);
  }
}
} // namespace

SlabGeometry
MakeSlabGeometry(const CudaGaussianPlan & plan,
                 const CudaImageView &    inputShape,
                 const CudaImageView &    outputShape,
                 const CudaSlabOptions &  options)
{
  CudaVerifyComponents(inputShape.NumberOfComponents, plan.Results.size(), outputShape.NumberOfComponents);
  if (inputShape.Size != outputShape.Size)
  {
    itkGenericExceptionMacro("The output's size differs from the input's; it must be the same");
  }
  SlabGeometry geometry;
  geometry.Shape = GetSlabShape(plan, inputShape, outputShape);
  const size_t planes = geometry.Shape.NumberOfPlanes;
  const size_t end = options.NumberOfPlanes == 0 ? planes : options.FirstPlane + options.NumberOfPlanes;
  VerifyChunkBoundary(geometry, "FirstPlane", options.FirstPlane);
  VerifyChunkBoundary(geometry, "FirstPlane + NumberOfPlanes", end);
  geometry.FirstChunk = options.FirstPlane / geometry.Shape.ChunkLength;
  geometry.EndChunk = DivideUp(end, geometry.Shape.ChunkLength);
  geometry.SweepsPart = options.States && options.States->AreOfPart();
  geometry.ChunksPerSlab = std::max<size_t>(1, options.ChunksPerSlab);
  geometry.BytesOfInputPlane = GetBytesOfPlane(inputShape, geometry.Shape.Axis);
  geometry.BytesOfOutputPlane = GetBytesOfPlane(outputShape, geometry.Shape.Axis);
  return geometry;
}

CudaGaussianSlabShape
GetSlabShape(const CudaGaussianPlan & plan, const CudaImageView & inputShape, const CudaImageView & outputShape)
{
  CudaGaussianSlabShape shape;
  shape.Axis = GetSlabAxis(plan, inputShape);
  shape.NumberOfPlanes = inputShape.Size[shape.Axis];
  shape.ChunkLength = shape.Axis == 0 ? std::max<size_t>(1, shape.NumberOfPlanes) : CudaSlabChunkLength;
  shape.NumberOfChunks = DivideUp(shape.NumberOfPlanes, shape.ChunkLength);
  for (const CudaGaussianLinePass & pass : plan.Passes)
  {
    if (IsSlabPass(pass, shape) && shape.NumberOfChunks > 1)
    {
      const LineChunks chunks =
        GetLineChunks(pass, {}, shape.NumberOfPlanes, cuda::GetComputeType(inputShape, outputShape));
      shape.LookAhead = std::max(shape.LookAhead, chunks.LookAhead);
      shape.NeedsAllChunks = shape.NeedsAllChunks || chunks.LookAhead == 0;
    }
  }
  return shape;
}

namespace
{
void
Divide(size_t begin, size_t end, size_t chunksPerSlab, std::vector<ChunkRange> & ranges)
{
  for (size_t first = begin; first < end; first += chunksPerSlab)
  {
    ranges.push_back({ first, std::min(first + chunksPerSlab, end) });
  }
}

SlabCut
MakeCut(const SlabGeometry & geometry, std::vector<ChunkRange> && ranges, bool haveResults)
{
  const size_t reach = geometry.Shape.NeedsAllChunks ? 0 : geometry.Shape.LookAhead;
  SlabCut      cut{ std::move(ranges), {} };
  for (const ChunkRange & range : cut.Chunks)
  {
    const size_t slab = cut.Slabs.size();
    size_t       last = slab;
    while (last + 1 < cut.Chunks.size() && cut.Chunks[last + 1].Begin < range.End + reach)
    {
      ++last;
    }
    cut.Slabs.push_back({ geometry.GetFirstPlane(range.Begin),
                          geometry.GetNumberOfPlanes(range.Begin, range.End),
                          last,
                          haveResults && range.Begin >= geometry.FirstChunk && range.Begin < geometry.EndChunk });
    cut.SlabsAhead = std::max(cut.SlabsAhead, last - slab);
  }
  return cut;
}
} // namespace

void
VerifyBytesOfStates(const CudaSlabStates::StateBytes & bytes, size_t piece, size_t expected)
{
  if (piece >= bytes.size() || bytes[piece].size() != expected)
  {
    itkGenericExceptionMacro("The states of slabs have " << (piece < bytes.size() ? bytes[piece].size() : 0)
                                                         << " bytes in part " << piece
                                                         << ", where this plan and this image have " << expected);
  }
}

SlabCut
CutToFilter(const SlabGeometry & geometry, size_t chunksPerSlab)
{
  std::vector<ChunkRange> ranges;
  Divide(geometry.GetLoadBegin(), geometry.FirstChunk, chunksPerSlab, ranges);
  Divide(geometry.FirstChunk, geometry.EndChunk, chunksPerSlab, ranges);
  Divide(geometry.EndChunk, geometry.GetLoadEnd(), chunksPerSlab, ranges);
  return MakeCut(geometry, std::move(ranges), true);
}

SlabCut
CutToSweep(const SlabGeometry & geometry, size_t chunksPerSlab)
{
  std::vector<ChunkRange> ranges;
  if (geometry.Shape.NeedsAllChunks)
  {
    const bool isPart = geometry.SweepsPart;
    Divide(isPart ? geometry.FirstChunk : 0,
           isPart ? geometry.EndChunk : geometry.Shape.NumberOfChunks,
           chunksPerSlab,
           ranges);
  }
  return MakeCut(geometry, std::move(ranges), false);
}

namespace
{
/** Lets the source copy from the image, if there is none. */
void
AddSource(SlabEndpoints & endpoints, unsigned int axis)
{
  if (!endpoints.HasSource())
  {
    endpoints.Source = [input = endpoints.Input, axis](size_t first, size_t planes, void * pixels) {
      const StridedBytes bytes(Slice(input, axis, first, planes), 0);
      bytes.Gather(static_cast<char *>(pixels), 0, bytes.GetNumberOfBytes());
    };
  }
}

/** Verifies that the plan can run in slabs.
 * \exception ExceptionObject says why it cannot */
void
VerifyCanBeCut(const CudaGaussianPlan &      plan,
               const CudaImageView &         inputShape,
               const CudaImageView &         outputShape,
               const CudaGaussianSlabShape & shape)
{
  if (plan.Mask)
  {
    itkGenericExceptionMacro("A filter with a mask cannot run in slabs; Streaming must be Off");
  }
  if (plan.Boundary.Mode == CudaFiltersEnums::BoundaryMode::Wrap)
  {
    itkGenericExceptionMacro(<< "BoundaryMode is " << plan.Boundary.Mode
                             << "; in slabs it must be another one, or Streaming Off");
  }
  VerifyPadding(plan, inputShape, outputShape);
  for (const CudaGaussianLinePass & pass : plan.Passes)
  {
    if (IsSlabPass(pass, shape) && pass.Source != 0)
    {
      itkGenericExceptionMacro("A pass along axis "
                               << pass.Axis << " reads the result of another one; in slabs it must read the input");
    }
  }
}

CudaSlabReport
RunSlabs(SlabRun & run, const CudaSlabSink & sink)
{
  for (SlabPlanes planes = run.Next(); planes.Number > 0; planes = run.Next())
  {
    sink(planes.First, planes.Number, planes.Pixels);
  }
  return run.GetReport();
}
} // namespace

std::unique_ptr<SlabRun>
MakeSlabRun(SlabRunArguments arguments)
{
  const CudaGaussianSlabShape shape =
    GetSlabShape(arguments.Plan, arguments.Endpoints.Input, arguments.Endpoints.Output);
  VerifyCanBeCut(arguments.Plan, arguments.Endpoints.Input, arguments.Endpoints.Output, shape);
  if (GetPaddingPlanes(arguments.Plan, arguments.Endpoints.Input, arguments.Endpoints.Output) == 0)
  {
    return MakeUnpaddedSlabRun(std::move(arguments));
  }
  AddSource(arguments.Endpoints, shape.Axis);
  return MakePaddedSlabRun(arguments);
}

std::unique_ptr<SlabRun>
MakeUnpaddedSlabRun(SlabRunArguments arguments)
{
  if (!arguments.Options.OnHost)
  {
    return MakeDeviceSlabRun(arguments);
  }
  AddSource(arguments.Endpoints,
            GetSlabShape(arguments.Plan, arguments.Endpoints.Input, arguments.Endpoints.Output).Axis);
  return MakeHostSlabRun(arguments);
}
} // namespace itk::cuda::gaussian

namespace itk::CudaDetail
{
using namespace cuda::gaussian;

CudaGaussianSlabShape
CudaGetGaussianSlabShape(const CudaGaussianPlan & plan,
                         const CudaImageView &    inputShape,
                         const CudaImageView &    outputShape)
{
  CudaGaussianSlabShape shape = GetSlabShape(plan, inputShape, outputShape);
  VerifyCanBeCut(plan, inputShape, outputShape, shape);
  CudaImageView continued = inputShape;
  shape.PaddingPlanes = GetPaddingPlanes(plan, inputShape, outputShape);
  continued.Size[shape.Axis] += 2 * shape.PaddingPlanes;
  const CudaGaussianSlabShape ofPadded = GetSlabShape(plan, continued, outputShape);
  shape.LookAhead = ofPadded.LookAhead;
  shape.NeedsAllChunks = ofPadded.NeedsAllChunks;
  return shape;
}

std::shared_ptr<CudaSlabStates>
CudaMakeSlabStates()
{
  return std::make_shared<CudaSlabStates>();
}

namespace
{
using Bytes = std::vector<unsigned char>;

void
Append(Bytes & bytes, const Bytes & piece)
{
  const uint64_t size = piece.size();
  const auto *   begin = reinterpret_cast<const unsigned char *>(&size);
  bytes.insert(bytes.end(), begin, begin + sizeof(size));
  bytes.insert(bytes.end(), piece.begin(), piece.end());
}

/** Returns the states as a program can keep them: where they were computed, the first plane, and the pieces. */
Bytes
Write(const CudaSlabStates & states)
{
  Bytes bytes;
  Append(bytes, { static_cast<unsigned char>(states.ComputedOn) });
  Append(bytes, states.FirstPlane);
  for (const Bytes & piece : states.Bytes)
  {
    Append(bytes, piece);
  }
  return bytes;
}

/** Calls run() with the states, and takes none of its planes. */
void
RunForStates(const CudaGaussianPlan &        plan,
             const CudaImageView &           inputShape,
             const CudaImageView &           outputShape,
             const CudaSlabSource &          source,
             CudaSlabOptions                 options,
             std::shared_ptr<CudaSlabStates> states,
             const CudaProgressFunction &    progress)
{
  if (!CudaGetGaussianSlabShape(plan, inputShape, outputShape).NeedsAllChunks)
  {
    itkGenericExceptionMacro(
      "The plan needs a few chunks on either side of a slab; only plans that need all have states");
  }
  options.States = std::move(states);
  CudaGaussianFilterSlabs(plan, inputShape, outputShape, source, {}, options, progress);
}
} // namespace

std::shared_ptr<CudaSlabStates>
CudaReadSlabStates(const std::vector<unsigned char> & bytes)
{
  auto               states = CudaMakeSlabStates();
  std::vector<Bytes> pieces;
  for (size_t at = 0; at < bytes.size();)
  {
    uint64_t size = bytes.size();
    if (bytes.size() - at >= sizeof(size))
    {
      std::memcpy(&size, &bytes[at], sizeof(size));
    }
    at += sizeof(size);
    if (at > bytes.size() || size > bytes.size() - at)
    {
      pieces.clear();
      break;
    }
    pieces.emplace_back(bytes.begin() + at, bytes.begin() + at + size);
    at += size;
  }
  if (pieces.size() < 3 || pieces.front().size() != 1)
  {
    itkGenericExceptionMacro(<< "The states of slabs have " << bytes.size() << " bytes that are not those of states");
  }
  states->ComputedOn = static_cast<CudaSlabStates::Location>(pieces[0].front());
  states->FirstPlane = std::move(pieces[1]);
  states->Bytes.assign(std::make_move_iterator(pieces.begin() + 2), std::make_move_iterator(pieces.end()));
  return states;
}

std::vector<unsigned char>
CudaGaussianSlabEndStates(const CudaGaussianPlan &     plan,
                          const CudaImageView &        inputShape,
                          const CudaImageView &        outputShape,
                          const CudaSlabSource &       source,
                          const CudaSlabOptions &      options,
                          const CudaProgressFunction & progress)
{
  const auto states = CudaMakeSlabStates();
  states->Task = CudaSlabStates::Sweep;
  RunForStates(plan, inputShape, outputShape, source, options, states, progress);
  return Write(*states);
}

std::vector<std::vector<unsigned char>>
CudaGaussianSlabStartStates(const CudaGaussianPlan &                        plan,
                            const CudaImageView &                           inputShape,
                            const CudaImageView &                           outputShape,
                            const std::vector<std::vector<unsigned char>> & endStates,
                            const std::vector<size_t> &                     firstPlanes,
                            const CudaSlabOptions &                         options)
{
  const size_t padding = GetPaddingPlanes(plan, inputShape, outputShape) / CudaSlabChunkLength;
  const auto   shape = GetSlabShape(plan, inputShape, outputShape);
  const size_t chunks = cuda::DivideUp(shape.NumberOfPlanes + 2 * padding * CudaSlabChunkLength, CudaSlabChunkLength);
  const auto   all = CudaReadSlabStates(endStates.at(0));
  for (size_t part = 1; part < endStates.size(); ++part)
  {
    const auto more = CudaReadSlabStates(endStates[part]);
    if (more->ComputedOn != all->ComputedOn || more->Bytes.size() != all->Bytes.size())
    {
      itkGenericExceptionMacro("The states of slabs " << part - 1 << " and " << part
                                                      << " are those of different plans, or of a host and a device");
    }
    for (size_t i = 0; i < all->Bytes.size(); i += 2)
    {
      all->Bytes[i].insert(all->Bytes[i].end(), more->Bytes[i].begin(), more->Bytes[i].end());
      all->Bytes[i + 1] = more->Bytes[i + 1]; // the last part has the end of the lines
    }
  }
  all->Task = CudaSlabStates::Scan;
  RunForStates(plan, inputShape, outputShape, {}, options, all, [](float) {});

  std::vector<Bytes> starts;
  for (size_t part = 0; part < firstPlanes.size(); ++part)
  {
    const bool   isLast = part + 1 == firstPlanes.size();
    const size_t begin = padding + firstPlanes[part] / CudaSlabChunkLength;
    const size_t end =
      padding + cuda::DivideUp(isLast ? shape.NumberOfPlanes : firstPlanes[part + 1], CudaSlabChunkLength);
    CudaSlabStates states;
    states.ComputedOn = all->ComputedOn;
    states.FirstPlane = all->FirstPlane;
    for (size_t i = 0; i < all->Bytes.size(); i += 2)
    {
      const size_t size = all->Bytes[i].size() / chunks;
      states.Bytes.emplace_back(all->Bytes[i].begin() + begin * size, all->Bytes[i].begin() + end * size);
      states.Bytes.push_back(all->Bytes[i + 1]);
    }
    starts.push_back(Write(states));
  }
  return starts;
}

CudaSlabReport
CudaGaussianFilterSlabs(const CudaGaussianPlan &     plan,
                        const CudaImageView &        inputShape,
                        const CudaImageView &        outputShape,
                        const CudaSlabSource &       source,
                        const CudaSlabSink &         sink,
                        const CudaSlabOptions &      options,
                        const CudaProgressFunction & progress)
{
  cuda::SlabEndpoints endpoints{ inputShape, outputShape, source };
  endpoints.Input.Data = endpoints.Output.Data = nullptr;
  return RunSlabs(*MakeSlabRun({ plan, endpoints, options, progress }), sink);
}

CudaSlabReport
CudaGaussianFilterSlabs(const CudaGaussianPlan &     plan,
                        const CudaImageView &        input,
                        const CudaImageView &        output,
                        const CudaSlabOptions &      options,
                        const CudaProgressFunction & progress)
{
  const unsigned int        axis = GetSlabShape(plan, input, output).Axis;
  const cuda::SlabEndpoints endpoints{ input, output, {} };
  return RunSlabs(*MakeSlabRun({ plan, endpoints, options, progress }),
                  [&output, axis](size_t first, size_t planes, const void * pixels) {
                    const cuda::StridedBytes bytes(cuda::Slice(output, axis, first, planes), 0);
                    bytes.Scatter(static_cast<const char *>(pixels), 0, bytes.GetNumberOfBytes());
                  });
}

namespace
{
/** Returns the size and type of a device image, whose memory the host cannot read. */
CudaImageView
GetShapeOf(const CudaDeviceImageView & image)
{
  CudaImageView shape;
  shape.ComponentType = image.ComponentType;
  shape.NumberOfComponents = image.Size.back();
  std::copy_n(image.Size.begin(), shape.Size.size(), shape.Size.begin());
  return shape;
}

/** Returns the shape of the image that parts on devices make up along an axis.
 * \exception ExceptionObject if they do not make up one */
CudaImageView
JoinParts(const std::vector<CudaDeviceImageView> & parts, unsigned int axis, const char * name)
{
  CudaImageView whole = GetShapeOf(parts.front());
  whole.Size[axis] = 0;
  for (size_t i = 0; i < parts.size(); ++i)
  {
    CudaImageView shape = GetShapeOf(parts[i]);
    const size_t  planes = std::exchange(shape.Size[axis], whole.Size[axis]);
    const bool    isCut = i + 1 < parts.size();
    if (!parts[i].Memory || shape.Size != whole.Size || shape.ComponentType != whole.ComponentType ||
        shape.NumberOfComponents != whole.NumberOfComponents)
    {
      itkGenericExceptionMacro(
        << "Part " << i << " of the " << name
        << " differs from the first one in its pixels or in its size within planes, or it has no "
           "memory; the parts must make up one image");
    }
    if (planes == 0 || planes > parts.front().Size[axis] ||
        (isCut && (planes != parts.front().Size[axis] || planes % CudaSlabChunkLength != 0)))
    {
      itkGenericExceptionMacro(<< "Part " << i << " of the " << name << " has " << planes
                               << " planes; all parts but the "
                               << "last one must have the same number, a multiple of " << CudaSlabChunkLength
                               << ", and the last one at most as many");
    }
    whole.Size[axis] += planes;
  }
  return whole;
}
} // namespace

CudaSlabReport
CudaGaussianFilterSlabs(const CudaGaussianPlan &                 plan,
                        const std::vector<CudaDeviceImageView> & inputs,
                        const std::vector<CudaDeviceImageView> & outputs)
{
  if (inputs.empty() || inputs.size() != outputs.size())
  {
    itkGenericExceptionMacro(<< "There are " << inputs.size() << " inputs and " << outputs.size()
                             << " outputs; there must be one output for each input, and at least one");
  }
  const unsigned int  axis = GetSlabShape(plan, GetShapeOf(inputs.front()), GetShapeOf(outputs.front())).Axis;
  const CudaImageView input = JoinParts(inputs, axis, "input");
  const CudaImageView output = JoinParts(outputs, axis, "output");
  if (plan.Boundary.Mode != CudaFiltersEnums::BoundaryMode::Nearest)
  {
    itkGenericExceptionMacro(<< "BoundaryMode is " << plan.Boundary.Mode
                             << "; for slabs on devices it must be Nearest");
  }
  if (axis == 0 && inputs.size() > 1)
  {
    itkGenericExceptionMacro(<< "There are " << inputs.size()
                             << " parts of an image with one axis, along which no image is cut; there must be one");
  }
  SlabRunArguments arguments;
  arguments.Plan = plan;
  arguments.Endpoints = { input, output, {} };
  for (size_t i = 0; i < inputs.size(); ++i)
  {
    const int device = inputs[i].Memory->GetDevice();
    if (outputs[i].Memory->GetDevice() != device || outputs[i].Memory == inputs[i].Memory ||
        outputs[i].Size[axis] != inputs[i].Size[axis])
    {
      itkGenericExceptionMacro(<< "Part " << i << " of the output must have other memory than that of the input, "
                               << "on the same device, and " << inputs[i].Size[axis] << " planes");
    }
    arguments.Options.Devices.push_back(device);
    arguments.Parts.push_back({ inputs[i], outputs[i] });
  }
  arguments.Options.ChunksPerSlab = cuda::DivideUp(inputs.front().Size[axis], CudaSlabChunkLength);
  return RunSlabs(*MakeSlabRun(arguments), {});
}
} // end namespace itk::CudaDetail
