// SPDX-License-Identifier: Apache-2.0

// The objectness filter on the host against ITK's class: random and hostile sets of all parameters, pixels that are not
// finite, what ITK's class runs. Measures of all types and dimensions, and of hostile Hessians, have their formulas in
// itkCudaHessianMeasuresGTest.cxx.

#include "itkCudaHessianToObjectnessMeasureImageFilter.h"

#include "itkCudaError.h"
#include "support/itkCudaTestSeed.h"
#include "itkImage.h"
#include "itkSymmetricSecondRankTensor.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

namespace
{
using Backend = itk::CudaFiltersEnums::Backend;

template <typename T, unsigned int VDimension>
using TensorImage = itk::Image<itk::SymmetricSecondRankTensor<T, VDimension>, VDimension>;

template <typename T, unsigned int VDimension>
typename TensorImage<T, VDimension>::Pointer
MakeHessians(std::mt19937_64 & random, const itk::Size<VDimension> & size)
{
  std::uniform_real_distribution<double> uniform(-10.0, 2.0);
  const auto                             image = TensorImage<T, VDimension>::New();
  image->SetRegions(size);
  image->Allocate();
  for (size_t i = 0; i < image->GetBufferedRegion().GetNumberOfPixels(); ++i)
  {
    for (T & x : image->GetBufferPointer()[i])
    {
      x = static_cast<T>(uniform(random));
    }
  }
  return image;
}

struct Parameters
{
  double       Alpha{ 0.5 };
  double       Beta{ 0.5 };
  double       Gamma{ 5.0 };
  unsigned int ObjectDimension{ 1 };
  bool         BrightObject{ true };
  bool         IsScaled{ true };
};

std::ostream &
operator<<(std::ostream & os, const Parameters & p)
{
  return os << "alpha " << p.Alpha << ", beta " << p.Beta << ", gamma " << p.Gamma << ", object dimension "
            << p.ObjectDimension << (p.BrightObject ? ", bright" : ", dark") << (p.IsScaled ? ", scaled" : "");
}

Parameters
MakeParameters(std::mt19937_64 & random, unsigned int dimension)
{
  std::uniform_real_distribution<double> uniform(0.25, 2.0);
  const auto                             make = [&] { return random() % 8 == 0 ? 0.0 : uniform(random); };
  Parameters                             p;
  p.Alpha = make();
  p.Beta = make();
  p.Gamma = 5.0 * make();
  p.ObjectDimension = static_cast<unsigned int>(random() % dimension);
  p.BrightObject = random() % 2 == 0;
  p.IsScaled = random() % 2 == 0;
  return p;
}

template <typename TFilter>
void
SetParameters(TFilter & filter, const Parameters & p)
{
  filter.SetAlpha(p.Alpha);
  filter.SetBeta(p.Beta);
  filter.SetGamma(p.Gamma);
  filter.SetObjectDimension(p.ObjectDimension);
  filter.SetBrightObject(p.BrightObject);
  filter.SetScaleObjectnessMeasure(p.IsScaled);
}

template <typename TOutput, typename TInput>
typename TOutput::Pointer
RunItk(const TInput * image, const Parameters & p)
{
  const auto filter = itk::HessianToObjectnessMeasureImageFilter<TInput, TOutput>::New();
  filter->SetInput(image);
  SetParameters(*filter, p);
  filter->Update();
  return filter->GetOutput();
}

template <typename TOutput, typename TInput>
typename TOutput::Pointer
RunOurs(const TInput * image, const Parameters & p)
{
  const auto filter = itk::CudaHessianToObjectnessMeasureImageFilter<TInput, TOutput>::New();
  filter->SetInput(image);
  SetParameters(*filter, p);
  filter->SetBackend("host");
  filter->Update();
  EXPECT_EQ(filter->GetBackendUsed(), Backend::Host);
  return filter->GetOutput();
}
} // namespace

