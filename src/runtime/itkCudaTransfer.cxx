// SPDX-License-Identifier: Apache-2.0
#include "itkCudaTransfer.h"

#include "itkCudaCall.h"
#include "itkCudaConvert.h"
#include "itkCudaFiltersConfiguration.h"
#include "itkCudaHostRuns.h"
#include "itkCudaMemory.h"
#include "itkCudaRoundUp.h"
#include "itkMacro.h"
#include "itkThreadPool.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

namespace itk::cuda
{
namespace
{
constexpr size_t mebibyte = size_t{ 1 } << 20;
constexpr size_t maximumBandSize = 256 * mebibyte;
constexpr size_t progressStep = 64 * mebibyte;
constexpr size_t bytesPerThread = mebibyte; // of downloads; less is not worth a thread

constexpr size_t pageSize = 4096;

// The limits below are of one H200 with 16 cores. Where each fills chunks of its own, an upload of 200 MB takes 5.6 ms
// with 4 threads, 4.4 with 6, 4.5 with 8; one of 30 MB 1.3, 1.0 and 1.0.
constexpr unsigned int maximumUploadThreads = 8;
constexpr size_t       minimumPieceSize = mebibyte / 2;
constexpr size_t       lanesPerWorker = 2;
// Each copy costs the device 2.7 us more than its bytes, and the driver some 10 us. In parts, smoothing takes 1.05 ms
// in place of 1.6 for 2048^2 float, .74 in place of 1.06 for 128^3, 3.4 in place of 3.8 for 4096^2, and the upload of a
// snake of 30 MB .83 in place of .96. Where pieces are more than chunks, threads would wait for each other: 8192^2 then
// takes 12 to 13.3 ms in place of 12.0. With parts of 128 KB 30 MB are downloaded in 1.1 ms in place of .96.
constexpr size_t maximumSizeInParts = 64 * mebibyte;
constexpr size_t maximumLanesPerWorkerInParts = 4;
constexpr size_t piecesInParts = 16; // up to 32 MB; beyond, pieces are as large as chunks
constexpr size_t partSize = mebibyte / 4;
// Of these sizes the link reads what is in memory sooner than what is in the caches of several processors: 30 MB
// take .9 to 1.1 ms in place of 1.6. Smaller ones take longer (smoothing 256^2 .11 ms in place of .08); larger ones use
// the same chunks so often that the caches save the way to memory (copies of 200 MB alone: 4.2 ms in place of 4.6).
constexpr size_t minimumPastCache = 2 * mebibyte;
constexpr size_t maximumPastCache = 64 * mebibyte;

constexpr size_t minimumPinnedRun =
  512; // bytes; shorter rows are gathered faster by the processor than by the copy engine
constexpr size_t maximumPitch = 0x7fffffff; // bytes, of two-dimensional copies on every device
constexpr size_t maximumRowsPerCopy = mebibyte;

std::atomic<unsigned long> uploads{ 0 };
std::atomic<unsigned long> downloads{ 0 };

enum class Direction
{
  Upload,
  Download
};

/** How the bytes of a host image lie on the device: straight in the rows of the device image, or as dense pixels that a
 * kernel converts, one band after the other in the same buffer. */
struct Layout
{
  bool   Direct;
  size_t Pitch; // bytes from row to row, if direct and padded; else 0
  size_t NumberOfBytes;
  size_t BandSize; // bytes; all of them if direct
  size_t PixelsPerBand;
};

/** Whether images of the type are converted to and from. */
bool
IsComputeType(CudaComponentType type)
{
  return type == CudaComponentType::Float || type == CudaComponentType::Double;
}

Layout
MakeLayout(const CudaImageView & host, CudaComponentType deviceType, size_t pitch, bool uniformRows)
{
  const size_t pixelBytes = host.NumberOfComponents * CudaComponentSize(host.ComponentType);
  const size_t rowBytes = host.Size[0] * pixelBytes;
  const size_t numberOfPixels = host.GetNumberOfPixels();
  const bool   denseRows = host.Size[0] == 1 || host.Stride[0] == host.NumberOfComponents;
  const bool   sameType = host.ComponentType == deviceType && host.NumberOfComponents == 1;
  // Padding is copied too: in narrow images it would be most of the bytes.
  const bool littlePadding = pitch >= rowBytes && (pitch - rowBytes) * 4 <= rowBytes;
  if (sameType && denseRows && uniformRows && (littlePadding || !IsComputeType(deviceType)))
  {
    const size_t rows = host.Size[0] == 0 ? 0 : numberOfPixels / host.Size[0];
    const size_t bytes = rows == 0 ? 0 : (rows - 1) * pitch + rowBytes;
    return { true, pitch == rowBytes ? 0 : pitch, bytes, bytes, numberOfPixels };
  }
  const size_t pixelsPerBand =
    std::min(numberOfPixels, std::max(maximumBandSize / std::max<size_t>(pixelBytes, 1), size_t{ 1 }));
  return { false, 0, numberOfPixels * pixelBytes, pixelsPerBand * pixelBytes, pixelsPerBand };
}

Layout
MakeLayout(const CudaImageView & host, const DeviceView & device)
{
  const size_t rows = device.Size[1] * device.Size[2] * device.Size[3];
  const bool   uniformZ = device.Size[2] == 1 || device.Stride[2] == device.Stride[1] * device.Size[1];
  const bool   uniformT = device.Size[3] == 1 || device.Stride[3] == device.Stride[1] * device.Size[1] * device.Size[2];
  const size_t stride = rows == 1 ? device.Size[0] : device.Stride[1];
  return MakeLayout(host, device.ComponentType, stride * CudaComponentSize(device.ComponentType), uniformZ && uniformT);
}

void
CheckViews(const CudaImageView & host, const DeviceView & device)
{
  if (GetPlanarSize(host) != device.Size || device.Stride[0] != 1)
  {
    itkGenericExceptionMacro(<< "The device image differs in size or components from the host image of " << host.Size[0]
                             << " x " << host.Size[1] << " x " << host.Size[2] << " x " << host.Size[3] << " pixels of "
                             << host.NumberOfComponents << " components, or its rows are not dense");
  }
  if (!IsComputeType(device.ComponentType) &&
      !(device.ComponentType == host.ComponentType && MakeLayout(host, device).Direct))
  {
    itkGenericExceptionMacro(<< "The device image has components of type " << static_cast<int>(device.ComponentType)
                             << "; it must have Float or Double, or dense rows of the host image's type, "
                             << static_cast<int>(host.ComponentType) << ", and one component to a pixel");
  }
}

/** Threads of ITK's pool beside the calling one. The number in the process is bounded, however many filters transfer at
 * once: those that come late do with fewer, at worst with the calling thread alone. Nor is one waited for that has not
 * begun, so that transfers inside the pool's own tasks never wait for each other. */
class HelperThreads
{
public:
  explicit HelperThreads(unsigned int wanted)
  {
    const unsigned int limit = CudaFiltersConfiguration::GetNumberOfTransferThreads();
    unsigned int       active = s_Active;
    do
    {
      m_Number = std::min(wanted, limit - std::min(limit, active));
    } while (!s_Active.compare_exchange_weak(active, active + m_Number));
  }

