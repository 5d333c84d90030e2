// SPDX-License-Identifier: Apache-2.0

// Filters of device images in a pipeline when something changes, ends early or fails: regions, images that are dropped
// while another stream reads them, observers that abort or throw in mid-chain, each allocation that fails.

#include "itkCommand.h"
#include "support/itkCudaDeviceFilterTest.h"
#include "itkCudaError.h"
#include "itkCudaGradientMagnitudeRecursiveGaussianImageFilter.h"
#include "support/itkCudaHeldStream.h"
#include "itkCudaPartitionedRecursiveGaussianImageFilter.h"
#include "itkCudaSmoothingRecursiveGaussianImageFilter.h"
#include "runtime/device/Stream.h"

#include <future>
#include <thread>

namespace
{
using itk::CudaError;
using itk::cuda::GetThreadContext;
using itk::cuda::test::AreSame;
using itk::cuda::test::Configuration;
using itk::cuda::test::device;
using itk::cuda::test::DeviceFilterTest;
using itk::cuda::test::DeviceOf;
using itk::cuda::test::HeldStream;
using itk::cuda::test::MakeRandomImage;

using FloatImage = itk::Image<float, 3>;
using ByteImage = itk::Image<unsigned char, 3>;
using DeviceFloats = DeviceOf<FloatImage>;
using Smoothing = itk::CudaSmoothingRecursiveGaussianImageFilter<DeviceFloats>;
using Partitioned = itk::CudaPartitionedRecursiveGaussianImageFilter<DeviceFloats>;
using Magnitude = itk::CudaGradientMagnitudeRecursiveGaussianImageFilter<DeviceFloats>;

class CudaDevicePipelineGpu : public DeviceFilterTest
{};

/** Upload, smoothing, the partitioned filter, magnitude, download. */
struct Chain
{
  explicit Chain(FloatImage * image, bool inPlace = false, int index = device)
  {
    Upload->SetInput(image);
    Upload->SetDeviceIndex(index);
    First->SetInput(Upload->GetOutput());
    First->SetSigma(1.0);
    First->SetInPlace(inPlace);
    Second->SetInput(First->GetOutput());
    Second->SetSigma(2.0);
    Third->SetInput(Second->GetOutput());
    Third->SetSigma(1.5);
    Download->SetInput(Third->GetOutput());
  }

  ByteImage::Pointer
  Run() const
  {
    Download->Update();
    const ByteImage::Pointer result = Download->GetOutput();
    result->DisconnectPipeline();
    return result;
  }

  using UploadType = itk::CudaUploadImageFilter<FloatImage>;
  using DownloadType = itk::CudaDownloadImageFilter<DeviceFloats, ByteImage>;

  UploadType::Pointer   Upload{ UploadType::New() };
  Smoothing::Pointer    First{ Smoothing::New() };
  Partitioned::Pointer  Second{ Partitioned::New() };
  Magnitude::Pointer    Third{ Magnitude::New() };
  DownloadType::Pointer Download{ DownloadType::New() };
};

/** Device memory, of which one allocation fails. */
class FailingMemory
{
public:
  explicit FailingMemory(unsigned int number)
    : m_Left(number)
  {
    Configuration::SetDeviceMemoryResource(Allocate, Release, this);
  }
  ~FailingMemory() { Configuration::SetDeviceMemoryResource(nullptr, nullptr); }

  FailingMemory(const FailingMemory &) = delete;
  FailingMemory &
  operator=(const FailingMemory &) = delete;

  bool
  HasFailed() const
  {
    return m_HasFailed;
  }

private:
  static void *
  Allocate(size_t bytes, int, void * stream, void * context)
  {
    auto & self = *static_cast<FailingMemory *>(context);
    if (self.m_Left > 0 && --self.m_Left == 0)
    {
      self.m_HasFailed = true;
      return nullptr;
    }
    void *     pointer = nullptr;
    const auto order = static_cast<cudaStream_t>(stream);
    const bool isRight = cudaMallocAsync(&pointer, bytes, order) == cudaSuccess &&
                         cudaMemsetAsync(pointer, 0xff, bytes, order) == cudaSuccess;
    return isRight ? pointer : nullptr;
  }

