// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaPartitionNodeLoops_h
#define itkCudaPartitionNodeLoops_h

#include "itkCudaPartitionMapLoops.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <type_traits>

// Moves and removals of single nodes as loops, as NodeRounds does them on the host.
namespace itk::cuda::partition
{
namespace steps
{
/** Lists the nodes that are asked. None are if the grid does not know where all edges are. */
template <typename TAtomics>
struct ListActiveNodes
{
  MapRound        Round;
  const uint8_t * IsActive;
  uint32_t *      Work;

  ITK_CUDA_AS_ARGUMENTS
  ITK_CUDA_HOST_DEVICE void
  operator()(size_t node) const
  {
    if (IsActive[node] != 0 && Round.Nodes[node].Degree > 0 && !Round.IsGridFull())
    {
      Work[TAtomics::Next(Round.Counts->Work)] = static_cast<uint32_t>(node);
    }
  }
};

/** Arrays of a phase. */
template <typename TBid>
struct NodeArrays
{
  uint8_t *  IsActive;
  uint32_t * Work;
  TBid *     Bids;
  uint8_t *  Wins; // whether a bid does
};

template <typename TRound, typename TBid>
struct NodeLoop
{
  TRound           Round;
  NodeArrays<TBid> Arrays;

  ITK_CUDA_AS_ARGUMENTS
  ITK_CUDA_HOST_DEVICE
  NodeLoop(const TRound & round, const NodeArrays<TBid> & arrays)
    : Round(round)
    , Arrays(arrays)
  {}
};

/** Nodes of a round's work whose gains are in memory at a time. */
struct PartOfWork
{
  size_t First;
  size_t Most;

  ITK_CUDA_HOST_DEVICE size_t
  GetNumber(size_t work) const
  {
    const size_t left = work > First ? work - First : 0;
    return left < Most ? left : Most;
  }
};

/** What the moves of a node gain, one pass for each candidate; 0 for those that do not gain or are not possible. */
template <typename TRound>
struct WeighCandidates
{
  TRound           Round;
  PartOfWork       Part;
  const uint32_t * Work;
  double *         Gains;

  ITK_CUDA_HOST_DEVICE size_t
  GetNumber() const
  {
    return Part.GetNumber(Round.Counts->Work) * NumberOfCandidates;
  }
  ITK_CUDA_AS_ARGUMENTS
  ITK_CUDA_HOST_DEVICE void
  operator()(size_t i) const
  {
    Gains[i] = this->Weigh(Work[Part.First + i / NumberOfCandidates], static_cast<int>(i % NumberOfCandidates));
  }

private:
  ITK_CUDA_AS_ARGUMENTS
  ITK_CUDA_HOST_DEVICE double
  Weigh(uint32_t number, int candidate) const
  {
    const MapView      map = Round.GetMap();
    const LatticePoint position = map.At(number);
    const LatticePoint to = CandidateOf(position, candidate);
    if (map.GetExtent().KindOf(position).IsCorner() || !map.GetExtent().Allows(position, to))
    {
      return 0.0;
    }
    const MovingNode node = DescribeNode(map, number);
    Moments          changes[MapNode::MaximumDegree];
    for (uint32_t j = 0; j < node.NumberOfEdges; ++j)
    {
      changes[j] = Round.SumEdge(to, node.Edges[j].Far) - node.Edges[j].Sums;
    }
    const auto   changeOf = [&changes](uint32_t j) { return changes[j]; };
    const double gain = GainOfMove(node, Round.Tangents, changeOf);
    return gain < 0.0 && Round.Allows(CountMove(node, changeOf)) && MoveKeepsTopology(map, Round.GetGrid(), number, to)
             ? gain
             : 0.0;
  }
};

/** The best candidate of each node bids, and claims cells. */
template <typename TRound, typename TAtomics>
struct BidMoves : NodeLoop<TRound, Move>
{
  PartOfWork     Part;
  const double * Gains;

