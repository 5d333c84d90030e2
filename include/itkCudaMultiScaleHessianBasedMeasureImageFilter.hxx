// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaMultiScaleHessianBasedMeasureImageFilter_hxx
#define itkCudaMultiScaleHessianBasedMeasureImageFilter_hxx

#include "itkCudaDetailHostScope.h"
#include "itkCudaDetailTensorFilter.h"
#include "itkCudaHessianToObjectnessMeasureImageFilter.h"

#include <algorithm>
#include <cmath>
#include <type_traits>
#include <typeinfo>

namespace itk
{
namespace CudaDetail
{
/** Whether the engine takes images of these types. */
template <typename TInputImage, typename THessianImage, typename TOutputImage>
constexpr bool                                     CudaTakesScales =
  CudaTakesTensors<THessianImage, TOutputImage> && CudaImageTraits<TInputImage>::IsSupported &&
                                                   CudaTensorTraits<typename THessianImage::PixelType>::Rows ==
  TInputImage::ImageDimension &&                   std::is_arithmetic_v<typename TInputImage::PixelType> &&
                                                   std::is_floating_point_v<typename TOutputImage::PixelType>;
} // end namespace CudaDetail

/** Why the engine cannot run these parameters; nullptr if it can. */
template <typename TInputImage, typename THessianImage, typename TOutputImage>
const char *
CudaMultiScaleHessianBasedMeasureImageFilter<TInputImage, THessianImage, TOutputImage>::GetObstacle() const
{
  using Objectness = HessianToObjectnessMeasureImageFilter<THessianImage, TOutputImage>;
  using CudaObjectness = CudaHessianToObjectnessMeasureImageFilter<THessianImage, TOutputImage>;

  // Classes derived from these may compute something else, so the types must be equal.
  const auto * const measure = this->GetHessianToMeasureFilter();
  if (!measure || (typeid(*measure) != typeid(Objectness) && typeid(*measure) != typeid(CudaObjectness)))
  {
    return "the measure is not the objectness of ITK";
  }
  if (this->GetNumberOfSigmaSteps() == 0)
  {
    return "NumberOfSigmaSteps is 0";
  }
  const auto size = this->GetOutput()->GetRequestedRegion().GetSize();
  return *std::min_element(size.begin(), size.end()) < 4 ? "an axis has fewer than four pixels" : nullptr;
}

/** As the superclass computes them. */
template <typename TInputImage, typename THessianImage, typename TOutputImage>
std::vector<double>
CudaMultiScaleHessianBasedMeasureImageFilter<TInputImage, THessianImage, TOutputImage>::GetSigmas() const
{
  const double       minimum = this->GetSigmaMinimum();
  const double       maximum = this->GetSigmaMaximum();
  const unsigned int count = this->GetNumberOfSigmaSteps();
  if (count < 2)
  {
    return std::vector<double>(count, minimum);
  }
  const bool   isEquispaced = this->GetSigmaStepMethod() == Superclass::SigmaStepMethodEnum::EquispacedSigmaSteps;
  const double first = isEquispaced ? minimum : std::log(minimum);
  const double range = isEquispaced ? maximum - minimum : std::log(maximum) - std::log(minimum);
  const double step = std::max(1e-10, range / (count - 1));

  std::vector<double> sigmas;
  for (unsigned int i = 0; i < count; ++i)
  {
    const double value = first + step * i;
    sigmas.push_back(isEquispaced ? value : std::exp(value));
  }
  return sigmas;
}

template <typename TInputImage, typename THessianImage, typename TOutputImage>
CudaDetail::CudaMultiScalePlan
CudaMultiScaleHessianBasedMeasureImageFilter<TInputImage, THessianImage, TOutputImage>::MakePlan() const
{
  using Objectness = HessianToObjectnessMeasureImageFilter<THessianImage, TOutputImage>;

  const auto * const measure = static_cast<const Objectness *>(this->GetHessianToMeasureFilter());
  const auto &       spacing = this->GetInput()->GetSpacing();

  CudaDetail::CudaMultiScalePlan plan;
  plan.Measure = CudaDetail::MakeObjectnessMeasure(ImageDimension,
                                                   measure->GetAlpha(),
                                                   measure->GetBeta(),
                                                   measure->GetGamma(),
                                                   measure->GetObjectDimension(),
                                                   measure->GetBrightObject(),
                                                   measure->GetScaleObjectnessMeasure());
  plan.Sigmas = this->GetSigmas();
  plan.Spacing.assign(spacing.Begin(), spacing.End());
  plan.NonNegative = this->GetNonNegativeHessianBasedMeasure();
  return plan;
}

/** Allocates what is asked for. */
template <typename TInputImage, typename THessianImage, typename TOutputImage>
CudaDetail::CudaMultiScaleOutputs
CudaMultiScaleHessianBasedMeasureImageFilter<TInputImage, THessianImage, TOutputImage>::AllocateImages()
{
  const auto region = this->GetOutput()->GetRequestedRegion();
  const auto allocate = [&region](auto * image) {
    using ImageType = std::remove_pointer_t<decltype(image)>;
    CudaDetail::CudaUsePooledOutput(image);
    image->SetBufferedRegion(region);
    image->Allocate();
    return CudaDetail::MakeCudaImageView(static_cast<const ImageType *>(image), region);
  };
  CudaDetail::CudaMultiScaleOutputs outputs;
  outputs.Response = allocate(this->GetOutput());
  if (this->GetGenerateScalesOutput())
  {
    outputs.Scale = allocate(static_cast<ScalesImageType *>(this->ProcessObject::GetOutput(1)));
  }
  if (this->GetGenerateHessianOutput())
  {
    outputs.Hessian = allocate(static_cast<THessianImage *>(this->ProcessObject::GetOutput(2)));
  }
  return outputs;
}

template <typename TInputImage, typename THessianImage, typename TOutputImage>
void
CudaMultiScaleHessianBasedMeasureImageFilter<TInputImage, THessianImage, TOutputImage>::RunPlan()
{
  const CudaDetail::CudaMultiScalePlan plan = this->MakePlan();
  for (const double sigma : plan.Sigmas)
  {
    plan.MakeHessianPlan(sigma); // throws before anything is allocated
  }
  const auto region = this->GetOutput()->GetRequestedRegion();
  const auto input = CudaDetail::MakeCudaImageView(this->GetInput(), region, "The input");
  const auto progress = CudaDetail::MakeCudaProgressFunction(this);
  const auto outputs = this->AllocateImages();
  if (m_CudaBackend.SelectDevice(nullptr, CudaDetail::CudaMultiScaleWorkingSet(plan, input, outputs)) &&
      CudaDetail::CudaRunOnDevice(plan, input, outputs, m_CudaBackend, progress))
  {
    return;
  }
  this->GetMultiThreader()->SetNumberOfWorkUnits(this->GetNumberOfWorkUnits());
  CudaDetail::CudaRunOnHost(plan, input, outputs, this->GetMultiThreader(), progress);
}

template <typename TInputImage, typename THessianImage, typename TOutputImage>
void
CudaMultiScaleHessianBasedMeasureImageFilter<TInputImage, THessianImage, TOutputImage>::GenerateData()
{
  const char * obstacle = "the types of the images are not supported on the device";
  if constexpr (CudaDetail::CudaTakesScales<TInputImage, THessianImage, TOutputImage>)
  {
    obstacle = this->GetObstacle();
    if (!obstacle)
    {
      this->RunPlan();
      return;
    }
  }
  m_CudaBackend.SelectDevice(obstacle, 0);
  const CudaDetail::CudaHostScope hostScope; // the superclass reads every image between its filters
  Superclass::GenerateData();
}

template <typename TInputImage, typename THessianImage, typename TOutputImage>
void
CudaMultiScaleHessianBasedMeasureImageFilter<TInputImage, THessianImage, TOutputImage>::PrintSelf(std::ostream & os,
                                                                                                  Indent indent) const
{
  Superclass::PrintSelf(os, indent);
  m_CudaBackend.Print(os, indent);
}
} // end namespace itk

#endif
