// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_region_Checks_h
#define CudaFilters_region_Checks_h

#include "itkCudaDetailImageView.h"
#include "runtime/DetailNames.h"
#include "region/Laws.h"
#include "region/Samples.h"
#include "itkCudaRegionSnakeTypes.h"
#include "itkMacro.h"

#include <cstddef>
#include <optional>
#include <string>

// Checks of an image and its law, and statistics of a region, that all segmentation methods share.
namespace itk::cuda::region
{
/** Requires a condition. \exception ExceptionObject naming the parameter, its value and the requirement, unless the
 * condition holds */
template <typename TValue>
void
Require(bool condition, const char * parameter, TValue value, const std::string & requirement)
{
  if (!condition)
  {
    itkGenericExceptionMacro(<< parameter << " is " << value << "; it must be " << requirement);
  }
}

/** Returns the description of a range for a message. */
inline std::string
Between(unsigned int lower, unsigned int upper)
{
  return "from " + std::to_string(lower) + " to " + std::to_string(upper);
}

/** Checks the law. \exception ExceptionObject if the law is not set */
void
CheckNoiseLaw(const std::optional<NoiseLaw> & law);

/** Checks the threshold. \exception ExceptionObject if the threshold is infinite */
void
CheckForegroundThreshold(double threshold);

/** Larger numbers of looks than any radar has make a criterion that is not finite. */
constexpr double MaximumNumberOfLooks = 1e9;

/** Checks an image and its mask of valid pixels, which may be null. \exception ExceptionObject if the image cannot be
 * segmented, or if the mask does not fit it. */
void
CheckImage(const CudaImageView & image, const CudaImageView * validMask);

/** Checks the size and the type of the image `name`. \exception ExceptionObject unless it has width x height pixels of
 * one component of this type */
void
CheckSize(const CudaImageView & image, CudaComponentType type, size_t width, size_t height, const char * name);

/** \exception ExceptionObject if the labels are not an image of UInt or UShort of the image's size */
void
CheckLabels(const CudaImageView & labels, const CudaImageView & image);

/** \exception ExceptionObject if the image has no valid pixels */
void
CheckValidPixels(const SamplesDescription & samples);

/** Requires that labels of a type tell that many regions of a result apart. \exception ExceptionObject naming the
 * result, the number and what it counts */
void
CheckLargestLabel(const char * result, size_t number, const char * what, CudaComponentType labelType);

/** Returns the statistics of a region in the units of the image. */
CudaRegionSnakeStatistics
MakeStatistics(const Moments & sums, const SamplesDescription & samples, NoiseLaw law);
} // namespace itk::cuda::region

#endif
