// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaUploadStaging_h
#define itkCudaUploadStaging_h

#include "itkCudaError.h"
#include "itkCudaStagingChunks.h"
#include "itkCudaStream.h"

namespace itk::cuda
{
/** \class UploadStaging
 * \brief Page-locked memory that the last copies of an upload read. It goes back when they are done, whatever was
 * queued behind them.
 */
class UploadStaging
{
public:
  explicit UploadStaging(const Context & context)
    : m_Chunks(context)
  {}

  /** Waits for the copies. If they have failed, for all work on the stream. */
  ~UploadStaging()
  {
    try
    {
      this->Release();
    }
    catch (const CudaError &)
    {
      // The next call on the stream reports it.
    }
  }

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
