// SPDX-License-Identifier: Apache-2.0

// What is special to runs in slabs on the GPU: images that fit, large slabs, faults and threads.
// itkCudaSlabRunsGTest.cxx has what holds for every machine.

#include "runtime/device/Call.h"
#include "itkCudaDetailFilterBackend.h"
#include "itkCudaDetailGaussianEngine.h"
#include "itkCudaDetailGaussianSlabs.h"
#include "runtime/device/Device.h"
#include "runtime/memory/DeviceMemory.h"
#include "itkCudaDeviceGaussianSlabs.h"
#include "itkCudaDownloadImageFilter.h"
#include "itkCudaError.h"
#include "itkCudaGradientMagnitudeRecursiveGaussianImageFilter.h"
#include "itkCudaGradientRecursiveGaussianImageFilter.h"
#include "itkCudaSmoothingRecursiveGaussianImageFilter.h"
#include "itkCudaUploadImageFilter.h"
#include "support/itkCudaFaultWalk.h"
#include "itkCudaFiltersConfiguration.h"
#include "support/itkCudaResidentParts.h"
#include "support/itkCudaSlabTest.h"
#include "runtime/device/Stream.h"
#include "support/itkCudaTestSeed.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <random>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace
{
using namespace itk;
using namespace itk::CudaDetail;
using namespace itk::cuda::test;

/** Fills memory that later buffers get with NaN. */
void
PoisonDeviceMemory(size_t bytes)
{
  for (const int device : CudaFiltersConfiguration::GetDeviceIndices())
  {
    const cuda::DeviceGuard  guard(device);
    const cuda::StreamLease  stream(device);
    const cuda::DeviceBuffer buffer(bytes, stream);
    ITK_CUDA_CALL(cudaMemsetAsync(buffer.GetPointer(), 0xff, bytes, stream.GetStream()));
    stream.Synchronize();
  }
}

SlabImage
RunWhole(const CudaGaussianPlan & plan, const SlabImage & input, CudaComponentType type)
{
  SlabImage output = MakeSlabOutput(plan, input, type);
  SlabImage source = input;
  CudaRunOnDevice(plan, source.GetView(), output.GetView(), 0, nullptr);
  return output;
}

CudaSlabOptions
MakeDeviceOptions(size_t chunksPerSlab, size_t queues = 1)
{
  return GetSlabMachine().MakeOptions(chunksPerSlab, queues);
}

/** Counts what is allocated on each device, from CUDA, and the most that any device held. */
struct CountingMemory
{
  static constexpr size_t MostDevices = 64;

  std::array<std::atomic<size_t>, MostDevices> InUse{};
  std::atomic<size_t>                          Most{ 0 };

  static void *
  Allocate(size_t bytes, int device, void * stream, void * context)
  {
    auto * const counts = static_cast<CountingMemory *>(context);
    const size_t inUse = counts->InUse.at(device) += bytes;
    counts->Most = std::max<size_t>(counts->Most, inUse);
    void * pointer = nullptr;
    return cudaMallocAsync(&pointer, bytes, static_cast<cudaStream_t>(stream)) == cudaSuccess ? pointer : nullptr;
  }

  static void
  Release(void * pointer, size_t bytes, int device, void * stream, void * context) noexcept
  {
    static_cast<CountingMemory *>(context)->InUse[device] -= bytes;
    ITK_CUDA_CALL_NOTHROW(cudaFreeAsync(pointer, static_cast<cudaStream_t>(stream)));
  }
};

CountingMemory memoryOfRun;
bool           isMeasured = false;

std::string
SetUpDevice()
{
  std::string reason;
  return CudaFiltersConfiguration::IsDeviceUsable(0, reason) ? std::string() : reason;
}

void
TearDownDevice()
{
  CudaFiltersConfiguration::SetDeviceMemoryLimit(0);
  CudaFiltersConfiguration::SetDeviceMemoryResource(nullptr, nullptr);
}

void
PrepareRun(bool measures)
{
  PoisonDeviceMemory(size_t{ 16 } << 20);
  isMeasured = measures;
  memoryOfRun.Most = 0;
  if (measures)
  {
    CudaFiltersConfiguration::SetDeviceMemoryResource(CountingMemory::Allocate, CountingMemory::Release, &memoryOfRun);
  }
}

void
VerifyRun(const CudaSlabReport & report)
{
  EXPECT_TRUE(!isMeasured || memoryOfRun.Most <= report.PeakDeviceBytes);
  CudaFiltersConfiguration::SetDeviceMemoryResource(nullptr, nullptr);
}
} // namespace

