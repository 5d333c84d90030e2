// SPDX-License-Identifier: Apache-2.0
// The extension module itk_cudafilters._core: filters of arrays, by the library alone. The Python code of the package
// checks and completes the arguments, so that the functions here take plain ones. It uses the limited API of CPython
// 3.11.
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "ArrayFilter.h"

#include "itkCudaFiltersConfiguration.h"
#include "itkVersion.h"

#include <algorithm>
#include <cctype>
#include <chrono>
#include <cstdarg>
#include <cstring>
#include <exception>
#include <new>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace cudafilters
{
namespace
{
/** Thrown after a Python call has failed and set Python's error. */
struct PythonError
{};

/** Releases the interpreter's lock until the end of the scope, so that other Python threads can run. */
class WithoutLock
{
public:
  WithoutLock()
    : m_State(PyEval_SaveThread())
  {}
  /** Acquires the lock again. An interpreter that has shut down may end the thread here, by an exception that no
   * handler may stop. */
  ~WithoutLock() noexcept(false) { PyEval_RestoreThread(m_State); }

  WithoutLock(const WithoutLock &) = delete;
  WithoutLock &
  operator=(const WithoutLock &) = delete;

  /** Lets Python run the handlers of signals that have arrived. Throws PythonError if one raises an exception, as that
   * of Ctrl-C does. */
  void
  CheckSignals()
  {
    constexpr auto pause = std::chrono::milliseconds(50); // the lock may take long to get
    const auto     now = std::chrono::steady_clock::now();
    if (now - m_LastCheck < pause)
    {
      return;
    }
    m_LastCheck = now;
    PyEval_RestoreThread(m_State);
    const bool isRaised = PyErr_CheckSignals() != 0;
    m_State = PyEval_SaveThread();
    if (isRaised)
    {
      throw PythonError();
    }
  }

private:
  PyThreadState *                       m_State;
  std::chrono::steady_clock::time_point m_LastCheck{ std::chrono::steady_clock::now() };
};

/** Calls a function. Its exceptions become Python's; the result is then `failed`. */
template <typename TResult, typename TFunction>
TResult
CatchAll(TResult failed, const TFunction & function)
{
  try
  {
    return function();
  }
  catch (const PythonError &)
  {}
  catch (const std::bad_alloc &)
  {
    PyErr_NoMemory();
  }
  catch (const std::exception & error)
  {
    PyErr_SetString(PyExc_RuntimeError, error.what());
  }
  return failed;
}

/** A view of a Python object's memory by the buffer protocol. */
class Buffer
{
public:
  Buffer(PyObject * object, int flags)
  {
    if (PyObject_GetBuffer(object, &m_Buffer, flags | PyBUF_STRIDES | PyBUF_FORMAT) != 0)
    {
      throw PythonError();
    }
  }
  ~Buffer() { PyBuffer_Release(&m_Buffer); }

  Buffer(const Buffer &) = delete;
  Buffer &
  operator=(const Buffer &) = delete;

  /** Returns the array with the axes in this order. Throws PythonError if the filters do not take it. */
  HostArray
  Get(const std::vector<size_t> & axes) const
  {
    HostArray array{ m_Buffer.buf, this->GetType(), {}, {} };
    for (const size_t axis : axes)
    {
      const Py_ssize_t size = m_Buffer.shape[axis];
      const Py_ssize_t stride = m_Buffer.strides[axis];
      if (size > 1 && (stride < 0 || stride % m_Buffer.itemsize != 0))
      {
        PyErr_Format(PyExc_ValueError, "an array has the stride %zd along axis %zu", stride, axis);
        throw PythonError();
      }
      array.Shape.push_back(static_cast<size_t>(size));
      array.Strides.push_back(size > 1 ? static_cast<size_t>(stride / m_Buffer.itemsize) : 0);
    }
    return array;
  }

  size_t
  GetNumberOfAxes() const
  {
    return static_cast<size_t>(m_Buffer.ndim);
  }

private:
  itk::CudaComponentType
  GetType() const
  {
    using Type = itk::CudaComponentType;
    constexpr struct
    {
      char Format;
      Type Component;
    } types[] = { { '?', Type::UChar },  { 'B', Type::UChar }, { 'b', Type::Char },
                  { 'H', Type::UShort }, { 'h', Type::Short }, { 'I', Type::UInt },
                  { 'i', Type::Int },    { 'f', Type::Float }, { 'd', Type::Double } };
    const char * const format = m_Buffer.format ? m_Buffer.format : "B";
    for (const auto & type : types)
    {
      if (format[0] == type.Format && format[1] == '\0')
      {
        return type.Component;
      }
    }
    PyErr_Format(PyExc_ValueError, "an array has elements of the format %s", format);
    throw PythonError();
  }

  Py_buffer m_Buffer{};
};

/** Calls f(item) for the items of a tuple. */
template <typename TFunction>
void
ForEachItem(PyObject * tuple, const TFunction & f)
{
  const Py_ssize_t size = PyTuple_Size(tuple);
  for (Py_ssize_t i = 0; i < size; ++i)
  {
    f(PyTuple_GetItem(tuple, i));
  }
  if (PyErr_Occurred())
  {
    throw PythonError();
  }
}

void
ParseTuple(PyObject * tuple, const char * format, ...)
{
  va_list arguments;
  va_start(arguments, format);
  const int isParsed = PyArg_VaParse(tuple, format, arguments);
  va_end(arguments);
  if (!isParsed)
  {
    throw PythonError();
  }
}

std::vector<ArrayTerm>
ReadTerms(PyObject * tuple)
{
  std::vector<ArrayTerm> terms;
  ForEachItem(tuple, [&](PyObject * item) {
    ArrayTerm  term;
    size_t     axis = 0;
    PyObject * passes;
    ParseTuple(item, "dO", &term.Factor, &passes);
    ForEachItem(passes, [&](PyObject * pass) {
      double       sigma;
      unsigned int order;
      const char * mode;
      ParseTuple(pass, "dIs", &sigma, &order, &mode);
      if (sigma != 0.0)
      {
        term.Passes.push_back({ axis, sigma, order, itk::CudaBoundaryModeFromString(mode) });
      }
      ++axis;
    });
    terms.push_back(std::move(term));
  });
  return terms;
}

ArrayOutput
ReadOutput(const char * name)
{
  return std::strcmp(name, "sum") == 0      ? ArrayOutput::Sum
         : std::strcmp(name, "length") == 0 ? ArrayOutput::Length
                                            : ArrayOutput::Components;
}

constexpr const char * FilterDocumentation =
  "filter(input, output, valid, axes, terms, combination, cval, approximation, backend, keeps_nan, "
  "minimum_weight)\n--\n\n"
  "Runs Gaussian filters along axes of a host array, without the interpreter's lock.\n\n"
  "Arrays are objects with the buffer protocol, of native elements of bool, 8 to 32 bits, float or double, with "
  "strides\n"
  "of 0 or more. `axes` are those of an item, and the others count the items of a batch. `terms` is a tuple of "
  "(factor,\n"
  "((sigma in pixels, order, mode), ...)) with a pass for each of `axes`, in this order; one of sigma 0 does nothing.\n"
  "`combination` is components, sum or length; several components are the last axis of `output`. With `valid`, which "
  "is\n"
  "None or bytes, and with `keeps_nan` if there are pixels that are NaN or infinite, the result is the smoothing of "
  "each\n"
  "item over its valid pixels; then there is one term, without derivatives, and minimum_weight is above 0.\n\n"
  "Returns False, before it writes the output, if keeps_nan finds such pixels and minimum_weight is 0. The output must "
  "be\n"
  "other memory than the input and the mask. KeyboardInterrupt and other exceptions of signal handlers end the run.";

PyObject *
Filter(PyObject *, PyObject * arguments)
{
  return CatchAll<PyObject *>(nullptr, [&] {
    PyObject *   input;
    PyObject *   output;
    PyObject *   mask;
    PyObject *   filteredAxes;
    PyObject *   terms;
    const char * combination;
    const char * approximation;
    const char * backend;
    int          keepsNaN;
    ArrayFilter  filter;
    ParseTuple(arguments,
               "OOOO!O!sdsspd:filter",
               &input,
               &output,
               &mask,
               &PyTuple_Type,
               &filteredAxes,
               &PyTuple_Type,
               &terms,
               &combination,
               &filter.BoundaryValue,
               &approximation,
               &backend,
               &keepsNaN,
               &filter.MinimumWeight);
    const Buffer                source(input, 0);
    const Buffer                target(output, PyBUF_WRITABLE);
    std::optional<const Buffer> valid;
    if (mask != Py_None)
    {
      valid.emplace(mask, 0);
    }
    std::vector<size_t> filtered;
    ForEachItem(filteredAxes, [&](PyObject * axis) { filtered.push_back(PyLong_AsSize_t(axis)); });
    std::vector<size_t> axes;
    for (size_t axis = 0; axis < source.GetNumberOfAxes(); ++axis)
    {
      if (std::find(filtered.begin(), filtered.end(), axis) == filtered.end())
      {
        axes.push_back(axis);
      }
    }
    filter.Terms = ReadTerms(terms);
    filter.Output = ReadOutput(combination);
    filter.Approximation = itk::CudaApproximationFromString(approximation);
    filter.Backend = itk::CudaBackendFromString(backend);
    filter.KeepsNaN = keepsNaN != 0;
    filter.NumberOfItemAxes = filtered.size();
    axes.insert(axes.end(), filtered.begin(), filtered.end());
    const HostArray from = source.Get(axes);
    const HostArray validPixels = valid ? valid->Get(axes) : HostArray();
    if (target.GetNumberOfAxes() > axes.size())
    {
      axes.push_back(axes.size());
    }
    const HostArray to = target.Get(axes);

    bool isDone = false;
    {
      WithoutLock without;
      const auto  progress = [&](float) { without.CheckSignals(); };
      isDone = !valid && RunOnAll(filter, from, to, progress);
      if (!isDone && filter.MinimumWeight > 0.0)
      {
        RunOnValid(filter, from, valid ? &validPixels : nullptr, to, progress);
        isDone = true;
      }
    }
    return PyBool_FromLong(isDone);
  });
}

constexpr const char * InfoDocumentation =
  "info()\n--\n\n"
  "Returns what the library found on this machine, as a dictionary: GPUs, driver, settings, and whether a GPU can be "
  "used.";

PyObject *
AsDictionary(const itk::CudaDeviceInformation & device)
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

PyObject *
GetInfo(PyObject *, PyObject *)
{
  return CatchAll<PyObject *>(nullptr, [] {
    using Configuration = itk::CudaFiltersConfiguration;
    std::string reason;
    const bool  isUsable = Configuration::IsDeviceUsable(-1, reason);
    const auto  found = Configuration::GetDevices();
    const auto  status = Configuration::GetStatus();
    std::string backend = itk::CudaBackendToString(Configuration::GetBackend());
    backend[0] = static_cast<char>(std::tolower(backend[0]));

    PyObject * const devices = PyTuple_New(static_cast<Py_ssize_t>(found.size()));
    for (size_t i = 0; devices && i < found.size(); ++i)
    {
      PyTuple_SetItem(devices, static_cast<Py_ssize_t>(i), AsDictionary(found[i]));
    }
    return Py_BuildValue("{s:N,s:i,s:i,s:N,s:s,s:i,s:N,s:s,s:s}",
                         "built_with_cuda",
                         PyBool_FromLong(Configuration::GetBuiltWithCuda()),
                         "driver_version",
                         Configuration::GetDriverVersion(),
                         "required_driver_version",
                         Configuration::GetRequiredDriverVersion(),
                         "devices",
                         devices,
                         "backend",
                         backend.c_str(),
                         "device_index",
                         Configuration::GetDeviceIndex(),
                         "gpu_usable",
                         PyBool_FromLong(isUsable),
                         "reason",
                         reason.c_str(),
                         "status",
                         status.c_str());
  });
}

/** Memory for the pixels of an array. It has the buffer protocol. */
struct Memory
{
  PyObject_HEAD void * Data;
  Py_ssize_t           Size;
};

void
DeleteMemory(PyObject * self)
{
  PyTypeObject * const type = Py_TYPE(self);
  ReleaseArray(reinterpret_cast<Memory *>(self)->Data);
  PyObject_Free(self);
  Py_DecRef(reinterpret_cast<PyObject *>(type));
}

int
GetMemoryBuffer(PyObject * self, Py_buffer * view, int flags)
{
  const auto * const memory = reinterpret_cast<Memory *>(self);
  return PyBuffer_FillInfo(view, self, memory->Data, memory->Size, 0, flags);
}

PyType_Slot memorySlots[] = { { Py_tp_dealloc, reinterpret_cast<void *>(DeleteMemory) },
                              { Py_bf_getbuffer, reinterpret_cast<void *>(GetMemoryBuffer) },
                              { Py_tp_doc, const_cast<char *>("Memory for the pixels of an array.") },
                              { 0, nullptr } };
PyType_Spec memorySpec{ "itk_cudafilters._core.Memory",
                        sizeof(Memory),
                        0,
                        Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
                        memorySlots };

struct ModuleState
{
  PyTypeObject * MemoryType;
};

constexpr const char * AllocateDocumentation =
  "allocate(bytes)\n--\n\n"
  "Returns uninitialized memory with the buffer protocol. Large blocks come from the library's pool, where the system\n"
  "need not clear their pages again.";

PyObject *
Allocate(PyObject * module, PyObject * argument)
{
  return CatchAll<PyObject *>(nullptr, [&] {
    const Py_ssize_t size = PyLong_AsSsize_t(argument);
    if (PyErr_Occurred())
    {
      throw PythonError();
    }
    void * const   data = AllocateArray(static_cast<size_t>(size));
    Memory * const memory = PyObject_New(Memory, static_cast<ModuleState *>(PyModule_GetState(module))->MemoryType);
    if (!memory)
    {
      ReleaseArray(data);
      throw PythonError();
    }
    memory->Data = data;
    memory->Size = size;
    return reinterpret_cast<PyObject *>(memory);
  });
}

PyMethodDef methods[] = { { "allocate", Allocate, METH_O, AllocateDocumentation },
                          { "filter", Filter, METH_VARARGS, FilterDocumentation },
                          { "info", GetInfo, METH_NOARGS, InfoDocumentation },
                          { nullptr, nullptr, 0, nullptr } };

int
Execute(PyObject * module)
{
  PyObject * const type = PyType_FromSpec(&memorySpec);
  static_cast<ModuleState *>(PyModule_GetState(module))->MemoryType = reinterpret_cast<PyTypeObject *>(type);
  return type ? PyModule_AddStringConstant(module, "itk_version", itk::Version::GetITKVersion()) : -1;
}

PyModuleDef_Slot slots[] = { { Py_mod_exec, reinterpret_cast<void *>(Execute) }, { 0, nullptr } };

PyModuleDef definition{ PyModuleDef_HEAD_INIT,
                        "_core",
                        "Filters of arrays, by the library alone.",
                        sizeof(ModuleState),
                        methods,
                        slots,
                        nullptr,
                        nullptr,
                        nullptr };
} // namespace
} // namespace cudafilters

PyMODINIT_FUNC
PyInit__core()
{
  return PyModuleDef_Init(&cudafilters::definition);
}
