// SPDX-License-Identifier: Apache-2.0
#include "partition/result/Result.h"

#include "region/Checks.h"

#include <utility>

namespace itk::cuda::partition
{
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
MakeTable(const DescriptionModel &           model,
          std::vector<RegionSummary>         regions,
          const region::SamplesDescription & samples)
{
  std::vector<CudaPartitionRegion> table;
  table.reserve(regions.size());
  for (RegionSummary & summary : regions)
  {
    const CudaRegionSnakeStatistics statistics = region::MakeStatistics(summary.Sums, samples, model.Law.Law);
    CudaPartitionRegion             row;
    row.NumberOfPixels = statistics.NumberOfPixels;
    row.Mean = statistics.Mean;
    row.MeanSquare = statistics.MeanSquare;
    row.Variance = statistics.Variance;
    row.Description = model.Describe(summary.Sums) + DescriptionOffset(model, summary.Sums.Count, samples.Step);
    row.Sum = statistics.Sum;
    row.SumOfSquares = statistics.SumOfSquares;
    row.Area = 0.5 * static_cast<double>(summary.DoubledArea);
    row.Perimeter = summary.Perimeter;
    row.BoundingBox = { { summary.Box.MinimumX, summary.Box.MinimumY, summary.Box.MaximumX, summary.Box.MaximumY } };
    row.Neighbors = std::move(summary.Neighbors);
    table.push_back(std::move(row));
  }
  return table;
}

std::vector<Boundary>
MakeBoundaries(double cost, const std::vector<Adjacency> & adjacencies)
{
  std::vector<Boundary> boundaries;
  boundaries.reserve(adjacencies.size());
  for (const Adjacency & adjacency : adjacencies)
  {
    boundaries.push_back({ adjacency.First, adjacency.Second, cost * static_cast<double>(adjacency.NumberOfSides) });
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
} // namespace itk::cuda::partition
