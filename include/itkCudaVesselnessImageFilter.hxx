// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaVesselnessImageFilter_hxx
#define itkCudaVesselnessImageFilter_hxx

#include "itkCudaDetailFilterRun.h"
#include "itkCudaDetailImageTraits.h"

#include <cmath>

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
  this->GetMeasure().Make();
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

template <typename TInputImage, typename TOutputImage>
CudaDetail::CudaVesselnessMeasure
CudaVesselnessImageFilter<TInputImage, TOutputImage>::GetMeasure() const
{
  CudaDetail::CudaVesselnessMeasure measure;
  measure.Kind = m_HessianMeasure;
  measure.Dimension = ImageDimension;
  measure.BrightObject = m_BrightObject;
  measure.ObjectDimension = m_ObjectDimension;
  measure.ScaleObjectnessMeasure = m_ScaleObjectnessMeasure;
  measure.Alpha = m_Alpha;
  measure.Beta = m_Beta;
  measure.Gamma = m_Gamma;
  measure.SatoAlpha = m_SatoAlpha;
  measure.SatoGamma12 = m_SatoGamma12;
  measure.SatoGamma23 = m_SatoGamma23;
  measure.Tau = m_Tau;
  return measure;
}

template <typename TInputImage, typename TOutputImage>
CudaDetail::CudaMultiScalePlan
CudaVesselnessImageFilter<TInputImage, TOutputImage>::MakePlan() const
{
  const auto & spacing = this->GetInput()->GetSpacing();

  CudaDetail::CudaMultiScalePlan plan;
  plan.Measure = this->GetMeasure().Make();
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

template <typename TInputImage, typename TOutputImage>
void
CudaVesselnessImageFilter<TInputImage, TOutputImage>::GenerateData()
{
  const CudaDetail::CudaWorkScope work;

  const auto region = this->GetOutput()->GetRequestedRegion();
  const auto input = CudaDetail::MakeCudaImageView(this->GetInput(), region, "The input");
  const auto outputs = this->AllocateImages();
  const auto progress = CudaDetail::MakeCudaProgressFunction(this);
  if (region.GetNumberOfPixels() == 0)
  {
    return;
  }
  this->GetMultiThreader()->SetNumberOfWorkUnits(this->GetNumberOfWorkUnits());
  CudaDetail::CudaRunVesselness(
    this->MakePlan(), this->GetMeasure(), input, outputs, m_CudaBackend, this->GetMultiThreader(), progress);
}

template <typename TInputImage, typename TOutputImage>
void
CudaVesselnessImageFilter<TInputImage, TOutputImage>::QueueOnStream(const CudaDetail::CudaArrayImage &       input,
                                                                    const CudaDetail::CudaMultiScaleArrays & outputs)
{
  this->VerifyPreconditions();
  this->VerifyInputInformation();
  CudaDetail::CudaQueueOnStream(this->MakePlan(), this->GetMeasure().MakeScaleParameter(), input, outputs);
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
  m_CudaBackend.PrintDevices(os, indent);
}
} // end namespace itk

#endif
