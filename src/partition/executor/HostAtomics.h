// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_partition_executor_HostAtomics_h
#define CudaFilters_partition_executor_HostAtomics_h

#include "partition/Model.h"

#include <algorithm>
#include <cstdint>
#include <utility>

namespace itk::cuda::partition
{
/** The operations of DeviceAtomics for work items that run one after the other on one thread. */
struct SerialAtomics
{
  static void
  Add(uint32_t & sum, uint32_t x)
  {
    sum += x;
  }
  static void
  Add(int64_t & sum, int64_t x)
  {
    sum += x;
  }
  static void
  Add(Moments & sum, const Moments & x)
  {
    sum += x;
  }
  /** Returns the earlier value. */
  static uint64_t
  FetchAdd(uint64_t & sum, uint64_t x)
  {
    return std::exchange(sum, sum + x);
  }
  static uint32_t
  Exchange(uint32_t & x, uint32_t value)
  {
    return std::exchange(x, value);
  }
  static void
  Maximum(uint64_t & largest, uint64_t x)
  {
    if (x > largest)
    {
      largest = x;
    }
  }
  /** Returns the earlier value. */
  static uint32_t
  Minimum(uint32_t & smallest, uint32_t x)
  {
    return std::exchange(smallest, std::min(smallest, x));
  }
  static void
  Minimum(uint64_t & smallest, uint64_t x)
  {
    if (x < smallest)
    {
      smallest = x;
    }
  }
  static uint64_t
  Load(const uint64_t & x)
  {
    return x;
  }
  template <typename T>
  static T
  LoadRelaxed(const T & x)
  {
    return x;
  }
  template <typename T>
  static void
  StoreRelaxed(T & x, T value)
  {
    x = value;
  }
  /** Returns the earlier value. */
  template <typename T>
  static T
  CompareAndSwap(T & x, T expected, T desired)
  {
    const T earlier = x;
    if (earlier == expected)
    {
      x = desired;
    }
    return earlier;
  }
  static void
  WarpAggregatedIncrement(uint32_t & counter)
  {
    ++counter;
  }
  /** Returns the counter before it is incremented. */
  static uint32_t
  FetchIncrement(uint32_t & counter)
  {
    return counter++;
  }
  /** Returns the counter after it is decremented. */
  static uint32_t
  DecrementAndFetch(uint32_t & counter)
  {
    return --counter;
  }
};

/** The operations of DeviceAtomics for work items on several threads. They do not order other accesses (relaxed
 * atomics), because a work item reads what others write only in the next loop. */
struct ThreadedAtomics
{
  static void
  Add(uint32_t & sum, uint32_t x)
  {
    __atomic_fetch_add(&sum, x, __ATOMIC_RELAXED);
  }
  static void
  Add(int64_t & sum, int64_t x)
  {
    __atomic_fetch_add(&sum, x, __ATOMIC_RELAXED);
  }
  static void
  Add(Moments & sum, const Moments & x)
  {
    __atomic_fetch_add(&sum.Count, x.Count, __ATOMIC_RELAXED);
    __atomic_fetch_add(&sum.Sum, x.Sum, __ATOMIC_RELAXED);
    if (x.SumOfSquares != 0) // 0 for laws that do not need squares
    {
      __atomic_fetch_add(&sum.SumOfSquares, x.SumOfSquares, __ATOMIC_RELAXED);
    }
  }
  static uint64_t
  FetchAdd(uint64_t & sum, uint64_t x)
  {
    return __atomic_fetch_add(&sum, x, __ATOMIC_RELAXED);
  }
  static uint32_t
  Exchange(uint32_t & x, uint32_t value)
  {
    return __atomic_exchange_n(&x, value, __ATOMIC_RELAXED);
  }
  static void
  Maximum(uint64_t & largest, uint64_t x)
  {
    uint64_t found = Load(largest); // a plain load first, because most values are not the largest
    while (found < x && !__atomic_compare_exchange_n(&largest, &found, x, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
    {}
  }
  static uint32_t
  Minimum(uint32_t & smallest, uint32_t x)
  {
    return MinimumOf(smallest, x);
  }
  static void
  Minimum(uint64_t & smallest, uint64_t x)
  {
    MinimumOf(smallest, x);
  }
  static uint64_t
  Load(const uint64_t & x)
  {
    return LoadRelaxed(x);
  }
  template <typename T>
  static T
  LoadRelaxed(const T & x)
  {
    return __atomic_load_n(&x, __ATOMIC_RELAXED);
  }
  template <typename T>
  static void
  StoreRelaxed(T & x, T value)
  {
    __atomic_store_n(&x, value, __ATOMIC_RELAXED);
  }
  template <typename T>
  static T
  CompareAndSwap(T & x, T expected, T desired)
  {
    // Stores the earlier value in `expected` if it differs.
    __atomic_compare_exchange_n(&x, &expected, desired, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
    return expected;
  }
  static void
  WarpAggregatedIncrement(uint32_t & counter)
  {
    __atomic_fetch_add(&counter, 1u, __ATOMIC_RELAXED);
  }
  static uint32_t
  FetchIncrement(uint32_t & counter)
  {
    return __atomic_fetch_add(&counter, 1u, __ATOMIC_RELAXED);
  }
  static uint32_t
  DecrementAndFetch(uint32_t & counter)
  {
    return __atomic_sub_fetch(&counter, 1u, __ATOMIC_RELAXED);
  }

private:
  template <typename T>
  static T
  MinimumOf(T & smallest, T x)
  {
    T found = __atomic_load_n(&smallest, __ATOMIC_RELAXED);
    while (x < found && !__atomic_compare_exchange_n(&smallest, &found, x, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
    {}
    return found;
  }
};

} // namespace itk::cuda::partition

#endif
