// SPDX-License-Identifier: Apache-2.0
#include "region/DeviceSamples.h"

#include "runtime/device/Call.h"
#include "runtime/memory/DeviceMemory.h"
#include "runtime/memory/PinnedMemory.h"
#include "region/Sums.cuh"

#include <algorithm>
#include <vector>

// Implements the steps of DeviceSamples.h on the device: surveys pixels, converts them to samples, and packs a mask
// into bits.

namespace itk::cuda::region
{
namespace
{
constexpr int    ThreadsOfSamples = 256;
constexpr size_t MaximumBlocks = 2048; // a block handles every gridDim.x-th row

unsigned int
BlocksFor(size_t rows)
{
  return static_cast<unsigned int>(std::min(rows, MaximumBlocks));
}

/** Surveys the rows y = blockIdx.x, blockIdx.x + gridDim.x, ... and stores one result per block. */
template <typename TPixel, typename TAllowed>
__global__ void
SurveyKernel(PixelRows<TPixel> rows, TAllowed isAllowed, ValueSurvey * results)
{
  __shared__ kernels::SharedStorage<ValueSurvey, ThreadsOfSamples> surveys;
  ValueSurvey                                                      survey;
  for (size_t y = blockIdx.x; y < rows.Height; y += gridDim.x)
  {
    SurveyRow(rows, y, threadIdx.x, ThreadsOfSamples, isAllowed, survey);
  }
  surveys.Get(static_cast<int>(threadIdx.x)) = survey;
  for (int half = ThreadsOfSamples / 2; half > 0; half /= 2)
  {
    __syncthreads();
    if (static_cast<int>(threadIdx.x) < half)
    {
      surveys.Get(static_cast<int>(threadIdx.x)).Merge(surveys.Get(static_cast<int>(threadIdx.x) + half));
    }
  }
  if (threadIdx.x == 0)
  {
    results[blockIdx.x] = surveys.Get(0);
  }
}

template <typename TPixel, typename TFunction>
__global__ void
ConvertKernel(PixelRows<TPixel> rows, TFunction function, typename TFunction::SampleType * samples, size_t pitch)
{
  using SampleType = typename TFunction::SampleType;
  for (size_t y = blockIdx.x; y < rows.Height; y += gridDim.x)
  {
    const TPixel * row = rows.GetRow(y);
    for (size_t x = threadIdx.x; x < pitch; x += ThreadsOfSamples)
    {
      samples[y * pitch + x] = x < rows.Width && rows.IsValid(x, y) ? function(row[x]) : SampleType{ 0 };
    }
  }
}

__global__ void
MakeValidBitsKernel(PixelRows<uint8_t> mask, uint16_t * bits, size_t wordsPerRow, unsigned long long * valid)
{
  uint32_t count = 0;
  for (size_t y = blockIdx.x; y < mask.Height; y += gridDim.x)
  {
    for (size_t word = threadIdx.x; word < wordsPerRow; word += ThreadsOfSamples)
    {
      const uint16_t made = MakeMaskWord(mask.GetRow(y), word * 16, mask.Width);
      bits[y * wordsPerRow + word] = made;
      count += static_cast<uint32_t>(__popc(made));
    }
  }
  const uint64_t sum = kernels::SumOverWarp(static_cast<uint64_t>(count));
  if (kernels::LaneIndex() == 0)
  {
    atomicAdd(valid, static_cast<unsigned long long>(sum));
  }
}
} // namespace

template <typename TPixel, typename TAllowed>
ValueSurvey
SurveyOnDevice(const PixelRows<TPixel> & rows, const TAllowed & isAllowed, const Context & context)
{
  const unsigned int       blocks = BlocksFor(rows.Height);
  std::vector<ValueSurvey> surveys(blocks);
  const DeviceBuffer       results(blocks * sizeof(ValueSurvey), context);
  ITK_CUDA_CALL(LaunchKernel(SurveyKernel<TPixel, TAllowed>,
                             dim3(blocks),
                             dim3(ThreadsOfSamples),
                             0,
                             context.GetStream(),
                             rows,
                             isAllowed,
                             static_cast<ValueSurvey *>(results.GetPointer())));
  ITK_CUDA_CALL(cudaMemcpyAsync(
    surveys.data(), results.GetPointer(), results.GetSize(), cudaMemcpyDeviceToHost, context.GetStream()));
  ITK_CUDA_CALL(cudaStreamSynchronize(context.GetStream()));
  ValueSurvey survey;
  for (const ValueSurvey & other : surveys)
  {
    survey.Merge(other);
  }
  if (survey.FirstRefused != NoPosition)
  {
    // Reads the pixel itself, because the device may lose the sign of a NaN.
    TPixel         pixel{};
    const TPixel * refused = rows.GetRow(survey.FirstRefused / rows.Width) + survey.FirstRefused % rows.Width;
    ITK_CUDA_CALL(cudaMemcpyAsync(&pixel, refused, sizeof(pixel), cudaMemcpyDeviceToHost, context.GetStream()));
    ITK_CUDA_CALL(cudaStreamSynchronize(context.GetStream()));
    survey.RefusedValue = pixel;
  }
  return survey;
}

template <typename TPixel, typename TFunction>
void
ConvertOnDevice(const PixelRows<TPixel> &        rows,
                const TFunction &                function,
                typename TFunction::SampleType * samples,
                size_t                           pitch,
                const Context &                  context)
{
  ITK_CUDA_CALL(LaunchKernel(ConvertKernel<TPixel, TFunction>,
                             dim3(BlocksFor(rows.Height)),
                             dim3(ThreadsOfSamples),
                             0,
                             context.GetStream(),
                             rows,
                             function,
                             samples,
                             pitch));
}

size_t
MakeValidBitsOnDevice(const DeviceView & mask, uint16_t * bits, size_t wordsPerRow, const Context & context)
{
  const PixelRows<uint8_t> rows{
    static_cast<const uint8_t *>(mask.Data), mask.Stride[1], nullptr, wordsPerRow, mask.Size[0], mask.Size[1]
  };
  const DeviceBuffer valid(sizeof(unsigned long long), context);
  unsigned long long number = 0;
  ITK_CUDA_CALL(cudaMemsetAsync(valid.GetPointer(), 0, sizeof(number), context.GetStream()));
  ITK_CUDA_CALL(LaunchKernel(MakeValidBitsKernel,
                             dim3(BlocksFor(rows.Height)),
                             dim3(ThreadsOfSamples),
                             0,
                             context.GetStream(),
                             rows,
                             bits,
                             wordsPerRow,
                             static_cast<unsigned long long *>(valid.GetPointer())));
  ITK_CUDA_CALL(
    cudaMemcpyAsync(&number, valid.GetPointer(), sizeof(number), cudaMemcpyDeviceToHost, context.GetStream()));
  ITK_CUDA_CALL(cudaStreamSynchronize(context.GetStream()));
  return static_cast<size_t>(number);
}

// The instantiations that SampleMaker needs.
#define ITK_CUDA_INSTANTIATE_SAMPLES(TPixel, TFunction) \
  template void ConvertOnDevice(                        \
    const PixelRows<TPixel> &, const TFunction &, TFunction::SampleType *, size_t, const Context &)
#define ITK_CUDA_INSTANTIATE_PIXEL(TPixel)                                                              \
  template ValueSurvey SurveyOnDevice(const PixelRows<TPixel> &, const RangeValues &, const Context &); \
  template ValueSurvey SurveyOnDevice(const PixelRows<TPixel> &, const TwoValues &, const Context &);   \
  ITK_CUDA_INSTANTIATE_SAMPLES(TPixel, BinarySamples);                                                  \
  ITK_CUDA_INSTANTIATE_SAMPLES(TPixel, LogarithmSamples)
ITK_CUDA_INSTANTIATE_PIXEL(uint8_t);
ITK_CUDA_INSTANTIATE_PIXEL(uint16_t);
ITK_CUDA_INSTANTIATE_PIXEL(int16_t);
ITK_CUDA_INSTANTIATE_PIXEL(float);
ITK_CUDA_INSTANTIATE_SAMPLES(uint8_t, IntegerSamples<uint8_t>);
ITK_CUDA_INSTANTIATE_SAMPLES(uint16_t, IntegerSamples<uint16_t>);
ITK_CUDA_INSTANTIATE_SAMPLES(int16_t, IntegerSamples<uint16_t>);
ITK_CUDA_INSTANTIATE_SAMPLES(float, GridSamples);
template ValueSurvey
SurveyOnDevice(const PixelRows<float> &, const BoundedValues &, const Context &);
} // namespace itk::cuda::region
