// SPDX-License-Identifier: Apache-2.0
#include "runtime/run/SlabPipeline.h"

#include "runtime/device/Call.h"
#include "runtime/device/Device.h"
#include "runtime/image/HostLines.h"
#include "runtime/image/Math.h"
#include "runtime/transfer/Transfer.h"
#include "runtime/transfer/TransferLayout.h"
#include "runtime/transfer/UploadSequence.h"
#include "runtime/memory/Workspace.h"

#include <algorithm>
#include <utility>

namespace itk::cuda
{
namespace
{
/** Size of a piece, which is host memory between a callback and the link. A piece is larger only if a single plane is.
 */
constexpr size_t PieceBytes = size_t{ 16 } << 20;
constexpr size_t PiecesOfLane = 2; // for each direction, so that one is filled while the other is emptied

/** Exception that ends a thread when the run stops. */
struct Stopped
{};

/** Returns the number of planes per piece between a callback and the link. */
size_t
GetPlanesOfPiece(const CudaImageView & shape, unsigned int axis)
{
  return std::clamp<size_t>(PieceBytes / std::max<size_t>(1, GetBytesOfPlane(shape, axis)), 1, shape.Size[axis]);
}

/** Returns a view in which the components of an image with dense rows are pixels. */
CudaImageView
GetComponentsAsPixels(CudaImageView view)
{
  view.Size[0] *= view.NumberOfComponents;
  view.Stride[0] = 1;
  view.NumberOfComponents = 1;
  return view;
}

/** Returns source and destination in the form that the transfers of a lane use. */
SlabHostEnds
GetTransferEnds(const SlabHostEnds & ends, const SlabLaneSizes & sizes)
{
  if (!sizes.HoldsHostPixels)
  {
    return ends;
  }
  return { GetComponentsAsPixels(ends.Input), GetComponentsAsPixels(ends.Output), ends.Source, ends.Sink, ends.Axis };
}

/** Returns a view of planes of an image of GetTransferEnds() on a lane. */
DeviceView
MakeLaneView(const CudaImageView & shape, unsigned int axis, const SlabLaneSizes & sizes, size_t planes, void * data)
{
  if (!sizes.HoldsHostPixels)
  {
    return MakeSlabView(shape, axis, planes, sizes.Type, data);
  }
  DeviceView view;
  view.Data = data;
  view.ComponentType = shape.ComponentType;
  view.Size = GetPlanarSize(shape);
  view.Size[axis] = planes;
  for (unsigned int d = 1; d < DeviceView::NumberOfAxes; ++d)
  {
    view.Stride[d] = view.Stride[d - 1] * view.Size[d - 1];
  }
  return view;
}

size_t
GetLaneViewBytes(const CudaImageView & shape, unsigned int axis, const SlabLaneSizes & sizes, size_t planes)
{
  return Workspace::GetPieceSize(GetNumberOfBytes(MakeLaneView(shape, axis, sizes, planes, nullptr)));
}
} // namespace

bool
HaveDenseRows(const SlabHostEnds & ends)
{
  const auto isDense = [](const CudaImageView & view) {
    return view.Size[0] == 1 || view.Stride[0] == view.NumberOfComponents;
  };
  return ends.HasCallbacks() || (isDense(ends.Input) && isDense(ends.Output));
}

DeviceView
MakeSlabView(const CudaImageView & shape, unsigned int axis, size_t planes, CudaComponentType type, void * data)
{
  DeviceView view;
  view.Data = data;
  view.ComponentType = type;
  view.Size = GetPlanarSize(shape);
  view.Size[axis] = planes;
  view.Stride[1] = DeviceImage::GetRowPitch(view.Size[0], type) / CudaComponentSize(type);
  for (unsigned int d = 2; d < DeviceView::NumberOfAxes; ++d)
  {
    view.Stride[d] = view.Stride[d - 1] * view.Size[d - 1];
  }
  return view;
}

DeviceView
GetSlabPlanes(const DeviceView & view, unsigned int axis, size_t first, size_t planes)
{
  DeviceView part = view;
  part.Data =
    static_cast<unsigned char *>(view.Data) + first * view.Stride[axis] * CudaComponentSize(view.ComponentType);
  part.Size[axis] = planes;
  return part;
}

size_t
GetSlabLaneBytes(const SlabHostEnds & ends, const SlabLaneSizes & sizes)
{
  const auto transfer = [&](const CudaImageView & shape, size_t planes) {
    return sizes.HoldsHostPixels ? 0
                                 : Workspace::GetPieceSize(GetTransferWorkspace(
                                     MakePlanesView(shape, ends.Axis, planes, nullptr), sizes.Type));
  };
  const SlabHostEnds transferred = GetTransferEnds(ends, sizes);
  return sizes.Slots * GetLaneViewBytes(transferred.Input, ends.Axis, sizes, sizes.Planes) +
         sizes.Results * GetLaneViewBytes(transferred.Output, ends.Axis, sizes, sizes.ResultPlanes) +
         transfer(ends.Input, sizes.Planes) + transfer(ends.Output, sizes.ResultPlanes);
}

SlabStream::SlabStream(const std::vector<int> & devices, const SlabHostEnds & ends, const SlabLaneSizes & sizes)
  : m_Sizes(sizes)
  , m_Ends(GetTransferEnds(ends, sizes))
  , m_UpPiece(GetPlanesOfPiece(ends.Input, ends.Axis))
  , m_DownPiece(GetPlanesOfPiece(ends.Output, ends.Axis))
  , m_HasResultSequences(sizes.Results > 0 && !ends.HasCallbacks() && DownloadSequence::Suits(m_Ends.Output))
{
  for (const int device : devices)
  {
    this->MakeLane(device);
  }
}

SlabStream::~SlabStream()
{
  this->Drain();
}

/** Returns two if a lane holds at least two results and each of them is a single transfer to page-locked memory that
 * needs no device memory. Otherwise returns one. */
size_t
SlabStream::GetDownloadThreads() const
{
  const bool converts =
    !m_Sizes.HoldsHostPixels && m_Sizes.Results > 0 &&
    GetTransferWorkspace(MakePlanesView(m_Ends.Output, m_Ends.Axis, m_Sizes.ResultPlanes, nullptr), m_Sizes.Type) > 0;
  return m_Sizes.Results > 1 && !m_Ends.HasCallbacks() && !m_HasResultSequences && !converts ? 2 : 1;
}

const Context &
SlabStream::GetContext(size_t lane) const
{
  return m_Lanes[lane]->Work;
}

void
SlabStream::Drain() noexcept
{
  for (const auto & lane : m_Lanes)
  {
    DrainStream(lane->Up);
    DrainStream(lane->Work);
    for (const auto & downloads : lane->Down)
    {
      DrainStream(downloads->Stream);
    }
  }
}

void
SlabStream::MakeLane(int device)
{
  const DeviceGuard guard(device);
  m_Lanes.push_back(std::make_unique<Lane>(device));
  Lane &     lane = *m_Lanes.back();
  const bool sharesHost = m_Sizes.Results > 0;
  // Source and sink may need the threads of ITK's pool, so helper threads are not kept in this case.
  const bool keepsHelpers = !m_Ends.HasCallbacks();
  for (size_t i = 0; i < this->GetDownloadThreads(); ++i)
  {
    lane.Down.push_back(std::make_unique<Downloads>(device));
    Downloads & downloads = *lane.Down.back();
    downloads.Staging.SetSharesHost(sharesHost);
    downloads.Staging.SetHelpers(keepsHelpers ? &lane.DownHelpers : nullptr);
    if (!m_HasResultSequences)
    {
      downloads.Staging.SetTurn([this, &lane, &downloads] { this->AwaitTurn(lane, downloads.Number); });
    }
  }
  for (UploadStaging & staging : lane.UpStaging)
  {
    staging.GetChunks().SetSharesHost(sharesHost);
    staging.GetChunks().SetKeepsSlots(true);
    staging.GetChunks().SetHelpers(keepsHelpers ? &lane.UpHelpers : nullptr);
  }
  const size_t slotBytes = GetLaneViewBytes(m_Ends.Input, m_Ends.Axis, m_Sizes, m_Sizes.Planes);
  const size_t resultBytes = GetLaneViewBytes(m_Ends.Output, m_Ends.Axis, m_Sizes, m_Sizes.ResultPlanes);
  const size_t bytes = m_Sizes.Slots * slotBytes + m_Sizes.Results * resultBytes;
  lane.Memory = DeviceBuffer(bytes, lane.Work);
  Workspace memory(lane.Memory.GetPointer(), bytes);
  for (size_t i = 0; i < m_Sizes.Slots; ++i)
  {
    lane.Slots.push_back(std::make_unique<Slot>());
    Slot & slot = *lane.Slots.back();
    slot.Memory = memory.Take(slotBytes);
    ClearPadding(MakeLaneView(m_Ends.Input, m_Ends.Axis, m_Sizes, m_Sizes.Planes, slot.Memory), lane.Work);
    // The memory is allocated and cleared in the order of the work stream.
    slot.Released.Record(lane.Work);
  }
  for (size_t i = 0; i < m_Sizes.Results; ++i)
  {
    lane.Results.push_back(std::make_unique<Result>());
    lane.Results.back()->View =
      MakeLaneView(m_Ends.Output, m_Ends.Axis, m_Sizes, m_Sizes.ResultPlanes, memory.Take(resultBytes));
    ClearPadding(lane.Results.back()->View,
                 lane.Work); // kernels load these bytes together with the last pixels of a row
  }
  if (m_Ends.HasCallbacks())
  {
    lane.UpMemory.resize(PiecesOfLane);
    lane.DownMemory.resize(m_Sizes.Results == 0 ? 0 : PiecesOfLane);
    for (auto & piece : lane.UpMemory)
    {
      piece.resize(m_UpPiece * GetBytesOfPlane(m_Ends.Input, m_Ends.Axis));
    }
    for (auto & piece : lane.DownMemory)
    {
      piece.resize(m_DownPiece * GetBytesOfPlane(m_Ends.Output, m_Ends.Axis));
    }
  }
}

void
SlabStream::Reset(const std::vector<SlabLoad> & loads, SlabWork & work)
{
  m_Loads = loads;
  m_Work = &work;
  m_Arrived = m_NextCompute = m_NextComputePlane = m_ResultPlanesLeft = 0;
  m_NextFillLoad = m_NextFillPlane = m_NextSinkLoad = m_NextSinkPlane = 0;
  m_PlanesMoved = m_PlanesToMove = m_PlanesReported = 0;
  m_Stop = false;
  m_Error = nullptr;
  for (const SlabLoad & load : loads)
  {
    m_ResultPlanesLeft += load.HasResult ? load.Planes : 0;
    m_PlanesToMove += load.Planes * (load.HasResult ? 2 : 1);
  }
  for (size_t load = 0; load < m_Lanes.size() * m_Sizes.Slots; ++load)
  {
    this->GetSlot(load).NextLoad = load;
  }
  for (const auto & lane : m_Lanes)
  {
    lane->ResultsQueued = lane->DownloadsQueued = lane->DownloadsDone = 0;
    lane->DownSequence.reset();
    lane->Filled.clear();
    lane->Ready.clear();
    lane->FreeUp.clear();
    lane->FreeDown.clear();
    for (auto & memory : lane->UpMemory)
    {
      lane->FreeUp.push_back(&memory);
    }
    for (auto & memory : lane->DownMemory)
    {
      lane->FreeDown.push_back(&memory);
    }
  }
}

void
SlabStream::Run(const std::vector<SlabLoad> & loads, SlabWork & work, const std::function<void(float)> & progress)
{
  this->Reset(loads, work);
  this->MakeResultSequences();
  std::vector<std::thread> threads;
  try
  {
    threads.emplace_back([this] { this->Guard([&] { this->QueueWork(); }); });
    for (size_t lane = 0; lane < m_Lanes.size(); ++lane)
    {
      threads.emplace_back([this, lane] { this->Guard([&] { this->UploadLoads(lane); }); });
      for (size_t i = 0; i < m_Lanes[lane]->Down.size(); ++i)
      {
        threads.emplace_back([this, lane, i] { this->Guard([&] { this->DownloadResults(lane, i); }); });
      }
    }
    m_Ends.HasCallbacks() ? this->ServeCallbacks(progress) : this->WaitForThreads(progress);
  }
  catch (...)
  {
    this->Stop(std::current_exception());
  }
  for (std::thread & thread : threads)
  {
    thread.join();
  }
  if (m_Error)
  {
    this->Drain();
    std::rethrow_exception(m_Error);
  }
}

template <typename TFunction>
void
SlabStream::Guard(const TFunction & function) noexcept
{
  try
  {
    function();
  }
  catch (const Stopped &)
  {
    // Another thread has reported the reason.
  }
  catch (...)
  {
    this->Stop(std::current_exception());
  }
}

void
SlabStream::Stop(std::exception_ptr error)
{
  for (const auto & lane : m_Lanes)
  {
    if (lane->DownSequence)
    {
      lane->DownSequence->Cancel();
    }
  }
  const std::lock_guard<std::mutex> lock(m_Mutex);
  if (!m_Error)
  {
    m_Error = std::move(error);
  }
  m_Stop = true;
  m_Changed.notify_all();
}

template <typename TCondition>
void
SlabStream::WaitUntil(std::unique_lock<std::mutex> & lock, const TCondition & condition)
{
  m_Changed.wait(lock, [&] { return m_Stop || condition(); });
  if (m_Stop)
  {
    throw Stopped();
  }
}

bool
SlabStream::IsDone() const
{
  return m_Arrived == m_Loads.size() && m_ResultPlanesLeft == 0;
}

// The upload thread

/** \class LoadSequence
 * \brief The loads of a lane as uploads that follow each other without a gap.
 */
class SlabStream::LoadSequence : public UploadSequence
{
public:
  LoadSequence(SlabStream & stream, size_t lane)
    : m_Stream(stream)
    , m_Lane(lane)
  {}

