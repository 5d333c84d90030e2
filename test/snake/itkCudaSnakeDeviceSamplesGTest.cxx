// SPDX-License-Identifier: Apache-2.0
#include "runtime/device/Call.h"
#include "runtime/device/Device.h"
#include "runtime/device/Stream.h"
#include "runtime/memory/DeviceMemory.h"
#include "runtime/memory/PinnedMemory.h"
#include "region/DeviceSamples.h"
#include "snake/device/Snake.h"
#include "snake/itkCudaSnakeDeviceTest.h"
#include "snake/itkCudaSnakeImageTestCase.h"
#include "support/itkCudaExpectException.h"

#include <cuda_runtime.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <vector>

// An image in device memory gives the samples and the exceptions that it gives in host memory. Results of runs are
// compared by itkCudaDeviceRegionSnakeDeviceGTest.cxx.
namespace
{
using namespace itk;
using namespace itk::CudaDetail;
using namespace itk::cuda;
using namespace itk::cuda::region;
using namespace itk::cuda::snake;
using namespace itk::cuda::test;
using Law = CudaFiltersEnums::NoiseLaw;

/** How the rows of an image lie on the device. */
struct Layout
{
  size_t Offset; // pixels before the first one
  size_t RowAlignment;
  size_t ExtraColumns;
};

// Dense; in place; in place with much between the rows; not aligned in two ways.
constexpr Layout Layouts[] = { { 0, 1, 0 }, { 0, 16, 0 }, { 16, 16, 48 }, { 1, 16, 16 }, { 0, 1, 3 } };

/** An image in device memory. What lies around its pixels is not a number, and not 0 as a mask. */
class ImageOnDevice
{
public:
  ImageOnDevice(const void *        pixels,
                CudaComponentType   type,
                size_t              width,
                size_t              height,
                const Layout &      layout,
                const StreamLease & stream)
  {
    const size_t bytes = CudaComponentSize(type);
    const size_t stride =
      (width + layout.RowAlignment - 1) / layout.RowAlignment * layout.RowAlignment + layout.ExtraColumns;
    m_Memory = DeviceBuffer((layout.Offset + stride * height + 16) * bytes, stream);
    ITK_CUDA_CALL(cudaMemsetAsync(m_Memory.GetPointer(), 0xff, m_Memory.GetSize(), stream.GetStream()));
    View.Data = static_cast<unsigned char *>(m_Memory.GetPointer()) + layout.Offset * bytes;
    View.ComponentType = type;
    View.Size = { { width, height, 1, 1, 1 } };
    View.Stride = { { 1, stride, stride * height, stride * height, stride * height } };
    ITK_CUDA_CALL(cudaMemcpy2DAsync(View.Data,
                                    stride * bytes,
                                    pixels,
                                    width * bytes,
                                    width * bytes,
                                    height,
                                    cudaMemcpyHostToDevice,
                                    stream.GetStream()));
  }

  DeviceView View;

private:
  DeviceBuffer m_Memory;
};

/** A TypedCase in device memory. */
class CaseOnDevice
{
public:
  CaseOnDevice(const TypedCase & image, const Layout & layout, const StreamLease & stream)
    : m_Image(image.Bytes.data(), image.Type, image.Width, image.Height, layout, stream)
  {
    Input.Image = m_Image.View;
    Input.FirstIndex = image.FirstIndex;
    if (!image.Valid.empty())
    {
      m_Mask = std::make_unique<ImageOnDevice>(
        image.Valid.data(), CudaComponentType::UChar, image.Width, image.Height, layout, stream);
      Input.ValidMask = &m_Mask->View;
    }
  }

