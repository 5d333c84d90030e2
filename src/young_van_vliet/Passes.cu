// SPDX-License-Identifier: Apache-2.0
#include "runtime/device/Call.h"
#include "runtime/device/Device.h"
#include "runtime/device/Stream.h"
#include "runtime/device/Launch.h"
#include "runtime/image/LineGroups.h"
#include "young_van_vliet/Coefficients.h"
#include "young_van_vliet/Passes.h"
#include "young_van_vliet/Kernels.cuh"
#include "runtime/image/Math.h"
#include "runtime/memory/DeviceImage.h"

#include <algorithm>
#include <vector>

// Launches the kernels of one pass of Young and van Vliet's filter, along any axis. Lines along x are filtered in tiles
// of shared memory if the plan allows it (UsesTiles()); otherwise they are transposed to columns, filtered like the
// lines along other axes, and transposed back. Where the driver ends long kernels, a pass takes several launches.

namespace itk::cuda::young_van_vliet
{
namespace
{
using LinePartition = CudaFiltersEnums::Partition;

/** Returns the geometry of the lines along x, which are one behind the other in memory, with padding. */
LineGeometry
MakeRowGeometry(const DeviceView & view)
{
  LineGeometry geometry{};
  geometry.LineLength = view.Size[0];
  geometry.LineStride = 1;
  geometry.InnerCount = 1;
  geometry.OuterCount = view.GetNumberOfElements() / view.Size[0];
  geometry.OuterStride = view.Stride[1];
  return geometry;
}

/** Returns the image as a matrix of its rows. */
template <typename T>
Matrix<T>
MakeRowMatrix(const DeviceView & view)
{
  return { static_cast<T *>(view.Data), view.GetNumberOfElements() / view.Size[0], view.Size[0], view.Stride[1] };
}

/** Returns the matrix, without padding, whose columns are the image's rows, in the memory of `view`. */
template <typename T>
Matrix<T>
MakeColumnMatrix(const DeviceView & view)
{
  const size_t rows = view.GetNumberOfElements() / view.Size[0];
  return { static_cast<T *>(view.Data), view.Size[0], rows, rows };
}

template <typename T>
LineGeometry
MakeColumnGeometry(const Matrix<T> & columns)
{
  LineGeometry geometry{};
  geometry.LineLength = columns.Rows;
  geometry.LineStride = columns.Pitch;
  geometry.InnerCount = columns.Columns;
  geometry.OuterCount = 1;
  return geometry;
}

template <typename T>
void
Transpose(const Matrix<T> & source, const Matrix<T> & destination, const Context & context)
{
  const size_t tiles = DivideUp(source.Rows, TransposeTile) * DivideUp(source.Columns, TransposeTile);
  ITK_CUDA_CALL(LaunchKernel(TransposeKernel<T>,
                             MakeGrid(tiles),
                             dim3(TransposeTile, TransposeRows),
                             0,
                             context.GetStream(),
                             Matrix<const T>{ source.Data, source.Rows, source.Columns, source.Pitch },
                             destination));
}

/** Returns whether one thread block has a thread for each section of its lines. */
bool
FitsOneBlock(const CudaPartitionedGaussianPlan & plan, size_t numberOfSections)
{
  return plan.LinesPerBlock * numberOfSections <= MaximumThreads;
}

/** Waits for the launch and reports progress, so that the receiver can abort before the next launch. */
void
ReportAfterLaunch(const Context & context, const PassProgress & progress, float done)
{
  ITK_CUDA_CALL(cudaStreamSynchronize(context.GetStream()));
  if (progress)
  {
    progress(done);
  }
}

/** Returns whether lines that are each filtered by one thread may take longer than the driver's watchdog allows, on
 * devices with a watchdog. */
bool
NeedsParts(const CudaPartitionedGaussianPlan & plan, size_t lines, size_t lineLength)
{
  return plan.LinePartition == LinePartition::OneWay &&
         (lineLength > LaunchLineLength || lines * lineLength > LaunchPixels);
}

size_t
GetSweepBytes(size_t lines, size_t bytesPerNumber)
{
  return std::min(lines, LaunchLines) * NumbersPerSweep * bytesPerNumber;
}

/** Returns whether the sections of a line are filtered in shared memory (SectionInTile). */
template <typename T>
bool
UsesTiles(const CudaPartitionedGaussianPlan & plan, const CudaPartitionedGaussianPass & pass, size_t lineLength)
{
  return plan.LinePartition == LinePartition::Exact &&
         plan.IntermediateStorage == CudaFiltersEnums::IntermediateStorage::Local &&
         !FitsOneBlock(plan, pass.NumberOfSections) && DivideUp(lineLength, pass.NumberOfSections) <= TileLength<T>;
}

/** Launches the kernels of a pass over strided lines, or over contiguous lines if UsesTiles() holds. */
template <typename T>
class PassLauncher
{
public:
  PassLauncher(const CudaPartitionedGaussianPlan & plan,
               const CudaPartitionedGaussianPass & pass,
               const LineGeometry &                geometry,
               const T *                           source,
               T *                                 destination,
               Workspace                           workspace,
               const Context &                     context,
               const PassProgress &                progress)
    : m_Plan(plan)
    , m_Pass(pass)
    , m_Workspace(workspace)
    , m_Context(context)
    , m_Progress(progress)
    , m_Grid(DivideUp(geometry.GetNumberOfLines(), plan.LinesPerBlock))
  {
    m_Arguments.Source = source;
    m_Arguments.Destination = destination;
    m_Arguments.Geometry = geometry;
    m_Arguments.Coefficients = RoundTo<T>(MakeSmootherCoefficients(pass.SigmaInPixels));
    m_Arguments.ExactBorders = plan.LineBorders == CudaFiltersEnums::LineBorders::Exact;
  }

