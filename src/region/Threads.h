// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_region_Threads_h
#define CudaFilters_region_Threads_h

#include "itkMultiThreaderBase.h"

#include <algorithm>
#include <atomic>
#include <cstddef>

namespace itk::cuda::region
{
/** ITK's threads, for loops with independent iterations, whose results do not depend on the number of threads. */
class Threads
{
public:
  explicit Threads(unsigned int number)
    : m_Number(std::max(1u, number))
  {
    if (m_Number > 1)
    {
      m_Threader = MultiThreaderBase::New();
      m_Threader->SetMaximumNumberOfThreads(m_Number);
      m_Threader->SetNumberOfWorkUnits(m_Number);
    }
  }

  unsigned int
  GetNumber() const
  {
    return m_Number;
  }

  /** Divides the iterations 0 to count - 1 into at most ceil(count / grain) pieces, and at most four for each thread.
   * Calls function(begin, end) for each piece, and waits for all of them. */
  template <typename TFunction>
  void
  ForRanges(size_t count, size_t grain, const TFunction & function) const
  {
    constexpr size_t piecesPerThread = 4;
    const size_t     pieces = std::min((count + grain - 1) / grain, piecesPerThread * m_Number);
    if (m_Number == 1 || pieces <= 1)
    {
      function(size_t{ 0 }, count);
      return;
    }
    // A thread takes the next piece when it has finished one, because some pieces take longer than others.
    std::atomic<size_t> next{ 0 };
    m_Threader->ParallelizeArray(
      0,
      std::min<size_t>(pieces, m_Number),
      [&](SizeValueType) {
        for (size_t piece = next++; piece < pieces; piece = next++)
        {
          function(count * piece / pieces, count * (piece + 1) / pieces);
        }
      },
      nullptr);
  }

private:
  unsigned int               m_Number;
  MultiThreaderBase::Pointer m_Threader;
};
} // namespace itk::cuda::region

#endif
