// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaForeignMemory_h
#define itkCudaForeignMemory_h

#include "itkCudaDetailDeviceRun.h"
#include "runtime/device/Call.h"
#include "runtime/device/Stream.h"
#include "support/itkCudaRuntimeTestHelpers.h"

#include <vector>

namespace itk::cuda::test
{
/** Device memory of CUDA's own allocator, as another library has it. Its bits are NaN until something is written. */
class ForeignMemory
{
public:
  explicit ForeignMemory(size_t bytes)
    : m_Bytes(bytes)
  {
    ITK_CUDA_CALL(cudaMalloc(&m_Data, bytes));
    this->Spoil();
  }
  ~ForeignMemory() { cudaFree(m_Data); }

  ForeignMemory(const ForeignMemory &) = delete;
  ForeignMemory &
  operator=(const ForeignMemory &) = delete;

  void *
  Get() const
  {
    return m_Data;
  }

  /** Returns what the module's functions of arrays take: elements of type T from `begin` on, used on the owner's
   * stream. */
  template <typename T>
  CudaDetail::CudaArrayMemory
  GetArray(const Context & owner, size_t begin = 0) const
  {
    return { static_cast<T *>(m_Data) + begin,
             GetComponentType<T>(),
             device,
             reinterpret_cast<CudaDeviceImageMemory::StreamType>(owner.GetStream()) };
  }

  void
  Spoil() const
  {
    ITK_CUDA_CALL(cudaMemset(m_Data, 0xff, m_Bytes));
    ITK_CUDA_CALL(cudaStreamSynchronize(nullptr)); // other streams do not wait for it
  }

  /** On the owner's stream. */
  void
  Fill(int byte, const Context & owner) const
  {
    ITK_CUDA_CALL(cudaMemsetAsync(m_Data, byte, m_Bytes, owner.GetStream()));
  }
  void
  CopyFrom(const ForeignMemory & other, const Context & owner) const
  {
    ITK_CUDA_CALL(cudaMemcpyAsync(m_Data, other.m_Data, m_Bytes, cudaMemcpyDeviceToDevice, owner.GetStream()));
  }
  template <typename T>
  void
  Upload(const std::vector<T> & elements, const Context & owner) const
  {
    ITK_CUDA_CALL(
      cudaMemcpyAsync(m_Data, elements.data(), elements.size() * sizeof(T), cudaMemcpyHostToDevice, owner.GetStream()));
  }

  /** Returns all elements. It does not wait for other streams. */
  template <typename T>
  std::vector<T>
  Download() const
  {
    std::vector<T> elements(m_Bytes / sizeof(T));
    ITK_CUDA_CALL(cudaMemcpy(elements.data(), m_Data, elements.size() * sizeof(T), cudaMemcpyDeviceToHost));
    return elements;
  }

private:
  void *       m_Data{ nullptr };
  const size_t m_Bytes;
};
} // namespace itk::cuda::test

#endif
