// SPDX-License-Identifier: Apache-2.0

// Device-resident smoothing: kernels only, the plan and the memory stand. The figure is copy_fraction, the time of as
// many device-to-device copies of one image as the image has dimensions, over the time of all launches of one
// filtering; both are medians of 20 samples of 4 runs each, taken with events in this process, over buffers that rotate
// through at least 512 MB.

#include "itkCudaCall.h"
#include "itkCudaDevice.h"
#include "itkCudaFiltersConfiguration.h"
#include "itkCudaGaussianDevice.h"
#include "itkCudaGaussianFilterRun.h"

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

constexpr int    Samples = 20;
constexpr int    RunsPerSample = 4;
constexpr size_t RotatingBytes = size_t{ 512 } << 20;
constexpr int    Device = 0;

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

/** Sets of images for a plan, so many that its runs rotate through RotatingBytes. */
class ImageSets
{
public:
  ImageSets(const DeviceImage::SizeType & size, unsigned int numberOfImages, StreamLease & stream)
    : m_Bytes(DeviceImage::GetNumberOfBytes(size, CudaComponentType::Float))
    , m_Sets(std::max<size_t>(1, (RotatingBytes + 2 * m_Bytes - 1) / (2 * m_Bytes)))
  {
    for (auto & set : m_Sets)
    {
      for (unsigned int i = 0; i < numberOfImages; ++i)
      {
        set.Images.emplace_back(size, CudaComponentType::Float, stream);
        set.Views.push_back(set.Images.back().GetView());
      }
      FillRandom(set.Views.front(), stream);
    }
  }

  const std::vector<DeviceView> &
  GetViews(int run) const
  {
    return m_Sets[run % m_Sets.size()].Views;
  }

  /** Median time of copying one image. */
  double
  GetCopyTime(Timer & timer, const StreamLease & stream) const
  {
    return timer.GetMedian(stream, [&](int run) {
      const auto & views = this->GetViews(run);
      ITK_CUDA_CALL(cudaMemcpyAsync(views[1].Data, views[0].Data, m_Bytes, cudaMemcpyDeviceToDevice, stream.Get()));
    });
  }

private:
  struct Set
  {
    std::vector<DeviceImage> Images;
    std::vector<DeviceView>  Views;
  };

  size_t           m_Bytes;
  std::vector<Set> m_Sets;
};

bool
IsDeviceMissing(benchmark::State & state)
{
  std::string reason;
  const bool  missing = !CudaFiltersConfiguration::IsDeviceUsable(Device, reason);
  if (missing)
  {
    state.SkipWithError(reason.c_str());
  }
  return missing;
}

CudaGaussianParameters
MakeParameters(unsigned int dimension, double sigma)
{
  CudaGaussianParameters parameters;
  parameters.Sigma.assign(dimension, sigma);
  parameters.Spacing.assign(dimension, 1.0);
  parameters.KeepInput = true;
  return parameters;
}

/** Arguments: size along x, y, z; sigma in hundredths of a pixel. */
void
BM_Resident(benchmark::State & state)
{
  if (IsDeviceMissing(state))
  {
    return;
  }
  const auto                  extent = [&state](int i) { return static_cast<size_t>(state.range(i)); };
  const DeviceImage::SizeType size{ { extent(0), extent(1), extent(2), 1, 1 } };
  const double                sigma = 0.01 * static_cast<double>(state.range(3));
  const unsigned int          dimension = size[2] > 1 ? 3 : 2;
  const CudaGaussianPlan      plan = MakeGaussianPlan(MakeParameters(dimension, sigma),
                                                 { { std::vector<unsigned int>(dimension, 0), 1.0 } },
                                                 CudaGaussianOutput::Components);

  const DeviceGuard guard(Device);
  StreamLease       stream(Device);
  Timer             timer;
  const ImageSets   images(size, plan.NumberOfImages, stream);
  const double      copy = images.GetCopyTime(timer, stream);
  for (auto _ : state)
  {
    const double all = timer.GetMedian(stream, [&](int run) { gaussian::RunPlan(plan, images.GetViews(run), stream); });
    state.SetIterationTime(all);
    state.counters["copy_fraction"] = dimension * copy / all;
    state.counters["copy_ms"] = copy * 1e3;
  }
  for (const CudaGaussianLinePass & pass : plan.Passes)
  {
    const CudaGaussianPlan single = MakeGaussianLinePlan(pass.Axis, pass.Results.front().Kernel);
    const double           seconds =
      timer.GetMedian(stream, [&](int run) { gaussian::RunPlan(single, images.GetViews(run), stream); });
    state.counters[std::string("copy_fraction_") + "xyz"[pass.Axis]] = copy / seconds;
  }
}

