// SPDX-License-Identifier: Apache-2.0
#include "partition/itkCudaPartitionLabelMap.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <map>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace
{
using itk::cuda::partition::DescriptionModel;
using itk::cuda::partition::Moments;
using itk::cuda::region::AllLaws;
using itk::cuda::region::NoiseLaw;
using itk::cuda::test::LabelMap;
using itk::cuda::test::MakeLabelMap;
using itk::cuda::test::MakeLabelMapOf;
using itk::cuda::test::MakeRandomCase;
using itk::cuda::test::NameOf;
using itk::cuda::test::PartitionCase;
using itk::cuda::test::PreparedCase;
using Pair = std::pair<uint32_t, uint32_t>;

/** The stages, written as plainly as can be: one label per pixel, and everything counted anew in every step. */
class Reference
{
public:
  Reference(const PartitionCase & image, const DescriptionModel & model, const PreparedCase & prepared)
    : m_Image(image)
    , m_Model(model)
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
    m_Labels = this->Components(m_Labels);
    this->Absorb();
    this->Merge();
    this->Renumber();
    return m_Labels;
  }

  std::vector<uint32_t>
  RunOn(const std::vector<uint32_t> & labels)
  {
    m_Labels = this->Components(labels);
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

  std::map<uint32_t, uint32_t> m_Taken; // smaller numbers that blocks of one value took
  size_t                       m_NumberOfJoins{ 0 };

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
        uint32_t u = pair.first;
        uint32_t v = pair.second;
        while (m_Taken.count(u) > 0)
        {
          u = m_Taken.at(u);
        }
        while (m_Taken.count(v) > 0)
        {
          v = m_Taken.at(v);
        }
        if (u != v)
        {
          m_Taken[std::max(u, v)] = std::min(u, v);
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
        std::map<uint32_t, itk::cuda::region::LinearForm> tangents;
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
  ChangeCell(int32_t                                                   x,
             int32_t                                                   y,
             int32_t                                                   side,
             int32_t                                                   columns,
             int32_t                                                   rows,
             const std::vector<uint32_t> &                             frozen,
             const std::map<uint32_t, itk::cuda::region::LinearForm> & tangents,
             std::map<uint32_t, Moments> &                             sums,
             std::set<Pair> &                                          next)
  {
    const auto label = [&](int32_t cx, int32_t cy) { return frozen[m_Image.IndexOf(cx * side, cy * side)]; };
    Moments    cell;
    for (int32_t row = y * side; row < std::min((y + 1) * side, m_Image.Height); ++row)
    {
      for (int32_t column = x * side; column < std::min((x + 1) * side, m_Image.Width); ++column)
      {
        cell += this->Sample(column, row);
      }
    }
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
    for (int32_t row = y * side; row < std::min((y + 1) * side, m_Image.Height); ++row)
    {
      for (int32_t column = x * side; column < std::min((x + 1) * side, m_Image.Width); ++column)
      {
        this->At(column, row) = best.second;
      }
    }
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

  /** Flood fill from each pixel that has no number yet. */
  std::vector<uint32_t>
  Components(const std::vector<uint32_t> & labels) const
  {
    std::vector<uint32_t> result(labels.size(), 0);
    uint32_t              number = 0;
    this->ForPixels([&](int32_t x, int32_t y) {
      if (result[m_Image.IndexOf(x, y)] != 0)
      {
        return;
      }
      ++number;
      std::vector<std::pair<int32_t, int32_t>> open{ { x, y } };
      result[m_Image.IndexOf(x, y)] = number;
      while (!open.empty())
      {
        const auto [px, py] = open.back();
        open.pop_back();
        for (const auto & [qx, qy] : { std::pair(px - 1, py), { px + 1, py }, { px, py - 1 }, { px, py + 1 } })
        {
          if (qx >= 0 && qy >= 0 && qx < m_Image.Width && qy < m_Image.Height && result[m_Image.IndexOf(qx, qy)] == 0 &&
              labels[m_Image.IndexOf(qx, qy)] == labels[m_Image.IndexOf(px, py)])
          {
            result[m_Image.IndexOf(qx, qy)] = number;
            open.push_back({ qx, qy });
          }
        }
      }
    });
    return result;
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

/** The map's promises: numbers in the order of first pixels, connected regions, exact sums, no region without pixels.
 */
void
ExpectGoodMap(const LabelMap &      map,
              const PartitionCase & image,
              const PreparedCase &  prepared,
              const std::string &   name)
{
  ASSERT_EQ(map.Labels.size(), image.Pixels.size()) << name;
  Reference  reference(image, prepared.Model, prepared);
  const auto again = reference.RunOn(map.Labels);
  ASSERT_EQ(map.Labels, again) << name;
  std::vector<Moments> sums(map.Regions.size());
  for (int32_t y = 0; y < image.Height; ++y)
  {
    for (int32_t x = 0; x < image.Width; ++x)
    {
      const uint32_t label = map.Labels[image.IndexOf(x, y)];
      ASSERT_GE(label, 1u) << name;
      ASSERT_LT(label, map.Regions.size()) << name;
      sums[label] += prepared.Scene.SumRow(y, x, x + 1);
    }
  }
  for (size_t i = 0; i < sums.size(); ++i)
  {
    ASSERT_TRUE(sums[i] == map.Regions[i]) << name << " region " << i;
    ASSERT_TRUE(i == 0 || sums[i].Count > 0) << name << " region " << i;
  }
}

LabelMap
MakeMap(const PartitionCase & image, int32_t blockSize, unsigned int threads = 1)
{
  return MakeLabelMap(image, PreparedCase(image, threads), blockSize);
}
} // namespace

TEST(CudaPartitionLabels, AreThoseOfThePlainReference)
{
  std::mt19937_64 engine(itk::cuda::test::PrintSeed(301));
  size_t          severalRegions = 0;
  size_t          joins = 0;
  for (const NoiseLaw law : AllLaws)
  {
    for (int trial = 0; trial < 12; ++trial)
    {
      const auto    width = static_cast<int32_t>(1 + engine() % 40);
      const auto    height = static_cast<int32_t>(1 + engine() % 40);
      PartitionCase image = MakeRandomCase(law, width, height, 4, engine);
      if (trial % 3 == 0)
      {
        itk::cuda::test::AddMask(image, engine);
      }
      const int32_t     blockSize = 1 << (trial % 4);
      const std::string name = NameOf(law) + " trial " + std::to_string(trial) + ", " + std::to_string(width) + " x " +
                               std::to_string(height) + ", blocks of " + std::to_string(blockSize);
      const PreparedCase prepared(image);
      const LabelMap     map = MakeLabelMap(image, prepared, blockSize);
      Reference          reference(image, prepared.Model, prepared);
      ASSERT_EQ(map.Labels, reference.Run(blockSize)) << name;
      joins += reference.GetNumberOfJoins();
      ExpectGoodMap(map, image, prepared, name);
      severalRegions += map.Regions.size() > 2 ? 1 : 0;
    }
  }
  std::cout << severalRegions << " of " << 12 * AllLaws.size() << " images have several regions, " << joins
            << " regions joined a pair" << std::endl;
  EXPECT_GT(severalRegions, 20u);
  EXPECT_GT(joins, 100u);
}

TEST(CudaPartitionLabels, DoNotDependOnThreads)
{
  std::mt19937_64 engine(itk::cuda::test::PrintSeed(302));
  for (const NoiseLaw law : AllLaws)
  {
    PartitionCase image = MakeRandomCase(law, 150, 140, 8, engine); // three strips
    if (law == NoiseLaw::Gamma)
    {
      itk::cuda::test::AddMask(image, engine);
    }
    const LabelMap expected = MakeMap(image, 4);
    EXPECT_GT(expected.Regions.size(), 2u) << NameOf(law);
    for (const unsigned int threads : { 2u, 5u, 16u })
    {
      const LabelMap map = MakeMap(image, 4, threads);
      ASSERT_EQ(map.Labels, expected.Labels) << NameOf(law) << " threads " << threads;
      ASSERT_TRUE(map.Regions == expected.Regions) << NameOf(law);
    }
  }
}

TEST(CudaPartitionLabels, ImagesOfFewPixelsAndOfOneValue)
{
  std::mt19937_64 engine(itk::cuda::test::PrintSeed(303));
  for (const NoiseLaw law : AllLaws)
  {
    for (const auto & [width, height] : { std::pair(1, 1), { 1, 40 }, { 40, 1 }, { 7, 5 }, { 4, 4 }, { 3, 65 } })
    {
      for (const int32_t blockSize : { 1, 2, 4, 64 })
      {
        PartitionCase      image = MakeRandomCase(law, width, height, 0, engine);
        const std::string  name = NameOf(law) + " " + std::to_string(width) + " x " + std::to_string(height);
        const PreparedCase prepared(image);
        const LabelMap     map = MakeLabelMap(image, prepared, blockSize);
        ExpectGoodMap(map, image, prepared, name);
        std::fill(image.Pixels.begin(), image.Pixels.end(), uint16_t{ 1 });
        EXPECT_EQ(MakeMap(image, blockSize).Regions.size(), 2u) << name;
        std::fill(image.Pixels.begin(), image.Pixels.end(), law == NoiseLaw::LogNormal ? uint16_t{ 7 } : uint16_t{ 0 });
        EXPECT_EQ(MakeMap(image, blockSize).Regions.size(), 2u) << name;
      }
    }
  }
}

TEST(CudaPartitionLabels, NoiseIsOneRegion)
{
  std::mt19937_64 engine(itk::cuda::test::PrintSeed(304));
  for (const NoiseLaw law : AllLaws)
  {
    for (int level = 0; level < 3; ++level)
    {
      PartitionCase image;
      image.Law = law;
      image.Width = 160;
      image.Height = 120;
      for (int i = 0; i < 160 * 120; ++i)
      {
        image.Pixels.push_back(itk::cuda::test::MakeNoise(law, level, engine));
      }
      EXPECT_EQ(MakeMap(image, 4).Regions.size(), 2u) << NameOf(law) << " level " << level;
    }
  }
}

TEST(CudaPartitionLabels, RegionsWithoutValidPixelsJoinTheNeighborOfSmallestNumber)
{
  // Two columns of values, and in the middle a block of which no pixel is valid; the bottom right corner is alone.
  PartitionCase image;
  image.Law = NoiseLaw::Poisson;
  image.Width = 24;
  image.Height = 12;
  image.Valid.assign(24 * 12, 1);
  for (int32_t y = 0; y < 12; ++y)
  {
    for (int32_t x = 0; x < 24; ++x)
    {
      image.Pixels.push_back(x < 12 ? 5 : 500);
      image.Valid[image.IndexOf(x, y)] = (x >= 12 && x < 16 && y >= 4 && y < 8) || (x >= 20 && y >= 8) ? 0 : 1;
    }
  }
  const PreparedCase prepared(image);
  const LabelMap     map = MakeLabelMap(image, prepared, 4);
  ASSERT_EQ(map.Regions.size(), 3u);
  EXPECT_EQ(map.Labels[image.IndexOf(0, 0)], 1u);
  EXPECT_EQ(map.Labels[image.IndexOf(23, 0)], 2u);
  EXPECT_EQ(map.Labels[image.IndexOf(23, 11)], 2u);
  EXPECT_EQ(map.Regions[1].Count, 12 * 12);
  EXPECT_EQ(map.Regions[2].Count, 12 * 12 - 32);

  // The same for given labels: 3 joins region 1, of its neighbours 1 and 2.
  std::vector<uint32_t> labels(image.Pixels.size());
  for (int32_t y = 0; y < 12; ++y)
  {
    for (int32_t x = 0; x < 24; ++x)
    {
      labels[image.IndexOf(x, y)] = !image.IsValid(x, y) ? 0 : (x < 12 ? 9 : 4);
    }
  }
  const auto given = MakeLabelMapOf(image, prepared, labels);
  ASSERT_EQ(given.Regions.size(), 3u);
  EXPECT_EQ(given.Labels[image.IndexOf(13, 5)], 1u);
  EXPECT_EQ(given.Labels[image.IndexOf(23, 11)], 2u);
}

TEST(CudaPartitionLabels, GivenLabelsBecomeTheirConnectedParts)
{
  std::mt19937_64 engine(itk::cuda::test::PrintSeed(305));
  for (int trial = 0; trial < 40; ++trial)
  {
    // More rows than a strip has, in some.
    const auto    width = static_cast<int32_t>(1 + engine() % 30);
    const auto    height = static_cast<int32_t>(1 + engine() % (trial % 4 == 0 ? 150 : 20));
    PartitionCase image = MakeRandomCase(NoiseLaw::Gamma, width, height, 0, engine);
    if (trial % 3 == 0)
    {
      itk::cuda::test::AddMask(image, engine);
    }
    std::vector<uint32_t> labels(image.Pixels.size());
    const uint64_t        kinds = 1 + engine() % 5;
    for (uint32_t & label : labels)
    {
      label = static_cast<uint32_t>(engine() % kinds) * 0x7fffffffu;
    }
    const PreparedCase prepared(image, 1 + trial % 3);
    const LabelMap     map = MakeLabelMapOf(image, prepared, labels);
    ASSERT_EQ(map.Labels, Reference(image, prepared.Model, prepared).RunOn(labels)) << "trial " << trial;
    ExpectGoodMap(map, image, prepared, "trial " + std::to_string(trial));
  }
}
