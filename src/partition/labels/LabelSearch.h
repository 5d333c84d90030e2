// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_partition_labels_LabelSearch_h
#define CudaFilters_partition_labels_LabelSearch_h

#include "partition/labels/EdgeGraph.h"
#include "partition/labels/EdgeTable.h"
#include "partition/labels/RowFunctors.h"
#include "executor/DisjointSets.h"
#include "partition/WriteLabels.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <type_traits>
#include <utility>

// The search for labels, as parallel loops over cells and pixels.
namespace itk::cuda::partition
{
namespace functors
{
/** Runs all sweeps over the cells of one size without the host. */
template <typename TScene, typename TAtomics>
struct RunSweeps
{
  static constexpr bool NeedsManyRegisters = true;

  TScene           Scene;
  CellGrid         Grid;
  BoundaryCosts    Costs;
  DescriptionModel Model;
  size_t           NumberOfLabels;
  LinearForm *     Tangents;
  uint32_t *       Labels;
  Moments *        Regions;
  uint8_t *        IsActive;
  uint8_t *        IsNext;
  uint32_t *       Changed; // whether cells changed in each sweep; [0] is initialized to 1
  uint32_t *       Cells;   // list of candidate cells
  uint32_t *       CellCounters;

  static constexpr int NumberOfColors = 4;

  /** Counters of all lists of cells. */
  static constexpr size_t NumberOfCounters =
    size_t{ MaximumNumberOfSweeps } * NumberOfColors * CandidateCells::NumberOfCounters;

  /** Returns the capacity of a list of cells. */
  static size_t
  GetCapacity(const CellGrid & grid)
  {
    return CandidateCells::NumberOfParts * CandidateCells::GetCapacityOfPart(ColorCells{ grid, 0, 0 }.GetNumber());
  }

  template <typename TLoopExecutor>
  ITK_CUDA_HOST_DEVICE void
  operator()(const TLoopExecutor & executor) const
  {
    const BeginSweeps begin{ Grid.GetNumberOfCells(), NumberOfCounters, IsActive, IsNext, Changed, CellCounters };
    executor.ParallelForUpTo(begin.GetNumber(), begin);
    for (int sweep = 0; sweep < MaximumNumberOfSweeps; ++sweep)
    {
      if (executor.IsDone(Changed + sweep))
      {
        return;
      }
      for (int32_t color = 0; color < NumberOfColors; ++color)
      {
        this->RunColor(executor, sweep, color);
      }
    }
  }

private:
  template <typename TLoopExecutor>
  ITK_CUDA_HOST_DEVICE void
  RunColor(const TLoopExecutor & executor, int sweep, int32_t color) const
  {
    const ColorCells                cells{ Grid, color % 2, color / 2 };
    const size_t                    number = cells.GetNumber() > NumberOfLabels ? cells.GetNumber() : NumberOfLabels;
    const CandidateCells            candidates{ CandidateCells::GetCapacityOfPart(cells.GetNumber()),
                                     Cells,
                                     CellCounters + static_cast<size_t>(sweep * NumberOfColors + color) *
                                                      CandidateCells::NumberOfCounters };
    uint8_t * const                 isActive = sweep % 2 == 0 ? IsActive : IsNext;
    uint8_t * const                 isNext = sweep % 2 == 0 ? IsNext : IsActive;
    const Compete<TScene, TAtomics> compete{ Scene,   Grid,   Costs,      Tangents,           Labels,
                                             Regions, isNext, candidates, Changed + sweep + 1 };
    if constexpr (TLoopExecutor::IsCoarseGrained)
    {
      const CompeteInRow<TScene, TAtomics> competeInRow{ compete, cells, isActive, Changed + sweep };
      executor.ParallelForUpTo(NumberOfLabels,
                               FreezeTangents{ { NumberOfLabels, Changed + sweep }, Model, Regions, Tangents });
      executor.ParallelForUpTo(competeInRow.GetNumber(), competeInRow);
    }
    else
    {
      executor.ParallelForUpTo(number,
                               BeginColor<TAtomics>{ { number, Changed + sweep },
                                                     Model,
                                                     NumberOfLabels,
                                                     Regions,
                                                     Tangents,
                                                     cells,
                                                     { Grid, Labels },
                                                     isActive,
                                                     candidates });
      executor.ParallelForUpTo(CandidateCells::NumberOfParts * candidates.CapacityOfPart, compete);
    }
  }
};

/** Computes the labels of the cells of half the side. */
struct SplitCells
{
  CellGrid         Whole;
  CellGrid         Half;
  const uint32_t * Labels;
  uint32_t *       HalfLabels;

