// SPDX-License-Identifier: Apache-2.0
#include "itkCudaFieldScene.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <random>
#include <set>
#include <utility>

namespace itk::cuda::test
{
namespace
{
/** Numbers from 0 to 1, the same with every standard library. */
class Uniform
{
public:
  explicit Uniform(uint64_t seed)
    : m_Generator(seed)
  {}
  double
  operator()()
  {
    return (static_cast<double>(m_Generator() >> 11) + 0.5) * 0x1p-53;
  }
  size_t
  Below(size_t number)
  {
    return static_cast<size_t>(m_Generator() % number);
  }
  template <typename T>
  void
  Shuffle(std::vector<T> & items)
  {
    for (size_t i = items.size(); i > 1; --i)
    {
      std::swap(items[i - 1], items[this->Below(i)]);
    }
  }

private:
  std::mt19937_64 m_Generator;
};

using Pair = std::pair<uint32_t, uint32_t>;

/** Calls function(i, j) for pixels side by side or one above the other. */
template <typename TFunction>
void
ForNeighbors(const std::vector<uint32_t> & labels, size_t width, const TFunction & function)
{
  for (size_t i = 0; i < labels.size(); ++i)
  {
    if (i % width > 0)
    {
      function(i - 1, i);
    }
    if (i >= width)
    {
      function(i - width, i);
    }
  }
}

std::set<Pair>
FindNeighbors(const std::vector<uint32_t> & labels, size_t width)
{
  std::set<Pair> pairs;
  ForNeighbors(labels, width, [&](size_t i, size_t j) {
    if (labels[i] != labels[j])
    {
      pairs.insert(std::minmax(labels[i], labels[j]));
    }
  });
  return pairs;
}

std::vector<uint32_t>
MakeVoronoiCells(const FieldScene & scene, Uniform & uniform)
{
  std::vector<std::pair<double, double>> centers(scene.NumberOfCells);
  for (auto & [x, y] : centers)
  {
    x = uniform() * scene.Width;
    y = uniform() * scene.Height;
  }
  std::vector<uint32_t> labels(size_t{ scene.Width } * scene.Height);
  for (size_t i = 0; i < labels.size(); ++i)
  {
    const double px = static_cast<double>(i % scene.Width) + 0.5;
    const double py = static_cast<double>(i / scene.Width) + 0.5;
    double       least = std::numeric_limits<double>::infinity();
    for (uint32_t cell = 0; cell < scene.NumberOfCells; ++cell)
    {
      const double dx = centers[cell].first - px;
      const double dy = centers[cell].second - py;
      const double squared = dx * dx + dy * dy;
      if (squared < least)
      {
        least = squared;
        labels[i] = cell;
      }
    }
  }
  return labels;
}

/** Unites random neighbours, at most four cells to a region, until there are as many regions as are wanted. */
void
UniteCells(const FieldScene & scene, std::vector<uint32_t> & labels, Uniform & uniform)
{
  constexpr unsigned int    mostCells = 4;
  const std::set<Pair>      neighbors = FindNeighbors(labels, scene.Width);
  std::vector<Pair>         pairs(neighbors.begin(), neighbors.end());
  std::vector<uint32_t>     region(scene.NumberOfCells);
  std::vector<unsigned int> cells(scene.NumberOfCells, 1);
  std::iota(region.begin(), region.end(), 0u);
  uniform.Shuffle(pairs);
  unsigned int left = scene.NumberOfCells;
  for (const auto & [first, second] : pairs)
  {
    const uint32_t kept = region[first];
    const uint32_t gone = region[second];
    if (left > scene.NumberOfRegions && kept != gone && cells[kept] + cells[gone] <= mostCells)
    {
      cells[kept] += cells[gone];
      std::replace(region.begin(), region.end(), gone, kept);
      --left;
    }
  }
  std::map<uint32_t, uint32_t> numbers;
  for (uint32_t & label : labels)
  {
    label = numbers.emplace(region[label], static_cast<uint32_t>(numbers.size())).first->second;
  }
}

/** A level for each region, others than those of its neighbours: greedily, those of most neighbours first. */
std::vector<int>
ChooseLevels(const std::vector<uint32_t> & truth, size_t width, Uniform & uniform)
{
  constexpr int                      none = -1;
  const uint32_t                     number = 1 + *std::max_element(truth.begin(), truth.end());
  std::vector<std::vector<uint32_t>> neighbors(number);
  for (const auto & [first, second] : FindNeighbors(truth, width))
  {
    neighbors[first].push_back(second);
    neighbors[second].push_back(first);
  }
  std::vector<uint32_t> order(number);
  std::iota(order.begin(), order.end(), 0u);
  std::stable_sort(
    order.begin(), order.end(), [&](uint32_t x, uint32_t y) { return neighbors[x].size() > neighbors[y].size(); });
  std::vector<int> levels(number, none);
  for (const uint32_t region : order)
  {
    std::vector<int> free;
    for (int level = 0; free.size() < 3; ++level)
    {
      const bool isTaken = std::any_of(neighbors[region].begin(), neighbors[region].end(), [&](uint32_t neighbor) {
        return levels[neighbor] == level;
      });
      if (!isTaken)
      {
        free.push_back(level);
      }
    }
    // Few levels, so that intensities stay in range: the third one only where it is small.
    levels[region] = free[uniform.Below(free[2] < 5 ? 3 : (free[1] < 5 ? 2 : 1))];
  }
  return levels;
}

using Mask = std::vector<bool>;

/** Pixels with another label to the left or above. */
Mask
FindBoundary(const std::vector<uint32_t> & labels, size_t width)
{
  Mask boundary(labels.size(), false);
  ForNeighbors(labels, width, [&](size_t i, size_t j) {
    if (labels[i] != labels[j])
    {
      boundary[j] = true;
    }
  });
  return boundary;
}

/** Distance from a pixel to the nearest one of the mask, by squares that grow. */
double
DistanceTo(const Mask & mask, size_t width, size_t pixel)
{
  const auto columns = static_cast<int64_t>(width);
  const auto rows = static_cast<int64_t>(mask.size() / width);
  const auto x = static_cast<int64_t>(pixel % width);
  const auto y = static_cast<int64_t>(pixel / width);
  double     least = std::numeric_limits<double>::infinity();
  for (int64_t radius = 0; radius < columns + rows && static_cast<double>(radius) < least; ++radius)
  {
    for (int64_t dy = -radius; dy <= radius; ++dy)
    {
      const int64_t step = std::abs(dy) == radius ? 1 : std::max<int64_t>(2 * radius, 1);
      for (int64_t dx = -radius; dx <= radius; dx += step)
      {
        const bool isInside = x + dx >= 0 && x + dx < columns && y + dy >= 0 && y + dy < rows;
        if (isInside && mask[static_cast<size_t>((y + dy) * columns + x + dx)])
        {
          least = std::min(least, std::hypot(static_cast<double>(dx), static_cast<double>(dy)));
        }
      }
    }
  }
  return least;
}

struct BoundaryDistances
{
  double Mean{ 0.0 };
  double ShareNear{ 1.0 };
};

/** Of the pixels of one boundary from the other. */
BoundaryDistances
MeasureDistances(const Mask & from, const Mask & to, size_t width)
{
  constexpr double near = 2.0;
  size_t           number = 0;
  size_t           numberNear = 0;
  double           sum = 0.0;
  for (size_t i = 0; i < from.size(); ++i)
  {
    if (from[i])
    {
      const double distance = DistanceTo(to, width, i);
      ++number;
      numberNear += distance <= near ? 1 : 0;
      sum += distance;
    }
  }
  return number == 0 ? BoundaryDistances{}
                     : BoundaryDistances{ sum / static_cast<double>(number),
                                          static_cast<double>(numberNear) / static_cast<double>(number) };
}

double
CountPairs(size_t number)
{
  return 0.5 * static_cast<double>(number) * (static_cast<double>(number) - 1.0);
}

double
ComputeAdjustedRandIndex(const std::vector<uint32_t> & truth, const std::vector<uint32_t> & labels)
{
  std::map<Pair, size_t>     both;
  std::map<uint32_t, size_t> ofTruth;
  std::map<uint32_t, size_t> ofLabels;
  for (size_t i = 0; i < truth.size(); ++i)
  {
    ++both[{ truth[i], labels[i] }];
    ++ofTruth[truth[i]];
    ++ofLabels[labels[i]];
  }
  const auto sumPairs = [](const auto & counts) {
    double sum = 0.0;
    for (const auto & [key, count] : counts)
    {
      sum += CountPairs(count);
    }
    return sum;
  };
  const double expected = sumPairs(ofTruth) * sumPairs(ofLabels) / CountPairs(truth.size());
  const double largest = 0.5 * (sumPairs(ofTruth) + sumPairs(ofLabels));
  return (sumPairs(both) - expected) / (largest - expected);
}
} // namespace

std::vector<uint32_t>
FieldScene::MakeTruth() const
{
  Uniform               uniform(Seed);
  std::vector<uint32_t> labels = MakeVoronoiCells(*this, uniform);
  UniteCells(*this, labels, uniform);
  return labels;
}

FieldScene::ImageType::Pointer
FieldScene::MakeImage(const std::vector<uint32_t> & truth) const
{
  constexpr double       meanOfLevel2 = 1000.0;
  Uniform                uniform(1000 + 10 * Seed + Looks);
  const std::vector<int> levels = ChooseLevels(truth, Width, uniform);
  const auto             image = ImageType::New();
  image->SetRegions(ImageType::SizeType{ { Width, Height } });
  image->Allocate();
  for (size_t i = 0; i < truth.size(); ++i)
  {
    double sum = 0.0; // of Looks exponential variables
    for (unsigned int look = 0; look < Looks; ++look)
    {
      sum -= std::log(uniform());
    }
    const double mean = meanOfLevel2 * std::pow(Contrast, levels[truth[i]] - 2);
    image->GetBufferPointer()[i] = static_cast<unsigned short>(std::min(std::rint(mean * sum / Looks), 65535.0));
  }
  return image;
}

PartitionScore
ScorePartition(const std::vector<uint32_t> & truth, const std::vector<uint32_t> & labels, unsigned int width)
{
  const Mask              trueBoundary = FindBoundary(truth, width);
  const Mask              foundBoundary = FindBoundary(labels, width);
  const BoundaryDistances ofTruth = MeasureDistances(trueBoundary, foundBoundary, width);
  const BoundaryDistances ofLabels = MeasureDistances(foundBoundary, trueBoundary, width);
  return {
    ComputeAdjustedRandIndex(truth, labels), ofTruth.ShareNear, ofLabels.ShareNear, 0.5 * (ofTruth.Mean + ofLabels.Mean)
  };
}
} // namespace itk::cuda::test
