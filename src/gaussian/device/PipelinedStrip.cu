// SPDX-License-Identifier: Apache-2.0
#include "gaussian/device/PipelinedStrip.h"

#include "runtime/device/Device.h"
#include "runtime/device/Stream.h"
#include "gaussian/device/Launch.cuh"
#include "gaussian/device/PipelinedStrip.cuh"

#include <algorithm>
#include <limits>

// Chooses and launches the strip kernels (gaussian/device/PipelinedStrip.cuh) for passes along strided lines.

namespace itk::cuda::gaussian
{
namespace
{
/** Describes an image, or its mask, whose boxes are chunks of strips of lines. */
template <typename T>
TensorBox
MakeChunkBox(const LineGeometry & geometry, const T * data)
{
  TensorBox box;
  box.Data = const_cast<T *>(data);
  box.BytesPerElement = sizeof(T);
  box.Size = { { geometry.InnerCount, geometry.LineLength, geometry.OuterCount } };
  box.StrideBytes = { { geometry.LineStride * sizeof(T), geometry.OuterStride * sizeof(T) } };
  box.Box = { { StripColumns, ChunkLength, 1 } };
  return box;
}

/** Returns the number of pieces per line with which the blocks of threads, one on each multiprocessor, finish earliest.
 * The cost of a piece is the number of its chunks and of the neighbouring chunks that it loads. */
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

template <typename T, TileTask VTask, unsigned int VLookAhead, bool VHasEdges>
void
LaunchStripKernel(const StripArguments<T> & arguments, const Context & context)
{
  constexpr size_t shared = sizeof(StripMemory<T, VTask, VLookAhead>);
  // The choice of schedules, which is host code, uses GetStripSharedBytes(). HoldsWholeLines() and FitsMaskedStrip()
  // check the larger sizes of the other tasks.
  static_assert(VTask == TileTask::FilterWholeLines || ReadsMask<VTask> || shared <= GetStripSharedBytes(VLookAhead));
  const auto   kernel = StripKernel<T, VTask, VLookAhead, VHasEdges>;
  const size_t blocks = std::min<size_t>(
    arguments.NumberOfPieces, static_cast<unsigned int>(GetDeviceProperties(context.GetDevice()).MultiprocessorCount));
  static SharedMemoryOptIn grant;
  grant.Raise(kernel, context.GetDevice());
  ITK_CUDA_CALL(
    LaunchKernel(kernel, MakeGrid(blocks), dim3(StripConsumers + WarpSize), shared, context.GetStream(), arguments));
}

template <typename T, TileTask VTask, unsigned int VLookAhead>
void
LaunchStrips(const StripArguments<T> & arguments, const Context & context)
{
  const auto launch =
    arguments.Edges ? LaunchStripKernel<T, VTask, VLookAhead, true> : LaunchStripKernel<T, VTask, VLookAhead, false>;
  launch(arguments, context);
}

/** Launches strips that need VLookAhead chunks on either side of a chunk. */
template <typename T, unsigned int VLookAhead>
void
LaunchWindowedStrips(const StripArguments<T> & arguments, bool solvesEdgeStates, const Context & context)
{
  const auto launch = solvesEdgeStates ? LaunchStripKernel<T, TileTask::FilterFromEndStates, VLookAhead, false>
                                       : LaunchStrips<T, TileTask::Filter, VLookAhead>;
  launch(arguments, context);
}

/** Returns whether a block of threads can hold the chunks of whole lines and partition the lines by itself, which gives
 * the same bits. */
bool
HoldsWholeLines(const LineSchedule & schedule, size_t strips, int device)
{
  const DeviceProperties & properties = GetDeviceProperties(device);
  return schedule.Method == LineMethod::StripScan && schedule.NumberOfTiles <= MaximumWholeLineChunks &&
         strips >= static_cast<size_t>(properties.MultiprocessorCount) &&
         sizeof(StripMemory<float, TileTask::FilterWholeLines, 0>) <= properties.SharedMemoryPerBlockOptin;
}

/** Returns whether a block has room for the chunks of lines and of their mask. */
bool
FitsMaskedStrip(const LineSchedule & schedule, int device)
{
  constexpr size_t shared = sizeof(StripMemory<float, TileTask::FilterValid, MaximumMaskedLookAhead>);
  return schedule.Method == LineMethod::Strip && schedule.LookAhead <= MaximumMaskedLookAhead &&
         shared <= GetDeviceProperties(device).SharedMemoryPerBlockOptin;
}

/** Divides the lines among blocks of threads. */
void
DivideLines(StripArguments<float> & arguments, unsigned int lookAhead, bool intoPieces, const Context & context)
{
  const auto   multiprocessors = static_cast<size_t>(GetDeviceProperties(context.GetDevice()).MultiprocessorCount);
  const size_t strips = size_t{ arguments.StripsPerRow } * arguments.Geometry.OuterCount;
  arguments.PiecesPerLine =
    intoPieces ? GetPiecesPerLine(strips, arguments.NumberOfChunks, lookAhead, multiprocessors) : 1;
  arguments.NumberOfPieces = GetNumberOfBlocks(strips * arguments.PiecesPerLine);
}

/** Returns the number of chunks on either side for which a strip waits. In the mode Wrap the chunks at the other end
 * of a line are loaded twice. If they would be half of the line, the strip waits for the whole line instead. */
unsigned int
GetStripLookAhead(const LineSchedule & schedule)
{
  const size_t chunks = schedule.NumberOfTiles;
  const bool   isWrap = schedule.Boundary.Mode == CudaFiltersEnums::BoundaryMode::Wrap;
  return isWrap && 2 * schedule.LookAhead >= chunks && chunks <= MaximumLookAhead + 1
           ? static_cast<unsigned int>(chunks - 1)
           : schedule.LookAhead;
}

StripArguments<float>
MakeStripArguments(const CudaGaussianLinePass &    pass,
                   const std::vector<DeviceView> & images,
                   const LineCut &                 cut,
                   unsigned int                    chunks)
{
  using T = float;
  const DeviceView &                  source = images[pass.Source];
  const CudaGaussianImpulseResponse & kernel = pass.Results.front().Kernel;
  const FirstPixels<T>                first = GetFirstPixels<T>(pass, source, cut);
  StripArguments<T>                   arguments{};
  arguments.First = first.Data;
  arguments.FirstStride = first.Stride;
  arguments.Source = static_cast<const T *>(source.Data);
  arguments.Geometry = MakeLineGeometry(source, pass.Axis);
  arguments.StripsPerRow = GetNumberOfBlocks(DivideUp(arguments.Geometry.InnerCount, StripColumns));
  arguments.NumberOfChunks = chunks;
  arguments.LastChunk = cut.EndIsCut ? chunks : chunks - 1;
  arguments.Dynamics = MakeLineDynamics<T, StripPolePairs>(kernel);
  for (unsigned int j = 0; j < StripPolePairs; ++j)
  {
    arguments.SegmentPower[j] = RoundTo<T>(MakeStatePower(kernel.Pole[j], StripSegmentLength));
    arguments.ChunkPower[j] = RoundTo<T>(MakeStatePower(kernel.Pole[j], ChunkLength));
  }
  arguments.Ends = MakeEndWeights<T, StripPolePairs, StripSegmentLength>(kernel);
  arguments.Response = MakeLineResponse<T, StripPolePairs>(kernel);
  arguments.SourceMap = MakeTensorMap(MakeChunkBox(arguments.Geometry, static_cast<const T *>(source.Data)));
  arguments.DestinationMap = MakeTensorMap(
    MakeChunkBox(arguments.Geometry, static_cast<const T *>(images[pass.Results.front().Destination].Data)));
  return arguments;
}
} // namespace

bool
CanUseStrips(const CudaGaussianLinePass & pass, const std::vector<DeviceView> & images, int device)
{
  const LineGeometry geometry = MakeLineGeometry(images[pass.Source], pass.Axis);
  const auto         fits = [&](unsigned int image) {
    return FitsTensorMap(MakeChunkBox(geometry, static_cast<const float *>(images[image].Data)));
  };
  return pass.Results.size() == 1 && pass.Results.front().Kernel.NumberOfPolePairs == StripPolePairs &&
         fits(pass.Source) && fits(pass.Results.front().Destination) && HasBulkCopies(device);
}

void
RunStripPass(const CudaGaussianLinePass &    pass,
             const LineSchedule &            schedule,
             const std::vector<DeviceView> & images,
             const LineCut &                 cut,
             Workspace                       workspace,
             const Context &                 context)
{
  using T = float;
  const auto         chunks = static_cast<unsigned int>(schedule.NumberOfTiles);
  StripArguments<T>  arguments = MakeStripArguments(pass, images, cut, chunks);
  const size_t       strips = size_t{ arguments.StripsPerRow } * arguments.Geometry.OuterCount;
  const bool         wholeLines = !cut.IsCut() && HoldsWholeLines(schedule, strips, context.GetDevice());
  const DeviceView & source = images[pass.Source];
  arguments.Edges = MakeEdges<T, StripPolePairs>(pass, schedule, source, workspace, context);
  arguments.Boundary = schedule.Boundary;
  DivideLines(arguments, schedule.LookAhead, !wholeLines, context);
  if (schedule.Method == LineMethod::Strip)
  {
    const bool         solvesEdgeStates = SolvesEdgeStates(pass, schedule, source);
    const unsigned int lookAhead = solvesEdgeStates ? GetStripLookAhead(schedule) : schedule.LookAhead;
    DivideLines(arguments, lookAhead, true, context);
    if (solvesEdgeStates)
    {
      arguments.EdgeSolver = MakeEdgeStateSolver<T, StripPolePairs>(
        pass.Results.front().Kernel, schedule.Boundary, chunks * size_t{ ChunkLength }, lookAhead + 1 == chunks);
    }
    const auto launch = lookAhead == 1   ? LaunchWindowedStrips<T, 1>
                        : lookAhead == 2 ? LaunchWindowedStrips<T, 2>
                                         : LaunchWindowedStrips<T, MaximumLookAhead>;
    launch(arguments, solvesEdgeStates, context);
    return;
  }
  if (wholeLines)
  {
    LaunchStrips<T, TileTask::FilterWholeLines, 0>(arguments, context);
    return;
  }
  arguments.States = static_cast<PolePairState<T> *>(workspace.Take(GetStateBytes(pass, schedule, source)));
  LaunchStrips<T, TileTask::WriteEndStates, 0>(arguments, context);
  LaunchScan<T, StripPolePairs>(pass, schedule, source, cut, arguments.Edges, arguments.States, context);
  LaunchStrips<T, TileTask::FilterFromStates, 0>(arguments, context);
}

bool
RunStripMaskPass(const CudaGaussianLinePass & pass,
                 const MaskedSource &         source,
                 const DeviceView &           destination,
                 const Context &              context)
{
  using T = float;
  if (destination.ComponentType != CudaComponentType::Float || pass.Axis == 0)
  {
    return false;
  }
  DeviceView image = destination;
  image.Data = source.Image ? const_cast<void *>(source.Image) : destination.Data;
  const std::vector<DeviceView> images{ image, destination };
  const CudaGaussianLinePass    stripPass{ pass.Axis,
                                        0,
                                        { { pass.Results.front().Kernel, 1, CudaGaussianCombine::Store } } };
  const LineSchedule            schedule = GetLineSchedule(stripPass, images, context.GetDevice());
  const auto                    valid = static_cast<const unsigned char *>(source.Valid.Data);
  const TensorBox               validBox = MakeChunkBox(MakeLineGeometry(destination, pass.Axis), valid);
  if (!FitsMaskedStrip(schedule, context.GetDevice()) || !FitsTensorMap(validBox))
  {
    return false;
  }
  StripArguments<T> arguments =
    MakeStripArguments(stripPass, images, {}, static_cast<unsigned int>(schedule.NumberOfTiles));
  arguments.Valid = valid;
  arguments.ValidMap = MakeTensorMap(validBox);
  arguments.Reference = static_cast<const T *>(source.Reference);
  DivideLines(arguments, schedule.LookAhead, true, context);
  const auto launch = source.Image ? (schedule.LookAhead == 1 ? LaunchStripKernel<T, TileTask::FilterValid, 1, false>
                                                              : LaunchStripKernel<T, TileTask::FilterValid, 2, false>)
                                   : (schedule.LookAhead == 1 ? LaunchStripKernel<T, TileTask::FilterMask, 1, false>
                                                              : LaunchStripKernel<T, TileTask::FilterMask, 2, false>);
  launch(arguments, context);
  return true;
}

namespace
{
StripArguments<float>
MakeChunkArguments(const CudaGaussianLinePass &    pass,
                   const std::vector<DeviceView> & images,
                   const LineCut &                 cut,
                   PolePairState<float> *          states,
                   const Context &                 context)
{
  const auto chunks = static_cast<unsigned int>(DivideUp(images[pass.Source].Size[pass.Axis], ChunkLength));
  auto       arguments = MakeStripArguments(pass, images, cut, chunks);
  DivideLines(arguments, 0, true, context);
  arguments.States = states;
  return arguments;
}
} // namespace

void
RunStripEndStates(const CudaGaussianLinePass &    pass,
                  const LineSchedule &            schedule,
                  const std::vector<DeviceView> & images,
                  const LineCut &                 cut,
                  void *                          endStates,
                  const Context &                 context)
{
  auto arguments = MakeChunkArguments(pass, images, cut, static_cast<PolePairState<float> *>(endStates), context);
  arguments.EndStatesHoldEdges = schedule.Method == LineMethod::Strip;
  LaunchStrips<float, TileTask::WriteEndStates, 0>(arguments, context);
}

void
RunStripFromStates(const CudaGaussianLinePass &    pass,
                   const std::vector<DeviceView> & images,
                   const LineCut &                 cut,
                   const void *                    starts,
                   const Context &                 context)
{
  auto * const states = static_cast<PolePairState<float> *>(const_cast<void *>(starts));
  LaunchStrips<float, TileTask::FilterFromStates, 0>(MakeChunkArguments(pass, images, cut, states, context), context);
}
} // namespace itk::cuda::gaussian
