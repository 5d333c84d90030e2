// SPDX-License-Identifier: Apache-2.0
#include "snake/host/Host.h"
#include "itkCudaDetailRegionSnakeEngine.h"
#include "snake/Batch.h"
#include "snake/Control.h"
#include "snake/Core.h"
#include "snake/Group.h"
#include "snake/Phases.h"
#include "snake/Plan.h"
#include "snake/Start.h"
#include "snake/State.h"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

// Runs the snake on the host. All threads propose the changes of a phase together, and the calling thread concludes the
// phase with the functions of snake/Phases.h, which the device uses, too. Between pieces of work the run reports
// progress, and the receiver may end it (Aborted).

namespace itk::cuda::snake
{
namespace
{
/** Number of rows of edges in a piece of work. They take a thread about 50 microseconds, which is worth the overhead of
 * another piece. */
constexpr size_t RowsPerPiece = 2048;

// These constants keep the time between two reports of progress below a quarter of a second: the seconds between
// reports, the steps of a thread (tests of edges, or rows) after which it checks whether a report is due, at most a
// tenth of a second, and a number of nodes whose pairs with 65,536 others take less than that.
constexpr double SecondsBetweenReports = 0.05;
constexpr size_t StepsBetweenReports = size_t{ 1 } << 24;
constexpr size_t NodesBetweenReports = 64;

/** Exception that ends a run inside a phase. */
struct Aborted
{};

/** Returns the sums inside a polygon. Calls `beforeEdge` before each edge; it may throw. */
template <typename TFunction>
Moments
SumPolygonOn(const LevelSums & level, const CudaSnakePolygon & polygon, const TFunction & beforeEdge)
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
/** The snake on the host. Makes the proposals of each phase that SnakeControl requests, and applies them with
 * Conclude(). */
class HostSnake
{
public:
  using StepFunction = SnakeBackend::StepFunction;
  using ProgressFunction = SnakeBackend::ProgressFunction;

  HostSnake(const SnakePlan & plan, const LawDescription & law, const SumPyramid & pyramid, const Threads & threads)
    : m_Pyramid(pyramid)
    , m_Threads(threads)
    , m_Group([this](size_t row) { this->ReportProgressAtNode(row); })
  {
    m_Snake.Plan = plan;
    m_Snake.Law = law;
    m_Snake.Total = pyramid.GetTotal();
  }

  HostSnake(const HostSnake &) = delete;
  HostSnake &
  operator=(const HostSnake &) = delete;

  /** Sets a function that is called after every entry of the record. */
  void
  SetStepFunction(const StepFunction & function)
  {
    m_StepFunction = function;
  }
  /** Sets a function that is called when a level begins, and at most every few hundredths of a second in between. It
   * returns whether to continue. */
  void
  SetProgressFunction(const ProgressFunction & function)
  {
    m_ProgressFunction = function;
  }

  /** Moves the polygon, which is given in cells of the plan's level with index `firstLevel`, until the schedule ends.
   */
  void
  Run(const CudaSnakePolygon & start, int firstLevel)
  {
    this->Begin(start, firstLevel);
    this->RunUntilFinished();
  }

  /** Removes nodes of the polygon, which is given in pixels, as long as that shortens the description. */
  void
  RunRemoval(const CudaSnakePolygon & start)
  {
    this->Begin(start, m_Snake.Plan.NumberOfLevels - 1);
    m_Level = &m_Pyramid.GetLevel(0);
    m_Snake.BeginRemoval(SumPolygonOn(*m_Level, start, [](size_t) {}));
    this->RunUntilFinished();
  }