  static void
  Release(void * pointer, size_t, int, void * stream, void *)
  {
    cudaFreeAsync(pointer, static_cast<cudaStream_t>(stream));
  }

  unsigned int m_Left;
  bool         m_HasFailed{ false };
};
} // namespace

TEST_F(CudaDevicePipelineGpu, Regions_that_change_give_the_result_of_a_new_chain)
{
  const auto first = MakeRandomImage<FloatImage>({ { 40, 30, 20 } });
  Chain      chain(first);
  for (unsigned int turn = 0; turn < 6; ++turn)
  {
    const auto image = MakeRandomImage<FloatImage>(this->RandomSize<3>(90), turn);
    auto       region = image->GetBufferedRegion();
    region.SetIndex({ { -3, static_cast<itk::IndexValueType>(turn), 100 } });
    image->SetRegions(region);
    chain.Upload->SetInput(image);
    chain.Download->UpdateLargestPossibleRegion();
    EXPECT_EQ(chain.Third->GetOutput()->GetBufferedRegion(), region);
    EXPECT_EQ(chain.Download->GetOutput()->GetSpacing(), image->GetSpacing());
    EXPECT_TRUE(AreSame<ByteImage>(chain.Download->GetOutput(), Chain(image).Run())) << region;
  }
}

TEST_F(CudaDevicePipelineGpu, Requested_part_has_the_pixels_of_the_whole)
{
  const auto image = MakeRandomImage<FloatImage>({ { 65, 50, 41 } });
  const auto whole = Chain(image).Run();
  for (unsigned int turn = 0; turn < 6; ++turn)
  {
    FloatImage::RegionType part;
    for (unsigned int d = 0; d < 3; ++d)
    {
      const size_t side = image->GetBufferedRegion().GetSize(d);
      part.SetIndex(d, static_cast<itk::IndexValueType>(this->Random(0, side - 1)));
      part.SetSize(d, this->Random(1, side - static_cast<size_t>(part.GetIndex(d))));
    }
    Chain chain(image);
    chain.Download->UpdateOutputInformation();
    chain.Download->GetOutput()->SetRequestedRegion(part);
    chain.Download->Update();
    size_t different = 0;
    for (itk::IndexValueType z = part.GetIndex(2); z <= part.GetUpperIndex()[2]; ++z)
    {
      for (itk::IndexValueType y = part.GetIndex(1); y <= part.GetUpperIndex()[1]; ++y)
      {
        for (itk::IndexValueType x = part.GetIndex(0); x <= part.GetUpperIndex()[0]; ++x)
        {
          const ByteImage::IndexType index{ { x, y, z } };
          different += chain.Download->GetOutput()->GetPixel(index) != whole->GetPixel(index);
        }
      }
    }
    EXPECT_EQ(different, 0u) << part;
  }
}

TEST_F(CudaDevicePipelineGpu, Disconnected_output_keeps_its_pixels_while_the_filter_runs_again)
{
  const auto image = MakeRandomImage<FloatImage>({ { 40, 30, 20 } });
  const auto uploaded = itk::CudaUpload(image, device);
  const auto filter = Smoothing::New();
  filter->SetInput(uploaded);
  filter->SetSigma(1.0);
  filter->Update();
  const DeviceFloats::Pointer kept = filter->GetOutput();
  const auto                  before = itk::CudaDownload(kept);
  kept->DisconnectPipeline();
  filter->SetSigma(3.0);
  filter->Update();
  EXPECT_NE(filter->GetOutput(), kept);
  EXPECT_TRUE(AreSame<FloatImage>(itk::CudaDownload(kept), before));
  EXPECT_FALSE(AreSame<FloatImage>(itk::CudaDownload(filter->GetOutput()), before));
}

