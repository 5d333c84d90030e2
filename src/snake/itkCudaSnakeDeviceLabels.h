// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaSnakeDeviceLabels_h
#define itkCudaSnakeDeviceLabels_h

#include "itkCudaContext.h"
#include "itkCudaDetailNames.h"
#include "itkCudaDetailRegionSnakeGeometry.h"
#include "itkCudaDeviceView.h"
#include "itkCudaWorkspace.h"

#include <cstddef>
#include <cstdint>

namespace itk::cuda::snake
{
/** Device memory in bytes that WriteLabels() needs. */
size_t
GetLabelWorkspaceBytes(const CudaSnakeRowSpans & spans);

/** Queues the label image of a polygon: `inside` between the columns of its row spans, `outside` elsewhere, as
 * CudaSnakeLabels does in host memory. Memory between the rows is not written. The spans may change when the function
 * has returned.
 * \param labels of UChar or UShort, with two axes and as many rows as the spans
 * \exception ExceptionObject for other images, or labels that their type does not hold, or if the workspace is too
 * small \exception CudaError */
void
WriteLabels(const CudaSnakeRowSpans & spans,
            uint32_t                  inside,
            uint32_t                  outside,
            const DeviceView &        labels,
            Workspace                 workspace,
            const Context &           context);
} // namespace itk::cuda::snake

#endif
