// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_young_van_vliet_Kernels_cuh
#define CudaFilters_young_van_vliet_Kernels_cuh

#include "runtime/image/LineGroups.h"
#include "young_van_vliet/Partitions.h"
#include "young_van_vliet/Tuning.h"

#include <cuda_runtime.h>

// Kernels of Young and van Vliet's filter, which filter strided lines. threadIdx.x is the line, so that neighbouring
// threads access neighbouring addresses, and threadIdx.y is the part of a line. Contiguous lines are transposed before
// and after the pass, unless SectionInTile is used.

namespace itk::cuda::young_van_vliet
{
template <typename T>
struct PassArguments
{
  const T *               Source;
  T *                     Destination;
  LineGeometry            Geometry;
  SmootherCoefficients<T> Coefficients;
  bool                    ExactBorders;
};

template <typename T>
struct SectionArguments
{
  SectionLayout    Layout;
  SectionPowers<T> Powers;
  T *              States; // [section][state][line], if the sections of a line do not fit into one thread block
};

template <typename T, unsigned int VBatch>
using DeviceLocalIntermediate = LocalIntermediate<T, VBatch, LocalIntermediateBytes / sizeof(T)>;

template <typename T>
__device__ inline StridedSpan<T>
GetLine(const PassArguments<T> & pass, size_t line)
{
  const LineGeometry & geometry = pass.Geometry;
  const size_t         begin = line / geometry.InnerCount * geometry.OuterStride + line % geometry.InnerCount;
  StridedSpan<T>       span;
  span.Source = pass.Source + begin;
  span.Destination = pass.Destination + begin;
  span.Stride = static_cast<ptrdiff_t>(geometry.LineStride);
  span.Length = geometry.LineLength;
  span.Offset = *span.Source;
  return span;
}

/** Returns the line of this thread, which may be past the last line. */
__device__ inline size_t
GetLineOfThread()
{
  return size_t{ blockIdx.x } * blockDim.x + threadIdx.x;
}

template <typename T, typename TIntermediate>
__global__ void
OneWayKernel(const __grid_constant__ PassArguments<T> pass)
{
  const size_t line = GetLineOfThread();
  if (line >= pass.Geometry.GetNumberOfLines())
  {
    return;
  }
  TIntermediate intermediate;
  FilterOneWay(GetLine(pass, line), pass.Coefficients, pass.ExactBorders, intermediate);
}

/** A part of each line of a group of lines. */
template <typename T>
struct LinePart
{
  size_t FirstLine;
  size_t NumberOfLines;
  size_t Begin;
  size_t End;
  T *    Sweeps; // [number][line of the group]: the state that the passes carry from part to part
};

constexpr unsigned int NumbersPerSweep = 4;

/** Runs one of the two passes over a part of lines. */
template <typename T, bool VForward>
__global__ void
OneWayPartKernel(const __grid_constant__ PassArguments<T> pass, const __grid_constant__ LinePart<T> part)
{
  const size_t line = GetLineOfThread();
  if (line >= part.NumberOfLines)
  {
    return;
  }
  const StridedSpan<T> span = GetLine(pass, part.FirstLine + line);
  T * const            numbers = part.Sweeps + line;
  const size_t         stride = part.NumberOfLines;
  Sweep<T>             sweep;
  if (!VForward || part.Begin > 0)
  {
    sweep.Lag.Real = numbers[0];
    sweep.Lag.PairRe = numbers[stride];
    sweep.Lag.PairIm = numbers[2 * stride];
    sweep.Last = numbers[3 * stride];
  }
  if (VForward)
  {
    SweepPartForward<LongSpanBatch>(span, part.Begin, part.End, pass.Coefficients, sweep);
  }
  else
  {
    SweepPartBackward<LongSpanBatch>(span, part.Begin, part.End, pass.Coefficients, pass.ExactBorders, sweep);
  }
  numbers[0] = sweep.Lag.Real;
  numbers[stride] = sweep.Lag.PairRe;
  numbers[2 * stride] = sweep.Lag.PairIm;
  numbers[3 * stride] = sweep.Last;
}

/** The weights of the central pixel's convolution, indexed by distance. */
template <typename T>
struct CentralWeights
{
  size_t    Radius;
  const T * Table; // used if Radius is above InlineRadius
  T         Inline[InlineRadius + 1];

