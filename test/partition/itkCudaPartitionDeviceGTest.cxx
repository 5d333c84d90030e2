// SPDX-License-Identifier: Apache-2.0
#include "itkCudaDownloadImageFilter.h"
#include "support/itkCudaExpectException.h"
#include "support/itkCudaFaultWalk.h"
#include "partition/itkCudaPartitionTestCase.h"
#include "itkCudaRegionPartitionImageFilter.h"
#include "snake/itkCudaSnakeDeviceTest.h"
#include "itkCudaUploadImageFilter.h"
#include "itkImage.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <numeric>
#include <random>
#include <string>
#include <thread>
#include <vector>

// The partition on the device has the bits of the partition on the host: labels, polygons, table and tree.
namespace
{
using namespace itk;
using namespace itk::CudaDetail;
using namespace itk::cuda::region;
using namespace itk::cuda::test;

constexpr int OnHost = -1;

/** An image, and how it is divided. */
struct RunCase
{
  PartitionCase                 Image;
  CudaRegionPartitionParameters Parameters;
  std::vector<uint32_t>         InitialLabels; // empty: none
  std::string                   Name;
};

struct Outcome
{
  CudaRegionPartitionResult Result;
  std::vector<uint32_t>     Labels;
};

/** Calls function(input, view of labels) with the views of a case. */
template <typename TFunction>
void
WithInput(const RunCase & run, std::vector<uint32_t> & labels, const TFunction & function)
{
  const auto               width = static_cast<size_t>(run.Image.Width);
  const auto               height = static_cast<size_t>(run.Image.Height);
  const CudaImageView      mask = run.Image.GetMask();
  const CudaImageView      initial = MakeView(run.InitialLabels.data(), CudaComponentType::UInt, width, height);
  CudaRegionPartitionInput input;
  input.Image = run.Image.GetImage();
  input.ValidMask = run.Image.Valid.empty() ? nullptr : &mask;
  input.InitialLabels = run.InitialLabels.empty() ? nullptr : &initial;
  labels.assign(width * height, 0xdeadbeefu); // what no run leaves
  function(input, MakeView(labels.data(), CudaComponentType::UInt, width, height));
}

Outcome
Divide(const RunCase & run, int device, const CudaRegionPartitionObserver & observer = {})
{
  constexpr unsigned int threads = 2;
  Outcome                outcome;
  WithInput(run, outcome.Labels, [&](const CudaRegionPartitionInput & input, const CudaImageView & labels) {
    outcome.Result = device == OnHost
                       ? CudaRegionPartitionOnHost(input, run.Parameters, labels, threads, observer)
                       : CudaRegionPartitionOnDevice(input, run.Parameters, labels, threads, device, observer);
  });
  return outcome;
}

template <typename T>
bool
HaveSameBytes(const std::vector<T> & x, const std::vector<T> & y)
{
  return x.size() == y.size() && (x.empty() || memcmp(x.data(), y.data(), x.size() * sizeof(T)) == 0);
}

bool
HaveSameBytes(double x, double y)
{
  return memcmp(&x, &y, sizeof(x)) == 0;
}

bool
HaveSameBytes(const CudaPartitionRegion & x, const CudaPartitionRegion & y)
{
  return x.NumberOfPixels == y.NumberOfPixels && HaveSameBytes(x.Mean, y.Mean) &&
         HaveSameBytes(x.MeanSquare, y.MeanSquare) && HaveSameBytes(x.Variance, y.Variance) &&
         HaveSameBytes(x.Area, y.Area) && HaveSameBytes(x.Perimeter, y.Perimeter) && x.BoundingBox == y.BoundingBox &&
         x.Neighbors == y.Neighbors && HaveSameBytes(x.Description, y.Description) && x.Sum == y.Sum &&
         x.SumOfSquares == y.SumOfSquares;
}

void
ExpectSameBytes(const Outcome & expected, const Outcome & actual, const std::string & name)
{
  const CudaRegionPartitionResult & x = expected.Result;
  const CudaRegionPartitionResult & y = actual.Result;
  EXPECT_TRUE(expected.Labels == actual.Labels) << name;
  EXPECT_TRUE(HaveSameBytes(x.Nodes, y.Nodes)) << name;
  EXPECT_TRUE(HaveSameBytes(x.Edges, y.Edges)) << name;
  ASSERT_EQ(x.Regions.size(), y.Regions.size()) << name;
  for (size_t i = 0; i < x.Regions.size(); ++i)
  {
    EXPECT_TRUE(HaveSameBytes(x.Regions[i], y.Regions[i])) << name << ", region " << i + 1;
  }
  EXPECT_TRUE(std::equal(x.Merges.begin(),
                         x.Merges.end(),
                         y.Merges.begin(),
                         y.Merges.end(),
                         [](const auto & m, const auto & n) {
                           return m.First == n.First && m.Second == n.Second && HaveSameBytes(m.Change, n.Change);
                         }))
    << name;
  EXPECT_TRUE(HaveSameBytes(x.Description, y.Description)) << name;
  EXPECT_TRUE(HaveSameBytes(x.DescriptionOfOneRegion, y.DescriptionOfOneRegion)) << name;
  EXPECT_TRUE(HaveSameBytes(x.NumberOfLooks, y.NumberOfLooks)) << name;
  EXPECT_EQ(x.NumberOfIterations, y.NumberOfIterations) << name;
  EXPECT_EQ(x.Stop, y.Stop) << name;
}

RunCase
MakeRun(PartitionCase image, bool labelsOnly, unsigned int blockSize)
{
  RunCase run;
  run.Image = std::move(image);
  run.Parameters.NoiseLaw = run.Image.Law;
  run.Parameters.LabelsOnly = labelsOnly;
  run.Parameters.BlockSize = blockSize;
  run.Name = NameOf(run.Image.Law) + ' ' + std::to_string(run.Image.Width) + " x " + std::to_string(run.Image.Height) +
             " block " + std::to_string(blockSize) + (run.Image.Valid.empty() ? "" : " masked") +
             (labelsOnly ? " labels only" : "");
  return run;
}

/** A case of any law, size, mask and start. Large images with a polygon for each pixel are left out: the host takes
 * 20 s for a megapixel of them. */
RunCase
MakeRandomRun(int largestSide, std::mt19937_64 & engine)
{
  const auto     side = [&] { return static_cast<int32_t>(8 + engine() % static_cast<uint64_t>(largestSide - 7)); };
  const NoiseLaw law = AllLaws[engine() % AllLaws.size()];
  PartitionCase  image = MakeRandomCase(law, side(), side(), static_cast<int>(engine() % 12), engine);
  if (engine() % 2 == 0)
  {
    AddMask(image, engine);
  }
  const bool isLarge = image.Pixels.size() > 22500;
  const bool labelsOnly = engine() % 2 == 0;
  RunCase    run = MakeRun(std::move(image), labelsOnly, 1u << engine() % 5);
  if (engine() % 4 == 0)
  {
    const uint64_t square = (isLarge && !labelsOnly ? 2 : 1) + engine() % 40;
    for (int32_t y = 0; y < run.Image.Height; ++y)
    {
      for (int32_t x = 0; x < run.Image.Width; ++x)
      {
        run.InitialLabels.push_back(static_cast<uint32_t>((x / square + y / square) % 3));
      }
    }
    run.Name += " from labels";
  }
  return run;
}

/** A number of the environment, for long runs. */
int
GetNumber(const char * variable, int otherwise)
{
  const char * given = std::getenv(variable);
  return given != nullptr ? std::atoi(given) : otherwise;
}

class CudaPartitionGpu : public itk::cuda::SnakeDeviceTest
{
protected:
  void
  Compare(const RunCase & run) const
  {
    ExpectSameBytes(Divide(run, OnHost), Divide(run, m_Device), run.Name);
  }
};

using ImageType = Image<unsigned short, 2>;
using FilterType = CudaRegionPartitionImageFilter<ImageType, Image<unsigned int, 2>>;

FilterType::Pointer
MakeFilter(const PartitionCase & image)
{
  auto pixels = ImageType::New();
  pixels->SetRegions(
    ImageType::SizeType{ { static_cast<SizeValueType>(image.Width), static_cast<SizeValueType>(image.Height) } });
  pixels->Allocate();
  std::copy(image.Pixels.begin(), image.Pixels.end(), pixels->GetBufferPointer());
  auto filter = FilterType::New();
  filter->SetInput(pixels);
  filter->SetNoiseLaw(image.Law);
  return filter;
}

std::vector<unsigned int>
GetHostLabels(const Image<unsigned int, 2> * labels)
{
  return { labels->GetBufferPointer(), labels->GetBufferPointer() + labels->GetBufferedRegion().GetNumberOfPixels() };
}

std::vector<unsigned int>
GetHostLabels(const CudaDeviceImage<unsigned int, 2> * labels)
{
  return GetHostLabels(CudaDownload(labels).GetPointer());
}

std::vector<unsigned int>
GetLabels(const FilterType * filter)
{
  return GetHostLabels(filter->GetOutput());
}
} // namespace

