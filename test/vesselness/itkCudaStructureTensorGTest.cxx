// SPDX-License-Identifier: Apache-2.0

// The structure tensor on the host: against a convolution in double with kernels from their definition, and what its
// quantities mean; parameters, threads, pixels that are not finite.

#include "itkCudaStructureTensorImageFilter.h"

#include "support/itkCudaGaussianLineReference.h"
#include "support/itkCudaHessianMeasureReference.h"
#include "support/itkCudaTestSeed.h"
#include "itkImage.h"
#include "itkImageRegionIteratorWithIndex.h"
#include "itkVector.h"
#include "itkVectorImage.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <random>
#include <string>
#include <vector>

namespace
{
using itk::cuda::test::GaussianParameters;
using Backend = itk::CudaFiltersEnums::Backend;
using ApproximationEnum = itk::CudaFiltersEnums::Approximation;
using QuantityEnum = itk::CudaStructureTensorEnums::Quantity;

template <typename T, unsigned int VDimension>
using TensorImage = itk::Image<itk::SymmetricSecondRankTensor<T, VDimension>, VDimension>;

/** Noise from -1 to 1, with a spacing of its own along each axis. */
template <typename T, unsigned int VDimension>
typename itk::Image<T, VDimension>::Pointer
MakeNoise(double amplitude = 1.0)
{
  std::mt19937_64                        random(itk::cuda::test::GetSeed());
  std::uniform_real_distribution<double> uniform(-amplitude, amplitude);
  const auto                             image = itk::Image<T, VDimension>::New();
  itk::Size<VDimension>                  size;
  auto                                   spacing = image->GetSpacing();
  for (unsigned int d = 0; d < VDimension; ++d)
  {
    size[d] = 19 - 4 * d;
    spacing[d] = 0.7 + 0.3 * d;
  }
  image->SetRegions(size);
  image->SetSpacing(spacing);
  image->Allocate();
  for (size_t i = 0; i < image->GetBufferedRegion().GetNumberOfPixels(); ++i)
  {
    image->GetBufferPointer()[i] = static_cast<T>(uniform(random));
  }
  return image;
}

/** The half n >= 0 of the kernel: Deriche's, or the Gaussian itself, sampled at the pixels. The Gaussian has the sum 1.
 * Its derivative has the response 1 to the ramp x[n] = n. */
std::vector<double>
MakeHalfKernel(ApproximationEnum approximation, unsigned int order, double sigma, double spacing)
{
  GaussianParameters parameters;
  parameters.Order = order;
  parameters.Sigma = sigma;
  parameters.Spacing = spacing;
  if (approximation == ApproximationEnum::Deriche)
  {
    return itk::cuda::test::SampleHalf(itk::cuda::test::ReferenceKernel(parameters));
  }
  const double        pixels = parameters.SigmaInPixels();
  std::vector<double> half(static_cast<size_t>(40.0 * pixels) + 8);
  double              sum = 0.0;
  for (size_t i = 0; i < half.size(); ++i)
  {
    const auto   n = static_cast<double>(i);
    const double gaussian = std::exp(-0.5 * n * n / (pixels * pixels));
    half[i] = order == 0 ? gaussian : -n * gaussian;
    sum += (i == 0 ? 1.0 : 2.0) * (order == 0 ? gaussian : n * n * gaussian);
  }
  std::for_each(half.begin(), half.end(), [sum](double & weight) { weight /= sum; });
  return half;
}

/** Convolution along one axis as the sum over the kernel; the line's end values continue it. Order 1 is odd. */
template <unsigned int VDimension>
void
Convolve(std::vector<double> &         pixels,
         const itk::Size<VDimension> & size,
         unsigned int                  axis,
         unsigned int                  order,
         const std::vector<double> &   half)
{
  const int reach = static_cast<int>(half.size()) - 1;
  size_t    stride = 1;
  for (unsigned int d = 0; d < axis; ++d)
  {
    stride *= size[d];
  }
  const int                 length = static_cast<int>(size[axis]);
  const std::vector<double> source = pixels;
  for (size_t i = 0; i < pixels.size(); ++i)
  {
    const int    x = static_cast<int>(i / stride % size[axis]);
    const size_t line = i - static_cast<size_t>(x) * stride;
    double       sum = 0.0;
    for (int n = -reach; n <= reach; ++n)
    {
      const int    place = std::clamp(x - n, 0, length - 1);
      const double weight = n == 0 && order == 1 ? 0.0 : half[std::abs(n)] * (n < 0 && order == 1 ? -1.0 : 1.0);
      sum += weight * source[line + static_cast<size_t>(place) * stride];
    }
    pixels[i] = sum;
  }
}

/** The components, plane after plane, by the formula. */
template <typename T, unsigned int VDimension>
std::vector<std::vector<double>>
GetReference(const itk::Image<T, VDimension> * image,
             double                            sigma,
             double                            integrationSigma,
             ApproximationEnum                 approximation)
{
  const auto                                  size = image->GetBufferedRegion().GetSize();
  const auto                                  spacing = image->GetSpacing();
  const std::vector<double>                   pixels(image->GetBufferPointer(),
                                   image->GetBufferPointer() + image->GetBufferedRegion().GetNumberOfPixels());
  std::array<std::vector<double>, VDimension> gradient;
  for (unsigned int component = 0; component < VDimension; ++component)
  {
    gradient[component] = pixels;
    for (unsigned int axis = 0; axis < VDimension; ++axis)
    {
      const unsigned int order = axis == component ? 1 : 0;
      Convolve<VDimension>(
        gradient[component], size, axis, order, MakeHalfKernel(approximation, order, sigma, spacing[axis]));
    }
    for (double & x : gradient[component])
    {
      x /= spacing[component];
    }
  }
  std::vector<std::vector<double>> tensor;
  for (unsigned int a = 0; a < VDimension; ++a)
  {
    for (unsigned int b = a; b < VDimension; ++b)
    {
      std::vector<double> product(pixels.size());
      std::transform(gradient[a].begin(), gradient[a].end(), gradient[b].begin(), product.begin(), std::multiplies<>());
      for (unsigned int axis = 0; axis < VDimension; ++axis)
      {
        Convolve<VDimension>(product, size, axis, 0, MakeHalfKernel(approximation, 0, integrationSigma, spacing[axis]));
      }
      tensor.push_back(product);
    }
  }
  return tensor;
}

template <typename TOutput, typename TInput>
typename TOutput::Pointer
RunFilter(const TInput *    image,
          double            sigma,
          double            integrationSigma,
          QuantityEnum      quantity = QuantityEnum::Components,
          ApproximationEnum approximation = ApproximationEnum::Deriche)
{
  const auto filter = itk::CudaStructureTensorImageFilter<TInput, TOutput>::New();
  filter->SetInput(image);
  filter->SetSigma(sigma);
  filter->SetIntegrationSigma(integrationSigma);
  filter->SetQuantity(quantity);
  filter->SetApproximation(approximation);
  filter->SetBackend("host");
  filter->Update();
  EXPECT_EQ(filter->GetBackendUsed(), Backend::Host);
  return filter->GetOutput();
}

template <typename T, unsigned int VDimension>
void
CheckAgainstReference(double                      bound,
                      ApproximationEnum           approximation = ApproximationEnum::Deriche,
                      const std::vector<double> & sigmas = { 0.8, 1.5 })
{
  const auto image = MakeNoise<T, VDimension>();
  for (const double sigma : sigmas)
  {
    const auto found =
      RunFilter<TensorImage<T, VDimension>>(image.GetPointer(), sigma, 2.2, QuantityEnum::Components, approximation);
    const auto   expected = GetReference<T, VDimension>(image, sigma, 2.2, approximation);
    const size_t count = expected.front().size();
    double       largest = 0.0, error = 0.0;
    for (size_t c = 0; c < expected.size(); ++c)
    {
      for (size_t i = 0; i < count; ++i)
      {
        largest = std::max(largest, std::fabs(expected[c][i]));
        error = std::max(error, std::fabs(static_cast<double>(found->GetBufferPointer()[i][c]) - expected[c][i]));
      }
    }
    ASSERT_GT(largest, 0.0);
    EXPECT_LE(error, bound * largest) << "sigma " << sigma;
  }
}

using VectorType = itk::Image<itk::Vector<double, 3>, 3>;

/** Layers across the direction (x, y, z), with wave length 5 pixels. */
itk::Image<double, 3>::Pointer
MakeLayers(const itk::Vector<double, 3> & normal)
{
  using ImageType = itk::Image<double, 3>;
  const auto image = ImageType::New();
  image->SetRegions(itk::Size<3>{ { 32, 32, 20 } });
  image->Allocate();
  itk::ImageRegionIteratorWithIndex<ImageType> it(image, image->GetBufferedRegion());
  for (; !it.IsAtEnd(); ++it)
  {
    double phase = 0.0;
    for (unsigned int d = 0; d < 3; ++d)
    {
      phase += normal[d] * static_cast<double>(it.GetIndex()[d]);
    }
    it.Set(100.0 * std::sin(phase * 6.283185307179586 / 5.0));
  }
  return image;
}
} // namespace

