// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_partition_labels_GraphSteps_h
#define CudaFilters_partition_labels_GraphSteps_h

#include "runtime/HostDevice.h"
#include "partition/Model.h"
#include "partition/Tuning.h"

#include <cstdint>

// What is done for one link of two regions, for the loops of the host and for the kernels of the device.
namespace itk::cuda::partition
{
/** The sum of two numbers of cracks; 2^32 - 1 stands for more. The order of several sums does not matter. */
ITK_CUDA_HOST_DEVICE inline uint32_t
AddCracks(uint32_t x, uint32_t y)
{
  constexpr uint32_t most = 0xffffffffu;
  return x <= most - y ? x + y : most;
}

/** By how much a merge lowers the description, as far as merges are compared: in single precision. 0: it does not. */
ITK_CUDA_HOST_DEVICE inline float
GetSizeOfChange(double change)
{
  return change < 0.0 ? static_cast<float>(-change) : 0.0f;
}

/** Whether a region joins its best neighbour in the round in which that neighbour merges with its own best neighbour. A
 * large region would otherwise need a round for each of its neighbours. The region must be small beside the neighbour,
 * and must gain about as much as the neighbour does.
 * \param size of the best change of the region, positive \param sizeOfNeighbor the same of its best neighbour
 * \param pixels of the region, and of its best neighbour */
ITK_CUDA_HOST_DEVICE inline bool
JoinsPair(double size, double sizeOfNeighbor, int64_t pixels, int64_t pixelsOfNeighbor)
{
  return size >= LeastShareToJoin * sizeOfNeighbor && pixels <= pixelsOfNeighbor / LeastRatioToJoin;
}

/** Change of the description by the merge of two regions, less what their boundary is worth. The first region is the
 * one with the smaller number: whoever asks gets the same bits. `TModel` describes regions as Model. */
ITK_CUDA_AS_ARGUMENTS
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
