// SPDX-License-Identifier: Apache-2.0

// Measures of several scales and structure tensors of arrays of a caller, on the caller's stream: the bits of images of
// the host, their place in the order of the stream, what is refused, faults. All device memory is poisoned with NaN.

#include "itkCudaDetailMultiScaleEngine.h"
#include "itkCudaDetailTensorEngine.h"
#include "support/itkCudaDeviceFilterTest.h"
#include "itkCudaError.h"
#include "support/itkCudaFaultWalk.h"
#include "support/itkCudaForeignMemory.h"
#include "support/itkCudaHeldStream.h"
#include "runtime/transfer/TransferPolicy.h"
#include "itkCudaVesselnessImageFilter.h"
#include "itkMultiThreaderBase.h"

#include <cmath>
#include <cstring>
#include <iostream>
#include <iterator>
#include <limits>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace
{
using namespace itk;
using namespace itk::CudaDetail;
using namespace itk::cuda::test;

template <typename TImage>
using Filter = CudaVesselnessImageFilter<TImage, TImage>;

template <typename TImage>
typename Filter<TImage>::Pointer
MakeFilter(const TImage * image, const std::string & measure)
{
  const auto filter = Filter<TImage>::New();
  filter->SetHessianMeasure(measure);
  filter->SetSigmas({ 1.0, 1.7, 3.0 });
  filter->SetInput(image);
  filter->SetBackend("cuda");
  filter->GenerateScaleOutputOn();
  filter->GenerateHessianOutputOn();
  return filter;
}

/** Input and outputs of a filter's work on arrays. Rows of the input are `gap` pixels apart. */
template <typename TImage>
class Arrays
{
public:
  using T = typename TImage::PixelType;
  static constexpr unsigned int Dimension = TImage::ImageDimension;

  Arrays(const TImage * image, size_t gap)
    : m_Image(image)
    , m_Count(image->GetBufferedRegion().GetNumberOfPixels())
    , m_Pitch(image->GetBufferedRegion().GetSize()[0] + gap)
    , m_Rows(m_Count / image->GetBufferedRegion().GetSize()[0])
    , m_Source(m_Rows * m_Pitch * sizeof(T))
    , m_Input(m_Rows * m_Pitch * sizeof(T))
    , Response(m_Count * sizeof(T))
    , Scale(m_Count * sizeof(T))
    , Directions(Dimension * m_Count * sizeof(T))
  {
    const size_t row = image->GetBufferedRegion().GetSize()[0] * sizeof(T);
    ITK_CUDA_CALL(cudaMemcpy2D(
      m_Source.Get(), m_Pitch * sizeof(T), image->GetBufferPointer(), row, row, m_Rows, cudaMemcpyHostToDevice));
  }

  CudaArrayImage
  GetInput(const cuda::Context & owner) const
  {
    CudaArrayImage input{ m_Input.GetArray<T>(owner), {}, {} };
    input.Size.fill(1);
    const auto size = m_Image->GetBufferedRegion().GetSize();
    std::copy_n(size.begin(), Dimension, input.Size.begin());
    input.Stride[0] = 1;
    for (unsigned int axis = 1; axis < input.Size.size(); ++axis)
    {
      input.Stride[axis] = axis == 1 ? m_Pitch : input.Stride[axis - 1] * input.Size[axis - 1];
    }
    return input;
  }

  CudaMultiScaleArrays
  GetOutputs(bool lastAxisFirst) const
  {
    return { Response.Get(), Scale.Get(), Directions.Get(), { Dimension, lastAxisFirst } };
  }

  /** On the owner's stream: the input is written, and spoiled behind the filter's work. */
  void
  Write(const cuda::Context & owner) const
  {
    m_Input.CopyFrom(m_Source, owner);
  }
  void
  SpoilInput(const cuda::Context & owner) const
  {
    m_Input.Fill(0xff, owner);
  }

private:
  const TImage * const m_Image;
  const size_t         m_Count;
  const size_t         m_Pitch;
  const size_t         m_Rows;
  const ForeignMemory  m_Source, m_Input;

public:
  const ForeignMemory Response, Scale, Directions;
};

/** The directions of the filter's Hessians, on the host. */
template <typename TFilter, typename T = typename TFilter::RealType>
std::vector<T>
FindDirections(const TFilter & filter, bool lastAxisFirst)
{
  constexpr unsigned int dimension = TFilter::ImageDimension;
  const auto * const     hessians = filter.GetHessianOutput();
  const auto             input = MakeCudaImageView(hessians, hessians->GetBufferedRegion());
  std::vector<T>         directions(dimension * hessians->GetBufferedRegion().GetNumberOfPixels());
  CudaImageView          output = input;
  output.Data = directions.data();
  output.NumberOfComponents = dimension;
  for (size_t & stride : output.Stride)
  {
    stride = stride / CudaTensorComponents(dimension) * dimension;
  }
  CudaRunOnHost(CudaLineDirectionPlan{ dimension, lastAxisFirst }, input, output, MultiThreaderBase::New(), nullptr);
  return directions;
}

class CudaMultiScaleArrayGpu : public DeviceFilterTest
{
protected:
  /** On a stream that is held back until all is queued. */
  template <typename TImage>
  void
  Check(const typename TImage::SizeType & size, const std::string & measure, size_t gap, bool lastAxisFirst)
  {
    using T = typename TImage::PixelType;
    SCOPED_TRACE(testing::Message() << measure << ", " << size << ", " << sizeof(T) << " bytes, gap " << gap);
    const auto image = MakeRandomImage<TImage>(size);
    const auto filter = MakeFilter<TImage>(image, measure);
    filter->Update();

    const cuda::StreamLease owner(device);
    const Arrays<TImage>    arrays(image, gap);
    const auto              queue = [&] {
      arrays.Write(owner);
      filter->QueueOnStream(arrays.GetInput(owner), arrays.GetOutputs(lastAxisFirst));
    };
    queue(); // CUDA allocates, which may wait
    ITK_CUDA_CALL(cudaStreamSynchronize(owner.GetStream()));
    arrays.Response.Spoil();
    arrays.Scale.Spoil();
    arrays.Directions.Spoil();
    const size_t               inUse = CudaFiltersConfiguration::GetDeviceBytesInUse();
    const cuda::TransferCounts before = cuda::GetTransferCounts();
    {
      HeldStream held(owner);
      queue();
      arrays.SpoilInput(owner);
      held.LetGo();
    }
    EXPECT_EQ(cuda::GetTransferCounts().Uploads, before.Uploads);
    EXPECT_EQ(cuda::GetTransferCounts().Downloads, before.Downloads);
    EXPECT_EQ(CudaFiltersConfiguration::GetDeviceBytesInUse(), inUse);
    const auto expectSame = [&](const ForeignMemory & found, const T * expected, const char * name) {
      const std::vector<T> elements = found.Download<T>();
      EXPECT_EQ(std::memcmp(elements.data(), expected, elements.size() * sizeof(T)), 0) << name;
    };
    expectSame(arrays.Response, filter->GetOutput()->GetBufferPointer(), "response");
    expectSame(arrays.Scale, filter->GetScaleOutput()->GetBufferPointer(), "scale");
    expectSame(arrays.Directions, FindDirections(*filter, lastAxisFirst).data(), "directions");
  }

  /** Components or eigenvalues, one behind the other, as those of a pixel from host to host. */
  template <typename TImage>
  void
  CheckStructureTensor(const typename TImage::SizeType &  size,
                       CudaStructureTensorEnums::Quantity quantity,
                       size_t                             gap,
                       CudaFiltersEnums::Approximation    approximation = CudaFiltersEnums::Approximation::Accurate)
  {
    using T = typename TImage::PixelType;
    constexpr unsigned int dimension = TImage::ImageDimension;
    SCOPED_TRACE(testing::Message() << quantity << ", " << approximation << ", " << size << ", " << sizeof(T)
                                    << " bytes, gap " << gap);
    const auto image = MakeRandomImage<TImage>(size);
    const auto plan = MakeStructureTensorPlan(1.0, 2.0, std::vector<double>(dimension, 0.75), quantity, approximation);
    const size_t components = CudaStructureTensorComponents(quantity, dimension);
    const auto   input = MakeCudaImageView(static_cast<const TImage *>(image.GetPointer()), image->GetBufferedRegion());
    std::vector<T> expected(components * image->GetBufferedRegion().GetNumberOfPixels());
    CudaImageView  output = input;
    output.Data = expected.data();
    output.NumberOfComponents = components;
    for (size_t & stride : output.Stride)
    {
      stride *= components;
    }
    CudaFilterBackend backend;
    backend.Requested = CudaFiltersEnums::Backend::Cuda;
    backend.SelectDevice(nullptr, CudaWorkingSet(plan, input, output));
    ASSERT_TRUE(CudaRunOnDevice(plan, input, output, backend, nullptr));

    const cuda::StreamLease owner(device);
    const Arrays<TImage>    arrays(image, gap);
    const ForeignMemory     tensors(expected.size() * sizeof(T));
    const auto              queue = [&] {
      arrays.Write(owner);
      CudaQueueOnStream(plan, arrays.GetInput(owner), tensors.Get());
    };
    queue(); // CUDA allocates, which may wait
    ITK_CUDA_CALL(cudaStreamSynchronize(owner.GetStream()));
    tensors.Spoil();
    {
      HeldStream held(owner);
      queue();
      arrays.SpoilInput(owner);
      held.LetGo();
    }
    const std::vector<T> found = tensors.Download<T>();
    const size_t         pixels = found.size() / components;
    size_t               different = 0;
    for (size_t i = 0; i < found.size(); ++i)
    {
      different += found[i % components * pixels + i / components] == expected[i] ? 0 : 1;
    }
    EXPECT_EQ(different, 0u) << "of " << found.size();
  }
};
} // namespace

