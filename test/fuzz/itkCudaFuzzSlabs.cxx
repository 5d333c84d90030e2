// SPDX-License-Identifier: Apache-2.0

// Plans and slabs: runs in slabs on the host, in one process or in several that exchange states as bytes, have the bits
// of a run over the whole; cuts cover what they must; parts fit into the memory that they may have.

#include "gaussian/slabs/Slabs.h"
#include "itkCudaDetailGaussianSlabs.h"
#include "itkCudaFuzzInput.h"
#include "itkMultiThreaderBase.h"
#include "runtime/run/Parts.h"

namespace itk::cuda::test
{
namespace
{
using namespace itk::CudaDetail;
using gaussian::SlabCut;
using gaussian::SlabGeometry;

/** Requires that the slabs cover the chunks from `begin` to `end` in order, at most `chunksPerSlab` at a time, and that
 * no result is computed before the slabs that it needs are there. */
void
CheckCut(const SlabGeometry & geometry,
         const SlabCut &      cut,
         size_t               begin,
         size_t               end,
         size_t               chunksPerSlab,
         bool                 isSweep)
{
  FuzzRequire(cut.Chunks.size() == cut.Slabs.size(), "slabs without chunks");
  size_t next = begin;
  size_t ahead = 0;
  for (size_t i = 0; i < cut.Slabs.size(); ++i)
  {
    const auto & chunks = cut.Chunks[i];
    const auto & slab = cut.Slabs[i];
    FuzzRequire(chunks.Begin == next && chunks.End > next && chunks.End - chunks.Begin <= chunksPerSlab,
                "a gap before slab " + std::to_string(i));
    next = chunks.End;
    FuzzRequire(slab.FirstPlane == chunks.Begin * geometry.Shape.ChunkLength &&
                  slab.NumberOfPlanes ==
                    std::min(chunks.End * geometry.Shape.ChunkLength, geometry.Shape.NumberOfPlanes) - slab.FirstPlane,
                "slab " + std::to_string(i) + " has other planes than its chunks");
    const bool hasResult = !isSweep && chunks.Begin >= geometry.FirstChunk && chunks.End <= geometry.EndChunk;
    const bool hasNone = isSweep || chunks.End <= geometry.FirstChunk || chunks.Begin >= geometry.EndChunk;
    FuzzRequire(slab.HasResult ? hasResult : hasNone, "slab " + std::to_string(i) + " has and has no result");
    if (slab.HasResult && !geometry.Shape.NeedsAllChunks)
    {
      const size_t needed = std::min(chunks.End + geometry.Shape.LookAhead, geometry.Shape.NumberOfChunks);
      size_t       last = i;
      while (last + 1 < cut.Chunks.size() && cut.Chunks[last].End < needed)
      {
        ++last;
      }
      FuzzRequire(slab.LastRequiredSlab == last, "slab " + std::to_string(i) + " waits for another slab");
      ahead = std::max(ahead, last - i);
    }
  }
  FuzzRequire(next == end, "the slabs end at chunk " + std::to_string(next) + " instead of " + std::to_string(end));
  FuzzRequire(cut.SlabsAhead >= ahead, "results wait for more slabs than the run keeps");
}

/** Cuts an image of any number of planes. */
void
FuzzCuts(FuzzInput & input)
{
  SlabGeometry geometry;
  geometry.Shape.ChunkLength = input.Flag() ? CudaSlabChunkLength : input.Integer(1, 300);
  geometry.Shape.NumberOfPlanes = input.Integer(1, 9000);
  const size_t chunks = (geometry.Shape.NumberOfPlanes + geometry.Shape.ChunkLength - 1) / geometry.Shape.ChunkLength;
  geometry.Shape.NumberOfChunks = chunks;
  geometry.Shape.LookAhead = static_cast<unsigned int>(input.Integer(1, 12));
  geometry.Shape.NeedsAllChunks = input.Flag();
  geometry.FirstChunk = input.Integer(0, chunks - 1);
  geometry.EndChunk = input.Integer(geometry.FirstChunk + 1, chunks);
  geometry.SweepsPart = input.Flag();
  const size_t chunksPerSlab = input.Integer(1, 40);
  CheckCut(geometry,
           CutToFilter(geometry, chunksPerSlab),
           geometry.GetLoadBegin(),
           geometry.GetLoadEnd(),
           chunksPerSlab,
           false);
  if (geometry.Shape.NeedsAllChunks)
  {
    CheckCut(geometry,
             CutToSweep(geometry, chunksPerSlab),
             geometry.SweepsPart ? geometry.FirstChunk : 0,
             geometry.SweepsPart ? geometry.EndChunk : chunks,
             chunksPerSlab,
             true);
  }
}

/** Cuts an output into parts for any memory: as few as possible, and none larger than the memory unless it is one unit.
 */
void
FuzzParts(FuzzInput & input)
{
  const size_t fixed = input.Integer(0, 5000);
  const size_t perPlane = input.Integer(1, 300);
  const auto   getBytes = [=](size_t planes) { return fixed + perPlane * planes; };
  size_t       done = 0;
  PartRun      run{ input.Integer(1, 2000), input.Integer(1, 200), getBytes, nullptr };
  const size_t bytes = input.Integer(0, 60000);
  const size_t planes = GetPlanesOfPart(run, bytes);
  FuzzRequire(planes > 0 && (planes % run.Unit == 0 || planes == run.Length), "parts that do not end at units");
  FuzzRequire(getBytes(planes) <= bytes || planes <= run.Unit, "a part of more bytes than are allowed");
  const auto getNumber = [&](size_t length) { return (run.Length + length - 1) / length; };
  for (size_t units = run.Unit; units < run.Length + run.Unit; units += run.Unit)
  {
    const size_t other = std::min(units, run.Length);
    FuzzRequire(getBytes(other) > bytes || getNumber(other) >= getNumber(planes), "more parts than necessary");
  }
  run.Run = [&](size_t first, size_t count, const CudaProgressFunction & progress) {
    FuzzRequire(first == done && count <= planes, "parts in another order");
    done += count;
    progress(1.0f);
  };
  float share = 0.0f;
  RunParts(run, planes, [&](float now) {
    FuzzRequire(now >= share && now <= 1.0f, "progress that goes back");
    share = now;
  });
  FuzzRequire(done == run.Length, "planes without a part");
}

CudaGaussianPlan
MakePlan(FuzzInput & input, unsigned int dimension)
{
  CudaGaussianParameters parameters;
  parameters.Boundary.Mode = static_cast<CudaFiltersEnums::BoundaryMode>(input.Choose({ 0, 0, 0, 1, 2, 3, 4 }));
  parameters.Boundary.Value = input.Scale(1.0, 100.0);
  // Other modes continue the image by planes as far as the window reaches, so that a large sigma takes long.
  const bool isNearest = parameters.Boundary.Mode == CudaFiltersEnums::BoundaryMode::Nearest;
  for (unsigned int d = 0; d < dimension; ++d)
  {
    parameters.Sigma.push_back(input.Scale(0.05, isNearest ? 60.0 : 3.0));
    parameters.Spacing.push_back(input.Flag() ? 1.0 : -input.Scale(0.8, 5.0));
  }
  if (input.Flag())
  {
    parameters.Sigma.assign(dimension, parameters.Sigma.front());
  }
  parameters.NormalizeAcrossScale = input.Flag();
  parameters.KeepInput = true;
  parameters.Approximation = static_cast<CudaFiltersEnums::Approximation>(input.Integer(0, 1));
  switch (input.Integer(0, 9))
  {
    case 0:
      return MakeGradientPlan(parameters);
    case 1:
      return MakeGradientMagnitudePlan(parameters);
    case 2:
      return MakeLaplacianPlan(parameters);
    case 3:
      return MakeHessianPlan(parameters);
    case 4: {
      const auto axis = static_cast<unsigned int>(input.Integer(0, dimension - 1));
      const auto kernel = MakeGaussianImpulseResponse(
        parameters.Approximation, static_cast<unsigned int>(input.Integer(0, 2)), parameters.Sigma[axis], 1.0, false);
      return MakeGaussianLinePlan(axis, kernel, parameters.Boundary);
    }
    default:
      return MakeSmoothingPlan(parameters);
  }
}

/** A plan, an image, and what a run over the whole gives. */
struct PlanCase
{
  PlanCase(FuzzInput & input, unsigned int dimension)
    : Plan(MakePlan(input, dimension))
    , Image{ DrawSize(input, dimension),
             input.Integer(1, 2),
             input.Choose({ CudaComponentType::Float, CudaComponentType::Short, CudaComponentType::Double }) }
    , Whole{ Image.View.Size,
             Image.View.NumberOfComponents * Plan.Results.size(),
             input.Choose({ CudaComponentType::Float, CudaComponentType::UChar, CudaComponentType::Double }) }
  {
    Image.Fill(input, input.Integer(0, 3) != 3);
    FuzzImage source(Image);
    CudaRunOnHost(Plan, source.View, Whole.View, MakeThreader(1), nullptr);
  }

