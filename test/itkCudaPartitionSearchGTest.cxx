// SPDX-License-Identifier: Apache-2.0
#include "itkCudaPartitionComponents.h"
#include "itkCudaPartitionLabelMaker.h"
#include "itkCudaPartitionLabelSearch.h"
#include "itkCudaPartitionTestCase.h"
#include "itkCudaPartitionTestProcessor.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

// The search for labels as the device runs it, with the passes of its loops in a random order, gives the labels and the
// sums of the host's search to the byte.
namespace
{
using itk::CudaComponentType;
using itk::cuda::partition::LabelMap;
using itk::cuda::partition::LabelSearch;
using itk::cuda::partition::MakeLabelMap;
using itk::cuda::partition::MakeLabelMapOf;
using itk::cuda::partition::Moments;
using itk::cuda::region::AllLaws;
using itk::cuda::region::NoiseLaw;
using itk::cuda::test::MakeRandomCase;
using itk::cuda::test::MakeView;
using itk::cuda::test::NameOf;
using itk::cuda::test::PartitionCase;
using itk::cuda::test::PreparedCase;
using itk::cuda::test::TestProcessor;
using Search = LabelSearch<TestProcessor>;

void
ExpectMap(const Search & search, const LabelMap & expected, const std::string & name)
{
  ASSERT_EQ(search.GetNumberOfRegions() + 1, expected.Regions.size()) << name;
  const uint32_t * const labels = search.GetLabels().Get();
  EXPECT_TRUE(std::equal(expected.Labels.begin(), expected.Labels.end(), labels)) << name;
  EXPECT_TRUE(std::equal(expected.Regions.begin(), expected.Regions.end(), search.GetRegions().Get())) << name;
}

void
CompareSearch(const PartitionCase & image, int32_t blockSize, uint64_t seed, const std::string & name)
{
  const PreparedCase  prepared(image);
  const TestProcessor processor(prepared.Scene, seed);
  Search              search(processor, prepared.Model, image.Width, image.Height);
  ASSERT_TRUE(search.Search(blockSize, {})) << name;
  ExpectMap(search, MakeLabelMap(prepared.Scene, prepared.Model, blockSize, prepared.Work).Map, name);
}

void
CompareGivenLabels(const PartitionCase & image, std::vector<uint32_t> labels, uint64_t seed, const std::string & name)
{
  const PreparedCase             prepared(image);
  const TestProcessor            processor(prepared.Scene, seed);
  Search                         search(processor, prepared.Model, image.Width, image.Height);
  TestProcessor::Array<uint32_t> given(labels.size());
  std::copy(labels.begin(), labels.end(), given.Get());
  search.StartFrom(std::move(given));
  const auto view = MakeView(
    labels.data(), CudaComponentType::UInt, static_cast<size_t>(image.Width), static_cast<size_t>(image.Height));
  ExpectMap(search, MakeLabelMapOf(view, prepared.Scene, prepared.Model, prepared.Work), name);
}

std::string
Describe(const PartitionCase & image, int32_t blockSize)
{
  return NameOf(image.Law) + ' ' + std::to_string(image.Width) + " x " + std::to_string(image.Height) + " block " +
         std::to_string(blockSize) + (image.Valid.empty() ? "" : " masked");
}

PartitionCase
MakeConstantCase(NoiseLaw law, int32_t width, int32_t height, uint16_t value)
{
  PartitionCase image;
  image.Width = width;
  image.Height = height;
  image.Law = law;
  image.Pixels.assign(static_cast<size_t>(width) * static_cast<size_t>(height), value);
  return image;
}
} // namespace

TEST(CudaPartitionSearch, AnyOrderOfPassesGivesTheHostsLabelsAndSums)
{
  std::mt19937_64   engine(itk::cuda::test::PrintSeed(811));
  const auto        side = [&] { return static_cast<int32_t>(1 + engine() % 90); };
  constexpr int32_t blockSizes[] = { 1, 2, 4, 8 };
  for (const NoiseLaw law : AllLaws)
  {
    for (int i = 0; i < 8; ++i)
    {
      PartitionCase image = MakeRandomCase(law, side(), side(), 6, engine);
      if (i % 2 == 1)
      {
        AddMask(image, engine);
      }
      const int32_t blockSize = blockSizes[engine() % 4];
      CompareSearch(image, blockSize, engine(), Describe(image, blockSize));
    }
  }
}

TEST(CudaPartitionSearch, AnyOrderOfPassesTakesGivenLabelsAsTheHostDoes)
{
  std::mt19937_64 engine(itk::cuda::test::PrintSeed(812));
  for (int i = 0; i < 30; ++i)
  {
    const auto    width = static_cast<int32_t>(1 + engine() % 60);
    const auto    height = static_cast<int32_t>(1 + engine() % 60);
    PartitionCase image = MakeRandomCase(AllLaws[engine() % AllLaws.size()], width, height, 4, engine);
    if (i % 3 > 0)
    {
      AddMask(image, engine);
    }
    std::vector<uint32_t> labels(image.Pixels.size());
    const uint64_t        values = 1 + engine() % 3;
    std::generate(labels.begin(), labels.end(), [&] { return static_cast<uint32_t>(engine() % values * 0x7fffffffu); });
    CompareGivenLabels(image, labels, engine(), Describe(image, 1));
  }
}

TEST(CudaPartitionSearch, DegenerateImagesGiveTheHostsLabelsAndSums)
{
  std::mt19937_64 engine(itk::cuda::test::PrintSeed(813));
  const int32_t   sizes[][2] = { { 1, 1 }, { 1, 40 }, { 40, 1 }, { 2, 2 }, { 7, 5 }, { 64, 3 }, { 33, 65 } };
  for (const auto & [width, height] : sizes)
  {
    for (const int32_t blockSize : { 1, 4, 64 })
    {
      for (const NoiseLaw law : { NoiseLaw::Gaussian, NoiseLaw::Gamma, NoiseLaw::Bernoulli })
      {
        PartitionCase constant = MakeConstantCase(law, width, height, 1);
        CompareSearch(constant, blockSize, engine(), "constant " + Describe(constant, blockSize));
        // Regions of one value beside each other, and cells without valid pixels between them.
        for (size_t i = 0; i < constant.Pixels.size(); ++i)
        {
          constant.Pixels[i] = i / 3 % 2 == 0 ? 1 : 0;
        }
        CompareSearch(constant, blockSize, engine(), "stripes " + Describe(constant, blockSize));
        AddMask(constant, engine);
        CompareSearch(constant, blockSize, engine(), "stripes " + Describe(constant, blockSize));
      }
    }
  }
}

TEST(CudaPartitionSearch, AStopLeavesAnUnfinishedSearch)
{
  std::mt19937_64     engine(itk::cuda::test::PrintSeed(814));
  const PartitionCase image = MakeRandomCase(NoiseLaw::Gamma, 50, 40, 5, engine);
  const PreparedCase  prepared(image);
  const TestProcessor processor(prepared.Scene, engine());
  int                 reports = 0;
  float               last = 0.0f;
  Search              whole(processor, prepared.Model, image.Width, image.Height);
  EXPECT_TRUE(whole.Search(4, [&](float share) {
    EXPECT_GE(share, last);
    EXPECT_LE(share, 1.0f);
    last = share;
    ++reports;
    return true;
  }));
  for (int stop = 0; stop < reports; ++stop)
  {
    int    left = stop;
    Search search(processor, prepared.Model, image.Width, image.Height);
    EXPECT_FALSE(search.Search(4, [&left](float) { return left-- > 0; })) << stop;
  }
}
