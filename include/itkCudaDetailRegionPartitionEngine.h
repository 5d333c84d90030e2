// SPDX-License-Identifier: Apache-2.0
// Internal: only for the templates of the public headers. Names in itk::CudaDetail may change in any version.
#ifndef itkCudaDetailRegionPartitionEngine_h
#define itkCudaDetailRegionPartitionEngine_h

#include "CudaFiltersExport.h"
#include "itkCudaDetailImageView.h"
#include "itkCudaDeviceImageView.h"
#include "itkCudaFiltersEnums.h"
#include "itkCudaRegionPartitionTypes.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>

namespace itk::CudaDetail
{
/** All parameters of a partition; see CudaRegionPartitionImageFilter for their meaning. */
struct CudaRegionPartitionParameters
{
  std::optional<CudaFiltersEnums::NoiseLaw> NoiseLaw;             // must be set
  double                                    NumberOfLooks{ 0.0 }; // 0: estimated if the law has looks
  // Threshold of the Bernoulli law: pixels above it count as 1. NaN: the image holds 0 and one other value.
  double   ForegroundThreshold{ std::numeric_limits<double>::quiet_NaN() };
  double   SegmentCost{ 9.0 };
  unsigned BlockSize{ 4 };
  uint64_t MinimumNumberOfPixels{ 8 };
  unsigned MaximumNumberOfIterations{ 12 };
  bool     AllowMerging{ true };
  bool     LabelsOnly{ false };
};

/** The image to divide, with an optional mask and initial labels. The struct owns nothing. */
struct CudaRegionPartitionInput
{
  CudaImageView          Image;                    // UChar, UShort, Short or Float; two axes, one component
  std::array<int64_t, 2> FirstIndex{ { 0, 0 } };   // index of the first pixel, for messages
  const CudaImageView *  ValidMask{ nullptr };     // UChar of the image's size: pixels that are not 0 are valid
  const CudaImageView *  InitialLabels{ nullptr }; // UInt of the image's size: a segmentation to start from
};

/** Functions that are called from the thread that runs the engine. They do not change the result. */
struct CudaRegionPartitionObserver
{
  /** Called after every iteration with its number, counted from 1, the number of regions and the description. */
  std::function<void(unsigned, size_t, double)> Iteration;
  /** Called with the share of the work done. Returns whether to continue. */
  std::function<bool(float)> Progress;
};

/** Checks the parameters. \exception ExceptionObject naming the parameter that is invalid, its value, and the valid
 * values */
CudaFilters_EXPORT void
VerifyCudaRegionPartitionParameters(const CudaRegionPartitionParameters & parameters);

/** Divides the image on the host. If the observer stops it, the result describes no regions, and the labels are not
 * written.
 * \param labels UInt or UShort of the image's size: receives the number of each pixel's region, 0 where it is not valid
 * \exception ExceptionObject if a parameter, a mask or a label is invalid, or the law cannot describe a pixel */
CudaFilters_EXPORT CudaRegionPartitionResult
CudaRegionPartitionOnHost(const CudaRegionPartitionInput &      input,
                          const CudaRegionPartitionParameters & parameters,
                          const CudaImageView &                 labels,
                          unsigned int                          numberOfThreads,
                          const CudaRegionPartitionObserver &   observer);

/** Returns why the device cannot divide the image, in words; nullptr if it can. */
CudaFilters_EXPORT const char *
CudaRegionPartitionUnsupportedReason(const CudaRegionPartitionInput & input);

/** Returns the number of bytes of device memory that CudaRegionPartitionOnDevice() needs. Images with far more
 * boundaries than usual, such as noise given as InitialLabels, need more. */
CudaFilters_EXPORT size_t
CudaRegionPartitionWorkingSet(const CudaRegionPartitionInput & input, const CudaRegionPartitionParameters & parameters);

/** Images of a partition that are already on the device. */
struct CudaRegionPartitionDeviceImages
{
  const CudaDeviceImageView * Image{ nullptr };  // nullptr: the input's image is used
  const CudaDeviceImageView * Labels{ nullptr }; // of UInt or UShort; nullptr: the labels go to the host
};

/** Divides the image on the device, with a result that is bit-identical to CudaRegionPartitionOnHost(). Only the table
 * and the tree are computed on the host. The tree of many regions has a thread of its own, unless `numberOfThreads` is
 * 1. A device image is read where it is, after all work that wrote it; `input.Image` is then ignored. Labels on the
 * device are complete on return, and `labels` is then ignored. \exception CudaError */
CudaFilters_EXPORT CudaRegionPartitionResult
CudaRegionPartitionOnDevice(const CudaRegionPartitionInput &        input,
                            const CudaRegionPartitionParameters &   parameters,
                            const CudaImageView &                   labels,
                            unsigned int                            numberOfThreads,
                            int                                     deviceIndex,
                            const CudaRegionPartitionObserver &     observer,
                            const CudaRegionPartitionDeviceImages & onDevice = {});
} // end namespace itk::CudaDetail

#endif
