// SPDX-License-Identifier: Apache-2.0
#include "gaussian/masked/MaskedDevice.h"

#include "runtime/device/Call.h"
#include "runtime/DetailNames.h"
#include "runtime/device/Launch.h"
#include "runtime/image/ForEachPixel.cuh"
#include "runtime/image/Math.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>

#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>

// Implements the pixelwise steps of smoothing with a mask on the device. The steps are operations for ForEachPixel(),
// which searches an image, and TransformPixels(), which computes one from others. The search for NaN and infinity in an
// array has a kernel of its own, because it can load 16 bytes at a time.

namespace itk::cuda::gaussian
{
namespace
{
constexpr size_t MaximumSearchBlocks = size_t{ 1 } << 11; // few, so that threads see what other blocks found

static_assert(sizeof(ReferenceValue<float>) <= ReferenceValueBytes &&
              sizeof(ReferenceValue<double>) <= ReferenceValueBytes);

template <typename T>
struct FindReferenceValue
{
  DeviceElements<const T>             Image;
  DeviceElements<const unsigned char> Valid;
  ReferenceValue<T> *                 Found;

  __device__ bool
  operator()(const ElementIndex & index, unsigned long long number) const
  {
    if (number > *static_cast<volatile unsigned long long *>(&Found->IndexOfPixel))
    {
      return false; // later numbers of this thread are larger still
    }
    if (Valid[index] == 0 || !isfinite(Image[index]))
    {
      return true;
    }
    // Only one of the converged threads that have found a pixel updates the minimum, because their atomic operations
    // would be serialised.
    const auto               finders = cooperative_groups::coalesced_threads();
    const unsigned long long first =
      cooperative_groups::reduce(finders, number, cooperative_groups::less<unsigned long long>());
    if (finders.thread_rank() == 0)
    {
      atomicMin(&Found->IndexOfPixel, first);
    }
    return false;
  }
};

/** Sets AllValid to 0 if there is a pixel that is not valid. */
template <typename T>
struct FindInvalid
{
  DeviceElements<const unsigned char> Valid;
  ReferenceValue<T> *                 Found;

  __device__ bool
  operator()(const ElementIndex & index, unsigned long long) const
  {
    volatile unsigned int * const isWhole = &Found->AllValid;
    if (*isWhole == 0)
    {
      return false;
    }
    if (Valid[index] != 0)
    {
      return true;
    }
    *isWhole = 0;
    return false;
  }
};

template <typename T>
__global__ void
ReadReferenceValueKernel(const DeviceElements<const T> image, const ElementExtent extent, ReferenceValue<T> * found)
{
  const size_t row = found->IndexOfPixel / extent.Size[0];
  ElementIndex index = extent.GetRow(row);
  index.X = found->IndexOfPixel % extent.Size[0];
  found->Value = found->AllValid == 0 && row < extent.NumberOfRows ? image[index] : T(0);
}

template <typename T>
__global__ void
SetReferenceValueKernel(T value, ReferenceValue<T> * found)
{
  found->Value = value;
}

/** Returns 1 where a pixel counts: where it is finite and, if there is a mask, valid. */
template <typename T>
struct IsFiniteAndValid
{
  DeviceElements<const T>             Image;
  DeviceElements<const unsigned char> Valid; // without data if there is no mask

  __device__ unsigned char
  operator()(const ElementIndex & index) const
  {
    const bool isValid = !Valid.Data || Valid[index] != 0;
    return isValid && isfinite(Image[index]) ? 1 : 0;
  }
};

/** Sets the output to NaN where the image is valid and is NaN or infinite. */
template <typename T>
struct KeepNaN
{
  DeviceElements<const T>             Image;
  DeviceElements<const unsigned char> Valid; // without data if there is no mask
  DeviceElements<T>                   Output;

  __device__ bool
  operator()(const ElementIndex & index, unsigned long long) const
  {
    const T value = Image[index];
    if (!isfinite(value) && (!Valid.Data || Valid[index] != 0))
    {
      Output[index] = value - value; // NaN
    }
    return true;
  }
};

constexpr unsigned int ScanThreads = 256;
constexpr unsigned int ScanBatch = 4; // loads of a thread in flight at a time

/** Rows of adjacent pixels. The pixels of a row from First on are loaded 16 bytes at a time. */
template <typename T>
struct NonFiniteRows
{
  static constexpr unsigned int PerLoad = sizeof(uint4) / sizeof(T);

