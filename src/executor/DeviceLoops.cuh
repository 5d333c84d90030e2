// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_executor_DeviceLoops_cuh
#define CudaFilters_executor_DeviceLoops_cuh

#include "executor/DeviceSignal.cuh"
#include "executor/SerialTeam.h"
#include "region/Laws.h"
#include "region/Lattice.h"

#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

// The kernels of parallel loops: one launch for each loop, or programs of several loops within one block of threads or
// one cooperative grid.
namespace itk::cuda::executor
{
using region::Moments;

namespace kernels
{
/** A team of adjacent threads of a warp that work on one item together. It has the same interface as SerialTeam. */
template <uint32_t VLanes>
struct WarpTeam
{
  static constexpr uint32_t NumberOfLanes = VLanes;

  /** Returns the thread's number in the team. thread_rank() of the group would not know that blocks are lines. */
  __device__ uint32_t
  GetLane() const
  {
    return threadIdx.x % NumberOfLanes;
  }
  __device__ StridedRange
  GetShare() const
  {
    return { static_cast<int32_t>(this->GetLane()), static_cast<int32_t>(NumberOfLanes) };
  }
  __device__ bool
  All(bool ofLane) const
  {
    return GetGroup().all(ofLane) != 0;
  }
  /** Returns the sum over the team. */
  __device__ Moments
  Sum(const Moments & ofLane) const
  {
    return cooperative_groups::reduce(GetGroup(), ofLane, cooperative_groups::plus<Moments>());
  }

  /** One value per thread. */
  template <typename T>
  using PerThread = T;

  /** Calls function(thread, value of the thread) for each thread of the team. */
  template <typename T, typename TFunction>
  __device__ void
  ForEachThread(T & ofLane, const TFunction & function) const
  {
    function(this->GetLane(), ofLane);
  }
  /** Computes an in-place exclusive prefix sum of integers. */
  __device__ void
  ExclusiveScan(Moments * values, uint32_t number) const
  {
    const auto group = GetGroup();
    Moments    before;
    for (uint32_t first = 0; first < number; first += NumberOfLanes)
    {
      const uint32_t i = first + this->GetLane();
      const Moments  own = i < number ? values[i] : Moments{};
      Moments        sum = own;
#pragma unroll
      for (unsigned int distance = 1; distance < NumberOfLanes; distance *= 2)
      {
        const Moments other = group.shfl_up(sum, distance);
        sum += this->GetLane() >= distance ? other : Moments{};
      }
      if (i < number)
      {
        values[i] = before + (sum - own);
      }
      before += group.shfl(sum, NumberOfLanes - 1);
    }
  }
  /** Evaluates function(thread, value of the thread) in all threads and returns the best result. */
  template <typename T, typename TFunction>
  __device__ auto
  FindBest(T & ofLane, const TFunction & function) const
  {
    constexpr uint32_t largest = 0xffffffffu;
    const auto         group = GetGroup();
    const auto         minimum = [&group](uint32_t x) {
      return cooperative_groups::reduce(group, x, cooperative_groups::less<uint32_t>());
    };
    auto           best = function(this->GetLane(), ofLane);
    const uint64_t order = region::OrderOf(best.Cost + 0.0); // adding 0.0 turns -0 into 0
    const auto     upper = static_cast<uint32_t>(order >> 32);
    const auto     lower = static_cast<uint32_t>(order);
    const bool     isFirst = upper == minimum(upper);
    const uint32_t least = minimum(isFirst ? lower : largest);
    const bool     isBest = isFirst && lower == least;
    best.Begin = minimum(isBest ? best.Begin : largest);
    best.Cost = group.shfl(best.Cost, __ffs(static_cast<int>(group.ballot(isBest))) - 1);
    return best;
  }
  /** Calls function(i) for i < number, distributed over the threads of the team. */
  template <typename TFunction>
  __device__ void
  ParallelFor(uint32_t number, const TFunction & function) const
  {
    for (uint32_t i = this->GetLane(); i < number; i += NumberOfLanes)
    {
      function(i);
    }
  }
  template <typename TFunction>
  __device__ void
  Single(const TFunction & function) const
  {
    if (this->GetLane() == 0)
    {
      function();
    }
  }
  /** Synchronizes the team: afterwards all threads see what each of them wrote. */
  __device__ void
  Sync() const
  {
    GetGroup().sync();
  }

private:
  static __device__ auto
  GetGroup()
  {
    return cooperative_groups::tiled_partition<NumberOfLanes>(cooperative_groups::this_thread_block());
  }
};

constexpr unsigned int ThreadsOfLoop = 256;

/** Whether a kernel functor sums edges, with an integrator of its own or of its round. */
template <typename TFunctor>
auto SumsEdges(std::nullptr_t)
  -> decltype(std::declval<decltype(TFunctor::Integrator)>().SumEdge(region::LatticePoint{}, region::LatticePoint{}),
              std::true_type{});
template <typename TFunctor>
auto SumsEdges(std::nullptr_t)
  -> decltype(std::declval<decltype(decltype(TFunctor::Round)::Integrator)>().SumEdge(region::LatticePoint{},
                                                                                      region::LatticePoint{}),
              std::true_type{});
template <typename TFunctor>
std::false_type
SumsEdges(...);

/** The minimum number of resident blocks per multiprocessor. The kernels are bound by memory latency, which a high
 * occupancy hides, so that registers are limited to 64 per thread. Functors that sum edges keep several look-ups in
 * registers and get 128. */
template <typename TFunctor>
constexpr unsigned int BlocksOfLoop = decltype(SumsEdges<TFunctor>(nullptr))::value ? 2 : 4;

/** Runs the work items of one thread: `first` and every `stride`-th one after it. */
template <typename TFunctor>
__device__ void
RunShare(const TFunctor & functor, size_t number, size_t first, size_t stride)
{
  for (size_t i = first; i < number; i += stride)
  {
    RunOnOneThread(functor, i);
  }
}
/** Divides the work items among all threads of the grid. */
template <typename TFunctor>
__device__ void
RunInGrid(const TFunctor & functor, size_t number)
{
  const size_t stride = static_cast<size_t>(gridDim.x) * blockDim.x;
  RunShare(functor, number, static_cast<size_t>(blockIdx.x) * blockDim.x + threadIdx.x, stride);
}
/** Divides the work items among all teams of the grid. */
template <typename TFunctor>
__device__ void
RunTeams(const TFunctor & functor)
{
  using Team = WarpTeam<TFunctor::TeamSize>;
  const size_t number = functor.GetNumber();
  const size_t teamsOfBlock = blockDim.x / Team::NumberOfLanes;
  const size_t first = static_cast<size_t>(blockIdx.x) * teamsOfBlock + threadIdx.x / Team::NumberOfLanes;
  for (size_t i = first; i < number; i += teamsOfBlock * gridDim.x)
  {
    functor(i, Team{});
  }
}

template <typename TFunctor>
__global__ void
__launch_bounds__(ThreadsOfLoop, BlocksOfLoop<TFunctor>)
  ParallelForKernel(size_t number, const __grid_constant__ TFunctor functor)
{
  RunInGrid(functor, number);
}

/** Calls functor(i) for i < functor.GetNumber(), where the count is read on the device. */
template <typename TFunctor>
__global__ void
__launch_bounds__(ThreadsOfLoop, BlocksOfLoop<TFunctor>) ParallelForUpToKernel(const __grid_constant__ TFunctor functor)
{
  RunInGrid(functor, functor.GetNumber());
}

/** Calls functor(i, team) for i < functor.GetNumber(), where the count is read on the device. */
template <typename TFunctor>
__global__ void
TeamsUpToKernel(const __grid_constant__ TFunctor functor)
{
  RunTeams(functor);
}

/** A loop executor that runs parallel loops one after the other within one launch. */
struct ThreadExecutor
{
  static constexpr bool IsCoarseGrained = false;

