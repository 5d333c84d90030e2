// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaSmoothingRecursiveGaussianImageFilter_hxx
#define itkCudaSmoothingRecursiveGaussianImageFilter_hxx

#include "itkCudaDetailGaussianEngine.h"
#include "itkCudaDetailImageTraits.h"

#include <memory>

namespace itk
{
template <typename TInputImage, typename TOutputImage>
void
CudaSmoothingRecursiveGaussianImageFilter<TInputImage, TOutputImage>::VerifyInputInformation() ITKv5_CONST
{
  // The superclass compares spacing, origin and direction of all inputs.
  Superclass::VerifyInputInformation();
  if (const MaskImageType * const mask = this->GetValidMask())
  {
    const auto region = mask->GetLargestPossibleRegion();
    const auto expected = this->GetInput()->GetLargestPossibleRegion();
    if (region != expected)
    {
      itkExceptionMacro("ValidMask has the size " << region.GetSize() << " and the first index " << region.GetIndex()
                                                  << "; they must be the image's, " << expected.GetSize() << " and "
                                                  << expected.GetIndex());
    }
  }
}

template <typename TInputImage, typename TOutputImage>
bool
CudaSmoothingRecursiveGaussianImageFilter<TInputImage, TOutputImage>::IsSuperclassEnough() const
{
  return this->GetValidMask() == nullptr && Superclass::IsSuperclassEnough();
}

template <typename TInputImage, typename TOutputImage>
void
CudaSmoothingRecursiveGaussianImageFilter<TInputImage, TOutputImage>::AddInputsTo(
  CudaDetail::CudaGaussianPlan & plan) const
{
  if (const MaskImageType * const mask = this->GetValidMask())
  {
    CudaDetail::CudaGaussianMask valid;
    valid.Valid = CudaDetail::MakeCudaImageView(mask, this->GetOutput()->GetRequestedRegion(), "ValidMask");
    valid.FillValue = m_FillValue;
    valid.MinimumWeight = CudaDetail::CudaGaussianMinimumWeight(this->GetApproximation());
    plan.Mask = std::make_shared<const CudaDetail::CudaGaussianMask>(valid);
  }
}

template <typename TInputImage, typename TOutputImage>
void
CudaSmoothingRecursiveGaussianImageFilter<TInputImage, TOutputImage>::PrintSelf(std::ostream & os, Indent indent) const
{
  Superclass::PrintSelf(os, indent);
  os << indent << "FillValue: " << m_FillValue << std::endl;
}

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
    // AllocateOutputs() makes this filter release its input after the run, as ITK's class does.
    this->AllocateOutputs();
  }
  Superclass::GenerateDataBySuperclass();
}
} // end namespace itk

#endif
