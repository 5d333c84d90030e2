// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_partition_labels_Cells_h
#define CudaFilters_partition_labels_Cells_h

#include "partition/labels/CellSteps.h"
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
/** The cells as regions: sums of each. */
std::vector<Moments>
SumCells(const Scene & scene, const CellGrid & grid, const Work & work);

/** Whether all valid pixels of a cell are alike, for each cell. \param sums as SumCells() gives them */
std::vector<uint8_t>
FindCellsOfOneValue(const Scene & scene, const CellGrid & grid, const std::vector<Moments> & sums, const Work & work);

/** The cells as regions: links of each to its up to four neighbours. */
std::vector<RegionLinks>
LinkCells(const Scene & scene, const CellGrid & grid, const Work & work);

/** Labels of the cells of half the side. */
std::vector<uint32_t>
SplitCells(const std::vector<uint32_t> & labels, const CellGrid & grid, const Work & work);

/** \class CellCompetition
 * \brief Cells at boundaries change to a neighbour's region, as long as the description and the length of the boundary
 * fall: region competition (Zhu and Yuille, IEEE Transactions on Pattern Analysis and Machine Intelligence 18, 1996).
 *
 * The cost of a cell in region q is the tangent of q's description at the cell's sums, and the length of the cell's
 * boundary to its eight neighbours. Tangents are frozen while the cells of one of four colours change: no two of these
 * cells touch, and tangents are never below the description.
 */
class CellCompetition
{
public:
  /** \param labels of the cells, from 1; they change
   * \param regions sums by label; they change */
  CellCompetition(const Scene &           scene,
                  const Model &           model,
                  const Work &            work,
                  const CellGrid &        grid,
                  std::vector<uint32_t> & labels,
                  std::vector<Moments> &  regions);

  /** Sweeps over all colours until nothing changes, at most MaximumNumberOfSweeps times.
   * \param goOn called before each colour; no more is done when it returns false
   * \returns whether goOn always returned true */
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
  std::vector<uint8_t>    m_IsStale;              // tangent of a region
  bool                    m_IsFirstSweep{ true }; // which looks at all cells
  Flags                   m_IsActive;             // cells that are looked at in this sweep
  Flags                   m_IsNext;               // in the next one
  Flags                   m_RowIsActive;          // rows with such cells
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
