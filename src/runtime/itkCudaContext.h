// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaContext_h
#define itkCudaContext_h

#include <cuda_runtime.h>

namespace itk::cuda
{
/** \class Context
 * \brief Where work runs, and in which order: a device and one of its streams. The stream is the module's own
 * (StreamLease) or a caller's.
 *
 * Work that the engines queue on the stream runs after all work that was queued there before. The context is plain data
 * and owns nothing.
 */
class Context
{
public:
  Context(int device, cudaStream_t stream)
    : m_Device(device)
    , m_Stream(stream)
  {}

  int
  GetDevice() const
  {
    return m_Device;
  }

  cudaStream_t
  GetStream() const
  {
    return m_Stream;
  }

protected:
  int          m_Device{ 0 };
  cudaStream_t m_Stream{ nullptr };
};
} // namespace itk::cuda

#endif
