// SPDX-License-Identifier: Apache-2.0

// Tests uploads and downloads of device images and mappings of their pixels, with all types, regions and conversions,
// poisoned device memory, images that are released while work is queued, several threads, aborts and faults.

#include "runtime/image/Components.h"
#include "itkCudaDetailDeviceTransfer.h"
#include "itkCudaDetailHostMemoryPool.h"
#include "support/itkCudaDeviceFilterTest.h"
#include "itkCudaDownloadImageFilter.h"
#include "itkCudaError.h"
#include "support/itkCudaExpectException.h"
#include "support/itkCudaFaultWalk.h"
#include "support/itkCudaHeldStream.h"
#include "runtime/image/PixelMapping.h"
#include "itkCudaPixelMappingImageFilter.h"
#include "runtime/transfer/TransferPolicy.h"
#include "itkCudaUploadImageFilter.h"
#include "itkCovariantVector.h"
#include "itkImage.h"
#include "itkImageRegionConstIteratorWithIndex.h"
#include "itkRGBPixel.h"
#include "itkStreamingImageFilter.h"
#include "itkVectorImage.h"

#include <cmath>
#include <limits>
#include <memory>
#include <thread>

namespace
{
using namespace itk;
using namespace itk::CudaDetail;
using namespace itk::cuda;
using namespace itk::cuda::test;

template <typename T, unsigned int VDimension>
using Device = CudaDeviceImage<T, VDimension>;

/** Returns all components of a host image that is buffered as a whole. */
template <typename TImage>
using ComponentOf = typename CudaImageTraits<TImage>::ComponentType;

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
  if (CudaImageTraits<TImage>::IsVectorImage)
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
  const auto length = CudaImageTraits<TImage>::IsVectorImage ? components : pixel->GetNumberOfComponentsPerPixel();
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
  for (ImageRegionConstIteratorWithIndex<TImage> it(a, region); !it.IsAtEnd(); ++it)
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
  filter.SetInsideValue(static_cast<OutputType>(7));
  filter.SetOutsideValue(static_cast<OutputType>(5));
  filter.SetAlpha(-17.0);
  filter.SetBeta(40.0);
}

/** Returns the conversion that a filter of SetMapping() must make. */
CudaPixelConversion
MakeConversion(unsigned int number)
{
  constexpr CudaPixelMapping mappings[] = { CudaPixelMapping::None,       CudaPixelMapping::None,
                                            CudaPixelMapping::ShiftScale, CudaPixelMapping::ShiftScale,
                                            CudaPixelMapping::Window,     CudaPixelMapping::Threshold,
                                            CudaPixelMapping::Sigmoid };
  CudaPixelConversion        conversion;
  conversion.Mapping = mappings[number];
  conversion.Rounding = number % 2 == 0 ? CudaRounding::Truncate : CudaRounding::Nearest;
  conversion.Shift = number >= 2 ? 3.25 : 0.0;
  conversion.Scale = number >= 2 ? 0.375 : 1.0;
  conversion.Lower = number == 5 ? 20.0 : 10.0;
  conversion.Upper = number == 5 ? 90.0 : 100.0;
  conversion.OutputMinimum = 3.0;
  conversion.OutputMaximum = 120.0;
  conversion.InsideValue = 7.0;
  conversion.OutsideValue = 5.0;
  conversion.Alpha = -17.0;
  conversion.Beta = 40.0;
  return conversion;
}

/** Uploads an image to device memory of a type. */
template <typename T>
CudaDeviceImageView
UploadAs(const HostImage<T> & image, CudaComponentType type)
{
  const auto view = CudaAllocateDeviceImage(GetPlanarSize(image.View), type, device, false);
  CudaQueueUpload(image.View, view, nullptr)();
  return view;
}

/** Verifies downloads of TFrom as TTo with each mapping against the function on the host, which
 * itkCudaPixelMappingGTest compares with ITK's filters; and uploads of TFrom to device memory of TTo. */
