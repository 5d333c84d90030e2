// SPDX-License-Identifier: Apache-2.0

// CudaVesselnessImageFilter: against the multi-scale filter with ITK's parameters, and against the formulas of Frangi,
// Sato, Jerman and Meijering in double, of Hessians whose passes are in double. What follows from each scale's
// Hessians, what scales do without normalisation, masks of NaN, parameters out of range, the device against the host.

#include "itkCudaVesselnessImageFilter.h"

#include "itkCudaFiltersConfiguration.h"
#include "itkCudaHessianToObjectnessMeasureImageFilter.h"
#include "itkCudaMultiScaleHessianBasedMeasureImageFilter.h"
#include "support/itkCudaTestSeed.h"
#include "itkMultiThreaderBase.h"
#include "itkSymmetricEigenAnalysis.h"
#include "itkSymmetricSecondRankTensor.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <random>
#include <sstream>
#include <string>
#include <vector>

namespace
{
using Backend = itk::CudaFiltersEnums::Backend;

template <typename TImage>
using Vesselness = itk::CudaVesselnessImageFilter<TImage, TImage>;

/** An oblique tube with noise, and a spacing of its own along each axis. */
template <typename TImage>
typename TImage::Pointer
MakeTube()
{
  constexpr unsigned int                 dimension = TImage::ImageDimension;
  std::mt19937_64                        random(itk::cuda::test::GetSeed());
  std::uniform_real_distribution<double> uniform(-5.0, 5.0);
  const auto                             image = TImage::New();
  typename TImage::SizeType              size;
  auto                                   spacing = image->GetSpacing();
  for (unsigned int axis = 0; axis < dimension; ++axis)
  {
    size[axis] = 20 + 3 * axis;
    spacing[axis] = 1.0 - 0.2 * axis;
  }
  image->SetRegions(size);
  image->SetSpacing(spacing);
  image->Allocate();
  auto * pixel = image->GetBufferPointer();
  for (size_t z = 0; z < (dimension == 3 ? 26 : 1); ++z)
  {
    for (size_t y = 0; y < 23; ++y)
    {
      for (size_t x = 0; x < 20; ++x)
      {
        const double across = 0.6 * (static_cast<double>(x) - 10.0) - 0.8 * (static_cast<double>(y) - 11.0);
        const double above = dimension == 3 ? 0.6 * (static_cast<double>(z) - 12.0) : 0.0;
        const double value = 100.0 * std::exp(-(across * across + above * above) / 6.0) + uniform(random);
        *pixel++ = static_cast<typename TImage::PixelType>(static_cast<float>(value));
      }
    }
  }
  return image;
}

/** The eigenvalues of each pixel's Hessian in double, with the signs of a dark object, in ascending magnitude. The
 * Hessian filter would keep its images between passes in float, as ITK does. */
template <unsigned int VDimension>
std::vector<std::array<double, VDimension>>
GetEigenvalues(const itk::Image<double, VDimension> * image, double sigma, bool isBright)
{
  using Tensor = itk::SymmetricSecondRankTensor<double, VDimension>;
  using TensorImage = itk::Image<Tensor, VDimension>;
  const auto region = image->GetBufferedRegion();
  const auto hessian = TensorImage::New();
  hessian->SetRegions(region);
  hessian->Allocate();
  itk::CudaDetail::CudaMultiScalePlan plan;
  plan.Spacing.assign(image->GetSpacing().Begin(), image->GetSpacing().End());
  const auto threader = itk::MultiThreaderBase::New();
  itk::CudaDetail::CudaRunOnHost(
    plan.MakeHessianPlan(sigma),
    itk::CudaDetail::MakeCudaImageView(image, region),
    itk::CudaDetail::MakeCudaImageView(static_cast<const TensorImage *>(hessian.GetPointer()), region),
    threader,
    nullptr);

  using Values = itk::FixedArray<double, VDimension>;
  std::vector<std::array<double, VDimension>>                           all;
  itk::SymmetricEigenAnalysisFixedDimension<VDimension, Tensor, Values> analysis;
  for (size_t i = 0; i < region.GetNumberOfPixels(); ++i)
  {
    Values values;
    analysis.ComputeEigenValues(hessian->GetBufferPointer()[i], values);
    std::array<double, VDimension> sorted;
    std::transform(
      values.Begin(), values.End(), sorted.begin(), [isBright](double value) { return isBright ? -value : value; });
    std::sort(sorted.begin(), sorted.end(), [](double a, double b) { return std::fabs(a) < std::fabs(b); });
    all.push_back(sorted);
  }
  return all;
}

template <unsigned int VDimension>
double
GetNorm(const std::array<double, VDimension> & values)
{
  double squares = 0.0;
  for (const double value : values)
  {
    squares += value * value;
  }
  return std::sqrt(squares);
}

/** Frangi's measure with c, of eigenvalues with the signs of a dark object in ascending magnitude. */
template <unsigned int VDimension>
double
GetFrangi(const std::array<double, VDimension> & v, double c)
{
  const auto part = [](double ratio, double width) { return std::exp(-ratio * ratio / (2.0 * width * width)); };
  if (!(v[1] > 0.0 && v.back() > 0.0))
  {
    return 0.0;
  }
  const double first = VDimension == 3 ? 1.0 - part(v[1] / v.back(), 0.5) : 1.0;
  const double second = part(v[0] / (VDimension == 3 ? std::sqrt(v[1] * v.back()) : v.back()), 0.5);
  return first * second * (1.0 - part(GetNorm<VDimension>(v), c));
}

template <unsigned int VDimension>
double
GetSato(std::array<double, VDimension> v)
{
  std::sort(v.begin(), v.end()); // -l_1 <= -l_2 <= -l_3
  const double across = v[VDimension - 2 + (VDimension == 2 ? 1 : 0)];
  const double along = -v[0];
  if (!(across > 0.0))
  {
    return 0.0;
  }
  const double similarity = along > 0.0 ? 1.0 - 0.25 * along / across : 1.0 + along / across;
  return similarity > 0.0 ? across * similarity : 0.0;
}

template <unsigned int VDimension>
double
GetJerman(const std::array<double, VDimension> & v, double floor)
{
  const double second = v[1];
  if (!(second > 0.0 && v.back() > 0.0))
  {
    return 0.0;
  }
  const double regular = std::max(v.back(), floor);
  return second >= regular / 2.0 ? 1.0 : second * second * (regular - second) * std::pow(3.0 / (second + regular), 3.0);
}

template <unsigned int VDimension>
double
GetMeijering(const std::array<double, VDimension> & v)
{
  double trace = 0.0;
  for (const double value : v)
  {
    trace += value;
  }
  double largest = 0.0;
  for (const double value : v)
  {
    const double modified = value - (trace - value) / (VDimension + 1);
    largest = std::fabs(modified) > std::fabs(largest) ? modified : largest;
  }
  return std::max(largest, 0.0);
}

/** The response of one scale in double. */
template <unsigned int VDimension>
std::vector<double>
GetExpected(const itk::Image<double, VDimension> * image, const std::string & measure, double sigma, bool isBright)
{
  const auto eigenvalues = GetEigenvalues<VDimension>(image, sigma, isBright);
  double     norm = 0.0, largest = 0.0;
  for (const auto & values : eigenvalues)
  {
    norm = std::max(norm, GetNorm<VDimension>(values));
    largest = std::max(largest, values.back());
  }
  std::vector<double> expected;
  for (const auto & values : eigenvalues)
  {
    expected.push_back(measure == "frangi"   ? GetFrangi<VDimension>(values, norm / 2.0)
                       : measure == "sato"   ? GetSato<VDimension>(values)
                       : measure == "jerman" ? GetJerman<VDimension>(values, 0.5 * largest)
                                             : GetMeijering<VDimension>(values));
  }
  return expected;
}

template <unsigned int VDimension>
void
CheckFormulas(bool isBright)
{
  using ImageType = itk::Image<double, VDimension>;
  const auto image = MakeTube<ImageType>();
  if (!isBright)
  {
    std::transform(image->GetBufferPointer(),
                   image->GetBufferPointer() + image->GetBufferedRegion().GetNumberOfPixels(),
                   image->GetBufferPointer(),
                   [](double value) { return -value; });
  }
  for (const std::string measure : { "frangi", "sato", "jerman", "meijering" })
  {
    const auto filter = Vesselness<ImageType>::New();
    filter->SetInput(image);
    filter->SetSigmas({ 1.0, 2.5 });
    filter->SetHessianMeasure(measure);
    filter->SetBrightObject(isBright);
    filter->SetBackend("host");
    filter->GenerateScaleOutputOn();
    filter->Update();
    const auto   first = GetExpected<VDimension>(image, measure, 1.0, isBright);
    const auto   second = GetExpected<VDimension>(image, measure, 2.5, isBright);
    const double largest =
      std::max(*std::max_element(first.begin(), first.end()), *std::max_element(second.begin(), second.end()));
    ASSERT_GT(largest, 0.0);
    size_t jumps = 0;
    for (size_t i = 0; i < first.size(); ++i)
    {
      const double expected = std::max(first[i], second[i]);
      const bool   isSame = std::fabs(filter->GetOutput()->GetBufferPointer()[i] - expected) <= 1e-6 * largest;
      const double scale = expected > 0.0 ? (first[i] >= second[i] ? 1.0 : 2.5) : 0.0;
      const bool   isNear = std::fabs(first[i] - second[i]) <= 1e-6 * largest;
      const bool   isSameScale = isNear || filter->GetScaleOutput()->GetBufferPointer()[i] == scale;
      jumps += isSame && isSameScale ? 0 : 1;
    }
    EXPECT_LE(jumps, first.size() / 1000) << measure; // where a rounding decides a sign
  }
}

template <typename TFilter>
std::string
GetError(TFilter & filter)
{
  try
  {
    filter.Update();
  }
  catch (const itk::ExceptionObject & error)
  {
    return error.GetDescription();
  }
  return "";
}

using Volume = itk::Image<float, 3>;

typename Vesselness<Volume>::Pointer
MakeFilter()
{
  const auto filter = Vesselness<Volume>::New();
  filter->SetInput(MakeTube<Volume>());
  filter->SetSigmas({ 1.0, 2.0 });
  filter->SetBackend("host");
  return filter;
}
} // namespace

