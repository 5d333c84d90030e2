// SPDX-License-Identifier: Apache-2.0
#include "itkCudaGaussianSlabs.h"

#include "itkCudaComputeType.h"
#include "itkCudaGaussianHostPlan.h"
#include "itkMacro.h"

#include <algorithm>
#include <cstring>

namespace itk::cuda::gaussian
{
namespace
{
unsigned int
GetSlabAxis(const CudaGaussianPlan & plan, const CudaImageView & shape)
{
  unsigned int axis = 0;
  for (unsigned int d = 0; d < CudaImageView::MaximumDimension; ++d)
  {
    axis = shape.Size[d] > 1 ? d : axis;
  }
  for (const CudaGaussianLinePass & pass : plan.Passes)
  {
    axis = std::max(axis, pass.Axis);
  }
  return axis;
}

size_t
GetBytesOfPlane(const CudaImageView & shape, unsigned int axis)
{
  return shape.GetNumberOfBytes() / std::max<size_t>(1, shape.Size[axis]);
}

void
VerifyPart(const SlabRun & run, const char * name, size_t plane)
{
  if (plane > run.Shape.NumberOfPlanes || (plane % run.Shape.ChunkLength != 0 && plane != run.Shape.NumberOfPlanes))
  {
    itkGenericExceptionMacro(<< name << " of the slabs' options is " << plane << "; it must be a multiple of "
                             << run.Shape.ChunkLength << " or the image's end, " << run.Shape.NumberOfPlanes);
  }
}
} // namespace

SlabRun
MakeSlabRun(const CudaGaussianPlan & plan,
            const CudaImageView &    inputShape,
            const CudaImageView &    outputShape,
            const CudaSlabOptions &  options)
{
  CudaVerifyComponents(inputShape.NumberOfComponents, plan.Results.size(), outputShape.NumberOfComponents);
  if (inputShape.Size != outputShape.Size)
  {
    itkGenericExceptionMacro("The output's size differs from the input's; it must be the same");
  }
  SlabRun run;
  run.Shape = CudaGetGaussianSlabShape(plan, inputShape, outputShape);
  const size_t planes = run.Shape.NumberOfPlanes;
  const size_t end = options.NumberOfPlanes == 0 ? planes : options.FirstPlane + options.NumberOfPlanes;
  VerifyPart(run, "FirstPlane", options.FirstPlane);
  VerifyPart(run, "FirstPlane + NumberOfPlanes", end);
  run.FirstChunk = options.FirstPlane / run.Shape.ChunkLength;
  run.EndChunk = DivideUp(end, run.Shape.ChunkLength);
  run.ChunksPerSlab = std::max<size_t>(1, options.ChunksPerSlab);
  run.BytesOfInputPlane = GetBytesOfPlane(inputShape, run.Shape.Axis);
  run.BytesOfOutputPlane = GetBytesOfPlane(outputShape, run.Shape.Axis);
  return run;
}

CudaImageView
MakePlanesView(const CudaImageView & shape, unsigned int axis, size_t planes, void * data)
{
  CudaImageView view = shape;
  view.Data = data;
  view.Size[axis] = planes;
  size_t stride = shape.NumberOfComponents;
  for (unsigned int d = 0; d < CudaImageView::MaximumDimension; ++d)
  {
    view.Stride[d] = stride;
    stride *= view.Size[d];
  }
  return view;
}

CudaImageView
GetPlanes(CudaImageView view, unsigned int axis, size_t first, size_t planes)
{
  view.Data =
    static_cast<unsigned char *>(view.Data) + first * view.Stride[axis] * CudaComponentSize(view.ComponentType);
  view.Size[axis] = planes;
  return view;
}

namespace
{
/** Calls f(first byte, first byte of a dense copy, bytes) for the rows of a view. */
template <typename TFunction>
void
ForEachRow(const CudaImageView & view, unsigned char * dense, const TFunction & f)
{
  const size_t bytes = CudaComponentSize(view.ComponentType);
  const size_t row = view.Size[0] * view.NumberOfComponents * bytes;
  for (size_t t = 0; t < view.Size[3]; ++t)
  {
    for (size_t z = 0; z < view.Size[2]; ++z)
    {
      for (size_t y = 0; y < view.Size[1]; ++y, dense += row)
      {
        const size_t offset = y * view.Stride[1] + z * view.Stride[2] + t * view.Stride[3];
        f(static_cast<unsigned char *>(view.Data) + offset * bytes, dense, row);
      }
    }
  }
}
} // namespace
} // namespace itk::cuda::gaussian

