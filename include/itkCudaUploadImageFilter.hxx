// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaUploadImageFilter_hxx
#define itkCudaUploadImageFilter_hxx

#include "itkCudaDetailDeviceTransfer.h"
#include "itkCudaDetailFilterRun.h"

namespace itk
{
template <typename TInputImage, typename TOutputImage>
void
CudaUploadImageFilter<TInputImage, TOutputImage>::SetDeviceIndex(int index)
{
  if (index < -1)
  {
    itkExceptionMacro("DeviceIndex is " << index << "; it must be a device's index or -1 for the configuration's");
  }
  if (m_DeviceIndex != index)
  {
    m_DeviceIndex = index;
    this->Modified();
  }
}

template <typename TInputImage, typename TOutputImage>
void
CudaUploadImageFilter<TInputImage, TOutputImage>::GenerateData()
{
  const CudaDetail::CudaWorkScope work;

  const InputImageType * const input = this->GetInput();
  OutputImageType * const      output = this->GetOutput();
  const auto                   region = output->GetRequestedRegion();
  CudaDetail::CudaVerifyComponents(input->GetNumberOfComponentsPerPixel(), 1, output->GetNumberOfComponentsPerPixel());
  const CudaDetail::CudaImageView pixels = CudaDetail::MakeCudaImageView(input, region);
  output->SetDeviceIndex(m_DeviceIndex);
  this->AllocateOutputs();
  CudaDetail::CudaQueueUpload(pixels, output->GetDeviceView(region), CudaDetail::MakeCudaProgressFunction(this))();
}

template <typename TInputImage, typename TOutputImage>
void
CudaUploadImageFilter<TInputImage, TOutputImage>::PrintSelf(std::ostream & os, Indent indent) const
{
  Superclass::PrintSelf(os, indent);
  os << indent << "DeviceIndex: " << m_DeviceIndex << std::endl;
}
} // end namespace itk

#endif
