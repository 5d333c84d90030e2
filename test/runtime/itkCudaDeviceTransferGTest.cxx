// SPDX-License-Identifier: Apache-2.0

// Tests uploads and downloads of device images and mappings of their pixels, with all types, regions and conversions,
// poisoned device memory, images that are released while work is queued, several threads, aborts and faults.

#include "itkBinaryThresholdImageFilter.h"
#include "itkCovariantVector.h"
#include "runtime/image/Components.h"
#include "itkCudaDetailHostMemoryPool.h"
#include "runtime/device/Device.h"
#include "itkCudaDownloadImageFilter.h"
#include "itkCudaError.h"
#include "support/itkCudaFaultWalk.h"
#include "support/itkCudaHeldStream.h"
#include "runtime/image/PixelMapping.h"
#include "itkCudaPixelMappingImageFilter.h"
#include "support/itkCudaRuntimeTestHelpers.h"
#include "runtime/device/Stream.h"
#include "runtime/transfer/TransferPolicy.h"
#include "itkCudaUploadImageFilter.h"
#include "itkImage.h"
#include "itkImageRegionConstIteratorWithIndex.h"
#include "itkIntensityWindowingImageFilter.h"
#include "itkRGBPixel.h"
#include "itkStreamingImageFilter.h"
#include "itkSymmetricSecondRankTensor.h"
#include "itkVectorImage.h"

#include <cmath>
#include <iostream>
#include <limits>
#include <memory>
#include <thread>

namespace
{
using itk::CudaError;
using itk::CudaRounding;
using itk::cuda::ConvertComponent;
using itk::cuda::DeviceGuard;
using itk::cuda::GetThreadContext;
using itk::cuda::GetTransferCounts;
using itk::cuda::test::Configuration;
using itk::cuda::test::device;
using itk::cuda::test::DeviceTest;
using itk::cuda::test::FillRandomly;
using itk::cuda::test::HeldStream;
using itk::cuda::test::seed;

template <typename T, unsigned int VDimension>
using Device = itk::CudaDeviceImage<T, VDimension>;

/** Returns all components of a host image that is buffered as a whole. */
template <typename TImage>
using ComponentOf = typename itk::CudaDetail::CudaImageTraits<TImage>::ComponentType;

template <typename TImage>
std::vector<ComponentOf<TImage>>
GetComponents(const TImage * image)
{
  const auto * const first = reinterpret_cast<const ComponentOf<TImage> *>(image->GetBufferPointer());
  return { first, first + image->GetBufferedRegion().GetNumberOfPixels() * image->GetNumberOfComponentsPerPixel() };
}

template <typename TImage>
typename TImage::Pointer
MakeImage(const typename TImage::RegionType &      region,
          const std::vector<ComponentOf<TImage>> & values,
          unsigned int                             components = 1)
{
  const auto image = TImage::New();
  image->SetRegions(region);
  if (itk::CudaDetail::CudaImageTraits<TImage>::IsVectorImage)
  {
    image->SetNumberOfComponentsPerPixel(components);
  }
  image->Allocate();
  EXPECT_EQ(values.size(), region.GetNumberOfPixels() * image->GetNumberOfComponentsPerPixel());
  std::memcpy(
    static_cast<void *>(image->GetBufferPointer()), values.data(), values.size() * sizeof(ComponentOf<TImage>));
  return image;
}

template <typename TImage>
typename TImage::Pointer
MakeRandomImage(const typename TImage::RegionType & region, unsigned int number = 0, unsigned int components = 1)
{
  const auto pixel = TImage::New();
  const auto length =
    itk::CudaDetail::CudaImageTraits<TImage>::IsVectorImage ? components : pixel->GetNumberOfComponentsPerPixel();
  std::vector<ComponentOf<TImage>> values(region.GetNumberOfPixels() * length);
  FillRandomly(values, number);
  return MakeImage<TImage>(region, values, components);
}

/** Returns whether both images have the same bits in a region. */
template <typename TImage>
bool
AreSame(const TImage * a, const TImage * b, const typename TImage::RegionType & region)
{
  const size_t bytes = a->GetNumberOfComponentsPerPixel() * sizeof(ComponentOf<TImage>);
  for (itk::ImageRegionConstIteratorWithIndex<TImage> it(a, region); !it.IsAtEnd(); ++it)
  {
    const auto offset = [&it, bytes](const TImage * image) {
      return static_cast<size_t>(image->ComputeOffset(it.GetIndex())) * bytes;
    };
    if (std::memcmp(reinterpret_cast<const char *>(a->GetBufferPointer()) + offset(a),
                    reinterpret_cast<const char *>(b->GetBufferPointer()) + offset(b),
                    bytes) != 0)
    {
      return false;
    }
  }
  return true;
}

/** Configures one of the mappings, which are numbered from 0, in a filter. */
constexpr unsigned int numberOfMappings = 7;

template <typename TFilter>
void
SetMapping(TFilter & filter, unsigned int number)
{
  using OutputType = typename TFilter::OutputComponentType;
  filter.SetRounding(number % 2 == 0 ? CudaRounding::Truncate : CudaRounding::Nearest);
  filter.SetShift(number >= 2 ? 3.25 : 0.0);
  filter.SetScale(number >= 2 ? 0.375 : 1.0);
  filter.SetUseWindow(number == 4);
  filter.SetUseThreshold(number == 5);
  filter.SetUseSigmoid(number == 6);
  filter.SetWindowMinimum(10);
  filter.SetWindowMaximum(100);
  filter.SetOutputMinimum(static_cast<OutputType>(3));
  filter.SetOutputMaximum(static_cast<OutputType>(120));
  filter.SetLowerThreshold(20);
  filter.SetUpperThreshold(90);
  filter.SetAlpha(-17.0);
  filter.SetBeta(40.0);
}

/** Provides device memory whose bits are NaN in any floating-point type, so that pixels that nobody wrote are detected.
 */
class PoisonedMemory
{
public:
  PoisonedMemory() { Configuration::SetDeviceMemoryResource(Allocate, Release); }
  ~PoisonedMemory() { Configuration::SetDeviceMemoryResource(nullptr, nullptr); }

