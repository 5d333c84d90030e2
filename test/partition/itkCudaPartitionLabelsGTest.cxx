// SPDX-License-Identifier: Apache-2.0
#include "partition/itkCudaPartitionTestCase.h"
#include "partition/itkCudaPartitionTestExecutor.h"
#include "partition/labels/LabelSearch.h"
#include "partition/result/LabelSummary.h"
#include "support/itkCudaTestPartition.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

// The labels of an image, and the table of their regions, are those of a plain reference. They are the same to the byte
// for the host's executors, and for the loops of the device, whose work items run in a random order.
namespace
{
using namespace itk::cuda::partition;
using namespace itk::cuda::region;
using namespace itk::cuda::test;
using Pair = std::pair<uint32_t, uint32_t>;

/** The stages, written as plainly as can be: one label per pixel, and everything counted anew in every step. */
class Reference
{
public:
  Reference(const PartitionCase & image, const PreparedCase & prepared)
    : m_Image(image)
    , m_Model(prepared.Model)
    , m_Prepared(prepared)
    , m_Labels(image.Pixels.size())
  {}

  std::vector<uint32_t>
  Run(int32_t blockSize)
  {
    const int32_t columns = (m_Image.Width + blockSize - 1) / blockSize;
    this->ForPixels([&](int32_t x, int32_t y) {
      this->At(x, y) = static_cast<uint32_t>(y / blockSize * columns + x / blockSize + 1);
    });
    this->UniteBlocksOfOneValue();
    this->Absorb();
    this->Merge();
    for (int32_t side = blockSize; side >= 1; side /= 2)
    {
      this->Compete(side);
    }
    m_Labels = FindComponents({ m_Image.Width, m_Image.Height, m_Labels }).Pixels;
    this->Absorb();
    this->Merge();
    this->Renumber();
    return m_Labels;
  }

  std::vector<uint32_t>
  RunOn(const std::vector<uint32_t> & labels)
  {
    m_Labels = FindComponents({ m_Image.Width, m_Image.Height, labels }).Pixels;
    this->Absorb();
    this->Renumber();
    return m_Labels;
  }

  /** Regions that joined a pair. */
  size_t
  GetNumberOfJoins() const
  {
    return m_NumberOfJoins;
  }

private:
  const PartitionCase &    m_Image;
  const DescriptionModel & m_Model;
  const PreparedCase &     m_Prepared;
  std::vector<uint32_t>    m_Labels;
  size_t                   m_NumberOfJoins{ 0 };

  template <typename TFunction>
  void
  ForPixels(const TFunction & function) const
  {
    for (int32_t y = 0; y < m_Image.Height; ++y)
    {
      for (int32_t x = 0; x < m_Image.Width; ++x)
      {
        function(x, y);
      }
    }
  }
  uint32_t &
  At(int32_t x, int32_t y)
  {
    return m_Labels[m_Image.IndexOf(x, y)];
  }
  Moments
  Sample(int32_t x, int32_t y) const
  {
    return m_Prepared.Scene.SumRow(y, x, x + 1);
  }

  std::map<uint32_t, Moments>
  Sums() const
  {
    std::map<uint32_t, Moments> sums;
    this->ForPixels([&](int32_t x, int32_t y) { sums[m_Labels[m_Image.IndexOf(x, y)]] += this->Sample(x, y); });
    return sums;
  }

  /** Pairs of neighbours, and the sides of valid pixels between them. */
  std::map<Pair, int>
  Neighbors() const
  {
    std::map<Pair, int> lengths;
    const auto          add = [&](int32_t x, int32_t y, int32_t x2, int32_t y2) {
      const uint32_t a = m_Labels[m_Image.IndexOf(x, y)];
      const uint32_t b = m_Labels[m_Image.IndexOf(x2, y2)];
      if (a != b)
      {
        lengths[{ std::min(a, b), std::max(a, b) }] += m_Image.IsValid(x, y) && m_Image.IsValid(x2, y2) ? 1 : 0;
      }
    };
    this->ForPixels([&](int32_t x, int32_t y) {
      if (x + 1 < m_Image.Width)
      {
        add(x, y, x + 1, y);
      }
      if (y + 1 < m_Image.Height)
      {
        add(x, y, x, y + 1);
      }
    });
    return lengths;
  }

