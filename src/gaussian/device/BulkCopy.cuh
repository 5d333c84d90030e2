// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_gaussian_device_BulkCopy_cuh
#define CudaFilters_gaussian_device_BulkCopy_cuh

#include <cuda.h>
#include <cuda/ptx>
#include <cstdint>

// Wraps the instructions of bulk copies. The copy engine of compute capability 9.0 moves boxes of an array between
// global and shared memory. A tensor map (gaussian/device/PipelinedStrip.h) describes the array. Only code for such
// devices may call these functions, within NV_IF_TARGET.

namespace itk::cuda::gaussian
{
/** A barrier in shared memory at which threads wait for each other and for copies. A phase ends when all arrivals have
 * been counted and the announced bytes have been transferred. The parity of the phases alternates, beginning with 0. */
class TileBarrier
{
public:
  __device__ void
  Initialize(unsigned int arrivals)
  {
    ::cuda::ptx::mbarrier_init(&m_Barrier, arrivals);
  }

  __device__ void
  Arrive()
  {
    ::cuda::ptx::mbarrier_arrive(&m_Barrier);
  }

  __device__ void
  ArriveAndExpect(unsigned int bytes)
  {
    ::cuda::ptx::mbarrier_arrive_expect_tx(
      ::cuda::ptx::sem_release, ::cuda::ptx::scope_cta, ::cuda::ptx::space_shared, &m_Barrier, bytes);
  }

  __device__ void
  Wait(unsigned int parity)
  {
    while (!::cuda::ptx::mbarrier_try_wait_parity(&m_Barrier, parity))
    {}
  }

  __device__ uint64_t *
  Get()
  {
    return &m_Barrier;
  }

private:
  uint64_t m_Barrier;
};

/** Makes initialised barriers visible to the copy engine. The thread that initialised them must call it. */
__device__ inline void
PublishBarriers()
{
  ::cuda::ptx::fence_mbarrier_init(::cuda::ptx::sem_release, ::cuda::ptx::scope_cluster);
  ::cuda::ptx::fence_proxy_async(::cuda::ptx::space_shared);
}

/** Makes the thread's accesses to shared memory visible to the copy engine. */
__device__ inline void
PublishTile()
{
  ::cuda::ptx::fence_proxy_async(::cuda::ptx::space_shared);
}

/** Position of a box: elements along the map's three axes. */
struct BoxPosition
{
  int Axis[3];
};

/** Queues a copy to shared memory. Its bytes must have been announced to the barrier. */
__device__ inline void
LoadBox(void * destination, const CUtensorMap & map, const BoxPosition & position, TileBarrier & barrier)
{
  ::cuda::ptx::cp_async_bulk_tensor(
    ::cuda::ptx::space_cluster, ::cuda::ptx::space_global, destination, &map, position.Axis, barrier.Get());
}

/** Queues a copy from shared memory, and waits until shared memory has been read. */
__device__ inline void
StoreBox(const CUtensorMap & map, const BoxPosition & position, const void * source)
{
  ::cuda::ptx::cp_async_bulk_tensor(::cuda::ptx::space_global, ::cuda::ptx::space_shared, &map, position.Axis, source);
  ::cuda::ptx::cp_async_bulk_commit_group();
  ::cuda::ptx::cp_async_bulk_wait_group_read(::cuda::ptx::n32_t<0>{});
}
} // namespace itk::cuda::gaussian

#endif
