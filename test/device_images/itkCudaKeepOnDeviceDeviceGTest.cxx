// SPDX-License-Identifier: Apache-2.0

// Results that stay on the device between two filters of images of the host: the bits of the same pipeline with nothing
// kept, for random chains, types and streams; what crosses the link; failures. Which results stay is a matter of
// itkCudaKeepOnDeviceGTest.cxx, which needs no GPU.

#include "support/itkCudaDeviceFilterTest.h"
#include "itkCudaDiscreteGaussianImageFilter.h"
#include "itkCudaError.h"
#include "support/itkCudaFaultWalk.h"
#include "itkCudaGradientMagnitudeRecursiveGaussianImageFilter.h"
#include "itkCudaGradientRecursiveGaussianImageFilter.h"
#include "itkCudaLaplacianRecursiveGaussianImageFilter.h"
#include "itkCudaPartitionedRecursiveGaussianImageFilter.h"
#include "itkCudaRecursiveGaussianImageFilter.h"
#include "itkCudaRegionSnakeImageFilter.h"
#include "itkCudaSmoothingRecursiveGaussianImageFilter.h"
#include "runtime/transfer/TransferPolicy.h"
#include "itkStreamingImageFilter.h"

#include <algorithm>
#include <sstream>
#include <string>
#include <typeinfo>
#include <utility>
#include <vector>

namespace
{
using itk::cuda::GetTransferCounts;
using itk::cuda::TransferCounts;
using namespace itk::cuda::test;
using Backend = itk::CudaFiltersEnums::Backend;

using FloatImage = itk::Image<float, 3>;
using Smoothing = itk::CudaSmoothingRecursiveGaussianImageFilter<FloatImage>;

/** Returns what the filter prints of a property that is Yes or No. */
bool
GetPrinted(const itk::Object & filter, const std::string & property)
{
  std::ostringstream text;
  filter.Print(text);
  EXPECT_NE(text.str().find(property + ": "), std::string::npos);
  return text.str().find(property + ": Yes") != std::string::npos;
}

bool
HadKeptInput(const itk::Object & filter)
{
  return GetPrinted(filter, "TookInputOnDevice");
}

bool
KeptOutput(const itk::Object & filter)
{
  return GetPrinted(filter, "KeptOutputOnDevice");
}

/** The bytes that crossed the link since `before`, up and down. */
std::pair<unsigned long, unsigned long>
GetBytesSince(const TransferCounts & before)
{
  const TransferCounts now = GetTransferCounts();
  return { now.UploadedBytes - before.UploadedBytes, now.DownloadedBytes - before.DownloadedBytes };
}

/** A filter of the module with random parameters, on the GPU. */
template <typename TImage>
typename itk::ImageToImageFilter<TImage, TImage>::Pointer
MakeRandomFilter(std::mt19937 & random, bool isFirst)
{
  constexpr unsigned int dimension = TImage::ImageDimension;
  const auto             kind = std::uniform_int_distribution<int>(0, 5)(random);
  const double           sigma = std::uniform_real_distribution<double>(0.5, 3.0)(random);
  const auto             axis = std::uniform_int_distribution<unsigned int>(0, dimension - 1)(random);
  const auto             finish = [](auto filter) -> typename itk::ImageToImageFilter<TImage, TImage>::Pointer {
    filter->SetBackend("cuda");
    filter->SetDeviceIndex(device);
    return filter.GetPointer();
  };
  const auto withSigma = [&](auto filter) {
    filter->SetSigma(sigma);
    return finish(filter);
  };
  switch (kind)
  {
    case 0:
      return withSigma(itk::CudaSmoothingRecursiveGaussianImageFilter<TImage>::New());
    case 1: {
      const auto filter = itk::CudaRecursiveGaussianImageFilter<TImage>::New();
      filter->SetDirection(axis);
      filter->SetInPlace(!isFirst); // in place it would destroy the test's image
      return withSigma(filter);
    }
    case 2:
      return withSigma(itk::CudaGradientMagnitudeRecursiveGaussianImageFilter<TImage>::New());
    case 3:
      return withSigma(itk::CudaLaplacianRecursiveGaussianImageFilter<TImage>::New());
    case 4:
      return withSigma(itk::CudaPartitionedRecursiveGaussianImageFilter<TImage>::New());
    default: {
      const auto filter = itk::CudaDiscreteGaussianImageFilter<TImage>::New();
      filter->SetVariance(sigma);
      filter->SetMaximumKernelWidth(9);
      filter->SetMaximumError(0.05);
      return finish(filter);
    }
  }
}

/** A chain of filters of the module, the same for the same seed, whose images between are released after use. */
template <typename TImage>
struct RandomChain
{
  using FilterType = itk::ImageToImageFilter<TImage, TImage>;

