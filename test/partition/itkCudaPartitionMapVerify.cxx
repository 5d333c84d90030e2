// SPDX-License-Identifier: Apache-2.0
#include "partition/itkCudaPartitionMapTestCase.h"

#include <algorithm>

namespace itk::cuda::test
{
namespace
{
class Verification
{
public:
  Verification(const MapData & map, const region::LevelSums & pixels)
    : m_Map(map)
    , m_Pixels(pixels)
  {}

  std::string
  Run() const
  {
    for (const auto check : { &Verification::CheckNodes,
                              &Verification::CheckEdges,
                              &Verification::CheckRegions,
                              &Verification::CheckPlanarity })
    {
      std::string error = (this->*check)();
      if (!error.empty())
      {
        return error;
      }
    }
    return {};
  }

private:
  const MapData &           m_Map;
  const region::LevelSums & m_Pixels;

  static std::string
  Say(const char * what, size_t i)
  {
    return what + std::string(" ") + std::to_string(i);
  }
  static std::string
  Say(const char * what, size_t i, size_t j)
  {
    return Say(what, i) + " and " + std::to_string(j);
  }

  /** Checks that the edges of each node are alive, ascending and incident to it, and that the node is in the image. */
  std::string
  CheckNodes() const
  {
    for (size_t i = 0; i < m_Map.Nodes.size(); ++i)
    {
      const MapNode & node = m_Map.Nodes[i];
      if (node.Degree == 1 || node.Degree > MapNode::MaximumDegree)
      {
        return Say("impossible degree of node", i);
      }
      const LatticePoint & p = node.Position;
      if (p.X < 0 || p.Y < 0 || p.X > m_Map.Width || p.Y > m_Map.Height)
      {
        return Say("out of the image lies node", i);
      }
      for (uint32_t j = 0; j < node.Degree; ++j)
      {
        const MapEdge & edge = m_Map.Edges[node.Edges[j]];
        if ((edge.Start != i && edge.End != i) || (j > 0 && node.Edges[j] <= node.Edges[j - 1]))
        {
          return Say("wrong edges at node", i);
        }
      }
    }
    return {};
  }

  bool
  Lists(uint32_t node, uint32_t edge) const
  {
    const MapNode & n = m_Map.Nodes[node];
    return std::find(n.Edges, n.Edges + n.Degree, edge) != n.Edges + n.Degree;
  }

  std::string
  CheckEdges() const
  {
    for (uint32_t i = 0; i < m_Map.Edges.size(); ++i)
    {
      const MapEdge & edge = m_Map.Edges[i];
      if (!edge.IsAlive())
      {
        continue;
      }
      if (edge.Start == edge.End || !this->Lists(edge.Start, i) || !this->Lists(edge.End, i))
      {
        return Say("its nodes do not know edge", i);
      }
      const LatticePoint & p = m_Map.At(edge.Start);
      const LatticePoint & q = m_Map.At(edge.End);
      if (!(edge.Sums == m_Pixels.SumEdge(p, q)))
      {
        return Say("wrong sums of edge", i);
      }
      const bool onBorder =
        (p.X == q.X && MapView(m_Map).KindOf(p).FixesX) || (p.Y == q.Y && MapView(m_Map).KindOf(p).FixesY);
      if (edge.Left == edge.Right || onBorder != edge.IsBorder())
      {
        return Say("wrong regions of edge", i);
      }
    }
    return {};
  }

  std::string
  CheckRegions() const
  {
    std::vector<Moments> sums(m_Map.Regions.size());
    for (const MapEdge & edge : m_Map.Edges)
    {
      if (edge.IsAlive())
      {
        sums[edge.Left] += edge.Sums;
        sums[edge.Right] -= edge.Sums;
      }
    }
    for (size_t i = 1; i < sums.size(); ++i)
    {
      if (!(sums[i] == (m_Map.IsRegion[i] != 0 ? m_Map.Regions[i] : Moments{})))
      {
        return Say("wrong sums of region", i);
      }
    }
    return {};
  }

  /** Returns whether two edges have more in common than a node. */
  bool
  Meet(const MapEdge & e, const MapEdge & f) const
  {
    const bool startStart = e.Start == f.Start;
    const bool startEnd = e.Start == f.End;
    const bool endStart = e.End == f.Start;
    const bool endEnd = e.End == f.End;
    if ((startStart && endEnd) || (startEnd && endStart))
    {
      return true;
    }
    if (startStart || startEnd || endStart || endEnd)
    {
      const uint32_t common = startStart || startEnd ? e.Start : e.End;
      return region::FoldsBack(m_Map.At(common), m_Map.At(e.GetOther(common)), m_Map.At(f.GetOther(common)));
    }
    return region::SegmentsMeet(m_Map.At(e.Start), m_Map.At(e.End), m_Map.At(f.Start), m_Map.At(f.End));
  }

  std::string
  CheckPlanarity() const
  {
    const auto boxOf = [this](uint32_t i) {
      return region::BoxOf(m_Map.At(m_Map.Edges[i].Start), m_Map.At(m_Map.Edges[i].End));
    };
    std::vector<uint32_t> order;
    for (uint32_t i = 0; i < m_Map.Edges.size(); ++i)
    {
      if (m_Map.Edges[i].IsAlive())
      {
        order.push_back(i);
      }
    }
    std::sort(
      order.begin(), order.end(), [&](uint32_t i, uint32_t j) { return boxOf(i).MinimumY < boxOf(j).MinimumY; });
    for (size_t a = 0; a < order.size(); ++a)
    {
      const region::LatticeBox box = boxOf(order[a]);
      for (size_t b = a + 1; b < order.size() && boxOf(order[b]).MinimumY <= box.MaximumY; ++b)
      {
        if (!region::BoxesAreApart(box, boxOf(order[b])) && this->Meet(m_Map.Edges[order[a]], m_Map.Edges[order[b]]))
        {
          return Say("edges meet:", order[a], order[b]);
        }
      }
    }
    return {};
  }
};
} // namespace

std::string
VerifyMap(const MapData & map, const region::LevelSums & pixels)
{
  return Verification(map, pixels).Run();
}
} // namespace itk::cuda::test
