// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaPartitionMapBuild_h
#define itkCudaPartitionMapBuild_h

#include "itkCudaPartitionLabels.h"
#include "itkCudaPartitionMapData.h"
#include "itkCudaRegionTables.h"
#include "itkCudaRegionThreads.h"

#include <cstddef>

namespace itk::cuda::partition
{
/** The map whose edges are the sides of pixels between different labels, straight ones joined. Nodes are in the order
 * of their rows and columns; edges in that of their first node, the one to larger Y first.
 * \exception ExceptionObject if the labels do not fit the image, or the regions' sums differ from those of the edges */
MapData
BuildMap(const LabelMap & labels, const region::Level & pixels, const region::Threads & threads);

/** \exception ExceptionObject if a map cannot have so many nodes */
void
CheckNumberOfNodes(size_t number);
} // namespace itk::cuda::partition

#endif
