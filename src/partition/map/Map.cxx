// SPDX-License-Identifier: Apache-2.0
#include "partition/map/Map.h"
#include "itkMacro.h"
#include "partition/map/MapData.h"

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

namespace
{
/** Removes elements in place, keeping the order. Returns the new numbers of the remaining elements, and None for the
 * others. */
template <typename TElement, typename TFunction>
std::vector<uint32_t>
Squeeze(std::vector<TElement> & elements, const TFunction & stays)
{
  std::vector<uint32_t> numbers(elements.size(), None);
  uint32_t              number = 0;
  for (size_t i = 0; i < elements.size(); ++i)
  {
    if (stays(elements[i]))
    {
      numbers[i] = number;
      elements[number++] = elements[i];
    }
  }
  elements.resize(number);
  return numbers;
}
} // namespace

MapCounts
CountMap(const MapData & map)
{
  MapCounts            counts;
  std::vector<uint8_t> isInner(map.Nodes.size(), 0);
  for (const MapEdge & edge : map.Edges)
  {
    if (edge.IsAlive() && !edge.IsBorder())
    {
      ++counts.Segments;
      isInner[edge.Start] = isInner[edge.End] = 1;
    }
  }
  for (size_t i = 0; i < map.Nodes.size(); ++i)
  {
    counts.Nodes += isInner[i];
    counts.Junctions += map.Nodes[i].Degree > 2 ? 1 : 0;
  }
  for (const uint8_t isRegion : map.IsRegion)
  {
    counts.Regions += isRegion;
  }
  return counts;
}

double
DescribeMap(const MapData & map, const Model & model)
{
  double description = 0.0;
  for (size_t i = 1; i < map.Regions.size(); ++i)
  {
    description += map.IsRegion[i] != 0 ? model.Describe(map.Regions[i]) : 0.0;
  }
  size_t segments = 0;
  for (const MapEdge & edge : map.Edges)
  {
    segments += edge.IsAlive() && !edge.IsBorder() ? 1 : 0;
  }
  return description + model.SegmentCost * static_cast<double>(segments);
}

void
CompactMap(MapData & map)
{
  const auto nodes = Squeeze(map.Nodes, [](const MapNode & node) { return node.Degree > 0; });
  const auto edges = Squeeze(map.Edges, [](const MapEdge & edge) { return edge.IsAlive(); });
  for (MapEdge & edge : map.Edges)
  {
    edge.Start = nodes[edge.Start];
    edge.End = nodes[edge.End];
  }
  for (MapNode & node : map.Nodes)
  {
    for (uint32_t i = 0; i < node.Degree; ++i)
    {
      node.Edges[i] = edges[node.Edges[i]];
    }
  }
}
} // namespace itk::cuda::partition
