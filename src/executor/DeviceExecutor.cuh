// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_executor_DeviceExecutor_cuh
#define CudaFilters_executor_DeviceExecutor_cuh

#include "itkCudaError.h"
#include "executor/ArrayHeap.h"
#include "executor/ConcurrentRuns.h"
#include "executor/DeviceArrayKernels.cuh"
#include "executor/DeviceAtomics.cuh"
#include "executor/DeviceLoops.cuh"
#include "executor/DeviceScene.cuh"
#include "executor/DeviceSignal.cuh"
#include "executor/DisjointSets.h"
#include "executor/Executor.h"
#include "runtime/HostDevice.h"
#include "runtime/device/Call.h"
#include "runtime/device/Device.h"
#include "runtime/device/Launch.h"
#include "runtime/device/Stream.h"
#include "runtime/image/DeviceView.h"
#include "runtime/image/Math.h"
#include "runtime/memory/DeviceMemory.h"
#include "runtime/transfer/Transfer.h"

#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_scan.cuh>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <utility>

// Runs parallel loops on a device in one of three ways: with one launch for each loop, within one block of threads, or
// within one cooperative grid. DeviceLoops.cuh has the kernels of loops, and DeviceArrayKernels.cuh those that fill,
// scan and sort arrays.
namespace itk::cuda::executor
{
/** Returns function(i) for i < Number, and 0 otherwise. */
template <typename TFunction, typename T>
struct ZeroPadded
{
  TFunction Function;
  size_t    Number;

  ITK_CUDA_HOST_DEVICE T
  operator()(size_t i) const
  {
    return i < Number ? Function(i) : T{ 0 };
  }
};

struct Larger
{
  ITK_CUDA_HOST_DEVICE uint32_t
  operator()(uint32_t x, uint32_t y) const
  {
    return x > y ? x : y;
  }
};

/** Gives the memory of an array back to the heap, or releases it. */
struct DeviceGiveBack
{
  ArrayHeap *  Heap{ nullptr };
  DeviceBuffer Own; // if the heap had no room

  void
  operator()(void * array) const
  {
    if (Heap != nullptr)
    {
      Heap->Give(array);
    }
  }
};

/** \class DeviceExecutor
 * \brief Executor that runs the parallel loops of an algorithm on a device.
 *
 * All work is queued on one stream; Read() waits for it. Arrays are suballocated from a heap, and those that do not
 * fit are allocated separately.
 *
 * Prefix sums use CUB. They are sums of integers, so that the results do not depend on how they are divided among
 * threads.
 */
class DeviceExecutor
{
public:
  using Atomics = DeviceAtomics;

  /** Whether loops give a whole row or node to one work item, which suits few threads. On the device, each of many
   * small work items runs on a thread or a team of its own. */
  static constexpr bool IsCoarseGrained = false;

  template <typename T>
  using Array = ExecutorArray<T, std::unique_ptr<void, DeviceGiveBack>>;

  /** \param squares whether the sums of the law include squares
   * \param heapBytes size of the heap; the executor works without a heap if the device has not enough memory
   */
  DeviceExecutor(const region::DeviceSums & sums, bool squares, size_t heapBytes, const Context & context)
    : m_Sums(sums)
    , m_Squares(squares)
    , m_Context(context)
    , m_NumberOfMultiprocessors(static_cast<size_t>(GetDeviceProperties(context.GetDevice()).MultiprocessorCount))
    , m_Mailbox(context)
    , m_HeapMemory(MakeHeap(heapBytes, context))
  {}

  template <typename T>
  Array<T>
  Allocate(size_t number) const
  {
    const size_t bytes = std::max<size_t>(number, 1) * sizeof(T);
    if (void * const array = m_Heap.Take(bytes))
    {
      return Array<T>({ array, DeviceGiveBack{ &m_Heap, {} } });
    }
    DeviceBuffer own(bytes, m_Context);
    void * const array = own.GetPointer();
    return Array<T>({ array, DeviceGiveBack{ nullptr, std::move(own) } });
  }

  /** Returns a value after all queued work. A kernel writes it to pinned memory, which the host polls. A copy and the
   * driver's wait would each take some microseconds more. */
  template <typename T>
  T
  Read(const T * value) const
  {
    static_assert(sizeof(T) <= HostMailbox::MaximumBytes, "It has room before the mark");
    this->Send(value, sizeof(T));
    return this->Receive<T>();
  }

