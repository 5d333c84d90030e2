// SPDX-License-Identifier: Apache-2.0
#include "factory/GaussianOverride.h"

// Collects the overrides for all images in a build with CudaFilters_BUILD_OVERRIDES. In four dimensions the inputs have
// the types of ITK's Python package.

namespace itk::cuda
{
std::vector<GaussianOverrides>
MakeAllOverrides()
{
  return { MakeOverrides<2, unsigned char, short, unsigned short>(),
           MakeOverrides<2, int, float, double>(),
           MakeOverrides<3, unsigned char, short, unsigned short>(),
           MakeOverrides<3, int, float, double>(),
           MakeOverrides<4, unsigned char, short, unsigned short, float, double>() };
}
} // namespace itk::cuda