  static FuzzImage::SizeType
  DrawSize(FuzzInput & input, unsigned int dimension)
  {
    FuzzImage::SizeType size{ { 1, 1, 1, 1 } };
    for (unsigned int d = 0; d + 1 < dimension; ++d)
    {
      size[d] = input.Integer(0, 3) == 3 ? input.Integer(1, 3) : 1;
    }
    // Images of more than one chunk are cut. All others take little time.
    size[dimension - 1] = input.Flag() ? input.Integer(CudaSlabChunkLength, 300) : input.Integer(1, 20);
    return size;
  }

  static MultiThreaderBase::Pointer
  MakeThreader(unsigned int threads)
  {
    const auto threader = MultiThreaderBase::New();
    threader->SetNumberOfWorkUnits(threads);
    return threader;
  }

  CudaGaussianPlan Plan;
  FuzzImage        Image;
  FuzzImage        Whole;
};

/** A source and a sink of planes for one run. */
class Planes
{
public:
  Planes(const PlanCase & plan, const CudaGaussianSlabShape & shape)
    : Output(plan.Whole.View.Size, plan.Whole.View.NumberOfComponents, plan.Whole.View.ComponentType)
    , m_Image(plan.Image)
    , m_BytesUp(m_Image.View.GetNumberOfBytes() / shape.NumberOfPlanes)
    , m_BytesDown(Output.View.GetNumberOfBytes() / shape.NumberOfPlanes)
    , m_NumberOfPlanes(shape.NumberOfPlanes)
  {}