// Float and double, and two and three rows.
TEST(CudaStructureTensorTest, ComponentsAreTheFormulas)
{
  CheckAgainstReference<float, 2>(1e-6);
  CheckAgainstReference<double, 3>(1e-11);
}

/** From a sigma of 1.5 pixels on a derivative is within 6e-5 of the largest one (docs/developer/numerics.md). A
 * component is the product of two derivatives, smoothed, which adds 1e-5. Deriche's Gaussian is off by a percent. */
TEST(CudaStructureTensorTest, AccurateComponentsAreThoseOfTheGaussian)
{
  CheckAgainstReference<float, 2>(2e-4, ApproximationEnum::Accurate, { 2.0, 3.0 });
  CheckAgainstReference<double, 3>(2e-4, ApproximationEnum::Accurate, { 2.0, 3.0 });
}

TEST(CudaStructureTensorTest, QuantitiesAreThoseOfTheComponents)
{
  const auto image = MakeNoise<double, 3>();
  const auto tensors = RunFilter<TensorImage<double, 3>>(image.GetPointer(), 1.0, 1.5);
  const auto values = RunFilter<VectorType>(image.GetPointer(), 1.0, 1.5, QuantityEnum::Eigenvalues);
  const auto directions = RunFilter<VectorType>(image.GetPointer(), 1.0, 1.5, QuantityEnum::Orientation);
  const auto coherence = RunFilter<itk::Image<double, 3>>(image.GetPointer(), 1.0, 1.5, QuantityEnum::Coherence);
  for (size_t i = 0; i < image->GetBufferedRegion().GetNumberOfPixels(); ++i)
  {
    const auto & tensor = tensors->GetBufferPointer()[i];
    const auto   expected = itk::cuda::test::GetEigenvalues<3>(tensor.Begin());
    const auto & direction = directions->GetBufferPointer()[i];
    double       residual = 0.0;
    for (unsigned int row = 0; row < 3; ++row)
    {
      EXPECT_NEAR(values->GetBufferPointer()[i][row], expected[row], 1e-12 * expected[2]) << i;
      double product = -expected[0] * direction[row];
      for (unsigned int column = 0; column < 3; ++column)
      {
        product += tensor(row, column) * direction[column];
      }
      residual = std::max(residual, std::fabs(product));
    }
    EXPECT_LE(residual, 1e-11 * expected[2]) << i;
    EXPECT_NEAR(direction.GetNorm(), 1.0, 1e-12) << i;
    EXPECT_GE(direction[0] != 0.0 ? direction[0] : direction[1], 0.0) << i;
    EXPECT_NEAR(coherence->GetBufferPointer()[i], (expected[2] - expected[0]) / (expected[2] + expected[0]), 1e-10)
      << i;
  }
}

