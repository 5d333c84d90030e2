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
#include <memory>
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
  std::vector<int>       Devices;
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
  PyObject *   devices;
  const char * inputType;
  const char * outputType;
  ParseTuple(tuple,
             "sOOOOksssdsskO",
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
             &job.MemoryLimit,
             &devices);
  ForEachItem(devices, [&](PyObject * item) { job.Devices.push_back(static_cast<int>(PyLong_AsLong(item))); });
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
  if (std::strncmp(job.Kind, "gradient", 8) == 0)
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
  const auto   isKind = [&](const char * kind) { return std::strcmp(job.Kind, kind) == 0; };
  const Output output = isKind("filter") || isKind("gradient") ? Output::Components
                        : isKind("gradient_magnitude")         ? Output::Norm
                                                               : Output::Sum;
  parameters.NormalizeAcrossScale = isKind("normalized_hessian");
  CudaGaussianPlan plan = isKind("hessian") || isKind("normalized_hessian")
                            ? itk::CudaDetail::MakeHessianPlan(parameters)
                            : itk::CudaDetail::MakeGaussianPlan(parameters, MakeTerms(job, parameters, axes), output);
  for (itk::CudaDetail::CudaGaussianLinePass & pass : plan.Passes)
  {
    pass.Axis = axes[pass.Axis];
  }
  return plan;
}

CudaImageView
MakeShape(const Job & job, itk::CudaComponentType type, size_t components)
{
  CudaImageView view;
  view.ComponentType = type;
  view.NumberOfComponents = components;
  for (size_t axis = 0; axis < job.Shape.size(); ++axis)
  {
    view.Size[axis] = static_cast<size_t>(job.Shape[axis]);
  }
  return view;
}

/** A plan and the shapes of its images. */
struct Images
{
  explicit Images(const Job & job)
    : Plan(MakePlan(job))
    , Input(MakeShape(job, job.InputType, job.Components))
    , Output(MakeShape(job, job.OutputType, job.Components * Plan.Results.size()))
    , NumberOfPlanes(Input.Size[job.Shape.size() - 1])
  {}

  const CudaGaussianPlan Plan;
  const CudaImageView    Input, Output;
  const size_t           NumberOfPlanes;
};

constexpr const char * NameOfStates = "itk_cudafilters.slab_states";

void
DeleteStates(PyObject * capsule)
{
  delete static_cast<std::shared_ptr<itk::CudaSlabStates> *>(PyCapsule_GetPointer(capsule, NameOfStates));
}

/** The planes of a run, and the states that it shares with other runs. */
struct Part
{
  size_t                               FirstPlane;
  size_t                               NumberOfPlanes; // 0: all from the first one on
  std::shared_ptr<itk::CudaSlabStates> States;
};

/** Calls run(options) for the device if that can be used, otherwise for the host if that is allowed. Does not fall back
 * to the host after `hasGiven` has become true. */
template <typename TRun>
auto
RunWithOptions(const Part &                                  part,
               CudaFilterBackend &                           backend,
               const itk::CudaDetail::CudaProgressFunction & progress,
               const bool &                                  hasGiven,
               const TRun &                                  runWith)
{
  const auto threader = itk::MultiThreaderBase::New();
  const auto run = [&] {
    itk::CudaSlabOptions options = backend.MakeSlabOptions(threader);
    options.FirstPlane = part.FirstPlane;
    options.NumberOfPlanes = part.NumberOfPlanes;
    options.States = part.States;
    return runWith(options);
  };
  if (backend.SelectDevice(nullptr, 0, true))
  {
    try
    {
      const auto reservation = itk::CudaDetail::CudaReserveMemory(backend, progress);
      return run();
    }
    catch (const itk::CudaError & error)
    {
      if (hasGiven || !backend.FallBackToHost(error))
      {
        throw;
      }
    }
  }
  return run();
}

CudaFilterBackend
MakeBackend(const Job & job)
{
  CudaFilterBackend backend;
  backend.Requested = itk::CudaBackendFromString(job.Backend);
  backend.Streaming = itk::CudaFiltersEnums::Streaming::On;
  backend.DeviceMemoryLimit = job.MemoryLimit;
  backend.Devices = job.Devices;
  return backend;
}

/** Returns a function that lets a Python function fill planes. */
itk::CudaSlabSource
MakeSource(PyObject * function, const Images & images, WithoutLock & without)
{
  return [function, &without, bytes = images.Input.GetNumberOfBytes() / images.NumberOfPlanes](
           size_t first, size_t count, void * pixels) {
    without.CallWithLock(
      [&] { CallWithPlanes(function, first, count, static_cast<char *>(pixels), count * bytes, PyBUF_WRITE); });
  };
}

