// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaPartitionCorner_h
#define itkCudaPartitionCorner_h

#include "itkCudaHostDevice.h"
#include "itkCudaPartitionMapData.h"

#include <cstddef>
#include <cstdint>

namespace itk::cuda::partition
{
/** Labels of the four pixels around a corner, Outside beyond the image. */
struct Corner
{
  uint32_t UpperLeft, UpperRight, LowerLeft, LowerRight; // Y grows downwards

  /** Whether boundaries end, meet or turn here: they neither are missing nor pass straight through. */
  ITK_CUDA_HOST_DEVICE bool
  IsNode() const
  {
    return (UpperLeft != LowerLeft || UpperRight != LowerRight) && (UpperLeft != UpperRight || LowerLeft != LowerRight);
  }
  ITK_CUDA_HOST_DEVICE bool
  HasEdgeUp() const
  {
    return UpperLeft != UpperRight;
  }
  ITK_CUDA_HOST_DEVICE bool
  HasEdgeDown() const
  {
    return LowerLeft != LowerRight;
  }
  ITK_CUDA_HOST_DEVICE bool
  HasEdgeLeft() const
  {
    return UpperLeft != LowerLeft;
  }
  ITK_CUDA_HOST_DEVICE bool
  HasEdgeRight() const
  {
    return UpperRight != LowerRight;
  }
};

/** The most nodes of a map. */
constexpr size_t LargestNumberOfNodes = size_t{ 1 } << 30;
} // namespace itk::cuda::partition

#endif
