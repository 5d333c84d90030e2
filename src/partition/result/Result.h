// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_partition_result_Result_h
#define CudaFilters_partition_result_Result_h

#include "itkCudaRegionPartitionTypes.h"
#include "partition/Model.h"
#include "partition/map/MapData.h"
#include "region/Samples.h"
#include "runtime/DetailNames.h"

#include <cstddef>
#include <cstdint>
#include <vector>

// Computes the results of a partition from its final regions: their rings, their table, and the tree of their merges.
namespace itk::cuda::partition
{
/** An edge directed such that the region is to its left. */
struct RingEdge
{
  uint32_t Start; // node indices
  uint32_t End;
};

/** Returns twice the signed area of a ring; positive if the ring is counter-clockwise with y upwards. */
int64_t
TwiceTheArea(const CudaSnakePolygon & ring);

/** Returns the region's rings: each outer ring followed by its holes. No ring visits a node twice.
 * \exception ExceptionObject if the edges form no rings
 */
std::vector<CudaSnakePolygon>
MakeRings(std::vector<RingEdge> edges, const std::vector<CudaSnakePoint> & nodes);

/** The boundary between two regions and its cost in nats, which a merge of the regions saves. */
struct Boundary
{
  uint32_t First;
  uint32_t Second;
  double   Cost;
};

/** Repeatedly merges the pair of neighbours that changes the description least, until there are no neighbours. Pairs
 * with equal changes merge in the order of their numbers. A merged region gets the smaller one of its two numbers. The
 * changes of a region with more than 256 neighbours are updated only when a proposal reaches the top of the priority
 * queue, so that a change that has decreased in the meantime may be applied late.
 * \param regions sums by number; [0] is ignored
 * \param boundaries between the regions; the costs of repeated pairs are added
 */
std::vector<CudaPartitionMerge>
MakeMergeTree(const DescriptionModel &      model,
              const std::vector<Moments> &  regions,
              const std::vector<Boundary> & boundaries);

/** The properties of a region of a map of polygons or of a label map. The shape of a label includes all of its pixels,
 * valid or not. */
struct RegionSummary
{
  Moments               Sums;
  int64_t               DoubledArea{ 0 }; // twice its area in pixels, exact
  double                Perimeter{ 0.0 }; // including holes and the image's border
  region::LatticeBox    Box{ 0, 0, 0, 0 };
  std::vector<uint32_t> Neighbors; // numbers of regions, ascending
};

/** Two regions with a common boundary. */
struct Adjacency
{
  uint32_t First; // the smaller number
  uint32_t Second;
  uint32_t NumberOfSides; // segments of polygons, or pixel sides between valid pixels
};

/** The regions of a map with their final numbers, from 1 in the order of their first pixels. */
struct NumberedRegions
{
  std::vector<uint32_t> Numbers; // final number of each of the map's regions; 0 for regions that do not exist
  std::vector<Moments>  Sums;    // by final number; [0] is unused
};

/** The regions of a label map and their neighbours. */
struct LabelSummary
{
  std::vector<Moments>       Sums;        // by label; [0] is unused
  std::vector<RegionSummary> Regions;     // entry i is for label i + 1
  std::vector<Adjacency>     Adjacencies; // sorted by First, then Second
};

/** A map in its final form, with consecutive numbers that depend on the map only. */
struct MapSummary
{
  std::vector<CudaSnakePoint>    Nodes;   // sorted by Y, then X
  std::vector<CudaPartitionEdge> Edges;   // each from the smaller node to the larger one; sorted by Start, then End
  std::vector<RegionSummary>     Regions; // entry i is for region i + 1
};

/** Numbers the regions of a map from 1 in the order of their first pixels. Regions that contain no pixel centre come
 * last, in their order in the map.
 * \param firstPixels for each region of the map, the index of its first pixel, or None if it contains no pixel centre
 */
NumberedRegions
NumberRegions(const MapData & map, const std::vector<uint32_t> & firstPixels);

/** Returns the pairs of neighbours of a map, sorted by First, then Second. \param numbers final numbers of the map's
 * regions */
std::vector<Adjacency>
ListAdjacencies(const MapData & map, const std::vector<uint32_t> & numbers);

/** Sorts adjacencies by First, then Second. \param end above all numbers of regions */
void
SortAdjacencies(std::vector<Adjacency> & adjacencies, size_t end);

/** Adds the neighbours to the regions. \param adjacencies sorted */
void
AddNeighbors(const std::vector<Adjacency> & adjacencies, std::vector<RegionSummary> & regions);

MapSummary
SummarizeMap(const MapData & map, const NumberedRegions & regions, const std::vector<Adjacency> & adjacencies);

/** Returns the constant to add to a description because samples are in units of `step`; 0 for a known variance, whose
 * criterion is dimensionless. */
double
DescriptionOffset(const DescriptionModel & model, int64_t numberOfPixels, double step);

/** Returns the table of the regions of a label map or of a map of polygons, in the image's units; entry i is for region
 * i + 1. */
std::vector<CudaPartitionRegion>
MakeTable(const DescriptionModel &           model,
          std::vector<RegionSummary>         regions,
          const region::SamplesDescription & samples);

/** Returns the boundaries between regions. \param cost of one side in nats: MergeGainPerLength for a label map, the
 * model's cost of a segment for polygons */
std::vector<Boundary>
MakeBoundaries(double cost, const std::vector<Adjacency> & adjacencies);

/** Returns the description of a label map, whose boundaries cost as much as they do while labels merge. */
double
DescribeTable(const std::vector<CudaPartitionRegion> & table, const std::vector<Boundary> & boundaries);

/** Returns the region that each region belongs to after the first `merges` steps; entry i is for region i, and entry 0
 * is 0. */
std::vector<uint32_t>
FollowMergeTree(const CudaRegionPartitionResult & partition, size_t merges);

/** Returns the partition after these steps, with the rest of the tree. Regions keep the order of their smallest
 * numbers. */
CudaRegionPartitionResult
CutMergeTree(const CudaRegionPartitionResult & partition, size_t merges);
} // namespace itk::cuda::partition

#endif
