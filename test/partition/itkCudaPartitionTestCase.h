// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaPartitionTestCase_h
#define itkCudaPartitionTestCase_h

#include "runtime/DetailNames.h"
#include "itkCudaDetailRegionPartitionEngine.h"
#include "executor/HostExecutor.h"
#include "partition/labels/Estimates.h"
#include "partition/Model.h"
#include "executor/HostScene.h"
#include "region/Laws.h"
#include "region/Samples.h"
#include "region/HostSums.h"
#include "region/Threads.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <random>
#include <string>
#include <vector>

namespace itk::cuda::test
{
/** The seed of a test, printed, or that of the environment. */
inline uint64_t
PrintSeed(uint64_t seed)
{
  const char * given = std::getenv("ITK_CUDAFILTERS_TEST_SEED");
  seed = given != nullptr ? std::strtoull(given, nullptr, 10) : seed;
  std::cout << "seed " << seed << std::endl;
  return seed;
}

inline CudaImageView
MakeView(const void * data, CudaComponentType type, size_t width, size_t height)
{
  CudaImageView view;
  view.Data = const_cast<void *>(data);
  view.ComponentType = type;
  view.Size = { { width, height, 1, 1 } };
  view.Stride = { { 1, width, width * height, width * height } };
  return view;
}

/** An image of 16 bits to divide. */
struct PartitionCase
{
  int32_t               Width{ 0 };
  int32_t               Height{ 0 };
  std::vector<uint16_t> Pixels;
  region::NoiseLaw      Law{ region::NoiseLaw::Gamma };
  std::vector<uint8_t>  Valid; // empty: all

  CudaImageView
  GetImage() const
  {
    return MakeView(Pixels.data(), CudaComponentType::UShort, static_cast<size_t>(Width), static_cast<size_t>(Height));
  }
  CudaImageView
  GetMask() const
  {
    return MakeView(Valid.data(), CudaComponentType::UChar, static_cast<size_t>(Width), static_cast<size_t>(Height));
  }
  size_t
  IndexOf(int32_t x, int32_t y) const
  {
    return static_cast<size_t>(y) * static_cast<size_t>(Width) + static_cast<size_t>(x);
  }
  bool
  IsValid(int32_t x, int32_t y) const
  {
    return Valid.empty() || Valid[IndexOf(x, y)] != 0;
  }
};

/** Samples and sums of a case, and the model of its partition. */
class PreparedCase
{
public:
  explicit PreparedCase(const PartitionCase & image, unsigned int threads = 1)
    : Threads(threads)
    , Samples(MakeSamples(image, Threads))
    , Sums(Samples, region::UsesSquares(image.Law), 0, Threads)
    , Pyramid(Sums, Sums.GetWhole(), 0, Threads)
    , Scene(Pyramid.GetLevel(0), Samples)
  {
    Model.Law = { image.Law, 1.0, static_cast<int64_t>(Samples.NumberOfValidPixels) };
    Model.KnownVariance = partition::EstimateKnownVariance(this->GetExecutor(), image.Width, image.Height);
    Model.LogNumberOfPixels = region::Log(static_cast<double>(image.Pixels.size()));
  }

  const region::Threads       Threads;
  const region::Samples       Samples;
  const region::RowSums       Sums;
  const region::SumPyramid    Pyramid;
  const executor::Scene       Scene;
  partition::DescriptionModel Model;

