// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_partition_refine_Lines_h
#define CudaFilters_partition_refine_Lines_h

#include "partition/refine/RefinementRound.h"

#include <cstddef>
#include <cstdint>

// Lists the lines of a map by parallel loops. A thread that followed a line would wait for memory at each edge.
// Instead, each edge finds its distances to the ends of its line by pointer jumping
// (Wyllie, The complexity of parallel computations, 1979): it stores a link to an edge ahead, and in each loop replaces
// it by that edge's link. The distance that the links span doubles with each loop.
namespace itk::cuda::partition
{
/** Longer lines are cut into chains at every CutLength-th node, which then stays. */
constexpr size_t MaximumChainEdges = 512; // in edges
constexpr size_t CutLength = 256;

/** A line of edges between junctions, or a closed line. */
struct MapLine
{
  uint32_t Node; // first node and first edge
  uint32_t Edge;
  uint32_t NumberOfEdges;
  uint32_t FirstChain;  // first of its chains
  uint32_t FirstVertex; // index of its first chain vertex
};

/** Counters of a list of chains. One word counts chains and vertices, so that both have the same order. */
struct ChainCounters
{
  /** Lines have fewer than 2^31 edges. */
  static constexpr uint32_t MaximumNumberOfJumps = 32;

  uint64_t ChainsAndVertices; // 2^32 * chains + vertices
  uint64_t Pieces;            // of best polylines
  uint32_t Lines;
  uint32_t
    HasArrived[MaximumNumberOfJumps]; // per jump, whether any edge reached the end of its line for the first time

  ITK_CUDA_HOST_DEVICE uint32_t
  GetNumberOfChains() const
  {
    return static_cast<uint32_t>(ChainsAndVertices >> 32);
  }
  ITK_CUDA_HOST_DEVICE uint32_t
  GetNumberOfVertices() const
  {
    return static_cast<uint32_t>(ChainsAndVertices);
  }
};

/** Flags of edges that are kept for all rounds of a phase. They stay valid because a chain, and a line, is changed by
 * its own polyline only. */
namespace EdgeFlags
{
constexpr uint8_t HasNoGain = 1;   // the chain that begins with this edge had no gain
constexpr uint8_t IsConverged = 2; // the edge begins or ends a line that is one chain and had no gain
} // namespace EdgeFlags

/** An edge with a direction. The number is twice the edge's number if it goes from start to end, and one more if it
 * goes back. There are fewer than 2^31 edges. */
struct DirectedEdge
{
  uint32_t Number;

  static ITK_CUDA_HOST_DEVICE DirectedEdge
  From(const MapView & map, uint32_t node, uint32_t edge)
  {
    return { 2 * edge + (map.Edges[edge].Start == node ? 0 : 1) };
  }
  ITK_CUDA_HOST_DEVICE uint32_t
  GetEdge() const
  {
    return Number / 2;
  }
  ITK_CUDA_HOST_DEVICE DirectedEdge
  Reverse() const
  {
    return { Number ^ 1u };
  }
  ITK_CUDA_HOST_DEVICE uint32_t
  GetTail(const MapView & map) const
  {
    const MapEdge & edge = map.Edges[this->GetEdge()];
    return Number % 2 == 0 ? edge.Start : edge.End;
  }
  ITK_CUDA_HOST_DEVICE uint32_t
  GetHead(const MapView & map) const
  {
    return this->Reverse().GetTail(map);
  }
};

/** The link of a directed edge: an edge ahead on its line, the distance to it in edges, and whether it is the last one.
 * The link is one word, because work items read links that others change concurrently; both the old and the new value
 * are valid. Edges of closed lines have no last edge, so that their distances keep growing. */
struct LineLink
{
  static constexpr uint32_t LastBit = 1u << 31;

  uint64_t Word;

  static ITK_CUDA_HOST_DEVICE LineLink
  To(const DirectedEdge & ahead, uint32_t distance, bool isLast)
  {
    return { (static_cast<uint64_t>(ahead.Number) << 32) | (distance & ~LastBit) | (isLast ? LastBit : 0) };
  }
  ITK_CUDA_HOST_DEVICE DirectedEdge
  GetAhead() const
  {
    return { static_cast<uint32_t>(Word >> 32) };
  }
  ITK_CUDA_HOST_DEVICE uint32_t
  GetDistance() const
  {
    return static_cast<uint32_t>(Word) & ~LastBit;
  }
  ITK_CUDA_HOST_DEVICE bool
  IsLast() const
  {
    return (static_cast<uint32_t>(Word) & LastBit) != 0;
  }
};

/** The position of an edge in its line. */
struct VertexInLine
{
  uint32_t Line; // None if the edge is in no listed line, or has the other direction
  uint32_t Number;
};

/** The arrays of the lines. */
struct LineArrays
{
  MapLine *  Lines;
  uint64_t * Links;  // of directed edges
  uint32_t * LineOf; // index of the line that an edge begins

