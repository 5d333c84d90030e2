// SPDX-License-Identifier: Apache-2.0

// Device-resident smoothing: kernels only, the plan and the memory stand. The figure is copy_fraction, the time of as
// many device-to-device copies of one image as the image has dimensions, over the time of all launches of one
// filtering; both are medians of 20 samples of 4 runs each, taken with events in this process, over buffers that rotate
// through at least 512 MB.

#include "itkCudaCall.h"
#include "itkCudaDevice.h"
#include "itkCudaFiltersConfiguration.h"
#include "itkCudaGaussianDevice.h"

#include <benchmark/benchmark.h>

#include <algorithm>
#include <functional>
#include <random>
#include <string>
#include <vector>

namespace
{
using namespace itk;
using namespace itk::cuda;

constexpr int          Samples = 20;
constexpr int          RunsPerSample = 4;
constexpr size_t       RotatingBytes = size_t{ 512 } << 20;
constexpr unsigned int Device = 0;

class Timer
{
public:
  Timer()
  {
    ITK_CUDA_CALL(cudaEventCreate(&m_Begin));
    ITK_CUDA_CALL(cudaEventCreate(&m_End));
  }
  ~Timer()
  {
    ITK_CUDA_CALL_NOTHROW(cudaEventDestroy(m_Begin));
    ITK_CUDA_CALL_NOTHROW(cudaEventDestroy(m_End));
  }
  Timer(const Timer &) = delete;
  Timer &
  operator=(const Timer &) = delete;

  /** Median of seconds of one run; `run` gets the number of the run. */
  double
  GetMedian(const StreamLease & stream, const std::function<void(int)> & run)
  {
    int number = 0;
    for (; number < 2 * RunsPerSample; ++number)
    {
      run(number);
    }
    std::vector<float> samples(Samples);
    for (float & milliseconds : samples)
    {
      ITK_CUDA_CALL(cudaEventRecord(m_Begin, stream.Get()));
      for (int i = 0; i < RunsPerSample; ++i)
      {
        run(number++);
      }
      ITK_CUDA_CALL(cudaEventRecord(m_End, stream.Get()));
      ITK_CUDA_CALL(cudaEventSynchronize(m_End));
      ITK_CUDA_CALL(cudaEventElapsedTime(&milliseconds, m_Begin, m_End));
    }
    std::nth_element(samples.begin(), samples.begin() + Samples / 2, samples.end());
    return samples[Samples / 2] * 1e-3 / RunsPerSample;
  }

private:
  cudaEvent_t m_Begin{ nullptr };
  cudaEvent_t m_End{ nullptr };
};

void
FillRandom(const DeviceView & view, StreamLease & stream)
{
  // A random block, repeated: filling gigabytes on the host would take longer than the measurement.
  const size_t                          bytes = view.Stride[1] * view.Size[1] * view.Size[2] * sizeof(float);
  std::vector<float>                    block(std::min<size_t>(bytes, size_t{ 16 } << 20) / sizeof(float));
  std::mt19937                          generator(1);
  std::uniform_real_distribution<float> uniform(0.0f, 1.0f);
  std::generate(block.begin(), block.end(), [&] { return uniform(generator); });
  for (size_t begin = 0; begin < bytes; begin += block.size() * sizeof(float))
  {
    ITK_CUDA_CALL(cudaMemcpyAsync(static_cast<unsigned char *>(view.Data) + begin,
                                  block.data(),
                                  std::min(block.size() * sizeof(float), bytes - begin),
                                  cudaMemcpyHostToDevice,
                                  stream.Get()));
  }
  stream.Synchronize();
}

/** Arguments: size along x, y, z; sigma in hundredths of a pixel. */
void
BM_Resident(benchmark::State & state)
{
  std::string reason;
  if (!CudaFiltersConfiguration::IsDeviceUsable(Device, reason))
  {
    state.SkipWithError(reason.c_str());
    return;
  }
  const auto                  extent = [&state](int i) { return static_cast<size_t>(state.range(i)); };
  const DeviceImage::SizeType size{ { extent(0), extent(1), extent(2), 1, 1 } };
  const double                sigma = 0.01 * static_cast<double>(state.range(3));

  const DeviceGuard guard(Device);
  StreamLease       stream(Device);
  const size_t      bytes = DeviceImage::GetNumberOfBytes(size, CudaComponentType::Float);
  const size_t      sets = std::max<size_t>(1, (RotatingBytes + 2 * bytes - 1) / (2 * bytes));

  std::vector<DeviceImage> inputs, outputs;
  for (size_t i = 0; i < sets; ++i)
  {
    inputs.emplace_back(size, CudaComponentType::Float, stream);
    outputs.emplace_back(size, CudaComponentType::Float, stream);
    FillRandom(inputs.back().GetView(), stream);
  }
  const unsigned int           dimension = size[2] > 1 ? 3 : 2;
  const CudaGaussianParameters parameters{ std::vector<double>(dimension, sigma),
                                           std::vector<double>(dimension, 1.0),
                                           false };
  const CudaGaussianPlan       plan =
    MakeGaussianPlan(parameters, { { std::vector<unsigned int>(dimension, 0), 1.0 } }, CudaGaussianOutput::Components);

  Timer      timer;
  const auto filterOnce = [&](const CudaGaussianPlan & which, int i) {
    gaussian::RunPlan(which, { inputs[i % sets].GetView(), outputs[i % sets].GetView() }, stream);
  };
  const double copy = timer.GetMedian(stream, [&](int i) {
    ITK_CUDA_CALL(cudaMemcpyAsync(outputs[i % sets].GetView().Data,
                                  inputs[i % sets].GetView().Data,
                                  bytes,
                                  cudaMemcpyDeviceToDevice,
                                  stream.Get()));
  });
  for (auto _ : state)
  {
    const double all = timer.GetMedian(stream, [&](int i) { filterOnce(plan, i); });
    state.SetIterationTime(all);
    state.counters["copy_fraction"] = dimension * copy / all;
    state.counters["copy_ms"] = copy * 1e3;
  }
  for (unsigned int axis = 0; axis < dimension; ++axis)
  {
    const CudaGaussianPlan pass = MakeGaussianLinePlan(axis, plan.Passes[axis].Results.front().Kernel);
    const double           seconds = timer.GetMedian(stream, [&](int i) { filterOnce(pass, i); });
    state.counters[std::string("copy_fraction_") + "xyz"[axis]] = copy / seconds;
  }
}

void
DefineSizes(benchmark::internal::Benchmark * rows)
{
  const std::vector<std::vector<int64_t>> sizes{ { 2048, 2048, 1 },   { 4096, 4096, 1 }, { 8192, 8192, 1 },
                                                 { 16384, 16384, 1 }, { 8191, 8193, 1 }, { 256, 256, 256 },
                                                 { 512, 512, 512 },   { 511, 513, 509 }, { 1024, 1024, 1024 } };
  for (const auto & size : sizes)
  {
    for (const int64_t sigma : { 100, 400, 2000, 6400, 25000 })
    {
      rows->Args({ size[0], size[1], size[2], sigma });
    }
  }
}

BENCHMARK(BM_Resident)
  ->Name("resident")
  ->ArgNames({ "x", "y", "z", "sigma_percent" })
  ->Apply(DefineSizes)
  ->UseManualTime()
  ->Iterations(1)
  ->Unit(benchmark::kMillisecond);
} // namespace
