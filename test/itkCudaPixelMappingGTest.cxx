// SPDX-License-Identifier: Apache-2.0

// The arithmetic of the conversion kernel, on the host: windows and thresholds are ITK's, to the bit.

#include "itkBinaryThresholdImageFilter.h"
#include "itkCudaPixelMapping.h"
#include "itkImage.h"
#include "itkIntensityWindowingImageFilter.h"

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

/** Values that ITK's conversions to integers define: no NaN, nothing out of the output's range. */
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
    // Halves and whole numbers are where rounding shows.
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
      // The way by an image of reals, where rows cannot be copied: the same.
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
} // namespace

TEST(CudaPixelMapping, Windows_are_those_of_ITK)
{
  std::cout << "seed " << seed << std::endl;
  CheckWindow<float, unsigned char>(10.3f, 187.7f, 0, 255);
  CheckWindow<float, unsigned char>(-1.0f, 1.0f, 20, 200);
  CheckWindow<float, unsigned char>(0.0f, 3.0f, 255, 0);
  CheckWindow<float, short>(-1000.0f, 3000.0f, -32768, 32767);
  CheckWindow<float, float>(0.1f, 0.7f, -1.0f, 1.0f);
  CheckWindow<double, unsigned short>(1e-3, 7e-3, 0, 65535);
  CheckWindow<double, double>(-3.0, 4.0, 0.1, 0.3);
  CheckWindow<short, unsigned char>(-1000, 400, 0, 255);
  CheckWindow<unsigned char, float>(10, 200, 0.0f, 1.0f);
  CheckWindow<int, unsigned char>(-2000000, 2000000, 0, 255);
  CheckWindow<unsigned int, short>(0, 4000000000u, -100, 100);
}

TEST(CudaPixelMapping, Thresholds_are_those_of_ITK)
{
  CheckThreshold<float, unsigned char>(20.5f, 70.25f, 255, 0);
  CheckThreshold<float, float>(20.5f, 20.5f, 1.5f, -2.5f);
  CheckThreshold<double, unsigned char>(0.1, 99.9, 7, 3);
  CheckThreshold<short, unsigned short>(20, 70, 65535, 1);
  CheckThreshold<int, int>(20, 70, std::numeric_limits<int>::max(), std::numeric_limits<int>::lowest());
  CheckThreshold<unsigned char, unsigned char>(0, 255, 1, 2);
}

TEST(CudaPixelMapping, Without_a_mapping_every_value_stays)
{
  for (const float value : { -0.0f, 0.0f, 1e-42f, 3.4e38f, -1.25f, std::numeric_limits<float>::infinity() })
  {
    const float mapped = Map(value, {});
    EXPECT_EQ(std::memcmp(&mapped, &value, sizeof value), 0) << value;
  }
}

TEST(CudaPixelMapping, Window_rounds_to_the_nearest_integer_if_asked)
{
  CudaPixelConversion conversion;
  conversion.Mapping = CudaPixelMapping::Window;
  conversion.Upper = 10.0;
  conversion.OutputMaximum = 5.0;
  const auto map = [&conversion](float value) {
    return MapPixel<unsigned char>(value, MakePixelMapping<float>(conversion, true));
  };
  EXPECT_EQ(map(3.0f), 1);
  conversion.Rounding = itk::CudaRounding::Nearest;
  EXPECT_EQ(map(3.0f), 2) << "1.5, to the even integer";
  EXPECT_EQ(map(5.0f), 2) << "2.5, to the even integer";
  EXPECT_EQ(map(-1.0f), 0);
  EXPECT_EQ(map(11.0f), 5);
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