  void
  Run() const
  {
    const bool local = m_Plan.IntermediateStorage == CudaFiltersEnums::IntermediateStorage::Local;
    if (m_Plan.LinePartition == LinePartition::Exact)
    {
      local ? this->RunExact<DeviceLocalIntermediate<T, SectionBatch>>()
            : this->RunExact<GlobalIntermediate<T, SectionBatch>>();
    }
    else
    {
      local ? this->RunWays<DeviceLocalIntermediate<T, LongSpanBatch>>()
            : this->RunWays<GlobalIntermediate<T, LongSpanBatch>>();
    }
  }

private:
  template <typename TIntermediate>
  void
  RunWays() const
  {
    if (NeedsParts(m_Plan, m_Arguments.Geometry.GetNumberOfLines(), m_Arguments.Geometry.LineLength) &&
        HasKernelTimeout(m_Context.GetDevice()))
    {
      this->RunOneWayInParts();
      return;
    }
    if (m_Plan.LinePartition == LinePartition::OneWay)
    {
      ITK_CUDA_CALL(LaunchKernel(OneWayKernel<T, TIntermediate>,
                                 MakeGrid(m_Grid),
                                 dim3(m_Plan.LinesPerBlock),
                                 0,
                                 m_Context.GetStream(),
                                 m_Arguments));
      return;
    }
    const std::vector<T> values =
      RoundTo<T>(MakeCentralWeights(m_Pass.SigmaInPixels, m_Pass.CentralRadius, m_Arguments.Geometry.LineLength));
    const bool        isInline = values.size() <= InlineRadius + 1;
    void * const      table = this->TakeMemory(isInline ? 0 : values.size() * sizeof(T));
    CentralWeights<T> weights{};
    weights.Radius = values.size() - 1;
    weights.Table = static_cast<const T *>(table);
    if (isInline)
    {
      std::copy(values.begin(), values.end(), weights.Inline);
    }
    else
    {
      // The source is pageable memory, so the values have been read when the call returns.
      ITK_CUDA_CALL(cudaMemcpyAsync(
        table, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice, m_Context.GetStream()));
    }
    ITK_CUDA_CALL(LaunchKernel(TwoWayKernel<T, TIntermediate>,
                               MakeGrid(m_Grid),
                               dim3(m_Plan.LinesPerBlock, 3),
                               0,
                               m_Context.GetStream(),
                               m_Arguments,
                               weights));
  }

