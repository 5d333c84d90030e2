// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaDeviceCall_h
#define itkCudaDeviceCall_h

#include "itkCudaFiltersEnums.h"
#include "itkProcessObject.h"

#include <memory>
#include <string>

namespace itk::cuda::test
{
/** Which images of a filter are on a device. */
enum class DeviceSides
{
  Both,
  Output,
  Input
};

/** A filter of device images, on a machine that need not have a GPU: its input is on the device 4711, which no machine
 * has, or on the host. */
class DeviceCall
{
public:
  virtual ~DeviceCall() = default;

  virtual ProcessObject *
  GetFilter() = 0;
  /** Sets an input of 8 x 8 x 8 pixels, or one that has regions, but no pixels. */
  virtual void
  SetInput(bool hasPixels) = 0;
  virtual void
  SetBackendByName(const std::string & name) = 0;
  virtual void
  SetDeviceIndex(int index) = 0;
  virtual CudaFiltersEnums::Backend
  GetBackendUsed() const = 0;
  virtual std::string
  GetBackendReason() const = 0;
  /** Sets a parameter out of range. */
  virtual void
  Spoil() = 0;
  /** Requests a part of the output. Returns whether the filter then requests the whole of its images. */
  virtual bool
  RequestsWhole() = 0;
  virtual bool
  IsOutputAllocated() const = 0;
  virtual bool
  CanRunInPlace() const = 0;
};

using DeviceCallPointer = std::unique_ptr<DeviceCall>;
using DeviceCallMaker = DeviceCallPointer (*)(DeviceSides sides);

// The filters of device images (contract/itkCudaFilterTable.cxx).
DeviceCallPointer
MakeRecursiveDeviceCall(DeviceSides sides);
DeviceCallPointer
MakeSmoothingDeviceCall(DeviceSides sides);
DeviceCallPointer
MakeMagnitudeDeviceCall(DeviceSides sides);
DeviceCallPointer
MakeLaplacianDeviceCall(DeviceSides sides);
DeviceCallPointer
MakeGradientDeviceCall(DeviceSides sides);
DeviceCallPointer
MakeHessianDeviceCall(DeviceSides sides);
DeviceCallPointer
MakeDiscreteDeviceCall(DeviceSides sides);
DeviceCallPointer
MakePartitionedDeviceCall(DeviceSides sides);
DeviceCallPointer
MakeStructureTensorDeviceCall(DeviceSides sides);
DeviceCallPointer
MakeEigenvaluesDeviceCall(DeviceSides sides);
} // namespace itk::cuda::test

#endif
