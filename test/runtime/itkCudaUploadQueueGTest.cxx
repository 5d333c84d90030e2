// SPDX-License-Identifier: Apache-2.0
#include "runtime/transfer/TransferQueue.h"

#include "runtime/device/Device.h"
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
#include <optional>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

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
using itk::cuda::test::HostImage;
using itk::cuda::test::QueueLane;
using itk::cuda::test::seed;

using PixelType = unsigned short;
constexpr size_t noUpload = std::numeric_limits<size_t>::max();

class CudaUploadQueue : public DeviceTest
{};

/** Uploads rows of an image in parts through a few slots of device memory and copies them back from there. A slot may
 * be written again once its previous content has been copied back. */
class RoundTrip : public TransferQueue
{
public:
  RoundTrip(const HostImage<PixelType> & image, size_t rowsPerUpload, size_t slots, const StreamLease & stream)
    : TransferQueue(TransferDirection::Upload)
    , m_Image(image)
    , m_RowsPerUpload(rowsPerUpload)
    , m_Pitch((image.View.Size[0] + 15) / 16 * 16)
    , m_Up(stream)
    , m_Down(device)
    , m_Memory(slots * rowsPerUpload * m_Pitch * sizeof(PixelType), stream)
    , m_Slots(slots)
    , m_IsOpen(this->GetNumberOfTransfers(), false)
    , m_IsSent(this->GetNumberOfTransfers(), false)
    , m_Output(image.Pixels.size())
  {}

  size_t
  GetNumberOfTransfers() const override
  {
    return (m_Image.View.Size[1] + m_RowsPerUpload - 1) / m_RowsPerUpload;
  }

  /** Ends the queue at the given points by an exception. */
  void
  EndAt(size_t opened, size_t sent)
  {
    m_EndAtOpen = opened;
    m_EndAtSent = sent;
  }

  std::vector<PixelType>
  Finish()
  {
    m_Down.Synchronize();
    return m_Output;
  }

  bool
  AreAllSent() const
  {
    return std::all_of(m_IsSent.begin(), m_IsSent.end(), [](bool isSent) { return isSent; });
  }

  std::string
  GetReason() const
  {
    return itk::cuda::test::GetReason(m_Error);
  }

private:
  struct Slot
  {
    std::optional<size_t> Holds; // the upload that was copied back
    Event                 CopiedBack;
  };

  size_t
  GetRows(size_t index) const
  {
    return std::min(m_RowsPerUpload, m_Image.View.Size[1] - index * m_RowsPerUpload);
  }

  CudaImageView
  GetHostImage(size_t index) const override
  {
    CudaImageView view = m_Image.View;
    view.Data = static_cast<PixelType *>(view.Data) + index * m_RowsPerUpload * view.Stride[1];
    view.Size[1] = this->GetRows(index);
    return view;
  }

  DeviceView
  GetDeviceImage(size_t index) const override
  {
    const size_t elements = m_RowsPerUpload * m_Pitch;
    DeviceView   view;
    view.Data = static_cast<PixelType *>(m_Memory.GetPointer()) + index % m_Slots.size() * elements;
    view.ComponentType = CudaComponentType::UShort;
    view.Size = { { m_Image.View.Size[0], this->GetRows(index), 1, 1, 1 } };
    view.Stride = { { 1, m_Pitch, elements, elements, elements } };
    return view;
  }

  void
  Open(size_t index) override
  {
    if (index == m_EndAtOpen)
    {
      throw std::runtime_error("not opened");
    }
    Slot &                       slot = m_Slots[index % m_Slots.size()];
    std::unique_lock<std::mutex> lock(m_Mutex);
    const auto isFree = [&] { return index < m_Slots.size() || slot.Holds == index - m_Slots.size(); };
    m_Changed.wait(lock, [&] { return m_IsOpen[index] || isFree() || m_Error; });
    if (m_Error)
    {
      throw std::runtime_error("stopped");
    }
    if (!m_IsOpen[index])
    {
      slot.CopiedBack.MakeWait(m_Up);
      m_IsOpen[index] = true;
    }
  }

