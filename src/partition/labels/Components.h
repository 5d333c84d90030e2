// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_partition_labels_Components_h
#define CudaFilters_partition_labels_Components_h

#include "partition/labels/RegionGraph.h"
#include "partition/labels/LabelMaker.h"
#include "partition/Scene.h"
#include "partition/refine/Work.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

namespace itk::cuda::partition
{
/** \exception ExceptionObject if there are more regions than 32-bit labels */
void
CheckNumberOfRegions(size_t number);

/** Finds the 4-connected components of equal labels, numbered from 1 in the order of their first pixels.
 * \param getRow returns the labels of an image row; called at least once for each row, from any thread
 * \param room memory for the labels of the map; getRow may point into it
 * \exception ExceptionObject as CheckNumberOfRegions()
 */
LabelMap
FindComponents(const Scene &                                    scene,
               const Work &                                     work,
               const std::function<const uint32_t *(int32_t)> & getRow,
               std::vector<uint32_t>                            room = {});

/** Links the regions of a map, numbered from 0, to their neighbours. */
std::vector<RegionLinks>
LinkRegions(const Scene & scene, const LabelMap & map, const Work & work);

/** Gives region i of the map the number numbers[i - 1]. */
void
RenumberRegions(LabelMap & map, const std::vector<uint32_t> & numbers, std::vector<Moments> sums, const Work & work);
} // namespace itk::cuda::partition

#endif
