// SPDX-License-Identifier: Apache-2.0
#include "gaussian/slabs/Slabs.h"

#include "runtime/image/Components.h"
#include "gaussian/device/Edges.h"
#include "itkMacro.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <memory>
#include <vector>

// Runs in slabs for boundary modes other than Nearest: the image is padded with planes that continue it, as far as the
// window reaches. The lines of the padded image continue with their edge values, which are too far away to matter. The
// passes within planes continue their lines by the boundary mode, as usual. The results of padding planes do not reach
// the sink.

namespace itk::cuda::gaussian
{
namespace
{
using ModeEnum = CudaFiltersEnums::BoundaryMode;

/** The number of planes on either side above which an image is not continued: they would take more time and memory than
 * any image in slabs. */
constexpr size_t MaximumPaddingPlanes = size_t{ 1 } << 17;

/** Makes a plane that is filled with the boundary value. */
std::vector<unsigned char>
MakeConstantPlane(double value, const CudaImageView & shape, size_t bytes)
{
  std::vector<unsigned char> plane(bytes);
  VisitComponentType(shape.ComponentType, [&](auto zero) {
    using ComponentType = decltype(zero);
    const auto converted = ConvertComponent<ComponentType>(value);
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

void
VerifyPadding(const CudaGaussianPlan & plan, const CudaImageView & inputShape, const CudaImageView & outputShape)
{
  const size_t planes = GetPaddingPlanes(plan, inputShape, outputShape);
  if (planes > MaximumPaddingPlanes)
  {
    itkGenericExceptionMacro(<< "Sigma is so large that slabs would continue the image by " << planes
                             << " planes on either side in BoundaryMode " << plan.Boundary.Mode << "; at most "
                             << MaximumPaddingPlanes << " are possible, or Streaming Off");
  }
  if (planes > 0 && plan.Boundary.Mode == ModeEnum::Constant)
  {
    VisitComponentType(inputShape.ComponentType, [&](auto zero) {
      using ComponentType = decltype(zero);
      const double value = plan.Boundary.Value;
      if (std::is_integral_v<ComponentType> && static_cast<double>(ConvertComponent<ComponentType>(value)) != value)
      {
        itkGenericExceptionMacro("BoundaryValue is "
                                 << value << "; in slabs it must be a value that the input's pixels can have");
      }
    });
  }
}

namespace
{
/** A source padded by the boundary mode. It keeps copies of the planes near the ends of the image, so that it reads the
 * planes of the wrapped source in order and no plane twice in a sweep. */
class PaddedSource
{
public:
  PaddedSource(const CudaSlabSource &       source,
               const CudaGaussianBoundary & boundary,
               const CudaImageView &        shape,
               unsigned int                 axis,
               size_t                       padding,
               bool                         readsFromFront)
    : m_Source(source)
    , m_Boundary(boundary)
    , m_NumberOfPlanes(shape.Size[axis])
    , m_BytesOfPlane(GetBytesOfPlane(shape, axis))
    , m_PaddingPlanes(padding)
    , m_ReadsFromFront(readsFromFront)
  {
    if (boundary.Mode == ModeEnum::Constant)
    {
      m_Constant = MakeConstantPlane(boundary.Value, shape, m_BytesOfPlane);
    }
  }

  /** Reads planes of the padded image. */
  void
  Read(size_t firstPlane, size_t planes, void * pixels)
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

  /** Reads and keeps the planes at the image's end that may be needed again. */
  void
  KeepEnd()
  {
    const size_t planes = m_Boundary.Mode == ModeEnum::Constant ? 0 : std::min(m_NumberOfPlanes, m_PaddingPlanes + 1);
    for (size_t plane = m_NumberOfPlanes - planes; plane < m_NumberOfPlanes; ++plane)
    {
      Plane pixels(m_BytesOfPlane);
      this->ReadPlanes(plane, 1, pixels.data());
    }
  }

private:
  using Plane = std::vector<unsigned char>;

  /** Reads planes of the image. Planes that are kept are copied; each run of other planes is read from the source in
   * one call. */
  void
  ReadPlanes(size_t firstPlane, size_t planes, unsigned char * pixels)
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
   * between it and the end, or between it and the last plane that was read, so that the source is read in order. A run
   * that does not read the front of the image reads only this plane there. */
  const Plane &
  GetKept(size_t plane)
  {
    const auto kept = m_Kept.find(plane);
    if (kept != m_Kept.end())
    {
      return kept->second;
    }
    const auto   next = m_Kept.lower_bound(plane);
    const bool   isFront = m_ReadsFromFront && plane <= m_PaddingPlanes;
    const size_t begin = next == m_Kept.begin() ? (isFront ? 0 : plane) : std::prev(next)->first + 1;
    const size_t first = plane - begin <= m_PaddingPlanes ? begin : plane;
    Plane        pixels((plane + 1 - first) * m_BytesOfPlane);
    this->ReadPlanes(first, plane + 1 - first, pixels.data());
    return m_Kept.at(plane);
  }

  /** Returns whether a plane may be needed again, to continue the image. */
  bool
  IsKept(size_t plane) const
  {
    return m_Boundary.Mode != ModeEnum::Constant &&
           (plane <= m_PaddingPlanes || plane + m_PaddingPlanes + 1 >= m_NumberOfPlanes);
  }

  const CudaSlabSource       m_Source;
  const CudaGaussianBoundary m_Boundary;
  const size_t               m_NumberOfPlanes;
  const size_t               m_BytesOfPlane;
  const size_t               m_PaddingPlanes;
  const bool                 m_ReadsFromFront;
  Plane                      m_Constant; // pads the image in the mode Constant
  std::map<size_t, Plane>    m_Kept;
};

/** Returns whether a run whose results begin with this plane reads the image from its first plane on. */
bool
ReadsFromFront(const SlabRunArguments & arguments, size_t begin)
{
  const CudaGaussianSlabShape shape =
    CudaDetail::CudaGetGaussianSlabShape(arguments.Plan, arguments.Endpoints.Input, arguments.Endpoints.Output);
  const auto & states = arguments.Options.States;
  return (shape.NeedsAllChunks && !(states && states->AreOfPart())) || begin <= shape.LookAhead * ChunkLength;
}

class PaddedSlabRun : public SlabRun
{
public:
  explicit PaddedSlabRun(const SlabRunArguments & arguments)
    : m_Endpoints(arguments.Endpoints)
    , m_Axis(GetSlabShape(arguments.Plan, m_Endpoints.Input, m_Endpoints.Output).Axis)
    , m_Padding(GetPaddingPlanes(arguments.Plan, m_Endpoints.Input, m_Endpoints.Output))
    , m_Begin(arguments.Options.FirstPlane)
    , m_End(arguments.Options.NumberOfPlanes == 0 ? m_Endpoints.Input.Size[m_Axis]
                                                  : m_Begin + arguments.Options.NumberOfPlanes)
    , m_KeepsEndFirst(m_Endpoints.Input.Data && m_Endpoints.Input.Data == m_Endpoints.Output.Data)
    , m_Source(m_Endpoints.Source,
               arguments.Plan.Boundary,
               m_Endpoints.Input,
               m_Axis,
               m_Padding,
               ReadsFromFront(arguments, m_Begin))
  {
    SlabRunArguments padded = arguments;
    padded.Endpoints.Input.Size[m_Axis] += 2 * m_Padding;
    padded.Endpoints.Output.Size[m_Axis] = padded.Endpoints.Input.Size[m_Axis];
    padded.Endpoints.Source = [this](size_t first, size_t count, void * to) { m_Source.Read(first, count, to); };
    padded.Options.FirstPlane = m_Begin + m_Padding;
    padded.Options.NumberOfPlanes = RoundUp(m_End, ChunkLength) - m_Begin; // the last chunk may exceed the image
    if (padded.Options.States && padded.Options.States->Task == CudaSlabStates::Sweep)
    {
      // The padding belongs to the first and to the last part.
      const size_t begin = m_Begin == 0 ? 0 : padded.Options.FirstPlane;
      const size_t end = m_End == m_Endpoints.Input.Size[m_Axis]
                           ? padded.Endpoints.Input.Size[m_Axis]
                           : padded.Options.FirstPlane + padded.Options.NumberOfPlanes;
      padded.Options.FirstPlane = begin;
      padded.Options.NumberOfPlanes = end - begin;
    }
    m_Run = MakeUnpaddedSlabRun(std::move(padded));
  }

  SlabPlanes
  Next() override
  {
    if (m_KeepsEndFirst)
    {
      m_Source.KeepEnd();
      m_KeepsEndFirst = false;
    }
    for (;;)
    {
      const SlabPlanes planes = m_Run->Next();
      const size_t     begin = std::max(planes.First, m_Begin + m_Padding);
      const size_t     end = std::min(planes.First + planes.Number, m_End + m_Padding);
      if (planes.Number == 0)
      {
        return planes;
      }
      if (begin < end)
      {
        const auto * const pixels = static_cast<const unsigned char *>(planes.Pixels);
        return { begin - m_Padding,
                 end - begin,
                 pixels + (begin - planes.First) * GetBytesOfPlane(m_Endpoints.Output, m_Axis) };
      }
    }
  }

  CudaSlabReport
  GetReport() const override
  {
    return m_Run->GetReport();
  }

private:
  const SlabEndpoints      m_Endpoints;
  const unsigned int       m_Axis;
  const size_t             m_Padding, m_Begin, m_End;
  bool                     m_KeepsEndFirst;
  PaddedSource             m_Source;
  std::unique_ptr<SlabRun> m_Run;
};
} // namespace

std::unique_ptr<SlabRun>
MakePaddedSlabRun(const SlabRunArguments & arguments)
{
  return std::make_unique<PaddedSlabRun>(arguments);
}
} // namespace itk::cuda::gaussian
