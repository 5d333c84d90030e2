// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_gaussian_slabs_Slabs_h
#define CudaFilters_gaussian_slabs_Slabs_h

#include "itkCudaDetailGaussianSlabs.h"
#include "runtime/DetailNames.h"
#include "itkCudaError.h"
#include "gaussian/plan/Schedule.h"
#include "runtime/image/HostLines.h"
#include "runtime/run/SlabEndpoints.h"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

// Runs of a plan in slabs, for images that do not fit into device memory or that come from a source: their geometry
// and the functions that run them.

namespace itk
{
class CudaSlabStates
{
public:
  /** Where the states were computed. States of the host cannot be used on a device, nor states of a device on the host.
   */
  enum Location : unsigned char
  {
    Nowhere,
    Host,
    Device
  };

  Location                                ComputedOn{ Nowhere };
  std::vector<unsigned char>              FirstPlane; // in the source's pixel type
  std::vector<std::vector<unsigned char>> Starts;     // of each component's passes, if the plan needs all chunks
};
} // end namespace itk

namespace itk::cuda::gaussian
{
/** How a run cuts an image into slabs, and the range of chunks whose results it computes. */
struct SlabGeometry
{
  CudaGaussianSlabShape Shape;
  size_t                ChunksPerSlab{ 1 };
  size_t                FirstChunk{ 0 };
  size_t                EndChunk{ 0 };
  size_t                BytesOfInputPlane{ 0 };
  size_t                BytesOfOutputPlane{ 0 };

  size_t
  GetFirstPlane(size_t chunk) const
  {
    return chunk * Shape.ChunkLength;
  }

  /** Returns the number of planes of the chunks [begin, end). */
  size_t
  GetNumberOfPlanes(size_t begin, size_t end) const
  {
    return std::min(end * Shape.ChunkLength, Shape.NumberOfPlanes) - begin * Shape.ChunkLength;
  }

  size_t
  GetNumberOfSlabs() const
  {
    return DivideUp(EndChunk - FirstChunk, ChunksPerSlab);
  }

  /** Return the range of chunks on which the results of the chunks [FirstChunk, EndChunk) depend. */
  size_t
  GetLoadBegin() const
  {
    return Shape.NeedsAllChunks ? FirstChunk : FirstChunk - std::min<size_t>(FirstChunk, Shape.LookAhead);
  }
  size_t
  GetLoadEnd() const
  {
    return Shape.NeedsAllChunks ? EndChunk : std::min(EndChunk + Shape.LookAhead, Shape.NumberOfChunks);
  }
};

/** Returns how an image is cut into slabs if its lines across slabs continue with their edge values. */
CudaGaussianSlabShape
GetSlabShape(const CudaGaussianPlan & plan, const CudaImageView & inputShape, const CudaImageView & outputShape);

/** Returns the geometry of a run with these options. \exception ExceptionObject names the option that is out of range
 */
SlabGeometry
MakeSlabGeometry(const CudaGaussianPlan & plan,
                 const CudaImageView &    inputShape,
                 const CudaImageView &    outputShape,
                 const CudaSlabOptions &  options);

/** Returns whether the pass filters lines that cross the cuts between slabs. */
inline bool
IsSlabPass(const CudaGaussianLinePass & pass, const CudaGaussianSlabShape & shape)
{
  return shape.Axis > 0 && pass.Axis == shape.Axis;
}

/** Runs a plan in slabs on ITK's threads, in double, from source to sink. */
CudaSlabReport
RunGaussianSlabsOnHost(const CudaGaussianPlan &     plan,
                       const SlabEndpoints &        endpoints,
                       const CudaSlabOptions &      options,
                       const CudaProgressFunction & progress);

/** Runs a plan in slabs on the host or on devices, between images with data or between source and sink. The image is
 * not padded, so lines across slabs continue with their edge values. */
CudaSlabReport
RunUnpaddedSlabs(const CudaGaussianPlan &     plan,
                 const SlabEndpoints &        endpoints,
                 const CudaSlabOptions &      options,
                 const CudaProgressFunction & progress);

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

/** Runs a plan in slabs on devices. \exception CudaError also in a build without CUDA */
CudaSlabReport
RunGaussianSlabsOnDevices(const CudaGaussianPlan &     plan,
                          const SlabEndpoints &        endpoints,
                          const CudaSlabOptions &      options,
                          const CudaProgressFunction & progress);

/** Runs a plan over an image whose slabs do not fit into device memory: it filters the lines across slabs first, in
 * groups of whole lines, and then runs the passes within planes. The output stores the intermediate image, so it must
 * have the computed type, and the plan must begin with a single pass across slabs that has one result. \return no value
 * if this is not the case, or if the groups do not fit either
 *
 * \exception CudaError */
std::optional<CudaSlabReport>
TryLinesThenPlanes(const CudaGaussianPlan &     plan,
                   const SlabEndpoints &        endpoints,
                   const CudaSlabOptions &      options,
                   const CudaProgressFunction & progress);

/** Returns the largest number of bytes of device memory that RunWithoutSlabs() needs. */
size_t
GetBytesWithoutSlabs(const CudaGaussianPlan & plan, const CudaImageView & input, const CudaImageView & output);

/** Runs the plan for an image that fits into the device's memory. \exception CudaError */
void
RunWithoutSlabs(const CudaGaussianPlan & plan, const CudaImageView & input, const CudaImageView & output, int device);

/** Runs in slabs an image that fits into the device's memory, if this is expected to be faster. Returns no value
 * otherwise. \exception CudaError */
std::optional<CudaSlabReport>
TryOverlappedSlabs(const CudaGaussianPlan &     plan,
                   const CudaImageView &        input,
                   const CudaImageView &        output,
                   int                          device,
                   const CudaProgressFunction & progress);
} // namespace itk::cuda::gaussian

#endif
