// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaSnakeGridBarrier_cuh
#define itkCudaSnakeGridBarrier_cuh

#include <cuda/atomic>

#include <cstdint>

namespace itk::cuda::snake
{
namespace kernels
{
/** How the blocks wait for each other; zero before the launch. */
struct GridBarrierState
{
  alignas(128) uint32_t Arrivals;
  alignas(128) uint32_t Releases;
};

/** A barrier for all blocks. In the order of memory, a block's work before it arrives comes before the other blocks'
 * work after they have waited. All blocks make the same calls. */
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

  /** When all blocks have arrived, the first block calls `function` alone, and the other blocks wait for it. */
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
      // Other blocks may be one barrier ahead. The counts wrap around together.
      while (static_cast<int32_t>(m_Arrivals.load(::cuda::memory_order_acquire) - m_ArrivalsDue) < 0)
      {}
    }
    __syncthreads();
  }
};
} // namespace kernels
} // namespace itk::cuda::snake

#endif