TEST_F(CudaDevicePipelineGpu, Image_is_dropped_while_a_filter_of_another_stream_reads_it)
{
  const auto image = MakeRandomImage<FloatImage>({ { 65, 50, 41 } });
  const auto smooth = [](const DeviceFloats * input) {
    const auto filter = Smoothing::New();
    filter->SetInput(input);
    filter->Update();
    const DeviceFloats::Pointer result = filter->GetOutput();
    result->DisconnectPipeline();
    return result;
  };
  const auto overwrite = [&image](unsigned int times) {
    std::vector<DeviceFloats::Pointer> others;
    for (unsigned int i = 0; i < times; ++i)
    {
      others.push_back(DeviceFloats::New());
      others.back()->SetRegions(image->GetBufferedRegion());
      others.back()->SetDeviceIndex(device);
      others.back()->Allocate(true);
    }
  };
  const auto expected = itk::CudaDownload(smooth(itk::CudaUpload(image, device)));
  overwrite(1); // all kernels are loaded
  auto                  uploaded = itk::CudaUpload(image, device);
  DeviceFloats::Pointer result;
  std::promise<void>    queued;
  std::promise<void>    dropped;
  std::thread           reader([&] {
    const itk::cuda::DeviceGuard guard(device);
    HeldStream                   held(GetThreadContext(device));
    result = smooth(uploaded);
    queued.set_value();
    dropped.get_future().wait();
    held.LetGo();
  });
  queued.get_future().wait();
  uploaded = nullptr;
  overwrite(10);
  dropped.set_value();
  reader.join();
  EXPECT_TRUE(AreSame<FloatImage>(itk::CudaDownload(result), expected));
}

TEST_F(CudaDevicePipelineGpu, Observers_that_abort_or_throw_in_mid_chain_leave_it_usable)
{
  const auto image = MakeRandomImage<FloatImage>({ { 65, 50, 41 } });
  const auto expected = Chain(image).Run();

  const itk::ProgressEvent progress;
  const itk::StartEvent    start;
  for (const bool inPlace : { false, true })
  {
    for (unsigned int number = 0; number < 3; ++number)
    {
      for (const bool aborts : { true, false })
      {
        Chain                    chain(image, inPlace);
        itk::ProcessObject *     filters[] = { chain.First, chain.Second, chain.Third };
        itk::ProcessObject *     filter = filters[number];
        const itk::EventObject & event = aborts ? static_cast<const itk::EventObject &>(progress) : start;
        const auto               tag = filter->AddObserver(event, [filter, aborts](const itk::EventObject &) {
          if (!aborts)
          {
            throw itk::ExceptionObject(__FILE__, __LINE__, "thrown by an observer");
          }
          filter->AbortGenerateDataOn();
        });
        try
        {
          chain.Download->Update();
          ADD_FAILURE() << "no exception";
        }
        catch (const itk::ProcessAborted &)
        {
          EXPECT_TRUE(aborts);
        }
        catch (const itk::ExceptionObject & error)
        {
          EXPECT_FALSE(aborts) << error;
        }
        filter->RemoveObserver(tag);
        filter->AbortGenerateDataOff();
        EXPECT_TRUE(AreSame<ByteImage>(chain.Run(), expected))
          << "filter " << number << (aborts ? ", abort" : ", exception") << (inPlace ? ", in place" : "");
      }
      EXPECT_EQ(Configuration::GetDeviceBytesInUse(), 0u);
    }
  }
}

