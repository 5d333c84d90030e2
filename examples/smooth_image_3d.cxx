// SPDX-License-Identifier: Apache-2.0
#include "smooth_image.hxx"

namespace example
{
Outcome
Smooth3D(const Job & job, const itk::ImageIOBase & io)
{
  return DispatchPixel(io, SmoothWhole<3>{ job });
}
} // namespace example
