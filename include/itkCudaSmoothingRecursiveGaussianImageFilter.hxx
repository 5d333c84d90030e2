// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaSmoothingRecursiveGaussianImageFilter_hxx
#define itkCudaSmoothingRecursiveGaussianImageFilter_hxx

#include "itkCudaGaussianFilterRun.h"
#include "itkCudaHostFilter.h"

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
    return MakeSmoothingPlan(MakeCudaGaussianParameters(this, this->GetSigmaArray()));
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
  CudaGenerateDataOnHost(this, [this, inPlace](auto & filter) {
    filter.SetSigmaArray(this->GetSigmaArray());
    filter.SetNormalizeAcrossScale(this->GetNormalizeAcrossScale());
    filter.SetInPlace(inPlace);
  });
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
