// SPDX-License-Identifier: Apache-2.0

// What ImageBase promises of a device image. The memory is host memory in disguise. Nothing here looks into it, and no
// GPU is needed. What device images say where there is none, or no such device.

#include "itkCudaDetailDeviceRun.h"
#include "itkCudaDeviceImage.h"
#include "itkCudaError.h"
#include "support/itkCudaExpectException.h"
#include "support/itkCudaFakeDeviceMemory.h"
#include "itkCudaFiltersConfiguration.h"
#include "itkCovariantVector.h"
#include "itkImage.h"
#include "itkImageToImageFilter.h"
#include "itkInPlaceImageFilter.h"
#include "itkRGBAPixel.h"
#include "itkRGBPixel.h"
#include "itkSymmetricSecondRankTensor.h"
#include "itkVector.h"
#include "itkVectorImage.h"

#include <gtest/gtest.h>

#include <complex>
#include <sstream>
#include <vector>

// ITK's classes of pipelines know these types only by what ImageBase promises.
using ImageType = itk::CudaDeviceImage<float, 3>;
template class itk::ImageSource<ImageType>;
template class itk::ImageToImageFilter<ImageType, ImageType>;
template class itk::ImageToImageFilter<itk::Image<short, 3>, ImageType>;
template class itk::ImageToImageFilter<ImageType, itk::Image<unsigned char, 3>>;
template class itk::InPlaceImageFilter<ImageType, ImageType>;

namespace
{
using namespace itk::cuda::test;
using itk::CudaComponentType;
using itk::CudaDeviceImageView;

ImageType::RegionType
MakeRegion(const ImageType::IndexType & index, const ImageType::SizeType & size)
{
  return ImageType::RegionType(index, size);
}

const ImageType::RegionType region = MakeRegion({ { -2, 3, 5 } }, { { 6, 5, 4 } });

/** An image with memory and a geometry of its own. */
ImageType::Pointer
MakeImage()
{
  const auto image = ImageType::New();
  image->SetRegions(region);
  image->SetLargestPossibleRegion(MakeRegion({ { -4, 0, 0 } }, { { 20, 20, 20 } }));
  const double spacing[] = { 0.5, 2.0, 3.0 };
  const double origin[] = { 7.0, 8.0, 9.0 };
  image->SetSpacing(spacing);
  image->SetOrigin(origin);
  ImageType::DirectionType direction;
  direction.Fill(0.0);
  direction[0][1] = direction[1][0] = direction[2][2] = 1.0;
  image->SetDirection(direction);
  image->SetDeviceView(MakeFakeView(image.GetPointer(), 8));
  return image;
}

void
ExpectSameGeometry(const itk::ImageBase<3> * image, const itk::ImageBase<3> * expected)
{
  EXPECT_EQ(image->GetLargestPossibleRegion(), expected->GetLargestPossibleRegion());
  EXPECT_EQ(image->GetSpacing(), expected->GetSpacing());
  EXPECT_EQ(image->GetOrigin(), expected->GetOrigin());
  EXPECT_EQ(image->GetDirection(), expected->GetDirection());
}

/** Gives the output memory of the requested region. */
class FakeSource : public itk::ImageSource<ImageType>
{
public:
  using Self = FakeSource;
  using Superclass = itk::ImageSource<ImageType>;
  using Pointer = itk::SmartPointer<Self>;
  itkNewMacro(Self);
  itkTypeMacro(FakeSource, ImageSource);

  int Runs{ 0 };

protected:
  void
  GenerateOutputInformation() override
  {
    this->GetOutput()->SetLargestPossibleRegion(region);
  }
  void
  GenerateData() override
  {
    ++Runs;
    this->GetOutput()->SetBufferedRegion(this->GetOutput()->GetRequestedRegion());
    this->GetOutput()->SetDeviceView(MakeFakeView(this->GetOutput(), 8));
  }
};

/** The description of the CudaError of kind NotUsable that is thrown; empty if there is none. */
std::string
GetRefusal(const std::function<void()> & function)
{
  try
  {
    function();
  }
  catch (const itk::CudaError & error)
  {
    EXPECT_EQ(error.GetKind(), itk::CudaError::Kind::NotUsable) << error.GetDescription();
    return error.GetDescription();
  }
  return {};
}

/** Skips where the first device can be used. */
class CudaDeviceImageRefusal : public testing::Test
{
protected:
  void
  SetUp() override
  {
    if (itk::CudaFiltersConfiguration::IsDeviceUsable(0, m_Reason))
    {
      GTEST_SKIP() << "there is a GPU";
    }
  }

