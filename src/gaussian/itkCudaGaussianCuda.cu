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

template <typename T, AxisKind VKind, TileTask VTask, unsigned int VResults>
void
LaunchLinePass(const LinePassArguments<T> & arguments, const StreamLease & stream)
{
  const LaunchShape shape = MakeLaunchShape<T>(VKind, arguments.Geometry, arguments.Schedule);
  const auto        kernel = LinePassKernel<T, VKind, VTask, VResults>;
  // An attribute of the current device, so it is set for every launch.
  ITK_CUDA_CALL(
    cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(shape.SharedBytes)));
  ITK_CUDA_CALL(LaunchKernel(kernel, shape.Grid, shape.Block, shape.SharedBytes, stream.Get(), arguments));
}

template <typename T, AxisKind VKind, TileTask VTask>
void
LaunchFilter(const LinePassArguments<T> & arguments, size_t numberOfResults, const StreamLease & stream)
{
  if constexpr (VKind == AxisKind::Strided)
  {
    if (numberOfResults == 2)
    {
      LaunchLinePass<T, VKind, VTask, 2>(arguments, stream);
      return;
    }
    if (numberOfResults == 3)
    {
      LaunchLinePass<T, VKind, VTask, 3>(arguments, stream);
      return;
    }
  }
  LaunchLinePass<T, VKind, VTask, 1>(arguments, stream);
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
RunLinePassOn(const CudaGaussianLinePass &    pass,
              const LineSchedule &            schedule,
              const std::vector<DeviceView> & images,
              const StreamLease &             stream)
{
  const DeviceView &         source = images[pass.Source];
  const CudaGaussianKernel & kernel = pass.Results.front().Kernel;

  LinePassArguments<T> arguments{};
  arguments.Source = static_cast<const T *>(source.Data);
  arguments.Geometry = MakeLineGeometry(source, pass.Axis);
  arguments.Schedule = schedule;
  arguments.Dynamics = MakeLineDynamics<T>(kernel);
  arguments.Powers = MakeSegmentPowers<T>(kernel);
  arguments.Ends = MakeEndWeights<T>(kernel);
  for (size_t r = 0; r < pass.Results.size(); ++r)
  {
    const CudaGaussianPassResult & result = pass.Results[r];
    void * const                   data = images[result.Destination].Data;
    arguments.Results[r] = { static_cast<T *>(data), MakeLineResponse<T>(result.Kernel), result.Combine };
    arguments.Geometry.Aligned = arguments.Geometry.Aligned && reinterpret_cast<uintptr_t>(data) % 16 == 0;
  }

  if (schedule.Method != LineMethod::Partition)
  {
    LaunchFilter<T, VKind, TileTask::Filter>(arguments, pass.Results.size(), stream);
    return;
  }
  const DeviceBuffer states(GetLinePassWorkspace(schedule, source, pass.Axis), stream);
  arguments.TileStates = static_cast<PolePairState<T> *>(states.GetPointer());
  LaunchLinePass<T, VKind, TileTask::WriteTotals, 1>(arguments, stream);
  LaunchTileScan(arguments, kernel, stream);
  LaunchFilter<T, VKind, TileTask::FilterFromStates>(arguments, pass.Results.size(), stream);
}

template <typename T>
void
RotateOn(const CudaGaussianPlan & plan, const std::vector<DeviceView> & images, const StreamLease & stream)
{
  constexpr unsigned int threads = 256;
  RotationArguments<T>   arguments{};
  arguments.Dimension = static_cast<unsigned int>(plan.Results.size());
  const DeviceView & view = images[plan.Results.front()];
  for (size_t i = 0; i < plan.Results.size(); ++i)
  {
    arguments.Component[i] = static_cast<T *>(images[plan.Results[i]].Data);
  }
  for (size_t i = 0; i < plan.Rotation.size(); ++i)
  {
    arguments.Matrix[i] = static_cast<T>(plan.Rotation[i]);
  }
  arguments.RowLength = view.Size[0];
  arguments.RowStride = view.Stride[1];
  arguments.Rows = view.Size[1] * view.Size[2] * view.Size[3] * view.Size[4];
  const size_t blocks = (arguments.RowLength * arguments.Rows + threads - 1) / threads;
  ITK_CUDA_CALL(LaunchKernel(RotateKernel<T>, MakeGrid(blocks), dim3(threads), 0, stream.Get(), arguments));
}
} // namespace

LineSchedule
GetLineSchedule(const CudaGaussianLinePass & pass, const DeviceView & source, int device)
{
  return MakeLineSchedule(GetAxisKind(pass.Axis),
                          source.Size[pass.Axis],
                          pass.Results.front().Kernel.SigmaInPixels,
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
RunLinePass(const CudaGaussianLinePass &    pass,
            const LineSchedule &            schedule,
            const std::vector<DeviceView> & images,
            const StreamLease &             stream)
{
  const bool isDouble = images[pass.Source].ComponentType == CudaComponentType::Double;
  const auto run =
    GetAxisKind(pass.Axis) == AxisKind::Contiguous
      ? (isDouble ? RunLinePassOn<double, AxisKind::Contiguous> : RunLinePassOn<float, AxisKind::Contiguous>)
      : (isDouble ? RunLinePassOn<double, AxisKind::Strided> : RunLinePassOn<float, AxisKind::Strided>);
  run(pass, schedule, images, stream);
}

void
RunPlan(const CudaGaussianPlan & plan, const std::vector<DeviceView> & images, const StreamLease & stream)
{
  for (const CudaGaussianLinePass & pass : plan.Passes)
  {
    RunLinePass(pass, GetLineSchedule(pass, images[pass.Source], stream.GetDevice()), images, stream);
  }
  if (!plan.Rotation.empty())
  {
    const bool isDouble = images.front().ComponentType == CudaComponentType::Double;
    (isDouble ? RotateOn<double> : RotateOn<float>)(plan, images, stream);
  }
}
} // namespace itk::cuda::gaussian
