// SPDX-License-Identifier: Apache-2.0

// Tests the arithmetic of the conversion kernel on the host. Windows and thresholds are bit-identical to ITK, sigmoids
// agree to the last digits of double. Shift and scale come before each of them.

#include "itkBinaryThresholdImageFilter.h"
#include "runtime/image/PixelMapping.h"
#include "itkImage.h"
#include "itkIntensityWindowingImageFilter.h"
#include "itkSigmoidImageFilter.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <iostream>
#include <limits>
#include <random>
#include <type_traits>
#include <vector>

namespace
{
using itk::cuda::MakePixelMapping;
using itk::cuda::MapPixel;
using itk::CudaDetail::CudaPixelConversion;
using itk::CudaDetail::CudaPixelMapping;

constexpr unsigned int seed = 4711;

template <typename T>
using Line = itk::Image<T, 1>;

/** Returns values for which ITK's conversions to integers are defined, which are neither NaN nor out of the output's
 * range. */
template <typename T>
typename Line<T>::Pointer
MakeValues(double lowest, double greatest)
{
  std::mt19937 random(seed);
  const auto   image = Line<T>::New();
  image->SetRegions(typename Line<T>::SizeType{ { 5000 } });
  image->Allocate();
  for (itk::IndexValueType i = 0; i < 5000; ++i)
  {
    const double value = std::uniform_real_distribution<double>(lowest, greatest)(random);
    // Rounding matters at halves and whole numbers.
    image->SetPixel({ { i } }, static_cast<T>(i % 3 == 0 ? std::floor(value * 2.0) / 2.0 : value));
  }
  return image;
}

template <typename TFrom, typename TTo>
void
ExpectSame(const Line<TFrom> * input, const Line<TTo> * expected, const CudaPixelConversion & conversion)
{
  using RealType = std::conditional_t<sizeof(TFrom) >= 4 && !std::is_same_v<TFrom, float>, double, float>;
  const auto mapping = MakePixelMapping<RealType>(conversion, std::is_integral_v<TTo>);
  for (itk::IndexValueType i = 0; i < 5000; ++i)
  {
    const TFrom value = input->GetPixel({ { i } });
    const TTo   mapped = MapPixel<TTo>(value, mapping);
    const TTo   right = expected->GetPixel({ { i } });
    ASSERT_EQ(std::memcmp(&mapped, &right, sizeof(TTo)), 0) << +value << ": " << +mapped << ", ITK: " << +right;
    if constexpr (std::is_integral_v<TTo>)
    {
      // The path through an image of reals, which is used where rows cannot be copied, gives the same result.
      const auto real = MapPixel<double>(value, mapping);
      ASSERT_EQ(itk::cuda::ConvertComponent<TTo>(real), right) << +value;
    }
  }
}

template <typename TFrom, typename TTo>
void
CheckWindow(TFrom windowMinimum, TFrom windowMaximum, TTo outputMinimum, TTo outputMaximum)
{
  const double margin = 0.5 * (static_cast<double>(windowMaximum) - static_cast<double>(windowMinimum));
  const auto   input =
    MakeValues<TFrom>(std::max(windowMinimum - margin, static_cast<double>(std::numeric_limits<TFrom>::lowest())),
                      std::min(windowMaximum + margin, static_cast<double>(std::numeric_limits<TFrom>::max())));
  input->SetPixel({ { 0 } }, windowMinimum);
  input->SetPixel({ { 1 } }, windowMaximum);
  const auto filter = itk::IntensityWindowingImageFilter<Line<TFrom>, Line<TTo>>::New();
  filter->SetInput(input);
  filter->SetWindowMinimum(windowMinimum);
  filter->SetWindowMaximum(windowMaximum);
  filter->SetOutputMinimum(outputMinimum);
  filter->SetOutputMaximum(outputMaximum);
  filter->Update();
  CudaPixelConversion conversion;
  conversion.Mapping = CudaPixelMapping::Window;
  conversion.Lower = windowMinimum;
  conversion.Upper = windowMaximum;
  conversion.OutputMinimum = outputMinimum;
  conversion.OutputMaximum = outputMaximum;
  ExpectSame<TFrom, TTo>(input, filter->GetOutput(), conversion);
}

template <typename TFrom, typename TTo>
void
CheckThreshold(TFrom lower, TFrom upper, TTo inside, TTo outside)
{
  const auto input = MakeValues<TFrom>(0.0, 100.0);
  input->SetPixel({ { 0 } }, lower);
  input->SetPixel({ { 1 } }, upper);
  const auto filter = itk::BinaryThresholdImageFilter<Line<TFrom>, Line<TTo>>::New();
  filter->SetInput(input);
  filter->SetLowerThreshold(lower);
  filter->SetUpperThreshold(upper);
  filter->SetInsideValue(inside);
  filter->SetOutsideValue(outside);
  filter->Update();
  CudaPixelConversion conversion;
  conversion.Mapping = CudaPixelMapping::Threshold;
  conversion.Lower = lower;
  conversion.Upper = upper;
  conversion.InsideValue = inside;
  conversion.OutsideValue = outside;
  ExpectSame<TFrom, TTo>(input, filter->GetOutput(), conversion);
}

float
Map(float value, const CudaPixelConversion & conversion)
{
  return MapPixel<float>(value, MakePixelMapping<float>(conversion, false));
}

double
MapDouble(double value, const CudaPixelConversion & conversion)
{
  return MapPixel<double>(value, MakePixelMapping<double>(conversion, false));
}

CudaPixelConversion
MakeSigmoid(double alpha, double beta, double minimum, double maximum)
{
  CudaPixelConversion conversion;
  conversion.Mapping = CudaPixelMapping::Sigmoid;
  conversion.Alpha = alpha;
  conversion.Beta = beta;
  conversion.OutputMinimum = minimum;
  conversion.OutputMaximum = maximum;
  return conversion;
}

/** Returns the number of integers that differ from ITK's because the value is truncated on the other side of a whole
 * number. Reals must be within 1e-15 of ITK's, relative to the range of the output, or relative to themselves if the
 * minimum is 0. */
template <typename TFrom, typename TTo>
unsigned int
CompareSigmoid(double alpha, double beta, TTo minimum, TTo maximum, double lowest, double greatest)
{
  using RealType = std::conditional_t<sizeof(TFrom) >= 4 && !std::is_same_v<TFrom, float>, double, float>;
  const auto input = MakeValues<TFrom>(lowest, greatest);
  const auto filter = itk::SigmoidImageFilter<Line<TFrom>, Line<TTo>>::New();
  filter->SetInput(input);
  filter->SetAlpha(alpha);
  filter->SetBeta(beta);
  filter->SetOutputMinimum(minimum);
  filter->SetOutputMaximum(maximum);
  filter->Update();
  const auto mapping = MakePixelMapping<RealType>(MakeSigmoid(alpha, beta, minimum, maximum), std::is_integral_v<TTo>);
  const double range = std::max(std::fabs(static_cast<double>(minimum)), std::fabs(static_cast<double>(maximum)));
  // The tolerance at denormal numbers, which have fewer digits, and where the exponential is 0.
  const double least = static_cast<double>(std::numeric_limits<TTo>::min());
  unsigned int differences = 0;
  for (itk::IndexValueType i = 0; i < 5000; ++i)
  {
    const TFrom  value = input->GetPixel({ { i } });
    const double right = filter->GetOutput()->GetPixel({ { i } });
    const double found = MapPixel<TTo>(value, mapping);
    if constexpr (std::is_integral_v<TTo>)
    {
      EXPECT_LE(std::fabs(found - right), 1.0) << +value << ", alpha " << alpha << ", beta " << beta;
      differences += found != right;
    }
    else
    {
      const double scale = minimum == 0 ? std::fabs(right) : range;
      EXPECT_LE(std::fabs(found - right), (sizeof(TTo) == 4 ? 1.2e-7 : 1e-15) * scale + range * least)
        << +value << ", alpha " << alpha << ", beta " << beta;
    }
  }
  return differences;
}

/** Returns (value + Shift) * Scale with more digits. */
long double
GetShifted(double value, const CudaPixelConversion & conversion)
{
  return (static_cast<long double>(value) + conversion.Shift) * conversion.Scale;
}
} // namespace