  std::string m_Reason;
};
} // namespace

TEST(CudaDeviceImage, New_image_has_no_memory)
{
  const auto image = ImageType::New();
  EXPECT_FALSE(image->IsAllocated());
  EXPECT_EQ(image->GetDeviceIndex(), -1);
  EXPECT_EQ(image->GetDeviceView().GetPointer(), nullptr);
  EXPECT_NO_THROW(image->Synchronize());
}

template <typename TPixel>
unsigned int
GetNumberOfComponents()
{
  return itk::CudaDeviceImage<TPixel, 2>::New()->GetNumberOfComponentsPerPixel();
}

TEST(CudaDeviceImage, Components_are_those_of_the_pixel_type)
{
  EXPECT_EQ(GetNumberOfComponents<unsigned char>(), 1u);
  EXPECT_EQ((GetNumberOfComponents<itk::Vector<float, 3>>()), 3u);
  EXPECT_EQ((GetNumberOfComponents<itk::SymmetricSecondRankTensor<float, 3>>()), 6u);
  EXPECT_EQ(GetNumberOfComponents<itk::RGBAPixel<unsigned short>>(), 4u);
  EXPECT_EQ(GetNumberOfComponents<itk::VariableLengthVector<short>>(), 0u);
  EXPECT_EQ((itk::CudaDeviceImage<itk::Vector<double, 3>, 3>::DeviceComponentType), CudaComponentType::Double);
}

TEST(CudaDeviceImage, Length_of_vectors_is_set_and_copied_with_the_information)
{
  using VectorsType = itk::CudaDeviceImage<itk::VariableLengthVector<float>, 3>;
  const auto image = VectorsType::New();
  image->SetRegions(region);
  ExpectContains(GetException([&image] { image->Allocate(); }), "SetNumberOfComponentsPerPixel");
  image->SetNumberOfComponentsPerPixel(5);
  EXPECT_EQ(image->GetNumberOfComponentsPerPixel(), 5u);

  const auto host = itk::VectorImage<float, 3>::New();
  host->SetRegions(region);
  host->SetNumberOfComponentsPerPixel(7);
  image->CopyInformation(host);
  EXPECT_EQ(image->GetNumberOfComponentsPerPixel(), 7u);

  const auto scalars = ImageType::New();
  scalars->SetNumberOfComponentsPerPixel(7);
  EXPECT_EQ(scalars->GetNumberOfComponentsPerPixel(), 1u) << "as in itk::Image";
}

TEST(CudaDeviceImage, Information_is_copied_between_host_and_device)
{
  const auto image = MakeImage();
  const auto host = itk::Image<short, 3>::New();
  host->CopyInformation(image);
  ExpectSameGeometry(host, image);
  const auto other = ImageType::New();
  other->CopyInformation(host);
  ExpectSameGeometry(other, image);
  EXPECT_FALSE(other->IsAllocated());
}

TEST(CudaDeviceImage, Both_grafts_share_memory_and_copy_regions_and_geometry)
{
  const auto image = MakeImage();
  const auto first = ImageType::New();
  first->Graft(image);
  const itk::DataObject::Pointer second = ImageType::New().GetPointer();
  second->Graft(static_cast<const itk::DataObject *>(image.GetPointer()));
  for (const ImageType * const copy : { first.GetPointer(), static_cast<ImageType *>(second.GetPointer()) })
  {
    ExpectSameGeometry(copy, image);
    EXPECT_EQ(copy->GetBufferedRegion(), region);
    EXPECT_EQ(copy->GetRequestedRegion(), region);
    EXPECT_EQ(copy->GetDeviceView().Memory, image->GetDeviceView().Memory);
    EXPECT_EQ(copy->GetDeviceIndex(), 4711);
  }
  EXPECT_EQ(image->GetDeviceView().Memory.use_count(), 3);
  image->ReleaseData();
  EXPECT_TRUE(first->IsAllocated());
}

