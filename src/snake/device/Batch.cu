// SPDX-License-Identifier: Apache-2.0
#include "snake/device/Batch.h"

#include "runtime/device/Call.h"
#include "runtime/device/Device.h"
#include "runtime/device/Stream.h"
#include "runtime/memory/DeviceMemory.h"
#include "snake/Start.h"
#include "snake/device/Kernels.cuh"
#include "snake/device/Loop.cuh"
#include "snake/device/LoopArrays.cuh"

#include <algorithm>
#include <utility>

// Runs many small snakes on windows of one image. Each block of BatchKernel takes a snake from a queue, runs its whole
// schedule (RunPhases()), and then takes the next one. A kernel before it sums the windows and the starts, from which
// the host makes the plans.

namespace itk::cuda::snake
{
namespace
{
using namespace kernels;

// A block has room for this many nodes and entries of the record. Snakes that need more run alone. An outline of 200
// pixels has 30 to 50 nodes and about 100 entries.
constexpr size_t NodesOfBlock = 128;
constexpr size_t EntriesOfBlock = 1024;

constexpr ITK_CUDA_HOST_DEVICE LoopSizes
GetSizesOfBlock()
{
  return { NodesOfBlock, BlockTeam::GetNumberOfWorkers(), EntriesOfBlock };
}

constexpr int BlocksPerMultiprocessor = 4;
constexpr int MaximumNumberOfBlocks = 768;

/** A start and its window. */
struct BatchStart
{
  PixelRectangle Window;
  uint32_t       FirstNode;
  int32_t        NumberOfNodes;
};

/** The sums that the plan of a run is made from. */
struct BatchSums
{
  Moments Total;
  Moments Inside; // of the start
};

/** A run of BatchKernel. */
struct BatchRun
{
  BatchStart     Start;
  SnakePlan      Plan;
  LawDescription Law;
  Moments        Total;
};

enum class BatchStatus : int32_t
{
  Waiting, // the launch ended before the run began, or had no room for its result
  Ended,
  TooLarge // for a block
};

/** The result of a run, with its place in the polygons and records of the launch. */
struct BatchResult
{
  BatchStatus         Status;
  Moments             Sums;
  double              Criterion;
  uint32_t            NumberOfIterations;
  CudaRegionSnakeStop Stop;
  uint32_t            FirstNode;
  uint32_t            NumberOfNodes;
  uint32_t            FirstEntry;
  uint32_t            NumberOfEntries;
};

/** The counters of a launch. They are zero before it. */
struct BatchCounters
{
  uint32_t Runs; // that blocks have taken
  uint32_t Nodes;
  uint32_t Entries;
};

/** The arrays of a launch in device memory. */
struct BatchArrays
{
  const BatchRun *      Runs;
  const LatticePoint *  Starts;
  BatchResult *         Results;
  LatticePoint *        Nodes;
  CudaRegionSnakeStep * Entries;
  BatchCounters *       Counters;
  char *                Blocks; // memory of the snakes that blocks are running
  uint32_t              NumberOfRuns;
  uint32_t              RoomForNodes;
  uint32_t              RoomForEntries;
};

/** Sums the window and the start of each run. One block handles a run. */
template <typename TSample, bool VMask>
__global__ void
__launch_bounds__(BlockTeam::Threads) SumStartsKernel(DevicePixels<TSample, VMask> image,
                                                      const BatchStart *           starts,
                                                      const LatticePoint *         nodes,
                                                      BatchSums *                  sums)
{
  const BatchStart & start = starts[blockIdx.x];
  BatchSums &        own = sums[blockIdx.x];
  image.Crop(start.Window);
  AddPixels(image, static_cast<int>(threadIdx.x), BlockTeam::Threads, own.Total);
  AddEdges(image,
           nodes + start.FirstNode,
           start.NumberOfNodes,
           BlockTeam::GetWarp(),
           BlockTeam::GetNumberOfWarps(),
           own.Inside);
}

/** Prepares the state of a run with all threads of the block. */
__device__ void
BeginRun(DeviceSnake & snake, const BatchRun & run, const LatticePoint * start, char * memory)
{
  if (threadIdx.x == 0)
  {
    snake = DeviceSnake();
    snake.Plan = run.Plan;
    snake.Law = run.Law;
    snake.Total = run.Total;
    snake.Begin(SnakeControl(run.Plan, 0), run.Start.NumberOfNodes);
    GetSizesOfBlock().PlaceArrays(memory, snake);
  }
  __syncthreads();
  for (int i = static_cast<int>(threadIdx.x); i < snake.NumberOfNodes; i += BlockTeam::Threads)
  {
    snake.Polygons[0][i] = start[run.Start.FirstNode + i];
  }
  __syncthreads();
}

/** Stores the result of a run with all threads of the block. */
__device__ void
EndRun(const DeviceSnake & snake, const LatticePoint * polygon, BatchResult & result, const BatchArrays & arrays)
{
  if (threadIdx.x == 0)
  {
    const auto nodes = static_cast<uint32_t>(snake.NumberOfNodes);
    result.FirstNode = atomicAdd(&arrays.Counters->Nodes, nodes);
    result.FirstEntry = atomicAdd(&arrays.Counters->Entries, snake.NumberOfEntries);
    result.NumberOfNodes = nodes;
    result.NumberOfEntries = snake.NumberOfEntries;
    result.Sums = snake.Sums;
    result.Criterion = snake.Criterion;
    result.NumberOfIterations = snake.Control.Iterations;
    result.Stop = snake.Control.Stop;
    const bool fits = result.FirstNode + nodes <= arrays.RoomForNodes &&
                      result.FirstEntry + snake.NumberOfEntries <= arrays.RoomForEntries;
    result.Status = snake.Pause ? BatchStatus::TooLarge : fits ? BatchStatus::Ended : BatchStatus::Waiting;
  }
  __syncthreads();
  if (result.Status == BatchStatus::Ended)
  {
    for (uint32_t i = threadIdx.x; i < result.NumberOfNodes; i += BlockTeam::Threads)
    {
      arrays.Nodes[result.FirstNode + i] = polygon[i];
    }
    for (uint32_t i = threadIdx.x; i < result.NumberOfEntries; i += BlockTeam::Threads)
    {
      arrays.Entries[result.FirstEntry + i] = snake.Record[i];
    }
  }
  __syncthreads();
}

/** Runs snakes until all have been taken, or until the time of the launch is over. Each block runs one snake after the
 * other. */
template <typename TSample, bool VMask>
__global__ void
__launch_bounds__(BlockTeam::Threads, BlocksPerMultiprocessor)
  BatchKernel(DevicePixels<TSample, VMask> image, BatchArrays arrays, size_t bytesPerBlock, uint64_t nanoseconds)
{
  __shared__ SharedStorage<BlockStorage> shared;
  __shared__ SharedStorage<DevicePixels<TSample, VMask>> window;
  __shared__ uint32_t                                    taken;
  BlockStorage &                                         storage = shared.Get();
  BlockTeam                                              team;
  const uint64_t                                         end = ReadClock() + nanoseconds;
  for (bool isFirst = true;; isFirst = false)
  {
    if (threadIdx.x == 0)
    {
      taken = isFirst || ReadClock() < end ? atomicAdd(&arrays.Counters->Runs, 1u) : arrays.NumberOfRuns;
      if (taken < arrays.NumberOfRuns)
      {
        window.Get() = image;
        window.Get().Crop(arrays.Runs[taken].Start.Window);
      }
    }
    __syncthreads();
    const uint32_t number = taken;
    if (number >= arrays.NumberOfRuns)
    {
      return;
    }
    BeginRun(storage.Snake, arrays.Runs[number], arrays.Starts, arrays.Blocks + blockIdx.x * bytesPerBlock);
    const LatticePoint * const polygon = RunPhases(team, window.Get(), DeviceCells{}, storage, LaunchLimits());
    EndRun(storage.Snake, polygon, arrays.Results[number], arrays);
  }
}

/** A backend that returns the results of a run on the device. */
class EndedRun final : public SnakeBackend
{
public:
  EndedRun(const Moments & total, const Moments & inside, SnakeOutcome && outcome)
    : m_Total(total)
    , m_Inside(inside)
    , m_Outcome(std::move(outcome))
  {}

