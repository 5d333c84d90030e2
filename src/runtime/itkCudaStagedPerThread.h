// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaStagedPerThread_h
#define itkCudaStagedPerThread_h

#include "itkCudaStagedTransfer.h"

#include <atomic>
#include <cstddef>

namespace itk::cuda
{
/** \class StagedPerThread
 * \brief A staged transfer in which each thread fills or empties chunks of its own.
 *
 * A thread has two slots: it fills or empties one while the other is on the link.
 */
class StagedPerThread : public StagedTransfer
{
public:
  StagedPerThread(TransferJob & job, size_t workers);

protected:
  void
  Transfer(unsigned int worker) override;

private:
  void
  Upload(unsigned int worker);
  void
  Download(unsigned int worker);
  bool
  TakeChunk(Chunk & chunk);
  void
  Empty(StagingSlot & slot);

  std::atomic<size_t> m_NextChunk{ 0 };
};
} // namespace itk::cuda

#endif
