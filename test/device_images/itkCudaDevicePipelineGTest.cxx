// SPDX-License-Identifier: Apache-2.0

// Chains of filters of device images: the bits of the same filters of host images, what crosses the link, what is held
// and queued; what follows when something changes, ends early or fails. All device memory is poisoned with NaN.

#include "support/itkCudaDeviceFilterTest.h"
#include "itkCudaDiscreteGaussianImageFilter.h"
#include "itkCudaError.h"
#include "support/itkCudaExpectException.h"
#include "support/itkCudaFaultWalk.h"
#include "itkCudaGradientMagnitudeRecursiveGaussianImageFilter.h"
#include "support/itkCudaHeldStream.h"
#include "itkCudaPartitionedRecursiveGaussianImageFilter.h"
#include "itkCudaSmoothingRecursiveGaussianImageFilter.h"
#include "runtime/device/Stream.h"
#include "runtime/transfer/TransferPolicy.h"
#include "itkImageRegionConstIteratorWithIndex.h"

#include <functional>
#include <future>
#include <thread>

namespace
{
using itk::CudaError;
using itk::cuda::FaultHook;
using itk::cuda::GetThreadContext;
using itk::cuda::GetTransferCounts;
using namespace itk::cuda::test;

using FloatImage = itk::Image<float, 3>;
using ByteImage = itk::Image<unsigned char, 3>;
using DeviceFloats = DeviceOf<FloatImage>;
using Discrete = itk::CudaDiscreteGaussianImageFilter<DeviceFloats>;
using Smoothing = itk::CudaSmoothingRecursiveGaussianImageFilter<DeviceFloats>;
using Partitioned = itk::CudaPartitionedRecursiveGaussianImageFilter<DeviceFloats>;

/** Where the images of a chain are. */
enum class Kind
{
  Host,            // all on the host: each filter uploads and downloads
  Mixed,           // the first filter uploads, and the last one downloads
  Resident,        // between a filter that uploads and one that downloads
  ResidentInPlace, // the same, with a filter in place
};

constexpr Kind DeviceKinds[] = { Kind::Mixed, Kind::Resident, Kind::ResidentInPlace };

/** The discrete filter, smoothing, the partitioned filter and the magnitude, from float to bytes. */
class Chain
{
public:
  Chain(Kind kind, FloatImage * image, int index = device)
  {
    if (kind == Kind::Host)
    {
      m_Last = this->Connect<FloatImage, FloatImage, ByteImage>(image, false, index);
    }
    else if (kind == Kind::Mixed)
    {
      m_Last = this->Connect<FloatImage, DeviceFloats, ByteImage>(image, false, index);
    }
    else
    {
      const auto upload = itk::CudaUploadImageFilter<FloatImage>::New();
      upload->SetInput(image);
      upload->SetDeviceIndex(index);
      const auto download = itk::CudaDownloadImageFilter<DeviceFloats, ByteImage>::New();
      download->SetInput(
        this
          ->Connect<DeviceFloats, DeviceFloats, DeviceFloats>(upload->GetOutput(), kind == Kind::ResidentInPlace, index)
          ->GetOutput());
      SetInput = [upload](const FloatImage * input) { upload->SetInput(input); };
      m_Last = download;
    }
  }

  const ByteImage *
  Update() const
  {
    m_Last->UpdateLargestPossibleRegion();
    return m_Last->GetOutput();
  }

  ByteImage *
  GetOutput() const
  {
    return m_Last->GetOutput();
  }

  std::vector<itk::ProcessObject::Pointer> Filters;
  std::function<void(const FloatImage *)>  SetInput;
  std::function<void(double)>              SetSigma; // of the partitioned filter

private:
  template <typename TInput, typename TBetween, typename TOutput>
  typename itk::ImageSource<TOutput>::Pointer
  Connect(const TInput * input, bool inPlace, int index)
  {
    const auto add = [&](auto filter) {
      filter->SetBackend("cuda");
      filter->SetDeviceIndex(index);
      Filters.push_back(filter.GetPointer());
      return filter;
    };
    const auto discrete = add(itk::CudaDiscreteGaussianImageFilter<TInput, TBetween>::New());
    const auto smoothing = add(itk::CudaSmoothingRecursiveGaussianImageFilter<TBetween>::New());
    const auto partitioned = add(itk::CudaPartitionedRecursiveGaussianImageFilter<TBetween>::New());
    const auto magnitude = add(itk::CudaGradientMagnitudeRecursiveGaussianImageFilter<TBetween, TOutput>::New());
    discrete->SetInput(input);
    discrete->SetVariance(2.0);
    smoothing->SetInput(discrete->GetOutput());
    smoothing->SetInPlace(inPlace);
    partitioned->SetInput(smoothing->GetOutput());
    partitioned->SetSigma(1.5);
    magnitude->SetInput(partitioned->GetOutput());
    if constexpr (std::is_same_v<TInput, FloatImage>)
    {
      SetInput = [discrete](const FloatImage * image) { discrete->SetInput(image); };
    }
    SetSigma = [partitioned](double sigma) { partitioned->SetSigma(sigma); };
    return magnitude.GetPointer();
  }

