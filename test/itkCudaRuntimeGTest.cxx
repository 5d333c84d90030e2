// SPDX-License-Identifier: Apache-2.0
#include "itkCudaCall.h"
#include "itkCudaDevice.h"
#include "itkCudaDeviceQuery.h"
#include "itkCudaDeviceView.h"
#include "itkCudaError.h"
#include "itkCudaFiltersConfiguration.h"
#include "itkCudaMemory.h"
#include "itkCudaTransfer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <limits>
#include <random>
#include <stdexcept>
#include <string>
#include <thread>
#include <type_traits>
#include <vector>

#ifndef _WIN32
#  include <sys/wait.h>
#  include <unistd.h>
#endif

namespace
{
using itk::CudaComponentType;
using itk::CudaError;
using itk::CudaImageView;
using itk::cuda::DeviceBuffer;
using itk::cuda::DeviceGuard;
using itk::cuda::DeviceImage;
using itk::cuda::DeviceView;
using itk::cuda::Event;
using itk::cuda::FaultHook;
using itk::cuda::PinnedBuffer;
using itk::cuda::StreamLease;
using Configuration = itk::CudaFiltersConfiguration;

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

size_t
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

/** Values that float (16 bits and float) or double (the rest) hold exactly. */
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

void
UploadQuietly(const CudaImageView & host, const DeviceView & view, StreamLease & stream)
{
  itk::cuda::Upload(host, view, stream, nullptr);
}

void
DownloadQuietly(const DeviceView & view, const CudaImageView & host, StreamLease & stream)
{
  itk::cuda::Download(view, host, stream, nullptr);
}

/** Uploads `input` and downloads it to `output`, by way of an image of `computeType`. */
void
MakeRoundTrip(const CudaImageView & input, const CudaImageView & output, CudaComponentType computeType)
{
  StreamLease       stream(device);
  const DeviceImage image(itk::cuda::GetPlanarSize(input), computeType, stream);
  UploadQuietly(input, image.GetView(), stream);
  DownloadQuietly(image.GetView(), output, stream);
}

template <typename T>
constexpr CudaComponentType
GetExactComputeType()
{
  return sizeof(T) <= 2 || std::is_same_v<T, float> ? CudaComponentType::Float : CudaComponentType::Double;
}

class CudaRuntime : public testing::Test
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

template <typename T>
class CudaTransferOfType : public CudaRuntime
{};

using ComponentTypes =
  testing::Types<unsigned char, signed char, unsigned short, short, unsigned int, int, float, double>;
TYPED_TEST_SUITE(CudaTransferOfType, ComponentTypes, );
} // namespace

// ---------------------------------------------------------------------------------------------------- calls and errors

TEST(CudaCall, Success_does_nothing)
{
  EXPECT_NO_THROW(ITK_CUDA_CALL(cudaSuccess));
}

TEST(CudaCall, Failure_names_call_error_and_text)
{
  try
  {
    ITK_CUDA_CALL(cudaErrorInvalidValue);
    FAIL() << "no exception";
  }
  catch (const CudaError & error)
  {
    const std::string text = error.GetDescription();
    EXPECT_EQ(error.GetKind(), CudaError::Kind::CallFailed);
    EXPECT_EQ(text.find("cudaErrorInvalidValue failed: cudaErrorInvalidValue ("), 0u) << text;
    EXPECT_NE(std::string(error.GetFile()).find("itkCudaRuntimeGTest"), std::string::npos);
    EXPECT_GT(error.GetLine(), 0u);
  }
}

TEST(CudaCall, Kind_follows_from_the_error)
{
  const auto getKind = [](cudaError_t error) {
    try
    {
      ITK_CUDA_CALL(error);
    }
    catch (const CudaError & exception)
    {
      return exception.GetKind();
    }
    throw std::logic_error("no exception");
  };
  EXPECT_EQ(getKind(cudaErrorMemoryAllocation), CudaError::Kind::OutOfMemory);
  EXPECT_EQ(getKind(cudaErrorNoDevice), CudaError::Kind::NotUsable);
  EXPECT_EQ(getKind(cudaErrorInsufficientDriver), CudaError::Kind::NotUsable);
  EXPECT_EQ(getKind(cudaErrorNoKernelImageForDevice), CudaError::Kind::NotUsable);
  EXPECT_EQ(getKind(cudaErrorUnknown), CudaError::Kind::CallFailed);
}

TEST(CudaCall, Memory_failure_names_asked_free_and_limit)
{
  try
  {
    itk::cuda::ThrowOutOfMemory("cudaMalloc", 30, 20, 10, __FILE__, __LINE__);
  }
  catch (const CudaError & error)
  {
    EXPECT_NE(std::string(error.GetDescription()).find("asked: 30 bytes, free: 20 bytes, limit: 10 bytes"),
              std::string::npos)
      << error.GetDescription();
  }
}