  ITK_CUDA_HOST_DEVICE void
  operator()(size_t cell) const
  {
    const Rows cells{ Half.GetWidth() };
    HalfLabels[cell] = Labels[Whole.IndexOf(cells.GetColumn(cell) / 2, cells.GetRow(cell) / 2)];
  }
};

/** Returns the pixel's index if it begins a run, and else 0. An inclusive maximum scan then gives each pixel the first
 * pixel of its run. */
struct FirstOfRun
{
  PixelLabels Pixels;

  ITK_CUDA_HOST_DEVICE uint32_t
  operator()(size_t pixel) const
  {
    return Pixels.BeginsRun(pixel) ? static_cast<uint32_t>(pixel) : 0;
  }
};

/** Unites touching runs of one label in adjacent rows, at the first pixel where they touch. */
template <typename TAtomics>
struct UniteRuns
{
  PixelLabels Pixels;
  uint32_t *  Parents;

  ITK_CUDA_HOST_DEVICE void
  operator()(size_t pixel) const
  {
    if (Pixels.GetRow(pixel) == 0 || Pixels.DiffersFromAbove(pixel))
    {
      return;
    }
    const size_t above = pixel - static_cast<size_t>(Pixels.Width);
    if (Pixels.BeginsRun(pixel) || Pixels.BeginsRun(above))
    {
      Unite<TAtomics>(Parents, static_cast<uint32_t>(pixel), static_cast<uint32_t>(above));
    }
  }
};

/** Sums the regions from row prefix sums: at each end of a run, the prefix sum is added to the run's region and
 * subtracted from the region of the next run. The order does not matter, because the arithmetic is modulo 2^64. */
template <typename TScene, typename TAtomics>
struct SumRegions
{
  TScene      Scene;
  PixelLabels Pixels;
  Moments *   Regions;

  ITK_CUDA_HOST_DEVICE void
  operator()(size_t pixel) const
  {
    const int32_t x = Pixels.GetColumn(pixel);
    const int32_t y = Pixels.GetRow(pixel);
    if (Pixels.DiffersFromLeft(pixel))
    {
      const Moments before = Scene.SumRow(y, 0, x);
      TAtomics::Add(Regions[Pixels.Labels[pixel - 1]], before);
      TAtomics::Add(Regions[Pixels.Labels[pixel]], Moments{} - before);
    }
    if (x + 1 == Pixels.Width)
    {
      TAtomics::Add(Regions[Pixels.Labels[pixel]], Scene.SumRow(y, 0, Pixels.Width));
    }
  }
};

/** Adds the pixel sides between regions to a table. Each pixel handles its left and its upper side. */
template <typename TScene, typename TAtomics>
struct LinkRegions
{
  TScene        Scene;
  PixelLabels   Pixels;
  EdgeCode      Code;
  EdgeTableView Table;
  size_t        TableSize;
  uint32_t *    Slots; // slots of the edges in the table
  uint32_t *    Number;

  ITK_CUDA_HOST_DEVICE void
  operator()(size_t pixel) const
  {
    const int32_t x = Pixels.GetColumn(pixel);
    const int32_t y = Pixels.GetRow(pixel);
    if (Pixels.DiffersFromLeft(pixel))
    {
      this->Add(pixel, pixel - 1, Scene.IsValid(x, y) && Scene.IsValid(x - 1, y));
    }
    if (Pixels.DiffersFromAbove(pixel))
    {
      this->Add(pixel, pixel - static_cast<size_t>(Pixels.Width), Scene.IsValid(x, y) && Scene.IsValid(x, y - 1));
    }
  }

private:
  ITK_CUDA_HOST_DEVICE void
  Add(size_t pixel, size_t other, bool bothValid) const
  {
    // Regions of a map are numbered from 1, regions of the graph from 0.
    const uint64_t key = Code.Encode(Pixels.Labels[pixel] - 1, Pixels.Labels[other] - 1);
    const auto     entry = Table.template Add<TAtomics>(key, bothValid ? 1 : 0, TableSize);
    if (entry.IsNew)
    {
      Slots[TAtomics::FetchIncrement(*Number)] = entry.Slot;
    }
  }
};

/** Gives each pixel the final number of its region. */
struct RenumberPixels
{
  uint32_t *       Labels;
  const uint32_t * Numbers;

