// SPDX-License-Identifier: Apache-2.0

// Whole filters as a user calls them, from an image in ordinary host memory to the filter's own output; and ITK's
// filter on all cores beside them, in the same process. Plans, transfers and memory are part of the time; the first
// run, which starts CUDA and fills the pools, is not.

#include "itkCudaFiltersConfiguration.h"
#include "itkCudaSmoothingRecursiveGaussianImageFilter.h"
#include "itkImage.h"

#include <benchmark/benchmark.h>

#include <random>
#include <string>

namespace
{
template <unsigned int VDimension>
typename itk::Image<float, VDimension>::Pointer
MakeRandomImage(itk::SizeValueType side)
{
  using ImageType = itk::Image<float, VDimension>;
  auto                         image = ImageType::New();
  typename ImageType::SizeType size;
  size.Fill(side);
  image->SetRegions(size);
  image->Allocate();
  std::mt19937                          generator(1);
  std::uniform_real_distribution<float> uniform(0.0f, 1.0f);
  float * const                         pixels = image->GetBufferPointer();
  const size_t                          count = image->GetBufferedRegion().GetNumberOfPixels();
  for (size_t i = 0; i < count; ++i)
  {
    pixels[i] = uniform(generator);
  }
  return image;
}

/** Arguments: side of the image; sigma in hundredths of a pixel. */
template <unsigned int VDimension>
void
RunSmoothing(benchmark::State & state, itk::CudaFiltersEnums::Backend backend)
{
  std::string reason;
  if (backend == itk::CudaFiltersEnums::Backend::Cuda && !itk::CudaFiltersConfiguration::IsDeviceUsable(-1, reason))
  {
    state.SkipWithError(reason.c_str());
    return;
  }
  using ImageType = itk::Image<float, VDimension>;
  const auto image = MakeRandomImage<VDimension>(static_cast<itk::SizeValueType>(state.range(0)));
  const auto filter = itk::CudaSmoothingRecursiveGaussianImageFilter<ImageType>::New();
  filter->SetInput(image);
  filter->SetSigma(0.01 * static_cast<double>(state.range(1)));
  filter->SetBackend(backend);
  filter->Update();
  for (auto _ : state)
  {
    filter->GetOutput()->ReleaseData();
    filter->Modified();
    filter->Update();
  }
  const double pixels = static_cast<double>(image->GetBufferedRegion().GetNumberOfPixels());
  state.counters["pixels_per_second"] = benchmark::Counter(pixels, benchmark::Counter::kIsIterationInvariantRate);
}

void
BM_HostToHost2D(benchmark::State & state)
{
  RunSmoothing<2>(state, itk::CudaFiltersEnums::Backend::Cuda);
}
void
BM_HostToHost3D(benchmark::State & state)
{
  RunSmoothing<3>(state, itk::CudaFiltersEnums::Backend::Cuda);
}
void
BM_ITK2D(benchmark::State & state)
{
  RunSmoothing<2>(state, itk::CudaFiltersEnums::Backend::Host);
}
void
BM_ITK3D(benchmark::State & state)
{
  RunSmoothing<3>(state, itk::CudaFiltersEnums::Backend::Host);
}

void
Define2D(benchmark::internal::Benchmark * rows)
{
  rows->ArgNames({ "side", "sigma_percent" })->UseRealTime()->Unit(benchmark::kMillisecond);
  rows->ArgsProduct({ { 128, 256, 1024, 4096, 8192 }, { 400 } });
}

void
Define3D(benchmark::internal::Benchmark * rows)
{
  rows->ArgNames({ "side", "sigma_percent" })->UseRealTime()->Unit(benchmark::kMillisecond);
  rows->ArgsProduct({ { 64, 256, 512 }, { 400 } });
}

BENCHMARK(BM_HostToHost2D)->Name("host_to_host/2d")->Apply(Define2D);
BENCHMARK(BM_HostToHost3D)->Name("host_to_host/3d")->Apply(Define3D);
BENCHMARK(BM_ITK2D)->Name("itk/2d")->Apply(Define2D);
BENCHMARK(BM_ITK3D)->Name("itk/3d")->Apply(Define3D);
} // namespace

BENCHMARK_MAIN();
