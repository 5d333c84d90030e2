// SPDX-License-Identifier: Apache-2.0

// Benchmarks chains of filters whose images stay on the device, called as users call them, with sigma 4.
//
// Rows device_images/smoothings: several smoothings from an image in ordinary memory to the last filter's output in
// ordinary memory, with one upload and one download. Rows host_to_host/smoothings: the same filters with host images
// between them. Rows plain_images/smoothings: host images between them that are released after use, with
// CudaFiltersConfiguration::SetKeepOnDevice().
//
// Rows device_images/edges: smoothing, gradient magnitude, and a download as unsigned char. Rows host_to_host/edges:
// both filters with host images, with float output; the time of a conversion is not included.
//
// Rows device_images/updates: a thousand calls of Update() of one filter with alternating sigma and one
// Synchronize() at the end. update_us is the mean time of a call, resident_us the time of the same plans run directly
// by the engine, and overhead_us the difference.

#include "host_to_host_benchmark.h"
#include "itkCudaDownloadImageFilter.h"
#include "itkCudaFiltersConfiguration.h"
#include "gaussian/device/LinePasses.h"
#include "itkCudaGradientMagnitudeRecursiveGaussianImageFilter.h"
#include "itkCudaSmoothingRecursiveGaussianImageFilter.h"
#include "itkCudaUploadImageFilter.h"
#include "resident_benchmark.h"

#include <array>
#include <chrono>
#include <vector>

