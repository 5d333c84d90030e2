// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaDeviceCode_h
#define itkCudaDeviceCode_h

#include <cuda_runtime.h>

namespace itk::cuda
{
/** Asks the runtime for a kernel of this library on the current device. Returns an error if the library holds no code
 * that the device can run. Evaluate it in ITK_CUDA_TRY. */
cudaError_t
FindDeviceCode();
} // namespace itk::cuda

#endif
