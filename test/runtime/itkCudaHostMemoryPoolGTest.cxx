// SPDX-License-Identifier: Apache-2.0
#include "itkCudaDetailFilterBackend.h"
#include "itkCudaDetailHostMemoryPool.h"
#include "itkCudaFiltersConfiguration.h"
#include "runtime/memory/HostMemoryClock.h"
#include "itkCudaRecursiveGaussianImageFilter.h"

#include <gtest/gtest.h>

#ifdef __linux__

#  include <chrono>
#  include <cstdlib>
#  include <fstream>
#  include <vector>

#  include <sys/resource.h>
#  include <unistd.h>

namespace
{
using Configuration = itk::CudaFiltersConfiguration;
using Pool = itk::CudaDetail::CudaHostMemoryPool;

constexpr size_t mebibyte = size_t{ 1 } << 20;
constexpr size_t gibibyte = size_t{ 1 } << 30;

#  if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool canLimitAddressSpace = false; // the sanitizers reserve terabytes
#  else
constexpr bool canLimitAddressSpace = true;
#  endif

/** Limits the address space of this process to `bytes` more than it has. */
void
LimitAddressSpace(size_t bytes)
{
  std::ifstream file("/proc/self/statm");
  size_t        pages = 0;
  file >> pages;
  const rlim_t limit = pages * static_cast<size_t>(sysconf(_SC_PAGESIZE)) + bytes;
  const rlimit both{ limit, limit };
  if (pages == 0 || setrlimit(RLIMIT_AS, &both) != 0)
  {
    std::exit(2);
  }
}

template <typename TFilter>
void
SmoothConstantImage(size_t bytes)
{
  using ImageType = typename TFilter::InputImageType;
  const auto image = ImageType::New();
  image->SetRegions(typename ImageType::SizeType{ { 1024, bytes / (1024 * sizeof(float)) } });
  image->Allocate();
  image->FillBuffer(3.0f);
  const auto filter = TFilter::New();
  filter->SetInput(image);
  filter->Update();
}

/** Filters images, each too large for the memory of the previous ones, and then allocates memory of its own. Throws if
 * no memory is left. */
void
SmoothGrowingImages()
{
  using ImageType = itk::Image<float, 2>;
  itk::MultiThreaderBase::SetGlobalDefaultNumberOfThreads(2); // each takes some address space
  SmoothConstantImage<itk::RecursiveGaussianImageFilter<ImageType>>(mebibyte);
  LimitAddressSpace(1000 * mebibyte);
  Configuration::SetBackend("host");
  for (const size_t size : { 32, 42, 55, 72, 94, 122, 159 })
  {
    SmoothConstantImage<itk::CudaRecursiveGaussianImageFilter<ImageType>>(size * mebibyte);
  }
  const std::vector<char> own(560 * mebibyte);
  std::exit(own.back());
}

std::chrono::steady_clock::time_point now{};

/** Fixture that starts without free blocks, with a clock that the test sets and a limit that it does not reach. */
class CudaHostMemoryPool : public testing::Test
{
protected:
  void
  SetUp() override
  {
    Configuration::SetHostCacheLimit(gibibyte);
    Pool::ReleaseUnused();
    itk::cuda::SetHostMemoryClock([] { return now; });
  }

  void
  TearDown() override
  {
    itk::cuda::SetHostMemoryClock(nullptr);
    Configuration::SetHostCacheLimit(m_Limit);
    Pool::ReleaseUnused();
    EXPECT_EQ(Pool::GetBytesInUse(), 0u);
  }

private:
  const size_t m_Limit{ Configuration::GetHostCacheLimit() };
};
} // namespace

TEST_F(CudaHostMemoryPool, Free_blocks_go_back_after_five_seconds_at_the_next_call)
{
  void * const first = Pool::Allocate(4 * mebibyte);
  void * const second = Pool::Allocate(8 * mebibyte);
  void * const kept = Pool::Allocate(16 * mebibyte);
  Pool::Release(first);
  now += std::chrono::seconds(2);
  Pool::Release(second);
  now += std::chrono::milliseconds(2999);
  Pool::ReleaseIdle();
  EXPECT_EQ(Pool::GetBytesCached(), 12 * mebibyte);
  now += std::chrono::milliseconds(1);
  EXPECT_EQ(Pool::GetBytesCached(), 12 * mebibyte) << "nothing runs in the background";
  Pool::ReleaseIdle();
  EXPECT_EQ(Pool::GetBytesCached(), 8 * mebibyte);
  now += std::chrono::hours(1);
  EXPECT_TRUE(Pool::Release(kept)) << "what is in use stays, for however long";
  EXPECT_EQ(Pool::GetBytesCached(), 16 * mebibyte);
}