TEST(CudaStructureTensorTest, LayersHaveTheirDirection)
{
  for (const double angle : { 0.0, 0.3, 0.9, 1.5, 2.6 })
  {
    itk::Vector<double, 3> normal;
    normal[0] = std::cos(angle);
    normal[1] = 0.8 * std::sin(angle);
    normal[2] = 0.6 * std::sin(angle);
    const auto image = MakeLayers(normal);
    const auto directions = RunFilter<VectorType>(image.GetPointer(), 1.0, 3.0, QuantityEnum::Orientation);
    const auto coherence = RunFilter<itk::Image<double, 3>>(image.GetPointer(), 1.0, 3.0, QuantityEnum::Coherence);
    for (itk::IndexValueType y = 10; y < 22; ++y)
    {
      for (itk::IndexValueType x = 10; x < 22; ++x)
      {
        EXPECT_LE(std::fabs(directions->GetPixel({ { x, y, 10 } }) * normal), 0.02) << "angle " << angle;
        EXPECT_GE(coherence->GetPixel({ { x, y, 10 } }), 0.99) << "angle " << angle;
      }
    }
  }
}

TEST(CudaStructureTensorTest, ConstantImagesHaveNoCoherence)
{
  const auto image = MakeNoise<double, 3>();
  image->FillBuffer(1234.5);
  const auto coherence = RunFilter<itk::Image<double, 3>>(image.GetPointer(), 1.0, 2.0, QuantityEnum::Coherence);
  for (size_t i = 0; i < image->GetBufferedRegion().GetNumberOfPixels(); ++i)
  {
    EXPECT_EQ(coherence->GetBufferPointer()[i], 0.0);
  }
}

