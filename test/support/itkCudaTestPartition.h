// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaTestPartition_h
#define itkCudaTestPartition_h

#include "itkCudaRegionPartitionTypes.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
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

  bool
  Has(int x, int y) const
  {
    return x >= 0 && y >= 0 && x < Width && y < Height;
  }
  uint32_t
  At(int x, int y) const
  {
    return this->Has(x, y) ? Pixels[static_cast<size_t>(y) * Width + x] : 0;
  }
  uint32_t
  GetNumberOfRegions() const
  {
    return *std::max_element(Pixels.begin(), Pixels.end());
  }
};

/** The steps to the neighbors of a pixel. */
constexpr std::pair<int, int> StepsToNeighbors[] = { { 1, 0 }, { 0, 1 }, { -1, 0 }, { 0, -1 } };

/** Returns the 4-connected components of equal labels, which may be any numbers. They are numbered in the order of
 * their first pixels. */
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
      for (const auto & [dx, dy] : StepsToNeighbors)
      {
        const int next = (y + dy) * labels.Width + x + dx;
        if (labels.Has(x + dx, y + dy) && labels.Pixels[next] == labels.Pixels[first] && components.Pixels[next] == 0)
        {
          components.Pixels[next] = last;
          front.push_back(next);
        }
      }
    }
  }
  return components;
}

/** The shape of a region of pixels. */
struct TestRegion
{
  uint64_t                     Pixels{ 0 };
  double                       Perimeter{ 0.0 };
  std::array<int32_t, 4>       Box{ { 1 << 30, 1 << 30, 0, 0 } }; // x and y from, x and y to
  std::map<uint32_t, uint32_t> Neighbors;                         // the pixel sides that they share
};

/** Measures the regions pixel by pixel. The result has one for each number from 0 to the largest.
 * \param isValid isValid(x, y); sides of other pixels are not counted in Neighbors */
template <typename TIsValid>
std::vector<TestRegion>
MeasureRegions(const TestLabels & labels, const TIsValid & isValid)
{
  std::vector<TestRegion> regions(labels.GetNumberOfRegions() + 1);
  for (int y = 0; y < labels.Height; ++y)
  {
    for (int x = 0; x < labels.Width; ++x)
    {
      TestRegion & region = regions[labels.At(x, y)];
      ++region.Pixels;
      region.Box = { { std::min(region.Box[0], x),
                       std::min(region.Box[1], y),
                       std::max(region.Box[2], x + 1),
                       std::max(region.Box[3], y + 1) } };
      for (const auto & [dx, dy] : StepsToNeighbors)
      {
        const uint32_t other = labels.At(x + dx, y + dy);
        if (other != labels.At(x, y))
        {
          region.Perimeter += 1.0;
          if (labels.Has(x + dx, y + dy))
          {
            region.Neighbors[other] += isValid(x, y) && isValid(x + dx, y + dy) ? 1 : 0;
          }
        }
      }
    }
  }
  return regions;
}
inline std::vector<TestRegion>
MeasureRegions(const TestLabels & labels)
{
  return MeasureRegions(labels, [](int, int) { return true; });
}

/** Returns the numbers of the neighbors of a region, ascending. */
inline std::vector<uint32_t>
GetNeighbors(const TestRegion & region)
{
  std::vector<uint32_t> numbers;
  for (const auto & neighbor : region.Neighbors)
  {
    numbers.push_back(neighbor.first);
  }
  return numbers;
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

  /** Makes the table of an image whose pixels have their index in the array as value. */
  void
  MakeTable()
  {
    const std::vector<TestRegion> shapes = MeasureRegions(m_Labels);
    m_Map.Regions.resize(m_Labels.GetNumberOfRegions());
    for (size_t i = 0; i < m_Labels.Pixels.size(); ++i)
    {
      CudaPartitionRegion & region = m_Map.Regions[m_Labels.Pixels[i] - 1];
      region.Sum += i;
      region.SumOfSquares += i * i;
    }
    for (size_t i = 0; i < m_Map.Regions.size(); ++i)
    {
      CudaPartitionRegion & region = m_Map.Regions[i];
      const TestRegion &    shape = shapes[i + 1];
      region.NumberOfPixels = shape.Pixels;
      region.Area = static_cast<double>(shape.Pixels);
      region.Mean = static_cast<double>(region.Sum) / region.Area;
      region.MeanSquare = static_cast<double>(region.SumOfSquares) / region.Area;
      region.Variance = region.MeanSquare - region.Mean * region.Mean;
      region.Perimeter = shape.Perimeter;
      region.BoundingBox = shape.Box;
      region.Neighbors = GetNeighbors(shape);
    }
  }

  const TestLabels &         m_Labels;
  CudaRegionPartitionResult  m_Map;
  std::map<Corner, uint32_t> m_Numbers; // of nodes
};
} // namespace itk::cuda::test

#endif