TEST_F(CudaHostMemoryPool, Reuse_begins_the_five_seconds_anew)
{
  void * const block = Pool::Allocate(4 * mebibyte);
  for (unsigned int turn = 0; turn < 3; ++turn)
  {
    EXPECT_TRUE(Pool::Release(block));
    now += std::chrono::seconds(3);
    EXPECT_EQ(Pool::Allocate(4 * mebibyte), block);
  }
  EXPECT_TRUE(Pool::Release(block));
  EXPECT_FALSE(Pool::Release(block)) << "released twice";
}

TEST_F(CudaHostMemoryPool, All_ways_into_the_module_give_idle_blocks_back)
{
  const auto makeIdleBlock = [] {
    Pool::Release(Pool::Allocate(4 * mebibyte));
    now += Pool::MaximumIdleTime;
    EXPECT_EQ(Pool::GetBytesCached(), 4 * mebibyte);
  };
  makeIdleBlock();
  EXPECT_EQ(Pool::Allocate(100), nullptr) << "too small for the pool, but a call";
  EXPECT_EQ(Pool::GetBytesCached(), 0u);

  makeIdleBlock();
  char foreign = 0;
  EXPECT_FALSE(Pool::Release(&foreign));
  EXPECT_EQ(Pool::GetBytesCached(), 0u);

  makeIdleBlock();
  itk::CudaDetail::CudaFilterBackend backend;
  backend.Requested = itk::CudaFiltersEnums::Backend::Host;
  EXPECT_FALSE(backend.SelectDevice(nullptr, 0)); // called at the beginning of each filter's run
  EXPECT_EQ(Pool::GetBytesCached(), 0u);
}

TEST_F(CudaHostMemoryPool, Blocks_in_use_have_no_limit)
{
  Configuration::SetHostCacheLimit(0);
  std::vector<void *> blocks;
  for (unsigned int index = 0; index < 10; ++index)
  {
    blocks.push_back(Pool::Allocate(4 * mebibyte));
    EXPECT_NE(blocks.back(), nullptr);
  }
  EXPECT_EQ(Pool::GetBytesInUse(), 40 * mebibyte);
  for (void * const block : blocks)
  {
    EXPECT_TRUE(Pool::Release(block));
  }
  EXPECT_EQ(Pool::GetBytesCached(), 0u);
}

TEST(CudaHostMemoryPoolDeathTest, Free_blocks_go_back_when_the_system_refuses_memory)
{
  if (!canLimitAddressSpace)
  {
    GTEST_SKIP() << "the address space cannot be limited under this sanitizer";
  }
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_EXIT(
    {
      Configuration::SetHostCacheLimit(gibibyte);
      LimitAddressSpace(100 * mebibyte);
      Pool::Release(Pool::Allocate(60 * mebibyte));
      const bool wasKept = Pool::GetBytesCached() == 60 * mebibyte;
      std::exit(wasKept && Pool::Allocate(80 * mebibyte) && Pool::GetBytesCached() == 0 ? 0 : 1);
    },
    testing::ExitedWithCode(0),
    "");
}

TEST(CudaHostMemoryPoolDeathTest, Program_in_little_address_space_survives_a_loop_over_growing_images)
{
  if (!canLimitAddressSpace)
  {
    GTEST_SKIP() << "the address space cannot be limited under this sanitizer";
  }
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_EXIT(SmoothGrowingImages(), testing::ExitedWithCode(0), "");
}

TEST(CudaHostMemoryPoolDeathTest, Default_limit_is_an_eighth_of_the_address_space)
{
  if (!canLimitAddressSpace)
  {
    GTEST_SKIP() << "the address space cannot be limited under this sanitizer";
  }
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_EXIT(
    {
      LimitAddressSpace(gibibyte);
      rlimit limit{};
      getrlimit(RLIMIT_AS, &limit);
      std::exit(Configuration::GetHostCacheLimit() <= limit.rlim_cur / 8 ? 0 : 1);
    },
    testing::ExitedWithCode(0),
    "");
}

#endif
