// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_runtime_run_SlabRun_h
#define CudaFilters_runtime_run_SlabRun_h

#include "itkCudaDetailImageView.h"
#include "itkCudaDeviceImageView.h"
#include "itkCudaSlabs.h"
#include "runtime/DetailNames.h"

#include <cstddef>

namespace itk::cuda
{
/** Where the planes of a run in slabs come from and go to. The input is either a host image with data, or the shape of
 * one whose planes come from `Source`. In the first case the output may be an image with data, too; otherwise the
 * caller of the run takes its planes. */
struct SlabEndpoints
{
  CudaImageView  Input;
  CudaImageView  Output;
  CudaSlabSource Source;
  unsigned int   Axis{ 0 }; // the axis along which SlabPipeline cuts the images into slabs

  bool
  HasSource() const
  {
    return static_cast<bool>(Source);
  }
};

/** A part of an image on a device, which consists of whole planes, and the memory of its result on the same device. */
struct ResidentPart
{
  CudaDeviceImageView Input;
  CudaDeviceImageView Output;
};

/** A group of planes that are read together, and the slabs from which its result is computed. */
struct InputSlab
{
  size_t FirstPlane{ 0 };
  size_t NumberOfPlanes{ 0 };
  size_t LastRequiredSlab{ 0 }; // the last slab that must be read before this slab's result is computed
  bool   HasResult{ true };     // if false, the slab only serves the results of other slabs
};

/** Planes of an output in host memory, in the layout of CudaSlabSink. */
struct SlabPlanes
{
  size_t       First{ 0 };
  size_t       Number{ 0 };
  const void * Pixels{ nullptr };
};

/** \class SlabRun
 * \brief A run in slabs whose caller takes the planes of the output, in their order and when it wants them.
 *
 * All callbacks come from Next(), in the thread that calls it. Different calls may come from different threads. A run
 * that is destroyed early waits for its work. */
class SlabRun
{
public:
  virtual ~SlabRun() = default;

  /** Computes planes of the output and returns them. They are valid until the next call. Returns no planes when the run
   * is complete; these are all that a run returns that writes to an image. After an exception the run must be
   * destroyed.
   * \exception CudaError, or what the source and the progress function throw */
  virtual SlabPlanes
  Next() = 0;

  /** Returns the report of a complete run. */
  virtual CudaSlabReport
  GetReport() const = 0;
};
} // namespace itk::cuda

#endif
