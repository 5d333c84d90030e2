// SPDX-License-Identifier: Apache-2.0
#include "partition/executor/ConcurrentRuns.h"
#include "partition/executor/EdgeTable.h"
#include "partition/itkCudaPartitionLabelMap.h"
#include "partition/itkCudaPartitionTestExecutor.h"
#include "partition/result/LabelSummary.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

// The search for labels with the loops of the device, whose work items run in a random order, gives the labels and the
// sums of the host's executors to the byte. itkCudaPartitionLabelsGTest.cxx compares those with a plain reference.
namespace
{
using itk::cuda::partition::EdgeCode;
using itk::cuda::partition::EdgeTable;
using itk::cuda::partition::EdgeTableView;
using itk::cuda::partition::GetLabelSearchBytes;
using itk::cuda::partition::LabelSearch;
using itk::cuda::partition::Moments;
using itk::cuda::region::AllLaws;
using itk::cuda::region::Checkpoint;
using itk::cuda::region::CheckpointSpacing;
using itk::cuda::region::MaskCheckpoint;
using itk::cuda::region::NoiseLaw;
using itk::cuda::region::Threads;
using itk::cuda::test::LabelMap;
using itk::cuda::test::MakeLabelMap;
using itk::cuda::test::MakeLabelMapOf;
using itk::cuda::test::MakeRandomCase;
using itk::cuda::test::NameOf;
using itk::cuda::test::PartitionCase;
using itk::cuda::test::PreparedCase;
using itk::cuda::test::TestExecutor;
using Search = LabelSearch<TestExecutor>;

template <typename TExecutor>
void
ExpectMap(const LabelSearch<TExecutor> & search, const LabelMap & expected, const std::string & name)
{
  const LabelMap found = itk::cuda::test::GetLabelMap(search);
  EXPECT_EQ(found.Labels, expected.Labels) << name;
  EXPECT_TRUE(found.Regions == expected.Regions) << name;
}

/** The shape of a region, and the sides of valid pixels by neighbour, from one pixel after the other. */
struct PixelRegion
{
  itk::cuda::partition::RegionSummary Shape{ {}, 0, 0.0, { 1 << 30, 1 << 30, 0, 0 }, {} };
  std::map<uint32_t, uint32_t>        Links;
};

std::vector<PixelRegion>
MeasurePixels(const PartitionCase & image, const LabelMap & map)
{
  std::vector<PixelRegion> regions(map.Regions.size());
  for (int32_t y = 0; y < image.Height; ++y)
  {
    for (int32_t x = 0; x < image.Width; ++x)
    {
      const uint32_t label = map.Labels[image.IndexOf(x, y)];
      auto &         shape = regions[label].Shape;
      shape.DoubledArea += 2;
      shape.Box = { std::min(shape.Box.MinimumX, x),
                    std::min(shape.Box.MinimumY, y),
                    std::max(shape.Box.MaximumX, x + 1),
                    std::max(shape.Box.MaximumY, y + 1) };
      for (const auto & [u, v] : { std::pair(x - 1, y), { x + 1, y }, { x, y - 1 }, { x, y + 1 } })
      {
        const bool     isOut = u < 0 || v < 0 || u >= image.Width || v >= image.Height;
        const uint32_t other = isOut ? 0 : map.Labels[image.IndexOf(u, v)];
        shape.Perimeter += other != label ? 1 : 0;
        if (!isOut && other != label)
        {
          regions[label].Links[other] += image.IsValid(x, y) && image.IsValid(u, v) ? 1 : 0;
        }
      }
    }
  }
  return regions;
}

/** Shapes and neighbours of the regions, as their pixels have them. */
template <typename TExecutor>
void
CompareSummaries(const TExecutor &     executor,
                 const PartitionCase & image,
                 const LabelMap &      map,
                 const std::string &   name)
{
  using namespace itk::cuda::partition;
  const std::vector<PixelRegion> expected = MeasurePixels(image, map);
  const size_t                   regions = map.Regions.size() - 1;
  const LabelSummary             actual = SummarizeLabels(
    executor, PixelLabels{ { image.Width }, map.Labels.data() }, map.Labels.size(), map.Regions.data(), regions);
  EXPECT_TRUE(map.Regions == actual.Sums) << name;
  ASSERT_EQ(regions, actual.Regions.size()) << name;
  size_t adjacencies = 0;
  for (size_t i = 1; i <= regions; ++i)
  {
    const RegionSummary & x = expected[i].Shape;
    const RegionSummary & y = actual.Regions[i - 1];
    EXPECT_TRUE(x.DoubledArea == y.DoubledArea && x.Perimeter == y.Perimeter && y.Sums == map.Regions[i] &&
                std::memcmp(&x.Box, &y.Box, sizeof(x.Box)) == 0)
      << name << ", region " << i;
    std::vector<uint32_t> neighbors;
    for (const auto & [other, length] : expected[i].Links)
    {
      neighbors.push_back(other);
      if (i < other)
      {
        ASSERT_LT(adjacencies, actual.Adjacencies.size()) << name;
        const Adjacency & adjacency = actual.Adjacencies[adjacencies++];
        EXPECT_TRUE(adjacency.First == i && adjacency.Second == other && adjacency.NumberOfSides == length)
          << name << ", regions " << i << " and " << other;
      }
    }
    EXPECT_EQ(y.Neighbors, neighbors) << name << ", region " << i;
  }
  EXPECT_EQ(adjacencies, actual.Adjacencies.size()) << name;
}

/** Calls function(executor, kind) with the device's loops in a random order, and with executors of the host. */
template <typename TFunction>
void
ForExecutors(const itk::cuda::partition::Scene & scene, uint64_t seed, const TFunction & function)
{
  using namespace itk::cuda::partition;
  function(TestExecutor(scene, seed, TestExecutor::AllGrids[seed % 3]), "");
  const Threads one(1);
  function(SerialHostExecutor(scene, one), ", host");
  for (const unsigned int number : { 1u, 2u, 7u })
  {
    const Threads threads(number);
    function(ThreadedHostExecutor(scene, threads), ", host with " + std::to_string(number) + " threads");
  }
}

void
CompareSearch(const PartitionCase & image, int32_t blockSize, uint64_t seed, const std::string & name)
{
  const PreparedCase prepared(image);
  const LabelMap     expected = MakeLabelMap(image, prepared, blockSize);
  ForExecutors(prepared.Scene, seed, [&](const auto & executor, const std::string & kind) {
    LabelSearch<std::decay_t<decltype(executor)>> search(executor, prepared.Model, image.Width, image.Height);
    ASSERT_TRUE(search.Search(blockSize, {})) << name << kind;
    ExpectMap(search, expected, name + kind);
    CompareSummaries(executor, image, expected, name + kind);
  });
}

void
CompareGivenLabels(const PartitionCase &         image,
                   const std::vector<uint32_t> & labels,
                   uint64_t                      seed,
                   const std::string &           name)
{
  const PreparedCase prepared(image);
  const LabelMap     expected = MakeLabelMapOf(image, prepared, labels);
  ForExecutors(prepared.Scene, seed, [&](const auto & executor, const std::string & kind) {
    LabelSearch<std::decay_t<decltype(executor)>> search(executor, prepared.Model, image.Width, image.Height);
    search.StartFrom(executor.Upload(labels.data(), labels.size()));
    ExpectMap(search, expected, name + kind);
    CompareSummaries(executor, image, expected, name + kind);
  });
}

PartitionCase
MakeConstantCase(NoiseLaw law, int32_t width, int32_t height, uint16_t value)
{
  PartitionCase image;
  image.Width = width;
  image.Height = height;
  image.Law = law;
  image.Pixels.assign(static_cast<size_t>(width) * static_cast<size_t>(height), value);
  return image;
}

/** Puts edges into a table, as the work items of a loop do, and expects to find each pair once with the length of its
 * boundary. The table is empty afterwards. */
void
CompareTable(const std::vector<std::pair<uint64_t, uint32_t>> & edges, const std::string & name)
{
  const PartitionCase           image = MakeConstantCase(NoiseLaw::Gamma, 1, 1, 1);
  const PreparedCase            prepared(image);
  const TestExecutor            executor(prepared.Scene, 0);
  std::map<uint64_t, uint32_t>  expected;
  std::map<uint64_t, uint32_t>  found;
  std::vector<uint32_t>         slots;
  const EdgeTable<TestExecutor> table(executor, edges.size());
  const size_t                  size = EdgeTableView::GetSize(edges.size());
  for (const auto & [key, length] : edges)
  {
    expected[key] += length;
    const auto entry = table.View().Add<TestExecutor::Atomics>(key, length, size);
    ASSERT_LT(entry.Slot, size) << name;
    if (entry.IsNew)
    {
      slots.push_back(entry.Slot);
    }
  }
  for (const uint32_t slot : slots)
  {
    EXPECT_TRUE(found.emplace(table.View().Keys[slot], table.View().Lengths[slot]).second) << name << ": twice";
    table.View().Take(slot);
  }
  EXPECT_TRUE(found == expected) << name;
  for (size_t slot = 0; slot < size; ++slot)
  {
    EXPECT_EQ(table.View().Keys[slot], EdgeTableView::Empty) << name;
    EXPECT_EQ(table.View().Lengths[slot], 0u) << name;
  }
}

std::string
Describe(const PartitionCase & image, int32_t blockSize)
{
  return NameOf(image.Law) + ' ' + std::to_string(image.Width) + " x " + std::to_string(image.Height) + " block " +
         std::to_string(blockSize) + (image.Valid.empty() ? "" : " masked");
}
} // namespace