  void
  Rename(uint32_t from, uint32_t to)
  {
    std::replace(m_Labels.begin(), m_Labels.end(), from, to);
  }

  /** Blocks whose valid pixels are all alike become one with neighbours of the same value. */
  void
  UniteBlocksOfOneValue()
  {
    std::map<uint32_t, std::set<uint64_t>> values;
    std::map<uint32_t, uint32_t>           taken; // smaller numbers that blocks of one value took
    this->ForPixels([&](int32_t x, int32_t y) {
      if (this->Sample(x, y).Count > 0)
      {
        values[this->At(x, y)].insert(this->Sample(x, y).Sum);
      }
    });
    for (const auto & [pair, length] : this->Neighbors())
    {
      const auto & first = values[pair.first];
      if (first.size() == 1 && first == values[pair.second])
      {
        // The pair may have taken smaller numbers by now.
        const auto present = [&taken](uint32_t number) {
          while (taken.count(number) > 0)
          {
            number = taken.at(number);
          }
          return number;
        };
        const uint32_t u = present(pair.first);
        const uint32_t v = present(pair.second);
        if (u != v)
        {
          taken[std::max(u, v)] = std::min(u, v);
          this->Rename(std::max(u, v), std::min(u, v));
        }
      }
    }
  }

  /** Regions without pixels that touch become one; it joins its neighbour of the smallest number. The smaller number
   * stays. */
  void
  Absorb()
  {
    while (true)
    {
      const auto sums = this->Sums();
      bool       changed = false;
      for (const auto & [pair, length] : this->Neighbors())
      {
        if (!changed && sums.at(pair.first).Count == 0 && sums.at(pair.second).Count == 0)
        {
          this->Rename(pair.second, pair.first);
          changed = true;
        }
      }
      if (!changed)
      {
        break;
      }
    }
    // The neighbours' numbers are those before any region joined.
    const auto                   sums = this->Sums();
    std::map<uint32_t, uint32_t> smallest;
    for (const auto & [pair, length] : this->Neighbors())
    {
      for (const auto & [empty, other] : { pair, Pair(pair.second, pair.first) })
      {
        if (sums.at(empty).Count == 0)
        {
          const auto found = smallest.emplace(empty, other).first;
          found->second = std::min(found->second, other);
        }
      }
    }
    std::map<uint32_t, uint32_t> names; // of regions that have taken a smaller number
    for (const auto & [empty, other] : smallest)
    {
      const auto     name = names.find(other);
      const uint32_t present = name == names.end() ? other : name->second;
      this->Rename(std::max(empty, present), std::min(empty, present));
      names[other] = std::min(empty, present);
    }
  }

  void
  Merge()
  {
    while (true)
    {
      const auto                                  sums = this->Sums();
      std::map<uint32_t, std::pair<double, Pair>> best;
      for (const auto & [pair, length] : this->Neighbors())
      {
        const Moments u = sums.at(pair.first);
        const Moments v = sums.at(pair.second);
        const double  change = m_Model.Describe(u + v) - m_Model.Describe(u) - m_Model.Describe(v) - 0.25 * length;
        if (change < 0.0)
        {
          for (const uint32_t region : { pair.first, pair.second })
          {
            const auto found = best.emplace(region, std::pair(change, pair)).first;
            found->second = std::min(found->second, std::pair(change, pair));
          }
        }
      }
      // The region that takes each region that goes. If two regions chose each other, the one with the smaller number
      // takes the other one. It takes a third region too if four conditions hold. The third region has a larger number.
      // It chose one of the two. It lowers the description at least half as much as they do. The region that it chose
      // has at least 32 times its pixels.
      std::map<uint32_t, uint32_t> merges;
      for (const auto & [region, choice] : best)
      {
        const auto & [change, pair] = choice;
        const uint32_t chosen = pair.first == region ? pair.second : pair.first;
        const auto & [changeOfChosen, pairOfChosen] = best.at(chosen);
        const uint32_t stays = pairOfChosen.first;
        const bool     chosenMerges =
          best.at(pairOfChosen.first).second == pairOfChosen && best.at(pairOfChosen.second).second == pairOfChosen;
        if (chosenMerges && region > stays &&
            (pair == pairOfChosen ||
             (change <= 0.5 * changeOfChosen && 32 * sums.at(region).Count <= sums.at(chosen).Count)))
        {
          merges[region] = stays;
          m_NumberOfJoins += pair == pairOfChosen ? 0 : 1;
        }
      }
      if (merges.empty())
      {
        return;
      }
      for (const auto & [region, stays] : merges)
      {
        this->Rename(region, stays);
      }
    }
  }