  Moments
  GetTotal() override
  {
    return m_Total;
  }
  void
  Begin(const SnakePlan &, const LawDescription &) override
  {}
  Moments
  SumPolygon(const CudaSnakePolygon &, uint32_t) override
  {
    return m_Inside; // only the start is summed
  }
  CudaSnakePolygon
  SearchRectangle() override
  {
    itkGenericExceptionMacro("A run of a batch has a start");
  }
  SnakeOutcome
  Run(const CudaSnakePolygon &, int, const StepFunction &, const ProgressFunction &) override
  {
    return std::move(m_Outcome);
  }
  SnakeOutcome
  RunRemoval(const CudaSnakePolygon &, const ProgressFunction &) override
  {
    itkGenericExceptionMacro("The runs of a batch include the removal of nodes");
  }

private:
  const Moments m_Total;
  const Moments m_Inside;
  SnakeOutcome  m_Outcome;
};

class DeviceBatch final : public BatchBackend
{
public:
  DeviceBatch(const DeviceSnakeImage & image, const Threads & threads, const BatchLaunchOptions & options)
    : m_Image(image)
    , m_Threads(threads)
    , m_Options(options)
    , m_Device(image.GetSums().GetDevice())
    , m_UsesSquares(UsesSquares(image.GetLaw()))
  {}