TEST_F(CudaMultiScaleArrayGpu, ArraysHaveTheBitsOfImagesOfTheHostAndTheirPlaceOnTheStream)
{
  for (const char * const measure : { "Objectness", "Frangi", "Sato", "Jerman", "Meijering" })
  {
    this->Check<Image<float, 3>>({ { 35, 40, 29 } }, measure, 0, false); // rows that are not aligned
    this->Check<Image<float, 2>>({ { 131, 67 } }, measure, 0, true);
    this->Check<Image<double, 3>>({ { 31, 22, 17 } }, measure, 0, true);
    this->Check<Image<double, 2>>({ { 90, 61 } }, measure, 5, false);
    this->Check<Image<float, 3>>({ { 33, 21, 19 } }, measure, 3, true); // rows that lie apart
  }
}

/** Threads on streams of their own, each with filters of its own: the bits of the same calls alone. */
TEST_F(CudaMultiScaleArrayGpu, ThreadsHaveTheBitsOfSingleCalls)
{
  using ImageType = Image<float, 3>;
  constexpr unsigned int          threads = 6;
  const char * const              measures[] = { "Frangi", "Jerman", "Objectness", "Sato", "Frangi", "Meijering" };
  std::vector<ImageType::Pointer> images;
  std::vector<std::vector<float>> expected;
  std::vector<std::unique_ptr<Arrays<ImageType>>> arrays;
  for (size_t i = 0; i < threads; ++i)
  {
    images.push_back(MakeRandomImage<ImageType>({ { 40 + 3 * i, 35, 20 } }, static_cast<unsigned int>(i)));
    const auto filter = MakeFilter<ImageType>(images[i], measures[i]);
    filter->Update();
    const float * const response = filter->GetOutput()->GetBufferPointer();
    expected.emplace_back(response, response + images[i]->GetBufferedRegion().GetNumberOfPixels());
    arrays.push_back(std::make_unique<Arrays<ImageType>>(images[i], 0));
  }
  RunInThreads(threads, [&](unsigned int i) {
    const cuda::StreamLease owner(device);
    const auto              filter = MakeFilter<ImageType>(images[i], measures[i]);
    size_t                  different = 0;
    for (int repeat = 0; repeat < 8; ++repeat)
    {
      arrays[i]->Write(owner);
      filter->QueueOnStream(arrays[i]->GetInput(owner), arrays[i]->GetOutputs(true));
      arrays[i]->SpoilInput(owner);
      owner.Synchronize();
      different += arrays[i]->Response.Download<float>() == expected[i] ? 0 : 1;
    }
    return different == 0 ? std::string() : std::string(measures[i]) + ": other bits";
  });
}

