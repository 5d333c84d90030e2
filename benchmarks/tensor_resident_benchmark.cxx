// SPDX-License-Identifier: Apache-2.0

// Benchmarks eigenvalues, Hessian measures, measures over several scales, structure tensors and statistics on
// device-resident images; and measures over several scales from host memory to host memory, by this module and by ITK.
//
// copy_fraction is the time of a device-to-device copy of the bytes that must be read and written, divided by the time
// of the kernel. copies is the time divided by the time to copy one image. images is the device memory in units of one
// image, including input and output. Times are measured as described in resident_benchmark.h.

#include "host_to_host_benchmark.h"
#include "itkCudaDetailStatisticsEngine.h"
#include "gaussian/device/LinePasses.h"
#include "gaussian/Engine.h"
#include "itkCudaHessianToObjectnessMeasureImageFilter.h"
#include "itkCudaImageStatistics.h"
#include "itkCudaMultiScaleHessianBasedMeasureImageFilter.h"
#include "itkCudaStructureTensorImageFilter.h"
#include "pointwise/TensorDevice.h"
#include "itkCudaUploadImageFilter.h"
#include "itkCudaVesselnessImageFilter.h"
#include "multiscale/MultiScaleDevice.h"
#include "resident_benchmark.h"

#include <chrono>
#include <cmath>
#include <string>

