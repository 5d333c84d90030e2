// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaGradientRecursiveGaussianImageFilter_hxx
#define itkCudaGradientRecursiveGaussianImageFilter_hxx

#include "itkCudaDetailImageTraits.h"

#include <vector>

namespace itk
{
template <typename TInputImage, typename TOutputImage>
bool
CudaGradientRecursiveGaussianImageFilter<TInputImage, TOutputImage>::IsSuperclassEnough() const
{
  return !(CudaDetail::CudaImageTraits<TOutputImage>::IsVectorImage &&
           this->GetInput()->GetNumberOfComponentsPerPixel() > 1) &&
         Superclass::IsSuperclassEnough();
}

template <typename TInputImage, typename TOutputImage>
CudaDetail::CudaGaussianPlan
CudaGradientRecursiveGaussianImageFilter<TInputImage, TOutputImage>::MakePlan() const
{
  const auto                         sigmas = this->GetSigmaArray();
  CudaDetail::CudaGaussianParameters parameters = this->MakeParameters();
  parameters.Sigma.assign(sigmas.Begin(), sigmas.End());

  const auto &        matrix = this->GetInput()->GetDirection().GetVnlMatrix();
  std::vector<double> direction;
  if (this->GetUseImageDirection() && !matrix.is_identity())
  {
    direction.assign(matrix.begin(), matrix.end());
  }
  return CudaDetail::MakeGradientPlan(parameters, direction);
}

template <typename TInputImage, typename TOutputImage>
void
CudaGradientRecursiveGaussianImageFilter<TInputImage, TOutputImage>::CopyParametersTo(
  typename Superclass::Superclass & filter) const
{
  Superclass::CopyParametersTo(filter);
  filter.SetSigmaArray(this->GetSigmaArray());
  filter.SetUseImageDirection(this->GetUseImageDirection());
}
} // end namespace itk

#endif
