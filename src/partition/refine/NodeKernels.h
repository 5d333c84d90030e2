// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_partition_refine_NodeKernels_h
#define CudaFilters_partition_refine_NodeKernels_h

#include "partition/map/MapArrays.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <type_traits>

// Moves and removals of single nodes as parallel loops, as NodeRounds does them on the host.
namespace itk::cuda::partition
{
namespace steps
{
/** Begins a round and lists the active nodes. The list stays empty if the grid does not contain all edges. */
template <typename TAtomics>
struct BeginNodeRound
{
  MapRound        Round;
  size_t          NumberOfRegions;
  size_t          NumberOfNodes;
  const uint8_t * IsActive;
  uint32_t *      Work;

  ITK_CUDA_HOST_DEVICE size_t
  GetNumber() const
  {
    return NumberOfRegions > NumberOfNodes ? NumberOfRegions : NumberOfNodes;
  }
  ITK_CUDA_AS_ARGUMENTS
  ITK_CUDA_HOST_DEVICE void
  operator()(size_t i) const
  {
    if (i < NumberOfRegions)
    {
      BeginMapRound{ Round }(i);
    }
    if (i < NumberOfNodes && IsActive[i] != 0 && Round.Nodes[i].Degree > 0 && !Round.IsGridFull())
    {
      Work[TAtomics::Next(Round.Counts->Work)] = static_cast<uint32_t>(i);
    }
  }
};

/** The arrays of a phase. */
template <typename TBid>
struct NodeArrays
{
  uint8_t *  IsActive;
  uint32_t * Work;
  TBid *     Bids;
  uint8_t *  Wins; // whether a proposal owns all of its cells
};

/** Base of the kernels of a round: the round, and the arrays of its phase. */
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

/** A part of a round's nodes, whose gains are in memory at a time. */
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

/** Candidate positions of the nodes of a part, and their edges. */
struct MoveArrays
{
  static constexpr size_t EdgesOfNode = static_cast<size_t>(NumberOfCandidates) * MapNode::MaximumDegree;

  PartOfWork Part;
  uint32_t * Work;
  Moments *  Sums;    // of each edge from the candidate to its far end, in the order of CandidateEdge
  double *   Gains;   // per candidate; 0 if the gain is too small or the move is not possible
  uint32_t * Gaining; // candidates with a gain, in any order

  /** Returns the sums of a node's edge j from a candidate. */
  ITK_CUDA_HOST_DEVICE const Moments &
  GetSums(size_t node, uint32_t j, size_t candidate) const
  {
    return Sums[node * EdgesOfNode + j * static_cast<size_t>(NumberOfCandidates) + candidate];
  }
};

/** The i-th edge of the candidates. The candidates of one edge of a node are consecutive: they are close together in
 * the image and have nearly the same length, so that neighbouring work items take about the same time and read the
 * same memory. */
struct CandidateEdge
{
  size_t   Candidate; // index among the candidates of the part
  uint32_t J;         // index of the edge at its node

  ITK_CUDA_HOST_DEVICE explicit CandidateEdge(size_t i)
    : Candidate(i / MoveArrays::EdgesOfNode * NumberOfCandidates + i % NumberOfCandidates)
    , J(static_cast<uint32_t>(i % MoveArrays::EdgesOfNode / NumberOfCandidates))
  {}
};

/** A candidate position of a node. */
struct MoveCandidate
{
  uint32_t     Node;
  LatticePoint To;
  bool         IsInside; // whether the position is allowed

  ITK_CUDA_HOST_DEVICE
  MoveCandidate(const MapView & map, const MoveArrays & arrays, size_t candidate)
    : Node(arrays.Work[arrays.Part.First + candidate / NumberOfCandidates])
    , To(CandidateOf(map.At(Node), static_cast<int>(candidate % NumberOfCandidates)))
    , IsInside(!map.GetExtent().KindOf(map.At(Node)).IsCorner() && map.GetExtent().Allows(map.At(Node), To))
  {}
};

/** Sums the edges from each candidate position. Each work item sums one edge. */
template <typename TRound>
struct SumCandidates
{
  static constexpr uint32_t LanesOfTeam = LanesOfEdge;

  TRound     Round;
  MoveArrays Arrays;

