// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_detection_WindowFunctors_h
#define CudaFilters_detection_WindowFunctors_h

#include "detection/LawTests.h"
#include "runtime/HostDevice.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

// The sums of the windows around each pixel, and which pixels exceed the threshold. Windows slide down a strip of rows:
// the sums of a row enter, and those of another leave.
namespace itk::cuda::detection
{
/** Rows of a strip. At its first row, all rows of the windows are summed. */
constexpr int32_t RowsOfStrip = 64;

/** A window reaches this many pixels to each side of its central pixel. */
struct Reach
{
  int32_t X;
  int32_t Y;
};

/** A range of indices, without its end. */
struct Range
{
  int32_t Begin;
  int32_t End;
};

/** Returns the indices from `center` - `reach` to `center` + `reach` that are in an image of that size. */
ITK_CUDA_HOST_DEVICE inline Range
ClipRange(int32_t center, int32_t reach, int32_t size)
{
  return { center < reach ? 0 : center - reach, size - center <= reach ? size : center + reach + 1 };
}

/** The three windows around a pixel, in an image of that size. */
struct WindowShape
{
  static constexpr int Number = 3;

  Reach   Reaches[Number]; // of the target, guard and background windows
  int32_t Width;
  int32_t Height;
};

/** Returns target and ring from the sums of the target, guard and background windows. */
ITK_CUDA_HOST_DEVICE inline Windows
MakeWindows(const Moments * sums)
{
  return { sums[0], sums[2] - sums[1] };
}

/** Returns the sums of the windows around a pixel, row by row. */
template <typename TScene>
ITK_CUDA_HOST_DEVICE Windows
SumWindows(const TScene & scene, const WindowShape & shape, int32_t x, int32_t y)
{
  Moments sums[WindowShape::Number];
  for (int window = 0; window < WindowShape::Number; ++window)
  {
    const Range columns = ClipRange(x, shape.Reaches[window].X, shape.Width);
    const Range rows = ClipRange(y, shape.Reaches[window].Y, shape.Height);
    for (int32_t row = rows.Begin; row < rows.End; ++row)
    {
      sums[window] += scene.SumRow(row, columns.Begin, columns.End);
    }
  }
  return MakeWindows(sums);
}

/** One bit for each pixel: whether it exceeds the threshold. A row has GetWordsPerRow() words. */
struct PixelBits
{
  static constexpr uint32_t BitsPerWord = 32;

  uint32_t * Words;
  int32_t    Width;

  ITK_CUDA_HOST_DEVICE size_t
  GetWordsPerRow() const
  {
    return (static_cast<size_t>(Width) + BitsPerWord - 1) / BitsPerWord;
  }
  ITK_CUDA_HOST_DEVICE size_t
  WordOf(int32_t x, int32_t y) const
  {
    return static_cast<size_t>(y) * this->GetWordsPerRow() + static_cast<uint32_t>(x) / BitsPerWord;
  }
  ITK_CUDA_HOST_DEVICE static uint32_t
  BitOf(int32_t x)
  {
    return 1u << (static_cast<uint32_t>(x) % BitsPerWord);
  }
  ITK_CUDA_HOST_DEVICE bool
  Has(int32_t x, int32_t y) const
  {
    return (Words[this->WordOf(x, y)] & BitOf(x)) != 0;
  }
};

namespace functors
{
/** What finds the pixels above the threshold. */
template <typename TScene, typename TAtomics>
struct FindPixels
{
  TScene      Scene;
  WindowShape Shape;
  LawTest     Test;
  PixelBits   Bits;   // 0 at first
  uint64_t *  Tested; // the number of pixels with a test, 0 at first
  int32_t     FirstStrip;

protected:
  ITK_CUDA_HOST_DEVICE int32_t
  GetFirstRow(size_t strip) const
  {
    return (FirstStrip + static_cast<int32_t>(strip)) * RowsOfStrip;
  }
  /** Tests a pixel. Its bit is added, which sets it, because each pixel is tested once. \return 1 if there is a test */
  ITK_CUDA_HOST_DEVICE uint32_t
  TestPixel(int32_t x, int32_t y, const Windows & windows) const
  {
    if (!Scene.IsValid(x, y) || windows.Ring.Count < 1)
    {
      return 0;
    }
    if (Test(windows) <= Test.LogProbability)
    {
      TAtomics::Add(Bits.Words[Bits.WordOf(x, y)], PixelBits::BitOf(x));
    }
    return 1;
  }
};

/** Tests the pixels of one column in a strip. Work items are numbered along rows of columns, so that neighbouring
 * threads look up neighbouring sums. */
template <typename TScene, typename TAtomics>
struct FindPixelsOfColumn : FindPixels<TScene, TAtomics>
{
  ITK_CUDA_HOST_DEVICE void
  operator()(size_t item) const
  {
    const WindowShape & shape = this->Shape;
    const auto          x = static_cast<int32_t>(item % static_cast<size_t>(shape.Width));
    const auto          first = this->GetFirstRow(item / static_cast<size_t>(shape.Width));
    const int32_t       end = shape.Height - first < RowsOfStrip ? shape.Height : first + RowsOfStrip;
    Range               columns[WindowShape::Number];
    Moments             sums[WindowShape::Number];
    for (int window = 0; window < WindowShape::Number; ++window)
    {
      const Reach & reach = shape.Reaches[window];
      columns[window] = ClipRange(x, reach.X, shape.Width);
      const Range rows = ClipRange(first, reach.Y, shape.Height);
      for (int32_t row = rows.Begin; row < rows.End; ++row)
      {
        sums[window] += this->Scene.SumRow(row, columns[window].Begin, columns[window].End);
      }
    }
    uint32_t tested = 0;
    for (int32_t y = first; y < end; ++y)
    {
      tested += this->TestPixel(x, y, MakeWindows(sums));
      for (int window = 0; window < WindowShape::Number; ++window)
      {
        const int32_t reach = shape.Reaches[window].Y;
        const Range   range = columns[window];
        if (y + 1 < shape.Height - reach)
        {
          sums[window] += this->Scene.SumRow(y + 1 + reach, range.Begin, range.End);
        }
        if (y >= reach)
        {
          sums[window] -= this->Scene.SumRow(y - reach, range.Begin, range.End);
        }
      }
    }
    TAtomics::Add(*this->Tested, tested);
  }
};

/** Tests the pixels of a tile of a strip on the host, which sums the prefixes of whole rows faster than it looks up the
 * prefixes of single pixels. */
template <typename TScene, typename TAtomics>
struct FindPixelsOfTile : FindPixels<TScene, TAtomics>
{
  /** Sums of a tile and its surroundings stay in the cache. */
  static constexpr int32_t ColumnsOfTile = 512;
  static constexpr size_t  Grain = 1;

