// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_partition_map_ExecutorMap_h
#define CudaFilters_partition_map_ExecutorMap_h

#include "runtime/HostDevice.h"
#include "executor/Executor.h"
#include "partition/map/EdgeGrid.h"
#include "partition/map/MapData.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <utility>

// The planar map in executor memory, and the state that the work items of a refinement round share.
namespace itk::cuda::partition
{
/** Number of rounds between two reads of the counters by the host, with one launch per loop (batch) and in one
 * cooperative launch (grid). Rounds after convergence change nothing. */
constexpr uint32_t RoundsOfBatch = 4;
constexpr uint32_t RoundsOfGrid = 32;

/** Returns whether to go on; may be empty. */
using GoOnFunction = std::function<bool()>;

/** Counters of one round, which its work items increment. */
struct MapRoundCounters
{
  uint32_t Work;       // nodes to visit
  uint32_t Candidates; // candidate positions with a gain
  uint32_t Proposals;
  uint32_t Winners;
};

struct MapCounters
{
  MapRoundCounters Rounds[RoundsOfGrid];
  uint32_t         Added;        // entries that were added to cells since the grid was sorted
  uint32_t         RemovedEdges; // since the map was compacted

  /** Returns how many of the first `number` rounds ran before the first one without winners. */
  uint32_t
  CountRounds(uint32_t number) const
  {
    uint32_t rounds = 0;
    while (rounds < number && Rounds[rounds].Winners > 0)
    {
      ++rounds;
    }
    return rounds;
  }
};

/** The map and its state in a round (a non-owning view). */
struct MapRound
{
  int32_t            Width;
  int32_t            Height;
  MapNode *          Nodes;
  MapEdge *          Edges;
  Moments *          Regions;
  uint8_t *          IsRegion;
  EdgeGrid           Grid;
  DescriptionModel   Model;
  uint64_t           MinimumNumberOfPixels;
  LinearForm *       Tangents;
  int64_t *          Excess;   // pixels that the winners take from a region, minus the pixels that it can spare
  uint64_t *         BestKeys; // smallest key of the winners that take pixels from a region
  CellLayout         Cells;    // of the reservation
  uint64_t *         Keys;     // smallest key that reserved each cell
  MapCounters *      Counters;
  MapRoundCounters * Counts; // of this round

  ITK_CUDA_HOST_DEVICE MapView
  GetMap() const
  {
    return { Width, Height, Nodes, Edges };
  }
  /** Returns whether the grid had no room for all changed edges. It must then be sorted before the next round. */
  ITK_CUDA_HOST_DEVICE bool
  IsGridFull() const
  {
    return Counters->Added > Grid.Capacity;
  }
};

namespace functors
{
/** Counts the edges of each cell in Last. */
template <typename TAtomics>
struct CountEdgesOfCells
{
  MapView  Map;
  EdgeGrid Grid;

  ITK_CUDA_HOST_DEVICE void
  operator()(size_t edge) const
  {
    if (Map.Edges[edge].IsAlive())
    {
      ForCellsOfEdge(
        Grid.Layout, Map, static_cast<uint32_t>(edge), [this](size_t cell) { TAtomics::Add(Grid.Last[cell], 1); });
    }
  }
};

/** Sorts the edges into cells. Last, the number of edges of each cell that are not sorted yet, ends at 0. */
template <typename TAtomics>
struct SortEdgesIntoCells
{
  MapView  Map;
  EdgeGrid Grid;

  ITK_CUDA_HOST_DEVICE void
  operator()(size_t edge) const
  {
    if (Map.Edges[edge].IsAlive())
    {
      ForCellsOfEdge(Grid.Layout, Map, static_cast<uint32_t>(edge), [this, edge](size_t cell) {
        Grid.Edges[Grid.First[cell] + TAtomics::DecrementAndFetch(Grid.Last[cell])] = static_cast<uint32_t>(edge);
      });
    }
  }
};

struct ValueOf
{
  const uint32_t * Values;

  ITK_CUDA_HOST_DEVICE uint32_t
  operator()(size_t i) const
  {
    return Values[i];
  }
};

/** Returns 1 for a node or edge of the map, and 0 if it was removed. */
template <typename T>
struct IsAlive
{
  const T * Elements;

  ITK_CUDA_HOST_DEVICE uint32_t
  operator()(size_t i) const
  {
    return Elements[i].IsAlive() ? 1 : 0;
  }
};

/** Moves the remaining nodes to their new indices. */
struct CompactNodes
{
  const MapNode *  Nodes;
  const uint32_t * NodeNumbers;
  const uint32_t * EdgeNumbers;
  MapNode *        Out;

  ITK_CUDA_HOST_DEVICE void
  operator()(size_t i) const
  {
    MapNode node = Nodes[i];
    if (node.IsAlive())
    {
      for (uint32_t j = 0; j < node.Degree; ++j)
      {
        node.Edges[j] = EdgeNumbers[node.Edges[j]];
      }
      Out[NodeNumbers[i]] = node;
    }
  }
};

/** Moves the remaining edges, and their flags, to their new indices. */
struct CompactEdges
{
  const MapEdge *  Edges;
  const uint32_t * NodeNumbers;
  const uint32_t * EdgeNumbers;
  MapEdge *        Out;
  const uint8_t *  Flags; // one per edge; may be null
  uint8_t *        OutFlags;

