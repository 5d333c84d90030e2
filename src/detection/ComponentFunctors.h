// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_detection_ComponentFunctors_h
#define CudaFilters_detection_ComponentFunctors_h

#include "detection/WindowFunctors.h"
#include "executor/DisjointSets.h"
#include "region/Sums.h"
#include "runtime/HostDevice.h"

#include <cstddef>
#include <cstdint>

// Connected components of the pixels above the threshold, through sides and corners of pixels. All of this works on a
// list of these pixels, which are few.
namespace itk::cuda::detection
{
/** A component. All members begin with 0, so that the smallest coordinates are those with the largest distance from the
 * last ones. */
struct Component
{
  uint64_t NumberOfPixels;
  uint64_t SumOfX;
  uint64_t SumOfY;
  uint64_t OrderOfPeak; // region::OrderOf() of the largest -log of a probability of false alarm
  double   LogFalseAlarm;
  Windows  AtPeak;
  uint32_t Right; // largest x
  uint32_t Bottom;
  uint32_t FromRight; // width - 1 - smallest x
  uint32_t FromBottom;
  uint32_t FromLastPixel; // ~index of the first pixel that has the peak

  int32_t
  GetLeft(int32_t width) const
  {
    return width - 1 - static_cast<int32_t>(FromRight);
  }
  int32_t
  GetTop(int32_t height) const
  {
    return height - 1 - static_cast<int32_t>(FromBottom);
  }
  ITK_CUDA_HOST_DEVICE uint32_t
  GetPeak() const
  {
    return ~FromLastPixel;
  }
};

namespace functors
{
struct CountPixelsOfWord
{
  const uint32_t * Words;

  ITK_CUDA_HOST_DEVICE uint32_t
  operator()(size_t i) const
  {
    return static_cast<uint32_t>(region::CountBits(Words[i]));
  }
};

/** Lists the pixels of a word, in their order. */
struct ListPixels
{
  PixelBits        Bits;
  const uint32_t * Ranks;
  uint32_t *       Pixels;

  ITK_CUDA_HOST_DEVICE void
  operator()(size_t word) const
  {
    const size_t wordsPerRow = Bits.GetWordsPerRow();
    const auto   first = static_cast<uint32_t>(word / wordsPerRow * static_cast<size_t>(Bits.Width) +
                                             word % wordsPerRow * PixelBits::BitsPerWord);
    uint32_t     rank = Ranks[word];
    for (uint32_t bits = Bits.Words[word], bit = 0; bits != 0; bits >>= 1, ++bit)
    {
      if ((bits & 1u) != 0)
      {
        Pixels[rank++] = first + bit;
      }
    }
  }
};

/** Unites a pixel with its neighbours before it: on its left, and in the row above. */
template <typename TAtomics>
struct UniteNeighbors
{
  PixelBits        Bits;
  const uint32_t * Ranks;
  const uint32_t * Pixels;
  uint32_t *       Parents;

  ITK_CUDA_HOST_DEVICE void
  operator()(size_t i) const
  {
    const auto x = static_cast<int32_t>(Pixels[i] % static_cast<uint32_t>(Bits.Width));
    const auto y = static_cast<int32_t>(Pixels[i] / static_cast<uint32_t>(Bits.Width));
    this->Unite(i, x - 1, y);
    this->Unite(i, x - 1, y - 1);
    this->Unite(i, x, y - 1);
    this->Unite(i, x + 1, y - 1);
  }

private:
  ITK_CUDA_HOST_DEVICE void
  Unite(size_t i, int32_t x, int32_t y) const
  {
    if (x >= 0 && x < Bits.Width && y >= 0 && Bits.Has(x, y))
    {
      const size_t   word = Bits.WordOf(x, y);
      const uint32_t before = Bits.Words[word] & (PixelBits::BitOf(x) - 1u);
      executor::Unite<TAtomics>(
        Parents, static_cast<uint32_t>(i), Ranks[word] + static_cast<uint32_t>(region::CountBits(before)));
    }
  }
};

/** Adds a pixel to its component, and finds the largest significance. */
template <typename TScene, typename TAtomics>
struct SumComponents
{
  TScene           Scene;
  WindowShape      Shape;
  LawTest          Test;
  const uint32_t * Pixels;
  const uint32_t * Numbers;
  Component *      Components;
  double *         Logs; // of the probabilities of the pixels

