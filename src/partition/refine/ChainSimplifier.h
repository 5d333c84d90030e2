// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_partition_refine_ChainSimplifier_h
#define CudaFilters_partition_refine_ChainSimplifier_h

#include "partition/refine/ChainFunctors.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

// Finds the best polylines over the nodes of the lines between junctions, in rounds of parallel loops.
namespace itk::cuda::partition
{
/** Maximum number of rounds, even if more would gain: chains at a junction change one after the other. */
constexpr int MaximumNumberOfChainRounds = 30;

namespace functors
{
/** The parallel loops of a round. Kernels that sum no edges are instantiated for PlainRound, independent of the
 * image type. */
template <typename TRound>
struct ChainRound
{
  using Atomics = typename TRound::Atomics;
  using PlainRound = RefinementRound<NoIntegrator, Atomics>;

  TRound             Round;
  ChainArrays        Arrays;
  ListLines<Atomics> Lines;
  ChainCounters      Maximum; // upper limits for the round

  /** Finds the best polylines of a part of the chains. */
  template <typename TLoopExecutor>
  ITK_CUDA_HOST_DEVICE void
  Search(const TLoopExecutor & executor, const PartOfChains & part, double * costsOfChords) const
  {
    const ChainKernel<TRound> kernel{ Round, Arrays };
    if constexpr (HasChordWindow<decltype(TRound::Integrator)>)
    {
      executor.ParallelForTeamsUpTo(part.GetNumberOfChains(Maximum), SearchChains<TRound>{ kernel, part, nullptr });
    }
    else
    {
      const size_t chords = ChordOfWorkItem::GetNumberOfWorkItems(part.GetNumberOfVertices(Maximum));
      executor.ParallelForUpTo(chords, CostChords<TRound>{ kernel, part, costsOfChords, CostedBy::Threads });
      executor.ParallelForLongItemsUpTo(chords, CostChords<TRound>{ kernel, part, costsOfChords, CostedBy::Teams });
      executor.ParallelForTeamsUpTo(part.GetNumberOfChains(Maximum),
                                    SearchChains<PlainRound>{ this->GetKernel(), part, costsOfChords });
    }
  }
  template <typename TLoopExecutor>
  ITK_CUDA_HOST_DEVICE void
  Fill(const TLoopExecutor & executor) const
  {
    const ChainKernel<PlainRound> kernel = this->GetKernel();
    const LineArrays              lines = Lines;
    executor.ParallelForUpTo(Lines.NumberOfEdges,
                             FillChains<PlainRound>{ kernel.Round, Arrays, lines, Lines.NumberOfEdges });
    executor.ParallelForTeamsUpTo(Maximum.GetNumberOfChains(), SumChains<PlainRound>{ kernel });
  }
  /** Tests the polylines, and applies the winners. */
  template <typename TLoopExecutor>
  ITK_CUDA_HOST_DEVICE void
  Decide(const TLoopExecutor & executor) const
  {
    const size_t                  vertices = Maximum.GetNumberOfVertices();
    const size_t                  chains = Maximum.GetNumberOfChains();
    const ChainKernel<PlainRound> kernel = this->GetKernel();
    executor.ParallelForTeamsUpTo(vertices, TestPieces<TRound>{ Round, Arrays });
    executor.ParallelForUpTo(chains, ProposeChains<PlainRound>{ kernel });
    executor.ParallelForLongItemsUpTo(vertices, ReserveCellsOfChains<PlainRound>{ kernel });
    executor.ParallelForLongItemsUpTo(vertices, CheckChains<PlainRound>{ kernel });
    executor.ParallelForLongItemsUpTo(vertices, FreeCellsOfChains<PlainRound>{ kernel });
    executor.ParallelForUpTo(chains, AcceptChains<PlainRound>{ kernel });
    executor.ParallelForLongItemsUpTo(vertices, ReplaceByChords<PlainRound>{ kernel });
    executor.ParallelForUpTo(vertices, AttachChords<PlainRound>{ kernel });
  }

private:
  ITK_CUDA_HOST_DEVICE ChainKernel<PlainRound>
                       GetKernel() const
  {
    return { { Round, {} }, Arrays };
  }
};

/** Runs rounds as a sequence of parallel loops without the host. All chains are in one part. */
template <typename TRound>
struct RunChainRounds
{
  static constexpr bool NeedsManyRegisters = true;

  ChainRound<TRound> First;
  ChainCounters *    Counters; // of each round
  double *           CostsOfChords;
  uint32_t           NumberOfEdges;
  uint32_t           NumberOfRounds;

