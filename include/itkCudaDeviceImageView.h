// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaDeviceImageView_h
#define itkCudaDeviceImageView_h

#include "itkCudaDeviceImageMemory.h"
#include "itkCudaFiltersEnums.h"

#include <array>
#include <cstddef>

namespace itk
{
/** \struct CudaDeviceImageView
 * \brief A region of an image in device memory, together with the memory that holds it.
 *
 * The layout is planar: each component of the pixels is a volume of its own. Axes beyond the image's dimension have
 * size 1.
 *
 * \ingroup CudaFilters
 */
struct CudaDeviceImageView
{
  /** The axes x, y, z, t and component. */
  static constexpr unsigned int NumberOfAxes = 5;

  CudaDeviceImageMemory::Pointer Memory;                                    // nullptr: no pixels
  CudaComponentType              ComponentType{ CudaComponentType::Float }; // the type of an element
  // Number of elements along the axes x, y, z, t and component.
  std::array<size_t, NumberOfAxes> Size{ { 1, 1, 1, 1, 1 } };
  // Distance between neighbours along each axis, in elements; Stride[0] is 1.
  std::array<size_t, NumberOfAxes> Stride{ { 1, 1, 1, 1, 1 } };
  // Position of the first element in the memory, in elements.
  size_t Offset{ 0 };

  /** Returns the product of the sizes. */
  size_t
  GetNumberOfElements() const
  {
    return Size[0] * Size[1] * Size[2] * Size[3] * Size[4];
  }

  /** Returns the device address of the first element; nullptr without memory. */
  void *
  GetPointer() const
  {
    return Memory ? static_cast<unsigned char *>(Memory->GetPointer()) + Offset * CudaComponentSize(ComponentType)
                  : nullptr;
  }
};
} // end namespace itk

#endif