TEST(CudaVesselnessImageFilter, ObjectnessIsThatOfTheMultiScaleFilter)
{
  using Tensors = itk::Image<itk::SymmetricSecondRankTensor<float, 3>, 3>;
  const auto filter = MakeFilter();
  filter->SetGamma(7.0);
  filter->SetAlpha(0.4);
  filter->SetBeta(0.6);
  filter->GenerateScaleOutputOn();
  filter->GenerateHessianOutputOn();
  filter->Update();
  EXPECT_EQ(filter->GetBackendUsed(), Backend::Host);

  const auto measure = itk::CudaHessianToObjectnessMeasureImageFilter<Tensors, Volume>::New();
  measure->SetGamma(7.0);
  measure->SetAlpha(0.4);
  measure->SetBeta(0.6);
  const auto expected = itk::CudaMultiScaleHessianBasedMeasureImageFilter<Volume, Tensors>::New();
  expected->SetInput(MakeTube<Volume>());
  expected->SetHessianToMeasureFilter(measure);
  expected->SetSigmaMinimum(1.0);
  expected->SetSigmaMaximum(2.0);
  expected->SetNumberOfSigmaSteps(2);
  expected->SetSigmaStepMethodToEquispaced();
  expected->GenerateScalesOutputOn();
  expected->GenerateHessianOutputOn();
  expected->SetBackend("host");
  expected->Update();
  const size_t count = filter->GetOutput()->GetBufferedRegion().GetNumberOfPixels();
  ASSERT_EQ(filter->GetHessianOutput()->GetNumberOfComponentsPerPixel(), 6u);
  for (size_t i = 0; i < count; ++i)
  {
    ASSERT_EQ(filter->GetOutput()->GetBufferPointer()[i], expected->GetOutput()->GetBufferPointer()[i]);
    ASSERT_EQ(filter->GetScaleOutput()->GetBufferPointer()[i], expected->GetScalesOutput()->GetBufferPointer()[i]);
    for (unsigned int c = 0; c < 6; ++c)
    {
      ASSERT_EQ(filter->GetHessianOutput()->GetBufferPointer()[6 * i + c],
                expected->GetHessianOutput()->GetBufferPointer()[i][c]);
    }
  }
}