namespace
{
using namespace benchmark_filters;

using HostVolume = itk::Image<float, 3>;
using ByteVolume = itk::Image<unsigned char, 3>;
using DeviceVolume = itk::CudaDeviceImage<float, 3>;
using DevicePlane = itk::CudaDeviceImage<float, 2>;

constexpr double Sigma = 4.0;
constexpr int    NumberOfUpdates = 1000;

double
GetSeconds()
{
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

HostVolume::Pointer
GetVolume(const benchmark::State & state)
{
  return GetRandomImage<3>(static_cast<itk::SizeValueType>(state.range(0)));
}

/** Times updates of a chain's last filter, each after the first filter was modified and with new memory for the last
 * output. */
void
TimeChain(benchmark::State & state, itk::ProcessObject & first, itk::ProcessObject & last)
{
  last.Update(); // starts CUDA, and fills pools
  for (auto _ : state)
  {
    last.GetOutputs()[0]->ReleaseData();
    first.Modified();
    last.Update();
  }
}

/** Arguments: side; number of filters. `isKept`: whether intermediate results stay on the device although they are host
 * images. */
template <typename TBetween, bool isKept = false>
void
RunSmoothings(benchmark::State & state)
{
  if (IsDeviceMissing(state))
  {
    return;
  }
  using MiddleType = itk::CudaSmoothingRecursiveGaussianImageFilter<TBetween>;
  using FirstType = itk::CudaSmoothingRecursiveGaussianImageFilter<HostVolume, TBetween>;
  using LastType = itk::CudaSmoothingRecursiveGaussianImageFilter<TBetween, HostVolume>;
  const auto configure = [](auto & filter) {
    filter.SetSigma(Sigma);
    filter.SetBackend(itk::CudaFiltersEnums::Backend::Cuda);
  };
  const auto first = FirstType::New();
  configure(*first);
  first->SetInput(GetVolume(state));
  std::vector<typename MiddleType::Pointer> middle;
  const TBetween *                          image = first->GetOutput();
  for (int64_t i = 2; i < state.range(1); ++i)
  {
    middle.push_back(MiddleType::New());
    configure(*middle.back());
    middle.back()->SetInput(image);
    image = middle.back()->GetOutput();
  }
  const auto last = LastType::New();
  configure(*last);
  last->SetInput(image);
  if (isKept)
  {
    first->ReleaseDataFlagOn();
    for (const auto & filter : middle)
    {
      filter->ReleaseDataFlagOn();
    }
  }
  itk::CudaFiltersConfiguration::SetKeepOnDevice(isKept);
  TimeChain(state, *first, *last);
  itk::CudaFiltersConfiguration::SetKeepOnDevice(false);
}

void
RunDeviceEdges(benchmark::State & state)
{
  if (IsDeviceMissing(state))
  {
    return;
  }
  const auto smoother = itk::CudaSmoothingRecursiveGaussianImageFilter<HostVolume, DeviceVolume>::New();
  smoother->SetInput(GetVolume(state));
  smoother->SetSigma(Sigma);
  const auto edges = itk::CudaGradientMagnitudeRecursiveGaussianImageFilter<DeviceVolume>::New();
  edges->SetInput(smoother->GetOutput());
  edges->SetSigma(Sigma);
  const auto download = itk::CudaDownloadImageFilter<DeviceVolume, ByteVolume>::New();
  download->SetInput(edges->GetOutput());
  TimeChain(state, *smoother, *download);
}

void
RunHostEdges(benchmark::State & state)
{
  if (IsDeviceMissing(state))
  {
    return;
  }
  const auto smoother = itk::CudaSmoothingRecursiveGaussianImageFilter<HostVolume>::New();
  smoother->SetInput(GetVolume(state));
  smoother->SetSigma(Sigma);
  const auto edges = itk::CudaGradientMagnitudeRecursiveGaussianImageFilter<HostVolume>::New();
  edges->SetInput(smoother->GetOutput());
  edges->SetSigma(Sigma);
  TimeChain(state, *smoother, *edges);
}

/** Returns the mean seconds of a run of the engine, with the plans of two sigmas in turn. */
double
TimeResidentRuns(size_t side, const std::array<double, 2> & sigmas)
{
  std::vector<CudaGaussianPlan> plans;
  for (const double sigma : sigmas)
  {
    CudaGaussianParameters parameters;
    parameters.Sigma.assign(2, sigma);
    parameters.Spacing.assign(2, 1.0);
    parameters.KeepInput = true;
    plans.push_back(MakeSmoothingPlan(parameters));
  }
  const DeviceGuard          guard(Device);
  StreamLease                stream(Device);
  std::vector<DeviceImage>   images;
  std::vector<DeviceView>    views;
  const DeviceView::SizeType size{ { side, side, 1, 1, 1 } };
  for (unsigned int i = 0; i < plans.front().NumberOfImages; ++i)
  {
    images.emplace_back(size, CudaComponentType::Float, stream);
    views.push_back(images.back().GetView());
  }
  FillRandom(views.front(), stream);
  const DeviceBuffer memory(gaussian::GetPlanWorkspace(plans.back(), views, Device), stream);
  const auto         run = [&](int number) {
    gaussian::RunPlan(plans[number % 2], views, { memory.GetPointer(), memory.GetSize() }, stream);
  };
  run(0);
  run(1); // loads kernels
  stream.Synchronize();
  const double time = GetSeconds();
  for (int number = 0; number < NumberOfUpdates; ++number)
  {
    run(number);
  }
  stream.Synchronize();
  return (GetSeconds() - time) / NumberOfUpdates;
}

/** Argument: side. */
void
RunUpdates(benchmark::State & state)
{
  if (IsDeviceMissing(state, Device))
  {
    return;
  }
  constexpr std::array<double, 2> sigmas{ { 2.0, 3.0 } };
  const auto                      side = static_cast<itk::SizeValueType>(state.range(0));
  const auto                      image = itk::CudaUpload(GetRandomImage<2>(side), Device);
  const auto                      filter = itk::CudaSmoothingRecursiveGaussianImageFilter<DevicePlane>::New();
  filter->SetInput(image);
  const auto update = [&](int number) {
    filter->SetSigma(sigmas[number % 2]);
    filter->Update();
  };
  update(0);
  update(1); // loads kernels, and fills pools
  filter->GetOutput()->Synchronize();
  double seconds = 0.0;
  for (auto _ : state)
  {
    const double time = GetSeconds();
    for (int number = 0; number < NumberOfUpdates; ++number)
    {
      update(number);
    }
    filter->GetOutput()->Synchronize();
    seconds = (GetSeconds() - time) / NumberOfUpdates;
    state.SetIterationTime(seconds * NumberOfUpdates);
  }
  const double resident = TimeResidentRuns(side, sigmas);
  state.counters["update_us"] = 1e6 * seconds;
  state.counters["resident_us"] = 1e6 * resident;
  state.counters["overhead_us"] = 1e6 * (seconds - resident);
}

[[maybe_unused]] const bool Registered = [] {
  const auto add = [](const char * name, void (*function)(benchmark::State &)) {
    return benchmark::RegisterBenchmark(name, function)->Unit(benchmark::kMillisecond);
  };
  const auto addSmoothings = [&add](const char * name, void (*function)(benchmark::State &)) {
    add(name, function)->ArgNames({ "side", "filters" })->ArgsProduct({ { 256, 512 }, { 2, 5 } })->UseRealTime();
  };
  const auto addEdges = [&add](const char * name, void (*function)(benchmark::State &)) {
    add(name, function)->ArgName("side")->Arg(256)->Arg(512)->UseRealTime();
  };
  addSmoothings("device_images/smoothings/3d", RunSmoothings<DeviceVolume>);
  addSmoothings("host_to_host/smoothings/3d", RunSmoothings<HostVolume>);
  addSmoothings("plain_images/smoothings/3d", RunSmoothings<HostVolume, true>);
  addEdges("device_images/edges/3d", RunDeviceEdges);
  addEdges("host_to_host/edges/3d", RunHostEdges);
  add("device_images/updates/2d", RunUpdates)->ArgName("side")->Arg(256)->UseManualTime();
  return true;
}();
} // namespace
