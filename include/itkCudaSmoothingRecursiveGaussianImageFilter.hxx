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
CudaSmoothingRecursiveGaussianImageFilter<TInputImage, TOutputImage>::GenerateData()
{
  const auto makePlan = [this] {
    CudaVerifyLineLengths(this);
    const std::vector<unsigned int> smoothing(TInputImage::ImageDimension, 0);
    return MakeGaussianPlan(
      MakeCudaGaussianParameters(this, this->GetSigmaArray()), { { smoothing, 1.0 } }, CudaGaussianOutput::Components);
  };
  CudaRunGaussianFilter(
    this, m_CudaBackend, makePlan, [this] { this->AllocateOutputs(); }, [this] { this->GenerateDataOnHost(); });
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
  os << indent << "Approximation: " << m_Approximation << std::endl;
  m_CudaBackend.Print(os, indent);
}
} // end namespace itk

#endif
