// SPDX-License-Identifier: Apache-2.0
#include "partition/itkCudaPartitionDevicePrimitives.h"
#include "snake/itkCudaSnakeDeviceTest.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <iostream>
#include <iterator>
#include <numeric>
#include <random>

// Sums and sorts of the partition on the device, on both sides of the sizes where one block stops doing them.
namespace
{
class CudaPartitionPrimitivesGpu : public itk::cuda::SnakeDeviceTest
{};
} // namespace

TEST_F(CudaPartitionPrimitivesGpu, SumsBeforeEachValue)
{
  const uint64_t seed = std::random_device{}();
  std::cout << "seed " << seed << '\n';
  std::mt19937_64 engine(seed);
  for (const size_t number : { 0, 1, 7, 8, 9, 1023, 1024, 1025, 8183, 8190, 8191, 8192, 8193, 100000 })
  {
    std::vector<uint32_t> values(number);
    std::generate(values.begin(), values.end(), [&engine] { return static_cast<uint32_t>(engine() % 40000); });
    std::vector<uint32_t> expected(number + 1, 0);
    std::partial_sum(values.begin(), values.end(), expected.begin() + 1);
    EXPECT_EQ(itk::cuda::executor::SumOnDevice(values, m_Device), expected) << number;
  }
}

// The fills begin anywhere. Some overlap earlier ones. There are more of them than one launch takes. The heap has room
// for all arrays, for some or for none.
TEST_F(CudaPartitionPrimitivesGpu, FillsTakePlaceInTheirOrder)
{
  const uint64_t seed = std::random_device{}();
  std::cout << "seed " << seed << '\n';
  std::mt19937_64 engine(seed);
  for (int run = 0; run < 100; ++run)
  {
    std::vector<size_t> sizes(1 + engine() % 12);
    std::generate(sizes.begin(), sizes.end(), [&engine] { return 1 + engine() % (engine() % 8 == 0 ? 300000 : 700); });
    std::vector<std::vector<uint8_t>> expected;
    std::transform(sizes.begin(), sizes.end(), std::back_inserter(expected), [](size_t size) {
      return std::vector<uint8_t>(size, 0);
    });
    std::vector<itk::cuda::executor::ByteFill> fills(engine() % 40);
    for (itk::cuda::executor::ByteFill & fill : fills)
    {
      fill.Array = engine() % sizes.size();
      const bool isWhole = engine() % 2 == 0;
      fill.Begin = isWhole ? 0 : engine() % sizes[fill.Array];
      fill.Number = isWhole ? sizes[fill.Array] : engine() % (sizes[fill.Array] - fill.Begin + 1);
      fill.Byte = static_cast<uint8_t>(engine());
      std::fill_n(expected[fill.Array].begin() + static_cast<std::ptrdiff_t>(fill.Begin), fill.Number, fill.Byte);
    }
    const size_t heapBytes = engine() % 3 * 100000;
    EXPECT_EQ(itk::cuda::executor::FillOnDevice(sizes, fills, heapBytes, m_Device), expected)
      << "run " << run << ", heap of " << heapBytes << " bytes";
  }
}

TEST_F(CudaPartitionPrimitivesGpu, KeysInOrderWithTheirPlaces)
{
  const uint64_t seed = std::random_device{}();
  std::cout << "seed " << seed << '\n';
  std::mt19937_64 engine(seed);
  for (const size_t number : { 1, 2, 1023, 1024, 1025, 4095, 4096, 4097, 8191, 8192, 8193, 50000 })
  {
    for (const int bits : { 1, 7, 22, 31, 32, 33, 63, 64 })
    {
      // Many keys are equal, and some are the largest that the bits hold. Bits above those make no difference.
      const uint64_t        largest = ~uint64_t{ 0 } >> (64 - bits);
      std::vector<uint64_t> keys(number);
      std::generate(keys.begin(), keys.end(), [&] {
        const uint64_t choice = engine() % 4;
        const uint64_t key = choice == 0 ? largest : (choice == 1 ? largest - engine() % 2 : engine() & largest);
        return key | (engine() % 2 == 0 ? ~largest : 0);
      });
      std::vector<uint32_t> indices(number);
      std::iota(indices.begin(), indices.end(), 0u);
      std::stable_sort(indices.begin(), indices.end(), [&](uint32_t i, uint32_t j) {
        return (keys[i] & largest) < (keys[j] & largest);
      });
      const itk::cuda::executor::SortedKeys sorted = itk::cuda::executor::SortOnDevice(keys, bits, m_Device);
      EXPECT_EQ(sorted.Indices, indices) << number << " keys of " << bits << " bits";
      for (size_t i = 0; i < number; ++i)
      {
        ASSERT_EQ(sorted.Keys[i], keys[indices[i]]) << number << " keys of " << bits << " bits, " << i;
      }
    }
  }
}
