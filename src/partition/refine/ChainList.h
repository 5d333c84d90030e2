// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_partition_refine_ChainList_h
#define CudaFilters_partition_refine_ChainList_h

#include "partition/map/MapData.h"
#include "region/Threads.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace itk::cuda::partition
{
/** Longer chains are cut at every CutLength-th node, which then stays. */
constexpr size_t LongestChain = 512; // in edges
constexpr size_t CutLength = 256;

/** Maximum number of rounds, even if more would gain: chains at a junction change one after the other. */
constexpr int MaximumNumberOfChainRounds = 30;

/** A node of a line, and the edge by which the line continues; None after the last node. */
struct LineStep
{
  uint32_t Node;
  uint32_t Edge;
};

/** The lines of edges inside the image between nodes where more or fewer than two edges meet. A closed line without
 * such a node begins and ends at its first node. */
class ChainList
{
public:
  /** One chain: node j, edge j, node j + 1, ... */
  struct Chain
  {
    const uint32_t * Nodes;
    const uint32_t * Edges;
    size_t           NumberOfEdges;
    size_t           Offset; // index of its first node among the nodes of all chains

    bool
    IsClosed() const
    {
      return Nodes[0] == Nodes[NumberOfEdges];
    }
  };

  ChainList(const MapData & map, const region::Threads & threads);

  size_t
  GetNumber() const
  {
    return m_First.size() - 1;
  }
  Chain
  Get(size_t i) const
  {
    return { m_Nodes.data() + m_First[i], m_Edges.data() + m_First[i], m_First[i + 1] - m_First[i] - 1, m_First[i] };
  }
  /** Returns the number of nodes of all chains. A node where chains meet counts once for each of them. */
  size_t
  GetNumberOfNodes() const
  {
    return m_Nodes.size();
  }
  /** Returns the chain that contains an edge; None for edges of the image's border. */
  uint32_t
  GetChainOf(uint32_t edge) const
  {
    return m_ChainOfEdge[edge];
  }

private:
  std::vector<size_t>   m_First{ 0 };
  std::vector<uint32_t> m_Nodes;
  std::vector<uint32_t> m_Edges; // one per node; None for the last node of a chain
  std::vector<uint32_t> m_ChainOfEdge;

  void
  AddLines(const std::vector<LineStep> & steps);
  void
  AddPiece(const std::vector<LineStep> & steps, size_t begin, size_t end);
};
} // namespace itk::cuda::partition

#endif
