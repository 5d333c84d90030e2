// SPDX-License-Identifier: Apache-2.0
#include "smooth_image.hxx"

example::Outcome
example::Smooth3D(const Job & job, itk::ImageIOBase & io)
{
  return DispatchComponent<3>(job, io);
}