  void
  RunTogether(const std::vector<SnakeRun> & runs, const std::function<bool(double)> & goesOn) override
  {
    m_Ended.resize(runs.size());
    if (HasKernelTimeout(m_Device))
    {
      return; // launches would have to end within a run
    }
    const DeviceGuard guard(m_Device);
    const StreamLease stream(m_Device);
    this->ListStarts(runs);
    if (!m_Starts.empty())
    {
      this->SumStarts(stream);
      this->MakeRuns(runs);
      this->LaunchAll(goesOn, stream);
    }
  }

  CudaRegionSnakeResult
  Run(size_t index, const SnakeRun & run, const Threads & threads) override
  {
    if (m_Ended[index])
    {
      return RunSnake(m_Image, run, *m_Ended[index]);
    }
    // The launches of all threads are resident at the same time if they share the multiprocessors.
    const int          processors = GetDeviceProperties(m_Device).MultiprocessorCount;
    SnakeLaunchOptions options;
    options.MaximumNumberOfBlocks =
      std::max(1, processors * static_cast<int>(threads.GetNumber()) / static_cast<int>(m_Threads.GetNumber()));
    return RunOnDevice(m_Image, run, options);
  }

private:
  const DeviceSnakeImage & m_Image;
  const Threads            m_Threads;
  const BatchLaunchOptions m_Options;
  const int                m_Device;
  const bool               m_UsesSquares;

  std::vector<std::unique_ptr<EndedRun>> m_Ended;   // of each run; nullptr: it has to run alone
  std::vector<size_t>                    m_Members; // the runs of the starts
  std::vector<BatchStart>                m_Starts;
  std::vector<LatticePoint>              m_Nodes; // of all starts
  std::vector<BatchSums>                 m_Sums;
  std::vector<BatchRun>                  m_Runs;    // of the starts that are large enough
  std::vector<size_t>                    m_Waiting; // of m_Runs: their starts

