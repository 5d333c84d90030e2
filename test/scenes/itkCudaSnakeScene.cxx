// SPDX-License-Identifier: Apache-2.0
#include "itkCudaSnakeScene.h"

#include "runtime/DetailNames.h"
#include "itkCudaDetailRegionSnakeEngine.h"
#include "region/Math.h"
#include "region/Threads.h"

#include <algorithm>
#include <cmath>

namespace itk::cuda
{
namespace
{
// In thousandths of the side.
constexpr int32_t StandardOutline[][2] = { { 180, 420 }, { 230, 380 }, { 300, 350 }, { 360, 300 }, { 420, 290 },
                                           { 480, 300 }, { 560, 290 }, { 640, 310 }, { 700, 290 }, { 730, 240 },
                                           { 770, 290 }, { 820, 330 }, { 860, 400 }, { 850, 450 }, { 800, 480 },
                                           { 770, 540 }, { 740, 600 }, { 735, 760 }, { 690, 765 }, { 680, 640 },
                                           { 600, 650 }, { 500, 660 }, { 420, 650 }, { 400, 770 }, { 350, 775 },
                                           { 345, 640 }, { 290, 600 }, { 240, 540 }, { 200, 480 } };
constexpr int32_t StarOutline[][2] = { { 485, 150 }, { 515, 150 }, { 515, 450 }, { 800, 450 }, { 800, 480 },
                                       { 515, 480 }, { 700, 760 }, { 670, 780 }, { 500, 520 }, { 330, 780 },
                                       { 300, 760 }, { 485, 480 }, { 200, 480 }, { 200, 450 }, { 485, 450 } };

/** An outline scaled by numerator / denominator and moved to an offset, in thousandths. */
template <size_t VNumber>
CudaSnakePolygon
Place(const int32_t (&outline)[VNumber][2],
      const SnakeScene & scene,
      int64_t            numerator,
      int64_t            denominator,
      int64_t            offsetX,
      int64_t            offsetY)
{
  CudaSnakePolygon polygon;
  for (const auto & vertex : outline)
  {
    const int64_t x = offsetX * denominator + vertex[0] * numerator;
    const int64_t y = offsetY * denominator + vertex[1] * numerator;
    polygon.push_back({ static_cast<int32_t>(x * scene.Width / (1000 * denominator)),
                        static_cast<int32_t>(y * scene.Height / (1000 * denominator)) });
  }
  return polygon;
}

/** Columns where some rows enter and leave the union of polygons, in ascending order. */
class UnionSpans
{
public:
  UnionSpans(const std::vector<CudaSnakePolygon> & polygons, int32_t height)
  {
    for (const CudaSnakePolygon & polygon : polygons)
    {
      m_Spans.push_back(ComputeCudaSnakeRowSpans(polygon, height));
    }
  }

  /** Crossings of a row. The outlines of a scene are apart from each other, so sorting all crossings is enough. */
  std::vector<int32_t>
  GetRow(size_t y) const
  {
    std::vector<int32_t> columns;
    for (const CudaSnakeRowSpans & spans : m_Spans)
    {
      columns.insert(columns.end(), spans.Columns.begin() + spans.First[y], spans.Columns.begin() + spans.First[y + 1]);
    }
    std::sort(columns.begin(), columns.end());
    return columns;
  }

private:
  std::vector<CudaSnakeRowSpans> m_Spans;
};

int
CountBits64(uint64_t bits)
{
  bits = bits - ((bits >> 1) & 0x5555555555555555u);
  bits = (bits & 0x3333333333333333u) + ((bits >> 2) & 0x3333333333333333u);
  bits = (bits + (bits >> 4)) & 0x0f0f0f0f0f0f0f0fu;
  return static_cast<int>((bits * 0x0101010101010101u) >> 56);
}

/** Hashes of one pixel. */
class PixelNoise
{
public:
  PixelNoise(uint64_t seed, uint64_t position)
    : m_First((seed << 40) + 4 * position)
  {}

  /** Near-Gaussian, of standard deviation 2001. */
  int64_t
  GetGaussian() const
  {
    int      bits = 0;
    uint64_t hash = 0;
    for (uint64_t j = 0; j < 4; ++j)
    {
      hash = SplitMix64(m_First + j);
      bits += CountBits64(hash);
    }
    return (bits - 128) * 250 + static_cast<int64_t>(hash % 250) - 125;
  }

