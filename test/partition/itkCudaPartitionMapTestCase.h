// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaPartitionMapTestCase_h
#define itkCudaPartitionMapTestCase_h

#include "runtime/DetailNames.h"
#include "partition/executor/HostExecutor.h"
#include "partition/refine/MapRefinement.h"
#include "partition/executor/HostScene.h"
#include "region/Samples.h"
#include "region/HostSums.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <numeric>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace itk::cuda::partition
{
using Random = std::mt19937;

inline int32_t
Draw(Random & random, int32_t choices)
{
  return static_cast<int32_t>(random() % static_cast<uint32_t>(choices));
}

/** Components of equal values over sides of pixels, numbered from 1 in the order of their first pixels. */
inline std::vector<uint32_t>
LabelComponents(const std::vector<uint32_t> & values, int32_t width, int32_t height)
{
  std::vector<uint32_t> labels(values.size(), 0);
  std::vector<int32_t>  stack;
  uint32_t              number = 0;
  for (int32_t first = 0; first < width * height; ++first)
  {
    if (labels[first] != 0)
    {
      continue;
    }
    labels[first] = ++number;
    stack.push_back(first);
    while (!stack.empty())
    {
      const int32_t i = stack.back();
      stack.pop_back();
      const auto visit = [&](bool exists, int32_t j) {
        if (exists && labels[j] == 0 && values[j] == values[i])
        {
          labels[j] = number;
          stack.push_back(j);
        }
      };
      visit(i % width > 0, i - 1);
      visit(i % width + 1 < width, i + 1);
      visit(i >= width, i - width);
      visit(i + width < width * height, i + width);
    }
  }
  return labels;
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

/** A pixel of a noise law; `level` from 0 says how bright. */
inline uint16_t
DrawPixel(NoiseLaw law, double level, Random & random)
{
  const auto clamp = [](double value) { return static_cast<uint16_t>(std::min(65535.0, std::max(0.0, value + 0.5))); };
  switch (law)
  {
    case NoiseLaw::Gamma:
      return clamp(std::exponential_distribution<double>(1.0 / (100.0 * (1.0 + level)))(random));
    case NoiseLaw::Rayleigh:
      return clamp(std::sqrt(std::exponential_distribution<double>(1.0 / (1.0e4 * (1.0 + level)))(random)));
    case NoiseLaw::Poisson:
      return clamp(std::poisson_distribution<int>(4.0 + 6.0 * level)(random) - 0.5);
    case NoiseLaw::Bernoulli:
      return std::bernoulli_distribution(std::min(0.95, 0.1 + 0.25 * level))(random) ? 1 : 0;
    case NoiseLaw::LogNormal:
      return clamp(std::exp(std::normal_distribution<double>(5.0 + 0.8 * level, 0.5)(random)) + 1.0);
    default:
      return clamp(std::normal_distribution<double>(200.0 + 40.0 * level, 25.0)(random));
  }
}

/** The labels of the pixels, from 1 in the order of their first pixels, and the sums by label; [0] has no samples. */
struct LabelMap
{
  std::vector<uint32_t> Labels;
  std::vector<Moments>  Regions;
};

/** An image with its sums, its law and a label map. */
class MapCase
{
public:
  int32_t               Width;
  int32_t               Height;
  std::vector<uint16_t> Pixels;
  std::vector<uint8_t>  Valid; // empty: all
  LabelMap              Labels;
  DescriptionModel      Model;

  MapCase(int32_t                       width,
          int32_t                       height,
          std::vector<uint16_t>         pixels,
          const std::vector<uint32_t> & labels,
          NoiseLaw                      law = NoiseLaw::Gaussian,
          std::vector<uint8_t>          valid = {})
    : Width(width)
    , Height(height)
    , Pixels(std::move(pixels))
    , Valid(std::move(valid))
    , m_Threads(1)
  {
    this->MakeSums(law);
    Labels.Labels = labels;
    Labels.Regions = this->SumLabels(labels, *std::max_element(labels.begin(), labels.end()));
    Model.Law = { law, 1.0, static_cast<int64_t>(m_Samples->NumberOfValidPixels) };
    Model.KnownVariance = 625.0;
    Model.LogNumberOfPixels = region::Log(static_cast<double>(width) * height);
  }

  const region::LevelSums &
  GetLevel() const
  {
    return m_Pyramid->GetLevel(0);
  }

  /** The scene without its mask, so that all pixels of a raster have a label. The sums are those of the valid pixels.
   */
  Scene
  GetScene() const
  {
    Scene scene(this->GetLevel(), *m_Samples);
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
        sums[labels[static_cast<size_t>(y) * Width + x]] +=
          this->GetLevel().RowPrefix(y, x + 1) - this->GetLevel().RowPrefix(y, x);
      }
    }
    return sums;
  }

private:
  region::Threads                     m_Threads;
  std::unique_ptr<region::Samples>    m_Samples;
  std::unique_ptr<region::RowSums>    m_RowSums;
  std::unique_ptr<region::SumPyramid> m_Pyramid;

  CudaImageView
  View(void * data, CudaComponentType type) const
  {
    CudaImageView view;
    view.Data = data;
    view.ComponentType = type;
    view.Size = { { static_cast<size_t>(Width), static_cast<size_t>(Height), 1, 1 } };
    view.Stride = { { 1, view.Size[0], Pixels.size(), Pixels.size() } };
    return view;
  }

  void
  MakeSums(NoiseLaw law)
  {
    CudaRegionSnakeInput input;
    input.Image = this->View(Pixels.data(), CudaComponentType::UShort);
    const CudaImageView mask = this->View(Valid.data(), CudaComponentType::UChar);
    input.ValidMask = Valid.empty() ? nullptr : &mask;
    CudaRegionSnakeParameters parameters;
    parameters.NoiseLaw = law;
    m_Samples = std::make_unique<region::Samples>(input, parameters, m_Threads);
    m_RowSums = std::make_unique<region::RowSums>(*m_Samples, region::UsesSquares(law), 0, m_Threads);
    m_Pyramid = std::make_unique<region::SumPyramid>(*m_RowSums, m_RowSums->GetWhole(), 0, m_Threads);
  }
};

