// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaRegionPartitionTypes_h
#define itkCudaRegionPartitionTypes_h

#include "CudaFiltersExport.h"
#include "itkCudaRegionSnakeTypes.h"

#include <array>
#include <cstdint>
#include <ostream>
#include <vector>

namespace itk
{
/** \struct CudaPartitionEdge
 * \brief A straight piece of boundary between two regions, from one node to another.
 *
 * Left and Right are meant with x to the right and y upwards: the pixels at smaller x lie on the left of an edge that
 * points to larger y. Region 0 is the outside of the image.
 * \ingroup CudaFilters
 */
struct CudaPartitionEdge
{
  uint32_t Start; // index of a node
  uint32_t End;   // index of a node
  uint32_t Left;  // number of a region
  uint32_t Right; // number of a region
};

/** \struct CudaPartitionRegion
 * \brief One region of a partition: its pixels, their statistics, and its description.
 * \ingroup CudaFilters
 */
struct CudaPartitionRegion
{
  uint64_t NumberOfPixels{ 0 }; // valid pixels only
  double   Mean{ 0.0 }; // of the pixels; for the log-normal law of their logarithm, with a threshold of ones and zeros
  double   MeanSquare{ 0.0 }; // of the same values
  double   Variance{ 0.0 };   // of the same values
  double   Area{ 0.0 };       // of the polygon, in pixels
  double   Perimeter{ 0.0 };  // in pixels
  std::array<int32_t, 4> BoundingBox{
    { 0, 0, 0, 0 }
  };                                        // of the polygon: smallest x, y, largest x, y, as corners of pixels
  std::vector<uint32_t> Neighbors;          // numbers of regions, ascending
  double                Description{ 0.0 }; // in nats: likelihood, parameters and position, without the boundary
  uint64_t              Sum{ 0 };           // exact sums of the integer samples with which the law computes
  uint64_t              SumOfSquares{ 0 };  // only for laws that need it
};

/** \struct CudaPartitionMerge
 * \brief One step of the merge tree: region Second becomes part of region First, whose number is the smaller one.
 * \ingroup CudaFilters
 */
struct CudaPartitionMerge
{
  uint32_t First;  // number of the region that stays
  uint32_t Second; // number of the region that becomes part of it
  double   Change; // of the description, in nats
};

/** Why the search of a partition stopped. */
enum class CudaRegionPartitionStop : uint8_t
{
  Converged,
  MaximumNumberOfIterations,
  LabelsOnly, // the user requested no polygons
  Aborted
};

extern CudaFilters_EXPORT std::ostream &
                          operator<<(std::ostream & out, const CudaRegionPartitionStop value);

/** \struct CudaRegionPartitionResult
 * \brief A planar map: nodes at corners of pixels, edges between them, regions between the edges.
 * \ingroup CudaFilters
 */
struct CudaRegionPartitionResult
{
  std::vector<CudaSnakePoint>      Nodes;              // corners of pixels where edges meet or bend
  std::vector<CudaPartitionEdge>   Edges;              // boundaries between regions and at the border
  std::vector<CudaPartitionRegion> Regions;            // region number i + 1
  std::vector<CudaPartitionMerge>  Merges;             // down to one region, the pair of least change at a time
  double                           Description{ 0.0 }; // D, in nats
  double                           DescriptionOfOneRegion{ 0.0 };              // D of the image as one region
  double                           NumberOfLooks{ 1.0 };                       // as set or as estimated
  uint32_t                         NumberOfIterations{ 0 };                    // iterations on the polygons
  CudaRegionPartitionStop          Stop{ CudaRegionPartitionStop::Converged }; // why the search stopped
};
} // end namespace itk

#endif
