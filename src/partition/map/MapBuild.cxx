// SPDX-License-Identifier: Apache-2.0
#include "partition/map/Map.h"

#include "partition/map/Geometry.h"

#include "itkMacro.h"

#include <algorithm>
#include <mutex>
#include <numeric>
#include <utility>

namespace itk::cuda::partition
{
namespace
{
/** Calls function(x, corner) for the nodes of a row of corners. */
template <typename TFunction>
void
ForNodesOfRow(const LabelMap & labels, int32_t y, const TFunction & function)
{
  const auto       width = static_cast<size_t>(labels.Width);
  const uint32_t * above = y > 0 ? labels.Labels.data() + static_cast<size_t>(y - 1) * width : nullptr;
  const uint32_t * below = y < labels.Height ? labels.Labels.data() + static_cast<size_t>(y) * width : nullptr;
  Corner           corner{ Outside, Outside, Outside, Outside };
  for (int32_t x = 0; x <= labels.Width; ++x)
  {
    const bool isInside = x < labels.Width;
    corner.UpperLeft = corner.UpperRight;
    corner.LowerLeft = corner.LowerRight;
    corner.UpperRight = isInside && above != nullptr ? above[x] : Outside;
    corner.LowerRight = isInside && below != nullptr ? below[x] : Outside;
    if (corner.IsNode())
    {
      function(x, corner);
    }
  }
}

/** Finds the nodes and the labels around them. */
class NodeFinder
{
public:
  std::vector<LatticePoint> Positions;
  std::vector<Corner>       Corners;

  NodeFinder(const LabelMap & labels, const region::Threads & threads)
  {
    const auto          rows = static_cast<size_t>(labels.Height) + 1;
    std::vector<size_t> first(rows + 1, 0);
    threads.ForRanges(rows, 16, [&](size_t begin, size_t end) {
      for (size_t y = begin; y < end; ++y)
      {
        size_t number = 0;
        ForNodesOfRow(labels, static_cast<int32_t>(y), [&number](int32_t, const Corner &) { ++number; });
        first[y + 1] = number;
      }
    });
    for (size_t y = 0; y < rows; ++y)
    {
      first[y + 1] += first[y];
    }
    CheckNumberOfNodes(first[rows]);
    Positions.resize(first[rows]);
    Corners.resize(first[rows]);
    threads.ForRanges(rows, 16, [&](size_t begin, size_t end) {
      for (size_t y = begin; y < end; ++y)
      {
        size_t i = first[y];
        ForNodesOfRow(labels, static_cast<int32_t>(y), [&](int32_t x, const Corner & corner) {
          Positions[i] = { x, static_cast<int32_t>(y) };
          Corners[i++] = corner;
        });
      }
    });
  }

  size_t
  CountEdges() const
  {
    return std::accumulate(Corners.begin(), Corners.end(), size_t{ 0 }, [](size_t number, const Corner & corner) {
      return number + (corner.HasEdgeDown() ? 1 : 0) + (corner.HasEdgeRight() ? 1 : 0);
    });
  }

