// SPDX-License-Identifier: Apache-2.0
#include "itkCudaDetailFilterBackend.h"

#include "itkCudaDetailHostMemoryPool.h"
#include "itkCudaDetailHostScope.h"
#include "itkCudaDeviceQuery.h"
#include "itkCudaError.h"
#include "itkCudaFiltersConfiguration.h"
#include "itkCudaFormatBytes.h"
#include "itkCudaMemoryQuery.h"

namespace itk::CudaDetail
{
namespace
{
std::string
DescribeDevice(int device)
{
  return "device " + std::to_string(device) + " (" + cuda::GetDeviceName(device) + ')';
}

/** Why the device cannot do the work. The kind tells a lack of memory from all other reasons. */
struct Obstacle
{
  CudaError::Kind Kind{ CudaError::Kind::NotUsable };
  std::string     Reason; // empty: none
};

Obstacle
FindMemoryObstacle(int device, size_t workingSetBytes)
{
  const size_t available = cuda::GetAvailableDeviceMemory(device);
  if (workingSetBytes <= available)
  {
    return {};
  }
  const size_t limit = CudaFiltersConfiguration::GetDeviceMemoryLimit();
  return { CudaError::Kind::OutOfMemory,
           "not enough memory on " + DescribeDevice(device) + ": asked: " + std::to_string(workingSetBytes) +
             " bytes (" + cuda::FormatBytes(workingSetBytes) + "), free: " + std::to_string(available) + " bytes (" +
             cuda::FormatBytes(available) + "), limit: " +
             (limit == 0 ? std::string("none") : std::to_string(limit) + " bytes (" + cuda::FormatBytes(limit) + ')') };
}

Obstacle
FindObstacle(const char * unsupported, int device, size_t workingSetBytes)
{
  if (unsupported)
  {
    return { CudaError::Kind::NotUsable, unsupported };
  }
  std::string reason;
  if (!cuda::IsDeviceUsable(device, reason))
  {
    return { CudaError::Kind::NotUsable, reason };
  }
  try
  {
    return FindMemoryObstacle(device, workingSetBytes);
  }
  catch (const CudaError & error)
  {
    return { error.GetKind(), error.GetDescription() };
  }
}
} // namespace

bool
CudaFilterBackend::SelectDevice(const char * unsupported, size_t workingSetBytes)
{
  CudaHostMemoryPool::ReleaseIdle();
  Used = BackendEnum::Automatic;
  Reason = "not run";
  TookInput = false;
  KeptOutput = false;
  const bool        own = Requested != BackendEnum::Automatic;
  const BackendEnum backend = own ? Requested : CudaFiltersConfiguration::GetBackend();
  const std::string origin = own ? "of the filter" : "of CudaFiltersConfiguration";
  if (backend == BackendEnum::Host)
  {
    Used = BackendEnum::Host;
    Reason = "the backend " + origin + " is Host";
    return false;
  }
  if (backend == BackendEnum::Automatic && CudaHostScope::IsActive())
  {
    Used = BackendEnum::Host;
    Reason = "inside a filter that runs on the host";
    return false;
  }
  if (backend == BackendEnum::Automatic && !HostPreference.empty())
  {
    Used = BackendEnum::Host;
    Reason = HostPreference;
    return false;
  }
  const int      device = DeviceIndex == -1 ? CudaFiltersConfiguration::GetDeviceIndex() : DeviceIndex;
  const Obstacle obstacle = FindObstacle(unsupported, device, workingSetBytes);
  if (obstacle.Reason.empty())
  {
    m_SelectedDeviceIndex = device;
    Used = BackendEnum::Cuda;
    Reason = DescribeDevice(device) + ", " + cuda::FormatBytes(workingSetBytes) + " of " +
             cuda::FormatBytes(cuda::GetTotalDeviceMemory(device)) + " needed";
    return true;
  }
  Reason = obstacle.Reason;
  if (backend == BackendEnum::Cuda)
  {
    throw CudaError(
      __FILE__, __LINE__, obstacle.Kind, "The backend " + origin + " is Cuda, but it cannot be used: " + Reason);
  }
  Used = BackendEnum::Host;
  return false;
}

bool
CudaFilterBackend::FallBackToHost(const CudaError & error)
{
  if (error.GetKind() != CudaError::Kind::OutOfMemory)
  {
    return false;
  }
  const BackendEnum backend = Requested != BackendEnum::Automatic ? Requested : CudaFiltersConfiguration::GetBackend();
  Reason = error.GetDescription();
  if (backend == BackendEnum::Cuda)
  {
    Used = BackendEnum::Automatic;
    return false;
  }
  Used = BackendEnum::Host;
  return true;
}

void
CudaFilterBackend::Print(std::ostream & os, Indent indent) const
{
  os << indent << "Backend: " << Requested << std::endl;
  os << indent << "DeviceIndex: " << DeviceIndex << std::endl;
  os << indent << "BackendUsed: " << Used << std::endl;
  os << indent << "BackendReason: " << Reason << std::endl;
  os << indent << "TookInputOnDevice: " << (TookInput ? "Yes" : "No") << std::endl;
  os << indent << "KeptOutputOnDevice: " << (KeptOutput ? "Yes" : "No") << std::endl;
}
} // end namespace itk::CudaDetail
