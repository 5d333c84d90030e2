// SPDX-License-Identifier: Apache-2.0
#include "itkCudaFiltersConfiguration.h"

#include "itkCudaDetailFilterBackend.h"
#include "itkCudaDetailHostMemoryPool.h"
#include "runtime/device/DeviceQuery.h"
#include "runtime/memory/FormatBytes.h"
#include "runtime/memory/MemoryUsage.h"
#include "runtime/memory/MemoryQuery.h"
#include "runtime/Process.h"
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

// Implements CudaFiltersConfiguration: the settings of the process, and the status that it prints. Backend, devices,
// streaming, and whether results stay on the device are read from environment variables as long as the program has not
// set them.

namespace itk
{
namespace
{
using BackendEnum = CudaFiltersEnums::Backend;
using StreamingEnum = CudaFiltersEnums::Streaming;

constexpr const char * backendVariable = "ITK_CUDAFILTERS_BACKEND";
constexpr const char * deviceVariable = "ITK_CUDAFILTERS_DEVICE";
constexpr const char * devicesVariable = "ITK_CUDAFILTERS_DEVICES";
constexpr const char * keepVariable = "ITK_CUDAFILTERS_KEEP_ON_DEVICE";
constexpr const char * streamingVariable = "ITK_CUDAFILTERS_STREAMING";

// Settings have no lock, because another thread might hold it while the process is forked, and the child would then
// wait forever.
std::atomic<std::optional<BackendEnum>>   chosenBackend{};
std::atomic<std::optional<int>>           chosenDeviceIndex{};
std::atomic<std::optional<bool>>          chosenKeepOnDevice{};
std::atomic<std::optional<StreamingEnum>> chosenStreaming{};

constexpr unsigned int maximumDefaultTransferThreads = 16;
constexpr size_t       maximumDefaultHostCacheLimit = size_t{ 8 } << 30;

/** A list of all values of a setting that were ever set. Its nodes are never deleted, so that other threads may read a
 * value that is no longer set. */
template <typename TValue>
struct KeptValues
{
  struct Node
  {
    TValue       Value;
    const Node * Previous;
  };

  /** Returns a copy of the value that is never deleted. A value that is set again gets its earlier copy, so a program
   * that switches between a few values adds no copies. */
  const TValue *
  Keep(const TValue & value)
  {
    const Node * const first = Last;
    for (const Node * node = first; node; node = node->Previous)
    {
      if (node->Value == value)
      {
        return &node->Value;
      }
    }
    auto * const added = new Node{ value, first };
    const Node * expected = first;
    while (!Last.compare_exchange_weak(expected, added))
    {
      added->Previous = expected;
    }
    return &added->Value;
  }

