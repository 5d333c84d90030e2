// SPDX-License-Identifier: Apache-2.0
#include "itkCudaPartitionDevicePrimitives.h"
#include "itkCudaSnakeDeviceTest.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <iostream>
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
    EXPECT_EQ(itk::cuda::partition::SumOnDevice(values, m_Device), expected) << number;
  }
}

TEST_F(CudaPartitionPrimitivesGpu, KeysInOrderWithTheirPlaces)
{
  const uint64_t seed = std::random_device{}();
  std::cout << "seed " << seed << '\n';
  std::mt19937_64 engine(seed);
  for (const size_t number : { 1, 2, 1023, 1024, 1025, 4095, 4096, 4097, 50000 })
  {
    for (const int bits : { 1, 7, 22, 63, 64 })
    {
      // Many keys are equal, and some are the largest that the bits hold.
      const uint64_t        largest = ~uint64_t{ 0 } >> (64 - bits);
      std::vector<uint64_t> keys(number);
      std::generate(keys.begin(), keys.end(), [&] {
        const uint64_t choice = engine() % 4;
        return choice == 0 ? largest : (choice == 1 ? largest - engine() % 2 : engine() & largest);
      });
      std::vector<uint32_t> places(number);
      std::iota(places.begin(), places.end(), 0u);
      std::stable_sort(places.begin(), places.end(), [&keys](uint32_t i, uint32_t j) { return keys[i] < keys[j]; });
      const itk::cuda::partition::SortedKeys sorted = itk::cuda::partition::SortOnDevice(keys, bits, m_Device);
      EXPECT_EQ(sorted.Places, places) << number << " keys of " << bits << " bits";
      for (size_t i = 0; i < number; ++i)
      {
        ASSERT_EQ(sorted.Keys[i], keys[places[i]]) << number << " keys of " << bits << " bits, " << i;
      }
    }
  }
}
