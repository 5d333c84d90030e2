// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaPartitionTable_h
#define itkCudaPartitionTable_h

#include "itkCudaPartitionGraph.h"
#include "itkCudaPartitionLabels.h"
#include "itkCudaPartitionModel.h"
#include "itkCudaPartitionTree.h"
#include "itkCudaPartitionWork.h"
#include "itkCudaRegionPartitionTypes.h"
#include "itkCudaRegionSamples.h"

#include <vector>

namespace itk::cuda::partition
{
/** What a description has to be increased by when samples are in units of `step`; 0 for a known variance, whose
 * criterion has no unit. */
double
DescriptionOffset(const Model & model, int64_t numberOfPixels, double step);

/** A region without its shape: its statistics, in the image's units, and its description. */
CudaPartitionRegion
MakeTableRow(const Model & model, const Moments & sums, const region::SamplesDescription & samples);

/** The regions of a map: region number i + 1. Areas, perimeters and boxes are those of all pixels of a label, valid or
 * not; the perimeter is the number of their sides at other regions and at the image's border.
 * \param links as LinkRegions() makes them */
std::vector<CudaPartitionRegion>
MakeTable(const Model &                      model,
          const LabelMap &                   map,
          const std::vector<RegionLinks> &   links,
          const region::SamplesDescription & samples,
          const Work &                       work);

/** Boundaries of a map, which cost NatsPerCrack for each side of pixels. */
std::vector<Boundary>
MakeBoundaries(const std::vector<RegionLinks> & links);
} // namespace itk::cuda::partition

#endif
