// SPDX-License-Identifier: Apache-2.0
#include "snake/Phases.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <condition_variable>
#include <cstdint>
#include <iostream>
#include <mutex>
#include <numeric>
#include <random>
#include <thread>
#include <tuple>
#include <vector>

// The conclusions of phases by several threads, as a block of the device draws them, beside those of one thread.
namespace
{
using namespace itk::cuda::snake;
using itk::CudaRegionSnakeStep;
using itk::CudaSnakePolygon;
using Random = std::mt19937;

int
Draw(Random & random, int choices)
{
  return static_cast<int>(random() % static_cast<unsigned int>(choices));
}

/** A state with its arrays, and what the host or the device would propose. */
class TestSnake
{
public:
  SnakeState State;

  TestSnake(const SnakePlan & plan, const LawDescription & law, const CudaSnakePolygon & start)
    : m_Polygons{ std::vector<LatticePoint>(Capacity), std::vector<LatticePoint>(Capacity) }
  {
    State.Plan = plan;
    State.Law = law;
    State.Total = { 1000000, 70000000, 5800000000 };
    State.Begin(SnakeControl(plan, 0), static_cast<int32_t>(start.size()));
    std::copy(start.begin(), start.end(), m_Polygons[0].begin());
    this->SetPointers();
    State.ItemSums[0] = { 250000, 25000000, 2600000000 };
  }

  TestSnake(const TestSnake & other) { *this = other; }
  TestSnake &
  operator=(const TestSnake & other)
  {
    State = other.State;
    m_Polygons[0] = other.m_Polygons[0];
    m_Polygons[1] = other.m_Polygons[1];
    m_Changes = other.m_Changes;
    m_ItemSums = other.m_ItemSums;
    m_Rows = other.m_Rows;
    m_IsStale = other.m_IsStale;
    m_Proposed = other.m_Proposed;
    m_IsSuppressed = other.m_IsSuppressed;
    m_Slots = other.m_Slots;
    m_Record = other.m_Record;
    this->SetPointers();
    return *this;
  }

  LatticePoint *
  GetPolygon() const
  {
    return State.Polygons[State.Current];
  }

  /** Random proposals of the phase that comes next, many of them as good as others. */
  void
  Propose(Random & random)
  {
    const int n = State.NumberOfNodes;
    for (int i = 0; i < n; ++i)
    {
      const LatticePoint p = this->GetPolygon()[i];
      const LatticePoint q = this->GetPolygon()[Next(i, n)];
      const Moments      change = DrawChange(random);
      Proposal &         slot = State.Proposals[i];
      State.IsStale[i] = Draw(random, SnakeState::AllCaches + 1);
      slot = { -1, p, 0.0, change };
      if (State.Control.Next == SnakeControl::Phase::Insert)
      {
        const bool exact = MidpointIsExact(p, q);
        slot = { Draw(random, 3) == 0 ? -1 : i, MidpointOf(p, q), exact ? 1.0 : 0.0, exact ? Moments{} : change };
      }
      else
      {
        const bool removal = State.Control.Next == SnakeControl::Phase::Remove;
        slot.NumberOfRemovedNodes =
          removal ? 1 + Draw(random, std::max(1, std::min(State.Control.MaximumRun, n - 3))) : 1;
        slot.Position.X += Draw(random, 41) - 20;
        slot.Position.Y += Draw(random, 41) - 20;
        slot.DeltaCost =
          removal ? State.DeltaCostOfRemoval(change, slot.NumberOfRemovedNodes) : State.DeltaCostOf(change);
        slot.Node = slot.DeltaCost < 0.0 ? i : -1;
      }
    }
  }

private:
  static constexpr int Capacity = 2048;

