// SPDX-License-Identifier: Apache-2.0
// The extension module itk_cudafilters._core: filters of arrays, by the library alone. The Python code of the package
// checks and completes the arguments, so that the functions here take plain ones. It uses the limited API of CPython
// 3.11.
#include "GpuArrays.h"
#include "Tensors.h"

#include "Functions.h"
#include "Settings.h"
#include "Terms.h"

#include "ImageFiles.h"
#include "itkVersion.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

namespace cudafilters
{
void
StoreRun(PyObject * settings, const itk::CudaDetail::CudaFilterBackend & ran)
{
  const itk::CudaSlabReport & slabs = ran.SlabReport;
  PyObject * const            devices = PyTuple_New(static_cast<Py_ssize_t>(slabs.Devices.size()));
  for (size_t i = 0; devices && i < slabs.Devices.size(); ++i)
  {
    PyTuple_SetItem(devices, static_cast<Py_ssize_t>(i), PyLong_FromLong(slabs.Devices[i]));
  }
  const Reference run(Py_BuildValue("{s:s,s:s,s:s,s:n,s:I,s:N,s:K,s:K,s:K,s:n}",
                                    "backend_used",
                                    itk::CudaBackendToString(ran.Used).c_str(),
                                    "backend_reason",
                                    ran.Reason.c_str(),
                                    "used",
                                    itk::CudaSlabScheduleToString(slabs.Used).c_str(),
                                    "number_of_slabs",
                                    static_cast<Py_ssize_t>(slabs.NumberOfSlabs),
                                    "look_ahead",
                                    slabs.LookAhead,
                                    "devices",
                                    devices,
                                    "bytes_up",
                                    static_cast<unsigned long long>(slabs.BytesUp),
                                    "bytes_down",
                                    static_cast<unsigned long long>(slabs.BytesDown),
                                    "bytes_between",
                                    static_cast<unsigned long long>(slabs.BytesBetween),
                                    "peak_device_bytes",
                                    static_cast<Py_ssize_t>(slabs.PeakDeviceBytes)));
  if (PyDict_Update(settings, run.Get()) != 0)
  {
    throw PythonError();
  }
}

namespace
{
constexpr const char * FilterDocumentation =
  "filter(input, output, valid, axes, terms, combination, cval, approximation, backend, keeps_nan, "
  "minimum_weight, settings={})\n--\n\n"
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
  "Returns False, with an undefined output, if keeps_nan finds such pixels and minimum_weight is 0. The output must "
  "be\n"
  "other memory than the input and the mask. KeyboardInterrupt and other exceptions of signal handlers end the run.\n\n"
  "`settings` may have the keys device_index, streaming, device_memory_limit and progress, which is a function of the\n"
  "share that is done. Where the filter ran, and its slabs, are added to it.";

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
    PyObject *   settings = nullptr;
    ArrayFilter  filter;
    ParseTuple(arguments,
               "OOOO!O!sdsspd|O!:filter",
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
               &filter.MinimumWeight,
               &PyDict_Type,
               &settings);
    const Buffer                source(input, 0);
    const Buffer                target(output, PyBUF_WRITABLE);
    std::optional<const Buffer> valid;
    if (mask != Py_None)
    {
      valid.emplace(mask, 0);
    }
    const auto          filtered = ReadNumbers<size_t>(filteredAxes);
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
    itk::CudaDetail::CudaFilterBackend ran;
    if (settings)
    {
      ReadSettings(settings, filter);
      filter.Ran = &ran;
    }
    PyObject * const show = GetProgress(settings);
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
      const auto  progress = [&](float share) { without.ReportProgress(show, share); };
      isDone = !valid && RunOnAll(filter, from, to, progress);
      if (!isDone && filter.MinimumWeight > 0.0)
      {
        RunOnValid(filter, from, valid ? &validPixels : nullptr, to, progress);
        isDone = true;
      }
    }
    if (settings)
    {
      StoreRun(settings, ran);
    }
    return PyBool_FromLong(isDone);
  });
}

constexpr const char * IsFiniteDocumentation =
  "is_finite(array)\n--\n\n"
  "Returns whether no element of a host array, as filter() takes them, is NaN or infinite.";

PyObject *
IsFinite(PyObject *, PyObject * argument)
{
  return CatchAll<PyObject *>(nullptr, [&] {
    const Buffer    source(argument, 0);
    const HostArray array = source.Get();
    bool            isFinite = true;
    {
      const WithoutLock without;
      isFinite = !HoldsNonFinite(array, itk::MultiThreaderBase::New());
    }
    return PyBool_FromLong(isFinite);
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
                          { "is_finite", IsFinite, METH_O, IsFiniteDocumentation },
                          { nullptr, nullptr, 0, nullptr } };

int
Execute(PyObject * module)
{
  PyObject * const type = PyType_FromSpec(&memorySpec);
  static_cast<ModuleState *>(PyModule_GetState(module))->MemoryType = reinterpret_cast<PyTypeObject *>(type);
  bool isReady = type && PyModule_AddStringConstant(module, "itk_version", itk::Version::GetITKVersion()) == 0;
  for (PyMethodDef * const methodsOfFile : { ConfigurationMethods,
                                             DetectionMethods,
                                             DiscreteGaussianMethods,
                                             GpuArrayMethods,
                                             ImageFileMethods,
                                             PartitionMethods,
                                             SlabMethods,
                                             SnakeMethods,
                                             TensorMethods })
  {
    isReady = isReady && PyModule_AddFunctions(module, methodsOfFile) == 0;
  }
  return isReady ? 0 : -1;
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
