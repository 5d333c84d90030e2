// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_partition_refine_Refinement_h
#define CudaFilters_partition_refine_Refinement_h

#include "partition/map/EdgeGrid.h"
#include "partition/map/MapData.h"
#include "partition/refine/MoveSums.h"
#include "partition/refine/RefinementGains.h"
#include "partition/refine/Reservation.h"
#include "region/Tables.h"
#include "region/Threads.h"

#include <cstdint>
#include <functional>
#include <vector>

// The phases that lower the description of a map. A phase is a series of rounds. In a round, all proposals are made
// from the same state, conflicts are resolved, and the winners are applied, so that the result does not depend on the
// order of work.
namespace itk::cuda::partition
{
/** Parameters of the phases. */
struct RefinementPlan
{
  uint64_t              MinimumNumberOfPixels{ 8 }; // no change makes a region smaller than this many valid pixels
  uint64_t              ShuffleSeed{ 0 };           // for tests: if not 0, work is done in a random order
  std::function<bool()> GoOn;                       // called between rounds; returning false ends the phase
};

/** The state of a map's refinement, which the phases share. */
class Refinement
{
public:
  Refinement(MapData &               map,
             const region::Level &   pixels,
             const Model &           model,
             const RefinementPlan &  plan,
             const region::Threads & threads);

  MapData &               Map;
  const region::Level &   Pixels;
  const Model &           Description;
  const RefinementPlan &  Plan;
  const region::Threads & Threads;
  EdgeGrid                Grid;
  Reservation             Cells;
  MoveSums                KeptSums;

  /** Compacts the map if many of its nodes and edges were removed. Data kept per edge is lost, because edges are
   * renumbered. */
  void
  CompactIfSparse();

  /** Freezes the regions' tangents and updates the edge grid. Returns false if the run is to end. */
  bool
  BeginRound();

  /** Returns the first-order change of the description if the left region takes `change` from the right one. */
  double
  GainOf(uint32_t left, uint32_t right, const Moments & change) const
  {
    return this->GetTangents(left, right).GainOf(change);
  }
  BoundaryTangents
  GetTangents(uint32_t left, uint32_t right) const
  {
    return { m_Tangents[left], m_Tangents[right] };
  }
  /** Returns the tangents of all regions. */
  const std::vector<LinearForm> &
  GetTangents() const
  {
    return m_Tangents;
  }
  bool
  Allows(const CountChanges & changes) const
  {
    return LeavesEnoughPixels(changes, Map.Regions.data(), Plan.MinimumNumberOfPixels);
  }

  // The interface that the shared functions of changes need; on the device, Round provides it.
  MapView
  GetMap() const
  {
    return Map;
  }
  EdgeGridView
  GetGrid() const
  {
    return Grid;
  }
  MapNode *
  GetNodes()
  {
    return Map.Nodes.data();
  }
  MapEdge *
  GetEdges()
  {
    return Map.Edges.data();
  }
  double
  GetSegmentCost() const
  {
    return Description.SegmentCost;
  }
  Moments
  SumEdge(const LatticePoint & p, const LatticePoint & q) const
  {
    return Pixels.SumEdge(p, q);
  }
  /** Adds an edge that is new or has moved. */
  void
  AddToGrid(uint32_t edge)
  {
    Grid.Add(Map, edge);
  }
  void
  Transfer(uint32_t left, uint32_t right, const Moments & change)
  {
    Map.Transfer(left, right, change);
  }
  void
  CountRemovedEdges(size_t)
  {}

  /** Returns the indices of the winning proposals, in ascending order of their Ids. No two of them have a common point,
   * and together they leave each region its minimum number of pixels. */
  template <typename TFunction>
  std::vector<size_t>
  ChooseWinners(const std::vector<RankedProposal> & proposals, const TFunction & forCells)
  {
    return this->RefuseLosses(proposals, Cells.Decide(proposals, forCells, Threads));
  }

  /** Puts work in a random order if a test requests it. */
  template <typename TElement>
  void
  Shuffle(std::vector<TElement> & work)
  {
    if (Plan.ShuffleSeed != 0)
    {
      for (size_t i = work.size(); i > 1; --i)
      {
        std::swap(work[i - 1], work[this->DrawIndex(i)]);
      }
    }
  }

private:
  std::vector<LinearForm> m_Tangents;
  std::vector<int64_t>    m_Losses;   // of regions in the current round; 0 between rounds
  std::vector<uint64_t>   m_BestKeys; // smallest key of the proposals that take pixels from a region
  uint64_t                m_Random;

  std::vector<size_t>
  RefuseLosses(const std::vector<RankedProposal> & proposals, const std::vector<uint8_t> & wins);
  size_t
  DrawIndex(size_t number);
};

// The phases return whether they completed; otherwise they were told to end early.

/** Finds the best polylines over the nodes of the lines between junctions, by dynamic programming. */
bool
SimplifyChains(Refinement & refinement);

/** Removes single nodes where two edges meet. */
bool
RemoveNodes(Refinement & refinement);

/** Moves nodes by 1, 2 or 4 pixels in one of 8 directions. */
bool
MoveNodes(Refinement & refinement, int maximumNumberOfRounds);

/** Merges neighbouring regions. */
bool
MergeRegions(Refinement & refinement);
} // namespace itk::cuda::partition

#endif