std::vector<CudaGaussianTerm>
MakeSecondDerivativeTerms(const CudaGaussianParameters & parameters, bool mixed)
{
  const unsigned int            dimension = static_cast<unsigned int>(parameters.Sigma.size());
  std::vector<CudaGaussianTerm> terms;
  for (unsigned int a = 0; a < dimension; ++a)
  {
    for (unsigned int b = a; b < (mixed ? dimension : a + 1); ++b)
    {
      terms.push_back(MakeCudaDerivativeTerm(parameters, a, b));
    }
  }
  return terms;
}

/** Arguments: side; sigma in hundredths of a pixel. Three dimensions. */
void
BM_Family(benchmark::State & state, const std::string & filter)
{
  if (IsDeviceMissing(state))
  {
    return;
  }
  const size_t           side = static_cast<size_t>(state.range(0));
  const auto             parameters = MakeParameters(3, 0.01 * static_cast<double>(state.range(1)));
  const CudaGaussianPlan plan =
    filter == "gradient"
      ? MakeGaussianPlan(parameters, MakeCudaGradientTerms(parameters), CudaGaussianOutput::Components)
    : filter == "magnitude" ? MakeGaussianPlan(parameters, MakeCudaGradientTerms(parameters), CudaGaussianOutput::Norm)
    : filter == "laplacian"
      ? MakeGaussianPlan(parameters, MakeSecondDerivativeTerms(parameters, false), CudaGaussianOutput::Sum)
      : MakeGaussianPlan(parameters, MakeSecondDerivativeTerms(parameters, true), CudaGaussianOutput::Components);

  const DeviceGuard guard(Device);
  StreamLease       stream(Device);
  Timer             timer;
  const ImageSets   images({ { side, side, side, 1, 1 } }, plan.NumberOfImages, stream);
  const double      copy = images.GetCopyTime(timer, stream);
  for (auto _ : state)
  {
    const double all = timer.GetMedian(stream, [&](int run) { gaussian::RunPlan(plan, images.GetViews(run), stream); });
    state.SetIterationTime(all);
    state.counters["copies"] = all / copy;
    state.counters["images"] = plan.NumberOfImages;
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

void
DefineFamily(benchmark::internal::Benchmark * rows)
{
  rows->ArgNames({ "side", "sigma_percent" })->UseManualTime()->Iterations(1)->Unit(benchmark::kMillisecond);
  rows->Args({ 256, 400 })->Args({ 512, 400 });
}

BENCHMARK_CAPTURE(BM_Family, gradient, "gradient")->Name("resident/gradient")->Apply(DefineFamily);
BENCHMARK_CAPTURE(BM_Family, magnitude, "magnitude")->Name("resident/magnitude")->Apply(DefineFamily);
BENCHMARK_CAPTURE(BM_Family, laplacian, "laplacian")->Name("resident/laplacian")->Apply(DefineFamily);
BENCHMARK_CAPTURE(BM_Family, hessian, "hessian")->Name("resident/hessian")->Apply(DefineFamily);
} // namespace
