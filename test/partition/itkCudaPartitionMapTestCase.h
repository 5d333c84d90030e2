// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaPartitionMapTestCase_h
#define itkCudaPartitionMapTestCase_h

#include "partition/itkCudaPartitionTestCase.h"
#include "partition/refine/MapRefinement.h"
#include "support/itkCudaTestPartition.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <numeric>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace itk::cuda::test
{
using namespace partition;
using Random = std::mt19937;

inline int32_t
Draw(Random & random, int32_t choices)
{
  return static_cast<int32_t>(random() % static_cast<uint32_t>(choices));
}

/** The cells nearest to random points. */
inline std::vector<uint32_t>
MakeVoronoiCells(int32_t width, int32_t height, int32_t number, Random & random)
{
  std::vector<std::pair<int32_t, int32_t>> points;
  for (int32_t i = 0; i < number; ++i)
  {
    points.emplace_back(Draw(random, width), Draw(random, height));
  }
  std::vector<uint32_t> cells;
  for (int32_t y = 0; y < height; ++y)
  {
    for (int32_t x = 0; x < width; ++x)
    {
      size_t     best = 0;
      const auto distance = [&](size_t i) {
        return (points[i].first - x) * (points[i].first - x) + (points[i].second - y) * (points[i].second - y);
      };
      for (size_t i = 1; i < points.size(); ++i)
      {
        best = distance(i) < distance(best) ? i : best;
      }
      cells.push_back(static_cast<uint32_t>(best));
    }
  }
  return cells;
}

/** Moves the boundaries of cells by random steps of a pixel: what a segmentation leaves behind. */
inline std::vector<uint32_t>
Roughen(std::vector<uint32_t> cells, int32_t width, int32_t height, int sweeps, Random & random)
{
  for (int32_t i = 0; i < sweeps * width * height; ++i)
  {
    const int32_t x = 1 + Draw(random, std::max(1, width - 2));
    const int32_t y = 1 + Draw(random, std::max(1, height - 2));
    const int32_t step[] = { -1, 1, -width, width };
    if (x + 1 < width && y + 1 < height && Draw(random, 4) == 0)
    {
      cells[y * width + x] = cells[y * width + x + step[Draw(random, 4)]];
    }
  }
  return cells;
}

/** An image with a label map of it. */
class MapCase : public PartitionCase
{
public:
  LabelMap         Labels;
  DescriptionModel Model;

  /** \param values equal for the neighboring pixels of a region */
  MapCase(PartitionCase image, const std::vector<uint32_t> & values)
    : PartitionCase(std::move(image))
    , m_Prepared(std::make_unique<PreparedCase>(*this))
  {
    const TestLabels labels = FindComponents({ Width, Height, values });
    Labels.Labels = labels.Pixels;
    Labels.Regions = this->SumLabels(labels.Pixels, labels.GetNumberOfRegions());
    Model = m_Prepared->Model;
    Model.KnownVariance = 625.0;
  }

  const region::LevelSums &
  GetLevel() const
  {
    return m_Prepared->Pyramid.GetLevel(0);
  }

  /** The scene without its mask, so that all pixels of a raster have a label. The sums are those of the valid pixels.
   */
  Scene
  GetScene() const
  {
    Scene scene = m_Prepared->Scene;
    scene.ValidBits = nullptr;
    return scene;
  }

  /** Sums of the pixels of each label up to `last`. */
  std::vector<Moments>
  SumLabels(const std::vector<uint32_t> & labels, uint32_t last) const
  {
    std::vector<Moments> sums(last + 1);
    for (int32_t y = 0; y < Height; ++y)
    {
      for (int32_t x = 0; x < Width; ++x)
      {
        sums[labels[this->IndexOf(x, y)]] += m_Prepared->Scene.SumRow(y, x, x + 1);
      }
    }
    return sums;
  }

private:
  std::unique_ptr<PreparedCase> m_Prepared;
};

/** Counts of the elements of a map. */
struct MapCounts
{
  size_t Regions{ 0 };
  size_t Nodes{ 0 };    // where boundaries inside the image end or turn
  size_t Segments{ 0 }; // edges inside the image
};

inline MapCounts
CountMap(const MapData & map)
{
  MapCounts            counts;
  std::vector<uint8_t> isInner(map.Nodes.size(), 0);
  for (const MapEdge & edge : map.Edges)
  {
    if (edge.IsAlive() && !edge.IsBorder())
    {
      ++counts.Segments;
      isInner[edge.Start] = isInner[edge.End] = 1;
    }
  }
  counts.Nodes = static_cast<size_t>(std::count(isInner.begin(), isInner.end(), 1));
  counts.Regions = static_cast<size_t>(std::count(map.IsRegion.begin(), map.IsRegion.end(), 1));
  return counts;
}

/** A text that describes an inconsistency of a map, or an empty string if it is planar and its sums are right. Compares
 * all pairs of edges whose rows overlap. */
std::string
VerifyMap(const MapData & map, const region::LevelSums & pixels);

/** No change makes a region smaller than this many valid pixels. */
constexpr uint64_t MinimumNumberOfPixels = 8;

/** The map of a case's labels, which MapRefinement refines on an executor. */
template <typename TExecutor>
class CaseMap
{
public:
  /** \param arguments of the executor after the scene */
  template <typename... TArguments>
  explicit CaseMap(const MapCase & image, size_t maximumVerticesOfPart, const TArguments &... arguments)
    : m_Image(image)
    , m_Scene(image.GetScene())
    , Executor(m_Scene, arguments...)
    , Map(Executor, image.Model, MinimumNumberOfPixels, image.Width, image.Height, maximumVerticesOfPart)
  {
    const LabelMap & labels = image.Labels;
    Map.StartFrom(Executor.Upload(labels.Labels.data(), labels.Labels.size()),
                  Executor.Upload(labels.Regions.data(), labels.Regions.size()),
                  labels.Regions.size() - 1);
  }

  CudaRegionPartitionStop
  Refine(const RefinementSchedule & schedule)
  {
    return Map.Refine(schedule);
  }
  uint32_t
  GetNumberOfIterations() const
  {
    return Map.GetNumberOfIterations();
  }
  MapData
  GetData() const
  {
    return Map.Download();
  }
  MapCounts
  GetCounts() const
  {
    return CountMap(this->GetData());
  }
  /** The description, computed from the map. */
  double
  GetDescription() const
  {
    const MapData map = this->GetData();
    double        description = 0.0;
    for (size_t i = 1; i < map.Regions.size(); ++i)
    {
      description += map.IsRegion[i] != 0 ? m_Image.Model.Describe(map.Regions[i]) : 0.0;
    }
    return description + m_Image.Model.SegmentCost * static_cast<double>(CountMap(map).Segments);
  }
  std::string
  Verify() const
  {
    return VerifyMap(this->GetData(), m_Image.GetLevel());
  }
  /** Returns the region of each pixel: the one that contains the pixel's centre, with the tie rule of the edge sums. */
  std::vector<uint32_t>
  Rasterize() const
  {
    std::vector<uint32_t> numbers(Map.GetMap().GetNumberOfRegions());
    std::iota(numbers.begin(), numbers.end(), 0u);
    std::vector<uint32_t>      labels(m_Image.Pixels.size(), 0xcdcdcdcdu);
    const MapRaster<TExecutor> raster(Map.GetMap());
    raster.Write(numbers.data(), labels.data(), static_cast<size_t>(m_Image.Width));
    return labels;
  }

private:
  const MapCase & m_Image;
  const Scene     m_Scene;

public:
  const TExecutor          Executor;
  MapRefinement<TExecutor> Map;
};

/** The map on one thread of the host. */
class PlanarMap : public CaseMap<SerialHostExecutor>
{
public:
  explicit PlanarMap(const MapCase & image)
    : CaseMap<SerialHostExecutor>(image, MaximumVerticesOfPart, OneThread)
  {}

private:
  inline static const region::Threads OneThread{ 1 };
};

/** A Voronoi scene of random size with noise of the law, and the rough label map of its cells. */
inline MapCase
MakeVoronoiCase(uint32_t seed, NoiseLaw law, bool masked, int32_t largestSide)
{
  Random                random(seed);
  const int32_t         width = 24 + Draw(random, largestSide - 23);
  const int32_t         height = 24 + Draw(random, largestSide - 23);
  const auto            cells = MakeVoronoiCells(width, height, 2 + Draw(random, width * height / 300), random);
  std::vector<double>   levels(cells.size());
  std::vector<uint16_t> pixels;
  std::vector<uint8_t>  valid;
  for (double & level : levels)
  {
    level = Draw(random, 5);
  }
  for (const uint32_t cell : cells)
  {
    pixels.push_back(MakeNoise(law, levels[cell], random));
    if (masked)
    {
      valid.push_back(Draw(random, 10) == 0 ? 0 : 1);
    }
  }
  pixels.front() = 0; // two values at least
  pixels.back() = 1;
  if (law == NoiseLaw::LogNormal)
  {
    pixels.front() = 2;
  }
  const auto rough = Roughen(cells, width, height, 1 + Draw(random, 2), random);
  return { { width, height, std::move(pixels), law, std::move(valid) }, rough };
}
} // namespace itk::cuda::test

#endif
