// SPDX-License-Identifier: Apache-2.0
#include "itkCudaDetailMultiScaleEngine.h"

#include <cmath>

namespace itk::CudaDetail
{
CudaGaussianPlan
CudaMultiScalePlan::MakeHessianNormPlan(double sigma) const
{
  const CudaGaussianParameters  parameters = this->MakeParameters(sigma);
  std::vector<CudaGaussianTerm> terms;
  for (unsigned int i = 0; i < Spacing.size(); ++i)
  {
    for (unsigned int j = i; j < Spacing.size(); ++j)
    {
      terms.push_back(MakeGaussianDerivativeTerm(parameters, i, j));
      terms.back().Factor *= i == j ? 1.0 : std::sqrt(2.0); // the matrix has it twice
    }
  }
  return MakeGaussianPlan(parameters, terms, CudaGaussianOutput::Norm);
}
} // end namespace itk::CudaDetail
