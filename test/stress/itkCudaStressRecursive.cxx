// SPDX-License-Identifier: Apache-2.0
#include "runtime/DetailNames.h"
#include "itkCudaRecursiveGaussianImageFilter.h"
#include "itkCudaSmoothingRecursiveGaussianImageFilter.h"
#include "itkCudaStressRecursiveCases.h"
#include "itkRGBPixel.h"

namespace itk::cuda::test
{
namespace
{
template <typename TFilter>
class RecursiveCase : public StressRecursiveCase<TFilter>
{
public:
  RecursiveCase(StressRandom & random, CudaFiltersEnums::Backend backend)
    : StressRecursiveCase<TFilter>(random, backend)
  {
    // Derivatives have either sign.
    using ComponentType = typename CudaImageTraits<typename TFilter::OutputImageType>::ComponentType;
    const auto order = std::is_signed_v<ComponentType> ? random.Integer(0, 2) : 0;
    const auto direction = static_cast<unsigned int>(random.Integer(0, TFilter::OutputImageType::ImageDimension - 1));
    const bool inPlace = ChooseInPlace(*this, random);
    if (!inPlace && random.Chance(0.3))
    {
      this->RequestRandomPart(random);
    }
    this->SetParameters = [this, order, direction, inPlace](TFilter * filter) {
      this->SetCommonParameters(filter);
      filter->SetSigma(this->m_Sigma[0]);
      filter->SetDirection(direction);
      filter->SetOrder(static_cast<RecursiveGaussianImageFilterEnums::GaussianOrder>(order));
      filter->SetInPlace(inPlace);
    };
    this->SpoilParameters = [](TFilter * filter) { filter->SetSigma(0.0); };
    this->Describe(this->DescribeCommonParameters() + ", order " + std::to_string(order) + " along axis " +
                   std::to_string(direction) + (inPlace ? ", in place" : ""));
  }
};

template <typename TFilter>
class SmoothingCase : public StressSigmaArrayCase<TFilter>
{
public:
  SmoothingCase(StressRandom & random, CudaFiltersEnums::Backend backend)
    : StressSigmaArrayCase<TFilter>(random, backend)
  {
    const bool inPlace = ChooseInPlace(*this, random);
    if (!inPlace && random.Chance(0.3))
    {
      this->RequestRandomPart(random);
    }
    this->SetParameters = [setOthers = this->SetParameters, inPlace](TFilter * filter) {
      setOthers(filter);
      filter->SetInPlace(inPlace);
    };
    this->Describe(this->DescribeCommonParameters() + (inPlace ? ", in place" : ""));
  }
};

template <typename TInput, typename TOutput = TInput>
using Recursive = CudaRecursiveGaussianImageFilter<TInput, TOutput>;
template <typename TInput, typename TOutput = TInput>
using Smoothing = CudaSmoothingRecursiveGaussianImageFilter<TInput, TOutput>;
} // namespace

StressCasePointer
MakeRecursiveStressCase(StressRandom & random, CudaFiltersEnums::Backend backend)
{
  return MakeCaseOfType<RecursiveCase,
                        Recursive<Image<unsigned char, 2>, Image<float, 2>>,
                        Recursive<Image<short, 3>>,
                        Recursive<VectorImage<float, 2>>,
                        Recursive<Image<RGBPixel<unsigned char>, 2>>,
                        Recursive<Image<double, 3>>>(random, backend);
}

StressCasePointer
MakeSmoothingStressCase(StressRandom & random, CudaFiltersEnums::Backend backend)
{
  return MakeCaseOfType<SmoothingCase,
                        Smoothing<Image<float, 2>>,
                        Smoothing<Image<unsigned short, 3>, Image<float, 3>>,
                        Smoothing<Image<int, 2>, Image<double, 2>>,
                        Smoothing<VectorImage<double, 3>>>(random, backend);
}

StressCasePointer
MakeLargeStressCase(StressRandom & random, CudaFiltersEnums::Backend backend)
{
  if (random.Chance(0.5))
  {
    return MakeLargeDerivativeStressCase(random, backend);
  }
  // Types for which the filters above are compiled anyway.
  return MakeCaseOfType<StressLargeCase,
                        Smoothing<Image<float, 2>>,
                        Smoothing<Image<unsigned short, 3>, Image<float, 3>>,
                        Smoothing<Image<int, 2>, Image<double, 2>>>(random, backend);
}
} // namespace itk::cuda::test
