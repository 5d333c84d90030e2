// SPDX-License-Identifier: Apache-2.0

// Passes over arrays of a caller, on the caller's stream: the bits of passes from host to host, their place in the
// order of the stream, and what is refused.

#include "itkCudaDetailDeviceRun.h"
#include "itkCudaDetailGaussianEngine.h"
#include "itkCudaError.h"
#include "support/itkCudaForeignMemory.h"
#include "support/itkCudaHeldStream.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <random>
#include <sstream>
#include <utility>
#include <vector>

namespace
{
using namespace itk::CudaDetail;
using itk::CudaComponentType;
using itk::CudaError;
using itk::CudaFiltersEnums;
using itk::cuda::StreamLease;
using namespace itk::cuda::test;

using Shape = std::array<size_t, 3>; // z, y, x

size_t
GetNumberOfPixels(const Shape & shape)
{
  return shape[0] * shape[1] * shape[2];
}

struct Kernel
{
  CudaFiltersEnums::Approximation Approximation{ CudaFiltersEnums::Approximation::Deriche };
  CudaFiltersEnums::BoundaryMode  Mode{ CudaFiltersEnums::BoundaryMode::Reflect };
};

/** Along z, y and then x. */
std::vector<CudaArrayPass>
MakePasses(const Shape & shape, size_t count, const Kernel & kernel = {}, double boundaryValue = 0.0)
{
  const CudaGaussianBoundary boundary{ kernel.Mode, boundaryValue };
  const auto                 makePlan = [&](unsigned int axis, double sigma) {
    return MakeGaussianLinePlan(
      axis, MakeGaussianImpulseResponse(kernel.Approximation, 0, sigma, 1.0, false), boundary);
  };
  std::vector<CudaArrayPass> passes{ { makePlan(1, 2.0), { { shape[1] * shape[2], shape[0], 1, 1, 1 } } },
                                     { makePlan(1, 3.0), { { shape[2], shape[1], shape[0], 1, 1 } } },
                                     { makePlan(0, 4.0), { { shape[2], shape[1] * shape[0], 1, 1, 1 } } } };
  passes.resize(count);
  return passes;
}

template <typename T, size_t NAxes>
CudaImageView
ViewPixels(const std::array<size_t, NAxes> & size, std::vector<T> & pixels)
{
  CudaImageView view;
  view.Data = pixels.data();
  view.ComponentType = sizeof(T) == 1 ? CudaComponentType::UChar : CudaComponentType::Float;
  size_t stride = 1;
  for (unsigned int axis = 0; axis < view.MaximumDimension; ++axis)
  {
    view.Size[axis] = size[axis];
    view.Stride[axis] = stride;
    stride *= size[axis];
  }
  return view;
}

/** The same from host to host, one by one. */
std::vector<float>
RunOneByOne(const std::vector<CudaArrayPass> & passes, std::vector<float> pixels)
{
  for (const CudaArrayPass & pass : passes)
  {
    std::vector<float> result(pixels.size(), std::numeric_limits<float>::quiet_NaN());
    CudaRunOnDevice(pass.Plan, ViewPixels(pass.Size, pixels), ViewPixels(pass.Size, result), device, nullptr);
    pixels = result;
  }
  return pixels;
}

constexpr float NaN = std::numeric_limits<float>::quiet_NaN();

itk::CudaDeviceImageMemory::StreamType
GetStream(const itk::cuda::Context & owner)
{
  return reinterpret_cast<itk::CudaDeviceImageMemory::StreamType>(owner.GetStream());
}

/** The quotient of passes from host to host over the pixels that count, less the first one, and over the mask. */
std::vector<float>
DivideOneByOne(const Shape &                      shape,
               size_t                             count,
               const Kernel &                     kernel,
               const std::vector<float> &         pixels,
               const std::vector<unsigned char> & counts,
               float                              smallestWeight)
{
  float offset = 0.0f;
  if (kernel.Mode != CudaFiltersEnums::BoundaryMode::Constant)
  {
    const auto first = std::find(counts.begin(), counts.end(), 1);
    offset = first == counts.end() ? 0.0f : pixels[first - counts.begin()];
  }
  std::vector<float> values(pixels.size(), 0.0f);
  for (size_t i = 0; i < pixels.size(); ++i)
  {
    values[i] = counts[i] != 0 ? pixels[i] - offset : 0.0f;
  }
  values = RunOneByOne(MakePasses(shape, count, kernel), values);
  const std::vector<float> weights =
    RunOneByOne(MakePasses(shape, count, kernel, 1.0), std::vector<float>(counts.begin(), counts.end()));
  for (size_t i = 0; i < pixels.size(); ++i)
  {
    values[i] = weights[i] >= smallestWeight ? values[i] / weights[i] + offset : NaN;
  }
  return values;
}

class CudaArrayPassesGpu : public DeviceTest
{
protected:
  /** Passes on a stream that is held back: the input is written behind them in the stream's order only, and spoiled
   * right afterwards. */
  void
  CheckOrderAndBits(const Shape & shape, size_t count)
  {
    std::mt19937                          generator(2300);
    std::uniform_real_distribution<float> uniform(0.0f, 1.0f);
    std::vector<float>                    pixels(GetNumberOfPixels(shape));
    for (float & pixel : pixels)
    {
      pixel = uniform(generator);
    }
    const std::vector<CudaArrayPass> passes = MakePasses(shape, count);
    const std::vector<float>         expected = RunOneByOne(passes, pixels);
    const size_t                     bytes = pixels.size() * sizeof(float);
    const size_t                     inUse = Configuration::GetDeviceBytesInUse();
    const StreamLease                owner(device);
    const ForeignMemory              later(bytes), input(bytes), output(bytes);
    later.Upload(pixels, owner);
    CudaQueueOnStream(passes, later.GetArray<float>(owner), output.Get()); // CUDA allocates, which may wait
    output.Fill(0xff, owner);
    {
      HeldStream held(owner);
      input.CopyFrom(later, owner);
      CudaQueueOnStream(passes, input.GetArray<float>(owner), output.Get());
      input.Fill(0xff, owner);
      held.LetGo();
    }
    std::ostringstream what;
    what << count << " passes, " << shape[0] << " x " << shape[1] << " x " << shape[2];
    ExpectSamePixels(output.Download<float>(), expected, what.str());
    EXPECT_EQ(Configuration::GetDeviceBytesInUse(), inUse);
  }

