// SPDX-License-Identifier: Apache-2.0
#include "partition/result/Result.h"

#include "partition/result/Sort.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace itk::cuda::partition
{
namespace
{
/** Lists the nodes of the summary. Returns the number of each of the map's nodes. */
std::vector<uint32_t>
ListNodes(const MapData & map, MapSummary & summary)
{
  std::vector<uint32_t> order;
  for (uint32_t i = 0; i < map.Nodes.size(); ++i)
  {
    if (map.Nodes[i].IsAlive())
    {
      order.push_back(i);
    }
  }
  SortInBuckets(
    order,
    static_cast<size_t>(map.Height) + 1,
    [&map](uint32_t i) { return static_cast<size_t>(map.At(i).Y); },
    [&map](uint32_t i, uint32_t j) { return map.At(i).X < map.At(j).X; });
  std::vector<uint32_t> numbers(map.Nodes.size(), None);
  for (const uint32_t i : order)
  {
    numbers[i] = static_cast<uint32_t>(summary.Nodes.size());
    summary.Nodes.push_back(map.At(i));
  }
  return numbers;
}

/** Lists the edges of the summary. \param nodes and \param regions numbers of the map's nodes and regions */
void
ListEdges(const MapData &               map,
          const std::vector<uint32_t> & nodes,
          const std::vector<uint32_t> & regions,
          MapSummary &                  summary)
{
  for (const MapEdge & edge : map.Edges)
  {
    if (edge.IsAlive())
    {
      const uint32_t start = nodes[edge.Start];
      const uint32_t end = nodes[edge.End];
      const uint32_t left = regions[edge.Left];
      const uint32_t right = regions[edge.Right];
      summary.Edges.push_back(start < end ? CudaPartitionEdge{ start, end, left, right }
                                          : CudaPartitionEdge{ end, start, right, left });
    }
  }
  SortInBuckets(
    summary.Edges,
    summary.Nodes.size(),
    [](const CudaPartitionEdge & edge) { return size_t{ edge.Start }; },
    [](const CudaPartitionEdge & e, const CudaPartitionEdge & f) { return e.End < f.End; });
}

/** Adds an edge to the measures of a region. \param side 1 if the region is to the left of the edge, and -1 if it is to
 * the right */
void
AddEdge(MapSummary & map, uint32_t number, const CudaPartitionEdge & edge, int64_t side)
{
  if (number == Outside)
  {
    return;
  }
  RegionSummary &          summary = map.Regions[number - 1];
  const LatticePoint       p = map.Nodes[edge.Start];
  const LatticePoint       q = map.Nodes[edge.End];
  const region::LatticeBox box = region::BoxOf(p, q);
  const double             dx = static_cast<double>(q.X) - p.X;
  const double             dy = static_cast<double>(q.Y) - p.Y;
  summary.DoubledArea += side * (static_cast<int64_t>(p.X) * q.Y - static_cast<int64_t>(q.X) * p.Y);
  summary.Perimeter += std::sqrt(dx * dx + dy * dy);
  summary.Box = { region::Minimum(summary.Box.MinimumX, box.MinimumX),
                  region::Minimum(summary.Box.MinimumY, box.MinimumY),
                  region::Maximum(summary.Box.MaximumX, box.MaximumX),
                  region::Maximum(summary.Box.MaximumY, box.MaximumY) };
}
} // namespace

NumberedRegions
NumberRegions(const MapData & map, const std::vector<uint32_t> & firstPixels)
{
  std::vector<uint32_t> order;
  for (uint32_t region = 1; region < map.Regions.size(); ++region)
  {
    if (map.IsRegion[region] != 0)
    {
      order.push_back(region);
    }
  }
  std::stable_sort(order.begin(), order.end(), [&](uint32_t i, uint32_t j) { return firstPixels[i] < firstPixels[j]; });
  NumberedRegions numbered{ std::vector<uint32_t>(map.Regions.size(), Outside), std::vector<Moments>(1) };
  for (const uint32_t region : order)
  {
    numbered.Numbers[region] = static_cast<uint32_t>(numbered.Sums.size());
    numbered.Sums.push_back(map.Regions[region]);
  }
  return numbered;
}

std::vector<Adjacency>
ListAdjacencies(const MapData & map, const std::vector<uint32_t> & numbers)
{
  std::vector<Adjacency> all; // one per segment
  for (const MapEdge & edge : map.Edges)
  {
    if (edge.IsAlive() && !edge.IsBorder())
    {
      const auto [first, second] = std::minmax(numbers[edge.Left], numbers[edge.Right]);
      all.push_back({ first, second, 1 });
    }
  }
  SortAdjacencies(all, numbers.size());
  std::vector<Adjacency> adjacencies;
  for (const Adjacency & adjacency : all)
  {
    const bool isKnown = !adjacencies.empty() && adjacencies.back().First == adjacency.First &&
                         adjacencies.back().Second == adjacency.Second;
    if (isKnown)
    {
      ++adjacencies.back().NumberOfSides;
    }
    else
    {
      adjacencies.push_back(adjacency);
    }
  }
  return adjacencies;
}

void
SortAdjacencies(std::vector<Adjacency> & adjacencies, size_t end)
{
  SortInBuckets(
    adjacencies,
    end,
    [](const Adjacency & adjacency) { return size_t{ adjacency.First }; },
    [](const Adjacency & x, const Adjacency & y) { return x.Second < y.Second; });
}

void
AddNeighbors(const std::vector<Adjacency> & adjacencies, std::vector<RegionSummary> & regions)
{
  for (const Adjacency & adjacency : adjacencies) // sorted, so that both lists of neighbours become sorted
  {
    regions[adjacency.First - 1].Neighbors.push_back(adjacency.Second);
    regions[adjacency.Second - 1].Neighbors.push_back(adjacency.First);
  }
}

MapSummary
SummarizeMap(const MapData & map, const NumberedRegions & regions, const std::vector<Adjacency> & adjacencies)
{
  MapSummary summary;
  ListEdges(map, ListNodes(map, summary), regions.Numbers, summary);
  for (size_t i = 1; i < regions.Sums.size(); ++i)
  {
    summary.Regions.push_back({ regions.Sums[i], 0, 0.0, { map.Width, map.Height, 0, 0 }, {} });
  }
  for (const CudaPartitionEdge & edge : summary.Edges)
  {
    AddEdge(summary, edge.Left, edge, 1);
    AddEdge(summary, edge.Right, edge, -1);
  }
  AddNeighbors(adjacencies, summary.Regions);
  return summary;
}
} // namespace itk::cuda::partition
