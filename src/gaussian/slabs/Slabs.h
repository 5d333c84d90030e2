// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_gaussian_slabs_Slabs_h
#define CudaFilters_gaussian_slabs_Slabs_h

#include "itkCudaDetailGaussianSlabs.h"
#include "runtime/DetailNames.h"
#include "itkCudaError.h"
#include "gaussian/plan/Schedule.h"
#include "runtime/image/HostLines.h"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

namespace itk
{
class CudaSlabStates
{
public:
  /** Where the run took place: states of the host are not those of a device. */
  enum Place : unsigned char
  {
    Nowhere,
    Host,
    Device
  };

  Place                                   FoundBy{ Nowhere };
  std::vector<unsigned char>              FirstPlane; // as the source gave it
  std::vector<std::vector<unsigned char>> Starts;     // of each component's passes, if the plan needs all chunks
};
} // end namespace itk

namespace itk::cuda::gaussian
{
/** A run in slabs: its shape, and the part of the image that its sink gets. */
struct SlabRun
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

  /** Of chunks [begin, end). */
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

  /** Chunks that the part depends on. */
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

/** How an image is cut whose lines across slabs continue with their edge values. */
CudaGaussianSlabShape
GetSlabShape(const CudaGaussianPlan & plan, const CudaImageView & inputShape, const CudaImageView & outputShape);

/** \exception ExceptionObject naming the option that is out of range */
SlabRun
MakeSlabRun(const CudaGaussianPlan & plan,
            const CudaImageView &    inputShape,
            const CudaImageView &    outputShape,
            const CudaSlabOptions &  options);

/** Whether the pass runs across slabs. */
inline bool
IsSlabPass(const CudaGaussianLinePass & pass, const CudaGaussianSlabShape & shape)
{
  return shape.Axis > 0 && pass.Axis == shape.Axis;
}

/** The run on ITK's threads, in double. */
CudaSlabReport
RunGaussianSlabsOnHost(const CudaGaussianPlan &     plan,
                       const CudaImageView &        inputShape,
                       const CudaImageView &        outputShape,
                       const CudaSlabSource &       source,
                       const CudaSlabSink &         sink,
                       const CudaSlabOptions &      options,
                       const CudaProgressFunction & progress);

/** The images of a run, or their shapes beside a source and a sink. */
struct SlabEnds
{
  CudaImageView  Input;
  CudaImageView  Output;
  CudaSlabSource Source;
  CudaSlabSink   Sink;
};

/** The run on the host or on devices, between images with data or between source and sink. Lines across slabs continue
 * with their edge values. */
CudaSlabReport
RunSlabs(const CudaGaussianPlan &     plan,
         const SlabEnds &             ends,
         const CudaSlabOptions &      options,
         const CudaProgressFunction & progress);

/** Throws the error of a run on a device on. If some of the input may be lost, it is not one of too little memory: the
 * host cannot take over. */
[[noreturn]] inline void
ThrowOn(const CudaError & error, bool isInputLost)
{
  const bool isMemory = error.GetKind() == CudaError::Kind::OutOfMemory;
  throw CudaError(error.GetFile(),
                  error.GetLine(),
                  isMemory && isInputLost ? CudaError::Kind::CallFailed : error.GetKind(),
                  error.GetDescription());
}

/** The run on devices. \exception CudaError also in a build without CUDA */
CudaSlabReport
RunGaussianSlabsOnDevices(const CudaGaussianPlan &     plan,
                          const SlabEnds &             ends,
                          const CudaSlabOptions &      options,
                          const CudaProgressFunction & progress);

/** The run of an image whose slabs do not fit: lines across slabs first, in groups of whole lines, and then the passes
 * within planes. The output holds what lies between, so it must have the type that is computed in, and one pass across
 * slabs with one result must come first. \return no value if that is not so, or the groups do not fit either
 *
 * \exception CudaError */
std::optional<CudaSlabReport>
TryColumns(const CudaGaussianPlan &     plan,
           const SlabEnds &             ends,
           const CudaSlabOptions &      options,
           const CudaProgressFunction & progress);

/** The run of an image that fits into the device's memory, if it is expected to be faster in slabs.
 * \exception CudaError */
std::optional<CudaSlabReport>
TryOverlapped(const CudaGaussianPlan &     plan,
              const CudaImageView &        input,
              const CudaImageView &        output,
              int                          device,
              const CudaProgressFunction & progress);
} // namespace itk::cuda::gaussian

#endif