  /** Compares the result for random pixels and a random mask. A share of `share` of the pixels is NaN or infinite, and
   * the mask marks a share of `validShare` as valid. */
  void
  CheckMask(const Shape & shape, size_t count, const Kernel & kernel, double share, double validShare)
  {
    SCOPED_TRACE(testing::Message() << count << " passes, " << shape[0] << " x " << shape[1] << " x " << shape[2]
                                    << ", mode " << static_cast<int>(kernel.Mode) << ", approximation "
                                    << static_cast<int>(kernel.Approximation) << ", " << share << " not finite, "
                                    << validShare << " valid");
    constexpr float                       smallestWeight = 1e-2f;
    std::mt19937                          generator(2301);
    std::uniform_real_distribution<float> uniform(0.0f, 1.0f);
    std::vector<float>                    pixels(GetNumberOfPixels(shape));
    std::vector<unsigned char>            valid(pixels.size());
    std::vector<unsigned char>            counts(pixels.size());
    for (size_t i = 0; i < pixels.size(); ++i)
    {
      constexpr float infinite = std::numeric_limits<float>::infinity();
      const float     bad[] = { NaN, infinite, -infinite };
      pixels[i] = uniform(generator) < share ? bad[i % 3] : 1.0f + uniform(generator);
      valid[i] = uniform(generator) < validShare ? 3 : 0;
      counts[i] = valid[i] != 0 && std::isfinite(pixels[i]) ? 1 : 0;
    }
    const bool         isWhole = std::find(counts.begin(), counts.end(), 0) == counts.end();
    std::vector<float> expected = isWhole ? RunOneByOne(MakePasses(shape, count, kernel), pixels)
                                          : DivideOneByOne(shape, count, kernel, pixels, counts, smallestWeight);
    for (size_t i = 0; i < pixels.size(); ++i)
    {
      expected[i] = valid[i] != 0 && !std::isfinite(pixels[i]) ? NaN : expected[i];
    }
    const std::vector<float> found = this->RunMasked(shape, count, kernel, pixels, valid, share > 0.0, smallestWeight);
    size_t                   different = 0;
    for (size_t i = 0; i < pixels.size(); ++i)
    {
      different += found[i] == expected[i] || (std::isnan(found[i]) && std::isnan(expected[i])) ? 0 : 1;
    }
    EXPECT_EQ(different, 0u) << "of " << pixels.size() << " pixels";
  }

