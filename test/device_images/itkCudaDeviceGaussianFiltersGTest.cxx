// SPDX-License-Identifier: Apache-2.0

// Recursive Gaussian filters of device images, as far as that goes without a GPU: types, parameters and their defaults,
// regions, refusals in words.

#include "itkCudaError.h"
#include "support/itkCudaExpectException.h"
#include "support/itkCudaFakeDeviceMemory.h"
#include "itkCudaGradientMagnitudeRecursiveGaussianImageFilter.h"
#include "itkCudaGradientRecursiveGaussianImageFilter.h"
#include "itkCudaHessianRecursiveGaussianImageFilter.h"
#include "itkCudaLaplacianRecursiveGaussianImageFilter.h"
#include "itkCudaRecursiveGaussianImageFilter.h"
#include "itkCudaSmoothingRecursiveGaussianImageFilter.h"
#include "itkImage.h"

#include <gtest/gtest.h>

#include <sstream>
#include <string>
#include <type_traits>

namespace
{
using itk::cuda::test::ExpectContains;
using itk::cuda::test::GetException;
using HostType = itk::Image<float, 3>;
using DeviceType = itk::CudaDeviceImage<float, 3>;
using SmoothingType = itk::CudaSmoothingRecursiveGaussianImageFilter<DeviceType>;

/** On device 4711. */
DeviceType::Pointer
MakeImage(itk::SizeValueType size = 8)
{
  const auto image = DeviceType::New();
  image->SetRegions(DeviceType::SizeType{ { size, 8, 8 } });
  image->SetDeviceView(itk::cuda::test::MakeFakeView(image.GetPointer(), 8));
  return image;
}

template <typename THostFilter, typename TDeviceFilter>
void
ExpectSameDefaults()
{
  const auto host = THostFilter::New();
  const auto device = TDeviceFilter::New();
  EXPECT_EQ(device->GetSigma(), host->GetSigma());
  EXPECT_EQ(device->GetNormalizeAcrossScale(), host->GetNormalizeAcrossScale());
  EXPECT_EQ(device->GetBackend(), host->GetBackend());
  EXPECT_EQ(device->GetDeviceIndex(), host->GetDeviceIndex());
  EXPECT_EQ(device->GetApproximation(), host->GetApproximation());
  EXPECT_STREQ(device->GetNameOfClass(), host->GetNameOfClass());
}

template <template <typename, typename> class TFilter, typename THostOutput, typename TDeviceOutput>
void
ExpectSameDefaultsOf()
{
  ExpectSameDefaults<TFilter<HostType, THostOutput>, TFilter<DeviceType, TDeviceOutput>>();
}

template <template <typename, typename> class TFilter, template <typename, typename> class TItkFilter>
void
ExpectSameInPlace()
{
  const auto device = TFilter<DeviceType, DeviceType>::New();
  const auto itks = TItkFilter<HostType, HostType>::New();
  EXPECT_EQ(device->GetInPlace(), itks->GetInPlace()) << device->GetNameOfClass();
  EXPECT_EQ((TFilter<HostType, HostType>::New()->GetInPlace()), itks->GetInPlace()) << device->GetNameOfClass();
  EXPECT_EQ(device->CanRunInPlace(), itks->CanRunInPlace()) << device->GetNameOfClass();
}
} // namespace

TEST(CudaDeviceGaussian, Default_output_is_where_the_input_is)
{
  EXPECT_TRUE((std::is_same_v<SmoothingType::OutputImageType, DeviceType>));
  using Vectors = itk::CudaDeviceImage<itk::CovariantVector<double, 3>, 3>;
  EXPECT_TRUE((std::is_same_v<itk::CudaGradientRecursiveGaussianImageFilter<DeviceType>::OutputImageType, Vectors>));
  using Tensors = itk::CudaDeviceImage<itk::SymmetricSecondRankTensor<double, 3>, 3>;
  EXPECT_TRUE((std::is_same_v<itk::CudaHessianRecursiveGaussianImageFilter<DeviceType>::OutputImageType, Tensors>));
  using HostSmoothing = itk::CudaSmoothingRecursiveGaussianImageFilter<HostType>;
  EXPECT_TRUE((std::is_same_v<HostSmoothing::OutputImageType, HostType>));
  EXPECT_TRUE((std::is_base_of_v<itk::SmoothingRecursiveGaussianImageFilter<HostType, HostType>, HostSmoothing>));
  using HostVectors = itk::Image<itk::CovariantVector<double, 3>, 3>;
  EXPECT_TRUE((std::is_same_v<itk::CudaGradientRecursiveGaussianImageFilter<HostType>::OutputImageType, HostVectors>));
}

