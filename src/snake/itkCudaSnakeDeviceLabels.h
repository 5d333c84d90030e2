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
GetLabelWorkspaceBytes(const CudaSnakePolygon & polygon);

/** Queues the label image of a polygon: `inside` between the columns of its row spans, `outside` elsewhere, as
 * CudaSnakeLabels does in host memory. The device finds where the rows cross the edges; only the polygon is uploaded.
 * Memory between the rows is not written. The polygon may change when the function has returned.
 * \param polygon may be empty \param labels of UChar or UShort, with two axes
 * \exception ExceptionObject for other images, labels that their type does not hold, a vertex outside the rows, or a
 * workspace that is too small \exception CudaError */
void
WriteLabels(const CudaSnakePolygon & polygon,
            uint32_t                 inside,
            uint32_t                 outside,
            const DeviceView &       labels,
            Workspace                workspace,
            const Context &          context);
} // namespace itk::cuda::snake

#endif
