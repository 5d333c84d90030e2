// SPDX-License-Identifier: Apache-2.0
#include "partition/itkCudaPartitionMapTestCase.h"
#include "partition/result/Result.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <iostream>
#include <map>
#include <set>

// Numbers and tables of a map, beside what the pixels of labels say.
namespace
{
using namespace itk::cuda::partition;
using itk::CudaPartitionEdge;
using itk::CudaSnakePoint;
using itk::cuda::region::Threads;

/** What pixels say about a region. */
struct PixelRegion
{
  int64_t                       Pixels{ 0 };
  int64_t                       Sides{ 0 }; // of pixels, to other regions or to the outside
  itk::cuda::region::LatticeBox Box{ 1 << 30, 1 << 30, 0, 0 };
  std::set<uint32_t>            Neighbors;
};

std::vector<PixelRegion>
MeasurePixels(const std::vector<uint32_t> & labels, int32_t width, int32_t height)
{
  std::vector<PixelRegion> regions(*std::max_element(labels.begin(), labels.end()) + 1);
  for (int32_t y = 0; y < height; ++y)
  {
    for (int32_t x = 0; x < width; ++x)
    {
      const uint32_t label = labels[static_cast<size_t>(y) * width + x];
      PixelRegion &  region = regions[label];
      ++region.Pixels;
      region.Box = { std::min(region.Box.MinimumX, x),
                     std::min(region.Box.MinimumY, y),
                     std::max(region.Box.MaximumX, x + 1),
                     std::max(region.Box.MaximumY, y + 1) };
      for (const auto & step :
           { std::make_pair(-1, 0), std::make_pair(1, 0), std::make_pair(0, -1), std::make_pair(0, 1) })
      {
        const int32_t  u = x + step.first;
        const int32_t  v = y + step.second;
        const bool     isOut = u < 0 || v < 0 || u >= width || v >= height;
        const uint32_t other = isOut ? 0 : labels[static_cast<size_t>(v) * width + u];
        region.Sides += other != label ? 1 : 0;
        if (other != label && !isOut)
        {
          region.Neighbors.insert(other);
        }
      }
    }
  }
  return regions;
}

/** A map's summary, its neighbours and its label image. */
struct LabelledSummary : MapSummary
{
  std::vector<Adjacency> Adjacencies;
  std::vector<uint32_t>  Labels;
};

template <typename TExecutor>
LabelledSummary
Summarize(const CaseMap<TExecutor> & caseMap)
{
  LabelledSummary summary;
  const MapData   map = caseMap.GetData();
  summary.Labels = caseMap.Rasterize();
  const NumberedRegions regions = NumberRegions(map, MapRaster<TExecutor>(caseMap.Map.GetMap()).FindFirstPixels());
  summary.Adjacencies = ListAdjacencies(map, regions.Numbers);
  static_cast<MapSummary &>(summary) = SummarizeMap(map, regions, summary.Adjacencies);
  for (uint32_t & label : summary.Labels)
  {
    label = regions.Numbers[label];
  }
  return summary;
}

/** Regions are numbered in the order of their first pixels; nodes and edges in that of the documentation. */
void
ExpectOrder(const LabelledSummary & summary, const std::string & name)
{
  uint32_t last = 0;
  for (const uint32_t label : summary.Labels)
  {
    ASSERT_GE(label, 1u) << name;
    ASSERT_LE(label, last + 1) << name;
    last = std::max(last, label);
  }
  EXPECT_EQ(last, summary.Regions.size()) << name;
  EXPECT_TRUE(std::is_sorted(summary.Nodes.begin(),
                             summary.Nodes.end(),
                             [](const auto & p, const auto & q) { return p.Y < q.Y || (p.Y == q.Y && p.X <= q.X); }))
    << name;
  EXPECT_TRUE(std::is_sorted(
    summary.Edges.begin(),
    summary.Edges.end(),
    [](const auto & e, const auto & f) { return e.Start < f.Start || (e.Start == f.Start && e.End <= f.End); }))
    << name;
  for (const CudaPartitionEdge & edge : summary.Edges)
  {
    EXPECT_LT(edge.Start, edge.End) << name;
    EXPECT_LT(edge.End, summary.Nodes.size()) << name;
    EXPECT_NE(edge.Left, edge.Right) << name;
  }
}

TEST(PartitionSummary, LabelsAsTheyAreHaveTheMeasuresOfTheirPixels)
{
  constexpr uint32_t firstSeed = 40;
  std::cout << "seeds from " << firstSeed << std::endl;
  for (uint32_t seed = firstSeed; seed < firstSeed + 20; ++seed)
  {
    const MapCase         image = MakeVoronoiCase(seed, NoiseLaw::Gaussian, seed % 2 == 1, 120);
    const LabelledSummary summary = Summarize(PlanarMap(image));
    const auto            pixels = MeasurePixels(image.Labels.Labels, image.Width, image.Height);
    EXPECT_EQ(summary.Labels, image.Labels.Labels) << seed;
    ExpectOrder(summary, std::to_string(seed));
    ASSERT_EQ(summary.Regions.size() + 1, pixels.size()) << seed;
    for (size_t i = 1; i < pixels.size(); ++i)
    {
      const RegionSummary & region = summary.Regions[i - 1];
      EXPECT_TRUE(region.Sums == image.Labels.Regions[i]) << seed << ", region " << i;
      EXPECT_EQ(region.DoubledArea, 2 * pixels[i].Pixels) << seed << ", region " << i;
      EXPECT_EQ(region.Perimeter, static_cast<double>(pixels[i].Sides)) << seed << ", region " << i;
      EXPECT_EQ(std::memcmp(&region.Box, &pixels[i].Box, sizeof(region.Box)), 0) << seed << ", region " << i;
      EXPECT_EQ(region.Neighbors, std::vector<uint32_t>(pixels[i].Neighbors.begin(), pixels[i].Neighbors.end()))
        << seed << ", region " << i;
    }
  }
}

TEST(PartitionSummary, EdgesKnowTheRegionsOnTheirSides)
{
  const MapCase         image = MakeVoronoiCase(60, NoiseLaw::Gaussian, false, 100);
  const LabelledSummary summary = Summarize(PlanarMap(image));
  const auto            at = [&](int32_t x, int32_t y) {
    const bool isOut = x < 0 || y < 0 || x >= image.Width || y >= image.Height;
    return isOut ? 0 : summary.Labels[static_cast<size_t>(y) * image.Width + x];
  };
  for (const CudaPartitionEdge & edge : summary.Edges)
  {
    const CudaSnakePoint p = summary.Nodes[edge.Start];
    const CudaSnakePoint q = summary.Nodes[edge.End];
    for (int32_t y = p.Y; y < q.Y; ++y) // down
    {
      EXPECT_EQ(edge.Left, at(p.X - 1, y));
      EXPECT_EQ(edge.Right, at(p.X, y));
    }
    for (int32_t x = p.X; x < q.X; ++x) // to the right
    {
      EXPECT_EQ(edge.Left, at(x, p.Y));
      EXPECT_EQ(edge.Right, at(x, p.Y - 1));
    }
  }
}

TEST(PartitionSummary, RefinedMapsCoverTheImageExactly)
{
  constexpr uint32_t firstSeed = 70;
  std::cout << "seeds from " << firstSeed << std::endl;
  for (uint32_t seed = firstSeed; seed < firstSeed + 14; ++seed)
  {
    const NoiseLaw law = itk::cuda::region::AllLaws[seed % itk::cuda::region::NumberOfLaws];
    const MapCase  image = MakeVoronoiCase(seed, law, false, 140);
    PlanarMap      map(image);
    map.Refine({});
    const LabelledSummary summary = Summarize(map);
    ExpectOrder(summary, std::to_string(seed));
    EXPECT_EQ(summary.Regions.size(), map.GetCounts().Regions) << seed;
    const auto pixels = MeasurePixels(summary.Labels, image.Width, image.Height);
    int64_t    area = 0;
    for (size_t i = 0; i < summary.Regions.size(); ++i)
    {
      const RegionSummary & region = summary.Regions[i];
      area += region.DoubledArea;
      EXPECT_EQ(region.Sums.Count, pixels[i + 1].Pixels) << seed;
      EXPECT_LE(std::abs(0.5 * static_cast<double>(region.DoubledArea) - static_cast<double>(region.Sums.Count)),
                region.Perimeter)
        << seed;
      EXPECT_TRUE(std::is_sorted(region.Neighbors.begin(), region.Neighbors.end())) << seed;
    }
    EXPECT_EQ(area, 2 * static_cast<int64_t>(image.Width) * image.Height) << seed;

    std::map<std::pair<uint32_t, uint32_t>, uint32_t> segments;
    for (const CudaPartitionEdge & edge : summary.Edges)
    {
      if (edge.Left != Outside && edge.Right != Outside)
      {
        ++segments[{ std::min(edge.Left, edge.Right), std::max(edge.Left, edge.Right) }];
      }
    }
    ASSERT_EQ(segments.size(), summary.Adjacencies.size()) << seed;
    size_t i = 0;
    for (const auto & entry : segments)
    {
      const Adjacency & adjacency = summary.Adjacencies[i++];
      EXPECT_EQ(entry.first, std::make_pair(adjacency.First, adjacency.Second)) << seed;
      EXPECT_EQ(entry.second, adjacency.NumberOfSides) << seed;
    }
  }
}

TEST(PartitionSummary, ThreadsMakeTheSameTables)
{
  const MapCase image = MakeVoronoiCase(90, NoiseLaw::Gamma, false, 400);
  PlanarMap     map(image);
  map.Refine({});
  const LabelledSummary         one = Summarize(map);
  const Threads                 threads(5);
  CaseMap<ThreadedHostExecutor> sameMap(image, MaximumVerticesOfPart, threads);
  sameMap.Refine({});
  const LabelledSummary five = Summarize(sameMap);
  EXPECT_EQ(one.Labels, five.Labels);
  ASSERT_EQ(one.Regions.size(), five.Regions.size());
  for (size_t i = 0; i < one.Regions.size(); ++i)
  {
    EXPECT_TRUE(one.Regions[i].Sums == five.Regions[i].Sums);
    EXPECT_EQ(one.Regions[i].Perimeter, five.Regions[i].Perimeter);
  }
}

TEST(PartitionSummary, AHoleCountsInAreaAndPerimeter)
{
  const MapCase         image = MakeDrawnCase({ "aaaaa", "abbba", "abcba", "abbba", "aaaaa" });
  const LabelledSummary summary = Summarize(PlanarMap(image));
  ASSERT_EQ(summary.Regions.size(), 3u);
  EXPECT_EQ(summary.Regions[0].DoubledArea, 2 * 16);
  EXPECT_EQ(summary.Regions[0].Perimeter, 20.0 + 12.0);
  EXPECT_EQ(summary.Regions[1].DoubledArea, 2 * 8);
  EXPECT_EQ(summary.Regions[1].Perimeter, 12.0 + 4.0);
  EXPECT_EQ(summary.Regions[1].Neighbors, (std::vector<uint32_t>{ 1, 3 }));
  EXPECT_EQ(summary.Regions[2].DoubledArea, 2);
}
} // namespace