  /** Copies an array to the host, after all queued work. Small arrays are written by a kernel to pinned memory, as in
   * Read(). */
  template <typename T>
  void
  Download(const T * data, size_t number, T * out) const
  {
    const size_t bytes = number * sizeof(T);
    if (bytes <= HostMailbox::MaximumBytes)
    {
      this->Send(data, bytes);
      memcpy(static_cast<void *>(out), m_Mailbox.Wait(), bytes);
      return;
    }
    this->FlushFills();
    ITK_CUDA_CALL(cudaMemcpyAsync(out, data, bytes, cudaMemcpyDeviceToHost, m_Context.GetStream()));
    ITK_CUDA_CALL(cudaStreamSynchronize(m_Context.GetStream()));
  }

  /** Copies an array from pageable memory to the device. The source may change after the return. */
  template <typename T>
  Array<T>
  Upload(const T * data, size_t number) const
  {
    Array<T> array = this->Allocate<T>(number);
    this->FlushFills();
    ITK_CUDA_CALL(
      cudaMemcpyAsync(array.Get(), data, number * sizeof(T), cudaMemcpyHostToDevice, m_Context.GetStream()));
    return array;
  }

  /** Uploads an image of UInt, row by row. */
  Array<uint32_t>
  UploadImage(const CudaImageView & image) const
  {
    const size_t    width = image.Size[0];
    const size_t    pixels = width * image.Size[1];
    Array<uint32_t> array = this->Allocate<uint32_t>(pixels);
    DeviceView      view;
    view.Data = array.Get();
    view.ComponentType = CudaComponentType::UInt;
    view.Size = { { width, image.Size[1], 1, 1, 1 } };
    view.Stride = { { 1, width, pixels, pixels, pixels } };
    this->FlushFills();
    UploadRows(image, view, m_Context, {});
    return array;
  }

  /** Sets all bytes. Fills in the heap are deferred until the next work is queued, and then done in one launch: for a
   * small image, a launch takes the driver longer than the fill takes the device. Memory outside the heap is filled
   * immediately, because it could be freed before the next work. */
  template <typename T>
  void
  Fill(T * data, size_t number, unsigned char byte) const
  {
    const kernels::ByteFills::Part part{ reinterpret_cast<unsigned char *>(data), number * sizeof(T), byte };
    if (m_Fills.Number == kernels::ByteFills::Maximum || m_Fills.Overlap(part))
    {
      this->FlushFills();
    }
    if (number > 0)
    {
      m_Fills.Parts[m_Fills.Number++] = part;
    }
    if (!m_Heap.Has(data))
    {
      this->FlushFills();
    }
  }

  template <typename TFunction>
  void
  VisitScene(const TFunction & function) const
  {
    region::VisitSamples(m_Sums, [&](auto sample, auto masked) {
      using SceneType = DeviceScene<decltype(sample), decltype(masked)::value>;
      function(SceneType{ region::GetPixels<decltype(sample), decltype(masked)::value>(m_Sums, m_Sums.GetWhole()),
                          m_Squares });
    });
  }

  template <typename TFunction>
  void
  VisitEdgeIntegrator(const TFunction & function) const
  {
    constexpr int32_t together = 4;
    function(DeviceEdgeIntegrator<together>(m_Sums, m_Squares));
  }
  /** Variant for RunCooperatively(), whose threads have fewer registers. */
  template <typename TFunction>
  void
  VisitSmallEdgeIntegrator(const TFunction & function) const
  {
    constexpr int32_t together = 2;
    function(DeviceEdgeIntegrator<together>(m_Sums, m_Squares));
  }

  /** Calls functor(i) for i < number, one work item per thread (parallel for). */
  template <typename TFunctor>
  void
  ParallelFor(size_t number, const TFunctor & functor) const
  {
    constexpr size_t unlimited = std::numeric_limits<size_t>::max();
    this->LaunchLoop(
      kernels::ParallelForKernel<TFunctor>, number, unlimited, kernels::ThreadsOfLoop, 1, number, functor);
  }

