// SPDX-License-Identifier: Apache-2.0
// Sequences of transfers in both directions.
#include "runtime/transfer/TransferQueue.h"

#include "runtime/device/Device.h"
#include "itkMacro.h"
#include "runtime/memory/DeviceMemory.h"
#include "support/itkCudaRuntimeTestHelpers.h"
#include "runtime/transfer/StagingMemory.h"
#include "runtime/transfer/TransferPolicy.h"

#include <algorithm>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <random>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace
{
using namespace itk;
using namespace itk::CudaDetail;
using namespace itk::cuda;
using namespace itk::cuda::test;

/** The stream and the staging that the transfers of a queue share. */
struct QueueLane
{
  explicit QueueLane(bool isBidirectional)
    : Staging(Stream)
  {
    Staging.SetIsBidirectional(isBidirectional);
  }

  const StreamLease Stream{ device };
  StagingMemory     Staging;
};

/** Transfers the rows of an image in parts, through a few slots of device memory, as the work on slabs does. The device
 * also has the whole image: the parts of an upload are copied there from the slots, and those of a download from there
 * to the slots. A slot is used again once its previous part has left it. */
template <typename T>
class PartsOfAnImage : public TransferQueue
{
public:
  PartsOfAnImage(TransferDirection   direction,
                 HostImage<T> &      host,
                 CudaComponentType   deviceType,
                 size_t              rowsPerPart,
                 size_t              slots,
                 const StreamLease & stream)
    : TransferQueue(direction)
    , m_IsUpload(direction == TransferDirection::Upload)
    , m_Host(host)
    , m_RowsPerPart(rowsPerPart)
    , m_Stream(stream)
    , m_Work(device)
    , m_Whole(GetPlanarSize(host.View), deviceType, m_Work)
    , m_Slots(slots)
    , m_IsOpen(this->GetNumberOfTransfers(), false)
    , m_IsDone(this->GetNumberOfTransfers(), false)
  {
    for (Slot & slot : m_Slots)
    {
      slot.Memory = DeviceBuffer(this->GetSlotBytes(), m_Work);
    }
  }

  size_t
  GetNumberOfTransfers() const override
  {
    return (m_Host.View.Size[1] + m_RowsPerPart - 1) / m_RowsPerPart;
  }

  void
  SetWhole(const HostImage<T> & image)
  {
    UploadQuietly(image.View, m_Whole.GetView(), m_Work);
  }
  void
  GetWhole(HostImage<T> & image)
  {
    DownloadQuietly(m_Whole.GetView(), image.View, m_Work);
  }

  void
  RunAll(StagingMemory & staging)
  {
    std::thread filler([this] { m_IsUpload ? void() : this->FillSlots(); });
    this->Run(staging);
    this->SetEnded(nullptr);
    filler.join();
  }

  bool
  AreAllDone() const
  {
    return std::all_of(m_IsDone.begin(), m_IsDone.end(), [](bool isDone) { return isDone; });
  }

  /** Returns the description of the exception that ended the queue, or an empty string. */
  std::string
  GetReason() const
  {
    try
    {
      m_Error ? std::rethrow_exception(m_Error) : void();
    }
    catch (const std::exception & exception)
    {
      return exception.what();
    }
    return "";
  }

private:
  struct Slot
  {
    DeviceBuffer Memory;
    Event        Copied; // from the whole image, or to it
  };

  size_t
  GetRows(size_t index) const
  {
    return std::min(m_RowsPerPart, m_Host.View.Size[1] - index * m_RowsPerPart);
  }

  Slot &
  GetSlot(size_t index)
  {
    return m_Slots[index % m_Slots.size()];
  }

  size_t
  GetRowBytes() const
  {
    return m_Whole.GetView().Stride[1] * CudaComponentSize(m_Whole.GetView().ComponentType);
  }

  /** Returns the bytes of a slot, in which the components follow each other, each with all rows of a part. */
  size_t
  GetSlotBytes() const
  {
    return m_Whole.GetView().Size.back() * m_RowsPerPart * this->GetRowBytes();
  }

  CudaImageView
  GetHostImage(size_t index) const override
  {
    CudaImageView view = m_Host.View;
    view.Data = static_cast<T *>(view.Data) + index * m_RowsPerPart * view.Stride[1];
    view.Size[1] = this->GetRows(index);
    return view;
  }

  DeviceView
  GetDeviceImage(size_t index) const override
  {
    DeviceView view = m_Whole.GetView();
    view.Data = m_Slots[index % m_Slots.size()].Memory.GetPointer();
    view.Size[1] = this->GetRows(index);
    view.Stride[2] = view.Stride[3] = view.Stride[4] = m_RowsPerPart * view.Stride[1];
    return view;
  }

  /** Queues the copies between a slot and the whole image. */
  void
  CopyPart(size_t index)
  {
    Slot & slot = this->GetSlot(index);
    for (size_t component = 0; component < m_Whole.GetView().Size.back(); ++component)
    {
      const size_t rowsBefore = component * m_Host.View.Size[1] + index * m_RowsPerPart;
      char * const inSlot =
        static_cast<char *>(slot.Memory.GetPointer()) + component * m_RowsPerPart * this->GetRowBytes();
      char * const inWhole = static_cast<char *>(m_Whole.GetView().Data) + rowsBefore * this->GetRowBytes();
      EXPECT_EQ(cudaMemcpyAsync(m_IsUpload ? inWhole : inSlot,
                                m_IsUpload ? inSlot : inWhole,
                                this->GetRows(index) * this->GetRowBytes(),
                                cudaMemcpyDeviceToDevice,
                                m_Work.GetStream()),
                cudaSuccess);
    }
    slot.Copied.Record(m_Work);
  }

  /** Waits until the slot's previous part has left it. Returns false if the queue has ended. */
  bool
  WaitForSlot(size_t index)
  {
    std::unique_lock<std::mutex> lock(m_Mutex);
    m_Changed.wait(lock, [&] { return m_IsEnded || index < m_Slots.size() || m_IsDone[index - m_Slots.size()]; });
    return !m_IsEnded;
  }

  /** Copies each part of the image into its slot as soon as the slot is free, and marks it ready. Until then the slots
   * hold bytes that are not part of the image. */
  void
  FillSlots()
  {
    const DeviceGuard guard(device);
    for (size_t index = 0; index < this->GetNumberOfTransfers() && this->WaitForSlot(index); ++index)
    {
      void * const memory = this->GetSlot(index).Memory.GetPointer();
      EXPECT_EQ(cudaMemsetAsync(memory, 0xff, this->GetSlotBytes(), m_Work.GetStream()), cudaSuccess);
      this->CopyPart(index);
      this->MarkReady();
    }
  }

  void
  Open(size_t index) override
  {
    EXPECT_FALSE(m_IsOpen[index]);
    EXPECT_TRUE(index == 0 || m_IsOpen[index - 1]);
    m_IsOpen[index] = true;
    if (m_IsUpload && !this->WaitForSlot(index))
    {
      throw std::runtime_error("stopped");
    }
    this->GetSlot(index).Copied.MakeWait(m_Stream);
  }

  void
  MarkDone(size_t index) override
  {
    if (m_IsUpload)
    {
      Event sent;
      sent.Record(m_Stream);
      sent.MakeWait(m_Work);
      this->CopyPart(index);
    }
    const std::lock_guard<std::mutex> lock(m_Mutex);
    EXPECT_TRUE(m_IsOpen[index]);
    EXPECT_FALSE(m_IsDone[index]);
    m_IsDone[index] = true;
    m_Changed.notify_all();
  }

  void
  OnError(std::exception_ptr error) noexcept override
  {
    this->SetEnded(error);
  }

  void
  SetEnded(const std::exception_ptr & error) noexcept
  {
    const std::lock_guard<std::mutex> lock(m_Mutex);
    m_Error = m_Error ? m_Error : error;
    m_IsEnded = true;
    m_Changed.notify_all();
  }

  const bool          m_IsUpload;
  HostImage<T> &      m_Host;
  const size_t        m_RowsPerPart;
  const StreamLease & m_Stream;
  const StreamLease   m_Work;
  const DeviceImage   m_Whole;

  std::mutex              m_Mutex;
  std::condition_variable m_Changed;
  std::vector<Slot>       m_Slots;
  std::vector<bool>       m_IsOpen, m_IsDone;
  bool                    m_IsEnded{ false };
  std::exception_ptr      m_Error;
};

class CudaTransferQueue : public DeviceTest
{};

template <typename T>
void
ExpectRoundTrip(TransferDirection direction,
                QueueLane &       lane,
                size_t            width,
                size_t            rows,
                size_t            components,
                size_t            rowsPerPart,
                size_t            slots)
{
  const bool isUpload = direction == TransferDirection::Upload;
  const auto deviceType = GetExactComputeType<T>();
  // The queue's image is a part of a larger one, whose other pixels stay as they are.
  HostImage<T> image({ width + 3, rows + 2, 1, 1 }, components, { 1, 1, 0, 0 }, { width, rows, 1, 1 });
  HostImage<T> expected({ width + 3, rows + 2, 1, 1 }, components, { 1, 1, 0, 0 }, { width, rows, 1, 1 });
  HostImage<T> whole({ width, rows, 1, 1 }, components);
  FillRandomly(image.Pixels, static_cast<unsigned int>(rows));
  FillRandomly(whole.Pixels, static_cast<unsigned int>(width));
  expected.Pixels = image.Pixels;
  PartsOfAnImage<T> queue(direction, image, deviceType, rowsPerPart, slots, lane.Stream);
  if (!isUpload)
  {
    queue.SetWhole(whole);
    CopyRegion(whole, expected);
  }
  const auto before = GetTransferCounts();
  queue.RunAll(lane.Staging);
  const auto after = GetTransferCounts();
  ASSERT_EQ(queue.GetReason(), "");
  ASSERT_TRUE(queue.AreAllDone());
  ExpectSamePixels(image.Pixels, expected.Pixels, "on the host");
  const size_t bytes = whole.Pixels.size() * sizeof(T);
  EXPECT_EQ(after.Uploads - before.Uploads, isUpload ? queue.GetNumberOfTransfers() : 0);
  EXPECT_EQ(after.UploadedBytes - before.UploadedBytes, isUpload ? bytes : 0);
  EXPECT_EQ(after.Downloads - before.Downloads, isUpload ? 0 : queue.GetNumberOfTransfers());
  EXPECT_EQ(after.DownloadedBytes - before.DownloadedBytes, isUpload ? 0 : bytes);
  if (isUpload)
  {
    HostImage<T> found({ width, rows, 1, 1 }, components);
    queue.GetWhole(found);
    CopyRegion(image, whole);
    ExpectSamePixels(found.Pixels, whole.Pixels, "on the device");
  }
}

TEST_F(CudaTransferQueue, EachTransferLiesInItsPlaceWhenItIsDone)
{
  constexpr unsigned int cases = 48;
  std::mt19937           random(seed);
  const DeviceGuard      guard(device);
  const auto             pick = [&random](size_t least, size_t most) { return least + random() % (most - least + 1); };
  for (const unsigned int threads : { 1, 3, 8, 16 })
  {
    Configuration::SetNumberOfTransferThreads(threads);
    QueueLane lane(threads % 2 == 0);
    for (unsigned int i = 0; i < cases; ++i)
    {
      const auto direction = i % 2 == 0 ? TransferDirection::Upload : TransferDirection::Download;
      // From a fraction of a chunk to several chunks of 2 MiB per thread.
      const size_t width = pick(1, 3000);
      const size_t rows = pick(1, i % 16 < 2 ? 6000 : 600);
      const size_t rowsPerPart = pick(std::max<size_t>(1, rows / 40), rows);
      const size_t slots = pick(1, 4);
      SCOPED_TRACE(testing::Message() << "seed " << seed << ", threads " << threads << ", case " << i << ": " << width
                                      << " x " << rows << " pixels, " << rowsPerPart << " rows at a time, " << slots
                                      << " slots");
      switch (i % 3)
      {
        case 0:
          ExpectRoundTrip<float>(direction, lane, width, rows, 1, rowsPerPart, slots); // the same bytes on the device
          break;
        case 1:
          ExpectRoundTrip<short>(direction, lane, width, rows, 1, rowsPerPart, slots); // converted
          break;
        default:
          ExpectRoundTrip<float>(direction, lane, width, rows, 3, rowsPerPart, slots); // components apart on the device
      }
    }
  }
}

/** The memory of the conversion holds 256 MiB, so a larger download is converted in batches. */
TEST_F(CudaTransferQueue, DownloadsOfSeveralBatchesAreConverted)
{
  const DeviceGuard guard(device);
  QueueLane         lane(true);
  ExpectRoundTrip<float>(TransferDirection::Download, lane, 8000, 3100, 3, 3000, 2);
}

} // namespace
