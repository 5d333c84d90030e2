// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaHostImage_h
#define itkCudaHostImage_h

#include "runtime/DetailNames.h"
#include "itkCudaDetailImageView.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <random>
#include <string>
#include <type_traits>
#include <vector>

namespace itk::cuda::test
{
constexpr unsigned int seed = 4711;

using Extent = std::array<size_t, 4>;

template <typename T>
constexpr CudaComponentType
GetComponentType()
{
  return std::is_same_v<T, unsigned char>    ? CudaComponentType::UChar
         : std::is_same_v<T, signed char>    ? CudaComponentType::Char
         : std::is_same_v<T, unsigned short> ? CudaComponentType::UShort
         : std::is_same_v<T, short>          ? CudaComponentType::Short
         : std::is_same_v<T, unsigned int>   ? CudaComponentType::UInt
         : std::is_same_v<T, int>            ? CudaComponentType::Int
         : std::is_same_v<T, float>          ? CudaComponentType::Float
                                             : CudaComponentType::Double;
}

inline size_t
GetProduct(const Extent & extent)
{
  return extent[0] * extent[1] * extent[2] * extent[3];
}

/** An image in ordinary memory and a region of it. */
template <typename T>
struct HostImage
{
  HostImage(const Extent & imageSize, size_t components, const Extent & start, const Extent & size)
    : Pixels(GetProduct(imageSize) * components)
  {
    View.ComponentType = GetComponentType<T>();
    View.NumberOfComponents = components;
    View.Size = size;
    size_t stride = components;
    size_t offset = 0;
    for (unsigned int axis = 0; axis < 4; ++axis)
    {
      View.Stride[axis] = stride;
      offset += start[axis] * stride;
      stride *= imageSize[axis];
    }
    View.Data = Pixels.data() + offset;
  }

  HostImage(const Extent & size, size_t components)
    : HostImage(size, components, { 0, 0, 0, 0 }, size)
  {}

  HostImage(const HostImage &) = delete;
  HostImage &
  operator=(const HostImage &) = delete;

  T &
  At(size_t x, size_t y, size_t z, size_t t, size_t component)
  {
    const size_t offset = x * View.Stride[0] + y * View.Stride[1] + z * View.Stride[2] + t * View.Stride[3];
    return static_cast<T *>(View.Data)[offset + component];
  }

  std::vector<T> Pixels;
  CudaImageView  View;
};

/** Fills pixels with values that float (for 16-bit and float pixels) or double (for other pixels) represents exactly.
 */
template <typename T>
void
FillRandomly(std::vector<T> & pixels, unsigned int offset = 0)
{
  std::mt19937_64 random(seed + offset);
  for (T & pixel : pixels)
  {
    const uint64_t bits = random();
    if constexpr (std::is_integral_v<T>)
    {
      pixel = static_cast<T>(bits);
    }
    else
    {
      pixel = static_cast<T>(static_cast<double>(static_cast<int64_t>(bits)) * 1e-15);
    }
  }
}

template <typename T>
void
ExpectSamePixels(const std::vector<T> & found, const std::vector<T> & expected, const std::string & what)
{
  ASSERT_EQ(found.size(), expected.size()) << what;
  if (std::memcmp(found.data(), expected.data(), found.size() * sizeof(T)) == 0)
  {
    return;
  }
  size_t different = 0;
  size_t first = found.size();
  for (size_t index = 0; index < found.size(); ++index)
  {
    if (std::memcmp(&found[index], &expected[index], sizeof(T)) != 0)
    {
      first = std::min(first, index);
      ++different;
    }
  }
  ADD_FAILURE() << what << ": " << different << " of " << found.size() << " components differ; the first is number "
                << first << ": " << +found[first] << " instead of " << +expected[first];
}

/** Copies the region of one image to that of another, which has the same size and number of components. */
template <typename T>
void
CopyRegion(HostImage<T> & from, HostImage<T> & to)
{
  const auto & size = from.View.Size;
  for (size_t t = 0; t < size[3]; ++t)
    for (size_t z = 0; z < size[2]; ++z)
      for (size_t y = 0; y < size[1]; ++y)
      {
        std::copy_n(&from.At(0, y, z, t, 0), size[0] * from.View.NumberOfComponents, &to.At(0, y, z, t, 0));
      }
}
} // namespace itk::cuda::test

#endif