  /** Returns whether the loads can be a sequence. All loads have the same layout, so it suffices to check the first
   * one. */
  bool
  IsPossible() const
  {
    return !m_Stream.m_Ends.HasCallbacks() && this->GetNumberOfLoads() > 0 &&
           Suits(this->GetHost(0), this->GetDevice(0));
  }

  void
  Upload()
  {
    this->Run(this->GetNumberOfLoads(), m_Stream.m_Lanes[m_Lane]->UpStaging.front().GetChunks());
  }

private:
  size_t
  GetNumberOfLoads() const
  {
    const size_t lanes = m_Stream.m_Lanes.size();
    return (m_Stream.m_Loads.size() + lanes - 1 - m_Lane) / lanes;
  }

  size_t
  GetLoad(size_t index) const
  {
    return m_Lane + index * m_Stream.m_Lanes.size();
  }

  CudaImageView
  GetHost(size_t index) const override
  {
    const SlabLoad & planes = m_Stream.m_Loads[this->GetLoad(index)];
    return GetPlanes(m_Stream.m_Ends.Input, m_Stream.m_Ends.Axis, planes.FirstPlane, planes.Planes);
  }

  DeviceView
  GetDevice(size_t index) const override
  {
    const size_t load = this->GetLoad(index);
    return m_Stream.MakeLoadView(load, m_Stream.GetSlot(load).Memory);
  }

