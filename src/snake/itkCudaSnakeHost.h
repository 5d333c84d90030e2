// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaSnakeHost_h
#define itkCudaSnakeHost_h

#include "itkCudaRegionTables.h"
#include "itkCudaRegionThreads.h"
#include "itkCudaSnakeBackend.h"
#include "itkCudaSnakeControl.h"
#include "itkCudaSnakeCore.h"
#include "itkCudaSnakeStart.h"

#include <vector>

namespace itk::cuda::snake
{
/** The snake on the host: carries out the phases that SnakeControl asks for. */
class HostSnake
{
public:
  using StepFunction = SnakeBackend::StepFunction;
  using ProgressFunction = SnakeBackend::ProgressFunction;

  HostSnake(const SnakePlan & plan, const LawDescription & law, const Tables & tables, const Threads & threads)
    : m_Plan(plan)
    , m_Law(law)
    , m_Tables(tables)
    , m_Total(tables.GetTotal())
    , m_Threads(threads)
  {}

  /** Called after every entry of the record. */
  void
  SetStepFunction(const StepFunction & function)
  {
    m_StepFunction = function;
  }
  /** Called when a level begins, and at most every few hundredths of a second in between; returns whether to go on. */
  void
  SetProgressFunction(const ProgressFunction & function)
  {
    m_ProgressFunction = function;
  }

  /** Moves the polygon, given in cells of the level of that index in the plan, until the schedule ends. */
  void
  Run(const CudaSnakePolygon & start, int firstLevel);

  /** Removes nodes of the polygon, which is that of a Run() or given in pixels, as long as that shortens the
   * description. */
  void
  RunRemoval(const CudaSnakePolygon & start);

  SnakeOutcome
  GetOutcome() const;

private:
  /** What is known of the nodes' candidates for one step. */
  struct Cache
  {
    std::vector<Moments> Changes; // of the candidates of each node
    std::vector<char>    IsStale; // whether the node or a neighbour moved since they were summed
  };

  const SnakePlan      m_Plan;
  const LawDescription m_Law;
  const Tables &       m_Tables;
  const Moments        m_Total;
  const Threads &      m_Threads;
  StepFunction         m_StepFunction;
  ProgressFunction     m_ProgressFunction;
  double               m_TimeOfNextReport{ 0.0 }; // seconds of the steady clock

  const Level *                    m_Level{ nullptr };
  CudaSnakePolygon                 m_Polygon;
  Moments                          m_Sums;
  double                           m_Criterion{ 0.0 };
  Cache                            m_Caches[SnakeControl::NumberOfCaches];
  std::vector<Proposal>            m_Slots; // a proposal per node; Node is -1 where there is none
  std::vector<Proposal>            m_Proposals;
  std::vector<char>                m_IsSuppressed;
  std::vector<CudaRegionSnakeStep> m_Record;
  uint32_t                         m_Iterations{ 0 };
  CudaRegionSnakeStop              m_Stop{ CudaRegionSnakeStop::Converged };
  // seconds of the steady clock; 0 if there was no removal
  double m_TimeOfRemoval{ 0.0 };
  double m_TimeOfEnd{ 0.0 };

  int
  GetNumberOfNodes() const
  {
    return static_cast<int>(m_Polygon.size());
  }
  /** Calls the progress function; throws Aborted if the run is not to go on. */
  void
  ReportProgress(bool levelBegins);
  /** The same if it is time again. */
  void
  ReportProgressInTime();
  /** In loops over nodes or pairs of them. */
  void
  ReportProgressAtNode(size_t node);
  template <typename TFunction>
  void
  ForNodes(size_t grain, size_t stepsOfNode, const TFunction & function);
  void
  RunUntilFinished(SnakeControl control);
  void
  RunPhases(SnakeControl control);
  void
  MarkAllStale();
  void
  MarkStaleAround(int node);
  void
  Measure(const SnakeControl & control, int previousLevel);
  bool
  Move(const SnakeControl & control, int numberOfColours);
  void
  ProposeMove(int node, int32_t step, const LinearForm & gain, const Moments * changes);
  bool
  Insert(bool & cutShort);
  bool
  Remove(int longestRun);
  void
  LeaveOutRemoved();
  void
  ProposeRemoval(int node, int longestRun, const LinearForm & gain, const std::vector<Moments> & edges);
  void
  CollectProposals();
  template <typename TConflict>
  void
  SuppressConflicts(const TConflict & conflict);
  bool
  Accept(double cost);
  bool
  TryProposals(double cost);
  size_t
  CountRowsOfStaleNodes(const std::vector<char> & isStale, int colour, int numberOfColours) const;
  void
  AddToRecord(CudaRegionSnakeStep::Kind kind, int level, int32_t step, double criterionBefore);
};

/** The host as the engine's backend. */
class HostSnakeBackend : public SnakeBackend
{
public:
  HostSnakeBackend(const Samples & samples, const SnakePlan & plan, const LawDescription & law, const Threads & threads)
    : m_Plan(plan)
    , m_Law(law)
    , m_Threads(threads)
    , m_Tables(samples, UsesSquares(law.Law), plan.Exponent[0], threads)
  {}

  Moments
  GetTotal() override
  {
    return m_Tables.GetTotal();
  }
  Moments
  SumPolygon(const CudaSnakePolygon & polygon, uint32_t exponent) override;
  CudaSnakePolygon
  SearchRectangle() override;
  SnakeOutcome
  Run(const CudaSnakePolygon & start,
      int                      firstLevel,
      const StepFunction &     step,
      const ProgressFunction & progress) override;
  SnakeOutcome
  RunRemoval(const CudaSnakePolygon & start, const ProgressFunction & progress) override;

private:
  const SnakePlan      m_Plan;
  const LawDescription m_Law;
  const Threads &      m_Threads;
  const Tables         m_Tables;
};
} // namespace itk::cuda::snake

#endif
