// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaStagedInSlices_h
#define itkCudaStagedInSlices_h

#include "itkCudaStagedTransfer.h"

#include <atomic>
#include <cstddef>

namespace itk::cuda
{
/** \class StagedInSlices
 * \brief A staged transfer in which all threads work on the same chunk, each on a slice of it at a time, and then on
 * the next chunk.
 *
 * Every chunk has a slot. The link gets work sooner than with chunks for each thread, and less work is left for the
 * host at the end.
 */
class StagedInSlices : public StagedTransfer
{
public:
  /** Whether this way is faster than StagedPerThread for so many bytes and threads. */
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
