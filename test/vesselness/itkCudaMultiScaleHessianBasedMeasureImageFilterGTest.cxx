// SPDX-License-Identifier: Apache-2.0

// The multi-scale filter on the host against ITK's in double: responses, winning scales, Hessians, anisotropic spacing,
// both kinds of steps, what the superclass runs.

#include "itkCudaMultiScaleHessianBasedMeasureImageFilter.h"

#include "support/itkCudaTestSeed.h"
#include "itkHessian3DToVesselnessMeasureImageFilter.h"
#include "itkHessianToObjectnessMeasureImageFilter.h"
#include "itkImage.h"
#include "itkImageRegionIteratorWithIndex.h"
#include "itkSymmetricSecondRankTensor.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <string>

namespace
{
using Backend = itk::CudaFiltersEnums::Backend;

template <typename T, unsigned int VDimension>
using TensorImage = itk::Image<itk::SymmetricSecondRankTensor<T, VDimension>, VDimension>;

/** Two crossing tubes of different radii with noise, in units of float, and a spacing of its own along each axis. */
template <typename T, unsigned int VDimension>
typename itk::Image<T, VDimension>::Pointer
MakeTubes()
{
  using ImageType = itk::Image<T, VDimension>;
  std::mt19937_64                        random(itk::cuda::test::GetSeed());
  std::uniform_real_distribution<double> uniform(-2.0, 2.0);
  const auto                             image = ImageType::New();
  itk::Size<VDimension>                  size;
  auto                                   spacing = image->GetSpacing();
  for (unsigned int d = 0; d < VDimension; ++d)
  {
    size[d] = 26 + 3 * d;
    spacing[d] = 1.0 - 0.15 * d;
  }
  image->SetRegions(size);
  image->SetSpacing(spacing);
  image->Allocate();
  itk::ImageRegionIteratorWithIndex<ImageType> it(image, image->GetBufferedRegion());
  for (; !it.IsAtEnd(); ++it)
  {
    const auto   index = it.GetIndex();
    const double x = static_cast<double>(index[0]) - 12.0;
    const double y = static_cast<double>(index[1]) - 13.0;
    const double z = VDimension == 3 ? static_cast<double>(index[VDimension - 1]) - 14.0 : 0.0;
    const double first = (0.8 * y - 0.6 * x) * (0.8 * y - 0.6 * x) + z * z;
    const double second = x * x + (z - 0.3 * y) * (z - 0.3 * y);
    it.Set(static_cast<T>(
      static_cast<float>(100.0 * std::exp(-first / 8.0) + 80.0 * std::exp(-second / 2.0) + uniform(random))));
  }
  return image;
}

struct Parameters
{
  double       SigmaMinimum{ 0.8 };
  double       SigmaMaximum{ 3.0 };
  unsigned int Steps{ 4 };
  bool         IsEquispaced{ false };
  bool         IsNonNegative{ true };
  bool         IsBright{ true };
  unsigned int ObjectDimension{ 1 };
};

template <typename TFilter, typename TMeasure>
typename TFilter::Pointer
MakeFilter(const typename TFilter::InputImageType * image, const Parameters & p)
{
  const auto measure = TMeasure::New();
  measure->SetObjectDimension(p.ObjectDimension);
  measure->SetBrightObject(p.IsBright);
  measure->SetAlpha(0.6);
  measure->SetBeta(0.7);
  measure->SetGamma(8.0);
  const auto filter = TFilter::New();
  filter->SetInput(image);
  filter->SetHessianToMeasureFilter(measure);
  filter->SetSigmaMinimum(p.SigmaMinimum);
  filter->SetSigmaMaximum(p.SigmaMaximum);
  filter->SetNumberOfSigmaSteps(p.Steps);
  if (p.IsEquispaced)
  {
    filter->SetSigmaStepMethodToEquispaced();
  }
  filter->SetNonNegativeHessianBasedMeasure(p.IsNonNegative);
  filter->GenerateScalesOutputOn();
  filter->GenerateHessianOutputOn();
  return filter;
}

template <typename T, unsigned int VDimension>
void
CheckAgainstITK(const Parameters & p, double bound, const std::string & what)
{
  using ImageType = itk::Image<T, VDimension>;
  using HessianType = TensorImage<T, VDimension>;
  using DoubleType = itk::Image<double, VDimension>;
  using DoubleHessianType = TensorImage<double, VDimension>;
  const auto filter =
    MakeFilter<itk::CudaMultiScaleHessianBasedMeasureImageFilter<ImageType, HessianType>,
               itk::CudaHessianToObjectnessMeasureImageFilter<HessianType, ImageType>>(MakeTubes<T, VDimension>(), p);
  const auto itks = MakeFilter<itk::MultiScaleHessianBasedMeasureImageFilter<DoubleType, DoubleHessianType>,
                               itk::HessianToObjectnessMeasureImageFilter<DoubleHessianType, DoubleType>>(
    MakeTubes<double, VDimension>(), p);
  filter->SetBackend("host");
  filter->Update();
  itks->Update();
  EXPECT_EQ(filter->GetBackendUsed(), Backend::Host);

  const size_t   count = filter->GetOutput()->GetBufferedRegion().GetNumberOfPixels();
  const double * expected = itks->GetOutput()->GetBufferPointer();
  const T *      found = filter->GetOutput()->GetBufferPointer();
  const double   largest = *std::max_element(expected, expected + count);
  ASSERT_GT(largest, 0.0) << what;
  size_t responses = 0, scales = 0, hessians = 0;
  for (size_t i = 0; i < count; ++i)
  {
    const bool isSame = std::fabs(static_cast<double>(found[i]) - expected[i]) <= bound * largest;
    responses += isSame ? 0 : 1;
    // Where a response is lost in the bound, the scale may be any.
    const float scale = filter->GetScalesOutput()->GetBufferPointer()[i];
    const bool  isSameScale = scale == itks->GetScalesOutput()->GetBufferPointer()[i];
    scales += isSameScale || expected[i] <= bound * largest ? 0 : 1;
    const auto & a = filter->GetHessianOutput()->GetBufferPointer()[i];
    const auto & b = itks->GetHessianOutput()->GetBufferPointer()[i];
    for (unsigned int c = 0; isSameScale && c < HessianType::PixelType::InternalDimension; ++c)
    {
      hessians += std::fabs(static_cast<double>(a[c]) - b[c]) <= bound * 100.0 ? 0 : 1;
    }
  }
  const double allowed = 1e-4 * static_cast<double>(count);
  EXPECT_LE(static_cast<double>(responses), allowed) << what;
  EXPECT_LE(static_cast<double>(scales), allowed) << what;
  EXPECT_EQ(hessians, 0u) << what;
}

template <typename T, unsigned int VDimension>
void
CheckAllParameters(double bound)
{
  for (unsigned int object = 0; object < VDimension; ++object)
  {
    Parameters p;
    p.ObjectDimension = object;
    CheckAgainstITK<T, VDimension>(p, bound, "object dimension " + std::to_string(object));
  }
  Parameters equispaced;
  equispaced.IsEquispaced = true;
  equispaced.Steps = 3;
  CheckAgainstITK<T, VDimension>(equispaced, bound, "equispaced");
  Parameters dark;
  dark.IsBright = false;
  CheckAgainstITK<T, VDimension>(dark, bound, "dark");
  Parameters one;
  one.Steps = 1;
  one.IsNonNegative = false;
  CheckAgainstITK<T, VDimension>(one, bound, "one scale, any response");
}
} // namespace