TEST(CudaVesselnessImageFilter, FormulasInTwoDimensions)
{
  CheckFormulas<2>(true);
  CheckFormulas<2>(false);
}

TEST(CudaVesselnessImageFilter, FormulasInThreeDimensions)
{
  CheckFormulas<3>(true);
  CheckFormulas<3>(false);
}

TEST(CudaVesselnessImageFilter, WithoutNormalisationResponsesAreThoseOfTheSecondDerivatives)
{
  for (const double sigma : { 0.8, 2.0 })
  {
    const auto normalised = MakeFilter();
    const auto plain = MakeFilter();
    for (const auto & filter : { normalised, plain })
    {
      filter->SetSigmas({ sigma });
      filter->SetHessianMeasure("meijering");
    }
    plain->NormalizeAcrossScaleOff();
    normalised->Update();
    plain->Update();
    const size_t count = plain->GetOutput()->GetBufferedRegion().GetNumberOfPixels();
    for (size_t i = 0; i < count; ++i)
    {
      const float expected = normalised->GetOutput()->GetBufferPointer()[i];
      ASSERT_NEAR(plain->GetOutput()->GetBufferPointer()[i] * sigma * sigma, expected, 1e-3);
    }
  }
}

TEST(CudaVesselnessImageFilter, OutputsThatWereDisconnectedAreReplacedByThoseOfTheirTypes)
{
  using HessianType = Vesselness<Volume>::HessianImageType;
  const auto filter = MakeFilter();
  const auto image = MakeTube<Volume>();
  filter->SetInput(image);
  filter->GenerateHessianOutputOn();
  filter->Update();
  const HessianType::Pointer hessian = filter->GetHessianOutput();
  hessian->DisconnectPipeline();
  ASSERT_NE(dynamic_cast<HessianType *>(static_cast<itk::DataObject *>(filter->GetHessianOutput())), nullptr);

  filter->Modified();
  filter->Update();
  const size_t components = image->GetBufferedRegion().GetNumberOfPixels() * hessian->GetNumberOfComponentsPerPixel();
  ASSERT_EQ(filter->GetHessianOutput()->GetPixelContainer()->Size(), components);
  EXPECT_NE(filter->GetHessianOutput()->GetBufferPointer(), hessian->GetBufferPointer());
  EXPECT_TRUE(std::equal(hessian->GetBufferPointer(),
                         hessian->GetBufferPointer() + components,
                         filter->GetHessianOutput()->GetBufferPointer()));
}

