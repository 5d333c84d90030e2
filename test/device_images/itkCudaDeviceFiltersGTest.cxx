// SPDX-License-Identifier: Apache-2.0

// Partitioned and discrete filters of device images, and all filters with one image on the host: the bits of host to
// host for random images and parameters; what crosses the link; what follows from failures and aborts.

#include "itkConstantBoundaryCondition.h"
#include "support/itkCudaDeviceFilterTest.h"
#include "itkCudaDiscreteGaussianImageFilter.h"
#include "itkCudaError.h"
#include "support/itkCudaFaultWalk.h"
#include "itkCudaGradientMagnitudeRecursiveGaussianImageFilter.h"
#include "support/itkCudaHeldStream.h"
#include "itkCudaPartitionedRecursiveGaussianImageFilter.h"
#include "itkCudaSmoothingRecursiveGaussianImageFilter.h"
#include "runtime/device/Stream.h"
#include "runtime/transfer/TransferPolicy.h"
#include "itkPeriodicBoundaryCondition.h"
#include "itkZeroFluxNeumannBoundaryCondition.h"

#include <limits>
#include <sstream>
#include <thread>
#include <vector>

namespace
{
using itk::CudaDiscreteGaussianImageFilter;
using itk::CudaError;
using itk::CudaPartitionedRecursiveGaussianImageFilter;
using itk::cuda::GetThreadContext;
using itk::cuda::GetTransferCounts;
using itk::cuda::test::AreSame;
using itk::cuda::test::Configuration;
using itk::cuda::test::device;
using itk::cuda::test::DeviceFilterTest;
using itk::cuda::test::DeviceOf;
using itk::cuda::test::ExpectSameBits;
using itk::cuda::test::HeldStream;
using itk::cuda::test::MakeRandomImage;

using FloatImage = itk::Image<float, 3>;
using ByteImage = itk::Image<unsigned char, 3>;
using DeviceFloats = DeviceOf<FloatImage>;

class CudaDeviceFiltersGpu : public DeviceFilterTest
{
protected:
  template <typename TInput, typename TOutput = TInput>
  void
  CheckPartitioned(size_t limit, const std::string & what, unsigned int components = 1)
  {
    constexpr const char * partitions[] = { "Exact", "OneWay", "TwoWay" };
    for (unsigned int turn = 0; turn < 9; ++turn)
    {
      const auto   image = MakeRandomImage<TInput>(this->RandomSize<TInput::ImageDimension>(limit), turn, components);
      const double sigma = 0.3 + 0.1 * static_cast<double>(this->Random(0, 60));
      const auto   lines = 4u << this->Random(0, 4);
      const auto   borders = this->Random(0, 1) == 1 ? "Exact" : "AsPublished";
      const auto   storage = this->Random(0, 1) == 1 ? "Local" : "Global";
      const auto   set = [&](auto & filter) {
        filter.SetSigma(sigma);
        filter.SetPartition(partitions[turn % 3]);
        filter.SetLineBorders(borders);
        filter.SetIntermediateStorage(storage);
        filter.SetLinesPerBlock(lines);
      };
      std::ostringstream text;
      text << what << ", turn " << turn << ", sigma " << sigma << ", size " << image->GetBufferedRegion().GetSize();
      ExpectSameBits<CudaPartitionedRecursiveGaussianImageFilter, TInput, TOutput>(image.GetPointer(), set, text.str());
    }
  }