  /** Returns the polygon that a run starts with. It is empty if the run has to run alone: if it has a coarse level, if
   * the start is a mask or too long, or if a run of removals may have to follow. */
  CudaSnakePolygon
  GetStart(const SnakeRun & run) const
  {
    const PixelRectangle rectangle = CheckSnakeRun(m_Image, run);
    if (run.StartPolygon == nullptr || !run.Parameters.UseDescriptionLength ||
        GetCoarseExponent(run.Parameters.Schedule, rectangle) > 0)
    {
      return {};
    }
    CudaSnakePolygon polygon = SnapPolygon(
      CheckStartPolygon(*run.StartPolygon, rectangle.Width, rectangle.Height, run.Parameters.MaximumNumberOfNodes),
      0,
      rectangle.Width,
      rectangle.Height);
    return polygon.size() < NodesOfBlock ? polygon : CudaSnakePolygon{};
  }

  void
  ListStarts(const std::vector<SnakeRun> & runs)
  {
    std::vector<CudaSnakePolygon> polygons(runs.size());
    m_Threads.ForRanges(runs.size(), 16, [&](size_t begin, size_t end) {
      std::transform(runs.begin() + static_cast<ptrdiff_t>(begin),
                     runs.begin() + static_cast<ptrdiff_t>(end),
                     polygons.begin() + static_cast<ptrdiff_t>(begin),
                     [&](const SnakeRun & run) { return this->GetStart(run); });
    });
    for (size_t i = 0; i < runs.size(); ++i)
    {
      if (!polygons[i].empty())
      {
        m_Members.push_back(i);
        m_Starts.push_back(
          { runs[i].Rectangle, static_cast<uint32_t>(m_Nodes.size()), static_cast<int32_t>(polygons[i].size()) });
        m_Nodes.insert(m_Nodes.end(), polygons[i].begin(), polygons[i].end());
      }
    }
  }

  /** Computes the sums of the windows and of the starts. */
  void
  SumStarts(const Context & context)
  {
    const size_t       number = m_Starts.size();
    const DeviceBuffer starts = Uploaded(m_Starts, context);
    const DeviceBuffer nodes = Uploaded(m_Nodes, context);
    const DeviceBuffer sums(number * sizeof(BatchSums), context);
    ITK_CUDA_CALL(cudaMemsetAsync(sums.GetPointer(), 0, sums.GetSize(), context.GetStream()));
    VisitSamples(m_Image.GetSums(), [&](auto sample, auto masked) {
      using SampleType = decltype(sample);
      constexpr bool hasMask = decltype(masked)::value;
      ITK_CUDA_CALL(LaunchKernel(SumStartsKernel<SampleType, hasMask>,
                                 dim3(static_cast<unsigned int>(number)),
                                 dim3(BlockTeam::Threads),
                                 0,
                                 context.GetStream(),
                                 GetPixels<SampleType, hasMask>(m_Image.GetSums(), m_Image.GetWhole()),
                                 static_cast<const BatchStart *>(starts.GetPointer()),
                                 static_cast<const LatticePoint *>(nodes.GetPointer()),
                                 static_cast<BatchSums *>(sums.GetPointer())));
    });
    m_Sums.resize(number);
    Download(m_Sums.data(), sums.GetPointer(), number, context);
  }

  /** Makes the plans of the runs whose start and window are large enough. For the others, Run() tells why. */
  void
  MakeRuns(const std::vector<SnakeRun> & runs)
  {
    for (size_t i = 0; i < m_Starts.size(); ++i)
    {
      const CudaRegionSnakeParameters parameters = m_Image.Complete(runs[m_Members[i]].Parameters);
      const Moments &                 total = m_Sums[i].Total;
      const auto                      validPixels = static_cast<size_t>(total.Count);
      if (!IsLargeEnough(m_Sums[i], parameters))
      {
        continue;
      }
      const PixelRectangle & window = m_Starts[i].Window;
      BatchRun               run{ m_Starts[i],
                    MakeSnakePlan(parameters, window.Width, window.Height, validPixels),
                    MakeLawDescription(parameters, validPixels, m_Image.GetSamples().SquaresWrap),
                    total };
      run.Plan.MaximumNumberOfNodes = std::min<uint32_t>(run.Plan.MaximumNumberOfNodes, NodesOfBlock);
      m_Runs.push_back(run);
      m_Waiting.push_back(i);
    }
  }

