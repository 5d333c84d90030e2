// SPDX-License-Identifier: Apache-2.0

// Benchmarks complete recursive Gaussian filters as users call them, from an image in ordinary host memory to the
// filter's own output, and ITK's filters on all cores in the same process. The time includes plans, transfers and
// allocations, but not the first run, which starts CUDA and fills the memory pools.

#include "host_to_host_benchmark.h"
#include "itkCudaGradientMagnitudeRecursiveGaussianImageFilter.h"
#include "itkCudaGradientRecursiveGaussianImageFilter.h"
#include "itkCudaHessianRecursiveGaussianImageFilter.h"
#include "itkCudaLaplacianRecursiveGaussianImageFilter.h"
#include "itkCudaRecursiveGaussianImageFilter.h"
#include "itkCudaSmoothingRecursiveGaussianImageFilter.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <iterator>

namespace
{
using namespace benchmark_filters;

const std::vector<int64_t> Sigmas{ 400 };

template <typename TFilter>
void
SetSigma(TFilter & filter, double sigma)
{
  filter.SetSigma(sigma);
}

template <typename TFilter>
void
RegisterWithSigma(const std::string & name, const Sides & sides, const Sides & hostSides)
{
  RegisterFilter<TFilter>(name, sides, hostSides, Sigmas, SetSigma<TFilter>);
}

/** Derivatives of float images in float. ITK's composites take a multiple of the smoothing's time, and are measured
 * only up to `hostSides`. */
template <unsigned int VDimension>
void
RegisterFamily(const std::string & suffix, const Sides & sides, const Sides & hostSides)
{
  using ImageType = itk::Image<float, VDimension>;
  using GradientType = itk::Image<itk::CovariantVector<float, VDimension>, VDimension>;
  using HessianType = itk::Image<itk::SymmetricSecondRankTensor<float, VDimension>, VDimension>;
  RegisterWithSigma<itk::CudaGradientMagnitudeRecursiveGaussianImageFilter<ImageType>>(
    "magnitude" + suffix, sides, hostSides);
  RegisterWithSigma<itk::CudaLaplacianRecursiveGaussianImageFilter<ImageType>>("laplacian" + suffix, sides, hostSides);
  RegisterWithSigma<itk::CudaGradientRecursiveGaussianImageFilter<ImageType, GradientType>>(
    "gradient" + suffix, sides, hostSides);
  RegisterWithSigma<itk::CudaHessianRecursiveGaussianImageFilter<ImageType, HessianType>>(
    "hessian" + suffix, sides, hostSides);
}

template <unsigned int VDimension>
void
RegisterSmoothing(const std::string & suffix,
                  const Sides &       sides,
                  const Sides &       singleSides,
                  const Sides &       singleHostSides)
{
  using ImageType = itk::Image<float, VDimension>;
  using SmoothingType = itk::CudaSmoothingRecursiveGaussianImageFilter<ImageType>;
  RegisterWithSigma<SmoothingType>("smoothing" + suffix, sides, sides);
  Sides middle;
  std::copy_if(sides.begin(), sides.end(), std::back_inserter(middle), [](int64_t side) {
    constexpr double most = 1024.0 * 1024.0 * 2.0;
    return std::pow(static_cast<double>(side), VDimension) <= most;
  });
  const int64_t sigma = Sigmas.front();
  RegisterUse<SmoothingType>("new_filters/smoothing" + suffix, middle, sigma, SetSigma<SmoothingType>, Use::NewFilters);
  RegisterUse<SmoothingType>(
    "kept_outputs/smoothing" + suffix, middle, sigma, SetSigma<SmoothingType>, Use::KeptOutputs);
  RegisterWithSigma<itk::CudaRecursiveGaussianImageFilter<ImageType>>(
    "one_axis" + suffix, singleSides, singleHostSides);
}

[[maybe_unused]] const bool Registered = [] {
  RegisterSmoothing<2>("/2d", { 128, 256, 384, 512, 640, 1024, 2048, 4096, 8192, 16384 }, Sides2D, { 256, 4096 });
  RegisterSmoothing<3>("/3d", { 32, 64, 80, 96, 128, 256, 512, 1024 }, Sides3D, { 64, 256 });
  RegisterFamily<2>("/2d", Sides2D, { 256, 1024, 4096 });
  RegisterFamily<3>("/3d", Sides3D, { 64, 256 });
  return true;
}();
} // namespace

int
main(int argc, char * argv[])
{
  // Insert this argument before the others, so that these can override the time.
  char                time[] = "--benchmark_min_time=0.1";
  std::vector<char *> arguments(argv, argv + argc);
  arguments.insert(arguments.begin() + std::min(argc, 1), time);
  int count = static_cast<int>(arguments.size());
  benchmark::Initialize(&count, arguments.data());
  if (benchmark::ReportUnrecognizedArguments(count, arguments.data()))
  {
    return EXIT_FAILURE;
  }
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return EXIT_SUCCESS;
}
