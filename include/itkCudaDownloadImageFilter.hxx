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
CudaDownloadImageFilter<TInputImage, TOutputImage>::VerifyPreconditions() ITKv5_CONST
{
  using PrintType = typename InputLimits::PrintType;

  Superclass::VerifyPreconditions();
  if (m_UseWindow && m_UseThreshold)
  {
    itkExceptionMacro("UseWindow and UseThreshold are both on; a download does one of them");
  }
  if ((m_UseWindow || m_UseThreshold) && (m_Shift != 0.0 || m_Scale != 1.0))
  {
    itkExceptionMacro("Shift is " << m_Shift << " and Scale is " << m_Scale << "; with "
                                  << (m_UseWindow ? "UseWindow" : "UseThreshold") << " on they must be 0 and 1");
  }
  if (m_UseWindow && !(m_WindowMinimum < m_WindowMaximum))
  {
    itkExceptionMacro("WindowMinimum is " << static_cast<PrintType>(m_WindowMinimum)
                                          << "; it must be less than WindowMaximum, which is "
                                          << static_cast<PrintType>(m_WindowMaximum));
  }
  if (m_UseThreshold && !(m_LowerThreshold <= m_UpperThreshold))
  {
    itkExceptionMacro("LowerThreshold is " << static_cast<PrintType>(m_LowerThreshold)
                                           << "; it must not be greater than UpperThreshold, which is "
                                           << static_cast<PrintType>(m_UpperThreshold));
  }
}

template <typename TInputImage, typename TOutputImage>
CudaDetail::CudaPixelConversion
CudaDownloadImageFilter<TInputImage, TOutputImage>::MakeConversion() const
{
  using MappingEnum = CudaDetail::CudaPixelMapping;

  CudaDetail::CudaPixelConversion conversion;
  conversion.Rounding = m_Rounding;
  conversion.Shift = m_Shift;
  conversion.Scale = m_Scale;
  conversion.Mapping = MappingEnum::ShiftScale;
  if (m_UseWindow)
  {
    conversion.Mapping = MappingEnum::Window;
    conversion.Lower = static_cast<double>(m_WindowMinimum);
    conversion.Upper = static_cast<double>(m_WindowMaximum);
  }
  if (m_UseThreshold)
  {
    conversion.Mapping = MappingEnum::Threshold;
    conversion.Lower = static_cast<double>(m_LowerThreshold);
    conversion.Upper = static_cast<double>(m_UpperThreshold);
  }
  conversion.OutputMinimum = static_cast<double>(m_OutputMinimum);
  conversion.OutputMaximum = static_cast<double>(m_OutputMaximum);
  conversion.InsideValue = static_cast<double>(m_InsideValue);
  conversion.OutsideValue = static_cast<double>(m_OutsideValue);
  return conversion;
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
    this->MakeConversion(),
    CudaDetail::MakeCudaProgressFunction(this));
}

template <typename TInputImage, typename TOutputImage>
void
CudaDownloadImageFilter<TInputImage, TOutputImage>::PrintSelf(std::ostream & os, Indent indent) const
{
  using InputPrintType = typename InputLimits::PrintType;
  using OutputPrintType = typename OutputLimits::PrintType;

  Superclass::PrintSelf(os, indent);
  os << indent << "Shift: " << m_Shift << std::endl;
  os << indent << "Scale: " << m_Scale << std::endl;
  os << indent << "Rounding: " << m_Rounding << std::endl;
  os << indent << "UseWindow: " << (m_UseWindow ? "On" : "Off") << std::endl;
  os << indent << "WindowMinimum: " << static_cast<InputPrintType>(m_WindowMinimum) << std::endl;
  os << indent << "WindowMaximum: " << static_cast<InputPrintType>(m_WindowMaximum) << std::endl;
  os << indent << "OutputMinimum: " << static_cast<OutputPrintType>(m_OutputMinimum) << std::endl;
  os << indent << "OutputMaximum: " << static_cast<OutputPrintType>(m_OutputMaximum) << std::endl;
  os << indent << "UseThreshold: " << (m_UseThreshold ? "On" : "Off") << std::endl;
  os << indent << "LowerThreshold: " << static_cast<InputPrintType>(m_LowerThreshold) << std::endl;
  os << indent << "UpperThreshold: " << static_cast<InputPrintType>(m_UpperThreshold) << std::endl;
  os << indent << "InsideValue: " << static_cast<OutputPrintType>(m_InsideValue) << std::endl;
  os << indent << "OutsideValue: " << static_cast<OutputPrintType>(m_OutsideValue) << std::endl;
}
} // end namespace itk

#endif
