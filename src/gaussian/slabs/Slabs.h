// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_gaussian_slabs_Slabs_h
#define CudaFilters_gaussian_slabs_Slabs_h

#include "itkCudaDetailGaussianSlabs.h"
#include "runtime/DetailNames.h"
#include "gaussian/plan/Schedule.h"
#include "runtime/image/HostLines.h"
#include "runtime/run/SlabRun.h"

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

  /** What a run with these states does. All but `Filter` return no planes. */
  enum Work : unsigned char
  {
    Filter,
    Sweep, // sets Bytes to the end states of the chunks of CudaSlabOptions::FirstPlane and NumberOfPlanes
    Scan   // turns Bytes from the end states of all chunks into their start states
  };

  /** States as bytes: for each component and pass across slabs those of chunks, one after the other, and those of the
   * ends of lines. */
  using StateBytes = std::vector<std::vector<unsigned char>>;

  Location                   ComputedOn{ Nowhere };
  std::vector<unsigned char> FirstPlane; // in the source's pixel type
  std::shared_ptr<void>      Starts; // the start states of all chunks, if the plan needs them, as the run keeps them
  Work                       Task{ Filter };
  StateBytes                 Bytes; // of Task; for `Filter` the start states of the run's own chunks, or empty

  /** Returns whether the run knows only the states of its own chunks. */
  bool
  AreOfPart() const
  {
    return Task == Sweep || (Task == Filter && !Bytes.empty());
  }
};
} // end namespace itk

namespace itk::cuda::gaussian
{
class NonFiniteScan;

/** How a run cuts an image into slabs, and the range of chunks whose results it computes. */
struct SlabGeometry
{
  CudaGaussianSlabShape Shape;
  size_t                ChunksPerSlab{ 1 };
  size_t                FirstChunk{ 0 };
  size_t                EndChunk{ 0 };
  bool                  SweepsPart{ false }; // whether a sweep and its states are only of the chunks with results
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

/** The chunks of a slab. */
struct ChunkRange
{
  size_t Begin, End;
};

/** The slabs of a sweep over an image. */
struct SlabCut
{
  std::vector<ChunkRange> Chunks; // of each slab
  std::vector<InputSlab>  Slabs;
  size_t                  SlabsAhead{ 0 }; // the largest distance to a slab that a result requires
};

/** Cuts the chunks on which the results depend, so that no slab has chunks with and without a result. */
CudaFilters_EXPORT SlabCut
CutToFilter(const SlabGeometry & geometry, size_t chunksPerSlab);

/** Cuts all chunks of the image, or of the part that is swept, none of which has a result, if the results depend on all
 * chunks. */
CudaFilters_EXPORT SlabCut
CutToSweep(const SlabGeometry & geometry, size_t chunksPerSlab);

/** Verifies the bytes of one piece of states. \exception ExceptionObject if there are more or fewer than expected */
void
VerifyBytesOfStates(const CudaSlabStates::StateBytes & bytes, size_t piece, size_t expected);

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

/** What a run in slabs works on. */
struct SlabRunArguments
{
  CudaGaussianPlan     Plan;
  SlabEndpoints        Endpoints;
  CudaSlabOptions      Options;
  CudaProgressFunction Progress;
  NonFiniteScan *      Scan{ nullptr }; // searches the input of a run on a device, if it is given

  // An image that lies on devices, one part on each of Options.Devices, which has as many chunks as Options say. The
  // endpoints then have no memory.
  std::vector<ResidentPart> Parts{};
};

/** Makes the run of a plan in slabs, on the host or on devices as the options say, in any boundary mode that can be
 * cut. \exception ExceptionObject says why the plan cannot be cut, or which option is out of range \exception CudaError
 */
std::unique_ptr<SlabRun>
MakeSlabRun(SlabRunArguments arguments);

/** Makes the run of a plan whose lines across slabs continue with their edge values. */
std::unique_ptr<SlabRun>
MakeUnpaddedSlabRun(SlabRunArguments arguments);

/** Makes a run on ITK's threads, in double, whose planes come from a source. */
std::unique_ptr<SlabRun>
MakeHostSlabRun(const SlabRunArguments & arguments);

/** Makes a run on devices. Without a source it writes to the output. \exception CudaError also in a build without CUDA
 */
std::unique_ptr<SlabRun>
MakeDeviceSlabRun(const SlabRunArguments & arguments);

/** Makes a run over an image whose slabs do not fit into device memory: it filters the lines across slabs first, in
 * groups of whole lines, and then runs the passes within planes. The output stores the intermediate image, so it must
 * have the computed type, and the plan must begin with a single pass across slabs that has one result. \return nullptr
 * if this is not the case, or if the groups do not fit either
 *
 * \exception CudaError */
std::unique_ptr<SlabRun>
MakeLinesThenPlanesRun(const SlabRunArguments & arguments);

/** Returns the largest number of bytes of device memory that RunWithoutSlabs() needs. */
size_t
GetBytesWithoutSlabs(const CudaGaussianPlan & plan, const CudaImageView & input, const CudaImageView & output);

/** Runs the plan for an image that fits into the device's memory. \exception CudaError */
void
RunWithoutSlabs(const CudaGaussianPlan & plan, const CudaImageView & input, const CudaImageView & output, int device);

/** Runs in slabs an image that fits into the first device's memory, dealt to all devices, if this is expected to be
 * faster. Returns no value otherwise. `scan`, if it is given, searches the input for NaN and infinite pixels.
 * \exception CudaError */
std::optional<CudaSlabReport>
TryOverlappedSlabs(const CudaGaussianPlan &     plan,
                   const CudaImageView &        input,
                   const CudaImageView &        output,
                   const std::vector<int> &     devices,
                   const CudaProgressFunction & progress,
                   NonFiniteScan *              scan);

/** Returns the number of planes that pad the image on either side, a multiple of the chunk length. It is 0 if the image
 * needs no padding. */
size_t
GetPaddingPlanes(const CudaGaussianPlan & plan, const CudaImageView & inputShape, const CudaImageView & outputShape);

/** Verifies that an image can be padded for the plan. \exception ExceptionObject if it would take more planes than are
 * possible, or if its pixels cannot have the value of BoundaryMode Constant */
void
VerifyPadding(const CudaGaussianPlan & plan, const CudaImageView & inputShape, const CudaImageView & outputShape);

/** Makes a run of a plan over the padded image that returns only the planes of the image itself. The planes come from a
 * source. If input and output are the same memory, the planes at the image's end are read before the first plane is
 * returned. */
std::unique_ptr<SlabRun>
MakePaddedSlabRun(const SlabRunArguments & arguments);
} // namespace itk::cuda::gaussian

#endif