  ITK_CUDA_HOST_DEVICE void
  operator()(size_t i) const
  {
    MapEdge edge = Edges[i];
    if (edge.IsAlive())
    {
      edge.Start = NodeNumbers[edge.Start];
      edge.End = NodeNumbers[edge.End];
      Out[EdgeNumbers[i]] = edge;
      if (Flags != nullptr)
      {
        OutFlags[EdgeNumbers[i]] = Flags[i];
      }
    }
  }
};
} // namespace functors

/** \class ExecutorMap
 * \brief A planar map in executor memory, with its edge grid and the state of its refinement rounds.
 */
template <typename TExecutor>
class ExecutorMap
{
public:
  template <typename T>
  using Array = typename TExecutor::template Array<T>;
  using Atomics = typename TExecutor::Atomics;

  ExecutorMap(const TExecutor &        executor,
              const DescriptionModel & model,
              uint64_t                 minimumNumberOfPixels,
              int32_t                  width,
              int32_t                  height)
    : m_Executor(executor)
    , m_Counters(executor.template Allocate<MapCounters>(1))
    , m_Round{ width,
               height,
               nullptr,
               nullptr,
               nullptr,
               nullptr,
               { CellLayout(width, height, EdgeGridExponent), nullptr, nullptr, nullptr, nullptr, 0 },
               model,
               minimumNumberOfPixels,
               nullptr,
               nullptr,
               nullptr,
               CellLayout(width, height, ReservationExponent),
               nullptr,
               m_Counters.Get(),
               nullptr }
  {}

  /** Takes over a map in executor memory. */
  void
  SetMap(Array<MapNode> nodes, size_t numberOfNodes, Array<MapEdge> edges, size_t numberOfEdges)
  {
    m_Nodes = std::move(nodes);
    m_Edges = std::move(edges);
    m_Round.Nodes = m_Nodes.Get();
    m_Round.Edges = m_Edges.Get();
    m_NumberOfNodes = numberOfNodes;
    m_NumberOfEdges = numberOfEdges;
    m_GridIsSorted = false;
    m_Executor.Fill(m_Counters.Get(), 1, 0);
    m_LastCounters = {};
  }
  /** Takes over the sums of the regions. All regions exist except number 0. */
  void
  SetRegions(Array<Moments> regions, size_t number)
  {
    m_Regions = std::move(regions);
    m_Round.Regions = m_Regions.Get();
    m_NumberOfRegions = number;
    const size_t cells = m_Round.Cells.GetNumber();
    m_ArraysOfRegions.Clear();
    m_ArraysOfRegions.Allocate(
      m_Executor, number, m_Round.IsRegion, m_Round.Tangents, m_Round.Excess, m_Round.BestKeys);
    m_ArraysOfRegions.Allocate(m_Executor, cells, m_Round.Keys);
    m_Executor.Fill(m_Round.IsRegion, 1, 0);
    m_Executor.Fill(m_Round.IsRegion + 1, number - 1, 1);
    m_Executor.Fill(m_Round.Keys, cells, 0xff);
  }

  const TExecutor &
  GetExecutor() const
  {
    return m_Executor;
  }
  const DescriptionModel &
  GetModel() const
  {
    return m_Round.Model;
  }
  size_t
  GetNumberOfNodes() const
  {
    return m_NumberOfNodes;
  }
  size_t
  GetNumberOfEdges() const
  {
    return m_NumberOfEdges;
  }
  size_t
  GetNumberOfRegions() const
  {
    return m_NumberOfRegions;
  }
  MapView
  View() const
  {
    return m_Round.GetMap();
  }
  /** Returns the state of round `number` of a batch. */
  MapRound
  GetRound(uint32_t number) const
  {
    MapRound round = m_Round;
    round.Counts = round.Counters->Rounds + number;
    return round;
  }

  /** Compacts the map if more than 1/8 of its edges were removed. \param flags one per edge, compacted with them; may
   * be null */
  void
  CompactIfSparse(Array<uint8_t> * flags = nullptr)
  {
    if (m_LastCounters.RemovedEdges > m_NumberOfEdges / 8)
    {
      this->Compact(flags);
    }
  }