TEST(CudaPixelMapping, Windows_are_those_of_ITK)
{
  std::cout << "seed " << seed << std::endl;
  CheckWindow<float, unsigned char>(10.3f, 187.7f, 0, 255);
  CheckWindow<float, unsigned char>(0.0f, 3.0f, 255, 0);
  CheckWindow<float, float>(0.1f, 0.7f, -1.0f, 1.0f);
  CheckWindow<double, unsigned short>(1e-3, 7e-3, 0, 65535);
  CheckWindow<double, double>(-3.0, 4.0, 0.1, 0.3);
  CheckWindow<unsigned char, float>(10, 200, 0.0f, 1.0f);
  CheckWindow<unsigned int, short>(0, 4000000000u, -100, 100);
}

TEST(CudaPixelMapping, Thresholds_are_those_of_ITK)
{
  CheckThreshold<float, unsigned char>(20.5f, 70.25f, 255, 0);
  CheckThreshold<short, unsigned short>(20, 70, 65535, 1);
  CheckThreshold<int, int>(20, 70, std::numeric_limits<int>::max(), std::numeric_limits<int>::lowest());
}

TEST(CudaPixelMapping, Without_a_mapping_every_value_stays)
{
  for (const float value : { -0.0f, 0.0f, 1e-42f, 3.4e38f, -1.25f, std::numeric_limits<float>::infinity() })
  {
    const float mapped = Map(value, {});
    EXPECT_EQ(std::memcmp(&mapped, &value, sizeof value), 0) << value;
  }
}

