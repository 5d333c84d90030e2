// SPDX-License-Identifier: Apache-2.0

// The device's convolution of lines against the host's: equal bits, as neither side contracts and both round alike.

#include "runtime/device/Call.h"
#include "runtime/device/Device.h"
#include "runtime/device/Stream.h"
#include "itkCudaFiltersConfiguration.h"
#include "gaussian/fir/FirDevice.h"
#include "support/itkCudaFirReference.h"
#include "runtime/image/Views.h"
#include "runtime/memory/DeviceImage.h"
#include "runtime/transfer/Transfer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iostream>
#include <limits>
#include <memory>
#include <numeric>
#include <random>
#include <string>
#include <vector>

namespace
{
using namespace itk;
using namespace itk::CudaDetail;
using namespace itk::cuda;
using namespace itk::cuda::gaussian;

using Extent = std::array<size_t, 3>;

CudaGaussianFirPass
MakePass(unsigned int axis, size_t radius, CudaLineContinuation continuation)
{
  CudaGaussianFirPass pass;
  pass.Axis = axis;
  pass.Continuation = continuation;
  pass.Constant = 0.75;
  pass.Weights.resize(2 * radius + 1);
  double       sum = 0.0;
  const double sigma = 0.4 * static_cast<double>(radius) + 0.3;
  for (size_t k = 0; k <= 2 * radius; ++k)
  {
    const double distance = (static_cast<double>(k) - static_cast<double>(radius)) / sigma;
    pass.Weights[k] = std::exp(-0.5 * distance * distance);
    sum += pass.Weights[k];
  }
  for (double & weight : pass.Weights)
  {
    weight /= sum;
  }
  return pass;
}

template <typename T>
std::vector<T>
RunOnDevice(const CudaGaussianFirPass & pass, bool truncate, const Extent & size, const std::vector<T> & input)
{
  StreamLease       stream(0);
  const auto        type = sizeof(T) == 4 ? CudaComponentType::Float : CudaComponentType::Double;
  const DeviceImage source({ { size[0], size[1], size[2], 1, 1 } }, type, stream);
  const DeviceImage destination({ { size[0], size[1], size[2], 1, 1 } }, type, stream);
  CudaImageView     host;
  host.ComponentType = type;
  std::copy(size.begin(), size.end(), host.Size.begin());
  // All bits set is a NaN: pixels that are never written show.
  ITK_CUDA_CALL(
    cudaMemsetAsync(destination.GetView().Data, 0xff, GetNumberOfBytes(destination.GetView()), stream.GetStream()));
  Upload(ViewAdjacent(host, const_cast<T *>(input.data())), source.GetView(), stream, nullptr);
  const DeviceBuffer memory(GetFirWorkspace(pass, type), stream);
  RunFirPass(
    pass, truncate, source.GetView(), destination.GetView(), { memory.GetPointer(), memory.GetSize() }, stream);
  std::vector<T> output(input.size());
  Download(destination.GetView(), ViewAdjacent(host, output.data()), stream, nullptr);
  return output;
}

template <typename T>
std::vector<T>
RunOnHost(const CudaGaussianFirPass & pass, bool truncate, const Extent & size, const std::vector<T> & input)
{
  std::vector<T> output(input);
  const size_t   steps[3] = { 1, size[0], size[0] * size[1] };
  ConvolveLines(pass, truncate, steps[pass.Axis], size[pass.Axis], output);
  return output;
}

class GpuFir : public testing::Test
{
protected:
  void
  SetUp() override
  {
    std::string reason;
    if (!CudaFiltersConfiguration::IsDeviceUsable(0, reason))
    {
      GTEST_SKIP() << reason;
    }
    m_Guard = std::make_unique<DeviceGuard>(0);
  }

  template <typename T>
  void
  ExpectEqual(const CudaGaussianFirPass & pass, bool truncate, const Extent & size)
  {
    std::mt19937                      generator(static_cast<unsigned int>(size[0] + 3 * size[1] + 7 * size[2]));
    std::uniform_real_distribution<T> uniform(-100, 1000);
    std::vector<T>                    input(size[0] * size[1] * size[2]);
    std::generate(input.begin(), input.end(), [&] { return uniform(generator); });
    this->ExpectEqual(pass, truncate, size, input);
  }

