// SPDX-License-Identifier: Apache-2.0
#include "two_way_paper_times.h"

#include "runtime/device/Call.h"
#include "runtime/device/Device.h"
#include "runtime/device/Stream.h"
#include "itkCudaFiltersConfiguration.h"
#include "young_van_vliet/Passes.h"
#include "runtime/memory/DeviceMemory.h"
#include "runtime/memory/DeviceImage.h"

#include <algorithm>
#include <random>

namespace benchmark_two_way
{
namespace
{
using namespace itk::cuda;

constexpr int Samples = 20;
constexpr int RunsPerSample = 4;

class EventPair
{
public:
  EventPair()
  {
    ITK_CUDA_CALL(cudaEventCreate(&m_Begin));
    ITK_CUDA_CALL(cudaEventCreate(&m_End));
  }
  ~EventPair()
  {
    ITK_CUDA_CALL_NOTHROW(cudaEventDestroy(m_Begin));
    ITK_CUDA_CALL_NOTHROW(cudaEventDestroy(m_End));
  }
  EventPair(const EventPair &) = delete;
  EventPair &
  operator=(const EventPair &) = delete;

  /** Returns the milliseconds of one run, as the median of the samples after a warm-up. */
  double
  GetMedian(const StreamLease & stream, const std::function<void()> & run) const
  {
    for (int i = 0; i < 2 * RunsPerSample; ++i)
    {
      run();
    }
    std::vector<float> samples(Samples);
    for (float & milliseconds : samples)
    {
      ITK_CUDA_CALL(cudaEventRecord(m_Begin, stream.GetStream()));
      for (int i = 0; i < RunsPerSample; ++i)
      {
        run();
      }
      ITK_CUDA_CALL(cudaEventRecord(m_End, stream.GetStream()));
      ITK_CUDA_CALL(cudaEventSynchronize(m_End));
      ITK_CUDA_CALL(cudaEventElapsedTime(&milliseconds, m_Begin, m_End));
    }
    std::nth_element(samples.begin(), samples.begin() + Samples / 2, samples.end());
    return samples[Samples / 2] / RunsPerSample;
  }

private:
  cudaEvent_t m_Begin{ nullptr };
  cudaEvent_t m_End{ nullptr };
};

void
FillRandom(const DeviceView & view, StreamLease & stream)
{
  const size_t                          count = view.Stride[1] * view.Size[1];
  std::vector<float>                    values(std::min<size_t>(count, size_t{ 1 } << 22));
  std::mt19937                          generator(1);
  std::uniform_real_distribution<float> uniform(0.0f, 255.0f);
  std::generate(values.begin(), values.end(), [&] { return uniform(generator); });
  for (size_t begin = 0; begin < count; begin += values.size())
  {
    ITK_CUDA_CALL(cudaMemcpyAsync(static_cast<float *>(view.Data) + begin,
                                  values.data(),
                                  std::min(values.size(), count - begin) * sizeof(float),
                                  cudaMemcpyHostToDevice,
                                  stream.GetStream()));
  }
  stream.Synchronize();
}

/** Filters back and forth between two images. The pixels change with each run, but not the amount of work. */
class Runner
{
public:
  Runner(size_t side, StreamLease & stream)
    : m_Stream(stream)
    , m_First({ { side, side, 1, 1, 1 } }, itk::CudaComponentType::Float, stream)
    , m_Second({ { side, side, 1, 1, 1 } }, itk::CudaComponentType::Float, stream)
  {
    FillRandom(m_First.GetView(), stream);
  }

  double
  Measure(const itk::CudaDetail::CudaPartitionedGaussianPlan & plan) const
  {
    size_t bytes = 0;
    for (const itk::CudaDetail::CudaPartitionedGaussianPass & pass : plan.Passes)
    {
      const DeviceView & view = m_First.GetView();
      bytes = std::max(bytes, young_van_vliet::GetPassWorkspace(plan, pass, view.Size, view.ComponentType));
    }
    const itk::cuda::DeviceBuffer memory(bytes, m_Stream);
    const itk::cuda::Workspace    workspace(memory.GetPointer(), memory.GetSize());
    return m_Events.GetMedian(m_Stream, [&] {
      young_van_vliet::RunPass(plan, plan.Passes[0], m_First.GetView(), m_Second.GetView(), workspace, m_Stream);
      young_van_vliet::RunPass(plan, plan.Passes[1], m_Second.GetView(), m_First.GetView(), workspace, m_Stream);
    });
  }

private:
  StreamLease & m_Stream;
  DeviceImage   m_First;
  DeviceImage   m_Second;
  EventPair     m_Events;
};
} // namespace

std::string
MeasureOnDevice(const std::vector<size_t> & sides, std::string & reason, const Report & report)
{
  using Partition = itk::CudaFiltersEnums::Partition;
  using Storage = itk::CudaFiltersEnums::IntermediateStorage;
  const int device = itk::CudaFiltersConfiguration::GetDeviceIndex();
  if (!itk::CudaFiltersConfiguration::IsDeviceUsable(device, reason))
  {
    return {};
  }
  const DeviceGuard guard(device);
  StreamLease       stream(device);
  for (const size_t side : sides)
  {
    const Runner runner(side, stream);
    const auto   measure = [&](const itk::CudaDetail::CudaPartitionedGaussianPlan & plan) {
      report({ side, plan, runner.Measure(plan) });
    };
    for (const unsigned int lines : { 4, 8, 16, 32, 64 })
    {
      for (const Storage storage : { Storage::Local, Storage::Global })
      {
        for (const Partition partition : { Partition::OneWay, Partition::TwoWay, Partition::Exact })
        {
          measure(MakePlan(side, partition, storage, lines, 0));
        }
      }
    }
    for (size_t blocks = 2; blocks <= itk::CudaDetail::CudaMaximumNumberOfSections(side); blocks *= 2)
    {
      measure(MakePlan(side, Partition::Exact, Storage::Local, 16, blocks));
    }
  }
  return GetDeviceProperties(device).Name;
}
} // namespace benchmark_two_way
