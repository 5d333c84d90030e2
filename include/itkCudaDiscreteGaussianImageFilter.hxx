// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaDiscreteGaussianImageFilter_hxx
#define itkCudaDiscreteGaussianImageFilter_hxx

#include "itkConstantBoundaryCondition.h"
#include "itkCudaDetailPlanRun.h"
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
  CudaDetail::CudaUpdateInScope(*this, m_CudaBackend, [&] { Superclass::UpdateOutputData(output); });
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
CudaDiscreteGaussianImageFilter<TInputImage, TOutputImage>::GenerateData()
{
  using InputTraits = CudaDetail::CudaImageTraits<TInputImage>;
  using OutputTraits = CudaDetail::CudaImageTraits<TOutputImage>;
  constexpr bool onDevice = CudaHasDeviceImage<TInputImage, TOutputImage>;

  const CudaDetail::CudaWorkScope work;
  this->VerifyInputHasPixels();
  if constexpr (onDevice || (InputTraits::IsSupported && OutputTraits::IsSupported))
  {
    RegionType                            inputRegion;
    const char *                          unsupported = nullptr;
    const CudaDetail::CudaGaussianFirPlan plan = this->MakePlan(inputRegion, unsupported);
    this->RunPlan(plan, inputRegion, unsupported);
  }
  else
  {
    for (unsigned int axis = 0; axis < std::min<unsigned int>(this->GetFilterDimensionality(), ImageDimension); ++axis)
    {
      this->MakePass(axis); // throws if the kernel is NaN
    }
    CudaDetail::CudaVerifyInputPixels(*this, this->GetOutput()->GetRequestedRegion());
    CudaDetail::CudaUsePooledOutput(this->GetOutput());
    m_CudaBackend.SelectDevice(
      InputTraits::IsSupported ? OutputTraits::GetUnsupportedReason() : InputTraits::GetUnsupportedReason(), 0);
    m_CudaBackend.ReportWholeRun(0, 0);
    Superclass::GenerateData();
  }
}

template <typename TInputImage, typename TOutputImage>
void
CudaDiscreteGaussianImageFilter<TInputImage, TOutputImage>::RunPlan(const CudaDetail::CudaGaussianFirPlan & plan,
                                                                    const RegionType &                      inputRegion,
                                                                    const char *                            unsupported)
{
  const auto   allocate = [this] { this->AllocateOutputs(); };
  const auto   makeKeepingPlan = [&plan] { return CudaDetail::CudaKeepInput(plan); };
  const size_t components = this->GetInput()->GetNumberOfComponentsPerPixel();
  if constexpr (CudaHasDeviceImage<TInputImage, TOutputImage>)
  {
    if (unsupported && !plan.Passes.empty())
    {
      itkExceptionMacro(<< unsupported << "; device images are not filtered on the host");
    }
    CudaDetail::CudaVerifyComponents(components, 1, this->GetOutput()->GetNumberOfComponentsPerPixel());
    CudaDetail::CudaRunPlanOnDeviceImages(*this, m_CudaBackend, makeKeepingPlan(), allocate);
  }
  else
  {
    const RegionType region = this->GetOutput()->GetRequestedRegion();
    const bool       canCut =
      CudaDetail::CudaCanRunInSlabs(plan, CudaDetail::MakeCudaImageShape<TOutputImage>(region, components));
    CudaDetail::CudaVerifyInputPixels(*this, inputRegion);
    CudaDetail::CudaUsePooledOutput(this->GetOutput());
    CudaDetail::CudaPlanRun<Self> run(*this, m_CudaBackend, allocate, inputRegion);
    if (!run.SelectDevice(plan, unsupported, canCut) || !run.RunOnDevice(plan, makeKeepingPlan))
    {
      run.PrepareHost();
      Superclass::GenerateData();
    }
  }
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
