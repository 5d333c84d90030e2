// SPDX-License-Identifier: Apache-2.0
#include "itkCudaCall.h"
#include "itkCudaDevice.h"
#include "itkCudaGaussianCoefficients.h"
#include "itkCudaGaussianDevice.h"
#include "itkCudaGaussianKernels.cuh"
#include "itkCudaGaussianStream.cuh"
#include "itkCudaGaussianTensorMap.h"
#include "itkCudaLaunch.h"
#include "itkCudaLineGroups.h"
#include "itkCudaMemory.h"
#include "itkCudaRoundUp.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <limits>

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

template <typename T, unsigned int VPairs>
SegmentPowers<T, VPairs>
MakeSegmentPowers(const CudaGaussianKernel & kernel)
{
  SegmentPowers<T, VPairs> powers;
  for (unsigned int j = 0; j < VPairs; ++j)
  {
    for (unsigned int k = 0; k <= SegmentPowers<T, VPairs>::Last; ++k)
    {
      powers.Power[j][k] = Round<T>(MakeStatePower(kernel.Pole[j], size_t{ SegmentLength<T> } * k));
    }
  }
  return powers;
}

/** Segments over which the states of all pole pairs decay to less than half of their last place. */
template <typename T, unsigned int VPairs>
unsigned int
GetReach(const SegmentPowers<T, VPairs> & powers)
{
  const auto isNegligible = [&powers](unsigned int segments) {
    return std::all_of(std::begin(powers.Power), std::end(powers.Power), [segments](const auto & power) {
      const StateMatrix<T> & matrix = power[segments];
      const T                largest =
        std::max({ std::abs(matrix.UU), std::abs(matrix.UV), std::abs(matrix.VU), std::abs(matrix.VV) });
      return largest < std::numeric_limits<T>::epsilon() / 2;
    });
  };
  unsigned int reach = 1;
  while (reach < SegmentPowers<T, VPairs>::Last && !isNegligible(reach))
  {
    ++reach;
  }
  return isNegligible(reach) ? reach : WarpSize;
}

