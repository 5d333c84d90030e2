// SPDX-License-Identifier: Apache-2.0
#include "itkCudaPartitionSummary.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <numeric>
#include <utility>

namespace itk::cuda::partition
{
namespace
{
/** Puts items in order: those of small bucket numbers first, those of a bucket as `less` says. Buckets are small. */
template <typename TItem, typename TBucket, typename TLess>
void
SortInBuckets(std::vector<TItem> & items, size_t numberOfBuckets, const TBucket & bucketOf, const TLess & less)
{
  std::vector<size_t> first(numberOfBuckets + 1, 0);
  for (const TItem & item : items)
  {
    ++first[bucketOf(item) + 1];
  }
  std::partial_sum(first.begin(), first.end(), first.begin());
  std::vector<TItem>  sorted(items.size());
  std::vector<size_t> next(first);
  for (const TItem & item : items)
  {
    sorted[next[bucketOf(item)]++] = item;
  }
  for (size_t bucket = 0; bucket < numberOfBuckets; ++bucket)
  {
    std::sort(sorted.begin() + static_cast<ptrdiff_t>(first[bucket]),
              sorted.begin() + static_cast<ptrdiff_t>(first[bucket + 1]),
              less);
  }
  items.swap(sorted);
}

class Summarizer
{
public:
  Summarizer(const MapData & map, const std::vector<uint64_t> & firstPixels)
    : m_Map(map)
    , m_FirstPixels(firstPixels)
    , m_Region(map.Regions.size(), Outside)
    , m_Node(map.Nodes.size(), None)
  {}

  MapSummary
  Run()
  {
    this->NumberRegions();
    this->NumberNodes();
    this->ListEdges();
    this->MeasureRegions();
    this->ListAdjacencies();
    m_Summary.Numbers = std::move(m_Region);
    return std::move(m_Summary);
  }

private:
  const MapData &               m_Map;
  const std::vector<uint64_t> & m_FirstPixels;
  std::vector<uint32_t>         m_Region; // the final number of each of the map's
  std::vector<uint32_t>         m_Node;
  MapSummary                    m_Summary;

  void
  NumberRegions()
  {
    std::vector<uint32_t> order;
    for (uint32_t number = 1; number < m_Map.Regions.size(); ++number)
    {
      if (m_Map.IsRegion[number] != 0)
      {
        order.push_back(number);
      }
    }
    std::stable_sort(
      order.begin(), order.end(), [this](uint32_t i, uint32_t j) { return m_FirstPixels[i] < m_FirstPixels[j]; });
    m_Summary.Regions.resize(order.size());
    for (size_t i = 0; i < order.size(); ++i)
    {
      m_Summary.Regions[i].Sums = m_Map.Regions[order[i]];
      m_Region[order[i]] = static_cast<uint32_t>(i + 1);
    }
  }

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
        const uint32_t left = m_Region[edge.Left];
        const uint32_t right = m_Region[edge.Right];
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

  /** Adds an edge to a region's measures; side: 1 if the region lies left, -1 if it lies right. */
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
  ListAdjacencies()
  {
    std::vector<Adjacency> & all = m_Summary.Adjacencies;
    for (const CudaPartitionEdge & edge : m_Summary.Edges)
    {
      if (edge.Left != Outside && edge.Right != Outside)
      {
        all.push_back({ std::min(edge.Left, edge.Right), std::max(edge.Left, edge.Right), 1 });
      }
    }
    SortInBuckets(
      all,
      m_Summary.Regions.size() + 1,
      [](const Adjacency & adjacency) { return size_t{ adjacency.First }; },
      [](const Adjacency & x, const Adjacency & y) { return x.Second < y.Second; });
    size_t number = 0;
    for (const Adjacency & adjacency : all)
    {
      const bool isKnown =
        number > 0 && all[number - 1].First == adjacency.First && all[number - 1].Second == adjacency.Second;
      if (isKnown)
      {
        ++all[number - 1].NumberOfSegments;
      }
      else
      {
        all[number++] = adjacency;
      }
    }
    all.resize(number);
    for (const Adjacency & adjacency : all) // smaller numbers come first on either side
    {
      m_Summary.Regions[adjacency.First - 1].Neighbors.push_back(adjacency.Second);
      m_Summary.Regions[adjacency.Second - 1].Neighbors.push_back(adjacency.First);
    }
  }
};
} // namespace

std::vector<uint64_t>
FindFirstPixels(const std::vector<uint32_t> & labels, size_t number, const region::Threads & threads)
{
  std::vector<std::atomic<uint64_t>> first(number);
  for (std::atomic<uint64_t> & pixel : first)
  {
    pixel.store(NoPixel, std::memory_order_relaxed);
  }
  threads.ForRanges(labels.size(), 65536, [&](size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i)
    {
      if (i == begin || labels[i] != labels[i - 1])
      {
        std::atomic<uint64_t> & pixel = first[labels[i]];
        uint64_t                present = pixel.load(std::memory_order_relaxed);
        while (i < present && !pixel.compare_exchange_weak(present, i, std::memory_order_relaxed))
        {}
      }
    }
  });
  return { first.begin(), first.end() };
}

MapSummary
SummarizeMap(const MapData & map, const std::vector<uint64_t> & firstPixels)
{
  return Summarizer(map, firstPixels).Run();
}
} // namespace itk::cuda::partition
