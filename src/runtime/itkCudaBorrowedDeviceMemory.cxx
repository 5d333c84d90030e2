// SPDX-License-Identifier: Apache-2.0
#include "itkCudaDetailBorrowedMemory.h"

#include "itkCudaCall.h"
#include "itkCudaContext.h"
#include "itkCudaDeviceGuard.h"
#include "itkCudaDeviceProperties.h"
#include "itkCudaEarlierFailure.h"
#include "itkCudaError.h"
#include "itkCudaStream.h"
#include "itkMacro.h"

#include <memory>
#include <new>

namespace itk
{
namespace cuda
{
namespace
{
using StreamType = CudaDeviceImageMemory::StreamType;

/** \class BorrowedMemory
 * \brief Memory that the order of its owner's stream protects.
 *
 * The owner's stream is before and behind each use by another stream: the other one waits for it first, and it waits
 * for the other one afterwards. So its order alone says which work comes when, whatever the work does with the memory.
 */
class BorrowedMemory : public CudaDeviceImageMemory
{
public:
  BorrowedMemory(void * data, size_t bytes, const Context & owner)
    : CudaDeviceImageMemory(data, bytes, owner.GetDevice())
    , m_Owner(owner)
  {}

  bool
  IsPrivate() const override
  {
    return false;
  }

  void
  Wait(StreamType stream) const override
  {
    this->PutBehind(m_Owner, this->GetContext(stream));
  }

  void
  WaitToWrite(StreamType stream) const override
  {
    this->Wait(stream);
  }

  void
  MarkRead(StreamType stream) const noexcept override
  {
    try
    {
      this->PutBehind(this->GetContext(stream), m_Owner);
    }
    catch (...)
    {
      DrainStream(this->GetContext(stream)); // without an event the host waits, to keep the order
    }
  }

  void
  MarkWritten(StreamType stream) noexcept override
  {
    this->MarkRead(stream);
  }

  void
  Publish(StreamType stream) override
  {
    if (stream != UnknownStream)
    {
      this->Wait(stream);
    }
  }

  void
  Synchronize() const override
  {
    const DeviceGuard guard(this->GetDevice());
    WithEarlierFailures([this] { ITK_CUDA_CALL(cudaStreamSynchronize(m_Owner.GetStream())); });
  }

private:
  Context
  GetContext(StreamType stream) const
  {
    return Context(this->GetDevice(), reinterpret_cast<cudaStream_t>(stream));
  }

  /** Makes later work of `waiting` come after the work that is on `other`. */
  void
  PutBehind(const Context & other, const Context & waiting) const
  {
    if (other.GetStream() != waiting.GetStream())
    {
      const DeviceGuard guard(this->GetDevice());
      Event             event;
      event.Record(other);
      event.MakeWait(waiting);
    }
  }

  const Context m_Owner;
};

void
RequireNoCapture(const Context & context)
{
  const DeviceGuard       guard(context.GetDevice());
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  ITK_CUDA_CALL(cudaStreamIsCapturing(context.GetStream(), &status));
  if (status != cudaStreamCaptureStatusNone)
  {
    throw CudaError(__FILE__,
                    __LINE__,
                    CudaError::Kind::NotUsable,
                    "the stream of the array is recorded for a CUDA graph, in which the filters cannot run: filter "
                    "before or after it");
  }
}
} // namespace
} // namespace cuda

CudaDeviceImageMemory::Pointer
CudaDetail::CudaBorrowDeviceMemory(void * data, size_t bytes, int device, CudaDeviceImageMemory::StreamType stream)
{
  if (!data && bytes != 0)
  {
    itkGenericExceptionMacro("CudaBorrowDeviceMemory(): data is null; it must point to " << bytes
                                                                                         << " bytes on the device");
  }
  cuda::RequireUsableDevice(device);
  const cuda::Context owner(device, reinterpret_cast<cudaStream_t>(stream));
  cuda::RequireNoCapture(owner);
  return std::make_shared<cuda::BorrowedMemory>(data, bytes, owner);
}
} // end namespace itk
