// SPDX-License-Identifier: Apache-2.0
#include "CudaFiltersSlabs.h"

#include "core/Interpreter.h"
#include "itkCudaDetailFilterBackend.h"
#include "itkCudaDetailGaussianPlan.h"
#include "itkCudaDetailGaussianSlabs.h"
#include "itkCudaDetailWorkScope.h"
#include "itkMacro.h"
#include "itkMultiThreaderBase.h"

#include <array>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

namespace cudafilters
{
namespace
{
using itk::CudaDetail::CudaFilterBackend;
using itk::CudaDetail::CudaGaussianPlan;
using itk::CudaDetail::CudaImageView;

/** Calls `function` with planes and their memory. The memoryview is released after the call, because a traceback may
 * keep the arguments alive. */
void
CallWithPlanes(PyObject * function, size_t first, size_t planes, char * pixels, size_t bytes, int flags)
{
  const Reference  memory(PyMemoryView_FromMemory(pixels, static_cast<Py_ssize_t>(bytes), flags));
  PyObject * const result = PyObject_CallFunction(
    function, "nnO", static_cast<Py_ssize_t>(first), static_cast<Py_ssize_t>(planes), memory.Get());
  PyObject * type = nullptr;
  PyObject * value = nullptr;
  PyObject * traceback = nullptr;
  PyErr_Fetch(&type, &value, &traceback);
  PyObject * const released = PyObject_CallMethod(memory.Get(), "release", nullptr); // fails if an array still uses it
  if (type)
  {
    PyErr_Restore(type, value, traceback);
  }
  const bool failed = !result || !released;
  Py_XDECREF(result);
  Py_XDECREF(released);
  if (failed)
  {
    throw PythonError();
  }
}

void
CallWithShare(PyObject * function, float share)
{
  if (PyErr_CheckSignals() != 0)
  {
    throw PythonError();
  }
  if (function != Py_None)
  {
    const Reference result(PyObject_CallFunction(function, "d", static_cast<double>(share)));
  }
}

itk::CudaComponentType
ReadType(const std::string & name)
{
  using Type = itk::CudaComponentType;
  static const std::array<std::pair<const char *, Type>, 8> types{ { { "uint8", Type::UChar },
                                                                     { "int8", Type::Char },
                                                                     { "uint16", Type::UShort },
                                                                     { "int16", Type::Short },
                                                                     { "uint32", Type::UInt },
                                                                     { "int32", Type::Int },
                                                                     { "float32", Type::Float },
                                                                     { "float64", Type::Double } } };
  for (const auto & [known, type] : types)
  {
    if (name == known)
    {
      return type;
    }
  }
  itkGenericExceptionMacro("The type of pixels is " << name << ", which the filters do not know");
}

std::vector<double>
ReadNumbers(PyObject * sequence)
{
  // Convert to a list, because the macros that access items of sequences are not part of Python's limited API.
  const Reference     items(PySequence_List(sequence));
  std::vector<double> numbers;
  const Py_ssize_t    size = PyList_Size(items.Get());
  for (Py_ssize_t i = 0; i < size; ++i)
  {
    numbers.push_back(PyFloat_AsDouble(PyList_GetItem(items.Get(), i)));
    if (PyErr_Occurred())
    {
      throw PythonError();
    }
  }
  return numbers;
}

struct Job
{
  std::string         Kind;
  std::vector<double> Shape, Sigma, Spacing, Order;
  size_t              Components;
  std::string         InputType, OutputType;
  std::string         Mode;
  double              Value;
  std::string         Approximation;
  std::string         Backend;
  size_t              MemoryLimit;
};

Job
ReadJob(PyObject * tuple)
{
  const char *       kind;
  PyObject *         shape;
  PyObject *         sigma;
  PyObject *         spacing;
  PyObject *         order;
  unsigned long long components;
  const char *       inputType;
  const char *       outputType;
  const char *       mode;
  double             value;
  const char *       approximation;
  const char *       backend;
  unsigned long long limit;
  if (!PyArg_ParseTuple(tuple,
                        "sOOOOKsssdssK",
                        &kind,
                        &shape,
                        &sigma,
                        &spacing,
                        &order,
                        &components,
                        &inputType,
                        &outputType,
                        &mode,
                        &value,
                        &approximation,
                        &backend,
                        &limit))
  {
    throw PythonError();
  }
  return { kind,
           ReadNumbers(shape),
           ReadNumbers(sigma),
           ReadNumbers(spacing),
           ReadNumbers(order),
           static_cast<size_t>(components),
           inputType,
           outputType,
           mode,
           value,
           approximation,
           backend,
           static_cast<size_t>(limit) };
}

/** Returns the terms of the plan, in which only the filtered axes are numbered, from 0. */
std::vector<itk::CudaDetail::CudaGaussianTerm>
MakeTerms(const Job &                                     job,
          const itk::CudaDetail::CudaGaussianParameters & parameters,
          const std::vector<unsigned int> &               axes)
{
  std::vector<itk::CudaDetail::CudaGaussianTerm> terms;
  if (job.Kind == "filter")
  {
    itk::CudaDetail::CudaGaussianTerm term;
    for (const unsigned int axis : axes)
    {
      term.Orders.push_back(static_cast<unsigned int>(job.Order[axis]));
      term.Factor /= std::pow(job.Spacing[axis], job.Order[axis]);
    }
    terms.push_back(term);
    return terms;
  }
  if (job.Kind == "gradient_magnitude")
  {
    return itk::CudaDetail::MakeGaussianGradientTerms(parameters);
  }
  for (unsigned int i = 0; i < axes.size(); ++i)
  {
    terms.push_back(itk::CudaDetail::MakeGaussianDerivativeTerm(parameters, i, i));
  }
  return terms;
}

CudaGaussianPlan
MakePlan(const Job & job)
{
  using Output = itk::CudaDetail::CudaGaussianOutput;
  itk::CudaDetail::CudaGaussianParameters parameters;
  parameters.Approximation = itk::CudaApproximationFromString(job.Approximation);
  parameters.Boundary = { itk::CudaBoundaryModeFromString(job.Mode), job.Value };
  parameters.KeepInput = true;
  std::vector<unsigned int> axes;
  for (unsigned int axis = 0; axis < job.Sigma.size(); ++axis)
  {
    if (job.Sigma[axis] > 0.0)
    {
      axes.push_back(axis);
      parameters.Sigma.push_back(job.Sigma[axis]);
      parameters.Spacing.push_back(job.Spacing[axis]);
    }
  }
  const Output     output = job.Kind == "filter"               ? Output::Components
                            : job.Kind == "gradient_magnitude" ? Output::Norm
                                                               : Output::Sum;
  CudaGaussianPlan plan = itk::CudaDetail::MakeGaussianPlan(parameters, MakeTerms(job, parameters, axes), output);
  for (itk::CudaDetail::CudaGaussianLinePass & pass : plan.Passes)
  {
    pass.Axis = axes[pass.Axis];
  }
  return plan;
}

CudaImageView
MakeShape(const Job & job, const std::string & type)
{
  CudaImageView view;
  view.ComponentType = ReadType(type);
  view.NumberOfComponents = job.Components;
  for (size_t axis = 0; axis < job.Shape.size(); ++axis)
  {
    view.Size[axis] = static_cast<size_t>(job.Shape[axis]);
  }
  return view;
}

/** Runs the job on the device if that can be used, otherwise on the host if that is allowed. Does not fall back to the
 * host after the device has begun to deliver results. */
itk::CudaSlabReport
Run(const Job &                                   job,
    CudaFilterBackend &                           backend,
    const itk::CudaSlabSource &                   source,
    const itk::CudaSlabSink &                     sink,
    const itk::CudaDetail::CudaProgressFunction & progress)
{
  const CudaGaussianPlan plan = MakePlan(job);
  const CudaImageView    input = MakeShape(job, job.InputType);
  const CudaImageView    output = MakeShape(job, job.OutputType);
  itk::CudaDetail::CudaGetGaussianSlabShape(plan, input, output); // throws before the source is read
  const auto threader = itk::MultiThreaderBase::New();
  bool       hasGiven = false;
  const auto noted = [&](size_t first, size_t planes, const void * pixels) {
    hasGiven = true;
    sink(first, planes, pixels);
  };
  if (backend.SelectDevice(nullptr, 0, true))
  {
    try
    {
      const itk::CudaDetail::CudaMemoryReservation reservation(backend, progress);
      return itk::CudaDetail::CudaGaussianFilterSlabs(
        plan, input, output, source, noted, backend.MakeSlabOptions(threader), progress);
    }
    catch (const itk::CudaError & error)
    {
      if (hasGiven || !backend.FallBackToHost(error))
      {
        throw;
      }
    }
  }
  return itk::CudaDetail::CudaGaussianFilterSlabs(
    plan, input, output, source, noted, backend.MakeSlabOptions(threader), progress);
}

PyObject *
FilterSlabs(PyObject * tuple, PyObject * sourceFunction, PyObject * sinkFunction, PyObject * progressFunction)
{
  const Job           job = ReadJob(tuple);
  const CudaImageView input = MakeShape(job, job.InputType);
  const CudaImageView output = MakeShape(job, job.OutputType);
  const size_t        planes = input.Size[job.Shape.size() - 1];
  const size_t        inputBytes = input.GetNumberOfBytes() / planes;
  const size_t        outputBytes = output.GetNumberOfBytes() / planes;
  CudaFilterBackend   backend;
  backend.Requested = itk::CudaBackendFromString(job.Backend);
  backend.Streaming = itk::CudaFiltersEnums::Streaming::On;
  backend.DeviceMemoryLimit = job.MemoryLimit;
  itk::CudaSlabReport report;
  {
    itk::CudaDetail::CudaWorkScope work;
    report = Run(
      job,
      backend,
      [&](size_t first, size_t count, void * pixels) {
        work.CallOthers([&] {
          CallWithPlanes(sourceFunction, first, count, static_cast<char *>(pixels), count * inputBytes, PyBUF_WRITE);
        });
      },
      [&](size_t first, size_t count, const void * pixels) {
        work.CallOthers([&] {
          CallWithPlanes(sinkFunction,
                         first,
                         count,
                         const_cast<char *>(static_cast<const char *>(pixels)),
                         count * outputBytes,
                         PyBUF_READ);
        });
      },
      [&](float share) { work.CallOthers([&] { CallWithShare(progressFunction, share); }); });
  }
  return Py_BuildValue(
    "(Nss)", SlabReportAsDictionary(report), itk::CudaBackendToString(backend.Used).c_str(), backend.Reason.c_str());
}
} // namespace
} // namespace cudafilters

PyObject *
cudafilters_filter_slabs(PyObject * job, PyObject * source, PyObject * sink, PyObject * progress)
{
  try
  {
    return cudafilters::FilterSlabs(job, source, sink, progress);
  }
  catch (const cudafilters::PythonError &)
  {
    return nullptr;
  }
}
