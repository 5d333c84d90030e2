// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaVesselnessImageFilter_hxx
#define itkCudaVesselnessImageFilter_hxx

#include "itkCudaDetailFilterRun.h"
#include "itkCudaDetailImageTraits.h"

#include <algorithm>
#include <cmath>
#include <optional>

namespace itk
{
template <typename TInputImage, typename TOutputImage>
CudaVesselnessImageFilter<TInputImage, TOutputImage>::CudaVesselnessImageFilter()
{
  this->ProcessObject::SetNumberOfRequiredOutputs(3);
  this->ProcessObject::SetNthOutput(1, this->MakeOutput(1));
  this->ProcessObject::SetNthOutput(2, this->MakeOutput(2));
}

template <typename TInputImage, typename TOutputImage>
ProcessObject::DataObjectPointer
CudaVesselnessImageFilter<TInputImage, TOutputImage>::MakeOutput(ProcessObject::DataObjectPointerArraySizeType index)
{
  if (index == 2)
  {
    return HessianImageType::New().GetPointer();
  }
  return Superclass::MakeOutput(index);
}

template <typename TInputImage, typename TOutputImage>
void
CudaVesselnessImageFilter<TInputImage, TOutputImage>::SetSigmas(const std::vector<double> & sigmas)
{
  if (m_Sigmas != sigmas)
  {
    m_Sigmas = sigmas;
    this->Modified();
  }
}

template <typename TInputImage, typename TOutputImage>
void
CudaVesselnessImageFilter<TInputImage, TOutputImage>::AddSigma(double sigma)
{
  m_Sigmas.push_back(sigma);
  this->Modified();
}

template <typename TInputImage, typename TOutputImage>
void
CudaVesselnessImageFilter<TInputImage, TOutputImage>::ClearSigmas()
{
  this->SetSigmas(std::vector<double>());
}

template <typename TInputImage, typename TOutputImage>
const TOutputImage *
CudaVesselnessImageFilter<TInputImage, TOutputImage>::GetScaleOutput() const
{
  return static_cast<const TOutputImage *>(this->ProcessObject::GetOutput(1));
}

template <typename TInputImage, typename TOutputImage>
TOutputImage *
CudaVesselnessImageFilter<TInputImage, TOutputImage>::GetScaleOutput()
{
  return static_cast<TOutputImage *>(this->ProcessObject::GetOutput(1));
}

template <typename TInputImage, typename TOutputImage>
auto
CudaVesselnessImageFilter<TInputImage, TOutputImage>::GetHessianOutput() const -> const HessianImageType *
{
  return static_cast<const HessianImageType *>(this->ProcessObject::GetOutput(2));
}

template <typename TInputImage, typename TOutputImage>
auto
CudaVesselnessImageFilter<TInputImage, TOutputImage>::GetHessianOutput() -> HessianImageType *
{
  return static_cast<HessianImageType *>(this->ProcessObject::GetOutput(2));
}

template <typename TInputImage, typename TOutputImage>
void
CudaVesselnessImageFilter<TInputImage, TOutputImage>::VerifyPreconditions() ITKv5_CONST
{
  Superclass::VerifyPreconditions();
  if (m_Sigmas.empty())
  {
    itkExceptionMacro("Sigmas is empty; it must have one standard deviation at least");
  }
  for (const double sigma : m_Sigmas)
  {
    if (!(sigma > 0.0 && std::isfinite(sigma)))
    {
      itkExceptionMacro("Sigmas has the value " << sigma << "; each must be finite and above 0");
    }
  }
  const auto require = [this](bool holds, const char * name, double value, const char * range) {
    if (!holds)
    {
      itkExceptionMacro(<< name << " is " << value << "; it must be " << range);
    }
  };
  const auto isPositive = [](double value) { return value > 0.0 && std::isfinite(value); };
  switch (m_HessianMeasure)
  {
    case HessianMeasureEnum::Objectness:
    case HessianMeasureEnum::Frangi:
      require(isPositive(m_Alpha), "Alpha", m_Alpha, "finite and above 0");
      require(isPositive(m_Beta), "Beta", m_Beta, "finite and above 0");
      require(isPositive(m_Gamma) || std::isnan(m_Gamma), "Gamma", m_Gamma, "finite and above 0, or NaN");
      break;
    case HessianMeasureEnum::Jerman:
      require(m_Tau >= 0.0 && m_Tau <= 1.0, "Tau", m_Tau, "from 0 to 1");
      break;
    case HessianMeasureEnum::Sato:
    case HessianMeasureEnum::Meijering:
      break;
  }
  this->MakeMeasure(1.0);
}

template <typename TInputImage, typename TOutputImage>
void
CudaVesselnessImageFilter<TInputImage, TOutputImage>::VerifyInputInformation() ITKv5_CONST
{
  Superclass::VerifyInputInformation();
  const CudaDetail::CudaMultiScalePlan plan = this->MakePlan();
  for (const double sigma : m_Sigmas)
  {
    plan.MakeHessianPlan(sigma); // throws if a sigma or a spacing is out of range
  }
}

template <typename TInputImage, typename TOutputImage>
void
CudaVesselnessImageFilter<TInputImage, TOutputImage>::GenerateOutputInformation()
{
  Superclass::GenerateOutputInformation();
  this->GetHessianOutput()->SetNumberOfComponentsPerPixel(HessianComponents);
}

template <typename TInputImage, typename TOutputImage>
void
CudaVesselnessImageFilter<TInputImage, TOutputImage>::GenerateInputRequestedRegion()
{
  CudaDetail::CudaRequestWholeInputs(*this);
}

template <typename TInputImage, typename TOutputImage>
void
CudaVesselnessImageFilter<TInputImage, TOutputImage>::EnlargeOutputRequestedRegion(DataObject * output)
{
  Superclass::EnlargeOutputRequestedRegion(output);
  output->SetRequestedRegionToLargestPossibleRegion();
}

/** Returns whether a parameter of the measure is computed from the Hessians of each scale. */
template <typename TInputImage, typename TOutputImage>
bool
CudaVesselnessImageFilter<TInputImage, TOutputImage>::NeedsLargest() const
{
  switch (m_HessianMeasure)
  {
    case HessianMeasureEnum::Objectness:
    case HessianMeasureEnum::Frangi:
      return std::isnan(m_Gamma);
    case HessianMeasureEnum::Jerman:
      return true;
    case HessianMeasureEnum::Sato:
    case HessianMeasureEnum::Meijering:
      break;
  }
  return false;
}

/** Returns how a parameter of the measure is computed from the Hessians of each scale. It is meaningless unless
 * NeedsLargest(). Jerman's floor is computed from the largest eigenvalue that has the sign of an object. This
 * eigenvalue is found as the objectness with object dimension D - 1 and without its exponential factors. */
template <typename TInputImage, typename TOutputImage>
CudaDetail::CudaScaleParameter
CudaVesselnessImageFilter<TInputImage, TOutputImage>::MakeScaleParameter() const
{
  if (m_HessianMeasure != HessianMeasureEnum::Jerman)
  {
    // If all Hessians are 0, the measure is 0 for every gamma
    return { CudaDetail::CudaScaleQuantity::Norm, {}, 0.5, 1.0 };
  }
  return {
    CudaDetail::CudaScaleQuantity::Measure,
    CudaDetail::MakeObjectnessMeasure(
      ImageDimension, 0.0, std::numeric_limits<double>::infinity(), 0.0, ImageDimension - 1, m_BrightObject, true),
    m_Tau,
    0.0
  };
}

/** Returns the measure of one scale. \param largest the scale's result of FindLargest(); meaningless unless
 * NeedsLargest() */
template <typename TInputImage, typename TOutputImage>
CudaDetail::CudaHessianMeasure
CudaVesselnessImageFilter<TInputImage, TOutputImage>::MakeMeasure(double largest) const
{
  const double fromScale = this->MakeScaleParameter().Get(largest);
  const double gamma = std::isnan(m_Gamma) ? fromScale : m_Gamma;
  switch (m_HessianMeasure)
  {
    case HessianMeasureEnum::Frangi:
      return CudaDetail::MakeFrangiMeasure(ImageDimension, m_Alpha, m_Beta, gamma, m_BrightObject);
    case HessianMeasureEnum::Sato:
      return CudaDetail::MakeSatoMeasure(ImageDimension, m_SatoAlpha, m_SatoGamma12, m_SatoGamma23, m_BrightObject);
    case HessianMeasureEnum::Jerman:
      return CudaDetail::MakeJermanMeasure(ImageDimension, fromScale, m_BrightObject);
    case HessianMeasureEnum::Meijering:
      return CudaDetail::MakeMeijeringMeasure(ImageDimension, m_BrightObject);
    case HessianMeasureEnum::Objectness:
      break;
  }
  return CudaDetail::MakeObjectnessMeasure(
    ImageDimension, m_Alpha, m_Beta, gamma, m_ObjectDimension, m_BrightObject, m_ScaleObjectnessMeasure);
}

template <typename TInputImage, typename TOutputImage>
CudaDetail::CudaMultiScalePlan
CudaVesselnessImageFilter<TInputImage, TOutputImage>::MakePlan() const
{
  const auto & spacing = this->GetInput()->GetSpacing();

  CudaDetail::CudaMultiScalePlan plan;
  plan.Measure = this->MakeMeasure(1.0);
  plan.Sigmas = m_Sigmas;
  plan.Spacing.assign(spacing.Begin(), spacing.End());
  plan.NormalizeAcrossScale = m_NormalizeAcrossScale;
  plan.Approximation = m_Approximation;
  plan.Boundary = { m_BoundaryMode, m_BoundaryValue };
  return plan;
}

/** Allocates the requested outputs. */
template <typename TInputImage, typename TOutputImage>
CudaDetail::CudaMultiScaleOutputs
CudaVesselnessImageFilter<TInputImage, TOutputImage>::AllocateImages()
{
  const auto region = this->GetOutput()->GetRequestedRegion();
  const auto allocate = [&region](auto * image, bool isWanted) {
    using ImageType = std::remove_pointer_t<decltype(image)>;
    if (!isWanted)
    {
      return CudaDetail::CudaImageView();
    }
    CudaDetail::CudaUsePooledOutput(image);
    image->SetBufferedRegion(region);
    image->Allocate();
    return CudaDetail::MakeCudaImageView(static_cast<const ImageType *>(image), region);
  };
  return { allocate(this->GetOutput(), true),
           allocate(this->GetScaleOutput(), m_GenerateScaleOutput),
           allocate(this->GetHessianOutput(), m_GenerateHessianOutput) };
}

/** Runs a plan on the backend that SelectDevice() chose, or on the host if the device runs out of memory. */
template <typename TInputImage, typename TOutputImage>
template <typename TPlan, typename TOutputs>
void
CudaVesselnessImageFilter<TInputImage, TOutputImage>::Run(const TPlan &                            plan,
                                                          const CudaDetail::CudaImageView &        input,
                                                          const TOutputs &                         outputs,
                                                          const CudaDetail::CudaProgressFunction & progress)
{
  if (m_CudaBackend.Used == CudaFiltersEnums::Backend::Cuda &&
      CudaDetail::CudaRunOnDevice(plan, input, outputs, m_CudaBackend, progress))
  {
    return;
  }
  this->GetMultiThreader()->SetNumberOfWorkUnits(this->GetNumberOfWorkUnits());
  CudaDetail::CudaRunOnHost(plan, input, outputs, this->GetMultiThreader(), progress);
}

/** Computes the quantity that MakeScaleParameter() names from one scale's Hessians, and returns its largest finite
 * value, at least 0. */
template <typename TInputImage, typename TOutputImage>
double
CudaVesselnessImageFilter<TInputImage, TOutputImage>::FindLargest(double                                   sigma,
                                                                  const CudaDetail::CudaImageView &        input,
                                                                  const CudaDetail::CudaProgressFunction & progress)
{
  const auto region = this->GetOutput()->GetRequestedRegion();
  const auto image = TOutputImage::New();
  image->SetRegions(region);
  image->Allocate();
  const auto view = CudaDetail::MakeCudaImageView(static_cast<const TOutputImage *>(image.GetPointer()), region);
  const CudaDetail::CudaScaleParameter parameter = this->MakeScaleParameter();
  CudaDetail::CudaMultiScalePlan       plan = this->MakePlan();
  if (parameter.Quantity == CudaDetail::CudaScaleQuantity::Measure)
  {
    plan.Measure = parameter.Measure;
    plan.Sigmas = { sigma };
    this->Run(plan, input, CudaDetail::CudaMultiScaleOutputs{ view, {}, {} }, progress);
  }
  else
  {
    this->Run(plan.MakeHessianNormPlan(sigma), input, view, progress);
  }
  const RealType * const values = image->GetBufferPointer();
  RealType               largest{ 0 };
  for (SizeValueType i = 0; i < region.GetNumberOfPixels(); ++i)
  {
    largest = std::isfinite(values[i]) ? std::max(largest, values[i]) : largest;
  }
  return static_cast<double>(largest);
}

/** Returns the largest value of each scale: for Jerman the largest eigenvalue with the sign of an object, otherwise the
 * largest norm. If the whole image fits into the device's memory, only these numbers are downloaded. */
template <typename TInputImage, typename TOutputImage>
std::vector<double>
CudaVesselnessImageFilter<TInputImage, TOutputImage>::FindLargestOfScales(
  const CudaDetail::CudaImageView &        input,
  const CudaDetail::CudaProgressFunction & progress)
{
  std::vector<double> largest;
  if (m_CudaBackend.Used == CudaFiltersEnums::Backend::Cuda)
  {
    const CudaDetail::CudaScaleParameter parameter = this->MakeScaleParameter();
    CudaDetail::CudaMultiScalePlan       plan = this->MakePlan();
    if (parameter.Quantity == CudaDetail::CudaScaleQuantity::Measure)
    {
      plan.Measure = parameter.Measure;
    }
    largest = CudaDetail::CudaFindLargestOnDevice(
      plan, parameter.Quantity, input, CudaDetail::CudaComponentTraits<RealType>::Type, m_CudaBackend, progress);
  }
  for (size_t i = largest.size(); i < m_Sigmas.size(); ++i)
  {
    const auto count = static_cast<float>(m_Sigmas.size());
    const auto step = [&](float done) { progress((static_cast<float>(i) + done) / count); };
    largest.push_back(this->FindLargest(m_Sigmas[i], input, step));
  }
  return largest;
}

template <typename TInputImage, typename TOutputImage>
void
CudaVesselnessImageFilter<TInputImage, TOutputImage>::GenerateData()
{
  const CudaDetail::CudaWorkScope work;

  CudaDetail::CudaMultiScalePlan plan = this->MakePlan();
  const auto                     region = this->GetOutput()->GetRequestedRegion();
  const auto                     input = CudaDetail::MakeCudaImageView(this->GetInput(), region, "The input");
  const auto                     outputs = this->AllocateImages();
  const auto                     progress = CudaDetail::MakeCudaProgressFunction(this);
  if (region.GetNumberOfPixels() == 0)
  {
    return;
  }
  // This working set suffices for FindLargest() too, because the norm needs fewer images than the Hessian.
  m_CudaBackend.SelectDevice(nullptr, CudaDetail::CudaMultiScaleWorkingSet(plan, input, outputs));
  const float firstHalf = this->NeedsLargest() ? 0.5f : 0.0f;
  if (this->NeedsLargest())
  {
    for (const double largest : this->FindLargestOfScales(input, [&](float done) { progress(firstHalf * done); }))
    {
      plan.MeasureOfScale.push_back(this->MakeMeasure(largest));
    }
  }
  this->Run(plan, input, outputs, [&](float done) { progress(firstHalf + (1.0f - firstHalf) * done); });
}

template <typename TInputImage, typename TOutputImage>
void
CudaVesselnessImageFilter<TInputImage, TOutputImage>::QueueOnStream(const CudaDetail::CudaArrayImage &       input,
                                                                    const CudaDetail::CudaMultiScaleArrays & outputs)
{
  this->VerifyPreconditions();
  this->VerifyInputInformation();
  const auto parameter = this->NeedsLargest() ? std::optional(this->MakeScaleParameter()) : std::nullopt;
  CudaDetail::CudaQueueOnStream(this->MakePlan(), parameter, input, outputs);
}

template <typename TInputImage, typename TOutputImage>
void
CudaVesselnessImageFilter<TInputImage, TOutputImage>::PrintSelf(std::ostream & os, Indent indent) const
{
  Superclass::PrintSelf(os, indent);
  os << indent << "Sigmas:";
  for (const double sigma : m_Sigmas)
  {
    os << ' ' << sigma;
  }
  os << '\n';
  os << indent << "HessianMeasure: " << m_HessianMeasure << '\n';
  os << indent << "BrightObject: " << m_BrightObject << '\n';
  os << indent << "NormalizeAcrossScale: " << m_NormalizeAcrossScale << '\n';
  os << indent << "ObjectDimension: " << m_ObjectDimension << '\n';
  os << indent << "ScaleObjectnessMeasure: " << m_ScaleObjectnessMeasure << '\n';
  os << indent << "Alpha: " << m_Alpha << '\n';
  os << indent << "Beta: " << m_Beta << '\n';
  os << indent << "Gamma: " << m_Gamma << '\n';
  os << indent << "SatoAlpha: " << m_SatoAlpha << '\n';
  os << indent << "SatoGamma12: " << m_SatoGamma12 << '\n';
  os << indent << "SatoGamma23: " << m_SatoGamma23 << '\n';
  os << indent << "Tau: " << m_Tau << '\n';
  os << indent << "Approximation: " << m_Approximation << '\n';
  os << indent << "BoundaryMode: " << m_BoundaryMode << '\n';
  os << indent << "BoundaryValue: " << m_BoundaryValue << '\n';
  os << indent << "GenerateScaleOutput: " << m_GenerateScaleOutput << '\n';
  os << indent << "GenerateHessianOutput: " << m_GenerateHessianOutput << '\n';
  m_CudaBackend.Print(os, indent);
}
} // end namespace itk

#endif
