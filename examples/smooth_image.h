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

/** Reads, smooths and writes the image whose file `io` has described, along its first two or three axes; the others
 * have one pixel. */
Outcome
Smooth2D(const Job & job, itk::ImageIOBase & io);
Outcome
Smooth3D(const Job & job, itk::ImageIOBase & io);

/** Writes pixels of the type that `description` tells to the job's output, with all else that it says about the image.
 */
void
WriteImage(const Job & job, itk::ImageIOBase & description, const void * pixels);
} // namespace example

#endif
