// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_partition_refine_MergeFunctors_h
#define CudaFilters_partition_refine_MergeFunctors_h

#include "partition/executor/EdgeTable.h"
#include "partition/labels/GraphFunctors.h"
#include "partition/map/MapArrays.h"
#include "partition/refine/MergeTerms.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <type_traits>
#include <utility>

// Merges of neighbouring regions of a planar map as parallel loops.
namespace itk::cuda::partition
{
/** The gain terms of region merges: contributions of single boundary elements to the gain of a pair of regions. The
 * first entries are those of the edges, followed by three entries for the edges of each node. */
struct MergeTermArrays
{
  EdgeCode   Code;
  uint32_t   NumberOfEdges;
  uint64_t * Pairs;   // of regions; NoPair if there is no gain term
  double *   Changes; // of the description

  static constexpr uint64_t NoPair = ~uint64_t{ 0 };
};

/** The gain terms sorted by pair, and within a pair by index, and the results of the pairs. */
struct PairArrays
{
  EdgeCode         Code;
  const uint64_t * Pairs;
  const uint32_t * Terms;
  const double *   Changes; // by original index
  uint32_t         NumberOfEdges;
  double *         ChangesOfPairs; // stored at the first entry of a pair
  uint64_t *       BestChanges;    // of each region, as ordered unsigned integers
  uint32_t *       BestPairs;      // first entry of the best pair
  const double *   Descriptions;
  uint32_t *       Into; // region into which a region is merged, or None

  ITK_CUDA_HOST_DEVICE bool
  BeginsPair(size_t i) const
  {
    return Pairs[i] != MergeTermArrays::NoPair && (i == 0 || Pairs[i] != Pairs[i - 1]);
  }
  ITK_CUDA_HOST_DEVICE uint32_t
  GetFirst(size_t i) const
  {
    return Code.GetFirst(Pairs[i]);
  }
  ITK_CUDA_HOST_DEVICE uint32_t
  GetSecond(size_t i) const
  {
    return Code.GetSecond(Pairs[i]);
  }
  ITK_CUDA_HOST_DEVICE bool
  IsCandidate(size_t i) const
  {
    return this->BeginsPair(i) && ChangesOfPairs[i] < -MinimumGain;
  }
  /** Returns whether each of two regions is the other's best neighbour. */
  ITK_CUDA_HOST_DEVICE bool
  IsBestOfBoth(uint32_t i) const
  {
    return BestPairs[this->GetFirst(i)] == i && BestPairs[this->GetSecond(i)] == i;
  }
};

namespace functors
{
/** Describes the regions and clears their best pairs. */
struct BeginJoins
{
  MapRound   Round;
  double *   Descriptions;
  PairArrays Arrays;

  ITK_CUDA_HOST_DEVICE void
  operator()(size_t region) const
  {
    Descriptions[region] = Round.Model.Describe(Round.Regions[region]);
    Arrays.BestChanges[region] = ~uint64_t{ 0 };
    Arrays.BestPairs[region] = None;
    Arrays.Into[region] = None;
  }
};

/** Writes the gain terms of the edges: a merge saves the cost of each segment between the two regions. */
struct WriteSegmentTerms
{
  MapView         Map;
  double          SegmentCost;
  MergeTermArrays Arrays;

  ITK_CUDA_HOST_DEVICE void
  operator()(size_t i) const
  {
    const MapEdge & edge = Map.Edges[i];
    const bool      counts = edge.IsAlive() && !edge.IsBorder();
    Arrays.Pairs[i] = counts ? Arrays.Code.Encode(edge.Left, edge.Right) : MergeTermArrays::NoPair;
    Arrays.Changes[i] = -SegmentCost;
  }
};

/** Writes the gain terms of nodes with three edges, which can be removed when a merge removes one of their edges. */
template <typename TRound>
struct WriteNodeTerms
{
  static constexpr uint32_t TileSize = LanesOfEdge;

  TRound          Round;
  MergeTermArrays Arrays;
  size_t          NumberOfEnds; // three for each node

