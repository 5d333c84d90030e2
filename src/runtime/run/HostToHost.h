// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_runtime_run_HostToHost_h
#define CudaFilters_runtime_run_HostToHost_h

#include "runtime/image/Components.h"
#include "runtime/device/Stream.h"
#include "itkCudaDetailImageView.h"
#include "runtime/DetailNames.h"
#include "runtime/image/DeviceView.h"
#include "runtime/memory/Workspace.h"

#include <cstddef>
#include <functional>

namespace itk::CudaDetail
{
class CudaFilterBackend;
}

namespace itk::cuda
{
/** Takes the share of the work done, 0 to 1. It may throw to abort. */
using ProgressFunction = std::function<void(float)>;

/** \class ResidentCore
 * \brief The work of a room on images that lie on the device. It is what the host-to-host shell sees of a plan.
 */
class ResidentCore
{
public:
  virtual ~ResidentCore() = default;

  /** What errors call it. */
  virtual const char *
  GetName() const = 0;

  /** Components of the output for each of the input's. */
  virtual size_t
  GetNumberOfResults() const
  {
    return 1;
  }

  /** Components of the output. */
  virtual size_t
  GetNumberOfOutputComponents(size_t inputComponents) const
  {
    return inputComponents * this->GetNumberOfResults();
  }

  /** \exception ExceptionObject if the core does not make such an output of such an input */
  virtual void
  VerifyComponents(size_t inputComponents, size_t outputComponents) const
  {
    CudaVerifyComponents(inputComponents, this->GetNumberOfResults(), outputComponents);
  }

  /** The type of the images on the device, float or double. */
  virtual CudaComponentType
  GetComputeType(const CudaImageView & input, const CudaImageView & output) const
  {
    return cuda::GetComputeType(input, output);
  }

  /** Whether Run() leaves the result in the input's memory. Its output is then its input. */
  virtual bool
  LeavesResultInInput() const = 0;

  /** Largest number of bytes of device memory that Run() needs beside input and output on any device, without their
   * alignment.
   */
  virtual size_t
  GetMaximumWorkspace(const DeviceImage::SizeType & size, CudaComponentType type) const = 0;

  /** The number of these bytes on that device. */
  virtual size_t
  GetWorkspace(const DeviceView & input, const DeviceView & output, int device) const = 0;

  /** Queues the work. The input may be overwritten. The output has the input's rows and as many planes for each
   * component as there are results. It never allocates or transfers images, and waits only where the driver ends long
   * kernels. */
  virtual void
  Run(const DeviceView &       input,
      const DeviceView &       output,
      Workspace                workspace,
      const Context &          context,
      const ProgressFunction & progress) const = 0;

  /** The part of the output that goes to the host. */
  virtual DeviceView
  GetResult(const DeviceView & output, const CudaImageView &) const
  {
    return output;
  }
};

/** With ITK_CUDAFILTERS_SYNCHRONOUS=1 in the environment: waits for the stream's work, of which `name` queued the last.
 * \exception CudaError if it failed */
void
WaitIfSynchronous(const char * name, const Context & context);

/** Queues the core's work on images on the device, with a workspace of its own. With ITK_CUDAFILTERS_SYNCHRONOUS=1 in
 * the environment it waits for the work, and a failure names the core. \exception CudaError, or what `progress` throws
 */
void
RunCore(const ResidentCore &     core,
        const DeviceView &       input,
        const DeviceView &       output,
        const Context &          context,
        const ProgressFunction & progress);

/** Bytes of device memory that RunHostToHost() needs, at most. */
size_t
GetHostToHostWorkingSet(const ResidentCore & core, const CudaImageView & input, const CudaImageView & output);

/** Uploads `input`, runs the core on the device and downloads the result to `output`. The output is complete on return.
 * The download reports a kernel that failed. With ITK_CUDAFILTERS_SYNCHRONOUS=1 in the environment the failure is
 * reported before the download and names the core.
 *
 * If memory runs out, the error is of kind OutOfMemory, and the host may take over. It is of another kind if input and
 * output are the same memory and some of it may have been overwritten.
 *
 * \exception CudaError, or what `progress` throws */
void
RunHostToHost(const ResidentCore &     core,
              const CudaImageView &    input,
              const CudaImageView &    output,
              int                      device,
              const ProgressFunction & progress);

/** Calls `run` with the device that `backend` selected, once the memory is there that other runs will give back.
 * Meanwhile `progress` is called. Returns false if the device ran out of memory and the backend lets the filter take
 * the host. */
bool
TryOnDevice(CudaFilterBackend &                     backend,
            const std::function<void(int device)> & run,
            const ProgressFunction &                progress);

/** RunHostToHost() as TryOnDevice() calls it. */
bool
TryHostToHost(const ResidentCore &     core,
              const CudaImageView &    input,
              const CudaImageView &    output,
              CudaFilterBackend &      backend,
              const ProgressFunction & progress);
} // namespace itk::cuda

#endif
