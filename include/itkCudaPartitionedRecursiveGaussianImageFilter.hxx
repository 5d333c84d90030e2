// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaPartitionedRecursiveGaussianImageFilter_hxx
#define itkCudaPartitionedRecursiveGaussianImageFilter_hxx

#include "itkCastImageFilter.h"
#include "itkCudaDetailPartitionedGaussianEngine.h"
#include "itkCudaDetailPlanRun.h"

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
  CudaDetail::CudaRequestWholeInputs(*this);
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
  CudaDetail::CudaUpdateInScope(*this, m_CudaBackend, [&] { Superclass::UpdateOutputData(output); });
}

template <typename TInputImage, typename TOutputImage>
void
CudaPartitionedRecursiveGaussianImageFilter<TInputImage, TOutputImage>::GenerateData()
{
  using InputTraits = CudaDetail::CudaImageTraits<TInputImage>;
  using OutputTraits = CudaDetail::CudaImageTraits<TOutputImage>;
  constexpr bool onDevice = CudaHasDeviceImage<TInputImage, TOutputImage>;

  const CudaDetail::CudaPartitionedGaussianPlan plan = this->MakePlan();
  if constexpr (onDevice || (InputTraits::IsSupported && OutputTraits::IsSupported))
  {
    const CudaDetail::CudaWorkScope work;
    CudaDetail::CudaVerifyComponents(
      this->GetInput()->GetNumberOfComponentsPerPixel(), 1, this->GetOutput()->GetNumberOfComponentsPerPixel());
    CudaDetail::CudaRunPlan(*this, m_CudaBackend, plan, [this] { this->AllocateOutputs(); });
  }
  else
  {
    CudaDetail::CudaVerifyInputPixels(*this, this->GetOutput()->GetRequestedRegion());
    CudaDetail::CudaUsePooledOutput(this->GetOutput());
    this->AllocateOutputs();
    m_CudaBackend.SelectDevice(
      InputTraits::IsSupported ? OutputTraits::GetUnsupportedReason() : InputTraits::GetUnsupportedReason(), 0);
    this->RunAsDouble(plan);
  }
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
  this->GetMultiThreader()->SetNumberOfWorkUnits(this->GetNumberOfWorkUnits());
  CudaDetail::CudaRunOnHost(
    plan,
    CudaDetail::MakeCudaImageView(static_cast<const DoubleImageType *>(fromInput->GetOutput()), region),
    CudaDetail::MakeCudaImageView(static_cast<const DoubleImageType *>(filtered), region),
    this->GetMultiThreader(),
    CudaDetail::MakeCudaProgressFunction(this));
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
