// SPDX-License-Identifier: Apache-2.0
// The references and comparisons that the tests of the Gaussian filters stand on.
#include "support/itkCudaGaussianLineReference.h"
#include "support/itkCudaGaussianTestUtilities.h"
#include "itkRecursiveGaussianImageFilter.h"

namespace itk::cuda::test
{
namespace
{
std::vector<double>
MakeRandomLine(size_t length, double scale, double offset)
{
  std::vector<double> line(length);
  for (size_t i = 0; i < length; ++i)
  {
    line[i] = offset + scale * UniformRandom(i);
  }
  return line;
}

/** Response to n^power at the middle of a line so long that its ends are not seen. */
double
ResponseToPower(const GaussianParameters & parameters, int power)
{
  const auto          half = static_cast<size_t>(60 * parameters.SigmaInPixels()) + 60;
  std::vector<double> line(2 * half + 1);
  for (size_t n = 0; n < line.size(); ++n)
  {
    line[n] = std::pow(static_cast<double>(n) - static_cast<double>(half), power);
  }
  return FilterContinuedLine<>(parameters, line)[half];
}

TEST(CudaGaussianReference, ModalFormIsTheSumOverTheKernel)
{
  for (const auto approximation : AllApproximations)
  {
    for (unsigned int order = 0; order < 3; ++order)
    {
      for (const double sigma : { 0.5, 1.0, 4.0, 20.0 })
      {
        for (const size_t length : { 1u, 2u, 4u, 5u, 31u, 257u })
        {
          for (const Mode mode : AllModes)
          {
            const ReferenceKernel     kernel = MakeReferenceKernel(approximation, { 0, order, sigma });
            const std::vector<double> line = MakeRandomLine(length, 1.0, 1.0);
            EXPECT_LE(LargestDifference(FilterContinuedLine<>(kernel, line, { mode, 1.5 }),
                                        SumOverContinuedLine(kernel, line, { mode, 1.5 })),
                      ModalAgainstConvolution * 2.0 * L1Norm(kernel))
              << approximation << ", order " << order << ", sigma " << sigma << ", length " << length << ", " << mode;
          }
        }
      }
    }
  }
}

TEST(CudaGaussianReference, ModalFormInDoubleHasTheDigitsOfDouble)
{
  for (const double sigma : { 0.6, 3.0, 12.0, 50.0 })
  {
    for (unsigned int order = 0; order < 3; ++order)
    {
      const ReferenceKernel     kernel(GaussianParameters{ 0, order, sigma });
      const std::vector<double> line = MakeRandomLine(400, 1.0, 0.0);
      EXPECT_LE(LargestDifference(FilterContinuedLine<>(kernel, line), FilterContinuedLine<long double>(kernel, line)),
                1e-13 * L1Norm(kernel))
        << "sigma " << sigma << ", order " << order;
    }
  }
}

TEST(CudaGaussianReference, ModalFormIsITKsFilter)
{
  using ImageType = Image<double, 1>;
  const std::vector<double> line = MakeRandomLine(1031, 100.0, 950.0);
  const auto                image = MakeImage<ImageType>(MakeRegion<1>({ { line.size() } }));
  std::copy(line.begin(), line.end(), image->GetBufferPointer());
  SetSpacing(image.GetPointer(), { { 0.7 } });
  for (unsigned int order = 0; order < 3; ++order)
  {
    for (const double sigma : { 0.5, 1.0, 4.0, 20.0, 50.0 })
    {
      for (const bool normalize : { false, true })
      {
        const auto filter = RecursiveGaussianImageFilter<ImageType>::New();
        filter->SetInput(image);
        filter->SetOrder(static_cast<GaussianOrderEnum>(order));
        filter->SetSigma(0.7 * sigma);
        filter->SetNormalizeAcrossScale(normalize);
        filter->Update();
        const double * const      begin = filter->GetOutput()->GetBufferPointer();
        const ReferenceKernel     kernel(GaussianParameters{ 0, order, 0.7 * sigma, 0.7, normalize });
        const std::vector<double> itks(begin, begin + line.size());
        EXPECT_LE(LargestDifference(FilterContinuedLine<>(kernel, line), itks),
                  ModalAgainstITK * 1050.0 * L1Norm(kernel))
          << "order " << order << ", sigma " << sigma << ", normalised " << normalize;
      }
    }
  }
}

TEST(CudaGaussianReference, KernelHasUnitMoments)
{
  for (const double sigma : { 0.5, 1.0, 20.0, 500.0 })
  {
    EXPECT_NEAR(ResponseToPower({ 0, 0, sigma, 1.0, false }, 0), 1.0, 1e-9);
    EXPECT_NEAR(ResponseToPower({ 0, 1, sigma, 1.0, false }, 1), 1.0, 1e-9);
    EXPECT_NEAR(ResponseToPower({ 0, 1, sigma, -1.0, false }, 1), -1.0, 1e-9);
    EXPECT_NEAR(ResponseToPower({ 0, 2, sigma, 1.0, false }, 0), 0.0, 1e-9);
    EXPECT_NEAR(ResponseToPower({ 0, 2, sigma, 1.0, false }, 2), 2.0, 1e-8);
    EXPECT_NEAR(ResponseToPower({ 0, 1, sigma, 1.0, true }, 1), sigma, 1e-9 * sigma);
    EXPECT_NEAR(ResponseToPower({ 0, 2, sigma, 1.0, true }, 2), 2.0 * sigma * sigma, 1e-8 * sigma * sigma);
  }
}

TEST(CudaGaussianReference, L1NormScalesAsTheDerivatives)
{
  for (const double sigma : { 4.0, 50.0, 500.0 })
  {
    // 1, sqrt(2/pi)/sigma and 4 phi(1)/sigma^2 for a true Gaussian; Deriche's kernel is a few per cent away.
    EXPECT_NEAR(L1Norm(GaussianParameters{ 0, 0, sigma }), 1.0, 0.05);
    EXPECT_NEAR(L1Norm(GaussianParameters{ 0, 1, sigma }) * sigma, 0.798, 0.04);
    EXPECT_NEAR(L1Norm(GaussianParameters{ 0, 2, sigma }) * sigma * sigma, 0.968, 0.06);
  }
}

using ImageType = Image<float, 2>;

TEST(CudaGaussianComparison, SeesOneWrongBit)
{
  const auto image = MakeDataImage<ImageType>(MakeRegion<2>({ { 9, 7 } }), DataKind::Uniform);
  const auto copy = Duplicate(image.GetPointer());
  EXPECT_TRUE(HasSameBits(image.GetPointer(), copy.GetPointer()));
  image->SetPixel({ { 0, 6 } }, std::nextafter(image->GetPixel({ { 0, 6 } }), 2.0F));
  EXPECT_FALSE(HasSameBits(image.GetPointer(), copy.GetPointer()));
}

TEST(CudaGaussianComparison, NotANumberIsTheLargestDifference)
{
  EXPECT_EQ(LargestDifference({ 1.0, 2.0 }, { 1.5, 2.0 }), 0.5);
  EXPECT_EQ(LargestDifference({ 1.0, NAN, 2.0 }, { 1.5, 1.0, 2.0 }), INFINITY);
  EXPECT_EQ(LargestDifference({ 1.0 }, { 1.0, 2.0 }), INFINITY);
}

TEST(CudaGaussianComparison, AllowsIntegersToDifferOnlyNearSteps)
{
  EXPECT_TRUE(IsNearIntegerStep(2.9999, 1e-3));
  EXPECT_TRUE(IsNearIntegerStep(-3.0001, 1e-3));
  EXPECT_FALSE(IsNearIntegerStep(2.99, 1e-3));
  EXPECT_FALSE(IsNearIntegerStep(0.0001, 1e-3)); // truncation toward zero has no step there
}

TEST(CudaGaussianComparison, SeesWritesBehindTheOutput)
{
  auto                            image = ImageType::New();
  const PoisonedOutput<ImageType> poisoned(image, 63);
  image->SetRegions(MakeRegion<2>({ { 9, 7 } }));
  image->Allocate();
  EXPECT_TRUE(poisoned.IsUsed());
  EXPECT_TRUE(poisoned.IsIntact());
  EXPECT_TRUE(std::isnan(image->GetBufferPointer()[62]));
  image->GetBufferPointer()[63] = 1.0F;
  EXPECT_FALSE(poisoned.IsIntact());
}
} // namespace
} // namespace itk::cuda::test
