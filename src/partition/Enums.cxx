// SPDX-License-Identifier: Apache-2.0
#include "itkCudaRegionPartitionTypes.h"

#include "runtime/EnumNames.h"

namespace itk
{
namespace cuda
{
template <>
struct EnumNames<CudaRegionPartitionStop>
{
  static constexpr std::array<const char *, 4> Values{
    { "Converged", "MaximumNumberOfIterations", "LabelsOnly", "Aborted" }
  };
};
} // namespace cuda

std::ostream &
operator<<(std::ostream & out, const CudaRegionPartitionStop value)
{
  const char * const name = cuda::NameOf(value);
  return out << (name ? name : "INVALID VALUE");
}
} // end namespace itk