  std::vector<LatticePoint>        m_Polygons[2];
  std::vector<Moments>             m_Changes = std::vector<Moments>(1);
  std::vector<Moments>             m_ItemSums = std::vector<Moments>(1);
  std::vector<int32_t>             m_Rows = std::vector<int32_t>(Capacity);
  std::vector<int32_t>             m_IsStale = std::vector<int32_t>(Capacity);
  std::vector<int32_t>             m_Proposed = std::vector<int32_t>(Capacity);
  std::vector<int32_t>             m_IsSuppressed = std::vector<int32_t>(Capacity);
  std::vector<Proposal>            m_Slots = std::vector<Proposal>(Capacity);
  std::vector<CudaRegionSnakeStep> m_Record = std::vector<CudaRegionSnakeStep>(64);

  /** Of a few bright or dark pixels, more or fewer. */
  static Moments
  DrawChange(Random & random)
  {
    const int64_t  count = 50 * (Draw(random, 9) - 4);
    const uint64_t value = Draw(random, 2) == 0 ? 60 : 100;
    const auto     number = static_cast<uint64_t>(count);
    return { count, number * value, number * value * value };
  }

  void
  SetPointers()
  {
    State.Polygons[0] = m_Polygons[0].data();
    State.Polygons[1] = m_Polygons[1].data();
    State.Changes[0] = State.Changes[1] = m_Changes.data();
    State.ItemSums = m_ItemSums.data();
    State.CacheRows = m_Rows.data();
    State.IsStale = m_IsStale.data();
    State.Proposed = m_Proposed.data();
    State.IsSuppressed = m_IsSuppressed.data();
    State.Proposals = m_Slots.data();
    State.Record = m_Record.data();
    State.RecordCapacity = static_cast<uint32_t>(m_Record.size());
  }
};

/** What the threads of a group share. They run one at a time, in an order that changes whenever they meet: where a
 * meeting is missing, they come to another result. */
class Team
{
public:
  const int             Number;
  GroupSum              Sum;
  std::vector<GroupSum> Sums;
  std::vector<int>      Counted;
  int                   Count{ 0 };

  Team(int number, unsigned int seed)
    : Number(number)
    , Sums(static_cast<size_t>(number))
    , Counted(static_cast<size_t>(number))
    , m_Random(seed)
    , m_Order(static_cast<size_t>(number))
    , m_Conditions(static_cast<size_t>(number))
  {
    std::iota(m_Order.begin(), m_Order.end(), 0);
  }

  void
  Begin(int thread)
  {
    std::unique_lock<std::mutex> lock(m_Mutex);
    m_Conditions[thread].wait(lock, [&] { return m_Order[m_Turn] == thread; });
  }
  void
  Meet(int thread)
  {
    std::unique_lock<std::mutex> lock(m_Mutex);
    const size_t                 round = m_Round;
    this->Pass();
    m_Conditions[thread].wait(lock, [&] { return m_Round != round && m_Order[m_Turn] == thread; });
  }
  void
  End()
  {
    const std::lock_guard<std::mutex> lock(m_Mutex);
    this->Pass();
  }

private:
  Random           m_Random;
  std::vector<int> m_Order;
  size_t           m_Turn{ 0 };
  size_t           m_Round{ 0 };
  std::mutex       m_Mutex;

  std::vector<std::condition_variable> m_Conditions;

  void
  Pass()
  {
    if (++m_Turn == m_Order.size())
    {
      m_Turn = 0;
      ++m_Round;
      std::shuffle(m_Order.begin(), m_Order.end(), m_Random);
    }
    m_Conditions[m_Order[m_Turn]].notify_one();
  }
};

/** One of several threads as a member of a group, as a thread of a block is on the device. */
class ThreadGroup
{
public:
  ThreadGroup(Team & team, std::vector<LatticeBox> & boxes, int thread)
    : m_Team(team)
    , m_Boxes(boxes)
    , m_Thread(thread)
  {}

