// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_executor_DeviceScene_cuh
#define CudaFilters_executor_DeviceScene_cuh

#include "region/Laws.h"
#include "region/DeviceSums.h"
#include "region/Sums.cuh"

#include <cstddef>
#include <cstdint>

// The image as kernels see it: for cells, and for the edges of polygons.
namespace itk::cuda::executor
{
using region::Moments;

/** The image as device code for cells sees it. */
template <typename TSample, bool VMask>
struct DeviceScene
{
  region::kernels::DevicePixels<TSample, VMask> Pixels;
  bool                                          Squares; // whether the sums include squares, which depends on the law

  __device__ bool
  HasMask() const
  {
    return VMask;
  }
  __device__ bool
  IsValid(int32_t x, int32_t y) const
  {
    if constexpr (VMask)
    {
      const size_t block = static_cast<size_t>(y) * Pixels.CheckpointsPerRow + x / region::CheckpointSpacing;
      return ((Pixels.Mask[block].Bits >> (x % region::CheckpointSpacing)) & 1u) != 0;
    }
    return true;
  }
  /** Returns the sums of the pixels x = first to end - 1 of row y. */
  __device__ Moments
  SumRow(int32_t y, int32_t first, int32_t end) const
  {
    Moments sums = Pixels.RowPrefix(y, end) - Pixels.RowPrefix(y, first);
    sums.SumOfSquares = Squares ? sums.SumOfSquares : 0;
    return sums;
  }
};

/** The image as device code for polygon edges sees it. The sample type is a runtime value, because the polygon kernels
 * are large and would take long to compile for each sample type. `VTogether` rows of an edge are loaded together to
 * overlap their memory latency. */
template <int32_t VTogether>
struct DeviceEdgeIntegrator
{
  const void *                   Samples;
  ptrdiff_t                      RowStride;
  const region::Checkpoint *     Checkpoints;
  const region::MaskCheckpoint * Mask; // may be null
  int32_t                        CheckpointsPerRow;
  int32_t                        Width;
  int32_t                        Height;
  uint32_t                       XorMask;
  uint32_t                       BytesPerSample;
  bool                           Squares; // whether the sums include squares, which depends on the law

  explicit DeviceEdgeIntegrator(const region::DeviceSums & sums, bool squares)
    : Samples(sums.GetSamples())
    , RowStride(sums.GetRowStride())
    , Checkpoints(sums.GetCheckpoints())
    , Mask(sums.GetMask())
    , CheckpointsPerRow(sums.GetDescription().Width / region::CheckpointSpacing + 1)
    , Width(sums.GetDescription().Width)
    , Height(sums.GetDescription().Height)
    , XorMask(sums.GetDescription().XorMask)
    , BytesPerSample(static_cast<uint32_t>(CudaComponentSize(sums.GetDescription().Type)))
    , Squares(squares)
  {}

  __device__ Moments
  SumEdge(const region::LatticePoint & p, const region::LatticePoint & q) const
  {
    const region::LatticeEdge edge = region::MakeEdge(p, q);
    return edge.NumberOfRows > 0 ? SumRows(*this, edge, 0, 1) : Moments{};
  }
  /** Sums an edge with a team of threads. The rows are distributed in strides over the team's threads. */
  template <typename TTeam>
  __device__ Moments
  SumEdge(const region::LatticePoint & p, const region::LatticePoint & q, const TTeam & team) const
  {
    const region::LatticeEdge edge = region::MakeEdge(p, q);
    const StridedRange        share = team.GetShare();
    return team.Sum(share.First < edge.NumberOfRows ? SumRows(*this, edge, share.First, share.Stride) : Moments{});
  }

private:
  template <typename TSample, bool VMask>
  __device__ region::kernels::DevicePixels<TSample, VMask>
             GetPixels() const
  {
    region::kernels::DevicePixels<TSample, VMask> pixels{};
    pixels.Samples = static_cast<const TSample *>(Samples);
    pixels.RowStride = RowStride;
    pixels.Checkpoints = Checkpoints;
    pixels.Mask = Mask;
    pixels.CheckpointsPerRow = CheckpointsPerRow;
    pixels.Width = Width;
    pixels.Height = Height;
    pixels.XorMask = static_cast<TSample>(XorMask);
    return pixels;
  }

  /** Sums the rows first, first + stride, ... This function is not inlined because the kernels call it from several
   * places. Its arguments are passed by value: passing an address would force the object, together with the whole
   * kernel functor that contains it, into local memory. */
  static __device__ __noinline__ Moments
  SumRows(const DeviceEdgeIntegrator edges, const region::LatticeEdge edge, int32_t first, int32_t stride)
  {
    if (edges.Squares)
    {
      return edges.Mask != nullptr ? edges.SumRowsOf<true, true>(edge, first, stride)
                                   : edges.SumRowsOf<false, true>(edge, first, stride);
    }
    return edges.Mask != nullptr ? edges.SumRowsOf<true, false>(edge, first, stride)
                                 : edges.SumRowsOf<false, false>(edge, first, stride);
  }
  template <bool VMask, bool VSquares>
  __device__ Moments
  SumRowsOf(const region::LatticeEdge & edge, int32_t first, int32_t stride) const
  {
    switch (BytesPerSample)
    {
      case 1:
        return SumRowsOf<VTogether, VSquares>(this->GetPixels<uint8_t, VMask>(), edge, first, stride);
      case 2:
        return SumRowsOf<VTogether, VSquares>(this->GetPixels<uint16_t, VMask>(), edge, first, stride);
      default: // the look-ups of 4-byte samples take more registers
        return SumRowsOf<2, VSquares>(this->GetPixels<uint32_t, VMask>(), edge, first, stride);
    }
  }
  /** Sums rows as region::SumEdge() does. */
  template <int32_t VRows, bool VSquares, typename TPixels>
  static __device__ Moments
  SumRowsOf(const TPixels & pixels, const region::LatticeEdge & edge, int32_t first, int32_t stride)
  {
    region::CrossingWalker walker(edge, first, stride);
    Moments                sums;
    for (int32_t begin = first; begin < edge.NumberOfRows; begin += VRows * stride)
    {
      typename TPixels::Lookup lookups[VRows];
#pragma unroll
      for (int32_t j = 0; j < VRows; ++j)
      {
        // Past the last row, the last row is loaded again. This costs little, because most edges have few rows.
        const int32_t row = begin + j * stride;
        lookups[j] = pixels.Fetch(edge.Top.Y + min(row, edge.NumberOfRows - 1), walker.GetColumn());
        if (row + stride < edge.NumberOfRows)
        {
          walker.Advance();
        }
      }
#pragma unroll
      for (int32_t j = 0; j < VRows; ++j)
      {
        if (begin + j * stride < edge.NumberOfRows)
        {
          sums += pixels.template Resolve<VSquares>(lookups[j]);
        }
      }
    }
    return edge.Upward ? Moments{} - sums : sums;
  }
};
} // namespace itk::cuda::executor

#endif
