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
%fragment("CudaDeviceInformation_AsDictionary", "header")
%{
static PyObject *
CudaDeviceInformation_AsDictionary(const itk::CudaDeviceInformation & device)
{
  return Py_BuildValue("{s:i,s:s,s:(ii),s:K,s:K,s:N,s:s}",
                       "index",
                       device.Index,
                       "name",
                       device.Name.c_str(),
                       "compute_capability",
                       device.ComputeCapability / 10,
                       device.ComputeCapability % 10,
                       "total_memory",
                       static_cast<unsigned long long>(device.TotalMemory),
                       "free_memory",
                       static_cast<unsigned long long>(device.FreeMemory),
                       "usable",
                       PyBool_FromLong(device.Usable),
                       "reason",
                       device.Reason.c_str());
}
%}

%typemap(out, fragment = "CudaDeviceInformation_AsDictionary")
  std::vector< itk::CudaDeviceInformation >
{
  const std::vector<itk::CudaDeviceInformation> & devices = $1;
  $result = PyList_New(static_cast<Py_ssize_t>(devices.size()));
  for (size_t i = 0; $result && i < devices.size(); ++i)
  {
    PyList_SetItem($result, static_cast<Py_ssize_t>(i), CudaDeviceInformation_AsDictionary(devices[i]));
  }
}

%fragment("CudaFiltersSlabs", "header")
%{
#include "CudaFiltersSlabs.h"
%}

%typemap(out, fragment = "CudaFiltersSlabs") const itk::CudaSlabReport &
{
  $result = cudafilters::SlabReportAsDictionary(*$1);
}

%fragment("CudaNoiseLawInformation_AsDictionary", "header")
%{
static PyObject *
CudaNoiseLawInformation_AsDictionary(const itk::CudaNoiseLawInformation & law)
{
  return Py_BuildValue("{s:s,s:s,s:s,s:s,s:N}",
                       "name",
                       law.Name.c_str(),
                       "description",
                       law.Description.c_str(),
                       "allowed_values",
                       law.AllowedValues.c_str(),
                       "parameter",
                       law.Parameter.c_str(),
                       "uses_squares",
                       PyBool_FromLong(law.UsesSquares));
}
%}

%typemap(out, fragment = "CudaNoiseLawInformation_AsDictionary")
  std::vector< itk::CudaNoiseLawInformation >
{
  const std::vector<itk::CudaNoiseLawInformation> & laws = $1;
  $result = PyList_New(static_cast<Py_ssize_t>(laws.size()));
  for (size_t i = 0; $result && i < laws.size(); ++i)
  {
    PyList_SetItem($result, static_cast<Py_ssize_t>(i), CudaNoiseLawInformation_AsDictionary(laws[i]));
  }
}