  SnakeOutcome
  GetOutcome() const
  {
    SnakeOutcome outcome;
    outcome.Polygon = this->CopyPolygon();
    outcome.Sums = m_Snake.Sums;
    outcome.Criterion = m_Snake.Criterion;
    outcome.Record.assign(m_Record.begin(), m_Record.begin() + m_Snake.NumberOfEntries);
    outcome.NumberOfIterations = m_Snake.Control.Iterations;
    outcome.Stop = m_Snake.Control.Stop;
    outcome.SecondsOfRemoval = m_TimeOfRemoval > 0.0 ? m_TimeOfEnd - m_TimeOfRemoval : 0.0;
    return outcome;
  }

private:
  const LatticePoint *
  GetPolygon() const
  {
    return m_Snake.Polygons[m_Snake.Current];
  }
  CudaSnakePolygon
  CopyPolygon() const
  {
    const LatticePoint * const polygon = this->GetPolygon();
    return { polygon, polygon + m_Snake.NumberOfNodes };
  }

  void
  Begin(const CudaSnakePolygon & start, int level)
  {
    this->Reserve(start.size());
    std::copy(start.begin(), start.end(), m_Polygons[0].begin());
    m_Snake.Begin(SnakeControl(m_Snake.Plan, level), static_cast<int32_t>(start.size()));
  }

  /** Reserves room for `nodes` nodes in the state's arrays, and keeps their contents. */
  void
  Reserve(size_t nodes)
  {
    const auto reserve = [](auto & values, size_t number, auto *& pointer) {
      values.resize(std::max(values.size(), number));
      pointer = values.data();
    };
    for (int i = 0; i < 2; ++i)
    {
      reserve(m_Polygons[i], nodes, m_Snake.Polygons[i]);
    }
    for (int i = 0; i < SnakeControl::NumberOfCaches; ++i)
    {
      reserve(m_Changes[i], nodes * MaximumCandidates, m_Snake.Changes[i]);
    }
    reserve(m_ItemSums, nodes, m_Snake.ItemSums);
    reserve(m_CacheRows, nodes, m_Snake.CacheRows);
    reserve(m_IsStale, nodes, m_Snake.IsStale);
    reserve(m_Proposals, nodes, m_Snake.Proposals);
    reserve(m_Proposed, nodes, m_Snake.Proposed);
    reserve(m_IsSuppressed, nodes, m_Snake.IsSuppressed);
  }

  /** Calls the progress function. Throws Aborted if it returns that the run is to stop. */
  void
  ReportProgress(bool levelBegins)
  {
    if (m_ProgressFunction && !m_ProgressFunction(levelBegins))
    {
      throw Aborted();
    }
    m_TimeOfNextReport = GetSeconds() + SecondsBetweenReports;
  }

  /** Calls ReportProgress() if the next report is due. */
  void
  ReportProgressInTime()
  {
    if (m_ProgressFunction && GetSeconds() >= m_TimeOfNextReport)
    {
      this->ReportProgress(false);
    }
  }

  /** Calls ReportProgressInTime() at every NodesBetweenReports-th node of a loop over nodes or pairs of nodes. */
  void
  ReportProgressAtNode(size_t node)
  {
    if (node % NodesBetweenReports == NodesBetweenReports - 1)
    {
      this->ReportProgressInTime();
    }
  }

