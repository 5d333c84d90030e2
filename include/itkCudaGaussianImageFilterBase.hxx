// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaGaussianImageFilterBase_hxx
#define itkCudaGaussianImageFilterBase_hxx

#include "itkCudaDetailPlanRun.h"
#include "itkMetaDataObject.h"
#include "itkProgressAccumulator.h"

#include <algorithm>
#include <sstream>

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
  parameters.Approximation = m_Parameters.Approximation;
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
    this->MakePlan(); // throws if the parameters do not make a valid plan
  }
  if (m_CudaBackend.Streaming == CudaFiltersEnums::Streaming::On)
  {
    const std::string obstacle = this->GetSlabObstacle();
    if (!obstacle.empty())
    {
      itkExceptionMacro("Streaming is On, but the image cannot be cut into slabs: " << obstacle
                                                                                    << "; it must be Automatic or Off");
    }
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
    const bool                        streams = m_SlabRequests.Streams();
    const CudaDetail::CudaUpdateScope scope(
      this, streams ? nullptr : CudaDetail::CudaGetKeepableInput<Self>(*this), m_CudaBackend);
    if (!streams)
    {
      Superclass::UpdateOutputData(output);
      return;
    }
    this->KeepOverlap();
    try
    {
      Superclass::UpdateOutputData(output);
    }
    catch (...)
    {
      m_SlabRequests.End();
      this->ResetPipeline(); // ITK does not reset it if the input's source threw
      throw;
    }
  }
}

template <typename TSuperclass>
CudaDetail::CudaImageView
CudaGaussianImageFilterBase<TSuperclass>::GetWholeInputShape() const
{
  const InputImageType * const input = this->GetInput();
  return CudaDetail::MakeCudaImageShape<InputImageType>(input->GetLargestPossibleRegion(),
                                                        input->GetNumberOfComponentsPerPixel());
}

template <typename TSuperclass>
CudaDetail::CudaImageView
CudaGaussianImageFilterBase<TSuperclass>::GetWholeOutputShape(const CudaDetail::CudaGaussianPlan & plan) const
{
  const InputImageType * const input = this->GetInput();
  return CudaDetail::MakeCudaImageShape<OutputImageType>(input->GetLargestPossibleRegion(),
                                                         input->GetNumberOfComponentsPerPixel() * plan.Results.size());
}

template <typename TSuperclass>
CudaDetail::CudaGaussianSlabShape
CudaGaussianImageFilterBase<TSuperclass>::GetSlabShape(const CudaDetail::CudaGaussianPlan & plan) const
{
  return CudaDetail::CudaGetGaussianSlabShape(plan, this->GetWholeInputShape(), this->GetWholeOutputShape(plan));
}

template <typename TSuperclass>
std::string
CudaGaussianImageFilterBase<TSuperclass>::GetSlabObstacle() const
{
  if constexpr (IsOnDevice)
  {
    return "device images are filtered whole";
  }
  else if constexpr (!AreImagesSupported)
  {
    return InputTraits::IsSupported ? OutputTraits::GetUnsupportedReason() : InputTraits::GetUnsupportedReason();
  }
  else
  {
    if (this->HasFurtherInput())
    {
      return "a mask needs the whole image";
    }
    const CudaDetail::CudaGaussianPlan plan = this->MakePlan();
    if constexpr (CudaDetail::CudaDevicePixelTraits<typename OutputImageType::PixelType>::Length != 0)
    {
      const size_t given = this->GetInput()->GetNumberOfComponentsPerPixel() * plan.Results.size();
      if (CudaDetail::CudaDevicePixelTraits<typename OutputImageType::PixelType>::Length != given)
      {
        return "the output has not as many components as the filter gives, " + std::to_string(given);
      }
    }
    try
    {
      this->GetSlabShape(plan);
    }
    catch (const ExceptionObject & exception)
    {
      return exception.GetDescription();
    }
    return {};
  }
}

template <typename TSuperclass>
template <typename TRegion>
TRegion
CudaGaussianImageFilterBase<TSuperclass>::GetPlanes(TRegion                                      region,
                                                    unsigned int                                 axis,
                                                    const CudaDetail::CudaSlabRequests::Planes & planes)
{
  region.SetIndex(axis, region.GetIndex(axis) + static_cast<IndexValueType>(planes.first));
  region.SetSize(axis, planes.second);
  return region;
}

