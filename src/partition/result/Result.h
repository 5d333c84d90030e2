// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_partition_result_Result_h
#define CudaFilters_partition_result_Result_h

#include "itkCudaRegionPartitionTypes.h"
#include "partition/Model.h"
#include "partition/map/MapData.h"
#include "region/Threads.h"
#include "partition/labels/RegionGraph.h"
#include "partition/labels/LabelMaker.h"
#include "partition/Scene.h"
#include "partition/refine/Work.h"
#include "region/Samples.h"

#include <array>
#include <cstdint>
#include <limits>
#include <vector>

// Rings of a region from the edges around it.
namespace itk::cuda::partition
{
/** An edge in the direction in which the region lies on its left. */
struct RingEdge
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
MakeRings(std::vector<RingEdge> edges, const std::vector<CudaSnakePoint> & nodes);

/** The boundary between two regions, and what it costs in nats: what a merge saves besides the regions' own change. */
struct Boundary
{
  uint32_t First;
  uint32_t Second;
  double   Cost;
};

/** Merges the pair of neighbours that changes the description least, again and again, until no two are neighbours.
 * Pairs with equal changes merge in the order of their numbers. A merged region has the smaller of its two numbers. The
 * changes of a region with more than 256 neighbours are computed again when their turn comes. A change that has become
 * less since then may come late.
 * \param regions sums by number; [0] is not looked at
 * \param boundaries between them; the costs of a pair that occurs several times are added */
std::vector<CudaPartitionMerge>
MakeMergeTree(const Model & model, const std::vector<Moments> & regions, const std::vector<Boundary> & boundaries);

/** What a map says about a region. */
struct RegionSummary
{
  Moments               Sums;
  int64_t               DoubledArea{ 0 }; // of the polygon: twice its area in pixels, exactly
  double                Perimeter{ 0.0 }; // with holes, and with pieces of the image's border
  region::LatticeBox    Box{ 0, 0, 0, 0 };
  std::vector<uint32_t> Neighbors; // numbers of regions, ascending
};

/** Two regions with a common boundary. */
struct Adjacency
{
  uint32_t First; // the smaller number
  uint32_t Second;
  uint32_t NumberOfSegments;
};

/** The regions of a map by their final numbers: in the order of their first pixels, from 1. */
struct NumberedRegions
{
  std::vector<uint32_t> Numbers; // of each of the map's regions; 0 for those that are gone
  std::vector<Moments>  Sums;    // by number; [0] is of no region
};

/** A map for those who use it: numbers without gaps, which follow from the map alone. */
struct MapSummary
{
  std::vector<CudaSnakePoint>    Nodes;   // by Y, then X
  std::vector<CudaPartitionEdge> Edges;   // each from the smaller node to the larger one; by Start, then End
  std::vector<RegionSummary>     Regions; // region number i + 1
};

/** No pixel. */
constexpr uint64_t NoPixel = ~uint64_t{ 0 };

/** The first pixel of each label below a number, or NoPixel. */
std::vector<uint64_t>
FindFirstPixels(const std::vector<uint32_t> & labels, size_t number, const region::Threads & threads);

/** \param firstPixels of the map's regions. Regions that hold no pixel's centre come last, in the order that they have
 * in the map. */
NumberedRegions
NumberRegions(const MapData & map, const std::vector<uint64_t> & firstPixels);

/** The neighbours of a map, by First, then Second. \param numbers of the map's regions */
std::vector<Adjacency>
ListAdjacencies(const MapData & map, const std::vector<uint32_t> & numbers);

MapSummary
SummarizeMap(const MapData & map, const NumberedRegions & regions, const std::vector<Adjacency> & adjacencies);

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
