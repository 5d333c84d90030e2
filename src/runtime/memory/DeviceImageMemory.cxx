// SPDX-License-Identifier: Apache-2.0
#include "itkCudaDeviceImageMemory.h"
#include "runtime/device/Call.h"
#include "runtime/device/Device.h"
#include "runtime/memory/DeviceMemory.h"
#include "runtime/memory/DeviceImage.h"
#include "runtime/Process.h"
#include "runtime/device/Stream.h"
#include "itkMacro.h"
#include "itkCudaDetailDeviceTransfer.h"
#include "itkCudaDetailDeviceRun.h"
#include "runtime/image/DeviceView.h"
#include "itkCudaFiltersConfiguration.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <new>
#include <optional>
#include <thread>
#include <utility>

// Implements the memory of device images (CudaDeviceImageMemory). StreamOrderedMemory records the streams that wrote
// and read the memory, so that a stream can wait for others while the host does not. Also allocates device images, and
// finds the device of memory that the caller owns.

namespace itk
{
namespace cuda
{
namespace
{
using StreamType = CudaDeviceImageMemory::StreamType;

/** Which work outside of the module may access the memory. */
enum class ExternalAccess
{
  None,
  DefaultStream, // work on the default stream and on the streams that CUDA synchronises with it
  AnyStream
};

bool
IsDefaultStream(StreamType stream)
{
  return stream == 0 || stream == reinterpret_cast<StreamType>(cudaStreamLegacy);
}

/** Returns an event after all work queued on the stream. */
Event
MakeEvent(const Context & context)
{
  Event event;
  event.Record(context);
  return event;
}

/** Returns the result of MakeEvent(). If no event can be made, the function waits for the stream on the host and
 * returns no value. */
std::optional<Event>
TryMakeEvent(const Context & context) noexcept
{
  try
  {
    return MakeEvent(context);
  }
  catch (...)
  {
    DrainStream(context);
    return std::nullopt;
  }
}

/** Makes later work of `waiting` wait for all work queued on `other`. */
void
WaitForStream(const Context & other, const Context & waiting)
{
  MakeEvent(other).MakeWait(waiting);
}

/** \class StreamOrderedMemory
 * \brief Device memory that tracks the streams of its writers and readers.
 *
 * The module's own memory has a home stream, on which it was allocated and will be freed. Work on the home stream needs
 * no event, because one is recorded when another stream has to wait for it. Adopted memory has no home stream.
 */
class StreamOrderedMemory : public CudaDeviceImageMemory
{
public:
  StreamOrderedMemory(DeviceBuffer && buffer, const Context & home)
    : CudaDeviceImageMemory(buffer.GetPointer(), buffer.GetSize(), home.GetDevice())
    , m_Buffer(std::move(buffer))
    , m_Home(home)
  {}

  StreamOrderedMemory(void * data, size_t bytes, int device, ReleaseFunction && release)
    : CudaDeviceImageMemory(data, bytes, device)
    , m_Release(std::move(release))
    , m_ExternalAccess(ExternalAccess::DefaultStream)
  {}

  ~StreamOrderedMemory() override
  {
    if (!IsForkedProcess())
    {
      this->ReleaseBuffer();
    }
    if (m_Release)
    {
      try
      {
        m_Release();
      }
      catch (...)
      {
        // The function promises not to throw, and nobody could handle the exception.
      }
    }
  }

  bool
  IsPrivate() const override
  {
    const std::lock_guard<std::mutex> lock(m_Mutex);
    return m_ExternalAccess == ExternalAccess::None;
  }

  void
  Wait(StreamType stream) const override
  {
    const std::lock_guard<std::mutex> lock(m_Mutex);
    const Context                     context = this->GetContext(stream);
    if (!this->IsOrderedAfterWriter(context))
    {
      const DeviceGuard guard(this->GetDevice());
      this->WaitForWriter(context);
    }
  }