  /** On a stream that is held back until all is queued; image and mask are spoiled behind it. */
  std::vector<float>
  RunMasked(const Shape &                      shape,
            size_t                             count,
            const Kernel &                     kernel,
            const std::vector<float> &         pixels,
            const std::vector<unsigned char> & valid,
            bool                               keepsNaN,
            double                             smallestWeight)
  {
    const size_t        bytes = pixels.size() * sizeof(float);
    const size_t        inUse = Configuration::GetDeviceBytesInUse();
    const StreamLease   owner(device);
    const ForeignMemory input(bytes), output(bytes), mask(valid.size());
    mask.Upload(valid, owner);
    input.Upload(pixels, owner);
    const std::vector<CudaArrayPass> passes = MakePasses(shape, count, kernel);
    const CudaArrayMask              rule{ mask.Get(), keepsNaN, NaN, smallestWeight };
    CudaQueueMaskedOnStream(passes, rule, input.GetArray<float>(owner), output.Get()); // may wait for memory
    output.Fill(0x11, owner);
    {
      HeldStream held(owner);
      CudaQueueMaskedOnStream(passes, rule, input.GetArray<float>(owner), output.Get());
      input.Fill(0x7f, owner);
      mask.Fill(1, owner);
      held.LetGo();
    }
    EXPECT_EQ(Configuration::GetDeviceBytesInUse(), inUse);
    return output.Download<float>();
  }

  /** Looks at `count` pixels from `begin` on, with `value` at `place`, and compares the bits of the passes. */
  template <typename T>
  void
  CheckLook(size_t begin, size_t count, size_t place, T value)
  {
    SCOPED_TRACE(testing::Message() << value << " at pixel " << place << " of " << count << " that begin at pixel "
                                    << begin << " of " << sizeof(T) << " bytes");
    std::vector<T>      pixels(begin + count + 1, std::numeric_limits<T>::quiet_NaN()); // around them as well
    const size_t        bytes = count * sizeof(T);
    const StreamLease   owner(device);
    const ForeignMemory array(pixels.size() * sizeof(T)), output(bytes), withoutLook(bytes);
    const CudaArrayPass pass{
      MakeGaussianLinePlan(
        0, MakeGaussianImpulseResponse(Kernel{}.Approximation, 0, 2.0, 1.0, false), { Kernel{}.Mode, 0.0 }),
      { { count, 1, 1, 1, 1 } }
    };
    std::iota(pixels.begin() + begin, pixels.end() - 1, T(1));
    pixels[begin + place] = value;
    array.Upload(pixels, owner);
    const CudaArrayMemory input = array.GetArray<T>(owner, begin);
    EXPECT_EQ(CudaQueueAndFindNonFinite({ pass }, input, output.Get()), !std::isfinite(value));
    CudaQueueOnStream({ pass }, input, withoutLook.Get());
    owner.Synchronize();
    ExpectSamePixels(output.Download<T>(), withoutLook.Download<T>(), "with a look");
  }

  /** Every place of short arrays, and the ends of one that takes several loads of all threads. */
  template <typename T>
  void
  CheckLooks()
  {
    const T nan = std::numeric_limits<T>::quiet_NaN();
    for (size_t begin = 0; begin < 4; ++begin)
    {
      for (size_t count = 1; count < 12; ++count)
      {
        for (size_t place = 0; place < count; ++place)
        {
          this->CheckLook<T>(begin, count, place, nan);
        }
        this->CheckLook<T>(begin, count, count / 2, std::numeric_limits<T>::infinity());
        this->CheckLook<T>(begin, count, count / 2, T(5));
      }
      constexpr size_t large = (size_t{ 1 } << 22) + 5;
      for (const size_t place : { size_t{ 0 }, large / 3, large - 1 })
      {
        this->CheckLook<T>(begin, large, place, nan);
      }
      this->CheckLook<T>(begin, large, 77, std::numeric_limits<T>::max());
    }
  }
};
} // namespace

