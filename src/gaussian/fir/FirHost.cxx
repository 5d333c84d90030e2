// SPDX-License-Identifier: Apache-2.0
#include "gaussian/fir/FirCore.h"
#include "gaussian/host/HostPlan.h"
#include "runtime/image/HostLines.h"
#include "runtime/run/Operation.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

// Runs convolutions on ITK's threads, with the arithmetic of itk::DiscreteGaussianImageFilter: each pass sums in
// double, from the first weight to the last.

namespace itk::cuda::gaussian
{
namespace
{
/** An image of adjacent pixels as a stack of blocks along the axis of a pass: index (outer * Length + n) * Inner + i.
 */
struct Stack
{
  size_t Outer{ 1 };
  size_t Length;
  size_t Inner;

  Stack(const CudaImageView & view, unsigned int axis)
    : Length(view.Size[axis])
    , Inner(view.NumberOfComponents)
  {
    for (unsigned int d = 0; d < CudaImageView::MaximumDimension; ++d)
    {
      (d < axis ? Inner : Outer) *= d == axis ? 1 : view.Size[d];
    }
  }
};

/** Pixels whose sums stay in the cache while the weights are applied one after the other. */
constexpr size_t PixelsOfPart = 1024;

/** The sums of a part, added up as FirSum<double, true> does, and stored as T. */
template <typename T, bool VTruncate>
class PartOfSums
{
public:
  explicit PartOfSums(size_t count)
    : m_Count(count)
  {
    std::fill_n(m_Sums.begin(), count, 0.0);
  }

  void
  Add(double weight, const T * pixels)
  {
    for (size_t i = 0; i < m_Count; ++i)
    {
      m_Sums[i] = m_Sums[i] + weight * pixels[i];
    }
  }

