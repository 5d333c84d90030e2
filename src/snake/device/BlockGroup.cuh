// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_snake_device_BlockGroup_cuh
#define CudaFilters_snake_device_BlockGroup_cuh

#include "snake/device/DeviceState.cuh"
#include "snake/Group.h"

#include <cstdint>
#include <cuda/atomic>

// The threads that work on a snake: all blocks of a cooperative launch (GridTeam) with a barrier between them
// (GridBarrier), or one block for each of many snakes (BlockTeam). In both, one block concludes a phase (BlockGroup). A
// limited launch also looks at the clock, and ends when its time is up.

namespace itk::cuda::snake
{
namespace kernels
{
/** The counters of a GridBarrier. They must be zero before the launch. */
struct GridBarrierState
{
  alignas(128) uint32_t Arrivals;
  alignas(128) uint32_t Releases;
};

/** A barrier for all blocks of the grid. A block's memory accesses before its arrival happen before the other blocks'
 * accesses after their wait. All blocks must make the same calls. */
class GridBarrier
{
public:
  __device__ explicit GridBarrier(GridBarrierState & state)
    : m_Arrivals(state.Arrivals)
    , m_Releases(state.Releases)
  {}

  /** Waits until all blocks have arrived. */
  __device__ void
  Sync()
  {
    this->Arrive();
    this->WaitForArrivals();
  }

  /** Waits until all blocks have arrived. The first block then calls `function` with all its threads, while the other
   * blocks wait for it. */
  template <typename TFunction>
  __device__ void
  RunOnFirstBlock(const TFunction & function)
  {
    this->Arrive();
    ++m_ReleasesDue;
    if (blockIdx.x == 0)
    {
      this->WaitForArrivals();
      function();
      __syncthreads();
      if (threadIdx.x == 0)
      {
        m_Releases.store(m_ReleasesDue, ::cuda::memory_order_release);
      }
      return;
    }
    if (threadIdx.x == 0)
    {
      while (m_Releases.load(::cuda::memory_order_acquire) != m_ReleasesDue)
      {}
    }
    __syncthreads();
  }

private:
  ::cuda::atomic_ref<uint32_t, ::cuda::thread_scope_device> m_Arrivals;
  ::cuda::atomic_ref<uint32_t, ::cuda::thread_scope_device> m_Releases;
  uint32_t                                                  m_ArrivalsDue{ 0 };
  uint32_t                                                  m_ReleasesDue{ 0 };

  __device__ void
  Arrive()
  {
    m_ArrivalsDue += gridDim.x;
    __syncthreads();
    if (threadIdx.x == 0)
    {
      m_Arrivals.fetch_add(1, ::cuda::memory_order_release);
    }
  }

  __device__ void
  WaitForArrivals()
  {
    if (threadIdx.x == 0)
    {
      // Compares the difference, because other blocks may already have arrived at the next barrier, and because both
      // counts wrap around.
      while (static_cast<int32_t>(m_Arrivals.load(::cuda::memory_order_acquire) - m_ArrivalsDue) < 0)
      {}
    }
    __syncthreads();
  }
};

/** Returns the time of the device's global timer in nanoseconds. */
__device__ inline uint64_t
ReadClock()
{
  uint64_t now;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  return now;
}

/** \class GridTeam
 * \brief All blocks of a cooperative launch as the team that works on one snake, whose state is in device memory.
 *
 * The first block concludes a phase while the others wait. Each block then loads the state into its shared memory. A
 * limited launch (VLimited) divides long phases into portions.
 */
template <bool VLimited>
class GridTeam
{
public:
  static constexpr int  Threads = ThreadsPerBlock; // of a block
  static constexpr int  LanesOfWorker = WarpSize;  // the rows of a unit are shared by a warp
  static constexpr bool HasCells = true;
  static constexpr bool IsLimited = VLimited;

  __device__
  GridTeam(DeviceSnake & state, GridBarrierState & barrier)
    : m_State(state)
    , m_Barrier(barrier)
  {}

  static __device__ int
  GetBlock()
  {
    return static_cast<int>(blockIdx.x);
  }
  static __device__ int
  GetNumberOfBlocks()
  {
    return static_cast<int>(gridDim.x);
  }
  static __device__ int
  GetWarp()
  {
    return WarpOfGrid();
  }
  static __device__ int
  GetNumberOfWarps()
  {
    return WarpsOfGrid();
  }
  static __device__ int
  GetNumberOfWorkers()
  {
    return WarpsOfGrid();
  }

  __device__ void
  Sync()
  {
    m_Barrier.Sync();
  }

  /** Waits for all blocks, calls `function` in the first one, and stores its state for the others. */
  template <typename TFunction>
  __device__ void
  RunOnFirstBlock(const DeviceSnake & snake, const TFunction & function)
  {
    m_Barrier.RunOnFirstBlock([&]() {
      function();
      CopyState<Threads>(m_State, snake);
    });
  }

  /** Loads the state and returns the polygon; see LoadState(). */
  __device__ const LatticePoint *
  Load(BlockStorage & storage, const LatticePoint * lastPolygon, int lastNumberOfNodes) const
  {
    return LoadState<Threads>(storage, m_State, lastPolygon, lastNumberOfNodes);
  }

