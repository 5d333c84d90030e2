// SPDX-License-Identifier: Apache-2.0
#ifndef segment_image_h
#define segment_image_h

#include "itkCudaRegionSnakeTypes.h"
#include "itkImageIOBase.h"
#include "itkPoint.h"

#include <array>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace command
{
using PhysicalPoint = itk::Point<double, 2>;

struct StartContour
{
  std::vector<PhysicalPoint> Points;            // none: the search starts elsewhere
  bool                       InPixels{ false }; // counted from the centre of the first pixel, instead of physical
};

/** The values of the options. Their defaults are those of CudaRegionSnakeImageFilter (docs/user/parameters.md). */
struct SegmentJob
{
  std::string       Input;
  std::string       Law;
  std::string       Schedule{ "coarse_to_fine" };
  std::string       Start{ "automatic" };
  double            NumberOfLooks{ 1.0 };
  double            ForegroundThreshold{ std::numeric_limits<double>::quiet_NaN() }; // none
  unsigned int      MaximumStep{ 32 };
  double            MinimumEdgeLength{ 32.0 };
  double            MinimumGain{ 1e-6 };
  bool              UseDescriptionLength{ true };
  unsigned int      MaximumNumberOfNodes{ 4096 };
  unsigned int      MaximumNumberOfIterations{ 10000 };
  uint64_t          MinimumRegionSize{ 16 };
  StartContour      InitialContour;
  std::string       InitialMask;
  std::vector<long> InitialRegion; // x, y, width, height; or none
  std::string       ValidMask;
  int               InsideValue{ 1 };
  int               OutsideValue{ 0 };
  std::string       Backend;
  int               DeviceIndex;
  std::string       LabelFile;
  std::string       OverlayFile;
};

struct SegmentOutcome
{
  itk::CudaRegionSnakeResult Result;
  std::vector<PhysicalPoint> Contour;
  std::string                BackendUsed;
  std::string                BackendReason;
  double                     ReadSeconds{ 0.0 };
  double                     FilterSeconds{ 0.0 };
};

/** Segments the image of the file that `io` has opened, and writes the label image and the overlay if requested.
 * \exception std::runtime_error for a component type that is not supported */
SegmentOutcome
SegmentImage(const SegmentJob & job, const itk::ImageIOBase & io);
} // namespace command

#endif
