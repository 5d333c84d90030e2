// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaOwnersStream_h
#define itkCudaOwnersStream_h

#include "itkCudaContext.h"
#include "itkCudaDetailDeviceRun.h"
#include "itkCudaDeviceGuard.h"
#include "itkCudaDeviceProperties.h"
#include "itkCudaStream.h"

namespace itk::cuda
{
/** \class OwnersStream
 * \brief A scope in which work is queued on the stream of an array's owner. The array's device is the current one.
 */
class OwnersStream
{
public:
  /** \exception CudaError of kind NotUsable if the device cannot be used, or the stream is recorded for a CUDA graph */
  explicit OwnersStream(const CudaDetail::CudaArrayMemory & array)
    : m_Context(Open(array))
    , m_Guard(array.Device)
  {
    RequireNoCapture(m_Context);
  }

  const Context &
  GetContext() const
  {
    return m_Context;
  }

private:
  static Context
  Open(const CudaDetail::CudaArrayMemory & array)
  {
    RequireUsableDevice(array.Device);
    return Context(array.Device, reinterpret_cast<cudaStream_t>(array.Stream));
  }

  const Context     m_Context;
  const DeviceGuard m_Guard;
};
} // namespace itk::cuda

#endif
