// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_partition_labels_EdgeGraph_h
#define CudaFilters_partition_labels_EdgeGraph_h

#include "runtime/HostDevice.h"
#include "partition/labels/EdgeTable.h"
#include "executor/Executor.h"
#include "partition/MergeRule.h"
#include "partition/labels/MergeRounds.h"
#include "partition/Model.h"
#include "executor/DisjointSets.h"

#include <cstddef>
#include <cstdint>
#include <utility>

// Region merging as parallel loops over a list of edges. All executors give bit-identical results, because the change
// of a merge is the same function of the same sums, and everything else is integer arithmetic.
namespace itk::cuda::partition
{
// Loops over the edges or the regions of a graph before, between and after series of rounds. Only a later loop reads
// what a work item writes, except for atomic operations, whose order does not matter.
namespace functors
{
using executor::functors::Iota;
using executor::functors::IsRoot;
/** Flags that are set if there are regions to be united before the first round, as in few images. */
struct UnusualRegions
{
  uint32_t OfOneValue; // there are neighbours of one value
  uint32_t Empty;      // there are regions without valid pixels
};

/** Adds the sums of regions that were united to their roots. */
template <typename TAtomics>
struct ContractRegions
{
  GraphView Graph;

  ITK_CUDA_HOST_DEVICE void
  operator()(size_t region) const
  {
    const uint32_t root = Graph.Parents[region];
    if (root != region)
    {
      TAtomics::Add(Graph.Regions[root].Sums, Graph.Regions[region].Sums);
      Graph.Regions[region].Sums = {};
    }
  }
};

/** Unites neighbours if all pixels of both have the same value. */
template <typename TAtomics>
struct UniteOfOneValue
{
  GraphView        Graph;
  const uint8_t *  IsOfOneValue;
  UnusualRegions * Found;

  ITK_CUDA_HOST_DEVICE void
  operator()(size_t edge) const
  {
    const uint32_t u = Graph.GetFirst(edge);
    const uint32_t v = Graph.GetSecond(edge);
    if (IsOfOneValue[u] != 0 && IsOfOneValue[v] != 0 && GetValue(u) == GetValue(v))
    {
      Unite<TAtomics>(Graph.Parents, u, v);
      TAtomics::StoreRelaxed(Found->OfOneValue, uint32_t{ 1 });
    }
  }

private:
  ITK_CUDA_HOST_DEVICE uint64_t
  GetValue(uint32_t region) const
  {
    const Moments & sums = Graph.Regions[region].Sums;
    return sums.Sum / static_cast<uint64_t>(sums.Count);
  }
};

/** Finds whether there are regions without valid pixels. */
template <typename TAtomics>
struct FindEmpty
{
  const GraphRegion * Regions;
  uint32_t *          Found;

  ITK_CUDA_HOST_DEVICE void
  operator()(size_t region) const
  {
    if (Regions[region].Sums.Count == 0)
    {
      TAtomics::StoreRelaxed(*Found, uint32_t{ 1 });
    }
  }
};

/** Unites neighbours without valid pixels. */
template <typename TAtomics>
struct UniteEmpty
{
  GraphView Graph;

  ITK_CUDA_HOST_DEVICE void
  operator()(size_t edge) const
  {
    const uint32_t u = Graph.GetFirst(edge);
    const uint32_t v = Graph.GetSecond(edge);
    if (Graph.Regions[u].Sums.Count == 0 && Graph.Regions[v].Sums.Count == 0)
    {
      Unite<TAtomics>(Graph.Parents, u, v);
    }
  }
};

/** For each group of adjacent regions without valid pixels, finds the neighbour with the smallest number. */
template <typename TAtomics>
struct ChooseForEmpty
{
  GraphView  Graph;
  uint32_t * Choices;

  ITK_CUDA_HOST_DEVICE void
  operator()(size_t edge) const
  {
    const uint32_t u = Graph.GetFirst(edge);
    const uint32_t v = Graph.GetSecond(edge);
    const bool     uIsEmpty = Graph.Regions[u].Sums.Count == 0;
    if (uIsEmpty != (Graph.Regions[v].Sums.Count == 0))
    {
      const uint32_t empty = uIsEmpty ? u : v;
      TAtomics::Minimum(Choices[FindRoot<TAtomics>(Graph.Parents, empty)], uIsEmpty ? v : u);
    }
  }
};

/** Unites each group of adjacent regions without valid pixels with the neighbour that ChooseForEmpty found. Only the
 * roots of groups have one. */
template <typename TAtomics>
struct JoinChoice
{
  GraphView        Graph;
  const uint32_t * Choices;

