// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFilters_wrapping_Settings_h
#define CudaFilters_wrapping_Settings_h

// The dictionaries `settings`, which say where a filter is to run, and afterwards where it ran.

#include "Interpreter.h"

#include "itkCudaDetailFilterBackend.h"

namespace cudafilters
{
/** Reads device_index, streaming and device_memory_limit, each of which may be missing, into the members of these
 * names.
 */
template <typename TFilter>
void
ReadSettings(PyObject * settings, TFilter & filter)
{
  if (PyObject * const index = PyDict_GetItemString(settings, "device_index"))
  {
    filter.DeviceIndex = static_cast<int>(PyLong_AsLong(index));
  }
  if (PyObject * const streaming = PyDict_GetItemString(settings, "streaming"))
  {
    const Reference name(PyUnicode_AsUTF8String(streaming));
    filter.Streaming = itk::CudaStreamingFromString(PyBytes_AsString(name.Get()));
  }
  if (PyObject * const limit = PyDict_GetItemString(settings, "device_memory_limit"))
  {
    filter.DeviceMemoryLimit = PyLong_AsSize_t(limit);
  }
  if (PyErr_Occurred())
  {
    throw PythonError();
  }
}

/** Adds where a filter ran, and why, and its slabs. */
void
StoreRun(PyObject * settings, const itk::CudaDetail::CudaFilterBackend & ran);

/** Returns the function that takes the share of the work that is done, or None. */
inline PyObject *
GetProgress(PyObject * settings)
{
  PyObject * const progress = settings ? PyDict_GetItemString(settings, "progress") : nullptr;
  return progress ? progress : Py_None;
}
} // namespace cudafilters

#endif
