// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_runtime_EnumNames_h
#define CudaFilters_runtime_EnumNames_h

#include "itkMacro.h"

#include <array>
#include <cctype>
#include <optional>
#include <ostream>
#include <string>

// Names of enumeration values, for printing and parsing.

namespace itk::cuda
{
/** Specialisations hold the name of an enumeration and the names of its values, in their order. */
template <typename TEnum>
struct EnumNames;

/** Returns the name in lower case without '_' and '-', so that CoarseToFine, coarse_to_fine and coarse-to-fine are the
 * same name. */
inline std::string
NormaliseName(const std::string & name)
{
  std::string normalised;
  for (const unsigned char character : name)
  {
    if (character != '_' && character != '-')
    {
      normalised += static_cast<char>(std::tolower(character));
    }
  }
  return normalised;
}

/** Returns the name of a value, or nullptr if it has none. */
template <typename TEnum>
const char *
NameOf(TEnum value)
{
  const auto index = static_cast<size_t>(value);
  return index < EnumNames<TEnum>::Values.size() ? EnumNames<TEnum>::Values[index] : nullptr;
}

/** Returns the value with the given name, if there is one. Case, '_' and '-' do not matter. */
template <typename TEnum>
std::optional<TEnum>
FindByName(const std::string & name)
{
  const std::string normalised = NormaliseName(name);
  for (size_t i = 0; i < EnumNames<TEnum>::Values.size(); ++i)
  {
    if (normalised == NormaliseName(EnumNames<TEnum>::Values[i]))
    {
      return static_cast<TEnum>(i);
    }
  }
  return std::nullopt;
}

/** Returns the names of all values in the form "A, B or C". */
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

/** Returns the value with the given name, with the rules of FindByName().
 * \exception ExceptionObject that names the enumeration, the text and the known names */
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

/** Prints the name, qualified as ITK's enumerations are. */
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