  /** Filters groups of lines one after the other, in launches of a bounded number of pixels. */
  void
  RunOneWayInParts() const
  {
    const size_t lines = m_Arguments.Geometry.GetNumberOfLines();
    const size_t length = m_Arguments.Geometry.LineLength;
    LinePart<T>  part{};
    part.Sweeps = static_cast<T *>(this->TakeMemory(GetSweepBytes(lines, sizeof(T))));
    for (part.FirstLine = 0; part.FirstLine < lines; part.FirstLine += LaunchLines)
    {
      part.NumberOfLines = std::min(LaunchLines, lines - part.FirstLine);
      const size_t step = std::min(LaunchLineLength, LaunchPixels / part.NumberOfLines);
      const size_t count = DivideUp(length, step);
      for (size_t i = 0; i < 2 * count; ++i)
      {
        const bool   forward = i < count;
        const size_t place = forward ? i : 2 * count - 1 - i;
        part.Begin = place * step;
        part.End = std::min(length, part.Begin + step);
        this->LaunchPart(forward ? OneWayPartKernel<T, true> : OneWayPartKernel<T, false>, part);
        const double done = static_cast<double>(i + 1) / static_cast<double>(2 * count);
        const double linesDone = static_cast<double>(part.FirstLine) + done * static_cast<double>(part.NumberOfLines);
        ReportAfterLaunch(m_Context, m_Progress, static_cast<float>(linesDone / static_cast<double>(lines)));
      }
    }
  }

  void
  LaunchPart(void (*kernel)(PassArguments<T>, LinePart<T>), const LinePart<T> & part) const
  {
    const size_t blocks = DivideUp(part.NumberOfLines, m_Plan.LinesPerBlock);
    ITK_CUDA_CALL(
      LaunchKernel(kernel, MakeGrid(blocks), dim3(m_Plan.LinesPerBlock), 0, m_Context.GetStream(), m_Arguments, part));
  }

  template <typename TIntermediate>
  void
  RunExact() const
  {
    SectionArguments<T> sections{};
    sections.Layout = MakeSectionLayout(m_Arguments.Geometry.LineLength, m_Pass.NumberOfSections);
    sections.Powers = RoundTo<T>(MakeSectionPowers(m_Pass.SigmaInPixels, sections.Layout));
    if (FitsOneBlock(m_Plan, m_Pass.NumberOfSections))
    {
      const auto   kernel = ExactKernel<T, TIntermediate>;
      const dim3   threads(m_Plan.LinesPerBlock, static_cast<unsigned int>(m_Pass.NumberOfSections));
      const size_t shared = size_t{ threads.x } * threads.y * NumbersPerSection * sizeof(T);
      // At most 48 KB, which every device provides without an attribute.
      static_assert(MaximumThreads * NumbersPerSection * sizeof(double) <= 48 * 1024, "no attribute needed");
      ITK_CUDA_CALL(
        LaunchKernel(kernel, MakeGrid(m_Grid), threads, shared, m_Context.GetStream(), m_Arguments, sections));
      return;
    }
    if (UsesTiles<T>(m_Plan, m_Pass, m_Arguments.Geometry.LineLength))
    {
      constexpr size_t shared = SplitThreads * TilePitch<T> * sizeof(T);
      static_assert(shared <= 48 * 1024, "no attribute needed");
      this->RunSplit(SectionStatesKernel<T, SectionInTile>,
                     FilterSectionsKernel<T, SectionInTile, GlobalIntermediate<T, SectionBatch>>,
                     shared,
                     sections);
      return;
    }
    this->RunSplit(
      SectionStatesKernel<T, SectionInPlace>, FilterSectionsKernel<T, SectionInPlace, TIntermediate>, 0, sections);
  }

  /** Takes memory from a copy of the workspace, because each pass may use all of it. */
  void *
  TakeMemory(size_t bytes) const
  {
    return Workspace(m_Workspace).Take(bytes);
  }

  using SplitKernel = void (*)(PassArguments<T>, SectionArguments<T>);

  void
  RunSplit(SplitKernel statesKernel, SplitKernel filterKernel, size_t sharedBytes, SectionArguments<T> sections) const
  {
    const size_t lines = m_Arguments.Geometry.GetNumberOfLines();
    sections.States =
      static_cast<T *>(this->TakeMemory(m_Pass.NumberOfSections * NumbersPerSection * lines * sizeof(T)));
    const dim3 threads(m_Plan.LinesPerBlock, SplitThreads / m_Plan.LinesPerBlock);
    const dim3 grid = MakeGrid(m_Grid * DivideUp(m_Pass.NumberOfSections, threads.y));
    const dim3 scanGrid = MakeGrid(DivideUp(lines, ScanThreads));
    ITK_CUDA_CALL(LaunchKernel(statesKernel, grid, threads, sharedBytes, m_Context.GetStream(), m_Arguments, sections));
    ITK_CUDA_CALL(LaunchKernel(
      ScanSectionsKernel<T>, scanGrid, dim3(ScanThreads), 0, m_Context.GetStream(), m_Arguments, sections));
    ITK_CUDA_CALL(LaunchKernel(filterKernel, grid, threads, sharedBytes, m_Context.GetStream(), m_Arguments, sections));
  }

