// SPDX-License-Identifier: Apache-2.0
#include "two_way_paper_times.h"

#include "itkCudaDetailPartitionedGaussianEngine.h"
#include "itkMultiThreaderBase.h"

#include <algorithm>
#include <chrono>
#include <random>
#include <thread>

namespace benchmark_two_way
{
itk::CudaDetail::CudaPartitionedGaussianPlan
MakePlan(size_t                                     side,
         itk::CudaFiltersEnums::Partition           partition,
         itk::CudaFiltersEnums::IntermediateStorage storage,
         unsigned int                               linesPerBlock,
         size_t                                     blocks)
{
  constexpr double                             sigma = 15.0; // the paper's window of 30
  itk::CudaDetail::CudaPartitionedGaussianPlan plan;
  plan.LinePartition = partition;
  plan.IntermediateStorage = storage;
  plan.LinesPerBlock = linesPerBlock;
  const size_t number = blocks == 0 ? itk::CudaDetail::CudaAutomaticNumberOfSections(side) : blocks;
  for (const unsigned int axis : { 0, 1 })
  {
    plan.Passes.push_back({ axis, sigma, itk::CudaDetail::CudaCentralPixelRadius(2.0 * sigma), number });
  }
  return plan;
}

std::string
MeasureOnHost(const std::vector<size_t> & sides, const Report & report)
{
  using Partition = itk::CudaFiltersEnums::Partition;
  using Storage = itk::CudaFiltersEnums::IntermediateStorage;
  constexpr int samples = 5;
  const auto    threader = itk::MultiThreaderBase::New();
  std::mt19937  generator(1);
  for (const size_t side : sides)
  {
    std::uniform_real_distribution<float> uniform(0.0f, 255.0f);
    std::vector<float>                    input(side * side);
    std::vector<float>                    output(side * side);
    std::generate(input.begin(), input.end(), [&] { return uniform(generator); });
    itk::CudaDetail::CudaImageView view;
    view.Size = { { side, side, 1, 1 } };
    view.Stride = { { 1, side, side * side, side * side } };
    itk::CudaDetail::CudaImageView to = view;
    view.Data = input.data();
    to.Data = output.data();
    for (const Partition partition : { Partition::OneWay, Partition::TwoWay, Partition::Exact })
    {
      const itk::CudaDetail::CudaPartitionedGaussianPlan plan = MakePlan(side, partition, Storage::Global, 16, 0);
      std::vector<double>                                times(samples);
      for (double & time : times)
      {
        const auto begin = std::chrono::steady_clock::now();
        itk::CudaDetail::CudaRunOnHost(plan, view, to, threader, {});
        time = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
      }
      std::nth_element(times.begin(), times.begin() + samples / 2, times.end());
      report({ side, plan, times[samples / 2] });
    }
  }
  return "host, " + std::to_string(threader->GetMaximumNumberOfThreads()) + " threads";
}
} // namespace benchmark_two_way