TEST(CudaCall, Hook_makes_one_call_fail_without_executing_it)
{
  unsigned int executed = 0;
  const auto   call = [&executed] {
    ++executed;
    return cudaSuccess;
  };
  FaultHook::FailCall(2, cudaErrorUnknown);
  EXPECT_NO_THROW(ITK_CUDA_CALL(call()));
  EXPECT_FALSE(FaultHook::GetFired());
  EXPECT_THROW(ITK_CUDA_CALL(call()), CudaError);
  EXPECT_EQ(executed, 1u);
  EXPECT_TRUE(FaultHook::GetFired());
  EXPECT_EQ(FaultHook::GetCall(), "call()");
  EXPECT_EQ(ITK_CUDA_TRY(call()), cudaSuccess);
  EXPECT_EQ(ITK_CUDA_CALL_NOTHROW(call()), cudaSuccess);
  EXPECT_EQ(FaultHook::GetNumberOfCalls(), 3u) << "calls that must not throw are not counted";
  FaultHook::Clear();
  EXPECT_NO_THROW(ITK_CUDA_CALL(call()));
  EXPECT_EQ(FaultHook::GetNumberOfCalls(), 3u);
}

TEST(CudaCall, Hook_reaches_optional_calls)
{
  FaultHook::FailCall(1, cudaErrorMemoryAllocation);
  EXPECT_EQ(ITK_CUDA_TRY(cudaSuccess), cudaErrorMemoryAllocation);
  FaultHook::Clear();
}

// -------------------------------------------------------------------------------------------------- devices and
// streams

TEST_F(CudaRuntime, Properties_are_plausible)
{
  const itk::cuda::DeviceProperties & properties = itk::cuda::GetDeviceProperties(device);
  EXPECT_GE(properties.ComputeCapability, 75);
  EXPECT_GT(properties.MultiprocessorCount, 0);
  EXPECT_GE(properties.SharedMemoryPerBlockOptin, size_t{ 48 } << 10);
  EXPECT_GT(properties.L2CacheSize, 0u);
  EXPECT_GT(properties.TotalMemory, mebibyte);
  EXPECT_FALSE(properties.Name.empty());
  EXPECT_EQ(&properties, &itk::cuda::GetDeviceProperties(device));
  std::cout << properties.Name << ", memory pools: " << properties.MemoryPoolsSupported << '\n';
}

TEST_F(CudaRuntime, Free_memory_is_known_once_the_device_is_used)
{
  const std::vector<itk::CudaDeviceInformation> devices = Configuration::GetDevices();
  ASSERT_FALSE(devices.empty());
  EXPECT_GT(devices[device].FreeMemory, 0u);
  EXPECT_LE(devices[device].FreeMemory, devices[device].TotalMemory);
}

TEST_F(CudaRuntime, Device_that_does_not_exist_throws)
{
  EXPECT_THROW(itk::cuda::GetDeviceProperties(1000), CudaError);
  EXPECT_THROW(itk::cuda::RequireUsableDevice(-1), CudaError);
  EXPECT_THROW(StreamLease(1000), CudaError);
  EXPECT_THROW(DeviceGuard(1000), CudaError);
}

TEST_F(CudaRuntime, Streams_are_exclusive_and_used_again)
{
  cudaStream_t first = nullptr;
  {
    const StreamLease one(device);
    const StreamLease two(device);
    first = one.Get();
    EXPECT_NE(one.Get(), nullptr);
    EXPECT_NE(one.Get(), two.Get());
    EXPECT_EQ(one.GetDevice(), device);
  }
  const StreamLease again(device);
  const StreamLease other(device);
  EXPECT_TRUE(again.Get() == first || other.Get() == first);
}

TEST_F(CudaRuntime, Event_can_be_waited_for)
{
  StreamLease       one(device);
  const StreamLease two(device);
  const DeviceGuard guard(device);
  Event             event;
  event.Synchronize(); // never recorded
  event.Record(one);
  event.MakeWait(two);
  event.Synchronize();
  Event moved(std::move(event));
  moved.Record(one);
  one.Synchronize();
}

// ---------------------------------------------------------------------------------------------------------------
// memory

TEST_F(CudaRuntime, Device_buffers_are_counted_and_moved)
{
  const StreamLease stream(device);
  DeviceBuffer      buffer(1000, stream);
  EXPECT_NE(buffer.GetPointer(), nullptr);
  EXPECT_EQ(buffer.GetSize(), 1000u);
  EXPECT_EQ(Configuration::GetDeviceBytesInUse(), 1000u);

  DeviceBuffer moved(std::move(buffer));
  EXPECT_EQ(buffer.GetPointer(), nullptr);
  EXPECT_EQ(Configuration::GetDeviceBytesInUse(), 1000u);

  DeviceBuffer other(500, stream);
  other = std::move(moved);
  EXPECT_EQ(Configuration::GetDeviceBytesInUse(), 1000u);
  other = DeviceBuffer();
  EXPECT_EQ(Configuration::GetDeviceBytesInUse(), 0u);

  const DeviceBuffer empty(0, stream);
  EXPECT_EQ(empty.GetPointer(), nullptr);
}

TEST_F(CudaRuntime, Memory_limit_is_honoured_and_named)
{
  const StreamLease stream(device);
  Configuration::SetDeviceMemoryLimit(10000);
  const DeviceBuffer first(6000, stream);
  EXPECT_LE(itk::cuda::GetAvailableDeviceMemory(device), 4000u);
  try
  {
    const DeviceBuffer second(4001, stream);
    ADD_FAILURE() << "no exception above the limit";
  }
  catch (const CudaError & error)
  {
    EXPECT_EQ(error.GetKind(), CudaError::Kind::OutOfMemory);
    EXPECT_NE(std::string(error.GetDescription()).find("asked: 4001 bytes, free: 4000 bytes, limit: 10000 bytes"),
              std::string::npos)
      << error.GetDescription();
  }
  EXPECT_EQ(Configuration::GetDeviceBytesInUse(), 6000u);
  EXPECT_NO_THROW(DeviceBuffer(4000, stream));
}

