// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_partition_labels_RegionGraph_h
#define CudaFilters_partition_labels_RegionGraph_h

#include "partition/labels/GraphFunctors.h"
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
  uint32_t Cracks;        // pixel sides between the two regions where both pixels are valid; saturates at 2^32 - 1
  double   Change{ 0.0 }; // of the description by the merge, minus the gain of removing the boundary
};

using RegionLinks = std::vector<RegionLink>;

/** A CachedLaw that owns its table of parameter costs. */
class CachedModel
{
public:
  explicit CachedModel(const Model & model);
  CachedModel(const CachedModel &) = delete;
  CachedModel &
  operator=(const CachedModel &) = delete;

  double
  Describe(const Moments & m) const
  {
    return m_Law.Describe(m);
  }

private:
  const std::vector<double> m_CachedCosts;
  const CachedLaw           m_Law;
};

/** Merges links to the same region by adding their cracks, and sorts the links by region. */
void
CombineLinks(RegionLinks & links);

/** \class RegionGraph
 * \brief The region adjacency graph on the host. Regions merge in rounds.
 *
 * In a round, every region chooses the neighbour with which a merge lowers the description most, and two regions that
 * chose each other merge. Changes that are equal in single precision are ordered by the regions' numbers. A region
 * that chose one of the two joins them if JoinsPair() holds and its number is larger than the smaller one of the pair,
 * which becomes the number of the group. The groups of a round are disjoint and can be merged independently of each
 * other.
 *
 * Only regions that merged, and their neighbours, choose again, so that the late rounds have little to do. Whenever
 * half of the regions are gone, the others are renumbered in the same order, so that the data of a round stays close
 * together in memory.
 */
class RegionGraph
{
public:
  /** Unites adjacent regions of one value, because merging them one by one would take a round for each of many. Unites
   * adjacent regions without valid pixels, and merges each such group into its neighbour with the smallest number.
   * \param sums of the regions, which are numbered in the order of their first pixels
   * \param links of each region to all its neighbours, sorted by region; the two links of a pair agree
   * \param isOfOneValue for each region, whether all its valid pixels have the same value; empty if no region has
   */
  RegionGraph(const Model &                model,
              const Work &                 work,
              std::vector<Moments>         sums,
              std::vector<RegionLinks>     links,
              const std::vector<uint8_t> & isOfOneValue = {});

  /** Merges the groups of one round, and returns the number of regions that were merged into others. */
  size_t
  MergeRound();

  size_t
  GetNumberOfRegions() const
  {
    return m_NumberOfRegions;
  }

  /** Returns for each original region the number of its region, from 1 in the order of first pixels. */
  std::vector<uint32_t>
  NumberRegions() const;

  /** Returns the sums of the regions by that number; [0] has no samples. */
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

  /** The data of a region from which changes are computed. */
  struct Vertex
  {
    Moments Sums;
    double  Description{ 0.0 };
  };

  /** A set of regions. Threads may add regions concurrently. */
  class Marks
  {
  public:
    /** Groups of regions let the late rounds skip most of the flags. */
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
    /** Calls function(region) for the marked regions of a group. */
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

  const CachedModel        m_Model;
  const Work &             m_Work;
  std::vector<Vertex>      m_Vertices;
  std::vector<RegionLinks> m_Links;
  std::vector<uint32_t>    m_Parents;     // itself, or a region with a smaller number that it was merged into
  std::vector<uint32_t>    m_LastMerges;  // the round in which the region last absorbed another one
  std::vector<uint32_t>    m_NextMembers; // linked list of the group that a region merged with in that round
  std::vector<Choice>      m_Choices;
  std::vector<uint32_t>    m_Numbers;   // the current number of each original region
  Marks                    m_Stale;     // regions whose links or sums changed in the last round
  Marks                    m_NextStale; // regions whose links or sums change in this round
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
