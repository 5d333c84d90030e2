// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaPartitionTestProcessor_h
#define itkCudaPartitionTestProcessor_h

#include "itkCudaPartitionGraphSteps.h"
#include "itkCudaPartitionModel.h"
#include "itkCudaPartitionScene.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <random>
#include <utility>
#include <vector>

namespace itk::cuda::test
{
/** \class TestProcessor
 * \brief The device as EdgeGraph and LabelSearch see it, on one thread of the host: passes of a loop run in a random
 * order, sorting leaves equal keys in a random order, and memory begins with garbage.
 */
class TestProcessor
{
public:
  /** Passes run one after the other. */
  struct Atomics
  {
    static void
    Add(uint32_t & sum, uint32_t x)
    {
      sum += x;
    }
    static void
    Add(partition::Moments & sum, const partition::Moments & x)
    {
      sum += x;
    }
    static void
    Maximum(uint64_t & largest, uint64_t x)
    {
      largest = std::max(largest, x);
    }
    /** Returns the earlier value. */
    static uint32_t
    Minimum(uint32_t & smallest, uint32_t x)
    {
      const uint32_t earlier = smallest;
      smallest = std::min(smallest, x);
      return earlier;
    }
  };

  template <typename T>
  class Array
  {
  public:
    Array() = default;
    explicit Array(size_t number)
      : m_Data(number * sizeof(T), 0xcd)
    {}
    T *
    Get() const
    {
      return reinterpret_cast<T *>(const_cast<unsigned char *>(m_Data.data()));
    }

  private:
    std::vector<unsigned char> m_Data; // as aligned as any type
  };

  TestProcessor(const partition::Scene & scene, uint64_t seed)
    : m_Scene(scene)
    , m_Engine(seed)
  {}

  template <typename T>
  Array<T>
  Allocate(size_t number) const
  {
    return Array<T>(number);
  }
  template <typename T>
  T
  Read(const T * value) const
  {
    return *value;
  }
  template <typename T>
  void
  Fill(T * data, size_t number, int byte) const
  {
    if (number > 0)
    {
      memset(static_cast<void *>(data), byte, number * sizeof(T));
    }
  }
  template <typename TFunction>
  void
  VisitScene(const TFunction & function) const
  {
    function(m_Scene);
  }

  template <typename TStep>
  void
  For(size_t number, const TStep & step) const
  {
    for (const size_t i : this->Shuffle(number))
    {
      step(i);
    }
  }

  /** sums[i]: of function(0) to function(i - 1), for 0 <= i <= number. */
  template <typename TFunction, typename T>
  void
  Sum(const TFunction & function, size_t number, T * sums) const
  {
    T sum{ 0 };
    for (size_t i = 0; i < number; ++i)
    {
      const T value = function(i);
      sums[i] = sum;
      sum += value;
    }
    sums[number] = sum;
  }
  template <typename TFunction>
  void
  MaximumSoFar(const TFunction & function, size_t number, uint32_t * maxima) const
  {
    uint32_t maximum = 0;
    for (size_t i = 0; i < number; ++i)
    {
      maximum = std::max(maximum, function(i));
      maxima[i] = maximum;
    }
  }
  void
  SortByKeys(const uint64_t * keys,
             const uint32_t * values,
             size_t           number,
             int              bits,
             uint64_t *       sortedKeys,
             uint32_t *       sortedValues) const
  {
    std::vector<size_t> order = this->Shuffle(number);
    std::stable_sort(order.begin(), order.end(), [&](size_t i, size_t j) {
      const uint64_t mask = (uint64_t{ 1 } << bits) - 1;
      return (keys[i] & mask) < (keys[j] & mask);
    });
    for (size_t i = 0; i < number; ++i)
    {
      sortedKeys[i] = keys[order[i]];
      sortedValues[i] = values[order[i]];
    }
  }
  size_t
  AddByKeys(const uint64_t * keys, const uint32_t * cracks, size_t number, uint64_t * combinedKeys, uint32_t * sums)
    const
  {
    size_t combined = 0;
    for (size_t i = 0; i < number; ++i)
    {
      const bool isNew = combined == 0 || combinedKeys[combined - 1] != keys[i];
      combinedKeys[combined - (isNew ? 0 : 1)] = keys[i];
      uint32_t & sum = sums[combined - (isNew ? 0 : 1)];
      sum = isNew ? cracks[i] : partition::AddCracks(sum, cracks[i]);
      combined += isNew ? 1 : 0;
    }
    return combined;
  }

private:
  const partition::Scene & m_Scene;
  mutable std::mt19937_64  m_Engine;

  std::vector<size_t>
  Shuffle(size_t number) const
  {
    std::vector<size_t> order(number);
    std::iota(order.begin(), order.end(), size_t{ 0 });
    std::shuffle(order.begin(), order.end(), m_Engine);
    return order;
  }
};
} // namespace itk::cuda::test

#endif