template <typename TSuperclass>
template <typename TImage>
CudaDetail::CudaSlabRequests::Planes
CudaGaussianImageFilterBase<TSuperclass>::GetHeldPlanes(const TImage * image, unsigned int axis)
{
  const auto & largest = image->GetLargestPossibleRegion();
  const auto & buffered = image->GetBufferedRegion();
  for (unsigned int d = 0; d < TImage::ImageDimension; ++d)
  {
    if (d != axis && buffered.GetSize(d) != largest.GetSize(d))
    {
      return { 0, 0 };
    }
  }
  return { static_cast<size_t>(buffered.GetIndex(axis) - largest.GetIndex(axis)), buffered.GetSize(axis) };
}

template <typename TSuperclass>
bool
CudaGaussianImageFilterBase<TSuperclass>::HasWholeInput() const
{
  const InputImageType * const  input = this->GetInput();
  const OutputImageType * const output = this->GetOutput();
  return output->GetRequestedRegion() == output->GetLargestPossibleRegion() && !input->GetSource() &&
         input->GetBufferedRegion() == input->GetLargestPossibleRegion();
}

template <typename TSuperclass>
bool
CudaGaussianImageFilterBase<TSuperclass>::OverwritesInputOfSlabs() const
{
  return m_Parameters.BoundaryMode != CudaFiltersEnums::BoundaryMode::Nearest && CudaDetail::CudaMayRunInPlace(*this);
}

/** With slabs, enlarges the request to whole planes, but not along the axis of the slabs. */
template <typename TSuperclass>
void
CudaGaussianImageFilterBase<TSuperclass>::EnlargeOutputRequestedRegion(DataObject * output)
{
  const bool streams =
    m_CudaBackend.GetStreaming() == CudaFiltersEnums::Streaming::On && this->GetSlabObstacle().empty();
  m_SlabRequests.Begin(streams, *this);
  if constexpr (AreImagesSupported && !IsOnDevice)
  {
    auto * const image = dynamic_cast<OutputImageType *>(output);
    if (streams && image)
    {
      const unsigned int axis = this->GetSlabShape(this->MakePlan()).Axis;
      auto               region = image->GetLargestPossibleRegion();
      region.SetIndex(axis, image->GetRequestedRegion().GetIndex(axis));
      region.SetSize(axis, image->GetRequestedRegion().GetSize(axis));
      image->SetRequestedRegion(region);
      return;
    }
  }
  Superclass::EnlargeOutputRequestedRegion(output);
}

/** With slabs, requests only the planes that GenerateData() needs first. GenerateData() requests the others itself. */
template <typename TSuperclass>
void
CudaGaussianImageFilterBase<TSuperclass>::GenerateInputRequestedRegion()
{
  if constexpr (AreImagesSupported && !IsOnDevice)
  {
    auto * const input = const_cast<InputImageType *>(this->GetInput());
    if (m_SlabRequests.Streams() && input)
    {
      const auto & largest = input->GetLargestPossibleRegion();
      const auto   shape = this->GetSlabShape(this->MakePlan());
      const auto   first = this->GetOutput()->GetRequestedRegion().GetIndex(shape.Axis) - largest.GetIndex(shape.Axis);
      const auto   planes = m_SlabRequests.GetFirstInput(shape,
                                                       static_cast<size_t>(first),
                                                       GetHeldPlanes(this->GetOutput(), shape.Axis),
                                                       GetHeldPlanes(input, shape.Axis));
      input->SetRequestedRegion(this->HasWholeInput() ? largest : GetPlanes(largest, shape.Axis, planes));
      return;
    }
  }
  Superclass::GenerateInputRequestedRegion();
}

/** Does not release the inputs while a session waits for the next request, because they may hold planes that it
 * needs. */
template <typename TSuperclass>
void
CudaGaussianImageFilterBase<TSuperclass>::ReleaseInputs()
{
  if (!m_SlabRequests.Waits())
  {
    Superclass::ReleaseInputs();
  }
}