  PoisonedMemory(const PoisonedMemory &) = delete;
  PoisonedMemory &
  operator=(const PoisonedMemory &) = delete;

private:
  static void *
  Allocate(size_t bytes, int, void * stream, void *)
  {
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
};

/** Fixture that skips without a GPU and poisons all device memory. */
class CudaDeviceTransferGpu : public DeviceTest
{
protected:
  void
  SetUp() override
  {
    DeviceTest::SetUp();
    if (!this->IsSkipped())
    {
      std::cout << "seed " << seed << std::endl;
      m_Guard = std::make_unique<DeviceGuard>(device);
      m_Memory = std::make_unique<PoisonedMemory>();
    }
  }

  void
  TearDown() override
  {
    m_Memory.reset();
    DeviceTest::TearDown();
  }

  size_t
  Random(size_t lower, size_t upper)
  {
    return std::uniform_int_distribution<size_t>(lower, upper)(m_Generator);
  }

  /** Returns a region with up to `limit` pixels along each axis. */
  template <unsigned int VDimension>
  itk::ImageRegion<VDimension>
  RandomRegion(size_t limit)
  {
    itk::ImageRegion<VDimension> region;
    for (unsigned int d = 0; d < VDimension; ++d)
    {
      region.SetIndex(d, static_cast<itk::IndexValueType>(this->Random(0, 9)) - 5);
      region.SetSize(d, this->Random(1, limit));
    }
    return region;
  }

  template <unsigned int VDimension>
  itk::ImageRegion<VDimension>
  RandomPart(const itk::ImageRegion<VDimension> & whole)
  {
    itk::ImageRegion<VDimension> part;
    for (unsigned int d = 0; d < VDimension; ++d)
    {
      const size_t size = this->Random(1, whole.GetSize(d));
      part.SetSize(d, size);
      part.SetIndex(d, whole.GetIndex(d) + static_cast<itk::IndexValueType>(this->Random(0, whole.GetSize(d) - size)));
    }
    return part;
  }

  /** Uploads and downloads whole images without conversion, downloads a part, and uploads and downloads a part. */
  template <typename TImage>
  void
  CheckRoundTrips(size_t limit, unsigned int components = 1)
  {
    constexpr unsigned int dimension = TImage::ImageDimension;
    for (unsigned int turn = 0; turn < 6; ++turn)
    {
      const auto        whole = this->RandomRegion<dimension>(limit);
      const auto        part = this->RandomPart(whole);
      const auto        image = MakeRandomImage<TImage>(whole, turn, components);
      const std::string where = "turn " + std::to_string(turn);
      const auto        uploaded = itk::CudaUpload(image, device);
      EXPECT_EQ(uploaded->GetBufferedRegion(), whole);
      EXPECT_EQ(uploaded->GetDeviceIndex(), device);
      EXPECT_TRUE(AreSame<TImage>(itk::CudaDownload(uploaded), image, whole)) << where;

      using DeviceType = typename decltype(uploaded)::ObjectType;
      const auto download = itk::CudaDownloadImageFilter<DeviceType, TImage>::New();
      download->SetInput(uploaded);
      download->GetOutput()->SetRequestedRegion(part);
      download->Update();
      EXPECT_EQ(download->GetOutput()->GetBufferedRegion(), part);
      EXPECT_TRUE(AreSame<TImage>(download->GetOutput(), image, part)) << where << ", a part of " << whole << part;

      const auto upload = itk::CudaUploadImageFilter<TImage, DeviceType>::New();
      upload->SetInput(image);
      download->SetInput(upload->GetOutput());
      download->GetOutput()->SetRequestedRegion(part);
      download->Update();
      EXPECT_EQ(upload->GetOutput()->GetBufferedRegion(), part);
      EXPECT_TRUE(AreSame<TImage>(download->GetOutput(), image, part)) << where << ", a part up of " << whole << part;
    }
  }

  /** Verifies the download of a device image of TFrom as TTo, and the upload of a host image of TFrom to a device image
   * of TTo. */
  template <typename TFrom, typename TTo>
  void
  CheckConversion(const std::vector<TFrom> & values)
  {
    using FromType = itk::Image<TFrom, 1>;
    using ToType = itk::Image<TTo, 1>;
    using itk::cuda::test::GetComponentType;
    constexpr bool real = std::is_floating_point_v<TFrom> && sizeof(TFrom) == 4;
    using RealType = std::conditional_t<real || sizeof(TFrom) <= 2, float, double>;

    std::vector<TTo> expected;
    for (const TFrom value : values)
    {
      expected.push_back(ConvertComponent<TTo>(static_cast<RealType>(value)));
    }
    typename FromType::RegionType region;
    region.SetSize(0, values.size());
    const auto        image = MakeImage<FromType>(region, values);
    const std::string where = "type " + std::to_string(static_cast<int>(GetComponentType<TFrom>())) + " to " +
                              std::to_string(static_cast<int>(GetComponentType<TTo>()));
    const auto down = itk::CudaDownload<ToType>(itk::CudaUpload(image, device));
    EXPECT_EQ(GetComponents<ToType>(down), expected) << "down, " << where;

    const auto upload = itk::CudaUploadImageFilter<FromType, Device<TTo, 1>>::New();
    upload->SetInput(image);
    upload->Update();
    EXPECT_EQ(GetComponents<ToType>(itk::CudaDownload(upload->GetOutput())), expected) << "up, " << where;
  }

  template <typename TFrom>
  void
  CheckConversions()
  {
    std::vector<TFrom> values(777);
    FillRandomly(values);
    for (const double value : { 0.0, 0.5, 1.5, 2.5, -0.5, -1.5, 127.0, 128.0, 254.9, 255.0, 256.0, 32767.5, 65535.0 })
    {
      values.push_back(ConvertComponent<TFrom>(value));
    }
    values.push_back(std::numeric_limits<TFrom>::max());
    values.push_back(std::numeric_limits<TFrom>::lowest());
    this->CheckConversion<TFrom, unsigned char>(values);
    this->CheckConversion<TFrom, signed char>(values);
    this->CheckConversion<TFrom, unsigned short>(values);
    this->CheckConversion<TFrom, short>(values);
    this->CheckConversion<TFrom, unsigned int>(values);
    this->CheckConversion<TFrom, int>(values);
    this->CheckConversion<TFrom, double>(values);
    if constexpr (!std::is_same_v<TFrom, double>)
    {
      this->CheckConversion<TFrom, float>(values); // float has no values for doubles beyond its range
    }
  }