TEST_F(CudaRuntime, More_than_the_device_has_is_out_of_memory)
{
  const StreamLease stream(device);
  try
  {
    const DeviceBuffer buffer(2 * itk::cuda::GetDeviceProperties(device).TotalMemory, stream);
    ADD_FAILURE() << "no exception";
  }
  catch (const CudaError & error)
  {
    EXPECT_EQ(error.GetKind(), CudaError::Kind::OutOfMemory);
    EXPECT_NE(std::string(error.GetDescription()).find("limit: none"), std::string::npos) << error.GetDescription();
  }
  EXPECT_EQ(Configuration::GetDeviceBytesInUse(), 0u);
  EXPECT_NO_THROW(DeviceBuffer(mebibyte, stream));
}

TEST_F(CudaRuntime, Released_device_memory_stays_available)
{
  const size_t before = itk::cuda::GetAvailableDeviceMemory(device);
  {
    const StreamLease  stream(device);
    const DeviceBuffer buffer(64 * mebibyte, stream);
    EXPECT_LE(itk::cuda::GetAvailableDeviceMemory(device), before - 64 * mebibyte + 2 * mebibyte);
  }
  // Other processes may use the device: a quarter of the buffer is left for them.
  EXPECT_GE(itk::cuda::GetAvailableDeviceMemory(device) + 16 * mebibyte, before);
}

TEST_F(CudaRuntime, Pinned_chunks_are_counted_and_used_again)
{
  const DeviceGuard guard(device);
  void *            first = nullptr;
  {
    PinnedBuffer buffer = PinnedBuffer::Take();
    first = buffer.GetPointer();
    EXPECT_EQ(buffer.GetSize(), PinnedBuffer::ChunkSize);
    EXPECT_EQ(Configuration::GetPinnedBytesInUse(), PinnedBuffer::ChunkSize);
    const PinnedBuffer moved(std::move(buffer));
    EXPECT_EQ(Configuration::GetPinnedBytesInUse(), PinnedBuffer::ChunkSize);
  }
  EXPECT_EQ(PinnedBuffer::Take().GetPointer(), first);
  EXPECT_GE(itk::cuda::GetPinnedBytesCached(), PinnedBuffer::ChunkSize);
  Configuration::ReleaseMemory();
  EXPECT_EQ(itk::cuda::GetPinnedBytesCached(), 0u);
}

TEST_F(CudaRuntime, Rows_of_a_device_image_are_aligned_and_padding_is_zero)
{
  StreamLease       stream(device);
  const DeviceImage image({ { 5, 4, 3, 2, 2 } }, CudaComponentType::Float, stream);
  const DeviceView  view = image.GetView();
  EXPECT_EQ(view.Stride, (DeviceImage::SizeType{ { 1, 8, 32, 96, 192 } }));
  EXPECT_EQ(DeviceImage::GetNumberOfBytes(view.Size, CudaComponentType::Float), 384u * sizeof(float));
  EXPECT_EQ(Configuration::GetDeviceBytesInUse(), 384u * sizeof(float));
  EXPECT_EQ(reinterpret_cast<uintptr_t>(view.Data) % 256, 0u);

  // Seen with the padding as pixels
  HostImage<float> input({ 5, 4, 3, 2 }, 2);
  FillRandomly(input.Pixels);
  UploadQuietly(input.View, view, stream);
  DeviceView padded = view;
  padded.Size = { { 8, 4, 3, 2, 1 } };
  HostImage<float> output({ 8, 4, 3, 2 }, 1);
  for (size_t component = 0; component < 2; ++component)
  {
    std::fill(output.Pixels.begin(), output.Pixels.end(), -1.0f);
    padded.Data = static_cast<float *>(view.Data) + component * view.Stride[4];
    DownloadQuietly(padded, output.View, stream);
    for (size_t t = 0; t < 2; ++t)
      for (size_t z = 0; z < 3; ++z)
        for (size_t y = 0; y < 4; ++y)
          for (size_t x = 0; x < 8; ++x)
          {
            const float expected = x < 5 ? input.At(x, y, z, t, component) : 0.0f;
            ASSERT_EQ(output.At(x, y, z, t, 0), expected)
              << "at " << x << ' ' << y << ' ' << z << ' ' << t << ", component " << component;
          }
  }
}

// ------------------------------------------------------------------------------------------------------------
// transfers

TYPED_TEST(CudaTransferOfType, Round_trip_keeps_every_bit)
{
  const std::vector<Extent> sizes = { { 1, 1, 1, 1 },      { 5, 1, 1, 1 },     { 100003, 1, 1, 1 }, { 1, 257, 1, 1 },
                                      { 3, 1031, 1, 1 },   { 4, 8, 16, 1 },    { 33, 31, 17, 1 },   { 640, 481, 1, 1 },
                                      { 1031, 701, 1, 1 }, { 129, 65, 33, 1 }, { 17, 13, 11, 7 } };
  for (const Extent & size : sizes)
  {
    for (const size_t components : { 1, 2, 3, 5 })
    {
      HostImage<TypeParam> input(size, components);
      HostImage<TypeParam> output(size, components);
      FillRandomly(input.Pixels);
      MakeRoundTrip(input.View, output.View, GetExactComputeType<TypeParam>());
      ExpectSamePixels(output.Pixels,
                       input.Pixels,
                       std::to_string(size[0]) + " x " + std::to_string(size[1]) + " x " + std::to_string(size[2]) +
                         " x " + std::to_string(size[3]) + ", components: " + std::to_string(components));
    }
  }
}

