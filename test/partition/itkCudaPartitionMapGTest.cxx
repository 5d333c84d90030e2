// SPDX-License-Identifier: Apache-2.0
#include "partition/itkCudaPartitionMapTestCase.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <iostream>

// The map of a label map as it is, its check, and its raster.
namespace
{
using namespace itk::cuda::partition;

using itk::cuda::region::Threads;

const Threads OneThread(1);

MapData
Build(const MapCase & image)
{
  return PlanarMap(image).GetData();
}

/** A map in the memory of an executor. */
ExecutorMap<ThreadedHostExecutor>
Upload(const ThreadedHostExecutor & executor, const MapCase & image, const MapData & map)
{
  ExecutorMap<ThreadedHostExecutor> onExecutor(executor, image.Model, MinimumNumberOfPixels, image.Width, image.Height);
  onExecutor.SetMap(executor.Upload(map.Nodes.data(), map.Nodes.size()),
                    map.Nodes.size(),
                    executor.Upload(map.Edges.data(), map.Edges.size()),
                    map.Edges.size());
  onExecutor.SetRegions(executor.Upload(map.Regions.data(), map.Regions.size()), map.Regions.size());
  return onExecutor;
}

std::vector<uint32_t>
RasterizeMap(const MapCase & image, const MapData & map, const Threads & threads)
{
  const Scene                scene = image.GetScene();
  const ThreadedHostExecutor executor(scene, threads);
  return Rasterize(Upload(executor, image, map));
}

std::string
Verify(const MapCase & image, const MapData & map)
{
  return VerifyMap(map, image.GetLevel());
}

/** The map is planar, and its raster gives the labels back. */
void
ExpectRightMap(const MapCase & image, const MapData & map, const std::string & name)
{
  EXPECT_EQ(Verify(image, map), "") << name;
  EXPECT_EQ(RasterizeMap(image, map, OneThread), image.Labels.Labels) << name;
  EXPECT_EQ(RasterizeMap(image, map, Threads(3)), image.Labels.Labels) << name;
}

void
ExpectCounts(const MapData & map, size_t regions, size_t nodes, size_t junctions, size_t segments)
{
  const MapCounts counts = CountMap(map);
  EXPECT_EQ(counts.Regions, regions);
  EXPECT_EQ(counts.Nodes, nodes);
  EXPECT_EQ(counts.Junctions, junctions);
  EXPECT_EQ(counts.Segments, segments);
}

std::vector<std::string>
DrawCheckerboard(int squares, int side)
{
  std::vector<std::string> rows;
  for (int y = 0; y < squares * side; ++y)
  {
    std::string row;
    for (int x = 0; x < squares * side; ++x)
    {
      row += (x / side + y / side) % 2 == 0 ? 'a' : 'b';
    }
    rows.push_back(row);
  }
  return rows;
}

TEST(PartitionMap, OneRegionHasFourNodesOnTheBorder)
{
  for (const auto & size : std::vector<std::pair<int, int>>{ { 1, 1 }, { 1, 40 }, { 40, 1 }, { 7, 5 } })
  {
    const MapCase image = MakeDrawnCase(std::vector<std::string>(size.second, std::string(size.first, 'a')));
    const MapData map = Build(image);
    ExpectRightMap(image, map, std::to_string(size.first));
    ExpectCounts(map, 1, 0, 0, 0);
    EXPECT_EQ(map.Nodes.size(), 4u);
    EXPECT_EQ(map.Edges.size(), 4u);
  }
}

TEST(PartitionMap, CheckerboardHasNodesWhereSquaresMeet)
{
  const MapCase image = MakeDrawnCase(DrawCheckerboard(8, 8));
  const MapData map = Build(image);
  ExpectRightMap(image, map, "checkerboard");
  ExpectCounts(map, 64, 77, 77, 112);
}

TEST(PartitionMap, IslandsAndRingsHaveEdgesOfTheirOwn)
{
  const MapCase image = MakeDrawnCase({ "aaaaaaaaaa", // a ring around a ring, and an island
                                        "abbbbbaaaa",
                                        "abcccbaaaa",
                                        "abcdcbaeea",
                                        "abcccbaeea",
                                        "abbbbbaaaa",
                                        "aaaaaaaaaa" });
  const MapData map = Build(image);
  ExpectRightMap(image, map, "ring");
  ExpectCounts(map, 5, 16, 0, 16);
  EXPECT_EQ(map.Regions[1].Count, 70 - 25 - 4);
  EXPECT_EQ(map.Regions[2].Count, 25 - 9);
  EXPECT_EQ(map.Regions[3].Count, 9 - 1);
}

TEST(PartitionMap, DiagonalNeighborsShareANodeOfFourEdges)
{
  const MapCase image = MakeDrawnCase({ "aab", "aba", "baa" });
  const MapData map = Build(image);
  ExpectRightMap(image, map, "diagonal");
  size_t crossings = 0;
  for (const MapNode & node : map.Nodes)
  {
    crossings += node.Degree == 4 ? 1 : 0;
  }
  EXPECT_EQ(crossings, 2u);
  EXPECT_EQ(CountMap(map).Regions, 5u);
}

TEST(PartitionMap, StripsOfOnePixelEndOnTheBorder)
{
  const MapCase column = MakeDrawnCase({ "a", "b", "b", "c", "a" });
  const MapData map = Build(column);
  ExpectRightMap(column, map, "column");
  ExpectCounts(map, 4, 6, 6, 3);
}

/** Degree and turns of each corner, from the labels alone. */
size_t
CountNodesByBruteForce(const MapCase & image)
{
  const auto at = [&](int32_t x, int32_t y) {
    const bool isOut = x < 0 || y < 0 || x >= image.Width || y >= image.Height;
    return isOut ? 0 : image.Labels.Labels[static_cast<size_t>(y) * image.Width + x];
  };
  size_t number = 0;
  for (int32_t y = 0; y <= image.Height; ++y)
  {
    for (int32_t x = 0; x <= image.Width; ++x)
    {
      const int up = at(x - 1, y - 1) != at(x, y - 1) ? 1 : 0;
      const int down = at(x - 1, y) != at(x, y) ? 1 : 0;
      const int left = at(x - 1, y - 1) != at(x - 1, y) ? 1 : 0;
      const int right = at(x, y - 1) != at(x, y) ? 1 : 0;
      const int degree = up + down + left + right;
      number += degree > 2 || (degree == 2 && up != down) ? 1 : 0;
    }
  }
  return number;
}

TEST(PartitionMap, RandomLabelsComeBackFromTheRaster)
{
  constexpr uint32_t firstSeed = 20;
  std::cout << "seeds from " << firstSeed << std::endl;
  for (uint32_t seed = firstSeed; seed < firstSeed + 60; ++seed)
  {
    Random                random(seed);
    const int32_t         width = 1 + Draw(random, 40);
    const int32_t         height = 1 + Draw(random, 90);
    const int32_t         kinds = 2 + Draw(random, 3);
    std::vector<uint32_t> values(static_cast<size_t>(width) * height);
    std::vector<uint16_t> pixels(values.size());
    std::vector<uint8_t>  valid(values.size(), 1);
    for (size_t i = 0; i < values.size(); ++i)
    {
      values[i] = static_cast<uint32_t>(Draw(random, kinds));
      pixels[i] = static_cast<uint16_t>(random());
      valid[i] = static_cast<uint8_t>(seed % 2 == 0 ? 1 : Draw(random, 2));
    }
    valid[0] = 1;
    const MapCase image(
      width, height, pixels, LabelComponents(values, width, height), NoiseLaw::Gaussian, std::move(valid));
    const MapData map = Build(image);
    ExpectRightMap(image, map, "seed " + std::to_string(seed));
    EXPECT_EQ(map.Nodes.size(), CountNodesByBruteForce(image)) << seed;
    EXPECT_EQ(map.Regions.size(), image.Labels.Regions.size()) << seed;
  }
}

TEST(PartitionMap, ThreadsMakeTheSameMap)
{
  const MapCase image = MakeVoronoiCase(5, NoiseLaw::Gaussian, true, 150);
  const MapData one = Build(image);
  const Threads threads(5);
  const MapData five = CaseMap<ThreadedHostExecutor>(image, MaximumVerticesOfPart, threads).GetData();
  ASSERT_EQ(one.Edges.size(), five.Edges.size());
  for (size_t i = 0; i < one.Edges.size(); ++i)
  {
    EXPECT_EQ(one.Edges[i].Start, five.Edges[i].Start);
    EXPECT_EQ(one.Edges[i].End, five.Edges[i].End);
    EXPECT_TRUE(one.Edges[i].Sums == five.Edges[i].Sums);
  }
}

/** The region whose polygon holds a pixel's centre; a centre on an edge counts as right of it. In doubled coordinates.
 */
uint32_t
FindRegionByBruteForce(const MapData & map, int32_t x, int32_t y)
{
  std::vector<int> crossings(map.Regions.size(), 0);
  const int64_t    cx = 2 * static_cast<int64_t>(x) + 1;
  const int64_t    cy = 2 * static_cast<int64_t>(y) + 1;
  for (const MapEdge & edge : map.Edges)
  {
    const LatticePoint & p = map.At(edge.Start);
    const LatticePoint & q = map.At(edge.End);
    const int64_t        y0 = 2 * static_cast<int64_t>(std::min(p.Y, q.Y));
    const int64_t        y1 = 2 * static_cast<int64_t>(std::max(p.Y, q.Y));
    if (cy < y0 || cy > y1)
    {
      continue;
    }
    const LatticePoint & top = p.Y < q.Y ? p : q;
    const LatticePoint & bottom = p.Y < q.Y ? q : p;
    // centre left of the edge: (cx - X0) (Y1 - Y0) < (cy - Y0) (X1 - X0)
    if ((cx - 2 * top.X) * (y1 - y0) < (cy - y0) * 2 * (bottom.X - top.X))
    {
      ++crossings[edge.Left];
      ++crossings[edge.Right];
    }
  }
  crossings[Outside] = 0;
  const auto found = std::find_if(crossings.begin(), crossings.end(), [](int number) { return number % 2 == 1; });
  return static_cast<uint32_t>(found - crossings.begin());
}

/** A map of slanted edges: a fan of triangles around a point, with thin ones that hold few centres of pixels. */
MapData
MakeFan(const MapCase & image, const std::vector<LatticePoint> & rim, const LatticePoint & hub)
{
  MapData map;
  map.Width = image.Width;
  map.Height = image.Height;
  const auto n = static_cast<uint32_t>(rim.size());
  for (const LatticePoint & p : rim)
  {
    map.Nodes.push_back({ p, 3, {} });
  }
  map.Nodes.push_back({ hub, 0, {} });
  for (uint32_t i = 0; i < n; ++i) // region i + 1 lies between spokes i and i + 1; Y grows downwards
  {
    map.Edges.push_back({ i, (i + 1) % n, i + 1, Outside, {} });
    map.Edges.push_back({ n, i, i + 1, i == 0 ? n : i, {} });
  }
  map.Regions.resize(n + 1);
  map.IsRegion.assign(n + 1, 1);
  for (MapEdge & edge : map.Edges)
  {
    edge.Sums = image.GetLevel().SumEdge(map.At(edge.Start), map.At(edge.End));
    TransferSums(map, edge);
  }
  return map;
}

TEST(PartitionMap, RasterOfSlantedEdgesFollowsTheRuleOfTheSums)
{
  constexpr uint32_t firstSeed = 300;
  std::cout << "seeds from " << firstSeed << std::endl;
  for (uint32_t seed = firstSeed; seed < firstSeed + 30; ++seed)
  {
    Random                random(seed);
    const int32_t         width = 3 + Draw(random, 30);
    const int32_t         height = 3 + Draw(random, 130);
    std::vector<uint16_t> pixels(static_cast<size_t>(width) * height);
    std::generate(pixels.begin(), pixels.end(), [&] { return static_cast<uint16_t>(random()); });
    const MapCase             image(width, height, pixels, std::vector<uint32_t>(pixels.size(), 1));
    std::vector<LatticePoint> rim; // corners and random places of the border, around the image
    for (int32_t x = 0; x < width; x += 1 + Draw(random, 3))
    {
      rim.push_back({ x, 0 });
    }
    for (int32_t y = 0; y < height; y += 1 + Draw(random, 9))
    {
      rim.push_back({ width, y });
    }
    rim.push_back({ width, height });
    rim.push_back({ 0, height });
    const LatticePoint hub{ 1 + Draw(random, width - 1), 1 + Draw(random, height - 1) };
    const MapData      map = MakeFan(image, rim, hub);
    const auto         labels = RasterizeMap(image, map, OneThread);
    EXPECT_EQ(image.SumLabels(labels, static_cast<uint32_t>(rim.size())), map.Regions) << seed;
    for (int32_t y = 0; y < height; ++y)
    {
      for (int32_t x = 0; x < width; ++x)
      {
        ASSERT_EQ(labels[static_cast<size_t>(y) * width + x], FindRegionByBruteForce(map, x, y))
          << seed << " " << x << " " << y;
      }
    }
  }
}

TEST(PartitionMap, VerificationFindsWhatIsWrong)
{
  const MapCase image = MakeDrawnCase(DrawCheckerboard(4, 8));
  const MapData right = Build(image);
  ASSERT_EQ(Verify(image, right), "");
  const auto center = static_cast<size_t>(
    std::find_if(right.Nodes.begin(), right.Nodes.end(), [](const MapNode & node) { return node.Degree == 4; }) -
    right.Nodes.begin());
  const auto moveTo = [&](const LatticePoint & position) {
    MapData map = right;
    map.Nodes[center].Position = position;
    return map;
  };
  // Gives all sums anew, so that only the geometry is wrong.
  const auto resum = [&](MapData map) {
    std::fill(map.Regions.begin(), map.Regions.end(), Moments{});
    for (MapEdge & edge : map.Edges)
    {
      edge.Sums = image.GetLevel().SumEdge(map.At(edge.Start), map.At(edge.End));
      TransferSums(map, edge);
    }
    return map;
  };
  EXPECT_NE(Verify(image, moveTo({ 9, 9 })).find("wrong sums of edge"), std::string::npos);
  EXPECT_EQ(Verify(image, resum(moveTo({ 9, 9 }))), "");
  EXPECT_NE(Verify(image, resum(moveTo({ 20, 9 }))).find("edges meet"), std::string::npos);
  EXPECT_NE(Verify(image, resum(moveTo({ 8, 0 }))), ""); // where a node is
  EXPECT_NE(Verify(image, moveTo({ -1, 9 })).find("out of the image"), std::string::npos);

  MapData map = right;
  map.Regions[3].Sum += 1;
  EXPECT_NE(Verify(image, map).find("wrong sums of region 3"), std::string::npos);
  map = right;
  map.Nodes[center].Erase(map.Nodes[center].Edges[1]);
  EXPECT_NE(Verify(image, map).find("its nodes do not know edge"), std::string::npos);
  map = right;
  map.Edges[map.Nodes[center].Edges[0]] = {};
  EXPECT_NE(Verify(image, map).find("wrong edges at node"), std::string::npos);
}

TEST(PartitionMap, CompactionKeepsTheMap)
{
  const MapCase image = MakeDrawnCase({ "aab", "abb", "ccb" });
  MapData       map = Build(image);
  const MapData before = map;
  map.Nodes.insert(map.Nodes.begin(), 2, MapNode{ { 1, 1 }, 0, {} });
  map.Edges.insert(map.Edges.begin(), 3, MapEdge{});
  for (MapEdge & edge : map.Edges)
  {
    edge.Start += edge.IsAlive() ? 2 : 0;
    edge.End += edge.IsAlive() ? 2 : 0;
  }
  for (MapNode & node : map.Nodes)
  {
    std::for_each(node.Edges, node.Edges + node.Degree, [](uint32_t & edge) { edge += 3; });
  }
  const Scene                       scene = image.GetScene();
  const Threads                     threads(3);
  const ThreadedHostExecutor        executor(scene, threads);
  ExecutorMap<ThreadedHostExecutor> onExecutor = Upload(executor, image, map);
  onExecutor.Compact();
  ASSERT_EQ(onExecutor.GetNumberOfNodes(), before.Nodes.size());
  ASSERT_EQ(onExecutor.GetNumberOfEdges(), before.Edges.size());
  executor.Download(onExecutor.View().Nodes, before.Nodes.size(), map.Nodes.data());
  executor.Download(onExecutor.View().Edges, before.Edges.size(), map.Edges.data());
  map.Nodes.resize(before.Nodes.size());
  map.Edges.resize(before.Edges.size());
  ExpectRightMap(image, map, "compacted");
}
} // namespace
