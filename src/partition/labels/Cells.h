// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_partition_labels_Cells_h
#define CudaFilters_partition_labels_Cells_h

#include "partition/labels/CellFunctors.h"
#include "partition/labels/RegionGraph.h"
#include "partition/Scene.h"
#include "partition/refine/Work.h"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

namespace itk::cuda::partition
{
/** Computes the sums of each cell. */
std::vector<Moments>
SumCells(const Scene & scene, const CellGrid & grid, const Work & work);

/** Finds the cells whose valid pixels all have the same value. \param sums the result of SumCells() */
std::vector<uint8_t>
FindCellsOfOneValue(const Scene & scene, const CellGrid & grid, const std::vector<Moments> & sums, const Work & work);

/** Links each cell to its up to four neighbours. */
std::vector<RegionLinks>
LinkCells(const Scene & scene, const CellGrid & grid, const Work & work);

/** Returns the labels of the cells of half the side. */
std::vector<uint32_t>
SplitCells(const std::vector<uint32_t> & labels, const CellGrid & grid, const Work & work);

/** \class CellCompetition
 * \brief Moves boundary cells to a neighbour's region while this lowers the description plus the boundary length:
 * region competition (Zhu and Yuille, IEEE Transactions on Pattern Analysis and Machine Intelligence 18, 1996).
 *
 * The cost of a cell in region q is the tangent of q's description at the cell's sums, plus the length of the cell's
 * boundary to its eight neighbours. The cells have four colours, and the tangents are frozen while the cells of one
 * colour change. Cells of one colour do not touch each other, and tangents are never below the description.
 */
class CellCompetition
{
public:
  /** \param labels of the cells, from 1; changed in place
   * \param regions sums by label; changed in place
   */
  CellCompetition(const Scene &           scene,
                  const Model &           model,
                  const Work &            work,
                  const CellGrid &        grid,
                  std::vector<uint32_t> & labels,
                  std::vector<Moments> &  regions);

  /** Sweeps over all colours until nothing changes, at most MaximumNumberOfSweeps times.
   * \param goOn called before each colour; the sweeps end when it returns false
   * \returns whether goOn always returned true
   */
  bool
  Run(const std::function<bool()> & goOn);

private:
  using Flags = std::vector<std::atomic<uint8_t>>;

  /** A cell that changed its region. */
  struct Change
  {
    uint32_t From;
    uint32_t To;
    Moments  Sums;
  };

  const Scene &           m_Scene;
  const Model &           m_Model;
  const Work &            m_Work;
  const CellGrid          m_Grid;
  const int32_t           m_Width;
  const int32_t           m_Height;
  const BoundaryCosts     m_Costs;
  std::vector<uint32_t> & m_Labels;
  std::vector<Moments> &  m_Regions;
  std::vector<LinearForm> m_Tangents;
  std::vector<uint8_t>    m_IsStale;              // whether a region's tangent is out of date
  bool                    m_IsFirstSweep{ true }; // the first sweep visits all cells
  Flags                   m_IsActive;             // cells to visit in this sweep
  Flags                   m_IsNext;               // cells to visit in the next sweep
  Flags                   m_RowIsActive;          // rows with cells to visit
  Flags                   m_RowIsNext;

  void
  FreezeTangents();
  std::vector<Change>
  ChangeCells(int32_t firstColumn, int32_t firstRow);
  void
  ChangeCellsOfRow(int32_t firstColumn, int32_t y, std::vector<Change> & changes);
  bool
  IsToLookAt(const std::atomic<uint8_t> & isActive) const
  {
    return m_IsFirstSweep || isActive.load(std::memory_order_relaxed) != 0;
  }
  void
  LookAgainAround(int32_t x, int32_t y);
  void
  Transfer(const Change & change);
  void
  BeginSweep();
};
} // namespace itk::cuda::partition

#endif