  ITK_CUDA_HOST_DEVICE void
  operator()(size_t pixel) const
  {
    Labels[pixel] = Numbers[Labels[pixel] - 1];
  }
};

/** Copies the regions without the unused entry 0. */
struct DropFirst
{
  const Moments * Sums;
  GraphRegion *   Regions;

  ITK_CUDA_HOST_DEVICE void
  operator()(size_t i) const
  {
    Regions[i].Sums = Sums[i + 1];
  }
};

} // namespace functors

/** Lists the edges between the regions of a label map with the lengths of their boundaries. The neighbours of connected
 * regions form a planar graph, which has fewer than three edges per region. */
template <typename TExecutor>
typename EdgeGraph<TExecutor>::EdgeList
ListRegionEdges(const TExecutor & executor, const PixelLabels & labels, size_t pixels, size_t numberOfRegions)
{
  using Atomics = typename TExecutor::Atomics;
  using EdgeList = typename EdgeGraph<TExecutor>::EdgeList;
  const size_t               most = std::min(3 * numberOfRegions, 2 * pixels);
  const EdgeTable<TExecutor> table(executor, most);
  const auto                 slots = executor.template Allocate<uint32_t>(most);
  const auto                 counter = executor.template Allocate<uint32_t>(1);
  executor.Fill(counter.Get(), 1, 0);
  executor.VisitScene([&](const auto & scene) {
    executor.ParallelFor(pixels,
                         functors::LinkRegions<std::decay_t<decltype(scene)>, Atomics>{ scene,
                                                                                        labels,
                                                                                        EdgeCode::Of(numberOfRegions),
                                                                                        table.View(),
                                                                                        EdgeTableView::GetSize(most),
                                                                                        slots.Get(),
                                                                                        counter.Get() });
  });
  const size_t number = executor.Read(counter.Get());
  EdgeList list{ executor.template Allocate<uint64_t>(number), executor.template Allocate<uint32_t>(number), number };
  executor.ParallelFor(number, functors::TakeEdges{ table.View(), slots.Get(), list.Keys.Get(), list.Lengths.Get() });
  return list;
}

/** \class LabelSearch
 * \brief Finds the regions of an image. Regions are numbered from 1 in the order of their first pixels and are
 * 4-connected. Every pixel belongs to a region; invalid pixels do not contribute to its sums.
 *
 * The executor also provides the scene: VisitScene(function) calls function(scene) with the interface that the cell
 * kernels need.
 */
template <typename TExecutor>
class LabelSearch
{
public:
  template <typename T>
  using Array = typename TExecutor::template Array<T>;
  using Atomics = typename TExecutor::Atomics;
  using ProgressFunction = std::function<bool(float)>;

  LabelSearch(const TExecutor & executor, const DescriptionModel & model, int32_t width, int32_t height)
    : m_Executor(executor)
    , m_Model(model)
    , m_Grid{ width, height, 1 }
  {}

  /** Finds regions: blocks of pixels merge, then cells of blockSize, blockSize / 2, ... 1 pixels compete, and finally
   * the connected components merge again. Returns false if `progress` returned false; there are no labels then.
   * \param blockSize a power of 2
   * \param progress called by the calling thread with the completed fraction; returns whether to continue; may be empty
   */
  bool
  Search(int32_t blockSize, const ProgressFunction & progress);

  /** Finds the regions of given labels of the pixels, in executor memory: their 4-connected components. Regions without
   * valid pixels join others. */
  void
  StartFrom(Array<uint32_t> labels);

  /** Writes the label image. \param stride of the rows of `labels` */
  template <typename TLabel>
  void
  Write(TLabel * labels, size_t stride) const
  {
    m_Executor.VisitScene([&](const auto & scene) {
      m_Executor.ParallelFor(this->GetNumberOfPixels(),
                             functors::WriteLabels<std::decay_t<decltype(scene)>, PixelLabels, TLabel>{
                               scene, this->GetPixels(), m_Grid.ImageWidth, nullptr, labels, stride });
    });
  }

