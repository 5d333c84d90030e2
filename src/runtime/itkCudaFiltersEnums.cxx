// SPDX-License-Identifier: Apache-2.0
#include "itkCudaFiltersEnums.h"

#include "itkMacro.h"

#include <algorithm>
#include <array>
#include <cctype>

namespace itk
{
namespace
{
struct NamedBackend
{
  CudaFiltersEnums::Backend Value;
  const char *              Name;
};

constexpr std::array<NamedBackend, 3> namedBackends{ { { CudaFiltersEnums::Backend::Automatic, "Automatic" },
                                                       { CudaFiltersEnums::Backend::Cuda, "Cuda" },
                                                       { CudaFiltersEnums::Backend::Host, "Host" } } };

std::string
ToLower(std::string text)
{
  std::transform(
    text.begin(), text.end(), text.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}
} // namespace

std::string
CudaBackendToString(CudaFiltersEnums::Backend value)
{
  for (const NamedBackend & named : namedBackends)
  {
    if (named.Value == value)
    {
      return named.Name;
    }
  }
  return "INVALID VALUE FOR itk::CudaFiltersEnums::Backend";
}

CudaFiltersEnums::Backend
CudaBackendFromString(const std::string & name, const char * parameter)
{
  for (const NamedBackend & named : namedBackends)
  {
    if (ToLower(name) == ToLower(named.Name))
    {
      return named.Value;
    }
  }
  itkGenericExceptionMacro(<< parameter << " is \"" << name << "\"; it must be automatic, cuda or host");
}

std::ostream &
operator<<(std::ostream & out, const CudaFiltersEnums::Backend value)
{
  const std::string name = CudaBackendToString(value);
  const bool        known = name.find(' ') == std::string::npos;
  return out << (known ? "itk::CudaFiltersEnums::Backend::" : "") << name;
}
} // end namespace itk
