// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaPartitionRaster_h
#define itkCudaPartitionRaster_h

#include "itkCudaPartitionMapData.h"
#include "itkCudaRegionThreads.h"

#include <cstdint>
#include <vector>

namespace itk::cuda::partition
{
/** The region of each pixel, row by row: that in which its centre lies, by the rule of the edges' sums.
 * \param labels of any values. The result takes their memory: the system clears new memory on one thread. */
std::vector<uint32_t>
RasterizeMap(const MapData & map, const region::Threads & threads, std::vector<uint32_t> labels = {});
} // namespace itk::cuda::partition

#endif
