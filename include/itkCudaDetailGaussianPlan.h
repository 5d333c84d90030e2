// SPDX-License-Identifier: Apache-2.0
// Internal: only for the templates of the public headers. Names in itk::CudaDetail may change in any version.
#ifndef itkCudaDetailGaussianPlan_h
#define itkCudaDetailGaussianPlan_h

#include "CudaFiltersExport.h"
#include "itkCudaFiltersEnums.h"

#include <algorithm>
#include <complex>
#include <cstdint>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

namespace itk::CudaDetail
{
/** A recursive approximation of a Gaussian or of one of its derivatives, as a sum of damped oscillations.
 *
 * Its half n >= 0, in pixels, is
 * \f[ h(n) = \mathrm{Re} \sum_j c_j p_j^n, \qquad p_j = e^{(L_j + i W_j)\sigma_{px}^{-1}}, \f]
 * mirrored for n < 0, with a minus sign if `Antisymmetric`. */
struct CudaGaussianImpulseResponse
{
  static constexpr unsigned int MaximumNumberOfPolePairs = 3;

  unsigned int         NumberOfPolePairs{ 2 };
  std::complex<double> Pole[MaximumNumberOfPolePairs];   // p_j
  std::complex<double> Weight[MaximumNumberOfPolePairs]; // c_j
  unsigned int         Order{ 0 };                       // order of the derivative: 0, 1 or 2
  double               SigmaInPixels{ 1.0 };
  double               ConstantResponse{ 0.0 }; // response to a constant 1: 0 for orders 1 and 2

  /** Returns whether the response is an odd function, which is the case for order 1; orders 0 and 2 are even. */
  bool
  IsAntisymmetric() const
  {
    return Order == 1;
  }

