// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_snake_device_Batch_h
#define CudaFilters_snake_device_Batch_h

#include "CudaFiltersExport.h"
#include "snake/Batch.h"
#include "snake/device/Snake.h"

#include <cstddef>
#include <cstdint>
#include <memory>

namespace itk::cuda::snake
{
/** How batches are launched. No option changes a result. */
struct BatchLaunchOptions
{
  size_t RunsPerLaunch{ 8192 };
  // Mean number of nodes and entries of the record for which a launch has room. Runs whose results do not fit are
  // launched again.
  size_t NodesPerRun{ 64 };
  size_t EntriesPerRun{ 256 };
  // Time after which the blocks of a launch begin no further run.
  uint64_t Nanoseconds{ 100000000 };
};

/** Returns the backend for many runs on a device. It runs small snakes together, one in each thread block of a launch,
 * and other snakes alone. All results are bit-identical to those of RunOnDevice(). The image must outlive the backend.
 * \param threads prepare the starts, and run snakes that run alone */
CudaFilters_EXPORT std::unique_ptr<BatchBackend>
MakeDeviceBatch(const DeviceSnakeImage & image, const Threads & threads, const BatchLaunchOptions & options = {});

/** Device memory that runs together need at most, besides the image. */
constexpr size_t BytesOfDeviceBatch = size_t{ 384 } << 20;
} // namespace itk::cuda::snake

#endif
