// SPDX-License-Identifier: Apache-2.0

// Benchmarks the region snake on the images and with the parameters of snake_paper_table.
//
// The rows host_to_host/snake (on the GPU) and host/snake (on all cores) time Update() from an image in ordinary memory
// to the label image, with removal of nodes. They reuse one filter and its label image, whereas the rows
// host_to_host/snake_of_new_filter make both anew for each image.
//
// The rows resident/snake time moves and removal of nodes alone, on an image whose sums are on the device. The row
// resident/snake/hundred_starts (region_snake_resident_benchmark.cxx) times a hundred complete runs on one image.
//
// The rows resident/snake/device_image time Update() on a device image until the label image is written on the device,
// with the starts margin_rectangle and automatic.

#include "benchmark_device.h"
#include "itkCudaRegionSnakeImageFilter.h"
#include "itkCudaSnakeScene.h"
#include "itkCudaUploadImageFilter.h"
#include "snake_benchmark_scene.h"
#include "snake_paper_parameters.h"

#include <benchmark/benchmark.h>


namespace
{
using benchmark_filters::GetScene;
using ImageType = benchmark_filters::SceneImageType;
using LabelType = itk::Image<unsigned char, 2>;
using FilterType = itk::CudaRegionSnakeImageFilter<ImageType, LabelType>;
using DeviceFilterType =
  itk::CudaRegionSnakeImageFilter<itk::CudaDeviceImage<unsigned short, 2>, itk::CudaDeviceImage<unsigned char, 2>>;
using benchmark_filters::IsDeviceMissing;
using itk::CudaFiltersEnums;

template <typename TFilter>
typename TFilter::Pointer
MakeFilter(const typename TFilter::InputImageType * image, CudaFiltersEnums::Backend backend)
{
  const itk::SizeValueType side = image->GetBufferedRegion().GetSize(0);
  auto                     filter = TFilter::New();
  filter->SetInput(image);
  filter->SetBackend(backend);
  const auto parameters = benchmark_filters::PaperSnakeParameters(side, CudaFiltersEnums::Schedule::CoarseToFine, true);
  filter->SetNoiseLaw(*parameters.NoiseLaw);
  filter->SetSchedule(parameters.Schedule);
  filter->SetUseDescriptionLength(parameters.UseDescriptionLength);
  filter->SetStart(parameters.Start);
  filter->SetMinimumEdgeLength(parameters.MinimumEdgeLength);
  return filter;
}

void
RunSnake(benchmark::State & state, CudaFiltersEnums::Backend backend, bool newFilters)
{
  if (backend == CudaFiltersEnums::Backend::Cuda && IsDeviceMissing(state))
  {
    return;
  }
  const auto side = static_cast<itk::SizeValueType>(state.range(0));
  auto       filter = MakeFilter<FilterType>(GetScene(side), backend);
  filter->Update(); // starts CUDA, threads, and fills pools
  for (auto _ : state)
  {
    if (newFilters)
    {
      filter = MakeFilter<FilterType>(GetScene(side), backend);
    }
    filter->Modified();
    filter->Update();
  }
  const itk::CudaRegionSnakeResult & result = filter->GetResult();
  state.counters["engine_ms"] = 1e3 * (result.SecondsOfSamples + result.SecondsOfSums + result.SecondsOfStart +
                                       result.SecondsOfMoves + result.SecondsOfRemoval);
  state.counters["pixels_per_second"] =
    benchmark::Counter(static_cast<double>(side * side), benchmark::Counter::kIsIterationInvariantRate);
}

void
RunOnDeviceImage(benchmark::State & state, CudaFiltersEnums::Start start)
{
  if (IsDeviceMissing(state))
  {
    return;
  }
  const auto image = itk::CudaUpload(GetScene(static_cast<itk::SizeValueType>(state.range(0))));
  const auto filter = MakeFilter<DeviceFilterType>(image, CudaFiltersEnums::Backend::Cuda);
  filter->SetStart(start);
  const auto run = [&filter] {
    filter->Modified();
    filter->Update();
    filter->GetOutput()->Synchronize();
  };
  run(); // loads kernels, and fills pools
  for (auto _ : state)
  {
    run();
  }
}

void
RunResident(benchmark::State & state, CudaFiltersEnums::Schedule schedule, bool removal)
{
  if (IsDeviceMissing(state))
  {
    return;
  }
  const auto                            side = static_cast<itk::SizeValueType>(state.range(0));
  itk::CudaDetail::CudaRegionSnakeInput input;
  const auto                            parameters = benchmark_filters::PaperSnakeParameters(side, schedule, removal);
  const ImageType::Pointer              image = GetScene(side); // holds the pixels
  const unsigned int                    threads = itk::MultiThreaderBase::GetGlobalDefaultNumberOfThreads();
  input.Image = itk::cuda::MakeImageView(image->GetBufferPointer(), itk::CudaComponentType::UShort, side, side);
  for (auto _ : state)
  {
    const auto result = itk::CudaDetail::CudaRegionSnakeOnDevice(
      input, parameters, itk::CudaFiltersConfiguration::GetDeviceIndex(), threads, {});
    state.SetIterationTime(result.SecondsOfMoves + result.SecondsOfRemoval);
  }
}

[[maybe_unused]] const bool Registered = [] {
  using Schedule = CudaFiltersEnums::Schedule;
  const auto addResident = [](const char * name, Schedule schedule, bool removal) {
    benchmark::RegisterBenchmark(name, [=](benchmark::State & state) { RunResident(state, schedule, removal); })
      ->ArgName("side")
      ->Arg(3900)
      ->Arg(10000)
      ->Arg(12247)
      ->UseManualTime()
      ->Unit(benchmark::kMillisecond)
      ->MinTime(0.1);
  };
  addResident("resident/snake/as_published", Schedule::AsPublished, false);
  addResident("resident/snake/coarse_to_fine", Schedule::CoarseToFine, false);
  addResident("resident/snake/coarse_to_fine/removal", Schedule::CoarseToFine, true);
  const auto addDeviceImage = [](const char * name, CudaFiltersEnums::Start start) {
    benchmark::RegisterBenchmark(name, [=](benchmark::State & state) { RunOnDeviceImage(state, start); })
      ->ArgName("side")
      ->Arg(10000)
      ->UseRealTime()
      ->Unit(benchmark::kMillisecond)
      ->MinTime(0.1);
  };
  addDeviceImage("resident/snake/device_image/margin_rectangle", CudaFiltersEnums::Start::MarginRectangle);
  addDeviceImage("resident/snake/device_image/automatic", CudaFiltersEnums::Start::Automatic);
  const auto add = [](const char * name, CudaFiltersEnums::Backend backend, bool newFilters) {
    benchmark::RegisterBenchmark(name, [=](benchmark::State & state) { RunSnake(state, backend, newFilters); })
      ->ArgName("side")
      ->Arg(3900)  // 15 megapixels
      ->Arg(10000) // 100
      ->Arg(12247) // 150
      ->UseRealTime()
      ->Unit(benchmark::kMillisecond)
      ->MinTime(0.1);
  };
  add("host_to_host/snake", CudaFiltersEnums::Backend::Cuda, false);
  add("host_to_host/snake_of_new_filter", CudaFiltersEnums::Backend::Cuda, true);
  add("host/snake", CudaFiltersEnums::Backend::Host, false);
  return true;
}();
} // namespace
