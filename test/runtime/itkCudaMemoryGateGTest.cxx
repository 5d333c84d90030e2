// SPDX-License-Identifier: Apache-2.0
#include "runtime/memory/MemoryGate.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <iostream>
#include <limits>
#include <memory>
#include <mutex>
#include <random>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace
{
using itk::cuda::MemoryGate;
using Reservation = itk::cuda::MemoryReservation;

/** Imitates the memory of a device. Allocations fail if there is not enough memory. */
class FakeMemory
{
public:
  explicit FakeMemory(size_t bytes)
    : m_Free(bytes)
  {}

  MemoryGate::AvailableFunction
  GetAvailable()
  {
    return [this] { return m_Free.load(); };
  }

  bool
  Allocate(size_t bytes)
  {
    size_t free = m_Free;
    do
    {
      if (bytes > free)
      {
        return false;
      }
    } while (!m_Free.compare_exchange_weak(free, free - bytes));
    return true;
  }

  void
  Release(size_t bytes)
  {
    m_Free += bytes;
  }

private:
  std::atomic<size_t> m_Free;
};

/** A run in its own thread, from its reservation to End(). */
class OtherRun
{
public:
  OtherRun(MemoryGate & gate, FakeMemory & memory, size_t bytes)
    : m_Thread([&gate, &memory, bytes, this] {
      const Reservation reservation(gate, bytes, memory.GetAvailable(), nullptr);
      m_Allocated = memory.Allocate(bytes);
      m_Began = true;
      while (!m_Ends)
      {
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
      }
      memory.Release(m_Allocated ? bytes : 0);
    })
  {}

  ~OtherRun() { this->End(); }

  void
  End()
  {
    m_Ends = true;
    if (m_Thread.joinable())
    {
      m_Thread.join();
    }
  }

  bool
  HasBegun() const
  {
    return m_Began;
  }

  void
  WaitForBegin() const
  {
    while (!m_Began)
    {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }

  /** Returns whether it could allocate its memory. */
  bool
  HasAllocated() const
  {
    return m_Allocated;
  }

private:
  std::atomic<bool> m_Began{ false };
  std::atomic<bool> m_Allocated{ false };
  std::atomic<bool> m_Ends{ false };
  std::thread       m_Thread;
};

void
WaitForWaiting(MemoryGate & gate, size_t number)
{
  while (gate.GetNumberOfWaiting() != number)
  {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}
} // namespace

TEST(CudaMemoryGate, A_run_waits_for_memory_that_another_thread_has_reserved_but_not_allocated)
{
  MemoryGate gate;
  FakeMemory memory(100);
  auto       first = std::make_unique<Reservation>(gate, 60, memory.GetAvailable(), nullptr);
  OtherRun   second(gate, memory, 60);
  WaitForWaiting(gate, 1);
  EXPECT_FALSE(second.HasBegun());
  EXPECT_EQ(memory.GetAvailable()(), 100u);
  first.reset();
  second.WaitForBegin();
  EXPECT_TRUE(second.HasAllocated());
}

TEST(CudaMemoryGate, Two_threads_run_at_once_if_both_fit)
{
  MemoryGate gate;
  FakeMemory memory(100);
  OtherRun   first(gate, memory, 50);
  first.WaitForBegin();
  OtherRun second(gate, memory, 50);
  second.WaitForBegin();
  EXPECT_TRUE(first.HasAllocated() && second.HasAllocated());
}

TEST(CudaMemoryGate, A_thread_does_not_wait_for_what_will_never_suffice)
{
  MemoryGate gate;
  FakeMemory memory(100);
  OtherRun   first(gate, memory, 60);
  first.WaitForBegin();
  OtherRun second(gate, memory, 101);
  second.WaitForBegin(); // starts although its memory is not available
  EXPECT_FALSE(second.HasAllocated());
  EXPECT_FALSE(gate.GetNumberOfWaiting());
}

TEST(CudaMemoryGate, Memory_of_images_is_not_waited_for_by_a_thread)
{
  MemoryGate gate;
  FakeMemory memory(100);
  OtherRun   first(gate, memory, 30);
  first.WaitForBegin();
  ASSERT_TRUE(memory.Allocate(40)); // an image
  OtherRun second(gate, memory, 70);
  second.WaitForBegin(); // 30 bytes are available and 30 will be released
  EXPECT_FALSE(second.HasAllocated());
  OtherRun third(gate, memory, 50);
  WaitForWaiting(gate, 1);
  second.End();
  first.End();
  third.WaitForBegin();
  EXPECT_TRUE(third.HasAllocated());
}

TEST(CudaMemoryGate, A_run_inside_of_another_one_does_not_wait)
{
  MemoryGate        gate;
  FakeMemory        memory(100);
  const auto        fail = [] { throw std::logic_error("waited"); };
  const Reservation outer(gate, 60, memory.GetAvailable(), fail);
  EXPECT_EQ(gate.GetEventuallyAvailable(memory.GetAvailable()), 100u);
  const Reservation inner(gate, 60, memory.GetAvailable(), fail);
  EXPECT_EQ(MemoryGate::GetNumberOfEnclosingRuns(), 2u);
}

TEST(CudaMemoryGate, A_thread_does_not_wait_for_paused_runs)
{
  MemoryGate  gate;
  FakeMemory  memory(100);
  Reservation first(gate, 60, memory.GetAvailable(), nullptr);
  ASSERT_TRUE(memory.Allocate(60));
  first.Pause();
  EXPECT_EQ(MemoryGate::GetNumberOfEnclosingRuns(), 0u);
  {
    OtherRun second(gate, memory, 60);
    second.WaitForBegin();
    EXPECT_FALSE(second.HasAllocated());
  }
  first.Resume();
  EXPECT_EQ(MemoryGate::GetNumberOfEnclosingRuns(), 1u);
  OtherRun third(gate, memory, 60); // the first run continues
  WaitForWaiting(gate, 1);
  memory.Release(60);
  first.Pause(); // no active run would release memory, but there is enough already
  third.WaitForBegin();
  first.Resume();
  EXPECT_TRUE(third.HasAllocated());
}

TEST(CudaMemoryGate, A_paused_run_continues_or_ends_in_any_thread)
{
  MemoryGate gate;
  FakeMemory memory(100);
  for (const bool continues : { true, false })
  {
    auto run = std::make_unique<Reservation>(gate, 60, memory.GetAvailable(), nullptr);
    run->Pause();
    std::thread([&] {
      if (continues)
      {
        run->Resume();
        EXPECT_EQ(MemoryGate::GetNumberOfEnclosingRuns(), 1u);
      }
      run.reset();
      EXPECT_EQ(MemoryGate::GetNumberOfEnclosingRuns(), 0u);
    }).join();
    EXPECT_EQ(gate.GetEventuallyAvailable(memory.GetAvailable()), 100u);
  }
}

TEST(CudaMemoryGate, What_is_thrown_while_a_thread_waits_goes_on_and_leaves_nothing)
{
  MemoryGate gate;
  FakeMemory memory(100);
  {
    OtherRun first(gate, memory, 60);
    first.WaitForBegin();
    unsigned int looks = 0;
    std::string  thrown;
    try
    {
      const Reservation second(gate, 60, memory.GetAvailable(), [&looks] {
        if (++looks == 3)
        {
          throw std::runtime_error("aborted");
        }
      });
    }
    catch (const std::runtime_error & error)
    {
      thrown = error.what();
    }
    EXPECT_EQ(thrown, "aborted");
    EXPECT_EQ(looks, 3u);
    EXPECT_EQ(gate.GetNumberOfWaiting(), 0u);
    EXPECT_EQ(MemoryGate::GetNumberOfEnclosingRuns(), 0u);
  }
  OtherRun third(gate, memory, 100);
  third.WaitForBegin();
  EXPECT_TRUE(third.HasAllocated());
}

/** A run on several devices waits at each gate. What is thrown at one of them leaves nothing at the others. */
TEST(CudaMemoryGate, A_run_on_several_devices_holds_memory_of_each)
{
  MemoryGate                            gates[2];
  FakeMemory                            memories[2]{ FakeMemory(100), FakeMemory(100) };
  const std::vector<Reservation::Place> places{ { &gates[0], memories[0].GetAvailable() },
                                                { &gates[1], memories[1].GetAvailable() } };
  {
    OtherRun other(gates[1], memories[1], 60);
    other.WaitForBegin();
    EXPECT_THROW(Reservation(places, 60, [] { throw std::runtime_error("aborted"); }), std::runtime_error);
    EXPECT_EQ(MemoryGate::GetNumberOfEnclosingRuns(), 0u);
    OtherRun(gates[0], memories[0], 100).WaitForBegin(); // nothing of the first device is reserved any more
    unsigned int looks = 0;
    Reservation  waited(places, 60, [&] {
      if (++looks == 3)
      {
        other.End();
      }
    });
    EXPECT_GE(looks, 3u);
    EXPECT_EQ(MemoryGate::GetNumberOfEnclosingRuns(), 1u);
    for (unsigned int i = 0; i < 2; ++i)
    {
      OtherRun next(gates[i], memories[i], 60);
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
      EXPECT_FALSE(next.HasBegun()) << "gate " << i;
      waited.Pause(); // paused runs are not waited for
      next.WaitForBegin();
      waited.Resume();
    }
  }
  for (unsigned int i = 0; i < 2; ++i)
  {
    OtherRun(gates[i], memories[i], 100).WaitForBegin();
  }
}

TEST(CudaMemoryGate, Small_runs_of_other_threads_do_not_overtake_a_large_one)
{
  MemoryGate gate;
  FakeMemory memory(100);
  OtherRun   first(gate, memory, 60);
  first.WaitForBegin();
  OtherRun large(gate, memory, 100);
  WaitForWaiting(gate, 1);
  OtherRun small(gate, memory, 10);
  WaitForWaiting(gate, 2);
  EXPECT_FALSE(small.HasBegun());
  first.End();
  large.WaitForBegin();
  EXPECT_TRUE(large.HasAllocated());
  EXPECT_FALSE(small.HasBegun());
  large.End();
  small.WaitForBegin();
  EXPECT_TRUE(small.HasAllocated());
}

TEST(CudaMemoryGate, Memory_without_a_limit_is_never_waited_for)
{
  MemoryGate  gate;
  const auto  unlimited = [] { return std::numeric_limits<size_t>::max(); };
  const auto  fail = [] { throw std::logic_error("waited"); };
  Reservation first(gate, std::numeric_limits<size_t>::max(), unlimited, fail);
  first.Pause();
  EXPECT_EQ(gate.GetEventuallyAvailable(unlimited), std::numeric_limits<size_t>::max());
}

TEST(CudaMemoryGate, The_potential_counts_what_other_threads_will_give_back)
{
  MemoryGate gate;
  FakeMemory memory(100);
  EXPECT_EQ(gate.GetEventuallyAvailable(memory.GetAvailable()), 100u);
  OtherRun first(gate, memory, 60);
  first.WaitForBegin();
  EXPECT_EQ(gate.GetEventuallyAvailable(memory.GetAvailable()), 100u);
  ASSERT_TRUE(memory.Allocate(30)); // an image
  EXPECT_EQ(gate.GetEventuallyAvailable(memory.GetAvailable()), 70u);
}

TEST(CudaMemoryGate, All_of_many_threads_get_their_memory)
{
  constexpr unsigned int seed = 20261124;
  constexpr unsigned int numberOfThreads = 8;
  constexpr unsigned int runsOfThread = 100;
  constexpr size_t       bytes = 1000;
  std::cout << "seed " << seed << std::endl;
  MemoryGate               gate;
  FakeMemory               memory(bytes);
  std::atomic<size_t>      failures{ 0 };
  std::vector<std::thread> threads;
  for (unsigned int t = 0; t < numberOfThreads; ++t)
  {
    threads.emplace_back([&, t] {
      std::mt19937 random(seed + t);
      for (unsigned int i = 0; i < runsOfThread; ++i)
      {
        const size_t      asked = 1 + random() % bytes;
        const Reservation reservation(gate, asked, memory.GetAvailable(), nullptr);
        std::this_thread::sleep_for(std::chrono::microseconds(random() % 50));
        if (memory.Allocate(asked))
        {
          std::this_thread::sleep_for(std::chrono::microseconds(random() % 50));
          memory.Release(asked);
        }
        else
        {
          ++failures;
        }
      }
    });
  }
  for (std::thread & thread : threads)
  {
    thread.join();
  }
  EXPECT_EQ(failures, 0u);
  EXPECT_EQ(gate.GetNumberOfWaiting(), 0u);
  EXPECT_EQ(memory.GetAvailable()(), bytes);
}
