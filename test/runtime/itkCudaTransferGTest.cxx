// SPDX-License-Identifier: Apache-2.0
#include "runtime/device/Device.h"
#include "runtime/device/Stream.h"
#include "itkCudaError.h"
#include "runtime/memory/DeviceMemory.h"
#include "runtime/memory/PinnedMemory.h"
#include "support/itkCudaFaultWalk.h"
#include "support/itkCudaRuntimeTestHelpers.h"
#include "itkThreadPool.h"

#include <cmath>
#include <future>
#include <limits>
#include <mutex>
#include <random>
#include <stdexcept>
#include <string>
#include <thread>
#include <type_traits>

namespace
{
using namespace itk;
using namespace itk::CudaDetail;
using namespace itk::cuda;
using namespace itk::cuda::test;

class CudaTransfer : public DeviceTest
{};

template <typename T>
class CudaTransferOfType : public DeviceTest
{};

using ComponentTypes =
  testing::Types<unsigned char, signed char, unsigned short, short, unsigned int, int, float, double>;
TYPED_TEST_SUITE(CudaTransferOfType, ComponentTypes, );
} // namespace

/** Whole images, which are one run of bytes or rows of a pitch, and parts of images, whose rest must stay as it is:
 * with the same type on the device, and through float and double. */
TYPED_TEST(CudaTransferOfType, Round_trips_keep_every_bit_and_the_rest_of_an_image)
{
  struct Case
  {
    Extent Image, Start, Size;
  };
  const auto              whole = [](const Extent & size) { return Case{ size, { 0, 0, 0, 0 }, size }; };
  const Extent            larger = { 203, 101, 23, 3 };
  const std::vector<Case> cases = { whole({ 1, 1, 1, 1 }),
                                    whole({ 5, 1, 1, 1 }),
                                    whole({ 100003, 1, 1, 1 }),
                                    whole({ 1, 257, 1, 1 }),
                                    whole({ 4, 8, 16, 1 }),
                                    whole({ 1031, 701, 1, 1 }),
                                    whole({ 129, 65, 33, 1 }),
                                    whole({ 1028, 37, 1, 1 }),
                                    whole({ 36, 5, 4, 3 }),
                                    { larger, { 0, 0, 0, 0 }, { 203, 101, 1, 1 } },
                                    { larger, { 1, 2, 3, 1 }, { 5, 7, 11, 1 } },
                                    { larger, { 0, 50, 0, 0 }, { 203, 50, 23, 3 } },
                                    { larger, { 3, 0, 0, 0 }, { 200, 101, 23, 3 } },
                                    { larger, { 100, 0, 0, 0 }, { 1, 101, 23, 3 } },
                                    { larger, { 7, 9, 11, 2 }, { 190, 1, 9, 1 } } };
  for (const Case & one : cases)
  {
    for (const size_t components : { 1, 2, 3 })
    {
      HostImage<TypeParam> input(one.Image, components, one.Start, one.Size);
      HostImage<TypeParam> output(one.Image, components, one.Start, one.Size);
      HostImage<TypeParam> expected(one.Image, components, one.Start, one.Size);
      FillRandomly(input.Pixels, 1);
      FillRandomly(expected.Pixels, 2);
      output.Pixels = expected.Pixels;
      CopyRegion(input, expected);
      const CudaComponentType exact = GetExactComputeType<TypeParam>();
      for (const CudaComponentType type : { exact, CudaComponentType::Double })
      {
        MakeRoundTrip(input.View, output.View, type);
        ExpectSamePixels(output.Pixels,
                         expected.Pixels,
                         std::to_string(one.Size[0]) + " x " + std::to_string(one.Size[1]) + " x " +
                           std::to_string(one.Size[2]) + " x " + std::to_string(one.Size[3]) + " pixels from " +
                           std::to_string(one.Start[0]) + " on, components: " + std::to_string(components) +
                           (type == exact ? "" : ", in double"));
        FillRandomly(output.Pixels, 2);
      }
    }
  }
}