  void
  MarkDone(size_t index) override
  {
    if (index == m_EndAtSent)
    {
      throw std::runtime_error("not sent");
    }
    const DeviceView view = this->GetDeviceImage(index);
    const size_t     rowBytes = view.Size[0] * sizeof(PixelType);
    Event            sent;
    sent.Record(m_Up);
    const std::lock_guard<std::mutex> lock(m_Mutex);
    EXPECT_TRUE(m_IsOpen[index]);
    EXPECT_FALSE(m_IsSent[index]);
    m_IsSent[index] = true;
    sent.MakeWait(m_Down);
    EXPECT_EQ(cudaMemcpy2DAsync(m_Output.data() + index * m_RowsPerUpload * view.Size[0],
                                rowBytes,
                                view.Data,
                                m_Pitch * sizeof(PixelType),
                                rowBytes,
                                view.Size[1],
                                cudaMemcpyDeviceToHost,
                                m_Down.GetStream()),
              cudaSuccess);
    Slot & slot = m_Slots[index % m_Slots.size()];
    slot.CopiedBack.Record(m_Down);
    slot.Holds = index;
    m_Changed.notify_all();
  }

  void
  OnError(std::exception_ptr error) noexcept override
  {
    const std::lock_guard<std::mutex> lock(m_Mutex);
    m_Error = m_Error ? m_Error : error;
    m_Changed.notify_all();
  }

  const HostImage<PixelType> & m_Image;
  const size_t                 m_RowsPerUpload, m_Pitch;
  const StreamLease &          m_Up;
  const StreamLease            m_Down;
  const DeviceBuffer           m_Memory;
  size_t                       m_EndAtOpen{ noUpload }, m_EndAtSent{ noUpload };

  std::mutex              m_Mutex;
  std::condition_variable m_Changed;
  std::vector<Slot>       m_Slots;
  std::vector<bool>       m_IsOpen, m_IsSent;
  std::vector<PixelType>  m_Output;
  std::exception_ptr      m_Error;
};

TEST_F(CudaUploadQueue, EachUploadLiesInItsPlaceWhenItIsSent)
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
      const size_t rowsPerUpload = pick(std::max<size_t>(1, rows / 40), rows);
      SCOPED_TRACE(testing::Message() << "seed " << seed << ", threads " << threads << ", case " << i << ": " << width
                                      << " x " << rows << " pixels, " << rowsPerUpload << " rows at a time");
      HostImage<PixelType> image({ width, rows, 1, 1 }, 1);
      FillRandomly(image.Pixels, i);
      RoundTrip  queue(image, rowsPerUpload, pick(1, 4), lane.Stream);
      const auto before = itk::cuda::GetTransferCounts();
      queue.Run(lane.Staging);
      const auto after = itk::cuda::GetTransferCounts();
      ASSERT_EQ(queue.GetReason(), "");
      ASSERT_TRUE(queue.AreAllSent());
      ExpectSamePixels(queue.Finish(), image.Pixels, "copied back");
      EXPECT_EQ(after.Uploads - before.Uploads, queue.GetNumberOfTransfers());
      EXPECT_EQ(after.UploadedBytes - before.UploadedBytes, image.Pixels.size() * sizeof(PixelType));
    }
  }
}

TEST_F(CudaUploadQueue, WhatAFunctionThrowsEndsAllAndTheNextRunIsRight)
{
  std::mt19937         random(seed);
  const DeviceGuard    guard(device);
  HostImage<PixelType> image({ 2000, 3000, 1, 1 }, 1);
  for (const unsigned int threads : { 1, 8 })
  {
    Configuration::SetNumberOfTransferThreads(threads);
    QueueLane lane(true);
    for (unsigned int i = 0; i < 20; ++i)
    {
      const size_t at = random() % 30;
      const bool   opens = i % 2 == 0;
      SCOPED_TRACE(testing::Message() << "seed " << seed << ", threads " << threads << ", upload " << at);
      FillRandomly(image.Pixels, 2 * i);
      {
        RoundTrip queue(image, 100, 3, lane.Stream);
        opens ? queue.EndAt(at, noUpload) : queue.EndAt(noUpload, at);
        queue.Run(lane.Staging);
        EXPECT_EQ(queue.GetReason(), opens ? "not opened" : "not sent");
        EXPECT_FALSE(queue.AreAllSent());
        lane.Stream.Synchronize();
        queue.Finish();
      }
      FillRandomly(image.Pixels, 2 * i + 1); // the memory still holds pixels of the previous run
      RoundTrip next(image, 100, 3, lane.Stream);
      next.Run(lane.Staging);
      EXPECT_EQ(next.GetReason(), "");
      ExpectSamePixels(next.Finish(), image.Pixels, "after a queue that ended early");
    }
  }
}
} // namespace
