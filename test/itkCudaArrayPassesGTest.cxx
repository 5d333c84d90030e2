// SPDX-License-Identifier: Apache-2.0

// Passes over arrays of a caller, on the caller's stream: the bits of passes from host to host, their place in the
// order of the stream, and what is refused.

#include "itkCudaDetailDeviceRun.h"
#include "itkCudaDetailGaussianEngine.h"
#include "itkCudaError.h"
#include "itkCudaHeldStream.h"
#include "itkCudaRuntimeTestHelpers.h"
#include "itkCudaStream.h"

#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

namespace
{
using namespace itk::CudaDetail;
using itk::CudaComponentType;
using itk::CudaError;
using itk::CudaFiltersConfiguration;
using itk::CudaFiltersEnums;
using itk::cuda::Context;
using itk::cuda::StreamLease;
using itk::cuda::test::device;
using itk::cuda::test::DeviceTest;
using itk::cuda::test::HeldStream;

using Shape = std::array<size_t, 3>; // z, y, x

size_t
GetNumberOfPixels(const Shape & shape)
{
  return shape[0] * shape[1] * shape[2];
}

/** Along z, y and then x. */
std::vector<CudaArrayPass>
MakePasses(const Shape & shape, size_t count)
{
  const CudaGaussianBoundary boundary{ CudaFiltersEnums::BoundaryMode::Reflect, 0.0 };
  const auto                 makePlan = [&boundary](unsigned int axis, double sigma) {
    return MakeGaussianLinePlan(
      axis, MakeGaussianImpulseResponse(CudaFiltersEnums::Approximation::Deriche, 0, sigma, 1.0, false), boundary);
  };
  std::vector<CudaArrayPass> passes{ { makePlan(1, 2.0), { { shape[1] * shape[2], shape[0], 1, 1, 1 } } },
                                     { makePlan(1, 3.0), { { shape[2], shape[1], shape[0], 1, 1 } } },
                                     { makePlan(0, 4.0), { { shape[2], shape[1] * shape[0], 1, 1, 1 } } } };
  passes.resize(count);
  return passes;
}

/** The same from host to host, one by one. */
std::vector<float>
RunOneByOne(const std::vector<CudaArrayPass> & passes, std::vector<float> pixels)
{
  for (const CudaArrayPass & pass : passes)
  {
    std::vector<float> result(pixels.size(), std::numeric_limits<float>::quiet_NaN());
    CudaImageView      input;
    input.ComponentType = CudaComponentType::Float;
    size_t stride = 1;
    for (unsigned int axis = 0; axis < input.MaximumDimension; ++axis)
    {
      input.Size[axis] = pass.Size[axis];
      input.Stride[axis] = stride;
      stride *= pass.Size[axis];
    }
    CudaImageView output = input;
    input.Data = pixels.data();
    output.Data = result.data();
    RunGaussianPlanOnDevice(pass.Plan, input, output, device, nullptr);
    pixels = result;
  }
  return pixels;
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
    const size_t                     inUse = CudaFiltersConfiguration::GetDeviceBytesInUse();

    const StreamLease owner(device);
    float *           arrays[3] = {}; // what is written later, input, output
    for (float *& array : arrays)
    {
      ITK_CUDA_CALL(cudaMalloc(reinterpret_cast<void **>(&array), bytes));
      ITK_CUDA_CALL(cudaMemset(array, 0xff, bytes));
    }
    ITK_CUDA_CALL(cudaMemcpy(arrays[0], pixels.data(), bytes, cudaMemcpyHostToDevice));
    CudaQueueOnStream(passes, this->GetMemory(arrays[0], owner), arrays[2]); // CUDA allocates, which may wait
    ITK_CUDA_CALL(cudaMemset(arrays[2], 0xff, bytes));
    {
      HeldStream held(owner);
      ITK_CUDA_CALL(cudaMemcpyAsync(arrays[1], arrays[0], bytes, cudaMemcpyDeviceToDevice, owner.GetStream()));
      CudaQueueOnStream(passes, this->GetMemory(arrays[1], owner), arrays[2]);
      ITK_CUDA_CALL(cudaMemsetAsync(arrays[1], 0xff, bytes, owner.GetStream()));
      held.LetGo();
    }
    std::vector<float> found(pixels.size());
    ITK_CUDA_CALL(cudaMemcpy(found.data(), arrays[2], bytes, cudaMemcpyDeviceToHost));
    EXPECT_EQ(std::memcmp(found.data(), expected.data(), bytes), 0)
      << count << " passes, " << shape[0] << " x " << shape[1] << " x " << shape[2];
    EXPECT_EQ(CudaFiltersConfiguration::GetDeviceBytesInUse(), inUse);
    for (float * const array : arrays)
    {
      ITK_CUDA_CALL(cudaFree(array));
    }
  }

  static CudaArrayMemory
  GetMemory(float * data, const Context & owner)
  {
    return { data,
             CudaComponentType::Float,
             device,
             reinterpret_cast<itk::CudaDeviceImageMemory::StreamType>(owner.GetStream()) };
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

TEST_F(CudaArrayPassesGpu, Without_pixels_or_passes_nothing_is_done)
{
  const StreamLease owner(device);
  EXPECT_NO_THROW(CudaQueueOnStream(MakePasses({ { 4, 0, 5 } }, 3), this->GetMemory(nullptr, owner), nullptr));
  EXPECT_NO_THROW(CudaQueueOnStream({}, this->GetMemory(nullptr, owner), nullptr));
}

TEST_F(CudaArrayPassesGpu, Stream_that_is_recorded_for_a_graph_is_refused)
{
  const StreamLease owner(device);
  ITK_CUDA_CALL(cudaStreamBeginCapture(owner.GetStream(), cudaStreamCaptureModeRelaxed));
  EXPECT_THROW(CudaQueueOnStream({}, this->GetMemory(nullptr, owner), nullptr), CudaError);
  cudaGraph_t graph = nullptr;
  ITK_CUDA_CALL(cudaStreamEndCapture(owner.GetStream(), &graph));
  ITK_CUDA_CALL(cudaGraphDestroy(graph));
}
