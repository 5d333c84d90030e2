// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaTestPartition_h
#define itkCudaTestPartition_h

#include "itkCudaRegionPartitionTypes.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <utility>
#include <vector>

namespace itk::cuda::test
{
/** An array of region numbers, from 1 to the largest. Outside of the array the number is 0. */
struct TestLabels
{
  int                   Width{ 0 };
  int                   Height{ 0 };
  std::vector<uint32_t> Pixels; // row by row

  uint32_t
  At(int x, int y) const
  {
    return x < 0 || y < 0 || x >= Width || y >= Height ? 0 : Pixels[static_cast<size_t>(y) * Width + x];
  }
  uint32_t
  GetNumberOfRegions() const
  {
    return *std::max_element(Pixels.begin(), Pixels.end());
  }
};

/** Returns the 4-connected components of equal labels, numbered in the order of their first pixels. */
inline TestLabels
FindComponents(const TestLabels & labels)
{
  TestLabels components{ labels.Width, labels.Height, std::vector<uint32_t>(labels.Pixels.size(), 0) };
  uint32_t   last = 0;
  for (int first = 0; first < labels.Width * labels.Height; ++first)
  {
    if (components.Pixels[first] != 0)
    {
      continue;
    }
    ++last;
    std::vector<int> front{ first };
    components.Pixels[first] = last;
    while (!front.empty())
    {
      const int x = front.back() % labels.Width;
      const int y = front.back() / labels.Width;
      front.pop_back();
      for (const auto & step : { std::pair<int, int>{ 1, 0 }, { 0, 1 }, { -1, 0 }, { 0, -1 } })
      {
        const int u = x + step.first;
        const int v = y + step.second;
        if (labels.At(u, v) == labels.Pixels[first] && components.At(u, v) == 0)
        {
          components.Pixels[v * labels.Width + u] = last;
          front.push_back(v * labels.Width + u);
        }
      }
    }
  }
  return components;
}

/** Returns the area, which is positive if the ring is counter-clockwise with y upwards. */
inline double
GetArea(const CudaSnakePolygon & ring)
{
  double twice = 0.0;
  for (size_t i = 0; i < ring.size(); ++i)
  {
    const CudaSnakePoint & p = ring[i];
    const CudaSnakePoint & q = ring[(i + 1) % ring.size()];
    twice += double(p.X) * q.Y - double(q.X) * p.Y;
  }
  return twice / 2.0;
}

/** Returns the winding number of the ring around the centre of pixel (x, y), counted counter-clockwise. */
inline int
GetWindings(const CudaSnakePolygon & ring, int x, int y)
{
  int windings = 0;
  for (size_t i = 0; i < ring.size(); ++i)
  {
    const CudaSnakePoint & p = ring[i];
    const CudaSnakePoint & q = ring[(i + 1) % ring.size()];
    const double           side = (q.X - p.X) * (y + 0.5 - p.Y) - (x + 0.5 - p.X) * (q.Y - p.Y);
    windings += p.Y <= y && q.Y > y && side > 0.0 ? 1 : 0;
    windings -= q.Y <= y && p.Y > y && side < 0.0 ? 1 : 0;
  }
  return windings;
}

/** Builds the planar map whose boundaries follow the sides of pixels, corner by corner. It contains no merges. */
class TestMapMaker
{
public:
  explicit TestMapMaker(const TestLabels & labels)
    : m_Labels(labels)
  {}

  CudaRegionPartitionResult
  Make()
  {
    this->MakeNodes();
    for (const auto & node : m_Numbers)
    {
      this->MakeEdge(node.first, 1, 0);
      this->MakeEdge(node.first, 0, 1);
    }
    this->MakeTable();
    return std::move(m_Map);
  }

private:
  using Corner = std::pair<int, int>; // y, x

