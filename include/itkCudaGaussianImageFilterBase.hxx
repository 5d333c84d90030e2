// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaGaussianImageFilterBase_hxx
#define itkCudaGaussianImageFilterBase_hxx

#include "itkCudaDetailDeviceFilter.h"
#include "itkCudaDetailFilterRun.h"
#include "itkCudaDetailHostFilter.h"
#include "itkCudaDetailHostScope.h"
#include "itkCudaDetailKeepOnDevice.h"
#include "itkProgressAccumulator.h"

namespace itk
{
template <typename TSuperclass>
CudaDetail::CudaGaussianParameters
CudaGaussianImageFilterBase<TSuperclass>::MakeParameters() const
{
  const auto &                       spacing = this->GetInput()->GetSpacing();
  CudaDetail::CudaGaussianParameters parameters;
  parameters.Spacing.assign(spacing.Begin(), spacing.End());
  parameters.Sigma.assign(InputImageType::ImageDimension, this->GetConstSigma());
  parameters.NormalizeAcrossScale = this->GetNormalizeAcrossScale();
  parameters.KeepInput = m_KeepInput;
  parameters.Approximation = m_Approximation;
  parameters.Boundary = this->GetBoundary();
  return parameters;
}

template <typename TSuperclass>
void
CudaGaussianImageFilterBase<TSuperclass>::VerifyLineLengths() const
{
  const auto size = this->GetInput()->GetLargestPossibleRegion().GetSize();
  for (unsigned int d = 0; d < size.GetSizeDimension(); ++d)
  {
    if (size[d] < this->GetMinimumLineLength())
    {
      itkGenericExceptionMacro(<< this->GetNameOfClass() << ": the number of pixels along dimension " << d << " is "
                               << size[d] << "; this filter requires at least four");
    }
  }
}

template <typename TSuperclass>
void
CudaGaussianImageFilterBase<TSuperclass>::VerifyInputInformation() ITKv5_CONST
{
  Superclass::VerifyInputInformation();
  if constexpr (AreImagesSupported)
  {
    this->VerifyLineLengths();
    this->MakePlan(); // throws for parameters that make no plan
  }
}

template <typename TSuperclass>
void
CudaGaussianImageFilterBase<TSuperclass>::UpdateOutputData(DataObject * output)
{
  if constexpr (IsOnDevice)
  {
    Superclass::UpdateOutputData(output);
  }
  else
  {
    const CudaDetail::CudaUpdateCall call(this, CudaDetail::CudaGetTakeableInput<Self>(*this), m_CudaBackend);
    Superclass::UpdateOutputData(output);
  }
}

template <typename TSuperclass>
void
CudaGaussianImageFilterBase<TSuperclass>::AllocateOutputs()
{
  CudaDetail::CudaUsePooledOutput(this->GetOutput());
  Superclass::AllocateOutputs();
}

template <typename TSuperclass>
void
CudaGaussianImageFilterBase<TSuperclass>::GenerateData()
{
  if constexpr (IsOnDevice)
  {
    this->GenerateDeviceImage();
  }
  else
  {
    this->GenerateHostImage();
  }
}

template <typename TSuperclass>
void
CudaGaussianImageFilterBase<TSuperclass>::GenerateHostImage()
{
  const bool isSuperclassHost = this->IsSuperclassEnough();

  // This comes first: a filter that runs in place would otherwise hand the input's empty memory to its output.
  CudaDetail::CudaVerifyInputPixels<Self>(*this, this->GetOutput()->GetRequestedRegion());
  if constexpr (AreImagesSupported)
  {
    CudaDetail::CudaGaussianPlan plan = this->MakePlan();
    this->AddInputsTo(plan);
    if (this->SelectDevice(plan) && this->GenerateDataOnDevice(plan))
    {
      return;
    }
    CudaDetail::CudaBringInputToHost<Self>(*this);
    if (!isSuperclassHost)
    {
      this->GenerateDataOnHost(plan);
      return;
    }
  }
  else
  {
    const char * const unsupported =
      InputTraits::IsSupported ? OutputTraits::GetUnsupportedReason() : InputTraits::GetUnsupportedReason();
    m_CudaBackend.SelectDevice(unsupported, 0);
    if (!isSuperclassHost)
    {
      itkGenericExceptionMacro(<< this->GetNameOfClass() << ": Approximation is " << m_Approximation
                               << " and BoundaryMode is " << m_BoundaryMode
                               << "; images of this type need Deriche and Nearest: " << unsupported);
    }
  }
  // Filters inside the superclass may be of this module too: they are not to take every pass over the link.
  const CudaDetail::CudaHostScope scope;
  this->GenerateDataBySuperclass();
}

/** Whether the run of device images may use the input's memory: the image alone holds it, the module made it, and it
 * is as the plans need it. */
template <typename TSuperclass>
bool
CudaGaussianImageFilterBase<TSuperclass>::TakesInputMemory() const
{
  if constexpr (std::is_same_v<InputImageType, OutputImageType>)
  {
    const InputImageType * const input = this->GetInput();
    const auto &                 memory = input->GetDeviceView().Memory;
    return this->MayOverwriteInput() && memory.use_count() == 1 && memory->IsPrivate() &&
           this->GetOutput()->GetRequestedRegion() == input->GetBufferedRegion() &&
           std::is_floating_point_v<typename InputImageType::ComponentType>;
  }
  return false;
}

template <typename TSuperclass>
void
CudaGaussianImageFilterBase<TSuperclass>::GenerateDeviceImage()
{
  auto * const            input = const_cast<InputImageType *>(this->GetInput());
  OutputImageType * const output = this->GetOutput();
  const auto              progress = CudaDetail::MakeCudaProgressFunction(this);
  const int               device = CudaDetail::CudaPrepareDeviceRun(m_CudaBackend, input, output);
  progress(0.0f);

  m_KeepInput = !this->TakesInputMemory();
  CudaDetail::CudaGaussianPlan plan = this->MakePlan();
  this->AddInputsTo(plan);
  CudaDetail::CudaVerifyComponents(
    input->GetNumberOfComponentsPerPixel(), plan.Results.size(), output->GetNumberOfComponentsPerPixel());

  if (plan.Results.front() != 0)
  {
    this->AllocateOutputs();
  }
  else if constexpr (std::is_same_v<InputImageType, OutputImageType>)
  {
    output->SetBufferedRegion(output->GetRequestedRegion());
    output->SetDeviceView(input->GetDeviceView());
  }
  try
  {
    CudaDetail::CudaRunOnDeviceImages(plan, input, output, device, progress);
  }
  catch (...)
  {
    if (!m_KeepInput)
    {
      input->ReleaseData(); // it may be overwritten in part
    }
    throw;
  }
  if (this->MayOverwriteInput())
  {
    input->ReleaseData();
  }
}

template <typename TSuperclass>
bool
CudaGaussianImageFilterBase<TSuperclass>::SelectDevice(const CudaDetail::CudaGaussianPlan & plan)
{
  const auto   region = this->GetOutput()->GetRequestedRegion();
  const size_t components = this->GetInput()->GetNumberOfComponentsPerPixel();
  const size_t given = components * plan.Results.size();
  const size_t outputComponents = this->GetOutput()->GetNumberOfComponentsPerPixel();

  const char * unsupported = nullptr;
  if (outputComponents > given)
  {
    // The superclass leaves the others as they are.
    unsupported = "the output has more components than the filter gives";
  }
  else
  {
    // The superclass would write beyond a pixel that has fewer.
    CudaDetail::CudaVerifyComponents(components, plan.Results.size(), outputComponents);
  }
  m_CudaBackend.HostPreference = m_CudaBackend.IsOverride ? this->GetHostPreference() : std::string();
  return m_CudaBackend.SelectDevice(
    unsupported,
    CudaDetail::CudaGaussianWorkingSet(plan,
                                       CudaDetail::MakeCudaImageShape<InputImageType>(region, components),
                                       CudaDetail::MakeCudaImageShape<OutputImageType>(region, given)));
}

/** Returns false if the device ran out of memory, and the host is to do the work. */
template <typename TSuperclass>
bool
CudaGaussianImageFilterBase<TSuperclass>::GenerateDataOnDevice(const CudaDetail::CudaGaussianPlan & plan)
{
  const OutputImageType * const output = this->GetOutput();
  const auto                    region = output->GetRequestedRegion();
  CudaDetail::CudaKeptRun<Self> kept(*this, region, m_CudaBackend);
  if (!kept.KeepsOutput())
  {
    this->AllocateOutputs();
  }
  if (kept.IsNeeded())
  {
    m_KeepInput = true;
    const CudaDetail::CudaGaussianPlan keepingPlan = this->MakePlan();
    m_KeepInput = false;
    return kept.Run(keepingPlan);
  }
  return region.GetNumberOfPixels() == 0 ||
         CudaDetail::CudaRunOnDevice(plan,
                                     CudaDetail::MakeCudaImageView(this->GetInput(), region),
                                     CudaDetail::MakeCudaImageView(output, region),
                                     m_CudaBackend,
                                     CudaDetail::MakeCudaProgressFunction(this));
}

template <typename TSuperclass>
void
CudaGaussianImageFilterBase<TSuperclass>::GenerateDataOnHost(const CudaDetail::CudaGaussianPlan & plan)
{
  this->AllocateOutputs();
  const OutputImageType * const output = this->GetOutput();
  const auto                    region = output->GetRequestedRegion();
  if (region.GetNumberOfPixels() > 0)
  {
    this->GetMultiThreader()->SetNumberOfWorkUnits(this->GetNumberOfWorkUnits());
    const auto input = CudaDetail::MakeCudaImageView(this->GetInput(), region);
    const auto view = CudaDetail::MakeCudaImageView(output, region);
    const auto progress = CudaDetail::MakeCudaProgressFunction(this);
    if (plan.Mask)
    {
      CudaDetail::RunMaskedGaussianPlanOnHost(plan, input, *plan.Mask, view, this->GetMultiThreader(), progress);
    }
    else
    {
      CudaDetail::RunGaussianPlanOnHost(plan, input, view, this->GetMultiThreader(), progress);
    }
  }
}

template <typename TSuperclass>
void
CudaGaussianImageFilterBase<TSuperclass>::CopyParametersTo(TSuperclass & filter) const
{
  filter.SetSigma(this->GetConstSigma());
  filter.SetNormalizeAcrossScale(this->GetNormalizeAcrossScale());
}

template <typename TSuperclass>
void
CudaGaussianImageFilterBase<TSuperclass>::GenerateDataBySuperclass()
{
  if constexpr (IsComposite && !IsOnDevice)
  {
    const auto filter = CudaDetail::CudaHostFilter<TSuperclass>::New();
    filter->SetInput(this->GetInput());
    filter->SetNumberOfWorkUnits(this->GetNumberOfWorkUnits());
    this->CopyParametersTo(*filter);

    const auto progress = ProgressAccumulator::New();
    progress->SetMiniPipelineFilter(this);
    progress->RegisterInternalFilter(filter, 1.0f);

    filter->GraftOutput(this->GetOutput());
    filter->Update();
    this->GraftOutput(filter->GetOutput());
  }
  else
  {
    Superclass::GenerateData();
  }
}

template <typename TSuperclass>
void
CudaGaussianImageFilterBase<TSuperclass>::PrintSelf(std::ostream & os, Indent indent) const
{
  Superclass::PrintSelf(os, indent);
  os << indent << "Approximation: " << m_Approximation << std::endl;
  os << indent << "BoundaryMode: " << m_BoundaryMode << std::endl;
  os << indent << "BoundaryValue: " << m_BoundaryValue << std::endl;
  m_CudaBackend.Print(os, indent);
}
} // end namespace itk

#endif
