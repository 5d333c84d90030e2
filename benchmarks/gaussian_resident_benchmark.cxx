// SPDX-License-Identifier: Apache-2.0

// Benchmarks recursive Gaussian filters on device-resident images. copy_fraction is the time of d device-to-device
// copies of one d-dimensional image, divided by the time of all launches of one filtering. Both are measured as
// described in resident_benchmark.h.

#include "itkCudaDetailDeviceRun.h"
#include "gaussian/device/LinePasses.h"
#include "gaussian/Engine.h"
#include "gaussian/masked/MaskedDevice.h"
#include "resident_benchmark.h"

#include <cmath>
#include <string>
#include <utility>

namespace
{
using namespace benchmark_filters;

CudaGaussianParameters
MakeParameters(unsigned int dimension, double sigma)
{
  CudaGaussianParameters parameters;
  parameters.Sigma.assign(dimension, sigma);
  parameters.Spacing.assign(dimension, 1.0);
  parameters.KeepInput = true;
  return parameters;
}

/** The workspace memory of a plan's runs. */
class PlanMemory
{
public:
  PlanMemory(const CudaGaussianPlan & plan, const std::vector<DeviceView> & images, const StreamLease & stream)
    : m_Buffer(gaussian::GetPlanWorkspace(plan, images, Device), stream)
  {}

