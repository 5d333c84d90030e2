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
/** The nodes whose proposals compete, and a flag for each node whether a better conflicting proposal suppresses its
 * own. */
struct ProposalList
{
  int32_t * Nodes;        // in any order
  int32_t * IsSuppressed; // indexed by node, not by position in the list
  int32_t   Count;
  bool      HasBoxes; // whether the group has room for the bounding box of each proposal
};

/** The sums over all threads of a group. */
struct GroupSum
{
  Moments Sums;
  int32_t Number{ 0 };
};

/** \class SerialGroup
 * \brief A single host thread as the group of threads that concludes a phase (snake/Phases.h).
 *
 * All threads of a group call the same functions with the same arguments, and see the writes of the other threads
 * after the next Sync(). On the device the group is a thread block, see BlockGroup.
 */
class SerialGroup
{
public:
  /** Creates a group of the calling thread. ForEachPair() calls `atRow` before it compares a proposal with its
   * successors; `atRow` may throw. */
  explicit SerialGroup(std::function<void(size_t)> atRow = {})
    : m_AtRow(std::move(atRow))
  {}

  /** Calls the function in the first thread of the group. */
  template <typename TFunction>
  void
  RunOnFirstThread(const TFunction & function) const
  {
    function();
  }
  /** Calls the function in one other thread of the group, always the same one, concurrently with RunOnFirstThread(). */
  template <typename TFunction>
  void
  RunOnSecondThread(const TFunction & function) const
  {
    function();
  }

  void
  Sync() const
  {}

  /** Calls function(i) once for each i below `count`, in any thread of the group. */
  template <typename TFunction>
  void
  ForEach(int count, const TFunction & function) const
  {
    for (int i = 0; i < count; ++i)
    {
      function(i);
    }
  }

  /** Returns the sums of the arguments over all threads. A reference to them is valid until the next call. */
  GroupSum
  Sum(const Moments & sums, int number) const
  {
    return { sums, number };
  }

  /** Selects the nodes for which isSelected(node) holds, and clears the suppression flags of all nodes. When an
   * interrupted conclusion is resumed, returns its existing list with the flags set so far. */
  template <typename TFunction>
  ProposalList
  SelectProposals(const SnakeState & snake, const TFunction & isSelected)
  {
    ProposalList list{ snake.Proposed, snake.IsSuppressed, 0, true };
    for (int i = 0; i < snake.NumberOfNodes; ++i)
    {
      list.IsSuppressed[i] = 0;
      if (isSelected(i))
      {
        list.Nodes[list.Count++] = i;
      }
    }
    m_Boxes.resize(list.Count);
    return list;
  }

  /** Returns the bounding box of the proposal at position s of the list. */
  LatticeBox &
  GetBox(int s)
  {
    return m_Boxes[s];
  }

  /** Calls compare(s, t) once for each pair 0 <= s < t < list.Count, in any thread of the group, and waits for all
   * calls. Returns false if the time of the launch was over before all calls, in which case the conclusion of the phase
   * is interrupted. */
  template <typename TFunction>
  bool
  ForEachPair(const ProposalList & list, const TFunction & compare) const
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

  /** Calls read(i) and then write(i, item, rank) for each i below `count`, where `item` is the result of read(i), and
   * `rank` is the number of items before it with IsCounted (an exclusive prefix sum). One thread of the group makes
   * both calls for an index. read(i) returns before write() is called for i or any later index, so write() may compact
   * data in place by moving it to lower indices. Waits for all calls, and returns the number of items with IsCounted.
   */
  template <typename TRead, typename TWrite>
  int
  ForEachWithRank(int count, const TRead & read, const TWrite & write) const
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

  /** Returns whether the conclusion is interrupted. Its work so far is kept, and the caller must conclude the phase
   * again. */
  bool
  IsInterrupted() const
  {
    return false;
  }

private:
  std::function<void(size_t)> m_AtRow;
  std::vector<LatticeBox>     m_Boxes;
};

/** Runs the snake once on an image that is prepared for this run only. make(samples) creates the image from its
 * samples, and run(image, snakeRun) runs the snake on it. The times of the preparation are added to the result. */
template <typename TMake, typename TRun>
CudaRegionSnakeResult
PrepareAndRun(const CudaRegionSnakeInput &      input,
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
