// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaUploadStaging_h
#define itkCudaUploadStaging_h

#include "itkCudaStagingChunks.h"
#include "itkCudaStream.h"

namespace itk::cuda
{
/** \class UploadStaging
 * \brief Page-locked memory that the last copies of an upload read. Release() gives it back when they are done,
 * whatever was queued behind them. Without Release() it goes back when all work on the stream is done, or has failed.
 */
class UploadStaging
{
public:
  explicit UploadStaging(const Context & context)
    : m_Chunks(context)
  {}

  UploadStaging(const UploadStaging &) = delete;
  UploadStaging &
  operator=(const UploadStaging &) = delete;

  /** For the upload itself. */
  StagingChunks &
  GetChunks()
  {
    return m_Chunks;
  }

  /** To be called when the upload's last copy has been queued. */
  void
  MarkSent()
  {
    m_Sent.Record(m_Chunks.GetContext());
  }

  /** Waits for the copies before the mark, and gives the memory back. \exception CudaError */
  void
  Release()
  {
    m_Sent.Synchronize();
    m_Chunks.Forget();
  }

private:
  StagingChunks m_Chunks;
  Event         m_Sent;
};
} // namespace itk::cuda

#endif
