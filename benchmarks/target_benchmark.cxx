// SPDX-License-Identifier: Apache-2.0

// Benchmarks the detection and the outlines of many small targets: disks of 201 pixels in 4-look speckle, one in each
// square of 100 x 100 pixels, three times as bright as the background.
//
// The rows detection time Update() of CudaConstantFalseAlarmRateImageFilter with windows of 9, 31 and 61 pixels, which
// fit the disks, and the rows outlines time Update() of CudaRegionSnakeBatchFilter from a rectangle inside each disk.
// host_to_host is the GPU with images in ordinary memory, host is all cores, and in rows that begin with resident the
// image is a device image, as are the labels of detection. `targets` counts the targets that were found, and `overlap`
// is the mean over all outlines of the intersection with the disk divided by the union.

#include "benchmark_device.h"
#include "itkCudaConstantFalseAlarmRateImageFilter.h"
#include "itkCudaRegionSnakeBatchFilter.h"
#include "itkCudaUploadImageFilter.h"
#include "itkMultiThreaderBase.h"

#include <benchmark/benchmark.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <random>
#include <string>
#include <type_traits>
#include <vector>

namespace
{
using benchmark_filters::IsDeviceMissing;
using itk::CudaFiltersEnums;
using ImageType = itk::Image<unsigned short, 2>;
using LabelType = itk::Image<unsigned int, 2>;
using DeviceImageType = itk::CudaDeviceImage<unsigned short, 2>;

constexpr itk::SizeValueType Cell = 100;
constexpr double             Radius = 8.0;
constexpr double             Looks = 4.0;

/** Returns the centre of the disk in a cell, in pixels from the cell's corner. It differs from cell to cell. */
std::array<double, 2>
GetCentre(itk::SizeValueType column, itk::SizeValueType row)
{
  std::minstd_rand                       generator(static_cast<unsigned int>(1 + column + 1000 * row));
  std::uniform_real_distribution<double> uniform(Radius, static_cast<double>(Cell) - Radius);
  const double                           x = uniform(generator);
  return { { x, uniform(generator) } };
}

bool
IsInDisk(itk::SizeValueType x, itk::SizeValueType y)
{
  const auto [centreX, centreY] = GetCentre(x / Cell, y / Cell);
  return std::hypot(static_cast<double>(x % Cell) + 0.5 - centreX, static_cast<double>(y % Cell) + 0.5 - centreY) <
         Radius;
}

/** Returns the scene of that side. The last image is cached, because Google Benchmark calls a row several times. */
ImageType::Pointer
GetTargetScene(itk::SizeValueType side)
{
  static ImageType::Pointer kept;
  if (kept && kept->GetBufferedRegion().GetSize(0) == side)
  {
    return kept;
  }
  kept = ImageType::New();
  kept->SetRegions(ImageType::SizeType{ { side, side } });
  kept->Allocate();
  unsigned short * const pixels = kept->GetBufferPointer();
  itk::MultiThreaderBase::New()->ParallelizeArray(
    0,
    side,
    [=](itk::SizeValueType y) {
      std::mt19937                       generator(static_cast<unsigned int>(y));
      std::gamma_distribution<float>     speckle(Looks, static_cast<float>(1.0 / Looks));
      std::vector<std::array<double, 2>> centres;
      for (itk::SizeValueType column = 0; column * Cell < side; ++column)
      {
        centres.push_back(GetCentre(column, y / Cell));
      }
      for (itk::SizeValueType x = 0; x < side; ++x)
      {
        const auto [centreX, centreY] = centres[x / Cell];
        const bool isTarget = std::hypot(static_cast<double>(x % Cell) + 0.5 - centreX,
                                         static_cast<double>(y % Cell) + 0.5 - centreY) < Radius;
        pixels[y * side + x] =
          static_cast<unsigned short>(std::min((isTarget ? 600.0F : 200.0F) * speckle(generator), 65535.0F));
      }
    },
    nullptr);
  return kept;
}

/** Returns a filter with the parameters that all rows have in common. */
template <typename TFilter>
typename TFilter::Pointer
MakeFilter(const typename TFilter::InputImageType * image, CudaFiltersEnums::Backend backend)
{
  auto filter = TFilter::New();
  filter->SetInput(image);
  filter->SetBackend(backend);
  filter->SetNoiseLaw(CudaFiltersEnums::NoiseLaw::Gamma);
  filter->SetNumberOfLooks(Looks);
  return filter;
}

template <typename TFilter>
void
Time(benchmark::State & state, TFilter * filter)
{
  filter->Update(); // starts CUDA, threads, and fills pools
  for (auto _ : state)
  {
    filter->Modified();
    filter->Update();
    if constexpr (itk::CudaIsDeviceImage<typename TFilter::OutputImageType>::value)
    {
      filter->GetOutput()->Synchronize();
    }
  }
  const auto side = static_cast<double>(state.range(0));
  state.counters["pixels_per_second"] = benchmark::Counter(side * side, benchmark::Counter::kIsIterationInvariantRate);
}

template <typename TFilter>
void
Detect(benchmark::State & state, const typename TFilter::InputImageType * image, CudaFiltersEnums::Backend backend)
{
  const auto filter = MakeFilter<TFilter>(image, backend);
  filter->SetTargetWindow({ { 9, 9 } });
  filter->SetGuardWindow({ { 31, 31 } });
  filter->SetBackgroundWindow({ { 61, 61 } });
  Time(state, filter.GetPointer());
  state.counters["targets"] = static_cast<double>(filter->GetNumberOfDetections());
}

/** Returns how well the outlines match the disks: the mean over all cells of intersection divided by union. The label i
 * + 1 is that of the cell i. */
double
GetOverlap(const LabelType * labels)
{
  const itk::SizeValueType        side = labels->GetBufferedRegion().GetSize(0);
  const itk::SizeValueType        columns = side / Cell;
  std::vector<std::array<int, 2>> counts(columns * columns); // intersection and union
  for (itk::SizeValueType y = 0; y < columns * Cell; ++y)
  {
    for (itk::SizeValueType x = 0; x < columns * Cell; ++x)
    {
      const itk::SizeValueType cell = y / Cell * columns + x / Cell;
      const bool               isFound = labels->GetBufferPointer()[y * side + x] == cell + 1;
      const bool               isTarget = IsInDisk(x, y);
      counts[cell][0] += isFound && isTarget;
      counts[cell][1] += isFound || isTarget;
    }
  }
  double sum = 0.0;
  for (const auto & [both, either] : counts)
  {
    sum += static_cast<double>(both) / either;
  }
  return sum / static_cast<double>(counts.size());
}

template <typename TFilter>
void
FindOutlines(benchmark::State &                       state,
             const typename TFilter::InputImageType * image,
             CudaFiltersEnums::Backend                backend)
{
  const auto               filter = MakeFilter<TFilter>(image, backend);
  const itk::SizeValueType columns = image->GetLargestPossibleRegion().GetSize(0) / Cell;
  for (itk::SizeValueType row = 0; row < columns; ++row)
  {
    for (itk::SizeValueType column = 0; column < columns; ++column)
    {
      const auto [x, y] = GetCentre(column, row);
      filter->AddInitialRegion({ { { static_cast<itk::IndexValueType>(column * Cell + x) - 5,
                                     static_cast<itk::IndexValueType>(row * Cell + y) - 5 } },
                                 { { 10, 10 } } });
    }
  }
  Time(state, filter.GetPointer());
  state.counters["targets"] = static_cast<double>(filter->GetNumberOfRegions());
  state.counters["overlap"] = GetOverlap(filter->GetOutput());
}

template <typename TImage>
struct Filters
{
  using Labels =
    std::conditional_t<itk::CudaIsDeviceImage<TImage>::value, itk::CudaDeviceImage<unsigned int, 2>, LabelType>;
  using Detection = itk::CudaConstantFalseAlarmRateImageFilter<TImage, Labels>;
  using Outlines = itk::CudaRegionSnakeBatchFilter<TImage, LabelType>;
};

void
Run(benchmark::State & state, CudaFiltersEnums::Backend backend, bool isResident, bool findsOutlines)
{
  if (backend == CudaFiltersEnums::Backend::Cuda && IsDeviceMissing(state))
  {
    return;
  }
  const auto run = [&](const auto & image) {
    using FiltersType = Filters<std::decay_t<decltype(*image)>>;
    if (findsOutlines)
    {
      FindOutlines<typename FiltersType::Outlines>(state, image, backend);
    }
    else
    {
      Detect<typename FiltersType::Detection>(state, image, backend);
    }
  };
  const ImageType::Pointer scene = GetTargetScene(static_cast<itk::SizeValueType>(state.range(0)));
  if (isResident)
  {
    const DeviceImageType::Pointer image = itk::CudaUpload(scene);
    run(image.GetPointer());
  }
  else
  {
    run(scene.GetPointer());
  }
}

[[maybe_unused]] const bool Registered = [] {
  const auto add = [](const std::string & place, CudaFiltersEnums::Backend backend, bool isResident) {
    for (const bool findsOutlines : { false, true })
    {
      const auto row = [=](benchmark::State & state) { Run(state, backend, isResident, findsOutlines); };
      benchmark::RegisterBenchmark((place + (findsOutlines ? "/outlines" : "/detection")).c_str(), row)
        ->ArgName("side")
        ->Arg(2000)
        ->Arg(10000) // 100 megapixels and 10,000 targets
        ->UseRealTime()
        ->Unit(benchmark::kMillisecond)
        ->MinTime(0.1);
    }
  };
  add("resident", CudaFiltersEnums::Backend::Cuda, true);
  add("host_to_host", CudaFiltersEnums::Backend::Cuda, false);
  add("host", CudaFiltersEnums::Backend::Host, false);
  return true;
}();
} // namespace
