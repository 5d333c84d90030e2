// SPDX-License-Identifier: Apache-2.0
// Internal: only for the templates of the public headers. Names in itk::CudaDetail may change in any version.
#ifndef itkCudaDetailRegionSnakeLabels_h
#define itkCudaDetailRegionSnakeLabels_h

#include "itkCudaDetailRegionSnakeEngine.h"
#include "itkMultiThreaderBase.h"

#include <algorithm>
#include <cstddef>

namespace itk::CudaDetail
{
/** Writes the label image of a polygon: `Inside` between the columns of its row spans, `Outside` elsewhere. */
template <typename TPixel>
struct CudaSnakeLabels
{
  const CudaSnakeRowSpans & Spans;
  size_t                    Width; // pixels of a row; rows are adjacent
  TPixel                    Inside;
  TPixel                    Outside;

  /** Writes the rows firstRow to endRow - 1 of the image that begins at `pixels`. A run of `Outside` may continue
   * across the ends of rows. */
  void
  WriteRows(TPixel * pixels, size_t firstRow, size_t endRow) const
  {
    TPixel * written = pixels + firstRow * Width;
    for (size_t y = firstRow; y < endRow; ++y)
    {
      TPixel * const row = pixels + y * Width;
      for (size_t i = Spans.First[y]; i < Spans.First[y + 1]; i += 2)
      {
        TPixel * const enter = row + Spans.Columns[i];
        TPixel * const leave = row + Spans.Columns[i + 1];
        std::fill(written, enter, Outside);
        std::fill(enter, leave, Inside);
        written = leave;
      }
    }
    std::fill(written, pixels + endRow * Width, Outside);
  }

  /** Writes all rows on the threads of `threader`. */
  void
  Write(TPixel * pixels, MultiThreaderBase & threader) const
  {
    const size_t rows = Spans.First.size() - 1;
    // Cut the rows into several pieces for each thread, because some threads begin late.
    const size_t pieces = std::min(rows, size_t{ 4 } * threader.GetNumberOfWorkUnits());
    threader.ParallelizeArray(
      0,
      pieces,
      [&](SizeValueType piece) { this->WriteRows(pixels, rows * piece / pieces, rows * (piece + 1) / pieces); },
      nullptr);
  }
};
} // end namespace itk::CudaDetail

#endif
