// SPDX-License-Identifier: Apache-2.0
#include "runtime/transfer/TransferQueue.h"

#include "runtime/device/Device.h"
#include "itkMacro.h"
#include "runtime/memory/DeviceMemory.h"
#include "runtime/memory/PinnedMemory.h"
#include "support/itkCudaRuntimeTestHelpers.h"
#include "support/itkCudaTransferQueueTest.h"
#include "runtime/transfer/TransferPolicy.h"

#include <algorithm>
#include <condition_variable>
#include <exception>
#include <limits>
#include <mutex>
#include <new>
#include <random>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <sys/mman.h>

namespace
{
using itk::CudaComponentType;
using itk::CudaDetail::CudaImageView;
using itk::cuda::DeviceBuffer;
using itk::cuda::DeviceGuard;
using itk::cuda::DeviceView;
using itk::cuda::Event;
using itk::cuda::PinnedBuffer;
using itk::cuda::StagingMemory;
using itk::cuda::StreamLease;
using itk::cuda::TransferDirection;
using itk::cuda::TransferQueue;
using itk::cuda::test::device;
using itk::cuda::test::Configuration;
using itk::cuda::test::DeviceTest;
using itk::cuda::test::ExpectSamePixels;
using itk::cuda::test::FillRandomly;
using itk::cuda::test::GetComponentType;
using itk::cuda::test::HostImage;
using itk::cuda::test::QueueLane;
using itk::cuda::test::seed;
using itk::cuda::test::UploadQuietly;

constexpr size_t noDownload = std::numeric_limits<size_t>::max();

class CudaDownloadQueue : public DeviceTest
{};

/** Uploads the rows of an image as a whole. A thread copies parts of them into a few slots, as the work on slabs would,
 * and the queue downloads them from there. A slot may be filled again once its previous content is on the host. */
template <typename T>
class RoundTrip : public TransferQueue
{
public:
  RoundTrip(const HostImage<T> & image,
            HostImage<T> &       output,
            CudaComponentType    deviceType,
            size_t               rowsPerPart,
            size_t               slots,
            const StreamLease &  down)
    : TransferQueue(TransferDirection::Download)
    , m_Output(output)
    , m_RowsPerPart(rowsPerPart)
    , m_Down(down)
    , m_Work(device)
    , m_Whole(itk::cuda::GetPlanarSize(image.View), deviceType, m_Work)
    , m_Slots(slots)
    , m_IsOpen(this->GetNumberOfTransfers(), false)
    , m_IsDone(this->GetNumberOfTransfers(), false)
  {
    UploadQuietly(image.View, m_Whole.GetView(), m_Work);
    for (Slot & slot : m_Slots)
    {
      slot.Memory = DeviceBuffer(this->GetSlotBytes(), m_Work);
    }
  }

  size_t
  GetNumberOfTransfers() const override
  {
    return (m_Output.View.Size[1] + m_RowsPerPart - 1) / m_RowsPerPart;
  }

  /** Ends the queue at the given points, by an exception or by Cancel(). */
  void
  EndAt(size_t opened, size_t done, size_t filled)
  {
    m_EndAtOpen = opened;
    m_EndAtDone = done;
    m_EndAtFilled = filled;
  }

  void
  RunAll(StagingMemory & staging)
  {
    std::thread filler([this] { this->FillSlots(); });
    this->Run(staging);
    this->SetEnded();
    filler.join();
  }

  bool
  AreAllDone() const
  {
    return std::all_of(m_IsDone.begin(), m_IsDone.end(), [](bool isDone) { return isDone; });
  }

  std::string
  GetReason() const
  {
    return itk::cuda::test::GetReason(m_Error);
  }

private:
  struct Slot
  {
    DeviceBuffer Memory;
    Event        Filled;
  };

  size_t
  GetRows(size_t index) const
  {
    return std::min(m_RowsPerPart, m_Output.View.Size[1] - index * m_RowsPerPart);
  }

  Slot &
  GetSlot(size_t index)
  {
    return m_Slots[index % m_Slots.size()];
  }

  size_t
  GetElementSize() const
  {
    return itk::CudaComponentSize(m_Whole.GetView().ComponentType);
  }

