// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaMultiScaleHessianBasedMeasureImageFilter_hxx
#define itkCudaMultiScaleHessianBasedMeasureImageFilter_hxx

#include "itkCudaDetailWorkScope.h"
#include "itkCudaDetailTensorFilter.h"

#include <algorithm>
#include <cmath>
#include <type_traits>
#include <typeinfo>

namespace itk
{
namespace CudaDetail
{
/** Whether the engine supports images of these types. */
template <typename TInputImage, typename THessianImage, typename TOutputImage>
constexpr bool                                     CudaTakesScales =
  CudaTakesTensors<THessianImage, TOutputImage> && CudaImageTraits<TInputImage>::IsSupported &&
                                                   CudaTensorTraits<typename THessianImage::PixelType>::Rows ==
  TInputImage::ImageDimension &&                   std::is_arithmetic_v<typename TInputImage::PixelType> &&
                                                   std::is_floating_point_v<typename TOutputImage::PixelType>;
} // end namespace CudaDetail

/** Returns why the engine cannot run these parameters; nullptr if it can. */
template <typename TInputImage, typename THessianImage, typename TOutputImage>
const char *
CudaMultiScaleHessianBasedMeasureImageFilter<TInputImage, THessianImage, TOutputImage>::GetObstacle() const
{
  using CudaObjectness = CudaHessianToObjectnessMeasureImageFilter<THessianImage, TOutputImage>;

  // Derived classes may compute something else, so the types must be equal.
  const auto * const measure = this->GetHessianToMeasureFilter();
  if (!measure || (typeid(*measure) != typeid(ObjectnessType) && typeid(*measure) != typeid(CudaObjectness)))
  {
    return "HessianToMeasureFilter is not ITK's measure of objectness";
  }
  if (this->GetNumberOfSigmaSteps() == 0)
  {
    return "NumberOfSigmaSteps is 0";
  }
  const auto size = this->GetOutput()->GetRequestedRegion().GetSize();
  return *std::min_element(size.begin(), size.end()) < 4 ? "an axis has fewer than four pixels" : nullptr;
}

template <typename TInputImage, typename THessianImage, typename TOutputImage>
void
CudaMultiScaleHessianBasedMeasureImageFilter<TInputImage, THessianImage, TOutputImage>::VerifyPreconditions()
  ITKv5_CONST
{
  Superclass::VerifyPreconditions();
  if (m_CudaBackend.IsOverride)
  {
    return;
  }
  const double minimum = this->GetSigmaMinimum();
  if (!(minimum > 0.0 && std::isfinite(minimum)))
  {
    itkExceptionMacro("SigmaMinimum is " << minimum << "; it must be greater than zero and finite");
  }
  // A single step uses SigmaMinimum alone, so SigmaMaximum matters only for more steps.
  const double maximum = this->GetSigmaMaximum();
  if (this->GetNumberOfSigmaSteps() > 1 && !(maximum > 0.0 && std::isfinite(maximum)))
  {
    itkExceptionMacro("SigmaMaximum is " << maximum << "; it must be greater than zero and finite");
  }
}

/** Returns the scales, computed with the superclass's formula. */
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
  const auto * const measure = static_cast<const ObjectnessType *>(this->GetHessianToMeasureFilter());
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

/** Calls allocate(image, index) for each requested output: response, scales, Hessians. */
template <typename TInputImage, typename THessianImage, typename TOutputImage>
template <typename TAllocate>
void
CudaMultiScaleHessianBasedMeasureImageFilter<TInputImage, THessianImage, TOutputImage>::AllocateImages(
  const TAllocate & allocate)
{
  const auto prepare = [this, &allocate](auto * image, unsigned int index) {
    image->SetBufferedRegion(this->GetOutput()->GetRequestedRegion());
    allocate(image, index);
  };
  prepare(this->GetOutput(), 0u);
  if (this->GetGenerateScalesOutput())
  {
    prepare(static_cast<ScalesImageType *>(this->ProcessObject::GetOutput(1)), 1u);
  }
  if (this->GetGenerateHessianOutput())
  {
    prepare(static_cast<THessianImage *>(this->ProcessObject::GetOutput(2)), 2u);
  }
}

template <typename TInputImage, typename THessianImage, typename TOutputImage>
CudaDetail::CudaMultiScaleOutputs
CudaMultiScaleHessianBasedMeasureImageFilter<TInputImage, THessianImage, TOutputImage>::AllocateHostImages()
{
  const auto                        region = this->GetOutput()->GetRequestedRegion();
  CudaDetail::CudaMultiScaleOutputs outputs;
  CudaDetail::CudaImageView * const views[] = { &outputs.Response, &outputs.Scale, &outputs.Hessian };
  this->AllocateImages([&](auto * image, unsigned int index) {
    using ImageType = std::remove_pointer_t<decltype(image)>;
    CudaDetail::CudaUsePooledPixelContainer(image, region);
    image->Allocate();
    *views[index] = CudaDetail::MakeCudaImageView(static_cast<const ImageType *>(image), region);
  });
  return outputs;
}

template <typename TInputImage, typename THessianImage, typename TOutputImage>
CudaDetail::CudaMultiScaleDeviceOutputs
CudaMultiScaleHessianBasedMeasureImageFilter<TInputImage, THessianImage, TOutputImage>::AllocateDeviceImages(int device)
{
  const auto                              region = this->GetOutput()->GetRequestedRegion();
  CudaDetail::CudaMultiScaleDeviceOutputs outputs;
  CudaDeviceImageView * const             views[] = { &outputs.Response, &outputs.Scale, &outputs.Hessian };
  this->AllocateImages([&](auto * image, unsigned int index) {
    image->SetDeviceIndex(device);
    image->Allocate();
    *views[index] = image->GetDeviceView(region);
  });
  return outputs;
}

template <typename TInputImage, typename THessianImage, typename TOutputImage>
void
CudaMultiScaleHessianBasedMeasureImageFilter<TInputImage, THessianImage, TOutputImage>::RunPlan()
{
  const CudaDetail::CudaWorkScope work;

  const CudaDetail::CudaMultiScalePlan plan = this->MakePlan();
  for (const double sigma : plan.Sigmas)
  {
    plan.MakeHessianPlan(sigma); // throws before anything is allocated
  }
  const auto region = this->GetOutput()->GetRequestedRegion();
  const auto input = CudaDetail::MakeCudaImageView(this->GetInput(), region, "The input");
  const auto progress = CudaDetail::MakeCudaProgressFunction(this);
  const auto outputs = this->AllocateHostImages();
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
CudaMultiScaleHessianBasedMeasureImageFilter<TInputImage, THessianImage, TOutputImage>::GenerateHostImages()
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
  // Without this scope, the superclass would download every image between its filters
  const CudaDetail::CudaHostScope hostScope;
  Superclass::GenerateData();
}

/** Computes the outputs on the device of the input, or on the device to which it is uploaded. */
template <typename TInputImage, typename THessianImage, typename TOutputImage>
void
CudaMultiScaleHessianBasedMeasureImageFilter<TInputImage, THessianImage, TOutputImage>::GenerateDeviceImages()
{
  using InputPixel = CudaDetail::CudaDevicePixelTraits<typename TInputImage::PixelType>;
  using HessianPixel = CudaDetail::CudaTensorTraits<typename THessianImage::PixelType>;
  static_assert(InputPixel::Length == 1, "The input's pixels must be numbers");
  static_assert(std::is_floating_point_v<typename TOutputImage::PixelType>, "Responses must be of float or double");
  static_assert(HessianPixel::IsSupported && HessianPixel::Rows == ImageDimension,
                "Hessians must be symmetric tensors of as many rows as the image has axes, 2 or 3");

  const CudaDetail::CudaWorkScope work;

  const auto progress = CudaDetail::MakeCudaProgressFunction(this);
  const int  device = CudaDetail::CudaPrepareDeviceRun(m_CudaBackend, this->GetInput(), this->GetOutput());
  progress(0.0f);
  if (const char * const obstacle = this->GetObstacle())
  {
    itkExceptionMacro(<< obstacle << "; device images are not computed on the host");
  }
  const CudaDetail::CudaMultiScalePlan plan = this->MakePlan();
  const auto                           region = this->GetOutput()->GetRequestedRegion();
  std::function<void()>                finishUpload = [] {};
  const CudaDeviceImageView            input =
    CudaDetail::CudaGetOnDevice(this->GetInput(), region, device, progress, finishUpload);
  if constexpr (CudaIsDeviceImage<TOutputImage>::value)
  {
    CudaDetail::CudaQueueOnDevice(plan, input, this->AllocateDeviceImages(device));
    finishUpload();
  }
  else
  {
    const CudaDetail::CudaMultiScaleOutputs outputs = this->AllocateHostImages();
    const auto                              allocate = [device](const CudaDetail::CudaImageView & pixels) {
      return pixels.Data ? CudaDetail::CudaAllocateBeside(pixels, device) : CudaDeviceImageView();
    };
    const CudaDetail::CudaMultiScaleDeviceOutputs results{ allocate(outputs.Response),
                                                           allocate(outputs.Scale),
                                                           allocate(outputs.Hessian) };
    CudaDetail::CudaQueueOnDevice(plan, input, results);
    finishUpload();
    const auto download = [&progress](const CudaDeviceImageView & result, const CudaDetail::CudaImageView & pixels) {
      if (pixels.Data)
      {
        CudaDetail::CudaDownloadFromDevice(result, pixels, {}, progress);
      }
    };
    download(results.Scale, outputs.Scale);
    download(results.Hessian, outputs.Hessian);
    download(results.Response, outputs.Response);
  }
}

template <typename TInputImage, typename THessianImage, typename TOutputImage>
void
CudaMultiScaleHessianBasedMeasureImageFilter<TInputImage, THessianImage, TOutputImage>::GenerateData()
{
  if constexpr (CudaHasDeviceImage<TInputImage, TOutputImage>)
  {
    this->GenerateDeviceImages();
  }
  else
  {
    this->GenerateHostImages();
  }
}

template <typename TInputImage, typename THessianImage, typename TOutputImage>
void
CudaMultiScaleHessianBasedMeasureImageFilter<TInputImage, THessianImage, TOutputImage>::PrintSelf(std::ostream & os,
                                                                                                  Indent indent) const
{
  Superclass::PrintSelf(os, indent);
  m_CudaBackend.Print(os, indent);
  m_CudaBackend.PrintDevices(os, indent);
}
} // end namespace itk

#endif
