// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaRecursiveGaussianImageFilter_hxx
#define itkCudaRecursiveGaussianImageFilter_hxx

#include "itkCudaGaussianFilterRun.h"

namespace itk
{
template <typename TInputImage, typename TOutputImage>
void
CudaRecursiveGaussianImageFilter<TInputImage, TOutputImage>::AllocateOutputs()
{
  CudaUsePooledOutput(this->GetOutput());
  Superclass::AllocateOutputs();
}

template <typename TInputImage, typename TOutputImage>
void
CudaRecursiveGaussianImageFilter<TInputImage, TOutputImage>::GenerateData()
{
  const auto makePlan = [this] {
    const unsigned int axis = this->GetDirection();
    return MakeGaussianLinePlan(axis,
                                MakeGaussianKernel(m_Approximation,
                                                   static_cast<unsigned int>(this->GetOrder()),
                                                   this->GetSigma(),
                                                   this->GetInput()->GetSpacing()[axis],
                                                   this->GetNormalizeAcrossScale()));
  };
  const auto allocate = [this] {
    this->AllocateOutputs();
    // The superclass's checks of direction, spacing and line length.
    this->BeforeThreadedGenerateData();
  };
  m_CudaBackend.HostPreference =
    m_CudaBackend.IsOverride ? CudaGaussianHostPreference(this->GetDirection(),
                                                          this->GetOutput()->GetRequestedRegion().GetNumberOfPixels() *
                                                            this->GetInput()->GetNumberOfComponentsPerPixel())
                             : std::string();
  CudaRunGaussianFilter(this, m_CudaBackend, makePlan, allocate, [this] { Superclass::GenerateData(); });
}

template <typename TInputImage, typename TOutputImage>
void
CudaRecursiveGaussianImageFilter<TInputImage, TOutputImage>::PrintSelf(std::ostream & os, Indent indent) const
{
  Superclass::PrintSelf(os, indent);
  os << indent << "Approximation: " << m_Approximation << std::endl;
  m_CudaBackend.Print(os, indent);
}
} // end namespace itk

#endif
