// SPDX-License-Identifier: Apache-2.0
#include "gaussian/masked/MaskedDevice.h"

#include "runtime/device/Call.h"
#include "runtime/DetailNames.h"
#include "runtime/device/Launch.h"
#include "runtime/image/Math.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>

#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>

// Implements the pixelwise steps of smoothing with a mask on the device. PixelsKernel searches an image, and MapKernel
// computes an image from others; the steps are operations that these two kernels call for each pixel. The search for
// NaN and infinity in an array has a kernel of its own, because it can load 16 bytes at a time.

namespace itk::cuda::gaussian
{
namespace
{
constexpr unsigned int Columns = 32; // threads of a block along a row; its rows at a time are below
constexpr unsigned int Rows = 8;
constexpr size_t       LongRow = 2048; // pixels; longer rows are divided among several blocks
constexpr size_t       MaximumBlocks = size_t{ 1 } << 16;
constexpr size_t       MaximumSearchBlocks = size_t{ 1 } << 11; // few, so that threads see what other blocks found

/** Coordinates of a pixel. */
struct Place
{
  size_t X, Y, Z, T;
};

template <typename T>
struct Plane
{
  T *    Data;
  size_t Stride[3]; // along y, z and t

  __device__ T &
  operator[](const Place & place) const
  {
    return Data[place.X + place.Y * Stride[0] + place.Z * Stride[1] + place.T * Stride[2]];
  }
};

template <typename T>
Plane<T>
MakePlane(const DeviceView & view)
{
  return { static_cast<T *>(view.Data), { view.Stride[1], view.Stride[2], view.Stride[3] } };
}

/** Columns, rows, slices and volumes. */
struct Extent
{
  size_t Size[4];

  __host__ __device__ size_t
  GetNumberOfRows() const
  {
    return Size[1] * Size[2] * Size[3];
  }
};

/** Returns a grid of at most `most` blocks: along x for rows, and along y for parts of a row. */
dim3
MakeGridOfRows(const Extent & extent, size_t most)
{
  const size_t rows = std::min(DivideUp(extent.GetNumberOfRows(), Rows), most);
  dim3         grid = MakeGrid(rows);
  grid.y = static_cast<unsigned int>(std::clamp<size_t>(DivideUp(extent.Size[0], LongRow), 1, most / rows));
  return grid;
}

/** Calls operation(place, index) for all pixels. A thread's indices ascend, and it stops as soon as the operation
 * returns false. */
template <typename TOperation>
__global__ void
__launch_bounds__(Columns * Rows)
  PixelsKernel(const __grid_constant__ Extent extent, const __grid_constant__ TOperation operation)
{
  const size_t step = size_t{ gridDim.x } * Rows;
  for (size_t row = size_t{ blockIdx.x } * Rows + threadIdx.y; row < extent.GetNumberOfRows(); row += step)
  {
    const size_t slice = row / extent.Size[1];
    Place        place{ 0, row % extent.Size[1], slice % extent.Size[2], slice / extent.Size[2] };
    for (place.X = size_t{ blockIdx.y } * Columns + threadIdx.x; place.X < extent.Size[0];
         place.X += size_t{ gridDim.y } * Columns)
    {
      if (!operation(place, row * extent.Size[0] + place.X))
      {
        return;
      }
    }
  }
}

template <typename TOperation>
void
ForEachPixel(const DeviceView & shape, const TOperation & operation, const Context & context)
{
  const Extent extent{ { shape.Size[0], shape.Size[1], shape.Size[2], shape.Size[3] } };
  const dim3   grid = MakeGridOfRows(extent, MaximumSearchBlocks);
  ITK_CUDA_CALL(
    LaunchKernel(PixelsKernel<TOperation>, grid, dim3(Columns, Rows), 0, context.GetStream(), extent, operation));
}

/** Sets pixels to operation(place). A thread loads several pixels before it stores them, because it would otherwise
 * wait for each load. */
template <typename T, typename TOperation>
__global__ void
__launch_bounds__(Columns * Rows) MapKernel(const __grid_constant__ Extent extent,
                                            const __grid_constant__ Plane<T>   output,
                                            const __grid_constant__ TOperation operation)
{
  constexpr unsigned int batch = 4;
  const size_t           step = size_t{ gridDim.x } * Rows;
  for (size_t row = size_t{ blockIdx.x } * Rows + threadIdx.y; row < extent.GetNumberOfRows(); row += step)
  {
    const size_t slice = row / extent.Size[1];
    Place        place{ 0, row % extent.Size[1], slice % extent.Size[2], slice / extent.Size[2] };
    for (size_t begin = size_t{ blockIdx.y } * batch * Columns + threadIdx.x; begin < extent.Size[0];
         begin += size_t{ gridDim.y } * batch * Columns)
    {
      T values[batch] = {};
#pragma unroll
      for (unsigned int k = 0; k < batch; ++k)
      {
        place.X = begin + k * Columns;
        if (place.X < extent.Size[0])
        {
          values[k] = operation(place);
        }
      }
#pragma unroll
      for (unsigned int k = 0; k < batch; ++k)
      {
        place.X = begin + k * Columns;
        if (place.X < extent.Size[0])
        {
          output[place] = values[k];
        }
      }
    }
  }
}

template <typename T, typename TOperation>
void
Map(const DeviceView & output, const TOperation & operation, const Context & context)
{
  const Extent extent{ { output.Size[0], output.Size[1], output.Size[2], output.Size[3] } };
  const auto   kernel = MapKernel<T, TOperation>;
  const dim3   grid = MakeGridOfRows(extent, MaximumBlocks);
  ITK_CUDA_CALL(
    LaunchKernel(kernel, grid, dim3(Columns, Rows), 0, context.GetStream(), extent, MakePlane<T>(output), operation));
}

static_assert(sizeof(ReferenceValue<float>) <= ReferenceValueBytes &&
              sizeof(ReferenceValue<double>) <= ReferenceValueBytes);

template <typename T>
struct FindReferenceValue
{
  Plane<const T>             Image;
  Plane<const unsigned char> Valid;
  ReferenceValue<T> *        Found;

