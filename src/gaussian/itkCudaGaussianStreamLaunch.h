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