  ITK_CUDA_HOST_DEVICE size_t
  GetNumber() const
  {
    return Arrays.Part.GetNumber(Round.Counts->Work) * MoveArrays::EdgesOfNode;
  }
  ITK_CUDA_AS_ARGUMENTS
  ITK_CUDA_HOST_DEVICE void
  operator()(size_t i) const
  {
    (*this)(i, OneLane{});
  }
  ITK_CUDA_AS_ARGUMENTS
  template <typename TTeam>
  ITK_CUDA_HOST_DEVICE void
  operator()(size_t i, const TTeam & team) const
  {
    const CandidateEdge edge(i);
    const MapView       map = Round.GetMap();
    const MoveCandidate candidate(map, Arrays, edge.Candidate);
    const MapNode &     node = map.Nodes[candidate.Node];
    if (candidate.IsInside && edge.J < node.Degree)
    {
      const LatticePoint far = map.At(map.Edges[node.Edges[edge.J]].GetOther(candidate.Node));
      const Moments      sums = SumEdge(Round, candidate.To, far, team);
      team.Once([&] { Arrays.Sums[i] = sums; });
    }
  }
};

/** Computes the gain of each candidate, and lists the few with a gain. */
template <typename TRound, typename TAtomics>
struct WeighCandidates
{
  TRound     Round;
  MoveArrays Arrays;

  ITK_CUDA_HOST_DEVICE size_t
  GetNumber() const
  {
    return Arrays.Part.GetNumber(Round.Counts->Work) * NumberOfCandidates;
  }
  ITK_CUDA_HOST_DEVICE void
  operator()(size_t i) const
  {
    const MapView       map = Round.GetMap();
    const MoveCandidate candidate(map, Arrays, i);
    double              gain = 0.0;
    if (candidate.IsInside)
    {
      const MovingNode node = DescribeNode(map, candidate.Node);
      const auto       changeOf = [&](uint32_t j) {
        return Arrays.GetSums(i / NumberOfCandidates, j, i % NumberOfCandidates) - node.Edges[j].Sums;
      };
      gain = GainOfMove(node, Round.Tangents, changeOf);
      const auto farEndOf = [&node](uint32_t j) { return node.Edges[j].Far; };
      const bool isPossible = gain < 0.0 && Round.Allows(CountMove(node, changeOf)) &&
                              NeighborsAreClear(node.Position, candidate.To, node.NumberOfEdges, farEndOf);
      gain = isPossible ? gain : 0.0;
    }
    Arrays.Gains[i] = gain;
    if (gain < 0.0)
    {
      Arrays.Gaining[TAtomics::Next(Round.Counts->Candidates)] = static_cast<uint32_t>(i);
    }
  }
};

/** Discards candidates that are obstructed by another edge. One work item tests one edge of the node. */
template <typename TRound>
struct TestCandidates
{
  static constexpr uint32_t LanesOfTeam = LanesOfChange;

  TRound     Round;
  MoveArrays Arrays;

  ITK_CUDA_HOST_DEVICE size_t
  GetNumber() const
  {
    return size_t{ Round.Counts->Candidates } * MapNode::MaximumDegree;
  }
  ITK_CUDA_HOST_DEVICE void
  operator()(size_t i) const
  {
    (*this)(i, OneLane{});
  }
  ITK_CUDA_AS_ARGUMENTS
  template <typename TTeam>
  ITK_CUDA_HOST_DEVICE void
  operator()(size_t i, const TTeam & team) const
  {
    const uint32_t      number = Arrays.Gaining[i / MapNode::MaximumDegree];
    const auto          j = static_cast<uint32_t>(i % MapNode::MaximumDegree);
    const MapView       map = Round.GetMap();
    const MoveCandidate candidate(map, Arrays, number);
    if (j < map.Nodes[candidate.Node].Degree &&
        !TriangleIsClear(map, Round.GetGrid(), candidate.Node, j, candidate.To, team.GetShare()))
    {
      Arrays.Gains[number] = 0.0;
    }
  }
};

/** Proposes the best candidate of each node, and reserves its cells. */
template <typename TRound, typename TAtomics>
struct BidMoves : NodeLoop<TRound, Move>
{
  static constexpr uint32_t LanesOfTeam = LanesOfChange;

  MoveArrays Candidates;

