// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_partition_refine_ChainFunctors_h
#define CudaFilters_partition_refine_ChainFunctors_h

#include "partition/map/Topology.h"
#include "partition/refine/BestPolylines.h"
#include "partition/refine/Lines.h"

#include <cstddef>
#include <cstdint>
#include <type_traits>

// Finds, tests and applies the best polylines of chains by parallel loops. The order of the chains depends on the order
// of execution, and no result depends on it.
namespace itk::cuda::partition
{
/** A chain and its results in a round. */
struct ChainState
{
  uint32_t First; // index of its first vertex
  uint32_t NumberOfEdges;
  uint32_t Left; // in the direction in which it leaves its first node
  uint32_t Right;
  int64_t  Change; // pixels that the left region would gain
  double   DeltaCost;
  uint32_t NumberKept; // number of nodes of the best polyline; 0 if it has no gain
  uint32_t IsRefused;  // the polyline is impossible, or a better proposal sweeps one of its cells or takes its pixels
  uint32_t HasNoGain;  // an earlier round found no gain, and the chain is unchanged
  uint32_t IsLine;     // the chain is a whole line, not a part of one

  ITK_CUDA_HOST_DEVICE bool
  Wins() const
  {
    return NumberKept > 0 && IsRefused == 0;
  }
};

/** A piece of a polyline, given by the vertex indices of its ends. */
struct PolylinePiece
{
  uint32_t From;
  uint32_t To;
};

/** An entry in the list of all pieces: its chain, and its number in the chain. */
struct ListedPiece
{
  uint32_t Chain;
  uint32_t Number;
};

/** Arrays of the chains and of their vertices. A vertex is a node of a chain, and has an index in these arrays. */
struct ChainArrays
{
  ChainCounters * Counters;

  ChainState *   Chains;
  uint32_t *     ChainOf; // of each vertex
  uint32_t *     Nodes;
  uint32_t *     Edges; // edge that leaves the vertex; None for the last vertex of a chain
  LatticePoint * Positions;
  Moments *      Sums;        // of the chain's edges before the vertex; initially of the edge that leaves it
  Moments *      Chords;      // sums of the best polyline's chord that begins at the vertex
  uint8_t *      IsKept;      // whether the best polyline keeps the vertex
  uint32_t *     Kept;        // vertices that a chain keeps, from the last one to the first
  ListedPiece *  Pieces;      // in any order
  uint8_t *      Spans;       // lengths in edges of the last chords of the best polylines up to each vertex
  uint32_t *     ChainOfEdge; // None if its chain makes no proposal
  uint8_t *      Flags;       // of edges

  ITK_CUDA_HOST_DEVICE RankedProposal
  GetProposal(const ChainState & chain) const
  {
    RankedProposal proposal;
    proposal.DeltaCost = chain.DeltaCost;
    proposal.Id = Edges[chain.First];
    proposal.Counts.Add(chain.Left, chain.Change);
    proposal.Counts.Add(chain.Right, -chain.Change);
    return proposal;
  }
  /** Returns the last vertex at or before this one that the best polyline keeps. */
  ITK_CUDA_HOST_DEVICE uint32_t
  GetKeptBefore(uint32_t vertex) const
  {
    while (IsKept[vertex] == 0)
    {
      --vertex;
    }
    return vertex;
  }
  /** Returns a piece of a chain's best polyline, which has NumberKept - 1 of them. Piece 0 is the last one. */
  ITK_CUDA_HOST_DEVICE PolylinePiece
  GetPiece(const ChainState & chain, uint32_t number) const
  {
    return { Kept[chain.First + number + 1], Kept[chain.First + number] };
  }
};

namespace functors
{
/** Cuts lines into chains, and fills the arrays of their vertices. Each work item handles one edge, whose links give
 * its position in its line. `Sums` receives the sums of the single edges. */
template <typename TRound>
struct FillChains
{
  TRound      Round;
  ChainArrays Arrays;
  LineArrays  Lines;
  size_t      NumberOfEdges;

