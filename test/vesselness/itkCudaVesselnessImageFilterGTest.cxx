// SPDX-License-Identifier: Apache-2.0

// CudaVesselnessImageFilter: against the multi-scale filter with ITK's parameters, and against the formulas of Frangi,
// Sato, Jerman and Meijering in double, of Hessians whose passes are in double. What follows from each scale's
// Hessians, what scales do without normalisation, masks of NaN.

#include "itkCudaVesselnessImageFilter.h"

#include "itkCudaHessianToObjectnessMeasureImageFilter.h"
#include "itkCudaMultiScaleHessianBasedMeasureImageFilter.h"
#include "support/itkCudaHessianMeasureReference.h"
#include "support/itkCudaTestSeed.h"
#include "itkMultiThreaderBase.h"

#include <gtest/gtest.h>

#include <limits>
#include <random>
#include <string>

namespace
{
using Backend = itk::CudaFiltersEnums::Backend;
using itk::cuda::test::Eigenvalues;

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

/** The eigenvalues of each pixel's Hessian in double. The Hessian filter would keep its images between passes in float,
 * as ITK does. */
template <unsigned int VDimension>
std::vector<Eigenvalues>
GetAllEigenvalues(const itk::Image<double, VDimension> * image, double sigma)
{
  using TensorImage = itk::Image<itk::SymmetricSecondRankTensor<double, VDimension>, VDimension>;
  const auto region = image->GetBufferedRegion();
  const auto hessian = TensorImage::New();
  hessian->SetRegions(region);
  hessian->Allocate();
  itk::CudaDetail::CudaMultiScalePlan plan;
  plan.Spacing.assign(image->GetSpacing().Begin(), image->GetSpacing().End());
  itk::CudaDetail::CudaRunOnHost(
    plan.MakeHessianPlan(sigma),
    itk::CudaDetail::MakeCudaImageView(image, region),
    itk::CudaDetail::MakeCudaImageView(static_cast<const TensorImage *>(hessian.GetPointer()), region),
    itk::MultiThreaderBase::New(),
    nullptr);
  std::vector<Eigenvalues> all;
  for (size_t i = 0; i < region.GetNumberOfPixels(); ++i)
  {
    all.push_back(itk::cuda::test::GetEigenvalues<VDimension>(hessian->GetBufferPointer()[i].Begin()));
  }
  return all;
}

/** The response of one scale in double. */
template <unsigned int VDimension>
std::vector<double>
GetExpected(const itk::Image<double, VDimension> * image, const std::string & measure, double sigma, bool isBright)
{
  using namespace itk::cuda::test;
  const std::vector<Eigenvalues> all = GetAllEigenvalues<VDimension>(image, sigma);
  double                         norm = 0.0, largest = 0.0;
  for (const Eigenvalues & values : all)
  {
    norm = std::max(norm, GetNorm(values));
    largest = std::max(largest, SortByMagnitude(isBright ? Negate(values) : values).back());
  }
  std::vector<double> expected;
  for (const Eigenvalues & values : all)
  {
    expected.push_back(measure == "frangi"   ? GetFrangi(values, 0.5, 0.5, norm / 2.0, isBright)
                       : measure == "sato"   ? GetSato(values, 0.25, 1.0, 1.0, isBright)
                       : measure == "jerman" ? GetJerman(values, 0.5 * largest, isBright)
                                             : GetMeijering(values, isBright));
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
  const itk::DataObject::Pointer first = filter->GetHessianOutput();
  first->DisconnectPipeline(); // the filter makes another of the same type
  using HessianType = Vesselness<Volume>::HessianImageType;
  ASSERT_NE(dynamic_cast<HessianType *>(static_cast<itk::DataObject *>(filter->GetHessianOutput())), nullptr);
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
