// SPDX-License-Identifier: Apache-2.0
#include "gaussian/device/PipelinedStrip.h"

#include "runtime/device/Call.h"
#include "runtime/device/Device.h"
#include "runtime/device/Stream.h"

#include <array>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <string>

#include <cuda_runtime.h>
#include <cudaTypedefs.h>

// Makes the tensor maps that describe arrays for bulk copies, and finds out which devices have bulk copies.

namespace itk::cuda::gaussian
{
namespace
{
__global__ void
ProbeKernel()
{}

PFN_cuTensorMapEncodeTiled_v12000
GetEncodeFunction()
{
  void * function = nullptr;
  ITK_CUDA_CALL(FindDriverFunction("cuTensorMapEncodeTiled", 12000, &function));
  return reinterpret_cast<PFN_cuTensorMapEncodeTiled_v12000>(function);
}

/** Converts an error of the driver. The runtime uses the driver's numbers for the errors that both have. */
cudaError_t
ToRuntimeError(CUresult result)
{
  static_assert(static_cast<int>(CUDA_ERROR_INVALID_VALUE) == static_cast<int>(cudaErrorInvalidValue) &&
                  static_cast<int>(CUDA_ERROR_OUT_OF_MEMORY) == static_cast<int>(cudaErrorMemoryAllocation) &&
                  static_cast<int>(CUDA_ERROR_ILLEGAL_ADDRESS) == static_cast<int>(cudaErrorIllegalAddress),
                "one numbering");
  return static_cast<cudaError_t>(result);
}

constexpr int FirstCapability = 90;

/** Returns whether the environment switches bulk copies off. This is for tools that do not see what bulk copies write,
 * such as initcheck of compute-sanitizer 2025.3. */
bool
AreSwitchedOff()
{
  const char * const value = std::getenv("ITK_CUDAFILTERS_NO_BULK_COPIES");
  return value && std::string(value) == "1";
}

/** Returns the PTX version of the code that the device runs, which the driver may have compiled from code for an older
 * architecture. The query takes as long as a launch, so its answer is kept. */
int
GetPtxVersion(int device)
{
  static std::array<std::atomic<int>, 64> known{}; // 0: not queried yet
  const auto                              place = static_cast<size_t>(device);
  int                                     version = place < known.size() ? known[place].load() : 0;
  if (version == 0)
  {
    const DeviceGuard  guard(device); // needed because a schedule may be made before the device is the current one
    cudaFuncAttributes attributes{};
    ITK_CUDA_CALL(cudaFuncGetAttributes(&attributes, ProbeKernel));
    version = attributes.ptxVersion;
    if (place < known.size())
    {
      known[place] = version;
    }
  }
  return version;
}
} // namespace

bool
HasBulkCopies(int device)
{
  static const bool areSwitchedOff = AreSwitchedOff();
  if (areSwitchedOff || GetDeviceProperties(device).ComputeCapability < FirstCapability)
  {
    return false;
  }
  return GetPtxVersion(device) >= FirstCapability;
}

bool
FitsTensorMap(const TensorBox & box)
{
  constexpr size_t maximumSize = size_t{ 1 } << 30; // coordinates are int32; boxes may extend beyond the end
  constexpr size_t maximumStride = size_t{ 1 } << 40;
  bool             fits = reinterpret_cast<uintptr_t>(box.Data) % 16 == 0;
  for (const size_t size : box.Size)
  {
    fits = fits && size > 0 && size <= maximumSize;
  }
  for (const size_t stride : box.StrideBytes)
  {
    fits = fits && stride > 0 && stride < maximumStride && stride % 16 == 0;
  }
  return fits;
}

CUtensorMap
MakeTensorMap(const TensorBox & box)
{
  const auto       type = box.BytesPerElement == 1               ? CU_TENSOR_MAP_DATA_TYPE_UINT8
                          : box.BytesPerElement == sizeof(float) ? CU_TENSOR_MAP_DATA_TYPE_FLOAT32
                                                                 : CU_TENSOR_MAP_DATA_TYPE_FLOAT64;
  const cuuint64_t size[3] = { box.Size[0], box.Size[1], box.Size[2] };
  const cuuint64_t strides[2] = { box.StrideBytes[0], box.StrideBytes[1] };
  const cuuint32_t boxSize[3] = { box.Box[0], box.Box[1], box.Box[2] };
  const cuuint32_t steps[3] = { 1, 1, 1 };
  // Looked up once. If the lookup throws, the next call repeats it.
  static const auto encode = GetEncodeFunction();
  CUtensorMap       map{};
  ITK_CUDA_CALL(encode == nullptr
                  ? cudaErrorSymbolNotFound
                  : ToRuntimeError(encode(&map,
                                          type,
                                          3,
                                          box.Data,
                                          size,
                                          strides,
                                          boxSize,
                                          steps,
                                          CU_TENSOR_MAP_INTERLEAVE_NONE,
                                          box.Swizzled ? CU_TENSOR_MAP_SWIZZLE_128B : CU_TENSOR_MAP_SWIZZLE_NONE,
                                          CU_TENSOR_MAP_L2_PROMOTION_L2_128B,
                                          CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE)));
  return map;
}
} // namespace itk::cuda::gaussian
