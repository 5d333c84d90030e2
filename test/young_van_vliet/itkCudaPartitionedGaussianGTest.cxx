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

TEST(PartitionedGaussianPlan, ReproducesThePublishedCoefficients)
{
  // Young and van Vliet (1995), equation 8c; five decimals.
  for (const double sigma : Sigmas)
  {
    const double             q = GetScale(sigma);
    const YoungVanVlietPoles poles = GetPoles(sigma);
    const double             b0 = 1.57825 + 2.44413 * q + 1.4281 * q * q + 0.422205 * q * q * q;
    const double             b1 = 2.44413 * q + 2.85619 * q * q + 1.26661 * q * q * q;
    const double             b2 = -(1.4281 * q * q + 1.26661 * q * q * q);
    const double             b3 = 0.422205 * q * q * q;
    const double             sum = 2.0 * poles.PairPole.real();
    const double             norm = std::norm(poles.PairPole);
    EXPECT_NEAR(b1 / b0, poles.RealPole + sum, 2e-5) << "sigma " << sigma;
    EXPECT_NEAR(b2 / b0, -(poles.RealPole * sum + norm), 2e-5) << "sigma " << sigma;
    EXPECT_NEAR(b3 / b0, poles.RealPole * norm, 2e-5) << "sigma " << sigma;
  }
}

TEST(PartitionedGaussianPlan, ScaleOfThePaper)
{
  EXPECT_NEAR(GetScale(2.5), 0.98711 * 2.5 - 0.96330, 1e-14);
  EXPECT_NEAR(GetScale(1.0), 3.97156 - 4.14554 * std::sqrt(1.0 - 0.26891), 1e-14);
  EXPECT_EQ(GetScale(0.3), 0.0);
  EXPECT_EQ(GetPoles(0.3).RealPole, 0.0);
}

TEST(PartitionedGaussianPlan, WeightsOfTheSmoothersSumToOne)
{
  for (const double sigma : Sigmas)
  {
    const SmootherCoefficients<double> c = MakeSmootherCoefficients(sigma);
    EXPECT_NEAR(WeightedSum(SteadyState(1.0), c), 1.0, 1e-14) << "sigma " << sigma;
    // A constant line has backward states 1 = H 1 + A.
    const SmootherState<double> rest =
      Add(BackwardFromForward(c, SteadyState(1.0)), BackwardFromPixels(c, SteadyState(1.0)));
    EXPECT_NEAR(rest.Real, 1.0, 1e-13) << "sigma " << sigma;
    EXPECT_NEAR(rest.PairRe, 1.0, 1e-13) << "sigma " << sigma;
    EXPECT_NEAR(rest.PairIm, 0.0, 1e-13) << "sigma " << sigma;
  }
}

TEST(PartitionedGaussianPlan, PowerIsRepeatedAdvanceWithoutInput)
{
  for (const double sigma : { 0.3, 0.5, 4.0, 100.0 })
  {
    const SmootherCoefficients<double> c = MakeSmootherCoefficients(sigma);
    const SmootherState<double>        begin{ 0.7, -0.4, 0.9 };
    Sweep<double>                      sweep = Sweep<double>::FromState(begin);
    for (size_t length = 1; length <= 100; ++length)
    {
      sweep.Advance(c, 0.0);
      const SmootherState<double> state = sweep.GetState();
      const SmootherState<double> carried = Combine({}, MakeSmootherPower(sigma, length), begin);
      ASSERT_NEAR(carried.Real, state.Real, 1e-12) << "sigma " << sigma << ", length " << length;
      ASSERT_NEAR(carried.PairRe, state.PairRe, 1e-12) << "sigma " << sigma << ", length " << length;
      ASSERT_NEAR(carried.PairIm, state.PairIm, 1e-12) << "sigma " << sigma << ", length " << length;
    }
  }
}

TEST(PartitionedGaussianPlan, BlocksCoverTheLineOnce)
{
  for (const size_t length : { 32, 33, 100, 511, 1031, 16001, 65536 })
  {
    for (size_t blocks = 1; blocks <= CudaMaximumNumberOfSections(length); blocks += 1 + blocks / 7)
    {
      const SectionLayout layout = MakeSectionLayout(length, blocks);
      size_t              end = 0;
      for (size_t block = 0; block < blocks; ++block)
      {
        ASSERT_EQ(layout.GetBegin(block), end) << length << " pixels, block " << block << " of " << blocks;
        ASSERT_GE(layout.GetLength(block), 16u) << length << " pixels, block " << block << " of " << blocks;
        end += layout.GetLength(block);
      }
      ASSERT_EQ(end, length) << blocks << " blocks";
    }
    EXPECT_GE(CudaAutomaticNumberOfSections(length), 1u);
    EXPECT_LE(CudaAutomaticNumberOfSections(length), CudaMaximumNumberOfSections(length));
  }
  EXPECT_EQ(CudaAutomaticNumberOfSections(4), 1u);
  EXPECT_EQ(CudaAutomaticNumberOfSections(512), 16u);
  EXPECT_EQ(CudaAutomaticNumberOfSections(2048), 64u);
  EXPECT_EQ(CudaAutomaticNumberOfSections(4096), 64u);
  EXPECT_EQ(CudaAutomaticNumberOfSections(16384), 256u);
  EXPECT_EQ(CudaMaximumNumberOfSections(16), 1u);
  EXPECT_EQ(CudaMaximumNumberOfSections(32), 2u);
  EXPECT_EQ(CudaMaximumNumberOfSections(16000), 1000u);
  EXPECT_EQ(CudaMaximumNumberOfSections(4), 1u);
}

