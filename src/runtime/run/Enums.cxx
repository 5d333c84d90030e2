// SPDX-License-Identifier: Apache-2.0
#include "itkCudaFiltersEnums.h"
#include "runtime/EnumNames.h"
#include "itkCudaDetailDeviceTransfer.h"

// Names the values of Backend, Streaming and CudaRounding, for printing and parsing.

namespace itk
{
namespace cuda
{
template <>
struct EnumNames<CudaFiltersEnums::Backend>
{
  static constexpr const char *                Enumeration = "Backend";
  static constexpr std::array<const char *, 3> Values{ { "Automatic", "Cuda", "Host" } };
};

template <>
struct EnumNames<CudaFiltersEnums::Streaming>
{
  static constexpr const char *                Enumeration = "Streaming";
  static constexpr std::array<const char *, 3> Values{ { "Automatic", "On", "Off" } };
};
} // namespace cuda

std::string
CudaBackendToString(CudaFiltersEnums::Backend value)
{
  const char * const name = cuda::NameOf(value);
  return name ? name : "INVALID VALUE FOR itk::CudaFiltersEnums::Backend";
}

CudaFiltersEnums::Backend
CudaBackendFromString(const std::string & name, const char * parameter)
{
  if (const auto value = cuda::FindByName<CudaFiltersEnums::Backend>(name))
  {
    return *value;
  }
  // Lists the names as they are written in the environment and on command lines.
  itkGenericExceptionMacro(<< parameter << " is \"" << name << "\"; it must be automatic, cuda or host");
}

std::ostream &
operator<<(std::ostream & out, const CudaFiltersEnums::Backend value)
{
  return cuda::Print(out, value);
}

std::string
CudaStreamingToString(CudaFiltersEnums::Streaming value)
{
  const char * const name = cuda::NameOf(value);
  return name ? name : "INVALID VALUE FOR itk::CudaFiltersEnums::Streaming";
}

CudaFiltersEnums::Streaming
CudaStreamingFromString(const std::string & name, const char * parameter)
{
  if (const auto value = cuda::FindByName<CudaFiltersEnums::Streaming>(name))
  {
    return *value;
  }
  itkGenericExceptionMacro(<< parameter << " is \"" << name << "\"; it must be automatic, on or off");
}

std::ostream &
operator<<(std::ostream & out, const CudaFiltersEnums::Streaming value)
{
  return cuda::Print(out, value);
}

namespace cuda
{
template <>
struct EnumNames<CudaRounding>
{
  static constexpr const char *                Enumeration = "Rounding";
  static constexpr std::array<const char *, 2> Values{ { "Truncate", "Nearest" } };
};
} // namespace cuda

std::string
CudaRoundingToString(CudaRounding rounding)
{
  const char * const name = cuda::NameOf(rounding);
  return name ? name : "INVALID VALUE FOR itk::CudaRounding";
}

CudaRounding
CudaRoundingFromString(const std::string & name)
{
  return cuda::FromString<CudaRounding>(name);
}

std::ostream &
operator<<(std::ostream & out, CudaRounding rounding)
{
  return out << CudaRoundingToString(rounding);
}
} // end namespace itk
