// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_snake_device_DeviceState_cuh
#define CudaFilters_snake_device_DeviceState_cuh

#include "region/Sums.cuh"
#include "snake/Group.h"
#include "snake/State.h"

#include <cstdint>
#include <type_traits>

// Holds what the blocks of the snake's kernel work on: the state in device memory, the limits of a launch, and a
// block's shared memory.

namespace itk::cuda::snake
{
namespace kernels
{
using namespace region::kernels;

/** A unit of work: share number Part of Parts of the rows of the edges at one node. One worker, which is a warp or a
 * lane, sums it for each item of the phase. */
struct alignas(16) RowChunk
{
  int32_t Node;
  int32_t Part;
  int32_t Parts;
};

/** Returns the number of sums for removals that begin at a node: of the chords over 1 to `maximumRun` nodes, and of the
 * edges that they replace. */
ITK_CUDA_HOST_DEVICE constexpr int
ItemsOfRemoval(int maximumRun)
{
  return 2 * maximumRun + 1;
}
static_assert(ItemsOfRemoval(MaximumRemovedRun) <= Directions + 1,
              "Room for the sums of candidates is enough for those of removals");

/** The progress of a phase, in portions that all blocks have completed. */
struct PhaseProgress
{
  enum class Stage : int32_t
  {
    Sums,      // First is a slice of the chunks' rows
    Proposals, // First is a node
    Conclusion // First is a position in the list of proposals
  };
  Stage   Now{ Stage::Sums };
  int32_t First{ 0 };             // index at which the stage continues
  int32_t Slices{ 1 };            // into which the chunks' rows are divided
  int32_t NodesPerPortion{ 0 };   // nodes for which a portion makes proposals
  int32_t NumberOfProposals{ 0 }; // length of the list of an interrupted conclusion

  /** Returns the index at which a stage that has not ended continues. */
  __device__ int
  FirstOf(Stage stage) const
  {
    return Now == stage ? First : 0;
  }
  /** Returns whether the phase's sums are complete after the current portion. */
  __device__ bool
  SumsEnd() const
  {
    return Now != Stage::Sums || First + 1 >= Slices;
  }
};

/** The state of the snake in device memory. */
struct DeviceSnake : SnakeState
{
  int32_t  NumberOfChunks{ 0 }; // number of row chunks of the next phase
  uint32_t KnownEntries{ 0 };   // number of entries of the record that the host already has
  bool     IsPrepared{ false }; // whether PrepareNext() has been called for the next phase
  bool     Pause{ false };

  PhaseProgress Progress;

  RowChunk * Chunks{ nullptr };

  /** Returns the number of sums that the next phase needs for each node. */
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
        return ItemsOfRemoval(Control.MaximumRun);
      default:
        return 2;
    }
  }
};

/** The results of a launch of the loop's kernel, in memory that both the host and the device can access. */
struct LoopResults
{
  DeviceSnake         State;
  LatticePoint        Polygon[1024]; // not set if it has more nodes
  CudaRegionSnakeStep Record[1024];  // the new entries; not set if there are more
};

// The work of a phase is divided into about UnitsPerWorker units for each worker, but no unit has fewer than
// MinimumRowsPerLane rows for each lane.
constexpr int UnitsPerWorker = 2;
constexpr int MinimumRowsPerLane = 4;

/** Number of phases after which a launch that does not divide phases into portions checks the clock. */
constexpr uint32_t PhasesPerClockCheck = 16;

/** The conditions under which a launch ends before the schedule does. Only limited launches have pauses and portions.
 */
struct LaunchLimits
{
  bool     PauseAtSteps{ false };
  bool     PauseAtLevels{ false };
  int32_t  StepsPerPortion{ 1 << 18 }; // tests of edges or rows, in succession by a warp: some milliseconds
  uint64_t Nanoseconds{ 0 };           // time after which the launch ends at the next check of the clock
};

/** Data that the block which concludes a phase keeps in shared memory. */
struct ConclusionScratch
{
  static constexpr int MaximumListed = 1024; // nodes; with more of them the lists are in device memory

  LatticeBox Boxes[MaximumListed];
  int32_t    Proposed[MaximumListed];
  int32_t    IsSuppressed[MaximumListed];
  int32_t    Count;
  int32_t    Base;
  int32_t    WarpCounts[WarpsPerBlock];
  Moments    WarpSums[WarpsPerBlock];
  GroupSum   Sum;
  uint64_t   End;           // end of the launch's time, on the device's clock
  bool       TimeIsUp;      // at the last check by the first block of a limited launch
  bool       IsInterrupted; // whether the conclusion is interrupted, in a limited launch
};

/** The shared memory of a block. */
struct BlockStorage
{
  static constexpr int MaximumNodes = 1024;

  DeviceSnake       Snake;
  LatticePoint      Polygon[MaximumNodes];
  ConclusionScratch Scratch;
};

/** Copies the state with the VThreads threads of the block, and waits for them. The size of the state is a multiple of
 * four bytes. */
template <int VThreads>
__device__ void
CopyState(DeviceSnake & to, const DeviceSnake & from)
{
  static_assert(sizeof(DeviceSnake) % sizeof(uint32_t) == 0 && std::is_trivially_copyable<DeviceSnake>::value);
  for (unsigned int word = threadIdx.x; word < sizeof(DeviceSnake) / sizeof(uint32_t); word += VThreads)
  {
    reinterpret_cast<uint32_t *>(&to)[word] = reinterpret_cast<const uint32_t *>(&from)[word];
  }
  __syncthreads();
}

/** Returns the polygon, copied to shared memory if it fits. The caller must synchronise the block. */
template <int VThreads>
__device__ const LatticePoint *
LoadPolygon(BlockStorage & storage, const LatticePoint * polygon, int n)
{
  for (int i = static_cast<int>(threadIdx.x); n <= BlockStorage::MaximumNodes && i < n; i += VThreads)
  {
    storage.Polygon[i] = polygon[i];
  }
  return n <= BlockStorage::MaximumNodes ? storage.Polygon : polygon;
}

/** Loads the state and the polygon. Most phases change neither the number of nodes nor the address of the polygon. The
 * polygon is therefore loaded speculatively at the same time as the state, and again only if that was wrong. */
template <int VThreads>
__device__ const LatticePoint *
LoadState(BlockStorage & storage, const DeviceSnake & state, const LatticePoint * lastPolygon, int lastNumberOfNodes)
{
  const LatticePoint * polygon = LoadPolygon<VThreads>(storage, lastPolygon, lastNumberOfNodes);
  CopyState<VThreads>(storage.Snake, state);
  const LatticePoint * current = storage.Snake.Polygons[storage.Snake.Current];
  if (current != lastPolygon || storage.Snake.NumberOfNodes != lastNumberOfNodes)
  {
    polygon = LoadPolygon<VThreads>(storage, current, storage.Snake.NumberOfNodes);
    __syncthreads();
  }
  return polygon;
}

/** Returns the first of the nodes for which the current portion of the phase makes proposals. EndOfNodes() returns the
 * end of their range. */
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
