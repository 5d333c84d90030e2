// SPDX-License-Identifier: Apache-2.0
#ifndef smooth_image_h
#define smooth_image_h

#include "itkCudaSlabs.h"
#include "itkImageIOBase.h"

#include <cstddef>
#include <string>
#include <vector>

namespace command
{
struct SmoothJob
{
  std::string         Output;
  std::vector<double> Sigma; // of each axis to smooth along: 2 or 3
  std::string         Approximation;
  std::string         BoundaryMode;
  double              BoundaryValue;
  std::string         Backend;
  int                 DeviceIndex;
  std::string         Streaming;
  size_t              DeviceMemoryLimit; // bytes; 0: the configuration's
};

struct SmoothOutcome
{
  std::string BackendUsed;
  std::string BackendReason;
  double      ReadSeconds{ 0.0 };
  double      FilterSeconds{ 0.0 };
  double      WriteSeconds{ 0.0 };

  itk::CudaSlabReport Report; // of the last component, if components are smoothed one by one
};

/** Reads, smooths and writes the image of the file that `io` has opened. The output has the pixel type of the input.
 * \exception std::runtime_error for a component type that is not supported */
SmoothOutcome
SmoothImage(const SmoothJob & job, itk::ImageIOBase & io);
} // namespace command

#endif