TEST(CudaVesselnessImageFilter, AConstantImageHasNoVessels)
{
  for (const std::string measure : { "objectness", "frangi", "sato", "jerman", "meijering" })
  {
    const auto filter = MakeFilter();
    const auto image = MakeTube<Volume>();
    image->FillBuffer(7.0f);
    filter->SetInput(image);
    filter->SetHessianMeasure(measure);
    filter->GenerateScaleOutputOn();
    filter->Update();
    const size_t count = image->GetBufferedRegion().GetNumberOfPixels();
    for (size_t i = 0; i < count; ++i)
    {
      ASSERT_EQ(filter->GetOutput()->GetBufferPointer()[i], 0.0f) << measure;
      ASSERT_EQ(filter->GetScaleOutput()->GetBufferPointer()[i], 0.0f) << measure;
    }
  }
}

/** Random pixels of that size, along the first axis with `frame` more on either side that have the edge's values. */
itk::Image<double, 3>::Pointer
MakeFramed(const itk::Size<3> & size, size_t frame)
{
  std::mt19937_64                        random(itk::cuda::test::GetSeed());
  std::uniform_real_distribution<double> uniform(0.0, 100.0);
  itk::Size<3>                           framed = size;
  framed[0] += 2 * frame;
  const auto image = itk::Image<double, 3>::New();
  image->SetRegions(framed);
  image->Allocate();
  auto * pixel = image->GetBufferPointer();
  for (size_t row = 0; row < size[1] * size[2]; ++row)
  {
    std::vector<double> values(size[0]);
    std::generate(values.begin(), values.end(), [&] { return uniform(random); });
    for (size_t x = 0; x < framed[0]; ++x)
    {
      *pixel++ = values[std::min(std::max(x, frame) - frame, size[0] - 1)];
    }
  }
  return image;
}