  /** Calls function(node) for all nodes with all threads, in pieces of about `grain` nodes or more. A call takes about
   * `stepsOfNode` steps, which determines how often progress is reported. */
  template <typename TFunction>
  void
  ForNodes(size_t grain, size_t stepsOfNode, const TFunction & function)
  {
    const auto   nodes = static_cast<size_t>(m_Snake.NumberOfNodes);
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
  RunUntilFinished()
  {
    try
    {
      this->RunPhases();
    }
    catch (const Aborted &)
    {
      m_Snake.Control.Stop = CudaRegionSnakeStop::Aborted;
    }
    m_TimeOfEnd = GetSeconds();
  }

  void
  RunPhases()
  {
    while (m_Snake.Control.Next != SnakeControl::Phase::Finished)
    {
      PreparePolygon(m_Group, m_Snake);
      m_Level = &m_Pyramid.GetLevel(m_Snake.Exponent);
      this->Propose();
      const uint32_t entries = m_Snake.NumberOfEntries;
      m_Record.resize(entries + 1);
      m_Snake.Record = m_Record.data();
      m_Snake.RecordCapacity = entries + 1;
      Conclude(m_Group, m_Snake, this->GetPolygon());
      if (m_Snake.NumberOfEntries > entries)
      {
        this->ShowEntry();
      }
    }
  }

  /** Makes the sums and the proposals of the next phase. */
  void
  Propose()
  {
    switch (m_Snake.Control.Next)
    {
      case SnakeControl::Phase::Measure:
        m_ItemSums[0] =
          SumPolygonOn(*m_Level, this->CopyPolygon(), [this](size_t edge) { this->ReportProgressAtNode(edge); });
        break;
      case SnakeControl::Phase::Move:
        this->ProposeMoves();
        break;
      case SnakeControl::Phase::Insert:
        this->ProposeInsertions();
        this->Reserve(2 * static_cast<size_t>(m_Snake.NumberOfNodes));
        break;
      default:
        m_TimeOfRemoval = m_TimeOfRemoval == 0.0 ? GetSeconds() : m_TimeOfRemoval;
        this->ProposeRemovals();
        break;
    }
  }

  /** Returns whether the current phase tries to move the node and has no valid sums of its candidates. */
  bool
  NeedsSums(int node) const
  {
    return m_Snake.IsTurnOf(node) && m_Snake.IsStaleNow(node);
  }

  size_t
  CountRowsOfStaleNodes() const
  {
    const int                  n = m_Snake.NumberOfNodes;
    const LatticePoint * const polygon = this->GetPolygon();
    size_t                     rows = 0;
    for (int i = 0; i < n; ++i)
    {
      if (this->NeedsSums(i))
      {
        const int32_t y = polygon[i].Y;
        rows += static_cast<size_t>(std::abs(polygon[Previous(i, n)].Y - y) + std::abs(polygon[Next(i, n)].Y - y));
      }
    }
    return rows * Directions * m_Snake.Plan.Rings;
  }

  void
  ProposeMoves()
  {
    const auto   nodes = static_cast<size_t>(m_Snake.NumberOfNodes);
    const size_t rows = this->CountRowsOfStaleNodes();
    const size_t pieces = rows / RowsPerPiece + 1;
    // In the worst case all candidates are tested against all edges.
    this->ForNodes((nodes + pieces - 1) / pieces, rows / nodes + MaximumCandidates * nodes, [&](int i) {
      m_Proposals[i].Node = -1;
      if (m_Snake.IsTurnOf(i))
      {
        this->ProposeMove(i);
      }
    });
  }

  /** Recomputes the changes of the node's candidates. This is necessary when the node or a neighbour has moved. */
  void
  SumCandidates(int node)
  {
    const int                  n = m_Snake.NumberOfNodes;
    const int                  number = Directions * m_Snake.Plan.Rings;
    const LatticePoint * const polygon = this->GetPolygon();
    LatticePoint               candidates[MaximumCandidates];
    for (int w = 0; w < number; ++w)
    {
      candidates[w] = CandidatePosition(polygon[node], w, m_Snake.Control.Step, m_Level->Width, m_Level->Height);
    }
    m_Level->SumMoves(
      polygon[Previous(node, n)], polygon[node], polygon[Next(node, n)], candidates, number, m_Snake.GetChanges(node));
    m_Snake.IsStale[node] &= ~m_Snake.GetCacheBit();
  }

  void
  ProposeMove(int node)
  {
    if (m_Snake.IsStaleNow(node))
    {
      this->SumCandidates(node);
    }
    const int                  n = m_Snake.NumberOfNodes;
    const LatticePoint * const polygon = this->GetPolygon();
    const Moments * const      changes = m_Snake.GetChanges(node);
    const int                  candidates = Directions * m_Snake.Plan.Rings;
    double                     deltaCosts[MaximumCandidates];
    for (int w = 0; w < candidates; ++w)
    {
      deltaCosts[w] = m_Snake.DeltaCostOf(changes[w]);
    }
    while (true)
    {
      const int best = static_cast<int>(std::min_element(deltaCosts, deltaCosts + candidates) - deltaCosts);
      if (!(deltaCosts[best] < -m_Snake.Plan.MinimumGain))
      {
        return;
      }
      const LatticePoint position =
        CandidatePosition(polygon[node], best, m_Snake.Control.Step, m_Level->Width, m_Level->Height);
      if (ChainKeepsSimple(polygon, n, Previous(node, n), position, Next(node, n)))
      {
        m_Proposals[node] = { node, position, deltaCosts[best], changes[best] };
        return;
      }
      deltaCosts[best] = 0.0;
    }
  }

  void
  ProposeInsertions()
  {
    const int                  n = m_Snake.NumberOfNodes;
    const size_t               steps = static_cast<size_t>(n) + static_cast<size_t>(m_Level->Height);
    constexpr size_t           grain = 16;
    const LatticePoint * const polygon = this->GetPolygon();
    this->ForNodes(grain, steps, [&](int i) {
      const LatticePoint p = polygon[i];
      const LatticePoint q = polygon[Next(i, n)];
      const LatticePoint middle = MidpointOf(p, q);
      const bool         exact = MidpointIsExact(p, q);
      const bool         possible = CanInsert(polygon, n, i, m_Snake.Plan.MinimumSquaredLength);
      Moments            change;
      if (possible && !exact)
      {
        change = m_Level->SumEdge(p, middle) + m_Level->SumEdge(middle, q) - m_Level->SumEdge(p, q);
      }
      m_Proposals[i] = { possible ? i : -1, middle, exact ? 1.0 : 0.0, change };
    });
  }

  void
  ProposeRemovals()
  {
    const int n = m_Snake.NumberOfNodes;
    if (n <= 3)
    {
      return;
    }
    const LatticePoint * const polygon = this->GetPolygon();
    constexpr size_t           grain = 16;
    const size_t               steps = MaximumRemovedRun * static_cast<size_t>(n + m_Level->Height);
    this->ForNodes(
      grain, steps, [&](int node) { m_ItemSums[node] = m_Level->SumEdge(polygon[node], polygon[Next(node, n)]); });
    this->ForNodes(grain, steps, [&](int node) { this->ProposeRemoval(node); });
  }

  /** Proposes the best removal of a run of nodes that begins at this one. m_ItemSums must hold the sums of all edges.
   */
  void
  ProposeRemoval(int node)
  {
    const LatticePoint * const polygon = this->GetPolygon();
    const int                  n = m_Snake.NumberOfNodes;
    const int                  runs = Minimum(m_Snake.Control.MaximumRun, n - 3);
    Moments                    present = m_ItemSums[Previous(node, n)];
    Moments                    changes[MaximumRemovedRun];
    double                     deltaCosts[MaximumRemovedRun];
    for (int k = 0; k < runs; ++k)
    {
      present += m_ItemSums[RingAdvance(node, k, n)];
      changes[k] = m_Level->SumEdge(polygon[Previous(node, n)], polygon[RingAdvance(node, k + 1, n)]) - present;
      deltaCosts[k] = m_Snake.DeltaCostOfRemoval(changes[k], k + 1);
    }
    m_Proposals[node].Node = -1;
    while (true)
    {
      const int best = static_cast<int>(std::min_element(deltaCosts, deltaCosts + runs) - deltaCosts);
      if (!(deltaCosts[best] < -m_Snake.Plan.MinimumGain))
      {
        return;
      }
      if (ChordKeepsSimple(polygon, n, node, best + 1))
      {
        m_Proposals[node] = { node, polygon[node], deltaCosts[best], changes[best], best + 1 };
        return;
      }
      deltaCosts[best] = 0.0;
    }
  }

  /** Passes the last entry of the record to the observer's functions. */
  void
  ShowEntry()
  {
    const CudaRegionSnakeStep & entry = m_Record.back();
    const bool                  levelBegins = entry.What == CudaRegionSnakeStep::Kind::Level;
    if (m_StepFunction)
    {
      m_StepFunction({ entry, this->CopyPolygon(), m_Snake.Sums.Sum, m_Snake.Sums.SumOfSquares });
    }
    if (m_StepFunction || levelBegins)
    {
      this->ReportProgress(levelBegins);
    }
  }

  const SumPyramid & m_Pyramid;
  const Threads &    m_Threads;
  StepFunction       m_StepFunction;
  ProgressFunction   m_ProgressFunction;
  double             m_TimeOfNextReport{ 0.0 }; // seconds of the steady clock

  SnakeState        m_Snake;
  SerialGroup       m_Group;
  const LevelSums * m_Level{ nullptr };
  // the arrays to which m_Snake points
  std::vector<LatticePoint>        m_Polygons[2];
  std::vector<Moments>             m_ItemSums;
  std::vector<Moments>             m_Changes[SnakeControl::NumberOfCaches];
  std::vector<int32_t>             m_CacheRows;
  std::vector<int32_t>             m_IsStale;
  std::vector<Proposal>            m_Proposals;
  std::vector<int32_t>             m_Proposed;
  std::vector<int32_t>             m_IsSuppressed;
  std::vector<CudaRegionSnakeStep> m_Record;
  // seconds of the steady clock; 0 if there was no removal
  double m_TimeOfRemoval{ 0.0 };
  double m_TimeOfEnd{ 0.0 };
};

/** The backend that computes one run, on an image or a rectangle of it, on the host. */
class HostSnakeBackend : public SnakeBackend
{
public:
  /** \param coarseExponent exponent of the coarsest level of the run's plan */
  HostSnakeBackend(const RowSums &        sums,
                   const PixelRectangle & rectangle,
                   uint32_t               coarseExponent,
                   const Threads &        threads)
    : m_Threads(threads)
    , m_Pyramid(sums, rectangle, coarseExponent, threads)
  {}

