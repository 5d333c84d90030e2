// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaPartitionDeviceEvaluator_h
#define itkCudaPartitionDeviceEvaluator_h

#include "itkCudaPartitionEvaluator.h"
#include "itkCudaRegionDeviceSums.h"

#include <cstddef>
#include <memory>

namespace itk::cuda::partition
{
/** An evaluator on the device that has the sums, which it keeps. It works in the order of a stream of its own.
 * \param squares whether the law's sums have squares \exception CudaError */
std::shared_ptr<const Evaluator>
MakeDeviceEvaluator(std::shared_ptr<const region::DeviceSums> sums, bool squares);

/** Device memory in bytes that it takes for most images of so many pixels, beside the sums. */
size_t
GetDeviceEvaluatorBytes(size_t pixels);
} // namespace itk::cuda::partition

#endif
