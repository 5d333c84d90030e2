// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaPartitionRefinementSteps_h
#define itkCudaPartitionRefinementSteps_h

#include "itkCudaHostDevice.h"
#include "itkCudaPartitionMapData.h"

#include <cstddef>
#include <cstdint>
#include <limits>

// What changes of a map's polygons gain, for the loops of the host and for the kernels of the device. Pixels are an
// image as polygons see it: SumEdge().
namespace itk::cuda::partition
{
/** A change has to gain more nats than this. */
constexpr double MinimumGain = 0.01;

/** A chord spans this many edges of a chain at most. */
constexpr size_t ChainWindow = 32;

/** The cost of a chord that cannot be. */
constexpr double InfiniteCost = std::numeric_limits<double>::infinity();

/** The tangents of the regions on the two sides of a boundary. */
struct BoundaryTangents
{
  LinearForm Left;
  LinearForm Right;

  /** First-order change of the description if the left region takes `change` from the right one. */
  ITK_CUDA_HOST_DEVICE double
  GainOf(const Moments & change) const
  {
    return Left(change) - Right(change);
  }
};

/** What a chord from p to q costs in place of some edges of a chain, to first order.
 * \param replaced sums of these edges
 * \param isEdge whether the chord is the only one of them */
ITK_CUDA_AS_ARGUMENTS
template <typename TPixels>
ITK_CUDA_HOST_DEVICE double
CostOfChord(const TPixels &          pixels,
            const BoundaryTangents & tangents,
            double                   segmentCost,
            const LatticePoint &     p,
            const LatticePoint &     q,
            const Moments &          replaced,
            bool                     isEdge)
{
  using region::operator==;
  if (p == q)
  {
    return InfiniteCost;
  }
  return segmentCost + tangents.GainOf(isEdge ? Moments{} : pixels.SumEdge(p, q) - replaced);
}

/** The best polylines from a chain's first node over some of its nodes, by dynamic programming. Among equal ones the
 * one whose last chord begins first wins.
 * \param costOfChord of the nodes' numbers i < j <= i + ChainWindow
 * \param costs of the polylines to node 0, 1, ... `edges`
 * \param spans edges of the chain that the last chord of each polyline replaces; not set for node 0 */
ITK_CUDA_AS_ARGUMENTS
template <typename TCost>
ITK_CUDA_HOST_DEVICE void
FindBestPolylines(size_t edges, const TCost & costOfChord, double * costs, uint8_t * spans)
{
  costs[0] = 0.0;
  for (size_t j = 1; j <= edges; ++j)
  {
    double  best = InfiniteCost;
    uint8_t span = 1;
    for (size_t i = j > ChainWindow ? j - ChainWindow : 0; i < j; ++i)
    {
      const double cost = costs[i] + costOfChord(i, j);
      if (cost < best)
      {
        best = cost;
        span = static_cast<uint8_t>(j - i);
      }
    }
    costs[j] = best;
    spans[j] = span;
  }
}

constexpr int NumberOfDirections = 8;
constexpr int NumberOfDistances = 3; // 1, 2 and 4 pixels
constexpr int NumberOfCandidates = NumberOfDirections * NumberOfDistances;

/** A place to which a node may move. */
ITK_CUDA_HOST_DEVICE inline LatticePoint
CandidateOf(const LatticePoint & position, int candidate)
{
  // 1 more than the components of the eight directions, two bits each: 1, 1, 0, -1, -1, -1, 0, 1 along X.
  constexpr uint32_t x = 0x901a;
  constexpr uint32_t y = 0x01a9;
  const int          shift = 2 * (candidate % NumberOfDirections);
  const int32_t      distance = 1 << (candidate / NumberOfDirections);
  return { position.X + distance * (static_cast<int32_t>((x >> shift) & 3u) - 1),
           position.Y + distance * (static_cast<int32_t>((y >> shift) & 3u) - 1) };
}

/** An edge of a node that may move, as it leaves the node. */
struct MovingEdge
{
  LatticePoint Far;
  uint32_t     Left;
  uint32_t     Right;
  Moments      Sums;
};

/** A node that may move, and its edges in the order of their numbers. */
struct MovingNode
{
  LatticePoint Position;
  uint32_t     NumberOfEdges;
  MovingEdge   Edges[MapNode::MaximumDegree];
};

/** What a move gains, to first order; 0 if that is too little. `changeOf` says what it brings to the region on the left
 * of edge number j. */
ITK_CUDA_AS_ARGUMENTS
template <typename TFunction>
ITK_CUDA_HOST_DEVICE double
GainOfMove(const MovingNode & node, const LinearForm * tangents, const TFunction & changeOf)
{
  double gain = 0.0;
  for (uint32_t j = 0; j < node.NumberOfEdges; ++j)
  {
    const Moments change = changeOf(j);
    gain += tangents[node.Edges[j].Left](change) - tangents[node.Edges[j].Right](change);
  }
  return gain < -MinimumGain ? gain : 0.0;
}
} // namespace itk::cuda::partition

#endif
