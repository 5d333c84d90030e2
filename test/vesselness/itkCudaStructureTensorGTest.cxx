// SPDX-License-Identifier: Apache-2.0

// The structure tensor on the host: against convolutions in double with the kernels of its approximations, and what its
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
using itk::cuda::test::FilterVolume;
using itk::cuda::test::Volume;
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

/** The components, plane after plane, by the formula. */
template <typename T, unsigned int VDimension>
std::vector<std::vector<double>>
GetReference(const itk::Image<T, VDimension> * image,
             double                            sigma,
             double                            integrationSigma,
             ApproximationEnum                 approximation)
{
  const auto   spacing = image->GetSpacing();
  const size_t number = image->GetBufferedRegion().GetNumberOfPixels();
  Volume       input{ { { 1, 1, 1, 1 } }, { image->GetBufferPointer(), image->GetBufferPointer() + number } };
  std::copy_n(image->GetBufferedRegion().GetSize().begin(), VDimension, input.Size.begin());
  std::vector<Volume> gradient(VDimension, input);
  for (unsigned int component = 0; component < VDimension; ++component)
  {
    for (unsigned int axis = 0; axis < VDimension; ++axis)
    {
      const unsigned int order = axis == component ? 1 : 0;
      FilterVolume(gradient[component], { axis, order, sigma, spacing[axis] }, approximation);
    }
    for (double & x : gradient[component].Pixels)
    {
      x /= spacing[component];
    }
  }
  std::vector<std::vector<double>> tensor;
  for (unsigned int a = 0; a < VDimension; ++a)
  {
    for (unsigned int b = a; b < VDimension; ++b)
    {
      Volume product = gradient[a];
      std::transform(product.Pixels.begin(),
                     product.Pixels.end(),
                     gradient[b].Pixels.begin(),
                     product.Pixels.begin(),
                     std::multiplies<>());
      for (unsigned int axis = 0; axis < VDimension; ++axis)
      {
        FilterVolume(product, { axis, 0, integrationSigma, spacing[axis] }, approximation);
      }
      tensor.push_back(product.Pixels);
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
CheckAgainstReference(double bound, ApproximationEnum approximation)
{
  const auto image = MakeNoise<T, VDimension>();
  for (const double sigma : { 0.8, 1.5 })
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

} // namespace

// Float and double, and two and three rows.
TEST(CudaStructureTensorTest, ComponentsAreTheFormulas)
{
  for (const auto approximation : { ApproximationEnum::Deriche, ApproximationEnum::Accurate })
  {
    CheckAgainstReference<float, 2>(1e-6, approximation);
    CheckAgainstReference<double, 3>(1e-11, approximation);
  }
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
