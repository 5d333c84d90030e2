// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_executor_HostExecutor_h
#define CudaFilters_executor_HostExecutor_h

#include "executor/Executor.h"
#include "executor/HostAtomics.h"
#include "executor/HostMemory.h"
#include "executor/HostScan.h"
#include "executor/SerialTeam.h"
#include "region/Laws.h"
#include "executor/HostScene.h"
#include "runtime/DetailNames.h"
#include "itkCudaDetailImageView.h"
#include "region/Threads.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <vector>

namespace itk::cuda::executor
{
/** Returns the grain of a functor that defines it, and the second argument otherwise. */
template <typename TFunctor>
constexpr auto
GrainOf(int, size_t) -> decltype(TFunctor::Grain, size_t{})
{
  return TFunctor::Grain;
}
template <typename TFunctor>
constexpr size_t
GrainOf(long, size_t byDefault)
{
  return byDefault;
}

/** \class HostExecutor
 * \brief Executor that runs the parallel loops of an algorithm on threads of the host.
 *
 * The results depend neither on the number of threads nor on the order of the work items.
 *
 * A loop with few work items runs on the calling thread, because waking another thread takes longer. A functor may
 * define Grain, the number of its work items that are worth waking a thread. With SerialAtomics, all loops run on the
 * calling thread.
 */
template <typename TAtomics>
class HostExecutor
{
public:
  using Atomics = TAtomics;

  /** Whether loops give a whole row or node to one work item, and keep sums of candidates. On a radar picture of 16
   * megapixels, one thread then takes 2.6 s and not 5.7 s for moves, 1.2 s and not 2.3 s for the
   * competition of cells, and 0.32 s and not 0.84 s for components. */
  static constexpr bool IsCoarseGrained = true;

  template <typename T>
  using Array = ExecutorArray<T, HostHeap::Memory>;

  /** The scene and the threads must exist as long as the executor. */
  HostExecutor(const Scene & scene, const region::Threads & threads)
    : m_Scene(scene)
    , m_Threads(threads)
  {}

  template <typename T>
  Array<T>
  Allocate(size_t number) const
  {
    return Array<T>(m_Heap.Take(number * sizeof(T)));
  }
  template <typename T>
  Array<T>
  Upload(const T * data, size_t number) const
  {
    Array<T> array = this->Allocate<T>(number);
    this->Download(data, number, array.Get());
    return array;
  }
  /** Copies an image of UInt, row by row. */
  Array<uint32_t>
  UploadImage(const CudaImageView & image) const
  {
    constexpr size_t rowsOfPiece = 16;
    const size_t     width = image.Size[0];
    Array<uint32_t>  array = this->Allocate<uint32_t>(width * image.Size[1]);
    this->ForRanges(image.Size[1], rowsOfPiece, [&](size_t begin, size_t end) {
      for (size_t y = begin; y < end; ++y)
      {
        std::copy_n(static_cast<const uint32_t *>(image.Data) + y * image.Stride[1], width, array.Get() + y * width);
      }
    });
    return array;
  }
  template <typename T>
  void
  Download(const T * data, size_t number, T * out) const
  {
    this->ForRanges(number, BytesOfPiece / sizeof(T) + 1, [=](size_t begin, size_t end) {
      memcpy(static_cast<void *>(out + begin), data + begin, (end - begin) * sizeof(T));
    });
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
    this->ForRanges(number, BytesOfPiece / sizeof(T) + 1, [=](size_t begin, size_t end) {
      memset(static_cast<void *>(data + begin), byte, (end - begin) * sizeof(T));
    });
  }

  template <typename TFunction>
  void
  VisitScene(const TFunction & function) const
  {
    function(m_Scene);
  }
  template <typename TFunction>
  void
  VisitEdgeIntegrator(const TFunction & function) const
  {
    function(HostEdgeIntegrator{ m_Scene.Pixels });
  }
  template <typename TFunction>
  void
  VisitSmallEdgeIntegrator(const TFunction & function) const
  {
    this->VisitEdgeIntegrator(function);
  }

  /** Calls functor(i) for i < number. */
  template <typename TFunctor>
  void
  ParallelFor(size_t number, const TFunctor & functor) const
  {
    this->RunWorkItems<TFunctor>(number, ShortGrain, [&functor](size_t i) { RunOnOneThread(functor, i); });
  }
  /** Calls functor(i) for i < functor.GetNumber(). */
  template <typename TFunctor>
  void
  ParallelForUpTo(size_t, const TFunctor & functor) const
  {
    this->ParallelFor(functor.GetNumber(), functor);
  }
  /** Calls functor(i) for i < functor.GetNumber(). The work items take long, so that threads get few at a time. */
  template <typename TFunctor>
  void
  ParallelForLongItemsUpTo(size_t, const TFunctor & functor) const
  {
    this->RunWorkItems<TFunctor>(functor.GetNumber(), LongGrain, [&functor](size_t i) { RunOnOneThread(functor, i); });
  }
  /** Calls functor(i, team) for i < functor.GetNumber(). */
  template <typename TFunctor>
  void
  ParallelForTeamsUpTo(size_t, const TFunctor & functor) const
  {
    this->RunWorkItems<TFunctor>(functor.GetNumber(), LongGrain, [&functor](size_t i) { functor(i, SerialTeam{}); });
  }

