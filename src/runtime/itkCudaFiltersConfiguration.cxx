// SPDX-License-Identifier: Apache-2.0
#include "itkCudaFiltersConfiguration.h"

#include "itkCudaDeviceQuery.h"
#include "itkCudaFormatBytes.h"
#include "itkCudaHostMemoryPool.h"
#include "itkCudaProcessLimits.h"
#include "itkMacro.h"
#include "itkMultiThreaderBase.h"
#include "itksys/SystemInformation.hxx"

#include <algorithm>
#include <atomic>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <optional>
#include <sstream>
#include <type_traits>

namespace itk
{
namespace
{
using BackendEnum = CudaFiltersEnums::Backend;

constexpr const char * backendVariable = "ITK_CUDAFILTERS_BACKEND";
constexpr const char * deviceVariable = "ITK_CUDAFILTERS_DEVICE";

constexpr unsigned int maximumDefaultTransferThreads = 16;
constexpr size_t       maximumDefaultHostCacheLimit = size_t{ 8 } << 30;

/** No lock guards these: another thread might hold it while the process is forked, and the child would wait for ever.
 * There is no destructor either, as images that outlive main() still ask for limits. */
struct Settings
{
  std::atomic<std::optional<BackendEnum>> Backend{};
  std::atomic<std::optional<int>>         DeviceIndex{};
  std::atomic<size_t>                     DeviceMemoryLimit{ 0 };
  std::atomic<size_t>                     HostCacheLimit{ 0 };
  std::atomic<bool>                       HasHostCacheLimit{ false };
  std::atomic<unsigned int>               NumberOfTransferThreads{ 0 };
};

Settings settings;
static_assert(std::is_trivially_destructible_v<Settings>);

/** Text of a variable; nullptr if it is not set or empty. */
const char *
GetVariable(const char * name)
{
  const char * const text = std::getenv(name);
  return text && *text ? text : nullptr;
}

BackendEnum
ReadBackendVariable()
{
  const char * const text = GetVariable(backendVariable);
  return text ? CudaBackendFromString(text, "The environment variable ITK_CUDAFILTERS_BACKEND")
              : BackendEnum::Automatic;
}

int
ReadDeviceVariable()
{
  const char * const text = GetVariable(deviceVariable);
  if (!text)
  {
    return 0;
  }
  const char * const end = text + std::strlen(text);
  int                index = 0;
  const auto         result = std::from_chars(text, end, index);
  if (result.ec != std::errc() || result.ptr != end || index < 0)
  {
    itkGenericExceptionMacro(<< "The environment variable " << deviceVariable << " is \"" << text
                             << "\"; it must be the index of a device: 0, 1, 2, ...");
  }
  return index;
}

/** An eighth of what the process can have at most, within reason for a machine that others use as well. */
size_t
ComputeDefaultHostCacheLimit()
{
  itksys::SystemInformation system;
  system.RunMemoryCheck();
  size_t memory = static_cast<size_t>(system.GetTotalPhysicalMemory()) << 20; // it counts in MiB
  for (const std::optional<size_t> limit : { cuda::GetCgroupMemoryLimit(), cuda::GetAddressSpaceLimit() })
  {
    memory = std::min(memory, limit.value_or(memory));
  }
  return std::min(memory / 8, maximumDefaultHostCacheLimit);
}

/** Computed once; threads that come at the same time compute the same. */
size_t
GetDefaultHostCacheLimit()
{
  constexpr size_t           unknown = std::numeric_limits<size_t>::max();
  static std::atomic<size_t> known{ unknown };
  if (known == unknown)
  {
    known = ComputeDefaultHostCacheLimit();
  }
  return known;
}

std::string
FormatVersion(int version)
{
  return std::to_string(version / 1000) + '.' + std::to_string(version % 1000 / 10);
}

void
PrintDriver(std::ostream & os)
{
  if (!cuda::IsBuiltWithCuda())
  {
    os << "CUDA:      not built in\n";
    return;
  }
  const int found = cuda::GetDriverVersion();
  os << "CUDA:      built in, needs a driver for CUDA " << FormatVersion(cuda::GetRequiredDriverVersion())
     << " or newer\n";
  os << "Driver:    " << (found == 0 ? std::string("none found") : "for CUDA " + FormatVersion(found)) << '\n';
}

void
PrintDevices(std::ostream & os)
{
  std::string                              reason;
  const std::vector<CudaDeviceInformation> devices = cuda::FindDevices(reason);
  if (devices.empty())
  {
    os << "Devices:   none: " << reason << '\n';
  }
  for (const CudaDeviceInformation & device : devices)
  {
    os << "Device " << device.Index << ":  " << device.Name << ", compute capability " << device.ComputeCapability / 10
       << '.' << device.ComputeCapability % 10 << ", " << cuda::FormatBytes(device.TotalMemory);
    if (device.FreeMemory > 0)
    {
      os << " (" << cuda::FormatBytes(device.FreeMemory) << " free)";
    }
    os << (device.Usable ? ", usable" : ", not usable: " + device.Reason) << '\n';
  }
}

/** What a filter with default settings does, and why. */
void
PrintBackend(std::ostream & os)
{
  const BackendEnum backend = CudaFiltersConfiguration::GetBackend();
  const int         index = CudaFiltersConfiguration::GetDeviceIndex();
  os << "Backend:   " << CudaBackendToString(backend) << ", device " << index << '\n';
  std::string reason;
  if (backend == BackendEnum::Host)
  {
    os << "Filters:   run on the host: backend Host is set\n";
  }
  else if (CudaFiltersConfiguration::IsDeviceUsable(index, reason))
  {
    os << "Filters:   run on device " << index << " (" << cuda::GetDeviceName(index) << ")\n";
  }
  else if (backend == BackendEnum::Automatic)
  {
    os << "Filters:   run on the host: " << reason << '\n';
  }
  else
  {
    os << "Filters:   fail, as backend Cuda is set: " << reason << '\n';
  }
}

void
PrintMemory(std::ostream & os)
{
  const size_t deviceLimit = CudaFiltersConfiguration::GetDeviceMemoryLimit();
  os << "Memory:    device: " << cuda::FormatBytes(CudaFiltersConfiguration::GetDeviceBytesInUse()) << " in use, limit "
     << (deviceLimit == 0 ? std::string("none") : cuda::FormatBytes(deviceLimit))
     << "; host: " << cuda::FormatBytes(CudaHostMemoryPool::GetBytesCached() + cuda::GetPinnedBytesCached())
     << " kept for reuse, limit " << cuda::FormatBytes(CudaFiltersConfiguration::GetHostCacheLimit()) << '\n';
  os << "Transfers: " << CudaFiltersConfiguration::GetNumberOfTransferThreads() << " threads\n";
}
} // namespace

void
CudaFiltersConfiguration::SetBackend(BackendEnum backend)
{
  settings.Backend = backend;
}

void
CudaFiltersConfiguration::SetBackend(const std::string & name)
{
  SetBackend(CudaBackendFromString(name));
}

CudaFiltersConfiguration::BackendEnum
CudaFiltersConfiguration::GetBackend()
{
  const std::optional<BackendEnum> backend = settings.Backend;
  return backend ? *backend : ReadBackendVariable();
}

void
CudaFiltersConfiguration::SetDeviceIndex(int index)
{
  if (index < 0)
  {
    itkGenericExceptionMacro(<< "DeviceIndex is " << index << "; it must be the index of a device: 0, 1, 2, ...");
  }
  settings.DeviceIndex = index;
}

int
CudaFiltersConfiguration::GetDeviceIndex()
{
  const std::optional<int> index = settings.DeviceIndex;
  return index ? *index : ReadDeviceVariable();
}

void
CudaFiltersConfiguration::SetDeviceMemoryLimit(size_t bytes)
{
  settings.DeviceMemoryLimit = bytes;
}

size_t
CudaFiltersConfiguration::GetDeviceMemoryLimit()
{
  return settings.DeviceMemoryLimit;
}

void
CudaFiltersConfiguration::SetHostCacheLimit(size_t bytes)
{
  settings.HostCacheLimit = bytes;
  settings.HasHostCacheLimit = true;
}

size_t
CudaFiltersConfiguration::GetHostCacheLimit()
{
  return settings.HasHostCacheLimit ? settings.HostCacheLimit.load() : GetDefaultHostCacheLimit();
}

void
CudaFiltersConfiguration::SetNumberOfTransferThreads(unsigned int number)
{
  settings.NumberOfTransferThreads = number;
}

unsigned int
CudaFiltersConfiguration::GetNumberOfTransferThreads()
{
  const unsigned int number = settings.NumberOfTransferThreads;
  if (number > 0)
  {
    return number;
  }
  const auto automatic = static_cast<unsigned int>(MultiThreaderBase::GetGlobalDefaultNumberOfThreads());
  return std::clamp(automatic, 1u, maximumDefaultTransferThreads);
}

bool
CudaFiltersConfiguration::GetBuiltWithCuda()
{
  return cuda::IsBuiltWithCuda();
}

int
CudaFiltersConfiguration::GetDriverVersion()
{
  return cuda::GetDriverVersion();
}

int
CudaFiltersConfiguration::GetRequiredDriverVersion()
{
  return cuda::GetRequiredDriverVersion();
}

std::vector<CudaDeviceInformation>
CudaFiltersConfiguration::GetDevices()
{
  std::string reason;
  return cuda::FindDevices(reason);
}

bool
CudaFiltersConfiguration::IsDeviceUsable(int deviceIndex, std::string & reason)
{
  if (deviceIndex < -1)
  {
    reason = "device index " + std::to_string(deviceIndex) +
             " is out of range; it must be a device's index or -1 for the configuration's";
    return false;
  }
  return cuda::IsDeviceUsableNow(deviceIndex == -1 ? GetDeviceIndex() : deviceIndex, reason);
}

std::string
CudaFiltersConfiguration::GetStatus()
{
  // The backend first, as it may create the context that tells how much memory is free.
  std::ostringstream backend;
  try
  {
    PrintBackend(backend);
  }
  catch (const ExceptionObject & exception)
  {
    backend << "Filters:   fail: " << exception.GetDescription() << '\n';
  }
  std::ostringstream status;
  PrintDriver(status);
  PrintDevices(status);
  status << backend.str();
  PrintMemory(status);
  return status.str();
}

size_t
CudaFiltersConfiguration::GetDeviceBytesInUse()
{
  return cuda::GetDeviceBytesInUse();
}

size_t
CudaFiltersConfiguration::GetPinnedBytesInUse()
{
  return cuda::GetPinnedBytesInUse();
}

void
CudaFiltersConfiguration::ReleaseMemory()
{
  cuda::ReleaseUnusedMemory();
  CudaHostMemoryPool::ReleaseUnused();
}
} // end namespace itk
