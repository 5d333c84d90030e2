// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaFiltersConfiguration_h
#define itkCudaFiltersConfiguration_h

#include "CudaFiltersExport.h"
#include "itkCudaDeviceInformation.h"
#include "itkCudaDeviceMemoryResource.h"
#include "itkCudaFiltersEnums.h"

#include <cstddef>
#include <string>
#include <vector>

namespace itk
{
/** \class CudaFiltersConfiguration
 * \brief Settings and state of the module that apply to the whole process.
 *
 * A filter's own settings have priority. A filter whose Backend is Automatic uses the backend set here, and a filter
 * whose DeviceIndex is -1 uses the index set here. Until they are set, backend and index are read from the environment
 * variables `ITK_CUDAFILTERS_BACKEND` (automatic, cuda, host; default automatic) and `ITK_CUDAFILTERS_DEVICE` (default
 * 0). `ITK_CUDAFILTERS_DEVICES` (indices with commas between them, or all) applies until SetDevices() is called,
 * `ITK_CUDAFILTERS_KEEP_ON_DEVICE` (0 or 1; default 0) applies until SetKeepOnDevice() is called, and
 * `ITK_CUDAFILTERS_STREAMING` (automatic, on, off; default automatic) until SetStreaming() is called.
 *
 * With `ITK_CUDAFILTERS_SYNCHRONOUS=1` in the environment, each filter waits for its kernels before it downloads its
 * result, so that an error names the filter whose work failed. The results do not change; each filter takes some
 * microseconds more.
 *
 * Loading the module does not touch a GPU. GetDevices() creates no context on any device; IsDeviceUsable() and
 * GetStatus() create one on the device that they check, as the first run of a filter does. No other device gets a
 * context. As a consequence, a thread whose current device has no context stays on the device of the filter that it
 * ran, because cudaSetDevice() back to the other device would create a context there. In a process forked from one that
 * used CUDA, no device is usable. All functions may be called from any thread.
 *
 * A program that runs filters must not call cudaDeviceReset(), because the next filter would use streams and memory
 * that no longer exist. It must not unload this library by dlclose(), because objects of the module, and tasks of ITK's
 * threads that have not begun, would call code that no longer exists.
 *
 * \ingroup CudaFilters
 */
class CudaFilters_EXPORT CudaFiltersConfiguration
{
public:
  using BackendEnum = CudaFiltersEnums::Backend;
  using StreamingEnum = CudaFiltersEnums::Streaming;

  /** Sets or returns the backend of filters whose own Backend is Automatic.
   * \exception ExceptionObject if the name is unknown, in the call or in the environment variable */
  static void
  SetBackend(BackendEnum backend);
  static void
  SetBackend(const std::string & name);
  static BackendEnum
  GetBackend();

  /** Sets or returns the device of filters whose own index is -1. Whether it exists is checked when a filter runs.
   * \exception ExceptionObject if the index is negative */
  static void
  SetDeviceIndex(int index);
  static int
  GetDeviceIndex();

  /** Sets or returns the devices to which filters deal the slabs of their images, if the filters have neither devices
   * nor an index of their own. The first one becomes the DeviceIndex and runs what is not dealt; SetDeviceIndex() makes
   * its device the only one. An empty list, which is the default, stands for the device of GetDeviceIndex(), so at
   * least one index is returned. `ITK_CUDAFILTERS_DEVICES=all` stands for all usable devices of the compute capability
   * of the first usable one. Whether devices exist is checked when a filter runs.
   * \exception ExceptionObject if an index is negative, or the environment variable is not a list of indices */
  static void
  SetDevices(const std::vector<int> & indices);
  static std::vector<int>
  GetDeviceIndices();

  /** Sets or returns whether results stay on the device between two filters of host images. Default: off. It affects
   * images with ReleaseDataFlag on, which nobody may read after the next filter. Pixels do not change;
   * docs/user/device_images.md says which results stay.
   * \exception ExceptionObject if the environment variable is neither 0 nor 1 */
  static void
  SetKeepOnDevice(bool keep);
  static bool
  GetKeepOnDevice();

  /** Sets or returns how filters whose own Streaming is Automatic cut their images (docs/user/larger_than_memory.md).
   * On applies to filters that can cut their image; the others run as with Automatic.
   * \exception ExceptionObject if the name is unknown, in the call or in the environment variable */
  static void
  SetStreaming(StreamingEnum streaming);
  static void
  SetStreaming(const std::string & name);
  static StreamingEnum
  GetStreaming();

