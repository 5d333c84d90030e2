// SPDX-License-Identifier: Apache-2.0
#include "runtime/device/Device.h"
#include "runtime/device/Stream.h"
#include "gaussian/device/LinePasses.h"
#include "gaussian/device/Launch.cuh"
#include "gaussian/device/PipelinedStrip.h"
#include "runtime/image/LineGroups.h"

#include <algorithm>
#include <array>
#include <complex>
#include <cstdint>
#include <deque>
#include <iterator>
#include <limits>

// Chooses and launches the kernels of a plan's passes. RunPlan() runs the passes one after the other, and RunLinePass()
// chooses the kernel of a single pass by its schedule: the strip kernels (gaussian/device/PipelinedStrip.cu), or the
// tile kernels (gaussian/device/Kernels.cuh), which this file launches.

namespace itk::cuda::gaussian
{
namespace
{
template <typename T, unsigned int VPairs>
SegmentPowers<T, VPairs>
MakeSegmentPowers(const CudaGaussianImpulseResponse & kernel)
{
  SegmentPowers<T, VPairs> powers;
  for (unsigned int j = 0; j < VPairs; ++j)
  {
    for (unsigned int k = 0; k <= SegmentPowers<T, VPairs>::Last; ++k)
    {
      powers.Power[j][k] = RoundTo<T>(MakeStatePower(kernel.Pole[j], size_t{ SegmentLength<T> } * k));
    }
  }
  return powers;
}

/** Returns the number of segments over which the states of all pole pairs decay to less than half an ulp. */
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

/** The tables that a pass needs for its poles. */
template <typename T, unsigned int VPairs>
struct PoleTables
{
  std::array<std::complex<double>, VPairs> Poles;
  LineDynamics<T, VPairs>                  Dynamics;
  SegmentPowers<T, VPairs>                 Powers;
  EndWeights<T, VPairs, SegmentLength<T>>  Ends;
  unsigned int                             Reach;