  template <typename TInput, typename TOutput = TInput>
  void
  CheckDiscrete(size_t limit, const std::string & what)
  {
    itk::ZeroFluxNeumannBoundaryCondition<TInput>  inputEnd;
    itk::ZeroFluxNeumannBoundaryCondition<TOutput> outputEnd;
    itk::ConstantBoundaryCondition<TInput>         inputConstant;
    itk::ConstantBoundaryCondition<TOutput>        outputConstant;
    itk::PeriodicBoundaryCondition<TInput>         inputPeriodic;
    itk::PeriodicBoundaryCondition<TOutput>        outputPeriodic;
    inputConstant.SetConstant(50);
    outputConstant.SetConstant(70);
    for (unsigned int turn = 0; turn < 9; ++turn)
    {
      auto size = this->RandomSize<TInput::ImageDimension>(limit);
      for (auto & length : size)
      {
        length += 12; // no narrower than the kernels
      }
      const auto   image = MakeRandomImage<TInput>(size, turn);
      const double variance = 0.1 * static_cast<double>(this->Random(0, 50));
      const auto   dimensionality = static_cast<unsigned int>(this->Random(1, TInput::ImageDimension));
      const bool   spacing = this->Random(0, 1) == 1;
      const auto   set = [&](auto & filter) {
        filter.SetVariance(variance);
        filter.SetMaximumError(0.05);
        filter.SetMaximumKernelWidth(11);
        filter.SetFilterDimensionality(dimensionality);
        filter.SetUseImageSpacing(spacing);
        if (turn % 3 == 0)
        {
          filter.SetInputBoundaryCondition(&inputEnd);
          filter.SetRealBoundaryCondition(&outputEnd);
        }
        else if (turn % 3 == 1)
        {
          filter.SetInputBoundaryCondition(&inputConstant);
          filter.SetRealBoundaryCondition(&outputConstant);
        }
        else
        {
          filter.SetInputBoundaryCondition(&inputPeriodic);
          filter.SetRealBoundaryCondition(&outputPeriodic);
        }
      };
      std::ostringstream text;
      text << what << ", turn " << turn << ", variance " << variance << ", axes " << dimensionality << ", size "
           << size;
      ExpectSameBits<CudaDiscreteGaussianImageFilter, TInput, TOutput>(image.GetPointer(), set, text.str());
    }
  }
};

/** The discrete filter, the partitioned one, the magnitude. */
template <typename TInput, typename TBetween, typename TOutput>
struct Chain
{
  using First = CudaDiscreteGaussianImageFilter<TInput, TBetween>;
  using Second = CudaPartitionedRecursiveGaussianImageFilter<TBetween>;
  using Third = itk::CudaGradientMagnitudeRecursiveGaussianImageFilter<TBetween, TOutput>;

  explicit Chain(TInput * image)
  {
    Discrete->SetInput(image);
    Discrete->SetVariance(2.0);
    Partitioned->SetInput(Discrete->GetOutput());
    Partitioned->SetSigma(1.5);
    Magnitude->SetInput(Partitioned->GetOutput());
    const auto onDevice = [](auto & filter) {
      filter.SetBackend("cuda");
      filter.SetDeviceIndex(device);
    };
    onDevice(*Discrete);
    onDevice(*Partitioned);
    onDevice(*Magnitude);
  }

  typename First::Pointer  Discrete{ First::New() };
  typename Second::Pointer Partitioned{ Second::New() };
  typename Third::Pointer  Magnitude{ Third::New() };
};

using HostChain = Chain<FloatImage, FloatImage, ByteImage>;
using MixedChain = Chain<FloatImage, DeviceFloats, ByteImage>;

ByteImage::Pointer
RunFromHostToHost(FloatImage * image)
{
  HostChain chain(image);
  chain.Magnitude->Update();
  return chain.Magnitude->GetOutput();
}
} // namespace

TEST_F(CudaDeviceFiltersGpu, Partitioned_filter_has_the_bits_of_host_images)
{
  this->CheckPartitioned<FloatImage>(70, "float");
  this->CheckPartitioned<itk::Image<double, 3>>(40, "double");
  this->CheckPartitioned<itk::Image<short, 2>>(300, "short");
  this->CheckPartitioned<ByteImage, FloatImage>(50, "unsigned char to float");
  this->CheckPartitioned<itk::Image<int, 2>, itk::Image<float, 2>>(200, "int to float");
  this->CheckPartitioned<itk::Image<float, 1>>(5000, "one dimension");
  this->CheckPartitioned<itk::Image<float, 4>>(12, "four dimensions");
  this->CheckPartitioned<itk::Image<itk::Vector<float, 3>, 3>>(30, "vectors");
  this->CheckPartitioned<itk::VectorImage<float, 2>>(60, "vector image", 5);
}

