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
 * The filters' own setters come first: a filter whose Backend is Automatic takes
 * the one set here, and a filter whose DeviceIndex is -1 takes the index set here.
 * Until they are set, both are read from the environment variables
 * `ITK_CUDAFILTERS_BACKEND` (automatic, cuda, host; default automatic) and
 * `ITK_CUDAFILTERS_DEVICE` (default 0).
 *
 * With `ITK_CUDAFILTERS_SYNCHRONOUS=1` in the environment each filter waits for its kernels before it downloads its
 * result, and an error says which filter's work failed. Results are the same; filters take some microseconds more.
 *
 * Nothing touches a GPU when the module is loaded. GetDevices() creates no context
 * on any device; IsDeviceUsable() and GetStatus() create one on the device they are
 * about, as the first run of a filter does. No other device gets one: a thread whose
 * current device has no context stays on the device of the filter that it ran, as
 * cudaSetDevice() would create a context there. In a process forked from one that used
 * CUDA no device is usable. All functions may be called from any thread.
 *
 * A program that runs filters must not call cudaDeviceReset(): streams and memory that
 * the module keeps for reuse would be gone, and the next filter would use them. Nor may
 * it unload this library by dlclose(): objects of the module, and tasks of ITK's threads
 * that have not begun, would call code that is no longer there.
 *
 * \ingroup CudaFilters
 */
class CudaFilters_EXPORT CudaFiltersConfiguration
{
public:
  using BackendEnum = CudaFiltersEnums::Backend;

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

  /** Largest number of bytes of device memory this module may hold on each device; 0 (default): no limit but the
   * device's own. Filters whose working set does not fit run on the host (Backend Automatic) or throw CudaError
   * (Backend Cuda). */
  static void
  SetDeviceMemoryLimit(size_t bytes);
  static size_t
  GetDeviceMemoryLimit();

#ifndef ITK_WRAPPING_PARSER
  /** All device memory comes from these functions of the caller's from now on, instead of from the module's own pool,
   * which may keep memory until ReleaseMemory(); nullptr for both: from the pool again. `context` is handed to both.
   * CudaDeviceMemoryResource says what they are to do, with examples. The limit and the counts of bytes in use hold as
   * before. How much memory is available is then the limit without the bytes in use, and without a limit the filters
   * just try, because only the caller knows what there is. Without CUDA the functions are kept and never called. Not in
   * Python.
   * \exception ExceptionObject if one function is given and the other is not. */
  static void
  SetDeviceMemoryResource(CudaAllocateFunction allocate, CudaReleaseFunction release, void * context = nullptr);
  static CudaDeviceMemoryResource
  GetDeviceMemoryResource();
#endif

  /** Largest number of bytes of host memory kept for reuse by later outputs and transfers once they are free. The
   * default is an eighth of the machine's memory, of the memory limit of the process's control group, or of any group
   * above it, or of the limit of the process's address space (RLIMIT_AS), whichever is least, and 8 GiB at most; these
   * are read once, when first needed. Memory of outputs also goes back once it has not been used for
   * CudaHostMemoryPool::MaximumIdleTime; the page-locked memory of transfers, some 64 MiB for each that ran at once, is
   * kept. Memory in use by images is never counted nor limited. A smaller limit takes effect when memory is next
   * released, or by ReleaseMemory(). */
  static void
  SetHostCacheLimit(size_t bytes);
  static size_t
  GetHostCacheLimit();

  /** Threads that copy between ordinary and pinned memory, the calling one and others of ITK's thread pool; 0
   * (default): ITK's global default number of threads, at most 16, which is also what the get method then returns.
   * Uploads take at most 8. Filters that run at once share them. The number does not change any result. */
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

  /** GPUs of this machine, usable or not; empty without a driver or when built without CUDA. `Usable` is the verdict of
   * the compute capability, and for a device that this process has used, whether it still can; IsDeviceUsable() tries
   * the device. */
  static std::vector<CudaDeviceInformation>
  GetDevices();

  /** Whether `deviceIndex` (-1: the configuration's) can be used; if not, `reason` says why in words. The device is
   * asked each time: after an illegal memory access or a timeout, in whatever CUDA code of the process, it cannot be
   * used until the process is started again. */
  static bool
  IsDeviceUsable(int deviceIndex, std::string & reason);

  /** What was found, in a few lines: devices, memory, driver found and needed, the backend that Automatic takes and
   * why. */
  static std::string
  GetStatus();

  /** Bytes this module holds: device memory in use and pinned memory in use (not counting what is kept for reuse). */
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