TYPED_TEST(CudaTransferOfType, Round_trip_in_double_keeps_every_bit)
{
  HostImage<TypeParam> input({ 61, 47, 5, 1 }, 2);
  HostImage<TypeParam> output({ 61, 47, 5, 1 }, 2);
  FillRandomly(input.Pixels);
  MakeRoundTrip(input.View, output.View, CudaComponentType::Double);
  ExpectSamePixels(output.Pixels, input.Pixels, "by way of double");
}

TYPED_TEST(CudaTransferOfType, Regions_leave_the_rest_of_the_image_alone)
{
  struct Region
  {
    Extent Start;
    Extent Size;
  };
  const Extent              imageSize = { 203, 101, 23, 3 };
  const std::vector<Region> regions = {
    { { 0, 0, 0, 0 }, { 203, 101, 1, 1 } },  { { 1, 2, 3, 1 }, { 5, 7, 11, 1 } },
    { { 0, 50, 0, 0 }, { 203, 50, 23, 3 } }, { { 3, 0, 0, 0 }, { 200, 101, 23, 3 } },
    { { 100, 0, 0, 0 }, { 1, 101, 23, 3 } }, { { 7, 9, 11, 2 }, { 190, 1, 9, 1 } }
  };
  for (const Region & region : regions)
  {
    for (const size_t components : { 1, 3 })
    {
      HostImage<TypeParam> input(imageSize, components, region.Start, region.Size);
      HostImage<TypeParam> output(imageSize, components, region.Start, region.Size);
      FillRandomly(input.Pixels, 1);
      FillRandomly(output.Pixels, 2);
      HostImage<TypeParam> expected(imageSize, components, region.Start, region.Size);
      expected.Pixels = output.Pixels;
      for (size_t t = 0; t < region.Size[3]; ++t)
        for (size_t z = 0; z < region.Size[2]; ++z)
          for (size_t y = 0; y < region.Size[1]; ++y)
          {
            const TypeParam * const row = &input.At(0, y, z, t, 0);
            std::copy(row, row + region.Size[0] * components, &expected.At(0, y, z, t, 0));
          }
      MakeRoundTrip(input.View, output.View, GetExactComputeType<TypeParam>());
      ExpectSamePixels(output.Pixels,
                       expected.Pixels,
                       "region from " + std::to_string(region.Start[0]) + ' ' + std::to_string(region.Start[1]) +
                         ", components: " + std::to_string(components));
    }
  }
}

namespace
{
/** What the module promises of integer results. */
template <typename T>
T
TruncateAndClamp(double value)
{
  if (std::isnan(value))
  {
    return 0;
  }
  const double truncated = std::trunc(value);
  const auto   lowest = static_cast<double>(std::numeric_limits<T>::lowest());
  const auto   greatest = static_cast<double>(std::numeric_limits<T>::max());
  return truncated < lowest     ? std::numeric_limits<T>::lowest()
         : truncated > greatest ? std::numeric_limits<T>::max()
                                : static_cast<T>(truncated);
}

/** Values at and around everything where a conversion to T changes its rule. */
template <typename T>
std::vector<double>
GetCriticalValues()
{
  constexpr double    infinity = std::numeric_limits<double>::infinity();
  const auto          lowest = static_cast<double>(std::numeric_limits<T>::lowest());
  const auto          greatest = static_cast<double>(std::numeric_limits<T>::max());
  std::vector<double> values = {
    std::numeric_limits<double>::quiet_NaN(), infinity, -infinity, 1e30, -1e30, 0.0, -0.0
  };
  for (const double center : { lowest, 0.0, 1.0, 100.0, greatest })
  {
    for (const double distance : { -1000.0, -1.5, -1.0, -0.75, -0.5, 0.0, 0.25, 0.5, 0.999, 1.0, 1.5, 1000.0 })
    {
      values.push_back(center + distance);
    }
    values.push_back(std::nextafter(center, infinity));
    values.push_back(std::nextafter(center, -infinity));
    values.push_back(std::nextafter(static_cast<float>(center), static_cast<float>(infinity)));
    values.push_back(std::nextafter(static_cast<float>(center), static_cast<float>(-infinity)));
  }
  return values;
}

template <typename TInteger, typename TCompute>
void
ExpectTruncationAndClamping()
{
  const std::vector<double> values = GetCriticalValues<TInteger>();
  HostImage<TCompute>       input({ values.size(), 1, 1, 1 }, 1);
  std::transform(
    values.begin(), values.end(), input.Pixels.begin(), [](double value) { return static_cast<TCompute>(value); });
  HostImage<TInteger> output({ values.size(), 1, 1, 1 }, 1);
  MakeRoundTrip(input.View, output.View, GetComponentType<TCompute>());
  for (size_t index = 0; index < values.size(); ++index)
  {
    const auto value = static_cast<double>(input.Pixels[index]);
    EXPECT_EQ(+output.Pixels[index], +TruncateAndClamp<TInteger>(value)) << "from " << value;
  }
}
} // namespace

