// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_partition_refine_NodeRounds_h
#define CudaFilters_partition_refine_NodeRounds_h

#include "partition/refine/NodeMoves.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <type_traits>

// The rounds of moves and removals as sequences of parallel loops.
namespace itk::cuda::partition
{
namespace functors
{
/** Clears the counters of the rounds of a cooperative launch. */
struct BeginNodeRounds
{
  MapCounters * Counters;
  uint8_t *     IsActive; // set for all nodes; may be null
  size_t        NumberOfNodes;

  ITK_CUDA_HOST_DEVICE size_t
  GetNumber() const
  {
    return NumberOfNodes > RoundsOfGrid ? NumberOfNodes : RoundsOfGrid;
  }
  ITK_CUDA_HOST_DEVICE void
  operator()(size_t i) const
  {
    if (i < RoundsOfGrid)
    {
      ClearRound{ Counters }(i);
    }
    if (i < NumberOfNodes && IsActive != nullptr)
    {
      IsActive[i] = 1;
    }
  }
};

/** Runs rounds as a sequence of parallel loops without the host. \tparam TMoves NodeMoves, or MoveArrays, whose
 * candidates are all in memory at the same time */
template <typename TRound, typename TProposal, typename TAtomics, typename TMoves>
struct RunNodeRounds
{
  static constexpr bool NeedsManyRegisters = true;

  TRound                Round;
  NodeArrays<TProposal> Arrays;
  TMoves                Moves; // for moves only
  size_t                NumberOfRegions;
  size_t                NumberOfNodes;
  bool                  IsFirst; // first launch of the phase
  uint32_t              NumberOfRounds;

  template <typename TLoopExecutor>
  ITK_CUDA_HOST_DEVICE void
  operator()(const TLoopExecutor & executor) const
  {
    const BeginNodeRounds begin{ Round.Counters, IsFirst ? Arrays.IsActive : nullptr, NumberOfNodes };
    executor.ParallelForUpTo(begin.GetNumber(), begin);
    bool isOver = false;
    for (uint32_t i = 0; i < NumberOfRounds && !isOver; ++i)
    {
      TRound round = Round;
      round.Counts = Round.Counters->Rounds + i;
      const NodeKernel<TRound, TProposal> kernel{ round, Arrays };
      const BeginNodeRound<TAtomics>      begin{ round, NumberOfRegions, NumberOfNodes, Arrays.IsActive, Arrays.Work };
      executor.ParallelForUpTo(begin.GetNumber(), begin);
      this->Propose(executor, kernel);
      const CheckProposals<TRound, TProposal> check{ kernel };
      isOver = executor.IsOver(check);
      if (!isOver)
      {
        executor.ParallelForLongItemsUpTo(NumberOfNodes, check);
        executor.ParallelForLongItemsUpTo(NumberOfNodes, ApplyProposals<TRound, TProposal, TAtomics>{ kernel });
        isOver = executor.IsOver(WinnersOfRound{ round.Counts });
      }
    }
  }

private:
  template <typename TLoopExecutor>
  ITK_CUDA_HOST_DEVICE void
  Propose(const TLoopExecutor & executor, const NodeKernel<TRound, Move> & kernel) const
  {
    if constexpr (TLoopExecutor::IsCoarseGrained)
    {
      executor.ParallelForLongItemsUpTo(NumberOfNodes, ProposeMovesByNode<TRound, TAtomics>{ kernel, Moves });
    }
    else
    {
      executor.ParallelForLongItemsUpTo(NumberOfNodes * MoveArrays::EdgesOfNode,
                                        SumCandidates<TRound>{ kernel.Round, Moves });
      executor.ParallelForUpTo(NumberOfNodes * NumberOfCandidates,
                               WeighCandidates<TRound, TAtomics>{ kernel.Round, Moves });
      executor.ParallelForLongItemsUpTo(NumberOfNodes * MoveArrays::EdgesOfNode,
                                        TestCandidates<TRound>{ kernel.Round, Moves });
      executor.ParallelForLongItemsUpTo(NumberOfNodes, ProposeMoves<TRound, TAtomics>{ kernel, Moves });
    }
  }
  template <typename TLoopExecutor>
  ITK_CUDA_HOST_DEVICE void
  Propose(const TLoopExecutor & executor, const NodeKernel<TRound, Removal> & kernel) const
  {
    executor.ParallelForLongItemsUpTo(NumberOfNodes, ProposeRemovals<TRound, TAtomics>{ kernel });
  }
};
} // namespace functors

/** The maximum number of nodes whose candidates are in memory at a time. */
constexpr size_t MaximumNodesOfPart = size_t{ 1 } << 16;

/** \class NodeRounds
 * \brief The rounds of moves (TProposal = Move) or removals (TProposal = Removal) on an executor.
 */
template <typename TExecutor, typename TProposal>
class NodeRounds
{
public:
  using GoOnFunction = std::function<bool()>;

