// SPDX-License-Identifier: Apache-2.0
#include "runtime/device/Call.h"
#include "runtime/image/Components.h"
#include "runtime/image/Convert.h"
#include "runtime/device/Device.h"
#include "runtime/device/DeviceQuery.h"
#include "runtime/device/Stream.h"
#include "itkCudaError.h"
#include "itkCudaFiltersConfiguration.h"
#include "runtime/memory/FormatBytes.h"
#include "gaussian/masked/MaskedDevice.h"
#include "gaussian/slabs/GaussianSlabRun.h"
#include "gaussian/slabs/SplitPlan.h"
#include "runtime/run/HostToHost.h"
#include "gaussian/slabs/SlabsDevice.h"
#include "gaussian/plan/Tuning.h"
#include "runtime/image/LineGroups.h"
#include "runtime/memory/DeviceMemory.h"
#include "runtime/memory/MemoryQuery.h"
#include "runtime/run/ResidentSlabs.h"
#include "runtime/run/SlabPipeline.h"
#include "runtime/transfer/Transfer.h"

#include <algorithm>
#include <limits>
#include <map>
#include <memory>
#include <new>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

// Runs a plan in slabs on a device, for images that do not fit into its memory and for large images that do
// (TryOverlappedSlabs()), and for images that lie in parts on several devices. DeviceSlabRun decides how large slabs
// are and what memory they need, and filters the planes that SlabPipeline uploads or ResidentSlabs has: first the pass
// along the last axis, across slabs (FilterAcross()), then the passes within planes (FilterWithin()). A slab is a group
// of planes that are uploaded together.
//
// Each queue has memory of its own, also where several queues are of one device. The queue that holds a slab computes
// its end states. Another queue that filters a neighbouring slab fetches, in the order of its own work, the states that
// it needs (FetchStates()). If lines need the states of all chunks, the first queue collects them (SendEndStates()),
// scans them, and gives each queue those of its slabs.

