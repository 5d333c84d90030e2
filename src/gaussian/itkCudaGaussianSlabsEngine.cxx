// SPDX-License-Identifier: Apache-2.0
#include "itkCudaCall.h"
#include "itkCudaComputeType.h"
#include "itkCudaDevice.h"
#include "itkCudaError.h"
#include "itkCudaFiltersConfiguration.h"
#include "itkCudaFormatBytes.h"
#include "itkCudaGaussianPlanParts.h"
#include "itkCudaGaussianSlabs.h"
#include "itkCudaGaussianSlabsDevice.h"
#include "itkCudaGaussianSlabsTuning.h"
#include "itkCudaMemoryQuery.h"
#include "itkCudaPinnedTransfer.h"
#include "itkCudaSlabStream.h"
#include "itkCudaTransfer.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace itk::cuda::gaussian
{
namespace
{
/** A load, and its chunks of the image. */
struct ChunkRange
{
  size_t Begin, End;
};

/** What fits on the device, of what a run asks for. */
struct SlabMemory
{
  SlabLaneSizes Lane;
  size_t        PiecePlanes{ 1 }; // that the passes within planes take at a time
  size_t        StateSets{ 1 };   // loads whose totals are kept
  size_t        BytesOfLane{ 0 };
  size_t        BytesOfRun{ 0 }; // beside the lanes'
};

class DeviceSlabs : public SlabWork
{
public:
  DeviceSlabs(const CudaGaussianPlan &     plan,
              const SlabEnds &             ends,
              const CudaSlabOptions &      options,
              const CudaProgressFunction & progress)
    : m_Plan(plan)
    , m_Run(MakeSlabRun(plan, ends.Input, ends.Output, options))
    , m_Axis(m_Run.Shape.Axis)
    , m_Ends{ ends.Input, ends.Output, ends.Source, ends.Sink, m_Axis }
    , m_Type(cuda::GetComputeType(ends.Input, ends.Output))
    , m_Parts(CutPlan(plan, m_Run.Shape))
    , m_States(options.States)
    , m_Devices(options.Devices)
    , m_Progress(progress)
  {
    if (m_Devices.empty())
    {
      m_Devices.push_back(CudaFiltersConfiguration::GetDeviceIndex());
    }
    for (const int device : m_Devices)
    {
      if (device != m_Devices.front())
      {
        itkGenericExceptionMacro(<< "Devices of the slabs' options are " << m_Devices.front() << " and " << device
                                 << "; they must be one device, once or several times");
      }
      RequireUsable(device);
    }
    m_Run.ChunksPerSlab = options.ChunksPerSlab > 0 ? options.ChunksPerSlab : this->ChooseChunksPerSlab();
    this->MakeLoads();
    this->MakeSchedules();
    this->Fit(options.DeviceMemoryLimit);
  }

  CudaSlabReport
  Run()
  {
    const bool        hasStates = m_States && m_States->FoundBy == CudaSlabStates::Device;
    const bool        sweepsFirst = m_Run.Shape.NeedsAllChunks && !(hasStates && !m_States->Starts.empty());
    const DeviceGuard guard(m_Devices.front());
    SlabStream        stream(m_Devices, m_Ends, m_Memory.Lane);
    m_Stream = &stream;
    try
    {
      this->Allocate();
      if (hasStates)
      {
        this->UploadFirstPlane(MakePlanesView(m_Ends.Input, m_Axis, 1, m_States->FirstPlane.data()));
      }
      else if (!sweepsFirst && m_FilterLoads.front().FirstPlane > 0)
      {
        this->AskForFirstPlane();
      }
      if (sweepsFirst)
      {
        m_Sweeps = true;
        stream.Run(m_SweepLoads, *this, this->GetPart(0.0f, 0.4f));
        m_Sweeps = false;
        this->ScanAll();
      }
      else if (m_Run.Shape.NeedsAllChunks)
      {
        this->UploadStates();
      }
      m_WritesInput = m_Ends.Input.Data && m_Ends.Input.Data == m_Ends.Output.Data;
      stream.Run(m_FilterLoads, *this, this->GetPart(sweepsFirst ? 0.4f : 0.0f, 1.0f));
      if (m_States && !hasStates)
      {
        this->DownloadFirstPlane();
      }
      stream.Drain();
    }
    catch (const CudaError & error)
    {
      stream.Drain();
      if (error.GetKind() == CudaError::Kind::OutOfMemory && m_WritesInput)
      {
        // Some of the input may be lost, so the host cannot take over.
        throw CudaError(error.GetFile(), error.GetLine(), CudaError::Kind::CallFailed, error.GetDescription());
      }
      throw;
    }
    catch (...)
    {
      stream.Drain(); // memory of this object is released in the order of one stream
      throw;
    }
    m_Stream = nullptr;
    return this->MakeReport(stream);
  }

  /** Whether the run is expected to take less time than an upload, the passes and a download after each other. */
  bool
  IsWorthOverlapping(const OverlapLimits & limits) const
  {
    const auto slabs = static_cast<double>(m_FilterLoads.size());
    return !m_Run.Shape.NeedsAllChunks && slabs + static_cast<double>(m_LoadsAhead) + 1 <= limits.MostTurns * slabs;
  }

  void
  Arrive(size_t load, size_t lane, const DeviceView & planes) override
  {
    const Context &    context = m_Stream->GetContext(lane);
    const ChunkRange & chunks = (m_Sweeps ? m_SweepChunks : m_FilterChunks)[load];
    if (chunks.Begin == 0 && !m_HasFirstPlane)
    {
      this->KeepFirstPlane(planes, context);
    }
    if (lane > 0 || m_Devices.size() > 1)
    {
      m_FirstPlaneKept->MakeWait(context);
    }
    if (m_Run.Shape.NeedsAllChunks && !m_Sweeps)
    {
      return; // the states are known
    }
    this->WaitForReaders(load, context);
    for (size_t component = 0; component < this->GetNumberOfComponents(); ++component)
    {
      for (size_t i = 0; i < m_Parts.Across.size(); ++i)
      {
        const CudaGaussianLinePass & pass = m_Parts.Across[i];
        const DeviceView             source = GetComponentOf(planes, component);
        const LineCut                cut = this->GetCut(chunks, component);
        RunChunkTotals(
          pass, m_Schedules[i], { source, source, source, source }, cut, this->GetTotals(component, i, load), context);
        if (chunks.End == m_Run.Shape.NumberOfChunks)
        {
          RunEdgeStates(pass, source, cut, this->GetEdges(component, i), context);
        }
      }
    }
    m_Arrived[load].Record(context);
  }

  void
  Compute(size_t load, size_t lane, const DeviceView & planes, const DeviceView & result) override
  {
    const Context &    context = m_Stream->GetContext(lane);
    const ChunkRange & chunks = m_FilterChunks[load];
    if (m_Devices.size() > 1 && !m_Run.Shape.NeedsAllChunks)
    {
      for (size_t other = load - std::min(load, m_LoadsAhead); other <= m_FilterLoads[load].Needs; ++other)
      {
        m_Arrived[other].MakeWait(context);
      }
    }
    for (size_t component = 0; component < this->GetNumberOfComponents(); ++component)
    {
      this->FilterAcross(chunks, component, lane, planes, result);
      this->FilterWithin(component, lane, planes, result);
    }
    m_Computed[load].Record(context);
  }

private:
  struct LaneMemory
  {
    DeviceBuffer        Memory;
    std::vector<void *> Buffers;       // of results across slabs
    std::vector<void *> Intermediates; // of pieces
    void *              Starts{ nullptr };
    void *              Workspace{ nullptr };
    size_t              WorkspaceBytes{ 0 };
  };

  static void
  RequireUsable(int device)
  {
    std::string reason;
    if (!CudaFiltersConfiguration::IsDeviceUsable(device, reason))
    {
      throw CudaError(__FILE__, __LINE__, CudaError::Kind::NotUsable, reason);
    }
  }

  size_t
  GetNumberOfComponents() const
  {
    return m_Ends.Input.NumberOfComponents;
  }

  static DeviceView
  GetComponentOf(const DeviceView & view, size_t component)
  {
    DeviceView part = view;
    part.Data =
      static_cast<unsigned char *>(view.Data) + component * view.Stride.back() * CudaComponentSize(view.ComponentType);
    part.Size.back() = 1;
    return part;
  }

  /** Planes of one component, as an image of its own. */
  DeviceView
  GetPieceOf(const DeviceView & component, size_t first, size_t planes) const
  {
    DeviceView piece = GetSlabPlanes(component, m_Axis, first, planes);
    for (unsigned int d = std::max(m_Axis + 1, 2u); d < DeviceView::NumberOfAxes; ++d)
    {
      piece.Stride[d] = piece.Stride[d - 1] * piece.Size[d - 1];
    }
    return piece;
  }

  /** One component of `planes` planes at `data`. */
  DeviceView
  MakePieceView(size_t planes, void * data) const
  {
    CudaImageView shape = m_Ends.Input;
    shape.NumberOfComponents = 1;
    return MakeSlabView(shape, m_Axis, planes, m_Type, data);
  }

  size_t
  GetPlanesOfSlab() const
  {
    return std::min(m_Run.ChunksPerSlab * m_Run.Shape.ChunkLength, m_Run.Shape.NumberOfPlanes);
  }

  size_t
  ChooseChunksPerSlab() const
  {
    const size_t bytes =
      std::max<size_t>(1, m_Run.Shape.ChunkLength * std::max(m_Run.BytesOfInputPlane, m_Run.BytesOfOutputPlane));
    const size_t chunks = m_Run.EndChunk - m_Run.FirstChunk;
    return std::clamp<size_t>(DivideUp(BytesOfTurn, bytes), 1, std::max<size_t>(1, chunks / FewestSlabs));
  }

  // Loads.

  std::vector<SlabLoad>
  MakeLoadsOf(const std::vector<ChunkRange> & ranges, bool haveResults) const
  {
    std::vector<SlabLoad> loads;
    for (const ChunkRange & range : ranges)
    {
      SlabLoad load;
      load.FirstPlane = m_Run.GetFirstPlane(range.Begin);
      load.Planes = m_Run.GetNumberOfPlanes(range.Begin, range.End);
      load.HasResult = haveResults && range.Begin >= m_Run.FirstChunk && range.Begin < m_Run.EndChunk;
      const size_t reach = m_Run.Shape.NeedsAllChunks ? 0 : m_Run.Shape.LookAhead;
      load.Needs = loads.size();
      while (load.Needs + 1 < ranges.size() && ranges[load.Needs + 1].Begin < range.End + reach)
      {
        ++load.Needs;
      }
      loads.push_back(load);
    }
    return loads;
  }

  void
  MakeLoads()
  {
    const auto divide = [&](size_t begin, size_t end, std::vector<ChunkRange> & ranges) {
      for (size_t first = begin; first < end; first += m_Run.ChunksPerSlab)
      {
        ranges.push_back({ first, std::min(first + m_Run.ChunksPerSlab, end) });
      }
    };
    divide(m_Run.GetLoadBegin(), m_Run.FirstChunk, m_FilterChunks);
    divide(m_Run.FirstChunk, m_Run.EndChunk, m_FilterChunks);
    divide(m_Run.EndChunk, m_Run.GetLoadEnd(), m_FilterChunks);
    m_FilterLoads = this->MakeLoadsOf(m_FilterChunks, true);
    if (m_Run.Shape.NeedsAllChunks)
    {
      divide(0, m_Run.Shape.NumberOfChunks, m_SweepChunks);
      m_SweepLoads = this->MakeLoadsOf(m_SweepChunks, false);
    }
    m_LoadsAhead = 0;
    for (size_t load = 0; load < m_FilterLoads.size(); ++load)
    {
      m_LoadsAhead = std::max(m_LoadsAhead, m_FilterLoads[load].Needs - load);
    }
  }

  /** As for the whole image. */
  void
  MakeSchedules()
  {
    // Aligned as all images of the run.
    const DeviceView slab = this->MakePieceView(this->GetPlanesOfSlab(), nullptr);
    LineCut          cut;
    cut.WholeLength = m_Run.Shape.NumberOfPlanes;
    for (const CudaGaussianLinePass & pass : m_Parts.Across)
    {
      m_Schedules.push_back(GetLineSchedule(pass, { slab, slab, slab, slab }, m_Devices.front(), cut));
    }
  }

  // Memory.

  /** Sizes of pieces and places with which the run takes the least that is not slow, or less. */
  SlabMemory
  GetMemory(size_t slotsToSpare, size_t results, size_t pieceBytes) const
  {
    const size_t lanes = m_Devices.size();
    SlabMemory   memory;
    memory.Lane.Type = m_Type;
    memory.Lane.Planes = this->GetPlanesOfSlab();
    memory.Lane.Slots =
      std::min(DivideUp(m_LoadsAhead + 1, lanes) + slotsToSpare,
               std::max<size_t>(1, DivideUp(std::max(m_FilterLoads.size(), m_SweepLoads.size()), lanes)));
    memory.Lane.Results = results;
    const size_t plane = GetNumberOfBytes(this->MakePieceView(1, nullptr));
    memory.PiecePlanes = m_Axis == 0
                           ? memory.Lane.Planes
                           : std::clamp<size_t>(pieceBytes / std::max<size_t>(1, plane), 1, memory.Lane.Planes);
    const size_t loads = m_Run.Shape.NeedsAllChunks ? m_SweepLoads.size() : m_FilterLoads.size();
    memory.StateSets =
      m_Run.Shape.NeedsAllChunks ? loads : std::min(loads, lanes * memory.Lane.Slots + 2 * m_LoadsAhead + 1);

    const size_t slab = Workspace::GetPieceSize(GetNumberOfBytes(this->MakePieceView(memory.Lane.Planes, nullptr)));
    const size_t piece = Workspace::GetPieceSize(GetNumberOfBytes(this->MakePieceView(memory.PiecePlanes, nullptr)));
    memory.BytesOfLane = GetSlabLaneBytes(m_Ends, memory.Lane) + m_Parts.Buffers * slab +
                         m_Parts.Intermediates.size() * piece + this->GetStartBytes() +
                         this->GetWithinWorkspace(memory.PiecePlanes);
    memory.BytesOfRun = Workspace::GetPieceSize(this->GetNumberOfComponents() * plane);
    for (size_t i = 0; i < m_Parts.Across.size(); ++i)
    {
      memory.BytesOfRun +=
        this->GetNumberOfComponents() *
        (Workspace::GetPieceSize(memory.StateSets * this->GetStateSetBytes(i)) +
         Workspace::GetPieceSize(GetEdgeStateBytes(m_Parts.Across[i], this->MakePieceView(1, nullptr))));
    }
    return memory;
  }

  /** Of the chunks of a load, for one component and pass. */
  size_t
  GetStateSetBytes(size_t pass) const
  {
    return m_Run.ChunksPerSlab * GetChunkStateBytes(m_Parts.Across[pass], this->MakePieceView(1, nullptr));
  }

  size_t
  GetStartBytes() const
  {
    size_t bytes = 0;
    for (size_t i = 0; i < m_Parts.Across.size(); ++i)
    {
      bytes = std::max(bytes, this->GetStateSetBytes(i));
    }
    return Workspace::GetPieceSize(bytes);
  }

  size_t
  GetWithinWorkspace(size_t planes) const
  {
    if (m_Parts.Within.Passes.empty())
    {
      return 0;
    }
    const std::vector<DeviceView> images(m_Parts.Within.NumberOfImages, this->MakePieceView(planes, nullptr));
    return Workspace::GetPieceSize(GetPlanWorkspace(m_Parts.Within, images, m_Devices.front()));
  }

  void
  Fit(size_t limit)
  {
    const size_t available = cuda::GetAvailableDeviceMemory(m_Devices.front());
    const size_t allowed = limit == 0 ? available : std::min(limit, available);
    SlabMemory   memory;
    size_t       bytes = 0;
    for (const size_t spare : { 1, 0 })
    {
      for (const size_t results : { 2, 1 })
      {
        for (size_t piece = MostPieceBytes; piece >= LeastPieceBytes; piece /= 2)
        {
          memory = this->GetMemory(spare, results, piece);
          bytes = memory.BytesOfRun + m_Devices.size() * memory.BytesOfLane;
          if (bytes <= allowed)
          {
            m_Memory = memory;
            m_PeakBytes = bytes;
            return;
          }
        }
      }
    }
    throw CudaError(__FILE__,
                    __LINE__,
                    CudaError::Kind::OutOfMemory,
                    "not enough memory on device " + std::to_string(m_Devices.front()) + " for slabs of " +
                      std::to_string(this->GetPlanesOfSlab()) + " planes: asked: " + std::to_string(bytes) +
                      " bytes (" + cuda::FormatBytes(bytes) + "), allowed: " + std::to_string(allowed) + " bytes (" +
                      cuda::FormatBytes(allowed) + ")");
  }

  void
  Allocate()
  {
    const Context & context = m_Stream->GetContext(0);
    m_RunMemory = DeviceBuffer(m_Memory.BytesOfRun, context);
    Workspace    memory(m_RunMemory.GetPointer(), m_Memory.BytesOfRun);
    const size_t plane = GetNumberOfBytes(this->MakePieceView(1, nullptr));
    m_FirstPlane = memory.Take(this->GetNumberOfComponents() * plane);
    for (size_t component = 0; component < this->GetNumberOfComponents(); ++component)
    {
      for (size_t i = 0; i < m_Parts.Across.size(); ++i)
      {
        m_Totals.push_back(memory.Take(m_Memory.StateSets * this->GetStateSetBytes(i)));
        m_Edges.push_back(memory.Take(GetEdgeStateBytes(m_Parts.Across[i], this->MakePieceView(1, nullptr))));
      }
    }
    for (size_t lane = 0; lane < m_Devices.size(); ++lane)
    {
      this->AllocateLane(m_Stream->GetContext(lane));
    }
    const size_t loads = std::max(m_FilterLoads.size(), m_SweepLoads.size());
    m_FirstPlaneKept.emplace();
    m_Arrived.resize(loads);
    m_Computed.resize(loads);
    m_FirstPlaneKept->Record(context); // the memory is there for other lanes
  }

  void
  AllocateLane(const Context & context)
  {
    const size_t slab = GetNumberOfBytes(this->MakePieceView(m_Memory.Lane.Planes, nullptr));
    const size_t piece = GetNumberOfBytes(this->MakePieceView(m_Memory.PiecePlanes, nullptr));
    const size_t workspace = this->GetWithinWorkspace(m_Memory.PiecePlanes);
    const size_t bytes = m_Parts.Buffers * Workspace::GetPieceSize(slab) +
                         m_Parts.Intermediates.size() * Workspace::GetPieceSize(piece) + this->GetStartBytes() +
                         workspace;
    LaneMemory lane;
    lane.Memory = DeviceBuffer(bytes, context);
    Workspace memory(lane.Memory.GetPointer(), bytes);
    for (size_t i = 0; i < m_Parts.Buffers; ++i)
    {
      lane.Buffers.push_back(memory.Take(slab));
    }
    for (size_t i = 0; i < m_Parts.Intermediates.size(); ++i)
    {
      lane.Intermediates.push_back(memory.Take(piece));
    }
    lane.Starts = memory.Take(this->GetStartBytes());
    lane.Workspace = memory.Take(workspace);
    lane.WorkspaceBytes = workspace;
    m_Lanes.push_back(std::move(lane));
  }

  // The first plane.

  DeviceView
  GetFirstPlane(size_t component) const
  {
    const DeviceView view = this->MakePieceView(1, m_FirstPlane);
    return this->MakePieceView(1, static_cast<unsigned char *>(m_FirstPlane) + component * GetNumberOfBytes(view));
  }

  void
  KeepFirstPlane(const DeviceView & planes, const Context & context)
  {
    for (size_t component = 0; component < this->GetNumberOfComponents(); ++component)
    {
      const DeviceView to = this->GetFirstPlane(component);
      ITK_CUDA_CALL(cudaMemcpyAsync(to.Data,
                                    GetComponentOf(planes, component).Data,
                                    GetNumberOfBytes(to),
                                    cudaMemcpyDeviceToDevice,
                                    context.GetStream()));
    }
    m_FirstPlaneKept->Record(context);
    m_HasFirstPlane = true;
  }

  void
  UploadFirstPlane(const CudaImageView & plane)
  {
    const Context & context = m_Stream->GetContext(0);
    Upload(plane, MakeSlabView(m_Ends.Input, m_Axis, 1, m_Type, m_FirstPlane), context, nullptr);
    m_FirstPlaneKept->Record(context);
    m_HasFirstPlane = true;
    m_ExtraBytesUp += m_Run.BytesOfInputPlane;
  }

  void
  AskForFirstPlane()
  {
    if (!m_Ends.Source)
    {
      this->UploadFirstPlane(GetPlanes(m_Ends.Input, m_Axis, 0, 1));
      return;
    }
    std::vector<unsigned char> pixels(m_Run.BytesOfInputPlane);
    m_Ends.Source(0, 1, pixels.data());
    this->UploadFirstPlane(MakePlanesView(m_Ends.Input, m_Axis, 1, pixels.data()));
  }

  void
  DownloadFirstPlane()
  {
    const DeviceView plane = MakeSlabView(m_Ends.Input, m_Axis, 1, m_Type, m_FirstPlane);
    m_States->FirstPlane.resize(m_Run.BytesOfInputPlane);
    Download(
      plane, MakePlanesView(m_Ends.Input, m_Axis, 1, m_States->FirstPlane.data()), m_Stream->GetContext(0), nullptr);
    m_States->FoundBy = CudaSlabStates::Device;
  }

  // Passes across slabs.

  LineCut
  GetCut(const ChunkRange & chunks, size_t component) const
  {
    LineCut cut;
    cut.WholeLength = m_Run.Shape.NumberOfPlanes;
    cut.First = this->GetFirstPlane(component);
    cut.EndIsCut = chunks.End < m_Run.Shape.NumberOfChunks;
    return cut;
  }

  size_t
  GetPassIndex(size_t component, size_t pass) const
  {
    return component * m_Parts.Across.size() + pass;
  }

  unsigned char *
  GetTotals(size_t component, size_t pass, size_t load) const
  {
    return static_cast<unsigned char *>(m_Totals[this->GetPassIndex(component, pass)]) +
           load % m_Memory.StateSets * this->GetStateSetBytes(pass);
  }

  void *
  GetEdges(size_t component, size_t pass) const
  {
    return m_Edges[this->GetPassIndex(component, pass)];
  }

  /** The states of one chunk; nullptr if it is no chunk of the image. */
  const void *
  GetStatesOfChunk(size_t component, size_t pass, std::ptrdiff_t chunk) const
  {
    const auto & ranges = m_Run.Shape.NeedsAllChunks ? m_SweepChunks : m_FilterChunks;
    for (size_t load = 0; load < ranges.size(); ++load)
    {
      if (chunk >= static_cast<std::ptrdiff_t>(ranges[load].Begin) &&
          chunk < static_cast<std::ptrdiff_t>(ranges[load].End))
      {
        const size_t bytes = this->GetStateSetBytes(pass) / m_Run.ChunksPerSlab;
        return this->GetTotals(component, pass, load) + (chunk - ranges[load].Begin) * bytes;
      }
    }
    return nullptr;
  }

  /** Before a load's totals take the place of older ones, the work that reads those must be done. */
  void
  WaitForReaders(size_t load, const Context & context)
  {
    if (m_Devices.size() == 1 || m_Sweeps || load < m_Memory.StateSets)
    {
      return;
    }
    const size_t older = load - m_Memory.StateSets;
    for (size_t reader = older - std::min(older, m_LoadsAhead); reader <= older + m_LoadsAhead; ++reader)
    {
      m_Computed[reader].MakeWait(context);
    }
  }

  /** The states with which sweeps enter a load's chunks. */
  const void *
  MakeStarts(const ChunkRange & chunks, size_t component, size_t pass, size_t lane, const DeviceView & source)
  {
    if (m_Schedules[pass].LookAhead == 0 && m_Run.Shape.NeedsAllChunks)
    {
      return this->GetStatesOfChunk(component, pass, static_cast<std::ptrdiff_t>(chunks.Begin));
    }
    const size_t bytes = this->GetStateSetBytes(pass) / m_Run.ChunksPerSlab;
    for (size_t chunk = chunks.Begin; chunk < chunks.End; ++chunk)
    {
      ChunkNeighbours neighbours{
        chunk, m_Run.Shape.NumberOfChunks, m_Run.Shape.NumberOfPlanes, this->GetEdges(component, pass)
      };
      for (unsigned int i = 0; i < MaximumLookAhead; ++i)
      {
        const auto at = static_cast<std::ptrdiff_t>(chunk);
        neighbours.Before[i] = this->GetStatesOfChunk(component, pass, at - 1 - static_cast<std::ptrdiff_t>(i));
        neighbours.Behind[i] = this->GetStatesOfChunk(component, pass, at + 1 + static_cast<std::ptrdiff_t>(i));
      }
      RunChunkStarts(m_Parts.Across[pass],
                     m_Schedules[pass],
                     source,
                     neighbours,
                     static_cast<unsigned char *>(m_Lanes[lane].Starts) + (chunk - chunks.Begin) * bytes,
                     m_Stream->GetContext(lane));
    }
    return m_Lanes[lane].Starts;
  }

  void
  FilterAcross(const ChunkRange & chunks,
               size_t             component,
               size_t             lane,
               const DeviceView & planes,
               const DeviceView & result)
  {
    const DeviceView source = GetComponentOf(planes, component);
    for (size_t i = 0; i < m_Parts.Across.size(); ++i)
    {
      const void * const      starts = this->MakeStarts(chunks, component, i, lane, source);
      std::vector<DeviceView> images{ source };
      for (const AcrossResult & made : m_Parts.Results[i])
      {
        images.push_back(this->GetAcross(made, component, lane, source, result));
      }
      RunChunksFromStates(
        m_Parts.Across[i], m_Schedules[i], images, this->GetCut(chunks, component), starts, m_Stream->GetContext(lane));
    }
  }

  /** The planes of a result across slabs. */
  DeviceView
  GetAcross(const AcrossResult & made,
            size_t               component,
            size_t               lane,
            const DeviceView &   source,
            const DeviceView &   result) const
  {
    switch (made.Place)
    {
      case AcrossPlace::Output:
        return GetComponentOf(result, component * m_Plan.Results.size() + made.Index);
      case AcrossPlace::Source:
        return source;
      default:
        DeviceView view = source;
        view.Data = m_Lanes[lane].Buffers[made.Index];
        return view;
    }
  }

  // Passes within planes.

  void
  FilterWithin(size_t component, size_t lane, const DeviceView & planes, const DeviceView & result)
  {
    if (m_Parts.Within.Passes.empty() && m_Parts.Within.Rotation.empty())
    {
      return;
    }
    const LaneMemory & memory = m_Lanes[lane];
    const size_t       number = planes.Size[m_Axis];
    for (size_t first = 0; first < number; first += m_Memory.PiecePlanes)
    {
      const size_t            count = std::min(m_Memory.PiecePlanes, number - first);
      std::vector<DeviceView> images(m_Parts.Within.NumberOfImages, this->MakePieceView(count, nullptr));
      const DeviceView        source = GetComponentOf(planes, component);
      images[m_Parts.Raw] = this->GetPieceOf(source, first, count);
      for (const auto & ofPass : m_Parts.Results)
      {
        for (const AcrossResult & made : ofPass)
        {
          images[made.Image] = this->GetPieceOf(this->GetAcross(made, component, lane, source, result), first, count);
        }
      }
      for (size_t i = 0; i < m_Parts.Intermediates.size(); ++i)
      {
        images[m_Parts.Intermediates[i]].Data = memory.Intermediates[i];
      }
      for (size_t r = 0; r < m_Parts.Within.Results.size(); ++r)
      {
        images[m_Parts.Within.Results[r]] =
          this->GetPieceOf(GetComponentOf(result, component * m_Plan.Results.size() + r), first, count);
      }
      RunPlan(m_Parts.Within, images, { memory.Workspace, memory.WorkspaceBytes }, m_Stream->GetContext(lane));
    }
  }

  // Two sweeps.

  /** From the totals of all chunks to their start states, for passes that need all. */
  void
  ScanAll()
  {
    const Context & context = m_Stream->GetContext(0);
    for (const Event & arrived : m_Arrived)
    {
      arrived.MakeWait(context);
    }
    const DeviceView plane = this->MakePieceView(1, nullptr);
    for (size_t component = 0; component < this->GetNumberOfComponents(); ++component)
    {
      for (size_t i = 0; i < m_Parts.Across.size(); ++i)
      {
        if (m_Schedules[i].LookAhead == 0)
        {
          const ChunkNeighbours line{
            0, m_Run.Shape.NumberOfChunks, m_Run.Shape.NumberOfPlanes, this->GetEdges(component, i)
          };
          RunAllStarts(m_Parts.Across[i], m_Schedules[i], plane, line, this->GetTotals(component, i, 0), context);
        }
      }
    }
    m_FirstPlaneKept->Record(context); // other lanes wait for it before they read states
    if (m_States)
    {
      this->DownloadStates(context);
    }
  }

  size_t
  GetAllStateBytes(size_t pass) const
  {
    return m_Run.Shape.NumberOfChunks * this->GetStateSetBytes(pass) / m_Run.ChunksPerSlab;
  }

  void
  DownloadStates(const Context & context)
  {
    const auto download = [&](const void * from, size_t bytes) {
      std::vector<unsigned char> copy(bytes);
      ITK_CUDA_CALL(cudaMemcpyAsync(copy.data(), from, bytes, cudaMemcpyDeviceToHost, context.GetStream()));
      m_States->Starts.push_back(std::move(copy));
    };
    m_States->Starts.clear();
    m_States->Starts.reserve(2 * m_Totals.size());
    for (size_t index = 0; index < m_Totals.size(); ++index)
    {
      const size_t pass = index % m_Parts.Across.size();
      download(m_Totals[index], this->GetAllStateBytes(pass));
      download(m_Edges[index], GetEdgeStateBytes(m_Parts.Across[pass], this->MakePieceView(1, nullptr)));
    }
    ITK_CUDA_CALL(cudaStreamSynchronize(context.GetStream()));
  }

  void
  UploadStates()
  {
    const Context & context = m_Stream->GetContext(0);
    for (size_t index = 0; index < m_Totals.size(); ++index)
    {
      const auto upload = [&](void * to, const std::vector<unsigned char> & from) {
        ITK_CUDA_CALL(cudaMemcpyAsync(to, from.data(), from.size(), cudaMemcpyHostToDevice, context.GetStream()));
        m_ExtraBytesUp += from.size();
      };
      upload(m_Totals[index], m_States->Starts[2 * index]);
      upload(m_Edges[index], m_States->Starts[2 * index + 1]);
    }
    m_FirstPlaneKept->Record(context);
  }

  // The rest.

  CudaProgressFunction
  GetPart(float begin, float end) const
  {
    return [this, begin, end](float done) {
      if (m_Progress)
      {
        m_Progress(begin + (end - begin) * done);
      }
    };
  }

  CudaSlabReport
  MakeReport(const SlabStream & stream) const
  {
    CudaSlabReport report;
    report.Used = m_Run.Shape.NeedsAllChunks ? CudaSlabReport::TwoSweeps : CudaSlabReport::OneSweep;
    report.NumberOfSlabs = m_Run.GetNumberOfSlabs();
    report.ChunksPerSlab = m_Run.ChunksPerSlab;
    report.LookAhead = m_Run.Shape.LookAhead;
    report.Devices = m_Devices;
    report.BytesUp = stream.GetBytesUp() + m_ExtraBytesUp;
    report.BytesDown = stream.GetBytesDown();
    report.PeakDeviceBytes = m_PeakBytes;
    return report;
  }

  const CudaGaussianPlan &              m_Plan;
  SlabRun                               m_Run;
  const unsigned int                    m_Axis;
  const SlabHostEnds                    m_Ends;
  const CudaComponentType               m_Type;
  const PlanParts                       m_Parts;
  const std::shared_ptr<CudaSlabStates> m_States;
  std::vector<int>                      m_Devices; // one for each lane
  const CudaProgressFunction &          m_Progress;

  std::vector<ChunkRange>   m_FilterChunks, m_SweepChunks; // of each load
  std::vector<SlabLoad>     m_FilterLoads, m_SweepLoads;
  size_t                    m_LoadsAhead{ 0 };
  std::vector<LineSchedule> m_Schedules; // of the passes across slabs, as for whole lines
  SlabMemory                m_Memory;
  size_t                    m_PeakBytes{ 0 };

  SlabStream *            m_Stream{ nullptr };
  bool                    m_Sweeps{ false }; // for the totals of all chunks
  bool                    m_WritesInput{ false };
  DeviceBuffer            m_RunMemory;
  void *                  m_FirstPlane{ nullptr };
  bool                    m_HasFirstPlane{ false };
  std::optional<Event>    m_FirstPlaneKept;  // made on the run's device
  std::vector<void *>     m_Totals, m_Edges; // by component and pass
  std::vector<LaneMemory> m_Lanes;
  std::vector<Event>      m_Arrived, m_Computed; // by load
  uint64_t                m_ExtraBytesUp{ 0 };
};
} // namespace

CudaSlabReport
RunGaussianSlabsOnDevices(const CudaGaussianPlan &     plan,
                          const SlabEnds &             ends,
                          const CudaSlabOptions &      options,
                          const CudaProgressFunction & progress)
{
  std::optional<DeviceSlabs> run;
  try
  {
    run.emplace(plan, ends, options, progress);
  }
  catch (const CudaError & error)
  {
    if (error.GetKind() == CudaError::Kind::OutOfMemory)
    {
      if (const auto report = TryColumns(plan, ends, options, progress))
      {
        return *report;
      }
    }
    throw;
  }
  return run->Run();
}

std::optional<CudaSlabReport>
TryOverlapped(const CudaGaussianPlan &     plan,
              const CudaImageView &        input,
              const CudaImageView &        output,
              int                          device,
              const CudaProgressFunction & progress)
{
  const bool   isCut = !plan.Mask && plan.Boundary.Mode == CudaFiltersEnums::BoundaryMode::Nearest;
  const size_t bytes = std::min(input.GetNumberOfBytes(), output.GetNumberOfBytes());
  if (!isCut || bytes < std::min(OverlapOfPageLocked.LeastBytes, OverlapOfOrdinary.LeastBytes))
  {
    return std::nullopt;
  }
  const bool areLocked = IsPageLocked(StridedByteStream(input, 0)) && IsPageLocked(StridedByteStream(output, 0));
  const OverlapLimits & limits = areLocked ? OverlapOfPageLocked : OverlapOfOrdinary;
  if (bytes < limits.LeastBytes)
  {
    return std::nullopt;
  }
  CudaSlabOptions options;
  options.Devices = { device };
  options.DeviceMemoryLimit = CudaGaussianWorkingSet(plan, input, output);
  std::optional<DeviceSlabs> run;
  const SlabEnds             ends{ input, output, {}, {} };
  try
  {
    run.emplace(plan, ends, options, progress);
  }
  catch (const CudaError & error)
  {
    if (error.GetKind() != CudaError::Kind::OutOfMemory)
    {
      throw;
    }
    return std::nullopt; // slabs would take more than the whole image
  }
  if (!run->IsWorthOverlapping(limits))
  {
    return std::nullopt;
  }
  CudaSlabReport report = run->Run();
  report.Used = CudaSlabReport::Overlapped;
  return report;
}
} // namespace itk::cuda::gaussian
