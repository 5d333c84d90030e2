// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_runtime_run_HostToHost_h
#define CudaFilters_runtime_run_HostToHost_h

#include "runtime/image/Components.h"
#include "runtime/device/Stream.h"
#include "itkCudaDetailOperation.h"
#include "itkCudaError.h"
#include "runtime/DetailNames.h"
#include "runtime/image/DeviceView.h"
#include "runtime/memory/Workspace.h"

#include <cstddef>
#include <functional>

namespace itk::cuda
{
using ProgressFunction = CudaDetail::CudaProgressFunction;

/** \class DeviceAlgorithm
 * \brief The computation of a filter on images that are already in device memory. It is the interface through which the
 * host-to-host code uses a plan (CudaOperation).
 */
class DeviceAlgorithm
{
public:
  virtual ~DeviceAlgorithm() = default;

  /** Returns the name used in error messages. */
  virtual const char *
  GetName() const = 0;

  /** Returns the number of output components for each input component. */
  virtual size_t
  GetNumberOfResults() const
  {
    return 1;
  }

  /** Returns the number of components of the output. */
  virtual size_t
  GetNumberOfOutputComponents(size_t inputComponents) const
  {
    return inputComponents * this->GetNumberOfResults();
  }

  /** Verifies that the algorithm can compute such an output from such an input.
   * \exception ExceptionObject if it cannot */
  virtual void
  VerifyComponents(size_t inputComponents, size_t outputComponents) const
  {
    CudaVerifyComponents(inputComponents, this->GetNumberOfResults(), outputComponents);
  }

  /** Returns the type of the images on the device, which is float or double. */
  virtual CudaComponentType
  GetComputeType(const CudaImageView & input, const CudaImageView & output) const
  {
    return cuda::GetComputeType(input, output);
  }

  /** Returns whether Run() leaves the result in the input's memory. The output passed to Run() is then the input. */
  virtual bool
  LeavesResultInInput() const = 0;

  /** Returns the maximum over all devices of the bytes of device memory that Run() needs in addition to input and
   * output, not counting their alignment. */
  virtual size_t
  GetMaximumWorkspace(const DeviceView::SizeType & size, CudaComponentType type) const = 0;

  /** Returns the bytes that Run() needs in addition to input and output on the given device. */
  virtual size_t
  GetWorkspace(const DeviceView & input, const DeviceView & output, int device) const = 0;

  /** Queues the work. The input may be overwritten. The output has the input's rows, and for each component as many
   * planes as there are results. The function never allocates or transfers images, and it waits only on devices where
   * the driver ends long kernels. */
  virtual void
  Run(const DeviceView &       input,
      const DeviceView &       output,
      Workspace                workspace,
      const Context &          context,
      const ProgressFunction & progress) const = 0;

  /** Uploads `input`, runs, and downloads the result to `output`, as RunHostToHost() does. */
  virtual void
  RunFromHostToHost(const CudaImageView &    input,
                    const CudaImageView &    output,
                    int                      device,
                    const ProgressFunction & progress) const;

  /** Runs the algorithm on host images for a filter, whose settings may allow a faster way that gives the same bits. */
  virtual void
  RunForFilter(const CudaImageView & input,
               const CudaImageView & output,
               CudaDetail::CudaFilterBackend &,
               int                      device,
               const ProgressFunction & progress) const
  {
    this->RunFromHostToHost(input, output, device, progress);
  }

  /** Queues the work on device images, as RunDeviceToDevice() does. */
  virtual void
  Queue(const CudaDeviceImageView & input, const CudaDeviceImageView & output) const;

  /** Returns whether Run() uses its input's memory. */
  virtual bool
  OverwritesInput() const
  {
    return false;
  }

  /** Returns the part of the output that is downloaded to the host. */
  virtual DeviceView
  GetResult(const DeviceView & output, const CudaImageView &) const
  {
    return output;
  }
};

/** Waits for the stream's work if ITK_CUDAFILTERS_SYNCHRONOUS=1 is set in the environment. `name` is the name of the
 * work that was queued last.
 * \exception CudaError if the work failed */
void
WaitIfSynchronous(const char * name, const Context & context);

/** Queues the algorithm's work on images on the device and allocates its workspace. With ITK_CUDAFILTERS_SYNCHRONOUS=1
 * in the environment it waits for the work, and a failure names the algorithm. \exception CudaError, or any exception
 * that `progress` throws */
void
RunAlgorithm(const DeviceAlgorithm &  algorithm,
             const DeviceView &       input,
             const DeviceView &       output,
             const Context &          context,
             const ProgressFunction & progress);

/** Rethrows the error of a run on a device. If some of the input may be lost, the error is not reported as one of too
 * little memory, because the caller would then repeat the run on the host. */
[[noreturn]] inline void
RethrowDeviceError(const CudaError & error, bool isInputLost)
{
  const bool isMemory = error.GetKind() == CudaError::Kind::OutOfMemory;
  throw CudaError(error.GetFile(),
                  error.GetLine(),
                  isMemory && isInputLost ? CudaError::Kind::CallFailed : error.GetKind(),
                  error.GetDescription());
}

/** Returns an upper bound of the bytes of device memory that RunHostToHost() needs. */
size_t
GetHostToHostWorkingSet(const DeviceAlgorithm & algorithm, const CudaImageView & input, const CudaImageView & output);

/** Uploads `input`, runs the algorithm on the device and downloads the result to `output`, which is complete on return.
 * If a kernel failed, the download reports it. With ITK_CUDAFILTERS_SYNCHRONOUS=1 in the environment the failure is
 * reported before the download and names the algorithm.
 *
 * If memory runs out, the error is of kind OutOfMemory, and the filter may fall back to the host. If input and output
 * are the same memory and some of it may have been overwritten, the error is of another kind.
 *
 * \exception CudaError, or any exception that `progress` throws */
void
RunHostToHost(const DeviceAlgorithm &  algorithm,
              const CudaImageView &    input,
              const CudaImageView &    output,
              int                      device,
              const ProgressFunction & progress);
} // namespace itk::cuda

#endif