// A scene depends on its number alone: a long run can be divided among processes. Runs at the same time have the bytes
// of each alone.
TEST_F(CudaPartitionGpu, RandomScenesHaveTheHostsBytes)
{
  const uint64_t           seed = PrintSeed(831);
  const int                first = GetNumber("ITK_CUDAFILTERS_TEST_FIRST_SCENE", 0);
  const int                end = first + GetNumber("ITK_CUDAFILTERS_TEST_SCENES", 40);
  const int                largest = GetNumber("ITK_CUDAFILTERS_TEST_LARGEST_SCENE", 700);
  std::atomic<int>         next{ first };
  std::vector<std::thread> workers;
  for (int thread = GetNumber("ITK_CUDAFILTERS_TEST_THREADS", 8); thread > 0; --thread)
  {
    workers.emplace_back([&] {
      for (int i = next++; i < end && !this->HasFailure(); i = next++)
      {
        std::mt19937_64 engine(seed + static_cast<uint64_t>(i));
        RunCase         run = MakeRandomRun(i % 4 == 0 ? largest : 150, engine);
        run.Name = "scene " + std::to_string(i) + ": " + run.Name;
        this->Compare(run);
      }
    });
  }
  for (std::thread & worker : workers)
  {
    worker.join();
  }
}

// Each side on the host or on the device.
TEST_F(CudaPartitionGpu, DeviceImagesHaveTheHostsBytes)
{
  using DeviceImageType = CudaDeviceImage<unsigned short, 2>;
  using DeviceLabelsType = CudaDeviceImage<unsigned int, 2>;
  std::mt19937_64 engine(PrintSeed(839));
  for (const NoiseLaw law : AllLaws)
  {
    const PartitionCase image = MakeRandomCase(law, 150 + static_cast<int32_t>(engine() % 60), 130, 9, engine);
    const auto          host = MakeFilter(image);
    host->SetBackend(CudaFiltersEnums::Backend::Host);
    host->Update();
    const Outcome expected{ host->GetPartition()->GetResult(), GetLabels(host) };
    const auto    uploaded = CudaUpload(host->GetInput(), m_Device);
    const auto    compare = [&](auto filter, auto input, const std::string & name) {
      filter->SetInput(input);
      filter->SetNoiseLaw(law);
      for (const char * run : { ", first run", ", second run" })
      {
        filter->Modified();
        filter->Update();
        const auto labels = GetHostLabels(filter->GetOutput());
        ExpectSameBytes(expected, { filter->GetPartition()->GetResult(), labels }, NameOf(law) + name + run);
      }
    };
    compare(CudaRegionPartitionImageFilter<DeviceImageType, DeviceLabelsType>::New(), uploaded, " both");
    compare(CudaRegionPartitionImageFilter<DeviceImageType>::New(), uploaded, " image on the device");
    compare(
      CudaRegionPartitionImageFilter<ImageType, DeviceLabelsType>::New(), host->GetInput(), " labels on the device");
  }
}