  /** Returns whether the launch ends after the phase with this number, which is concluded. */
  static __device__ bool
  EndsAfter(uint32_t phase, const BlockStorage & storage)
  {
    return phase % PhasesPerClockCheck == 0 && ReadClock() >= storage.Scratch.End;
  }

private:
  DeviceSnake & m_State;
  GridBarrier   m_Barrier;
};

/** \class BlockTeam
 * \brief One block as the team that works on a snake, whose state is in the block's shared memory.
 *
 * It is for small snakes on the pixels of a window. Their edges have few rows, so that each lane sums the rows of a
 * unit of its own.
 */
class BlockTeam
{
public:
  static constexpr int  Threads = 128;
  static constexpr int  LanesOfWorker = 1;
  static constexpr bool HasCells = false;
  static constexpr bool IsLimited = false;

  static __device__ int
  GetBlock()
  {
    return 0;
  }
  static __device__ int
  GetNumberOfBlocks()
  {
    return 1;
  }
  static __device__ int
  GetWarp()
  {
    return WarpOfBlock();
  }
  static __device__ int
  GetNumberOfWarps()
  {
    return Threads / WarpSize;
  }
  static constexpr ITK_CUDA_HOST_DEVICE int
  GetNumberOfWorkers()
  {
    return Threads;
  }

  static __device__ void
  Sync()
  {
    __syncthreads();
  }

  template <typename TFunction>
  static __device__ void
  RunOnFirstBlock(const DeviceSnake &, const TFunction & function)
  {
    __syncthreads();
    function();
    __syncthreads();
  }

  static __device__ const LatticePoint *
  Load(BlockStorage & storage, const LatticePoint *, int)
  {
    const DeviceSnake &  snake = storage.Snake;
    const LatticePoint * polygon = LoadPolygon<Threads>(storage, snake.Polygons[snake.Current], snake.NumberOfNodes);
    __syncthreads();
    return polygon;
  }

  /** Returns whether the run ends after a phase, because there is no room for another node or entry of the record. */
  static __device__ bool
  EndsAfter(uint32_t, const BlockStorage & storage)
  {
    const DeviceSnake & snake = storage.Snake;
    return snake.Control.Stop == CudaRegionSnakeStop::MaximumNumberOfNodes ||
           snake.NumberOfEntries == snake.RecordCapacity;
  }
};

/** Updates scratch.TimeIsUp from the clock. Called by one thread of a limited launch. */
__device__ inline void
CheckTimeLimit(ConclusionScratch & scratch)
{
  scratch.TimeIsUp = ReadClock() >= scratch.End;
}

/** \class BlockGroup
 * \brief A block of VThreads threads as the group that concludes a phase. SerialGroup documents the functions.
 *
 * In a limited launch (VLimited), ForEachPair() processes lists in device memory in portions.
 */
template <int VThreads, bool VLimited>
class BlockGroup
{
public:
  __device__
  BlockGroup(DeviceSnake & snake, ConclusionScratch & scratch, int32_t stepsPerPortion)
    : m_Snake(snake)
    , m_Scratch(scratch)
    , m_StepsPerPortion(stepsPerPortion)
  {}

  template <typename TFunction>
  __device__ void
  RunOnFirstThread(const TFunction & function) const
  {
    if (threadIdx.x == 0)
    {
      function();
    }
  }
  /** Uses the second warp, because the threads of one warp would run one function after the other. */
  template <typename TFunction>
  __device__ void
  RunOnSecondThread(const TFunction & function) const
  {
    if (threadIdx.x == WarpSize)
    {
      function();
    }
  }

  __device__ void
  Sync() const
  {
    __syncthreads();
  }

  template <typename TFunction>
  __device__ void
  ForEach(int count, const TFunction & function) const
  {
    for (int i = static_cast<int>(threadIdx.x); i < count; i += VThreads)
    {
      function(i);
    }
  }

  __device__ const GroupSum &
  Sum(const Moments & sums, int number) const
  {
    const Moments sumsOfWarp = SumOverWarp(sums);
    const int     numberOfWarp = static_cast<int>(SumOverWarp(static_cast<uint32_t>(number)));
    if (LaneIndex() == 0)
    {
      m_Scratch.WarpSums[WarpOfBlock()] = sumsOfWarp;
      m_Scratch.WarpCounts[WarpOfBlock()] = numberOfWarp;
    }
    __syncthreads();
    if (threadIdx.x == 0)
    {
      m_Scratch.Sum = GroupSum();
      for (int warp = 0; warp < Warps; ++warp)
      {
        m_Scratch.Sum.Sums += m_Scratch.WarpSums[warp];
        m_Scratch.Sum.Number += m_Scratch.WarpCounts[warp];
      }
    }
    __syncthreads();
    return m_Scratch.Sum;
  }