  /** NaN counts as equal to NaN. */
  template <typename T>
  void
  ExpectEqual(const CudaGaussianFirPass & pass, bool truncate, const Extent & size, const std::vector<T> & input)
  {
    const std::vector<T> expected = RunOnHost(pass, truncate, size, input);
    const std::vector<T> actual = RunOnDevice(pass, truncate, size, input);
    size_t               differences = 0;
    for (size_t i = 0; i < expected.size(); ++i)
    {
      differences += !(actual[i] == expected[i] || (std::isnan(actual[i]) && std::isnan(expected[i])));
    }
    EXPECT_EQ(differences, 0u) << "axis " << pass.Axis << ", radius " << pass.GetRadius() << ", continuation "
                               << static_cast<int>(pass.Continuation) << ", truncate " << truncate << ", " << size[0]
                               << " x " << size[1] << " x " << size[2] << ", " << sizeof(T) << " bytes";
  }

  std::unique_ptr<DeviceGuard> m_Guard;
};
} // namespace

TEST_F(GpuFir, HasTheBitsOfTheHostAtEveryRadius)
{
  // 127 is the last whose weights travel with the launch; from 128 on they take more than one chunk.
  for (const size_t radius : { 0, 1, 2, 3, 4, 7, 8, 31, 32, 127, 128, 129, 300, 1000 })
  {
    for (unsigned int axis = 0; axis < 3; ++axis)
    {
      for (const auto continuation :
           { CudaLineContinuation::EndValue, CudaLineContinuation::Constant, CudaLineContinuation::Periodic })
      {
        Extent size{ { 37, 5, 3 } };
        size[axis] = continuation == CudaLineContinuation::Periodic ? std::max<size_t>(2 * radius + 1, 50) : 321;
        const CudaGaussianFirPass pass = MakePass(axis, radius, continuation);
        this->ExpectEqual<float>(pass, false, size);
        this->ExpectEqual<double>(pass, false, size);
        this->ExpectEqual<double>(pass, true, size);
      }
    }
  }
}

TEST_F(GpuFir, HasTheBitsOfTheHostAtEveryLength)
{
  for (const size_t length : { 1, 2, 7, 8, 31, 33, 63, 64, 65, 255, 256, 257, 1031 })
  {
    for (unsigned int axis = 0; axis < 3; ++axis)
    {
      for (const size_t lines : { 1, 3, 33, 65 })
      {
        Extent size{ { lines, lines, 2 } };
        size[axis] = length;
        this->ExpectEqual<float>(MakePass(axis, 16, CudaLineContinuation::EndValue), false, size);
      }
    }
  }
}

TEST_F(GpuFir, HasTheBitsOfTheHostForPixelsThatAreNotFiniteOrOverflow)
{
  constexpr float    largest = 3e38f;
  constexpr float    infinity = std::numeric_limits<float>::infinity();
  const float        values[] = { infinity, -infinity, std::numeric_limits<float>::quiet_NaN(), largest, -largest };
  const unsigned int seed = 20251122;
  std::cout << "seed " << seed << std::endl;
  std::mt19937                          generator(seed);
  std::uniform_real_distribution<float> uniform(-100, 1000);
  for (const size_t radius : { 0, 1, 4, 32, 127, 128, 300 })
  {
    for (unsigned int axis = 0; axis < 3; ++axis)
    {
      Extent size{ { 37, 5, 3 } };
      size[axis] = 701;
      for (const size_t spoiled : { 1, 10, 1000 })
      {
        std::vector<float> input(size[0] * size[1] * size[2]);
        std::generate(input.begin(), input.end(), [&] { return uniform(generator); });
        for (size_t k = 0; k < spoiled; ++k)
        {
          input[generator() % input.size()] = values[generator() % 5];
        }
        const CudaGaussianFirPass pass = MakePass(axis, radius, CudaLineContinuation::EndValue);
        this->ExpectEqual<float>(pass, false, size, input);
        this->ExpectEqual<double>(pass, false, size, std::vector<double>(input.begin(), input.end()));
      }
    }
  }
}

TEST_F(GpuFir, HasTheSameBitsInSeveralLaunches)
{
  // Kernels of 20,001 weights exceed 2^30 products from 54,000 pixels on.
  for (unsigned int axis = 0; axis < 3; ++axis)
  {
    Extent size{ { 67, 35, 33 } };
    size[axis] = 70;
    const CudaGaussianFirPass pass = MakePass(axis, 10000, CudaLineContinuation::EndValue);
    std::vector<float>        input(size[0] * size[1] * size[2]);
    std::iota(input.begin(), input.end(), 1.0f);
    SetKernelTimeoutForTests(0);
    const std::vector<float> expected = RunOnDevice(pass, false, size, input);
    SetKernelTimeoutForTests(1);
    const std::vector<float> actual = RunOnDevice(pass, false, size, input);
    SetKernelTimeoutForTests(-1);
    EXPECT_TRUE(actual == expected) << "axis " << axis;
    EXPECT_GT(*std::min_element(expected.begin(), expected.end()), 0.0f); // no NaN either
  }
}