  DeviceImageInput Input;

private:
  ImageOnDevice                  m_Image;
  std::unique_ptr<ImageOnDevice> m_Mask;
};

template <typename T>
std::vector<T>
Download(const T * device, size_t number, const StreamLease & stream)
{
  std::vector<T> host(number);
  ITK_CUDA_CALL(cudaMemcpyAsync(host.data(), device, number * sizeof(T), cudaMemcpyDeviceToHost, stream.GetStream()));
  stream.Synchronize();
  return host;
}

class CudaSnakeDeviceSamplesGpu : public SnakeDeviceTest
{
protected:
  template <typename TSample>
  static void
  ExpectSameSamples(const Samples & expected, const DeviceSamples & samples, const std::string & name)
  {
    const StreamLease          stream(CudaFiltersConfiguration::GetDeviceIndex());
    const auto                 width = static_cast<size_t>(expected.Width);
    const auto                 height = static_cast<size_t>(expected.Height);
    const auto                 stride = static_cast<size_t>(samples.RowStride);
    const auto * const         data = static_cast<const TSample *>(samples.Data);
    const std::vector<TSample> made = Download(data, stride * (height - 1) + width, stream);
    const auto *               host = static_cast<const TSample *>(expected.Data);
    for (size_t y = 0; y < height; ++y)
    {
      for (size_t x = 0; x < width; ++x)
      {
        const auto hostSample =
          static_cast<TSample>(host[y * static_cast<size_t>(expected.RowStride) + x] ^ expected.XorMask);
        ASSERT_EQ(hostSample, static_cast<TSample>(made[y * stride + x] ^ samples.XorMask))
          << name << " at " << x << ", " << y;
      }
    }
    ASSERT_EQ(expected.ValidBits != nullptr, samples.ValidBits != nullptr) << name;
    if (expected.ValidBits)
    {
      const size_t words = expected.GetMaskWordsPerRow() * height;
      const auto   bits = Download(samples.ValidBits, words, stream);
      ASSERT_EQ(std::memcmp(bits.data(), expected.ValidBits.get(), words * sizeof(uint16_t)), 0) << name;
    }
  }

  static void
  ExpectSame(const Samples & expected, const DeviceSamples & samples, const std::string & name)
  {
    ASSERT_EQ(expected.Type, samples.Type) << name;
    ASSERT_EQ(expected.Offset, samples.Offset) << name;
    ASSERT_EQ(expected.Step, samples.Step) << name;
    ASSERT_EQ(expected.NumberOfValidPixels, samples.NumberOfValidPixels) << name;
    switch (expected.Type)
    {
      case CudaComponentType::UChar:
        return ExpectSameSamples<uint8_t>(expected, samples, name);
      case CudaComponentType::UShort:
        return ExpectSameSamples<uint16_t>(expected, samples, name);
      default:
        return ExpectSameSamples<uint32_t>(expected, samples, name);
    }
  }

  /** The samples, or the words of the exception, from host and from device memory in all layouts. Returns the words. */
  std::string
  Compare(const TypedCase & image) const
  {
    const DeviceGuard        guard(m_Device);
    std::unique_ptr<Samples> expected;
    const std::string        message = GetException([&] {
      expected = image.WithInput([&](const CudaRegionSnakeInput & input) {
        return std::make_unique<Samples>(input, image.Parameters, Threads(1));
      });
    });
    for (const Layout & layout : Layouts)
    {
      const StreamLease              stream(m_Device);
      const CaseOnDevice             onDevice(image, layout, stream);
      std::unique_ptr<DeviceSamples> samples;
      const std::string              deviceMessage =
        GetException([&] { samples = std::make_unique<DeviceSamples>(onDevice.Input, image.Parameters, stream); });
      EXPECT_EQ(message, deviceMessage) << image.Name;
      if (expected && samples)
      {
        ExpectSame(*expected, *samples, image.Name);
      }
    }
    return message;
  }
};

/** Values that a law may stumble over, in an image that it describes, the first at a random place. */
std::vector<float>
GetStumblingBlocks(Law law)
{
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const float infinity = std::numeric_limits<float>::infinity();
  switch (law)
  {
    case Law::Poisson:
      return { nan, infinity, -1.0f, 1.5f, 5e9f };
    case Law::Gamma:
    case Law::Rayleigh:
      return { nan, -infinity, -1e-38f, 3e38f };
    case Law::LogNormal:
      return { nan, infinity, 0.0f, -0.0f, -3.0f };
    case Law::Bernoulli:
      return { nan, infinity, 17.0f, -17.0f };
    default:
      return { nan, -nan, infinity, -infinity, -3.4e38f, 1e12f };
  }
}
} // namespace

