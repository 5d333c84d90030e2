// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaPartitionTestExecutor_h
#define itkCudaPartitionTestExecutor_h

#include "executor/HostExecutor.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <numeric>
#include <random>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace itk::cuda::test
{
/** \class TestExecutor
 * \brief Executor that runs the loops of a device on one thread of the host: the work items of a loop in a random
 * order, in memory that begins with garbage. What it has from the host's executor is what loops do not use.
 */
class TestExecutor : public executor::SerialHostExecutor
{
  using Base = executor::SerialHostExecutor;

public:
  /** The loops of the device. */
  static constexpr bool IsCoarseGrained = false;

  /** Bytes of all arrays. */
  struct Memory
  {
    size_t InUse{ 0 };
    size_t Peak{ 0 };
  };

  /** Counts an array's bytes as long as they are in use. */
  struct GiveBack
  {
    size_t Bytes;

    void
    operator()(Memory * memory) const
    {
      memory->InUse -= Bytes;
    }
  };

  template <typename T>
  class Array
  {
  public:
    Array() = default;
    explicit Array(size_t number, Memory & memory)
      : m_Data(number * sizeof(T), 0xcd)
      , m_Lease(&memory, { m_Data.size() })
    {
      memory.InUse += m_Data.size();
      memory.Peak = std::max(memory.Peak, memory.InUse);
    }
    T *
    Get() const
    {
      return reinterpret_cast<T *>(const_cast<unsigned char *>(m_Data.data()));
    }

  private:
    std::vector<unsigned char>        m_Data; // as aligned as any type
    std::unique_ptr<Memory, GiveBack> m_Lease;
  };

  /** Counts what a run asked of the executor. */
  struct Counts
  {
    size_t Loops{ 0 };
    size_t WorkItems{ 0 }; // of all loops
    size_t Fills{ 0 };
    size_t Sums{ 0 };
    size_t LoopsInBlocks{ 0 }; // loops of programs that ran in one block
    size_t LoopsInGrids{ 0 };  // loops of programs that ran in one cooperative launch
    size_t Reads{ 0 };
    size_t Allocations{ 0 };
  };

  /** Whether programs that may run in a single launch do. */
  enum class Grids : uint8_t
  {
    Always,
    Never,
    AtTimes
  };
  static constexpr Grids AllGrids[] = { Grids::Always, Grids::Never, Grids::AtTimes };

  /** \param seed of the order of work items; with 0, they run in the order of their numbers */
  TestExecutor(const executor::Scene & scene, uint64_t seed, Grids grids = Grids::Always)
    : Base(scene, OneThread)
    , m_Grids(grids)
    , m_IsShuffled(seed != 0)
    , m_Engine(seed)
  {}

  const Counts &
  GetCounts() const
  {
    return m_Counts;
  }
  /** Returns the largest number of bytes that arrays took at a time. */
  size_t
  GetPeakOfBytes() const
  {
    return m_Memory.Peak;
  }

  template <typename T>
  Array<T>
  Allocate(size_t number) const
  {
    ++m_Counts.Allocations;
    return Array<T>(number, m_Memory);
  }
  template <typename T>
  Array<T>
  Upload(const T * data, size_t number) const
  {
    Array<T> array = this->Allocate<T>(number);
    std::copy_n(data, number, array.Get());
    return array;
  }
  template <typename T>
  T
  Read(const T * value) const
  {
    ++m_Counts.Reads;
    return *value;
  }
  template <typename T>
  void
  Fill(T * data, size_t number, int byte) const
  {
    ++m_Counts.Fills;
    Base::Fill(data, number, byte);
  }

  /** The image as polygons see it on a device, where the chords of a chain share nothing. */
  struct Edges : executor::HostEdgeIntegrator
  {
    static constexpr bool HasChordWindow = false;
  };
  template <typename TFunction>
  void
  VisitEdgeIntegrator(const TFunction & function) const
  {
    Base::VisitEdgeIntegrator([&function](const executor::HostEdgeIntegrator & edges) { function(Edges{ edges }); });
  }
  template <typename TFunction>
  void
  VisitSmallEdgeIntegrator(const TFunction & function) const
  {
    this->VisitEdgeIntegrator(function);
  }

  template <typename TFunctor>
  void
  ParallelFor(size_t number, const TFunctor & functor) const
  {
    ++m_Counts.Loops;
    m_Counts.WorkItems += number;
    for (const size_t i : this->Shuffle(number))
    {
      executor::RunOnOneThread(functor, i);
    }
  }

  /** Calls functor(i) for i < functor.GetNumber(), which is at most `most`. */
  template <typename TFunctor>
  void
  ParallelForUpTo(size_t most, const TFunctor & functor) const
  {
    CheckNumber(functor.GetNumber(), most);
    this->ParallelFor(functor.GetNumber(), functor);
  }

  /** A team whose threads run one after the other. They share no rows or cells, so that each has all of them. */
  struct Team : executor::SerialTeam
  {
    static constexpr uint32_t NumberOfLanes = 32;

    template <typename T>
    using PerThread = std::array<T, NumberOfLanes>;

    template <typename T, typename TFunction>
    void
    ForEachThread(PerThread<T> & perThread, const TFunction & function) const
    {
      for (uint32_t lane = 0; lane < NumberOfLanes; ++lane)
      {
        function(lane, perThread[lane]);
      }
    }
    template <typename T, typename TFunction>
    auto
    FindBest(PerThread<T> & perThread, const TFunction & function) const
    {
      auto best = function(NumberOfLanes - 1, perThread[NumberOfLanes - 1]);
      for (uint32_t lane = NumberOfLanes - 1; lane-- > 0;)
      {
        const auto other = function(lane, perThread[lane]);
        best = other.IsBetterThan(best) ? other : best;
      }
      return best;
    }
    template <typename TFunction>
    void
    ParallelFor(uint32_t number, const TFunction & function) const
    {
      for (uint32_t i = number; i-- > 0;)
      {
        function(i);
      }
    }
  };
  /** Calls functor(i), as a launch per loop does. Loops of a single launch use teams. */
  template <typename TFunctor>
  void
  ParallelForLongItemsUpTo(size_t most, const TFunctor & functor) const
  {
    this->ParallelForUpTo(most, functor);
  }
  template <typename TFunctor>
  void
  ParallelForTeamsUpTo(size_t most, const TFunctor & functor) const
  {
    CheckNumber(functor.GetNumber(), most);
    this->ParallelFor(functor.GetNumber(), [&functor](size_t i) { functor(i, Team{}); });
  }
  /** Runs each loop as a launch of its own. The host does not know when the rounds are done, and launches all loops. */
  template <typename TProgram>
  void
  Run(const TProgram & program) const
  {
    program(Launches{ { *this } });
  }
  template <typename TProgram, typename T>
  T
  RunInOneBlock(const TProgram & program, const T * value) const
  {
    m_Counts.LoopsInBlocks += this->RunInOneLaunch(program);
    return this->Read(value);
  }
  bool
  PrefersSingleLaunch(size_t number, size_t most) const
  {
    const bool wants = m_Grids == Grids::Always || (m_Grids == Grids::AtTimes && m_Engine() % 2 == 0);
    return wants && number <= most;
  }
  template <typename TProgram>
  void
  RunCooperatively(const TProgram & program, size_t) const
  {
    m_Counts.LoopsInGrids += this->RunInOneLaunch(program);
  }
  template <typename TProgram, typename T>
  T
  RunCooperatively(const TProgram & program, size_t threads, const T * value) const
  {
    this->RunCooperatively(program, threads);
    return this->Read(value);
  }

  template <typename TFunction, typename T>
  void
  ExclusiveScan(const TFunction & function, size_t number, T * sums) const
  {
    ++m_Counts.Sums;
    Base::ExclusiveScan(function, number, sums);
  }
  template <typename TFunction, typename T>
  T
  ExclusiveScanAndRead(const TFunction & function, size_t number, T * sums) const
  {
    this->ExclusiveScan(function, number, sums);
    return this->Read(sums + number);
  }
  template <typename TFunction>
  void
  InclusiveMaxScan(const TFunction & function, size_t number, uint32_t * maxima) const
  {
    ++m_Counts.Sums;
    Base::InclusiveMaxScan(function, number, maxima);
  }
  void
  ArgSort(const uint64_t * keys, size_t number, int bits, uint64_t * sorted, uint32_t * indices) const
  {
    ++m_Counts.Sums;
    Base::ArgSort(keys, number, bits, sorted, indices);
  }

private:
  static void
  CheckNumber(size_t number, size_t most)
  {
    if (number > most)
    {
      throw std::logic_error("A loop has " + std::to_string(number) + " work items instead of at most " +
                             std::to_string(most));
    }
  }

  struct Loops
  {
    static constexpr bool IsCoarseGrained = false;

    const TestExecutor & Executor;

    static constexpr bool
    KnowsWhenDone()
    {
      return true;
    }
    bool
    IsDone(const uint32_t * count) const
    {
      return *count == 0;
    }
    template <typename TFunctor>
    void
    ParallelForUpTo(size_t most, const TFunctor & functor) const
    {
      Executor.ParallelForUpTo(most, functor);
    }
    template <typename TFunctor>
    void
    ParallelForTeamsUpTo(size_t most, const TFunctor & functor) const
    {
      Executor.ParallelForTeamsUpTo(most, functor);
    }
    template <typename TFunctor>
    void
    ParallelForLongItemsUpTo(size_t most, const TFunctor & functor) const
    {
      Executor.ParallelForTeamsUpTo(most, functor);
    }
  };

  struct Launches : Loops
  {
    static constexpr bool
    KnowsWhenDone()
    {
      return false;
    }
    bool
    IsDone(const uint32_t *) const
    {
      return false;
    }
    template <typename TFunctor>
    void
    ParallelForLongItemsUpTo(size_t most, const TFunctor & functor) const
    {
      this->Executor.ParallelForLongItemsUpTo(most, functor);
    }
  };

  inline static const region::Threads OneThread{ 1 };

  const Grids             m_Grids;
  const bool              m_IsShuffled;
  mutable std::mt19937_64 m_Engine;
  mutable Counts          m_Counts;
  mutable Memory          m_Memory;

  /** Runs a program in one launch, and returns how many loops it had. */
  template <typename TProgram>
  size_t
  RunInOneLaunch(const TProgram & program) const
  {
    const size_t before = m_Counts.Loops;
    program(Loops{ *this });
    const size_t loops = m_Counts.Loops - before;
    m_Counts.Loops = before + 1;
    return loops;
  }

  std::vector<size_t>
  Shuffle(size_t number) const
  {
    std::vector<size_t> order(number);
    std::iota(order.begin(), order.end(), size_t{ 0 });
    if (m_IsShuffled)
    {
      std::shuffle(order.begin(), order.end(), m_Engine);
    }
    return order;
  }
};
} // namespace itk::cuda::test

#endif
