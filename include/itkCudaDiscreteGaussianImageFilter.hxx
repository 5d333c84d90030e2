// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaDiscreteGaussianImageFilter_hxx
#define itkCudaDiscreteGaussianImageFilter_hxx

#include "itkConstantBoundaryCondition.h"
#include "itkCudaDetailDeviceFilter.h"
#include "itkCudaDetailGaussianFirEngine.h"
#include "itkCudaDetailKeepOnDevice.h"
#include "itkGaussianOperator.h"
#include "itkPeriodicBoundaryCondition.h"
#include "itkZeroFluxNeumannBoundaryCondition.h"

#include <algorithm>
#include <cmath>
#include <type_traits>
#include <typeinfo>

namespace itk
{
template <typename TInputImage, typename TOutputImage>
CudaDetail::CudaGaussianFirPass
CudaDiscreteGaussianImageFilter<TInputImage, TOutputImage>::MakePass(unsigned int axis) const
{
  GaussianOperator<typename Superclass::RealOutputPixelValueType, ImageDimension> kernel;

  double variance = this->GetVariance()[axis];
  if (this->GetUseImageSpacing())
  {
    const double spacing = this->GetInput()->GetSpacing()[axis];
    variance /= spacing * spacing;
  }
  kernel.SetDirection(axis);
  kernel.SetVariance(variance);
  kernel.SetMaximumError(this->GetMaximumError()[axis]);
  kernel.SetMaximumKernelWidth(this->GetMaximumKernelWidth());
  kernel.CreateDirectional();

  CudaDetail::CudaGaussianFirPass pass;
  pass.Axis = axis;
  pass.Weights.assign(kernel.Begin(), kernel.End());
  const bool isFinite =
    std::all_of(pass.Weights.begin(), pass.Weights.end(), [](double weight) { return std::isfinite(weight); });
  if (!isFinite && !m_CudaBackend.IsOverride)
  {
    // GaussianOperator multiplies exp(-variance) by a Bessel function that grows like exp(variance).
    itkExceptionMacro("Variance is " << variance << " square pixels along axis " << axis
                                     << "; it must be at most 709, because above that ITK's kernel is not a number. "
                                        "CudaSmoothingRecursiveGaussianImageFilter takes any Sigma.");
  }
  return pass;
}

template <typename TInputImage, typename TOutputImage>
template <typename TImage>
bool
CudaDiscreteGaussianImageFilter<TInputImage, TOutputImage>::SetContinuation(
  CudaDetail::CudaGaussianFirPass &      pass,
  const ImageBoundaryCondition<TImage> * condition)
{
  // Derived classes may behave differently, so the types must be equal.
  const std::type_info & type = typeid(*condition);
  if (type == typeid(ZeroFluxNeumannBoundaryCondition<TImage>))
  {
    pass.Continuation = CudaDetail::CudaLineContinuation::EndValue;
    return true;
  }
  if (type == typeid(PeriodicBoundaryCondition<TImage>))
  {
    pass.Continuation = CudaDetail::CudaLineContinuation::Periodic;
    return true;
  }
  if constexpr (std::is_arithmetic_v<typename TImage::PixelType>)
  {
    if (type == typeid(ConstantBoundaryCondition<TImage>))
    {
      pass.Continuation = CudaDetail::CudaLineContinuation::Constant;
      pass.Constant =
        static_cast<double>(static_cast<const ConstantBoundaryCondition<TImage> *>(condition)->GetConstant());
      return true;
    }
  }
  return false;
}

template <typename TInputImage, typename TOutputImage>
CudaDetail::CudaGaussianFirPlan
CudaDiscreteGaussianImageFilter<TInputImage, TOutputImage>::MakePlan(RegionType &  inputRegion,
                                                                     const char *& unsupported) const
{
  using ComponentType = typename CudaDetail::CudaImageTraits<TOutputImage>::ComponentType;

  const RegionType   outputRegion = this->GetOutput()->GetRequestedRegion();
  const RegionType   whole = this->GetInput()->GetLargestPossibleRegion();
  const unsigned int dimensionality = std::min<unsigned int>(this->GetFilterDimensionality(), ImageDimension);

  CudaDetail::CudaGaussianFirPlan plan;
  plan.TruncatePasses = std::is_integral_v<ComponentType>;
  unsupported = dimensionality == 0 ? "FilterDimensionality is 0: the input is copied" : nullptr;

  typename RegionType::SizeType radius;
  radius.Fill(0);
  // Start with the last axis, as the superclass does; the input's boundary condition applies to it.
  for (unsigned int axis = dimensionality; axis-- > 0 && !unsupported;)
  {
    CudaDetail::CudaGaussianFirPass pass = this->MakePass(axis);
    const bool known = axis + 1 == dimensionality ? SetContinuation(pass, this->GetInputBoundaryCondition())
                                                  : SetContinuation(pass, this->GetRealBoundaryCondition());
    if (!known)
    {
      unsupported = "the boundary condition is not supported on the device";
    }
    else if (pass.Continuation == CudaDetail::CudaLineContinuation::Periodic &&
             (outputRegion != whole || pass.Weights.size() > whole.GetSize(axis)))
    {
      unsupported = "periodic boundaries are supported on the device for whole images wider than the kernel only";
    }
    radius[axis] = pass.GetRadius();
    plan.Passes.push_back(pass);
  }

  inputRegion = outputRegion;
  inputRegion.PadByRadius(radius);
  inputRegion.Crop(whole);
  for (unsigned int d = 0; d < std::min<unsigned int>(ImageDimension, CudaDetail::CudaImageView::MaximumDimension); ++d)
  {
    plan.OutputOffset[d] = static_cast<size_t>(outputRegion.GetIndex(d) - inputRegion.GetIndex(d));
  }
  return plan;
}

template <typename TInputImage, typename TOutputImage>
void
CudaDiscreteGaussianImageFilter<TInputImage, TOutputImage>::VerifyPreconditions() ITKv5_CONST
{
  Superclass::VerifyPreconditions();
  for (unsigned int axis = 0; axis < ImageDimension && !m_CudaBackend.IsOverride; ++axis)
  {
    const double variance = this->GetVariance()[axis];
    if (!(variance >= 0.0 && std::isfinite(variance)))
    {
      itkExceptionMacro("Variance is " << variance << " along axis " << axis << "; it must be finite and 0 or more");
    }
    const double error = this->GetMaximumError()[axis];
    if (!(error > 0.0 && error < 1.0))
    {
      itkExceptionMacro("MaximumError is " << error << " along axis " << axis << "; it must be above 0 and below 1");
    }
  }
}

template <typename TInputImage, typename TOutputImage>
void
CudaDiscreteGaussianImageFilter<TInputImage, TOutputImage>::UpdateOutputData(DataObject * output)
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
CudaDiscreteGaussianImageFilter<TInputImage, TOutputImage>::GenerateData()
{
  const CudaDetail::CudaWorkScope work;
  this->VerifyInputHasPixels();
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
CudaDiscreteGaussianImageFilter<TInputImage, TOutputImage>::VerifyInputHasPixels() const
{
  if (this->GetInput()->GetLargestPossibleRegion().GetNumberOfPixels() == 0)
  {
    // This is the text that the superclass's internal filters throw.
    InvalidRequestedRegionError error(__FILE__, __LINE__);
    error.SetLocation(ITK_LOCATION);
    error.SetDescription("The input has no pixels: a kernel has no neighbourhood in it.");
    error.SetDataObject(const_cast<TInputImage *>(this->GetInput()));
    throw error;
  }
}

template <typename TInputImage, typename TOutputImage>
void
CudaDiscreteGaussianImageFilter<TInputImage, TOutputImage>::GenerateDeviceImage()
{
  const TInputImage * const input = this->GetInput();
  TOutputImage * const      output = this->GetOutput();
  const auto                progress = CudaDetail::MakeCudaProgressFunction(this);
  const int                 device = CudaDetail::CudaPrepareDeviceRun(m_CudaBackend, input, output);
  progress(0.0f);

  RegionType                      inputRegion;
  const char *                    unsupported = nullptr;
  CudaDetail::CudaGaussianFirPlan plan = this->MakePlan(inputRegion, unsupported);
  if (unsupported && !plan.Passes.empty())
  {
    itkExceptionMacro(<< unsupported << "; device images are not filtered on the host");
  }
  plan.KeepInput = true;
  CudaDetail::CudaVerifyComponents(input->GetNumberOfComponentsPerPixel(), 1, output->GetNumberOfComponentsPerPixel());
  this->AllocateOutputs();
  CudaDetail::CudaRunOnDeviceImages(plan, input, output, device, progress);
}

template <typename TInputImage, typename TOutputImage>
void
CudaDiscreteGaussianImageFilter<TInputImage, TOutputImage>::GenerateHostImage()
{
  using InputTraits = CudaDetail::CudaImageTraits<TInputImage>;
  using OutputTraits = CudaDetail::CudaImageTraits<TOutputImage>;

  const RegionType region = this->GetOutput()->GetRequestedRegion();
  CudaDetail::CudaVerifyInputPixels(*this, region);
  CudaDetail::CudaUsePooledOutput(this->GetOutput());
  bool onHost = true;
  if constexpr (InputTraits::IsSupported && OutputTraits::IsSupported)
  {
    RegionType                            inputRegion;
    const char *                          unsupported = nullptr;
    const CudaDetail::CudaGaussianFirPlan plan = this->MakePlan(inputRegion, unsupported);
    CudaDetail::CudaVerifyInputPixels(*this, inputRegion);
    const size_t components = this->GetInput()->GetNumberOfComponentsPerPixel();
    const size_t workingSet =
      CudaDetail::CudaWorkingSet(plan,
                                 CudaDetail::MakeCudaImageShape<TInputImage>(inputRegion, components),
                                 CudaDetail::MakeCudaImageShape<TOutputImage>(region, components));
    const bool canCut =
      CudaDetail::CudaCanRunInSlabs(plan, CudaDetail::MakeCudaImageShape<TOutputImage>(region, components));
    onHost =
      !m_CudaBackend.SelectDevice(unsupported, workingSet, canCut) || !this->GenerateDataOnDevice(plan, inputRegion);
  }
  else
  {
    for (unsigned int axis = 0; axis < std::min<unsigned int>(this->GetFilterDimensionality(), ImageDimension); ++axis)
    {
      this->MakePass(axis); // throws if the kernel is NaN
    }
    m_CudaBackend.SelectDevice(
      InputTraits::IsSupported ? OutputTraits::GetUnsupportedReason() : InputTraits::GetUnsupportedReason(), 0);
  }
  if (onHost)
  {
    m_CudaBackend.ReportWholeRun(0, 0);
    CudaDetail::CudaDownloadKeptInput(*this);
    Superclass::GenerateData();
  }
}

/** Returns false if the device ran out of memory and the host has to do the work. */
template <typename TInputImage, typename TOutputImage>
bool
CudaDiscreteGaussianImageFilter<TInputImage, TOutputImage>::GenerateDataOnDevice(
  const CudaDetail::CudaGaussianFirPlan & plan,
  const RegionType &                      inputRegion)
{
  if (m_CudaBackend.RunsInSlabs())
  {
    CudaDetail::CudaDownloadKeptInput(*this);
    this->AllocateOutputs();
    const RegionType outputRegion = this->GetOutput()->GetRequestedRegion();
    return outputRegion.GetNumberOfPixels() == 0 ||
           CudaDetail::CudaRunInSlabs(
             plan,
             CudaDetail::MakeCudaImageView(this->GetInput(), inputRegion),
             CudaDetail::MakeCudaImageView(static_cast<const TOutputImage *>(this->GetOutput()), outputRegion),
             m_CudaBackend,
             CudaDetail::MakeCudaProgressFunction(this));
  }
  const auto makeKeepingPlan = [&plan] {
    CudaDetail::CudaGaussianFirPlan keepingPlan = plan;
    keepingPlan.KeepInput = true;
    return keepingPlan;
  };
  return CudaDetail::CudaRunWhole(
    *this, inputRegion, m_CudaBackend, plan, makeKeepingPlan, [this] { this->AllocateOutputs(); });
}

template <typename TInputImage, typename TOutputImage>
void
CudaDiscreteGaussianImageFilter<TInputImage, TOutputImage>::PrintSelf(std::ostream & os, Indent indent) const
{
  Superclass::PrintSelf(os, indent);
  m_CudaBackend.Print(os, indent);
  m_CudaBackend.PrintStreaming(os, indent);
}
} // end namespace itk

#endif
