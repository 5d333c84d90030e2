// SPDX-License-Identifier: Apache-2.0
#include "factory/GaussianOverrides.hxx"

// Instantiates the overrides for input images of two dimensions whose pixels have 32 bits or more.

template itk::cuda::GaussianOverrides
itk::cuda::MakeOverrides<2, int, float, double>();
