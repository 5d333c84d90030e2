// SPDX-License-Identifier: Apache-2.0
#include "itkCudaCall.h"
#include "itkCudaDevice.h"
#include "itkCudaGaussianCoefficients.h"
#include "itkCudaGaussianDevice.h"
#include "itkCudaGaussianKernels.cuh"
#include "itkCudaMemory.h"

#include <cstdint>

namespace itk::cuda::gaussian
{
namespace
{
/** Lines along `axis`: the axes below it are flattened into the inner index, those above it into the outer one. */
LineGeometry
MakeLineGeometry(const DeviceView & view, unsigned int axis)
{
  LineGeometry geometry{};
  geometry.LineLength = view.Size[axis];
  geometry.LineStride = view.Stride[axis];
  geometry.InnerCount = 1;
  geometry.OuterCount = 1;
  for (unsigned int k = axis + 1; k < DeviceView::NumberOfAxes; ++k)
  {
    geometry.OuterCount *= view.Size[k];
  }
  geometry.OuterStride = axis + 1 < DeviceView::NumberOfAxes ? view.Stride[axis + 1] : 1;
  if (axis == 1)
  {
    geometry.InnerCount = view.Size[0];
  }
  else if (axis > 1)
  {
    // Rows with their padding, but for the last one's.
    geometry.InnerCount = view.Stride[axis] - (view.Stride[1] - view.Size[0]);
  }
  const size_t bytes = CudaComponentSize(view.ComponentType);
  const auto   isAligned = [](size_t offset) { return offset % 16 == 0; };
  geometry.Aligned = isAligned(reinterpret_cast<uintptr_t>(view.Data)) && isAligned(geometry.OuterStride * bytes) &&
                     (axis == 0 || isAligned(geometry.LineStride * bytes));
  return geometry;
}

template <typename T>
SegmentPowers<T>
MakeSegmentPowers(const CudaGaussianKernel & kernel)
{
  SegmentPowers<T> powers;
  for (unsigned int k = 0; k < 6; ++k)
  {
    for (unsigned int j = 0; j < NumberOfPolePairs; ++j)
    {
      powers.Power[k][j] = Round<T>(MakeStatePower(kernel.Pole[j], size_t{ SegmentLength<T> } << k));
    }
  }
  return powers;
}

/** The state n pixels after a pixel of value 1 is G^n (1, e). */
template <typename T>
EndWeights<T>
MakeEndWeights(const CudaGaussianKernel & kernel)
{
  constexpr unsigned int length = SegmentLength<T>;
  EndWeights<T>          weights;
  for (unsigned int j = 0; j < NumberOfPolePairs; ++j)
  {
    const double coupling = std::abs(1.0 - kernel.Pole[j]);
    const auto   impulse = [&](unsigned int n) {
      return Apply(MakeStatePower(kernel.Pole[j], n), PolePairState<double>{ 1.0, coupling });
    };
    for (unsigned int k = 0; k < length / 2; ++k)
    {
      const PolePairState<double> near = impulse(k);
      const PolePairState<double> far = impulse(length - 1 - k);
      weights.Even[k].Pair[j] = { static_cast<T>(0.5 * (near.U + far.U)), static_cast<T>(0.5 * (near.V + far.V)) };
      weights.Odd[k].Pair[j] = { static_cast<T>(0.5 * (near.U - far.U)), static_cast<T>(0.5 * (near.V - far.V)) };
    }
  }
  return weights;
}

struct LaunchShape
{
  dim3   Grid;
  dim3   Block;
  size_t SharedBytes;
};

dim3
MakeGrid(size_t blocks)
{
  return dim3(static_cast<unsigned int>(blocks));
}

template <typename T>
LaunchShape
MakeLaunchShape(AxisKind kind, const LineGeometry & geometry, const LineSchedule & schedule)
{
  LaunchShape shape{};
  if (kind == AxisKind::Strided)
  {
    const size_t columnBlocks = (geometry.InnerCount + WarpSize - 1) / WarpSize;
    shape.Grid = MakeGrid(columnBlocks * schedule.NumberOfTiles * geometry.OuterCount);
    shape.Block = dim3(schedule.Segments * WarpSize);
    shape.SharedBytes = GetStridedSharedBytes(schedule.Segments, sizeof(T));
    return shape;
  }
  const unsigned int threadsPerLine = ContiguousTile<T, TileTask::Filter>::GetThreadsPerLine(schedule.Segments);
  const unsigned int linesPerBlock = threadsPerLine < ContiguousThreads ? ContiguousThreads / threadsPerLine : 1;
  const unsigned int threads = linesPerBlock * threadsPerLine;
  shape.Grid = MakeGrid((geometry.OuterCount + linesPerBlock - 1) / linesPerBlock * schedule.NumberOfTiles);
  shape.Block = dim3(threads);
  shape.SharedBytes =
    size_t{ threads } * PaddedSegmentBytes + threads / WarpSize * NumberOfStates * sizeof(PolePairState<T>);
  return shape;
}

template <typename T, AxisKind VKind, TileTask VTask>
void
LaunchLinePass(const LinePassArguments<T> & arguments, const StreamLease & stream)
{
  const LaunchShape shape = MakeLaunchShape<T>(VKind, arguments.Geometry, arguments.Schedule);
  const auto        kernel = LinePassKernel<T, VKind, VTask>;
  // An attribute of the current device, so it is set for every launch.
  ITK_CUDA_CALL(
    cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(shape.SharedBytes)));
  ITK_CUDA_CALL(LaunchKernel(kernel, shape.Grid, shape.Block, shape.SharedBytes, stream.Get(), arguments));
}

template <typename T>
void
LaunchTileScan(const LinePassArguments<T> & arguments, const CudaGaussianKernel & kernel, const StreamLease & stream)
{
  constexpr unsigned int threads = 128;
  const size_t           count = NumberOfStates * arguments.Geometry.InnerCount * arguments.Geometry.OuterCount;
  const auto power = [&](unsigned int j) { return Round<T>(MakeStatePower(kernel.Pole[j], arguments.Schedule.Step)); };
  ITK_CUDA_CALL(LaunchKernel(ScanTilesKernel<T>,
                             MakeGrid((count + threads - 1) / threads),
                             dim3(threads),
                             0,
                             stream.Get(),
                             arguments,
                             power(0),
                             power(1)));
}

template <typename T, AxisKind VKind>
void
RunLinePassOn(const CudaGaussianLinePass & pass,
              const LineSchedule &         schedule,
              const DeviceView &           source,
              const DeviceView &           destination,
              const StreamLease &          stream)
{
  LinePassArguments<T> arguments;
  arguments.Source = static_cast<const T *>(source.Data);
  arguments.Destination = static_cast<T *>(destination.Data);
  arguments.TileStates = nullptr;
  arguments.Geometry = MakeLineGeometry(source, pass.Axis);
  arguments.Geometry.Aligned = arguments.Geometry.Aligned && reinterpret_cast<uintptr_t>(destination.Data) % 16 == 0;
  arguments.Schedule = schedule;
  arguments.Coefficients = MakeLineCoefficients<T>(pass.Kernel);
  arguments.Powers = MakeSegmentPowers<T>(pass.Kernel);
  arguments.Ends = MakeEndWeights<T>(pass.Kernel);
  if (schedule.Method != LineMethod::Partition)
  {
    LaunchLinePass<T, VKind, TileTask::Filter>(arguments, stream);
    return;
  }
  const DeviceBuffer states(GetLinePassWorkspace(schedule, source, pass.Axis), stream);
  arguments.TileStates = static_cast<PolePairState<T> *>(states.GetPointer());
  LaunchLinePass<T, VKind, TileTask::WriteTotals>(arguments, stream);
  LaunchTileScan(arguments, pass.Kernel, stream);
  LaunchLinePass<T, VKind, TileTask::FilterFromStates>(arguments, stream);
}
} // namespace

