// SPDX-License-Identifier: Apache-2.0
#include "partition/refine/Refinement.h"

#include <algorithm>

namespace itk::cuda::partition
{
Refinement::Refinement(MapData &               map,
                       const region::Level &   pixels,
                       const Model &           model,
                       const RefinementPlan &  plan,
                       const region::Threads & threads)
  : Map(map)
  , Pixels(pixels)
  , Description(model)
  , Plan(plan)
  , Threads(threads)
  , Grid(map.Width, map.Height)
  , Cells(map.Width, map.Height)
  , m_Tangents(map.Regions.size())
  , m_Losses(map.Regions.size(), 0)
  , m_BestKeys(map.Regions.size(), ~uint64_t{ 0 })
  , m_Random(plan.ShuffleSeed)
{}

void
Refinement::CompactIfSparse()
{
  const auto removed =
    std::count_if(Map.Edges.begin(), Map.Edges.end(), [](const MapEdge & edge) { return !edge.IsAlive(); });
  if (static_cast<size_t>(removed) > Map.Edges.size() / 8)
  {
    CompactMap(Map);
    Grid.Discard();
  }
}

bool
Refinement::BeginRound()
{
  if (Plan.GoOn && !Plan.GoOn())
  {
    return false;
  }
  Threads.ForRanges(Map.Regions.size(), 1024, [this](size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i)
    {
      m_Tangents[i] = Map.IsRegion[i] != 0 ? Description.Linearize(Map.Regions[i]) : LinearForm{};
    }
  });
  Grid.Update(Map, Threads);
  return true;
}

/** Selects the winners. If they together would take too many pixels from a region, only the best one that takes any is
 * kept. */
std::vector<size_t>
Refinement::RefuseLosses(const std::vector<RankedProposal> & proposals, const std::vector<uint8_t> & wins)
{
  std::vector<size_t> winners;
  for (size_t i = 0; i < proposals.size(); ++i)
  {
    if (wins[i] != 0)
    {
      winners.push_back(i);
    }
  }
  const auto forLosses = [&](const auto & function) {
    for (const size_t i : winners)
    {
      for (const CountChanges::Entry & entry : proposals[i].Counts)
      {
        if (entry.Region != Outside && entry.Change < 0)
        {
          function(proposals[i], entry);
        }
      }
    }
  };
  forLosses([this](const RankedProposal & bid, const CountChanges::Entry & entry) {
    m_Losses[entry.Region] -= entry.Change;
    m_BestKeys[entry.Region] = std::min(m_BestKeys[entry.Region], bid.GetKey());
  });
  std::vector<size_t> admitted;
  std::copy_if(winners.begin(), winners.end(), std::back_inserter(admitted), [&](size_t i) {
    return std::all_of(proposals[i].Counts.begin(), proposals[i].Counts.end(), [&](const CountChanges::Entry & entry) {
      return entry.Region == Outside || entry.Change >= 0 ||
             !LosesTooMuch(Map.Regions[entry.Region], m_Losses[entry.Region], Plan.MinimumNumberOfPixels) ||
             m_BestKeys[entry.Region] == proposals[i].GetKey();
    });
  });
  forLosses([this](const RankedProposal &, const CountChanges::Entry & entry) {
    m_Losses[entry.Region] = 0;
    m_BestKeys[entry.Region] = ~uint64_t{ 0 };
  });
  std::sort(admitted.begin(), admitted.end(), [&](size_t i, size_t j) { return proposals[i].Id < proposals[j].Id; });
  return admitted;
}

/** Draws a random number below `number` with the generator of Knuth's MMIX. */
size_t
Refinement::DrawIndex(size_t number)
{
  m_Random = m_Random * 6364136223846793005u + 1442695040888963407u;
  return static_cast<size_t>((m_Random >> 32) % number);
}
} // namespace itk::cuda::partition