TEST_F(CudaDeviceFiltersGpu, Discrete_filter_has_the_bits_of_host_images)
{
  this->CheckDiscrete<FloatImage>(60, "float");
  this->CheckDiscrete<itk::Image<double, 3>>(40, "double");
  this->CheckDiscrete<itk::Image<short, 2>>(300, "short");
  this->CheckDiscrete<ByteImage, FloatImage>(50, "unsigned char to float");
  this->CheckDiscrete<FloatImage, ByteImage>(50, "float to unsigned char");
  this->CheckDiscrete<itk::Image<int, 2>>(200, "int");
  this->CheckDiscrete<itk::Image<float, 1>>(5000, "one dimension");
  this->CheckDiscrete<itk::Image<float, 4>>(8, "four dimensions");
}

TEST_F(CudaDeviceFiltersGpu, Discrete_filter_of_no_axis_copies_on_the_device)
{
  const auto image = MakeRandomImage<FloatImage>({ { 37, 20, 9 } });
  image->SetPixel({ { 1, 1, 1 } }, -0.0f);
  image->SetPixel({ { 2, 1, 1 } }, std::numeric_limits<float>::quiet_NaN());
  image->SetPixel({ { 3, 1, 1 } }, 1e-42f);
  const auto host = CudaDiscreteGaussianImageFilter<FloatImage>::New();
  host->SetInput(image);
  host->SetFilterDimensionality(0);
  host->Update();
  const auto filter = CudaDiscreteGaussianImageFilter<DeviceFloats>::New();
  filter->SetInput(itk::CudaUpload(image, device));
  filter->SetFilterDimensionality(0);
  filter->Update();
  EXPECT_TRUE(AreSame<FloatImage>(itk::CudaDownload(filter->GetOutput()), host->GetOutput()));
  EXPECT_EQ(filter->GetBackendUsed(), itk::CudaFiltersEnums::Backend::Cuda);
}

TEST_F(CudaDeviceFiltersGpu, Chain_with_host_images_at_its_ends_crosses_the_link_once_each_way)
{
  const auto image = MakeRandomImage<FloatImage>({ { 65, 50, 41 } });
  const auto expected = RunFromHostToHost(image);
  MixedChain chain(image);
  const auto before = GetTransferCounts();
  chain.Magnitude->Update();
  EXPECT_EQ(GetTransferCounts().Uploads - before.Uploads, 1u);
  EXPECT_EQ(GetTransferCounts().Downloads - before.Downloads, 1u);
  EXPECT_TRUE(AreSame<ByteImage>(chain.Magnitude->GetOutput(), expected));
}

TEST_F(CudaDeviceFiltersGpu, Only_what_changed_runs_again)
{
  const auto image = MakeRandomImage<FloatImage>({ { 65, 50, 41 } });
  MixedChain chain(image);
  chain.Magnitude->Update();
  const auto before = GetTransferCounts();
  chain.Magnitude->Update();
  EXPECT_EQ(GetTransferCounts().Downloads, before.Downloads);
  chain.Partitioned->SetSigma(2.5);
  chain.Magnitude->Update();
  EXPECT_EQ(GetTransferCounts().Uploads, before.Uploads);
  EXPECT_EQ(GetTransferCounts().Downloads, before.Downloads + 1);
  HostChain host(image);
  host.Partitioned->SetSigma(2.5);
  host.Magnitude->Update();
  EXPECT_TRUE(AreSame<ByteImage>(chain.Magnitude->GetOutput(), host.Magnitude->GetOutput()));
}

