// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaSnakeRectangles_h
#define itkCudaSnakeRectangles_h

#include "itkCudaRegionLaws.h"
#include "itkCudaRegionTables.h"
#include "itkCudaRegionThreads.h"
#include "itkCudaSnakeRegion.h"

#include <cstdint>

namespace itk::cuda::snake
{
/** On a level, the rectangle of its grid (RectangleGrid) with the smallest J; empty if none has two regions of the
 * minimum size. */
CudaSnakePolygon
FindBestRectangle(const Level &          level,
                  const Moments &        total,
                  const LawDescription & law,
                  int64_t                minimumRegionSize,
                  const Threads &        threads);
} // namespace itk::cuda::snake

#endif
