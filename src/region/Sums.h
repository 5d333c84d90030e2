// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_region_Sums_h
#define CudaFilters_region_Sums_h

#include "runtime/HostDevice.h"
#include "region/Lattice.h"
#include "region/Laws.h"

#include <cstddef>
#include <cstdint>

// Prefix sums along rows, from which the sums of any polygon are computed. The levels are views: they own no memory,
// and are passed to kernels by value.
namespace itk::cuda::region
{
/** Number of pixels between two checkpoints of a row. */
constexpr int32_t CheckpointSpacing = 16;

/** An exclusive prefix sum of a row: the sums of the samples before a column that is a multiple of CheckpointSpacing.
 */
struct Checkpoint
{
  uint64_t Sum;
  uint64_t SumOfSquares;
};

/** The number of valid pixels of a row before such a column, and which of the CheckpointSpacing pixels from it on are
 * valid (bit j: column + j). */
struct MaskCheckpoint
{
  uint32_t Count;
  uint32_t Bits;
};

ITK_CUDA_HOST_DEVICE inline int32_t
CountBits(uint32_t bits)
{
  bits = bits - ((bits >> 1) & 0x55555555u);
  bits = (bits & 0x33333333u) + ((bits >> 2) & 0x33333333u);
  bits = (bits + (bits >> 4)) & 0x0f0f0f0fu;
  return static_cast<int32_t>((bits * 0x01010101u) >> 24);
}

/** A rectangle of pixels: columns X to X + Width - 1 of rows Y to Y + Height - 1. */
struct PixelRectangle
{
  int32_t X{ 0 };
  int32_t Y{ 0 };
  int32_t Width{ 0 };
  int32_t Height{ 0 };

  friend bool
  operator==(const PixelRectangle & r, const PixelRectangle & s)
  {
    return r.X == s.X && r.Y == s.Y && r.Width == s.Width && r.Height == s.Height;
  }
};

/** Samples and checkpoints of the full image or of a rectangle of it. `TSample` is uint8_t, uint16_t or uint32_t. With
 * a mask, invalid pixels' samples are 0.
 *
 * A rectangle is a level of its own: its pixels, and the corners of polygons on it, are relative to its corner. Only
 * the columns of row prefixes are relative to the image's left side, and the prefixes include the pixels left of the
 * rectangle. These cancel modulo 2^64 in the sums over closed polygons. */
template <typename TSample, bool VSquares, bool VMask>
struct RowPrefixImage
{
  const TSample *        Samples;
  ptrdiff_t              RowStride; // samples
  const Checkpoint *     Checkpoints;
  const MaskCheckpoint * Mask;
  int32_t                CheckpointsPerRow;
  int32_t                Width;
  int32_t                Height;
  TSample                XorMask;   // sample = stored value ^ XorMask
  int32_t                Left{ 0 }; // first column of the level in the image

  /** Restricts this level, which must be the full image's, to a rectangle. */
  ITK_CUDA_HOST_DEVICE void
  Crop(const PixelRectangle & rectangle)
  {
    Samples += rectangle.Y * RowStride;
    Checkpoints += static_cast<size_t>(rectangle.Y) * CheckpointsPerRow;
    Mask += VMask ? static_cast<size_t>(rectangle.Y) * CheckpointsPerRow : 0;
    Width = rectangle.Width;
    Height = rectangle.Height;
    Left = rectangle.X;
  }

  /** Returns the sums of the pixels x < column of row y. The column is relative to the image's left side. */
  ITK_CUDA_HOST_DEVICE Moments
  RowPrefix(int32_t y, int32_t column) const
  {
    // Start at the nearest checkpoint, so that at most half of CheckpointSpacing samples must be added or subtracted,
    // except after the last checkpoint of a row.
    int32_t block = (column + CheckpointSpacing / 2) / CheckpointSpacing;
    block -= block >= CheckpointsPerRow ? 1 : 0;
    const int32_t    blockColumn = block * CheckpointSpacing;
    const size_t     index = static_cast<size_t>(y) * CheckpointsPerRow + block;
    const Checkpoint checkpoint = Checkpoints[index];
    Moments          moments{ column, checkpoint.Sum, checkpoint.SumOfSquares };
    const bool       before = column < blockColumn;
    const TSample *  first = Samples + y * RowStride + (before ? column : blockColumn);
    const int32_t    number = before ? blockColumn - column : column - blockColumn;
    uint64_t         sum = 0;
    uint64_t         squares = 0;
    for (int32_t j = 0; j < number; ++j)
    {
      const uint64_t sample = static_cast<TSample>(first[j] ^ XorMask);
      sum += sample;
      squares += VSquares ? sample * sample : 0;
    }
    moments.Sum += before ? 0 - sum : sum;
    moments.SumOfSquares += before ? 0 - squares : squares;
    if (VMask)
    {
      const int32_t        maskBlock = column / CheckpointSpacing;
      const MaskCheckpoint mask = Mask[static_cast<size_t>(y) * CheckpointsPerRow + maskBlock];
      const uint32_t       below = (1u << (column - maskBlock * CheckpointSpacing)) - 1u;
      moments.Count = mask.Count + CountBits(mask.Bits & below);
    }
    return moments;
  }
};

/** A level of cells of 2^exponent pixels a side. Prefixes holds the sums of the cells x < column of each row of cells,
 * for columns 0 to Width. Pixels at the right and lower sides that fill no cell belong to no cell and always stay in
 * the background, so that the lattice of cells maps exactly to the lattice of pixels. */
struct BlockLevel
{
  static constexpr int32_t Left = 0;

  const Moments * Prefixes;
  int32_t         Width;
  int32_t         Height;

  ITK_CUDA_HOST_DEVICE Moments
  RowPrefix(int32_t y, int32_t column) const
  {
    return Prefixes[static_cast<size_t>(y) * (Width + 1) + column];
  }
};

/** Returns the contribution of the rows row, row + stride, ... of an edge to the polygon's sums. */
template <typename TLevel>
ITK_CUDA_HOST_DEVICE inline Moments
SumEdgeRows(const TLevel & level, const LatticeEdge & edge, int32_t row, int32_t stride)
{
  Moments moments;
  if (row < edge.NumberOfRows)
  {
    CrossingWalker walker(edge, row, stride);
    for (; row < edge.NumberOfRows; row += stride)
    {
      moments += level.RowPrefix(edge.Top.Y + row, level.Left + walker.GetColumn());
      walker.Advance();
    }
  }
  return edge.Upward ? Moments{} - moments : moments;
}

/** Returns the contribution of the edge from p to q to the polygon's sums. */
template <typename TLevel>
ITK_CUDA_HOST_DEVICE inline Moments
SumEdge(const TLevel & level, const LatticePoint & p, const LatticePoint & q)
{
  return SumEdgeRows(level, MakeEdge(p, q), 0, 1);
}
} // namespace itk::cuda::region

#endif