// A line that continues with its edge values is the same line if it has some of these values itself.
TEST(CudaVesselnessImageFilter, LinesOfAnyLengthInModeNearest)
{
  constexpr size_t frame = 5;
  for (size_t length = 1; length <= 5; ++length)
  {
    for (const char * approximation : { "deriche", "accurate" })
    {
      SCOPED_TRACE(testing::Message() << length << " pixels, " << approximation);
      const itk::Size<3>            size{ { length, 9, 11 } };
      const itk::Image<double, 3> * outputs[2];
      const auto filters = { Vesselness<itk::Image<double, 3>>::New(), Vesselness<itk::Image<double, 3>>::New() };
      size_t     n = 0;
      for (const auto & filter : filters)
      {
        filter->SetInput(MakeFramed(size, n * frame));
        filter->SetSigmas({ 1.0, 2.0 });
        filter->SetHessianMeasure("sato");
        filter->SetApproximation(approximation);
        filter->SetBackend("host");
        ASSERT_EQ(GetError(*filter), "");
        outputs[n++] = filter->GetOutput();
      }
      double largest = 0.0;
      double difference = 0.0;
      for (itk::IndexValueType z = 0; z < 11; ++z)
      {
        for (itk::IndexValueType y = 0; y < 9; ++y)
        {
          for (size_t x = 0; x < length; ++x)
          {
            const auto   column = static_cast<itk::IndexValueType>(x);
            const double found = outputs[0]->GetPixel({ { column, y, z } });
            const double expected =
              outputs[1]->GetPixel({ { column + static_cast<itk::IndexValueType>(frame), y, z } });
            largest = std::max(largest, expected);
            difference = std::max(difference, std::fabs(found - expected));
          }
        }
      }
      EXPECT_GT(largest, 1.0);
      // Some hundred roundings of double of values below 100.
      EXPECT_LT(difference, 1e-10);
    }
  }
}

TEST(CudaVesselnessImageFilter, NaNInTheImageGivesNoResponse)
{
  for (const std::string measure : { "objectness", "jerman" })
  {
    const auto filter = MakeFilter();
    const auto image = MakeTube<Volume>();
    image->SetPixel({ { 3, 4, 5 } }, std::numeric_limits<float>::quiet_NaN());
    filter->SetInput(image);
    filter->SetHessianMeasure(measure);
    filter->Update();
    const float * const found = filter->GetOutput()->GetBufferPointer();
    EXPECT_TRUE(std::all_of(found,
                            found + image->GetBufferedRegion().GetNumberOfPixels(),
                            [](float value) { return std::isfinite(value) && value >= 0.0f; }))
      << measure;
  }
}

TEST(CudaVesselnessGpuTest, TheDeviceGivesTheResultsOfTheHost)
{
  std::string reason;
  if (!itk::CudaFiltersConfiguration::IsDeviceUsable(-1, reason))
  {
    GTEST_SKIP() << reason;
  }
  for (const std::string measure : { "objectness", "frangi", "sato", "jerman", "meijering" })
  {
    for (const std::string mode : { "nearest", "reflect" })
    {
      const auto host = MakeFilter();
      const auto device = MakeFilter();
      for (const auto & filter : { host, device })
      {
        filter->SetHessianMeasure(measure);
        filter->SetBoundaryMode(mode);
        filter->SetApproximation(mode == "reflect" ? "accurate" : "deriche");
        filter->GenerateScaleOutputOn();
      }
      device->SetBackend("cuda");
      host->Update();
      device->Update();
      EXPECT_EQ(device->GetBackendUsed(), Backend::Cuda);
      const size_t        count = host->GetOutput()->GetBufferedRegion().GetNumberOfPixels();
      const float * const expected = host->GetOutput()->GetBufferPointer();
      const float * const found = device->GetOutput()->GetBufferPointer();
      const float         largest = *std::max_element(expected, expected + count);
      ASSERT_GT(largest, 0.0f);
      size_t jumps = 0;
      for (size_t i = 0; i < count; ++i)
      {
        ASSERT_TRUE(std::isfinite(found[i]));
        jumps += std::fabs(found[i] - expected[i]) <= 2e-4f * largest ? 0 : 1;
      }
      EXPECT_LE(jumps, count / 1000) << measure << ' ' << mode;
    }
  }
}
