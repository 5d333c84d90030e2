// SPDX-License-Identifier: Apache-2.0
#include "region/HostSums.h"

#include <algorithm>

// Computes the prefix sums of an image on ITK's threads (RowSums), and the sums of the levels of the image or of a
// rectangle (SumPyramid).

namespace itk::cuda::region
{
namespace
{
bool
IsValid(const MaskCheckpoint * row, int32_t column)
{
  return ((row[column / CheckpointSpacing].Bits >> (column % CheckpointSpacing)) & 1u) != 0;
}

/** Stores the row prefixes of the image's columns first to last, each computed from the preceding one. */
template <typename TSample, bool VSquares, bool VMask>
void
SumPrefixes(const RowPrefixImage<TSample, VSquares, VMask> & pixels,
            int32_t                                          y,
            int32_t                                          first,
            int32_t                                          last,
            Moments *                                        prefixes)
{
  const TSample * row = pixels.Samples + y * pixels.RowStride;
  Moments         sums = pixels.RowPrefix(y, first);
  for (int32_t column = first; column < last; ++column)
  {
    *prefixes++ = sums;
    const uint64_t sample = static_cast<TSample>(row[column] ^ pixels.XorMask);
    sums.Count += !VMask || IsValid(pixels.Mask + y * static_cast<ptrdiff_t>(pixels.CheckpointsPerRow), column) ? 1 : 0;
    sums.Sum += sample;
    sums.SumOfSquares += VSquares ? sample * sample : 0;
  }
  *prefixes = sums;
}

void
SumPrefixes(const BlockLevel & blocks, int32_t y, int32_t first, int32_t last, Moments * prefixes)
{
  const Moments * row = blocks.Prefixes + static_cast<size_t>(y) * (blocks.Width + 1);
  std::copy(row + first, row + last + 1, prefixes);
}

/** Implements LevelSums with a view. */
template <typename TView>
class LevelOf : public LevelSums
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
    return m_View.RowPrefix(y, m_View.Left + column);
  }