TEST(CudaDeviceGaussian, Defaults_are_those_of_host_images)
{
  ExpectSameDefaultsOf<itk::CudaSmoothingRecursiveGaussianImageFilter, HostType, DeviceType>();
  ExpectSameDefaultsOf<itk::CudaRecursiveGaussianImageFilter, HostType, DeviceType>();
  ExpectSameDefaultsOf<itk::CudaGradientMagnitudeRecursiveGaussianImageFilter, HostType, DeviceType>();
  ExpectSameDefaultsOf<itk::CudaLaplacianRecursiveGaussianImageFilter, HostType, DeviceType>();
  using Tensors = itk::SymmetricSecondRankTensor<float, 3>;
  ExpectSameDefaultsOf<itk::CudaHessianRecursiveGaussianImageFilter,
                       itk::Image<Tensors, 3>,
                       itk::CudaDeviceImage<Tensors, 3>>();
  using Vectors = itk::CovariantVector<float, 3>;
  ExpectSameDefaultsOf<itk::CudaGradientRecursiveGaussianImageFilter,
                       itk::Image<Vectors, 3>,
                       itk::CudaDeviceImage<Vectors, 3>>();
  EXPECT_EQ(itk::CudaRecursiveGaussianImageFilter<DeviceType>::New()->GetDirection(),
            itk::CudaRecursiveGaussianImageFilter<HostType>::New()->GetDirection());
  EXPECT_EQ(itk::CudaRecursiveGaussianImageFilter<DeviceType>::New()->GetOrder(),
            itk::CudaRecursiveGaussianImageFilter<HostType>::New()->GetOrder());
  EXPECT_EQ(itk::CudaGradientRecursiveGaussianImageFilter<DeviceType>::New()->GetUseImageDirection(),
            itk::CudaGradientRecursiveGaussianImageFilter<HostType>::New()->GetUseImageDirection());
  ExpectSameInPlace<itk::CudaSmoothingRecursiveGaussianImageFilter, itk::SmoothingRecursiveGaussianImageFilter>();
  ExpectSameInPlace<itk::CudaRecursiveGaussianImageFilter, itk::RecursiveGaussianImageFilter>();
  ExpectSameInPlace<itk::CudaGradientMagnitudeRecursiveGaussianImageFilter,
                    itk::GradientMagnitudeRecursiveGaussianImageFilter>();
}

TEST(CudaDeviceGaussian, Parameters_are_set_and_modify_the_filter)
{
  const auto filter = SmoothingType::New();
  auto       time = filter->GetMTime();
  filter->SetSigma(2.5);
  EXPECT_EQ(filter->GetSigma(), 2.5);
  EXPECT_GT(filter->GetMTime(), time);
  time = filter->GetMTime();
  filter->SetSigma(2.5);
  EXPECT_EQ(filter->GetMTime(), time);
  SmoothingType::SigmaArrayType sigmas;
  sigmas[0] = 1.0;
  sigmas[1] = 2.0;
  sigmas[2] = 3.0;
  filter->SetSigmaArray(sigmas);
  EXPECT_EQ(filter->GetSigmaArray(), sigmas);
  filter->NormalizeAcrossScaleOn();
  EXPECT_TRUE(filter->GetNormalizeAcrossScale());
  filter->InPlaceOn();
  EXPECT_TRUE(filter->GetInPlace());

  const auto line = itk::CudaRecursiveGaussianImageFilter<DeviceType>::New();
  line->SetDirection(2);
  line->SetFirstOrder();
  EXPECT_EQ(line->GetDirection(), 2u);
  EXPECT_EQ(line->GetOrder(), itk::RecursiveGaussianImageFilterEnums::GaussianOrder::FirstOrder);
  std::ostringstream text;
  filter->Print(text);
  ExpectContains(text.str(), "SigmaArray: [1, 2, 3]");
  ExpectContains(text.str(), "NormalizeAcrossScale: 1");
}

TEST(CudaDeviceGaussian, Parameters_out_of_range_are_refused_as_for_host_images)
{
  const auto filter = SmoothingType::New();
  filter->SetInput(MakeImage(3));
  ExpectContains(GetException([&filter] { filter->Update(); }), "requires at least four");
  filter->SetInput(MakeImage());
  filter->SetSigma(-1.0);
  EXPECT_FALSE(GetException([&filter] { filter->Update(); }).empty());
  const auto line = itk::CudaRecursiveGaussianImageFilter<DeviceType>::New();
  line->SetInput(MakeImage());
  line->SetDirection(3);
  ExpectContains(GetException([&line] { line->Update(); }), "Direction");
}

TEST(CudaDeviceGaussian, Device_that_cannot_be_used_is_an_exception_and_no_run_on_the_host)
{
  for (const bool inPlace : { false, true })
  {
    const auto filter = SmoothingType::New();
    const auto image = MakeImage();
    filter->SetInput(image);
    filter->SetInPlace(inPlace);
    try
    {
      filter->Update();
      ADD_FAILURE() << "no exception";
    }
    catch (const itk::CudaError & error)
    {
      EXPECT_EQ(error.GetKind(), itk::CudaError::Kind::NotUsable) << error;
    }
  }
}

TEST(CudaDeviceGaussian, Components_that_differ_are_refused)
{
  using OutputType = itk::CudaDeviceImage<itk::Vector<float, 2>, 3>;
  const auto filter = itk::CudaSmoothingRecursiveGaussianImageFilter<DeviceType, OutputType>::New();
  filter->SetInput(MakeImage());
  ExpectContains(GetException([&filter] { filter->Update(); }), "it must have 1");
}

TEST(CudaDeviceGaussian, Exceptions_before_a_filter_that_downloads_come_again_with_the_next_update)
{
  const auto image = HostType::New();
  image->SetRegions(HostType::SizeType{ { 8, 8, 8 } });
  image->Allocate(true);
  const auto up = itk::CudaSmoothingRecursiveGaussianImageFilter<HostType, DeviceType>::New();
  up->SetInput(image);
  up->SetDeviceIndex(1000000);
  const auto down = itk::CudaSmoothingRecursiveGaussianImageFilter<DeviceType, HostType>::New();
  down->SetInput(up->GetOutput());
  for (unsigned int turn = 0; turn < 3; ++turn)
  {
    EXPECT_THROW(down->Update(), itk::CudaError) << turn;
  }
}
