// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaGaussianPlan_h
#define itkCudaGaussianPlan_h

#include "CudaFiltersExport.h"

#include <complex>
#include <vector>

namespace itk
{
/** \struct CudaGaussianKernel
 * \brief A recursive approximation of a Gaussian or of one of its derivatives, as a sum of damped oscillations.
 *
 * Half of the kernel, n >= 0 in pixels, is
 * \f[ h(n) = \mathrm{Re} \sum_j c_j p_j^n, \qquad p_j = e^{(L_j + i W_j)\sigma_{px}^{-1}}, \f]
 * mirrored for n < 0, with a minus sign if `Antisymmetric`.
 *
 * \ingroup CudaFilters
 */
struct CudaGaussianKernel
{
  static constexpr unsigned int NumberOfPolePairs = 2;

  std::complex<double> Pole[NumberOfPolePairs];   // p_j
  std::complex<double> Weight[NumberOfPolePairs]; // c_j
  unsigned int         Order{ 0 };                // of the derivative: 0, 1 or 2
  double               SigmaInPixels{ 1.0 };

  /** Orders 0 and 2 are even functions, order 1 is odd. */
  bool
  IsAntisymmetric() const
  {
    return Order == 1;
  }
};

/** Deriche's fourth-order kernel with the constants, normalisation and sign conventions of
 * itk::RecursiveGaussianImageFilter (Deriche, INRIA RR-1893, 1993; Farneback and Westin, J Math Imaging Vis 26, 2006).
 *
 * Order 0 has sum 1. Orders 1 and 2 respond to a unit ramp with 1 and to n^2/2 with 1, per pixel (not per unit of
 * spacing); order 1 changes sign with a negative spacing. With `normalizeAcrossScale` they are multiplied by sigma and
 * sigma^2. \param order 0, 1 or 2 \param sigma standard deviation in physical units, > 0 \param spacing physical units
 * per pixel, at least 1e-8 in magnitude \exception ExceptionObject naming the parameter that is out of range */
CudaFilters_EXPORT CudaGaussianKernel
MakeDericheGaussianKernel(unsigned int order, double sigma, double spacing, bool normalizeAcrossScale);

/** \struct CudaGaussianLinePass
 * \brief Filters every line of the image along one axis.
 * \ingroup CudaFilters
 */
struct CudaGaussianLinePass
{
  unsigned int       Axis{ 0 };
  CudaGaussianKernel Kernel;
};

/** \struct CudaGaussianPlan
 * \brief Line passes, one after the other: all that a Gaussian filter is to its engine.
 * \ingroup CudaFilters
 */
struct CudaGaussianPlan
{
  std::vector<CudaGaussianLinePass> Passes;
};
} // end namespace itk

#endif