  static bool
  IsLargeEnough(const BatchSums & sums, const CudaRegionSnakeParameters & parameters)
  {
    const auto minimum = static_cast<int64_t>(parameters.MinimumRegionSize);
    return sums.Inside.Count >= minimum && sums.Total.Count - sums.Inside.Count >= minimum;
  }

  /** Launches the kernel until no run is waiting. */
  void
  LaunchAll(const std::function<bool(double)> & goesOn, const Context & context)
  {
    const size_t number = m_Runs.size();
    const size_t blocks = std::min<size_t>(
      { number,
        static_cast<size_t>(GetDeviceProperties(m_Device).MultiprocessorCount) * BlocksPerMultiprocessor,
        MaximumNumberOfBlocks });
    // See BytesOfDeviceBatch for the sum of all buffers.
    const DeviceBuffer nodes = Uploaded(m_Nodes, context);
    const DeviceBuffer memory(blocks * GetSizesOfBlock().GetNumberOfBytes(), context);
    ITK_CUDA_CALL(cudaMemsetAsync(memory.GetPointer(), 0, memory.GetSize(), context.GetStream()));
    while (!m_Runs.empty() && goesOn(1.0 - static_cast<double>(m_Runs.size()) / static_cast<double>(number)))
    {
      this->Launch(blocks, nodes, memory, context);
    }
  }

  /** Launches the kernel, and takes the results of the runs that have ended. Those that are too large are left to
   * Run().
   */
  void
  Launch(size_t blocks, const DeviceBuffer & starts, const DeviceBuffer & memory, const Context & context)
  {
    const size_t       number = std::min(m_Runs.size(), m_Options.RunsPerLaunch);
    const size_t       roomForNodes = number * m_Options.NodesPerRun + NodesOfBlock;
    const size_t       roomForEntries = number * m_Options.EntriesPerRun + EntriesOfBlock;
    const DeviceBuffer runs =
      Uploaded(std::vector<BatchRun>(m_Runs.begin(), m_Runs.begin() + static_cast<ptrdiff_t>(number)), context);
    const DeviceBuffer results(number * sizeof(BatchResult), context);
    const DeviceBuffer nodes(roomForNodes * sizeof(LatticePoint), context);
    const DeviceBuffer entries(roomForEntries * sizeof(CudaRegionSnakeStep), context);
    const DeviceBuffer counters(sizeof(BatchCounters), context);
    ITK_CUDA_CALL(cudaMemsetAsync(results.GetPointer(), 0, results.GetSize(), context.GetStream()));
    ITK_CUDA_CALL(cudaMemsetAsync(counters.GetPointer(), 0, counters.GetSize(), context.GetStream()));
    const BatchArrays arrays{ static_cast<const BatchRun *>(runs.GetPointer()),
                              static_cast<const LatticePoint *>(starts.GetPointer()),
                              static_cast<BatchResult *>(results.GetPointer()),
                              static_cast<LatticePoint *>(nodes.GetPointer()),
                              static_cast<CudaRegionSnakeStep *>(entries.GetPointer()),
                              static_cast<BatchCounters *>(counters.GetPointer()),
                              static_cast<char *>(memory.GetPointer()),
                              static_cast<uint32_t>(number),
                              static_cast<uint32_t>(roomForNodes),
                              static_cast<uint32_t>(roomForEntries) };
    VisitSamples(m_Image.GetSums(), [&](auto sample, auto masked) {
      using SampleType = decltype(sample);
      constexpr bool hasMask = decltype(masked)::value;
      ITK_CUDA_CALL(LaunchKernel(BatchKernel<SampleType, hasMask>,
                                 dim3(static_cast<unsigned int>(blocks)),
                                 dim3(BlockTeam::Threads),
                                 0,
                                 context.GetStream(),
                                 GetPixels<SampleType, hasMask>(m_Image.GetSums(), m_Image.GetWhole()),
                                 arrays,
                                 GetSizesOfBlock().GetNumberOfBytes(),
                                 m_Options.Nanoseconds));
    });
    this->TakeResults(arrays, context);
  }

