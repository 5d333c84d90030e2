// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_runtime_run_DeviceToDevice_h
#define CudaFilters_runtime_run_DeviceToDevice_h

#include "itkCudaDeviceImageView.h"
#include "runtime/run/HostToHost.h"
#include "runtime/image/Pointwise.h"

// Queues the work of algorithms on images in device memory, without transfers.

namespace itk::cuda
{
/** Queues an algorithm's work on device images, on the calling thread's stream. Images whose type or layout is not the
 * one that the algorithm computes in are converted to and from it. The result is bit-identical to RunHostToHost().
 *
 * If the algorithm leaves its result in its input, `output` must be `input`. If the algorithm overwrites its input,
 * input and output must have the type and layout that the algorithm computes in.
 *
 * With ITK_CUDAFILTERS_SYNCHRONOUS=1 in the environment the function waits for the work.
 * \exception CudaError */
void
RunDeviceToDevice(const DeviceAlgorithm &     algorithm,
                  const CudaDeviceImageView & input,
                  const CudaDeviceImageView & output);

/** Queues an algorithm's work on images on the device, on the context's stream. Stream order protects their memory. The
 * algorithm must compute one result and must not leave it in its input. The result is bit-identical to
 * RunDeviceToDevice(). \exception CudaError */
void
RunOnStream(const DeviceAlgorithm & algorithm,
            const DeviceView &      input,
            const DeviceView &      output,
            const Context &         context);

/** Queues a copy of the elements on the calling thread's stream. The elements go through `steps` and are converted to
 * the output's type. With ITK_CUDAFILTERS_SYNCHRONOUS=1 in the environment the function waits for the work, and a
 * failure names `name`.
 * \exception CudaError
 * \exception ExceptionObject if the images differ in size */
void
CopyDeviceToDevice(const CudaDeviceImageView & input,
                   const CudaDeviceImageView & output,
                   const PointwiseSteps &      steps,
                   const char *                name);
} // namespace itk::cuda

#endif