  /** Returns the bytes of a slot, in which the components follow each other, each with all rows of a part. */
  size_t
  GetSlotBytes() const
  {
    const DeviceView & whole = m_Whole.GetView();
    return whole.Size.back() * m_RowsPerPart * whole.Stride[1] * this->GetElementSize();
  }

  CudaImageView
  GetHostImage(size_t index) const override
  {
    CudaImageView view = m_Output.View;
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

  /** Copies each part of the image into its slot as soon as the slot is free, and marks it ready. Until then the slots
   * hold bytes that are not part of the image. */
  void
  FillSlots()
  {
    const DeviceGuard guard(device);
    for (size_t index = 0; index < this->GetNumberOfTransfers(); ++index)
    {
      {
        std::unique_lock<std::mutex> lock(m_Mutex);
        m_Changed.wait(lock, [&] { return m_IsEnded || index < m_Slots.size() || m_IsDone[index - m_Slots.size()]; });
        if (m_IsEnded)
        {
          return;
        }
      }
      if (index == m_EndAtFilled)
      {
        this->Cancel();
        return;
      }
      this->Fill(index);
      this->MarkReady();
    }
  }

  void
  Fill(size_t index)
  {
    Slot &             slot = this->GetSlot(index);
    const DeviceView & whole = m_Whole.GetView();
    const DeviceView   part = this->GetDeviceImage(index);
    const size_t       rowBytes = whole.Stride[1] * this->GetElementSize();
    EXPECT_EQ(cudaMemsetAsync(slot.Memory.GetPointer(), 0xff, this->GetSlotBytes(), m_Work.GetStream()), cudaSuccess);
    for (size_t component = 0; component < whole.Size.back(); ++component)
    {
      const size_t from = (component * whole.Stride.back() + index * m_RowsPerPart * whole.Stride[1]);
      EXPECT_EQ(
        cudaMemcpyAsync(static_cast<char *>(part.Data) + component * part.Stride.back() * this->GetElementSize(),
                        static_cast<const char *>(whole.Data) + from * this->GetElementSize(),
                        part.Size[1] * rowBytes,
                        cudaMemcpyDeviceToDevice,
                        m_Work.GetStream()),
        cudaSuccess);
    }
    slot.Filled.Record(m_Work);
  }

  void
  Open(size_t index) override
  {
    if (index == m_EndAtOpen)
    {
      throw std::runtime_error("not opened");
    }
    EXPECT_FALSE(m_IsOpen[index]);
    EXPECT_TRUE(index == 0 || m_IsOpen[index - 1]);
    m_IsOpen[index] = true;
    this->GetSlot(index).Filled.MakeWait(m_Down);
  }

  void
  MarkDone(size_t index) override
  {
    if (index == m_EndAtDone)
    {
      throw std::runtime_error("not done");
    }
    const std::lock_guard<std::mutex> lock(m_Mutex);
    EXPECT_FALSE(m_IsDone[index]);
    m_IsDone[index] = true;
    m_Changed.notify_all();
  }

  void
  OnError(std::exception_ptr error) noexcept override
  {
    const std::lock_guard<std::mutex> lock(m_Mutex);
    m_Error = m_Error ? m_Error : error;
  }

  void
  SetEnded()
  {
    const std::lock_guard<std::mutex> lock(m_Mutex);
    m_IsEnded = true;
    m_Changed.notify_all();
  }

  HostImage<T> &               m_Output;
  const size_t                 m_RowsPerPart;
  const StreamLease &          m_Down;
  const StreamLease            m_Work;
  const itk::cuda::DeviceImage m_Whole;
  size_t                       m_EndAtOpen{ noDownload }, m_EndAtDone{ noDownload }, m_EndAtFilled{ noDownload };

  std::mutex              m_Mutex;
  std::condition_variable m_Changed;
  std::vector<Slot>       m_Slots;
  std::vector<bool>       m_IsOpen, m_IsDone;
  bool                    m_IsEnded{ false };
  std::exception_ptr      m_Error;
};

template <typename T>
void
ExpectRoundTrip(QueueLane & lane, size_t width, size_t rows, size_t components, size_t rowsPerPart, size_t slots)
{
  const auto deviceType = itk::cuda::test::GetExactComputeType<T>();
  // The output is a part of a larger image, whose other pixels stay as they are.
  HostImage<T> image({ width, rows, 1, 1 }, components);
  HostImage<T> output({ width + 3, rows + 2, 1, 1 }, components, { 1, 1, 0, 0 }, { width, rows, 1, 1 });
  FillRandomly(image.Pixels, static_cast<unsigned int>(width));
  FillRandomly(output.Pixels, static_cast<unsigned int>(rows));
  HostImage<T> expected({ width + 3, rows + 2, 1, 1 }, components, { 1, 1, 0, 0 }, { width, rows, 1, 1 });
  expected.Pixels = output.Pixels;
  for (size_t y = 0; y < rows; ++y)
  {
    std::copy_n(image.Pixels.data() + y * width * components, width * components, &expected.At(0, y, 0, 0, 0));
  }
  RoundTrip<T> queue(image, output, deviceType, rowsPerPart, slots, lane.Stream);
  const auto   before = itk::cuda::GetTransferCounts();
  queue.RunAll(lane.Staging);
  const auto after = itk::cuda::GetTransferCounts();
  ASSERT_EQ(queue.GetReason(), "");
  ASSERT_TRUE(queue.AreAllDone());
  ExpectSamePixels(output.Pixels, expected.Pixels, "downloaded");
  EXPECT_EQ(after.Downloads - before.Downloads, queue.GetNumberOfTransfers());
  EXPECT_EQ(after.DownloadedBytes - before.DownloadedBytes, image.Pixels.size() * sizeof(T));
}

TEST_F(CudaDownloadQueue, EachDownloadLiesInItsPlaceWhenItIsDone)
{
  constexpr unsigned int cases = 40;
  std::mt19937           random(seed);
  const DeviceGuard      guard(device);
  const auto             pick = [&random](size_t least, size_t most) { return least + random() % (most - least + 1); };
  for (const unsigned int threads : { 1, 3, 8, 16 })
  {
    Configuration::SetNumberOfTransferThreads(threads);
    QueueLane lane(threads % 2 == 0);
    for (unsigned int i = 0; i < cases; ++i)
    {
      // From a fraction of a chunk to several chunks of 2 MiB per thread.
      const size_t width = pick(1, 3000);
      const size_t rows = pick(1, i % 8 == 0 ? 6000 : 600);
      const size_t rowsPerPart = pick(std::max<size_t>(1, rows / 40), rows);
      const size_t slots = pick(1, 4);
      SCOPED_TRACE(testing::Message() << "seed " << seed << ", threads " << threads << ", case " << i << ": " << width
                                      << " x " << rows << " pixels, " << rowsPerPart << " rows at a time, " << slots
                                      << " slots");
      switch (i % 3)
      {
        case 0:
          ExpectRoundTrip<float>(lane, width, rows, 1, rowsPerPart, slots); // the same bytes on the device
          break;
        case 1:
          ExpectRoundTrip<short>(lane, width, rows, 1, rowsPerPart, slots); // converted
          break;
        default:
          ExpectRoundTrip<float>(lane, width, rows, 3, rowsPerPart, slots); // components apart on the device
      }
    }
  }
}

/** The memory of the conversion holds 256 MiB, so a larger download is converted in batches. */
TEST_F(CudaDownloadQueue, DownloadsOfSeveralBatchesAreConverted)
{
  const DeviceGuard guard(device);
  QueueLane         lane(true);
  ExpectRoundTrip<float>(lane, 8000, 3100, 3, 3000, 2);
}

TEST_F(CudaDownloadQueue, WhatAFunctionThrowsEndsAllAndTheNextRunIsRight)
{
  std::mt19937      random(seed);
  const DeviceGuard guard(device);
  HostImage<float>  image({ 2000, 3000, 1, 1 }, 1);
  HostImage<float>  output({ 2000, 3000, 1, 1 }, 1);
  for (const unsigned int threads : { 1, 8 })
  {
    Configuration::SetNumberOfTransferThreads(threads);
    QueueLane lane(true);
    for (unsigned int i = 0; i < 21; ++i)
    {
      const size_t      at = random() % 30;
      const std::string reasons[] = { "not opened", "not done", "" };
      const auto        endAt = [&](unsigned int way) { return i % 3 == way ? at : noDownload; };
      SCOPED_TRACE(testing::Message() << "seed " << seed << ", threads " << threads << ", download " << at << ", way "
                                      << i % 3);
      FillRandomly(image.Pixels, 2 * i);
      {
        RoundTrip<float> queue(image, output, CudaComponentType::Float, 100, 3, lane.Stream);
        queue.EndAt(endAt(0), endAt(1), endAt(2));
        queue.RunAll(lane.Staging);
        EXPECT_EQ(queue.GetReason(), reasons[i % 3]);
        EXPECT_FALSE(queue.AreAllDone());
        lane.Stream.Synchronize();
      }
      FillRandomly(image.Pixels, 2 * i + 1);
      RoundTrip<float> next(image, output, CudaComponentType::Float, 100, 3, lane.Stream);
      next.RunAll(lane.Staging);
      EXPECT_EQ(next.GetReason(), "");
      ExpectSamePixels(output.Pixels, image.Pixels, "after a queue that ended early");
    }
  }
}

/** Memory that nothing but this object has touched. */
class NewPages
{
public:
  explicit NewPages(size_t bytes)
    : m_Bytes(bytes)
    , m_Data(mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0))
  {
    if (m_Data == MAP_FAILED)
    {
      throw std::bad_alloc();
    }
  }
  ~NewPages() { munmap(m_Data, m_Bytes); }
  ITK_DISALLOW_COPY_AND_MOVE(NewPages);