  __device__ const T *
  Get() const
  {
    return Radius <= InlineRadius ? Inline : Table;
  }
};

/** Filters lines with the two-way partition. Threads with threadIdx.y 0 and 1 handle the halves of a line, and 2 its
 * central pixel. */
template <typename T, typename TIntermediate>
__global__ void
TwoWayKernel(const __grid_constant__ PassArguments<T> pass, const __grid_constant__ CentralWeights<T> weights)
{
  __shared__ T   centralPixels[64];
  const size_t   line = GetLineOfThread();
  const bool     valid = line < pass.Geometry.GetNumberOfLines();
  const bool     isHalf = threadIdx.y < 2;
  TIntermediate  intermediate;
  StridedSpan<T> span{};
  if (valid)
  {
    span = GetLine(pass, line);
    if (isHalf)
    {
      span = GetHalf(span, threadIdx.y);
      SweepHalfInward(span, pass.Coefficients, intermediate);
    }
    else
    {
      const T pixel = FilterCentralPixel<LongSpanBatch>(span, weights.Get(), weights.Radius);
      centralPixels[threadIdx.x] = pixel;
      span.Destination[static_cast<ptrdiff_t>(span.Length / 2) * span.Stride] = pixel + span.Offset;
    }
  }
  __syncthreads();
  if (valid && isHalf)
  {
    SweepHalfOutward(span, pass.Coefficients, centralPixels[threadIdx.x], intermediate);
  }
}

template <typename T>
__device__ inline T *
GetDynamicSharedMemory()
{
  extern __shared__ __align__(16) unsigned char shared[];
  return reinterpret_cast<T *>(shared);
}

/** Filters lines with the exact partition, with all sections of a line in one thread block. threadIdx.y is the section.
 */
template <typename T, typename TIntermediate>
__global__ void
__launch_bounds__(MaximumThreads)
  ExactKernel(const __grid_constant__ PassArguments<T> pass, const __grid_constant__ SectionArguments<T> sections)
{
  const size_t        line = GetLineOfThread();
  const bool          valid = line < pass.Geometry.GetNumberOfLines();
  const size_t        section = threadIdx.y;
  const StateArray<T> states{ GetDynamicSharedMemory<T>() + threadIdx.x, blockDim.x };
  StridedSpan<T>      span{};
  if (valid)
  {
    span = GetSection(GetLine(pass, line), sections.Layout, section);
    states.Set(section, GetSectionStates<SectionBatch>(span, pass.Coefficients));
  }
  __syncthreads();
  if (valid && section == 0)
  {
    ScanSections<1>(
      GetLine(pass, line), sections.Layout, sections.Powers, pass.Coefficients, pass.ExactBorders, states);
  }
  __syncthreads();
  if (valid)
  {
    TIntermediate intermediate;
    FilterSection(span, pass.Coefficients, states.Get(section), intermediate);
  }
}

// The exact partition in three launches, for any number of sections of a line: the end states of the sections alone,
// the scan, and the filtering of the sections.

/** Maps threads to lines and sections. A thread block handles blockDim.x lines and blockDim.y sections of each. The
 * index of a block runs over groups of lines first, then over groups of sections. Lines and sections may be past the
 * last one. */
class ThreadMapping
{
public:
  __device__ explicit ThreadMapping(size_t numberOfLines)
  {
    m_LinesLog2 = __ffs(static_cast<int>(blockDim.x)) - 1;
    const size_t lineGroups = (numberOfLines + blockDim.x - 1) / blockDim.x;
    m_FirstLine = blockIdx.x % lineGroups * blockDim.x;
    m_FirstSection = blockIdx.x / lineGroups * blockDim.y;
  }
  __device__ size_t
  GetLine(unsigned int thread) const
  {
    return m_FirstLine + (thread & (blockDim.x - 1));
  }
  __device__ size_t
  GetSection(unsigned int thread) const
  {
    return m_FirstSection + (thread >> m_LinesLog2);
  }

private:
  int    m_LinesLog2; // LinesPerBlock is a power of two
  size_t m_FirstLine;
  size_t m_FirstSection;
};

template <typename T>
__device__ inline StateArray<T>
GetGlobalStates(const PassArguments<T> & pass, const SectionArguments<T> & sections, size_t line)
{
  return { sections.States + line, pass.Geometry.GetNumberOfLines() };
}

/** The section of a line that a thread filters, accessed directly in global memory. */
template <typename T>
class SectionInPlace
{
public:
  __device__
  SectionInPlace(const PassArguments<T> & pass, const SectionArguments<T> & sections)
    : m_Mapping(pass.Geometry.GetNumberOfLines())
    , m_Line(m_Mapping.GetLine(GetThread()))
    , m_Section(m_Mapping.GetSection(GetThread()))
    , m_Valid(m_Line < pass.Geometry.GetNumberOfLines() && m_Section < sections.Layout.NumberOfSections)
  {
    if (m_Valid)
    {
      m_Span = young_van_vliet::GetSection(young_van_vliet::GetLine(pass, m_Line), sections.Layout, m_Section);
    }
  }
  __device__ bool
  IsValid() const
  {
    return m_Valid;
  }
  __device__ size_t
  GetLine() const
  {
    return m_Line;
  }
  __device__ size_t
  GetSection() const
  {
    return m_Section;
  }
  __device__ const StridedSpan<T> &
                   GetSpan() const
  {
    return m_Span;
  }
  __device__ void
  Store() const
  {}

protected:
  __device__ static unsigned int
  GetThread()
  {
    return threadIdx.y * blockDim.x + threadIdx.x;
  }

