// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_snake_device_DeviceState_cuh
#define CudaFilters_snake_device_DeviceState_cuh

#include "region/Sums.cuh"
#include "snake/Group.h"
#include "snake/State.h"

#include <cstdint>
#include <type_traits>

namespace itk::cuda::snake
{
namespace kernels
{
using namespace region::kernels;

/** Some rows of the edges at one node, by one warp per item of the phase: number Part of Parts. */
struct alignas(16) RowChunk
{
  int32_t Node;
  int32_t Part;
  int32_t Parts;
};

/** Sums for the removal of a node: chords over it and its followers, and the edges that they replace. */
ITK_CUDA_HOST_DEVICE constexpr int
ItemsOfRemoval(int longestRun)
{
  return 2 * longestRun + 1;
}
static_assert(ItemsOfRemoval(MaximumRemovedRun) <= Directions + 1,
              "Room for the sums of candidates is enough for those of removals");

/** How far a phase is, in portions that all blocks have done. */
struct PhaseProgress
{
  enum class Stage : int32_t
  {
    Sums,      // First: of the slices of the chunks' rows
    Proposals, // First: of the nodes
    Conclusion // First: of the listed proposals
  };
  Stage   Now{ Stage::Sums };
  int32_t First{ 0 };             // what comes next of the stage
  int32_t Slices{ 1 };            // of the chunks' rows
  int32_t NodesPerPortion{ 0 };   // of proposals
  int32_t NumberOfProposals{ 0 }; // in the list of an interrupted conclusion

  /** What comes next of a stage that is not over. */
  __device__ int
  FirstOf(Stage stage) const
  {
    return Now == stage ? First : 0;
  }
  /** Whether the phase's sums are complete when the present portion is. */
  __device__ bool
  SumsEnd() const
  {
    return Now != Stage::Sums || First + 1 >= Slices;
  }
};

/** The snake in device memory. */
struct DeviceSnake : SnakeState
{
  int32_t  NumberOfChunks{ 0 }; // of the next phase
  uint32_t KnownEntries{ 0 };   // of the record, to the host
  bool     IsPrepared{ false }; // for the next phase
  bool     Pause{ false };

  PhaseProgress Progress;

  RowChunk * Chunks{ nullptr };
  uint32_t   NodeCapacity{ 0 };

  /** Number of sums that a phase needs for each node. */
  __device__ int
  GetItemsPerNode() const
  {
    switch (Control.Next)
    {
      case SnakeControl::Phase::Measure:
        return 1;
      case SnakeControl::Phase::Move:
        return Directions * Plan.Rings + 1;
      case SnakeControl::Phase::Remove:
        return ItemsOfRemoval(Control.LongestRun);
      default:
        return 2;
    }
  }
};

/** The loop's results for the host, in memory that host and device can reach. */
struct LoopResults
{
  DeviceSnake         State;
  LatticePoint        Polygon[1024]; // unless it has more nodes
  CudaRegionSnakeStep Record[1024];  // new entries, unless there are more
};

// The work of a phase is divided into about so many units for each warp. No unit has fewer rows than these.
constexpr int UnitsPerWarp = 2;
constexpr int MinimumRowsPerUnit = 4 * WarpSize;

/** Phases after which a launch that does not divide them looks at the clock. */
constexpr uint32_t PhasesPerLook = 16;

/** When a launch ends before the schedule does. Pauses and portions are those of limited launches. */
struct LaunchLimits
{
  bool     PauseAtSteps{ false };
  bool     PauseAtLevels{ false };
  int32_t  StepsPerPortion{ 1 << 18 }; // tests of edges or rows one after the other, by a warp: some milliseconds
  uint64_t Nanoseconds{ 0 };           // after which it ends when it next looks at the clock
};

/** Data that the first block holds on chip while it draws a conclusion. */
struct ConclusionScratch
{
  static constexpr int MaximumListed = 1024; // nodes; of more the lists are in device memory

  LatticeBox Boxes[MaximumListed];
  int32_t    Proposed[MaximumListed];
  int32_t    IsSuppressed[MaximumListed];
  int32_t    Count;
  int32_t    Base;
  int32_t    WarpCounts[WarpsPerBlock];
  Moments    WarpSums[WarpsPerBlock];
  GroupSum   Sum;
  uint64_t   End;           // of the launch's time, on the device's clock
  bool       TimeIsUp;      // when the first block of a limited launch looked last
  bool       IsInterrupted; // the conclusion, of a limited launch
};

/** Memory on chip, of each block. */
struct BlockStorage
{
  static constexpr int MaximumNodes = 1024;

  DeviceSnake       Snake;
  LatticePoint      Polygon[MaximumNodes];
  ConclusionScratch Scratch;
};

/** Copies the state, whose size is a multiple of four bytes, by a block. */
__device__ inline void
CopyState(DeviceSnake & to, const DeviceSnake & from)
{
  static_assert(sizeof(DeviceSnake) % sizeof(uint32_t) == 0 && std::is_trivially_copyable<DeviceSnake>::value);
  for (unsigned int word = threadIdx.x; word < sizeof(DeviceSnake) / sizeof(uint32_t); word += ThreadsPerBlock)
  {
    reinterpret_cast<uint32_t *>(&to)[word] = reinterpret_cast<const uint32_t *>(&from)[word];
  }
  __syncthreads();
}

/** The polygon of the phase that comes next, on chip if it fits. */
__device__ inline const LatticePoint *
LoadPolygon(BlockStorage & storage, const LatticePoint * polygon, int n)
{
  for (int i = static_cast<int>(threadIdx.x); n <= BlockStorage::MaximumNodes && i < n; i += ThreadsPerBlock)
  {
    storage.Polygon[i] = polygon[i];
  }
  return n <= BlockStorage::MaximumNodes ? storage.Polygon : polygon;
}

/** Loads the state and the polygon. Most phases change neither the number of nodes nor the place of the polygon: state
 * and polygon can therefore be loaded at the same time. */
__device__ inline const LatticePoint *
LoadState(BlockStorage & storage, const DeviceSnake & state, const LatticePoint * lastPolygon, int lastNumberOfNodes)
{
  const LatticePoint * polygon = LoadPolygon(storage, lastPolygon, lastNumberOfNodes);
  CopyState(storage.Snake, state);
  const LatticePoint * current = storage.Snake.Polygons[storage.Snake.Current];
  if (current != lastPolygon || storage.Snake.NumberOfNodes != lastNumberOfNodes)
  {
    polygon = LoadPolygon(storage, current, storage.Snake.NumberOfNodes);
    __syncthreads();
  }
  return polygon;
}

/** First of the nodes for which the present portion of the phase makes proposals, and the first one after them. */
__device__ inline int
FirstNode(const DeviceSnake & snake)
{
  const bool proposing = snake.Progress.Now != PhaseProgress::Stage::Conclusion;
  return proposing ? snake.Progress.FirstOf(PhaseProgress::Stage::Proposals) : snake.NumberOfNodes;
}
__device__ inline int
EndOfNodes(const DeviceSnake & snake)
{
  const int first = FirstNode(snake);
  return first + Minimum(snake.NumberOfNodes - first, snake.Progress.NodesPerPortion);
}
} // namespace kernels
} // namespace itk::cuda::snake

#endif
