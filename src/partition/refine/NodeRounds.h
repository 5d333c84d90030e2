// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_partition_refine_NodeRounds_h
#define CudaFilters_partition_refine_NodeRounds_h

#include "partition/refine/MoveProposals.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>

// Runs the rounds of moves and of removals as sequences of parallel loops.
namespace itk::cuda::partition
{
/** The maximum number of nodes whose candidates are in memory at a time. */
constexpr size_t MaximumNodesOfPart = size_t{ 1 } << 16;

namespace functors
{
/** Runs rounds as a sequence of parallel loops without the host. Kernels that sum no edges are instantiated for
 * PlainRound, independent of the image type. \tparam TMoves KeptSumsView for executors with IsCoarseGrained,
 * otherwise MoveArrays */
template <typename TRound, typename TProposal, typename TMoves>
struct RunNodeRounds
{
  static constexpr bool NeedsManyRegisters = true;

  using PlainRound = RefinementRound<NoIntegrator, typename TRound::Atomics>;

  TRound                Round;
  NodeArrays<TProposal> Arrays;
  TMoves                Moves; // for moves only
  size_t                NumberOfRegions;
  size_t                NumberOfNodes;
  bool                  IsFirst; // whether these are the first rounds of the phase
  uint32_t              NumberOfRounds;

  template <typename TLoopExecutor>
  ITK_CUDA_HOST_DEVICE void
  operator()(const TLoopExecutor & executor) const
  {
    const BeginRounds<MapRoundCounters, uint8_t> begin{
      Round.Counters, nullptr, IsFirst ? Arrays.IsActive : nullptr, 1, NumberOfNodes
    };
    executor.ParallelForUpTo(begin.GetNumber(), begin);
    bool isDone = false;
    for (uint32_t i = 0; i < NumberOfRounds && !isDone; ++i)
    {
      TRound round = Round;
      round.Counts = Round.Counters->Rounds + i;
      const NodeKernel<PlainRound, TProposal>        kernel{ { round, {} }, Arrays };
      const BeginNodeRound<typename TRound::Atomics> beginRound{
        round, NumberOfRegions, NumberOfNodes, Arrays.IsActive, Arrays.Work
      };
      executor.ParallelForUpTo(beginRound.GetNumber(), beginRound);
      this->Propose(executor, round, kernel);
      const CheckProposals<PlainRound, TProposal> check{ { kernel } };
      isDone = executor.IsDone(&round.Counts->Proposals);
      if (!isDone)
      {
        executor.ParallelForLongItemsUpTo(NumberOfNodes, check);
        executor.ParallelForLongItemsUpTo(NumberOfNodes, ApplyProposals<PlainRound, TProposal>{ { kernel } });
        isDone = executor.IsDone(&round.Counts->Winners);
      }
    }
  }

private:
  template <typename TLoopExecutor>
  ITK_CUDA_HOST_DEVICE void
  Propose(const TLoopExecutor & executor, const TRound & round, const NodeKernel<PlainRound, TProposal> & kernel) const
  {
    if constexpr (std::is_same_v<TProposal, Removal>)
    {
      executor.ParallelForLongItemsUpTo(NumberOfNodes, ProposeRemovals<TRound>{ { round, Arrays } });
    }
    else if constexpr (TLoopExecutor::IsCoarseGrained)
    {
      executor.ParallelForLongItemsUpTo(NumberOfNodes, ProposeMovesByNode<TRound>{ { round, Arrays }, Moves });
    }
    else
    {
      for (size_t first = 0; first < NumberOfNodes; first += MaximumNodesOfPart)
      {
        const size_t left = NumberOfNodes - first;
        const size_t part = left < MaximumNodesOfPart ? left : MaximumNodesOfPart;
        TMoves       moves = Moves;
        moves.First = first;
        moves.Maximum = part;
        executor.ParallelForLongItemsUpTo(part * MoveArrays::EdgesOfNode, SumCandidates<TRound>{ round, moves });
        executor.ParallelForUpTo(part * NumberOfCandidates, WeighCandidates<PlainRound>{ kernel.Round, moves });
        executor.ParallelForLongItemsUpTo(part * MoveArrays::EdgesOfNode,
                                          TestCandidates<PlainRound>{ kernel.Round, moves });
        executor.ParallelForLongItemsUpTo(part, ProposeMoves<PlainRound>{ kernel, moves });
      }
    }
  }
};
} // namespace functors

/** \class NodeRounds
 * \brief The rounds of moves (TProposal = Move) or removals (TProposal = Removal) on an executor.
 */
template <typename TExecutor, typename TProposal>
class NodeRounds
{
public:
  /** \param keptSums for moves on executors with IsCoarseGrained */
  NodeRounds(ExecutorMap<TExecutor> & map, KeptSums<TExecutor> & keptSums)
    : m_Map(map)
    , m_Executor(map.GetExecutor())
    , m_KeptSums(keptSums)
  {}