  ~HelperThreads()
  {
    this->Join();
    s_Active -= m_Number;
  }

  HelperThreads(const HelperThreads &) = delete;
  HelperThreads &
  operator=(const HelperThreads &) = delete;

  unsigned int
  GetNumber() const
  {
    return m_Number;
  }

  /** Has `function(1)` to `function(number)` called, which must not throw, as far as threads are free before Join(). */
  template <typename TFunction>
  void
  Start(const TFunction & function)
  {
    try
    {
      for (unsigned int index = 1; index <= m_Number; ++index)
      {
        ThreadPool::GetInstance()->AddWork([team = m_Team, function, index]() {
          if (team->Enter())
          {
            function(index);
            team->Leave();
          }
        });
      }
    }
    catch (const std::exception &)
    {
      // The threads that were asked, and the calling one, do all the work.
    }
  }

  void
  Join()
  {
    m_Team->Close();
  }

private:
  /** Those at work; lives until the pool has forgotten the last task. */
  class Team
  {
  public:
    bool
    Enter()
    {
      const std::lock_guard<std::mutex> lock(m_Mutex);
      m_NumberAtWork += m_IsClosed ? 0 : 1;
      return !m_IsClosed;
    }

    void
    Leave()
    {
      const std::lock_guard<std::mutex> lock(m_Mutex);
      --m_NumberAtWork;
      m_Left.notify_one();
    }