  ITK_CUDA_HOST_DEVICE size_t
  GetNumber() const
  {
    return Arrays.Counters->Lines > 0 ? NumberOfEdges : 0;
  }
  ITK_CUDA_HOST_DEVICE void
  operator()(size_t i) const
  {
    const auto edge = static_cast<uint32_t>(i);
    if (Round.GetMap().Edges[edge].IsAlive())
    {
      this->FillIfListed({ 2 * edge });
      this->FillIfListed({ 2 * edge + 1 });
    }
  }

private:
  ITK_CUDA_HOST_DEVICE void
  FillIfListed(const DirectedEdge & directed) const
  {
    const VertexInLine vertex = Lines.Find(Round.GetMap(), directed);
    if (vertex.Line != None)
    {
      this->Fill(directed, Lines.Lines[vertex.Line], vertex.Number);
    }
  }
  ITK_CUDA_HOST_DEVICE void
  Fill(const DirectedEdge & directed, const MapLine & line, uint32_t number) const
  {
    const MapView map = Round.GetMap();
    const auto    step = line.NumberOfEdges > MaximumChainEdges ? static_cast<uint32_t>(CutLength) : line.NumberOfEdges;
    const uint32_t part = number / step;
    const uint32_t chain = line.FirstChain + part;
    const uint32_t vertex = line.FirstVertex + number + part;
    const uint32_t edge = directed.GetEdge();
    const uint32_t node = directed.GetTail(map);
    const MapEdge  present = map.Edges[edge].From(node);
    if (number % step == 0)
    {
      const uint32_t left = line.NumberOfEdges - number;
      this->BeginChain(chain, vertex, edge, present, left < step ? left : step, step == line.NumberOfEdges);
    }
    this->SetVertex(vertex, chain, node, edge, present.Sums);
    Arrays.ChainOfEdge[edge] = chain;
    if ((number + 1) % step == 0 || number + 1 == line.NumberOfEdges)
    {
      this->SetVertex(vertex + 1, chain, present.End, None, {});
    }
  }
  ITK_CUDA_HOST_DEVICE void
  SetVertex(uint32_t vertex, uint32_t chain, uint32_t node, uint32_t edge, const Moments & sums) const
  {
    Arrays.ChainOf[vertex] = chain;
    Arrays.Nodes[vertex] = node;
    Arrays.Edges[vertex] = edge;
    Arrays.Positions[vertex] = Round.GetMap().At(node);
    Arrays.Sums[vertex] = sums;
  }
  ITK_CUDA_HOST_DEVICE void
  BeginChain(uint32_t chain, uint32_t vertex, uint32_t edge, const MapEdge & first, uint32_t numberOfEdges, bool isLine)
    const
  {
    const bool hasNoGain = numberOfEdges < 2 || (Arrays.Flags[edge] & EdgeFlags::HasNoGain) != 0;
    Arrays.Chains[chain] = { vertex, numberOfEdges, first.Left, first.Right, 0, 0.0, 0, 0, hasNoGain, isLine };
  }
};

/** A part of the chains, whose chord costs are in memory at a time. */
struct PartOfChains
{
  uint32_t FirstChain{ 0 };
  uint32_t FirstVertex{ 0 };
  uint32_t EndChain{ None }; // where the next part begins; None for the last part
  uint32_t EndVertex{ None };

  ITK_CUDA_HOST_DEVICE size_t
  GetNumberOfChains(const ChainCounters & counters) const
  {
    return (EndChain != None ? EndChain : counters.GetNumberOfChains()) - FirstChain;
  }
  ITK_CUDA_HOST_DEVICE size_t
  GetNumberOfVertices(const ChainCounters & counters) const
  {
    return (EndVertex != None ? EndVertex : counters.GetNumberOfVertices()) - FirstVertex;
  }
};

/** Base of the kernels of a round: the round, and the arrays of its chains. */
template <typename TRound>
struct ChainKernel
{
  TRound      Round;
  ChainArrays Arrays;
};

/** A loop over the vertices of all chains. */
template <typename TRound>
struct PerVertexKernel : ChainKernel<TRound>
{
  ITK_CUDA_HOST_DEVICE size_t
  GetNumber() const
  {
    return this->Arrays.Counters->GetNumberOfVertices();
  }
};

/** A loop over all chains. */
template <typename TRound>
struct PerChainKernel : ChainKernel<TRound>
{
  ITK_CUDA_HOST_DEVICE size_t
  GetNumber() const
  {
    return this->Arrays.Counters->GetNumberOfChains();
  }
};

/** Replaces the sums of a chain's edges by their exclusive prefix sums. */
template <typename TRound>
struct SumChains : PerChainKernel<TRound>
{
  static constexpr uint32_t TeamSize = ChainWindow;

