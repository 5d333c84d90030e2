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
  constexpr unsigned int        dimension = TInputImage::ImageDimension;
  const CudaGaussianParameters  parameters = MakeCudaGaussianParameters(this, this->GetSigmaArray());
  std::vector<CudaGaussianTerm> terms = MakeCudaGradientTerms(parameters);
  for (unsigned int d = 0; d < dimension; ++d)
  {
    terms[d].Sigma = CudaGradientSigmas(parameters, d);
  }
  CudaGaussianPlan plan = MakeGaussianPlan(parameters, terms, CudaGaussianOutput::Components);
  const auto &     direction = this->GetInput()->GetDirection();
  if (this->GetUseImageDirection() && !direction.GetVnlMatrix().is_identity())
  {
    for (unsigned int i = 0; i < dimension * dimension; ++i)
    {
      plan.Rotation.push_back(direction[i / dimension][i % dimension]);
    }
  }
  return plan;
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
