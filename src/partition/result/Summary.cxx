// SPDX-License-Identifier: Apache-2.0
#include "partition/result/Result.h"

#include "partition/executor/Sort.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace itk::cuda::partition
{
namespace
{
class Summarizer
{
public:
  Summarizer(const MapData & map, const NumberedRegions & regions)
    : m_Map(map)
    , m_Numbers(regions.Numbers)
    , m_Node(map.Nodes.size(), None)
  {
    m_Summary.Regions.resize(regions.Sums.size() - 1);
    for (size_t i = 0; i < m_Summary.Regions.size(); ++i)
    {
      m_Summary.Regions[i].Sums = regions.Sums[i + 1];
    }
  }

  MapSummary
  Run(const std::vector<Adjacency> & adjacencies)
  {
    this->NumberNodes();
    this->ListEdges();
    this->MeasureRegions();
    this->ListNeighbors(adjacencies);
    return std::move(m_Summary);
  }

private:
  const MapData &               m_Map;
  const std::vector<uint32_t> & m_Numbers; // the final number of each of the map's regions
  std::vector<uint32_t>         m_Node;
  MapSummary                    m_Summary;

  void
  NumberNodes()
  {
    std::vector<uint32_t> order;
    for (uint32_t i = 0; i < m_Map.Nodes.size(); ++i)
    {
      if (m_Map.Nodes[i].Degree > 0)
      {
        order.push_back(i);
      }
    }
    SortInBuckets(
      order,
      static_cast<size_t>(m_Map.Height) + 1,
      [this](uint32_t i) { return static_cast<size_t>(m_Map.At(i).Y); },
      [this](uint32_t i, uint32_t j) { return m_Map.At(i).X < m_Map.At(j).X; });
    for (const uint32_t i : order)
    {
      m_Node[i] = static_cast<uint32_t>(m_Summary.Nodes.size());
      m_Summary.Nodes.push_back(m_Map.At(i));
    }
  }

  void
  ListEdges()
  {
    for (const MapEdge & edge : m_Map.Edges)
    {
      if (edge.IsAlive())
      {
        const uint32_t start = m_Node[edge.Start];
        const uint32_t end = m_Node[edge.End];
        const uint32_t left = m_Numbers[edge.Left];
        const uint32_t right = m_Numbers[edge.Right];
        m_Summary.Edges.push_back(start < end ? CudaPartitionEdge{ start, end, left, right }
                                              : CudaPartitionEdge{ end, start, right, left });
      }
    }
    SortInBuckets(
      m_Summary.Edges,
      m_Summary.Nodes.size(),
      [](const CudaPartitionEdge & edge) { return size_t{ edge.Start }; },
      [](const CudaPartitionEdge & e, const CudaPartitionEdge & f) { return e.End < f.End; });
  }

  void
  MeasureRegions()
  {
    for (RegionSummary & summary : m_Summary.Regions)
    {
      summary.Box = { m_Map.Width, m_Map.Height, 0, 0 };
    }
    for (const CudaPartitionEdge & edge : m_Summary.Edges)
    {
      this->AddEdge(edge.Left, edge, 1);
      this->AddEdge(edge.Right, edge, -1);
    }
  }

  /** Adds an edge to a region's measures. `side` is 1 if the region is to the left of the edge, and -1 if it is to the
   * right. */
  void
  AddEdge(uint32_t number, const CudaPartitionEdge & edge, int64_t side)
  {
    if (number == Outside)
    {
      return;
    }
    RegionSummary &          summary = m_Summary.Regions[number - 1];
    const LatticePoint       p = m_Summary.Nodes[edge.Start];
    const LatticePoint       q = m_Summary.Nodes[edge.End];
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

  void
  ListNeighbors(const std::vector<Adjacency> & adjacencies)
  {
    for (const Adjacency & adjacency : adjacencies) // The adjacencies are sorted, so that both lists of neighbours
                                                    // become sorted.
    {
      m_Summary.Regions[adjacency.First - 1].Neighbors.push_back(adjacency.Second);
      m_Summary.Regions[adjacency.Second - 1].Neighbors.push_back(adjacency.First);
    }
  }
};
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
  SortInBuckets(
    all,
    numbers.size(),
    [](const Adjacency & adjacency) { return size_t{ adjacency.First }; },
    [](const Adjacency & x, const Adjacency & y) { return x.Second < y.Second; });
  std::vector<Adjacency> adjacencies;
  for (const Adjacency & adjacency : all)
  {
    const bool isKnown = !adjacencies.empty() && adjacencies.back().First == adjacency.First &&
                         adjacencies.back().Second == adjacency.Second;
    if (isKnown)
    {
      ++adjacencies.back().NumberOfSegments;
    }
    else
    {
      adjacencies.push_back(adjacency);
    }
  }
  return adjacencies;
}

MapSummary
SummarizeMap(const MapData & map, const NumberedRegions & regions, const std::vector<Adjacency> & adjacencies)
{
  return Summarizer(map, regions).Run(adjacencies);
}
} // namespace itk::cuda::partition
