// SPDX-License-Identifier: Apache-2.0
#include "itkCudaRegionSnakeEngine.h"

#include "itkCudaSnakeHost.h"
#include "itkCudaSnakePlan.h"
#include "itkCudaSnakeSamples.h"
#include "itkCudaSnakeStart.h"
#include "itkCudaSnakeTables.h"
#include "itkMacro.h"

#include <chrono>

namespace itk
{
namespace cuda
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
PlaceUsersStart(const CudaRegionSnakeInput & input,
                const SnakePlan &            plan,
                const SnakeTables &          tables,
                const char *                 name)
{
  const auto width = static_cast<int32_t>(input.Image.Size[0]);
  const auto height = static_cast<int32_t>(input.Image.Size[1]);
  Moments    sums;
  for (int index = 0; index < plan.NumberOfLevels; ++index)
  {
    const SnakeLevel & level = tables.GetLevel(plan.Exponent[index]);
    CudaSnakePolygon   polygon;
    if (input.StartMask != nullptr)
    {
      polygon = TraceMask(*input.StartMask, level.Exponent, plan.MaximumNumberOfNodes);
    }
    else
    {
      polygon = CheckStartPolygon(*input.StartPolygon, width, height, plan.MaximumNumberOfNodes);
      polygon = SnapPolygon(polygon, level.Exponent, level.Width, level.Height);
    }
    sums = polygon.empty() ? Moments{} : SumPolygon(level, polygon);
    if (!polygon.empty() && RegionsAreLargeEnough(sums, tables.GetTotal(), plan))
    {
      return { polygon, index };
    }
  }
  itkGenericExceptionMacro(<< name << " has " << sums.Count << " valid pixels inside and "
                           << tables.GetTotal().Count - sums.Count << " outside; MinimumRegionSize is "
                           << plan.MinimumRegionSize);
}

SnakeStart
FindStart(const CudaRegionSnakeInput &      input,
          const CudaRegionSnakeParameters & parameters,
          const SnakePlan &                 plan,
          const LawDescription &            law,
          const SnakeTables &               tables,
          const SnakeThreads &              threads)
{
  if (input.StartMask != nullptr)
  {
    return PlaceUsersStart(input, plan, tables, "The initial mask");
  }
  if (input.StartPolygon != nullptr)
  {
    return PlaceUsersStart(input, plan, tables, "The initial polygon");
  }
  const SnakeLevel & level = tables.GetLevel(plan.Exponent[0]);
  if (parameters.Start == CudaFiltersEnums::Start::MarginRectangle)
  {
    return { MakeMarginRectangle(level.Width, level.Height), 0 };
  }
  return { SearchRectangleOnHost(level, law, tables.GetTotal(), plan.MinimumRegionSize, threads), 0 };
}

/** Whether the boundary pays for its nodes. A polygon whose nodes were not removed is judged by what removal would
 * leave of it. */
bool
IsSignificant(const CudaRegionSnakeResult & result,
              const SnakePlan &             plan,
              const LawDescription &        law,
              double                        criterionOffset,
              const SnakeTables &           tables,
              const SnakeThreads &          threads)
{
  if (result.CriterionOfOneRegion > result.DescriptionLength || plan.Removal)
  {
    return result.CriterionOfOneRegion > result.DescriptionLength;
  }
  HostSnake snake(plan, law, criterionOffset, tables, threads);
  snake.RunRemoval(result.Polygon);
  const double length = snake.GetCriterion() + plan.NodeCost * static_cast<double>(snake.GetPolygon().size());
  return result.CriterionOfOneRegion - criterionOffset > length;
}
} // namespace
} // namespace cuda

CudaRegionSnakeResult
CudaRegionSnakeOnHost(const CudaRegionSnakeInput &      input,
                      const CudaRegionSnakeParameters & parameters,
                      unsigned int                      numberOfThreads,
                      const CudaRegionSnakeObserver &   observer)
{
  cuda::CheckSnakeParameters(parameters);
  cuda::CheckSnakeInput(input);
  const cuda::SnakeThreads threads(numberOfThreads);

  CudaRegionSnakeResult    result;
  const double             t0 = cuda::SecondsNow();
  const cuda::SnakeSamples samples(input, parameters, threads);
  const cuda::SnakePlan    plan =
    cuda::MakeSnakePlan(parameters, samples.Width, samples.Height, samples.NumberOfValidPixels);
  const cuda::LawDescription law = cuda::MakeLawDescription(parameters, samples.NumberOfValidPixels);
  const double               criterionOffset = cuda::CriterionOffset(law, samples.Step);

  const double            t1 = cuda::SecondsNow();
  const cuda::SnakeTables tables(samples, cuda::UsesSquares(law.Law), plan.Exponent[0], threads);

  const double           t2 = cuda::SecondsNow();
  const cuda::SnakeStart start = cuda::FindStart(input, parameters, plan, law, tables, threads);

  const double    t3 = cuda::SecondsNow();
  cuda::HostSnake snake(plan, law, criterionOffset, tables, threads);
  snake.SetStepFunction(observer.Step);
  int levelsBegun = 0;
  snake.SetLevelFunction([&]() {
    ++levelsBegun;
    return !observer.Progress ||
           observer.Progress(static_cast<float>(levelsBegun) / static_cast<float>(plan.NumberOfLevels + 1));
  });
  snake.Run(start.Polygon, start.Level);
  const double t4 = cuda::SecondsNow();

  const cuda::Moments total = tables.GetTotal();
  const cuda::Moments sums = snake.GetSums();
  result.Polygon = snake.GetPolygon();
  result.Stop = snake.GetStop();
  result.Criterion = snake.GetCriterion() + criterionOffset;
  result.CriterionOfOneRegion = cuda::Criterion(law, total, total) + criterionOffset;
  result.DescriptionLength = result.Criterion + plan.NodeCost * static_cast<double>(result.Polygon.size());
  result.NumberOfIterations = snake.GetNumberOfIterations();
  result.Record = snake.GetRecord();
  result.Inside = cuda::MakeSnakeStatistics(sums, samples, law.Law);
  result.Outside = cuda::MakeSnakeStatistics(total - sums, samples, law.Law);
  if (!cuda::RegionsAreLargeEnough(sums, total, plan))
  {
    result.Stop = CudaRegionSnakeStop::RegionTooSmall;
  }
  else if (result.Stop != CudaRegionSnakeStop::Aborted)
  {
    result.SignificantBoundary = cuda::IsSignificant(result, plan, law, criterionOffset, tables, threads);
  }
  result.Polygon = cuda::CanonicalPolygon(result.Polygon);

  result.SecondsOfSamples = t1 - t0;
  result.SecondsOfSums = t2 - t1;
  result.SecondsOfStart = t3 - t2;
  result.SecondsOfRemoval = snake.GetTimeOfRemoval() > 0.0 ? t4 - snake.GetTimeOfRemoval() : 0.0;
  result.SecondsOfMoves = t4 - t3 - result.SecondsOfRemoval;
  return result;
}
} // end namespace itk
