// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaRegionTables_h
#define itkCudaRegionTables_h

#include "itkCudaRegionSamples.h"
#include "itkCudaRegionSums.h"
#include "itkCudaRegionThreads.h"

#include <cstdint>
#include <memory>
#include <vector>

namespace itk::cuda::region
{
/** The sums of one level, for the host: what an optimiser asks of it. */
class Level
{
public:
  virtual ~Level() = default;

  int32_t  Width{ 0 }; // cells
  int32_t  Height{ 0 };
  uint32_t Exponent{ 0 };

  virtual Moments
  RowPrefix(int32_t y, int32_t column) const = 0;

  /** Contribution of the edge from p to q. */
  virtual Moments
  SumEdge(const LatticePoint & p, const LatticePoint & q) const = 0;

  /** Changes of the polygon's sums when the node `at` between two others moves to each of some positions. */
  virtual void
  SumMoves(const LatticePoint & before,
           const LatticePoint & at,
           const LatticePoint & after,
           const LatticePoint * positions,
           int                  numberOfPositions,
           Moments *            changes) const = 0;
};

/** Sums of the samples, for the host: checkpoints of all rows, and cells of one coarser level if there is one. */
class Tables
{
public:
  /** \param coarseExponent of the cells of 2^exponent pixels a side; 0: no coarser level */
  Tables(const Samples & samples, bool squares, uint32_t coarseExponent, const Threads & threads);

  /** Of all pixels. */
  const Moments &
  GetTotal() const
  {
    return m_Total;
  }
  const Level &
  GetLevel(uint32_t exponent) const
  {
    return exponent == 0 ? *m_Pixels : *m_Blocks;
  }

private:
  std::unique_ptr<Checkpoint[]>     m_Checkpoints;
  std::unique_ptr<MaskCheckpoint[]> m_Mask;
  std::vector<Moments>              m_Prefixes;
  std::unique_ptr<Level>            m_Pixels;
  std::unique_ptr<Level>            m_Blocks;
  Moments                           m_Total;

  template <typename TSample, bool VSquares>
  void
  Build(const Samples & samples, uint32_t coarseExponent, const Threads & threads);
  template <typename TSample, bool VSquares, bool VMask>
  void
  BuildLevels(const Samples & samples, uint32_t coarseExponent, const Threads & threads);
};
} // namespace itk::cuda::region

#endif
