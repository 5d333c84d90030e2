// SPDX-License-Identifier: Apache-2.0
#include "itkCudaRegionSamples.h"

#include "itkCudaRegionLaws.h"
#include "itkCudaRegionThreads.h"
#include "itkMacro.h"

#include <cmath>
#include <limits>
#include <mutex>
#include <string>
#include <type_traits>

namespace itk::cuda::region
{
namespace
{
constexpr size_t RowsPerPiece = 16;

/** What a pass over the values found; pieces of it are merged. */
struct ValueSurvey
{
  double Minimum{ std::numeric_limits<double>::infinity() };
  double Maximum{ -std::numeric_limits<double>::infinity() };
  // the first value, in the order of memory, that the law refuses
  size_t FirstRefused{ std::numeric_limits<size_t>::max() };
  double RefusedValue{ 0.0 };

  void
  Refuse(size_t position, double value)
  {
    if (position < FirstRefused)
    {
      FirstRefused = position;
      RefusedValue = value;
    }
  }

  void
  Merge(const ValueSurvey & other)
  {
    Minimum = std::min(Minimum, other.Minimum);
    Maximum = std::max(Maximum, other.Maximum);
    this->Refuse(other.FirstRefused, other.RefusedValue);
  }
};

/** Rows of the image and of its mask. */
template <typename TPixel>
struct PixelRows
{
  const CudaImageView & Image;
  const uint16_t *      ValidBits;
  size_t                MaskWordsPerRow;

  const TPixel *
  GetRow(size_t y) const
  {
    return static_cast<const TPixel *>(Image.Data) + y * Image.Stride[1];
  }
  bool
  IsValid(size_t x, size_t y) const
  {
    return ValidBits == nullptr || ((ValidBits[y * MaskWordsPerRow + x / 16] >> (x % 16)) & 1) != 0;
  }
};

template <typename TPixel, typename TAllowed>
ValueSurvey
Survey(const PixelRows<TPixel> & rows, const Threads & threads, const TAllowed & isAllowed)
{
  ValueSurvey result;
  std::mutex  mutex;
  threads.ForRanges(rows.Image.Size[1], RowsPerPiece, [&](size_t begin, size_t end) {
    ValueSurvey survey;
    for (size_t y = begin; y < end; ++y)
    {
      const TPixel * row = rows.GetRow(y);
      for (size_t x = 0; x < rows.Image.Size[0]; ++x)
      {
        if (!rows.IsValid(x, y))
        {
          continue;
        }
        const double value = row[x];
        if (!std::isfinite(value) || !isAllowed(value))
        {
          survey.Refuse(y * rows.Image.Size[0] + x, value);
          continue;
        }
        survey.Minimum = std::min(survey.Minimum, value);
        survey.Maximum = std::max(survey.Maximum, value);
      }
    }
    const std::lock_guard<std::mutex> lock(mutex);
    result.Merge(survey);
  });
  return result;
}

/** Writes the samples that `function` makes of the valid values, and 0 for the others. */
template <typename TSample, typename TPixel, typename TFunction>
void
Convert(const PixelRows<TPixel> & rows, TSample * samples, const Threads & threads, const TFunction & function)
{
  threads.ForRanges(rows.Image.Size[1], RowsPerPiece, [&](size_t begin, size_t end) {
    for (size_t y = begin; y < end; ++y)
    {
      const TPixel * row = rows.GetRow(y);
      TSample *      out = samples + y * rows.Image.Size[0];
      for (size_t x = 0; x < rows.Image.Size[0]; ++x)
      {
        out[x] = rows.IsValid(x, y) ? function(row[x]) : TSample{ 0 };
      }
    }
  });
}

unsigned int
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
uint32_t
LargestSample(bool usesSquares, size_t pixels)
{
  const unsigned int sum = 63 - BitsOf(pixels);
  const unsigned int bits = usesSquares ? std::min(24u, sum / 2) : std::min(32u, sum);
  return static_cast<uint32_t>((uint64_t{ 1 } << bits) - 1);
}

/** Smallest power of two with which `range` is at most `largest` steps. */
double
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

/** Prepares an image of one pixel type. */
template <typename TPixel>
class SampleMaker
{
public:
  SampleMaker(Samples &                         samples,
              std::unique_ptr<char[]> &         storage,
              const CudaRegionSnakeInput &      input,
              const CudaRegionSnakeParameters & parameters,
              const Threads &                   threads)
    : m_Samples(samples)
    , m_Storage(storage)
    , m_Input(input)
    , m_Traits(GetTraits(parameters.NoiseLaw.value()))
    , m_Threshold(parameters.ForegroundThreshold)
    , m_Threads(threads)
    , m_Rows{ input.Image, samples.ValidBits.get(), samples.GetMaskWordsPerRow() }
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
        IsInteger ? this->MakeIntegers() : this->MakeGrid();
        break;
    }
    this->CheckSums();
  }

private:
  static constexpr bool IsInteger = std::numeric_limits<TPixel>::is_integer;

