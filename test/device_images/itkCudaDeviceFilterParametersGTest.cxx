// SPDX-License-Identifier: Apache-2.0

// Filters of device images, as far as that goes without a GPU: types, parameters and their defaults, boundary
// conditions, refusals in words.

#include "itkConstantBoundaryCondition.h"
#include "itkCudaDiscreteGaussianImageFilter.h"
#include "itkCudaDownloadImageFilter.h"
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
#include "itkPeriodicBoundaryCondition.h"

#include <gtest/gtest.h>

#include <sstream>
#include <type_traits>
#include <typeinfo>

namespace
{
using namespace itk::cuda::test;
using HostType = itk::Image<float, 3>;
using DeviceType = itk::CudaDeviceImage<float, 3>;
using SmoothingType = itk::CudaSmoothingRecursiveGaussianImageFilter<DeviceType>;
using LineType = itk::CudaRecursiveGaussianImageFilter<DeviceType>;
using DiscreteType = itk::CudaDiscreteGaussianImageFilter<DeviceType>;
using ItkDiscreteType = itk::DiscreteGaussianImageFilter<HostType, HostType>;

/** A class that the module does not know. */
class OwnCondition : public itk::ConstantBoundaryCondition<HostType>
{};

/** On device 4711. */
DeviceType::Pointer
MakeImage(itk::SizeValueType size = 8)
{
  const auto image = DeviceType::New();
  image->SetRegions(DeviceType::SizeType{ { size, 8, 8 } });
  image->SetDeviceView(MakeFakeView(image.GetPointer(), 8));
  return image;
}

template <template <typename, typename> class TFilter, typename TPixel>
void
ExpectSameDefaults()
{
  const auto host = TFilter<HostType, itk::Image<TPixel, 3>>::New();
  const auto device = TFilter<DeviceType, itk::CudaDeviceImage<TPixel, 3>>::New();
  EXPECT_EQ(device->GetSigma(), host->GetSigma());
  EXPECT_EQ(device->GetNormalizeAcrossScale(), host->GetNormalizeAcrossScale());
  EXPECT_EQ(device->GetBackend(), host->GetBackend());
  EXPECT_EQ(device->GetDeviceIndex(), host->GetDeviceIndex());
  EXPECT_EQ(device->GetApproximation(), host->GetApproximation());
  EXPECT_STREQ(device->GetNameOfClass(), host->GetNameOfClass());
}

template <template <typename, typename> class TFilter>
void
ExpectSameDefaultsInPlace()
{
  ExpectSameDefaults<TFilter, float>();
  const auto host = TFilter<HostType, HostType>::New();
  const auto device = TFilter<DeviceType, DeviceType>::New();
  EXPECT_EQ(device->GetInPlace(), host->GetInPlace()) << device->GetNameOfClass();
  EXPECT_EQ(device->CanRunInPlace(), host->CanRunInPlace()) << device->GetNameOfClass();
}
} // namespace

TEST(CudaDeviceGaussian, Default_output_is_where_the_input_is)
{
  EXPECT_TRUE((std::is_same_v<SmoothingType::OutputImageType, DeviceType>));
  EXPECT_TRUE((std::is_same_v<DiscreteType::OutputImageType, DeviceType>));
  using Vectors = itk::CovariantVector<double, 3>;
  using Gradient = itk::CudaGradientRecursiveGaussianImageFilter<DeviceType>;
  EXPECT_TRUE((std::is_same_v<Gradient::OutputImageType, itk::CudaDeviceImage<Vectors, 3>>));
  using HostGradient = itk::CudaGradientRecursiveGaussianImageFilter<HostType>;
  EXPECT_TRUE((std::is_same_v<HostGradient::OutputImageType, itk::Image<Vectors, 3>>));
  using Tensors = itk::CudaDeviceImage<itk::SymmetricSecondRankTensor<double, 3>, 3>;
  EXPECT_TRUE((std::is_same_v<itk::CudaHessianRecursiveGaussianImageFilter<DeviceType>::OutputImageType, Tensors>));
  using HostSmoothing = itk::CudaSmoothingRecursiveGaussianImageFilter<HostType>;
  EXPECT_TRUE((std::is_same_v<HostSmoothing::OutputImageType, HostType>));
  EXPECT_TRUE((std::is_base_of_v<itk::SmoothingRecursiveGaussianImageFilter<HostType, HostType>, HostSmoothing>));
}

