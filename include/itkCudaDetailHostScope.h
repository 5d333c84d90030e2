// SPDX-License-Identifier: Apache-2.0
// Internal: templates need it, programs do not. Names in itk::CudaDetail may change in any version.
#ifndef itkCudaDetailHostScope_h
#define itkCudaDetailHostScope_h

#include "CudaFiltersExport.h"

namespace itk::CudaDetail
{
/** While one lives, filters that run in the same thread with Backend Automatic run on the host.
 *
 * A composite filter whose own work is on the host opens one around its inner filters. Scopes nest. */
class CudaFilters_EXPORT CudaHostScope
{
public:
  CudaHostScope() noexcept;
  ~CudaHostScope();

  CudaHostScope(const CudaHostScope &) = delete;
  CudaHostScope &
  operator=(const CudaHostScope &) = delete;

  /** Whether the calling thread is inside a scope. */
  static bool
  IsActive() noexcept;
};
} // end namespace itk::CudaDetail

#endif