template <typename TSuperclass>
void
CudaGaussianImageFilterBase<TSuperclass>::KeepOverlap()
{
  if constexpr (AreImagesSupported && !IsOnDevice)
  {
    const OutputImageType * const output = this->GetOutput();
    const unsigned int            axis = this->GetSlabShape(this->MakePlan()).Axis;
    const auto                    held = GetHeldPlanes(output, axis);
    if (held.second > 0 && output->GetBufferPointer())
    {
      const auto view = CudaDetail::MakeCudaImageView(output, output->GetBufferedRegion());
      const auto first =
        output->GetRequestedRegion().GetIndex(axis) - this->GetInput()->GetLargestPossibleRegion().GetIndex(axis);
      m_SlabRequests.KeepOverlap(static_cast<size_t>(first), held, view.Data, view.GetNumberOfBytes() / held.second);
    }
  }
}

template <typename TSuperclass>
void
CudaGaussianImageFilterBase<TSuperclass>::WarnOfWholeInput(SizeValueType planes) const
{
  const InputImageType * const input = this->GetInput();
  std::string                  format;
  ExposeMetaData<std::string>(input->GetMetaDataDictionary(), "ITK_InputFilterName", format);
  const size_t bytes = this->GetWholeInputShape().GetNumberOfBytes();
  itkWarningMacro("Streaming is On, but "
                  << (input->GetSource() ? input->GetSource()->GetNameOfClass() : input->GetNameOfClass())
                  << (format.empty() ? "" : ", reading by " + format + ',') << " gives the whole image, " << bytes
                  << " bytes, where " << planes << " planes are asked for");
}

template <typename TSuperclass>
void
CudaGaussianImageFilterBase<TSuperclass>::PullPlanes(unsigned int                                 axis,
                                                     const CudaDetail::CudaSlabRequests::Planes & planes,
                                                     void *                                       pixels,
                                                     CudaDetail::CudaWorkScope &                  work)
{
  if constexpr (AreImagesSupported && !IsOnDevice)
  {
    auto * const input = const_cast<InputImageType *>(this->GetInput());
    const auto   largest = input->GetLargestPossibleRegion();
    const size_t bytesOfPlane = this->GetWholeInputShape().GetNumberOfBytes() / largest.GetSize(axis);
    const auto   held = GetHeldPlanes(input, axis);
    const size_t end = held.first + held.second;
    const size_t taken =
      planes.first >= held.first && planes.first < end ? std::min(planes.second, end - planes.first) : 0;
    if (taken > 0)
    {
      const auto region = GetPlanes(largest, axis, { planes.first, taken });
      CudaDetail::CudaCopyPixels(CudaDetail::MakeCudaImageView(input, region), pixels);
    }
    if (taken < planes.second)
    {
      const auto region = GetPlanes(largest, axis, { planes.first + taken, planes.second - taken });
      input->SetRequestedRegion(region);
      work.CallOthers([input] {
        input->PropagateRequestedRegion();
        input->UpdateOutputData();
      });
      CudaDetail::CudaCopyPixels(CudaDetail::MakeCudaImageView(input, region),
                                 static_cast<unsigned char *>(pixels) + taken * bytesOfPlane);
    }
    this->ReleaseTakenPlanes(axis, planes);
  }
}

template <typename TSuperclass>
void
CudaGaussianImageFilterBase<TSuperclass>::ReleaseTakenPlanes(unsigned int                                 axis,
                                                             const CudaDetail::CudaSlabRequests::Planes & planes)
{
  auto * const input = const_cast<InputImageType *>(this->GetInput());
  const auto   held = GetHeldPlanes(input, axis);
  const bool   isWhole = input->GetBufferedRegion() == input->GetLargestPossibleRegion();
  if (!input->GetSource())
  {
    return;
  }
  if (isWhole)
  {
    if (!m_WarnedOfWholeInput && input->GetLargestPossibleRegion().GetSize(axis) > 2 * planes.second)
    {
      m_WarnedOfWholeInput = true;
      this->WarnOfWholeInput(planes.second);
    }
  }
  else if (held.first + held.second == planes.first + planes.second)
  {
    input->ReleaseData();
  }
}