  size_t
  GetNumberOfRegions() const
  {
    return m_NumberOfRegions;
  }
  /** Returns the sums by label; [0] has no samples. */
  const Array<Moments> &
  GetRegions() const
  {
    return m_Regions;
  }
  PixelLabels
  GetPixels() const
  {
    return { { m_Grid.ImageWidth }, m_Labels.Get() };
  }
  size_t
  GetNumberOfPixels() const
  {
    return static_cast<size_t>(m_Grid.ImageWidth) * static_cast<size_t>(m_Grid.ImageHeight);
  }

  /** Moves the labels out of the search, as TakeRegionSums() does with the sums. */
  Array<uint32_t>
  TakeLabels()
  {
    return std::move(m_Labels);
  }
  Array<Moments>
  TakeRegionSums()
  {
    return std::move(m_Regions);
  }

private:
  using Graph = EdgeGraph<TExecutor>;
  using EdgeList = typename Graph::EdgeList;

  // Completed fractions after each stage.
  static constexpr float ShareOfBlocks = 0.4f;
  static constexpr float ShareOfCells = 0.8f;
  // Up to this number of cells, the launches of a sweep's loops would take longer than the sweep.
  static constexpr size_t CellsOfCooperativeRun = size_t{ 1 } << 21;

  const TExecutor &      m_Executor;
  const DescriptionModel m_Model;
  CellGrid               m_Grid;
  ProgressFunction       m_Progress;
  Array<uint32_t>        m_Labels;  // of the grid's cells; finally of the pixels
  Array<Moments>         m_Regions; // by label
  size_t                 m_NumberOfRegions{ 0 };

  bool
  Report(float share) const
  {
    return !m_Progress || m_Progress(share);
  }

  bool
  Merge(Graph & graph, float begin, float end) const
  {
    const auto regionsBefore = static_cast<float>(graph.GetNumberOfRegions());
    bool       goesOn = true;
    while (goesOn) // every series merges regions, except the last one
    {
      const float left = static_cast<float>(graph.GetNumberOfRegions()) / regionsBefore;
      if (!this->Report(end - (end - begin) * left))
      {
        return false;
      }
      goesOn = graph.MergeSomeRounds();
    }
    return true;
  }

  bool
  MergeBlocks()
  {
    const size_t       cells = m_Grid.GetNumberOfCells();
    const CellEdges    edges{ m_Grid };
    EdgeList           list{ m_Executor.template Allocate<uint64_t>(edges.GetNumber()),
                   m_Executor.template Allocate<uint32_t>(edges.GetNumber()),
                   edges.GetNumber() };
    Array<GraphRegion> regions = m_Executor.template Allocate<GraphRegion>(cells);
    const auto         isOfOneValue = m_Executor.template Allocate<uint8_t>(cells);
    m_Executor.VisitScene([&](const auto & scene) {
      using SceneType = std::decay_t<decltype(scene)>;
      m_Executor.ParallelFor(cells, functors::SumCells<SceneType>{ scene, m_Grid, regions.Get(), isOfOneValue.Get() });
      m_Executor.ParallelFor(
        list.Number,
        functors::LinkCells<SceneType>{ scene, edges, EdgeCode::Of(cells), list.Keys.Get(), list.Lengths.Get() });
    });
    Graph graph(
      m_Executor, m_Model, this->GetNumberOfPixels(), std::move(regions), cells, std::move(list), isOfOneValue.Get());
    if (!this->Merge(graph, 0.0f, ShareOfBlocks))
    {
      return false;
    }
    auto outcome = graph.TakeOutcome();
    m_Labels = std::move(outcome.Numbers);
    m_Regions = std::move(outcome.Sums);
    m_NumberOfRegions = graph.GetNumberOfRegions();
    return true;
  }

  bool
  LetCellsCompete(int32_t blockSize)
  {
    while (true)
    {
      const float done = 1.0f - static_cast<float>(m_Grid.Side) / static_cast<float>(2 * blockSize);
      if (!this->LetCellsOfASizeCompete(ShareOfBlocks + (ShareOfCells - ShareOfBlocks) * done))
      {
        return false;
      }
      if (m_Grid.Side == 1)
      {
        return true;
      }
      const CellGrid  half{ m_Grid.ImageWidth, m_Grid.ImageHeight, m_Grid.Side / 2 };
      Array<uint32_t> labels = m_Executor.template Allocate<uint32_t>(half.GetNumberOfCells());
      m_Executor.ParallelFor(half.GetNumberOfCells(),
                             functors::SplitCells{ m_Grid, half, m_Labels.Get(), labels.Get() });
      m_Labels = std::move(labels);
      m_Grid = half;
    }
  }