/** Gamma and Jerman's floor from the device have the bits of those that the host makes, to the ends of the range and of
 * an image of zeros. */
TEST_F(CudaMultiScaleArrayGpu, BrightnessesToTheEndsOfTheRange)
{
  using ImageType = Image<float, 2>;
  const cuda::StreamLease owner(device);
  for (const float factor : { 0.0f, 1e-40f, 1e-37f, 1e-20f, 1.0f, 1e20f, 1e34f })
  {
    const auto image = MakeRandomImage<ImageType>({ { 48, 36 } });
    for (size_t i = 0; i < image->GetBufferedRegion().GetNumberOfPixels(); ++i)
    {
      image->GetBufferPointer()[i] *= factor;
    }
    for (const char * const measure : { "Objectness", "Frangi", "Jerman" })
    {
      const auto filter = MakeFilter<ImageType>(image, measure);
      filter->Update();
      const Arrays<ImageType> arrays(image, 0);
      arrays.Write(owner);
      filter->QueueOnStream(arrays.GetInput(owner), arrays.GetOutputs(true));
      owner.Synchronize();
      const std::vector<float> found = arrays.Response.Download<float>();
      EXPECT_EQ(std::memcmp(found.data(), filter->GetOutput()->GetBufferPointer(), found.size() * sizeof(float)), 0)
        << measure << ", factor " << factor;
      EXPECT_TRUE(std::all_of(found.begin(), found.end(), [](float value) { return std::isfinite(value); }));
    }
  }
}