  /** Returns whether both responses have the same poles, so that one sweep computes the states of both. All orders of
   * one sigma have the same poles, except at a small sigma, where orders 1 and 2 are differences of pixels. There, a
   * plan lets order 0 follow them. */
  bool
  HasPolesOf(const CudaGaussianImpulseResponse & other) const
  {
    return NumberOfPolePairs == other.NumberOfPolePairs &&
           std::equal(std::begin(Pole), std::end(Pole), std::begin(other.Pole));
  }
};

/** Returns Deriche's fourth-order impulse response with the constants, normalisation and sign conventions of
 * itk::RecursiveGaussianImageFilter (Deriche, INRIA RR-1893, 1993; Farneback and Westin, J Math Imaging Vis 26, 2006).
 *
 * Order 0 has sum 1. Orders 1 and 2 respond to a unit ramp with 1 and to n^2/2 with 1, per pixel (not per unit of
 * spacing); order 1 changes sign with a negative spacing. With `normalizeAcrossScale` they are multiplied by sigma and
 * sigma^2.
 *
 * Below a sigma of 0.212 pixels the exponentials cannot represent the derivatives of so narrow a Gaussian: their values
 * at the neighbouring pixels change sign, and the normalisation divides by 0. Orders 1 and 2 are then the limit for
 * sigma to 0, which are the differences (x[n+1] - x[n-1]) / 2 and x[n+1] - 2 x[n] + x[n-1]. The step at this sigma,
 * 2.2e-3 and 1.7e-2, is no larger than the errors of Deriche's constants above it.
 *
 * \param order 0, 1 or 2
 *
 * \param sigma standard deviation in physical units, > 0
 *
 * \param spacing physical units per pixel, at least 1e-8 in magnitude
 *
 * \exception ExceptionObject naming the parameter that is out of range */
CudaFilters_EXPORT CudaGaussianImpulseResponse
MakeDericheImpulseResponse(unsigned int order, double sigma, double spacing, bool normalizeAcrossScale);

/** Returns a sixth-order impulse response with three pole pairs, whose constants come from
 * tools/fit_gaussian_exponentials.py. Normalisation, sign conventions, parameters and errors are those of
 * MakeDericheImpulseResponse().
 *
 * From a sigma of 0.5 pixels on, order 0 is within 1e-5 of the sampled Gaussian of sum 1, relative to the value at its
 * centre. Orders 1 and 2 are within 7e-5 and 7e-4 of the largest value of the Gaussian's derivative, plus the error of
 * sampling it at the pixels, which grows quickly below 1.5 pixels. Below 0.376 pixels they are differences of pixels;
 * at this sigma the exponentials differ from these by at most 1.2e-5 and 1.6e-5. */
CudaFilters_EXPORT CudaGaussianImpulseResponse
MakeAccurateImpulseResponse(unsigned int order, double sigma, double spacing, bool normalizeAcrossScale);

/** Returns the impulse response of the given approximation. */
CudaFilters_EXPORT CudaGaussianImpulseResponse
MakeGaussianImpulseResponse(CudaFiltersEnums::Approximation approximation,
                            unsigned int                    order,
                            double                          sigma,
                            double                          spacing,
                            bool                            normalizeAcrossScale);

/** How a pass combines its result y with the pixel d of its destination. If a sum of squares leaves the range of its
 * type, its square root is stored instead until the last pass. */
enum class CudaGaussianCombine : uint8_t
{
  Store,           // d = y
  Add,             // d = d + y
  StoreSquare,     // d = y^2
  AddSquare,       // d = d + y^2
  AddSquareAndRoot // d = sqrt(d + y^2)
};

/** One result of a line pass. Images are numbered, and the plan's input is image 0. */
struct CudaGaussianPassResult
{
  CudaGaussianImpulseResponse Kernel;
  unsigned int                Destination{ 1 };
  CudaGaussianCombine         Combine{ CudaGaussianCombine::Store };
};

/** Filters every line of an image along one axis, with one impulse response or with several that have the same poles.
 *
 * The source must not be a destination. Along axis 0 there is one result. Along the other axes there are at most three,
 * and each is stored in an image. */
struct CudaGaussianLinePass
{
  unsigned int                        Axis{ 0 };
  unsigned int                        Source{ 0 };
  std::vector<CudaGaussianPassResult> Results;
};

/** How the lines of all passes continue beyond their ends. `Value` is used in the mode Constant. */
struct CudaGaussianBoundary
{
  CudaFiltersEnums::BoundaryMode Mode{ CudaFiltersEnums::BoundaryMode::Nearest };
  double                         Value{ 0.0 };
};

struct CudaGaussianMask;

/** Line passes that run one after the other. This is all that the engine knows of a Gaussian filter. */
struct CudaGaussianPlan
{
  unsigned int                      NumberOfImages{ 1 };
  std::vector<CudaGaussianLinePass> Passes;
  std::vector<unsigned int>         Results;  // the images that make up the output, component after component
  std::vector<double>               Rotation; // row-major matrix that is applied to the results' vector; empty: none
  CudaGaussianBoundary              Boundary{};

  std::shared_ptr<const CudaGaussianMask> Mask{}; // if set, the passes smooth only over its valid pixels
};

/** A product of one-dimensional impulse responses, one for each axis, given by their orders. */
struct CudaGaussianTerm
{
  std::vector<unsigned int> Orders; // by axis
  double                    Factor{ 1.0 };
  std::vector<double>       Sigma{}; // by axis; empty: the sigmas of the plan's parameters
};

/** How a filter computes its output from its terms. */
enum class CudaGaussianOutput : uint8_t
{
  Components, // each term is a component of the output
  Sum,        // the sum of the terms
  Norm        // the square root of the sum of their squares
};

/** Standard deviation and spacing along each axis, in physical units. */
struct CudaGaussianParameters
{
  std::vector<double> Sigma;
  std::vector<double> Spacing;
  bool                NormalizeAcrossScale{ false };
  bool                KeepInput{ false }; // never overwrite image 0

