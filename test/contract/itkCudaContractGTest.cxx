// SPDX-License-Identifier: Apache-2.0
// The contract suite: each property that holds for every filter, tried on each filter of the table.
// CudaFiltersContractGTestDriver --matrix prints how many cases are checked for each filter and property, and why a
// property is not checked.
#include "itkCudaContractProperties.h"
#include "itkCudaFiltersConfiguration.h"

#include <gtest/gtest.h>

#include <cstring>
#include <iomanip>
#include <iostream>
#include <map>
#include <set>

namespace
{
using namespace itk::cuda::test;
using BackendEnum = itk::CudaFiltersEnums::Backend;

struct ContractParameter
{
  const FilterRow *        Row;
  const ContractProperty * Property;
  BackendEnum              Backend;
};

std::ostream &
operator<<(std::ostream & os, const ContractParameter & parameter)
{
  return os << parameter.Property->Name << " of " << parameter.Row->Name << " on " << parameter.Backend;
}

class CudaFiltersContract : public ::testing::TestWithParam<ContractParameter>
{};

TEST_P(CudaFiltersContract, Holds)
{
  const ContractParameter & parameter = GetParam();
  std::string               reason;
  if (parameter.Backend == BackendEnum::Cuda && !itk::CudaFiltersConfiguration::IsDeviceUsable(-1, reason))
  {
    GTEST_SKIP() << reason;
  }
  const ContractSubject subject(*parameter.Row, parameter.Backend);
  for (const StressCasePointer & stressCase : subject.Cases)
  {
    if (parameter.Property->GetReason(subject, *stressCase).empty())
    {
      SCOPED_TRACE(stressCase->GetDescription());
      parameter.Property->Check(subject, *stressCase);
    }
  }
}

std::vector<ContractParameter>
ParametersOf(BackendEnum backend)
{
  std::vector<ContractParameter> parameters;
  for (const FilterRow & row : GetFilterRows())
  {
    for (const ContractProperty & property : GetContractProperties())
    {
      parameters.push_back({ &row, &property, backend });
    }
  }
  return parameters;
}

std::string
NameOf(const ::testing::TestParamInfo<ContractParameter> & info)
{
  return info.param.Row->Name + '_' + info.param.Property->Name;
}

INSTANTIATE_TEST_SUITE_P(Host, CudaFiltersContract, ::testing::ValuesIn(ParametersOf(BackendEnum::Host)), NameOf);
INSTANTIATE_TEST_SUITE_P(Gpu, CudaFiltersContract, ::testing::ValuesIn(ParametersOf(BackendEnum::Cuda)), NameOf);

struct DeviceParameter
{
  const FilterRow *      Row;
  const DeviceProperty * Property;
};

std::ostream &
operator<<(std::ostream & os, const DeviceParameter & parameter)
{
  return os << parameter.Property->Name << " of " << parameter.Row->Name << " of device images";
}

class CudaDeviceImagesContract : public ::testing::TestWithParam<DeviceParameter>
{};

TEST_P(CudaDeviceImagesContract, Holds)
{
  for (const DeviceSides sides : { DeviceSides::Both, DeviceSides::Output, DeviceSides::Input })
  {
    SCOPED_TRACE(sides == DeviceSides::Both     ? "input and output on a device"
                 : sides == DeviceSides::Output ? "output on a device"
                                                : "input on a device");
    GetParam().Property->Check(*GetParam().Row, sides);
  }
}

std::vector<DeviceParameter>
MakeDeviceParameters()
{
  std::vector<DeviceParameter> parameters;
  for (const FilterRow & row : GetFilterRows())
  {
    for (const DeviceProperty & property : GetDeviceProperties())
    {
      if (row.MakeDeviceCall)
      {
        parameters.push_back({ &row, &property });
      }
    }
  }
  return parameters;
}

INSTANTIATE_TEST_SUITE_P(AnyMachine,
                         CudaDeviceImagesContract,
                         ::testing::ValuesIn(MakeDeviceParameters()),
                         [](const ::testing::TestParamInfo<DeviceParameter> & info) {
                           return info.param.Row->Name + '_' + info.param.Property->Name;
                         });

/** Prints the matrix. Returns 1 if a cell is empty without a reason. */
int
PrintMatrix()
{
  std::vector<ContractSubject> subjects;
  for (const FilterRow & row : GetFilterRows())
  {
    subjects.emplace_back(row, BackendEnum::Host);
  }
  std::map<std::string, std::set<std::string>> reasons;
  bool                                         isComplete = true;
  std::cout << std::left << std::setw(42) << "property";
  for (size_t i = 0; i < subjects.size(); ++i)
  {
    std::cout << std::right << std::setw(4) << static_cast<char>('a' + i);
  }
  std::cout << '\n';
  for (const ContractProperty & property : GetContractProperties())
  {
    std::cout << std::left << std::setw(42) << property.Name;
    for (const ContractSubject & subject : subjects)
    {
      size_t      checked = 0;
      std::string reason;
      for (const StressCasePointer & stressCase : subject.Cases)
      {
        const std::string why = property.GetReason(subject, *stressCase);
        checked += why.empty() ? 1 : 0;
        reason = why.empty() ? reason : why;
      }
      std::cout << std::right << std::setw(4) << (checked > 0 ? std::to_string(checked) : "-");
      isComplete = isComplete && (checked > 0 || !reason.empty());
      if (!reason.empty())
      {
        reasons[property.Name + ": " + reason].insert(subject.Row.Name + (checked > 0 ? " (some cases)" : ""));
      }
    }
    std::cout << '\n';
  }
  for (const DeviceProperty & property : GetDeviceProperties())
  {
    std::cout << std::left << std::setw(42) << property.Name;
    for (const ContractSubject & subject : subjects)
    {
      std::cout << std::right << std::setw(4) << (subject.Row.MakeDeviceCall ? "3" : "-");
      if (!subject.Row.MakeDeviceCall)
      {
        reasons["properties of device images: the filter takes none, or has tests of its own"].insert(subject.Row.Name);
      }
    }
    std::cout << '\n';
  }
  std::cout << "\nFilters:";
  for (size_t i = 0; i < subjects.size(); ++i)
  {
    std::cout << ' ' << static_cast<char>('a' + i) << ' ' << subjects[i].Row.Name;
  }
  std::cout << "\nNot checked:\n";
  for (const auto & [reason, rows] : reasons)
  {
    std::cout << "- " << reason << ':';
    for (const std::string & row : rows)
    {
      std::cout << ' ' << row;
    }
    std::cout << '\n';
  }
  return isComplete ? 0 : 1;
}
} // namespace

int
main(int argc, char * argv[])
{
  if (argc == 2 && std::strcmp(argv[1], "--matrix") == 0)
  {
    return PrintMatrix();
  }
  ::testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
