// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaPartitionSummary_h
#define itkCudaPartitionSummary_h

#include "itkCudaPartitionMapData.h"
#include "itkCudaRegionPartitionTypes.h"
#include "itkCudaRegionThreads.h"

#include <cstdint>
#include <vector>

namespace itk::cuda::partition
{
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
} // namespace itk::cuda::partition

#endif
