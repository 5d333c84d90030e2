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
CudaSmoothingRecursiveGaussianImageFilter<TInputImage, TOutputImage>::GenerateData()
{
  const auto makePlan = [this] {
    CudaVerifyLineLengths(this);
    const std::vector<unsigned int> smoothing(TInputImage::ImageDimension, 0);
    return MakeGaussianPlan(
      MakeCudaGaussianParameters(this, this->GetSigmaArray()), { { smoothing, 1.0 } }, CudaGaussianOutput::Components);
  };
  CudaRunGaussianFilter(
    this, m_CudaBackend, makePlan, [this] { this->AllocateOutputs(); }, [this] { Superclass::GenerateData(); });
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
