// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_gaussian_device_ContiguousTile_cuh
#define CudaFilters_gaussian_device_ContiguousTile_cuh

#include "gaussian/device/Tile.cuh"

#include <nv/target>

#include <type_traits>

// Defines a tile of the pass along the first axis, whose pixels are adjacent in memory.

namespace itk::cuda::gaussian
{
/** Collects sums of squares, to tell whether all of them are precise (IsSumOfSquaresPrecise()) and no old sum is stored
 * as a negative root, which is the other representation of AddSquare(). */
template <typename T>
struct SquareRange;

/** Compares floats as integers: the bits of nonnegative floats have the order of the floats, and NaN is above them. */
template <>
struct SquareRange<float>
{
  static constexpr unsigned int Least = 0x0d800000u;    // the bits of 2^-100
  static constexpr unsigned int Greatest = 0x7e800000u; // the bits of 2^126

  unsigned int Largest{ 0 }; // minus Least; numbers below Least wrap around to large ones
  unsigned int Signs{ 0 };

  __device__ void
  Add(float old, float squares)
  {
    Signs |= __float_as_uint(old);
    Largest = max(Largest, __float_as_uint(squares) - Least);
  }

  __device__ bool
  IsPrecise() const
  {
    return Largest <= Greatest - Least && static_cast<int>(Signs) >= 0;
  }
};

template <>
struct SquareRange<double>
{
  double Smallest{ 1 }, Largest{ 1 }, SmallestOld{ 0 };

  __device__ void
  Add(double old, double squares)
  {
    Smallest = fmin(Smallest, squares);
    Largest = fmax(Largest, squares);
    SmallestOld = fmin(SmallestOld, old);
  }

  __device__ bool
  IsPrecise() const
  {
    return SmallestOld >= 0 && IsSumOfSquaresPrecise<double>(Smallest) && IsSumOfSquaresPrecise<double>(Largest);
  }
};

/** One or more whole lines, or a tile of one line, in shared memory. A line has one or several parts (GetWarpShares()),
 * and all parts have the same number of segments, a power of two. A warp holds the same part of as many lines as fit;
 * the following warps hold the other parts of these lines. A warp has VTiles buffers for the pixels of its
 * sources. If the results of several sources are combined, they are summed in the first buffer, and the sources from
 * number VTiles - 1 on take turns in the last one. If a product is formed of them, each result stays in the buffer of
 * its source. */
template <typename T, unsigned int VPairs, TileTask VTask, unsigned int VTiles = 1>
class ContiguousTile
{
public:
  static constexpr unsigned int Length = SegmentLength<T>;
  static constexpr bool         ReadsTwice = true;
  static constexpr unsigned int WarpTileBytes = WarpSize * SegmentBytes;

  /** Returns the shared memory of a block of this number of warps. */
  static constexpr size_t
  GetSharedBytes(unsigned int warps, const WarpShares & parts)
  {
    const size_t endStates = WarpSize / parts.Width * NumberOfStates<VPairs> * sizeof(PolePairState<T>);
    return warps * (VTiles * (WarpTileBytes + sizeof(TileBarrier)) + (parts.Number > 1 ? endStates : 0)) +
           VPairs * WarpSize * sizeof(StateMatrix<T>);
  }

  __device__ explicit ContiguousTile(const LinePassArguments<T, VPairs> & arguments)
    : m_Arguments(arguments)
  {
    const unsigned int    warps = blockDim.y * blockDim.z;
    unsigned char * const shared = GetSharedMemory();
    m_Lane = threadIdx.x;
    m_Part = threadIdx.y;
    m_Warp = threadIdx.z * blockDim.y + m_Part;
    m_Width = arguments.Width;
    m_LogWidth = __ffs(static_cast<int>(m_Width)) - 1;
    m_LaneOfLine = m_Lane & (m_Width - 1);
    m_LineInWarp = m_Lane >> m_LogWidth;
    m_LinesPerWarp = WarpSize >> m_LogWidth;
    m_WarpValues = shared + m_Warp * VTiles * WarpTileBytes;
    m_WarpCombined = m_WarpValues;
    m_LanePowers = reinterpret_cast<StateMatrix<T> *>(shared + warps * VTiles * WarpTileBytes);
    m_WarpEndStates = reinterpret_cast<PolePairState<T> *>(m_LanePowers + VPairs * WarpSize);
    const unsigned int endStates = blockDim.y > 1 ? warps * m_LinesPerWarp * NumberOfStates<VPairs> : 0;
    m_Barriers = reinterpret_cast<TileBarrier *>(m_WarpEndStates + endStates) + m_Warp * VTiles;

    // The tiles of a line may exceed the second dimension of the grid, so they use two. Blocks beyond the last tile
    // repeat the last tile.
    const size_t lastTile = arguments.Schedule.NumberOfTiles - 1;
    m_Tile = lastTile > 0 ? min(size_t{ blockIdx.z } * gridDim.y + blockIdx.y, lastTile) : 0;
    m_BlockLine = size_t{ blockIdx.x } * (blockDim.z * m_LinesPerWarp);
    m_Range = GetTileRange(arguments.Schedule, arguments.Geometry.LineLength, m_Tile);

    m_LineInBlock = threadIdx.z * m_LinesPerWarp + m_LineInWarp;
    m_Segment = m_Part * m_Width + m_LaneOfLine;
    ReadEdges();
    for (unsigned int i = m_Warp * WarpSize + m_Lane; i < VPairs * WarpSize; i += warps * WarpSize)
    {
      m_LanePowers[i] = arguments.Powers.Get(i / WarpSize, i % WarpSize);
    }
  }