  template <typename TTeam>
  ITK_CUDA_HOST_DEVICE void
  operator()(size_t i, const TTeam & team) const
  {
    const ChainState & chain = this->Arrays.Chains[i];
    if (chain.HasNoGain == 0)
    {
      team.ExclusiveScan(this->Arrays.Sums + chain.First, chain.NumberOfEdges + 1);
    }
  }
};

/** The chord of a work item of CostChords. 32 consecutive work items handle the chords of 8 lengths that end at 4
 * adjacent vertices. Such chords cross about the same number of rows, and mostly the same rows. */
struct ChordOfWorkItem
{
  static constexpr size_t Nodes = 4;
  static constexpr size_t Lengths = 8;
  static constexpr size_t ItemsOfNodes = Nodes * ChainWindow;

  size_t   End; // index of its last vertex within the part
  uint32_t ChordEdges;

  ITK_CUDA_HOST_DEVICE explicit ChordOfWorkItem(size_t i)
    : End(i / ItemsOfNodes * Nodes + i / Lengths % Nodes)
    , ChordEdges(static_cast<uint32_t>(i % ItemsOfNodes / (Nodes * Lengths) * Lengths + i % Lengths + 1))
  {}
  /** Returns the number of work items for the chords that end at `nodes` vertices; some have no chord. */
  static ITK_CUDA_HOST_DEVICE size_t
  GetNumberOfWorkItems(size_t nodes)
  {
    return (nodes + Nodes - 1) / Nodes * ItemsOfNodes;
  }
};

/** The kernel variant that computes chord costs. If the chains have few vertices in total, there are few chords and
 * they are long, so that teams compute them. */
enum class CostedBy : uint8_t
{
  Threads,
  Teams
};

/** Computes the costs of the chords that end at each vertex and span 1, 2, ... ChainWindow edges. The loop is queued in
 * two variants, and only one of them has work items. */
template <typename TRound>
struct CostChords : ChainKernel<TRound>
{
  static constexpr uint32_t TeamSize = LanesOfEdge;

  PartOfChains Part;
  double *     CostsOfChords;
  CostedBy     By;

  ITK_CUDA_HOST_DEVICE size_t
  GetNumber() const
  {
    constexpr size_t maximumVerticesOfTeams = 2048;
    const size_t     vertices = Part.GetNumberOfVertices(*this->Arrays.Counters);
    const CostedBy   by = vertices <= maximumVerticesOfTeams ? CostedBy::Teams : CostedBy::Threads;
    return By == by ? ChordOfWorkItem::GetNumberOfWorkItems(vertices) : 0;
  }
  template <typename TTeam>
  ITK_CUDA_HOST_DEVICE void
  operator()(size_t i, const TTeam & team) const
  {
    const ChordOfWorkItem chord(i);
    if (chord.End >= Part.GetNumberOfVertices(*this->Arrays.Counters))
    {
      return;
    }
    const ChainArrays & arrays = this->Arrays;
    const auto          end = static_cast<uint32_t>(Part.FirstVertex + chord.End);
    const ChainState &  chain = arrays.Chains[arrays.ChainOf[end]];
    if (chord.ChordEdges <= end - chain.First && chain.HasNoGain == 0)
    {
      const uint32_t begin = end - chord.ChordEdges;
      const double   cost = CostOfChord(this->Round.Integrator,
                                      this->Round.GetTangents(chain.Left, chain.Right),
                                      this->Round.Model.SegmentCost,
                                      arrays.Positions[begin],
                                      arrays.Positions[end],
                                      arrays.Sums[end] - arrays.Sums[begin],
                                      chord.ChordEdges == 1,
                                      team);
      team.Single([&] { CostsOfChords[chord.End * ChainWindow + chord.ChordEdges - 1] = cost; });
    }
  }
};

/** The last chord of a polyline: the cost of the polyline, and the vertex where the chord begins. */
struct LastChord
{
  double   Cost;
  uint32_t Begin;