  const T *      Pixels;
  size_t         Length;
  size_t         Rows;
  size_t         Stride; // of rows, in pixels
  size_t         First;  // the first pixel at a multiple of 16 bytes, or Length if there is no such pixel
  size_t         Loads;
  unsigned int * Found;
};

template <typename T>
__device__ bool
HoldsNonFinite(const uint4 & loaded)
{
  T pixels[NonFiniteRows<T>::PerLoad];
  memcpy(pixels, &loaded, sizeof(loaded));
  bool found = false;
  for (const T pixel : pixels)
  {
    found = found || !isfinite(pixel);
  }
  return found;
}

/** Returns whether the calling thread, one of `threads`, finds NaN or infinity in its part of a row. */
template <typename T>
__device__ bool
FindNonFiniteInRow(const NonFiniteRows<T> & image, const T * row, size_t thread, size_t threads)
{
  const auto *    vectors = reinterpret_cast<const uint4 *>(row + image.First);
  constexpr uint4 zeros{};
  bool            found = false;
  for (size_t begin = thread; begin < image.Loads; begin += ScanBatch * threads)
  {
    uint4 loaded[ScanBatch];
#pragma unroll
    for (unsigned int k = 0; k < ScanBatch; ++k)
    {
      const size_t place = begin + k * threads;
      loaded[k] = place < image.Loads ? vectors[place] : zeros;
    }
#pragma unroll
    for (unsigned int k = 0; k < ScanBatch; ++k)
    {
      found = HoldsNonFinite<T>(loaded[k]) || found;
    }
  }
  // The remaining pixels before and after those loads.
  const size_t last = image.First + image.Loads * NonFiniteRows<T>::PerLoad;
  if (thread < image.First)
  {
    found = !isfinite(row[thread]) || found;
  }
  if (thread < image.Length - last)
  {
    found = !isfinite(row[last + thread]) || found;
  }
  return found;
}

template <typename T>
__global__ void
__launch_bounds__(ScanThreads) FindNonFiniteKernel(const __grid_constant__ NonFiniteRows<T> image)
{
  const size_t thread = size_t{ blockIdx.x } * ScanThreads + threadIdx.x;
  const size_t threads = size_t{ gridDim.x } * ScanThreads;
  bool         found = false;
  for (size_t row = blockIdx.y; row < image.Rows; row += gridDim.y)
  {
    found = FindNonFiniteInRow(image, image.Pixels + row * image.Stride, thread, threads) || found;
  }
  if (__syncthreads_or(found ? 1 : 0) != 0 && threadIdx.x == 0)
  {
    *static_cast<volatile unsigned int *>(image.Found) = 1;
  }
}

template <typename T>
struct GetWeight
{
  DeviceElements<const unsigned char> Valid;

  __device__ T
  operator()(const ElementIndex & index) const
  {
    return Valid[index] != 0 ? T(1) : T(0);
  }
};

template <typename T>
struct GetValue
{
  DeviceElements<const T>             Image;
  DeviceElements<const unsigned char> Valid;
  const ReferenceValue<T> *           Reference;

  __device__ T
  operator()(const ElementIndex & index) const
  {
    // Both are loaded before one is selected, so that the pixel's load need not wait for the mask.
    const T value = Image[index] - Reference->Value;
    return Valid[index] != 0 ? value : T(0);
  }
};

template <typename T>
struct GetQuotient
{
  DeviceElements<const T> Values;
  DeviceElements<const T> Weights;
  Quotient<T>             Rule;

