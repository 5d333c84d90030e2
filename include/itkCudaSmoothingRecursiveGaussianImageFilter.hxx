// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaSmoothingRecursiveGaussianImageFilter_hxx
#define itkCudaSmoothingRecursiveGaussianImageFilter_hxx

namespace itk
{
template <typename TInputImage, typename TOutputImage>
CudaDetail::CudaGaussianPlan
CudaSmoothingRecursiveGaussianImageFilter<TInputImage, TOutputImage>::MakePlan() const
{
  const auto                         sigmas = this->GetSigmaArray();
  CudaDetail::CudaGaussianParameters parameters = this->MakeParameters();
  parameters.Sigma.assign(sigmas.Begin(), sigmas.End());
  return CudaDetail::MakeSmoothingPlan(parameters);
}

template <typename TInputImage, typename TOutputImage>
void
CudaSmoothingRecursiveGaussianImageFilter<TInputImage, TOutputImage>::CopyParametersTo(
  typename Superclass::Superclass & filter) const
{
  Superclass::CopyParametersTo(filter);
  filter.SetSigmaArray(this->GetSigmaArray());
  filter.SetInPlace(this->GetInPlace() && this->CanRunInPlace());
}

template <typename TInputImage, typename TOutputImage>
void
CudaSmoothingRecursiveGaussianImageFilter<TInputImage, TOutputImage>::GenerateDataBySuperclass()
{
  if (this->GetInPlace() && this->CanRunInPlace())
  {
    // Makes this filter release its input afterwards, as it does in ITK's class.
    this->AllocateOutputs();
  }
  Superclass::GenerateDataBySuperclass();
}
} // end namespace itk

#endif
