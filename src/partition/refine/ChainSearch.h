// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_partition_refine_ChainSearch_h
#define CudaFilters_partition_refine_ChainSearch_h

#include "partition/refine/ChainList.h"
#include "partition/refine/Refinement.h"
#include "region/Sums.h"

#include <array>
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

  explicit ChordWindow(const region::Level & pixels)
    : m_Pixels(pixels)
  {}

  /** Computes the prefix sums of a box if it has at most `limit` positions. A larger box would take longer than it
   * saves. */
  void
  Cover(const LatticeBox & box, size_t limit);

  /** Returns the contribution of an edge within the box. */
  Moments
  SumEdge(const LatticePoint & p, const LatticePoint & q) const
  {
    return m_Prefixes.empty() ? m_Pixels.SumEdge(p, q) : region::SumEdge(*this, p, q);
  }
  const Moments &
  RowPrefix(int32_t y, int32_t column) const
  {
    return m_Prefixes[static_cast<size_t>(y - m_Box.MinimumY) * m_Width + static_cast<size_t>(column - m_Box.MinimumX)];
  }

private:
  const region::Level & m_Pixels;
  LatticeBox            m_Box{ 0, 0, 0, 0 };
  size_t                m_Width{ 0 };
  std::vector<Moments>  m_Prefixes; // empty if the box is too large
};

/** Finds the best polyline from the first node of a chain to its last over a subset of its nodes. */
class ChainSearch
{
public:
  ChainSearch(const Refinement & refinement, const ChainList & chains);

  /** Tries to shorten a chain. Returns whether that has a gain and is possible; `bid` and `isKept`, one value for each
   * node of the chain, are then set. */
  bool
  Run(size_t number, RankedProposal & bid, uint8_t * isKept);

private:
  using Chain = ChainList::Chain;

  static constexpr size_t Capacity = LongestChain + 1;

  const Refinement &                 m_Refinement;
  const ChainList &                  m_Chains;
  std::array<LatticePoint, Capacity> m_Positions; // of the chain's nodes
  std::array<Moments, Capacity>      m_Sums;      // sums of the edges before each node
  std::array<double, Capacity>       m_Costs;
  std::array<uint8_t, Capacity>      m_Spans;
  std::array<uint16_t, Capacity>     m_Kept; // nodes of the best polyline
  ChordWindow                        m_Window;
  size_t                             m_NumberKept{ 0 };
  uint32_t                           m_Left{ Outside };
  uint32_t                           m_Right{ Outside };

  void
  Load(const Chain & chain);
  Moments
  GetChange(size_t from, size_t to) const;
  void
  MoveWindow(size_t first, size_t last);
  void
  FindBest(size_t edges);
  bool
  Shortens(const Chain & chain, double cost, RankedProposal & bid) const;
  bool
  Propose(const Chain & chain, size_t number, RankedProposal & bid, uint8_t * isKept);
  void
  Trace(size_t edges);
  const LatticePoint &
  KeptAt(size_t i) const
  {
    return m_Positions[m_Kept[i]];
  }
  bool
  MeetsItself(bool isClosed) const;
  bool
  ChordsAreSafe(const Chain & chain, size_t number) const;
};
} // namespace itk::cuda::partition

#endif