  RandomChain(TImage * image, unsigned int seed)
  {
    std::mt19937 random(seed);
    const auto   count = std::uniform_int_distribution<unsigned int>(2, 5)(random);
    for (unsigned int i = 0; i < count; ++i)
    {
      Filters.push_back(MakeRandomFilter<TImage>(random, i == 0));
      Filters.back()->SetInput(i == 0 ? image : Filters[i - 1]->GetOutput());
      Filters.back()->SetReleaseDataFlag(true);
    }
  }

  std::string
  Describe() const
  {
    std::string text;
    for (const auto & filter : Filters)
    {
      text += std::string(" ") + filter->GetNameOfClass();
    }
    return text;
  }

  std::vector<typename FilterType::Pointer> Filters;
};

class CudaKeepOnDeviceGpu : public DeviceFilterTest
{
protected:
  void
  SetUp() override
  {
    DeviceFilterTest::SetUp();
    Configuration::SetKeepOnDevice(true);
  }

  void
  TearDown() override
  {
    Configuration::SetKeepOnDevice(false);
    DeviceFilterTest::TearDown();
  }

  /** Random chains, updated in `divisions` regions, have the bits of the same chains with nothing kept. */
  template <typename TImage>
  void
  CheckChains(size_t limit, unsigned int divisions)
  {
    using StreamType = itk::StreamingImageFilter<TImage, TImage>;
    for (unsigned int turn = 0; turn < 12; ++turn)
    {
      const auto chainSeed = static_cast<unsigned int>(this->m_Generator());
      auto       size = this->RandomSize<TImage::ImageDimension>(limit);
      for (auto & length : size)
      {
        length += 12; // enough for all partitions and kernels
      }
      const auto image = MakeRandomImage<TImage>(size, turn);
      const auto run = [&](bool keep) {
        Configuration::SetKeepOnDevice(keep);
        RandomChain<TImage> chain(image, chainSeed);
        const auto          stream = StreamType::New();
        stream->SetInput(chain.Filters.back()->GetOutput());
        stream->SetNumberOfStreamDivisions(divisions);
        stream->Update();
        for (size_t i = 0; i < chain.Filters.size(); ++i)
        {
          EXPECT_EQ(HadKeptInput(*chain.Filters[i]), keep && i > 0) << chain.Describe() << ", filter " << i;
          EXPECT_EQ(KeptOutput(*chain.Filters[i]), keep && i + 1 < chain.Filters.size())
            << chain.Describe() << ", filter " << i;
        }
        std::ostringstream text;
        text << typeid(TImage).name() << ", turn " << turn << ", size " << size << ":" << chain.Describe();
        this->m_Description = text.str();
        typename TImage::Pointer output = stream->GetOutput();
        output->DisconnectPipeline();
        return output;
      };
      const auto expected = run(false);
      EXPECT_TRUE(AreSame<TImage>(run(true), expected)) << m_Description;
    }
  }

  std::string m_Description;
};

/** Smoothings one after the other, on the GPU; images between are released after use. */
struct Smoothings
{
  Smoothings(FloatImage * image, unsigned int count, Backend backend = Backend::Cuda)
  {
    for (unsigned int i = 0; i < count; ++i)
    {
      const auto filter = Smoothing::New();
      filter->SetInput(i == 0 ? image : Filters.back()->GetOutput());
      filter->SetSigma(1.0 + 0.5 * i);
      filter->SetBackend(backend);
      filter->SetDeviceIndex(device);
      filter->SetReleaseDataFlag(i + 1 < count);
      Filters.push_back(filter);
    }
  }

  Smoothing &
  operator[](size_t i)
  {
    return *Filters[i];
  }

  FloatImage *
  Update()
  {
    Filters.back()->Update();
    return Filters.back()->GetOutput();
  }

  std::vector<Smoothing::Pointer> Filters;
};

/** The chain's result with nothing kept. */
FloatImage::Pointer
GetExpected(FloatImage * image, unsigned int count)
{
  Configuration::SetKeepOnDevice(false);
  Smoothings          chain(image, count);
  FloatImage::Pointer output = chain.Update();
  Configuration::SetKeepOnDevice(true);
  return output;
}
} // namespace