std::vector<unsigned char>
ReadBytes(PyObject * bytes)
{
  char *     begin;
  Py_ssize_t size;
  if (PyBytes_AsStringAndSize(bytes, &begin, &size) != 0)
  {
    throw PythonError();
  }
  return { begin, begin + size };
}

PyObject *
MakeBytes(const std::vector<unsigned char> & bytes)
{
  return PyBytes_FromStringAndSize(reinterpret_cast<const char *>(bytes.data()), static_cast<Py_ssize_t>(bytes.size()));
}

PyObject *
FilterSlabs(PyObject * arguments)
{
  PyObject *         tuple;
  PyObject *         sourceFunction;
  PyObject *         sinkFunction;
  PyObject *         progress;
  unsigned long long first = 0;
  unsigned long long planes = 0;
  PyObject *         states = Py_None;
  ParseTuple(arguments,
             "O!OOO|KKO:filter_slabs",
             &PyTuple_Type,
             &tuple,
             &sourceFunction,
             &sinkFunction,
             &progress,
             &first,
             &planes,
             &states);
  const Job         job = ReadJob(tuple);
  const Images      images(job);
  const size_t      outputBytes = images.Output.GetNumberOfBytes() / images.NumberOfPlanes;
  CudaFilterBackend backend = MakeBackend(job);
  Part              part{ first, planes, nullptr };
  if (PyBytes_Check(states))
  {
    part.States = itk::CudaDetail::CudaReadSlabStates(ReadBytes(states));
  }
  else if (states != Py_None)
  {
    const auto * const given =
      static_cast<std::shared_ptr<itk::CudaSlabStates> *>(PyCapsule_GetPointer(states, NameOfStates));
    if (!given)
    {
      throw PythonError();
    }
    part.States = *given;
  }
  itk::CudaSlabReport report;
  {
    WithoutLock without;
    bool        hasGiven = false;
    const auto  show = [&](float share) { without.ReportProgress(progress, share); };
    const auto  sink = [&](size_t firstPlane, size_t count, const void * pixels) {
      hasGiven = true;
      without.CallWithLock([&] {
        CallWithPlanes(sinkFunction,
                       firstPlane,
                       count,
                       const_cast<char *>(static_cast<const char *>(pixels)),
                       count * outputBytes,
                       PyBUF_READ);
      });
    };
    // Throws before the source is read.
    itk::CudaDetail::CudaGetGaussianSlabShape(images.Plan, images.Input, images.Output);
    report = RunWithOptions(part, backend, show, hasGiven, [&](const itk::CudaSlabOptions & options) {
      return itk::CudaDetail::CudaGaussianFilterSlabs(
        images.Plan, images.Input, images.Output, MakeSource(sourceFunction, images, without), sink, options, show);
    });
  }
  return Py_BuildValue(
    "(Nss)", AsPython(report), itk::CudaBackendToString(backend.Used).c_str(), backend.Reason.c_str());
}

PyObject *
GetEndStates(PyObject * arguments)
{
  PyObject *         tuple;
  PyObject *         sourceFunction;
  unsigned long long first, planes;
  ParseTuple(arguments, "O!OKK:slab_end_states", &PyTuple_Type, &tuple, &sourceFunction, &first, &planes);
  const Job                  job = ReadJob(tuple);
  const Images               images(job);
  CudaFilterBackend          backend = MakeBackend(job);
  std::vector<unsigned char> bytes;
  {
    WithoutLock without;
    const auto  show = [&](float) { without.CheckSignals(); };
    bytes = RunWithOptions({ first, planes, nullptr }, backend, show, false, [&](const itk::CudaSlabOptions & options) {
      return itk::CudaDetail::CudaGaussianSlabEndStates(
        images.Plan, images.Input, images.Output, MakeSource(sourceFunction, images, without), options, show);
    });
  }
  return MakeBytes(bytes);
}