  ITK_CUDA_HOST_DEVICE LineLink
  GetLink(const DirectedEdge & directed) const
  {
    return { Links[directed.Number] };
  }
  /** Finds the position of a directed edge in its line. The link of the reversed edge gives the distance to the
   * beginning of the line. */
  ITK_CUDA_HOST_DEVICE VertexInLine
  Find(const MapView & map, const DirectedEdge & directed) const
  {
    const LineLink     back = this->GetLink(directed.Reverse());
    const DirectedEdge first = back.GetAhead().Reverse();
    const uint32_t     line = back.IsLast() ? LineOf[first.GetEdge()] : None;
    return { line != None && Lines[line].Node == first.GetTail(map) ? line : None, back.GetDistance() };
  }
};

/** The list of lines that may gain. It stays empty if the grid does not contain all edges. */
template <typename TAtomics>
struct LineList : LineArrays
{
  MapRound        Round;
  size_t          NumberOfRegions;
  size_t          NumberOfNodes;
  size_t          NumberOfEdges;
  uint8_t *       Flags; // of edges
  ChainCounters * Counters;

  ITK_CUDA_HOST_DEVICE size_t
  GetNumberIfPossible(size_t number) const
  {
    return Round.IsGridFull() ? 0 : number;
  }
  ITK_CUDA_HOST_DEVICE bool
  IsConverged(uint32_t edge) const
  {
    return (Flags[edge] & EdgeFlags::IsConverged) != 0;
  }

  ITK_CUDA_HOST_DEVICE void
  Append(uint32_t node, uint32_t edge, uint32_t numberOfEdges) const
  {
    const uint32_t pieces =
      numberOfEdges > MaximumChainEdges ? static_cast<uint32_t>((numberOfEdges + CutLength - 1) / CutLength) : 1;
    const uint64_t before =
      TAtomics::FetchAdd(Counters->ChainsAndVertices, (static_cast<uint64_t>(pieces) << 32) + numberOfEdges + pieces);
    const uint32_t line = TAtomics::FetchIncrement(Counters->Lines);
    this->Lines[line] = {
      node, edge, numberOfEdges, static_cast<uint32_t>(before >> 32), static_cast<uint32_t>(before)
    };
    this->LineOf[edge] = line;
  }
};

namespace functors
{
/** Begins a round, and links each edge to the next one of its line. */
template <typename TAtomics>
struct LinkLines : LineList<TAtomics>
{
  ITK_CUDA_HOST_DEVICE size_t
  GetNumberOfAll() const
  {
    return this->NumberOfEdges > this->NumberOfRegions ? this->NumberOfEdges : this->NumberOfRegions;
  }
  ITK_CUDA_HOST_DEVICE size_t
  GetNumber() const
  {
    return this->GetNumberIfPossible(this->GetNumberOfAll());
  }
  ITK_CUDA_HOST_DEVICE void
  operator()(size_t i) const
  {
    if (i < this->NumberOfRegions)
    {
      BeginMapRound{ this->Round }(i);
    }
    if (i < this->NumberOfEdges)
    {
      const auto edge = static_cast<uint32_t>(i);
      this->LineOf[edge] = None;
      this->Link({ 2 * edge });
      this->Link({ 2 * edge + 1 });
    }
  }

private:
  /** Initializes the link of a directed edge. An edge that is not inside the image is a line of its own, which is not
   * listed. */
  ITK_CUDA_HOST_DEVICE void
  Link(const DirectedEdge & directed) const
  {
    const MapView   map = this->Round.GetMap();
    const MapEdge & edge = map.Edges[directed.GetEdge()];
    LineLink        link = LineLink::To(directed, 0, true);
    if (edge.IsAlive() && !edge.IsBorder())
    {
      const uint32_t  head = directed.GetHead(map);
      const MapNode & node = map.Nodes[head];
      if (node.Degree == 2)
      {
        link = LineLink::To(DirectedEdge::From(map, head, node.OtherEdge(directed.GetEdge())), 1, false);
      }
    }
    this->Links[directed.Number] = link.Word;
  }
};

/** Pointer jumping: each edge that does not see the end of its line replaces its link by the link of the edge ahead.
 * The loop ends if no edge saw the end for the first time in the previous loop, because then all edges of open lines
 * see it. */
template <typename TAtomics>
struct JumpAhead : LineList<TAtomics>
{
  uint32_t Jump;

