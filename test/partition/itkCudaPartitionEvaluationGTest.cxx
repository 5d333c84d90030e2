// SPDX-License-Identifier: Apache-2.0
#include "partition/refine/BestPolylines.h"
#include "partition/refine/NodeChanges.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <iostream>
#include <limits>
#include <random>
#include <vector>

// The steps that host and device share: best polylines against all polylines, candidates against a list of them.
namespace
{
using namespace itk::cuda::partition;

/** Costs of the chords between the nodes of a chain; small whole numbers, of which many sums are equal. */
class Chords
{
public:
  Chords(size_t edges, std::mt19937_64 & engine)
    : m_Number(edges + 1)
    , m_Costs(m_Number * m_Number)
  {
    for (double & cost : m_Costs)
    {
      cost = engine() % 8 == 0 ? InfiniteCost : static_cast<double>(engine() % 7) - 2.0;
    }
    for (size_t i = 0; i < edges; ++i)
    {
      m_Costs[i * m_Number + i + 1] = 3.0; // the chain itself is possible
    }
  }
  double
  operator()(size_t i, size_t j) const
  {
    return j - i <= ChainWindow ? m_Costs[i * m_Number + j] : InfiniteCost;
  }

private:
  size_t              m_Number;
  std::vector<double> m_Costs;
};

/** The least cost of the polylines from node 0 to node j, each of which is looked at. */
double
LeastCost(const Chords & chords, size_t j)
{
  double least = j == 0 ? 0.0 : InfiniteCost;
  for (size_t i = 0; i < j; ++i)
  {
    least = std::min(least, LeastCost(chords, i) + chords(i, j));
  }
  return least;
}
} // namespace

TEST(PartitionEvaluation, BestPolylinesAreTheBestOfAll)
{
  constexpr uint64_t seed = 841;
  std::cout << "seed " << seed << std::endl;
  std::mt19937_64 engine(seed);
  for (int i = 0; i < 200; ++i)
  {
    const size_t         edges = 1 + engine() % 12;
    const Chords         chords(edges, engine);
    std::vector<double>  costs(edges + 1, std::numeric_limits<double>::quiet_NaN());
    std::vector<uint8_t> spans(edges + 1, 0);
    FindBestPolylines(edges, chords, costs.data(), spans.data());
    for (size_t j = 0; j <= edges; ++j)
    {
      ASSERT_EQ(costs[j], LeastCost(chords, j)) << "scene " << i << ", node " << j;
    }
    for (size_t j = 1; j <= edges; ++j)
    {
      const size_t from = j - spans[j];
      ASSERT_LT(from, j) << "scene " << i;
      ASSERT_EQ(costs[j], costs[from] + chords(from, j)) << "scene " << i << ", node " << j;
      for (size_t earlier = 0; earlier < from; ++earlier)
      {
        ASSERT_GT(costs[earlier] + chords(earlier, j), costs[j]) << "scene " << i << ", node " << j;
      }
    }
  }
}

TEST(PartitionEvaluation, NoChordSpansMoreThanTheWindow)
{
  constexpr size_t     edges = 3 * ChainWindow + 5;
  std::vector<double>  costs(edges + 1);
  std::vector<uint8_t> spans(edges + 1);
  FindBestPolylines(
    edges,
    [](size_t i, size_t j) {
      EXPECT_TRUE(i < j && j - i <= ChainWindow) << i << " to " << j;
      return 1.0;
    },
    costs.data(),
    spans.data());
  EXPECT_EQ(costs[edges], 4.0);
  EXPECT_EQ(spans[edges], ChainWindow);
}

TEST(PartitionEvaluation, CandidatesGoAllWays)
{
  const std::array<std::array<int32_t, 2>, NumberOfDirections> directions{
    { { 1, 0 }, { 1, 1 }, { 0, 1 }, { -1, 1 }, { -1, 0 }, { -1, -1 }, { 0, -1 }, { 1, -1 } }
  };
  for (int i = 0; i < NumberOfCandidates; ++i)
  {
    const int32_t distance = i < 8 ? 1 : i < 16 ? 2 : 4;
    const auto &  direction = directions[static_cast<size_t>(i % NumberOfDirections)];
    const auto    candidate = CandidateOf({ 10, 20 }, i);
    EXPECT_EQ(candidate.X, 10 + distance * direction[0]) << i;
    EXPECT_EQ(candidate.Y, 20 + distance * direction[1]) << i;
  }
}

TEST(PartitionEvaluation, MovesGainWhatTheTangentsSay)
{
  const LinearForm tangents[] = { {}, { 1.0, -0.5, 0.25 }, { -2.0, 0.125, 0.0 } };
  MovingNode       node{ { 5, 5 }, 2, {} };
  node.Edges[0] = { { 0, 0 }, 1, 2, {} };
  node.Edges[1] = { { 9, 9 }, 2, 0, {} };
  const Moments changes[] = { { 3, 4, 8 }, { 1, static_cast<uint64_t>(-16), 0 } };
  const auto    deltaCost = [&](double factor) {
    return DeltaCostOfMove(node, tangents, [&](uint32_t j) {
      return Moments{ static_cast<int64_t>(factor) * changes[j].Count,
                      static_cast<uint64_t>(static_cast<int64_t>(factor)) * changes[j].Sum,
                      static_cast<uint64_t>(static_cast<int64_t>(factor)) * changes[j].SumOfSquares };
    });
  };
  // Edge 0: (3 - 2 + 2) - (-6 + 0.5), edge 1: -2 - 2
  EXPECT_EQ(deltaCost(-1.0), -4.5);
  EXPECT_EQ(deltaCost(1.0), 0.0); // it does not gain
  EXPECT_EQ(deltaCost(0.0), 0.0);
}