  static __device__ constexpr bool
  KnowsWhenDone()
  {
    return true;
  }
  __device__ bool
  IsDone(const uint32_t * count) const
  {
    return *count == 0;
  }
};

/** Parallel loops within one block of threads. A barrier after each loop makes its writes visible to the next one.
 */
struct BlockExecutor : ThreadExecutor
{
  template <typename TFunctor>
  __device__ void
  ParallelForUpTo(size_t, const TFunctor & functor) const
  {
    RunShare(functor, functor.GetNumber(), threadIdx.x, blockDim.x);
    __syncthreads();
  }
};

constexpr unsigned int ThreadsOfLoopsInOneBlock = 1024;

template <typename TProgram>
__global__ void
__launch_bounds__(ThreadsOfLoopsInOneBlock)
  ProgramKernel(const __grid_constant__ TProgram program, const __grid_constant__ HostSignal signal)
{
  program(BlockExecutor{});
  signal.Send();
}

/** Parallel loops within a cooperative grid, whose blocks are all resident. A grid-wide barrier after each loop
 * makes its writes visible to the next one. */
struct GridExecutor : ThreadExecutor
{
  template <typename TFunctor>
  __device__ void
  ParallelForUpTo(size_t, const TFunctor & functor) const
  {
    RunInGrid(functor, functor.GetNumber());
    cooperative_groups::this_grid().sync();
  }
  template <typename TFunctor>
  __device__ void
  ParallelForTeamsUpTo(size_t, const TFunctor & functor) const
  {
    RunTeams(functor);
    cooperative_groups::this_grid().sync();
  }
  /** Runs a loop over teams, because there are few long work items for the many threads. */
  template <typename TFunctor>
  __device__ void
  ParallelForLongItemsUpTo(size_t most, const TFunctor & functor) const
  {
    this->ParallelForTeamsUpTo(most, functor);
  }
};

constexpr unsigned int ThreadsOfCooperativeLoop = 256;
/** Blocks per multiprocessor. More blocks make the grid-wide barriers slower. */
constexpr unsigned int BlocksOfCooperativeLoop = 2;
/** Blocks per multiprocessor when several runs share the device and the loops need few registers. */
constexpr unsigned int BlocksOfConcurrentRuns = 4;

template <typename TProgram>
constexpr unsigned int MaximumBlocksOfGrid =
  TProgram::NeedsManyRegisters ? BlocksOfCooperativeLoop : BlocksOfConcurrentRuns;

template <typename TProgram>
__global__ void
__launch_bounds__(ThreadsOfCooperativeLoop, MaximumBlocksOfGrid<TProgram>)
  GridProgramKernel(const __grid_constant__ TProgram program, const __grid_constant__ HostSignal signal)
{
  program(GridExecutor{});
  if (signal.Mark != nullptr && blockIdx.x == 0)
  {
    signal.Send();
  }
}
} // namespace kernels
} // namespace itk::cuda::executor

#endif
