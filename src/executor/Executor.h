// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_executor_Executor_h
#define CudaFilters_executor_Executor_h

#include <cstddef>
#include <type_traits>
#include <utility>
#include <vector>

// An executor holds an image and the memory of arrays, and runs parallel loops. Algorithms that are templates of it
// have one text for host and device: Partition and its stages, and Detection. All executors give the same bits:
// DeviceExecutor (DeviceExecutor.cuh), HostExecutor (HostExecutor.h), and one for tests.
//
// An executor has the following members. Work is done in the order of the calls. Only the members that say so wait for
// it, so that arrays on a device must not be read by the host otherwise. `functor(i)` runs work item i.
//
// Memory:
//   Allocate<T>(number) returns an Array<T> with undefined contents, whose Get() is a pointer for functors.
//   Upload(data, number) and UploadImage(view) return an array with a copy of host memory.
//   Fill(array, number, byte) sets all bytes.
//   Read(value) returns a value, and Download(array, number, out) copies an array to the host. Both wait.
//   Atomics has the operations on words that several work items change at the same time.
//
// The image:
//   VisitScene(function) calls function(scene) with the pixels for cells: sums of rows, and masks.
//   VisitEdgeIntegrator(function) calls function(integrator) with an object that sums the pixels along edges of
//   polygons. VisitSmallEdgeIntegrator(function) does so for functors of RunCooperatively(), which have fewer
//   registers.
//
// Loops and algorithms. A name that ends in UpTo means that the number of work items is functor.GetNumber(), which may
// be known only in the executor's memory. It is at most `most`:
//   ParallelFor(number, functor) and ParallelForUpTo(most, functor) call functor(i).
//   ParallelForLongItemsUpTo(most, functor) calls functor(i) or, where threads share long work items, functor(i, team).
//   ParallelForTeamsUpTo(most, functor) calls functor(i, team). A team has TeamSize threads, or one on the host.
//   ExclusiveScan(function, number, sums), ExclusiveScanAndRead(), which waits and returns the total, and
//   InclusiveMaxScan(function, number, maxima) compute prefix sums and maxima of function(i).
//   ArgSort(keys, number, bits, sorted, indices) sorts by the lower bits of the keys, and is stable.
//
// Programs. A program is an object that calls several loops of a loop executor, its argument:
//   Run(program) runs its loops one after the other.
//   RunInOneBlock(program, value) runs loops with few work items, waits and returns *value.
//   RunCooperatively(program, threads[, value]) runs all loops in one launch with barriers between them. With `value`
//   it waits and returns *value. PrefersSingleLaunch(number, most) returns whether that is faster for `number` work
//   items. On a device it is for up to `most`.
//
// A loop executor has the loops whose names end in UpTo, and IsDone(count), which returns whether a count that the
// loops keep is known to be 0. KnowsWhenDone() returns whether it can know that between two loops. IsCoarseGrained says
// whether a work item is a whole row or node, which suits few threads. An executor may be its own loop executor.
//
// A team has NumberOfLanes, GetShare(), All(), Single(), Sync(), ExclusiveScan() and ParallelFor() (SerialTeam.h).
// Teams of several threads also have PerThread<T>, ForEachThread(), FindBest() and Sum() (DeviceLoops.cuh).
namespace itk::cuda::executor
{
/** \class ExecutorArray
 * \brief An array in the memory of an executor, with undefined contents at first. It must not outlive its executor.
 * \tparam TMemory a std::unique_ptr<void, ...> that gives the memory back
 */
template <typename T, typename TMemory>
class ExecutorArray
{
public:
  ExecutorArray() = default;
  explicit ExecutorArray(TMemory memory)
    : m_Memory(std::move(memory))
  {
    static_assert(std::is_trivially_copyable_v<T> && std::is_trivially_destructible_v<T>,
                  "Arrays do not construct their elements");
  }
  T *
  Get() const
  {
    return static_cast<T *>(m_Memory.get());
  }

private:
  TMemory m_Memory;
};

/** \class ArrayGroup
 * \brief Owns arrays in the memory of an executor that are released together, for a struct of pointers to them.
 */
template <typename TExecutor>
class ArrayGroup
{
public:
  /** Sets each pointer to a new array of `number` elements. */
  template <typename... T>
  void
  Allocate(const TExecutor & executor, size_t number, T *&... pointers)
  {
    const auto allocate = [&](size_t bytes) {
      m_Arrays.push_back(executor.template Allocate<unsigned char>(bytes));
      return static_cast<void *>(m_Arrays.back().Get());
    };
    ((pointers = static_cast<T *>(allocate(number * sizeof(T)))), ...);
  }
  void
  Clear()
  {
    m_Arrays.clear();
  }

private:
  std::vector<typename TExecutor::template Array<unsigned char>> m_Arrays;
};
} // namespace itk::cuda::executor

#endif