  /** Returns for each node with an edge down the node where this edge ends. */
  std::vector<uint32_t>
  FindNodesBelow(int32_t width) const
  {
    std::vector<uint32_t> below(Positions.size(), None);
    std::vector<uint32_t> last(static_cast<size_t>(width) + 1, None); // last node of each column
    for (size_t i = 0; i < Positions.size(); ++i)
    {
      uint32_t & above = last[static_cast<size_t>(Positions[i].X)];
      if (Corners[i].HasEdgeUp())
      {
        below[above] = static_cast<uint32_t>(i);
      }
      above = static_cast<uint32_t>(i);
    }
    return below;
  }
};

void
AddEdges(MapData & map, const NodeFinder & nodes)
{
  const std::vector<uint32_t> below = nodes.FindNodesBelow(map.Width);
  map.Edges.reserve(nodes.CountEdges());
  const auto add = [&map](uint32_t start, uint32_t end, uint32_t left, uint32_t right) {
    const auto edge = static_cast<uint32_t>(map.Edges.size());
    map.Edges.push_back({ start, end, left, right, {} });
    map.Nodes[start].Insert(edge);
    map.Nodes[end].Insert(edge);
  };
  for (uint32_t i = 0; i < map.Nodes.size(); ++i)
  {
    const Corner & corner = nodes.Corners[i];
    if (corner.HasEdgeDown())
    {
      add(i, below[i], corner.LowerLeft, corner.LowerRight);
    }
    if (corner.HasEdgeRight())
    {
      add(i, i + 1, corner.LowerRight, corner.UpperRight); // the edge ends at the next node of the row
    }
  }
}

void
SumEdges(MapData & map, const region::Level & pixels, const region::Threads & threads)
{
  threads.ForRanges(map.Edges.size(), 256, [&](size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i)
    {
      MapEdge & edge = map.Edges[i];
      edge.Sums = pixels.SumEdge(map.At(edge.Start), map.At(edge.End));
    }
  });
}

void
SumRegions(MapData & map, const LabelMap & labels)
{
  map.Regions.assign(labels.Regions.size(), Moments{});
  map.IsRegion.assign(labels.Regions.size(), 0);
  for (const MapEdge & edge : map.Edges)
  {
    map.Transfer(edge.Left, edge.Right, edge.Sums);
    map.IsRegion[edge.Left] = map.IsRegion[edge.Right] = 1;
  }
  map.IsRegion[Outside] = 0;
  for (size_t i = 1; i < map.Regions.size(); ++i)
  {
    if (!(map.Regions[i] == labels.Regions[i]))
    {
      itkGenericExceptionMacro("the sums of region "
                               << i << " differ from those of its boundary: " << map.Regions[i].Count << " instead of "
                               << labels.Regions[i].Count << " pixels");
    }
  }
}

void
CheckLabels(const LabelMap & labels, const region::Level & pixels, const region::Threads & threads)
{
  const size_t number = static_cast<size_t>(labels.Width) * static_cast<size_t>(labels.Height);
  if (labels.Width != pixels.Width || labels.Height != pixels.Height || labels.Labels.size() != number || number == 0)
  {
    itkGenericExceptionMacro("the labels have " << labels.Width << " x " << labels.Height << " pixels, the image has "
                                                << pixels.Width << " x " << pixels.Height);
  }
  std::mutex mutex;
  auto       range = std::pair(labels.Labels.front(), labels.Labels.front());
  threads.ForRanges(number, 65536, [&](size_t begin, size_t end) {
    const uint32_t * const first = labels.Labels.data();
    const auto [smallest, largest] = std::minmax_element(first + begin, first + end);
    const std::lock_guard<std::mutex> lock(mutex);
    range = { std::min(range.first, *smallest), std::max(range.second, *largest) };
  });
  if (range.first == Outside || range.second >= labels.Regions.size())
  {
    itkGenericExceptionMacro("labels go from " << range.first << " to " << range.second << "; with "
                                               << labels.Regions.size() << " sums they have to go from 1 to one less");
  }
}
} // namespace

void
CheckNumberOfNodes(size_t number)
{
  if (number > LargestNumberOfNodes)
  {
    itkGenericExceptionMacro("the labels' boundaries turn " << number
                                                            << " times; a partition holds at most 2^30 nodes");
  }
}

MapData
BuildMap(const LabelMap & labels, const region::Level & pixels, const region::Threads & threads)
{
  CheckLabels(labels, pixels, threads);
  MapData map;
  map.Width = labels.Width;
  map.Height = labels.Height;
  const NodeFinder nodes(labels, threads);
  map.Nodes.resize(nodes.Positions.size());
  for (size_t i = 0; i < map.Nodes.size(); ++i)
  {
    map.Nodes[i].Position = nodes.Positions[i];
  }
  AddEdges(map, nodes);
  SumEdges(map, pixels, threads);
  SumRegions(map, labels);
  return map;
}
} // namespace itk::cuda::partition
