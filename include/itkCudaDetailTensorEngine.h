// SPDX-License-Identifier: Apache-2.0
// Internal: only for the templates of the public headers. Names in itk::CudaDetail may change in any version.
#ifndef itkCudaDetailTensorEngine_h
#define itkCudaDetailTensorEngine_h

#include "CudaFiltersExport.h"
#include "itkCudaDetailGaussianEngine.h"
#include "itkCudaDetailImageView.h"
#include "itkCudaDeviceImageView.h"

#include <cstddef>
#include <cstdint>

namespace itk::CudaDetail
{
/** The orders of itk::SymmetricEigenAnalysis, all ascending. */
enum class CudaEigenValueOrder : uint8_t
{
  ByValue,
  ByMagnitude,
  None
};

/** The plan for the eigenvalues of symmetric matrices of two or three rows. The matrices are pixels of three or six
 * components, the upper triangle row after row. The components of the output are the eigenvalues. */
struct CudaEigenPlan
{
  unsigned int        Dimension{ 3 };
  CudaEigenValueOrder Order{ CudaEigenValueOrder::ByValue };
};

/** Returns a checked plan. \exception ExceptionObject if `dimension` is not 2 or 3 */
CudaFilters_EXPORT CudaEigenPlan
MakeEigenPlan(unsigned int dimension, CudaEigenValueOrder order);

/** The plan for unit vectors along the lines that Hessians of two or three rows describe. They are the eigenvectors of
 * the eigenvalue with the smallest magnitude, with the sign that makes their largest component positive. A Hessian of
 * zeros, or with an element that is not finite, gives zeros. */
struct CudaLineDirectionPlan
{
  unsigned int Dimension{ 3 };
  bool         LastAxisFirst{ false }; // true: components are in the order z, y, x
};

/** The measure that is computed from a Hessian. src/pointwise/HessianMeasures.h has formulas and
 * sources. */
enum class CudaHessianMeasureKind : uint8_t
{
  Objectness, // Antiga, with Frangi's measure as a case
  Sato,
  Jerman,
  Meijering,
  FrobeniusNorm
};

/** A measure of Hessians of two or three rows. Each kind uses only its own parameters. */
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

  // Jerman: tau times the largest eigenvalue of the image.
  double JermanFloor{ 0.0 };
};

/** Returns an objectness measure.
 * \exception ExceptionObject that names the parameter if the dimension is not 2 or 3, or `objectDimension` is not below
 * it; other parameters may have any value, as in ITK */
CudaFilters_EXPORT CudaHessianMeasure
MakeObjectnessMeasure(unsigned int dimension,
                      double       alpha,
                      double       beta,
                      double       gamma,
                      unsigned int objectDimension,
                      bool         brightObject,
                      bool         scaleObjectnessMeasure);

/** Returns Frangi's measure.
 * \param structureness Frangi's c, which is half of the largest norm of the image's Hessians in his paper
 * \exception ExceptionObject if a parameter is not above 0 */
CudaFilters_EXPORT CudaHessianMeasure
MakeFrangiMeasure(unsigned int dimension, double alpha, double beta, double structureness, bool brightObject);

/** Returns Sato's measure. \exception ExceptionObject unless `alpha` is from 0 to 1 and each exponent is 0, 0.5 or 1 */
CudaFilters_EXPORT CudaHessianMeasure
MakeSatoMeasure(unsigned int dimension, double alpha, double gamma12, double gamma23, bool brightObject);

/** Returns Jerman's measure.
 * \param floor Jerman's tau times the largest eigenvalue of the image's Hessians that has the sign of an object
 * \exception ExceptionObject if it is not finite or below 0 */
CudaFilters_EXPORT CudaHessianMeasure
MakeJermanMeasure(unsigned int dimension, double floor, bool brightObject);

CudaFilters_EXPORT CudaHessianMeasure
MakeMeijeringMeasure(unsigned int dimension, bool brightObject);

/** Returns the Frobenius norm, which is the square root of the sum of the squared eigenvalues. */
CudaFilters_EXPORT CudaHessianMeasure
MakeFrobeniusNorm(unsigned int dimension);

/** Returns the number of components of the tensors that a plan reads. */
constexpr unsigned int
CudaTensorComponents(unsigned int dimension)
{
  return dimension * (dimension + 1) / 2;
}

/** Returns the number of components of a pixel of the result. */
constexpr unsigned int
CudaResultComponents(const CudaEigenPlan & plan)
{
  return plan.Dimension;
}
constexpr unsigned int
CudaResultComponents(const CudaHessianMeasure &)
{
  return 1;
}
constexpr unsigned int
CudaResultComponents(const CudaLineDirectionPlan & plan)
{
  return plan.Dimension;
}
} // end namespace itk::CudaDetail

// Functions for the eigenvalues and measures of images of tensors. Pixels are computed in float, or in double if either
// component type is double, int or unsigned int. Integer outputs are truncated toward zero and clamped to the type's
// range. The host and the device give the same bits. A pixel with an element that is not finite gives NaN, or 0 in
// integer outputs.

namespace itk::CudaDetail
{
/** Throws unless tensors and output have the plan's number of components.
 * \exception ExceptionObject that names the numbers */
CudaFilters_EXPORT void
CudaVerifyTensorComponents(unsigned int dimension, size_t results, size_t inputComponents, size_t outputComponents);

/** Computes the plan's vectors on the host. On the device they are a part of a CudaMultiScalePlan.
 * \exception ExceptionObject if the numbers of components do not match
 * \exception any exception that `progress` throws */
CudaFilters_EXPORT void
CudaRunOnHost(const CudaLineDirectionPlan & plan,
              const CudaImageView &         input,
              const CudaImageView &         output,
              MultiThreaderBase *           threader,
              const CudaProgressFunction &  progress);
} // end namespace itk::CudaDetail

#endif