TEST_F(CudaArrayPassesGpu, Passes_come_between_the_work_of_the_stream_and_have_the_bits_of_single_ones)
{
  for (size_t count = 1; count <= 3; ++count)
  {
    this->CheckOrderAndBits({ { 33, 64, 128 } }, count);
    this->CheckOrderAndBits({ { 5, 131, 67 } }, count); // rows that are not aligned
    this->CheckOrderAndBits({ { 128, 256, 64 } }, count);
  }
}

TEST_F(CudaArrayPassesGpu, Terms_have_the_bits_of_their_passes_and_of_operations_one_by_one)
{
  const Shape              shape{ { 5, 131, 67 } };
  const auto               passes = MakePasses(shape, 3);
  const std::vector<float> factors{ 1.0f, -0.5f, 3.0f };
  std::mt19937             generator(2302);
  for (const float scale : { 1.0f, 1e-30f, 1e30f }) // squares underflow and overflow
  {
    std::uniform_real_distribution<float> uniform(-scale, scale);
    std::vector<float>                    pixels(GetNumberOfPixels(shape));
    std::generate(pixels.begin(), pixels.end(), [&] { return uniform(generator); });
    const std::vector<float> results[] = { RunOneByOne({ passes[0], passes[1] }, pixels),
                                           RunOneByOne({ passes[0], passes[2] }, pixels),
                                           RunOneByOne({ passes[2] }, pixels) };
    for (const auto combine : { CudaArrayCombine::Sum, CudaArrayCombine::Length })
    {
      const size_t         bytes = pixels.size() * sizeof(float);
      const StreamLease    owner(device);
      const ForeignMemory  input(bytes), output(bytes);
      const CudaArrayTerms terms{
        5,
        { { passes[0], 0, 4 }, { passes[1], 4, 1 }, { passes[2], 4, 2 }, { passes[2], 0, 3 } },
        { 1.0, -0.5, 3.0 },
        combine
      };
      input.Upload(pixels, owner);
      CudaQueueTermsOnStream(terms, input.GetArray<float>(owner), output.Get());
      owner.Synchronize();
      const std::vector<float> found = output.Download<float>();
      size_t                   different = 0;
      for (size_t i = 0; i < pixels.size(); ++i)
      {
        float sum = 0.0f;
        float length = 0.0f;
        for (size_t term = 0; term < 3; ++term)
        {
          const float value = results[term][i] * factors[term];
          const float square = value * value;
          sum += combine == CudaArrayCombine::Sum ? value : square;
          length = std::hypot(length, value);
        }
        if (combine == CudaArrayCombine::Sum)
        {
          different += found[i] == sum ? 0 : 1;
        }
        else if (sum >= 0x1p-100f && sum <= 0x1p126f)
        {
          different += found[i] == std::sqrt(sum) ? 0 : 1;
        }
        else
        {
          different += std::abs(found[i] - length) <= 1e-6f * length ? 0 : 1;
        }
      }
      EXPECT_EQ(different, 0u) << "of " << pixels.size() << " pixels of " << scale;
    }
  }
}

TEST_F(CudaArrayPassesGpu, Without_pixels_or_passes_nothing_is_done)
{
  const StreamLease     owner(device);
  const auto            passes = MakePasses({ { 4, 0, 5 } }, 3);
  const CudaArrayMask   numbers{ nullptr, true, NaN, 1e-2 };
  const CudaArrayMemory none{ nullptr, CudaComponentType::Float, device, GetStream(owner) };
  EXPECT_NO_THROW(CudaQueueOnStream(passes, none, nullptr));
  EXPECT_NO_THROW(CudaQueueOnStream({}, none, nullptr));
  EXPECT_NO_THROW(CudaQueueMaskedOnStream(passes, numbers, none, nullptr));
  EXPECT_NO_THROW(CudaQueueMaskedOnStream({}, numbers, none, nullptr));
  EXPECT_FALSE(CudaQueueAndFindNonFinite(passes, none, nullptr));
}