  void
  Compete(int32_t side)
  {
    const int32_t               columns = (m_Image.Width + side - 1) / side;
    const int32_t               rows = (m_Image.Height + side - 1) / side;
    std::map<uint32_t, Moments> sums = this->Sums();
    std::set<Pair>              active;
    for (int sweep = 0; sweep < 6; ++sweep)
    {
      std::set<Pair> next;
      for (int color = 0; color < 4; ++color)
      {
        std::map<uint32_t, LinearForm> tangents;
        for (const auto & [label, sum] : sums)
        {
          tangents[label] = m_Model.Linearize(sum);
        }
        const std::vector<uint32_t> frozen = m_Labels;
        for (int32_t y = color / 2; y < rows; y += 2)
        {
          for (int32_t x = color % 2; x < columns; x += 2)
          {
            if (sweep == 0 || active.count({ static_cast<uint32_t>(x), static_cast<uint32_t>(y) }) > 0)
            {
              this->ChangeCell(x, y, side, columns, rows, frozen, tangents, sums, next);
            }
          }
        }
      }
      if (next.empty())
      {
        return;
      }
      active = next;
    }
  }

  void
  ChangeCell(int32_t                                x,
             int32_t                                y,
             int32_t                                side,
             int32_t                                columns,
             int32_t                                rows,
             const std::vector<uint32_t> &          frozen,
             const std::map<uint32_t, LinearForm> & tangents,
             std::map<uint32_t, Moments> &          sums,
             std::set<Pair> &                       next)
  {
    const auto label = [&](int32_t cx, int32_t cy) { return frozen[m_Image.IndexOf(cx * side, cy * side)]; };
    const auto forCell = [&](const auto & function) {
      for (int32_t row = y * side; row < std::min((y + 1) * side, m_Image.Height); ++row)
      {
        for (int32_t column = x * side; column < std::min((x + 1) * side, m_Image.Width); ++column)
        {
          function(column, row);
        }
      }
    };
    Moments cell;
    forCell([&](int32_t column, int32_t row) { cell += this->Sample(column, row); });
    std::vector<uint32_t> axis, diagonal;
    for (int32_t dy = -1; dy <= 1; ++dy)
    {
      for (int32_t dx = -1; dx <= 1; ++dx)
      {
        if ((dx != 0 || dy != 0) && x + dx >= 0 && x + dx < columns && y + dy >= 0 && y + dy < rows)
        {
          (dx != 0 && dy != 0 ? diagonal : axis).push_back(label(x + dx, y + dy));
        }
      }
    }
    const auto cost = [&](uint32_t q) {
      const double others =
        static_cast<double>(axis.size()) - static_cast<double>(std::count(axis.begin(), axis.end(), q));
      const double otherDiagonals =
        static_cast<double>(diagonal.size()) - static_cast<double>(std::count(diagonal.begin(), diagonal.end(), q));
      return tangents.at(q)(cell) + (0.3927 * side * 0.8 * others + 0.2777 * side * 0.8 * otherDiagonals);
    };
    const uint32_t own = label(x, y);
    std::pair      best(std::numeric_limits<double>::infinity(), own);
    for (const uint32_t q : axis)
    {
      best = q == own ? best : std::min(best, std::pair(cost(q), q));
    }
    if (best.first >= cost(own) - 1e-9)
    {
      return;
    }
    forCell([&](int32_t column, int32_t row) { this->At(column, row) = best.second; });
    sums[own] -= cell;
    sums[best.second] += cell;
    for (int32_t dy = -1; dy <= 1; ++dy)
    {
      for (int32_t dx = -1; dx <= 1; ++dx)
      {
        next.insert({ static_cast<uint32_t>(x + dx), static_cast<uint32_t>(y + dy) });
      }
    }
  }

