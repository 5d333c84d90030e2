// SPDX-License-Identifier: Apache-2.0

// Benchmarks the region snake on an image that is prepared once. Rows resident/snake/hundred_starts time a hundred runs
// from different starts: sums_ms is the time of the upload, samples and sums of the image, run_ms the time of one run,
// and hundred_runs_ms the time of all runs. Rows resident/snake/image time the samples and sums of an image on the
// device.

#include "benchmark_device.h"
#include "runtime/device/Device.h"
#include "runtime/device/Stream.h"
#include "runtime/memory/DeviceMemory.h"
#include "runtime/memory/PinnedMemory.h"
#include "runtime/memory/DeviceImage.h"
#include "snake/device/Snake.h"
#include "runtime/transfer/Transfer.h"
#include "snake_benchmark_scene.h"
#include "snake_paper_parameters.h"

#include <benchmark/benchmark.h>

#include <algorithm>
#include <vector>

namespace
{
using benchmark_filters::GetScene;
using benchmark_filters::IsDeviceMissing;
using itk::CudaComponentType;
using itk::cuda::snake::DeviceSnakeImage;
using itk::cuda::snake::GetSeconds;
using itk::cuda::snake::SnakeRun;

constexpr int NumberOfStarts = 100;

itk::CudaDetail::CudaRegionSnakeParameters
GetParameters(itk::SizeValueType side)
{
  return benchmark_filters::PaperSnakeParameters(side, itk::CudaFiltersEnums::Schedule::CoarseToFine, true);
}

/** Returns a rectangle around the middle with sides from 40 to 80 % of the image's, by its number. */
itk::CudaSnakePolygon
GetStart(itk::SizeValueType side, int number)
{
  const auto s = static_cast<int32_t>(side);
  const auto x = s / 10 + s / 5 * (number % 10) / 9;
  const auto y = s / 10 + s / 5 * (number / 10) / 9;
  return { { x, y }, { s - x, y }, { s - x, s - y }, { x, s - y } };
}

void
RunHundredStarts(benchmark::State & state)
{
  if (IsDeviceMissing(state))
  {
    return;
  }
  const auto                            side = static_cast<itk::SizeValueType>(state.range(0));
  const auto                            scene = GetScene(side); // holds the pixels
  const auto                            parameters = GetParameters(side);
  const int                             device = itk::CudaFiltersConfiguration::GetDeviceIndex();
  itk::CudaDetail::CudaRegionSnakeInput input;
  input.Image = itk::cuda::MakeImageView(scene->GetBufferPointer(), CudaComponentType::UShort, side, side);
  const itk::cuda::region::Threads threads(itk::MultiThreaderBase::GetGlobalDefaultNumberOfThreads());
  {
    const DeviceSnakeImage image(input, parameters, threads, device); // fills pools
  }
  const double                 timeOfSums = GetSeconds();
  const DeviceSnakeImage       image(input, parameters, threads, device);
  const double                 secondsOfSums = GetSeconds() - timeOfSums;
  const itk::cuda::StreamLease stream(device);
  SnakeRun                     run;
  run.Parameters = parameters;
  const size_t                  bytes = GetWorkspaceBytes(image, run);
  const itk::cuda::DeviceBuffer memory(bytes, stream);
  double                        seconds = 0.0;
  const auto                    runFrom = [&](int number) {
    const itk::CudaSnakePolygon start = GetStart(side, number);
    run.StartPolygon = &start;
    benchmark::DoNotOptimize(RunOnDevice(image, run, { memory.GetPointer(), bytes }, stream));
  };
  runFrom(0); // loads kernels
  for (auto _ : state)
  {
    const double time = GetSeconds();
    for (int number = 0; number < NumberOfStarts; ++number)
    {
      runFrom(number);
    }
    seconds = GetSeconds() - time;
    state.SetIterationTime(seconds);
  }
  state.counters["sums_ms"] = 1e3 * secondsOfSums;
  state.counters["run_ms"] = 1e3 * seconds / NumberOfStarts;
  state.counters["hundred_runs_ms"] = 1e3 * seconds;
}

void
PrepareImage(benchmark::State & state)
{
  if (IsDeviceMissing(state))
  {
    return;
  }
  const auto                   side = static_cast<itk::SizeValueType>(state.range(0));
  const auto                   scene = GetScene(side);
  const auto                   parameters = GetParameters(side);
  const int                    device = itk::CudaFiltersConfiguration::GetDeviceIndex();
  const itk::cuda::DeviceGuard guard(device);
  const itk::cuda::StreamLease stream(device);
  const auto host = itk::cuda::MakeImageView(scene->GetBufferPointer(), CudaComponentType::UShort, side, side);
  const itk::cuda::DeviceImage        pixels(itk::cuda::GetPlanarSize(host), CudaComponentType::UShort, stream);
  itk::cuda::region::DeviceImageInput input;
  input.Image = pixels.GetView();
  itk::cuda::Upload(host, input.Image, stream, {});
  for (auto _ : state)
  {
    const double           time = GetSeconds();
    const DeviceSnakeImage image(input, parameters, stream);
    state.SetIterationTime(GetSeconds() - time);
  }
}

[[maybe_unused]] const bool Registered = [] {
  const auto add = [](const char * name, void (*function)(benchmark::State &)) {
    benchmark::RegisterBenchmark(name, function)
      ->ArgName("side")
      ->Arg(10000) // 100 megapixels
      ->UseManualTime()
      ->Unit(benchmark::kMillisecond)
      ->MinTime(0.1);
  };
  add("resident/snake/hundred_starts", RunHundredStarts);
  add("resident/snake/image", PrepareImage);
  return true;
}();
} // namespace
