// SPDX-License-Identifier: Apache-2.0
// Every CUDA call of an update of the Gaussian filters is made to fail, one after the other: each failure is a
// CudaError, nothing stays allocated, and the next update is correct.
#include "itkCudaDiscreteGaussianImageFilter.h"
#include "itkCudaPartitionedRecursiveGaussianImageFilter.h"
#include "itkCudaRecursiveGaussianImageFilter.h"
#include "itkCudaSmoothingRecursiveGaussianImageFilter.h"
#include "support/itkCudaFaultWalk.h"
#include "support/itkCudaGaussianTestUtilities.h"

namespace itk::cuda::test
{
namespace
{
/** One bound on all walks, far above the number of calls of an update. */
constexpr unsigned long MaximumCalls = 5000;

class CudaGaussianFaultWalkGpuTest : public GpuTest
{
protected:
  void
  TearDown() override
  {
    FaultHook::Clear();
    CudaFiltersConfiguration::SetNumberOfTransferThreads(0);
  }
};

// First, so that a process that runs all tests discovers the devices here. Each call of it is made to fail.
TEST(CudaDeviceDiscoveryGpuTest, FailedCallsAreNotRemembered)
{
  for (const cudaError_t error : { cudaErrorUnknown, cudaErrorMemoryAllocation })
  {
    bool reached = true;
    for (unsigned long n = 1; reached && n < MaximumCalls; ++n)
    {
      std::string reason;
      FaultHook::FailCall(n, error);
      const bool usable = CudaFiltersConfiguration::IsDeviceUsable(-1, reason);
      FaultHook::Clear();
      reached = FaultHook::GetFired();
      EXPECT_TRUE(usable || !reason.empty());
      if (!reached && !usable)
      {
        GTEST_SKIP() << "no GPU: " << reason;
      }
    }
    EXPECT_FALSE(reached);
  }
}

template <typename TImage>
std::vector<typename TImage::PixelType>
GetPixels(const TImage * image)
{
  const auto * const begin = image->GetBufferPointer();
  return { begin, begin + image->GetBufferedRegion().GetNumberOfPixels() };
}

/** Walks through updates of new filters, of images of one and of several chunks. Running in place consumes the input.
 */
template <typename TFilter>
void
WalkRecursiveFilter(bool inPlace)
{
  using ImageType = typename TFilter::InputImageType;
  for (const Size<2> & size : { Size<2>{ { 130, 70 } }, Size<2>{ { 1500, 1100 } } })
  {
    const auto input = MakeDataImage<ImageType>(MakeRegion<2>(size), DataKind::SmallOffset);
    WalkFaults<float>(std::string(TFilter::New()->GetNameOfClass()) + (inPlace ? ", in place" : ""), [&] {
      const auto filter = TFilter::New();
      filter->SetSigma(3.0);
      filter->SetBackend("cuda");
      filter->SetInPlace(inPlace);
      filter->SetInput(Duplicate(input.GetPointer()));
      filter->Update();
      return GetPixels<ImageType>(filter->GetOutput());
    });
  }
}

TEST_F(CudaGaussianFaultWalkGpuTest, Recursive)
{
  WalkRecursiveFilter<CudaRecursiveGaussianImageFilter<Image<float, 2>>>(false);
  WalkRecursiveFilter<CudaRecursiveGaussianImageFilter<Image<float, 2>>>(true);
}

TEST_F(CudaGaussianFaultWalkGpuTest, Smoothing)
{
  WalkRecursiveFilter<CudaSmoothingRecursiveGaussianImageFilter<Image<float, 2>>>(false);
  WalkRecursiveFilter<CudaSmoothingRecursiveGaussianImageFilter<Image<float, 2>>>(true);
}

/** Walks through updates of one filter, so that it is seen to run again after each fault. */
template <typename TFilter>
void
WalkFilter(const std::string & name, const std::function<void(TFilter *)> & setParameters)
{
  using ImageType = typename TFilter::InputImageType;
  const auto filter = TFilter::New();
  filter->SetBackend("cuda");
  filter->SetInput(MakeDataImage<ImageType>(MakeRegion<2>({ { 640, 700 } }), DataKind::Uniform, 250.0));
  setParameters(filter);
  WalkFaults<typename ImageType::PixelType>(name, [&] {
    filter->Modified();
    filter->Update();
    return GetPixels<ImageType>(filter->GetOutput());
  });
}

TEST_F(CudaGaussianFaultWalkGpuTest, Discrete)
{
  using FloatFilter = CudaDiscreteGaussianImageFilter<Image<float, 2>>;
  using ByteFilter = CudaDiscreteGaussianImageFilter<Image<unsigned char, 2>>;
  WalkFilter<FloatFilter>("discrete, float", [](FloatFilter * filter) { filter->SetVariance(4.0); });
  WalkFilter<ByteFilter>("discrete, bytes, uploaded weights", [](ByteFilter * filter) {
    filter->SetVariance(700.0);
    filter->SetMaximumKernelWidth(1000);
  });
}

TEST_F(CudaGaussianFaultWalkGpuTest, Partitioned)
{
  using FilterType = CudaPartitionedRecursiveGaussianImageFilter<Image<unsigned short, 2>>;
  using Partition = CudaFiltersEnums::Partition;
  struct Way
  {
    const char *  Name;
    Partition     How;
    double        Sigma;
    SizeValueType Blocks;
    unsigned int  LinesPerBlock;
  };
  const Way ways[] = { { "one way", Partition::OneWay, 4.0, 1, 32 },
                       { "two ways", Partition::TwoWay, 4.0, 1, 32 },
                       { "two ways, uploaded weights", Partition::TwoWay, 300.0, 1, 32 },
                       { "exact, one launch", Partition::Exact, 4.0, 16, 32 },
                       { "exact, three launches", Partition::Exact, 4.0, 40, 64 } };
  for (const Way & way : ways)
  {
    WalkFilter<FilterType>(way.Name, [&way](FilterType * filter) {
      filter->SetPartition(way.How);
      filter->SetSigma(way.Sigma);
      filter->SetNumberOfBlocks(way.Blocks);
      filter->SetLinesPerBlock(way.LinesPerBlock);
    });
  }
}

// Backend Automatic: when a call reports that memory ran out, the host takes over, so no update fails.
TEST_F(CudaGaussianFaultWalkGpuTest, AutomaticTakesTheHost)
{
  using FilterType = CudaSmoothingRecursiveGaussianImageFilter<Image<float, 2>>;
  const auto input = MakeDataImage<Image<float, 2>>(MakeRegion<2>({ { 1500, 1100 } }), DataKind::SmallOffset);
  const auto filter = FilterType::New();
  filter->SetSigma(3.0);
  filter->SetInput(input);
  UpdateOn(filter.GetPointer(), BackendEnum::Host);
  const std::vector<float> expected = GetPixels<Image<float, 2>>(filter->GetOutput());
  CudaFiltersConfiguration::SetNumberOfTransferThreads(1); // the order of the calls is then always the same
  filter->SetBackend("automatic");
  for (const bool cold : { true, false })
  {
    bool   reached = true;
    size_t onHost = 0;
    for (unsigned long n = 1; reached && n < MaximumCalls; ++n)
    {
      if (cold)
      {
        CudaFiltersConfiguration::ReleaseMemory();
      }
      filter->Modified();
      FaultHook::FailCall(n, cudaErrorMemoryAllocation);
      EXPECT_NO_THROW(filter->Update());
      FaultHook::Clear();
      reached = FaultHook::GetFired();
      SCOPED_TRACE("call " + std::to_string(n) + ": " + FaultHook::GetCall());
      onHost += filter->GetBackendUsed() == BackendEnum::Host;
      const std::vector<float> pixels = GetPixels<Image<float, 2>>(filter->GetOutput());
      for (size_t i = 0; i < pixels.size(); ++i)
      {
        ASSERT_NEAR(pixels[i], expected[i], 2.0 * FloatAccuracy(3.0) * 1050.0) << "pixel " << i;
      }
    }
    EXPECT_GT(onHost, 0u);
  }
}
} // namespace
} // namespace itk::cuda::test