  /** Verifies downloads with a window and with thresholds at its ends against the pixels of ITK's filters on the host.
   */
  template <typename TFrom, typename TTo>
  void
  CheckMappings(TFrom lower, TFrom upper, TTo first, TTo second)
  {
    using FromType = itk::Image<TFrom, 2>;
    using ToType = itk::Image<TTo, 2>;
    const auto region = this->RandomRegion<2>(60);
    const auto image = MakeRandomImage<FromType>(region);
    const auto download = itk::CudaDownloadImageFilter<Device<TFrom, 2>, ToType>::New();
    download->SetInput(itk::CudaUpload(image, device));

    const auto window = itk::IntensityWindowingImageFilter<FromType, ToType>::New();
    const auto setWindow = [&](auto & filter) {
      filter.SetWindowMinimum(lower);
      filter.SetWindowMaximum(upper);
      filter.SetOutputMinimum(first);
      filter.SetOutputMaximum(second);
      filter.Update();
    };
    window->SetInput(image);
    download->UseWindowOn();
    setWindow(*window);
    setWindow(*download);
    EXPECT_TRUE(AreSame<ToType>(download->GetOutput(), window->GetOutput(), region)) << "window from " << +lower;

    const auto threshold = itk::BinaryThresholdImageFilter<FromType, ToType>::New();
    const auto setThresholds = [&](auto & filter) {
      filter.SetLowerThreshold(lower);
      filter.SetUpperThreshold(upper);
      filter.SetOutsideValue(first);
      filter.SetInsideValue(second);
      filter.Update();
    };
    threshold->SetInput(image);
    download->UseWindowOff();
    download->UseThresholdOn();
    setThresholds(*threshold);
    setThresholds(*download);
    EXPECT_TRUE(AreSame<ToType>(download->GetOutput(), threshold->GetOutput(), region)) << "threshold " << +lower;
  }

  /** Verifies downloads with a sigmoid after a shift and scale against the bits of the function on the host. */
  template <typename TFrom, typename TTo>
  void
  CheckSigmoid()
  {
    using FromType = itk::Image<TFrom, 1>;
    using ToType = itk::Image<TTo, 1>;
    std::vector<TFrom> values(3000);
    FillRandomly(values);
    for (const double value : { 0.0, -0.0, 40.0, 41.0, 700.0, -700.0, 1e30, -1e30 })
    {
      values.push_back(ConvertComponent<TFrom>(value));
    }
    if constexpr (std::is_floating_point_v<TFrom>)
    {
      const TFrom infinity = std::numeric_limits<TFrom>::infinity();
      values.insert(values.end(), { infinity, -infinity, std::numeric_limits<TFrom>::max() });
    }
    typename FromType::RegionType region;
    region.SetSize(0, values.size());
    const auto uploaded = itk::CudaUpload(MakeImage<FromType>(region, values), device);
    for (const double alpha : { 0.001, -1.0, 500.0, -1e7 })
    {
      const auto download = itk::CudaDownloadImageFilter<Device<TFrom, 1>, ToType>::New();
      download->SetInput(uploaded);
      SetMapping(*download, 6);
      download->SetAlpha(alpha);
      download->Update();
      itk::CudaDetail::CudaPixelConversion conversion;
      conversion.Mapping = itk::CudaDetail::CudaPixelMapping::Sigmoid;
      conversion.Shift = download->GetShift();
      conversion.Scale = download->GetScale();
      conversion.OutputMinimum = 3.0;
      conversion.OutputMaximum = 120.0;
      conversion.Alpha = alpha;
      conversion.Beta = 40.0;
      const auto       onHost = itk::cuda::MakePixelMapping<double>(conversion, std::is_integral_v<TTo>);
      std::vector<TTo> expected;
      for (const TFrom value : values)
      {
        expected.push_back(itk::cuda::MapPixel<TTo>(value, onHost));
      }
      EXPECT_EQ(GetComponents<ToType>(download->GetOutput()), expected) << "alpha " << alpha;
    }
  }

  template <typename TFrom>
  void
  CheckSigmoids()
  {
    this->CheckSigmoid<TFrom, unsigned char>();
    this->CheckSigmoid<TFrom, signed char>();
    this->CheckSigmoid<TFrom, unsigned short>();
    this->CheckSigmoid<TFrom, short>();
    this->CheckSigmoid<TFrom, unsigned int>();
    this->CheckSigmoid<TFrom, int>();
    this->CheckSigmoid<TFrom, float>();
    this->CheckSigmoid<TFrom, double>();
  }

  /** Maps a random part of an image from device to device and verifies that the bits equal a download with the same
   * parameters. */
  template <typename TFromImage, typename TToImage>
  void
  CheckMappingOnDevice(size_t limit, unsigned int components = 1)
  {
    using FromType = typename itk::CudaUploadImageFilter<TFromImage>::OutputImageType;
    using ToType = typename itk::CudaUploadImageFilter<TToImage>::OutputImageType;
    for (unsigned int number = 0; number < numberOfMappings; ++number)
    {
      const auto whole = this->RandomRegion<TFromImage::ImageDimension>(limit);
      const auto part = this->RandomPart(whole);
      const auto image = MakeRandomImage<TFromImage>(whole, number, components);
      const auto uploaded = itk::CudaUpload(image, device);
      const auto run = [&](auto & filter) {
        filter.SetInput(uploaded);
        SetMapping(filter, number);
        filter.GetOutput()->SetRequestedRegion(part);
        filter.Update();
      };
      const auto mapping = itk::CudaPixelMappingImageFilter<FromType, ToType>::New();
      const auto download = itk::CudaDownloadImageFilter<FromType, TToImage>::New();
      run(*mapping);
      run(*download);
      EXPECT_EQ(mapping->GetOutput()->GetBufferedRegion(), part);
      EXPECT_EQ(mapping->GetOutput()->GetDeviceIndex(), device);
      const auto copy = ToType::New(); // CudaDownload() requests the whole image
      copy->Graft(mapping->GetOutput());
      copy->SetLargestPossibleRegion(part);
      const auto found = itk::CudaDownload<TToImage>(copy);
      EXPECT_TRUE(AreSame<TToImage>(found, download->GetOutput(), part)) << "mapping " << number << " of " << whole;
      EXPECT_TRUE(AreSame<TFromImage>(itk::CudaDownload<TFromImage>(uploaded), image, whole)) << "the input is kept";
    }
  }