  explicit NodeRounds(ExecutorMap<TExecutor> & map)
    : m_Map(map)
    , m_Executor(map.GetExecutor())
  {}

  /** Runs the rounds until one has no winners. A node without a proposal becomes active again when it or a neighbour
   * has changed. Returns false if `goOn` returned false between two rounds. */
  bool
  Run(size_t maximumNumberOfRounds, const GoOnFunction & goOn)
  {
    m_Map.CompactIfSparse();
    this->Allocate();
    size_t left = maximumNumberOfRounds;
    size_t work = m_Map.GetNumberOfNodes();
    bool   isFirst = true;
    bool   isOver = false;
    while (left > 0 && !isOver)
    {
      const bool isSmall =
        m_Map.GetNumberOfNodes() <= MaximumNodesOfPart && m_Executor.MayRunCooperatively(work, MaximumWorkOfGrid);
      if (isFirst && !isSmall)
      {
        m_Executor.Fill(m_IsActive.Get(), m_Map.GetNumberOfNodes(), 1);
      }
      if (goOn && !goOn())
      {
        return false;
      }
      m_Map.UpdateGrid();
      const auto number = static_cast<uint32_t>(std::min<size_t>(left, isSmall ? RoundsOfGrid : RoundsOfBatch));
      isSmall ? this->RunRoundsCooperatively(number, isFirst, work) : this->RunRounds(number);
      isFirst = false;
      const MapCounters & counters = m_Map.GetLastCounters();
      const uint32_t      rounds = counters.CountRounds(number);
      work = counters.Rounds[rounds > 0 ? rounds - 1 : 0].Work;
      left -= rounds;
      isOver = rounds < number && counters.Added <= m_Map.GetGridCapacity();
    }
    return true;
  }

private:
  template <typename T>
  using Array = typename TExecutor::template Array<T>;
  using Atomics = typename TExecutor::Atomics;
  using PlainRound = RefinementRound<NoPixels, Atomics>;
  static constexpr bool IsMove = std::is_same_v<TProposal, Move>;
  /** Maximum number of active nodes for a cooperative launch. With more candidates, a launch per loop is faster,
   * because more threads overlap their memory latency. On an H200, a picture of 16 megapixels takes 65 ms with a limit
   * of 1024 nodes, 62 with 2048, 58 with 4096 and 57 with 16384. */
  static constexpr size_t MaximumWorkOfGrid = IsMove ? 4096 : MaximumNodesOfPart;

  ExecutorMap<TExecutor> & m_Map;
  const TExecutor &        m_Executor;
  Array<uint8_t>           m_IsActive;
  Array<uint32_t>          m_Work;
  Array<TProposal>         m_Proposals;
  Array<uint8_t>           m_Wins;
  Array<Moments>           m_Sums;
  Array<double>            m_DeltaCosts;
  Array<uint32_t>          m_Gaining;

  void
  Allocate()
  {
    const size_t nodes = m_Map.GetNumberOfNodes();
    m_IsActive = m_Executor.template Allocate<uint8_t>(nodes);
    m_Work = m_Executor.template Allocate<uint32_t>(nodes);
    m_Proposals = m_Executor.template Allocate<TProposal>(nodes);
    m_Wins = m_Executor.template Allocate<uint8_t>(nodes);
    if constexpr (IsMove && TExecutor::IsCoarseGrained)
    {
      m_Map.ReserveKeptSums();
    }
    else if constexpr (IsMove)
    {
      const size_t part = std::min(nodes, MaximumNodesOfPart);
      m_Sums = m_Executor.template Allocate<Moments>(part * functors::MoveArrays::EdgesOfNode);
      m_DeltaCosts = m_Executor.template Allocate<double>(part * NumberOfCandidates);
      m_Gaining = m_Executor.template Allocate<uint32_t>(part * NumberOfCandidates);
    }
  }

  /** Returns the arrays with which all nodes propose moves. */
  auto
  GetMoves() const
  {
    if constexpr (TExecutor::IsCoarseGrained)
    {
      return functors::NodeMoves{ m_Work.Get(), m_Map.GetKeptSums() };
    }
    else
    {
      return functors::MoveArrays{
        { 0, m_Map.GetNumberOfNodes() }, m_Work.Get(), m_Sums.Get(), m_DeltaCosts.Get(), m_Gaining.Get()
      };
    }
  }

