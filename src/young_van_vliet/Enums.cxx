// SPDX-License-Identifier: Apache-2.0
#include "itkCudaFiltersEnums.h"

#include "runtime/EnumNames.h"

// Names the values of Partition, LineBorders and IntermediateStorage, for printing and parsing.

namespace itk
{
using LinePartition = CudaFiltersEnums::Partition;
using LineBorders = CudaFiltersEnums::LineBorders;
using IntermediateStorage = CudaFiltersEnums::IntermediateStorage;

namespace cuda
{
template <>
struct EnumNames<LinePartition>
{
  static constexpr const char *                Enumeration = "Partition";
  static constexpr std::array<const char *, 3> Values{ { "OneWay", "TwoWay", "Exact" } };
};

template <>
struct EnumNames<LineBorders>
{
  static constexpr const char *                Enumeration = "LineBorders";
  static constexpr std::array<const char *, 2> Values{ { "AsPublished", "Exact" } };
};

template <>
struct EnumNames<IntermediateStorage>
{
  static constexpr const char *                Enumeration = "IntermediateStorage";
  static constexpr std::array<const char *, 2> Values{ { "Local", "Global" } };
};
} // namespace cuda

std::ostream &
operator<<(std::ostream & out, const CudaFiltersEnums::Partition value)
{
  return cuda::Print(out, value);
}

std::ostream &
operator<<(std::ostream & out, const CudaFiltersEnums::LineBorders value)
{
  return cuda::Print(out, value);
}

std::ostream &
operator<<(std::ostream & out, const CudaFiltersEnums::IntermediateStorage value)
{
  return cuda::Print(out, value);
}

CudaFiltersEnums::Partition
CudaPartitionFromString(const std::string & name)
{
  return cuda::FromString<LinePartition>(name);
}

CudaFiltersEnums::LineBorders
CudaLineBordersFromString(const std::string & name)
{
  return cuda::FromString<LineBorders>(name);
}

CudaFiltersEnums::IntermediateStorage
CudaIntermediateStorageFromString(const std::string & name)
{
  return cuda::FromString<IntermediateStorage>(name);
}
} // end namespace itk
