// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_region_SampleMaker_h
#define CudaFilters_region_SampleMaker_h

#include "region/Laws.h"
#include "region/SampleValues.h"
#include "region/Samples.h"
#include "itkMacro.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <type_traits>

// Chooses the samples of an image, and refuses images whose values cannot be represented. The code is shared by images
// in host memory and in device memory.
namespace itk::cuda::region
{
inline unsigned int
BitsOf(size_t number)
{
  unsigned int bits = 0;
  while ((number >> bits) != 0)
  {
    ++bits;
  }
  return bits;
}

/** Returns the largest sample for which the sums over `pixels` pixels stay below 2^63. */
inline uint32_t
MaximumSample(bool usesSquares, size_t pixels)
{
  const unsigned int sum = 63 - BitsOf(pixels);
  const unsigned int bits = usesSquares ? std::min(24u, sum / 2) : std::min(32u, sum);
  return static_cast<uint32_t>((uint64_t{ 1 } << bits) - 1);
}

/** Returns the smallest power of two that divides `range` into at most `largest` steps. */
inline double
GridStep(double range, uint32_t largest)
{
  int          exponent;
  const double step = range / largest;
  if (!(step > 0.0))
  {
    return 1.0;
  }
  const double fraction = std::frexp(step, &exponent);
  return std::ldexp(1.0, fraction > 0.5 ? exponent : exponent - 1);
}

/** Returns how many steps of the grid an ordinary value must have in an image where a few other values are far larger.
 *
 * The limit is largest / 2^21, but at least 1/2 and at most 8. Steps are powers of two, so that the largest value has
 * at least half of `largest` steps. The limit therefore accepts values that are 2^20 times smaller than the largest
 * one, and with samples of 32 bits, values that are 2^28 times smaller. A value of less than half a step would have a
 * sample of 0. With 8 steps, rounding, which adds 1/12 of a squared step to a variance, increases the variance of
 * values with a deviation of a tenth by an eighth. Samples of 24 bits, which laws with squares can use in images of
 * less than 2^15 pixels, reach these 8 steps. Larger images have fewer bits, and require fewer steps. */
inline double
StepsNeeded(uint32_t largest)
{
  return std::min(8.0, std::max(0.5, std::ldexp(largest, -21)));
}

/** Values up to this many times larger than an ordinary one count as ordinary, as the tail of speckle and brighter
 * regions do. */
constexpr double SpreadOfValues = 64.0;

/** The class of magnitudes of 16^25 = 1.3e30 or more. Such values mark pixels without a value, even if most pixels have
 * them. */
constexpr int ClassOfNoData = 57;

/** Makes the samples of an image of one pixel type. `TSource` is the access to the image in host or device memory. It
 * has a PixelType, Survey(isAllowed), Copy(function), which makes the samples, and UseInPlace(), which uses an image
 * whose values are the samples and returns whether that is possible. */
template <typename TSource>
class SampleMaker
{
public:
  SampleMaker(SamplesDescription &              samples,
              TSource &                         source,
              const std::array<int64_t, 2> &    firstIndex,
              const CudaRegionSnakeParameters & parameters)
    : m_Samples(samples)
    , m_Source(source)
    , m_FirstIndex(firstIndex)
    , m_Traits(GetTraits(parameters.NoiseLaw.value()))
    , m_Threshold(parameters.ForegroundThreshold)
  {}

  void
  Make()
  {
    if (this->NeedsSurvey())
    {
      this->TakeSurvey();
    }
    switch (m_Traits.Grid)
    {
      case SampleGrid::Binary:
        this->MakeBinary();
        break;
      case SampleGrid::Logarithms:
        this->MakeLogarithms();
        break;
      case SampleGrid::FromMinimum:
      case SampleGrid::FromZero:
      case SampleGrid::Integers:
        if constexpr (IsInteger)
        {
          this->MakeIntegers();
        }
        else
        {
          this->MakeGrid();
        }
        break;
    }
    this->CheckSums();
  }

private:
  using PixelType = typename TSource::PixelType;
  static constexpr bool IsInteger = std::numeric_limits<PixelType>::is_integer;

  SamplesDescription &         m_Samples;
  TSource &                    m_Source;
  const std::array<int64_t, 2> m_FirstIndex;
  const LawTraits              m_Traits;
  const double                 m_Threshold;
  ValueSurvey                  m_Survey;

