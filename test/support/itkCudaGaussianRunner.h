// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaGaussianRunner_h
#define itkCudaGaussianRunner_h

#include "itkCudaDetailImageView.h"
#include "support/itkCudaGaussianLineReference.h"
#include "support/itkCudaGaussianTestUtilities.h"

#include <array>
#include <iosfwd>
#include <vector>

// Runs the recursive Gaussian filters, and computes what they should give, from descriptions that are plain data. So
// the tests that go through all filters, approximations, boundary modes and types share one instantiation of each
// filter.

namespace itk::cuda::test
{
enum class GaussianFilter
{
  Recursive,
  Smoothing,
  Gradient,
  Magnitude,
  Laplacian,
  Hessian
};

constexpr GaussianFilter AllGaussianFilters[] = { GaussianFilter::Recursive, GaussianFilter::Smoothing,
                                                  GaussianFilter::Gradient,  GaussianFilter::Magnitude,
                                                  GaussianFilter::Laplacian, GaussianFilter::Hessian };

/** The type of the pixels. Images of float have three dimensions and those of double two, so that both types and both
 * numbers of dimensions run through each filter with two instantiations. */
constexpr CudaComponentType GaussianRunnerTypes[] = { CudaComponentType::Float, CudaComponentType::Double };

constexpr unsigned int
GetDimension(CudaComponentType type)
{
  return type == CudaComponentType::Float ? 3 : 2;
}

/** A filter, its parameters, and the geometry of the image. */
struct GaussianCase
{
  GaussianFilter                  Filter{ GaussianFilter::Smoothing };
  CudaComponentType               Type{ CudaComponentType::Float };
  CudaFiltersEnums::Approximation Approximation{ CudaFiltersEnums::Approximation::Deriche };
  /** By axis. The filters that have a single sigma take the first one. */
  std::array<double, 3>            Sigma{ { 2.0, 2.0, 2.0 } };
  unsigned int                     Direction{ 0 }; // of Recursive
  unsigned int                     Order{ 0 };     // of Recursive
  bool                             NormalizeAcrossScale{ false };
  CudaDetail::CudaGaussianBoundary Boundary{};
  std::array<double, 3>            Spacing{ { 1.0, 1.0, 1.0 } };
  /** Whether the image is turned in the plane of its first two axes. The gradient turns with it. */
  bool IsTurned{ false };

  bool
  HasSigmas() const
  {
    return Filter == GaussianFilter::Smoothing || Filter == GaussianFilter::Gradient;
  }
  void
  SetSigma(double sigma)
  {
    Sigma = { { sigma, sigma, sigma } };
  }
};

std::ostream &
operator<<(std::ostream & os, const GaussianCase & gaussianCase);

/** Returns an image of these data. The sides beyond the dimension of the type's images are 1. */
Volume
MakeDataVolume(const std::array<size_t, 4> & size, DataKind kind, double scale = 1.0, double offset = 0.0);

/** Runs the filter and verifies where it ran, that it wrote each pixel, and nothing behind the last one. Returns the
 * components of all pixels. */
std::vector<double>
RunFilter(const GaussianCase & gaussianCase, const Volume & input, BackendEnum backend);

/** Runs the ITK class from which the filter is derived. */
std::vector<double>
RunITKsFilter(const GaussianCase & gaussianCase, const Volume & input);

/** What a filter should give, in float64. */
struct GaussianReference
{
  std::vector<double> Values; // the components of all pixels
  /** The largest value that an input of this range can give in each component: max|x| times the kernels' L1 norms.
   * Errors of sums and norms add up. */
  std::vector<double> Scales;
};

/** Computes each derivative by passes along the axes, one after the other. */
GaussianReference
ComputeReference(const GaussianCase & gaussianCase, const Volume & input);

/** Returns the largest error in units of the components' scales, or infinity if a value is not finite. */
double
GetLargestError(const std::vector<double> & values, const GaussianReference & reference);

/** Returns the bound of that error for the pixels' type. ITK's composite filters keep float between their passes, and
 * its filter along one axis is not as accurate in double as the modal form. */
double
GetAccuracy(const GaussianCase & gaussianCase, BackendEnum backend);

/** Runs a plan on typed copies of the pixels and returns its results, component after component of each pixel. Pixels
 * that the run does not write are poison. */
std::vector<double>
RunPlan(const CudaDetail::CudaGaussianPlan & plan,
        const Volume &                       input,
        CudaComponentType                    inputType,
        CudaComponentType                    outputType,
        BackendEnum                          backend);
} // namespace itk::cuda::test

#endif