  template <typename TLoopExecutor>
  ITK_CUDA_HOST_DEVICE void
  operator()(const TLoopExecutor & executor) const
  {
    const BeginRounds<ChainCounters, uint32_t> begin{
      First.Round.Counters, Counters, First.Arrays.ChainOfEdge, None, NumberOfEdges
    };
    executor.ParallelForUpTo(begin.GetNumber(), begin);
    bool isDone = false;
    for (uint32_t i = 0; i < NumberOfRounds && !isDone; ++i)
    {
      ChainRound<TRound> round = First;
      round.Round.Counts = First.Round.Counters->Rounds + i;
      round.Arrays.Counters = Counters + i;
      round.Lines.Counters = Counters + i;
      round.Lines(executor);
      round.Fill(executor);
      round.Search(executor, PartOfChains{}, CostsOfChords);
      round.Decide(executor);
      isDone = executor.IsDone(&round.Round.Counts->Winners);
    }
  }
};
} // namespace functors

/** Maximum number of edges of a map whose rounds run in one cooperative launch. */
constexpr size_t MaximumEdgesOfChainGrid = size_t{ 1 } << 14;
/** Maximum number of edges for listing the lines in one cooperative launch. It is larger, because most of these
 * loops are pointer jumps of a few microseconds. */
constexpr size_t MaximumEdgesOfLineGrid = size_t{ 1 } << 22;

/** \class ChainSimplifier
 * \brief Replaces the lines between junctions by the best polylines over their nodes, in rounds.
 */
template <typename TExecutor>
class ChainSimplifier
{
public:
  /** \param maximumVerticesOfPart maximum number of chain vertices whose chord costs are in memory at a time; a longer
   * chain is a part of its own */
  ChainSimplifier(ExecutorMap<TExecutor> & map, size_t maximumVerticesOfPart)
    : m_Map(map)
    , m_Executor(map.GetExecutor())
    , m_MaximumVerticesOfPart(maximumVerticesOfPart)
    , m_Counters(m_Executor.template Allocate<ChainCounters>(RoundsOfGrid))
  {}

  bool
  Run(const GoOnFunction & goOn)
  {
    m_Flags = m_Executor.template Allocate<uint8_t>(m_Map.GetNumberOfEdges());
    m_Executor.Fill(m_Flags.Get(), m_Map.GetNumberOfEdges(), 0);
    return m_Map.RunRounds(MaximumNumberOfChainRounds, goOn, [this](size_t left) {
      m_Map.CompactIfSparse(&m_Flags);
      m_Map.UpdateGrid();
      return this->RunRounds(static_cast<uint32_t>(left));
    });
  }

private:
  template <typename T>
  using Array = typename TExecutor::template Array<T>;
  using Atomics = typename TExecutor::Atomics;
  template <typename TIntegrator>
  using ChainRound = functors::ChainRound<RefinementRound<TIntegrator, Atomics>>;

  ExecutorMap<TExecutor> & m_Map;
  const TExecutor &        m_Executor;
  const size_t             m_MaximumVerticesOfPart;
  Array<ChainCounters>     m_Counters;  // of the rounds of a batch
  ChainCounters            m_Maximum{}; // upper limits for all rounds but the first
  bool                     m_HasMaximum{ false };
  Array<uint8_t>           m_Flags; // of edges
  LineArrays               m_Lines{};
  ChainArrays              m_Arrays{};
  ArrayGroup<TExecutor>    m_ArraysOfEdges;
  ArrayGroup<TExecutor>    m_ArraysOfLines;
  ArrayGroup<TExecutor>    m_ArraysOfChains;

  /** Runs at most `most` rounds. Returns how many. */
  uint32_t
  RunRounds(uint32_t most)
  {
    const size_t edges = m_Map.GetNumberOfEdges();
    m_ArraysOfEdges.Clear();
    m_ArraysOfEdges.Allocate(m_Executor, edges, m_Arrays.ChainOfEdge, m_Lines.LineOf);
    m_ArraysOfEdges.Allocate(m_Executor, 2 * edges, m_Lines.Links);
    if (m_Executor.PrefersSingleLaunch(edges, MaximumEdgesOfChainGrid) && 2 * edges <= m_MaximumVerticesOfPart)
    {
      const uint32_t number = std::min(most, RoundsOfGrid);
      this->RunRoundsCooperatively(number);
      return number;
    }
    m_Map.ClearRounds();
    m_Executor.Fill(m_Counters.Get(), RoundsOfGrid, 0);
    m_Executor.Fill(m_Arrays.ChainOfEdge, edges, 0xff);
    // The first round removes most nodes, and its counts are upper limits for the later rounds.
    const uint32_t number = this->IsFirstRound() ? 1 : std::min(most, RoundsOfBatch);
    for (uint32_t i = 0; i < number; ++i)
    {
      m_Executor.VisitEdgeIntegrator([&](const auto & integrator) { this->QueueRound(i, integrator); });
    }
    m_Map.ReadCounters();
    return number;
  }