TYPED_TEST(CudaTransferOfType, Integers_are_truncated_and_clamped)
{
  if constexpr (std::is_integral_v<TypeParam>)
  {
    ExpectTruncationAndClamping<TypeParam, float>();
    ExpectTruncationAndClamping<TypeParam, double>();
  }
  else
  {
    GTEST_SKIP() << "for integers only";
  }
}

TEST_F(CudaRuntime, Float_and_double_are_plain_casts_of_each_other)
{
  HostImage<double> input({ 1009, 3, 1, 1 }, 2);
  FillRandomly(input.Pixels);
  input.Pixels[0] = std::numeric_limits<double>::quiet_NaN();
  input.Pixels[1] = std::numeric_limits<double>::infinity();
  input.Pixels[2] = 1e300;
  HostImage<float> output({ 1009, 3, 1, 1 }, 2);
  MakeRoundTrip(input.View, output.View, CudaComponentType::Double);
  EXPECT_TRUE(std::isnan(output.Pixels[0]));
  EXPECT_TRUE(std::isinf(output.Pixels[2]));
  for (size_t index = 1; index < input.Pixels.size(); ++index)
  {
    ASSERT_EQ(output.Pixels[index], static_cast<float>(input.Pixels[index])) << "component " << index;
  }
}

TEST_F(CudaRuntime, Components_come_to_planes_of_their_own)
{
  HostImage<short> input({ 37, 11, 5, 2 }, 3);
  FillRandomly(input.Pixels);
  StreamLease       stream(device);
  const DeviceImage image(itk::cuda::GetPlanarSize(input.View), CudaComponentType::Float, stream);
  UploadQuietly(input.View, image.GetView(), stream);
  HostImage<short> plane({ 37, 11, 5, 2 }, 1);
  for (size_t component = 0; component < 3; ++component)
  {
    DeviceView view = image.GetView();
    view.Data = static_cast<float *>(view.Data) + component * view.Stride[4];
    view.Size[4] = 1;
    DownloadQuietly(view, plane.View, stream);
    for (size_t pixel = 0; pixel < plane.Pixels.size(); ++pixel)
    {
      ASSERT_EQ(plane.Pixels[pixel], input.Pixels[3 * pixel + component]) << "pixel " << pixel << ", " << component;
    }
  }
}

TEST_F(CudaRuntime, Views_into_an_image_are_respected)
{
  HostImage<float> input({ 40, 30, 20, 1 }, 1);
  FillRandomly(input.Pixels);
  StreamLease       stream(device);
  const DeviceImage image(itk::cuda::GetPlanarSize(input.View), CudaComponentType::Float, stream);
  UploadQuietly(input.View, image.GetView(), stream);

  DeviceView inner = image.GetView();
  inner.Size = { { 10, 7, 5, 1, 1 } };
  inner.Data = static_cast<float *>(inner.Data) + 3 + 2 * inner.Stride[1] + inner.Stride[2];
  HostImage<float> part({ 10, 7, 5, 1 }, 1);
  DownloadQuietly(inner, part.View, stream);
  for (size_t z = 0; z < 5; ++z)
    for (size_t y = 0; y < 7; ++y)
      for (size_t x = 0; x < 10; ++x)
      {
        ASSERT_EQ(part.At(x, y, z, 0, 0), input.At(x + 3, y + 2, z + 1, 0, 0)) << x << ' ' << y << ' ' << z;
      }

  std::fill(part.Pixels.begin(), part.Pixels.end(), 0.0f);
  UploadQuietly(part.View, inner, stream);
  HostImage<float> output({ 40, 30, 20, 1 }, 1);
  DownloadQuietly(image.GetView(), output.View, stream);
  for (size_t z = 0; z < 20; ++z)
    for (size_t y = 0; y < 30; ++y)
      for (size_t x = 0; x < 40; ++x)
      {
        const bool changed = x >= 3 && x < 13 && y >= 2 && y < 9 && z >= 1 && z < 6;
        ASSERT_EQ(output.At(x, y, z, 0, 0), changed ? 0.0f : input.At(x, y, z, 0, 0)) << x << ' ' << y << ' ' << z;
      }
}

TEST_F(CudaRuntime, Views_of_other_sizes_are_refused)
{
  HostImage<float>  input({ 8, 8, 1, 1 }, 1);
  StreamLease       stream(device);
  const DeviceImage image({ { 8, 9, 1, 1, 1 } }, CudaComponentType::Float, stream);
  EXPECT_THROW(UploadQuietly(input.View, image.GetView(), stream), itk::ExceptionObject);
  EXPECT_THROW(DownloadQuietly(image.GetView(), input.View, stream), itk::ExceptionObject);
}

TEST_F(CudaRuntime, Empty_image_is_no_transfer)
{
  HostImage<float>  input({ 8, 0, 1, 1 }, 1);
  StreamLease       stream(device);
  const DeviceImage image(itk::cuda::GetPlanarSize(input.View), CudaComponentType::Float, stream);
  EXPECT_NO_THROW(UploadQuietly(input.View, image.GetView(), stream));
  EXPECT_NO_THROW(DownloadQuietly(image.GetView(), input.View, stream));
}