  void
  Renumber()
  {
    std::map<uint32_t, uint32_t> numbers;
    for (uint32_t & label : m_Labels)
    {
      label = numbers.emplace(label, static_cast<uint32_t>(numbers.size() + 1)).first->second;
    }
  }
};

/** What an executor finds. */
template <typename TExecutor>
LabelMap
GetLabelMap(const LabelSearch<TExecutor> & search)
{
  const uint32_t * const labels = search.GetPixels().Labels;
  const Moments * const  regions = search.GetRegions().Get();
  return { { labels, labels + search.GetNumberOfPixels() }, { regions, regions + search.GetNumberOfRegions() + 1 } };
}

/** The sums, shapes and neighbors of the regions are those of their pixels. */
template <typename TExecutor>
void
ExpectTableOfPixels(const TExecutor &     executor,
                    const PartitionCase & image,
                    const PreparedCase &  prepared,
                    const LabelMap &      map)
{
  std::vector<Moments> sums(map.Regions.size());
  for (size_t i = 0; i < map.Labels.size(); ++i)
  {
    const auto x = static_cast<int32_t>(i) % image.Width;
    sums.at(map.Labels[i]) += prepared.Scene.SumRow(static_cast<int32_t>(i) / image.Width, x, x + 1);
  }
  EXPECT_TRUE(sums == map.Regions);
  const auto expected =
    MeasureRegions({ image.Width, image.Height, map.Labels }, [&image](int x, int y) { return image.IsValid(x, y); });
  const size_t       regions = map.Regions.size() - 1;
  const LabelSummary actual = SummarizeLabels(
    executor, PixelLabels{ { image.Width }, map.Labels.data() }, map.Labels.size(), map.Regions.data(), regions);
  EXPECT_TRUE(map.Regions == actual.Sums);
  ASSERT_EQ(regions, actual.Regions.size());
  size_t adjacencies = 0;
  for (size_t i = 1; i <= regions; ++i)
  {
    const RegionSummary & region = actual.Regions[i - 1];
    const auto &          box = expected[i].Box;
    EXPECT_GT(region.Sums.Count, 0) << "region " << i;
    EXPECT_TRUE(region.Sums == sums[i]) << "region " << i;
    EXPECT_EQ(region.DoubledArea, 2 * static_cast<int64_t>(expected[i].Pixels)) << "region " << i;
    EXPECT_EQ(region.Perimeter, expected[i].Perimeter) << "region " << i;
    EXPECT_TRUE(region.Box.MinimumX == box[0] && region.Box.MinimumY == box[1] && region.Box.MaximumX == box[2] &&
                region.Box.MaximumY == box[3])
      << "region " << i;
    EXPECT_EQ(region.Neighbors, GetNeighbors(expected[i])) << "region " << i;
    for (auto link = expected[i].Neighbors.upper_bound(static_cast<uint32_t>(i)); link != expected[i].Neighbors.end();
         ++link)
    {
      ASSERT_LT(adjacencies, actual.Adjacencies.size());
      const Adjacency & adjacency = actual.Adjacencies[adjacencies++];
      EXPECT_TRUE(adjacency.First == i && adjacency.Second == link->first && adjacency.NumberOfSides == link->second)
        << "regions " << i << " and " << link->first;
    }
  }
  EXPECT_EQ(adjacencies, actual.Adjacencies.size());
}

/** Calls function(executor, kind) with the device's loops in a random order, and with executors of the host. */
template <typename TFunction>
void
ForExecutors(const Scene & scene, uint64_t seed, const TFunction & function)
{
  function(TestExecutor(scene, seed, TestExecutor::AllGrids[seed % 3]), ", in a random order");
  const Threads one(1);
  function(SerialHostExecutor(scene, one), ", host");
  for (const unsigned int number : { 1u, 2u, 7u })
  {
    const Threads threads(number);
    function(ThreadedHostExecutor(scene, threads), ", host with " + std::to_string(number) + " threads");
  }
}

std::string
Describe(const PartitionCase & image)
{
  return NameOf(image.Law) + ' ' + std::to_string(image.Width) + " x " + std::to_string(image.Height) +
         (image.Valid.empty() ? "" : " masked");
}

/** Compares the labels of all executors with the expected ones; where none are expected, with those of the first.
 * Returns their sums. \param begin begin(search, executor) searches, or takes given labels */
template <typename TBegin>
std::vector<Moments>
ExpectLabels(const PartitionCase & image,
             const PreparedCase &  prepared,
             std::vector<uint32_t> expected,
             uint64_t              seed,
             const TBegin &        begin)
{
  std::vector<Moments> sums;
  ForExecutors(prepared.Scene, seed, [&](const auto & executor, const std::string & kind) {
    SCOPED_TRACE(Describe(image) + kind);
    LabelSearch<std::decay_t<decltype(executor)>> search(executor, prepared.Model, image.Width, image.Height);
    begin(search, executor);
    const LabelMap map = GetLabelMap(search);
    expected = expected.empty() ? map.Labels : expected;
    ASSERT_EQ(map.Labels, expected);
    ASSERT_NO_FATAL_FAILURE(ExpectTableOfPixels(executor, image, prepared, map));
    sums = map.Regions;
  });
  return sums;
}

/** Compares what a search gives with the labels of the reference, whose time grows with the square of the number of
 * regions. For large images the executors have to agree. Returns the number of regions. */
size_t
ExpectLabelsOfSearch(const PartitionCase & image, int32_t blockSize, std::mt19937_64 & engine, size_t * joins = nullptr)
{
  SCOPED_TRACE("blocks of " + std::to_string(blockSize));
  const PreparedCase    prepared(image);
  Reference             reference(image, prepared);
  std::vector<uint32_t> expected;
  if (image.Pixels.size() <= 40 * 40)
  {
    expected = reference.Run(blockSize);
  }
  if (joins)
  {
    *joins += reference.GetNumberOfJoins();
  }
  const auto search = [blockSize](auto & labels, const auto &) { ASSERT_TRUE(labels.Search(blockSize, {})); };
  return ExpectLabels(image, prepared, expected, engine(), search).size() - 1;
}
} // namespace

