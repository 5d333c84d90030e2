// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_partition_refine_MapRefinement_h
#define CudaFilters_partition_refine_MapRefinement_h

#include "itkCudaRegionPartitionTypes.h"
#include "partition/map/BuildMap.h"
#include "partition/refine/ChainSimplifier.h"
#include "partition/refine/MapMerges.h"
#include "partition/map/ExecutorMap.h"
#include "partition/refine/NodeRounds.h"
#include "partition/map/MapRaster.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

namespace itk::cuda::partition
{
/** The phases to run and their stop conditions. */
struct RefinementSchedule
{
  unsigned int MaximumNumberOfIterations{ 12 };
  bool         AllowMerging{ true };

  /** Called between rounds; returning false ends the run as soon as the map is consistent. */
  GoOnFunction GoOn;
  /** Called after each iteration with its number, from 1. */
  std::function<void(unsigned int)> AfterIteration;
};

/** Maximum number of chain vertices whose chord costs are in memory at a time; enough to occupy all threads of a
 * device. */
constexpr size_t MaximumVerticesOfPart = size_t{ 1 } << 20;

namespace functors
{
/** Counts of a map's regions and segments. */
struct MapTotals
{
  uint32_t Regions;
  uint32_t Segments;
};

/** Describes the regions, and counts regions and segments. The totals are stored after the descriptions, so that the
 * host waits only once. */
template <typename TAtomics>
struct DescribeMap
{
  MapRound Round;
  double * Descriptions;
  size_t   NumberOfRegions;
  size_t   NumberOfEdges;

  static_assert(sizeof(MapTotals) == sizeof(double), "They take the place of a description");

  size_t
  GetNumber() const
  {
    return NumberOfRegions > NumberOfEdges ? NumberOfRegions : NumberOfEdges;
  }
  ITK_CUDA_HOST_DEVICE void
  operator()(size_t i) const
  {
    auto & totals = *reinterpret_cast<MapTotals *>(Descriptions + NumberOfRegions);
    if (i < NumberOfRegions)
    {
      const bool exists = Round.IsRegion[i] != 0;
      Descriptions[i] = exists ? Round.Model.Describe(Round.Regions[i]) : 0.0;
      if (exists)
      {
        TAtomics::WarpAggregatedIncrement(totals.Regions);
      }
    }
    if (i < NumberOfEdges && Round.Edges[i].IsAlive() && !Round.Edges[i].IsBorder())
    {
      TAtomics::WarpAggregatedIncrement(totals.Segments);
    }
  }
};
} // namespace functors

/** \class MapRefinement
 * \brief Makes the boundaries of a label map polygons that neighbouring regions share, and refines them until no change
 * lowers the description length.
 *
 * The method is the active grid of Galland, Bertaux and Refregier (IEEE Transactions on Image Processing 12, 2003),
 * with dynamic programming along boundaries, starting from any label map.
 *
 * The executor also provides the image: VisitEdgeIntegrator(function) calls function(integrator), where
 * integrator.SumEdge(p, q) returns the contribution of an edge.
 */
template <typename TExecutor>
class MapRefinement
{
public:
  template <typename T>
  using Array = typename TExecutor::template Array<T>;
  using Atomics = typename TExecutor::Atomics;

  /** \param maximumVerticesOfPart maximum number of chain nodes whose chord costs are in memory at a time */
  MapRefinement(const TExecutor &        executor,
                const DescriptionModel & model,
                uint64_t                 minimumNumberOfPixels,
                int32_t                  width,
                int32_t                  height,
                size_t                   maximumVerticesOfPart = MaximumVerticesOfPart)
    : m_Executor(executor)
    , m_MaximumVerticesOfPart(maximumVerticesOfPart)
    , m_Map(executor, model, minimumNumberOfPixels, width, height)
  {}

  /** Builds the initial map from labels in executor memory; entry 0 of the regions has no samples.
   * \exception ExceptionObject as BuildMap()
   */
  void
  StartFrom(Array<uint32_t> labels, Array<Moments> regions, size_t numberOfRegions)
  {
    BuildMap(m_Map, labels.Get());
    m_Map.SetRegions(std::move(regions), numberOfRegions + 1);
  }

  CudaRegionPartitionStop
  Refine(const RefinementSchedule & schedule)
  {
    const CudaRegionPartitionStop stop = this->Iterate(schedule);
    m_Map.Compact();
    return stop;
  }

  uint32_t
  GetNumberOfIterations() const
  {
    return m_NumberOfIterations;
  }
  /** Returns the description length D of the map after the last iteration. GetNumberOfRegions() refers to the same
   * state. */
  double
  GetDescription() const
  {
    return m_Description;
  }
  size_t
  GetNumberOfRegions() const
  {
    return m_NumberOfRegions;
  }

  /** Copies the map to the host. */
  MapData
  Download() const
  {
    const MapRound round = m_Map.GetRound(0);
    MapData        map;
    map.Width = round.Width;
    map.Height = round.Height;
    map.Nodes.resize(m_Map.GetNumberOfNodes());
    map.Edges.resize(m_Map.GetNumberOfEdges());
    map.Regions.resize(m_Map.GetNumberOfRegions());
    map.IsRegion.resize(m_Map.GetNumberOfRegions());
    m_Executor.Download(round.Nodes, map.Nodes.size(), map.Nodes.data());
    m_Executor.Download(round.Edges, map.Edges.size(), map.Edges.data());
    m_Executor.Download(round.Regions, map.Regions.size(), map.Regions.data());
    m_Executor.Download(round.IsRegion, map.IsRegion.size(), map.IsRegion.data());
    return map;
  }