  char *
  Get() const
  {
    return static_cast<char *>(m_Data);
  }

private:
  size_t m_Bytes;
  void * m_Data;
};

/** With 16 threads, ten write to memory that has no pages yet, and six to other memory. Each has three slots. */
TEST_F(CudaDownloadQueue, NewPagesGetMoreThreads)
{
  constexpr size_t width = 1024, rowsPerPart = 2560, parts = 4;
  constexpr size_t partBytes = width * rowsPerPart * sizeof(float);
  const NewPages   page(1);
  unsigned char    status = 0;
  if (mincore(page.Get(), 1, &status) != 0 || (status & 1) != 0)
  {
    GTEST_SKIP() << "this system does not tell which pages have memory";
  }
  const DeviceGuard guard(device);
  Configuration::SetNumberOfTransferThreads(16);
  HostImage<float> image({ width, rowsPerPart * parts, 1, 1 }, 1);
  HostImage<float> output({ width, rowsPerPart * parts, 1, 1 }, 1);
  FillRandomly(image.Pixels, seed);
  for (size_t touched = 0; touched <= parts; ++touched)
  {
    SCOPED_TRACE(testing::Message() << touched << " of " << parts << " parts were touched");
    const NewPages memory(parts * partBytes);
    std::fill_n(memory.Get(), touched * partBytes, char{ 1 });
    output.View.Data = memory.Get();
    QueueLane        lane(true);
    RoundTrip<float> queue(image, output, CudaComponentType::Float, rowsPerPart, 3, lane.Stream);
    queue.RunAll(lane.Staging);
    EXPECT_EQ(queue.GetReason(), "");
    EXPECT_EQ(lane.Staging.GetSlots().size(), touched < 2 ? 30u : 18u);
    EXPECT_TRUE(std::equal(image.Pixels.begin(), image.Pixels.end(), reinterpret_cast<float *>(memory.Get())));
  }
}

TEST_F(CudaDownloadQueue, SuitsOrdinaryMemory)
{
  const DeviceGuard      guard(device);
  HostImage<short>       image({ 640, 480, 1, 1 }, 1);
  const HostImage<short> nothing({ 640, 0, 1, 1 }, 1);
  const PinnedBuffer     pinned = PinnedBuffer::Take();
  CudaImageView          pageLocked = image.View;
  pageLocked.Data = pinned.GetPointer();
  EXPECT_TRUE(TransferQueue::Suits(image.View));
  EXPECT_FALSE(TransferQueue::Suits(pageLocked));
  EXPECT_FALSE(TransferQueue::Suits(nothing.View));
}
} // namespace
