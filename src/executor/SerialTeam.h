// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_executor_SerialTeam_h
#define CudaFilters_executor_SerialTeam_h

#include "region/Laws.h"
#include "runtime/HostDevice.h"

#include <cstddef>
#include <cstdint>
#include <type_traits>

// Runs work items for teams of threads on one thread, one after the other. The device's team is WarpTeam
// (executor/DeviceLoops.cuh). Executor.h lists what both offer.
namespace itk::cuda::executor
{
using region::Moments;

/** The share of one thread of a team in a strided loop over rows or cells. */
struct StridedRange
{
  int32_t First{ 0 };
  int32_t Stride{ 1 };
};

/** A team of one thread. With a team of several threads, each of them calls the same functions. */
struct SerialTeam
{
  static constexpr uint32_t NumberOfLanes = 1;

  /** Returns the thread's share of the rows or cells that the team divides. */
  ITK_CUDA_HOST_DEVICE StridedRange
  GetShare() const
  {
    return {};
  }
  /** Returns whether `ofLane` is true in all threads of the team. */
  ITK_CUDA_HOST_DEVICE bool
  All(bool ofLane) const
  {
    return ofLane;
  }
  /** Calls the function in one thread of the team. */
  template <typename TFunction>
  ITK_CUDA_HOST_DEVICE void
  Single(const TFunction & function) const
  {
    function();
  }
  /** Synchronizes the team: afterwards all threads see what each of them wrote. */
  ITK_CUDA_HOST_DEVICE void
  Sync() const
  {}
  /** Computes an in-place exclusive prefix sum. */
  void
  ExclusiveScan(Moments * values, uint32_t number) const
  {
    Moments before;
    for (uint32_t i = 0; i < number; ++i)
    {
      const Moments value = values[i];
      values[i] = before;
      before += value;
    }
  }
  /** Calls function(i) for i < number. */
  template <typename TFunction>
  void
  ParallelFor(uint32_t number, const TFunction & function) const
  {
    for (uint32_t i = 0; i < number; ++i)
    {
      function(i);
    }
  }
};

/** Runs work item i of a functor on one thread. */
template <typename TFunctor>
ITK_CUDA_HOST_DEVICE void
RunOnOneThread(const TFunctor & functor, size_t i)
{
  if constexpr (std::is_invocable_v<const TFunctor &, size_t>)
  {
    functor(i);
  }
  else
  {
    functor(i, SerialTeam{});
  }
}
} // namespace itk::cuda::executor

#endif