  ITK_CUDA_HOST_DEVICE void
  operator()(size_t region) const
  {
    if (Choices[region] != None)
    {
      Unite<TAtomics>(Graph.Parents, static_cast<uint32_t>(region), Choices[region]);
    }
  }
};

/** Renumbers the ends of edges after regions were united, and merges edges that become equal. Lengths of the other list
 * receives the slots of the remaining edges in the table. */
template <typename TAtomics>
struct RewireEdges
{
  GraphView  Graph;
  size_t     TableSize;
  uint32_t * Number; // number of remaining edges

  ITK_CUDA_HOST_DEVICE void
  operator()(size_t edge) const
  {
    const uint32_t u = Graph.Parents[Graph.GetFirst(edge)];
    const uint32_t v = Graph.Parents[Graph.GetSecond(edge)];
    if (u != v)
    {
      const uint64_t key = Graph.Code.Encode(u, v);
      const auto     entry = Graph.Table.template Add<TAtomics>(key, Graph.Edges.Lengths[edge], TableSize);
      if (entry.IsNew)
      {
        Graph.Others.Lengths[TAtomics::FetchIncrement(*Number)] = entry.Slot;
      }
    }
  }
};

/** Moves the edges of a table to a list. The table becomes empty. */
struct TakeEdges
{
  EdgeTableView    Table;
  const uint32_t * Slots; // of the edges in the table
  uint64_t *       Keys;
  uint32_t *       Lengths;

  ITK_CUDA_HOST_DEVICE void
  operator()(size_t edge) const
  {
    Keys[edge] = Table.Keys[Slots[edge]];
    Lengths[edge] = Table.Take(Slots[edge]);
  }
};

/** Tabulates the parameter cost of a region by its number of pixels. */
struct ComputeParameterCosts
{
  DescriptionModel Model;
  double *         CachedCosts;

  ITK_CUDA_HOST_DEVICE void
  operator()(size_t count) const
  {
    CachedCosts[count] = count > 0 ? Model.ParameterCost(static_cast<int64_t>(count)) : 0.0;
  }
};

/** Computes the change of the description by the merge along each edge. */
struct ComputeMergeChanges
{
  GraphView   Graph;
  CachedModel Model;

  ITK_CUDA_HOST_DEVICE void
  operator()(size_t edge) const
  {
    const Moments & first = Graph.Regions[Graph.GetFirst(edge)].Sums;
    const Moments & second = Graph.Regions[Graph.GetSecond(edge)].Sums;
    Graph.Edges.Changes[edge] = ChangeByMerge(Model, first, second, Graph.Edges.Lengths[edge]);
  }
};

/** Compacts the remaining regions in the same order. */
struct CompactRegions
{
  GraphView        Graph;
  const uint32_t * Ranks; // number of remaining regions before each
  GraphRegion *    Regions;

  ITK_CUDA_HOST_DEVICE void
  operator()(size_t region) const
  {
    if (Graph.Parents[region] == region)
    {
      Regions[Ranks[region]].Sums = Graph.Regions[region].Sums;
    }
  }
};

/** Gives edges the new numbers of their regions. */
struct RenumberRegionsOfEdges
{
  GraphView        Graph;
  const uint32_t * Ranks;

  ITK_CUDA_HOST_DEVICE void
  operator()(size_t edge) const
  {
    const uint64_t key = Graph.Edges.Keys[edge];
    Graph.Edges.Keys[edge] = Graph.Code.Encode(Ranks[Graph.Code.GetFirst(key)], Ranks[Graph.Code.GetSecond(key)]);
  }
};

/** Updates the numbers of the original regions with the numbers of their roots. */
struct UpdateRegionNumbers
{
  const uint32_t * Parents; // roots; nullptr if each region is one
  const uint32_t * NumbersOfRoots;
  uint32_t *       Numbers;

  ITK_CUDA_HOST_DEVICE void
  operator()(size_t i) const
  {
    Numbers[i] = NumbersOfRoots[Parents != nullptr ? Parents[Numbers[i]] : Numbers[i]];
  }
};

/** Collects the sums of the remaining regions by their numbers from 1. */
struct CollectSums
{
  GraphView        Graph;
  const uint32_t * Numbers;
  Moments *        Sums;

