// SPDX-License-Identifier: Apache-2.0
#include "itkCudaDetailFilterBackend.h"

#include "itkCudaDetailHostMemoryPool.h"
#include "itkCudaDetailWorkScope.h"
#include "runtime/device/DeviceQuery.h"
#include "itkCudaError.h"
#include "itkCudaFiltersConfiguration.h"
#include "runtime/memory/FormatBytes.h"
#include "runtime/memory/MemoryGate.h"
#include "runtime/memory/MemoryQuery.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>
#include <vector>

// Decides whether a filter runs on the GPU or on the host, and whether it runs in slabs (SelectDevice()), and whether
// the host continues when device memory runs out (FallBackToHost()).

namespace itk::CudaDetail
{
namespace
{
std::string
DescribeDevice(int device)
{
  return "device " + std::to_string(device) + " (" + cuda::GetDeviceName(device) + ')';
}

/** The reason why the device cannot do the work. The kind distinguishes a lack of memory from all other reasons. */
struct Obstacle
{
  CudaError::Kind Kind{ CudaError::Kind::NotUsable };
  std::string     Reason;              // empty if there is no obstacle
  bool            DoesNotFit{ false }; // the device works, but its memory is too small for the whole image at once
};

/** Returns the bytes that a run can get now or after other runs have ended. A `limit` of 0 means no limit. `idle`
 * receives the available bytes if no other run holds memory. */
size_t
GetEventuallyAvailableMemory(int device, size_t limit, std::optional<size_t> & idle)
{
  size_t       available = 0;
  const size_t potential = cuda::GetMemoryGate(device).GetEventuallyAvailable(
    [device, &available] { return available = cuda::GetAvailableDeviceMemory(device); });
  idle = potential == available ? std::optional(available) : std::nullopt;
  return limit == 0 ? potential : std::min(potential, limit);
}

Obstacle
FindMemoryObstacle(int device, size_t workingSetBytes, size_t limit, std::optional<size_t> & idle)
{
  const size_t available = GetEventuallyAvailableMemory(device, limit, idle);
  if (workingSetBytes <= available)
  {
    return {};
  }
  return { CudaError::Kind::OutOfMemory,
           "not enough memory on " + DescribeDevice(device) + ": asked: " + std::to_string(workingSetBytes) +
             " bytes (" + cuda::FormatBytes(workingSetBytes) + "), free: " + std::to_string(available) + " bytes (" +
             cuda::FormatBytes(available) + "), limit: " +
             (limit == 0 ? std::string("none") : std::to_string(limit) + " bytes (" + cuda::FormatBytes(limit) + ')'),
           true };
}

/** Finds out whether there is such a device, without a context on it. */
Obstacle
FindMissingDevice(int device)
{
  try
  {
    cuda::GetDeviceName(device);
    return {};
  }
  catch (const CudaError & error)
  {
    return { error.GetKind(), error.GetDescription() };
  }
}

Obstacle
FindObstacle(const char * unsupported, int device, size_t workingSetBytes, size_t limit, std::optional<size_t> & idle)
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
    return FindMemoryObstacle(device, workingSetBytes, limit, idle);
  }
  catch (const CudaError & error)
  {
    return { error.GetKind(), error.GetDescription() };
  }
}
} // namespace