TEST_F(CudaRuntime, Workspace_is_what_a_transfer_takes)
{
  HostImage<float> same({ 512, 512, 4, 1 }, 1);
  EXPECT_EQ(itk::cuda::GetTransferWorkspace(same.View, CudaComponentType::Float), 0u);
  EXPECT_EQ(itk::cuda::GetTransferWorkspace(same.View, CudaComponentType::Double), same.Pixels.size() * sizeof(float));
  HostImage<unsigned char> bytes({ 100, 100, 1, 1 }, 3);
  EXPECT_EQ(itk::cuda::GetTransferWorkspace(bytes.View, CudaComponentType::Float), 30000u);

  const size_t planar = DeviceImage::GetNumberOfBytes(itk::cuda::GetPlanarSize(bytes.View), CudaComponentType::Float);
  StreamLease  stream(device);
  const DeviceImage image(itk::cuda::GetPlanarSize(bytes.View), CudaComponentType::Float, stream);
  Configuration::SetDeviceMemoryLimit(planar + 30000);
  EXPECT_NO_THROW(UploadQuietly(bytes.View, image.GetView(), stream));
  Configuration::SetDeviceMemoryLimit(planar + 29999);
  EXPECT_THROW(UploadQuietly(bytes.View, image.GetView(), stream), CudaError);
}

TEST_F(CudaRuntime, Image_of_several_bands)
{
  // 300 MiB in bands of 256: converted in two parts
  HostImage<unsigned char> input({ 1000, 1000, 315, 1 }, 1);
  HostImage<unsigned char> output({ 1000, 1000, 315, 1 }, 1);
  FillRandomly(input.Pixels);
  EXPECT_EQ(itk::cuda::GetTransferWorkspace(input.View, CudaComponentType::Float), 256 * mebibyte);
  for (const unsigned int threads : { 1, 7 })
  {
    std::fill(output.Pixels.begin(), output.Pixels.end(), static_cast<unsigned char>(0));
    Configuration::SetNumberOfTransferThreads(threads);
    MakeRoundTrip(input.View, output.View, CudaComponentType::Float);
    ExpectSamePixels(output.Pixels, input.Pixels, "threads: " + std::to_string(threads));
  }
}

TEST_F(CudaRuntime, Number_of_threads_changes_nothing)
{
  for (const unsigned int threads : { 1, 2, 3, 16 })
  {
    Configuration::SetNumberOfTransferThreads(threads);
    HostImage<float> input({ 1023, 1021, 9, 1 }, 1, { 1, 0, 0, 0 }, { 1021, 1021, 8, 1 });
    HostImage<float> output({ 1021, 1021, 8, 1 }, 1);
    FillRandomly(input.Pixels);
    MakeRoundTrip(input.View, output.View, CudaComponentType::Float);
    size_t different = 0;
    for (size_t z = 0; z < 8; ++z)
      for (size_t y = 0; y < 1021; ++y)
      {
        different += std::memcmp(&output.At(0, y, z, 0, 0), &input.At(0, y, z, 0, 0), 1021 * sizeof(float)) != 0;
      }
    EXPECT_EQ(different, 0u) << "rows, with threads: " << threads;
  }
}

TEST_F(CudaRuntime, Pinned_memory_is_copied_as_it_is)
{
  const DeviceGuard  guard(device);
  const PinnedBuffer inputChunk = PinnedBuffer::Take();
  const PinnedBuffer outputChunk = PinnedBuffer::Take();
  const auto test = [&](const Extent & imageSize, size_t components, const Extent & start, const Extent & size) {
    HostImage<float> input(imageSize, components, start, size);
    HostImage<float> output(imageSize, components, start, size);
    FillRandomly(input.Pixels, 1);
    FillRandomly(output.Pixels, 2);
    HostImage<float> expected(imageSize, components, start, size);
    expected.Pixels = output.Pixels;
    MakeRoundTrip(input.View, expected.View, CudaComponentType::Float); // through chunks

    const size_t  bytes = input.Pixels.size() * sizeof(float);
    const size_t  offset = static_cast<size_t>(static_cast<float *>(input.View.Data) - input.Pixels.data());
    CudaImageView from = input.View;
    CudaImageView to = output.View;
    from.Data = static_cast<float *>(inputChunk.GetPointer()) + offset;
    to.Data = static_cast<float *>(outputChunk.GetPointer()) + offset;
    std::memcpy(inputChunk.GetPointer(), input.Pixels.data(), bytes);
    std::memcpy(outputChunk.GetPointer(), output.Pixels.data(), bytes);
    const size_t pinnedBefore = Configuration::GetPinnedBytesInUse();
    MakeRoundTrip(from, to, CudaComponentType::Float);
    EXPECT_EQ(Configuration::GetPinnedBytesInUse(), pinnedBefore);
    std::memcpy(output.Pixels.data(), outputChunk.GetPointer(), bytes);
    ExpectSamePixels(output.Pixels, expected.Pixels, "pinned, components: " + std::to_string(components));
  };
  test({ 256, 128, 8, 1 }, 1, { 0, 0, 0, 0 }, { 256, 128, 8, 1 });
  test({ 255, 128, 8, 1 }, 1, { 0, 0, 0, 0 }, { 255, 128, 8, 1 });
  test({ 255, 64, 4, 3 }, 1, { 3, 1, 0, 1 }, { 250, 61, 3, 2 });
  test({ 255, 64, 4, 1 }, 3, { 3, 1, 1, 0 }, { 250, 61, 3, 1 });
  test({ 100000, 1, 1, 1 }, 2, { 1000, 0, 0, 0 }, { 90001, 1, 1, 1 });
  test({ 31, 64, 4, 1 }, 1, { 1, 0, 0, 0 }, { 29, 64, 4, 1 }); // rows too short for the copy engine
}