  itk::ImageSource<ByteImage>::Pointer m_Last;
};

ByteImage::Pointer
GetExpected(FloatImage * image)
{
  const Chain chain(Kind::Host, image);
  chain.Update();
  return chain.GetOutput();
}

std::string
Describe(Kind kind)
{
  const char * const names[] = { "host", "mixed", "resident", "resident in place" };
  return names[static_cast<int>(kind)];
}

/** The output of a filter of its own, which ends here. */
template <typename TFilter>
DeviceFloats::Pointer
Filter(const DeviceFloats * input, double sigma = 1.0)
{
  const auto filter = TFilter::New();
  filter->SetInput(input);
  filter->SetSigma(sigma);
  filter->Update();
  const DeviceFloats::Pointer result = filter->GetOutput();
  result->DisconnectPipeline();
  return result;
}

class CudaDevicePipelineGpu : public DeviceFilterTest
{
protected:
  /** Threads run 20 chains each of their own. Thread number i runs chain number n on device `getDevice(i, n)`. */
  void
  RunThreads(const std::function<int(int, int)> & getDevice)
  {
    constexpr unsigned int           numberOfThreads = 8;
    std::vector<FloatImage::Pointer> images;
    std::vector<ByteImage::Pointer>  expected;
    for (unsigned int index = 0; index < numberOfThreads; ++index)
    {
      images.push_back(MakeRandomImage<FloatImage>(this->RandomSize<3>(90), index));
      expected.push_back(GetExpected(images.back()));
    }
    RunInThreads(numberOfThreads, [&](unsigned int index) {
      std::string errors;
      for (int turn = 0; turn < 20; ++turn)
      {
        const int   used = getDevice(static_cast<int>(index), turn);
        const Chain chain(DeviceKinds[(index + turn) % 3], images[index], used);
        const auto  where = " in turn " + std::to_string(turn) + " on device " + std::to_string(used);
        errors += AreSame<ByteImage>(chain.Update(), expected[index]) ? "" : "other pixels" + where;
        const auto outputs = chain.Filters[2]->GetOutputs();
        const bool isThere = dynamic_cast<DeviceFloats &>(*outputs.front()).GetDeviceIndex() == used;
        errors += isThere ? "" : "other device" + where;
      }
      return errors;
    });
  }
};
} // namespace

TEST_F(CudaDevicePipelineGpu, Chain_crosses_the_link_once_each_way_and_only_what_changed_runs_again)
{
  const auto image = MakeRandomImage<FloatImage>({ { 65, 50, 41 } });
  for (const Kind kind : DeviceKinds)
  {
    SCOPED_TRACE(Describe(kind));
    const Chain chain(kind, image);
    const Chain host(Kind::Host, image);
    const auto  expectTransfers = [&chain](unsigned long uploads, unsigned long downloads) {
      const auto before = GetTransferCounts();
      chain.Update();
      EXPECT_EQ(GetTransferCounts().Uploads - before.Uploads, uploads);
      EXPECT_EQ(GetTransferCounts().Downloads - before.Downloads, downloads);
    };
    expectTransfers(1, 1);
    expectTransfers(0, 0);
    EXPECT_TRUE(AreSame<ByteImage>(chain.GetOutput(), host.Update()));
    chain.SetSigma(2.5);
    expectTransfers(0, 1);
    host.SetSigma(2.5);
    EXPECT_TRUE(AreSame<ByteImage>(chain.GetOutput(), host.Update()));
  }
}

