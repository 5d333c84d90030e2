// SPDX-License-Identifier: Apache-2.0
// What holds for every filter of device images on any machine: requests, and refusals in words.
#include "itkCudaContractProperties.h"
#include "itkCudaError.h"
#include "itkCudaFiltersConfiguration.h"
#include "support/itkCudaExpectException.h"

#include <gtest/gtest.h>

namespace itk::cuda::test
{
namespace
{
constexpr int NoDevice = 1000000;

bool
HasDeviceInput(DeviceSides sides)
{
  return sides != DeviceSides::Output;
}

DeviceCallPointer
BeginWithPixels(const FilterRow & row, DeviceSides sides)
{
  DeviceCallPointer call = row.MakeDeviceCall(sides);
  call->SetInput(true);
  return call;
}

/** Expects that the device cannot be used, for this reason, at each update. An empty reason stands for a device that is
 * only found missing when its memory is asked for, after the memory of an output on the host. The snake has labels of
 * the host before it asks for a device at all. */
void
ExpectNotUsable(DeviceCall & call, const FilterRow & row, DeviceSides sides, const std::string & reason)
{
  const bool mayAllocate = sides == DeviceSides::Input && (reason.empty() || row.Name == "snake");
  for (unsigned int turn = 0; turn < 2; ++turn)
  {
    try
    {
      call.GetFilter()->Update();
      ADD_FAILURE() << "no exception";
    }
    catch (const CudaError & error)
    {
      EXPECT_EQ(error.GetKind(), CudaError::Kind::NotUsable) << error;
      ExpectContains(error.GetDescription(), reason);
    }
    EXPECT_TRUE(reason.empty() || call.GetBackendUsed() == CudaFiltersEnums::Backend::Automatic);
    EXPECT_TRUE(mayAllocate || !call.IsOutputAllocated());
    call.GetFilter()->ResetPipeline();
  }
}

void
WholeImagesAreRequested(const FilterRow & row, DeviceSides sides)
{
  EXPECT_TRUE(BeginWithPixels(row, sides)->RequestsWhole());
}

void
MixedFiltersNeverRunInPlace(const FilterRow & row, DeviceSides sides)
{
  const auto call = BeginWithPixels(row, sides);
  EXPECT_FALSE(sides != DeviceSides::Both && call->CanRunInPlace());
}

void
TheHostIsRefused(const FilterRow & row, DeviceSides sides)
{
  const std::string reason = HasDeviceInput(sides) ? "its input is a device image" : "its output is a device image";
  const auto        call = BeginWithPixels(row, sides);
  call->SetBackendByName("host");
  ExpectNotUsable(*call, row, sides, reason);
  ExpectContains(call->GetBackendReason(), reason);
}

void
OtherDevicesAreRefused(const FilterRow & row, DeviceSides sides)
{
  const auto  call = BeginWithPixels(row, sides);
  std::string reason;
  EXPECT_FALSE(CudaFiltersConfiguration::IsDeviceUsable(NoDevice, reason));
  call->SetDeviceIndex(NoDevice);
  ExpectNotUsable(
    *call, row, sides, HasDeviceInput(sides) ? "DeviceIndex is 1000000, but the input lies on device 4711" : reason);
  if (HasDeviceInput(sides))
  {
    call->SetDeviceIndex(-1);
    ExpectNotUsable(*call, row, sides, ""); // no machine has device 4711
  }
}

void
AnInputWithoutPixelsIsNamed(const FilterRow & row, DeviceSides sides)
{
  const auto call = row.MakeDeviceCall(sides);
  call->SetInput(false);
  ExpectContains(GetException([&call] { call->GetFilter()->Update(); }),
                 HasDeviceInput(sides) ? "The input has no device memory" : " has memory for 0 of the ");
}

void
ABadParameterIsNamedBeforeTheDevice(const FilterRow & row, DeviceSides sides)
{
  const auto call = BeginWithPixels(row, sides);
  const auto error = GetException([&call] {
    call->Spoil();
    call->GetFilter()->Update();
  });
  ExpectContains(error, row.SpoiledParameter);
}
} // namespace

const std::vector<DeviceProperty> &
GetDeviceProperties()
{
  static const std::vector<DeviceProperty> properties{
    { "WholeImagesAreRequested", WholeImagesAreRequested },
    { "MixedFiltersNeverRunInPlace", MixedFiltersNeverRunInPlace },
    { "TheHostIsRefused", TheHostIsRefused },
    { "OtherDevicesAreRefused", OtherDevicesAreRefused },
    { "AnInputWithoutPixelsIsNamed", AnInputWithoutPixelsIsNamed },
    { "ABadParameterIsNamedBeforeTheDevice", ABadParameterIsNamedBeforeTheDevice },
  };
  return properties;
}
} // namespace itk::cuda::test