  ITK_CUDA_HOST_DEVICE void
  operator()(size_t region) const
  {
    if (Graph.Parents[region] == region)
    {
      Sums[Numbers[region]] = Graph.Regions[region].Sums;
    }
    if (region == 0)
    {
      Sums[0] = {};
    }
  }
};
} // namespace functors

/** \class EdgeGraph
 * \brief The region adjacency graph as arrays on an executor. Regions merge in rounds.
 *
 * In a round, every region chooses the neighbour with which a merge lowers the description most, and two regions that
 * chose each other merge. Changes that are equal in single precision are ordered by the regions' numbers. A region
 * that chose one of the two joins them if JoinsPair() holds and its number is larger than the smaller one of the pair,
 * which becomes the number of the group. The groups of a round are disjoint and can be merged independently of each
 * other.
 *
 * The constructor unites adjacent regions in which all pixels have the same value, because in rounds, a large area of
 * one value would take many. It also unites adjacent regions without valid pixels, and merges each such group into the
 * neighbour with the smallest number.
 *
 * MergeSomeRounds() runs a series of rounds, after which the host learns what is left. The executor chooses between one
 * block of threads, one cooperative grid and a launch for each loop, by the number of edges. When three quarters of the
 * regions have merged, the others are renumbered in the same order, so that the data of a round stays close together in
 * memory.
 */
template <typename TExecutor>
class EdgeGraph
{
public:
  template <typename T>
  using Array = typename TExecutor::template Array<T>;
  using Atomics = typename TExecutor::Atomics;

  /** The edges between adjacent regions, one for each pair of neighbours, in any order. */
  struct EdgeList
  {
    Array<uint64_t> Keys; // encoded with EdgeCode::Of(number of regions)
    Array<uint32_t> Lengths;
    size_t          Number{ 0 };
  };

  /** The final regions. */
  struct Outcome
  {
    Array<uint32_t> Numbers; // for each original region, the number of its final region, from 1 in the order of first
                             // pixels
    Array<Moments> Sums;     // by that number; [0] has no samples
  };

  /** \param regions with their sums, numbered in the order of their first pixels
   * \param isOfOneValue for each region, whether all its valid pixels have the same value; nullptr if no region has
   * \param numberOfPixels of the image
   */
  EdgeGraph(const TExecutor &        executor,
            const DescriptionModel & model,
            size_t                   numberOfPixels,
            Array<GraphRegion>       regions,
            size_t                   numberOfRegions,
            EdgeList                 edges,
            const uint8_t *          isOfOneValue = nullptr)
    : m_Executor(executor)
    , m_NumberOfOriginalRegions(numberOfRegions)
    , m_CapacityOfRegions(numberOfRegions)
    , m_NumberOfRegions(numberOfRegions)
    , m_NumberOfEdges(edges.Number)
    , m_OriginalEdges(std::move(edges))
    , m_Table(executor, m_NumberOfEdges)
    , m_Regions(std::move(regions))
    , m_Model{ model, nullptr, static_cast<uint32_t>(std::min(numberOfPixels + 1, MaximumCachedCosts)) }
  {
    m_Graph.Code = EdgeCode::Of(numberOfRegions);
    m_Graph.Edges.Keys = m_OriginalEdges.Keys.Get();
    m_Graph.Edges.Lengths = m_OriginalEdges.Lengths.Get();
    m_Graph.Table = m_Table.View();
    m_Graph.Regions = m_Regions.Get();
    EdgeView & others = m_Graph.Others;
    m_Arrays.Allocate(executor, m_NumberOfEdges, m_Graph.Edges.Changes, others.Keys, others.Lengths, others.Changes);
    m_Arrays.Allocate(executor, numberOfRegions, m_Graph.Parents, m_Graph.BestOfEven, m_Graph.BestOfOdd);
    m_Arrays.Allocate(executor, 1, m_Graph.Series);
    m_Arrays.Allocate(executor, m_Model.NumberOfCachedCosts, m_CachedCosts);
    m_Model.CachedCosts = m_CachedCosts;
    m_Executor.ParallelFor(m_NumberOfOriginalRegions, functors::Iota{ m_Graph.Parents });
    this->UniteTrivialRegions(isOfOneValue);
  }

  size_t
  GetNumberOfRegions() const
  {
    return m_NumberOfRegions;
  }

