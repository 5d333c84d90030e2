// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_partition_refine_MapMerges_h
#define CudaFilters_partition_refine_MapMerges_h

#include "partition/labels/EdgeTable.h"
#include "partition/MergeRule.h"
#include "partition/refine/RefinementRound.h"

#include <cstddef>
#include <cstdint>
#include <type_traits>

// Merges neighbouring regions of a planar map by parallel loops. FindMergeRoot() decides which regions become one, as
// in the rounds that merge labels. The gains depend on the polygons, so that each round computes them anew.
namespace itk::cuda::partition
{
/** If a merge raises the description length by more nats than this, the gain of freed nodes is not computed, because it
 * does not compensate such a rise. */
constexpr double MaximumRise = 200.0;

/** The best merge of a region of a map. */
struct MapMergeCandidate
{
  uint32_t Neighbor; // None if no merge lowers the description
  double   Change;

  ITK_CUDA_HOST_DEVICE uint32_t
  GetNeighbor() const
  {
    return Neighbor;
  }
  ITK_CUDA_HOST_DEVICE double
  GetGain() const
  {
    return -Change;
  }
};

/** The arrays of a round. A gain term is the contribution of one element of a boundary to the gain of a pair of
 * regions: first there is a term for each edge, then three for the edges of each node. After they are sorted by pair,
 * and within a pair by index, the results of a pair are at its first entry. */
struct MergeArrays
{
  static constexpr uint64_t NoPair = ~uint64_t{ 0 };

  EdgeCode   Code;
  size_t     NumberOfRegions;
  size_t     NumberOfEdges;
  size_t     NumberOfNodes;
  uint64_t * PairsOfTerms; // NoPair if there is no gain term
  double *   Changes;      // of the description by each term
  uint64_t * Pairs;        // sorted
  uint32_t * Terms;        // index of each sorted term
  double *   ChangesOfPairs;
  uint64_t * BestChanges; // of each region, as ordered unsigned integers
  uint32_t * BestPairs;   // first entry of each region's best pair
  double *   Descriptions;
  uint32_t * Into; // region into which a region is merged, or None

  ITK_CUDA_HOST_DEVICE size_t
  GetNumberOfEnds() const
  {
    return 3 * NumberOfNodes;
  }
  ITK_CUDA_HOST_DEVICE size_t
  GetNumberOfTerms() const
  {
    return NumberOfEdges + this->GetNumberOfEnds();
  }
  ITK_CUDA_HOST_DEVICE size_t
  GetNumberOfRegionsOrEdges() const
  {
    return NumberOfRegions > NumberOfEdges ? NumberOfRegions : NumberOfEdges;
  }
  ITK_CUDA_HOST_DEVICE bool
  BeginsPair(size_t i) const
  {
    return Pairs[i] != NoPair && (i == 0 || Pairs[i] != Pairs[i - 1]);
  }
  ITK_CUDA_HOST_DEVICE MapMergeCandidate
  GetBestMerge(uint32_t region) const
  {
    const uint32_t pair = BestPairs[region];
    if (pair == None)
    {
      return { None, 0.0 };
    }
    const uint32_t first = Code.GetFirst(Pairs[pair]);
    return { first == region ? Code.GetSecond(Pairs[pair]) : first, ChangesOfPairs[pair] };
  }
};

namespace functors
{
/** Base of the loops of a round whose number of work items the host knows. */
struct MergeLoop
{
  MapRound    Round;
  MergeArrays Arrays;
  size_t      Number;

