// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaDetailNames_h
#define itkCudaDetailNames_h

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
