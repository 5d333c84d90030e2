// SPDX-License-Identifier: Apache-2.0
#include "executor/DeviceExecutor.cuh"
#include "partition/labels/LabelSearch.h"

// Compiles the search for labels apart from the rest of the partition, so that the two are compiled at the same time.
namespace itk::cuda::partition
{
template bool
              LabelSearch<DeviceExecutor>::Search(int32_t, const ProgressFunction &);
template void LabelSearch<DeviceExecutor>::StartFrom(Array<uint32_t>);
} // namespace itk::cuda::partition
