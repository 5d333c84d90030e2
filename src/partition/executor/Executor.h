// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_partition_executor_Executor_h
#define CudaFilters_partition_executor_Executor_h

#include <type_traits>
#include <utility>

// An executor holds the image of a partition and the memory of its arrays, and runs parallel loops. Partition,
// LabelSearch, EdgeGraph, ExecutorMap and MapRefinement are templates of it. All executors give the same bits:
// DeviceExecutor (DeviceExecutor.cuh), HostExecutor (HostExecutor.h), and one for tests.
//
// The members that an executor must have. `f` is a functor: f(i) runs work item i. UpTo: the number of work items is
// f.GetNumber(), which is known only in the memory of the executor and is at most `most`.
//
//   Atomics                               operations on words that several work items change at the same time
//   IsCoarseGrained                       whether a work item is a whole row or node, which suits few threads
//   Array<T>, Allocate<T>(number)         memory with undefined contents; array.Get() is a pointer
//   Upload(data, number)                  returns an array; UploadImage(view) does so with an image of UInt
//   Download(array, number, out)          copies to the host; Read(value) returns one value; both wait
//   Fill(array, number, byte)             sets all bytes
//   VisitScene(function)                  calls function(scene) with the pixels, as cells see them
//   VisitPixels(function)                 calls function(pixels), which sums along edges of polygons
//   VisitPixelsForCooperativeRun(function)  the same, for functors of RunCooperatively()
//   ParallelFor(number, f)                f(i) for i < number
//   ParallelForUpTo(most, f)              f(i) for i < f.GetNumber()
//   ParallelForLongItemsUpTo(most, f)     f(i), or f(i, tile) where tiles of threads share long work items
//   ParallelForTilesUpTo(most, f)         f(i, tile) with tiles of F::TileSize threads, or of one thread
//   ExclusiveScan(function, number, sums) and ExclusiveScanAndRead(), InclusiveMaxScan(): prefix sums and maxima
//   ArgSort(keys, number, bits, sorted, indices)  stable, by the lower bits of the keys
//   Run(program)                          runs program(loops), a sequence of loops
//   RunInOneBlock(program, value)         the same for few work items; waits and returns *value
//   RunCooperatively(program, threads[, value])  the same for all threads at once, with barriers between the loops
//   MayRunCooperatively(number, most)     whether that is better for `number` work items, usually: number <= most
//
// A program gets a loop executor, which is the executor itself or a part of one, with the loops UpTo, IsCoarseGrained,
// KnowsWhenDone(), whether it sees counts between two loops, and IsOver(round), whether it sees that none is left.
//
// A tile has NumberOfLanes, GetShare(), All(), Once(), Sync(), ExclusiveScan() and ParallelFor() (SerialTile.h). Tiles
// of several threads also have PerThread<T>, ForEachThread(), FindBest() and Sum() (DeviceLoops.cuh).
namespace itk::cuda::partition
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
} // namespace itk::cuda::partition

#endif