  ITK_CUDA_AS_ARGUMENTS
  ITK_CUDA_HOST_DEVICE
  BidMoves(const NodeLoop<TRound, Move> & loop, const PartOfWork & part, const double * gains)
    : NodeLoop<TRound, Move>(loop)
    , Part(part)
    , Gains(gains)
  {}
  ITK_CUDA_HOST_DEVICE size_t
  GetNumber() const
  {
    return Part.GetNumber(this->Round.Counts->Work);
  }
  ITK_CUDA_AS_ARGUMENTS
  ITK_CUDA_HOST_DEVICE void
  operator()(size_t i) const
  {
    const TRound & round = this->Round;
    const uint32_t number = this->Arrays.Work[Part.First + i];
    const double * gains = Gains + i * NumberOfCandidates;
    int            best = 0;
    for (int candidate = 1; candidate < NumberOfCandidates; ++candidate)
    {
      best = gains[candidate] < gains[best] ? candidate : best;
    }
    this->Arrays.IsActive[number] = gains[best] < 0.0 ? 1 : 0;
    if (gains[best] < 0.0)
    {
      const MapView    map = round.GetMap();
      const MovingNode node = DescribeNode(map, number);
      Move             move;
      move.Gain = gains[best];
      move.Id = number;
      move.To = CandidateOf(node.Position, best);
      move.Counts =
        CountMove(node, [&](uint32_t j) { return round.SumEdge(move.To, node.Edges[j].Far) - node.Edges[j].Sums; });
      this->Arrays.Bids[TAtomics::Next(round.Counts->Bids)] = move;
      ForCellsOfMove(
        round.Cells, map, move, [&round, key = move.GetKey()](size_t cell) { return round.Claim(cell, key); });
    }
  }
};

template <typename TRound, typename TAtomics>
struct BidRemovals : NodeLoop<TRound, Removal>
{
  ITK_CUDA_AS_ARGUMENTS
  ITK_CUDA_HOST_DEVICE explicit BidRemovals(const NodeLoop<TRound, Removal> & loop)
    : NodeLoop<TRound, Removal>(loop)
  {}
  ITK_CUDA_HOST_DEVICE size_t
  GetNumber() const
  {
    return this->Round.Counts->Work;
  }
  ITK_CUDA_AS_ARGUMENTS
  ITK_CUDA_HOST_DEVICE void
  operator()(size_t i) const
  {
    const TRound & round = this->Round;
    const uint32_t number = this->Arrays.Work[i];
    Removal        removal;
    const bool     proposes = ProposeRemoval(round, number, removal);
    this->Arrays.IsActive[number] = proposes ? 1 : 0;
    if (proposes)
    {
      this->Arrays.Bids[TAtomics::Next(round.Counts->Bids)] = removal;
      ForCellsOfRemoval(round.Cells, round.GetMap(), removal, [&round, key = removal.GetKey()](size_t cell) {
        return round.Claim(cell, key);
      });
    }
  }
};

// What differs between the two kinds of changes.
ITK_CUDA_AS_ARGUMENTS
template <typename TFunction>
ITK_CUDA_HOST_DEVICE bool
ForCellsOf(const MapRound & round, const Move & move, const TFunction & function)
{
  return ForCellsOfMove(round.Cells, round.GetMap(), move, function);
}
ITK_CUDA_AS_ARGUMENTS
template <typename TFunction>
ITK_CUDA_HOST_DEVICE bool
ForCellsOf(const MapRound & round, const Removal & removal, const TFunction & function)
{
  return ForCellsOfRemoval(round.Cells, round.GetMap(), removal, function);
}
ITK_CUDA_AS_ARGUMENTS
template <typename TRound>
ITK_CUDA_HOST_DEVICE void
Apply(const TRound & round, const Move & move)
{
  ApplyMove(round, move);
}
ITK_CUDA_AS_ARGUMENTS
template <typename TRound>
ITK_CUDA_HOST_DEVICE void
Apply(const TRound & round, const Removal & removal)
{
  ApplyRemoval(round, removal);
}
/** Calls function(node) for the nodes that, with their neighbours, are asked again. */
template <typename TFunction>
ITK_CUDA_HOST_DEVICE void
ForChanged(const Move & move, const TFunction & function)
{
  function(move.Id);
}
template <typename TFunction>
ITK_CUDA_HOST_DEVICE void
ForChanged(const Removal & removal, const TFunction & function)
{
  function(removal.Nodes[0]);
  function(removal.Nodes[2]);
}

/** Finds which bids hold their cells. */
template <typename TRound, typename TBid>
struct CheckBids : NodeLoop<TRound, TBid>
{
  ITK_CUDA_AS_ARGUMENTS
  ITK_CUDA_HOST_DEVICE explicit CheckBids(const NodeLoop<TRound, TBid> & loop)
    : NodeLoop<TRound, TBid>(loop)
  {}
  ITK_CUDA_HOST_DEVICE size_t
  GetNumber() const
  {
    return this->Round.Counts->Bids;
  }
  ITK_CUDA_AS_ARGUMENTS
  ITK_CUDA_HOST_DEVICE void
  operator()(size_t i) const
  {
    const TRound & round = this->Round;
    const TBid &   bid = this->Arrays.Bids[i];
    const bool     wins =
      ForCellsOf(round, bid, [&round, key = bid.GetKey()](size_t cell) { return round.Holds(cell, key); });
    this->Arrays.Wins[i] = wins ? 1 : 0;
    if (wins)
    {
      round.AddLosses(bid);
    }
  }
};

/** Frees the cells, and refuses winners that together take too many pixels. No node moves meanwhile. */
template <typename TRound, typename TBid>
struct AdmitBids : NodeLoop<TRound, TBid>
{
  ITK_CUDA_AS_ARGUMENTS
  ITK_CUDA_HOST_DEVICE explicit AdmitBids(const NodeLoop<TRound, TBid> & loop)
    : NodeLoop<TRound, TBid>(loop)
  {}
  ITK_CUDA_HOST_DEVICE size_t
  GetNumber() const
  {
    return this->Round.Counts->Bids;
  }
  ITK_CUDA_AS_ARGUMENTS
  ITK_CUDA_HOST_DEVICE void
  operator()(size_t i) const
  {
    const TRound & round = this->Round;
    const TBid &   bid = this->Arrays.Bids[i];
    ForCellsOf(round, bid, [&round](size_t cell) { return round.Free(cell); });
    this->Arrays.Wins[i] = this->Arrays.Wins[i] != 0 && round.Admits(bid) ? 1 : 0;
  }
};

/** Winners have no point in common: none changes a node or an edge of another one. */
template <typename TRound, typename TBid, typename TAtomics>
struct ApplyBids : NodeLoop<TRound, TBid>
{
  ITK_CUDA_AS_ARGUMENTS
  ITK_CUDA_HOST_DEVICE explicit ApplyBids(const NodeLoop<TRound, TBid> & loop)
    : NodeLoop<TRound, TBid>(loop)
  {}
  ITK_CUDA_HOST_DEVICE size_t
  GetNumber() const
  {
    return this->Round.Counts->Bids;
  }
  ITK_CUDA_AS_ARGUMENTS
  ITK_CUDA_HOST_DEVICE void
  operator()(size_t i) const
  {
    if (this->Arrays.Wins[i] != 0)
    {
      const TBid bid = this->Arrays.Bids[i];
      Apply(this->Round, bid);
      ForChanged(bid, [this](uint32_t node) { this->Wake(node); });
      TAtomics::Next(this->Round.Counts->Winners);
    }
  }

private:
  ITK_CUDA_HOST_DEVICE void
  Wake(uint32_t number) const
  {
    const MapNode & node = this->Round.Nodes[number];
    this->Arrays.IsActive[number] = 1;
    for (uint32_t j = 0; j < node.Degree; ++j)
    {
      this->Arrays.IsActive[this->Round.Edges[node.Edges[j]].GetOther(number)] = 1;
    }
  }
};
} // namespace steps

/** \class NodeLoops
 * \brief The rounds of moves (TBid = Move) or removals (TBid = Removal) on a processor. */
template <typename TProcessor, typename TBid>
class NodeLoops
{
public:
  using GoOnFunction = std::function<bool()>;

