// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_region_HostSums_h
#define CudaFilters_region_HostSums_h

#include "runtime/memory/ScratchMemory.h"
#include "region/Samples.h"
#include "region/Sums.h"
#include "region/Threads.h"

#include <cstdint>
#include <memory>
#include <vector>

namespace itk::cuda::region
{
/** Gives an optimiser on the host access to the sums of one level, which is the image in cells of 2^Exponent pixels a
 * side. */
class LevelSums
{
public:
  virtual ~LevelSums() = default;

  int32_t  Width{ 0 }; // cells
  int32_t  Height{ 0 };
  uint32_t Exponent{ 0 };

  virtual Moments
  RowPrefix(int32_t y, int32_t column) const = 0;

  /** Stores RowPrefix() of the columns first to last. */
  virtual void
  RowPrefixes(int32_t y, int32_t first, int32_t last, Moments * prefixes) const = 0;

  /** Returns the contribution of the edge from p to q to the polygon's sums. */
  virtual Moments
  SumEdge(const LatticePoint & p, const LatticePoint & q) const = 0;

  /** Computes the changes of the polygon's sums when the node `at`, between `before` and `after`, moves to each of the
   * positions. */
  virtual void
  SumMoves(const LatticePoint & before,
           const LatticePoint & at,
           const LatticePoint & after,
           const LatticePoint * positions,
           int                  numberOfPositions,
           Moments *            changes) const = 0;
};

/** \class RowSums
 * \brief The prefix sums along the rows of an image, for the host. The sums of the image's levels and of the levels of
 * its rectangles are computed from them.
 *
 * The object is immutable after the constructor, so any number of threads may make SumPyramid from it concurrently. It
 * refers to the samples, which must outlive it.
 */
class RowSums
{
public:
  /** \param coarseExponent exponent of the whole image's cells, which are kept; 0: no cells are kept */
  RowSums(const Samples & samples, bool squares, uint32_t coarseExponent, const Threads & threads);

  /** Returns the sums of all pixels. */
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
  /** Returns the whole image's cells, if they are kept. */
  BlockLevel
  GetCells() const
  {
    return { m_Cells.data(), m_Samples.Width >> m_CoarseExponent, m_Samples.Height >> m_CoarseExponent };
  }

  /** Calls function(level) with the RowPrefixImage of the whole image. */
  template <typename TFunction>
  void
  Visit(const TFunction & function) const;

  PixelRectangle
  GetWhole() const
  {
    return { 0, 0, m_Samples.Width, m_Samples.Height };
  }

private:
  const Samples &              m_Samples;
  const bool                   m_Squares;
  const uint32_t               m_CoarseExponent;
  ScratchArray<Checkpoint>     m_Checkpoints;
  ScratchArray<MaskCheckpoint> m_Mask; // no elements without a mask
  std::vector<Moments>         m_Cells;
  Moments                      m_Total;

  template <typename TSample, typename TFunction>
  void
  VisitType(const TFunction & function) const;
  template <typename TSample, bool VSquares, bool VMask>
  RowPrefixImage<TSample, VSquares, VMask>
  GetPixels() const;
  template <typename TLevel>
  void
  SumRows(const TLevel & pixels, const Threads & threads);
};

/** The levels of an image or of a rectangle of it, for one optimiser on the host: the pixels, and the cells of one
 * coarser level if there is one. */
class SumPyramid
{
public:
  /** \param sums must outlive this object
   * \param coarseExponent exponent of the coarser level's cells, of 2^exponent pixels a side; 0: no coarser level */
  SumPyramid(const RowSums & sums, const PixelRectangle & rectangle, uint32_t coarseExponent, const Threads & threads);

  /** Returns the sums of all pixels. */
  const Moments &
  GetTotal() const
  {
    return m_Total;
  }
  const LevelSums &
  GetLevel(uint32_t exponent) const
  {
    return exponent == 0 ? *m_Pixels : *m_Blocks;
  }

private:
  std::vector<Moments>       m_Cells; // empty if the whole image's cells are used
  std::unique_ptr<LevelSums> m_Pixels;
  std::unique_ptr<LevelSums> m_Blocks;
  Moments                    m_Total;
};
} // namespace itk::cuda::region

#endif