PyObject *
GetStartStates(PyObject * arguments)
{
  PyObject * tuple;
  PyObject * endStates;
  PyObject * firstPlanes;
  ParseTuple(arguments,
             "O!O!O!:slab_start_states",
             &PyTuple_Type,
             &tuple,
             &PyTuple_Type,
             &endStates,
             &PyTuple_Type,
             &firstPlanes);
  const Job                               job = ReadJob(tuple);
  const Images                            images(job);
  CudaFilterBackend                       backend = MakeBackend(job);
  std::vector<std::vector<unsigned char>> parts;
  ForEachItem(endStates, [&](PyObject * item) { parts.push_back(ReadBytes(item)); });
  std::vector<size_t> firsts;
  ForEachItem(firstPlanes, [&](PyObject * item) { firsts.push_back(PyLong_AsSize_t(item)); });
  {
    WithoutLock without;
    const auto  show = [&](float) { without.CheckSignals(); };
    parts = RunWithOptions({ 0, 0, nullptr }, backend, show, false, [&](const itk::CudaSlabOptions & options) {
      return itk::CudaDetail::CudaGaussianSlabStartStates(
        images.Plan, images.Input, images.Output, parts, firsts, options);
    });
  }
  const Reference list(PyList_New(0));
  for (const auto & bytes : parts)
  {
    const Reference item(MakeBytes(bytes));
    if (PyList_Append(list.Get(), item.Get()) != 0)
    {
      throw PythonError();
    }
  }
  Py_INCREF(list.Get());
  return list.Get();
}

PyObject *
MakeSlabStates(PyObject *)
{
  auto states = std::make_unique<std::shared_ptr<itk::CudaSlabStates>>(itk::CudaDetail::CudaMakeSlabStates());
  PyObject * const capsule = PyCapsule_New(states.get(), NameOfStates, DeleteStates);
  if (!capsule)
  {
    throw PythonError();
  }
  states.release();
  return capsule;
}

PyObject *
GetSlabShape(PyObject * arguments)
{
  PyObject * tuple;
  ParseTuple(arguments, "O!:slab_shape", &PyTuple_Type, &tuple);
  const Images images(ReadJob(tuple));
  const auto   shape = itk::CudaDetail::CudaGetGaussianSlabShape(images.Plan, images.Input, images.Output);
  return Py_BuildValue("(iK)",
                       shape.NeedsAllChunks ? -1 : static_cast<int>(shape.LookAhead),
                       static_cast<unsigned long long>(shape.PaddingPlanes));
}
} // namespace

PyMethodDef SlabMethods[] = {
  { "filter_slabs",
    Call<FilterSlabs>,
    METH_VARARGS,
    "filter_slabs(job, source, sink, progress, first=0, planes=0, states=None)\n--\n\n"
    "Runs a Gaussian filter over an image in slabs, and returns (report, backend used, reason).\n\n"
    "`job` is a tuple: what to compute (filter, gradient, gradient_magnitude, laplace, hessian, normalized_hessian); "
    "shape,\n"
    "sigma, spacing and order along each axis, x first, where an axis with sigma 0 is not filtered; number of "
    "components; types of input and output by\n"
    "their formats in the buffer protocol; mode, value beyond the ends, approximation, backend, and limit of device "
    "memory in bytes\n"
    "(0: no limit).\n\n"
    "source(first plane, number of planes, memory to write), sink(first plane, number of planes, memory to read) and\n"
    "progress(share that is done), which may be None, are called with the interpreter's lock; it is released in\n"
    "between. Exceptions that they raise end the run and are passed to the caller.\n\n"
    "`first` and `planes` are the planes of the result, from a boundary between chunks to another one or to the end; "
    "0\n"
    "planes: all from the first one on. Runs over parts of one image may share slab_states(), so that what depends on\n"
    "the whole image is computed once." },
  { "slab_end_states",
    Call<GetEndStates>,
    METH_VARARGS,
    "slab_end_states(job, source, first, planes)\n--\n\n"
    "Returns the states at the ends of the chunks of these planes, as bytes, for a job that depends on all chunks." },
  { "slab_start_states",
    Call<GetStartStates>,
    METH_VARARGS,
    "slab_start_states(job, end_states, first_planes)\n--\n\n"
    "Takes tuples of what slab_end_states() returned for all parts of the image, in order, and of their first planes, "
    "and\n"
    "returns a list of what filter_slabs() takes as `states` for each part." },
  { "slab_states",
    Call<MakeSlabStates>,
    METH_NOARGS,
    "slab_states()\n--\n\nReturns empty states for runs of filter_slabs() with one job over parts of one image." },
  { "slab_shape",
    Call<GetSlabShape>,
    METH_VARARGS,
    "slab_shape(job)\n--\n\n"
    "Returns the number of chunks of 128 planes on either side of a chunk that its result depends on, or -1 if it\n"
    "depends on all of them; and the number of planes by which the image is continued beyond either end." },
  { nullptr, nullptr, 0, nullptr }
};
} // namespace cudafilters
