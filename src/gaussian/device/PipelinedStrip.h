// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_gaussian_device_PipelinedStrip_h
#define CudaFilters_gaussian_device_PipelinedStrip_h

#include "gaussian/device/Device.h"
#include "CudaFiltersExport.h"

#include <array>
#include <cstddef>
#include <cuda.h>
#include <vector>

namespace itk::cuda::gaussian
{
/** Whether the copy engine can move the chunks of a pass with one result. */
bool
CanStream(const CudaGaussianLinePass & pass, const std::vector<DeviceView> & images, int device);

/** RunLinePass() by streams. */
void
RunStreamedPass(const CudaGaussianLinePass &    pass,
                const LineSchedule &            schedule,
                const std::vector<DeviceView> & images,
                const LineCut &                 cut,
                Workspace                       workspace,
                const Context &                 context);

/** What the first pass of smoothing with a mask reads. */
struct MaskedSource
{
  const void *       Image;      // nullptr: the weights of the mask
  const void *       Subtracted; // from the valid pixels of the image
  const DeviceView & Valid;      // of UChar, with the size and strides of image and destination
};

/** RunMaskPass() or RunValidPass() by streams, of lines that continue with their edge values. \return whether streams
 * can */
bool
RunStreamedMaskPass(const CudaGaussianLinePass & pass,
                    const MaskedSource &         source,
                    const DeviceView &           destination,
                    const Context &              context);

/** RunChunkTotals() and RunChunksFromStates() by streams. */
void
RunStreamTotals(const CudaGaussianLinePass &    pass,
                const LineSchedule &            schedule,
                const std::vector<DeviceView> & images,
                const LineCut &                 cut,
                void *                          totals,
                const Context &                 context);
void
RunStreamFromStates(const CudaGaussianLinePass &    pass,
                    const std::vector<DeviceView> & images,
                    const LineCut &                 cut,
                    const void *                    starts,
                    const Context &                 context);

/** An array in device memory and the box of it that one bulk copy moves, densely packed in shared memory. Neighbours
 * along the first axis are adjacent. */
struct TensorBox
{
  void *                      Data{ nullptr };      // a multiple of 16
  size_t                      BytesPerElement{ 4 }; // float or double
  std::array<size_t, 3>       Size{};               // elements
  std::array<size_t, 2>       StrideBytes{};        // of the second and third axis; multiples of 16
  std::array<unsigned int, 3> Box{};                // elements, 256 along each axis at most
  bool                        Swizzled{ false };    // for rows of 128 bytes, whose parts of 16 bytes are permuted
};

/** Whether the device has such copies and its code was compiled with them. With ITK_CUDAFILTERS_NO_BULK_COPIES=1 in the
 * environment none has. The results have the same bits without them. \exception CudaError */
CudaFilters_EXPORT bool
HasBulkCopies(int device);

/** Whether sizes and strides are within the limits of such copies. */
bool
FitsTensorMap(const TensorBox & box);

/** The copy engine's description of the array. Elements beyond the array read as zero and are not written.
 *
 * \exception CudaError */
CUtensorMap
MakeTensorMap(const TensorBox & box);
} // namespace itk::cuda::gaussian

#endif
