// SPDX-License-Identifier: Apache-2.0

// What the multi-scale filter makes of tubes of known radius: the winning scale, against ITK's filter in double and
// against the other radii, the centre line and the direction; and that no set of parameters ends in a crash.

#include "itkCudaMultiScaleHessianBasedMeasureImageFilter.h"

#include "support/itkCudaTestSeed.h"
#include "itkHessianToObjectnessMeasureImageFilter.h"
#include "itkImage.h"
#include "itkImageRegionIteratorWithIndex.h"
#include "itkLinearInterpolateImageFunction.h"
#include "itkSymmetricEigenAnalysis.h"
#include "itkSymmetricSecondRankTensor.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <random>
#include <string>
#include <vector>

namespace
{
template <unsigned int VDimension>
using PointType = itk::Vector<double, VDimension>;

template <typename T, unsigned int VDimension>
using TensorImage = itk::Image<itk::SymmetricSecondRankTensor<T, VDimension>, VDimension>;

constexpr double Extent = 44.0; // pixels along each axis
constexpr int    SamplesOfCurve = 240;

/** A tube's axis: the point at t from 0 to 1. */
template <unsigned int VDimension>
using Curve = std::function<PointType<VDimension>(double)>;

template <unsigned int VDimension>
PointType<VDimension>
MakePoint(double x, double y, double z)
{
  PointType<VDimension> point;
  point[0] = x;
  point[1] = y;
  if (VDimension == 3)
  {
    point[VDimension - 1] = z;
  }
  return point;
}

template <unsigned int VDimension>
Curve<VDimension>
MakeLine(const PointType<VDimension> & from, const PointType<VDimension> & to)
{
  return [=](double t) { return from + (to - from) * t; };
}

/** Shapes of one curve or more; the first is the one that is looked at. */
template <unsigned int VDimension>
std::vector<Curve<VDimension>>
MakeShape(const std::string & name)
{
  if (name == "oblique")
  {
    return { MakeLine<VDimension>(MakePoint<VDimension>(3, 7, 9), MakePoint<VDimension>(40, 33, 30)) };
  }
  if (name == "curved")
  {
    return { [](double t) {
      const double angle = 1.5 * t;
      return MakePoint<VDimension>(4 + 32 * std::cos(angle), 4 + 32 * std::sin(angle), 14 + 14 * t);
    } };
  }
  // The branch leaves at t = 0.85.
  const auto trunk = MakeLine<VDimension>(MakePoint<VDimension>(2, 16, 20), MakePoint<VDimension>(42, 22, 24));
  return { trunk, MakeLine<VDimension>(trunk(0.85), MakePoint<VDimension>(42, 42, 40)) };
}

/** The sum over a disc would be costly: a tube falls off like a sigmoid at its radius. */
template <typename T, unsigned int VDimension>
typename itk::Image<T, VDimension>::Pointer
MakePhantom(const std::vector<Curve<VDimension>> & curves, double radius, double noise)
{
  using ImageType = itk::Image<T, VDimension>;
  std::vector<PointType<VDimension>> axis;
  for (const Curve<VDimension> & curve : curves)
  {
    for (int i = 0; i <= SamplesOfCurve; ++i)
    {
      axis.push_back(curve(1.2 * i / SamplesOfCurve - 0.1));
    }
  }
  std::mt19937_64                        random(itk::cuda::test::GetSeed());
  std::uniform_real_distribution<double> uniform(-noise, noise);
  itk::Size<VDimension>                  size;
  size.Fill(static_cast<itk::SizeValueType>(Extent));
  const auto image = ImageType::New();
  image->SetRegions(size);
  image->Allocate();
  itk::ImageRegionIteratorWithIndex<ImageType> it(image, image->GetBufferedRegion());
  for (; !it.IsAtEnd(); ++it)
  {
    PointType<VDimension> pixel;
    for (unsigned int d = 0; d < VDimension; ++d)
    {
      pixel[d] = static_cast<double>(it.GetIndex()[d]);
    }
    double nearest = std::numeric_limits<double>::max();
    for (const PointType<VDimension> & point : axis)
    {
      nearest = std::min(nearest, (point - pixel).GetSquaredNorm());
    }
    it.Set(static_cast<T>(static_cast<float>(100.0 / (1.0 + std::exp((std::sqrt(nearest) - radius) / 0.35)) +
                                             (noise > 0.0 ? uniform(random) : 0.0))));
  }
  return image;
}

constexpr double       SigmaMinimum = 0.6;
constexpr double       SigmaMaximum = 5.0;
constexpr unsigned int SigmaSteps = 10;

template <typename TFilter, typename TMeasure>
typename TFilter::Pointer
RunScales(const typename TFilter::InputImageType * image)
{
  const auto measure = TMeasure::New();
  measure->SetObjectDimension(1);
  const auto filter = TFilter::New();
  filter->SetInput(image);
  filter->SetHessianToMeasureFilter(measure);
  filter->SetSigmaMinimum(SigmaMinimum);
  filter->SetSigmaMaximum(SigmaMaximum);
  filter->SetNumberOfSigmaSteps(SigmaSteps);
  filter->GenerateScalesOutputOn();
  filter->GenerateHessianOutputOn();
  return filter;
}

/** Unit vectors across `tangent` that are perpendicular to each other. */
template <unsigned int VDimension>
std::vector<PointType<VDimension>>
GetNormals(const PointType<VDimension> & tangent)
{
  std::vector<PointType<VDimension>> normals;
  for (unsigned int axis = 0; axis < VDimension && normals.size() + 1 < VDimension; ++axis)
  {
    PointType<VDimension> normal;
    normal.Fill(0.0);
    normal[axis] = 1.0;
    normal -= tangent * (normal * tangent);
    for (const PointType<VDimension> & other : normals)
    {
      normal -= other * (normal * other);
    }
    if (normal.GetNorm() > 0.3)
    {
      normals.push_back(normal / normal.GetNorm());
    }
  }
  return normals;
}

/** Where the response along a normal is largest, in pixels from the axis. Interpolated lines have their maximum at a
 * pixel, so the place is the vertex of the parabola through the largest value and those a pixel beside it. */
template <unsigned int VDimension, typename TImage>
double
GetOffsetOfMaximum(const TImage *                image,
                   const PointType<VDimension> & point,
                   const PointType<VDimension> & normal,
                   double                        radius)
{
  const auto interpolator = itk::LinearInterpolateImageFunction<TImage>::New();
  interpolator->SetInputImage(image);
  const auto evaluate = [&](double step) {
    itk::ContinuousIndex<double, VDimension> place;
    for (unsigned int d = 0; d < VDimension; ++d)
    {
      place[d] = point[d] + step * normal[d];
    }
    return static_cast<double>(interpolator->EvaluateAtContinuousIndex(place));
  };
  double best = -1.0, offset = 0.0;
  for (int i = -40; i <= 40; ++i)
  {
    const double step = i / 40.0 * (radius + 1.0);
    const double value = evaluate(step);
    if (value > best)
    {
      best = value;
      offset = step;
    }
  }
  const double before = evaluate(offset - 1.0);
  const double behind = evaluate(offset + 1.0);
  return offset + 0.5 * (before - behind) / (before - 2.0 * best + behind);
}

/** The angle in degrees between the tangent and the eigenvector of the least magnitude. */
template <unsigned int VDimension, typename TTensor>
double
GetAngle(const TTensor & hessian, const PointType<VDimension> & tangent)
{
  using Tensor = itk::SymmetricSecondRankTensor<double, VDimension>;
  Tensor tensor;
  std::copy(hessian.Begin(), hessian.End(), tensor.Begin());
  itk::FixedArray<double, VDimension>         values;
  itk::Matrix<double, VDimension, VDimension> vectors;
  itk::SymmetricEigenAnalysisFixedDimension<VDimension,
                                            Tensor,
                                            itk::FixedArray<double, VDimension>,
                                            itk::Matrix<double, VDimension, VDimension>>
    analysis;
  analysis.SetOrderEigenMagnitudes(true);
  analysis.ComputeEigenValuesAndVectors(tensor, values, vectors);
  double cosine = 0.0;
  for (unsigned int d = 0; d < VDimension; ++d)
  {
    cosine += vectors[0][d] * tangent[d];
  }
  return std::acos(std::min(1.0, std::fabs(cosine))) * 57.29577951308232;
}

/** Looks at points of the axis. Returns the mean of the logarithms of the winning scales. */
template <unsigned int VDimension>
double
CheckTube(const std::string & shape, double radius, double noise)
{
  using ImageType = itk::Image<float, VDimension>;
  using HessianType = TensorImage<float, VDimension>;
  using DoubleType = itk::Image<double, VDimension>;
  using DoubleHessianType = TensorImage<double, VDimension>;
  const auto curves = MakeShape<VDimension>(shape);
  const auto filter = RunScales<itk::CudaMultiScaleHessianBasedMeasureImageFilter<ImageType, HessianType>,
                                itk::HessianToObjectnessMeasureImageFilter<HessianType, ImageType>>(
    MakePhantom<float, VDimension>(curves, radius, noise));
  filter->SetBackend("host");
  filter->Update();
  const auto itks = RunScales<itk::MultiScaleHessianBasedMeasureImageFilter<DoubleType, DoubleHessianType>,
                              itk::HessianToObjectnessMeasureImageFilter<DoubleHessianType, DoubleType>>(
    MakePhantom<double, VDimension>(curves, radius, noise));
  itks->Update();

  const double step = std::log(SigmaMaximum / SigmaMinimum) / (SigmaSteps - 1);
  double       sum = 0.0;
  int          points = 0;
  for (double t = 0.3; t < 0.61; t += 0.03, ++points)
  {
    const std::string           what = shape + ", radius " + std::to_string(radius) + ", t " + std::to_string(t);
    const PointType<VDimension> point = curves.front()(t);
    PointType<VDimension>       tangent = curves.front()(t + 1e-4) - curves.front()(t - 1e-4);
    tangent /= tangent.GetNorm();
    itk::Index<VDimension> index;
    for (unsigned int d = 0; d < VDimension; ++d)
    {
      index[d] = static_cast<itk::IndexValueType>(std::lround(point[d]));
    }
    const auto scale = static_cast<double>(filter->GetScalesOutput()->GetPixel(index));
    const auto expected = static_cast<double>(itks->GetScalesOutput()->GetPixel(index));
    EXPECT_GT(scale, 0.0) << what;
    if (!(scale > 0.0 && expected > 0.0))
    {
      continue;
    }
    EXPECT_LE(std::fabs(std::log(scale / expected)), 1.01 * step) << what << ": " << scale << " and " << expected;
    sum += std::log(scale);
    for (const PointType<VDimension> & normal : GetNormals<VDimension>(tangent))
    {
      EXPECT_LE(std::fabs(GetOffsetOfMaximum<VDimension>(filter->GetOutput(), point, normal, radius)), 0.5) << what;
    }
    EXPECT_LE(GetAngle<VDimension>(filter->GetHessianOutput()->GetPixel(index), tangent), 5.0) << what;
  }
  return sum / points;
}

template <unsigned int VDimension>
void
CheckTubes(double noise)
{
  for (const char * const shape : { "oblique", "curved", "bifurcation" })
  {
    double previous = -std::numeric_limits<double>::infinity();
    for (const double radius : { 1.0, 2.0, 4.0 })
    {
      const double scale = CheckTube<VDimension>(shape, radius, noise);
      EXPECT_GT(scale, previous) << shape << ", radius " << radius;
      previous = scale;
    }
  }
}
} // namespace