TEST(CudaStructureTensorTest, IntegersAndVectorImages)
{
  const auto image = MakeNoise<short, 2>(1000.0);
  const auto real = itk::Image<float, 2>::New();
  real->CopyInformation(image);
  real->SetRegions(image->GetBufferedRegion());
  real->Allocate();
  const size_t count = image->GetBufferedRegion().GetNumberOfPixels();
  std::copy_n(image->GetBufferPointer(), count, real->GetBufferPointer());
  const auto expected = RunFilter<TensorImage<float, 2>>(real.GetPointer(), 1.0, 2.0);
  const auto found = RunFilter<TensorImage<float, 2>>(image.GetPointer(), 1.0, 2.0);
  const auto vectors = RunFilter<itk::VectorImage<float, 2>>(image.GetPointer(), 1.0, 2.0);
  ASSERT_EQ(vectors->GetNumberOfComponentsPerPixel(), 3u);
  for (size_t i = 0; i < count; ++i)
  {
    EXPECT_EQ(found->GetBufferPointer()[i], expected->GetBufferPointer()[i]);
    for (unsigned int c = 0; c < 3; ++c)
    {
      EXPECT_EQ(vectors->GetBufferPointer()[3 * i + c], expected->GetBufferPointer()[i][c]);
    }
  }
}

TEST(CudaStructureTensorTest, OutputsOfOtherComponentsAndThinImagesAreRefused)
{
  using Tensors = TensorImage<float, 2>;
  const auto image = MakeNoise<float, 2>();
  EXPECT_THROW((RunFilter<Tensors>(image.GetPointer(), 1.0, 1.0, QuantityEnum::Coherence)), itk::ExceptionObject);
  EXPECT_THROW((RunFilter<itk::Image<double, 3>>(MakeNoise<double, 3>().GetPointer(), 1.0, 1.0)), itk::ExceptionObject);
  const auto thin = itk::Image<float, 2>::New();
  thin->SetRegions(itk::Size<2>{ { 20, 3 } });
  thin->Allocate(true);
  EXPECT_THROW((RunFilter<Tensors>(thin.GetPointer(), 1.0, 1.0)), itk::ExceptionObject);
}

TEST(CudaStructureTensorTest, PixelsThatAreNotFiniteDoNotHang)
{
  const auto image = MakeNoise<double, 3>();
  image->GetBufferPointer()[77] = std::numeric_limits<double>::quiet_NaN();
  image->GetBufferPointer()[78] = std::numeric_limits<double>::infinity();
  const auto directions = RunFilter<VectorType>(image.GetPointer(), 1.0, 2.0, QuantityEnum::Orientation);
  EXPECT_TRUE(std::isnan(directions->GetBufferPointer()[77][0]));
}
