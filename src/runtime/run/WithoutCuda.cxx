// SPDX-License-Identifier: Apache-2.0
#include "itkCudaDetailDeviceTransfer.h"
#include "itkCudaDetailDeviceRun.h"
#include "itkCudaError.h"
#include "runtime/device/DeviceQuery.h"
#include "runtime/memory/MemoryQuery.h"

#include <string>

// Definitions for a build without CUDA, where there is no device, and no memory for device images.
namespace itk::cuda
{
namespace
{
constexpr const char * noCuda = "built without CUDA";
}

bool
IsBuiltWithCuda()
{
  return false;
}

int
GetDriverVersion()
{
  return 0;
}

int
GetRequiredDriverVersion()
{
  return 0;
}

std::vector<CudaDeviceInformation>
FindDevices(std::string & reason)
{
  reason = noCuda;
  return {};
}

bool
IsDeviceUsable(int, std::string & reason)
{
  reason = noCuda;
  return false;
}

bool
IsDeviceUsableNow(int device, std::string & reason)
{
  return IsDeviceUsable(device, reason);
}

size_t
GetAvailableDeviceMemory(int)
{
  return 0;
}

std::string
GetDeviceName(int)
{
  return noCuda;
}

size_t
GetTotalDeviceMemory(int)
{
  return 0;
}

void
ReleaseUnusedMemory()
{}
} // namespace itk::cuda

namespace itk
{
namespace
{
[[noreturn]] void
ThrowWithoutCuda(const char * what)
{
  throw CudaError(
    __FILE__, __LINE__, CudaError::Kind::NotUsable, std::string(what) + ": CudaFilters was built without CUDA");
}
} // namespace

CudaDeviceImageMemory::~CudaDeviceImageMemory() = default;

CudaDeviceImageMemory::Pointer
CudaDeviceImageMemory::Allocate(size_t bytes, int device)
{
  ThrowWithoutCuda(("Allocation of " + std::to_string(bytes) + " bytes on device " + std::to_string(device)).c_str());
}

CudaDeviceImageMemory::Pointer
CudaDeviceImageMemory::Adopt(void *, size_t, int, ReleaseFunction)
{
  ThrowWithoutCuda("Adoption of device memory");
}

namespace CudaDetail
{
int
CudaFindDeviceOfMemory(const void *)
{
  ThrowWithoutCuda("The device of an array");
}

CudaDeviceImageView
CudaAllocateDeviceImage(const std::array<size_t, CudaDeviceImageView::NumberOfAxes> &, CudaComponentType, int, bool)
{
  ThrowWithoutCuda("Allocation of a device image");
}

std::function<void()>
CudaQueueUpload(const CudaImageView &, const CudaDeviceImageView &, const CudaProgressFunction &)
{
  ThrowWithoutCuda("Upload");
}

void
CudaDownloadFromDevice(const CudaDeviceImageView &,
                       const CudaImageView &,
                       const CudaPixelConversion &,
                       const CudaProgressFunction &)
{
  ThrowWithoutCuda("Download");
}

void
CudaMapOnDevice(const CudaDeviceImageView &, const CudaDeviceImageView &, const CudaPixelConversion &)
{
  ThrowWithoutCuda("Mapping of a device image");
}
} // namespace CudaDetail
} // end namespace itk
