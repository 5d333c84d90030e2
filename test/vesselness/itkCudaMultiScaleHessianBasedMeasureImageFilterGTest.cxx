// SPDX-License-Identifier: Apache-2.0

// The multi-scale filter on the host against ITK's in double: responses, winning scales, Hessians, anisotropic spacing,
// both kinds of steps, what the superclass runs. No set of parameters ends in a crash.

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
#include <limits>
#include <random>
#include <string>

namespace
{
using Backend = itk::CudaFiltersEnums::Backend;

template <typename T, unsigned int VDimension>
using TensorImage = itk::Image<itk::SymmetricSecondRankTensor<T, VDimension>, VDimension>;

template <typename T, unsigned int VDimension>
using Filter = itk::CudaMultiScaleHessianBasedMeasureImageFilter<itk::Image<T, VDimension>, TensorImage<T, VDimension>>;
template <typename T, unsigned int VDimension>
using Measure = itk::CudaHessianToObjectnessMeasureImageFilter<TensorImage<T, VDimension>, itk::Image<T, VDimension>>;

template <unsigned int VDimension>
using ItkFilter =
  itk::MultiScaleHessianBasedMeasureImageFilter<itk::Image<double, VDimension>, TensorImage<double, VDimension>>;
template <unsigned int VDimension>
using ItkMeasure =
  itk::HessianToObjectnessMeasureImageFilter<TensorImage<double, VDimension>, itk::Image<double, VDimension>>;

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
  double       Alpha{ 0.6 };
  double       Beta{ 0.7 };
  double       Gamma{ 8.0 };
};

template <typename TFilter, typename TMeasure>
typename TFilter::Pointer
MakeFilter(const typename TFilter::InputImageType * image, const Parameters & p)
{
  const auto measure = TMeasure::New();
  measure->SetObjectDimension(p.ObjectDimension);
  measure->SetBrightObject(p.IsBright);
  measure->SetAlpha(p.Alpha);
  measure->SetBeta(p.Beta);
  measure->SetGamma(p.Gamma);
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
  const auto filter = MakeFilter<Filter<T, VDimension>, Measure<T, VDimension>>(MakeTubes<T, VDimension>(), p);
  const auto itks = MakeFilter<ItkFilter<VDimension>, ItkMeasure<VDimension>>(MakeTubes<double, VDimension>(), p);
  filter->SetBackend("host");
  // The filter makes outputs of the same types again.
  for (const unsigned int output : { 0u, 1u, 2u })
  {
    filter->GetOutputs()[output]->DisconnectPipeline();
  }
  using HessianType = TensorImage<T, VDimension>;
  ASSERT_NE(dynamic_cast<const HessianType *>(static_cast<const itk::DataObject *>(filter->GetHessianOutput())),
            nullptr);
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
    for (unsigned int c = 0; isSameScale && c < TensorImage<T, VDimension>::PixelType::InternalDimension; ++c)
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
  Parameters many;
  many.SigmaMinimum = 0.6;
  many.SigmaMaximum = 5.0;
  many.Steps = 10;
  CheckAgainstITK<T, VDimension>(many, bound, "ten scales");
  Parameters dark;
  dark.IsBright = false;
  CheckAgainstITK<T, VDimension>(dark, bound, "dark");
  Parameters one;
  one.Steps = 1;
  one.IsNonNegative = false;
  CheckAgainstITK<T, VDimension>(one, bound, "one scale, any response");
}
} // namespace

// Float and double, and two and three rows. ITK keeps the images between the passes of a Hessian in float, of whatever
// type its images are.
TEST(CudaMultiScaleHessianBasedMeasureImageFilterTest, ResultsAreITKs)
{
  CheckAllParameters<float, 3>(1e-5);
  CheckAllParameters<double, 2>(1e-6);
}

TEST(CudaMultiScaleHessianBasedMeasureImageFilterTest, OtherMeasuresRunInTheSuperclass)
{
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
  const auto ours = run(Filter<double, 3>::New());
  const auto itks = run(ItkFilter<3>::New());
  EXPECT_NE(ours->GetBackendReason().find("objectness"), std::string::npos) << ours->GetBackendReason();
  const double * a = ours->GetOutput()->GetBufferPointer();
  EXPECT_TRUE(std::equal(a, a + image->GetBufferedRegion().GetNumberOfPixels(), itks->GetOutput()->GetBufferPointer()));
}

TEST(CudaMultiScaleHessianBasedMeasureImageFilterTest, AnyParametersEndInAResultOrAnException)
{
  using ImageType = itk::Image<double, 2>;
  std::mt19937_64 random(itk::cuda::test::GetSeed());
  const double    infinity = std::numeric_limits<double>::infinity();
  const double    hostile[] = { 0.0, -1.0, 1e-300, 1e-9, 0.1,  0.5,   1.0,      1.5,
                                2.0, 4.0,  100.0,  1e9,  1e30, 1e300, infinity, std::nan("") };
  const auto      pick = [&] { return hostile[random() % std::size(hostile)]; };
  size_t          results = 0;
  for (int repeat = 0; repeat < 10000; ++repeat)
  {
    const auto image = ImageType::New();
    image->SetRegions(itk::Size<2>{ { 3 + random() % 5, 3 + random() % 4 } });
    image->Allocate();
    for (size_t i = 0; i < image->GetBufferedRegion().GetNumberOfPixels(); ++i)
    {
      image->GetBufferPointer()[i] = random() % 50 == 0 ? pick() : static_cast<double>(random() % 256);
    }
    Parameters p;
    p.Alpha = pick();
    p.Beta = pick();
    p.Gamma = pick();
    p.ObjectDimension = static_cast<unsigned int>(random() % 3);
    p.IsBright = random() % 2 == 0;
    p.SigmaMinimum = pick();
    p.SigmaMaximum = pick();
    p.Steps = static_cast<unsigned int>(random() % 4);
    p.IsNonNegative = random() % 2 == 0;
    const auto filter = MakeFilter<Filter<double, 2>, Measure<double, 2>>(image, p);
    filter->SetBackend("host");
    filter->SetNumberOfWorkUnits(1);
    filter->SetGenerateScalesOutput(random() % 2 == 0);
    filter->SetGenerateHessianOutput(random() % 2 == 0);
    try
    {
      filter->Update();
      ++results;
    }
    catch (const itk::ExceptionObject &)
    {}
  }
  std::cout << results << " of 10000 sets have a result" << std::endl;
  EXPECT_GT(results, 100u);
}
