// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_executor_DeviceAtomics_cuh
#define CudaFilters_executor_DeviceAtomics_cuh

#include "region/Laws.h"
#include "region/Sums.cuh"

#include <cstdint>
#include <type_traits>

namespace itk::cuda::executor
{
using region::Moments;

/** Atomic operations in device memory, as the kernels use them on any executor. Where they return a value, it is the
 * earlier one. */
struct DeviceAtomics
{
  template <typename T>
  static __device__ T
  FetchAdd(T & sum, std::common_type_t<T> x)
  {
    return static_cast<T>(atomicAdd(WordOf(sum), static_cast<Word<T>>(x)));
  }
  template <typename T>
  static __device__ void
  Add(T & sum, std::common_type_t<T> x)
  {
    FetchAdd(sum, x);
  }
  static __device__ void
  Add(Moments & sum, const Moments & x)
  {
    region::kernels::AtomicAdd(sum, x);
  }
  static __device__ uint32_t
  Exchange(uint32_t & x, uint32_t value)
  {
    return atomicExch(&x, value);
  }
  template <typename T>
  static __device__ T
  Maximum(T & largest, std::common_type_t<T> x)
  {
    static_assert(std::is_unsigned_v<T>, "Words are compared as unsigned");
    return atomicMax(WordOf(largest), static_cast<Word<T>>(x));
  }
  template <typename T>
  static __device__ T
  Minimum(T & smallest, std::common_type_t<T> x)
  {
    static_assert(std::is_unsigned_v<T>, "Words are compared as unsigned");
    return atomicMin(WordOf(smallest), static_cast<Word<T>>(x));
  }
  /** Loads a value that other threads may change concurrently. */
  static __device__ uint64_t
  Load(const uint64_t & x)
  {
    return *static_cast<const volatile uint64_t *>(&x);
  }
  /** Load and store words that other threads store concurrently, if the order does not matter. Plain accesses do this
   * on the device. */
  template <typename T>
  static __device__ T
  LoadRelaxed(const T & x)
  {
    return x;
  }
  template <typename T>
  static __device__ void
  StoreRelaxed(T & x, T value)
  {
    x = value;
  }
  template <typename T>
  static __device__ T
  CompareAndSwap(T & x, std::common_type_t<T> expected, std::common_type_t<T> desired)
  {
    return atomicCAS(WordOf(x), static_cast<Word<T>>(expected), static_cast<Word<T>>(desired));
  }
  /** Decrements the counter atomically and returns the new value. */
  static __device__ uint32_t
  DecrementAndFetch(uint32_t & counter)
  {
    return atomicSub(&counter, 1) - 1;
  }
  /** Increments a counter atomically with one access per warp (warp-aggregated). All active threads must pass the same
   * counter. */
  static __device__ void
  WarpAggregatedIncrement(uint32_t & counter)
  {
    const unsigned int mask = __activemask();
    if (region::kernels::LaneIndex() == __ffs(static_cast<int>(mask)) - 1)
    {
      atomicAdd(&counter, static_cast<uint32_t>(__popc(mask)));
    }
  }
  /** Increments a counter atomically and returns its earlier value. The threads of a warp that use the same counter
   * share one atomic access (warp-aggregated increment). */
  static __device__ uint32_t
  FetchIncrement(uint32_t & counter)
  {
    const unsigned int peers = __match_any_sync(__activemask(), reinterpret_cast<unsigned long long>(&counter));
    const int          lane = region::kernels::LaneIndex();
    const int          first = __ffs(static_cast<int>(peers)) - 1;
    const auto         before = static_cast<uint32_t>(__popc(peers & ((1u << lane) - 1u)));
    const uint32_t     sum = lane == first ? atomicAdd(&counter, static_cast<uint32_t>(__popc(peers))) : 0;
    return __shfl_sync(peers, sum, first) + before;
  }

private:
  template <typename T>
  using Word = std::conditional_t<sizeof(T) == sizeof(unsigned int), unsigned int, unsigned long long>;

  /** Returns a pointer of the type that the built-in functions take. */
  template <typename T>
  static __device__ auto
  WordOf(T & x)
  {
    static_assert(sizeof(T) == sizeof(Word<T>) && std::is_integral_v<T>, "There are functions for 32 and 64 bits");
    return reinterpret_cast<Word<T> *>(&x);
  }
};
} // namespace itk::cuda::executor

#endif
