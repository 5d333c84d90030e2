// SPDX-License-Identifier: Apache-2.0
#include "partition/itkCudaPartitionMapTestCase.h"
#include "partition/itkCudaPartitionTestExecutor.h"
#include "partition/result/Result.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iostream>
#include <map>
#include <set>

// From the map of a label map to that of least description, and to its tables, beside what the pixels say.
namespace
{
using namespace itk::cuda::test;
using itk::CudaPartitionEdge;
using itk::CudaRegionPartitionStop;
using itk::CudaSnakePoint;
using itk::cuda::region::Threads;
using Grids = TestExecutor::Grids;

const Threads OneThread(1);

/** Runs with the checks after every iteration: the map is planar, and its raster has its sums. */
template <typename TExecutor>
CudaRegionPartitionStop
RefineAndCheck(CaseMap<TExecutor> & map, const MapCase & image, RefinementSchedule schedule, const std::string & name)
{
  schedule.AfterIteration = [&](unsigned int iteration) {
    EXPECT_EQ(map.Verify(), "") << name << ", iteration " << iteration;
    const auto regions = map.GetData().Regions;
    const auto labels = map.Rasterize();
    EXPECT_EQ(image.SumLabels(labels, static_cast<uint32_t>(regions.size() - 1)), regions)
      << name << ", iteration " << iteration;
  };
  return map.Refine(schedule);
}

void
ExpectSameMapData(const MapData & x, const MapData & y, const std::string & name)
{
  using itk::cuda::region::operator==;
  EXPECT_EQ(x.Regions, y.Regions) << name;
  EXPECT_EQ(x.IsRegion, y.IsRegion) << name;
  ASSERT_EQ(x.Nodes.size(), y.Nodes.size()) << name;
  ASSERT_EQ(x.Edges.size(), y.Edges.size()) << name;
  for (size_t i = 0; i < x.Nodes.size(); ++i)
  {
    ASSERT_TRUE(x.Nodes[i].Position == y.Nodes[i].Position) << name << ", node " << i;
    ASSERT_EQ(x.Nodes[i].Degree, y.Nodes[i].Degree) << name << ", node " << i;
  }
  for (size_t i = 0; i < x.Edges.size(); ++i)
  {
    const MapEdge & e = x.Edges[i];
    const MapEdge & f = y.Edges[i];
    ASSERT_TRUE(e.Start == f.Start && e.End == f.End && e.Left == f.Left && e.Right == f.Right && e.Sums == f.Sums)
      << name << ", edge " << i;
  }
}

/** Calls function(case, name) for scenes of all laws, with masks and without. */
template <typename TFunction>
void
ForCases(uint32_t firstSeed, uint32_t scenesOfALaw, int32_t largestSide, const TFunction & function)
{
  std::cout << "seeds from " << firstSeed << std::endl;
  uint32_t seed = firstSeed;
  for (const NoiseLaw law : itk::cuda::region::AllLaws)
  {
    for (uint32_t i = 0; i < scenesOfALaw; ++i, ++seed)
    {
      const bool masked = i % 2 == 1;
      function(MakeVoronoiCase(seed, law, masked, largestSide),
               "seed " + std::to_string(seed) + ", " + NameOf(law) + (masked ? ", masked" : ""));
    }
  }
}

TEST(PartitionRefinement, MapsStayPlanarAndExactInAllLaws)
{
  ForCases(1000, 8, 130, [](const MapCase & image, const std::string & name) {
    PlanarMap          map(image);
    const double       start = map.GetDescription();
    const bool         merging = image.Width % 3 > 0;
    RefinementSchedule schedule;
    schedule.AllowMerging = merging;
    RefineAndCheck(map, image, schedule, name);
    EXPECT_LT(map.GetDescription(), start) << name;
    EXPECT_GE(map.GetNumberOfIterations(), 2u) << name;
    const auto data = map.GetData();
    ASSERT_EQ(data.Regions.size(), image.Labels.Regions.size()) << name;
    for (size_t i = 1; i < data.Regions.size(); ++i)
    {
      const int64_t least = std::min<int64_t>(image.Labels.Regions[i].Count, MinimumNumberOfPixels);
      EXPECT_TRUE(data.IsRegion[i] == 1 || merging) << name << ", region " << i;
      EXPECT_TRUE(data.IsRegion[i] == 0 || data.Regions[i].Count >= least) << name << ", region " << i;
    }
  });
}

TEST(PartitionRefinement, DescriptionNeverRisesFromRoundToRound)
{
  size_t falls = 0;
  ForCases(2000, 4, 100, [&falls](const MapCase & image, const std::string & name) {
    // Four rounds come between two calls of GoOn().
    CaseMap<TestExecutor> map(image, MaximumVerticesOfPart, uint64_t{ 0 }, Grids::Never);
    double                last = map.GetDescription();
    size_t                regions = map.GetCounts().Regions;
    size_t                rounds = 0;
    RefinementSchedule    schedule;
    schedule.GoOn = [&] {
      const double description = map.GetDescription();
      const size_t present = map.GetCounts().Regions;
      // A merge looks ahead: what it adds to the description, a removal takes away afterwards.
      EXPECT_TRUE(description <= last + 1e-9 * std::abs(last) || present < regions) << name << ", round " << rounds;
      falls += description < last ? 1 : 0;
      last = description;
      regions = present;
      ++rounds;
      return true;
    };
    EXPECT_EQ(map.Refine(schedule), CudaRegionPartitionStop::Converged) << name;
  });
  EXPECT_GT(falls, 150u);
}

/** Counts the corners of pixels where boundaries turn or meet, from the labels alone. */
size_t
CountNodesByBruteForce(const MapCase & image)
{
  const TestLabels labels{ image.Width, image.Height, image.Labels.Labels };
  size_t           number = 0;
  for (int32_t y = 0; y <= image.Height; ++y)
  {
    for (int32_t x = 0; x <= image.Width; ++x)
    {
      const int up = labels.At(x - 1, y - 1) != labels.At(x, y - 1) ? 1 : 0;
      const int down = labels.At(x - 1, y) != labels.At(x, y) ? 1 : 0;
      const int left = labels.At(x - 1, y - 1) != labels.At(x - 1, y) ? 1 : 0;
      const int right = labels.At(x, y - 1) != labels.At(x, y) ? 1 : 0;
      const int degree = up + down + left + right;
      number += degree > 2 || (degree == 2 && up != down) ? 1 : 0;
    }
  }
  return number;
}

/** A hostile start: random labels, hence islands, holes and nodes of four edges everywhere, also lines of pixels and
 * images of one region. The map begins as the labels are. */
TEST(PartitionRefinement, MapsOfRandomLabelsStayPlanar)
{
  constexpr uint32_t firstSeed = 5000;
  std::cout << "seeds from " << firstSeed << std::endl;
  for (uint32_t seed = firstSeed; seed < firstSeed + 40; ++seed)
  {
    Random                random(seed);
    const int32_t         width = seed % 8 == 0 ? 1 : 1 + Draw(random, 60);
    const int32_t         height = seed % 8 == 1 ? 1 : 1 + Draw(random, 60);
    const int32_t         kinds = 1 + Draw(random, 4);
    const int32_t         block = 1 + Draw(random, 4);
    std::vector<uint32_t> values;
    std::vector<uint16_t> pixels;
    std::vector<uint8_t>  valid;
    for (int32_t y = 0; y < height; ++y)
    {
      for (int32_t x = 0; x < width; ++x)
      {
        const bool repeats = x % block != 0 && Draw(random, 8) != 0;
        values.push_back(repeats ? values.back() : static_cast<uint32_t>(Draw(random, kinds)));
        pixels.push_back(static_cast<uint16_t>(1000 + (seed % 2 == 0 ? 300 * values.back() : 0) + random() % 1000));
        valid.push_back(seed % 3 == 0 && Draw(random, 3) == 0 && !valid.empty() ? 0 : 1);
      }
    }
    const MapCase image({ width, height, pixels, NoiseLaw::Gaussian, valid }, values);
    for (const bool merging : { true, false })
    {
      PlanarMap map(image);
      EXPECT_EQ(map.Verify(), "") << seed;
      EXPECT_EQ(map.Rasterize(), image.Labels.Labels) << seed;
      EXPECT_EQ(map.GetData().Nodes.size(), CountNodesByBruteForce(image)) << seed;
      RefinementSchedule schedule;
      schedule.AllowMerging = merging;
      RefineAndCheck(map, image, schedule, "seed " + std::to_string(seed) + (merging ? ", merging" : ""));
      EXPECT_TRUE(merging || map.GetCounts().Regions + 1 == image.Labels.Regions.size()) << seed;
    }
  }
}

/** A square of 20 x 20 pixels without noise, from rough labels. */
TEST(PartitionRefinement, SquareWithoutNoiseComesOutExactly)
{
  constexpr int32_t     size = 64;
  std::vector<uint16_t> pixels;
  std::vector<uint32_t> cells;
  for (int32_t y = 0; y < size; ++y)
  {
    for (int32_t x = 0; x < size; ++x)
    {
      const bool isInside = x >= 20 && x < 40 && y >= 24 && y < 44;
      cells.push_back(isInside ? 1 : 0);
      pixels.push_back(isInside ? 200 : 100);
    }
  }
  for (uint32_t seed = 0; seed < 20; ++seed)
  {
    Random    random(seed);
    auto      rough = seed == 0 ? cells : Roughen(cells, size, size, 1, random);
    MapCase   image({ size, size, pixels, NoiseLaw::Gamma, {} }, rough);
    PlanarMap map(image);
    EXPECT_EQ(RefineAndCheck(map, image, {}, "square"), CudaRegionPartitionStop::Converged);
    const MapCounts counts = map.GetCounts();
    EXPECT_EQ(counts.Regions, 2u) << seed;
    EXPECT_EQ(counts.Nodes, 4u) << seed;
    EXPECT_EQ(counts.Segments, 4u) << seed;
    EXPECT_EQ(map.GetData().Nodes.size(), 8u) << seed;
    std::set<std::pair<int32_t, int32_t>> corners;
    for (const MapNode & node : map.GetData().Nodes)
    {
      corners.insert({ node.Position.X, node.Position.Y });
    }
    for (const auto & corner :
         { std::make_pair(20, 24), std::make_pair(40, 24), std::make_pair(20, 44), std::make_pair(40, 44) })
    {
      EXPECT_EQ(corners.count(corner), 1u) << seed << ": " << corner.first << ", " << corner.second;
    }
  }
}

/** Five corners with slanted sides between them, in noise, from rough labels. */
TEST(PartitionRefinement, PolygonInNoiseIsFoundAgain)
{
  constexpr int32_t               size = 160;
  const std::vector<LatticePoint> truth{ { 30, 40 }, { 120, 25 }, { 140, 90 }, { 80, 140 }, { 20, 100 } };
  const auto                      isInside = [&truth](int32_t x, int32_t y) {
    const LatticePoint center{ 2 * x + 1, 2 * y + 1 };
    bool               inside = false;
    for (size_t i = 0; i < truth.size(); ++i)
    {
      const LatticePoint & p = truth[i];
      const LatticePoint & q = truth[(i + 1) % truth.size()];
      inside = inside != RayCrosses(center, { 2 * p.X, 2 * p.Y }, { 2 * q.X, 2 * q.Y });
    }
    return inside;
  };
  constexpr uint32_t firstSeed = 600;
  std::cout << "seeds from " << firstSeed << std::endl;
  for (uint32_t seed = firstSeed; seed < firstSeed + 6; ++seed)
  {
    Random                random(seed);
    std::vector<uint16_t> pixels;
    std::vector<uint32_t> cells;
    for (int32_t y = 0; y < size; ++y)
    {
      for (int32_t x = 0; x < size; ++x)
      {
        cells.push_back(isInside(x, y) ? 1 : 0);
        pixels.push_back(MakeNoise(NoiseLaw::Gaussian, cells.back() == 1 ? 1.6 : 0.0, random));
      }
    }
    const MapCase image({ size, size, pixels, NoiseLaw::Gaussian, {} }, Roughen(cells, size, size, 2, random));
    PlanarMap     map(image);
    RefineAndCheck(map, image, {}, "polygon");
    const MapCounts counts = map.GetCounts();
    EXPECT_EQ(counts.Regions, 2u) << seed;
    // Moves of single nodes do not always reach the truth's few corners, but nearly its description: within 1 % of what
    // the polygon gains over one region.
    const auto               sums = image.SumLabels(cells, 1);
    const DescriptionModel & model = image.Model;
    const double             ofOne = model.Describe(sums[0] + sums[1]);
    const double             ofTruth =
      model.Describe(sums[0]) + model.Describe(sums[1]) + static_cast<double>(truth.size()) * model.SegmentCost;
    EXPECT_LE(map.GetDescription(), ofTruth + 0.01 * (ofOne - ofTruth)) << seed;
    EXPECT_GE(counts.Nodes, truth.size()) << seed;
    EXPECT_LE(counts.Nodes, 2 * truth.size()) << seed;
    const auto labels = map.Rasterize();
    size_t     wrong = 0;
    for (size_t i = 0; i < labels.size(); ++i)
    {
      wrong += (labels[i] != labels[0]) != (cells[i] == 1) ? 1 : 0;
    }
    // At this contrast a boundary is off by some tenths of a pixel; the polygon's perimeter is 370 pixels.
    EXPECT_LE(wrong, 0.4 * 370.0) << seed;
  }
}

/** An image of vertical strips, whose pixels have the one or the other mean, divided into squares, as another method
 * may divide it. */
MapCase
MakeSquares(int32_t width, int32_t height, int32_t side, int32_t strips, uint32_t seed)
{
  Random                random(seed);
  std::vector<uint16_t> pixels;
  std::vector<uint32_t> squares;
  for (int32_t y = 0; y < height; ++y)
  {
    for (int32_t x = 0; x < width; ++x)
    {
      pixels.push_back(MakeNoise(NoiseLaw::Gamma, x * strips / width % 2 == 0 ? 0.0 : 0.32, random));
      squares.push_back(static_cast<uint32_t>(y / side * width + x / side));
    }
  }
  return { { width, height, pixels, NoiseLaw::Gamma, {} }, squares };
}

/** Refines, and returns the number of batches of four rounds of all phases. */
size_t
CountBatches(CaseMap<TestExecutor> & map, const MapCase & image, const std::string & name)
{
  size_t             batches = 0;
  RefinementSchedule schedule;
  schedule.GoOn = [&batches] { return ++batches > 0; };
  RefineAndCheck(map, image, schedule, name);
  std::cout << batches << " batches of rounds" << std::endl;
  return batches;
}

TEST(PartitionRefinement, ManyRegionsOfOneLawTakeFewRounds)
{
  // If a region took its neighbours one by one, the 2,400 squares would take 542 rounds.
  const MapCase         image = MakeSquares(240, 160, 4, 1, 7);
  CaseMap<TestExecutor> map(image, MaximumVerticesOfPart, uint64_t{ 0 }, Grids::Never);
  EXPECT_LE(CountBatches(map, image, "squares"), 55u);
  EXPECT_EQ(map.GetCounts().Regions, 1u);
  EXPECT_EQ(map.GetData().Nodes.size(), 4u);
  EXPECT_EQ(map.GetData().Edges.size(), 4u);
}

TEST(PartitionRefinement, EqualRemovalsAlongStairsTakeFewRounds)
{
  // Bands of equal stairs, where all nodes gain alike: if equal removals went by the numbers of the nodes, a round
  // would have few winners.
  constexpr int32_t     width = 160;
  constexpr int32_t     height = 120;
  std::vector<uint16_t> pixels;
  std::vector<uint32_t> bands;
  for (int32_t i = 0; i < width * height; ++i)
  {
    const int32_t sum = i % width + i / width;
    pixels.push_back(static_cast<uint16_t>(sum + 1));
    bands.push_back(static_cast<uint32_t>(sum / 4));
  }
  const MapCase         image({ width, height, pixels, NoiseLaw::Gaussian, {} }, bands);
  CaseMap<TestExecutor> map(image, MaximumVerticesOfPart, uint64_t{ 0 }, Grids::Never);
  EXPECT_LE(CountBatches(map, image, "stairs"), 40u);
}

/** Two regions whose boundary has many teeth: chains of more corners than the dynamic programming takes at once. */
MapCase
MakeTeeth()
{
  constexpr int32_t     width = 900;
  constexpr int32_t     height = 24;
  std::vector<uint16_t> pixels;
  std::vector<uint32_t> values;
  Random                random(7);
  for (int32_t y = 0; y < height; ++y)
  {
    for (int32_t x = 0; x < width; ++x)
    {
      const bool isUpper = 2 * y + 1 < 24 + ((x / 2) % 2 == 0 ? 3 : -3);
      const bool isBright = y < 12;
      values.push_back(isUpper ? 1 : 0);
      pixels.push_back(MakeNoise(NoiseLaw::Gaussian, isBright ? 3.0 : 0.0, random));
    }
  }
  return { { width, height, pixels, NoiseLaw::Gaussian, {} }, values };
}

TEST(PartitionRefinement, LongChainsAreCut)
{
  const MapCase image = MakeTeeth();
  PlanarMap     map(image);
  EXPECT_GT(map.GetCounts().Nodes, 512u);
  RefineAndCheck(map, image, {}, "teeth");
  EXPECT_EQ(map.GetCounts().Regions, 2u);
  EXPECT_EQ(map.GetCounts().Segments, 1u);
}

/** The same map in each iteration as on one thread, and the same labels in the end: with the device's loops in a random
 * order, and with threads of the host. */
void
CompareLoops(const MapCase &    image,
             RefinementSchedule schedule,
             size_t             maximumVerticesOfPart,
             uint64_t           seed,
             std::string        name,
             Grids              grids = Grids::Always)
{
  const char * const withGrids[] = { "in grids", "in launches", "in grids at times" };
  name += ", parts of " + std::to_string(maximumVerticesOfPart) + ", " + withGrids[static_cast<int>(grids)];
  PlanarMap           expected(image);
  const MapData       beginning = expected.GetData();
  std::vector<double> descriptions;
  std::vector<size_t> regions;
  schedule.AfterIteration = [&](unsigned int) {
    descriptions.push_back(expected.Map.GetDescription());
    regions.push_back(expected.Map.GetNumberOfRegions());
    EXPECT_EQ(descriptions.back(), expected.GetDescription()) << name;
    EXPECT_EQ(regions.back(), expected.GetCounts().Regions) << name;
  };
  const CudaRegionPartitionStop stop = expected.Refine(schedule);
  const auto                    compare = [&](auto && actual, const std::string & kind) {
    ExpectSameMapData(beginning, actual.GetData(), kind + ", beginning");
    schedule.AfterIteration = [&](unsigned int iteration) {
      ASSERT_LE(iteration, descriptions.size()) << kind;
      EXPECT_EQ(actual.Map.GetDescription(), descriptions[iteration - 1]) << kind << ", iteration " << iteration;
      EXPECT_EQ(actual.Map.GetNumberOfRegions(), regions[iteration - 1]) << kind << ", iteration " << iteration;
      EXPECT_EQ(actual.Verify(), "") << kind << ", iteration " << iteration;
    };
    EXPECT_EQ(actual.Refine(schedule), stop) << kind;
    EXPECT_EQ(actual.GetNumberOfIterations(), expected.GetNumberOfIterations()) << kind;
    ExpectSameMapData(expected.GetData(), actual.GetData(), kind);
    EXPECT_EQ(expected.Rasterize(), actual.Rasterize()) << kind;
  };
  compare(CaseMap<TestExecutor>(image, maximumVerticesOfPart, seed, grids), name);
  for (const unsigned int number : { 1u, 2u, 7u })
  {
    const Threads threads(number);
    compare(CaseMap<ThreadedHostExecutor>(image, maximumVerticesOfPart, threads),
            name + ", host with " + std::to_string(number) + " threads");
  }
}

TEST(PartitionRefinement, LoopsGiveTheSameMaps)
{
  ForCases(7000, 4, 110, [](const MapCase & image, const std::string & name) {
    const Grids grids = TestExecutor::AllGrids[image.Height % 3];
    CompareLoops(image, {}, image.Width % 3 == 0 ? 7 : 1000000, 1 + static_cast<uint64_t>(image.Width), name, grids);
    RefinementSchedule schedule;
    schedule.AllowMerging = false;
    schedule.MaximumNumberOfIterations = 2;
    CompareLoops(image, schedule, 1000000, 1, name);
  });
}

TEST(PartitionRefinement, LoopsGiveTheSameMapOfLongChainsAndOfManyRegions)
{
  for (const Grids grids : TestExecutor::AllGrids)
  {
    CompareLoops(MakeTeeth(), {}, grids == Grids::Always ? 600 : 1000000, 3, "teeth", grids);
    const auto seed = 8 + static_cast<uint32_t>(grids);
    CompareLoops(MakeSquares(180, 120, 3, 4, seed), {}, grids == Grids::Never ? 600 : 1000000, seed, "squares", grids);
  }
}

template <typename TExecutor, typename... TArguments>
void
AbortEverywhere(const MapCase & image, const TArguments &... arguments)
{
  size_t calls = 0;
  for (size_t last = 0, all = 1; last < all; ++last)
  {
    calls = 0;
    RefinementSchedule schedule;
    schedule.GoOn = [&] { return calls++ != last; };
    CaseMap<TExecutor> map(image, MaximumVerticesOfPart, arguments...);
    const bool         isAborted = map.Refine(schedule) == CudaRegionPartitionStop::Aborted;
    EXPECT_EQ(isAborted, calls == last + 1) << last;
    EXPECT_EQ(map.Verify(), "") << last;
    all = isAborted ? last + 2 : all;
  }
  EXPECT_GT(calls, 10u);
}

TEST(PartitionRefinement, AbortLeavesAWholeMap)
{
  const MapCase image = MakeVoronoiCase(8, NoiseLaw::Gamma, false, 90);
  AbortEverywhere<TestExecutor>(image, uint64_t{ 5 });
  AbortEverywhere<SerialHostExecutor>(image, OneThread);
}

TEST(PartitionRefinement, IterationsAreLimited)
{
  const MapCase      image = MakeVoronoiCase(9, NoiseLaw::Gaussian, false, 110);
  PlanarMap          map(image);
  RefinementSchedule schedule;
  schedule.MaximumNumberOfIterations = 0;
  EXPECT_EQ(map.Refine(schedule), CudaRegionPartitionStop::MaximumNumberOfIterations);
  EXPECT_EQ(map.Rasterize(), image.Labels.Labels);
  schedule.MaximumNumberOfIterations = 1;
  EXPECT_EQ(map.Refine(schedule), CudaRegionPartitionStop::MaximumNumberOfIterations);
  EXPECT_EQ(map.GetNumberOfIterations(), 1u);
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
ExpectOrder(const LabelledSummary & summary)
{
  uint32_t last = 0;
  for (const uint32_t label : summary.Labels)
  {
    ASSERT_GE(label, 1u);
    ASSERT_LE(label, last + 1);
    last = std::max(last, label);
  }
  EXPECT_EQ(last, summary.Regions.size());
  EXPECT_TRUE(std::is_sorted(summary.Nodes.begin(), summary.Nodes.end(), [](const auto & p, const auto & q) {
    return p.Y < q.Y || (p.Y == q.Y && p.X <= q.X);
  }));
  EXPECT_TRUE(std::is_sorted(summary.Edges.begin(), summary.Edges.end(), [](const auto & e, const auto & f) {
    return e.Start < f.Start || (e.Start == f.Start && e.End <= f.End);
  }));
  for (const CudaPartitionEdge & edge : summary.Edges)
  {
    EXPECT_LT(edge.Start, edge.End);
    EXPECT_LT(edge.End, summary.Nodes.size());
    EXPECT_NE(edge.Left, edge.Right);
  }
}

TEST(PartitionSummary, LabelsAsTheyAreHaveTheMeasuresOfTheirPixels)
{
  constexpr uint32_t firstSeed = 40;
  std::cout << "seeds from " << firstSeed << std::endl;
  for (uint32_t seed = firstSeed; seed < firstSeed + 20; ++seed)
  {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const MapCase         image = MakeVoronoiCase(seed, NoiseLaw::Gaussian, seed % 2 == 1, 120);
    const LabelledSummary summary = Summarize(PlanarMap(image));
    const TestLabels      labels{ image.Width, image.Height, image.Labels.Labels };
    const auto            pixels = MeasureRegions(labels);
    EXPECT_EQ(summary.Labels, image.Labels.Labels);
    ExpectOrder(summary);
    ASSERT_EQ(summary.Regions.size() + 1, pixels.size());
    for (size_t i = 1; i < pixels.size(); ++i)
    {
      const RegionSummary & region = summary.Regions[i - 1];
      const auto &          box = region.Box;
      EXPECT_TRUE(region.Sums == image.Labels.Regions[i]) << "region " << i;
      EXPECT_EQ(region.DoubledArea, 2 * static_cast<int64_t>(pixels[i].Pixels)) << "region " << i;
      EXPECT_EQ(region.Perimeter, pixels[i].Perimeter) << "region " << i;
      EXPECT_EQ((std::array<int32_t, 4>{ { box.MinimumX, box.MinimumY, box.MaximumX, box.MaximumY } }), pixels[i].Box)
        << "region " << i;
      EXPECT_EQ(region.Neighbors, GetNeighbors(pixels[i])) << "region " << i;
    }
    for (const CudaPartitionEdge & edge : summary.Edges)
    {
      const CudaSnakePoint p = summary.Nodes[edge.Start];
      const CudaSnakePoint q = summary.Nodes[edge.End];
      for (int32_t y = p.Y; y < q.Y; ++y) // down
      {
        EXPECT_TRUE(edge.Left == labels.At(p.X - 1, y) && edge.Right == labels.At(p.X, y)) << "row " << y;
      }
      for (int32_t x = p.X; x < q.X; ++x) // to the right
      {
        EXPECT_TRUE(edge.Left == labels.At(x, p.Y) && edge.Right == labels.At(x, p.Y - 1)) << "column " << x;
      }
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
    ExpectOrder(summary);
    EXPECT_EQ(summary.Regions.size(), map.GetCounts().Regions) << seed;
    const auto pixels = MeasureRegions({ image.Width, image.Height, summary.Labels });
    int64_t    area = 0;
    for (size_t i = 0; i < summary.Regions.size(); ++i)
    {
      const RegionSummary & region = summary.Regions[i];
      area += region.DoubledArea;
      EXPECT_EQ(static_cast<uint64_t>(region.Sums.Count), pixels[i + 1].Pixels) << seed;
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
} // namespace