    /** Lets nobody in any more, and waits until all have left. */
    void
    Close()
    {
      std::unique_lock<std::mutex> lock(m_Mutex);
      m_IsClosed = true;
      m_Left.wait(lock, [this] { return m_NumberAtWork == 0; });
    }

  private:
    std::mutex              m_Mutex;
    std::condition_variable m_Left;
    bool                    m_IsClosed{ false };
    unsigned int            m_NumberAtWork{ 0 };
  };

  static std::atomic<unsigned int> s_Active;

  unsigned int                m_Number{ 0 };
  const std::shared_ptr<Team> m_Team{ std::make_shared<Team>() };
};

std::atomic<unsigned int> HelperThreads::s_Active{ 0 };

/** The part of the job that is copied in one go. */
struct Piece
{
  size_t Band;
  size_t Begin; // bytes from the start of all
  size_t End;
};

/** The part of a piece that one of several threads copies between host image and chunk. */
struct Part
{
  size_t Piece;
  size_t Begin; // bytes from the start of all
  size_t End;
};

/** A chunk of page-locked memory on its way between host and device. */
struct Lane
{
  PinnedBuffer         Chunk;
  std::optional<Event> Copied;
  std::optional<Piece> Pending;        // to be waited for
  std::atomic<size_t>  PartsLeft{ 0 }; // to be filled
};

/** One transfer. Bands follow each other in the order of the stream's work; within a band the pieces are copied in any
 * order. Several threads each have two lanes, so that one is filled or emptied while the other is on the link. Small
 * transfers have a lane for every piece, and all threads fill or empty one after the other together, in parts: the link
 * has work sooner, and the host less of it in the end. */
class Transfer
{
public:
  Transfer(Direction                direction,
           const CudaImageView &    host,
           const DeviceView &       device,
           StreamLease &            stream,
           const TransferProgress & progress,
           const RowGroups &        groups = {})
    : m_Direction(direction)
    , m_Host(host)
    , m_Device(device)
    , m_Stream(stream)
    , m_Progress(progress)
    , m_Groups(groups)
    , m_Layout(MakeLayout(host, device))
    , m_Runs(host, m_Layout.Pitch)
    , m_Raw(m_Layout.Direct ? 0 : m_Layout.BandSize, stream)
    , m_BytesToSend(this->GetNumberOfGroups())
  {
    for (size_t group = 0; group < m_BytesToSend.size(); ++group)
    {
      m_BytesToSend[group] = this->GetGroupEnd(group) - group * this->GetGroupSize();
    }
  }

  void
  Run();

private:
  bool
  IsHostPinned() const;
  void
  RunPinned();
  void
  CopyPinned(size_t band, size_t begin, size_t end);
  void
  CopyRuns(char * host, char * device, size_t numberOfRuns);

  void
  RunStaged();
  void
  Work(unsigned int worker) noexcept;
  void
  UploadPieces(unsigned int worker);
  void
  DownloadPieces(unsigned int worker);
  void
  UploadParts(unsigned int worker);
  void
  DownloadParts(unsigned int worker);
  void
  MakePieces(size_t workers);
  void
  PrepareParts();
  bool
  TakePiece(Piece & piece);
  bool
  TakePart(Part & part);
  void
  PrepareLane(Lane & lane);
  void
  Gather(const Lane & lane, const Piece & piece, size_t begin, size_t end);
  void
  Send(Lane & lane, const Piece & piece, bool isAwaited);
  void
  Empty(Lane & lane);
  bool
  WaitForBand(size_t band);
  void
  FinishPiece(size_t band);
  void
  CountSent(size_t begin, size_t end);
  void
  CountDone(unsigned int worker, size_t bytes);
  void
  Fail(std::exception_ptr error);