TEST(CudaDeviceImage, Nothing_else_can_be_grafted)
{
  const auto image = MakeImage();
  const auto memory = image->GetDeviceView().Memory;
  const auto host = itk::Image<float, 3>::New();
  const auto doubles = itk::CudaDeviceImage<double, 3>::New();
  ExpectContains(GetException([&] { image->Graft(host); }), "CudaUploadImageFilter");
  ExpectContains(GetException([&] { image->Graft(doubles); }), "cannot be grafted");
  const itk::DataObject::Pointer data = itk::CudaDeviceImage<float, 2>::New().GetPointer();
  itk::DataObject * const        self = image;
  ExpectContains(GetException([&] { self->Graft(data); }), "cannot be grafted");
  EXPECT_NO_THROW(self->Graft(nullptr));
  EXPECT_EQ(image->GetDeviceView().Memory, memory);
  EXPECT_EQ(image->GetBufferedRegion(), region);
}

TEST(CudaDeviceImage, Host_image_cannot_take_a_graft_of_its_pixels)
{
  const auto              host = itk::Image<float, 3>::New();
  itk::DataObject * const data = host;
  const auto              image = MakeImage();
  EXPECT_FALSE(GetException([&] { data->Graft(image); }).empty());
}

TEST(CudaDeviceImage, ReleaseData_and_Initialize_drop_the_memory)
{
  const auto image = MakeImage();
  const auto memory = image->GetDeviceView().Memory;
  image->ReleaseData();
  EXPECT_EQ(memory.use_count(), 1);
  EXPECT_TRUE(image->GetDataReleased());
  EXPECT_EQ(image->GetBufferedRegion().GetNumberOfPixels(), 0u);
  EXPECT_EQ(image->GetLargestPossibleRegion().GetSize(0), 20u) << "as in itk::Image";

  const auto other = MakeImage();
  const auto time = other->GetMTime();
  other->Initialize();
  EXPECT_FALSE(other->IsAllocated());
  EXPECT_EQ(other->GetMTime(), time) << "a release must not make pipelines run again";
}

TEST(CudaDeviceImage, View_of_a_region_starts_at_its_first_pixel)
{
  const auto                image = MakeImage();
  const CudaDeviceImageView view = image->GetDeviceView(MakeRegion({ { 0, 4, 7 } }, { { 3, 2, 1 } }));
  EXPECT_EQ(view.Offset, 2u + 1u * 8u + 2u * 8u * 5u);
  EXPECT_EQ(view.Size, (std::array<size_t, 5>{ { 3, 2, 1, 1, 1 } }));
  EXPECT_EQ(view.Stride, image->GetDeviceView().Stride);
  EXPECT_EQ(view.GetPointer(), static_cast<float *>(image->GetDeviceView().GetPointer()) + view.Offset);
  EXPECT_EQ(image->GetDeviceView(MakeRegion({ { 0, 4, 7 } }, { { 0, 2, 1 } })).GetNumberOfElements(), 0u);
}

TEST(CudaDeviceImage, View_of_pixels_that_are_not_there_is_refused)
{
  const auto image = MakeImage();
  ExpectContains(GetException([&] { image->GetDeviceView(image->GetLargestPossibleRegion(), "the input"); }),
                 "the input is outside of buffered region");
  image->SetBufferedRegion(MakeRegion({ { 0, 0, 0 } }, { { 7, 7, 7 } }));
  ExpectContains(GetException([&] { image->GetDeviceView(image->GetBufferedRegion()); }), "must be allocated");
  const auto empty = ImageType::New();
  empty->SetRegions(region);
  ExpectContains(GetException([&] { empty->GetDeviceView(region); }), "no device memory");
}

TEST(CudaDeviceImage, Views_that_do_not_fit_are_refused)
{
  const auto          image = MakeImage();
  CudaDeviceImageView view = image->GetDeviceView();
  view.ComponentType = CudaComponentType::Double;
  EXPECT_FALSE(GetException([&] { image->SetDeviceView(view); }).empty());
  view = image->GetDeviceView();
  view.Size[1] -= 1;
  EXPECT_FALSE(GetException([&] { image->SetDeviceView(view); }).empty());
  view = image->GetDeviceView();
  view.Stride[2] *= 2;
  ExpectContains(GetException([&] { image->SetDeviceView(view); }), "its memory holds");
  view = image->GetDeviceView();
  view.Offset = 3;
  ExpectContains(GetException([&] { image->SetDeviceView(view); }), "its memory holds 160");
  view = image->GetDeviceView();
  view.Memory.reset();
  ExpectContains(GetException([&] { image->SetDeviceView(view); }), "no memory");
}

