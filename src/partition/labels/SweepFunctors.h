// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_partition_labels_SweepFunctors_h
#define CudaFilters_partition_labels_SweepFunctors_h

#include "runtime/HostDevice.h"
#include "partition/labels/CellFunctors.h"
#include "partition/labels/EdgeGraph.h"
#include "partition/Model.h"

#include <cstddef>
#include <cstdint>

// The work items that merge and move the cells of a grid in the search for labels.
namespace itk::cuda::partition
{
/** Converts row-major indices to columns and rows. Indices are below 2^32, because 32-bit divisions are faster. */
struct Rows
{
  int32_t Width;

  ITK_CUDA_HOST_DEVICE int32_t
  GetColumn(size_t i) const
  {
    return static_cast<int32_t>(static_cast<uint32_t>(i) % static_cast<uint32_t>(Width));
  }
  ITK_CUDA_HOST_DEVICE int32_t
  GetRow(size_t i) const
  {
    return static_cast<int32_t>(static_cast<uint32_t>(i) / static_cast<uint32_t>(Width));
  }
};

/** The edges between the cells of a grid: first the edges to the right neighbours, row by row, then those to the
 * neighbours below. */
struct CellEdges
{
  CellGrid Grid;

  ITK_CUDA_HOST_DEVICE size_t
  GetNumberToTheRight() const
  {
    return static_cast<size_t>(Grid.GetWidth() - 1) * static_cast<size_t>(Grid.GetHeight());
  }
  ITK_CUDA_HOST_DEVICE size_t
  GetNumber() const
  {
    return this->GetNumberToTheRight() +
           static_cast<size_t>(Grid.GetWidth()) * static_cast<size_t>(Grid.GetHeight() - 1);
  }
  /** Calls function(x, y, right) with the cell of an edge, and whether its neighbour is the right or the lower one. */
  template <typename TFunction>
  ITK_CUDA_HOST_DEVICE void
  Visit(size_t edge, const TFunction & function) const
  {
    const bool   right = edge < this->GetNumberToTheRight();
    const size_t number = right ? edge : edge - this->GetNumberToTheRight();
    const Rows   rows{ Grid.GetWidth() - (right ? 1 : 0) };
    function(rows.GetColumn(number), rows.GetRow(number), right);
  }
};

/** Labels of the pixels of an image, row by row. */
struct PixelLabels : Rows
{
  const uint32_t * Labels;

  ITK_CUDA_HOST_DEVICE uint32_t
  operator()(size_t pixel) const
  {
    return Labels[pixel];
  }
  /** Returns whether a pixel begins a run of equal labels in its row. */
  ITK_CUDA_HOST_DEVICE bool
  BeginsRun(size_t pixel) const
  {
    return this->GetColumn(pixel) == 0 || Labels[pixel] != Labels[pixel - 1];
  }
  /** Returns whether the left neighbour exists and has another label; DiffersFromAbove() does the same for the upper
   * one. */
  ITK_CUDA_HOST_DEVICE bool
  DiffersFromLeft(size_t pixel) const
  {
    return this->GetColumn(pixel) > 0 && Labels[pixel] != Labels[pixel - 1];
  }
  ITK_CUDA_HOST_DEVICE bool
  DiffersFromAbove(size_t pixel) const
  {
    return this->GetRow(pixel) > 0 && Labels[pixel] != Labels[pixel - static_cast<size_t>(Width)];
  }
};

namespace functors
{
/** Computes the sums of the cells, and whether all pixels of each have the same value. */
template <typename TScene>
struct SumCells
{
  TScene        Scene;
  CellGrid      Grid;
  GraphRegion * Regions;
  uint8_t *     IsOfOne;

  ITK_CUDA_HOST_DEVICE void
  operator()(size_t cell) const
  {
    const Rows    cells{ Grid.GetWidth() };
    const int32_t x = cells.GetColumn(cell);
    const int32_t y = cells.GetRow(cell);
    const Moments sums = SumCell(Scene, Grid, x, y);
    Regions[cell].Sums = sums;
    IsOfOne[cell] = IsOfOneValue(Scene, Grid, x, y, sums) ? 1 : 0;
  }
};

/** Creates the edges between the cells with the lengths of their boundaries. Each work item creates one edge. */
template <typename TScene>
struct LinkCells
{
  TScene     Scene;
  CellEdges  Edges;
  EdgeCode   Code;
  uint64_t * Keys;
  uint32_t * Lengths;

