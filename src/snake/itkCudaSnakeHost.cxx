// SPDX-License-Identifier: Apache-2.0
#include "itkCudaSnakeHost.h"

#include "itkCudaSnakePhases.h"
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
  outcome.Sums = m_Snake.Sums;
  outcome.Criterion = m_Snake.Criterion;
  outcome.Record.assign(m_Record.begin(), m_Record.begin() + m_Snake.NumberOfEntries);
  outcome.NumberOfIterations = m_Snake.Control.Iterations;
  outcome.Stop = m_Snake.Control.Stop;
  outcome.SecondsOfRemoval = m_TimeOfRemoval > 0.0 ? m_TimeOfEnd - m_TimeOfRemoval : 0.0;
  return outcome;
}

void
HostSnake::Run(const CudaSnakePolygon & start, int firstLevel)
{
  m_Polygon = start;
  m_Snake.Control = SnakeControl(m_Snake.Plan, firstLevel);
  m_MeasuredLevel = firstLevel;
  this->RunUntilFinished();
}

void
HostSnake::RunRemoval(const CudaSnakePolygon & start)
{
  m_Polygon = start;
  m_Level = &m_Tables.GetLevel(0);
  m_Snake.Control = SnakeControl(m_Snake.Plan, m_Snake.Plan.NumberOfLevels - 1);
  m_Snake.BeginRemoval(SumPolygonOn(*m_Level, m_Polygon, [](size_t) {}));
  this->RunUntilFinished();
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
HostSnake::RunUntilFinished()
{
  try
  {
    this->RunPhases();
  }
  catch (const Aborted &)
  {
    m_Snake.Control.Stop = CudaRegionSnakeStop::Aborted;
  }
  m_TimeOfEnd = SecondsNow();
}

void
HostSnake::RunPhases()
{
  while (m_Snake.Control.Next != SnakeControl::Phase::Finished)
  {
    const uint32_t entries = m_Snake.NumberOfEntries;
    if (m_Snake.AllStale)
    {
      this->MarkAllStale();
    }
    bool       cutShort = false;
    const bool changed = this->RunPhase(cutShort);
    m_Record.resize(entries + 1);
    m_Snake.Record = m_Record.data();
    m_Snake.RecordCapacity = entries + 1;
    m_Snake.NumberOfNodes = this->GetNumberOfNodes();
    EndPhase(m_Snake, changed, cutShort);
    if (m_Snake.NumberOfEntries > entries)
    {
      this->ShowEntry();
    }
  }
}

/** Returns whether the phase that comes next changed the polygon. */
bool
HostSnake::RunPhase(bool & cutShort)
{
  switch (m_Snake.Control.Next)
  {
    case SnakeControl::Phase::Measure:
      this->Measure();
      return true;
    case SnakeControl::Phase::Move:
      return this->Move();
    case SnakeControl::Phase::Insert:
      return this->Insert(cutShort);
    default:
      m_TimeOfRemoval = m_TimeOfRemoval == 0.0 ? SecondsNow() : m_TimeOfRemoval;
      return this->Remove();
  }
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
HostSnake::Measure()
{
  const int level = m_Snake.Control.Level;
  m_Level = &m_Tables.GetLevel(m_Snake.Plan.Exponent[level]);
  const uint32_t shift = m_Snake.Plan.Exponent[m_MeasuredLevel] - m_Snake.Plan.Exponent[level];
  for (LatticePoint & p : m_Polygon)
  {
    p = { p.X << shift, p.Y << shift };
  }
  m_MeasuredLevel = level;
  m_Snake.TakeSums(SumPolygonOn(*m_Level, m_Polygon, [this](size_t edge) { this->ReportProgressAtNode(edge); }));
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
  return rows * Directions * m_Snake.Plan.Rings;
}

bool
HostSnake::Move()
{
  const int     n = this->GetNumberOfNodes();
  const int     numberOfColours = NumberOfColours(n, m_Snake.Plan.InTurns);
  const int     colour = m_Snake.Control.Colour;
  const int32_t step = m_Snake.Control.Step;
  Cache &       cache = m_Caches[m_Snake.Control.GetCache()];
  const size_t  rows = this->CountRowsOfStaleNodes(cache.IsStale, colour, numberOfColours);
  const size_t  pieces = rows / RowsPerPiece + 1;
  const auto    nodes = static_cast<size_t>(n);
  // At worst all candidates are tested against all edges.
  this->ForNodes((nodes + pieces - 1) / pieces, rows / nodes + MaximumCandidates * nodes, [&](int i) {
    m_Slots[i].Node = -1;
    if (ColourOf(i, n, numberOfColours) == colour)
    {
      Moments * changes = &cache.Changes[static_cast<size_t>(i) * MaximumCandidates];
      if (cache.IsStale[i])
      {
        LatticePoint candidates[MaximumCandidates];
        const int    numberOfCandidates = Directions * m_Snake.Plan.Rings;
        for (int w = 0; w < numberOfCandidates; ++w)
        {
          candidates[w] = CandidatePosition(m_Polygon[i], w, step, m_Level->Width, m_Level->Height);
        }
        m_Level->SumMoves(
          m_Polygon[Previous(i, n)], m_Polygon[i], m_Polygon[Next(i, n)], candidates, numberOfCandidates, changes);
        cache.IsStale[i] = 0;
      }
      this->ProposeMove(i, changes);
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
HostSnake::ProposeMove(int node, const Moments * changes)
{
  const int          n = this->GetNumberOfNodes();
  const LatticePoint at = m_Polygon[node];
  const int          candidates = Directions * m_Snake.Plan.Rings;
  double             gains[MaximumCandidates];
  for (int w = 0; w < candidates; ++w)
  {
    const bool allowed = IsCountAllowed(
      m_Snake.Sums.Count + changes[w].Count, m_Snake.Sums.Count, m_Snake.Total.Count, m_Snake.Plan.MinimumRegionSize);
    gains[w] = allowed ? m_Snake.Gain(changes[w]) : 0.0;
  }
  while (true)
  {
    const int best = static_cast<int>(std::min_element(gains, gains + candidates) - gains);
    if (!(gains[best] < -m_Snake.Plan.MinimumGain))
    {
      return;
    }
    const LatticePoint position = CandidatePosition(at, best, m_Snake.Control.Step, m_Level->Width, m_Level->Height);
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
  Moments sums = m_Snake.Sums;
  int     number = 0;
  for (const Proposal & proposal : m_Proposals)
  {
    sums += proposal.Change;
    number += proposal.Run;
  }
  if (!IsCountAllowed(sums.Count, m_Snake.Sums.Count, m_Snake.Total.Count, m_Snake.Plan.MinimumRegionSize))
  {
    return false;
  }
  const double criterion = Criterion(m_Snake.Law, sums, m_Snake.Total);
  if (!IsImprovement(criterion, cost, number, m_Snake.Criterion, m_Snake.Plan.MinimumGain))
  {
    return false;
  }
  m_Snake.Sums = sums;
  m_Snake.Criterion = criterion;
  m_Snake.Gain = Linearize(m_Snake.Law, sums, m_Snake.Total);
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
    inserted[i] = CanInsert(m_Polygon.data(), n, i, m_Snake.Plan.MinimumSquaredLength) ? 1 : 0;
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
  Moments          sums = m_Snake.Sums;
  size_t           room =
    m_Snake.Plan.MaximumNumberOfNodes > m_Polygon.size() ? m_Snake.Plan.MaximumNumberOfNodes - m_Polygon.size() : 0;
  bool cut = false;
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
      !IsCountAllowed(sums.Count, m_Snake.Sums.Count, m_Snake.Total.Count, m_Snake.Plan.MinimumRegionSize))
  {
    return false;
  }
  m_Polygon = polygon;
  m_Snake.TakeSums(sums);
  return true;
}

bool
HostSnake::Remove()
{
  const int n = this->GetNumberOfNodes();
  const int longestRun = m_Snake.Control.LongestRun;
  if (n <= 3)
  {
    return false;
  }
  std::vector<Moments> edges(m_Polygon.size());
  constexpr size_t     grain = 16;
  const size_t         steps = MaximumRemovedRun * (m_Polygon.size() + static_cast<size_t>(m_Level->Height));
  this->ForNodes(
    grain, steps, [&](int node) { edges[node] = m_Level->SumEdge(m_Polygon[node], m_Polygon[Next(node, n)]); });
  this->ForNodes(grain, steps, [&](int node) { this->ProposeRemoval(node, edges); });
  this->CollectProposals();
  this->SuppressConflicts([n, longestRun](const Proposal & x, const Proposal & y) {
    return RemoveOneAtATime(n, longestRun) || RemovalsConflict(n, x, y);
  });
  if (!this->Accept(-m_Snake.Plan.NodeCost))
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

/** The best removal of one or some nodes from this one on; `edges`: sums of all edges. */
void
HostSnake::ProposeRemoval(int node, const std::vector<Moments> & edges)
{
  const int n = this->GetNumberOfNodes();
  const int runs = Minimum(m_Snake.Control.LongestRun, n - 3);
  Moments   present = edges[Previous(node, n)];
  Moments   changes[MaximumRemovedRun];
  double    gains[MaximumRemovedRun];
  for (int k = 0; k < runs; ++k)
  {
    present += edges[RingAdvance(node, k, n)];
    changes[k] = m_Level->SumEdge(m_Polygon[Previous(node, n)], m_Polygon[RingAdvance(node, k + 1, n)]) - present;
    const bool allowed = IsCountAllowed(
      m_Snake.Sums.Count + changes[k].Count, m_Snake.Sums.Count, m_Snake.Total.Count, m_Snake.Plan.MinimumRegionSize);
    gains[k] = allowed ? m_Snake.Gain(changes[k]) - m_Snake.Plan.NodeCost * static_cast<double>(k + 1) : 0.0;
  }
  m_Slots[node].Node = -1;
  while (true)
  {
    const int best = static_cast<int>(std::min_element(gains, gains + runs) - gains);
    if (!(gains[best] < -m_Snake.Plan.MinimumGain))
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

/** Shows the last entry to whoever watches the run. */
void
HostSnake::ShowEntry()
{
  const CudaRegionSnakeStep & entry = m_Record.back();
  const bool                  levelBegins = entry.What == CudaRegionSnakeStep::Kind::Level;
  if (m_StepFunction)
  {
    m_StepFunction({ entry, m_Polygon, m_Snake.Sums.Sum, m_Snake.Sums.SumOfSquares });
  }
  if (m_StepFunction || levelBegins)
  {
    this->ReportProgress(levelBegins);
  }
}
} // namespace itk::cuda::snake
