// SPDX-License-Identifier: Apache-2.0
#include "runtime/device/Call.h"
#include "runtime/device/Device.h"
#include "runtime/device/Launch.h"
#include "itkCudaError.h"
#include "itkCudaFiltersConfiguration.h"

#include <sstream>

// Turns errors of CUDA calls into exceptions, looks up functions of the driver, verifies the number of blocks of
// launches, and raises the limits of their dynamic shared memory.

namespace itk::cuda
{
namespace
{
CudaError::Kind
GetKind(cudaError_t error)
{
  switch (error)
  {
    case cudaErrorMemoryAllocation:
      return CudaError::Kind::OutOfMemory;
    case cudaErrorInsufficientDriver:
    case cudaErrorNoDevice:
    case cudaErrorInvalidDevice:
    case cudaErrorNoKernelImageForDevice:
    case cudaErrorUnsupportedPtxVersion:
    case cudaErrorJitCompilerNotFound:
    case cudaErrorStubLibrary:
    case cudaErrorDevicesUnavailable:
    case cudaErrorSystemNotReady:
    case cudaErrorSystemDriverMismatch:
    case cudaErrorCompatNotSupportedOnDevice:
      return CudaError::Kind::NotUsable;
    default:
      return CudaError::Kind::CallFailed;
  }
}

std::string
DescribeMemory(const std::string & asked, size_t available, size_t limit)
{
  std::ostringstream text;
  text << "asked: " << asked << ", free: " << available << " bytes, limit: ";
  if (limit == 0)
  {
    text << "none";
  }
  else
  {
    text << limit << " bytes (CudaFiltersConfiguration::SetDeviceMemoryLimit)";
  }
  return text.str();
}
} // namespace

cudaError_t
FindDriverFunction(const char * name, unsigned int version, void ** function)
{
  *function = nullptr;
  cudaDriverEntryPointQueryResult result{};
#if CUDART_VERSION >= 12050
  const cudaError_t error = cudaGetDriverEntryPointByVersion(name, function, version, cudaEnableDefault, &result);
#else // the function above came with CUDA 12.5
  (void)version;
  const cudaError_t error = cudaGetDriverEntryPoint(name, function, cudaEnableDefault, &result);
#endif
  if (result != cudaDriverEntryPointSuccess)
  {
    *function = nullptr;
  }
  return error;
}

void
ClearLastError()
{
  (void)cudaGetLastError();
}

void
ThrowCudaError(cudaError_t error, const char * call, const char * file, unsigned int line)
{
  ClearLastError();
  std::ostringstream text;
  text << call << " failed: " << cudaGetErrorName(error) << " (" << cudaGetErrorString(error) << ')';
  int device = 0;
  int count = 0;
  if (cudaGetDeviceCount(&count) == cudaSuccess && count > 1 && cudaGetDevice(&device) == cudaSuccess)
  {
    text << " on device " << device;
  }
  ClearLastError();
  if (error == cudaErrorMemoryAllocation)
  {
    size_t available = 0;
    size_t total = 0;
    (void)ITK_CUDA_CALL_NOTHROW(cudaMemGetInfo(&available, &total));
    text << "; " << DescribeMemory("what this call needs", available, CudaFiltersConfiguration::GetDeviceMemoryLimit());
  }
  throw CudaError(file, line, GetKind(error), text.str());
}

void
ThrowOutOfMemory(const char * call, size_t asked, size_t available, size_t limit, const char * file, unsigned int line)
{
  ClearLastError();
  std::ostringstream text;
  text << call << " failed: " << cudaGetErrorName(cudaErrorMemoryAllocation) << " ("
       << cudaGetErrorString(cudaErrorMemoryAllocation) << "); "
       << DescribeMemory(std::to_string(asked) + " bytes", available, limit);
  throw CudaError(file, line, CudaError::Kind::OutOfMemory, text.str());
}

void
ThrowNotUsable(const std::string & reason, const char * file, unsigned int line)
{
  throw CudaError(file, line, CudaError::Kind::NotUsable, reason);
}

unsigned int
GetNumberOfBlocks(size_t blocks)
{
  if (blocks > MaximumGridSize)
  {
    const std::string text = "A launch of " + std::to_string(blocks) + " blocks, where at most " +
                             std::to_string(MaximumGridSize) + " are possible,";
    ThrowCudaError(cudaErrorInvalidConfiguration, text.c_str(), __FILE__, __LINE__);
  }
  return static_cast<unsigned int>(blocks);
}

void
SharedMemoryOptIn::RaiseOn(const void * kernel, int device)
{
  cudaFuncAttributes attributes{};
  ITK_CUDA_CALL(cudaFuncGetAttributes(&attributes, kernel));
  const size_t bytes = GetDeviceProperties(device).SharedMemoryPerBlockOptin - attributes.sharedSizeBytes;
  ITK_CUDA_CALL(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(bytes)));
  m_Devices |= GetBit(device);
}
} // namespace itk::cuda
