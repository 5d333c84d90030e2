// SPDX-License-Identifier: Apache-2.0
#include "runtime/run/SlabPipeline.h"

#include "runtime/device/Call.h"
#include "runtime/device/Device.h"
#include "runtime/image/HostLines.h"
#include "runtime/image/Math.h"
#include "runtime/transfer/Transfer.h"
#include "runtime/transfer/TransferJob.h"
#include "runtime/transfer/TransferQueue.h"
#include "runtime/memory/Workspace.h"
#include "runtime/memory/DeviceImage.h"

#include <algorithm>
#include <utility>

// Implements the threads of a SlabPipeline. Each queue has one thread that uploads slabs (UploadSlabs()) and one or two
// that download results (DownloadResults()). One thread queues the work of all queues (QueueWork()), and the thread
// that calls Next() serves source and progress, and takes results.

namespace itk::cuda
{
namespace
{
/** Size of a host buffer between the link and the thread that calls Next(). A buffer is larger only if a single plane
 * is. */
constexpr size_t HostBufferBytes = size_t{ 16 } << 20;
constexpr size_t HostBuffersPerDirection = 2; // of a queue, so that one is filled while the other is emptied

/** Exception that ends a thread when the run stops. */
struct Stopped
{};

/** Returns the number of planes of a host buffer. */
size_t
GetPlanesOfHostBuffer(const CudaImageView & shape, unsigned int axis)
{
  return std::clamp<size_t>(HostBufferBytes / std::max<size_t>(1, GetBytesOfPlane(shape, axis)), 1, shape.Size[axis]);
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

/** Returns source and destination in the form that the transfers of a queue use. */
SlabEndpoints
GetTransferEndpoints(const SlabEndpoints & endpoints, const SlabQueueSizes & sizes)
{
  if (!sizes.HoldsHostPixels)
  {
    return endpoints;
  }
  return {
    GetComponentsAsPixels(endpoints.Input), GetComponentsAsPixels(endpoints.Output), endpoints.Source, endpoints.Axis
  };
}

/** Returns a view of planes of an image of GetTransferEndpoints() on a queue. */
DeviceView
MakeQueueView(const CudaImageView & shape, unsigned int axis, const SlabQueueSizes & sizes, size_t planes, void * data)
{
  if (!sizes.HoldsHostPixels)
  {
    return MakeSlabView(shape, axis, planes, sizes.Type, data);
  }
  return ViewAdjacent(GetPlanarSize(Slice(shape, axis, 0, planes)), shape.ComponentType, data);
}

size_t
GetQueueViewBytes(const CudaImageView & shape, unsigned int axis, const SlabQueueSizes & sizes, size_t planes)
{
  return Workspace::GetPieceSize(GetNumberOfBytes(MakeQueueView(shape, axis, sizes, planes, nullptr)));
}
} // namespace

bool
HaveDenseRows(const SlabEndpoints & endpoints)
{
  return endpoints.HasSource() || (HasDenseRows(endpoints.Input) && HasDenseRows(endpoints.Output));
}

DeviceView
MakeSlabView(const CudaImageView & shape, unsigned int axis, size_t planes, CudaComponentType type, void * data)
{
  return DeviceImage::MakeView(GetPlanarSize(Slice(shape, axis, 0, planes)), type, data);
}

size_t
GetSlabQueueBytes(const SlabEndpoints & endpoints, const SlabQueueSizes & sizes)
{
  const auto transfer = [&](const CudaImageView & shape, size_t planes) {
    return sizes.HoldsHostPixels ? 0
                                 : Workspace::GetPieceSize(GetTransferWorkspace(
                                     ViewAdjacent(Slice(shape, endpoints.Axis, 0, planes), nullptr), sizes.Type));
  };
  const SlabEndpoints transferred = GetTransferEndpoints(endpoints, sizes);
  return sizes.NumberOfSlots * GetQueueViewBytes(transferred.Input, endpoints.Axis, sizes, sizes.NumberOfPlanes) +
         sizes.NumberOfResults *
           GetQueueViewBytes(transferred.Output, endpoints.Axis, sizes, sizes.NumberOfResultPlanes) +
         transfer(endpoints.Input, sizes.NumberOfPlanes) + transfer(endpoints.Output, sizes.NumberOfResultPlanes);
}

SlabPipeline::SlabPipeline(const std::vector<int> & devices,
                           const SlabEndpoints &    endpoints,
                           const SlabQueueSizes &   sizes)
  : m_Sizes(sizes)
  , m_Endpoints(GetTransferEndpoints(endpoints, sizes))
  , m_UpBufferPlanes(GetPlanesOfHostBuffer(endpoints.Input, endpoints.Axis))
  , m_DownBufferPlanes(GetPlanesOfHostBuffer(endpoints.Output, endpoints.Axis))
  , m_QueuesResults(sizes.NumberOfResults > 0 && !endpoints.HasSource() && TransferQueue::Suits(m_Endpoints.Output))
{
  for (const int device : devices)
  {
    this->MakeQueue(device, static_cast<unsigned int>(devices.size()));
  }
}

SlabPipeline::~SlabPipeline()
{
  this->Cancel();
}

size_t
SlabPipeline::GetNumberOfDownloadThreads() const
{
  const bool converts =
    !m_Sizes.HoldsHostPixels && m_Sizes.NumberOfResults > 0 &&
    GetTransferWorkspace(
      ViewAdjacent(Slice(m_Endpoints.Output, m_Endpoints.Axis, 0, m_Sizes.NumberOfResultPlanes), nullptr),
      m_Sizes.Type) > 0;
  return m_Sizes.NumberOfResults > 1 && !m_Endpoints.HasSource() && !m_QueuesResults && !converts ? 2 : 1;
}

void
SlabPipeline::Cancel() noexcept
{
  this->Stop(nullptr);
  this->JoinThreads();
  this->Drain();
}

const Context &
SlabPipeline::GetContext(size_t queue) const
{
  return m_Queues[queue]->Compute;
}

void
SlabPipeline::Drain() noexcept
{
  for (const auto & queue : m_Queues)
  {
    DrainStream(queue->Up);
    DrainStream(queue->Compute);
    for (const auto & downloads : queue->Down)
    {
      DrainStream(downloads->Stream);
    }
  }
}

void
SlabPipeline::MakeQueue(int device, unsigned int numberOfQueues)
{
  const DeviceGuard guard(device);
  m_Queues.push_back(std::make_unique<DeviceQueue>(device));
  DeviceQueue & queue = *m_Queues.back();
  const bool    isBidirectional = m_Sizes.NumberOfResults > 0;
  for (size_t i = 0; i < this->GetNumberOfDownloadThreads(); ++i)
  {
    queue.Down.push_back(std::make_unique<DownloadThread>(device));
    DownloadThread & downloads = *queue.Down.back();
    downloads.Staging.SetIsBidirectional(isBidirectional);
    downloads.Staging.SetNumberOfSharers(numberOfQueues);
    if (!m_QueuesResults)
    {
      downloads.Staging.SetTurn([this, &queue, &downloads] { this->AwaitTurn(queue, downloads.Number); });
    }
  }
  queue.UpStaging.SetIsBidirectional(isBidirectional);
  queue.UpStaging.SetNumberOfSharers(numberOfQueues);
  const size_t slotBytes = GetQueueViewBytes(m_Endpoints.Input, m_Endpoints.Axis, m_Sizes, m_Sizes.NumberOfPlanes);
  const size_t resultBytes =
    GetQueueViewBytes(m_Endpoints.Output, m_Endpoints.Axis, m_Sizes, m_Sizes.NumberOfResultPlanes);
  const size_t bytes = m_Sizes.NumberOfSlots * slotBytes + m_Sizes.NumberOfResults * resultBytes;
  queue.Memory = DeviceBuffer(bytes, queue.Compute);
  Workspace memory(queue.Memory.GetPointer(), bytes);
  for (size_t i = 0; i < m_Sizes.NumberOfSlots; ++i)
  {
    queue.Slots.push_back(std::make_unique<Slot>());
    Slot & slot = *queue.Slots.back();
    slot.Memory = memory.Take(slotBytes);
    ClearPadding(MakeQueueView(m_Endpoints.Input, m_Endpoints.Axis, m_Sizes, m_Sizes.NumberOfPlanes, slot.Memory),
                 queue.Compute);
    // The memory is allocated and cleared in the order of the work stream.
    slot.Released.Record(queue.Compute);
  }
  for (size_t i = 0; i < m_Sizes.NumberOfResults; ++i)
  {
    queue.Results.push_back(std::make_unique<Result>());
    queue.Results.back()->View = MakeQueueView(
      m_Endpoints.Output, m_Endpoints.Axis, m_Sizes, m_Sizes.NumberOfResultPlanes, memory.Take(resultBytes));
    ClearPadding(queue.Results.back()->View,
                 queue.Compute); // kernels load these bytes together with the last pixels of a row
  }
  if (m_Endpoints.HasSource())
  {
    const auto make = [](HostRing & ring, size_t buffers, size_t bytes) {
      ring.Buffers.assign(buffers, std::vector<unsigned char>(bytes));
    };
    make(
      queue.UpRing, HostBuffersPerDirection, m_UpBufferPlanes * GetBytesOfPlane(m_Endpoints.Input, m_Endpoints.Axis));
    make(queue.DownRing,
         isBidirectional ? HostBuffersPerDirection : 0,
         m_DownBufferPlanes * GetBytesOfPlane(m_Endpoints.Output, m_Endpoints.Axis));
  }
}

void
SlabPipeline::Reset(const std::vector<InputSlab> & slabs, SlabAlgorithm & algorithm)
{
  m_Slabs = slabs;
  m_Algorithm = &algorithm;
  m_NumberOfSlabsHandedOver = m_ResultPlanesLeft = 0;
  m_PlanesMoved = m_PlanesToMove = m_PlanesReported = 0;
  m_NextPart = m_Asked = m_Given = {};
  m_GivenPlanes = 0;
  m_Stop = false;
  m_Error = nullptr;
  for (const InputSlab & slab : slabs)
  {
    m_ResultPlanesLeft += slab.HasResult ? slab.NumberOfPlanes : 0;
    m_PlanesToMove += slab.NumberOfPlanes * (slab.HasResult ? 2 : 1);
  }
  for (size_t slab = 0; slab < m_Queues.size() * m_Sizes.NumberOfSlots; ++slab)
  {
    this->GetSlot(slab).NextSlab = slab;
  }
  for (const auto & queue : m_Queues)
  {
    queue->ResultsQueued = queue->DownloadsQueued = queue->DownloadsDone = 0;
    queue->DownQueue.reset();
    queue->UpRing.Filled = queue->UpRing.Emptied = queue->DownRing.Filled = queue->DownRing.Emptied = 0;
  }
}

void
SlabPipeline::Start(const std::vector<InputSlab> & slabs,
                    SlabAlgorithm &                algorithm,
                    std::function<void(float)>     progress)
{
  this->Reset(slabs, algorithm);
  m_Progress = std::move(progress);
  this->MakeResultDownloads();
  const auto start = [this](auto function) {
    m_Threads.emplace_back([this, function] { this->RunGuarded(function); });
  };
  try
  {
    start([this] { this->QueueWork(); });
    for (size_t queue = 0; queue < m_Queues.size(); ++queue)
    {
      start([this, queue] { this->UploadSlabs(queue); });
      for (size_t i = 0; i < m_Queues[queue]->Down.size(); ++i)
      {
        start([this, queue, i] { this->DownloadResults(queue, i); });
      }
    }
  }
  catch (...)
  {
    this->Stop(std::current_exception());
    this->Finish();
  }
}

SlabPlanes
SlabPipeline::Next()
{
  try
  {
    const SlabPlanes planes = this->Serve();
    if (planes.Number > 0)
    {
      return planes;
    }
  }
  catch (...)
  {
    this->Stop(std::current_exception());
  }
  this->Finish();
  return {};
}

void
SlabPipeline::JoinThreads()
{
  for (std::thread & thread : m_Threads)
  {
    thread.join();
  }
  m_Threads.clear();
}

void
SlabPipeline::Finish()
{
  this->JoinThreads();
  if (m_Error)
  {
    this->Drain();
    std::rethrow_exception(m_Error);
  }
}

template <typename TFunction>
void
SlabPipeline::RunGuarded(const TFunction & function) noexcept
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
SlabPipeline::Stop(std::exception_ptr error)
{
  for (const auto & queue : m_Queues)
  {
    if (queue->DownQueue)
    {
      queue->DownQueue->Cancel();
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
SlabPipeline::WaitUntil(std::unique_lock<std::mutex> & lock, const TCondition & condition)
{
  m_Changed.wait(lock, [&] { return m_Stop || condition(); });
  if (m_Stop)
  {
    throw Stopped();
  }
}

bool
SlabPipeline::IsDone() const
{
  return m_NumberOfSlabsHandedOver == m_Slabs.size() && m_ResultPlanesLeft == 0;
}

// The upload thread

/** \class SlabUploads
 * \brief The slabs of a queue as uploads that follow each other without a gap.
 */
class SlabPipeline::SlabUploads : public TransferQueue
{
public:
  SlabUploads(SlabPipeline & pipeline, size_t queue)
    : TransferQueue(TransferDirection::Upload)
    , m_Pipeline(pipeline)
    , m_Queue(queue)
  {}

private:
  size_t
  GetNumberOfTransfers() const override
  {
    const size_t queues = m_Pipeline.m_Queues.size();
    return (m_Pipeline.m_Slabs.size() + queues - 1 - m_Queue) / queues;
  }

  size_t
  GetSlab(size_t index) const
  {
    return m_Queue + index * m_Pipeline.m_Queues.size();
  }

  CudaImageView
  GetHostImage(size_t index) const override
  {
    const InputSlab & planes = m_Pipeline.m_Slabs[this->GetSlab(index)];
    return Slice(m_Pipeline.m_Endpoints.Input, m_Pipeline.m_Endpoints.Axis, planes.FirstPlane, planes.NumberOfPlanes);
  }

  DeviceView
  GetDeviceImage(size_t index) const override
  {
    const size_t slab = this->GetSlab(index);
    return m_Pipeline.MakeSlabView(slab, m_Pipeline.GetSlot(slab).Memory);
  }

  void
  Open(size_t index) override
  {
    m_Pipeline.TakeSlot(this->GetSlab(index));
  }

  void
  MarkDone(size_t index) override
  {
    const size_t slab = this->GetSlab(index);
    m_Pipeline.CountUploaded(m_Pipeline.m_Slabs[slab].NumberOfPlanes);
    m_Pipeline.MarkUploaded(*m_Pipeline.m_Queues[m_Queue], slab);
  }

  void
  OnError(std::exception_ptr error) noexcept override
  {
    m_Pipeline.RunGuarded([&error] { std::rethrow_exception(error); });
  }

  SlabPipeline & m_Pipeline;
  const size_t   m_Queue;
};

void
SlabPipeline::UploadSlabs(size_t queueIndex)
{
  DeviceQueue &     queue = *m_Queues[queueIndex];
  const DeviceGuard guard(queue.Up.GetDevice());
  if (!m_Endpoints.HasSource() && TransferQueue::Suits(m_Endpoints.Input))
  {
    SlabUploads(*this, queueIndex).Run(queue.UpStaging);
    return;
  }
  for (size_t slab = queueIndex; slab < m_Slabs.size(); slab += m_Queues.size())
  {
    this->UploadPlanes(queue, this->TakeSlot(slab), slab);
    this->MarkUploaded(queue, slab);
  }
}

DeviceView
SlabPipeline::MakeSlabView(size_t slab, void * memory) const
{
  return MakeQueueView(m_Endpoints.Input, m_Endpoints.Axis, m_Sizes, m_Slabs[slab].NumberOfPlanes, memory);
}

SlabPipeline::Slot &
SlabPipeline::GetSlot(size_t slab)
{
  DeviceQueue & queue = *m_Queues[slab % m_Queues.size()];
  return *queue.Slots[slab / m_Queues.size() % queue.Slots.size()];
}

SlabPipeline::Slot &
SlabPipeline::TakeSlot(size_t slab)
{
  Slot &                       slot = this->GetSlot(slab);
  std::unique_lock<std::mutex> lock(m_Mutex);
  this->WaitUntil(lock, [&] { return (slot.IsTaken ? slot.Slab : slot.NextSlab) == slab; });
  if (!slot.IsTaken)
  {
    const DeviceQueue & queue = *m_Queues[slab % m_Queues.size()];
    slot.Released.MakeWait(queue.Up);
    slot.View = this->MakeSlabView(slab, slot.Memory);
    slot.Slab = slab;
    slot.NextSlab = slab + m_Queues.size() * queue.Slots.size();
    slot.IsUploaded = false;
    slot.IsTaken = true;
  }
  return slot;
}

void
SlabPipeline::MarkUploaded(DeviceQueue & queue, size_t slab)
{
  Slot & slot = this->GetSlot(slab);
  slot.Uploaded.Record(queue.Up);
  const std::lock_guard<std::mutex> lock(m_Mutex);
  slot.IsUploaded = true;
  m_Changed.notify_all();
}

void
SlabPipeline::CountUploaded(size_t planes)
{
  const std::lock_guard<std::mutex> lock(m_Mutex);
  m_BytesUp += planes * GetBytesOfPlane(m_Endpoints.Input, m_Endpoints.Axis);
  m_PlanesMoved += planes;
  m_Changed.notify_all();
}

void
SlabPipeline::UploadPlanes(DeviceQueue & queue, Slot & slot, size_t slab)
{
  const InputSlab & planes = m_Slabs[slab];
  if (!m_Endpoints.HasSource())
  {
    Upload(Slice(m_Endpoints.Input, m_Endpoints.Axis, planes.FirstPlane, planes.NumberOfPlanes),
           slot.View,
           queue.UpStaging,
           nullptr);
    this->CountUploaded(planes.NumberOfPlanes);
    return;
  }
  for (size_t first = 0; first < planes.NumberOfPlanes; first += m_UpBufferPlanes)
  {
    const size_t number = std::min(m_UpBufferPlanes, planes.NumberOfPlanes - first);
    {
      std::unique_lock<std::mutex> lock(m_Mutex);
      this->WaitUntil(lock, [&] { return queue.UpRing.HasFilled(); });
    }
    Upload(ViewAdjacent(Slice(m_Endpoints.Input, m_Endpoints.Axis, 0, number), queue.UpRing.GetFilled()),
           Slice(slot.View, m_Endpoints.Axis, first, number),
           queue.UpStaging,
           nullptr);
    {
      const std::lock_guard<std::mutex> lock(m_Mutex);
      ++queue.UpRing.Emptied;
    }
    this->CountUploaded(number);
  }
}

// The thread that queues the work

void
SlabPipeline::QueueWork()
{
  Slot *   slot = nullptr;
  Result * result = nullptr;
  while (this->WaitForWork(slot, result))
  {
    const DeviceGuard guard(m_Queues[slot->Slab % m_Queues.size()]->Compute.GetDevice());
    result ? this->Compute(*slot, *result) : this->OnUploaded(*slot);
  }
}

bool
SlabPipeline::WaitForWork(Slot *& slot, Result *& result)
{
  std::unique_lock<std::mutex> lock(m_Mutex);
  this->WaitUntil(lock, [&] {
    result = this->TakeComputableResult();
    slot = result ? &this->GetSlot(result->Slab) : this->FindUploaded();
    return slot || (m_NumberOfSlabsHandedOver == m_Slabs.size() && m_NextPart.Slab == m_Slabs.size());
  });
  return slot;
}

SlabPipeline::Slot *
SlabPipeline::FindUploaded()
{
  if (m_NumberOfSlabsHandedOver == m_Slabs.size())
  {
    return nullptr;
  }
  Slot & slot = this->GetSlot(m_NumberOfSlabsHandedOver);
  return slot.IsTaken && slot.Slab == m_NumberOfSlabsHandedOver && slot.IsUploaded ? &slot : nullptr;
}

SlabPipeline::Result *
SlabPipeline::TakeComputableResult()
{
  this->SkipSlabsWithoutResult(m_NextPart);
  if (m_NextPart.Slab == m_Slabs.size() || m_Slabs[m_NextPart.Slab].LastRequiredSlab >= m_NumberOfSlabsHandedOver)
  {
    return nullptr;
  }
  DeviceQueue & queue = *m_Queues[m_NextPart.Slab % m_Queues.size()];
  Result &      result = *queue.Results[queue.ResultsQueued % queue.Results.size()];
  if (result.IsTaken)
  {
    return nullptr;
  }
  result.IsTaken = true;
  result.IsComputed = false;
  result.Slab = m_NextPart.Slab;
  result.FirstPlane = m_NextPart.Plane;
  const size_t planes =
    std::min(m_Sizes.NumberOfResultPlanes, m_Slabs[m_NextPart.Slab].NumberOfPlanes - m_NextPart.Plane);
  result.View = MakeQueueView(m_Endpoints.Output, m_Endpoints.Axis, m_Sizes, planes, result.View.Data);
  ++queue.ResultsQueued;
  this->Advance(m_NextPart, planes);
  return &result;
}

void
SlabPipeline::OnUploaded(Slot & slot)
{
  const size_t  queueIndex = slot.Slab % m_Queues.size();
  DeviceQueue & queue = *m_Queues[queueIndex];
  slot.Uploaded.MakeWait(queue.Compute);
  m_Algorithm->OnUploaded(slot.Slab, queueIndex, slot.View);
  const bool isReleased = !m_Slabs[slot.Slab].HasResult;
  if (isReleased)
  {
    slot.Released.Record(queue.Compute);
  }
  const std::lock_guard<std::mutex> lock(m_Mutex);
  slot.IsTaken = !isReleased;
  ++m_NumberOfSlabsHandedOver;
  m_Changed.notify_all();
}

void
SlabPipeline::Compute(Slot & slot, Result & result)
{
  const size_t  queueIndex = result.Slab % m_Queues.size();
  DeviceQueue & queue = *m_Queues[queueIndex];
  const bool    isLast = result.FirstPlane + result.View.Size[m_Endpoints.Axis] == m_Slabs[result.Slab].NumberOfPlanes;
  m_Algorithm->Compute(result.Slab, queueIndex, slot.View, result.FirstPlane, result.View);
  if (isLast)
  {
    slot.Released.Record(queue.Compute);
  }
  result.Computed.Record(queue.Compute);
  {
    const std::lock_guard<std::mutex> lock(m_Mutex);
    slot.IsTaken = !isLast;
    result.IsComputed = true;
    m_Changed.notify_all();
  }
  if (queue.DownQueue)
  {
    queue.DownQueue->MarkReady();
  }
}

// The download threads

/** \class ResultDownloads
 * \brief The results of a queue as downloads that follow each other without a gap.
 */
class SlabPipeline::ResultDownloads : public TransferQueue
{
public:
  ResultDownloads(SlabPipeline & pipeline, size_t queue)
    : TransferQueue(TransferDirection::Download)
    , m_Pipeline(pipeline)
    , m_Queue(*pipeline.m_Queues[queue])
  {
    for (size_t slab = queue; slab < pipeline.m_Slabs.size(); slab += pipeline.m_Queues.size())
    {
      const size_t planes = pipeline.m_Slabs[slab].HasResult ? pipeline.m_Slabs[slab].NumberOfPlanes : 0;
      for (size_t first = 0; first < planes; first += pipeline.m_Sizes.NumberOfResultPlanes)
      {
        m_Parts.push_back({ slab, first, std::min(pipeline.m_Sizes.NumberOfResultPlanes, planes - first) });
      }
    }
  }

private:
  struct Part
  {
    size_t Slab;
    size_t FirstPlane; // of the slab
    size_t NumberOfPlanes;
  };

  Result &
  GetResult(size_t index) const
  {
    return *m_Queue.Results[index % m_Queue.Results.size()];
  }

  size_t
  GetNumberOfTransfers() const override
  {
    return m_Parts.size();
  }

  CudaImageView
  GetHostImage(size_t index) const override
  {
    const Part & part = m_Parts[index];
    return Slice(m_Pipeline.m_Endpoints.Output,
                 m_Pipeline.m_Endpoints.Axis,
                 m_Pipeline.m_Slabs[part.Slab].FirstPlane + part.FirstPlane,
                 part.NumberOfPlanes);
  }

  DeviceView
  GetDeviceImage(size_t index) const override
  {
    return this->GetResult(index).View;
  }

  void
  Open(size_t index) override
  {
    this->GetResult(index).Computed.MakeWait(m_Queue.Down.front()->Stream);
  }

  void
  MarkDone(size_t index) override
  {
    m_Pipeline.MarkDownloaded(m_Queue, this->GetResult(index));
  }

  void
  OnError(std::exception_ptr error) noexcept override
  {
    m_Pipeline.RunGuarded([&error] { std::rethrow_exception(error); });
  }

  SlabPipeline &    m_Pipeline;
  DeviceQueue &     m_Queue;
  std::vector<Part> m_Parts;
};

void
SlabPipeline::MakeResultDownloads()
{
  for (size_t queue = 0; m_QueuesResults && queue < m_Queues.size(); ++queue)
  {
    m_Queues[queue]->DownQueue = std::make_unique<ResultDownloads>(*this, queue);
  }
}

void
SlabPipeline::DownloadResults(size_t queueIndex, size_t thread)
{
  DeviceQueue &     queue = *m_Queues[queueIndex];
  DownloadThread &  downloads = *queue.Down[thread];
  const DeviceGuard guard(downloads.Stream.GetDevice());
  if (queue.DownQueue)
  {
    queue.DownQueue->Run(downloads.Staging);
    return;
  }
  size_t number = 0; // number of the result on the queue
  for (size_t slab = queueIndex; slab < m_Slabs.size(); slab += m_Queues.size())
  {
    for (size_t first = 0; m_Slabs[slab].HasResult && first < m_Slabs[slab].NumberOfPlanes;
         first += m_Sizes.NumberOfResultPlanes)
    {
      Result & result = *queue.Results[number % queue.Results.size()];
      if (number % queue.Down.size() == thread)
      {
        {
          std::unique_lock<std::mutex> lock(m_Mutex);
          this->WaitUntil(lock, [&] {
            return queue.DownloadsQueued == number && result.IsTaken && result.IsComputed && result.Slab == slab &&
                   result.FirstPlane == first;
          });
          downloads.Number = number;
        }
        this->DownloadResult(queue, downloads, result);
      }
      ++number;
    }
  }
}

void
SlabPipeline::DownloadResult(DeviceQueue & queue, DownloadThread & downloads, Result & result)
{
  result.Computed.MakeWait(downloads.Stream);
  this->DownloadPlanes(queue, downloads, result);
  this->MarkDownloaded(queue, result);
}

void
SlabPipeline::CountDownloaded(size_t planes)
{
  m_BytesDown += planes * GetBytesOfPlane(m_Endpoints.Output, m_Endpoints.Axis);
  m_PlanesMoved += planes;
  m_Changed.notify_all();
}

void
SlabPipeline::MarkDownloaded(DeviceQueue & queue, Result & result)
{
  const std::lock_guard<std::mutex> lock(m_Mutex);
  if (!m_Endpoints.HasSource())
  {
    const size_t planes = result.View.Size[m_Endpoints.Axis];
    this->CountDownloaded(planes);
    m_ResultPlanesLeft -= planes;
  }
  result.IsTaken = false;
  ++queue.DownloadsDone;
  m_Changed.notify_all();
}

void
SlabPipeline::AwaitTurn(DeviceQueue & queue, size_t number)
{
  std::unique_lock<std::mutex> lock(m_Mutex);
  queue.DownloadsQueued = std::max(queue.DownloadsQueued, number + 1);
  m_Changed.notify_all();
  this->WaitUntil(lock, [&] { return queue.DownloadsDone == number; });
}

void
SlabPipeline::DownloadPlanes(DeviceQueue & queue, DownloadThread & downloads, const Result & result)
{
  const size_t planes = result.View.Size[m_Endpoints.Axis];
  if (!m_Endpoints.HasSource())
  {
    const size_t firstPlane = m_Slabs[result.Slab].FirstPlane + result.FirstPlane;
    Download(result.View, Slice(m_Endpoints.Output, m_Endpoints.Axis, firstPlane, planes), downloads.Staging, nullptr);
    return;
  }
  for (size_t first = 0; first < planes;)
  {
    const size_t number = this->GetPlanesOfDownload(result.Slab, result.FirstPlane + first);
    {
      std::unique_lock<std::mutex> lock(m_Mutex);
      this->WaitUntil(lock, [&] { return queue.DownRing.HasFree(); });
    }
    Download(Slice(result.View, m_Endpoints.Axis, first, number),
             ViewAdjacent(Slice(m_Endpoints.Output, m_Endpoints.Axis, 0, number), queue.DownRing.GetFree()),
             downloads.Staging,
             nullptr);
    first += number;
    const std::lock_guard<std::mutex> lock(m_Mutex);
    ++queue.DownRing.Filled;
    this->CountDownloaded(number);
  }
}

size_t
SlabPipeline::GetPlanesOfDownload(size_t slab, size_t plane) const
{
  const size_t part = m_Sizes.NumberOfResultPlanes;
  return std::min({ m_DownBufferPlanes, m_Slabs[slab].NumberOfPlanes - plane, part - plane % part });
}

// The thread that calls Next()

void
SlabPipeline::Report(std::unique_lock<std::mutex> & lock)
{
  m_PlanesReported = m_PlanesMoved;
  const float done = static_cast<float>(m_PlanesMoved) / static_cast<float>(m_PlanesToMove);
  lock.unlock();
  if (m_Progress)
  {
    m_Progress(done);
  }
  lock.lock();
}

SlabPipeline::DeviceQueue *
SlabPipeline::FindFreeBuffer() const
{
  DeviceQueue * const queue = m_Queues[m_Asked.Slab % m_Queues.size()].get();
  return m_Asked.Slab < m_Slabs.size() && queue->UpRing.HasFree() ? queue : nullptr;
}

SlabPipeline::DeviceQueue *
SlabPipeline::FindReadyBuffer() const
{
  DeviceQueue * const queue = m_Queues[m_Given.Slab % m_Queues.size()].get();
  return queue->DownRing.HasFilled() ? queue : nullptr;
}

void
SlabPipeline::SkipSlabsWithoutResult(Position & position) const
{
  while (position.Slab < m_Slabs.size() && !m_Slabs[position.Slab].HasResult)
  {
    ++position.Slab;
  }
}

void
SlabPipeline::Advance(Position & position, size_t planes) const
{
  position.Plane += planes;
  if (position.Plane == m_Slabs[position.Slab].NumberOfPlanes)
  {
    position = { position.Slab + 1, 0 };
  }
}

void
SlabPipeline::CallSource(DeviceQueue & queue, std::unique_lock<std::mutex> & lock)
{
  const InputSlab & slab = m_Slabs[m_Asked.Slab];
  const size_t      planes = std::min(m_UpBufferPlanes, slab.NumberOfPlanes - m_Asked.Plane);
  lock.unlock();
  m_Endpoints.Source(slab.FirstPlane + m_Asked.Plane, planes, queue.UpRing.GetFree());
  lock.lock();
  ++queue.UpRing.Filled;
  this->Advance(m_Asked, planes);
  m_Changed.notify_all();
}

void
SlabPipeline::ReleaseGiven()
{
  if (m_GivenPlanes > 0)
  {
    ++m_Queues[m_Given.Slab % m_Queues.size()]->DownRing.Emptied;
    m_ResultPlanesLeft -= m_GivenPlanes;
    this->Advance(m_Given, m_GivenPlanes);
    m_GivenPlanes = 0;
    m_Changed.notify_all();
  }
  this->SkipSlabsWithoutResult(m_Given);
}

SlabPlanes
SlabPipeline::Serve()
{
  std::unique_lock<std::mutex> lock(m_Mutex);
  this->ReleaseGiven();
  for (;;)
  {
    if (!m_Stop && m_PlanesReported < m_PlanesMoved)
    {
      this->Report(lock);
    }
    if (m_Stop || this->IsDone())
    {
      return {};
    }
    if (DeviceQueue * const ready = this->FindReadyBuffer())
    {
      m_GivenPlanes = this->GetPlanesOfDownload(m_Given.Slab, m_Given.Plane);
      return { m_Slabs[m_Given.Slab].FirstPlane + m_Given.Plane, m_GivenPlanes, ready->DownRing.GetFilled() };
    }
    if (DeviceQueue * const free = this->FindFreeBuffer())
    {
      this->CallSource(*free, lock);
      continue;
    }
    m_Changed.wait(lock, [this] {
      return m_Stop || this->IsDone() || m_PlanesReported < m_PlanesMoved || this->FindReadyBuffer() ||
             this->FindFreeBuffer();
    });
  }
}
} // namespace itk::cuda
