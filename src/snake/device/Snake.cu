// SPDX-License-Identifier: Apache-2.0
#include "snake/device/Snake.h"

#include "runtime/device/Call.h"
#include "runtime/device/Device.h"
#include "runtime/device/Stream.h"
#include "runtime/memory/DeviceMemory.h"
#include "runtime/memory/PinnedMemory.h"
#include "region/Sums.cuh"
#include "snake/Run.h"
#include "snake/device/Kernels.cuh"
#include "snake/device/Loop.cuh"
#include "snake/device/LoopArrays.cuh"
#include "snake/Plan.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <type_traits>

// Prepares and launches the kernels of the region snake on a device. A run is one cooperative kernel
// (snake/device/Loop.cuh), or several launches of it where the driver ends long kernels.

namespace itk::cuda::snake
{
namespace
{
using namespace kernels;

constexpr int BlocksOfSmallKernels = 1024;

/** The initial state that a launch of the loop's kernel reads. The arrays of the loop are behind it. */
struct alignas(128) LoopLaunch
{
  DeviceSnake      State;
  GridBarrierState Barrier;
};
static_assert(std::is_trivially_copyable_v<LoopLaunch>);

/** Returns the sizes of the arrays of a run. */
LoopSizes
MakeLoopSizes(const CudaRegionSnakeParameters & parameters, int numberOfMultiprocessors)
{
  // Each iteration adds one entry and at most one for an insertion. In addition, there is at most one entry per node
  // for removals, and one per level.
  const size_t nodes = std::max<size_t>(parameters.MaximumNumberOfNodes, 4);
  const size_t entries =
    2 * static_cast<size_t>(parameters.MaximumNumberOfIterations) + nodes + SnakePlan::MaximumLevels + 2;
  return { nodes, static_cast<size_t>(numberOfMultiprocessors) * WarpsPerBlock, entries };
}

/** The data that host and device exchange, in page-locked memory. Copies from it are asynchronous, whereas a copy from
 * pageable memory returns only after the driver has read the data. The kernel writes the results directly. */
struct SnakeExchange
{
  LatticePoint Start[1024]; // not used if it has more nodes
  LoopLaunch   Launch;
  LoopResults  Results;
};
static_assert(sizeof(SnakeExchange) <= PinnedBuffer::ChunkSize);

/** Waits in its destructor for all work on a stream, so that memory that is destroyed after it may be reused. */
class StreamDrain
{
public:
  explicit StreamDrain(const Context & context)
    : m_Context(context)
  {}
  ~StreamDrain() { DrainStream(m_Context); }

  StreamDrain(const StreamDrain &) = delete;
  StreamDrain &
  operator=(const StreamDrain &) = delete;

private:
  const Context m_Context;
};

/** The arrays for the search of a rectangle to start from, and their size. */
struct SearchArrays
{
  Moments *        Table;
  FoundRectangle * Found;
  size_t           Size;

  SearchArrays(void * base, const RectangleGrid & grid, unsigned int blocks)
  {
    ArrayPlacer placer(base);
    placer.Place(Table, static_cast<size_t>(grid.Columns + 1) * grid.Rows);
    placer.Place(Found, blocks);
    Size = placer.GetSize();
  }
};

unsigned int
GetSearchBlocks(const RectangleGrid & grid, int numberOfMultiprocessors)
{
  return static_cast<unsigned int>(std::min(grid.GetNumberOfRowPairs(), 4 * numberOfMultiprocessors));
}

/** The bytes that a run needs in its workspace. */
struct RunSizes
{
  size_t Cells;   // for the cells of the coarsest level; 0 if there are no cells, or if the image has them
  size_t Scratch; // shared by the search, the sums of a polygon and the loop, which run one after the other

