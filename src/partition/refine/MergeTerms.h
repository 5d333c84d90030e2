// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_partition_refine_MergeTerms_h
#define CudaFilters_partition_refine_MergeTerms_h

#include "runtime/HostDevice.h"
#include "partition/map/MapData.h"
#include "partition/refine/Changes.h"

#include <cstdint>

// The gain of merging two regions, for the host and the device.
namespace itk::cuda::partition
{
/** If a merge raises the description by more than this, the gain of freed nodes is ignored, because it could not
 * compensate the rise. */
constexpr double MaximumRise = 200.0;

/** Returns the first-order gain of removing a node with three edges when its edge j is removed; 0 or positive if the
 * node stays. `round` is as for ReplaceByChord(). */
template <typename TRound, typename TTile>
ITK_CUDA_HOST_DEVICE double
DeltaCostOfFreedNode(const TRound & round, uint32_t i, uint32_t j, const TTile & tile)
{
  const MapView   map = round.GetMap();
  const MapNode & node = map.Nodes[i];
  const MapEdge & f = map.Edges[node.Edges[(j + 1) % 3]];
  const MapEdge & g = map.Edges[node.Edges[(j + 2) % 3]];
  const uint32_t  a = f.GetOther(i);
  const uint32_t  b = g.GetOther(i);
  if (map.Edges[node.Edges[j]].IsBorder() || f.IsBorder() || g.IsBorder() || a == b)
  {
    return 0.0;
  }
  const MapEdge first = f.From(a);
  const Moments change = SumEdge(round, map.At(a), map.At(b), tile) - (first.Sums + g.From(i).Sums);
  return -round.Model.SegmentCost + round.DeltaCostOf(first.Left, first.Right, change);
}

/** Returns the change of the description when two regions merge.
 * \param ofRegions change from the regions' sums \param ofNodes change from the nodes that can then be removed
 */
ITK_CUDA_HOST_DEVICE inline double
ChangeOfMerge(double ofRegions, double ofSegments, double ofNodes)
{
  const double change = ofRegions + ofSegments;
  return change + (change < MaximumRise ? ofNodes : 0.0);
}
} // namespace itk::cuda::partition

#endif