TEST(CudaMultiScaleHessianBasedMeasureImageFilterTest, ResultsAreITKsInFloat)
{
  CheckAllParameters<float, 2>(1e-5);
  CheckAllParameters<float, 3>(1e-5);
}

TEST(CudaMultiScaleHessianBasedMeasureImageFilterTest, ResultsAreITKsInDouble)
{
  // ITK keeps the images between the passes of a Hessian in float, of whatever type its images are.
  CheckAllParameters<double, 2>(1e-6);
  CheckAllParameters<double, 3>(1e-6);
}

TEST(CudaMultiScaleHessianBasedMeasureImageFilterTest, OtherMeasuresRunInTheSuperclass)
{
  using ImageType = itk::Image<double, 3>;
  using HessianType = TensorImage<double, 3>;
  using Filter = itk::CudaMultiScaleHessianBasedMeasureImageFilter<ImageType, HessianType>;
  const auto image = MakeTubes<double, 3>();
  const auto run = [&image](auto filter) {
    const auto measure = itk::Hessian3DToVesselnessMeasureImageFilter<double>::New();
    filter->SetInput(image);
    filter->SetHessianToMeasureFilter(measure);
    filter->SetNumberOfSigmaSteps(2);
    filter->SetSigmaMinimum(1.0);
    filter->Update();
    return filter;
  };
  const auto ours = run(Filter::New());
  const auto itks = run(itk::MultiScaleHessianBasedMeasureImageFilter<ImageType, HessianType>::New());
  EXPECT_NE(ours->GetBackendReason().find("objectness"), std::string::npos) << ours->GetBackendReason();
  const double * a = ours->GetOutput()->GetBufferPointer();
  EXPECT_TRUE(std::equal(a, a + image->GetBufferedRegion().GetNumberOfPixels(), itks->GetOutput()->GetBufferPointer()));
}

