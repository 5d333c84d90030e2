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

// Decides which samples an image gets, and which images are refused, for images on the host and on a device.
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

/** Largest sample whose sums over `pixels` pixels stay below 2^63. */
inline uint32_t
LargestSample(bool usesSquares, size_t pixels)
{
  const unsigned int sum = 63 - BitsOf(pixels);
  const unsigned int bits = usesSquares ? std::min(24u, sum / 2) : std::min(32u, sum);
  return static_cast<uint32_t>((uint64_t{ 1 } << bits) - 1);
}

/** Smallest power of two with which `range` is at most `largest` steps. */
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

/** How many steps of the grid an ordinary value needs where a few others are far larger. As steps are powers of two,
 * the largest value has at least half of `largest` steps, and a value of 1 in 2^20 of it has largest / 2^21: that is 8
 * steps for the samples of 24 bits that squares leave to images below 2^15 pixels, and less the more pixels there are.
 * No more than 8 are asked for: rounding, which adds 1/12 of a squared step to a variance, then adds an eighth to that
 * of values with a deviation of a tenth. No fewer than half a step are asked for, below which samples are 0. So ratios
 * up to 2^20 (a million) are accepted, up to 2^28 by samples of 32 bits, and for squares over 2^23 pixels or more as
 * far as samples are not 0. */
inline double
StepsNeeded(uint32_t largest)
{
  return std::min(8.0, std::max(0.5, std::ldexp(largest, -21)));
}

/** How far above the ordinary ones values may be that still belong to them: the tail of speckle, brighter regions. */
constexpr double SpreadOfValues = 64.0;

/** Class of the magnitudes, from 16^25 = 1.3e30 on, that mark pixels without a value even where most pixels have them.
 */
constexpr int ClassOfNoData = 57;

/** Prepares samples of an image of one pixel type. `TSource` is the image where it lies, on the host or on a device:
 * PixelType, Survey(isAllowed), Copy(function) which makes the samples, and UseInPlace() for images whose values
 * are the samples. */
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

  /** Whether pixels of the type may be out of the law's range, or their extrema are needed. */
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

  /** Of an image of 0 and one other value, that one; 0 if there is none. */
  double
  GetOtherValue() const
  {
    const bool any = m_Survey.Minimum <= m_Survey.Maximum;
    return !any ? 0.0 : m_Survey.Minimum != 0.0 ? m_Survey.Minimum : m_Survey.Maximum;
  }

  /** A hint for negative values of radar images, which are often stored as logarithms. */
  std::string
  AskAboutDecibels(const ValueSurvey & survey) const
  {
    if (m_Traits.Parameter != LawParameter::NumberOfLooks || !(survey.RefusedValue < 0.0))
    {
      return "";
    }
    // J shifts with the intensity's logarithm by 1, with the amplitude's by 2.
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
                                       << this->AskAboutDecibels(survey)
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
    // The step makes means of samples those of the image's two values. Beyond a threshold the ones have many values.
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
    m_Samples.Step = range > 0.0 ? range / LargestLogarithm : 1.0;
    this->Copy(LogarithmSamples{ m_Samples.Offset, m_Samples.Step });
  }

  void
  MakeIntegers()
  {
    using SampleType = std::conditional_t<sizeof(PixelType) == 1, uint8_t, uint16_t>;
    const bool flip = std::is_signed<PixelType>::value && m_Traits.Grid == SampleGrid::FromMinimum;
    const auto mask = static_cast<SampleType>(flip ? 0x8000u : 0u);
    m_Samples.Offset = flip ? -32768.0 : 0.0;
    m_Samples.Type = SampleComponentType<SampleType>();
    if (m_Source.UseInPlace())
    {
      m_Samples.Flip = mask;
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
    const uint32_t largest = LargestSample(m_Traits.UsesSquares, m_Samples.NumberOfValidPixels);
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

  /** Refuses an image in which a few values are so far above the others that samples of one grid lose the digits of the
   * others. Values below `needed` lose them. Two signs tell such an image from one whose values go down to nothing by
   * design, as probabilities and smoothed spots do: the large values stand apart, or nearly all others lie together.
   * \exception ExceptionObject naming the first value that is too large */
  void
  RefuseExtremes(double needed) const
  {
    this->RefuseValuesThatStandApart(needed);
    this->RefuseValuesAboveMostOthers(needed);
  }

  bool
  HasClass(int i) const
  {
    return ((m_Survey.Classes >> i) & 1) != 0;
  }

  /** Refuses values that are separated from the others by two empty classes of magnitudes. The others are most of the
   * values that are not 0, unless the large ones are no-data values, and most of the others are below `needed`. */
  void
  RefuseValuesThatStandApart(double needed) const
  {
    const auto isMost = [](const ValueSurvey & values, const ValueSurvey & all) {
      return 2 * values.NumberOfNonZeros > all.NumberOfNonZeros;
    };
    for (int i = MagnitudeClasses - 1; i > 2; --i) // a class of others is below two empty ones
    {
      if (!this->HasClass(i) || this->HasClass(i - 1) || this->HasClass(i - 2))
      {
        continue;
      }
      const ValueSurvey others = m_Source.Survey(BoundedValues{ SmallestOfClass(i) });
      if (i < ClassOfNoData && !isMost(others, m_Survey))
      {
        return; // and even less so for lower bounds
      }
      if (LargestMagnitude(others) < SpreadOfValues * needed &&
          isMost(m_Source.Survey(BoundedValues{ needed }), others))
      {
        this->ThrowExtreme(others);
      }
    }
  }

  /** Refuses an image of which two neighbouring classes of magnitudes below `needed` hold nine tenths of the values
   * that are not 0, whatever lies between these and the largest. Two classes span a factor of 256, which holds noise
   * and fields of any of the laws, but not the flanks of a spot. */
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
    const auto        countBelow = [&](int i) {
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

  // Sums must stay below 2^63: their differences are then signed 64-bit numbers.
  void
  CheckSums() const
  {
    double largest = m_Samples.Type == CudaComponentType::UChar ? 255.0 : 65535.0;
    if (m_Samples.Type == CudaComponentType::UInt)
    {
      largest = std::max(1.0, (m_Survey.Maximum - m_Samples.Offset) / m_Samples.Step + 1.0);
    }
    const double terms = m_Traits.UsesSquares ? largest * largest : largest;
    const double limit = std::ldexp(1.0, 63) / terms;
    if (static_cast<double>(m_Samples.NumberOfValidPixels) >= limit)
    {
      itkGenericExceptionMacro("The image has " << m_Samples.NumberOfValidPixels << " valid pixels of up to " << largest
                                                << "; sums of 63 bits hold fewer than " << limit << " of them");
    }
  }
};

/** The properties of an image that are known before its pixels are read.
 * \exception ExceptionObject for sides that lattices do not have */
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
 * \exception ExceptionObject for other types than those that are segmented */
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
