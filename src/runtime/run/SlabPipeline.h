// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_runtime_run_SlabPipeline_h
#define CudaFilters_runtime_run_SlabPipeline_h

#include "CudaFiltersExport.h"
#include "itkCudaDetailImageView.h"
#include "runtime/DetailNames.h"
#include "runtime/image/DeviceView.h"
#include "runtime/transfer/DownloadSequence.h"
#include "runtime/transfer/HelperThreads.h"
#include "itkCudaSlabs.h"
#include "runtime/transfer/StagingChunks.h"
#include "runtime/device/Stream.h"

#include <array>
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

// An image goes through devices in slabs of planes: while one is uploaded, work on others is queued, and results of
// earlier ones are downloaded. This knows no algorithm.

namespace itk::cuda
{
/** Planes that are uploaded together, and what becomes of them. */
struct SlabLoad
{
  size_t FirstPlane{ 0 };
  size_t Planes{ 0 };
  size_t Needs{ 0 };        // the last load whose arrival this one's result waits for
  bool   HasResult{ true }; // else it is there for the others
};

/** \class SlabWork
 * \brief What is done with the planes, by the algorithm. Its functions queue work on the stream of a lane. One call is
 * made at a time, from several threads; the lane's device is the current one.
 */
class SlabWork
{
public:
  virtual ~SlabWork() = default;

  /** After the upload; in order. */
  virtual void
  Arrive(size_t load, size_t lane, const DeviceView & planes) = 0;

  /** After all loads that it needs have arrived; in order, for one part of the load's result after the other. `result`
   * holds the planes from `first` on. `planes` may be overwritten if the result is not divided. */
  virtual void
  Compute(size_t load, size_t lane, const DeviceView & planes, size_t first, const DeviceView & result) = 0;
};

/** Where planes come from and go to: host images with data, or source and sink. */
struct SlabHostEnds
{
  CudaImageView  Input;
  CudaImageView  Output;
  CudaSlabSource Source;
  CudaSlabSink   Sink;
  unsigned int   Axis{ 0 }; // across which images are cut

  bool
  HasCallbacks() const
  {
    return static_cast<bool>(Source);
  }
};

/** What a run keeps on each lane. */
struct SlabLaneSizes
{
  size_t            Planes{ 0 };       // of a slab, at most
  size_t            Slots{ 0 };        // for loads
  size_t            Results{ 0 };      // for results, or parts of them; 0 if no load has one
  size_t            ResultPlanes{ 0 }; // of a part of a result, at most
  CudaComponentType Type{ CudaComponentType::Float };
  /** Whether loads and results lie on the device as on the host: dense pixels of the host's types, with their
   * components adjacent. Otherwise they are planar, of `Type`. */
  bool HoldsHostPixels{ false };
};

/** Planes of an image on a device, dense at `data`. */
DeviceView
MakeSlabView(const CudaImageView & shape, unsigned int axis, size_t planes, CudaComponentType type, void * data);

/** Whether the rows of the ends are dense, as SlabLaneSizes::HoldsHostPixels needs them. */
bool
HaveDenseRows(const SlabHostEnds & ends);

/** Planes of a view. */
DeviceView
GetSlabPlanes(const DeviceView & view, unsigned int axis, size_t first, size_t planes);

/** Bytes of device memory that a lane takes, with what transfers take for themselves. */
size_t
GetSlabLaneBytes(const SlabHostEnds & ends, const SlabLaneSizes & sizes);

/** \class SlabStream
 * \brief Lanes, their memory, and the runs of loads through them.
 *
 * A lane is a logical device: a device and streams of it, for each direction of the link and for the work. Load i takes
 * lane i modulo their number. Threads of each lane move planes, one thread queues the work of all lanes, and the
 * calling thread alone calls source, sink and progress. Loads from ordinary memory are an UploadSequence, and results
 * for it a DownloadSequence. Where the results' memory is page-locked, two threads take them in turns: the copies of
 * one are under way while the other one waits for its own.
 */
class CudaFilters_EXPORT SlabStream
{
public:
  /** \exception CudaError */
  SlabStream(const std::vector<int> & devices, const SlabHostEnds & ends, const SlabLaneSizes & sizes);

  /** Waits for all work. */
  ~SlabStream();

  SlabStream(const SlabStream &) = delete;
  SlabStream &
  operator=(const SlabStream &) = delete;

  /** The lane's stream for work. */
  const Context &
  GetContext(size_t lane) const;

  /** Waits for all work on the lanes, or for its failure. */
  void
  Drain() noexcept;

  /** Sends the loads through the lanes. All results are on the host on return.
   *
   * If something throws, no further call is made, all work is drained, and the exception goes on. \exception CudaError,
   * or what source, sink or progress throw */
  void
  Run(const std::vector<SlabLoad> & loads, SlabWork & work, const std::function<void(float)> & progress);

  uint64_t
  GetBytesUp() const
  {
    return m_BytesUp;
  }
  uint64_t
  GetBytesDown() const
  {
    return m_BytesDown;
  }

private:
  /** Host memory between a callback and the link. */
  struct Piece
  {
    size_t                       Load{ 0 };
    size_t                       FirstPlane{ 0 }; // of the load
    size_t                       Planes{ 0 };
    std::vector<unsigned char> * Memory{ nullptr };
  };

