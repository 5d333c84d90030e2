// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_runtime_EnumNames_h
#define CudaFilters_runtime_EnumNames_h

#include "itkMacro.h"

#include <array>
#include <cctype>
#include <cstring>
#include <ostream>
#include <string>

// Names of enumeration values, for printing and parsing.

/** Gives the values of the enumeration itk::type their names, in their order. The macro stands in namespace itk. */
#define itkCudaEnumNamesMacro(type, ...)                                          \
  template <>                                                                     \
  struct cuda::EnumNames<type>                                                    \
  {                                                                               \
    static constexpr const char * Type = "itk::" #type;                           \
    static constexpr const char * InvalidValue = "INVALID VALUE FOR itk::" #type; \
    static constexpr std::array   Values{ __VA_ARGS__ };                          \
  }

namespace itk::cuda
{
/** Specialisations hold the qualified name of an enumeration and the names of its values. */
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

template <typename TEnum>
bool
HasName(TEnum value)
{
  return static_cast<size_t>(value) < EnumNames<TEnum>::Values.size();
}

/** Returns the name of a value, or a text that says that it has none. */
template <typename TEnum>
const char *
NameOf(TEnum value)
{
  return HasName(value) ? EnumNames<TEnum>::Values[static_cast<size_t>(value)] : EnumNames<TEnum>::InvalidValue;
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

/** Returns the value with the given name. Case, '_' and '-' do not matter.
 * \param parameter the parameter that gets the value
 * \param inLowerCase whether the message lists the names as the environment and command lines have them
 * \exception ExceptionObject that names the parameter, the text and the known names */
template <typename TEnum>
TEnum
FromString(const std::string & name,
           const char *        parameter = std::strrchr(EnumNames<TEnum>::Type, ':') + 1,
           bool                inLowerCase = false)
{
  const std::string normalised = NormaliseName(name);
  for (size_t i = 0; i < EnumNames<TEnum>::Values.size(); ++i)
  {
    if (normalised == NormaliseName(EnumNames<TEnum>::Values[i]))
    {
      return static_cast<TEnum>(i);
    }
  }
  const std::string known = KnownNames<TEnum>();
  itkGenericExceptionMacro(<< parameter << " is \"" << name << "\"; it must be "
                           << (inLowerCase ? NormaliseName(known) : known));
}

/** Prints the name, qualified as ITK's enumerations are. */
template <typename TEnum>
std::ostream &
Print(std::ostream & out, TEnum value)
{
  return (HasName(value) ? out << EnumNames<TEnum>::Type << "::" : out) << NameOf(value);
}
} // namespace itk::cuda

#endif