namespace
{
using namespace benchmark_filters;

using DeviceVolume = itk::CudaDeviceImage<float, 3>;
using HostVolume = itk::Image<float, 3>;
using HostHessians = itk::Image<itk::SymmetricSecondRankTensor<float, 3>, 3>;

DeviceView::SizeType
GetSize(const benchmark::State & state, size_t planes)
{
  const auto side = static_cast<size_t>(state.range(0));
  return { { side, side, side, 1, planes } };
}

double
GetCopyTime(const benchmark::State & state, Timer & timer, StreamLease & stream)
{
  return ImageSets(GetSize(state, 1), 2, stream).GetCopyTime(timer, stream);
}

/** Returns Hessians of random numbers at sigma 1, whose eigenvalues have both signs and all ratios. */
DeviceImage
MakeTensors(const benchmark::State & state, StreamLease & stream)
{
  DeviceImage            tensors(GetSize(state, 6), CudaComponentType::Float, stream);
  const DeviceImage      numbers(GetSize(state, 1), CudaComponentType::Float, stream);
  CudaGaussianParameters parameters;
  parameters.Sigma.assign(3, 1.0);
  parameters.Spacing.assign(3, 1.0);
  const CudaGaussianPlan   plan = MakeHessianPlan(parameters);
  const size_t             bytes = gaussian::GetGaussianWorkspace(plan, numbers.GetView(), tensors.GetView(), Device);
  const cuda::DeviceBuffer workspace(bytes, stream);
  FillRandom(numbers.GetView(), stream);
  gaussian::RunGaussian(plan, numbers.GetView(), tensors.GetView(), { workspace.GetPointer(), bytes }, stream);
  stream.Synchronize();
  return tensors;
}

/** Argument: side. The kernel reads six planes and writes `results` planes. */
void
BM_Tensors(benchmark::State &                                                                       state,
           size_t                                                                                   results,
           const std::function<void(const DeviceView &, const DeviceView &, const StreamLease &)> & run)
{
  if (IsDeviceMissing(state, Device))
  {
    return;
  }
  const DeviceGuard guard(Device);
  StreamLease       stream(Device);
  Timer             timer;
  const double      copy = GetCopyTime(state, timer, stream);
  const DeviceImage tensors = MakeTensors(state, stream);
  const DeviceImage output(GetSize(state, results), CudaComponentType::Float, stream);
  for (auto _ : state)
  {
    const double seconds = timer.GetMedian(stream, [&](int) { run(tensors.GetView(), output.GetView(), stream); });
    state.SetIterationTime(seconds);
    state.counters["copy_fraction"] = 0.5 * static_cast<double>(6 + results) * copy / seconds;
  }
}

CudaMultiScalePlan
MakeScalePlan(unsigned int scales)
{
  CudaMultiScalePlan plan;
  plan.Measure = MakeObjectnessMeasure(3, 0.5, 0.5, 5.0, 1, true, true);
  for (unsigned int i = 0; i < scales; ++i)
  {
    plan.Sigmas.push_back(std::pow(4.0, static_cast<double>(i) / std::max(1u, scales - 1)));
  }
  plan.Spacing.assign(3, 1.0);
  return plan;
}

/** Arguments: side; number of scales from 1 to 4 pixels. Response only. */
void
BM_ResidentScales(benchmark::State & state)
{
  if (IsDeviceMissing(state, Device))
  {
    return;
  }
  const DeviceGuard            guard(Device);
  StreamLease                  stream(Device);
  Timer                        timer;
  const double                 copy = GetCopyTime(state, timer, stream);
  const CudaMultiScalePlan     plan = MakeScalePlan(static_cast<unsigned int>(state.range(1)));
  const DeviceImage            input(GetSize(state, 1), CudaComponentType::Float, stream);
  const DeviceImage            output(GetSize(state, 1), CudaComponentType::Float, stream);
  const cuda::multiscale::Slab slab = cuda::multiscale::MakeWholeSlab(plan, input.GetView());
  const size_t bytes = cuda::multiscale::GetMultiScaleWorkspace(plan, input.GetView(), slab, nullptr, Device);
  const cuda::DeviceBuffer         workspace(bytes, stream);
  const cuda::pointwise::BestScale best{ output.GetView() };
  FillRandom(input.GetView(), stream);
  for (auto _ : state)
  {
    const double seconds = timer.GetMedian(stream, [&](int) {
      cuda::multiscale::RunMultiScale(
        plan, input.GetView(), slab, nullptr, best, { workspace.GetPointer(), bytes }, stream, nullptr);
    });
    state.SetIterationTime(seconds);
    state.counters["copies"] = seconds / copy;
    state.counters["images"] =
      2.0 + static_cast<double>(bytes) / static_cast<double>(GetNumberOfBytes(input.GetView()));
  }
}

/** Arguments: side; number of scales. */
void
BM_HostScales(benchmark::State & state)
{
  if (IsDeviceMissing(state))
  {
    return;
  }
  const auto filter = itk::CudaMultiScaleHessianBasedMeasureImageFilter<HostVolume, HostHessians>::New();
  filter->SetInput(GetRandomImage<3>(static_cast<itk::SizeValueType>(state.range(0))));
  filter->SetHessianToMeasureFilter(itk::CudaHessianToObjectnessMeasureImageFilter<HostHessians, HostVolume>::New());
  filter->SetSigmaMinimum(1.0);
  filter->SetSigmaMaximum(4.0);
  filter->SetNumberOfSigmaSteps(static_cast<unsigned int>(state.range(1)));
  filter->SetBackend(itk::CudaFiltersEnums::Backend::Cuda);
  filter->Update(); // starts CUDA, and fills pools
  for (auto _ : state)
  {
    filter->GetOutput()->ReleaseData();
    filter->Modified();
    filter->Update();
  }
}

/** Arguments: side; number of scales. Frangi's measure, whose c follows from each scale. */
void
BM_HostFrangi(benchmark::State & state)
{
  if (IsDeviceMissing(state))
  {
    return;
  }
  const auto filter = itk::CudaVesselnessImageFilter<HostVolume, HostVolume>::New();
  filter->SetInput(GetRandomImage<3>(static_cast<itk::SizeValueType>(state.range(0))));
  filter->SetHessianMeasure("Frangi");
  filter->SetSigmas(MakeScalePlan(static_cast<unsigned int>(state.range(1))).Sigmas);
  filter->SetBackend(itk::CudaFiltersEnums::Backend::Cuda);
  filter->Update();
  for (auto _ : state)
  {
    filter->GetOutput()->ReleaseData();
    filter->Modified();
    filter->Update();
  }
}

/** Arguments: side; number of scales. ITK's own filters, on all cores. */
void
BM_ItkScales(benchmark::State & state)
{
  const auto filter = itk::MultiScaleHessianBasedMeasureImageFilter<HostVolume, HostHessians>::New();
  filter->SetInput(GetRandomImage<3>(static_cast<itk::SizeValueType>(state.range(0))));
  filter->SetHessianToMeasureFilter(itk::HessianToObjectnessMeasureImageFilter<HostHessians, HostVolume>::New());
  filter->SetSigmaMinimum(1.0);
  filter->SetSigmaMaximum(4.0);
  filter->SetNumberOfSigmaSteps(static_cast<unsigned int>(state.range(1)));
  for (auto _ : state)
  {
    filter->Modified();
    filter->Update();
  }
}

/** Argument: side. Through the filter, whose calls are queued on the thread's stream. */
void
BM_StructureTensor(benchmark::State & state)
{
  if (IsDeviceMissing(state))
  {
    return;
  }
  const auto input = itk::CudaUpload(GetRandomImage<3>(static_cast<itk::SizeValueType>(state.range(0))).GetPointer());
  const auto filter = itk::CudaStructureTensorImageFilter<DeviceVolume>::New();
  filter->SetInput(input);
  const auto update = [&filter] {
    filter->GetOutput()->ReleaseData();
    filter->Modified();
    filter->Update();
  };
  update();
  filter->GetOutput()->Synchronize();
  constexpr int runs = 20;
  for (auto _ : state)
  {
    const auto begin = std::chrono::steady_clock::now();
    for (int run = 0; run < runs; ++run)
    {
      update();
    }
    filter->GetOutput()->Synchronize();
    state.SetIterationTime(std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count() / runs);
  }
}

/** Arguments: side; bins. One pass over the image, and the wait for the result. */
void
BM_Statistics(benchmark::State & state)
{
  if (IsDeviceMissing(state))
  {
    return;
  }
  const auto input = itk::CudaUpload(GetRandomImage<3>(static_cast<itk::SizeValueType>(state.range(0))).GetPointer());
  const itk::CudaHistogramBins bins{ static_cast<size_t>(state.range(1)), 0.0, 1.0 };
  itk::CudaComputeStatistics(input.GetPointer(), bins);
  for (auto _ : state)
  {
    benchmark::DoNotOptimize(itk::CudaComputeStatistics(input.GetPointer(), bins));
  }
}

[[maybe_unused]] const bool Registered = [] {
  const auto define = [](auto * rows) {
    rows->ArgName("side")->UseManualTime()->Iterations(1)->Unit(benchmark::kMillisecond)->Arg(256)->Arg(512);
  };
  const auto runMeasure = [](const CudaHessianMeasure & measure) {
    return [measure](const DeviceView & tensors, const DeviceView & output, const StreamLease & stream) {
      pointwise::RunPlan(measure, tensors, output, stream);
    };
  };
  const auto eigenvalues = [plan = MakeEigenPlan(3, CudaEigenValueOrder::ByMagnitude)](
                             const DeviceView & tensors, const DeviceView & output, const StreamLease & stream) {
    pointwise::RunPlan(plan, tensors, output, stream);
  };
  define(benchmark::RegisterBenchmark("resident/eigenvalues", BM_Tensors, 3, eigenvalues));
  define(benchmark::RegisterBenchmark(
    "resident/objectness", BM_Tensors, 1, runMeasure(MakeObjectnessMeasure(3, 0.5, 0.5, 5.0, 1, true, true))));
  define(
    benchmark::RegisterBenchmark("resident/sato", BM_Tensors, 1, runMeasure(MakeSatoMeasure(3, 0.25, 1.0, 1.0, true))));
  define(benchmark::RegisterBenchmark("resident/jerman", BM_Tensors, 1, runMeasure(MakeJermanMeasure(3, 0.5, true))));
  define(benchmark::RegisterBenchmark("resident/meijering", BM_Tensors, 1, runMeasure(MakeMeijeringMeasure(3, true))));
  define(benchmark::RegisterBenchmark("resident/structure_tensor", BM_StructureTensor));
  benchmark::RegisterBenchmark("resident/scales", BM_ResidentScales)
    ->ArgNames({ "side", "scales" })
    ->UseManualTime()
    ->Iterations(1)
    ->Unit(benchmark::kMillisecond)
    ->ArgsProduct({ { 128, 256, 512 }, { 1, 5 } });
  benchmark::RegisterBenchmark("host_to_host/scales", BM_HostScales)
    ->ArgNames({ "side", "scales" })
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond)
    ->ArgsProduct({ { 128, 256, 512 }, { 5 } });
  benchmark::RegisterBenchmark("host_to_host/frangi", BM_HostFrangi)
    ->ArgNames({ "side", "scales" })
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond)
    ->ArgsProduct({ { 256, 512 }, { 5 } });
  benchmark::RegisterBenchmark("itk/scales", BM_ItkScales)
    ->ArgNames({ "side", "scales" })
    ->UseRealTime()
    ->Iterations(1)
    ->Unit(benchmark::kMillisecond)
    ->ArgsProduct({ { 256 }, { 5 } });
  benchmark::RegisterBenchmark("resident/statistics", BM_Statistics)
    ->ArgNames({ "side", "bins" })
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond)
    ->ArgsProduct({ { 512 }, { 0, 256 } });
  return true;
}();
} // namespace