  RunSizes(const DeviceSums &                sums,
           const PixelRectangle &            rectangle,
           const CudaRegionSnakeParameters & parameters,
           int                               numberOfMultiprocessors)
  {
    const uint32_t      exponent = GetCoarseExponent(parameters.Schedule, rectangle);
    const bool          kept = rectangle == sums.GetWhole() && exponent == sums.GetCoarseExponent();
    const RectangleGrid grid = MakeRectangleGrid(rectangle.Width >> exponent, rectangle.Height >> exponent);
    Cells = exponent > 0 && !kept ? GetCellBytes(rectangle, exponent) : 0;
    Scratch = std::max(SearchArrays(nullptr, grid, GetSearchBlocks(grid, numberOfMultiprocessors)).Size,
                       sizeof(LoopLaunch) + MakeLoopSizes(parameters, numberOfMultiprocessors).GetNumberOfBytes());
  }
};

/** The backend that computes one run, on an image or a rectangle of it, on a device. */
template <typename TSample, bool VMask>
class CudaSnakeBackend : public SnakeBackend
{
public:
  CudaSnakeBackend(const DeviceSnakeImage &   image,
                   const PixelRectangle &     rectangle,
                   const SnakeRun &           run,
                   Workspace                  workspace,
                   const Context &            context,
                   const SnakeLaunchOptions & options)
    : m_Context(context)
    , m_NumberOfMultiprocessors(GetDeviceProperties(context.GetDevice()).MultiprocessorCount)
    , m_Options(options)
    , m_ReportsLevels(run.Observer.ReportsLevels)
    , m_LoopSizes(MakeLoopSizes(run.Parameters, m_NumberOfMultiprocessors))
    , m_Pixels(GetPixels<TSample, VMask>(image.GetSums(), rectangle))
    , m_UsesSquares(UsesSquares(image.GetLaw()))
  {
    const DeviceSums & sums = image.GetSums();
    const RunSizes     sizes(sums, rectangle, run.Parameters, m_NumberOfMultiprocessors);
    const uint32_t     exponent = GetCoarseExponent(run.Parameters.Schedule, rectangle);
    auto * const       ownCells = static_cast<Moments *>(workspace.Take(sizes.Cells));
    m_Scratch = workspace.Take(sizes.Scratch);
    if (exponent > 0)
    {
      m_Blocks.Width = rectangle.Width >> exponent;
      m_Blocks.Height = rectangle.Height >> exponent;
      m_Blocks.Prefixes = ownCells ? ownCells : sums.GetCells();
    }
    if (ownCells)
    {
      MakeCells(sums, rectangle, exponent, ownCells, m_Context);
    }
    m_Total = sums.GetTotal();
    if (!(rectangle == sums.GetWhole()))
    {
      auto * const total = static_cast<Moments *>(m_Scratch);
      SumPixels(sums, rectangle, total, m_Context);
      this->CopyToHost(&m_Total, total, 1);
    }
  }

  Moments
  GetTotal() override
  {
    return this->Exported(m_Total);
  }

  void
  Begin(const SnakePlan & plan, const LawDescription & law) override
  {
    m_Plan = plan;
    m_Law = law;
  }

  Moments
  SumPolygon(const CudaSnakePolygon & polygon, uint32_t exponent) override
  {
    const int      n = static_cast<int>(polygon.size());
    LatticePoint * points = nullptr;
    Moments *      sums = nullptr;
    ArrayPlacer    placer(m_Scratch);
    placer.Place(points, polygon.size());
    placer.Place(sums, 1);
    this->CopyToDevice(points, polygon.data(), polygon.size());
    ITK_CUDA_CALL(cudaMemsetAsync(sums, 0, sizeof(Moments), m_Context.GetStream()));
    const dim3 grid(static_cast<unsigned int>(std::min(n, BlocksOfSmallKernels)));
    this->VisitCells(exponent > 0, [&](const auto & cells) {
      ITK_CUDA_CALL(LaunchKernel(SumPolygonKernel<std::decay_t<decltype(cells)>>,
                                 grid,
                                 dim3(ThreadsPerBlock),
                                 0,
                                 m_Context.GetStream(),
                                 cells,
                                 static_cast<const LatticePoint *>(points),
                                 n,
                                 sums));
    });
    Moments result;
    this->CopyToHost(&result, sums, 1);
    return this->Exported(result);
  }

  CudaSnakePolygon
  SearchRectangle() override
  {
    const bool          coarse = m_Plan.Exponent[0] > 0;
    const RectangleGrid grid =
      MakeRectangleGrid(coarse ? m_Blocks.Width : m_Pixels.Width, coarse ? m_Blocks.Height : m_Pixels.Height);
    const unsigned int blocks = GetSearchBlocks(grid, m_NumberOfMultiprocessors);
    const SearchArrays arrays(m_Scratch, grid, blocks);
    const dim3 rows(static_cast<unsigned int>(grid.Rows), static_cast<unsigned int>(grid.Columns / WarpsPerBlock + 1));
    this->VisitCells(coarse, [&](const auto & cells) {
      ITK_CUDA_CALL(LaunchKernel(SumGridRowsKernel<std::decay_t<decltype(cells)>>,
                                 rows,
                                 dim3(ThreadsPerBlock),
                                 0,
                                 m_Context.GetStream(),
                                 cells,
                                 grid,
                                 arrays.Table));
    });
    ITK_CUDA_CALL(LaunchKernel(SearchRectanglesKernel,
                               dim3(blocks),
                               dim3(ThreadsPerBlock),
                               0,
                               m_Context.GetStream(),
                               grid,
                               static_cast<const Moments *>(arrays.Table),
                               m_Law,
                               m_Total,
                               m_Plan.MinimumRegionSize,
                               arrays.Found));
    std::vector<FoundRectangle> candidates(blocks);
    this->CopyToHost(candidates.data(), arrays.Found, blocks);
    FoundRectangle best{ 0.0, -1 };
    for (const FoundRectangle & candidate : candidates)
    {
      best = BetterOf(candidate, best);
    }
    return best.Number < 0 ? CudaSnakePolygon{} : grid.MakePolygon(best.Number);
  }