  ITK_CUDA_AS_ARGUMENTS
  ITK_CUDA_HOST_DEVICE
  BidMoves(const NodeLoop<TRound, Move> & loop, const MoveArrays & candidates)
    : NodeLoop<TRound, Move>(loop)
    , Candidates(candidates)
  {}
  ITK_CUDA_HOST_DEVICE size_t
  GetNumber() const
  {
    return Candidates.Part.GetNumber(this->Round.Counts->Work);
  }
  ITK_CUDA_AS_ARGUMENTS
  ITK_CUDA_HOST_DEVICE void
  operator()(size_t i) const
  {
    (*this)(i, OneLane{});
  }
  ITK_CUDA_AS_ARGUMENTS
  template <typename TTeam>
  ITK_CUDA_HOST_DEVICE void
  operator()(size_t i, const TTeam & team) const
  {
    const TRound & round = this->Round;
    const uint32_t number = Candidates.Work[Candidates.Part.First + i];
    const double * gains = Candidates.Gains + i * NumberOfCandidates;
    int            best = 0;
    for (int candidate = 1; candidate < NumberOfCandidates; ++candidate)
    {
      best = gains[candidate] < gains[best] ? candidate : best;
    }
    team.Once([&] { this->Arrays.IsActive[number] = gains[best] < 0.0 ? 1 : 0; });
    if (gains[best] < 0.0)
    {
      const MapView    map = round.GetMap();
      const MovingNode node = DescribeNode(map, number);
      Move             move;
      move.Gain = gains[best];
      move.Id = number;
      move.To = CandidateOf(node.Position, best);
      ITK_CUDA_UNROLL
      for (uint32_t j = 0; j < MapNode::MaximumDegree; ++j)
      {
        move.Sums[j] = j < node.NumberOfEdges ? Candidates.GetSums(i, j, static_cast<size_t>(best)) : Moments{};
      }
      move.Counts = CountMove(node, [&](uint32_t j) { return move.Sums[j] - node.Edges[j].Sums; });
      team.Once([&] { this->Arrays.Bids[TAtomics::Next(round.Counts->Bids)] = move; });
      const auto claim = [&round, key = move.GetKey()](size_t cell) { return round.Claim(cell, key); };
      ForCellsOfMove(round.Cells, map, move, claim, team.GetShare());
    }
  }
};

/** Proposes the removal of each active node if it has a gain and is possible, and reserves its cells. */
template <typename TRound, typename TAtomics>
struct BidRemovals : NodeLoop<TRound, Removal>
{
  static constexpr uint32_t LanesOfTeam = LanesOfChange;

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
    (*this)(i, OneLane{});
  }
  ITK_CUDA_AS_ARGUMENTS
  template <typename TTeam>
  ITK_CUDA_HOST_DEVICE void
  operator()(size_t i, const TTeam & team) const
  {
    const TRound & round = this->Round;
    const uint32_t number = this->Arrays.Work[i];
    Removal        removal;
    const bool     proposes = ProposeRemoval(round, number, removal, team);
    team.Once([&] { this->Arrays.IsActive[number] = proposes ? 1 : 0; });
    if (proposes)
    {
      team.Once([&] { this->Arrays.Bids[TAtomics::Next(round.Counts->Bids)] = removal; });
      const auto claim = [&round, key = removal.GetKey()](size_t cell) { return round.Claim(cell, key); };
      ForCellsOfRemoval(round.Cells, round.GetMap(), removal, claim, team.GetShare());
    }
  }
};

// Overloads for the two kinds of changes.
ITK_CUDA_AS_ARGUMENTS
template <typename TFunction>
ITK_CUDA_HOST_DEVICE bool
ForCellsOf(const MapRound & round, const Move & move, const TFunction & function, const LaneShare & share)
{
  return ForCellsOfMove(round.Cells, round.GetMap(), move, function, share);
}
ITK_CUDA_AS_ARGUMENTS
template <typename TFunction>
ITK_CUDA_HOST_DEVICE bool
ForCellsOf(const MapRound & round, const Removal & removal, const TFunction & function, const LaneShare & share)
{
  return ForCellsOfRemoval(round.Cells, round.GetMap(), removal, function, share);
}
ITK_CUDA_AS_ARGUMENTS
template <typename TRound, typename TTeam>
ITK_CUDA_HOST_DEVICE void
Apply(const TRound & round, const Move & move, const TTeam & team)
{
  team.Once([&] { ApplyMove(round, move); });
  team.Wait();
  const MapNode &   node = round.Nodes[move.Id];
  const auto        degree = static_cast<int32_t>(node.Degree);
  const NestedShare nested(team.GetShare(), degree);
  for (int32_t j = nested.OfGroups.First; j < degree; j += nested.OfGroups.Stride)
  {
    round.AddToGrid(node.Edges[j], nested.OfThings);
  }
}
ITK_CUDA_AS_ARGUMENTS
template <typename TRound, typename TTeam>
ITK_CUDA_HOST_DEVICE void
Apply(const TRound & round, const Removal & removal, const TTeam & team)
{
  const uint32_t chord = round.Nodes[removal.Nodes[1]].Edges[0]; // the smaller one of the two
  team.Wait();
  team.Once([&] { ApplyRemoval(round, removal); });
  team.Wait();
  round.AddToGrid(chord, team.GetShare());
}
/** Calls function(node) for the nodes that become active again together with their neighbours. */
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

/** Finds the proposals that own all of their cells, and frees the cells that each one owns. */
template <typename TRound, typename TBid>
struct CheckBids : NodeLoop<TRound, TBid>
{
  static constexpr uint32_t LanesOfTeam = LanesOfChange;

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
    (*this)(i, OneLane{});
  }
  ITK_CUDA_AS_ARGUMENTS
  template <typename TTeam>
  ITK_CUDA_HOST_DEVICE void
  operator()(size_t i, const TTeam & team) const
  {
    const TRound & round = this->Round;
    const TBid &   bid = this->Arrays.Bids[i];
    const uint64_t key = bid.GetKey();
    const auto     holds = [&round, key](size_t cell) { return round.Holds(cell, key); };
    const bool     wins = team.All(ForCellsOf(round, bid, holds, team.GetShare()));
    const auto     free = [&round, key](size_t cell) { return round.FreeIfHeld(cell, key); };
    ForCellsOf(round, bid, free, team.GetShare()); // all threads have checked; two may visit one cell
    team.Once([&] {
      this->Arrays.Wins[i] = wins ? 1 : 0;
      if (wins)
      {
        round.AddLosses(bid);
      }
    });
  }
};

