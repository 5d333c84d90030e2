// SPDX-License-Identifier: Apache-2.0
// Internal: only for the templates of the public headers. Names in itk::CudaDetail may change in any version.
#ifndef itkCudaDetailDetectionEngine_h
#define itkCudaDetailDetectionEngine_h

#include "CudaFiltersExport.h"
#include "itkCudaDetailImageView.h"
#include "itkCudaDetectionTypes.h"
#include "itkCudaDeviceImageView.h"
#include "itkCudaFiltersEnums.h"
#include "itkSize.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>

namespace itk::CudaDetail
{
/** All parameters of a detection; see CudaConstantFalseAlarmRateImageFilter for their meaning. */
struct CudaDetectionParameters
{
  std::optional<CudaFiltersEnums::NoiseLaw> NoiseLaw; // must be set
  double                                    NumberOfLooks{ 1.0 };
  // Threshold of the Bernoulli law: pixels above it count as 1. NaN: the image holds 0 and one other value.
  double   ForegroundThreshold{ std::numeric_limits<double>::quiet_NaN() };
  double   ProbabilityOfFalseAlarm{ 1e-6 };
  Size<2>  TargetWindow{ { 3, 3 } };
  Size<2>  GuardWindow{ { 15, 15 } };
  Size<2>  BackgroundWindow{ { 31, 31 } };
  uint64_t MinimumNumberOfPixels{ 1 };
  uint64_t MaximumNumberOfPixels{ 0 }; // 0: no limit
};

/** The image to search, with an optional mask. The struct owns nothing. */
struct CudaDetectionInput
{
  CudaImageView          Image;                  // UChar, UShort, Short or Float; two axes, one component
  std::array<int64_t, 2> FirstIndex{ { 0, 0 } }; // index of the first pixel, for messages
  const CudaImageView *  ValidMask{ nullptr };   // UChar of the image's size: pixels that are not 0 are valid
};

/** Called with the share of the work done, in the thread that runs the engine. Returns whether to continue. */
using CudaDetectionProgress = std::function<bool(float)>;

/** Checks the parameters. \exception ExceptionObject naming the parameter that is invalid, its value, and the valid
 * values */
CudaFilters_EXPORT void
VerifyCudaDetectionParameters(const CudaDetectionParameters & parameters);

/** Finds the targets on the host.
 * \param labels UInt or UShort of the image's size: receives the number of each pixel's target, 0 elsewhere
 * \return nothing if the observer stopped the run; the labels are then not written
 * \exception ExceptionObject if a parameter or the mask is invalid, the law cannot describe a pixel, or the labels
 * cannot hold the number of targets */
CudaFilters_EXPORT std::optional<CudaDetectionResult>
                   CudaDetectOnHost(const CudaDetectionInput &      input,
                                    const CudaDetectionParameters & parameters,
                                    const CudaImageView &           labels,
                                    unsigned int                    numberOfThreads,
                                    const CudaDetectionProgress &   progress);

/** Returns why the device cannot search the image, in words; nullptr if it can. */
CudaFilters_EXPORT const char *
CudaDetectionUnsupportedReason(const CudaDetectionInput & input);

/** Returns the number of bytes of device memory that CudaDetectOnDevice() needs. A search that finds more than a
 * sixteenth of the pixels needs more. */
CudaFilters_EXPORT size_t
CudaDetectionWorkingSet(const CudaDetectionInput & input);

/** Images of a detection that are already on the device. */
struct CudaDetectionDeviceImages
{
  const CudaDeviceImageView * Image{ nullptr };  // nullptr: the input's image is used
  const CudaDeviceImageView * Labels{ nullptr }; // of UInt or UShort; nullptr: the labels go to the host
};

/** Finds the targets on the device, with a result that is bit-identical to CudaDetectOnHost(). A device image is read
 * where it is, after all work that wrote it; `input.Image` is then ignored. Labels on the device are complete on
 * return, and `labels` is then ignored. \exception CudaError */
CudaFilters_EXPORT std::optional<CudaDetectionResult>
                   CudaDetectOnDevice(const CudaDetectionInput &        input,
                                      const CudaDetectionParameters &   parameters,
                                      const CudaImageView &             labels,
                                      int                               deviceIndex,
                                      const CudaDetectionProgress &     progress,
                                      const CudaDetectionDeviceImages & onDevice = {});
} // end namespace itk::CudaDetail

#endif
