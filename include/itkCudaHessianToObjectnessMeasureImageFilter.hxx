// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaHessianToObjectnessMeasureImageFilter_hxx
#define itkCudaHessianToObjectnessMeasureImageFilter_hxx

#include "itkCudaDetailTensorFilter.h"

namespace itk
{
template <typename TInputImage, typename TOutputImage>
CudaDetail::CudaHessianMeasure
CudaHessianToObjectnessMeasureImageFilter<TInputImage, TOutputImage>::MakeMeasure() const
{
  return CudaDetail::MakeObjectnessMeasure(TInputImage::ImageDimension,
                                           this->GetAlpha(),
                                           this->GetBeta(),
                                           this->GetGamma(),
                                           this->GetObjectDimension(),
                                           this->GetBrightObject(),
                                           this->GetScaleObjectnessMeasure());
}

template <typename TInputImage, typename TOutputImage>
void
CudaHessianToObjectnessMeasureImageFilter<TInputImage, TOutputImage>::GenerateData()
{
  const CudaDetail::CudaWorkScope work;
  using TensorTraits = CudaDetail::CudaTensorTraits<typename TInputImage::PixelType>;
  constexpr bool isHessian = TensorTraits::IsSupported && TensorTraits::Rows == TInputImage::ImageDimension;
  constexpr bool onDevice = CudaHasDeviceImage<TInputImage, TOutputImage>;
  static_assert(isHessian || !onDevice,
                "The input's pixels must be symmetric tensors of as many rows as the image has axes, 2 or 3");

  if constexpr (onDevice || (CudaDetail::CudaTakesTensors<TInputImage, TOutputImage> && isHessian))
  {
    CudaDetail::CudaRunPlan(*this, m_CudaBackend, this->MakeMeasure(), [this] { this->AllocateOutputs(); });
  }
  else
  {
    m_CudaBackend.SelectDevice(CudaDetail::CudaTensorUnsupportedReason<TInputImage, TOutputImage>(), 0);
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