TEST(CudaDeviceImage, Device_index_is_a_setting_and_then_the_memorys)
{
  const auto image = ImageType::New();
  image->SetDeviceIndex(2);
  EXPECT_EQ(image->GetDeviceIndex(), 2);
  ExpectContains(GetException([&image] { image->SetDeviceIndex(-2); }), "DeviceIndex is -2");
  EXPECT_EQ(MakeImage()->GetDeviceIndex(), 4711);
}

TEST(CudaDeviceImage, Synchronize_waits_for_the_memory)
{
  const auto image = MakeImage();
  image->Synchronize();
  EXPECT_EQ(static_cast<const FakeDeviceMemory &>(*image->GetDeviceView().Memory).Waits, 1);
}

TEST(CudaDeviceImage, Pipeline_runs_once_releases_and_runs_again)
{
  const auto source = FakeSource::New();
  source->Update();
  source->Update();
  EXPECT_EQ(source->Runs, 1);
  EXPECT_EQ(source->GetOutput()->GetBufferedRegion(), region);
  source->GetOutput()->ReleaseData();
  source->Update();
  EXPECT_EQ(source->Runs, 2);
  const auto part = MakeRegion({ { 0, 4, 5 } }, { { 2, 2, 2 } });
  source->GetOutput()->SetRequestedRegion(part);
  source->GetOutput()->Update();
  EXPECT_EQ(source->Runs, 2) << "what is requested is there";
  source->Modified();
  source->GetOutput()->Update();
  EXPECT_EQ(source->Runs, 3);
  EXPECT_EQ(source->GetOutput()->GetBufferedRegion(), part);
}

TEST(CudaDeviceImage, Disconnected_image_keeps_its_memory)
{
  const auto source = FakeSource::New();
  source->Update();
  const ImageType::Pointer image = source->GetOutput();
  const auto               memory = image->GetDeviceView().Memory;
  image->DisconnectPipeline();
  EXPECT_NE(source->GetOutput(), image);
  source->Update();
  EXPECT_EQ(source->Runs, 2);
  EXPECT_EQ(image->GetDeviceView().Memory, memory);
  EXPECT_NE(source->GetOutput()->GetDeviceView().Memory, memory);
}

TEST(CudaDeviceImage, Print_names_device_and_memory)
{
  std::ostringstream text;
  MakeImage()->Print(text);
  ExpectContains(text.str(), "NumberOfComponentsPerPixel: 1");
  ExpectContains(text.str(), "DeviceIndex: 4711");
  ExpectContains(text.str(), "DeviceBytes: 640");
}

TEST(CudaDeviceImage, Kind_of_image_is_known_from_its_type)
{
  class Derived : public ImageType
  {};
  EXPECT_TRUE(itk::CudaIsDeviceImage<ImageType>::value);
  EXPECT_TRUE(itk::CudaIsDeviceImage<Derived>::value);
  EXPECT_FALSE((itk::CudaIsDeviceImage<itk::Image<float, 3>>::value));
  EXPECT_FALSE((itk::CudaIsDeviceImage<itk::VectorImage<float, 3>>::value));
  EXPECT_TRUE((std::is_same_v<ImageType::RebindImageType<double>, itk::CudaDeviceImage<double, 3>>));
}

struct VectorOfItsOwn : public itk::Vector<float, 2>
{
  using ValueType = int;
};

struct NoArray
{
  short FixedArray;
};

template <typename TPixel>
using ComponentOf = typename itk::CudaDetail::CudaPixelTraits<TPixel>::ComponentType;

TEST(CudaDeviceImage, Components_of_a_pixel_are_those_of_the_array_that_it_derives_from)
{
  EXPECT_TRUE((std::is_same_v<ComponentOf<unsigned char>, unsigned char>));
  EXPECT_TRUE((std::is_same_v<ComponentOf<std::complex<float>>, std::complex<float>>));
  EXPECT_TRUE((std::is_same_v<ComponentOf<itk::FixedArray<short, 3>>, short>));
  EXPECT_TRUE((std::is_same_v<ComponentOf<itk::CovariantVector<double, 2>>, double>));
  EXPECT_TRUE((std::is_same_v<ComponentOf<itk::RGBPixel<unsigned short>>, unsigned short>));
  EXPECT_TRUE((std::is_same_v<ComponentOf<itk::RGBAPixel<int>>, int>));
  EXPECT_TRUE((std::is_same_v<ComponentOf<itk::SymmetricSecondRankTensor<float, 3>>, float>));
  EXPECT_TRUE((std::is_same_v<ComponentOf<VectorOfItsOwn>, float>));
  EXPECT_TRUE((std::is_same_v<ComponentOf<NoArray>, NoArray>));
}

