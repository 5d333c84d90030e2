// SPDX-License-Identifier: Apache-2.0
#ifndef vesselness_image_h
#define vesselness_image_h

#include "itkImageIOBase.h"

#include <limits>
#include <string>
#include <vector>

namespace command
{
struct VesselnessJob
{
  std::string         Input;
  std::string         Output;
  std::string         ScaleFile; // empty: not written
  std::string         MipFile;   // empty: not written
  std::vector<double> Sigmas;
  std::string         Measure{ "objectness" };
  unsigned int        ObjectDimension{ 1 };
  bool                Bright{ true };
  bool                Normalize{ true };
  double              Alpha{ 0.5 };
  double              Beta{ 0.5 };
  double              Gamma{ std::numeric_limits<double>::quiet_NaN() }; // not a number: from the Hessians
  double              Tau{ 0.5 };
  std::string         Approximation{ "deriche" };
  std::string         BoundaryMode{ "nearest" };
  double              BoundaryValue{ 0.0 };
  std::string         Backend;
  int                 DeviceIndex;
};

struct VesselnessOutcome
{
  std::string BackendUsed;
  std::string BackendReason;
  double      LargestResponse{ 0.0 };
  double      ReadSeconds{ 0.0 };
  double      FilterSeconds{ 0.0 };
  double      WriteSeconds{ 0.0 };
};

/** Reads the image of the file that `io` has opened, enhances its vessels and writes the images that the job names.
 * Their pixels are float, or double if the file has pixels of double or of 32-bit integers. \param axes 2 or 3
 * \exception std::runtime_error for a component type that is not supported */
VesselnessOutcome
EnhanceVessels(const VesselnessJob & job, const itk::ImageIOBase & io, unsigned int axes);
} // namespace command

#endif
