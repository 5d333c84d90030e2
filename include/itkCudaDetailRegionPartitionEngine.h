// SPDX-License-Identifier: Apache-2.0
// Internal: templates need it, programs do not. Names in itk::CudaDetail may change in any version.
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
  std::optional<CudaFiltersEnums::NoiseLaw> NoiseLaw;             // has to be set
  double                                    NumberOfLooks{ 0.0 }; // 0: estimated if the law knows looks
  // Bernoulli: pixels above it are 1; NaN: the image holds 0 and one other value
  double   ForegroundThreshold{ std::numeric_limits<double>::quiet_NaN() };
  double   SegmentCost{ 9.0 };
  unsigned BlockSize{ 4 };
  uint64_t MinimumNumberOfPixels{ 8 };
  unsigned MaximumNumberOfIterations{ 12 };
  bool     AllowMerging{ true };
  bool     LabelsOnly{ false };
};

/** The image to divide. The struct owns nothing. */
struct CudaRegionPartitionInput
{
  CudaImageView          Image;                    // UChar, UShort, Short or Float; two axes, one component
  std::array<int64_t, 2> FirstIndex{ { 0, 0 } };   // index of the first pixel, for messages
  const CudaImageView *  ValidMask{ nullptr };     // UChar of the image's size: pixels that are not 0 are valid
  const CudaImageView *  InitialLabels{ nullptr }; // UInt of the image's size: a segmentation to start from
};

/** Called from the thread that runs the engine. No call changes the result. */
struct CudaRegionPartitionObserver
{
  /** Called after every iteration with its number from 1, the number of regions and the description. */
  std::function<void(unsigned, size_t, double)> Iteration;
  /** Called with the share of the work done. Returns whether to go on. */
  std::function<bool(float)> Progress;
};

/** \exception ExceptionObject naming the parameter that cannot be, its value, and what would be right */
CudaFilters_EXPORT void
VerifyCudaRegionPartitionParameters(const CudaRegionPartitionParameters & parameters);

/** Divides the image on the host. If the observer stops it, the result describes no regions, and the labels are not
 * written.
 * \param labels UInt or UShort of the image's size: the number of each pixel's region, 0 where it is not valid
 * \exception ExceptionObject if a parameter, mask or label cannot be, or the law cannot describe a pixel */
CudaFilters_EXPORT CudaRegionPartitionResult
CudaRegionPartitionOnHost(const CudaRegionPartitionInput &      input,
                          const CudaRegionPartitionParameters & parameters,
                          const CudaImageView &                 labels,
                          unsigned int                          numberOfThreads,
                          const CudaRegionPartitionObserver &   observer);

/** Why the device cannot do it, in words; nullptr if it can. */
CudaFilters_EXPORT const char *
CudaRegionPartitionUnsupportedReason(const CudaRegionPartitionInput & input);

/** Device memory in bytes that CudaRegionPartitionOnDevice() needs. Images with far more boundaries than most, such as
 * noise that is given as InitialLabels, need more. */
CudaFilters_EXPORT size_t
CudaRegionPartitionWorkingSet(const CudaRegionPartitionInput & input, const CudaRegionPartitionParameters & parameters);

/** Images of a partition that lie on the device already. */
struct CudaRegionPartitionDeviceImages
{
  const CudaDeviceImageView * Image{ nullptr };  // nullptr: it is that of the input
  const CudaDeviceImageView * Labels{ nullptr }; // of UInt or UShort; nullptr: they go to the host
};

/** As CudaRegionPartitionOnHost(), with the same result bit for bit. The table and the tree are made on the host, all
 * else on the device. The tree of many regions has a thread of its own, unless `numberOfThreads` is 1. An image on the
 * device is read where it lies, after all work that wrote it; then `input.Image` is not looked at. Labels on the device
 * are complete on return, and `labels` is not looked at. \exception CudaError */
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