  ITK_CUDA_HOST_DEVICE bool
  IsBetterThan(const LastChord & other) const
  {
    return Cost < other.Cost || (Cost == other.Cost && Begin < other.Begin);
  }
};

/** Whether the chords of a chain share a window of row sums, so that each cost is computed when it is needed.
 * Otherwise the costs of all chords are computed in advance. */
template <typename TIntegrator, typename = void>
constexpr bool HasChordWindow = false;
template <typename TIntegrator>
constexpr bool HasChordWindow<TIntegrator, std::void_t<decltype(TIntegrator::HasChordWindow)>> =
  TIntegrator::HasChordWindow;

/** Finds the best polyline of each chain as FindBestPolylines() does, and whether it has a gain. A team has one thread
 * for each chord that may end at a vertex. */
template <typename TRound>
struct SearchChains : ChainKernel<TRound>
{
  static constexpr uint32_t TeamSize = ChainWindow;

  PartOfChains   Part;
  const double * CostsOfChords;

  ITK_CUDA_HOST_DEVICE size_t
  GetNumber() const
  {
    return Part.GetNumberOfChains(*this->Arrays.Counters);
  }
  template <typename TTeam>
  ITK_CUDA_HOST_DEVICE void
  operator()(size_t i, const TTeam & team) const
  {
    static_assert(TTeam::NumberOfLanes == ChainWindow || HasChordWindow<decltype(TRound::Integrator)>,
                  "A lane for each chord");
    const ChainArrays & arrays = this->Arrays;
    ChainState &        chain = arrays.Chains[Part.FirstChain + i];
    if (chain.HasNoGain != 0)
    {
      return;
    }
    const auto      edges = static_cast<double>(chain.NumberOfEdges);
    uint8_t * const spans = arrays.Spans + chain.First;
    const double    deltaCost = this->FindBest(chain, spans, team) - edges * this->Round.Model.SegmentCost;
    team.Single([&] { chain.DeltaCost = deltaCost; });
    if (deltaCost < -MinimumGain)
    {
      this->Trace(chain, spans, team);
      team.Single([&] { this->ListPieces(static_cast<uint32_t>(Part.FirstChain + i), chain.NumberKept - 1); });
    }
  }

private:
  /** Lane l caches the most recent vertex whose index in its chain is congruent to l modulo the team size. */
  struct Lane
  {
    double Cost;  // of the best polyline up to the cached vertex
    double Chord; // of the chord from the cached vertex to the current one
  };

  /** Returns the vertex where a lane's chord to `end` begins. A value of `end` or more (after wrap-around) means no
   * chord. */
  static ITK_CUDA_HOST_DEVICE uint32_t
  GetBegin(uint32_t lane, uint32_t end)
  {
    constexpr auto window = static_cast<uint32_t>(ChainWindow);
    return end - 1 - (end - 1 - lane) % window;
  }

