// SPDX-License-Identifier: Apache-2.0

// Recursive Gaussian filters of device images: the bits of host to host one by one, for random images and filters, in
// chains, in place, in threads; what they hold; what follows from failures.

#include "itkCovariantVector.h"
#include "support/itkCudaDeviceFilterTest.h"
#include "itkCudaError.h"
#include "itkCudaGradientMagnitudeRecursiveGaussianImageFilter.h"
#include "itkCudaGradientRecursiveGaussianImageFilter.h"
#include "support/itkCudaHeldStream.h"
#include "itkCudaHessianRecursiveGaussianImageFilter.h"
#include "itkCudaLaplacianRecursiveGaussianImageFilter.h"
#include "itkCudaRecursiveGaussianImageFilter.h"
#include "itkCudaSmoothingRecursiveGaussianImageFilter.h"
#include "runtime/device/Stream.h"
#include "runtime/transfer/TransferPolicy.h"

#include <functional>
#include <sstream>
#include <thread>

namespace
{
using itk::CudaError;
using itk::cuda::FaultHook;
using itk::cuda::GetThreadContext;
using itk::cuda::GetTransferCounts;
using itk::cuda::test::Configuration;
using itk::cuda::test::AreSame;
using itk::cuda::test::device;
using itk::cuda::test::DeviceFilterTest;
using itk::cuda::test::DeviceOf;
using itk::cuda::test::ExpectSameBits;
using itk::cuda::test::GetNumberOfBytes;
using itk::cuda::test::HeldStream;
using itk::cuda::test::MakeRandomImage;

using FloatImage = itk::Image<float, 3>;
using DeviceFloats = DeviceOf<FloatImage>;
using SmoothingType = itk::CudaSmoothingRecursiveGaussianImageFilter<DeviceFloats>;

class CudaDeviceGaussianGpu : public DeviceFilterTest
{
protected:
  /** One filter on images of the host and of the device, with random parameters. */
  template <template <typename, typename> class TFilter, typename TInput, typename TOutput>
  void
  CheckSameBits(size_t limit, const std::string & what, unsigned int components = 1)
  {
    for (unsigned int turn = 0; turn < 8; ++turn)
    {
      const auto   image = MakeRandomImage<TInput>(this->RandomSize<TInput::ImageDimension>(limit), turn, components);
      const double sigma = 0.3 + 0.1 * static_cast<double>(this->Random(0, 60));
      const bool   normalize = this->Random(0, 1) == 1;
      const auto   approximation = turn % 2 == 0 ? "Deriche" : "Accurate";
      const auto   set = [&](auto & filter) {
        filter.SetSigma(sigma);
        filter.SetNormalizeAcrossScale(normalize);
        filter.SetApproximation(approximation);
      };
      std::ostringstream text;
      text << what << ", turn " << turn << ", sigma " << sigma << ", size " << image->GetBufferedRegion().GetSize();
      ExpectSameBits<TFilter, TInput, TOutput>(image.GetPointer(), set, text.str());
    }
  }
};

/** Three smoothings on the host's images, each with an upload and a download. */
FloatImage::Pointer
ChainOnHostImages(FloatImage * image)
{
  FloatImage::Pointer result = image;
  for (const double sigma : { 1.0, 2.5, 1.5 })
  {
    const auto filter = itk::CudaSmoothingRecursiveGaussianImageFilter<FloatImage>::New();
    filter->SetInput(result);
    filter->SetSigma(sigma);
    filter->SetBackend("cuda");
    filter->SetDeviceIndex(device);
    filter->Update();
    result = filter->GetOutput();
    result->DisconnectPipeline();
  }
  return result;
}

/** The same on device images: an upload, three filters, a download. */
struct Chain
{
  explicit Chain(FloatImage * image)
  {
    Upload->SetInput(image);
    Upload->SetDeviceIndex(device);
    const DeviceFloats * input = Upload->GetOutput();
    for (const double sigma : { 1.0, 2.5, 1.5 })
    {
      const auto filter = SmoothingType::New();
      filter->SetInput(input);
      filter->SetSigma(sigma);
      Filters.push_back(filter);
      input = filter->GetOutput();
    }
    Download->SetInput(input);
  }

  itk::CudaUploadImageFilter<FloatImage>::Pointer     Upload{ itk::CudaUploadImageFilter<FloatImage>::New() };
  std::vector<SmoothingType::Pointer>                 Filters;
  itk::CudaDownloadImageFilter<DeviceFloats>::Pointer Download{ itk::CudaDownloadImageFilter<DeviceFloats>::New() };
};
} // namespace

