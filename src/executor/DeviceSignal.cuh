// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_executor_DeviceSignal_cuh
#define CudaFilters_executor_DeviceSignal_cuh

#include "executor/ConcurrentRuns.h"
#include "runtime/device/Call.h"
#include "runtime/device/Spin.h"
#include "runtime/device/Stream.h"
#include "runtime/memory/PinnedMemory.h"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <thread>

// Signals from kernels to the host. A copy and the driver's wait would each take some microseconds more.
namespace itk::cuda::executor
{
namespace kernels
{
/** A signal from a kernel to the host: it copies bytes to pinned memory and then sets a flag there. */
struct HostSignal
{
  const volatile uint32_t * From;
  uint32_t *                To;
  unsigned int              NumberOfBytes;
  volatile uint32_t *       Mark; // null if there is no signal
  uint32_t                  Number;

  /** Copies the bytes and sets the flag. All threads of one block must call this. */
  __device__ void
  Send() const
  {
    const unsigned int words = NumberOfBytes / sizeof(uint32_t);
    for (unsigned int i = threadIdx.x; i < words; i += blockDim.x)
    {
      To[i] = From[i];
    }
    if (threadIdx.x < NumberOfBytes % sizeof(uint32_t))
    {
      const size_t last = words * sizeof(uint32_t) + threadIdx.x;
      reinterpret_cast<unsigned char *>(To)[last] = reinterpret_cast<const volatile unsigned char *>(From)[last];
    }
    __threadfence_system();
    __syncthreads();
    if (threadIdx.x == 0)
    {
      *Mark = Number;
    }
  }
};

static __global__ void
SignalKernel(const __grid_constant__ HostSignal signal)
{
  signal.Send();
}
} // namespace kernels

/** \class HostMailbox
 * \brief Page-locked memory to which the kernels of one stream send values, and for which the host waits.
 */
class HostMailbox
{
public:
  /** For more bytes, a copy is faster than one block of threads. */
  static constexpr size_t MaximumBytes = size_t{ 1 } << 16;

  explicit HostMailbox(const Context & context)
    : m_Context(context)
    , m_Memory(PinnedBuffer::Take())
  {
    *this->GetFlag() = m_NumberOfSignals;
  }

  /** Makes the signal of the next kernel. It copies a value or an array, if any, whose address is a multiple of 4. */
  kernels::HostSignal
  MakeSignal(const void * value = nullptr, size_t bytes = 0)
  {
    return { static_cast<const uint32_t *>(value),
             static_cast<uint32_t *>(m_Memory.GetPointer()),
             static_cast<unsigned int>(bytes),
             this->GetFlag(),
             ++m_NumberOfSignals };
  }
  /** Waits for the last signal and returns what it copied. */
  const void *
  Wait() const
  {
    static const size_t processors = std::thread::hardware_concurrency();
    const bool          isCrowded = ConcurrentRuns::CountOf(m_Context.GetDevice()) > processors;
    const auto          hasCome = [this] { return *this->GetFlag() == m_NumberOfSignals; };
    while (!(isCrowded ? NapUntil(hasCome) : SpinUntil(hasCome)))
    {
      // If the kernel will never run (an error), the stream is not busy. cudaErrorNotReady must not stay in the
      // runtime, because other libraries ask for the last error.
      if (ITK_CUDA_CALL_NOTHROW(cudaStreamQuery(m_Context.GetStream())) != cudaErrorNotReady)
      {
        ITK_CUDA_CALL(cudaStreamSynchronize(m_Context.GetStream()));
        break;
      }
    }
    std::atomic_thread_fence(std::memory_order_acquire);
    return m_Memory.GetPointer();
  }

private:
  /** The last word of the memory. */
  static constexpr size_t FlagOffset = PinnedBuffer::ChunkSize - sizeof(uint32_t);
  static_assert(MaximumBytes <= FlagOffset, "They have room before the flag");

  const Context      m_Context;
  const PinnedBuffer m_Memory;
  uint32_t           m_NumberOfSignals{ 0 }; // the value of the flag after the last signal

  volatile uint32_t *
  GetFlag() const
  {
    return reinterpret_cast<volatile uint32_t *>(static_cast<char *>(m_Memory.GetPointer()) + FlagOffset);
  }
};
} // namespace itk::cuda::executor

#endif