TEST_F(CudaDeviceFiltersGpu, Work_is_queued_and_everything_may_be_dropped)
{
  const auto            image = MakeRandomImage<FloatImage>({ { 65, 50, 41 } });
  HostChain             host(image);
  DeviceFloats::Pointer result;
  host.Partitioned->Update();
  {
    MixedChain loaded(image); // all kernels are loaded
    loaded.Partitioned->Update();
  }
  auto input = itk::CudaUpload(image, device);
  {
    HeldStream held(GetThreadContext(device));
    const auto discrete = CudaDiscreteGaussianImageFilter<DeviceFloats>::New();
    discrete->SetInput(input);
    discrete->SetVariance(2.0);
    const auto partitioned = CudaPartitionedRecursiveGaussianImageFilter<DeviceFloats>::New();
    partitioned->SetInput(discrete->GetOutput());
    partitioned->SetSigma(1.5);
    partitioned->Update();
    result = partitioned->GetOutput();
    result->DisconnectPipeline();
    input = nullptr;
    held.LetGo();
  }
  EXPECT_TRUE(AreSame<FloatImage>(itk::CudaDownload(result), host.Partitioned->GetOutput()));
}

TEST_F(CudaDeviceFiltersGpu, Faults_give_back_all_memory_and_the_next_run_is_right)
{
  Configuration::SetDeviceMemoryResource(nullptr, nullptr); // calls of the program's functions are not counted
  const auto image = MakeRandomImage<FloatImage>({ { 33, 20, 9 } });
  itk::cuda::test::WalkFaults<unsigned char>("chain", [&image] {
    MixedChain chain(image);
    chain.Magnitude->Update();
    const ByteImage * const output = chain.Magnitude->GetOutput();
    return std::vector<unsigned char>(output->GetBufferPointer(),
                                      output->GetBufferPointer() + output->GetBufferedRegion().GetNumberOfPixels());
  });
}

TEST_F(CudaDeviceFiltersGpu, Memory_that_runs_out_in_the_chain_is_an_exception_and_the_next_run_is_right)
{
  const auto   image = MakeRandomImage<FloatImage>({ { 64, 64, 64 } });
  const auto   expected = RunFromHostToHost(image);
  const size_t bytes = size_t{ 64 } * 64 * 64 * 4;
  unsigned int failures = 0;
  for (size_t limit = bytes / 2; limit < 10 * bytes; limit += bytes / 2)
  {
    {
      MixedChain chain(image);
      Configuration::SetDeviceMemoryLimit(limit);
      try
      {
        chain.Magnitude->Update();
      }
      catch (const CudaError & error)
      {
        EXPECT_EQ(error.GetKind(), CudaError::Kind::OutOfMemory) << error;
        ++failures;
      }
      Configuration::SetDeviceMemoryLimit(0);
      chain.Magnitude->Update();
      EXPECT_TRUE(AreSame<ByteImage>(chain.Magnitude->GetOutput(), expected)) << "after a limit of " << limit;
    }
    EXPECT_EQ(Configuration::GetDeviceBytesInUse(), 0u);
  }
  EXPECT_GT(failures, 3u);
}

TEST_F(CudaDeviceFiltersGpu, Abort_is_an_exception_and_the_next_run_is_right)
{
  const auto image = MakeRandomImage<FloatImage>({ { 256, 256, 32 } });
  const auto expected = RunFromHostToHost(image);
  MixedChain chain(image);
  for (itk::ProcessObject * const filter : { static_cast<itk::ProcessObject *>(chain.Discrete.GetPointer()),
                                             static_cast<itk::ProcessObject *>(chain.Partitioned.GetPointer()),
                                             static_cast<itk::ProcessObject *>(chain.Magnitude.GetPointer()) })
  {
    const auto tag =
      filter->AddObserver(itk::ProgressEvent(), [filter](const itk::EventObject &) { filter->AbortGenerateDataOn(); });
    filter->Modified();
    EXPECT_THROW(chain.Magnitude->Update(), itk::ProcessAborted) << filter->GetNameOfClass();
    filter->RemoveObserver(tag);
    filter->AbortGenerateDataOff();
    filter->Modified();
    chain.Magnitude->Update();
    EXPECT_TRUE(AreSame<ByteImage>(chain.Magnitude->GetOutput(), expected)) << filter->GetNameOfClass();
  }
}