TEST_F(CudaRuntime, Many_threads_transfer_at_once)
{
  constexpr unsigned int   numberOfThreads = 8;
  std::vector<std::thread> threads;
  std::vector<std::string> errors(numberOfThreads);
  for (unsigned int index = 0; index < numberOfThreads; ++index)
  {
    threads.emplace_back([index, &errors] {
      try
      {
        for (unsigned int turn = 0; turn < 4; ++turn)
        {
          HostImage<short> input({ 1001, 501, 9, 1 }, 1);
          HostImage<short> output({ 1001, 501, 9, 1 }, 1);
          FillRandomly(input.Pixels, 10 * index + turn);
          MakeRoundTrip(input.View, output.View, CudaComponentType::Float);
          if (output.Pixels != input.Pixels)
          {
            errors[index] = "pixels differ in turn " + std::to_string(turn);
          }
        }
      }
      catch (const std::exception & exception)
      {
        errors[index] = exception.what();
      }
    });
  }
  for (std::thread & thread : threads)
  {
    thread.join();
  }
  for (unsigned int index = 0; index < numberOfThreads; ++index)
  {
    EXPECT_EQ(errors[index], "") << "thread " << index;
  }
}

// ---------------------------------------------------------------------------------------------------- progress and
// abort

TEST_F(CudaRuntime, Progress_rises_to_one_and_comes_from_the_calling_thread)
{
  HostImage<float>      image({ 1024, 1024, 100, 1 }, 1);
  StreamLease           stream(device);
  const DeviceImage     onDevice(itk::cuda::GetPlanarSize(image.View), CudaComponentType::Float, stream);
  const std::thread::id caller = std::this_thread::get_id();
  for (const bool upload : { true, false })
  {
    std::vector<float> shares;
    const auto         progress = [&](float share) {
      EXPECT_EQ(std::this_thread::get_id(), caller);
      shares.push_back(share);
    };
    if (upload)
    {
      itk::cuda::Upload(image.View, onDevice.GetView(), stream, progress);
    }
    else
    {
      itk::cuda::Download(onDevice.GetView(), image.View, stream, progress);
    }
    ASSERT_GE(shares.size(), 2u);
    EXPECT_TRUE(std::is_sorted(shares.begin(), shares.end()));
    EXPECT_GT(shares.front(), 0.0f);
    EXPECT_EQ(shares.back(), 1.0f);
  }
}

TEST_F(CudaRuntime, Progress_may_abort)
{
  HostImage<unsigned char> image({ 1024, 1024, 300, 1 }, 1);
  FillRandomly(image.Pixels);
  StreamLease       stream(device);
  const DeviceImage onDevice(itk::cuda::GetPlanarSize(image.View), CudaComponentType::Float, stream);
  const size_t      bytes = Configuration::GetDeviceBytesInUse();
  const auto        abort = [](float) { throw std::runtime_error("stop"); };
  for (const unsigned int threads : { 1, 8 })
  {
    Configuration::SetNumberOfTransferThreads(threads);
    EXPECT_THROW(itk::cuda::Upload(image.View, onDevice.GetView(), stream, abort), std::runtime_error);
    EXPECT_EQ(Configuration::GetDeviceBytesInUse(), bytes);
    EXPECT_EQ(Configuration::GetPinnedBytesInUse(), 0u);
    EXPECT_NO_THROW(UploadQuietly(image.View, onDevice.GetView(), stream));

    HostImage<unsigned char> output({ 1024, 1024, 300, 1 }, 1);
    EXPECT_THROW(itk::cuda::Download(onDevice.GetView(), output.View, stream, abort), std::runtime_error);
    EXPECT_EQ(Configuration::GetPinnedBytesInUse(), 0u);
    DownloadQuietly(onDevice.GetView(), output.View, stream);
    ExpectSamePixels(output.Pixels, image.Pixels, "after an abort");
  }
}

// ---------------------------------------------------------------------------------------------------------------
// faults

namespace
{
/** Calls that may fail without consequence, as there is another way. */
bool
IsOptional(const std::string & call, cudaError_t error)
{
  const bool isAllocation = call.find("cudaMallocFromPoolAsync") == 0 || call.find("cudaMalloc(") == 0;
  return call.find("cudaPointerGetAttributes") == 0 || (isAllocation && error == cudaErrorMemoryAllocation);
}

template <typename T>
struct FaultWalk
{
  Extent            Size;
  CudaComponentType ComputeType;
  cudaError_t       Error;
  bool              Cold; // every run starts without memory kept for reuse
  unsigned long     Failures{ 0 };
  unsigned long     Successes{ 0 };

