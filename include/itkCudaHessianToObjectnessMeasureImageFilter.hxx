// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaHessianToObjectnessMeasureImageFilter_hxx
#define itkCudaHessianToObjectnessMeasureImageFilter_hxx

#include "itkCudaDetailTensorFilter.h"

namespace itk
{
template <typename TInputImage, typename TOutputImage>
void
CudaHessianToObjectnessMeasureImageFilter<TInputImage, TOutputImage>::GenerateData()
{
  using TensorTraits = CudaDetail::CudaTensorTraits<typename TInputImage::PixelType>;

  if constexpr (CudaDetail::CudaTakesTensors<TInputImage, TOutputImage> &&
                TensorTraits::Rows == TInputImage::ImageDimension)
  {
    const auto measure = CudaDetail::MakeObjectnessMeasure(TensorTraits::Rows,
                                                           this->GetAlpha(),
                                                           this->GetBeta(),
                                                           this->GetGamma(),
                                                           this->GetObjectDimension(),
                                                           this->GetBrightObject(),
                                                           this->GetScaleObjectnessMeasure());
    CudaDetail::CudaRunTensorPlan(measure, this, m_CudaBackend, [this] { this->AllocateOutputs(); });
  }
  else
  {
    m_CudaBackend.SelectDevice(CudaDetail::CudaTensorObstacle<TInputImage, TOutputImage>(), 0);
    Superclass::GenerateData();
  }
}

template <typename TInputImage, typename TOutputImage>
void
CudaHessianToObjectnessMeasureImageFilter<TInputImage, TOutputImage>::PrintSelf(std::ostream & os, Indent indent) const
{
  Superclass::PrintSelf(os, indent);
  m_CudaBackend.Print(os, indent);
}
} // end namespace itk

#endif
