// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_runtime_run_DeviceToDevice_h
#define CudaFilters_runtime_run_DeviceToDevice_h

#include "itkCudaDeviceImageView.h"
#include "runtime/run/HostToHost.h"
#include "runtime/image/Pointwise.h"

#include <array>
#include <cstddef>

namespace itk::cuda
{
/** Adjacent elements as an image of that size. */
inline DeviceView
ViewAdjacent(const std::array<size_t, DeviceView::NumberOfAxes> & size, CudaComponentType type, void * data)
{
  DeviceView view;
  view.Data = data;
  view.ComponentType = type;
  view.Size = size;
  for (unsigned int axis = 1; axis < view.NumberOfAxes; ++axis)
  {
    view.Stride[axis] = view.Stride[axis - 1] * view.Size[axis - 1];
  }
  return view;
}

/** Queues a room's work on device images, on the calling thread's stream. Images of another type or layout than the
 * core computes in are converted on the way. The result has the bits that RunHostToHost() gives.
 *
 * If the core leaves its result in its input, `output` is `input`. `overwritesInput`: whether the core uses its input's
 * memory. Input and output must then have the type and layout that the core computes in.
 *
 * With ITK_CUDAFILTERS_SYNCHRONOUS=1 in the environment the function waits for the work.
 * \exception CudaError */
void
RunDeviceToDevice(const ResidentCore &        core,
                  const CudaDeviceImageView & input,
                  const CudaDeviceImageView & output,
                  bool                        overwritesInput);

/** Queues a room's work on images on the device, on the context's stream, whose order protects their memory. The core
 * gives one result, and not in its input. The result is as that of RunDeviceToDevice(), to the bit. \exception
 * CudaError
 */
void
RunOnStream(const ResidentCore & core, const DeviceView & input, const DeviceView & output, const Context & context);

/** Queues a copy of the elements, after the steps and converted to the output's type, on the calling thread's stream.
 * With ITK_CUDAFILTERS_SYNCHRONOUS=1 in the environment the function waits for the work, and a failure names `name`.
 * \exception CudaError; ExceptionObject if the images differ in size */
void
CopyDeviceToDevice(const CudaDeviceImageView & input,
                   const CudaDeviceImageView & output,
                   const PointwiseSteps &      steps,
                   const char *                name);
} // namespace itk::cuda

#endif
