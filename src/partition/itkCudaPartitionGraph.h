// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaPartitionGraph_h
#define itkCudaPartitionGraph_h

#include "itkCudaPartitionGraphSteps.h"
#include "itkCudaPartitionModel.h"
#include "itkCudaPartitionWork.h"

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

/** Adds up the cracks of links to the same region, and puts links in the order of their regions. */
void
CombineLinks(RegionLinks & links);

/** \class RegionGraph
 * \brief Regions and their neighbours, which merge in rounds.
 *
 * In a round every region looks for the neighbour with which a merge lowers the description most, and two regions that
 * chose each other merge. Equal changes are ordered by the regions' numbers. The pairs of a round are disjoint, and
 * what a pair does depends on nothing that another pair changes.
 *
 * Only regions that merged, and their neighbours, choose again. The last rounds of many have little to do.
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

  /** Merges the pairs of one round, and returns their number. */
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

  struct Pair
  {
    uint32_t Kept; // the smaller number
    uint32_t Merged;
  };

  /** What became of a region in this round. */
  enum class State : uint8_t
  {
    Same,
    Merged, // it took over another one
    Gone    // it became part of another one, in this round or before
  };

  const Model &                     m_Model;
  const Work &                      m_Work;
  std::vector<Moments>              m_Sums;
  std::vector<RegionLinks>          m_Links;
  std::vector<double>               m_Descriptions;
  std::vector<uint32_t>             m_Parents; // itself, or a region with a smaller number that it became part of
  std::vector<uint32_t>             m_Choices;
  std::vector<State>                m_States;
  std::vector<std::atomic<uint8_t>> m_IsStale; // its links or its sums changed
  std::vector<uint32_t>             m_Stale;
  size_t                            m_NumberOfRegions;

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
  double
  Change(uint32_t region, const RegionLink & link) const;
  uint32_t
  Choose(uint32_t region) const;
  std::vector<Pair>
  FindPairs() const;
  void
  MarkNeighbors(uint32_t region, std::vector<uint32_t> & marked);
  void
  JoinLinks(uint32_t region);
  void
  MoveLinks(RegionLinks & links) const;
  void
  UpdateLinks(uint32_t region);
};
} // namespace itk::cuda::partition

#endif