  __device__ bool
  operator()(const Place & place, unsigned long long index) const
  {
    if (index > *static_cast<volatile unsigned long long *>(&Found->IndexOfPixel))
    {
      return false; // later indices of this thread are larger still
    }
    if (Valid[place] == 0 || !isfinite(Image[place]))
    {
      return true;
    }
    // Only one of the converged threads that have found a pixel updates the minimum, because their atomic operations
    // would be serialised.
    const auto               finders = cooperative_groups::coalesced_threads();
    const unsigned long long first =
      cooperative_groups::reduce(finders, index, cooperative_groups::less<unsigned long long>());
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
  Plane<const unsigned char> Valid;
  ReferenceValue<T> *        Found;

  __device__ bool
  operator()(const Place & place, unsigned long long) const
  {
    volatile unsigned int * const isWhole = &Found->AllValid;
    if (*isWhole == 0)
    {
      return false;
    }
    if (Valid[place] != 0)
    {
      return true;
    }
    *isWhole = 0;
    return false;
  }
};

template <typename T>
__global__ void
ReadReferenceValueKernel(const Plane<const T> image, const Extent extent, ReferenceValue<T> * found)
{
  const size_t index = found->IndexOfPixel;
  const size_t row = index / extent.Size[0];
  const size_t slice = row / extent.Size[1];
  const Place  place{ index % extent.Size[0], row % extent.Size[1], slice % extent.Size[2], slice / extent.Size[2] };
  found->Value = found->AllValid == 0 && row < extent.GetNumberOfRows() ? image[place] : T(0);
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
  Plane<const T>             Image;
  Plane<const unsigned char> Valid; // without data if there is no mask

  __device__ unsigned char
  operator()(const Place & place) const
  {
    const bool isValid = !Valid.Data || Valid[place] != 0;
    return isValid && isfinite(Image[place]) ? 1 : 0;
  }
};

/** Sets the output to NaN where the image is valid and is NaN or infinite. */
template <typename T>
struct KeepNaN
{
  Plane<const T>             Image;
  Plane<const unsigned char> Valid; // without data if there is no mask
  Plane<T>                   Output;

  __device__ bool
  operator()(const Place & place, unsigned long long) const
  {
    const T value = Image[place];
    if (!isfinite(value) && (!Valid.Data || Valid[place] != 0))
    {
      Output[place] = value - value; // NaN
    }
    return true;
  }
};

constexpr unsigned int ScanThreads = 256;
constexpr unsigned int ScanBatch = 4; // loads of a thread in flight at a time

/** An array of adjacent pixels. The pixels from First on are loaded 16 bytes at a time. */
template <typename T>
struct NonFiniteScan
{
  static constexpr unsigned int PerLoad = sizeof(uint4) / sizeof(T);