bool
CudaFilterBackend::SelectDevice(const char * unsupported, size_t workingSetBytes, bool canCut)
{
  CudaHostMemoryPool::ReleaseIdle();
  Used = BackendEnum::Automatic;
  Reason = "not run";
  m_WorkingSet = workingSetBytes;
  m_RunsInSlabs = canCut && this->GetStreaming() == StreamingEnum::On;
  m_IdleMemory.reset();
  TookInputOnDevice = false;
  KeptOutputOnDevice = false;
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
  const bool isNamed = DeviceIndex != -1;
  m_SelectedDevices = !Devices.empty() ? Devices
                      : isNamed        ? std::vector<int>{ DeviceIndex }
                                       : CudaFiltersConfiguration::GetDeviceIndices();
  const int    device = m_SelectedDevices.front();
  const size_t limit = this->GetDeviceMemoryLimit();
  Obstacle     obstacle = FindObstacle(unsupported, device, m_RunsInSlabs ? 0 : workingSetBytes, limit, m_IdleMemory);
  if (canCut && obstacle.DoesNotFit && this->GetStreaming() != StreamingEnum::Off)
  {
    m_RunsInSlabs = true;
    obstacle = {};
  }
  for (size_t i = 1; i < m_SelectedDevices.size() && obstacle.Reason.empty(); ++i)
  {
    // Only runs in slabs need the other devices, on which more than the first query would create a context.
    std::optional<size_t> idle;
    obstacle = m_RunsInSlabs ? FindObstacle(nullptr, m_SelectedDevices[i], 0, limit, idle)
                             : FindMissingDevice(m_SelectedDevices[i]);
  }
  if (obstacle.Reason.empty())
  {
    m_SelectedDeviceIndex = device;
    Used = BackendEnum::Cuda;
    Reason = DescribeDevice(device) + ", " + cuda::FormatBytes(workingSetBytes) + " of " +
             cuda::FormatBytes(cuda::GetTotalDeviceMemory(device)) + " needed" + (m_RunsInSlabs ? ", in slabs" : "");
    if (m_RunsInSlabs)
    {
      m_WorkingSet = GetEventuallyAvailableMemory(device, limit, m_IdleMemory);
      for (size_t i = 1; i < m_SelectedDevices.size(); ++i)
      {
        Reason += (i == 1 ? ", with devices " : ", ") + std::to_string(m_SelectedDevices[i]);
        std::optional<size_t> idle;
        m_WorkingSet = std::min(m_WorkingSet, GetEventuallyAvailableMemory(m_SelectedDevices[i], limit, idle));
      }
    }
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

bool
CudaFilterBackend::TryOnDevice(const std::function<void()> & run, const std::function<void(float)> & progress)
{
  try
  {
    const auto reservation = CudaReserveMemory(*this, progress);
    run();
  }
  catch (const CudaError & error)
  {
    if (!this->FallBackToHost(error))
    {
      throw;
    }
    return false;
  }
  return true;
}

CudaFilterBackend::StreamingEnum
CudaFilterBackend::GetStreaming() const
{
  return Streaming == StreamingEnum::Automatic ? CudaFiltersConfiguration::GetStreaming() : Streaming;
}

size_t
CudaFilterBackend::GetDeviceMemoryLimit() const
{
  const size_t limit = CudaFiltersConfiguration::GetDeviceMemoryLimit();
  return limit == 0 || (DeviceMemoryLimit != 0 && DeviceMemoryLimit < limit) ? DeviceMemoryLimit : limit;
}

CudaSlabOptions
CudaFilterBackend::MakeSlabOptions(MultiThreaderBase * threader) const
{
  CudaSlabOptions options;
  options.OnHost = Used != BackendEnum::Cuda;
  options.Streaming = this->GetStreaming();
  options.Threader = threader;
  if (!options.OnHost)
  {
    options.Devices = m_SelectedDevices;
    options.DeviceMemoryLimit = m_WorkingSet;
  }
  return options;
}

void
CudaFilterBackend::ReportWholeRun(size_t bytesUp, size_t bytesDown)
{
  SlabReport = CudaSlabReport();
  SlabReport.OnHost = Used != BackendEnum::Cuda;
  if (!SlabReport.OnHost)
  {
    SlabReport.Devices = { m_SelectedDeviceIndex };
    SlabReport.BytesUp = bytesUp;
    SlabReport.BytesDown = bytesDown;
    SlabReport.PeakDeviceBytes = m_WorkingSet;
  }
}

std::shared_ptr<cuda::MemoryReservation>
CudaReserveMemory(const CudaFilterBackend & backend, const std::function<void(float)> & progress)
{
  std::set<int> devices{ backend.GetSelectedDeviceIndex() };
  if (backend.RunsInSlabs())
  {
    devices.insert(backend.GetSelectedDevices().begin(), backend.GetSelectedDevices().end());
  }
  std::vector<cuda::MemoryReservation::Place> places;
  for (const int device : devices)
  {
    // Reuses the value that SelectDevice() has just queried, because the driver takes 6 us to report the available
    // memory, which is long for a small image.
    const bool isFirst = device == backend.GetSelectedDeviceIndex();
    places.push_back(
      { &cuda::GetMemoryGate(device), [device, known = isFirst ? backend.GetIdleMemory() : std::nullopt]() mutable {
         const std::optional<size_t> first = std::exchange(known, std::nullopt);
         return first ? *first : cuda::GetAvailableDeviceMemory(device);
       } });
  }
  return std::make_shared<cuda::MemoryReservation>(places, backend.GetWorkingSet(), [&progress] {
    if (progress)
    {
      progress(0.0f);
    }
  });
}

void
CudaFilterBackend::Print(std::ostream & os, Indent indent) const
{
  os << indent << "Backend: " << Requested << std::endl;
  os << indent << "DeviceIndex: " << DeviceIndex << std::endl;
  os << indent << "DeviceMemoryLimit: " << DeviceMemoryLimit << std::endl;
  os << indent << "BackendUsed: " << Used << std::endl;
  os << indent << "BackendReason: " << Reason << std::endl;
  os << indent << "TookInputOnDevice: " << (TookInputOnDevice ? "Yes" : "No") << std::endl;
  os << indent << "KeptOutputOnDevice: " << (KeptOutputOnDevice ? "Yes" : "No") << std::endl;
}

void
CudaFilterBackend::PrintDevices(std::ostream & os, Indent indent) const
{
  os << indent << "Devices:";
  for (const int device : Devices)
  {
    os << ' ' << device;
  }
  os << (Devices.empty() ? " (DeviceIndex)" : "") << std::endl;
}

void
CudaFilterBackend::PrintStreaming(std::ostream & os, Indent indent) const
{
  this->PrintDevices(os, indent);
  os << indent << "Streaming: " << Streaming << std::endl;
  os << indent << "SlabReport: " << SlabReport << std::endl;
}
} // end namespace itk::CudaDetail
