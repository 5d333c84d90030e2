// SPDX-License-Identifier: Apache-2.0
// Internal: templates need it, programs do not. Names in itk::CudaDetail may change in any version.
#ifndef itkCudaDetailArrayImage_h
#define itkCudaDetailArrayImage_h

#include "itkCudaDetailDeviceRun.h"

#include <array>
#include <cstddef>

namespace itk::CudaDetail
{
/** An array as an image: rows of adjacent pixels, in memory that the caller keeps. */
struct CudaArrayImage
{
  CudaArrayMemory                                       Memory;
  std::array<size_t, CudaDeviceImageView::NumberOfAxes> Size;   // x first
  std::array<size_t, CudaDeviceImageView::NumberOfAxes> Stride; // in pixels
};
} // end namespace itk::CudaDetail

#endif