  template <typename TFunction>
  void
  RunOnFirstThread(const TFunction & function) const
  {
    if (m_Thread == 0)
    {
      function();
    }
  }
  template <typename TFunction>
  void
  RunOnSecondThread(const TFunction & function) const
  {
    if (m_Thread == m_Team.Number - 1)
    {
      function();
    }
  }
  void
  Sync() const
  {
    m_Team.Meet(m_Thread);
  }
  template <typename TFunction>
  void
  ForEach(int count, const TFunction & function) const
  {
    for (int i = m_Thread; i < count; i += m_Team.Number)
    {
      function(i);
    }
  }
  const GroupSum &
  Sum(const Moments & sums, int number) const
  {
    m_Team.Sums[m_Thread].Sums = sums;
    m_Team.Sums[m_Thread].Number = number;
    this->Sync();
    this->RunOnFirstThread([&] {
      m_Team.Sum = GroupSum();
      for (const GroupSum & sum : m_Team.Sums)
      {
        m_Team.Sum.Sums += sum.Sums;
        m_Team.Sum.Number += sum.Number;
      }
    });
    this->Sync();
    return m_Team.Sum;
  }
  template <typename TFunction>
  ProposalList
  SelectProposals(const SnakeState & snake, const TFunction & isSelected) const
  {
    ProposalList list{ snake.Proposed, snake.IsSuppressed, 0, !m_Boxes.empty() };
    this->RunOnFirstThread([&] { m_Team.Count = 0; });
    this->Sync();
    this->ForEach(snake.NumberOfNodes, [&](int i) {
      list.IsSuppressed[i] = 0;
      if (isSelected(i))
      {
        list.Nodes[m_Team.Count++] = i;
      }
    });
    this->Sync();
    list.Count = m_Team.Count;
    return list;
  }
  LatticeBox &
  GetBox(int s) const
  {
    return m_Boxes[s];
  }
  template <typename TFunction>
  bool
  ForEachPair(const ProposalList & list, const TFunction & compare) const
  {
    this->ForEach(list.Count, [&](int s) {
      for (int t = s + 1; t < list.Count; ++t)
      {
        compare(s, t);
      }
    });
    this->Sync();
    return true;
  }
  template <typename TRead, typename TWrite>
  int
  ForEachWithRank(int count, const TRead & read, const TWrite & write) const
  {
    int before = 0;
    for (int base = 0; base < count; base += m_Team.Number)
    {
      const int  i = base + m_Thread;
      const auto item = i < count ? read(i) : decltype(read(i))();
      m_Team.Counted[m_Thread] = item.IsCounted ? 1 : 0;
      this->Sync();
      const auto own = m_Team.Counted.begin() + m_Thread;
      const int  rank = std::accumulate(m_Team.Counted.begin(), own, before);
      before = std::accumulate(own, m_Team.Counted.end(), rank);
      this->Sync();
      if (i < count)
      {
        write(i, item, rank);
      }
    }
    return before;
  }
  bool
  IsInterrupted() const
  {
    return false;
  }

private:
  Team &                    m_Team;
  std::vector<LatticeBox> & m_Boxes;
  const int                 m_Thread;
};

/** The host's thread, whose conclusion is interrupted after each row of the list. */
class InterruptedGroup : public SerialGroup
{
public:
  template <typename TFunction>
  ProposalList
  SelectProposals(const SnakeState & snake, const TFunction & isSelected)
  {
    m_List = m_Row > 0 ? m_List : SerialGroup::SelectProposals(snake, isSelected);
    return m_List;
  }
  template <typename TFunction>
  bool
  ForEachPair(const ProposalList & list, const TFunction & compare)
  {
    for (int t = m_Row + 1; t < list.Count; ++t)
    {
      compare(m_Row, t);
    }
    m_Row = m_Row + 1 < list.Count ? m_Row + 1 : 0;
    return m_Row == 0;
  }
  bool
  IsInterrupted() const
  {
    return m_Row > 0;
  }

private:
  ProposalList m_List{};
  int          m_Row{ 0 };
};

void
ConcludeByThreads(TestSnake & snake, int number, bool boxes, unsigned int seed)
{
  Team                     team(number, seed);
  std::vector<LatticeBox>  room(boxes ? static_cast<size_t>(snake.State.NumberOfNodes) : 0);
  std::vector<std::thread> threads;
  for (int thread = 0; thread < number; ++thread)
  {
    threads.emplace_back([&, thread] {
      team.Begin(thread);
      ThreadGroup group(team, room, thread);
      Conclude(group, snake.State, snake.GetPolygon());
      PreparePolygon(group, snake.State);
      team.End();
    });
  }
  for (std::thread & thread : threads)
  {
    thread.join();
  }
}

void
ConcludeInPieces(TestSnake & snake, int & interruptions)
{
  InterruptedGroup group;
  do
  {
    Conclude(group, snake.State, snake.GetPolygon());
    interruptions += group.IsInterrupted() ? 1 : 0;
  } while (group.IsInterrupted());
  PreparePolygon(group, snake.State);
}

void
ExpectSame(const TestSnake & expected, const TestSnake & found)
{
  const SnakeState & a = expected.State;
  const SnakeState & b = found.State;
  ASSERT_EQ(a.NumberOfNodes, b.NumberOfNodes);
  EXPECT_TRUE(a.Sums == b.Sums);
  EXPECT_EQ(a.Criterion, b.Criterion);
  EXPECT_EQ(a.RecordedCriterion, b.RecordedCriterion);
  const auto stateOf = [](const SnakeState & s) {
    const SnakeControl & c = s.Control;
    return std::tuple(s.Tangent.Count,
                      s.Tangent.Sum,
                      s.Tangent.SumOfSquares,
                      s.Accepted,
                      s.AllStale,
                      s.Exponent,
                      c.Next,
                      c.Level,
                      c.Step,
                      c.Color,
                      c.MaximumRun,
                      c.Iterations,
                      c.Stop);
  };
  EXPECT_EQ(stateOf(a), stateOf(b));
  for (int i = 0; i < a.NumberOfNodes; ++i)
  {
    ASSERT_TRUE(expected.GetPolygon()[i] == found.GetPolygon()[i]) << "node " << i;
    ASSERT_EQ(a.IsStale[i], b.IsStale[i]) << "node " << i;
    ASSERT_EQ(a.CacheRows[i], b.CacheRows[i]) << "node " << i;
  }
  ASSERT_EQ(a.NumberOfEntries, b.NumberOfEntries);
  for (uint32_t i = 0; i < a.NumberOfEntries; ++i)
  {
    const auto stepOf = [](const CudaRegionSnakeStep & step) {
      return std::tuple(step.What, step.NumberOfNodes, step.Criterion, step.Change);
    };
    EXPECT_EQ(stepOf(a.Record[i]), stepOf(b.Record[i])) << "entry " << i;
  }
}

/** A polygon around a point, with edges of a few cells or of many. */
CudaSnakePolygon
MakeStar(Random & random, int nodes)
{
  CudaSnakePolygon polygon;
  for (int i = 0; i < nodes; ++i)
  {
    const double angle = 2.0 * 3.141592653589793 * i / nodes;
    const double radius = 100.0 + Draw(random, 60);
    polygon.push_back({ 500 + static_cast<int32_t>(std::lround(radius * std::cos(angle))),
                        500 + static_cast<int32_t>(std::lround(radius * std::sin(angle))) });
  }
  return polygon;
}

TestSnake
MakeTestSnake(Random & random)
{
  SnakePlan plan;
  plan.NumberOfLevels = 2;
  plan.Exponent[0] = 1;
  plan.FirstStep = 2;
  plan.InTurns = Draw(random, 2) == 0;
  plan.Removal = true;
  plan.NodeCost = Draw(random, 2) == 0 ? 20.0 : 1000.0;
  plan.MinimumGain = 1e-6;
  plan.MinimumRegionSize = Draw(random, 2) == 0 ? 249850 : 16;
  plan.MaximumNumberOfIterations = 20;
  const int nodes[] = { 3, 4, 5, 12, 40, 150 };
  const int n = nodes[Draw(random, 6)];
  plan.MaximumNumberOfNodes = static_cast<uint32_t>(n + Draw(random, 2 * n));
  LawDescription law;
  law.Law = static_cast<NoiseLaw>(Draw(random, 6));
  law.NumberOfValidPixels = 1000000;
  if (law.Law == NoiseLaw::Bernoulli) // of sums that the test has not
  {
    law.Law = NoiseLaw::Gaussian;
  }
  return TestSnake(plan, law, MakeStar(random, n));
}

/** What the phases of a test came to, so that it knows what it has seen. */
struct Seen
{
  int Kinds[4]{};
  int OneAlone{ 0 };
  int Interruptions{ 0 };
};

/** Any of the phases that make proposals, whatever the schedule says. */
void
ChoosePhase(Random & random, SnakeControl & control)
{
  using Phase = SnakeControl::Phase;
  constexpr Phase phases[] = { Phase::Move, Phase::Insert, Phase::Remove };
  control.Next = phases[Draw(random, 3)];
  control.MaximumRun = Draw(random, 2) == 0 ? 1 : MaximumRemovedRun;
}

/** Runs phases on random proposals by one thread; each also by `byOthers`, from the same state. */
template <typename TByOthers>
void
ComparePhases(Random & random, Seen & seen, const TByOthers & byOthers)
{
  constexpr int phases = 12;
  TestSnake     snake = MakeTestSnake(random);
  SerialGroup   serial;
  for (int phase = 0; phase < phases; ++phase)
  {
    if (snake.State.Control.Next != SnakeControl::Phase::Measure)
    {
      ChoosePhase(random, snake.State.Control);
      snake.Propose(random);
    }
    snake.State.ItemSums[0] = snake.State.Sums.Count > 0 ? snake.State.Sums : snake.State.ItemSums[0];
    const uint32_t entries = snake.State.NumberOfEntries;
    TestSnake      others = snake;
    Conclude(serial, snake.State, snake.GetPolygon());
    PreparePolygon(serial, snake.State);
    byOthers(others);
    ExpectSame(snake, others);
    if (::testing::Test::HasFailure())
    {
      FAIL() << "phase " << phase;
    }
    if (snake.State.NumberOfEntries > entries)
    {
      ++seen.Kinds[static_cast<int>(snake.State.Record[entries].What)];
    }
    seen.OneAlone += snake.State.Accepted >= 0 ? 1 : 0;
  }
}

void
ExpectAllKinds(const Seen & seen)
{
  EXPECT_GT(*std::min_element(seen.Kinds, seen.Kinds + 4), 10) << "every kind of entry was to be seen";
  EXPECT_GT(seen.OneAlone, 10);
}
} // namespace

