// SPDX-License-Identifier: Apache-2.0

// The unit of the grey values: an image times c has c times the lengths of gradients, and measures with the default
// Gamma, half of the largest norm, that do not depend on c. Squares of the pixels may be out of their type's range.

#include "support/itkCudaGaussianTestUtilities.h"
#include "itkCudaGradientMagnitudeRecursiveGaussianImageFilter.h"
#include "itkCudaVesselnessImageFilter.h"

#include <vector>

namespace itk::cuda::test
{
namespace
{
class CudaGreyUnitsTest : public BackendTest
{};
ITK_CUDA_INSTANTIATE_BACKEND_TESTS(CudaGreyUnitsTest);

/** Random pixels from 0 to 100, times the unit. The unit is a power of 2: products are exact. */
template <typename TImage>
typename TImage::Pointer
MakeInput(double unit)
{
  typename TImage::SizeType size;
  for (unsigned int axis = 0; axis < TImage::ImageDimension; ++axis)
  {
    size[axis] = 24 - 5 * axis;
  }
  auto image = MakeDataImage<TImage>(MakeRegion<TImage::ImageDimension>(size), DataKind::Uniform, 100.0);
  for (SizeValueType i = 0; i < image->GetBufferedRegion().GetNumberOfPixels(); ++i)
  {
    image->GetBufferPointer()[i] *= static_cast<typename TImage::PixelType>(unit);
  }
  return image;
}

/** About 1e-32, 1e-22, 1e20 and 1e30, and for double 1e-200 and 1e200 as well. */
template <typename TPixel>
std::vector<double>
GetUnits()
{
  std::vector<double> units{ 0x1p-106, 0x1p-73, 0x1p+66, 0x1p+100 };
  if (sizeof(TPixel) == sizeof(double))
  {
    units.insert(units.end(), { 0x1p-664, 0x1p+664 });
  }
  return units;
}

/** Expects the second image to be `factor` times the first, but for a few roundings of the largest value. */
template <typename TImage>
void
ExpectTimes(const TImage * image, const TImage * expected, double factor, double unit)
{
  using PixelType = typename TImage::PixelType;
  double       largest = 0.0;
  const size_t count = expected->GetBufferedRegion().GetNumberOfPixels();
  for (size_t i = 0; i < count; ++i)
  {
    largest = std::max(largest, std::abs(static_cast<double>(expected->GetBufferPointer()[i])));
  }
  ASSERT_GT(largest, 0.0);
  for (size_t i = 0; i < count; ++i)
  {
    ASSERT_NEAR(image->GetBufferPointer()[i] / factor,
                static_cast<double>(expected->GetBufferPointer()[i]),
                16.0 * std::numeric_limits<PixelType>::epsilon() * largest)
      << "pixel " << i << ", unit " << unit;
  }
}

/** Expects that the output of an image in each unit is `getFactor(unit)` times that in the unit 1. */
template <typename TImage, typename TFilter, typename TFactor>
void
ExpectInUnits(TFilter * filter, BackendEnum backend, const TFactor & getFactor)
{
  filter->SetInput(MakeInput<TImage>(1.0));
  UpdateOn(filter, backend);
  const typename TImage::ConstPointer expected = Duplicate(filter->GetOutput()).GetPointer();
  for (const double unit : GetUnits<typename TImage::PixelType>())
  {
    filter->SetInput(MakeInput<TImage>(unit));
    UpdateOn(filter, backend);
    ExpectTimes<TImage>(filter->GetOutput(), expected, getFactor(unit), unit);
  }
}

template <typename TImage>
void
ExpectSameMeasures(BackendEnum backend)
{
  const auto filter = CudaVesselnessImageFilter<TImage, TImage>::New();
  filter->SetSigmas({ 1.0, 2.0 });
  filter->SetHessianMeasure(CudaVesselnessEnums::HessianMeasure::Frangi);
  ExpectInUnits<TImage>(filter.GetPointer(), backend, [](double) { return 1.0; });
  filter->SetHessianMeasure(CudaVesselnessEnums::HessianMeasure::Objectness);
  ExpectInUnits<TImage>(filter.GetPointer(), backend, [](double unit) { return unit; });
}

template <typename TImage>
void
ExpectScaledLengths(BackendEnum backend)
{
  using ApproximationEnum = CudaFiltersEnums::Approximation;
  const auto filter = CudaGradientMagnitudeRecursiveGaussianImageFilter<TImage, TImage>::New();
  filter->SetSigma(1.5);
  for (const auto approximation : { ApproximationEnum::Accurate, ApproximationEnum::Deriche })
  {
    filter->SetApproximation(approximation);
    // With Deriche the host runs ITK's class, which squares in float.
    if (approximation == ApproximationEnum::Accurate || backend == BackendEnum::Cuda)
    {
      ExpectInUnits<TImage>(filter.GetPointer(), backend, [](double unit) { return unit; });
    }
  }
}
} // namespace

// Float and double, and two and three dimensions.
TEST_P(CudaGreyUnitsTest, MeasuresWithTheDefaultGammaDoNotDependOnTheUnit)
{
  ExpectSameMeasures<Image<float, 3>>(GetParam());
  ExpectSameMeasures<Image<double, 2>>(GetParam());
}

TEST_P(CudaGreyUnitsTest, LengthsOfGradientsHaveTheUnit)
{
  ExpectScaledLengths<Image<float, 3>>(GetParam());
  ExpectScaledLengths<Image<double, 2>>(GetParam());
}
} // namespace itk::cuda::test
