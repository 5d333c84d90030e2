// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaRegionPartitionImageFilter_hxx
#define itkCudaRegionPartitionImageFilter_hxx

#include "itkCudaDetailDeviceRun.h"
#include "itkCudaDetailFilterRun.h"
#include "itkCudaDetailImageTraits.h"
#include "itkCudaDetailPixelContainer.h"

#include <limits>

namespace itk
{
template <typename TInputImage, typename TOutputImage>
CudaRegionPartitionImageFilter<TInputImage, TOutputImage>::CudaRegionPartitionImageFilter()
{
  this->ProcessObject::SetOutput("Partition", this->MakeOutput("Partition"));
}

template <typename TInputImage, typename TOutputImage>
ProcessObject::DataObjectPointer
CudaRegionPartitionImageFilter<TInputImage, TOutputImage>::MakeOutput(
  const ProcessObject::DataObjectIdentifierType & name)
{
  if (name == "Partition")
  {
    return CudaRegionPartition::New().GetPointer();
  }
  return Superclass::MakeOutput(name);
}

template <typename TInputImage, typename TOutputImage>
CudaRegionPartition *
CudaRegionPartitionImageFilter<TInputImage, TOutputImage>::GetPartition()
{
  return dynamic_cast<CudaRegionPartition *>(this->ProcessObject::GetOutput("Partition"));
}

template <typename TInputImage, typename TOutputImage>
const CudaRegionPartition *
CudaRegionPartitionImageFilter<TInputImage, TOutputImage>::GetPartition() const
{
  return dynamic_cast<const CudaRegionPartition *>(this->ProcessObject::GetOutput("Partition"));
}

template <typename TInputImage, typename TOutputImage>
void
CudaRegionPartitionImageFilter<TInputImage, TOutputImage>::VerifyPreconditions() ITKv5_CONST
{
  Superclass::VerifyPreconditions();
  CudaDetail::VerifyCudaRegionPartitionParameters(m_Parameters);
}

template <typename TInputImage, typename TOutputImage>
void
CudaRegionPartitionImageFilter<TInputImage, TOutputImage>::GenerateInputRequestedRegion()
{
  CudaDetail::CudaRequestWholeInputs(*this);
}

template <typename TInputImage, typename TOutputImage>
void
CudaRegionPartitionImageFilter<TInputImage, TOutputImage>::EnlargeOutputRequestedRegion(DataObject * output)
{
  Superclass::EnlargeOutputRequestedRegion(output);
  // A request for the partition does not say which part of the label image is wanted, so always compute all of it.
  this->GetOutput()->SetRequestedRegionToLargestPossibleRegion();
}

template <typename TInputImage, typename TOutputImage>
CudaDetail::CudaRegionPartitionObserver
CudaRegionPartitionImageFilter<TInputImage, TOutputImage>::MakeObserver()
{
  CudaDetail::CudaRegionPartitionObserver observer;
  observer.Progress = CudaDetail::MakeCudaProgressObserver(this);
  if (this->HasObserver(IterationEvent()))
  {
    observer.Iteration = [this](unsigned int iteration, size_t numberOfRegions, double description) {
      m_CurrentIteration = iteration;
      m_CurrentNumberOfRegions = numberOfRegions;
      m_CurrentDescription = description;
      this->InvokeEvent(IterationEvent());
    };
  }
  return observer;
}

template <typename TInputImage, typename TOutputImage>
void
CudaRegionPartitionImageFilter<TInputImage, TOutputImage>::GenerateData()
{
  const CudaDetail::CudaWorkScope work;
  this->GetPartition()->Initialize();
  if constexpr (!IsOutputOnDevice)
  {
    CudaDetail::CudaUsePooledPixelContainer(this->GetOutput(), this->GetOutput()->GetRequestedRegion());
    this->AllocateOutputs();
  }
  CudaRegionPartitionResult result = this->Divide();
  if (result.Stop == StopEnum::Aborted)
  {
    CudaDetail::CudaThrowAborted(*this);
  }
  if (result.Regions.size() > std::numeric_limits<OutputPixelType>::max())
  {
    itkExceptionMacro("The number of regions is "
                      << result.Regions.size() << "; a label image of unsigned short holds at most "
                      << std::numeric_limits<OutputPixelType>::max() << ": take one of unsigned int");
  }
  this->GetPartition()->SetResult(std::move(result), this->GetInput());
  this->UpdateProgress(1.0f);
}

template <typename TInputImage, typename TOutputImage>
CudaRegionPartitionResult
CudaRegionPartitionImageFilter<TInputImage, TOutputImage>::Divide()
{
  const InputImageType *               image = this->GetInput();
  const RegionType                     region = image->GetLargestPossibleRegion();
  CudaDetail::CudaRegionPartitionInput input;
  if constexpr (!IsInputOnDevice)
  {
    input.Image = CudaDetail::MakeCudaImageView(image, region);
  }
  input.FirstIndex = { { region.GetIndex(0), region.GetIndex(1) } };
  const auto validMask = CudaDetail::MakeCudaOptionalView(this->GetValidMask(), "ValidMask");
  const auto initialLabels = CudaDetail::MakeCudaOptionalView(this->GetInitialLabels(), "InitialLabels");
  input.ValidMask = validMask ? &*validMask : nullptr;
  input.InitialLabels = initialLabels ? &*initialLabels : nullptr;
  return this->Run(input);
}

template <typename TInputImage, typename TOutputImage>
CudaRegionPartitionResult
CudaRegionPartitionImageFilter<TInputImage, TOutputImage>::Run(const CudaDetail::CudaRegionPartitionInput & input)
{
  const CudaDetail::CudaRegionPartitionObserver observer = this->MakeObserver();
  if constexpr (IsInputOnDevice)
  {
    const int device = this->GetInput()->GetDeviceIndex();
    CudaDetail::CudaSelectDeviceOfImage(m_CudaBackend, device);
    return this->RunOnDevice(input, device, observer);
  }
  else if constexpr (IsOutputOnDevice)
  {
    const int device = CudaDetail::CudaSelectDeviceOfOutput(m_CudaBackend);
    return this->RunOnDevice(input, device, observer);
  }
  else
  {
    CudaRegionPartitionResult result;
    const auto                device = [&](int index) { result = this->RunOnDevice(input, index, observer); };
    const auto                host = [&] {
      const CudaDetail::CudaImageView labels =
        CudaDetail::MakeCudaImageView(this->GetOutput(), this->GetInput()->GetLargestPossibleRegion());
      result =
        CudaDetail::CudaRegionPartitionOnHost(input, m_Parameters, labels, this->GetNumberOfWorkUnits(), observer);
    };
    m_CudaBackend.Run(CudaDetail::CudaRegionPartitionUnsupportedReason(input),
                      CudaDetail::CudaRegionPartitionWorkingSet(input, m_Parameters),
                      CudaDetail::MakeCudaProgressFunction(this),
                      device,
                      host);
    return result;
  }
}

template <typename TInputImage, typename TOutputImage>
CudaRegionPartitionResult
CudaRegionPartitionImageFilter<TInputImage, TOutputImage>::RunOnDevice(
  const CudaDetail::CudaRegionPartitionInput &    input,
  int                                             device,
  const CudaDetail::CudaRegionPartitionObserver & observer)
{
  const RegionType                            region = this->GetInput()->GetLargestPossibleRegion();
  CudaDetail::CudaRegionPartitionDeviceImages onDevice;
  CudaDeviceImageView                         image;
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
      CudaRegionPartitionResult result = CudaDetail::CudaRegionPartitionOnDevice(
        input, m_Parameters, {}, this->GetNumberOfWorkUnits(), device, observer, onDevice);
      if (result.Stop == StopEnum::Aborted)
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
    return CudaDetail::CudaRegionPartitionOnDevice(input,
                                                   m_Parameters,
                                                   CudaDetail::MakeCudaImageView(output, region),
                                                   this->GetNumberOfWorkUnits(),
                                                   device,
                                                   observer,
                                                   onDevice);
  }
}