  ITK_CUDA_HOST_DEVICE void
  operator()(size_t edge) const
  {
    Edges.Visit(edge, [this, edge](int32_t x, int32_t y, bool right) {
      Keys[edge] =
        Code.Encode(static_cast<uint32_t>(Edges.Grid.IndexOf(x, y)),
                    static_cast<uint32_t>(right ? Edges.Grid.IndexOf(x + 1, y) : Edges.Grid.IndexOf(x, y + 1)));
      Lengths[edge] = MeasureBoundary(Scene, Edges.Grid, x, y, right);
    });
  }
};

/** A loop of a sweep over the cells. It has no work items after a sweep in which no cell changed. */
struct SweepLoop
{
  size_t           Number;
  const uint32_t * AnyChanged; // in the previous sweep

  ITK_CUDA_HOST_DEVICE size_t
  GetNumber() const
  {
    return *AnyChanged != 0 ? Number : 0;
  }
};

/** The cells of one colour. They do not touch each other. */
struct ColorCells
{
  CellGrid Grid;
  int32_t  FirstColumn;
  int32_t  FirstRow;

  ITK_CUDA_HOST_DEVICE int32_t
  GetColumns() const
  {
    return (Grid.GetWidth() - FirstColumn + 1) / 2;
  }
  ITK_CUDA_HOST_DEVICE size_t
  GetNumber() const
  {
    return static_cast<size_t>(this->GetColumns()) * static_cast<size_t>((Grid.GetHeight() - FirstRow + 1) / 2);
  }
};

/** A list of candidate cells (a non-owning view). It is divided into parts with separate counters, so that concurrent
 * work items rarely contend for the same counter. */
struct CandidateCells
{
  static constexpr uint32_t NumberOfParts = 16;
  static constexpr size_t   ItemsOfPart = 32;     // consecutive work items of one part
  static constexpr size_t   SpaceOfCounters = 64; // so that different memory partitions serve the counters
  static constexpr size_t   NumberOfCounters = NumberOfParts * SpaceOfCounters;

  size_t     CapacityOfPart;
  uint32_t * Cells;
  uint32_t * Counters;

  /** Returns the capacity of each part if each of `workItems` work items adds at most one cell. */
  static ITK_CUDA_HOST_DEVICE size_t
  GetCapacityOfPart(size_t workItems)
  {
    constexpr size_t itemsOfTurn = NumberOfParts * ItemsOfPart;
    return (workItems + itemsOfTurn - 1) / itemsOfTurn * ItemsOfPart;
  }
  /** Returns the number of work items that visit all cells; some of them have no cell. */
  ITK_CUDA_HOST_DEVICE size_t
  GetNumber() const
  {
    uint32_t most = 0;
    for (uint32_t part = 0; part < NumberOfParts; ++part)
    {
      const uint32_t number = Counters[part * SpaceOfCounters];
      most = number > most ? number : most;
    }
    return (most + ItemsOfPart - 1) / ItemsOfPart * (NumberOfParts * ItemsOfPart);
  }
  /** Adds a cell in work item i. */
  template <typename TAtomics>
  ITK_CUDA_HOST_DEVICE void
  Add(size_t i, size_t cell) const
  {
    const size_t part = i / ItemsOfPart % NumberOfParts;
    Cells[part * CapacityOfPart + TAtomics::FetchIncrement(Counters[part * SpaceOfCounters])] =
      static_cast<uint32_t>(cell);
  }
  /** Finds the cell that work item i visits. Returns false if it has no cell. */
  ITK_CUDA_HOST_DEVICE bool
  Get(size_t i, size_t & cell) const
  {
    const size_t part = i / ItemsOfPart % NumberOfParts;
    const size_t index = i / (NumberOfParts * ItemsOfPart) * ItemsOfPart + i % ItemsOfPart;
    const bool   isThere = index < Counters[part * SpaceOfCounters];
    cell = isThere ? Cells[part * CapacityOfPart + index] : 0;
    return isThere;
  }
};

/** Begins the changes of the cells of one colour: freezes the tangents and lists the candidate cells. Few cells are at
 * a boundary, and the list avoids warp divergence between work items with and without a boundary cell. */
template <typename TAtomics>
struct BeginColor : SweepLoop
{
  DescriptionModel Model;
  size_t           NumberOfLabels;
  const Moments *  Regions;
  LinearForm *     Tangents;
  ColorCells       Cells;
  CellLabels       Labels;
  uint8_t *        IsActive; // cleared in passing, because the next sweep marks cells here
  CandidateCells   Candidates;

