// SPDX-License-Identifier: Apache-2.0
#include "itkCudaRegionSnakeEngine.h"

#include "itkCudaRegionSamples.h"
#include "itkCudaRegionThreads.h"
#include "itkCudaSnakeBackend.h"
#include "itkCudaSnakeHost.h"
#include "itkCudaSnakePlan.h"
#include "itkCudaSnakeStart.h"
#include "itkMacro.h"

#include <chrono>

namespace itk
{
namespace cuda::snake
{
namespace
{
double
SecondsNow()
{
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/** Where the snake begins: a polygon in cells of a level of the plan. */
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

/** The user's start on the coarsest level on which it is simple and has two regions.
 * \exception ExceptionObject if there is none. */
SnakeStart
PlaceUsersStart(const CudaRegionSnakeInput & input, const SnakePlan & plan, SnakeBackend & backend)
{
  const auto       width = static_cast<int32_t>(input.Image.Size[0]);
  const auto       height = static_cast<int32_t>(input.Image.Size[1]);
  const Moments    total = backend.GetTotal();
  CudaSnakePolygon checked;
  if (input.StartPolygon != nullptr)
  {
    checked = CheckStartPolygon(*input.StartPolygon, width, height, plan.MaximumNumberOfNodes);
  }
  Moments sums;
  for (int index = 0; index < plan.NumberOfLevels; ++index)
  {
    const uint32_t         exponent = plan.Exponent[index];
    const CudaSnakePolygon polygon = input.StartPolygon != nullptr
                                       ? SnapPolygon(checked, exponent, width >> exponent, height >> exponent)
                                       : TraceMask(*input.StartMask, exponent, plan.MaximumNumberOfNodes);
    sums = polygon.empty() ? Moments{} : backend.SumPolygon(polygon, exponent);
    if (!polygon.empty() && RegionsAreLargeEnough(sums, total, plan))
    {
      return { polygon, index };
    }
  }
  const char * name = input.StartPolygon != nullptr ? "The initial polygon" : "The initial mask";
  itkGenericExceptionMacro(<< name << " has " << sums.Count << " valid pixels inside and " << total.Count - sums.Count
                           << " outside; MinimumRegionSize is " << plan.MinimumRegionSize);
}

SnakeStart
FindStart(const CudaRegionSnakeInput &      input,
          const CudaRegionSnakeParameters & parameters,
          const SnakePlan &                 plan,
          SnakeBackend &                    backend)
{
  if (input.StartMask != nullptr || input.StartPolygon != nullptr)
  {
    return PlaceUsersStart(input, plan, backend);
  }
  SnakeStart start;
  if (parameters.Start == CudaFiltersEnums::Start::Automatic)
  {
    start.Polygon = backend.SearchRectangle();
  }
  if (start.Polygon.empty())
  {
    start.Polygon = MakeMarginRectangle(static_cast<int32_t>(input.Image.Size[0] >> plan.Exponent[0]),
                                        static_cast<int32_t>(input.Image.Size[1] >> plan.Exponent[0]));
  }
  return start;
}

/** Sets whether the boundary pays for its nodes. A polygon whose nodes were not removed is judged by what removal would
 * leave of it. */
void
JudgeSignificance(CudaRegionSnakeResult &                result,
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

/** An observer's step function that sees J in natural units. */
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
} // namespace

CudaRegionSnakeResult
RunRegionSnake(const CudaRegionSnakeInput &      input,
               const CudaRegionSnakeParameters & parameters,
               unsigned int                      numberOfThreads,
               const CudaRegionSnakeObserver &   observer,
               const SnakeBackendMaker &         makeBackend)
{
  CheckSnakeParameters(parameters);
  CheckSnakeInput(input);
  const Threads threads(numberOfThreads);

  const double         timeOfSamples = SecondsNow();
  const Samples        samples(input, parameters, threads);
  const SnakePlan      plan = MakeSnakePlan(parameters, samples.Width, samples.Height, samples.NumberOfValidPixels);
  const LawDescription law = MakeLawDescription(parameters, samples.NumberOfValidPixels);
  const double         timeOfSums = SecondsNow();
  const std::unique_ptr<SnakeBackend> backend = makeBackend(samples, plan, law);
  const Moments                       total = backend->GetTotal();
  const double                        timeOfStart = SecondsNow();
  const SnakeStart                    start = FindStart(input, parameters, plan, *backend);

  const double timeOfMoves = SecondsNow();
  const double criterionOffset = CriterionOffset(law, samples.Step);
  int          levelsBegun = 0;
  // Without a function there is no pause.
  SnakeBackend::ProgressFunction reportProgress;
  if (observer.Progress)
  {
    reportProgress = [&](bool levelBegins) {
      levelsBegun += levelBegins ? 1 : 0;
      return observer.Progress(static_cast<float>(levelsBegun) / static_cast<float>(plan.NumberOfLevels + 1));
    };
  }
  const SnakeOutcome outcome =
    backend->Run(start.Polygon, start.Level, InNaturalUnits(observer.Step, criterionOffset), reportProgress);
  const double timeOfEnd = SecondsNow();

  CudaRegionSnakeResult result;
  const double          criterionOfOneRegion = Criterion(law, total, total);
  result.Stop = outcome.Stop;
  if (result.Stop != CudaRegionSnakeStop::Aborted)
  {
    if (RegionsAreLargeEnough(outcome.Sums, total, plan))
    {
      JudgeSignificance(result, outcome, criterionOfOneRegion, plan, *backend, reportProgress);
    }
    else
    {
      result.Stop = CudaRegionSnakeStop::RegionTooSmall;
    }
  }
  result.Polygon = CanonicalPolygon(outcome.Polygon);
  result.Inside = MakeSnakeStatistics(outcome.Sums, samples, law.Law);
  result.Outside = MakeSnakeStatistics(total - outcome.Sums, samples, law.Law);
  result.Criterion = outcome.Criterion + criterionOffset;
  result.CriterionOfOneRegion = criterionOfOneRegion + criterionOffset;
  result.DescriptionLength = result.Criterion + plan.NodeCost * static_cast<double>(result.Polygon.size());
  result.NumberOfIterations = outcome.NumberOfIterations;
  result.Record = outcome.Record;
  for (CudaRegionSnakeStep & step : result.Record)
  {
    step.Criterion += criterionOffset;
  }
  result.SecondsOfSamples = timeOfSums - timeOfSamples;
  result.SecondsOfSums = timeOfStart - timeOfSums;
  result.SecondsOfStart = timeOfMoves - timeOfStart;
  result.SecondsOfRemoval = outcome.SecondsOfRemoval;
  result.SecondsOfMoves = timeOfEnd - timeOfMoves - outcome.SecondsOfRemoval;
  return result;
}
} // namespace cuda::snake

void
VerifyCudaRegionSnakeParameters(const CudaRegionSnakeParameters & parameters)
{
  cuda::snake::CheckSnakeParameters(parameters);
}

CudaRegionSnakeResult
CudaRegionSnakeOnHost(const CudaRegionSnakeInput &      input,
                      const CudaRegionSnakeParameters & parameters,
                      unsigned int                      numberOfThreads,
                      const CudaRegionSnakeObserver &   observer)
{
  const cuda::region::Threads threads(numberOfThreads);
  return cuda::snake::RunRegionSnake(input,
                                     parameters,
                                     numberOfThreads,
                                     observer,
                                     [&threads](const cuda::region::Samples &        samples,
                                                const cuda::snake::SnakePlan &       plan,
                                                const cuda::region::LawDescription & law) {
                                       return std::make_unique<cuda::snake::HostSnakeBackend>(
                                         samples, plan, law, threads);
                                     });
}
} // end namespace itk
