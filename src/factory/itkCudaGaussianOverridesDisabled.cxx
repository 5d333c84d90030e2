// SPDX-License-Identifier: Apache-2.0
#include "itkCudaGaussianOverride.h"

namespace itk::cuda
{
std::vector<GaussianOverrides>
MakeAllOverrides()
{
  return {};
}
} // namespace itk::cuda