/** Applies the accepted winners, excluding those that together take too many pixels. Winners have no common point, so
 * that none changes a node or an edge of another one. */
template <typename TRound, typename TBid, typename TAtomics>
struct ApplyBids : NodeLoop<TRound, TBid>
{
  static constexpr uint32_t LanesOfTeam = LanesOfChange;

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
    (*this)(i, OneLane{});
  }
  ITK_CUDA_AS_ARGUMENTS
  template <typename TTeam>
  ITK_CUDA_HOST_DEVICE void
  operator()(size_t i, const TTeam & team) const
  {
    const TBid & bid = this->Arrays.Bids[i]; // by reference, because a copy would read uninitialized words
    if (this->Arrays.Wins[i] != 0 && this->Round.Admits(bid))
    {
      Apply(this->Round, bid, team);
      team.Once([&] {
        ForChanged(bid, [this](uint32_t node) { this->Wake(node); });
        TAtomics::Next(this->Round.Counts->Winners);
      });
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

/** Runs rounds as a sequence of parallel loops without the host. All candidates are in memory at the same time. */
template <typename TRound, typename TBid, typename TAtomics>
struct RunNodeRounds
{
  static constexpr bool NeedsManyRegisters = true;

  TRound           Round;
  NodeArrays<TBid> Arrays;
  MoveArrays       Moves; // for moves only
  size_t           NumberOfRegions;
  size_t           NumberOfNodes;
  bool             IsFirst; // first launch of the phase
  uint32_t         NumberOfRounds;

  ITK_CUDA_AS_ARGUMENTS
  template <typename TLoops>
  ITK_CUDA_HOST_DEVICE void
  operator()(const TLoops & loops) const
  {
    const BeginNodeRounds begin{ Round.Counters, IsFirst ? Arrays.IsActive : nullptr, NumberOfNodes };
    loops.ForAtMost(begin.GetNumber(), begin);
    bool isOver = false;
    for (uint32_t i = 0; i < NumberOfRounds && !isOver; ++i)
    {
      TRound round = Round;
      round.Counts = Round.Counters->Rounds + i;
      const NodeLoop<TRound, TBid>   loop(round, Arrays);
      const BeginNodeRound<TAtomics> begin{ round, NumberOfRegions, NumberOfNodes, Arrays.IsActive, Arrays.Work };
      loops.ForAtMost(begin.GetNumber(), begin);
      this->Bid(loops, loop);
      const CheckBids<TRound, TBid> check(loop);
      isOver = loops.IsOver(check);
      if (!isOver)
      {
        loops.ForLongAtMost(NumberOfNodes, check);
        loops.ForLongAtMost(NumberOfNodes, ApplyBids<TRound, TBid, TAtomics>(loop));
        isOver = loops.IsOver(WinnersOfRound{ round.Counts });
      }
    }
  }

private:
  ITK_CUDA_AS_ARGUMENTS
  template <typename TLoops>
  ITK_CUDA_HOST_DEVICE void
  Bid(const TLoops & loops, const NodeLoop<TRound, Move> & loop) const
  {
    loops.ForLongAtMost(NumberOfNodes * MoveArrays::EdgesOfNode, SumCandidates<TRound>{ loop.Round, Moves });
    loops.ForAtMost(NumberOfNodes * NumberOfCandidates, WeighCandidates<TRound, TAtomics>{ loop.Round, Moves });
    loops.ForLongAtMost(NumberOfNodes * MoveArrays::EdgesOfNode, TestCandidates<TRound>{ loop.Round, Moves });
    loops.ForLongAtMost(NumberOfNodes, BidMoves<TRound, TAtomics>(loop, Moves));
  }
  ITK_CUDA_AS_ARGUMENTS
  template <typename TLoops>
  ITK_CUDA_HOST_DEVICE void
  Bid(const TLoops & loops, const NodeLoop<TRound, Removal> & loop) const
  {
    loops.ForLongAtMost(NumberOfNodes, BidRemovals<TRound, TAtomics>(loop));
  }
};
} // namespace steps

/** The maximum number of nodes whose candidates are in memory at a time. */
constexpr size_t LargestPartOfMoves = size_t{ 1 } << 16;

/** \class NodeLoops
 * \brief The rounds of moves (TBid = Move) or removals (TBid = Removal) on an executor.
 */
template <typename TProcessor, typename TBid>
class NodeLoops
{
public:
  using GoOnFunction = std::function<bool()>;

  explicit NodeLoops(ProcessorMap<TProcessor> & map)
    : m_Map(map)
    , m_Processor(map.GetProcessor())
  {}

  /** Runs the rounds as NodeRounds::Run() does. */
  bool
  Run(size_t maximumNumberOfRounds, const GoOnFunction & goOn)
  {
    m_Map.Tidy();
    this->Allocate();
    size_t left = maximumNumberOfRounds;
    size_t work = m_Map.GetNumberOfNodes();
    bool   isFirst = true;
    bool   isOver = false;
    while (left > 0 && !isOver)
    {
      const bool isSmall =
        m_Map.GetNumberOfNodes() <= LargestPartOfMoves && m_Processor.MayRunInOneGrid(work, MostWorkOfGrid);
      if (isFirst && !isSmall)
      {
        m_Processor.Fill(m_IsActive.Get(), m_Map.GetNumberOfNodes(), 1);
      }
      if (goOn && !goOn())
      {
        return false;
      }
      m_Map.UpdateGrid();
      const auto number = static_cast<uint32_t>(std::min<size_t>(left, isSmall ? RoundsOfGrid : RoundsOfBatch));
      isSmall ? this->RunRoundsInOneGrid(number, isFirst, work) : this->RunRounds(number);
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
  using Array = typename TProcessor::template Array<T>;
  using Atomics = typename TProcessor::Atomics;
  using PlainRound = Round<NoPixels, Atomics>;
  static constexpr bool IsMove = std::is_same_v<TBid, Move>;
  /** Maximum number of active nodes for a cooperative launch. With more candidates, a launch per loop is faster,
   * because more threads overlap their memory latency. On an H200, a picture of 16 megapixels takes 65 ms with a limit
   * of 1024 nodes, 62 with 2048, 58 with 4096 and 57 with 16384. */
  static constexpr size_t MostWorkOfGrid = IsMove ? 4096 : LargestPartOfMoves;

  ProcessorMap<TProcessor> & m_Map;
  const TProcessor &         m_Processor;
  Array<uint8_t>             m_IsActive;
  Array<uint32_t>            m_Work;
  Array<TBid>                m_Bids;
  Array<uint8_t>             m_Wins;
  Array<Moments>             m_Sums;
  Array<double>              m_Gains;
  Array<uint32_t>            m_Gaining;

  void
  Allocate()
  {
    const size_t nodes = m_Map.GetNumberOfNodes();
    m_IsActive = m_Processor.template Allocate<uint8_t>(nodes);
    m_Work = m_Processor.template Allocate<uint32_t>(nodes);
    m_Bids = m_Processor.template Allocate<TBid>(nodes);
    m_Wins = m_Processor.template Allocate<uint8_t>(nodes);
    if constexpr (IsMove)
    {
      const size_t part = std::min(nodes, LargestPartOfMoves);
      m_Sums = m_Processor.template Allocate<Moments>(part * steps::MoveArrays::EdgesOfNode);
      m_Gains = m_Processor.template Allocate<double>(part * NumberOfCandidates);
      m_Gaining = m_Processor.template Allocate<uint32_t>(part * NumberOfCandidates);
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
  RunRoundsInOneGrid(uint32_t number, bool isFirst, size_t work) const
  {
    // One thread per work item, or per thread of the tiles that propose removals.
    const size_t passes =
      std::max(m_Map.GetNumberOfNodes(), work * (IsMove ? steps::MoveArrays::EdgesOfNode : LanesOfChange));
    m_Processor.VisitPixelsInOneGrid([&](const auto & pixels) {
      using RoundType = Round<std::decay_t<decltype(pixels)>, Atomics>;
      m_Map.RunInOneGrid(
        steps::RunNodeRounds<RoundType, TBid, Atomics>{
          RoundType(m_Map.GetRound(0), pixels),
          { m_IsActive.Get(), m_Work.Get(), m_Bids.Get(), m_Wins.Get() },
          { { 0, m_Map.GetNumberOfNodes() }, m_Work.Get(), m_Sums.Get(), m_Gains.Get(), m_Gaining.Get() },
          m_Map.GetNumberOfRegions(),
          m_Map.GetNumberOfNodes(),
          isFirst,
          number },
        passes);
    });
  }

  void
  QueueRound(uint32_t number) const
  {
    const MapRound                          view = m_Map.GetRound(number);
    const size_t                            nodes = m_Map.GetNumberOfNodes();
    const size_t                            regions = m_Map.GetNumberOfRegions();
    const steps::NodeArrays<TBid>           arrays{ m_IsActive.Get(), m_Work.Get(), m_Bids.Get(), m_Wins.Get() };
    const steps::NodeLoop<PlainRound, TBid> loop(PlainRound(view, {}), arrays);
    m_Processor.For(std::max(nodes, regions),
                    steps::BeginNodeRound<Atomics>{ view, regions, nodes, m_IsActive.Get(), m_Work.Get() });
    m_Processor.VisitPixels([&](const auto & pixels) {
      this->QueueBids(Round<std::decay_t<decltype(pixels)>, Atomics>(view, pixels), loop);
    });
    m_Processor.ForAtMost(nodes, steps::CheckBids<PlainRound, TBid>(loop));
    m_Processor.ForAtMost(nodes, steps::ApplyBids<PlainRound, TBid, Atomics>(loop));
  }

  template <typename TRound>
  void
  QueueBids(const TRound & round, const steps::NodeLoop<PlainRound, TBid> & loop) const
  {
    const size_t nodes = m_Map.GetNumberOfNodes();
    if constexpr (IsMove)
    {
      for (size_t first = 0; first < nodes; first += LargestPartOfMoves)
      {
        const size_t            part = std::min(nodes - first, LargestPartOfMoves);
        const steps::MoveArrays moves{ { first, part }, m_Work.Get(), m_Sums.Get(), m_Gains.Get(), m_Gaining.Get() };
        m_Processor.ForAtMost(part * steps::MoveArrays::EdgesOfNode, steps::SumCandidates<TRound>{ round, moves });
        if (first > 0)
        {
          m_Processor.Fill(&loop.Round.Counts->Candidates, 1, 0); // count of the previous part
        }
        m_Processor.ForAtMost(part * NumberOfCandidates,
                              steps::WeighCandidates<PlainRound, Atomics>{ loop.Round, moves });
        m_Processor.ForAtMost(part * steps::MoveArrays::EdgesOfNode,
                              steps::TestCandidates<PlainRound>{ loop.Round, moves });
        m_Processor.ForAtMost(part, steps::BidMoves<PlainRound, Atomics>(loop, moves));
      }
    }
    else
    {
      m_Processor.ForAtMost(nodes,
                            steps::BidRemovals<TRound, Atomics>(steps::NodeLoop<TRound, Removal>(round, loop.Arrays)));
    }
  }
};
} // namespace itk::cuda::partition

#endif
