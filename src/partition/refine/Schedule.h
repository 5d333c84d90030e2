// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_partition_refine_Schedule_h
#define CudaFilters_partition_refine_Schedule_h

#include "itkCudaRegionPartitionTypes.h"

#include <cstdint>
#include <functional>
#include <limits>

// The order of the phases of a refinement, for the host and the device.
namespace itk::cuda::partition
{
/** The phases to run and their stop conditions. */
struct RefinementSchedule
{
  unsigned int MaximumNumberOfIterations{ 12 };
  bool         AllowMerging{ true };
  uint64_t     ShuffleSeed{ 0 }; // for tests: if not 0, work is done in a random order, which changes no result

  /** Called between rounds; returning false ends the run as soon as the map is consistent. */
  std::function<bool()> GoOn;
  /** Called after each iteration with its number, from 1. */
  std::function<void(unsigned int)> AfterIteration;
};

/** Returns the maximum number of rounds of moves: few in the first iteration, because merges will still change much;
 * later until nothing moves, which mostly takes fewer. */
constexpr int
GetMoveRounds(bool isFirstIteration)
{
  return isFirstIteration ? 6 : 40;
}

/** Iterates until an iteration lowers the description by less than one nat.
 * \param runIteration called with whether it is the first iteration; returns false if the run is to end
 * \param numberOfIterations receives the number of complete iterations
 */
template <typename TIteration, typename TDescription>
CudaRegionPartitionStop
IterateRefinement(const RefinementSchedule & schedule,
                  uint32_t &                 numberOfIterations,
                  const TIteration &         runIteration,
                  const TDescription &       describe)
{
  constexpr double gainOfLastIteration = 1.0;
  double           last = std::numeric_limits<double>::infinity();
  for (unsigned int i = 0; i < schedule.MaximumNumberOfIterations; ++i)
  {
    if (!runIteration(i == 0))
    {
      return CudaRegionPartitionStop::Aborted;
    }
    numberOfIterations = i + 1;
    if (schedule.AfterIteration)
    {
      schedule.AfterIteration(i + 1);
    }
    const double description = describe();
    if (last - description < gainOfLastIteration)
    {
      return CudaRegionPartitionStop::Converged;
    }
    last = description;
  }
  return CudaRegionPartitionStop::MaximumNumberOfIterations;
}
} // namespace itk::cuda::partition

#endif
