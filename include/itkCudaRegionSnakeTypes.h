// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaRegionSnakeTypes_h
#define itkCudaRegionSnakeTypes_h

#include "CudaFiltersExport.h"

#include <cstddef>
#include <cstdint>
#include <ostream>
#include <vector>

namespace itk
{
/** \struct CudaSnakePoint
 * \brief A pixel corner. Pixel (x, y) of the segmented region has the corners (x, y) to (x + 1, y + 1).
 * \ingroup CudaFilters
 */
struct CudaSnakePoint
{
  int32_t X; // column
  int32_t Y; // row
};

/** The vertices of a polygon, in order; the last one is joined to the first. */
using CudaSnakePolygon = std::vector<CudaSnakePoint>;

/** \struct CudaRegionSnakeStep
 * \brief One entry of the record: the state after a change of the polygon.
 * \ingroup CudaFilters
 */
struct CudaRegionSnakeStep
{
  /** What an entry records. */
  enum class Kind : uint32_t
  {
    Level,     // the first polygon of a level: the start, or the polygon of the level above, scaled
    Iteration, // every node was tried once
    Insertion, // nodes were inserted
    Removal    // nodes were removed
  };
  Kind     What;           // what changed the polygon
  uint32_t LevelExponent;  // the level's cells have sides of 2^LevelExponent pixels
  uint32_t Step;           // distance of the tried moves, in cells
  uint32_t NumberOfNodes;  // of the polygon
  int64_t  NumberOfPixels; // valid pixels inside
  double   Criterion;      // J
  double   Change;         // difference of J that this entry's change made
};

/** Name of the kind: "level", "iteration", "insertion" or "removal". */
CudaFilters_EXPORT const char *
CudaRegionSnakeStepName(CudaRegionSnakeStep::Kind kind);

/** \struct CudaRegionSnakeStatistics
 * \brief Statistics of one region of the result.
 * \ingroup CudaFilters
 */
struct CudaRegionSnakeStatistics
{
  uint64_t NumberOfPixels{ 0 }; // valid pixels only
  // Statistics of the pixels; for the log-normal law of their logarithm, and with a threshold of ones and zeros. They
  // are 0 without pixels.
  double Mean{ 0.0 };
  double MeanSquare{ 0.0 };
  double Variance{ 0.0 };
  // Exact sums of the integer samples with which the law computes. Squares are summed only for laws that need them.
  uint64_t Sum{ 0 };
  uint64_t SumOfSquares{ 0 };     // modulo 2^64
  uint64_t SumOfSquaresHigh{ 0 }; // the sum divided by 2^64; 0 in images of less than 2^31 pixels
};

/** Why the search stopped. */
enum class CudaRegionSnakeStop : uint8_t
{
  Converged,
  MaximumNumberOfIterations,
  MaximumNumberOfNodes, // some edges could not be divided
  RegionTooSmall,       // the start has fewer valid pixels inside or outside than MinimumRegionSize
  Aborted
};

extern CudaFilters_EXPORT std::ostream &
                          operator<<(std::ostream & out, const CudaRegionSnakeStop value);

/** \struct CudaRegionSnakeResult
 * \brief Polygon, statistics and history of a segmentation.
 * \ingroup CudaFilters
 */
struct CudaRegionSnakeResult
{
  // The area is positive in (X, Y), and the first vertex is the smallest in (Y, X).
  CudaSnakePolygon                 Polygon;
  CudaRegionSnakeStatistics        Inside;                                 // of the valid pixels inside the polygon
  CudaRegionSnakeStatistics        Outside;                                // of the other valid pixels
  double                           Criterion{ 0.0 };                       // J, in nats
  double                           CriterionOfOneRegion{ 0.0 };            // J of the whole image
  double                           DescriptionLength{ 0.0 };               // J + k log N of the polygon
  bool                             SignificantBoundary{ false };           // two regions take fewer nats than one
  CudaRegionSnakeStop              Stop{ CudaRegionSnakeStop::Converged }; // why the search stopped
  uint32_t                         NumberOfIterations{ 0 };                // of all levels
  std::vector<CudaRegionSnakeStep> Record;                                 // one entry for each change
  // Times in seconds: conversion and checks of the input, sums, search for the start, moves, removal of nodes.
  double SecondsOfSamples{ 0.0 };
  double SecondsOfSums{ 0.0 };
  double SecondsOfStart{ 0.0 };
  double SecondsOfMoves{ 0.0 };
  double SecondsOfRemoval{ 0.0 };
};

/** \struct CudaRegionSnakeRegion
 * \brief One region of a segmentation of many: the result of its search, with the polygon in corners of the image's
 * pixels, and the window that the search saw.
 * \ingroup CudaFilters
 */
struct CudaRegionSnakeRegion : CudaRegionSnakeResult
{
  // First pixel and size of the window. Pixel (0, 0) is the first of the image.
  CudaSnakePoint WindowCorner{ 0, 0 };
  CudaSnakePoint WindowSize{ 0, 0 };
  uint32_t       StartLabel{ 0 };           // label of the start's pixels; 0 if the start is a polygon
  uint64_t       NumberOfHiddenPixels{ 0 }; // pixels of the region that have the label of another one
};

/** \struct CudaRegionSnakeOverlap
 * \brief Two regions that overlap, by their numbers, which begin at 0. Their common pixels have the label of the first,
 * except those of a third region with a lower number, whose label they have.
 * \ingroup CudaFilters
 */
struct CudaRegionSnakeOverlap
{
  size_t   First;          // the lower number
  size_t   Second;         // the higher number
  uint64_t NumberOfPixels; // that both regions have
};
} // end namespace itk

#endif
