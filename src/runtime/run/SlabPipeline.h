// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_runtime_run_SlabPipeline_h
#define CudaFilters_runtime_run_SlabPipeline_h

#include "CudaFiltersExport.h"
#include "itkCudaDetailImageView.h"
#include "runtime/DetailNames.h"
#include "runtime/image/DeviceView.h"
#include "runtime/run/SlabTransport.h"
#include "runtime/transfer/StagingMemory.h"
#include "runtime/transfer/TransferQueue.h"
#include "runtime/device/Stream.h"
#include "runtime/memory/DeviceMemory.h"

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

// Moves an image through devices in slabs of planes. While one slab is uploaded, work on others is queued and results
// of earlier ones are downloaded. The code does not depend on the algorithm.

namespace itk::cuda
{
/** The memory that a run keeps on each queue. */
struct SlabQueueSizes
{
  size_t            NumberOfPlanes{ 0 };       // maximum number of planes of a slab
  size_t            NumberOfSlots{ 0 };        // slots for slabs
  size_t            NumberOfResults{ 0 };      // buffers for results or parts of them; 0 if no slab has a result
  size_t            NumberOfResultPlanes{ 0 }; // maximum number of planes of a part of a result
  CudaComponentType Type{ CudaComponentType::Float };
  /** Whether slabs and results have the same layout on the device as on the host, which is dense pixels of the host's
   * types with interleaved components. Otherwise they are planar and of type `Type`. */
  bool HoldsHostPixels{ false };
};

/** Returns a view of planes of an image on a device, dense at `data`. */
DeviceView
MakeSlabView(const CudaImageView & shape, unsigned int axis, size_t planes, CudaComponentType type, void * data);

/** Returns whether the rows of source and destination are dense, as SlabQueueSizes::HoldsHostPixels requires. */
bool
HaveDenseRows(const SlabEndpoints & endpoints);

/** Returns the bytes of device memory that a queue uses, including the memory that its transfers allocate. */
size_t
GetSlabQueueBytes(const SlabEndpoints & endpoints, const SlabQueueSizes & sizes);

/** \class SlabPipeline
 * \brief Sends slabs through one or several queues, so that uploads, work and downloads run at the same time.
 *
 * A queue is a logical device: a device, a stream for each direction of the link and one for the work, and memory for
 * slabs and results. Slab i goes through queue i modulo the number of queues. Each queue has threads that move planes,
 * one thread queues the work of all queues, and only the thread that calls Next() calls source and progress. Slabs from
 * ordinary memory and results for ordinary memory go through a TransferQueue. If the results' memory is page-locked,
 * two threads download them alternately, so that the copies of one result are running while the other thread waits for
 * its own.
 */
class CudaFilters_EXPORT SlabPipeline : public SlabTransport
{
public:
  /** \exception CudaError */
  SlabPipeline(const std::vector<int> & devices, const SlabEndpoints & endpoints, const SlabQueueSizes & sizes);

  /** Stops the run, if it is not complete, and waits for all work. */
  ~SlabPipeline() override;

  SlabPipeline(const SlabPipeline &) = delete;
  SlabPipeline &
  operator=(const SlabPipeline &) = delete;

  const Context &
  GetContext(size_t queue) const override;

  void
  Drain() noexcept override;

  void
  Cancel() noexcept override;

  /** Starts to send slabs through the queues. The threads of the queues continue between calls of Next() as long as
   * they have host buffers. The previous run must be complete. */
  void
  Start(const std::vector<InputSlab> & slabs, SlabAlgorithm & algorithm, std::function<void(float)> progress) override;

  /** Calls source and progress until planes of the results are on the host. Returns the planes, which are valid until
   * the next call. Returns no planes when the run is complete, which are all if results go to an image.
   *
   * If anything throws, no further call is made, all work is drained, and the exception is rethrown.
   * \exception CudaError, or any exception that source or progress throw */
  SlabPlanes
  Next() override;

  uint64_t
  GetBytesUp() const override
  {
    return m_BytesUp;
  }
  uint64_t
  GetBytesDown() const override
  {
    return m_BytesDown;
  }

private:
  /** Buffers of planes in host memory that one thread fills and another one empties, in turn. */
  struct HostRing
  {
    bool
    HasFree() const
    {
      return Filled - Emptied < Buffers.size();
    }
    bool
    HasFilled() const
    {
      return Emptied < Filled;
    }
    unsigned char *
    GetFree()
    {
      return Buffers[Filled % Buffers.size()].data();
    }
    unsigned char *
    GetFilled()
    {
      return Buffers[Emptied % Buffers.size()].data();
    }

    std::vector<std::vector<unsigned char>> Buffers;
    size_t                                  Filled{ 0 }, Emptied{ 0 }; // numbers of buffers during a run
  };