/** Counts of the elements of a map. */
struct MapCounts
{
  size_t Regions{ 0 };
  size_t Nodes{ 0 };     // where boundaries inside the image end or turn
  size_t Junctions{ 0 }; // where more than two edges meet
  size_t Segments{ 0 };  // edges inside the image
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
  for (size_t i = 0; i < map.Nodes.size(); ++i)
  {
    counts.Nodes += isInner[i];
    counts.Junctions += map.Nodes[i].Degree > 2 ? 1 : 0;
  }
  counts.Regions = static_cast<size_t>(std::count(map.IsRegion.begin(), map.IsRegion.end(), 1));
  return counts;
}

/** Moves sums from the right to the left region. */
inline void
TransferSums(MapData & map, const MapEdge & edge)
{
  if (edge.Left != Outside)
  {
    map.Regions[edge.Left] += edge.Sums;
  }
  if (edge.Right != Outside)
  {
    map.Regions[edge.Right] -= edge.Sums;
  }
}

/** A text that describes an inconsistency of a map, or an empty string if it is planar and its sums are right. Compares
 * all pairs of edges whose rows overlap. */
std::string
VerifyMap(const MapData & map, const region::LevelSums & pixels);

/** The region of each pixel of a map: the one that contains the pixel's centre, with the tie rule of the edge sums. */
template <typename TExecutor>
std::vector<uint32_t>
Rasterize(const ExecutorMap<TExecutor> & map)
{
  std::vector<uint32_t> numbers(map.GetNumberOfRegions());
  std::iota(numbers.begin(), numbers.end(), 0u);
  const MapView         extent = map.View();
  std::vector<uint32_t> labels(static_cast<size_t>(extent.Width) * static_cast<size_t>(extent.Height), 0xcdcdcdcdu);
  const MapRaster<TExecutor> raster(map);
  raster.Write(numbers.data(), labels.data(), static_cast<size_t>(extent.Width));
  return labels;
}

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
  std::vector<uint32_t>
  Rasterize() const
  {
    return partition::Rasterize(Map.GetMap());
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
    pixels.push_back(DrawPixel(law, levels[cell], random));
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
  return { width, height, std::move(pixels), LabelComponents(rough, width, height), law, std::move(valid) };
}

/** A case of labels drawn as digits and letters, row by row, whose pixels have a value for each of them. */
inline MapCase
MakeDrawnCase(const std::vector<std::string> & rows)
{
  std::vector<uint32_t> values;
  std::vector<uint16_t> pixels;
  for (const std::string & row : rows)
  {
    for (const char c : row)
    {
      values.push_back(static_cast<uint32_t>(c));
      pixels.push_back(static_cast<uint16_t>(100 * c));
    }
  }
  const auto width = static_cast<int32_t>(rows.front().size());
  const auto height = static_cast<int32_t>(rows.size());
  return { width, height, std::move(pixels), LabelComponents(values, width, height) };
}
} // namespace itk::cuda::partition

#endif
