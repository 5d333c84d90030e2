// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaSmoothingRecursiveGaussianImageFilter_hxx
#define itkCudaSmoothingRecursiveGaussianImageFilter_hxx

#include "itkCudaGaussianFilterRun.h"

namespace itk
{
template <typename TInputImage, typename TOutputImage>
void
CudaSmoothingRecursiveGaussianImageFilter<TInputImage, TOutputImage>::AllocateOutputs()
{
  CudaUsePooledOutput(this->GetOutput());
  Superclass::AllocateOutputs();
}

template <typename TInputImage, typename TOutputImage>
void
CudaSmoothingRecursiveGaussianImageFilter<TInputImage, TOutputImage>::VerifyLineLengths() const
{
  const auto size = this->GetInput()->GetRequestedRegion().GetSize();
  for (unsigned int d = 0; d < TInputImage::ImageDimension; ++d)
  {
    if (size[d] < 4)
    {
      itkExceptionMacro("The number of pixels along dimension " << d << " is " << size[d]
                                                                << "; this filter requires at least four");
    }
  }
}

template <typename TInputImage, typename TOutputImage>
void
CudaSmoothingRecursiveGaussianImageFilter<TInputImage, TOutputImage>::GenerateData()
{
  const auto prepare = [this] {
    this->VerifyLineLengths();
    CudaGaussianPlan plan;
    for (unsigned int axis = 0; axis < TInputImage::ImageDimension; ++axis)
    {
      plan.Passes.push_back(
        { axis,
          MakeDericheGaussianKernel(
            0, this->GetSigmaArray()[axis], this->GetInput()->GetSpacing()[axis], this->GetNormalizeAcrossScale()) });
    }
    this->AllocateOutputs();
    return plan;
  };
  CudaRunGaussianFilter(this, m_CudaBackend, prepare, [this] { Superclass::GenerateData(); });
}

template <typename TInputImage, typename TOutputImage>
void
CudaSmoothingRecursiveGaussianImageFilter<TInputImage, TOutputImage>::PrintSelf(std::ostream & os, Indent indent) const
{
  Superclass::PrintSelf(os, indent);
  m_CudaBackend.Print(os, indent);
}
} // end namespace itk

#endif