  void
  RunRounds(uint32_t number) const
  {
    m_Map.ClearRounds();
    for (uint32_t i = 0; i < number; ++i)
    {
      this->QueueRound(i);
    }
    m_Map.ReadCounters();
  }

  /** \param isFirst whether these are the first rounds of the phase \param work maximum number of nodes of the first
   * round */
  void
  RunRoundsCooperatively(uint32_t number, bool isFirst, size_t work) const
  {
    // One thread per work item, or per thread of the tiles that propose removals.
    const size_t threads =
      std::max(m_Map.GetNumberOfNodes(), work * (IsMove ? functors::MoveArrays::EdgesOfNode : LanesOfChange));
    const auto moves = this->GetMoves();
    using Moves = std::remove_const_t<decltype(moves)>;
    m_Executor.VisitPixelsForCooperativeRun([&](const auto & pixels) {
      using RoundType = RefinementRound<std::decay_t<decltype(pixels)>, Atomics>;
      m_Map.RunCooperatively(
        functors::RunNodeRounds<RoundType, TProposal, Atomics, Moves>{
          RoundType{ m_Map.GetRound(0), pixels },
          { m_IsActive.Get(), m_Work.Get(), m_Proposals.Get(), m_Wins.Get() },
          moves,
          m_Map.GetNumberOfRegions(),
          m_Map.GetNumberOfNodes(),
          isFirst,
          number },
        threads);
    });
  }

  void
  QueueRound(uint32_t number) const
  {
    const MapRound                        view = m_Map.GetRound(number);
    const size_t                          nodes = m_Map.GetNumberOfNodes();
    const size_t                          regions = m_Map.GetNumberOfRegions();
    const functors::NodeArrays<TProposal> arrays{ m_IsActive.Get(), m_Work.Get(), m_Proposals.Get(), m_Wins.Get() };
    const functors::NodeKernel<PlainRound, TProposal> kernel{ PlainRound{ view, {} }, arrays };
    m_Executor.ParallelFor(std::max(nodes, regions),
                           functors::BeginNodeRound<Atomics>{ view, regions, nodes, m_IsActive.Get(), m_Work.Get() });
    m_Executor.VisitPixels([&](const auto & pixels) {
      this->QueueProposals(RefinementRound<std::decay_t<decltype(pixels)>, Atomics>{ view, pixels }, kernel);
    });
    m_Executor.ParallelForUpTo(nodes, functors::CheckProposals<PlainRound, TProposal>{ kernel });
    m_Executor.ParallelForUpTo(nodes, functors::ApplyProposals<PlainRound, TProposal, Atomics>{ kernel });
  }

  template <typename TRound>
  void
  QueueProposals(const TRound & round, const functors::NodeKernel<PlainRound, TProposal> & kernel) const
  {
    const size_t nodes = m_Map.GetNumberOfNodes();
    if constexpr (IsMove && TExecutor::IsCoarseGrained)
    {
      const functors::NodeKernel<TRound, Move> kernelOfPixels{ round, kernel.Arrays };
      m_Executor.ParallelForLongItemsUpTo(
        nodes, functors::ProposeMovesByNode<TRound, Atomics>{ kernelOfPixels, this->GetMoves() });
    }
    else if constexpr (IsMove)
    {
      for (size_t first = 0; first < nodes; first += MaximumNodesOfPart)
      {
        const size_t               part = std::min(nodes - first, MaximumNodesOfPart);
        const functors::MoveArrays moves{
          { first, part }, m_Work.Get(), m_Sums.Get(), m_DeltaCosts.Get(), m_Gaining.Get()
        };
        m_Executor.ParallelForUpTo(part * functors::MoveArrays::EdgesOfNode,
                                   functors::SumCandidates<TRound>{ round, moves });
        if (first > 0)
        {
          m_Executor.Fill(&kernel.Round.Counts->Candidates, 1, 0); // count of the previous part
        }
        m_Executor.ParallelForUpTo(part * NumberOfCandidates,
                                   functors::WeighCandidates<PlainRound, Atomics>{ kernel.Round, moves });
        m_Executor.ParallelForUpTo(part * functors::MoveArrays::EdgesOfNode,
                                   functors::TestCandidates<PlainRound>{ kernel.Round, moves });
        m_Executor.ParallelForUpTo(part, functors::ProposeMoves<PlainRound, Atomics>{ kernel, moves });
      }
    }
    else
    {
      m_Executor.ParallelForUpTo(
        nodes,
        functors::ProposeRemovals<TRound, Atomics>{ functors::NodeKernel<TRound, Removal>{ round, kernel.Arrays } });
    }
  }
};
} // namespace itk::cuda::partition

#endif
