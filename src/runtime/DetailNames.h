// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_runtime_DetailNames_h
#define CudaFilters_runtime_DetailNames_h

namespace itk
{
namespace CudaDetail
{}

// Lets the sources use names of itk::CudaDetail without qualifying them.
namespace cuda
{
using namespace CudaDetail;
}
} // end namespace itk

#endif
