// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_partition_MergeRule_h
#define CudaFilters_partition_MergeRule_h

#include "runtime/HostDevice.h"
#include "partition/Model.h"
#include "partition/Tuning.h"

#include <cstdint>

// Decides which regions merge in a round, in label maps as in maps of polygons: each region chooses its best neighbour;
// pairs that chose each other, and small regions that join them, become one.
namespace itk::cuda::partition
{
/** Returns whether a region joins its best neighbour in the round in which that neighbour merges with its own best
 * neighbour. Otherwise, a large region would need a round for each of its neighbours. The region must be small
 * compared with the neighbour, and must gain about as much as the neighbour does.
 * \param gain by how much the best merge of the region lowers the description
 * \param gainOfNeighbor by how much that of its best neighbour does
 * \param pixels number of pixels of the region
 * \param pixelsOfNeighbor number of pixels of its best neighbour
 */
ITK_CUDA_HOST_DEVICE inline bool
JoinsPair(double gain, double gainOfNeighbor, int64_t pixels, int64_t pixelsOfNeighbor)
{
  return gain >= MinimumShareToJoin * gainOfNeighbor && pixels <= pixelsOfNeighbor / MinimumRatioToJoin;
}

/** Returns the root of `region` in this round: the region that stands for both of a pair of mutual best neighbours, the
 * one with the smaller number, and for the regions that join them (JoinsPair()), whose numbers are larger than it.
 * Returns None if the region does not merge. The groups of a round are disjoint.
 * \param bestMergeOf bestMergeOf(region) returns the best merge of a region, with GetNeighbor(), which is None if no
 * merge lowers the description, and GetGain(), by how much it does
 *
 * \param countOf countOf(region) returns the number of pixels when the round began
 */
template <typename TBestMerge, typename TCount>
ITK_CUDA_HOST_DEVICE uint32_t
FindMergeRoot(uint32_t region, const TBestMerge & bestMergeOf, const TCount & countOf)
{
  const auto     best = bestMergeOf(region);
  const uint32_t neighbor = best.GetNeighbor();
  if (neighbor == None)
  {
    return None;
  }
  const auto     bestOfNeighbor = bestMergeOf(neighbor);
  const uint32_t partner = bestOfNeighbor.GetNeighbor();
  const uint32_t root = neighbor < partner ? neighbor : partner;
  const bool     isOfPair = partner == region;
  return isOfPair || (region > root && bestMergeOf(partner).GetNeighbor() == neighbor &&
                      JoinsPair(best.GetGain(), bestOfNeighbor.GetGain(), countOf(region), countOf(neighbor)))
           ? root
           : None;
}

/** Returns the change of the description by the merge of two regions, minus the gain of removing their boundary. The
 * first region must be the one with the smaller number, so that all callers get the same bits. `TModel` describes
 * regions as Model does. */
template <typename TModel>
ITK_CUDA_HOST_DEVICE double
ChangeByMerge(const TModel & model, const Moments & first, const Moments & second, uint32_t length)
{
  const double ofFirst = model.Describe(first);
  const double ofSecond = model.Describe(second);
  return model.Describe(first + second) - ofFirst - ofSecond - MergeGainPerLength * static_cast<double>(length);
}
} // namespace itk::cuda::partition

#endif
