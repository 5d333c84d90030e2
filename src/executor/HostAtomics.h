// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_executor_HostAtomics_h
#define CudaFilters_executor_HostAtomics_h

#include "region/Laws.h"

#include <cstdint>
#include <type_traits>
#include <utility>

namespace itk::cuda::executor
{
using region::Moments;

/** The operations of DeviceAtomics for work items that run one after the other on one thread, or on several threads.
 * They do not order other accesses (relaxed atomics), because a work item reads what others write only in the next
 * loop. Where they return a value, it is the earlier one. */
template <bool VThreads>
struct HostAtomics
{
  template <typename T>
  static T
  LoadRelaxed(const T & x)
  {
    if constexpr (VThreads)
    {
      return __atomic_load_n(&x, __ATOMIC_RELAXED);
    }
    return x;
  }
  template <typename T>
  static void
  StoreRelaxed(T & x, T value)
  {
    if constexpr (VThreads)
    {
      __atomic_store_n(&x, value, __ATOMIC_RELAXED);
    }
    else
    {
      x = value;
    }
  }
  template <typename T>
  static T
  Exchange(T & x, T value)
  {
    if constexpr (VThreads)
    {
      return __atomic_exchange_n(&x, value, __ATOMIC_RELAXED);
    }
    return std::exchange(x, value);
  }
  template <typename T>
  static T
  FetchAdd(T & sum, std::common_type_t<T> x)
  {
    if constexpr (VThreads)
    {
      return __atomic_fetch_add(&sum, x, __ATOMIC_RELAXED);
    }
    return std::exchange(sum, sum + x);
  }
  template <typename T>
  static T
  CompareAndSwap(T & x, T expected, T desired)
  {
    if constexpr (VThreads)
    {
      // Stores the earlier value in `expected` if it differs.
      __atomic_compare_exchange_n(&x, &expected, desired, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
      return expected;
    }
    const T earlier = x;
    if (earlier == expected)
    {
      x = desired;
    }
    return earlier;
  }

  static uint64_t
  Load(const uint64_t & x)
  {
    return LoadRelaxed(x);
  }
  template <typename T>
  static void
  Add(T & sum, std::common_type_t<T> x)
  {
    FetchAdd(sum, x);
  }
  static void
  Add(Moments & sum, const Moments & x)
  {
    FetchAdd(sum.Count, x.Count);
    FetchAdd(sum.Sum, x.Sum);
    if (x.SumOfSquares != 0) // 0 for laws that do not need squares
    {
      FetchAdd(sum.SumOfSquares, x.SumOfSquares);
    }
  }
  template <typename T>
  static T
  Maximum(T & largest, std::common_type_t<T> x)
  {
    return Replace(largest, x, [x](T earlier) { return earlier < x; });
  }
  template <typename T>
  static T
  Minimum(T & smallest, std::common_type_t<T> x)
  {
    return Replace(smallest, x, [x](T earlier) { return x < earlier; });
  }
  static void
  WarpAggregatedIncrement(uint32_t & counter)
  {
    FetchAdd(counter, 1);
  }
  static uint32_t
  FetchIncrement(uint32_t & counter)
  {
    return FetchAdd(counter, 1);
  }
  /** Returns the counter after it is decremented. */
  static uint32_t
  DecrementAndFetch(uint32_t & counter)
  {
    return FetchAdd(counter, ~uint32_t{ 0 }) - 1;
  }

private:
  /** Replaces a value as long as isWorse(value). Loads it first, because most values stay. */
  template <typename T, typename TIsWorse>
  static T
  Replace(T & value, T x, const TIsWorse & isWorse)
  {
    T earlier = LoadRelaxed(value);
    for (T found = earlier; isWorse(earlier); found = earlier)
    {
      earlier = CompareAndSwap(value, found, x);
      if (earlier == found)
      {
        break;
      }
    }
    return earlier;
  }
};

using SerialAtomics = HostAtomics<false>;
using ThreadedAtomics = HostAtomics<true>;
} // namespace itk::cuda::executor

#endif
