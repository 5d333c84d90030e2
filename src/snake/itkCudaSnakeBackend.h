// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaSnakeBackend_h
#define itkCudaSnakeBackend_h

#include "itkCudaDetailNames.h"
#include "itkCudaDetailRegionSnakeParameters.h"
#include "itkCudaRegionLaws.h"
#include "itkCudaSnakeControl.h"
#include "itkCudaSnakeRegion.h"

#include <cstdint>
#include <functional>
#include <vector>

namespace itk::cuda::snake
{
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
} // namespace itk::cuda::snake

#endif
