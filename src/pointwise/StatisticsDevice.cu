// SPDX-License-Identifier: Apache-2.0
#include "runtime/device/Call.h"
#include "runtime/image/Components.h"
#include "runtime/device/Device.h"
#include "runtime/device/Stream.h"
#include "runtime/memory/DeviceAccess.h"
#include "runtime/memory/DeviceMemory.h"
#include "runtime/device/Launch.h"
#include "runtime/image/Math.h"
#include "pointwise/StatisticsCore.h"

#include <cstddef>
#include <cstring>
#include <limits>
#include <vector>

// Computes the statistics of an image on the device, with the order of additions of pointwise/StatisticsCore.h.

namespace itk::cuda::pointwise
{
namespace
{
/** Access to the pixels of an image by their number. */
template <typename T>
struct NumberedPixels
{
  const T * Data;
  size_t    Size[3];   // along x, y, z
  size_t    Stride[3]; // along y, z, t
  bool      IsDense;   // there are no gaps, so that a pixel's number is its offset

  __device__ T
  Get(size_t number) const
  {
    size_t place = number;
    if (!IsDense)
    {
      const size_t row = number / Size[0];
      const size_t plane = row / Size[1];
      const size_t volume = plane / Size[2];
      place = number - row * Size[0] + (row - plane * Size[1]) * Stride[0] + (plane - volume * Size[2]) * Stride[1] +
              volume * Stride[2];
    }
    return Data[place];
  }
};

/** The results that are copied to the host. The bins of the histogram follow behind it. */
struct Sums
{
  PartialStatistics All;
  double            Shift;
};

/** Adds the lanes of a block in a pairwise tree. Only the first thread may read the sum, lanes[0]. */
__device__ void
MergeLanes(PartialStatistics (&lanes)[StatisticsLanes], const PartialStatistics & ofThread)
{
  lanes[threadIdx.x] = ofThread;
  for (unsigned int half = StatisticsLanes / 2; half > 0; half /= 2)
  {
    __syncthreads();
    if (threadIdx.x < half)
    {
      lanes[threadIdx.x].Merge(lanes[threadIdx.x + half]);
    }
  }
}

/** Computes the partial statistics of one chunk per block, and adds the chunk's histogram, which is built in shared
 * memory, to the image's histogram. */
template <typename T>
__global__ void
__launch_bounds__(StatisticsLanes) StatisticsKernel(NumberedPixels<T>    pixels,
                                                    size_t               count,
                                                    double               infinity,
                                                    HistogramRule        rule,
                                                    PartialStatistics *  chunks,
                                                    unsigned long long * histogram)
{
  __shared__ PartialStatistics   lanes[StatisticsLanes];
  extern __shared__ unsigned int bins[];
  for (unsigned int bin = threadIdx.x; bin < rule.Number; bin += StatisticsLanes)
  {
    bins[bin] = 0;
  }
  __syncthreads();

  const double      shift = GetShift(static_cast<double>(pixels.Get(0)));
  const size_t      first = size_t{ blockIdx.x } * PixelsOfChunk + threadIdx.x;
  PartialStatistics partial;
  partial.Clear(infinity);
#pragma unroll 4
  for (unsigned int k = 0; k < PixelsOfLane; ++k)
  {
    const size_t i = first + size_t{ k } * StatisticsLanes;
    if (i < count)
    {
      const auto value = static_cast<double>(pixels.Get(i));
      partial.Add(value, shift);
      if (rule.Number > 0)
      {
        const unsigned int bin = rule.GetBin(value);
        if (bin < rule.Number)
        {
          atomicAdd(&bins[bin], 1u);
        }
      }
    }
  }
  MergeLanes(lanes, partial);
  if (threadIdx.x == 0)
  {
    chunks[blockIdx.x] = lanes[0];
  }
  __syncthreads();
  for (unsigned int bin = threadIdx.x; bin < rule.Number; bin += StatisticsLanes)
  {
    if (bins[bin] > 0)
    {
      atomicAdd(&histogram[bin], static_cast<unsigned long long>(bins[bin]));
    }
  }
}

/** Adds the chunks in one block, so that the number of bytes copied to the host does not depend on the image's size. */
template <typename T>
__global__ void
__launch_bounds__(StatisticsLanes) MergeChunksKernel(const T *                 firstPixel,
                                                     const PartialStatistics * chunks,
                                                     size_t                    numberOfChunks,
                                                     double                    infinity,
                                                     Sums *                    sums)
{
  __shared__ PartialStatistics lanes[StatisticsLanes];
  PartialStatistics            partial;
  partial.Clear(infinity);
#pragma unroll 4
  for (size_t chunk = threadIdx.x; chunk < numberOfChunks; chunk += StatisticsLanes)
  {
    partial.Merge(chunks[chunk]);
  }
  MergeLanes(lanes, partial);
  if (threadIdx.x == 0)
  {
    *sums = { lanes[0], GetShift(static_cast<double>(*firstPixel)) };
  }
}

template <typename T>
NumberedPixels<T>
NumberPixels(const DeviceView & view)
{
  return { static_cast<const T *>(view.Data),
           { view.Size[0], view.Size[1], view.Size[2] },
           { view.Stride[1], view.Stride[2], view.Stride[3] },
           IsUniform(view, 0, 3, 1) };
}

template <typename T>
CudaImageStatistics
ComputeStatistics(const DeviceView & image, const CudaHistogramBins & bins, const Context & context)
{
  static_assert(sizeof(uint64_t) == sizeof(unsigned long long));
  const double       infinity = std::numeric_limits<double>::infinity();
  const size_t       count = image.GetNumberOfElements();
  const size_t       numberOfChunks = DivideUp(count, PixelsOfChunk);
  const DeviceBuffer chunks(numberOfChunks * sizeof(PartialStatistics), context);
  const DeviceBuffer result(sizeof(Sums) + bins.Number * sizeof(uint64_t), context);
  auto * const       sums = static_cast<Sums *>(result.GetPointer());
  ITK_CUDA_CALL(cudaMemsetAsync(sums, 0, result.GetSize(), context.GetStream()));
  ITK_CUDA_CALL(LaunchKernel(StatisticsKernel<T>,
                             MakeGrid(numberOfChunks),
                             dim3(StatisticsLanes),
                             bins.Number * sizeof(unsigned int),
                             context.GetStream(),
                             NumberPixels<T>(image),
                             count,
                             infinity,
                             HistogramRule(bins),
                             static_cast<PartialStatistics *>(chunks.GetPointer()),
                             reinterpret_cast<unsigned long long *>(sums + 1)));
  ITK_CUDA_CALL(LaunchKernel(MergeChunksKernel<T>,
                             dim3(1),
                             dim3(StatisticsLanes),
                             0,
                             context.GetStream(),
                             static_cast<const T *>(image.Data),
                             static_cast<const PartialStatistics *>(chunks.GetPointer()),
                             numberOfChunks,
                             infinity,
                             sums));

  std::vector<std::byte> fetched(result.GetSize());
  ITK_CUDA_CALL(cudaMemcpyAsync(fetched.data(), sums, fetched.size(), cudaMemcpyDeviceToHost, context.GetStream()));
  ITK_CUDA_CALL(cudaStreamSynchronize(context.GetStream()));
  Sums onHost;
  std::memcpy(&onHost, fetched.data(), sizeof(Sums));
  CudaImageStatistics statistics = MakeStatistics(onHost.All, count, onHost.Shift);
  statistics.Histogram.resize(bins.Number);
  if (bins.Number > 0)
  {
    std::memcpy(statistics.Histogram.data(), fetched.data() + sizeof(Sums), fetched.size() - sizeof(Sums));
  }
  return statistics;
}
} // namespace
} // namespace itk::cuda::pointwise

namespace itk::CudaDetail
{
CudaImageStatistics
CudaComputeStatisticsOnDevice(const CudaDeviceImageView & image, const CudaHistogramBins & bins)
{
  using namespace cuda;
  pointwise::VerifyStatistics(image.GetNumberOfElements(), image.Size.back(), bins);
  const Context       context = GetThreadContext(GetMemory(image).GetDevice());
  const DeviceGuard   guard(context.GetDevice());
  const DeviceReading reading(image, context);
  CudaImageStatistics statistics;
  VisitComponentType(image.ComponentType, [&](auto zero) {
    statistics = pointwise::ComputeStatistics<decltype(zero)>(GetDeviceView(image), bins, context);
  });
  return statistics;
}
} // end namespace itk::CudaDetail
