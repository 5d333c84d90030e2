// SPDX-License-Identifier: Apache-2.0
// Filters images in slabs, whose planes Python functions provide and receive, for itk_cudafilters/stream.py.
#include "Interpreter.h"

#include "Dictionaries.h"
#include "Functions.h"
#include "itkCudaDetailFilterBackend.h"
#include "itkCudaDetailGaussianPlan.h"
#include "itkCudaDetailGaussianSlabs.h"
#include "itkMacro.h"
#include "itkMultiThreaderBase.h"

#include <cmath>
#include <cstring>
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

struct Job
{
  const char *           Kind;
  std::vector<double>    Shape, Sigma, Spacing, Order;
  size_t                 Components;
  itk::CudaComponentType InputType, OutputType;
  const char *           Mode;
  double                 Value;
  const char *           Approximation;
  const char *           Backend;
  size_t                 MemoryLimit;
};

std::vector<double>
ReadNumbers(PyObject * tuple)
{
  std::vector<double> numbers;
  ForEachItem(tuple, [&](PyObject * item) { numbers.push_back(PyFloat_AsDouble(item)); });
  return numbers;
}

/** Reads a job. It refers to the text in the tuple. */
Job
ReadJob(PyObject * tuple)
{
  Job          job;
  PyObject *   shape;
  PyObject *   sigma;
  PyObject *   spacing;
  PyObject *   order;
  const char * inputType;
  const char * outputType;
  ParseTuple(tuple,
             "sOOOOksssdssk",
             &job.Kind,
             &shape,
             &sigma,
             &spacing,
             &order,
             &job.Components,
             &inputType,
             &outputType,
             &job.Mode,
             &job.Value,
             &job.Approximation,
             &job.Backend,
             &job.MemoryLimit);
  job.Shape = ReadNumbers(shape);
  job.Sigma = ReadNumbers(sigma);
  job.Spacing = ReadNumbers(spacing);
  job.Order = ReadNumbers(order);
  job.InputType = ReadComponentType(inputType);
  job.OutputType = ReadComponentType(outputType);
  return job;
}

/** Returns the terms of the plan, in which only the filtered axes are numbered, from 0. */
std::vector<itk::CudaDetail::CudaGaussianTerm>
MakeTerms(const Job &                                     job,
          const itk::CudaDetail::CudaGaussianParameters & parameters,
          const std::vector<unsigned int> &               axes)
{
  std::vector<itk::CudaDetail::CudaGaussianTerm> terms;
  if (std::strcmp(job.Kind, "filter") == 0)
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
  if (std::strcmp(job.Kind, "gradient_magnitude") == 0)
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
  const Output     output = std::strcmp(job.Kind, "filter") == 0               ? Output::Components
                            : std::strcmp(job.Kind, "gradient_magnitude") == 0 ? Output::Norm
                                                                               : Output::Sum;
  CudaGaussianPlan plan = itk::CudaDetail::MakeGaussianPlan(parameters, MakeTerms(job, parameters, axes), output);
  for (itk::CudaDetail::CudaGaussianLinePass & pass : plan.Passes)
  {
    pass.Axis = axes[pass.Axis];
  }
  return plan;
}

CudaImageView
MakeShape(const Job & job, itk::CudaComponentType type)
{
  CudaImageView view;
  view.ComponentType = type;
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
      const auto reservation = itk::CudaDetail::CudaReserveMemory(backend, progress);
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
FilterSlabs(PyObject * arguments)
{
  PyObject * tuple;
  PyObject * sourceFunction;
  PyObject * sinkFunction;
  PyObject * progress;
  ParseTuple(arguments, "O!OOO:filter_slabs", &PyTuple_Type, &tuple, &sourceFunction, &sinkFunction, &progress);
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
    WithoutLock without;
    report = Run(
      job,
      backend,
      [&](size_t first, size_t count, void * pixels) {
        without.CallWithLock([&] {
          CallWithPlanes(sourceFunction, first, count, static_cast<char *>(pixels), count * inputBytes, PyBUF_WRITE);
        });
      },
      [&](size_t first, size_t count, const void * pixels) {
        without.CallWithLock([&] {
          CallWithPlanes(sinkFunction,
                         first,
                         count,
                         const_cast<char *>(static_cast<const char *>(pixels)),
                         count * outputBytes,
                         PyBUF_READ);
        });
      },
      [&](float share) { without.ReportProgress(progress, share); });
  }
  return Py_BuildValue(
    "(Nss)", AsPython(report), itk::CudaBackendToString(backend.Used).c_str(), backend.Reason.c_str());
}
} // namespace

PyMethodDef SlabMethods[] = {
  { "filter_slabs",
    Call<FilterSlabs>,
    METH_VARARGS,
    "filter_slabs(job, source, sink, progress)\n--\n\n"
    "Runs a Gaussian filter over an image in slabs, and returns (report, backend used, reason).\n\n"
    "`job` is a tuple: what to compute (filter, gradient_magnitude, laplace); shape, sigma, spacing and order along "
    "each\n"
    "axis, x first, where an axis with sigma 0 is not filtered; number of components; types of input and output by\n"
    "their formats in the buffer protocol; mode, value beyond the ends, approximation, backend, and limit of device "
    "memory in bytes\n"
    "(0: no limit).\n\n"
    "source(first plane, number of planes, memory to write), sink(first plane, number of planes, memory to read) and\n"
    "progress(share that is done), which may be None, are called with the interpreter's lock; it is released in\n"
    "between. Exceptions that they raise end the run and are passed to the caller." },
  { nullptr, nullptr, 0, nullptr }
};
} // namespace cudafilters
