// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaImageView_h
#define itkCudaImageView_h

#include "CudaFiltersExport.h"

#include <array>
#include <cstddef>
#include <cstdint>

namespace itk
{
/** Type of one component of a pixel, as the engines know it. */
enum class CudaComponentType : uint8_t
{
  UChar,
  Char,
  UShort,
  Short,
  UInt,
  Int,
  Float,
  Double
};

/** Bytes of one component. */
constexpr size_t
CudaComponentSize(CudaComponentType type)
{
  switch (type)
  {
    case CudaComponentType::UChar:
    case CudaComponentType::Char:
      return 1;
    case CudaComponentType::UShort:
    case CudaComponentType::Short:
      return 2;
    case CudaComponentType::UInt:
    case CudaComponentType::Int:
    case CudaComponentType::Float:
      return 4;
    case CudaComponentType::Double:
      return 8;
  }
  return 0;
}

/** \struct CudaImageView
 * \brief A region of an image in host memory, as plain data: what a filter hands to an engine.
 *
 * Components of a pixel are adjacent, as in itk::Image and itk::VectorImage. Axes
 * beyond the image's dimension have size 1. The view owns nothing.
 *
 * \ingroup CudaFilters
 */
struct CudaImageView
{
  static constexpr unsigned int MaximumDimension = 4;

  void *            Data{ nullptr }; // first component of the region's first pixel
  CudaComponentType ComponentType{ CudaComponentType::Float };
  size_t            NumberOfComponents{ 1 };
  // pixels along each axis
  std::array<size_t, MaximumDimension> Size{ { 1, 1, 1, 1 } };
  // components from a pixel to its neighbour along each axis
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

/** Throws unless an output has as many components as a filter gives, which makes `results` of each of the input's.
 * \exception ExceptionObject that names both numbers \ingroup CudaFilters */
CudaFilters_EXPORT void
CudaVerifyComponents(size_t inputComponents, size_t results, size_t outputComponents);
} // end namespace itk

#endif