TEST(CudaDeviceGaussian, Defaults_are_those_of_host_images)
{
  ExpectSameDefaultsInPlace<itk::CudaSmoothingRecursiveGaussianImageFilter>();
  ExpectSameDefaultsInPlace<itk::CudaRecursiveGaussianImageFilter>();
  ExpectSameDefaultsInPlace<itk::CudaGradientMagnitudeRecursiveGaussianImageFilter>();
  ExpectSameDefaults<itk::CudaLaplacianRecursiveGaussianImageFilter, float>();
  ExpectSameDefaults<itk::CudaHessianRecursiveGaussianImageFilter, itk::SymmetricSecondRankTensor<float, 3>>();
  ExpectSameDefaults<itk::CudaGradientRecursiveGaussianImageFilter, itk::CovariantVector<float, 3>>();
  const auto line = itk::CudaRecursiveGaussianImageFilter<HostType>::New();
  EXPECT_EQ(LineType::New()->GetDirection(), line->GetDirection());
  EXPECT_EQ(LineType::New()->GetOrder(), line->GetOrder());
  using Vectors = itk::CovariantVector<float, 3>;
  EXPECT_TRUE((itk::CudaGradientRecursiveGaussianImageFilter<DeviceType, itk::CudaDeviceImage<Vectors, 3>>::New()
                 ->GetUseImageDirection()))
    << "as in ITK";
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
  filter->InPlaceOn();
  EXPECT_TRUE(filter->GetInPlace());
  std::ostringstream text;
  filter->Print(text);
  ExpectContains(text.str(), "SigmaArray: [1, 2, 3]");
  ExpectContains(text.str(), "NormalizeAcrossScale: 1");

  const auto line = LineType::New();
  line->SetDirection(2);
  line->SetFirstOrder();
  EXPECT_EQ(line->GetDirection(), 2u);
  EXPECT_EQ(line->GetOrder(), itk::RecursiveGaussianImageFilterEnums::GaussianOrder::FirstOrder);
}

TEST(CudaDeviceGaussian, Images_and_axes_out_of_range_are_refused_in_words)
{
  const auto filter = SmoothingType::New();
  filter->SetInput(MakeImage(3));
  ExpectContains(GetException([&filter] { filter->Update(); }), "requires at least four");
  const auto line = LineType::New();
  line->SetInput(MakeImage());
  line->SetDirection(3);
  ExpectContains(GetException([&line] { line->Update(); }), "Direction");
  using OutputType = itk::CudaDeviceImage<itk::Vector<float, 2>, 3>;
  const auto components = itk::CudaSmoothingRecursiveGaussianImageFilter<DeviceType, OutputType>::New();
  components->SetInput(MakeImage());
  ExpectContains(GetException([&components] { components->Update(); }), "it must have 1");
}

TEST(CudaDeviceGaussian, Exceptions_before_filters_that_download_come_again_with_the_next_update)
{
  const auto image = HostType::New();
  image->SetRegions(HostType::SizeType{ { 8, 8, 8 } });
  image->Allocate(true);
  const auto up = itk::CudaSmoothingRecursiveGaussianImageFilter<HostType, DeviceType>::New();
  up->SetInput(image);
  up->SetDeviceIndex(1000000);
  const auto check = [&up](auto down) {
    down->SetInput(up->GetOutput());
    for (unsigned int turn = 0; turn < 3; ++turn)
    {
      EXPECT_THROW(down->Update(), itk::CudaError) << down->GetNameOfClass() << ", turn " << turn;
    }
  };
  check(itk::CudaSmoothingRecursiveGaussianImageFilter<DeviceType, HostType>::New());
  check(itk::CudaDownloadImageFilter<DeviceType>::New());
}

