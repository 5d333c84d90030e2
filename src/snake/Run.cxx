// SPDX-License-Identifier: Apache-2.0
#include "snake/Run.h"
#include "region/Checks.h"
#include "snake/Plan.h"
#include "snake/Start.h"
#include "itkMacro.h"
#include "itkCudaDetailRegionSnakeEngine.h"
#include "snake/Group.h"

#include <sstream>

// Runs the snake on any backend: finds the start, runs the phases, and evaluates the significance of the result.

namespace itk::cuda::snake
{
namespace
{
/** The start of the snake: a polygon in the cells of a level of the plan. */
struct SnakeStart
{
  CudaSnakePolygon Polygon;
  int              Level{ 0 };
};

bool
RegionsAreLargeEnough(const Moments & sums, const Moments & total, const SnakePlan & plan)
{
  return sums.Count >= plan.MinimumRegionSize && total.Count - sums.Count >= plan.MinimumRegionSize;
}

/** Returns the user's start on the coarsest level on which it is simple and leaves two regions of the minimum size, or
 * on the level of pixels if the run starts there.
 * \exception TooFewPixels if there is no such level. */
SnakeStart
PlaceUserStart(const SnakeRun & run, const PixelRectangle & rectangle, const SnakePlan & plan, SnakeBackend & backend)
{
  const int32_t    width = rectangle.Width;
  const int32_t    height = rectangle.Height;
  const Moments    total = backend.GetTotal();
  CudaSnakePolygon checked;
  if (run.StartPolygon != nullptr)
  {
    checked = CheckStartPolygon(*run.StartPolygon, width, height, plan.MaximumNumberOfNodes);
  }
  Moments sums;
  for (int index = run.StartsOnPixels ? plan.NumberOfLevels - 1 : 0; index < plan.NumberOfLevels; ++index)
  {
    const uint32_t         exponent = plan.Exponent[index];
    const CudaSnakePolygon polygon = run.StartPolygon != nullptr
                                       ? SnapPolygon(checked, exponent, width >> exponent, height >> exponent)
                                       : TraceMask(*run.StartMask, exponent, plan.MaximumNumberOfNodes);
    sums = polygon.empty() ? Moments{} : backend.SumPolygon(polygon, exponent);
    if (!polygon.empty() && RegionsAreLargeEnough(sums, total, plan))
    {
      return { polygon, index };
    }
  }
  std::ostringstream message;
  message << (run.StartPolygon != nullptr ? "The initial polygon" : "The initial mask") << " has " << sums.Count
          << " valid pixels inside and " << total.Count - sums.Count << " outside; MinimumRegionSize is "
          << plan.MinimumRegionSize;
  throw TooFewPixels(__FILE__, __LINE__, message.str());
}

SnakeStart
FindStart(const SnakeRun & run, const PixelRectangle & rectangle, const SnakePlan & plan, SnakeBackend & backend)
{
  if (run.StartMask != nullptr || run.StartPolygon != nullptr)
  {
    return PlaceUserStart(run, rectangle, plan, backend);
  }
  SnakeStart start;
  if (run.Parameters.Start == CudaFiltersEnums::Start::Automatic)
  {
    start.Polygon = backend.SearchRectangle();
  }
  if (start.Polygon.empty())
  {
    start.Polygon = MakeMarginRectangle(rectangle.Width >> plan.Exponent[0], rectangle.Height >> plan.Exponent[0]);
  }
  return start;
}

/** Sets whether the boundary is significant, which means that its gain in J exceeds the cost of its nodes. If the run
 * did not include the removal of nodes and the boundary is not significant as it is, the polygon after removal is
 * judged. */
void
EvaluateSignificance(CudaRegionSnakeResult &                result,
                     const SnakeOutcome &                   outcome,
                     double                                 criterionOfOneRegion,
                     const SnakePlan &                      plan,
                     SnakeBackend &                         backend,
                     const SnakeBackend::ProgressFunction & progress)
{
  const auto pays = [&plan, criterionOfOneRegion](const SnakeOutcome & judged) {
    return criterionOfOneRegion > judged.Criterion + plan.NodeCost * static_cast<double>(judged.Polygon.size());
  };
  result.SignificantBoundary = pays(outcome);
  if (!result.SignificantBoundary && !plan.Removal)
  {
    const SnakeOutcome shortened = backend.RunRemoval(outcome.Polygon, progress);
    result.SignificantBoundary = pays(shortened);
    result.Stop = shortened.Stop == CudaRegionSnakeStop::Aborted ? shortened.Stop : result.Stop;
  }
}

/** Wraps an observer's step function so that it sees J in natural units instead of units of the samples. */
SnakeBackend::StepFunction
InNaturalUnits(const SnakeBackend::StepFunction & function, double criterionOffset)
{
  if (!function)
  {
    return {};
  }
  return [&function, criterionOffset](const CudaRegionSnakeState & state) {
    CudaRegionSnakeStep step = state.Step;
    step.Criterion += criterionOffset;
    function({ step, state.Polygon, state.Sum, state.SumOfSquares });
  };
}

/** Wraps an observer's progress function in the form that a backend calls. Returns an empty function if there is no
 * observer, so that the backend does not pause. */
SnakeBackend::ProgressFunction
CountLevels(const CudaRegionSnakeObserver & observer, const SnakePlan & plan, int & levelsBegun)
{
  if (!observer.Progress)
  {
    return {};
  }
  return [&observer, &plan, &levelsBegun](bool levelBegins) {
    levelsBegun += levelBegins ? 1 : 0;
    return observer.Progress(static_cast<float>(levelsBegun) / static_cast<float>(plan.NumberOfLevels + 1));
  };
}
} // namespace

PixelRectangle
CheckSnakeRun(const SnakeImage & image, const SnakeRun & run)
{
  CheckSnakeParameters(image.Complete(run.Parameters));
  const PixelRectangle whole = image.GetWhole();
  const PixelRectangle rectangle = run.Rectangle == PixelRectangle{} ? whole : run.Rectangle;
  const auto           isInside = [](int64_t first, int64_t length, int64_t side) {
    return first >= 0 && length > 0 && first + length <= side;
  };
  if (!isInside(rectangle.X, rectangle.Width, whole.Width) || !isInside(rectangle.Y, rectangle.Height, whole.Height))
  {
    itkGenericExceptionMacro("The rectangle has the corner (" << rectangle.X << ", " << rectangle.Y << ") and "
                                                              << rectangle.Width << " x " << rectangle.Height
                                                              << " pixels; it must have pixels and lie in the image of "
                                                              << whole.Width << " x " << whole.Height);
  }
  CheckSnakeStart(run.StartPolygon, run.StartMask, rectangle);
  return rectangle;
}

CudaRegionSnakeResult
RunSnake(const SnakeImage & image, const SnakeRun & run, SnakeBackend & backend)
{
  const PixelRectangle            rectangle = CheckSnakeRun(image, run);
  const CudaRegionSnakeParameters parameters = image.Complete(run.Parameters);
  const Moments                   total = backend.GetTotal();
  const auto                      validPixels = static_cast<size_t>(total.Count);
  const SnakePlan                 plan = MakeSnakePlan(parameters, rectangle.Width, rectangle.Height, validPixels);
  const LawDescription            law = MakeLawDescription(parameters, validPixels, image.GetSamples().SquaresWrap);
  backend.Begin(plan, law);
  const double     timeOfStart = GetSeconds();
  const SnakeStart start = FindStart(run, rectangle, plan, backend);

  const double                         timeOfMoves = GetSeconds();
  const double                         criterionOffset = CriterionOffset(law, image.GetSamples().Step);
  int                                  levelsBegun = 0;
  const SnakeBackend::ProgressFunction reportProgress = CountLevels(run.Observer, plan, levelsBegun);
  const SnakeOutcome                   outcome =
    backend.Run(start.Polygon, start.Level, InNaturalUnits(run.Observer.Step, criterionOffset), reportProgress);
  const double timeOfEnd = GetSeconds();

  CudaRegionSnakeResult result;
  const double          criterionOfOneRegion = Criterion(law, total, total);
  result.Stop = outcome.Stop;
  if (result.Stop != CudaRegionSnakeStop::Aborted)
  {
    if (RegionsAreLargeEnough(outcome.Sums, total, plan))
    {
      EvaluateSignificance(result, outcome, criterionOfOneRegion, plan, backend, reportProgress);
    }
    else
    {
      result.Stop = CudaRegionSnakeStop::RegionTooSmall;
    }
  }
  result.Polygon = CanonicalPolygon(outcome.Polygon);
  result.Inside = MakeStatistics(outcome.Sums, image.GetSamples(), law.Law);
  result.Outside = MakeStatistics(total - outcome.Sums, image.GetSamples(), law.Law);
  result.Criterion = outcome.Criterion + criterionOffset;
  result.CriterionOfOneRegion = criterionOfOneRegion + criterionOffset;
  result.DescriptionLength = result.Criterion + plan.NodeCost * static_cast<double>(result.Polygon.size());
  result.NumberOfIterations = outcome.NumberOfIterations;
  result.Record = outcome.Record;
  for (CudaRegionSnakeStep & step : result.Record)
  {
    step.Criterion += criterionOffset;
  }
  result.SecondsOfStart = timeOfMoves - timeOfStart;
  result.SecondsOfRemoval = outcome.SecondsOfRemoval;
  result.SecondsOfMoves = timeOfEnd - timeOfMoves - outcome.SecondsOfRemoval;
  return result;
}

Samples
MakeSamples(const CudaRegionSnakeInput & input, const CudaRegionSnakeParameters & parameters, const Threads & threads)
{
  CheckSnakeParameters(parameters);
  CheckImage(input.Image, input.ValidMask);
  return Samples(input, parameters, threads);
}
} // namespace itk::cuda::snake

namespace itk::CudaDetail
{
void
VerifyCudaRegionSnakeParameters(const CudaRegionSnakeParameters & parameters)
{
  cuda::snake::CheckSnakeParameters(parameters);
}
} // end namespace itk::CudaDetail