TEST_F(CudaArrayPassesGpu, Masks_have_the_bits_of_single_passes_and_of_none_if_all_is_valid)
{
  for (const auto approximation :
       { CudaFiltersEnums::Approximation::Deriche, CudaFiltersEnums::Approximation::Accurate })
  {
    for (const auto mode : { CudaFiltersEnums::BoundaryMode::Nearest,
                             CudaFiltersEnums::BoundaryMode::Reflect,
                             CudaFiltersEnums::BoundaryMode::Mirror,
                             CudaFiltersEnums::BoundaryMode::Wrap,
                             CudaFiltersEnums::BoundaryMode::Constant })
    {
      for (const Shape & shape : { Shape{ { 33, 64, 128 } }, Shape{ { 5, 131, 67 } }, Shape{ { 300, 140, 64 } } })
      {
        const Kernel kernel{ approximation, mode };
        for (size_t count = 1; count <= 3; ++count)
        {
          this->CheckMask(shape, count, kernel, 0.0, 0.5);
        }
        this->CheckMask(shape, 3, kernel, 0.0, 0.001);
        this->CheckMask(shape, 3, kernel, 0.0, 1.1);
        this->CheckMask(shape, 3, kernel, 0.1, 0.5);
        this->CheckMask(shape, 3, kernel, 0.1, 1.1);
        this->CheckMask(shape, 3, kernel, 1e-9, 1.1); // looks for NaN, and there is none
      }
      this->CheckMask({ { 20011, 1, 1 } }, 1, { approximation, mode }, 0.1, 0.5); // a prime number, so a single row
    }
  }
}

TEST_F(CudaArrayPassesGpu, Look_finds_NaN_and_infinite_pixels_at_each_place_and_no_other_value)
{
  this->CheckLooks<float>();
  this->CheckLooks<double>();
}

// The rows of the small images are padded on the device. The large one runs in slabs, which are searched one by one.
TEST_F(CudaArrayPassesGpu, Runs_from_host_to_host_find_a_NaN_anywhere)
{
  using Size = std::array<size_t, 4>; // x first
  for (const Size & size : { Size{ { 33, 7, 5, 1 } }, Size{ { 64, 1, 8, 1 } }, Size{ { 161, 164, 640, 1 } } })
  {
    const CudaGaussianPlan plan = MakeGaussianLinePlan(
      2, MakeGaussianImpulseResponse(CudaFiltersEnums::Approximation::Deriche, 0, 2.0, 1.0, false), {});
    std::vector<float> pixels(size[0] * size[1] * size[2], 1.5f);
    std::iota(pixels.begin(), pixels.end(), -7.0f);
    std::vector<float>  expected(pixels.size()), result(pixels.size());
    const CudaImageView input = ViewPixels(size, pixels);
    CudaRunOnDevice(plan, input, ViewPixels(size, expected), device, nullptr);
    const auto run = [&] {
      CudaFilterBackend backend;
      backend.Requested = CudaFiltersEnums::Backend::Cuda;
      bool found = false;
      EXPECT_TRUE(backend.SelectDevice(nullptr, CudaWorkingSet(plan, input, input)));
      EXPECT_TRUE(CudaRunAndFindNonFinite(plan, input, ViewPixels(size, result), backend, nullptr, found));
      return found;
    };
    EXPECT_FALSE(run()) << size[0];
    EXPECT_EQ(std::memcmp(result.data(), expected.data(), expected.size() * sizeof(float)), 0) << size[0];
    for (const size_t place : { size_t{ 0 }, pixels.size() / 2, pixels.size() - 1 })
    {
      const float pixel = std::exchange(pixels[place], NaN);
      EXPECT_TRUE(run()) << "at " << place << " of " << pixels.size();
      pixels[place] = pixel;
    }
  }
}