  ITK_CUDA_HOST_DEVICE void
  operator()(size_t i) const
  {
    const uint32_t x = Pixels[i] % static_cast<uint32_t>(Shape.Width);
    const uint32_t y = Pixels[i] / static_cast<uint32_t>(Shape.Width);
    Component &    component = Components[Numbers[i] - 1];
    TAtomics::Add(component.NumberOfPixels, 1);
    TAtomics::Add(component.SumOfX, x);
    TAtomics::Add(component.SumOfY, y);
    TAtomics::Maximum(component.Right, x);
    TAtomics::Maximum(component.Bottom, y);
    TAtomics::Maximum(component.FromRight, static_cast<uint32_t>(Shape.Width) - 1u - x);
    TAtomics::Maximum(component.FromBottom, static_cast<uint32_t>(Shape.Height) - 1u - y);
    Logs[i] = Test(SumWindows(Scene, Shape, static_cast<int32_t>(x), static_cast<int32_t>(y)));
    TAtomics::Maximum(component.OrderOfPeak, region::OrderOf(-Logs[i]));
  }
};

/** Finds the first pixel with the largest significance of its component. */
template <typename TAtomics>
struct FindPeaks
{
  const uint32_t * Pixels;
  const uint32_t * Numbers;
  const double *   Logs;
  Component *      Components;

  ITK_CUDA_HOST_DEVICE void
  operator()(size_t i) const
  {
    Component & component = Components[Numbers[i] - 1];
    if (region::OrderOf(-Logs[i]) == component.OrderOfPeak)
    {
      TAtomics::Maximum(component.FromLastPixel, ~Pixels[i]);
    }
  }
};

/** Sums the windows around the peak of a component. */
template <typename TScene>
struct SumPeaks
{
  TScene      Scene;
  WindowShape Shape;
  LawTest     Test;
  Component * Components;

  ITK_CUDA_HOST_DEVICE void
  operator()(size_t i) const
  {
    Component & component = Components[i];
    const auto  x = static_cast<int32_t>(component.GetPeak() % static_cast<uint32_t>(Shape.Width));
    const auto  y = static_cast<int32_t>(component.GetPeak() / static_cast<uint32_t>(Shape.Width));
    component.AtPeak = SumWindows(Scene, Shape, x, y);
    component.LogFalseAlarm = Test(component.AtPeak);
  }
};

template <typename TLabel>
struct ClearLabels
{
  int32_t  Width;
  TLabel * Labels;
  size_t   Stride;

  ITK_CUDA_HOST_DEVICE void
  operator()(size_t pixel) const
  {
    Labels[pixel / static_cast<size_t>(Width) * Stride + pixel % static_cast<size_t>(Width)] = 0;
  }
};

/** Writes the final number of a pixel's component. */
template <typename TLabel>
struct WriteLabels
{
  const uint32_t * Pixels;
  const uint32_t * Components;
  const uint32_t * Numbers; // by component
  int32_t          Width;
  TLabel *         Labels;
  size_t           Stride;

  ITK_CUDA_HOST_DEVICE void
  operator()(size_t i) const
  {
    const uint32_t x = Pixels[i] % static_cast<uint32_t>(Width);
    const uint32_t y = Pixels[i] / static_cast<uint32_t>(Width);
    Labels[y * Stride + x] = static_cast<TLabel>(Numbers[Components[i]]);
  }
};
} // namespace functors
} // namespace itk::cuda::detection

#endif
