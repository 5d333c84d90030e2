// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaPartitionTable_h
#define itkCudaPartitionTable_h

#include "itkCudaPartitionGraph.h"
#include "itkCudaPartitionLabels.h"
#include "itkCudaPartitionModel.h"
#include "itkCudaPartitionScene.h"
#include "itkCudaPartitionTree.h"
#include "itkCudaPartitionWork.h"
#include "itkCudaRegionPartitionTypes.h"
#include "itkCudaRegionSamples.h"

#include <array>
#include <cstdint>
#include <limits>
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

/** The shape of a region of a label map. Areas, perimeters and boxes are those of all pixels of a label, valid or not;
 * the perimeter is the number of their sides at other regions and at the image's border. */
struct LabelShape
{
  int64_t                Area{ 0 };
  int64_t                Perimeter{ 0 };
  std::array<int32_t, 4> Box{ { std::numeric_limits<int32_t>::max(), std::numeric_limits<int32_t>::max(), 0, 0 } };
};

/** What a label map says of its regions: number i + 1 has link i; sums and shapes begin with what is no region. */
struct LabelSummary
{
  std::vector<Moments>     Sums;
  std::vector<LabelShape>  Shapes;
  std::vector<RegionLinks> Links; // as LinkRegions() makes them
};

LabelSummary
SummarizeLabels(const Scene & scene, const LabelMap & map, const Work & work);

/** The regions of a label map: region number i + 1. */
std::vector<CudaPartitionRegion>
MakeTable(const Model & model, const LabelSummary & labels, const region::SamplesDescription & samples);

/** Boundaries of a map, which cost NatsPerCrack for each side of pixels. */
std::vector<Boundary>
MakeBoundaries(const std::vector<RegionLinks> & links);
} // namespace itk::cuda::partition

#endif