template <typename TFrom, typename TTo>
void
CheckConversion(const HostImage<TFrom> & input)
{
  // The type that the kernels compute in.
  constexpr auto isDouble = [](auto zero) {
    return sizeof(zero) == 8 || (sizeof(zero) == 4 && std::is_integral_v<decltype(zero)>);
  };
  using RealType = std::conditional_t<isDouble(TFrom{}) || isDouble(TTo{}), double, float>;
  const std::string what = "type " + std::to_string(static_cast<int>(GetComponentType<TFrom>())) + " to " +
                           std::to_string(static_cast<int>(GetComponentType<TTo>()));
  HostImage<TTo>   found(input.View.Size, 1);
  std::vector<TTo> expected(found.Pixels.size());
  const auto       view = UploadAs(input, GetComponentType<TFrom>());
  for (unsigned int number = 0; number < numberOfMappings; ++number)
  {
    for (const double alpha : { -17.0, 0.001, 500.0, -1e7 })
    {
      CudaPixelConversion conversion = MakeConversion(number);
      conversion.Alpha = alpha;
      const auto mapping = MakePixelMapping<RealType>(conversion, std::is_integral_v<TTo>);
      std::transform(input.Pixels.begin(), input.Pixels.end(), expected.begin(), [&mapping](TFrom value) {
        return MapPixel<TTo>(value, mapping);
      });
      CudaDownloadFromDevice(view, found.View, conversion, nullptr);
      ExpectSamePixels(found.Pixels, expected, what + " down, mapping " + std::to_string(number));
      if (conversion.Mapping != CudaPixelMapping::Sigmoid)
      {
        break; // the others have no alpha
      }
    }
  }
  std::transform(input.Pixels.begin(), input.Pixels.end(), expected.begin(), [](TFrom value) {
    return ConvertComponent<TTo>(static_cast<RealType>(value));
  });
  CudaDownloadFromDevice(UploadAs(input, GetComponentType<TTo>()), found.View, {}, nullptr);
  ExpectSamePixels(found.Pixels, expected, what + " up");
}

template <typename TFrom>
void
CheckConversions()
{
  std::vector<TFrom> values(777);
  FillRandomly(values);
  for (const double value : { 0.0,   -0.0,  0.5,   1.5,   2.5,   -0.5,   -1.5,    40.0,    41.0, 127.0,
                              128.0, 254.9, 255.0, 256.0, 700.0, -700.0, 32767.5, 65535.0, 1e30, -1e30 })
  {
    values.push_back(ConvertComponent<TFrom>(value));
  }
  if constexpr (std::is_floating_point_v<TFrom>)
  {
    const TFrom infinity = std::numeric_limits<TFrom>::infinity();
    values.insert(values.end(), { infinity, -infinity });
  }
  HostImage<TFrom> input({ values.size(), 1, 1, 1 }, 1);
  std::copy(values.begin(), values.end(), input.Pixels.begin());
  CheckConversion<TFrom, unsigned char>(input);
  CheckConversion<TFrom, signed char>(input);
  CheckConversion<TFrom, unsigned short>(input);
  CheckConversion<TFrom, short>(input);
  CheckConversion<TFrom, unsigned int>(input);
  CheckConversion<TFrom, int>(input);
  CheckConversion<TFrom, float>(input);
  CheckConversion<TFrom, double>(input);
}

/** Fixture that skips without a GPU and poisons all device memory. */
class CudaDeviceTransferGpu : public DeviceFilterTest
{
protected:
  /** Returns a region with up to `limit` pixels along each axis. */
  template <unsigned int VDimension>
  ImageRegion<VDimension>
  RandomRegion(size_t limit)
  {
    ImageRegion<VDimension> region;
    for (unsigned int d = 0; d < VDimension; ++d)
    {
      region.SetIndex(d, static_cast<IndexValueType>(this->Random(0, 9)) - 5);
      region.SetSize(d, this->Random(1, limit));
    }
    return region;
  }

