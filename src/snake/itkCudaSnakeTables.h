// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaSnakeTables_h
#define itkCudaSnakeTables_h

#include "itkCudaSnakeSamples.h"
#include "itkCudaSnakeSums.h"
#include "itkCudaSnakeThreads.h"

#include <cstdint>
#include <memory>
#include <vector>

namespace itk::cuda
{
/** The sums of one level, for the host: what the snake asks of it. */
class SnakeLevel
{
public:
  virtual ~SnakeLevel() = default;

  int32_t  Width{ 0 }; // cells
  int32_t  Height{ 0 };
  uint32_t Exponent{ 0 };

  virtual Moments
  RowPrefix(int32_t y, int32_t column) const = 0;

  /** Contribution of the edge from p to q. */
  virtual Moments
  SumEdge(const LatticePoint & p, const LatticePoint & q) const = 0;

  /** Changes of the polygon's sums when the node `at` between two others moves to each of its candidate positions. */
  virtual void
  SumCandidates(const LatticePoint & before,
                const LatticePoint & at,
                const LatticePoint & after,
                int32_t              step,
                int                  rings,
                Moments *            changes) const = 0;
};

/** Sums of the samples, for the host: checkpoints of all rows, and cells of one coarser level if there is one. */
class SnakeTables
{
public:
  /** \param coarseExponent of the cells of 2^exponent pixels a side; 0: no coarser level */
  SnakeTables(const SnakeSamples & samples, bool squares, uint32_t coarseExponent, const SnakeThreads & threads);

  /** Of all pixels. */
  const Moments &
  GetTotal() const
  {
    return m_Total;
  }
  const SnakeLevel &
  GetLevel(uint32_t exponent) const
  {
    return exponent == 0 ? *m_Pixels : *m_Blocks;
  }

private:
  std::unique_ptr<Checkpoint[]>     m_Checkpoints;
  std::unique_ptr<MaskCheckpoint[]> m_Mask;
  std::vector<Moments>              m_Prefixes;
  std::unique_ptr<SnakeLevel>       m_Pixels;
  std::unique_ptr<SnakeLevel>       m_Blocks;
  Moments                           m_Total;

  template <typename TSample, bool VSquares>
  void
  Build(const SnakeSamples & samples, uint32_t coarseExponent, const SnakeThreads & threads);
  template <typename TSample, bool VSquares, bool VMask>
  void
  BuildLevels(const SnakeSamples & samples, uint32_t coarseExponent, const SnakeThreads & threads);
};
} // namespace itk::cuda

#endif