  /** Continues with the next source. Its tile is already being loaded, unless it uses the buffer of the preceding
   * source. */
  __device__ void
  TakeSource(unsigned int source)
  {
    m_Source = source;
    ReadEdges();
    __syncthreads(); // other warps may still read m_WarpEndStates
    m_WarpValues = m_WarpCombined + GetTile(source) * WarpTileBytes;
    if (m_Arguments.LoadsInBulk && source >= VTiles)
    {
      NV_IF_TARGET(NV_PROVIDES_SM_90, (PublishWrites(); this->StartBox(source);))
    }
  }

  /** Loads the warp's own segments. Pixels beyond the end of the line repeat its last value, or continue it as the
   * boundary mode says. */
  __device__ void
  Load()
  {
    if (m_Arguments.LoadsInBulk)
    {
      NV_IF_TARGET(NV_PROVIDES_SM_90, (this->LoadInBulk();))
    }
    else
    {
      this->LoadByThreads();
    }
    const unsigned int begin = m_Segment * Length;
    if (begin + Length > m_Range.ReadEnd)
    {
      for (unsigned int k = begin < m_Range.ReadEnd ? m_Range.ReadEnd - begin : 0; k < Length; ++k)
      {
        *GetPixel(m_Lane, k) = m_Arguments.Edges[m_Source] ? GetPaddedPixel(begin + k) : m_TileLast;
      }
    }
  }

  /** Returns four pixels of the thread's segment after subtracting the line's first pixel. The tile, too, holds the
   * differences from here on. */
  __device__ void
  TakeQuad(unsigned int quad, T (&x)[4]) const
  {
#pragma unroll
    for (unsigned int v = 0; v < 4 / PerVector; ++v)
    {
      Vector * const place = GetVector(m_Lane, quad * (4 / PerVector) + v);
      Vector         vector = *place;
      T * const      values = reinterpret_cast<T *>(&vector);
#pragma unroll
      for (unsigned int k = 0; k < PerVector; ++k)
      {
        values[k] -= m_First;
        x[v * PerVector + k] = values[k];
      }
      *place = vector;
    }
  }

  /** Returns four pixels of the thread's segment. TakeQuad() must have been called for them. */
  __device__ void
  LoadQuad(unsigned int quad, T (&x)[4]) const
  {
#pragma unroll
    for (unsigned int v = 0; v < 4 / PerVector; ++v)
    {
      const Vector vector = *GetVector(m_Lane, quad * (4 / PerVector) + v);
      const T *    values = reinterpret_cast<const T *>(&vector);
#pragma unroll
      for (unsigned int k = 0; k < PerVector; ++k)
      {
        x[v * PerVector + k] = values[k];
      }
    }
  }

  __device__ void
  WriteEndStates(const SweepStates<T, VPairs> & ends)
  {
    SweepStates<T, VPairs> inclusive = ScanWarp(ends);
    StorePartEndStates(inclusive);
    if (m_Segment < NumberOfStates<VPairs>)
    {
      const PolePairState<T> total = CombineParts(m_Segment, PolePairState<T>{}, blockDim.y);
      m_Arguments.States[GetTileStateIndex(m_Segment)] = total;
    }
  }

  __device__ SweepStates<T, VPairs>
             Scan(const SweepStates<T, VPairs> & ends)
  {
    const SweepStates<T, VPairs> inclusive = ScanWarp(ends);
    const SweepStates<T, VPairs> partStart = GetPartStarts(inclusive);
    SweepStates<T, VPairs>       starts;
#pragma unroll
    for (unsigned int state = 0; state < NumberOfStates<VPairs>; ++state)
    {
      const bool               anticausal = state >= VPairs;
      const unsigned int       pair = state % VPairs;
      const unsigned int       distance = anticausal ? m_Width - 1 - m_LaneOfLine : m_LaneOfLine;
      const PolePairState<T> & own = inclusive.Sweep[state / VPairs].Pair[pair];
      const PolePairState<T>   before = KeepIf(distance > 0, GetNeighborState(own, 1, anticausal));
      starts.Sweep[state / VPairs].Pair[pair] =
        Combine(before, m_LanePowers[pair * WarpSize + distance], partStart.Sweep[state / VPairs].Pair[pair]);
    }
    return starts;
  }

