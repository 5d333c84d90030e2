// SPDX-License-Identifier: Apache-2.0
#include "smooth_image.hxx"

example::Outcome
example::Smooth2D(const Job & job, itk::ImageIOBase & io)
{
  return DispatchComponent<2>(job, io);
}
