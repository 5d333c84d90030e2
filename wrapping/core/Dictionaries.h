// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_wrapping_Dictionaries_h
#define CudaFilters_wrapping_Dictionaries_h

// Converts plain structs to dictionaries with Python names, for the functions of _core and for the wrapped classes:
// ITK's generator does not wrap member variables.
#include "Interpreter.h"

#include "itkCudaDetectionTypes.h"
#include "itkCudaDeviceInformation.h"
#include "itkCudaNoiseLaws.h"
#include "itkCudaRegionPartitionTypes.h"
#include "itkCudaRegionSnakeTypes.h"
#include "itkCudaSlabs.h"
#include "itkPoint.h"

#include <cstdint>
#include <sstream>
#include <type_traits>
#include <vector>

namespace cudafilters
{
/** Converts a vector to a list. Returns a new reference, or nullptr with Python's error, as all functions here. */
template <typename T>
PyObject *
AsPython(const std::vector<T> & elements);

inline PyObject *
AsPython(int number)
{
  return PyLong_FromLong(number);
}

inline PyObject *
AsPython(uint32_t number)
{
  return PyLong_FromUnsignedLong(number);
}

/** Returns the name of a value of an enumeration. */
template <typename T>
std::enable_if_t<std::is_enum_v<T>, PyObject *>
AsPython(T value)
{
  std::ostringstream name;
  name << value;
  return PyUnicode_FromString(name.str().c_str());
}

inline PyObject *
AsPython(const itk::CudaDeviceInformation & device)
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

inline PyObject *
AsPython(const itk::CudaSlabReport & report)
{
  return Py_BuildValue("{s:s,s:N,s:n,s:n,s:I,s:N,s:K,s:K,s:K,s:n}",
                       "used",
                       itk::CudaSlabScheduleToString(report.Used).c_str(),
                       "on_host",
                       PyBool_FromLong(report.OnHost),
                       "number_of_slabs",
                       static_cast<Py_ssize_t>(report.NumberOfSlabs),
                       "chunks_per_slab",
                       static_cast<Py_ssize_t>(report.ChunksPerSlab),
                       "look_ahead",
                       report.LookAhead,
                       "devices",
                       AsPython(report.Devices),
                       "bytes_up",
                       static_cast<unsigned long long>(report.BytesUp),
                       "bytes_down",
                       static_cast<unsigned long long>(report.BytesDown),
                       "bytes_between",
                       static_cast<unsigned long long>(report.BytesBetween),
                       "peak_device_bytes",
                       static_cast<Py_ssize_t>(report.PeakDeviceBytes));
}

inline PyObject *
AsPython(const itk::CudaNoiseLawInformation & law)
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

inline PyObject *
AsPython(const itk::CudaRegionSnakeStatistics & region)
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

inline PyObject *
AsPython(const itk::CudaRegionSnakeStep & step)
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

inline PyObject *
AsPython(const itk::CudaSnakePoint & point)
{
  return Py_BuildValue("(ii)", point.X, point.Y);
}

inline PyObject *
AsPython(const itk::Point<double, 2> & point)
{
  return Py_BuildValue("(dd)", point[0], point[1]);
}

inline PyObject *
AsPython(const itk::CudaRegionSnakeResult & result)
{
  return Py_BuildValue("{s:N,s:N,s:N,s:d,s:d,s:d,s:N,s:N,s:I,s:N,s:{s:d,s:d,s:d,s:d,s:d}}",
                       "polygon",
                       AsPython(result.Polygon),
                       "inside",
                       AsPython(result.Inside),
                       "outside",
                       AsPython(result.Outside),
                       "criterion",
                       result.Criterion,
                       "criterion_of_one_region",
                       result.CriterionOfOneRegion,
                       "description_length",
                       result.DescriptionLength,
                       "significant_boundary",
                       PyBool_FromLong(result.SignificantBoundary),
                       "stop",
                       AsPython(result.Stop),
                       "number_of_iterations",
                       static_cast<unsigned int>(result.NumberOfIterations),
                       "record",
                       AsPython(result.Record),
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

inline PyObject *
AsPython(const itk::CudaDetection & detection)
{
  const auto & box = detection.BoundingBox;
  return Py_BuildValue("{s:K,s:(iiii),s:(dd),s:(ii),s:d,s:d,s:N,s:N}",
                       "number_of_pixels",
                       static_cast<unsigned long long>(detection.NumberOfPixels),
                       "bounding_box",
                       box[0],
                       box[1],
                       box[2],
                       box[3],
                       "centroid",
                       detection.Centroid[0],
                       detection.Centroid[1],
                       "peak",
                       detection.Peak[0],
                       detection.Peak[1],
                       "significance",
                       detection.Significance,
                       "statistic",
                       detection.Statistic,
                       "target",
                       AsPython(detection.Target),
                       "background",
                       AsPython(detection.Background));
}

inline PyObject *
AsPython(const itk::CudaRegionSnakeRegion & region)
{
  return Py_BuildValue("{s:N,s:(iiii),s:I,s:K}",
                       "result",
                       AsPython(static_cast<const itk::CudaRegionSnakeResult &>(region)),
                       "window",
                       region.WindowCorner.X,
                       region.WindowCorner.Y,
                       region.WindowSize.X,
                       region.WindowSize.Y,
                       "start_label",
                       region.StartLabel,
                       "hidden_pixels",
                       static_cast<unsigned long long>(region.NumberOfHiddenPixels));
}

inline PyObject *
AsPython(const itk::CudaRegionSnakeOverlap & overlap)
{
  return Py_BuildValue("(nnK)",
                       static_cast<Py_ssize_t>(overlap.First) + 1,
                       static_cast<Py_ssize_t>(overlap.Second) + 1,
                       static_cast<unsigned long long>(overlap.NumberOfPixels));
}

inline PyObject *
AsPython(const itk::CudaPartitionEdge & edge)
{
  return Py_BuildValue("(IIII)",
                       static_cast<unsigned int>(edge.Start),
                       static_cast<unsigned int>(edge.End),
                       static_cast<unsigned int>(edge.Left),
                       static_cast<unsigned int>(edge.Right));
}

inline PyObject *
AsPython(const itk::CudaPartitionMerge & merge)
{
  return Py_BuildValue(
    "(IId)", static_cast<unsigned int>(merge.First), static_cast<unsigned int>(merge.Second), merge.Change);
}

inline PyObject *
AsPython(const itk::CudaPartitionRegion & region)
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
                       AsPython(region.Neighbors),
                       "description",
                       region.Description);
}

inline PyObject *
AsPython(const itk::CudaRegionPartitionResult & result)
{
  return Py_BuildValue("{s:N,s:N,s:N,s:N,s:d,s:d,s:d,s:I,s:N}",
                       "nodes",
                       AsPython(result.Nodes),
                       "edges",
                       AsPython(result.Edges),
                       "regions",
                       AsPython(result.Regions),
                       "merges",
                       AsPython(result.Merges),
                       "description",
                       result.Description,
                       "description_of_one_region",
                       result.DescriptionOfOneRegion,
                       "number_of_looks",
                       result.NumberOfLooks,
                       "number_of_iterations",
                       static_cast<unsigned int>(result.NumberOfIterations),
                       "stop",
                       AsPython(result.Stop));
}

// Defined last, because it calls the functions of all types of elements.
template <typename T>
PyObject *
AsPython(const std::vector<T> & elements)
{
  PyObject * const list = PyList_New(static_cast<Py_ssize_t>(elements.size()));
  for (size_t i = 0; list && i < elements.size(); ++i)
  {
    PyList_SetItem(list, static_cast<Py_ssize_t>(i), AsPython(elements[i]));
  }
  return list;
}
} // namespace cudafilters

#endif