  void
  Store(T * pixels) const
  {
    for (size_t i = 0; i < m_Count; ++i)
    {
      pixels[i] = static_cast<T>(VTruncate ? std::trunc(m_Sums[i]) : m_Sums[i]);
    }
  }

private:
  std::array<double, PixelsOfPart> m_Sums;
  size_t                           m_Count;
};

/** Convolves a part of one block, which has the index n, with the blocks around it. */
template <typename T, bool VTruncate>
void
RunAcrossBlocks(const CudaGaussianFirPass & pass,
                const Stack &               stack,
                const T *                   line, // the first block's pixels of this part
                size_t                      n,
                size_t                      count,
                T *                         result)
{
  PartOfSums<T, VTruncate>    sums(count);
  std::array<T, PixelsOfPart> constant;
  const auto                  radius = static_cast<ptrdiff_t>(pass.GetRadius());
  const auto                  load = [&](ptrdiff_t i) { return line + static_cast<size_t>(i) * stack.Inner; };
  constant.fill(static_cast<T>(pass.Constant));
  for (ptrdiff_t k = -radius; k <= radius; ++k)
  {
    const T * const pixels = LoadPadded<const T *>(
      static_cast<ptrdiff_t>(n) + k, static_cast<ptrdiff_t>(stack.Length), pass.Continuation, constant.data(), load);
    sums.Add(pass.Weights[static_cast<size_t>(k + radius)], pixels);
  }
  sums.Store(result);
}

/** Convolves a line of adjacent pixels. */
template <typename T, bool VTruncate>
void
RunAlongLine(const CudaGaussianFirPass & pass, const T * line, size_t length, T * result)
{
  std::vector<T> padded(PixelsOfPart + 2 * pass.GetRadius());
  const auto     load = [&](ptrdiff_t n) { return line[n]; };
  for (size_t first = 0; first < length; first += PixelsOfPart)
  {
    const size_t count = std::min(PixelsOfPart, length - first);
    for (size_t i = 0; i < count + 2 * pass.GetRadius(); ++i)
    {
      const auto n = static_cast<ptrdiff_t>(first + i) - static_cast<ptrdiff_t>(pass.GetRadius());
      padded[i] =
        LoadPadded<T>(n, static_cast<ptrdiff_t>(length), pass.Continuation, static_cast<T>(pass.Constant), load);
    }
    PartOfSums<T, VTruncate> sums(count);
    for (size_t k = 0; k < pass.Weights.size(); ++k)
    {
      sums.Add(pass.Weights[k], &padded[k]);
    }
    sums.Store(result + first);
  }
}

template <typename T, bool VTruncate>
void
RunPass(const CudaGaussianFirPass &  pass,
        const CudaImageView &        source,
        const CudaImageView &        destination,
        MultiThreaderBase *          threader,
        const CudaProgressFunction & report)
{
  const Stack     stack(source, pass.Axis);
  const T * const from = static_cast<const T *>(source.Data);
  T * const       to = static_cast<T *>(destination.Data);
  const size_t    pixels = source.GetNumberOfPixels();
  if (stack.Inner == 1)
  {
    const auto runLines = [&](size_t line, size_t end) {
      for (; line < end; ++line)
      {
        RunAlongLine<T, VTruncate>(pass, from + line * stack.Length, stack.Length, to + line * stack.Length);
      }
    };
    ParallelForBundles(stack.Outer, pixels, threader, report, runLines);
    return;
  }
  const size_t parts = (stack.Inner + PixelsOfPart - 1) / PixelsOfPart;
  const auto   runParts = [&](size_t index, size_t end) {
    for (; index < end; ++index)
    {
      const size_t begin = index % parts * PixelsOfPart;
      const size_t n = index / parts % stack.Length;
      const size_t line = index / parts / stack.Length * stack.Length * stack.Inner + begin;
      const size_t count = std::min(PixelsOfPart, stack.Inner - begin);
      RunAcrossBlocks<T, VTruncate>(pass, stack, from + line, n, count, to + line + n * stack.Inner);
    }
  };
  ParallelForBundles(stack.Outer * stack.Length * parts, pixels, threader, report, runParts);
}

/** Copies the pixels of a view to another one of its size and converts them. */
template <typename TTo, typename TFrom>
void
Convert(const CudaImageView & from, const CudaImageView & to, MultiThreaderBase * threader)
{
  const auto * const pixels = static_cast<const TFrom *>(from.Data);
  auto * const       results = static_cast<TTo *>(to.Data);
  const auto         convert = [&](size_t position, size_t positionInResult) {
    for (size_t c = 0; c < from.NumberOfComponents; ++c)
    {
      results[positionInResult + c] = ConvertComponent<TTo>(pixels[position + c]);
    }
  };
  ForEachPixel(threader, convert, from, to);
}

bool
IsAdjacent(const CudaImageView & view)
{
  return IsUniform(view, 0, CudaImageView::MaximumDimension - 1, view.NumberOfComponents);
}

template <typename T>
void
RunPasses(const CudaGaussianFirPlan &  plan,
          const CudaImageView &        input,
          const CudaImageView &        output,
          CudaComponentType            type,
          MultiThreaderBase *          threader,
          const CudaProgressFunction & progress)
{
  std::array<ScratchImage<T>, 2> scratch;
  CudaImageView                  source = input;
  unsigned int                   free = 0;
  if (input.ComponentType != type || !IsAdjacent(input))
  {
    scratch[0].Allocate(input, type);
    source = scratch[0].View;
    VisitComponentType(input.ComponentType, [&](auto zero) { Convert<T, decltype(zero)>(input, source, threader); });
    free = 1;
  }
  for (size_t i = 0; i < plan.Passes.size(); ++i, free = 1 - free)
  {
    const bool isLast =
      i + 1 == plan.Passes.size() && output.ComponentType == type && output.Size == input.Size && IsAdjacent(output);
    if (!isLast && !scratch[free].Pixels)
    {
      scratch[free].Allocate(input, type);
    }
    const CudaImageView destination = isLast ? output : scratch[free].View;
    const auto          report = [&](float share) {
      if (progress)
      {
        progress((static_cast<float>(i) + share) / static_cast<float>(plan.Passes.size()));
      }
    };
    (plan.TruncatePasses ? RunPass<T, true> : RunPass<T, false>)(plan.Passes[i], source, destination, threader, report);
    source = destination;
  }
  if (source.Data != output.Data)
  {
    for (unsigned int axis = 0; axis < CudaImageView::MaximumDimension; ++axis)
    {
      source = Slice(source, axis, plan.OutputOffset[axis], output.Size[axis]);
    }
    VisitComponentType(output.ComponentType, [&](auto zero) { Convert<decltype(zero), T>(source, output, threader); });
  }
}

void
RunOnHost(const CudaGaussianFirPlan &  plan,
          const CudaImageView &        input,
          const CudaImageView &        output,
          MultiThreaderBase *          threader,
          const CudaProgressFunction & progress)
{
  if (plan.TruncatePasses || cuda::GetComputeType(input, output) == CudaComponentType::Double)
  {
    RunPasses<double>(plan, input, output, CudaComponentType::Double, threader, progress);
  }
  else
  {
    RunPasses<float>(plan, input, output, CudaComponentType::Float, threader, progress);
  }
}
} // namespace
} // end namespace itk::cuda::gaussian

namespace itk::CudaDetail
{
CudaOperation::CudaOperation(const CudaGaussianFirPlan & plan)
  : m_HostRun(cuda::BindHostRun(cuda::gaussian::RunOnHost, plan))
  , m_Algorithm(cuda::MakeAlgorithm(plan))
{}
} // end namespace itk::CudaDetail