TEST_F(CudaSnakeDeviceSamplesGpu, AreThoseFromHostMemory)
{
  uint64_t seed = 60000;
  std::cout << "seeds from " << seed << std::endl;
  for (const Law law : AllLaws)
  {
    for (const auto type : SnakePixelTypes)
    {
      for (const bool masked : { false, true })
      {
        for (int repetition = 0; repetition < 3; ++repetition)
        {
          ++seed;
          TypedCase image = RandomTypedCase(seed, law, type, masked, 150);
          if (law == Law::Bernoulli && repetition == 2)
          {
            image.Parameters.ForegroundThreshold = -1.5;
          }
          EXPECT_EQ(this->Compare(image), "") << image.Name;
          if (HasFatalFailure())
          {
            return;
          }
        }
      }
    }
  }
}

TEST_F(CudaSnakeDeviceSamplesGpu, AreThoseFromHostMemoryForAnyFloats)
{
  constexpr uint64_t seed = 61000;
  std::cout << "seed " << seed << std::endl;
  for (const Law law : AllLaws)
  {
    // Any finite bits, a narrow range far from 0, one value, zeros of both signs, denormal numbers.
    for (int kind = 0; kind < 5; ++kind)
    {
      TypedCase          image = RandomTypedCase(seed, law, CudaComponentType::Float, kind % 2 == 1, 80);
      std::vector<float> pixels(image.Width * image.Height);
      for (size_t i = 0; i < pixels.size(); ++i)
      {
        auto bits = static_cast<uint32_t>(SplitMix64(seed * 1000003 + i));
        bits &= (bits >> 23 & 0xff) == 0xff ? 0xff7fffffu : 0xffffffffu;
        float value;
        std::memcpy(&value, &bits, sizeof(value));
        const auto  share = static_cast<float>(bits % 1000) / 1000.0f;
        const float choices[] = { value, 1e6f + share, 3.25f, bits % 2 == 0 ? 0.0f : -0.0f, 1e-42f * share };
        const bool  positive = law != Law::Gaussian && law != Law::GaussianCommonVariance;
        pixels[i] = positive ? std::abs(choices[kind]) : choices[kind];
        pixels[i] = law == Law::LogNormal && pixels[i] == 0.0f ? 1e-44f : pixels[i];
        pixels[i] = law == Law::Poisson ? std::floor(std::min(pixels[i], 4e9f)) : pixels[i];
      }
      std::memcpy(image.Bytes.data(), pixels.data(), image.Bytes.size());
      if (law == Law::Bernoulli)
      {
        image.Parameters.ForegroundThreshold = 1e-3;
      }
      this->Compare(image);
      if (HasFailure())
      {
        FAIL() << "kind " << kind << " of " << image.Name;
      }
    }
  }
}

