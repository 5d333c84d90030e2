// SPDX-License-Identifier: Apache-2.0
#include "region/Laws.h"

#include "runtime/EnumNames.h"
#include "itkCudaNoiseLaws.h"

// Names the noise laws, and describes them to users from the table in region/Laws.h.

namespace itk
{
namespace cuda
{
namespace region
{
namespace
{
constexpr std::array<const char *, NumberOfLaws>
ListNames()
{
  std::array<const char *, NumberOfLaws> names{};
  for (size_t i = 0; i < NumberOfLaws; ++i)
  {
    names[i] = GetTraits(AllLaws[i]).Name;
  }
  return names;
}

const char *
NameOf(LawParameter parameter)
{
  switch (parameter)
  {
    case LawParameter::NumberOfLooks:
      return "NumberOfLooks";
    case LawParameter::ForegroundThreshold:
      return "ForegroundThreshold";
    case LawParameter::None:
      break;
  }
  return "";
}
} // namespace
} // namespace region
} // namespace cuda

itkCudaEnumNamesMacro(CudaFiltersEnums::NoiseLaw, cuda::region::ListNames());

std::ostream &
operator<<(std::ostream & out, const CudaFiltersEnums::NoiseLaw value)
{
  return cuda::Print(out, value);
}

CudaFiltersEnums::NoiseLaw
CudaNoiseLawFromString(const std::string & name)
{
  return cuda::FromString<CudaFiltersEnums::NoiseLaw>(name);
}

std::vector<CudaNoiseLawInformation>
CudaNoiseLaws()
{
  std::vector<CudaNoiseLawInformation> laws;
  for (const auto law : cuda::region::AllLaws)
  {
    const cuda::region::LawTraits traits = cuda::region::GetTraits(law);
    laws.push_back({ law,
                     traits.Name,
                     traits.Description,
                     cuda::region::DescribeRange(traits.Values),
                     cuda::region::NameOf(traits.Parameter),
                     traits.UsesSquares });
  }
  return laws;
}

std::string
CudaNoiseLawNames()
{
  return cuda::KnownNames<CudaFiltersEnums::NoiseLaw>();
}
} // end namespace itk