  const ExecutorMap<TExecutor> &
  GetMap() const
  {
    return m_Map;
  }

private:
  const TExecutor &      m_Executor;
  const size_t           m_MaximumVerticesOfPart;
  ExecutorMap<TExecutor> m_Map;
  KeptSums<TExecutor>    m_KeptSums;
  uint32_t               m_NumberOfIterations{ 0 };
  double                 m_Description{ 0.0 };
  size_t                 m_NumberOfRegions{ 0 };

  /** Iterates until an iteration lowers the description by less than one nat. */
  CudaRegionPartitionStop
  Iterate(const RefinementSchedule & schedule)
  {
    constexpr double gainOfLastIteration = 1.0;
    double           last = std::numeric_limits<double>::infinity();
    for (unsigned int i = 0; i < schedule.MaximumNumberOfIterations; ++i)
    {
      const bool isComplete = this->RunIteration(schedule, i == 0);
      this->Describe();
      if (!isComplete)
      {
        return CudaRegionPartitionStop::Aborted;
      }
      m_NumberOfIterations = i + 1;
      if (schedule.AfterIteration)
      {
        schedule.AfterIteration(i + 1);
      }
      if (last - m_Description < gainOfLastIteration)
      {
        return CudaRegionPartitionStop::Converged;
      }
      last = m_Description;
    }
    return CudaRegionPartitionStop::MaximumNumberOfIterations;
  }

  bool
  RunIteration(const RefinementSchedule & schedule, bool isFirst)
  {
    // Few rounds of moves in the first iteration, because merges will still change much; later until nothing moves,
    // which mostly takes fewer.
    const size_t roundsOfMoves = isFirst ? 6 : 40;
    const auto & goOn = schedule.GoOn;
    return ChainSimplifier<TExecutor>(m_Map, m_MaximumVerticesOfPart).Run(goOn) && this->RemoveNodes(goOn) &&
           NodeRounds<TExecutor, Move>(m_Map, m_KeptSums).Run(roundsOfMoves, goOn) && this->RemoveNodes(goOn) &&
           (!schedule.AllowMerging || MapMerges<TExecutor>(m_Map).Run(goOn));
  }
  bool
  RemoveNodes(const GoOnFunction & goOn)
  {
    return NodeRounds<TExecutor, Removal>(m_Map, m_KeptSums).Run(m_Map.GetNumberOfNodes() + 1, goOn);
  }

  /** Computes the description, and counts the regions. The descriptions are summed in the order of the regions. */
  void
  Describe()
  {
    const size_t        regions = m_Map.GetNumberOfRegions();
    const auto          ofRegions = m_Executor.template Allocate<double>(regions + 1);
    std::vector<double> descriptions(regions + 1);
    m_Executor.Fill(ofRegions.Get() + regions, 1, 0);
    const functors::DescribeMap<Atomics> describe{
      m_Map.GetRound(0), ofRegions.Get(), regions, m_Map.GetNumberOfEdges()
    };
    m_Executor.ParallelFor(describe.GetNumber(), describe);
    m_Executor.Download(ofRegions.Get(), descriptions.size(), descriptions.data());
    functors::MapTotals counts{};
    memcpy(&counts, &descriptions.back(), sizeof(counts));
    descriptions.pop_back();
    m_NumberOfRegions = counts.Regions;
    m_Description = std::accumulate(descriptions.begin() + 1, descriptions.end(), 0.0) +
                    m_Map.GetModel().SegmentCost * static_cast<double>(counts.Segments);
  }
};

/** Returns the executor memory in bytes of a MapRefinement that starts with a number of nodes. */
inline size_t
GetMapRefinementBytes(size_t nodes, size_t pixels, size_t maximumVerticesOfPart)
{
  // At first, a map has hardly more edges than nodes, and its chains hardly more vertices.
  constexpr size_t perNode = sizeof(MapNode) + sizeof(MapEdge) + sizeof(MapLine) + 2 * sizeof(uint64_t) +
                             sizeof(ChainState) / 2 + 7 * sizeof(uint32_t) + sizeof(ListedPiece) +
                             sizeof(LatticePoint) + sizeof(Moments) + 4;
  constexpr size_t perPixelOfBuild = 2 * sizeof(uint32_t);  // labels, numbers of nodes
  constexpr size_t perPixelOfRaster = 3 * sizeof(uint32_t); // marks, marked pixels, labels
  constexpr size_t perNodeThatMoves =
    functors::MoveArrays::EdgesOfNode * sizeof(Moments) + NumberOfCandidates * (sizeof(double) + sizeof(uint32_t));
  const size_t verticesOfGrid = 2 * std::min(nodes, MaximumEdgesOfChainGrid);
  const size_t ofChords =
    std::max(std::min(nodes, maximumVerticesOfPart), verticesOfGrid) * ChainWindow * sizeof(double);
  const size_t ofMoves = std::min(nodes / 8, MaximumNodesOfPart) * perNodeThatMoves; // most nodes go before any move
  return std::max({ pixels * perPixelOfRaster,
                    pixels * perPixelOfBuild + nodes * perNode,
                    nodes * perNode + std::max(ofChords, ofMoves) });
}
} // namespace itk::cuda::partition

#endif
