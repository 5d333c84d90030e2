// SPDX-License-Identifier: Apache-2.0
#include "smooth_image.hxx"

namespace example
{
Outcome
Smooth2D(const Job & job, const itk::ImageIOBase & io)
{
  return DispatchPixel(io, SmoothWhole<2>{ job });
}

Outcome
SmoothSlice(const Job & job, const itk::ImageIOBase & io)
{
  return DispatchPixel(io, SmoothOneSlice{ job });
}
} // namespace example
