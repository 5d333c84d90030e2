// SPDX-License-Identifier: Apache-2.0
#include "factory/GaussianOverride.h"

// Replaces AllGaussianOverrides.cxx in a build without CudaFilters_BUILD_OVERRIDES. The factory then overrides
// nothing.

namespace itk::cuda
{
std::vector<GaussianOverrides>
MakeAllOverrides()
{
  return {};
}
} // namespace itk::cuda
