// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaRuntimeTestHelpers_h
#define itkCudaRuntimeTestHelpers_h

#include "runtime/device/Call.h"
#include "runtime/DetailNames.h"
#include "runtime/image/DeviceView.h"
#include "itkCudaFiltersConfiguration.h"
#include "runtime/device/Stream.h"
#include "runtime/transfer/Transfer.h"
#include "runtime/memory/DeviceImage.h"

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
using Configuration = CudaFiltersConfiguration;

constexpr int          device = 0;
constexpr size_t       mebibyte = size_t{ 1 } << 20;
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

inline void
UploadQuietly(const CudaImageView & host, const DeviceView & view, const Context & context)
{
  Upload(host, view, context, nullptr);
}

inline void
DownloadQuietly(const DeviceView & view, const CudaImageView & host, const Context & context)
{
  Download(view, host, context, nullptr);
}

/** Uploads `input` and downloads it to `output` through an image of `computeType`, on the stream of `context`. */
inline void
MakeRoundTrip(const CudaImageView & input,
              const CudaImageView & output,
              CudaComponentType     computeType,
              const Context &       context)
{
  StagingMemory     staging(context); // the download follows the upload without a wait, as in the filters
  const DeviceImage image(GetPlanarSize(input), computeType, context);
  Upload(input, image.GetView(), staging, nullptr);
  Download(image.GetView(), output, staging, nullptr);
}

/** Like the function above, on a stream of the module. */
inline void
MakeRoundTrip(const CudaImageView & input, const CudaImageView & output, CudaComponentType computeType)
{
  const StreamLease stream(device);
  MakeRoundTrip(input, output, computeType, stream);
}

template <typename T>
constexpr CudaComponentType
GetExactComputeType()
{
  return sizeof(T) <= 2 || std::is_same_v<T, float> ? CudaComponentType::Float : CudaComponentType::Double;
}

/** Fixture that skips without a usable GPU, restores the settings, and verifies that no memory stays in use. */
class DeviceTest : public testing::Test
{
protected:
  void
  SetUp() override
  {
    std::string reason;
    if (!Configuration::IsDeviceUsable(device, reason))
    {
      GTEST_SKIP() << reason;
    }
  }

  void
  TearDown() override
  {
    FaultHook::Clear();
    Configuration::SetDeviceMemoryLimit(0);
    Configuration::SetNumberOfTransferThreads(0);
    EXPECT_EQ(Configuration::GetDeviceBytesInUse(), 0u);
    EXPECT_EQ(Configuration::GetPinnedBytesInUse(), 0u);
  }
};
} // namespace itk::cuda::test

#endif
