// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_executor_HostScene_h
#define CudaFilters_executor_HostScene_h

#include "region/Laws.h"
#include "region/Lattice.h"
#include "region/Samples.h"
#include "region/Sums.h"
#include "region/HostSums.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

// The image as work items on the host see it: for cells, and for the edges of polygons. DeviceScene.cuh is the same for
// kernels.
namespace itk::cuda::executor
{
using region::Moments;

/** An image with row prefix sums and the valid pixels (a non-owning view). */
struct Scene
{
  const region::LevelSums & Pixels;
  const uint16_t *          ValidBits; // as in region::Samples; nullptr if all pixels are valid
  size_t                    MaskWordsPerRow;

  Scene(const region::LevelSums & pixels, const region::Samples & samples)
    : Pixels(pixels)
    , ValidBits(samples.ValidBits.get())
    , MaskWordsPerRow(samples.GetMaskWordsPerRow())
  {}

  bool
  HasMask() const
  {
    return ValidBits != nullptr;
  }

  bool
  IsValid(int32_t x, int32_t y) const
  {
    const auto column = static_cast<size_t>(x);
    return ValidBits == nullptr ||
           ((ValidBits[static_cast<size_t>(y) * MaskWordsPerRow + column / 16] >> (column % 16)) & 1) != 0;
  }

  /** Returns the sums of the pixels x = first to end - 1 of row y. */
  Moments
  SumRow(int32_t y, int32_t first, int32_t end) const
  {
    return Pixels.RowPrefix(y, end) - Pixels.RowPrefix(y, first);
  }
};
/** A cache of row prefix sums around some nodes of a chain, whose chords cross the same rows repeatedly. Has the
 * interface of a level for region::SumEdge(). */
class ChordWindow
{
public:
  static constexpr int32_t Left = 0;

  /** \param longest largest number of chain edges that a chord replaces
   * \param prefixes storage of the prefix sums, which grows to what the largest window needs */
  ChordWindow(const region::LevelSums & pixels, size_t longest, std::vector<Moments> & prefixes)
    : m_Pixels(pixels)
    , m_Longest(longest)
    , m_Prefixes(prefixes)
  {}

  /** Covers the chords that end at node `end` of a chain with `edges` edges. The ends must be in ascending order, as
   * FindBestPolylines() visits them. */
  void
  MoveTo(size_t end, const region::LatticePoint * positions, size_t edges)
  {
    if (end > m_Last)
    {
      m_Last = std::min(end + Nodes - 1, edges);
      const size_t       begin = end > m_Longest ? end - m_Longest : 0;
      region::LatticeBox box = region::BoxOf(positions[begin], positions[m_Last]);
      for (size_t i = begin + 1; i < m_Last; ++i)
      {
        box = region::BoxOf({ box.MinimumX, box.MinimumY }, { box.MaximumX, box.MaximumY }, positions[i]);
      }
      this->Cover(box, CellsOfChord * (m_Last - end + 1) * (m_Last - begin));
    }
  }

  /** Returns the contribution of an edge within the box. */
  Moments
  SumEdge(const region::LatticePoint & p, const region::LatticePoint & q) const
  {
    return m_IsEmpty ? m_Pixels.SumEdge(p, q) : region::SumEdge(*this, p, q);
  }
  const Moments &
  RowPrefix(int32_t y, int32_t column) const
  {
    return m_Prefixes[static_cast<size_t>(y - m_Box.MinimumY) * m_Width + static_cast<size_t>(column - m_Box.MinimumX)];
  }

private:
  /** Number of nodes whose chords share a window. */
  static constexpr size_t Nodes = 16;
  /** A window saves time if it has at most this many positions per chord. */
  static constexpr size_t CellsOfChord = 4;

  const region::LevelSums & m_Pixels;
  const size_t              m_Longest;
  std::vector<Moments> &    m_Prefixes;
  region::LatticeBox        m_Box{ 0, 0, 0, 0 };
  size_t                    m_Width{ 0 };
  size_t                    m_Last{ 0 };       // last node whose chords the window covers
  bool                      m_IsEmpty{ true }; // the box is too large

  /** Computes the prefix sums of a box if it has at most `limit` positions. A larger box would take longer than it
   * saves. */
  void
  Cover(const region::LatticeBox & box, size_t limit)
  {
    const auto rows = static_cast<size_t>(box.MaximumY - box.MinimumY);
    m_Box = box;
    m_Width = static_cast<size_t>(box.MaximumX - box.MinimumX) + 1;
    m_IsEmpty = rows == 0 || rows * m_Width > limit;
    if (!m_IsEmpty)
    {
      m_Prefixes.resize(std::max(m_Prefixes.size(), rows * m_Width));
      for (size_t row = 0; row < rows; ++row)
      {
        const int32_t y = box.MinimumY + static_cast<int32_t>(row);
        m_Pixels.RowPrefixes(y, box.MinimumX, box.MaximumX, m_Prefixes.data() + row * m_Width);
      }
    }
  }
};
/** Sums the pixels to the left of polygon edges from row prefix sums. */
struct HostEdgeIntegrator
{
  /** Chords of a chain read a cached window of prefix sums (ChordWindow). */
  static constexpr bool HasChordWindow = true;

  const region::LevelSums & Pixels;

  Moments
  SumEdge(const region::LatticePoint & p, const region::LatticePoint & q) const
  {
    return Pixels.SumEdge(p, q);
  }
  template <typename TTeam>
  Moments
  SumEdge(const region::LatticePoint & p, const region::LatticePoint & q, const TTeam &) const
  {
    return this->SumEdge(p, q);
  }
  /** Returns a window of the calling thread. A thread uses one window at a time. */
  ChordWindow
  GetChordWindow(size_t longest) const
  {
    static thread_local std::vector<Moments> prefixes;
    return { Pixels, longest, prefixes };
  }
};
} // namespace itk::cuda::executor

#endif
