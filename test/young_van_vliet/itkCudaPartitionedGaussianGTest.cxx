// SPDX-License-Identifier: Apache-2.0

// Lines on the host, which runs the mathematics that the device's kernels call: against the published recursion in
// double and direct form, and the partitions against each other.

#include "itkCudaDetailPartitionedGaussianEngine.h"
#include "young_van_vliet/Coefficients.h"
#include "young_van_vliet/Core.h"
#include "young_van_vliet/Partitions.h"
#include "support/itkCudaExpectException.h"
#include "support/itkCudaGaussianLineReference.h"
#include "support/itkCudaPartitionedGaussianReference.h"

#include "itkMacro.h"

#include <gtest/gtest.h>

#include <functional>
#include <iostream>
#include <limits>
#include <numeric>
#include <random>
#include <string>
#include <tuple>
#include <vector>

namespace
{
using namespace itk;
using namespace itk::CudaDetail;
using namespace itk::cuda::young_van_vliet;
using namespace itk::cuda::test;

using Partition = CudaFiltersEnums::Partition;
using LineBorders = CudaFiltersEnums::LineBorders;
using IntermediateStorage = CudaFiltersEnums::IntermediateStorage;

constexpr unsigned int Seed = 20140630;

enum class Data
{
  Uniform, // U(0, 1)
  Offset,  // 1000 +- 50
  Ramp,
  Impulse
};
constexpr Data AllData[] = { Data::Uniform, Data::Offset, Data::Ramp, Data::Impulse };

/** Values that float holds exactly, so that all types see the same line. */
std::vector<double>
MakeLine(Data data, size_t length)
{
  std::mt19937                           generator(Seed + static_cast<unsigned int>(length));
  std::uniform_real_distribution<double> uniform(0.0, 1.0);
  std::vector<double>                    line(length);
  for (size_t n = 0; n < length; ++n)
  {
    const double value = data == Data::Uniform  ? uniform(generator)
                         : data == Data::Offset ? 950.0 + 100.0 * uniform(generator)
                         : data == Data::Ramp   ? static_cast<double>(n)
                                                : (n == length / 3 ? 100.0 : 0.0);
    line[n] = static_cast<double>(static_cast<float>(value));
  }
  return line;
}

struct Setting
{
  Partition           How{ Partition::OneWay };
  double              Sigma{ 4.0 };
  size_t              NumberOfSections{ 1 };
  LineBorders         Borders{ LineBorders::Exact };
  IntermediateStorage Storage{ IntermediateStorage::Local };
};

template <typename T>
std::vector<double>
Filter(const Setting & setting, const std::vector<double> & x)
{
  CudaPartitionedGaussianPlan plan;
  plan.LinePartition = setting.How;
  plan.LineBorders = setting.Borders;
  plan.IntermediateStorage = setting.Storage;
  const CudaPartitionedGaussianPass pass{
    0, setting.Sigma, CudaCentralPixelRadius(2.0 * setting.Sigma), setting.NumberOfSections
  };
  const std::vector<T> input(x.begin(), x.end());
  std::vector<T>       output(x.size(), std::numeric_limits<T>::quiet_NaN());
  FilterLine(plan, pass, input.data(), output.data(), x.size());
  return std::vector<double>(output.begin(), output.end());
}

const size_t Lengths[] = { 4, 5, 7, 31, 33, 511, 512, 513, 514, 1031, 4099 };
const double Sigmas[] = { 0.5, 0.8, 1.0, 1.5, 2.4999, 2.5, 4.0, 15.0, 45.0, 100.0 };

constexpr double FloatBound = 1e-5;  // of max|x|, sigma up to 100
constexpr double DoubleBound = 1e-9; // the direct form in double itself holds no more at sigma 100
constexpr double ExactBound = 2e-6;
} // namespace

TEST(PartitionedGaussianPlan, NamesWhatIsOutOfRange)
{
  using Parameters = CudaPartitionedGaussianParameters;
  const auto check = [](const std::string & expected, const auto & change, const std::vector<size_t> & lengths) {
    Parameters parameters;
    parameters.Spacing = { 1.0, 1.0 };
    change(parameters);
    ExpectContains(GetException([&] { MakePartitionedGaussianPlan(parameters, lengths); }), expected);
  };
  check("NumberOfBlocks is 5; lines of 64 pixels (dimension 1) can be cut into at most 4 blocks",
        [](Parameters & p) { p.NumberOfSections = 5; },
        { 80, 64 });
  check("dimension 1 is 3; this filter requires at least 4", [](Parameters &) {}, { 4, 3 });
  check("Spacing along dimension 1 is 0", [](Parameters & p) { p.Spacing[1] = 0.0; }, { 64, 64 });
  check("Spacing is given for 2 axes; it must be given for 3", [](Parameters &) {}, { 64, 64, 64 });
}

