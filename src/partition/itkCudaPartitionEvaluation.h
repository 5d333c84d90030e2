// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaPartitionEvaluation_h
#define itkCudaPartitionEvaluation_h

#include "itkCudaHostDevice.h"
#include "itkCudaPartitionEvaluator.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

// The gains of changes as loops over chords and candidates, for processors whose passes run all at once.
namespace itk::cuda::partition
{
namespace steps
{
/** Chains of a batch, or some of them, in the memory of a processor. */
struct ChainView
{
  const uint32_t *         First; // counts from the first node of the batch
  const uint32_t *         ChainOf;
  const LatticePoint *     Positions;
  const BoundaryTangents * Tangents;
  uint32_t                 FirstNode; // of these chains

  /** The node's number in its chain. */
  ITK_CUDA_HOST_DEVICE uint32_t
  GetPlace(size_t node) const
  {
    return static_cast<uint32_t>(node) - (First[ChainOf[node]] - FirstNode);
  }
};

/** Sums of the edge that ends at each node. */
template <typename TPixels>
struct SumChainEdges
{
  TPixels   Pixels;
  ChainView Chains;
  Moments * Sums;

  ITK_CUDA_AS_ARGUMENTS
  ITK_CUDA_HOST_DEVICE void
  operator()(size_t node) const
  {
    Sums[node] =
      Chains.GetPlace(node) == 0 ? Moments{} : Pixels.SumEdge(Chains.Positions[node - 1], Chains.Positions[node]);
  }
};

/** Makes them the sums of all edges before each node. */
struct AddUpChain
{
  ChainView Chains;
  Moments * Sums;

  ITK_CUDA_HOST_DEVICE void
  operator()(size_t chain) const
  {
    const uint32_t end = Chains.First[chain + 1] - Chains.FirstNode;
    Moments        sum;
    for (uint32_t node = Chains.First[chain] - Chains.FirstNode; node < end; ++node)
    {
      sum += Sums[node];
      Sums[node] = sum;
    }
  }
};

/** Costs of the chords that end at each node: the one over 1 edge, over 2, ... ChainWindow edges. */
template <typename TPixels>
struct CostChords
{
  TPixels         Pixels;
  ChainView       Chains;
  double          SegmentCost;
  const Moments * Sums;
  double *        Costs;

  ITK_CUDA_AS_ARGUMENTS
  ITK_CUDA_HOST_DEVICE void
  operator()(size_t i) const
  {
    const size_t end = i / ChainWindow;
    const size_t span = i % ChainWindow + 1;
    if (span <= Chains.GetPlace(end))
    {
      const size_t begin = end - span;
      Costs[i] = CostOfChord(Pixels,
                             Chains.Tangents[Chains.ChainOf[end]],
                             SegmentCost,
                             Chains.Positions[begin],
                             Chains.Positions[end],
                             Sums[end] - Sums[begin],
                             span == 1);
    }
  }
};

struct SearchChain
{
  ChainView      Chains;
  const double * CostsOfChords;
  double *       CostsToNodes;
  double *       Costs; // of the chains
  uint8_t *      Spans;

  struct CostOf
  {
    const double * Chords; // of the chain's first node

    ITK_CUDA_HOST_DEVICE double
    operator()(size_t i, size_t j) const
    {
      return Chords[j * ChainWindow + (j - i - 1)];
    }
  };

  ITK_CUDA_HOST_DEVICE void
  operator()(size_t chain) const
  {
    const size_t   first = Chains.First[chain] - Chains.FirstNode;
    const size_t   edges = Chains.First[chain + 1] - Chains.First[chain] - 1;
    double * const costs = CostsToNodes + first;
    FindBestPolylines(edges, CostOf{ CostsOfChords + first * ChainWindow }, costs, Spans + first);
    Spans[first] = 0;
    Costs[chain] = costs[edges];
  }
};

/** Gains of all candidates for the places of nodes. */
template <typename TPixels>
struct WeighMoves
{
  TPixels            Pixels;
  MapExtent          Extent;
  const MovingNode * Nodes;
  const LinearForm * Tangents;
  double *           Gains;

  struct ChangeOf
  {
    const TPixels &      Pixels;
    const MovingNode &   Node;
    const LatticePoint & To;

    ITK_CUDA_AS_ARGUMENTS
    ITK_CUDA_HOST_DEVICE Moments
    operator()(uint32_t j) const
    {
      return Pixels.SumEdge(To, Node.Edges[j].Far) - Node.Edges[j].Sums;
    }
  };

  ITK_CUDA_AS_ARGUMENTS
  ITK_CUDA_HOST_DEVICE void
  operator()(size_t i) const
  {
    const MovingNode & node = Nodes[i / NumberOfCandidates];
    const LatticePoint to = CandidateOf(node.Position, static_cast<int>(i % NumberOfCandidates));
    Gains[i] = Extent.Allows(node.Position, to) ? GainOfMove(node, Tangents, ChangeOf{ Pixels, node, to }) : 0.0;
  }
};
} // namespace steps

/** \class Evaluation
 * \brief An Evaluator that computes on a processor: its memory, loops and copies, and VisitPixels(function), which
 * calls function(pixels). Batches that are too large for the memory that it may take are taken in parts.
 */
template <typename TProcessor>
class Evaluation : public Evaluator
{
public:
  /** \param processor which has to live longer \param largestPart nodes that are in memory at a time */
  Evaluation(const TProcessor & processor, size_t largestPart)
    : m_Processor(processor)
    , m_LargestPart(largestPart)
  {}