TEST(CudaHessianToObjectnessMeasureImageFilterTest, PixelsThatAreNotFiniteSpoilNoOthers)
{
  using ImageType = TensorImage<float, 3>;
  std::mt19937_64 random(itk::cuda::test::GetSeed());
  const auto      image = MakeHessians<float, 3>(random, { { 17, 13, 13 } });
  const auto      before = RunOurs<itk::Image<float, 3>>(image.GetPointer(), Parameters());
  const size_t    count = image->GetBufferedRegion().GetNumberOfPixels();
  size_t          number = 0;
  for (size_t i = 0; i < count; i += 7, ++number)
  {
    auto & tensor = image->GetBufferPointer()[i];
    tensor[number % ImageType::PixelType::InternalDimension] =
      number % 2 == 0 ? std::numeric_limits<float>::quiet_NaN() : -std::numeric_limits<float>::infinity();
  }
  const auto after = RunOurs<itk::Image<float, 3>>(image.GetPointer(), Parameters());
  const auto integers = RunOurs<itk::Image<short, 3>>(image.GetPointer(), Parameters());
  for (size_t i = 0; i < count; ++i)
  {
    const float value = after->GetBufferPointer()[i];
    if (i % 7 == 0)
    {
      EXPECT_TRUE(std::isnan(value)) << i;
      EXPECT_EQ(integers->GetBufferPointer()[i], 0) << i;
    }
    else
    {
      EXPECT_EQ(value, before->GetBufferPointer()[i]) << i;
      EXPECT_EQ(integers->GetBufferPointer()[i], static_cast<short>(value)) << i;
    }
  }
}

TEST(CudaHessianToObjectnessMeasureImageFilterTest, AnyParameterIsTakenAsByITK)
{
  // 10^4 sets with infinities, NaN, huge and tiny numbers. Where ITK's result is finite ours is, and both are objects
  // or neither is.
  using OutputType = itk::Image<double, 2>;
  std::mt19937_64 random(itk::cuda::test::GetSeed());
  const double    infinity = std::numeric_limits<double>::infinity();
  const double    hostile[] = { 0.0, -0.5, 0.5, 1e-300, -1e300, 1e-20, 1e20, 5.0, infinity, std::nan("") };
  const auto      ours = itk::CudaHessianToObjectnessMeasureImageFilter<TensorImage<double, 2>, OutputType>::New();
  const auto      itks = itk::HessianToObjectnessMeasureImageFilter<TensorImage<double, 2>, OutputType>::New();
  ours->SetBackend("host");
  for (int repeat = 0; repeat < 10000; ++repeat)
  {
    const auto image = MakeHessians<double, 2>(random, { { 4, 1 } });
    ours->SetInput(image);
    itks->SetInput(image);
    Parameters p = MakeParameters(random, 2);
    p.Alpha = hostile[random() % std::size(hostile)];
    p.Beta = hostile[random() % std::size(hostile)];
    p.Gamma = hostile[random() % std::size(hostile)];
    SetParameters(*ours, p);
    SetParameters(*itks, p);
    ours->Update();
    itks->Update();
    for (size_t i = 0; i < 4; ++i)
    {
      const double expected = itks->GetOutput()->GetBufferPointer()[i];
      const double found = ours->GetOutput()->GetBufferPointer()[i];
      if (std::isfinite(expected))
      {
        EXPECT_LE(std::fabs(found - expected), 1e-9 * std::max(1.0, std::fabs(expected))) << p;
      }
    }
  }
}

TEST(CudaHessianToObjectnessMeasureImageFilterTest, FourDimensionsRunInTheSuperclass)
{
  using InputType = TensorImage<double, 4>;
  using OutputType = itk::Image<double, 4>;
  std::mt19937_64 random(itk::cuda::test::GetSeed());
  const auto      image = MakeHessians<double, 4>(random, { { 9, 7, 8, 6 } });
  const auto      filter = itk::CudaHessianToObjectnessMeasureImageFilter<InputType, OutputType>::New();
  filter->SetInput(image);
  filter->SetObjectDimension(2);
  filter->Update();
  EXPECT_EQ(filter->GetBackendUsed(), Backend::Host);
  EXPECT_NE(filter->GetBackendReason().find("two or three rows"), std::string::npos) << filter->GetBackendReason();
  Parameters p;
  p.ObjectDimension = 2;
  const auto expected = RunItk<OutputType>(image.GetPointer(), p);
  EXPECT_TRUE(std::equal(expected->GetBufferPointer(),
                         expected->GetBufferPointer() + expected->GetBufferedRegion().GetNumberOfPixels(),
                         filter->GetOutput()->GetBufferPointer()));
  filter->SetBackend("cuda");
  EXPECT_THROW(filter->Update(), itk::CudaError);
}