namespace itk::CudaDetail
{
using namespace cuda::gaussian;

CudaGaussianSlabShape
CudaGetGaussianSlabShape(const CudaGaussianPlan & plan,
                         const CudaImageView &    inputShape,
                         const CudaImageView &    outputShape)
{
  CudaGaussianSlabShape shape;
  shape.Axis = GetSlabAxis(plan, inputShape);
  shape.NumberOfPlanes = inputShape.Size[shape.Axis];
  shape.ChunkLength = shape.Axis == 0 ? std::max<size_t>(1, shape.NumberOfPlanes) : CudaSlabChunkLength;
  shape.NumberOfChunks = cuda::DivideUp(shape.NumberOfPlanes, shape.ChunkLength);
  if (plan.Mask)
  {
    itkGenericExceptionMacro("A filter with a mask cannot run in slabs; Streaming must be Off");
  }
  for (const CudaGaussianLinePass & pass : plan.Passes)
  {
    if (!IsSlabPass(pass, shape) || shape.NumberOfChunks <= 1)
    {
      continue;
    }
    if (plan.Boundary.Mode != CudaFiltersEnums::BoundaryMode::Nearest || pass.Source != 0)
    {
      itkGenericExceptionMacro(<< "BoundaryMode is " << plan.Boundary.Mode
                               << "; in slabs it must be Nearest, or Streaming Off");
    }
    const LineChunks chunks =
      GetLineChunks(pass, plan.Boundary, shape.NumberOfPlanes, cuda::GetComputeType(inputShape, outputShape));
    shape.LookAhead = std::max(shape.LookAhead, chunks.LookAhead);
    shape.NeedsAllChunks = shape.NeedsAllChunks || chunks.LookAhead == 0;
  }
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
  return options.OnHost ? RunGaussianSlabsOnHost(plan, inputShape, outputShape, source, sink, options, progress)
                        : RunGaussianSlabsOnDevices(plan, { inputShape, outputShape, source, sink }, options, progress);
}

CudaSlabReport
CudaGaussianFilterSlabs(const CudaGaussianPlan &     plan,
                        const CudaImageView &        input,
                        const CudaImageView &        output,
                        const CudaSlabOptions &      options,
                        const CudaProgressFunction & progress)
{
  if (!options.OnHost)
  {
    return RunGaussianSlabsOnDevices(plan, { input, output, {}, {} }, options, progress);
  }
  const unsigned int axis = CudaGetGaussianSlabShape(plan, input, output).Axis;
  const auto         source = [&](size_t first, size_t planes, void * pixels) {
    ForEachRow(GetPlanes(input, axis, first, planes),
               static_cast<unsigned char *>(pixels),
               [](const unsigned char * from, unsigned char * to, size_t bytes) { std::memcpy(to, from, bytes); });
  };
  const auto sink = [&](size_t first, size_t planes, const void * pixels) {
    ForEachRow(GetPlanes(output, axis, first, planes),
               static_cast<unsigned char *>(const_cast<void *>(pixels)),
               [](unsigned char * to, const unsigned char * from, size_t bytes) { std::memcpy(to, from, bytes); });
  };
  return RunGaussianSlabsOnHost(plan, input, output, source, sink, options, progress);
}
} // end namespace itk::CudaDetail
