// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_runtime_memory_DeviceAccess_h
#define CudaFilters_runtime_memory_DeviceAccess_h

#include "runtime/device/Stream.h"
#include "itkCudaDeviceImageView.h"
#include "runtime/image/DeviceView.h"
#include "itkMacro.h"

#include <algorithm>

namespace itk::cuda
{
/** Returns the view without its owner, as the engines take it. */
inline DeviceView
GetDeviceView(const CudaDeviceImageView & image)
{
  return { image.GetPointer(), image.ComponentType, image.Size, image.Stride };
}

/** Returns a host view with the size and type of a device image, for the checks that host images go through. The host
 * cannot read its memory. */
inline CudaImageView
GetShape(const CudaDeviceImageView & image)
{
  CudaImageView shape;
  shape.Data = image.GetPointer();
  shape.ComponentType = image.ComponentType;
  shape.NumberOfComponents = image.Size.back();
  std::copy_n(image.Size.begin(), shape.Size.size(), shape.Size.begin());
  return shape;
}

inline CudaDeviceImageMemory::StreamType
GetStreamHandle(const Context & context)
{
  return reinterpret_cast<CudaDeviceImageMemory::StreamType>(context.GetStream());
}

/** Returns the image's memory.
 * \exception ExceptionObject if it has none */
inline CudaDeviceImageMemory &
GetMemory(const CudaDeviceImageView & image)
{
  if (!image.Memory)
  {
    itkGenericExceptionMacro("The device image has no memory; it must be allocated");
  }
  return *image.Memory;
}

/** \class DeviceReading
 * \brief A scope in which work that reads an image is queued on a stream. The work runs after all work that wrote the
 * image and before the image's memory is freed.
 */
class DeviceReading
{
public:
  DeviceReading(const CudaDeviceImageView & image, const Context & context)
    : m_Memory(image.Memory)
    , m_Stream(GetStreamHandle(context))
  {
    m_Memory->Wait(m_Stream);
  }
  ~DeviceReading() { m_Memory->MarkRead(m_Stream); }

  DeviceReading(const DeviceReading &) = delete;
  DeviceReading &
  operator=(const DeviceReading &) = delete;

private:
  const CudaDeviceImageMemory::Pointer    m_Memory;
  const CudaDeviceImageMemory::StreamType m_Stream;
};

/** \class DeviceWriting
 * \brief A scope in which work that writes an image is queued on a stream. The work runs after all work that read or
 * wrote the image.
 */
class DeviceWriting
{
public:
  DeviceWriting(const CudaDeviceImageView & image, const Context & context)
    : m_Memory(image.Memory)
    , m_Stream(GetStreamHandle(context))
  {
    m_Memory->WaitToWrite(m_Stream);
  }
  ~DeviceWriting() { m_Memory->MarkWritten(m_Stream); }

  DeviceWriting(const DeviceWriting &) = delete;
  DeviceWriting &
  operator=(const DeviceWriting &) = delete;

private:
  const CudaDeviceImageMemory::Pointer    m_Memory;
  const CudaDeviceImageMemory::StreamType m_Stream;
};
} // namespace itk::cuda

#endif
