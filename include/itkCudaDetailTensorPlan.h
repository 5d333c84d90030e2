// SPDX-License-Identifier: Apache-2.0
// Internal: templates need it, programs do not. Names in itk::CudaDetail may change in any version.
#ifndef itkCudaDetailTensorPlan_h
#define itkCudaDetailTensorPlan_h

#include "CudaFiltersExport.h"

#include <cstdint>

namespace itk::CudaDetail
{
/** The orders of itk::SymmetricEigenAnalysis, ascending. */
enum class CudaEigenValueOrder : uint8_t
{
  ByValue,
  ByMagnitude,
  None
};

/** Eigenvalues of symmetric matrices of two or three rows. The matrices are pixels of three or six components, the
 * upper triangle row after row. The output has the eigenvalues as components and behind them, on request, the
 * components of the first eigenvalue's unit vector, of the second's, and so on. */
struct CudaEigenPlan
{
  unsigned int        Dimension{ 3 };
  CudaEigenValueOrder Order{ CudaEigenValueOrder::ByValue };
  bool                WithVectors{ false };
};

/** A checked plan. \exception ExceptionObject if `dimension` is not 2 or 3 */
CudaFilters_EXPORT CudaEigenPlan
MakeEigenPlan(unsigned int dimension, CudaEigenValueOrder order, bool withVectors);

/** Unit vectors along the lines that Hessians of two or three rows describe: the eigenvector of the eigenvalue of the
 * smallest magnitude, with the sign that makes its largest component positive. A Hessian of zeros, or with an element
 * that is not finite, gives zeros. */
struct CudaLineDirectionPlan
{
  unsigned int Dimension{ 3 };
  bool         LastAxisFirst{ false }; // the order of the results' components: z, y, x
};

/** What is made of a Hessian's eigenvalues. src/pointwise/HessianMeasures.h has formulas and sources. */
enum class CudaHessianMeasureKind : uint8_t
{
  Objectness, // Antiga, with Frangi's measure as a case
  Sato,
  Jerman,
  Meijering
};

/** A measure of Hessians of two or three rows. Each kind reads its own parameters. */
struct CudaHessianMeasure
{
  CudaHessianMeasureKind Kind{ CudaHessianMeasureKind::Objectness };
  unsigned int           Dimension{ 3 };
  bool                   BrightObject{ true };

  // Objectness, as in itk::HessianToObjectnessMeasureImageFilter
  double       Alpha{ 0.5 };
  double       Beta{ 0.5 };
  double       Gamma{ 5.0 };
  unsigned int ObjectDimension{ 1 };
  bool         ScaleObjectnessMeasure{ true };

  // Sato
  double SatoAlpha{ 0.25 };
  double SatoGamma12{ 1.0 };
  double SatoGamma23{ 1.0 };

  // Jerman: tau times the largest eigenvalue of the image
  double JermanFloor{ 0.0 };
};

/** \exception ExceptionObject that names the parameter: the dimension is not 2 or 3, or `objectDimension` is not below
 * it. Other parameters may have any value, as in ITK. */
CudaFilters_EXPORT CudaHessianMeasure
MakeObjectnessMeasure(unsigned int dimension,
                      double       alpha,
                      double       beta,
                      double       gamma,
                      unsigned int objectDimension,
                      bool         brightObject,
                      bool         scaleObjectnessMeasure);

/** \param structureness Frangi's c, half of the largest norm of the image's Hessians in his paper
 * \exception ExceptionObject if a parameter is not above 0 */
CudaFilters_EXPORT CudaHessianMeasure
MakeFrangiMeasure(unsigned int dimension, double alpha, double beta, double structureness, bool brightObject);

/** \exception ExceptionObject unless `alpha` is from 0 to 1 and each exponent is 0, 0.5 or 1 */
CudaFilters_EXPORT CudaHessianMeasure
MakeSatoMeasure(unsigned int dimension, double alpha, double gamma12, double gamma23, bool brightObject);

/** \param floor Jerman's tau times the largest eigenvalue of the image's Hessians, with the sign of an object's
 * \exception ExceptionObject if it is not finite or below 0 */
CudaFilters_EXPORT CudaHessianMeasure
MakeJermanMeasure(unsigned int dimension, double floor, bool brightObject);

CudaFilters_EXPORT CudaHessianMeasure
MakeMeijeringMeasure(unsigned int dimension, bool brightObject);

/** Components of the tensors that a plan reads. */
constexpr unsigned int
CudaTensorComponents(unsigned int dimension)
{
  return dimension * (dimension + 1) / 2;
}

/** Components of the output of a plan. */
constexpr unsigned int
CudaEigenComponents(const CudaEigenPlan & plan)
{
  return plan.Dimension + (plan.WithVectors ? plan.Dimension * plan.Dimension : 0);
}
} // end namespace itk::CudaDetail

#endif
