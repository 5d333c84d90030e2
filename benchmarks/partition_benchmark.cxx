// SPDX-License-Identifier: Apache-2.0

// The partition of radar scenes of fields, as a user calls it: from an image in ordinary memory to the label image,
// polygons, table and tree. The scene is one of 1000 x 1000 pixels and 150 fields under speckle of one look, side by
// side as often as the image has room for it.
//
// Rows host/partition on all cores, host/partition/one_thread, and host_to_host/partition on the GPU, which makes the
// label map there and the polygons on all cores. Rows .../partition_labels end with the label map (LabelsOnly).

#include "benchmark_device.h"
#include "itkCudaFieldScene.h"
#include "itkCudaRegionPartitionImageFilter.h"
#include "itkImageRegionIteratorWithIndex.h"
#include "itkMultiThreaderBase.h"

#include <benchmark/benchmark.h>

#include <cstdint>
#include <vector>

namespace
{
using benchmark_filters::IsDeviceMissing;
using itk::CudaFiltersEnums;
using itk::cuda::test::FieldScene;
using ImageType = FieldScene::ImageType;
using FilterType = itk::CudaRegionPartitionImageFilter<ImageType, itk::Image<unsigned int, 2>>;

ImageType::Pointer
MakeTile(unsigned int side)
{
  FieldScene scene;
  scene.Width = scene.Height = side;
  scene.NumberOfRegions = 150;
  scene.NumberOfCells = 275;
  return scene.MakeImage(scene.MakeTruth());
}

/** The last image is kept: Google Benchmark calls a row several times. */
ImageType::Pointer
GetScene(itk::SizeValueType side)
{
  constexpr unsigned int          tileSide = 1000;
  static const ImageType::Pointer tile = MakeTile(tileSide);
  static ImageType::Pointer       kept;
  if (!kept || kept->GetBufferedRegion().GetSize(0) != side)
  {
    kept = ImageType::New();
    kept->SetRegions(ImageType::SizeType{ { side, side } });
    kept->Allocate();
    itk::ImageRegionIteratorWithIndex<ImageType> it(kept, kept->GetBufferedRegion());
    for (; !it.IsAtEnd(); ++it)
    {
      it.Set(tile->GetPixel({ { it.GetIndex()[0] % tileSide, it.GetIndex()[1] % tileSide } }));
    }
  }
  return kept;
}

void
RunPartition(benchmark::State & state, CudaFiltersEnums::Backend backend, bool oneThread, bool labelsOnly)
{
  if (backend == CudaFiltersEnums::Backend::Cuda && IsDeviceMissing(state))
  {
    return;
  }
  const auto side = static_cast<itk::SizeValueType>(state.range(0));
  const auto filter = FilterType::New();
  filter->SetInput(GetScene(side));
  filter->SetBackend(backend);
  filter->SetNoiseLaw("Gamma");
  filter->SetNumberOfLooks(1.0);
  filter->SetLabelsOnly(labelsOnly);
  filter->SetNumberOfWorkUnits(oneThread ? 1 : itk::MultiThreaderBase::GetGlobalDefaultNumberOfThreads());
  filter->Update(); // starts CUDA, threads, and fills pools
  for (auto _ : state)
  {
    filter->Modified();
    filter->Update();
  }
  state.counters["regions"] = static_cast<double>(filter->GetNumberOfRegions());
  state.counters["pixels_per_second"] =
    benchmark::Counter(static_cast<double>(side * side), benchmark::Counter::kIsIterationInvariantRate);
}

[[maybe_unused]] const bool Registered = [] {
  using Backend = CudaFiltersEnums::Backend;
  const auto add =
    [](const char * name, Backend backend, bool oneThread, bool labelsOnly, const std::vector<int64_t> & sides) {
      auto * const row = benchmark::RegisterBenchmark(
        name, [=](benchmark::State & state) { RunPartition(state, backend, oneThread, labelsOnly); });
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
  return true;
}();
} // namespace
