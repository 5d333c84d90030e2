// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_region_Tables_h
#define CudaFilters_region_Tables_h

#include "region/Samples.h"
#include "region/Sums.h"
#include "region/Threads.h"

#include <cstdint>
#include <memory>
#include <vector>

namespace itk::cuda::region
{
/** The sums of one level, for an optimiser on the host. */
class Level
{
public:
  virtual ~Level() = default;

  int32_t  Width{ 0 }; // cells
  int32_t  Height{ 0 };
  uint32_t Exponent{ 0 };

  virtual Moments
  RowPrefix(int32_t y, int32_t column) const = 0;

  /** RowPrefix() of the columns first to last. */
  virtual void
  RowPrefixes(int32_t y, int32_t first, int32_t last, Moments * prefixes) const = 0;

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

/** \class RowSums
 * \brief Sums along the rows of an image, for the host. The sums of its levels and of its rectangles' levels are made
 * of them.
 *
 * Nothing changes after the constructor: any number of threads may make Tables of it at once. It refers to the samples.
 */
class RowSums
{
public:
  /** \param coarseExponent of the whole image's cells, which are kept; 0: none are */
  RowSums(const Samples & samples, bool squares, uint32_t coarseExponent, const Threads & threads);

  /** Of all pixels. */
  const Moments &
  GetTotal() const
  {
    return m_Total;
  }
  uint32_t
  GetCoarseExponent() const
  {
    return m_CoarseExponent;
  }
  /** The whole image's cells, if there are any. */
  BlockLevel
  GetCells() const
  {
    return { m_Cells.data(), m_Samples.Width >> m_CoarseExponent, m_Samples.Height >> m_CoarseExponent };
  }

  /** Calls function(level) with the PixelLevel of the whole image. */
  template <typename TFunction>
  void
  Visit(const TFunction & function) const;

  PixelRectangle
  GetWhole() const
  {
    return { 0, 0, m_Samples.Width, m_Samples.Height };
  }

private:
  const Samples &                   m_Samples;
  const bool                        m_Squares;
  const uint32_t                    m_CoarseExponent;
  std::unique_ptr<Checkpoint[]>     m_Checkpoints;
  std::unique_ptr<MaskCheckpoint[]> m_Mask;
  std::vector<Moments>              m_Cells;
  Moments                           m_Total;

  template <typename TSample, typename TFunction>
  void
  VisitType(const TFunction & function) const;
  template <typename TSample, bool VSquares, bool VMask>
  PixelLevel<TSample, VSquares, VMask>
  GetPixels() const;
  template <typename TLevel>
  void
  SumRows(const TLevel & pixels, const Threads & threads);
};

/** The levels of an image or of a rectangle of it, for one optimiser on the host: pixels, and cells of one coarser
 * level if there is one. */
class Tables
{
public:
  /** \param sums which have to live longer
   * \param coarseExponent of the cells of 2^exponent pixels a side; 0: no coarser level */
  Tables(const RowSums & sums, const PixelRectangle & rectangle, uint32_t coarseExponent, const Threads & threads);

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
  std::vector<Moments>   m_Cells; // empty: the whole image's
  std::unique_ptr<Level> m_Pixels;
  std::unique_ptr<Level> m_Blocks;
  Moments                m_Total;
};
} // namespace itk::cuda::region

#endif
