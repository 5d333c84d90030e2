// SPDX-License-Identifier: Apache-2.0

// The discrete filter of device images, as far as that goes without a GPU: ITK's parameters and defaults, boundary
// conditions, regions, refusals in words.

#include "itkConstantBoundaryCondition.h"
#include "itkCudaDiscreteGaussianImageFilter.h"
#include "itkCudaError.h"
#include "support/itkCudaExpectException.h"
#include "support/itkCudaFakeDeviceMemory.h"
#include "itkImage.h"
#include "itkPeriodicBoundaryCondition.h"

#include <gtest/gtest.h>

#include <sstream>
#include <type_traits>
#include <typeinfo>

namespace
{
using itk::cuda::test::ExpectContains;
using itk::cuda::test::GetException;
using HostType = itk::Image<float, 3>;
using DeviceType = itk::CudaDeviceImage<float, 3>;
using ITKType = itk::DiscreteGaussianImageFilter<HostType, HostType>;
using FilterType = itk::CudaDiscreteGaussianImageFilter<DeviceType>;

/** A class that the module does not know. */
class OwnCondition : public itk::ConstantBoundaryCondition<HostType>
{};

/** On device 4711. */
DeviceType::Pointer
MakeImage()
{
  const auto image = DeviceType::New();
  image->SetRegions(DeviceType::SizeType{ { 8, 8, 8 } });
  image->SetDeviceView(itk::cuda::test::MakeFakeView(image.GetPointer(), 8));
  return image;
}
} // namespace

TEST(CudaDeviceDiscrete, Defaults_are_those_of_ITK)
{
  EXPECT_TRUE((std::is_same_v<FilterType::OutputImageType, DeviceType>));
  const auto itk = ITKType::New();
  const auto filter = FilterType::New();
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
  const auto itk = ITKType::New();
  const auto filter = FilterType::New();
  const auto expectSame = [&] {
    EXPECT_EQ(filter->GetVariance(), itk->GetVariance());
    EXPECT_EQ(filter->GetMaximumError(), itk->GetMaximumError());
  };
  const auto set = [&](const auto & change) {
    const auto time = filter->GetMTime();
    change(*filter);
    change(*itk);
    EXPECT_GT(filter->GetMTime(), time);
    expectSame();
  };
  const double          doubles[] = { 1.0, 2.0, 3.0 };
  const float           floats[] = { 0.125f, 0.25f, 0.5f };
  FilterType::ArrayType array;
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
  ExpectContains(text.str(), "Variance: [16, 25, 36]");
  ExpectContains(text.str(), "MaximumError: [0.125, 0.25, 0.5]");
  ExpectContains(text.str(), "MaximumKernelWidth: 9");
  ExpectContains(text.str(), "FilterDimensionality: 2");
  ExpectContains(text.str(), "UseImageSpacing: Off");
  ExpectContains(text.str(), "InputBoundaryCondition: 0x");
  ExpectContains(text.str(), "RealBoundaryCondition: 0x");
  ExpectContains(text.str(), "Backend");
}

TEST(CudaDeviceDiscrete, Boundary_conditions_that_the_device_lacks_are_refused_in_words)
{
  const auto   filter = FilterType::New();
  OwnCondition own;
  filter->SetInput(MakeImage());
  filter->SetVariance(1.0);
  filter->SetInputBoundaryCondition(&own);
  ExpectContains(GetException([&filter] { filter->Update(); }),
                 "the boundary condition is not supported on the device");
  const auto                               other = FilterType::New();
  itk::PeriodicBoundaryCondition<HostType> periodic;
  other->SetInput(MakeImage());
  other->SetVariance(9.0);
  other->SetRealBoundaryCondition(&periodic);
  ExpectContains(GetException([&other] { other->Update(); }), "whole images wider than the kernel only");
}

TEST(CudaDeviceDiscrete, Boundary_conditions_that_the_device_has_come_as_far_as_the_device)
{
  itk::PeriodicBoundaryCondition<HostType> periodic;
  itk::ConstantBoundaryCondition<HostType> constant;
  for (itk::ImageBoundaryCondition<HostType> * const condition :
       { static_cast<itk::ImageBoundaryCondition<HostType> *>(&periodic),
         static_cast<itk::ImageBoundaryCondition<HostType> *>(&constant) })
  {
    const auto filter = FilterType::New();
    filter->SetInput(MakeImage());
    filter->SetVariance(0.5);
    filter->SetInputBoundaryCondition(condition);
    filter->SetRealBoundaryCondition(condition);
    EXPECT_THROW(filter->Update(), itk::CudaError) << "no machine has device 4711";
  }
}

TEST(CudaDeviceDiscrete, Nothing_runs_on_the_host_along_any_number_of_axes)
{
  const auto filter = FilterType::New();
  filter->SetInput(MakeImage());
  for (const unsigned int dimensionality : { 0u, 3u })
  {
    filter->SetFilterDimensionality(dimensionality);
    EXPECT_THROW(filter->Update(), itk::CudaError) << dimensionality;
  }
}

TEST(CudaDeviceDiscrete, Input_of_no_size_is_refused)
{
  const auto empty = DeviceType::New();
  empty->SetRegions(DeviceType::SizeType{ { 0, 8, 8 } });
  const auto other = FilterType::New();
  other->SetInput(empty);
  EXPECT_THROW(other->Update(), itk::InvalidRequestedRegionError);
}