  void
  Open(size_t index) override
  {
    m_Stream.TakeSlot(this->GetLoad(index));
  }

  void
  MarkSent(size_t index) override
  {
    const size_t load = this->GetLoad(index);
    m_Stream.CountUploaded(m_Stream.m_Loads[load].Planes);
    m_Stream.MarkUploaded(*m_Stream.m_Lanes[m_Lane], load);
  }

  void
  Stop(std::exception_ptr error) noexcept override
  {
    m_Stream.Guard([&error] { std::rethrow_exception(error); });
  }

  SlabStream & m_Stream;
  const size_t m_Lane;
};

void
SlabStream::UploadLoads(size_t laneIndex)
{
  Lane &            lane = *m_Lanes[laneIndex];
  const DeviceGuard guard(lane.Up.GetDevice());
  LoadSequence      sequence(*this, laneIndex);
  if (sequence.IsPossible())
  {
    sequence.Upload();
    lane.UpStaging.front().MarkSent();
    return;
  }
  for (size_t load = laneIndex; load < m_Loads.size(); load += m_Lanes.size())
  {
    this->UploadPlanes(lane, this->TakeSlot(load), load);
    this->MarkUploaded(lane, load);
  }
}

DeviceView
SlabStream::MakeLoadView(size_t load, void * memory) const
{
  return MakeLaneView(m_Ends.Input, m_Ends.Axis, m_Sizes, m_Loads[load].Planes, memory);
}

SlabStream::Slot &
SlabStream::GetSlot(size_t load)
{
  Lane & lane = *m_Lanes[load % m_Lanes.size()];
  return *lane.Slots[load / m_Lanes.size() % lane.Slots.size()];
}

/** Blocks until the load has its slot. The first thread that asks takes the slot after the previous load has left it.
 * The slot knows its next load, because a thread that runs ahead must not take the slot of a load that another thread
 * is about to upload. The upload stream waits for the work that used the slot before. */
SlabStream::Slot &
SlabStream::TakeSlot(size_t load)
{
  Slot &                       slot = this->GetSlot(load);
  std::unique_lock<std::mutex> lock(m_Mutex);
  this->WaitUntil(lock, [&] { return (slot.IsTaken ? slot.Load : slot.NextLoad) == load; });
  if (!slot.IsTaken)
  {
    const Lane & lane = *m_Lanes[load % m_Lanes.size()];
    slot.Released.MakeWait(lane.Up);
    slot.View = this->MakeLoadView(load, slot.Memory);
    slot.Load = load;
    slot.NextLoad = load + m_Lanes.size() * lane.Slots.size();
    slot.IsUploaded = false;
    slot.IsTaken = true;
  }
  return slot;
}

void
SlabStream::MarkUploaded(Lane & lane, size_t load)
{
  Slot & slot = this->GetSlot(load);
  slot.Uploaded.Record(lane.Up);
  const std::lock_guard<std::mutex> lock(m_Mutex);
  slot.IsUploaded = true;
  m_Changed.notify_all();
}

void
SlabStream::CountUploaded(size_t planes)
{
  const std::lock_guard<std::mutex> lock(m_Mutex);
  m_BytesUp += planes * GetBytesOfPlane(m_Ends.Input, m_Ends.Axis);
  m_PlanesMoved += planes;
  m_Changed.notify_all();
}

/** Runs an upload that is not part of a sequence. A large upload reuses the page-locked memory of the previous one.
 * Small uploads alternate between two stagings, and the memory is returned before the next upload but one, so that a
 * run holds the memory of two uploads however many slots it has. */
void
SlabStream::UploadTo(Lane & lane, const CudaImageView & host, const DeviceView & planes)
{
  const bool      isLarge = host.GetNumberOfBytes() > TransferLayout::LargestSmallSize;
  UploadStaging & staging = lane.UpStaging[isLarge ? 0 : lane.NumberOfUploads++ % lane.UpStaging.size()];
  if (!isLarge)
  {
    staging.Release();
  }
  Upload(host, planes, staging.GetChunks(), nullptr);
  staging.MarkSent();
}

void
SlabStream::UploadPlanes(Lane & lane, Slot & slot, size_t load)
{
  const SlabLoad & planes = m_Loads[load];
  if (!m_Ends.HasCallbacks())
  {
    this->UploadTo(lane, GetPlanes(m_Ends.Input, m_Ends.Axis, planes.FirstPlane, planes.Planes), slot.View);
    this->CountUploaded(planes.Planes);
    return;
  }
  for (size_t first = 0; first < planes.Planes;)
  {
    Piece piece;
    {
      std::unique_lock<std::mutex> lock(m_Mutex);
      this->WaitUntil(lock, [&] { return !lane.Filled.empty(); });
      piece = lane.Filled.front();
      lane.Filled.pop_front();
    }
    this->UploadTo(lane,
                   MakePlanesView(m_Ends.Input, m_Ends.Axis, piece.Planes, piece.Memory->data()),
                   GetSlabPlanes(slot.View, m_Ends.Axis, first, piece.Planes));
    first += piece.Planes;
    {
      const std::lock_guard<std::mutex> lock(m_Mutex);
      lane.FreeUp.push_back(piece.Memory);
    }
    this->CountUploaded(piece.Planes);
  }
}

// The thread that queues the work

/** Queues the work. Loads arrive in their order, and results are queued as soon as all loads that they need have
 * arrived. */
void
SlabStream::QueueWork()
{
  Slot *   slot = nullptr;
  Result * result = nullptr;
  while (this->WaitForWork(slot, result))
  {
    const DeviceGuard guard(m_Lanes[slot->Load % m_Lanes.size()]->Work.GetDevice());
    result ? this->Compute(*slot, *result) : this->Arrive(*slot);
  }
}

/** Blocks until a result can be queued or a load has been uploaded. Returns false if everything is queued. */
bool
SlabStream::WaitForWork(Slot *& slot, Result *& result)
{
  std::unique_lock<std::mutex> lock(m_Mutex);
  this->WaitUntil(lock, [&] {
    result = this->TakeReady();
    slot = result ? &this->GetSlot(result->Load) : this->FindUploaded();
    return slot || (m_Arrived == m_Loads.size() && m_NextCompute == m_Loads.size());
  });
  return slot;
}

SlabStream::Slot *
SlabStream::FindUploaded()
{
  if (m_Arrived == m_Loads.size())
  {
    return nullptr;
  }
  Slot & slot = this->GetSlot(m_Arrived);
  return slot.IsTaken && slot.Load == m_Arrived && slot.IsUploaded ? &slot : nullptr;
}

/** Takes the buffer for the next part of a result that can be queued. Returns nullptr if there is none yet. */
SlabStream::Result *
SlabStream::TakeReady()
{
  while (m_NextCompute < m_Loads.size() && !m_Loads[m_NextCompute].HasResult)
  {
    ++m_NextCompute;
  }
  if (m_NextCompute == m_Loads.size() || m_Loads[m_NextCompute].Needs >= m_Arrived)
  {
    return nullptr;
  }
  const size_t load = m_NextCompute;
  Lane &       lane = *m_Lanes[load % m_Lanes.size()];
  Result &     result = *lane.Results[lane.ResultsQueued % lane.Results.size()];
  if (result.IsTaken)
  {
    return nullptr;
  }
  result.IsTaken = true;
  result.IsComputed = false;
  result.Load = load;
  result.FirstPlane = m_NextComputePlane;
  const size_t planes = std::min(m_Sizes.ResultPlanes, m_Loads[load].Planes - m_NextComputePlane);
  result.View = MakeLaneView(m_Ends.Output, m_Ends.Axis, m_Sizes, planes, result.View.Data);
  ++lane.ResultsQueued;
  m_NextComputePlane += planes;
  if (m_NextComputePlane == m_Loads[load].Planes)
  {
    ++m_NextCompute;
    m_NextComputePlane = 0;
  }
  return &result;
}

void
SlabStream::Arrive(Slot & slot)
{
  const size_t laneIndex = slot.Load % m_Lanes.size();
  Lane &       lane = *m_Lanes[laneIndex];
  slot.Uploaded.MakeWait(lane.Work);
  m_Work->Arrive(slot.Load, laneIndex, slot.View);
  const bool isReleased = !m_Loads[slot.Load].HasResult;
  if (isReleased)
  {
    slot.Released.Record(lane.Work);
  }
  const std::lock_guard<std::mutex> lock(m_Mutex);
  slot.IsTaken = !isReleased;
  ++m_Arrived;
  m_Changed.notify_all();
}

void
SlabStream::Compute(Slot & slot, Result & result)
{
  const size_t laneIndex = result.Load % m_Lanes.size();
  Lane &       lane = *m_Lanes[laneIndex];
  const bool   isLast = result.FirstPlane + result.View.Size[m_Ends.Axis] == m_Loads[result.Load].Planes;
  m_Work->Compute(result.Load, laneIndex, slot.View, result.FirstPlane, result.View);
  if (isLast)
  {
    slot.Released.Record(lane.Work);
  }
  result.Computed.Record(lane.Work);
  {
    const std::lock_guard<std::mutex> lock(m_Mutex);
    slot.IsTaken = !isLast;
    result.IsComputed = true;
    m_Changed.notify_all();
  }
  if (lane.DownSequence)
  {
    lane.DownSequence->MarkReady();
  }
}

// The download threads

/** \class ResultSequence
 * \brief The results of a lane as downloads that follow each other without a gap.
 */
class SlabStream::ResultSequence : public DownloadSequence
{
public:
  ResultSequence(SlabStream & stream, size_t lane)
    : m_Stream(stream)
    , m_Lane(*stream.m_Lanes[lane])
  {
    for (size_t load = lane; load < stream.m_Loads.size(); load += stream.m_Lanes.size())
    {
      const size_t planes = stream.m_Loads[load].HasResult ? stream.m_Loads[load].Planes : 0;
      for (size_t first = 0; first < planes; first += stream.m_Sizes.ResultPlanes)
      {
        m_Parts.push_back({ load, first, std::min(stream.m_Sizes.ResultPlanes, planes - first) });
      }
    }
  }

private:
  struct Part
  {
    size_t Load;
    size_t FirstPlane; // of the load
    size_t Planes;
  };