  Samples &                    m_Samples;
  std::unique_ptr<char[]> &    m_Storage;
  const CudaRegionSnakeInput & m_Input;
  const LawTraits              m_Traits;
  const double                 m_Threshold;
  const Threads &              m_Threads;
  const PixelRows<TPixel>      m_Rows;
  ValueSurvey                  m_Survey;

  /** Whether pixels of the type may be out of the law's range, or their extrema are needed. */
  bool
  NeedsSurvey() const
  {
    const bool mayBeRefused = m_Traits.Values == ValueRange::Positive ||
                              (std::is_signed<TPixel>::value && m_Traits.Values != ValueRange::Finite);
    return !IsInteger || mayBeRefused || m_Traits.Grid == SampleGrid::Binary || m_Traits.Grid == SampleGrid::Logarithms;
  }

  void
  TakeSurvey()
  {
    m_Survey = Survey(m_Rows, m_Threads, [this](double value) { return IsInRange(m_Traits.Values, value); });
    this->ThrowIfRefused(m_Survey);
    if (m_Traits.Grid == SampleGrid::Binary && std::isnan(m_Threshold))
    {
      const double other = m_Survey.Minimum != 0.0 ? m_Survey.Minimum : m_Survey.Maximum;
      this->ThrowIfRefused(Survey(m_Rows, m_Threads, [other](double value) { return value == 0.0 || value == other; }));
    }
  }

  /** For negative values of radar images, which are often kept as logarithms. */
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