  SnakeOutcome
  Run(const CudaSnakePolygon & start,
      int                      firstLevel,
      const StepFunction &     step,
      const ProgressFunction & progress) override
  {
    this->PrepareState(SnakeControl(m_Plan, firstLevel), start);
    return this->RunPhases(step, progress);
  }

  SnakeOutcome
  RunRemoval(const CudaSnakePolygon & start, const ProgressFunction & progress) override
  {
    const Moments sums = this->SumPolygon(start, 0);
    this->PrepareState(SnakeControl(m_Plan, m_Plan.NumberOfLevels - 1), start);
    m_State.BeginRemoval(sums);
    return this->RunPhases({}, progress);
  }

private:
  using PixelsType = DevicePixels<TSample, VMask>;

  /** Calls function(cells) with the blocks of a coarse level, or with the pixels. */
  template <typename TFunction>
  void
  VisitCells(bool isCoarse, const TFunction & function) const
  {
    isCoarse ? function(m_Blocks) : function(m_Pixels);
  }

  const Context            m_Context;
  const int                m_NumberOfMultiprocessors;
  const SnakeLaunchOptions m_Options;
  const bool               m_ReportsLevels;
  const LoopSizes          m_LoopSizes;
  const PixelsType         m_Pixels;
  DeviceCells              m_Blocks{};
  Moments                  m_Total;
  // the arrays of the search or of the sums of a polygon, or the launch and the arrays of the loop
  void *     m_Scratch{ nullptr };
  const bool m_UsesSquares;

  SnakePlan      m_Plan;
  LawDescription m_Law;
  DeviceSnake    m_State;

  const PinnedBuffer m_Exchange{ PinnedBuffer::Take() };
  const StreamDrain  m_Drain{ m_Context };

  SnakeExchange &
  GetExchange() const
  {
    return *static_cast<SnakeExchange *>(m_Exchange.GetPointer());
  }

  /** Returns the sums without squares if the law does not use squares. The kernels always sum squares, but the host
   * does not, and the results must be the same. */
  Moments
  Exported(Moments sums) const
  {
    sums.SumOfSquares = m_UsesSquares ? sums.SumOfSquares : 0;
    return sums;
  }

  void
  Synchronize() const
  {
    ITK_CUDA_CALL(cudaStreamSynchronize(m_Context.GetStream()));
  }

  template <typename T>
  void
  CopyToDevice(T * device, const T * host, size_t number)
  {
    // From pageable memory, the source may change as soon as the call returns.
    ITK_CUDA_CALL(cudaMemcpyAsync(device, host, number * sizeof(T), cudaMemcpyHostToDevice, m_Context.GetStream()));
  }
  template <typename T>
  void
  CopyToHost(T * host, const T * device, size_t number) const
  {
    ITK_CUDA_CALL(cudaMemcpyAsync(host, device, number * sizeof(T), cudaMemcpyDeviceToHost, m_Context.GetStream()));
    this->Synchronize();
  }

  /** Returns the number of blocks of a cooperative kernel, which must all be resident: at most one per multiprocessor.
   */
  template <typename TKernel>
  int
  GetNumberOfBlocks(TKernel * kernel) const
  {
    int resident = 0;
    ITK_CUDA_CALL(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, kernel, ThreadsPerBlock, 0));
    return std::min(m_NumberOfMultiprocessors * std::min(resident, 1), m_Options.MaximumNumberOfBlocks);
  }

