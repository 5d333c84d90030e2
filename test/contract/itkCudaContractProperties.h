// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaContractProperties_h
#define itkCudaContractProperties_h

#include "itkCudaContractCall.h"
#include "itkCudaFilterTable.h"

namespace itk::cuda::test
{
/** A filter with random cases of its types, images and parameters. */
struct ContractSubject
{
  using BackendEnum = CudaFiltersEnums::Backend;

  ContractSubject(const FilterRow & row, BackendEnum backend);

  const FilterRow &              Row;
  BackendEnum                    Backend;
  std::vector<StressCasePointer> Cases;
};

/** A property that holds for every filter. */
struct ContractProperty
{
  std::string Name;
  /** Verifies the property for a case. */
  void (*Check)(const ContractSubject & subject, const StressCase & stressCase);
  /** Returns why the property is not verified for a case, or nothing. */
  std::string (*GetReason)(const ContractSubject & subject, const StressCase & stressCase);
};

const std::vector<ContractProperty> &
GetContractProperties();

/** A property of every filter of device images, with one or both images on a device. */
struct DeviceProperty
{
  std::string Name;
  void (*Check)(const FilterRow & row, DeviceSides sides);
};

const std::vector<DeviceProperty> &
GetDeviceProperties();
} // namespace itk::cuda::test

#endif
