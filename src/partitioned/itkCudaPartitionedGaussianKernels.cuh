// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaPartitionedGaussianKernels_cuh
#define itkCudaPartitionedGaussianKernels_cuh

#include "itkCudaPartitionedGaussianPartitions.h"
#include "itkCudaPartitionedGaussianTuning.h"

#include <cuda_runtime.h>

// Every kernel works on lines that lie beside each other: threadIdx.x counts lines, so that neighbouring threads read
// neighbouring addresses. Contiguous lines are transposed before and after. threadIdx.y counts the parts of a line.

namespace itk::cuda::partitioned
{
/** Line i of InnerCount in group o of OuterCount begins at o * OuterStride + i. In elements. */
struct LineGeometry
{
  size_t LineLength;
  size_t LineStride;
  size_t InnerCount;
  size_t OuterCount;
  size_t OuterStride;

  __host__ __device__ size_t
  GetNumberOfLines() const
  {
    return InnerCount * OuterCount;
  }
};

template <typename T>
struct PassArguments
{
  const T *               Source;
  T *                     Destination;
  LineGeometry            Geometry;
  SmootherCoefficients<T> Coefficients;
  bool                    ExactBorders;
};

template <typename T>
struct BlockArguments
{
  BlockLayout    Layout;
  BlockPowers<T> Powers;
  T *            States; // [block][state][line], where the blocks of a line do not fit in a block of threads
};

constexpr unsigned int NumbersPerBlock = 6; // of a BlockStates

template <typename T, unsigned int VBatch>
using DeviceLocalIntermediate = LocalIntermediate<T, VBatch, LocalIntermediateBytes / sizeof(T)>;

template <typename T>
__device__ inline Stretch<T>
GetLine(const PassArguments<T> & pass, size_t line)
{
  const LineGeometry & geometry = pass.Geometry;
  const size_t         begin = line / geometry.InnerCount * geometry.OuterStride + line % geometry.InnerCount;
  Stretch<T>           stretch;
  stretch.Source = pass.Source + begin;
  stretch.Destination = pass.Destination + begin;
  stretch.Stride = static_cast<ptrdiff_t>(geometry.LineStride);
  stretch.Length = geometry.LineLength;
  stretch.Offset = *stretch.Source;
  return stretch;
}

/** The line of this thread; may be past the last one. */
__device__ inline size_t
GetLineOfThread()
{
  return size_t{ blockIdx.x } * blockDim.x + threadIdx.x;
}

template <typename T, typename TIntermediate>
__global__ void
OneWayKernel(const __grid_constant__ PassArguments<T> pass)
{
  const size_t line = GetLineOfThread();
  if (line >= pass.Geometry.GetNumberOfLines())
  {
    return;
  }
  TIntermediate intermediate;
  FilterOneWay(GetLine(pass, line), pass.Coefficients, pass.ExactBorders, intermediate);
}

/** Weights of the central pixel's convolution, by distance. */
template <typename T>
struct CentralWeights
{
  size_t    Radius;
  const T * Table; // for a Radius beyond InlineRadius
  T         Inline[InlineRadius + 1];

  __device__ const T *
  Get() const
  {
    return Radius <= InlineRadius ? Inline : Table;
  }
};

/** threadIdx.y 0 and 1 are the halves of a line, 2 its central pixel. */
template <typename T, typename TIntermediate>
__global__ void
TwoWayKernel(const __grid_constant__ PassArguments<T> pass, const __grid_constant__ CentralWeights<T> weights)
{
  __shared__ T  centralPixels[64];
  const size_t  line = GetLineOfThread();
  const bool    valid = line < pass.Geometry.GetNumberOfLines();
  const bool    isHalf = threadIdx.y < 2;
  TIntermediate intermediate;
  Stretch<T>    stretch{};
  if (valid)
  {
    stretch = GetLine(pass, line);
    if (isHalf)
    {
      stretch = GetHalf(stretch, threadIdx.y);
      SweepHalfInward(stretch, pass.Coefficients, intermediate);
    }
    else
    {
      const T pixel = FilterCentralPixel<LongStretchBatch>(stretch, weights.Get(), weights.Radius);
      centralPixels[threadIdx.x] = pixel;
      stretch.Destination[static_cast<ptrdiff_t>(stretch.Length / 2) * stretch.Stride] = pixel + stretch.Offset;
    }
  }
  __syncthreads();
  if (valid && isHalf)
  {
    SweepHalfOutward(stretch, pass.Coefficients, centralPixels[threadIdx.x], intermediate);
  }
}

/** A place for the states of blocks, `Stride` numbers apart. */
template <typename T>
struct StateArray
{
  T *    Numbers; // of the thread's line
  size_t Stride;

