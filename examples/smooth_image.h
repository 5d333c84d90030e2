// SPDX-License-Identifier: Apache-2.0
#ifndef smooth_image_h
#define smooth_image_h

#include "itkImageIOBase.h"

#include <array>
#include <string>

namespace example
{
/** What the command line asks for. */
struct Job
{
  std::string           Input;
  std::string           Output;
  std::array<double, 3> Sigma{ { 0.0, 0.0, 0.0 } };
  std::string           Backend{ "automatic" };
  int                   DeviceIndex{ -1 };
};

/** What is worth telling about a run. */
struct Outcome
{
  std::string BackendUsed;
  std::string BackendReason;
  double      ReadSeconds{ 0.0 };
  double      FilterSeconds{ 0.0 };
  double      WriteSeconds{ 0.0 };
};

/** Reads, smooths and writes an image whose file `io` has described, in the file's own pixel type. */
Outcome
Smooth2D(const Job & job, const itk::ImageIOBase & io);
Outcome
Smooth3D(const Job & job, const itk::ImageIOBase & io);
/** For a file of three dimensions that holds one slice: no smoothing across it, and all that the file says about space is kept. */
Outcome
SmoothSlice(const Job & job, const itk::ImageIOBase & io);
} // namespace example

#endif
