// SPDX-License-Identifier: Apache-2.0

// Benchmarks the partition of radar scenes of fields as users call it: from an image in ordinary memory to the label
// image, polygons, table and tree. The image is tiled with a scene of 1000 x 1000 pixels and 150 fields under speckle
// of one look. Rows .../partition_of_picture use the radar picture of the examples and its mirror images.
//
// Rows host/partition run on all cores, host/partition/one_thread on one, and host_to_host/partition on the GPU. Rows
// .../partition_labels stop after the label map (LabelsOnly). Rows .../partition_of_one_field contain only speckle, the
// hardest case for merges, because one region takes all blocks. Rows .../partition_hundred process a hundred images in
// one call, with one thread per concurrent image: as many as ITK has threads, and at least 48 on the GPU.

#include "benchmark_device.h"
#include "itkCudaRegionPartitionImageFilter.h"
#include "itkMultiThreaderBase.h"
#include "partition_benchmark_scene.h"

#include <benchmark/benchmark.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <thread>
#include <vector>

namespace
{
using benchmark_filters::GetScene;
using benchmark_filters::IsDeviceMissing;
using benchmark_filters::Scene;
using itk::CudaFiltersEnums;
using ImageType = benchmark_filters::SceneImage;
using FilterType = itk::CudaRegionPartitionImageFilter<ImageType, itk::Image<unsigned int, 2>>;

FilterType::Pointer
MakeFilter(ImageType * image, Scene scene, CudaFiltersEnums::Backend backend, bool labelsOnly, unsigned int threads)
{
  const auto filter = FilterType::New();
  filter->SetInput(image);
  filter->SetBackend(backend);
  benchmark_filters::SetLawOfScene(filter.GetPointer(), scene);
  filter->SetLabelsOnly(labelsOnly);
  filter->SetNumberOfWorkUnits(threads);
  return filter;
}

void
RunPartition(benchmark::State & state, CudaFiltersEnums::Backend backend, bool oneThread, bool labelsOnly, Scene scene)
{
  if (backend == CudaFiltersEnums::Backend::Cuda && IsDeviceMissing(state))
  {
    return;
  }
  const ImageType::Pointer image = GetScene(state, scene);
  if (!image)
  {
    return;
  }
  const auto filter = MakeFilter(
    image, scene, backend, labelsOnly, oneThread ? 1 : itk::MultiThreaderBase::GetGlobalDefaultNumberOfThreads());
  filter->Update(); // starts CUDA, threads, and fills pools
  for (auto _ : state)
  {
    filter->Modified();
    filter->Update();
  }
  state.counters["regions"] = static_cast<double>(filter->GetNumberOfRegions());
  state.counters["pixels_per_second"] = benchmark::Counter(
    static_cast<double>(image->GetBufferedRegion().GetNumberOfPixels()), benchmark::Counter::kIsIterationInvariantRate);
}

/** Updates all filters as Python's partition_images() does: some concurrently, each on one thread. */
void
UpdateAll(const std::vector<FilterType::Pointer> & filters, unsigned int threads)
{
  std::atomic<size_t>      next{ 0 };
  std::vector<std::thread> workers;
  for (unsigned int i = 0; i < threads; ++i)
  {
    workers.emplace_back([&] {
      for (size_t number = next++; number < filters.size(); number = next++)
      {
        filters[number]->Modified();
        filters[number]->Update();
      }
    });
  }
  for (std::thread & worker : workers)
  {
    worker.join();
  }
}

/** Returns the median time of a filter's updates in milliseconds. */
double
MeasureUpdate(FilterType * filter)
{
  std::array<double, 9> times{};
  for (double & time : times)
  {
    const auto begin = std::chrono::steady_clock::now();
    filter->Modified();
    filter->Update();
    time = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
  }
  const auto median = times.begin() + times.size() / 2;
  std::nth_element(times.begin(), median, times.end());
  return *median;
}

/** Times a hundred images of the same size. The counter one_ms is the time of one of them alone, on all threads. */
void
RunHundred(benchmark::State & state, CudaFiltersEnums::Backend backend, bool labelsOnly)
{
  constexpr size_t number = 100;
  if (backend == CudaFiltersEnums::Backend::Cuda && IsDeviceMissing(state))
  {
    return;
  }
  const auto                image = GetScene(state, Scene::Fields);
  const unsigned int        threads = itk::MultiThreaderBase::GetGlobalDefaultNumberOfThreads();
  const unsigned int        atOnce = backend == CudaFiltersEnums::Backend::Cuda ? std::max(threads, 48u) : threads;
  const FilterType::Pointer one = MakeFilter(image, Scene::Fields, backend, labelsOnly, threads);
  std::vector<FilterType::Pointer> filters(number);
  for (FilterType::Pointer & filter : filters)
  {
    const auto input = ImageType::New(); // own object, because an update changes the requested region of its input
    input->Graft(image);
    filter = MakeFilter(input, Scene::Fields, backend, labelsOnly, 1);
  }
  UpdateAll(filters, atOnce); // starts CUDA, and fills pools
  one->Update();
  for (auto _ : state)
  {
    UpdateAll(filters, atOnce);
  }
  state.counters["one_ms"] = MeasureUpdate(one);
}

[[maybe_unused]] const bool Registered = [] {
  using Backend = CudaFiltersEnums::Backend;
  const auto add = [](const char *                 name,
                      Backend                      backend,
                      bool                         oneThread,
                      bool                         labelsOnly,
                      const std::vector<int64_t> & sides,
                      Scene                        scene = Scene::Fields) {
    auto * const row = benchmark::RegisterBenchmark(
      name, [=](benchmark::State & state) { RunPartition(state, backend, oneThread, labelsOnly, scene); });
    row->ArgName("side")->UseRealTime()->Unit(benchmark::kMillisecond)->MinTime(0.1);
    for (const int64_t side : sides)
    {
      row->Arg(side);
    }
  };
  const std::vector<int64_t> sides{ 1000, 4000 };
  const std::vector<int64_t> sidesOnDevice{ 1000, 4000, 10000 };
  add("host/partition", Backend::Host, false, false, sides);
  add("host/partition/one_thread", Backend::Host, true, false, sides);
  add("host_to_host/partition", Backend::Cuda, false, false, sidesOnDevice);
  add("host/partition_labels", Backend::Host, false, true, sides);
  add("host/partition_labels/one_thread", Backend::Host, true, true, sides);
  add("host_to_host/partition_labels", Backend::Cuda, false, true, sidesOnDevice);
  add("host/partition_of_one_field", Backend::Host, false, false, sides, Scene::OneField);
  add("host/partition_of_one_field/one_thread", Backend::Host, true, false, sides, Scene::OneField);
  add("host_to_host/partition_of_one_field", Backend::Cuda, false, false, sidesOnDevice, Scene::OneField);
  add("host/partition_of_picture", Backend::Host, false, false, { 4000 }, Scene::Picture);
  add("host/partition_of_picture/one_thread", Backend::Host, true, false, { 4000 }, Scene::Picture);
  add("host_to_host/partition_of_picture", Backend::Cuda, false, false, sidesOnDevice, Scene::Picture);
  const auto addHundred = [](const char * name, Backend backend, bool labelsOnly) {
    benchmark::RegisterBenchmark(name, [=](benchmark::State & state) { RunHundred(state, backend, labelsOnly); })
      ->ArgName("side")
      ->Arg(500)
      ->UseRealTime()
      ->Unit(benchmark::kMillisecond)
      ->MinTime(0.1);
  };
  addHundred("host/partition_hundred", Backend::Host, false);
  addHundred("host_to_host/partition_hundred", Backend::Cuda, false);
  addHundred("host_to_host/partition_labels_hundred", Backend::Cuda, true);
  return true;
}();
} // namespace
