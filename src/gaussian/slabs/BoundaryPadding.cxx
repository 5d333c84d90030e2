// SPDX-License-Identifier: Apache-2.0
#include "gaussian/slabs/BoundaryPadding.h"

#include "runtime/image/Components.h"
#include "gaussian/device/Edges.h"
#include "itkMacro.h"

#include <algorithm>
#include <cstring>

// Implements the padding of an image for runs in slabs (gaussian/slabs/BoundaryPadding.h). The results of padding
// planes do not reach the sink.

namespace itk::cuda::gaussian
{
namespace
{
using ModeEnum = CudaFiltersEnums::BoundaryMode;

/** Makes a plane that is filled with the boundary value.
 * \exception ExceptionObject if the image's type cannot represent the value */
std::vector<unsigned char>
MakeConstantPlane(double value, const CudaImageView & shape, size_t bytes)
{
  std::vector<unsigned char> plane(bytes);
  VisitComponentType(shape.ComponentType, [&](auto zero) {
    using ComponentType = decltype(zero);
    const auto converted = ConvertComponent<ComponentType>(value);
    if (std::is_integral_v<ComponentType> && static_cast<double>(converted) != value)
    {
      itkGenericExceptionMacro("BoundaryValue is " << value
                                                   << "; in slabs it must be a value that the input's pixels can have");
    }
    for (size_t i = 0; i < bytes / sizeof(ComponentType); ++i)
    {
      std::memcpy(&plane[i * sizeof(ComponentType)], &converted, sizeof(ComponentType));
    }
  });
  return plane;
}
} // namespace

size_t
GetPaddingPlanes(const CudaGaussianPlan & plan, const CudaImageView & inputShape, const CudaImageView & outputShape)
{
  const CudaGaussianSlabShape shape = GetSlabShape(plan, inputShape, outputShape);
  size_t                      chunks = 0;
  for (const CudaGaussianLinePass & pass : plan.Passes)
  {
    if (plan.Boundary.Mode != ModeEnum::Nearest && IsSlabPass(pass, shape))
    {
      const CudaGaussianImpulseResponse & kernel = pass.Results.front().Kernel;
      LineProblem                         problem;
      problem.SigmaInPixels = kernel.SigmaInPixels;
      problem.NumberOfPolePairs = kernel.NumberOfPolePairs;
      problem.BytesPerComponent =
        static_cast<unsigned int>(CudaComponentSize(cuda::GetComputeType(inputShape, outputShape)));
      chunks = std::max(chunks, DivideUp(GetWindow(problem), ChunkLength));
    }
  }
  return chunks * ChunkLength;
}

PaddedSource::PaddedSource(const CudaSlabSource &       source,
                           const CudaGaussianBoundary & boundary,
                           const CudaImageView &        shape,
                           unsigned int                 axis,
                           size_t                       padding)
  : m_Source(source)
  , m_Boundary(boundary)
  , m_NumberOfPlanes(shape.Size[axis])
  , m_BytesOfPlane(GetBytesOfPlane(shape, axis))
  , m_PaddingPlanes(padding)
{
  if (boundary.Mode == ModeEnum::Constant)
  {
    m_Constant = MakeConstantPlane(boundary.Value, shape, m_BytesOfPlane);
  }
}

void
PaddedSource::Read(size_t firstPlane, size_t planes, void * pixels)
{
  auto * to = static_cast<unsigned char *>(pixels);
  for (size_t i = 0; i < planes;)
  {
    const auto   n = static_cast<std::ptrdiff_t>(firstPlane + i) - static_cast<std::ptrdiff_t>(m_PaddingPlanes);
    const bool   isInside = n >= 0 && n < static_cast<std::ptrdiff_t>(m_NumberOfPlanes);
    const size_t run = isInside ? std::min(planes - i, m_NumberOfPlanes - static_cast<size_t>(n)) : 1;
    if (isInside)
    {
      this->ReadPlanes(static_cast<size_t>(n), run, to);
    }
    else
    {
      const Plane & plane = m_Boundary.Mode == ModeEnum::Constant
                              ? m_Constant
                              : this->GetKept(static_cast<size_t>(GetPaddedPosition(
                                  m_Boundary.Mode, n, static_cast<std::ptrdiff_t>(m_NumberOfPlanes))));
      std::copy(plane.begin(), plane.end(), to);
    }
    to += run * m_BytesOfPlane;
    i += run;
  }
}

void
PaddedSource::KeepEnd()
{
  const size_t planes = m_Boundary.Mode == ModeEnum::Constant ? 0 : std::min(m_NumberOfPlanes, m_PaddingPlanes + 1);
  for (size_t plane = m_NumberOfPlanes - planes; plane < m_NumberOfPlanes; ++plane)
  {
    Plane pixels(m_BytesOfPlane);
    this->ReadPlanes(plane, 1, pixels.data());
  }
}

/** Returns whether a plane may be needed again, to continue the image. */
bool
PaddedSource::IsKept(size_t plane) const
{
  return m_Boundary.Mode != ModeEnum::Constant &&
         (plane <= m_PaddingPlanes || plane + m_PaddingPlanes + 1 >= m_NumberOfPlanes);
}

/** Reads planes of the image. Planes that are kept are copied; each run of other planes is read from the source in one
 * call. */
void
PaddedSource::ReadPlanes(size_t firstPlane, size_t planes, unsigned char * pixels)
{
  for (size_t i = 0; i < planes;)
  {
    const auto kept = m_Kept.find(firstPlane + i);
    if (kept != m_Kept.end())
    {
      std::copy(kept->second.begin(), kept->second.end(), pixels + i * m_BytesOfPlane);
      ++i;
      continue;
    }
    const auto   next = m_Kept.lower_bound(firstPlane + i);
    const size_t run = std::min(planes - i, next == m_Kept.end() ? planes : next->first - firstPlane - i);
    m_Source(firstPlane + i, run, pixels + i * m_BytesOfPlane);
    for (size_t k = i; k < i + run; ++k)
    {
      if (this->IsKept(firstPlane + k))
      {
        m_Kept[firstPlane + k].assign(pixels + k * m_BytesOfPlane, pixels + (k + 1) * m_BytesOfPlane);
      }
    }
    i += run;
  }
}

/** Returns a plane near an end of the image. If it is not kept yet, the function reads it together with the planes
 * between it and the end, or between it and the last plane that was read, so that the source is read in order. */
const PaddedSource::Plane &
PaddedSource::GetKept(size_t plane)
{
  const auto kept = m_Kept.find(plane);
  if (kept != m_Kept.end())
  {
    return kept->second;
  }
  const auto   next = m_Kept.lower_bound(plane);
  const size_t begin = next == m_Kept.begin() ? (plane <= m_PaddingPlanes ? 0 : plane) : std::prev(next)->first + 1;
  const size_t first = plane - begin <= m_PaddingPlanes ? begin : plane;
  Plane        pixels((plane + 1 - first) * m_BytesOfPlane);
  this->ReadPlanes(first, plane + 1 - first, pixels.data());
  return m_Kept.at(plane);
}

CudaSlabReport
RunPaddedSlabs(const CudaGaussianPlan &     plan,
               const SlabEndpoints &        endpoints,
               bool                         isInPlace,
               const CudaSlabOptions &      options,
               const CudaProgressFunction & progress)
{
  const unsigned int axis = GetSlabShape(plan, endpoints.Input, endpoints.Output).Axis;
  const size_t       planes = endpoints.Input.Size[axis];
  const size_t       padding = GetPaddingPlanes(plan, endpoints.Input, endpoints.Output);
  PaddedSource       source(endpoints.Source, plan.Boundary, endpoints.Input, axis, padding);
  if (isInPlace)
  {
    source.KeepEnd();
  }
  SlabEndpoints continued = endpoints;
  continued.Input.Size[axis] = continued.Output.Size[axis] = planes + 2 * padding;
  continued.Source = [&](size_t first, size_t count, void * pixels) { source.Read(first, count, pixels); };
  const size_t bytes = GetBytesOfPlane(endpoints.Output, axis);
  const size_t begin = options.FirstPlane;
  const size_t end = options.NumberOfPlanes == 0 ? planes : begin + options.NumberOfPlanes;
  continued.Sink = [&](size_t first, size_t count, const void * pixels) {
    // The last chunk may extend beyond the image.
    const size_t from = std::max(first, begin + padding);
    const size_t to = std::min(first + count, end + padding);
    if (from < to)
    {
      endpoints.Sink(from - padding, to - from, static_cast<const unsigned char *>(pixels) + (from - first) * bytes);
    }
  };
  CudaSlabOptions ofPadded = options;
  ofPadded.FirstPlane = begin + padding;
  ofPadded.NumberOfPlanes = RoundUp(end, ChunkLength) - begin;
  return RunUnpaddedSlabs(plan, continued, ofPadded, progress);
}
} // namespace itk::cuda::gaussian