TEST(CudaDeviceDiscrete, Defaults_are_those_of_ITK)
{
  const auto itk = ItkDiscreteType::New();
  const auto filter = DiscreteType::New();
  EXPECT_EQ(filter->GetVariance(), itk->GetVariance());
  EXPECT_EQ(filter->GetSigma(), itk->GetSigma());
  EXPECT_EQ(filter->GetSigmaArray(), itk->GetSigmaArray());
  EXPECT_EQ(filter->GetMaximumError(), itk->GetMaximumError());
  EXPECT_EQ(filter->GetMaximumKernelWidth(), static_cast<unsigned int>(itk->GetMaximumKernelWidth()));
  EXPECT_EQ(filter->GetFilterDimensionality(), itk->GetFilterDimensionality());
  EXPECT_EQ(filter->GetUseImageSpacing(), itk->GetUseImageSpacing());
  const auto expectSameType = [](const auto & a, const auto & b) { EXPECT_EQ(typeid(a), typeid(b)); };
  expectSameType(*filter->GetInputBoundaryCondition(), *itk->GetInputBoundaryCondition());
  expectSameType(*filter->GetRealBoundaryCondition(), *itk->GetRealBoundaryCondition());
}

TEST(CudaDeviceDiscrete, Parameters_are_set_as_in_ITK)
{
  const auto itk = ItkDiscreteType::New();
  const auto filter = DiscreteType::New();
  const auto set = [&](const auto & change) {
    const auto time = filter->GetMTime();
    change(*filter);
    change(*itk);
    EXPECT_GT(filter->GetMTime(), time);
    EXPECT_EQ(filter->GetVariance(), itk->GetVariance());
    EXPECT_EQ(filter->GetMaximumError(), itk->GetMaximumError());
  };
  const double            doubles[] = { 1.0, 2.0, 3.0 };
  const float             floats[] = { 0.125f, 0.25f, 0.5f };
  DiscreteType::ArrayType array;
  array[0] = 4.0;
  array[1] = 5.0;
  array[2] = 6.0;
  set([](auto & f) { f.SetVariance(2.5); });
  set([&](auto & f) { f.SetVariance(doubles); });
  set([&](auto & f) { f.SetVariance(floats); });
  set([&](auto & f) { f.SetVariance(array); });
  set([](auto & f) { f.SetSigma(1.5); });
  set([&](auto & f) { f.SetSigmaArray(array); });
  set([](auto & f) { f.SetMaximumError(0.25); });
  set([&](auto & f) { f.SetMaximumError(floats); });
  EXPECT_EQ(filter->GetSigmaArray(), array);

  filter->SetMaximumKernelWidth(9);
  filter->SetFilterDimensionality(2);
  filter->UseImageSpacingOff();
  std::ostringstream text;
  filter->Print(text);
  for (const char * const line : { "Variance: [16, 25, 36]",
                                   "MaximumError: [0.125, 0.25, 0.5]",
                                   "MaximumKernelWidth: 9",
                                   "FilterDimensionality: 2",
                                   "UseImageSpacing: Off",
                                   "InputBoundaryCondition: 0x",
                                   "RealBoundaryCondition: 0x" })
  {
    ExpectContains(text.str(), line);
  }
}

TEST(CudaDeviceDiscrete, Boundary_conditions_that_the_device_lacks_are_refused_in_words)
{
  OwnCondition                             own;
  itk::PeriodicBoundaryCondition<HostType> periodic;
  itk::ConstantBoundaryCondition<HostType> constant;
  const auto                               update = [](auto * condition, double variance) {
    const auto filter = DiscreteType::New();
    filter->SetInput(MakeImage());
    filter->SetVariance(variance);
    filter->SetInputBoundaryCondition(condition);
    filter->SetRealBoundaryCondition(condition);
    filter->Update();
  };
  ExpectContains(GetException([&] { update(&own, 1.0); }), "the boundary condition is not supported on the device");
  ExpectContains(GetException([&] { update(&periodic, 9.0); }), "whole images wider than the kernel only");
  EXPECT_THROW(update(&periodic, 0.5), itk::CudaError) << "no machine has device 4711";
  EXPECT_THROW(update(&constant, 0.5), itk::CudaError) << "no machine has device 4711";
}

TEST(CudaDeviceDiscrete, Nothing_runs_on_the_host_along_no_axis)
{
  const auto filter = DiscreteType::New();
  filter->SetInput(MakeImage());
  filter->SetFilterDimensionality(0);
  EXPECT_THROW(filter->Update(), itk::CudaError);
}

TEST(CudaDeviceDiscrete, Input_of_no_size_is_refused)
{
  const auto filter = DiscreteType::New();
  filter->SetInput(MakeImage(0));
  EXPECT_THROW(filter->Update(), itk::InvalidRequestedRegionError);
}
