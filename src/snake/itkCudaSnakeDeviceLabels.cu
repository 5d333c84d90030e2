// SPDX-License-Identifier: Apache-2.0
#include "itkCudaSnakeDeviceLabels.h"

#include "itkCudaCall.h"
#include "itkCudaDeviceGuard.h"
#include "itkCudaRegionLattice.h"
#include "itkCudaRegionSums.cuh"

#include <algorithm>
#include <limits>

namespace itk::cuda::snake
{
namespace
{
using region::LatticePoint;

using region::kernels::LaneIndex;
using region::kernels::WarpOfBlock;
using region::kernels::WarpSize;

constexpr int     ThreadsOfLabels = 256;
constexpr int     BitsPerWord = 32;
constexpr int32_t StripWidth = ThreadsOfLabels * BitsPerWord; // pixels of a row that a block writes: a word a thread
constexpr size_t  MaximumRowBlocks = 65535;                   // of the second dimension of a grid

/** Rows of labels, and the polygon that they show. */
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

/** What a block knows of its strip of a row. */
struct LabelStrip
{
  uint32_t Inside[ThreadsOfLabels + 1]; // a bit per pixel; the last word is read with the one before, and not used
  uint32_t CrossingsBefore;             // left of the strip
  uint32_t WarpParity[ThreadsOfLabels / WarpSize];
};

/** Toggles the bit of each pixel of row y at which an edge crosses the row. */
template <typename TPixel>
__device__ void
MarkCrossings(const LabelRows<TPixel> & rows, int32_t y, int32_t begin, LabelStrip & strip)
{
  for (int32_t i = static_cast<int32_t>(threadIdx.x); i < rows.NumberOfNodes; i += ThreadsOfLabels)
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
      atomicAdd(&strip.CrossingsBefore, 1u);
    }
    else if (column < StripWidth)
    {
      atomicXor(&strip.Inside[column / BitsPerWord], 1u << column % BitsPerWord);
    }
  }
}

/** A pixel is inside if the number of crossings at it and left of it is odd. */
__device__ void
MakeInside(LabelStrip & strip)
{
  const int thread = static_cast<int>(threadIdx.x);
  uint32_t  word = strip.Inside[thread];
  for (int shift = 1; shift < BitsPerWord; shift *= 2)
  {
    word ^= word << shift;
  }
  const uint32_t odd = __ballot_sync(region::kernels::AllLanes, word >> (BitsPerWord - 1));
  if (LaneIndex() == 0)
  {
    strip.WarpParity[WarpOfBlock()] = __popc(odd);
  }
  __syncthreads();
  uint32_t before = strip.CrossingsBefore + __popc(odd & ((1u << LaneIndex()) - 1u));
  for (int i = 0; i < WarpOfBlock(); ++i)
  {
    before += strip.WarpParity[i];
  }
  strip.Inside[thread] = before % 2 ? ~word : word;
  __syncthreads();
}

/** Pixels 0 to number - 1 of the strip. */
template <typename TPixel>
__device__ void
WriteStrip(const LabelRows<TPixel> & rows, TPixel * pixels, int32_t number, const LabelStrip & strip)
{
  constexpr int32_t perVector = sizeof(uint4) / sizeof(TPixel);
  const auto        misaligned = static_cast<int32_t>(reinterpret_cast<uintptr_t>(pixels) / sizeof(TPixel) % perVector);
  const int32_t     head = misaligned == 0 ? 0 : (number < perVector - misaligned ? number : perVector - misaligned);
  const int32_t     vectors = (number - head) / perVector;
  for (int32_t vector = static_cast<int32_t>(threadIdx.x); vector < vectors; vector += ThreadsOfLabels)
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
  for (int32_t i = static_cast<int32_t>(threadIdx.x); i < head + tail; i += ThreadsOfLabels)
  {
    const int32_t x = i < head ? i : i + vectors * perVector;
    pixels[x] = strip.Inside[x / BitsPerWord] >> x % BitsPerWord & 1u ? rows.Inside : rows.Outside;
  }
}

/** A block per strip and row. */
template <typename TPixel>
__global__ void
__launch_bounds__(ThreadsOfLabels) WriteLabelsKernel(LabelRows<TPixel> rows)
{
  __shared__ LabelStrip strip;
  const int32_t         begin = static_cast<int32_t>(blockIdx.x) * StripWidth;
  for (int32_t y = static_cast<int32_t>(blockIdx.y); y < rows.Height; y += static_cast<int32_t>(gridDim.y))
  {
    strip.Inside[threadIdx.x] = 0;
    if (threadIdx.x == 0)
    {
      strip.Inside[ThreadsOfLabels] = 0;
      strip.CrossingsBefore = 0;
    }
    __syncthreads();
    MarkCrossings(rows, y, begin, strip);
    __syncthreads();
    MakeInside(strip);
    WriteStrip(rows, rows.Labels + y * rows.RowStride + begin, min(StripWidth, rows.Width - begin), strip);
    __syncthreads();
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
    // From ordinary memory: the polygon may change as soon as the call returns.
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
  ITK_CUDA_CALL(LaunchKernel(WriteLabelsKernel<TPixel>,
                             dim3(static_cast<unsigned int>((labels.Size[0] + StripWidth - 1) / StripWidth),
                                  static_cast<unsigned int>(std::min(labels.Size[1], MaximumRowBlocks))),
                             dim3(ThreadsOfLabels),
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
  constexpr size_t longestSide = std::numeric_limits<int32_t>::max() - StripWidth;
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
