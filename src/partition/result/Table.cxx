// SPDX-License-Identifier: Apache-2.0
#include "partition/result/Result.h"

#include "partition/labels/Components.h"
#include "partition/Tuning.h"
#include "region/Checks.h"

#include <algorithm>
#include <array>
#include <limits>
#include <mutex>
#include <unordered_map>

namespace itk::cuda::partition
{
namespace
{
constexpr int32_t RowsPerStrip = 64;

void
Add(LabelShape & shape, const LabelShape & other)
{
  shape.Area += other.Area;
  shape.Perimeter += other.Perimeter;
  shape.Box = { { std::min(shape.Box[0], other.Box[0]),
                  std::min(shape.Box[1], other.Box[1]),
                  std::max(shape.Box[2], other.Box[2]),
                  std::max(shape.Box[3], other.Box[3]) } };
}

using ShapesByLabel = std::unordered_map<uint32_t, LabelShape>;

/** Adds the pixels of one row, run by run. */
void
AddRow(const LabelMap & map, int32_t y, ShapesByLabel & shapes)
{
  const auto       width = static_cast<size_t>(map.Width);
  const uint32_t * row = map.Labels.data() + static_cast<size_t>(y) * width;
  const uint32_t * above = y > 0 ? row - width : nullptr;
  const uint32_t * below = y + 1 < map.Height ? row + width : nullptr;
  int32_t          x = 0;
  while (x < map.Width)
  {
    const int32_t  first = x;
    const uint32_t label = row[first];
    int64_t        sides = 2;
    for (; x < map.Width && row[x] == label; ++x)
    {
      sides += above == nullptr || above[x] != label ? 1 : 0;
      sides += below == nullptr || below[x] != label ? 1 : 0;
    }
    Add(shapes[label], { x - first, sides, { { first, y, x, y + 1 } } });
  }
}

std::vector<LabelShape>
MeasureShapes(const LabelMap & map, const Work & work)
{
  std::vector<LabelShape> shapes(map.Regions.size());
  std::mutex              mutex;
  work.ParallelFor(static_cast<size_t>((map.Height - 1) / RowsPerStrip + 1), 1, [&](size_t strip) {
    ShapesByLabel ofStrip;
    const int32_t first = static_cast<int32_t>(strip) * RowsPerStrip;
    for (int32_t y = first; y < std::min(first + RowsPerStrip, map.Height); ++y)
    {
      AddRow(map, y, ofStrip);
    }
    // The order of the strips does not matter, because all sums are integers.
    const std::lock_guard<std::mutex> lock(mutex);
    for (const auto & [label, shape] : ofStrip)
    {
      Add(shapes[label], shape);
    }
  });
  return shapes;
}
} // namespace

double
DescriptionOffset(const Model & model, int64_t numberOfPixels, double step)
{
  if (model.Law.Law == NoiseLaw::GaussianCommonVariance)
  {
    return 0.0;
  }
  return region::CriterionOffset({ model.Law.Law, model.Law.NumberOfLooks, numberOfPixels }, step);
}

CudaPartitionRegion
MakeTableRow(const Model & model, const Moments & sums, const region::SamplesDescription & samples)
{
  const CudaRegionSnakeStatistics statistics = region::MakeStatistics(sums, samples, model.Law.Law);
  CudaPartitionRegion             row;
  row.NumberOfPixels = statistics.NumberOfPixels;
  row.Mean = statistics.Mean;
  row.MeanSquare = statistics.MeanSquare;
  row.Variance = statistics.Variance;
  row.Description = model.Describe(sums) + DescriptionOffset(model, sums.Count, samples.Step);
  row.Sum = statistics.Sum;
  row.SumOfSquares = statistics.SumOfSquares;
  return row;
}

LabelSummary
SummarizeLabels(const Scene & scene, const LabelMap & map, const Work & work)
{
  return { map.Regions, MeasureShapes(map, work), LinkRegions(scene, map, work) };
}

std::vector<CudaPartitionRegion>
MakeTable(const Model & model, const LabelSummary & labels, const region::SamplesDescription & samples)
{
  std::vector<CudaPartitionRegion> table(labels.Links.size());
  for (size_t i = 0; i < table.size(); ++i)
  {
    const LabelShape &    shape = labels.Shapes[i + 1];
    CudaPartitionRegion & row = table[i];
    row = MakeTableRow(model, labels.Sums[i + 1], samples);
    row.Area = static_cast<double>(shape.Area);
    row.Perimeter = static_cast<double>(shape.Perimeter);
    row.BoundingBox = shape.Box;
    for (const RegionLink & link : labels.Links[i])
    {
      row.Neighbors.push_back(link.Region + 1);
    }
  }
  return table;
}

std::vector<Boundary>
MakeBoundaries(const std::vector<RegionLinks> & links)
{
  std::vector<Boundary> boundaries;
  for (uint32_t region = 0; region < links.size(); ++region)
  {
    for (const RegionLink & link : links[region])
    {
      if (region < link.Region)
      {
        boundaries.push_back({ region + 1, link.Region + 1, NatsPerCrack * static_cast<double>(link.Cracks) });
      }
    }
  }
  return boundaries;
}
} // namespace itk::cuda::partition