  /** Runs a series of merge rounds. Returns whether more merges are possible. */
  bool
  MergeSomeRounds()
  {
    if (m_NumberOfRegions <= m_CapacityOfRegions / 4)
    {
      this->Compact();
    }
    this->Begin();
    const RunMergeRounds<Atomics> rounds{
      m_Graph, m_Model, m_CapacityOfRegions, m_NumberOfEdges, this->GetLengthOfSeries()
    };
    const MergeSeries series = this->Run(rounds);
    for (const uint32_t merged : series.Merged)
    {
      m_NumberOfRegions -= merged;
    }
    std::swap(m_Graph.Edges, m_Graph.Others);
    m_NumberOfEdges = series.NumberOfEdges;
    return series.Merged[rounds.NumberOfRounds - 1] > 0;
  }

  /** Returns the final regions. May be called only once, at the end. */
  Outcome
  TakeOutcome()
  {
    Outcome outcome{ m_Executor.template Allocate<uint32_t>(m_CapacityOfRegions),
                     m_Executor.template Allocate<Moments>(m_NumberOfRegions + 1) };
    NumberSets(m_Executor, m_Graph.Parents, m_CapacityOfRegions, outcome.Numbers.Get());
    m_Executor.ParallelFor(m_CapacityOfRegions,
                           functors::CollectSums{ m_Graph, outcome.Numbers.Get(), outcome.Sums.Get() });
    if (m_HasNumbers)
    {
      m_Executor.ParallelFor(m_NumberOfOriginalRegions,
                             functors::UpdateRegionNumbers{ nullptr, outcome.Numbers.Get(), m_Numbers.Get() });
      std::swap(outcome.Numbers, m_Numbers);
    }
    return outcome;
  }

private:
  // Up to this number of edges, a round in one block is faster than in a grid with grid-wide barriers.
  static constexpr size_t EdgesOfOneBlock = 2048;
  // Up to this number, a loop has hardly more work items than a cooperative grid has threads.
  static constexpr size_t EdgesOfCooperativeRun = size_t{ 1 } << 18;
  // Above this number, dropping edges after a few rounds is worth a round trip to the host.
  static constexpr size_t EdgesOfShortSeries = 65536;

  const TExecutor &     m_Executor;
  const size_t          m_NumberOfOriginalRegions;
  size_t                m_CapacityOfRegions; // size of the arrays of regions
  size_t                m_NumberOfRegions;   // remaining regions
  size_t                m_NumberOfEdges;
  bool                  m_HasBegun{ false };
  bool                  m_HasNumbers{ false }; // if false, the original regions still have their own indices
  EdgeList              m_OriginalEdges;
  EdgeTable<TExecutor>  m_Table;
  Array<GraphRegion>    m_Regions;
  Array<uint32_t>       m_Numbers; // the current index of each original region
  CachedModel           m_Model;
  double *              m_CachedCosts{ nullptr };
  GraphView             m_Graph{};
  ArrayGroup<TExecutor> m_Arrays;

  void
  Begin()
  {
    if (!m_HasBegun)
    {
      m_Executor.ParallelFor(m_Model.NumberOfCachedCosts,
                             functors::ComputeParameterCosts{ m_Model.Model, m_CachedCosts });
      m_Executor.ParallelFor(m_NumberOfEdges, functors::ComputeMergeChanges{ m_Graph, m_Model });
      m_HasBegun = true;
    }
  }

  MergeSeries
  Run(const RunMergeRounds<Atomics> & rounds) const
  {
    if (m_NumberOfEdges <= EdgesOfOneBlock)
    {
      return m_Executor.RunInOneBlock(rounds, m_Graph.Series);
    }
    if (m_Executor.PrefersSingleLaunch(m_NumberOfEdges, EdgesOfCooperativeRun))
    {
      return m_Executor.RunCooperatively(rounds, m_NumberOfEdges, m_Graph.Series);
    }
    m_Executor.Run(rounds);
    return m_Executor.Read(m_Graph.Series);
  }

  uint32_t
  GetLengthOfSeries() const
  {
    // A round trip to the host takes as long as some rounds in one block.
    return m_NumberOfEdges > EdgesOfShortSeries ? 4
           : m_NumberOfEdges > EdgesOfOneBlock  ? 64
                                                : MergeSeries::MaximumNumberOfRounds;
  }