TEST_F(CudaDevicePipelineGpu, Regions_that_change_give_the_result_of_a_new_chain)
{
  const auto first = MakeRandomImage<FloatImage>({ { 40, 30, 20 } });
  for (const Kind kind : DeviceKinds)
  {
    const Chain chain(kind, first);
    for (unsigned int turn = 0; turn < 6; ++turn)
    {
      const auto image = MakeRandomImage<FloatImage>(this->RandomSize<3>(90), turn);
      auto       region = image->GetBufferedRegion();
      region.SetIndex({ { -3, static_cast<itk::IndexValueType>(turn), 100 } });
      image->SetRegions(region);
      chain.SetInput(image);
      chain.Update();
      EXPECT_EQ(chain.GetOutput()->GetSpacing(), image->GetSpacing());
      EXPECT_TRUE(AreSame<ByteImage>(chain.GetOutput(), GetExpected(image))) << Describe(kind) << ", " << region;
    }
  }
}

TEST_F(CudaDevicePipelineGpu, Requested_part_has_the_pixels_of_the_whole)
{
  const auto image = MakeRandomImage<FloatImage>({ { 65, 50, 41 } });
  const auto whole = GetExpected(image);
  for (unsigned int turn = 0; turn < 6; ++turn)
  {
    FloatImage::RegionType part;
    for (unsigned int d = 0; d < 3; ++d)
    {
      const size_t side = image->GetBufferedRegion().GetSize(d);
      part.SetIndex(d, static_cast<itk::IndexValueType>(this->Random(0, side - 1)));
      part.SetSize(d, this->Random(1, side - static_cast<size_t>(part.GetIndex(d))));
    }
    const Chain chain(DeviceKinds[turn % 3], image);
    chain.GetOutput()->UpdateOutputInformation();
    chain.GetOutput()->SetRequestedRegion(part);
    chain.GetOutput()->Update();
    size_t                                                  different = 0;
    itk::ImageRegionConstIteratorWithIndex<const ByteImage> it(chain.GetOutput(), part);
    for (; !it.IsAtEnd(); ++it)
    {
      different += it.Get() != whole->GetPixel(it.GetIndex());
    }
    EXPECT_EQ(different, 0u) << part;
  }
}

TEST_F(CudaDevicePipelineGpu, Chain_holds_two_images_in_place_and_three_with_ReleaseDataFlag)
{
  const auto   image = MakeRandomImage<FloatImage>({ { 128, 128, 64 } });
  const size_t bytes = GetNumberOfBytes(image.GetPointer());
  for (const bool inPlace : { true, false })
  {
    const auto upload = itk::CudaUploadImageFilter<FloatImage>::New();
    upload->SetInput(image);
    upload->SetDeviceIndex(device);
    upload->ReleaseDataFlagOn();
    std::vector<Smoothing::Pointer> filters;
    for (unsigned int i = 0; i < 3; ++i)
    {
      filters.push_back(Smoothing::New());
      filters[i]->SetInput(i == 0 ? upload->GetOutput() : filters[i - 1]->GetOutput());
      filters[i]->SetInPlace(inPlace);
      filters[i]->ReleaseDataFlagOn();
    }
    const auto download = itk::CudaDownloadImageFilter<DeviceFloats>::New();
    download->SetInput(filters.back()->GetOutput());
    this->GetMemory().ResetPeak();
    download->Update();
    // States take a sixteenth of an image at most.
    const size_t images = inPlace ? 2 : 3;
    EXPECT_LE(this->GetMemory().GetPeak(), images * bytes + bytes / 8) << (inPlace ? "in place" : "released");
    EXPECT_EQ(Configuration::GetDeviceBytesInUse(), 0u);
  }
}

TEST_F(CudaDevicePipelineGpu, In_place_keeps_memory_that_somebody_else_holds)
{
  const auto image = MakeRandomImage<FloatImage>({ { 40, 30, 20 } });
  const auto uploaded = itk::CudaUpload(image, device);
  const auto holder = DeviceFloats::New();
  holder->Graft(uploaded);
  const auto filter = Smoothing::New();
  filter->SetInput(uploaded);
  filter->InPlaceOn();
  filter->Update();
  EXPECT_FALSE(uploaded->IsAllocated()) << "released, as by ITK's class";
  EXPECT_TRUE(AreSame<FloatImage>(itk::CudaDownload(holder), image));
}

