// SPDX-License-Identifier: Apache-2.0
// Internal: templates need it, programs do not. Names in itk::CudaDetail may change in any version.
#ifndef itkCudaDetailDeviceImageView_h
#define itkCudaDetailDeviceImageView_h

#include "CudaFiltersExport.h"
#include "itkCudaDeviceImageView.h"

#include <array>
#include <cstddef>

namespace itk::CudaDetail
{
/** An image in new memory of the module, whose rows start at multiples of 16 bytes. The bytes between rows are zero.
 * The elements are zero if `initialize` is true, and undefined otherwise. The work is queued on the calling thread's
 * stream.
 * \exception CudaError as CudaDeviceImageMemory::Allocate() */
CudaFilters_EXPORT CudaDeviceImageView
CudaAllocateDeviceImage(const std::array<size_t, CudaDeviceImageView::NumberOfAxes> & size,
                        CudaComponentType                                             type,
                        int                                                           device,
                        bool                                                          initialize);

/** Throws unless the view's elements lie in its memory and its rows are dense.
 * \exception ExceptionObject that names what does not fit */
CudaFilters_EXPORT void
CudaVerifyDeviceImageView(const CudaDeviceImageView & view);
} // end namespace itk::CudaDetail

#endif
