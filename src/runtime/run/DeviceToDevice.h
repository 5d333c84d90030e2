// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_runtime_run_DeviceToDevice_h
#define CudaFilters_runtime_run_DeviceToDevice_h

#include "itkCudaDeviceImageView.h"
#include "runtime/run/HostToHost.h"
#include "runtime/image/Pointwise.h"

// Queues the work of cores on images in device memory, without transfers.

namespace itk::cuda
{
/** Queues a core's work on device images, on the calling thread's stream. Images whose type or layout is not the one
 * that the core computes in are converted to and from it. The result is bit-identical to RunHostToHost().
 *
 * If the core leaves its result in its input, `output` must be `input`. If the core overwrites its input, input and
 * output must have the type and layout that the core computes in.
 *
 * With ITK_CUDAFILTERS_SYNCHRONOUS=1 in the environment the function waits for the work.
 * \exception CudaError */
void
RunDeviceToDevice(const ResidentCore & core, const CudaDeviceImageView & input, const CudaDeviceImageView & output);

/** Queues a core's work on images on the device, on the context's stream. Stream order protects their memory. The core
 * must compute one result and must not leave it in its input. The result is bit-identical to RunDeviceToDevice().
 * \exception CudaError */
void
RunOnStream(const ResidentCore & core, const DeviceView & input, const DeviceView & output, const Context & context);

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
