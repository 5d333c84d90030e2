// SPDX-License-Identifier: Apache-2.0
#include "partition/result/Result.h"

#include "partition/Tuning.h"
#include "region/Checks.h"
#include "itkMacro.h"

#include <limits>
#include <utility>

namespace itk::cuda::partition
{
namespace
{
/** Returns a table row with the statistics of a region and its description, but without its shape. */
CudaPartitionRegion
MakeTableRow(const DescriptionModel & model, const Moments & sums, const region::SamplesDescription & samples)
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

} // namespace

double
DescriptionOffset(const DescriptionModel & model, int64_t numberOfPixels, double step)
{
  if (model.Law.Law == NoiseLaw::GaussianCommonVariance)
  {
    return 0.0;
  }
  return region::CriterionOffset({ model.Law.Law, model.Law.NumberOfLooks, numberOfPixels }, step);
}

std::vector<CudaPartitionRegion>
MakeTable(const DescriptionModel & model, const LabelSummary & labels, const region::SamplesDescription & samples)
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
MakeBoundaries(const std::vector<std::vector<RegionLink>> & links)
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

std::vector<CudaPartitionRegion>
MakeTable(const DescriptionModel &           model,
          std::vector<RegionSummary>         regions,
          const region::SamplesDescription & samples)
{
  std::vector<CudaPartitionRegion> table;
  table.reserve(regions.size());
  for (RegionSummary & region : regions)
  {
    CudaPartitionRegion row = MakeTableRow(model, region.Sums, samples);
    row.Area = 0.5 * static_cast<double>(region.DoubledArea);
    row.Perimeter = region.Perimeter;
    row.BoundingBox = { { region.Box.MinimumX, region.Box.MinimumY, region.Box.MaximumX, region.Box.MaximumY } };
    row.Neighbors = std::move(region.Neighbors);
    table.push_back(std::move(row));
  }
  return table;
}

std::vector<Boundary>
MakeBoundaries(const DescriptionModel & model, const std::vector<Adjacency> & adjacencies)
{
  std::vector<Boundary> boundaries;
  boundaries.reserve(adjacencies.size());
  for (const Adjacency & adjacency : adjacencies)
  {
    boundaries.push_back(
      { adjacency.First, adjacency.Second, model.SegmentCost * static_cast<double>(adjacency.NumberOfSegments) });
  }
  return boundaries;
}

double
DescribeTable(const std::vector<CudaPartitionRegion> & table, const std::vector<Boundary> & boundaries)
{
  double description = 0.0;
  for (const CudaPartitionRegion & row : table)
  {
    description += row.Description;
  }
  for (const Boundary & boundary : boundaries)
  {
    description += boundary.Cost;
  }
  return description;
}

void
CheckLargestLabel(size_t numberOfRegions, CudaComponentType labelType)
{
  const size_t largest = labelType == CudaComponentType::UShort ? std::numeric_limits<uint16_t>::max()
                                                                : std::numeric_limits<uint32_t>::max();
  if (numberOfRegions > largest)
  {
    itkGenericExceptionMacro("The partition has " << numberOfRegions << " regions; labels of "
                                                  << 8 * CudaComponentSize(labelType) << " bits tell " << largest
                                                  << " apart. Labels of unsigned int would do");
  }
}
} // namespace itk::cuda::partition
