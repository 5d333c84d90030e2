// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaSymmetricEigenAnalysisImageFilter_hxx
#define itkCudaSymmetricEigenAnalysisImageFilter_hxx

#include "itkCudaDetailTensorFilter.h"

namespace itk
{
/** Returns the plan of the run. \exception ExceptionObject if Dimension is not the number of the tensors' rows */
template <typename TInputImage, typename TOutputImage>
CudaDetail::CudaEigenPlan
CudaSymmetricEigenAnalysisImageFilter<TInputImage, TOutputImage>::MakePlan() const
{
  using CudaDetail::CudaEigenValueOrder;
  constexpr unsigned int rows = CudaDetail::CudaTensorTraits<typename TInputImage::PixelType>::Rows;

  // With another number, ITK's class would write beyond the tensor's rows.
  const unsigned int dimension = this->GetDimension();
  if (dimension != rows)
  {
    itkExceptionMacro("Dimension is " << dimension << "; it must be the number of the tensors' rows, " << rows);
  }
  const auto order = this->GetOrderEigenValuesBy();
  return CudaDetail::MakeEigenPlan(rows,
                                   order == EigenValueOrderEnum::OrderByValue       ? CudaEigenValueOrder::ByValue
                                   : order == EigenValueOrderEnum::OrderByMagnitude ? CudaEigenValueOrder::ByMagnitude
                                                                                    : CudaEigenValueOrder::None);
}

template <typename TInputImage, typename TOutputImage>
void
CudaSymmetricEigenAnalysisImageFilter<TInputImage, TOutputImage>::GenerateData()
{
  using TensorTraits = CudaDetail::CudaTensorTraits<typename TInputImage::PixelType>;
  using OutputPixel = CudaDetail::CudaDevicePixelTraits<typename TOutputImage::PixelType>;
  constexpr bool onDevice = CudaHasDeviceImage<TInputImage, TOutputImage>;
  static_assert(TensorTraits::IsSupported || !onDevice,
                "The input's pixels must be symmetric tensors of two or three rows");
  static_assert(OutputPixel::Length == TensorTraits::Rows || !onDevice,
                "The output's pixels must be arrays of as many components as tensors have rows");

  const CudaDetail::CudaWorkScope work;
  if constexpr (onDevice ||
                (CudaDetail::CudaTakesTensors<TInputImage, TOutputImage> && OutputPixel::Length == TensorTraits::Rows))
  {
    const CudaDetail::CudaEigenPlan plan = this->MakePlan();
    CudaDetail::CudaRunPlan(*this, m_CudaBackend, plan, [this] { this->AllocateOutputs(); });
  }
  else
  {
    m_CudaBackend.SelectDevice(CudaDetail::CudaTakesTensors<TInputImage, TOutputImage>
                                 ? "the output must be an array of as many components as tensors have rows"
                                 : CudaDetail::CudaTensorUnsupportedReason<TInputImage, TOutputImage>(),
                               0);
    Superclass::GenerateData();
  }
}

template <typename TInputImage, typename TOutputImage>
void
CudaSymmetricEigenAnalysisImageFilter<TInputImage, TOutputImage>::PrintSelf(std::ostream & os, Indent indent) const
{
  Superclass::PrintSelf(os, indent);
  m_CudaBackend.Print(os, indent);
}
} // end namespace itk

#endif