  __device__ T
  operator()(const ElementIndex & index) const
  {
    return Rule.Get(Values[index], Weights[index], Rule.Reference->Value, Rule.Reference->AllValid != 0);
  }
};

/** Calls `function` with a zero of the type, float or double. */
template <typename TFunction>
void
VisitReal(CudaComponentType type, const TFunction & function)
{
  if (type == CudaComponentType::Double)
  {
    function(0.0);
  }
  else
  {
    function(0.0f);
  }
}
} // namespace

void
QueueFindAllValid(const DeviceView & valid, CudaComponentType type, void * referenceValue, const Context & context)
{
  VisitReal(type, [&](auto zero) {
    using T = decltype(zero);
    auto * const found = static_cast<ReferenceValue<T> *>(referenceValue);
    ITK_CUDA_CALL(cudaMemsetAsync(&found->AllValid, 0xff, sizeof(found->AllValid), context.GetStream()));
    ForEachPixel(valid, FindInvalid<T>{ valid, found }, context);
  });
}

void
QueueClearAllValid(CudaComponentType type, void * referenceValue, const Context & context)
{
  VisitReal(type, [&](auto zero) {
    using T = decltype(zero);
    auto * const found = static_cast<ReferenceValue<T> *>(referenceValue);
    ITK_CUDA_CALL(cudaMemsetAsync(&found->AllValid, 0, sizeof(found->AllValid), context.GetStream()));
  });
}

void
QueueReferenceValueOfValid(const DeviceView & image,
                           const DeviceView & valid,
                           void *             referenceValue,
                           const Context &    context)
{
  VisitReal(image.ComponentType, [&](auto zero) {
    using T = decltype(zero);
    auto * const found = static_cast<ReferenceValue<T> *>(referenceValue);
    ITK_CUDA_CALL(cudaMemsetAsync(&found->IndexOfPixel, 0xff, sizeof(found->IndexOfPixel), context.GetStream()));
    ForEachPixel(image, FindReferenceValue<T>{ image, valid, found }, context);
    ITK_CUDA_CALL(LaunchKernel(ReadReferenceValueKernel<T>,
                               dim3(1),
                               dim3(1),
                               0,
                               context.GetStream(),
                               DeviceElements<const T>(image),
                               ElementExtent(image),
                               found));
  });
}

void
QueueReferenceValue(double value, CudaComponentType type, void * referenceValue, const Context & context)
{
  VisitReal(type, [&](auto zero) {
    using T = decltype(zero);
    auto * const found = static_cast<ReferenceValue<T> *>(referenceValue);
    ITK_CUDA_CALL(
      LaunchKernel(SetReferenceValueKernel<T>, dim3(1), dim3(1), 0, context.GetStream(), static_cast<T>(value), found));
  });
}

void
QueueFiniteMask(const DeviceView & image, const DeviceView & valid, const DeviceView & numbers, const Context & context)
{
  VisitReal(image.ComponentType, [&](auto zero) {
    using T = decltype(zero);
    const IsFiniteAndValid<T> isNumber{ image, valid };
    TransformPixels<unsigned char>(numbers, isNumber, context);
  });
}

void
QueueNaN(const DeviceView & image, const DeviceView & valid, const DeviceView & output, const Context & context)
{
  VisitReal(image.ComponentType, [&](auto zero) {
    using T = decltype(zero);
    const KeepNaN<T> keep{ image, valid, output };
    ForEachPixel(image, keep, context);
  });
}

void
QueueFindNonFinite(const DeviceView & image, unsigned int * found, const Context & context)
{
  if (image.GetNumberOfElements() == 0)
  {
    return;
  }
  const bool isDense = IsUniform(image, 0, DeviceView::ComponentAxis, 1);
  if (!isDense && !IsUniform(image, 1, DeviceView::ComponentAxis, image.Stride[1]))
  {
    // There may be memory for more planes between the components.
    for (size_t component = 0; component < image.Size.back(); ++component)
    {
      QueueFindNonFinite(GetComponent(image, component), found, context);
    }
    return;
  }
  VisitReal(image.ComponentType, [&](auto zero) {
    using T = decltype(zero);
    constexpr size_t perLoad = NonFiniteRows<T>::PerLoad;
    NonFiniteRows<T> rows{};
    rows.Pixels = static_cast<const T *>(image.Data);
    rows.Length = isDense ? image.GetNumberOfElements() : image.Size[0];
    rows.Rows = image.GetNumberOfElements() / rows.Length;
    rows.Stride = image.Stride[1];
    rows.Found = found;
    const size_t beyond = reinterpret_cast<std::uintptr_t>(image.Data) % sizeof(uint4) / sizeof(T);
    rows.First = std::min(rows.Length, (perLoad - beyond) % perLoad);
    rows.Loads = (rows.Length - rows.First) / perLoad;
    const size_t blocks =
      std::clamp(DivideUp(rows.Loads, size_t{ ScanThreads } * ScanBatch), size_t{ 1 }, MaximumSearchBlocks);
    const size_t groups = std::min(rows.Rows, DivideUp(MaximumSearchBlocks, blocks));
    ITK_CUDA_CALL(LaunchKernel(FindNonFiniteKernel<T>,
                               dim3(static_cast<unsigned int>(blocks), static_cast<unsigned int>(groups)),
                               dim3(ScanThreads),
                               0,
                               context.GetStream(),
                               rows));
  });
}

void
QueueWeights(const DeviceView & valid, const DeviceView & weights, const Context & context)
{
  VisitReal(weights.ComponentType, [&](auto zero) {
    using T = decltype(zero);
    TransformPixels<T>(weights, GetWeight<T>{ valid }, context);
  });
}

void
QueueValues(const DeviceView & image,
            const DeviceView & valid,
            const void *       referenceValue,
            const DeviceView & values,
            const Context &    context)
{
  VisitReal(image.ComponentType, [&](auto zero) {
    using T = decltype(zero);
    TransformPixels<T>(
      values, GetValue<T>{ image, valid, static_cast<const ReferenceValue<T> *>(referenceValue) }, context);
  });
}

void
QueueQuotient(const DeviceView & values,
              const DeviceView & weights,
              const void *       referenceValue,
              const DeviceView & output,
              double             fillValue,
              double             smallestWeight,
              const Context &    context)
{
  VisitReal(values.ComponentType, [&](auto zero) {
    using T = decltype(zero);
    const Quotient<T> rule{ static_cast<const ReferenceValue<T> *>(referenceValue),
                            static_cast<T>(fillValue),
                            static_cast<T>(smallestWeight) };
    TransformPixels<T>(output, GetQuotient<T>{ values, weights, rule }, context);
  });
}
} // namespace itk::cuda::gaussian
