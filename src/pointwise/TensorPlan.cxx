// SPDX-License-Identifier: Apache-2.0
#include "itkCudaDetailTensorEngine.h"

#include "itkMacro.h"

#include <cmath>

// Makes the plans of eigenvalues and measures of Hessians, and verifies their parameters.

namespace itk::CudaDetail
{
namespace
{
void
VerifyDimension(unsigned int dimension)
{
  if (dimension != 2 && dimension != 3)
  {
    itkGenericExceptionMacro("Tensors of " << dimension << " rows; they must have 2 or 3");
  }
}

void
VerifyPositive(const char * name, double value)
{
  if (!(value > 0.0))
  {
    itkGenericExceptionMacro(<< name << " is " << value << "; it must be greater than 0");
  }
}

void
VerifyHalves(const char * name, double value)
{
  if (value != 0.0 && value != 0.5 && value != 1.0)
  {
    itkGenericExceptionMacro(<< name << " is " << value << "; it must be 0, 0.5 or 1");
  }
}

CudaHessianMeasure
MakeMeasure(CudaHessianMeasureKind kind, unsigned int dimension, bool brightObject)
{
  VerifyDimension(dimension);
  CudaHessianMeasure measure;
  measure.Kind = kind;
  measure.Dimension = dimension;
  measure.BrightObject = brightObject;
  return measure;
}
} // namespace

CudaEigenPlan
MakeEigenPlan(unsigned int dimension, CudaEigenValueOrder order)
{
  VerifyDimension(dimension);
  return { dimension, order };
}

CudaHessianMeasure
MakeObjectnessMeasure(unsigned int dimension,
                      double       alpha,
                      double       beta,
                      double       gamma,
                      unsigned int objectDimension,
                      bool         brightObject,
                      bool         scaleObjectnessMeasure)
{
  CudaHessianMeasure measure = MakeMeasure(CudaHessianMeasureKind::Objectness, dimension, brightObject);
  if (objectDimension >= dimension)
  {
    itkGenericExceptionMacro("ObjectDimension is " << objectDimension << "; it must be below the image's dimension, "
                                                   << dimension);
  }
  measure.Alpha = alpha;
  measure.Beta = beta;
  measure.Gamma = gamma;
  measure.ObjectDimension = objectDimension;
  measure.ScaleObjectnessMeasure = scaleObjectnessMeasure;
  return measure;
}

CudaHessianMeasure
MakeFrangiMeasure(unsigned int dimension, double alpha, double beta, double structureness, bool brightObject)
{
  VerifyPositive("Alpha", alpha);
  VerifyPositive("Beta", beta);
  VerifyPositive("The constant of the structureness", structureness);
  return MakeObjectnessMeasure(dimension, alpha, beta, structureness, 1, brightObject, false);
}

CudaHessianMeasure
MakeSatoMeasure(unsigned int dimension, double alpha, double gamma12, double gamma23, bool brightObject)
{
  CudaHessianMeasure measure = MakeMeasure(CudaHessianMeasureKind::Sato, dimension, brightObject);
  if (!(alpha >= 0.0 && alpha <= 1.0))
  {
    itkGenericExceptionMacro("SatoAlpha is " << alpha << "; it must be from 0 to 1");
  }
  VerifyHalves("SatoGamma12", gamma12);
  VerifyHalves("SatoGamma23", gamma23);
  measure.SatoAlpha = alpha;
  measure.SatoGamma12 = gamma12;
  measure.SatoGamma23 = gamma23;
  return measure;
}

CudaHessianMeasure
MakeJermanMeasure(unsigned int dimension, double floor, bool brightObject)
{
  CudaHessianMeasure measure = MakeMeasure(CudaHessianMeasureKind::Jerman, dimension, brightObject);
  if (!(floor >= 0.0 && std::isfinite(floor)))
  {
    itkGenericExceptionMacro("The floor of the largest eigenvalue is " << floor << "; it must be finite and 0 or more");
  }
  measure.JermanFloor = floor;
  return measure;
}

CudaHessianMeasure
MakeMeijeringMeasure(unsigned int dimension, bool brightObject)
{
  return MakeMeasure(CudaHessianMeasureKind::Meijering, dimension, brightObject);
}

CudaHessianMeasure
MakeFrobeniusNorm(unsigned int dimension)
{
  return MakeMeasure(CudaHessianMeasureKind::FrobeniusNorm, dimension, true);
}

void
CudaVerifyTensorComponents(unsigned int dimension, size_t results, size_t inputComponents, size_t outputComponents)
{
  const unsigned int tensorComponents = CudaTensorComponents(dimension);
  if (inputComponents != tensorComponents)
  {
    itkGenericExceptionMacro("The input has " << inputComponents << " component(s) to a pixel; symmetric tensors of "
                                              << dimension << " rows have " << tensorComponents);
  }
  if (outputComponents != results)
  {
    itkGenericExceptionMacro("The output has " << outputComponents << " component(s) to a pixel; it must have "
                                               << results);
  }
}
} // end namespace itk::CudaDetail