  template <unsigned int VDimension>
  ImageRegion<VDimension>
  RandomPart(const ImageRegion<VDimension> & whole)
  {
    ImageRegion<VDimension> part;
    for (unsigned int d = 0; d < VDimension; ++d)
    {
      const size_t size = this->Random(1, whole.GetSize(d));
      part.SetSize(d, size);
      part.SetIndex(d, whole.GetIndex(d) + static_cast<IndexValueType>(this->Random(0, whole.GetSize(d) - size)));
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
      const auto        uploaded = CudaUpload(image, device);
      EXPECT_EQ(uploaded->GetBufferedRegion(), whole);
      EXPECT_EQ(uploaded->GetDeviceIndex(), device);
      EXPECT_TRUE(AreSame<TImage>(CudaDownload(uploaded), image, whole)) << where;

      using DeviceType = typename decltype(uploaded)::ObjectType;
      const auto download = CudaDownloadImageFilter<DeviceType, TImage>::New();
      download->SetInput(uploaded);
      download->GetOutput()->SetRequestedRegion(part);
      download->Update();
      EXPECT_EQ(download->GetOutput()->GetBufferedRegion(), part);
      EXPECT_TRUE(AreSame<TImage>(download->GetOutput(), image, part)) << where << ", a part of " << whole << part;

      const auto upload = CudaUploadImageFilter<TImage, DeviceType>::New();
      upload->SetInput(image);
      download->SetInput(upload->GetOutput());
      download->GetOutput()->SetRequestedRegion(part);
      download->Update();
      EXPECT_EQ(upload->GetOutput()->GetBufferedRegion(), part);
      EXPECT_TRUE(AreSame<TImage>(download->GetOutput(), image, part)) << where << ", a part up of " << whole << part;
    }
  }

  /** Maps a random part of an image from device to device and verifies that the bits equal a download with the same
   * parameters. */
  template <typename TFromImage, typename TToImage>
  void
  CheckMappingOnDevice(size_t limit, unsigned int components = 1)
  {
    using FromType = typename CudaUploadImageFilter<TFromImage>::OutputImageType;
    using ToType = typename CudaUploadImageFilter<TToImage>::OutputImageType;
    for (unsigned int number = 0; number < numberOfMappings; ++number)
    {
      const auto whole = this->RandomRegion<TFromImage::ImageDimension>(limit);
      const auto part = this->RandomPart(whole);
      const auto image = MakeRandomImage<TFromImage>(whole, number, components);
      const auto uploaded = CudaUpload(image, device);
      const auto run = [&](auto & filter) {
        filter.SetInput(uploaded);
        SetMapping(filter, number);
        filter.GetOutput()->SetRequestedRegion(part);
        filter.Update();
      };
      const auto mapping = CudaPixelMappingImageFilter<FromType, ToType>::New();
      const auto download = CudaDownloadImageFilter<FromType, TToImage>::New();
      run(*mapping);
      run(*download);
      EXPECT_EQ(mapping->GetOutput()->GetBufferedRegion(), part);
      EXPECT_EQ(mapping->GetOutput()->GetDeviceIndex(), device);
      const auto copy = ToType::New(); // CudaDownload() requests the whole image
      copy->Graft(mapping->GetOutput());
      copy->SetLargestPossibleRegion(part);
      const auto found = CudaDownload<TToImage>(copy);
      EXPECT_TRUE(AreSame<TToImage>(found, download->GetOutput(), part)) << "mapping " << number << " of " << whole;
      EXPECT_TRUE(AreSame<TFromImage>(CudaDownload<TFromImage>(uploaded), image, whole)) << "the input is kept";
    }
  }
};

using FloatImage = Image<float, 3>;
using DeviceFloats = Device<float, 3>;

FloatImage::RegionType
GetRegion(SizeValueType x, SizeValueType y, SizeValueType z)
{
  return FloatImage::RegionType(FloatImage::SizeType{ { x, y, z } });
}
} // namespace

TEST_F(CudaDeviceTransferGpu, Scalars_of_every_type_come_back_with_every_bit)
{
  this->CheckRoundTrips<Image<unsigned char, 3>>(40);
  this->CheckRoundTrips<Image<signed char, 2>>(90);
  this->CheckRoundTrips<Image<unsigned short, 4>>(12);
  this->CheckRoundTrips<Image<short, 3>>(40);
  this->CheckRoundTrips<Image<unsigned int, 2>>(90);
  this->CheckRoundTrips<Image<int, 3>>(40);
  this->CheckRoundTrips<Image<float, 1>>(3000);
  this->CheckRoundTrips<Image<double, 3>>(40);
}

TEST_F(CudaDeviceTransferGpu, Pixels_of_several_components_come_back_with_every_bit)
{
  this->CheckRoundTrips<Image<CovariantVector<double, 2>, 2>>(60);
  this->CheckRoundTrips<Image<RGBPixel<unsigned char>, 2>>(60);
  this->CheckRoundTrips<VectorImage<short, 3>>(25, 5);
  this->CheckRoundTrips<VectorImage<float, 2>>(60, 2);
}

