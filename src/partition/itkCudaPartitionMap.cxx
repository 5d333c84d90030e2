// SPDX-License-Identifier: Apache-2.0
#include "itkCudaPartitionMap.h"

#include "itkCudaPartitionMapBuild.h"
#include "itkCudaPartitionMapVerify.h"

#include "itkMacro.h"

#include <limits>

namespace itk::cuda::partition
{
namespace
{
// Rounds of moves: few while merges will change much, later until nothing moves, which takes fewer.
constexpr int RoundsOfFirstIteration = 6;
constexpr int RoundsOfLaterIterations = 40;

/** An iteration that lowers the description by fewer nats is the last. */
constexpr double GainOfLastIteration = 1.0;
} // namespace

PlanarMap::PlanarMap(const LabelMap &        labels,
                     const region::Level &   pixels,
                     const Model &           model,
                     uint64_t                minimumNumberOfPixels,
                     const region::Threads & threads)
  : m_Pixels(pixels)
  , m_Model(model)
  , m_MinimumNumberOfPixels(minimumNumberOfPixels)
  , m_Threads(threads)
  , m_Map(BuildMap(labels, pixels, threads))
{
  this->VerifyInDebugBuilds();
}

bool
PlanarMap::RunIteration(Refinement & refinement, const RefinementSchedule & schedule, bool isFirst)
{
  return SimplifyChains(refinement) && RemoveNodes(refinement) &&
         MoveNodes(refinement, isFirst ? RoundsOfFirstIteration : RoundsOfLaterIterations) && RemoveNodes(refinement) &&
         (!schedule.AllowMerging || MergeRegions(refinement));
}

CudaRegionPartitionStop
PlanarMap::Refine(const RefinementSchedule & schedule)
{
  RefinementPlan plan;
  plan.MinimumNumberOfPixels = m_MinimumNumberOfPixels;
  plan.ShuffleSeed = schedule.ShuffleSeed;
  plan.GoOn = schedule.GoOn;
  plan.Gains = schedule.Gains;
  const CudaRegionPartitionStop stop = this->Iterate(schedule, plan);
  CompactMap(m_Map);
  return stop;
}

CudaRegionPartitionStop
PlanarMap::Iterate(const RefinementSchedule & schedule, const RefinementPlan & plan)
{
  Refinement refinement(m_Map, m_Pixels, m_Model, plan, m_Threads);
  double     last = std::numeric_limits<double>::infinity();
  for (unsigned int i = 0; i < schedule.MaximumNumberOfIterations; ++i)
  {
    const bool isComplete = this->RunIteration(refinement, schedule, i == 0);
    this->VerifyInDebugBuilds();
    if (!isComplete)
    {
      return CudaRegionPartitionStop::Aborted;
    }
    m_NumberOfIterations = i + 1;
    if (schedule.AfterIteration)
    {
      schedule.AfterIteration(i + 1);
    }
    const double description = this->GetDescription();
    if (last - description < GainOfLastIteration)
    {
      return CudaRegionPartitionStop::Converged;
    }
    last = description;
  }
  return CudaRegionPartitionStop::MaximumNumberOfIterations;
}

std::string
PlanarMap::Verify() const
{
  return VerifyMap(m_Map, m_Pixels);
}

void
PlanarMap::VerifyInDebugBuilds() const
{
#ifndef NDEBUG
  const std::string error = this->Verify();
  if (!error.empty())
  {
    itkGenericExceptionMacro("the map of a partition is inconsistent: " << error);
  }
#endif
}
} // namespace itk::cuda::partition