  /** A position among the planes of the slabs. */
  struct Position
  {
    size_t Slab{ 0 };
    size_t Plane{ 0 }; // relative to the slab
  };

  /** The device memory of one slab. */
  struct Slot
  {
    void *     Memory{ nullptr };
    DeviceView View; // view of the slab's planes
    Event      Uploaded;
    Event      Released; // recorded when the work has stopped using the slot
    size_t     Slab{ 0 };
    size_t     NextSlab{ 0 };    // the slab that takes the slot next
    bool       IsTaken{ false }; // from the upload until the work that releases the slot was queued
    bool       IsUploaded{ false };
  };

  /** The device memory of a result or of a part of one. */
  struct Result
  {
    DeviceView View;
    Event      Computed;
    size_t     Slab{ 0 };
    size_t     FirstPlane{ 0 };  // first plane, relative to the slab
    bool       IsTaken{ false }; // from the queueing of the work until the download is done
    bool       IsComputed{ false };
  };

  /** The state of one download thread. */
  struct DownloadThread
  {
    explicit DownloadThread(int device)
      : Stream(device)
      , Staging(Stream)
    {}

    StreamLease   Stream;
    StagingMemory Staging;
    size_t        Number{ 0 }; // number of the result on its queue
  };

  class SlabUploads;
  class ResultDownloads;

  struct DeviceQueue
  {
    explicit DeviceQueue(int device)
      : Compute(device)
      , Up(device)
      , UpStaging(Up)
    {}

    StreamLease                                  Compute, Up;
    StagingMemory                                UpStaging;
    std::vector<std::unique_ptr<DownloadThread>> Down;
    size_t                                       DownloadsQueued{ 0 }, DownloadsDone{ 0 };
    std::unique_ptr<TransferQueue>               DownQueue; // exists during a run whose results form a queue
    DeviceBuffer                                 Memory;
    std::vector<std::unique_ptr<Slot>>           Slots;
    std::vector<std::unique_ptr<Result>>         Results;
    size_t                                       ResultsQueued{ 0 };
    HostRing UpRing, DownRing; // between the link and the thread that calls Next(), if there is a source
  };

  /** Creates a queue on the device, with its streams, the memory of its slots and results, and its host buffers. */
  void
  MakeQueue(int device, unsigned int numberOfQueues);
  /** Returns a view of a slab's planes in the memory of a slot. */
  DeviceView
  MakeSlabView(size_t slab, void * memory) const;
  /** Returns the number of planes of a result that go through one host buffer, from a plane of a slab on. */
  size_t
  GetPlanesOfDownload(size_t slab, size_t plane) const;
  /** Returns two if a queue holds at least two results and each of them is a single transfer to page-locked memory that
   * needs no device memory. Otherwise returns one. */
  size_t
  GetNumberOfDownloadThreads() const;

  // Threads
  /** Uploads the slabs of a queue in their order, as SlabUploads if possible, otherwise one by one. */
  void
  UploadSlabs(size_t queue);
  /** Gives each queue its ResultDownloads if the run's results can be queued. */
  void
  MakeResultDownloads();
  /** Downloads the results of a queue in their order. If they are not queued, the queue's threads take turns. */
  void
  DownloadResults(size_t queue, size_t thread);
  /** Queues the work. Uploaded slabs are passed to the algorithm in their order, and results are queued as soon as
   * their last required slab has been passed to it. */
  void
  QueueWork();
  /** Marks a slab as uploaded when its copies are queued, and records the event that the work on the slab waits for. */
  void
  MarkUploaded(DeviceQueue & queue, size_t slab);
  /** Adds uploaded planes to the bytes and to the progress. */
  void
  CountUploaded(size_t planes);
  /** Uploads the planes of a slab to its slot, from the input or from host buffers that the source has filled. */
  void
  UploadPlanes(DeviceQueue & queue, Slot & slot, size_t slab);
  /** Downloads a result, in stream order after the work that computes it, and then frees its buffer. */
  void
  DownloadResult(DeviceQueue & queue, DownloadThread & downloads, Result & result);
  /** Counts downloaded planes. The caller holds the mutex. */
  void
  CountDownloaded(size_t planes);
  /** Frees the buffer of a downloaded result. Counts its planes if they are in an image; other planes are counted when
   * a host buffer holds them. */
  void
  MarkDownloaded(DeviceQueue & queue, Result & result);
  /** Downloads the planes of a result, to the output or to host buffers. */
  void
  DownloadPlanes(DeviceQueue & queue, DownloadThread & downloads, const Result & result);
  /** Blocks a download whose copies are queued until the previous downloads are done. Large downloads call it
   * repeatedly. */
  void
  AwaitTurn(DeviceQueue & queue, size_t number);
  /** Calls the function of a thread. If it throws, the run stops, because an exception must not leave the thread. */
  template <typename TFunction>
  void
  RunGuarded(const TFunction & function) noexcept;