namespace itk::cuda::gaussian
{
namespace
{
/** The memory of a run. If slots hold pixels in the host's type (SlabQueueSizes::HoldsHostPixels), a pass across slabs
 * converts and filters one group of rows at a time, and repeats this for each part of a result. */
struct SlabMemory
{
  SlabQueueSizes Queue;
  size_t         RowsPerGroup{ 1 };   // rows of a plane whose lines across slabs are filtered together
  size_t         PlanesPerBatch{ 1 }; // planes that the passes within planes process at a time
  size_t         BytesOfFirstQueue{ 0 };
  size_t         BytesOfOtherQueue{ 0 };
  size_t         BytesOfTransfers{ 0 }; // temporary memory of the first queue's transfers beside the queue's memory
};

/** The largest pitch of cudaMemcpy2DAsync() (cudaDevAttrMaxPitch). */
constexpr size_t MaximumPitch = std::numeric_limits<int>::max();

/** A range of rows, in all planes of a slab. A pass across slabs filters the lines through these rows together. */
struct RowGroup
{
  size_t Index;
  size_t FirstRow;
  size_t Rows;
};

class DeviceSlabRun
  : public GaussianSlabRun
  , private SlabAlgorithm
{
public:
  explicit DeviceSlabRun(const SlabRunArguments & arguments)
    : GaussianSlabRun(arguments, CudaSlabStates::Device)
    , m_SplitPlan(MakeSplitPlan(m_Plan, m_Geometry.Shape, !arguments.Parts.empty()))
    , m_Devices(arguments.Options.Devices)
    , m_Scan(arguments.Scan)
    , m_Parts(arguments.Parts)
  {
    if (m_Devices.empty())
    {
      m_Devices.push_back(CudaFiltersConfiguration::GetDeviceIndex());
    }
    this->VerifyDevices();
    this->Fit(arguments.Options.DeviceMemoryLimit, arguments.Options.ChunksPerSlab);
    this->MakeSchedules();
  }

  /** Releases memory after the work of all streams, and with a device of the run as the current one. */
  ~DeviceSlabRun() override
  {
    if (m_Transport)
    {
      const DeviceGuard guard(m_Devices.front(), std::nothrow);
      m_Transport->Cancel();
      m_EndStatesReady.clear();
      m_Computed.clear();
      m_FirstPlaneKept.reset();
      m_StartsReady.reset();
      m_Queues.clear();
      m_Transport.reset();
    }
  }

  SlabPlanes
  Next() override
  {
    try
    {
      const SlabPlanes planes = GaussianSlabRun::Next();
      if (planes.Number == 0)
      {
        m_Transport->Drain();
      }
      return planes;
    }
    catch (const CudaError & error)
    {
      RethrowDeviceError(error, m_WritesInput);
    }
  }

  CudaSlabReport
  GetReport() const override
  {
    CudaSlabReport report = GaussianSlabRun::GetReport();
    report.Devices = m_Devices;
    report.BytesUp = m_Transport->GetBytesUp() + m_ExtraBytesUp;
    report.BytesDown = m_Transport->GetBytesDown();
    report.BytesBetween = m_BytesBetween;
    report.PeakDeviceBytes = m_PeakBytes;
    return report;
  }

  /** Returns whether the run is expected to take less time than upload, passes and download one after the other. */
  bool
  IsWorthOverlapping() const
  {
    const size_t slabs = m_FilterCut.Slabs.size();
    const size_t turns = DivideUp(slabs, m_UniqueDevices.size()) + m_FilterCut.SlabsAhead + 1;
    return !m_Geometry.Shape.NeedsAllChunks && !m_Memory.Queue.HoldsHostPixels &&
           static_cast<double>(turns) <= MaximumOverlapTimeRatio * static_cast<double>(slabs);
  }

  void
  OnUploaded(size_t slab, size_t queue, const DeviceView & planes) override
  {
    const Context &    context = m_Transport->GetContext(queue);
    const ChunkRange & chunks = this->GetCut().Chunks[slab];
    if (chunks.Begin == 0 && !m_Queues[queue].HasFirstPlane)
    {
      this->CopyFirstPlane(planes, context);
    }
    this->FetchFirstPlane(queue);
    if (m_Scan)
    {
      m_Scan->Queue(planes, context);
    }
    if (!this->NeedsEndStates())
    {
      return; // the states are known already
    }
    this->WaitForReaders(slab, context);
    for (const RowGroup & group : m_Groups)
    {
      const DeviceView lines = this->LoadLines(group, queue, planes);
      for (size_t component = 0; component < this->GetNumberOfComponents(); ++component)
      {
        this->ComputeEndStates(slab, group, component, queue, GetComponent(lines, component));
      }
    }
    if (this->IsSweep() && queue > 0)
    {
      this->SendEndStates(slab, queue);
    }
    m_EndStatesReady[slab].Record(context);
  }

  void
  Compute(size_t slab, size_t queue, const DeviceView & planes, size_t first, const DeviceView & result) override
  {
    const Context &    context = m_Transport->GetContext(queue);
    const ChunkRange & chunks = m_FilterCut.Chunks[slab];
    if (m_Devices.size() > 1 && first == 0)
    {
      this->FetchStates(slab, queue);
    }
    if (m_Memory.Queue.HoldsHostPixels)
    {
      this->FilterPart(chunks, queue, planes, first, result);
    }
    else
    {
      for (size_t component = 0; component < this->GetNumberOfComponents(); ++component)
      {
        const DeviceView source = GetComponent(planes, component);
        this->FilterAcross(chunks, m_Groups.front(), component, queue, source, source, 0, result);
        this->FilterWithin(component, queue, source, result);
      }
    }
    m_Computed[slab].Record(context);
  }

private:
  struct QueueMemory
  {
    DeviceBuffer            Memory;
    std::vector<DeviceView> Images;        // all of the following that hold images of the computed type
    std::vector<void *>     Buffers;       // of results of passes across slabs
    std::vector<void *>     Intermediates; // of the passes within planes, for one batch
    void *                  Starts{ nullptr };
    void *                  Workspace{ nullptr };
    void *                  FirstPlane{ nullptr };
    bool                    HasFirstPlane{ false };

    // Indexed by component, pass and group:
    std::vector<void *> EndStates; // buffers for those of one slab each, which slabs reuse in turn
    std::vector<void *> Edges;
    std::vector<void *> Neighbors; // those of chunks of other queues on either side of a slab, the nearest first

    // Only if slots hold pixels in the host's type:
    void *              Source{ nullptr };     // planes of a part in the computed type
    void *              Output{ nullptr };     // planes of a part's result in the computed type
    void *              HostPixels{ nullptr }; // rows of a group in the host's type
    void *              Lines{ nullptr };      // rows of a group in the computed type
    std::vector<void *> LineResults;           // results of a pass across slabs for a group
  };

  void
  StartSlabs(const CudaProgressFunction & progress) override
  {
    m_WritesInput = !this->IsSweep() && m_Endpoints.Input.Data && m_Endpoints.Input.Data == m_Endpoints.Output.Data;
    m_Transport->Start(this->GetCut().Slabs, *this, progress);
  }

  SlabPlanes
  NextOfSlabs() override
  {
    return m_Transport->Next();
  }

  /** Verifies that all devices are usable and compute the same bits.
   * \exception CudaError if one is not usable \exception ExceptionObject if they are of different kinds */
  void
  VerifyDevices()
  {
    for (const int device : m_Devices)
    {
      std::string reason;
      if (!IsDeviceUsableNow(device, reason))
      {
        throw CudaError(__FILE__, __LINE__, CudaError::Kind::NotUsable, "Devices: " + reason);
      }
      const DeviceProperties & properties = GetDeviceProperties(device);
      const DeviceProperties & first = GetDeviceProperties(m_Devices.front());
      if (properties.ComputeCapability != first.ComputeCapability ||
          properties.SharedMemoryPerBlockOptin != first.SharedMemoryPerBlockOptin)
      {
        itkGenericExceptionMacro(<< "Devices of the slabs' options are " << m_Devices.front() << " (" << first.Name
                                 << ") and " << device << " (" << properties.Name
                                 << "); they must be of one compute capability, because others compute different bits");
      }
      m_UniqueDevices.insert(device);
    }
  }

  /** Returns a batch of planes of one component as a separate image. */
  DeviceView
  GetBatch(const DeviceView & component, size_t first, size_t planes) const
  {
    return PackFrom(Slice(component, m_Axis, first, planes), std::max(m_Axis + 1, 2u));
  }

  /** Returns a view of one component of `planes` planes at `data`. */
  DeviceView
  MakePlanesView(size_t planes, void * data) const
  {
    return MakeSlabView(GetComponent(m_Endpoints.Input, 0), m_Axis, planes, m_Type, data);
  }

  /** Returns the number of rows of a plane, over all axes between the first one and the slabs' axis. */
  size_t
  GetRowsOfPlane() const
  {
    size_t rows = 1;
    for (unsigned int d = 1; d < m_Axis; ++d)
    {
      rows *= m_Endpoints.Input.Size[d];
    }
    return std::max<size_t>(1, rows);
  }

  /** Returns a view of `rows` rows of `planes` planes as a separate image. */
  DeviceView
  MakeLinesView(size_t rows, size_t planes, size_t components, void * data) const
  {
    CudaImageView shape = m_Endpoints.Input;
    shape.NumberOfComponents = components;
    std::fill(shape.Size.begin() + 1, shape.Size.end(), 1);
    shape.Size[1] = rows;
    return MakeSlabView(shape, m_Axis, planes, m_Type, data);
  }

  size_t
  GetBytesOfRow() const
  {
    return m_Geometry.BytesOfInputPlane / this->GetRowsOfPlane();
  }

  size_t
  GetPlanesOfSlab() const
  {
    return std::min(m_Geometry.ChunksPerSlab * m_Geometry.Shape.ChunkLength, m_Geometry.Shape.NumberOfPlanes);
  }

  size_t
  ChooseChunksPerSlab() const
  {
    const size_t bytes = std::max<size_t>(
      1, m_Geometry.Shape.ChunkLength * std::max(m_Geometry.BytesOfInputPlane, m_Geometry.BytesOfOutputPlane));
    const size_t chunks = m_Geometry.EndChunk - m_Geometry.FirstChunk;
    return std::clamp<size_t>(
      DivideUp(BytesOfSlab, bytes), 1, std::max<size_t>(1, chunks / (MinimumSlabs * m_UniqueDevices.size())));
  }

  /** Returns the number of result buffers on the device that keeps the link busy: one is computed while others are
   * downloaded. */
  size_t
  GetNumberOfResultBuffers() const
  {
    const size_t bytes = std::max<size_t>(1, this->GetPlanesOfSlab() * m_Geometry.BytesOfOutputPlane);
    return std::clamp<size_t>(DivideUp(BytesOfResults, bytes), 2, MaximumResultBuffers);
  }

  /** Chooses the schedules of the passes across slabs, as for the whole image. */
  void
  MakeSchedules()
  {
    // All images of the run are aligned like this one.
    const DeviceView slab = this->MakePlanesView(this->GetPlanesOfSlab(), nullptr);
    LineCut          cut;
    cut.WholeLength = m_Geometry.Shape.NumberOfPlanes;
    for (const CudaGaussianLinePass & pass : m_SplitPlan.Across)
    {
      m_Schedules.push_back(GetLineSchedule(pass, { slab, slab, slab, slab }, m_Devices.front(), cut));
    }
  }

  // Memory plans.

  /** Plans memory for slots and results of the computed type, or of the host's types, whose results can be computed in
   * parts. A pass then reads a slab once for each part. */
  SlabMemory
  PlanMemory(bool holdsHostPixels, size_t slotsToSpare, size_t results, size_t parts, size_t batchBytes) const
  {
    SlabMemory memory;
    memory.Queue.HoldsHostPixels = holdsHostPixels;
    memory.Queue.NumberOfResults = results;
    memory.Queue.NumberOfResultPlanes = DivideUp(this->GetPlanesOfSlab(), parts);
    memory.RowsPerGroup = this->GetRowsOfPlane();
    if (holdsHostPixels)
    {
      const size_t row =
        GetNumberOfBytes(this->MakeLinesView(1, this->GetPlanesOfSlab(), this->GetNumberOfComponents(), nullptr));
      memory.RowsPerGroup = std::clamp<size_t>(std::min(batchBytes, BytesOfRowGroup) / std::max<size_t>(1, row),
                                               1,
                                               DivideUp(memory.RowsPerGroup, MinimumRowGroups));
    }
    const size_t queues = m_Devices.size();
    memory.Queue.Type = m_Type;
    memory.Queue.NumberOfPlanes = this->GetPlanesOfSlab();
    memory.Queue.NumberOfSlots =
      std::min(DivideUp(m_FilterCut.SlabsAhead + 1, queues) + slotsToSpare,
               std::max<size_t>(1, DivideUp(std::max(m_FilterCut.Slabs.size(), m_SweepCut.Slabs.size()), queues)));
    const size_t plane = GetNumberOfBytes(this->MakePlanesView(1, nullptr));
    memory.PlanesPerBatch =
      m_Axis == 0 ? memory.Queue.NumberOfPlanes
                  : std::clamp<size_t>(batchBytes / std::max<size_t>(1, plane), 1, memory.Queue.NumberOfResultPlanes);
    const auto countBytes = [&](size_t queue) {
      size_t bytes = this->GetBytesOfTransport(memory);
      this->TakeQueueMemory(memory, queue, [&bytes](size_t piece) -> void * {
        bytes += Workspace::GetPieceSize(piece);
        return nullptr;
      });
      return bytes;
    };
    memory.BytesOfFirstQueue = countBytes(0);
    memory.BytesOfOtherQueue = queues > 1 ? countBytes(1) : 0;
    if (memory.Queue.HoldsHostPixels && this->MovesFirstPlane()) // otherwise it fits into the queues' memory
    {
      memory.BytesOfTransfers = Workspace::GetPieceSize(
        GetTransferWorkspace(ViewAdjacent(Slice(m_Endpoints.Input, m_Axis, 0, 1), nullptr), m_Type));
    }
    return memory;
  }

  /** Returns the bytes of a queue's slots and results, which parts on devices do not need. */
  size_t
  GetBytesOfTransport(const SlabMemory & memory) const
  {
    return m_Parts.empty() ? GetSlabQueueBytes(m_Endpoints, memory.Queue) : 0;
  }

  /** Returns whether the first plane is transferred separately. */
  bool
  MovesFirstPlane() const
  {
    return m_States || this->BeginsBehindFirstPlane();
  }

  /** Returns the number of slabs whose end states a queue keeps at a time. */
  size_t
  GetNumberOfStateBuffers(const SlabMemory & memory, size_t queue) const
  {
    if (m_Geometry.Shape.NeedsAllChunks)
    {
      return queue == 0 ? m_SweepCut.Slabs.size() : 1; // the first queue collects the states of all slabs
    }
    // A slab reuses the slot of an earlier slab only after the work on that slab has been queued. The results that are
    // still to be computed therefore need the end states of at most this number of slabs of the queue.
    const size_t queues = m_Devices.size();
    return std::min(DivideUp(m_FilterCut.Slabs.size(), queues),
                    memory.Queue.NumberOfSlots + DivideUp(m_FilterCut.SlabsAhead, queues));
  }

  /** Divides the memory of a queue, except slots and results, by calling take(bytes) for each buffer. */
  template <typename TTake>
  QueueMemory
  TakeQueueMemory(const SlabMemory & memory, size_t index, const TTake & take) const
  {
    QueueMemory queue;
    const auto  takeImage = [&](DeviceView view) {
      view.Data = take(GetNumberOfBytes(view));
      queue.Images.push_back(view);
      return view.Data;
    };
    for (size_t i = 0; i < m_SplitPlan.Buffers; ++i)
    {
      queue.Buffers.push_back(takeImage(this->MakePlanesView(memory.Queue.NumberOfResultPlanes, nullptr)));
    }
    for (size_t i = 0; i < m_SplitPlan.Intermediates.size(); ++i)
    {
      queue.Intermediates.push_back(takeImage(this->MakePlanesView(memory.PlanesPerBatch, nullptr)));
    }
    size_t starts = 0;
    for (size_t i = 0; i < m_SplitPlan.Across.size(); ++i)
    {
      starts = std::max(starts, this->GetStateBufferBytes(i, memory.RowsPerGroup));
    }
    queue.Starts = take(starts);
    queue.Workspace = take(this->GetWithinWorkspace(memory.PlanesPerBatch));
    queue.FirstPlane = take(GetNumberOfBytes(MakeSlabView(m_Endpoints.Input, m_Axis, 1, m_Type, nullptr)));
    const size_t slabs = this->GetNumberOfStateBuffers(memory, index);
    const size_t neighbors = m_Devices.size() > 1 ? 2 * m_Geometry.Shape.LookAhead : 0;
    for (size_t component = 0; component < this->GetNumberOfComponents(); ++component)
    {
      for (size_t i = 0; i < m_SplitPlan.Across.size(); ++i)
      {
        for (const RowGroup & group : this->MakeGroups(memory.RowsPerGroup))
        {
          queue.EndStates.push_back(take(slabs * this->GetStateBufferBytes(i, group.Rows)));
          queue.Edges.push_back(take(this->GetEdgeBytes(i, group.Rows)));
          queue.Neighbors.push_back(take(neighbors * this->GetStateBytes(i, group.Rows)));
        }
      }
    }
    if (memory.Queue.HoldsHostPixels)
    {
      const size_t planes = memory.Queue.NumberOfResultPlanes;
      const auto   makeLines = [&](size_t components) {
        return this->MakeLinesView(memory.RowsPerGroup, memory.Queue.NumberOfPlanes, components, nullptr);
      };
      if (this->NeedsSourceOfPart())
      {
        queue.Source = takeImage(MakeSlabView(m_Endpoints.Input, m_Axis, planes, m_Type, nullptr));
      }
      queue.Output = takeImage(MakeSlabView(m_Endpoints.Output, m_Axis, planes, m_Type, nullptr));
      queue.HostPixels = take(memory.RowsPerGroup * this->GetBytesOfRow() * memory.Queue.NumberOfPlanes);
      queue.Lines = takeImage(makeLines(this->GetNumberOfComponents()));
      for (size_t r = 0; r < this->GetNumberOfLineResults(); ++r)
      {
        queue.LineResults.push_back(take(GetNumberOfBytes(makeLines(1))));
      }
    }
    return queue;
  }

  /** Returns whether the passes within planes read the input's pixels, or a result across slabs that is stored in their
   * place. */
  bool
  NeedsSourceOfPart() const
  {
    bool needs = IsReadWithin(m_SplitPlan.Within, m_SplitPlan.Unfiltered);
    for (const auto & ofPass : m_SplitPlan.Results)
    {
      for (const AcrossResult & made : ofPass)
      {
        needs = needs || made.Storage == AcrossStorage::Source;
      }
    }
    return needs;
  }

  /** Returns whether there is only one result across slabs. It then overwrites its source. */
  bool
  HasSingleResultAcross() const
  {
    return m_SplitPlan.Across.size() == 1 && m_SplitPlan.Across.front().Results.size() == 1;
  }

  size_t
  GetNumberOfLineResults() const
  {
    size_t number = 0;
    for (const CudaGaussianLinePass & pass : m_SplitPlan.Across)
    {
      number = std::max(number, pass.Results.size());
    }
    return this->HasSingleResultAcross() ? 0 : number;
  }

  std::vector<RowGroup>
  MakeGroups(size_t rowsOfGroup) const
  {
    std::vector<RowGroup> groups;
    const size_t          rows = this->GetRowsOfPlane();
    for (size_t first = 0; first < rows; first += rowsOfGroup)
    {
      groups.push_back({ groups.size(), first, std::min(rowsOfGroup, rows - first) });
    }
    return groups;
  }

  /** Returns the bytes of the states of a slab's chunks, for `rows` rows of one component and pass. */
  size_t
  GetStateBufferBytes(size_t pass, size_t rows) const
  {
    return m_Geometry.ChunksPerSlab * this->GetStateBytes(pass, rows);
  }

  /** Returns the bytes of the states of one chunk, for `rows` rows of one component and pass. */
  size_t
  GetStateBytes(size_t pass, size_t rows) const
  {
    return GetLineStateBytes(m_SplitPlan.Across[pass], this->MakeLinesView(rows, 1, 1, nullptr));
  }

  size_t
  GetEdgeBytes(size_t pass, size_t rows) const
  {
    return GetEdgeStateBytes(m_SplitPlan.Across[pass], this->MakeLinesView(rows, 1, 1, nullptr));
  }

  size_t
  GetWithinWorkspace(size_t planes) const
  {
    if (m_SplitPlan.Within.Passes.empty())
    {
      return 0;
    }
    const std::vector<DeviceView> images(m_SplitPlan.Within.NumberOfImages, this->MakePlanesView(planes, nullptr));
    size_t                        bytes = 0;
    for (const int device : m_UniqueDevices)
    {
      bytes = std::max(bytes, GetPlanWorkspace(m_SplitPlan.Within, images, device));
    }
    return bytes;
  }

  /** The memory that a device lacks most for a plan. */
  struct Shortage
  {
    int    Device{ 0 };
    size_t Needed{ 0 };
    size_t Allowed{ 0 };
  };

  /** Adopts the memory plan if it fits into the bytes that each device allows. Otherwise keeps in `least` what the plan
   * with the fewest bytes lacks. */
  bool
  TryMemory(const SlabMemory & memory, Shortage & least)
  {
    std::map<int, size_t> needed;
    needed[m_Devices.front()] = memory.BytesOfTransfers;
    for (size_t queue = 0; queue < m_Devices.size(); ++queue)
    {
      needed[m_Devices[queue]] += queue == 0 ? memory.BytesOfFirstQueue : memory.BytesOfOtherQueue;
    }
    const auto lacks = [this](const auto & a, const auto & b) { // in bytes that may be negative
      return a.second + m_Allowed[b.first] < b.second + m_Allowed[a.first];
    };
    const auto [device, bytes] = *std::max_element(needed.begin(), needed.end(), lacks);
    if (bytes > m_Allowed[device])
    {
      least = least.Needed == 0 || bytes < least.Needed ? Shortage{ device, bytes, m_Allowed[device] } : least;
      return false;
    }
    m_Memory = memory;
    for (const auto & [other, bytesOfOther] : needed)
    {
      m_PeakBytes = std::max(m_PeakBytes, bytesOfOther);
    }
    m_Groups = this->MakeGroups(memory.RowsPerGroup);
    return true;
  }

  /** Tries memory plans in the order of decreasing memory and speed. Slots that hold pixels in the host's type need
   * less memory, but every part of a result then reads all lines of its slab. Returns whether one fits. */
  bool
  TrySlots(bool holdHostPixels, Shortage & least)
  {
    const size_t pitch = std::max(m_Geometry.BytesOfInputPlane, GetNumberOfBytes(this->MakePlanesView(1, nullptr)));
    if (holdHostPixels && (m_Axis == 0 || !HaveDenseRows(m_Endpoints) || pitch > MaximumPitch))
    {
      return false;
    }
    const size_t mostParts = holdHostPixels ? std::min(MaximumPartsOfResult, this->GetPlanesOfSlab()) : 1;
    const size_t mostResults = holdHostPixels ? 2 : this->GetNumberOfResultBuffers();
    for (const size_t spare : { 1, 0 })
    {
      for (size_t parts = 1; parts <= mostParts; ++parts)
      {
        for (size_t results = mostResults; results > 0; results /= 2)
        {
          for (size_t batch = MaximumBatchBytes; batch >= MinimumBatchBytes; batch /= 2)
          {
            if (this->TryMemory(this->PlanMemory(holdHostPixels, spare, results, parts, batch), least))
            {
              return true;
            }
          }
        }
      }
    }
    return false;
  }

  void
  CutAndKeep(size_t chunksPerSlab)
  {
    m_Geometry.ChunksPerSlab = chunksPerSlab;
    this->Cut(chunksPerSlab);
  }

  /** Chooses the first memory plan that fits. The plans are tried in the order of decreasing memory and speed.
   * \exception CudaError if no plan fits */
  void
  Fit(size_t limit, size_t chunksPerSlab)
  {
    for (const int device : m_UniqueDevices)
    {
      const size_t available = cuda::GetAvailableDeviceMemory(device);
      // Less than half of the largest number, so that sums do not overflow where no limit is known.
      m_Allowed[device] =
        std::min(limit == 0 ? available : std::min(limit, available), std::numeric_limits<size_t>::max() / 4);
    }
    Shortage least;
    this->CutAndKeep(chunksPerSlab > 0 ? chunksPerSlab : this->ChooseChunksPerSlab());
    bool fits = this->TrySlots(false, least);
    if (!fits && chunksPerSlab == 0 && m_Geometry.ChunksPerSlab > 1)
    {
      this->CutAndKeep(1);
      fits = this->TrySlots(false, least);
    }
    if (fits || (m_Parts.empty() && this->TrySlots(true, least)))
    {
      return;
    }
    throw CudaError(__FILE__,
                    __LINE__,
                    CudaError::Kind::OutOfMemory,
                    "not enough memory on device " + std::to_string(least.Device) + " for slabs of " +
                      std::to_string(this->GetPlanesOfSlab()) + " planes: least: " + std::to_string(least.Needed) +
                      " bytes (" + cuda::FormatBytes(least.Needed) + "), allowed: " + std::to_string(least.Allowed) +
                      " bytes (" + cuda::FormatBytes(least.Allowed) + ")");
  }

  /** Creates the transport of the slabs. \exception ExceptionObject if parts on devices are not laid out like slabs */
  void
  MakeTransport()
  {
    if (m_Parts.empty())
    {
      m_Transport = std::make_unique<SlabPipeline>(m_Devices, m_Endpoints, m_Memory.Queue);
      return;
    }
    const auto verify = [this](const CudaDeviceImageView & part, const CudaImageView & shape, const char * name) {
      const DeviceView slab = MakeSlabView(shape, m_Axis, part.Size[m_Axis], m_Type, nullptr);
      if (part.ComponentType != m_Type || part.Stride != slab.Stride)
      {
        itkGenericExceptionMacro(<< name
                                 << " of slabs on devices must have pixels of float or double, both of the same, "
                                    "and the memory that CudaDeviceImage::Allocate() makes");
      }
    };
    for (const ResidentPart & part : m_Parts)
    {
      verify(part.Input, m_Endpoints.Input, "Inputs");
      verify(part.Output, m_Endpoints.Output, "Outputs");
    }
    m_Transport = std::make_unique<ResidentSlabs>(m_Parts);
  }

  void
  Allocate() override
  {
    this->MakeTransport();
    for (const int owner : m_UniqueDevices)
    {
      for (const int reader : m_UniqueDevices)
      {
        AllowPeerAccess(owner, reader);
      }
    }
    for (size_t queue = 0; queue < m_Devices.size(); ++queue)
    {
      const DeviceGuard guard(m_Devices[queue]);
      this->AllocateQueue(queue);
    }
    const size_t slabs = std::max(m_FilterCut.Slabs.size(), m_SweepCut.Slabs.size());
    for (size_t slab = 0; slab < slabs; ++slab)
    {
      const DeviceGuard guard(m_Devices[slab % m_Devices.size()]); // an event belongs to the device of its queue
      m_EndStatesReady.emplace_back();
      m_Computed.emplace_back();
    }
    const DeviceGuard guard(m_Devices.front());
    m_FirstPlaneKept.emplace();
    m_StartsReady.emplace();
  }

  void
  AllocateQueue(size_t index)
  {
    const Context & context = m_Transport->GetContext(index);
    const size_t    bytes =
      (index == 0 ? m_Memory.BytesOfFirstQueue : m_Memory.BytesOfOtherQueue) - this->GetBytesOfTransport(m_Memory);
    DeviceBuffer buffer(bytes, context);
    Workspace    memory(buffer.GetPointer(), bytes);
    QueueMemory  queue = this->TakeQueueMemory(m_Memory, index, [&](size_t piece) { return memory.Take(piece); });
    queue.Memory = std::move(buffer);
    for (const DeviceView & image : queue.Images)
    {
      ClearPadding(image, context); // passes load whole vectors, and the last one of a row may extend into the padding
    }
    m_Queues.push_back(std::move(queue));
    ClearPadding(this->GetFirstPlane(index), context); // lines in the padding between rows are filtered, too
  }

  /** Queues a copy between the memory of two queues in the order of `context`. */
  void
  CopyBetween(void * to, size_t toQueue, const void * from, size_t fromQueue, size_t bytes, const Context & context)
  {
    ITK_CUDA_CALL(cudaMemcpyPeerAsync(to, m_Devices[toQueue], from, m_Devices[fromQueue], bytes, context.GetStream()));
    m_BytesBetween += bytes;
  }

  // The first plane.

  /** Returns the first plane with all components, as a queue keeps it. */
  DeviceView
  GetFirstPlane(size_t queue) const
  {
    return MakeSlabView(m_Endpoints.Input, m_Axis, 1, m_Type, m_Queues[queue].FirstPlane);
  }

  /** Returns the rows of the first plane that belong to a group. */
  DeviceView
  GetFirstPixels(size_t component, const RowGroup & group, size_t queue) const
  {
    const DeviceView rows = Slice(GetComponent(this->GetFirstPlane(queue), component), 1, group.FirstRow, group.Rows);
    return this->MakeLinesView(group.Rows, 1, 1, rows.Data);
  }

  /** Copies the first plane from the first slab, which is on the first queue. */
  void
  CopyFirstPlane(const DeviceView & planes, const Context & context)
  {
    if (m_Memory.Queue.HoldsHostPixels)
    {
      this->ConvertPlanes(planes.Data, this->GetFirstPlane(0), context);
    }
    for (size_t component = 0; !m_Memory.Queue.HoldsHostPixels && component < this->GetNumberOfComponents();
         ++component)
    {
      const DeviceView to = GetComponent(this->GetFirstPlane(0), component);
      ITK_CUDA_CALL(cudaMemcpyAsync(to.Data,
                                    GetComponent(planes, component).Data,
                                    GetNumberOfBytes(to),
                                    cudaMemcpyDeviceToDevice,
                                    context.GetStream()));
    }
    this->MarkFirstPlane(context);
  }

  void
  KeepFirstPlane(const CudaImageView & plane) override
  {
    const DeviceGuard guard(m_Devices.front());
    const Context &   context = m_Transport->GetContext(0);
    Upload(plane, this->GetFirstPlane(0), context, nullptr);
    this->MarkFirstPlane(context);
    m_ExtraBytesUp += m_Geometry.BytesOfInputPlane;
  }

  void
  MarkFirstPlane(const Context & context)
  {
    m_FirstPlaneKept->Record(context);
    m_Queues.front().HasFirstPlane = true;
  }

  /** Copies the first plane from the first queue, unless the queue has it. */
  void
  FetchFirstPlane(size_t queue)
  {
    if (!m_Queues[queue].HasFirstPlane)
    {
      const Context &  context = m_Transport->GetContext(queue);
      const DeviceView from = this->GetFirstPlane(0);
      m_FirstPlaneKept->MakeWait(context);
      this->CopyBetween(m_Queues[queue].FirstPlane, queue, from.Data, 0, GetNumberOfBytes(from), context);
      m_Queues[queue].HasFirstPlane = true;
    }
  }

  // Passes across slabs.

  LineCut
  GetLineCut(const ChunkRange & chunks, size_t component, const RowGroup & group, size_t queue) const
  {
    LineCut cut;
    cut.WholeLength = m_Geometry.Shape.NumberOfPlanes;
    cut.First = this->GetFirstPixels(component, group, queue);
    cut.EndIsCut = chunks.End < m_Geometry.Shape.NumberOfChunks;
    return cut;
  }

  size_t
  GetBufferIndex(size_t component, size_t pass, const RowGroup & group) const
  {
    return (component * m_SplitPlan.Across.size() + pass) * m_Groups.size() + group.Index;
  }

  /** Returns the buffer of a queue for the end states of a slab. */
  unsigned char *
  GetEndStates(size_t component, size_t pass, const RowGroup & group, size_t slab, size_t queue) const
  {
    const size_t queues = m_Devices.size();
    const size_t index = m_Geometry.Shape.NeedsAllChunks ? slab : slab / queues;
    return static_cast<unsigned char *>(m_Queues[queue].EndStates[this->GetBufferIndex(component, pass, group)]) +
           index % this->GetNumberOfStateBuffers(m_Memory, queue) * this->GetStateBufferBytes(pass, group.Rows);
  }

  void *
  GetEdges(size_t component, size_t pass, const RowGroup & group, size_t queue) const
  {
    return m_Queues[queue].Edges[this->GetBufferIndex(component, pass, group)];
  }

  /** The states of a chunk on the queue that computed or collected them, or nullptr if the run has no such chunk. */
  struct HeldStates
  {
    unsigned char * Data{ nullptr };
    size_t          Queue{ 0 };
  };

  HeldStates
  FindStates(size_t component, size_t pass, const RowGroup & group, std::ptrdiff_t chunk) const
  {
    const auto & ranges = (m_Geometry.Shape.NeedsAllChunks ? m_SweepCut : m_FilterCut).Chunks;
    for (size_t slab = 0; slab < ranges.size(); ++slab)
    {
      if (chunk >= static_cast<std::ptrdiff_t>(ranges[slab].Begin) &&
          chunk < static_cast<std::ptrdiff_t>(ranges[slab].End))
      {
        const size_t queue = m_Geometry.Shape.NeedsAllChunks ? 0 : slab % m_Devices.size();
        return { this->GetEndStates(component, pass, group, slab, queue) +
                   (chunk - ranges[slab].Begin) * this->GetStateBytes(pass, group.Rows),
                 queue };
      }
    }
    return {};
  }

  /** Returns where a queue that filters `chunks` has the states of one chunk: those that it holds or, after
   * FetchStates(), its copies of others. Returns nullptr if the run has no such chunk. */
  unsigned char *
  GetStatesOfChunk(const ChunkRange & chunks,
                   size_t             component,
                   size_t             pass,
                   const RowGroup &   group,
                   size_t             queue,
                   std::ptrdiff_t     chunk) const
  {
    const HeldStates states = this->FindStates(component, pass, group, chunk);
    if (!states.Data || states.Queue == queue)
    {
      return states.Data;
    }
    const size_t bytes = this->GetStateBytes(pass, group.Rows);
    const auto   begin = static_cast<std::ptrdiff_t>(chunks.Begin);
    const auto   end = static_cast<std::ptrdiff_t>(chunks.End);
    if (chunk >= begin && chunk < end)
    {
      return this->GetEndStates(component, pass, group, 0, queue) + (chunk - begin) * bytes; // its only buffer
    }
    const size_t distance = chunk < begin ? begin - 1 - chunk : m_Geometry.Shape.LookAhead + (chunk - end);
    return static_cast<unsigned char *>(m_Queues[queue].Neighbors[this->GetBufferIndex(component, pass, group)]) +
           distance * bytes;
  }

  /** Calls function(component, pass, group) for each buffer of states. */
  template <typename TFunction>
  void
  VisitBuffers(const TFunction & function) const
  {
    for (size_t component = 0; component < this->GetNumberOfComponents(); ++component)
    {
      for (size_t i = 0; i < m_SplitPlan.Across.size(); ++i)
      {
        for (const RowGroup & group : m_Groups)
        {
          function(component, i, group);
        }
      }
    }
  }

  /** Copies a slab's end states to the first queue, which collects those of a sweep. */
  void
  SendEndStates(size_t slab, size_t queue)
  {
    const ChunkRange & chunks = m_SweepCut.Chunks[slab];
    const Context &    context = m_Transport->GetContext(queue);
    this->VisitBuffers([&](size_t component, size_t pass, const RowGroup & group) {
      this->CopyBetween(this->GetEndStates(component, pass, group, slab, 0),
                        0,
                        this->GetEndStates(component, pass, group, slab, queue),
                        queue,
                        (chunks.End - chunks.Begin) * this->GetStateBytes(pass, group.Rows),
                        context);
      if (chunks.End == m_Geometry.Shape.NumberOfChunks)
      {
        this->CopyEdges(component, pass, group, 0, queue, context);
      }
    });
  }

  void
  CopyEdges(size_t           component,
            size_t           pass,
            const RowGroup & group,
            size_t           toQueue,
            size_t           fromQueue,
            const Context &  context)
  {
    this->CopyBetween(this->GetEdges(component, pass, group, toQueue),
                      toQueue,
                      this->GetEdges(component, pass, group, fromQueue),
                      fromQueue,
                      this->GetEdgeBytes(pass, group.Rows),
                      context);
  }

  /** Copies the states to the queue that it needs to filter a slab and that other queues hold: of the chunks before the
   * slab those of causal sweeps, and of the chunks behind it those of anticausal ones. */
  void
  FetchStates(size_t slab, size_t queue)
  {
    const ChunkRange & chunks = m_FilterCut.Chunks[slab];
    const Context &    context = m_Transport->GetContext(queue);
    const bool         needsAll = m_Geometry.Shape.NeedsAllChunks;
    if (needsAll)
    {
      m_StartsReady->MakeWait(context);
    }
    for (size_t other = slab - std::min(slab, m_FilterCut.SlabsAhead);
         !needsAll && other <= m_FilterCut.Slabs[slab].LastRequiredSlab;
         ++other)
    {
      m_EndStatesReady[other].MakeWait(context);
    }
    this->VisitBuffers([&](size_t component, size_t pass, const RowGroup & group) {
      const size_t bytes = this->GetStateBytes(pass, group.Rows);
      const auto   fetch = [&](std::ptrdiff_t chunk, size_t offset, size_t count) {
        const HeldStates states = this->FindStates(component, pass, group, chunk);
        if (states.Data && states.Queue != queue)
        {
          unsigned char * const to = this->GetStatesOfChunk(chunks, component, pass, group, queue, chunk);
          this->CopyBetween(to + offset, queue, states.Data + offset, states.Queue, count, context);
        }
      };
      const auto begin = static_cast<std::ptrdiff_t>(chunks.Begin);
      const auto end = static_cast<std::ptrdiff_t>(chunks.End);
      if (needsAll)
      {
        fetch(begin, 0, (chunks.End - chunks.Begin) * bytes);
      }
      const size_t lookAhead = m_Schedules[pass].LookAhead;
      for (size_t i = 0; i < lookAhead; ++i)
      {
        const auto distance = static_cast<std::ptrdiff_t>(i);
        fetch(begin - 1 - distance, 0, bytes / 2);
        fetch(end + distance, bytes / 2, bytes / 2);
      }
      const size_t last = needsAll ? 0 : (m_FilterCut.Slabs.size() - 1) % m_Devices.size(); // has the ends of lines
      const size_t reach = RunsInStrips(m_Schedules[pass]) ? 0 : lookAhead;
      if (lookAhead > 0 && last != queue && chunks.End + reach >= m_Geometry.Shape.NumberOfChunks)
      {
        this->CopyEdges(component, pass, group, queue, last, context);
      }
    });
  }

  /** Makes the queue wait for the work that still reads the earlier end states in this slab's buffer. */
  void
  WaitForReaders(size_t slab, const Context & context)
  {
    const size_t reused = m_Devices.size() * this->GetNumberOfStateBuffers(m_Memory, slab % m_Devices.size());
    if (m_Devices.size() == 1 || this->IsSweep() || slab < reused)
    {
      return;
    }
    const size_t older = slab - reused;
    for (size_t reader = older - std::min(older, m_FilterCut.SlabsAhead); reader <= older + m_FilterCut.SlabsAhead;
         ++reader)
    {
      m_Computed[reader].MakeWait(context);
    }
  }

  /** Converts whole planes from the host's type to the computed type. */
  void
  ConvertPlanes(const void * pixels, const DeviceView & planes, const Context & context) const
  {
    const size_t number = planes.GetNumberOfElements() / planes.Size.back();
    ConvertToPlanar(pixels, m_Endpoints.Input.ComponentType, planes, 0, number, context.GetStream());
  }

  /** Returns the pixels of a group's rows in the computed type, converting them if slots hold the host's type. */
  DeviceView
  LoadLines(const RowGroup & group, size_t queue, const DeviceView & planes) const
  {
    if (!m_Memory.Queue.HoldsHostPixels)
    {
      return planes;
    }
    const QueueMemory & memory = m_Queues[queue];
    const Context &     context = m_Transport->GetContext(queue);
    const size_t        number = planes.Size[m_Axis];
    const size_t        bytes = group.Rows * this->GetBytesOfRow();
    ITK_CUDA_CALL(
      cudaMemcpy2DAsync(memory.HostPixels,
                        bytes,
                        static_cast<const unsigned char *>(planes.Data) + group.FirstRow * this->GetBytesOfRow(),
                        m_Geometry.BytesOfInputPlane,
                        bytes,
                        number,
                        cudaMemcpyDeviceToDevice,
                        context.GetStream()));
    const DeviceView lines = this->MakeLinesView(group.Rows, number, this->GetNumberOfComponents(), memory.Lines);
    this->ConvertPlanes(memory.HostPixels, lines, context);
    return lines;
  }

  void
  ComputeEndStates(size_t slab, const RowGroup & group, size_t component, size_t queue, const DeviceView & source)
  {
    const Context &    context = m_Transport->GetContext(queue);
    const ChunkRange & chunks = this->GetCut().Chunks[slab];
    const LineCut      cut = this->GetLineCut(chunks, component, group, queue);
    for (size_t i = 0; i < m_SplitPlan.Across.size(); ++i)
    {
      const CudaGaussianLinePass & pass = m_SplitPlan.Across[i];
      void * const                 endStates = this->GetEndStates(component, i, group, slab, queue);
      RunChunkEndStates(pass, m_Schedules[i], { source, source, source, source }, cut, endStates, context);
      if (chunks.End == m_Geometry.Shape.NumberOfChunks)
      {
        RunEdgeStates(pass, source, cut, this->GetEdges(component, i, group, queue), context);
      }
    }
  }

  /** Computes the start states of a slab's chunks. */
  const void *
  ComputeStartStates(const ChunkRange & chunks,
                     size_t             component,
                     size_t             pass,
                     const RowGroup &   group,
                     size_t             queue,
                     const DeviceView & source)
  {
    const auto getStates = [&](std::ptrdiff_t chunk) {
      return this->GetStatesOfChunk(chunks, component, pass, group, queue, chunk);
    };
    if (m_Schedules[pass].LookAhead == 0 && m_Geometry.Shape.NeedsAllChunks)
    {
      return getStates(static_cast<std::ptrdiff_t>(chunks.Begin));
    }
    const size_t bytes = this->GetStateBytes(pass, group.Rows);
    for (size_t chunk = chunks.Begin; chunk < chunks.End; ++chunk)
    {
      ChunkNeighbors neighbors{ chunk,
                                m_Geometry.Shape.NumberOfChunks,
                                m_Geometry.Shape.NumberOfPlanes,
                                this->GetEdges(component, pass, group, queue) };
      for (unsigned int i = 0; i < m_Schedules[pass].LookAhead; ++i)
      {
        const auto at = static_cast<std::ptrdiff_t>(chunk);
        const auto distance = 1 + static_cast<std::ptrdiff_t>(i);
        neighbors.Before[i] = getStates(at - distance);
        neighbors.Behind[i] = getStates(at + distance);
      }
      RunChunkStarts(m_SplitPlan.Across[pass],
                     m_Schedules[pass],
                     source,
                     neighbors,
                     static_cast<unsigned char *>(m_Queues[queue].Starts) + (chunk - chunks.Begin) * bytes,
                     m_Transport->GetContext(queue));
    }
    return m_Queues[queue].Starts;
  }

  /** Runs the passes across slabs over one component. `lines` holds the rows of a group. `source` and `result` hold the
   * slab's planes from `first` on. */
  void
  FilterAcross(const ChunkRange & chunks,
               const RowGroup &   group,
               size_t             component,
               size_t             queue,
               const DeviceView & lines,
               const DeviceView & source,
               size_t             first,
               const DeviceView & result)
  {
    for (size_t i = 0; i < m_SplitPlan.Across.size(); ++i)
    {
      const void * const      starts = this->ComputeStartStates(chunks, component, i, group, queue, lines);
      std::vector<DeviceView> images{ lines };
      for (size_t r = 0; r < m_SplitPlan.Results[i].size(); ++r)
      {
        images.push_back(m_Memory.Queue.HoldsHostPixels
                           ? this->GetLineResult(r, queue, lines)
                           : this->GetAcross(m_SplitPlan.Results[i][r], component, queue, source, result));
      }
      const LineCut cut = this->GetLineCut(chunks, component, group, queue);
      RunChunksFromStates(m_SplitPlan.Across[i], m_Schedules[i], images, cut, starts, m_Transport->GetContext(queue));
      for (size_t r = 0; m_Memory.Queue.HoldsHostPixels && r < m_SplitPlan.Results[i].size(); ++r)
      {
        const DeviceView to = this->GetAcross(m_SplitPlan.Results[i][r], component, queue, source, result);
        this->CopyPlanesOfLines(images[1 + r], first, group, to, m_Transport->GetContext(queue));
      }
    }
  }

  DeviceView
  GetLineResult(size_t index, size_t queue, const DeviceView & lines) const
  {
    DeviceView view = lines;
    view.Data = this->HasSingleResultAcross() ? lines.Data : m_Queues[queue].LineResults[index];
    return view;
  }

  /** Copies the rows of a group, for the planes from `first` on, to their position in `to`. */
  void
  CopyPlanesOfLines(const DeviceView & lines,
                    size_t             first,
                    const RowGroup &   group,
                    const DeviceView & to,
                    const Context &    context) const
  {
    const size_t bytes = CudaComponentSize(m_Type);
    const size_t width = lines.Stride[m_Axis] * bytes;
    ITK_CUDA_CALL(cudaMemcpy2DAsync(Slice(to, 1, group.FirstRow, group.Rows).Data,
                                    to.Stride[m_Axis] * bytes,
                                    static_cast<const unsigned char *>(lines.Data) + first * width,
                                    width,
                                    width,
                                    to.Size[m_Axis],
                                    cudaMemcpyDeviceToDevice,
                                    context.GetStream()));
  }

  /** Returns the planes in which a result across slabs is stored. */
  DeviceView
  GetAcross(const AcrossResult & made,
            size_t               component,
            size_t               queue,
            const DeviceView &   source,
            const DeviceView &   result) const
  {
    switch (made.Storage)
    {
      case AcrossStorage::Output:
        return GetComponent(result, component * m_Plan.Results.size() + made.Index);
      case AcrossStorage::Source:
        return source;
      default:
        DeviceView view = source;
        view.Data = m_Queues[queue].Buffers[made.Index];
        return view;
    }
  }

  /** Computes the planes of a part of a result, where slots and results have the host's types. All lines of the slab
   * are filtered for it, but only the planes of the part are kept. */
  void
  FilterPart(const ChunkRange & chunks,
             size_t             queue,
             const DeviceView & planes,
             size_t             first,
             const DeviceView & result)
  {
    const QueueMemory & memory = m_Queues[queue];
    const Context &     context = m_Transport->GetContext(queue);
    const size_t        number = result.Size[m_Axis];
    const DeviceView    pixels = MakeSlabView(m_Endpoints.Input, m_Axis, number, m_Type, memory.Source);
    const DeviceView    output = MakeSlabView(m_Endpoints.Output, m_Axis, number, m_Type, memory.Output);
    if (IsReadWithin(m_SplitPlan.Within, m_SplitPlan.Unfiltered))
    {
      const auto * const data = static_cast<const unsigned char *>(planes.Data);
      this->ConvertPlanes(data + first * m_Geometry.BytesOfInputPlane, pixels, context);
    }
    for (size_t component = 0; component < this->GetNumberOfComponents(); ++component)
    {
      const DeviceView source = GetComponent(pixels, component);
      for (const RowGroup & group : m_Groups)
      {
        const DeviceView lines = GetComponent(this->LoadLines(group, queue, planes), component);
        this->FilterAcross(chunks, group, component, queue, lines, source, first, output);
      }
      this->FilterWithin(component, queue, source, output);
    }
    ConvertFromPlanar(output,
                      0,
                      output.GetNumberOfElements() / output.Size.back(),
                      result.Data,
                      m_Endpoints.Output.ComponentType,
                      context.GetStream());
  }

  // Passes within planes.

  void
  FilterWithin(size_t component, size_t queue, const DeviceView & source, const DeviceView & result)
  {
    if (m_SplitPlan.Within.Passes.empty() && m_SplitPlan.Within.Rotation.empty())
    {
      return;
    }
    const QueueMemory & memory = m_Queues[queue];
    const size_t        number = source.Size[m_Axis];
    const size_t        workspace = this->GetWithinWorkspace(m_Memory.PlanesPerBatch);
    for (size_t first = 0; first < number; first += m_Memory.PlanesPerBatch)
    {
      const size_t            count = std::min(m_Memory.PlanesPerBatch, number - first);
      std::vector<DeviceView> images(m_SplitPlan.Within.NumberOfImages, this->MakePlanesView(count, nullptr));
      images[m_SplitPlan.Unfiltered] = this->GetBatch(source, first, count);
      for (const auto & ofPass : m_SplitPlan.Results)
      {
        for (const AcrossResult & made : ofPass)
        {
          images[made.Image] = this->GetBatch(this->GetAcross(made, component, queue, source, result), first, count);
        }
      }
      for (size_t i = 0; i < m_SplitPlan.Intermediates.size(); ++i)
      {
        images[m_SplitPlan.Intermediates[i]].Data = memory.Intermediates[i];
      }
      for (size_t r = 0; r < m_SplitPlan.Within.Results.size(); ++r)
      {
        images[m_SplitPlan.Within.Results[r]] =
          this->GetBatch(GetComponent(result, component * m_Plan.Results.size() + r), first, count);
      }
      RunPlan(m_SplitPlan.Within, images, { memory.Workspace, workspace }, m_Transport->GetContext(queue));
    }
  }

  // Two sweeps.

  void
  WaitForSweep(const Context & context) const
  {
    for (const Event & ready : m_EndStatesReady)
    {
      if (this->IsSweep())
      {
        ready.MakeWait(context);
      }
    }
  }

  /** Turns the end states of all chunks into their start states, for the passes that need all chunks. */
  void
  ConvertToStartStates() override
  {
    const DeviceGuard guard(m_Devices.front());
    const Context &   context = m_Transport->GetContext(0);
    this->WaitForSweep(context);
    this->VisitBuffers([&](size_t component, size_t pass, const RowGroup & group) {
      if (m_Schedules[pass].LookAhead == 0)
      {
        const ChunkNeighbors line{
          0, m_Geometry.Shape.NumberOfChunks, m_Geometry.Shape.NumberOfPlanes, this->GetEdges(component, pass, group, 0)
        };
        const DeviceView lines = this->MakeLinesView(group.Rows, 1, 1, nullptr);
        void * const     endStates = this->GetEndStates(component, pass, group, 0, 0);
        RunStateScan(m_SplitPlan.Across[pass], m_Schedules[pass], lines, line, endStates, context);
      }
    });
    m_StartsReady->Record(context);
  }

  /** What CudaSlabStates::Starts points to: end states and edge states of each component's passes. */
  using StartStates = CudaSlabStates::StateBytes;

  /** Calls copy(buffers of the groups, bytes of all groups) for end states and edge states, in the order of
   * StartStates.
   */
  template <typename TCopy>
  void
  VisitStates(const TCopy & copy) const
  {
    const size_t rows = this->GetRowsOfPlane();
    for (size_t component = 0; component < this->GetNumberOfComponents(); ++component)
    {
      for (size_t i = 0; i < m_SplitPlan.Across.size(); ++i)
      {
        const size_t chunks = m_SweepCut.Chunks.back().End - m_SweepCut.Chunks.front().Begin;
        copy(&m_Queues.front().EndStates[this->GetBufferIndex(component, i, m_Groups.front())],
             chunks * this->GetStateBytes(i, rows));
        copy(&m_Queues.front().Edges[this->GetBufferIndex(component, i, m_Groups.front())],
             this->GetEdgeBytes(i, rows));
      }
    }
  }

  /** Copies the states of all groups from or to host memory, where the states of all lines are contiguous. */
  void
  CopyStates(void * const * pieces, std::vector<unsigned char> & host, bool isDownload, const Context & context) const
  {
    const auto getWidth = [&](size_t rows) { // bytes that one state of the lines takes
      const DeviceView lines = this->MakeLinesView(rows, 1, 1, nullptr);
      return MakeLineGeometry(lines, m_Axis).GetNumberOfLines() * 2 * CudaComponentSize(m_Type);
    };
    const size_t pitch = getWidth(this->GetRowsOfPlane());
    const size_t row = 2 * CudaComponentSize(m_Type) * this->MakeLinesView(1, 1, 1, nullptr).Stride[1];
    for (const RowGroup & group : m_Groups)
    {
      const size_t width = getWidth(group.Rows);
      void * const onHost = host.data() + group.FirstRow * row;
      void * const onDevice = pieces[group.Index];
      ITK_CUDA_CALL(cudaMemcpy2DAsync(isDownload ? onHost : onDevice,
                                      isDownload ? pitch : width,
                                      isDownload ? onDevice : onHost,
                                      isDownload ? width : pitch,
                                      width,
                                      host.size() / pitch,
                                      isDownload ? cudaMemcpyDeviceToHost : cudaMemcpyHostToDevice,
                                      context.GetStream()));
    }
  }

  std::shared_ptr<void>
  GetStartStates() override
  {
    const DeviceGuard guard(m_Devices.front());
    const Context &   context = m_Transport->GetContext(0);
    const auto        starts = std::make_shared<StartStates>();
    starts->reserve(2 * m_SplitPlan.Across.size() * this->GetNumberOfComponents());
    this->VisitStates([&](void * const * pieces, size_t bytes) {
      starts->emplace_back(bytes);
      this->CopyStates(pieces, starts->back(), true, context);
    });
    ITK_CUDA_CALL(cudaStreamSynchronize(context.GetStream()));
    return starts;
  }

  void
  SetStartStates(const std::shared_ptr<void> & starts) override
  {
    const DeviceGuard guard(m_Devices.front());
    const Context &   context = m_Transport->GetContext(0);
    auto              onHost = static_cast<StartStates *>(starts.get())->begin();
    this->VisitStates([&](void * const * pieces, size_t bytes) {
      this->CopyStates(pieces, *onHost++, false, context);
      m_ExtraBytesUp += bytes;
    });
    m_StartsReady->Record(context);
  }

  CudaSlabStates::StateBytes
  GetBytesOfStates() override
  {
    const DeviceGuard guard(m_Devices.front());
    this->WaitForSweep(m_Transport->GetContext(0));
    return *std::static_pointer_cast<StartStates>(this->GetStartStates());
  }

  void
  SetBytesOfStates(const CudaSlabStates::StateBytes & bytes) override
  {
    size_t i = 0;
    this->VisitStates([&](void * const *, size_t expected) { VerifyBytesOfStates(bytes, i++, expected); });
    // The bytes belong to m_States, which exists until the copies that are queued here have read them.
    this->SetStartStates(std::shared_ptr<void>(m_States, const_cast<StartStates *>(&bytes)));
  }

  const SplitPlan  m_SplitPlan;
  std::vector<int> m_Devices;       // one for each queue
  std::set<int>    m_UniqueDevices; // the different ones
  NonFiniteScan *  m_Scan;

  const std::vector<ResidentPart> m_Parts;

  std::vector<LineSchedule> m_Schedules; // of the passes across slabs, as for whole lines
  SlabMemory                m_Memory;
  std::vector<RowGroup>     m_Groups;
  std::map<int, size_t>     m_Allowed; // bytes of each device
  size_t                    m_PeakBytes{ 0 };

  std::unique_ptr<SlabTransport> m_Transport;
  bool                           m_WritesInput{ false };
  std::optional<Event>           m_FirstPlaneKept, m_StartsReady; // of the first queue
  std::vector<QueueMemory>       m_Queues;
  std::vector<Event>             m_EndStatesReady, m_Computed; // indexed by slab
  uint64_t                       m_ExtraBytesUp{ 0 }, m_BytesBetween{ 0 };
};
} // namespace

std::unique_ptr<SlabRun>
MakeDeviceSlabRun(const SlabRunArguments & arguments)
{
  try
  {
    return std::make_unique<DeviceSlabRun>(arguments);
  }
  catch (const CudaError & error)
  {
    if (error.GetKind() == CudaError::Kind::OutOfMemory && arguments.Parts.empty())
    {
      if (auto run = MakeLinesThenPlanesRun(arguments))
      {
        return run;
      }
    }
    throw;
  }
}

std::optional<CudaSlabReport>
TryOverlappedSlabs(const CudaGaussianPlan &     plan,
                   const CudaImageView &        input,
                   const CudaImageView &        output,
                   const std::vector<int> &     devices,
                   const CudaProgressFunction & progress,
                   NonFiniteScan *              scan)
{
  const bool   isCut = !plan.Mask && plan.Boundary.Mode == CudaFiltersEnums::BoundaryMode::Nearest;
  const size_t bytes = std::min(input.GetNumberOfBytes(), output.GetNumberOfBytes());
  if (!isCut || bytes < MinimumBytesOfOverlap)
  {
    return std::nullopt;
  }
  CudaSlabOptions options;
  options.Devices = devices;
  options.DeviceMemoryLimit = GetBytesWithoutSlabs(plan, input, output);
  const SlabEndpoints          endpoints{ input, output, {} };
  std::optional<DeviceSlabRun> run;
  try
  {
    run.emplace(SlabRunArguments{ plan, endpoints, options, progress, scan });
  }
  catch (const CudaError & error)
  {
    if (error.GetKind() != CudaError::Kind::OutOfMemory)
    {
      throw;
    }
    return std::nullopt; // slabs would take more memory than the whole image
  }
  if (!run->IsWorthOverlapping())
  {
    return std::nullopt;
  }
  run->Next(); // no planes, but the output is complete
  CudaSlabReport report = run->GetReport();
  report.Used = CudaSlabReport::Overlapped;
  return report;
}
} // namespace itk::cuda::gaussian
