// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_partition_labels_Merging_h
#define CudaFilters_partition_labels_Merging_h

#include "itkCudaRegionPartitionTypes.h"

#include <cstddef>
#include <cstdint>
#include <vector>

// What becomes of a partition if steps of its merge tree are taken.
namespace itk::cuda::partition
{
/** The region that each one belongs to after the first `merges` steps; entry i is that of region i, entry 0 is 0. */
std::vector<uint32_t>
FollowMerges(const CudaRegionPartitionResult & partition, size_t merges);

/** The partition after these steps, with the rest of the tree. Regions keep the order of their smallest numbers. */
CudaRegionPartitionResult
MergeRegions(const CudaRegionPartitionResult & partition, size_t merges);
} // namespace itk::cuda::partition

#endif
