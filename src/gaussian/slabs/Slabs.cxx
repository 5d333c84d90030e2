// SPDX-License-Identifier: Apache-2.0
#include "gaussian/slabs/Slabs.h"

#include "runtime/image/Components.h"
#include "gaussian/slabs/BoundaryPadding.h"
#include "gaussian/host/HostPlan.h"
#include "runtime/transfer/StridedBytes.h"
#include "itkMacro.h"

#include <algorithm>

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
/** Adds a source and a sink that copy from and to the images. */
SlabEndpoints
AddCopyCallbacks(const SlabEndpoints & endpoints, unsigned int axis)
{
  SlabEndpoints copies = endpoints;
  copies.Source = [input = endpoints.Input, axis](size_t first, size_t planes, void * pixels) {
    const StridedBytes bytes(Slice(input, axis, first, planes), 0);
    bytes.Gather(static_cast<char *>(pixels), 0, bytes.GetNumberOfBytes());
  };
  copies.Sink = [output = endpoints.Output, axis](size_t first, size_t planes, const void * pixels) {
    const StridedBytes bytes(Slice(output, axis, first, planes), 0);
    bytes.Scatter(static_cast<const char *>(pixels), 0, bytes.GetNumberOfBytes());
  };
  return copies;
}

/** Verifies that the plan can run in slabs.
 * \exception ExceptionObject says why it cannot */
void
VerifyCanBeCut(const CudaGaussianPlan & plan, const CudaGaussianSlabShape & shape)
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
RunSlabs(const CudaGaussianPlan &     plan,
         const SlabEndpoints &        endpoints,
         const CudaSlabOptions &      options,
         const CudaProgressFunction & progress)
{
  const CudaGaussianSlabShape shape = GetSlabShape(plan, endpoints.Input, endpoints.Output);
  VerifyCanBeCut(plan, shape);
  if (GetPaddingPlanes(plan, endpoints.Input, endpoints.Output) == 0)
  {
    return RunUnpaddedSlabs(plan, endpoints, options, progress);
  }
  const bool isInPlace = !endpoints.Source && endpoints.Input.Data == endpoints.Output.Data;
  return RunPaddedSlabs(
    plan, endpoints.Source ? endpoints : AddCopyCallbacks(endpoints, shape.Axis), isInPlace, options, progress);
}
} // namespace

CudaSlabReport
RunUnpaddedSlabs(const CudaGaussianPlan &     plan,
                 const SlabEndpoints &        endpoints,
                 const CudaSlabOptions &      options,
                 const CudaProgressFunction & progress)
{
  if (!options.OnHost)
  {
    return RunGaussianSlabsOnDevices(plan, endpoints, options, progress);
  }
  const unsigned int axis = GetSlabShape(plan, endpoints.Input, endpoints.Output).Axis;
  return RunGaussianSlabsOnHost(
    plan, endpoints.Source ? endpoints : AddCopyCallbacks(endpoints, axis), options, progress);
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
  VerifyCanBeCut(plan, shape);
  CudaImageView continued = inputShape;
  continued.Size[shape.Axis] += 2 * GetPaddingPlanes(plan, inputShape, outputShape);
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

CudaSlabReport
CudaGaussianFilterSlabs(const CudaGaussianPlan &     plan,
                        const CudaImageView &        inputShape,
                        const CudaImageView &        outputShape,
                        const CudaSlabSource &       source,
                        const CudaSlabSink &         sink,
                        const CudaSlabOptions &      options,
                        const CudaProgressFunction & progress)
{
  return RunSlabs(plan, { inputShape, outputShape, source, sink }, options, progress);
}

CudaSlabReport
CudaGaussianFilterSlabs(const CudaGaussianPlan &     plan,
                        const CudaImageView &        input,
                        const CudaImageView &        output,
                        const CudaSlabOptions &      options,
                        const CudaProgressFunction & progress)
{
  return RunSlabs(plan, { input, output, {}, {} }, options, progress);
}
} // end namespace itk::CudaDetail
