// SPDX-License-Identifier: Apache-2.0
#ifndef host_to_host_benchmark_h
#define host_to_host_benchmark_h

#include "benchmark_device.h"
#include "benchmark_sides.h"
#include "itkCudaFiltersEnums.h"
#include "itkImage.h"

#include <benchmark/benchmark.h>

#include <algorithm>
#include <functional>
#include <random>
#include <string>
#include <vector>

namespace benchmark_filters
{
/** Returns a square or cubic image of random pixels in ordinary memory. The last image is cached, because Google
 * Benchmark calls a row several times. */
template <unsigned int VDimension>
typename itk::Image<float, VDimension>::Pointer
GetRandomImage(itk::SizeValueType side)
{
  using ImageType = itk::Image<float, VDimension>;
  static typename ImageType::Pointer kept;
  if (kept && kept->GetBufferedRegion().GetSize()[0] == side)
  {
    return kept;
  }
  kept = ImageType::New();
  typename ImageType::SizeType size;
  size.Fill(side);
  kept->SetRegions(size);
  kept->Allocate();
  float * const pixels = kept->GetBufferPointer();
  const size_t  count = kept->GetBufferedRegion().GetNumberOfPixels();
  // Repeat a random block, because random numbers for gigabytes would take longer than the measurement.
  const size_t                          block = std::min<size_t>(count, size_t{ 1 } << 22);
  std::mt19937                          generator(1);
  std::uniform_real_distribution<float> uniform(0.0f, 1.0f);
  std::generate_n(pixels, block, [&] { return uniform(generator); });
  for (size_t i = block; i < count; i += block)
  {
    std::copy_n(pixels, std::min(block, count - i), pixels + i);
  }
  return kept;
}

/** How a program uses a filter in a loop: it updates the same filter, it makes a new one each time, or it also keeps
 * the outputs, whose memory is new each time. */
enum class Use
{
  SameFilter,
  NewFilters,
  KeptOutputs
};

/** Arguments of a row: side of the image; sigma in hundredths of a pixel. */
template <typename TFilter>
void
RunFilter(benchmark::State &                             state,
          itk::CudaFiltersEnums::Backend                 backend,
          const std::function<void(TFilter &, double)> & configure,
          Use                                            use = Use::SameFilter)
{
  if (backend == itk::CudaFiltersEnums::Backend::Cuda && IsDeviceMissing(state))
  {
    return;
  }
  const auto image =
    GetRandomImage<TFilter::InputImageType::ImageDimension>(static_cast<itk::SizeValueType>(state.range(0)));
  const auto makeFilter = [&] {
    const auto filter = TFilter::New();
    filter->SetInput(image);
    configure(*filter, 0.01 * static_cast<double>(state.range(1)));
    filter->SetBackend(backend);
    return filter;
  };
  auto         filter = makeFilter();
  const size_t pixels = image->GetBufferedRegion().GetNumberOfPixels();
  // Warm up: the first run starts CUDA and threads, and fills memory pools. This is negligible for large images on the
  // host, which take seconds.
  if (backend == itk::CudaFiltersEnums::Backend::Cuda || pixels < size_t{ 1 } << 24)
  {
    filter->Update();
  }
  std::vector<typename TFilter::OutputImageType::Pointer> kept;
  for (auto _ : state)
  {
    if (use == Use::SameFilter)
    {
      filter->GetOutput()->ReleaseData();
      filter->Modified();
    }
    else
    {
      filter = makeFilter();
    }
    filter->Update();
    if (use == Use::KeptOutputs)
    {
      kept.emplace_back(filter->GetOutput());
    }
  }
  state.counters["pixels_per_second"] =
    benchmark::Counter(static_cast<double>(pixels), benchmark::Counter::kIsIterationInvariantRate);
}

/** Registers rows host_to_host/NAME, from an image in ordinary memory to the filter's own output, for every side and
 * sigma; and rows HOST/NAME on the host for the sides in `hostSides`. HOST is itk if the host runs ITK's superclass on
 * all cores. */
template <typename TFilter>
void
RegisterFilter(const std::string &                            name,
               const Sides &                                  sides,
               const Sides &                                  hostSides,
               const std::vector<int64_t> &                   sigmas,
               const std::function<void(TFilter &, double)> & configure,
               const std::string &                            host = "itk")
{
  const auto add = [&](const std::string & prefix, const Sides & these, itk::CudaFiltersEnums::Backend backend) {
    benchmark::RegisterBenchmark((prefix + '/' + name).c_str(),
                                 [=](benchmark::State & state) { RunFilter<TFilter>(state, backend, configure); })
      ->ArgNames({ "side", "sigma_percent" })
      ->ArgsProduct({ these, sigmas })
      ->UseRealTime()
      ->Unit(benchmark::kMillisecond);
  };
  add("host_to_host", sides, itk::CudaFiltersEnums::Backend::Cuda);
  add(host, hostSides, itk::CudaFiltersEnums::Backend::Host);
}

/** Registers rows NAME of programs that make a new filter for each image, for every side. */
template <typename TFilter>
void
RegisterUse(const std::string &                            name,
            const Sides &                                  sides,
            int64_t                                        sigma,
            const std::function<void(TFilter &, double)> & configure,
            Use                                            use)
{
  benchmark::RegisterBenchmark(
    name.c_str(),
    [=](benchmark::State & state) { RunFilter<TFilter>(state, itk::CudaFiltersEnums::Backend::Cuda, configure, use); })
    ->ArgNames({ "side", "sigma_percent" })
    ->ArgsProduct({ sides, { sigma } })
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);
}
} // namespace benchmark_filters

#endif