TEST(CudaPartitionLabels, AreThoseOfThePlainReference)
{
  std::mt19937_64 engine(PrintSeed(301));
  size_t          severalRegions = 0;
  size_t          joins = 0;
  for (const NoiseLaw law : AllLaws)
  {
    for (int trial = 0; trial < 14; ++trial)
    {
      // The last two are large: several strips of rows, whose regions the threads of the host join.
      const auto    side = [&] { return static_cast<int32_t>(trial < 12 ? 1 + engine() % 40 : 130 + engine() % 30); };
      const int32_t width = side();
      PartitionCase image = MakeRandomCase(law, width, side(), trial < 12 ? 4 : 8, engine);
      if (trial % 3 == 0)
      {
        AddMask(image, engine);
      }
      severalRegions += ExpectLabelsOfSearch(image, 1 << (trial % 4), engine, &joins) > 1 ? 1 : 0;
      if (HasFailure())
      {
        return;
      }
    }
  }
  std::cout << severalRegions << " images have several regions, " << joins << " regions joined a pair" << std::endl;
  EXPECT_GT(severalRegions, 30u);
  EXPECT_GT(joins, 100u);
}

TEST(CudaPartitionLabels, ImagesOfFewPixelsAndOfOneValue)
{
  std::mt19937_64 engine(PrintSeed(303));
  for (const auto & [width, height] : { std::pair(1, 1), { 1, 40 }, { 40, 1 }, { 2, 2 }, { 7, 5 }, { 64, 3 } })
  {
    for (const int32_t blockSize : { 1, 4, 64 })
    {
      for (const NoiseLaw law : { NoiseLaw::Gaussian, NoiseLaw::Gamma, NoiseLaw::Bernoulli, NoiseLaw::LogNormal })
      {
        PartitionCase image = MakeRandomCase(law, width, height, 0, engine);
        ExpectLabelsOfSearch(image, blockSize, engine);
        std::fill(image.Pixels.begin(), image.Pixels.end(), uint16_t{ 1 });
        EXPECT_EQ(ExpectLabelsOfSearch(image, blockSize, engine), 1u);
        // Regions of one value beside each other, and cells without valid pixels between them.
        for (size_t i = 0; i < image.Pixels.size(); ++i)
        {
          image.Pixels[i] = (i / 3 % 2 == 0 ? 1 : 0) + (law == NoiseLaw::LogNormal ? 1 : 0);
        }
        ExpectLabelsOfSearch(image, blockSize, engine);
        AddMask(image, engine);
        ExpectLabelsOfSearch(image, blockSize, engine);
      }
    }
  }
}

