// SPDX-License-Identifier: Apache-2.0
#include "itkCudaSnakeHostBackend.h"

#include "itkCudaSnakeHost.h"
#include "itkCudaSnakeRectangles.h"

namespace itk::cuda::snake
{
Moments
HostSnakeBackend::SumPolygon(const CudaSnakePolygon & polygon, uint32_t exponent)
{
  const Level & level = m_Tables.GetLevel(exponent);
  Moments       sums;
  const int     n = static_cast<int>(polygon.size());
  for (int i = 0; i < n; ++i)
  {
    sums += level.SumEdge(polygon[i], polygon[Next(i, n)]);
  }
  return sums;
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
} // namespace itk::cuda::snake
