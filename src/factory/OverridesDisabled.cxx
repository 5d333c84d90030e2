// SPDX-License-Identifier: Apache-2.0
#include "factory/GaussianOverride.h"

namespace itk::cuda
{
std::vector<GaussianOverrides>
MakeAllOverrides()
{
  return {};
}
} // namespace itk::cuda