  void
  Compact(Array<uint8_t> * flags = nullptr)
  {
    const auto   nodeNumbers = m_Executor.template Allocate<uint32_t>(m_NumberOfNodes + 1);
    const auto   edgeNumbers = m_Executor.template Allocate<uint32_t>(m_NumberOfEdges + 1);
    const size_t numberOfNodes =
      m_Executor.ExclusiveScanAndRead(functors::IsAlive<MapNode>{ m_Nodes.Get() }, m_NumberOfNodes, nodeNumbers.Get());
    const size_t numberOfEdges =
      m_Executor.ExclusiveScanAndRead(functors::IsAlive<MapEdge>{ m_Edges.Get() }, m_NumberOfEdges, edgeNumbers.Get());
    Array<MapNode> nodes = m_Executor.template Allocate<MapNode>(numberOfNodes);
    Array<MapEdge> edges = m_Executor.template Allocate<MapEdge>(numberOfEdges);
    Array<uint8_t> outFlags;
    if (flags != nullptr)
    {
      outFlags = m_Executor.template Allocate<uint8_t>(numberOfEdges);
    }
    m_Executor.ParallelFor(m_NumberOfNodes,
                           functors::CompactNodes{ m_Nodes.Get(), nodeNumbers.Get(), edgeNumbers.Get(), nodes.Get() });
    m_Executor.ParallelFor(m_NumberOfEdges,
                           functors::CompactEdges{ m_Edges.Get(),
                                                   nodeNumbers.Get(),
                                                   edgeNumbers.Get(),
                                                   edges.Get(),
                                                   flags != nullptr ? flags->Get() : nullptr,
                                                   flags != nullptr ? outFlags.Get() : nullptr });
    this->SetMap(std::move(nodes), numberOfNodes, std::move(edges), numberOfEdges);
    if (flags != nullptr)
    {
      *flags = std::move(outFlags);
    }
  }

  /** Sorts the edges into the grid's cells if they are not sorted or if many were added since. */
  void
  UpdateGrid()
  {
    if (!m_GridIsSorted || m_LastCounters.Added > m_Round.Grid.Capacity / 4)
    {
      this->SortGrid();
    }
  }
  /** Waits for the queued rounds and reads their counters. */
  void
  ReadCounters()
  {
    m_LastCounters = m_Executor.Read(m_Counters.Get());
  }
  /** Runs a program of rounds in one cooperative launch, waits, and reads its counters. */
  template <typename TProgram>
  void
  RunCooperatively(const TProgram & program, size_t threads)
  {
    m_LastCounters = m_Executor.RunCooperatively(program, threads, m_Counters.Get());
  }
  const MapCounters &
  GetLastCounters() const
  {
    return m_LastCounters;
  }
  void
  ClearRounds() const
  {
    m_Executor.Fill(m_Counters.Get()->Rounds, RoundsOfGrid, 0);
  }
  /** Runs batches of rounds until a round has no winners, unless the grid was full, which prevents winners. Returns
   * false if `goOn` returned false between two batches.
   * \param runBatch runBatch(left) runs at most `left` rounds, reads their counters, and returns how many it ran
   */
  template <typename TBatch>
  bool
  RunRounds(size_t maximumNumberOfRounds, const GoOnFunction & goOn, const TBatch & runBatch)
  {
    size_t left = maximumNumberOfRounds;
    bool   isDone = false;
    while (left > 0 && !isDone)
    {
      if (goOn && !goOn())
      {
        return false;
      }
      const uint32_t number = runBatch(left);
      const uint32_t rounds = m_LastCounters.CountRounds(number);
      left -= rounds;
      isDone = rounds < number && m_LastCounters.Added <= m_Round.Grid.Capacity;
    }
    return true;
  }

private:
  static constexpr uint32_t ReservationExponent = 2;
  static constexpr size_t   MinimumGridCapacity = 4096;

  const TExecutor &     m_Executor;
  Array<MapCounters>    m_Counters;
  MapRound              m_Round;
  size_t                m_NumberOfNodes{ 0 };
  size_t                m_NumberOfEdges{ 0 };
  size_t                m_NumberOfRegions{ 0 };
  Array<MapNode>        m_Nodes;
  Array<MapEdge>        m_Edges;
  Array<Moments>        m_Regions;
  ArrayGroup<TExecutor> m_ArraysOfRegions;
  ArrayGroup<TExecutor> m_ArraysOfGrid;
  MapCounters           m_LastCounters{}; // as read after the last rounds
  bool                  m_GridIsSorted{ false };

  void
  SortGrid()
  {
    EdgeGrid &   grid = m_Round.Grid;
    const size_t cells = grid.Layout.GetNumber();
    m_ArraysOfGrid.Clear();
    m_ArraysOfGrid.Allocate(m_Executor, cells + 1, grid.First);
    m_ArraysOfGrid.Allocate(m_Executor, cells, grid.Last);
    m_Executor.Fill(grid.Last, cells, 0);
    m_Executor.ParallelFor(m_NumberOfEdges, functors::CountEdgesOfCells<Atomics>{ this->View(), grid });
    const size_t number = m_Executor.ExclusiveScanAndRead(functors::ValueOf{ grid.Last }, cells, grid.First);
    m_ArraysOfGrid.Allocate(m_Executor, number, grid.Edges);
    m_Executor.ParallelFor(m_NumberOfEdges, functors::SortEdgesIntoCells<Atomics>{ this->View(), grid });
    m_Executor.Fill(grid.Last, cells, 0xff);
    grid.Capacity = static_cast<uint32_t>(number + MinimumGridCapacity);
    m_ArraysOfGrid.Allocate(m_Executor, grid.Capacity, grid.Added);
    m_Executor.Fill(&m_Counters.Get()->Added, 1, 0);
    m_LastCounters.Added = 0;
    m_GridIsSorted = true;
  }
};
} // namespace itk::cuda::partition

#endif
