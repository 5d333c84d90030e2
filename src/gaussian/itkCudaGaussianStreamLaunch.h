// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaGaussianStreamLaunch_h
#define itkCudaGaussianStreamLaunch_h

#include "itkCudaGaussianDevice.h"

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
} // namespace itk::cuda::gaussian

#endif
