// SPDX-License-Identifier: Apache-2.0
#ifndef itkCudaEnumNames_h
#define itkCudaEnumNames_h

#include "itkMacro.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <optional>
#include <ostream>
#include <string>

// Names of the values of an enumeration, for printing and reading.

namespace itk::cuda
{
/** The enumeration's name and those of its values, in their order. */
template <typename TEnum>
struct EnumNames;

inline bool
EqualExceptCase(const std::string & a, const std::string & b)
{
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](unsigned char x, unsigned char y) {
    return std::tolower(x) == std::tolower(y);
  });
}

/** The value's name; null if it has none. */
template <typename TEnum>
const char *
NameOf(TEnum value)
{
  const auto index = static_cast<size_t>(value);
  return index < EnumNames<TEnum>::Values.size() ? EnumNames<TEnum>::Values[index] : nullptr;
}

/** The value of that name, if there is one; case does not matter. */
template <typename TEnum>
std::optional<TEnum>
FindByName(const std::string & name)
{
  for (size_t i = 0; i < EnumNames<TEnum>::Values.size(); ++i)
  {
    if (EqualExceptCase(name, EnumNames<TEnum>::Values[i]))
    {
      return static_cast<TEnum>(i);
    }
  }
  return std::nullopt;
}

/** The names of all values: "A, B or C". */
template <typename TEnum>
std::string
KnownNames()
{
  std::string known;
  for (size_t i = 0; i < EnumNames<TEnum>::Values.size(); ++i)
  {
    const bool last = i + 1 == EnumNames<TEnum>::Values.size();
    known += std::string(i == 0 ? "" : (last ? " or " : ", ")) + EnumNames<TEnum>::Values[i];
  }
  return known;
}

/** The value of that name; case does not matter.
 * \exception ExceptionObject naming the enumeration, the text and the known names. */
template <typename TEnum>
TEnum
FromString(const std::string & name)
{
  if (const auto value = FindByName<TEnum>(name))
  {
    return *value;
  }
  itkGenericExceptionMacro(<< EnumNames<TEnum>::Enumeration << " is \"" << name << "\"; it must be "
                           << KnownNames<TEnum>());
}

/** The name, qualified as ITK's enumerations are. */
template <typename TEnum>
std::ostream &
Print(std::ostream & out, TEnum value)
{
  const std::string  type = std::string("itk::CudaFiltersEnums::") + EnumNames<TEnum>::Enumeration;
  const char * const name = NameOf(value);
  return name ? out << type << "::" << name : out << "INVALID VALUE FOR " << type;
}
} // namespace itk::cuda

#endif