template <typename TSuperclass>
void
CudaGaussianImageFilterBase<TSuperclass>::GenerateSlabs(CudaDetail::CudaWorkScope & work)
{
  if constexpr (AreImagesSupported && !IsOnDevice)
  {
    using Planes = CudaDetail::CudaSlabRequests::Planes;

    const CudaDetail::CudaGaussianPlan plan = this->MakePlan();
    OutputImageType * const            output = this->GetOutput();
    const auto                         region = output->GetRequestedRegion();
    if (!m_SlabRequests.Waits())
    {
      this->SelectDevice(plan); // a session that continues stays on its backend and device
    }
    if (region.GetNumberOfPixels() > 0 && this->HasWholeInput() && !this->OverwritesInputOfSlabs())
    {
      CudaDetail::CudaVerifyBufferedRegion(this->GetInput(), region);
      CudaDetail::CudaPlanRun<Self> run = this->MakeRun();
      if (!run.RunInSlabs(plan))
      {
        run.RunInSlabs(plan); // runs on the host, which the backend has selected meanwhile
      }
      return;
    }
    // Do not use pooled memory: sizes differ between requests, so the pool would keep blocks that nobody reuses.
    output->SetBufferedRegion(region);
    output->Allocate();
    if (region.GetNumberOfPixels() == 0)
    {
      return;
    }
    const unsigned int axis = this->GetSlabShape(plan).Axis;
    const auto         first = region.GetIndex(axis) - output->GetLargestPossibleRegion().GetIndex(axis);
    this->GetMultiThreader()->SetNumberOfWorkUnits(this->GetNumberOfWorkUnits());
    m_SlabRequests.Produce(
      { plan, this->GetWholeInputShape(), this->GetWholeOutputShape(plan), this->GetMultiThreader() },
      { static_cast<size_t>(first), region.GetSize(axis) },
      CudaDetail::MakeCudaImageView(static_cast<const OutputImageType *>(output), region).Data,
      [this, axis, &work](size_t begin, size_t count, void * pixels) {
        this->PullPlanes(axis, Planes(begin, count), pixels, work);
      },
      m_CudaBackend,
      CudaDetail::MakeCudaProgressFunction(this));
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
  CudaDetail::CudaWorkScope work;
  if constexpr (IsOnDevice)
  {
    this->GenerateDeviceImage();
  }
  else
  {
    this->GenerateHostImage(work);
  }
}

template <typename TSuperclass>
void
CudaGaussianImageFilterBase<TSuperclass>::GenerateHostImage(CudaDetail::CudaWorkScope & work)
{
  if (m_SlabRequests.Streams())
  {
    this->GenerateSlabs(work);
    return;
  }
  const bool isSuperclassHost = this->IsSuperclassEnough();

  // Check first, because a filter that runs in place would otherwise hand the input's empty memory to its output.
  CudaDetail::CudaVerifyInputPixels<Self>(*this, this->GetOutput()->GetRequestedRegion());
  if constexpr (AreImagesSupported)
  {
    CudaDetail::CudaGaussianPlan plan = this->MakePlan();
    this->AddInputsTo(plan);
    CudaDetail::CudaPlanRun<Self> run = this->MakeRun();
    if (this->SelectDevice(plan) && run.RunOnDevice(plan, [this] { return this->MakeKeepingPlan(); }))
    {
      return;
    }
    run.PrepareHost();
    const bool isBeyond = isSuperclassHost && this->IsSigmaBeyondSuperclass(plan);
    if (isBeyond)
    {
      std::ostringstream sigma;
      sigma << CudaDetail::CudaFindSigmaBeyondITK(plan);
      m_CudaBackend.Reason +=
        "; sigma is " + sigma.str() + " pixels along an axis, for which this module's code runs instead of ITK's";
    }
    if (!isSuperclassHost || isBeyond)
    {
      run.RunOnHost(plan);
      return;
    }
  }
  else
  {
    const char * const unsupported =
      InputTraits::IsSupported ? OutputTraits::GetUnsupportedReason() : InputTraits::GetUnsupportedReason();
    m_CudaBackend.SelectDevice(unsupported, 0);
    m_CudaBackend.ReportWholeRun(0, 0);
    if (!isSuperclassHost)
    {
      itkGenericExceptionMacro(<< this->GetNameOfClass() << ": Approximation is " << m_Parameters.Approximation
                               << " and BoundaryMode is " << m_Parameters.BoundaryMode
                               << "; images of this type need Deriche and Nearest: " << unsupported);
    }
    if constexpr (InputImageType::ImageDimension <= CudaDetail::CudaImageView::MaximumDimension)
    {
      const CudaDetail::CudaGaussianPlan plan = this->MakePlan();
      if (this->IsSigmaBeyondSuperclass(plan))
      {
        itkGenericExceptionMacro(
          << this->GetNameOfClass() << ": Sigma is " << CudaDetail::CudaFindSigmaBeyondITK(plan)
          << " pixels along an axis, for which ITK's code has no digits left; it must be at most "
          << CudaDetail::CudaMaximumSigmaOfITK << ", and at least " << CudaDetail::CudaMinimumDericheSigma
          << " for derivatives, of images of this type: " << unsupported);
      }
    }
  }
  // Filters inside the superclass may belong to this module too. Keep them on the host, so that not every pass crosses
  // the link.
  const CudaDetail::CudaHostScope scope;
  this->GenerateDataBySuperclass();
}

/** Returns whether a run on device images may use the input's memory for the output. The image must be the only holder
 * of memory that the module allocated itself, and its type and region must be the ones that plans need to overwrite
 * it. */
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
      input->ReleaseData(); // the failed run may have overwritten a part of it
    }
    throw;
  }
  if (this->MayOverwriteInput())
  {
    input->ReleaseData();
  }
}