LineSchedule
GetLineSchedule(const CudaGaussianLinePass & pass, const DeviceView & source, int device)
{
  return MakeLineSchedule(GetAxisKind(pass.Axis),
                          source.Size[pass.Axis],
                          pass.Kernel.SigmaInPixels,
                          static_cast<unsigned int>(CudaComponentSize(source.ComponentType)),
                          GetDeviceProperties(device).SharedMemoryPerBlockOptin);
}

size_t
GetLinePassWorkspace(const LineSchedule & schedule, const DeviceView & source, unsigned int axis)
{
  if (schedule.Method != LineMethod::Partition)
  {
    return 0;
  }
  const LineGeometry geometry = MakeLineGeometry(source, axis);
  const size_t       stateBytes = 2 * CudaComponentSize(source.ComponentType);
  return schedule.NumberOfTiles * NumberOfStates * geometry.InnerCount * geometry.OuterCount * stateBytes;
}

void
RunLinePass(const CudaGaussianLinePass & pass,
            const LineSchedule &         schedule,
            const DeviceView &           source,
            const DeviceView &           destination,
            const StreamLease &          stream)
{
  const bool isDouble = source.ComponentType == CudaComponentType::Double;
  const auto run =
    GetAxisKind(pass.Axis) == AxisKind::Contiguous
      ? (isDouble ? RunLinePassOn<double, AxisKind::Contiguous> : RunLinePassOn<float, AxisKind::Contiguous>)
      : (isDouble ? RunLinePassOn<double, AxisKind::Strided> : RunLinePassOn<float, AxisKind::Strided>);
  run(pass, schedule, source, destination, stream);
}

void
RunPlan(const CudaGaussianPlan & plan,
        const DeviceView &       source,
        const DeviceView &       destination,
        const DeviceView &       scratch,
        const StreamLease &      stream)
{
  const DeviceView * from = &source;
  for (size_t i = 0; i < plan.Passes.size(); ++i)
  {
    // Passes alternate so that the last one ends in the destination.
    const DeviceView * const to = (plan.Passes.size() - 1 - i) % 2 == 0 ? &destination : &scratch;
    const LineSchedule       schedule = GetLineSchedule(plan.Passes[i], source, stream.GetDevice());
    RunLinePass(plan.Passes[i], schedule, *from, *to, stream);
    from = to;
  }
}
} // namespace itk::cuda::gaussian
