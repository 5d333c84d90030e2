// SPDX-License-Identifier: Apache-2.0
#include "itkCudaDetailRegionPartitionEngine.h"

#include "runtime/DetailNames.h"
#include "partition/Partition.h"
#include "executor/HostImages.h"
#include "executor/LabelPixels.h"
#include "region/Checks.h"
#include "itkMacro.h"

#include <cmath>

// Checks the parameters and the images of a partition, and runs it on the host. DeviceRun.cxx runs it on a device.

namespace itk
{
namespace cuda::partition
{
namespace
{
constexpr double       MaximumSegmentCost = 1e100;
constexpr unsigned int MaximumBlockSize = 64;
constexpr unsigned int LargestNumberOfIterations = 1000000;
constexpr size_t       MaximumHostPixels = (size_t{ 1 } << 31) - 1; // 31 bits hold the index of a pixel
} // namespace

void
CheckInput(const CudaRegionPartitionInput & input)
{
  region::CheckImage(input.Image, input.ValidMask);
  if (input.Image.GetNumberOfPixels() > MaximumHostPixels)
  {
    itkGenericExceptionMacro("The image has " << input.Image.GetNumberOfPixels()
                                              << " pixels; a partition takes at most " << MaximumHostPixels);
  }
  if (input.InitialLabels != nullptr)
  {
    region::CheckSize(*input.InitialLabels,
                      CudaComponentType::UInt,
                      input.Image.Size[0],
                      input.Image.Size[1],
                      "The image of initial labels");
  }
}
} // namespace cuda::partition

namespace CudaDetail
{
void
VerifyCudaRegionPartitionParameters(const CudaRegionPartitionParameters & parameters)
{
  using namespace cuda::region;
  using namespace cuda::partition;
  CheckNoiseLaw(parameters.NoiseLaw);
  Require(parameters.NumberOfLooks >= 0.0 && parameters.NumberOfLooks <= MaximumNumberOfLooks,
          "NumberOfLooks",
          parameters.NumberOfLooks,
          "a number above 0, or 0 for an estimate, and at most 1e9");
  CheckForegroundThreshold(parameters.ForegroundThreshold);
  // The description of many segments stays finite.
  Require(parameters.SegmentCost >= 0.0 && parameters.SegmentCost <= MaximumSegmentCost,
          "SegmentCost",
          parameters.SegmentCost,
          "0 or more nats, and at most 1e100");
  Require(parameters.BlockSize >= 1 && parameters.BlockSize <= MaximumBlockSize &&
            (parameters.BlockSize & (parameters.BlockSize - 1)) == 0,
          "BlockSize",
          parameters.BlockSize,
          "1, 2, 4, 8, 16, 32 or 64");
  Require(
    parameters.MinimumNumberOfPixels >= 1, "MinimumNumberOfPixels", parameters.MinimumNumberOfPixels, "1 or more");
  Require(parameters.MaximumNumberOfIterations >= 1 &&
            parameters.MaximumNumberOfIterations <= LargestNumberOfIterations,
          "MaximumNumberOfIterations",
          parameters.MaximumNumberOfIterations,
          Between(1, LargestNumberOfIterations));
}

CudaRegionPartitionResult
CudaRegionPartitionOnHost(const CudaRegionPartitionInput &      input,
                          const CudaRegionPartitionParameters & parameters,
                          const CudaImageView &                 labels,
                          unsigned int                          numberOfThreads,
                          const CudaRegionPartitionObserver &   observer)
{
  using namespace cuda::partition;
  namespace region = cuda::region;
  VerifyCudaRegionPartitionParameters(parameters);
  CheckInput(input);
  region::CheckLabels(labels, input.Image);
  const PartitionRequest request{ parameters, input.InitialLabels, labels.ComponentType, numberOfThreads, observer };
  return cuda::executor::WithHostSums(
    input,
    region::GetLawOfSamples(parameters),
    numberOfThreads,
    [&](const auto & executor, const auto & samples, const auto & total) {
      return Partition(executor, samples, total, request).Run([&](const auto & write) {
        WithLabelPixels(labels, write);
      });
    });
}
} // namespace CudaDetail
} // end namespace itk