  /** Runs with the n-th call failing. Returns whether there was an n-th call. */
  bool
  RunOnce(unsigned long n)
  {
    HostImage<T> input(Size, 1);
    HostImage<T> output(Size, 1);
    FillRandomly(input.Pixels);
    if (Cold)
    {
      Configuration::ReleaseMemory();
    }
    FaultHook::FailCall(n, Error);
    bool threw = false;
    try
    {
      MakeRoundTrip(input.View, output.View, ComputeType);
    }
    catch (const CudaError &)
    {
      threw = true;
    }
    FaultHook::Clear();
    const bool        fired = FaultHook::GetFired();
    const std::string call = FaultHook::GetCall();
    EXPECT_EQ(threw, fired && (threw || !IsOptional(call, Error))) << "call " << n << ": " << call;
    EXPECT_EQ(Configuration::GetDeviceBytesInUse(), 0u) << "call " << n << ": " << call;
    EXPECT_EQ(Configuration::GetPinnedBytesInUse(), 0u) << "call " << n << ": " << call;
    if (!threw)
    {
      ExpectSamePixels(output.Pixels, input.Pixels, "call " + std::to_string(n) + ": " + call);
    }
    MakeRoundTrip(input.View, output.View, ComputeType);
    ExpectSamePixels(output.Pixels, input.Pixels, "the run after call " + std::to_string(n) + ": " + call);
    (threw ? Failures : Successes) += fired;
    return fired;
  }

  void
  Run()
  {
    unsigned long n = 1;
    while (this->RunOnce(n))
    {
      ++n;
      ASSERT_LT(n, 10000u);
    }
    std::cout << (Cold ? "cold" : "warm") << ", " << cudaErrorName() << ": " << Failures << " calls throw, "
              << Successes << " have another way\n";
    EXPECT_GT(Failures, 10u);
  }

  std::string
  cudaErrorName() const
  {
    return Error == cudaErrorMemoryAllocation ? "out of memory" : "unknown error";
  }
};

template <typename T>
void
WalkFaults(const Extent & size, CudaComponentType computeType)
{
  for (const cudaError_t error : { cudaErrorMemoryAllocation, cudaErrorUnknown })
  {
    for (const bool cold : { true, false })
    {
      FaultWalk<T>{ size, computeType, error, cold }.Run();
    }
  }
}
} // namespace

TEST_F(CudaRuntime, Faults_with_conversion_are_survived)
{
  Configuration::SetNumberOfTransferThreads(1);
  WalkFaults<short>({ 1031, 1500, 1, 1 }, CudaComponentType::Float);
}

TEST_F(CudaRuntime, Faults_without_conversion_are_survived)
{
  Configuration::SetNumberOfTransferThreads(1);
  WalkFaults<float>({ 1031, 1500, 1, 1 }, CudaComponentType::Float);
}

TEST_F(CudaRuntime, Faults_of_small_images_are_survived)
{
  Configuration::SetNumberOfTransferThreads(1);
  WalkFaults<unsigned char>({ 33, 31, 1, 1 }, CudaComponentType::Float);
}

TEST_F(CudaRuntime, Faults_in_several_threads_are_survived)
{
  Configuration::SetNumberOfTransferThreads(4);
  WalkFaults<short>({ 1031, 5000, 1, 1 }, CudaComponentType::Float);
}

TEST_F(CudaRuntime, One_thread_makes_the_same_calls_every_time)
{
  Configuration::SetNumberOfTransferThreads(1);
  HostImage<short> input({ 1031, 2500, 1, 1 }, 1);
  HostImage<short> output({ 1031, 2500, 1, 1 }, 1);
  MakeRoundTrip(input.View, output.View, CudaComponentType::Float);
  std::vector<unsigned long> numbers;
  for (unsigned int turn = 0; turn < 5; ++turn)
  {
    FaultHook::FailCall(0, cudaErrorUnknown);
    MakeRoundTrip(input.View, output.View, CudaComponentType::Float);
    FaultHook::Clear();
    numbers.push_back(FaultHook::GetNumberOfCalls());
  }
  EXPECT_GT(numbers.front(), 10u);
  EXPECT_EQ(std::count(numbers.begin(), numbers.end(), numbers.front()), 5);
}

// ------------------------------------------------------------------------------------------------------ forks and
// exits

#ifndef _WIN32
TEST_F(CudaRuntime, Forked_process_cannot_use_the_device_and_says_so)
{
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0)
  {
    std::string reason;
    const bool  usable = Configuration::IsDeviceUsable(device, reason);
    const bool  named = reason.find("forked") != std::string::npos;
    Configuration::ReleaseMemory(); // does nothing, and does not crash
    _exit(!usable && named && Configuration::GetDevices().empty() ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << "status " << status;
  StreamLease stream(device); // the parent goes on
  EXPECT_NO_THROW(DeviceBuffer(1000, stream));
}
#endif

namespace
{
struct EverythingKept
{
  StreamLease  Stream{ device };
  DeviceGuard  Guard{ device };
  DeviceBuffer Buffer{ 1000, Stream };
  PinnedBuffer Chunk{ PinnedBuffer::Take() };
  Event        Point;
};
} // namespace

TEST(CudaRuntimeDeathTest, Process_exits_with_device_memory_in_static_storage)
{
  std::string reason;
  if (!Configuration::IsDeviceUsable(device, reason))
  {
    GTEST_SKIP() << reason;
  }
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
    {
      static EverythingKept kept;
      kept.Point.Record(kept.Stream);
      std::exit(0);
    },
    testing::ExitedWithCode(0),
    "");
}