  ITK_CUDA_HOST_DEVICE size_t
  GetNumber() const
  {
    return Number;
  }
};

/** Describes the regions and clears their best pairs, and writes the gain terms of the edges: a merge saves the cost of
 * each segment between the two regions. */
struct BeginMerges : MergeLoop
{
  ITK_CUDA_HOST_DEVICE void
  operator()(size_t i) const
  {
    if (i == 0)
    {
      *Round.Counts = {};
    }
    if (i < Arrays.NumberOfRegions)
    {
      BeginMapRound{ Round }(i);
      Arrays.Descriptions[i] = Round.Model.Describe(Round.Regions[i]);
      Arrays.BestChanges[i] = ~uint64_t{ 0 };
      Arrays.BestPairs[i] = None;
      Arrays.Into[i] = None;
    }
    if (i < Arrays.NumberOfEdges)
    {
      const MapEdge & edge = Round.Edges[i];
      const bool      counts = edge.IsAlive() && !edge.IsBorder();
      Arrays.PairsOfTerms[i] = counts ? Arrays.Code.Encode(edge.Left, edge.Right) : MergeArrays::NoPair;
      Arrays.Changes[i] = -Round.Model.SegmentCost;
    }
  }
};

/** Writes the gain terms of nodes with three edges, which can be removed when a merge removes one of their edges. */
template <typename TRound>
struct WriteNodeTerms
{
  static constexpr uint32_t TeamSize = LanesOfEdge;

  TRound      Round;
  MergeArrays Arrays;