TEST(PartitionedGaussianPlan, CentralPixelIsAnAverage)
{
  EXPECT_EQ(CudaCentralPixelRadius(3.0), 1u);
  EXPECT_EQ(CudaCentralPixelRadius(30.0), 15u);
  EXPECT_EQ(CudaCentralPixelRadius(90.0), 45u);
  EXPECT_EQ(CudaCentralPixelRadius(0.5), 1u);
  EXPECT_THROW(CudaCentralPixelRadius(0.0), ExceptionObject);
  EXPECT_THROW(CudaCentralPixelRadius(-3.0), ExceptionObject);
  EXPECT_THROW(CudaCentralPixelRadius(std::numeric_limits<double>::quiet_NaN()), ExceptionObject);
  for (const size_t radius : { 1, 15, 45 })
  {
    const std::vector<double> weights = MakeCentralWeights(static_cast<double>(radius), radius, 2 * radius);
    ASSERT_EQ(weights.size(), radius + 1);
    EXPECT_NEAR(2.0 * std::accumulate(weights.begin() + 1, weights.end(), 0.0) + weights[0], 1.0, 1e-14);
    EXPECT_NEAR(weights[radius] / weights[0], std::exp(-0.5), 1e-14); // cut at one sigma
  }
}

namespace
{
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
} // namespace

TEST(PartitionedGaussianCentralPixel, WindowBeyondTheLineIsAddedToItsEnds)
{
  const std::vector<double> line = MakeLine(Data::Uniform, 37);
  // Windows within the line, beyond it, much longer than sigma, and so long that an integral takes the sum's place.
  const std::pair<double, size_t> cases[] = { { 5.0, 9 },    { 30.0, 36 },     { 30.0, 37 },        { 30.0, 38 },
                                              { 9.0, 200 },  { 2.0, 100000 },  { 400.0, 400 },      { 1e5, 70000 },
                                              { 1e6, 3000 }, { 3e6, 3000000 }, { 3e4, 4 * 1000000 } };
  for (const auto & [sigma, radius] : cases)
  {
    const auto weights = MakeCentralWeights(sigma, radius, line.size());
    EXPECT_EQ(weights.size(), std::min(radius, line.size()) + 1);
    EXPECT_NEAR(FilterCentralPixel(line, weights), GaussianSum(line, line.size() / 2, sigma, radius), 1e-10)
      << "sigma " << sigma << ", radius " << radius;
  }
}

TEST(PartitionedGaussianCentralPixel, RadiusIsDefinedForEveryWindow)
{
  EXPECT_EQ(CudaCentralPixelRadius(0.1), 1u);
  EXPECT_EQ(CudaCentralPixelRadius(40.0), 20u);
  EXPECT_EQ(CudaCentralPixelRadius(1e300), size_t{ 1 } << 53);
  EXPECT_EQ(MakeCentralWeights(1e300, CudaCentralPixelRadius(1e300), 16).size(), 17u);
}

// One-way with either border against the published recursion, two-way against the reconstruction.
TEST(PartitionedGaussian, MatchesTheDirectFormInDouble)
{
  using Reference = std::function<std::vector<double>(const std::vector<double> &, double)>;
  const auto twoWay = [](const std::vector<double> & x, double sigma) {
    return TwoWay(x, sigma, std::max<size_t>(1, static_cast<size_t>(sigma)));
  };
  const std::tuple<Partition, LineBorders, Reference> ways[] = {
    { Partition::OneWay, LineBorders::AsPublished, OneWayAsPublished },
    { Partition::OneWay, LineBorders::Exact, OneWayExactBorders },
    { Partition::TwoWay, LineBorders::AsPublished, twoWay }
  };
  double worst = 0.0;
  for (const auto & [partition, borders, getReference] : ways)
  {
    for (const double sigma : Sigmas)
    {
      for (const size_t length : Lengths)
      {
        for (const Data data : AllData)
        {
          const std::vector<double> x = MakeLine(data, length);
          const std::vector<double> reference = getReference(x, sigma);
          for (const IntermediateStorage storage : { IntermediateStorage::Local, IntermediateStorage::Global })
          {
            SCOPED_TRACE(testing::Message()
                         << "sigma " << sigma << ", " << length << " pixels, data " << static_cast<int>(data) << ", "
                         << partition << ", borders " << borders << ", " << storage);
            const Setting setting{ partition, sigma, 1, borders, storage };
            const double  error = LargestDifference(Filter<float>(setting, x), reference) / LargestOf(x);
            worst = std::max(worst, error);
            ASSERT_LE(error, FloatBound);
            ASSERT_LE(LargestDifference(Filter<double>(setting, x), reference) / LargestOf(x), DoubleBound);
          }
        }
      }
    }
  }
  std::cout << "largest error in float: " << worst << " of max|x|" << std::endl;
}