  void
  WaitToWrite(StreamType stream) const override
  {
    const std::lock_guard<std::mutex> lock(m_Mutex);
    const Context                     context = this->GetContext(stream);
    if (!this->IsOrderedAfterWriter(context) || !m_Readers.empty())
    {
      const DeviceGuard guard(this->GetDevice());
      this->WaitForWriter(context);
      this->WaitForReaders(context);
    }
  }

  void
  MarkRead(StreamType stream) const noexcept override
  {
    const Context context = this->GetContext(stream);
    if (this->IsHomeStream(context))
    {
      return;
    }
    const DeviceGuard guard(this->GetDevice(), std::nothrow);
    try
    {
      Event                             event = MakeEvent(context);
      const std::lock_guard<std::mutex> lock(m_Mutex);
      m_Readers[{ context.GetStream(), std::this_thread::get_id() }] = std::move(event);
    }
    catch (...)
    {
      DrainStream(context); // without an event the host must wait to keep the order
    }
  }

  void
  MarkWritten(StreamType stream) noexcept override
  {
    const Context                     context = this->GetContext(stream);
    const std::lock_guard<std::mutex> lock(m_Mutex);
    if (m_Written || !this->IsHomeStream(context))
    {
      const DeviceGuard guard(this->GetDevice(), std::nothrow);
      m_Written = this->IsHomeStream(context) ? std::nullopt : TryMakeEvent(context);
    }
  }

  void
  Publish(StreamType stream) override
  {
    if (stream != UnknownStream)
    {
      this->Wait(stream);
    }
    const std::lock_guard<std::mutex> lock(m_Mutex);
    m_ExternalAccess =
      std::max(m_ExternalAccess, IsDefaultStream(stream) ? ExternalAccess::DefaultStream : ExternalAccess::AnyStream);
  }

  void
  Synchronize() const override
  {
    const DeviceGuard guard(this->GetDevice());
    WithEarlierFailures([this] {
      {
        const std::lock_guard<std::mutex> lock(m_Mutex);
        if (m_Written)
        {
          m_Written->Synchronize();
          return;
        }
      }
      if (m_Home)
      {
        ITK_CUDA_CALL(cudaStreamSynchronize(
          m_Home->GetStream())); // outside of the lock, so that others can use the memory meanwhile
      }
    });
  }

private:
  using ReaderKey =
    std::pair<cudaStream_t, std::thread::id>; // the per-thread default streams of all threads share one handle

  Context
  GetContext(StreamType stream) const
  {
    return Context(this->GetDevice(), reinterpret_cast<cudaStream_t>(stream));
  }

  bool
  IsHomeStream(const Context & context) const
  {
    return m_Home && m_Home->GetStream() == context.GetStream();
  }

  /** Returns whether stream order alone puts later work of the stream after the last write. */
  bool
  IsOrderedAfterWriter(const Context & context) const
  {
    return m_ExternalAccess == ExternalAccess::None && !m_Written && this->IsHomeStream(context);
  }

  // The functions below require the memory's device to be the current one, because a CUDA call creates a context on the
  // current device.

  void
  WaitForWriter(const Context & context) const
  {
    if (m_ExternalAccess != ExternalAccess::None)
    {
      WaitForStream(Context(context.GetDevice(), cudaStreamLegacy), context);
    }
    if (m_Written)
    {
      m_Written->MakeWait(context);
    }
    else if (m_Home && !this->IsHomeStream(context))
    {
      WaitForStream(*m_Home, context);
    }
  }

  void
  WaitForReaders(const Context & context) const
  {
    for (const auto & [reader, event] : m_Readers)
    {
      event.MakeWait(context);
    }
    if (this->IsHomeStream(context))
    {
      m_Readers.clear(); // later work on the home stream, including the release of the memory, runs after these reads
    }
    else if (m_Written && m_Home)
    {
      WaitForStream(*m_Home, context); // reads on the home stream record no event
    }
  }