TEST_F(CudaDevicePipelineGpu, Each_allocation_that_fails_is_an_exception_and_the_next_run_is_right)
{
  const auto image = MakeRandomImage<FloatImage>({ { 33, 20, 9 } });
  const auto expected = Chain(image).Run();
  for (const bool inPlace : { false, true })
  {
    constexpr unsigned int most = 1000; // far above the allocations of a chain
    unsigned int           number = 1;
    for (bool failed = true; failed && number < most; ++number)
    {
      const FailingMemory memory(number);
      {
        const Chain chain(image, inPlace);
        bool        isOutOfMemory = false;
        try
        {
          chain.Download->Update();
        }
        catch (const CudaError & error)
        {
          isOutOfMemory = error.GetKind() == CudaError::Kind::OutOfMemory;
          EXPECT_TRUE(isOutOfMemory) << error;
        }
        failed = memory.HasFailed();
        EXPECT_EQ(isOutOfMemory, failed) << "allocation " << number;
        EXPECT_TRUE(AreSame<ByteImage>(chain.Run(), expected)) << "after allocation " << number;
      }
      EXPECT_EQ(Configuration::GetDeviceBytesInUse(), 0u) << "allocation " << number;
    }
    EXPECT_GT(number, 8u) << "four images and the workspaces of three filters";
    EXPECT_LT(number, most);
  }
}

TEST_F(CudaDevicePipelineGpu, Devices_work_side_by_side_and_give_the_same_bits)
{
  const auto devices = static_cast<int>(Configuration::GetDevices().size());
  if (devices < 2)
  {
    GTEST_SKIP() << "fewer than two devices";
  }
  constexpr int                    numberOfThreads = 8;
  std::vector<FloatImage::Pointer> images;
  std::vector<ByteImage::Pointer>  expected;
  for (unsigned int index = 0; index < numberOfThreads; ++index)
  {
    images.push_back(MakeRandomImage<FloatImage>(this->RandomSize<3>(90), index));
    expected.push_back(Chain(images.back()).Run());
  }
  std::vector<std::string> errors(numberOfThreads);
  std::vector<std::thread> threads;
  for (int index = 0; index < numberOfThreads; ++index)
  {
    // Half of the threads keep to one device, the others change it with every turn.
    threads.emplace_back([=, &images, &expected, &errors] {
      try
      {
        for (int turn = 0; turn < 20; ++turn)
        {
          const int         used = (index % 2 == 0 ? index / 2 : index + turn) % devices;
          const Chain       chain(images[index], turn % 3 == 0, used);
          const auto        found = chain.Run();
          const std::string where = " in turn " + std::to_string(turn) + " on device " + std::to_string(used);
          if (!AreSame<ByteImage>(found, expected[index]))
          {
            errors[index] += "other pixels" + where;
          }
          if (chain.Third->GetOutput()->GetDeviceIndex() != used)
          {
            errors[index] += "other device" + where;
          }
        }
      }
      catch (const std::exception & exception)
      {
        errors[index] += exception.what();
      }
    });
  }
  for (std::thread & thread : threads)
  {
    thread.join();
  }
  for (unsigned int index = 0; index < numberOfThreads; ++index)
  {
    EXPECT_EQ(errors[index], "") << "thread " << index;
  }
}

TEST_F(CudaDevicePipelineGpu, Filter_refuses_an_image_of_another_device)
{
  if (Configuration::GetDevices().size() < 2)
  {
    GTEST_SKIP() << "fewer than two devices";
  }
  for (const int own : { 0, 1 })
  {
    const auto filter = Smoothing::New();
    filter->SetInput(itk::CudaUpload(MakeRandomImage<FloatImage>({ { 8, 9, 10 } }), 1 - own));
    filter->SetDeviceIndex(own);
    try
    {
      filter->Update();
      ADD_FAILURE() << "nothing was thrown";
    }
    catch (const CudaError & error)
    {
      EXPECT_NE(std::string(error.GetDescription()).find("device " + std::to_string(1 - own)), std::string::npos)
        << error.GetDescription();
    }
    filter->SetDeviceIndex(1 - own);
    EXPECT_NO_THROW(filter->Update());
    EXPECT_NO_THROW(itk::CudaDownload(filter->GetOutput()));
  }
}