  ITK_CUDA_HOST_DEVICE size_t
  GetNumber() const
  {
    return Arrays.GetNumberOfEnds();
  }
  template <typename TTeam>
  ITK_CUDA_HOST_DEVICE void
  operator()(size_t i, const TTeam & team) const
  {
    const MapNode & node = Round.Nodes[i / 3];
    const auto      j = static_cast<uint32_t>(i % 3);
    const double deltaCost = node.Degree == 3 ? this->DeltaCostOfFreedNode(static_cast<uint32_t>(i / 3), j, team) : 0.0;
    team.Single([&] {
      const size_t term = Arrays.NumberOfEdges + i;
      Arrays.PairsOfTerms[term] = MergeArrays::NoPair;
      if (deltaCost < 0.0)
      {
        const MapEdge & edge = Round.Edges[node.Edges[j]];
        Arrays.PairsOfTerms[term] = Arrays.Code.Encode(edge.Left, edge.Right);
        Arrays.Changes[term] = deltaCost;
      }
    });
  }

private:
  /** Returns the first-order change of the description length by removing a node with three edges when its edge j is
   * removed. It is not negative if the node stays. */
  template <typename TTeam>
  ITK_CUDA_HOST_DEVICE double
  DeltaCostOfFreedNode(uint32_t i, uint32_t j, const TTeam & team) const
  {
    const MapView   map = Round.GetMap();
    const MapNode & node = map.Nodes[i];
    const MapEdge & f = map.Edges[node.Edges[(j + 1) % 3]];
    const MapEdge & g = map.Edges[node.Edges[(j + 2) % 3]];
    const uint32_t  a = f.GetOther(i);
    const uint32_t  b = g.GetOther(i);
    if (map.Edges[node.Edges[j]].IsBorder() || f.IsBorder() || g.IsBorder() || a == b)
    {
      return 0.0;
    }
    const MapEdge first = f.From(a);
    const Moments change = SumEdge(Round.Integrator, map.At(a), map.At(b), team) - (first.Sums + g.From(i).Sums);
    return -Round.Model.SegmentCost + Round.DeltaCostOf(first.Left, first.Right, change);
  }
};

/** Computes the gain of each pair, and the smallest change among each region's pairs. */
template <typename TAtomics>
struct WeighPairs : MergeLoop
{
  ITK_CUDA_HOST_DEVICE void
  operator()(size_t i) const
  {
    if (!Arrays.BeginsPair(i))
    {
      return;
    }
    double ofSegments = 0.0;
    double ofNodes = 0.0; // from the nodes that can be removed afterwards
    for (size_t k = i; k < Number && Arrays.Pairs[k] == Arrays.Pairs[i]; ++k)
    {
      const uint32_t term = Arrays.Terms[k];
      (term < Arrays.NumberOfEdges ? ofSegments : ofNodes) += Arrays.Changes[term];
    }
    const uint32_t first = Arrays.Code.GetFirst(Arrays.Pairs[i]);
    const uint32_t second = Arrays.Code.GetSecond(Arrays.Pairs[i]);
    const double   ofRegions = Round.Model.Describe(Round.Regions[first] + Round.Regions[second]) -
                             Arrays.Descriptions[first] - Arrays.Descriptions[second];
    const double withoutNodes = ofRegions + ofSegments;
    const double change = withoutNodes + (withoutNodes < MaximumRise ? ofNodes : 0.0);
    Arrays.ChangesOfPairs[i] = change;
    if (change < -MinimumGain)
    {
      TAtomics::Minimum(Arrays.BestChanges[first], OrderOf(change));
      TAtomics::Minimum(Arrays.BestChanges[second], OrderOf(change));
    }
  }
};

/** Chooses the best pair of each region; the one with the smallest neighbour among equal changes, which comes first. */
template <typename TAtomics>
struct ChoosePairs : MergeLoop
{
  ITK_CUDA_HOST_DEVICE void
  operator()(size_t i) const
  {
    if (Arrays.BeginsPair(i) && Arrays.ChangesOfPairs[i] < -MinimumGain)
    {
      const uint32_t regions[] = { Arrays.Code.GetFirst(Arrays.Pairs[i]), Arrays.Code.GetSecond(Arrays.Pairs[i]) };
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

/** Finds the region into which each region is merged. */
template <typename TAtomics>
struct JoinRegions : MergeLoop
{
  ITK_CUDA_HOST_DEVICE void
  operator()(size_t i) const
  {
    const auto     region = static_cast<uint32_t>(i);
    const uint32_t root = FindMergeRoot(
      region,
      [this](uint32_t j) { return Arrays.GetBestMerge(j); },
      [this](uint32_t j) { return Round.Regions[j].Count; });
    if (root < region)
    {
      Arrays.Into[region] = root;
      TAtomics::FetchIncrement(Round.Counts->Winners);
    }
  }
};

/** Moves the sums of merged regions to those that absorbed them. Gives edges their new regions, and removes the edges
 * within one region. DropEdgesOfNodes then updates the nodes. */
template <typename TAtomics>
struct ApplyMerges : MergeLoop
{
  ITK_CUDA_HOST_DEVICE void
  operator()(size_t i) const
  {
    const uint32_t * const into = Arrays.Into;
    if (i < Arrays.NumberOfRegions && into[i] != None)
    {
      TAtomics::Add(Round.Regions[into[i]], Round.Regions[i]);
      Round.Regions[i] = {};
      Round.IsRegion[i] = 0;
    }
    if (i < Arrays.NumberOfEdges && Round.Edges[i].IsAlive())
    {
      MapEdge & edge = Round.Edges[i];
      edge.Left = into[edge.Left] != None ? into[edge.Left] : edge.Left;
      edge.Right = into[edge.Right] != None ? into[edge.Right] : edge.Right;
      if (edge.Left == edge.Right)
      {
        edge = {};
        TAtomics::FetchIncrement(Round.Counters->RemovedEdges);
      }
    }
  }
};

/** Removes from the nodes the edges that ApplyMerges removed. */
struct DropEdgesOfNodes : MergeLoop
{
  ITK_CUDA_HOST_DEVICE void
  operator()(size_t i) const
  {
    MapNode & node = Round.Nodes[i];
    for (uint32_t j = node.Degree; j-- > 0;)
    {
      if (!Round.Edges[node.Edges[j]].IsAlive())
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

  TRound      Round;
  MergeArrays Arrays;

  template <typename TLoopExecutor>
  ITK_CUDA_HOST_DEVICE void
  operator()(const TLoopExecutor & executor) const
  {
    const BeginMerges begin{ { Round, Arrays, Arrays.GetNumberOfRegionsOrEdges() } };
    executor.ParallelForUpTo(begin.Number, begin);
    executor.ParallelForLongItemsUpTo(Arrays.GetNumberOfEnds(), WriteNodeTerms<TRound>{ Round, Arrays });
  }
};

/** The parallel loops of a round after the sort. */
template <typename TAtomics>
struct JoinBestPairs
{
  static constexpr bool NeedsManyRegisters = false;

  MapRound    Round;
  MergeArrays Arrays;

  template <typename TLoopExecutor>
  ITK_CUDA_HOST_DEVICE void
  operator()(const TLoopExecutor & executor) const
  {
    const MergeLoop ofTerms{ Round, Arrays, Arrays.GetNumberOfTerms() };
    const MergeLoop ofRegions{ Round, Arrays, Arrays.NumberOfRegions };
    const MergeLoop ofRegionsOrEdges{ Round, Arrays, Arrays.GetNumberOfRegionsOrEdges() };
    const MergeLoop ofNodes{ Round, Arrays, Arrays.NumberOfNodes };
    executor.ParallelForUpTo(ofTerms.Number, WeighPairs<TAtomics>{ ofTerms });
    executor.ParallelForUpTo(ofTerms.Number, ChoosePairs<TAtomics>{ ofTerms });
    executor.ParallelForUpTo(ofRegions.Number, JoinRegions<TAtomics>{ ofRegions });
    executor.ParallelForUpTo(ofRegionsOrEdges.Number, ApplyMerges<TAtomics>{ ofRegionsOrEdges });
    executor.ParallelForUpTo(ofNodes.Number, DropEdgesOfNodes{ ofNodes });
  }
};
} // namespace functors

/** \class MapMerges
 * \brief Merges neighbouring regions of a map in rounds, until no merge lowers the description.
 */
template <typename TExecutor>
class MapMerges
{
public:
  explicit MapMerges(ExecutorMap<TExecutor> & map)
    : m_Map(map)
    , m_Executor(map.GetExecutor())
  {}

  /** Returns false if `goOn` returned false between two rounds. */
  bool
  Run(const GoOnFunction & goOn)
  {
    m_Map.CompactIfSparse();
    this->Allocate();
    // Each round merges at least two regions.
    return m_Map.RunRounds(m_Map.GetNumberOfRegions(), goOn, [this](size_t) {
      this->RunRound();
      return 1u;
    });
  }

private:
  using Atomics = typename TExecutor::Atomics;

  // Up to this number, the launches of a round's loops would take longer than the loops.
  static constexpr size_t MaximumTermsOfGrid = size_t{ 1 } << 18;

  ExecutorMap<TExecutor> & m_Map;
  const TExecutor &        m_Executor;
  MergeArrays              m_Arrays{};
  ArrayGroup<TExecutor>    m_Memory;

  void
  Allocate()
  {
    m_Arrays.Code = EdgeCode::Of(m_Map.GetNumberOfRegions());
    m_Arrays.NumberOfRegions = m_Map.GetNumberOfRegions();
    m_Arrays.NumberOfEdges = m_Map.GetNumberOfEdges();
    m_Arrays.NumberOfNodes = m_Map.GetNumberOfNodes();
    m_Memory.Allocate(m_Executor,
                      m_Arrays.GetNumberOfTerms(),
                      m_Arrays.PairsOfTerms,
                      m_Arrays.Changes,
                      m_Arrays.Pairs,
                      m_Arrays.Terms,
                      m_Arrays.ChangesOfPairs);
    m_Memory.Allocate(m_Executor,
                      m_Arrays.NumberOfRegions,
                      m_Arrays.BestChanges,
                      m_Arrays.BestPairs,
                      m_Arrays.Descriptions,
                      m_Arrays.Into);
  }

  void
  RunRound()
  {
    const MergeArrays & arrays = m_Arrays;
    const size_t        terms = arrays.GetNumberOfTerms();
    const bool          runsCooperatively = m_Executor.PrefersSingleLaunch(terms, MaximumTermsOfGrid);
    const auto          list = [&](const auto & integrator) {
      const auto round = MakeRefinementRound(m_Map, 0, integrator);
      return functors::ListMergeTerms<std::decay_t<decltype(round)>>{ round, arrays };
    };
    const functors::JoinBestPairs<Atomics> join{ m_Map.GetRound(0), arrays };
    if (runsCooperatively)
    {
      const size_t threads = arrays.NumberOfEdges + arrays.GetNumberOfEnds() * LanesOfEdge;
      m_Executor.VisitSmallEdgeIntegrator(
        [&](const auto & integrator) { m_Executor.RunCooperatively(list(integrator), threads); });
    }
    else
    {
      m_Executor.VisitEdgeIntegrator([&](const auto & integrator) { m_Executor.Run(list(integrator)); });
    }
    m_Executor.ArgSort(arrays.PairsOfTerms, terms, 2 * arrays.Code.Bits, arrays.Pairs, arrays.Terms);
    if (runsCooperatively)
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