TEST(CudaPartitionSearch, AnyOrderOfWorkGivesTheSameLabelsAndSums)
{
  std::mt19937_64   engine(itk::cuda::test::PrintSeed(811));
  const auto        side = [&] { return static_cast<int32_t>(1 + engine() % 90); };
  constexpr int32_t blockSizes[] = { 1, 2, 4, 8 };
  for (const NoiseLaw law : AllLaws)
  {
    for (int i = 0; i < 8; ++i)
    {
      PartitionCase image = MakeRandomCase(law, side(), side(), 6, engine);
      if (i % 2 == 1)
      {
        AddMask(image, engine);
      }
      const int32_t blockSize = blockSizes[engine() % 4];
      CompareSearch(image, blockSize, engine(), Describe(image, blockSize));
    }
  }
}

TEST(CudaPartitionSearch, OneRegionOfManyBlocksTakesFewRounds)
{
  std::mt19937_64 engine(itk::cuda::test::PrintSeed(818));
  for (const NoiseLaw law : AllLaws)
  {
    const PartitionCase image = MakeRandomCase(law, 200, 160, 0, engine);
    CompareSearch(image, 2, engine(), Describe(image, 2));
    const PreparedCase prepared(image);
    const TestExecutor executor(prepared.Scene, engine());
    Search             search(executor, prepared.Model, image.Width, image.Height);
    ASSERT_TRUE(search.Search(2, {}));
    const TestExecutor::Counts & counts = executor.GetCounts();
    // Two loops a round, and those of three sizes of cells, which are 49 at most each.
    std::cout << NameOf(law) << ": " << counts.Loops + counts.LoopsInBlocks + counts.LoopsInGrids << " loops\n";
    EXPECT_LE(counts.Loops + counts.LoopsInBlocks + counts.LoopsInGrids, 250u) << NameOf(law);
  }
}