  /** Runs the rounds until one has no winners. A node without a proposal becomes active again when it or a neighbour
   * has changed. Returns false if `goOn` returned false between two batches of rounds. */
  bool
  Run(size_t maximumNumberOfRounds, const GoOnFunction & goOn)
  {
    m_Map.CompactIfSparse();
    this->Allocate();
    size_t work = m_Map.GetNumberOfNodes();
    bool   isFirst = true;
    return m_Map.RunRounds(maximumNumberOfRounds, goOn, [&](size_t left) {
      const bool runsCooperatively =
        m_Map.GetNumberOfNodes() <= MaximumNodesOfPart && m_Executor.PrefersSingleLaunch(work, MaximumWorkOfGrid);
      const auto number =
        static_cast<uint32_t>(std::min<size_t>(left, runsCooperatively ? RoundsOfGrid : RoundsOfBatch));
      m_Map.UpdateGrid();
      this->RunRounds(runsCooperatively, number, isFirst, work);
      isFirst = false;
      const MapCounters & counters = m_Map.GetLastCounters();
      const uint32_t      rounds = counters.CountRounds(number);
      work = counters.Rounds[rounds > 0 ? rounds - 1 : 0].Work;
      return number;
    });
  }

private:
  static constexpr bool IsMove = std::is_same_v<TProposal, Move>;
  /** Maximum number of active nodes for a cooperative launch. With more candidates, a launch per loop is faster,
   * because more threads overlap their memory latency. On an H200, a picture of 16 megapixels takes 65 ms with a limit
   * of 1024 nodes, 62 with 2048, 58 with 4096 and 57 with 16384. */
  static constexpr size_t MaximumWorkOfGrid = IsMove ? 4096 : MaximumNodesOfPart;

  ExecutorMap<TExecutor> &        m_Map;
  const TExecutor &               m_Executor;
  KeptSums<TExecutor> &           m_KeptSums;
  functors::NodeArrays<TProposal> m_Arrays{};
  functors::MoveArrays            m_Moves{}; // for moves on executors without IsCoarseGrained
  ArrayGroup<TExecutor>           m_Memory;

  void
  Allocate()
  {
    const size_t nodes = m_Map.GetNumberOfNodes();
    m_Memory.Allocate(m_Executor, nodes, m_Arrays.IsActive, m_Arrays.Work, m_Arrays.Proposals, m_Arrays.Wins);
    if constexpr (IsMove && TExecutor::IsCoarseGrained)
    {
      const MapView map = m_Map.View();
      m_KeptSums.Reserve(
        m_Executor, m_Map.GetNumberOfEdges(), static_cast<size_t>(map.Width) * static_cast<size_t>(map.Height));
    }
    else if constexpr (IsMove)
    {
      const size_t part = std::min(nodes, MaximumNodesOfPart);
      m_Moves.Work = m_Arrays.Work;
      m_Memory.Allocate(m_Executor, part * functors::MoveArrays::EdgesOfNode, m_Moves.Sums);
      m_Memory.Allocate(m_Executor, part * NumberOfCandidates, m_Moves.DeltaCosts, m_Moves.Gaining);
    }
  }

  /** Returns the arrays with which all nodes propose moves. */
  auto
  GetMoves() const
  {
    if constexpr (TExecutor::IsCoarseGrained)
    {
      return m_KeptSums.View();
    }
    else
    {
      return m_Moves;
    }
  }

  /** \param isFirst whether these are the first rounds of the phase \param work maximum number of nodes of the first
   * round */
  void
  RunRounds(bool runsCooperatively, uint32_t number, bool isFirst, size_t work) const
  {
    const auto moves = this->GetMoves();
    const auto program = [&](const auto & integrator) {
      const auto round = MakeRefinementRound(m_Map, 0, integrator);
      return functors::RunNodeRounds<std::decay_t<decltype(round)>, TProposal, std::decay_t<decltype(moves)>>{
        round, m_Arrays, moves, m_Map.GetNumberOfRegions(), m_Map.GetNumberOfNodes(), isFirst, number
      };
    };
    if (runsCooperatively)
    {
      // One thread per work item, or per thread of the teams that propose removals.
      const size_t threads =
        std::max(m_Map.GetNumberOfNodes(), work * (IsMove ? functors::MoveArrays::EdgesOfNode : LanesOfChange));
      m_Executor.VisitSmallEdgeIntegrator(
        [&](const auto & integrator) { m_Map.RunCooperatively(program(integrator), threads); });
      return;
    }
    m_Executor.VisitEdgeIntegrator([&](const auto & integrator) { m_Executor.Run(program(integrator)); });
    m_Map.ReadCounters();
  }
};
} // namespace itk::cuda::partition

#endif