  /** Returns the cost of the best polyline up to the last vertex. */
  template <typename TTeam>
  ITK_CUDA_HOST_DEVICE double
  FindBest(const ChainState & chain, uint8_t * spans, const TTeam & team) const
  {
    if constexpr (HasChordWindow<decltype(TRound::Integrator)>)
    {
      return this->FindBestInWindow(chain, spans);
    }
    else
    {
      return this->FindBestOfLanes(chain, spans, team);
    }
  }
  double
  FindBestInWindow(const ChainState & chain, uint8_t * spans) const
  {
    const BoundaryTangents     tangents = this->Round.GetTangents(chain.Left, chain.Right);
    const double               segmentCost = this->Round.Model.SegmentCost;
    const LatticePoint * const positions = this->Arrays.Positions + chain.First;
    const Moments * const      sums = this->Arrays.Sums + chain.First;
    auto                       window = this->Round.Integrator.GetChordWindow(ChainWindow);
    double                     costs[MaximumChainEdges + 1];
    const auto                 costOfChord = [&](size_t i, size_t j) {
      window.MoveTo(j, positions, chain.NumberOfEdges);
      return CostOfChord(
        window, tangents, segmentCost, positions[i], positions[j], sums[j] - sums[i], j == i + 1, SerialTeam{});
    };
    FindBestPolylines(chain.NumberOfEdges, costOfChord, costs, spans);
    return costs[chain.NumberOfEdges];
  }
  template <typename TTeam>
  ITK_CUDA_HOST_DEVICE double
  FindBestOfLanes(const ChainState & chain, uint8_t * spans, const TTeam & team) const
  {
    const double * const chords = CostsOfChords + static_cast<size_t>(chain.First - Part.FirstVertex) * ChainWindow;
    const auto           load = [&chain, chords](uint32_t lane, uint32_t end) {
      const uint32_t begin = GetBegin(lane, end);
      return begin < end && end <= chain.NumberOfEdges
                         ? chords[static_cast<size_t>(end) * ChainWindow + (end - begin - 1)]
                         : InfiniteCost;
    };
    typename TTeam::template PerThread<Lane> lanes;
    team.ForEachThread(lanes, [&load](uint32_t number, Lane & lane) {
      lane.Cost = 0.0; // the cost of vertex 0, and a placeholder for lanes without a vertex
      lane.Chord = load(number, 1);
    });
    double cost = 0.0;
    for (uint32_t end = 1; end <= chain.NumberOfEdges; ++end)
    {
      const LastChord last = team.FindBest(lanes, [&load, end](uint32_t number, Lane & lane) {
        const LastChord chord{ lane.Cost + lane.Chord, GetBegin(number, end) };
        lane.Chord = load(number, end + 1); // prefetched for the next iteration
        return chord;
      });
      cost = last.Cost;
      team.ForEachThread(lanes, [&](uint32_t number, Lane & lane) {
        if (number == end % ChainWindow)
        {
          lane.Cost = cost;
          spans[end] = static_cast<uint8_t>(cost < InfiniteCost ? end - last.Begin : 1);
        }
      });
    }
    team.Sync();
    return cost;
  }

  ITK_CUDA_HOST_DEVICE void
  ListPieces(uint32_t chain, uint32_t number) const
  {
    ListedPiece * const pieces = this->Arrays.Pieces + TRound::Atomics::FetchAdd(this->Arrays.Counters->Pieces, number);
    for (uint32_t j = 0; j < number; ++j)
    {
      pieces[j] = { chain, j };
    }
  }

  template <typename TTeam>
  ITK_CUDA_HOST_DEVICE void
  Trace(ChainState & chain, const uint8_t * spans, const TTeam & team) const
  {
    uint8_t * const isKept = this->Arrays.IsKept + chain.First;
    team.ParallelFor(chain.NumberOfEdges + 1, [isKept](uint32_t j) { isKept[j] = j == 0 ? 1 : 0; });
    team.Sync();
    team.Single([&] {
      uint32_t * const kept = this->Arrays.Kept + chain.First;
      uint32_t         number = 0;
      for (uint32_t j = chain.NumberOfEdges; j > 0; j -= spans[j])
      {
        isKept[j] = 1;
        kept[number++] = chain.First + j;
      }
      kept[number++] = chain.First;
      chain.NumberKept = number;
    });
  }
};

/** A loop over the pieces of the best polylines. */
template <typename TRound>
struct PerPieceKernel : ChainKernel<TRound>
{
  ITK_CUDA_HOST_DEVICE size_t
  GetNumber() const
  {
    return this->Arrays.Counters->Pieces;
  }
};

/** Tests the pieces of the best polylines, each one against the other pieces of its chain and against the map. Teams
 * run the tests, because they are few and take long. */
template <typename TRound>
struct TestPieces : PerPieceKernel<TRound>
{
  static constexpr uint32_t TeamSize = ChainWindow;

