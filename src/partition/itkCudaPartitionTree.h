// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaPartitionTree_h
#define itkCudaPartitionTree_h

#include "itkCudaPartitionModel.h"
#include "itkCudaRegionPartitionTypes.h"

#include <cstdint>
#include <vector>

namespace itk::cuda::partition
{
/** The boundary between two regions, and what it costs in nats: what a merge saves besides the regions' own change. */
struct Boundary
{
  uint32_t First;
  uint32_t Second;
  double   Cost;
};

/** Merges the pair of neighbours that changes the description least, again and again, until no two are neighbours.
 * Pairs with equal changes merge in the order of their numbers. A merged region has the smaller of its two numbers. The
 * changes of a region with more than 256 neighbours are computed again when their turn comes. A change that has become
 * less since then may come late.
 * \param regions sums by number; [0] is not looked at
 * \param boundaries between them; the costs of a pair that occurs several times are added */
std::vector<CudaPartitionMerge>
MakeMergeTree(const Model & model, const std::vector<Moments> & regions, const std::vector<Boundary> & boundaries);
} // namespace itk::cuda::partition

#endif
