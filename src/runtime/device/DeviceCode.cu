// SPDX-License-Identifier: Apache-2.0
#include "runtime/device/Device.h"

// Contains a kernel that does nothing. The runtime knows its attributes only if the library has code for the current
// device.

namespace itk::cuda
{
namespace
{
/** Represents all kernels, because every file of the library is compiled for the same devices. */
__global__ void
ProbeKernel()
{}
} // namespace

cudaError_t
FindDeviceCode()
{
  cudaFuncAttributes attributes{};
  return cudaFuncGetAttributes(&attributes, ProbeKernel);
}
} // namespace itk::cuda
