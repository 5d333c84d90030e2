// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaRegionSnakeTypes_h
#define itkCudaRegionSnakeTypes_h

#include "CudaFiltersExport.h"

#include <cstdint>
#include <ostream>
#include <vector>

namespace itk
{
/** \struct CudaSnakePoint
 * \brief A corner of pixels. Pixel (x, y) of the region that is segmented has the corners (x, y) to (x + 1, y + 1).
 * \ingroup CudaFilters
 */
struct CudaSnakePoint
{
  int32_t X;
  int32_t Y;
};

using CudaSnakePolygon = std::vector<CudaSnakePoint>;

/** \struct CudaRegionSnakeStep
 * \brief One entry of the record: the state after a change of the polygon.
 * \ingroup CudaFilters
 */
struct CudaRegionSnakeStep
{
  enum class Kind : uint32_t
  {
    Level,     // the first polygon of a level: the start, or that of the level above, scaled
    Iteration, // every node was tried once
    Insertion, // nodes were inserted
    Removal    // nodes were removed
  };
  Kind     What;
  uint32_t LevelExponent; // cells of 2^LevelExponent pixels a side
  uint32_t Step;          // distance of the moves that were tried, in cells
  uint32_t NumberOfNodes;
  int64_t  NumberOfPixels; // valid pixels inside
  double   Criterion;      // J
  double   Change;         // of J, by this entry's change
};

/** Name of the kind: "level", "iteration", "insertion" or "removal". */
CudaFilters_EXPORT const char *
CudaRegionSnakeStepName(CudaRegionSnakeStep::Kind kind);

/** \struct CudaRegionSnakeStatistics
 * \brief One region of the result.
 * \ingroup CudaFilters
 */
struct CudaRegionSnakeStatistics
{
  uint64_t NumberOfPixels{ 0 }; // valid ones
  // of the pixels; of their logarithm for the log-normal law, of ones and zeros with a threshold; 0 without pixels
  double Mean{ 0.0 };
  double MeanSquare{ 0.0 }; // of the same
  double Variance{ 0.0 };   // of the same
  // the exact sums of the integer samples that the law works with; squares only where the law needs them
  uint64_t Sum{ 0 };
  uint64_t SumOfSquares{ 0 };
};

/** Why the search stopped. */
enum class CudaRegionSnakeStop : uint8_t
{
  Converged,
  MaximumNumberOfIterations,
  MaximumNumberOfNodes, // not all edges could be divided
  RegionTooSmall,       // the start has fewer valid pixels inside or outside than MinimumRegionSize
  Aborted
};

extern CudaFilters_EXPORT std::ostream &
                          operator<<(std::ostream & out, const CudaRegionSnakeStop value);

/** \struct CudaRegionSnakeResult
 * \brief Polygon, statistics and history.
 * \ingroup CudaFilters
 */
struct CudaRegionSnakeResult
{
  // positive area in (X, Y); first vertex the smallest in (Y, X)
  CudaSnakePolygon                 Polygon;
  CudaRegionSnakeStatistics        Inside;
  CudaRegionSnakeStatistics        Outside;
  double                           Criterion{ 0.0 };            // J, in natural units
  double                           CriterionOfOneRegion{ 0.0 }; // J of the whole image
  double                           DescriptionLength{ 0.0 };    // J + k log N of the polygon
  bool                             SignificantBoundary{ false };
  CudaRegionSnakeStop              Stop{ CudaRegionSnakeStop::Converged };
  uint32_t                         NumberOfIterations{ 0 };
  std::vector<CudaRegionSnakeStep> Record;
  // seconds: conversion and checks of the input, sums, search of the start, moves, removal of nodes
  double SecondsOfSamples{ 0.0 };
  double SecondsOfSums{ 0.0 };
  double SecondsOfStart{ 0.0 };
  double SecondsOfMoves{ 0.0 };
  double SecondsOfRemoval{ 0.0 };
};
} // end namespace itk

#endif
