// SPDX-License-Identifier: Apache-2.0
#include "factory/GaussianOverrides.hxx"

// Instantiates the overrides for input images of four dimensions.

template itk::cuda::GaussianOverrides
itk::cuda::MakeOverrides<4, unsigned char, short, unsigned short, float, double>();