TEST_F(CudaSnakeDeviceSamplesGpu, AreRefusedInTheSameWords)
{
  uint64_t seed = 62000;
  std::cout << "seeds from " << seed << std::endl;
  for (const Law law : AllLaws)
  {
    for (const float value : GetStumblingBlocks(law))
    {
      for (const bool masked : { false, true })
      {
        ++seed;
        TypedCase  image = RandomTypedCase(seed, law, CudaComponentType::Float, masked, 150);
        const auto pixels = image.Width * image.Height;
        for (uint64_t i = 0; i < 5; ++i)
        {
          const size_t at = SplitMix64(seed * 13 + i) % pixels;
          std::memcpy(image.Bytes.data() + at * sizeof(float), &value, sizeof(float));
          if (masked && i > 0)
          {
            image.Valid[at] = 1;
          }
        }
        EXPECT_NE(this->Compare(image), "") << image.Name << ", value " << value;
      }
    }
    // Integers, and what only pixels that are not valid show.
    TypedCase shorts = RandomTypedCase(++seed, law, CudaComponentType::Short, true, 100);
    shorts.Parameters.NoiseLaw = law;
    const int16_t negative = -7;
    std::memcpy(shorts.Bytes.data() + 2 * 30, &negative, sizeof(negative));
    shorts.Valid[30] = 1;
    const bool isRefused = law != Law::Gaussian && law != Law::GaussianCommonVariance;
    EXPECT_EQ(this->Compare(shorts) != "", isRefused) << shorts.Name;
    shorts.Valid[30] = 0;
    EXPECT_EQ(this->Compare(shorts), "") << shorts.Name;
    std::fill(shorts.Valid.begin(), shorts.Valid.end(), uint8_t{ 0 });
    EXPECT_EQ(this->Compare(shorts), "") << shorts.Name;
  }
}

TEST_F(CudaSnakeDeviceSamplesGpu, ImagesThatCannotBeAreRefused)
{
  const DeviceGuard  guard(m_Device);
  const TypedCase    image = RandomTypedCase(63000, Law::Gaussian, CudaComponentType::UShort, true, 100);
  const StreamLease  stream(m_Device);
  const CaseOnDevice onDevice(image, Layouts[0], stream);
  const auto         messageOf = [&](const DeviceImageInput & input) {
    return GetException([&] { const DeviceSnakeImage made(input, image.Parameters, stream); });
  };
  EXPECT_EQ(messageOf(onDevice.Input), "");
  DeviceImageInput bad = onDevice.Input;
  bad.Image.Data = nullptr;
  EXPECT_NE(messageOf(bad).find("The image is empty"), std::string::npos);
  bad = onDevice.Input;
  bad.Image.Size[4] = 3;
  EXPECT_NE(messageOf(bad).find("two dimensions and one component"), std::string::npos);
  bad = onDevice.Input;
  bad.Image.ComponentType = CudaComponentType::Double;
  EXPECT_NE(messageOf(bad).find("Pixels have to be unsigned char, unsigned short, short or float"), std::string::npos);
  DeviceView mask = *onDevice.Input.ValidMask;
  mask.Size[0] -= 1;
  bad = onDevice.Input;
  bad.ValidMask = &mask;
  EXPECT_NE(messageOf(bad).find("The mask of valid pixels has"), std::string::npos);
}

TEST_F(CudaSnakeDeviceSamplesGpu, IntegersAreUsedInPlaceWhereTheirRowsAreAligned)
{
  const DeviceGuard guard(m_Device);
  for (const auto type : SnakePixelTypes)
  {
    for (const bool masked : { false, true })
    {
      const TypedCase image = RandomTypedCase(65001, Law::Gaussian, type, masked, 100);
      for (size_t i = 0; i < std::size(Layouts); ++i)
      {
        const StreamLease      stream(m_Device);
        const CaseOnDevice     onDevice(image, Layouts[i], stream);
        const DeviceSnakeImage prepared(onDevice.Input, image.Parameters, stream);
        const bool             aligned = i == 1 || i == 2 || (i == 0 && image.Width % 8 == 0) ||
                             (i == 4 && (image.Width + Layouts[4].ExtraColumns) % 8 == 0);
        const bool integers = type != CudaComponentType::Float;
        EXPECT_EQ(prepared.IsInPlace(), aligned && integers && !masked) << image.Name << ", layout " << i;
        EXPECT_EQ(prepared.IsInPlace(), prepared.GetSums().GetSamples() == onDevice.Input.Image.Data);
      }
    }
  }
}
