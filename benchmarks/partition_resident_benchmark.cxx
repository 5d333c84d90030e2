// SPDX-License-Identifier: Apache-2.0

// Benchmarks partitions of device images. Rows resident/partition and resident/partition_of_picture: from an image on
// the device to labels on the device, with polygons, table and tree. Rows resident/partition_label_map: only the label
// map, from samples and their sums on the device. The scenes are the ones of partition_benchmark.cxx.

#include "benchmark_device.h"
#include "runtime/device/Device.h"
#include "runtime/device/Stream.h"
#include "itkCudaDeviceImage.h"
#include "partition/labels/DeviceLabels.h"
#include "itkCudaRegionPartitionImageFilter.h"
#include "region/Threads.h"
#include "itkCudaSnakeScene.h"
#include "itkCudaUploadImageFilter.h"
#include "partition_benchmark_scene.h"

#include <benchmark/benchmark.h>

namespace
{
using itk::cuda::partition::DeviceLabelMap;
using itk::cuda::partition::MakeLabelMapOnDevice;
using itk::cuda::partition::Model;
using itk::cuda::region::DeviceSums;
using itk::cuda::region::NoiseLaw;
using itk::cuda::region::Samples;

void
MakeLabelMaps(benchmark::State & state)
{
  if (benchmark_filters::IsDeviceMissing(state))
  {
    return;
  }
  constexpr int32_t blockSize = 4;
  const auto        side = static_cast<itk::SizeValueType>(state.range(0));
  const auto        scene = benchmark_filters::GetScene(state, benchmark_filters::Scene::Fields); // holds the pixels
  const int         device = itk::CudaFiltersConfiguration::GetDeviceIndex();
  const itk::cuda::region::Threads      threads(itk::MultiThreaderBase::GetGlobalDefaultNumberOfThreads());
  itk::CudaDetail::CudaRegionSnakeInput input;
  input.Image = itk::cuda::MakeImageView(scene->GetBufferPointer(), itk::CudaComponentType::UShort, side, side);
  itk::CudaDetail::CudaRegionSnakeParameters law;
  law.NoiseLaw = NoiseLaw::Gamma;
  const Samples                samples(input, law, threads);
  const itk::cuda::DeviceGuard guard(device);
  const DeviceSums             sums(samples, 0, device);
  const itk::cuda::StreamLease stream(device);
  Model                        model;
  model.Law = { NoiseLaw::Gamma, 1.0, static_cast<int64_t>(samples.NumberOfValidPixels) };
  model.LogNumberOfPixels = itk::cuda::region::Log(static_cast<double>(samples.NumberOfValidPixels));
  size_t     regions = 0;
  const auto run = [&] {
    const DeviceLabelMap map = MakeLabelMapOnDevice(sums, model, blockSize, {}, stream);
    stream.Synchronize();
    regions = map.NumberOfRegions;
  };
  run(); // loads kernels, fills pools
  for (auto _ : state)
  {
    run();
  }
  state.counters["regions"] = static_cast<double>(regions);
  state.counters["pixels_per_second"] =
    benchmark::Counter(static_cast<double>(side * side), benchmark::Counter::kIsIterationInvariantRate);
}

/** Times the whole partition, as users call it with images on the device. */
void
PartitionDeviceImages(benchmark::State & state, benchmark_filters::Scene scene)
{
  if (benchmark_filters::IsDeviceMissing(state))
  {
    return;
  }
  using DeviceImageType = itk::CudaDeviceImage<unsigned short, 2>;
  using DeviceLabelsType = itk::CudaDeviceImage<unsigned int, 2>;
  const auto pixels = benchmark_filters::GetScene(state, scene);
  if (!pixels)
  {
    return;
  }
  const auto image = itk::CudaUpload(pixels.GetPointer(), itk::CudaFiltersConfiguration::GetDeviceIndex());
  const auto filter = itk::CudaRegionPartitionImageFilter<DeviceImageType, DeviceLabelsType>::New();
  filter->SetInput(image);
  benchmark_filters::SetLawOfScene(filter.GetPointer(), scene);
  filter->Update(); // loads kernels, fills pools
  for (auto _ : state)
  {
    filter->Modified();
    filter->Update();
  }
  state.counters["regions"] = static_cast<double>(filter->GetNumberOfRegions());
  state.counters["pixels_per_second"] =
    benchmark::Counter(static_cast<double>(pixels->GetBufferedRegion().GetNumberOfPixels()),
                       benchmark::Counter::kIsIterationInvariantRate);
}

[[maybe_unused]] const bool Registered = [] {
  using benchmark_filters::Scene;
  const auto add = [](const char * name, const auto & run) {
    auto * const row = benchmark::RegisterBenchmark(name, run);
    row->ArgName("side")->Arg(1000)->Arg(4000)->Arg(10000)->UseRealTime()->Unit(benchmark::kMillisecond)->MinTime(0.1);
  };
  add("resident/partition", [](benchmark::State & state) { PartitionDeviceImages(state, Scene::Fields); });
  add("resident/partition_of_picture", [](benchmark::State & state) { PartitionDeviceImages(state, Scene::Picture); });
  add("resident/partition_label_map", MakeLabelMaps);
  return true;
}();
} // namespace