  ThreadMapping  m_Mapping;
  size_t         m_Line;
  size_t         m_Section;
  bool           m_Valid;
  StridedSpan<T> m_Span{}; // empty if not valid
};

/** The section of a line that a thread filters, as a copy in shared memory of at most TileLength pixels. Sections of
 * contiguous lines are loaded and stored by whole warps, so that neighbouring threads access neighbouring addresses
 * there, too. */
template <typename T>
class SectionInTile : public SectionInPlace<T>
{
public:
  __device__
  SectionInTile(const PassArguments<T> & pass, const SectionArguments<T> & sections)
    : SectionInPlace<T>(pass, sections)
    , m_Pass(pass)
    , m_Sections(sections)
    , m_InPlace(this->m_Span)
  {
    T * const row = GetRow(this->GetThread());
    this->m_Span.Source = row;
    this->m_Span.Destination = row;
    this->m_Span.Stride = 1;
    if (this->IsContiguous())
    {
      this->LoadRows();
      return;
    }
    ForEachAscending<TileBatch, T>(
      0,
      m_InPlace.Length,
      [&](size_t n) { return m_InPlace.Source[static_cast<ptrdiff_t>(n) * m_InPlace.Stride]; },
      [&](size_t n, T value) { row[n] = value; });
  }

  __device__ void
  Store() const
  {
    if (this->IsContiguous())
    {
      this->StoreRows();
      return;
    }
    const T * const row = GetRow(this->GetThread());
    for (size_t n = 0; n < m_InPlace.Length; ++n)
    {
      m_InPlace.Destination[static_cast<ptrdiff_t>(n) * m_InPlace.Stride] = row[n];
    }
  }

private:
  static constexpr unsigned int PixelsPerLane = TileLength<T> / WarpSize;

  /** The pixels of one section of a contiguous line that a lane loads, which are WarpSize apart. */
  struct LanePixels
  {
    T Pixels[PixelsPerLane];
  };

  __device__ bool
  IsContiguous() const
  {
    return m_Pass.Geometry.LineStride == 1;
  }

  __device__ static T *
  GetRow(unsigned int thread)
  {
    return GetDynamicSharedMemory<T>() + size_t{ thread } * TilePitch<T>;
  }

  /** Calls f(index in the image, index in the section, index in LanePixels) for each pixel of this lane in the
   * section of thread `thread`. */
  template <typename TFunction>
  __device__ void
  ForEachPixelOfLane(unsigned int thread, const TFunction & f) const
  {
    const size_t line = this->m_Mapping.GetLine(thread);
    const size_t section = this->m_Mapping.GetSection(thread);
    if (line >= m_Pass.Geometry.GetNumberOfLines() || section >= m_Sections.Layout.NumberOfSections)
    {
      return;
    }
    const size_t begin = line * m_Pass.Geometry.OuterStride + m_Sections.Layout.GetBegin(section);
    const size_t length = m_Sections.Layout.GetLength(section);
#pragma unroll
    for (unsigned int k = 0; k < PixelsPerLane; ++k)
    {
      const unsigned int n = k * WarpSize + this->GetThread() % WarpSize;
      if (n < length)
      {
        f(begin + n, n, k);
      }
    }
  }