TEST(CudaPartitionLabels, NoiseIsOneRegion)
{
  std::mt19937_64 engine(PrintSeed(304));
  for (const NoiseLaw law : AllLaws)
  {
    for (int level = 0; level < 3; ++level)
    {
      PartitionCase image{ 160, 120, {}, law, {} };
      for (int i = 0; i < 160 * 120; ++i)
      {
        image.Pixels.push_back(MakeNoise(law, level, engine));
      }
      const PreparedCase prepared(image);
      const auto         executor = prepared.GetExecutor();
      LabelSearch        search(executor, prepared.Model, image.Width, image.Height);
      ASSERT_TRUE(search.Search(4, {}));
      EXPECT_EQ(search.GetNumberOfRegions(), 1u) << NameOf(law) << " level " << level;
    }
  }
}

TEST(CudaPartitionLabels, GivenLabelsBecomeTheirConnectedParts)
{
  std::mt19937_64 engine(PrintSeed(305));
  for (int trial = 0; trial < 60; ++trial)
  {
    // Some have more rows than a strip.
    const auto    width = static_cast<int32_t>(1 + engine() % 30);
    const auto    height = static_cast<int32_t>(1 + engine() % (trial % 4 == 0 ? 150 : 20));
    PartitionCase image = MakeRandomCase(AllLaws[engine() % AllLaws.size()], width, height, 0, engine);
    if (trial % 3 == 0)
    {
      AddMask(image, engine);
    }
    std::vector<uint32_t> labels(image.Pixels.size());
    const uint64_t        kinds = 1 + engine() % 5;
    std::generate(labels.begin(), labels.end(), [&] { return static_cast<uint32_t>(engine() % kinds * 0x7fffffffu); });
    const PreparedCase prepared(image);
    const auto         start = [&labels](auto & search, const auto & executor) {
      search.StartFrom(executor.Upload(labels.data(), labels.size()));
    };
    ExpectLabels(image, prepared, Reference(image, prepared).RunOn(labels), engine(), start);
    ASSERT_FALSE(HasFailure()) << "trial " << trial;
  }
}

TEST(CudaPartitionLabels, AStopLeavesAnUnfinishedSearch)
{
  std::mt19937_64     engine(PrintSeed(814));
  const PartitionCase image = MakeRandomCase(NoiseLaw::Gamma, 50, 40, 5, engine);
  const PreparedCase  prepared(image);
  const TestExecutor  executor(prepared.Scene, engine());
  int                 reports = 0;
  float               last = 0.0f;
  LabelSearch         whole(executor, prepared.Model, image.Width, image.Height);
  EXPECT_TRUE(whole.Search(4, [&](float share) {
    EXPECT_GE(share, last);
    EXPECT_LE(share, 1.0f);
    last = share;
    ++reports;
    return true;
  }));
  for (int stop = 0; stop < reports; ++stop)
  {
    int         left = stop;
    LabelSearch search(executor, prepared.Model, image.Width, image.Height);
    EXPECT_FALSE(search.Search(4, [&left](float) { return left-- > 0; })) << stop;
  }
}