TEST(CudaDeviceImageFromPointer, Mistakes_are_named_before_the_device_is_asked)
{
  float      value = 0;
  const auto geometry = MakeImage();
  ExpectContains(GetException([&] {
                   itk::CudaDeviceImageFromPointer<ImageType>(
                     &value, MakeRegion({ { 0, 0, 0 } }, { { 100, 1, 1 } }), geometry.GetPointer(), geometry);
                 }),
                 "largest possible region");
  using VectorsType = itk::CudaDeviceImage<itk::VariableLengthVector<float>, 3>;
  ExpectContains(GetException([&] { itk::CudaDeviceImageFromPointer<VectorsType>(&value, region, nullptr, geometry); }),
                 "numberOfComponents is 0");
  ExpectContains(
    GetException([&] { itk::CudaDeviceImageFromPointer<ImageType>(&value, region, nullptr, geometry, -1, 3); }),
    "numberOfComponents is 3");
}

TEST_F(CudaDeviceImageRefusal, Memory_is_refused_with_the_reason)
{
  ExpectContains(GetRefusal([] { itk::CudaDeviceImageMemory::Allocate(1000, 0); }), m_Reason);
  EXPECT_EQ(itk::CudaFiltersConfiguration::GetDeviceBytesInUse(), 0u);
}

TEST_F(CudaDeviceImageRefusal, Adoption_is_refused_and_releases_nothing)
{
  int  value = 0;
  bool released = false;
  ExpectContains(
    GetRefusal([&] { itk::CudaDeviceImageMemory::Adopt(&value, sizeof(value), 0, [&released] { released = true; }); }),
    m_Reason);
  EXPECT_FALSE(released) << "the memory is still the caller's";
}

TEST_F(CudaDeviceImageRefusal, Memory_of_a_caller_is_refused_with_the_reason)
{
  float value = 0;
  ExpectContains(GetRefusal([&] {
                   itk::CudaDetail::CudaQueueOnStream({}, { &value, itk::CudaComponentType::Float, 0, 1 }, &value);
                 }),
                 m_Reason);
}

TEST_F(CudaDeviceImageRefusal, Image_is_refused_with_the_reason_and_holds_nothing)
{
  const auto image = ImageType::New();
  image->SetRegions(region);
  image->SetDeviceIndex(0);
  ExpectContains(GetRefusal([&image] { image->Allocate(); }), m_Reason);
  EXPECT_FALSE(image->IsAllocated());
  EXPECT_EQ(image->GetBufferedRegion(), region) << "as in itk::Image";
}

TEST_F(CudaDeviceImageRefusal, Pointer_is_refused_with_the_reason_and_the_owner_let_go)
{
  using LineType = itk::CudaDeviceImage<float, 1>;
  float      pixels[8] = {};
  const auto owner = std::make_shared<int>(0);
  ExpectContains(GetRefusal([&] {
                   itk::CudaDeviceImageFromPointer<LineType>(
                     pixels, LineType::RegionType(LineType::SizeType{ { 8 } }), nullptr, owner, 0);
                 }),
                 m_Reason);
  EXPECT_EQ(owner.use_count(), 1);
}

TEST(CudaDeviceImageMemory, Device_that_is_not_there_is_refused_by_its_index)
{
  const std::string refusal = GetRefusal([] { itk::CudaDeviceImageMemory::Allocate(1000, 4711); });
  EXPECT_FALSE(refusal.empty());
  if (itk::CudaFiltersConfiguration::GetBuiltWithCuda() && !itk::CudaFiltersConfiguration::GetDevices().empty())
  {
    ExpectContains(refusal, "4711");
  }
  EXPECT_FALSE(GetRefusal([] { itk::CudaDeviceImageMemory::Allocate(1000, -1); }).empty());
}
