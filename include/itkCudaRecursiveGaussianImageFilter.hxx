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
  const auto prepare = [this] {
    this->AllocateOutputs();
    // The superclass's checks of direction, spacing and line length.
    this->BeforeThreadedGenerateData();
    const unsigned int axis = this->GetDirection();
    CudaGaussianPlan   plan;
    plan.Passes.push_back({ axis,
                            MakeDericheGaussianKernel(static_cast<unsigned int>(this->GetOrder()),
                                                      this->GetSigma(),
                                                      this->GetInput()->GetSpacing()[axis],
                                                      this->GetNormalizeAcrossScale()) });
    return plan;
  };
  CudaRunGaussianFilter(this, m_CudaBackend, prepare, [this] { Superclass::GenerateData(); });
}

template <typename TInputImage, typename TOutputImage>
void
CudaRecursiveGaussianImageFilter<TInputImage, TOutputImage>::PrintSelf(std::ostream & os, Indent indent) const
{
  Superclass::PrintSelf(os, indent);
  m_CudaBackend.Print(os, indent);
}
} // end namespace itk

#endif
