// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaHessianRecursiveGaussianImageFilter_hxx
#define itkCudaHessianRecursiveGaussianImageFilter_hxx

#include "itkCudaGaussianFilterRun.h"
#include "itkCudaHostFilter.h"

namespace itk
{
template <typename TInputImage, typename TOutputImage>
void
CudaHessianRecursiveGaussianImageFilter<TInputImage, TOutputImage>::AllocateOutputs()
{
  CudaUsePooledOutput(this->GetOutput());
  Superclass::AllocateOutputs();
}

template <typename TInputImage, typename TOutputImage>
void
CudaHessianRecursiveGaussianImageFilter<TInputImage, TOutputImage>::GenerateData()
{
  const auto makePlan = [this] {
    CudaVerifyLineLengths(this);
    return MakeHessianPlan(MakeCudaGaussianParameters(this, CudaEqualSigmas{ this->GetSigma() }));
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
CudaHessianRecursiveGaussianImageFilter<TInputImage, TOutputImage>::PrintSelf(std::ostream & os, Indent indent) const
{
  Superclass::PrintSelf(os, indent);
  os << indent << "Approximation: " << m_Approximation << std::endl;
  m_CudaBackend.Print(os, indent);
}
} // end namespace itk

#endif
