// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaMultiScaleTuning_h
#define itkCudaMultiScaleTuning_h

#include <cstddef>

// Numbers only. No result depends on them.

namespace itk::cuda::multiscale
{
/** Groups of planes that an image's Hessians are made in. Three groups of 512^3 pixels fill a GPU, and their Hessians
 * and intermediate images take the memory of three images instead of nine. A pass along x of 512^3 pixels takes 0.31 ms
 * in one group and 0.34 ms in four. */
constexpr size_t NumberOfGroups = 3;

/** Least number of pixels of a group: with less the launches take longer than the kernels. */
constexpr size_t LeastGroupPixels = size_t{ 1 } << 22;
} // namespace itk::cuda::multiscale

#endif
