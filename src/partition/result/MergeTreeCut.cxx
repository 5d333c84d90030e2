// SPDX-License-Identifier: Apache-2.0
#include "partition/result/Result.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

// Computes the statistics, polygons and merge tree of a finished partition after further steps of its merge tree.
// Regions merge while the partition is made in partition/labels/MergeRounds.h and partition/refine/MapMerges.h.

namespace itk::cuda::partition
{
namespace
{
constexpr double NotANumber = std::numeric_limits<double>::quiet_NaN();

/** Numbers the remaining regions from 1, and returns for each region the number of the region that contains it. */
std::vector<uint32_t>
NumberAnew(std::vector<uint32_t> regions)
{
  uint32_t last = 0;
  for (uint32_t i = 1; i < regions.size(); ++i)
  {
    // A region belongs to one with a smaller number, which has already been handled.
    regions[i] = regions[i] == i ? ++last : regions[regions[i]];
  }
  return regions;
}

/** Adds the statistics of `other` to `region` (Chan, Golub and LeVeque 1979). A NaN variance remains NaN. */
void
AddPixels(CudaPartitionRegion & region, const CudaPartitionRegion & other)
{
  const uint64_t pixels = region.NumberOfPixels + other.NumberOfPixels;
  if (other.NumberOfPixels > 0)
  {
    const double share = static_cast<double>(other.NumberOfPixels) / static_cast<double>(pixels);
    const double difference = other.Mean - region.Mean;
    region.Variance =
      (1.0 - share) * region.Variance + share * other.Variance + share * (1.0 - share) * difference * difference;
    region.Mean += share * difference;
    region.MeanSquare += share * (other.MeanSquare - region.MeanSquare);
  }
  region.NumberOfPixels = pixels;
  region.Sum += other.Sum;
  region.SumOfSquares += other.SumOfSquares;
}

void
AddRegion(CudaPartitionRegion & region, const CudaPartitionRegion & other)
{
  if (region.NumberOfPixels == 0)
  {
    // A region without pixels has no statistics, and its values may be NaN.
    region.Mean = other.Mean;
    region.MeanSquare = other.MeanSquare;
    region.Variance = other.Variance;
    region.NumberOfPixels = other.NumberOfPixels;
    region.Sum = other.Sum;
    region.SumOfSquares = other.SumOfSquares;
  }
  else
  {
    AddPixels(region, other);
  }
  region.Area += other.Area;
  for (int i : { 0, 1 })
  {
    region.BoundingBox[i] = std::min(region.BoundingBox[i], other.BoundingBox[i]);
    region.BoundingBox[i + 2] = std::max(region.BoundingBox[i + 2], other.BoundingBox[i + 2]);
  }
  region.Neighbors.insert(region.Neighbors.end(), other.Neighbors.begin(), other.Neighbors.end());
  region.Description = NotANumber;
}

std::vector<CudaPartitionRegion>
MergeTable(const std::vector<CudaPartitionRegion> & table, const std::vector<uint32_t> & numbers)
{
  std::vector<CudaPartitionRegion> merged;
  std::vector<bool>                changed;
  for (size_t i = 0; i < table.size(); ++i)
  {
    const uint32_t number = numbers[i + 1];
    if (number > merged.size())
    {
      merged.push_back(table[i]);
      changed.push_back(false);
    }
    else
    {
      AddRegion(merged[number - 1], table[i]);
      changed[number - 1] = true;
    }
  }
  for (size_t i = 0; i < merged.size(); ++i)
  {
    std::vector<uint32_t> & neighbors = merged[i].Neighbors;
    std::transform(neighbors.begin(), neighbors.end(), neighbors.begin(), [&](uint32_t n) { return numbers[n]; });
    std::sort(neighbors.begin(), neighbors.end());
    neighbors.erase(std::unique(neighbors.begin(), neighbors.end()), neighbors.end());
    neighbors.erase(std::remove(neighbors.begin(), neighbors.end(), static_cast<uint32_t>(i + 1)), neighbors.end());
    merged[i].Perimeter = changed[i] ? NotANumber : merged[i].Perimeter;
  }
  return merged;
}

/** Keeps the edges that still separate two regions, and the nodes that they need. */
void
MergeMap(const CudaRegionPartitionResult & partition,
         const std::vector<uint32_t> &     numbers,
         CudaRegionPartitionResult &       merged)
{
  std::vector<uint8_t> used(partition.Nodes.size(), 0);
  for (const CudaPartitionEdge & edge : partition.Edges)
  {
    if (numbers[edge.Left] != numbers[edge.Right])
    {
      merged.Edges.push_back({ edge.Start, edge.End, numbers[edge.Left], numbers[edge.Right] });
      used[edge.Start] = used[edge.End] = 1;
    }
  }
  std::vector<uint32_t> newNodes(partition.Nodes.size(), 0);
  for (size_t i = 0; i < partition.Nodes.size(); ++i)
  {
    if (used[i])
    {
      newNodes[i] = static_cast<uint32_t>(merged.Nodes.size());
      merged.Nodes.push_back(partition.Nodes[i]);
    }
  }
  for (CudaPartitionEdge & edge : merged.Edges)
  {
    edge.Start = newNodes[edge.Start];
    edge.End = newNodes[edge.End];
  }
}

/** Computes the perimeters of merged regions from the lengths of their edges. */
void
MeasurePerimeters(CudaRegionPartitionResult & partition)
{
  std::vector<double> lengths(partition.Regions.size() + 1, 0.0);
  for (const CudaPartitionEdge & edge : partition.Edges)
  {
    const CudaSnakePoint & p = partition.Nodes[edge.Start];
    const CudaSnakePoint & q = partition.Nodes[edge.End];
    const double           length = std::hypot(double(q.X) - double(p.X), double(q.Y) - double(p.Y));
    lengths[edge.Left] += length;
    lengths[edge.Right] += length;
  }
  for (size_t i = 0; i < partition.Regions.size() && !partition.Edges.empty(); ++i)
  {
    double & perimeter = partition.Regions[i].Perimeter;
    perimeter = std::isnan(perimeter) ? lengths[i + 1] : perimeter;
  }
}
} // namespace

std::vector<uint32_t>
FollowMergeTree(const CudaRegionPartitionResult & partition, size_t merges)
{
  std::vector<uint32_t> regions(partition.Regions.size() + 1);
  for (uint32_t i = 0; i < regions.size(); ++i)
  {
    regions[i] = i;
  }
  for (size_t i = 0; i < merges; ++i)
  {
    regions[partition.Merges[i].Second] = partition.Merges[i].First;
  }
  for (uint32_t & region : regions)
  {
    // The first region of a merge has the smaller number, so that its entry is already final.
    region = regions[region];
  }
  return regions;
}

CudaRegionPartitionResult
CutMergeTree(const CudaRegionPartitionResult & partition, size_t merges)
{
  const std::vector<uint32_t> numbers = NumberAnew(FollowMergeTree(partition, merges));
  CudaRegionPartitionResult   merged;
  merged.Description = partition.Description;
  merged.DescriptionOfOneRegion = partition.DescriptionOfOneRegion;
  merged.NumberOfLooks = partition.NumberOfLooks;
  merged.NumberOfIterations = partition.NumberOfIterations;
  merged.Stop = partition.Stop;
  merged.Regions = MergeTable(partition.Regions, numbers);
  MergeMap(partition, numbers, merged);
  MeasurePerimeters(merged);
  for (size_t i = 0; i < merges; ++i)
  {
    merged.Description += partition.Merges[i].Change;
  }
  for (size_t i = merges; i < partition.Merges.size(); ++i)
  {
    const CudaPartitionMerge & merge = partition.Merges[i];
    merged.Merges.push_back({ numbers[merge.First], numbers[merge.Second], merge.Change });
  }
  return merged;
}
} // namespace itk::cuda::partition