  void
  TakeResults(const BatchArrays & arrays, const Context & context)
  {
    const size_t             number = arrays.NumberOfRuns;
    std::vector<BatchResult> results(number);
    BatchCounters            counters{};
    Download(results.data(), arrays.Results, number, context);
    Download(&counters, arrays.Counters, 1, context);
    std::vector<LatticePoint>        nodes(std::min(counters.Nodes, arrays.RoomForNodes));
    std::vector<CudaRegionSnakeStep> entries(std::min(counters.Entries, arrays.RoomForEntries));
    Download(nodes.data(), arrays.Nodes, nodes.size(), context);
    Download(entries.data(), arrays.Entries, entries.size(), context);
    m_Threads.ForRanges(number, 64, [&](size_t begin, size_t end) {
      for (size_t i = begin; i < end; ++i)
      {
        if (results[i].Status == BatchStatus::Ended)
        {
          this->TakeResult(m_Waiting[i], results[i], nodes, entries);
        }
      }
    });
    std::vector<BatchRun> runs;
    std::vector<size_t>   waiting;
    for (size_t i = 0; i < m_Runs.size(); ++i)
    {
      if (i >= number || results[i].Status == BatchStatus::Waiting)
      {
        runs.push_back(m_Runs[i]);
        waiting.push_back(m_Waiting[i]);
      }
    }
    m_Runs.swap(runs);
    m_Waiting.swap(waiting);
  }

  void
  TakeResult(size_t                                   start,
             const BatchResult &                      result,
             const std::vector<LatticePoint> &        nodes,
             const std::vector<CudaRegionSnakeStep> & entries)
  {
    SnakeOutcome outcome;
    const auto   firstNode = nodes.begin() + result.FirstNode;
    const auto   firstEntry = entries.begin() + result.FirstEntry;
    outcome.Polygon.assign(firstNode, firstNode + result.NumberOfNodes);
    outcome.Record.assign(firstEntry, firstEntry + result.NumberOfEntries);
    outcome.Sums = this->Exported(result.Sums);
    outcome.Criterion = result.Criterion;
    outcome.NumberOfIterations = result.NumberOfIterations;
    outcome.Stop = result.Stop;
    m_Ended[m_Members[start]] = std::make_unique<EndedRun>(
      this->Exported(m_Sums[start].Total), this->Exported(m_Sums[start].Inside), std::move(outcome));
  }

  /** Returns the sums without squares if the law does not use squares, as the host computes them. */
  Moments
  Exported(Moments sums) const
  {
    sums.SumOfSquares = m_UsesSquares ? sums.SumOfSquares : 0;
    return sums;
  }

  template <typename T>
  static DeviceBuffer
  Uploaded(const std::vector<T> & values, const Context & context)
  {
    DeviceBuffer buffer(values.size() * sizeof(T), context);
    ITK_CUDA_CALL(cudaMemcpyAsync(
      buffer.GetPointer(), values.data(), buffer.GetSize(), cudaMemcpyHostToDevice, context.GetStream()));
    return buffer;
  }

  /** Copies an array to the host after all work on the stream, and waits for it. */
  template <typename T>
  static void
  Download(T * host, const void * device, size_t number, const Context & context)
  {
    ITK_CUDA_CALL(cudaMemcpyAsync(host, device, number * sizeof(T), cudaMemcpyDeviceToHost, context.GetStream()));
    ITK_CUDA_CALL(cudaStreamSynchronize(context.GetStream()));
  }
};
} // namespace

std::unique_ptr<BatchBackend>
MakeDeviceBatch(const DeviceSnakeImage & image, const Threads & threads, const BatchLaunchOptions & options)
{
  return std::make_unique<DeviceBatch>(image, threads, options);
}
} // namespace itk::cuda::snake