TEST(CudaPixelMapping, NaN_is_outside_of_thresholds_and_stays_NaN_in_a_window_of_reals)
{
  const float         nan = std::numeric_limits<float>::quiet_NaN();
  CudaPixelConversion conversion;
  conversion.Upper = 10.0;
  conversion.OutputMinimum = 1.0;
  conversion.OutputMaximum = 5.0;
  conversion.InsideValue = 7.0;
  conversion.OutsideValue = 8.0;
  conversion.Mapping = CudaPixelMapping::Threshold;
  EXPECT_EQ(Map(nan, conversion), 8.0f);
  conversion.Mapping = CudaPixelMapping::Window;
  EXPECT_TRUE(std::isnan(Map(nan, conversion)));
  EXPECT_EQ(MapPixel<short>(nan, MakePixelMapping<float>(conversion, true)), 0);
  EXPECT_EQ(Map(std::numeric_limits<float>::infinity(), conversion), 5.0f);
}

TEST(CudaPixelMapping, Sigmoids_of_reals_are_those_of_ITK)
{
  std::mt19937 random(seed);
  const auto   draw = [&random](double lower, double upper) {
    return std::uniform_real_distribution<double>(lower, upper)(random);
  };
  for (unsigned int turn = 0; turn < 20; ++turn)
  {
    const double alpha = (turn % 2 == 0 ? 1.0 : -1.0) * std::pow(10.0, draw(-3.0, 3.0));
    const double beta = draw(-100.0, 100.0);
    const double reach = 30.0 * std::fabs(alpha); // the ramp and the values within 1e-13 of its ends
    CompareSigmoid<double, double>(alpha, beta, 0.0, draw(0.1, 1000.0), beta - reach, beta + reach);
    CompareSigmoid<double, double>(alpha, beta, draw(-10.0, 0.0), draw(0.1, 10.0), beta - reach, beta + reach);
    CompareSigmoid<float, double>(alpha, beta, 0.0, 1.0, -200.0, 200.0);
    CompareSigmoid<unsigned char, float>(alpha, beta, -1.0f, 1.0f, 0.0, 255.0);
  }
}

