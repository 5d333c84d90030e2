// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaGradientRecursiveGaussianImageFilter_hxx
#define itkCudaGradientRecursiveGaussianImageFilter_hxx

#include "itkCudaGaussianFilterRun.h"
#include "itkCudaHostFilter.h"

namespace itk
{
template <typename TInputImage, typename TOutputImage>
void
CudaGradientRecursiveGaussianImageFilter<TInputImage, TOutputImage>::AllocateOutputs()
{
  CudaUsePooledOutput(this->GetOutput());
  Superclass::AllocateOutputs();
}

template <typename TInputImage, typename TOutputImage>
CudaGaussianPlan
CudaGradientRecursiveGaussianImageFilter<TInputImage, TOutputImage>::MakePlan() const
{
  const auto &        matrix = this->GetInput()->GetDirection().GetVnlMatrix();
  std::vector<double> direction;
  if (this->GetUseImageDirection() && !matrix.is_identity())
  {
    direction.assign(matrix.begin(), matrix.end());
  }
  return MakeGradientPlan(MakeCudaGaussianParameters(this, this->GetSigmaArray()), direction);
}

template <typename TInputImage, typename TOutputImage>
void
CudaGradientRecursiveGaussianImageFilter<TInputImage, TOutputImage>::GenerateData()
{
  const auto makePlan = [this] {
    CudaVerifyLineLengths(this);
    return this->MakePlan();
  };
  const auto host = [this] {
    CudaGenerateDataOnHost(this, [this](auto & filter) {
      filter.SetSigmaArray(this->GetSigmaArray());
      filter.SetNormalizeAcrossScale(this->GetNormalizeAcrossScale());
      filter.SetUseImageDirection(this->GetUseImageDirection());
    });
  };
  CudaRunGaussianFilter(
    this, m_CudaBackend, makePlan, [this] { this->AllocateOutputs(); }, host);
}

template <typename TInputImage, typename TOutputImage>
void
CudaGradientRecursiveGaussianImageFilter<TInputImage, TOutputImage>::PrintSelf(std::ostream & os, Indent indent) const
{
  Superclass::PrintSelf(os, indent);
  os << indent << "Approximation: " << m_Approximation << std::endl;
  m_CudaBackend.Print(os, indent);
}
} // end namespace itk

#endif
