// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaGradientMagnitudeRecursiveGaussianImageFilter_hxx
#define itkCudaGradientMagnitudeRecursiveGaussianImageFilter_hxx

#include "itkCudaGaussianFilterRun.h"
#include "itkCudaHostFilter.h"

namespace itk
{
template <typename TInputImage, typename TOutputImage>
void
CudaGradientMagnitudeRecursiveGaussianImageFilter<TInputImage, TOutputImage>::AllocateOutputs()
{
  CudaUsePooledOutput(this->GetOutput());
  // The superclass keeps its input, even with InPlace on.
  ImageSource<TOutputImage>::AllocateOutputs();
}

template <typename TInputImage, typename TOutputImage>
void
CudaGradientMagnitudeRecursiveGaussianImageFilter<TInputImage, TOutputImage>::GenerateData()
{
  const auto makePlan = [this] {
    CudaVerifyLineLengths(this);
    return MakeGradientMagnitudePlan(MakeCudaGaussianParameters(this, CudaEqualSigmas{ this->GetSigma() }));
  };
  const auto host = [this] {
    CudaGenerateDataOnHost(this, [this](auto & filter) {
      filter.SetSigma(this->GetSigma());
      filter.SetNormalizeAcrossScale(this->GetNormalizeAcrossScale());
    });
  };
  CudaRunGaussianFilter(
    this, m_CudaBackend, makePlan, [this] { this->AllocateOutputs(); }, host);
}

template <typename TInputImage, typename TOutputImage>
void
CudaGradientMagnitudeRecursiveGaussianImageFilter<TInputImage, TOutputImage>::PrintSelf(std::ostream & os,
                                                                                        Indent         indent) const
{
  Superclass::PrintSelf(os, indent);
  os << indent << "Approximation: " << m_Approximation << std::endl;
  m_CudaBackend.Print(os, indent);
}
} // end namespace itk

#endif