TEST(CudaSnakePhases, ThreadsOfAGroupConcludeAsOneDoes)
{
  constexpr unsigned int seed = 20261;
  std::cout << "seed " << seed << std::endl;
  Random random(seed);
  Seen   seen;
  for (const int number : { 1, 2, 3, 7 })
  {
    for (int run = 0; run < 25; ++run)
    {
      ComparePhases(random, seen, [&](TestSnake & snake) { ConcludeByThreads(snake, number, run % 2 == 0, random()); });
      if (HasFatalFailure())
      {
        FAIL() << number << " threads, run " << run;
      }
    }
  }
  ExpectAllKinds(seen);
}

TEST(CudaSnakePhases, InterruptedConclusionsComeToTheSame)
{
  constexpr unsigned int seed = 20262;
  std::cout << "seed " << seed << std::endl;
  Random random(seed);
  Seen   seen;
  for (int run = 0; run < 300; ++run)
  {
    ComparePhases(random, seen, [&](TestSnake & snake) { ConcludeInPieces(snake, seen.Interruptions); });
    if (HasFatalFailure())
    {
      FAIL() << "run " << run;
    }
  }
  ExpectAllKinds(seen);
  EXPECT_GT(seen.Interruptions, 100);
}

TEST(CudaSnakePhases, AFullRecordTakesNoEntry)
{
  Random    random(1);
  TestSnake snake = MakeTestSnake(random);
  snake.State.RecordCapacity = 0;
  SerialGroup group;
  Conclude(group, snake.State, snake.GetPolygon());
  EXPECT_EQ(snake.State.NumberOfEntries, 0u);
  EXPECT_EQ(snake.State.RecordedCriterion, snake.State.Criterion);
  EXPECT_EQ(snake.State.Control.Next, SnakeControl::Phase::Move);
}