TEST(CudaPixelMapping, Sigmoids_of_integers_differ_from_those_of_ITK_at_whole_numbers_alone)
{
  std::mt19937 random(seed);
  unsigned int differences = 0;
  unsigned int pixels = 0;
  for (unsigned int turn = 0; turn < 40; ++turn, pixels += 2 * 5000)
  {
    const double alpha = (turn % 2 == 0 ? 1.0 : -1.0) * std::uniform_real_distribution<double>(0.5, 60.0)(random);
    const double beta = std::uniform_real_distribution<double>(-50.0, 150.0)(random);
    differences += CompareSigmoid<double, unsigned short>(alpha, beta, 0, 65535, -200.0, 300.0);
    differences += CompareSigmoid<short, short>(alpha, beta, -1000, 1000, -200.0, 300.0);
  }
  // Both are within 1e-15 of the same real number, and only few random values are this close to a whole number.
  EXPECT_LE(differences, pixels / 10000);
  std::cout << differences << " of " << pixels << " differ" << std::endl;
}

TEST(CudaPixelMapping, Sigmoids_have_their_limits_where_an_exponential_would_overflow)
{
  const double infinity = std::numeric_limits<double>::infinity();
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const auto   rising = MakeSigmoid(1.0, 0.0, 0.0, 8.0);
  const auto   falling = MakeSigmoid(-1.0, 0.0, 0.0, 8.0);
  for (const double value : { 800.0, 1e300, std::numeric_limits<double>::max(), infinity })
  {
    EXPECT_EQ(MapDouble(value, rising), 8.0) << value;
    EXPECT_EQ(MapDouble(-value, rising), 0.0) << value;
    EXPECT_EQ(MapDouble(value, falling), 0.0) << value;
    EXPECT_EQ(MapDouble(-value, falling), 8.0) << value;
  }
  EXPECT_EQ(MapDouble(0.0, rising), 4.0);
  EXPECT_EQ(MapDouble(-0.0, rising), 4.0);
  EXPECT_EQ(MapDouble(5.0, MakeSigmoid(1e-300, 5.0, 0.0, 8.0)), 4.0) << "Beta, however steep the ramp";
  EXPECT_NEAR(MapDouble(1e300, MakeSigmoid(1e308, 0.0, 0.0, 8.0)), 4.0 + 2e-8, 1e-14) << "the middle of a wide ramp";
  EXPECT_GT(MapDouble(-700.0, rising), 0.0);
  EXPECT_NEAR(MapDouble(-700.0, rising) / (8.0 * std::exp(-700.0)), 1.0, 1e-13) << "small values keep their digits";
  EXPECT_TRUE(std::isnan(MapDouble(nan, rising)));
  EXPECT_EQ(MapPixel<short>(nan, MakePixelMapping<double>(rising, true)), 0);
}

TEST(CudaPixelMapping, Windows_and_sigmoids_round_to_the_nearest_integer_if_asked)
{
  CudaPixelConversion window;
  window.Mapping = CudaPixelMapping::Window;
  window.Upper = 10.0;
  window.OutputMaximum = 5.0;
  auto sigmoid = MakeSigmoid(1.0, 0.0, 0.0, 5.0);
  struct Row
  {
    CudaPixelConversion & Conversion;
    float                 Value;
    int                   Truncated, Nearest;
  };
  for (const Row & row : { Row{ window, 3.0f, 1, 2 }, // 1.5
                           Row{ window, 5.0f, 2, 2 }, // 2.5, to the even integer
                           Row{ window, -1.0f, 0, 0 },
                           Row{ window, 11.0f, 5, 5 },
                           Row{ sigmoid, 0.0f, 2, 2 }, // 2.5
                           Row{ sigmoid, 0.1f, 2, 3 },
                           Row{ sigmoid, 100.0f, 5, 5 },
                           Row{ sigmoid, -100.0f, 0, 0 } })
  {
    const auto map = [&row](itk::CudaRounding rounding) {
      row.Conversion.Rounding = rounding;
      return MapPixel<unsigned char>(row.Value, MakePixelMapping<float>(row.Conversion, true));
    };
    EXPECT_EQ(map(itk::CudaRounding::Truncate), row.Truncated) << row.Value;
    EXPECT_EQ(map(itk::CudaRounding::Nearest), row.Nearest) << row.Value;
  }
}