TEST(CudaMultiScaleHessianBasedMeasureImageFilterTest, BadParametersEndInExceptions)
{
  using ImageType = itk::Image<float, 2>;
  using HessianType = TensorImage<float, 2>;
  using Filter = itk::CudaMultiScaleHessianBasedMeasureImageFilter<ImageType, HessianType>;
  using Measure = itk::HessianToObjectnessMeasureImageFilter<HessianType, ImageType>;
  const auto image = MakeTubes<float, 2>();
  const auto without = Filter::New();
  without->SetInput(image);
  EXPECT_THROW(without->Update(), itk::ExceptionObject);
  Parameters p;
  p.SigmaMinimum = -1.0;
  p.IsEquispaced = true;
  EXPECT_THROW((MakeFilter<Filter, Measure>(image, p)->Update()), itk::ExceptionObject);
  p = Parameters();
  p.ObjectDimension = 2;
  EXPECT_THROW((MakeFilter<Filter, Measure>(image, p)->Update()), itk::ExceptionObject);
}

TEST(CudaMultiScaleHessianBasedMeasureImageFilterTest, OutputsThatWereDisconnectedAreReplacedByThoseOfTheirTypes)
{
  using ImageType = itk::Image<float, 2>;
  using HessianType = TensorImage<float, 2>;
  using Filter = itk::CudaMultiScaleHessianBasedMeasureImageFilter<ImageType, HessianType>;
  using Measure = itk::HessianToObjectnessMeasureImageFilter<HessianType, ImageType>;
  const auto image = MakeTubes<float, 2>();
  const auto filter = MakeFilter<Filter, Measure>(image, Parameters());
  filter->Update();
  const ImageType::Pointer   response = filter->GetOutput();
  const HessianType::Pointer hessian = const_cast<HessianType *>(filter->GetHessianOutput());
  response->DisconnectPipeline();
  hessian->DisconnectPipeline();
  ASSERT_NE(dynamic_cast<const HessianType *>(static_cast<const itk::DataObject *>(filter->GetHessianOutput())),
            nullptr);

  filter->Update();
  ASSERT_EQ(filter->GetHessianOutput()->GetBufferedRegion(), image->GetBufferedRegion());
  const size_t count = image->GetBufferedRegion().GetNumberOfPixels();
  EXPECT_NE(filter->GetHessianOutput()->GetBufferPointer(), hessian->GetBufferPointer());
  EXPECT_TRUE(std::equal(
    response->GetBufferPointer(), response->GetBufferPointer() + count, filter->GetOutput()->GetBufferPointer()));
  EXPECT_TRUE(std::equal(
    hessian->GetBufferPointer(), hessian->GetBufferPointer() + count, filter->GetHessianOutput()->GetBufferPointer()));
}
