// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaConstantFalseAlarmRateImageFilter_hxx
#define itkCudaConstantFalseAlarmRateImageFilter_hxx

#include "itkCudaDetailDeviceRun.h"
#include "itkCudaDetailFilterRun.h"
#include "itkCudaDetailImageTraits.h"
#include "itkCudaDetailPixelContainer.h"

namespace itk
{
template <typename TInputImage, typename TOutputImage>
void
CudaConstantFalseAlarmRateImageFilter<TInputImage, TOutputImage>::VerifyPreconditions() ITKv5_CONST
{
  Superclass::VerifyPreconditions();
  CudaDetail::VerifyCudaDetectionParameters(m_Parameters);
}

template <typename TInputImage, typename TOutputImage>
void
CudaConstantFalseAlarmRateImageFilter<TInputImage, TOutputImage>::GenerateInputRequestedRegion()
{
  CudaDetail::CudaRequestWholeInputs(*this);
}

template <typename TInputImage, typename TOutputImage>
void
CudaConstantFalseAlarmRateImageFilter<TInputImage, TOutputImage>::EnlargeOutputRequestedRegion(DataObject * output)
{
  Superclass::EnlargeOutputRequestedRegion(output);
  output->SetRequestedRegionToLargestPossibleRegion();
}

template <typename TInputImage, typename TOutputImage>
void
CudaConstantFalseAlarmRateImageFilter<TInputImage, TOutputImage>::GenerateData()
{
  const CudaDetail::CudaWorkScope work;
  m_Result = {};
  if constexpr (!IsOutputOnDevice)
  {
    CudaDetail::CudaUsePooledPixelContainer(this->GetOutput(), this->GetOutput()->GetRequestedRegion());
    this->AllocateOutputs();
  }
  const InputImageType *         image = this->GetInput();
  const RegionType               region = image->GetLargestPossibleRegion();
  CudaDetail::CudaDetectionInput input;
  if constexpr (!IsInputOnDevice)
  {
    input.Image = CudaDetail::MakeCudaImageView(image, region);
  }
  input.FirstIndex = { { region.GetIndex(0), region.GetIndex(1) } };
  const auto validMask = CudaDetail::MakeCudaOptionalView(this->GetValidMask(), "ValidMask");
  input.ValidMask = validMask ? &*validMask : nullptr;
  ResultType result = this->Detect(input);
  if (!result)
  {
    CudaDetail::CudaThrowAborted(*this);
  }
  m_Result = std::move(*result);
  this->UpdateProgress(1.0f);
}

template <typename TInputImage, typename TOutputImage>
typename CudaConstantFalseAlarmRateImageFilter<TInputImage, TOutputImage>::ResultType
CudaConstantFalseAlarmRateImageFilter<TInputImage, TOutputImage>::Detect(const CudaDetail::CudaDetectionInput & input)
{
  if constexpr (IsInputOnDevice)
  {
    const int device = this->GetInput()->GetDeviceIndex();
    CudaDetail::CudaSelectDeviceOfImage(m_CudaBackend, device);
    return this->DetectOnDevice(input, device);
  }
  else if constexpr (IsOutputOnDevice)
  {
    return this->DetectOnDevice(input, CudaDetail::CudaSelectDeviceOfOutput(m_CudaBackend));
  }
  else
  {
    ResultType result;
    const auto device = [&](int index) { result = this->DetectOnDevice(input, index); };
    const auto host = [&] {
      result = CudaDetail::CudaDetectOnHost(
        input,
        m_Parameters,
        CudaDetail::MakeCudaImageView(this->GetOutput(), this->GetInput()->GetLargestPossibleRegion()),
        this->GetNumberOfWorkUnits(),
        CudaDetail::MakeCudaProgressObserver(this));
    };
    m_CudaBackend.Run(CudaDetail::CudaDetectionUnsupportedReason(input),
                      CudaDetail::CudaDetectionWorkingSet(input),
                      CudaDetail::MakeCudaProgressFunction(this),
                      device,
                      host);
    return result;
  }
}

template <typename TInputImage, typename TOutputImage>
typename CudaConstantFalseAlarmRateImageFilter<TInputImage, TOutputImage>::ResultType
CudaConstantFalseAlarmRateImageFilter<TInputImage, TOutputImage>::DetectOnDevice(
  const CudaDetail::CudaDetectionInput & input,
  int                                    device)
{
  const RegionType                      region = this->GetInput()->GetLargestPossibleRegion();
  const auto                            progress = CudaDetail::MakeCudaProgressObserver(this);
  CudaDetail::CudaDetectionDeviceImages onDevice;
  CudaDeviceImageView                   image;
  if constexpr (IsInputOnDevice)
  {
    image = this->GetInput()->GetDeviceView(region, "The input");
    onDevice.Image = &image;
  }
  OutputImageType * const output = this->GetOutput();
  if constexpr (IsOutputOnDevice)
  {
    output->SetDeviceIndex(device);
    this->AllocateOutputs();
    const CudaDeviceImageView labels = output->GetDeviceView(region);
    onDevice.Labels = &labels;
    try
    {
      ResultType result = CudaDetail::CudaDetectOnDevice(input, m_Parameters, {}, device, progress, onDevice);
      if (!result)
      {
        output->Initialize(); // its pixels are undefined
      }
      return result;
    }
    catch (...)
    {
      output->Initialize();
      throw;
    }
  }
  else
  {
    return CudaDetail::CudaDetectOnDevice(
      input, m_Parameters, CudaDetail::MakeCudaImageView(output, region), device, progress, onDevice);
  }
}

template <typename TInputImage, typename TOutputImage>
void
CudaConstantFalseAlarmRateImageFilter<TInputImage, TOutputImage>::PrintSelf(std::ostream & os, Indent indent) const
{
  Superclass::PrintSelf(os, indent);
  m_CudaBackend.Print(os, indent);
  CudaDetail::CudaPrintNoise(m_Parameters, os, indent);
  os << indent << "ProbabilityOfFalseAlarm: " << m_Parameters.ProbabilityOfFalseAlarm << std::endl;
  os << indent << "TargetWindow: " << m_Parameters.TargetWindow << std::endl;
  os << indent << "GuardWindow: " << m_Parameters.GuardWindow << std::endl;
  os << indent << "BackgroundWindow: " << m_Parameters.BackgroundWindow << std::endl;
  os << indent << "MinimumNumberOfPixels: " << m_Parameters.MinimumNumberOfPixels << std::endl;
  os << indent << "MaximumNumberOfPixels: " << m_Parameters.MaximumNumberOfPixels << std::endl;
  os << indent << "NumberOfDetections: " << this->GetNumberOfDetections() << std::endl;
  os << indent << "NumberOfTestedPixels: " << this->GetNumberOfTestedPixels() << std::endl;
  os << indent << "NumberOfPixelsAboveThreshold: " << this->GetNumberOfPixelsAboveThreshold() << std::endl;
}
} // end namespace itk

#endif