  executor::ThreadedHostExecutor
  GetExecutor() const
  {
    return { Scene, Threads };
  }

private:
  static region::Samples
  MakeSamples(const PartitionCase & image, const region::Threads & threads)
  {
    const CudaImageView  mask = image.GetMask();
    CudaRegionSnakeInput input;
    input.Image = image.GetImage();
    input.ValidMask = image.Valid.empty() ? nullptr : &mask;
    CudaRegionSnakeParameters parameters;
    parameters.NoiseLaw = image.Law;
    return region::Samples(input, parameters, threads);
  }
};

/** The labels of the pixels, from 1 in the order of their first pixels, and the sums of the regions by label; [0] has
 * no samples. */
struct LabelMap
{
  std::vector<uint32_t>           Labels;
  std::vector<partition::Moments> Regions;
};

/** A pixel of noise of a law, whose parameter grows with `level` from 0. */
template <typename TEngine>
uint16_t
MakeNoise(region::NoiseLaw law, double level, TEngine & engine)
{
  const double normal = std::normal_distribution<double>()(engine);
  const double exponential = std::exponential_distribution<double>()(engine);
  const double ratio = std::pow(2.0, level);
  double       value = 0.0;
  switch (law)
  {
    case region::NoiseLaw::Gaussian:
    case region::NoiseLaw::GaussianCommonVariance:
      value = 1000.0 + 30.0 * level + 15.0 * normal;
      break;
    case region::NoiseLaw::Gamma:
      value = 200.0 * ratio * exponential;
      break;
    case region::NoiseLaw::Rayleigh:
      value = 200.0 * std::sqrt(ratio * exponential);
      break;
    case region::NoiseLaw::Poisson:
      value = std::poisson_distribution<int>(5.0 * ratio)(engine);
      break;
    case region::NoiseLaw::Bernoulli:
      value = std::bernoulli_distribution(0.1 + 0.25 * std::min(level, 3.0))(engine) ? 1.0 : 0.0;
      break;
    case region::NoiseLaw::LogNormal:
      value = 1.0 + std::exp(4.0 + 0.8 * level + 0.4 * normal);
      break;
  }
  return static_cast<uint16_t>(std::min(65535.0, std::floor(value + 0.5)));
}

/** Rectangles of several levels over each other. */
inline PartitionCase
MakeRandomCase(region::NoiseLaw law, int32_t width, int32_t height, int rectangles, std::mt19937_64 & engine)
{
  PartitionCase    image{ width, height, {}, law, {} };
  std::vector<int> levels(static_cast<size_t>(width) * static_cast<size_t>(height), 0);
  for (int i = 0; i < rectangles; ++i)
  {
    const auto    side = [&engine](int32_t length) { return static_cast<int32_t>(engine() % (length + 1)); };
    const int32_t x[2] = { side(width), side(width) };
    const int32_t y[2] = { side(height), side(height) };
    const int     level = static_cast<int>(engine() % 4);
    for (int32_t row = std::min(y[0], y[1]); row < std::max(y[0], y[1]); ++row)
    {
      for (int32_t column = std::min(x[0], x[1]); column < std::max(x[0], x[1]); ++column)
      {
        levels[image.IndexOf(column, row)] = level;
      }
    }
  }
  for (const int level : levels)
  {
    image.Pixels.push_back(MakeNoise(law, level, engine));
  }
  return image;
}

/** Makes single pixels and a rectangle of a case not valid; one pixel stays. */
inline void
AddMask(PartitionCase & image, std::mt19937_64 & engine)
{
  image.Valid.assign(image.Pixels.size(), 1);
  const auto x = static_cast<int32_t>(engine() % static_cast<uint64_t>(image.Width));
  const auto y = static_cast<int32_t>(engine() % static_cast<uint64_t>(image.Height));
  for (int32_t row = 0; row < image.Height; ++row)
  {
    for (int32_t column = 0; column < image.Width; ++column)
    {
      const bool hole = column >= x && column < x + image.Width / 2 && row >= y && row < y + image.Height / 2;
      image.Valid[image.IndexOf(column, row)] = hole || engine() % 10 == 0 ? 0 : 1;
    }
  }
  image.Valid[engine() % image.Valid.size()] = 1;
}

inline std::string
NameOf(region::NoiseLaw law)
{
  return region::GetTraits(law).Name;
}
} // namespace itk::cuda::test

#endif