  template <typename TFunction>
  __device__ ProposalList
  SelectProposals(const SnakeState & snake, const TFunction & isSelected) const
  {
    if (VLimited && m_Snake.Progress.Now == PhaseProgress::Stage::Conclusion)
    {
      return { snake.Proposed, snake.IsSuppressed, m_Snake.Progress.NumberOfProposals, false };
    }
    const bool   onChip = snake.NumberOfNodes <= ConclusionScratch::MaximumListed;
    ProposalList list{
      onChip ? m_Scratch.Proposed : snake.Proposed, onChip ? m_Scratch.IsSuppressed : snake.IsSuppressed, 0, onChip
    };
    if (threadIdx.x == 0)
    {
      m_Scratch.Count = 0;
    }
    __syncthreads();
    this->ForEach(snake.NumberOfNodes, [&](int i) {
      list.IsSuppressed[i] = 0;
      if (isSelected(i))
      {
        list.Nodes[atomicAdd(&m_Scratch.Count, 1)] = i;
      }
    });
    __syncthreads();
    list.Count = m_Scratch.Count;
    if (VLimited && threadIdx.x == 0)
    {
      m_Snake.Progress.Now = PhaseProgress::Stage::Conclusion;
      m_Snake.Progress.First = 0;
      m_Snake.Progress.NumberOfProposals = list.Count;
    }
    return list;
  }

  ITK_CUDA_HOST_DEVICE LatticeBox &
  GetBox(int s) const
  {
    return m_Scratch.Boxes[s];
  }

  template <typename TFunction>
  __device__ bool
  ForEachPair(const ProposalList & list, const TFunction & compare) const
  {
    int first = 0;
    if (VLimited && !list.HasBoxes)
    {
      const int portion = Warps * Maximum(1, m_StepsPerPortion / Maximum(1, list.Count / WarpSize));
      for (first = m_Snake.Progress.First; list.Count - first > portion; first += portion)
      {
        ForEachPairOfRows(list, first, first + portion, compare);
        if (!this->EndPortionOfPairs(first + portion))
        {
          return false;
        }
      }
    }
    ForEachPairOfRows(list, first, list.Count, compare);
    return true;
  }

  template <typename TRead, typename TWrite>
  __device__ int
  ForEachWithRank(int count, const TRead & read, const TWrite & write) const
  {
    if (threadIdx.x == 0)
    {
      m_Scratch.Base = 0;
    }
    __syncthreads();
    for (int base = 0; base < count; base += VThreads)
    {
      const int  i = base + static_cast<int>(threadIdx.x);
      const auto item = i < count ? read(i) : decltype(read(i))();
      const int  rank = this->GetRank(item.IsCounted);
      if (i < count)
      {
        write(i, item, rank);
      }
    }
    return m_Scratch.Base;
  }

  /** Returns whether the launch's time ended inside the conclusion. */
  __device__ bool
  IsInterrupted() const
  {
    return VLimited && m_Scratch.IsInterrupted;
  }

private:
  static constexpr int Warps = VThreads / WarpSize;

  DeviceSnake &       m_Snake;
  ConclusionScratch & m_Scratch;
  const int32_t       m_StepsPerPortion;

  /** Returns the exclusive prefix sum of `flag` over the threads of the block, plus m_Scratch.Base, and adds the
   * block's total to m_Scratch.Base. */
  __device__ int
  GetRank(bool flag) const
  {
    const unsigned ballot = __ballot_sync(AllLanes, flag);
    if (LaneIndex() == 0)
    {
      m_Scratch.WarpCounts[WarpOfBlock()] = __popc(ballot);
    }
    __syncthreads();
    int rank = m_Scratch.Base + __popc(ballot & ((1u << LaneIndex()) - 1u));
    int all = 0;
    for (int warp = 0; warp < Warps; ++warp)
    {
      rank += warp < WarpOfBlock() ? m_Scratch.WarpCounts[warp] : 0;
      all += m_Scratch.WarpCounts[warp];
    }
    __syncthreads();
    if (threadIdx.x == 0)
    {
      m_Scratch.Base += all;
    }
    __syncthreads();
    return rank;
  }

  /** Compares each of the listed proposals `first` to `end` - 1 with all proposals after it in the list. A warp handles
   * one proposal at a time. */
  template <typename TFunction>
  static __device__ void
  ForEachPairOfRows(const ProposalList & list, int first, int end, const TFunction & compare)
  {
    for (int s = first + WarpOfBlock(); s < end; s += Warps)
    {
      for (int t = s + 1 + LaneIndex(); t < list.Count; t += WarpSize)
      {
        compare(s, t);
      }
    }
    __syncthreads();
  }

  /** Ends a portion of pairs. `next` is the list position where the next portion begins. Returns whether the launch has
   * time for it. */
  __device__ bool
  EndPortionOfPairs(int next) const
  {
    if (threadIdx.x == 0)
    {
      m_Snake.Progress.First = next;
      CheckTimeLimit(m_Scratch);
      m_Scratch.IsInterrupted = m_Scratch.TimeIsUp;
    }
    __syncthreads();
    return !m_Scratch.IsInterrupted;
  }
};

/** The block of a team that concludes a phase. */
template <typename TTeam>
using GroupOf = BlockGroup<TTeam::Threads, TTeam::IsLimited>;
} // namespace kernels
} // namespace itk::cuda::snake

#endif