TEST_F(CudaDeviceTransferGpu, Conversions_and_mappings_have_the_bits_of_the_host)
{
  CheckConversions<unsigned char>();
  CheckConversions<signed char>();
  CheckConversions<unsigned short>();
  CheckConversions<short>();
  CheckConversions<unsigned int>();
  CheckConversions<int>();
  CheckConversions<float>();
  CheckConversions<double>();
}

TEST_F(CudaDeviceTransferGpu, Filters_hand_on_the_parameters_of_their_mappings)
{
  HostImage<float> values({ 5000, 1, 1, 1 }, 1);
  HostImage<short> expected({ 5000, 1, 1, 1 }, 1);
  FillRandomly(values.Pixels);
  std::transform(
    values.Pixels.begin(), values.Pixels.end(), values.Pixels.begin(), [](float value) { return value * 0.05f; });
  ImageRegion<1> region;
  region.SetSize(0, values.Pixels.size());
  const auto view = UploadAs(values, CudaComponentType::Float);
  const auto uploaded = CudaUpload(MakeImage<Image<float, 1>>(region, values.Pixels), device);
  for (unsigned int number = 0; number < numberOfMappings; ++number)
  {
    CudaDownloadFromDevice(view, expected.View, MakeConversion(number), nullptr);
    const auto download = CudaDownloadImageFilter<Device<float, 1>, Image<short, 1>>::New();
    download->SetInput(uploaded);
    SetMapping(*download, number);
    download->Update();
    EXPECT_EQ((GetComponents<Image<short, 1>>(download->GetOutput())), expected.Pixels) << "mapping " << number;
  }
}

TEST_F(CudaDeviceTransferGpu, Sigmoid_of_NaN_is_NaN_in_reals_and_0_in_integers)
{
  using InputType = Image<float, 1>;
  InputType::RegionType region;
  region.SetSize(0, 3);
  const auto uploaded =
    CudaUpload(MakeImage<InputType>(region, { std::numeric_limits<float>::quiet_NaN(), 40.0f, -1e9f }), device);
  const auto reals = CudaDownloadImageFilter<Device<float, 1>>::New();
  const auto shorts = CudaDownloadImageFilter<Device<float, 1>, Image<short, 1>>::New();
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
  SetMapping(*shorts, 1); // to the nearest integer
  shorts->Update();
  EXPECT_EQ(shorts->GetOutput()->GetPixel({ { 0 } }), 0);
}

TEST_F(CudaDeviceTransferGpu, Mappings_from_device_to_device_are_those_of_downloads)
{
  this->CheckMappingOnDevice<Image<float, 3>, Image<unsigned char, 3>>(30);
  this->CheckMappingOnDevice<Image<double, 1>, Image<short, 1>>(3000);
  this->CheckMappingOnDevice<Image<unsigned char, 4>, Image<float, 4>>(10);
  this->CheckMappingOnDevice<Image<short, 3>, Image<short, 3>>(30);
  this->CheckMappingOnDevice<Image<Vector<float, 3>, 2>, Image<Vector<unsigned char, 3>, 2>>(50);
  this->CheckMappingOnDevice<VectorImage<short, 3>, VectorImage<float, 3>>(20, 5);
}

TEST_F(CudaDeviceTransferGpu, Mapping_without_parameters_keeps_every_bit)
{
  const float              nan = std::numeric_limits<float>::quiet_NaN();
  const std::vector<float> values{
    -0.0f, 0.0f, 1e-42f, -1e-45f, 3.4e38f, nan, -std::numeric_limits<float>::infinity()
  };
  ImageRegion<1> region;
  region.SetSize(0, values.size());
  const auto image = MakeImage<Image<float, 1>>(region, values);
  const auto mapping = CudaPixelMappingImageFilter<Device<float, 1>>::New();
  mapping->SetInput(CudaUpload(image, device));
  mapping->Update();
  EXPECT_TRUE((AreSame<Image<float, 1>>(CudaDownload(mapping->GetOutput()), image, region)));
}

TEST_F(CudaDeviceTransferGpu, Mapping_queues_its_work_and_returns)
{
  const auto image = MakeRandomImage<FloatImage>(GetRegion(65, 50, 40));
  const auto uploaded = CudaUpload(image, device);
  const auto mapping = CudaPixelMappingImageFilter<DeviceFloats>::New();
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
  const auto found = GetComponents<FloatImage>(CudaDownload(mapping->GetOutput()));
  const auto values = GetComponents<FloatImage>(image);
  for (size_t i = 0; i < values.size(); ++i)
  {
    ASSERT_EQ(found[i], values[i] * 2.0f) << i;
  }
}