  ITK_CUDA_HOST_DEVICE size_t
  GetNumber() const
  {
    return NumberOfEnds;
  }
  template <typename TTile>
  ITK_CUDA_HOST_DEVICE void
  operator()(size_t i, const TTile & tile) const
  {
    const MapNode & node = Round.Nodes[i / 3];
    const auto      j = static_cast<uint32_t>(i % 3);
    const double    deltaCost =
      node.Degree == 3 ? DeltaCostOfFreedNode(Round, static_cast<uint32_t>(i / 3), j, tile) : 0.0;
    tile.Once([&] { this->Save(Arrays.NumberOfEdges + i, node.Edges[j], deltaCost); });
  }

private:
  ITK_CUDA_HOST_DEVICE void
  Save(size_t term, uint32_t number, double deltaCost) const
  {
    Arrays.Pairs[term] = MergeTermArrays::NoPair;
    if (deltaCost < 0.0)
    {
      const MapEdge & edge = Round.Edges[number];
      Arrays.Pairs[term] = Arrays.Code.Encode(edge.Left, edge.Right);
      Arrays.Changes[term] = deltaCost;
    }
  }
};

/** Computes the gain of each pair, and the smallest change among each region's pairs. */
template <typename TAtomics>
struct WeighPairs
{
  MapRound   Round;
  PairArrays Arrays;
  size_t     Number;

  ITK_CUDA_HOST_DEVICE size_t
  GetNumber() const
  {
    return Number;
  }
  ITK_CUDA_HOST_DEVICE void
  operator()(size_t i) const
  {
    if (!Arrays.BeginsPair(i))
    {
      return;
    }
    double ofSegments = 0.0;
    double ofNodes = 0.0;
    for (size_t k = i; k < Number && Arrays.Pairs[k] == Arrays.Pairs[i]; ++k)
    {
      const uint32_t term = Arrays.Terms[k];
      (term < Arrays.NumberOfEdges ? ofSegments : ofNodes) += Arrays.Changes[term];
    }
    const uint32_t first = Arrays.GetFirst(i);
    const uint32_t second = Arrays.GetSecond(i);
    const double   ofRegions = Round.Model.Describe(Round.Regions[first] + Round.Regions[second]) -
                             Arrays.Descriptions[first] - Arrays.Descriptions[second];
    const double change = ChangeOfMerge(ofRegions, ofSegments, ofNodes);
    Arrays.ChangesOfPairs[i] = change;
    if (change < -MinimumGain)
    {
      TAtomics::Minimum(Arrays.BestChanges[first], OrderOf(change));
      TAtomics::Minimum(Arrays.BestChanges[second], OrderOf(change));
    }
  }
};

/** Chooses the best pair of each region; the first one among equal changes. */
template <typename TAtomics>
struct ChoosePairs
{
  PairArrays Arrays;

  ITK_CUDA_HOST_DEVICE void
  operator()(size_t i) const
  {
    if (Arrays.IsCandidate(i))
    {
      const uint32_t regions[] = { Arrays.GetFirst(i), Arrays.GetSecond(i) };
      for (const uint32_t region : regions)
      {
        if (Arrays.BestChanges[region] == OrderOf(Arrays.ChangesOfPairs[i]))
        {
          TAtomics::Minimum(Arrays.BestPairs[region], static_cast<uint32_t>(i));
        }
      }
    }
  }
};

/** Finds the region into which each region is merged: the smaller one of a pair, for the other region of the pair and
 * for the regions with larger numbers that join the two. */
template <typename TAtomics>
struct JoinRegions
{
  MapRound   Round;
  PairArrays Arrays;

  ITK_CUDA_HOST_DEVICE void
  operator()(size_t i) const
  {
    const auto     region = static_cast<uint32_t>(i);
    const uint32_t own = Arrays.BestPairs[region];
    if (own == None)
    {
      return;
    }
    const uint32_t neighbor = Arrays.GetFirst(own) == region ? Arrays.GetSecond(own) : Arrays.GetFirst(own);
    const uint32_t pair = Arrays.BestPairs[neighbor];
    const uint32_t whole = Arrays.GetFirst(pair);
    const bool     takesPart = own == pair || JoinsPair(-Arrays.ChangesOfPairs[own],
                                                    -Arrays.ChangesOfPairs[pair],
                                                    Round.Regions[region].Count,
                                                    Round.Regions[neighbor].Count);
    if (region > whole && takesPart && Arrays.IsBestOfBoth(pair))
    {
      Arrays.Into[region] = whole;
      TAtomics::FetchIncrement(Round.Counts->Winners);
    }
  }
};

/** Adds the sums of merged regions to the regions that absorbed them. */
template <typename TAtomics>
struct TakeSums
{
  MapRound         Round;
  const uint32_t * Into;

  ITK_CUDA_HOST_DEVICE void
  operator()(size_t region) const
  {
    if (Into[region] != None)
    {
      TAtomics::Add(Round.Regions[Into[region]], Round.Regions[region]);
      Round.Regions[region] = {};
      Round.IsRegion[region] = 0;
    }
  }
};

/** Gives edges their new regions, and removes the edges within one region. DropEdgesOfNodes then updates the nodes. */
template <typename TAtomics>
struct RenumberEdges
{
  MapRound         Round;
  const uint32_t * Into;