  /** Calls functor(i) for i < functor.GetNumber(), where the count is read on the device and is at most `most`. */
  template <typename TFunctor>
  void
  ParallelForUpTo(size_t most, const TFunctor & functor) const
  {
    this->LaunchLoop(
      kernels::ParallelForUpToKernel<TFunctor>, most, MaximumBlocksOfLoop, kernels::ThreadsOfLoop, 1, functor);
  }

  /** Calls functor(i) as ParallelForUpTo() does. The work items take long, so that cooperative launches run each on a
   * team. */
  template <typename TFunctor>
  void
  ParallelForLongItemsUpTo(size_t most, const TFunctor & functor) const
  {
    this->ParallelForUpTo(most, functor);
  }

  /** Calls functor(i, team) for i < functor.GetNumber(), which is at most `most`. Each team has TFunctor::TeamSize
   * threads of a warp. */
  template <typename TFunctor>
  void
  ParallelForTeamsUpTo(size_t most, const TFunctor & functor) const
  {
    constexpr unsigned int threads = 64; // small blocks, because work items differ in length and may be few
    this->LaunchLoop(
      kernels::TeamsUpToKernel<TFunctor>, most, MaximumBlocksOfLoop, threads, TFunctor::TeamSize, functor);
  }

  /** Runs a program, a sequence of parallel loops, with one launch per loop. */
  template <typename TProgram>
  void
  Run(const TProgram & program) const
  {
    program(*this);
  }
  /** The host knows neither how many work items the loops of a program have nor whether any are left. */
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
  /** Runs a program in one launch of one block, for loops with few work items. Waits, and returns the final
   * `*value`.
   */
  template <typename TProgram, typename T>
  T
  RunInOneBlock(const TProgram & program, const T * value) const
  {
    this->Launch(kernels::ProgramKernel<TProgram>,
                 dim3(1),
                 kernels::ThreadsOfLoopsInOneBlock,
                 program,
                 m_Mailbox.MakeSignal(value, sizeof(T)));
    return this->Receive<T>();
  }
  /** Returns whether loops over `number` items may run in one cooperative launch, given that this is faster for up to
   * `most` items.
   */
  bool
  PrefersSingleLaunch(size_t number, size_t most) const
  {
    return number <= most;
  }
  /** Runs a program in one cooperative launch with at most `threads` threads (rounded up to a block). The loops may
   * have more work items than that. Waits, and returns the final `*value`. */
  template <typename TProgram, typename T>
  T
  RunCooperatively(const TProgram & program, size_t threads, const T * value) const
  {
    this->LaunchCooperatively(program, threads, m_Mailbox.MakeSignal(value, sizeof(T)));
    return this->Receive<T>();
  }
  /** Runs a program in one cooperative launch without returning a value. It still waits if other runs share the device.
   * CUDA maps streams to a few hardware queues, 8 by default, and work queued behind this launch, which may take long,
   * would hold up the other runs. */
  template <typename TProgram>
  void
  RunCooperatively(const TProgram & program, size_t threads) const
  {
    const bool waits = this->CountConcurrentRuns() > 1;
    this->LaunchCooperatively(program, threads, waits ? m_Mailbox.MakeSignal() : kernels::HostSignal{});
    if (waits)
    {
      m_Mailbox.Wait();
    }
  }

  /** Computes the exclusive prefix sum sums[i] = function(0) + ... + function(i - 1), for 0 <= i <= number. Few values
   * are summed by one block in one launch. */
  template <typename TFunction, typename T>
  void
  ExclusiveScan(const TFunction & function, size_t number, T * sums) const
  {
    if (number < kernels::BlockScan::MaximumNumberOfValues)
    {
      this->ScanInOneBlock(function, number, sums, kernels::HostSignal{});
      return;
    }
    const auto values = thrust::make_transform_iterator(thrust::counting_iterator<size_t>(0),
                                                        ZeroPadded<TFunction, T>{ function, number });
    this->WithTemporaryMemory([&](void * memory, size_t & bytes) {
      return cub::DeviceScan::ExclusiveSum(
        memory, bytes, values, sums, static_cast<int>(number + 1), m_Context.GetStream());
    });
  }

  /** Computes the exclusive prefix sum as ExclusiveScan() does, waits, and returns the total, sums[number]. */
  template <typename TFunction, typename T>
  T
  ExclusiveScanAndRead(const TFunction & function, size_t number, T * sums) const
  {
    if (number < kernels::BlockScan::MaximumNumberOfValues)
    {
      this->ScanInOneBlock(function, number, sums, m_Mailbox.MakeSignal(sums + number, sizeof(T)));
      return this->Receive<T>();
    }
    this->ExclusiveScan(function, number, sums);
    return this->Read(sums + number);
  }

