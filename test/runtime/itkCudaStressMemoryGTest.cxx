// SPDX-License-Identifier: Apache-2.0

// Tests how the stress program judges memory. Memory in use must be equal, and the resident memory may grow only a
// little.

#include "stress/itkCudaStressMemory.h"

#include <gtest/gtest.h>

#include <cstring>
#include <sys/mman.h>

namespace
{
using namespace itk::cuda::test;

constexpr StressMemory Before{ 100, 200, 300, size_t{ 1 } << 30 };
} // namespace

TEST(CudaStressMemory, Memory_in_use_is_equal_and_resident_memory_grows_by_less_than_a_kibibyte_for_each_call)
{
  EXPECT_EQ(CompareStressMemory(Before, Before, 0), "");
  StressMemory now = Before;
  now.Device += 1;
  EXPECT_EQ(CompareStressMemory(Before, now, 1000), "device memory in use: 101 bytes, before 100\n");
  now = Before;
  now.Pinned -= 1;
  EXPECT_EQ(CompareStressMemory(Before, now, 1000), "pinned memory in use: 199 bytes, before 200\n");
  now = Before;
  now.Host = 0;
  EXPECT_EQ(CompareStressMemoryInUse(Before, now), "host memory in use: 0 bytes, before 300\n");
  now = Before;
  now.Resident += 1024 * 5000 + StressResidentBytesBeside;
  EXPECT_EQ(CompareStressMemory(Before, now, 5000), "");
  EXPECT_EQ(CompareStressMemoryInUse(Before, now), "");
  now.Resident += 1;
  EXPECT_NE(CompareStressMemory(Before, now, 5000).find("after 5000 calls"), std::string::npos);
  now.Resident = 0;
  EXPECT_EQ(CompareStressMemory(Before, now, 0), "") << "memory that was given back";
}

TEST(CudaStressMemory, Resident_memory_follows_what_the_process_touches)
{
  const size_t bytes = size_t{ 256 } << 20;
  const size_t before = GetStressMemory().Resident;
  void * const memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  std::memset(memory, 1, bytes);
  EXPECT_GT(GetStressMemory().Resident, before + bytes / 2);
  munmap(memory, bytes);
  EXPECT_LT(GetStressMemory().Resident, before + bytes / 2);
}