  ITK_CUDA_HOST_DEVICE void
  operator()(size_t i) const
  {
    MapEdge & edge = Round.Edges[i];
    if (edge.IsAlive())
    {
      edge.Left = Into[edge.Left] != None ? Into[edge.Left] : edge.Left;
      edge.Right = Into[edge.Right] != None ? Into[edge.Right] : edge.Right;
      if (edge.Left == edge.Right)
      {
        edge = {};
        TAtomics::FetchIncrement(Round.Counters->RemovedEdges);
      }
    }
  }
};

/** Removes from the nodes the edges that RenumberEdges removed. */
struct DropEdgesOfNodes
{
  MapNode *       Nodes;
  const MapEdge * Edges;

  ITK_CUDA_HOST_DEVICE void
  operator()(size_t i) const
  {
    MapNode & node = Nodes[i];
    for (uint32_t j = node.Degree; j-- > 0;)
    {
      if (!Edges[node.Edges[j]].IsAlive())
      {
        node.Erase(node.Edges[j]);
      }
    }
  }
};

/** The parallel loops of a round before its gain terms are sorted. */
template <typename TRound>
struct ListMergeTerms
{
  static constexpr bool NeedsManyRegisters = true;

  TRound          Round;
  MergeTermArrays GainTerms;
  PairArrays      Pairs;
  double *        Descriptions;
  size_t          NumberOfRegions;
  size_t          NumberOfNodes;

  static constexpr size_t
  GetNumberOfLoops()
  {
    return 5;
  }
  template <typename TLoopExecutor>
  ITK_CUDA_HOST_DEVICE void
  operator()(const TLoopExecutor & executor) const
  {
    const MapRound round = Round;
    const size_t   edges = GainTerms.NumberOfEdges;
    const size_t   ends = 3 * NumberOfNodes;
    executor.ParallelForUpTo(RoundsOfGrid, ClearRound{ round.Counters });
    executor.ParallelForUpTo(NumberOfRegions, Counted<BeginMapRound>{ { round }, NumberOfRegions });
    executor.ParallelForUpTo(NumberOfRegions, Counted<BeginJoins>{ { round, Descriptions, Pairs }, NumberOfRegions });
    executor.ParallelForUpTo(
      edges, Counted<WriteSegmentTerms>{ { round.GetMap(), round.Model.SegmentCost, GainTerms }, edges });
    executor.ParallelForLongItemsUpTo(ends, WriteNodeTerms<TRound>{ Round, GainTerms, ends });
  }
};

/** The parallel loops of a round after the sort. */
template <typename TAtomics>
struct JoinBestPairs
{
  static constexpr bool NeedsManyRegisters = false;

  MapRound   Round;
  PairArrays Pairs;
  size_t     NumberOfTerms;
  size_t     NumberOfRegions;
  size_t     NumberOfNodes;

  static constexpr size_t
  GetNumberOfLoops()
  {
    return 6;
  }
  template <typename TLoopExecutor>
  ITK_CUDA_HOST_DEVICE void
  operator()(const TLoopExecutor & executor) const
  {
    const size_t edges = Pairs.NumberOfEdges;
    executor.ParallelForUpTo(NumberOfTerms, WeighPairs<TAtomics>{ Round, Pairs, NumberOfTerms });
    executor.ParallelForUpTo(NumberOfTerms, Counted<ChoosePairs<TAtomics>>{ { Pairs }, NumberOfTerms });
    executor.ParallelForUpTo(NumberOfRegions, Counted<JoinRegions<TAtomics>>{ { Round, Pairs }, NumberOfRegions });
    executor.ParallelForUpTo(NumberOfRegions, Counted<TakeSums<TAtomics>>{ { Round, Pairs.Into }, NumberOfRegions });
    executor.ParallelForUpTo(edges, Counted<RenumberEdges<TAtomics>>{ { Round, Pairs.Into }, edges });
    executor.ParallelForUpTo(NumberOfNodes, Counted<DropEdgesOfNodes>{ { Round.Nodes, Round.Edges }, NumberOfNodes });
  }
};
} // namespace functors

/** \class MergeRoundsOfMap
 * \brief The rounds of MergeRegions() on an executor.
 */
template <typename TExecutor>
class MergeRoundsOfMap
{
public:
  using GoOnFunction = std::function<bool()>;

  explicit MergeRoundsOfMap(ExecutorMap<TExecutor> & map)
    : m_Map(map)
    , m_Executor(map.GetExecutor())
  {}

