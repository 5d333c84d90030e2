// SPDX-License-Identifier: Apache-2.0
#include "itkCudaFiltersEnums.h"

#include "runtime/EnumNames.h"

// Names the values of Approximation and BoundaryMode, for printing and parsing.

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

template <>
struct EnumNames<CudaFiltersEnums::BoundaryMode>
{
  static constexpr const char *                Enumeration = "BoundaryMode";
  static constexpr std::array<const char *, 5> Values{ { "Nearest", "Reflect", "Mirror", "Wrap", "Constant" } };
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

std::ostream &
operator<<(std::ostream & out, const CudaFiltersEnums::BoundaryMode value)
{
  return cuda::Print(out, value);
}

CudaFiltersEnums::BoundaryMode
CudaBoundaryModeFromString(const std::string & name)
{
  // These modes have two names in scipy.ndimage.
  const std::string normalised = cuda::NormaliseName(name);
  const bool        isGrid = normalised == "gridwrap" || normalised == "gridconstant";
  return cuda::FromString<CudaFiltersEnums::BoundaryMode>(
    isGrid ? normalised.substr(4) : (normalised == "gridmirror" ? std::string("Reflect") : name));
}
} // end namespace itk
