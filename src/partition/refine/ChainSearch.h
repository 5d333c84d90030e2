// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_partition_refine_ChainSearch_h
#define CudaFilters_partition_refine_ChainSearch_h

#include "partition/refine/ChainList.h"
#include "partition/refine/ChordWindow.h"
#include "partition/refine/Refinement.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace itk::cuda::partition
{
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
  std::array<uint16_t, Capacity>     m_Kept;     // nodes of the best polyline
  std::vector<Moments>               m_Prefixes; // of the window
  size_t                             m_NumberKept{ 0 };
  uint32_t                           m_Left{ Outside };
  uint32_t                           m_Right{ Outside };

  void
  Load(const Chain & chain);
  Moments
  GetChange(size_t from, size_t to) const;
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
