// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_factory_GaussianOverrides_hxx
#define CudaFilters_factory_GaussianOverrides_hxx

#include "itkCudaDiscreteGaussianImageFilter.h"
#include "itkCudaGradientMagnitudeRecursiveGaussianImageFilter.h"
#include "itkCudaGradientRecursiveGaussianImageFilter.h"
#include "itkCudaHessianRecursiveGaussianImageFilter.h"
#include "itkCudaLaplacianRecursiveGaussianImageFilter.h"
#include "itkCudaRecursiveGaussianImageFilter.h"
#include "itkCudaSmoothingRecursiveGaussianImageFilter.h"
#include "factory/GaussianOverrideList.h"
#if __has_include("ITKImageFeatureExport.h")
#  include "itkCudaHessianToObjectnessMeasureImageFilter.h"
#  include "itkCudaMultiScaleHessianBasedMeasureImageFilter.h"
#  include "itkCudaSymmetricEigenAnalysisImageFilter.h"
#endif

#include <type_traits>

// Lists the instantiations that the factory overrides, by the types and dimensions of their images. Each takes about a
// second of compile time.

namespace itk
{
/** Gives access to a filter's flag that it overrides an ITK filter and may therefore be part of a chain. */
class CudaGaussianOverrideAccess
{
public:
  template <typename TFilter>
  static void
  SetIsOverride(TFilter & filter)
  {
    filter.m_CudaBackend.IsOverride = true;
  }
};

template <typename TInputImage, typename TOutputImage>
void
PrepareOverride(CudaRecursiveGaussianImageFilter<TInputImage, TOutputImage> & filter)
{
  CudaGaussianOverrideAccess::SetIsOverride(filter);
}
} // end namespace itk

namespace itk::cuda
{
/** Adds the overrides of ITK's eigenvalue analysis of tensors, with results of the tensors' component type T, and of
 * its objectness measure, with such results and, for tensors of double, with results of float, which ITK uses by
 * default. Without ITK's library ITKImageFeature, which these classes need, it adds nothing. The Python package is
 * built without this library. */
template <typename T, unsigned int VDimension>
void
AddTensorOverrides([[maybe_unused]] GaussianOverrides & overrides)
{
#if __has_include("ITKImageFeatureExport.h")
  using HessianType = Image<SymmetricSecondRankTensor<T, VDimension>, VDimension>;
  OverrideList<SymmetricEigenAnalysisImageFilter, CudaSymmetricEigenAnalysisImageFilter> eigen(
    "SymmetricEigenAnalysisImageFilter", overrides);
  eigen.template Add<HessianType, Image<FixedArray<T, VDimension>, VDimension>>();
  eigen.template Add<HessianType, Image<CovariantVector<T, VDimension>, VDimension>>();

  OverrideList<HessianToObjectnessMeasureImageFilter, CudaHessianToObjectnessMeasureImageFilter> objectness(
    "HessianToObjectnessMeasureImageFilter", overrides);
  objectness.template Add<HessianType, Image<float, VDimension>>();
  if constexpr (std::is_same_v<T, double>)
  {
    objectness.template Add<HessianType, Image<double, VDimension>>();
  }
#endif
}

/** Adds the overrides of ITK's multi-scale measures, for the types of ITK's Python package. */
template <typename TInput, unsigned int VDimension>
void
AddScaleOverrides([[maybe_unused]] GaussianOverrides & overrides)
{
#if __has_include("ITKImageFeatureExport.h")
  using InputType = Image<TInput, VDimension>;
  using FloatHessianType = Image<SymmetricSecondRankTensor<float, VDimension>, VDimension>;
  using DoubleHessianType = Image<SymmetricSecondRankTensor<double, VDimension>, VDimension>;
  OverrideList<MultiScaleHessianBasedMeasureImageFilter, CudaMultiScaleHessianBasedMeasureImageFilter> list(
    "MultiScaleHessianBasedMeasureImageFilter", overrides);
  if constexpr (!std::is_same_v<TInput, int>)
  {
    list.template Add<InputType, FloatHessianType, Image<float, VDimension>>();
    list.template Add<InputType, DoubleHessianType, Image<float, VDimension>>();
  }
  if constexpr (std::is_floating_point_v<TInput>)
  {
    list.template Add<InputType, DoubleHessianType, Image<double, VDimension>>();
  }
#endif
}

/** Adds the overrides of one class whose outputs have scalar pixels. */
template <template <typename...> class TItkFilter,
          template <typename...>
          class TCudaFilter,
          unsigned int VDimension,
          typename... TInputs>
void
AddScalarOverrides(const char * name, GaussianOverrides & overrides)
{
  OverrideList<TItkFilter, TCudaFilter>(name, overrides).template AddScalarOutputs<VDimension, TInputs...>();
}

template <unsigned int VDimension, typename... TInputs>
GaussianOverrides
MakeOverrides()
{
  GaussianOverrides overrides;
  AddScalarOverrides<RecursiveGaussianImageFilter, CudaRecursiveGaussianImageFilter, VDimension, TInputs...>(
    "RecursiveGaussianImageFilter", overrides);
  AddScalarOverrides<SmoothingRecursiveGaussianImageFilter,
                     CudaSmoothingRecursiveGaussianImageFilter,
                     VDimension,
                     TInputs...>("SmoothingRecursiveGaussianImageFilter", overrides);
  AddScalarOverrides<GradientMagnitudeRecursiveGaussianImageFilter,
                     CudaGradientMagnitudeRecursiveGaussianImageFilter,
                     VDimension,
                     TInputs...>("GradientMagnitudeRecursiveGaussianImageFilter", overrides);
  AddScalarOverrides<LaplacianRecursiveGaussianImageFilter,
                     CudaLaplacianRecursiveGaussianImageFilter,
                     VDimension,
                     TInputs...>("LaplacianRecursiveGaussianImageFilter", overrides);
  AddScalarOverrides<DiscreteGaussianImageFilter, CudaDiscreteGaussianImageFilter, VDimension, TInputs...>(
    "DiscreteGaussianImageFilter", overrides);

  OverrideList<HessianRecursiveGaussianImageFilter, CudaHessianRecursiveGaussianImageFilter>(
    "HessianRecursiveGaussianImageFilter", overrides)
    .template AddDerivativeOutputs<SymmetricSecondRankTensor, VDimension, TInputs...>();
  if constexpr (VDimension == 4)
  {
    // ITK's composites have internal images of float.
    OverrideList<RecursiveGaussianImageFilter, CudaRecursiveGaussianImageFilter> passes("RecursiveGaussianImageFilter",
                                                                                        overrides);
    (passes.template AddUnlessSame<TInputs, float, VDimension>(), ...);
  }
  else
  {
    // There are no gradients in four dimensions, where ITK's Python package only has vectors of two components.
    OverrideList<GradientRecursiveGaussianImageFilter, CudaGradientRecursiveGaussianImageFilter>(
      "GradientRecursiveGaussianImageFilter", overrides)
      .template AddDerivativeOutputs<CovariantVector, VDimension, TInputs...>();
    (AddScaleOverrides<TInputs, VDimension>(overrides), ...);
    if constexpr ((std::is_same_v<TInputs, double> || ...))
    {
      AddTensorOverrides<float, VDimension>(overrides);
      AddTensorOverrides<double, VDimension>(overrides);
    }
  }
  return overrides;
}
} // namespace itk::cuda

#endif