TEST_F(CudaDeviceTransferGpu, Mapping_runs_again_when_a_parameter_changes_and_streams)
{
  const auto image = MakeRandomImage<FloatImage>(GetRegion(40, 30, 20));
  const auto upload = CudaUploadImageFilter<FloatImage>::New();
  const auto mapping = CudaPixelMappingImageFilter<DeviceFloats>::New();
  const auto download = CudaDownloadImageFilter<DeviceFloats>::New();
  const auto stream = StreamingImageFilter<FloatImage, FloatImage>::New();
  upload->SetInput(image);
  mapping->SetInput(upload->GetOutput());
  download->SetInput(mapping->GetOutput());
  stream->SetInput(download->GetOutput());
  stream->SetNumberOfStreamDivisions(4);
  const auto before = GetTransferCounts();
  stream->Update();
  EXPECT_EQ(GetTransferCounts().Uploads - before.Uploads, 4u);
  EXPECT_EQ(GetTransferCounts().Downloads - before.Downloads, 4u);
  EXPECT_EQ(mapping->GetOutput()->GetBufferedRegion().GetSize(2), 5u) << "a quarter at a time";
  EXPECT_TRUE(AreSame<FloatImage>(stream->GetOutput(), image, image->GetBufferedRegion()));
  for (const double alpha : { 100.0, -300.0 })
  {
    SetMapping(*mapping, 6);
    mapping->SetAlpha(alpha);
    stream->Update();
    const auto direct = CudaDownloadImageFilter<DeviceFloats>::New();
    direct->SetInput(CudaUpload(image, device));
    SetMapping(*direct, 6);
    direct->SetAlpha(alpha);
    direct->Update();
    EXPECT_TRUE(AreSame<FloatImage>(stream->GetOutput(), direct->GetOutput(), image->GetBufferedRegion())) << alpha;
  }
}

TEST_F(CudaDeviceTransferGpu, Only_what_changed_runs_again)
{
  const auto image = MakeRandomImage<FloatImage>(GetRegion(33, 20, 9));
  const auto upload = CudaUploadImageFilter<FloatImage>::New();
  const auto download = CudaDownloadImageFilter<DeviceFloats>::New();
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
    const auto upload = CudaUploadImageFilter<FloatImage>::New();
    upload->SetInput(image);
    upload->Update();
    uploaded = upload->GetOutput();
  }
  FloatImage::Pointer result;
  {
    const auto download = CudaDownloadImageFilter<DeviceFloats>::New();
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
  const auto   uploaded = CudaUpload(MakeRandomImage<FloatImage>(GetRegion(128, 128, 64)), device);
  const size_t before = CudaHostMemoryPool::GetBytesInUse();
  const auto   result = CudaDownload(uploaded);
  EXPECT_GE(CudaHostMemoryPool::GetBytesInUse(), before + size_t{ 128 } * 128 * 64 * 4);
}

