// SPDX-License-Identifier: Apache-2.0
#include "gaussian/host/HostPlan.h"

#include "runtime/image/Components.h"
#include "itkCudaDetailGaussianEngine.h"
#include "runtime/DetailNames.h"
#include "gaussian/masked/Masked.h"
#include "gaussian/plan/Schedule.h"
#include "runtime/run/Operation.h"
#include "itkMultiThreaderBase.h"

#include <algorithm>
#include <vector>

// Runs plans on the host. ITK's threads filter bundles of lines.

namespace itk::cuda::gaussian
{
void
ParallelForBundles(size_t                                      count,
                   size_t                                      pixels,
                   MultiThreaderBase *                         threader,
                   const CudaProgressFunction &                report,
                   const std::function<void(size_t, size_t)> & run)
{
  constexpr size_t pixelsOfPiece = 1 << 16; // so that the 10 us that a piece costs to start do not matter
  const size_t     pieces = std::clamp<size_t>(pixels / pixelsOfPiece, 2, 10);
  // Each thread gets several parts, so that no thread waits long for the last one.
  const size_t parts = std::min<size_t>(count, pieces * 4 * threader->GetNumberOfWorkUnits());
  const auto   runPart = [&](SizeValueType part) { run(part * count / parts, (part + 1) * count / parts); };
  ForEachInPieces(threader, parts, pieces, runPart, report);
}

LineChunks
GetLineChunks(const CudaGaussianLinePass & pass,
              const CudaGaussianBoundary & boundary,
              size_t                       length,
              CudaComponentType            type)
{
  if (pass.Axis == 0 || boundary.Mode != CudaFiltersEnums::BoundaryMode::Nearest)
  {
    return {};
  }
  const CudaGaussianImpulseResponse & kernel = pass.Results.front().Kernel;
  LineProblem                         problem;
  problem.Kind = AxisKind::Strided;
  problem.Length = length;
  problem.SigmaInPixels = kernel.SigmaInPixels;
  problem.BytesPerComponent = static_cast<unsigned int>(CudaComponentSize(type));
  problem.NumberOfPolePairs = kernel.NumberOfPolePairs;
  return { ChunkLength, GetLookAhead(problem) };
}

namespace
{
template <unsigned int VPairs>
void
RunPass(const CudaGaussianLinePass &    pass,
        const CudaGaussianBoundary &    boundary,
        CudaComponentType               computeType,
        const CudaImageView &           source,
        const std::vector<PassTarget> & targets,
        MultiThreaderBase *             threader,
        const CudaProgressFunction &    report)
{
  const size_t                     length = source.Size[pass.Axis];
  const LineFilter<double, VPairs> filter(
    pass.Results, boundary, length, GetLineChunks(pass, boundary, length, computeType));
  const LineBundles bundles(source, pass.Axis, LinePack::Count);
  ParallelForBundles(bundles.GetCount(), source.GetNumberOfPixels(), threader, report, [&](size_t begin, size_t end) {
    LinePackBuffer buffer(length, targets.size());
    for (size_t i = begin; i < end; ++i)
    {
      buffer.Load(source, bundles.Get(source, i));
      filter(buffer.GetInput(), buffer.GetOutput(), length, length);
      for (size_t r = 0; r < targets.size(); ++r)
      {
        buffer.Store(r, targets[r], bundles.Get(targets[r].Old, i), bundles.Get(targets[r].New, i));
      }
    }
  });
}
} // namespace

void
RunHostPass(const CudaGaussianPlan &     plan,
            size_t                       index,
            HostImages &                 images,
            MultiThreaderBase *          threader,
            const CudaProgressFunction & report)
{
  const CudaGaussianLinePass & pass = plan.Passes[index];
  std::vector<PassTarget>      targets;
  for (const CudaGaussianPassResult & result : pass.Results)
  {
    targets.push_back(
      { images.Get(result.Destination), images.GetDestination(result.Destination, index), result.Combine });
  }
  VisitNumberOfPolePairs(pass.Results.front().Kernel, [&](auto pairs) {
    RunPass<decltype(pairs)::value>(
      pass, plan.Boundary, images.GetComputeType(), images.Get(pass.Source), targets, threader, report);
  });
  for (size_t r = 0; r < targets.size(); ++r)
  {
    images.Set(pass.Results[r].Destination, targets[r].New);
  }
}

void
RotateResults(const CudaGaussianPlan &     plan,
              const HostImages &           images,
              MultiThreaderBase *          threader,
              const CudaProgressFunction & report)
{
  const std::vector<CudaImageView> & outputs = images.GetOutputs();
  const size_t                       dimension = outputs.size();
  const auto                         rotateRow = [&](size_t row) {
    std::vector<PixelRow> from, to;
    for (size_t k = 0; k < dimension; ++k)
    {
      from.push_back(GetRow(images.Get(plan.Results[k]), row));
      to.push_back(GetRow(outputs[k], row));
    }
    double vector[CudaImageView::MaximumDimension] = {};
    for (size_t x = 0; x < outputs.front().Size[0]; ++x)
    {
      for (size_t k = 0; k < dimension; ++k)
      {
        vector[k] = ReadReal(images.Get(plan.Results[k]), from[k][x]);
      }
      for (size_t i = 0; i < dimension; ++i)
      {
        const double value = MultiplyRow(&plan.Rotation[i * dimension], static_cast<unsigned int>(dimension), vector);
        StoreComponent(outputs[i], to[i][x], value);
      }
    }
  };
  ParallelForBundles(GetNumberOfRows(outputs.front()),
                     outputs.front().GetNumberOfPixels(),
                     threader,
                     report,
                     [&](size_t begin, size_t end) {
                       for (size_t row = begin; row < end; ++row)
                       {
                         rotateRow(row);
                       }
                     });
}

namespace
{
/** Runs all passes over one component of the input. `report` receives the completed fraction of a step. */
void
RunPlan(const CudaGaussianPlan &                             plan,
        HostImages &                                         images,
        MultiThreaderBase *                                  threader,
        const std::function<void(size_t step, float done)> & report)
{
  for (size_t i = 0; i < plan.Passes.size(); ++i)
  {
    RunHostPass(plan, i, images, threader, [&](float done) { report(i, done); });
  }
  if (!plan.Rotation.empty())
  {
    RotateResults(plan, images, threader, [&](float done) { report(plan.Passes.size(), done); });
  }
}

void
RunOnHost(const CudaGaussianPlan &     plan,
          const CudaImageView &        input,
          const CudaImageView &        output,
          MultiThreaderBase *          threader,
          const CudaProgressFunction & progress)
{
  if (plan.Mask)
  {
    RunMaskedOnHost(plan, input, output, threader, progress);
    return;
  }
  const size_t results = plan.Results.size();
  CudaVerifyComponents(input.NumberOfComponents, results, output.NumberOfComponents);
  const size_t steps = plan.Passes.size() + (plan.Rotation.empty() ? 0 : 1);
  HostImages   images(plan, GetComputeType(input, output));
  for (size_t component = 0; component < input.NumberOfComponents; ++component)
  {
    std::vector<CudaImageView> outputs;
    for (size_t r = 0; r < results; ++r)
    {
      outputs.push_back(GetComponent(output, component * results + r));
    }
    images.Begin(GetComponent(input, component), outputs);
    RunPlan(plan, images, threader, [&](size_t step, float done) {
      if (progress)
      {
        progress((static_cast<float>(component * steps + step) + done) /
                 static_cast<float>(input.NumberOfComponents * steps));
      }
    });
  }
}
} // namespace

template <typename T>
void
FilterLine(const CudaGaussianImpulseResponse & kernel,
           const T *                           input,
           T *                                 output,
           size_t                              length,
           const CudaGaussianBoundary &        boundary)
{
  if (length == 0)
  {
    return;
  }
  std::vector<T> line(input, input + length);
  VisitNumberOfPolePairs(kernel, [&](auto pairs) {
    const LineFilter<T, decltype(pairs)::value> filter({ { kernel, 1, CudaGaussianCombine::Store } }, boundary, length);
    filter(line.data(), output, length, length);
  });
}

template CudaFilters_EXPORT void
FilterLine(const CudaGaussianImpulseResponse &, const float *, float *, size_t, const CudaGaussianBoundary &);
template CudaFilters_EXPORT void
FilterLine(const CudaGaussianImpulseResponse &, const double *, double *, size_t, const CudaGaussianBoundary &);
} // namespace itk::cuda::gaussian

namespace itk::CudaDetail
{
CudaOperation::CudaOperation(const CudaGaussianPlan & plan)
  : m_HostRun(cuda::BindHostRun(cuda::gaussian::RunOnHost, plan))
  , m_Algorithm(cuda::MakeAlgorithm(plan))
{}
} // end namespace itk::CudaDetail