  /** Runs the loops of a program one after the other. */
  template <typename TProgram>
  void
  Run(const TProgram & program) const
  {
    program(*this);
  }
  /** Programs end their rounds as soon as a loop has no work items. */
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
  template <typename TProgram, typename T>
  T
  RunInOneBlock(const TProgram & program, const T * value) const
  {
    this->Run(program);
    return *value;
  }
  /** Returns whether all rounds run as one program. A program allocates for upper limits of all rounds, so that larger
   * loops run round by round. */
  bool
  PrefersSingleLaunch(size_t number, size_t most) const
  {
    return number <= most;
  }
  template <typename TProgram>
  void
  RunCooperatively(const TProgram & program, size_t) const
  {
    this->Run(program);
  }
  template <typename TProgram, typename T>
  T
  RunCooperatively(const TProgram & program, size_t, const T * value) const
  {
    this->Run(program);
    return *value;
  }

  /** Sets sums[i] to the sum of function(0) to function(i - 1), for 0 <= i <= number. */
  template <typename TFunction, typename T>
  void
  ExclusiveScan(const TFunction & function, size_t number, T * sums) const
  {
    sums[number] = ScanInPieces<T>(
      m_Threads,
      number,
      [&function, sums](size_t begin, size_t end) {
        T sum{ 0 };
        for (size_t i = begin; i < end; ++i)
        {
          const T value = function(i);
          sums[i] = sum;
          sum += value;
        }
        return sum;
      },
      [](T x, T y) { return static_cast<T>(x + y); },
      [sums](size_t begin, size_t end, T before) {
        for (size_t i = begin; i < end; ++i)
        {
          sums[i] += before;
        }
      });
  }
  /** Computes the exclusive prefix sum, and returns the total, sums[number]. */
  template <typename TFunction, typename T>
  T
  ExclusiveScanAndRead(const TFunction & function, size_t number, T * sums) const
  {
    this->ExclusiveScan(function, number, sums);
    return sums[number];
  }
  /** Sets maxima[i] to the maximum of function(0) to function(i). */
  template <typename TFunction>
  void
  InclusiveMaxScan(const TFunction & function, size_t number, uint32_t * maxima) const
  {
    ScanInPieces<uint32_t>(
      m_Threads,
      number,
      [&function, maxima](size_t begin, size_t end) {
        uint32_t maximum = 0;
        for (size_t i = begin; i < end; ++i)
        {
          maximum = std::max(maximum, function(i));
          maxima[i] = maximum;
        }
        return maximum;
      },
      [](uint32_t x, uint32_t y) { return std::max(x, y); },
      [maxima](size_t begin, size_t end, uint32_t before) {
        for (size_t i = begin; i < end && maxima[i] < before; ++i)
        {
          maxima[i] = before;
        }
      });
  }
  /** Sorts keys by their lower bits (stable), and returns the index of each sorted key. */
  void
  ArgSort(const uint64_t * keys, size_t number, int bits, uint64_t * sorted, uint32_t * indices) const
  {
    ArgSortByLowerBits(m_Threads, keys, number, bits, sorted, indices);
  }

private:
  // Numbers of work items that are worth waking a thread.
  static constexpr size_t ShortGrain = 4096;
  static constexpr size_t LongGrain = 64;
  static constexpr size_t BytesOfPiece = size_t{ 1 } << 18;

  const Scene &           m_Scene;
  const region::Threads & m_Threads;
  mutable HostHeap        m_Heap;

  template <typename TFunction>
  void
  ForRanges(size_t number, size_t grain, const TFunction & function) const
  {
    if (number == 0)
    {
      return;
    }
    if constexpr (std::is_same_v<TAtomics, SerialAtomics>)
    {
      function(size_t{ 0 }, number);
    }
    else
    {
      m_Threads.ForRanges(number, grain, function);
    }
  }

  template <typename TFunctor, typename TWorkItem>
  void
  RunWorkItems(size_t number, size_t grain, const TWorkItem & workItem) const
  {
    this->ForRanges(number, GrainOf<TFunctor>(0, grain), [&workItem](size_t begin, size_t end) {
      for (size_t i = begin; i < end; ++i)
      {
        workItem(i);
      }
    });
  }
};

using SerialHostExecutor = HostExecutor<SerialAtomics>;
using ThreadedHostExecutor = HostExecutor<ThreadedAtomics>;
} // namespace itk::cuda::executor

#endif
