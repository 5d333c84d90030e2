// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_partition_result_MergeTreeCut_h
#define CudaFilters_partition_result_MergeTreeCut_h

#include "itkCudaRegionPartitionTypes.h"

#include <cstddef>
#include <cstdint>
#include <vector>

// Declares functions that give the partition after steps of its merge tree. They change a finished partition and take
// no part in finding it.
namespace itk::cuda::partition
{
/** Returns the region that each region belongs to after the first `merges` steps; entry i is for region i, and entry 0
 * is 0. */
std::vector<uint32_t>
FollowMergeTree(const CudaRegionPartitionResult & partition, size_t merges);

/** Returns the partition after these steps, with the rest of the tree. Regions keep the order of their smallest
 * numbers. */
CudaRegionPartitionResult
CutMergeTree(const CudaRegionPartitionResult & partition, size_t merges);
} // namespace itk::cuda::partition

#endif