  Moments
  GetTotal() override
  {
    return m_Pyramid.GetTotal();
  }
  void
  Begin(const SnakePlan & plan, const LawDescription & law) override
  {
    m_Plan = plan;
    m_Law = law;
  }
  Moments
  SumPolygon(const CudaSnakePolygon & polygon, uint32_t exponent) override
  {
    return SumPolygonOn(m_Pyramid.GetLevel(exponent), polygon, [](size_t) {});
  }

  CudaSnakePolygon
  SearchRectangle() override
  {
    return FindBestRectangle(
      m_Pyramid.GetLevel(m_Plan.Exponent[0]), m_Pyramid.GetTotal(), m_Law, m_Plan.MinimumRegionSize, m_Threads);
  }

  SnakeOutcome
  Run(const CudaSnakePolygon & start,
      int                      firstLevel,
      const StepFunction &     step,
      const ProgressFunction & progress) override
  {
    HostSnake snake(m_Plan, m_Law, m_Pyramid, m_Threads);
    snake.SetStepFunction(step);
    snake.SetProgressFunction(progress);
    snake.Run(start, firstLevel);
    return snake.GetOutcome();
  }

  SnakeOutcome
  RunRemoval(const CudaSnakePolygon & start, const ProgressFunction & progress) override
  {
    HostSnake snake(m_Plan, m_Law, m_Pyramid, m_Threads);
    snake.SetProgressFunction(progress);
    snake.RunRemoval(start);
    return snake.GetOutcome();
  }

private:
  const Threads &  m_Threads;
  const SumPyramid m_Pyramid;
  SnakePlan        m_Plan;
  LawDescription   m_Law;
};
} // namespace

HostSnakeImage::HostSnakeImage(const CudaRegionSnakeInput &      input,
                               const CudaRegionSnakeParameters & parameters,
                               const Threads &                   threads)
  : HostSnakeImage(MakeSamples(input, parameters, threads), parameters, threads)
{}

HostSnakeImage::HostSnakeImage(Samples samples, const CudaRegionSnakeParameters & parameters, const Threads & threads)
  : SnakeImage(samples, parameters)
  , m_HostSamples(std::move(samples))
  , m_Sums(m_HostSamples,
           UsesSquares(parameters.NoiseLaw.value()),
           GetCoarseExponent(parameters.Schedule, this->GetWhole()),
           threads)
{}
CudaRegionSnakeResult
RunOnHost(const HostSnakeImage & image, const SnakeRun & run, const Threads & threads)
{
  const PixelRectangle rectangle = CheckSnakeRun(image, run);
  const double         timeOfSums = GetSeconds();
  HostSnakeBackend backend(image.GetSums(), rectangle, GetCoarseExponent(run.Parameters.Schedule, rectangle), threads);
  const double     timeOfRun = GetSeconds();
  CudaRegionSnakeResult result = RunSnake(image, run, backend);
  result.SecondsOfSums = timeOfRun - timeOfSums;
  return result;
}
} // namespace itk::cuda::snake

namespace itk::CudaDetail
{
CudaRegionSnakeResult
CudaRegionSnakeOnHost(const CudaRegionSnakeInput &      input,
                      const CudaRegionSnakeParameters & parameters,
                      unsigned int                      numberOfThreads,
                      const CudaRegionSnakeObserver &   observer)
{
  using namespace cuda::snake;
  const cuda::region::Threads threads(numberOfThreads);
  return PrepareAndRun(
    input,
    parameters,
    observer,
    threads,
    [&](cuda::region::Samples && samples) { return HostSnakeImage(std::move(samples), parameters, threads); },
    [&](const HostSnakeImage & image, const SnakeRun & run) { return RunOnHost(image, run, threads); });
}

namespace
{
class PreparedOnHost final : public CudaPreparedSnakeImage
{
public:
  PreparedOnHost(const CudaRegionSnakeInput & input, const CudaRegionSnakeParameters & parameters, unsigned int threads)
    : m_Threads(threads)
    , m_Image(input, parameters, m_Threads)
  {}

