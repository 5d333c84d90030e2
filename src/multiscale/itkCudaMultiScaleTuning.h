// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaMultiScaleTuning_h
#define itkCudaMultiScaleTuning_h

#include <cstddef>

// Numbers only. No result depends on them.

namespace itk::cuda::multiscale
{
/** Groups of planes that an image's Hessians are made in. Four groups of 512^3 pixels fill a GPU, and their Hessians
 * and intermediate images take the memory of two and a quarter images instead of nine. */
constexpr size_t NumberOfGroups = 4;

/** Least number of pixels of a group: with less the launches take longer than the kernels. */
constexpr size_t LeastGroupPixels = size_t{ 1 } << 22;
} // namespace itk::cuda::multiscale

#endif
