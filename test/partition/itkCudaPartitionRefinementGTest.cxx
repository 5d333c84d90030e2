// SPDX-License-Identifier: Apache-2.0
#include "partition/itkCudaPartitionMapTestCase.h"
#include "partition/itkCudaPartitionTestExecutor.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <iostream>
#include <set>

// From the map of a label map to that of least description.
namespace
{
using namespace itk::cuda::partition;
using itk::CudaRegionPartitionStop;
using itk::cuda::region::Threads;

using itk::cuda::test::TestExecutor;
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

std::string
NameOf(uint32_t seed, NoiseLaw law, bool masked)
{
  return "seed " + std::to_string(seed) + ", law " + std::to_string(static_cast<int>(law)) + (masked ? ", masked" : "");
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
      function(MakeVoronoiCase(seed, law, masked, largestSide), NameOf(seed, law, masked));
    }
  }
}

TEST(PartitionRefinement, MapsStayPlanarAndExactInAllLaws)
{
  ForCases(1000, 8, 130, [](const MapCase & image, const std::string & name) {
    PlanarMap          map(image);
    const double       start = map.GetDescription();
    RefinementSchedule schedule;
    RefineAndCheck(map, image, schedule, name);
    EXPECT_LT(map.GetDescription(), start) << name;
    EXPECT_GE(map.GetNumberOfIterations(), 2u) << name;
    const auto data = map.GetData();
    for (size_t i = 1; i < data.Regions.size(); ++i)
    {
      const int64_t least = std::min<int64_t>(image.Labels.Regions[i].Count, MinimumNumberOfPixels);
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

TEST(PartitionRefinement, WithoutMergingEveryRegionStays)
{
  ForCases(4000, 4, 100, [](const MapCase & image, const std::string & name) {
    PlanarMap          map(image);
    RefinementSchedule schedule;
    schedule.AllowMerging = false;
    RefineAndCheck(map, image, schedule, name);
    const auto data = map.GetData();
    ASSERT_EQ(data.Regions.size(), image.Labels.Regions.size()) << name;
    for (size_t i = 1; i < data.Regions.size(); ++i)
    {
      const int64_t least = std::min<int64_t>(image.Labels.Regions[i].Count, MinimumNumberOfPixels);
      EXPECT_EQ(data.IsRegion[i], 1) << name << ", region " << i;
      EXPECT_GE(data.Regions[i].Count, least) << name << ", region " << i;
    }
  });
}

/** The proposals that a round accepts. */
std::vector<size_t>
AcceptOnExecutor(const MapData & map, const DescriptionModel & model, const std::vector<RankedProposal> & proposals)
{
  using Atomics = itk::cuda::test::TestExecutor::Atomics;
  std::vector<Moments>    regions = map.Regions;
  std::vector<uint8_t>    isRegion = map.IsRegion;
  std::vector<LinearForm> tangents(regions.size());
  std::vector<int64_t>    excess(regions.size(), -1000); // of the round before
  std::vector<uint64_t>   bestKeys(regions.size(), 0);
  const CellLayout        cells(map.Width, map.Height, 2);
  const MapRound          view{ map.Width,
                       map.Height,
                       nullptr,
                       nullptr,
                       regions.data(),
                       isRegion.data(),
                       { cells, nullptr, nullptr, nullptr, nullptr, 0 },
                       model,
                       MinimumNumberOfPixels,
                       tangents.data(),
                       excess.data(),
                       bestKeys.data(),
                       cells,
                       nullptr,
                       nullptr,
                       nullptr };
  for (size_t region = 0; region < regions.size(); ++region)
  {
    functors::BeginMapRound{ view }(region);
  }
  const RefinementRound<NoIntegrator, Atomics> round{ view, {} };
  for (const RankedProposal & bid : proposals)
  {
    round.AddPixelLoss(bid);
  }
  std::vector<size_t> admitted;
  for (size_t i = 0; i < proposals.size(); ++i)
  {
    if (round.Accepts(proposals[i]))
    {
      admitted.push_back(i);
    }
  }
  return admitted;
}

/** Winners that each take 10 of a region's 30 pixels, of which 8 have to stay. */
TEST(PartitionRefinement, WinnersTogetherLeaveARegionItsPixels)
{
  const MapCase image = MakeDrawnCase(std::vector<std::string>(6, "bbbbbaaaaaaaaaaaaaaa"));
  const MapData data = PlanarMap(image).GetData();
  ASSERT_EQ(data.Regions[1].Count, 30);
  const auto winnersOf = [&](const std::vector<int64_t> & losses) {
    std::vector<RankedProposal> proposals;
    for (size_t i = 0; i < losses.size(); ++i)
    {
      proposals.push_back({ -1.0 - static_cast<double>(i % 3), static_cast<uint32_t>(i), {} });
      proposals.back().Counts.Add(1, -losses[i]);
      proposals.back().Counts.Add(2, losses[i]);
    }
    return AcceptOnExecutor(data, image.Model, proposals);
  };
  using Winners = std::vector<size_t>;
  EXPECT_EQ(winnersOf({ 10, 10 }), (Winners{ 0, 1 }));
  EXPECT_EQ(winnersOf({ 10, 10, 10 }), (Winners{ 2 })); // the best
  EXPECT_EQ(winnersOf({ 11, 11 }), (Winners{ 0, 1 }));  // 8 are left
  EXPECT_EQ(winnersOf({ 11, 12 }), (Winners{ 1 }));
  EXPECT_EQ(winnersOf({ 10, 10, -10, 10 }), (Winners{ 1, 2 })); // who adds pixels may
  EXPECT_EQ(winnersOf({ 5, 5 }), (Winners{ 0, 1 }));            // nothing is left from before
}

/** A hostile start: random labels, hence islands, holes and nodes of four edges everywhere. */
TEST(PartitionRefinement, RandomLabelsStayPlanar)
{
  constexpr uint32_t firstSeed = 5000;
  std::cout << "seeds from " << firstSeed << std::endl;
  for (uint32_t seed = firstSeed; seed < firstSeed + 40; ++seed)
  {
    Random                random(seed);
    const int32_t         width = 1 + Draw(random, 60);
    const int32_t         height = 1 + Draw(random, 60);
    const int32_t         kinds = 2 + Draw(random, 3);
    const int32_t         block = 1 + Draw(random, 4);
    std::vector<uint32_t> values;
    std::vector<uint16_t> pixels;
    for (int32_t y = 0; y < height; ++y)
    {
      for (int32_t x = 0; x < width; ++x)
      {
        const bool repeats = x % block != 0 && Draw(random, 8) != 0;
        values.push_back(repeats ? values.back() : static_cast<uint32_t>(Draw(random, kinds)));
        pixels.push_back(static_cast<uint16_t>(1000 + (seed % 2 == 0 ? 300 * values.back() : 0) + random() % 1000));
      }
    }
    const MapCase image(width, height, pixels, LabelComponents(values, width, height));
    for (const bool merging : { true, false })
    {
      PlanarMap          map(image);
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
    MapCase   image(size, size, pixels, LabelComponents(rough, size, size), NoiseLaw::Gamma);
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
        pixels.push_back(DrawPixel(NoiseLaw::Gaussian, cells.back() == 1 ? 2.0 : 0.0, random));
      }
    }
    const MapCase image(size, size, pixels, LabelComponents(Roughen(cells, size, size, 2, random), size, size));
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

TEST(PartitionRefinement, CheckerboardStays)
{
  std::vector<std::string> rows;
  for (int y = 0; y < 64; ++y)
  {
    std::string row;
    for (int x = 0; x < 64; ++x)
    {
      row += (x / 8 + y / 8) % 2 == 0 ? 'a' : 'z';
    }
    rows.push_back(row);
  }
  const MapCase image = MakeDrawnCase(rows);
  PlanarMap     map(image);
  RefineAndCheck(map, image, {}, "checkerboard");
  const MapCounts counts = map.GetCounts();
  EXPECT_EQ(counts.Regions, 64u);
  EXPECT_EQ(counts.Nodes, 77u);
  EXPECT_EQ(counts.Segments, 112u);
}

TEST(PartitionRefinement, RegionsOfOneLawBecomeOne)
{
  Random                random(6);
  std::vector<uint16_t> pixels;
  for (int i = 0; i < 90 * 70; ++i)
  {
    pixels.push_back(DrawPixel(NoiseLaw::Gamma, 1.0, random));
  }
  const auto    cells = MakeVoronoiCells(90, 70, 30, random);
  const MapCase image(90, 70, pixels, LabelComponents(cells, 90, 70), NoiseLaw::Gamma);
  PlanarMap     map(image);
  RefineAndCheck(map, image, {}, "one law");
  EXPECT_EQ(map.GetCounts().Regions, 1u);
  EXPECT_EQ(map.GetData().Nodes.size(), 4u);
  EXPECT_EQ(map.GetData().Edges.size(), 4u);
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
      pixels.push_back(DrawPixel(NoiseLaw::Gamma, x * strips / width % 2 == 0 ? 1.0 : 1.5, random));
      squares.push_back(static_cast<uint32_t>(y / side * width + x / side));
    }
  }
  return MapCase(width, height, pixels, LabelComponents(squares, width, height), NoiseLaw::Gamma);
}

TEST(PartitionRefinement, ManyRegionsOfOneLawTakeFewRounds)
{
  // If a region took its neighbours one by one, the 2,400 squares would take 542 rounds.
  const MapCase         image = MakeSquares(240, 160, 4, 1, 7);
  CaseMap<TestExecutor> map(image, MaximumVerticesOfPart, uint64_t{ 0 }, Grids::Never);
  size_t                batches = 0; // of four rounds, of all phases
  RefinementSchedule    schedule;
  schedule.GoOn = [&batches] { return ++batches > 0; };
  RefineAndCheck(map, image, schedule, "squares");
  EXPECT_EQ(map.GetCounts().Regions, 1u);
  std::cout << batches << " batches of rounds" << std::endl;
  EXPECT_LE(batches, 55u);
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
  const MapCase         image(width, height, pixels, LabelComponents(bands, width, height), NoiseLaw::Gaussian);
  CaseMap<TestExecutor> map(image, MaximumVerticesOfPart, uint64_t{ 0 }, Grids::Never);
  size_t                batches = 0; // of four rounds, of all phases
  RefinementSchedule    schedule;
  schedule.GoOn = [&batches] { return ++batches > 0; };
  RefineAndCheck(map, image, schedule, "stairs");
  std::cout << batches << " batches of rounds" << std::endl;
  EXPECT_LE(batches, 40u);
}

TEST(PartitionRefinement, DegenerateImagesAreLeftAlone)
{
  for (const auto & rows : std::vector<std::vector<std::string>>{
         { "a" }, { std::string(40, 'a') }, std::vector<std::string>(40, "a"), std::vector<std::string>(5, "aaaaaaa") })
  {
    const MapCase image = MakeDrawnCase(rows);
    PlanarMap     map(image);
    RefineAndCheck(map, image, {}, "degenerate");
    EXPECT_EQ(map.GetCounts().Regions, 1u);
    EXPECT_EQ(map.GetData().Nodes.size(), 4u);
  }
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
      pixels.push_back(DrawPixel(NoiseLaw::Gaussian, isBright ? 4.0 : 0.0, random));
    }
  }
  return { width, height, pixels, LabelComponents(values, width, height), NoiseLaw::Gaussian };
}

TEST(PartitionRefinement, LongChainsAreCut)
{
  const MapCase image = MakeTeeth();
  PlanarMap     map(image);
  EXPECT_GT(map.GetCounts().Nodes, 512u);
  RefineAndCheck(map, image, {}, "teeth");
  const MapCounts counts = map.GetCounts();
  EXPECT_EQ(counts.Regions, 2u);
  EXPECT_EQ(counts.Segments, 1u);
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
  ForCases(7000, 6, 110, [](const MapCase & image, const std::string & name) {
    CompareLoops(image, {}, 1000000, 1, name);
    CompareLoops(image, {}, 1000000, 2, name, Grids::Never);
    CompareLoops(image, {}, 1000000, 4, name, Grids::AtTimes);
    CompareLoops(image, {}, 7, 3, name);
  });
}

TEST(PartitionRefinement, LoopsWithoutMergesGiveTheSameMaps)
{
  RefinementSchedule schedule;
  schedule.AllowMerging = false;
  schedule.MaximumNumberOfIterations = 2;
  ForCases(7500, 2, 110, [&](const MapCase & image, const std::string & name) {
    CompareLoops(image, schedule, 1000000, 1, name);
  });
}

TEST(PartitionRefinement, LoopsGiveTheSameMapOfLongChains)
{
  CompareLoops(MakeTeeth(), {}, 1000000, 3, "teeth");
  CompareLoops(MakeTeeth(), {}, 1000000, 3, "teeth", Grids::Never);
  CompareLoops(MakeTeeth(), {}, 1000000, 5, "teeth", Grids::AtTimes);
  CompareLoops(MakeTeeth(), {}, 600, 4, "teeth");
}

TEST(PartitionRefinement, LoopsGiveTheSameMapOfManyRegions)
{
  for (const uint32_t seed : { 8, 9, 10, 11 })
  {
    const MapCase image = MakeSquares(180, 120, 3, 4, seed);
    CompareLoops(image, {}, 1000000, seed, "squares");
    CompareLoops(image, {}, 600, seed + 1, "squares", Grids::Never);
    CompareLoops(image, {}, 1000000, seed + 2, "squares", Grids::AtTimes);
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
} // namespace
