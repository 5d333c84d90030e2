// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaDeviceCall_h
#define itkCudaDeviceCall_h

#include "itkCudaContractCall.h"

#include <memory>

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
class DeviceCall : public FilterCall
{
public:
  /** Sets an input of 8 pixels along each axis, or one that has regions, but no pixels. */
  virtual void
  SetInput(bool hasPixels) = 0;
  /** Requests a part of the output. Returns whether the filter then requests the whole of its images. */
  virtual bool
  RequestsWhole() = 0;
  virtual bool
  IsOutputAllocated() const = 0;
};

using DeviceCallPointer = std::unique_ptr<DeviceCall>;
using DeviceCallFunction = DeviceCallPointer(DeviceSides sides);
using DeviceCallMaker = DeviceCallFunction *;

// The filters of device images (contract/itkCudaFilterTable.cxx).
DeviceCallFunction MakeRecursiveDeviceCall;
DeviceCallFunction MakeSmoothingDeviceCall;
DeviceCallFunction MakeMagnitudeDeviceCall;
DeviceCallFunction MakeLaplacianDeviceCall;
DeviceCallFunction MakeGradientDeviceCall;
DeviceCallFunction MakeHessianDeviceCall;
DeviceCallFunction MakeDiscreteDeviceCall;
DeviceCallFunction MakePartitionedDeviceCall;
DeviceCallFunction MakeStructureTensorDeviceCall;
DeviceCallFunction MakeEigenvaluesDeviceCall;
DeviceCallFunction MakeSnakeDeviceCall;
} // namespace itk::cuda::test

#endif
