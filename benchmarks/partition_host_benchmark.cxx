// SPDX-License-Identifier: Apache-2.0

// Benchmarks the two implementations of the partition's searches on the host, with the scenes of
// partition_benchmark.cxx: rows host_stages/... run the implementation for the host, and rows host_executor/... the
// templates that also run on the device, on HostExecutor. Both give the same result. Rows .../partition_labels make the
// label map, rows .../partition_map build its map of polygons and refine it, and rows .../partition_labels_and_map do
// both. They run on all cores, and rows .../one_thread on one. Reading the image, its sums, and the results are not
// timed.

#include "itkCudaDetailRegionPartitionEngine.h"
#include "itkMultiThreaderBase.h"
#include "partition/executor/HostExecutor.h"
#include "partition/labels/Estimates.h"
#include "partition/labels/LabelMaker.h"
#include "partition/labels/LabelSearch.h"
#include "partition/map/Map.h"
#include "partition/map/MapSearch.h"
#include "partition_benchmark_scene.h"
#include "region/Laws.h"
#include "region/Math.h"
#include "region/Samples.h"
#include "region/Tables.h"
#include "runtime/DetailNames.h"

#include <benchmark/benchmark.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

namespace
{
using namespace itk::cuda::partition;
namespace region = itk::cuda::region;
using SceneOfRow = benchmark_filters::Scene;
using benchmark_filters::SceneImage;

constexpr int32_t  BlockSize = 4;
constexpr uint64_t MinimumNumberOfPixels = 8;
/** Maximum number of chain vertices whose chord costs are in memory at a time. HostExecutor keeps no such costs. */
constexpr size_t LargestPart = size_t{ 1 } << 14;

enum class Stage
{
  Labels,
  Map,
  All
};

/** The image of a row with its sums and its law. */
class PreparedScene
{
public:
  PreparedScene(SceneImage * image, SceneOfRow scene, const region::Threads & threads)
    : m_Samples(DescribeInput(image), ParametersOf(scene), threads)
    , m_Sums(m_Samples, region::UsesSquares(LawOf(scene)), 0u, threads)
    , m_Tables(m_Sums, m_Sums.GetWhole(), 0u, threads)
    , Pixels(m_Tables.GetLevel(0), m_Samples)
    , TheWork(threads)
    , Width(static_cast<int32_t>(image->GetBufferedRegion().GetSize(0)))
    , Height(static_cast<int32_t>(image->GetBufferedRegion().GetSize(1)))
  {
    Description.Law = { LawOf(scene), 1.0, static_cast<int64_t>(m_Samples.NumberOfValidPixels) };
    if (scene == SceneOfRow::Picture)
    {
      Description.Law.NumberOfLooks = EstimateNumberOfLooks(Pixels, LawOf(scene), TheWork);
    }
    Description.LogNumberOfPixels = region::Log(static_cast<double>(image->GetBufferedRegion().GetNumberOfPixels()));
  }

private:
  const region::Samples m_Samples;
  const region::RowSums m_Sums;
  const region::Tables  m_Tables;

public:
  const Scene   Pixels;
  const Work    TheWork;
  const int32_t Width;
  const int32_t Height;
  Model         Description;

private:
  static region::NoiseLaw
  LawOf(SceneOfRow scene)
  {
    return scene == SceneOfRow::Picture ? region::NoiseLaw::Rayleigh : region::NoiseLaw::Gamma;
  }
  static itk::CudaDetail::CudaRegionSnakeParameters
  ParametersOf(SceneOfRow scene)
  {
    itk::CudaDetail::CudaRegionSnakeParameters parameters;
    parameters.NoiseLaw = LawOf(scene);
    return parameters;
  }
  static itk::CudaDetail::CudaRegionSnakeInput
  DescribeInput(SceneImage * image)
  {
    const auto                            size = image->GetBufferedRegion().GetSize();
    itk::CudaDetail::CudaRegionSnakeInput input;
    input.Image.Data = image->GetBufferPointer();
    input.Image.ComponentType = itk::CudaComponentType::UShort;
    input.Image.Size = { { size[0], size[1], 1, 1 } };
    input.Image.Stride = { { 1, size[0], size[0] * size[1], size[0] * size[1] } };
    return input;
  }
};

/** Times the implementation for the host. */
void
RunStages(benchmark::State & state, const PreparedScene & scene, const region::Threads & threads, Stage stage)
{
  const auto findLabels = [&] { return MakeLabelMap(scene.Pixels, scene.Description, BlockSize, scene.TheWork).Map; };
  const LabelMap labels = findLabels();
  for (auto _ : state)
  {
    const LabelMap found = stage == Stage::Map ? LabelMap{} : findLabels();
    if (stage != Stage::Labels)
    {
      PlanarMap map(
        stage == Stage::Map ? labels : found, scene.Pixels.Pixels, scene.Description, MinimumNumberOfPixels, threads);
      map.Refine({});
    }
  }
  state.counters["regions_of_labels"] = static_cast<double>(labels.Regions.size() - 1);
}

/** Times the templates. As in a run of the partition, each repetition has an executor of its own. */
template <typename TExecutor>
void
RunTemplates(benchmark::State & state, const PreparedScene & scene, const region::Threads & threads, Stage stage)
{
  const LabelMap labels = MakeLabelMap(scene.Pixels, scene.Description, BlockSize, scene.TheWork).Map;
  for (auto _ : state)
  {
    const TExecutor        executor(scene.Pixels, threads);
    LabelSearch<TExecutor> search(executor, scene.Description, scene.Width, scene.Height);
    if (stage != Stage::Map)
    {
      search.Search(BlockSize, {});
    }
    if (stage != Stage::Labels)
    {
      MapSearch<TExecutor> map(
        executor, scene.Description, MinimumNumberOfPixels, scene.Width, scene.Height, LargestPart);
      if (stage == Stage::Map)
      {
        map.StartFrom(executor.Upload(labels.Labels.data(), labels.Labels.size()),
                      executor.Upload(labels.Regions.data(), labels.Regions.size()),
                      labels.Regions.size() - 1);
      }
      else
      {
        const size_t regions = search.GetNumberOfRegions();
        map.StartFrom(search.TakeLabels(), search.TakeRegions(), regions);
      }
      map.Refine({});
    }
  }
  state.counters["regions_of_labels"] = static_cast<double>(labels.Regions.size() - 1);
}

void
RunSearch(benchmark::State & state, bool usesExecutor, bool oneThread, Stage stage, SceneOfRow sceneOfRow)
{
  const SceneImage::Pointer image = benchmark_filters::GetScene(state, sceneOfRow);
  if (!image)
  {
    return;
  }
  const region::Threads threads(oneThread ? 1 : itk::MultiThreaderBase::GetGlobalDefaultNumberOfThreads());
  const PreparedScene   scene(image, sceneOfRow, threads);
  if (!usesExecutor)
  {
    RunStages(state, scene, threads, stage);
  }
  else if (threads.GetNumber() == 1)
  {
    RunTemplates<SerialHostExecutor>(state, scene, threads, stage);
  }
  else
  {
    RunTemplates<ThreadedHostExecutor>(state, scene, threads, stage);
  }
}

[[maybe_unused]] const bool Registered = [] {
  const std::pair<Stage, const char *>      stages[] = { { Stage::Labels, "partition_labels" },
                                                         { Stage::Map, "partition_map" },
                                                         { Stage::All, "partition_labels_and_map" } };
  const std::pair<SceneOfRow, const char *> scenes[] = { { SceneOfRow::Fields, "" },
                                                         { SceneOfRow::OneField, "_of_one_field" },
                                                         { SceneOfRow::Picture, "_of_picture" } };
  for (const auto & [stage, nameOfStage] : stages)
  {
    for (const auto & [scene, nameOfScene] : scenes)
    {
      for (const bool oneThread : { false, true })
      {
        for (const bool usesExecutor : { false, true })
        {
          const std::string name = std::string(usesExecutor ? "host_executor/" : "host_stages/") + nameOfStage +
                                   nameOfScene + (oneThread ? "/one_thread" : "");
          benchmark::RegisterBenchmark(
            name.c_str(),
            [usesExecutor, oneThread, stage = stage, scene = scene](benchmark::State & state) {
              RunSearch(state, usesExecutor, oneThread, stage, scene);
            })
            ->ArgName("side")
            ->Arg(1000)
            ->Arg(4000)
            ->UseRealTime()
            ->Unit(benchmark::kMillisecond)
            ->MinTime(0.1);
        }
      }
    }
  }
  return true;
}();
} // namespace