TEST_F(CudaPartitionGpu, EveryLawAndBlockSizeHasTheHostsBytes)
{
  std::mt19937_64 engine(PrintSeed(832));
  for (const NoiseLaw law : AllLaws)
  {
    for (const unsigned int blockSize : { 1u, 2u, 4u, 8u, 64u })
    {
      PartitionCase image = MakeRandomCase(law, 131, 97, 6, engine);
      this->Compare(MakeRun(image, false, blockSize));
      AddMask(image, engine);
      this->Compare(MakeRun(image, true, blockSize));
    }
  }
}

TEST_F(CudaPartitionGpu, DegenerateImagesHaveTheHostsBytes)
{
  std::mt19937_64 engine(PrintSeed(833));
  const int32_t   sizes[][2] = { { 1, 1 }, { 1, 40 }, { 3000, 1 }, { 2, 2 }, { 7, 5 }, { 65, 257 } };
  for (const auto & [width, height] : sizes)
  {
    for (const NoiseLaw law : { NoiseLaw::Gaussian, NoiseLaw::Gamma, NoiseLaw::Bernoulli })
    {
      PartitionCase image = MakeRandomCase(law, width, height, 0, engine);
      this->Compare(MakeRun(image, false, 4));
      std::fill(image.Pixels.begin(), image.Pixels.end(), uint16_t{ 1 }); // of one value
      this->Compare(MakeRun(image, false, 1));
      for (size_t i = 0; i < image.Pixels.size(); ++i)
      {
        image.Pixels[i] = i / 3 % 2 == 0 ? 1 : 0;
      }
      this->Compare(MakeRun(image, true, 1));
      AddMask(image, engine);
      this->Compare(MakeRun(image, true, 1));
    }
  }
}

