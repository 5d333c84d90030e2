// SPDX-License-Identifier: Apache-2.0
#include "itkCudaEnumNames.h"
#include "itkCudaVesselnessEnums.h"

namespace itk
{
using HessianMeasure = CudaVesselnessEnums::HessianMeasure;

namespace cuda
{
template <>
struct EnumNames<HessianMeasure>
{
  static constexpr const char *                Enumeration = "HessianMeasure";
  static constexpr std::array<const char *, 5> Values{ { "Objectness", "Frangi", "Sato", "Jerman", "Meijering" } };
};
} // namespace cuda

std::ostream &
operator<<(std::ostream & out, const CudaVesselnessEnums::HessianMeasure value)
{
  constexpr const char * type = "itk::CudaVesselnessEnums::HessianMeasure";
  const char * const     name = cuda::NameOf(value);
  return name ? out << type << "::" << name : out << "INVALID VALUE FOR " << type;
}

CudaVesselnessEnums::HessianMeasure
CudaHessianMeasureFromString(const std::string & name)
{
  return cuda::FromString<HessianMeasure>(name);
}
} // end namespace itk
