// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaHeldStream_h
#define itkCudaHeldStream_h

#include "runtime/device/Call.h"
#include "runtime/device/Stream.h"

#include <future>

namespace itk::cuda::test
{
/** \class HeldStream
 * \brief Holds back all work on a stream until it is released or the object goes out of scope.
 */
class HeldStream
{
public:
  explicit HeldStream(const Context & context)
    : m_LetGo(m_Promise.get_future())
  {
    ITK_CUDA_CALL(cudaLaunchHostFunc(context.GetStream(), Wait, &m_LetGo));
  }

  ~HeldStream()
  {
    this->LetGo();
    cudaDeviceSynchronize(); // the function reads a member
  }

  HeldStream(const HeldStream &) = delete;
  HeldStream &
  operator=(const HeldStream &) = delete;

  void
  LetGo()
  {
    if (!m_IsFree)
    {
      m_Promise.set_value();
      m_IsFree = true;
    }
  }

private:
  static void CUDART_CB
  Wait(void * letGo)
  {
    static_cast<std::future<void> *>(letGo)->wait();
  }

  std::promise<void> m_Promise;
  std::future<void>  m_LetGo;
  bool               m_IsFree{ false };
};
} // namespace itk::cuda::test

#endif
