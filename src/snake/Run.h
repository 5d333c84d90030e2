// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_snake_Run_h
#define CudaFilters_snake_Run_h

#include "runtime/DetailNames.h"
#include "itkCudaDetailRegionSnakeEngine.h"
#include "region/Laws.h"
#include "snake/Control.h"
#include "snake/Core.h"
#include "region/Threads.h"
#include "snake/Image.h"

#include <chrono>
#include <cstdint>
#include <functional>
#include <vector>

namespace itk::cuda::snake
{
/** Seconds of a clock that is never set. */
inline double
GetSeconds()
{
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/** The result of a part of a run. */
struct SnakeOutcome
{
  CudaSnakePolygon                 Polygon; // in pixels, unless it was aborted
  Moments                          Sums;
  double                           Criterion{ 0.0 }; // in units of the samples
  std::vector<CudaRegionSnakeStep> Record;           // with `Criterion` in units of the samples
  uint32_t                         NumberOfIterations{ 0 };
  CudaRegionSnakeStop              Stop{ CudaRegionSnakeStop::Converged };
  double                           SecondsOfRemoval{ 0.0 };
};

/** \class SnakeBackend
 * \brief The work of the host or a device for one run. All backends give the same results, bit for bit.
 */
class SnakeBackend
{
public:
  using StepFunction = std::function<void(const CudaRegionSnakeState &)>;
  using ProgressFunction = std::function<bool(bool levelBegins)>;

  virtual ~SnakeBackend() = default;

  /** Sums of all pixels. */
  virtual Moments
  GetTotal() = 0;

  /** The plan that the functions below follow. */
  virtual void
  Begin(const SnakePlan & plan, const LawDescription & law) = 0;

  /** Sums of a polygon in cells of 2^exponent pixels, of a level of the plan. */
  virtual Moments
  SumPolygon(const CudaSnakePolygon & polygon, uint32_t exponent) = 0;

  /** On the coarsest level, the rectangle of the grid with the smallest J; empty if none has two regions of the minimum
   * size. */
  virtual CudaSnakePolygon
  SearchRectangle() = 0;

  /** Moves the polygon until the schedule ends. The polygon is given in cells of the level with that index in the plan.
   * `step`, if set, is called after every entry of the record. `progress` is called when a level begins, and often
   * enough in between that a run can be stopped at any time. It returns whether to go on. */
  virtual SnakeOutcome
  Run(const CudaSnakePolygon & start, int firstLevel, const StepFunction & step, const ProgressFunction & progress) = 0;

  /** Removes nodes of a polygon in pixels as long as that shortens the description. */
  virtual SnakeOutcome
  RunRemoval(const CudaSnakePolygon & start, const ProgressFunction & progress) = 0;
};

/** \struct SnakeRun
 * \brief A run of the snake on an image or on a rectangle of it: where it looks, where it starts, and its parameters.
 * The struct owns nothing.
 *
 * A run on a rectangle is a run on the image cut to it. The corners of the start and of the result count from the
 * rectangle's corner, J and N are those of its pixels, and levels and steps follow from its sides. Only the grid of the
 * samples is the whole image's. Integer images have the same grid when they are cut, except with the log-normal law,
 * and therefore the same result bit for bit.
 */
struct SnakeRun
{
  // NoiseLaw, NumberOfLooks and ForegroundThreshold are not looked at: they are the image's
  CudaRegionSnakeParameters Parameters;
  PixelRectangle            Rectangle;               // without pixels: the whole image
  const CudaSnakePolygon *  StartPolygon{ nullptr }; // at most one of the two starts
  const CudaImageView *     StartMask{ nullptr };    // UChar of the rectangle's size: the start is where it is not 0
  CudaRegionSnakeObserver   Observer;
};

/** Checks a run on the image, and returns the run's rectangle. \exception ExceptionObject naming what is out of range,
 * its value and what would be right */
PixelRectangle
CheckSnakeRun(const SnakeImage & image, const SnakeRun & run);

/** Runs the snake on a backend that was made for this image and the run's rectangle. The result's times leave out the
 * image's. \exception ExceptionObject if the rectangle has too few valid pixels, or the start has none */
CudaRegionSnakeResult
RunSnake(const SnakeImage & image, const SnakeRun & run, SnakeBackend & backend);

/** Runs the snake on the host. The result does not depend on the number of threads.
 * \exception ExceptionObject as CheckSnakeRun() and RunSnake() */
CudaRegionSnakeResult
RunOnHost(const HostSnakeImage & image, const SnakeRun & run, const Threads & threads);
} // namespace itk::cuda::snake

#endif