  explicit NodeLoops(ProcessorMap<TProcessor> & map)
    : m_Map(map)
    , m_Processor(map.GetProcessor())
  {}

  /** As NodeRounds::Run(). */
  bool
  Run(size_t maximumNumberOfRounds, const GoOnFunction & goOn)
  {
    const MapCounters before = m_Map.ReadCounters();
    m_Map.Tidy(before.RemovedEdges);
    this->Allocate();
    size_t left = maximumNumberOfRounds;
    size_t added = before.Added;
    bool   isOver = false;
    while (left > 0 && !isOver)
    {
      if (goOn && !goOn())
      {
        return false;
      }
      m_Map.UpdateGrid(added);
      const auto number = static_cast<uint32_t>(std::min<size_t>(left, RoundsOfBatch));
      m_Map.ClearRounds();
      for (uint32_t i = 0; i < number; ++i)
      {
        this->QueueRound(i);
      }
      const MapCounters counters = m_Map.ReadCounters();
      uint32_t          rounds = 0;
      while (rounds < number && counters.Rounds[rounds].Winners > 0)
      {
        ++rounds;
      }
      added = counters.Added;
      left -= rounds;
      isOver = rounds < number && added <= m_Map.GetGridCapacity();
    }
    return true;
  }

private:
  template <typename T>
  using Array = typename TProcessor::template Array<T>;
  using Atomics = typename TProcessor::Atomics;
  using PlainRound = Round<NoPixels, Atomics>;
  static constexpr bool   IsMove = std::is_same_v<TBid, Move>;
  static constexpr size_t LargestPart = size_t{ 1 } << 20; // nodes: enough for all threads of a device