  /** Overwrites the segment by the result, so that the warp can then write whole rows. */
  __device__ void
  Store(const T (&y)[Length], const LinePassResult<T, VPairs> & result)
  {
    KeepResult(y, result);
    StoreTile(result.Destination, result.Combine);
  }

  /** Overwrites the segment by the result. */
  __device__ void
  KeepResult(const T (&y)[Length], const LinePassResult<T, VPairs> & result)
  {
    const T offset = result.Response.ConstantResponse * m_First;
#pragma unroll
    for (unsigned int v = 0; v < Length / PerVector; ++v)
    {
      Vector vector;
      T *    elements = reinterpret_cast<T *>(&vector);
#pragma unroll
      for (unsigned int k = 0; k < PerVector; ++k)
      {
        elements[k] = y[v * PerVector + k] + offset;
      }
      *GetVector(m_Lane, v) = vector;
    }
  }

  /** Writes the products of the results in the buffers: of the first with itself, of the first with the second, and so
   * on. The products may overwrite the sources, because the block has read its whole lines. */
  template <unsigned int VProducts>
  __device__ void
  StoreProducts(T * const (&images)[VProducts])
  {
    static_assert(VProducts >= VTiles * (VTiles + 1) / 2, "an image for each product");
    __syncwarp();
    m_WarpValues = m_WarpCombined;
    if (m_Arguments.Aligned)
    {
      ForEachElement<PerVector>([&](const T * value, size_t begin, unsigned int position) {
        if (position + PerVector <= m_Range.WriteEnd)
        {
          ForEachProduct(reinterpret_cast<const Vector *>(value), [&](unsigned int product, const Vector & vector) {
            *reinterpret_cast<Vector *>(images[product] + begin + position) = vector;
          });
          return;
        }
        for (unsigned int k = 0; position + k < m_Range.WriteEnd; ++k)
        {
          ForEachProduct(value + k,
                         [&](unsigned int product, T pixel) { images[product][begin + position + k] = pixel; });
        }
      });
      return;
    }
    ForEachElement<1>([&](const T * value, size_t begin, unsigned int position) {
      if (position < m_Range.WriteEnd)
      {
        ForEachProduct(value, [&](unsigned int product, T pixel) { images[product][begin + position] = pixel; });
      }
    });
  }

  /** Combines the result of a source with the results of the preceding sources. */
  template <CudaGaussianCombine VCombine>
  __device__ void
  CombineResult(const T (&y)[Length], const LinePassResult<T, VPairs> & result)
  {
    const T offset = result.Response.ConstantResponse * m_First;
#pragma unroll
    for (unsigned int v = 0; v < Length / PerVector; ++v)
    {
      Vector * const combined = GetVector(m_WarpCombined, m_Lane, v);
      const Vector   old = ReadsDestination(VCombine) ? *combined : Vector{};
      Vector         vector;
      T *            elements = reinterpret_cast<T *>(&vector);
#pragma unroll
      for (unsigned int k = 0; k < PerVector; ++k)
      {
        elements[k] = y[v * PerVector + k] + offset;
      }
      CombineVector(VCombine, old, vector);
      *combined = vector;
    }
  }

  /** Divides the result of a source by the result of the preceding source. */
  __device__ void
  DivideResult(const T (&y)[Length], const LinePassResult<T, VPairs> & result, const Quotient<T> & quotient)
  {
    const T    offset = result.Response.ConstantResponse * m_First;
    const T    subtracted = quotient.Reference->Value;
    const bool isWhole = quotient.Reference->AllValid != 0;
#pragma unroll
    for (unsigned int v = 0; v < Length / PerVector; ++v)
    {
      Vector * const combined = GetVector(m_WarpCombined, m_Lane, v);
      Vector         vector = *combined;
      T *            elements = reinterpret_cast<T *>(&vector);
#pragma unroll
      for (unsigned int k = 0; k < PerVector; ++k)
      {
        elements[k] = quotient.Get(y[v * PerVector + k] + offset, elements[k], subtracted, isWhole);
      }
      *combined = vector;
    }
  }

