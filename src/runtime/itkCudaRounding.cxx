// SPDX-License-Identifier: Apache-2.0
#include "itkCudaDetailDeviceTransfer.h"
#include "itkCudaEnumNames.h"

namespace itk
{
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
