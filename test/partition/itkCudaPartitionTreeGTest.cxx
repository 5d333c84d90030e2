// SPDX-License-Identifier: Apache-2.0
#include "partition/itkCudaPartitionTestCase.h"
#include "partition/result/Result.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <map>
#include <random>
#include <utility>
#include <vector>

namespace
{
using namespace itk;
using namespace itk::cuda::partition;
using namespace itk::cuda::region;
using namespace itk::cuda::test;
using Pair = std::pair<uint32_t, uint32_t>;

void
ExpectSameMerges(const std::vector<CudaPartitionMerge> & found, const std::vector<CudaPartitionMerge> & expected)
{
  ASSERT_EQ(found.size(), expected.size());
  for (size_t i = 0; i < found.size(); ++i)
  {
    ASSERT_EQ(found[i].First, expected[i].First) << "merge " << i;
    ASSERT_EQ(found[i].Second, expected[i].Second) << "merge " << i;
    ASSERT_EQ(found[i].Change, expected[i].Change) << "merge " << i;
  }
}

/** All pairs are looked at for every merge. */
std::vector<CudaPartitionMerge>
BruteForce(const DescriptionModel & model, std::vector<Moments> regions, std::map<Pair, double> costs)
{
  std::vector<CudaPartitionMerge> merges;
  while (!costs.empty())
  {
    CudaPartitionMerge best{ 0, 0, std::numeric_limits<double>::infinity() };
    for (const auto & [pair, cost] : costs) // ascending: the first of equal ones stays
    {
      const auto & [u, v] = pair;
      const double change =
        model.Describe(regions[u] + regions[v]) - model.Describe(regions[u]) - model.Describe(regions[v]) - cost;
      if (change < best.Change)
      {
        best = { u, v, change };
      }
    }
    merges.push_back(best);
    regions[best.First] += regions[best.Second];
    std::map<Pair, double> left;
    for (const auto & [pair, cost] : costs)
    {
      const auto     rename = [&best](uint32_t r) { return r == best.Second ? best.First : r; };
      const uint32_t u = rename(pair.first);
      const uint32_t v = rename(pair.second);
      if (u != v)
      {
        left[{ std::min(u, v), std::max(u, v) }] += cost;
      }
    }
    costs = left;
  }
  return merges;
}
} // namespace

TEST(CudaPartitionTree, IsThatOfBruteForce)
{
  std::mt19937_64 engine(PrintSeed(201));
  for (const NoiseLaw law : AllLaws)
  {
    for (int trial = 0; trial < 20; ++trial)
    {
      DescriptionModel model;
      model.Law = { law, 1.0, 100000 };
      model.KnownVariance = 200.0;
      model.LogNumberOfPixels = 11.5;
      const auto           number = static_cast<uint32_t>(1 + engine() % 40);
      std::vector<Moments> regions(1);
      for (uint32_t i = 0; i < number; ++i)
      {
        Moments   sums;
        const int level = static_cast<int>(engine() % 4);
        // Regions of equal sums, in trials of few samples, give equal changes.
        for (uint64_t j = 0; j < (trial % 3 == 0 ? 1 : 30 + engine() % 200); ++j)
        {
          const uint64_t sample = trial % 3 == 0 ? engine() % 2 : MakeNoise(law, level, engine);
          sums += { 1, sample, sample * sample };
        }
        regions.push_back(sums);
      }
      std::vector<Boundary>  boundaries;
      std::map<Pair, double> costs;
      for (uint32_t v = 2; v <= number; ++v)
      {
        // Connected, and a few more; some boundaries in two parts, and with the larger number first.
        for (uint64_t j = 0; j <= engine() % 4; ++j)
        {
          const uint32_t u = 1 + static_cast<uint32_t>(engine() % (v - 1));
          const double   cost = 9.0 * static_cast<double>(1 + engine() % 3);
          boundaries.push_back(engine() % 2 == 0 ? Boundary{ u, v, cost } : Boundary{ v, u, cost });
          costs[{ u, v }] += cost;
        }
      }
      const auto merges = MakeMergeTree(model, regions, boundaries);
      ASSERT_EQ(merges.size(), number - 1) << NameOf(law) << " trial " << trial;
      ASSERT_NO_FATAL_FAILURE(ExpectSameMerges(merges, BruteForce(model, regions, costs)))
        << NameOf(law) << " trial " << trial;
    }
  }
}

// Pairs of a region with more than 256 neighbours may come late. All the same, each merge joins two neighbours, and has
// their change at that time. The order of the boundaries makes no difference.
TEST(CudaPartitionTree, RegionsWithManyNeighborsMergeWithTheirNeighbors)
{
  std::mt19937_64 engine(PrintSeed(202));
  for (int trial = 0; trial < 12; ++trial)
  {
    DescriptionModel model;
    model.Law = { NoiseLaw::Gamma, 1.0, 1000000 };
    model.LogNumberOfPixels = 13.8;
    const uint32_t       hubs = 1 + static_cast<uint32_t>(engine() % 3);
    const uint32_t       number = hubs + 250 + static_cast<uint32_t>(engine() % 1500);
    std::vector<Moments> regions(1);
    for (uint32_t i = 0; i < number; ++i)
    {
      const auto pixels = static_cast<int64_t>(1 + engine() % 300);
      regions.push_back({ pixels, static_cast<uint64_t>(pixels) * (5 + engine() % 60), 0 });
    }
    std::vector<Boundary>  boundaries;
    std::map<Pair, double> costs;
    for (uint32_t v = 2; v <= number; ++v)
    {
      // Hubs are neighbours of most regions and of each other; other regions have a few neighbours.
      for (uint64_t j = 0; j < 3; ++j)
      {
        const uint32_t u = 1 + static_cast<uint32_t>(engine() % (j < 2 ? std::min(hubs, v - 1) : v - 1));
        const double   cost = 9.0 * static_cast<double>(1 + engine() % 3);
        boundaries.push_back({ u, v, cost });
        costs[{ u, v }] += cost;
      }
    }
    const auto merges = MakeMergeTree(model, regions, boundaries);
    ASSERT_EQ(merges.size(), number - 1) << "trial " << trial;
    std::shuffle(boundaries.begin(), boundaries.end(), engine);
    ASSERT_NO_FATAL_FAILURE(ExpectSameMerges(MakeMergeTree(model, regions, boundaries), merges)) << "trial " << trial;
    std::vector<std::map<uint32_t, double>> neighbors(number + 1);
    for (const auto & [pair, cost] : costs)
    {
      neighbors[pair.first][pair.second] = cost;
      neighbors[pair.second][pair.first] = cost;
    }
    for (size_t i = 0; i < merges.size(); ++i)
    {
      const auto & [u, v, change] = merges[i];
      ASSERT_LT(u, v);
      ASSERT_EQ(neighbors[u].count(v), 1u) << "trial " << trial << " merge " << i;
      ASSERT_EQ(change,
                model.Describe(regions[u] + regions[v]) - model.Describe(regions[u]) - model.Describe(regions[v]) -
                  neighbors[u][v])
        << "trial " << trial << " merge " << i;
      regions[u] += regions[v];
      for (const auto & [neighbor, cost] : std::exchange(neighbors[v], {}))
      {
        neighbors[neighbor].erase(v);
        if (neighbor != u)
        {
          neighbors[u][neighbor] += cost;
          neighbors[neighbor][u] += cost;
        }
      }
    }
  }
}