  __device__ void
  StoreCombined(const LinePassResult<T, VPairs> & result)
  {
    m_WarpValues = m_WarpCombined;
    StoreTile(result.Destination, CudaGaussianCombine::Store);
  }

private:
  using Vector = std::conditional_t<sizeof(T) == 4, float4, double2>;
  static constexpr unsigned int PerVector = 16 / sizeof(T);

  __device__ const T *
  GetSource() const
  {
    return m_Arguments.Sources[m_Source];
  }

  __device__ const T *
  GetLine() const
  {
    return GetSource() + ClampLine(m_BlockLine + m_LineInBlock) * m_Arguments.Geometry.OuterStride;
  }

  /** Returns the pixel of the continued line at a position of the tile. */
  __device__ T
  GetPaddedPixel(unsigned int position) const
  {
    const auto line = GetPaddedLine(m_Arguments.Schedule, m_Arguments.Geometry, GetLine());
    return line.Get(static_cast<std::ptrdiff_t>(m_Range.Begin + position));
  }

  __device__ void
  ReadEdges()
  {
    const T * const line = GetLine();
    m_First = line[0];
    m_TileFirst = line[m_Range.Begin];
    m_TileLast = line[m_Range.Begin + m_Range.ReadEnd - 1];
  }

  __device__ size_t
  ClampLine(size_t line) const
  {
    return min(line, m_Arguments.Geometry.OuterCount - 1);
  }

  /** Returns 16 bytes of a segment of the warp, by the index of this vector. Its position among the segment's 128 bytes
   * depends on the segment (the copy engine's 128-byte swizzle), so that threads that read the same vector of their
   * segments use different banks. */
  __device__ Vector *
  GetVector(unsigned int segment, unsigned int vector) const
  {
    return GetVector(m_WarpValues, segment, vector);
  }

  __device__ static Vector *
  GetVector(unsigned char * values, unsigned int segment, unsigned int vector)
  {
    return reinterpret_cast<Vector *>(values + segment * SegmentBytes) + (vector ^ (segment % 8));
  }

  __device__ T *
  GetPixel(unsigned int segment, unsigned int pixel) const
  {
    return reinterpret_cast<T *>(GetVector(segment, pixel / PerVector)) + pixel % PerVector;
  }

  __device__ void
  LoadByThreads() const
  {
    if (m_Arguments.Aligned)
    {
      ForEachElement<PerVector>([this](T * value, size_t begin, unsigned int position) {
        if (position < m_Range.ReadEnd)
        {
          CopyVectorAsync(value, GetSource() + begin + position, m_Range.ReadEnd - position);
        }
      });
    }
    else
    {
      ForEachElement<1>([this](T * value, size_t begin, unsigned int position) {
        if (position < m_Range.ReadEnd)
        {
          __pipeline_memcpy_async(value, GetSource() + begin + position, sizeof(T));
        }
      });
    }
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncwarp();
  }

  __device__ void
  StoreTile(T * destination, CudaGaussianCombine combine) const
  {
    if (m_Arguments.StoresInBulk)
    {
      NV_IF_TARGET(NV_PROVIDES_SM_90, (this->StoreInBulk(destination);))
    }
    else
    {
      this->StoreByThreads(destination, combine);
    }
  }

  __device__ void
  StoreByThreads(T * image, CudaGaussianCombine combine) const
  {
    __syncwarp();
    if (m_Arguments.Aligned)
    {
      ForEachElement<PerVector>([this, image, combine](T * value, size_t begin, unsigned int position) {
        T * const destination = image + begin + position;
        if (position >= m_Range.WriteBegin && position + PerVector <= m_Range.WriteEnd)
        {
          StoreVector(destination, value, combine);
          return;
        }
        for (unsigned int k = 0; k < PerVector; ++k)
        {
          StoreElement(destination + k, value[k], position + k, combine);
        }
      });
    }
    else
    {
      ForEachElement<1>([this, image, combine](T * value, size_t begin, unsigned int position) {
        StoreElement(image + begin + position, *value, position, combine);
      });
    }
  }

  /** Returns the index in the line of the first segment that the warp holds. */
  __device__ unsigned int
  GetWarpSegment() const
  {
    return m_Segment - m_LaneOfLine;
  }

  /** Returns the first of the warp's lines. */
  __device__ size_t
  GetWarpLine() const
  {
    return m_BlockLine + (m_LineInBlock - m_LineInWarp);
  }

  /** Returns the position of the warp's segments in the array of segments and lines. */
  __device__ BoxPosition
  GetBoxPosition() const
  {
    const size_t segment = m_Range.Begin / Length + this->GetWarpSegment();
    return { { 0, static_cast<int>(segment), static_cast<int>(this->GetWarpLine()) } };
  }

