// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaPartitionEvaluator_h
#define itkCudaPartitionEvaluator_h

#include "itkCudaPartitionRefinementSteps.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace itk::cuda::partition
{
/** Chains whose best polylines are searched. Node j of chain i is number First[i] + j of all. */
struct ChainBatch
{
  std::vector<uint32_t>         First{ 0 }; // of each chain, and the number of all nodes
  std::vector<LatticePoint>     Positions;
  std::vector<BoundaryTangents> Tangents; // of each chain, as it leaves its first node

  size_t
  GetNumber() const
  {
    return First.size() - 1;
  }
};

/** Nodes whose moves are weighed. */
struct MoveBatch
{
  MapExtent                       Extent;
  std::vector<MovingNode>         Nodes;
  const std::vector<LinearForm> & Tangents; // of the regions
};

/** \class Evaluator
 * \brief Computes what changes of a map gain, many at a time: most of the work of a refinement.
 *
 * Without one, a refinement computes it itself when it comes to a node or a chain. The results are the same to the bit.
 */
class Evaluator
{
public:
  virtual ~Evaluator() = default;

  /** \param costs of the best polyline of each chain
   * \param spans for each node but the first ones: what FindBestPolylines() gives */
  virtual void
  SearchChains(const ChainBatch & chains, double segmentCost, double * costs, uint8_t * spans) const = 0;

  /** \param gains NumberOfCandidates for each node: that of GainOfMove(), or 0 for a place where it may not lie */
  virtual void
  WeighMoves(const MoveBatch & moves, double * gains) const = 0;
};
} // namespace itk::cuda::partition

#endif
