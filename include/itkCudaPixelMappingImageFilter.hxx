// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaPixelMappingImageFilter_hxx
#define itkCudaPixelMappingImageFilter_hxx

#include "itkCudaDetailFilterRun.h"

#include <cmath>

namespace itk
{
template <typename TInputImage, typename TOutputImage>
void
CudaPixelMappingImageFilter<TInputImage, TOutputImage>::UpdateOutputData(DataObject * output)
{
  try
  {
    Superclass::UpdateOutputData(output);
  }
  catch (...)
  {
    if (!CudaIsDeviceImage<TOutputImage>::value)
    {
      this->ResetPipeline();
    }
    throw;
  }
}

template <typename TInputImage, typename TOutputImage>
void
CudaPixelMappingImageFilter<TInputImage, TOutputImage>::VerifyPreconditions() ITKv5_CONST
{
  using PrintType = typename InputLimits::PrintType;

  Superclass::VerifyPreconditions();
  this->VerifyExclusion();
  if (!std::isfinite(m_Shift))
  {
    itkExceptionMacro("Shift is " << m_Shift << "; it must be finite");
  }
  if (!std::isfinite(m_Scale))
  {
    itkExceptionMacro("Scale is " << m_Scale << "; it must be finite");
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
  if (m_UseSigmoid)
  {
    this->VerifySigmoid();
  }
}

template <typename TInputImage, typename TOutputImage>
void
CudaPixelMappingImageFilter<TInputImage, TOutputImage>::VerifyExclusion() const
{
  const bool         isOn[] = { m_UseWindow, m_UseThreshold, m_UseSigmoid };
  const char * const name[] = { "UseWindow", "UseThreshold", "UseSigmoid" };
  for (unsigned int i = 0; i < 3; ++i)
  {
    const unsigned int next = (i + 1) % 3;
    if (isOn[i] && isOn[next])
    {
      itkExceptionMacro(<< name[i] << " and " << name[next] << " are both on; a run does one of them");
    }
  }
}

template <typename TInputImage, typename TOutputImage>
void
CudaPixelMappingImageFilter<TInputImage, TOutputImage>::VerifySigmoid() const
{
  using PrintType = typename OutputLimits::PrintType;

  if (!std::isfinite(m_Alpha) || m_Alpha == 0.0)
  {
    itkExceptionMacro("Alpha is " << m_Alpha << "; it must be finite and not 0");
  }
  if (!std::isfinite(m_Beta))
  {
    itkExceptionMacro("Beta is " << m_Beta << "; it must be finite");
  }
  if (!std::isfinite(static_cast<double>(m_OutputMaximum) - static_cast<double>(m_OutputMinimum)))
  {
    itkExceptionMacro("OutputMinimum is " << static_cast<PrintType>(m_OutputMinimum) << " and OutputMaximum is "
                                          << static_cast<PrintType>(m_OutputMaximum)
                                          << "; with UseSigmoid on their difference must be finite");
  }
}

template <typename TInputImage, typename TOutputImage>
CudaDetail::CudaPixelConversion
CudaPixelMappingImageFilter<TInputImage, TOutputImage>::MakeConversion() const
{
  using MappingEnum = CudaDetail::CudaPixelMapping;

  CudaDetail::CudaPixelConversion conversion;
  conversion.Rounding = m_Rounding;
  conversion.Shift = m_Shift;
  conversion.Scale = m_Scale;
  conversion.Mapping = m_Shift == 0.0 && m_Scale == 1.0 ? MappingEnum::None : MappingEnum::ShiftScale;
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
  if (m_UseSigmoid)
  {
    conversion.Mapping = MappingEnum::Sigmoid;
  }
  conversion.OutputMinimum = static_cast<double>(m_OutputMinimum);
  conversion.OutputMaximum = static_cast<double>(m_OutputMaximum);
  conversion.InsideValue = static_cast<double>(m_InsideValue);
  conversion.OutsideValue = static_cast<double>(m_OutsideValue);
  conversion.Alpha = m_Alpha;
  conversion.Beta = m_Beta;
  return conversion;
}

template <typename TInputImage, typename TOutputImage>
void
CudaPixelMappingImageFilter<TInputImage, TOutputImage>::GenerateData()
{
  const CudaDetail::CudaWorkScope work;

  const InputImageType * const input = this->GetInput();
  OutputImageType * const      output = this->GetOutput();
  const auto                   region = output->GetRequestedRegion();
  CudaDetail::CudaVerifyComponents(input->GetNumberOfComponentsPerPixel(), 1, output->GetNumberOfComponentsPerPixel());
  const CudaDeviceImageView pixels = input->GetDeviceView(region, "The input");
  if constexpr (CudaIsDeviceImage<TOutputImage>::value)
  {
    output->SetDeviceIndex(input->GetDeviceIndex());
    this->AllocateOutputs();
    CudaDetail::CudaMapOnDevice(pixels, output->GetDeviceView(region), this->MakeConversion());
  }
  else
  {
    CudaDetail::CudaUsePooledOutput(output);
    this->AllocateOutputs();
    CudaDetail::CudaDownloadFromDevice(
      pixels,
      CudaDetail::MakeCudaImageView(static_cast<const OutputImageType *>(output), region),
      this->MakeConversion(),
      CudaDetail::MakeCudaProgressFunction(this));
  }
}

template <typename TInputImage, typename TOutputImage>
void
CudaPixelMappingImageFilter<TInputImage, TOutputImage>::PrintSelf(std::ostream & os, Indent indent) const
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
  os << indent << "UseSigmoid: " << (m_UseSigmoid ? "On" : "Off") << std::endl;
  os << indent << "Alpha: " << m_Alpha << std::endl;
  os << indent << "Beta: " << m_Beta << std::endl;
}
} // end namespace itk

#endif
