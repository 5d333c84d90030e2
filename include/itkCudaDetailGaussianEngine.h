// SPDX-License-Identifier: Apache-2.0
// Internal: only for the templates of the public headers. Names in itk::CudaDetail may change in any version.
#ifndef itkCudaDetailGaussianEngine_h
#define itkCudaDetailGaussianEngine_h

#include "CudaFiltersExport.h"
#include "itkCudaDetailGaussianPlan.h"
#include "itkCudaDetailImageView.h"
#include "itkCudaDetailOperation.h"

#include <cstddef>
#include <string>

namespace itk::CudaDetail
{
/** The valid pixels of an image, and the output value of pixels that have too few of them around.
 *
 * A plan with a mask computes a normalised convolution (Knutsson and Westin, CVPR 1993): the smoothing G of the plan
 * over the valid pixels alone, G(m x) / G(m), with the mask m of ones and zeros. Where the weight G(m) is below
 * MinimumWeight, the output is FillValue. The plan must be one of MakeSmoothingPlan().
 *
 * Pixels that are not valid enter no sum, so they may be NaN. The first valid pixel's value is subtracted before the
 * smoothing and added to the quotient, so that constant images are preserved exactly. With BoundaryMode Constant, the
 * lines continue beyond their ends with valid pixels of the boundary value. Images between passes, the numerator and
 * the weights have the type that passes without a mask have between them. Input and output may be the same memory.
 * A run throws an ExceptionObject if the plan does not smooth, or the mask and the image differ in size. */
struct CudaGaussianMask
{
  CudaImageView Valid; // of the image's size, one component of type UChar; 0 is not valid
  double        FillValue{ 0.0 };
  double        MinimumWeight{ 0.0 };
};

/** Returns the smallest weight by which sums may be divided safely. The limit depends on the undershoot of the impulse
 * response, which is about one thousandth for Deriche and one millionth for Accurate. */
CudaFilters_EXPORT double
CudaGaussianMinimumWeight(CudaFiltersEnums::Approximation approximation);

/** Returns why a single pass along `axis` is expected to be faster on the host than on the GPU with upload and
 * download, or an empty string if the GPU is expected to be faster. It compares measured times. `numberOfValues` is the
 * number of pixels times components. */
CudaFilters_EXPORT std::string
                   CudaGaussianHostPreference(unsigned int axis, size_t numberOfValues);
} // end namespace itk::CudaDetail

#endif