  CudaFiltersEnums::Approximation Approximation{ CudaFiltersEnums::Approximation::Deriche };
  CudaGaussianBoundary            Boundary{};
};

/** Returns the sigmas, by axis, of the gradient's component along axis `component`.
 *
 * With Approximation Deriche they are the sigmas of itk::GradientRecursiveGaussianImageFilter, which gives its sigmas
 * to its internal filters, not to the axes. The filter of the derivative has the last sigma, regardless of its axis.
 * The smoothing filters have the other sigmas, in the order of the remaining axes. So {1, 8} means: component 0 is the
 * derivative along x with sigma 8, smoothed along y with sigma 1, and component 1 is the derivative along y with sigma
 * 8, smoothed along x with sigma 1. With Approximation Accurate, which ITK does not have, sigma i belongs to axis i. */
CudaFilters_EXPORT std::vector<double>
                   CudaGradientSigmas(const CudaGaussianParameters & parameters, unsigned int component);

/** Returns the derivative along axes a and b (a second derivative if they are the same), per physical unit. The kernel
 * of the first derivative includes the sign of a negative spacing. */
CudaFilters_EXPORT CudaGaussianTerm
MakeGaussianDerivativeTerm(const CudaGaussianParameters & parameters, unsigned int a, unsigned int b);

/** Returns the first derivatives along all axes, per physical unit. */
CudaFilters_EXPORT std::vector<CudaGaussianTerm>
                   MakeGaussianGradientTerms(const CudaGaussianParameters & parameters);

/** Returns the passes that compute `terms`, from the last axis to the first. Terms with the same orders and sigmas
 * along the last axes share these passes. A pass along any axis but the first computes all orders that are needed of
 * its source with one sigma, so that each source is read once for each sigma. An image is reused as soon as it has been
 * read for the last time.
 *
 * \exception ExceptionObject naming what is out of range: a sigma, a spacing, their number (one to four axes), the
 * number of terms (at least one) or of their orders and sigmas (one for each axis), a boundary mode that does not
 * exist, or its value, which must be finite */
CudaFilters_EXPORT CudaGaussianPlan
MakeGaussianPlan(const CudaGaussianParameters &        parameters,
                 const std::vector<CudaGaussianTerm> & terms,
                 CudaGaussianOutput                    output);

/** Returns the plan of the convolution with the Gaussian, which has order 0 along every axis. */
CudaFilters_EXPORT CudaGaussianPlan
MakeSmoothingPlan(const CudaGaussianParameters & parameters);

/** Returns the plan of the gradient, with component i along axis i and the sigmas of CudaGradientSigmas(). `direction`,
 * given row after row, is applied to each vector unless it is empty.
 *
 * \exception ExceptionObject also if the number of elements of the matrix is not the square of the number of axes */
CudaFilters_EXPORT CudaGaussianPlan
MakeGradientPlan(const CudaGaussianParameters & parameters, const std::vector<double> & direction = {});

/** Returns the plan of the gradient's length. */
CudaFilters_EXPORT CudaGaussianPlan
MakeGradientMagnitudePlan(const CudaGaussianParameters & parameters);

/** Returns the plan of the sum of the second derivatives along the axes. */
CudaFilters_EXPORT CudaGaussianPlan
MakeLaplacianPlan(const CudaGaussianParameters & parameters);

/** Returns the plan of the second derivatives, the upper triangle of their matrix row after row. */
CudaFilters_EXPORT CudaGaussianPlan
MakeHessianPlan(const CudaGaussianParameters & parameters);

/** In pixels: the smallest sigma at which Deriche's derivatives are not differences, and the largest sigma at which
 * ITK's code has significant digits (CudaFindSigmaBeyondITK()). */
constexpr double CudaMinimumDericheSigma = 0.212;
constexpr double CudaMaximumSigmaOfITK = 1000.0;

/** Returns the first sigma of the plan, in pixels, at which the code of itk::RecursiveGaussianImageFilter has no
 * significant digits left, or 0 if there is no such sigma.
 *
 * The coefficients of ITK's direct form are differences of numbers of the size of sigma^4. Its error grows as sigma^3:
 * in double it is 1e-5 of the image's range at 1,000 pixels, 5e-3 at 10,000 and more than the range from 50,000 on. Its
 * derivatives fail below the sigma at which MakeDericheImpulseResponse() uses differences. */
CudaFilters_EXPORT double
CudaFindSigmaBeyondITK(const CudaGaussianPlan & plan);

/** Returns the plan of one impulse response along one axis.
 *
 * \exception ExceptionObject naming the parameter that is out of range */
CudaFilters_EXPORT CudaGaussianPlan
MakeGaussianLinePlan(unsigned int                        axis,
                     const CudaGaussianImpulseResponse & kernel,
                     const CudaGaussianBoundary &        boundary = {});
} // end namespace itk::CudaDetail

#endif
