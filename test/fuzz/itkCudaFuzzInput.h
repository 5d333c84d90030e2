// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaFuzzInput_h
#define itkCudaFuzzInput_h

#include "itkCudaDetailImageView.h"
#include "itkMacro.h"
#include "runtime/image/Components.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

namespace itk::cuda::test
{
/** Reads a case from the bytes of a fuzzer. Where the bytes have ended, all numbers are the lowest that they can be, so
 * that every sequence of bytes is a case, and short ones are small cases. */
class FuzzInput
{
public:
  FuzzInput(const uint8_t * data, size_t size)
    : m_Next(data)
    , m_End(data + size)
  {}

  /** Both ends are possible. */
  uint64_t
  Integer(uint64_t low, uint64_t high)
  {
    const uint64_t range = high - low;
    const uint64_t value = this->Bits(range < 256 ? 1 : range < 65536 ? 2 : 8);
    return range == std::numeric_limits<uint64_t>::max() ? value : low + value % (range + 1);
  }

  bool
  Flag()
  {
    return this->Integer(0, 1) == 1;
  }

  template <typename T>
  T
  Choose(std::initializer_list<T> values)
  {
    return values.begin()[this->Integer(0, values.size() - 1)];
  }

  /** Returns a number that a program would set, in [low, high], on a logarithmic scale. */
  double
  Scale(double low, double high)
  {
    return low * std::exp(std::log(high / low) * static_cast<double>(this->Integer(0, 255)) / 255.0);
  }

  /** Returns any number: one that programs get wrong, or one of any bits. */
  double
  Hostile()
  {
    using Limits = std::numeric_limits<double>;
    const double   values[] = { 0.0,           1.0,
                                -1.0,          0.5,
                                -0.0,          Limits::quiet_NaN(),
                                1e-300,        -Limits::infinity(),
                                1e300,         Limits::infinity(),
                                1e-40,         Limits::denorm_min(),
                                Limits::max(), static_cast<double>(std::numeric_limits<float>::max()),
                                2147483648.0,  -2147483649.0,
                                65536.0,       18446744073709551616.0 };
    const uint64_t index = this->Integer(0, std::size(values));
    if (index < std::size(values))
    {
      return values[index];
    }
    const uint64_t bits = this->Bits(8);
    double         value;
    std::memcpy(&value, &bits, sizeof(value));
    return value;
  }

  /** Returns a number in [low, high] as Scale() does; one in sixteen is Hostile(). */
  double
  Parameter(double low, double high)
  {
    return this->Integer(0, 15) == 15 ? this->Hostile() : this->Scale(low, high);
  }

  /** Fills an image: with noise, with one value, with few values, with small numbers or with hostile ones. With
   * `isTame` the values are numbers from 0 to 100.
   * \return whether all pixels have one finite value */
  bool
  Fill(CudaComponentType type, void * pixels, size_t number, bool isTame)
  {
    const auto kind = this->Integer(0, isTame ? 2 : 4);
    uint64_t   state = this->Bits(2);
    bool       isConstant = false;
    VisitComponentType(type, [&](auto zero) {
      using T = decltype(zero);
      auto * const values = static_cast<T *>(pixels);
      const auto any = [&] { return ConvertComponent<T>(isTame ? static_cast<double>(state % 101) : this->Hostile()); };
      const T    first = any();
      const T    second = any();
      for (size_t i = 0; i < number; ++i)
      {
        state = state * 6364136223846793005u + 1442695040888963407u;
        const auto noise = static_cast<double>(state >> 40) * 0x1p-24;
        values[i] = kind == 0   ? static_cast<T>(100.0 * noise)
                    : kind == 1 ? first
                    : kind == 2 ? (i % 7 < 3 ? static_cast<T>(50.0 + 20.0 * noise) : static_cast<T>(10.0 * noise))
                    : kind == 3 ? (noise < 0.1   ? first
                                   : noise > 0.9 ? second
                                                 : static_cast<T>(20.0 * noise))
                                : any();
      }
      isConstant = kind == 1 && std::isfinite(static_cast<double>(first));
    });
    return isConstant;
  }

private:
  uint64_t
  Bits(size_t bytes)
  {
    uint64_t value = 0;
    for (size_t i = 0; i < bytes && m_Next != m_End; ++i)
    {
      value |= static_cast<uint64_t>(*m_Next++) << (8 * i);
    }
    return value;
  }

  const uint8_t *       m_Next;
  const uint8_t * const m_End;
};

/** A dense image in ordinary memory, filled by a fuzzer. */
class FuzzImage
{
public:
  using SizeType = std::array<size_t, CudaDetail::CudaImageView::MaximumDimension>;

  FuzzImage(const SizeType & size, size_t components, CudaComponentType type)
  {
    View.Size = size;
    View.NumberOfComponents = components;
    View.ComponentType = type;
    size_t stride = components;
    for (unsigned int axis = 0; axis < size.size(); ++axis)
    {
      View.Stride[axis] = stride;
      stride *= size[axis];
    }
    m_Bytes.assign(View.GetNumberOfBytes(), 0xff);
    View.Data = m_Bytes.data();
  }
  FuzzImage(const FuzzImage & other)
    : View(other.View)
    , m_Bytes(other.m_Bytes)
  {
    View.Data = m_Bytes.data();
  }
  FuzzImage &
  operator=(const FuzzImage &) = delete;

  bool
  Fill(FuzzInput & input, bool isTame)
  {
    return input.Fill(View.ComponentType, View.Data, m_Bytes.size() / CudaComponentSize(View.ComponentType), isTame);
  }

  /** Returns a component, counted from the first one, as a number. */
  double
  Get(size_t position) const
  {
    double result = 0.0;
    VisitComponentType(View.ComponentType, [&](auto zero) {
      using T = decltype(zero);
      result = static_cast<double>(reinterpret_cast<const T *>(m_Bytes.data())[position]);
    });
    return result;
  }

  bool
  operator==(const FuzzImage & other) const
  {
    return m_Bytes == other.m_Bytes;
  }

  CudaDetail::CudaImageView View;

private:
  std::vector<unsigned char> m_Bytes;
};

/** Ends a case whose result is not as it should be; the text says what is wrong. */
inline void
FuzzRequire(bool condition, const std::string & otherwise)
{
  if (!condition)
  {
    throw std::logic_error(otherwise);
  }
}

/** Runs what may refuse its arguments. Returns whether it did not. A refusal must have words. */
template <typename TFunction>
bool
FuzzAccepts(const TFunction & function)
{
  try
  {
    function();
  }
  catch (const ExceptionObject & exception)
  {
    FuzzRequire(std::strlen(exception.GetDescription()) > 10, "a refusal without words");
    return false;
  }
  return true;
}

/** The targets: each runs one case, and throws what is no refusal if a result is wrong. */
using FuzzTarget = void(FuzzInput & input);

FuzzTarget FuzzGaussian;
FuzzTarget FuzzSlabs;
FuzzTarget FuzzViews;
FuzzTarget FuzzSnake;
FuzzTarget FuzzPartition;
FuzzTarget FuzzDetection;
} // namespace itk::cuda::test

#endif
