// SPDX-License-Identifier: Apache-2.0
#include "itkCudaDetailMultiScaleEngine.h"
#include "itkMacro.h"

#include <cmath>

// Makes the plans of structure tensors.

namespace itk::CudaDetail
{
namespace
{
void
VerifySigma(const char * name, double sigma)
{
  if (!(sigma > 0.0 && std::isfinite(sigma)))
  {
    itkGenericExceptionMacro(<< name << " is " << sigma << "; it must be greater than zero and finite");
  }
}
} // namespace

unsigned int
CudaStructureTensorComponents(CudaStructureTensorEnums::Quantity quantity, unsigned int dimension)
{
  using Quantity = CudaStructureTensorEnums::Quantity;
  return quantity == Quantity::Components  ? CudaTensorComponents(dimension)
         : quantity == Quantity::Coherence ? 1
                                           : dimension;
}

CudaStructureTensorPlan
MakeStructureTensorPlan(double                             sigma,
                        double                             integrationSigma,
                        const std::vector<double> &        spacing,
                        CudaStructureTensorEnums::Quantity quantity,
                        CudaFiltersEnums::Approximation    approximation)
{
  if (spacing.size() != 2 && spacing.size() != 3)
  {
    itkGenericExceptionMacro("The image has " << spacing.size() << " axes; a structure tensor needs two or three");
  }
  VerifySigma("Sigma", sigma);
  VerifySigma("IntegrationSigma", integrationSigma);
  CudaGaussianParameters parameters;
  parameters.Spacing = spacing;
  parameters.Sigma.assign(spacing.size(), sigma);
  parameters.KeepInput = true;
  parameters.Approximation = approximation;

  CudaStructureTensorPlan plan;
  plan.Dimension = static_cast<unsigned int>(spacing.size());
  plan.Quantity = quantity;
  plan.Gradient = MakeGaussianPlan(parameters, MakeGaussianGradientTerms(parameters), CudaGaussianOutput::Components);
  parameters.Sigma.assign(spacing.size(), integrationSigma);
  parameters.KeepInput = false;
  plan.Smoothing = MakeSmoothingPlan(parameters);
  return plan;
}
} // end namespace itk::CudaDetail