template <typename TSuperclass>
CudaDetail::CudaPlanRun<CudaGaussianImageFilterBase<TSuperclass>>
CudaGaussianImageFilterBase<TSuperclass>::MakeRun()
{
  return { *this, m_CudaBackend, [this] { this->AllocateOutputs(); } };
}

template <typename TSuperclass>
CudaDetail::CudaGaussianPlan
CudaGaussianImageFilterBase<TSuperclass>::MakeKeepingPlan()
{
  m_KeepInput = true;
  CudaDetail::CudaGaussianPlan plan = this->MakePlan();
  m_KeepInput = false;
  return plan;
}

template <typename TSuperclass>
bool
CudaGaussianImageFilterBase<TSuperclass>::SelectDevice(const CudaDetail::CudaGaussianPlan & plan)
{
  const size_t components = this->GetInput()->GetNumberOfComponentsPerPixel();
  const size_t given = components * plan.Results.size();
  const size_t outputComponents = this->GetOutput()->GetNumberOfComponentsPerPixel();

  const char * unsupported = nullptr;
  if (outputComponents > given)
  {
    // The superclass does not write the additional components.
    unsupported = "the output has more components than the filter gives";
  }
  else
  {
    // With fewer components, the superclass would write beyond the end of a pixel.
    CudaDetail::CudaVerifyComponents(components, plan.Results.size(), outputComponents);
  }
  m_CudaBackend.HostPreference = m_CudaBackend.IsOverride ? this->GetHostPreference() : std::string();
  const bool canCut = !this->OverwritesInputOfSlabs() && this->GetSlabObstacle().empty();
  return this->MakeRun().SelectDevice(plan, unsupported, canCut);
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
    if constexpr (InputTraits::IsSupported)
    {
      // Detach the input from its source: if it was modified meanwhile, the update of the internal filter would run it
      // again.
      const auto input = InputImageType::New();
      input->Graft(this->GetInput());
      filter->SetInput(input);
    }
    else
    {
      filter->SetInput(this->GetInput()); // Graft() of an image adaptor does not copy everything
    }
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
  os << indent << "Approximation: " << m_Parameters.Approximation << std::endl;
  os << indent << "BoundaryMode: " << m_Parameters.BoundaryMode << std::endl;
  os << indent << "BoundaryValue: " << m_Parameters.BoundaryValue << std::endl;
  m_CudaBackend.Print(os, indent);
  m_CudaBackend.PrintStreaming(os, indent);
}
} // end namespace itk

#endif