  explicit PoleTables(const CudaGaussianImpulseResponse & kernel)
    : Dynamics(MakeLineDynamics<T, VPairs>(kernel))
    , Powers(MakeSegmentPowers<T, VPairs>(kernel))
    , Ends(MakeEndWeights<T, VPairs, SegmentLength<T>>(kernel))
    , Reach(GetReach(Powers))
  {
    std::copy_n(kernel.Pole, VPairs, Poles.begin());
  }
};

/** Returns the tables for a kernel's poles from a cache. Making them takes longer than a launch. Each thread keeps the
 * tables of the last four sets of poles, because the axes of an image have the same or a few sigmas, and because
 * filters are run repeatedly. */
template <typename T, unsigned int VPairs>
const PoleTables<T, VPairs> &
GetPoleTables(const CudaGaussianImpulseResponse & kernel)
{
  using Tables = PoleTables<T, VPairs>;
  constexpr size_t                       mostKept = 4;
  static thread_local std::deque<Tables> kept; // most recently made first
  const auto                             isOfKernel = [&kernel](const Tables & tables) {
    return std::equal(tables.Poles.begin(), tables.Poles.end(), kernel.Pole);
  };
  const auto found = std::find_if(kept.begin(), kept.end(), isOfKernel);
  if (found != kept.end())
  {
    return *found;
  }
  kept.emplace_front(kernel);
  if (kept.size() > mostKept)
  {
    kept.pop_back();
  }
  return kept.front();
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
  const WarpShares   parts = GetWarpShares(schedule.Segments, VPairs);
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

/** Returns whether a block of this shape is small enough for contiguous lines of several sources. */
bool
FitsBlock(const LaunchShape & shape, int device)
{
  return shape.Block.x * shape.Block.y * shape.Block.z <= ContiguousThreads &&
         shape.SharedBytes <= GetDeviceProperties(device).SharedMemoryPerBlockOptin;
}

template <auto VKernel, typename TArguments>
void
LaunchTiles(const LaunchShape & shape, const TArguments & arguments, const Context & context)
{
  static SharedMemoryOptIn grant;
  grant.Raise(VKernel, context.GetDevice());
  ITK_CUDA_CALL(LaunchKernel(VKernel, shape.Grid, shape.Block, shape.SharedBytes, context.GetStream(), arguments));
}

template <typename T, unsigned int VPairs, AxisKind VKind, TileTask VTask, unsigned int VResults>
void
LaunchLinePass(const LinePassArguments<T, VPairs> & arguments, const Context & context)
{
  LaunchShape shape = MakeLaunchShape<T, VPairs>(VKind, arguments.Geometry, arguments.Schedule);
  if (VKind == AxisKind::Strided && VTask == TileTask::FilterFromEndStates)
  {
    shape.SharedBytes += GetStridedEdgeBytes(sizeof(T), VPairs);
  }
  LaunchTiles<LinePassKernel<T, VPairs, VKind, VTask, VResults>>(shape, arguments, context);
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

/** Describes the complete segments of an image's contiguous lines. A box is the part of a warp. */
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
  if (!arguments.Aligned || !FitsTensorMap(makeBox(arguments.Sources[0])) || !HasBulkCopies(device))
  {
    return;
  }
  arguments.LoadsInBulk = true;
  for (unsigned int i = 0; i < arguments.NumberOfSources; ++i)
  {
    arguments.SourceMaps[i] = MakeTensorMap(makeBox(arguments.Sources[i]));
  }
  // Boxes of overlapping tiles also hold pixels of the warm-up, which must not be written.
  const bool stores = arguments.NumberOfSources > 1 || arguments.Results[0].Combine == CudaGaussianCombine::Store;
  arguments.StoresInBulk = stores && arguments.Schedule.WarmUp == 0;
  arguments.DestinationMap = MakeTensorMap(makeBox(arguments.Results[0].Destination));
}

bool
IsAligned(const DeviceView & image)
{
  return reinterpret_cast<uintptr_t>(image.Data) % 16 == 0;
}

/** Returns whether lines, or rows of strided lines, are multiples of 16 bytes apart. */
bool
AreLinesAligned(const LineGeometry & geometry, unsigned int axis, size_t bytesPerComponent)
{
  const auto isAligned = [bytesPerComponent](size_t elements) { return elements * bytesPerComponent % 16 == 0; };
  return isAligned(geometry.OuterStride) && (axis == 0 || isAligned(geometry.LineStride));
}

/** Makes the arguments of a pass, except its sources and results. */
template <typename T, unsigned int VPairs>
LinePassArguments<T, VPairs>
MakeLinePassArguments(const CudaGaussianLinePass & pass,
                      const LineSchedule &         schedule,
                      const DeviceView &           source,
                      const LineCut &              cut)
{
  const CudaGaussianImpulseResponse & kernel = pass.Results.front().Kernel;
  const PoleTables<T, VPairs> &       tables = GetPoleTables<T, VPairs>(kernel);
  const FirstPixels<T>                first = GetFirstPixels<T>(pass, source, cut);
  LinePassArguments<T, VPairs>        arguments{};
  arguments.First = first.Data;
  arguments.FirstStride = first.Stride;
  arguments.EndIsCut = cut.EndIsCut;
  arguments.Geometry = MakeLineGeometry(source, pass.Axis);
  arguments.Aligned = AreLinesAligned(arguments.Geometry, pass.Axis, sizeof(T));
  arguments.Schedule = schedule;
  arguments.Dynamics = tables.Dynamics;
  arguments.Powers = tables.Powers;
  arguments.Ends = tables.Ends;
  arguments.Width = GetWarpShares(schedule.Segments, VPairs).Width;
  arguments.Reach = tables.Reach;
  if (SolvesEdgeStates(pass, schedule, source))
  {
    arguments.EdgeSolver =
      MakeEdgeStateSolver<T, VPairs>(kernel, schedule.Boundary, arguments.Geometry.LineLength, true);
  }
  return arguments;
}

template <typename T, unsigned int VPairs>
void
AddSource(LinePassArguments<T, VPairs> & arguments, const DeviceView & image, const PolePairState<T> * edges)
{
  arguments.Edges[arguments.NumberOfSources] = edges;
  arguments.Sources[arguments.NumberOfSources++] = static_cast<const T *>(image.Data);
  arguments.Aligned = arguments.Aligned && IsAligned(image);
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
  arguments.Aligned = arguments.Aligned && IsAligned(image);
}

template <typename T, unsigned int VPairs, AxisKind VKind>
void
RunLinePassAlong(const CudaGaussianLinePass &    pass,
                 const LineSchedule &            schedule,
                 const std::vector<DeviceView> & images,
                 Workspace                       workspace,
                 const Context &                 context,
                 const LineCut &                 cut)
{
  const DeviceView & source = images[pass.Source];
  auto               arguments = MakeLinePassArguments<T, VPairs>(pass, schedule, source, cut);
  AddSource(arguments, source, MakeEdges<T, VPairs>(pass, schedule, source, workspace, context));
  for (unsigned int r = 0; r < pass.Results.size(); ++r)
  {
    SetResult(arguments, r, pass.Results[r], images);
  }

  if (VKind == AxisKind::Contiguous)
  {
    SetBulkCopies(arguments, context.GetDevice());
  }
  if (SolvesEdgeStates(pass, schedule, source))
  {
    LaunchLinePass<T, VPairs, VKind, TileTask::FilterFromEndStates, 1>(arguments, context);
    return;
  }
  if (schedule.Method != LineMethod::TileScan)
  {
    LaunchFilter<T, VPairs, VKind, TileTask::Filter>(arguments, pass.Results.size(), context);
    return;
  }
  arguments.States = static_cast<PolePairState<T> *>(workspace.Take(GetStateBytes(pass, schedule, source)));
  LaunchLinePass<T, VPairs, VKind, TileTask::WriteEndStates, 1>(arguments, context);
  LaunchScan<T, VPairs>(pass, schedule, source, cut, arguments.Edges[0], arguments.States, context);
  LaunchFilter<T, VPairs, VKind, TileTask::FilterFromStates>(arguments, pass.Results.size(), context);
}

/** Runs passes along contiguous lines that combine in one image. They run in one kernel if a block has room for the
 * tiles of two sources, otherwise one after the other. */
template <typename T, unsigned int VPairs>
void
RunCombiningPassesOf(const CudaGaussianLinePass *    passes,
                     unsigned int                    count,
                     const LineSchedule &            schedule,
                     const std::vector<DeviceView> & images,
                     Workspace                       workspace,
                     const Context &                 context)
{
  using Arguments = LinePassArguments<T, VPairs>;
  Arguments  arguments = MakeLinePassArguments<T, VPairs>(*passes, schedule, images[passes->Source], {});
  const auto shape = MakeLaunchShape<T, VPairs, 2>(AxisKind::Contiguous, arguments.Geometry, schedule);
  if (schedule.Method != LineMethod::TileScan && FitsBlock(shape, context.GetDevice()))
  {
    for (unsigned int i = 0; i < count; ++i)
    {
      const DeviceView & source = images[passes[i].Source];
      AddSource(arguments, source, MakeEdges<T, VPairs>(passes[i], schedule, source, workspace, context));
      SetResult(arguments, i, passes[i].Results.front(), images);
    }
    SetBulkCopies(arguments, context.GetDevice());
    const auto launch = SolvesEdgeStates(*passes, schedule, images[passes->Source])
                          ? LaunchTiles<CombiningLinePassKernel<T, VPairs, TileTask::FilterFromEndStates>, Arguments>
                          : LaunchTiles<CombiningLinePassKernel<T, VPairs, TileTask::Filter>, Arguments>;
    launch(shape, arguments, context);
    return;
  }
  for (unsigned int i = 0; i < count; ++i)
  {
    RunLinePassAlong<T, VPairs, AxisKind::Contiguous>(passes[i], schedule, images, workspace, context, {});
  }
}

template <typename T, unsigned int VPairs>
LaunchShape
MakeQuotientShape(const QuotientPass & pass)
{
  return MakeLaunchShape<T, VPairs, 2>(AxisKind::Contiguous, MakeLineGeometry(pass.Images[0], 0), pass.Schedule);
}

template <typename T, unsigned int VPairs>
LaunchShape
MakeProductShape(const ProductPass & pass, const LineSchedule & schedule)
{
  const LineGeometry geometry = MakeLineGeometry(pass.Images.front(), 0);
  return pass.Passes.size() == 2 ? MakeLaunchShape<T, VPairs, 2>(AxisKind::Contiguous, geometry, schedule)
                                 : MakeLaunchShape<T, VPairs, 3>(AxisKind::Contiguous, geometry, schedule);
}

/** Runs the first pass of smoothing with a mask. Returns false if there is no kernel for it. */
bool
TryMaskPass(const CudaGaussianLinePass & pass,
            const CudaGaussianBoundary & boundary,
            const MaskedSource &         source,
            const DeviceView &           destination,
            const Context &              context)
{
  if (boundary.Mode != CudaFiltersEnums::BoundaryMode::Nearest || source.Valid.Size != destination.Size ||
      source.Valid.Stride != destination.Stride || HasKernelTimeout(context.GetDevice()))
  {
    return false;
  }
  if (RunStripMaskPass(pass, source, destination, context))
  {
    return true;
  }
  LineProblem problem = MakeLineProblem(pass, destination);
  problem.SharedMemoryPerBlock = GetDeviceProperties(context.GetDevice()).SharedMemoryPerBlockOptin;
  const auto schedule = MakeLineSchedule(problem, LineMethod::WholeLine);
  if (pass.Axis == 0 || !schedule)
  {
    return false;
  }
  VisitPass(pass, destination, [&](auto zero, auto pairs) {
    using T = decltype(zero);
    constexpr unsigned int polePairs = decltype(pairs)::value;
    auto                   arguments = MakeLinePassArguments<T, polePairs>(pass, *schedule, destination, {});
    arguments.Mask = static_cast<const unsigned char *>(source.Valid.Data);
    arguments.Sources[0] = static_cast<const T *>(source.Image);
    arguments.First = arguments.Sources[0]; // so that the first pixels are read from the tile
    arguments.Reference = static_cast<const T *>(source.Reference);
    SetResult(arguments, 0, { pass.Results.front().Kernel, 0, CudaGaussianCombine::Store }, { destination });
    const auto launch = source.Image ? LaunchLinePass<T, polePairs, AxisKind::Strided, TileTask::FilterValid, 1>
                                     : LaunchLinePass<T, polePairs, AxisKind::Strided, TileTask::FilterMask, 1>;
    launch(arguments, context);
  });
  return true;
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
/** Verifies that a part of an image can be filtered.
 * \exception ExceptionObject if the part does not consist of whole chunks, or lacks states that it needs */
void
VerifyCut(const CudaGaussianLinePass & pass,
          const LineSchedule &         schedule,
          const DeviceView &           source,
          const LineCut &              cut)
{
  const size_t length = source.Size[pass.Axis];
  if (!cut.IsCut())
  {
    return;
  }
  if (HasEdgeStates(schedule))
  {
    itkGenericExceptionMacro("An image that is cut, and BoundaryMode is " << schedule.Boundary.Mode
                                                                          << "; it must be Nearest");
  }
  if (pass.Axis == 0)
  {
    itkGenericExceptionMacro("An image that is cut across axis 0; it must be another axis");
  }
  if (cut.EndIsCut && length % ChunkLength != 0)
  {
    itkGenericExceptionMacro("A part of " << length << " pixels that ends with a cut; it must have a multiple of "
                                          << ChunkLength);
  }
  if (schedule.LookAhead == 0 && ((cut.BeginIsCut() && !cut.StatesBefore) || (cut.EndIsCut && !cut.StatesBehind)))
  {
    itkGenericExceptionMacro("States at the cuts are not given; sigma is " << pass.Results.front().Kernel.SigmaInPixels
                                                                           << " pixels and needs them");
  }
}
} // namespace

LineSchedule
GetLineSchedule(const CudaGaussianLinePass &    pass,
                const std::vector<DeviceView> & images,
                int                             device,
                const LineCut &                 cut)
{
  const DeviceView & source = images[pass.Source];
  const AxisKind     kind = GetAxisKind(pass.Axis);
  return MakeLineSchedule({ kind,
                            source.Size[pass.Axis],
                            pass.Results.front().Kernel.SigmaInPixels,
                            static_cast<unsigned int>(CudaComponentSize(source.ComponentType)),
                            pass.Results.front().Kernel.NumberOfPolePairs,
                            GetDeviceProperties(device).SharedMemoryPerBlockOptin,
                            kind == AxisKind::Strided && CanUseStrips(pass, images, device),
                            cut.WholeLength });
}

bool
SolvesEdgeStates(const CudaGaussianLinePass & pass, const LineSchedule & schedule, const DeviceView & source)
{
  const CudaGaussianImpulseResponse & kernel = pass.Results.front().Kernel;
  return HasEdgeStates(schedule) && pass.Results.size() == 1 && HasEdgeStateSolver(kernel, schedule.Boundary.Mode) &&
         HasLineEndStates(schedule, MakeLineProblem(pass, source));
}

size_t
GetLineStateBytes(const CudaGaussianLinePass & pass, const DeviceView & source)
{
  const size_t lines = MakeLineGeometry(source, pass.Axis).GetNumberOfLines();
  return 2 * pass.Results.front().Kernel.NumberOfPolePairs * lines * 2 * CudaComponentSize(source.ComponentType);
}

size_t
GetEdgeBytes(const CudaGaussianLinePass & pass, const LineSchedule & schedule, const DeviceView & source)
{
  const bool areSummed = HasEdgeStates(schedule) && !SolvesEdgeStates(pass, schedule, source);
  return areSummed ? GetLineStateBytes(pass, source) : 0;
}

size_t
GetStateBytes(const CudaGaussianLinePass & pass, const LineSchedule & schedule, const DeviceView & source)
{
  if (schedule.Method != LineMethod::TileScan && schedule.Method != LineMethod::StripScan)
  {
    return 0;
  }
  const LineGeometry geometry = MakeLineGeometry(source, pass.Axis);
  const auto         bytes = static_cast<unsigned int>(CudaComponentSize(source.ComponentType));
  const StoredStates kept = GetStoredStates(schedule, GetAxisKind(pass.Axis), geometry.LineLength, bytes);
  const size_t       states = 2 * pass.Results.front().Kernel.NumberOfPolePairs;
  return kept.Number * states * geometry.GetNumberOfLines() * 2 * bytes;
}

size_t
GetLinePassWorkspace(const CudaGaussianLinePass & pass, const LineSchedule & schedule, const DeviceView & source)
{
  return Workspace::GetPieceSize(GetEdgeBytes(pass, schedule, source)) + GetStateBytes(pass, schedule, source);
}

void
RunLinePass(const CudaGaussianLinePass &    pass,
            const LineSchedule &            schedule,
            const std::vector<DeviceView> & images,
            Workspace                       workspace,
            const Context &                 context,
            const LineCut &                 cut)
{
  VerifyCut(pass, schedule, images[pass.Source], cut);
  if (schedule.Method == LineMethod::Strip || schedule.Method == LineMethod::StripScan)
  {
    RunStripPass(pass, schedule, images, cut, workspace, context);
    return;
  }
  VisitPass(pass, images[pass.Source], [&](auto zero, auto pairs) {
    using T = decltype(zero);
    constexpr unsigned int number = decltype(pairs)::value;
    const auto run = GetAxisKind(pass.Axis) == AxisKind::Contiguous ? RunLinePassAlong<T, number, AxisKind::Contiguous>
                                                                    : RunLinePassAlong<T, number, AxisKind::Strided>;
    run(pass, schedule, images, workspace, context, cut);
  });
}

namespace
{
/** Returns the number of passes from `first` on that combine in one image and have the same poles, so that one kernel
 * can run them. */
unsigned int
CountCombiningPasses(const std::vector<CudaGaussianLinePass> & passes, size_t first)
{
  const CudaGaussianPassResult & result = passes[first].Results.front();
  unsigned int                   count = 1;
  while (passes[first].Axis == 0 && !ReadsDestination(result.Combine) && count < MaximumResults &&
         first + count < passes.size() && passes[first + count].Axis == 0 &&
         ReadsDestination(passes[first + count].Results.front().Combine) &&
         passes[first + count].Results.front().Kernel.HasPolesOf(result.Kernel) &&
         passes[first + count].Results.front().Destination == result.Destination)
  {
    ++count;
  }
  return count;
}

/** Runs `count` passes that combine, or one pass. */
void
RunPasses(const CudaGaussianLinePass *    passes,
          unsigned int                    count,
          const LineSchedule &            schedule,
          const std::vector<DeviceView> & images,
          Workspace                       workspace,
          const Context &                 context,
          const LineCut &                 cut)
{
  if (count > 1)
  {
    VisitPass(*passes, images[passes->Source], [&](auto zero, auto pairs) {
      RunCombiningPassesOf<decltype(zero), decltype(pairs)::value>(passes, count, schedule, images, workspace, context);
    });
  }
  else
  {
    RunLinePass(*passes, schedule, images, workspace, context, cut);
  }
}

/** Returns the number of pixels that a pass may filter at a time. If the driver ends long kernels, the limit is
 * LaunchPixels. In addition, the states of these pixels take at most a sixteenth of an image whose lines have whole
 * chunks, as the states of two pole pairs do. A part of an image that was cut is always filtered as a whole. */
size_t
GetMaximumPixels(const CudaGaussianLinePass & pass,
                 const LineSchedule &         schedule,
                 const DeviceView &           source,
                 int                          device,
                 const LineCut &              cut)
{
  const size_t pixels = source.GetNumberOfElements();
  if (cut.IsCut())
  {
    return pixels;
  }
  const LineGeometry geometry = MakeLineGeometry(source, pass.Axis);
  const size_t       inChunks = geometry.GetNumberOfLines() * RoundUp(geometry.LineLength, ChunkLength);
  const size_t       allowed = inChunks * CudaComponentSize(source.ComponentType) / 16;
  const size_t       states = GetStateBytes(pass, schedule, source);
  const double       share = states > allowed ? static_cast<double>(allowed) / static_cast<double>(states) : 1.0;
  const auto         withStates = static_cast<size_t>(share * static_cast<double>(pixels));
  return HasKernelTimeout(device) ? std::min(withStates, LaunchPixels) : withStates;
}

/** Calls `function` for groups of the images' lines. Lines are independent, so the bits of a result do not depend on
 * the groups. */
void
ForEachPassGroup(const CudaGaussianLinePass &    pass,
                 const std::vector<DeviceView> & images,
                 size_t                          pixels,
                 const LineGroupFunction &       function)
{
  if (pixels >= images.front().GetNumberOfElements())
  {
    function(images, pass.Axis, 1.0f);
    return;
  }
  // Groups consist of whole strips, and therefore of whole cache lines.
  ForEachLineGroup(images, pass.Axis, pixels, StripColumns, function);
}

LineCut
GetCut(const std::vector<LineCut> & cuts, size_t pass)
{
  return pass < cuts.size() ? cuts[pass] : LineCut{};
}
} // namespace

bool
RunMaskPass(const CudaGaussianLinePass & pass,
            const CudaGaussianBoundary & boundary,
            const DeviceView &           valid,
            const DeviceView &           destination,
            const Context &              context)
{
  return TryMaskPass(pass, boundary, { nullptr, nullptr, valid }, destination, context);
}

bool
RunValidPass(const CudaGaussianLinePass & pass,
             const CudaGaussianBoundary & boundary,
             const DeviceView &           image,
             const DeviceView &           valid,
             const void *                 referenceValue,
             const DeviceView &           destination,
             const Context &              context)
{
  return image.Stride == destination.Stride &&
         TryMaskPass(pass, boundary, { image.Data, referenceValue, valid }, destination, context);
}

QuotientPass
MakeQuotientPass(const CudaGaussianLinePass & pass,
                 const CudaGaussianBoundary & boundary,
                 const DeviceView &           weights,
                 const DeviceView &           values,
                 const DeviceView &           output,
                 int                          device)
{
  const CudaGaussianPassResult result{ pass.Results.front().Kernel, 2, CudaGaussianCombine::Store };
  QuotientPass                 last{ { pass.Axis, 0, { result } }, {}, { weights, values, output } };
  last.Schedule = GetLineSchedule(last.Pass, last.Images, device);
  last.Schedule.Boundary = boundary;
  return last;
}

bool
HasQuotientKernel(const QuotientPass & pass, int device)
{
  // In the mode Constant, weights and values continue with different values.
  if (pass.Pass.Axis != 0 || pass.Schedule.Boundary.Mode == CudaFiltersEnums::BoundaryMode::Constant ||
      GetLinePassWorkspace(pass.Pass, pass.Schedule, pass.Images[0]) > 0 || HasKernelTimeout(device))
  {
    return false;
  }
  return VisitPass(pass.Pass, pass.Images[0], [&](auto zero, auto pairs) {
    return FitsBlock(MakeQuotientShape<decltype(zero), decltype(pairs)::value>(pass), device);
  });
}

void
RunQuotientPass(const QuotientPass &     pass,
                const CudaGaussianMask & mask,
                const void *             referenceValue,
                const Context &          context)
{
  VisitPass(pass.Pass, pass.Images[0], [&](auto zero, auto pairs) {
    using T = decltype(zero);
    constexpr unsigned int polePairs = decltype(pairs)::value;
    using Arguments = QuotientPassArguments<T, polePairs>;
    Arguments arguments{ MakeLinePassArguments<T, polePairs>(pass.Pass, pass.Schedule, pass.Images[0], {}),
                         { static_cast<const ReferenceValue<T> *>(referenceValue),
                           static_cast<T>(mask.FillValue),
                           static_cast<T>(mask.MinimumWeight) } };
    for (unsigned int i = 0; i < 2; ++i)
    {
      AddSource<T, polePairs>(arguments.Pass, pass.Images[i], nullptr);
      SetResult(arguments.Pass, i, pass.Pass.Results.front(), pass.Images);
    }
    SetBulkCopies(arguments.Pass, context.GetDevice());
    const auto launch = SolvesEdgeStates(pass.Pass, pass.Schedule, pass.Images[0])
                          ? LaunchTiles<QuotientLinePassKernel<T, polePairs, TileTask::FilterFromEndStates>, Arguments>
                          : LaunchTiles<QuotientLinePassKernel<T, polePairs, TileTask::Filter>, Arguments>;
    launch(MakeQuotientShape<T, polePairs>(pass), arguments, context);
  });
}

bool
HasProductKernel(const ProductPass & pass, int device)
{
  const CudaGaussianLinePass & first = pass.Passes.front();
  const LineSchedule           schedule = GetLineSchedule(first, pass.Images, device);
  const bool                   fitsPasses =
    (pass.Passes.size() == 2 || pass.Passes.size() == 3) &&
    std::all_of(pass.Passes.begin(), pass.Passes.end(), [&first](const CudaGaussianLinePass & other) {
      return other.Axis == 0 && other.Results.front().Kernel.HasPolesOf(first.Results.front().Kernel);
    });
  if (!fitsPasses || schedule.Method != LineMethod::WholeLine || HasKernelTimeout(device))
  {
    return false;
  }
  return VisitPass(first, pass.Images.front(), [&](auto zero, auto pairs) {
    return FitsBlock(MakeProductShape<decltype(zero), decltype(pairs)::value>(pass, schedule), device);
  });
}

void
RunProductPass(const ProductPass & pass, const Context & context)
{
  const CudaGaussianLinePass & first = pass.Passes.front();
  const LineSchedule           schedule = GetLineSchedule(first, pass.Images, context.GetDevice());
  VisitPass(first, pass.Images.front(), [&](auto zero, auto pairs) {
    using T = decltype(zero);
    constexpr unsigned int polePairs = decltype(pairs)::value;
    using Arguments = ProductPassArguments<T, polePairs>;
    Arguments arguments{ MakeLinePassArguments<T, polePairs>(first, schedule, pass.Images[first.Source], {}), {} };
    for (size_t i = 0; i < pass.Products.size(); ++i)
    {
      arguments.Products[i] = static_cast<T *>(pass.Products[i].Data);
      arguments.Pass.Aligned = arguments.Pass.Aligned && IsAligned(pass.Products[i]);
    }
    for (unsigned int i = 0; i < pass.Passes.size(); ++i)
    {
      AddSource<T, polePairs>(arguments.Pass, pass.Images[pass.Passes[i].Source], nullptr);
      arguments.Pass.Results[i] = { arguments.Products[0],
                                    MakeLineResponse<T, polePairs>(pass.Passes[i].Results.front().Kernel),
                                    CudaGaussianCombine::Store };
    }
    SetBulkCopies(arguments.Pass, context.GetDevice());
    const auto launch = pass.Passes.size() == 2 ? LaunchTiles<ProductLinePassKernel<T, polePairs, 2>, Arguments>
                                                : LaunchTiles<ProductLinePassKernel<T, polePairs, 3>, Arguments>;
    launch(MakeProductShape<T, polePairs>(pass, schedule), arguments, context);
  });
}

size_t
GetMaximumEdgeBytes(const CudaGaussianPlan & plan, const DeviceView::SizeType & size, CudaComponentType type)
{
  if (plan.Boundary.Mode == CudaFiltersEnums::BoundaryMode::Nearest)
  {
    return 0;
  }
  const DeviceView image = ViewAdjacent(size, type, nullptr);
  size_t           bytes = 0;
  for (size_t i = 0; i < plan.Passes.size(); ++i)
  {
    bytes = std::max(bytes, CountCombiningPasses(plan.Passes, i) * GetLineStateBytes(plan.Passes[i], image));
  }
  return bytes;
}

size_t
GetPlanWorkspace(const CudaGaussianPlan &        plan,
                 const std::vector<DeviceView> & images,
                 int                             device,
                 const std::vector<LineCut> &    cuts)
{
  size_t bytes = 0;
  for (size_t i = 0; i < plan.Passes.size(); ++i)
  {
    CudaGaussianLinePass pass = plan.Passes[i];
    const LineCut        cut = GetCut(cuts, i);
    LineSchedule         schedule = GetLineSchedule(pass, images, device, cut);
    schedule.Boundary = plan.Boundary;
    if (GetLinePassWorkspace(pass, schedule, images[pass.Source]) > 0)
    {
      const size_t pixels = GetMaximumPixels(pass, schedule, images[pass.Source], device, cut);
      ForEachPassGroup(pass, images, pixels, [&](const std::vector<DeviceView> & lines, unsigned int axis, float) {
        pass.Axis = axis;
        const DeviceView & source = lines[pass.Source];
        const size_t       edges = Workspace::GetPieceSize(GetEdgeBytes(pass, schedule, source));
        const size_t       states = GetStateBytes(pass, schedule, source);
        bytes = std::max(bytes, states + CountCombiningPasses(plan.Passes, i) * edges);
      });
    }
  }
  return bytes;
}

void
RunPlan(const CudaGaussianPlan &        plan,
        const std::vector<DeviceView> & images,
        Workspace                       workspace,
        const Context &                 context,
        const std::vector<LineCut> &    cuts)
{
  for (size_t first = 0; first < plan.Passes.size();)
  {
    const unsigned int                count = CountCombiningPasses(plan.Passes, first);
    std::vector<CudaGaussianLinePass> passes(plan.Passes.begin() + first, plan.Passes.begin() + first + count);
    const CudaGaussianLinePass        pass = passes.front();
    const LineCut                     cut = GetCut(cuts, first);
    LineSchedule                      schedule = GetLineSchedule(pass, images, context.GetDevice(), cut);
    schedule.Boundary = plan.Boundary;
    const size_t pixels = GetMaximumPixels(pass, schedule, images[pass.Source], context.GetDevice(), cut);
    ForEachPassGroup(pass, images, pixels, [&](const std::vector<DeviceView> & lines, unsigned int axis, float) {
      for (CudaGaussianLinePass & part : passes)
      {
        part.Axis = axis;
      }
      RunPasses(passes.data(), count, schedule, lines, workspace, context, cut);
    });
    first += count;
  }
  if (!plan.Rotation.empty())
  {
    const bool isDouble = images.front().ComponentType == CudaComponentType::Double;
    (isDouble ? RotateOn<double> : RotateOn<float>)(plan, images, context);
  }
}

namespace
{
/** Runs the first or the last step of a TileScan over chunks of strided lines in tiles: writes the end states, or
 * filters from start states. */
void
RunChunkTiles(const CudaGaussianLinePass &    pass,
              const LineSchedule &            schedule,
              const std::vector<DeviceView> & images,
              const LineCut &                 cut,
              void *                          states,
              bool                            writesEndStates,
              const Context &                 context)
{
  VisitPass(pass, images[pass.Source], [&](auto zero, auto pairs) {
    using T = decltype(zero);
    constexpr unsigned int polePairs = decltype(pairs)::value;
    const DeviceView &     source = images[pass.Source];
    const size_t           segments = RoundUp(DivideUp(source.Size[pass.Axis], SegmentLength<T>), ChunkSegments<T>);
    LineSchedule           tiles = schedule;
    tiles.Method = LineMethod::TileScan;
    tiles.Segments = static_cast<unsigned int>(std::min<size_t>(segments, TileScanSegments));
    tiles.WarmUp = 0;
    tiles.Step = size_t{ tiles.Segments } * SegmentLength<T>;
    tiles.NumberOfTiles = DivideUp(source.Size[pass.Axis], tiles.Step);
    auto arguments = MakeLinePassArguments<T, polePairs>(pass, tiles, source, cut);
    AddSource<T, polePairs>(arguments, source, nullptr);
    for (unsigned int r = 0; r < pass.Results.size(); ++r)
    {
      SetResult(arguments, r, pass.Results[r], images);
    }
    arguments.States = static_cast<PolePairState<T> *>(states);
    if (writesEndStates)
    {
      LaunchLinePass<T, polePairs, AxisKind::Strided, TileTask::WriteEndStates, 1>(arguments, context);
      return;
    }
    LaunchFilter<T, polePairs, AxisKind::Strided, TileTask::FilterFromStates>(arguments, pass.Results.size(), context);
  });
}
} // namespace

void
RunChunkEndStates(const CudaGaussianLinePass &    pass,
                  const LineSchedule &            schedule,
                  const std::vector<DeviceView> & images,
                  const LineCut &                 cut,
                  void *                          endStates,
                  const Context &                 context)
{
  if (RunsInStrips(schedule))
  {
    RunStripEndStates(pass, schedule, images, cut, endStates, context);
    return;
  }
  RunChunkTiles(pass, schedule, images, cut, endStates, true, context);
}

void
RunChunksFromStates(const CudaGaussianLinePass &    pass,
                    const LineSchedule &            schedule,
                    const std::vector<DeviceView> & images,
                    const LineCut &                 cut,
                    const void *                    starts,
                    const Context &                 context)
{
  if (RunsInStrips(schedule))
  {
    RunStripFromStates(pass, images, cut, starts, context);
    return;
  }
  RunChunkTiles(pass, schedule, images, cut, const_cast<void *>(starts), false, context);
}
} // namespace itk::cuda::gaussian
