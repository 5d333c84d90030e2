// SPDX-License-Identifier: Apache-2.0
// The references and comparisons that the tests of the Gaussian filters stand on.
#include "support/itkCudaGaussianTestUtilities.h"

namespace itk::cuda::test
{
namespace
{
std::vector<double>
MakeRandomLine(size_t length, double offset)
{
  std::vector<double> line(length);
  for (size_t i = 0; i < length; ++i)
  {
    line[i] = offset + UniformRandom(i);
  }
  return line;
}

double
LargestDifference(const std::vector<double> & a, const std::vector<double> & b)
{
  double largest = 0.0;
  for (size_t i = 0; i < a.size(); ++i)
  {
    largest = std::max(largest, std::abs(a[i] - b[i]));
  }
  return largest;
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
  ModalFilterLine(DericheHalfKernel(parameters), line);
  return line[half];
}

using ImageType = Image<float, 2>;

ImageType::Pointer
MakeSmallImage()
{
  return MakeDataImage<ImageType>(MakeRegion<2>({ { 9, 7 } }), DataKind::Uniform);
}

TEST(CudaGaussianReference, ModalFormIsTheSumOverTheKernel)
{
  for (unsigned int order = 0; order < 3; ++order)
  {
    for (const double sigma : { 0.5, 1.0, 4.0, 20.0 })
    {
      for (const size_t length : { 4u, 5u, 31u, 257u })
      {
        const GaussianParameters  parameters{ 0, order, sigma, 1.0, false };
        const std::vector<double> input = MakeRandomLine(length, 1.0);
        std::vector<double>       modal = input;
        std::vector<double>       convolved = input;
        ModalFilterLine(DericheHalfKernel(parameters), modal);
        ConvolveLine(parameters, convolved);
        EXPECT_LE(LargestDifference(modal, convolved), ModalAgainstConvolution * 2.0 * KernelL1Norm(parameters))
          << "order " << order << ", sigma " << sigma << ", length " << length;
      }
    }
  }
}

TEST(CudaGaussianReference, ModalFormIsITKsFilter)
{
  for (unsigned int order = 0; order < 3; ++order)
  {
    for (const double sigma : { 0.5, 1.0, 4.0, 20.0, 50.0 })
    {
      for (const bool normalize : { false, true })
      {
        using DoubleImageType = Image<double, 2>;
        const auto input = MakeDataImage<DoubleImageType>(MakeRegion<2>({ { 33, 1031 } }), DataKind::SmallOffset);
        SetSpacing(input.GetPointer(), { { 1.0, 0.7 } });
        const GaussianParameters parameters{ 1, order, 0.7 * sigma, 0.7, normalize };
        const auto               modal = Duplicate(input.GetPointer());
        ModalFilter<2>(modal, parameters);
        EXPECT_TRUE(IsWithin(modal.GetPointer(),
                             ITKFilter<2>(input, parameters).GetPointer(),
                             1050.0 * KernelL1Norm(parameters),
                             ModalAgainstITK))
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
    EXPECT_NEAR(KernelL1Norm({ 0, 0, sigma, 1.0, false }), 1.0, 0.05);
    EXPECT_NEAR(KernelL1Norm({ 0, 1, sigma, 1.0, false }) * sigma, 0.798, 0.04);
    EXPECT_NEAR(KernelL1Norm({ 0, 2, sigma, 1.0, false }) * sigma * sigma, 0.968, 0.06);
  }
}

TEST(CudaGaussianComparison, SeesOneWrongPixel)
{
  const auto image = MakeSmallImage();
  const auto reference = ToDouble(image.GetPointer());
  EXPECT_TRUE(IsWithin(image.GetPointer(), reference.GetPointer(), 1.0, 1e-6));
  image->SetPixel({ { 8, 6 } }, image->GetPixel({ { 8, 6 } }) + 2e-6F);
  const auto statistics = CompareWithReference(image.GetPointer(), reference.GetPointer(), 1.0, 1e-6);
  EXPECT_EQ(statistics.Beyond, 1u);
  EXPECT_EQ(statistics.Compared, 63u);
  EXPECT_EQ(statistics.Index, "[8, 6]");
  EXPECT_FALSE(IsWithin(image.GetPointer(), reference.GetPointer(), 1.0, 1e-6));
}

TEST(CudaGaussianComparison, SeesNotANumber)
{
  const auto image = MakeSmallImage();
  const auto reference = ToDouble(image.GetPointer());
  image->SetPixel({ { 3, 3 } }, Poison<float>());
  EXPECT_EQ(CompareWithReference(image.GetPointer(), reference.GetPointer(), 1.0, 1e9).Beyond, 1u);
}

TEST(CudaGaussianComparison, SeesOneWrongBit)
{
  const auto image = MakeSmallImage();
  const auto copy = Duplicate(image.GetPointer());
  EXPECT_TRUE(HasSameBits(image.GetPointer(), copy.GetPointer()));
  image->SetPixel({ { 0, 6 } }, std::nextafter(image->GetPixel({ { 0, 6 } }), 2.0F));
  EXPECT_FALSE(HasSameBits(image.GetPointer(), copy.GetPointer()));
}

TEST(CudaGaussianComparison, AllowsIntegersToDifferOnlyNearSteps)
{
  EXPECT_TRUE(IsNearIntegerStep(2.9999, 1e-3));
  EXPECT_TRUE(IsNearIntegerStep(-3.0001, 1e-3));
  EXPECT_FALSE(IsNearIntegerStep(2.99, 1e-3));
  EXPECT_FALSE(IsNearIntegerStep(0.0001, 1e-3)); // truncation toward zero has no step there
  using ShortImageType = Image<short, 2>;
  const auto itkImage = MakeConstantImage<ShortImageType>({ { 4, 4 } }, 2);
  const auto near = MakeConstantImage<Image<double, 2>>({ { 4, 4 } }, 2.9999);
  const auto far = MakeConstantImage<Image<double, 2>>({ { 4, 4 } }, 2.5);
  const auto image = Duplicate(itkImage.GetPointer());
  image->SetPixel({ { 1, 2 } }, 3);
  EXPECT_TRUE(IsTruncatedAsITKs(image.GetPointer(), itkImage.GetPointer(), near.GetPointer(), 1e-3));
  EXPECT_FALSE(IsTruncatedAsITKs(image.GetPointer(), itkImage.GetPointer(), far.GetPointer(), 1e-3));
  image->SetPixel({ { 1, 2 } }, 4);
  EXPECT_FALSE(IsTruncatedAsITKs(image.GetPointer(), itkImage.GetPointer(), near.GetPointer(), 1e-3));
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
