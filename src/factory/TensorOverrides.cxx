// SPDX-License-Identifier: Apache-2.0
#include "factory/GaussianOverrideList.h"

// Lists the types of images for which the factory overrides ITK's eigenvalue analysis of tensors, its objectness
// measure and its multi-scale measures. The list is empty without ITK's library ITKImageFeature, which these classes
// need. The Python package is built without this library.
#if __has_include("ITKImageFeatureExport.h")
#  include "itkCudaHessianToObjectnessMeasureImageFilter.h"
#  include "itkCudaMultiScaleHessianBasedMeasureImageFilter.h"
#  include "itkCudaSymmetricEigenAnalysisImageFilter.h"
#  include "itkFixedArray.h"

namespace itk::cuda
{
template <typename T, unsigned int VLength>
struct PixelName<FixedArray<T, VLength>>
{
  static std::string
  Get()
  {
    return std::string("FixedArray<") + ComponentName<T> + ", " + std::to_string(VLength) + '>';
  }
};

namespace
{
template <typename T, unsigned int VDimension>
using Hessians = Image<SymmetricSecondRankTensor<T, VDimension>, VDimension>;

/** The types of input pixels of multi-scale measures. ITK's Python package has these types. */
using ScaleComponents = FourDimensionalComponents;

/** Returns the overrides of the eigenvalues of tensors, with results of the tensors' component type. */
template <unsigned int VDimension>
GaussianOverrides
MakeEigenOverrides()
{
  OverrideList<SymmetricEigenAnalysisImageFilter, CudaSymmetricEigenAnalysisImageFilter> list(
    "SymmetricEigenAnalysisImageFilter");
  list.template Add<Hessians<float, VDimension>, Image<FixedArray<float, VDimension>, VDimension>>();
  list.template Add<Hessians<double, VDimension>, Image<FixedArray<double, VDimension>, VDimension>>();
  list.template Add<Hessians<float, VDimension>, Image<CovariantVector<float, VDimension>, VDimension>>();
  list.template Add<Hessians<double, VDimension>, Image<CovariantVector<double, VDimension>, VDimension>>();
  return list.Get();
}

/** Returns the overrides of the objectness, with results of the tensors' component type, and with tensors of double and
 * results of float, which ITK uses by default. */
template <unsigned int VDimension>
GaussianOverrides
MakeObjectnessOverrides()
{
  OverrideList<HessianToObjectnessMeasureImageFilter, CudaHessianToObjectnessMeasureImageFilter> list(
    "HessianToObjectnessMeasureImageFilter");
  list.template Add<Hessians<float, VDimension>, Image<float, VDimension>>();
  list.template Add<Hessians<double, VDimension>, Image<float, VDimension>>();
  list.template Add<Hessians<double, VDimension>, Image<double, VDimension>>();
  return list.Get();
}

template <typename TInput, typename THessian, typename TOutput, unsigned int VDimension>
GaussianOverride
MakeScaleOverride()
{
  using InputType = Image<TInput, VDimension>;
  using HessianType = Hessians<THessian, VDimension>;
  using OutputType = Image<TOutput, VDimension>;
  using ItkFilterType = MultiScaleHessianBasedMeasureImageFilter<InputType, HessianType, OutputType>;
  using CudaFilterType = CudaMultiScaleHessianBasedMeasureImageFilter<InputType, HessianType, OutputType>;
  return { typeid(ItkFilterType).name(),
           typeid(CudaFilterType).name(),
           "MultiScaleHessianBasedMeasureImageFilter<" + GetImageName<InputType>() + ", " +
             GetImageName<HessianType>() + ", " + GetImageName<OutputType>() + '>',
           CreateOverrideFunction<CudaFilterType>::New().GetPointer() };
}

template <unsigned int VDimension, typename... TInputs>
GaussianOverrides
MakeScaleOverrides(ComponentList<TInputs...>)
{
  GaussianOverrides overrides{ MakeScaleOverride<TInputs, float, float, VDimension>()... };
  for (const GaussianOverride & override : { MakeScaleOverride<TInputs, double, float, VDimension>()... })
  {
    overrides.push_back(override);
  }
  overrides.push_back(MakeScaleOverride<float, double, double, VDimension>());
  overrides.push_back(MakeScaleOverride<double, double, double, VDimension>());
  return overrides;
}
} // namespace

GaussianOverrides
MakeTensorOverrides()
{
  GaussianOverrides all;
  for (const GaussianOverrides & overrides : { MakeEigenOverrides<2>(),
                                               MakeEigenOverrides<3>(),
                                               MakeObjectnessOverrides<2>(),
                                               MakeObjectnessOverrides<3>(),
                                               MakeScaleOverrides<2>(ScaleComponents()),
                                               MakeScaleOverrides<3>(ScaleComponents()) })
  {
    all.insert(all.end(), overrides.begin(), overrides.end());
  }
  return all;
}
} // namespace itk::cuda
#else
namespace itk::cuda
{
GaussianOverrides
MakeTensorOverrides()
{
  return {};
}
} // namespace itk::cuda
#endif