TEST_F(CudaPartitionGpu, PolygonsOfGivenLabelsHaveTheHostsBytes)
{
  std::mt19937_64 engine(PrintSeed(840));
  for (const NoiseLaw law : AllLaws)
  {
    for (const bool allowMerging : { true, false })
    {
      PartitionCase image = MakeRandomCase(law, 301, 263, 8, engine);
      AddMask(image, engine);
      RunCase run = MakeRun(std::move(image), false, 4);
      run.Parameters.AllowMerging = allowMerging;
      run.Name += allowMerging ? " from labels" : " from labels, all kept";
      // Slanting stripes and noise: long chains of many corners, and many short ones.
      for (int32_t i = 0; i < run.Image.Width * run.Image.Height; ++i)
      {
        const int32_t x = i % run.Image.Width;
        const int32_t y = i / run.Image.Width;
        const bool    isNoise = y > 200 && engine() % 3 == 0;
        run.InitialLabels.push_back(isNoise ? 0xffffffffu : static_cast<uint32_t>((3 * x + y) / 60));
      }
      this->Compare(run);
    }
  }
}

/** More nodes of chains than the device takes at a time. */
TEST_F(CudaPartitionGpu, ManyNodesHaveTheHostsBytes)
{
  std::mt19937_64 engine(PrintSeed(841));
  RunCase         run = MakeRun(MakeRandomCase(NoiseLaw::Gaussian, 1200, 1100, 8, engine), false, 4);
  run.Parameters.AllowMerging = false;
  run.Parameters.MaximumNumberOfIterations = 1;
  run.Name += " of noise from labels of noise";
  for (size_t i = 0; i < run.Image.Pixels.size(); ++i)
  {
    run.InitialLabels.push_back(static_cast<uint32_t>(engine() % 2));
  }
  this->Compare(run);
}

TEST_F(CudaPartitionGpu, MostImagesStayWithinTheWorkingSet)
{
  std::mt19937_64 engine(PrintSeed(837));
  for (const NoiseLaw law : AllLaws)
  {
    for (const unsigned int blockSize : { 1u, 4u })
    {
      PartitionCase image = MakeRandomCase(law, 700, 500, 8, engine);
      AddMask(image, engine);
      const bool            labelsOnly = blockSize == 1;
      const RunCase         run = MakeRun(std::move(image), labelsOnly, blockSize);
      std::vector<uint32_t> labels;
      size_t                workingSet = 0;
      WithInput(run, labels, [&](const CudaRegionPartitionInput & input, const CudaImageView &) {
        workingSet = CudaRegionPartitionWorkingSet(input, run.Parameters);
      });
      CudaFiltersConfiguration::SetDeviceMemoryLimit(CudaFiltersConfiguration::GetDeviceBytesInUse() + workingSet);
      EXPECT_NO_THROW(Divide(run, m_Device)) << run.Name << ", " << workingSet << " bytes";
      CudaFiltersConfiguration::SetDeviceMemoryLimit(0);
    }
  }
}