  void
  PrepareState(const SnakeControl & control, const CudaSnakePolygon & start)
  {
    m_State = DeviceSnake();
    m_State.Plan = m_Plan;
    m_State.Law = m_Law;
    m_State.Total = m_Total;
    m_State.Begin(control, static_cast<int32_t>(start.size()));
    m_LoopSizes.PlaceArrays(static_cast<LoopLaunch *>(m_Scratch) + 1, m_State);
    ITK_CUDA_CALL(
      cudaMemsetAsync(m_State.ItemSums, 0, m_LoopSizes.GetNumberOfItems() * sizeof(Moments), m_Context.GetStream()));
    LatticePoint(&exchanged)[std::extent_v<decltype(SnakeExchange::Start)>] = this->GetExchange().Start;
    const bool fits = start.size() <= std::size(exchanged);
    if (fits)
    {
      std::copy(start.begin(), start.end(), exchanged);
    }
    this->CopyToDevice(m_State.Polygons[0], fits ? exchanged : start.data(), start.size());
  }

  void
  LaunchLoop(bool inPortions, const LaunchLimits & limits)
  {
    auto * const    kernel = inPortions ? SnakeKernel<TSample, VMask, true> : SnakeKernel<TSample, VMask, false>;
    auto * const    onDevice = static_cast<LoopLaunch *>(m_Scratch);
    SnakeExchange & exchange = this->GetExchange();
    exchange.Launch = { m_State, {} };
    this->CopyToDevice(onDevice, &exchange.Launch, 1);
    cudaLaunchAttribute cooperative{};
    cooperative.id = cudaLaunchAttributeCooperative;
    cooperative.val.cooperative = 1;
    cudaLaunchConfig_t configuration{};
    configuration.gridDim = dim3(static_cast<unsigned int>(this->GetNumberOfBlocks(kernel)));
    configuration.blockDim = dim3(ThreadsPerBlock);
    configuration.stream = m_Context.GetStream();
    configuration.attrs = &cooperative;
    configuration.numAttrs = 1;
    ITK_CUDA_CALL(
      LaunchWithParameters<PixelsType, DeviceCells, DeviceSnake *, GridBarrierState *, LoopResults *, LaunchLimits>(
        configuration, kernel, m_Pixels, m_Blocks, &onDevice->State, &onDevice->Barrier, &exchange.Results, limits));
  }

  /** Waits for the launch, and takes the state, the polygon and the new entries of the record from its results. A
   * polygon or entries that do not fit into the results are copied from device memory. */
  void
  TakeResults(SnakeOutcome & outcome)
  {
    this->Synchronize();
    const LoopResults & results = this->GetExchange().Results;
    m_State = results.State;
    outcome.Polygon.resize(static_cast<size_t>(m_State.NumberOfNodes));
    this->Take(outcome.Polygon.data(), outcome.Polygon.size(), results.Polygon, m_State.Polygons[m_State.Current]);
    const size_t known = m_State.KnownEntries;
    outcome.Record.resize(m_State.NumberOfEntries);
    this->Take(outcome.Record.data() + known, outcome.Record.size() - known, results.Record, m_State.Record + known);
  }

  template <typename T, size_t VRoom>
  void
  Take(T * to, size_t number, const T (&results)[VRoom], const T * device)
  {
    if (number <= VRoom)
    {
      std::copy_n(results, number, to);
    }
    else
    {
      this->CopyToHost(to, device, number);
    }
  }

  /** Returns the limits of a launch. It pauses only at events that are observed. Its time is limited only if the run
   * may be stopped or if the driver's watchdog would end the kernel. */
  LaunchLimits
  GetLimits(bool showsSteps, bool maybeStopped) const
  {
    constexpr uint64_t forever = std::numeric_limits<uint64_t>::max() / 2;
    const bool         ends = maybeStopped || HasKernelTimeout(m_Context.GetDevice());
    return { showsSteps,
             maybeStopped && m_ReportsLevels,
             m_Options.StepsPerPortion,
             ends ? m_Options.NanosecondsOfLaunch : forever };
  }

  /** Returns whether launches may have to pause or to end within a phase. */
  bool
  NeedsPortions(const LaunchLimits & limits, bool maybeStopped) const
  {
    return limits.PauseAtSteps || limits.PauseAtLevels || HasKernelTimeout(m_Context.GetDevice()) ||
           (maybeStopped && m_LoopSizes.Nodes > m_Options.NodesOfWholePhases);
  }

