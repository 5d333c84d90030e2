// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaStagingSlot_h
#define itkCudaStagingSlot_h

#include "itkCudaPinnedMemory.h"
#include "itkCudaStream.h"

#include <atomic>
#include <cstddef>
#include <optional>

namespace itk::cuda
{
/** What a transfer copies in one go. */
struct StagingChunk
{
  /** Each copy costs the device 2.7 us beside its bytes, and the driver some 10 us. */
  static constexpr size_t SmallestSize = size_t{ 1 } << 19;
  static constexpr size_t LargestSize = PinnedBuffer::ChunkSize;
  static constexpr size_t PageSize = 4096; // to a multiple of which sizes are rounded

  size_t Batch;
  size_t Begin; // bytes from the start of all
  size_t End;
};

/** Page-locked memory for a chunk on its way between host and device. */
struct StagingSlot
{
  PinnedBuffer                Memory;
  std::optional<Event>        Copied;
  std::optional<StagingChunk> Pending;         // to be waited for
  std::atomic<size_t>         SlicesLeft{ 0 }; // to be filled
  std::atomic<size_t>         Turns{ 0 };      // chunks that were put into it
};
} // namespace itk::cuda

#endif