TEST_F(CudaDeviceFiltersGpu, Progress_of_filters_that_cross_the_link_grows_to_one)
{
  const auto         image = MakeRandomImage<FloatImage>({ { 256, 256, 32 } });
  MixedChain         chain(image);
  std::vector<float> reports;
  for (itk::ProcessObject * const filter : { static_cast<itk::ProcessObject *>(chain.Discrete.GetPointer()),
                                             static_cast<itk::ProcessObject *>(chain.Magnitude.GetPointer()) })
  {
    reports.clear();
    const auto tag = filter->AddObserver(
      itk::ProgressEvent(), [&reports, filter](const itk::EventObject &) { reports.push_back(filter->GetProgress()); });
    filter->Modified();
    chain.Magnitude->Update();
    filter->RemoveObserver(tag);
    ASSERT_FALSE(reports.empty());
    EXPECT_TRUE(std::is_sorted(reports.begin(), reports.end())) << filter->GetNameOfClass();
    EXPECT_EQ(reports.back(), 1.0f) << filter->GetNameOfClass();
  }
}

TEST_F(CudaDeviceFiltersGpu, Threads_run_chains_of_their_own)
{
  constexpr unsigned int           numberOfThreads = 8;
  std::vector<FloatImage::Pointer> images;
  std::vector<ByteImage::Pointer>  expected;
  for (unsigned int index = 0; index < numberOfThreads; ++index)
  {
    images.push_back(MakeRandomImage<FloatImage>(this->RandomSize<3>(60), index));
    expected.push_back(RunFromHostToHost(images.back()));
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
          MixedChain chain(images[index]);
          chain.Magnitude->Update();
          if (!AreSame<ByteImage>(chain.Magnitude->GetOutput(), expected[index]))
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

TEST_F(CudaDeviceFiltersGpu, Memory_of_others_is_filtered_and_kept)
{
  const auto image = MakeRandomImage<FloatImage>({ { 37, 30, 20 } }); // rows that are no multiple of 16 bytes
  const auto values = itk::cuda::test::GetNumberOfBytes(image.GetPointer());
  float *    data = nullptr;
  ITK_CUDA_CALL(cudaMalloc(&data, values));
  ITK_CUDA_CALL(cudaMemcpy(data, image->GetBufferPointer(), values, cudaMemcpyHostToDevice));
  ITK_CUDA_CALL(cudaDeviceSynchronize()); // the copy may be under way when it returns
  const std::shared_ptr<void> owner(data, [](void * memory) { cudaFree(memory); });
  const auto                  adopted =
    itk::CudaDeviceImageFromPointer<DeviceFloats>(data, image->GetBufferedRegion(), image.GetPointer(), owner, device);
  const auto check = [&](auto filter, auto host) {
    filter->SetInput(adopted);
    filter->SetSigma(1.5);
    filter->Update();
    host->SetInput(image);
    host->SetSigma(1.5);
    host->SetBackend("cuda");
    host->Update();
    EXPECT_TRUE(AreSame<FloatImage>(itk::CudaDownload(filter->GetOutput()), host->GetOutput()));
  };
  check(CudaPartitionedRecursiveGaussianImageFilter<DeviceFloats>::New(),
        CudaPartitionedRecursiveGaussianImageFilter<FloatImage>::New());
  check(CudaDiscreteGaussianImageFilter<DeviceFloats>::New(), CudaDiscreteGaussianImageFilter<FloatImage>::New());
  std::vector<float> after(values / sizeof(float));
  ITK_CUDA_CALL(cudaMemcpy(after.data(), data, values, cudaMemcpyDeviceToHost));
  EXPECT_EQ(std::memcmp(after.data(), image->GetBufferPointer(), values), 0);
}
