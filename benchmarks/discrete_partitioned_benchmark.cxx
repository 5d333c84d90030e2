// SPDX-License-Identifier: Apache-2.0

// Benchmarks convolution and ITK's convolution, and the partitioned filter on the GPU and on the host's cores, from
// host to host as in gaussian_benchmark.cxx.

#include "host_to_host_benchmark.h"
#include "itkCudaDiscreteGaussianImageFilter.h"
#include "itkCudaPartitionedRecursiveGaussianImageFilter.h"

namespace
{
using namespace benchmark_filters;

template <unsigned int VDimension>
void
RegisterDiscrete(const std::string & suffix, const Sides & sides, const Sides & hostSides)
{
  using FilterType = itk::CudaDiscreteGaussianImageFilter<itk::Image<float, VDimension>>;
  RegisterFilter<FilterType>(
    "discrete" + suffix, sides, hostSides, { 100, 400 }, [](FilterType & filter, double sigma) {
      filter.SetVariance(sigma * sigma);
      filter.SetMaximumError(1e-4);
      filter.SetMaximumKernelWidth(1000);
    });
}

template <unsigned int VDimension>
void
RegisterPartitioned(const std::string & name,
                    const std::string & partition,
                    const Sides &       sides,
                    const Sides &       hostSides)
{
  using FilterType = itk::CudaPartitionedRecursiveGaussianImageFilter<itk::Image<float, VDimension>>;
  RegisterFilter<FilterType>(
    name,
    sides,
    hostSides,
    { 1500 },
    [partition](FilterType & filter, double sigma) {
      filter.SetSigma(sigma);
      filter.SetPartition(partition);
    },
    "host");
}

[[maybe_unused]] const bool Registered = [] {
  RegisterDiscrete<2>("/2d", Sides2D, { 256, 1024, 4096 });
  RegisterDiscrete<3>("/3d", Sides3D, { 64, 256 });
  for (const std::string partition : { "OneWay", "TwoWay", "Exact" })
  {
    RegisterPartitioned<2>("partitioned/" + partition + "/2d", partition, { 128, 512, 2048, 8192 }, { 512, 2048 });
    RegisterPartitioned<3>("partitioned/" + partition + "/3d", partition, { 32, 128, 512 }, {});
  }
  return true;
}();
} // namespace