  cuda::Workspace
  Get() const
  {
    return { m_Buffer.GetPointer(), m_Buffer.GetSize() };
  }

private:
  cuda::DeviceBuffer m_Buffer;
};

struct Smoothing
{
  bool                            Axes; // whether each pass is also timed separately
  CudaComponentType               Type{ CudaComponentType::Float };
  CudaFiltersEnums::Approximation Approximation{ CudaFiltersEnums::Approximation::Deriche };
  CudaFiltersEnums::BoundaryMode  Mode{ CudaFiltersEnums::BoundaryMode::Nearest };
};

/** Arguments: size along x, y, z; sigma in hundredths of a pixel. */
void
BM_Resident(benchmark::State & state, const Smoothing & smoothing)
{
  if (IsDeviceMissing(state, Device))
  {
    return;
  }
  const auto                 extent = [&state](int i) { return static_cast<size_t>(state.range(i)); };
  const DeviceView::SizeType size{ { extent(0), extent(1), extent(2), 1, 1 } };
  const double               sigma = 0.01 * static_cast<double>(state.range(3));
  const unsigned int         dimension = size[2] > 1 ? 3 : 2;
  CudaGaussianParameters     parameters = MakeParameters(dimension, sigma);
  parameters.Approximation = smoothing.Approximation;
  parameters.Boundary = { smoothing.Mode, 0.5 };
  const CudaGaussianPlan plan = MakeSmoothingPlan(parameters);

  const DeviceGuard guard(Device);
  StreamLease       stream(Device);
  Timer             timer;
  const ImageSets   images(size, plan.NumberOfImages, stream, smoothing.Type);
  const PlanMemory  workspace(plan, images.GetViews(0), stream);
  const double      copy = images.GetCopyTime(timer, stream);
  for (auto _ : state)
  {
    const double all =
      timer.GetMedian(stream, [&](int run) { gaussian::RunPlan(plan, images.GetViews(run), workspace.Get(), stream); });
    state.SetIterationTime(all);
    state.counters["copy_fraction"] = dimension * copy / all;
    state.counters["copy_ms"] = copy * 1e3;
  }
  if (!smoothing.Axes)
  {
    return;
  }
  for (const CudaGaussianLinePass & pass : plan.Passes)
  {
    const CudaGaussianPlan single = MakeGaussianLinePlan(pass.Axis, pass.Results.front().Kernel, plan.Boundary);
    const double           seconds = timer.GetMedian(
      stream, [&](int run) { gaussian::RunPlan(single, images.GetViews(run), workspace.Get(), stream); });
    state.counters[std::string("copy_fraction_") + "xyz"[pass.Axis]] = copy / seconds;
  }
}

/** Returns passes along z, y and x of a volume of adjacent pixels. */
std::vector<CudaArrayPass>
MakeArrayPasses(size_t side, double sigma)
{
  const auto makePlan = [sigma](unsigned int axis) {
    return MakeGaussianLinePlan(
      axis, MakeGaussianImpulseResponse(CudaFiltersEnums::Approximation::Deriche, 0, sigma, 1.0, false), {});
  };
  return { { makePlan(1), { { side * side, side, 1, 1, 1 } } },
           { makePlan(1), { { side, side, side, 1, 1 } } },
           { makePlan(0), { { side, side * side, 1, 1, 1 } } } };
}

/** Arguments: side; sigma in hundredths of a pixel. Times the smoothing of a volume with a mask in which about half the
 * pixels are valid, of the volume without the mask, and of a caller's arrays, also with NaN pixels excluded. */
void
BM_Masked(benchmark::State & state)
{
  if (IsDeviceMissing(state, Device))
  {
    return;
  }
  const auto                 side = static_cast<size_t>(state.range(0));
  const DeviceView::SizeType size{ { side, side, side, 1, 1 } };
  const CudaGaussianPlan     plan = MakeSmoothingPlan(MakeParameters(3, 0.01 * static_cast<double>(state.range(1))));
  const CudaGaussianMask     mask{ {}, 0.0, CudaGaussianMinimumWeight(CudaFiltersEnums::Approximation::Deriche) };

  const DeviceGuard guard(Device);
  StreamLease       stream(Device);
  Timer             timer;
  const ImageSets   images(size, plan.NumberOfImages, stream, CudaComponentType::Float);
  const DeviceImage valid(size, CudaComponentType::UChar, stream);
  // Valid and invalid rows alternate in stripes.
  const size_t bytes = GetNumberOfBytes(valid.GetView());
  ITK_CUDA_CALL(cudaMemsetAsync(valid.GetView().Data, 0, bytes, stream.GetStream()));
  ITK_CUDA_CALL(cudaMemset2DAsync(valid.GetView().Data,
                                  64 * valid.GetView().Stride[1],
                                  1,
                                  32 * valid.GetView().Stride[1],
                                  bytes / 64 / valid.GetView().Stride[1],
                                  stream.GetStream()));
  const cuda::DeviceBuffer memory(gaussian::GetMaskedGaussianWorkspace(plan, images.GetViews(0).front(), Device),
                                  stream);
  const PlanMemory         workspace(plan, images.GetViews(0), stream);
  for (auto _ : state)
  {
    const double masked = timer.GetMedian(stream, [&](int run) {
      const auto views = images.GetViews(run);
      gaussian::RunMaskedGaussian(
        plan, mask, valid.GetView(), views[0], views[1], { memory.GetPointer(), memory.GetSize() }, stream);
    });
    const double all =
      timer.GetMedian(stream, [&](int run) { gaussian::RunPlan(plan, images.GetViews(run), workspace.Get(), stream); });
    state.SetIterationTime(masked);
    state.counters["without_mask_ms"] = all * 1e3;
    state.counters["ratio"] = masked / all;

    const std::vector<CudaArrayPass> passes = MakeArrayPasses(side, 0.01 * static_cast<double>(state.range(1)));
    const auto                       memory = [&](const DeviceView & view) {
      return CudaArrayMemory{ view.Data,
                              CudaComponentType::Float,
                              Device,
                              reinterpret_cast<CudaDeviceImageMemory::StreamType>(stream.GetStream()) };
    };
    const double array = timer.GetMedian(stream, [&](int run) {
      const auto views = images.GetViews(run);
      CudaQueueOnStream(passes, memory(views[0]), views[1].Data);
    });
    state.counters["array_ms"] = array * 1e3;
    for (const bool keepsNaN : { false, true })
    {
      const CudaArrayMask rule{ valid.GetView().Data, keepsNaN, 0.0, mask.MinimumWeight };
      const double        maskedArray = timer.GetMedian(stream, [&](int run) {
        const auto views = images.GetViews(run);
        CudaQueueMaskedOnStream(passes, rule, memory(views[0]), views[1].Data);
      });
      state.counters[keepsNaN ? "array_without_nan_ratio" : "array_ratio"] = maskedArray / array;
    }
  }
}

CudaGaussianPlan
MakePlanOf(const std::string & filter, const CudaGaussianParameters & parameters)
{
  if (filter == "gradient")
  {
    return MakeGradientPlan(parameters);
  }
  if (filter == "magnitude")
  {
    return MakeGradientMagnitudePlan(parameters);
  }
  return filter == "laplacian" ? MakeLaplacianPlan(parameters) : MakeHessianPlan(parameters);
}

/** Arguments: axis; side; sigma in hundredths of a pixel. Times a single pass. */
void
BM_OneAxis(benchmark::State & state, unsigned int dimension)
{
  if (IsDeviceMissing(state, Device))
  {
    return;
  }
  const auto             axis = static_cast<unsigned int>(state.range(0));
  const auto             side = static_cast<size_t>(state.range(1));
  const CudaGaussianPlan smoothing =
    MakeSmoothingPlan(MakeParameters(dimension, 0.01 * static_cast<double>(state.range(2))));
  const auto pass = std::find_if(
    smoothing.Passes.begin(), smoothing.Passes.end(), [axis](const auto & other) { return other.Axis == axis; });
  const CudaGaussianPlan plan = MakeGaussianLinePlan(axis, pass->Results.front().Kernel);

  const DeviceGuard guard(Device);
  StreamLease       stream(Device);
  Timer             timer;
  const ImageSets   images({ { side, side, dimension == 3 ? side : 1, 1, 1 } }, plan.NumberOfImages, stream);
  const PlanMemory  workspace(plan, images.GetViews(0), stream);
  for (auto _ : state)
  {
    state.SetIterationTime(timer.GetMedian(
      stream, [&](int run) { gaussian::RunPlan(plan, images.GetViews(run), workspace.Get(), stream); }));
  }
}

/** Arguments: side; sigma in hundredths of a pixel. */
void
BM_Family(benchmark::State & state, unsigned int dimension, const std::string & filter)
{
  if (IsDeviceMissing(state, Device))
  {
    return;
  }
  const size_t           side = static_cast<size_t>(state.range(0));
  const CudaGaussianPlan plan =
    MakePlanOf(filter, MakeParameters(dimension, 0.01 * static_cast<double>(state.range(1))));

  const DeviceGuard guard(Device);
  StreamLease       stream(Device);
  Timer             timer;
  const ImageSets   images({ { side, side, dimension == 3 ? side : 1, 1, 1 } }, plan.NumberOfImages, stream);
  const PlanMemory  workspace(plan, images.GetViews(0), stream);
  const double      copy = images.GetCopyTime(timer, stream);
  for (auto _ : state)
  {
    const double all =
      timer.GetMedian(stream, [&](int run) { gaussian::RunPlan(plan, images.GetViews(run), workspace.Get(), stream); });
    state.SetIterationTime(all);
    state.counters["copies"] = all / copy;
    state.counters["images"] = plan.NumberOfImages;
  }
}

void
DefineRows(benchmark::internal::Benchmark * rows)
{
  rows->ArgNames({ "x", "y", "z", "sigma_percent" })->UseManualTime()->Iterations(1)->Unit(benchmark::kMillisecond);
}

void
DefineSizes(benchmark::internal::Benchmark * rows)
{
  DefineRows(rows);
  for (const int64_t sigma : { 50, 100, 400, 2000, 6400, 25000, 50000 })
  {
    for (const int64_t side : { 128, 256, 512, 1024, 2048, 4096, 8192, 16384 })
    {
      rows->Args({ side, side, 1, sigma });
    }
    for (const int64_t side : { 32, 64, 128, 256, 512, 1024 })
    {
      rows->Args({ side, side, side, sigma });
    }
    rows->Args({ 8191, 8193, 1, sigma });
    rows->Args({ 511, 513, 509, sigma });
  }
}

/** Defines rows for closely spaced sides, to find sides that are far slower than their neighbours. */
void
DefineSweepOverSides(benchmark::internal::Benchmark * rows)
{
  DefineRows(rows);
  for (const int64_t sigma : { 400, 6400 })
  {
    for (int64_t side = 1000; side <= 1100; ++side)
    {
      rows->Args({ side, side, 1, sigma });
    }
    for (int64_t side = 1000; side <= 1100; side += 20)
    {
      rows->Args({ side, side, side, sigma });
    }
  }
}

/** Defines rows for sigma from 0.5 to 500 pixels, twenty per decade. */
void
DefineSweepOverSigmas(benchmark::internal::Benchmark * rows)
{
  DefineRows(rows);
  for (int step = 0; step <= 60; ++step)
  {
    const int64_t sigma = std::lround(50.0 * std::pow(10.0, step / 20.0));
    rows->Args({ 1050, 1050, 1, sigma });
    rows->Args({ 8192, 8192, 1, sigma });
    rows->Args({ 512, 512, 512, sigma });
  }
}

/** Defines rows for the kinds of smoothing whose window differs from that of float. */
void
DefineOtherWindows(benchmark::internal::Benchmark * rows)
{
  DefineRows(rows);
  for (const int64_t sigma : { 400, 2000, 6400 })
  {
    for (const int64_t side : { 512, 2048, 8192 })
    {
      rows->Args({ side, side, 1, sigma });
    }
    for (const int64_t side : { 128, 256, 512 })
    {
      rows->Args({ side, side, side, sigma });
    }
  }
}

/** Defines a few rows for each boundary mode, to compare the others with Nearest. */
void
DefineModes(benchmark::internal::Benchmark * rows)
{
  DefineRows(rows);
  for (const int64_t sigma : { 100, 400, 1000, 2000, 6400 })
  {
    rows->Args({ 4096, 4096, 1, sigma });
    rows->Args({ 512, 512, 512, sigma });
    rows->Args({ 511, 513, 509, sigma });
  }
}

void
DefineModesOfAccurate(benchmark::internal::Benchmark * rows)
{
  DefineRows(rows);
  for (const int64_t sigma : { 400, 2000, 6400 })
  {
    rows->Args({ 512, 512, 512, sigma });
  }
}

BENCHMARK_CAPTURE(BM_Resident, sizes, Smoothing{ true })->Name("resident")->Apply(DefineSizes);
BENCHMARK_CAPTURE(BM_Resident, double, Smoothing{ true, CudaComponentType::Double })
  ->Name("resident/double")
  ->Apply(DefineOtherWindows);
BENCHMARK_CAPTURE(BM_Resident,
                  accurate,
                  Smoothing{ true, CudaComponentType::Float, CudaFiltersEnums::Approximation::Accurate })
  ->Name("resident/accurate")
  ->Apply(DefineOtherWindows);
BENCHMARK_CAPTURE(BM_Resident,
                  double_accurate,
                  Smoothing{ true, CudaComponentType::Double, CudaFiltersEnums::Approximation::Accurate })
  ->Name("resident/double_accurate")
  ->Apply(DefineOtherWindows);
BENCHMARK_CAPTURE(BM_Resident, sides, Smoothing{ false })->Name("sweep/sides")->Apply(DefineSweepOverSides);
BENCHMARK_CAPTURE(BM_Resident, sigmas, Smoothing{ false })->Name("sweep/sigmas")->Apply(DefineSweepOverSigmas);

[[maybe_unused]] const bool ModesRegistered = [] {
  using Mode = CudaFiltersEnums::BoundaryMode;
  for (const auto & [name, mode] : { std::pair("nearest", Mode::Nearest),
                                     std::pair("reflect", Mode::Reflect),
                                     std::pair("mirror", Mode::Mirror),
                                     std::pair("wrap", Mode::Wrap),
                                     std::pair("constant", Mode::Constant) })
  {
    Smoothing smoothing{ true, CudaComponentType::Float, CudaFiltersEnums::Approximation::Deriche, mode };
    benchmark::RegisterBenchmark((std::string("resident/mode/") + name).c_str(), BM_Resident, smoothing)
      ->Apply(DefineModes);
    smoothing.Approximation = CudaFiltersEnums::Approximation::Accurate;
    benchmark::RegisterBenchmark((std::string("resident/mode_of_accurate/") + name).c_str(), BM_Resident, smoothing)
      ->Apply(DefineModesOfAccurate);
  }
  benchmark::RegisterBenchmark("resident/masked", BM_Masked)
    ->ArgNames({ "side", "sigma_percent" })
    ->UseManualTime()
    ->Iterations(1)
    ->Unit(benchmark::kMillisecond)
    ->ArgsProduct({ { 256, 512 }, { 400, 2000 } });
  return true;
}();

template <unsigned int VDimension>
void
DefineOneAxis(benchmark::internal::Benchmark * rows)
{
  rows->ArgNames({ "axis", "side", "sigma_percent" })->UseManualTime()->Iterations(1)->Unit(benchmark::kMillisecond);
  rows->ArgsProduct({ { 0, VDimension - 1 }, VDimension == 3 ? Sides3D : Sides2D, { 400 } });
}

template <unsigned int VDimension>
void
DefineFamily(benchmark::internal::Benchmark * rows)
{
  rows->ArgNames({ "side", "sigma_percent" })->UseManualTime()->Iterations(1)->Unit(benchmark::kMillisecond);
  rows->ArgsProduct({ VDimension == 3 ? Sides3D : Sides2D, { 400 } });
}

[[maybe_unused]] const bool Registered = [] {
  benchmark::RegisterBenchmark("resident/one_axis/2d", BM_OneAxis, 2)->Apply(DefineOneAxis<2>);
  benchmark::RegisterBenchmark("resident/one_axis/3d", BM_OneAxis, 3)->Apply(DefineOneAxis<3>);
  for (const std::string filter : { "gradient", "magnitude", "laplacian", "hessian" })
  {
    // The names of rows in three dimensions have no dimension, as in the existing records.
    benchmark::RegisterBenchmark(("resident/" + filter).c_str(), BM_Family, 3, filter)->Apply(DefineFamily<3>);
    benchmark::RegisterBenchmark(("resident/" + filter + "/2d").c_str(), BM_Family, 2, filter)->Apply(DefineFamily<2>);
  }
  return true;
}();
} // namespace