  size_t
  GetNumberOfBands() const
  {
    return (m_Layout.NumberOfBytes + m_Layout.BandSize - 1) / m_Layout.BandSize;
  }
  size_t
  GetBandEnd(size_t band) const
  {
    return std::min((band + 1) * m_Layout.BandSize, m_Layout.NumberOfBytes);
  }
  char *
  GetDeviceAddress(size_t band, size_t position) const
  {
    return m_Layout.Direct ? static_cast<char *>(m_Device.Data) + position
                           : static_cast<char *>(m_Raw.GetPointer()) + (position - band * m_Layout.BandSize);
  }
  /** Bytes of a group of rows. */
  size_t
  GetGroupSize() const
  {
    const size_t rowBytes = m_Host.Size[0] * CudaComponentSize(m_Host.ComponentType);
    return m_Groups.RowsPerGroup * std::max(m_Layout.Pitch, rowBytes);
  }
  size_t
  GetNumberOfGroups() const
  {
    return m_Groups.Sent ? (m_Layout.NumberOfBytes + this->GetGroupSize() - 1) / this->GetGroupSize() : 0;
  }
  size_t
  GetGroupEnd(size_t group) const
  {
    return std::min((group + 1) * this->GetGroupSize(), m_Layout.NumberOfBytes);
  }
  void
  Convert(size_t band);
  void
  Report(float share) const
  {
    if (m_Progress)
    {
      m_Progress(share);
    }
  }

  const Direction          m_Direction;
  const CudaImageView &    m_Host;
  const DeviceView &       m_Device;
  StreamLease &            m_Stream;
  const TransferProgress & m_Progress;
  const RowGroups &        m_Groups;
  const Layout             m_Layout;
  const HostRuns           m_Runs;
  const DeviceBuffer       m_Raw;

  std::vector<std::atomic<size_t>> m_BytesToSend; // by group of rows

  bool                m_InParts{ false };
  std::vector<Piece>  m_Pieces;
  std::vector<size_t> m_PiecesOfBand;
  std::vector<Lane>   m_Lanes; // by piece if in parts, else two to a worker
  std::atomic<size_t> m_NextPiece{ 0 };
  std::atomic<size_t> m_NextPart{ 0 };
  std::atomic<size_t> m_BytesDone{ 0 };
  size_t              m_BytesReported{ 0 };