  void
  SearchChains(const ChainBatch & chains, double segmentCost, double * costs, uint8_t * spans) const override
  {
    for (size_t begin = 0, end = 0; begin < chains.GetNumber(); begin = end)
    {
      for (end = begin + 1; end < chains.GetNumber() && chains.First[end + 1] - chains.First[begin] <= m_LargestPart;)
      {
        ++end;
      }
      this->SearchPart(chains, begin, end, segmentCost, costs + begin, spans + chains.First[begin]);
    }
  }

  void
  WeighMoves(const MoveBatch & moves, double * gains) const override
  {
    const auto tangents = m_Processor.Upload(moves.Tangents.data(), moves.Tangents.size());
    for (size_t begin = 0; begin < moves.Nodes.size(); begin += m_LargestPart)
    {
      const size_t number = std::min(m_LargestPart, moves.Nodes.size() - begin);
      const size_t candidates = number * NumberOfCandidates;
      const auto   nodes = m_Processor.Upload(moves.Nodes.data() + begin, number);
      const auto   out = m_Processor.template Allocate<double>(candidates);
      m_Processor.VisitPixels([&](const auto & pixels) {
        m_Processor.For(candidates,
                        steps::WeighMoves<std::decay_t<decltype(pixels)>>{
                          pixels, moves.Extent, nodes.Get(), tangents.Get(), out.Get() });
      });
      m_Processor.Download(out.Get(), candidates, gains + begin * NumberOfCandidates);
    }
  }

private:
  const TProcessor & m_Processor;
  const size_t       m_LargestPart;

  void
  SearchPart(const ChainBatch & chains, size_t begin, size_t end, double segmentCost, double * costs, uint8_t * spans)
    const
  {
    const uint32_t        firstNode = chains.First[begin];
    const size_t          nodes = chains.First[end] - firstNode;
    const size_t          number = end - begin;
    std::vector<uint32_t> chainOf(nodes);
    for (size_t i = begin; i < end; ++i)
    {
      std::fill(chainOf.begin() + (chains.First[i] - firstNode),
                chainOf.begin() + (chains.First[i + 1] - firstNode),
                static_cast<uint32_t>(i - begin));
    }
    const auto             first = m_Processor.Upload(chains.First.data() + begin, number + 1);
    const auto             chainsOfNodes = m_Processor.Upload(chainOf.data(), nodes);
    const auto             positions = m_Processor.Upload(chains.Positions.data() + firstNode, nodes);
    const auto             tangents = m_Processor.Upload(chains.Tangents.data() + begin, number);
    const steps::ChainView view{ first.Get(), chainsOfNodes.Get(), positions.Get(), tangents.Get(), firstNode };
    const auto             costsOfChords = m_Processor.template Allocate<double>(nodes * ChainWindow);
    this->CostChords(view, nodes, number, segmentCost, costsOfChords.Get());
    const auto costsToNodes = m_Processor.template Allocate<double>(nodes);
    const auto costsOfChains = m_Processor.template Allocate<double>(number);
    const auto spansOfNodes = m_Processor.template Allocate<uint8_t>(nodes);
    m_Processor.For(
      number,
      steps::SearchChain{ view, costsOfChords.Get(), costsToNodes.Get(), costsOfChains.Get(), spansOfNodes.Get() });
    m_Processor.Download(costsOfChains.Get(), number, costs);
    m_Processor.Download(spansOfNodes.Get(), nodes, spans);
  }

  void
  CostChords(const steps::ChainView & view, size_t nodes, size_t chains, double segmentCost, double * costs) const
  {
    const auto sums = m_Processor.template Allocate<Moments>(nodes);
    m_Processor.VisitPixels([&](const auto & pixels) {
      using Pixels = std::decay_t<decltype(pixels)>;
      m_Processor.For(nodes, steps::SumChainEdges<Pixels>{ pixels, view, sums.Get() });
      m_Processor.For(chains, steps::AddUpChain{ view, sums.Get() });
      m_Processor.For(nodes * ChainWindow, steps::CostChords<Pixels>{ pixels, view, segmentCost, sums.Get(), costs });
    });
  }
};

/** Memory in bytes of an Evaluation for parts of a number of nodes. */
inline size_t
GetEvaluationBytes(size_t nodes)
{
  // A chain of two nodes has the most beside its nodes.
  constexpr size_t perChain = sizeof(uint32_t) + sizeof(BoundaryTangents) + sizeof(double);
  constexpr size_t perNodeOfChain =
    2 * sizeof(uint32_t) + sizeof(LatticePoint) + sizeof(Moments) + (ChainWindow + 1) * sizeof(double) + perChain / 2;
  constexpr size_t perNodeThatMoves = sizeof(MovingNode) + NumberOfCandidates * sizeof(double);
  return nodes * std::max(perNodeOfChain, perNodeThatMoves);
}
} // namespace itk::cuda::partition

#endif
