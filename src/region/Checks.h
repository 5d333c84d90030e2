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

// What all methods ask of an image and its law, and say of a region.
namespace itk::cuda::region
{
/** \exception ExceptionObject naming the parameter, its value and what it must be, unless the condition holds */
template <typename TValue>
void
Require(bool condition, const char * parameter, TValue value, const std::string & requirement)
{
  if (!condition)
  {
    itkGenericExceptionMacro(<< parameter << " is " << value << "; it must be " << requirement);
  }
}

/** A range in words. */
inline std::string
Between(unsigned int lower, unsigned int upper)
{
  return "from " + std::to_string(lower) + " to " + std::to_string(upper);
}

/** \exception ExceptionObject if the law is not set */
void
CheckNoiseLaw(const std::optional<NoiseLaw> & law);

/** \exception ExceptionObject if the threshold is infinite */
void
CheckForegroundThreshold(double threshold);

/** \exception ExceptionObject for an image that cannot be segmented, or a mask of valid pixels that does not fit it. */
void
CheckImage(const CudaImageView & image, const CudaImageView * validMask);

/** \exception ExceptionObject unless the image `name` has that many pixels of one component of that type */
void
CheckSize(const CudaImageView & image, CudaComponentType type, size_t width, size_t height, const char * name);

/** Statistics of a region in the units of the image. */
CudaRegionSnakeStatistics
MakeStatistics(const Moments & sums, const SamplesDescription & samples, NoiseLaw law);
} // namespace itk::cuda::region

#endif
