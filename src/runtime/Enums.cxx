// SPDX-License-Identifier: Apache-2.0
#include "itkCudaFiltersEnums.h"
#include "itkCudaRegionPartitionTypes.h"
#include "itkCudaRegionSnakeTypes.h"
#include "itkCudaStructureTensorEnums.h"
#include "itkCudaVesselnessEnums.h"
#include "runtime/EnumNames.h"

// Names the values of the enumerations, for printing and parsing. The names of the noise laws are in region/Laws.cxx.

/** Names the values of an enumeration that is printed with its own name, as ITK's are. */
#define itkCudaPrintedEnumMacro(type, ...)                        \
  itkCudaEnumNamesMacro(type, __VA_ARGS__);                       \
  std::ostream & operator<<(std::ostream & out, const type value) \
  {                                                               \
    return cuda::Print(out, value);                               \
  }                                                               \
  static_assert(true, "")

/** Names the values of a parameter that is also set by names. */
#define itkCudaParameterEnumMacro(scope, parameter, ...)                 \
  itkCudaPrintedEnumMacro(scope::parameter, __VA_ARGS__);                \
  scope::parameter Cuda##parameter##FromString(const std::string & name) \
  {                                                                      \
    return cuda::FromString<scope::parameter>(name);                     \
  }                                                                      \
  static_assert(true, "")

/** Names the values of an enumeration that is printed without its own name. */
#define itkCudaPlainEnumMacro(type, ...)                          \
  itkCudaEnumNamesMacro(type, __VA_ARGS__);                       \
  std::ostream & operator<<(std::ostream & out, const type value) \
  {                                                               \
    return out << cuda::NameOf(value);                            \
  }                                                               \
  static_assert(true, "")

namespace itk
{
itkCudaPrintedEnumMacro(CudaFiltersEnums::Backend, "Automatic", "Cuda", "Host");
itkCudaPrintedEnumMacro(CudaFiltersEnums::Streaming, "Automatic", "On", "Off");
itkCudaPrintedEnumMacro(CudaFiltersEnums::BoundaryMode, "Nearest", "Reflect", "Mirror", "Wrap", "Constant");
itkCudaParameterEnumMacro(CudaFiltersEnums, Approximation, "Deriche", "Accurate");
itkCudaParameterEnumMacro(CudaFiltersEnums, Schedule, "CoarseToFine", "AsPublished");
itkCudaParameterEnumMacro(CudaFiltersEnums, Start, "Automatic", "MarginRectangle");
itkCudaParameterEnumMacro(CudaFiltersEnums, Partition, "OneWay", "TwoWay", "Exact");
itkCudaParameterEnumMacro(CudaFiltersEnums, LineBorders, "AsPublished", "Exact");
itkCudaParameterEnumMacro(CudaFiltersEnums, IntermediateStorage, "Local", "Global");
itkCudaParameterEnumMacro(CudaVesselnessEnums, HessianMeasure, "Objectness", "Frangi", "Sato", "Jerman", "Meijering");
itkCudaPlainEnumMacro(CudaRounding, "Truncate", "Nearest");
itkCudaPlainEnumMacro(CudaStructureTensorEnums::Quantity, "Components", "Eigenvalues", "Orientation", "Coherence");
itkCudaPlainEnumMacro(CudaRegionPartitionStop, "Converged", "MaximumNumberOfIterations", "LabelsOnly", "Aborted");
itkCudaPlainEnumMacro(CudaRegionSnakeStop,
                      "Converged",
                      "MaximumNumberOfIterations",
                      "MaximumNumberOfNodes",
                      "RegionTooSmall",
                      "Aborted");
itkCudaEnumNamesMacro(CudaRegionSnakeStep::Kind, "level", "iteration", "insertion", "removal");

std::string
CudaBackendToString(CudaFiltersEnums::Backend value)
{
  return cuda::NameOf(value);
}

CudaFiltersEnums::Backend
CudaBackendFromString(const std::string & name, const char * parameter)
{
  return cuda::FromString<CudaFiltersEnums::Backend>(name, parameter, true);
}

std::string
CudaStreamingToString(CudaFiltersEnums::Streaming value)
{
  return cuda::NameOf(value);
}

CudaFiltersEnums::Streaming
CudaStreamingFromString(const std::string & name, const char * parameter)
{
  return cuda::FromString<CudaFiltersEnums::Streaming>(name, parameter, true);
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

std::string
CudaRoundingToString(CudaRounding rounding)
{
  return cuda::NameOf(rounding);
}

CudaRounding
CudaRoundingFromString(const std::string & name)
{
  return cuda::FromString<CudaRounding>(name, "Rounding");
}

const char *
CudaRegionSnakeStepName(CudaRegionSnakeStep::Kind kind)
{
  return cuda::NameOf(kind);
}
} // end namespace itk
