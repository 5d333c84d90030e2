// SPDX-License-Identifier: Apache-2.0
#ifndef CudaFiltersSlabs_h
#define CudaFiltersSlabs_h

// Filters images in slabs, whose planes Python functions provide and receive.

#include <Python.h>

#include "itkCudaSlabs.h"

namespace cudafilters
{
/** Converts a report to a Python dictionary. Returns a new reference. */
inline PyObject *
SlabReportAsDictionary(const itk::CudaSlabReport & report)
{
  PyObject * const devices = PyList_New(static_cast<Py_ssize_t>(report.Devices.size()));
  for (size_t i = 0; devices && i < report.Devices.size(); ++i)
  {
    PyList_SetItem(devices, static_cast<Py_ssize_t>(i), PyLong_FromLong(report.Devices[i]));
  }
  return Py_BuildValue("{s:s,s:N,s:n,s:n,s:I,s:N,s:K,s:K,s:n}",
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
                       devices,
                       "bytes_up",
                       static_cast<unsigned long long>(report.BytesUp),
                       "bytes_down",
                       static_cast<unsigned long long>(report.BytesDown),
                       "peak_device_bytes",
                       static_cast<Py_ssize_t>(report.PeakDeviceBytes));
}
} // namespace cudafilters

/** Runs a Gaussian filter over an image in slabs, and returns (report, backend used, reason).
 *
 * `job` is a tuple: what to compute ("filter", "gradient_magnitude", "laplace"); shape, sigma, spacing and order along
 * each axis, x first, where an axis with sigma 0 is not filtered; number of components; component types of input and
 * output by their names in NumPy; mode, value beyond the ends, approximation, backend, and limit of device memory in
 * bytes (0: no limit).
 *
 * source(first plane, number of planes, memory to write), sink(first plane, number of planes, memory to read) and
 * progress(fraction done), which may be None, are called with the interpreter's lock; it is released in between.
 * Exceptions that they raise end the run and are passed to the caller. */
PyObject *
cudafilters_filter_slabs(PyObject * job, PyObject * source, PyObject * sink, PyObject * progress);

#endif