  const T *      Pixels;
  size_t         Count;
  size_t         First; // the first pixel at a multiple of 16 bytes, or Count if there is no such pixel
  size_t         Loads;
  unsigned int * Found;
};

template <typename T>
NonFiniteScan<T>
MakeNonFiniteScan(const T * pixels, size_t count, unsigned int * found)
{
  const size_t beyond = reinterpret_cast<std::uintptr_t>(pixels) % sizeof(uint4) / sizeof(T);
  const size_t first = std::min(count, (NonFiniteScan<T>::PerLoad - beyond) % NonFiniteScan<T>::PerLoad);
  return { pixels, count, first, (count - first) / NonFiniteScan<T>::PerLoad, found };
}

template <typename T>
__device__ bool
HoldsNonFinite(const uint4 & loaded)
{
  T pixels[NonFiniteScan<T>::PerLoad];
  memcpy(pixels, &loaded, sizeof(loaded));
  bool found = false;
  for (const T pixel : pixels)
  {
    found = found || !isfinite(pixel);
  }
  return found;
}

template <typename T>
__global__ void
__launch_bounds__(ScanThreads) FindNonFiniteKernel(const __grid_constant__ NonFiniteScan<T> image)
{
  const size_t    thread = size_t{ blockIdx.x } * ScanThreads + threadIdx.x;
  const size_t    threads = size_t{ gridDim.x } * ScanThreads;
  const auto *    vectors = reinterpret_cast<const uint4 *>(image.Pixels + image.First);
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
  const size_t last = image.First + image.Loads * NonFiniteScan<T>::PerLoad;
  if (thread < image.First)
  {
    found = !isfinite(image.Pixels[thread]) || found;
  }
  if (thread < image.Count - last)
  {
    found = !isfinite(image.Pixels[last + thread]) || found;
  }
  if (__syncthreads_or(found ? 1 : 0) != 0 && threadIdx.x == 0)
  {
    *static_cast<volatile unsigned int *>(image.Found) = 1;
  }
}

template <typename T>
struct GetWeight
{
  Plane<const unsigned char> Valid;

  __device__ T
  operator()(const Place & place) const
  {
    return Valid[place] != 0 ? T(1) : T(0);
  }
};

template <typename T>
struct GetValue
{
  Plane<const T>             Image;
  Plane<const unsigned char> Valid;
  const ReferenceValue<T> *  Reference;

  __device__ T
  operator()(const Place & place) const
  {
    // Both are loaded before one is selected, so that the pixel's load need not wait for the mask.
    const T value = Image[place] - Reference->Value;
    return Valid[place] != 0 ? value : T(0);
  }
};

template <typename T>
struct GetQuotient
{
  Plane<const T> Values;
  Plane<const T> Weights;
  Quotient<T>    Rule;

  __device__ T
  operator()(const Place & place) const
  {
    return Rule.Get(Values[place], Weights[place], Rule.Reference->Value, Rule.Reference->AllValid != 0);
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
    ForEachPixel(valid, FindInvalid<T>{ MakePlane<const unsigned char>(valid), found }, context);
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
    const auto   pixels = MakePlane<const T>(image);
    const Extent extent{ { image.Size[0], image.Size[1], image.Size[2], image.Size[3] } };
    ITK_CUDA_CALL(cudaMemsetAsync(&found->IndexOfPixel, 0xff, sizeof(found->IndexOfPixel), context.GetStream()));
    ForEachPixel(image, FindReferenceValue<T>{ pixels, MakePlane<const unsigned char>(valid), found }, context);
    ITK_CUDA_CALL(
      LaunchKernel(ReadReferenceValueKernel<T>, dim3(1), dim3(1), 0, context.GetStream(), pixels, extent, found));
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
    const IsFiniteAndValid<T> isNumber{ MakePlane<const T>(image), MakePlane<const unsigned char>(valid) };
    Map<unsigned char>(numbers, isNumber, context);
  });
}

void
QueueNaN(const DeviceView & image, const DeviceView & valid, const DeviceView & output, const Context & context)
{
  VisitReal(image.ComponentType, [&](auto zero) {
    using T = decltype(zero);
    const KeepNaN<T> keep{ MakePlane<const T>(image), MakePlane<const unsigned char>(valid), MakePlane<T>(output) };
    ForEachPixel(image, keep, context);
  });
}

void
QueueFindNonFinite(const void *      pixels,
                   size_t            count,
                   CudaComponentType type,
                   unsigned int *    found,
                   const Context &   context)
{
  VisitReal(type, [&](auto zero) {
    using T = decltype(zero);
    const NonFiniteScan<T> image = MakeNonFiniteScan(static_cast<const T *>(pixels), count, found);
    const size_t blocks = std::min(DivideUp(image.Loads, size_t{ ScanThreads } * ScanBatch), MaximumSearchBlocks);
    ITK_CUDA_CALL(LaunchKernel(FindNonFiniteKernel<T>,
                               MakeGrid(std::max(blocks, size_t{ 1 })),
                               dim3(ScanThreads),
                               0,
                               context.GetStream(),
                               image));
  });
}

void
QueueWeights(const DeviceView & valid, const DeviceView & weights, const Context & context)
{
  VisitReal(weights.ComponentType, [&](auto zero) {
    using T = decltype(zero);
    Map<T>(weights, GetWeight<T>{ MakePlane<const unsigned char>(valid) }, context);
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
    Map<T>(values,
           GetValue<T>{ MakePlane<const T>(image),
                        MakePlane<const unsigned char>(valid),
                        static_cast<const ReferenceValue<T> *>(referenceValue) },
           context);
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
    Map<T>(output, GetQuotient<T>{ MakePlane<const T>(values), MakePlane<const T>(weights), rule }, context);
  });
}
} // namespace itk::cuda::gaussian
