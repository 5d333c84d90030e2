// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaPartitionedRecursiveGaussianImageFilter_hxx
#define itkCudaPartitionedRecursiveGaussianImageFilter_hxx

#include "itkCastImageFilter.h"
#include "itkCudaDetailDeviceFilter.h"
#include "itkCudaDetailKeepOnDevice.h"
#include "itkCudaDetailPartitionedGaussianEngine.h"

#include <optional>
#include <vector>

namespace itk
{
template <typename TInputImage, typename TOutputImage>
void
CudaPartitionedRecursiveGaussianImageFilter<TInputImage, TOutputImage>::SetSigma(double sigma)
{
  if (m_UseFilterWindow || m_Sigma != sigma)
  {
    m_UseFilterWindow = false;
    m_Sigma = sigma;
    this->Modified();
  }
}

template <typename TInputImage, typename TOutputImage>
void
CudaPartitionedRecursiveGaussianImageFilter<TInputImage, TOutputImage>::SetFilterWindow(double window)
{
  if (!m_UseFilterWindow || m_FilterWindow != window)
  {
    m_UseFilterWindow = true;
    m_FilterWindow = window;
    this->Modified();
  }
}

template <typename TInputImage, typename TOutputImage>
void
CudaPartitionedRecursiveGaussianImageFilter<TInputImage, TOutputImage>::SetNumberOfBlocks(SizeValueType number)
{
  if (m_AutomaticNumberOfBlocks || m_NumberOfBlocks != number)
  {
    m_AutomaticNumberOfBlocks = false;
    m_NumberOfBlocks = number;
    this->Modified();
  }
}

template <typename TInputImage, typename TOutputImage>
void
CudaPartitionedRecursiveGaussianImageFilter<TInputImage, TOutputImage>::VerifyPreconditions() ITKv5_CONST
{
  Superclass::VerifyPreconditions();
  CudaDetail::VerifyCudaPartitionedGaussianParameters(this->GetParameters());
}

template <typename TInputImage, typename TOutputImage>
void
CudaPartitionedRecursiveGaussianImageFilter<TInputImage, TOutputImage>::VerifyInputInformation() ITKv5_CONST
{
  Superclass::VerifyInputInformation();
  this->MakePlan();
}

template <typename TInputImage, typename TOutputImage>
void
CudaPartitionedRecursiveGaussianImageFilter<TInputImage, TOutputImage>::GenerateInputRequestedRegion()
{
  Superclass::GenerateInputRequestedRegion();
  if (auto * const input = const_cast<TInputImage *>(this->GetInput()))
  {
    input->SetRequestedRegionToLargestPossibleRegion();
  }
}

template <typename TInputImage, typename TOutputImage>
void
CudaPartitionedRecursiveGaussianImageFilter<TInputImage, TOutputImage>::EnlargeOutputRequestedRegion(
  DataObject * output)
{
  Superclass::EnlargeOutputRequestedRegion(output);
  output->SetRequestedRegionToLargestPossibleRegion();
}

template <typename TInputImage, typename TOutputImage>
CudaDetail::CudaPartitionedGaussianParameters
CudaPartitionedRecursiveGaussianImageFilter<TInputImage, TOutputImage>::GetParameters() const
{
  CudaDetail::CudaPartitionedGaussianParameters parameters;
  parameters.Sigma = m_Sigma;
  parameters.FilterWindow = m_UseFilterWindow ? std::optional(m_FilterWindow) : std::nullopt;
  parameters.WindowToSigmaRatio = m_WindowToSigmaRatio;
  parameters.LinePartition = m_Partition;
  parameters.LineBorders = m_LineBorders;
  parameters.IntermediateStorage = m_IntermediateStorage;
  parameters.LinesPerBlock = m_LinesPerBlock;
  parameters.NumberOfSections = m_AutomaticNumberOfBlocks ? std::nullopt : std::optional<size_t>(m_NumberOfBlocks);
  return parameters;
}

template <typename TInputImage, typename TOutputImage>
CudaDetail::CudaPartitionedGaussianPlan
CudaPartitionedRecursiveGaussianImageFilter<TInputImage, TOutputImage>::MakePlan() const
{
  const TInputImage * const                     input = this->GetInput();
  const auto                                    size = input->GetLargestPossibleRegion().GetSize();
  CudaDetail::CudaPartitionedGaussianParameters parameters = this->GetParameters();
  parameters.Spacing.assign(input->GetSpacing().Begin(), input->GetSpacing().End());
  return CudaDetail::MakePartitionedGaussianPlan(parameters, std::vector<size_t>(size.begin(), size.end()));
}

template <typename TInputImage, typename TOutputImage>
void
CudaPartitionedRecursiveGaussianImageFilter<TInputImage, TOutputImage>::UpdateOutputData(DataObject * output)
{
  if constexpr (CudaHasDeviceImage<TInputImage, TOutputImage>)
  {
    Superclass::UpdateOutputData(output);
  }
  else
  {
    const CudaDetail::CudaUpdateScope call(this, CudaDetail::CudaGetKeepableInput(*this), m_CudaBackend);
    Superclass::UpdateOutputData(output);
  }
}

template <typename TInputImage, typename TOutputImage>
void
CudaPartitionedRecursiveGaussianImageFilter<TInputImage, TOutputImage>::GenerateData()
{
  if constexpr (CudaHasDeviceImage<TInputImage, TOutputImage>)
  {
    this->GenerateDeviceImage();
  }
  else
  {
    this->GenerateHostImage();
  }
}

template <typename TInputImage, typename TOutputImage>
void
CudaPartitionedRecursiveGaussianImageFilter<TInputImage, TOutputImage>::GenerateDeviceImage()
{
  const CudaDetail::CudaWorkScope work;

  const TInputImage * const input = this->GetInput();
  TOutputImage * const      output = this->GetOutput();
  const auto                progress = CudaDetail::MakeCudaProgressFunction(this);
  const int                 device = CudaDetail::CudaPrepareDeviceRun(m_CudaBackend, input, output);
  progress(0.0f);

  CudaDetail::CudaPartitionedGaussianPlan plan = this->MakePlan();
  plan.KeepInput = true;
  CudaDetail::CudaVerifyComponents(input->GetNumberOfComponentsPerPixel(), 1, output->GetNumberOfComponentsPerPixel());
  this->AllocateOutputs();
  CudaDetail::CudaRunOnDeviceImages(plan, input, output, device, progress);
}

template <typename TInputImage, typename TOutputImage>
void
CudaPartitionedRecursiveGaussianImageFilter<TInputImage, TOutputImage>::GenerateHostImage()
{
  using InputTraits = CudaDetail::CudaImageTraits<TInputImage>;
  using OutputTraits = CudaDetail::CudaImageTraits<TOutputImage>;

  const CudaDetail::CudaPartitionedGaussianPlan plan = this->MakePlan();
  const auto                                    region = this->GetOutput()->GetRequestedRegion();

  CudaDetail::CudaVerifyInputPixels(*this, region);
  CudaDetail::CudaUsePooledOutput(this->GetOutput());
  if constexpr (InputTraits::IsSupported && OutputTraits::IsSupported)
  {
    const CudaDetail::CudaWorkScope work;

    const size_t components = this->GetInput()->GetNumberOfComponentsPerPixel();
    const size_t workingSet =
      CudaDetail::CudaWorkingSet(plan,
                                 CudaDetail::MakeCudaImageShape<TInputImage>(region, components),
                                 CudaDetail::MakeCudaImageShape<TOutputImage>(region, components));
    if (m_CudaBackend.SelectDevice(nullptr, workingSet) && this->GenerateDataOnDevice(plan))
    {
      return;
    }
    CudaDetail::CudaDownloadKeptInput(*this);
    this->AllocateOutputs();
    this->RunOnHost(plan,
                    CudaDetail::MakeCudaImageView(this->GetInput(), region),
                    CudaDetail::MakeCudaImageView(static_cast<const TOutputImage *>(this->GetOutput()), region));
  }
  else
  {
    this->AllocateOutputs();
    m_CudaBackend.SelectDevice(
      InputTraits::IsSupported ? OutputTraits::GetUnsupportedReason() : InputTraits::GetUnsupportedReason(), 0);
    this->RunAsDouble(plan);
  }
}

/** Returns false if the device ran out of memory and the host has to do the work. */
template <typename TInputImage, typename TOutputImage>
bool
CudaPartitionedRecursiveGaussianImageFilter<TInputImage, TOutputImage>::GenerateDataOnDevice(
  const CudaDetail::CudaPartitionedGaussianPlan & plan)
{
  const auto makeKeepingPlan = [&plan] {
    CudaDetail::CudaPartitionedGaussianPlan keepingPlan = plan;
    keepingPlan.KeepInput = true;
    return keepingPlan;
  };
  return CudaDetail::CudaRunWhole(
    *this, this->GetOutput()->GetRequestedRegion(), m_CudaBackend, plan, makeKeepingPlan, [this] {
      this->AllocateOutputs();
    });
}

template <typename TInputImage, typename TOutputImage>
void
CudaPartitionedRecursiveGaussianImageFilter<TInputImage, TOutputImage>::RunOnHost(
  const CudaDetail::CudaPartitionedGaussianPlan & plan,
  const CudaDetail::CudaImageView &               input,
  const CudaDetail::CudaImageView &               output)
{
  this->GetMultiThreader()->SetNumberOfWorkUnits(this->GetNumberOfWorkUnits());
  CudaDetail::CudaRunOnHost(plan, input, output, this->GetMultiThreader(), CudaDetail::MakeCudaProgressFunction(this));
}

template <typename TInputImage, typename TOutputImage>
void
CudaPartitionedRecursiveGaussianImageFilter<TInputImage, TOutputImage>::RunAsDouble(
  const CudaDetail::CudaPartitionedGaussianPlan & plan)
{
  using DoubleImageType = Image<double, ImageDimension>;
  const auto region = this->GetOutput()->GetRequestedRegion();

  const auto fromInput = CastImageFilter<TInputImage, DoubleImageType>::New();
  fromInput->SetInput(this->GetInput());
  fromInput->UpdateLargestPossibleRegion();
  const auto filtered = DoubleImageType::New();
  filtered->CopyInformation(fromInput->GetOutput());
  filtered->SetRegions(region);
  filtered->Allocate();
  this->RunOnHost(plan,
                  CudaDetail::MakeCudaImageView(static_cast<const DoubleImageType *>(fromInput->GetOutput()), region),
                  CudaDetail::MakeCudaImageView(static_cast<const DoubleImageType *>(filtered), region));
  const auto toOutput = CastImageFilter<DoubleImageType, TOutputImage>::New();
  toOutput->SetInput(filtered);
  toOutput->GraftOutput(this->GetOutput());
  toOutput->Update();
  this->GraftOutput(toOutput->GetOutput());
}

template <typename TInputImage, typename TOutputImage>
void
CudaPartitionedRecursiveGaussianImageFilter<TInputImage, TOutputImage>::PrintSelf(std::ostream & os,
                                                                                  Indent         indent) const
{
  Superclass::PrintSelf(os, indent);
  os << indent << "Sigma: " << m_Sigma << std::endl;
  os << indent << "FilterWindow: " << m_FilterWindow << std::endl;
  os << indent << "UseFilterWindow: " << (m_UseFilterWindow ? "On" : "Off") << std::endl;
  os << indent << "WindowToSigmaRatio: " << m_WindowToSigmaRatio << std::endl;
  os << indent << "Partition: " << m_Partition << std::endl;
  os << indent << "LineBorders: " << m_LineBorders << std::endl;
  os << indent << "IntermediateStorage: " << m_IntermediateStorage << std::endl;
  os << indent << "NumberOfBlocks: " << m_NumberOfBlocks << std::endl;
  os << indent << "AutomaticNumberOfBlocks: " << (m_AutomaticNumberOfBlocks ? "On" : "Off") << std::endl;
  os << indent << "LinesPerBlock: " << m_LinesPerBlock << std::endl;
  m_CudaBackend.Print(os, indent);
}
} // end namespace itk

#endif