  /** Returns whether pixels of this type can be out of the law's range, or whether their extrema are needed. */
  bool
  NeedsSurvey() const
  {
    const bool mayBeRefused = m_Traits.Values == ValueRange::Positive ||
                              (std::is_signed<PixelType>::value && m_Traits.Values != ValueRange::Finite);
    return !IsInteger || mayBeRefused || m_Traits.Grid == SampleGrid::Binary || m_Traits.Grid == SampleGrid::Logarithms;
  }

  void
  TakeSurvey()
  {
    m_Survey = m_Source.Survey(RangeValues{ m_Traits.Values });
    this->ThrowIfRefused(m_Survey);
    if (m_Traits.Grid == SampleGrid::Binary && std::isnan(m_Threshold))
    {
      this->ThrowIfRefused(m_Source.Survey(TwoValues{ this->GetOtherValue() }));
    }
  }

  /** Returns the other value of an image of 0 and one other value, or 0 if there is no other value. */
  double
  GetOtherValue() const
  {
    const bool any = m_Survey.Minimum <= m_Survey.Maximum;
    return !any ? 0.0 : m_Survey.Minimum != 0.0 ? m_Survey.Minimum : m_Survey.Maximum;
  }

  /** Returns a hint for the message if a radar image has a negative value, because radar images are often stored as
   * logarithms. */
  std::string
  GetDecibelHint(const ValueSurvey & survey) const
  {
    if (m_Traits.Parameter != LawParameter::NumberOfLooks || !(survey.RefusedValue < 0.0))
    {
      return "";
    }
    // StepExponent is 1 for intensities, which are 10^(dB / 10), and 2 for amplitudes, which are 10^(dB / 20).
    const int divisor = static_cast<int>(10.0 * m_Traits.StepExponent);
    return ". Is the image in decibels? Then compute 10^(pixel / " + std::to_string(divisor) + ") first";
  }

  std::array<int64_t, 2>
  IndexOf(size_t position) const
  {
    const auto width = static_cast<size_t>(m_Samples.Width);
    return { { m_FirstIndex[0] + static_cast<int64_t>(position % width),
               m_FirstIndex[1] + static_cast<int64_t>(position / width) } };
  }

  void
  ThrowIfRefused(const ValueSurvey & survey) const
  {
    if (survey.FirstRefused == NoPosition)
    {
      return;
    }
    const auto [x, y] = this->IndexOf(survey.FirstRefused);
    if (m_Traits.Grid == SampleGrid::Binary && std::isfinite(survey.RefusedValue))
    {
      itkGenericExceptionMacro("Pixel [" << x << ", " << y << "] is " << survey.RefusedValue << "; NoiseLaw "
                                         << m_Traits.Name
                                         << " without ForegroundThreshold needs an image of 0 and one "
                                            "other value. Set ForegroundThreshold: pixels above it are the ones");
    }
    itkGenericExceptionMacro("Pixel [" << x << ", " << y << "] is " << survey.RefusedValue << "; NoiseLaw "
                                       << m_Traits.Name << " needs " << DescribeRange(m_Traits.Values)
                                       << this->GetDecibelHint(survey)
                                       << ". Pixels without a value can be left out by a mask of valid pixels");
  }

  template <typename TFunction>
  void
  Copy(const TFunction & function)
  {
    m_Source.Copy(function);
    m_Samples.Type = SampleComponentType<typename TFunction::SampleType>();
  }

  void
  MakeBinary()
  {
    const bool   hasThreshold = !std::isnan(m_Threshold);
    const double other = this->GetOtherValue();
    // With this step, the mean of a region is the mean of its pixels, which are 0 or one other value. With a threshold,
    // the mean is the fraction of ones, because they have many values.
    m_Samples.Step = hasThreshold || other == 0.0 ? 1.0 : other;
    this->Copy(BinarySamples{ hasThreshold ? m_Threshold : 0.0, !hasThreshold && other < 0.0 });
  }

  void
  MakeLogarithms()
  {
    const bool   any = m_Survey.Minimum <= m_Survey.Maximum;
    const double lower = any ? Log(m_Survey.Minimum) : 0.0;
    const double range = any ? Log(m_Survey.Maximum) - lower : 0.0;
    m_Samples.Offset = lower;
    m_Samples.Step = range > 0.0 ? range / MaximumLogarithm : 1.0;
    this->Copy(LogarithmSamples{ m_Samples.Offset, m_Samples.Step });
  }