  ITK_CUDA_HOST_DEVICE void
  operator()(size_t i) const
  {
    if (i < NumberOfLabels)
    {
      Tangents[i] = Model.Linearize(Regions[i]);
    }
    if (i < Cells.GetNumber())
    {
      this->AddIfCandidate(i);
    }
  }

private:
  ITK_CUDA_HOST_DEVICE void
  AddIfCandidate(size_t i) const
  {
    const Rows    cellsOfColor{ Cells.GetColumns() };
    const int32_t x = Cells.FirstColumn + 2 * cellsOfColor.GetColumn(i);
    const int32_t y = Cells.FirstRow + 2 * cellsOfColor.GetRow(i);
    const size_t  cell = Cells.Grid.IndexOf(x, y);
    if (IsActive[cell] != 0)
    {
      IsActive[cell] = 0;
      if (Labels.IsAtBoundary(x, y))
      {
        Candidates.Add<TAtomics>(i, cell);
      }
    }
  }
};

/** Moves the cells of one colour to the regions that are best for them. No work item reads a label that another one
 * writes. */
template <typename TScene, typename TAtomics>
struct Compete
{
  TScene             Scene;
  CellGrid           Grid;
  BoundaryCosts      Costs;
  const LinearForm * Tangents;
  uint32_t *         Labels;
  Moments *          Regions;
  uint8_t *          IsNext;
  CandidateCells     Candidates;
  uint32_t *         HasChanged; // in this sweep

  ITK_CUDA_HOST_DEVICE size_t
  GetNumber() const
  {
    return Candidates.GetNumber();
  }
  ITK_CUDA_HOST_DEVICE void
  operator()(size_t i) const
  {
    size_t cell = 0;
    if (!Candidates.Get(i, cell))
    {
      return;
    }
    const Rows rows{ Grid.GetWidth() };
    this->ChooseFor(cell, rows.GetColumn(cell), rows.GetRow(cell));
  }

protected:
  /** Moves a cell to the region that is best for it. */
  ITK_CUDA_HOST_DEVICE void
  ChooseFor(size_t cell, int32_t x, int32_t y) const
  {
    const CellLabels cells{ Grid, Labels };
    const Moments    sums = SumCell(Scene, Grid, x, y);
    const uint32_t   own = cells.Get(x, y);
    const uint32_t   to = ChooseRegion(cells, Tangents, Costs, x, y, sums);
    if (to != own)
    {
      Labels[cell] = to;
      TAtomics::Add(Regions[own], Moments{} - sums);
      TAtomics::Add(Regions[to], sums);
      this->ActivateNeighbors(x, y);
      TAtomics::StoreRelaxed(*HasChanged, uint32_t{ 1 });
    }
  }

private:
  ITK_CUDA_HOST_DEVICE void
  ActivateNeighbors(int32_t x, int32_t y) const
  {
    for (int32_t y2 = y - 1; y2 <= y + 1; ++y2)
    {
      for (int32_t x2 = x - 1; x2 <= x + 1; ++x2)
      {
        if (x2 >= 0 && x2 < Grid.GetWidth() && y2 >= 0 && y2 < Grid.GetHeight())
        {
          TAtomics::StoreRelaxed(IsNext[Grid.IndexOf(x2, y2)], uint8_t{ 1 });
        }
      }
    }
  }
};

/** Initializes the sweeps: all cells are active in the first one. */
struct BeginSweeps
{
  size_t     NumberOfCells;
  size_t     NumberOfCounters;
  uint8_t *  IsActive;
  uint8_t *  IsNext;
  uint32_t * Changed;
  uint32_t * CellCounters;

  ITK_CUDA_HOST_DEVICE size_t
  GetNumber() const
  {
    return NumberOfCells > NumberOfCounters ? NumberOfCells : NumberOfCounters;
  }
  ITK_CUDA_HOST_DEVICE void
  operator()(size_t i) const
  {
    if (i < NumberOfCells)
    {
      IsActive[i] = 1;
      IsNext[i] = 0;
    }
    if (i < NumberOfCounters)
    {
      CellCounters[i] = 0;
    }
    if (i <= static_cast<size_t>(MaximumNumberOfSweeps))
    {
      Changed[i] = i == 0 ? 1 : 0;
    }
  }
};
} // namespace functors
} // namespace itk::cuda::partition

#endif