TEST_F(CudaDeviceGaussianGpu, Smoothing_has_the_bits_of_host_images)
{
  using itk::CudaSmoothingRecursiveGaussianImageFilter;
  this->CheckSameBits<CudaSmoothingRecursiveGaussianImageFilter, FloatImage, FloatImage>(70, "float");
  this->CheckSameBits<CudaSmoothingRecursiveGaussianImageFilter, itk::Image<double, 3>, itk::Image<double, 3>>(
    50, "double");
  this->CheckSameBits<CudaSmoothingRecursiveGaussianImageFilter, itk::Image<short, 2>, itk::Image<short, 2>>(400,
                                                                                                             "short");
  this->CheckSameBits<CudaSmoothingRecursiveGaussianImageFilter, itk::Image<unsigned char, 3>, FloatImage>(
    60, "unsigned char to float");
  this->CheckSameBits<CudaSmoothingRecursiveGaussianImageFilter, itk::Image<int, 2>, itk::Image<float, 2>>(
    200, "int to float");
  using Vectors = itk::Image<itk::Vector<float, 3>, 3>;
  this->CheckSameBits<CudaSmoothingRecursiveGaussianImageFilter, Vectors, Vectors>(30, "vectors");
  this->CheckSameBits<CudaSmoothingRecursiveGaussianImageFilter, itk::Image<float, 4>, itk::Image<float, 4>>(
    16, "four dimensions");
}

TEST_F(CudaDeviceGaussianGpu, Derivatives_have_the_bits_of_host_images)
{
  this->CheckSameBits<itk::CudaGradientMagnitudeRecursiveGaussianImageFilter, FloatImage, FloatImage>(60, "magnitude");
  this->CheckSameBits<itk::CudaLaplacianRecursiveGaussianImageFilter, FloatImage, FloatImage>(60, "Laplacian");
  this->CheckSameBits<itk::CudaRecursiveGaussianImageFilter, FloatImage, FloatImage>(60, "one axis");
  using Gradient = itk::Image<itk::CovariantVector<float, 3>, 3>;
  this->CheckSameBits<itk::CudaGradientRecursiveGaussianImageFilter, FloatImage, Gradient>(50, "gradient");
  using Tensors = itk::Image<itk::SymmetricSecondRankTensor<float, 3>, 3>;
  this->CheckSameBits<itk::CudaHessianRecursiveGaussianImageFilter, FloatImage, Tensors>(50, "Hessian");
  this
    ->CheckSameBits<itk::CudaGradientMagnitudeRecursiveGaussianImageFilter, itk::Image<short, 2>, itk::Image<short, 2>>(
      300, "magnitude of short");
}

TEST_F(CudaDeviceGaussianGpu, Chain_crosses_the_link_once_each_way_and_has_the_same_bits)
{
  const auto image = MakeRandomImage<FloatImage>({ { 65, 50, 41 } });
  const auto expected = ChainOnHostImages(image);
  for (const bool inPlace : { false, true })
  {
    Chain chain(image);
    for (const auto & filter : chain.Filters)
    {
      filter->SetInPlace(inPlace);
    }
    const auto before = GetTransferCounts();
    chain.Download->Update();
    EXPECT_EQ(GetTransferCounts().Uploads - before.Uploads, 1u);
    EXPECT_EQ(GetTransferCounts().Downloads - before.Downloads, 1u);
    EXPECT_TRUE(AreSame<FloatImage>(chain.Download->GetOutput(), expected)) << (inPlace ? "in place" : "not in place");
  }
}

TEST_F(CudaDeviceGaussianGpu, Chain_holds_two_images_in_place_and_three_with_ReleaseDataFlag)
{
  const auto   image = MakeRandomImage<FloatImage>({ { 128, 128, 64 } });
  const size_t bytes = size_t{ 128 } * 128 * 64 * 4;
  for (const bool inPlace : { true, false })
  {
    Chain chain(image);
    chain.Upload->GetOutput()->ReleaseDataFlagOn();
    for (const auto & filter : chain.Filters)
    {
      filter->SetInPlace(inPlace);
      filter->GetOutput()->ReleaseDataFlagOn();
    }
    this->GetMemory().ResetPeak();
    chain.Download->Update();
    // States take a sixteenth of an image at most.
    const size_t images = inPlace ? 2 : 3;
    EXPECT_LE(this->GetMemory().GetPeak(), images * bytes + bytes / 8) << (inPlace ? "in place" : "released");
    EXPECT_EQ(Configuration::GetDeviceBytesInUse(), 0u);
  }
}

TEST_F(CudaDeviceGaussianGpu, In_place_keeps_memory_that_somebody_else_holds)
{
  const auto image = MakeRandomImage<FloatImage>({ { 40, 30, 20 } });
  const auto uploaded = itk::CudaUpload(image, device);
  const auto holder = DeviceFloats::New();
  holder->Graft(uploaded);
  const auto filter = SmoothingType::New();
  filter->SetInput(uploaded);
  filter->InPlaceOn();
  filter->Update();
  EXPECT_FALSE(uploaded->IsAllocated()) << "released, as by ITK's class";
  EXPECT_TRUE(AreSame<FloatImage>(itk::CudaDownload(holder), image));
}

