// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_partition_refine_BestPolylines_h
#define CudaFilters_partition_refine_BestPolylines_h

#include "partition/refine/RefinementRound.h"
#include "partition/Tuning.h"

#include <cstddef>
#include <cstdint>
#include <limits>

// Finds the best polylines of a chain by dynamic programming.
namespace itk::cuda::partition
{
/** The cost of an impossible chord. */
constexpr double InfiniteCost = std::numeric_limits<double>::infinity();

/** Returns the first-order cost of a chord from p to q that replaces some edges of a chain.
 * \param replaced sums of these edges
 * \param isEdge whether the chord is identical to the only replaced edge
 */
template <typename TIntegrator, typename TTeam>
ITK_CUDA_HOST_DEVICE double
CostOfChord(const TIntegrator &      integrator,
            const BoundaryTangents & tangents,
            double                   segmentCost,
            const LatticePoint &     p,
            const LatticePoint &     q,
            const Moments &          replaced,
            bool                     isEdge,
            const TTeam &            team)
{
  using region::operator==;
  if (p == q)
  {
    return InfiniteCost;
  }
  return segmentCost + tangents.DeltaCostOf(isEdge ? Moments{} : SumEdge(integrator, p, q, team) - replaced);
}

/** Finds the best polylines from a chain's first node over a subset of its nodes, by dynamic programming. Among equal
 * ones, the one whose last chord begins first wins.
 * \param costOfChord of nodes i < j <= i + ChainWindow
 * \param costs of the polylines to node 0, 1, ... `edges`
 * \param spans number of chain edges that the last chord of each polyline replaces; not set for node 0
 */
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
} // namespace itk::cuda::partition

#endif
