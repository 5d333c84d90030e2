// SPDX-License-Identifier: Apache-2.0
#include "itkCudaFiltersEnums.h"
#include "itkCudaRegionSnakeTypes.h"

#include "runtime/EnumNames.h"

// Names the values of the snake's enumerations, for printing and parsing.

namespace itk
{
using Schedule = CudaFiltersEnums::Schedule;
using Start = CudaFiltersEnums::Start;

namespace cuda
{
template <>
struct EnumNames<Schedule>
{
  static constexpr const char *                Enumeration = "Schedule";
  static constexpr std::array<const char *, 2> Values{ { "CoarseToFine", "AsPublished" } };
};

template <>
struct EnumNames<Start>
{
  static constexpr const char *                Enumeration = "Start";
  static constexpr std::array<const char *, 2> Values{ { "Automatic", "MarginRectangle" } };
};

template <>
struct EnumNames<CudaRegionSnakeStop>
{
  static constexpr std::array<const char *, 5> Values{
    { "Converged", "MaximumNumberOfIterations", "MaximumNumberOfNodes", "RegionTooSmall", "Aborted" }
  };
};

template <>
struct EnumNames<CudaRegionSnakeStep::Kind>
{
  static constexpr std::array<const char *, 4> Values{ { "level", "iteration", "insertion", "removal" } };
};
} // namespace cuda

std::ostream &
operator<<(std::ostream & out, const Schedule value)
{
  return cuda::Print(out, value);
}

std::ostream &
operator<<(std::ostream & out, const Start value)
{
  return cuda::Print(out, value);
}

std::ostream &
operator<<(std::ostream & out, const CudaRegionSnakeStop value)
{
  const char * const name = cuda::NameOf(value);
  return out << (name ? name : "INVALID VALUE");
}

Schedule
CudaScheduleFromString(const std::string & name)
{
  return cuda::FromString<Schedule>(name);
}

Start
CudaStartFromString(const std::string & name)
{
  return cuda::FromString<Start>(name);
}

const char *
CudaRegionSnakeStepName(CudaRegionSnakeStep::Kind kind)
{
  const char * const name = cuda::NameOf(kind);
  return name ? name : "INVALID VALUE";
}
} // end namespace itk
