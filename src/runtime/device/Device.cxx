// SPDX-License-Identifier: Apache-2.0
#include "runtime/device/Device.h"
#include "runtime/device/Call.h"
#include "runtime/device/DeviceQuery.h"
#include "itkCudaError.h"
#include "itkCudaFiltersConfiguration.h"
#include "runtime/Process.h"

#include <atomic>
#include <cstdlib>
#include <cudaTypedefs.h>
#include <memory>
#include <mutex>
#include <vector>

// Finds the devices of the process, and determines for each whether this build can use it or why it cannot. The search
// creates no context. The context of a device is created by the first query whether the device is usable (TryDevice()).
// The list of devices never changes, so that it is read without a lock, which a forked process must not take.

namespace itk::cuda
{
namespace
{
constexpr int minimumComputeCapability = 75;

/** A driver supports every runtime of its own major version. */
constexpr int requiredDriverVersion = CUDART_VERSION / 1000 * 1000;

std::atomic<int> forcedKernelTimeout{ -1 }; // SetKernelTimeoutForTests()

struct DeviceRecord
{
  DeviceProperties  Properties;
  std::string       Reason;          // why the properties could not be read; empty if they were
  std::atomic<bool> Usable{ false }; // its context exists and it can run this build's code
};

/** The list of devices found. It never changes and is never deleted, because destructors of static objects may still
 * use it. */
struct DeviceList
{
  std::string                                Reason; // why no device was found
  std::vector<std::unique_ptr<DeviceRecord>> Devices;
};

std::atomic<const DeviceList *> deviceList{ nullptr }; // nullptr until devices have been looked for
std::mutex                      deviceSearchMutex;

std::string
FormatVersion(int version)
{
  return std::to_string(version / 1000) + '.' + std::to_string(version % 1000 / 10);
}

std::string
FormatComputeCapability(int capability)
{
  return std::to_string(capability / 10) + '.' + std::to_string(capability % 10);
}

std::string
FormatError(cudaError_t error)
{
  return std::string(cudaGetErrorName(error)) + " (" + cudaGetErrorString(error) + ')';
}

std::string
DescribeNoDevice()
{
  const char * const visible = std::getenv("CUDA_VISIBLE_DEVICES");
  if (visible)
  {
    return std::string("no NVIDIA GPU is visible: the environment variable CUDA_VISIBLE_DEVICES is \"") + visible + '"';
  }
  return "an NVIDIA driver, but no GPU found";
}

/** Cached, so that a forked process need not call the driver. */
std::atomic<int> knownDriverVersion{ 0 };

cudaError_t
ReadDriverVersion(int & version)
{
  const cudaError_t error = ITK_CUDA_TRY(cudaDriverGetVersion(&version));
  knownDriverVersion = error == cudaSuccess ? version : 0;
  return error;
}

/** Returns the number of devices, or 0 and the reason. `final` tells whether the result can change only if the process
 * is restarted. */
int
CountDevices(std::string & reason, bool & final)
{
  final = true;
  int         version = 0;
  cudaError_t error = ReadDriverVersion(version);
  if (error == cudaSuccess && version == 0)
  {
    reason = "no NVIDIA driver found";
    return 0;
  }
  if (error == cudaSuccess && version < requiredDriverVersion)
  {
    reason = "the NVIDIA driver is too old: it is for CUDA " + FormatVersion(version) +
             ", this build needs one for CUDA " + FormatVersion(requiredDriverVersion) + " or newer";
    return 0;
  }
  int count = 0;
  if (error == cudaSuccess)
  {
    error = ITK_CUDA_TRY(cudaGetDeviceCount(&count));
  }
  if (error == cudaErrorNoDevice || (error == cudaSuccess && count == 0))
  {
    reason = DescribeNoDevice();
    return 0;
  }
  if (error != cudaSuccess)
  {
    final = false;
    reason = "CUDA cannot be initialised: " + FormatError(error);
    return 0;
  }
  return count;
}

cudaError_t
ReadProperties(int device, DeviceProperties & properties)
{
  cudaDeviceProp found{};
  int            timeout = 0;
  cudaError_t    error = ITK_CUDA_TRY(cudaGetDeviceProperties(&found, device));
  if (error == cudaSuccess)
  {
    error = ITK_CUDA_TRY(cudaDeviceGetAttribute(&timeout, cudaDevAttrKernelExecTimeout, device));
  }
  properties.Name = found.name;
  properties.ComputeCapability = 10 * found.major + found.minor;
  properties.MultiprocessorCount = found.multiProcessorCount;
  properties.SharedMemoryPerBlockOptin = found.sharedMemPerBlockOptin;
  properties.L2CacheSize = static_cast<size_t>(found.l2CacheSize);
  properties.TotalMemory = found.totalGlobalMem;
  properties.MemoryPoolsSupported = found.memoryPoolsSupported != 0;
  properties.KernelExecTimeout = timeout != 0;
  return error;
}

/** Searches for devices without creating a context. Returns whether the result is final. */
bool
SearchDevices(DeviceList & list)
{
  bool      final = true;
  const int count = CountDevices(list.Reason, final);
  for (int device = 0; device < count; ++device)
  {
    auto              record = std::make_unique<DeviceRecord>();
    const cudaError_t error = ReadProperties(device, record->Properties);
    if (error != cudaSuccess)
    {
      record->Properties.Name = "unknown";
      record->Reason = "the properties of device " + std::to_string(device) + " cannot be read: " + FormatError(error);
    }
    list.Devices.push_back(std::move(record));
  }
  return final;
}

/** Returns the list, which the first call creates. Returns nullptr and the reason if the search failed and may be
 * repeated. */
const DeviceList *
CompleteDeviceList(std::string & reason)
{
  RegisterCudaProcess();
  const std::lock_guard<std::mutex> lock(deviceSearchMutex);
  if (!deviceList)
  {
    auto found = std::make_unique<DeviceList>();
    if (!SearchDevices(*found))
    {
      reason = found->Reason;
      return nullptr;
    }
    deviceList = found.release();
  }
  return deviceList;
}

/** Returns the list if it has devices that this process can use, otherwise nullptr and the reason. Takes no lock in a
 * forked process. */
const DeviceList *
GetDeviceList(std::string & reason)
{
  const DeviceList * list = deviceList;
  const bool         isForked = IsForkedProcess();
  if (!list && !isForked)
  {
    list = CompleteDeviceList(reason);
  }
  if (list && list->Devices.empty())
  {
    reason = list->Reason;
    return nullptr;
  }
  if (isForked)
  {
    reason = "this process was forked from one that had used CUDA, which cannot be used here";
    return nullptr;
  }
  return list;
}

std::string
DescribeRange(int count)
{
  return count == 1 ? "the only device has index 0" : "there are devices 0 to " + std::to_string(count - 1);
}

/** Returns the record of a device, or nullptr and the reason. */
DeviceRecord *
FindDevice(int device, std::string & reason)
{
  const DeviceList * const list = GetDeviceList(reason);
  if (!list)
  {
    return nullptr;
  }
  const int count = static_cast<int>(list->Devices.size());
  if (device < 0 || device >= count)
  {
    reason = "device index " + std::to_string(device) + " is out of range: " + DescribeRange(count);
    return nullptr;
  }
  return list->Devices[static_cast<size_t>(device)].get();
}

DeviceRecord &
RequireDevice(int device)
{
  std::string          reason;
  DeviceRecord * const record = FindDevice(device, reason);
  if (!record)
  {
    ThrowNotUsable(reason, __FILE__, __LINE__);
  }
  return *record;
}

std::string
DescribeDevice(int device, const DeviceProperties & properties)
{
  return "device " + std::to_string(device) + " (" + properties.Name + ')';
}

/** Returns an empty string if the device's properties could be read and its compute capability is high enough,
 * otherwise the reason. */
std::string
CheckProperties(int device, const DeviceRecord & record)
{
  const DeviceProperties & properties = record.Properties;
  if (!record.Reason.empty() || properties.ComputeCapability >= minimumComputeCapability)
  {
    return record.Reason;
  }
  return DescribeDevice(device, properties) + " has compute capability " +
         FormatComputeCapability(properties.ComputeCapability) + "; at least " +
         FormatComputeCapability(minimumComputeCapability) + " is needed";
}

/** Creates the context and looks for this library's code. Returns an empty string if both succeeded, otherwise the
 * reason. */
std::string
TryDevice(int device, const DeviceProperties & properties)
{
  try
  {
    const DeviceGuard guard(device);
    const cudaError_t error = ITK_CUDA_TRY(FindDeviceCode());
    switch (error)
    {
      case cudaSuccess:
        return {};
      case cudaErrorNoKernelImageForDevice:
      case cudaErrorInvalidDeviceFunction:
      case cudaErrorUnsupportedPtxVersion:
      case cudaErrorJitCompilerNotFound:
        return "this build holds no code for the compute capability " +
               FormatComputeCapability(properties.ComputeCapability) + " of " + DescribeDevice(device, properties) +
               ": " + FormatError(error);
      default:
        return DescribeDevice(device, properties) + " cannot be used: " + FormatError(error);
    }
  }
  catch (const CudaError & error)
  {
    return DescribeDevice(device, properties) + " cannot be used: " + error.GetDescription();
  }
}

/** Returns the free memory of a device that was usable, or 0 and the reason if it has become unusable. After an illegal
 * access or a timeout in any CUDA code of the process, every call fails. */
size_t
GetFreeMemory(int device, const DeviceProperties & properties, std::string & reason)
{
  size_t available = 0;
  try
  {
    const DeviceGuard guard(device);
    size_t            total = 0;
    const cudaError_t error = ITK_CUDA_TRY(cudaMemGetInfo(&available, &total));
    reason = error == cudaSuccess ? "" : FormatError(error);
  }
  catch (const CudaError & error)
  {
    reason = error.GetDescription();
  }
  if (reason.empty())
  {
    return available;
  }
  reason = DescribeDevice(device, properties) + " can no longer be used by this process: " + reason;
  return 0;
}
} // namespace

std::vector<CudaDeviceInformation>
FindDevices(std::string & reason)
{
  std::vector<CudaDeviceInformation> devices;
  for (int device = 0;; ++device)
  {
    const DeviceRecord * const record = FindDevice(device, reason);
    if (!record)
    {
      break;
    }
    const DeviceProperties & properties = record->Properties;
    CudaDeviceInformation    information;
    information.Index = device;
    information.Name = properties.Name;
    information.ComputeCapability = properties.ComputeCapability;
    information.TotalMemory = properties.TotalMemory;
    if (record->Usable)
    {
      information.FreeMemory = GetFreeMemory(device, properties, information.Reason);
    }
    else
    {
      information.Reason = CheckProperties(device, *record);
    }
    information.Usable = information.Reason.empty();
    devices.push_back(information);
  }
  if (!devices.empty())
  {
    reason.clear();
  }
  return devices;
}

bool
IsDeviceUsable(int device, std::string & reason)
{
  DeviceRecord * const record = FindDevice(device, reason);
  if (!record)
  {
    return false;
  }
  if (!record->Usable)
  {
    reason = CheckProperties(device, *record);
    if (reason.empty())
    {
      reason = TryDevice(device, record->Properties);
    }
    record->Usable = reason.empty();
  }
  return record->Usable;
}

bool
IsDeviceUsableNow(int device, std::string & reason)
{
  if (!IsDeviceUsable(device, reason))
  {
    return false;
  }
  GetFreeMemory(device, GetDeviceProperties(device), reason);
  return reason.empty();
}

std::string
GetDeviceName(int device)
{
  return GetDeviceProperties(device).Name;
}

size_t
GetTotalDeviceMemory(int device)
{
  return GetDeviceProperties(device).TotalMemory;
}

const DeviceProperties &
GetDeviceProperties(int device)
{
  const DeviceRecord & record = RequireDevice(device);
  if (!record.Reason.empty())
  {
    ThrowNotUsable(record.Reason, __FILE__, __LINE__);
  }
  return record.Properties;
}

bool
HasKernelTimeout(int device)
{
  const int forced = forcedKernelTimeout;
  return forced < 0 ? GetDeviceProperties(device).KernelExecTimeout : forced != 0;
}

void
SetKernelTimeoutForTests(int value)
{
  forcedKernelTimeout = value;
}

void
RequireUsableDevice(int device)
{
  std::string reason;
  if (!IsDeviceUsable(device, reason))
  {
    ThrowNotUsable(reason, __FILE__, __LINE__);
  }
}

std::optional<int>
FindUsedDevice()
{
  std::string              reason;
  const DeviceList * const list = GetDeviceList(reason);
  const size_t             count = list ? list->Devices.size() : 0;
  for (size_t device = 0; device < count; ++device)
  {
    if (list->Devices[device]->Usable)
    {
      return static_cast<int>(device);
    }
  }
  return {};
}

namespace
{
/** Returns a driver function, or nullptr if the driver has no function of that name. */
template <typename TFunction>
TFunction
GetDriverFunction(const char * name, unsigned int version) noexcept
{
  void * function = nullptr;
  ITK_CUDA_CALL_NOTHROW(FindDriverFunction(name, version, &function));
  return reinterpret_cast<TFunction>(function);
}

/** Returns whether anything in the process has created the device's primary context. Returns true if that cannot be
 * determined. */
bool
HasContext(int device) noexcept
{
  constexpr unsigned int version = 7000; // both functions exist since this CUDA version or earlier
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

namespace itk
{
bool
CudaFiltersConfiguration::GetBuiltWithCuda()
{
  return true;
}

int
CudaFiltersConfiguration::GetDriverVersion()
{
  if (!cuda::IsForkedProcess())
  {
    int version = 0;
    cuda::ReadDriverVersion(version);
  }
  return cuda::knownDriverVersion;
}

int
CudaFiltersConfiguration::GetRequiredDriverVersion()
{
  return cuda::requiredDriverVersion;
}
} // end namespace itk