  Result &
  GetResult(size_t index) const
  {
    return *m_Lane.Results[index % m_Lane.Results.size()];
  }

  size_t
  GetNumber() const override
  {
    return m_Parts.size();
  }

  CudaImageView
  GetHost(size_t index) const override
  {
    const Part & part = m_Parts[index];
    return GetPlanes(m_Stream.m_Ends.Output,
                     m_Stream.m_Ends.Axis,
                     m_Stream.m_Loads[part.Load].FirstPlane + part.FirstPlane,
                     part.Planes);
  }

  DeviceView
  GetDevice(size_t index) const override
  {
    return this->GetResult(index).View;
  }

  void
  Open(size_t index) override
  {
    this->GetResult(index).Computed.MakeWait(m_Lane.Down.front()->Stream);
  }

  void
  MarkDone(size_t index) override
  {
    m_Stream.MarkDownloaded(m_Lane, this->GetResult(index));
  }

  void
  Stop(std::exception_ptr error) noexcept override
  {
    m_Stream.Guard([&error] { std::rethrow_exception(error); });
  }

  SlabStream &      m_Stream;
  Lane &            m_Lane;
  std::vector<Part> m_Parts;
};

void
SlabStream::MakeResultSequences()
{
  for (size_t lane = 0; m_HasResultSequences && lane < m_Lanes.size(); ++lane)
  {
    m_Lanes[lane]->DownSequence = std::make_unique<ResultSequence>(*this, lane);
  }
}

void
SlabStream::DownloadResults(size_t laneIndex, size_t thread)
{
  Lane &            lane = *m_Lanes[laneIndex];
  Downloads &       downloads = *lane.Down[thread];
  const DeviceGuard guard(downloads.Stream.GetDevice());
  if (lane.DownSequence)
  {
    lane.DownSequence->Run(downloads.Staging);
    return;
  }
  size_t number = 0; // number of the result on the lane
  for (size_t load = laneIndex; load < m_Loads.size(); load += m_Lanes.size())
  {
    for (size_t first = 0; m_Loads[load].HasResult && first < m_Loads[load].Planes; first += m_Sizes.ResultPlanes)
    {
      Result & result = *lane.Results[number % lane.Results.size()];
      if (number % lane.Down.size() == thread)
      {
        {
          std::unique_lock<std::mutex> lock(m_Mutex);
          this->WaitUntil(lock, [&] {
            return lane.DownloadsQueued == number && result.IsTaken && result.IsComputed && result.Load == load &&
                   result.FirstPlane == first;
          });
          downloads.Number = number;
        }
        this->DownloadResult(lane, downloads, result);
      }
      ++number;
    }
  }
}

void
SlabStream::DownloadResult(Lane & lane, Downloads & downloads, Result & result)
{
  result.Computed.MakeWait(downloads.Stream);
  this->DownloadPlanes(lane, downloads, result);
  this->MarkDownloaded(lane, result);
}

/** Counts downloaded planes. The caller holds the mutex. */
void
SlabStream::CountDownloaded(size_t planes)
{
  m_BytesDown += planes * GetBytesOfPlane(m_Ends.Output, m_Ends.Axis);
  m_PlanesMoved += planes;
  m_Changed.notify_all();
}

void
SlabStream::MarkDownloaded(Lane & lane, Result & result)
{
  const std::lock_guard<std::mutex> lock(m_Mutex);
  if (!m_Ends.HasCallbacks())
  {
    const size_t planes = result.View.Size[m_Ends.Axis];
    this->CountDownloaded(planes);
    m_ResultPlanesLeft -= planes;
  }
  result.IsTaken = false;
  ++lane.DownloadsDone;
  m_Changed.notify_all();
}

/** Blocks a download whose copies are queued until the previous downloads are done. Large downloads call it repeatedly.
 */
void
SlabStream::AwaitTurn(Lane & lane, size_t number)
{
  std::unique_lock<std::mutex> lock(m_Mutex);
  lane.DownloadsQueued = std::max(lane.DownloadsQueued, number + 1);
  m_Changed.notify_all();
  this->WaitUntil(lock, [&] { return lane.DownloadsDone == number; });
}

void
SlabStream::DownloadPlanes(Lane & lane, Downloads & downloads, const Result & result)
{
  const size_t planes = result.View.Size[m_Ends.Axis];
  if (!m_Ends.HasCallbacks())
  {
    const size_t firstPlane = m_Loads[result.Load].FirstPlane + result.FirstPlane;
    Download(result.View, GetPlanes(m_Ends.Output, m_Ends.Axis, firstPlane, planes), downloads.Staging, nullptr);
    return;
  }
  for (size_t first = 0; first < planes; first += m_DownPiece)
  {
    Piece piece{ result.Load, result.FirstPlane + first, std::min(m_DownPiece, planes - first), nullptr };
    {
      std::unique_lock<std::mutex> lock(m_Mutex);
      this->WaitUntil(lock, [&] { return !lane.FreeDown.empty(); });
      piece.Memory = lane.FreeDown.back();
      lane.FreeDown.pop_back();
    }
    Download(GetSlabPlanes(result.View, m_Ends.Axis, first, piece.Planes),
             MakePlanesView(m_Ends.Output, m_Ends.Axis, piece.Planes, piece.Memory->data()),
             downloads.Staging,
             nullptr);
    const std::lock_guard<std::mutex> lock(m_Mutex);
    lane.Ready.push_back(piece);
    this->CountDownloaded(piece.Planes);
  }
}

// The calling thread

void
SlabStream::Report(std::unique_lock<std::mutex> & lock, const std::function<void(float)> & progress)
{
  m_PlanesReported = m_PlanesMoved;
  const float done = static_cast<float>(m_PlanesMoved) / static_cast<float>(m_PlanesToMove);
  lock.unlock();
  if (progress)
  {
    progress(done);
  }
  lock.lock();
}

void
SlabStream::WaitForThreads(const std::function<void(float)> & progress)
{
  std::unique_lock<std::mutex> lock(m_Mutex);
  while (!m_Stop && (!this->IsDone() || m_PlanesReported < m_PlanesMoved))
  {
    m_Changed.wait(lock, [&] { return m_Stop || this->IsDone() || m_PlanesReported < m_PlanesMoved; });
    if (!m_Stop && m_PlanesReported < m_PlanesMoved)
    {
      this->Report(lock, progress);
    }
  }
}

/** Lets the source fill the next piece if there is a free buffer. Returns whether it did. */
bool
SlabStream::FillPiece()
{
  Piece  piece;
  Lane * lane = nullptr;
  {
    const std::lock_guard<std::mutex> lock(m_Mutex);
    if (m_NextFillLoad >= m_Loads.size())
    {
      return false;
    }
    lane = m_Lanes[m_NextFillLoad % m_Lanes.size()].get();
    if (m_Stop || lane->FreeUp.empty())
    {
      return false;
    }
    const size_t planes = m_Loads[m_NextFillLoad].Planes;
    piece = { m_NextFillLoad, m_NextFillPlane, std::min(m_UpPiece, planes - m_NextFillPlane), lane->FreeUp.back() };
    lane->FreeUp.pop_back();
    m_NextFillPlane += piece.Planes;
    if (m_NextFillPlane == planes)
    {
      ++m_NextFillLoad;
      m_NextFillPlane = 0;
    }
  }
  m_Ends.Source(m_Loads[piece.Load].FirstPlane + piece.FirstPlane, piece.Planes, piece.Memory->data());
  const std::lock_guard<std::mutex> lock(m_Mutex);
  lane->Filled.push_back(piece);
  m_Changed.notify_all();
  return true;
}

/** Passes the next piece to the sink if it is ready. Returns whether it did. */
bool
SlabStream::EmptyPiece()
{
  Piece  piece;
  Lane * lane = nullptr;
  {
    const std::lock_guard<std::mutex> lock(m_Mutex);
    while (m_NextSinkLoad < m_Loads.size() && !m_Loads[m_NextSinkLoad].HasResult)
    {
      ++m_NextSinkLoad;
    }
    if (m_Stop || m_NextSinkLoad >= m_Loads.size())
    {
      return false;
    }
    lane = m_Lanes[m_NextSinkLoad % m_Lanes.size()].get();
    if (lane->Ready.empty())
    {
      return false;
    }
    piece = lane->Ready.front();
    lane->Ready.pop_front();
    m_NextSinkPlane += piece.Planes;
  }
  m_Ends.Sink(m_Loads[piece.Load].FirstPlane + piece.FirstPlane, piece.Planes, piece.Memory->data());
  const std::lock_guard<std::mutex> lock(m_Mutex);
  lane->FreeDown.push_back(piece.Memory);
  if (m_NextSinkPlane == m_Loads[piece.Load].Planes)
  {
    ++m_NextSinkLoad;
    m_NextSinkPlane = 0;
  }
  m_ResultPlanesLeft -= piece.Planes;
  m_Changed.notify_all();
  return true;
}

void
SlabStream::ServeCallbacks(const std::function<void(float)> & progress)
{
  const auto canFill = [&] {
    return m_NextFillLoad < m_Loads.size() && !m_Lanes[m_NextFillLoad % m_Lanes.size()]->FreeUp.empty();
  };
  const auto canEmpty = [&] {
    size_t load = m_NextSinkLoad;
    while (load < m_Loads.size() && !m_Loads[load].HasResult)
    {
      ++load;
    }
    return load < m_Loads.size() && !m_Lanes[load % m_Lanes.size()]->Ready.empty();
  };
  for (;;)
  {
    const bool                   moved = this->EmptyPiece() || this->FillPiece();
    std::unique_lock<std::mutex> lock(m_Mutex);
    if (!m_Stop && m_PlanesReported < m_PlanesMoved)
    {
      this->Report(lock, progress);
    }
    if (m_Stop || this->IsDone())
    {
      return;
    }
    if (!moved)
    {
      m_Changed.wait(
        lock, [&] { return m_Stop || this->IsDone() || canFill() || canEmpty() || m_PlanesReported < m_PlanesMoved; });
    }
  }
}
} // namespace itk::cuda
