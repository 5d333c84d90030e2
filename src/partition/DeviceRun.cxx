// SPDX-License-Identifier: Apache-2.0
#include "itkCudaDetailRegionPartitionEngine.h"
#include "executor/DeviceImages.h"
#include "itkCudaError.h"
#include "partition/DevicePartition.h"
#include "region/Checks.h"
#include "region/DeviceSums.h"
#include "runtime/device/Device.h"
#include "runtime/memory/DeviceAccess.h"

#include <algorithm>
#include <cstddef>

namespace itk
{
namespace CudaDetail
{
const char *
CudaRegionPartitionUnsupportedReason(const CudaRegionPartitionInput & input)
{
  return input.Image.GetNumberOfPixels() <= cuda::partition::MaximumDevicePixels
           ? nullptr
           : "the partition on the GPU takes images of at most 1073741824 pixels";
}

size_t
CudaRegionPartitionWorkingSet(const CudaRegionPartitionInput & input, const CudaRegionPartitionParameters & parameters)
{
  constexpr size_t fixedBytes = size_t{ 4 } << 20; // small arrays in addition to the search
  const size_t     width = input.Image.Size[0];
  const size_t     height = input.Image.Size[1];
  return fixedBytes +
         cuda::region::DeviceSums::GetNumberOfBytes(width,
                                                    height,
                                                    // logarithms of byte samples take two bytes
                                                    std::max<size_t>(2, CudaComponentSize(input.Image.ComponentType)),
                                                    input.ValidMask != nullptr,
                                                    0) +
         cuda::partition::GetBytesOfArrays(width, height, parameters, input.InitialLabels != nullptr);
}

CudaRegionPartitionResult
CudaRegionPartitionOnDevice(const CudaRegionPartitionInput &        input,
                            const CudaRegionPartitionParameters &   parameters,
                            const CudaImageView &                   labels,
                            unsigned int                            numberOfThreads,
                            int                                     deviceIndex,
                            const CudaRegionPartitionObserver &     observer,
                            const CudaRegionPartitionDeviceImages & onDevice)
{
  using namespace cuda::partition;
  const CudaImageView      shapeOfLabels = onDevice.Labels != nullptr ? cuda::GetShape(*onDevice.Labels) : labels;
  CudaRegionPartitionInput checked = input;
  checked.Image = onDevice.Image != nullptr ? cuda::GetShape(*onDevice.Image) : input.Image;
  VerifyCudaRegionPartitionParameters(parameters);
  CheckInput(checked);
  cuda::region::CheckLabels(shapeOfLabels, checked.Image);
  if (const char * const reason = CudaRegionPartitionUnsupportedReason(checked))
  {
    throw CudaError(__FILE__, __LINE__, CudaError::Kind::NotUsable, reason);
  }
  const cuda::DeviceGuard guard(deviceIndex);
  const LabelWriter       writeLabels =
    onDevice.Labels != nullptr ? WriteLabelsToDevice(*onDevice.Labels) : WriteLabelsToHost(labels);
  const PartitionRequest request{
    parameters, input.InitialLabels, shapeOfLabels.ComponentType, numberOfThreads, observer
  };
  CudaRegionPartitionResult result;
  WithDeviceSums({ input.Image, input.FirstIndex, input.ValidMask, onDevice.Image },
                 cuda::region::GetLawOfSamples(parameters),
                 deviceIndex,
                 [&](const cuda::region::DeviceSums & sums) { result = RunOnDevice(sums, request, writeLabels); });
  return result;
}
} // namespace CudaDetail
} // end namespace itk
