// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_pointwise_ImageRows_h
#define CudaFilters_pointwise_ImageRows_h

#include "runtime/image/Components.h"
#include "itkCudaDetailImageView.h"

#include <cstddef>

// Addresses the rows of host images, for pointwise filters.

namespace itk::cuda::pointwise
{
/** Returns the offset in elements of the first component of a row along x. Rows are numbered along y first, then along
 * z, and so on. */
inline size_t
GetRowOffset(const CudaDetail::CudaImageView & view, size_t row)
{
  size_t offset = 0;
  for (unsigned int d = 1; d < CudaDetail::CudaImageView::MaximumDimension; ++d)
  {
    offset += row % view.Size[d] * view.Stride[d];
    row /= view.Size[d];
  }
  return offset;
}

/** Stores the value of component c of pixel x of a row, unless the view has no memory because the image is not
 * requested. */
template <typename T>
inline void
StoreComponent(const CudaDetail::CudaImageView & view, size_t row, size_t x, size_t c, T value)
{
  if (view.Data)
  {
    const size_t position = GetRowOffset(view, row) + x * view.Stride[0] + c;
    VisitComponentType(view.ComponentType, [&](auto zero) {
      using PixelType = decltype(zero);
      static_cast<PixelType *>(view.Data)[position] = ConvertComponent<PixelType>(value);
    });
  }
}
} // namespace itk::cuda::pointwise

#endif