  /** Prepares the release of the memory. The module's memory is released in the order of its home stream. Adopted
   * memory returns to its owner when all work is done. */
  void
  FinishWork()
  {
    if (m_ExternalAccess == ExternalAccess::AnyStream)
    {
      ITK_CUDA_CALL(cudaDeviceSynchronize());
    }
    else if (m_Home)
    {
      this->WaitToWrite(reinterpret_cast<StreamType>(m_Home->GetStream()));
    }
    else
    {
      for (const auto & [reader, event] : m_Readers)
      {
        event.Synchronize();
      }
      if (m_Written)
      {
        m_Written->Synchronize();
      }
    }
  }

  void
  ReleaseBuffer() noexcept
  {
    const DeviceGuard guard(this->GetDevice(), std::nothrow);
    try
    {
      this->FinishWork();
    }
    catch (...)
    {
      ITK_CUDA_CALL_NOTHROW(cudaDeviceSynchronize());
    }
    m_Readers.clear();
    m_Written.reset();
    m_Buffer = DeviceBuffer();
  }

  DeviceBuffer           m_Buffer;
  std::optional<Context> m_Home;
  ReleaseFunction        m_Release;

  mutable std::mutex   m_Mutex;
  ExternalAccess       m_ExternalAccess{ ExternalAccess::None };
  std::optional<Event> m_Written; // after the last write; empty if that was on the home stream or if there was no write
  mutable std::map<ReaderKey, Event> m_Readers; // after reads on streams other than the home stream
};
} // namespace
} // namespace cuda

CudaDeviceImageMemory::~CudaDeviceImageMemory() = default;

CudaDeviceImageMemory::Pointer
CudaDeviceImageMemory::Allocate(size_t bytes, int device)
{
  const cuda::Context     home = cuda::GetThreadContext(device);
  const cuda::DeviceGuard guard(device);
  return std::make_shared<cuda::StreamOrderedMemory>(cuda::DeviceBuffer(bytes, home), home);
}

CudaDeviceImageMemory::Pointer
CudaDeviceImageMemory::Adopt(void * data, size_t bytes, int device, ReleaseFunction release)
{
  if (!data && bytes != 0)
  {
    itkGenericExceptionMacro("CudaDeviceImageMemory::Adopt(): data is null; it must point to "
                             << bytes << " bytes on the device");
  }
  cuda::RequireUsableDevice(device);
  return std::make_shared<cuda::StreamOrderedMemory>(data, bytes, device, std::move(release));
}
} // end namespace itk

namespace itk::CudaDetail
{
CudaDeviceImageView
CudaAllocateDeviceImage(const std::array<size_t, CudaDeviceImageView::NumberOfAxes> & size,
                        CudaComponentType                                             type,
                        int                                                           device,
                        bool                                                          initialize)
{
  CudaDeviceImageView image;
  image.Memory = CudaDeviceImageMemory::Allocate(cuda::DeviceImage::GetNumberOfBytes(size, type), device);
  image.ComponentType = type;
  image.Size = size;
  image.Stride = cuda::DeviceImage::MakeView(size, type, nullptr).Stride;

  const cuda::Context home = cuda::GetThreadContext(device); // the stream on which the memory was allocated
  if (!initialize)
  {
    ClearPadding({ image.GetPointer(), type, image.Size, image.Stride }, home);
  }
  else if (image.Memory->GetSize() > 0)
  {
    const cuda::DeviceGuard guard(device);
    ITK_CUDA_CALL(cudaMemsetAsync(image.GetPointer(), 0, image.Memory->GetSize(), home.GetStream()));
  }
  return image;
}

int
CudaFindDeviceOfMemory(const void * data)
{
  if (!cuda::FindUsedDevice())
  {
    cuda::RequireUsableDevice(CudaFiltersConfiguration::GetDeviceIndex()); // throws with the reason
  }
  cudaPointerAttributes attributes{};
  ITK_CUDA_CALL(cudaPointerGetAttributes(&attributes, data));
  if (attributes.type != cudaMemoryTypeDevice && attributes.type != cudaMemoryTypeManaged)
  {
    cuda::ThrowNotUsable("the memory of the array is none of a GPU", __FILE__, __LINE__);
  }
  return attributes.device;
}
} // end namespace itk::CudaDetail