  __device__ void
  LoadRows() const
  {
    const unsigned int first = this->GetThread() / WarpSize * WarpSize;
    const unsigned int lane = this->GetThread() % WarpSize;
    ForEachAscending<RowBatch, LanePixels>(
      0,
      WarpSize,
      [&](size_t i) {
        LanePixels pixels{};
        this->ForEachPixelOfLane(first + static_cast<unsigned int>(i), [&](size_t at, unsigned int, unsigned int k) {
          pixels.Pixels[k] = m_Pass.Source[at];
        });
        return pixels;
      },
      [&](size_t i, const LanePixels & pixels) {
#pragma unroll
        for (unsigned int k = 0; k < PixelsPerLane; ++k)
        {
          GetRow(first + static_cast<unsigned int>(i))[k * WarpSize + lane] = pixels.Pixels[k];
        }
      });
    __syncwarp();
  }

  __device__ void
  StoreRows() const
  {
    const unsigned int first = this->GetThread() / WarpSize * WarpSize;
    __syncwarp();
#pragma unroll 4
    for (unsigned int i = 0; i < WarpSize; ++i)
    {
      this->ForEachPixelOfLane(
        first + i, [&](size_t at, unsigned int n, unsigned int) { m_Pass.Destination[at] = GetRow(first + i)[n]; });
    }
  }

  const PassArguments<T> &    m_Pass;
  const SectionArguments<T> & m_Sections;
  const StridedSpan<T>        m_InPlace;
};

template <typename T, template <typename> class TSection>
__global__ void
__launch_bounds__(SplitThreads) SectionStatesKernel(const __grid_constant__ PassArguments<T> pass,
                                                    const __grid_constant__ SectionArguments<T> sections)
{
  const TSection<T> section(pass, sections);
  if (section.IsValid())
  {
    GetGlobalStates(pass, sections, section.GetLine())
      .Set(section.GetSection(), GetSectionStates<SectionBatch>(section.GetSpan(), pass.Coefficients));
  }
}

template <typename T>
__global__ void
__launch_bounds__(ScanThreads) ScanSectionsKernel(const __grid_constant__ PassArguments<T> pass,
                                                  const __grid_constant__ SectionArguments<T> sections)
{
  const size_t line = GetLineOfThread();
  if (line < pass.Geometry.GetNumberOfLines())
  {
    ScanSections<ScanBatch>(GetLine(pass, line),
                            sections.Layout,
                            sections.Powers,
                            pass.Coefficients,
                            pass.ExactBorders,
                            GetGlobalStates(pass, sections, line));
  }
}

template <typename T, template <typename> class TSection, typename TIntermediate>
__global__ void
__launch_bounds__(SplitThreads) FilterSectionsKernel(const __grid_constant__ PassArguments<T> pass,
                                                     const __grid_constant__ SectionArguments<T> sections)
{
  const TSection<T> section(pass, sections);
  if (section.IsValid())
  {
    TIntermediate          intermediate;
    const SectionStates<T> states = GetGlobalStates(pass, sections, section.GetLine()).Get(section.GetSection());
    FilterSection(section.GetSpan(), pass.Coefficients, states, intermediate);
  }
  section.Store();
}

/** A matrix in device memory, with Rows rows of Columns elements. Rows are Pitch elements apart. */
template <typename T>
struct Matrix
{
  T *    Data;
  size_t Rows;
  size_t Columns;
  size_t Pitch;
};

/** Transposes a matrix: destination[column][row] = source[row][column]. A block of TransposeTile x TransposeRows
 * threads handles one tile. */
template <typename T>
__global__ void
__launch_bounds__(TransposeTile * TransposeRows)
  TransposeKernel(const Matrix<const T> source, const Matrix<T> destination)
{
  __shared__ T tile[TransposeTile][TransposeTile + 1]; // the extra column avoids bank conflicts in accesses to a column
  const size_t tilesAcross = (source.Columns + TransposeTile - 1) / TransposeTile;
  const size_t firstRow = blockIdx.x / tilesAcross * TransposeTile;
  const size_t firstColumn = blockIdx.x % tilesAcross * TransposeTile;
  for (unsigned int i = threadIdx.y; i < TransposeTile; i += TransposeRows)
  {
    if (firstRow + i < source.Rows && firstColumn + threadIdx.x < source.Columns)
    {
      tile[i][threadIdx.x] = source.Data[(firstRow + i) * source.Pitch + firstColumn + threadIdx.x];
    }
  }
  __syncthreads();
  for (unsigned int i = threadIdx.y; i < TransposeTile; i += TransposeRows)
  {
    if (firstColumn + i < source.Columns && firstRow + threadIdx.x < source.Rows)
    {
      destination.Data[(firstColumn + i) * destination.Pitch + firstRow + threadIdx.x] = tile[threadIdx.x][i];
    }
  }
}
} // namespace itk::cuda::young_van_vliet

#endif