TEST_F(CudaDevicePipelineGpu, Memory_of_others_is_filtered_and_never_written)
{
  const auto image = MakeRandomImage<FloatImage>({ { 37, 30, 20 } }); // rows that are no multiple of 16 bytes
  const auto bytes = GetNumberOfBytes(image.GetPointer());
  float *    data = nullptr;
  ITK_CUDA_CALL(cudaMalloc(&data, bytes));
  ITK_CUDA_CALL(cudaMemcpy(data, image->GetBufferPointer(), bytes, cudaMemcpyHostToDevice));
  ITK_CUDA_CALL(cudaDeviceSynchronize()); // the copy may be under way when it returns
  const std::shared_ptr<void> owner(data, [](void * memory) { cudaFree(memory); });
  const auto                  check = [&](auto filter, auto host) {
    // In place a filter releases its input.
    filter->SetInput(itk::CudaDeviceImageFromPointer<DeviceFloats>(
      data, image->GetBufferedRegion(), image.GetPointer(), owner, device));
    filter->SetSigma(1.5);
    filter->Update();
    host->SetInput(image);
    host->SetSigma(1.5);
    host->SetBackend("cuda");
    host->Update();
    EXPECT_TRUE(AreSame<FloatImage>(itk::CudaDownload(filter->GetOutput()), host->GetOutput()))
      << filter->GetNameOfClass();
    std::vector<float> after(bytes / sizeof(float));
    ITK_CUDA_CALL(cudaMemcpy(after.data(), data, bytes, cudaMemcpyDeviceToHost));
    EXPECT_EQ(std::memcmp(after.data(), image->GetBufferPointer(), bytes), 0) << filter->GetNameOfClass();
  };
  const auto inPlace = Smoothing::New();
  inPlace->InPlaceOn();
  check(inPlace, itk::CudaSmoothingRecursiveGaussianImageFilter<FloatImage>::New());
  check(Partitioned::New(), itk::CudaPartitionedRecursiveGaussianImageFilter<FloatImage>::New());
  check(Discrete::New(), itk::CudaDiscreteGaussianImageFilter<FloatImage>::New());
}

TEST_F(CudaDevicePipelineGpu, Updates_queue_and_return_and_everything_may_be_dropped)
{
  const auto image = MakeRandomImage<FloatImage>({ { 65, 50, 41 } });
  const auto filter = [](DeviceFloats::Pointer input) {
    return Filter<Partitioned>(Filter<Smoothing>(Filter<Discrete>(input, 1.4)), 2.0);
  };
  const auto            expected = itk::CudaDownload(filter(itk::CudaUpload(image, device))); // all kernels are loaded
  DeviceFloats::Pointer result = itk::CudaUpload(image, device);
  {
    HeldStream held(GetThreadContext(device));
    result = filter(result); // filters and inputs end here, while their work waits
    held.LetGo();
  }
  EXPECT_TRUE(AreSame<FloatImage>(itk::CudaDownload(result), expected));
}