  CudaRegionSnakeResult
  Run(const CudaPreparedSnakeRun & run) const override
  {
    return cuda::snake::RunPrepared(
      run, [&](const cuda::snake::SnakeRun & snakeRun) { return RunOnHost(m_Image, snakeRun, m_Threads); });
  }

private:
  const cuda::region::Threads       m_Threads;
  const cuda::snake::HostSnakeImage m_Image;
};

class HostBatch final : public cuda::snake::BatchBackend
{
public:
  explicit HostBatch(const cuda::snake::HostSnakeImage & image)
    : m_Image(image)
  {}

  CudaRegionSnakeResult
  Run(size_t, const cuda::snake::SnakeRun & run, const cuda::region::Threads & threads) override
  {
    return RunOnHost(m_Image, run, threads);
  }

private:
  const cuda::snake::HostSnakeImage & m_Image;
};
} // namespace

std::unique_ptr<CudaPreparedSnakeImage>
CudaPrepareSnakeImageOnHost(const CudaRegionSnakeInput &      input,
                            const CudaRegionSnakeParameters & parameters,
                            unsigned int                      numberOfThreads)
{
  return std::make_unique<PreparedOnHost>(input, parameters, numberOfThreads);
}

CudaRegionSnakeBatch
CudaRegionSnakeBatchOnHost(const CudaRegionSnakeInput &      input,
                           const CudaRegionSnakeStarts &     starts,
                           const CudaRegionSnakeParameters & parameters,
                           unsigned int                      numberOfThreads,
                           const CudaRegionSnakeObserver &   observer)
{
  using namespace cuda::snake;
  const cuda::region::Threads threads(numberOfThreads);
  const HostSnakeImage        image(input, parameters, threads);
  HostBatch                   backend(image);
  return RunBatch(image, starts, parameters, observer, threads, backend);
}
} // end namespace itk::CudaDetail