  /** The warp's incomplete segments, which the copy engine does not move. They are the last segments of lines that end
   * at `end`. Neighbouring lanes have neighbouring pixels. */
  struct IncompleteSegments
  {
    unsigned int Lines;   // lines of the warp that have an incomplete segment
    unsigned int Segment; // its index among the line's segments in the warp
    size_t       Element; // index in the image of this lane's pixel on the first line
    bool         HasPixel;
  };

  __device__ IncompleteSegments
  GetIncompleteSegments(unsigned int end) const
  {
    const unsigned int count = end % Length;
    const size_t       firstLine = this->GetWarpLine();
    const size_t       lines = m_Arguments.Geometry.OuterCount;
    IncompleteSegments incomplete;
    incomplete.Segment = end / Length - this->GetWarpSegment();
    incomplete.Lines = count > 0 && incomplete.Segment < m_Width && firstLine < lines
                         ? static_cast<unsigned int>(min(size_t{ m_LinesPerWarp }, lines - firstLine))
                         : 0;
    incomplete.Element = firstLine * m_Arguments.Geometry.OuterStride + m_Range.Begin + end - count + m_Lane;
    incomplete.HasPixel = m_Lane < count;
    return incomplete;
  }

  /** Makes the warp's writes to the tile visible to the copy engine. */
  __device__ void
  PublishWrites() const
  {
    NV_IF_TARGET(NV_PROVIDES_SM_90, (PublishTile();))
    __syncwarp();
  }

  /** Returns the buffer of a source. */
  __device__ static unsigned int
  GetTile(unsigned int source)
  {
    return min(source, VTiles - 1);
  }

  __device__ void
  StartBox(unsigned int source) const
  {
    if (m_Lane == 0)
    {
      const unsigned int tile = GetTile(source);
      m_Barriers[tile].ArriveAndExpect(WarpTileBytes);
      LoadBox(
        m_WarpCombined + tile * WarpTileBytes, m_Arguments.SourceMaps[source], GetBoxPosition(), m_Barriers[tile]);
    }
  }

  __device__ void
  StartFirstBoxes() const
  {
    if (m_Lane == 0)
    {
#pragma unroll
      for (unsigned int i = 0; i < VTiles; ++i)
      {
        m_Barriers[i].Initialize(1);
      }
      PublishBarriers();
    }
#pragma unroll
    for (unsigned int i = 0; i < VTiles; ++i)
    {
      StartBox(i);
    }
    __syncwarp();
  }

  __device__ void
  WaitForBox() const
  {
    // In each phase the last buffer holds another source.
    m_Barriers[GetTile(m_Source)].Wait(m_Source < VTiles ? 0 : (m_Source + 1 - VTiles) % 2);
  }

  __device__ void
  LoadInBulk() const
  {
    if (m_Source == 0)
    {
      StartFirstBoxes();
    }
    if (m_Range.ReadEnd % Length == 0)
    {
      WaitForBox();
      return;
    }
    const IncompleteSegments incomplete = GetIncompleteSegments(m_Range.ReadEnd);
    constexpr unsigned int   batch = 4; // the first batch is loaded while the box is being copied
    for (unsigned int line = 0; line == 0 || line < incomplete.Lines; line += batch)
    {
      T pixels[batch];
#pragma unroll
      for (unsigned int i = 0; i < batch; ++i)
      {
        const bool isInside = incomplete.HasPixel && line + i < incomplete.Lines;
        pixels[i] = isInside ? GetSource()[incomplete.Element + (line + i) * m_Arguments.Geometry.OuterStride] : T(0);
      }
      if (line == 0)
      {
        WaitForBox();
      }
#pragma unroll
      for (unsigned int i = 0; i < batch; ++i)
      {
        if (incomplete.HasPixel && line + i < incomplete.Lines)
        {
          *GetPixel(((line + i) << m_LogWidth) + incomplete.Segment, m_Lane) = pixels[i];
        }
      }
    }
    __syncwarp();
  }

  __device__ void
  StoreInBulk(T * image) const
  {
    PublishWrites();
    if (m_Lane == 0)
    {
      StoreBox(m_Arguments.DestinationMap, GetBoxPosition(), m_WarpValues);
    }
    if (m_Range.WriteEnd % Length == 0)
    {
      return;
    }
    const IncompleteSegments incomplete = GetIncompleteSegments(m_Range.WriteEnd);
    for (unsigned int line = 0; line < incomplete.Lines; ++line)
    {
      if (incomplete.HasPixel)
      {
        image[incomplete.Element + line * m_Arguments.Geometry.OuterStride] =
          *GetPixel((line << m_LogWidth) + incomplete.Segment, m_Lane);
      }
    }
  }

  __device__ static T
  Multiply(T a, T b)
  {
    return a * b;
  }