  std::atomic<const Node *> Last{ nullptr };
};

/** The settings that components of src/runtime read. The struct has no destructor because images that outlive main()
 * still read the limits. */
struct Settings
{
  std::atomic<size_t>                           DeviceMemoryLimit{ 0 };
  KeptValues<CudaDeviceMemoryResource>          Resources;
  std::atomic<const CudaDeviceMemoryResource *> Resource{ nullptr };
  KeptValues<std::vector<int>>                  DeviceLists;
  std::atomic<const std::vector<int> *>         Devices{ nullptr }; // nullptr until they or the index were set
  std::atomic<size_t>                           HostCacheLimit{ 0 };
  std::atomic<bool>                             HasHostCacheLimit{ false };
  std::atomic<unsigned int>                     NumberOfTransferThreads{ 0 };
};

Settings settings;
static_assert(std::is_trivially_destructible_v<Settings>);

/** Returns one eighth of the memory that the process can use, with an upper bound for machines that others use too. */
size_t
ComputeDefaultHostCacheLimit()
{
  itksys::SystemInformation system;
  system.RunMemoryCheck();
  size_t memory = static_cast<size_t>(system.GetTotalPhysicalMemory()) << 20; // GetTotalPhysicalMemory() returns MiB
  for (const std::optional<size_t> limit : { cuda::GetCgroupMemoryLimit(), cuda::GetAddressSpaceLimit() })
  {
    memory = std::min(memory, limit.value_or(memory));
  }
  return std::min(memory / 8, maximumDefaultHostCacheLimit);
}

/** Returns the default limit, which is computed once. Threads that call it at the same time compute the same value. */
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

/** Returns the value of an environment variable, or nullptr if it is unset or empty. */
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

/** Returns the usable devices of the compute capability of the first one, or device 0 if none is usable. */
std::vector<int>
FindAlikeDevices()
{
  std::string      reason;
  std::vector<int> indices;
  int              capability = 0;
  for (const CudaDeviceInformation & device : cuda::FindDevices(reason))
  {
    if (device.Usable && (indices.empty() || device.ComputeCapability == capability))
    {
      capability = device.ComputeCapability;
      indices.push_back(device.Index);
    }
  }
  return indices.empty() ? std::vector<int>{ 0 } : indices;
}

/** Returns the devices of the environment, or an empty list if it names none. */
std::vector<int>
ReadDevicesVariable()
{
  const char * const text = GetVariable(devicesVariable);
  if (!text)
  {
    return {};
  }
  if (std::strcmp(text, "all") == 0)
  {
    return FindAlikeDevices();
  }
  std::vector<int>   indices;
  const char * const end = text + std::strlen(text);
  for (const char * at = text;; ++at)
  {
    int        index = 0;
    const auto result = std::from_chars(at, end, index);
    if (result.ec != std::errc() || index < 0 || (result.ptr != end && *result.ptr != ','))
    {
      itkGenericExceptionMacro(<< "The environment variable " << devicesVariable << " is \"" << text
                               << "\"; it must be all, or indices of devices with commas between them: 0,1,2");
    }
    indices.push_back(index);
    at = result.ptr;
    if (at == end)
    {
      return indices;
    }
  }
}

bool
ReadKeepVariable()
{
  const char * const text = GetVariable(keepVariable);
  if (text && std::strcmp(text, "0") != 0 && std::strcmp(text, "1") != 0)
  {
    itkGenericExceptionMacro(<< "The environment variable " << keepVariable << " is \"" << text
                             << "\"; it must be 0 or 1");
  }
  return text && *text == '1';
}

StreamingEnum
ReadStreamingVariable()
{
  const char * const text = GetVariable(streamingVariable);
  return text ? CudaStreamingFromString(text, "The environment variable ITK_CUDAFILTERS_STREAMING")
              : StreamingEnum::Automatic;
}

std::string
FormatVersion(int version)
{
  return std::to_string(version / 1000) + '.' + std::to_string(version % 1000 / 10);
}

void
PrintDriver(std::ostream & os)
{
  if (!CudaFiltersConfiguration::GetBuiltWithCuda())
  {
    os << "CUDA:      not built in\n";
    return;
  }
  const int found = CudaFiltersConfiguration::GetDriverVersion();
  os << "CUDA:      built in, needs a driver for CUDA "
     << FormatVersion(CudaFiltersConfiguration::GetRequiredDriverVersion()) << " or newer\n";
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

/** Prints what a filter with default settings does and why. */
void
PrintBackend(std::ostream & os)
{
  const BackendEnum backend = CudaFiltersConfiguration::GetBackend();
  const int         index = CudaFiltersConfiguration::GetDeviceIndex();
  os << "Backend:   " << CudaBackendToString(backend) << ", device";
  for (const int device : CudaFiltersConfiguration::GetDeviceIndices())
  {
    os << ' ' << device;
  }
  os << '\n';
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
     << (cuda::GetDeviceMemoryResource() ? ", from the program's own functions" : "") << "; host: "
     << cuda::FormatBytes(CudaDetail::CudaHostMemoryPool::GetBytesCached() + cuda::GetMemoryUsage().PinnedCached)
     << " kept for reuse, limit " << cuda::FormatBytes(CudaFiltersConfiguration::GetHostCacheLimit()) << '\n';
  os << "Transfers: " << CudaFiltersConfiguration::GetNumberOfTransferThreads() << " threads\n";
}
} // namespace

void
CudaFiltersConfiguration::SetBackend(BackendEnum backend)
{
  chosenBackend = backend;
}

void
CudaFiltersConfiguration::SetBackend(const std::string & name)
{
  SetBackend(CudaBackendFromString(name));
}

CudaFiltersConfiguration::BackendEnum
CudaFiltersConfiguration::GetBackend()
{
  const std::optional<BackendEnum> backend = chosenBackend;
  return backend ? *backend : ReadBackendVariable();
}

void
CudaFiltersConfiguration::SetDeviceIndex(int index)
{
  if (index < 0)
  {
    itkGenericExceptionMacro(<< "DeviceIndex is " << index << "; it must be the index of a device: 0, 1, 2, ...");
  }
  settings.Devices = settings.DeviceLists.Keep({});
  chosenDeviceIndex = index;
}

int
CudaFiltersConfiguration::GetDeviceIndex()
{
  const std::optional<int> index = chosenDeviceIndex;
  if (index)
  {
    return *index;
  }
  const std::vector<int> devices = settings.Devices ? std::vector<int>() : ReadDevicesVariable();
  return devices.empty() ? ReadDeviceVariable() : devices.front();
}

void
CudaFiltersConfiguration::SetDevices(const std::vector<int> & indices)
{
  CudaDetail::CudaVerifyDevices(indices, "Devices");
  if (!indices.empty())
  {
    chosenDeviceIndex = indices.front();
  }
  settings.Devices = settings.DeviceLists.Keep(indices);
}

std::vector<int>
CudaFiltersConfiguration::GetDeviceIndices()
{
  const std::vector<int> * const chosen = settings.Devices;
  const std::vector<int>         devices = chosen ? *chosen : ReadDevicesVariable();
  return devices.empty() ? std::vector<int>{ GetDeviceIndex() } : devices;
}

void
CudaFiltersConfiguration::SetKeepOnDevice(bool keep)
{
  chosenKeepOnDevice = keep;
}

bool
CudaFiltersConfiguration::GetKeepOnDevice()
{
  const std::optional<bool> keep = chosenKeepOnDevice;
  return keep ? *keep : ReadKeepVariable();
}

void
CudaFiltersConfiguration::SetStreaming(StreamingEnum streaming)
{
  chosenStreaming = streaming;
}

void
CudaFiltersConfiguration::SetStreaming(const std::string & name)
{
  SetStreaming(CudaStreamingFromString(name));
}

CudaFiltersConfiguration::StreamingEnum
CudaFiltersConfiguration::GetStreaming()
{
  const std::optional<StreamingEnum> streaming = chosenStreaming;
  return streaming ? *streaming : ReadStreamingVariable();
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
CudaFiltersConfiguration::SetDeviceMemoryResource(CudaAllocateFunction allocate,
                                                  CudaReleaseFunction  release,
                                                  void *               context)
{
  if ((allocate == nullptr) != (release == nullptr))
  {
    itkGenericExceptionMacro(<< "The function '" << (allocate ? "release" : "allocate")
                             << "' of DeviceMemoryResource is nullptr, but '" << (allocate ? "allocate" : "release")
                             << "' is not; both must be functions, or both nullptr");
  }
  settings.Resource = allocate ? settings.Resources.Keep({ allocate, release, context }) : nullptr;
}

CudaDeviceMemoryResource
CudaFiltersConfiguration::GetDeviceMemoryResource()
{
  const CudaDeviceMemoryResource * const resource = cuda::GetDeviceMemoryResource();
  return resource ? *resource : CudaDeviceMemoryResource{};
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
  // The backend is printed first because it may create the context that reports how much memory is free.
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
  return cuda::GetMemoryUsage().DeviceInUse;
}

size_t
CudaFiltersConfiguration::GetPinnedBytesInUse()
{
  return cuda::GetMemoryUsage().PinnedInUse;
}

void
CudaFiltersConfiguration::ReleaseMemory()
{
  cuda::ReleaseUnusedMemory();
  CudaDetail::CudaHostMemoryPool::ReleaseUnused();
}

void
CudaDetail::CudaVerifyDevices(const std::vector<int> & devices, const char * parameter)
{
  for (const int device : devices)
  {
    if (device < 0)
    {
      itkGenericExceptionMacro(<< parameter << " contain " << device
                               << "; they must be indices of devices: 0, 1, 2, ...");
    }
  }
}

const CudaDeviceMemoryResource *
cuda::GetDeviceMemoryResource()
{
  return settings.Resource;
}
} // end namespace itk
