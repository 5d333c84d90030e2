// SPDX-License-Identifier: Apache-2.0
#include "itkCudaCall.h"
#include "itkCudaComponents.h"
#include "itkCudaDevice.h"
#include "itkCudaDeviceAccess.h"
#include "itkCudaLaunch.h"
#include "itkCudaRoundUp.h"
#include "itkCudaStatisticsCore.h"
#include "itkCudaThreadStream.h"

#include <algorithm>
#include <limits>

namespace itk::cuda::pointwise
{
namespace
{
/** An image's pixels by their number. */
template <typename T>
struct NumberedPixels
{
  const T * Data;
  size_t    Size[3];   // along x, y, z
  size_t    Stride[3]; // along y, z, t
  bool      IsDense;   // no gaps: a pixel's number is its place

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

/** A block adds a chunk. `bins` in shared memory follow the lanes' moments. */
template <typename T>
__global__ void
__launch_bounds__(StatisticsLanes) StatisticsKernel(NumberedPixels<T>    pixels,
                                                    size_t               count,
                                                    double               shift,
                                                    double               infinity,
                                                    HistogramRule        rule,
                                                    Moments *            chunks,
                                                    unsigned long long * histogram)
{
  __shared__ Moments             lanes[StatisticsLanes];
  extern __shared__ unsigned int bins[];
  for (unsigned int bin = threadIdx.x; bin < rule.Number; bin += StatisticsLanes)
  {
    bins[bin] = 0;
  }
  __syncthreads();

  const size_t first = size_t{ blockIdx.x } * PixelsOfChunk + threadIdx.x;
  Moments      moments;
  moments.Clear(infinity);
#pragma unroll 4
  for (unsigned int k = 0; k < PixelsOfLane; ++k)
  {
    const size_t i = first + size_t{ k } * StatisticsLanes;
    if (i < count)
    {
      const auto value = static_cast<double>(pixels.Get(i));
      moments.Add(value, shift);
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
  lanes[threadIdx.x] = moments;
  for (unsigned int half = StatisticsLanes / 2; half > 0; half /= 2)
  {
    __syncthreads();
    if (threadIdx.x < half)
    {
      lanes[threadIdx.x].Merge(lanes[threadIdx.x + half]);
    }
  }
  __syncthreads();
  if (threadIdx.x == 0)
  {
    chunks[blockIdx.x] = lanes[0];
  }
  for (unsigned int bin = threadIdx.x; bin < rule.Number; bin += StatisticsLanes)
  {
    if (bins[bin] > 0)
    {
      atomicAdd(&histogram[bin], static_cast<unsigned long long>(bins[bin]));
    }
  }
}

template <typename T>
NumberedPixels<T>
NumberPixels(const DeviceView & view)
{
  bool isDense = true;
  for (unsigned int axis = 1; axis + 1 < DeviceView::NumberOfAxes; ++axis)
  {
    isDense = isDense && (view.Size[axis] == 1 || view.Stride[axis] == view.Stride[axis - 1] * view.Size[axis - 1]);
  }
  return { static_cast<const T *>(view.Data),
           { view.Size[0], view.Size[1], view.Size[2] },
           { view.Stride[1], view.Stride[2], view.Stride[3] },
           isDense };
}

void
Fetch(void * host, const void * device, size_t bytes, const Context & context)
{
  ITK_CUDA_CALL(cudaMemcpyAsync(host, device, bytes, cudaMemcpyDeviceToHost, context.GetStream()));
  ITK_CUDA_CALL(cudaStreamSynchronize(context.GetStream()));
}

template <typename T>
CudaImageStatistics
ComputeStatistics(const DeviceView & image, const CudaHistogramBins & bins, const Context & context)
{
  T firstPixel{};
  Fetch(&firstPixel, image.Data, sizeof(T), context);
  const double         shift = GetShift(static_cast<double>(firstPixel));
  const size_t         count = image.GetNumberOfElements();
  std::vector<Moments> chunks(DivideUp(count, PixelsOfChunk));
  const DeviceBuffer   moments(chunks.size() * sizeof(Moments), context);
  const size_t         histogramBytes = bins.Number * sizeof(unsigned long long);
  const DeviceBuffer   histogram(std::max<size_t>(histogramBytes, 1), context);
  ITK_CUDA_CALL(cudaMemsetAsync(histogram.GetPointer(), 0, histogram.GetSize(), context.GetStream()));
  ITK_CUDA_CALL(LaunchKernel(StatisticsKernel<T>,
                             MakeGrid(chunks.size()),
                             dim3(StatisticsLanes),
                             bins.Number * sizeof(unsigned int),
                             context.GetStream(),
                             NumberPixels<T>(image),
                             count,
                             shift,
                             std::numeric_limits<double>::infinity(),
                             HistogramRule(bins),
                             static_cast<Moments *>(moments.GetPointer()),
                             static_cast<unsigned long long *>(histogram.GetPointer())));
  Fetch(chunks.data(), moments.GetPointer(), chunks.size() * sizeof(Moments), context);
  CudaImageStatistics statistics = CombineMoments(chunks, count, shift);
  statistics.Histogram.resize(bins.Number);
  static_assert(sizeof(uint64_t) == sizeof(unsigned long long));
  if (bins.Number > 0)
  {
    Fetch(statistics.Histogram.data(), histogram.GetPointer(), histogramBytes, context);
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
