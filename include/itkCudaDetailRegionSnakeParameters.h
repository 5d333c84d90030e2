// SPDX-License-Identifier: Apache-2.0
// Internal: templates need it, programs do not. Names in itk::CudaDetail may change in any version.
#ifndef itkCudaDetailRegionSnakeParameters_h
#define itkCudaDetailRegionSnakeParameters_h

#include "itkCudaDetailImageView.h"
#include "itkCudaRegionSnakeTypes.h"

#include <array>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>

namespace itk::CudaDetail
{
/** All parameters of the snake; see CudaRegionSnakeImageFilter for their meaning. */
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

/** The image to segment, and optionally where to look and where to start. The struct owns nothing. */
struct CudaRegionSnakeInput
{
  CudaImageView            Image;                   // UChar, UShort, Short or Float; two axes, one component
  std::array<int64_t, 2>   FirstIndex{ { 0, 0 } };  // index of the first pixel, for messages
  const CudaImageView *    ValidMask{ nullptr };    // UChar of the image's size: pixels that are not 0 are valid
  const CudaSnakePolygon * StartPolygon{ nullptr }; // at most one of the two starts
  const CudaImageView *    StartMask{ nullptr };    // UChar of the image's size: the start is where it is not 0
};

/** The polygon of a level and its sums, as an observer sees them. */
struct CudaRegionSnakeState
{
  const CudaRegionSnakeStep & Step;
  const CudaSnakePolygon &    Polygon; // corners of the level's cells
  uint64_t                    Sum;
  uint64_t                    SumOfSquares;
};

/** Called from the thread that runs the engine. No call changes the result. */
struct CudaRegionSnakeObserver
{
  /** Called after every entry of the record. Attach it only if needed: it copies the polygon to the host each time. */
  std::function<void(const CudaRegionSnakeState &)> Step;
  /** Called with the share of the work done, about ten times a second and at each new level (ReportsLevels). Returns
   * whether to go on. */
  std::function<bool(float)> Progress;
  /** Whether Progress is called at new levels too. On the device each such call is a launch of its own. */
  bool ReportsLevels{ true };
};
} // end namespace itk::CudaDetail

#endif