  template <typename TTeam>
  ITK_CUDA_HOST_DEVICE void
  operator()(size_t i, const TTeam & team) const
  {
    const ChainArrays & arrays = this->Arrays;
    const ListedPiece   listed = arrays.Pieces[i];
    ChainState &        chain = arrays.Chains[listed.Chain];
    const PolylinePiece piece = arrays.GetPiece(chain, listed.Number);
    if constexpr (TTeam::NumberOfLanes == 1)
    {
      if (TRound::Atomics::LoadRelaxed(chain.IsRefused) != 0) // another piece is impossible
      {
        return;
      }
    }
    if (piece.To > piece.From + 1)
    {
      const Moments sums =
        SumEdge(this->Round.Integrator, arrays.Positions[piece.From], arrays.Positions[piece.To], team);
      team.Single([&] {
        const Moments change = sums - (arrays.Sums[piece.To] - arrays.Sums[piece.From]);
        arrays.Chords[piece.From] = sums;
        TRound::Atomics::Add(chain.Change, change.Count);
      });
    }
    if (!this->IsSafe(listed.Chain, piece, team.GetShare()) ||
        this->MeetsLaterPieces(chain, listed.Number, team.GetShare()))
    {
      TRound::Atomics::StoreRelaxed(chain.IsRefused, uint32_t{ 1 });
    }
  }

private:
  /** Returns whether a piece meets later pieces of its polyline, other than at the node where a closed one begins and
   * ends. The threads of a team share the later pieces, which have smaller numbers. */
  ITK_CUDA_HOST_DEVICE bool
  MeetsLaterPieces(const ChainState & chain, uint32_t number, const StridedRange & share) const
  {
    const ChainArrays & arrays = this->Arrays;
    const PolylinePiece piece = arrays.GetPiece(chain, number);
    const LatticePoint  p = arrays.Positions[piece.From];
    const LatticePoint  q = arrays.Positions[piece.To];
    const uint32_t      last = chain.First + chain.NumberOfEdges;
    const bool          isClosed = arrays.Nodes[chain.First] == arrays.Nodes[last];
    if (isClosed && chain.NumberKept < 4)
    {
      return true;
    }
    for (auto i = static_cast<uint32_t>(share.First); i < number; i += static_cast<uint32_t>(share.Stride))
    {
      const PolylinePiece other = arrays.GetPiece(chain, i);
      const LatticePoint  begin = arrays.Positions[other.From];
      const LatticePoint  end = arrays.Positions[other.To];
      const bool          closes = isClosed && piece.From == chain.First && other.To == last;
      const bool          meet = other.From == piece.To ? region::FoldsBack(q, p, end)
                                 : closes               ? region::FoldsBack(p, q, begin)
                                                        : region::SegmentsMeet(p, q, begin, end);
      if (meet)
      {
        return true;
      }
    }
    return false;
  }

