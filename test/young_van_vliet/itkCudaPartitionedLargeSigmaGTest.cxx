// SPDX-License-Identifier: Apache-2.0
// Sigma far beyond the lines, as of an image in metres with the default sigma of 1: time and memory go with the image.
#include "runtime/DetailNames.h"
#include "support/itkCudaGaussianTestUtilities.h"
#include "young_van_vliet/Coefficients.h"
#include "support/itkCudaPartitionedGaussianReference.h"
#include "itkCudaPartitionedRecursiveGaussianImageFilter.h"

namespace itk::cuda::test
{
namespace
{
using Partition = CudaFiltersEnums::Partition;
using LineBorders = CudaFiltersEnums::LineBorders;
using ImageType = Image<float, 2>;
using FilterType = CudaPartitionedRecursiveGaussianImageFilter<ImageType>;

constexpr SizeValueType Side = 16;

class CudaPartitionedLargeSigmaTest : public BackendTest
{};
ITK_CUDA_INSTANTIATE_BACKEND_TESTS(CudaPartitionedLargeSigmaTest);

ImageType::Pointer
MakeInput(double spacing)
{
  const auto image = MakeDataImage<ImageType>(MakeRegion<2>({ { Side, Side } }), DataKind::Uniform, 100.0);
  SetSpacing(image.GetPointer(), { { spacing, spacing } });
  return image;
}

/** What a line becomes where sigma is so great that nothing but its ends counts: as published the first pass begins
 * with the first pixel and stays there. Else both ends count alike. */
double
FilterEnds(double first, double last, Partition partition, LineBorders borders)
{
  const bool onlyFirst = partition != Partition::TwoWay && borders == LineBorders::AsPublished;
  return onlyFirst ? first : 0.5 * (first + last);
}

/** The value of all pixels of the result. */
double
FilterCorners(const ImageType * image, Partition partition, LineBorders borders)
{
  const auto filterRow = [&](IndexValueType y) {
    return FilterEnds(image->GetPixel({ { 0, y } }), image->GetPixel({ { Side - 1, y } }), partition, borders);
  };
  return FilterEnds(filterRow(0), filterRow(Side - 1), partition, borders);
}

TEST_P(CudaPartitionedLargeSigmaTest, OnlyTheEndsOfLinesCount)
{
  for (const double spacing : { 1e-9, 1e-11, 1e-25 })
  {
    const auto image = MakeInput(spacing);
    for (const Partition partition : { Partition::OneWay, Partition::TwoWay, Partition::Exact })
    {
      for (const LineBorders borders : { LineBorders::AsPublished, LineBorders::Exact })
      {
        const auto filter = FilterType::New();
        filter->SetInput(image);
        filter->SetPartition(partition);
        filter->SetLineBorders(borders);
        const auto   output = RunPoisoned(filter.GetPointer(), GetParam());
        const double expected = FilterCorners(image, partition, borders);
        double       worst = 0.0;
        for (size_t i = 0; i < Side * Side; ++i)
        {
          const double difference = std::abs(output->GetBufferPointer()[i] - expected);
          worst = std::isfinite(difference) ? std::max(worst, difference) : 100.0;
        }
        // In float, and two passes of L / sigma = 2e-8 at most.
        EXPECT_LE(worst, 100.0 * FloatAccuracy(1.0))
          << "spacing " << spacing << ", partition " << partition << ", borders " << borders;
      }
    }
  }
}

/** The central pixel of a line by MakeCentralWeights(). */
double
FilterCentralPixel(const std::vector<double> & line, const std::vector<double> & weights)
{
  const size_t centre = line.size() / 2;
  double       sum = weights[0] * line[centre];
  for (size_t k = 1; k < weights.size(); ++k)
  {
    sum += weights[k] * (line[centre > k ? centre - k : 0] + line[std::min(centre + k, line.size() - 1)]);
  }
  return sum;
}

TEST(CudaPartitionedLargeSigma, WindowBeyondTheLineIsAddedToItsEnds)
{
  std::vector<double> line;
  for (size_t n = 0; n < 37; ++n)
  {
    line.push_back(UniformRandom(n));
  }
  // Windows within the line, beyond it, much longer than sigma, and so long that an integral takes the sum's place.
  const std::pair<double, size_t> cases[] = { { 5.0, 9 },    { 30.0, 36 },     { 30.0, 37 },        { 30.0, 38 },
                                              { 9.0, 200 },  { 2.0, 100000 },  { 400.0, 400 },      { 1e5, 70000 },
                                              { 1e6, 3000 }, { 3e6, 3000000 }, { 3e4, 4 * 1000000 } };
  for (const auto & [sigma, radius] : cases)
  {
    const auto weights = young_van_vliet::MakeCentralWeights(sigma, radius, line.size());
    EXPECT_EQ(weights.size(), std::min(radius, line.size()) + 1);
    EXPECT_NEAR(FilterCentralPixel(line, weights), GaussianSum(line, line.size() / 2, sigma, radius), 1e-10)
      << "sigma " << sigma << ", radius " << radius;
  }
}

TEST(CudaPartitionedLargeSigma, RadiusIsDefinedForEveryWindow)
{
  EXPECT_EQ(CudaCentralPixelRadius(0.1), 1u);
  EXPECT_EQ(CudaCentralPixelRadius(40.0), 20u);
  EXPECT_EQ(CudaCentralPixelRadius(1e300), size_t{ 1 } << 53);
  EXPECT_EQ(young_van_vliet::MakeCentralWeights(1e300, CudaCentralPixelRadius(1e300), 16).size(), 17u);
}
} // namespace
} // namespace itk::cuda::test