  /** Computes the inclusive maximum scan maxima[i] = max(function(0), ..., function(i)). */
  template <typename TFunction>
  void
  InclusiveMaxScan(const TFunction & function, size_t number, uint32_t * maxima) const
  {
    const auto values = thrust::make_transform_iterator(thrust::counting_iterator<size_t>(0),
                                                        ZeroPadded<TFunction, uint32_t>{ function, number });
    this->WithTemporaryMemory([&](void * memory, size_t & bytes) {
      return cub::DeviceScan::InclusiveScan(
        memory, bytes, values, maxima, Larger{}, static_cast<int>(number), m_Context.GetStream());
    });
  }

  /** Sorts keys by their lower bits, and writes the sorted keys and their original indices (a stable argsort). Few keys
   * are sorted by one block in one launch. */
  void
  ArgSort(const uint64_t * keys, size_t number, int bits, uint64_t * sorted, uint32_t * indices) const
  {
    if (this->SortInOneBlock<uint32_t>(keys, number, bits, sorted, indices) ||
        this->SortInOneBlock<uint64_t>(keys, number, bits, sorted, indices))
    {
      return;
    }
    const Array<uint32_t> inOrder = this->Allocate<uint32_t>(number);
    this->ParallelFor(number, functors::Iota{ inOrder.Get() });
    this->WithTemporaryMemory([&](void * memory, size_t & bytes) {
      return cub::DeviceRadixSort::SortPairs(
        memory, bytes, keys, sorted, inOrder.Get(), indices, static_cast<int>(number), 0, bits, m_Context.GetStream());
    });
  }

private:
  /** The maximum number of blocks of a loop whose number of work items is read on the device, because the actual number
   * is mostly far smaller. It is enough for the multiprocessors of any device. */
  static constexpr size_t MaximumBlocksOfLoop = 4096;

  /** Queues a kernel after the deferred fills. */
  template <typename... TParameters, typename... TArguments>
  void
  Launch(void (*kernel)(TParameters...), dim3 grid, unsigned int threads, const TArguments &... arguments) const
  {
    this->FlushFills();
    ITK_CUDA_CALL(LaunchKernel(kernel, grid, dim3(threads), 0, m_Context.GetStream(), arguments...));
  }
  /** Queues a loop over up to `most` work items, each of which takes `threadsOfItem` threads. */
  template <typename... TParameters, typename... TArguments>
  void
  LaunchLoop(void (*kernel)(TParameters...),
             size_t       most,
             size_t       maximumBlocks,
             unsigned int threads,
             unsigned int threadsOfItem,
             const TArguments &... arguments) const
  {
    if (most > 0)
    {
      this->Launch(
        kernel, MakeGrid(std::min(maximumBlocks, DivideUp(most, threads / threadsOfItem))), threads, arguments...);
    }
  }

  /** Queues the deferred fills. */
  void
  FlushFills() const
  {
    constexpr unsigned int   threads = 256;
    constexpr size_t         bytesOfThread = 4 * sizeof(uint4);
    constexpr size_t         maximumBlocks = 1024;
    const kernels::ByteFills fills = std::exchange(m_Fills, kernels::ByteFills{});
    if (fills.Number == 1)
    {
      const kernels::ByteFills::Part & part = fills.Parts[0];
      ITK_CUDA_CALL(cudaMemsetAsync(part.Begin, part.Byte, part.NumberOfBytes, m_Context.GetStream()));
    }
    else if (fills.Number > 1)
    {
      size_t most = 0;
      for (unsigned int i = 0; i < fills.Number; ++i)
      {
        most = std::max(most, fills.Parts[i].NumberOfBytes);
      }
      dim3 grid = MakeGrid(std::min(maximumBlocks, most / (threads * bytesOfThread) + 1));
      grid.y = fills.Number;
      this->Launch(kernels::FillKernel, grid, threads, fills);
    }
  }

