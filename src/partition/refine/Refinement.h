// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_partition_refine_Refinement_h
#define CudaFilters_partition_refine_Refinement_h

#include "partition/map/EdgeGrid.h"
#include "partition/map/MapData.h"
#include "partition/refine/MoveSums.h"
#include "partition/refine/RefinementKernels.h"
#include "partition/refine/Reservation.h"
#include "region/Tables.h"
#include "region/Threads.h"

#include <cstdint>
#include <functional>
#include <vector>

// The phases that lower the description of a map. A phase is a series of rounds. In a round all proposals are made from
// the same state, conflicts are decided, and the winners are applied: the result depends on no order of work.
namespace itk::cuda::partition
{
/** What the phases need besides the map. */
struct RefinementPlan
{
  uint64_t              MinimumNumberOfPixels{ 8 }; // valid ones, below which no change takes a region
  uint64_t              ShuffleSeed{ 0 };           // for tests: not 0: work is done in a random order
  std::function<bool()> GoOn;                       // asked between rounds; false ends the phase
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

  /** Drops removed nodes and edges of the map if there are many: what is kept of an edge is lost with its number. */
  void
  Tidy();

  /** Freezes the regions' tangents and sees to the grid of edges. Returns false if the run is to end. */
  bool
  BeginRound();

  /** First-order change of the description if the left region takes `change` from the right one. */
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
  /** Of all regions. */
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

  // What the steps of changes ask for, as of a Round on the device.
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
  /** The edge is new or has moved. */
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

  /** The bids that win, ascending by Id: indices. No two of them have a point in common, and all together they leave
   * each region the pixels that it must keep. */
  template <typename TFunction>
  std::vector<size_t>
  ChooseWinners(const std::vector<Bid> & bids, const TFunction & forCells)
  {
    return this->RefuseLosses(bids, Cells.Decide(bids, forCells, Threads));
  }

  /** Puts work in a random order, if a test wants that. */
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
  std::vector<int64_t>    m_Losses;   // of regions in the present round; 0 between rounds
  std::vector<uint64_t>   m_BestKeys; // of bids that take pixels from a region
  uint64_t                m_Random;

  std::vector<size_t>
  RefuseLosses(const std::vector<Bid> & bids, const std::vector<uint8_t> & wins);
  size_t
  DrawIndex(size_t number);
};

// The phases return whether they came to their end; they were told to end before otherwise.

/** Best polylines over the corners of the lines between junctions, by dynamic programming. */
bool
SimplifyChains(Refinement & refinement);

/** Takes out single nodes where two edges meet. */
bool
RemoveNodes(Refinement & refinement);

/** Moves nodes by 1, 2 or 4 pixels in one of 8 directions. */
bool
MoveNodes(Refinement & refinement, int maximumNumberOfRounds);

/** Joins neighbouring regions. */
bool
MergeRegions(Refinement & refinement);
} // namespace itk::cuda::partition

#endif