  /** Launches the kernel until the schedule ends or the run is stopped. */
  SnakeOutcome
  RunPhases(const StepFunction & step, const ProgressFunction & progress)
  {
    using Phase = SnakeControl::Phase;
    using Kind = CudaRegionSnakeStep::Kind;
    const auto         maybeStopped = static_cast<bool>(progress);
    const LaunchLimits limits = this->GetLimits(static_cast<bool>(step), maybeStopped);
    const bool         inPortions = this->NeedsPortions(limits, maybeStopped);
    SnakeOutcome       outcome;
    double             timeOfRemoval = m_State.Control.Next == Phase::Remove ? GetSeconds() : 0.0;
    while (m_State.Control.Next != Phase::Finished)
    {
      const size_t known = outcome.Record.size();
      m_State.Pause = false;
      m_State.KnownEntries = m_State.NumberOfEntries;
      this->LaunchLoop(inPortions, limits);
      this->TakeResults(outcome);
      if (timeOfRemoval == 0.0 && m_State.Control.Next == Phase::Remove)
      {
        timeOfRemoval = GetSeconds();
      }
      const bool news = outcome.Record.size() > known;
      if (step && news)
      {
        const Moments sums = this->Exported(m_State.Sums);
        step({ outcome.Record.back(), outcome.Polygon, sums.Sum, sums.SumOfSquares });
      }
      const bool levelBegins = news && outcome.Record.back().What == Kind::Level;
      const bool goesOn = m_State.Control.Next != Phase::Finished;
      if (progress && goesOn && !progress(levelBegins))
      {
        m_State.Control.Stop = CudaRegionSnakeStop::Aborted;
        break;
      }
    }
    outcome.Sums = this->Exported(m_State.Sums);
    outcome.Criterion = m_State.Criterion;
    outcome.NumberOfIterations = m_State.Control.Iterations;
    outcome.Stop = m_State.Control.Stop;
    outcome.SecondsOfRemoval = timeOfRemoval > 0.0 ? GetSeconds() - timeOfRemoval : 0.0;
    return outcome;
  }
};

} // namespace

size_t
GetWorkspaceBytes(const DeviceSnakeImage & image, const SnakeRun & run)
{
  const int      processors = GetDeviceProperties(image.GetSums().GetDevice()).MultiprocessorCount;
  const RunSizes sizes(image.GetSums(), CheckSnakeRun(image, run), run.Parameters, processors);
  return Workspace::GetPieceSize(sizes.Cells) + Workspace::GetPieceSize(sizes.Scratch);
}

CudaRegionSnakeResult
RunOnDevice(const DeviceSnakeImage &   image,
            const SnakeRun &           run,
            Workspace                  workspace,
            const Context &            context,
            const SnakeLaunchOptions & options)
{
  const PixelRectangle rectangle = CheckSnakeRun(image, run);
  const DeviceGuard    guard(context.GetDevice());
  return VisitSamples(image.GetSums(), [&](auto sample, auto masked) {
    using Backend = CudaSnakeBackend<decltype(sample), decltype(masked)::value>;
    const double          timeOfSums = GetSeconds();
    Backend               backend(image, rectangle, run, workspace, context, options);
    const double          timeOfRun = GetSeconds();
    CudaRegionSnakeResult result = RunSnake(image, run, backend);
    result.SecondsOfSums = timeOfRun - timeOfSums;
    return result;
  });
}

CudaRegionSnakeResult
RunOnDevice(const DeviceSnakeImage & image, const SnakeRun & run, const SnakeLaunchOptions & options)
{
  const int          device = image.GetSums().GetDevice();
  const DeviceGuard  guard(device);
  const StreamLease  stream(device);
  const DeviceBuffer memory(GetWorkspaceBytes(image, run), stream);
  return RunOnDevice(image, run, { memory.GetPointer(), memory.GetSize() }, stream, options);
}

size_t
GetSnakeDeviceBytes(size_t width, size_t height, size_t bytesPerSample, bool masked, uint32_t maximumNumberOfNodes)
{
  const size_t cells = (width / 2 + 1) * (height / 2 + 1);
  // Only small images have cells of 2 pixels a side. In the largest images, cells have 16 pixels a side.
  const bool   small = std::min(width, height) < MinimumCellsPerSide << MaximumLevelExponent;
  const size_t cellsOfLevel = small ? cells : cells / 64 + width + height;
  const size_t nodeBytes = 2 * sizeof(LatticePoint) + 4 * sizeof(int32_t) + sizeof(Proposal) + sizeof(RowChunk) +
                           sizeof(Moments) * (MaximumItemsPerNode + SnakeControl::NumberOfCaches * MaximumCandidates);
  return DeviceSums::GetNumberOfBytes(width, height, bytesPerSample, masked, cellsOfLevel) +
         maximumNumberOfNodes * nodeBytes;
}
} // namespace itk::cuda::snake
