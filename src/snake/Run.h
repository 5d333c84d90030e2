// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_snake_Run_h
#define CudaFilters_snake_Run_h

#include "runtime/DetailNames.h"
#include "itkCudaDetailRegionSnakeEngine.h"
#include "region/Laws.h"
#include "snake/Control.h"
#include "snake/Core.h"
#include "snake/Image.h"
#include "snake/Plan.h"

#include <chrono>
#include <cstdint>
#include <functional>
#include <vector>

namespace itk::cuda::snake
{
/** Returns the time of a monotonic clock in seconds. */
inline double
GetSeconds()
{
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/** The result of SnakeBackend::Run() or RunRemoval(). */
struct SnakeOutcome
{
  CudaSnakePolygon Polygon; // in pixels, unless the run was aborted: then in cells of the level that was reached
  Moments          Sums;
  double           Criterion{ 0.0 };       // in units of the samples
  std::vector<CudaRegionSnakeStep> Record; // with `Criterion` in units of the samples
  uint32_t                         NumberOfIterations{ 0 };
  CudaRegionSnakeStop              Stop{ CudaRegionSnakeStop::Converged };
  double                           SecondsOfRemoval{ 0.0 };
};

/** \class SnakeBackend
 * \brief Interface to the computations of one run, on the host or on a device. All backends give bit-identical
 * results.
 */
class SnakeBackend
{
public:
  using StepFunction = std::function<void(const CudaRegionSnakeState &)>;
  using ProgressFunction = std::function<bool(bool levelBegins)>;

  virtual ~SnakeBackend() = default;

  /** Returns the sums of all pixels. */
  virtual Moments
  GetTotal() = 0;

  /** Sets the plan and the law that the functions below use. */
  virtual void
  Begin(const SnakePlan & plan, const LawDescription & law) = 0;

  /** Returns the sums inside a polygon that is given in the cells of one of the plan's levels, of 2^exponent pixels a
   * side. */
  virtual Moments
  SumPolygon(const CudaSnakePolygon & polygon, uint32_t exponent) = 0;

  /** Returns the rectangle of the coarsest level's grid with the smallest J. It is empty if no rectangle leaves two
   * regions of the minimum size. */
  virtual CudaSnakePolygon
  SearchRectangle() = 0;

  /** Moves the polygon until the schedule ends. The polygon is given in cells of the plan's level with index
   * `firstLevel`. `step`, if set, is called after every entry of the record. `progress`, if set, is called when a
   * level begins, and often enough in between that a run can be stopped at any time. It returns whether to continue. */
  virtual SnakeOutcome
  Run(const CudaSnakePolygon & start, int firstLevel, const StepFunction & step, const ProgressFunction & progress) = 0;

  /** Removes nodes of a polygon, which is given in pixels, as long as that shortens the description. */
  virtual SnakeOutcome
  RunRemoval(const CudaSnakePolygon & start, const ProgressFunction & progress) = 0;
};

/** \struct SnakeRun
 * \brief The arguments of a run of the snake on an image or on a rectangle of it: the rectangle, the start and the
 * parameters. The struct owns nothing.
 *
 * A run on a rectangle is equivalent to a run on the image cropped to it. The corners of the start and of the result
 * are relative to the rectangle's corner, J and N are computed from its pixels, and levels and steps follow from its
 * sides. Only the samples are still quantised on the grid of the whole image. Cropping does not change the grid of an
 * integer image, except with the log-normal law, so the result is then bit-identical.
 */
struct SnakeRun
{
  // NoiseLaw, NumberOfLooks and ForegroundThreshold are ignored, because the image has them
  CudaRegionSnakeParameters Parameters;
  PixelRectangle            Rectangle;               // empty: the whole image
  const CudaSnakePolygon *  StartPolygon{ nullptr }; // at most one of the two starts
  const CudaImageView *     StartMask{ nullptr };    // UChar, of the rectangle's size; its nonzero pixels are the start
  CudaRegionSnakeObserver   Observer;
  bool                      StartsOnPixels{ false }; // skip the coarse levels, because the start is near the target
};

/** Checks a run on the image, and returns the run's rectangle. \exception ExceptionObject naming what is out of range,
 * its value and the valid range */
PixelRectangle
CheckSnakeRun(const SnakeImage & image, const SnakeRun & run);

/** Runs the snake on a backend that was made for this image and the run's rectangle. The result's times do not include
 * the preparation of the image. \exception TooFewPixels if the rectangle has too few valid pixels, or the start has not
 * enough of them inside or outside */
CudaRegionSnakeResult
RunSnake(const SnakeImage & image, const SnakeRun & run, SnakeBackend & backend);

/** Calls function(snakeRun) for a run on the rectangle, and returns its result in corners of the image's pixels. A
 * start without enough valid pixels in it or around it has the result RegionTooSmall and no polygon. */
template <typename TFunction>
CudaRegionSnakeResult
RunInWindow(const SnakeRun & run, const TFunction & function)
{
  CudaRegionSnakeResult result;
  try
  {
    result = function(run);
  }
  catch (const TooFewPixels &)
  {
    result.Stop = CudaRegionSnakeStop::RegionTooSmall;
  }
  for (CudaSnakePoint & point : result.Polygon)
  {
    point = { point.X + run.Rectangle.X, point.Y + run.Rectangle.Y };
  }
  return result;
}

/** Does a run on a prepared image by function(snakeRun); see RunInWindow(). */
template <typename TFunction>
CudaRegionSnakeResult
RunPrepared(const CudaPreparedSnakeRun & run, const TFunction & function)
{
  CudaSnakePolygon start = run.StartPolygon != nullptr ? *run.StartPolygon : CudaSnakePolygon{};
  for (CudaSnakePoint & point : start)
  {
    point = { point.X - run.WindowCorner.X, point.Y - run.WindowCorner.Y };
  }
  return RunInWindow({ run.Parameters,
                       { run.WindowCorner.X, run.WindowCorner.Y, run.WindowSize.X, run.WindowSize.Y },
                       run.StartPolygon != nullptr ? &start : nullptr,
                       nullptr,
                       run.Observer,
                       run.StartsOnPixels },
                     function);
}
} // namespace itk::cuda::snake

#endif