TEST_F(CudaDeviceTransferGpu, Image_is_dropped_while_another_thread_reads_it)
{
  const auto          image = MakeRandomImage<FloatImage>(GetRegion(65, 50, 40));
  auto                uploaded = CudaUpload(image, device);
  FloatImage::Pointer result;
  {
    HeldStream  held(GetThreadContext(device));
    std::thread reader([&result, copy = uploaded]() mutable {
      const DeviceGuard guard(device);
      const auto        download = CudaDownloadImageFilter<DeviceFloats>::New();
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
    CudaUpload(image, device);
  }
  EXPECT_EQ(Configuration::GetDeviceBytesInUse(), 0u);
  EXPECT_TRUE(AreSame<FloatImage>(CudaDownload(CudaUpload(image, device)), image, image->GetBufferedRegion()));
}

TEST_F(CudaDeviceTransferGpu, Threads_download_and_map_the_image_of_another)
{
  const auto image = MakeRandomImage<FloatImage>(GetRegion(100, 90, 40));
  const auto uploaded = CudaUpload(image, device);
  RunInThreads(8, [&image, &uploaded](unsigned int index) -> std::string {
    for (unsigned int turn = 0; turn < 10; ++turn)
    {
      const auto copy = DeviceFloats::New(); // an image of ITK belongs to one thread, its memory does not
      copy->Graft(uploaded);
      const auto mapping = CudaPixelMappingImageFilter<DeviceFloats>::New(); // changes no pixel
      mapping->SetInput(copy);
      mapping->Update();
      const DeviceFloats * const source = index % 2 == 0 ? copy.GetPointer() : mapping->GetOutput();
      if (!AreSame<FloatImage>(CudaDownload(source), image, image->GetBufferedRegion()))
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
  const auto         upload = CudaUploadImageFilter<FloatImage>::New();
  const auto         download = CudaDownloadImageFilter<DeviceFloats>::New();
  std::vector<float> reports;
  const auto         watch = [&reports](ProcessObject * filter) {
    filter->AddObserver(ProgressEvent(),
                        [&reports, filter](const EventObject &) { reports.push_back(filter->GetProgress()); });
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
  const auto upload = CudaUploadImageFilter<FloatImage>::New();
  const auto download = CudaDownloadImageFilter<DeviceFloats>::New();
  upload->SetInput(image);
  download->SetInput(upload->GetOutput());
  for (ProcessObject * const filter :
       { static_cast<ProcessObject *>(upload.GetPointer()), static_cast<ProcessObject *>(download.GetPointer()) })
  {
    const auto tag =
      filter->AddObserver(ProgressEvent(), [filter](const EventObject &) { filter->AbortGenerateDataOn(); });
    filter->Modified();
    EXPECT_THROW(download->Update(), ProcessAborted);
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
  const auto image = MakeRandomImage<Image<unsigned char, 2>>({ { { 65, 33 } } });
  WalkFaults<unsigned char>(
    "bytes", [&image] { return GetComponents<Image<unsigned char, 2>>(CudaDownload(CudaUpload(image, device))); });
  const auto colours = MakeRandomImage<Image<RGBPixel<unsigned char>, 2>>({ { { 65, 33 } } });
  WalkFaults<unsigned char>("colours", [&colours] {
    return GetComponents<Image<RGBPixel<unsigned char>, 2>>(CudaDownload(CudaUpload(colours, device)));
  });
  WalkFaults<float>("a mapping", [&image] {
    const auto mapping = CudaPixelMappingImageFilter<Device<unsigned char, 2>, Device<float, 2>>::New();
    mapping->SetInput(CudaUpload(image, device));
    SetMapping(*mapping, 6);
    mapping->Update();
    return GetComponents<Image<float, 2>>(CudaDownload(mapping->GetOutput()));
  });
}

TEST_F(CudaDeviceTransferGpu, Memory_that_runs_out_is_an_exception_and_the_next_run_is_right)
{
  const auto image = MakeRandomImage<FloatImage>(GetRegion(64, 20, 10));
  const auto upload = CudaUploadImageFilter<FloatImage>::New();
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
  EXPECT_TRUE(AreSame<FloatImage>(CudaDownload(upload->GetOutput()), image, image->GetBufferedRegion()));
}

TEST_F(CudaDeviceTransferGpu, Image_without_pixels_goes_up_and_down)
{
  const auto image = MakeRandomImage<FloatImage>(GetRegion(0, 4, 4));
  EXPECT_EQ(CudaDownload(CudaUpload(image, device))->GetBufferedRegion().GetNumberOfPixels(), 0u);
  const auto mapping = CudaPixelMappingImageFilter<DeviceFloats>::New();
  mapping->SetInput(CudaUpload(image, device));
  mapping->Update();
  EXPECT_EQ(CudaDownload(mapping->GetOutput())->GetBufferedRegion().GetNumberOfPixels(), 0u);
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
    CudaDeviceImageFromPointer<DeviceFloats>(data, image->GetBufferedRegion(), image.GetPointer(), owner, device);
  EXPECT_TRUE(AreSame<FloatImage>(CudaDownload(adopted), image, image->GetBufferedRegion()));
  const auto mapping = CudaPixelMappingImageFilter<DeviceFloats>::New();
  mapping->SetInput(adopted);
  mapping->Update();
  EXPECT_TRUE(AreSame<FloatImage>(CudaDownload(mapping->GetOutput()), image, image->GetBufferedRegion()));
}
