// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_runtime_run_SlabEndpoints_h
#define CudaFilters_runtime_run_SlabEndpoints_h

#include "itkCudaDetailImageView.h"
#include "itkCudaSlabs.h"
#include "runtime/DetailNames.h"

namespace itk::cuda
{
/** The source and destination of the planes of a run in slabs. They are either host images with data, or the shapes of
 * the images with callbacks for source and sink. */
struct SlabEndpoints
{
  CudaImageView  Input;
  CudaImageView  Output;
  CudaSlabSource Source;
  CudaSlabSink   Sink;
  unsigned int   Axis{ 0 }; // the axis along which SlabPipeline cuts the images into slabs

  bool
  HasCallbacks() const
  {
    return static_cast<bool>(Source);
  }
};
} // namespace itk::cuda

#endif