%fragment("CudaRegionSnakeResult_AsDictionary", "header")
%{
#include <sstream>

static PyObject *
CudaRegionSnakeStop_AsString(itk::CudaRegionSnakeStop stop)
{
  std::ostringstream name;
  name << stop;
  return PyUnicode_FromString(name.str().c_str());
}

static PyObject *
CudaRegionSnakeStatistics_AsDictionary(const itk::CudaRegionSnakeStatistics & region)
{
  return Py_BuildValue("{s:K,s:d,s:d,s:d}",
                       "number_of_pixels",
                       static_cast<unsigned long long>(region.NumberOfPixels),
                       "mean",
                       region.Mean,
                       "mean_square",
                       region.MeanSquare,
                       "variance",
                       region.Variance);
}

static PyObject *
CudaRegionSnakeStep_AsDictionary(const itk::CudaRegionSnakeStep & step)
{
  return Py_BuildValue("{s:s,s:I,s:I,s:I,s:L,s:d,s:d}",
                       "what",
                       itk::CudaRegionSnakeStepName(step.What),
                       "level_exponent",
                       static_cast<unsigned int>(step.LevelExponent),
                       "step",
                       static_cast<unsigned int>(step.Step),
                       "number_of_nodes",
                       static_cast<unsigned int>(step.NumberOfNodes),
                       "number_of_pixels",
                       static_cast<long long>(step.NumberOfPixels),
                       "criterion",
                       step.Criterion,
                       "change",
                       step.Change);
}

static PyObject *
CudaRegionSnakeRecord_AsList(const std::vector<itk::CudaRegionSnakeStep> & record)
{
  PyObject * const list = PyList_New(static_cast<Py_ssize_t>(record.size()));
  for (size_t i = 0; list && i < record.size(); ++i)
  {
    PyList_SetItem(list, static_cast<Py_ssize_t>(i), CudaRegionSnakeStep_AsDictionary(record[i]));
  }
  return list;
}

static PyObject *
CudaSnakePolygon_AsList(const itk::CudaSnakePolygon & polygon)
{
  PyObject * const list = PyList_New(static_cast<Py_ssize_t>(polygon.size()));
  for (size_t i = 0; list && i < polygon.size(); ++i)
  {
    PyList_SetItem(list, static_cast<Py_ssize_t>(i), Py_BuildValue("(ii)", polygon[i].X, polygon[i].Y));
  }
  return list;
}

static PyObject *
CudaRegionSnakeResult_AsDictionary(const itk::CudaRegionSnakeResult & result)
{
  return Py_BuildValue("{s:N,s:N,s:N,s:d,s:d,s:d,s:N,s:N,s:I,s:N,s:{s:d,s:d,s:d,s:d,s:d}}",
                       "polygon",
                       CudaSnakePolygon_AsList(result.Polygon),
                       "inside",
                       CudaRegionSnakeStatistics_AsDictionary(result.Inside),
                       "outside",
                       CudaRegionSnakeStatistics_AsDictionary(result.Outside),
                       "criterion",
                       result.Criterion,
                       "criterion_of_one_region",
                       result.CriterionOfOneRegion,
                       "description_length",
                       result.DescriptionLength,
                       "significant_boundary",
                       PyBool_FromLong(result.SignificantBoundary),
                       "stop",
                       CudaRegionSnakeStop_AsString(result.Stop),
                       "number_of_iterations",
                       static_cast<unsigned int>(result.NumberOfIterations),
                       "record",
                       CudaRegionSnakeRecord_AsList(result.Record),
                       "seconds",
                       "samples",
                       result.SecondsOfSamples,
                       "sums",
                       result.SecondsOfSums,
                       "start",
                       result.SecondsOfStart,
                       "moves",
                       result.SecondsOfMoves,
                       "removal",
                       result.SecondsOfRemoval);
}
%}

%typemap(out, fragment = "CudaRegionSnakeResult_AsDictionary") itk::CudaRegionSnakeStop
{
  $result = CudaRegionSnakeStop_AsString($1);
}

%typemap(out, fragment = "CudaRegionSnakeResult_AsDictionary") const itk::CudaRegionSnakeStatistics &
{
  $result = CudaRegionSnakeStatistics_AsDictionary(*$1);
}

%typemap(out, fragment = "CudaRegionSnakeResult_AsDictionary") const itk::CudaRegionSnakeStep &
{
  $result = CudaRegionSnakeStep_AsDictionary(*$1);
}

%typemap(out, fragment = "CudaRegionSnakeResult_AsDictionary") const std::vector< itk::CudaRegionSnakeStep > &
{
  $result = CudaRegionSnakeRecord_AsList(*$1);
}

%typemap(out, fragment = "CudaRegionSnakeResult_AsDictionary") const std::vector< itk::CudaSnakePoint > &
{
  $result = CudaSnakePolygon_AsList(*$1);
}

%typemap(out, fragment = "CudaRegionSnakeResult_AsDictionary") const itk::CudaRegionSnakeResult &
{
  $result = CudaRegionSnakeResult_AsDictionary(*$1);
}

