// SPDX-License-Identifier: Apache-2.0
#include "factory/GaussianOverrides.hxx"

// Instantiates the overrides for input images of three dimensions whose pixels have less than 32 bits.

template itk::cuda::GaussianOverrides
itk::cuda::MakeOverrides<3, unsigned char, short, unsigned short>();
