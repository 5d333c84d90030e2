// SPDX-License-Identifier: Apache-2.0
#include "itkCudaDeviceGuard.h"

#include "itkCudaCall.h"

#include <cudaTypedefs.h>

namespace itk::cuda
{
namespace
{
/** A function of the driver; nullptr if it has none of that name. */
template <typename TFunction>
TFunction
GetDriverFunction(const char * name, unsigned int version) noexcept
{
  void * function = nullptr;
  ITK_CUDA_CALL_NOTHROW(FindDriverFunction(name, version, &function));
  return reinterpret_cast<TFunction>(function);
}

/** Whether anybody in the process has created the device's primary context. True if that cannot be found out. */
bool
HasContext(int device) noexcept
{
  constexpr unsigned int version = 7000; // the CUDA version that both came with, or before
  static const auto      getDevice = GetDriverFunction<PFN_cuDeviceGet_v2000>("cuDeviceGet", version);
  static const auto      getState =
    GetDriverFunction<PFN_cuDevicePrimaryCtxGetState_v7000>("cuDevicePrimaryCtxGetState", version);
  CUdevice          handle = 0;
  unsigned int      flags = 0;
  int               isActive = 1;
  const cudaError_t error = ITK_CUDA_CALL_NOTHROW(getDevice && getState && getDevice(&handle, device) == CUDA_SUCCESS &&
                                                      getState(handle, &flags, &isActive) == CUDA_SUCCESS
                                                    ? cudaSuccess
                                                    : cudaErrorUnknown);
  return error != cudaSuccess || isActive != 0;
}
} // namespace

DeviceGuard::DeviceGuard(int device)
  : m_Device(device)
{
  ITK_CUDA_CALL(cudaGetDevice(&m_Previous));
  if (m_Previous != m_Device)
  {
    ITK_CUDA_CALL(cudaSetDevice(m_Device));
  }
}

DeviceGuard::DeviceGuard(int device, const std::nothrow_t &) noexcept
  : m_Previous(device)
  , m_Device(device)
{
  int previous = device;
  if (ITK_CUDA_CALL_NOTHROW(cudaGetDevice(&previous)) == cudaSuccess && previous != device &&
      ITK_CUDA_CALL_NOTHROW(cudaSetDevice(device)) == cudaSuccess)
  {
    m_Previous = previous;
  }
}

DeviceGuard::~DeviceGuard()
{
  if (m_Previous != m_Device && HasContext(m_Previous))
  {
    ITK_CUDA_CALL_NOTHROW(cudaSetDevice(m_Previous));
  }
}
} // namespace itk::cuda
