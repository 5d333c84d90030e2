// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaPartitionedRecursiveGaussianImageFilter_hxx
#define itkCudaPartitionedRecursiveGaussianImageFilter_hxx

#include "itkCastImageFilter.h"
#include "itkCudaGaussianFilterRun.h"
#include "itkCudaPartitionedGaussianEngine.h"

#include <algorithm>
#include <cmath>

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
  const auto verify = [this](const char * name, double value) {
    if (!(value > 0.0) || !std::isfinite(value))
    {
      itkExceptionMacro(<< name << " is " << value << "; it must be greater than zero and finite");
    }
  };
  verify("WindowToSigmaRatio", m_WindowToSigmaRatio);
  m_UseFilterWindow ? verify("FilterWindow", m_FilterWindow) : verify("Sigma", m_Sigma);

  constexpr unsigned int known[] = { 4, 8, 16, 32, 64 };
  if (std::find(std::begin(known), std::end(known), m_LinesPerBlock) == std::end(known))
  {
    itkExceptionMacro("LinesPerBlock is " << m_LinesPerBlock << "; it must be 4, 8, 16, 32 or 64");
  }
  if (m_Partition == PartitionEnum::Exact && !m_AutomaticNumberOfBlocks && m_NumberOfBlocks < 1)
  {
    itkExceptionMacro("NumberOfBlocks is " << m_NumberOfBlocks << "; it must be at least 1");
  }
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
double
CudaPartitionedRecursiveGaussianImageFilter<TInputImage, TOutputImage>::GetSigmaInPixels(unsigned int axis) const
{
  return m_UseFilterWindow ? m_FilterWindow / m_WindowToSigmaRatio
                           : m_Sigma / std::abs(this->GetInput()->GetSpacing()[axis]);
}

template <typename TInputImage, typename TOutputImage>
void
CudaPartitionedRecursiveGaussianImageFilter<TInputImage, TOutputImage>::VerifyLines() const
{
  const auto size = this->GetInput()->GetLargestPossibleRegion().GetSize();
  for (unsigned int d = 0; d < ImageDimension; ++d)
  {
    if (size[d] < CudaPartitionedMinimumLineLength)
    {
      itkExceptionMacro("The number of pixels along dimension " << d << " is " << size[d]
                                                                << "; this filter requires at least "
                                                                << CudaPartitionedMinimumLineLength);
    }
    const SizeValueType limit = CudaMaximumNumberOfBlocks(size[d]);
    if (m_Partition == PartitionEnum::Exact && !m_AutomaticNumberOfBlocks && m_NumberOfBlocks > limit)
    {
      itkExceptionMacro("NumberOfBlocks is " << m_NumberOfBlocks << "; lines of " << size[d] << " pixels (dimension "
                                             << d << ") can be cut into at most " << limit
                                             << (limit == 1 ? " block" : " blocks") << " of 16 pixels or more");
    }
    const double spacing = this->GetInput()->GetSpacing()[d];
    if (!std::isfinite(this->GetSigmaInPixels(d)))
    {
      itkExceptionMacro("Spacing along dimension " << d << " is " << spacing << "; it must be finite and not zero");
    }
  }
}

template <typename TInputImage, typename TOutputImage>
CudaPartitionedGaussianPlan
CudaPartitionedRecursiveGaussianImageFilter<TInputImage, TOutputImage>::MakePlan() const
{
  const auto                  size = this->GetInput()->GetLargestPossibleRegion().GetSize();
  CudaPartitionedGaussianPlan plan;
  plan.Partition = m_Partition;
  plan.LineBorders = m_LineBorders;
  plan.IntermediateStorage = m_IntermediateStorage;
  plan.LinesPerBlock = m_LinesPerBlock;
  for (unsigned int axis = 0; axis < ImageDimension; ++axis)
  {
    CudaPartitionedGaussianPass pass;
    pass.Axis = axis;
    pass.SigmaInPixels = this->GetSigmaInPixels(axis);
    pass.CentralRadius = CudaCentralPixelRadius(m_WindowToSigmaRatio * pass.SigmaInPixels);
    if (m_Partition == PartitionEnum::Exact)
    {
      pass.NumberOfBlocks = m_AutomaticNumberOfBlocks ? CudaAutomaticNumberOfBlocks(size[axis]) : m_NumberOfBlocks;
    }
    plan.Passes.push_back(pass);
  }
  return plan;
}

template <typename TInputImage, typename TOutputImage>
void
CudaPartitionedRecursiveGaussianImageFilter<TInputImage, TOutputImage>::GenerateData()
{
  using InputTraits = CudaImageTraits<TInputImage>;
  using OutputTraits = CudaImageTraits<TOutputImage>;

  this->VerifyLines();
  const CudaPartitionedGaussianPlan plan = this->MakePlan();
  const auto                        region = this->GetOutput()->GetRequestedRegion();
  const auto                        runOnHost = [&](const CudaImageView & input, const CudaImageView & output) {
    this->GetMultiThreader()->SetNumberOfWorkUnits(this->GetNumberOfWorkUnits());
    CudaPartitionedGaussianFilterOnHost(plan, input, output, this->GetMultiThreader(), MakeCudaProgressFunction(this));
  };

  CudaVerifyBufferedRegion(this->GetInput(), region);
  CudaUsePooledOutput(this->GetOutput());
  this->AllocateOutputs();
  if constexpr (InputTraits::IsSupported && OutputTraits::IsSupported)
  {
    const CudaImageView input = MakeCudaImageView(this->GetInput(), region);
    const CudaImageView output = MakeCudaImageView(static_cast<const TOutputImage *>(this->GetOutput()), region);
    m_CudaBackend.Run(
      nullptr,
      CudaPartitionedGaussianWorkingSet(plan, input, output),
      [&](int device) { CudaPartitionedGaussianFilter(plan, input, output, device, MakeCudaProgressFunction(this)); },
      [&] { runOnHost(input, output); });
  }
  else
  {
    // Other pixel types are filtered as double.
    using DoubleImageType = Image<double, ImageDimension>;
    using FromInputType = CastImageFilter<TInputImage, DoubleImageType>;
    using ToOutputType = CastImageFilter<DoubleImageType, TOutputImage>;
    const char * const unsupported =
      InputTraits::IsSupported ? OutputTraits::GetUnsupportedReason() : InputTraits::GetUnsupportedReason();
    const auto host = [&] {
      const auto fromInput = FromInputType::New();
      fromInput->SetInput(this->GetInput());
      fromInput->UpdateLargestPossibleRegion();
      const auto filtered = DoubleImageType::New();
      filtered->CopyInformation(fromInput->GetOutput());
      filtered->SetRegions(region);
      filtered->Allocate();
      runOnHost(MakeCudaImageView(static_cast<const DoubleImageType *>(fromInput->GetOutput()), region),
                MakeCudaImageView(static_cast<const DoubleImageType *>(filtered), region));
      const auto toOutput = ToOutputType::New();
      toOutput->SetInput(filtered);
      toOutput->GraftOutput(this->GetOutput());
      toOutput->Update();
      this->GraftOutput(toOutput->GetOutput());
    };
    m_CudaBackend.Run(
      unsupported, 0, [](int) {}, host);
  }
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