  __device__ static Vector
  Multiply(const Vector & a, const Vector & b)
  {
    Vector vector;
#pragma unroll
    for (unsigned int k = 0; k < PerVector; ++k)
    {
      reinterpret_cast<T *>(&vector)[k] = reinterpret_cast<const T *>(&a)[k] * reinterpret_cast<const T *>(&b)[k];
    }
    return vector;
  }

  /** Calls function(number of the product, product) for the products of the values at the same position in the warp's
   * tiles. */
  template <typename TValue, typename TFunction>
  __device__ static void
  ForEachProduct(const TValue * first, const TFunction & function)
  {
    TValue values[VTiles];
#pragma unroll
    for (unsigned int i = 0; i < VTiles; ++i)
    {
      values[i] = first[i * (WarpTileBytes / sizeof(TValue))];
    }
    unsigned int product = 0;
#pragma unroll
    for (unsigned int row = 0; row < VTiles; ++row)
    {
#pragma unroll
      for (unsigned int column = row; column < VTiles; ++column)
      {
        function(product++, Multiply(values[row], values[column]));
      }
    }
  }

  /** Replaces the values of a vector by CombineValues() of them and `old`. One branch decides for all sums of squares
   * of the vector whether they keep their digits, because a branch for each value makes the magnitude of a resident
   * image take 20 to 54 % longer (H200). */
  __device__ static void
  CombineVector(CudaGaussianCombine combine, const Vector & old, Vector & vector)
  {
    const T * const before = reinterpret_cast<const T *>(&old);
    T * const       values = reinterpret_cast<T *>(&vector);
    const bool      addsSquares =
      combine == CudaGaussianCombine::AddSquare || combine == CudaGaussianCombine::AddSquareAndRoot;
    if (!addsSquares && combine != CudaGaussianCombine::StoreSquare)
    {
#pragma unroll
      for (unsigned int k = 0; k < PerVector; ++k)
      {
        values[k] = CombineValues(combine, before[k], values[k]);
      }
      return;
    }
    T              squares[PerVector];
    SquareRange<T> range;
#pragma unroll
    for (unsigned int k = 0; k < PerVector; ++k)
    {
      squares[k] = (addsSquares ? before[k] : T(0)) + values[k] * values[k];
      range.Add(addsSquares ? before[k] : T(0), squares[k]);
    }
    if (range.IsPrecise())
    {
#pragma unroll
      for (unsigned int k = 0; k < PerVector; ++k)
      {
        values[k] = combine == CudaGaussianCombine::AddSquareAndRoot ? sqrt(squares[k]) : squares[k];
      }
      return;
    }
    vector = CombineLostSquares(combine, old, vector);
  }

  /** Combines the values of a vector one by one, for sums that lose digits. The function is not inlined, because it
   * would take registers from the loops that store pixels: inlined, the magnitude takes 5 to 14 % longer than without a
   * check of digits instead of 2 to 3 %. */
  __device__ __noinline__ static Vector
  CombineLostSquares(CudaGaussianCombine combine, Vector old, Vector vector)
  {
    const T * const before = reinterpret_cast<const T *>(&old);
    T * const       values = reinterpret_cast<T *>(&vector);
#pragma unroll
    for (unsigned int k = 0; k < PerVector; ++k)
    {
      values[k] = CombineValues(combine, before[k], values[k]);
    }
    return vector;
  }

  __device__ void
  StoreElement(T * destination, T value, unsigned int position, CudaGaussianCombine combine) const
  {
    if (position >= m_Range.WriteBegin && position < m_Range.WriteEnd)
    {
      *destination = CombineValues(combine, ReadsDestination(combine) ? *destination : T(0), value);
    }
  }

  __device__ void
  StoreVector(T * destination, const T * values, CudaGaussianCombine combine) const
  {
    Vector vector = *reinterpret_cast<const Vector *>(values);
    if (combine != CudaGaussianCombine::Store)
    {
      const Vector old = ReadsDestination(combine) ? *reinterpret_cast<const Vector *>(destination) : Vector{};
      CombineVector(combine, old, vector);
    }
    *reinterpret_cast<Vector *>(destination) = vector;
  }

  /** Calls f(address in shared memory, start of the line, position on the line) for every VCount-th element of the
   * warp's segments. Neighbouring lanes get neighbouring elements. */
  template <unsigned int VCount, typename TFunction>
  __device__ void
  ForEachElement(const TFunction & f) const
  {
    constexpr unsigned int perSegment = Length / VCount;
#pragma unroll 4
    for (unsigned int i = m_Lane; i < WarpSize * perSegment; i += WarpSize)
    {
      const unsigned int inWarp = i / perSegment;
      const unsigned int element = i % perSegment * VCount;
      const unsigned int segment = this->GetWarpSegment() + (inWarp & (m_Width - 1));
      const size_t       line = this->GetWarpLine() + (inWarp >> m_LogWidth);
      if (line < m_Arguments.Geometry.OuterCount)
      {
        f(GetPixel(inWarp, element),
          line * m_Arguments.Geometry.OuterStride + m_Range.Begin,
          segment * Length + element);
      }
    }
  }

