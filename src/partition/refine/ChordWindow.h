// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_partition_refine_ChordWindow_h
#define CudaFilters_partition_refine_ChordWindow_h

#include "partition/refine/Changes.h"
#include "region/Sums.h"
#include "region/Tables.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace itk::cuda::partition
{
/** A cache of row prefix sums around some nodes of a chain, whose chords cross the same rows repeatedly. Has the
 * interface of a level for region::SumEdge(). */
class ChordWindow
{
public:
  static constexpr int32_t Left = 0;

  /** \param prefixes storage of the prefix sums, which grows to what the largest window needs */
  ChordWindow(const region::Level & pixels, std::vector<Moments> & prefixes)
    : m_Pixels(pixels)
    , m_Prefixes(prefixes)
  {}

  /** Covers the chords that end at node `end` of a chain with `edges` edges. The ends must be in ascending order, as
   * FindBestPolylines() visits them. */
  void
  MoveTo(size_t end, const LatticePoint * positions, size_t edges)
  {
    if (end > m_Last)
    {
      m_Last = std::min(end + Nodes - 1, edges);
      const size_t begin = end > ChainWindow ? end - ChainWindow : 0;
      LatticeBox   box = region::BoxOf(positions[begin], positions[m_Last]);
      for (size_t i = begin + 1; i < m_Last; ++i)
      {
        box = region::BoxOf({ box.MinimumX, box.MinimumY }, { box.MaximumX, box.MaximumY }, positions[i]);
      }
      this->Cover(box, CellsOfChord * (m_Last - end + 1) * (m_Last - begin));
    }
  }

  /** Returns the contribution of an edge within the box. */
  Moments
  SumEdge(const LatticePoint & p, const LatticePoint & q) const
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

  const region::Level &  m_Pixels;
  std::vector<Moments> & m_Prefixes;
  LatticeBox             m_Box{ 0, 0, 0, 0 };
  size_t                 m_Width{ 0 };
  size_t                 m_Last{ 0 };       // last node whose chords the window covers
  bool                   m_IsEmpty{ true }; // the box is too large

  /** Computes the prefix sums of a box if it has at most `limit` positions. A larger box would take longer than it
   * saves. */
  void
  Cover(const LatticeBox & box, size_t limit)
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
} // namespace itk::cuda::partition

#endif
