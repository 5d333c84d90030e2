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
 * \brief Settings and state of the module that hold for the whole process.
 *
 * A filter's own setters come first. A filter whose Backend is Automatic takes the backend set here, and a filter whose
 * DeviceIndex is -1 takes the index set here. Until they are set, backend and index are read from the environment
 * variables `ITK_CUDAFILTERS_BACKEND` (automatic, cuda, host; default automatic) and `ITK_CUDAFILTERS_DEVICE` (default
 * 0). `ITK_CUDAFILTERS_KEEP_ON_DEVICE` (0 or 1; default 0) holds until SetKeepOnDevice() is called, and
 * `ITK_CUDAFILTERS_STREAMING` (automatic, on, off; default automatic) until SetStreaming() is.
 *
 * With `ITK_CUDAFILTERS_SYNCHRONOUS=1` in the environment each filter waits for its kernels before it downloads its
 * result, and an error says which filter's work failed. Results are the same; filters take some microseconds more.
 *
 * Nothing touches a GPU when the module is loaded. GetDevices() creates no context
 * on any device; IsDeviceUsable() and GetStatus() create one on the device that they ask, as the first run of a filter
 * does. No other device gets a context. A thread whose current device has no context therefore stays on the device of
 * the filter that it ran: cudaSetDevice() would create a context on the other one. In a process forked from one that
 * used CUDA no device is usable. All functions may be called from any thread.
 *
 * A program that runs filters must not call cudaDeviceReset(): the next filter would use streams and memory that are
 * gone. It must not unload this library by dlclose(): objects of the module, and tasks of ITK's threads that have not
 * begun, would call code that is gone.
 *
 * \ingroup CudaFilters
 */
class CudaFilters_EXPORT CudaFiltersConfiguration
{
public:
  using BackendEnum = CudaFiltersEnums::Backend;
  using StreamingEnum = CudaFiltersEnums::Streaming;

  /** The backend of filters whose own is Automatic.
   * \exception ExceptionObject for an unknown name, in the call or in the environment variable. */
  static void
  SetBackend(BackendEnum backend);
  static void
  SetBackend(const std::string & name);
  static BackendEnum
  GetBackend();

  /** The device of filters whose own index is -1. Whether it exists is checked when a filter runs.
   * \exception ExceptionObject if the index is negative. */
  static void
  SetDeviceIndex(int index);
  static int
  GetDeviceIndex();

  /** Whether results stay on the device between two filters of images of the host. Default: off. It concerns images
   * with ReleaseDataFlag on, which nobody may read after the next filter. Pixels are the same;
   * docs/user/device_images.md says which results stay.
   * \exception ExceptionObject if the environment variable is neither 0 nor 1. */
  static void
  SetKeepOnDevice(bool keep);
  static bool
  GetKeepOnDevice();

  /** How filters cut their images whose own Streaming is Automatic (docs/user/larger_than_memory.md). On concerns those
   * that can be cut; the others run as with Automatic.
   * \exception ExceptionObject for an unknown name, in the call or in the environment variable. */
  static void
  SetStreaming(StreamingEnum streaming);
  static void
  SetStreaming(const std::string & name);
  static StreamingEnum
  GetStreaming();

  /** Largest number of bytes of device memory this module may hold on each device; 0 (default): no limit but the
   * device's own. Filters wait for memory that other filters will give back. If their working set does not fit, the
   * Gaussian filters run in slabs; others run on the host (Backend Automatic) or throw CudaError (Backend Cuda). */
  static void
  SetDeviceMemoryLimit(size_t bytes);
  static size_t
  GetDeviceMemoryLimit();

#ifndef ITK_WRAPPING_PARSER
  /** From now on all device memory comes from these functions of the caller instead of the module's own pool, which may
   * keep memory until ReleaseMemory(). With nullptr for both functions the pool is used again. `context` is handed to
   * each call. CudaDeviceMemoryResource says what the functions must do, with examples. The limit and the counts of
   * bytes in use hold as before. The memory that counts as available is then the limit minus the bytes in use. Without
   * a limit the filters just try, because only the caller knows how much memory there is. Without CUDA the functions
   * are kept and never called. Python does not have this method.
   * \exception ExceptionObject if one function is given and the other is not. */
  static void
  SetDeviceMemoryResource(CudaAllocateFunction allocate, CudaReleaseFunction release, void * context = nullptr);
  static CudaDeviceMemoryResource
  GetDeviceMemoryResource();
#endif

  /** Largest number of bytes of free host memory that is kept for later outputs and transfers. The default is an eighth
   * of the least of: the machine's memory, the memory limits of the process's control group and of the groups above it,
   * and the limit of the process's address space (RLIMIT_AS); at most 8 GiB. These are read once, when first needed.
   * Memory of outputs also goes back when it has been free for 5 seconds. Page-locked memory of transfers is kept: some
   * 64 MiB for each transfer that ran at the same time. Memory that images use is neither counted nor limited. A
   * smaller limit takes effect when memory is next released, or by ReleaseMemory(). */
  static void
  SetHostCacheLimit(size_t bytes);
  static size_t
  GetHostCacheLimit();

  /** Number of threads that copy between ordinary and pinned memory: the calling thread and others of ITK's thread
   * pool. 0 (default) stands for ITK's global default number of threads, at most 16, and the get method then returns
   * that number. Uploads take at most 8. Filters that run at the same time share the threads. The number does not
   * change any result. */
  static void
  SetNumberOfTransferThreads(unsigned int number);
  static unsigned int
  GetNumberOfTransferThreads();

  /** Whether the module was built with CUDA. */
  static bool
  GetBuiltWithCuda();

  /** CUDA version that the installed driver supports, as 1000 * major + 10 * minor; 0 without a driver. */
  static int
  GetDriverVersion();
  /** CUDA version whose driver this build needs; 0 if built without CUDA. */
  static int
  GetRequiredDriverVersion();

  /** GPUs of this machine, usable or not; empty without a driver or when built without CUDA. `Usable` says whether the
   * compute capability suffices and, for a device that this process has used, whether it still works. IsDeviceUsable()
   * tries the device. */
  static std::vector<CudaDeviceInformation>
  GetDevices();

  /** Whether `deviceIndex` (-1: the configuration's) can be used; if not, `reason` says why in words. The device is
   * asked each time: after an illegal memory access or a timeout, in whatever CUDA code of the process, it cannot be
   * used until the process is started again. */
  static bool
  IsDeviceUsable(int deviceIndex, std::string & reason);

  /** A few lines about devices, memory, the driver found and needed, and the backend that Automatic takes, with the
   * reason. */
  static std::string
  GetStatus();

  /** Bytes of device memory and of pinned memory that this module uses, without what is kept for reuse. */
  static size_t
  GetDeviceBytesInUse();
  static size_t
  GetPinnedBytesInUse();

  /** Gives back all memory kept for reuse, on the devices and on the host. Memory in use stays. */
  static void
  ReleaseMemory();
};
} // end namespace itk

#endif