TEST(PartitionedGaussian, ExactEqualsOneWay)
{
  double worst = 0.0;
  for (const size_t length : { size_t{ 130 }, size_t{ 1031 }, size_t{ 16001 }, size_t{ 65536 } })
  {
    for (const Data data : { Data::Uniform, Data::Offset, Data::Ramp, Data::Impulse })
    {
      const std::vector<double> x = MakeLine(data, length);
      for (const double sigma : { 0.5, 1.5, 15.0, 45.0, 100.0 })
      {
        for (const LineBorders borders : { LineBorders::AsPublished, LineBorders::Exact })
        {
          const std::vector<double> whole = Filter<float>({ Partition::OneWay, sigma, 1, borders }, x);
          const std::vector<double> wholeInDouble = Filter<double>({ Partition::OneWay, sigma, 1, borders }, x);
          for (const size_t blocks : { 1, 2, 3, 8, 64, 1000 })
          {
            if (blocks > CudaMaximumNumberOfSections(length))
            {
              continue;
            }
            const double  scale = LargestOf(x);
            const Setting exact{ Partition::Exact,
                                 sigma,
                                 blocks,
                                 borders,
                                 blocks % 2 == 0 ? IntermediateStorage::Local : IntermediateStorage::Global };
            const double  error = LargestDifference(Filter<float>(exact, x), whole) / scale;
            worst = std::max(worst, error);
            ASSERT_LE(error, ExactBound) << length << " pixels in " << blocks << " blocks, sigma " << sigma << ", data "
                                         << static_cast<int>(data) << ", borders " << borders;
            ASSERT_LE(LargestDifference(Filter<double>(exact, x), wholeInDouble) / scale, 1e-14)
              << "in double: " << length << " pixels in " << blocks << " blocks, sigma " << sigma << ", data "
              << static_cast<int>(data) << ", borders " << borders;
          }
        }
      }
    }
  }
  std::cout << "largest difference in float: " << worst << " of max|x|" << std::endl;
}

TEST(PartitionedGaussian, ConstantsComeOutExactly)
{
  for (const float constant : { 1.0f, 99.0f, 0.1f, -30000.7f })
  {
    const std::vector<double> x(1031, static_cast<double>(constant));
    for (const double sigma : { 0.3, 0.5, 4.0, 100.0, 5000.0 })
    {
      for (const Partition partition : { Partition::OneWay, Partition::TwoWay, Partition::Exact })
      {
        for (const LineBorders borders : { LineBorders::AsPublished, LineBorders::Exact })
        {
          EXPECT_EQ(Filter<float>({ partition, sigma, 8, borders }, x), x)
            << constant << ", sigma " << sigma << ", " << partition << ", borders " << borders;
        }
      }
    }
  }
}

TEST(PartitionedGaussian, ImpulseResponseIsNearTheGaussian)
{
  // The approximation as published: sum 1, and within 2 to 10 % of the peak, as the peak's own height is.
  for (const double sigma : { 1.0, 2.0, 2.5, 5.0, 20.0, 100.0 })
  {
    const size_t        length = static_cast<size_t>(40.0 * sigma) + 41;
    const size_t        centre = length / 2;
    std::vector<double> x(length, 0.0);
    x[centre] = 1.0;
    const std::vector<double> h = Filter<double>({ Partition::OneWay, sigma }, x);
    EXPECT_NEAR(std::accumulate(h.begin(), h.end(), 0.0), 1.0, 1e-9) << "sigma " << sigma;

    double peak = 0.0;
    double worst = 0.0;
    for (size_t n = 0; n < length; ++n)
    {
      const double distance = (static_cast<double>(n) - static_cast<double>(centre)) / sigma;
      const double gaussian = std::exp(-0.5 * distance * distance) / (sigma * std::sqrt(2.0 * 3.14159265358979));
      peak = std::max(peak, gaussian);
      worst = std::max(worst, std::abs(h[n] - gaussian));
    }
    std::cout << "sigma " << sigma << ": largest deviation " << worst / peak << " of the peak" << std::endl;
    EXPECT_LE(worst, 0.1 * peak) << "sigma " << sigma;
  }
}

TEST(PartitionedGaussian, TinySigmaIsTheIdentity)
{
  const std::vector<double> x = MakeLine(Data::Uniform, 100);
  for (const Partition partition : { Partition::OneWay, Partition::Exact })
  {
    EXPECT_LE(LargestDifference(Filter<float>({ partition, 0.2, 3 }, x), x), 1e-6) << partition;
  }
}