TEST_F(CudaArrayPassesGpu, Host_arrays_have_the_bits_of_arrays_on_the_device)
{
  const Shape                 shape{ { 5, 131, 67 } };
  const std::array<size_t, 4> size{ { shape[2], shape[1], shape[0], 1 } };
  const auto                  passes = MakePasses(shape, 3);
  const CudaArrayMask         rule{ nullptr, true, NaN, 0.5 };
  std::mt19937                generator(2304);
  std::vector<float>          pixels(GetNumberOfPixels(shape)), result(pixels.size());
  std::vector<unsigned char>  valid(pixels.size());
  std::generate(pixels.begin(), pixels.end(), [&] { return static_cast<float>(generator() % 1000); });
  std::generate(valid.begin(), valid.end(), [&] { return static_cast<unsigned char>(generator() % 2); });
  for (const bool isMasked : { false, true })
  {
    const auto queue = [&](const CudaArrayMemory & input, const void * mask, void * output) {
      EXPECT_EQ(mask != nullptr, isMasked);
      EXPECT_FALSE(CudaFindNonFinite(input, pixels.size()));
      if (isMasked)
      {
        CudaQueueMaskedOnStream(passes, { mask, rule.KeepsNaN, rule.FillValue, rule.MinimumWeight }, input, output);
      }
      else
      {
        CudaQueueOnStream(passes, input, output);
      }
      return true;
    };
    const CudaHostArrays arrays{ ViewPixels(size, pixels),
                                 isMasked ? ViewPixels(size, valid) : CudaImageView(),
                                 ViewPixels(size, result),
                                 CudaComponentType::Float };
    CudaFilterBackend    backend;
    backend.Requested = CudaFiltersEnums::Backend::Cuda;
    ASSERT_TRUE(backend.SelectDevice(nullptr, CudaWorkingSet(arrays, 4)));
    EXPECT_TRUE(CudaRunOnDevice(arrays, backend, queue, nullptr));
    const std::vector<float> expected =
      isMasked ? DivideOneByOne(shape, 3, {}, pixels, valid, 0.5f) : RunOneByOne(passes, pixels);
    ExpectSamePixels(result, expected, isMasked ? "with a mask" : "without a mask");
  }
}

TEST_F(CudaArrayPassesGpu, Look_does_not_wait_for_the_passes)
{
  constexpr size_t    side = 256, bytes = side * side * side * sizeof(float);
  const StreamLease   owner(device);
  const ForeignMemory input(bytes), output(bytes);
  input.Fill(0, owner);
  std::vector<CudaArrayPass> passes;
  for (int i = 0; i < 20; ++i)
  {
    const auto once = MakePasses({ { side, side, side } }, 3);
    passes.insert(passes.end(), once.begin(), once.end());
  }
  bool isOver = true;
  for (int i = 0; i < 2; ++i) // the first time CUDA loads kernels
  {
    owner.Synchronize();
    EXPECT_FALSE(CudaQueueAndFindNonFinite(passes, input.GetArray<float>(owner), output.Get()));
    isOver = ITK_CUDA_TRY(cudaStreamQuery(owner.GetStream())) == cudaSuccess;
  }
  EXPECT_FALSE(isOver) << "60 passes over 256^3 pixels were over when the look was";
  owner.Synchronize();
}

TEST_F(CudaArrayPassesGpu, With_a_mask_0_continues_the_lines)
{
  const StreamLease   owner(device);
  const ForeignMemory input(8 * 8 * 8 * sizeof(float)), output(8 * 8 * 8 * sizeof(float));
  const CudaArrayMask numbers{ nullptr, true, NaN, 1e-2 };
  const auto          passes = MakePasses({ { 8, 8, 8 } }, 3, { {}, CudaFiltersEnums::BoundaryMode::Constant }, 2.0);
  EXPECT_THROW(CudaQueueMaskedOnStream(passes, numbers, input.GetArray<float>(owner), output.Get()),
               itk::ExceptionObject);
}

TEST_F(CudaArrayPassesGpu, Stream_that_is_recorded_for_a_graph_is_refused)
{
  const StreamLease     owner(device);
  const CudaArrayMemory none{ nullptr, CudaComponentType::Float, device, GetStream(owner) };
  ITK_CUDA_CALL(cudaStreamBeginCapture(owner.GetStream(), cudaStreamCaptureModeRelaxed));
  EXPECT_THROW(CudaQueueOnStream({}, none, nullptr), CudaError);
  EXPECT_THROW(CudaQueueAndFindNonFinite({}, none, nullptr), CudaError);
  cudaGraph_t graph = nullptr;
  ITK_CUDA_CALL(cudaStreamEndCapture(owner.GetStream(), &graph));
  ITK_CUDA_CALL(cudaGraphDestroy(graph));
}
