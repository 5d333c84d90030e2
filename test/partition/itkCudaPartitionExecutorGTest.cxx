// SPDX-License-Identifier: Apache-2.0
#include "executor/ArrayHeap.h"
#include "partition/itkCudaPartitionTestCase.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <random>
#include <utility>
#include <vector>

namespace
{
using itk::cuda::executor::ArrayHeap;

TEST(CudaPartitionArrayHeap, NoTwoArraysShareAByteAndNoneIsLost)
{
  constexpr size_t                          size = size_t{ 1 } << 20;
  alignas(ArrayHeap::Alignment) static char begin[size]; // is never used
  ArrayHeap                                 heap(begin, size);
  std::vector<char>                         isTaken(size, 0);
  std::vector<std::pair<size_t, size_t>>    arrays; // begin, bytes
  std::mt19937_64                           engine(itk::cuda::test::PrintSeed(852));
  size_t                                    refused = 0;
  const auto                                mark = [&](const std::pair<size_t, size_t> & array, char taken) {
    for (size_t i = array.first; i < array.first + array.second; ++i)
    {
      ASSERT_NE(isTaken[i], taken);
      isTaken[i] = taken;
    }
  };
  for (int i = 0; i < 20000; ++i)
  {
    const size_t bytes = std::uniform_int_distribution<size_t>(1, engine() % 8 == 0 ? 200000 : 5000)(engine);
    if (arrays.size() < 60 && engine() % 2 == 0)
    {
      void * const array = heap.Take(bytes);
      refused += array != nullptr ? 0 : 1;
      if (array != nullptr)
      {
        arrays.emplace_back(static_cast<char *>(array) - begin, bytes);
        ASSERT_EQ(arrays.back().first % ArrayHeap::Alignment, 0u);
        ASSERT_LE(arrays.back().first + bytes, size);
        mark(arrays.back(), 1);
      }
    }
    else if (!arrays.empty())
    {
      std::swap(arrays[engine() % arrays.size()], arrays.back());
      mark(arrays.back(), 0);
      heap.Give(begin + arrays.back().first);
      arrays.pop_back();
    }
  }
  EXPECT_GT(refused, 10u);
  EXPECT_LT(refused, 5000u);
  for (const auto & array : arrays)
  {
    heap.Give(begin + array.first);
  }
  EXPECT_TRUE(heap.Has(begin) && heap.Has(begin + size - 1) && !heap.Has(begin + size));
  EXPECT_EQ(heap.Take(size), begin);
}

/** Calls function(executor, number, engine) for numbers of values around the sizes of pieces, with 1, 2 and 7 threads.
 */
template <typename TFunction>
void
ForExecutors(uint64_t seed, const TFunction & function)
{
  using namespace itk::cuda::partition;
  std::mt19937_64                engine(itk::cuda::test::PrintSeed(seed));
  itk::cuda::test::PartitionCase image =
    itk::cuda::test::MakeRandomCase(itk::cuda::region::NoiseLaw::Gaussian, 4, 4, 0, engine);
  const itk::cuda::test::PreparedCase prepared(image);
  for (const unsigned int threads : { 1u, 2u, 7u })
  {
    const itk::cuda::region::Threads hostThreads(threads);
    for (const size_t number : { 0, 1, 5, 4096, 4097, 32767, 32768, 250000 })
    {
      function(ThreadedHostExecutor(prepared.Scene, hostThreads), number, engine);
    }
  }
}

TEST(CudaPartitionHostExecutor, ScansAreThoseOfTheStandardLibrary)
{
  ForExecutors(821, [](const auto & executor, size_t number, std::mt19937_64 & engine) {
    std::vector<uint32_t> values(number);
    std::generate(values.begin(), values.end(), [&] { return static_cast<uint32_t>(engine() % 1000); });
    const auto            valueOf = [&](size_t i) { return values[i]; };
    std::vector<uint32_t> sums(number + 1);
    std::vector<uint32_t> maxima(number);
    std::vector<uint32_t> expected(number + 1, 0);
    std::partial_sum(values.begin(), values.end(), expected.begin() + 1);
    EXPECT_EQ(executor.ExclusiveScanAndRead(valueOf, number, sums.data()), expected.back()) << number;
    EXPECT_EQ(sums, expected) << number;
    expected.pop_back();
    std::partial_sum(
      values.begin(), values.end(), expected.begin(), [](uint32_t x, uint32_t y) { return std::max(x, y); });
    executor.InclusiveMaxScan(valueOf, number, maxima.data());
    EXPECT_EQ(maxima, expected) << number;
  });
}

TEST(CudaPartitionHostExecutor, SortsAreStableAndIgnoreUpperBits)
{
  ForExecutors(822, [](const auto & executor, size_t number, std::mt19937_64 & engine) {
    for (const int bits : { 3, 20, 42, 64 })
    {
      const uint64_t        mask = bits < 64 ? (uint64_t{ 1 } << bits) - 1 : ~uint64_t{ 0 };
      std::vector<uint64_t> keys(number);
      std::generate(keys.begin(), keys.end(), [&] { return engine() % 3 == 0 ? ~uint64_t{ 0 } : engine(); });
      std::vector<uint64_t> sorted(number);
      std::vector<uint32_t> indices(number);
      executor.ArgSort(keys.data(), number, bits, sorted.data(), indices.data());
      std::vector<uint32_t> expected(number);
      std::iota(expected.begin(), expected.end(), 0u);
      std::stable_sort(
        expected.begin(), expected.end(), [&](uint32_t i, uint32_t j) { return (keys[i] & mask) < (keys[j] & mask); });
      ASSERT_EQ(indices, expected) << number << " keys of " << bits << " bits";
      for (size_t i = 0; i < number; ++i)
      {
        ASSERT_EQ(sorted[i], keys[indices[i]]) << number << " keys of " << bits << " bits";
      }
    }
  });
}
} // namespace
