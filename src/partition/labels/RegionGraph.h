// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_partition_labels_RegionGraph_h
#define CudaFilters_partition_labels_RegionGraph_h

#include "partition/labels/GraphSteps.h"
#include "partition/Model.h"
#include "partition/refine/Work.h"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace itk::cuda::partition
{
/** A neighbour of a region. */
struct RegionLink
{
  uint32_t Region;
  uint32_t Cracks;        // sides of pixels, both valid, between the two regions; 2^32 - 1 stands for more
  double   Change{ 0.0 }; // of the description by the merge, less what its boundary is worth
};

using RegionLinks = std::vector<RegionLink>;

/** A PricedLaw with the memory of its prices. */
class PricedModel
{
public:
  explicit PricedModel(const Model & model);
  PricedModel(const PricedModel &) = delete;
  PricedModel &
  operator=(const PricedModel &) = delete;

  double
  Describe(const Moments & m) const
  {
    return m_Law.Describe(m);
  }

private:
  const std::vector<double> m_Prices;
  const PricedLaw           m_Law;
};

/** Adds up the cracks of links to the same region, and puts links in the order of their regions. */
void
CombineLinks(RegionLinks & links);

/** \class RegionGraph
 * \brief Regions and their neighbours, which merge in rounds.
 *
 * In a round every region looks for the neighbour with which a merge lowers the description most, and two regions that
 * chose each other merge. Changes that are equal in single precision are ordered by the regions' numbers. A region that
 * chose one of the two joins them if JoinsPair() holds and its number is larger than the smaller one of the pair, which
 * becomes the number of the group. The groups of a round are disjoint. Merging one of them depends on nothing that
 * merging another one changes.
 *
 * Only regions that merged, and their neighbours, choose again. The last rounds of many have little to do. Whenever
 * half of the regions are gone, the others get new numbers in the same order: all that a round looks at stays close
 * together.
 */
class RegionGraph
{
public:
  /** Regions of one value that touch become one: merging them one by one would take a round for each of many.
   * Regions without valid pixels that touch each other become one, which joins its neighbour of the smallest number.
   * \param sums of the regions, which are numbered in the order of their first pixels
   * \param links of each region to all its neighbours, in the order of their numbers; those of two regions agree
   * \param isOfOneValue of each region: whether all its valid pixels are alike; empty: of none */
  RegionGraph(const Model &                model,
              const Work &                 work,
              std::vector<Moments>         sums,
              std::vector<RegionLinks>     links,
              const std::vector<uint8_t> & isOfOneValue = {});

  /** Merges the groups of one round, and returns the number of regions that became part of others. */
  size_t
  MergeRound();

  size_t
  GetNumberOfRegions() const
  {
    return m_NumberOfRegions;
  }

  /** Number, from 1, of the region to which each of the original ones belongs: in the order of first pixels. */
  std::vector<uint32_t>
  NumberRegions() const;

  /** Sums of the regions by that number; [0] has none. */
  std::vector<Moments>
  GetSums() const;

private:
  static constexpr uint32_t None = std::numeric_limits<uint32_t>::max();

  /** The best neighbour of a region, and the size of the change by their merge. */
  struct Choice
  {
    uint32_t Region{ None };
    float    Size{ 0.0f };
  };

  /** What a change asks of a region. */
  struct Vertex
  {
    Moments Sums;
    double  Description{ 0.0 };
  };

  /** Some of the regions. Threads may add any at the same time. */
  class Marks
  {
  public:
    /** Most groups have no marks in the last rounds. */
    static constexpr size_t RegionsPerGroup = 64;

    explicit Marks(size_t numberOfRegions)
      : m_Regions(numberOfRegions)
      , m_Groups((numberOfRegions + RegionsPerGroup - 1) / RegionsPerGroup)
    {}
    size_t
    GetNumberOfGroups() const
    {
      return m_Groups.size();
    }
    bool
    Has(uint32_t region) const
    {
      return m_Regions[region].load(std::memory_order_relaxed) != 0;
    }
    void
    Add(uint32_t region)
    {
      m_Regions[region].store(1, std::memory_order_relaxed);
      m_Groups[region / RegionsPerGroup].store(1, std::memory_order_relaxed);
    }
    /** Calls function(region) for the marked ones of a group. */
    template <typename TFunction>
    void
    ForEach(size_t group, const TFunction & function) const
    {
      if (m_Groups[group].load(std::memory_order_relaxed) != 0)
      {
        const size_t end = std::min((group + 1) * RegionsPerGroup, m_Regions.size());
        for (auto region = static_cast<uint32_t>(group * RegionsPerGroup); region < end; ++region)
        {
          if (this->Has(region))
          {
            function(region);
          }
        }
      }
    }
    void
    Clear(size_t group)
    {
      this->ForEach(group, [this](uint32_t region) { m_Regions[region].store(0, std::memory_order_relaxed); });
      m_Groups[group].store(0, std::memory_order_relaxed);
    }

  private:
    std::vector<std::atomic<uint8_t>> m_Regions;
    std::vector<std::atomic<uint8_t>> m_Groups;
  };

  const PricedModel        m_Model;
  const Work &             m_Work;
  std::vector<Vertex>      m_Vertices;
  std::vector<RegionLinks> m_Links;
  std::vector<uint32_t>    m_Parents;     // itself, or a region with a smaller number that it became part of
  std::vector<uint32_t>    m_LastMerges;  // the round in which it last took over another one
  std::vector<uint32_t>    m_NextMembers; // of the group that a region merged with in that round
  std::vector<Choice>      m_Choices;
  std::vector<uint32_t>    m_Numbers;   // the present number of each of the original regions
  Marks                    m_Stale;     // regions whose links or sums changed in the last round
  Marks                    m_NextStale; // in this one
  size_t                   m_NumberOfRegions;
  uint32_t                 m_Round{ 0 };

  bool
  IsLeft(uint32_t region) const
  {
    return m_Parents[region] == region;
  }
  bool
  HasMerged(uint32_t region) const
  {
    return m_LastMerges[region] == m_Round;
  }
  template <typename TPredicate>
  void
  UniteNeighbors(const std::vector<uint32_t> & regions, const TPredicate & belongTogether);
  void
  UniteRegionsOfOneValue(const std::vector<uint8_t> & isOfOneValue);
  void
  AbsorbRegionsWithoutPixels();
  void
  Contract();
  void
  Begin();
  template <typename TFunction>
  void
  ForStale(const TFunction & function) const;
  double
  Change(uint32_t region, const RegionLink & link) const;
  bool
  IsFirstOfPair(uint32_t region) const;
  size_t
  Merge(uint32_t x, uint32_t y);
  void
  AddJoining(uint32_t kept, uint32_t member);
  bool
  HasToMoveLinks(uint32_t region) const;
  void
  UpdateGroup(size_t group);
  void
  MoveLinks(uint32_t region, RegionLinks & moved);
  void
  Choose(uint32_t region, bool allAreNew);
  std::vector<uint32_t>
  NumberVertices() const;
  void
  Compact();
};
} // namespace itk::cuda::partition

#endif