  bool
  LetCellsOfASizeCompete(float share)
  {
    if (!this->Report(share))
    {
      return false;
    }
    const size_t cells = m_Grid.GetNumberOfCells();
    const auto   tangents = m_Executor.template Allocate<LinearForm>(m_NumberOfRegions + 1);
    const auto   isActive = m_Executor.template Allocate<uint8_t>(cells);
    const auto   isNext = m_Executor.template Allocate<uint8_t>(cells);
    const auto   changed = m_Executor.template Allocate<uint32_t>(MaximumNumberOfSweeps + 1);
    m_Executor.VisitScene([&](const auto & scene) {
      using Sweeps = functors::RunSweeps<std::decay_t<decltype(scene)>, Atomics>;
      const auto   candidates = m_Executor.template Allocate<uint32_t>(Sweeps::GetCapacity(m_Grid));
      const auto   counters = m_Executor.template Allocate<uint32_t>(Sweeps::NumberOfCounters);
      const Sweeps sweeps{ scene,
                           m_Grid,
                           BoundaryCosts(m_Grid.Side),
                           m_Model,
                           m_NumberOfRegions + 1,
                           tangents.Get(),
                           m_Labels.Get(),
                           m_Regions.Get(),
                           isActive.Get(),
                           isNext.Get(),
                           changed.Get(),
                           candidates.Get(),
                           counters.Get() };
      m_Executor.PrefersSingleLaunch(cells, CellsOfCooperativeRun) ? m_Executor.RunCooperatively(sweeps, cells / 4)
                                                                   : m_Executor.Run(sweeps);
    });
    return true;
  }

  /** Finds the 4-connected components of equal labels. The root of a component is its first pixel. */
  void
  FindComponents()
  {
    const size_t pixels = this->GetNumberOfPixels();
    const auto   parents = m_Executor.template Allocate<uint32_t>(pixels);
    if constexpr (TExecutor::IsCoarseGrained)
    {
      this->FindComponentsByRows(parents.Get());
      return;
    }
    Array<uint32_t> numbers = m_Executor.template Allocate<uint32_t>(pixels);
    m_Executor.InclusiveMaxScan(functors::FirstOfRun{ this->GetPixels() }, pixels, parents.Get());
    m_Executor.ParallelFor(pixels, functors::UniteRuns<Atomics>{ this->GetPixels(), parents.Get() });
    m_NumberOfRegions = NumberSets(m_Executor, parents.Get(), pixels, numbers.Get());
    m_Labels = std::move(numbers);
    m_Regions = m_Executor.template Allocate<Moments>(m_NumberOfRegions + 1);
    m_Executor.Fill(m_Regions.Get(), m_NumberOfRegions + 1, 0);
    m_Executor.VisitScene([&](const auto & scene) {
      m_Executor.ParallelFor(
        pixels,
        functors::SumRegions<std::decay_t<decltype(scene)>, Atomics>{ scene, this->GetPixels(), m_Regions.Get() });
    });
  }

  /** Finds the components by runs of pixels, and numbers them in place. */
  void
  FindComponentsByRows(uint32_t * parents)
  {
    const auto                 rows = static_cast<size_t>(m_Grid.ImageHeight);
    const functors::RowsOfRuns runs{ static_cast<uint32_t>(m_Grid.ImageWidth), m_Labels.Get(), parents };
    const auto                 before = m_Executor.template Allocate<uint32_t>(rows + 1);
    m_Executor.ParallelFor(rows, functors::BeginRunsOfRow{ runs });
    m_Executor.ParallelFor(rows, functors::UniteRunsOfRow<Atomics>{ runs });
    m_NumberOfRegions = m_Executor.ExclusiveScanAndRead(functors::CountRootsOfRow{ runs }, rows, before.Get());
    m_Executor.ParallelFor(rows, functors::NumberRootsOfRow{ runs, before.Get() });
    m_Regions = m_Executor.template Allocate<Moments>(m_NumberOfRegions + 1);
    m_Executor.Fill(m_Regions.Get(), m_NumberOfRegions + 1, 0);
    m_Executor.VisitScene([&](const auto & scene) {
      using SceneType = std::decay_t<decltype(scene)>;
      m_Executor.ParallelFor(
        rows, functors::NumberRunsOfRow<SceneType, Atomics>{ runs, scene, m_Labels.Get(), m_Regions.Get() });
    });
  }