  /** Between 0 and 1, neither included; another one at each call. */
  double
  NextUniform()
  {
    m_State = SplitMix64(m_State == 0 ? m_First : m_State);
    return (static_cast<double>(m_State >> 12) + 0.5) / 4503599627370496.0;
  }

private:
  uint64_t m_First;
  uint64_t m_State{ 0 };
};

uint16_t
Clamp(double value)
{
  return static_cast<uint16_t>(std::min(65535.0, std::max(0.0, std::floor(value + 0.5))));
}

int
PoissonCount(PixelNoise & noise, double mean)
{
  // Arrivals until the sum of exponential waiting times exceeds the mean.
  int    count = 0;
  double time = -region::Log(noise.NextUniform());
  while (time <= mean && count < 1000)
  {
    ++count;
    time -= region::Log(noise.NextUniform());
  }
  return count;
}

uint16_t
MakePixel(const SnakeScene & scene, uint64_t position, bool inside)
{
  PixelNoise   noise(scene.Seed, position);
  const double ratio = inside ? scene.Ratio : 1.0;
  switch (scene.Noise)
  {
    case SceneNoise::Gaussian: {
      const auto percent = static_cast<int64_t>(std::lround(100.0 * ratio));
      const auto base = 20000 + (inside ? static_cast<int64_t>(std::lround(2000.0 * scene.Contrast)) : 0);
      const auto value = base + noise.GetGaussian() * percent / 100;
      return static_cast<uint16_t>(std::min<int64_t>(65535, std::max<int64_t>(0, value)));
    }
    case SceneNoise::Gamma:
      return Clamp(-1000.0 * ratio * region::Log(noise.NextUniform()));
    case SceneNoise::Rayleigh:
      return Clamp(1000.0 * std::sqrt(-ratio * region::Log(noise.NextUniform())));
    case SceneNoise::Poisson:
      return static_cast<uint16_t>(PoissonCount(noise, 10.0 * ratio));
    case SceneNoise::Bernoulli:
      return noise.NextUniform() < 0.3 * ratio ? 1 : 0;
    default:
      return std::max<uint16_t>(1,
                                Clamp(std::exp(7.0 + 0.5 * (static_cast<double>(noise.GetGaussian()) / 2001.0 +
                                                            (inside ? scene.Contrast : 0.0)))));
  }
}
} // namespace

uint64_t
SplitMix64(uint64_t x)
{
  x += 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

std::vector<CudaSnakePolygon>
SnakeScene::GetTruth() const
{
  switch (Target)
  {
    case SceneTarget::Standard:
      return { Place(StandardOutline, *this, 1, 1, 0, 0) };
    case SceneTarget::Small:
      return { Place(StandardOutline, *this, 1, 5, 500, 400) };
    case SceneTarget::ThinArms:
      return { Place(StarOutline, *this, 1, 1, 0, 0) };
    case SceneTarget::Two:
      return { Place(StandardOutline, *this, 2, 5, 50, 100), Place(StandardOutline, *this, 2, 5, 500, 450) };
    default:
      return {};
  }
}

std::vector<uint16_t>
SnakeScene::MakePixels(unsigned int numberOfThreads) const
{
  std::vector<uint16_t> pixels(static_cast<size_t>(Width) * Height);
  const UnionSpans      spans(this->GetTruth(), Height);
  region::Threads(numberOfThreads).ForRanges(static_cast<size_t>(Height), 8, [&](size_t begin, size_t end) {
    for (size_t y = begin; y < end; ++y)
    {
      const std::vector<int32_t> columns = spans.GetRow(y);
      size_t                     passed = 0;
      for (int32_t x = 0; x < Width; ++x)
      {
        while (passed < columns.size() && columns[passed] <= x)
        {
          ++passed;
        }
        const size_t position = y * Width + x;
        pixels[position] = MakePixel(*this, position, passed % 2 == 1);
      }
    }
  });
  return pixels;
}

CudaFiltersEnums::NoiseLaw
NoiseLawOf(const SnakeScene & scene)
{
  switch (scene.Noise)
  {
    case SceneNoise::Gamma:
      return CudaFiltersEnums::NoiseLaw::Gamma;
    case SceneNoise::Rayleigh:
      return CudaFiltersEnums::NoiseLaw::Rayleigh;
    case SceneNoise::Poisson:
      return CudaFiltersEnums::NoiseLaw::Poisson;
    case SceneNoise::Bernoulli:
      return CudaFiltersEnums::NoiseLaw::Bernoulli;
    case SceneNoise::LogNormal:
      return CudaFiltersEnums::NoiseLaw::LogNormal;
    default:
      return CudaFiltersEnums::NoiseLaw::Gaussian;
  }
}

double
IntersectionOverUnion(const std::vector<CudaSnakePolygon> & first,
                      const std::vector<CudaSnakePolygon> & second,
                      int32_t                               height)
{
  const UnionSpans firstSpans(first, height);
  const UnionSpans secondSpans(second, height);
  int64_t          intersection = 0;
  int64_t          unionSize = 0;
  for (size_t y = 0; y < static_cast<size_t>(height); ++y)
  {
    const std::vector<int32_t> a = firstSpans.GetRow(y);
    const std::vector<int32_t> b = secondSpans.GetRow(y);
    size_t                     i = 0;
    size_t                     j = 0;
    int32_t                    last = 0;
    while (i < a.size() || j < b.size())
    {
      const bool    takeFirst = j == b.size() || (i < a.size() && a[i] <= b[j]);
      const int32_t column = takeFirst ? a[i] : b[j];
      intersection += i % 2 == 1 && j % 2 == 1 ? column - last : 0;
      unionSize += i % 2 == 1 || j % 2 == 1 ? column - last : 0;
      last = column;
      takeFirst ? ++i : ++j;
    }
  }
  return unionSize > 0 ? static_cast<double>(intersection) / static_cast<double>(unionSize) : 1.0;
}

CudaImageView
MakeImageView(const void * data, CudaComponentType type, size_t width, size_t height)
{
  CudaImageView view;
  view.Data = const_cast<void *>(data);
  view.ComponentType = type;
  view.Size = { { width, height, 1, 1 } };
  view.Stride = { { 1, width, width * height, width * height } };
  return view;
}
} // namespace itk::cuda
