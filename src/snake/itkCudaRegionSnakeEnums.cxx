// SPDX-License-Identifier: Apache-2.0
#include "itkCudaRegionSnakeEngine.h"

#include "itkMacro.h"
#include "itksys/SystemTools.hxx"

namespace itk
{
namespace
{
template <typename TEnum>
struct NamedValue
{
  TEnum        Value;
  const char * Name;
};

using NoiseLaw = CudaFiltersEnums::NoiseLaw;
using Schedule = CudaFiltersEnums::Schedule;
using Start = CudaFiltersEnums::Start;

constexpr NamedValue<NoiseLaw> NoiseLaws[] = {
  { NoiseLaw::Gaussian, "Gaussian" },  { NoiseLaw::GaussianCommonVariance, "GaussianCommonVariance" },
  { NoiseLaw::Gamma, "Gamma" },        { NoiseLaw::Rayleigh, "Rayleigh" },
  { NoiseLaw::Poisson, "Poisson" },    { NoiseLaw::Bernoulli, "Bernoulli" },
  { NoiseLaw::LogNormal, "LogNormal" }
};

constexpr NamedValue<Schedule> Schedules[] = { { Schedule::CoarseToFine, "CoarseToFine" },
                                               { Schedule::AsPublished, "AsPublished" } };

constexpr NamedValue<Start> Starts[] = { { Start::Automatic, "Automatic" },
                                         { Start::MarginRectangle, "MarginRectangle" } };

constexpr NamedValue<CudaRegionSnakeStop> Stops[] = {
  { CudaRegionSnakeStop::Converged, "Converged" },
  { CudaRegionSnakeStop::MaximumNumberOfIterations, "MaximumNumberOfIterations" },
  { CudaRegionSnakeStop::MaximumNumberOfNodes, "MaximumNumberOfNodes" },
  { CudaRegionSnakeStop::RegionTooSmall, "RegionTooSmall" },
  { CudaRegionSnakeStop::Aborted, "Aborted" }
};

template <typename TEnum, size_t VNumber>
const char *
NameOf(const NamedValue<TEnum> (&values)[VNumber], TEnum value)
{
  for (const auto & candidate : values)
  {
    if (candidate.Value == value)
    {
      return candidate.Name;
    }
  }
  return "INVALID VALUE";
}

template <typename TEnum, size_t VNumber>
TEnum
ValueOf(const NamedValue<TEnum> (&values)[VNumber], const std::string & name, const char * parameter)
{
  std::string known;
  for (const auto & candidate : values)
  {
    if (itksys::SystemTools::Strucmp(candidate.Name, name.c_str()) == 0)
    {
      return candidate.Value;
    }
    known += known.empty() ? candidate.Name : std::string(", ") + candidate.Name;
  }
  itkGenericExceptionMacro(<< parameter << " is \"" << name << "\"; known names are: " << known);
}
} // namespace

std::ostream &
operator<<(std::ostream & out, const NoiseLaw value)
{
  return out << "itk::CudaFiltersEnums::NoiseLaw::" << NameOf(NoiseLaws, value);
}

std::ostream &
operator<<(std::ostream & out, const Schedule value)
{
  return out << "itk::CudaFiltersEnums::Schedule::" << NameOf(Schedules, value);
}

std::ostream &
operator<<(std::ostream & out, const Start value)
{
  return out << "itk::CudaFiltersEnums::Start::" << NameOf(Starts, value);
}

std::ostream &
operator<<(std::ostream & out, const CudaRegionSnakeStop value)
{
  return out << NameOf(Stops, value);
}

NoiseLaw
CudaNoiseLawFromString(const std::string & name)
{
  return ValueOf(NoiseLaws, name, "NoiseLaw");
}

Schedule
CudaScheduleFromString(const std::string & name)
{
  return ValueOf(Schedules, name, "Schedule");
}

Start
CudaStartFromString(const std::string & name)
{
  return ValueOf(Starts, name, "Start");
}

const char *
CudaRegionSnakeStepName(CudaRegionSnakeStep::Kind kind)
{
  switch (kind)
  {
    case CudaRegionSnakeStep::Kind::Level:
      return "level";
    case CudaRegionSnakeStep::Kind::Iteration:
      return "iteration";
    case CudaRegionSnakeStep::Kind::Insertion:
      return "insertion";
    default:
      return "removal";
  }
}
} // end namespace itk