  ITK_CUDA_HOST_DEVICE size_t
  GetNumber() const
  {
    const bool goesOn = Jump == 0 || this->Counters->HasArrived[Jump - 1] != 0;
    return this->GetNumberIfPossible(goesOn ? 2 * this->NumberOfEdges : 0);
  }
  ITK_CUDA_HOST_DEVICE void
  operator()(size_t i) const
  {
    const LineLink link{ this->Links[i] };
    if (!link.IsLast())
    {
      const LineLink next{ TAtomics::Load(this->Links[link.GetAhead().Number]) };
      const uint32_t distance = link.GetDistance() + next.GetDistance();
      TAtomics::StoreRelaxed(this->Links[i], LineLink::To(next.GetAhead(), distance, next.IsLast()).Word);
      if (next.IsLast())
      {
        TAtomics::StoreRelaxed(this->Counters->HasArrived[Jump], uint32_t{ 1 });
      }
    }
  }
};

/** Lists the lines that begin at each node. */
template <typename TAtomics>
struct ListLinesOfNodes : LineList<TAtomics>
{
  ITK_CUDA_HOST_DEVICE size_t
  GetNumber() const
  {
    return this->GetNumberIfPossible(this->NumberOfNodes);
  }
  ITK_CUDA_HOST_DEVICE void
  operator()(size_t i) const
  {
    const MapView   map = this->Round.GetMap();
    const MapNode & node = map.Nodes[i];
    if (node.Degree > 2)
    {
      this->ListOpenLines(map, static_cast<uint32_t>(i), node);
    }
    else if (node.Degree == 2 && !map.Edges[node.Edges[0]].IsBorder() && !this->IsConverged(node.Edges[0]))
    {
      this->ListClosedLine(map, DirectedEdge::From(map, static_cast<uint32_t>(i), node.Edges[0]));
    }
  }

private:
  /** Lists lines between nodes with more than two edges. A line begins at the end with the smaller number. */
  ITK_CUDA_HOST_DEVICE void
  ListOpenLines(const MapView & map, uint32_t number, const MapNode & node) const
  {
    for (uint32_t j = 0; j < node.Degree; ++j)
    {
      const uint32_t edge = node.Edges[j];
      if (!map.Edges[edge].IsBorder() && !this->IsConverged(edge))
      {
        const LineLink     link = this->GetLink(DirectedEdge::From(map, number, edge));
        const DirectedEdge last = link.GetAhead();
        const uint32_t     end = last.GetHead(map);
        if (number < end || (number == end && edge < last.GetEdge()))
        {
          this->Append(number, edge, link.GetDistance() + 1);
        }
      }
    }
  }
  /** Lists a closed line, which begins at its node with the smallest number. One work item follows the line, because
   * closed lines are few and short, and most work items soon find a smaller node. */
  ITK_CUDA_HOST_DEVICE void
  ListClosedLine(const MapView & map, const DirectedEdge & first) const
  {
    // Another work item may number the edges of this line concurrently. Then its node is smaller.
    const LineLink link{ TAtomics::LoadRelaxed(this->Links[first.Number]) };
    if (!link.IsLast() && this->HasNoSmallerNode(map, first))
    {
      this->Append(first.GetTail(map), first.GetEdge(), this->NumberEdges(map, first));
    }
  }
  static ITK_CUDA_HOST_DEVICE DirectedEdge
  GetNext(const MapView & map, const DirectedEdge & directed)
  {
    const uint32_t head = directed.GetHead(map);
    return DirectedEdge::From(map, head, map.Nodes[head].OtherEdge(directed.GetEdge()));
  }
  /** Returns whether a closed line has no node with a smaller number than its first node. */
  static ITK_CUDA_HOST_DEVICE bool
  HasNoSmallerNode(const MapView & map, const DirectedEdge & first)
  {
    const uint32_t begin = first.GetTail(map);
    DirectedEdge   present = first;
    uint32_t       head = present.GetHead(map);
    while (head > begin)
    {
      present = GetNext(map, present);
      head = present.GetHead(map);
    }
    return head == begin;
  }
  /** Stores in each edge the distance back to the beginning of the line. Returns the number of edges. */
  ITK_CUDA_HOST_DEVICE uint32_t
  NumberEdges(const MapView & map, const DirectedEdge & first) const
  {
    uint32_t     number = 0;
    DirectedEdge present = first;
    do
    {
      const uint64_t back = LineLink::To(first.Reverse(), number++, true).Word;
      TAtomics::StoreRelaxed(this->Links[present.Reverse().Number], back);
      present = GetNext(map, present);
    } while (present.Number != first.Number);
    return number;
  }
};

/** Lists all lines. */
template <typename TAtomics>
struct ListLines : LineList<TAtomics>
{
  static constexpr bool NeedsManyRegisters = false;

  template <typename TLoopExecutor>
  ITK_CUDA_HOST_DEVICE void
  operator()(const TLoopExecutor & executor) const
  {
    const LineList<TAtomics>  list = *this;
    const LinkLines<TAtomics> link{ list };
    executor.ParallelForUpTo(link.GetNumberOfAll(), link);
    bool isDone = false;
    for (uint32_t jump = 0; jump < this->GetMaximumNumberOfJumps() && !isDone; ++jump)
    {
      executor.ParallelForUpTo(2 * this->NumberOfEdges, JumpAhead<TAtomics>{ list, jump });
      isDone = executor.IsDone(this->Counters->HasArrived + jump);
    }
    executor.ParallelForUpTo(this->NumberOfNodes, ListLinesOfNodes<TAtomics>{ list });
  }

private:
  /** Returns the number of jumps (1, 2, 4, ... edges ahead) that reach the end of the longest possible line. */
  ITK_CUDA_HOST_DEVICE uint32_t
  GetMaximumNumberOfJumps() const
  {
    uint32_t jumps = 1;
    while (jumps < ChainCounters::MaximumNumberOfJumps && (size_t{ 1 } << jumps) < this->NumberOfEdges)
    {
      ++jumps;
    }
    return jumps;
  }
};
} // namespace functors
} // namespace itk::cuda::partition

#endif
