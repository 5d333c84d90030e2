// SPDX-License-Identifier: Apache-2.0

// Benchmarks partitions of device images. Rows resident/partition and resident/partition_of_picture: from an image on
// the device to labels on the device, with polygons, table and tree. Rows resident/partition_labels stop after the
// label map (LabelsOnly). The scenes are the ones of partition_benchmark.cxx.

#include "benchmark_device.h"
#include "itkCudaDeviceImage.h"
#include "itkCudaRegionPartitionImageFilter.h"
#include "itkCudaUploadImageFilter.h"
#include "partition_benchmark_scene.h"

#include <benchmark/benchmark.h>

namespace
{
/** Times the whole partition, as users call it with images on the device. */
void
PartitionDeviceImages(benchmark::State & state, benchmark_filters::Scene scene, bool labelsOnly)
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
  filter->SetLabelsOnly(labelsOnly);
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
  const auto addPartition = [&](const char * name, Scene scene, bool labelsOnly) {
    add(name, [scene, labelsOnly](benchmark::State & state) { PartitionDeviceImages(state, scene, labelsOnly); });
  };
  addPartition("resident/partition", Scene::Fields, false);
  addPartition("resident/partition_labels", Scene::Fields, true);
  addPartition("resident/partition_of_picture", Scene::Picture, false);
  return true;
}();
} // namespace