  ITK_CUDA_HOST_DEVICE bool
  IsSafe(uint32_t chain, const PolylinePiece & piece, const StridedRange & share) const
  {
    const ChainArrays & arrays = this->Arrays;
    const Line          line{ arrays.Nodes[piece.From],
                     arrays.Nodes[piece.To],
                     arrays.Positions + piece.From,
                     static_cast<int32_t>(piece.To - piece.From + 1) };
    const auto          isOwn = [&](const GridEdge & edge) { return arrays.ChainOfEdge[edge.Number] == chain; };
    return piece.To == piece.From + 1 || ChordKeepsTopology(this->Round.GetMap(), this->Round.Grid, line, isOwn, share);
  }
};

/** Decides which chains make a proposal. Marks the others with HasNoGain until they change, and a line that is one such
 * chain with IsConverged, so that later rounds do not list it. */
template <typename TRound>
struct ProposeChains : PerChainKernel<TRound>
{
  ITK_CUDA_HOST_DEVICE void
  operator()(size_t i) const
  {
    ChainState & chain = this->Arrays.Chains[i];
    if (chain.NumberKept == 0 || chain.IsRefused != 0 || !this->Round.Allows(this->Arrays.GetProposal(chain).Counts))
    {
      const ChainArrays & arrays = this->Arrays;
      chain.NumberKept = 0;
      arrays.Flags[arrays.Edges[chain.First]] |= EdgeFlags::HasNoGain;
      if (chain.IsLine != 0)
      {
        arrays.Flags[arrays.Edges[chain.First]] |= EdgeFlags::IsConverged;
        arrays.Flags[arrays.Edges[chain.First + chain.NumberOfEdges - 1]] |= EdgeFlags::IsConverged;
      }
    }
  }
};

/** The cells between a chain and its best polyline: a fan of triangles from the beginning of each chord. Each work item
 * handles the triangle of one edge of the chain. */
template <typename TRound>
struct ChainCells : PerVertexKernel<TRound>
{
  static constexpr uint32_t TeamSize = LanesOfEdge;

protected:
  template <typename TFunction>
  ITK_CUDA_HOST_DEVICE bool
  ForCells(size_t vertex, const TFunction & function, const StridedRange & share) const
  {
    const ChainArrays & arrays = this->Arrays;
    return ForCellsOfTriangle(this->Round.Cells,
                              arrays.Positions[arrays.GetKeptBefore(static_cast<uint32_t>(vertex))],
                              arrays.Positions[vertex],
                              arrays.Positions[vertex + 1],
                              function,
                              share);
  }
  /** Returns the proposing chain of a vertex's edge, or null. */
  ITK_CUDA_HOST_DEVICE ChainState *
  GetProposingChain(size_t vertex) const
  {
    const ChainArrays & arrays = this->Arrays;
    ChainState * const  chain = arrays.Chains + arrays.ChainOf[vertex];
    return arrays.Edges[vertex] != None && chain->NumberKept > 0 ? chain : nullptr;
  }
};

/** Reserves the cells of the proposing chains. */
template <typename TRound>
struct ReserveCellsOfChains : ChainCells<TRound>
{
  template <typename TTeam>
  ITK_CUDA_HOST_DEVICE void
  operator()(size_t vertex, const TTeam & team) const
  {
    const ChainArrays & arrays = this->Arrays;
    if (const ChainState * chain = this->GetProposingChain(vertex))
    {
      const auto reserve = [this, key = arrays.GetProposal(*chain).GetKey()](size_t cell) {
        return this->Round.Reserve(cell, key);
      };
      this->ForCells(vertex, reserve, team.GetShare());
    }
    else if (arrays.Edges[vertex] != None)
    {
      // Reset the entry, because the edge's line may not be in the list of the next round.
      team.Single([&] { arrays.ChainOfEdge[arrays.Edges[vertex]] = None; });
    }
  }
};

/** Refuses the chains that do not own all of their cells. */
template <typename TRound>
struct CheckChains : ChainCells<TRound>
{
  template <typename TTeam>
  ITK_CUDA_HOST_DEVICE void
  operator()(size_t vertex, const TTeam & team) const
  {
    if (ChainState * const chain = this->GetProposingChain(vertex))
    {
      const auto owns = [this, key = this->Arrays.GetProposal(*chain).GetKey()](size_t cell) {
        return this->Round.Owns(cell, key);
      };
      if (!this->ForCells(vertex, owns, team.GetShare()))
      {
        TRound::Atomics::StoreRelaxed(chain->IsRefused, uint32_t{ 1 }); // as other cells of the chain may
      }
    }
  }
};

/** Frees the cells. The work item of a chain's first vertex also adds the pixels that the chain takes from regions. */
template <typename TRound>
struct FreeCellsOfChains : ChainCells<TRound>
{
  template <typename TTeam>
  ITK_CUDA_HOST_DEVICE void
  operator()(size_t vertex, const TTeam & team) const
  {
    if (const ChainState * chain = this->GetProposingChain(vertex))
    {
      this->ForCells(
        vertex, [this](size_t cell) { return this->Round.Free(cell); }, team.GetShare());
      if (vertex == chain->First && chain->IsRefused == 0)
      {
        team.Single([&] { this->Round.AddPixelLoss(this->Arrays.GetProposal(*chain)); });
      }
    }
  }
};

/** Refuses winners that together take too many pixels from a region. The accepted ones are detached from the nodes at
 * their ends. */
template <typename TRound>
struct AcceptChains : PerChainKernel<TRound>
{
  ITK_CUDA_HOST_DEVICE void
  operator()(size_t i) const
  {
    const ChainArrays & arrays = this->Arrays;
    ChainState &        chain = arrays.Chains[i];
    if (!chain.Wins())
    {
      return;
    }
    if (!this->Round.Accepts(arrays.GetProposal(chain)))
    {
      chain.IsRefused = 1;
      return;
    }
    TRound::Atomics::FetchIncrement(this->Round.Counts->Winners);
    MapNode * const nodes = this->Round.Nodes;
    const uint32_t  last = chain.First + chain.NumberOfEdges;
    nodes[arrays.Nodes[chain.First]].Erase(arrays.Edges[chain.First]);
    nodes[arrays.Nodes[last]].Erase(arrays.Edges[last - 1]);
  }
};

/** Replaces edges of the accepted chains by the chords of their polylines. */
template <typename TRound>
struct ReplaceByChords : PerPieceKernel<TRound>
{
  static constexpr uint32_t TeamSize = LanesOfEdge;

