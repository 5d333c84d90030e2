// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_runtime_DetailNames_h
#define CudaFilters_runtime_DetailNames_h

namespace itk
{
namespace CudaDetail
{}

// The sources use the names of itk::CudaDetail without the namespace.
namespace cuda
{
using namespace CudaDetail;
}
} // end namespace itk

#endif