  bool
  HasEmpty(const GraphRegion * regions) const
  {
    const auto found = m_Executor.template Allocate<uint32_t>(1);
    m_Executor.Fill(found.Get(), 1, 0);
    m_Executor.ParallelFor(m_NumberOfRegions, functors::FindEmpty<Atomics>{ regions, found.Get() });
    return m_Executor.Read(found.Get()) != 0;
  }

  /** Absorbs regions without valid pixels, and merges regions if `merge` is true. */
  bool
  MergeRegions(bool merge)
  {
    Array<GraphRegion> regions = m_Executor.template Allocate<GraphRegion>(m_NumberOfRegions);
    m_Executor.ParallelFor(m_NumberOfRegions, functors::DropFirst{ m_Regions.Get(), regions.Get() });
    if (!merge && !this->HasEmpty(regions.Get()))
    {
      return true;
    }
    Graph graph(m_Executor,
                m_Model,
                this->GetNumberOfPixels(),
                std::move(regions),
                m_NumberOfRegions,
                ListRegionEdges(m_Executor, this->GetPixels(), this->GetNumberOfPixels(), m_NumberOfRegions));
    if (merge && !this->Merge(graph, ShareOfCells, 1.0f))
    {
      return false;
    }
    auto outcome = graph.TakeOutcome();
    m_Executor.ParallelFor(this->GetNumberOfPixels(),
                           functors::RenumberPixels{ m_Labels.Get(), outcome.Numbers.Get() });
    m_Regions = std::move(outcome.Sums);
    m_NumberOfRegions = graph.GetNumberOfRegions();
    return true;
  }
};

// The following are not inline, so that their instantiations can be compiled apart.
template <typename TExecutor>
bool
LabelSearch<TExecutor>::Search(int32_t blockSize, const ProgressFunction & progress)
{
  m_Grid.Side = blockSize;
  m_Progress = progress;
  if (!this->MergeBlocks() || !this->LetCellsCompete(blockSize))
  {
    return false;
  }
  this->FindComponents();
  return this->MergeRegions(true);
}

template <typename TExecutor>
void
LabelSearch<TExecutor>::StartFrom(Array<uint32_t> labels)
{
  m_Labels = std::move(labels);
  this->FindComponents();
  this->MergeRegions(false);
}

/** Estimates the executor memory in bytes that LabelSearch needs, without the samples and their prefix sums. An image
 * with unusually many one-pixel components needs more, which shows only during the run. */
inline size_t
GetLabelSearchBytes(size_t width, size_t height, size_t blockSize)
{
  constexpr size_t perLabel = sizeof(uint32_t);
  // Memory of an EdgeGraph: the arrays of GraphView and the numbers of the regions. The compacted copy of the regions
  // is made when a quarter of them remain.
  constexpr size_t perRegion = sizeof(GraphRegion) + 2 * sizeof(uint64_t) + 3 * sizeof(uint32_t) + 1;
  constexpr size_t perListed = sizeof(uint64_t) + sizeof(uint32_t) + sizeof(double);
  constexpr size_t perSlot = sizeof(uint64_t) + sizeof(uint32_t);
  const auto       graph = [](size_t regions, size_t edges) {
    return regions * perRegion + regions / 4 * sizeof(GraphRegion) + 2 * edges * perListed +
           EdgeTableView::GetSize(edges) * perSlot + MaximumCachedCosts * sizeof(double);
  };
  const size_t cells = ((width - 1) / blockSize + 1) * ((height - 1) / blockSize + 1);
  const size_t pixels = width * height;
  // First the labels, parents, ranks and numbers of the pixels; later the labels and the graph of the components.
  const size_t components = pixels / 16 + 1;
  const size_t ofComponents = pixels * perLabel + components * sizeof(Moments) + graph(components, 3 * components);
  return std::max({ graph(cells, 2 * cells), 4 * pixels * perLabel, ofComponents });
}
} // namespace itk::cuda::partition

#endif