  __device__ PolePairState<T>
             GetNeighborState(const PolePairState<T> & state, unsigned int distance, bool anticausal) const
  {
    PolePairState<T> other;
    other.U = anticausal ? ShuffleDown(state.U, distance, m_Width) : ShuffleUp(state.U, distance, m_Width);
    other.V = anticausal ? ShuffleDown(state.V, distance, m_Width) : ShuffleUp(state.V, distance, m_Width);
    return other;
  }

  /** Returns the state if the condition holds, otherwise zero. */
  __device__ static PolePairState<T>
  KeepIf(bool condition, const PolePairState<T> & state)
  {
    return { condition ? state.U : T(0), condition ? state.V : T(0) };
  }

  /** Returns the end states of the segments up to and including the thread's own, from zero state before the part of
   * the line. This is an inclusive scan of Kogge and Stone, limited to the distance over which states have an effect.
   */
  __device__ SweepStates<T, VPairs>
             ScanWarp(SweepStates<T, VPairs> states) const
  {
    const unsigned int reach = min(m_Width, m_Arguments.Reach);
#pragma unroll
    for (unsigned int distance = 1; distance < WarpSize; distance *= 2)
    {
      if (distance >= reach)
      {
        break;
      }
#pragma unroll
      for (unsigned int state = 0; state < NumberOfStates<VPairs>; ++state)
      {
        const bool             anticausal = state >= VPairs;
        PolePairState<T> &     own = states.Sweep[state / VPairs].Pair[state % VPairs];
        const bool             isInside = anticausal ? m_LaneOfLine + distance < m_Width : m_LaneOfLine >= distance;
        const PolePairState<T> neighbor = KeepIf(isInside, GetNeighborState(own, distance, anticausal));
        own = Combine(own, m_Arguments.Powers.Power[state % VPairs][distance], neighbor);
      }
    }
    return states;
  }

  /** Returns the total of a part of the warp's line. */
  __device__ PolePairState<T> &
             GetEndStateOfPart(unsigned int part, unsigned int state) const
  {
    const unsigned int warp = m_Warp - m_Part + part;
    return m_WarpEndStates[(warp * m_LinesPerWarp + m_LineInWarp) * NumberOfStates<VPairs> + state];
  }

  __device__ void
  StorePartEndStates(const SweepStates<T, VPairs> & inclusive)
  {
#pragma unroll
    for (unsigned int state = 0; state < NumberOfStates<VPairs>; ++state)
    {
      const unsigned int lastLane = state >= VPairs ? 0 : m_Width - 1;
      if (m_LaneOfLine == lastLane)
      {
        this->GetEndStateOfPart(m_Part, state) = inclusive.Sweep[state / VPairs].Pair[state % VPairs];
      }
    }
    __syncthreads();
  }

  /** Returns the state after `count` parts of the line, counted from the side where the sweep begins. */
  __device__ PolePairState<T>
             CombineParts(unsigned int state, PolePairState<T> start, unsigned int count) const
  {
    const bool           anticausal = state >= VPairs;
    const StateMatrix<T> power = m_Arguments.Powers.Get(state % VPairs, m_Width);
    for (unsigned int i = 0; i < count; ++i)
    {
      start = Combine(this->GetEndStateOfPart(anticausal ? blockDim.y - 1 - i : i, state), power, start);
    }
    return start;
  }

  /** Returns the state with which a sweep enters a whole line, computed from the end states of this sweep and of the
   * opposite one. */
  __device__ PolePairState<T>
             ComputeEdgeState(unsigned int state, const PolePairState<T> & own, const PolePairState<T> & other) const
  {
    const bool anticausal = state >= VPairs;
    return GetEdgeFromEnds(m_Arguments.EdgeSolver,
                           m_Arguments.Dynamics,
                           state % VPairs,
                           anticausal,
                           anticausal ? other : own,
                           anticausal ? own : other,
                           m_First,
                           m_TileLast - m_First);
  }

  __device__ static unsigned int
  GetOppositeState(unsigned int state)
  {
    return state >= VPairs ? state - VPairs : state + VPairs;
  }