namespace
{
/** Returns the result that the module guarantees for integers. */
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

/** Returns values at and around all points where the rule of a conversion to T changes. */
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
ExpectTruncationAndClamping(const std::vector<double> & values)
{
  HostImage<TCompute> input({ values.size(), 1, 1, 1 }, 1);
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

/** Rows of four pixels are converted by another kernel. */
template <typename TInteger, typename TCompute>
void
ExpectTruncationAndClamping()
{
  std::vector<double> values = GetCriticalValues<TInteger>();
  values.resize(values.size() / 4 * 4 + 5, 2.75);
  ExpectTruncationAndClamping<TInteger, TCompute>(values);
  values.pop_back();
  ExpectTruncationAndClamping<TInteger, TCompute>(values);
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

TEST_F(CudaTransfer, Float_and_double_are_plain_casts_of_each_other)
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

TEST_F(CudaTransfer, Components_come_to_planes_of_their_own)
{
  HostImage<short> input({ 37, 11, 5, 2 }, 3);
  FillRandomly(input.Pixels);
  StreamLease       stream(device);
  const DeviceImage image(GetPlanarSize(input.View), CudaComponentType::Float, stream);
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

TEST_F(CudaTransfer, Views_into_an_image_are_respected)
{
  HostImage<float> input({ 40, 30, 20, 1 }, 1);
  FillRandomly(input.Pixels);
  StreamLease       stream(device);
  const DeviceImage image(GetPlanarSize(input.View), CudaComponentType::Float, stream);
  UploadQuietly(input.View, image.GetView(), stream);

  DeviceView inner = image.GetView();
  inner.Size = { { 10, 7, 5, 1, 1 } };
  inner.Data = static_cast<float *>(inner.Data) + 3 + 2 * inner.Stride[1] + inner.Stride[2];
  HostImage<float> expected({ 40, 30, 20, 1 }, 1, { 3, 2, 1, 0 }, { 10, 7, 5, 1 });
  HostImage<float> part({ 10, 7, 5, 1 }, 1);
  HostImage<float> found({ 10, 7, 5, 1 }, 1);
  expected.Pixels = input.Pixels;
  CopyRegion(expected, part);
  DownloadQuietly(inner, found.View, stream);
  ExpectSamePixels(found.Pixels, part.Pixels, "from a part of the device image");

  FillRandomly(part.Pixels, 1);
  CopyRegion(part, expected);
  UploadQuietly(part.View, inner, stream);
  DownloadQuietly(image.GetView(), input.View, stream);
  ExpectSamePixels(input.Pixels, expected.Pixels, "with a part that was replaced");
}

TEST_F(CudaTransfer, Empty_image_is_no_transfer)
{
  HostImage<float>  input({ 8, 0, 1, 1 }, 1);
  StreamLease       stream(device);
  const DeviceImage image(GetPlanarSize(input.View), CudaComponentType::Float, stream);
  EXPECT_NO_THROW(UploadQuietly(input.View, image.GetView(), stream));
  EXPECT_NO_THROW(DownloadQuietly(image.GetView(), input.View, stream));
}

TEST_F(CudaTransfer, Workspace_is_what_a_transfer_takes)
{
  HostImage<float> same({ 512, 512, 4, 1 }, 1);
  EXPECT_EQ(GetTransferWorkspace(same.View, CudaComponentType::Float), 0u);
  EXPECT_EQ(GetTransferWorkspace(same.View, CudaComponentType::Double), same.Pixels.size() * sizeof(float));
  HostImage<unsigned char> bytes({ 100, 100, 1, 1 }, 3);
  EXPECT_EQ(GetTransferWorkspace(bytes.View, CudaComponentType::Float), 30000u);

  const size_t      planar = DeviceImage::GetNumberOfBytes(GetPlanarSize(bytes.View), CudaComponentType::Float);
  StreamLease       stream(device);
  const DeviceImage image(GetPlanarSize(bytes.View), CudaComponentType::Float, stream);
  Configuration::SetDeviceMemoryLimit(planar + 30000);
  EXPECT_NO_THROW(UploadQuietly(bytes.View, image.GetView(), stream));
  Configuration::SetDeviceMemoryLimit(planar + 29999);
  EXPECT_THROW(UploadQuietly(bytes.View, image.GetView(), stream), CudaError);
}

/** A part of an image whose rows are copied by themselves, and 300 MiB that batches of 256 MiB convert. */
TEST_F(CudaTransfer, Number_of_threads_changes_nothing)
{
  HostImage<float>         rows({ 1023, 1021, 9, 1 }, 1, { 1, 0, 0, 0 }, { 1021, 1021, 8, 1 });
  HostImage<unsigned char> bytes({ 1000, 1000, 315, 1 }, 1);
  FillRandomly(rows.Pixels);
  FillRandomly(bytes.Pixels);
  EXPECT_EQ(GetTransferWorkspace(bytes.View, CudaComponentType::Float), 256 * mebibyte);
  const auto check = [](auto & input, const std::string & what) {
    using T = std::decay_t<decltype(input.At(0, 0, 0, 0, 0))>;
    HostImage<T> expected(input.View.Size, 1);
    HostImage<T> output(input.View.Size, 1);
    CopyRegion(input, expected);
    MakeRoundTrip(input.View, output.View, CudaComponentType::Float);
    ExpectSamePixels(output.Pixels, expected.Pixels, what);
  };
  for (const unsigned int threads : { 1, 2, 7, 16 })
  {
    Configuration::SetNumberOfTransferThreads(threads);
    check(rows, "rows, threads: " + std::to_string(threads));
    if (threads % 2 == 1)
    {
      check(bytes, "batches, threads: " + std::to_string(threads));
    }
  }
}

TEST_F(CudaTransfer, Every_byte_is_copied_at_the_limits_of_chunks_and_slices)
{
  std::vector<size_t> sizes = { 1, 4096 };
  for (const size_t limit : { mebibyte / 4,
                              mebibyte / 2,
                              mebibyte,
                              2 * mebibyte,
                              4 * mebibyte,
                              8 * mebibyte,
                              16 * mebibyte,
                              32 * mebibyte,
                              64 * mebibyte })
  {
    sizes.insert(sizes.end(), { limit - 1, limit, limit + 1 });
  }
  HostImage<unsigned char> input({ sizes.back(), 1, 1, 1 }, 1);
  FillRandomly(input.Pixels);
  HostImage<unsigned char> output({ sizes.back(), 1, 1, 1 }, 1);
  StreamLease              stream(device);
  const DeviceBuffer       buffer(sizes.back(), stream);
  for (const unsigned int threads : { 1, 2, 3, 8, 16 })
  {
    Configuration::SetNumberOfTransferThreads(threads);
    for (const size_t size : sizes)
    {
      input.View.Size[0] = size;
      output.View.Size[0] = size;
      std::fill_n(output.Pixels.begin(), size, static_cast<unsigned char>(0xa5));
      DeviceView onDevice;
      onDevice.Data = buffer.GetPointer();
      onDevice.ComponentType = CudaComponentType::UChar;
      onDevice.Size = { { size, 1, 1, 1, 1 } };
      onDevice.Stride = { { 1, size, size, size, size } };
      ASSERT_EQ(cudaMemsetAsync(buffer.GetPointer(), 0x5a, size, stream.GetStream()), cudaSuccess);
      UploadQuietly(input.View, onDevice, stream);
      DownloadQuietly(onDevice, output.View, stream);
      EXPECT_EQ(std::memcmp(output.Pixels.data(), input.Pixels.data(), size), 0)
        << size << " bytes, with threads: " << threads;
    }
  }
}

TEST_F(CudaTransfer, Pinned_memory_is_copied_as_it_is)
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

TEST_F(CudaTransfer, Streams_of_a_caller_are_used)
{
  const DeviceGuard guard(device);
  HostImage<short>  input({ 1001, 501, 9, 1 }, 1);
  HostImage<short>  output({ 1001, 501, 9, 1 }, 1);
  FillRandomly(input.Pixels);
  cudaStream_t stream = nullptr;
  ASSERT_EQ(cudaStreamCreate(&stream), cudaSuccess);
  for (const cudaStream_t used : { stream, cudaStream_t{ nullptr } })
  {
    std::fill(output.Pixels.begin(), output.Pixels.end(), short{ 0 });
    MakeRoundTrip(input.View, output.View, CudaComponentType::Float, Context(device, used));
    ExpectSamePixels(output.Pixels, input.Pixels, used ? "a stream" : "the default stream");
  }
  EXPECT_EQ(cudaStreamDestroy(stream), cudaSuccess);
}

TEST_F(CudaTransfer, Chunks_of_an_upload_stay_until_its_copies_are_done)
{
  const StreamLease stream(device);
  StagingMemory     staging(stream);
  HostImage<float>  image({ 1024, 1024, 4, 1 }, 1);
  const DeviceImage onDevice(GetPlanarSize(image.View), CudaComponentType::Float, stream);
  for (const unsigned int threads : { 1, 4 })
  {
    Configuration::SetNumberOfTransferThreads(threads);
    Upload(image.View, onDevice.GetView(), staging, nullptr);
    EXPECT_GT(Configuration::GetPinnedBytesInUse(), 0u);
    staging.Synchronize();
    EXPECT_EQ(Configuration::GetPinnedBytesInUse(), 0u);
    UploadQuietly(image.View, onDevice.GetView(), stream);
    EXPECT_EQ(Configuration::GetPinnedBytesInUse(), 0u) << "complete on return";
  }
}

TEST_F(CudaTransfer, Tasks_of_the_threads_of_ITK_may_transfer)
{
  // All threads of the pool run transfers and further transfers wait for a thread, so no transfer can get a helper.
  std::vector<std::future<bool>> tasks;
  const size_t                   number = 2 * ThreadPool::GetInstance()->GetMaximumNumberOfThreads() + 3;
  for (size_t task = 0; task < number; ++task)
  {
    tasks.push_back(ThreadPool::GetInstance()->AddWork([task] {
      HostImage<float> input({ 1024, 1024, 4, 1 }, 1);
      HostImage<float> output({ 1024, 1024, 4, 1 }, 1);
      FillRandomly(input.Pixels, static_cast<unsigned int>(task));
      MakeRoundTrip(input.View, output.View, CudaComponentType::Float);
      return output.Pixels == input.Pixels;
    }));
  }
  for (std::future<bool> & task : tasks)
  {
    EXPECT_TRUE(task.get());
  }
}

namespace
{
/** Rows of a device image of the host image's type, at most 16 elements apart. */
template <typename T>
struct DeviceRows
{
  DeviceRows(size_t width, size_t height, const StreamLease & stream)
    : Pitch((width + 15) / 16 * 16)
    , Buffer(Pitch * height * sizeof(T), stream)
  {
    View.Data = Buffer.GetPointer();
    View.ComponentType = GetComponentType<T>();
    View.Size = { { width, height, 1, 1, 1 } };
    View.Stride = { { 1, Pitch, Pitch * height, Pitch * height, Pitch * height } };
  }

  size_t       Pitch;
  DeviceBuffer Buffer;
  DeviceView   View;
};
/** For all sizes and numbers of threads: slots hold the largest chunk, slices divide it, and chunks of any transfer
 * end. */
TEST(CudaTransferPolicy, ChunksAndSlicesFitTheSlots)
{
  std::mt19937 random(seed);
  for (unsigned int i = 0; i < 2000; ++i)
  {
    const auto   direction = i % 2 == 0 ? TransferDirection::Upload : TransferDirection::Download;
    const size_t bytes = 1 + random() % (size_t{ 1 } << (1 + random() % 31));
    const size_t number = 1 + random() % 3;
    const size_t threads = 1 + random() % 16;
    SCOPED_TRACE(testing::Message() << "seed " << seed << ", case " << i << ": " << bytes << " bytes, " << number
                                    << " transfers, " << threads << " threads");
    const TransferPolicy policy({ direction, bytes, number, i % 4 < 2 }, threads);
    ASSERT_LE(policy.ChunkBytes, PinnedBuffer::ChunkSize);
    ASSERT_LE(policy.SmallestChunkBytes, policy.ChunkBytes);
    ASSERT_GE(policy.Slots, 1u);
    ASSERT_GT(policy.SliceBytes, 0u);
    ASSERT_LE(policy.SliceBytes, policy.ChunkBytes);
    ASSERT_TRUE(!policy.ThreadsHaveSlots || policy.Slots >= threads) << "a thread without a slot would wait for ever";
    ASSERT_TRUE(policy.SliceBytes == policy.ChunkBytes || policy.Slots * policy.ChunkBytes >= bytes)
      << "threads that share chunks must not wait for slots";
    size_t previous = policy.ChunkBytes;
    for (size_t left = bytes; left > 0; left -= std::min(left, previous))
    {
      const size_t chunk = policy.GetChunkBytes(left, true);
      ASSERT_GE(chunk, policy.SmallestChunkBytes);
      ASSERT_LE(chunk, previous);
      ASSERT_EQ(policy.GetChunkBytes(left, false), policy.ChunkBytes);
      previous = chunk;
    }
  }
}

} // namespace

TEST_F(CudaTransfer, Rows_arrive_in_groups_before_work_on_them)
{
  using T = unsigned short;
  const DeviceGuard  guard(device);
  const PinnedBuffer pinned = PinnedBuffer::Take();
  struct Trial
  {
    size_t Width, Height, RowsPerGroup;
    bool   Pinned;
  };
  for (const Trial & trial : { Trial{ 3, 5, 2, false },
                               Trial{ 1, 1, 16, false },
                               Trial{ 3000, 2001, 250, false },
                               Trial{ 3001, 2001, 1, false },
                               Trial{ 4096, 4099, 513, false },
                               Trial{ 1000, 700, 64, true },
                               Trial{ 1001, 700, 699, true } })
  {
    const std::string what = std::to_string(trial.Width) + " x " + std::to_string(trial.Height) + " in groups of " +
                             std::to_string(trial.RowsPerGroup);
    HostImage<T> input({ trial.Width, trial.Height, 1, 1 }, 1);
    FillRandomly(input.Pixels);
    CudaImageView view = input.View;
    if (trial.Pinned)
    {
      std::memcpy(pinned.GetPointer(), input.Pixels.data(), input.Pixels.size() * sizeof(T));
      view.Data = pinned.GetPointer();
    }
    for (const unsigned int threads : { 1, 6 })
    {
      Configuration::SetNumberOfTransferThreads(threads);
      const StreamLease                      stream(device);
      StagingMemory                          staging(stream);
      const StreamLease                      other(device);
      const DeviceRows<T>                    rows(trial.Width, trial.Height, stream);
      std::vector<T>                         output(trial.Width * trial.Height, 0);
      std::mutex                             mutex;
      std::vector<std::pair<size_t, size_t>> groups;
      const auto                             copyBack = [&](size_t first, size_t end) {
        Event sent;
        sent.Record(stream);
        sent.MakeWait(other);
        // The host reads what was on the device when the group was announced.
        ASSERT_EQ(cudaMemcpy2DAsync(output.data() + first * trial.Width,
                                    trial.Width * sizeof(T),
                                    static_cast<const T *>(rows.View.Data) + first * rows.Pitch,
                                    rows.Pitch * sizeof(T),
                                    trial.Width * sizeof(T),
                                    end - first,
                                    cudaMemcpyDeviceToHost,
                                    other.GetStream()),
                  cudaSuccess);
        const std::lock_guard<std::mutex> lock(mutex);
        groups.emplace_back(first, end);
      };
      ASSERT_EQ(cudaMemsetAsync(rows.View.Data, 0xff, rows.Buffer.GetSize(), stream.GetStream()), cudaSuccess);
      UploadRows(view, rows.View, staging, { trial.RowsPerGroup, copyBack });
      other.Synchronize();
      ExpectSamePixels(output, input.Pixels, what);
      std::sort(groups.begin(), groups.end());
      size_t next = 0;
      for (const auto & group : groups)
      {
        EXPECT_EQ(group.first, next) << what;
        next = std::min(next + trial.RowsPerGroup, trial.Height);
        EXPECT_EQ(group.second, next) << what;
      }
      EXPECT_EQ(next, trial.Height) << what;
    }
  }
}

TEST_F(CudaTransfer, Progress_rises_to_one_and_comes_from_the_calling_thread)
{
  HostImage<float>      image({ 1024, 1024, 100, 1 }, 1);
  StreamLease           stream(device);
  const DeviceImage     onDevice(GetPlanarSize(image.View), CudaComponentType::Float, stream);
  const std::thread::id caller = std::this_thread::get_id();
  for (const unsigned int threads : { 1u, 8u })
  {
    Configuration::SetNumberOfTransferThreads(threads);
    for (const bool upload : { true, false })
    {
      std::vector<float> shares;
      const auto         progress = [&](float share) {
        EXPECT_EQ(std::this_thread::get_id(), caller);
        shares.push_back(share);
      };
      if (upload)
      {
        Upload(image.View, onDevice.GetView(), stream, progress);
      }
      else
      {
        Download(onDevice.GetView(), image.View, stream, progress);
      }
      // Only the calling thread reports. With other threads it may be too late for all reports but the last.
      ASSERT_GE(shares.size(), threads == 1 ? 2u : 1u);
      EXPECT_TRUE(std::is_sorted(shares.begin(), shares.end()));
      EXPECT_GT(shares.front(), 0.0f);
      EXPECT_EQ(shares.back(), 1.0f);
    }
  }
}

TEST_F(CudaTransfer, Progress_and_work_on_rows_may_abort)
{
  HostImage<unsigned char> image({ 1024, 1024, 100, 1 }, 1);
  FillRandomly(image.Pixels);
  HostImage<unsigned char>        rows({ 3000, 2000, 1, 1 }, 1);
  const StreamLease               stream(device);
  StagingMemory                   staging(stream);
  const DeviceRows<unsigned char> onDevice(3000, 2000, stream);
  const DeviceImage               converted(GetPlanarSize(image.View), CudaComponentType::Float, stream);
  const size_t                    bytes = Configuration::GetDeviceBytesInUse();
  const auto                      abort = [](float) { throw std::runtime_error("stop"); };
  const auto                      abortRows = [](size_t first, size_t) {
    if (first > 0)
    {
      throw std::runtime_error("stop");
    }
  };
  const auto expectAbort = [&](const auto & transfer) {
    EXPECT_THROW(transfer(), std::runtime_error);
    EXPECT_EQ(Configuration::GetDeviceBytesInUse(), bytes);
    EXPECT_EQ(Configuration::GetPinnedBytesInUse(), 0u);
  };
  for (const unsigned int threads : { 1, 8 })
  {
    Configuration::SetNumberOfTransferThreads(threads);
    expectAbort([&] { UploadRows(rows.View, onDevice.View, staging, { 500, abortRows }); });
    EXPECT_NO_THROW(UploadRows(rows.View, onDevice.View, stream, {}));
    expectAbort([&] { Upload(image.View, converted.GetView(), staging, abort); });
    EXPECT_NO_THROW(UploadQuietly(image.View, converted.GetView(), stream));
    HostImage<unsigned char> output({ 1024, 1024, 100, 1 }, 1);
    expectAbort([&] { Download(converted.GetView(), output.View, staging, abort); });
    DownloadQuietly(converted.GetView(), output.View, stream);
    ExpectSamePixels(output.Pixels, image.Pixels, "after an abort");
  }
}

/** Images that are converted, those of the device's type, and small ones; and several threads, whose calls come in any
 * order. */
TEST_F(CudaTransfer, Faults_of_transfers_are_survived)
{
  const auto walk = [](auto zero, const Extent & size, unsigned int threads, const std::string & what) {
    using T = decltype(zero);
    HostImage<T> input(size, 1);
    FillRandomly(input.Pixels);
    WalkFaults<T>(
      what,
      [&input] {
        HostImage<T> output(input.View.Size, 1);
        MakeRoundTrip(input.View, output.View, CudaComponentType::Float);
        return output.Pixels;
      },
      threads);
  };
  walk(short{}, { 1031, 1100, 1, 1 }, 1, "with conversion"); // two chunks
  walk(float{}, { 1031, 600, 1, 1 }, 1, "without conversion");
  using Byte = unsigned char;
  walk(Byte{}, { 33, 31, 1, 1 }, 1, "a small image");
  walk(short{}, { 1031, 1500, 1, 1 }, 4, "four threads");
}