  /** Runs rounds in one cooperative launch. The number of edges is an upper limit for the lines and the chains. */
  void
  RunRoundsCooperatively(uint32_t number)
  {
    const auto edges = static_cast<uint32_t>(m_Map.GetNumberOfEdges());
    m_Maximum = { (static_cast<uint64_t>(edges) << 32) + 2 * edges, edges, edges, {} };
    m_HasMaximum = true;
    this->AllocateLines();
    this->AllocateChains();
    m_Executor.VisitSmallEdgeIntegrator([&](const auto & integrator) {
      using IntegratorType = std::decay_t<decltype(integrator)>;
      using RoundType = RefinementRound<IntegratorType, Atomics>;
      const auto costs = m_Executor.template Allocate<double>(
        functors::HasChordWindow<IntegratorType> ? 0 : m_Maximum.GetNumberOfVertices() * ChainWindow);
      m_Map.RunCooperatively(
        functors::RunChainRounds<RoundType>{
          this->GetRound(0, integrator), m_Counters.Get(), costs.Get(), edges, number },
        edges * ChainWindow);
    });
  }

  /** Returns whether the number of chains and vertices is unknown, or too large for one part. */
  bool
  IsFirstRound() const
  {
    return !m_HasMaximum || m_Maximum.GetNumberOfVertices() > m_MaximumVerticesOfPart;
  }

  template <typename TIntegrator>
  void
  QueueRound(uint32_t number, const TIntegrator & integrator)
  {
    if (!m_HasMaximum)
    {
      this->AllocateLines();
    }
    this->List(this->GetRound(number, integrator).Lines);
    if (this->IsFirstRound())
    {
      m_Maximum = m_Executor.Read(m_Counters.Get() + number);
      m_HasMaximum = true;
      this->AllocateChains();
    }
    const ChainRound<TIntegrator> round = this->GetRound(number, integrator);
    round.Fill(m_Executor);
    if constexpr (functors::HasChordWindow<TIntegrator>)
    {
      round.Search(m_Executor, functors::PartOfChains{}, nullptr);
    }
    else
    {
      for (const functors::PartOfChains & part : this->DivideChains())
      {
        const auto costs = m_Executor.template Allocate<double>(part.GetNumberOfVertices(m_Maximum) * ChainWindow);
        round.Search(m_Executor, part, costs.Get());
      }
    }
    round.Decide(m_Executor);
  }

  void
  List(const functors::ListLines<Atomics> & lines) const
  {
    const size_t edges = m_Map.GetNumberOfEdges();
    m_Executor.PrefersSingleLaunch(edges, MaximumEdgesOfLineGrid) ? m_Executor.RunCooperatively(lines, 2 * edges)
                                                                  : m_Executor.Run(lines);
  }

  template <typename TIntegrator>
  ChainRound<TIntegrator>
  GetRound(uint32_t number, const TIntegrator & integrator) const
  {
    ChainArrays arrays = m_Arrays;
    arrays.Counters = m_Counters.Get() + number;
    arrays.Flags = m_Flags.Get();
    return { MakeRefinementRound(m_Map, number, integrator),
             arrays,
             { { m_Lines,
                 m_Map.GetRound(number),
                 m_Map.GetNumberOfRegions(),
                 m_Map.GetNumberOfNodes(),
                 m_Map.GetNumberOfEdges(),
                 arrays.Flags,
                 arrays.Counters } },
             m_Maximum };
  }

  void
  AllocateLines()
  {
    m_ArraysOfLines.Clear();
    m_ArraysOfLines.Allocate(m_Executor, m_Map.GetNumberOfEdges(), m_Lines.Lines);
  }
  void
  AllocateChains()
  {
    m_ArraysOfChains.Clear();
    m_ArraysOfChains.Allocate(m_Executor, m_Maximum.GetNumberOfChains(), m_Arrays.Chains);
    m_ArraysOfChains.Allocate(m_Executor,
                              m_Maximum.GetNumberOfVertices(),
                              m_Arrays.ChainOf,
                              m_Arrays.Nodes,
                              m_Arrays.Edges,
                              m_Arrays.Positions,
                              m_Arrays.Sums,
                              m_Arrays.Chords,
                              m_Arrays.IsKept,
                              m_Arrays.Kept,
                              m_Arrays.Pieces,
                              m_Arrays.Spans);
  }

  std::vector<functors::PartOfChains>
  DivideChains() const
  {
    std::vector<functors::PartOfChains> parts(1);
    if (m_Maximum.GetNumberOfVertices() > m_MaximumVerticesOfPart)
    {
      std::vector<ChainState> chains(m_Maximum.GetNumberOfChains());
      m_Executor.Download(m_Arrays.Chains, chains.size(), chains.data());
      for (uint32_t i = 0; i < chains.size(); ++i)
      {
        functors::PartOfChains & last = parts.back();
        if (chains[i].First + chains[i].NumberOfEdges + 1 - last.FirstVertex > m_MaximumVerticesOfPart &&
            i > last.FirstChain)
        {
          last.EndChain = i;
          last.EndVertex = chains[i].First;
          parts.push_back({ i, chains[i].First, None, None });
        }
      }
    }
    return parts;
  }
};
} // namespace itk::cuda::partition

#endif
