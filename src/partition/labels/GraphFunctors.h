// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_partition_labels_GraphFunctors_h
#define CudaFilters_partition_labels_GraphFunctors_h

#include "runtime/HostDevice.h"
#include "partition/Model.h"
#include "partition/Tuning.h"

#include <cstdint>

// Operations on one link between two regions, shared by the host executor and the device kernels.
namespace itk::cuda::partition
{
/** Adds two crack counts with saturation at 2^32 - 1. The result of several additions does not depend on their order.
 */
ITK_CUDA_HOST_DEVICE inline uint32_t
AddCracks(uint32_t x, uint32_t y)
{
  constexpr uint32_t most = 0xffffffffu;
  return x <= most - y ? x + y : most;
}

/** Returns by how much a merge lowers the description, in the single precision in which merges are compared; 0 if it
 * does not. */
ITK_CUDA_HOST_DEVICE inline float
GetSizeOfChange(double change)
{
  return change < 0.0 ? static_cast<float>(-change) : 0.0f;
}

/** Returns whether a region joins its best neighbour in the round in which that neighbour merges with its own best
 * neighbour. Otherwise, a large region would need a round for each of its neighbours. The region must be small
 * compared with the neighbour, and must gain about as much as the neighbour does.
 * \param size of the best change of the region, positive \param sizeOfNeighbor size of the best change of its best
 * neighbour
 * \param pixels of the region, and of its best neighbour
 */
ITK_CUDA_HOST_DEVICE inline bool
JoinsPair(double size, double sizeOfNeighbor, int64_t pixels, int64_t pixelsOfNeighbor)
{
  return size >= MinimumShareToJoin * sizeOfNeighbor && pixels <= pixelsOfNeighbor / MinimumRatioToJoin;
}

/** Returns the change of the description by the merge of two regions, minus the gain of removing their boundary. The
 * first region must be the one with the smaller number, so that all callers get the same bits. `TModel` describes
 * regions as Model does. */
template <typename TModel>
ITK_CUDA_HOST_DEVICE double
ChangeByMerge(const TModel &  model,
              const Moments & first,
              const Moments & second,
              double          descriptionOfFirst,
              double          descriptionOfSecond,
              uint32_t        cracks)
{
  return model.Describe(first + second) - descriptionOfFirst - descriptionOfSecond -
         NatsPerCrack * static_cast<double>(cracks);
}
} // namespace itk::cuda::partition

#endif