TEST(CudaPartitionLabels, OneRegionOfManyBlocksTakesFewRounds)
{
  std::mt19937_64 engine(PrintSeed(818));
  for (const NoiseLaw law : AllLaws)
  {
    const PartitionCase image = MakeRandomCase(law, 200, 160, 0, engine);
    const PreparedCase  prepared(image);
    const TestExecutor  executor(prepared.Scene, engine());
    LabelSearch         search(executor, prepared.Model, image.Width, image.Height);
    ASSERT_TRUE(search.Search(2, {}));
    const TestExecutor::Counts & counts = executor.GetCounts();
    // Two loops a round, and those of three sizes of cells, which are 49 at most each.
    std::cout << NameOf(law) << ": " << counts.Loops + counts.LoopsInBlocks + counts.LoopsInGrids << " loops\n";
    EXPECT_LE(counts.Loops + counts.LoopsInBlocks + counts.LoopsInGrids, 250u) << NameOf(law);
  }
}

TEST(CudaPartitionLabels, RoundsRunWithoutTheHost)
{
  // Some hundred rounds of three loops, most of them over few edges. A loop is a launch on a device, and a read
  // makes the host wait: one comes after a series of rounds, whose number depends on the image.
  std::mt19937_64     engine(PrintSeed(816));
  const PartitionCase image = MakeRandomCase(NoiseLaw::Gamma, 700, 600, 30, engine);
  const PreparedCase  prepared(image);
  const TestExecutor  executor(prepared.Scene, engine());
  LabelSearch         search(executor, prepared.Model, image.Width, image.Height);
  ASSERT_TRUE(search.Search(4, {}));
  // The regions that are left get new numbers several times.
  const auto  onHost = prepared.GetExecutor();
  LabelSearch expected(onHost, prepared.Model, image.Width, image.Height);
  ASSERT_TRUE(expected.Search(4, {}));
  EXPECT_EQ(GetLabelMap(search).Labels, GetLabelMap(expected).Labels);
  const TestExecutor::Counts & counts = executor.GetCounts();
  EXPECT_LE(20 * counts.Reads, counts.Loops + counts.LoopsInBlocks + counts.LoopsInGrids);
  EXPECT_LE(counts.Loops + counts.Fills + counts.Sums + counts.Allocations, 5000u);
  EXPECT_GT(counts.LoopsInBlocks, 0u);
}

TEST(CudaPartitionLabels, MemoryIsThatOfTheEstimateAndAtMost30BytesAPixel)
{
  std::mt19937_64 engine(PrintSeed(817));
  for (const NoiseLaw law : AllLaws)
  {
    for (const int32_t blockSize : { 2, 4 })
    {
      PartitionCase image = MakeRandomCase(law, 350, 260, 8, engine);
      AddMask(image, engine);
      const PreparedCase prepared(image);
      const TestExecutor executor(prepared.Scene, 0);
      LabelSearch        search(executor, prepared.Model, image.Width, image.Height);
      ASSERT_TRUE(search.Search(blockSize, {}));
      EXPECT_LE(executor.GetPeakOfBytes(), GetLabelSearchBytes(350, 260, static_cast<size_t>(blockSize)) + 1024)
        << Describe(image);
    }
  }
  // With samples of 4 bytes, their sums and a mask, for blocks of 4 pixels, the default.
  constexpr double side = 4000.0;
  const double     sums = 4.0 + static_cast<double>(sizeof(Checkpoint) + sizeof(MaskCheckpoint)) / CheckpointSpacing;
  const double     search = static_cast<double>(GetLabelSearchBytes(4000, 4000, 4)) / (side * side);
  std::cout << sums + search << " bytes per pixel" << std::endl;
  EXPECT_LE(sums + search, 30.0);
}
