// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaStructureTensorImageFilter_hxx
#define itkCudaStructureTensorImageFilter_hxx

#include "itkCudaDetailPlanRun.h"

#include <vector>

namespace itk
{
template <typename TInputImage, typename TOutputImage>
CudaDetail::CudaStructureTensorPlan
CudaStructureTensorImageFilter<TInputImage, TOutputImage>::MakePlan() const
{
  const auto & spacing = this->GetInput()->GetSpacing();
  const auto   size = this->GetInput()->GetLargestPossibleRegion().GetSize();
  for (unsigned int d = 0; d < ImageDimension; ++d)
  {
    if (size[d] < 4)
    {
      itkExceptionMacro("The number of pixels along dimension " << d << " is " << size[d]
                                                                << "; this filter requires at least four");
    }
  }
  return CudaDetail::MakeStructureTensorPlan(
    m_Sigma, m_IntegrationSigma, std::vector<double>(spacing.Begin(), spacing.End()), m_Quantity, m_Approximation);
}

template <typename TInputImage, typename TOutputImage>
void
CudaStructureTensorImageFilter<TInputImage, TOutputImage>::GenerateOutputInformation()
{
  Superclass::GenerateOutputInformation();
  if (CudaDetail::CudaDevicePixelTraits<typename TOutputImage::PixelType>::Length == 0)
  {
    this->GetOutput()->SetNumberOfComponentsPerPixel(
      CudaDetail::CudaStructureTensorComponents(m_Quantity, ImageDimension));
  }
}

template <typename TInputImage, typename TOutputImage>
void
CudaStructureTensorImageFilter<TInputImage, TOutputImage>::GenerateInputRequestedRegion()
{
  CudaDetail::CudaRequestWholeInputs(*this);
}

template <typename TInputImage, typename TOutputImage>
void
CudaStructureTensorImageFilter<TInputImage, TOutputImage>::EnlargeOutputRequestedRegion(DataObject * output)
{
  output->SetRequestedRegionToLargestPossibleRegion();
}

template <typename TInputImage, typename TOutputImage>
void
CudaStructureTensorImageFilter<TInputImage, TOutputImage>::GenerateData()
{
  const CudaDetail::CudaWorkScope work;

  const CudaDetail::CudaStructureTensorPlan plan = this->MakePlan();
  const unsigned int components = CudaDetail::CudaStructureTensorComponents(m_Quantity, ImageDimension);
  if (this->GetOutput()->GetNumberOfComponentsPerPixel() != components)
  {
    itkExceptionMacro("The output has " << this->GetOutput()->GetNumberOfComponentsPerPixel()
                                        << " component(s) to a pixel; Quantity " << m_Quantity << " has "
                                        << components);
  }
  CudaDetail::CudaRunPlan(*this, m_CudaBackend, plan, [this] { this->AllocateOutputs(); });
}

template <typename TInputImage, typename TOutputImage>
void
CudaStructureTensorImageFilter<TInputImage, TOutputImage>::PrintSelf(std::ostream & os, Indent indent) const
{
  Superclass::PrintSelf(os, indent);
  os << indent << "Sigma: " << m_Sigma << std::endl;
  os << indent << "IntegrationSigma: " << m_IntegrationSigma << std::endl;
  os << indent << "Quantity: " << m_Quantity << std::endl;
  os << indent << "Approximation: " << m_Approximation << std::endl;
  m_CudaBackend.Print(os, indent);
}
} // end namespace itk

#endif
