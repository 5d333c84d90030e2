// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaStagedInSlices_h
#define itkCudaStagedInSlices_h

#include "itkCudaStagedTransfer.h"

#include <atomic>
#include <cstddef>

namespace itk::cuda
{
/** \class StagedInSlices
 * \brief A staged transfer in which all threads fill or empty one chunk after the other together, each a slice of it at
 * a time.
 *
 * Every chunk has a slot. The link has work sooner, and the host less of it in the end, than where each thread has
 * chunks of its own.
 */
class StagedInSlices : public StagedTransfer
{
public:
  /** Whether this way is the faster one for so many bytes and threads. */
  static bool
  Suits(size_t bytes, size_t workers);

  StagedInSlices(TransferJob & job, size_t workers);

protected:
  void
  Prepare() override;
  void
  Transfer(unsigned int worker) override;

private:
  /** What one thread copies between host image and slot. */
  struct Slice
  {
    size_t ChunkIndex;
    size_t Begin; // bytes from the start of all
    size_t End;
  };

  void
  Upload(unsigned int worker);
  void
  Download(unsigned int worker);
  bool
  TakeSlice(Slice & slice);

  std::atomic<size_t> m_NextSlice{ 0 };
};
} // namespace itk::cuda

#endif
