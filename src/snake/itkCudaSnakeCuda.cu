// SPDX-License-Identifier: Apache-2.0
#include "itkCudaSnakeCuda.h"

#include "itkCudaCall.h"
#include "itkCudaDevice.h"
#include "itkCudaMemory.h"
#include "itkCudaSnakeKernels.cuh"
#include "itkCudaSnakeLoop.cuh"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <exception>
#include <mutex>

namespace itk::cuda
{
namespace
{
using namespace kernels;

constexpr int BlocksOfSmallKernels = 1024;

/** Rows on the device start at multiples of 16 samples, as checkpoints do. */
size_t
GetPitch(size_t width)
{
  return (width + CheckpointSpacing - 1) / CheckpointSpacing * CheckpointSpacing;
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

/** Copies host rows to device rows of another pitch, with zeros after their ends. Several threads take turns: each
 * fills one of two page-locked chunks of its own while the copy engine reads the other, and none waits for another. */
class RowUpload
{
public:
  RowUpload(StreamLease & stream, const ParallelLoop & loop)
    : m_Stream(stream)
    , m_Loop(loop)
  {}

  void
  Run(const char * host, size_t hostPitch, char * device, size_t devicePitch, size_t rowBytes, size_t rows) const
  {
    const Rows image{ host, hostPitch, device, devicePitch, rowBytes, rows * devicePitch };
    // Small images go in more parts, so that the copy engine starts earlier; but each costs the driver some 10 us.
    const size_t        partSize = std::min(MaximumPartSize, std::max(MinimumPartSize, image.DeviceBytes / 32));
    const size_t        parts = (image.DeviceBytes + partSize - 1) / partSize;
    std::atomic<size_t> next{ 0 };
    std::exception_ptr  error;
    std::mutex          mutex;
    m_Loop(std::min(MaximumWorkers, parts), [&](size_t, size_t) {
      try
      {
        this->CopyParts(image, partSize, parts, next);
      }
      catch (...)
      {
        next = parts;
        const std::lock_guard<std::mutex> lock(mutex);
        error = error ? error : std::current_exception();
      }
    });
    if (error)
    {
      std::rethrow_exception(error);
    }
    m_Stream.Synchronize();
  }

private:
  static constexpr size_t NumberOfBuffers = 2;
  static constexpr size_t MaximumPartSize = PinnedBuffer::ChunkSize;
  static constexpr size_t MinimumPartSize = MaximumPartSize / 8;
  // More do not make it faster: the copies of so many fill the link, and they wait for each other in the driver.
  static constexpr size_t MaximumWorkers = 10;

  struct Rows
  {
    const char * Host;
    size_t       HostPitch;
    char *       Device;
    size_t       DevicePitch;
    size_t       RowBytes;
    size_t       DeviceBytes;

    /** What belongs to bytes begin to end of the device's rows. */
    void
    Fill(char * to, size_t begin, size_t end) const
    {
      while (begin < end)
      {
        const size_t column = begin % DevicePitch;
        const size_t bytes = std::min(end - begin, DevicePitch - column);
        const size_t taken = column < RowBytes ? std::min(bytes, RowBytes - column) : 0;
        std::memcpy(to, Host + begin / DevicePitch * HostPitch + column, taken);
        std::memset(to + taken, 0, bytes - taken);
        to += bytes;
        begin += bytes;
      }
    }
  };

  /** Page-locked memory of one thread. It goes back to its pool, so nothing may be on its way from it any more, also
   * after an exception. */
  struct Staging
  {
    explicit Staging(const StreamLease & stream)
      : Stream(stream)
      , Buffers{ PinnedBuffer::Take(), PinnedBuffer::Take() }
    {}
    ~Staging() { ITK_CUDA_CALL_NOTHROW(cudaStreamSynchronize(Stream.Get())); }
    Staging(const Staging &) = delete;
    Staging &
    operator=(const Staging &) = delete;

    const StreamLease & Stream;
    PinnedBuffer        Buffers[NumberOfBuffers];
    Event               Done[NumberOfBuffers];
  };

  StreamLease &        m_Stream;
  const ParallelLoop & m_Loop;

  /** Copies parts until all are taken. */
  void
  CopyParts(const Rows & image, size_t partSize, size_t parts, std::atomic<size_t> & next) const
  {
    size_t part = next++;
    if (part >= parts)
    {
      return;
    }
    const DeviceGuard guard(m_Stream.GetDevice());
    Staging           staging(m_Stream);
    for (size_t turn = 0; part < parts; part = next++, turn = (turn + 1) % NumberOfBuffers)
    {
      const size_t begin = part * partSize;
      const size_t end = std::min(begin + partSize, image.DeviceBytes);
      char * const pinned = static_cast<char *>(staging.Buffers[turn].GetPointer());
      staging.Done[turn].Synchronize();
      image.Fill(pinned, begin, end);
      ITK_CUDA_CALL(cudaMemcpyAsync(image.Device + begin, pinned, end - begin, cudaMemcpyHostToDevice, m_Stream.Get()));
      staging.Done[turn].Record(m_Stream);
    }
  }
};

double
SecondsNow()
{
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/** The device as the engine's backend. */
template <typename TSample, bool VMask>
class CudaSnakeBackend : public SnakeBackend
{
public:
  CudaSnakeBackend(const SnakeSamples &   samples,
                   const SnakePlan &      plan,
                   const LawDescription & law,
                   int                    deviceIndex,
                   const ParallelLoop &   loop)
    : m_Plan(plan)
    , m_Law(law)
    , m_Guard(deviceIndex)
    , m_Stream(deviceIndex)
  {
    this->UploadSamples(samples, RowUpload(m_Stream, loop));
    this->ComputeSums(samples);
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
    ITK_CUDA_CALL(cudaMemsetAsync(sums.Get(), 0, sizeof(Moments), m_Stream.Get()));
    const dim3 grid(static_cast<unsigned int>(std::min(n, BlocksOfSmallKernels)));
    if (exponent == 0)
    {
      ITK_CUDA_CALL(LaunchKernel(SumPolygonKernel<PixelsType>,
                                 grid,
                                 dim3(ThreadsPerBlock),
                                 0,
                                 m_Stream.Get(),
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
                                 m_Stream.Get(),
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
      ITK_CUDA_CALL(LaunchKernel(
        SumGridRowsKernel<DeviceCells>, rows, dim3(ThreadsPerBlock), 0, m_Stream.Get(), m_Blocks, grid, table.Get()));
    }
    else
    {
      ITK_CUDA_CALL(LaunchKernel(
        SumGridRowsKernel<PixelsType>, rows, dim3(ThreadsPerBlock), 0, m_Stream.Get(), m_Pixels, grid, table.Get()));
    }
    ITK_CUDA_CALL(LaunchKernel(SearchRectanglesKernel,
                               dim3(blocks),
                               dim3(ThreadsPerBlock),
                               0,
                               m_Stream.Get(),
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
      const bool better =
        candidate.Number >= 0 && (best.Number < 0 || candidate.Criterion < best.Criterion ||
                                  (candidate.Criterion == best.Criterion && candidate.Number < best.Number));
      best = better ? candidate : best;
    }
    return best.Number < 0 ? CudaSnakePolygon{} : grid.MakePolygon(best.Number);
  }

  SnakeOutcome
  Run(const CudaSnakePolygon & start, int firstLevel, const StepFunction & step, const LevelFunction & level) override
  {
    this->PrepareState(SnakeControl(m_Plan, firstLevel), start);
    return this->RunPhases(step, level);
  }

  SnakeOutcome
  RunRemoval(const CudaSnakePolygon & start) override
  {
    SnakeControl control(m_Plan, m_Plan.NumberOfLevels - 1);
    control.BeginRemoval();
    this->PrepareState(control, start);
    m_State.Sums = this->SumPolygon(start, 0);
    m_State.Criterion = Criterion(m_Law, m_State.Sums, m_Total);
    m_State.Gain = Linearize(m_Law, m_State.Sums, m_Total);
    return this->RunPhases({}, {});
  }

private:
  using PixelsType = DevicePixels<TSample, VMask>;

  const SnakePlan      m_Plan;
  const LawDescription m_Law;
  const DeviceGuard    m_Guard;
  StreamLease          m_Stream;
  int                  m_NumberOfMultiprocessors{ 1 };

  DeviceArray<TSample>        m_Samples;
  DeviceArray<uint16_t>       m_ValidBits;
  DeviceArray<Checkpoint>     m_Checkpoints;
  DeviceArray<MaskCheckpoint> m_Mask;
  DeviceArray<Moments>        m_Prefixes;
  PixelsType                  m_Pixels{};
  DeviceCells                 m_Blocks{};
  Moments                     m_Total;

  DeviceSnake                      m_State;
  DeviceArray<DeviceSnake>         m_DeviceState;
  DeviceArray<LatticePoint>        m_Polygons[2];
  DeviceArray<GridSignals>         m_Signals;
  DeviceArray<RowChunk>            m_Chunks;
  DeviceArray<Moments>             m_ItemSums;
  DeviceArray<Moments>             m_Changes;
  DeviceArray<int32_t>             m_Integers; // four arrays, one number per node in each
  DeviceArray<Proposal>            m_Slots;
  DeviceArray<CudaRegionSnakeStep> m_Record;

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
    // From pageable memory: the source may change as soon as the call returns.
    ITK_CUDA_CALL(cudaMemcpyAsync(device, host, number * sizeof(T), cudaMemcpyHostToDevice, m_Stream.Get()));
  }
  template <typename T>
  void
  CopyToHost(T * host, const T * device, size_t number)
  {
    ITK_CUDA_CALL(cudaMemcpyAsync(host, device, number * sizeof(T), cudaMemcpyDeviceToHost, m_Stream.Get()));
    m_Stream.Synchronize();
  }

  void
  UploadSamples(const SnakeSamples & samples, const RowUpload & upload)
  {
    const auto   width = static_cast<size_t>(samples.Width);
    const auto   height = static_cast<size_t>(samples.Height);
    const size_t pitch = GetPitch(width);
    m_NumberOfMultiprocessors = GetDeviceProperties(m_Stream.GetDevice()).MultiprocessorCount;
    m_Samples = DeviceArray<TSample>(pitch * height, m_Stream);
    upload.Run(static_cast<const char *>(samples.Data),
               static_cast<size_t>(samples.RowStride) * sizeof(TSample),
               reinterpret_cast<char *>(m_Samples.Get()),
               pitch * sizeof(TSample),
               width * sizeof(TSample),
               height);
    if (VMask)
    {
      const size_t rowBytes = samples.GetMaskWordsPerRow() * sizeof(uint16_t);
      m_ValidBits = DeviceArray<uint16_t>(samples.GetMaskWordsPerRow() * height, m_Stream);
      upload.Run(reinterpret_cast<const char *>(samples.ValidBits.get()),
                 rowBytes,
                 reinterpret_cast<char *>(m_ValidBits.Get()),
                 rowBytes,
                 rowBytes,
                 height);
    }
  }

  void
  ComputeSums(const SnakeSamples & samples)
  {
    m_Pixels.Width = samples.Width;
    m_Pixels.Height = samples.Height;
    m_Pixels.CheckpointsPerRow = samples.Width / CheckpointSpacing + 1;
    m_Pixels.RowStride = static_cast<ptrdiff_t>(GetPitch(static_cast<size_t>(samples.Width)));
    m_Pixels.Samples = m_Samples.Get();
    m_Pixels.Flip = static_cast<TSample>(samples.Flip);
    const size_t checkpoints = static_cast<size_t>(m_Pixels.CheckpointsPerRow) * samples.Height;
    m_Checkpoints = DeviceArray<Checkpoint>(checkpoints, m_Stream);
    m_Pixels.Checkpoints = m_Checkpoints.Get();
    if (VMask)
    {
      m_Mask = DeviceArray<MaskCheckpoint>(checkpoints, m_Stream);
      m_Pixels.Mask = m_Mask.Get();
    }
    constexpr int rowBlocks = 65535;
    ITK_CUDA_CALL(LaunchKernel(SumRowsKernel<TSample, VMask>,
                               dim3(static_cast<unsigned int>(std::min(samples.Height, rowBlocks))),
                               dim3(ThreadsPerBlock),
                               0,
                               m_Stream.Get(),
                               m_Pixels,
                               m_Checkpoints.Get(),
                               m_Mask.Get(),
                               static_cast<const uint16_t *>(m_ValidBits.Get())));
    this->ComputeCells();
    this->ComputeTotal();
  }

  void
  ComputeCells()
  {
    const uint32_t exponent = m_Plan.Exponent[0];
    if (exponent == 0)
    {
      return;
    }
    m_Blocks.Width = m_Pixels.Width >> exponent;
    m_Blocks.Height = m_Pixels.Height >> exponent;
    m_Prefixes = DeviceArray<Moments>(static_cast<size_t>(m_Blocks.Width + 1) * m_Blocks.Height, m_Stream);
    m_Blocks.Prefixes = m_Prefixes.Get();
    constexpr int threads = 256;
    constexpr int rowBlocks = 65535;
    ITK_CUDA_CALL(LaunchKernel(SumCellsKernel<TSample, VMask>,
                               dim3(static_cast<unsigned int>(m_Blocks.Width / threads + 1),
                                    static_cast<unsigned int>(std::min(m_Blocks.Height, rowBlocks))),
                               dim3(threads),
                               0,
                               m_Stream.Get(),
                               m_Pixels,
                               exponent,
                               m_Blocks,
                               m_Prefixes.Get()));
  }

  void
  ComputeTotal()
  {
    const DeviceArray<Moments> total(1, m_Stream);
    ITK_CUDA_CALL(cudaMemsetAsync(total.Get(), 0, sizeof(Moments), m_Stream.Get()));
    constexpr int threads = 256;
    ITK_CUDA_CALL(LaunchKernel(SumTotalKernel<TSample, VMask>,
                               dim3(static_cast<unsigned int>(m_Pixels.Height / threads + 1)),
                               dim3(threads),
                               0,
                               m_Stream.Get(),
                               m_Pixels,
                               total.Get()));
    this->CopyToHost(&m_Total, total.Get(), 1);
  }

  /** Blocks of the cooperative kernel, all resident: one per multiprocessor. */
  int
  GetNumberOfBlocks() const
  {
    int resident = 0;
    ITK_CUDA_CALL(
      cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, SnakeKernel<TSample, VMask>, ThreadsPerBlock, 0));
    return m_NumberOfMultiprocessors * std::min(resident, 1);
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
    m_Polygons[0] = DeviceArray<LatticePoint>(nodes, m_Stream);
    m_Polygons[1] = DeviceArray<LatticePoint>(nodes, m_Stream);
    m_Signals = DeviceArray<GridSignals>(1, m_Stream);
    m_Chunks = DeviceArray<RowChunk>(chunks, m_Stream);
    m_ItemSums = DeviceArray<Moments>(items, m_Stream);
    m_Changes = DeviceArray<Moments>(SnakeControl::NumberOfCaches * nodes * MaximumCandidates, m_Stream);
    m_Integers = DeviceArray<int32_t>(4 * nodes, m_Stream);
    m_Slots = DeviceArray<Proposal>(nodes, m_Stream);
    m_Record = DeviceArray<CudaRegionSnakeStep>(entries, m_Stream);
    m_DeviceState = DeviceArray<DeviceSnake>(1, m_Stream);

    m_State = DeviceSnake();
    m_State.Plan = m_Plan;
    m_State.Law = m_Law;
    m_State.Total = m_Total;
    m_State.Control = control;
    m_State.NumberOfNodes = static_cast<int32_t>(start.size());
    m_State.Polygons[0] = m_Polygons[0].Get();
    m_State.Polygons[1] = m_Polygons[1].Get();
    m_State.Chunks = m_Chunks.Get();
    m_State.ItemSums = m_ItemSums.Get();
    m_State.Changes = m_Changes.Get();
    m_State.Rows = m_Integers.Get();
    m_State.IsStale = m_Integers.Get() + nodes;
    m_State.Proposed = m_Integers.Get() + 2 * nodes;
    m_State.IsBeaten = m_Integers.Get() + 3 * nodes;
    m_State.Slots = m_Slots.Get();
    m_State.Record = m_Record.Get();
    m_State.RecordCapacity = static_cast<uint32_t>(entries);
    m_State.NodeCapacity = static_cast<uint32_t>(nodes);
    ITK_CUDA_CALL(cudaMemsetAsync(m_ItemSums.Get(), 0, items * sizeof(Moments), m_Stream.Get()));
    this->CopyToDevice(m_Polygons[0].Get(), start.data(), start.size());
  }

  void
  LaunchLoop(bool pauseAtSteps, bool pauseAtLevels)
  {
    cudaLaunchAttribute cooperative{};
    cooperative.id = cudaLaunchAttributeCooperative;
    cooperative.val.cooperative = 1;
    cudaLaunchConfig_t configuration{};
    configuration.gridDim = dim3(static_cast<unsigned int>(this->GetNumberOfBlocks()));
    configuration.blockDim = dim3(ThreadsPerBlock);
    configuration.stream = m_Stream.Get();
    configuration.attrs = &cooperative;
    configuration.numAttrs = 1;
    ITK_CUDA_CALL(cudaMemsetAsync(m_Signals.Get(), 0, sizeof(GridSignals), m_Stream.Get()));
    ITK_CUDA_CALL(LaunchWithParameters<PixelsType, DeviceCells, DeviceSnake *, GridSignals *, bool, bool>(
      configuration,
      SnakeKernel<TSample, VMask>,
      m_Pixels,
      m_Blocks,
      m_DeviceState.Get(),
      m_Signals.Get(),
      pauseAtSteps,
      pauseAtLevels));
  }

  /** Runs the kernel until the schedule ends; it returns at pauses only if somebody wants to see them. */
  SnakeOutcome
  RunPhases(const StepFunction & step, const LevelFunction & level)
  {
    using Phase = SnakeControl::Phase;
    using Kind = CudaRegionSnakeStep::Kind;
    SnakeOutcome outcome;
    double       timeOfRemoval = m_State.Control.Next == Phase::Remove ? SecondsNow() : 0.0;
    while (m_State.Control.Next != Phase::Finished)
    {
      const uint32_t known = m_State.NumberOfEntries;
      m_State.Pause = false;
      this->CopyToDevice(m_DeviceState.Get(), &m_State, 1);
      this->LaunchLoop(static_cast<bool>(step), static_cast<bool>(level));
      this->CopyToHost(&m_State, m_DeviceState.Get(), 1);
      outcome.Record.resize(m_State.NumberOfEntries);
      if (m_State.NumberOfEntries > known)
      {
        this->CopyToHost(outcome.Record.data() + known, m_Record.Get() + known, m_State.NumberOfEntries - known);
      }
      if (timeOfRemoval == 0.0 && m_State.Control.Next == Phase::Remove)
      {
        timeOfRemoval = SecondsNow();
      }
      const bool news = m_State.NumberOfEntries > known;
      if (step && news)
      {
        this->CopyPolygon(outcome.Polygon);
        const Moments sums = this->Exported(m_State.Sums);
        step({ outcome.Record.back(), outcome.Polygon, sums.Sum, sums.SumOfSquares });
      }
      if (level && news && outcome.Record.back().What == Kind::Level && !level())
      {
        m_State.Control.Stop = CudaRegionSnakeStop::Aborted;
        break;
      }
    }
    this->CopyPolygon(outcome.Polygon);
    outcome.Sums = this->Exported(m_State.Sums);
    outcome.Criterion = m_State.Criterion;
    outcome.NumberOfIterations = m_State.Control.Iterations;
    outcome.Stop = m_State.Control.Stop;
    outcome.SecondsOfRemoval = timeOfRemoval > 0.0 ? SecondsNow() - timeOfRemoval : 0.0;
    return outcome;
  }

  void
  CopyPolygon(CudaSnakePolygon & polygon)
  {
    polygon.resize(static_cast<size_t>(m_State.NumberOfNodes));
    this->CopyToHost(polygon.data(), m_Polygons[m_State.Current].Get(), polygon.size());
  }
};

template <typename TSample>
std::unique_ptr<SnakeBackend>
MakeBackendOf(const SnakeSamples &   samples,
              const SnakePlan &      plan,
              const LawDescription & law,
              int                    deviceIndex,
              const ParallelLoop &   loop)
{
  if (samples.ValidBits)
  {
    return std::make_unique<CudaSnakeBackend<TSample, true>>(samples, plan, law, deviceIndex, loop);
  }
  return std::make_unique<CudaSnakeBackend<TSample, false>>(samples, plan, law, deviceIndex, loop);
}
} // namespace

std::unique_ptr<SnakeBackend>
MakeCudaSnakeBackend(const SnakeSamples &   samples,
                     const SnakePlan &      plan,
                     const LawDescription & law,
                     int                    deviceIndex,
                     const ParallelLoop &   loop)
{
  switch (samples.Type)
  {
    case CudaComponentType::UChar:
      return MakeBackendOf<uint8_t>(samples, plan, law, deviceIndex, loop);
    case CudaComponentType::UShort:
      return MakeBackendOf<uint16_t>(samples, plan, law, deviceIndex, loop);
    default:
      return MakeBackendOf<uint32_t>(samples, plan, law, deviceIndex, loop);
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
} // namespace itk::cuda
