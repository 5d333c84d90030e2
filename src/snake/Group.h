// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_snake_Group_h
#define CudaFilters_snake_Group_h

#include "region/Lattice.h"
#include "snake/Core.h"
#include "snake/State.h"
#include "snake/Run.h"
#include "snake/Image.h"
#include "snake/Plan.h"

#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

namespace itk::cuda::snake
{
/** The nodes with a proposal that compete, and which of them others suppress. */
struct ProposalList
{
  int32_t * Nodes;        // in any order
  int32_t * IsSuppressed; // by node
  int32_t   Count;
  bool      HasBoxes; // whether the group has room for a box of each proposal
};

/** The sums of a group's threads. */
struct GroupSum
{
  Moments Sums;
  int32_t Number{ 0 };
};

/** \class SerialGroup
 * \brief The host's thread as the group of threads that draws the conclusion of a phase (snake/Phases.h).
 *
 * All threads of a group call the same functions with the same arguments. After the next Sync() they see what the other
 * threads have written. On the device the group is a block, BlockGroup.
 */
class SerialGroup
{
public:
  /** `atRow` is called before each row of the pairs that ForPairs() goes through; it may throw. */
  explicit SerialGroup(std::function<void(size_t)> atRow = {})
    : m_AtRow(std::move(atRow))
  {}

  /** By one thread. */
  template <typename TFunction>
  void
  OnFirst(const TFunction & function) const
  {
    function();
  }
  /** Calls the function in one other thread, at the same time. */
  template <typename TFunction>
  void
  OnSecond(const TFunction & function) const
  {
    function();
  }

  void
  Sync() const
  {}

  /** Calls function(i) for 0 <= i < count, each by any thread. */
  template <typename TFunction>
  void
  ForEach(int count, const TFunction & function) const
  {
    for (int i = 0; i < count; ++i)
    {
      function(i);
    }
  }

  /** Sums of the arguments of all threads, until the next call. */
  GroupSum
  Sum(const Moments & sums, int number) const
  {
    return { sums, number };
  }

  /** Lists the nodes for which isListed(node) holds, none of them suppressed. A conclusion that was interrupted gets
   * the list that it left. */
  template <typename TFunction>
  ProposalList
  List(const SnakeState & snake, const TFunction & isListed)
  {
    ProposalList list{ snake.Proposed, snake.IsSuppressed, 0, true };
    for (int i = 0; i < snake.NumberOfNodes; ++i)
    {
      list.IsSuppressed[i] = 0;
      if (isListed(i))
      {
        list.Nodes[list.Count++] = i;
      }
    }
    m_Boxes.resize(list.Count);
    return list;
  }

  /** The box of number s of the list. */
  LatticeBox &
  GetBox(int s)
  {
    return m_Boxes[s];
  }

  /** Calls compare(s, t) for 0 <= s < t < list.Count, each by any thread, and waits for all of them. Returns whether
   * there was time for all calls. If there was not, the conclusion is interrupted. */
  template <typename TFunction>
  bool
  ForPairs(const ProposalList & list, const TFunction & compare) const
  {
    for (int s = 0; s < list.Count; ++s)
    {
      if (m_AtRow)
      {
        m_AtRow(static_cast<size_t>(s));
      }
      for (int t = s + 1; t < list.Count; ++t)
      {
        compare(s, t);
      }
    }
    return true;
  }

  /** Calls write(i, item, rank) for 0 <= i < count, each by any thread: `item` is what read(i) returned, `rank` the
   * number of indices before i whose item is counted. An index is read before anything is written for it or for a later
   * index. Waits for all calls and returns the number of counted items. */
  template <typename TRead, typename TWrite>
  int
  ForRanks(int count, const TRead & read, const TWrite & write) const
  {
    int rank = 0;
    for (int i = 0; i < count; ++i)
    {
      const auto item = read(i);
      write(i, item, rank);
      rank += item.IsCounted ? 1 : 0;
    }
    return rank;
  }

  /** Whether the conclusion is interrupted. Its work so far is kept, and it must be drawn again. */
  bool
  IsInterrupted() const
  {
    return false;
  }

private:
  std::function<void(size_t)> m_AtRow;
  std::vector<LatticeBox>     m_Boxes;
};

/** One run on an image that is prepared for it alone. `make` makes the image of its samples, run(image, snakeRun) runs
 * the snake on it. */
template <typename TMake, typename TRun>
CudaRegionSnakeResult
RunOnce(const CudaRegionSnakeInput &      input,
        const CudaRegionSnakeParameters & parameters,
        const CudaRegionSnakeObserver &   observer,
        const Threads &                   threads,
        const TMake &                     make,
        const TRun &                      run)
{
  CheckSnakeParameters(parameters);
  CheckSnakeInput(input);
  const double timeOfSamples = GetSeconds();
  Samples      samples = MakeSamples(input, parameters, threads);
  CheckNumberOfValidPixels(parameters, samples.NumberOfValidPixels);
  const double          timeOfSums = GetSeconds();
  const auto            image = make(std::move(samples));
  const double          timeOfRun = GetSeconds();
  const SnakeRun        snakeRun{ parameters, {}, input.StartPolygon, input.StartMask, observer };
  CudaRegionSnakeResult result = run(image, snakeRun);
  result.SecondsOfSamples = timeOfSums - timeOfSamples;
  result.SecondsOfSums += timeOfRun - timeOfSums;
  return result;
}
} // namespace itk::cuda::snake

#endif