TEST(CudaPartitionSearch, AnyOrderOfWorkTakesGivenLabelsAlike)
{
  std::mt19937_64 engine(itk::cuda::test::PrintSeed(812));
  for (int i = 0; i < 30; ++i)
  {
    const auto    width = static_cast<int32_t>(1 + engine() % 60);
    const auto    height = static_cast<int32_t>(1 + engine() % 60);
    PartitionCase image = MakeRandomCase(AllLaws[engine() % AllLaws.size()], width, height, 4, engine);
    if (i % 3 > 0)
    {
      AddMask(image, engine);
    }
    std::vector<uint32_t> labels(image.Pixels.size());
    const uint64_t        values = 1 + engine() % 3;
    std::generate(labels.begin(), labels.end(), [&] { return static_cast<uint32_t>(engine() % values * 0x7fffffffu); });
    CompareGivenLabels(image, labels, engine(), Describe(image, 1));
  }
}

TEST(CudaPartitionSearch, DegenerateImagesGiveTheSameLabelsAndSums)
{
  std::mt19937_64 engine(itk::cuda::test::PrintSeed(813));
  const int32_t   sizes[][2] = { { 1, 1 }, { 1, 40 }, { 40, 1 }, { 2, 2 }, { 7, 5 }, { 64, 3 }, { 33, 65 } };
  for (const auto & [width, height] : sizes)
  {
    for (const int32_t blockSize : { 1, 4, 64 })
    {
      for (const NoiseLaw law : { NoiseLaw::Gaussian, NoiseLaw::Gamma, NoiseLaw::Bernoulli })
      {
        PartitionCase constant = MakeConstantCase(law, width, height, 1);
        CompareSearch(constant, blockSize, engine(), "constant " + Describe(constant, blockSize));
        // Regions of one value beside each other, and cells without valid pixels between them.
        for (size_t i = 0; i < constant.Pixels.size(); ++i)
        {
          constant.Pixels[i] = i / 3 % 2 == 0 ? 1 : 0;
        }
        CompareSearch(constant, blockSize, engine(), "stripes " + Describe(constant, blockSize));
        AddMask(constant, engine);
        CompareSearch(constant, blockSize, engine(), "stripes " + Describe(constant, blockSize));
      }
    }
  }
}

