// SPDX-License-Identifier: Apache-2.0
#include "snake/device/Snake.h"

#include "runtime/device/Call.h"
#include "runtime/device/Device.h"
#include "region/Lattice.h"
#include "region/Sums.cuh"

#include <algorithm>

// Draws a polygon into a label image in device memory.

namespace itk::cuda::snake
{
namespace
{
using region::LatticePoint;

using region::kernels::LaneIndex;
using region::kernels::WarpOfBlock;
using region::kernels::WarpSize;

constexpr int     WarpsOfLabels = 8; // warps of a block; each handles a row
constexpr int     BitsPerWord = 32;
constexpr int32_t WordsOfStrip = 256;
constexpr int32_t StripWidth = WordsOfStrip * BitsPerWord; // pixels of a row that a warp handles
constexpr size_t  MaximumRowBlocks = 65535;                // limit of the y dimension of a grid

/** The rows of a label image, and the polygon to draw in it. */
template <typename TPixel>
struct LabelRows
{
  TPixel *             Labels;
  size_t               RowStride;
  int32_t              Width;
  int32_t              Height;
  const LatticePoint * Polygon;
  int32_t              NumberOfNodes;
  TPixel               Inside;
  TPixel               Outside;
};

/** A warp's strip of a row, with a bit per pixel that says whether the pixel is inside. The last word is padding: a
 * funnel shift reads it together with the word before it, but does not use its bits. */
struct LabelStrip
{
  uint32_t Inside[WordsOfStrip + 1];
};

/** Toggles the bit of each pixel of row y at which an edge crosses the row. Called by a whole warp.
 * \return the number of crossings left of the strip */
template <typename TPixel>
__device__ uint32_t
MarkCrossings(const LabelRows<TPixel> & rows, int32_t y, int32_t begin, LabelStrip & strip)
{
  uint32_t before = 0;
  for (int32_t i = LaneIndex(); i < rows.NumberOfNodes; i += WarpSize)
  {
    const region::LatticeEdge edge =
      region::MakeEdge(rows.Polygon[i], rows.Polygon[region::Next(i, rows.NumberOfNodes)]);
    const int32_t row = y - edge.Top.Y;
    if (row < 0 || row >= edge.NumberOfRows)
    {
      continue;
    }
    const int32_t column = region::CrossingWalker(edge, row, 1).GetColumn() - begin;
    if (column < 0)
    {
      ++before;
    }
    else if (column < StripWidth)
    {
      atomicXor(&strip.Inside[column / BitsPerWord], 1u << column % BitsPerWord);
    }
  }
  return region::kernels::SumOverWarp(before);
}

/** Replaces the crossings by whether each pixel is inside, with a prefix parity: a pixel is inside if the number of
 * crossings at it and left of it is odd. `before` is the number of crossings left of the strip. */
__device__ void
MakeInside(LabelStrip & strip, uint32_t before)
{
  for (int32_t first = 0; first < WordsOfStrip; first += WarpSize)
  {
    uint32_t word = strip.Inside[first + LaneIndex()];
    for (int shift = 1; shift < BitsPerWord; shift *= 2)
    {
      word ^= word << shift;
    }
    const uint32_t odd = __ballot_sync(region::kernels::AllLanes, word >> (BitsPerWord - 1));
    const uint32_t left = before + __popc(odd & ((1u << LaneIndex()) - 1u));
    strip.Inside[first + LaneIndex()] = left % 2 ? ~word : word;
    before += __popc(odd);
  }
}

/** Writes the labels of pixels 0 to number - 1 of the strip. */
template <typename TPixel>
__device__ void
WriteStrip(const LabelRows<TPixel> & rows, TPixel * pixels, int32_t number, const LabelStrip & strip)
{
  constexpr int32_t perVector = sizeof(uint4) / sizeof(TPixel);
  const auto        misaligned = static_cast<int32_t>(reinterpret_cast<uintptr_t>(pixels) / sizeof(TPixel) % perVector);
  const int32_t     head = misaligned == 0 ? 0 : min(number, perVector - misaligned);
  const int32_t     vectors = (number - head) / perVector;
  for (int32_t vector = LaneIndex(); vector < vectors; vector += WarpSize)
  {
    const int32_t  x = head + vector * perVector;
    const uint32_t bits = __funnelshift_r(
      strip.Inside[x / BitsPerWord], strip.Inside[x / BitsPerWord + 1], static_cast<uint32_t>(x % BitsPerWord));
    union
    {
      uint4  All;
      TPixel Each[perVector];
    } labels;
#pragma unroll
    for (int32_t j = 0; j < perVector; ++j)
    {
      labels.Each[j] = bits >> j & 1u ? rows.Inside : rows.Outside;
    }
    *reinterpret_cast<uint4 *>(pixels + x) = labels.All;
  }
  const int32_t tail = number - vectors * perVector - head;
  for (int32_t i = LaneIndex(); i < head + tail; i += WarpSize)
  {
    const int32_t x = i < head ? i : i + vectors * perVector;
    pixels[x] = strip.Inside[x / BitsPerWord] >> x % BitsPerWord & 1u ? rows.Inside : rows.Outside;
  }
}

/** Writes the label image. A warp handles a strip of a row, and no warp waits for another. */
template <typename TPixel>
__global__ void
__launch_bounds__(WarpsOfLabels * WarpSize) WriteLabelsKernel(LabelRows<TPixel> rows)
{
  __shared__ LabelStrip strips[WarpsOfLabels];
  LabelStrip &          strip = strips[WarpOfBlock()];
  const int32_t         begin = static_cast<int32_t>(blockIdx.x) * StripWidth;
  const int32_t         stride = static_cast<int32_t>(gridDim.y) * WarpsOfLabels;
  for (int32_t y = static_cast<int32_t>(blockIdx.y) * WarpsOfLabels + WarpOfBlock(); y < rows.Height; y += stride)
  {
    for (int32_t i = LaneIndex(); i <= WordsOfStrip; i += WarpSize)
    {
      strip.Inside[i] = 0;
    }
    __syncwarp();
    const uint32_t before = MarkCrossings(rows, y, begin, strip);
    __syncwarp();
    MakeInside(strip, before);
    __syncwarp();
    WriteStrip(rows, rows.Labels + y * rows.RowStride + begin, min(StripWidth, rows.Width - begin), strip);
    __syncwarp();
  }
}

template <typename TPixel>
void
WriteLabelsOf(const CudaSnakePolygon & polygon,
              uint32_t                 inside,
              uint32_t                 outside,
              const DeviceView &       labels,
              Workspace                workspace,
              const Context &          context)
{
  constexpr uint32_t largest = static_cast<TPixel>(~TPixel{ 0 });
  if (inside > largest || outside > largest)
  {
    itkGenericExceptionMacro("The labels are " << inside << " and " << outside << "; they must be at most " << largest
                                               << ", the largest pixel of the label image");
  }
  const size_t bytes = polygon.size() * sizeof(LatticePoint);
  auto * const nodes = static_cast<LatticePoint *>(workspace.Take(bytes));
  if (bytes > 0)
  {
    // The source is pageable memory, so the polygon may change as soon as the call returns.
    ITK_CUDA_CALL(cudaMemcpyAsync(nodes, polygon.data(), bytes, cudaMemcpyHostToDevice, context.GetStream()));
  }
  const LabelRows<TPixel> rows{ static_cast<TPixel *>(labels.Data),
                                labels.Stride[1],
                                static_cast<int32_t>(labels.Size[0]),
                                static_cast<int32_t>(labels.Size[1]),
                                nodes,
                                static_cast<int32_t>(polygon.size()),
                                static_cast<TPixel>(inside),
                                static_cast<TPixel>(outside) };
  ITK_CUDA_CALL(LaunchKernel(
    WriteLabelsKernel<TPixel>,
    dim3(static_cast<unsigned int>((labels.Size[0] + StripWidth - 1) / StripWidth),
         static_cast<unsigned int>(std::min((labels.Size[1] + WarpsOfLabels - 1) / WarpsOfLabels, MaximumRowBlocks))),
    dim3(WarpsOfLabels * WarpSize),
    0,
    context.GetStream(),
    rows));
}
} // namespace

size_t
GetLabelWorkspaceBytes(const CudaSnakePolygon & polygon)
{
  return Workspace::GetPieceSize(polygon.size() * sizeof(LatticePoint));
}

void
WriteLabels(const CudaSnakePolygon & polygon,
            uint32_t                 inside,
            uint32_t                 outside,
            const DeviceView &       labels,
            Workspace                workspace,
            const Context &          context)
{
  constexpr size_t longestSide = size_t{ 1 } << 30; // indices and strides have 32 bits
  if (labels.Data == nullptr || labels.Size[2] * labels.Size[3] * labels.Size[4] != 1 ||
      std::min(labels.Size[0], labels.Size[1]) == 0 || std::max(labels.Size[0], labels.Size[1]) > longestSide)
  {
    itkGenericExceptionMacro("The label image has " << labels.Size[0] << " x " << labels.Size[1] << " x "
                                                    << labels.Size[2] * labels.Size[3] * labels.Size[4]
                                                    << " pixels; it must have memory, two dimensions and sides of 1 to "
                                                    << longestSide << " pixels");
  }
  CudaDetail::RequireCudaSnakeRows(polygon, static_cast<int32_t>(labels.Size[1]));
  const DeviceGuard guard(context.GetDevice());
  switch (labels.ComponentType)
  {
    case CudaComponentType::UChar:
      return WriteLabelsOf<uint8_t>(polygon, inside, outside, labels, workspace, context);
    case CudaComponentType::UShort:
      return WriteLabelsOf<uint16_t>(polygon, inside, outside, labels, workspace, context);
    default:
      itkGenericExceptionMacro("Labels on the device have to be unsigned char or unsigned short");
  }
}
} // namespace itk::cuda::snake