  __device__ BlockStates<T>
             Get(size_t block) const
  {
    const T * const at = Numbers + block * NumbersPerBlock * Stride;
    BlockStates<T>  states;
    states.Forward.Real = at[0];
    states.Forward.PairRe = at[Stride];
    states.Forward.PairIm = at[2 * Stride];
    states.Backward.Real = at[3 * Stride];
    states.Backward.PairRe = at[4 * Stride];
    states.Backward.PairIm = at[5 * Stride];
    return states;
  }

  __device__ void
  Set(size_t block, const BlockStates<T> & states) const
  {
    T * const at = Numbers + block * NumbersPerBlock * Stride;
    at[0] = states.Forward.Real;
    at[Stride] = states.Forward.PairRe;
    at[2 * Stride] = states.Forward.PairIm;
    at[3 * Stride] = states.Backward.Real;
    at[4 * Stride] = states.Backward.PairRe;
    at[5 * Stride] = states.Backward.PairIm;
  }
};

template <typename T>
__device__ inline void
ScanLine(const PassArguments<T> & pass, const BlockArguments<T> & blocks, size_t line, const StateArray<T> & states)
{
  ScanBlocks(
    GetLine(pass, line),
    blocks.Layout,
    blocks.Powers,
    pass.Coefficients,
    pass.ExactBorders,
    [&](size_t block) { return states.Get(block); },
    [&](size_t block, const BlockStates<T> & value) { states.Set(block, value); });
}

template <typename T>
__device__ inline T *
GetDynamicSharedMemory()
{
  extern __shared__ __align__(16) unsigned char shared[];
  return reinterpret_cast<T *>(shared);
}

/** All blocks of a line in one block of threads, a thread each: threadIdx.y counts them. */
template <typename T, typename TIntermediate>
__global__ void
__launch_bounds__(MaximumThreads)
  ExactKernel(const __grid_constant__ PassArguments<T> pass, const __grid_constant__ BlockArguments<T> blocks)
{
  const size_t        line = GetLineOfThread();
  const bool          valid = line < pass.Geometry.GetNumberOfLines();
  const size_t        block = threadIdx.y;
  const StateArray<T> states{ GetDynamicSharedMemory<T>() + threadIdx.x, blockDim.x };
  Stretch<T>          stretch{};
  if (valid)
  {
    stretch = GetBlock(GetLine(pass, line), blocks.Layout, block);
    states.Set(block, GetBlockStates<BlockBatch>(stretch, pass.Coefficients));
  }
  __syncthreads();
  if (valid && block == 0)
  {
    ScanLine(pass, blocks, line, states);
  }
  __syncthreads();
  if (valid)
  {
    TIntermediate intermediate;
    FilterBlock(stretch, pass.Coefficients, states.Get(block), intermediate);
  }
}

// The same in three launches, for lines of any number of blocks.

/** What a thread works on; both may be past the last one. The grid counts groups of lines first, then of blocks. */
struct LineAndBlock
{
  size_t Line;
  size_t Block;
};

__device__ inline LineAndBlock
GetLineAndBlockOfThread(size_t numberOfLines)
{
  const size_t lineGroups = (numberOfLines + blockDim.x - 1) / blockDim.x;
  return { blockIdx.x % lineGroups * blockDim.x + threadIdx.x, blockIdx.x / lineGroups * blockDim.y + threadIdx.y };
}

template <typename T>
__device__ inline StateArray<T>
GetGlobalStates(const PassArguments<T> & pass, const BlockArguments<T> & blocks, size_t line)
{
  return { blocks.States + line, pass.Geometry.GetNumberOfLines() };
}

template <typename T>
__global__ void
__launch_bounds__(SplitThreads)
  BlockStatesKernel(const __grid_constant__ PassArguments<T> pass, const __grid_constant__ BlockArguments<T> blocks)
{
  const auto [line, block] = GetLineAndBlockOfThread(pass.Geometry.GetNumberOfLines());
  if (line < pass.Geometry.GetNumberOfLines() && block < blocks.Layout.NumberOfBlocks)
  {
    const Stretch<T> stretch = GetBlock(GetLine(pass, line), blocks.Layout, block);
    GetGlobalStates(pass, blocks, line).Set(block, GetBlockStates<BlockBatch>(stretch, pass.Coefficients));
  }
}

template <typename T>
__global__ void
__launch_bounds__(ScanThreads)
  ScanBlocksKernel(const __grid_constant__ PassArguments<T> pass, const __grid_constant__ BlockArguments<T> blocks)
{
  const size_t line = GetLineOfThread();
  if (line < pass.Geometry.GetNumberOfLines())
  {
    ScanLine(pass, blocks, line, GetGlobalStates(pass, blocks, line));
  }
}

template <typename T, typename TIntermediate>
__global__ void
__launch_bounds__(SplitThreads)
  FilterBlocksKernel(const __grid_constant__ PassArguments<T> pass, const __grid_constant__ BlockArguments<T> blocks)
{
  const auto [line, block] = GetLineAndBlockOfThread(pass.Geometry.GetNumberOfLines());
  if (line < pass.Geometry.GetNumberOfLines() && block < blocks.Layout.NumberOfBlocks)
  {
    const Stretch<T> stretch = GetBlock(GetLine(pass, line), blocks.Layout, block);
    TIntermediate    intermediate;
    FilterBlock(stretch, pass.Coefficients, GetGlobalStates(pass, blocks, line).Get(block), intermediate);
  }
}

/** A matrix in device memory: Rows rows of Columns elements, Pitch elements apart. */
template <typename T>
struct Matrix
{
  T *    Data;
  size_t Rows;
  size_t Columns;
  size_t Pitch;
};

/** destination[column][row] = source[row][column]; a block of TransposeTile x TransposeRows threads moves one tile. */
template <typename T>
__global__ void
__launch_bounds__(TransposeTile * TransposeRows)
  TransposeKernel(const Matrix<const T> source, const Matrix<T> destination)
{
  __shared__ T tile[TransposeTile][TransposeTile + 1]; // the extra column spreads a column's accesses over all banks
  const size_t tilesAcross = (source.Columns + TransposeTile - 1) / TransposeTile;
  const size_t firstRow = blockIdx.x / tilesAcross * TransposeTile;
  const size_t firstColumn = blockIdx.x % tilesAcross * TransposeTile;
  for (unsigned int i = threadIdx.y; i < TransposeTile; i += TransposeRows)
  {
    if (firstRow + i < source.Rows && firstColumn + threadIdx.x < source.Columns)
    {
      tile[i][threadIdx.x] = source.Data[(firstRow + i) * source.Pitch + firstColumn + threadIdx.x];
    }
  }
  __syncthreads();
  for (unsigned int i = threadIdx.y; i < TransposeTile; i += TransposeRows)
  {
    if (firstColumn + i < source.Columns && firstRow + threadIdx.x < source.Rows)
    {
      destination.Data[(firstColumn + i) * destination.Pitch + firstRow + threadIdx.x] = tile[threadIdx.x][i];
    }
  }
}
} // namespace itk::cuda::partitioned

#endif
