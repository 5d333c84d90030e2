// SPDX-License-Identifier: Apache-2.0
#include "itkCudaGradientMagnitudeRecursiveGaussianImageFilter.h"
#include "itkCudaGradientRecursiveGaussianImageFilter.h"
#include "itkCudaHessianRecursiveGaussianImageFilter.h"
#include "itkCudaLaplacianRecursiveGaussianImageFilter.h"
#include "itkCudaStressRecursiveCases.h"

namespace itk::cuda::test
{
namespace
{
/** Half of the gradients stay in the image's axes. */
template <typename TFilter>
class GradientCase : public StressSigmaArrayCase<TFilter>
{
public:
  GradientCase(StressRandom & random, CudaFiltersEnums::Backend backend)
    : StressSigmaArrayCase<TFilter>(random, backend)
  {
    const bool physical = random.Chance(0.5);
    this->SetParameters = [setOthers = this->SetParameters, physical](TFilter * filter) {
      setOthers(filter);
      filter->SetUseImageDirection(physical);
    };
    this->Describe(this->DescribeCommonParameters() + (physical ? ", turned to physical axes" : ""));
  }
};

template <typename TInput, typename TOutput = TInput>
using Magnitude = CudaGradientMagnitudeRecursiveGaussianImageFilter<TInput, TOutput>;
template <typename TInput, typename TOutput = TInput>
using Laplacian = CudaLaplacianRecursiveGaussianImageFilter<TInput, TOutput>;
} // namespace

StressCasePointer
MakeMagnitudeStressCase(StressRandom & random, CudaFiltersEnums::Backend backend)
{
  return MakeCaseOfType<StressSigmaCase,
                        Magnitude<Image<float, 2>>,
                        Magnitude<Image<unsigned int, 3>, Image<double, 3>>,
                        Magnitude<Image<short, 2>, Image<float, 2>>>(random, backend);
}

StressCasePointer
MakeLaplacianStressCase(StressRandom & random, CudaFiltersEnums::Backend backend)
{
  return MakeCaseOfType<StressSigmaCase,
                        Laplacian<Image<double, 2>>,
                        Laplacian<Image<float, 2>>,
                        Laplacian<Image<signed char, 3>, Image<float, 3>>>(random, backend);
}

StressCasePointer
MakeGradientStressCase(StressRandom & random, CudaFiltersEnums::Backend backend)
{
  return MakeCaseOfType<
    GradientCase,
    CudaGradientRecursiveGaussianImageFilter<Image<float, 3>>,
    CudaGradientRecursiveGaussianImageFilter<Image<unsigned short, 2>, Image<CovariantVector<float, 2>, 2>>,
    CudaGradientRecursiveGaussianImageFilter<Image<double, 2>>>(random, backend);
}

StressCasePointer
MakeHessianStressCase(StressRandom & random, CudaFiltersEnums::Backend backend)
{
  return MakeCaseOfType<
    StressSigmaCase,
    CudaHessianRecursiveGaussianImageFilter<Image<float, 2>>,
    CudaHessianRecursiveGaussianImageFilter<Image<int, 3>, Image<SymmetricSecondRankTensor<float, 3>, 3>>,
    CudaHessianRecursiveGaussianImageFilter<Image<unsigned char, 2>>>(random, backend);
}

StressCasePointer
MakeLargeDerivativeStressCase(StressRandom & random, CudaFiltersEnums::Backend backend)
{
  return MakeCaseOfType<StressLargeCase,
                        Magnitude<Image<float, 2>>,
                        Laplacian<Image<float, 2>>,
                        Laplacian<Image<signed char, 3>, Image<float, 3>>,
                        CudaGradientRecursiveGaussianImageFilter<Image<float, 3>>,
                        CudaHessianRecursiveGaussianImageFilter<Image<float, 2>>>(random, backend);
}
} // namespace itk::cuda::test