  std::mt19937 m_Generator{ seed };

private:
  std::unique_ptr<DeviceGuard>    m_Guard;
  std::unique_ptr<PoisonedMemory> m_Memory;
};

using FloatImage = itk::Image<float, 3>;
using DeviceFloats = Device<float, 3>;

FloatImage::RegionType
GetRegion(itk::SizeValueType x, itk::SizeValueType y, itk::SizeValueType z)
{
  return FloatImage::RegionType(FloatImage::SizeType{ { x, y, z } });
}

/** Runs a function in several threads and reports their exceptions, which GTest does not report. */
template <typename TFunction>
void
RunInThreads(unsigned int number, const TFunction & function)
{
  std::vector<std::string> errors(number);
  std::vector<std::thread> threads;
  for (unsigned int index = 0; index < number; ++index)
  {
    threads.emplace_back([index, &errors, &function] {
      try
      {
        errors[index] = function(index);
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
  for (unsigned int index = 0; index < number; ++index)
  {
    EXPECT_EQ(errors[index], "") << "thread " << index;
  }
}
} // namespace

TEST_F(CudaDeviceTransferGpu, Scalars_of_every_type_come_back_with_every_bit)
{
  this->CheckRoundTrips<itk::Image<unsigned char, 3>>(40);
  this->CheckRoundTrips<itk::Image<signed char, 2>>(90);
  this->CheckRoundTrips<itk::Image<char, 2>>(90);
  this->CheckRoundTrips<itk::Image<unsigned short, 4>>(12);
  this->CheckRoundTrips<itk::Image<short, 3>>(40);
  this->CheckRoundTrips<itk::Image<unsigned int, 2>>(90);
  this->CheckRoundTrips<itk::Image<int, 3>>(40);
  this->CheckRoundTrips<itk::Image<float, 1>>(3000);
  this->CheckRoundTrips<itk::Image<float, 3>>(40);
  this->CheckRoundTrips<itk::Image<float, 4>>(12);
  this->CheckRoundTrips<itk::Image<double, 3>>(40);
}

TEST_F(CudaDeviceTransferGpu, Pixels_of_several_components_come_back_with_every_bit)
{
  this->CheckRoundTrips<itk::Image<itk::Vector<float, 3>, 3>>(25);
  this->CheckRoundTrips<itk::Image<itk::CovariantVector<double, 2>, 2>>(60);
  this->CheckRoundTrips<itk::Image<itk::SymmetricSecondRankTensor<float, 3>, 3>>(20);
  this->CheckRoundTrips<itk::Image<itk::RGBPixel<unsigned char>, 2>>(60);
  this->CheckRoundTrips<itk::Image<itk::Vector<int, 2>, 2>>(60);
  this->CheckRoundTrips<itk::VectorImage<short, 3>>(25, 5);
  this->CheckRoundTrips<itk::VectorImage<float, 2>>(60, 2);
  this->CheckRoundTrips<itk::VectorImage<double, 2>>(60, 1);
}

TEST_F(CudaDeviceTransferGpu, Types_are_converted_as_the_filters_convert_them)
{
  this->CheckConversions<unsigned char>();
  this->CheckConversions<signed char>();
  this->CheckConversions<unsigned short>();
  this->CheckConversions<short>();
  this->CheckConversions<unsigned int>();
  this->CheckConversions<int>();
  this->CheckConversions<float>();
  this->CheckConversions<double>();
}

TEST_F(CudaDeviceTransferGpu, Nearest_rounds_halves_to_even_and_clamps)
{
  using OutputType = itk::Image<short, 1>;
  const float              nan = std::numeric_limits<float>::quiet_NaN();
  const float              infinity = std::numeric_limits<float>::infinity();
  const std::vector<float> values{ 0.5f,  1.5f,     2.5f,     -0.5f,    -1.5f, 0.49f,    1.51f,
                                   -2.6f, 32767.4f, 32767.6f, -40000.f, nan,   infinity, -infinity };
  const std::vector<short> expected{ 0, 2, 2, 0, -2, 0, 2, -3, 32767, 32767, -32768, 0, 32767, -32768 };
  itk::ImageRegion<1>      region;
  region.SetSize(0, values.size());
  const auto download = itk::CudaDownloadImageFilter<Device<float, 1>, OutputType>::New();
  download->SetInput(itk::CudaUpload(MakeImage<itk::Image<float, 1>>(region, values), device));
  download->SetRounding("nearest");
  download->Update();
  EXPECT_EQ(GetComponents<OutputType>(download->GetOutput()), expected);
  download->SetRounding("Truncate");
  download->Update();
  EXPECT_EQ(GetComponents<OutputType>(download->GetOutput()),
            (std::vector<short>{ 0, 1, 2, 0, -1, 0, 1, -2, 32767, 32767, -32768, 0, 32767, -32768 }));
}

TEST_F(CudaDeviceTransferGpu, Shift_and_scale_come_before_the_conversion)
{
  using InputType = itk::Image<itk::Vector<float, 2>, 2>;
  using OutputType = itk::Image<itk::Vector<unsigned char, 2>, 2>;
  using RealType = itk::Image<itk::Vector<float, 2>, 2>;
  const auto image = MakeRandomImage<InputType>(this->RandomRegion<2>(50));
  const auto uploaded = itk::CudaUpload(image, device);
  using DeviceType = decltype(uploaded)::ObjectType;
  const float                shift = 3.5f;
  const float                scale = 0.125f;
  std::vector<unsigned char> expected;
  std::vector<float>         real;
  for (const float value : GetComponents<InputType>(image))
  {
    real.push_back((value + shift) * scale);
    expected.push_back(ConvertComponent<unsigned char>(std::nearbyintf(real.back())));
  }
  const auto bytes = itk::CudaDownloadImageFilter<DeviceType, OutputType>::New();
  bytes->SetInput(uploaded);
  bytes->SetShift(shift);
  bytes->SetScale(scale);
  bytes->SetRounding(CudaRounding::Nearest);
  bytes->Update();
  EXPECT_EQ(GetComponents<OutputType>(bytes->GetOutput()), expected);

  const auto reals = itk::CudaDownloadImageFilter<DeviceType, RealType>::New();
  reals->SetInput(uploaded);
  reals->SetShift(shift);
  reals->SetScale(scale);
  reals->Update();
  EXPECT_EQ(GetComponents<RealType>(reals->GetOutput()), real);
  EXPECT_TRUE(AreSame<InputType>(itk::CudaDownload(uploaded), image, image->GetBufferedRegion()))
    << "the device image stays as it is";
}

TEST_F(CudaDeviceTransferGpu, Windows_and_thresholds_are_those_of_ITK)
{
  this->CheckMappings<float, unsigned char>(-3000.5f, 4000.25f, 10, 250);
  this->CheckMappings<float, short>(-9000.0f, 9000.0f, -32768, 32767);
  this->CheckMappings<float, float>(-100.0f, 900.0f, 0.0f, 1.0f);
  this->CheckMappings<double, unsigned char>(-3000.5, 4000.25, 255, 0);
  this->CheckMappings<double, double>(-0.125, 0.5, -1.0, 1.0);
  this->CheckMappings<short, unsigned char>(-1000, 400, 0, 255);
  this->CheckMappings<int, unsigned short>(-2000000, 100000000, 1, 65535);
  this->CheckMappings<unsigned char, float>(10, 200, 0.0f, 1.0f);
}

TEST_F(CudaDeviceTransferGpu, Windows_of_components_have_the_bits_of_the_host)
{
  using InputType = itk::Image<itk::Vector<float, 3>, 2>;
  using OutputType = itk::Image<itk::Vector<unsigned char, 3>, 2>;
  for (const auto rounding : { CudaRounding::Truncate, CudaRounding::Nearest })
  {
    const auto image = MakeRandomImage<InputType>(this->RandomRegion<2>(50));
    const auto uploaded = itk::CudaUpload(image, device);
    const auto download = itk::CudaDownloadImageFilter<decltype(uploaded)::ObjectType, OutputType>::New();
    download->SetInput(uploaded);
    download->SetRounding(rounding);
    download->UseWindowOn();
    download->SetWindowMinimum(-5000.0f);
    download->SetWindowMaximum(3000.0f);
    download->SetOutputMaximum(99);
    download->Update();
    itk::CudaDetail::CudaPixelConversion conversion;
    conversion.Mapping = itk::CudaDetail::CudaPixelMapping::Window;
    conversion.Rounding = rounding;
    conversion.Lower = -5000.0;
    conversion.Upper = 3000.0;
    conversion.OutputMaximum = 99.0;
    const auto                 mapping = itk::cuda::MakePixelMapping<float>(conversion, true);
    std::vector<unsigned char> expected;
    for (const float value : GetComponents<InputType>(image))
    {
      expected.push_back(itk::cuda::MapPixel<unsigned char>(value, mapping));
    }
    EXPECT_EQ(GetComponents<OutputType>(download->GetOutput()), expected) << rounding;
  }
}

TEST_F(CudaDeviceTransferGpu, Sigmoids_have_the_bits_of_the_host)
{
  this->CheckSigmoids<unsigned char>();
  this->CheckSigmoids<signed char>();
  this->CheckSigmoids<unsigned short>();
  this->CheckSigmoids<short>();
  this->CheckSigmoids<unsigned int>();
  this->CheckSigmoids<int>();
  this->CheckSigmoids<float>();
  this->CheckSigmoids<double>();
}

TEST_F(CudaDeviceTransferGpu, Sigmoid_of_NaN_is_NaN_in_reals_and_0_in_integers)
{
  using InputType = itk::Image<float, 1>;
  InputType::RegionType region;
  region.SetSize(0, 3);
  const auto uploaded =
    itk::CudaUpload(MakeImage<InputType>(region, { std::numeric_limits<float>::quiet_NaN(), 40.0f, -1e9f }), device);
  const auto reals = itk::CudaDownloadImageFilter<Device<float, 1>>::New();
  const auto shorts = itk::CudaDownloadImageFilter<Device<float, 1>, itk::Image<short, 1>>::New();
  const auto run = [&uploaded](auto & filter) {
    filter.SetInput(uploaded);
    SetMapping(filter, 6);
    filter.Update();
  };
  run(*reals);
  run(*shorts);
  EXPECT_TRUE(std::isnan(reals->GetOutput()->GetPixel({ { 0 } })));
  EXPECT_EQ(reals->GetOutput()->GetPixel({ { 2 } }), 120.0f);
  EXPECT_EQ(shorts->GetOutput()->GetPixel({ { 0 } }), 0);
  EXPECT_EQ(shorts->GetOutput()->GetPixel({ { 2 } }), 120);
}

TEST_F(CudaDeviceTransferGpu, Mappings_from_device_to_device_are_those_of_downloads)
{
  this->CheckMappingOnDevice<itk::Image<float, 3>, itk::Image<float, 3>>(30);
  this->CheckMappingOnDevice<itk::Image<float, 3>, itk::Image<unsigned char, 3>>(30);
  this->CheckMappingOnDevice<itk::Image<float, 2>, itk::Image<int, 2>>(80);
  this->CheckMappingOnDevice<itk::Image<double, 2>, itk::Image<float, 2>>(80);
  this->CheckMappingOnDevice<itk::Image<double, 1>, itk::Image<short, 1>>(3000);
  this->CheckMappingOnDevice<itk::Image<unsigned char, 4>, itk::Image<float, 4>>(10);
  this->CheckMappingOnDevice<itk::Image<short, 3>, itk::Image<short, 3>>(30);
  this->CheckMappingOnDevice<itk::Image<unsigned short, 2>, itk::Image<double, 2>>(80);
  this->CheckMappingOnDevice<itk::Image<unsigned int, 2>, itk::Image<unsigned short, 2>>(80);
  this->CheckMappingOnDevice<itk::Image<int, 3>, itk::Image<unsigned int, 3>>(30);
  this->CheckMappingOnDevice<itk::Image<signed char, 2>, itk::Image<unsigned char, 2>>(80);
  this->CheckMappingOnDevice<itk::Image<itk::Vector<float, 3>, 2>, itk::Image<itk::Vector<unsigned char, 3>, 2>>(50);
  this->CheckMappingOnDevice<itk::Image<itk::RGBPixel<unsigned char>, 2>, itk::Image<itk::Vector<float, 3>, 2>>(50);
  this->CheckMappingOnDevice<itk::VectorImage<short, 3>, itk::VectorImage<float, 3>>(20, 5);
  this->CheckMappingOnDevice<itk::VectorImage<float, 2>, itk::VectorImage<float, 2>>(50, 2);
}

TEST_F(CudaDeviceTransferGpu, Mapping_without_parameters_keeps_every_bit)
{
  const float              nan = std::numeric_limits<float>::quiet_NaN();
  const std::vector<float> values{
    -0.0f, 0.0f, 1e-42f, -1e-45f, 3.4e38f, nan, -std::numeric_limits<float>::infinity()
  };
  itk::ImageRegion<1> region;
  region.SetSize(0, values.size());
  const auto image = MakeImage<itk::Image<float, 1>>(region, values);
  const auto mapping = itk::CudaPixelMappingImageFilter<Device<float, 1>>::New();
  mapping->SetInput(itk::CudaUpload(image, device));
  mapping->Update();
  EXPECT_TRUE((AreSame<itk::Image<float, 1>>(itk::CudaDownload(mapping->GetOutput()), image, region)));
}

TEST_F(CudaDeviceTransferGpu, Mapping_queues_its_work_and_returns)
{
  const auto image = MakeRandomImage<FloatImage>(GetRegion(65, 50, 40));
  const auto uploaded = itk::CudaUpload(image, device);
  const auto mapping = itk::CudaPixelMappingImageFilter<DeviceFloats>::New();
  mapping->SetInput(uploaded);
  mapping->Update(); // the kernel is loaded
  mapping->SetScale(2.0);
  const auto context = GetThreadContext(device);
  const auto counts = GetTransferCounts();
  {
    HeldStream held(context);
    mapping->Update();
    EXPECT_EQ(ITK_CUDA_TRY(cudaStreamQuery(context.GetStream())), cudaErrorNotReady);
    held.LetGo();
  }
  EXPECT_EQ(GetTransferCounts().Downloads, counts.Downloads) << "no pixel crosses the link";
  EXPECT_EQ(GetTransferCounts().Uploads, counts.Uploads);
  const auto found = GetComponents<FloatImage>(itk::CudaDownload(mapping->GetOutput()));
  const auto values = GetComponents<FloatImage>(image);
  for (size_t i = 0; i < values.size(); ++i)
  {
    ASSERT_EQ(found[i], values[i] * 2.0f) << i;
  }
}

TEST_F(CudaDeviceTransferGpu, Mapping_runs_again_when_a_parameter_changes_and_streams)
{
  const auto image = MakeRandomImage<FloatImage>(GetRegion(40, 30, 20));
  const auto upload = itk::CudaUploadImageFilter<FloatImage>::New();
  const auto mapping = itk::CudaPixelMappingImageFilter<DeviceFloats>::New();
  const auto download = itk::CudaDownloadImageFilter<DeviceFloats>::New();
  const auto stream = itk::StreamingImageFilter<FloatImage, FloatImage>::New();
  upload->SetInput(image);
  mapping->SetInput(upload->GetOutput());
  download->SetInput(mapping->GetOutput());
  stream->SetInput(download->GetOutput());
  stream->SetNumberOfStreamDivisions(4);
  stream->Update();
  EXPECT_EQ(mapping->GetOutput()->GetBufferedRegion().GetSize(2), 5u) << "a quarter at a time";
  EXPECT_TRUE(AreSame<FloatImage>(stream->GetOutput(), image, image->GetBufferedRegion()));
  for (const double alpha : { 100.0, -300.0 })
  {
    SetMapping(*mapping, 6);
    mapping->SetAlpha(alpha);
    stream->Update();
    const auto direct = itk::CudaDownloadImageFilter<DeviceFloats>::New();
    direct->SetInput(itk::CudaUpload(image, device));
    SetMapping(*direct, 6);
    direct->SetAlpha(alpha);
    direct->Update();
    EXPECT_TRUE(AreSame<FloatImage>(stream->GetOutput(), direct->GetOutput(), image->GetBufferedRegion())) << alpha;
  }
}

TEST_F(CudaDeviceTransferGpu, Two_threads_map_the_image_of_another)
{
  using Bytes = itk::Image<unsigned char, 3>;
  const auto image = MakeRandomImage<FloatImage>(GetRegion(100, 90, 40));
  const auto uploaded = itk::CudaUpload(image, device);
  const auto expected = itk::CudaDownloadImageFilter<DeviceFloats, Bytes>::New();
  expected->SetInput(uploaded);
  SetMapping(*expected, 6);
  expected->Update();
  const FloatImage::RegionType region = image->GetBufferedRegion();
  RunInThreads(2, [&uploaded, &expected, &region](unsigned int) -> std::string {
    for (unsigned int turn = 0; turn < 20; ++turn)
    {
      const auto copy = DeviceFloats::New();
      copy->Graft(uploaded);
      const auto mapping = itk::CudaPixelMappingImageFilter<DeviceFloats, Device<unsigned char, 3>>::New();
      mapping->SetInput(copy);
      SetMapping(*mapping, 6);
      mapping->Update();
      if (!AreSame<Bytes>(itk::CudaDownload(mapping->GetOutput()), expected->GetOutput(), region))
      {
        return "turn " + std::to_string(turn);
      }
    }
    return {};
  });
}

TEST_F(CudaDeviceTransferGpu, Both_filters_stream)
{
  const auto image = MakeRandomImage<FloatImage>(GetRegion(40, 30, 20));
  const auto upload = itk::CudaUploadImageFilter<FloatImage>::New();
  const auto download = itk::CudaDownloadImageFilter<DeviceFloats>::New();
  const auto stream = itk::StreamingImageFilter<FloatImage, FloatImage>::New();
  upload->SetInput(image);
  download->SetInput(upload->GetOutput());
  stream->SetInput(download->GetOutput());
  stream->SetNumberOfStreamDivisions(4);
  const auto before = GetTransferCounts();
  stream->Update();
  EXPECT_EQ(GetTransferCounts().Uploads - before.Uploads, 4u);
  EXPECT_EQ(GetTransferCounts().Downloads - before.Downloads, 4u);
  EXPECT_TRUE(AreSame<FloatImage>(stream->GetOutput(), image, image->GetBufferedRegion()));
}

TEST_F(CudaDeviceTransferGpu, Only_what_changed_runs_again)
{
  const auto image = MakeRandomImage<FloatImage>(GetRegion(33, 20, 9));
  const auto upload = itk::CudaUploadImageFilter<FloatImage>::New();
  const auto download = itk::CudaDownloadImageFilter<DeviceFloats>::New();
  upload->SetInput(image);
  download->SetInput(upload->GetOutput());
  download->Update();
  const auto before = GetTransferCounts();
  download->Update();
  EXPECT_EQ(GetTransferCounts().Uploads, before.Uploads);
  EXPECT_EQ(GetTransferCounts().Downloads, before.Downloads);
  download->SetScale(2.0);
  download->Update();
  EXPECT_EQ(GetTransferCounts().Uploads, before.Uploads);
  EXPECT_EQ(GetTransferCounts().Downloads, before.Downloads + 1);
  upload->GetOutput()->ReleaseDataFlagOn();
  image->Modified();
  download->Update();
  EXPECT_EQ(GetTransferCounts().Uploads, before.Uploads + 1);
  EXPECT_FALSE(upload->GetOutput()->IsAllocated());
  EXPECT_EQ(Configuration::GetDeviceBytesInUse(), 0u);
}

TEST_F(CudaDeviceTransferGpu, Results_outlive_filters_and_geometry_comes_along)
{
  const auto   image = MakeRandomImage<FloatImage>(GetRegion(33, 20, 9));
  const double spacing[] = { 0.5, 2.0, 3.0 };
  image->SetSpacing(spacing);
  DeviceFloats::Pointer uploaded;
  {
    const auto upload = itk::CudaUploadImageFilter<FloatImage>::New();
    upload->SetInput(image);
    upload->Update();
    uploaded = upload->GetOutput();
  }
  FloatImage::Pointer result;
  {
    const auto download = itk::CudaDownloadImageFilter<DeviceFloats>::New();
    download->SetInput(uploaded);
    download->Update();
    result = download->GetOutput();
  }
  uploaded = nullptr;
  EXPECT_EQ(Configuration::GetDeviceBytesInUse(), 0u);
  EXPECT_EQ(result->GetSpacing(), image->GetSpacing());
  EXPECT_TRUE(AreSame<FloatImage>(result, image, image->GetBufferedRegion()));
}

TEST_F(CudaDeviceTransferGpu, Output_lies_in_the_pool_of_host_memory)
{
  const auto   uploaded = itk::CudaUpload(MakeRandomImage<FloatImage>(GetRegion(128, 128, 64)), device);
  const size_t before = itk::CudaDetail::CudaHostMemoryPool::GetBytesInUse();
  const auto   result = itk::CudaDownload(uploaded);
  EXPECT_GE(itk::CudaDetail::CudaHostMemoryPool::GetBytesInUse(), before + size_t{ 128 } * 128 * 64 * 4);
}

TEST_F(CudaDeviceTransferGpu, Image_is_dropped_while_another_thread_reads_it)
{
  const auto          image = MakeRandomImage<FloatImage>(GetRegion(65, 50, 40));
  auto                uploaded = itk::CudaUpload(image, device);
  FloatImage::Pointer result;
  {
    HeldStream  held(GetThreadContext(device));
    std::thread reader([&result, copy = uploaded]() mutable {
      const DeviceGuard guard(device);
      const auto        download = itk::CudaDownloadImageFilter<DeviceFloats>::New();
      download->SetInput(copy);
      copy = nullptr;
      download->Update();
      result = download->GetOutput();
      result->DisconnectPipeline();
    });
    uploaded = nullptr;
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    held.LetGo();
    reader.join();
  }
  EXPECT_EQ(Configuration::GetDeviceBytesInUse(), 0u);
  EXPECT_TRUE(AreSame<FloatImage>(result, image, image->GetBufferedRegion()));
}

TEST_F(CudaDeviceTransferGpu, Image_is_dropped_while_its_own_work_is_queued)
{
  const auto image = MakeRandomImage<FloatImage>(GetRegion(65, 50, 40));
  for (unsigned int turn = 0; turn < 100; ++turn)
  {
    itk::CudaUpload(image, device);
  }
  EXPECT_EQ(Configuration::GetDeviceBytesInUse(), 0u);
  EXPECT_TRUE(
    AreSame<FloatImage>(itk::CudaDownload(itk::CudaUpload(image, device)), image, image->GetBufferedRegion()));
}

TEST_F(CudaDeviceTransferGpu, Threads_make_round_trips_of_their_own)
{
  RunInThreads(8, [](unsigned int index) -> std::string {
    for (unsigned int turn = 0; turn < 40; ++turn)
    {
      const auto image = MakeRandomImage<FloatImage>(GetRegion(20 + turn, 10 + index, 1 + turn % 7), index + turn);
      const auto result = itk::CudaDownload(itk::CudaUpload(image, device));
      if (!AreSame<FloatImage>(result, image, image->GetBufferedRegion()))
      {
        return "turn " + std::to_string(turn);
      }
    }
    return {};
  });
}

TEST_F(CudaDeviceTransferGpu, Threads_download_the_image_of_another)
{
  const auto image = MakeRandomImage<FloatImage>(GetRegion(100, 90, 40));
  const auto uploaded = itk::CudaUpload(image, device);
  RunInThreads(8, [&image, &uploaded](unsigned int) -> std::string {
    for (unsigned int turn = 0; turn < 10; ++turn)
    {
      const auto copy = DeviceFloats::New(); // an image of ITK belongs to one thread, its memory does not
      copy->Graft(uploaded);
      if (!AreSame<FloatImage>(itk::CudaDownload(copy), image, image->GetBufferedRegion()))
      {
        return "turn " + std::to_string(turn);
      }
    }
    return {};
  });
}

TEST_F(CudaDeviceTransferGpu, Progress_grows_to_one)
{
  const auto         image = MakeRandomImage<FloatImage>(GetRegion(256, 256, 32));
  const auto         upload = itk::CudaUploadImageFilter<FloatImage>::New();
  const auto         download = itk::CudaDownloadImageFilter<DeviceFloats>::New();
  std::vector<float> reports;
  const auto         watch = [&reports](itk::ProcessObject * filter) {
    filter->AddObserver(itk::ProgressEvent(),
                        [&reports, filter](const itk::EventObject &) { reports.push_back(filter->GetProgress()); });
  };
  watch(upload);
  upload->SetInput(image);
  upload->Update();
  ASSERT_FALSE(reports.empty());
  EXPECT_TRUE(std::is_sorted(reports.begin(), reports.end()));
  EXPECT_EQ(reports.back(), 1.0f);
  reports.clear();
  watch(download);
  download->SetInput(upload->GetOutput());
  download->Update();
  ASSERT_FALSE(reports.empty());
  EXPECT_TRUE(std::is_sorted(reports.begin(), reports.end()));
  EXPECT_EQ(reports.back(), 1.0f);
}

TEST_F(CudaDeviceTransferGpu, Abort_is_an_exception_and_the_next_run_is_right)
{
  const auto image = MakeRandomImage<FloatImage>(GetRegion(256, 256, 32));
  const auto upload = itk::CudaUploadImageFilter<FloatImage>::New();
  const auto download = itk::CudaDownloadImageFilter<DeviceFloats>::New();
  upload->SetInput(image);
  download->SetInput(upload->GetOutput());
  for (itk::ProcessObject * const filter : { static_cast<itk::ProcessObject *>(upload.GetPointer()),
                                             static_cast<itk::ProcessObject *>(download.GetPointer()) })
  {
    const auto tag =
      filter->AddObserver(itk::ProgressEvent(), [filter](const itk::EventObject &) { filter->AbortGenerateDataOn(); });
    filter->Modified();
    EXPECT_THROW(download->Update(), itk::ProcessAborted);
    filter->RemoveObserver(tag);
    filter->AbortGenerateDataOff();
    filter->Modified();
    download->Update();
    EXPECT_TRUE(AreSame<FloatImage>(download->GetOutput(), image, image->GetBufferedRegion()));
  }
}

TEST_F(CudaDeviceTransferGpu, Faults_give_back_all_memory_and_the_next_run_is_right)
{
  Configuration::SetDeviceMemoryResource(nullptr,
                                         nullptr); // the fault hook does not count calls of the program's functions
  const auto image = MakeRandomImage<itk::Image<unsigned char, 2>>({ { { 65, 33 } } });
  itk::cuda::test::WalkFaults<unsigned char>("bytes", [&image] {
    return GetComponents<itk::Image<unsigned char, 2>>(itk::CudaDownload(itk::CudaUpload(image, device)));
  });
  const auto colours = MakeRandomImage<itk::Image<itk::RGBPixel<unsigned char>, 2>>({ { { 65, 33 } } });
  itk::cuda::test::WalkFaults<unsigned char>("colours", [&colours] {
    return GetComponents<itk::Image<itk::RGBPixel<unsigned char>, 2>>(
      itk::CudaDownload(itk::CudaUpload(colours, device)));
  });
  itk::cuda::test::WalkFaults<float>("a mapping", [&image] {
    const auto mapping = itk::CudaPixelMappingImageFilter<Device<unsigned char, 2>, Device<float, 2>>::New();
    mapping->SetInput(itk::CudaUpload(image, device));
    SetMapping(*mapping, 6);
    mapping->Update();
    return GetComponents<itk::Image<float, 2>>(itk::CudaDownload(mapping->GetOutput()));
  });
}

TEST_F(CudaDeviceTransferGpu, Memory_that_runs_out_is_an_exception_and_the_next_run_is_right)
{
  const auto image = MakeRandomImage<FloatImage>(GetRegion(64, 20, 10));
  const auto upload = itk::CudaUploadImageFilter<FloatImage>::New();
  upload->SetInput(image);
  Configuration::SetDeviceMemoryLimit(1000);
  try
  {
    upload->Update();
    ADD_FAILURE() << "no exception";
  }
  catch (const CudaError & error)
  {
    EXPECT_EQ(error.GetKind(), CudaError::Kind::OutOfMemory);
  }
  Configuration::SetDeviceMemoryLimit(0);
  upload->Update();
  EXPECT_TRUE(AreSame<FloatImage>(itk::CudaDownload(upload->GetOutput()), image, image->GetBufferedRegion()));
}

TEST_F(CudaDeviceTransferGpu, Device_that_is_not_there_is_refused_by_its_index)
{
  const auto upload = itk::CudaUploadImageFilter<FloatImage>::New();
  upload->SetInput(MakeRandomImage<FloatImage>(GetRegion(4, 4, 4)));
  upload->SetDeviceIndex(4711);
  try
  {
    upload->Update();
    ADD_FAILURE() << "no exception";
  }
  catch (const CudaError & error)
  {
    EXPECT_EQ(error.GetKind(), CudaError::Kind::NotUsable);
    EXPECT_NE(std::string(error.GetDescription()).find("4711"), std::string::npos) << error;
  }
}

TEST_F(CudaDeviceTransferGpu, Image_without_pixels_goes_up_and_down)
{
  const auto image = MakeRandomImage<FloatImage>(GetRegion(0, 4, 4));
  EXPECT_EQ(itk::CudaDownload(itk::CudaUpload(image, device))->GetBufferedRegion().GetNumberOfPixels(), 0u);
  const auto mapping = itk::CudaPixelMappingImageFilter<DeviceFloats>::New();
  mapping->SetInput(itk::CudaUpload(image, device));
  mapping->Update();
  EXPECT_EQ(itk::CudaDownload(mapping->GetOutput())->GetBufferedRegion().GetNumberOfPixels(), 0u);
}

TEST_F(CudaDeviceTransferGpu, Pixels_of_an_adopted_pointer_come_down)
{
  const auto image = MakeRandomImage<FloatImage>(GetRegion(13, 7, 5));
  const auto values = GetComponents<FloatImage>(image);
  float *    data = nullptr;
  ITK_CUDA_CALL(cudaMalloc(&data, values.size() * sizeof(float)));
  ITK_CUDA_CALL(cudaMemcpy(data, values.data(), values.size() * sizeof(float), cudaMemcpyHostToDevice));
  ITK_CUDA_CALL(cudaDeviceSynchronize()); // the copy may still be running when the call returns
  const std::shared_ptr<void> owner(data, [](void * memory) { cudaFree(memory); });
  const auto                  adopted =
    itk::CudaDeviceImageFromPointer<DeviceFloats>(data, image->GetBufferedRegion(), image.GetPointer(), owner, device);
  EXPECT_TRUE(AreSame<FloatImage>(itk::CudaDownload(adopted), image, image->GetBufferedRegion()));
  const auto mapping = itk::CudaPixelMappingImageFilter<DeviceFloats>::New();
  mapping->SetInput(adopted);
  mapping->Update();
  EXPECT_TRUE(AreSame<FloatImage>(itk::CudaDownload(mapping->GetOutput()), image, image->GetBufferedRegion()));
}