  void
  ThrowIfRefused(const ValueSurvey & survey) const
  {
    if (survey.FirstRefused == std::numeric_limits<size_t>::max())
    {
      return;
    }
    const size_t width = m_Input.Image.Size[0];
    const auto   x = m_Input.FirstIndex[0] + static_cast<int64_t>(survey.FirstRefused % width);
    const auto   y = m_Input.FirstIndex[1] + static_cast<int64_t>(survey.FirstRefused / width);
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

  template <typename TSample, typename TFunction>
  void
  Copy(CudaComponentType type, const TFunction & function)
  {
    m_Storage.reset(new char[m_Input.Image.GetNumberOfPixels() * sizeof(TSample)]);
    auto * const samples = reinterpret_cast<TSample *>(m_Storage.get());
    Convert(m_Rows, samples, m_Threads, function);
    m_Samples.Type = type;
    m_Samples.Data = samples;
    m_Samples.RowStride = static_cast<ptrdiff_t>(m_Input.Image.Size[0]);
  }

  void
  MakeBinary()
  {
    const double threshold = std::isnan(m_Threshold) ? 0.0 : m_Threshold;
    const bool   negative = std::isnan(m_Threshold) && m_Survey.Minimum < 0.0;
    this->Copy<uint8_t>(CudaComponentType::UChar, [threshold, negative](TPixel value) {
      return static_cast<uint8_t>((negative ? value < 0 : value > threshold) ? 1 : 0);
    });
  }

  void
  MakeLogarithms()
  {
    constexpr double largest = 65535.0;
    const bool       any = m_Survey.Minimum <= m_Survey.Maximum;
    const double     lower = any ? Log(m_Survey.Minimum) : 0.0;
    const double     range = any ? Log(m_Survey.Maximum) - lower : 0.0;
    const double     step = range > 0.0 ? range / largest : 1.0;
    m_Samples.Offset = lower;
    m_Samples.Step = step;
    this->Copy<uint16_t>(CudaComponentType::UShort, [lower, step](TPixel value) {
      return static_cast<uint16_t>(std::min(65535.0, std::floor((Log(value) - lower) / step + 0.5)));
    });
  }

  void
  MakeIntegers()
  {
    using SampleType = typename std::conditional<sizeof(TPixel) == 1, uint8_t, uint16_t>::type;
    const auto type = sizeof(TPixel) == 1 ? CudaComponentType::UChar : CudaComponentType::UShort;
    const bool flip = std::is_signed<TPixel>::value && m_Traits.Grid == SampleGrid::FromMinimum;
    const auto mask = static_cast<SampleType>(flip ? 0x8000u : 0u);
    m_Samples.Offset = flip ? -32768.0 : 0.0;
    if (m_Samples.ValidBits)
    {
      this->Copy<SampleType>(
        type, [mask](TPixel value) { return static_cast<SampleType>(static_cast<SampleType>(value) ^ mask); });
      return;
    }
    m_Samples.Type = type;
    m_Samples.Data = m_Input.Image.Data;
    m_Samples.RowStride = static_cast<ptrdiff_t>(m_Input.Image.Stride[1]);
    m_Samples.Flip = mask;
  }

  void
  MakeGrid()
  {
    const bool     any = m_Survey.Minimum <= m_Survey.Maximum;
    const uint32_t largest = LargestSample(m_Traits.UsesSquares, m_Samples.NumberOfValidPixels);
    const double   offset = any && m_Traits.Grid == SampleGrid::FromMinimum ? m_Survey.Minimum : 0.0;
    const double   step =
      m_Traits.Grid == SampleGrid::Integers || !any ? 1.0 : GridStep(m_Survey.Maximum - offset, largest);
    m_Samples.Offset = offset;
    m_Samples.Step = step;
    this->Copy<uint32_t>(CudaComponentType::UInt, [offset, step](TPixel value) {
      return static_cast<uint32_t>((static_cast<double>(value) - offset) / step + 0.5);
    });
  }

  // Sums have to stay below 2^63, so that their differences are signed 64-bit numbers.
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

void
MakeValidBits(const CudaImageView & mask, Samples & samples, const Threads & threads)
{
  const size_t words = samples.GetMaskWordsPerRow();
  const size_t height = mask.Size[1];
  samples.ValidBits.reset(new uint16_t[words * height]);
  std::mutex mutex;
  size_t     valid = 0;
  threads.ForRanges(height, RowsPerPiece, [&](size_t begin, size_t end) {
    size_t count = 0;
    for (size_t y = begin; y < end; ++y)
    {
      const auto * row = static_cast<const uint8_t *>(mask.Data) + y * mask.Stride[1];
      uint16_t *   bits = samples.ValidBits.get() + y * words;
      std::fill(bits, bits + words, uint16_t{ 0 });
      for (size_t x = 0; x < mask.Size[0]; ++x)
      {
        bits[x / 16] = static_cast<uint16_t>(bits[x / 16] | ((row[x] != 0 ? 1u : 0u) << (x % 16)));
        count += row[x] != 0 ? 1 : 0;
      }
    }
    const std::lock_guard<std::mutex> lock(mutex);
    valid += count;
  });
  samples.NumberOfValidPixels = valid;
}
} // namespace

Samples::Samples(const CudaRegionSnakeInput &      input,
                 const CudaRegionSnakeParameters & parameters,
                 const Threads &                   threads)
{
  constexpr size_t maximumSide = size_t{ 1 } << 30;
  if (input.Image.Size[0] > maximumSide || input.Image.Size[1] > maximumSide)
  {
    itkGenericExceptionMacro("The image has " << input.Image.Size[0] << " x " << input.Image.Size[1]
                                              << " pixels; sides are at most " << maximumSide);
  }
  Width = static_cast<int32_t>(input.Image.Size[0]);
  Height = static_cast<int32_t>(input.Image.Size[1]);
  NumberOfValidPixels = input.Image.GetNumberOfPixels();
  if (input.ValidMask != nullptr)
  {
    MakeValidBits(*input.ValidMask, *this, threads);
  }
  switch (input.Image.ComponentType)
  {
    case CudaComponentType::UChar:
      SampleMaker<uint8_t>(*this, m_Storage, input, parameters, threads).Make();
      break;
    case CudaComponentType::UShort:
      SampleMaker<uint16_t>(*this, m_Storage, input, parameters, threads).Make();
      break;
    case CudaComponentType::Short:
      SampleMaker<int16_t>(*this, m_Storage, input, parameters, threads).Make();
      break;
    case CudaComponentType::Float:
      SampleMaker<float>(*this, m_Storage, input, parameters, threads).Make();
      break;
    default:
      itkGenericExceptionMacro("Pixels have to be unsigned char, unsigned short, short or float");
  }
}
} // namespace itk::cuda::region