  void
  MakeIntegers()
  {
    using SampleType = std::conditional_t<sizeof(PixelType) == 1, uint8_t, uint16_t>;
    const bool isOffset = std::is_signed<PixelType>::value && m_Traits.Grid == SampleGrid::FromMinimum;
    const auto mask = static_cast<SampleType>(isOffset ? 0x8000u : 0u);
    m_Samples.Offset = isOffset ? -32768.0 : 0.0;
    m_Samples.Type = SampleComponentType<SampleType>();
    if (m_Source.UseInPlace())
    {
      m_Samples.XorMask = mask;
    }
    else
    {
      this->Copy(IntegerSamples<SampleType>{ mask });
    }
  }

  void
  MakeGrid()
  {
    const bool     any = m_Survey.Minimum <= m_Survey.Maximum;
    const uint32_t largest = MaximumSample(m_Traits.UsesSquares, m_Samples.NumberOfValidPixels);
    const double   offset = any && m_Traits.Grid == SampleGrid::FromMinimum ? m_Survey.Minimum : 0.0;
    const double   step =
      m_Traits.Grid == SampleGrid::Integers || !any ? 1.0 : GridStep(m_Survey.Maximum - offset, largest);
    if (m_Traits.Grid != SampleGrid::Integers)
    {
      this->RefuseExtremes(step * StepsNeeded(largest));
    }
    m_Samples.Offset = offset;
    m_Samples.Step = step;
    this->Copy(GridSamples{ offset, step });
  }

  /** Refuses an image in which a few values are so far above the others that samples on one grid lose the digits of the
   * others, which is the case below `needed`. Two criteria distinguish such an image from one whose values decrease to
   * 0 by design, like probabilities and smoothed spots: the large values are separated from the others, or nearly all
   * other values have similar magnitudes.
   * \exception ExceptionObject naming the first value that is too large */
  void
  RefuseExtremes(double needed) const
  {
    this->RefuseOutliers(needed);
    this->RefuseValuesAboveMostOthers(needed);
  }

  bool
  HasClass(int i) const
  {
    return ((m_Survey.Classes >> i) & 1) != 0;
  }

  /** Refuses large values that are separated from the others by two empty classes of magnitudes, if most of the others
   * are below `needed`. The others must also be most of the values that are not 0, unless the large ones are no-data
   * values. */
  void
  RefuseOutliers(double needed) const
  {
    const auto isMost = [](const ValueSurvey & values, const ValueSurvey & all) {
      return 2 * values.NumberOfNonZeros > all.NumberOfNonZeros;
    };
    for (int i = MagnitudeClasses - 1; i > 2; --i) // the others are in class i - 3 or below
    {
      if (!this->HasClass(i) || this->HasClass(i - 1) || this->HasClass(i - 2))
      {
        continue;
      }
      const ValueSurvey others = m_Source.Survey(BoundedValues{ SmallestOfClass(i) });
      if (i < ClassOfNoData && !isMost(others, m_Survey))
      {
        return; // there are even fewer others below a lower bound
      }
      if (LargestMagnitude(others) < SpreadOfValues * needed &&
          isMost(m_Source.Survey(BoundedValues{ needed }), others))
      {
        this->ThrowExtreme(others);
      }
    }
  }

  /** Refuses an image in which two neighbouring classes of magnitudes below `needed` hold at least nine tenths of the
   * values that are not 0, regardless of the values between them and the largest. Two classes span a factor of 256,
   * which is sufficient for noise and fields of any of the laws, but not for the flanks of a spot. */
  void
  RefuseValuesAboveMostOthers(double needed) const
  {
    const auto isNearlyAll = [this](uint64_t number) { return 10 * number >= 9 * m_Survey.NumberOfNonZeros; };
    const int  classOfNeeded = MagnitudeClass(needed);
    if (m_Survey.NumberOfNonZeros == 0 || (m_Survey.Classes & ((uint64_t{ 2 } << classOfNeeded) - 1)) == 0)
    {
      return; // no value is below `needed`
    }
    const ValueSurvey below = m_Source.Survey(BoundedValues{ needed });
    if (below.NumberOfNonZeros == m_Survey.NumberOfNonZeros)
    {
      return; // no value is above it either, as in an image of one value
    }
    const auto countBelow = [&](int i) {
      return i > classOfNeeded ? below.NumberOfNonZeros
             : i < 1           ? uint64_t{ 0 }
                               : m_Source.Survey(BoundedValues{ SmallestOfClass(i) }).NumberOfNonZeros;
    };
    uint64_t upper = below.NumberOfNonZeros;
    for (int i = classOfNeeded; i >= 0 && isNearlyAll(upper); --i)
    {
      if (isNearlyAll(upper - countBelow(i - 1)))
      {
        this->ThrowExtreme(below);
      }
      upper = countBelow(i);
    }
  }

