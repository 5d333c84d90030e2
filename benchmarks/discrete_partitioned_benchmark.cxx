// SPDX-License-Identifier: Apache-2.0

// Host to host, as in gaussian_benchmark.cxx: convolution beside ITK's, and the partitioned filter beside its own
// implementation on the host's cores.

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

void
RegisterPartitioned(const std::string & partition, const Sides & sides, const Sides & hostSides)
{
  using FilterType = itk::CudaPartitionedRecursiveGaussianImageFilter<itk::Image<float, 2>>;
  RegisterFilter<FilterType>(
    "partitioned/" + partition + "/2d",
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
  RegisterDiscrete<2>("/2d", { 256, 1024, 4096 }, { 256, 1024, 4096 });
  RegisterDiscrete<3>("/3d", { 64, 256, 512 }, { 64, 256 });
  for (const char * partition : { "OneWay", "TwoWay", "Exact" })
  {
    RegisterPartitioned(partition, { 512, 2048, 8192 }, { 512, 2048 });
  }
  return true;
}();
} // namespace
