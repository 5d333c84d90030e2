// SPDX-License-Identifier: Apache-2.0
#include "itkCudaPartitionKeptBlocks.h"
#include "itkCudaPartitionTestCase.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <random>
#include <utility>
#include <vector>

namespace
{
/** Memory of a size, and the bytes of all. */
class Block
{
public:
  Block(size_t size, size_t & inUse)
    : m_Size(size)
    , m_InUse(&inUse)
  {
    inUse += size;
  }
  Block(Block && other) noexcept
    : m_Size(std::exchange(other.m_Size, 0))
    , m_InUse(other.m_InUse)
  {}
  Block &
  operator=(Block && other) noexcept
  {
    std::swap(m_Size, other.m_Size);
    return *this;
  }
  ~Block() { *m_InUse -= m_Size; }

  size_t
  GetSize() const
  {
    return m_Size;
  }

private:
  size_t   m_Size;
  size_t * m_InUse;
};
using KeptBlocks = itk::cuda::partition::KeptBlocks<Block>;

/** A device of limited memory. */
struct Device
{
  size_t InUse{ 0 };
  size_t Limit{ ~size_t{ 0 } };
  size_t Calls{ 0 };

  Block
  Allocate(size_t bytes)
  {
    ++Calls;
    if (InUse + bytes > Limit)
    {
      throw itk::CudaError(__FILE__, __LINE__, itk::CudaError::Kind::OutOfMemory, "No room");
    }
    return { bytes, InUse };
  }
  Block
  Take(KeptBlocks & kept, size_t bytes)
  {
    return kept.Take(bytes, [this](size_t size) { return this->Allocate(size); });
  }
};

TEST(CudaPartitionKeptBlocks, TheSmallestBlockWithRoomIsTaken)
{
  Device     device;
  KeptBlocks kept;
  for (const size_t size : { 300000, 100000, 200000 })
  {
    kept.Give(device.Allocate(size));
  }
  const Block second = device.Take(kept, 150000);
  EXPECT_EQ(second.GetSize(), 200000u);
  const Block third = device.Take(kept, 150001);
  EXPECT_EQ(third.GetSize(), 300000u);
  EXPECT_EQ(device.Calls, 3u);
  const Block tooSmall = device.Take(kept, 100001); // the last one has 100000
  EXPECT_EQ(tooSmall.GetSize(), 100001u);
  const Block tooLarge = device.Take(kept, 10000); // less than half of it
  EXPECT_EQ(tooLarge.GetSize(), 10000u);
  EXPECT_EQ(device.Calls, 5u);
  EXPECT_EQ(device.Take(kept, 100000).GetSize(), 100000u);
  EXPECT_EQ(device.Calls, 5u);
}

TEST(CudaPartitionKeptBlocks, LargeBlocksAreReleasedAndFewBytesAreKept)
{
  Device device;
  {
    KeptBlocks kept;
    kept.Give(device.Allocate(KeptBlocks::LargestBlock + 1));
    EXPECT_EQ(device.InUse, 0u);
    std::mt19937_64 engine(itk::cuda::test::PrintSeed(851));
    for (int i = 0; i < 1000; ++i)
    {
      kept.Give(device.Allocate(std::uniform_int_distribution<size_t>(1, KeptBlocks::LargestBlock)(engine)));
      ASSERT_LE(device.InUse, KeptBlocks::MostBytes);
    }
    EXPECT_GT(device.InUse, KeptBlocks::MostBytes / 2);
  }
  EXPECT_EQ(device.InUse, 0u);
}

TEST(CudaPartitionKeptBlocks, NoTwoArraysHaveOneBlock)
{
  Device             device;
  KeptBlocks         kept;
  std::vector<Block> blocks;
  std::mt19937_64    engine(itk::cuda::test::PrintSeed(852));
  for (int i = 0; i < 10000; ++i)
  {
    const size_t bytes = std::uniform_int_distribution<size_t>(1, 100000)(engine);
    if (blocks.size() < 20 && engine() % 2 == 0)
    {
      blocks.push_back(device.Take(kept, bytes));
      ASSERT_GE(blocks.back().GetSize(), bytes);
    }
    else if (!blocks.empty())
    {
      std::swap(blocks[engine() % blocks.size()], blocks.back());
      kept.Give(std::move(blocks.back()));
      blocks.pop_back();
    }
  }
  EXPECT_LT(device.Calls, 500u);
  blocks.clear();
  kept.Release();
  EXPECT_EQ(device.InUse, 0u); // none was lost, and none is in two places
}

TEST(CudaPartitionKeptBlocks, AreReleasedIfMemoryRunsOut)
{
  Device     device;
  KeptBlocks kept;
  kept.Give(device.Allocate(1000));
  device.Limit = 500000;
  EXPECT_EQ(device.Take(kept, 500000).GetSize(), 500000u);
  EXPECT_EQ(device.Calls, 3u);
  EXPECT_THROW(device.Take(kept, 500001), itk::CudaError); // nothing is kept: it is not tried again
  EXPECT_EQ(device.Calls, 4u);
}
} // namespace
