// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaPartitionRings_h
#define itkCudaPartitionRings_h

#include "itkCudaRegionPartitionTypes.h"

#include <cstdint>
#include <vector>

// Rings of a region from the edges around it.
namespace itk::cuda::partition
{
/** An edge in the direction in which the region lies on its left. */
struct DirectedEdge
{
  uint32_t Start; // indices of nodes
  uint32_t End;
};

/** Twice the area of a ring; positive if it goes counter-clockwise with y upwards. */
int64_t
TwiceTheArea(const CudaSnakePolygon & ring);

/** The region's rings: an outer one, then its holes, then the next outer one. No ring visits a node twice.
 * \exception ExceptionObject if the edges form no rings */
std::vector<CudaSnakePolygon>
MakeRings(std::vector<DirectedEdge> edges, const std::vector<CudaSnakePoint> & nodes);
} // namespace itk::cuda::partition

#endif
