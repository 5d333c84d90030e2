// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_snake_host_Host_h
#define CudaFilters_snake_host_Host_h

#include "region/HostSums.h"
#include "region/Threads.h"
#include "snake/Run.h"
#include "snake/Control.h"
#include "snake/Core.h"
#include "snake/Group.h"
#include "snake/State.h"

#include <cstdint>
#include <vector>

namespace itk::cuda::snake
{
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
  Run(const CudaSnakePolygon & start, int firstLevel);

  /** Removes nodes of the polygon, which is given in pixels, as long as that shortens the description. */
  void
  RunRemoval(const CudaSnakePolygon & start);

  SnakeOutcome
  GetOutcome() const;

private:
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

  const LatticePoint *
  GetPolygon() const
  {
    return m_Snake.Polygons[m_Snake.Current];
  }
  CudaSnakePolygon
  CopyPolygon() const;
  void
  Begin(const CudaSnakePolygon & start, int level);
  void
  Reserve(size_t nodes);
  /** Calls the progress function. Throws Aborted if it returns that the run is to stop. */
  void
  ReportProgress(bool levelBegins);
  /** Calls ReportProgress() if the next report is due. */
  void
  ReportProgressInTime();
  /** Calls ReportProgressInTime() at every NodesBetweenReports-th node of a loop over nodes or pairs of nodes. */
  void
  ReportProgressAtNode(size_t node);
  template <typename TFunction>
  void
  ForNodes(size_t grain, size_t stepsOfNode, const TFunction & function);
  void
  RunUntilFinished();
  void
  RunPhases();
  void
  Propose();
  bool
  NeedsSums(int node) const;
  size_t
  CountRowsOfStaleNodes() const;
  void
  ProposeMoves();
  void
  SumCandidates(int node);
  void
  ProposeMove(int node);
  void
  ProposeInsertions();
  void
  ProposeRemovals();
  void
  ProposeRemoval(int node);
  void
  ShowEntry();
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
  const Threads &  m_Threads;
  const SumPyramid m_Pyramid;
  SnakePlan        m_Plan;
  LawDescription   m_Law;
};

/** Runs the snake on the host. The result does not depend on the number of threads.
 * \exception ExceptionObject as CheckSnakeRun() and RunSnake() */
CudaRegionSnakeResult
RunOnHost(const HostSnakeImage & image, const SnakeRun & run, const Threads & threads);
} // namespace itk::cuda::snake

#endif
