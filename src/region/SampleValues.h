// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_region_SampleValues_h
#define CudaFilters_region_SampleValues_h

#include "runtime/HostDevice.h"
#include "region/Laws.h"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>

// Functors that convert pixels to samples, for loops on the host and for kernels. They are plain data and passed by
// value. Their arithmetic is in double, and the compiler must not fuse it.
namespace itk::cuda::region
{
constexpr double Infinity = std::numeric_limits<double>::infinity();
constexpr size_t NoPosition = std::numeric_limits<size_t>::max();
constexpr double MaximumLogarithm = 65535.0; // in steps of the grid

/** The rows of an image and of the bits of its mask. */
template <typename TPixel>
struct PixelRows
{
  const TPixel *   Image;
  size_t           RowStride; // pixels
  const uint16_t * ValidBits; // nullptr: all pixels are valid
  size_t           MaskWordsPerRow;
  size_t           Width;
  size_t           Height;

  ITK_CUDA_HOST_DEVICE const TPixel *
  GetRow(size_t y) const
  {
    return Image + y * RowStride;
  }
  ITK_CUDA_HOST_DEVICE bool
  IsValid(size_t x, size_t y) const
  {
    return ValidBits == nullptr || ((ValidBits[y * MaskWordsPerRow + x / 16] >> (x % 16)) & 1) != 0;
  }
};

/** Magnitudes are divided into classes by powers of 16. Class i has the magnitudes from 16^(i - 32) to below 16^(i -
 * 31). The 64 classes cover all finite floats, and subnormal ones are in class 0. */
constexpr int MagnitudeClasses = 64;

/** Returns the class of a magnitude that is not 0, and finite as a float. */
ITK_CUDA_HOST_DEVICE inline int
MagnitudeClass(double value)
{
  uint64_t bits;
  memcpy(&bits, &value, sizeof(bits));
  const int exponent = static_cast<int>((bits >> 52) & 0x7ff) - 1023;
  return exponent < -128 ? 0 : (exponent + 128) / 4;
}

/** Returns the smallest magnitude of a class other than class 0. */
inline double
SmallestOfClass(int index)
{
  return std::ldexp(1.0, 4 * index - 128);
}

/** The statistics that a pass over the values collects. Surveys of parts of an image can be merged. */
struct ValueSurvey
{
  double Minimum{ Infinity };
  double Maximum{ -Infinity };
  // of the accepted values that are not 0: their number, and a bit mask with bit i set if a value is in class i
  uint64_t NumberOfNonZeros{ 0 };
  uint64_t Classes{ 0 };
  // the first refused value in the order of rows
  size_t FirstRefused{ NoPosition };
  double RefusedValue{ 0.0 };

  ITK_CUDA_HOST_DEVICE void
  Accept(double value)
  {
    Minimum = value < Minimum ? value : Minimum;
    Maximum = Maximum < value ? value : Maximum;
    if (value != 0.0)
    {
      ++NumberOfNonZeros;
      Classes |= uint64_t{ 1 } << MagnitudeClass(value);
    }
  }
  ITK_CUDA_HOST_DEVICE void
  Refuse(size_t position, double value)
  {
    if (position < FirstRefused)
    {
      FirstRefused = position;
      RefusedValue = value;
    }
  }
  ITK_CUDA_HOST_DEVICE void
  Merge(const ValueSurvey & other)
  {
    Minimum = other.Minimum < Minimum ? other.Minimum : Minimum;
    Maximum = Maximum < other.Maximum ? other.Maximum : Maximum;
    NumberOfNonZeros += other.NumberOfNonZeros;
    Classes |= other.Classes;
    this->Refuse(other.FirstRefused, other.RefusedValue);
  }
};

/** Returns whether the value is finite. */
ITK_CUDA_HOST_DEVICE inline bool
IsFinite(double value)
{
  return value - value == 0.0;
}

/** Allows the finite values in the range of a law. */
struct RangeValues
{
  ValueRange Range;

  ITK_CUDA_HOST_DEVICE bool
  operator()(double value) const
  {
    return IsInRange(Range, value);
  }
};

/** Allows 0 and one other value. */
struct TwoValues
{
  double Other;

  ITK_CUDA_HOST_DEVICE bool
  operator()(double value) const
  {
    return value == 0.0 || value == Other;
  }
};

/** Allows values whose magnitude is below a bound. */
struct BoundedValues
{
  double Bound;

  ITK_CUDA_HOST_DEVICE bool
  operator()(double value) const
  {
    return -Bound < value && value < Bound;
  }
};

/** Adds the valid pixels x = first, first + step, ... of row y to the survey. A value is accepted if it is finite and
 * isAllowed(value) holds, and otherwise refused. */
template <typename TPixel, typename TAllowed>
ITK_CUDA_HOST_DEVICE inline void
SurveyRow(const PixelRows<TPixel> & rows,
          size_t                    y,
          size_t                    first,
          size_t                    step,
          const TAllowed &          isAllowed,
          ValueSurvey &             survey)
{
  const TPixel * row = rows.GetRow(y);
  for (size_t x = first; x < rows.Width; x += step)
  {
    if (rows.IsValid(x, y))
    {
      const double value = row[x];
      IsFinite(value) && isAllowed(value) ? survey.Accept(value) : survey.Refuse(y * rows.Width + x, value);
    }
  }
}

/** Samples of 0 and 1: 1 for values above the threshold or, with Negative, for values below 0. */
struct BinarySamples
{
  using SampleType = uint8_t;
  double Threshold;
  bool   Negative;

  ITK_CUDA_HOST_DEVICE SampleType
  operator()(double value) const
  {
    return static_cast<SampleType>((Negative ? value < 0.0 : value > Threshold) ? 1 : 0);
  }
};

/** Logarithms on a grid that begins at the smallest one, rounded to the nearest sample, and half-way cases upward. */
struct LogarithmSamples
{
  using SampleType = uint16_t;
  double Lower;
  double Step;

  template <typename TPixel>
  ITK_CUDA_HOST_DEVICE SampleType
  operator()(TPixel value) const
  {
    const double sample = floor((Log(value) - Lower) / Step + 0.5);
    return static_cast<SampleType>(sample < MaximumLogarithm ? sample : MaximumLogarithm);
  }
};

/** Integers as samples, with the bits of XorMask inverted. */
template <typename TSample>
struct IntegerSamples
{
  using SampleType = TSample;
  TSample XorMask;

  template <typename TPixel>
  ITK_CUDA_HOST_DEVICE SampleType
  operator()(TPixel value) const
  {
    return static_cast<SampleType>(static_cast<SampleType>(value) ^ XorMask);
  }
};

/** Values on a grid, rounded to the nearest sample, and half-way cases upward. */
struct GridSamples
{
  using SampleType = uint32_t;
  double Offset;
  double Step;

  template <typename TPixel>
  ITK_CUDA_HOST_DEVICE SampleType
  operator()(TPixel value) const
  {
    return static_cast<SampleType>((static_cast<double>(value) - Offset) / Step + 0.5);
  }
};

/** Returns the bits of 16 pixels of a mask's row from `first` on. Bits beyond the end of the row are 0. */
ITK_CUDA_HOST_DEVICE inline uint16_t
MakeMaskWord(const uint8_t * row, size_t first, size_t width)
{
  uint32_t     word = 0;
  const size_t number = width - first < 16 ? width - first : 16;
  for (size_t j = 0; j < number; ++j)
  {
    word |= (row[first + j] != 0 ? 1u : 0u) << j;
  }
  return static_cast<uint16_t>(word);
}
} // namespace itk::cuda::region

#endif