TEST(PartitionedGaussianPlan, IsMadeOfWhatTheUserAsksFor)
{
  CudaPartitionedGaussianParameters parameters;
  parameters.Sigma = 6.0;
  parameters.Spacing = { 2.0, -0.5 };
  const auto automatic = MakePartitionedGaussianPlan(parameters, { 512, 40 });
  ASSERT_EQ(automatic.Passes.size(), 2u);
  EXPECT_EQ(automatic.Passes[0].SigmaInPixels, 3.0);
  EXPECT_EQ(automatic.Passes[1].SigmaInPixels, 12.0);
  EXPECT_EQ(automatic.Passes[0].CentralRadius, 3u);
  EXPECT_EQ(automatic.Passes[0].NumberOfSections, 16u);
  EXPECT_EQ(automatic.Passes[1].Axis, 1u);
  parameters.FilterWindow = 30.0;
  parameters.NumberOfSections = 2;
  const auto window = MakePartitionedGaussianPlan(parameters, { 512, 40 });
  EXPECT_EQ(window.Passes[0].SigmaInPixels, 15.0);
  EXPECT_EQ(window.Passes[1].SigmaInPixels, 15.0);
  EXPECT_EQ(window.Passes[1].CentralRadius, 15u);
  EXPECT_EQ(window.Passes[1].NumberOfSections, 2u);
  parameters.LinePartition = Partition::TwoWay; // has no blocks
  parameters.NumberOfSections = 1000;
  EXPECT_EQ(MakePartitionedGaussianPlan(parameters, { 512, 40 }).Passes[1].NumberOfSections, 1u);
}

TEST(PartitionedGaussianPlan, NamesWhatIsOutOfRange)
{
  using Parameters = CudaPartitionedGaussianParameters;
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const auto   check = [](const std::string & expected, const auto & change, const std::vector<size_t> & lengths) {
    Parameters parameters;
    parameters.Spacing = { 1.0, 1.0 };
    change(parameters);
    ExpectContains(GetException([&] { MakePartitionedGaussianPlan(parameters, lengths); }), expected);
  };
  check("Sigma is 0", [](Parameters & p) { p.Sigma = 0.0; }, { 64, 64 });
  check("FilterWindow is nan", [=](Parameters & p) { p.FilterWindow = nan; }, { 64, 64 });
  check("WindowToSigmaRatio is -2", [](Parameters & p) { p.WindowToSigmaRatio = -2.0; }, { 64, 64 });
  check("LinesPerBlock is 65; it must be 4, 8, 16, 32 or 64", [](Parameters & p) { p.LinesPerBlock = 65; }, { 64, 64 });
  check("NumberOfBlocks is 0", [](Parameters & p) { p.NumberOfSections = 0; }, { 64, 64 });
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
            const double scale = LargestOf(x);
            const double error =
              LargestDifference(Filter<float>({ Partition::Exact, sigma, blocks, borders }, x), whole) / scale;
            worst = std::max(worst, error);
            ASSERT_LE(error, ExactBound) << length << " pixels in " << blocks << " blocks, sigma " << sigma << ", data "
                                         << static_cast<int>(data) << ", borders " << borders;
            ASSERT_LE(
              LargestDifference(Filter<double>({ Partition::Exact, sigma, blocks, borders }, x), wholeInDouble) / scale,
              1e-14)
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

TEST(PartitionedGaussian, StorageDoesNotChangeTheResult)
{
  for (const size_t length : { 4, 512, 513, 514, 515, 1024, 1025, 4099 })
  {
    const std::vector<double> x = MakeLine(Data::Uniform, length);
    for (const Partition partition : { Partition::OneWay, Partition::TwoWay, Partition::Exact })
    {
      Setting setting{ partition, 20.0, std::min<size_t>(2, CudaMaximumNumberOfSections(length)) };
      setting.Storage = IntermediateStorage::Local;
      const std::vector<double> local = Filter<float>(setting, x);
      setting.Storage = IntermediateStorage::Global;
      EXPECT_LE(LargestDifference(local, Filter<float>(setting, x)), 1e-6) << length << " pixels, " << partition;
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

TEST(PartitionedGaussian, PartsOfALineHaveTheBitsOfTheWhole)
{
  constexpr size_t length = 5000;
  for (const double sigma : { 0.7, 4.0, 300.0 })
  {
    const std::vector<double> values = MakeLine(Data::Uniform, length);
    const std::vector<float>  x(values.begin(), values.end());
    const auto                c = RoundTo<float>(MakeSmootherCoefficients(sigma));
    for (const LineBorders borders : { LineBorders::AsPublished, LineBorders::Exact })
    {
      CudaPartitionedGaussianPlan plan;
      plan.LinePartition = Partition::OneWay;
      plan.LineBorders = borders;
      std::vector<float> whole(length);
      FilterLine(plan, { 0, sigma, 1, 1 }, x.data(), whole.data(), length);
      for (const size_t step : { size_t{ 1 }, size_t{ 7 }, size_t{ 512 }, size_t{ 1024 }, length })
      {
        std::vector<float>       y(length);
        const StridedSpan<float> line{ x.data(), y.data(), 1, length, x.front() };
        Sweep<float>             sweep;
        for (size_t begin = 0; begin < length; begin += step)
        {
          SweepPartForward<16>(line, begin, std::min(length, begin + step), c, sweep);
        }
        for (size_t begin = (length - 1) / step * step;; begin -= step)
        {
          const size_t end = std::min(length, begin + step);
          SweepPartBackward<16>(line, begin, end, c, borders == LineBorders::Exact, sweep);
          if (begin == 0)
          {
            break;
          }
        }
        EXPECT_TRUE(y == whole) << "parts of " << step << " pixels, sigma " << sigma << ", borders " << borders;
      }
    }
  }
}
