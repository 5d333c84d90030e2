// SPDX-License-Identifier: Apache-2.0
#include "factory/GaussianOverrides.hxx"

// Instantiates the overrides for input images of three dimensions whose pixels have 32 bits or more.

template itk::cuda::GaussianOverrides
itk::cuda::MakeOverrides<3, int, float, double>();