  bool
  Run(const GoOnFunction & goOn)
  {
    m_Map.CompactIfSparse();
    this->Allocate();
    bool hasMerged = true;
    for (size_t round = 0; round < m_Map.GetNumberOfRegions() && hasMerged; ++round) // each round merges at least two
                                                                                     // regions
    {
      if (goOn && !goOn())
      {
        return false;
      }
      this->RunRound();
      hasMerged = m_Map.GetLastCounters().Rounds[0].Winners > 0;
    }
    return true;
  }

private:
  template <typename T>
  using Array = typename TExecutor::template Array<T>;
  using Atomics = typename TExecutor::Atomics;

  // Up to this number, the launches of a round's loops would take longer than the loops.
  static constexpr size_t MaximumTermsOfGrid = size_t{ 1 } << 18;

  ExecutorMap<TExecutor> & m_Map;
  const TExecutor &        m_Executor;
  Array<uint64_t>          m_Pairs;
  Array<double>            m_Changes;
  Array<uint64_t>          m_SortedPairs;
  Array<uint32_t>          m_Terms;
  Array<double>            m_ChangesOfPairs;
  Array<uint64_t>          m_BestChanges;
  Array<uint32_t>          m_BestPairs;
  Array<double>            m_Descriptions;
  Array<uint32_t>          m_Into;

  size_t
  GetNumberOfTerms() const
  {
    return m_Map.GetNumberOfEdges() + 3 * m_Map.GetNumberOfNodes();
  }

  void
  Allocate()
  {
    const size_t terms = this->GetNumberOfTerms();
    const size_t regions = m_Map.GetNumberOfRegions();
    m_Pairs = m_Executor.template Allocate<uint64_t>(terms);
    m_Changes = m_Executor.template Allocate<double>(terms);
    m_SortedPairs = m_Executor.template Allocate<uint64_t>(terms);
    m_Terms = m_Executor.template Allocate<uint32_t>(terms);
    m_ChangesOfPairs = m_Executor.template Allocate<double>(terms);
    m_BestChanges = m_Executor.template Allocate<uint64_t>(regions);
    m_BestPairs = m_Executor.template Allocate<uint32_t>(regions);
    m_Descriptions = m_Executor.template Allocate<double>(regions);
    m_Into = m_Executor.template Allocate<uint32_t>(regions);
  }

  void
  RunRound()
  {
    const MapRound        round = m_Map.GetRound(0);
    const size_t          terms = this->GetNumberOfTerms();
    const auto            edges = static_cast<uint32_t>(m_Map.GetNumberOfEdges());
    const EdgeCode        code = EdgeCode::Of(m_Map.GetNumberOfRegions());
    const MergeTermArrays mergeTerms{ code, edges, m_Pairs.Get(), m_Changes.Get() };
    const PairArrays      pairs{ code,
                            m_SortedPairs.Get(),
                            m_Terms.Get(),
                            m_Changes.Get(),
                            edges,
                            m_ChangesOfPairs.Get(),
                            m_BestChanges.Get(),
                            m_BestPairs.Get(),
                            m_Descriptions.Get(),
                            m_Into.Get() };
    const size_t          nodes = m_Map.GetNumberOfNodes();
    const auto            list = [&](const auto & pixels) {
      using RoundType = RefinementRound<std::decay_t<decltype(pixels)>, Atomics>;
      return functors::ListMergeTerms<RoundType>{ RoundType{ round, pixels }, mergeTerms, pairs, m_Descriptions.Get(),
                                                  m_Map.GetNumberOfRegions(), nodes };
    };
    const functors::JoinBestPairs<Atomics> join{ round, pairs, terms, m_Map.GetNumberOfRegions(), nodes };
    const bool                             isSmall = m_Executor.MayRunCooperatively(terms, MaximumTermsOfGrid);
    isSmall ? m_Executor.VisitPixelsForCooperativeRun([&](const auto & pixels) {
      m_Executor.RunCooperatively(list(pixels), edges + 3 * nodes * LanesOfEdge);
    })
                                        : m_Executor.VisitPixels([&](const auto & pixels) { m_Executor.Run(list(pixels)); });
    m_Executor.ArgSort(m_Pairs.Get(), terms, 2 * code.Bits, m_SortedPairs.Get(), m_Terms.Get());
    if (isSmall)
    {
      m_Map.RunCooperatively(join, terms);
      return;
    }
    m_Executor.Run(join);
    m_Map.ReadCounters();
  }
};
} // namespace itk::cuda::partition

#endif
