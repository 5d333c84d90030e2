// SPDX-License-Identifier: Apache-2.0

// Benchmarks convolution and the partitioned filter on device-resident images, as described in resident_benchmark.h.
// `copies` is the time divided by the time to copy one image.

#include "gaussian/fir/FirDevice.h"
#include "young_van_vliet/Passes.h"
#include "itkGaussianOperator.h"
#include "resident_benchmark.h"

#include <utility>

namespace
{
using namespace benchmark_filters;

CudaGaussianFirPass
MakeFirPass(unsigned int axis, double sigma)
{
  GaussianOperator<double, 1> kernel;
  kernel.SetVariance(sigma * sigma);
  kernel.SetMaximumError(1e-4);
  kernel.SetMaximumKernelWidth(1000);
  kernel.CreateDirectional();
  CudaGaussianFirPass pass;
  pass.Axis = axis;
  pass.Weights.assign(kernel.Begin(), kernel.End());
  return pass;
}

using RunFunction =
  std::function<void(const DeviceView &, const DeviceView &, const cuda::Workspace &, const StreamLease &)>;

/** Times one filtering. `run` gets the images, a workspace and the stream, and runs one pass along each axis, back and
 * forth between the images. */
void
Measure(benchmark::State & state, const DeviceView::SizeType & size, size_t workspaceBytes, const RunFunction & run)
{
  const DeviceGuard guard(Device);
  StreamLease       stream(Device);
  Timer             timer;
  const ImageSets   images(size, 2, stream);
  const double      copy = images.GetCopyTime(timer, stream);

  const cuda::DeviceBuffer memory(workspaceBytes, stream);
  const cuda::Workspace    workspace(memory.GetPointer(), memory.GetSize());
  for (auto _ : state)
  {
    const double all =
      timer.GetMedian(stream, [&](int i) { run(images.GetViews(i)[0], images.GetViews(i)[1], workspace, stream); });
    state.SetIterationTime(all);
    state.counters["copies"] = all / copy;
  }
}

/** Arguments: side; sigma in hundredths of a pixel. */
void
BM_Discrete(benchmark::State & state, unsigned int dimension)
{
  if (IsDeviceMissing(state, Device))
  {
    return;
  }
  const auto                       side = static_cast<size_t>(state.range(0));
  std::vector<CudaGaussianFirPass> passes;
  for (unsigned int axis = dimension; axis-- > 0;)
  {
    passes.push_back(MakeFirPass(axis, 0.01 * static_cast<double>(state.range(1))));
  }
  size_t bytes = 0;
  for (const CudaGaussianFirPass & pass : passes)
  {
    bytes = std::max(bytes, gaussian::GetFirWorkspace(pass, CudaComponentType::Float));
  }
  Measure(state,
          { { side, side, dimension == 3 ? side : 1, 1, 1 } },
          bytes,
          [&](const auto & first, const auto & second, const auto & workspace, const auto & stream) {
            const DeviceView * from = &first;
            const DeviceView * to = &second;
            for (const CudaGaussianFirPass & pass : passes)
            {
              gaussian::RunFirPass(pass, false, *from, *to, workspace, stream);
              std::swap(from, to);
            }
          });
  state.counters["radius"] = static_cast<double>(passes.front().GetRadius());
}

/** Arguments: side; sigma in hundredths of a pixel. Blocks are chosen automatically. */
void
BM_Partitioned(benchmark::State & state, unsigned int dimension, CudaFiltersEnums::Partition partition)
{
  if (IsDeviceMissing(state, Device))
  {
    return;
  }
  const auto                  side = static_cast<size_t>(state.range(0));
  const double                sigma = 0.01 * static_cast<double>(state.range(1));
  CudaPartitionedGaussianPlan plan;
  plan.LinePartition = partition;
  for (unsigned int axis = 0; axis < dimension; ++axis)
  {
    plan.Passes.push_back({ axis, sigma, CudaCentralPixelRadius(2.0 * sigma), CudaAutomaticNumberOfSections(side) });
  }
  const DeviceView::SizeType size{ { side, side, dimension == 3 ? side : 1, 1, 1 } };
  size_t                     bytes = 0;
  for (const CudaPartitionedGaussianPass & pass : plan.Passes)
  {
    bytes = std::max(bytes, young_van_vliet::GetPassWorkspace(plan, pass, size, CudaComponentType::Float));
  }
  Measure(
    state, size, bytes, [&](const auto & first, const auto & second, const auto & workspace, const auto & stream) {
      const DeviceView * from = &first;
      const DeviceView * to = &second;
      for (const auto & pass : plan.Passes)
      {
        young_van_vliet::RunPass(plan, pass, *from, *to, workspace, stream);
        std::swap(from, to);
      }
    });
}

void
DefineRows(benchmark::internal::Benchmark * rows)
{
  rows->ArgNames({ "side", "sigma_percent" })->UseManualTime()->Iterations(1)->Unit(benchmark::kMillisecond);
}

void
DefineDiscrete2D(benchmark::internal::Benchmark * rows)
{
  DefineRows(rows);
  rows->ArgsProduct({ Sides2D, { 50, 100, 400 } });
}

void
DefineDiscrete3D(benchmark::internal::Benchmark * rows)
{
  DefineRows(rows);
  rows->ArgsProduct({ Sides3D, { 50, 100, 400 } });
}

void
DefinePartitioned2D(benchmark::internal::Benchmark * rows)
{
  DefineRows(rows);
  rows->ArgsProduct({ { 128, 512, 2048, 8192 }, { 400, 1500, 6400 } });
}

void
DefinePartitioned3D(benchmark::internal::Benchmark * rows)
{
  DefineRows(rows);
  rows->ArgsProduct({ { 32, 128, 512 }, { 1500 } });
}

BENCHMARK_CAPTURE(BM_Discrete, two, 2)->Name("resident/discrete/2d")->Apply(DefineDiscrete2D);
BENCHMARK_CAPTURE(BM_Discrete, three, 3)->Name("resident/discrete/3d")->Apply(DefineDiscrete3D);

[[maybe_unused]] const bool Registered = [] {
  using Partition = CudaFiltersEnums::Partition;
  const auto add = [](const std::string & name, Partition partition) {
    const std::string prefix = "resident/partitioned/" + name;
    benchmark::RegisterBenchmark((prefix + "/2d").c_str(), BM_Partitioned, 2, partition)->Apply(DefinePartitioned2D);
    benchmark::RegisterBenchmark((prefix + "/3d").c_str(), BM_Partitioned, 3, partition)->Apply(DefinePartitioned3D);
  };
  add("OneWay", Partition::OneWay);
  add("TwoWay", Partition::TwoWay);
  add("Exact", Partition::Exact);
  return true;
}();
} // namespace