  std::mutex              m_Mutex;
  std::condition_variable m_BandOpened;
  size_t                  m_OpenBand{ 0 };       // the band whose pieces may be copied
  size_t                  m_PiecesFinished{ 0 }; // in that band
  std::atomic<bool>       m_Stop{ false };
  std::exception_ptr      m_Error;
};

void
Transfer::Run()
{
  if (m_Layout.NumberOfBytes == 0)
  {
    return;
  }
  const DeviceGuard guard(m_Stream.GetDevice());
  try
  {
    if (this->IsHostPinned())
    {
      this->RunPinned();
    }
    else
    {
      this->RunStaged();
    }
    this->Report(1.0f);
  }
  catch (...)
  {
    // Copies in flight still use the host image and the chunks.
    m_Stream.Drain();
    throw;
  }
}

/** Between the device image and the dense pixels of a band. */
void
Transfer::Convert(size_t band)
{
  if (m_Layout.Direct)
  {
    return;
  }
  const size_t first = band * m_Layout.PixelsPerBand;
  const size_t number = std::min(m_Layout.PixelsPerBand, m_Host.GetNumberOfPixels() - first);
  if (m_Direction == Direction::Upload)
  {
    ConvertToPlanar(m_Raw.GetPointer(), m_Host.ComponentType, m_Device, first, number, m_Stream.GetStream());
  }
  else
  {
    ConvertFromPlanar(m_Device, first, number, m_Raw.GetPointer(), m_Host.ComponentType, m_Stream.GetStream());
  }
}

/** The query may fail: the memory then passes for ordinary memory, which is slower and always works. */
bool
Transfer::IsHostPinned() const
{
  const auto isPinned = [](const void * address) {
    cudaPointerAttributes attributes{};
    return ITK_CUDA_TRY(cudaPointerGetAttributes(&attributes, address)) == cudaSuccess &&
           attributes.type == cudaMemoryTypeHost;
  };
  return m_Runs.GetRunSize() >= minimumPinnedRun && isPinned(m_Runs.GetFirstByte()) && isPinned(m_Runs.GetLastByte());
}

void
Transfer::RunPinned()
{
  const size_t bandSize = m_Layout.Direct ? maximumBandSize : m_Layout.BandSize;
  size_t       band = 0;
  for (size_t begin = 0; begin < m_Layout.NumberOfBytes; begin += bandSize, ++band)
  {
    const size_t end = std::min(begin + bandSize, m_Layout.NumberOfBytes);
    if (m_Direction == Direction::Download)
    {
      this->Convert(band);
    }
    this->CopyPinned(band, begin, end);
    this->CountSent(begin, end);
    if (m_Direction == Direction::Upload)
    {
      this->Convert(band);
    }
    m_Stream.Synchronize();
    if (end < m_Layout.NumberOfBytes)
    {
      this->Report(static_cast<float>(static_cast<double>(end) / static_cast<double>(m_Layout.NumberOfBytes)));
    }
  }
}

/** Bytes `begin` to `end` straight between the host image and the device. */
void
Transfer::CopyPinned(size_t band, size_t begin, size_t end)
{
  const size_t step = m_Runs.GetStep();
  const size_t run = m_Runs.GetRunSize();
  const auto   kind = m_Direction == Direction::Upload ? cudaMemcpyHostToDevice : cudaMemcpyDeviceToHost;
  for (size_t position = begin; position < end;)
  {
    const size_t index = position / step;
    const size_t offset = position - index * step;
    char * const device = this->GetDeviceAddress(band, position);
    if (offset == 0 && end - position >= run)
    {
      const size_t whole = (end - position - run) / step + 1;
      const size_t number = std::min({ whole, m_Runs.GetNumberOfEquidistantRuns(index), maximumRowsPerCopy });
      this->CopyRuns(m_Runs.GetRun(index), device, number);
      position += number * step;
    }
    else if (offset < run)
    {
      const size_t bytes = std::min(run - offset, end - position);
      char * const host = m_Runs.GetRun(index) + offset;
      const bool   upload = m_Direction == Direction::Upload;
      ITK_CUDA_CALL(cudaMemcpyAsync(upload ? device : host, upload ? host : device, bytes, kind, m_Stream.GetStream()));
      position += bytes;
    }
    else
    {
      position = (index + 1) * step; // past the padding
    }
  }
}

/** Whole runs that lie at equal distances on both sides. */
void
Transfer::CopyRuns(char * host, char * device, size_t numberOfRuns)
{
  const bool   upload = m_Direction == Direction::Upload;
  const auto   kind = upload ? cudaMemcpyHostToDevice : cudaMemcpyDeviceToHost;
  const size_t hostPitch = m_Runs.GetFirstStride();
  const size_t devicePitch = m_Runs.GetStep();
  const size_t run = m_Runs.GetRunSize();
  if (numberOfRuns > 1 && hostPitch <= maximumPitch && devicePitch <= maximumPitch)
  {
    ITK_CUDA_CALL(cudaMemcpy2DAsync(upload ? device : host,
                                    upload ? devicePitch : hostPitch,
                                    upload ? host : device,
                                    upload ? hostPitch : devicePitch,
                                    run,
                                    numberOfRuns,
                                    kind,
                                    m_Stream.GetStream()));
    return;
  }
  for (size_t index = 0; index < numberOfRuns; ++index)
  {
    char * const from = upload ? host + index * hostPitch : device + index * devicePitch;
    char * const to = upload ? device + index * devicePitch : host + index * hostPitch;
    ITK_CUDA_CALL(cudaMemcpyAsync(to, from, run, kind, m_Stream.GetStream()));
  }
}

void
Transfer::RunStaged()
{
  const size_t       bytes = m_Layout.NumberOfBytes;
  const bool         upload = m_Direction == Direction::Upload;
  const unsigned int threads = CudaFiltersConfiguration::GetNumberOfTransferThreads();
  const unsigned int limit = std::max(1u, upload ? std::min(threads, maximumUploadThreads) : threads);
  const size_t       share = upload ? minimumPieceSize : bytesPerThread;

  HelperThreads helpers(static_cast<unsigned int>(std::clamp<size_t>(bytes / share, 1, limit)) - 1);
  const size_t  workers = helpers.GetNumber() + size_t{ 1 };
  this->MakePieces(workers);
  if (!upload)
  {
    this->Convert(0);
  }
  if (m_InParts)
  {
    this->PrepareParts();
  }
  helpers.Start([this](unsigned int worker) { this->Work(worker); });
  this->Work(0);
  helpers.Join();
  if (m_Error)
  {
    std::rethrow_exception(m_Error);
  }
  for (Lane & lane : m_Lanes)
  {
    if (upload && lane.Chunk.GetPointer())
    {
      m_Stream.Keep(std::move(lane.Chunk)); // the last copies may still be under way
    }
  }
}

void
Transfer::Work(unsigned int worker) noexcept
{
  try
  {
    const DeviceGuard guard(m_Stream.GetDevice());
    if (m_Direction == Direction::Upload)
    {
      m_InParts ? this->UploadParts(worker) : this->UploadPieces(worker);
    }
    else
    {
      m_InParts ? this->DownloadParts(worker) : this->DownloadPieces(worker);
    }
  }
  catch (...)
  {
    this->Fail(std::current_exception());
  }
}

void
Transfer::UploadPieces(unsigned int worker)
{
  Lane * const lanes = &m_Lanes[lanesPerWorker * worker];
  Piece        piece{};
  for (size_t turn = 0; this->TakePiece(piece); ++turn)
  {
    Lane & lane = lanes[turn % lanesPerWorker];
    this->PrepareLane(lane);
    this->Empty(lane);
    this->Gather(lane, piece, piece.Begin, piece.End);
    if (!this->WaitForBand(piece.Band))
    {
      return;
    }
    const bool lanesAreUsedAgain = m_NextPiece < m_Pieces.size();
    this->Send(lane, piece, lanesAreUsedAgain);
    this->CountDone(worker, piece.End - piece.Begin);
  }
}

void
Transfer::DownloadPieces(unsigned int worker)
{
  Lane * const lanes = &m_Lanes[lanesPerWorker * worker];
  Piece        piece{};
  size_t       turn = 0;
  for (; this->TakePiece(piece); ++turn)
  {
    Lane & lane = lanes[turn % lanesPerWorker];
    this->PrepareLane(lane);
    this->Empty(lane);
    if (!this->WaitForBand(piece.Band))
    {
      return;
    }
    this->Send(lane, piece, true);
    this->CountDone(worker, piece.End - piece.Begin);
  }
  for (size_t older = 0; older < lanesPerWorker; ++older)
  {
    this->Empty(lanes[(turn + older) % lanesPerWorker]);
  }
}

void
Transfer::UploadParts(unsigned int worker)
{
  Part part{};
  while (this->TakePart(part))
  {
    Lane &        lane = m_Lanes[part.Piece];
    const Piece & piece = m_Pieces[part.Piece];
    this->Gather(lane, piece, part.Begin, part.End);
    if (--lane.PartsLeft == 0)
    {
      this->Send(lane, piece, false);
    }
    this->CountDone(worker, part.End - part.Begin);
  }
}

void
Transfer::DownloadParts(unsigned int worker)
{
  Part part{};
  while (this->TakePart(part))
  {
    const Lane & lane = m_Lanes[part.Piece];
    lane.Copied->Synchronize();
    const char * const chunk = static_cast<const char *>(lane.Chunk.GetPointer());
    m_Runs.Scatter(chunk + (part.Begin - m_Pieces[part.Piece].Begin), part.Begin, part.End);
    this->CountDone(worker, part.End - part.Begin);
  }
}

/** Divides the bands into pieces of a chunk at most. Where one thread scatters a piece, the last ones are smaller. */
void
Transfer::MakePieces(size_t workers)
{
  const size_t bytes = m_Layout.NumberOfBytes;
  const size_t inParts =
    std::clamp(RoundUp(bytes / piecesInParts, partSize), minimumPieceSize, PinnedBuffer::ChunkSize);
  m_InParts = workers > 1 && bytes <= std::min(maximumSizeInParts, maximumLanesPerWorkerInParts * workers * inParts);
  const size_t lanes = lanesPerWorker * workers;
  const size_t alone = std::clamp(RoundUp(bytes / lanes, pageSize), minimumPieceSize, PinnedBuffer::ChunkSize);
  const size_t most = m_InParts ? inParts : alone;
  const size_t least = m_InParts || m_Direction == Direction::Upload ? most : minimumPieceSize;
  for (size_t band = 0; band < this->GetNumberOfBands(); ++band)
  {
    const size_t before = m_Pieces.size();
    for (size_t begin = band * m_Layout.BandSize; begin < this->GetBandEnd(band); begin = m_Pieces.back().End)
    {
      const size_t size = std::clamp(RoundUp((bytes - begin) / workers, pageSize), least, most);
      m_Pieces.push_back({ band, begin, std::min(begin + size, this->GetBandEnd(band)) });
    }
    m_PiecesOfBand.push_back(m_Pieces.size() - before);
  }
  m_Lanes = std::vector<Lane>(m_InParts ? m_Pieces.size() : lanes);
}

/** Before the threads begin, each piece has its chunk, and what is downloaded is on its way. */
void
Transfer::PrepareParts()
{
  for (size_t index = 0; index < m_Pieces.size(); ++index)
  {
    Lane &        lane = m_Lanes[index];
    const Piece & piece = m_Pieces[index];
    this->PrepareLane(lane);
    lane.PartsLeft = RoundUp(piece.End - piece.Begin, partSize) / partSize;
    if (m_Direction == Direction::Download)
    {
      this->Send(lane, piece, true);
    }
  }
}

/** The next piece that nobody has taken; false if there is none, or if the transfer has failed. */
bool
Transfer::TakePiece(Piece & piece)
{
  const size_t index = m_NextPiece++;
  if (m_Stop || index >= m_Pieces.size())
  {
    return false;
  }
  piece = m_Pieces[index];
  return true;
}

/** The next part that nobody has taken; false if there is none, or if the transfer has failed. */
bool
Transfer::TakePart(Part & part)
{
  const size_t begin = partSize * m_NextPart++;
  if (m_Stop || begin >= m_Layout.NumberOfBytes)
  {
    return false;
  }
  part.Piece = begin / m_Pieces.front().End; // all are as large as the first, but the last one
  part.Begin = begin;
  part.End = std::min(begin + partSize, m_Pieces[part.Piece].End);
  return true;
}

void
Transfer::PrepareLane(Lane & lane)
{
  if (!lane.Chunk.GetPointer())
  {
    const std::lock_guard<std::mutex> lock(m_Mutex);
    lane.Chunk = m_Direction == Direction::Upload ? PinnedBuffer::Take() : m_Stream.TakeChunk();
  }
}

/** Fills a piece's chunk with bytes `begin` to `end`. */
void
Transfer::Gather(const Lane & lane, const Piece & piece, size_t begin, size_t end)
{
  const bool pastCache = m_Layout.NumberOfBytes >= minimumPastCache && m_Layout.NumberOfBytes <= maximumPastCache;
  m_Runs.Gather(static_cast<char *>(lane.Chunk.GetPointer()) + (begin - piece.Begin), begin, end, pastCache);
}

/** Starts the copy of a piece between its lane and the device. */
void
Transfer::Send(Lane & lane, const Piece & piece, bool isAwaited)
{
  const bool   upload = m_Direction == Direction::Upload;
  const size_t bytes = piece.End - piece.Begin;
  void * const device = this->GetDeviceAddress(piece.Band, piece.Begin);
  void * const host = lane.Chunk.GetPointer();
  ITK_CUDA_CALL(cudaMemcpyAsync(upload ? device : host,
                                upload ? host : device,
                                bytes,
                                upload ? cudaMemcpyHostToDevice : cudaMemcpyDeviceToHost,
                                m_Stream.GetStream()));
  if (isAwaited)
  {
    if (!lane.Copied)
    {
      lane.Copied.emplace();
    }
    lane.Copied->Record(m_Stream);
    lane.Pending = piece;
  }
  if (upload)
  {
    this->CountSent(piece.Begin, piece.End);
  }
  this->FinishPiece(piece.Band);
}

/** Waits for the copy of a lane's piece; what was downloaded goes to the host image. */
void
Transfer::Empty(Lane & lane)
{
  if (!lane.Pending)
  {
    return;
  }
  lane.Copied->Synchronize();
  if (m_Direction == Direction::Download)
  {
    m_Runs.Scatter(static_cast<const char *>(lane.Chunk.GetPointer()), lane.Pending->Begin, lane.Pending->End);
  }
  lane.Pending.reset();
}

/** Blocks until the pieces of a band may be copied; false if the transfer has failed. */
bool
Transfer::WaitForBand(size_t band)
{
  std::unique_lock<std::mutex> lock(m_Mutex);
  m_BandOpened.wait(lock, [&] { return m_OpenBand >= band || m_Stop; });
  return !m_Stop;
}

/** Called after the copy of a piece was given to the stream. The last one of a band lets the conversion follow, and
 * opens the next. */
void
Transfer::FinishPiece(size_t band)
{
  {
    const std::lock_guard<std::mutex> lock(m_Mutex);
    if (++m_PiecesFinished < m_PiecesOfBand[band])
    {
      return;
    }
  }
  if (m_Direction == Direction::Upload)
  {
    this->Convert(band);
  }
  else if (band + 1 < this->GetNumberOfBands())
  {
    this->Convert(band + 1);
  }
  {
    const std::lock_guard<std::mutex> lock(m_Mutex);
    m_PiecesFinished = 0;
    m_OpenBand = band + 1;
  }
  m_BandOpened.notify_all();
}

/** Called after the copy of bytes `begin` to `end` was given to the stream. */
void
Transfer::CountSent(size_t begin, size_t end)
{
  if (!m_Groups.Sent)
  {
    return;
  }
  const size_t rows = m_Host.Size[1] * m_Host.Size[2] * m_Host.Size[3];
  for (size_t group = begin / this->GetGroupSize(); group * this->GetGroupSize() < end; ++group)
  {
    const size_t first = std::max(begin, group * this->GetGroupSize());
    const size_t last = std::min(end, this->GetGroupEnd(group));
    if ((m_BytesToSend[group] -= last - first) == 0)
    {
      const size_t firstRow = group * m_Groups.RowsPerGroup;
      m_Groups.Sent(firstRow, std::min(firstRow + m_Groups.RowsPerGroup, rows));
    }
  }
}

/** Only the calling thread, worker 0, reports progress. */
void
Transfer::CountDone(unsigned int worker, size_t bytes)
{
  const size_t done = m_BytesDone += bytes;
  if (worker == 0 && done - m_BytesReported >= progressStep && done < m_Layout.NumberOfBytes)
  {
    m_BytesReported = done;
    this->Report(static_cast<float>(static_cast<double>(done) / static_cast<double>(m_Layout.NumberOfBytes)));
  }
}

/** Keeps the first error and ends the others' work. */
void
Transfer::Fail(std::exception_ptr error)
{
  {
    const std::lock_guard<std::mutex> lock(m_Mutex);
    if (!m_Error)
    {
      m_Error = std::move(error);
    }
    m_Stop = true;
  }
  m_BandOpened.notify_all();
}
} // namespace

void
Upload(const CudaImageView & host, const DeviceView & device, StreamLease & stream, const TransferProgress & progress)
{
  ++uploads;
  CheckViews(host, device);
  Transfer(Direction::Upload, host, device, stream, progress).Run();
}

void
UploadRows(const CudaImageView & host, const DeviceView & device, StreamLease & stream, const RowGroups & groups)
{
  ++uploads;
  CheckViews(host, device);
  if (host.ComponentType != device.ComponentType || !MakeLayout(host, device).Direct)
  {
    itkGenericExceptionMacro(<< "The device image has components of type " << static_cast<int>(device.ComponentType)
                             << " and rows " << device.Stride[1] << " elements apart; an upload of rows needs the "
                             << "host image's type, " << static_cast<int>(host.ComponentType)
                             << ", dense rows and little padding");
  }
  Transfer(Direction::Upload, host, device, stream, {}, groups).Run();
}

void
Download(const DeviceView & device, const CudaImageView & host, StreamLease & stream, const TransferProgress & progress)
{
  ++downloads;
  CheckViews(host, device);
  Transfer(Direction::Download, host, device, stream, progress).Run();
}

TransferCounts
GetTransferCounts()
{
  return { uploads, downloads };
}

size_t
GetTransferWorkspace(const CudaImageView & host, CudaComponentType computeType)
{
  const size_t rows = host.Size[1] * host.Size[2] * host.Size[3];
  const size_t pitch =
    rows == 1 ? host.Size[0] * CudaComponentSize(computeType) : DeviceImage::GetRowPitch(host.Size[0], computeType);
  const Layout layout = MakeLayout(host, computeType, pitch, true);
  return layout.Direct ? 0 : layout.BandSize;
}
} // namespace itk::cuda