TEST_F(CudaMultiScaleArrayGpu, WhatIsNotSupportedEndsInAnException)
{
  using ImageType = Image<float, 2>;
  const auto              image = MakeRandomImage<ImageType>({ { 32, 32 } });
  const auto              filter = MakeFilter<ImageType>(image, "Frangi");
  const cuda::StreamLease owner(device);
  const Arrays<ImageType> arrays(image, 0);
  const auto              queue = [&](int index) {
    CudaArrayImage input = arrays.GetInput(owner);
    input.Memory.Device = index;
    filter->QueueOnStream(input, arrays.GetOutputs(true));
  };
  EXPECT_THROW(queue(1000), CudaError);
  ITK_CUDA_CALL(cudaStreamBeginCapture(owner.GetStream(), cudaStreamCaptureModeRelaxed));
  EXPECT_THROW(queue(device), CudaError);
  cudaGraph_t graph = nullptr;
  ITK_CUDA_CALL(cudaStreamEndCapture(owner.GetStream(), &graph));
  ITK_CUDA_CALL(cudaGraphDestroy(graph));
  filter->SetSigmas({});
  EXPECT_THROW(queue(device), ExceptionObject);
}

TEST_F(CudaMultiScaleArrayGpu, StructureTensorsHaveTheBitsOfImagesOfTheHostAndTheirPlaceOnTheStream)
{
  for (const auto quantity :
       { CudaStructureTensorEnums::Quantity::Components, CudaStructureTensorEnums::Quantity::Eigenvalues })
  {
    this->CheckStructureTensor<Image<float, 3>>({ { 35, 40, 29 } }, quantity, 0);
    this->CheckStructureTensor<Image<float, 2>>({ { 131, 67 } }, quantity, 0);
    this->CheckStructureTensor<Image<double, 3>>({ { 31, 22, 17 } }, quantity, 3);
    this->CheckStructureTensor<Image<double, 2>>({ { 90, 61 } }, quantity, 0);
    this->CheckStructureTensor<Image<float, 3>>(
      { { 64, 33, 20 } }, quantity, 0, CudaFiltersEnums::Approximation::Deriche);
    this->CheckStructureTensor<Image<double, 2>>({ { 90, 61 } }, quantity, 0, CudaFiltersEnums::Approximation::Deriche);
  }
}

using CudaMultiScaleArrayFaultGpu = DeviceTest;

TEST_F(CudaMultiScaleArrayFaultGpu, StructureTensors)
{
  using ImageType = Image<float, 2>;
  const auto image = MakeRandomImage<ImageType>({ { 80, 70 } });
  const auto plan = MakeStructureTensorPlan(
    1.0, 2.0, { 1.0, 1.0 }, CudaStructureTensorEnums::Quantity::Components, CudaFiltersEnums::Approximation::Accurate);
  const cuda::StreamLease owner(device);
  const Arrays<ImageType> arrays(image, 0);
  const ForeignMemory     tensors(3 * 80 * 70 * sizeof(float));
  WalkFaults<float>("structure tensors of arrays", [&] {
    tensors.Spoil();
    arrays.Write(owner);
    CudaQueueOnStream(plan, arrays.GetInput(owner), tensors.Get());
    owner.Synchronize();
    return tensors.Download<float>();
  });
}

TEST_F(CudaMultiScaleArrayFaultGpu, Arrays)
{
  using ImageType = Image<float, 2>;
  const auto image = MakeRandomImage<ImageType>({ { 90, 61 } });
  for (const char * const measure : { "Frangi", "Jerman" })
  {
    const auto              filter = MakeFilter<ImageType>(image, measure);
    const cuda::StreamLease owner(device);
    const Arrays<ImageType> arrays(image, 0);
    WalkFaults<float>(std::string("arrays, ") + measure, [&] {
      arrays.Response.Spoil();
      arrays.Write(owner);
      filter->QueueOnStream(arrays.GetInput(owner), arrays.GetOutputs(true));
      owner.Synchronize();
      std::vector<float>       results = arrays.Response.Download<float>();
      const std::vector<float> directions = arrays.Directions.Download<float>();
      results.insert(results.end(), directions.begin(), directions.end());
      return results;
    });
  }
}