  CudaSlabSource
  GetSource()
  {
    return [this](size_t first, size_t planes, void * pixels) {
      FuzzRequire(first + planes <= m_NumberOfPlanes, "planes beyond the image are asked for");
      std::memcpy(pixels, static_cast<unsigned char *>(m_Image.View.Data) + first * m_BytesUp, planes * m_BytesUp);
    };
  }

  CudaSlabSink
  GetSink()
  {
    return [this](size_t first, size_t planes, const void * pixels) {
      FuzzRequire(first == Next && first + planes <= m_NumberOfPlanes, "planes of the result are out of order");
      std::memcpy(static_cast<unsigned char *>(Output.View.Data) + first * m_BytesDown, pixels, planes * m_BytesDown);
      Next = first + planes;
    };
  }

  FuzzImage Output;
  size_t    Next{ 0 };

private:
  FuzzImage    m_Image;
  const size_t m_BytesUp, m_BytesDown, m_NumberOfPlanes;
};

void
FuzzRuns(FuzzInput & input)
{
  const unsigned int    dimension = input.Choose({ 1u, 1u, 2u, 2u, 2u, 3u, 4u });
  const PlanCase        test(input, dimension);
  CudaGaussianSlabShape shape;
  if (!FuzzAccepts([&] { shape = CudaGetGaussianSlabShape(test.Plan, test.Image.View, test.Whole.View); }))
  {
    const auto mode = test.Plan.Boundary.Mode;
    FuzzRequire(mode == CudaFiltersEnums::BoundaryMode::Wrap || mode == CudaFiltersEnums::BoundaryMode::Constant,
                "only Wrap, and values that pixels cannot have, cannot be cut");
    return;
  }
  const auto      threader = PlanCase::MakeThreader(static_cast<unsigned int>(input.Integer(1, 3)));
  CudaSlabOptions options;
  options.OnHost = true;
  options.ChunksPerSlab = input.Integer(0, 4);
  options.Threader = threader;
  options.DeviceMemoryLimit = input.Integer(0, 1000000);
  Planes whole(test, shape);
  CudaGaussianFilterSlabs(
    test.Plan, test.Image.View, test.Whole.View, whole.GetSource(), whole.GetSink(), options, nullptr);
  FuzzRequire(whole.Next == shape.NumberOfPlanes, "planes are missing");
  // In other modes the image is continued by planes, which rounds otherwise.
  const bool hasSameBits = shape.PaddingPlanes == 0;
  FuzzRequire(!hasSameBits || whole.Output == test.Whole, "slabs differ from the whole");

  // The parts of an image, each in a run of its own, that share states or not.
  const size_t seam = input.Integer(0, shape.NumberOfChunks) * shape.ChunkLength;
  if (seam > 0 && seam < shape.NumberOfPlanes)
  {
    options.States = input.Flag() ? CudaMakeSlabStates() : nullptr;
    Planes parts(test, shape);
    for (const size_t first : { size_t{ 0 }, seam })
    {
      options.FirstPlane = first;
      options.NumberOfPlanes = first == 0 ? seam : 0;
      CudaGaussianFilterSlabs(
        test.Plan, test.Image.View, test.Whole.View, parts.GetSource(), parts.GetSink(), options, nullptr);
    }
    FuzzRequire(parts.Output == whole.Output, "two parts differ from the whole");
  }

  // States as bytes, which may be of anything.
  if (shape.NeedsAllChunks && shape.PaddingPlanes == 0)
  {
    Planes states(test, shape);
    options.States = nullptr;
    options.FirstPlane = options.NumberOfPlanes = 0;
    auto ends =
      CudaGaussianSlabEndStates(test.Plan, test.Image.View, test.Whole.View, states.GetSource(), options, nullptr);
    const bool isDamaged = input.Flag();
    if (isDamaged)
    {
      const size_t place = input.Integer(0, ends.size() - 1);
      input.Flag() ? ends.resize(place) : static_cast<void>(ends[place] ^= input.Integer(1, 255));
    }
    const bool isAccepted = FuzzAccepts([&] {
      const auto starts =
        CudaGaussianSlabStartStates(test.Plan, test.Image.View, test.Whole.View, { ends }, { 0 }, options);
      options.States = CudaReadSlabStates(starts.at(0));
      CudaGaussianFilterSlabs(
        test.Plan, test.Image.View, test.Whole.View, states.GetSource(), states.GetSink(), options, nullptr);
    });
    FuzzRequire(isDamaged || (isAccepted && states.Output == whole.Output), "states as bytes give another result");
  }
}
} // namespace

void
FuzzSlabs(FuzzInput & input)
{
  switch (input.Integer(0, 3))
  {
    case 0:
      return FuzzCuts(input);
    case 1:
      return FuzzParts(input);
    default:
      return FuzzRuns(input);
  }
}
} // namespace itk::cuda::test