  /** Sets or returns the largest number of bytes of device memory that this module may hold on each device; 0 (default)
   * means that only the device's own memory limits it. Filters wait for memory that other filters will release. If
   * their working set does not fit, the Gaussian filters run in slabs, and the snakes keep the sums of their image in
   * page-locked host memory; others run on the host (Backend Automatic) or throw CudaError (Backend Cuda). */
  static void
  SetDeviceMemoryLimit(size_t bytes);
  static size_t
  GetDeviceMemoryLimit();

#ifndef ITK_WRAPPING_PARSER
  /** Makes the module allocate all device memory through these functions of the caller from now on, instead of its own
   * pool, which may keep memory until ReleaseMemory(). nullptr for both functions selects the pool again. `context` is
   * passed to each call. CudaDeviceMemoryResource says what the functions must do, with examples. The memory limit and
   * the counts of bytes in use work as with the pool. The memory that counts as available is the limit minus the bytes
   * in use. Without a limit, the filters simply try to allocate, because only the caller knows how much memory there
   * is. In a build without CUDA, the functions are stored and never called. Python does not have this method.
   * \exception ExceptionObject if one function is given and the other is not */
  static void
  SetDeviceMemoryResource(CudaAllocateFunction allocate, CudaReleaseFunction release, void * context = nullptr);
  static CudaDeviceMemoryResource
  GetDeviceMemoryResource();
#endif

  /** Sets or returns the largest number of bytes of free host memory that is kept for later outputs and transfers. The
   * default is an eighth of the smallest of: the machine's memory, the memory limits of the process's control group and
   * of the groups above it, and the limit of the process's address space (RLIMIT_AS); at most 8 GiB. These are read
   * once, when first needed. Memory of outputs is also released when it has been free for 5 seconds. Page-locked memory
   * of transfers is kept: about 64 MiB for each transfer that ran concurrently. Memory that images use is neither
   * counted nor limited. A smaller limit takes effect when memory is next released, or when ReleaseMemory() is
   * called. */
  static void
  SetHostCacheLimit(size_t bytes);
  static size_t
  GetHostCacheLimit();

  /** Sets or returns the number of threads that copy between ordinary and pinned memory: the calling thread and others
   * of ITK's thread pool. 0 (default) stands for ITK's global default number of threads, at most 16, and the get method
   * then returns that number. Uploads use at most 8 threads. Filters that run concurrently share the threads. The
   * number does not change any result. */
  static void
  SetNumberOfTransferThreads(unsigned int number);
  static unsigned int
  GetNumberOfTransferThreads();

  /** Returns whether the module was built with CUDA. */
  static bool
  GetBuiltWithCuda();

  /** Returns the CUDA version that the installed driver supports, as 1000 * major + 10 * minor; 0 without a driver. */
  static int
  GetDriverVersion();
  /** Returns the smallest CUDA version that the driver must support for this build; 0 if built without CUDA. */
  static int
  GetRequiredDriverVersion();

  /** Returns the GPUs of this machine, usable or not; empty without a driver or when built without CUDA. `Usable` says
   * whether the compute capability suffices and, for a device that this process has used, whether it still works.
   * IsDeviceUsable() actually tries the device. */
  static std::vector<CudaDeviceInformation>
  GetDevices();

  /** Returns whether `deviceIndex` (-1 for the configuration's device) can be used; if not, `reason` says why in words.
   * The device is queried each time, because after an illegal memory access or a timeout in any CUDA code of the
   * process, it cannot be used until the process is restarted. */
  static bool
  IsDeviceUsable(int deviceIndex, std::string & reason);

  /** Returns a few lines about devices, memory, the driver found and the driver needed, and the backend that Automatic
   * selects, with the reason. */
  static std::string
  GetStatus();

  /** Return the bytes of device memory and of pinned memory that this module uses, without the memory kept for
   * reuse. */
  static size_t
  GetDeviceBytesInUse();
  static size_t
  GetPinnedBytesInUse();

  /** Releases all memory kept for reuse, on the devices and on the host. Memory in use stays. */
  static void
  ReleaseMemory();
};
} // end namespace itk

#endif
