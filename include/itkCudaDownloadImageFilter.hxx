// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaDownloadImageFilter_hxx
#define itkCudaDownloadImageFilter_hxx

#include "itkCudaDetailFilterRun.h"

namespace itk
{
template <typename TInputImage, typename TOutputImage>
void
CudaDownloadImageFilter<TInputImage, TOutputImage>::UpdateOutputData(DataObject * output)
{
  try
  {
    Superclass::UpdateOutputData(output);
  }
  catch (...)
  {
    this->ResetPipeline();
    throw;
  }
}

template <typename TInputImage, typename TOutputImage>
void
CudaDownloadImageFilter<TInputImage, TOutputImage>::GenerateData()
{
  const InputImageType * const input = this->GetInput();
  OutputImageType * const      output = this->GetOutput();
  const auto                   region = output->GetRequestedRegion();
  CudaDetail::CudaVerifyComponents(input->GetNumberOfComponentsPerPixel(), 1, output->GetNumberOfComponentsPerPixel());
  const CudaDeviceImageView pixels = input->GetDeviceView(region, "The input");
  CudaDetail::CudaUsePooledOutput(output);
  this->AllocateOutputs();
  CudaDetail::CudaDownloadFromDevice(
    pixels,
    CudaDetail::MakeCudaImageView(static_cast<const OutputImageType *>(output), region),
    { m_Shift, m_Scale, m_Rounding },
    CudaDetail::MakeCudaProgressFunction(this));
}

template <typename TInputImage, typename TOutputImage>
void
CudaDownloadImageFilter<TInputImage, TOutputImage>::PrintSelf(std::ostream & os, Indent indent) const
{
  Superclass::PrintSelf(os, indent);
  os << indent << "Shift: " << m_Shift << std::endl;
  os << indent << "Scale: " << m_Scale << std::endl;
  os << indent << "Rounding: " << m_Rounding << std::endl;
}
} // end namespace itk

#endif