  // Calling thread
  /** Calls source and progress until a host buffer holds planes of a result, which it returns, or the run is done or
   * stops. */
  SlabPlanes
  Serve();
  void
  JoinThreads();
  /** Waits for the end of the threads, and rethrows the error that has stopped the run, if any. */
  void
  Finish();
  /** Lets the source fill a host buffer of the queue with its next planes. The lock is released during the call. */
  void
  CallSource(DeviceQueue & queue, std::unique_lock<std::mutex> & lock);
  /** Returns the queue whose host buffer the source can fill next, or nullptr if there is none. The caller holds the
   * mutex. */
  DeviceQueue *
  FindFreeBuffer() const;
  /** Returns the queue whose host buffer holds the next planes of the results, or nullptr if none does yet. The caller
   * holds the mutex. */
  DeviceQueue *
  FindReadyBuffer() const;
  void
  SkipSlabsWithoutResult(Position & position) const;
  /** Moves a position by some planes of its slab. */
  void
  Advance(Position & position, size_t planes) const;
  /** Frees the host buffer of the planes that Next() has returned, and finds the next slab that has a result. The
   * caller holds the mutex. */
  void
  ReleaseGiven();
  /** Calls the progress function with the share of planes that have been moved. The lock is released during the call.
   */
  void
  Report(std::unique_lock<std::mutex> & lock);

  // Work
  /** Waits until the slab's slot is free, and takes it. Slabs take slots in order, even if one upload thread runs ahead
   * of another, because each slot records which slab is next. The upload stream waits for the work on the previous slab
   * of the slot. */
  Slot &
  TakeSlot(size_t slab);
  /** Blocks until a result can be queued or a slab has been uploaded. Returns false if everything is queued. */
  bool
  WaitForWork(Slot *& slot, Result *& result);
  /** Returns the slot of the next slab for OnUploaded(), or nullptr if this slab has not been uploaded yet. */
  Slot *
  FindUploaded();
  /** Takes the buffer for the next part of a result that can be queued. Returns nullptr if there is none yet. */
  Result *
  TakeComputableResult();
  /** Returns the slot that is assigned to the slab. Another slab may still be in it. */
  Slot &
  GetSlot(size_t slab);
  /** Passes an uploaded slab to the algorithm, and frees the slot if the slab has no result. */
  void
  OnUploaded(Slot & slot);
  /** Queues the work on a result or a part of one, and frees the slot after the slab's last part. */
  void
  Compute(Slot & slot, Result & result);

  /** Sets the state of the run to its beginning. */
  void
  Reset(const std::vector<InputSlab> & slabs, SlabAlgorithm & algorithm);
  /** Stops all threads. Next() rethrows the first error. */
  void
  Stop(std::exception_ptr error);
  /** Returns whether the algorithm has all slabs and all results are delivered. The caller holds the mutex. */
  bool
  IsDone() const;
  /** Waits until `condition` holds. Throws Stopped if the run stops. */
  template <typename TCondition>
  void
  WaitUntil(std::unique_lock<std::mutex> & lock, const TCondition & condition);

  const SlabQueueSizes                      m_Sizes;
  const SlabEndpoints                       m_Endpoints; // source and destination in the form that transfers use
  const size_t                              m_UpBufferPlanes, m_DownBufferPlanes; // number of planes
  const bool                                m_QueuesResults;
  std::vector<std::unique_ptr<DeviceQueue>> m_Queues;
  std::vector<std::thread>                  m_Threads;
  std::function<void(float)>                m_Progress;

  std::mutex              m_Mutex; // protects all members below
  std::condition_variable m_Changed;
  std::vector<InputSlab>  m_Slabs;
  SlabAlgorithm *         m_Algorithm{ nullptr };
  size_t                  m_NumberOfSlabsHandedOver{ 0 }; // number of slabs that were passed to OnUploaded()
  Position                m_NextPart;                     // the part of a result that is computed next
  size_t                  m_ResultPlanesLeft{ 0 };
  Position                m_Asked; // the next planes that the source is asked for
  Position                m_Given; // the planes that Next() has returned last, or the next ones if there are none
  size_t                  m_GivenPlanes{ 0 };
  size_t                  m_PlanesMoved{ 0 }, m_PlanesToMove{ 0 }, m_PlanesReported{ 0 };
  bool                    m_Stop{ false };
  std::exception_ptr      m_Error;
  uint64_t                m_BytesUp{ 0 }, m_BytesDown{ 0 };
};
} // namespace itk::cuda

#endif