  template <typename TFunction, typename T>
  void
  ScanInOneBlock(const TFunction & function, size_t number, T * sums, const kernels::HostSignal & signal) const
  {
    this->Launch(kernels::ExclusiveScanKernel<TFunction, T>,
                 dim3(1),
                 kernels::BlockScan::Threads,
                 function,
                 static_cast<uint32_t>(number),
                 sums,
                 signal);
  }

  /** Sorts in one block if the keys fit, and returns whether it did. Shorter key types allow more keys. */
  template <typename TKey>
  bool
  SortInOneBlock(const uint64_t * keys, size_t number, int bits, uint64_t * sorted, uint32_t * indices) const
  {
    using Sort = kernels::BlockSort<TKey>;
    const bool hasRoom = number <= Sort::MaximumNumberOfKeys && bits <= Sort::MaximumNumberOfBits;
    if (hasRoom)
    {
      this->Launch(kernels::ArgSortKernel<TKey>,
                   dim3(1),
                   Sort::Threads,
                   keys,
                   static_cast<uint32_t>(number),
                   bits,
                   sorted,
                   indices);
    }
    return hasRoom;
  }

  size_t
  CountConcurrentRuns() const
  {
    return std::max<size_t>(ConcurrentRuns::CountOf(m_Context.GetDevice()), 1);
  }
  /** Queues a cooperative launch. If several runs share the device, each gets a part of it, because a grid whose blocks
   * are all resident keeps others out. */
  template <typename TProgram>
  void
  LaunchCooperatively(const TProgram & program, size_t threads, const kernels::HostSignal & signal) const
  {
    const size_t concurrentRuns = this->CountConcurrentRuns();
    const size_t ofOne = concurrentRuns > 1 ? kernels::MaximumBlocksOfGrid<TProgram> : kernels::BlocksOfCooperativeLoop;
    const size_t most = std::max<size_t>(m_NumberOfMultiprocessors * ofOne / concurrentRuns, 1);
    cudaLaunchAttribute cooperative{};
    cooperative.id = cudaLaunchAttributeCooperative;
    cooperative.val.cooperative = 1;
    cudaLaunchConfig_t configuration{};
    configuration.gridDim = MakeGrid(std::clamp<size_t>(DivideUp(threads, kernels::ThreadsOfCooperativeLoop), 1, most));
    configuration.blockDim = dim3(kernels::ThreadsOfCooperativeLoop);
    configuration.stream = m_Context.GetStream();
    configuration.attrs = &cooperative;
    configuration.numAttrs = 1;
    this->FlushFills();
    ITK_CUDA_CALL((LaunchWithParameters<TProgram, kernels::HostSignal>(
      configuration, kernels::GridProgramKernel<TProgram>, program, signal)));
  }

  void
  Send(const void * value, size_t bytes) const
  {
    constexpr unsigned int threads = 256;
    this->Launch(kernels::SignalKernel, dim3(1), threads, m_Mailbox.MakeSignal(value, bytes));
  }
  /** Waits for the last signal and returns its value. */
  template <typename T>
  T
  Receive() const
  {
    return *static_cast<const T *>(m_Mailbox.Wait());
  }

  const region::DeviceSums & m_Sums;
  const bool                 m_Squares;
  const Context              m_Context;
  const size_t               m_NumberOfMultiprocessors;
  mutable HostMailbox        m_Mailbox;
  mutable kernels::ByteFills m_Fills{};    // deferred until the next work
  const DeviceBuffer         m_HeapMemory; // may be empty
  mutable ArrayHeap          m_Heap{ m_HeapMemory.GetPointer(), m_HeapMemory.GetSize() };

  static DeviceBuffer
  MakeHeap(size_t bytes, const Context & context)
  {
    try
    {
      return DeviceBuffer(bytes, context);
    }
    catch (const CudaError & error)
    {
      if (error.GetKind() != CudaError::Kind::OutOfMemory)
      {
        throw;
      }
      return {}; // the arrays may still fit one by one
    }
  }

  /** Calls a CUB function twice: first to query the size of the temporary storage, then to run. */
  template <typename TCall>
  void
  WithTemporaryMemory(const TCall & call) const
  {
    size_t bytes = 0;
    ITK_CUDA_CALL(call(nullptr, bytes));
    const Array<char> memory = this->Allocate<char>(bytes);
    this->FlushFills();
    ITK_CUDA_CALL(call(memory.Get(), bytes));
  }
};
} // namespace itk::cuda::executor

#endif
