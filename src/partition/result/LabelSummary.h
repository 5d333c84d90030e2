// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_partition_result_LabelSummary_h
#define CudaFilters_partition_result_LabelSummary_h

#include "runtime/HostDevice.h"
#include "partition/labels/LabelSearch.h"
#include "partition/result/Result.h"

#include <cstddef>
#include <cstdint>
#include <vector>

// Measures the regions of a label map, and counts the pixel sides between neighbours, by parallel loops over pixels.
namespace itk::cuda::partition
{
namespace functors
{
/** The shape of a region, accumulated with atomic sums and minima, whose order does not matter. */
struct ShapeSums
{
  int64_t  Area;
  int64_t  Perimeter;
  uint32_t MinimumX;
  uint32_t MinimumY;
  uint32_t NotMaximumX; // ~MaximumX, so that a minimum computes the maximum
  uint32_t NotMaximumY;
};

/** Initializes the sums with 0 and the minima with the largest value. */
struct BeginShapes
{
  ShapeSums * Shapes;

  ITK_CUDA_HOST_DEVICE void
  operator()(size_t label) const
  {
    constexpr uint32_t largest = ~uint32_t{ 0 };
    Shapes[label] = { 0, 0, largest, largest, largest, largest };
  }
};

/** Adds one pixel's contribution: the ends of a row's runs contribute to the areas, and each pixel contributes its
 * boundary sides. */
template <typename TAtomics>
struct AddShapes
{
  PixelLabels Pixels;
  size_t      Number;
  ShapeSums * Shapes;

  ITK_CUDA_HOST_DEVICE void
  operator()(size_t pixel) const
  {
    const auto     x = static_cast<uint32_t>(Pixels.GetColumn(pixel));
    const auto     y = static_cast<uint32_t>(Pixels.GetRow(pixel));
    const auto     width = static_cast<size_t>(Pixels.Width);
    const uint32_t label = Pixels.Labels[pixel];
    const bool     begins = x == 0 || Pixels.Labels[pixel - 1] != label;
    const bool     ends = x + 1 == width || Pixels.Labels[pixel + 1] != label;
    const bool     isTop = y == 0 || Pixels.Labels[pixel - width] != label;
    const bool     isBottom = pixel + width >= Number || Pixels.Labels[pixel + width] != label;
    ShapeSums &    shape = Shapes[label];
    if (begins || ends || isTop || isBottom)
    {
      TAtomics::Add(shape.Perimeter, (begins ? 1 : 0) + (ends ? 1 : 0) + (isTop ? 1 : 0) + (isBottom ? 1 : 0));
    }
    if (begins)
    {
      TAtomics::Add(shape.Area, -static_cast<int64_t>(x));
      TAtomics::Minimum(shape.MinimumX, x);
      TAtomics::Minimum(shape.MinimumY, y);
      TAtomics::Minimum(shape.NotMaximumY, ~(y + 1));
    }
    if (ends)
    {
      TAtomics::Add(shape.Area, static_cast<int64_t>(x) + 1);
      TAtomics::Minimum(shape.NotMaximumX, ~(x + 1));
    }
  }
};
} // namespace functors

/** Summarizes a label map. \param labels in executor memory \param sums by label, in executor memory; [0] has no
 * samples */
template <typename TExecutor>
LabelSummary
SummarizeLabels(const TExecutor &   executor,
                const PixelLabels & labels,
                size_t              pixels,
                const Moments *     sums,
                size_t              regions)
{
  LabelSummary summary;
  summary.Sums.resize(regions + 1);
  executor.Download(sums, regions + 1, summary.Sums.data());
  const auto                       shapes = executor.template Allocate<functors::ShapeSums>(regions + 1);
  std::vector<functors::ShapeSums> found(regions + 1);
  executor.ParallelFor(regions + 1, functors::BeginShapes{ shapes.Get() });
  executor.ParallelFor(pixels, functors::AddShapes<typename TExecutor::Atomics>{ labels, pixels, shapes.Get() });
  executor.Download(shapes.Get(), found.size(), found.data());
  for (size_t label = 1; label <= regions; ++label)
  {
    const functors::ShapeSums & shape = found[label];
    summary.Regions.push_back({ summary.Sums[label],
                                2 * shape.Area,
                                static_cast<double>(shape.Perimeter),
                                { static_cast<int32_t>(shape.MinimumX),
                                  static_cast<int32_t>(shape.MinimumY),
                                  static_cast<int32_t>(~shape.NotMaximumX),
                                  static_cast<int32_t>(~shape.NotMaximumY) },
                                {} });
  }

  const auto            edges = ListRegionEdges(executor, labels, pixels, regions);
  const EdgeCode        code = EdgeCode::Of(regions);
  std::vector<uint64_t> keys(edges.Number);
  std::vector<uint32_t> lengths(edges.Number);
  executor.Download(edges.Keys.Get(), keys.size(), keys.data());
  executor.Download(edges.Lengths.Get(), lengths.size(), lengths.data());
  for (size_t i = 0; i < keys.size(); ++i)
  {
    summary.Adjacencies.push_back({ code.GetFirst(keys[i]) + 1, code.GetSecond(keys[i]) + 1, lengths[i] });
  }
  SortAdjacencies(summary.Adjacencies, regions + 1);
  AddNeighbors(summary.Adjacencies, summary.Regions);
  return summary;
}
} // namespace itk::cuda::partition

#endif