  static double
  LargestMagnitude(const ValueSurvey & survey)
  {
    return std::max(std::abs(survey.Minimum), std::abs(survey.Maximum));
  }

  [[noreturn]] void
  ThrowExtreme(const ValueSurvey & others) const
  {
    const std::array<int64_t, 2> index = this->IndexOf(others.FirstRefused);
    itkGenericExceptionMacro(
      "Pixel [" << index[0] << ", " << index[1] << "] is " << others.RefusedValue << ", the first of "
                << m_Survey.NumberOfNonZeros - others.NumberOfNonZeros
                << " so far above the others, which have magnitudes up to " << LargestMagnitude(others)
                << ", that samples on one grid would lose the digits of the others. Leave such pixels out by a mask "
                   "of valid pixels; or, if the others are meant to be nothing, set them to 0");
  }

  /** Sums must stay below 2^63, so that their differences are valid as signed 64-bit numbers. Sums of squares may
   * exceed this, as long as CountWraps() can tell by how much. */
  void
  CheckSums()
  {
    double largest = m_Samples.Type == CudaComponentType::UChar ? 255.0 : 65535.0;
    if (m_Samples.Type == CudaComponentType::UInt)
    {
      largest = std::max(1.0, (m_Survey.Maximum - m_Samples.Offset) / m_Samples.Step + 1.0);
    }
    const auto   pixels = static_cast<double>(m_Samples.NumberOfValidPixels);
    const double limitOfSums = std::ldexp(1.0, 63) / largest;
    if (pixels >= limitOfSums)
    {
      itkGenericExceptionMacro("The image has " << m_Samples.NumberOfValidPixels << " valid pixels of up to " << largest
                                                << "; sums of 63 bits hold fewer than " << limitOfSums << " of them");
    }
    m_Samples.SquaresWrap = m_Traits.UsesSquares && pixels >= std::ldexp(1.0, 63) / (largest * largest);
    const auto limitOfSquares = [](double range) { return std::ldexp(1.0, 66) / (range * range); };
    if (m_Samples.SquaresWrap && pixels >= limitOfSquares(largest))
    {
      const double range = this->FindRange(largest);
      if (pixels >= limitOfSquares(range))
      {
        itkGenericExceptionMacro("The image has "
                                 << m_Samples.NumberOfValidPixels << " valid pixels in a range of " << range
                                 << " grey levels; NoiseLaw " << m_Traits.Name << " takes fewer than "
                                 << limitOfSquares(range)
                                 << " of them, because it needs the sum of their squares. Segment a part of the image");
      }
    }
  }

  /** Returns the difference of the largest and the smallest sample, which are at most `largest`. */
  double
  FindRange(double largest)
  {
    if (!IsInteger || m_Traits.Grid == SampleGrid::Logarithms || m_Traits.Grid == SampleGrid::Binary)
    {
      return largest;
    }
    const ValueSurvey survey = m_Source.Survey(RangeValues{ ValueRange::Finite });
    return survey.Minimum <= survey.Maximum ? survey.Maximum - survey.Minimum : 0.0;
  }
};

/** Returns the properties of an image that are known before its pixels are read.
 * \exception ExceptionObject for sides of more than 2^30 pixels */
inline SamplesDescription
DescribeImage(size_t width, size_t height)
{
  constexpr size_t maximumSide = size_t{ 1 } << 30;
  if (width > maximumSide || height > maximumSide)
  {
    itkGenericExceptionMacro("The image has " << width << " x " << height << " pixels; sides are at most "
                                              << maximumSide);
  }
  SamplesDescription description;
  description.Width = static_cast<int32_t>(width);
  description.Height = static_cast<int32_t>(height);
  description.NumberOfValidPixels = width * height;
  return description;
}

/** Calls function(pixel) with a value of the pixels' type.
 * \exception ExceptionObject for other types than unsigned char, unsigned short, short and float */
template <typename TFunction>
void
VisitPixelType(CudaComponentType type, const TFunction & function)
{
  switch (type)
  {
    case CudaComponentType::UChar:
      function(uint8_t{});
      break;
    case CudaComponentType::UShort:
      function(uint16_t{});
      break;
    case CudaComponentType::Short:
      function(int16_t{});
      break;
    case CudaComponentType::Float:
      function(float{});
      break;
    default:
      itkGenericExceptionMacro("Pixels have to be unsigned char, unsigned short, short or float");
  }
}
} // namespace itk::cuda::region

#endif