  /** Implements ComputeEdgeState() for lines that one warp holds. */
  __device__ PolePairState<T>
             ComputeEdgeStateInWarp(unsigned int state, const SweepStates<T, VPairs> & inclusive) const
  {
    const auto getEndState = [&](unsigned int s) -> PolePairState<T> {
      const PolePairState<T> & end = inclusive.Sweep[s / VPairs].Pair[s % VPairs];
      const unsigned int       lastLane = s >= VPairs ? 0 : m_Width - 1;
      return { __shfl_sync(0xffffffffu, end.U, lastLane, m_Width), __shfl_sync(0xffffffffu, end.V, lastLane, m_Width) };
    };
    return ComputeEdgeState(state, getEndState(state), getEndState(GetOppositeState(state)));
  }

  __device__ PolePairState<T>
             GetLineStart(unsigned int state) const
  {
    if (VTask == TileTask::FilterFromStates)
    {
      return m_Arguments.States[GetTileStateIndex(state)];
    }
    const bool anticausal = state >= VPairs;
    if constexpr (VTask == TileTask::FilterFromEndStates)
    {
      const PolePairState<T> zero;
      const unsigned int     opposite = GetOppositeState(state);
      return ComputeEdgeState(state, CombineParts(state, zero, blockDim.y), CombineParts(opposite, zero, blockDim.y));
    }
    if (m_Arguments.Edges[m_Source] &&
        (anticausal ? m_Tile + 1 == m_Arguments.Schedule.NumberOfTiles : m_Range.Begin == 0))
    {
      const LineGeometry & geometry = m_Arguments.Geometry;
      return m_Arguments.Edges[m_Source][state * geometry.OuterCount + ClampLine(m_BlockLine + m_LineInBlock)];
    }
    const T edge = anticausal ? m_TileLast : m_TileFirst;
    return SteadyState(m_Arguments.Dynamics.Section[state % VPairs], edge - m_First);
  }

  /** Returns the states with which the sweeps enter the part of the line. */
  __device__ SweepStates<T, VPairs>
             GetPartStarts(const SweepStates<T, VPairs> & inclusive)
  {
    SweepStates<T, VPairs> starts;
    if (blockDim.y > 1)
    {
      StorePartEndStates(inclusive);
      // Each of a line's first lanes computes one state. Parts have at least as many lanes as there are states.
      const unsigned int state = m_LaneOfLine % NumberOfStates<VPairs>;
      const bool         anticausal = state >= VPairs;
      const auto         own = CombineParts(state, GetLineStart(state), anticausal ? blockDim.y - 1 - m_Part : m_Part);
#pragma unroll
      for (unsigned int s = 0; s < NumberOfStates<VPairs>; ++s)
      {
        PolePairState<T> & start = starts.Sweep[s / VPairs].Pair[s % VPairs];
        start.U = __shfl_sync(0xffffffffu, own.U, s, m_Width);
        start.V = __shfl_sync(0xffffffffu, own.V, s, m_Width);
      }
      return starts;
    }
    __syncthreads(); // m_LanePowers has been written
#pragma unroll
    for (unsigned int s = 0; s < NumberOfStates<VPairs>; ++s)
    {
      PolePairState<T> & start = starts.Sweep[s / VPairs].Pair[s % VPairs];
      if constexpr (VTask == TileTask::FilterFromEndStates)
      {
        start = ComputeEdgeStateInWarp(s, inclusive);
      }
      else
      {
        start = GetLineStart(s);
      }
    }
    return starts;
  }

  /** Returns the index of a state of the tile. Only for lines with a block of their own. */
  __device__ size_t
  GetTileStateIndex(unsigned int state) const
  {
    return (m_Tile * NumberOfStates<VPairs> + state) * m_Arguments.Geometry.OuterCount + m_BlockLine;
  }

  const LinePassArguments<T, VPairs> & m_Arguments;
  unsigned int                         m_Source{ 0 };
  unsigned char *                      m_WarpValues;    // [lane][segment, swizzled]
  unsigned char *                      m_WarpCombined;  // the first of the warp's tiles, likewise
  StateMatrix<T> *                     m_LanePowers;    // [pole pair][distance in segments]
  PolePairState<T> *                   m_WarpEndStates; // [warp][line][state], if lines have several parts
  TileBarrier *                        m_Barriers;      // of the warp's tiles
  TileRange                            m_Range;
  size_t                               m_Tile, m_BlockLine;
  unsigned int                         m_Lane, m_Warp, m_Part, m_Segment;
  unsigned int m_Width, m_LogWidth, m_LaneOfLine; // lanes that share a line, its logarithm, and the lane among them
  unsigned int m_LinesPerWarp, m_LineInWarp, m_LineInBlock;
  T            m_First, m_TileFirst, m_TileLast;
};
} // namespace itk::cuda::gaussian

#endif
