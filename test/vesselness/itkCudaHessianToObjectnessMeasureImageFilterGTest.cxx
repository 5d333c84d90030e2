// SPDX-License-Identifier: Apache-2.0

// The objectness filter on the host against ITK's class in double on the same Hessians: all parameters, random sets of
// them, two and three dimensions, threads, regions, pixels that are not finite.

#include "itkCudaHessianToObjectnessMeasureImageFilter.h"

#include "itkCudaError.h"
#include "itkCudaFiltersConfiguration.h"
#include "support/itkCudaTestSeed.h"
#include "itkImage.h"
#include "itkImageRegionIterator.h"
#include "itkSymmetricEigenAnalysis.h"
#include "itkSymmetricSecondRankTensor.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

namespace
{
using Backend = itk::CudaFiltersEnums::Backend;

template <typename T, unsigned int VDimension>
using TensorImage = itk::Image<itk::SymmetricSecondRankTensor<T, VDimension>, VDimension>;

template <unsigned int VDimension>
itk::Size<VDimension>
GetSize()
{
  itk::Size<VDimension> size;
  size.Fill(VDimension == 2 ? 40 : 13);
  size[0] = 17;
  return size;
}

/** Random elements. In hostile images half of the pixels are lines and plates with a little of everything else, which
 * have nearly equal and nearly zero eigenvalues; some are zero. */
template <typename T, unsigned int VDimension>
typename TensorImage<T, VDimension>::Pointer
MakeHessians(std::mt19937_64 & random, double norm, bool isHostile = true)
{
  using ImageType = TensorImage<T, VDimension>;
  std::uniform_real_distribution<double> uniform(-1.0, 1.0);
  const auto                             image = ImageType::New();
  image->SetRegions(GetSize<VDimension>());
  image->Allocate();
  itk::ImageRegionIterator<ImageType> it(image, image->GetBufferedRegion());
  for (; !it.IsAtEnd(); ++it)
  {
    typename ImageType::PixelType tensor;
    const auto                    kind = random() % (isHostile ? 16 : 8);
    const double                  noise = kind < 8 ? 1.0 : std::pow(10.0, 3.0 * uniform(random) - 3.0);
    double                        u[VDimension];
    for (double & x : u)
    {
      x = kind < 8 ? 0.0 : 2.0 * uniform(random);
    }
    for (unsigned int i = 0; i < VDimension; ++i)
    {
      for (unsigned int j = i; j < VDimension; ++j)
      {
        const double line = (i == j && kind < 12 && kind > 8 ? -1.0 : 0.0) + u[i] * u[j] * (kind < 12 ? 1.0 : -1.0);
        tensor(i, j) = kind == 8 ? T{ 0 } : static_cast<T>(norm * (line + noise * uniform(random)));
      }
    }
    it.Set(tensor);
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

/** Whether a rounding of the eigenvalues, of `epsilon` of their largest magnitude, decides a branch of the formula. */
template <typename TTensor>
bool
IsAtBranch(const TTensor & pixel, double epsilon)
{
  constexpr unsigned int dimension = TTensor::Dimension;
  using DoubleTensor = itk::SymmetricSecondRankTensor<double, dimension>;
  DoubleTensor tensor;
  std::copy(pixel.Begin(), pixel.End(), tensor.Begin());
  itk::FixedArray<double, dimension>                                                                     values;
  itk::SymmetricEigenAnalysisFixedDimension<dimension, DoubleTensor, itk::FixedArray<double, dimension>> analysis;
  analysis.SetOrderEigenMagnitudes(true);
  analysis.ComputeEigenValues(tensor, values);
  const double limit = epsilon * std::fabs(values[dimension - 1]);
  for (unsigned int i = 0; i < dimension; ++i)
  {
    const bool isNearNext =
      i + 1 < dimension && values[i] * values[i + 1] < 0.0 && std::fabs(values[i + 1]) - std::fabs(values[i]) <= limit;
    if (std::fabs(values[i]) <= limit || isNearNext)
    {
      return true;
    }
  }
  return false;
}

/** How far ITK's result moves, at most, where each diagonal element moves by `epsilon` of the matrix's norm: in an
 * image of small results the rounding of eigenvalues counts. */
template <typename TTensor>
double
GetSensitivity(const TTensor & pixel, const Parameters & p, double expected, double epsilon)
{
  constexpr unsigned int dimension = TTensor::Dimension;
  using ImageType = TensorImage<double, dimension>;
  typename ImageType::PixelType tensor;
  std::copy(pixel.Begin(), pixel.End(), tensor.Begin());
  double squares = 0.0;
  for (unsigned int k = 0; k < dimension * dimension; ++k)
  {
    squares += tensor(k / dimension, k % dimension) * tensor(k / dimension, k % dimension);
  }
  const auto           image = ImageType::New();
  itk::Size<dimension> size;
  size.Fill(1);
  size[0] = 2 * dimension;
  image->SetRegions(size);
  image->Allocate();
  for (unsigned int k = 0; k < 2 * dimension; ++k)
  {
    auto & moved = image->GetBufferPointer()[k];
    moved = tensor;
    moved(k / 2, k / 2) += (k % 2 == 0 ? epsilon : -epsilon) * std::sqrt(squares);
  }
  const auto     results = RunItk<itk::Image<double, dimension>>(image.GetPointer(), p);
  const double * moved = results->GetBufferPointer();
  double         sum = 0.0;
  for (unsigned int k = 0; k < dimension; ++k)
  {
    sum += std::max(std::fabs(moved[2 * k] - expected), std::fabs(moved[2 * k + 1] - expected));
  }
  return sum;
}

/** All pixels are within the bound but those where roundings of the eigenvalues decide. These are fewer than one in
 * 100,000, unless the image is hostile. */
template <typename T, unsigned int VDimension>
void
CheckRandomParameters(double bound, bool isHostile)
{
  constexpr double rounding = sizeof(T) == 4 ? 1e-6 : 1e-13; // of eigenvalues, by the spectral norm
  std::mt19937_64  random(itk::cuda::test::GetSeed());
  size_t           pixels = 0;
  size_t           beyond = 0;
  for (int repeat = 0; repeat < 150; ++repeat)
  {
    const auto image =
      MakeHessians<T, VDimension>(random, std::pow(10.0, static_cast<double>(random() % 4)), isHostile);
    const Parameters p = MakeParameters(random, VDimension);
    const auto       expected = RunItk<itk::Image<double, VDimension>>(image.GetPointer(), p);
    const auto       found = RunOurs<itk::Image<T, VDimension>>(image.GetPointer(), p);
    const size_t     count = image->GetBufferedRegion().GetNumberOfPixels();
    const double *   reference = expected->GetBufferPointer();
    const double     largest = *std::max_element(reference, reference + count);
    for (size_t i = 0; i < count; ++i)
    {
      const double error = std::fabs(static_cast<double>(found->GetBufferPointer()[i]) - reference[i]);
      if (!(error <= bound * largest))
      {
        const auto & pixel = image->GetBufferPointer()[i];
        EXPECT_TRUE(IsAtBranch(pixel, 1e-6) || error <= GetSensitivity(pixel, p, reference[i], rounding))
          << p << ", pixel " << i << ", error " << error;
        ++beyond;
      }
    }
    pixels += count;
  }
  std::cout << beyond << " of " << pixels << " pixels are beyond the bound by roundings" << std::endl;
  if (!isHostile)
  {
    EXPECT_LE(static_cast<double>(beyond), 1e-5 * static_cast<double>(pixels));
  }
}

template <typename TImage>
bool
AreSame(const TImage * a, const TImage * b)
{
  return a->GetBufferedRegion() == b->GetBufferedRegion() &&
         std::memcmp(a->GetBufferPointer(),
                     b->GetBufferPointer(),
                     a->GetBufferedRegion().GetNumberOfPixels() * sizeof(typename TImage::PixelType)) == 0;
}

template <unsigned int VDimension>
void
CheckNonFinitePixels()
{
  using ImageType = TensorImage<float, VDimension>;
  using OutputType = itk::Image<float, VDimension>;
  std::mt19937_64 random(itk::cuda::test::GetSeed());
  const auto      image = MakeHessians<float, VDimension>(random, 10.0);
  const auto      before = RunOurs<OutputType>(image.GetPointer(), Parameters());
  const size_t    count = image->GetBufferedRegion().GetNumberOfPixels();
  size_t          number = 0;
  for (size_t i = 0; i < count; i += 7, ++number)
  {
    auto & tensor = image->GetBufferPointer()[i];
    tensor[number % ImageType::PixelType::InternalDimension] =
      number % 2 == 0 ? std::numeric_limits<float>::quiet_NaN() : -std::numeric_limits<float>::infinity();
  }
  const auto after = RunOurs<OutputType>(image.GetPointer(), Parameters());
  const auto integers = RunOurs<itk::Image<short, VDimension>>(image.GetPointer(), Parameters());
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
} // namespace

TEST(CudaHessianToObjectnessMeasureImageFilterTest, RandomParametersGiveITKsResultInFloat)
{
  for (const bool isHostile : { false, true })
  {
    CheckRandomParameters<float, 2>(1e-5, isHostile);
    CheckRandomParameters<float, 3>(1e-5, isHostile);
  }
}

TEST(CudaHessianToObjectnessMeasureImageFilterTest, RandomParametersGiveITKsResultInDouble)
{
  for (const bool isHostile : { false, true })
  {
    CheckRandomParameters<double, 2>(1e-11, isHostile);
    CheckRandomParameters<double, 3>(1e-11, isHostile);
  }
}

TEST(CudaHessianToObjectnessMeasureImageFilterTest, PixelsThatAreNotFiniteSpoilNoOthers)
{
  CheckNonFinitePixels<2>();
  CheckNonFinitePixels<3>();
}

TEST(CudaHessianToObjectnessMeasureImageFilterTest, AnyParameterIsTakenAsByITK)
{
  // 10^4 sets with infinities, NaN, huge and tiny numbers. Where ITK's result is finite ours is, and both are objects
  // or neither is.
  using OutputType = itk::Image<double, 3>;
  std::mt19937_64 random(itk::cuda::test::GetSeed());
  const double    infinity = std::numeric_limits<double>::infinity();
  const double    hostile[] = { 0.0, -0.5, 0.5, 1e-300, -1e300, 1e-20, 1e20, 5.0, infinity, std::nan("") };
  const auto      image = TensorImage<double, 3>::New();
  image->SetRegions(itk::Size<3>{ { 4, 1, 1 } });
  image->Allocate();
  std::uniform_real_distribution<double> uniform(-10.0, 2.0);
  const auto ours = itk::CudaHessianToObjectnessMeasureImageFilter<TensorImage<double, 3>, OutputType>::New();
  const auto itks = itk::HessianToObjectnessMeasureImageFilter<TensorImage<double, 3>, OutputType>::New();
  ours->SetBackend("host");
  ours->SetInput(image);
  itks->SetInput(image);
  for (int repeat = 0; repeat < 10000; ++repeat)
  {
    for (size_t i = 0; i < 4; ++i)
    {
      for (double & x : image->GetBufferPointer()[i])
      {
        x = uniform(random);
      }
    }
    image->Modified();
    Parameters p = MakeParameters(random, 3);
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

TEST(CudaHessianToObjectnessMeasureImageFilterTest, ObjectDimensionIsCheckedAsByITK)
{
  const auto filter =
    itk::CudaHessianToObjectnessMeasureImageFilter<TensorImage<float, 2>, itk::Image<float, 2>>::New();
  std::mt19937_64 random(itk::cuda::test::GetSeed());
  filter->SetInput(MakeHessians<float, 2>(random, 1.0));
  filter->SetObjectDimension(2);
  EXPECT_THROW(filter->Update(), itk::ExceptionObject);
  filter->SetObjectDimension(1);
  EXPECT_NO_THROW(filter->Update());
}

TEST(CudaHessianToObjectnessMeasureImageFilterTest, FourDimensionsRunInTheSuperclass)
{
  using InputType = TensorImage<double, 4>;
  using OutputType = itk::Image<double, 4>;
  std::mt19937_64 random(itk::cuda::test::GetSeed());
  const auto      image = MakeHessians<double, 4>(random, 10.0);
  const auto      filter = itk::CudaHessianToObjectnessMeasureImageFilter<InputType, OutputType>::New();
  filter->SetInput(image);
  filter->SetObjectDimension(2);
  filter->Update();
  EXPECT_EQ(filter->GetBackendUsed(), Backend::Host);
  EXPECT_NE(filter->GetBackendReason().find("two or three rows"), std::string::npos) << filter->GetBackendReason();
  Parameters p;
  p.ObjectDimension = 2;
  EXPECT_TRUE(AreSame<OutputType>(filter->GetOutput(), RunItk<OutputType>(image.GetPointer(), p)));
  filter->SetBackend("cuda");
  EXPECT_THROW(filter->Update(), itk::CudaError);
}
