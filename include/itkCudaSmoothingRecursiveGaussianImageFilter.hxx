// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaSmoothingRecursiveGaussianImageFilter_hxx
#define itkCudaSmoothingRecursiveGaussianImageFilter_hxx

#include "itkCudaGaussianFilterRun.h"
#include "itkProgressAccumulator.h"

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
  CudaRunGaussianFilter(this, m_CudaBackend, prepare, [this] { this->GenerateDataOnHost(); });
}

template <typename TInputImage, typename TOutputImage>
void
CudaSmoothingRecursiveGaussianImageFilter<TInputImage, TOutputImage>::GenerateDataOnHost()
{
  const bool inPlace = this->GetInPlace() && this->CanRunInPlace();
  if (inPlace)
  {
    // Makes this filter release its input afterwards, as it does in the superclass.
    this->AllocateOutputs();
  }
  const auto filter = HostFilter::New();
  filter->SetInput(this->GetInput());
  filter->SetSigmaArray(this->GetSigmaArray());
  filter->SetNormalizeAcrossScale(this->GetNormalizeAcrossScale());
  filter->SetNumberOfWorkUnits(this->GetNumberOfWorkUnits());
  filter->SetInPlace(inPlace);

  const auto progress = ProgressAccumulator::New();
  progress->SetMiniPipelineFilter(this);
  progress->RegisterInternalFilter(filter, 1.0f);

  filter->GraftOutput(this->GetOutput());
  filter->Update();
  this->GraftOutput(filter->GetOutput());
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
