// SPDX-License-Identifier: Apache-2.0
#ifndef partition_image_h
#define partition_image_h

#include "itkCudaRegionPartition.h"
#include "itkImageIOBase.h"

#include <cstdint>
#include <limits>
#include <string>

namespace command
{
/** The values of the options. Their defaults are those of CudaRegionPartitionImageFilter (docs/user/parameters.md). */
struct PartitionJob
{
  std::string  Input;
  std::string  Law;
  double       NumberOfLooks{ 0.0 };                                            // estimated
  double       ForegroundThreshold{ std::numeric_limits<double>::quiet_NaN() }; // none
  double       SegmentCost{ 9.0 };
  unsigned int BlockSize{ 4 };
  uint64_t     MinimumNumberOfPixels{ 8 };
  unsigned int MaximumNumberOfIterations{ 12 };
  bool         AllowMerging{ true };
  bool         LabelsOnly{ false };
  std::string  ValidMask;
  std::string  InitialLabels;
  std::string  Backend;
  int          DeviceIndex;
  std::string  LabelsFile;
  std::string  MeansFile;
  std::string  OverlayFile;
};

struct PartitionOutcome
{
  itk::CudaRegionPartition::Pointer Partition;
  std::string                       BackendUsed;
  std::string                       BackendReason;
  double                            ReadSeconds{ 0.0 };
  double                            FilterSeconds{ 0.0 };
};

/** Divides the image of the file that `io` has opened, and writes the requested images.
 * \exception std::runtime_error for a component type that is not supported */
PartitionOutcome
PartitionImage(const PartitionJob & job, const itk::ImageIOBase & io);
} // namespace command

#endif