TEST_F(CudaPartitionGpu, TooLittleMemoryIsAnErrorOrTheHost)
{
  std::mt19937_64     engine(PrintSeed(838));
  const PartitionCase image = MakeRandomCase(NoiseLaw::Gamma, 300, 200, 6, engine);
  const auto          filter = MakeFilter(image);
  filter->SetBackend("host");
  filter->Update();
  const std::vector<unsigned int> expected = GetLabels(filter);
  CudaFiltersConfiguration::SetDeviceMemoryLimit(CudaFiltersConfiguration::GetDeviceBytesInUse() + 100000);
  filter->SetBackend("cuda");
  const std::string refusal = GetException([&] { filter->Update(); });
  ExpectContains(refusal, "not enough memory");
  ExpectContains(refusal, "asked: ");
  ExpectContains(refusal, "free: 100000 bytes");
  filter->SetBackend("automatic");
  filter->Update();
  CudaFiltersConfiguration::SetDeviceMemoryLimit(0);
  EXPECT_EQ(filter->GetBackendUsed(), CudaFiltersEnums::Backend::Host);
  ExpectContains(filter->GetBackendReason(), "not enough memory");
  EXPECT_TRUE(GetLabels(filter) == expected);
  filter->SetBackend("cuda");
  filter->Update();
  EXPECT_EQ(filter->GetBackendUsed(), CudaFiltersEnums::Backend::Cuda);
  EXPECT_TRUE(GetLabels(filter) == expected);
}

TEST(CudaPartitionDevice, LargerImagesAreRefusedByTheSizeThatFits)
{
  CudaRegionPartitionInput input;
  input.Image.Size = { { size_t{ 1 } << 15, size_t{ 1 } << 15, 1, 1 } };
  EXPECT_EQ(CudaRegionPartitionUnsupportedReason(input), nullptr);
  ++input.Image.Size[0];
  const char * const reason = CudaRegionPartitionUnsupportedReason(input);
  ASSERT_NE(reason, nullptr);
  EXPECT_STREQ(reason, "the partition on the GPU takes images of at most 1073741824 pixels");
}

TEST_F(CudaPartitionGpu, FailuresLeaveNothingBehind)
{
  std::mt19937_64      engine(PrintSeed(839));
  std::vector<RunCase> runs;
  // More edges than one block of threads takes: the first series of rounds is launched loop by loop.
  runs.push_back(MakeRun(MakeRandomCase(NoiseLaw::Gamma, 36, 31, 3, engine), false, 1));
  PartitionCase image = MakeRandomCase(NoiseLaw::Gamma, 24, 16, 2, engine);
  AddMask(image, engine);
  for (const bool labelsOnly : { true, false })
  {
    runs.push_back(MakeRun(image, labelsOnly, 4));
    runs.back().Parameters.MaximumNumberOfIterations = 1;
  }
  // The tree is at work in a thread of its own when the labels are written.
  runs.push_back(MakeRun(MakeRandomCase(NoiseLaw::Gamma, 70, 60, 2, engine), false, 4));
  RunCase & many = runs.back();
  many.Parameters.AllowMerging = false;
  many.Parameters.MinimumNumberOfPixels = 1;
  many.Parameters.MaximumNumberOfIterations = 1;
  many.InitialLabels.resize(many.Image.Pixels.size());
  std::iota(many.InitialLabels.begin(), many.InitialLabels.end(), 0u);
  EXPECT_GT(Divide(many, m_Device).Result.Merges.size(), 2000u);
  for (const RunCase & run : runs)
  {
    WalkFaults<uint32_t>(run.Name, [&] { return Divide(run, m_Device).Labels; });
  }
  const auto filter = MakeFilter(runs.front().Image);
  filter->SetBackend("cuda");
  WalkFaults<unsigned int>("partition filter", [&] {
    filter->Modified();
    filter->Update();
    return GetLabels(filter);
  });
}
