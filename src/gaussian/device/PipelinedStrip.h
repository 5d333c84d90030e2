// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_gaussian_device_PipelinedStrip_h
#define CudaFilters_gaussian_device_PipelinedStrip_h

#include "gaussian/device/LinePasses.h"
#include "CudaFiltersExport.h"

#include <array>
#include <cstddef>
#include <cuda.h>
#include <vector>

// Runs line passes in strips (gaussian/device/PipelinedStrip.cuh), and describes arrays for the bulk copies of the
// copy engine.

namespace itk::cuda::gaussian
{
/** Returns whether the copy engine can move the chunks of a pass with one result. */
bool
CanUseStrips(const CudaGaussianLinePass & pass, const std::vector<DeviceView> & images, int device);

/** Implements RunLinePass() for the methods Strip and StripScan. */
void
RunStripPass(const CudaGaussianLinePass &    pass,
             const LineSchedule &            schedule,
             const std::vector<DeviceView> & images,
             const LineCut &                 cut,
             Workspace                       workspace,
             const Context &                 context);

/** The input of the first pass of smoothing with a mask. */
struct MaskedSource
{
  const void *       Image;     // nullptr: the pass filters the weights of the mask
  const void *       Reference; // the value that is subtracted from the valid pixels of the image
  const DeviceView & Valid;     // of UChar, with the size and strides of image and destination
};

/** Implements RunMaskPass() and RunValidPass() in strips, for lines that continue with their edge values. \return
 * whether strips can run the pass */
bool
RunStripMaskPass(const CudaGaussianLinePass & pass,
                 const MaskedSource &         source,
                 const DeviceView &           destination,
                 const Context &              context);

/** Queue what RunChunkEndStates() and RunChunksFromStates() do for schedules that run in strips (RunsInStrips()). */
void
RunStripEndStates(const CudaGaussianLinePass &    pass,
                  const LineSchedule &            schedule,
                  const std::vector<DeviceView> & images,
                  const LineCut &                 cut,
                  void *                          endStates,
                  const Context &                 context);
void
RunStripFromStates(const CudaGaussianLinePass &    pass,
                   const std::vector<DeviceView> & images,
                   const LineCut &                 cut,
                   const void *                    starts,
                   const Context &                 context);

/** An array in device memory, and the box of it that one bulk copy moves. The box is packed in shared memory.
 * Neighbours along the first axis are adjacent. */
struct TensorBox
{
  void *                      Data{ nullptr };      // aligned to 16 bytes
  size_t                      BytesPerElement{ 4 }; // float or double
  std::array<size_t, 3>       Size{};               // elements
  std::array<size_t, 2>       StrideBytes{};        // of the second and third axis; multiples of 16
  std::array<unsigned int, 3> Box{};                // elements, at most 256 along each axis
  bool                        Swizzled{ false };    // permutes the 16-byte parts of rows of 128 bytes
};

/** Returns whether the device has bulk copies and its code was compiled with them. With
 * ITK_CUDAFILTERS_NO_BULK_COPIES=1 in the environment it is false for all devices. Results have the same bits without
 * bulk copies. \exception CudaError */
CudaFilters_EXPORT bool
HasBulkCopies(int device);

/** Returns whether sizes and strides are within the limits of bulk copies. */
bool
FitsTensorMap(const TensorBox & box);

/** Makes the copy engine's description (tensor map) of the array. Elements beyond the array are read as zero and are
 * not written.
 *
 * \exception CudaError */
CUtensorMap
MakeTensorMap(const TensorBox & box);
} // namespace itk::cuda::gaussian

#endif