  const CudaPartitionedGaussianPlan & m_Plan;
  const CudaPartitionedGaussianPass & m_Pass;
  const Workspace                     m_Workspace;
  const Context &                     m_Context;
  const PassProgress &                m_Progress;
  size_t                              m_Grid;
  PassArguments<T>                    m_Arguments{};
};

template <typename T>
void
RunPassAs(const CudaPartitionedGaussianPlan & plan,
          const CudaPartitionedGaussianPass & pass,
          const DeviceView &                  source,
          const DeviceView &                  destination,
          Workspace                           workspace,
          const Context &                     context,
          const PassProgress &                progress)
{
  if (pass.Axis > 0 || UsesTiles<T>(plan, pass, source.Size[0]))
  {
    PassLauncher<T>(plan,
                    pass,
                    pass.Axis > 0 ? MakeLineGeometry(source, pass.Axis) : MakeRowGeometry(source),
                    static_cast<const T *>(source.Data),
                    static_cast<T *>(destination.Data),
                    workspace,
                    context,
                    progress)
      .Run();
    return;
  }
  // Transposes the rows to columns, filters the columns, and transposes back. Each image is used twice.
  const Matrix<T> columns = MakeColumnMatrix<T>(destination);
  const Matrix<T> filtered = MakeColumnMatrix<T>(source);
  Transpose(MakeRowMatrix<T>(source), columns, context);
  PassLauncher<T>(plan, pass, MakeColumnGeometry(columns), columns.Data, filtered.Data, workspace, context, progress)
    .Run();
  Transpose(filtered, MakeRowMatrix<T>(destination), context);
}
} // namespace

size_t
GetPassWorkspace(const CudaPartitionedGaussianPlan & plan,
                 const CudaPartitionedGaussianPass & pass,
                 const DeviceView::SizeType &        size,
                 CudaComponentType                   type)
{
  if (plan.LinePartition == LinePartition::TwoWay)
  {
    const size_t radius = std::min(pass.CentralRadius, size[pass.Axis]); // as in MakeCentralWeights()
    return radius > InlineRadius ? (radius + 1) * CudaComponentSize(type) : 0;
  }
  // The padding of rows is filtered like pixels, so it counts as lines along the other axes.
  size_t lines = DeviceImage::GetNumberOfBytes(size, type) / CudaComponentSize(type) / size[pass.Axis];
  if (pass.Axis == 0)
  {
    lines = size[1] * size[2] * size[3] * size[4];
  }
  if (NeedsParts(plan, lines, size[pass.Axis]))
  {
    return GetSweepBytes(lines, CudaComponentSize(type));
  }
  if (plan.LinePartition != LinePartition::Exact || FitsOneBlock(plan, pass.NumberOfSections))
  {
    return 0;
  }
  return pass.NumberOfSections * NumbersPerSection * lines * CudaComponentSize(type);
}

void
RunPass(const CudaPartitionedGaussianPlan & plan,
        const CudaPartitionedGaussianPass & pass,
        const DeviceView &                  source,
        const DeviceView &                  destination,
        Workspace                           workspace,
        const Context &                     context,
        const PassProgress &                progress)
{
  const auto run = source.ComponentType == CudaComponentType::Double ? RunPassAs<double> : RunPassAs<float>;
  if (plan.LinePartition == LinePartition::OneWay || source.GetNumberOfElements() <= LaunchPixels ||
      !HasKernelTimeout(context.GetDevice()))
  {
    run(plan, pass, source, destination, workspace, context, progress);
    return;
  }
  const auto runGroup = [&](const std::vector<DeviceView> & lines, unsigned int axis, float done) {
    CudaPartitionedGaussianPass part = pass;
    part.Axis = axis;
    run(plan, part, lines[0], lines[1], workspace, context, progress);
    ReportAfterLaunch(context, progress, done);
  };
  // The number of lines of the largest thread block, so that groups consist of whole blocks.
  constexpr size_t columns = 64;
  ForEachLineGroup({ source, destination }, pass.Axis, LaunchPixels, columns, runGroup);
}
} // namespace itk::cuda::young_van_vliet