  /** Where a load lies on the device. */
  struct Slot
  {
    void *     Memory{ nullptr };
    DeviceView View; // of the load's planes
    Event      Uploaded;
    Event      Released; // by the work
    size_t     Load{ 0 };
    size_t     NextLoad{ 0 };    // once it is free
    bool       IsTaken{ false }; // from its upload until work that releases it was queued
    bool       IsUploaded{ false };
  };

  /** Where a result, or a part of one, lies. */
  struct Result
  {
    DeviceView View;
    Event      Computed;
    size_t     Load{ 0 };
    size_t     FirstPlane{ 0 };  // of the load
    bool       IsTaken{ false }; // from the work's queueing until the download is done
    bool       IsComputed{ false };
  };

  /** What a thread of downloads has for itself. */
  struct Downloads
  {
    explicit Downloads(int device)
      : Stream(device)
      , Staging(Stream)
    {}

    StreamLease   Stream;
    StagingChunks Staging;
    size_t        Number{ 0 }; // of the result, on its lane
  };

  class LoadSequence;
  class ResultSequence;

  struct Lane
  {
    explicit Lane(int device)
      : Work(device)
      , Up(device)
      , UpStaging{ UploadStaging(Up), UploadStaging(Up) }
    {}

    StreamLease                               Work, Up;
    HelperThreads                             UpHelpers{ true }, DownHelpers{ true };
    std::array<UploadStaging, 2>              UpStaging; // small uploads take turns; all others take the first
    size_t                                    NumberOfUploads{ 0 };
    std::vector<std::unique_ptr<Downloads>>   Down;
    size_t                                    DownloadsQueued{ 0 }, DownloadsDone{ 0 };
    std::unique_ptr<DownloadSequence>         DownSequence; // of a run, if its results are one
    DeviceBuffer                              Memory;
    std::vector<std::unique_ptr<Slot>>        Slots;
    std::vector<std::unique_ptr<Result>>      Results;
    size_t                                    ResultsQueued{ 0 };
    std::vector<std::vector<unsigned char>>   UpMemory, DownMemory;
    std::vector<std::vector<unsigned char> *> FreeUp, FreeDown;
    std::deque<Piece>                         Filled; // by the source
    std::deque<Piece>                         Ready;  // for the sink
  };

  void
  MakeLane(int device);
  DeviceView
  MakeLoadView(size_t load, void * memory) const;
  size_t
  GetDownloadThreads() const;

  // Threads
  void
  UploadLoads(size_t lane);
  void
  MakeResultSequences();
  void
  DownloadResults(size_t lane, size_t thread);
  void
  QueueWork();
  void
  MarkUploaded(Lane & lane, size_t load);
  void
  CountUploaded(size_t planes);
  void
  UploadTo(Lane & lane, const CudaImageView & host, const DeviceView & planes);
  void
  UploadPlanes(Lane & lane, Slot & slot, size_t load);
  void
  DownloadResult(Lane & lane, Downloads & downloads, Result & result);
  void
  CountDownloaded(size_t planes);
  void
  MarkDownloaded(Lane & lane, Result & result);
  void
  DownloadPlanes(Lane & lane, Downloads & downloads, const Result & result);
  void
  AwaitTurn(Lane & lane, size_t number);
  template <typename TFunction>
  void
  Guard(const TFunction & function) noexcept;

  // Calling thread
  void
  ServeCallbacks(const std::function<void(float)> & progress);
  void
  WaitForThreads(const std::function<void(float)> & progress);
  bool
  FillPiece();
  bool
  EmptyPiece();
  void
  Report(std::unique_lock<std::mutex> & lock, const std::function<void(float)> & progress);

  // Work
  Slot &
  TakeSlot(size_t load);
  bool
  WaitForWork(Slot *& slot, Result *& result);
  Slot *
  FindUploaded();
  Result *
  TakeReady();
  Slot &
  GetSlot(size_t load);
  void
  Arrive(Slot & slot);
  void
  Compute(Slot & slot, Result & result);

  void
  Reset(const std::vector<SlabLoad> & loads, SlabWork & work);
  void
  Stop(std::exception_ptr error);
  bool
  IsDone() const;
  /** Waits until `condition`, or the run stops, which throws Stopped. */
  template <typename TCondition>
  void
  WaitUntil(std::unique_lock<std::mutex> & lock, const TCondition & condition);

  const SlabLaneSizes                m_Sizes;
  const SlabHostEnds                 m_Ends;                 // as the transfers see them
  const size_t                       m_UpPiece, m_DownPiece; // planes
  const bool                         m_HasResultSequences;
  std::vector<std::unique_ptr<Lane>> m_Lanes;

  std::mutex              m_Mutex; // all below
  std::condition_variable m_Changed;
  std::vector<SlabLoad>   m_Loads;
  SlabWork *              m_Work{ nullptr };
  size_t                  m_Arrived{ 0 };                              // loads
  size_t                  m_NextCompute{ 0 }, m_NextComputePlane{ 0 }; // load, and the first plane of its next part
  size_t                  m_ResultPlanesLeft{ 0 };
  size_t                  m_NextFillLoad{ 0 }, m_NextFillPlane{ 0 };
  size_t                  m_NextSinkLoad{ 0 }, m_NextSinkPlane{ 0 };
  size_t                  m_PlanesMoved{ 0 }, m_PlanesToMove{ 0 }, m_PlanesReported{ 0 };
  bool                    m_Stop{ false };
  std::exception_ptr      m_Error;
  uint64_t                m_BytesUp{ 0 }, m_BytesDown{ 0 };
};
} // namespace itk::cuda

#endif
