// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_partition_labels_RowFunctors_h
#define CudaFilters_partition_labels_RowFunctors_h

#include "executor/DisjointSets.h"
#include "partition/labels/SweepFunctors.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

// Work items that each handle a whole row of cells or of pixels, for executors with IsCoarseGrained. Such a work item
// needs no division to find its column, skips inactive cells eight at a time, and handles a run of equal labels at
// once.
namespace itk::cuda::partition::functors
{
/** Freezes the tangents of the regions before the cells of a colour change. */
struct FreezeTangents : SweepLoop
{
  static constexpr size_t Grain = 1024;

  DescriptionModel Model;
  const Moments *  Regions;
  LinearForm *     Tangents;

  void
  operator()(size_t region) const
  {
    Tangents[region] = Model.Linearize(Regions[region]);
  }
};

/** Moves the active cells of one colour as BeginColor and Compete do, without a list of these cells. */
template <typename TScene, typename TAtomics>
struct CompeteInRow : Compete<TScene, TAtomics>
{
  static constexpr size_t Grain = 8;

  ColorCells       Cells;
  uint8_t *        IsActive;
  const uint32_t * AnyChanged; // in the previous sweep

  size_t
  GetNumber() const
  {
    return *AnyChanged != 0 ? static_cast<size_t>((this->Grid.GetHeight() - Cells.FirstRow + 1) / 2) : 0;
  }
  void
  operator()(size_t row) const
  {
    const int32_t    y = Cells.FirstRow + 2 * static_cast<int32_t>(row);
    const int32_t    width = this->Grid.GetWidth();
    const size_t     first = this->Grid.IndexOf(0, y);
    const CellLabels labels{ this->Grid, this->Labels };
    for (int32_t x = Cells.FirstColumn; x < width; x += 2)
    {
      while (x + 8 <= width && AreInactive(IsActive + first + static_cast<size_t>(x)))
      {
        x += 8;
      }
      const size_t cell = first + static_cast<size_t>(x);
      if (x < width && IsActive[cell] != 0)
      {
        IsActive[cell] = 0;
        if (labels.IsAtBoundary(x, y))
        {
          this->ChooseFor(cell, x, y);
        }
      }
    }
  }

private:
  /** Returns whether eight adjacent cells are inactive. */
  static bool
  AreInactive(const uint8_t * cells)
  {
    uint64_t word;
    memcpy(&word, cells, sizeof(word));
    return word == 0;
  }
};

/** Returns the end of the run of equal labels that begins at column `first` of a row. */
inline uint32_t
FindEndOfRun(const uint32_t * labels, uint32_t first, uint32_t width)
{
  const uint32_t label = labels[first];
  uint32_t       end = first + 1;
  while (end + 4 <= width && ((labels[end] ^ label) | (labels[end + 1] ^ label) | (labels[end + 2] ^ label) |
                              (labels[end + 3] ^ label)) == 0)
  {
    end += 4;
  }
  while (end < width && labels[end] == label)
  {
    ++end;
  }
  return end;
}

/** Calls function(first, end) for the runs of a row of labels. */
template <typename TFunction>
void
ForRuns(const uint32_t * labels, uint32_t width, const TFunction & function)
{
  for (uint32_t first = 0; first < width;)
  {
    const uint32_t end = FindEndOfRun(labels, first, width);
    function(first, end);
    first = end;
  }
}

/** A loop over the rows of an image whose runs form sets. The first pixel of a run stands for the run: only these
 * pixels have parents. */
struct RowsOfRuns
{
  static constexpr size_t Grain = 16;

  uint32_t         Width;
  const uint32_t * Labels;
  uint32_t *       Parents;
};

/** Makes each run of a row the root of its own set. */
struct BeginRunsOfRow : RowsOfRuns
{
  void
  operator()(size_t row) const
  {
    const auto begin = static_cast<uint32_t>(row * Width);
    ForRuns(Labels + begin, Width, [&](uint32_t first, uint32_t) { Parents[begin + first] = begin + first; });
  }
};

/** Unites the runs of a row with the touching runs of the same label in the row above. */
template <typename TAtomics>
struct UniteRunsOfRow : RowsOfRuns
{
  void
  operator()(size_t row) const
  {
    if (row == 0)
    {
      return;
    }
    const auto             begin = static_cast<uint32_t>(row * Width);
    const uint32_t * const above = Labels + begin - Width;
    uint32_t               firstOfAbove = 0; // the run above the current column
    uint32_t               endOfAbove = FindEndOfRun(above, 0, Width);
    ForRuns(Labels + begin, Width, [&](uint32_t first, uint32_t end) {
      for (bool goesOn = true; goesOn;)
      {
        if (above[firstOfAbove] == Labels[begin + first])
        {
          Unite<TAtomics>(Parents, begin + first, begin - Width + firstOfAbove);
        }
        goesOn = endOfAbove < end;
        if (endOfAbove <= end && endOfAbove < Width)
        {
          firstOfAbove = endOfAbove;
          endOfAbove = FindEndOfRun(above, firstOfAbove, Width);
        }
      }
    });
  }
};

/** Returns the number of components whose first pixel is in a row. */
struct CountRootsOfRow : RowsOfRuns
{
  uint32_t
  operator()(size_t row) const
  {
    const auto begin = static_cast<uint32_t>(row * Width);
    uint32_t   roots = 0;
    ForRuns(Labels + begin, Width, [&](uint32_t first, uint32_t) {
      roots += Parents[begin + first] == begin + first ? 1 : 0;
    });
    return roots;
  }
};

/** The number of a component, which replaces the parent of its first pixel. Images have fewer than 2^31 pixels, so that
 * a bit is free to mark it. */
struct ComponentNumber
{
  static constexpr uint32_t Bit = 1u << 31;

  static uint32_t
  Find(const uint32_t * parents, uint32_t pixel)
  {
    uint32_t parent = parents[pixel];
    while ((parent & Bit) == 0)
    {
      parent = parents[parent];
    }
    return parent & ~Bit;
  }
};

/** Numbers the components whose first pixel is in a row, from 1. */
struct NumberRootsOfRow : RowsOfRuns
{
  const uint32_t * Before; // number of components that begin in earlier rows

  void
  operator()(size_t row) const
  {
    const auto begin = static_cast<uint32_t>(row * Width);
    uint32_t   number = Before[row];
    ForRuns(Labels + begin, Width, [&](uint32_t first, uint32_t) {
      if (Parents[begin + first] == begin + first)
      {
        Parents[begin + first] = ++number | ComponentNumber::Bit;
      }
    });
  }
};

/** Replaces the labels of a row by the numbers of the components, and adds the runs to the sums of their components. */
template <typename TScene, typename TAtomics>
struct NumberRunsOfRow : RowsOfRuns
{
  TScene     Scene;
  uint32_t * Numbers; // the labels
  Moments *  Regions;

  void
  operator()(size_t row) const
  {
    const auto begin = static_cast<uint32_t>(row * Width);
    Moments    before;
    ForRuns(Labels + begin, Width, [&](uint32_t first, uint32_t end) {
      const uint32_t number = ComponentNumber::Find(Parents, begin + first);
      const Moments  sums = Scene.SumRow(static_cast<int32_t>(row), 0, static_cast<int32_t>(end));
      TAtomics::Add(Regions[number], sums - before);
      before = sums;
      std::fill(Numbers + begin + first, Numbers + begin + end, number);
    });
  }
};
} // namespace itk::cuda::partition::functors

#endif
