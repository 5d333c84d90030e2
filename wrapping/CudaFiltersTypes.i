// SPDX-License-Identifier: Apache-2.0
// Begins each file of a class. If the module is wrapped without its Python package, nothing is checked.
%pythonbegin %{
try:
    from itk_cudafilters import _library
except ModuleNotFoundError:
    pass
else:
    import itkConfig

    _library.require_same_version(itkConfig.ITK_GLOBAL_VERSION_STRING)
%}

// Converts plain structs to dictionaries with Python names, because ITK's generator does not wrap member variables.
%fragment("CudaFiltersDictionaries", "header")
%{
#include "core/Dictionaries.h"
%}

%typemap(out, fragment = "CudaFiltersDictionaries")
  const itk::CudaSlabReport &,
  const itk::CudaRegionSnakeStatistics &,
  const itk::CudaRegionSnakeStep &,
  const std::vector< itk::CudaRegionSnakeStep > &,
  const std::vector< itk::CudaSnakePoint > &,
  const itk::CudaRegionSnakeResult &,
  const itk::CudaPartitionRegion &,
  const std::vector< itk::CudaPartitionRegion > &,
  const std::vector< itk::CudaPartitionEdge > &,
  const std::vector< itk::CudaPartitionMerge > &,
  const itk::CudaRegionPartitionResult &
{
  $result = cudafilters::AsPython(*$1);
}

%define CUDAFILTERS_VALUE_AS_PYTHON(type)
%typemap(out, fragment = "CudaFiltersDictionaries") type
{
  const type & value = $1;
  $result = cudafilters::AsPython(value);
}
%enddef

CUDAFILTERS_VALUE_AS_PYTHON(std::vector< itk::CudaDeviceInformation >)
CUDAFILTERS_VALUE_AS_PYTHON(std::vector< itk::CudaNoiseLawInformation >)
CUDAFILTERS_VALUE_AS_PYTHON(itk::CudaRegionSnakeStop)
CUDAFILTERS_VALUE_AS_PYTHON(itk::CudaRegionPartitionStop)
// The numbers of regions after merges.
CUDAFILTERS_VALUE_AS_PYTHON(std::vector< unsigned int >)
// The rings of a region.
CUDAFILTERS_VALUE_AS_PYTHON(std::vector< std::vector< itk::CudaSnakePoint > >)

%typemap(out, fragment = "CudaFiltersDictionaries") std::vector< std::vector< itkPointD2 > >
{
  const std::vector<std::vector<itk::Point<double, 2>>> & rings = $1;
  $result = cudafilters::AsPython(rings);
}

// The enumeration is not a member of a class, so that Python cannot access its values. Return the name, which
// SetRounding() accepts.
%typemap(out) itk::CudaRounding
{
  $result = PyUnicode_FromString(itk::CudaRoundingToString($1).c_str());
}

// Checks enumerations, which Python passes as arbitrary numbers. `last` is the largest value, `words` names the values.
%define CUDAFILTERS_CHECK_ENUMERATION(name, last, words)
%typemap(check) itkCudaFiltersEnums::name
{
  if (static_cast<int>($1) > static_cast<int>(last))
  {
    const std::string message = #name " is " + std::to_string(static_cast<int>($1)) + "; it must be " + std::string(words) +
                                ", or one of itk.CudaFiltersEnums." #name "_*";
    SWIG_exception_fail(SWIG_ValueError, message.c_str());
  }
}
%enddef

CUDAFILTERS_CHECK_ENUMERATION(Backend, itkCudaFiltersEnums::Backend::Host, "automatic, cuda or host")
CUDAFILTERS_CHECK_ENUMERATION(Streaming, itkCudaFiltersEnums::Streaming::Off, "automatic, on or off")
CUDAFILTERS_CHECK_ENUMERATION(Approximation, itkCudaFiltersEnums::Approximation::Accurate, "Deriche or Accurate")
CUDAFILTERS_CHECK_ENUMERATION(BoundaryMode, itkCudaFiltersEnums::BoundaryMode::Constant, "Nearest, Reflect, Mirror, Wrap or Constant")
CUDAFILTERS_CHECK_ENUMERATION(NoiseLaw, itk::CudaNoiseLaws().back().Law, itk::CudaNoiseLawNames())
CUDAFILTERS_CHECK_ENUMERATION(Schedule, itkCudaFiltersEnums::Schedule::AsPublished, "CoarseToFine or AsPublished")
CUDAFILTERS_CHECK_ENUMERATION(Start, itkCudaFiltersEnums::Start::MarginRectangle, "Automatic or MarginRectangle")
CUDAFILTERS_CHECK_ENUMERATION(Partition, itkCudaFiltersEnums::Partition::Exact, "OneWay, TwoWay or Exact")
CUDAFILTERS_CHECK_ENUMERATION(LineBorders, itkCudaFiltersEnums::LineBorders::Exact, "AsPublished or Exact")
CUDAFILTERS_CHECK_ENUMERATION(IntermediateStorage, itkCudaFiltersEnums::IntermediateStorage::Global, "Local or Global")

%typemap(check) itkCudaVesselnessEnums::HessianMeasure
{
  if (static_cast<int>($1) > static_cast<int>(itkCudaVesselnessEnums::HessianMeasure::Meijering))
  {
    const std::string message = "HessianMeasure is " + std::to_string(static_cast<int>($1)) +
                                "; it must be Objectness, Frangi, Sato, Jerman or Meijering, or one of "
                                "itk.CudaVesselnessEnums.HessianMeasure_*";
    SWIG_exception_fail(SWIG_ValueError, message.c_str());
  }
}
