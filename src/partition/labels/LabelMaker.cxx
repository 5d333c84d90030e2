// SPDX-License-Identifier: Apache-2.0
#include "partition/labels/LabelMaker.h"

#include "partition/labels/Cells.h"
#include "partition/labels/Components.h"
#include "partition/labels/RegionGraph.h"

#include <algorithm>
#include <utility>

namespace itk::cuda::partition
{
namespace
{
/** Completed fractions after each stage. */
constexpr float ShareOfBlocks = 0.4f;
constexpr float ShareOfCells = 0.8f;

/** One run of MakeLabelMap(). */
class LabelMaker
{
public:
  LabelMaker(const Scene &            scene,
             const Model &            model,
             int32_t                  blockSize,
             const Work &             work,
             const ProgressFunction & progress)
    : m_Scene(scene)
    , m_Model(model)
    , m_Work(work)
    , m_Progress(progress)
    , m_Grid{ scene.Pixels.Width, scene.Pixels.Height, blockSize }
    , m_BlockSize(blockSize)
  {}

  LabelOutcome
  Make()
  {
    if (!this->MergeBlocks())
    {
      m_Labels.assign(m_Grid.GetNumberOfCells(), 1);
      return { this->FindComponentsOfCells(), false };
    }
    if (!this->LetCellsCompete())
    {
      return { this->FindComponentsOfCells(), false };
    }
    LabelOutcome outcome{ this->FindComponentsOfCells() };
    outcome.Finished = this->MergeRegions(outcome.Map);
    return outcome;
  }

private:
  const Scene &            m_Scene;
  const Model &            m_Model;
  const Work &             m_Work;
  const ProgressFunction & m_Progress;
  CellGrid                 m_Grid;
  const int32_t            m_BlockSize;
  std::vector<uint32_t>    m_Labels;  // of the grid's cells
  std::vector<Moments>     m_Regions; // by label

  bool
  Report(float share) const
  {
    return !m_Progress || m_Progress(share);
  }

  /** Merges until no merge is left. Reports progress from `begin`, with the initial number of regions, to `end`, with
   * few regions. Returns whether the merging was not stopped. */
  bool
  Merge(RegionGraph & graph, float begin, float end) const
  {
    const auto regionsAtFirst = static_cast<float>(graph.GetNumberOfRegions());
    size_t     merged = 1;
    while (merged > 0)
    {
      const float left = static_cast<float>(graph.GetNumberOfRegions()) / regionsAtFirst;
      if (!this->Report(end - (end - begin) * left))
      {
        return false;
      }
      merged = graph.MergeRound();
    }
    return true;
  }

  bool
  MergeBlocks()
  {
    CheckNumberOfRegions(m_Grid.GetNumberOfCells());
    std::vector<Moments>       sums = SumCells(m_Scene, m_Grid, m_Work);
    const std::vector<uint8_t> isOfOneValue = FindCellsOfOneValue(m_Scene, m_Grid, sums, m_Work);
    RegionGraph graph(m_Model, m_Work, std::move(sums), LinkCells(m_Scene, m_Grid, m_Work), isOfOneValue);
    if (!this->Merge(graph, 0.0f, ShareOfBlocks))
    {
      return false;
    }
    m_Labels = graph.NumberRegions();
    m_Regions = graph.GetSums();
    return true;
  }

  bool
  LetCellsCompete()
  {
    while (true)
    {
      const float done = 1.0f - static_cast<float>(m_Grid.Side) / static_cast<float>(2 * m_BlockSize);
      const auto  goOn = [&] { return this->Report(ShareOfBlocks + (ShareOfCells - ShareOfBlocks) * done); };
      if (!CellCompetition(m_Scene, m_Model, m_Work, m_Grid, m_Labels, m_Regions).Run(goOn))
      {
        return false;
      }
      if (m_Grid.Side == 1)
      {
        return true;
      }
      m_Labels = SplitCells(m_Labels, m_Grid, m_Work);
      m_Grid.Side /= 2;
    }
  }

  LabelMap
  FindComponentsOfCells()
  {
    if (m_Grid.Side == 1)
    {
      const uint32_t * const cells = m_Labels.data();
      const auto             getRow = [&](int32_t y) { return cells + m_Grid.IndexOf(0, y); };
      return FindComponents(m_Scene, m_Work, getRow, std::move(m_Labels));
    }
    // Reached only if the run was stopped.
    std::vector<uint32_t> pixels(static_cast<size_t>(m_Grid.ImageWidth) * static_cast<size_t>(m_Grid.ImageHeight));
    const auto            width = static_cast<size_t>(m_Grid.ImageWidth);
    m_Work.ParallelFor(static_cast<size_t>(m_Grid.ImageHeight), 1, [&](size_t y) {
      const uint32_t * cells = m_Labels.data() + m_Grid.IndexOf(0, static_cast<int32_t>(y) / m_Grid.Side);
      for (size_t x = 0; x < width; ++x)
      {
        pixels[y * width + x] = cells[x / static_cast<size_t>(m_Grid.Side)];
      }
    });
    return FindComponents(m_Scene, m_Work, [&](int32_t y) { return pixels.data() + static_cast<size_t>(y) * width; });
  }

  bool
  MergeRegions(LabelMap & map) const
  {
    std::vector<Moments> sums(map.Regions.begin() + 1, map.Regions.end());
    RegionGraph          graph(m_Model, m_Work, std::move(sums), LinkRegions(m_Scene, map, m_Work));
    if (!this->Merge(graph, ShareOfCells, 1.0f))
    {
      return false;
    }
    RenumberRegions(map, graph.NumberRegions(), graph.GetSums(), m_Work);
    return true;
  }
};
} // namespace

LabelOutcome
MakeLabelMap(const Scene &            scene,
             const Model &            model,
             int32_t                  blockSize,
             const Work &             work,
             const ProgressFunction & progress)
{
  return LabelMaker(scene, model, blockSize, work, progress).Make();
}

LabelMap
MakeLabelMapOf(const CudaImageView & labels, const Scene & scene, const Model & model, const Work & work)
{
  const auto * const data = static_cast<const uint32_t *>(labels.Data);
  LabelMap           map =
    FindComponents(scene, work, [&](int32_t y) { return data + static_cast<size_t>(y) * labels.Stride[1]; });
  const auto hasNoPixels = [](const Moments & sums) { return sums.Count == 0; };
  if (std::any_of(map.Regions.begin() + 1, map.Regions.end(), hasNoPixels))
  {
    std::vector<Moments> sums(map.Regions.begin() + 1, map.Regions.end());
    const RegionGraph    graph(model, work, std::move(sums), LinkRegions(scene, map, work));
    RenumberRegions(map, graph.NumberRegions(), graph.GetSums(), work);
  }
  return map;
}
} // namespace itk::cuda::partition
