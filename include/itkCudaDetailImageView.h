// SPDX-License-Identifier: Apache-2.0
// Internal: only for the templates of the public headers. Names in itk::CudaDetail may change in any version.
#ifndef itkCudaDetailImageView_h
#define itkCudaDetailImageView_h

#include "CudaFiltersExport.h"
#include "itkCudaFiltersEnums.h"

#include <array>
#include <cstddef>

namespace itk::CudaDetail
{
/** A region of an image in host memory, as plain data. Filters pass it to engines.
 *
 * Components of a pixel are adjacent, as in itk::Image and itk::VectorImage. Axes beyond the image's dimension have
 * size 1. The view owns nothing. */
struct CudaImageView
{
  static constexpr unsigned int MaximumDimension = 4;

  void *            Data{ nullptr }; // first component of the region's first pixel
  CudaComponentType ComponentType{ CudaComponentType::Float };
  size_t            NumberOfComponents{ 1 };
  // Number of pixels along each axis.
  std::array<size_t, MaximumDimension> Size{ { 1, 1, 1, 1 } };
  // Distance between neighbouring pixels along each axis, in components.
  std::array<size_t, MaximumDimension> Stride{ { 1, 1, 1, 1 } };

  size_t
  GetNumberOfPixels() const
  {
    return Size[0] * Size[1] * Size[2] * Size[3];
  }
  size_t
  GetNumberOfBytes() const
  {
    return GetNumberOfPixels() * NumberOfComponents * CudaComponentSize(ComponentType);
  }
};

/** Throws unless an output has as many components as a filter computes, which is `results` for each component of the
 * input.
 * \exception ExceptionObject that names both numbers */
CudaFilters_EXPORT void
CudaVerifyComponents(size_t inputComponents, size_t results, size_t outputComponents);
} // end namespace itk::CudaDetail

#endif
