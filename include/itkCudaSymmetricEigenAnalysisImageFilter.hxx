// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaSymmetricEigenAnalysisImageFilter_hxx
#define itkCudaSymmetricEigenAnalysisImageFilter_hxx

#include "itkCudaDetailTensorFilter.h"

namespace itk
{
template <typename TInputImage, typename TOutputImage>
void
CudaSymmetricEigenAnalysisImageFilter<TInputImage, TOutputImage>::GenerateData()
{
  using CudaDetail::CudaEigenValueOrder;
  constexpr unsigned int rows = CudaDetail::CudaTensorTraits<typename TInputImage::PixelType>::Rows;

  const char * obstacle = CudaDetail::CudaTensorObstacle<TInputImage, TOutputImage>();
  if constexpr (CudaDetail::CudaTakesTensors<TInputImage, TOutputImage>)
  {
    // The superclass would write beyond the tensor's rows.
    if (this->GetDimension() != rows)
    {
      itkExceptionMacro("Dimension is " << this->GetDimension() << "; it must be the number of the tensors' rows, "
                                        << rows);
    }
    using OutputPixel = CudaDetail::CudaDevicePixelTraits<typename TOutputImage::PixelType>;
    obstacle =
      OutputPixel::Length != rows ? "the output must be an array of as many components as tensors have rows" : nullptr;
    if (!obstacle)
    {
      const auto order = this->GetOrderEigenValuesBy();
      const auto plan =
        CudaDetail::MakeEigenPlan(rows,
                                  order == EigenValueOrderEnum::OrderByValue       ? CudaEigenValueOrder::ByValue
                                  : order == EigenValueOrderEnum::OrderByMagnitude ? CudaEigenValueOrder::ByMagnitude
                                                                                   : CudaEigenValueOrder::None,
                                  false);
      CudaDetail::CudaRunTensorPlan(plan, this, m_CudaBackend, [this] { this->AllocateOutputs(); });
      return;
    }
  }
  m_CudaBackend.SelectDevice(obstacle, 0);
  Superclass::GenerateData();
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