TEST(CudaPixelMapping, Shift_and_scale_come_before_a_mapping_in_double)
{
  std::mt19937 random(seed);
  const auto   draw = [&random](double lower, double upper) {
    return std::uniform_real_distribution<double>(lower, upper)(random);
  };
  for (unsigned int turn = 0; turn < 20000; ++turn)
  {
    const auto          value = static_cast<float>(draw(-100.0, 100.0));
    CudaPixelConversion conversion;
    conversion.Shift = draw(-50.0, 50.0);
    conversion.Scale = draw(-3.0, 3.0);
    const long double shifted = GetShifted(value, conversion);

    conversion.Mapping = CudaPixelMapping::Window;
    conversion.Lower = draw(-200.0, 0.0);
    conversion.Upper = draw(1.0, 200.0);
    conversion.OutputMinimum = draw(-10.0, 0.0);
    conversion.OutputMaximum = draw(1.0, 10.0);
    const auto        mapping = MakePixelMapping<float>(conversion, false);
    const long double share = (shifted - conversion.Lower) / (conversion.Upper - conversion.Lower);
    const long double bounded = std::clamp(share, 0.0L, 1.0L);
    EXPECT_NEAR(
      MapPixel<double>(value, mapping),
      static_cast<double>(conversion.OutputMinimum + bounded * (conversion.OutputMaximum - conversion.OutputMinimum)),
      1e-12)
      << value;

    conversion.Mapping = CudaPixelMapping::Threshold;
    conversion.InsideValue = 3.0;
    conversion.OutsideValue = -4.0;
    const bool isInside = conversion.Lower <= shifted && shifted <= conversion.Upper;
    EXPECT_EQ(MapDouble(value, conversion), isInside ? 3.0 : -4.0) << value;

    conversion.Mapping = CudaPixelMapping::Sigmoid;
    conversion.Alpha = draw(0.5, 30.0);
    conversion.Beta = draw(-50.0, 50.0);
    const long double ramp = 1.0L / (1.0L + std::exp(-(shifted - conversion.Beta) / conversion.Alpha));
    EXPECT_NEAR(
      MapPixel<double>(value, MakePixelMapping<float>(conversion, false)),
      static_cast<double>((conversion.OutputMaximum - conversion.OutputMinimum) * ramp + conversion.OutputMinimum),
      1e-12)
      << value;
  }
}

TEST(CudaPixelMapping, Shift_is_added_in_double_before_a_mapping_and_alone_in_float)
{
  CudaPixelConversion conversion;
  conversion.Mapping = CudaPixelMapping::Threshold;
  conversion.InsideValue = 1.0;
  conversion.Lower = 16777217.0; // not representable in float
  conversion.Upper = 1e9;
  conversion.Shift = 1.0;
  EXPECT_EQ(Map(16777216.0f, conversion), 1.0f) << "before a threshold";
  conversion.Mapping = CudaPixelMapping::ShiftScale;
  EXPECT_EQ(Map(16777216.0f, conversion), 16777216.0f) << "alone";
}

TEST(CudaPixelMapping, Shift_0_and_scale_1_leave_the_sign_of_a_zero)
{
  CudaPixelConversion conversion;
  conversion.Mapping = CudaPixelMapping::Window;
  conversion.Lower = 0.0;
  conversion.Upper = 1.0;
  conversion.OutputMinimum = -0.0;
  conversion.OutputMaximum = 1.0;
  EXPECT_TRUE(std::signbit(Map(-0.0f, conversion)));
  EXPECT_FALSE(std::signbit(Map(0.0f, conversion)));
}