TEST_F(CudaDeviceGaussianGpu, In_place_never_writes_memory_of_others)
{
  const auto image = MakeRandomImage<FloatImage>({ { 37, 30, 20 } }); // rows that are no multiple of 16 bytes
  const auto values = GetNumberOfBytes(image.GetPointer());
  float *    data = nullptr;
  ITK_CUDA_CALL(cudaMalloc(&data, values));
  ITK_CUDA_CALL(cudaMemcpy(data, image->GetBufferPointer(), values, cudaMemcpyHostToDevice));
  ITK_CUDA_CALL(cudaDeviceSynchronize()); // the copy may be under way when it returns
  const std::shared_ptr<void> owner(data, [](void * memory) { cudaFree(memory); });
  const auto                  adopted =
    itk::CudaDeviceImageFromPointer<DeviceFloats>(data, image->GetBufferedRegion(), image.GetPointer(), owner, device);
  const auto filter = SmoothingType::New();
  filter->SetInput(adopted);
  filter->InPlaceOn();
  filter->Update();
  const auto result = itk::CudaDownload(filter->GetOutput());
  const auto host = itk::CudaSmoothingRecursiveGaussianImageFilter<FloatImage>::New();
  host->SetInput(image);
  host->SetBackend("cuda");
  host->Update();
  EXPECT_TRUE(AreSame<FloatImage>(result, host->GetOutput())) << "whatever its rows, the bits are the filter's";
  std::vector<float> after(values / sizeof(float));
  ITK_CUDA_CALL(cudaMemcpy(after.data(), data, values, cudaMemcpyDeviceToHost));
  EXPECT_EQ(std::memcmp(after.data(), image->GetBufferPointer(), values), 0);
}

TEST_F(CudaDeviceGaussianGpu, Update_queues_and_returns_and_everything_may_be_dropped)
{
  const auto            image = MakeRandomImage<FloatImage>({ { 65, 50, 41 } });
  const auto            expected = ChainOnHostImages(image);
  DeviceFloats::Pointer result = itk::CudaUpload(image, device);
  ChainOnHostImages(image); // all kernels are loaded
  {
    HeldStream held(GetThreadContext(device));
    for (const double sigma : { 1.0, 2.5, 1.5 })
    {
      const auto filter = SmoothingType::New();
      filter->SetInput(result);
      filter->SetSigma(sigma);
      filter->Update();
      result = filter->GetOutput(); // filter and input end here, while their work waits
      result->DisconnectPipeline();
    }
    held.LetGo();
  }
  EXPECT_TRUE(AreSame<FloatImage>(itk::CudaDownload(result), expected));
}

