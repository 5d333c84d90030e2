// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaGaussianTolerances_h
#define itkCudaGaussianTolerances_h

// All tolerances of the tests of the Gaussian filters, each with its reason.
//
// Unless said otherwise an error is relative to max|x| * ||h||_1, the largest output that an input of this range can
// give: relative to the input's range alone, an all-zero second derivative would pass at large sigma; relative to the
// output's range, the rounding of an offset, which orders 1 and 2 remove, would count as an error of the filter.

namespace itk::cuda::test
{
/** Error of results computed in float, by the standard deviation in pixels.
 *
 * A float sweep forgets after sigma/1.37 pixels, so that the rounding errors it carries grow with the square root of
 * sigma to sigma, from half a unit in the last place (6e-8): 1e-6 up to 50 pixels, 2e-6 at 100, 5e-6 at 500, and
 * straight lines between. */
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

/** Error of results computed in double (double, int and unsigned int images on the GPU), against the modal reference.
 *
 * FloatAccuracy() times the ratio of the epsilons is 2e-15 to 1e-14; the reference has an error of its own of
 * sigma/1.37 epsilons in 1 - |p|, up to 1e-13 at 500 pixels. Anything computed in float would be 1e5 times above the
 * bound. */
constexpr double DoubleAccuracy = 1e-12;

/** The modal reference against ITK's filter on double images, both in double, up to sigma = 50 pixels.
 *
 * ITK's direct form loses 1/|1 - p|^4 of its accuracy to the cancellation in 1 + d1 + d2 + d3 + d4, (50/1.5)^4 epsilons
 * = 3e-10 at 50 pixels. */
constexpr double ModalAgainstITK = 1e-9;

/** The modal reference against the sum over the kernel, both in double: rounding of a few hundred terms. */
constexpr double ModalAgainstConvolution = 1e-13;

/** Constants on the host: ITK's own code, the direct form in double, gives a constant up to the cancellation described
 * at ModalAgainstITK, 1e-7 at 500 pixels in lines of 1000; FloatAccuracy() is kept. Integer outputs are truncated,
 * so 99.9999999 becomes
 * 99. On the GPU constants are exact. */
constexpr double HostConstantIntegerSteps = 1.0;

/** Integer outputs against ITK's: truncation may fall on either side of a step, see IsNearIntegerStep(). */
constexpr double IntegerSteps = 1.0;

/** How far a value that is not finite reaches, in standard deviations: beyond it the kernel has decayed to exp(-1.37 *
 * 12) = 7e-8, a unit in the last place of float. */
constexpr double NonFiniteReach = 12.0;

/** The share of the kernel that lies beyond NonFiniteReach, as seen in a pixel there, relative to the replaced pixel:
 * 7e-8 times the largest weight (2.2 for order 0), besides FloatAccuracy(). */
constexpr double TailBeyondReach = 2e-7;
} // namespace itk::cuda::test

#endif
