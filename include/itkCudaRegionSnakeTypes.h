// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaRegionSnakeTypes_h
#define itkCudaRegionSnakeTypes_h

#include "CudaFiltersExport.h"
#include "itkCudaFiltersEnums.h"
#include "itkCudaImageView.h"

#include <array>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
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

/** \struct CudaRegionSnakeParameters
 * \brief All parameters of the snake; see CudaRegionSnakeImageFilter for their meaning.
 * \ingroup CudaFilters
 */
struct CudaRegionSnakeParameters
{
  std::optional<CudaFiltersEnums::NoiseLaw> NoiseLaw; // has to be set
  CudaFiltersEnums::Schedule                Schedule{ CudaFiltersEnums::Schedule::CoarseToFine };
  CudaFiltersEnums::Start                   Start{ CudaFiltersEnums::Start::Automatic };
  double                                    NumberOfLooks{ 1.0 };
  // Bernoulli: pixels above it are 1; NaN: the image holds 0 and one other value
  double   ForegroundThreshold{ std::numeric_limits<double>::quiet_NaN() };
  unsigned MaximumStep{ 32 };
  double   MinimumEdgeLength{ 32.0 };
  double   MinimumGain{ 1e-6 };
  bool     UseDescriptionLength{ true };
  unsigned MaximumNumberOfNodes{ 4096 };
  unsigned MaximumNumberOfIterations{ 10000 };
  uint64_t MinimumRegionSize{ 16 };
};

/** \struct CudaRegionSnakeInput
 * \brief What is segmented: an image, and optionally where to look and where to start. Nothing is owned.
 * \ingroup CudaFilters
 */
struct CudaRegionSnakeInput
{
  CudaImageView            Image;                   // UChar, UShort, Short or Float; two axes, one component
  std::array<int64_t, 2>   FirstIndex{ { 0, 0 } };  // index of the first pixel, for messages
  const CudaImageView *    ValidMask{ nullptr };    // UChar of the image's size: pixels that are not 0 are valid
  const CudaSnakePolygon * StartPolygon{ nullptr }; // at most one of the two starts
  const CudaImageView *    StartMask{ nullptr };    // UChar of the image's size: the start is where it is not 0
};

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
  double   Mean{ 0.0 };         // of the pixels; of their logarithm for the log-normal law; 0 without pixels
  double   MeanSquare{ 0.0 };   // of the same
  double   Variance{ 0.0 };     // of the same
  // the exact sums of the integer samples that the law works with; squares only where the law needs them
  uint64_t Sum{ 0 };
  uint64_t SumOfSquares{ 0 };
};

/** Why the snake stopped. */
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

/** \struct CudaRegionSnakeState
 * \brief The polygon of a level and its sums, as an observer sees them.
 * \ingroup CudaFilters
 */
struct CudaRegionSnakeState
{
  const CudaRegionSnakeStep & Step;
  const CudaSnakePolygon &    Polygon; // corners of the level's cells
  uint64_t                    Sum;
  uint64_t                    SumOfSquares;
};

/** \struct CudaRegionSnakeObserver
 * \brief Called from the thread that runs the engine. No call changes the result.
 * \ingroup CudaFilters
 */
struct CudaRegionSnakeObserver
{
  /** After every entry of the record; attach it only if needed, since it brings the polygon to the host each time. */
  std::function<void(const CudaRegionSnakeState &)> Step;
  /** At level changes, with the share of the work done, and in between about ten times a second. Returns whether to go
   * on. */
  std::function<bool(float)> Progress;
};
} // end namespace itk

#endif
