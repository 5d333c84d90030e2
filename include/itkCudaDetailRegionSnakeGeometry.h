// SPDX-License-Identifier: Apache-2.0
// Internal: templates need it, programs do not. Names in itk::CudaDetail may change in any version.
#ifndef itkCudaDetailRegionSnakeGeometry_h
#define itkCudaDetailRegionSnakeGeometry_h

#include "CudaFiltersExport.h"
#include "itkCudaRegionSnakeTypes.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace itk::CudaDetail
{
/** Columns where the rows y = 0 to height - 1 enter and leave the polygon. The crossings of row y are Columns[First[y]]
 * to Columns[First[y + 1] - 1]. They ascend, and their number is even. */
struct CudaSnakeRowSpans
{
  std::vector<size_t>  First;
  std::vector<int32_t> Columns;
};

/** \exception ExceptionObject if a vertex lies outside the rows, which have corners 0 to height */
CudaFilters_EXPORT void
RequireCudaSnakeRows(const CudaSnakePolygon & polygon, int32_t height);

/** Row spans of a polygon; exact.
 * \exception ExceptionObject as RequireCudaSnakeRows() */
CudaFilters_EXPORT CudaSnakeRowSpans
ComputeCudaSnakeRowSpans(const CudaSnakePolygon & polygon, int32_t height);

/** Whether two edges of the polygon meet at the node they share only. It takes the time of sorting the nodes. */
CudaFilters_EXPORT bool
CudaSnakePolygonIsSimple(const CudaSnakePolygon & polygon);
} // end namespace itk::CudaDetail

#endif
