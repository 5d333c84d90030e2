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
/** \exception ExceptionObject for more regions than 32-bit labels tell apart */
void
CheckNumberOfRegions(size_t number);

/** Pixels of equal labels that are connected over sides, as regions numbered from 1 in the order of their first pixels.
 * \param getRow labels of a row of the image; called for each row at least once, by any thread
 * \param room memory for the labels of the map; it may hold those that getRow points to
 * \exception ExceptionObject as CheckNumberOfRegions() */
LabelMap
FindComponents(const Scene &                                    scene,
               const Work &                                     work,
               const std::function<const uint32_t *(int32_t)> & getRow,
               std::vector<uint32_t>                            room = {});

/** The regions of a map, numbered from 0, as vertices of a graph: links of each to its neighbours. */
std::vector<RegionLinks>
LinkRegions(const Scene & scene, const LabelMap & map, const Work & work);

/** Gives region number i of the map the number numbers[i - 1]. */
void
RenumberRegions(LabelMap & map, const std::vector<uint32_t> & numbers, std::vector<Moments> sums, const Work & work);
} // namespace itk::cuda::partition

#endif