/** The state n pixels after a pixel of value 1 is G^n (1, e). */
template <typename T, unsigned int VPairs, unsigned int VLength>
EndWeights<T, VPairs, VLength>
MakeEndWeights(const CudaGaussianKernel & kernel)
{
  EndWeights<T, VPairs, VLength> weights;
  for (unsigned int j = 0; j < VPairs; ++j)
  {
    const double coupling = std::abs(1.0 - kernel.Pole[j]);
    const auto   impulse = [&](unsigned int n) {
      return Apply(MakeStatePower(kernel.Pole[j], n), PolePairState<double>{ 1.0, coupling });
    };
    for (unsigned int k = 0; k < VLength / 2; ++k)
    {
      const PolePairState<double> near = impulse(k);
      const PolePairState<double> far = impulse(VLength - 1 - k);
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

template <typename T, unsigned int VPairs, unsigned int VTiles = 1>
LaunchShape
MakeLaunchShape(AxisKind kind, const LineGeometry & geometry, const LineSchedule & schedule)
{
  using Tile = ContiguousTile<T, VPairs, TileTask::Filter, VTiles>;
  LaunchShape shape{};
  if (kind == AxisKind::Strided)
  {
    const size_t columnBlocks = DivideUp(geometry.InnerCount, WarpSize);
    shape.Grid = MakeGrid(columnBlocks * schedule.NumberOfTiles * geometry.OuterCount);
    shape.Block = dim3(schedule.Segments * WarpSize);
    shape.SharedBytes = GetStridedSharedBytes(schedule.Segments, sizeof(T), VPairs);
    return shape;
  }
  const LineParts    parts = GetLineParts(schedule.Segments, VPairs);
  const unsigned int warps = std::max(ContiguousThreads / WarpSize, parts.Number) / parts.Number * parts.Number;
  const unsigned int linesPerBlock = warps / parts.Number * (WarpSize / parts.Width);
  const size_t       lineGroups = DivideUp(geometry.OuterCount, linesPerBlock);
  const unsigned int tiles = GetNumberOfBlocks(schedule.NumberOfTiles);
  const unsigned int tilesAcross = std::min(tiles, 32768u);
  shape.Grid = dim3(GetNumberOfBlocks(lineGroups), tilesAcross, (tiles + tilesAcross - 1) / tilesAcross);
  shape.Block = dim3(WarpSize, parts.Number, warps / parts.Number);
  shape.SharedBytes = Tile::GetSharedBytes(warps, parts);
  return shape;
}

template <typename T, unsigned int VPairs, AxisKind VKind, TileTask VTask, unsigned int VResults>
void
LaunchLinePass(const LinePassArguments<T, VPairs> & arguments, const Context & context)
{
  const LaunchShape        shape = MakeLaunchShape<T, VPairs>(VKind, arguments.Geometry, arguments.Schedule);
  const auto               kernel = LinePassKernel<T, VPairs, VKind, VTask, VResults>;
  static SharedMemoryGrant grant;
  grant.Raise(kernel, context.GetDevice());
  ITK_CUDA_CALL(LaunchKernel(kernel, shape.Grid, shape.Block, shape.SharedBytes, context.GetStream(), arguments));
}

template <typename T, unsigned int VPairs, AxisKind VKind, TileTask VTask>
void
LaunchFilter(const LinePassArguments<T, VPairs> & arguments, size_t numberOfResults, const Context & context)
{
  if constexpr (VKind == AxisKind::Strided)
  {
    if (numberOfResults == 2)
    {
      LaunchLinePass<T, VPairs, VKind, VTask, 2>(arguments, context);
      return;
    }
    if (numberOfResults == 3)
    {
      LaunchLinePass<T, VPairs, VKind, VTask, 3>(arguments, context);
      return;
    }
  }
  LaunchLinePass<T, VPairs, VKind, VTask, 1>(arguments, context);
}

template <typename T, unsigned int VPairs>
void
LaunchCombiningPass(const LinePassArguments<T, VPairs> & arguments, const Context & context)
{
  const LaunchShape shape = MakeLaunchShape<T, VPairs, 2>(AxisKind::Contiguous, arguments.Geometry, arguments.Schedule);
  const auto        kernel = CombiningLinePassKernel<T, VPairs>;
  static SharedMemoryGrant grant;
  grant.Raise(kernel, context.GetDevice());
  ITK_CUDA_CALL(LaunchKernel(kernel, shape.Grid, shape.Block, shape.SharedBytes, context.GetStream(), arguments));
}

template <typename T, unsigned int VPairs>
void
LaunchTileScan(const LinePassArguments<T, VPairs> & arguments,
               const CudaGaussianKernel &           kernel,
               const Context &                      context)
{
  constexpr unsigned int threads = 128;
  const size_t           count = NumberOfStates<VPairs> * arguments.Geometry.InnerCount * arguments.Geometry.OuterCount;
  TilePowers<T, VPairs>  powers;
  for (unsigned int j = 0; j < VPairs; ++j)
  {
    powers.Power[j] = Round<T>(MakeStatePower(kernel.Pole[j], arguments.Schedule.Step));
  }
  ITK_CUDA_CALL(LaunchKernel(ScanTilesKernel<T, VPairs>,
                             MakeGrid(DivideUp(count, threads)),
                             dim3(threads),
                             0,
                             context.GetStream(),
                             arguments,
                             powers));
}

/** An image's complete segments of contiguous lines; a box is the part of a warp. */
template <typename T>
TensorBox
MakeSegmentBox(const LineGeometry & geometry, unsigned int width, const T * data)
{
  TensorBox box;
  box.Data = const_cast<T *>(data);
  box.BytesPerElement = sizeof(T);
  box.Size = { { SegmentLength<T>, geometry.LineLength / SegmentLength<T>, geometry.OuterCount } };
  box.StrideBytes = { { SegmentBytes, geometry.OuterStride * sizeof(T) } };
  box.Box = { { SegmentLength<T>, width, WarpSize / width } };
  box.Swizzled = true;
  return box;
}

template <typename T, unsigned int VPairs>
void
SetBulkCopies(LinePassArguments<T, VPairs> & arguments, int device)
{
  const auto makeBox = [&arguments](const T * data) {
    return MakeSegmentBox(arguments.Geometry, arguments.Width, data);
  };
  // All images have the same size and strides.
  if (!arguments.Geometry.Aligned || !FitsTensorMap(makeBox(arguments.Sources[0])) || !HasBulkCopies(device))
  {
    return;
  }
  arguments.LoadsInBulk = true;
  for (unsigned int i = 0; i < arguments.NumberOfSources; ++i)
  {
    arguments.SourceMaps[i] = MakeTensorMap(makeBox(arguments.Sources[i]));
  }
  // Boxes of overlapping tiles hold pixels of the warm-up.
  const bool stores = arguments.NumberOfSources > 1 || arguments.Results[0].Combine == CudaGaussianCombine::Store;
  arguments.StoresInBulk = stores && arguments.Schedule.WarmUp == 0;
  arguments.DestinationMap = MakeTensorMap(makeBox(arguments.Results[0].Destination));
}

/** Chunks of strips of lines. */
template <typename T>
TensorBox
MakeChunkBox(const LineGeometry & geometry, const T * data)
{
  TensorBox box;
  box.Data = const_cast<T *>(data);
  box.BytesPerElement = sizeof(T);
  box.Size = { { geometry.InnerCount, geometry.LineLength, geometry.OuterCount } };
  box.StrideBytes = { { geometry.LineStride * sizeof(T), geometry.OuterStride * sizeof(T) } };
  box.Box = { { StreamColumns, StreamRows, 1 } };
  return box;
}

/** Pieces of a line such that the blocks of threads, one on each multiprocessor, are done soonest: every piece costs
 * its chunks and those next to it. */
unsigned int
GetPiecesPerLine(size_t strips, unsigned int chunks, unsigned int lookAhead, size_t multiprocessors)
{
  unsigned int best = 1;
  size_t       least = std::numeric_limits<size_t>::max();
  for (unsigned int pieces = 1; pieces <= std::max(1u, chunks / 2); ++pieces)
  {
    const size_t rounds = DivideUp(strips * pieces, multiprocessors);
    const size_t length = (chunks + pieces - 1) / pieces + (pieces > 1 ? 2 : 1) * lookAhead;
    if (rounds * length < least)
    {
      least = rounds * length;
      best = pieces;
    }
  }
  return best;
}

template <typename T, TileTask VTask, unsigned int VLookAhead>
void
LaunchStream(const StreamArguments<T> & arguments, const Context & context)
{
  constexpr size_t shared = sizeof(StreamMemory<T, VTask, VLookAhead>);
  // The dispatch, which knows no device code, counts with the same number; HoldsWholeLines() asks for more.
  static_assert(VTask == TileTask::FilterWholeLines || shared == GetStreamSharedBytes(VLookAhead));
  const auto   kernel = StreamKernel<T, VTask, VLookAhead>;
  const size_t blocks = std::min<size_t>(
    arguments.NumberOfPieces, static_cast<unsigned int>(GetDeviceProperties(context.GetDevice()).MultiprocessorCount));
  static SharedMemoryGrant grant;
  grant.Raise(kernel, context.GetDevice());
  ITK_CUDA_CALL(
    LaunchKernel(kernel, MakeGrid(blocks), dim3(StreamWorkers + WarpSize), shared, context.GetStream(), arguments));
}

/** Whether blocks of threads partition whole lines among the chunks that they hold, which gives the same bits. */
bool
HoldsWholeLines(const LineSchedule & schedule, size_t strips, int device)
{
  const DeviceProperties & properties = GetDeviceProperties(device);
  return schedule.Method == LineMethod::StreamPartition && schedule.NumberOfTiles <= MaximumWholeLineChunks &&
         strips >= static_cast<size_t>(properties.MultiprocessorCount) &&
         sizeof(StreamMemory<float, TileTask::FilterWholeLines, 0>) <= properties.SharedMemoryPerBlockOptin;
}

void
RunStreamedPass(const CudaGaussianLinePass &    pass,
                const LineSchedule &            schedule,
                const std::vector<DeviceView> & images,
                const Context &                 context)
{
  using T = float;
  const CudaGaussianPassResult & result = pass.Results.front();
  const CudaGaussianKernel &     kernel = result.Kernel;
  StreamArguments<T>             arguments{};
  arguments.Source = static_cast<const T *>(images[pass.Source].Data);
  arguments.Geometry = MakeLineGeometry(images[pass.Source], pass.Axis);
  const size_t       strips = DivideUp(arguments.Geometry.InnerCount, StreamColumns);
  const unsigned int chunks = static_cast<unsigned int>(schedule.NumberOfTiles);
  const size_t       allStrips = strips * arguments.Geometry.OuterCount;
  const bool         wholeLines = HoldsWholeLines(schedule, allStrips, context.GetDevice());
  const unsigned int pieces =
    wholeLines ? 1
               : GetPiecesPerLine(
                   allStrips, chunks, schedule.LookAhead, GetDeviceProperties(context.GetDevice()).MultiprocessorCount);
  arguments.StripsPerRow = static_cast<unsigned int>(strips);
  arguments.NumberOfChunks = chunks;
  arguments.PiecesPerLine = pieces;
  arguments.NumberOfPieces = GetNumberOfBlocks(allStrips * pieces);
  arguments.Dynamics = MakeLineDynamics<T, StreamPolePairs>(kernel);
  for (unsigned int j = 0; j < StreamPolePairs; ++j)
  {
    arguments.SegmentPower[j] = Round<T>(MakeStatePower(kernel.Pole[j], StreamSegmentLength));
    arguments.ChunkPower[j] = Round<T>(MakeStatePower(kernel.Pole[j], StreamRows));
  }
  arguments.Ends = MakeEndWeights<T, StreamPolePairs, StreamSegmentLength>(kernel);
  arguments.Response = MakeLineResponse<T, StreamPolePairs>(kernel);
  arguments.SourceMap = MakeTensorMap(MakeChunkBox(arguments.Geometry, arguments.Source));
  arguments.DestinationMap =
    MakeTensorMap(MakeChunkBox(arguments.Geometry, static_cast<T *>(images[result.Destination].Data)));
  if (schedule.Method == LineMethod::Stream)
  {
    const auto launch = schedule.LookAhead == 1   ? LaunchStream<T, TileTask::Filter, 1>
                        : schedule.LookAhead == 2 ? LaunchStream<T, TileTask::Filter, 2>
                                                  : LaunchStream<T, TileTask::Filter, MaximumLookAhead>;
    launch(arguments, context);
    return;
  }
  if (wholeLines)
  {
    LaunchStream<T, TileTask::FilterWholeLines, 0>(arguments, context);
    return;
  }
  const DeviceBuffer states(GetLinePassWorkspace(pass, schedule, images[pass.Source]), context);
  arguments.TileStates = static_cast<PolePairState<T> *>(states.GetPointer());
  LaunchStream<T, TileTask::WriteTotals, 0>(arguments, context);
  LinePassArguments<T, StreamPolePairs> scan{};
  scan.Sources[0] = arguments.Source;
  scan.TileStates = arguments.TileStates;
  scan.Geometry = arguments.Geometry;
  scan.Schedule = schedule;
  scan.Dynamics = arguments.Dynamics;
  LaunchTileScan(scan, kernel, context);
  LaunchStream<T, TileTask::FilterFromStates, 0>(arguments, context);
}

/** Whether the copy engine can move the chunks of a pass with one result. */
bool
CanStream(const CudaGaussianLinePass & pass, const std::vector<DeviceView> & images, int device)
{
  const LineGeometry geometry = MakeLineGeometry(images[pass.Source], pass.Axis);
  const auto         fits = [&](unsigned int image) {
    return FitsTensorMap(MakeChunkBox(geometry, static_cast<const float *>(images[image].Data)));
  };
  return pass.Results.size() == 1 && pass.Results.front().Kernel.NumberOfPolePairs == StreamPolePairs &&
         fits(pass.Source) && fits(pass.Results.front().Destination) && HasBulkCopies(device);
}

bool
IsAligned(const DeviceView & image)
{
  return reinterpret_cast<uintptr_t>(image.Data) % 16 == 0;
}

/** The arguments of a pass without its sources and results. */
template <typename T, unsigned int VPairs>
LinePassArguments<T, VPairs>
MakeLinePassArguments(const CudaGaussianLinePass & pass, const LineSchedule & schedule, const DeviceView & source)
{
  const CudaGaussianKernel &   kernel = pass.Results.front().Kernel;
  LinePassArguments<T, VPairs> arguments{};
  arguments.Geometry = MakeLineGeometry(source, pass.Axis);
  arguments.Schedule = schedule;
  arguments.Dynamics = MakeLineDynamics<T, VPairs>(kernel);
  arguments.Powers = MakeSegmentPowers<T, VPairs>(kernel);
  arguments.Ends = MakeEndWeights<T, VPairs, SegmentLength<T>>(kernel);
  arguments.Width = GetLineParts(schedule.Segments, VPairs).Width;
  arguments.Reach = GetReach(arguments.Powers);
  return arguments;
}

template <typename T, unsigned int VPairs>
void
AddSource(LinePassArguments<T, VPairs> & arguments, const DeviceView & image)
{
  arguments.Sources[arguments.NumberOfSources++] = static_cast<const T *>(image.Data);
  arguments.Geometry.Aligned = arguments.Geometry.Aligned && IsAligned(image);
}

template <typename T, unsigned int VPairs>
void
SetResult(LinePassArguments<T, VPairs> &  arguments,
          unsigned int                    index,
          const CudaGaussianPassResult &  result,
          const std::vector<DeviceView> & images)
{
  const DeviceView & image = images[result.Destination];
  arguments.Results[index] = { static_cast<T *>(image.Data),
                               MakeLineResponse<T, VPairs>(result.Kernel),
                               result.Combine };
  arguments.Geometry.Aligned = arguments.Geometry.Aligned && IsAligned(image);
}

template <typename T, unsigned int VPairs, AxisKind VKind>
void
RunLinePassOn(const CudaGaussianLinePass &    pass,
              const LineSchedule &            schedule,
              const std::vector<DeviceView> & images,
              const Context &                 context)
{
  const DeviceView & source = images[pass.Source];
  auto               arguments = MakeLinePassArguments<T, VPairs>(pass, schedule, source);
  AddSource(arguments, source);
  for (unsigned int r = 0; r < pass.Results.size(); ++r)
  {
    SetResult(arguments, r, pass.Results[r], images);
  }

  if (VKind == AxisKind::Contiguous)
  {
    SetBulkCopies(arguments, context.GetDevice());
  }
  if (schedule.Method != LineMethod::Partition)
  {
    LaunchFilter<T, VPairs, VKind, TileTask::Filter>(arguments, pass.Results.size(), context);
    return;
  }
  const DeviceBuffer states(GetLinePassWorkspace(pass, schedule, source), context);
  arguments.TileStates = static_cast<PolePairState<T> *>(states.GetPointer());
  LaunchLinePass<T, VPairs, VKind, TileTask::WriteTotals, 1>(arguments, context);
  LaunchTileScan(arguments, pass.Results.front().Kernel, context);
  LaunchFilter<T, VPairs, VKind, TileTask::FilterFromStates>(arguments, pass.Results.size(), context);
}

/** Passes along contiguous lines that combine in one image: by one kernel, if a block has room for tiles of two of
 * them. */
template <typename T, unsigned int VPairs>
void
RunCombiningPassesOf(const CudaGaussianLinePass *    passes,
                     unsigned int                    count,
                     const LineSchedule &            schedule,
                     const std::vector<DeviceView> & images,
                     const Context &                 context)
{
  auto arguments = MakeLinePassArguments<T, VPairs>(*passes, schedule, images[passes->Source]);
  for (unsigned int i = 0; i < count; ++i)
  {
    AddSource(arguments, images[passes[i].Source]);
    SetResult(arguments, i, passes[i].Results.front(), images);
  }
  const auto shape = MakeLaunchShape<T, VPairs, 2>(AxisKind::Contiguous, arguments.Geometry, schedule);
  if (schedule.Method != LineMethod::Partition && shape.Block.x * shape.Block.y * shape.Block.z <= ContiguousThreads &&
      shape.SharedBytes <= GetDeviceProperties(context.GetDevice()).SharedMemoryPerBlockOptin)
  {
    SetBulkCopies(arguments, context.GetDevice());
    LaunchCombiningPass(arguments, context);
    return;
  }
  for (unsigned int i = 0; i < count; ++i)
  {
    RunLinePassOn<T, VPairs, AxisKind::Contiguous>(passes[i], schedule, images, context);
  }
}

template <typename T, unsigned int VPairs>
void
RunLinePassOf(const CudaGaussianLinePass &    pass,
              const LineSchedule &            schedule,
              const std::vector<DeviceView> & images,
              const Context &                 context)
{
  const auto run = GetAxisKind(pass.Axis) == AxisKind::Contiguous ? RunLinePassOn<T, VPairs, AxisKind::Contiguous>
                                                                  : RunLinePassOn<T, VPairs, AxisKind::Strided>;
  run(pass, schedule, images, context);
}

template <typename T>
void
RotateOn(const CudaGaussianPlan & plan, const std::vector<DeviceView> & images, const Context & context)
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
  const size_t blocks = DivideUp(arguments.RowLength * arguments.Rows, threads);
  ITK_CUDA_CALL(LaunchKernel(RotateKernel<T>, MakeGrid(blocks), dim3(threads), 0, context.GetStream(), arguments));
}
} // namespace

LineSchedule
GetLineSchedule(const CudaGaussianLinePass & pass, const std::vector<DeviceView> & images, int device)
{
  const DeviceView & source = images[pass.Source];
  const AxisKind     kind = GetAxisKind(pass.Axis);
  return MakeLineSchedule({ kind,
                            source.Size[pass.Axis],
                            pass.Results.front().Kernel.SigmaInPixels,
                            static_cast<unsigned int>(CudaComponentSize(source.ComponentType)),
                            pass.Results.front().Kernel.NumberOfPolePairs,
                            GetDeviceProperties(device).SharedMemoryPerBlockOptin,
                            kind == AxisKind::Strided && CanStream(pass, images, device) });
}

size_t
GetLinePassWorkspace(const CudaGaussianLinePass & pass, const LineSchedule & schedule, const DeviceView & source)
{
  if (schedule.Method != LineMethod::Partition && schedule.Method != LineMethod::StreamPartition)
  {
    return 0;
  }
  const LineGeometry geometry = MakeLineGeometry(source, pass.Axis);
  const size_t       stateBytes = 2 * CudaComponentSize(source.ComponentType);
  const size_t       states = 2 * pass.Results.front().Kernel.NumberOfPolePairs;
  return schedule.NumberOfTiles * states * geometry.InnerCount * geometry.OuterCount * stateBytes;
}

void
RunLinePass(const CudaGaussianLinePass &    pass,
            const LineSchedule &            schedule,
            const std::vector<DeviceView> & images,
            const Context &                 context)
{
  if (schedule.Method == LineMethod::Stream || schedule.Method == LineMethod::StreamPartition)
  {
    RunStreamedPass(pass, schedule, images, context);
    return;
  }
  const bool isDouble = images[pass.Source].ComponentType == CudaComponentType::Double;
  if (pass.Results.front().Kernel.NumberOfPolePairs == 3)
  {
    (isDouble ? RunLinePassOf<double, 3> : RunLinePassOf<float, 3>)(pass, schedule, images, context);
  }
  else
  {
    (isDouble ? RunLinePassOf<double, 2> : RunLinePassOf<float, 2>)(pass, schedule, images, context);
  }
}

namespace
{
void
RunCombiningPasses(const CudaGaussianLinePass *    passes,
                   unsigned int                    count,
                   const LineSchedule &            schedule,
                   const std::vector<DeviceView> & images,
                   const Context &                 context)
{
  const bool isDouble = images[passes->Source].ComponentType == CudaComponentType::Double;
  if (passes->Results.front().Kernel.NumberOfPolePairs == 3)
  {
    (isDouble ? RunCombiningPassesOf<double, 3>
              : RunCombiningPassesOf<float, 3>)(passes, count, schedule, images, context);
  }
  else
  {
    (isDouble ? RunCombiningPassesOf<double, 2>
              : RunCombiningPassesOf<float, 2>)(passes, count, schedule, images, context);
  }
}

/** How many of the passes from `first` on combine in one image, so that one kernel can run them. */
unsigned int
CountCombiningPasses(const std::vector<CudaGaussianLinePass> & passes, size_t first)
{
  const CudaGaussianPassResult & result = passes[first].Results.front();
  unsigned int                   count = 1;
  while (passes[first].Axis == 0 && !ReadsDestination(result.Combine) && count < MaximumResults &&
         first + count < passes.size() && passes[first + count].Axis == 0 &&
         ReadsDestination(passes[first + count].Results.front().Combine) &&
         passes[first + count].Results.front().Destination == result.Destination)
  {
    ++count;
  }
  return count;
}
} // namespace

namespace
{
/** `count` passes that combine, or one. */
void
RunPasses(const CudaGaussianLinePass *    passes,
          unsigned int                    count,
          const LineSchedule &            schedule,
          const std::vector<DeviceView> & images,
          const Context &                 context)
{
  if (count > 1)
  {
    RunCombiningPasses(passes, count, schedule, images, context);
  }
  else
  {
    RunLinePass(*passes, schedule, images, context);
  }
}

/** The same passes in launches of at most LaunchPixels. Lines do not depend on each other, so the bits are the same. */
void
RunPassesInGroups(const CudaGaussianLinePass *    first,
                  unsigned int                    count,
                  const LineSchedule &            schedule,
                  const std::vector<DeviceView> & images,
                  const Context &                 context)
{
  std::vector<CudaGaussianLinePass> passes(first, first + count);
  const auto                        run = [&](const std::vector<DeviceView> & lines, unsigned int axis, float) {
    for (CudaGaussianLinePass & pass : passes)
    {
      pass.Axis = axis;
    }
    RunPasses(passes.data(), count, schedule, lines, context);
  };
  // Whole strips of the streams, which are whole cache lines.
  ForEachLineGroup(images, first->Axis, LaunchPixels, StreamColumns, run);
}
} // namespace

void
RunPlan(const CudaGaussianPlan & plan, const std::vector<DeviceView> & images, const Context & context)
{
  const auto run = images.front().GetNumberOfElements() > LaunchPixels && HasKernelTimeout(context.GetDevice())
                     ? RunPassesInGroups
                     : RunPasses;
  for (size_t first = 0; first < plan.Passes.size();)
  {
    const CudaGaussianLinePass & pass = plan.Passes[first];
    const LineSchedule           schedule = GetLineSchedule(pass, images, context.GetDevice());
    const unsigned int           count = CountCombiningPasses(plan.Passes, first);
    run(&pass, count, schedule, images, context);
    first += count;
  }
  if (!plan.Rotation.empty())
  {
    const bool isDouble = images.front().ComponentType == CudaComponentType::Double;
    (isDouble ? RotateOn<double> : RotateOn<float>)(plan, images, context);
  }
}
} // namespace itk::cuda::gaussian
