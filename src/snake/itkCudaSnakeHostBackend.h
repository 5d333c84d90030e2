// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaSnakeHostBackend_h
#define itkCudaSnakeHostBackend_h

#include "itkCudaRegionTables.h"
#include "itkCudaRegionThreads.h"
#include "itkCudaSnakeBackend.h"

#include <cstdint>

namespace itk::cuda::snake
{
/** The host as the engine's backend, for one run on an image or a rectangle of it. */
class HostSnakeBackend : public SnakeBackend
{
public:
  /** \param coarseExponent of the run's plan */
  HostSnakeBackend(const RowSums &        sums,
                   const PixelRectangle & rectangle,
                   uint32_t               coarseExponent,
                   const Threads &        threads)
    : m_Threads(threads)
    , m_Tables(sums, rectangle, coarseExponent, threads)
  {}

  Moments
  GetTotal() override
  {
    return m_Tables.GetTotal();
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
  const Threads & m_Threads;
  const Tables    m_Tables;
  SnakePlan       m_Plan;
  LawDescription  m_Law;
};
} // namespace itk::cuda::snake

#endif
