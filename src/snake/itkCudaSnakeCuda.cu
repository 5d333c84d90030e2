// SPDX-License-Identifier: Apache-2.0
#include "itkCudaSnakeCuda.h"

#include "itkCudaCall.h"
#include "itkCudaDevice.h"
#include "itkCudaMemory.h"
#include "itkCudaRoundUp.h"
#include "itkCudaSnakeKernels.cuh"
#include "itkCudaSnakeLoop.cuh"
#include "itkCudaTransfer.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <type_traits>

namespace itk::cuda::snake
{
namespace
{
using namespace kernels;

constexpr int BlocksOfSmallKernels = 1024;

/** Rows on the device start at multiples of 16 samples, as checkpoints do. */
size_t
GetPitch(size_t width)
{
  return RoundUp(width, CheckpointSpacing);
}

template <typename T>
constexpr CudaComponentType
ComponentTypeOf()
{
  return sizeof(T) == 1 ? CudaComponentType::UChar
                        : (sizeof(T) == 2 ? CudaComponentType::UShort : CudaComponentType::UInt);
}

/** An array in device memory. */
template <typename T>
class DeviceArray
{
public:
  DeviceArray() = default;
  DeviceArray(size_t size, const StreamLease & stream)
    : m_Buffer(std::max<size_t>(size, 1) * sizeof(T), stream)
  {}
  T *
  Get() const
  {
    return static_cast<T *>(m_Buffer.GetPointer());
  }

private:
  DeviceBuffer m_Buffer;
};

double
SecondsNow()
{
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/** What the loop's kernel begins with. */
struct LoopLaunch
{
  DeviceSnake      State;
  GridBarrierState Barrier;
};
static_assert(std::is_trivially_copyable_v<LoopLaunch>);

/** What goes to and comes from the device, in page-locked memory: the driver copies other memory before it returns. */
struct SnakeExchange
{
  Moments      Total;
  LatticePoint Start[1024]; // unless it has more nodes
  LoopLaunch   Launch;
  LoopResults  Results;
};
static_assert(sizeof(SnakeExchange) <= PinnedBuffer::ChunkSize);

/** The device as the engine's backend. */
template <typename TSample, bool VMask>
class CudaSnakeBackend : public SnakeBackend
{
public:
  CudaSnakeBackend(const Samples &            samples,
                   const SnakePlan &          plan,
                   const LawDescription &     law,
                   int                        deviceIndex,
                   const SnakeLaunchOptions & options)
    : m_Plan(plan)
    , m_Law(law)
    , m_Guard(deviceIndex)
    , m_Stream(deviceIndex)
    , m_NumberOfMultiprocessors(GetDeviceProperties(deviceIndex).MultiprocessorCount)
    , m_Options(options)
  {
    this->PrepareSums(samples);
    this->UploadAndSum(samples);
  }

  Moments
  GetTotal() override
  {
    return this->Exported(m_Total);
  }

  Moments
  SumPolygon(const CudaSnakePolygon & polygon, uint32_t exponent) override
  {
    const DeviceArray<LatticePoint> points(polygon.size(), m_Stream);
    const DeviceArray<Moments>      sums(1, m_Stream);
    const int                       n = static_cast<int>(polygon.size());
    this->CopyToDevice(points.Get(), polygon.data(), polygon.size());
    ITK_CUDA_CALL(cudaMemsetAsync(sums.Get(), 0, sizeof(Moments), m_Stream.GetStream()));
    const dim3 grid(static_cast<unsigned int>(std::min(n, BlocksOfSmallKernels)));
    if (exponent == 0)
    {
      ITK_CUDA_CALL(LaunchKernel(SumPolygonKernel<PixelsType>,
                                 grid,
                                 dim3(ThreadsPerBlock),
                                 0,
                                 m_Stream.GetStream(),
                                 m_Pixels,
                                 static_cast<const LatticePoint *>(points.Get()),
                                 n,
                                 sums.Get()));
    }
    else
    {
      ITK_CUDA_CALL(LaunchKernel(SumPolygonKernel<DeviceCells>,
                                 grid,
                                 dim3(ThreadsPerBlock),
                                 0,
                                 m_Stream.GetStream(),
                                 m_Blocks,
                                 static_cast<const LatticePoint *>(points.Get()),
                                 n,
                                 sums.Get()));
    }
    Moments result;
    this->CopyToHost(&result, sums.Get(), 1);
    return this->Exported(result);
  }

  CudaSnakePolygon
  SearchRectangle() override
  {
    const bool          coarse = m_Plan.Exponent[0] > 0;
    const RectangleGrid grid =
      MakeRectangleGrid(coarse ? m_Blocks.Width : m_Pixels.Width, coarse ? m_Blocks.Height : m_Pixels.Height);
    const size_t       tableSize = static_cast<size_t>(grid.Columns + 1) * grid.Rows;
    const unsigned int blocks =
      static_cast<unsigned int>(std::min(grid.GetNumberOfRowPairs(), 4 * m_NumberOfMultiprocessors));
    const DeviceArray<Moments>        table(tableSize, m_Stream);
    const DeviceArray<FoundRectangle> found(blocks, m_Stream);
    const dim3 rows(static_cast<unsigned int>(grid.Rows), static_cast<unsigned int>(grid.Columns / WarpsPerBlock + 1));
    if (coarse)
    {
      ITK_CUDA_CALL(LaunchKernel(SumGridRowsKernel<DeviceCells>,
                                 rows,
                                 dim3(ThreadsPerBlock),
                                 0,
                                 m_Stream.GetStream(),
                                 m_Blocks,
                                 grid,
                                 table.Get()));
    }
    else
    {
      ITK_CUDA_CALL(LaunchKernel(SumGridRowsKernel<PixelsType>,
                                 rows,
                                 dim3(ThreadsPerBlock),
                                 0,
                                 m_Stream.GetStream(),
                                 m_Pixels,
                                 grid,
                                 table.Get()));
    }
    ITK_CUDA_CALL(LaunchKernel(SearchRectanglesKernel,
                               dim3(blocks),
                               dim3(ThreadsPerBlock),
                               0,
                               m_Stream.GetStream(),
                               grid,
                               static_cast<const Moments *>(table.Get()),
                               m_Law,
                               m_Total,
                               m_Plan.MinimumRegionSize,
                               found.Get()));
    std::vector<FoundRectangle> candidates(blocks);
    this->CopyToHost(candidates.data(), found.Get(), blocks);
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
    this->PrepareState(SnakeControl(m_Plan, m_Plan.NumberOfLevels - 1), start);
    m_State.BeginRemoval(this->SumPolygon(start, 0));
    return this->RunPhases({}, progress);
  }

private:
  using PixelsType = DevicePixels<TSample, VMask>;

  const SnakePlan          m_Plan;
  const LawDescription     m_Law;
  const DeviceGuard        m_Guard;
  const PinnedBuffer       m_Exchange{ PinnedBuffer::Take() }; // lives longer than what the stream does
  StreamLease              m_Stream;
  const int                m_NumberOfMultiprocessors;
  const SnakeLaunchOptions m_Options;

  DeviceArray<TSample>        m_Samples;
  DeviceArray<uint16_t>       m_ValidBits;
  DeviceArray<Checkpoint>     m_Checkpoints;
  DeviceArray<MaskCheckpoint> m_Mask;
  DeviceArray<Moments>        m_Prefixes;
  PixelsType                  m_Pixels{};
  DeviceCells                 m_Blocks{};
  Moments                     m_Total;

  DeviceSnake  m_State;
  DeviceBuffer m_Workspace; // what the loop works on: its launch, then the arrays of m_State

  SnakeExchange &
  GetExchange() const
  {
    return *static_cast<SnakeExchange *>(m_Exchange.GetPointer());
  }

  /** The kernels always sum squares; laws that need none are not to show them. */
  Moments
  Exported(Moments sums) const
  {
    sums.SumOfSquares = UsesSquares(m_Law.Law) ? sums.SumOfSquares : 0;
    return sums;
  }

  template <typename T>
  void
  CopyToDevice(T * device, const T * host, size_t number)
  {
    // From ordinary memory: the source may change as soon as the call returns.
    ITK_CUDA_CALL(cudaMemcpyAsync(device, host, number * sizeof(T), cudaMemcpyHostToDevice, m_Stream.GetStream()));
  }
  template <typename T>
  void
  CopyToHost(T * host, const T * device, size_t number)
  {
    ITK_CUDA_CALL(cudaMemcpyAsync(host, device, number * sizeof(T), cudaMemcpyDeviceToHost, m_Stream.GetStream()));
    m_Stream.Synchronize();
  }

  void
  PrepareSums(const Samples & samples)
  {
    const auto   width = static_cast<size_t>(samples.Width);
    const auto   height = static_cast<size_t>(samples.Height);
    const size_t pitch = GetPitch(width);
    m_Samples = DeviceArray<TSample>(pitch * height, m_Stream);
    m_Pixels.Width = samples.Width;
    m_Pixels.Height = samples.Height;
    m_Pixels.CheckpointsPerRow = samples.Width / CheckpointSpacing + 1;
    m_Pixels.RowStride = static_cast<ptrdiff_t>(pitch);
    m_Pixels.Samples = m_Samples.Get();
    m_Pixels.Flip = static_cast<TSample>(samples.Flip);
    const size_t checkpoints = static_cast<size_t>(m_Pixels.CheckpointsPerRow) * height;
    m_Checkpoints = DeviceArray<Checkpoint>(checkpoints, m_Stream);
    m_Pixels.Checkpoints = m_Checkpoints.Get();
    if (VMask)
    {
      m_ValidBits = DeviceArray<uint16_t>(samples.GetMaskWordsPerRow() * height, m_Stream);
      m_Mask = DeviceArray<MaskCheckpoint>(checkpoints, m_Stream);
      m_Pixels.Mask = m_Mask.Get();
    }
    const uint32_t exponent = m_Plan.Exponent[0];
    if (exponent > 0)
    {
      m_Blocks.Width = m_Pixels.Width >> exponent;
      m_Blocks.Height = m_Pixels.Height >> exponent;
      m_Prefixes = DeviceArray<Moments>(static_cast<size_t>(m_Blocks.Width + 1) * m_Blocks.Height, m_Stream);
      m_Blocks.Prefixes = m_Prefixes.Get();
    }
  }

  /** Uploads the samples. On a stream of their own, sums of rows that have arrived are made while others are on their
   * way. */
  void
  UploadAndSum(const Samples & samples)
  {
    const auto                 width = static_cast<size_t>(samples.Width);
    const auto                 height = static_cast<size_t>(samples.Height);
    const size_t               pitch = GetPitch(width);
    const DeviceArray<Moments> total(1, m_Stream);
    StagingChunks              staging(m_Stream);
    StreamLease                sums(m_Stream.GetDevice()); // its end waits for what uses the arrays
    ITK_CUDA_CALL(cudaMemsetAsync(total.Get(), 0, sizeof(Moments), m_Stream.GetStream()));
    if (pitch > width)
    {
      // Several samples are read at once, also at the end of the last row.
      TSample * const end = m_Samples.Get() + pitch * (height - 1) + width;
      ITK_CUDA_CALL(cudaMemsetAsync(end, 0, (pitch - width) * sizeof(TSample), m_Stream.GetStream()));
    }
    if (VMask)
    {
      const size_t words = samples.GetMaskWordsPerRow();
      this->UploadRowsOf(samples.ValidBits.get(), words, m_ValidBits.Get(), words, words, height, {}, staging);
    }
    constexpr size_t groups = 8;
    const RowGroups  rowGroups{
      RoundUp((height + groups - 1) / groups, size_t{ 1 } << MaximumLevelExponent),
      [&](size_t firstRow, size_t endRow) {
        const Event sent = this->RecordEvent();
        sent.MakeWait(sums);
        this->SumRows({ static_cast<int32_t>(firstRow), static_cast<int32_t>(endRow) }, total.Get(), sums);
      }
    };
    this->UploadRowsOf(static_cast<const TSample *>(samples.Data),
                       static_cast<size_t>(samples.RowStride),
                       m_Samples.Get(),
                       pitch,
                       width,
                       height,
                       rowGroups,
                       staging);
    Moments & exchanged = this->GetExchange().Total;
    ITK_CUDA_CALL(cudaMemcpyAsync(&exchanged, total.Get(), sizeof(Moments), cudaMemcpyDeviceToHost, sums.GetStream()));
    sums.Synchronize();
    m_Total = exchanged;
  }

  /** Strides in elements. */
  template <typename T>
  void
  UploadRowsOf(const T *         host,
               size_t            hostStride,
               T *               device,
               size_t            deviceStride,
               size_t            width,
               size_t            height,
               const RowGroups & groups,
               StagingChunks &   staging)
  {
    CudaImageView from;
    from.Data = const_cast<T *>(host); // views are of memory that may be written
    from.ComponentType = ComponentTypeOf<T>();
    from.Size = { { width, height, 1, 1 } };
    from.Stride = { { 1, hostStride, hostStride * height, hostStride * height } };
    DeviceView to;
    to.Data = device;
    to.ComponentType = from.ComponentType;
    to.Size = { { width, height, 1, 1, 1 } };
    to.Stride = { { 1, deviceStride, deviceStride * height, deviceStride * height, deviceStride * height } };
    UploadRows(from, to, staging, groups);
  }

  Event
  RecordEvent() const
  {
    Event event;
    event.Record(m_Stream);
    return event;
  }

  /** Checkpoints, cells and total of some rows of pixels, which begin and end where cells do. */
  void
  SumRows(const RowRange & rows, Moments * total, const StreamLease & stream)
  {
    constexpr int rowBlocks = 65535;
    ITK_CUDA_CALL(LaunchKernel(SumRowsKernel<TSample, VMask>,
                               dim3(static_cast<unsigned int>(std::min(rows.End - rows.First, rowBlocks))),
                               dim3(ThreadsPerBlock),
                               0,
                               stream.GetStream(),
                               m_Pixels,
                               rows,
                               m_Checkpoints.Get(),
                               m_Mask.Get(),
                               static_cast<const uint16_t *>(m_ValidBits.Get()),
                               total));
    const uint32_t exponent = m_Plan.Exponent[0];
    const RowRange cells{ rows.First >> exponent, rows.End >> exponent };
    if (exponent == 0 || cells.First == cells.End)
    {
      return;
    }
    constexpr int threads = 256;
    ITK_CUDA_CALL(LaunchKernel(SumCellsKernel<TSample, VMask>,
                               dim3(static_cast<unsigned int>(m_Blocks.Width / threads + 1),
                                    static_cast<unsigned int>(std::min(cells.End - cells.First, rowBlocks))),
                               dim3(threads),
                               0,
                               stream.GetStream(),
                               m_Pixels,
                               exponent,
                               m_Blocks,
                               cells,
                               m_Prefixes.Get()));
  }

  /** Blocks of a cooperative kernel, all resident: one per multiprocessor. */
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
    const auto   nodes = std::max<size_t>(m_Plan.MaximumNumberOfNodes, start.size());
    const size_t items = nodes * (Directions * m_Plan.Rings + 1);
    // One for each node, and as many more as there are units of work.
    const size_t chunks = nodes + static_cast<size_t>(m_NumberOfMultiprocessors) * WarpsPerBlock * UnitsPerWarp;
    // At most one insertion per iteration, one removal per node, and the levels.
    const size_t entries =
      2 * static_cast<size_t>(m_Plan.MaximumNumberOfIterations) + nodes + SnakePlan::MaximumLevels + 2;
    m_State = DeviceSnake();
    m_State.Plan = m_Plan;
    m_State.Law = m_Law;
    m_State.Total = m_Total;
    m_State.Begin(control, static_cast<int32_t>(start.size()));
    m_State.RecordCapacity = static_cast<uint32_t>(entries);
    m_State.NodeCapacity = static_cast<uint32_t>(nodes);
    // Twice: to learn the size, and with the memory.
    m_Workspace = DeviceBuffer(this->PlaceArrays(nullptr, items, chunks), m_Stream);
    this->PlaceArrays(static_cast<char *>(m_Workspace.GetPointer()), items, chunks);
    ITK_CUDA_CALL(cudaMemsetAsync(m_State.ItemSums, 0, items * sizeof(Moments), m_Stream.GetStream()));
    LatticePoint(&exchanged)[std::extent_v<decltype(SnakeExchange::Start)>] = this->GetExchange().Start;
    const bool fits = start.size() <= std::size(exchanged);
    if (fits)
    {
      std::copy(start.begin(), start.end(), exchanged);
    }
    this->CopyToDevice(m_State.Polygons[0], fits ? exchanged : start.data(), start.size());
  }

  /** Sets the arrays of m_State in memory that begins at `base`, behind the launch; returns its size. */
  size_t
  PlaceArrays(char * base, size_t items, size_t chunks)
  {
    size_t     size = sizeof(LoopLaunch);
    const auto place = [base, &size](auto *& array, size_t number) {
      constexpr size_t alignment = 128; // a line of the cache
      size = RoundUp(size, alignment);
      array = reinterpret_cast<std::remove_reference_t<decltype(array)>>(base + size);
      size += number * sizeof(*array);
    };
    const size_t nodes = m_State.NodeCapacity;
    place(m_State.Polygons[0], nodes);
    place(m_State.Polygons[1], nodes);
    place(m_State.Chunks, chunks);
    place(m_State.ItemSums, items);
    for (Moments *& changes : m_State.Changes)
    {
      place(changes, nodes * MaximumCandidates);
    }
    place(m_State.Rows, nodes);
    place(m_State.IsStale, nodes);
    place(m_State.Proposed, nodes);
    place(m_State.IsSuppressed, nodes);
    place(m_State.Slots, nodes);
    place(m_State.Record, m_State.RecordCapacity);
    return size;
  }

  /** Without limits: to the end of the schedule. */
  void
  LaunchLoop(const std::optional<LaunchLimits> & limits)
  {
    auto * const    kernel = limits ? SnakeKernel<TSample, VMask, true> : SnakeKernel<TSample, VMask, false>;
    auto * const    onDevice = static_cast<LoopLaunch *>(m_Workspace.GetPointer());
    SnakeExchange & exchange = this->GetExchange();
    exchange.Launch = { m_State, {} };
    this->CopyToDevice(onDevice, &exchange.Launch, 1);
    cudaLaunchAttribute cooperative{};
    cooperative.id = cudaLaunchAttributeCooperative;
    cooperative.val.cooperative = 1;
    cudaLaunchConfig_t configuration{};
    configuration.gridDim = dim3(static_cast<unsigned int>(this->GetNumberOfBlocks(kernel)));
    configuration.blockDim = dim3(ThreadsPerBlock);
    configuration.stream = m_Stream.GetStream();
    configuration.attrs = &cooperative;
    configuration.numAttrs = 1;
    ITK_CUDA_CALL(
      LaunchWithParameters<PixelsType, DeviceCells, DeviceSnake *, GridBarrierState *, LoopResults *, LaunchLimits>(
        configuration,
        kernel,
        m_Pixels,
        m_Blocks,
        &onDevice->State,
        &onDevice->Barrier,
        &exchange.Results,
        limits.value_or(LaunchLimits())));
  }

  /** State, polygon and new entries of the record. What there is no room for in the results comes from the device. */
  void
  TakeResults(SnakeOutcome & outcome)
  {
    m_Stream.Synchronize();
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

  /** None where nobody wants to see steps or may stop the run, and the driver ends no kernel. */
  std::optional<LaunchLimits>
  GetLimits(bool pauseAtSteps, bool pauseAtLevels) const
  {
    if (!pauseAtSteps && !pauseAtLevels && !HasKernelTimeout(m_Stream.GetDevice()))
    {
      return std::nullopt;
    }
    return LaunchLimits{ pauseAtSteps, pauseAtLevels, m_Options.StepsPerPortion, m_Options.NanosecondsOfLaunch };
  }

  /** Runs the kernel until the schedule ends; it returns at pauses only if somebody wants to see them, and when it has
   * had its time only if somebody may want to stop it or the driver would. */
  SnakeOutcome
  RunPhases(const StepFunction & step, const ProgressFunction & progress)
  {
    using Phase = SnakeControl::Phase;
    using Kind = CudaRegionSnakeStep::Kind;
    const std::optional<LaunchLimits> limits = this->GetLimits(static_cast<bool>(step), static_cast<bool>(progress));
    SnakeOutcome                      outcome;
    double                            timeOfRemoval = m_State.Control.Next == Phase::Remove ? SecondsNow() : 0.0;
    while (m_State.Control.Next != Phase::Finished)
    {
      const size_t known = outcome.Record.size();
      m_State.Pause = false;
      m_State.KnownEntries = m_State.NumberOfEntries;
      this->LaunchLoop(limits);
      this->TakeResults(outcome);
      if (timeOfRemoval == 0.0 && m_State.Control.Next == Phase::Remove)
      {
        timeOfRemoval = SecondsNow();
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
    outcome.SecondsOfRemoval = timeOfRemoval > 0.0 ? SecondsNow() - timeOfRemoval : 0.0;
    return outcome;
  }
};

template <typename TSample>
std::unique_ptr<SnakeBackend>
MakeBackendOf(const Samples &            samples,
              const SnakePlan &          plan,
              const LawDescription &     law,
              int                        deviceIndex,
              const SnakeLaunchOptions & options)
{
  if (samples.ValidBits)
  {
    return std::make_unique<CudaSnakeBackend<TSample, true>>(samples, plan, law, deviceIndex, options);
  }
  return std::make_unique<CudaSnakeBackend<TSample, false>>(samples, plan, law, deviceIndex, options);
}
} // namespace

std::unique_ptr<SnakeBackend>
MakeCudaSnakeBackend(const Samples &            samples,
                     const SnakePlan &          plan,
                     const LawDescription &     law,
                     int                        deviceIndex,
                     const SnakeLaunchOptions & options)
{
  switch (samples.Type)
  {
    case CudaComponentType::UChar:
      return MakeBackendOf<uint8_t>(samples, plan, law, deviceIndex, options);
    case CudaComponentType::UShort:
      return MakeBackendOf<uint16_t>(samples, plan, law, deviceIndex, options);
    default:
      return MakeBackendOf<uint32_t>(samples, plan, law, deviceIndex, options);
  }
}

size_t
GetSnakeDeviceBytes(size_t width, size_t height, size_t bytesPerSample, bool masked, uint32_t maximumNumberOfNodes)
{
  const size_t checkpoints = (width / CheckpointSpacing + 1) * height;
  const size_t maskBytes = masked ? sizeof(MaskCheckpoint) + sizeof(uint16_t) : 0;
  const size_t cells = (width / 2 + 1) * (height / 2 + 1);
  // Cells of 2 pixels a side belong to small images only; at the largest sides they are of 16.
  const bool   small = std::min(width, height) < MinimumCellsPerSide << MaximumLevelExponent;
  const size_t cellBytes = sizeof(Moments) * (small ? cells : cells / 64 + width + height);
  const size_t nodeBytes = 2 * sizeof(LatticePoint) + 4 * sizeof(int32_t) + sizeof(Proposal) + sizeof(RowChunk) +
                           sizeof(Moments) * (MaximumItemsPerNode + SnakeControl::NumberOfCaches * MaximumCandidates);
  return GetPitch(width) * height * bytesPerSample + checkpoints * (sizeof(Checkpoint) + maskBytes) + cellBytes +
         maximumNumberOfNodes * nodeBytes;
}
} // namespace itk::cuda::snake