// Computation in float and in double, pixels that are rounded, two and three dimensions.
TEST_F(CudaKeepOnDeviceGpu, Random_chains_have_the_same_bits)
{
  this->CheckChains<FloatImage>(50, 1);
  this->CheckChains<itk::Image<short, 2>>(300, 1);
  this->CheckChains<itk::Image<double, 2>>(200, 1);
}

TEST_F(CudaKeepOnDeviceGpu, Random_chains_in_regions_of_a_stream_have_the_same_bits)
{
  this->CheckChains<FloatImage>(30, 3);
  this->CheckChains<itk::Image<short, 2>>(100, 4);
}

TEST_F(CudaKeepOnDeviceGpu, Vectors_and_other_types_between_have_the_same_bits)
{
  using Vectors = itk::VectorImage<short, 2>;
  using Gradients = itk::Image<itk::CovariantVector<float, 3>, 3>;
  using FirstType = itk::CudaSmoothingRecursiveGaussianImageFilter<Vectors>;
  using GradientType = itk::CudaGradientRecursiveGaussianImageFilter<FloatImage, Gradients>;
  using GradientSmoothing = itk::CudaPartitionedRecursiveGaussianImageFilter<Gradients>;
  const auto         vectors = MakeRandomImage<Vectors>({ { 67, 45 } }, 1, 5);
  const auto         image = MakeRandomImage<FloatImage>({ { 33, 21, 18 } });
  Vectors::Pointer   smoothed[2];
  Gradients::Pointer gradients[2];
  for (const bool keep : { false, true })
  {
    Configuration::SetKeepOnDevice(keep);
    const auto first = FirstType::New();
    first->SetInput(vectors);
    first->SetBackend("cuda");
    first->ReleaseDataFlagOn();
    const auto second = FirstType::New();
    second->SetInput(first->GetOutput());
    second->SetBackend("cuda");
    second->Update();
    EXPECT_EQ(HadKeptInput(*second), keep);
    smoothed[keep] = second->GetOutput();
    const auto smoother = Smoothing::New();
    smoother->SetInput(image);
    smoother->SetBackend("cuda");
    smoother->ReleaseDataFlagOn();
    const auto gradient = GradientType::New();
    gradient->SetInput(smoother->GetOutput());
    gradient->SetBackend("cuda");
    gradient->ReleaseDataFlagOn();
    const auto last = GradientSmoothing::New();
    last->SetInput(gradient->GetOutput());
    last->SetBackend("cuda");
    last->Update();
    EXPECT_EQ(HadKeptInput(*gradient), keep);
    EXPECT_EQ(HadKeptInput(*last), keep);
    gradients[keep] = last->GetOutput();
  }
  EXPECT_TRUE(AreSame<Vectors>(smoothed[1], smoothed[0]));
  EXPECT_TRUE(AreSame<Gradients>(gradients[1], gradients[0]));
}

TEST_F(CudaKeepOnDeviceGpu, Five_filters_take_one_image_up_and_one_down)
{
  const auto          image = MakeRandomImage<FloatImage>({ { 65, 50, 41 } });
  const unsigned long bytes = GetNumberOfBytes(image.GetPointer());
  for (const bool keep : { false, true })
  {
    Configuration::SetKeepOnDevice(keep);
    Smoothings chain(image, 5);
    const auto before = GetTransferCounts();
    chain.Update();
    const auto crossed = GetBytesSince(before);
    EXPECT_EQ(crossed.first, keep ? bytes : 5 * bytes);
    EXPECT_EQ(crossed.second, keep ? bytes : 5 * bytes);
    for (unsigned int i = 0; i < 4; ++i)
    {
      EXPECT_TRUE(chain[i].GetOutput()->GetDataReleased());
      EXPECT_EQ(chain[i].GetOutput()->GetBufferPointer(), nullptr);
    }
  }
}

