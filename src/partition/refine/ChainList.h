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
constexpr size_t LongestChain = 512; // edges
constexpr size_t CutLength = 256;

/** No more rounds follow, whatever they would gain: chains at a junction come one after the other. */
constexpr int MaximumNumberOfChainRounds = 30;

/** A node of a line, and the edge by which the line goes on; None follows its last node. */
struct LineStep
{
  uint32_t Node;
  uint32_t Edge;
};

/** The lines of edges inside the image between nodes where more or fewer than two edges meet. A closed line without
 * such a node begins and ends at its first one. */
class ChainList
{
public:
  /** One line: node j, edge j, node j + 1, ... */
  struct Chain
  {
    const uint32_t * Nodes;
    const uint32_t * Edges;
    size_t           NumberOfEdges;
    size_t           Offset; // of its first node among all

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
  /** Nodes of all chains: a node where chains meet counts for each of them. */
  size_t
  GetNumberOfNodes() const
  {
    return m_Nodes.size();
  }
  /** The chain that an edge is of; None for edges of the image's border. */
  uint32_t
  GetChainOf(uint32_t edge) const
  {
    return m_ChainOfEdge[edge];
  }

private:
  std::vector<size_t>   m_First{ 0 };
  std::vector<uint32_t> m_Nodes;
  std::vector<uint32_t> m_Edges; // one for each node; the last one of a chain is None
  std::vector<uint32_t> m_ChainOfEdge;

  void
  AddLines(const std::vector<LineStep> & steps);
  void
  AddPiece(const std::vector<LineStep> & steps, size_t begin, size_t end);
};
} // namespace itk::cuda::partition

#endif