  static size_t
  GetNumberOfTiles(int32_t width)
  {
    return (static_cast<size_t>(width) + ColumnsOfTile - 1) / ColumnsOfTile;
  }

  void
  operator()(size_t item) const
  {
    static thread_local std::array<std::vector<Moments>, WindowShape::Number> sums;
    const WindowShape &                                                       shape = this->Shape;
    const size_t                                                              tiles = GetNumberOfTiles(shape.Width);
    const auto    left = static_cast<int32_t>(item % tiles) * ColumnsOfTile;
    const int32_t right = std::min(shape.Width, left + ColumnsOfTile);
    const int32_t first = this->GetFirstRow(item / tiles);
    const int32_t end = std::min(shape.Height, first + RowsOfStrip);
    Range         corners[WindowShape::Number]; // columns whose prefixes the windows need
    for (int window = 0; window < WindowShape::Number; ++window)
    {
      const Reach & reach = shape.Reaches[window];
      corners[window] = { ClipRange(left, reach.X, shape.Width).Begin, ClipRange(right - 1, reach.X, shape.Width).End };
      sums[window].assign(static_cast<size_t>(corners[window].End - corners[window].Begin) + 1, {});
      const Range rows = ClipRange(first, reach.Y, shape.Height);
      for (int32_t row = rows.Begin; row < rows.End; ++row)
      {
        this->AddPrefixes(row, corners[window], sums[window], [](Moments & sum, const Moments & x) { sum += x; });
      }
    }
    uint32_t tested = 0;
    for (int32_t y = first; y < end; ++y)
    {
      for (int32_t x = left; x < right; ++x)
      {
        Moments ofWindows[WindowShape::Number];
        for (int window = 0; window < WindowShape::Number; ++window)
        {
          const Range     range = ClipRange(x, shape.Reaches[window].X, shape.Width);
          const Moments * column = sums[window].data() - corners[window].Begin;
          ofWindows[window] = column[range.End] - column[range.Begin];
        }
        tested += this->TestPixel(x, y, MakeWindows(ofWindows));
      }
      for (int window = 0; window < WindowShape::Number && y + 1 < end; ++window)
      {
        const int32_t reach = shape.Reaches[window].Y;
        if (y + 1 < shape.Height - reach)
        {
          this->AddPrefixes(
            y + 1 + reach, corners[window], sums[window], [](Moments & sum, const Moments & x) { sum += x; });
        }
        if (y >= reach)
        {
          this->AddPrefixes(
            y - reach, corners[window], sums[window], [](Moments & sum, const Moments & x) { sum -= x; });
        }
      }
    }
    TAtomics::Add(*this->Tested, tested);
  }

private:
  template <typename TAdd>
  void
  AddPrefixes(int32_t row, const Range & corners, std::vector<Moments> & sums, const TAdd & add) const
  {
    static thread_local std::vector<Moments> prefixes;
    prefixes.resize(std::max(prefixes.size(), sums.size()));
    this->Scene.Pixels.RowPrefixes(row, corners.Begin, corners.End, prefixes.data());
    for (size_t i = 0; i < sums.size(); ++i)
    {
      add(sums[i], prefixes[i]);
    }
  }
};
} // namespace functors
} // namespace itk::cuda::detection

#endif