  /** Returns whether a pixel side between two regions starts at the corner in direction (dx, dy), which is right, up,
   * left or down. */
  bool
  HasSide(int x, int y, int dx, int dy) const
  {
    const int px = x + (dx < 0 ? -1 : 0);
    const int py = y + (dy < 0 ? -1 : 0);
    return dx != 0 ? m_Labels.At(px, y) != m_Labels.At(px, y - 1) : m_Labels.At(x, py) != m_Labels.At(x - 1, py);
  }

  void
  MakeNodes()
  {
    for (int y = 0; y <= m_Labels.Height; ++y)
    {
      for (int x = 0; x <= m_Labels.Width; ++x)
      {
        const bool right = this->HasSide(x, y, 1, 0);
        const bool up = this->HasSide(x, y, 0, 1);
        const bool left = this->HasSide(x, y, -1, 0);
        const bool down = this->HasSide(x, y, 0, -1);
        const bool straight = right == left && up == down && right != up;
        if ((right || up || left || down) && !straight)
        {
          m_Numbers[{ y, x }] = static_cast<uint32_t>(m_Map.Nodes.size());
          m_Map.Nodes.push_back({ x, y });
        }
      }
    }
  }

  void
  MakeEdge(const Corner & start, int dx, int dy)
  {
    int x = start.second;
    int y = start.first;
    if (!this->HasSide(x, y, dx, dy))
    {
      return;
    }
    const uint32_t left = dx != 0 ? m_Labels.At(x, y) : m_Labels.At(x - 1, y);
    const uint32_t right = dx != 0 ? m_Labels.At(x, y - 1) : m_Labels.At(x, y);
    do
    {
      x += dx;
      y += dy;
    } while (m_Numbers.count({ y, x }) == 0);
    m_Map.Edges.push_back({ m_Numbers.at(start), m_Numbers.at({ y, x }), left, right });
  }

  void
  MakeTable()
  {
    m_Map.Regions.resize(m_Labels.GetNumberOfRegions());
    for (CudaPartitionRegion & region : m_Map.Regions)
    {
      region.BoundingBox = { { m_Labels.Width, m_Labels.Height, 0, 0 } };
    }
    for (int y = 0; y < m_Labels.Height; ++y)
    {
      for (int x = 0; x < m_Labels.Width; ++x)
      {
        this->AddPixel(x, y);
      }
    }
  }

  /** Adds a pixel, whose value is its index in the array. */
  void
  AddPixel(int x, int y)
  {
    const uint32_t        number = m_Labels.At(x, y);
    CudaPartitionRegion & region = m_Map.Regions[number - 1];
    const auto            value = static_cast<uint64_t>(y) * m_Labels.Width + x;
    ++region.NumberOfPixels;
    region.Sum += value;
    region.SumOfSquares += value * value;
    region.Area += 1.0;
    region.Mean = static_cast<double>(region.Sum) / static_cast<double>(region.NumberOfPixels);
    region.MeanSquare = static_cast<double>(region.SumOfSquares) / static_cast<double>(region.NumberOfPixels);
    region.Variance = region.MeanSquare - region.Mean * region.Mean;
    auto & box = region.BoundingBox;
    box = { { std::min(box[0], x), std::min(box[1], y), std::max(box[2], x + 1), std::max(box[3], y + 1) } };
    std::set<uint32_t> neighbors(region.Neighbors.begin(), region.Neighbors.end());
    for (const auto & step : { std::pair<int, int>{ 1, 0 }, { 0, 1 }, { -1, 0 }, { 0, -1 } })
    {
      const uint32_t other = m_Labels.At(x + step.first, y + step.second);
      if (other != number)
      {
        region.Perimeter += 1.0;
        neighbors.insert(other);
      }
    }
    neighbors.erase(0);
    region.Neighbors.assign(neighbors.begin(), neighbors.end());
  }

  const TestLabels &         m_Labels;
  CudaRegionPartitionResult  m_Map;
  std::map<Corner, uint32_t> m_Numbers; // of nodes
};
} // namespace itk::cuda::test

#endif
