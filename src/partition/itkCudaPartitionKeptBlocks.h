// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaPartitionKeptBlocks_h
#define itkCudaPartitionKeptBlocks_h

#include "itkCudaError.h"

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

namespace itk::cuda::partition
{
/** \class KeptBlocks
 * \brief Small blocks of memory that arrays have left, for the arrays that follow them in the same order of work.
 *
 * A phase needs a dozen arrays, and there are dozens of phases. If the image is small, asking the driver for this
 * memory takes as long as the work. The driver serves one thread at a time.
 *
 * \tparam TBlock owns a block; its GetSize() says how many bytes it has
 */
template <typename TBlock>
class KeptBlocks
{
public:
  static constexpr size_t LargestBlock = size_t{ 1 } << 20;
  /** Most bytes of all blocks that are kept. */
  static constexpr size_t MostBytes = size_t{ 8 } << 20;

  KeptBlocks() { m_Blocks.reserve(MostBlocks); }
  KeptBlocks(const KeptBlocks &) = delete;
  KeptBlocks &
  operator=(const KeptBlocks &) = delete;

  /** The smallest kept block with room for so many bytes that is not much too large, else what allocate(bytes) returns.
   * If memory runs out, the kept blocks are released and the allocation is tried once more. */
  template <typename TFunction>
  TBlock
  Take(size_t bytes, const TFunction & allocate)
  {
    const auto least = std::min_element(m_Blocks.begin(), m_Blocks.end(), [bytes](const TBlock & a, const TBlock & b) {
      const bool hasRoom = a.GetSize() >= bytes;
      return hasRoom != (b.GetSize() >= bytes) ? hasRoom : a.GetSize() < b.GetSize();
    });
    if (least != m_Blocks.end() && least->GetSize() >= bytes && least->GetSize() <= 2 * bytes + SmallBlock)
    {
      TBlock block = std::move(*least);
      m_Bytes -= block.GetSize();
      std::iter_swap(least, m_Blocks.end() - 1);
      m_Blocks.pop_back();
      return block;
    }
    try
    {
      return allocate(bytes);
    }
    catch (const CudaError & error)
    {
      if (error.GetKind() != CudaError::Kind::OutOfMemory || m_Blocks.empty())
      {
        throw;
      }
    }
    this->Release();
    return allocate(bytes);
  }

  /** Keeps a block, or releases it if it is large or many are kept. */
  void
  Give(TBlock && block) noexcept
  {
    TBlock       given = std::move(block); // is released here if it is not kept
    const size_t size = given.GetSize();
    if (size > 0 && size <= LargestBlock && m_Bytes + size <= MostBytes && m_Blocks.size() < MostBlocks)
    {
      m_Bytes += size;
      m_Blocks.push_back(std::move(given));
    }
  }

  /** Releases all that is kept. */
  void
  Release() noexcept
  {
    m_Blocks.clear();
    m_Bytes = 0;
  }

private:
  static constexpr size_t MostBlocks = 64;
  static constexpr size_t SmallBlock = size_t{ 16 } << 10; // may be much larger than what is asked for

  std::vector<TBlock> m_Blocks;
  size_t              m_Bytes{ 0 };
};
} // namespace itk::cuda::partition

#endif
