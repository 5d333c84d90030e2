// SPDX-License-Identifier: Apache-2.0
#include "itkCudaPartitionMap.h"

#include "itkCudaPartitionMapBuild.h"
#include "itkCudaPartitionMapVerify.h"

#include "itkMacro.h"

namespace itk::cuda::partition
{
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
  return SimplifyChains(refinement) && RemoveNodes(refinement) && MoveNodes(refinement, GetMoveRounds(isFirst)) &&
         RemoveNodes(refinement) && (!schedule.AllowMerging || MergeRegions(refinement));
}

CudaRegionPartitionStop
PlanarMap::Refine(const RefinementSchedule & schedule)
{
  RefinementPlan plan;
  plan.MinimumNumberOfPixels = m_MinimumNumberOfPixels;
  plan.ShuffleSeed = schedule.ShuffleSeed;
  plan.GoOn = schedule.GoOn;
  const CudaRegionPartitionStop stop = this->Iterate(schedule, plan);
  CompactMap(m_Map);
  return stop;
}

CudaRegionPartitionStop
PlanarMap::Iterate(const RefinementSchedule & schedule, const RefinementPlan & plan)
{
  Refinement refinement(m_Map, m_Pixels, m_Model, plan, m_Threads);
  const auto runIteration = [&](bool isFirst) {
    const bool isComplete = this->RunIteration(refinement, schedule, isFirst);
    this->VerifyInDebugBuilds();
    return isComplete;
  };
  return IterateRefinement(schedule, m_NumberOfIterations, runIteration, [this] { return this->GetDescription(); });
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