  ProcessorMap<TProcessor> & m_Map;
  const TProcessor &         m_Processor;
  Array<uint8_t>             m_IsActive;
  Array<uint32_t>            m_Work;
  Array<TBid>                m_Bids;
  Array<uint8_t>             m_Wins;
  Array<double>              m_Gains;

  void
  Allocate()
  {
    const size_t nodes = m_Map.GetNumberOfNodes();
    m_IsActive = m_Processor.template Allocate<uint8_t>(nodes);
    m_Work = m_Processor.template Allocate<uint32_t>(nodes);
    m_Bids = m_Processor.template Allocate<TBid>(nodes);
    m_Wins = m_Processor.template Allocate<uint8_t>(nodes);
    m_Processor.Fill(m_IsActive.Get(), nodes, 1);
    if constexpr (IsMove)
    {
      m_Gains = m_Processor.template Allocate<double>(std::min(nodes, LargestPart) * NumberOfCandidates);
    }
  }

  void
  QueueRound(uint32_t number) const
  {
    const MapRound view = m_Map.GetRound(number);
    const size_t   nodes = m_Map.GetNumberOfNodes();
    m_Processor.For(m_Map.GetNumberOfRegions(), steps::BeginMapRound{ view });
    m_Processor.For(nodes, steps::ListActiveNodes<Atomics>{ view, m_IsActive.Get(), m_Work.Get() });
    const steps::NodeArrays<TBid>           arrays{ m_IsActive.Get(), m_Work.Get(), m_Bids.Get(), m_Wins.Get() };
    const PlainRound                        plain(view, {});
    const steps::NodeLoop<PlainRound, TBid> loop(plain, arrays);
    m_Processor.VisitPixels([&](const auto & pixels) {
      const Round<std::decay_t<decltype(pixels)>, Atomics> round(view, pixels);
      this->QueueBids(round, arrays);
      m_Processor.ForAtMost(nodes, steps::CheckBids<PlainRound, TBid>(loop));
      m_Processor.ForAtMost(nodes, steps::AdmitBids<PlainRound, TBid>(loop));
      m_Processor.ForAtMost(
        nodes, steps::ApplyBids<std::decay_t<decltype(round)>, TBid, Atomics>(steps::NodeLoop(round, arrays)));
    });
  }

  template <typename TRound>
  void
  QueueBids(const TRound & round, const steps::NodeArrays<TBid> & arrays) const
  {
    const size_t                        nodes = m_Map.GetNumberOfNodes();
    const steps::NodeLoop<TRound, TBid> loop(round, arrays);
    if constexpr (IsMove)
    {
      for (size_t first = 0; first < nodes; first += LargestPart)
      {
        const steps::PartOfWork part{ first, std::min(nodes - first, LargestPart) };
        m_Processor.ForAtMost(part.Most * NumberOfCandidates,
                              steps::WeighCandidates<TRound>{ round, part, m_Work.Get(), m_Gains.Get() });
        m_Processor.ForAtMost(part.Most, steps::BidMoves<TRound, Atomics>(loop, part, m_Gains.Get()));
      }
    }
    else
    {
      m_Processor.ForAtMost(nodes, steps::BidRemovals<TRound, Atomics>(loop));
    }
  }
};
} // namespace itk::cuda::partition

#endif
