// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaPartitionLabels_h
#define itkCudaPartitionLabels_h

#include "itkCudaPartitionModel.h"

#include <cstdint>
#include <vector>

namespace itk::cuda::partition
{
/** Which region each pixel belongs to. Regions count from 1, in the order of their first pixels, and are connected over
 * sides of pixels. Every pixel has a region: those that are not valid have no samples, and count nowhere. */
struct LabelMap
{
  int32_t               Width{ 0 };
  int32_t               Height{ 0 };
  std::vector<uint32_t> Labels;  // row by row
  std::vector<Moments>  Regions; // sums of region number label; [0] is unused
};
} // namespace itk::cuda::partition

#endif
