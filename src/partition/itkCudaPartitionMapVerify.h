// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaPartitionMapVerify_h
#define itkCudaPartitionMapVerify_h

#include "itkCudaPartitionMapData.h"
#include "itkCudaRegionTables.h"

#include <string>

namespace itk::cuda::partition
{
/** What is wrong with a map, in words; nothing if it is planar and its sums are right. Compares all pairs of edges
 * whose rows overlap: for tests and debug builds. */
std::string
VerifyMap(const MapData & map, const region::Level & pixels);
} // namespace itk::cuda::partition

#endif
