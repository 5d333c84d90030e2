// SPDX-License-Identifier: Apache-2.0
#include "itkCudaSnakeHost.h"
#include "itkCudaSnakeRectangles.h"

#include <algorithm>
#include <chrono>

namespace itk::cuda::snake
{
namespace
{
/** Rows of edges that are worth another piece of work for a thread: about 50 microseconds. */
constexpr size_t RowsPerPiece = 2048;

// What keeps the time between two reports of progress below a quarter of a second: seconds between reports; steps of a
// thread (tests of edges, rows) until it is asked whether one is due, a tenth of a second at most; and nodes whose
// pairs with 65,536 others take less.
constexpr double SecondsBetweenReports = 0.05;
constexpr size_t StepsBetweenReports = size_t{ 1 } << 24;
constexpr size_t NodesBetweenReports = 64;

/** Ends a run inside a phase. */
struct Aborted
{};

double
SecondsNow()
{
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/** `beforeEdge` is called before the sums of each edge. */
template <typename TFunction>
Moments
SumPolygonOn(const Level & level, const CudaSnakePolygon & polygon, const TFunction & beforeEdge)
{
  Moments   sums;
  const int n = static_cast<int>(polygon.size());
  for (int i = 0; i < n; ++i)
  {
    beforeEdge(static_cast<size_t>(i));
    sums += level.SumEdge(polygon[i], polygon[Next(i, n)]);
  }
  return sums;
}
} // namespace

Moments
HostSnakeBackend::SumPolygon(const CudaSnakePolygon & polygon, uint32_t exponent)
{
  return SumPolygonOn(m_Tables.GetLevel(exponent), polygon, [](size_t) {});
}

CudaSnakePolygon
HostSnakeBackend::SearchRectangle()
{
  return FindBestRectangle(
    m_Tables.GetLevel(m_Plan.Exponent[0]), m_Tables.GetTotal(), m_Law, m_Plan.MinimumRegionSize, m_Threads);
}

SnakeOutcome
HostSnakeBackend::Run(const CudaSnakePolygon & start,
                      int                      firstLevel,
                      const StepFunction &     step,
                      const ProgressFunction & progress)
{
  HostSnake snake(m_Plan, m_Law, m_Tables, m_Threads);
  snake.SetStepFunction(step);
  snake.SetProgressFunction(progress);
  snake.Run(start, firstLevel);
  return snake.GetOutcome();
}

SnakeOutcome
HostSnakeBackend::RunRemoval(const CudaSnakePolygon & start, const ProgressFunction & progress)
{
  HostSnake snake(m_Plan, m_Law, m_Tables, m_Threads);
  snake.SetProgressFunction(progress);
  snake.RunRemoval(start);
  return snake.GetOutcome();
}

SnakeOutcome
HostSnake::GetOutcome() const
{
  SnakeOutcome outcome;
  outcome.Polygon = m_Polygon;
  outcome.Sums = m_Sums;
  outcome.Criterion = m_Criterion;
  outcome.Record = m_Record;
  outcome.NumberOfIterations = m_Iterations;
  outcome.Stop = m_Stop;
  outcome.SecondsOfRemoval = m_TimeOfRemoval > 0.0 ? m_TimeOfEnd - m_TimeOfRemoval : 0.0;
  return outcome;
}

void
HostSnake::Run(const CudaSnakePolygon & start, int firstLevel)
{
  m_Polygon = start;
  this->RunUntilFinished(SnakeControl(m_Plan, firstLevel));
}

void
HostSnake::RunRemoval(const CudaSnakePolygon & start)
{
  m_Polygon = start;
  m_Level = &m_Tables.GetLevel(0);
  m_Sums = SumPolygonOn(*m_Level, m_Polygon, [](size_t) {});
  m_Criterion = Criterion(m_Law, m_Sums, m_Total);
  SnakeControl control(m_Plan, m_Plan.NumberOfLevels - 1);
  control.BeginRemoval();
  this->MarkAllStale();
  this->RunUntilFinished(control);
}

void
HostSnake::ReportProgress(bool levelBegins)
{
  if (m_ProgressFunction && !m_ProgressFunction(levelBegins))
  {
    throw Aborted();
  }
  m_TimeOfNextReport = SecondsNow() + SecondsBetweenReports;
}

void
HostSnake::ReportProgressInTime()
{
  if (m_ProgressFunction && SecondsNow() >= m_TimeOfNextReport)
  {
    this->ReportProgress(false);
  }
}

void
HostSnake::ReportProgressAtNode(size_t node)
{
  if (node % NodesBetweenReports == NodesBetweenReports - 1)
  {
    this->ReportProgressInTime();
  }
}

/** Calls function(node) for all nodes by all threads, in pieces of `grain` nodes or more; `stepsOfNode`: about how many
 * steps a call takes. */
template <typename TFunction>
void
HostSnake::ForNodes(size_t grain, size_t stepsOfNode, const TFunction & function)
{
  const size_t nodes = m_Polygon.size();
  const size_t portion = m_Threads.GetNumber() * (StepsBetweenReports / (stepsOfNode + 1) + 1);
  for (size_t first = 0; first < nodes; first += portion)
  {
    m_Threads.ForRanges(std::min(portion, nodes - first), grain, [&](size_t begin, size_t end) {
      for (size_t node = first + begin; node < first + end; ++node)
      {
        function(static_cast<int>(node));
      }
    });
    this->ReportProgressInTime();
  }
}

void
HostSnake::RunUntilFinished(SnakeControl control)
{
  try
  {
    this->RunPhases(control);
  }
  catch (const Aborted &)
  {
    m_Stop = CudaRegionSnakeStop::Aborted;
  }
  m_TimeOfEnd = SecondsNow();
}

void
HostSnake::RunPhases(SnakeControl control)
{
  using Phase = SnakeControl::Phase;
  using Kind = CudaRegionSnakeStep::Kind;
  int    measuredLevel = -1;
  double beforeIteration = m_Criterion;
  while (control.Next != Phase::Finished)
  {
    const double  before = m_Criterion;
    const int32_t step = control.Step;
    const int     level = control.Level;
    switch (control.Next)
    {
      case Phase::Measure:
        this->Measure(control, measuredLevel);
        measuredLevel = control.Level;
        this->AddToRecord(Kind::Level, level, step, m_Record.empty() ? m_Criterion : before);
        this->ReportProgress(true);
        control.AfterMeasure();
        this->MarkAllStale();
        beforeIteration = m_Criterion;
        break;
      case Phase::Move: {
        const int  colours = NumberOfColours(this->GetNumberOfNodes(), m_Plan.InTurns);
        const bool moved = this->Move(control, colours);
        if (control.AfterMove(m_Plan, moved, beforeIteration - m_Criterion, colours))
        {
          m_Iterations = control.Iterations;
          this->AddToRecord(Kind::Iteration, level, step, beforeIteration);
          beforeIteration = m_Criterion;
          if (control.ChangesCandidates(level, step))
          {
            this->MarkAllStale();
          }
        }
        break;
      }
      case Phase::Insert: {
        bool       cutShort = false;
        const bool inserted = this->Insert(cutShort);
        if (inserted)
        {
          this->AddToRecord(Kind::Insertion, level, step, before);
        }
        control.AfterInsert(m_Plan, inserted, cutShort);
        if (inserted || control.ChangesCandidates(level, step))
        {
          this->MarkAllStale();
        }
        beforeIteration = m_Criterion;
        break;
      }
      default: {
        m_TimeOfRemoval = m_TimeOfRemoval == 0.0 ? SecondsNow() : m_TimeOfRemoval;
        const bool removed = this->Remove(control.LongestRun);
        if (removed)
        {
          this->AddToRecord(Kind::Removal, level, step, before);
        }
        control.AfterRemove(m_Plan, removed);
        beforeIteration = m_Criterion;
        break;
      }
    }
  }
  m_Stop = control.Stop;
}

void
HostSnake::MarkAllStale()
{
  for (Cache & cache : m_Caches)
  {
    cache.IsStale.assign(m_Polygon.size(), 1);
    cache.Changes.resize(m_Polygon.size() * MaximumCandidates);
  }
  m_Slots.resize(m_Polygon.size());
}

/** The node itself and its neighbours, whose edges lead to it. */
void
HostSnake::MarkStaleAround(int node)
{
  const int n = this->GetNumberOfNodes();
  for (Cache & cache : m_Caches)
  {
    cache.IsStale[Previous(node, n)] = cache.IsStale[node] = cache.IsStale[Next(node, n)] = 1;
  }
}

void
HostSnake::Measure(const SnakeControl & control, int previousLevel)
{
  m_Level = &m_Tables.GetLevel(m_Plan.Exponent[control.Level]);
  if (previousLevel >= 0)
  {
    const uint32_t shift = m_Plan.Exponent[previousLevel] - m_Plan.Exponent[control.Level];
    for (LatticePoint & p : m_Polygon)
    {
      p = { p.X << shift, p.Y << shift };
    }
  }
  m_Sums = SumPolygonOn(*m_Level, m_Polygon, [this](size_t edge) { this->ReportProgressAtNode(edge); });
  m_Criterion = Criterion(m_Law, m_Sums, m_Total);
}

size_t
HostSnake::CountRowsOfStaleNodes(const std::vector<char> & isStale, int colour, int numberOfColours) const
{
  const int n = this->GetNumberOfNodes();
  size_t    rows = 0;
  for (int i = 0; i < n; ++i)
  {
    if (isStale[i] && ColourOf(i, n, numberOfColours) == colour)
    {
      const int32_t y = m_Polygon[i].Y;
      rows += static_cast<size_t>(std::abs(m_Polygon[Previous(i, n)].Y - y) + std::abs(m_Polygon[Next(i, n)].Y - y));
    }
  }
  return rows * Directions * m_Plan.Rings;
}

bool
HostSnake::Move(const SnakeControl & control, int numberOfColours)
{
  const int        n = this->GetNumberOfNodes();
  const int        colour = control.Colour;
  const int32_t    step = control.Step;
  Cache &          cache = m_Caches[control.GetCache()];
  const LinearForm gain = Linearize(m_Law, m_Sums, m_Total);
  const size_t     rows = this->CountRowsOfStaleNodes(cache.IsStale, colour, numberOfColours);
  const size_t     pieces = rows / RowsPerPiece + 1;
  const auto       nodes = static_cast<size_t>(n);
  // At worst all candidates are tested against all edges.
  this->ForNodes((nodes + pieces - 1) / pieces, rows / nodes + MaximumCandidates * nodes, [&](int i) {
    m_Slots[i].Node = -1;
    if (ColourOf(i, n, numberOfColours) == colour)
    {
      Moments * changes = &cache.Changes[static_cast<size_t>(i) * MaximumCandidates];
      if (cache.IsStale[i])
      {
        LatticePoint candidates[MaximumCandidates];
        const int    numberOfCandidates = Directions * m_Plan.Rings;
        for (int w = 0; w < numberOfCandidates; ++w)
        {
          candidates[w] = CandidatePosition(m_Polygon[i], w, step, m_Level->Width, m_Level->Height);
        }
        m_Level->SumMoves(
          m_Polygon[Previous(i, n)], m_Polygon[i], m_Polygon[Next(i, n)], candidates, numberOfCandidates, changes);
        cache.IsStale[i] = 0;
      }
      this->ProposeMove(i, step, gain, changes);
    }
  });
  this->CollectProposals();
  this->SuppressConflicts(
    [this, n](const Proposal & x, const Proposal & y) { return MovesConflict(m_Polygon.data(), n, x, y); });
  if (!this->Accept(0.0))
  {
    return false;
  }
  for (const Proposal & move : m_Proposals)
  {
    m_Polygon[move.Node] = move.Position;
    this->MarkStaleAround(move.Node);
  }
  return true;
}

void
HostSnake::ProposeMove(int node, int32_t step, const LinearForm & gain, const Moments * changes)
{
  const int          n = this->GetNumberOfNodes();
  const LatticePoint at = m_Polygon[node];
  const int          candidates = Directions * m_Plan.Rings;
  double             gains[MaximumCandidates];
  for (int w = 0; w < candidates; ++w)
  {
    const bool allowed =
      IsCountAllowed(m_Sums.Count + changes[w].Count, m_Sums.Count, m_Total.Count, m_Plan.MinimumRegionSize);
    gains[w] = allowed ? gain(changes[w]) : 0.0;
  }
  while (true)
  {
    const int best = static_cast<int>(std::min_element(gains, gains + candidates) - gains);
    if (!(gains[best] < -m_Plan.MinimumGain))
    {
      return;
    }
    const LatticePoint position = CandidatePosition(at, best, step, m_Level->Width, m_Level->Height);
    if (ChainKeepsSimple(m_Polygon.data(), n, Previous(node, n), position, Next(node, n)))
    {
      m_Slots[node] = { node, position, gains[best], changes[best] };
      return;
    }
    gains[best] = 0.0;
  }
}

void
HostSnake::CollectProposals()
{
  m_Proposals.clear();
  for (const Proposal & slot : m_Slots)
  {
    if (slot.Node >= 0)
    {
      m_Proposals.push_back(slot);
    }
  }
}

/** Keeps the proposals that conflict with none that comes before them; the first of all is always kept. */
template <typename TConflict>
void
HostSnake::SuppressConflicts(const TConflict & conflict)
{
  m_IsSuppressed.assign(m_Proposals.size(), 0);
  for (size_t i = 0; i < m_Proposals.size(); ++i)
  {
    this->ReportProgressAtNode(i);
    for (size_t j = i + 1; j < m_Proposals.size(); ++j)
    {
      const size_t suppressed = ComesBefore(m_Proposals[i], m_Proposals[j]) ? j : i;
      if (!m_IsSuppressed[suppressed] && conflict(m_Proposals[i], m_Proposals[j]))
      {
        m_IsSuppressed[suppressed] = 1;
      }
    }
  }
  size_t kept = 0;
  for (size_t i = 0; i < m_Proposals.size(); ++i)
  {
    if (!m_IsSuppressed[i])
    {
      m_Proposals[kept++] = m_Proposals[i];
    }
  }
  m_Proposals.resize(kept);
}

/** Takes the sums of all proposals, or of the best one alone should rounding or a region's size not allow all; `cost`
 * is what each of their nodes adds to J. Returns whether anything was taken. */
bool
HostSnake::Accept(double cost)
{
  if (m_Proposals.empty())
  {
    return false;
  }
  if (this->TryProposals(cost))
  {
    return true;
  }
  m_Proposals = { *std::min_element(m_Proposals.begin(), m_Proposals.end(), ComesBefore) };
  return this->TryProposals(cost);
}

bool
HostSnake::TryProposals(double cost)
{
  Moments sums = m_Sums;
  int     number = 0;
  for (const Proposal & proposal : m_Proposals)
  {
    sums += proposal.Change;
    number += proposal.Run;
  }
  if (!IsCountAllowed(sums.Count, m_Sums.Count, m_Total.Count, m_Plan.MinimumRegionSize))
  {
    return false;
  }
  const double criterion = Criterion(m_Law, sums, m_Total);
  if (!IsImprovement(criterion, cost, number, m_Criterion, m_Plan.MinimumGain))
  {
    return false;
  }
  m_Sums = sums;
  m_Criterion = criterion;
  return true;
}

bool
HostSnake::Insert(bool & cutShort)
{
  const int         n = this->GetNumberOfNodes();
  std::vector<char> inserted(m_Polygon.size(), 0);
  for (int i = 0; i < n; ++i)
  {
    this->ReportProgressAtNode(static_cast<size_t>(i));
    inserted[i] = CanInsert(m_Polygon.data(), n, i, m_Plan.MinimumSquaredLength) ? 1 : 0;
  }
  // Of two that conflict the later one is left out, also if the earlier one is left out for another.
  const std::vector<char> possible = inserted;
  for (int i = 0; i < n; ++i)
  {
    this->ReportProgressAtNode(static_cast<size_t>(i));
    for (int j = i + 1; j < n; ++j)
    {
      if (possible[i] && inserted[j] && InsertionsConflict(m_Polygon.data(), n, i, j))
      {
        inserted[j] = 0;
      }
    }
  }

  CudaSnakePolygon polygon;
  Moments          sums = m_Sums;
  size_t room = m_Plan.MaximumNumberOfNodes > m_Polygon.size() ? m_Plan.MaximumNumberOfNodes - m_Polygon.size() : 0;
  bool   cut = false;
  for (int i = 0; i < n; ++i)
  {
    this->ReportProgressAtNode(static_cast<size_t>(i));
    const LatticePoint p = m_Polygon[i];
    const LatticePoint q = m_Polygon[Next(i, n)];
    polygon.push_back(p);
    if (inserted[i] && room > 0)
    {
      const LatticePoint middle = MidpointOf(p, q);
      polygon.push_back(middle);
      --room;
      if (!MidpointIsExact(p, q))
      {
        sums += m_Level->SumEdge(p, middle) + m_Level->SumEdge(middle, q) - m_Level->SumEdge(p, q);
      }
    }
    else if (inserted[i])
    {
      cut = true;
    }
  }
  cutShort = cut;
  if (polygon.size() == m_Polygon.size() ||
      !IsCountAllowed(sums.Count, m_Sums.Count, m_Total.Count, m_Plan.MinimumRegionSize))
  {
    return false;
  }
  m_Polygon = polygon;
  m_Sums = sums;
  m_Criterion = Criterion(m_Law, m_Sums, m_Total);
  return true;
}

bool
HostSnake::Remove(int longestRun)
{
  const int n = this->GetNumberOfNodes();
  if (n <= 3)
  {
    return false;
  }
  const LinearForm     gain = Linearize(m_Law, m_Sums, m_Total);
  std::vector<Moments> edges(m_Polygon.size());
  constexpr size_t     grain = 16;
  const size_t         steps = MaximumRemovedRun * (m_Polygon.size() + static_cast<size_t>(m_Level->Height));
  this->ForNodes(
    grain, steps, [&](int node) { edges[node] = m_Level->SumEdge(m_Polygon[node], m_Polygon[Next(node, n)]); });
  this->ForNodes(grain, steps, [&](int node) { this->ProposeRemoval(node, longestRun, gain, edges); });
  this->CollectProposals();
  this->SuppressConflicts([n, longestRun](const Proposal & x, const Proposal & y) {
    return RemoveOneAtATime(n, longestRun) || RemovalsConflict(n, x, y);
  });
  if (!this->Accept(-m_Plan.NodeCost))
  {
    return false;
  }
  for (const Proposal & removal : m_Proposals)
  {
    for (int k = 0; k < removal.Run; ++k)
    {
      m_Slots[RingAdvance(removal.Node, k, n)].Node = -2;
    }
  }
  this->LeaveOutRemoved();
  return true;
}

/** Takes the nodes whose slot says so out of the polygon, together with what is kept of them. */
void
HostSnake::LeaveOutRemoved()
{
  const int n = this->GetNumberOfNodes();
  size_t    kept = 0;
  for (int i = 0; i < n; ++i)
  {
    if (m_Slots[i].Node == -2)
    {
      continue;
    }
    const bool nextToRemoved = m_Slots[Previous(i, n)].Node == -2 || m_Slots[Next(i, n)].Node == -2;
    m_Polygon[kept] = m_Polygon[i];
    for (Cache & cache : m_Caches)
    {
      cache.IsStale[kept] = nextToRemoved ? 1 : cache.IsStale[i];
      if (kept == static_cast<size_t>(i))
      {
        continue;
      }
      const auto changes = cache.Changes.begin() + i * MaximumCandidates;
      std::move(changes, changes + MaximumCandidates, cache.Changes.begin() + kept * MaximumCandidates);
    }
    ++kept;
  }
  m_Polygon.resize(kept);
  m_Slots.resize(kept);
}

/** The best removal of up to `longestRun` nodes from this one on; `edges`: sums of all edges. */
void
HostSnake::ProposeRemoval(int node, int longestRun, const LinearForm & gain, const std::vector<Moments> & edges)
{
  const int n = this->GetNumberOfNodes();
  const int runs = Minimum(longestRun, n - 3);
  Moments   present = edges[Previous(node, n)];
  Moments   changes[MaximumRemovedRun];
  double    gains[MaximumRemovedRun];
  for (int k = 0; k < runs; ++k)
  {
    present += edges[RingAdvance(node, k, n)];
    changes[k] = m_Level->SumEdge(m_Polygon[Previous(node, n)], m_Polygon[RingAdvance(node, k + 1, n)]) - present;
    const bool allowed =
      IsCountAllowed(m_Sums.Count + changes[k].Count, m_Sums.Count, m_Total.Count, m_Plan.MinimumRegionSize);
    gains[k] = allowed ? gain(changes[k]) - m_Plan.NodeCost * static_cast<double>(k + 1) : 0.0;
  }
  m_Slots[node].Node = -1;
  while (true)
  {
    const int best = static_cast<int>(std::min_element(gains, gains + runs) - gains);
    if (!(gains[best] < -m_Plan.MinimumGain))
    {
      return;
    }
    if (ChordKeepsSimple(m_Polygon.data(), n, node, best + 1))
    {
      m_Slots[node] = { node, m_Polygon[node], gains[best], changes[best], best + 1 };
      return;
    }
    gains[best] = 0.0;
  }
}

void
HostSnake::AddToRecord(CudaRegionSnakeStep::Kind kind, int level, int32_t step, double criterionBefore)
{
  m_Record.push_back({ kind,
                       m_Plan.Exponent[level],
                       static_cast<uint32_t>(step),
                       static_cast<uint32_t>(m_Polygon.size()),
                       m_Sums.Count,
                       m_Criterion,
                       m_Criterion - criterionBefore });
  if (m_StepFunction)
  {
    m_StepFunction({ m_Record.back(), m_Polygon, m_Sums.Sum, m_Sums.SumOfSquares });
    if (kind != CudaRegionSnakeStep::Kind::Level) // which is reported as such
    {
      this->ReportProgress(false);
    }
  }
}
} // namespace itk::cuda::snake