const SlabMachine &
itk::cuda::test::GetSlabMachine()
{
  static const SlabMachine gpu{ "Gpu",
                                false,
                                false,
                                CudaComponentType::Float,
                                { 1, 2, 5, 8 },
                                { 1, 2, 4 },
                                { 129, 1000, 1025, 3072 },
                                RunWhole,
                                SetUpDevice,
                                TearDownDevice,
                                PrepareRun,
                                VerifyRun };
  return gpu;
}

namespace
{
class GaussianSlabsGpu : public testing::Test
{
protected:
  void
  SetUp() override
  {
    const std::string reason = GetSlabMachine().SetUp();
    if (!reason.empty())
    {
      GTEST_SKIP() << reason;
    }
  }

  void
  TearDown() override
  {
    GetSlabMachine().TearDown();
  }
};

/** How the filters' way took an image from host to host, which fits, and with the bits of the whole. */
CudaSlabReport
RunFilter(const SlabCase & test, CudaFiltersEnums::Streaming streaming, bool isPageLocked)
{
  SlabImage       input = MakeRandomImage(test.Size, test.Components, test.InputType, GetSeed());
  const SlabImage expected = RunWhole(test.Plan, input, test.OutputType);
  SlabImage       output = MakeSlabOutput(test.Plan, input, test.OutputType);
  std::fill(output.Bytes.begin(), output.Bytes.end(), static_cast<unsigned char>(0xff));
  const auto forBoth = [&](const auto & function) {
    for (SlabImage * const image : { &input, &output })
    {
      EXPECT_TRUE(!isPageLocked || function(*image) == cudaSuccess);
    }
  };
  forBoth([](SlabImage & image) {
    return cudaHostRegister(image.Bytes.data(), image.Bytes.size(), cudaHostRegisterPortable);
  });
  CudaFilterBackend backend;
  backend.Requested = CudaFiltersEnums::Backend::Cuda;
  backend.Streaming = streaming;
  backend.DeviceIndex = 0; // the limits below are those of one device
  const size_t needed = CudaWorkingSet(test.Plan, input.GetView(), output.GetView());
  EXPECT_TRUE(backend.SelectDevice(nullptr, needed, true));
  EXPECT_TRUE(CudaRunOnDevice(test.Plan, input.GetView(), output.GetView(), backend, nullptr));
  forBoth([](SlabImage & image) { return cudaHostUnregister(image.Bytes.data()); });
  EXPECT_EQ(FindDifference(output, expected), expected.Bytes.size());
  return backend.SlabReport;
}

/** Images on both sides of the limits of bytes and of turns. With look-ahead a, K chunks take (K + a + 1) / K turns. */
TEST_F(GaussianSlabsGpu, ImagesThatFitAreOverlappedWithTheBitsOfTheWhole)
{
  using Schedule = CudaSlabReport::Schedule;
  struct Case
  {
    std::array<size_t, 4> Size;
    double                Sigma;
    CudaComponentType     Type;
    Schedule              Used;
  };
  const auto float32 = CudaComponentType::Float;
  const Case cases[] = { { { 4096, 4096, 1, 1 }, 4.0, float32, Schedule::Overlapped },
                         { { 4096, 4095, 1, 1 }, 4.0, float32, Schedule::Whole },
                         { { 6000, 7000, 1, 1 }, 20.0, CudaComponentType::Short, Schedule::Overlapped },
                         { { 256, 256, 512, 1 }, 4.0, float32, Schedule::Overlapped },  // 1.5 turns
                         { { 256, 256, 512, 1 }, 12.0, float32, Schedule::Overlapped }, // 1.75 turns
                         { { 256, 256, 512, 1 }, 24.0, float32, Schedule::Whole },      // 2 turns
                         { { 512, 512, 256, 1 }, 4.0, float32, Schedule::Whole } };     // 2 turns
  for (const Case & one : cases)
  {
    const unsigned int dimension = one.Size[2] > 1 ? 3 : 2;
    const auto         parameters = MakeSlabParameters(dimension, one.Sigma, CudaFiltersEnums::Approximation::Deriche);
    for (const auto & [name, plan] :
         { std::pair("smoothing", MakeSmoothingPlan(parameters)), std::pair("gradient", MakeGradientPlan(parameters)) })
    {
      SlabCase test{ name, plan, one.Size };
      test.InputType = test.OutputType = one.Type;
      for (const bool isPageLocked : { false, true })
      {
        SCOPED_TRACE(test.Name + " of " + std::to_string(one.Size[0]) + " x " + std::to_string(one.Size[1]) + " x " +
                     std::to_string(one.Size[2]) + ", sigma " + std::to_string(one.Sigma) +
                     (isPageLocked ? ", page-locked" : ""));
        EXPECT_EQ(RunFilter(test, CudaFiltersEnums::Streaming::Automatic, isPageLocked).Used, one.Used);
      }
      EXPECT_EQ(RunFilter(test, CudaFiltersEnums::Streaming::Off, false).Used, Schedule::Whole);
    }
  }
}

/** Slabs of 75 MiB, and a last one of 5 MiB. A large upload goes on in the page-locked memory of the one before. */
TEST_F(GaussianSlabsGpu, HaveTheBitsOfTheWholeInLargeSlabs)
{
  SlabCase test = MakeSmoothingCase(4 * 128 + 9, 4.0);
  test.Size = { { 512, 300, 4 * 128 + 9, 1 } };
  SlabImage       source = MakeRandomImage(test.Size, 1, CudaComponentType::Float, GetSeed());
  const SlabImage expected = RunWhole(test.Plan, source, CudaComponentType::Float);
  const size_t    pinned = CudaFiltersConfiguration::GetPinnedBytesInUse();
  for (const size_t queues : { 1, 2 })
  {
    SlabImage  output = MakeSlabOutput(test.Plan, source, CudaComponentType::Float);
    const auto run = [&](const CudaProgressFunction & progress) {
      CudaGaussianFilterSlabs(test.Plan, source.GetView(), output.GetView(), MakeDeviceOptions(1, queues), progress);
    };
    for (const float last : { 0.1f, 0.5f, 0.9f })
    {
      const auto stop = [last](float done) {
        if (done > last)
        {
          throw std::runtime_error("stop");
        }
      };
      EXPECT_THROW(run(stop), std::runtime_error) << queues << " queues, behind " << last;
      EXPECT_EQ(CudaFiltersConfiguration::GetPinnedBytesInUse(), pinned) << queues << " queues, behind " << last;
    }
    output = MakeSlabOutput(test.Plan, source, CudaComponentType::Float);
    run(nullptr);
    EXPECT_EQ(FindDifference(output, expected), expected.Bytes.size()) << queues << " queues";
    EXPECT_EQ(CudaFiltersConfiguration::GetPinnedBytesInUse(), pinned) << queues << " queues";
  }
}

TEST_F(GaussianSlabsGpu, PartsOnDevicesHaveTheBitsOfSlabsFromTheHost)
{
  CompareResidentParts(CudaFiltersConfiguration::GetDeviceIndices());
}

TEST_F(GaussianSlabsGpu, PartsOnDevicesSurviveTheFailureOfAnyCall)
{
  WalkFaultsOfResidentParts({ 0 });
}

TEST_F(GaussianSlabsGpu, PartsThatMakeUpNoImageAreRefused)
{
  ExpectPartsThatAreRefused();
}

/** Filters an image as a whole and in parts, and compares the pixels. */
template <typename TFilter>
void
CompareParts()
{
  using InputImageType = typename TFilter::InputImageType;
  using HostImageType = itk::Image<float, 3>;
  const auto whole = HostImageType::New();
  whole->SetRegions(HostImageType::SizeType{ { 20, 30, 300 } });
  HostImageType::SpacingType spacing;
  spacing[0] = 0.5;
  spacing[1] = 0.7;
  spacing[2] = 0.4;
  whole->SetSpacing(spacing);
  whole->Allocate();
  std::mt19937 generator(11);
  std::generate_n(whole->GetBufferPointer(), 20 * 30 * 300, [&] { return static_cast<float>(generator() % 1000); });
  const auto make = [] {
    auto filter = TFilter::New();
    filter->SetSigma(1.5);
    return filter;
  };
  const auto filter = make();
  filter->SetInput(itk::CudaUpload(whole.GetPointer()));
  filter->Update();
  const auto expected = itk::CudaDownload(filter->GetOutput());

  std::vector<typename InputImageType::Pointer> parts;
  for (const itk::IndexValueType first : { 0, 128, 256 })
  {
    const auto                      part = HostImageType::New();
    const HostImageType::RegionType region({ { 0, 0, first } }, { { 20, 30, std::min<size_t>(128, 300 - first) } });
    part->CopyInformation(whole);
    part->SetRegions(region);
    part->Allocate();
    std::copy_n(whole->GetBufferPointer() + first * 600, region.GetNumberOfPixels(), part->GetBufferPointer());
    parts.push_back(itk::CudaUpload(part.GetPointer()));
  }
  CudaSlabReport report;
  const auto     outputs = CudaGaussianFilterSlabs(*make(), parts, &report);
  EXPECT_EQ(report.NumberOfSlabs, 3u);
  ASSERT_EQ(outputs.size(), 3u);
  for (size_t i = 0; i < outputs.size(); ++i)
  {
    const auto part = itk::CudaDownload(outputs[i].GetPointer());
    EXPECT_EQ(outputs[i]->GetDeviceIndex(), parts[i]->GetDeviceIndex());
    EXPECT_EQ(part->GetBufferedRegion(), parts[i]->GetBufferedRegion());
    EXPECT_EQ(part->GetSpacing(), spacing);
    const size_t pixels = part->GetBufferedRegion().GetNumberOfPixels();
    EXPECT_TRUE(std::equal(
      part->GetBufferPointer(), part->GetBufferPointer() + pixels, expected->GetBufferPointer() + i * 128 * 600))
      << i;
  }
}

TEST_F(GaussianSlabsGpu, FiltersTakePartsOnDevices)
{
  using ImageType = CudaDeviceImage<float, 3>;
  CompareParts<CudaSmoothingRecursiveGaussianImageFilter<ImageType, ImageType>>();
  CompareParts<CudaGradientMagnitudeRecursiveGaussianImageFilter<ImageType, ImageType>>();
  CompareParts<
    CudaGradientRecursiveGaussianImageFilter<ImageType, CudaDeviceImage<itk::CovariantVector<float, 3>, 3>>>();
  using FilterType = CudaSmoothingRecursiveGaussianImageFilter<ImageType, ImageType>;
  EXPECT_THROW(CudaGaussianFilterSlabs(*FilterType::New(), {}), ExceptionObject);
}

TEST_F(GaussianSlabsGpu, AnImageOfSixteenTimesTheLimitStaysWithinIt)
{
  SlabCase test = MakeSmoothingCase(128 * 120 + 5, 4.0);
  test.Size[0] = 64;
  test.Size[1] = 48;
  const SlabImage input = MakeRandomImage(test.Size, 1, CudaComponentType::Float, GetSeed());
  const SlabImage expected = RunWhole(test.Plan, input, CudaComponentType::Float);
  const size_t    limit = input.Bytes.size() / 16;
  CountingMemory  memory;
  CudaFiltersConfiguration::SetDeviceMemoryResource(CountingMemory::Allocate, CountingMemory::Release, &memory);
  CudaFiltersConfiguration::SetDeviceMemoryLimit(limit);
  VerifyingEndpoints   ends(test.Plan, input, CudaComponentType::Float);
  const CudaSlabReport report = ends.Run(MakeDeviceOptions(1));
  EXPECT_EQ(FindDifference(ends.Output, expected), expected.Bytes.size());
  EXPECT_LE(memory.Most, limit);
  EXPECT_LE(memory.Most, report.PeakDeviceBytes);
  EXPECT_GT(2 * memory.Most, report.PeakDeviceBytes);
  EXPECT_LE(report.PeakDeviceBytes, limit);

  CudaFiltersConfiguration::SetDeviceMemoryLimit(0);
  memory.Most = 0;
  CudaSlabOptions options = MakeDeviceOptions(1);
  options.DeviceMemoryLimit = limit;
  VerifyingEndpoints(test.Plan, input, CudaComponentType::Float).Run(options);
  EXPECT_LE(memory.Most, limit);

  options.DeviceMemoryLimit = size_t{ 1 } << 20;
  try
  {
    VerifyingEndpoints(test.Plan, input, CudaComponentType::Float).Run(options);
    ADD_FAILURE() << "nothing was thrown";
  }
  catch (const CudaError & error)
  {
    EXPECT_EQ(error.GetKind(), CudaError::Kind::OutOfMemory);
    EXPECT_NE(std::string(error.GetDescription()).find("allowed: 1048576 bytes"), std::string::npos)
      << error.GetDescription();
  }
}

TEST_F(GaussianSlabsGpu, EachCallThatFailsIsReportedAndTheNextRunIsRightSlow)
{
  for (const double sigma : { 3.0, 60.0 })
  {
    const auto walk = [&](const SlabCase & test, const std::string & name, CudaSlabOptions options, bool isScarce) {
      const SlabImage input = MakeRandomImage(test.Size, 1, CudaComponentType::Float, GetSeed());
      if (isScarce)
      {
        options.DeviceMemoryLimit = FindLeastMemory(test, options);
      }
      WalkFaults<unsigned char>(name, [&] {
        VerifyingEndpoints ends(test.Plan, input, CudaComponentType::Float);
        ends.Run(options);
        return ends.Output.Bytes;
      });
    };
    SlabCase test = MakeSmoothingCase(500, sigma);
    walk(test, test.Name, MakeDeviceOptions(1, 2), false);
    // Each part and each group of rows makes calls of its own: a small image will do.
    test = MakeSmoothingCase(300, sigma);
    test.Size[1] = 2;
    walk(test, test.Name + ", scarce memory", MakeDeviceOptions(1), true);
  }
}

TEST_F(GaussianSlabsGpu, TwoThreadsRunAtTheSameTime)
{
  const SlabCase                  test = MakeSmoothingCase(1500, 4.0);
  const SlabImage                 input = MakeRandomImage(test.Size, 1, CudaComponentType::Float, GetSeed());
  const SlabImage                 expected = RunWhole(test.Plan, input, CudaComponentType::Float);
  std::vector<VerifyingEndpoints> ends(2, VerifyingEndpoints(test.Plan, input, CudaComponentType::Float));
  std::vector<std::string>        errors(2);
  std::vector<std::thread>        threads;
  for (size_t i = 0; i < ends.size(); ++i)
  {
    threads.emplace_back([&, i] {
      try
      {
        ends[i].Run(MakeDeviceOptions(1, 1 + i));
      }
      catch (const std::exception & error)
      {
        errors[i] = error.what();
      }
    });
  }
  for (size_t i = 0; i < ends.size(); ++i)
  {
    threads[i].join();
    EXPECT_EQ(errors[i], "");
    EXPECT_EQ(FindDifference(ends[i].Output, expected), expected.Bytes.size());
  }
}
} // namespace
