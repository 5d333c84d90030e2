// SPDX-License-Identifier: Apache-2.0
#include "factory/GaussianOverrides.hxx"

// Instantiates the overrides for input images of two dimensions whose pixels have less than 32 bits.

template itk::cuda::GaussianOverrides
itk::cuda::MakeOverrides<2, unsigned char, short, unsigned short>();
