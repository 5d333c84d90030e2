// SPDX-License-Identifier: Apache-2.0
#include "itkCudaCall.h"
#include "itkCudaDetailRegionPartitionEngine.h"
#include "itkCudaDevice.h"
#include "itkCudaPartitionDeviceEvaluator.h"
#include "itkCudaPartitionDeviceLabels.h"
#include "itkCudaPartitionRun.h"
#include "itkCudaPartitionSearchBytes.h"
#include "itkCudaRegionDeviceSums.h"
#include "itkCudaTransfer.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace itk
{
namespace cuda::partition
{
namespace
{
/** Labels row by row, in device memory and in host memory. */
DeviceView
ViewOnDevice(const DeviceBuffer & labels, size_t width, size_t height)
{
  DeviceView view;
  view.Data = labels.GetPointer();
  view.ComponentType = CudaComponentType::UInt;
  view.Size = { { width, height, 1, 1, 1 } };
  view.Stride = { { 1, width, width * height, width * height, width * height } };
  return view;
}

CudaImageView
ViewOnHost(std::vector<uint32_t> & labels, size_t width, size_t height)
{
  CudaImageView view;
  view.Data = labels.data();
  view.ComponentType = CudaComponentType::UInt;
  view.Size = { { width, height, 1, 1 } };
  view.Stride = { { 1, width, width * height, width * height } };
  return view;
}

DeviceBuffer
UploadLabels(const CudaImageView & labels, const StreamLease & stream)
{
  const size_t width = labels.Size[0];
  const size_t height = labels.Size[1];
  DeviceBuffer buffer(width * height * sizeof(uint32_t), stream);
  UploadRows(labels, ViewOnDevice(buffer, width, height), stream, {});
  return buffer;
}

/** Copies the map to the host, when the stream's work is done. */
LabelOutcome
DownloadMap(const DeviceLabelMap & map, const region::SamplesDescription & image, const StreamLease & stream)
{
  const auto   width = static_cast<size_t>(image.Width);
  const auto   height = static_cast<size_t>(image.Height);
  LabelOutcome outcome;
  outcome.Finished = map.Finished;
  if (map.Finished)
  {
    outcome.Map.Width = image.Width;
    outcome.Map.Height = image.Height;
    outcome.Map.Labels.resize(width * height);
    outcome.Map.Regions.resize(map.NumberOfRegions + 1);
    Download(ViewOnDevice(map.Labels, width, height), ViewOnHost(outcome.Map.Labels, width, height), stream, nullptr);
    ITK_CUDA_CALL(cudaMemcpyAsync(outcome.Map.Regions.data(),
                                  map.Regions.GetPointer(),
                                  outcome.Map.Regions.size() * sizeof(Moments),
                                  cudaMemcpyDeviceToHost,
                                  stream.GetStream()));
    stream.Synchronize();
  }
  return outcome;
}

LabelOutcome
MakeLabelsOnDevice(const LabelRequest & request, int device)
{
  const DeviceGuard guard(device);
  const auto        sums = std::make_shared<const region::DeviceSums>(request.Pixels, 0, device);
  const StreamLease stream(device); // its end waits for what reads the sums
  LabelOutcome      outcome;
  if (request.InitialLabels != nullptr)
  {
    const bool goesOn = request.Progress(0.0f);
    outcome =
      DownloadMap(MakeLabelMapOfOnDevice(UploadLabels(*request.InitialLabels, stream), *sums, request.Law, stream),
                  request.Pixels,
                  stream);
    outcome.Finished = goesOn;
  }
  else
  {
    outcome = DownloadMap(
      MakeLabelMapOnDevice(*sums, request.Law, request.BlockSize, request.Progress, stream), request.Pixels, stream);
  }
  outcome.Gains = MakeDeviceEvaluator(sums, region::UsesSquares(request.Law.Law.Law));
  return outcome;
}
} // namespace
} // namespace cuda::partition

namespace CudaDetail
{
const char *
CudaRegionPartitionUnsupportedReason(const CudaRegionPartitionInput & input)
{
  return input.Image.GetNumberOfPixels() <= cuda::partition::LargestDeviceImage
           ? nullptr
           : "the partition on the GPU takes images of at most 1073741824 pixels";
}

size_t
CudaRegionPartitionWorkingSet(const CudaRegionPartitionInput & input, const CudaRegionPartitionParameters & parameters)
{
  // Room for small arrays.
  constexpr size_t fixedBytes = size_t{ 4 } << 20;
  constexpr size_t largestBlock = 64;
  const size_t     width = input.Image.Size[0];
  const size_t     height = input.Image.Size[1];
  return fixedBytes +
         cuda::region::DeviceSums::GetNumberOfBytes(width,
                                                    height,
                                                    // logarithms of bytes are of two
                                                    std::max<size_t>(2, CudaComponentSize(input.Image.ComponentType)),
                                                    input.ValidMask != nullptr,
                                                    0) +
         std::max(cuda::partition::GetLabelSearchBytes(
                    width, height, input.InitialLabels != nullptr ? largestBlock : parameters.BlockSize),
                  parameters.LabelsOnly ? 0 : cuda::partition::GetDeviceEvaluatorBytes(width * height));
}

CudaRegionPartitionResult
CudaRegionPartitionOnDevice(const CudaRegionPartitionInput &      input,
                            const CudaRegionPartitionParameters & parameters,
                            const CudaImageView &                 labels,
                            int                                   deviceIndex,
                            unsigned int                          numberOfThreads,
                            const CudaRegionPartitionObserver &   observer)
{
  return cuda::partition::RunPartition(
    input, parameters, labels, numberOfThreads, observer, [deviceIndex](const cuda::partition::LabelRequest & request) {
      return cuda::partition::MakeLabelsOnDevice(request, deviceIndex);
    });
}
} // namespace CudaDetail
} // end namespace itk