%fragment("CudaRegionPartition_AsPython", "header", fragment = "CudaRegionSnakeResult_AsDictionary")
%{
template <typename TElement, typename TConvert>
static PyObject *
CudaPartition_AsList(const std::vector<TElement> & elements, const TConvert & convert)
{
  PyObject * const list = PyList_New(static_cast<Py_ssize_t>(elements.size()));
  for (size_t i = 0; list && i < elements.size(); ++i)
  {
    PyList_SetItem(list, static_cast<Py_ssize_t>(i), convert(elements[i]));
  }
  return list;
}

static PyObject *
CudaPartitionNumber_AsInteger(const unsigned int & number)
{
  return PyLong_FromUnsignedLong(number);
}

static PyObject *
CudaPartitionEdge_AsTuple(const itk::CudaPartitionEdge & edge)
{
  return Py_BuildValue("(IIII)",
                       static_cast<unsigned int>(edge.Start),
                       static_cast<unsigned int>(edge.End),
                       static_cast<unsigned int>(edge.Left),
                       static_cast<unsigned int>(edge.Right));
}

static PyObject *
CudaPartitionMerge_AsTuple(const itk::CudaPartitionMerge & merge)
{
  return Py_BuildValue(
    "(IId)", static_cast<unsigned int>(merge.First), static_cast<unsigned int>(merge.Second), merge.Change);
}

static PyObject *
CudaPartitionRegion_AsDictionary(const itk::CudaPartitionRegion & region)
{
  return Py_BuildValue("{s:K,s:d,s:d,s:d,s:d,s:d,s:(iiii),s:N,s:d}",
                       "number_of_pixels",
                       static_cast<unsigned long long>(region.NumberOfPixels),
                       "mean",
                       region.Mean,
                       "mean_square",
                       region.MeanSquare,
                       "variance",
                       region.Variance,
                       "area",
                       region.Area,
                       "perimeter",
                       region.Perimeter,
                       "bounding_box",
                       region.BoundingBox[0],
                       region.BoundingBox[1],
                       region.BoundingBox[2],
                       region.BoundingBox[3],
                       "neighbors",
                       CudaPartition_AsList(region.Neighbors, CudaPartitionNumber_AsInteger),
                       "description",
                       region.Description);
}

static PyObject *
CudaRegionPartitionStop_AsString(itk::CudaRegionPartitionStop stop)
{
  std::ostringstream name;
  name << stop;
  return PyUnicode_FromString(name.str().c_str());
}

static PyObject *
CudaRegionPartitionResult_AsDictionary(const itk::CudaRegionPartitionResult & result)
{
  return Py_BuildValue("{s:N,s:N,s:N,s:N,s:d,s:d,s:d,s:I,s:N}",
                       "nodes",
                       CudaSnakePolygon_AsList(result.Nodes),
                       "edges",
                       CudaPartition_AsList(result.Edges, CudaPartitionEdge_AsTuple),
                       "regions",
                       CudaPartition_AsList(result.Regions, CudaPartitionRegion_AsDictionary),
                       "merges",
                       CudaPartition_AsList(result.Merges, CudaPartitionMerge_AsTuple),
                       "description",
                       result.Description,
                       "description_of_one_region",
                       result.DescriptionOfOneRegion,
                       "number_of_looks",
                       result.NumberOfLooks,
                       "number_of_iterations",
                       static_cast<unsigned int>(result.NumberOfIterations),
                       "stop",
                       CudaRegionPartitionStop_AsString(result.Stop));
}
%}

%typemap(out, fragment = "CudaRegionPartition_AsPython") itk::CudaRegionPartitionStop
{
  $result = CudaRegionPartitionStop_AsString($1);
}

%typemap(out, fragment = "CudaRegionPartition_AsPython") const itk::CudaPartitionRegion &
{
  $result = CudaPartitionRegion_AsDictionary(*$1);
}

%typemap(out, fragment = "CudaRegionPartition_AsPython") const std::vector< itk::CudaPartitionRegion > &
{
  $result = CudaPartition_AsList(*$1, CudaPartitionRegion_AsDictionary);
}

%typemap(out, fragment = "CudaRegionPartition_AsPython") const std::vector< itk::CudaPartitionEdge > &
{
  $result = CudaPartition_AsList(*$1, CudaPartitionEdge_AsTuple);
}

%typemap(out, fragment = "CudaRegionPartition_AsPython") const std::vector< itk::CudaPartitionMerge > &
{
  $result = CudaPartition_AsList(*$1, CudaPartitionMerge_AsTuple);
}

%typemap(out, fragment = "CudaRegionPartition_AsPython") const itk::CudaRegionPartitionResult &
{
  $result = CudaRegionPartitionResult_AsDictionary(*$1);
}

// The numbers of regions after merges.
%typemap(out, fragment = "CudaRegionPartition_AsPython") std::vector< unsigned int >
{
  const std::vector<unsigned int> & numbers = $1;
  $result = CudaPartition_AsList(numbers, CudaPartitionNumber_AsInteger);
}

// The rings of a region.
%typemap(out, fragment = "CudaRegionPartition_AsPython") std::vector< std::vector< itk::CudaSnakePoint > >
{
  const std::vector<itk::CudaSnakePolygon> & rings = $1;
  $result = CudaPartition_AsList(rings, CudaSnakePolygon_AsList);
}

%typemap(out, fragment = "CudaRegionPartition_AsPython") std::vector< std::vector< itkPointD2 > >
{
  using PhysicalRing = std::vector<itk::Point<double, 2>>;
  const std::vector<PhysicalRing> & rings = $1;
  $result = CudaPartition_AsList(rings, [](const PhysicalRing & ring) {
    return CudaPartition_AsList(ring, [](const itk::Point<double, 2> & point) {
      return Py_BuildValue("(dd)", point[0], point[1]);
    });
  });
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
