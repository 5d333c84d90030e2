// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaDetailNames_h
#define itkCudaDetailNames_h

namespace itk
{
namespace CudaDetail
{}

// What the headers of include/ share with the sources has the names of one namespace here.
namespace cuda
{
using namespace CudaDetail;
}
} // end namespace itk

#endif