TEST(CudaVesselPhantomTest, TubesInTwoDimensions)
{
  CheckTubes<2>(0.0);
}

TEST(CudaVesselPhantomTest, TubesInTwoDimensionsWithNoise)
{
  CheckTubes<2>(1.0);
}

TEST(CudaVesselPhantomTest, TubesInThreeDimensionsSlow)
{
  CheckTubes<3>(1.0);
}

TEST(CudaVesselPhantomTest, AnyParametersEndInAResultOrAnException)
{
  using ImageType = itk::Image<float, 2>;
  using HessianType = TensorImage<float, 2>;
  using Filter = itk::CudaMultiScaleHessianBasedMeasureImageFilter<ImageType, HessianType>;
  using Measure = itk::CudaHessianToObjectnessMeasureImageFilter<HessianType, ImageType>;
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
      image->GetBufferPointer()[i] =
        static_cast<float>(random() % 50 == 0 ? pick() : static_cast<double>(random() % 256));
    }
    const auto measure = Measure::New();
    measure->SetAlpha(pick());
    measure->SetBeta(pick());
    measure->SetGamma(pick());
    measure->SetObjectDimension(static_cast<unsigned int>(random() % 3));
    measure->SetBrightObject(random() % 2 == 0);
    const auto filter = Filter::New();
    filter->SetBackend("host");
    filter->SetNumberOfWorkUnits(1);
    filter->SetInput(image);
    filter->SetHessianToMeasureFilter(measure);
    filter->SetSigmaMinimum(pick());
    filter->SetSigmaMaximum(pick());
    filter->SetNumberOfSigmaSteps(static_cast<unsigned int>(random() % 4));
    filter->SetNonNegativeHessianBasedMeasure(random() % 2 == 0);
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
