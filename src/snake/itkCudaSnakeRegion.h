// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaSnakeRegion_h
#define itkCudaSnakeRegion_h

// The snake works on the lattice, the laws and the sums of the room below, and calls them by their names.
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
