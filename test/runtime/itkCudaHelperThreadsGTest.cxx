// SPDX-License-Identifier: Apache-2.0
#include "runtime/transfer/HelperThreads.h"

#include "itkCudaFiltersConfiguration.h"
#include "runtime/device/Spin.h"
#include "itkThreadPool.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <future>
#include <random>
#include <thread>
#include <vector>

namespace
{
using itk::ThreadPool;
using itk::cuda::HelperThreads;

constexpr std::chrono::seconds patience{ 60 };

/** Waits until a number is reached, or for a minute. */
template <typename T>
void
WaitFor(const std::atomic<T> & count, T number)
{
  const auto end = std::chrono::steady_clock::now() + patience;
  while (count < number && std::chrono::steady_clock::now() < end)
  {
    std::this_thread::yield();
  }
}

class CudaHelperThreads : public testing::Test
{
protected:
  void
  SetUp() override
  {
    itk::CudaFiltersConfiguration::SetNumberOfTransferThreads(8);
  }

  void
  TearDown() override
  {
    itk::CudaFiltersConfiguration::SetNumberOfTransferThreads(0);
  }
};

TEST_F(CudaHelperThreads, DoEachPieceOnceAndNothingAfterJoin)
{
  constexpr unsigned int seed = 20261126;
  std::mt19937           random(seed);
  for (unsigned int team = 0; team < 2; ++team)
  {
    HelperThreads helpers;
    for (unsigned int piece = 0; piece < 500; ++piece)
    {
      SCOPED_TRACE(testing::Message() << "seed " << seed << ", team " << team << ", piece " << piece);
      const unsigned int         number = helpers.Reserve(random() % 8);
      constexpr unsigned int     shares = 64;
      std::atomic<unsigned int>  next{ 0 }, done{ 0 }, atWork{ 0 };
      std::vector<unsigned char> calls(number + size_t{ 1 });
      const auto                 work = [&](unsigned int index) {
        ++atWork;
        ++calls.at(index);
        while (next++ < shares)
        {
          ++done;
        }
        --atWork;
      };
      helpers.Start(number, work);
      work(0);
      helpers.Join();
      ASSERT_EQ(atWork, 0u);
      ASSERT_EQ(done, shares);
      for (const unsigned char count : calls)
      {
        ASSERT_LE(count, 1);
      }
    }
  }
}

TEST_F(CudaHelperThreads, JoinWaitsForAThreadThatHasBegun)
{
  for (unsigned int team = 0; team < 2; ++team)
  {
    HelperThreads      helpers;
    std::promise<void> begun;
    std::atomic<bool>  hasEnded{ false };
    ASSERT_EQ(helpers.Reserve(1), 1u);
    helpers.Start(1, [&](unsigned int) {
      begun.set_value();
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      hasEnded = true;
    });
    ASSERT_EQ(begun.get_future().wait_for(patience), std::future_status::ready);
    helpers.Join();
    EXPECT_TRUE(hasEnded);
  }
}

TEST_F(CudaHelperThreads, AThreadThatHasNotBegunIsNotWaitedFor)
{
  for (unsigned int team = 0; team < 2; ++team)
  {
    std::promise<void>             release;
    const std::shared_future<void> isReleased = release.get_future().share();
    std::vector<std::future<void>> busy;
    std::atomic<size_t>            begun{ 0 };
    const size_t                   poolSize = ThreadPool::GetInstance()->GetMaximumNumberOfThreads();
    for (size_t i = 0; i < poolSize; ++i)
    {
      busy.push_back(ThreadPool::GetInstance()->AddWork([isReleased, &begun] {
        ++begun;
        isReleased.wait();
      }));
    }
    // Threads that still wait for work of earlier objects leave for these tasks.
    WaitFor(begun, poolSize);
    ASSERT_EQ(begun, poolSize);
    std::atomic<unsigned int> calls{ 0 };
    {
      HelperThreads helpers;
      helpers.Start(helpers.Reserve(4), [&](unsigned int) { ++calls; });
      helpers.Join();
    }
    EXPECT_EQ(calls, 0u);
    release.set_value();
    for (std::future<void> & each : busy)
    {
      each.get();
    }
    EXPECT_EQ(calls, 0u);
  }
}

/** A thread that waits for the next transfer must not delay the tasks of other filters. The tasks of this test wait for
 * each other, so each of them needs a thread of its own. */
TEST_F(CudaHelperThreads, WaitingThreadsLeaveForOtherTasksOfThePool)
{
  const auto poolSize = static_cast<unsigned int>(ThreadPool::GetInstance()->GetMaximumNumberOfThreads());
  for (unsigned int turn = 0; turn < 20; ++turn)
  {
    {
      HelperThreads helpers;
      helpers.Start(helpers.Reserve(poolSize), [](unsigned int) {});
      helpers.Join();
    }
    std::atomic<unsigned int>      present{ 0 };
    std::vector<std::future<void>> tasks;
    for (unsigned int i = 0; i < poolSize; ++i)
    {
      tasks.push_back(ThreadPool::GetInstance()->AddWork([&present, poolSize] {
        ++present;
        WaitFor(present, poolSize);
      }));
    }
    for (std::future<void> & each : tasks)
    {
      ASSERT_EQ(each.wait_for(patience), std::future_status::ready) << "turn " << turn;
    }
    EXPECT_EQ(present, poolSize);
  }
}

TEST_F(CudaHelperThreads, TheNextObjectFindsTheThreadsOfThePreviousOne)
{
  unsigned int found = 0;
  for (unsigned int turn = 0; turn < 100 && found == 0; ++turn)
  {
    for (unsigned int i = 0; i < 2; ++i)
    {
      HelperThreads helpers;
      found = helpers.GetNumberOfWaiting();
      std::atomic<unsigned int> calls{ 0 };
      helpers.Start(helpers.Reserve(1), [&calls](unsigned int) { ++calls; });
      WaitFor(calls, 1u);
      helpers.Join();
    }
  }
  EXPECT_GE(found, 1u);
}

TEST(CudaSpin, WaitsEndWithTheConditionOrWithoutIt)
{
  const auto waits = {
    +[](const std::atomic<bool> & holds) { return itk::cuda::SpinUntil([&holds] { return holds.load(); }); },
    +[](const std::atomic<bool> & holds) { return itk::cuda::NapUntil([&holds] { return holds.load(); }); }
  };
  for (const auto & wait : waits)
  {
    std::atomic<bool> holds{ true };
    EXPECT_TRUE(wait(holds));
    holds = false;
    EXPECT_FALSE(wait(holds));
    std::thread later([&holds] {
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
      holds = true;
    });
    const auto  end = std::chrono::steady_clock::now() + patience;
    while (!wait(holds) && std::chrono::steady_clock::now() < end)
    {}
    later.join();
    EXPECT_TRUE(wait(holds));
  }
}

TEST_F(CudaHelperThreads, AreBoundedInTheProcess)
{
  const unsigned int limit = itk::CudaFiltersConfiguration::GetNumberOfTransferThreads();
  HelperThreads      late;
  {
    HelperThreads early;
    EXPECT_EQ(early.Reserve(limit - 2), limit - 2);
    EXPECT_EQ(early.Reserve(1), 1u) << "of those it has";
    EXPECT_EQ(late.Reserve(limit), 2u);
  }
  EXPECT_EQ(late.Reserve(limit), limit);
}
} // namespace