  template <typename TTeam>
  ITK_CUDA_HOST_DEVICE void
  operator()(size_t i, const TTeam & team) const
  {
    const ChainArrays & arrays = this->Arrays;
    const ListedPiece   listed = arrays.Pieces[i];
    const ChainState &  chain = arrays.Chains[listed.Chain];
    if (chain.Wins())
    {
      const PolylinePiece piece = arrays.GetPiece(chain, listed.Number);
      if (piece.To > piece.From + 1)
      {
        team.Single([&] { this->Replace(chain, piece); });
        team.Sync();
        this->Round.AddToGrid(arrays.Edges[piece.From], team.GetShare());
      }
    }
  }

private:
  ITK_CUDA_HOST_DEVICE void
  Replace(const ChainState & chain, const PolylinePiece & piece) const
  {
    const ChainArrays & arrays = this->Arrays;
    const Moments &     sums = arrays.Chords[piece.From];
    arrays.Edges[piece.From] = ReplaceEdges(this->Round,
                                            arrays.Nodes + piece.From,
                                            arrays.Edges + piece.From,
                                            piece.To - piece.From,
                                            chain.Left,
                                            chain.Right,
                                            sums,
                                            sums - (arrays.Sums[piece.To] - arrays.Sums[piece.From]));
  }
};

/** Updates the incident edges of the nodes on accepted polylines. Each thread handles the first node of one piece. */
template <typename TRound>
struct AttachChords : PerPieceKernel<TRound>
{
  ITK_CUDA_HOST_DEVICE void
  operator()(size_t i) const
  {
    const ChainArrays & arrays = this->Arrays;
    const ListedPiece   listed = arrays.Pieces[i];
    const ChainState &  chain = arrays.Chains[listed.Chain];
    if (chain.Wins())
    {
      MapNode * const     nodes = this->Round.Nodes;
      const PolylinePiece piece = arrays.GetPiece(chain, listed.Number);
      MapNode &           node = nodes[arrays.Nodes[piece.From]];
      if (piece.From != chain.First)
      {
        node.Degree = 0;
        node.Insert(arrays.Edges[arrays.GetPiece(chain, listed.Number + 1).From]);
        node.Insert(arrays.Edges[piece.From]);
      }
      else
      {
        // The two ends of a closed line are one node.
        node.Insert(arrays.Edges[piece.From]);
        nodes[arrays.Nodes[chain.First + chain.NumberOfEdges]].Insert(arrays.Edges[arrays.GetPiece(chain, 0).From]);
      }
    }
  }
};
} // namespace functors
} // namespace itk::cuda::partition

#endif
