// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaGaussianTolerances_h
#define itkCudaGaussianTolerances_h

// All tolerances of the tests of the Gaussian filters, each with its reason. Unless stated otherwise, an error is
// relative to max|x| * ||h||_1, the largest output that an input of this range can give. If it were relative to the
// input's range alone, an all-zero second derivative would pass at large sigma. If it were relative to the output's
// range, the rounding of an offset, which orders 1 and 2 remove, would count as an error of the filter.

namespace itk::cuda::test
{
/** Returns the tolerance for results computed in float, as a function of the standard deviation in pixels. A float
 * sweep forgets after sigma/1.37 pixels, so the rounding errors that it carries grow between the square root of sigma
 * and sigma, starting from half an ulp (6e-8). The tolerance is 1e-6 up to 50 pixels, 2e-6 at 100 and 5e-6 at 500, and
 * piecewise linear in between. */
inline double
FloatAccuracy(double sigmaInPixels)
{
  if (sigmaInPixels <= 50.0)
  {
    return 1e-6;
  }
  if (sigmaInPixels <= 100.0)
  {
    return 1e-6 + 1e-6 * (sigmaInPixels - 50.0) / 50.0;
  }
  return 2e-6 + 3e-6 * (sigmaInPixels - 100.0) / 400.0;
}

/** Tolerance for results computed in double (double, int and unsigned int images on the GPU), against the modal
 * reference. FloatAccuracy() times the ratio of the epsilons is 2e-15 to 1e-14. The reference itself has an error of
 * sigma/1.37 epsilons in 1 - |p|, up to 1e-13 at 500 pixels. Anything computed in float would exceed this tolerance by
 * a factor of 1e5. */
constexpr double DoubleAccuracy = 1e-12;

/** Tolerance of the modal reference against ITK's filter on double images, both in double, up to sigma = 50 pixels.
 * ITK's direct form loses 1/|1 - p|^4 of its accuracy to the cancellation in 1 + d1 + d2 + d3 + d4, which is (50/1.5)^4
 * epsilons = 3e-10 at 50 pixels. */
constexpr double ModalAgainstITK = 1e-9;

/** Tolerance of the modal reference against the sum over the kernel, both in double. It covers the rounding of a few
 * hundred terms. */
constexpr double ModalAgainstConvolution = 1e-13;

/** Tolerance of integer outputs against ITK's. Truncation may fall on either side of a step, see IsNearIntegerStep().
 */
constexpr double IntegerSteps = 1.0;

/** Reach of a non-finite value, in standard deviations. Beyond it the kernel has decayed to exp(-1.37 * 12) = 7e-8, one
 * ulp of float. */
constexpr double NonFiniteReach = 12.0;

/** The share of the kernel beyond NonFiniteReach, as seen in a pixel there, relative to the replaced pixel. It is 7e-8
 * times the largest weight (2.2 for order 0) and comes in addition to FloatAccuracy(). */
constexpr double TailBeyondReach = 2e-7;
} // namespace itk::cuda::test

#endif