template <typename TInputImage, typename TOutputImage>
void
CudaRegionPartitionImageFilter<TInputImage, TOutputImage>::PrintSelf(std::ostream & os, Indent indent) const
{
  Superclass::PrintSelf(os, indent);
  m_CudaBackend.Print(os, indent);
  CudaDetail::CudaPrintNoise(m_Parameters, os, indent);
  os << indent << "SegmentCost: " << m_Parameters.SegmentCost << std::endl;
  os << indent << "BlockSize: " << m_Parameters.BlockSize << std::endl;
  os << indent << "MinimumNumberOfPixels: " << m_Parameters.MinimumNumberOfPixels << std::endl;
  os << indent << "MaximumNumberOfIterations: " << m_Parameters.MaximumNumberOfIterations << std::endl;
  os << indent << "AllowMerging: " << (m_Parameters.AllowMerging ? "On" : "Off") << std::endl;
  os << indent << "LabelsOnly: " << (m_Parameters.LabelsOnly ? "On" : "Off") << std::endl;
  os << indent << "NumberOfRegions: " << this->GetNumberOfRegions() << std::endl;
  os << indent << "Description: " << this->GetDescription() << std::endl;
  os << indent << "NumberOfLooksUsed: " << this->GetNumberOfLooksUsed() << std::endl;
  os << indent << "NumberOfIterations: " << this->GetNumberOfIterations() << std::endl;
  os << indent << "Stop: " << this->GetStop() << std::endl;
}
} // end namespace itk

#endif