TEST_F(CudaKeepOnDeviceGpu, Snake_takes_a_smoothed_image)
{
  using PlaneType = itk::Image<float, 2>;
  using LabelType = itk::Image<unsigned char, 2>;
  using SnakeType = itk::CudaRegionSnakeImageFilter<PlaneType, LabelType>;
  const auto image = MakeRandomImage<PlaneType>({ { 128, 96 } });
  for (int y = 30; y < 70; ++y)
  {
    for (int x = 40; x < 90; ++x)
    {
      image->SetPixel({ { x, y } }, image->GetPixel({ { x, y } }) + 150.0f);
    }
  }
  const unsigned long bytes = GetNumberOfBytes(image.GetPointer());
  LabelType::Pointer  labels[2];
  size_t              points[2];
  for (const bool keep : { false, true })
  {
    Configuration::SetKeepOnDevice(keep);
    const auto smoother = itk::CudaSmoothingRecursiveGaussianImageFilter<PlaneType>::New();
    smoother->SetInput(image);
    smoother->SetBackend("cuda");
    smoother->ReleaseDataFlagOn();
    const auto snake = SnakeType::New();
    snake->SetInput(smoother->GetOutput());
    snake->SetNoiseLaw(itk::CudaFiltersEnums::NoiseLaw::Gaussian);
    snake->SetBackend("cuda");
    const auto before = GetTransferCounts();
    snake->Update();
    const unsigned long uploaded = GetBytesSince(before).first;
    EXPECT_TRUE(keep ? uploaded == bytes : uploaded > bytes) << uploaded; // the snake's samples may be shorter
    EXPECT_EQ(HadKeptInput(*snake), keep);
    labels[keep] = snake->GetOutput();
    points[keep] = snake->GetNumberOfContourPoints();
  }
  EXPECT_EQ(points[0], points[1]);
  EXPECT_GT(points[0], 2u);
  EXPECT_TRUE(AreSame<LabelType>(labels[1], labels[0]));
}

TEST_F(CudaKeepOnDeviceGpu, Consumer_that_turns_out_to_run_on_the_host_gets_the_pixels)
{
  const auto image = MakeRandomImage<FloatImage>({ { 40, 31, 22 } });
  const auto run = [&image](bool keep) {
    Configuration::SetKeepOnDevice(keep);
    Configuration::SetDeviceMemoryLimit(0);
    Smoothings chain(image, 3, Backend::Automatic);
    chain[2].AddObserver(itk::StartEvent(), [](const itk::EventObject &) { Configuration::SetDeviceMemoryLimit(1); });
    chain[2].SetDeviceIndex(device);
    FloatImage::Pointer output = chain.Update();
    EXPECT_EQ(chain[2].GetBackendUsed(), Backend::Host);
    EXPECT_EQ(KeptOutput(chain[1]), keep);
    EXPECT_FALSE(HadKeptInput(chain[2]));
    Configuration::SetDeviceMemoryLimit(0);
    return output;
  };
  const auto expected = run(false);
  EXPECT_TRUE(AreSame<FloatImage>(run(true), expected));
}

TEST_F(CudaKeepOnDeviceGpu, Memory_that_runs_out_leads_to_the_host_with_the_right_pixels)
{
  const auto   image = MakeRandomImage<FloatImage>({ { 64, 48, 40 } });
  const auto   bytes = GetNumberOfBytes(image.GetPointer());
  unsigned int onHost = 0;
  unsigned int keptInputs = 0;
  const auto   gpu = GetExpected(image, 3);
  for (size_t limit = bytes / 2; limit < 8 * bytes; limit += bytes / 2)
  {
    Smoothings chain(image, 3, Backend::Automatic);
    Configuration::SetDeviceMemoryLimit(limit);
    FloatImage * const output = chain.Update();
    Configuration::SetDeviceMemoryLimit(0);
    for (const auto & filter : chain.Filters)
    {
      onHost += filter->GetBackendUsed() == Backend::Host ? 1 : 0;
      keptInputs += HadKeptInput(*filter) ? 1 : 0;
    }
    const auto number = image->GetBufferedRegion().GetNumberOfPixels();
    float      worst = 0.0f;
    for (size_t i = 0; i < number; ++i)
    {
      worst = std::max(worst, std::abs(output->GetBufferPointer()[i] - gpu->GetBufferPointer()[i]));
    }
    EXPECT_LE(worst, 200.0f * 1e-5f) << "limit " << limit; // host and device differ by rounding
  }
  EXPECT_GT(onHost, 0u);
  EXPECT_GT(keptInputs, 0u);
}

TEST_F(CudaKeepOnDeviceGpu, Failure_of_each_CUDA_call_leaves_nothing_behind_and_the_next_run_is_right)
{
  Configuration::SetDeviceMemoryResource(nullptr, nullptr); // calls of the program's functions are not counted
  const auto image = MakeRandomImage<FloatImage>({ { 33, 20, 9 } });
  WalkFaults<float>("kept chain", [&image] {
    Smoothings               chain(image, 3);
    const FloatImage * const output = chain.Update();
    return std::vector<float>(output->GetBufferPointer(),
                              output->GetBufferPointer() + output->GetBufferedRegion().GetNumberOfPixels());
  });
}