  /** Renumbers the remaining regions. Between rounds, their sums are their only state. */
  void
  Compact()
  {
    Array<uint32_t>    ranks = m_Executor.template Allocate<uint32_t>(m_CapacityOfRegions + 1);
    Array<GraphRegion> regions = m_Executor.template Allocate<GraphRegion>(m_NumberOfRegions);
    FlattenSets(m_Executor, m_Graph.Parents, m_CapacityOfRegions);
    m_Executor.ExclusiveScan(functors::IsRoot{ m_Graph.Parents }, m_CapacityOfRegions, ranks.Get());
    m_Executor.ParallelFor(m_CapacityOfRegions, functors::CompactRegions{ m_Graph, ranks.Get(), regions.Get() });
    m_Executor.ParallelFor(m_NumberOfEdges, functors::RenumberRegionsOfEdges{ m_Graph, ranks.Get() });
    this->BeginNumbers();
    m_Executor.ParallelFor(m_NumberOfOriginalRegions,
                           functors::UpdateRegionNumbers{ m_Graph.Parents, ranks.Get(), m_Numbers.Get() });
    m_Executor.ParallelFor(m_NumberOfRegions, functors::Iota{ m_Graph.Parents });
    m_Regions = std::move(regions);
    m_Graph.Regions = m_Regions.Get();
    m_CapacityOfRegions = m_NumberOfRegions;
  }

  void
  BeginNumbers()
  {
    if (!m_HasNumbers)
    {
      m_Numbers = m_Executor.template Allocate<uint32_t>(m_NumberOfOriginalRegions);
      m_Executor.ParallelFor(m_NumberOfOriginalRegions, functors::Iota{ m_Numbers.Get() });
      m_HasNumbers = true;
    }
  }

  void
  UniteTrivialRegions(const uint8_t * isOfOneValue)
  {
    const auto flags = m_Executor.template Allocate<functors::UnusualRegions>(1);
    m_Executor.Fill(flags.Get(), 1, 0);
    if (isOfOneValue != nullptr)
    {
      m_Executor.ParallelFor(m_NumberOfEdges, functors::UniteOfOneValue<Atomics>{ m_Graph, isOfOneValue, flags.Get() });
    }
    m_Executor.ParallelFor(m_NumberOfOriginalRegions,
                           functors::FindEmpty<Atomics>{ m_Regions.Get(), &flags.Get()->Empty });
    const functors::UnusualRegions found = m_Executor.Read(flags.Get());
    if (found.OfOneValue != 0)
    {
      this->Contract();
    }
    if (found.Empty != 0)
    {
      m_Executor.ParallelFor(m_NumberOfEdges, functors::UniteEmpty<Atomics>{ m_Graph });
      const auto choices = m_Executor.template Allocate<uint32_t>(m_NumberOfOriginalRegions);
      m_Executor.Fill(choices.Get(), m_NumberOfOriginalRegions, 0xff);
      m_Executor.ParallelFor(m_NumberOfEdges, functors::ChooseForEmpty<Atomics>{ m_Graph, choices.Get() });
      m_Executor.ParallelFor(m_NumberOfOriginalRegions, functors::JoinChoice<Atomics>{ m_Graph, choices.Get() });
      this->Contract();
    }
  }

  /** Moves the sums and edges of united regions to their roots. */
  void
  Contract()
  {
    FlattenSets(m_Executor, m_Graph.Parents, m_NumberOfOriginalRegions);
    m_Executor.ParallelFor(m_NumberOfOriginalRegions, functors::ContractRegions<Atomics>{ m_Graph });
    const auto number = m_Executor.template Allocate<uint32_t>(1);
    m_Executor.Fill(number.Get(), 1, 0);
    m_Executor.ParallelFor(
      m_NumberOfEdges,
      functors::RewireEdges<Atomics>{ m_Graph, EdgeTableView::GetSize(m_NumberOfEdges), number.Get() });
    m_NumberOfEdges = m_Executor.Read(number.Get());
    m_Executor.ParallelFor(
      m_NumberOfEdges,
      functors::TakeEdges{ m_Graph.Table, m_Graph.Others.Lengths, m_Graph.Edges.Keys, m_Graph.Edges.Lengths });
    const auto ranks = m_Executor.template Allocate<uint32_t>(m_NumberOfOriginalRegions + 1);
    m_NumberOfRegions =
      m_Executor.ExclusiveScanAndRead(functors::IsRoot{ m_Graph.Parents }, m_NumberOfOriginalRegions, ranks.Get());
  }
};
} // namespace itk::cuda::partition

#endif