TEST(CudaPartitionSearch, AStopLeavesAnUnfinishedSearch)
{
  std::mt19937_64     engine(itk::cuda::test::PrintSeed(814));
  const PartitionCase image = MakeRandomCase(NoiseLaw::Gamma, 50, 40, 5, engine);
  const PreparedCase  prepared(image);
  const TestExecutor  executor(prepared.Scene, engine());
  int                 reports = 0;
  float               last = 0.0f;
  Search              whole(executor, prepared.Model, image.Width, image.Height);
  EXPECT_TRUE(whole.Search(4, [&](float share) {
    EXPECT_GE(share, last);
    EXPECT_LE(share, 1.0f);
    last = share;
    ++reports;
    return true;
  }));
  for (int stop = 0; stop < reports; ++stop)
  {
    int    left = stop;
    Search search(executor, prepared.Model, image.Width, image.Height);
    EXPECT_FALSE(search.Search(4, [&left](float) { return left-- > 0; })) << stop;
  }
}

TEST(CudaPartitionSearch, ATableHoldsEachPairOfRegionsOnce)
{
  std::mt19937_64 engine(itk::cuda::test::PrintSeed(815));
  for (int i = 0; i < 200; ++i)
  {
    const size_t                               regions = 2 + engine() % 300;
    const EdgeCode                             code = EdgeCode::Of(i % 5 == 0 ? size_t{ 1 } << 30 : regions);
    std::vector<std::pair<uint64_t, uint32_t>> edges(engine() % 400);
    for (auto & [key, length] : edges)
    {
      const auto u = static_cast<uint32_t>(engine() % (regions - 1));
      key = code.Encode(u, static_cast<uint32_t>(u + 1 + engine() % (regions - 1 - u)));
      length = static_cast<uint32_t>(engine() % 100);
    }
    CompareTable(edges, std::to_string(i));
  }
}

