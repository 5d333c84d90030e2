// SPDX-License-Identifier: Apache-2.0
#include "itkCudaRegionTables.h"

#include <algorithm>

namespace itk::cuda::region
{
namespace
{
/** A level whose sums are those of a view. */
template <typename TView>
class LevelOf : public Level
{
public:
  LevelOf(const TView & view, uint32_t exponent)
    : m_View(view)
  {
    Width = view.Width;
    Height = view.Height;
    Exponent = exponent;
  }

  Moments
  RowPrefix(int32_t y, int32_t column) const override
  {
    return m_View.RowPrefix(y, column);
  }

  Moments
  SumEdge(const LatticePoint & p, const LatticePoint & q) const override
  {
    return region::SumEdge(m_View, p, q);
  }

  void
  SumMoves(const LatticePoint & before,
           const LatticePoint & at,
           const LatticePoint & after,
           const LatticePoint * positions,
           int                  numberOfPositions,
           Moments *            changes) const override
  {
    const Moments present = region::SumEdge(m_View, before, at) + region::SumEdge(m_View, at, after);
    for (int i = 0; i < numberOfPositions; ++i)
    {
      const LatticePoint p = positions[i];
      changes[i] =
        p == at ? Moments{} : region::SumEdge(m_View, before, p) + region::SumEdge(m_View, p, after) - present;
    }
  }

private:
  const TView m_View;
};

/** Checkpoints of one row; the last one stands at or before the row's end. */
template <typename TSample, bool VSquares>
void
SumRow(const TSample * row, TSample flip, int32_t checkpoints, Checkpoint * out)
{
  uint64_t sum = 0;
  uint64_t squares = 0;
  for (int32_t block = 0; block + 1 < checkpoints; ++block)
  {
    out[block] = { sum, squares };
    uint64_t blockSum = 0;
    uint64_t blockSquares = 0;
    for (int32_t j = 0; j < CheckpointSpacing; ++j)
    {
      const uint64_t sample = static_cast<TSample>(row[block * CheckpointSpacing + j] ^ flip);
      blockSum += sample;
      blockSquares += VSquares ? sample * sample : 0;
    }
    sum += blockSum;
    squares += blockSquares;
  }
  out[checkpoints - 1] = { sum, squares };
}

void
CountRow(const uint16_t * bits, int32_t checkpoints, MaskCheckpoint * out)
{
  uint32_t count = 0;
  for (int32_t block = 0; block < checkpoints; ++block)
  {
    out[block] = { count, bits[block] };
    count += static_cast<uint32_t>(CountBits(bits[block]));
  }
}

/** Prefixes of the cells of one row of cells. */
template <typename TView>
void
SumCells(const TView & pixels, uint32_t exponent, int32_t cellRow, int32_t width, Moments * prefixes)
{
  const int32_t side = 1 << exponent;
  std::fill(prefixes, prefixes + width + 1, Moments{});
  for (int32_t y = cellRow * side; y < (cellRow + 1) * side; ++y)
  {
    for (int32_t x = 0; x <= width; ++x)
    {
      prefixes[x] += pixels.RowPrefix(y, x * side);
    }
  }
}
} // namespace

Tables::Tables(const Samples & samples, bool squares, uint32_t coarseExponent, const Threads & threads)
{
  switch (samples.Type)
  {
    case CudaComponentType::UChar:
      squares ? this->Build<uint8_t, true>(samples, coarseExponent, threads)
              : this->Build<uint8_t, false>(samples, coarseExponent, threads);
      break;
    case CudaComponentType::UShort:
      squares ? this->Build<uint16_t, true>(samples, coarseExponent, threads)
              : this->Build<uint16_t, false>(samples, coarseExponent, threads);
      break;
    default:
      squares ? this->Build<uint32_t, true>(samples, coarseExponent, threads)
              : this->Build<uint32_t, false>(samples, coarseExponent, threads);
      break;
  }
}

template <typename TSample, bool VSquares>
void
Tables::Build(const Samples & samples, uint32_t coarseExponent, const Threads & threads)
{
  samples.ValidBits ? this->BuildLevels<TSample, VSquares, true>(samples, coarseExponent, threads)
                    : this->BuildLevels<TSample, VSquares, false>(samples, coarseExponent, threads);
}

template <typename TSample, bool VSquares, bool VMask>
void
Tables::BuildLevels(const Samples & samples, uint32_t coarseExponent, const Threads & threads)
{
  const int32_t checkpointsPerRow = samples.Width / CheckpointSpacing + 1;
  const size_t  checkpoints = static_cast<size_t>(checkpointsPerRow) * samples.Height;
  m_Checkpoints.reset(new Checkpoint[checkpoints]);
  m_Mask.reset(VMask ? new MaskCheckpoint[checkpoints] : nullptr);

  PixelLevel<TSample, VSquares, VMask> pixels;
  pixels.Samples = static_cast<const TSample *>(samples.Data);
  pixels.RowStride = samples.RowStride;
  pixels.Checkpoints = m_Checkpoints.get();
  pixels.Mask = m_Mask.get();
  pixels.CheckpointsPerRow = checkpointsPerRow;
  pixels.Width = samples.Width;
  pixels.Height = samples.Height;
  pixels.Flip = static_cast<TSample>(samples.Flip);

  const int32_t blockWidth = samples.Width >> coarseExponent;
  const int32_t blockHeight = samples.Height >> coarseExponent;
  if (coarseExponent > 0)
  {
    m_Prefixes.resize(static_cast<size_t>(blockWidth + 1) * blockHeight);
  }
  // Bands of one row of cells each, so that the cells are summed while the checkpoints are in the cache.
  const int32_t        side = 1 << coarseExponent;
  const auto           bands = static_cast<size_t>((samples.Height + side - 1) / side);
  std::vector<Moments> bandTotals(bands);
  threads.ForRanges(bands, 1, [&](size_t begin, size_t end) {
    for (size_t band = begin; band < end; ++band)
    {
      const int32_t first = static_cast<int32_t>(band) * side;
      const int32_t last = std::min(first + side, samples.Height);
      for (int32_t y = first; y < last; ++y)
      {
        const size_t row = static_cast<size_t>(y) * checkpointsPerRow;
        SumRow<TSample, VSquares>(
          pixels.Samples + y * pixels.RowStride, pixels.Flip, checkpointsPerRow, m_Checkpoints.get() + row);
        if (VMask)
        {
          CountRow(samples.ValidBits.get() + y * samples.GetMaskWordsPerRow(), checkpointsPerRow, m_Mask.get() + row);
        }
        bandTotals[band] += pixels.RowPrefix(y, samples.Width);
      }
      if (coarseExponent > 0 && static_cast<int32_t>(band) < blockHeight)
      {
        SumCells(
          pixels, coarseExponent, static_cast<int32_t>(band), blockWidth, m_Prefixes.data() + band * (blockWidth + 1));
      }
    }
  });
  for (const Moments & bandTotal : bandTotals)
  {
    m_Total += bandTotal;
  }
  m_Pixels.reset(new LevelOf<PixelLevel<TSample, VSquares, VMask>>(pixels, 0));
  if (coarseExponent > 0)
  {
    m_Blocks.reset(new LevelOf<BlockLevel>(BlockLevel{ m_Prefixes.data(), blockWidth, blockHeight }, coarseExponent));
  }
}
} // namespace itk::cuda::region
