// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_runtime_image_ForEachPixel_cuh
#define CudaFilters_runtime_image_ForEachPixel_cuh

#include "runtime/device/Call.h"
#include "runtime/device/Launch.h"
#include "runtime/device/Stream.h"
#include "runtime/DetailNames.h"
#include "runtime/image/DeviceView.h"
#include "runtime/image/Math.h"

#include <algorithm>
#include <cstddef>

// Calls an operation for each pixel of an image in device memory. The operations are objects with a __device__ call
// operator, which hold the images that they read or write.

namespace itk::cuda
{
/** The index of an element of a DeviceView. */
struct ElementIndex
{
  size_t X, Y, Z, T, Component;
};

/** The elements of a DeviceView as kernels see them. */
template <typename T>
struct DeviceElements
{
  T *    Data;
  size_t Stride[4]; // along y, z, t and component

  DeviceElements(const DeviceView & view)
    : Data(static_cast<T *>(view.Data))
    , Stride{ view.Stride[1], view.Stride[2], view.Stride[3], view.Stride[4] }
  {}

  __device__ T &
  operator[](const ElementIndex & index) const
  {
    return Data[index.X + index.Y * Stride[0] + index.Z * Stride[1] + index.T * Stride[2] +
                index.Component * Stride[3]];
  }
};

/** The size of an image, whose rows are numbered along y, then z, t and component. */
struct ElementExtent
{
  size_t Size[4]; // along x, y, z and t
  size_t NumberOfRows;

  explicit ElementExtent(const DeviceView & view)
    : Size{ view.Size[0], view.Size[1], view.Size[2], view.Size[3] }
    , NumberOfRows(view.Size[1] * view.Size[2] * view.Size[3] * view.Size[4])
  {}

  /** Returns the index of the first element of a row. */
  __host__ __device__ ElementIndex
  GetRow(size_t row) const
  {
    const size_t slice = row / Size[1];
    const size_t volume = slice / Size[2];
    const size_t component = volume / Size[3];
    return { 0, row - slice * Size[1], slice - volume * Size[2], volume - component * Size[3], component };
  }
};

namespace pixel_kernels
{
constexpr unsigned int Columns = 32;   // threads of a block along a row
constexpr unsigned int Rows = 8;       // rows that a block handles at a time
constexpr size_t       LongRow = 2048; // elements; longer rows are divided among several blocks

/** Calls operation(index, number) for all elements, where the number counts the elements in the order of their rows.
 * A thread's numbers ascend, and it stops as soon as the operation returns false. */
template <typename TOperation>
__global__ void
__launch_bounds__(Columns * Rows)
  ForEachKernel(const __grid_constant__ ElementExtent extent, const __grid_constant__ TOperation operation)
{
  const size_t step = size_t{ gridDim.x } * Rows;
  for (size_t row = size_t{ blockIdx.x } * Rows + threadIdx.y; row < extent.NumberOfRows; row += step)
  {
    ElementIndex index = extent.GetRow(row);
    for (index.X = size_t{ blockIdx.y } * Columns + threadIdx.x; index.X < extent.Size[0];
         index.X += size_t{ gridDim.y } * Columns)
    {
      if (!operation(index, row * extent.Size[0] + index.X))
      {
        return;
      }
    }
  }
}

/** Sets elements to operation(index). A thread loads several elements before it stores them, because it would otherwise
 * wait for each load. */
template <typename T, typename TOperation>
__global__ void
__launch_bounds__(Columns * Rows) TransformKernel(const __grid_constant__ ElementExtent extent,
                                                  const __grid_constant__ DeviceElements<T> output,
                                                  const __grid_constant__ TOperation        operation)
{
  constexpr unsigned int batch = 4;
  const size_t           step = size_t{ gridDim.x } * Rows;
  for (size_t row = size_t{ blockIdx.x } * Rows + threadIdx.y; row < extent.NumberOfRows; row += step)
  {
    ElementIndex index = extent.GetRow(row);
    for (size_t begin = size_t{ blockIdx.y } * batch * Columns + threadIdx.x; begin < extent.Size[0];
         begin += size_t{ gridDim.y } * batch * Columns)
    {
      T values[batch] = {};
#pragma unroll
      for (unsigned int k = 0; k < batch; ++k)
      {
        index.X = begin + k * Columns;
        if (index.X < extent.Size[0])
        {
          values[k] = operation(index);
        }
      }
#pragma unroll
      for (unsigned int k = 0; k < batch; ++k)
      {
        index.X = begin + k * Columns;
        if (index.X < extent.Size[0])
        {
          output[index] = values[k];
        }
      }
    }
  }
}

/** Launches one of the kernels with at most `maximumBlocks` blocks: along x for rows, and along y for parts of a row.
 */
template <typename... TParameters, typename... TArguments>
void
Launch(void (*kernel)(ElementExtent, TParameters...),
       const DeviceView & shape,
       size_t             maximumBlocks,
       const Context &    context,
       const TArguments &... arguments)
{
  const ElementExtent extent(shape);
  if (extent.Size[0] == 0 || extent.NumberOfRows == 0)
  {
    return;
  }
  const size_t rows = std::min(DivideUp(extent.NumberOfRows, Rows), maximumBlocks);
  dim3         grid = MakeGrid(rows);
  grid.y = static_cast<unsigned int>(std::clamp<size_t>(DivideUp(extent.Size[0], LongRow), 1, maximumBlocks / rows));
  ITK_CUDA_CALL(LaunchKernel(kernel, grid, dim3(Columns, Rows), 0, context.GetStream(), extent, arguments...));
}
} // namespace pixel_kernels

/** Calls operation(index, number) for the elements of an image on the context's stream. The operation may return false
 * to end the loop of its thread. The grid is small, so that a thread that searches soon sees what other threads have
 * found. \exception CudaError */
template <typename TOperation>
void
ForEachPixel(const DeviceView & shape, const TOperation & operation, const Context & context)
{
  constexpr size_t maximumBlocks = size_t{ 1 } << 11;
  pixel_kernels::Launch(pixel_kernels::ForEachKernel<TOperation>, shape, maximumBlocks, context, operation);
}

/** Sets the elements of an image to operation(index) on the context's stream.
 * \exception CudaError */
template <typename T, typename TOperation>
void
TransformPixels(const DeviceView & output, const TOperation & operation, const Context & context)
{
  constexpr size_t maximumBlocks = size_t{ 1 } << 16;
  pixel_kernels::Launch(pixel_kernels::TransformKernel<T, TOperation>,
                        output,
                        maximumBlocks,
                        context,
                        DeviceElements<T>(output),
                        operation);
}
} // namespace itk::cuda

#endif
