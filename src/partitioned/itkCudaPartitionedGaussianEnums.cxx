// SPDX-License-Identifier: Apache-2.0
#include "itkCudaFiltersEnums.h"

#include "itkMacro.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <type_traits>

namespace itk
{
namespace
{
using Partition = CudaFiltersEnums::Partition;
using LineBorders = CudaFiltersEnums::LineBorders;
using IntermediateStorage = CudaFiltersEnums::IntermediateStorage;

/** The enumeration's name and those of its values, in their order. */
template <typename TEnum>
struct EnumNames;

template <>
struct EnumNames<Partition>
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

bool
EqualExceptCase(const std::string & a, const std::string & b)
{
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](unsigned char x, unsigned char y) {
    return std::tolower(x) == std::tolower(y);
  });
}

template <typename TEnum>
TEnum
FromString(const std::string & name)
{
  std::string known;
  for (size_t i = 0; i < EnumNames<TEnum>::Values.size(); ++i)
  {
    if (EqualExceptCase(name, EnumNames<TEnum>::Values[i]))
    {
      return static_cast<TEnum>(i);
    }
    const bool last = i + 1 == EnumNames<TEnum>::Values.size();
    known += std::string(i == 0 ? "" : (last ? " or " : ", ")) + EnumNames<TEnum>::Values[i];
  }
  itkGenericExceptionMacro(<< EnumNames<TEnum>::Enumeration << " is \"" << name << "\"; it must be " << known);
}

template <typename TEnum>
std::ostream &
Print(std::ostream & out, TEnum value)
{
  const size_t      index = static_cast<size_t>(value);
  const std::string type = std::string("itk::CudaFiltersEnums::") + EnumNames<TEnum>::Enumeration;
  return index < EnumNames<TEnum>::Values.size() ? out << type << "::" << EnumNames<TEnum>::Values[index]
                                                 : out << "INVALID VALUE FOR " << type;
}
} // namespace

std::ostream &
operator<<(std::ostream & out, const CudaFiltersEnums::Partition value)
{
  return Print(out, value);
}

std::ostream &
operator<<(std::ostream & out, const CudaFiltersEnums::LineBorders value)
{
  return Print(out, value);
}

std::ostream &
operator<<(std::ostream & out, const CudaFiltersEnums::IntermediateStorage value)
{
  return Print(out, value);
}

CudaFiltersEnums::Partition
CudaPartitionFromString(const std::string & name)
{
  return FromString<Partition>(name);
}

CudaFiltersEnums::LineBorders
CudaLineBordersFromString(const std::string & name)
{
  return FromString<LineBorders>(name);
}

CudaFiltersEnums::IntermediateStorage
CudaIntermediateStorageFromString(const std::string & name)
{
  return FromString<IntermediateStorage>(name);
}
} // end namespace itk
