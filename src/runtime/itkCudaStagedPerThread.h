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
 * Each thread of an upload has two slots, maybe from the upload before. It fills one while the other is on the link. A
 * download has two slots for each thread. They take turns: the first copies are started before any thread begins. The
 * thread that has emptied a slot starts the next copy into it.
 */
class StagedPerThread : public StagedTransfer
{
public:
  StagedPerThread(TransferJob & job, size_t workers);

protected:
  void
  Prepare() override;
  void
  Transfer(unsigned int worker) override;

private:
  void
  Upload(unsigned int worker);
  void
  Download(unsigned int worker);
  StagingSlot &
  GetNextSlot(unsigned int worker);
  bool
  TakeChunk(size_t & index);
  void
  StartCopy(size_t index);
  bool
  WaitForCopy(const StagingSlot & slot, size_t turn) const;
  void
  Empty(StagingSlot & slot);

  std::atomic<size_t> m_NextChunk{ 0 };
  size_t              m_SlotsInTurns{ 0 }; // of a download
};
} // namespace itk::cuda

#endif