TEST(CudaPartitionSearch, ATableTakesKeysThatAllWantOneSlot)
{
  // Keys that the hash puts into the last slots: the search for a free one goes on at the first slot.
  constexpr size_t                           number = 60;
  const EdgeCode                             code = EdgeCode::Of(5000);
  const size_t                               size = EdgeTableView::GetSize(number);
  std::vector<std::pair<uint64_t, uint32_t>> edges;
  for (uint32_t u = 0; u < 4999 && edges.size() < number; ++u)
  {
    const uint64_t key = code.Encode(u, u + 1);
    if ((((key * 0x9E3779B97F4A7C15ull) >> 32) * size) >> 32 == size - 1)
    {
      edges.emplace_back(key, u);
    }
  }
  ASSERT_GT(edges.size(), 20u);
  edges.resize(number, edges.front());
  CompareTable(edges, "one slot");
}

TEST(CudaPartitionShareOfDevice, CountsThoseThatLive)
{
  using itk::cuda::partition::ConcurrentRuns;
  EXPECT_EQ(ConcurrentRuns::CountOf(0), 0u);
  const ConcurrentRuns first(0);
  const ConcurrentRuns other(1);
  EXPECT_EQ(ConcurrentRuns::CountOf(0), 1u);
  {
    const ConcurrentRuns second(0);
    EXPECT_EQ(ConcurrentRuns::CountOf(0), 2u);
  }
  EXPECT_EQ(ConcurrentRuns::CountOf(0), 1u);
  EXPECT_EQ(ConcurrentRuns::CountOf(1), 1u);
  const ConcurrentRuns beyond(1000000); // has a count too
  EXPECT_EQ(ConcurrentRuns::CountOf(1000000), 1u);
}

TEST(CudaPartitionSearch, RoundsRunWithoutTheHost)
{
  // Some hundred rounds of three loops, most of them over few edges. A loop is a launch on a device, and a read
  // makes the host wait: one comes after a series of rounds, whose number depends on the image.
  std::mt19937_64     engine(itk::cuda::test::PrintSeed(816));
  const PartitionCase image = MakeRandomCase(NoiseLaw::Gamma, 700, 600, 30, engine);
  const PreparedCase  prepared(image);
  const TestExecutor  executor(prepared.Scene, engine());
  Search              search(executor, prepared.Model, image.Width, image.Height);
  ASSERT_TRUE(search.Search(4, {}));
  // The regions that are left get new numbers several times.
  ExpectMap(search, MakeLabelMap(image, prepared, 4), "many rounds");
  const TestExecutor::Counts & counts = executor.GetCounts();
  EXPECT_LE(20 * counts.Reads, counts.Loops + counts.LoopsInBlocks + counts.LoopsInGrids);
  EXPECT_LE(counts.Loops + counts.Fills + counts.Sums + counts.Allocations, 5000u);
  EXPECT_GT(counts.LoopsInBlocks, 0u);
}

TEST(CudaPartitionSearch, MemoryIsThatOfTheEstimateAndAtMost30BytesAPixel)
{
  std::mt19937_64 engine(itk::cuda::test::PrintSeed(817));
  for (const NoiseLaw law : AllLaws)
  {
    for (const int32_t blockSize : { 2, 4 })
    {
      PartitionCase image = MakeRandomCase(law, 350, 260, 8, engine);
      AddMask(image, engine);
      const PreparedCase prepared(image);
      const TestExecutor executor(prepared.Scene, 0);
      Search             search(executor, prepared.Model, image.Width, image.Height);
      ASSERT_TRUE(search.Search(blockSize, {}));
      EXPECT_LE(executor.GetPeakOfBytes(), GetLabelSearchBytes(350, 260, static_cast<size_t>(blockSize)) + 1024)
        << Describe(image, blockSize);
    }
  }
  // With samples of 4 bytes, their sums and a mask, for blocks of 4 pixels, the default.
  constexpr double side = 4000.0;
  const double     sums = 4.0 + static_cast<double>(sizeof(Checkpoint) + sizeof(MaskCheckpoint)) / CheckpointSpacing;
  const double     search = static_cast<double>(GetLabelSearchBytes(4000, 4000, 4)) / (side * side);
  std::cout << sums + search << " bytes per pixel" << std::endl;
  EXPECT_LE(sums + search, 30.0);
}