  void
  RowPrefixes(int32_t y, int32_t first, int32_t last, Moments * prefixes) const override
  {
    SumPrefixes(m_View, y, m_View.Left + first, m_View.Left + last, prefixes);
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

/** Computes the checkpoints of row y. The last one is at or before the end of the row. */
template <typename TSample, bool VSquares, bool VMask>
void
SumRow(const RowPrefixImage<TSample, VSquares, VMask> & pixels, int32_t y, Checkpoint * out)
{
  const TSample * row = pixels.Samples + y * pixels.RowStride;
  const TSample   xorMask = pixels.XorMask;
  const int32_t   checkpoints = pixels.CheckpointsPerRow;
  uint64_t        sum = 0;
  uint64_t        squares = 0;
  for (int32_t block = 0; block + 1 < checkpoints; ++block)
  {
    out[block] = { sum, squares };
    uint64_t blockSum = 0;
    uint64_t blockSquares = 0;
    for (int32_t j = 0; j < CheckpointSpacing; ++j)
    {
      const uint64_t sample = static_cast<TSample>(row[block * CheckpointSpacing + j] ^ xorMask);
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

/** Computes the prefix sums of one row of cells. The level is passed by value, so that the compiler can assume that
 * writing a prefix does not change it. */
template <typename TView>
void
SumCells(const TView pixels, uint32_t exponent, int32_t cellRow, int32_t width, Moments * prefixes)
{
  const int32_t side = 1 << exponent;
  Moments       before; // sums of the pixels left of the level
  std::fill(prefixes, prefixes + width + 1, Moments{});
  for (int32_t y = cellRow * side; y < (cellRow + 1) * side; ++y)
  {
    before += pixels.RowPrefix(y, pixels.Left);
    int32_t column = pixels.Left;
    for (int32_t x = 0; x <= width; ++x, column += side)
    {
      prefixes[x] += pixels.RowPrefix(y, column);
    }
  }
  for (int32_t x = 0; pixels.Left > 0 && x <= width; ++x)
  {
    prefixes[x] -= before;
  }
}

/** Makes the cells of 2^exponent pixels a side of a level. */
template <typename TView>
BlockLevel
MakeCells(const TView & pixels, uint32_t exponent, const Threads & threads, std::vector<Moments> & prefixes)
{
  const int32_t width = pixels.Width >> exponent;
  const int32_t height = pixels.Height >> exponent;
  prefixes.resize(static_cast<size_t>(width + 1) * height);
  threads.ForRanges(static_cast<size_t>(height), 1, [&](size_t begin, size_t end) {
    for (size_t row = begin; row < end; ++row)
    {
      SumCells(pixels, exponent, static_cast<int32_t>(row), width, prefixes.data() + row * (width + 1));
    }
  });
  return { prefixes.data(), width, height };
}

/** Returns the sums of all pixels of a level. */
template <typename TView>
Moments
SumPixels(const TView & pixels)
{
  Moments sum;
  for (int32_t y = 0; y < pixels.Height; ++y)
  {
    sum += pixels.RowPrefix(y, pixels.Left + pixels.Width) - pixels.RowPrefix(y, pixels.Left);
  }
  return sum;
}
} // namespace

template <typename TFunction>
void
RowSums::Visit(const TFunction & function) const
{
  switch (m_Samples.Type)
  {
    case CudaComponentType::UChar:
      this->VisitType<uint8_t>(function);
      break;
    case CudaComponentType::UShort:
      this->VisitType<uint16_t>(function);
      break;
    default:
      this->VisitType<uint32_t>(function);
      break;
  }
}

template <typename TSample, typename TFunction>
void
RowSums::VisitType(const TFunction & function) const
{
  if (m_Samples.ValidBits)
  {
    m_Squares ? function(this->GetPixels<TSample, true, true>()) : function(this->GetPixels<TSample, false, true>());
  }
  else
  {
    m_Squares ? function(this->GetPixels<TSample, true, false>()) : function(this->GetPixels<TSample, false, false>());
  }
}

template <typename TSample, bool VSquares, bool VMask>
RowPrefixImage<TSample, VSquares, VMask>
RowSums::GetPixels() const
{
  RowPrefixImage<TSample, VSquares, VMask> pixels;
  pixels.Samples = static_cast<const TSample *>(m_Samples.Data);
  pixels.RowStride = m_Samples.RowStride;
  pixels.Checkpoints = m_Checkpoints.Get();
  pixels.Mask = m_Mask.Get();
  pixels.CheckpointsPerRow = m_Samples.Width / CheckpointSpacing + 1;
  pixels.Width = m_Samples.Width;
  pixels.Height = m_Samples.Height;
  pixels.XorMask = static_cast<TSample>(m_Samples.XorMask);
  return pixels;
}

RowSums::RowSums(const Samples & samples, bool squares, uint32_t coarseExponent, const Threads & threads)
  : m_Samples(samples)
  , m_Squares(squares)
  , m_CoarseExponent(coarseExponent)
{
  const size_t checkpoints = static_cast<size_t>(samples.Width / CheckpointSpacing + 1) * samples.Height;
  m_Checkpoints = ScratchArray<Checkpoint>(checkpoints);
  m_Mask = samples.ValidBits ? ScratchArray<MaskCheckpoint>(checkpoints) : ScratchArray<MaskCheckpoint>();
  if (coarseExponent > 0)
  {
    const BlockLevel cells = this->GetCells();
    m_Cells.resize(static_cast<size_t>(cells.Width + 1) * cells.Height);
  }
  this->Visit([&](const auto & pixels) { this->SumRows(pixels, threads); });
}

template <typename TLevel>
void
RowSums::SumRows(const TLevel & pixels, const Threads & threads)
{
  const BlockLevel cells = this->GetCells();
  // A band is one row of cells. Its cells are summed immediately, while the checkpoints are in the cache.
  const int32_t        side = 1 << m_CoarseExponent;
  const auto           bands = static_cast<size_t>((pixels.Height + side - 1) / side);
  std::vector<Moments> bandTotals(bands);
  threads.ForRanges(bands, 1, [&](size_t begin, size_t end) {
    for (size_t band = begin; band < end; ++band)
    {
      const int32_t first = static_cast<int32_t>(band) * side;
      const int32_t last = std::min(first + side, pixels.Height);
      for (int32_t y = first; y < last; ++y)
      {
        const size_t row = static_cast<size_t>(y) * pixels.CheckpointsPerRow;
        SumRow(pixels, y, m_Checkpoints.Get() + row);
        if (m_Mask.Get() != nullptr)
        {
          CountRow(m_Samples.ValidBits.get() + y * m_Samples.GetMaskWordsPerRow(),
                   pixels.CheckpointsPerRow,
                   m_Mask.Get() + row);
        }
        bandTotals[band] += pixels.RowPrefix(y, pixels.Width);
      }
      if (m_CoarseExponent > 0 && static_cast<int32_t>(band) < cells.Height)
      {
        SumCells(pixels,
                 m_CoarseExponent,
                 static_cast<int32_t>(band),
                 cells.Width,
                 m_Cells.data() + band * (static_cast<size_t>(cells.Width) + 1));
      }
    }
  });
  for (const Moments & bandTotal : bandTotals)
  {
    m_Total += bandTotal;
  }
}

SumPyramid::SumPyramid(const RowSums &        sums,
                       const PixelRectangle & rectangle,
                       uint32_t               coarseExponent,
                       const Threads &        threads)
{
  const bool whole = rectangle == sums.GetWhole();
  sums.Visit([&](auto pixels) {
    if (!whole)
    {
      pixels.Crop(rectangle);
    }
    m_Total = whole ? sums.GetTotal() : SumPixels(pixels);
    m_Pixels.reset(new LevelOf<decltype(pixels)>(pixels, 0));
    if (coarseExponent > 0)
    {
      const bool kept = whole && coarseExponent == sums.GetCoarseExponent();
      m_Blocks.reset(new LevelOf<BlockLevel>(
        kept ? sums.GetCells() : MakeCells(pixels, coarseExponent, threads, m_Cells), coarseExponent));
    }
  });
}
} // namespace itk::cuda::region