TEST_F(CudaDeviceGaussianGpu, Chain_records_no_event_and_asks_for_no_memory_information)
{
  Configuration::SetDeviceMemoryResource(nullptr, nullptr);
  const auto uploaded = itk::CudaUpload(MakeRandomImage<FloatImage>({ { 64, 64, 64 } }), device);
  const auto filter = SmoothingType::New();
  filter->SetInput(uploaded);
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

TEST_F(CudaDeviceGaussianGpu, Faults_are_exceptions_and_the_next_run_is_right)
{
  Configuration::SetDeviceMemoryResource(nullptr, nullptr);
  const auto image = MakeRandomImage<FloatImage>({ { 33, 20, 9 } });
  const auto expected = ChainOnHostImages(image);
  for (const bool inPlace : { false, true })
  {
    for (unsigned long n = 1;; ++n)
    {
      Chain chain(image);
      for (const auto & filter : chain.Filters)
      {
        filter->SetInPlace(inPlace);
      }
      FaultHook::FailCall(n, cudaErrorUnknown);
      bool failed = false;
      try
      {
        chain.Download->Update();
      }
      catch (const CudaError &)
      {
        failed = true;
      }
      FaultHook::Clear();
      const bool fired = FaultHook::GetFired();
      EXPECT_TRUE(failed || !fired || FaultHook::GetCall().find("cudaPointerGetAttributes") != std::string::npos)
        << FaultHook::GetCall();
      chain.Download->Update();
      EXPECT_TRUE(AreSame<FloatImage>(chain.Download->GetOutput(), expected)) << "after " << FaultHook::GetCall();
      if (!fired)
      {
        EXPECT_GT(n, 10u);
        break;
      }
    }
    EXPECT_EQ(Configuration::GetDeviceBytesInUse(), 0u);
  }
}

TEST_F(CudaDeviceGaussianGpu, Memory_that_runs_out_in_the_chain_is_an_exception_and_the_next_run_is_right)
{
  const auto   image = MakeRandomImage<FloatImage>({ { 64, 64, 64 } });
  const auto   expected = ChainOnHostImages(image);
  const size_t bytes = size_t{ 64 } * 64 * 64 * 4;
  unsigned int failures = 0;
  for (size_t limit = bytes / 2; limit < 8 * bytes; limit += bytes / 2)
  {
    Chain chain(image);
    Configuration::SetDeviceMemoryLimit(limit);
    try
    {
      chain.Download->Update();
    }
    catch (const CudaError & error)
    {
      EXPECT_EQ(error.GetKind(), CudaError::Kind::OutOfMemory) << error;
      ++failures;
    }
    Configuration::SetDeviceMemoryLimit(0);
    chain.Download->Update();
    EXPECT_TRUE(AreSame<FloatImage>(chain.Download->GetOutput(), expected)) << "after a limit of " << limit;
  }
  EXPECT_GT(failures, 3u);
  EXPECT_EQ(Configuration::GetDeviceBytesInUse(), 0u);
}

TEST_F(CudaDeviceGaussianGpu, Threads_run_chains_of_their_own)
{
  constexpr unsigned int           numberOfThreads = 8;
  std::vector<FloatImage::Pointer> images;
  std::vector<FloatImage::Pointer> expected;
  for (unsigned int index = 0; index < numberOfThreads; ++index)
  {
    images.push_back(MakeRandomImage<FloatImage>(this->RandomSize<3>(60), index));
    expected.push_back(ChainOnHostImages(images.back()));
  }
  std::vector<std::string> errors(numberOfThreads);
  std::vector<std::thread> threads;
  for (unsigned int index = 0; index < numberOfThreads; ++index)
  {
    threads.emplace_back([index, &images, &expected, &errors] {
      try
      {
        for (unsigned int turn = 0; turn < 20; ++turn)
        {
          Chain chain(images[index]);
          chain.Download->Update();
          if (!AreSame<FloatImage>(chain.Download->GetOutput(), expected[index]))
          {
            errors[index] = "turn " + std::to_string(turn);
          }
        }
      }
      catch (const std::exception & exception)
      {
        errors[index] = exception.what();
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

// Each thread keeps tables of the last few sigmas. New threads have none.
TEST_F(CudaDeviceGaussianGpu, Sigmas_in_any_order_have_the_bits_of_a_thread_of_their_own)
{
  constexpr unsigned int kinds = 12;
  const auto             image = itk::CudaUpload(MakeRandomImage<FloatImage>({ { 65, 50, 41 } }), device);
  const auto             smooth = [&image](unsigned int kind) {
    const auto filter = SmoothingType::New();
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

TEST_F(CudaDeviceGaussianGpu, Result_of_one_thread_is_filtered_by_another)
{
  const auto            image = MakeRandomImage<FloatImage>({ { 65, 50, 41 } });
  const auto            expected = ChainOnHostImages(image);
  DeviceFloats::Pointer result = itk::CudaUpload(image, device);
  for (const double sigma : { 1.0, 2.5, 1.5 })
  {
    std::thread([&result, sigma] {
      const auto filter = SmoothingType::New();
      filter->SetInput(result);
      filter->SetSigma(sigma);
      filter->Update();
      result = filter->GetOutput();
      result->DisconnectPipeline();
    }).join();
  }
  EXPECT_TRUE(AreSame<FloatImage>(itk::CudaDownload(result), expected));
}

TEST_F(CudaDeviceGaussianGpu, Magnitude_leaves_as_unsigned_char)
{
  using Bytes = itk::Image<unsigned char, 3>;
  const auto image = MakeRandomImage<FloatImage>({ { 65, 50, 41 } });
  const auto host = itk::CudaGradientMagnitudeRecursiveGaussianImageFilter<FloatImage, Bytes>::New();
  host->SetInput(ChainOnHostImages(image));
  host->SetBackend("cuda");
  host->Update();

  Chain      chain(image);
  const auto magnitude = itk::CudaGradientMagnitudeRecursiveGaussianImageFilter<DeviceFloats>::New();
  magnitude->SetInput(chain.Filters.back()->GetOutput());
  const auto download = itk::CudaDownloadImageFilter<DeviceFloats, Bytes>::New();
  download->SetInput(magnitude->GetOutput());
  download->Update();
  EXPECT_TRUE(AreSame<Bytes>(download->GetOutput(), host->GetOutput()));
}

TEST_F(CudaDeviceGaussianGpu, Other_device_is_refused)
{
  const auto filter = SmoothingType::New();
  filter->SetInput(itk::CudaUpload(MakeRandomImage<FloatImage>({ { 8, 8, 8 } }), device));
  filter->SetDeviceIndex(device + 1);
  EXPECT_THROW(filter->Update(), CudaError);
  filter->SetDeviceIndex(device);
  EXPECT_NO_THROW(filter->Update());
}
