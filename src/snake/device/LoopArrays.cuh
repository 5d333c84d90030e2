// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_snake_device_LoopArrays_cuh
#define CudaFilters_snake_device_LoopArrays_cuh

#include "runtime/HostDevice.h"
#include "snake/device/DeviceState.cuh"
#include "snake/device/Kernels.cuh"

#include <cstddef>

// Places the arrays of a snake in device memory.

namespace itk::cuda::snake
{
/** Places arrays one behind the other in memory that is aligned to a cache line. */
class ArrayPlacer
{
public:
  ITK_CUDA_HOST_DEVICE explicit ArrayPlacer(void * base)
    : m_Base(static_cast<char *>(base))
  {}

  template <typename T>
  ITK_CUDA_HOST_DEVICE void
  Place(T *& array, size_t number)
  {
    array = reinterpret_cast<T *>(m_Base + m_Size);
    m_Size += (number * sizeof(T) + CacheLine - 1) / CacheLine * CacheLine;
  }
  ITK_CUDA_HOST_DEVICE size_t
  GetSize() const
  {
    return m_Size;
  }

private:
  static constexpr size_t CacheLine = 128;

  char * m_Base;
  size_t m_Size{ 0 };
};

/** The sizes of the arrays of the loop. */
struct LoopSizes
{
  size_t Nodes;
  size_t Workers; // of the team: warps or lanes
  size_t Entries; // of the record

  /** Sets the arrays of the state in the memory at `base`. Returns the number of bytes used. */
  ITK_CUDA_HOST_DEVICE size_t
  PlaceArrays(void * base, kernels::DeviceSnake & state) const
  {
    ArrayPlacer placer(base);
    placer.Place(state.Polygons[0], Nodes);
    placer.Place(state.Polygons[1], Nodes);
    // A chunk for each node, and one more for each unit of work.
    placer.Place(state.Chunks, Nodes + Workers * kernels::UnitsPerWorker);
    placer.Place(state.ItemSums, this->GetNumberOfItems());
    for (Moments *& changes : state.Changes)
    {
      placer.Place(changes, Nodes * MaximumCandidates);
    }
    placer.Place(state.CacheRows, Nodes);
    placer.Place(state.IsStale, Nodes);
    placer.Place(state.Proposed, Nodes);
    placer.Place(state.IsSuppressed, Nodes);
    placer.Place(state.Proposals, Nodes);
    placer.Place(state.Record, Entries);
    state.RecordCapacity = static_cast<uint32_t>(Entries);
    return placer.GetSize();
  }

  ITK_CUDA_HOST_DEVICE size_t
  GetNumberOfItems() const
  {
    return Nodes * kernels::MaximumItemsPerNode;
  }

  size_t
  GetNumberOfBytes() const
  {
    kernels::DeviceSnake unused;
    return this->PlaceArrays(nullptr, unused);
  }
};
} // namespace itk::cuda::snake

#endif
