// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaSnakeRegion_h
#define itkCudaSnakeRegion_h

// The snake uses the lattice, the laws and the sums of the room below without its namespace.
namespace itk::cuda
{
namespace region
{}
namespace snake
{
using namespace region;
}
} // namespace itk::cuda

#endif
