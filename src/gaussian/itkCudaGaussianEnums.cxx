// SPDX-License-Identifier: Apache-2.0
#include "itkCudaFiltersEnums.h"

#include "itkCudaEnumNames.h"

namespace itk
{
namespace cuda
{
template <>
struct EnumNames<CudaFiltersEnums::Approximation>
{
  static constexpr const char *                Enumeration = "Approximation";
  static constexpr std::array<const char *, 2> Values{ { "Deriche", "Accurate" } };
};
} // namespace cuda

std::ostream &
operator<<(std::ostream & out, const CudaFiltersEnums::Approximation value)
{
  return cuda::Print(out, value);
}

CudaFiltersEnums::Approximation
CudaApproximationFromString(const std::string & name)
{
  return cuda::FromString<CudaFiltersEnums::Approximation>(name);
}
} // end namespace itk