TEST_F(CudaDevicePipelineGpu, Image_is_dropped_while_a_filter_of_another_stream_reads_it)
{
  const auto image = MakeRandomImage<FloatImage>({ { 65, 50, 41 } });
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
  const auto expected = itk::CudaDownload(Filter<Smoothing>(itk::CudaUpload(image, device)));
  overwrite(1); // all kernels are loaded
  auto                  uploaded = itk::CudaUpload(image, device);
  DeviceFloats::Pointer result;
  std::promise<void>    queued;
  std::promise<void>    dropped;
  std::thread           reader([&] {
    const itk::cuda::DeviceGuard guard(device);
    HeldStream                   held(GetThreadContext(device));
    result = Filter<Smoothing>(uploaded);
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

TEST_F(CudaDevicePipelineGpu, Filter_records_no_event_and_asks_for_no_memory_information)
{
  Configuration::SetDeviceMemoryResource(nullptr, nullptr);
  const auto filter = Smoothing::New();
  filter->SetInput(itk::CudaUpload(MakeRandomImage<FloatImage>({ { 64, 64, 64 } }), device));
  filter->Update();
  for (unsigned long n = 1;; ++n)
  {
    filter->Modified();
    FaultHook::FailCall(n, cudaErrorUnknown); // makes the n-th call known by its text
    try
    {
      filter->Update();
    }
    catch (const CudaError &)
    {}
    FaultHook::Clear();
    if (!FaultHook::GetFired())
    {
      EXPECT_GT(n, 4u);
      break;
    }
    for (const char * const name : { "cudaMemGetInfo", "cudaEvent", "Synchronize", "cudaStreamWaitEvent" })
    {
      EXPECT_EQ(FaultHook::GetCall().find(name), std::string::npos) << FaultHook::GetCall();
    }
  }
}

TEST_F(CudaDevicePipelineGpu, Faults_give_back_all_memory_and_the_next_run_is_right)
{
  Configuration::SetDeviceMemoryResource(nullptr, nullptr); // calls of the program's functions are not counted
  const auto image = MakeRandomImage<FloatImage>({ { 33, 20, 9 } });
  for (const Kind kind : DeviceKinds)
  {
    WalkFaults<unsigned char>(Describe(kind), [kind, &image] {
      const Chain             chain(kind, image);
      const ByteImage * const output = chain.Update();
      return std::vector<unsigned char>(output->GetBufferPointer(),
                                        output->GetBufferPointer() + output->GetBufferedRegion().GetNumberOfPixels());
    });
  }
}

TEST_F(CudaDevicePipelineGpu, Memory_that_runs_out_in_the_chain_is_an_exception_and_the_next_run_is_right)
{
  const auto   image = MakeRandomImage<FloatImage>({ { 64, 64, 64 } });
  const auto   expected = GetExpected(image);
  const size_t bytes = GetNumberOfBytes(image.GetPointer());
  for (const Kind kind : DeviceKinds)
  {
    unsigned int failures = 0;
    for (size_t limit = bytes / 2; limit < 10 * bytes; limit += bytes / 2)
    {
      {
        const Chain chain(kind, image);
        Configuration::SetDeviceMemoryLimit(limit);
        try
        {
          chain.Update();
        }
        catch (const CudaError & error)
        {
          EXPECT_EQ(error.GetKind(), CudaError::Kind::OutOfMemory) << error;
          ++failures;
        }
        Configuration::SetDeviceMemoryLimit(0);
        EXPECT_TRUE(AreSame<ByteImage>(chain.Update(), expected)) << Describe(kind) << ", after a limit of " << limit;
      }
      EXPECT_EQ(Configuration::GetDeviceBytesInUse(), 0u);
    }
    EXPECT_GT(failures, 3u);
  }
}

TEST_F(CudaDevicePipelineGpu, Each_allocation_that_fails_is_an_exception_and_the_next_run_is_right)
{
  const auto image = MakeRandomImage<FloatImage>({ { 33, 20, 9 } });
  const auto expected = GetExpected(image);
  for (const Kind kind : { Kind::Resident, Kind::ResidentInPlace })
  {
    constexpr unsigned int most = 1000; // far above the allocations of a chain
    unsigned int           number = 1;
    for (bool failed = true; failed && number < most; ++number)
    {
      this->GetMemory().FailAllocation(number);
      {
        const Chain chain(kind, image);
        bool        isOutOfMemory = false;
        try
        {
          chain.Update();
        }
        catch (const CudaError & error)
        {
          isOutOfMemory = error.GetKind() == CudaError::Kind::OutOfMemory;
          EXPECT_TRUE(isOutOfMemory) << error;
        }
        failed = this->GetMemory().HasFailed();
        EXPECT_EQ(isOutOfMemory, failed) << "allocation " << number;
        EXPECT_TRUE(AreSame<ByteImage>(chain.Update(), expected)) << "after allocation " << number;
      }
      EXPECT_EQ(Configuration::GetDeviceBytesInUse(), 0u) << "allocation " << number;
    }
    EXPECT_GT(number, 8u) << "images and the workspaces of filters";
    EXPECT_LT(number, most);
  }
}

TEST_F(CudaDevicePipelineGpu, Observers_that_abort_or_throw_in_mid_chain_leave_it_usable)
{
  const auto               image = MakeRandomImage<FloatImage>({ { 256, 64, 32 } });
  const auto               expected = GetExpected(image);
  const itk::ProgressEvent progress;
  const itk::StartEvent    start;
  for (const Kind kind : DeviceKinds)
  {
    for (unsigned int number = 0; number < 4; ++number)
    {
      for (const bool aborts : { true, false })
      {
        const Chain              chain(kind, image);
        itk::ProcessObject *     filter = chain.Filters[number];
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
          chain.Update();
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
        filter->Modified();
        EXPECT_TRUE(AreSame<ByteImage>(chain.Update(), expected))
          << Describe(kind) << ", filter " << number << (aborts ? ", abort" : ", exception");
      }
      EXPECT_EQ(Configuration::GetDeviceBytesInUse(), 0u);
    }
  }
}

TEST_F(CudaDevicePipelineGpu, Progress_of_filters_that_cross_the_link_grows_to_one)
{
  const auto  image = MakeRandomImage<FloatImage>({ { 256, 256, 32 } });
  const Chain chain(Kind::Mixed, image);
  for (itk::ProcessObject * const filter : { chain.Filters.front().GetPointer(), chain.Filters.back().GetPointer() })
  {
    std::vector<float> reports;
    const auto         tag = filter->AddObserver(
      itk::ProgressEvent(), [&reports, filter](const itk::EventObject &) { reports.push_back(filter->GetProgress()); });
    filter->Modified();
    chain.Update();
    filter->RemoveObserver(tag);
    ASSERT_FALSE(reports.empty());
    EXPECT_TRUE(std::is_sorted(reports.begin(), reports.end())) << filter->GetNameOfClass();
    EXPECT_EQ(reports.back(), 1.0f) << filter->GetNameOfClass();
  }
}

TEST_F(CudaDevicePipelineGpu, Threads_run_chains_of_their_own)
{
  this->RunThreads([](int, int) { return device; });
}

// Half of the threads keep to one device, the others change it with every turn.
TEST_F(CudaDevicePipelineGpu, Devices_work_side_by_side_and_give_the_same_bits)
{
  const auto devices = static_cast<int>(Configuration::GetDevices().size());
  if (devices < 2)
  {
    GTEST_SKIP() << "fewer than two devices";
  }
  this->RunThreads([devices](int index, int turn) { return (index % 2 == 0 ? index / 2 : index + turn) % devices; });
}

// Each thread keeps tables of the last few sigmas. New threads have none.
TEST_F(CudaDevicePipelineGpu, Sigmas_in_any_order_have_the_bits_of_a_thread_of_their_own)
{
  constexpr unsigned int kinds = 12;
  const auto             image = itk::CudaUpload(MakeRandomImage<FloatImage>({ { 65, 50, 41 } }), device);
  const auto             smooth = [&image](unsigned int kind) {
    const auto filter = Smoothing::New();
    filter->SetInput(image);
    filter->SetApproximation(kind % 2 == 0 ? "Deriche" : "Accurate");
    filter->SetSigma(0.8 + 0.6 * kind);
    filter->Update();
    return itk::CudaDownload(filter->GetOutput());
  };
  std::vector<FloatImage::Pointer> expected(kinds);
  for (unsigned int kind = 0; kind < kinds; ++kind)
  {
    std::thread([&expected, &smooth, kind] { expected[kind] = smooth(kind); }).join();
  }
  for (unsigned int turn = 0; turn < 100; ++turn)
  {
    const auto kind = static_cast<unsigned int>(this->Random(0, kinds - 1));
    EXPECT_TRUE(AreSame<FloatImage>(smooth(kind), expected[kind])) << "turn " << turn << ", kind " << kind;
  }
}

TEST_F(CudaDevicePipelineGpu, Result_of_one_thread_is_filtered_by_another)
{
  const auto image = MakeRandomImage<FloatImage>({ { 65, 50, 41 } });
  const auto expected = itk::CudaDownload(Filter<Smoothing>(Filter<Partitioned>(itk::CudaUpload(image, device))));
  DeviceFloats::Pointer result = itk::CudaUpload(image, device);
  std::thread([&result] { result = Filter<Partitioned>(result); }).join();
  std::thread([&result] { result = Filter<Smoothing>(result); }).join();
  EXPECT_TRUE(AreSame<FloatImage>(itk::CudaDownload(result), expected));
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
    ExpectContains(GetException([&filter] { filter->Update(); }), "device " + std::to_string(1 - own));
    filter->SetDeviceIndex(1 - own);
    EXPECT_NO_THROW(filter->Update());
    EXPECT_NO_THROW(itk::CudaDownload(filter->GetOutput()));
  }
}
